#!/usr/bin/env python3
"""Validates the answers of shofar with a judge of their own, as the CHC competition does.

  bench/validate.py --tasks TASKS.csv [--track NAME]... [--every N] [--timeout S] [--shofar PATH]
  bench/validate.py FILE...           tasks by themselves
  bench/validate.py --model M FILE    a model that is there already

For each task `shofar --witness` is run. A model is validated by Z3: its `define-fun`s take the place of the
declarations, and the negation of each assertion has to be `unsat`. A derivation is validated by `shofar check`, which
knows nothing of the engine that found it. Tasks are listed in a CSV file with the columns `track` and `file` (or
`track` and `task`), files relative to the folder of the list. Exit status 1 if a witness is not confirmed.
"""
import argparse
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHOFAR = os.path.join(HERE, '..', 'target', 'release', 'shofar')

TOKEN = re.compile(r'\(|\)|;[^\n]*|\|[^|]*\||"(?:[^"]|"")*"|[^\s()|";]+')


def expressions(text):
    """The S-expressions at the top of a text, and words between them, as text."""
    depth = start = 0
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith(';'):
            continue
        if token == '(':
            if depth == 0:
                start = match.start()
            depth += 1
        elif token == ')':
            depth -= 1
            if depth == 0:
                yield text[start:match.end()]
        elif depth == 0:
            yield token


def head(expression):
    """The first two words of an expression."""
    words = []
    for match in TOKEN.finditer(expression, 1):
        if match.group().startswith(';'):
            continue
        words.append(match.group())
        if len(words) == 2:
            break
    return words + [''] * (2 - len(words))


def name(word):
    return word[1:-1] if word.startswith('|') else word


def definitions(model):
    """The `define-fun`s of a model, with or without a list around them, by their names."""
    found = {}
    for expression in expressions(model):
        command, symbol = head(expression)
        if command == 'define-fun':
            found[name(symbol)] = expression
        elif command in ('(', 'model'):
            inner = expression[1:-1]
            found.update(definitions(inner[inner.index('model') + 5:] if command == 'model' else inner))
    return found


def script(task, model):
    """Asks Z3 for a counterexample to each assertion; the number of questions."""
    meanings = definitions(model)
    lines, pending, asked = [], dict(meanings), 0
    for expression in expressions(task):
        command, symbol = head(expression)
        if command in ('set-logic', 'check-sat', 'get-model', 'get-proof', 'exit', 'set-option'):
            continue
        if command == 'declare-fun' and name(symbol) in meanings:
            continue
        if command == 'assert':
            lines += pending.values()
            pending = {}
            body = expression[expression.index('assert') + 6:-1]
            lines.append(f'(push)\n(assert (not {body}))\n(check-sat)\n(pop)')
            asked += 1
        else:
            lines.append(expression)
    return '\n'.join(lines), asked


def run(command, timeout, text=None):
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout)
        return done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, 'timeout'


def validate_model(file, model, timeout):
    """None if Z3 confirms the model, and otherwise why not."""
    with open(file) as task:
        question, asked = script(task.read(), model)
    answer, _ = run(['z3', '-in', '-smt2'], timeout, question)
    if answer is None:
        return 'z3 takes too long'
    lines = answer.split('\n')[:-1]
    if len(lines) == asked and all(line == 'unsat' for line in lines):
        return None
    wrong = [(number, line) for number, line in enumerate(lines, 1) if line != 'unsat']
    number, line = wrong[0] if wrong else (len(lines), 'no answer')
    return f'assertion {number}: {line[:200]}'


def validate(file, options):
    """What is answered, and None if the witness is confirmed, and otherwise why not."""
    limit = ['-t', str(options.timeout)] if options.timeout else []
    output, errors = run([options.shofar, file, '--witness', *limit], 2 * options.timeout + 5)
    if output is None:
        return 'timeout', None
    answer, _, witness = output.partition('\n')
    if answer in ('sat', 'unsat') and not witness:
        return answer, errors.strip()[:200] or 'there is no witness'
    if answer == 'sat':
        return answer, validate_model(file, witness, options.judge)
    if answer == 'unsat':
        with tempfile.NamedTemporaryFile('w', suffix='.witness') as saved:
            saved.write(output)
            saved.flush()
            verdict, why = run([options.shofar, 'check', file, saved.name], options.judge)
        return answer, None if verdict == 'valid\n' else why.strip()[:200] or 'no verdict'
    if 'internal' in errors.lower():
        return 'unknown', errors.strip()[:200]
    return answer or 'no answer', None


def tasks(options):
    """Files, and what is known of them: 'sat', 'unsat' or anything else."""
    if not options.tasks:
        return [(file, None) for file in options.files]
    folder = os.path.dirname(os.path.abspath(options.tasks))
    with open(options.tasks, newline='') as lines:
        rows = [row for row in csv.DictReader(lines) if not options.track or row['track'] in options.track]

    def path(row):
        return os.path.join(folder, row.get('file') or os.path.join(row['track'], row['task'] + '.smt2'))
    return [(path(row), row.get('verdict')) for row in rows][::options.every]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('files', nargs='*')
    parser.add_argument('--tasks', help='a CSV file that lists tasks')
    parser.add_argument('--track', action='append', help='only this track; may be given several times')
    parser.add_argument('--every', type=int, default=1, help='only each so-manieth task')
    parser.add_argument('--timeout', type=float, default=10, help='seconds for shofar')
    parser.add_argument('--judge', type=float, default=60, help='seconds for each validation')
    parser.add_argument('--shofar', default=SHOFAR)
    parser.add_argument('--model', help='a file with a model of the one task')
    options = parser.parse_args()
    if options.model:
        with open(options.model) as model:
            why = validate_model(options.files[0], model.read(), options.judge)
        print(why or 'valid')
        return 1 if why else 0
    counts, failures, start = collections.Counter(), [], time.monotonic()
    for file, known in tasks(options):
        answer, why = validate(file, options)
        if {answer, known} == {'sat', 'unsat'}:
            why = f'it is known to be {known}'
        counts[answer] += 1
        if why:
            failures.append(file)
            print(f'NOT CONFIRMED  {answer}  {file}: {why}', flush=True)
    answered = counts['sat'] + counts['unsat']
    confirmed = answered - len(failures)
    share = 100 * confirmed / answered if answered else 100
    print(', '.join(f'{answer} {count}' for answer, count in sorted(counts.items())))
    print(f'{confirmed} of {answered} witnesses confirmed ({share:.1f} %), {time.monotonic() - start:.0f} s')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
