#!/usr/bin/env python3
"""Tests of compare.py: python3 bench/test_compare.py"""
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

import compare

RUNS = """track,task,verdict,solver,answer,wall,cpu,wrong
A,one,sat,shofar,sat,0.100,0.1,0
A,one,sat,z3,sat,0.400,0.4,0
A,two,unsat,shofar,unsat,1.000,1.0,0
A,two,unsat,z3,timeout,10.01,10.0,0
A,three,sat,shofar,unsat,0.5,0.5,1
A,three,sat,z3,unknown,0.5,0.5,0
B,one & only,unknown,shofar,sat,0.001,0.0,0
B,one & only,unknown,z3,sat,0.040,0.0,0
B,one & only,unknown,shofar-bmc,error(3),0.1,0.0,0
"""
RIVALS = """track,task,verdict,solver,answer,wall
A,one,sat,golem,sat,1
A,two,unsat,golem,timeout,10
A,three,sat,golem,sat,1
A,elsewhere,sat,golem,sat,1
B,one & only,unknown,golem-bmc,sat,1
"""


class Comparing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def save(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as out:
            out.write(text)
        return path

    def read(self, *name):
        with open(os.path.join(self.folder, *name)) as text:
            return text.read()

    def call(self, *arguments):
        command = [sys.executable, os.path.join(compare.HERE, 'compare.py'), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_counts(self):
        comparison = compare.Comparison(compare.read_runs([self.save('runs.csv', RUNS)]), 10.0)
        self.assertEqual(comparison.solvers, ['shofar', 'z3', 'shofar-bmc'])
        self.assertEqual(len(comparison.solved('shofar', 'A')), 2)
        self.assertAlmostEqual(comparison.par2('shofar', 'A'), (0.1 + 1.0 + 20) / 3)
        self.assertAlmostEqual(comparison.par2('z3', 'A'), (0.4 + 20 + 20) / 3)
        self.assertEqual(comparison.unique('shofar'), [('A', 'two')])
        self.assertEqual(comparison.unique('z3'), [])
        # 0.1 / 0.4 in one track, 0.01 / 0.04 in the other: the shortest time counts as what it takes to start.
        ratio, tasks = comparison.ratio('shofar', 'z3')
        self.assertAlmostEqual(ratio, 0.25)
        self.assertEqual(tasks, 2)

    def test_page_and_plots(self):
        runs, rivals = self.save('runs.csv', RUNS), self.save('rivals.csv', RIVALS)
        page = os.path.join(self.folder, 'page.md')
        done = self.call('report', runs, '--timeout', '10', '--rivals', rivals, '--page', page)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        text = self.read('page.md')
        for row in ['| A | shofar | 3 | 2 | 1 | 1 | 1 | 0 | 7.03 | 1 |',
                    '| B | shofar-bmc | 1 | 0 | 0 | 0 | 0 | 1 | 20.00 | 0 |',
                    '| shofar / z3 | all | 2 | 0.25 |',
                    '| A | 3 | golem | 2 | shofar | 2 | 1 | 1 |',
                    '| B | 1 | golem-bmc | 1 | shofar-bmc | 0 | 1 | 0 |',
                    '- shofar: unsat on A/three']:
            self.assertIn(row + '\n', text)
        for name in os.listdir(os.path.join(self.folder, 'plots')):
            self.assertIn(f'(plots/{name})', text)
            tree = xml.fromstring(self.read('plots', name))
            marks = [shape for shape in tree.iter() if shape.get('class', '').startswith(('dot', 'cross'))]
            if name.startswith('scatter'):
                titles = [title.text for mark in marks for title in mark]
                self.assertEqual(len(titles), 3)
                self.assertIn('A/two: z3 timeout, shofar 1.00 s', titles)
        again = self.call('report', runs, '--timeout', '10', '--rivals', rivals, '--page', page)
        self.assertEqual((again.returncode, self.read('page.md')), (0, text))

    def test_runs_are_measured_and_continued(self):
        os.mkdir(os.path.join(self.folder, 'LIA'))
        for task in ('quick', 'slow'):
            self.save(os.path.join('LIA', task + '.smt2'), '')
        tasks = self.save('tasks.csv', 'track,task,verdict\nLIA,quick,unsat\nLIA,slow,sat\nBV,other,sat\n')
        solver = self.save('solver.py', 'import sys, time\n'
                                        'if "slow" in sys.argv[1]: time.sleep(60)\nprint("sat")\n')
        out = os.path.join(self.folder, 'runs.csv')
        command = ['run', '--tasks', tasks, '--out', out, '--timeout', '1',
                   '--solver', f'some={sys.executable} {solver} {{file}}',
                   '--solver', f'none={sys.executable} -c raise(SystemExit(3)) {{file}}']
        done = self.call(*command)
        told = ['WRONG some says sat: LIA/quick', 'ERROR none says error(3): LIA/quick', 'ERROR none says error(3): LIA/slow']
        self.assertEqual((done.returncode, done.stdout.splitlines()), (1, told), done.stderr)
        rows = [row.split(',') for row in self.read('runs.csv').splitlines()[1:]]
        self.assertEqual([(row[1], row[3], row[4]) for row in rows],
                         [('quick', 'some', 'sat'), ('quick', 'none', 'error(3)'),
                          ('slow', 'some', 'timeout'), ('slow', 'none', 'error(3)')])
        self.assertLess(float(rows[2][5]), 30)
        self.assertIn('"timeout": 1.0', self.read('runs.json'))
        before = self.read('runs.csv')
        self.assertEqual(self.call(*command).returncode, 0)
        self.assertEqual(self.read('runs.csv'), before)
        for change, complaint in [(['--timeout', '2'], 'begun with another timeout: 1.0'),
                                  (['--solver', 'gone=/no/such/solver'], 'there is no program for gone')]:
            refused = self.call(*command, *change)
            self.assertIn(complaint, refused.stderr)
            self.assertEqual((refused.returncode, self.read('runs.csv')), (1, before))


if __name__ == '__main__':
    unittest.main()
