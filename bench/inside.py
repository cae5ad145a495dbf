#!/usr/bin/env python3
"""Measures what happens inside of runs with an answer: which share of the time the check of the witness takes, and how
long the other engines take to end once it is checked.

    bench/inside.py --tasks TASKS.csv [--every N] [--rounds N] [--shofar COMMAND]...

All times are those that `shofar --json` tells. A share is the time that the checker took for the witness of the winner, of
the time from the start of the program until it was checked. Several commands take turns, task by task. TASKS.csv is the
list that `compare.py` reads.
"""

import argparse
import csv
import json
import shlex
import statistics
import subprocess

from compare import SHOFAR, TRACKS, tasks_of


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tasks', required=True, help='a CSV file that lists tasks')
    parser.add_argument('--track', action='append', help=f'may be given several times; by default {", ".join(TRACKS)}')
    parser.add_argument('--every', type=int, default=1, help='only each so-manieth task')
    parser.add_argument('--rounds', type=int, default=1, help='how often all tasks are run')
    parser.add_argument('--timeout', type=float, default=10, help='seconds for each task')
    parser.add_argument('--shofar', action='append', help='the program with its options; may be given several times')
    parser.add_argument('--out', help='a CSV file that gets a row for each run with an answer')
    options = parser.parse_args()
    options.shofar = options.shofar or [f'{SHOFAR} -j 2']
    return options


def times(command, file, timeout):
    """The times of the check, of the run until it was over, and of the other engines to end after that; in seconds.
    None if there was no answer."""
    words = shlex.split(command) + [file, '--json', '-t', f'{timeout:g}']
    lines = subprocess.run(words, capture_output=True, text=True, timeout=timeout + 10).stdout.splitlines()
    events = [json.loads(line) for line in lines]
    winner = events[-1]['engine']
    if events[-1]['answer'] == 'unknown':
        return None
    check, = (event['seconds'] for event in events if event.get('phase') == 'check' and event['engine'] == winner)
    ends = {event['engine']: event['at'] for event in events if event['event'] == 'stopped'}
    return {'check': check, 'total': ends[winner], 'end': max(ends.values()) - ends[winner]}


def main():
    options = arguments()
    tasks = tasks_of(options)
    rows = []
    for number in range(options.rounds):
        for task, file in tasks:
            for command in options.shofar:
                found = times(command, file, options.timeout)
                if found:
                    rows.append({'round': number + 1, 'command': command, 'track': task['track'],
                                 'task': task['task'], **found})
    if options.out:
        with open(options.out, 'w', newline='') as file:
            writer = csv.DictWriter(file, ['round', 'command', 'track', 'task', 'check', 'total', 'end'])
            writer.writeheader()
            writer.writerows(rows)
    print('| command | round | solved | median share | mean share | check, ms | run, ms | end, ms: median, most |')
    print('|---|---|---|---|---|---|---|---|')
    for command in options.shofar:
        for number in range(options.rounds):
            mine = [row for row in rows if row['command'] == command and row['round'] == number + 1]
            shares = [100 * row['check'] / row['total'] for row in mine]
            check, total = (1000 * statistics.geometric_mean(row[what] for row in mine) for what in ('check', 'total'))
            ends = [1000 * row['end'] for row in mine]
            print(f'| `{command.replace(SHOFAR, "shofar")}` | {number + 1} | {len(mine)} of {len(tasks)} '
                  f'| {statistics.median(shares):.1f} % | {statistics.mean(shares):.1f} % | {check:.2f} | {total:.1f} '
                  f'| {statistics.median(ends):.1f}, {max(ends):.0f} |')


if __name__ == '__main__':
    main()
