#!/usr/bin/env python3
"""Orders slots by what they add to others: the greedy choice for machines with more cores than a class has engines.

    complement.py --tasks ../shared/bench/tasks.csv --track LIA-Lin --program target/release/examples/simulate \\
        --base spacer,kind,... --candidates 'spacer:guidance=no,...' --seconds 2 --out alone.jsonl

Each slot runs alone, two runs at a time, each on a core of its own. A set of slots takes the time of its fastest member on each task,
or twice the limit if none of them solves it. The base is given; then comes the candidate that makes the sum of these times smallest, and
so on. What was run before is read from the output file and not run again.
"""

import argparse
import csv
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from queue import Queue


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--track", action="append", required=True)
    parser.add_argument("--only", help="a file with names of tasks, one a line")
    parser.add_argument("--program", required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--candidates", required=True)
    parser.add_argument("--seconds", default="2")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()

    only = set(open(options.only).read().split()) if options.only else None
    root = os.path.dirname(options.tasks)
    tasks = [row for row in csv.DictReader(open(options.tasks)) if row["track"] in options.track]
    tasks = [row for row in tasks if only is None or row["task"] in only]
    base, candidates = options.base.split(","), options.candidates.split(",")
    times = {}
    if os.path.exists(options.out):
        for line in open(options.out):
            run = json.loads(line)
            times[run["task"], run["slot"]] = run["time"]
    cores = Queue()
    for core in range(os.cpu_count() or 1):
        cores.put(core)

    def measure(entry):
        row, slot = entry
        core = cores.get()
        file = os.path.join(root, row["track"], row["task"] + ".smt2")
        command = ["taskset", "-c", str(core), options.program, file, slot, options.seconds, "off", "0"]
        run = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=3600).stdout)
        cores.put(core)
        is_solved = run["verdict"] in ("sat", "unsat")
        return row["task"], slot, run["virtual"] if is_solved else 2 * float(options.seconds)

    wanted = [(row, slot) for row in tasks for slot in base + candidates if (row["task"], slot) not in times]
    with ThreadPoolExecutor(cores.qsize()) as pool, open(options.out, "a") as out:
        for task, slot, time in pool.map(measure, wanted):
            times[task, slot] = time
            out.write(json.dumps({"task": task, "slot": slot, "time": time}) + "\n")
            out.flush()

    names = [row["task"] for row in tasks]
    best = {task: min(times[task, slot] for slot in base) for task in names}

    def show(what):
        solved = sum(time < 2 * float(options.seconds) for time in best.values())
        print(f"{what}: {solved} of {len(names)} solved, {sum(best.values()):.1f} s")

    show("base")
    while candidates:
        total = lambda slot: sum(min(best[task], times[task, slot]) for task in names)
        chosen = min(candidates, key=total)
        candidates.remove(chosen)
        best = {task: min(best[task], times[task, chosen]) for task in names}
        show(chosen)


if __name__ == "__main__":
    main()
