#!/usr/bin/env python3
"""Compares how fast clause files are read: shofar (`info`) against z3 (the file without `check-sat`).

  bench/reading.py FILE...      after `cargo build --release`, with z3 on the PATH

Times are the best of several runs of the whole process, less the time for an empty file; memory is the
process's peak. `info` also analyses what it read, so reading alone is faster than shown.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

SHOFAR = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'target', 'release', 'shofar')


def run(command):
    """Wall time in seconds and peak memory in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.monotonic() - start, usage.ru_maxrss / 1024


def best(command, runs):
    results = [run(command) for _ in range(runs)]
    return min(wall for wall, _ in results), max(memory for _, memory in results)


def main(files):
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, 'empty.smt2')
        open(empty, 'w').close()
        start = {'shofar': best([SHOFAR, 'info', empty], 25)[0], 'z3': best(['z3', empty], 25)[0]}
        print(f"start of the process: shofar {start['shofar'] * 1e3:.1f} ms, z3 {start['z3'] * 1e3:.1f} ms\n")
        print('| file | MB | shofar MB/s | MiB | z3 MB/s | MiB |\n|---|---|---|---|---|---|')
        for file in files:
            text = open(file, 'rb').read()
            unchecked = os.path.join(folder, 'unchecked.smt2')
            with open(unchecked, 'wb') as out:
                out.write(re.sub(rb'\(check-sat\)', b'', text))
            runs = 25 if len(text) < 5e6 else 2
            cells = [os.path.basename(file), f'{len(text) / 1e6:.2f}']
            for name, command in [('shofar', [SHOFAR, 'info', file]), ('z3', ['z3', unchecked])]:
                wall, memory = best(command, runs)
                cells += [f'{len(text) / 1e6 / max(wall - start[name], 1e-4):.1f}', f'{memory:.0f}']
            print('| ' + ' | '.join(cells) + ' |', flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
