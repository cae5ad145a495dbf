#!/usr/bin/env python3
"""The published comparison: runs solvers side by side, and makes tables and plots of what was measured.

  bench/compare.py run --tasks TASKS.csv --out bench/results/NAME.csv
  bench/compare.py report bench/results/NAME.csv [--rivals RIVALS.csv]

`run` starts all solvers on one task before it goes on to the next, so that noise hits them alike, and kills what takes
longer than the limit. TASKS.csv has the columns track, task and verdict (`sat`, `unsat` or anything else); the file of a
task is TRACK/TASK.smt2 beside it. Each run is a row of NAME.csv, and NAME.json says how it was made. A run that was
interrupted goes on where it stopped if the same command is given again.

`report` reads such CSV files and writes bench/comparison.md with its plots. It needs nothing but Python. RIVALS.csv has the
columns track, task, solver and answer: what other solvers have answered, on another machine, so that only the
numbers of solved tasks are taken from it.
"""
import argparse
import collections
import csv
import datetime
import json
import math
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHOFAR = os.path.join(HERE, '..', 'target', 'release', 'shofar')
TRACKS = ['LIA-Lin', 'LIA', 'LRA-Lin']
COLUMNS = ['track', 'task', 'verdict', 'solver', 'answer', 'wall', 'cpu', 'wrong']

# Shorter times are drawn and compared as this: it is what starting a process takes.
SHORTEST = 0.01

# ---------------------------------------------------------------------------------------------------------------------
# Running


def run_once(command, timeout, memory):
    """What a command answers, and the seconds that it took by the clock and of processors."""
    def limit():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))

    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, preexec_fn=limit)
    late = threading.Event()

    def kill():
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    alarm = threading.Timer(timeout, kill)
    alarm.start()
    try:
        output = process.stdout.read()
        # The process is not waited for before the alarm is off, so that its number cannot be that of another one.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    except BaseException:
        # Who is interrupted leaves no solver behind that would disturb the next run.
        kill()
        raise
    finally:
        alarm.cancel()
    alarm.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    wall, cpu = time.monotonic() - start, usage.ru_utime + usage.ru_stime
    for line in output.decode(errors='replace').splitlines():
        if line.strip() in ('sat', 'unsat', 'unknown'):
            return line.strip(), wall, cpu
    if late.is_set():
        return 'timeout', wall, cpu
    return (f'error({process.returncode})' if process.returncode else 'unknown'), wall, cpu


def solvers_of(options):
    """Names and commands."""
    solvers = dict(solver.split('=', 1) for solver in options.solver or [])
    if not solvers:
        solvers = {
            'shofar': f'{options.shofar} {{file}} -j {options.cores}',
            'shofar, one thread': f'{options.shofar} {{file}} -j 1',
            'z3': 'z3 {file}',
        }
    if options.engines:
        listed = subprocess.run([options.shofar, 'engines'], capture_output=True, text=True, check=True).stdout
        names = [line.split()[0] for line in listed.splitlines() if line and not line[0].isspace()]
        solvers.update({f'shofar {name}': f'{options.shofar} {{file}} -j 1 -e {name}' for name in names})
    return solvers


def first_line(*command):
    """What a program says of itself, or nothing where it is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        return done.stdout.strip().split('\n')[0]
    except (OSError, subprocess.TimeoutExpired):
        return ''


def processor():
    try:
        with open('/proc/cpuinfo') as lines:
            return next(line.split(':')[1].strip() for line in lines if line.startswith('model name'))
    except (OSError, StopIteration):
        return platform.processor()


def described(options, solvers):
    """How the run is made, for whoever wants to make it again."""
    return {
        'date': datetime.date.today().isoformat(),
        'commit': first_line('git', '-C', HERE, 'describe', '--always', '--dirty'),
        'shofar': first_line(options.shofar, '--version'),
        'z3': first_line('z3', '--version'),
        'processor': processor(),
        'processors': os.cpu_count(),
        'timeout': options.timeout,
        'memory': options.memory,
        'every': options.every,
        'tracks': options.track or TRACKS,
        'solvers': {name: command.replace(options.shofar, 'shofar') for name, command in solvers.items()},
    }


def describe(options, solvers):
    """Writes how the run is made. One that is continued keeps its limits, but may have more solvers."""
    description = described(options, solvers)
    if os.path.exists(about(options.out)):
        with open(about(options.out)) as text:
            before = json.load(text)
        for name in ('timeout', 'memory'):
            if before[name] != description[name]:
                sys.exit(f'{options.out} was begun with another {name}: {before[name]}')
        description['solvers'] = {**before['solvers'], **description['solvers']}
    with open(about(options.out), 'w') as out:
        json.dump(description, out, indent=2)
        out.write('\n')


def tasks_of(options):
    """The chosen rows of the list of tasks, each with the path of its file."""
    root, tracks = os.path.dirname(os.path.abspath(options.tasks)), options.track or TRACKS
    with open(options.tasks, newline='') as lines:
        tasks = [task for task in csv.DictReader(lines) if task['track'] in tracks][::options.every]
    return [(task, os.path.join(root, task['track'], task['task'] + '.smt2')) for task in tasks]


def run(options):
    solvers, tasks = solvers_of(options), tasks_of(options)
    done = set()
    is_new = not os.path.exists(options.out)
    if not is_new:
        with open(options.out, newline='') as lines:
            done = {(row['track'], row['task'], row['solver']) for row in csv.DictReader(lines)}
    missing = [name for name, command in solvers.items() if not shutil.which(command.split()[0])]
    if missing:
        sys.exit(f'there is no program for {", ".join(missing)}: {solvers[missing[0]]}')
    os.makedirs(os.path.dirname(os.path.abspath(options.out)), exist_ok=True)
    describe(options, solvers)
    wrong = 0
    with open(options.out, 'a', newline='') as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator='\n')
        if is_new:
            writer.writeheader()
        for number, (task, path) in enumerate(tasks, 1):
            for name, command in solvers.items():
                if (task['track'], task['task'], name) in done:
                    continue
                words = [word.replace('{file}', path) for word in command.split()]
                answer, wall, cpu = run_once(words, options.timeout, options.memory)
                is_wrong = {answer, task['verdict']} == {'sat', 'unsat'}
                wrong += is_wrong
                writer.writerow({'track': task['track'], 'task': task['task'], 'verdict': task['verdict'],
                                 'solver': name, 'answer': answer, 'wall': f'{wall:.3f}', 'cpu': f'{cpu:.3f}',
                                 'wrong': int(is_wrong)})
                out.flush()
                if is_wrong or answer.startswith('error'):
                    title = 'WRONG' if is_wrong else 'ERROR'
                    print(f"{title} {name} says {answer}: {task['track']}/{task['task']}", flush=True)
            if sys.stderr.isatty():
                print(f'\r{number}/{len(tasks)}', end='', file=sys.stderr)
    return 1 if wrong else 0


def about(path):
    """Where it is written how a CSV file was made."""
    return os.path.splitext(path)[0] + '.json'


# ---------------------------------------------------------------------------------------------------------------------
# Counting


class Run:
    """A row: one solver on one task."""

    def __init__(self, row):
        self.track, self.task, self.solver = row['track'], row['task'], row['solver']
        self.answer, self.time = row['answer'], float(row['wall'])
        verdict = row.get('verdict', '')
        self.is_wrong = {self.answer, verdict} == {'sat', 'unsat'}
        self.is_solved = self.answer in ('sat', 'unsat') and not self.is_wrong


def read_runs(paths):
    runs = []
    for path in paths:
        with open(path, newline='') as lines:
            runs += [Run(row) for row in csv.DictReader(lines)]
    return runs


def distinct(items):
    return list(dict.fromkeys(items))


class Comparison:
    """What is known of all solvers on all tasks, with one limit for all."""

    def __init__(self, runs, limit):
        self.runs, self.limit = runs, limit
        self.solvers = distinct(run.solver for run in runs)
        self.tracks = distinct(run.track for run in runs)
        self.by_task = collections.defaultdict(dict)
        for run in runs:
            self.by_task[run.track, run.task][run.solver] = run

    def of(self, solver, track=None):
        return [run for run in self.runs if run.solver == solver and track in (None, run.track)]

    def solved(self, solver, track=None):
        return [run for run in self.of(solver, track) if run.is_solved]

    def par2(self, solver, track=None):
        """The mean time, where a task that is not solved counts twice the limit."""
        runs = self.of(solver, track)
        return sum(run.time if run.is_solved else 2 * self.limit for run in runs) / max(1, len(runs))

    def unique(self, solver, track=None):
        """Tasks that nobody of another family solves: variants of one program do not take them from each other."""
        def is_unique(found):
            others = [run for run in found.values() if family(run.solver) != family(solver)]
            return solver in found and found[solver].is_solved and not any(run.is_solved for run in others)
        return [key for key, found in self.by_task.items() if track in (None, key[0]) and is_unique(found)]

    def ratio(self, first, second, track=None):
        """The geometric mean of the ratio of times on tasks that both solve, and how many these are."""
        logs = [math.log(max(found[first].time, SHORTEST) / max(found[second].time, SHORTEST))
                for (task_track, _), found in self.by_task.items()
                if track in (None, task_track) and all(s in found and found[s].is_solved for s in (first, second))]
        return (math.exp(sum(logs) / len(logs)) if logs else None), len(logs)


def words(solver):
    return solver.replace(',', ' ').replace('-', ' ').split()


def family(solver):
    return words(solver)[0]


# ---------------------------------------------------------------------------------------------------------------------
# Plots

# Colours that people with any colour vision can tell apart, for light and for dark surroundings.
COLOURS = [('#0b62a4', '#5cb3f0'), ('#c2410c', '#ff9b5e'), ('#0f766e', '#3fd0bd'), ('#86198f', '#e488ee'),
           ('#a16207', '#e8c14a'), ('#475569', '#aebccf'), ('#be123c', '#ff8098'), ('#4d7c0f', '#a8d948'),
           ('#4338ca', '#a5a0ff'), ('#78350f', '#d9a679'), ('#111827', '#f3f4f6')]
DASHES = ['', '7 3', '2 3', '9 3 2 3']


class Picture:
    """A picture with axes: shapes are given in the units of the data."""

    def __init__(self, title, x, y, width=720, height=460, legend=0):
        self.title, self.x, self.y = title, x, y
        self.width, self.height = width, height
        self.left, self.top, self.right, self.bottom = 64, 44, width - 20 - legend, height - 52
        self.shapes = []

    def at(self, x, y):
        return (self.left + self.x.part(x) * (self.right - self.left),
                self.bottom - self.y.part(y) * (self.bottom - self.top))

    def line(self, points, style):
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in (self.at(*point) for point in points))
        self.shapes.append(f'<polyline points="{path}" class="{style}"/>')

    def mark(self, point, style, is_cross, label):
        x, y = self.at(*point)
        shape = (f'<path d="M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6" class="cross {style}">' if is_cross
                 else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" class="dot {style}">')
        self.shapes.append(f'{shape}<title>{escape(label)}</title></{"path" if is_cross else "circle"}>')

    def text(self, x, y, text, style='', anchor='start', more=''):
        self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}"{more}>'
                           f'{escape(text)}</text>')

    def axes(self):
        shapes, self.shapes = self.shapes, []
        for value, label in self.x.ticks():
            x, _ = self.at(value, self.y.low)
            self.shapes.append(f'<path d="M{x:.1f} {self.bottom}V{self.top}" class="grid"/>')
            self.text(x, self.bottom + 17, label, 'small', 'middle')
        for value, label in self.y.ticks():
            _, y = self.at(self.x.low, value)
            self.shapes.append(f'<path d="M{self.left} {y:.1f}H{self.right}" class="grid"/>')
            self.text(self.left - 8, y + 4, label, 'small', 'end')
        self.shapes.append(f'<path d="M{self.left} {self.top}V{self.bottom}H{self.right}" class="axis"/>')
        self.text(self.left, 22, self.title, 'title')
        self.text((self.left + self.right) / 2, self.height - 12, self.x.name, '', 'middle')
        middle = (self.top + self.bottom) / 2
        self.text(16, middle, self.y.name, '', 'middle', f' transform="rotate(-90 16 {middle:.1f})"')
        self.shapes += shapes

    def svg(self):
        self.axes()
        light = ''.join(f'.c{i}{{--c:{light}}}' for i, (light, _) in enumerate(COLOURS))
        dark = ''.join(f'.c{i}{{--c:{dark}}}' for i, (_, dark) in enumerate(COLOURS))
        dashes = ''.join(f'.d{i}{{stroke-dasharray:{dash or "none"}}}' for i, dash in enumerate(DASHES))
        style = ('svg{--ink:#1f2328;--grid:#d8dee4;--paper:#fff}'
                 f'{light}'
                 '@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--grid:#3d444d;--paper:#0d1117}'
                 f'{dark}}}'
                 'text{fill:var(--ink);font:13px system-ui,sans-serif}.small{font-size:12px}'
                 '.title{font-size:15px;font-weight:600}.paper{fill:var(--paper)}'
                 '.grid{stroke:var(--grid);fill:none}.axis{stroke:var(--ink);fill:none}'
                 '.guide{stroke:var(--ink);fill:none;opacity:.45;stroke-dasharray:4 4}'
                 '.curve{stroke:var(--c);fill:none;stroke-width:2;stroke-linejoin:round}'
                 f'{dashes}'
                 '.dot{fill:var(--c);fill-opacity:.75}.cross{stroke:var(--c);stroke-width:1.7;fill:none}')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img">\n'
                f'<title>{escape(self.title)}</title>\n<style>{style}</style>\n'
                f'<rect width="{self.width}" height="{self.height}" class="paper"/>\n'
                + '\n'.join(self.shapes) + '\n</svg>\n')


def escape(text):
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')


class Linear:
    """An axis for numbers from zero on."""

    def __init__(self, name, high):
        self.name, self.low, self.high = name, 0, max(1, high)

    def part(self, value):
        return value / self.high

    def ticks(self):
        step = next(s for s in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 10 ** 9) if self.high / s <= 8)
        return [(value, str(value)) for value in range(0, self.high + 1, step)]


class Logarithmic:
    """An axis for times between the shortest one and a limit, beyond which there is room for what has no time."""

    def __init__(self, name, limit, room=0.0):
        self.name, self.low, self.high, self.limit = name, SHORTEST, limit * 10 ** room, limit

    def part(self, value):
        value = min(max(value, self.low), self.high)
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self):
        powers = [10.0 ** e for e in range(-2, 6) if 10.0 ** e < self.limit * 0.6]
        return [(value, f'{value:g}') for value in powers + [self.limit]]


def cactus(comparison, title, track=None, solvers=None):
    """For each solver the times of the tasks that it solves, in order."""
    solvers = solvers or comparison.solvers
    times = {solver: sorted(run.time for run in comparison.solved(solver, track)) for solver in solvers}
    ranked = sorted(solvers, key=lambda solver: (-len(times[solver]), sum(times[solver])))
    tasks = len({key for key in comparison.by_task if track in (None, key[0])})
    picture = Picture(title, Linear(f'tasks solved, of {tasks}', max(map(len, times.values()), default=0)),
                      Logarithmic('seconds for the task', comparison.limit), legend=178)
    for place, solver in enumerate(ranked):
        number = solvers.index(solver)
        style = f'curve c{number % len(COLOURS)} d{number % len(DASHES)}'
        # From the edge on, so that the curve of a single task is seen.
        picture.line([(0, seconds) for seconds in times[solver][:1]] + list(enumerate(times[solver], 1)), style)
        x, y = picture.right + 14, picture.top + 12 + 20 * place
        picture.shapes.append(f'<path d="M{x} {y - 4}h24" class="{style}"/>')
        picture.text(x + 30, y, f'{solver}: {len(times[solver])}', 'small')
    return picture.svg()


def scatter(comparison, first, second, title):
    """A point for each task that one of two solvers solves: the time of one by that of the other."""
    room = 0.13
    picture = Picture(title, Logarithmic(f'{second}, seconds', comparison.limit, room),
                      Logarithmic(f'{first}, seconds', comparison.limit, room), 560, 560)
    limit, low = comparison.limit, SHORTEST
    for factor in (0.1, 1, 10):
        start, end = max(low, low / factor), min(limit, limit / factor)
        picture.line([(start, start * factor), (end, end * factor)], 'guide')
    picture.line([(low, limit), (limit, limit), (limit, low)], 'axis')
    outside = limit * 10 ** (room / 2)
    counts = [0, 0]
    for (track, task), found in comparison.by_task.items():
        runs = [found.get(second), found.get(first)]
        if None in runs or not any(run.is_solved for run in runs):
            continue
        point = [run.time if run.is_solved else outside for run in runs]
        verdict = next(run.answer for run in runs if run.is_solved)
        counts[verdict == 'unsat'] += 1
        times = ', '.join(f'{run.solver} {run.time:.2f} s' if run.is_solved else f'{run.solver} {run.answer}'
                          for run in runs)
        picture.mark(point, 'c1' if verdict == 'unsat' else 'c0', verdict == 'unsat', f'{track}/{task}: {times}')
    x = picture.left + 14
    for place, (name, style) in enumerate([('sat', 'c0'), ('unsat', 'c1')]):
        y = picture.top + 34 + 20 * place
        shape = (f'<path d="M{x - 3} {y - 7}l6 6m0 -6l-6 6" class="cross {style}"/>' if place
                 else f'<circle cx="{x}" cy="{y - 4}" r="3.2" class="dot {style}"/>')
        picture.shapes.append(shape)
        picture.text(x + 12, y, f'{name}: {counts[place]}', 'small')
    return picture.svg()


# ---------------------------------------------------------------------------------------------------------------------
# The page


def table(head, rows):
    lines = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
    return lines + ['| ' + ' | '.join(map(str, row)) + ' |' for row in rows] + ['']


def summary(comparison):
    rows = []
    for track in comparison.tracks + ([None] if len(comparison.tracks) > 1 else []):
        ranked = sorted(comparison.solvers, key=lambda s: (-len(comparison.solved(s, track)), comparison.par2(s, track)))
        for solver in ranked:
            runs, solved = comparison.of(solver, track), comparison.solved(solver, track)
            if runs:
                count = collections.Counter(run.answer for run in solved)
                errors = sum(run.answer.startswith('error') for run in runs)
                rows.append([track or 'all', solver, len(runs), len(solved), count['sat'], count['unsat'],
                             sum(run.is_wrong for run in runs), errors, f'{comparison.par2(solver, track):.2f}',
                             len(comparison.unique(solver, track))])
    head = ['track', 'solver', 'tasks', 'solved', 'sat', 'unsat', 'wrong', 'errors', 'PAR-2', 'unique']
    return table(head, rows)


def ratios(comparison):
    """Rows with the times of the first solver by those of each other one."""
    first, rows = comparison.solvers[0], []
    for other in comparison.solvers[1:]:
        for track in comparison.tracks + ([None] if len(comparison.tracks) > 1 else []):
            ratio, tasks = comparison.ratio(first, other, track)
            if ratio is not None:
                rows.append([f'{first} / {other}', track or 'all', tasks, f'{ratio:.2f}'])
    return rows


def rivals(comparison, path):
    """What others solve of the same tasks, each beside the variant of the same name or else the first solver."""
    found = collections.defaultdict(dict)
    with open(path, newline='') as lines:
        for row in csv.DictReader(lines):
            key = row['track'], row['task']
            mine = counterpart(comparison, row['solver'])
            if mine in comparison.by_task.get(key, {}):
                is_solved = row['answer'] in ('sat', 'unsat') and {row['answer'], row['verdict']} != {'sat', 'unsat'}
                found[comparison.tracks.index(row['track']), row['solver'], mine][key] = is_solved
    rows = []
    for (track, solver, mine), tasks in sorted(found.items()):
        ours = {key for key in tasks if comparison.by_task[key][mine].is_solved}
        theirs = {key for key, is_solved in tasks.items() if is_solved}
        rows.append([comparison.tracks[track], len(tasks), solver, len(theirs), mine, len(ours),
                     len(theirs - ours), len(ours - theirs)])
    return table(['track', 'tasks', 'rival', 'solves', 'here', 'solves', 'only the rival', 'only here'], rows)


def counterpart(comparison, rival):
    """The solver that is another program's variant of the same name, as `shofar bmc` is that of `golem-bmc`."""
    variants = (solver for solver in comparison.solvers if words(solver)[1:] == words(rival)[1:])
    return next(variants, comparison.solvers[0])


def setting(description):
    """How the run was made, in words."""
    lines = [f"{description['date']}, commit {description['commit']}: {description['timeout']:g} s by the clock and "
             f"{description['memory']} MiB for each task, on {description['processors']} cores "
             f"({description['processor']}). Tracks: {', '.join(description['tracks'])}"
             + (f"; every {description['every']}th task" if description['every'] > 1 else '')
             + f". {description['shofar']}, {description['z3']}.", '']
    return lines + table(['solver', 'command'], [[name, f'`{command}`'] for name, command in
                                                 description['solvers'].items()])


def report(options):
    description = None
    if os.path.exists(about(options.runs[0])):
        with open(about(options.runs[0])) as text:
            description = json.load(text)
    limit = options.timeout or (description or {}).get('timeout') or 10.0
    comparison = Comparison(read_runs(options.runs), limit)
    folder = os.path.dirname(os.path.abspath(options.page))
    plots = os.path.join(folder, options.plots)
    os.makedirs(plots, exist_ok=True)

    def picture(name, svg, text):
        with open(os.path.join(plots, name), 'w') as out:
            out.write(svg)
        return [f'![{text}]({options.plots}/{name})', '']

    page = ['# Comparison', '', 'Made by `bench/compare.py report` from the files in [results](results); do not edit.', '']
    page += setting(description) if description else []
    page += ['Solved are tasks with the right answer. PAR-2 is the mean time in seconds, where a task that is not solved '
             'counts twice the limit. Unique are tasks that no solver of another family solves.', '']
    page += summary(comparison)
    if means := ratios(comparison):
        page += ['Geometric means of the ratio of times, process start included; below 1 the first is faster:', '']
        page += table(['times', 'track', 'tasks that both solve', 'ratio'], means)
    page += ['## Tasks by time', '']
    page += picture('cactus.svg', cactus(comparison, 'All tracks'), 'number of tasks solved in which time')
    for track in comparison.tracks:
        name = f'cactus-{track}.svg'
        page += picture(name, cactus(comparison, track, track), f'the same for {track}')
    strangers = [solver for solver in comparison.solvers if family(solver) != family(comparison.solvers[0])]
    if strangers:
        page += ['## Task by task', '', 'Below the diagonal the first solver is faster; what is beyond the frame was not '
                 'solved by one of the two.', '']
    for other in strangers:
        first = comparison.solvers[0]
        name = f'scatter-{other.replace(",", "").replace(" ", "-")}.svg'
        page += picture(name, scatter(comparison, first, other, f'{first} and {other}'), f'times of {first} and {other}')
    if options.rivals:
        page += ['## Solvers on other machines', '', 'Numbers of solved tasks only: times from another machine mean '
                 'little. Rivals ran on the tasks that the table counts, with 10 s.', '']
        page += rivals(comparison, options.rivals)
    wrong = [run for run in comparison.runs if run.is_wrong]
    if wrong:
        page += ['## Wrong answers', ''] + [f'- {run.solver}: {run.answer} on {run.track}/{run.task}' for run in wrong] + ['']
    with open(options.page, 'w') as out:
        out.write('\n'.join(page).rstrip() + '\n')
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser('run', help='run solvers')
    running.set_defaults(act=run)
    running.add_argument('--tasks', required=True, help='a CSV file that lists tasks')
    running.add_argument('--out', required=True, help='the CSV file to write, or to go on with')
    running.add_argument('--track', action='append', help=f'only this track; by default {", ".join(TRACKS)}')
    running.add_argument('--every', type=int, default=1, help='only each so-manieth task')
    running.add_argument('--timeout', type=float, default=10, help='seconds for each task')
    running.add_argument('--memory', type=int, default=8000, help='MiB of address space for each task')
    running.add_argument('--cores', type=int, default=2, help='cores for shofar')
    running.add_argument('--shofar', default=SHOFAR)
    running.add_argument('--engines', action='store_true', help='each engine by itself, too')
    running.add_argument('--solver', action='append', help='NAME=COMMAND with {file}, in the place of shofar and z3')
    reporting = commands.add_parser('report', help='make tables and plots')
    reporting.set_defaults(act=report)
    reporting.add_argument('runs', nargs='+', help='CSV files, the first one with its description beside it')
    reporting.add_argument('--rivals', help='a CSV file with the answers of other solvers')
    reporting.add_argument('--timeout', type=float, help='seconds that each task had, where no description says so')
    reporting.add_argument('--page', default=os.path.join(HERE, 'comparison.md'))
    reporting.add_argument('--plots', default='plots', help='the folder for plots, beside the page')
    options = parser.parse_args()
    return options.act(options)


if __name__ == '__main__':
    # Termination is an interruption like Ctrl-C, so that what was started ends, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
