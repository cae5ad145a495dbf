#!/usr/bin/env python3
"""Simulates 1, 2, 4 and 8 engines with and without exchange, and prints what each number of them solves.

    simulate.py --tasks ../shared/bench/tasks.csv --program target/release/examples/simulate \\
        --slots 'spacer,kind,...' --counts 1,2,4,8 --seconds 10 --seeds 0,1,2 --out runs.jsonl

The first k slots of the list are run for each k, each run on a core of its own. All times are processor time. What was run before
is read from the output file and not run again.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from queue import Queue


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--track", action="append")
    parser.add_argument("--only", help="a file with names of tasks, one a line")
    parser.add_argument("--program", required=True)
    parser.add_argument("--slots", required=True)
    parser.add_argument("--counts", default="1,2,4,8")
    parser.add_argument("--seconds", default="10")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--exchange", default="off,on")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="how many cores to use")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()

    only = set(open(options.only).read().split()) if options.only else None
    tracks = options.track or ["LIA", "LIA-Lin", "LRA-Lin"]
    root = os.path.dirname(options.tasks)
    tasks = [row for row in csv.DictReader(open(options.tasks)) if row["track"] in tracks]
    tasks = [row for row in tasks if only is None or row["task"] in only]
    slots = options.slots.split(",")
    done = {}
    if os.path.exists(options.out):
        for line in open(options.out):
            run = json.loads(line)
            done[run["task"], run["slots"], run["exchange"], run["seed"]] = run
    wanted = []
    for row in tasks:
        for count in map(int, options.counts.split(",")):
            for exchange in options.exchange.split(","):
                if count == 1 and exchange == "on":
                    continue
                for seed in options.seeds.split(","):
                    key = row["task"], ",".join(slots[:count]), exchange, seed
                    wanted.append((row, key))
    cores = Queue()
    for core in range(options.cores):
        cores.put(core)

    def simulate(entry):
        row, (task, chosen, exchange, seed) = entry
        core = cores.get()
        file = os.path.join(root, row["track"], task + ".smt2")
        command = ["taskset", "-c", str(core), options.program, file, chosen, options.seconds, exchange, seed]
        try:
            text = subprocess.run(command, capture_output=True, text=True, timeout=3600).stdout
            run = json.loads(text)
        except (subprocess.TimeoutExpired, ValueError):
            run = {"verdict": "error", "virtual": float(options.seconds), "help": []}
        cores.put(core)
        return run | {"task": task, "slots": chosen, "exchange": exchange, "seed": seed}

    missing = [entry for entry in wanted if entry[1] not in done]
    with ThreadPoolExecutor(cores.qsize()) as pool, open(options.out, "a") as out:
        for number, run in enumerate(pool.map(simulate, missing)):
            done[run["task"], run["slots"], run["exchange"], run["seed"]] = run
            out.write(json.dumps(run) + "\n")
            out.flush()
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {len(missing)}", end="", file=sys.stderr)
    report(wanted, done, float(options.seconds))


def report(wanted, done, seconds):
    """Prints a row for each number of slots, exchange and seed, and who helped whom."""
    verdicts = {row["task"]: row["verdict"] for row, _ in wanted}
    groups = {}
    for _, key in wanted:
        task, slots, exchange, seed = key
        groups.setdefault((slots.count(",") + 1, exchange, seed), []).append(done[key])
    solved = {}
    print("slots exchange seed solved wrong PAR-2 (virtual seconds)")
    for group, runs in sorted(groups.items()):
        answers = [run for run in runs if run["verdict"] in ("sat", "unsat")]
        wrong = [run for run in answers if verdicts[run["task"]] not in (run["verdict"], "unknown")]
        penalty = sum(run["virtual"] for run in answers) + 2 * seconds * (len(runs) - len(answers))
        solved[group] = {run["task"] for run in answers}
        print(*group, len(answers), len(wrong), f"{penalty / len(runs):.2f}")
    for count, exchange, seed in sorted(groups):
        if exchange == "on" and (count, "off", seed) in solved:
            gained = solved[count, "on", seed] - solved[count, "off", seed]
            lost = solved[count, "off", seed] - solved[count, "on", seed]
            print(f"{count} slots, seed {seed}: only with exchange {sorted(gained)}; only without {sorted(lost)}")
    help_of = {}
    for run in done.values():
        for pair in run["help"]:
            counts = help_of.setdefault((pair["from"], pair["to"]), [0, 0, 0])
            for index, name in enumerate(("received", "accepted", "useful")):
                counts[index] += pair[name]
    for (sender, receiver), counts in sorted(help_of.items()):
        print(f"{sender} -> {receiver}: received {counts[0]}, accepted {counts[1]}, useful {counts[2]}")


if __name__ == "__main__":
    main()
