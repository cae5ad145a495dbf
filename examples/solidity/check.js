#!/usr/bin/env node
'use strict';
// Checks contracts with Solidity's SMTChecker, whose queries Shofar answers:
//
//     npm install
//     node check.js contracts/*.sol
//
// The compiler turns each assertion, division and array access into a query, and calls this program back with it. For a
// query that Shofar refutes, the calls that lead to the violation are printed. The syntax tree tells which violation that is.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const { Query } = require('./query.js');
const { Syntax } = require('./syntax.js');
const { callsOf, linesOf } = require('./trace.js');

const USAGE = `usage: node check.js [options] CONTRACT.sol...

  -t SECONDS        stop after this time for each query; 10 by default
  -m MIB            stop at this memory for each query
  --targets NAMES   what to check, separated by commas: assert, overflow, underflow, divByZero, popEmptyArray, outOfBounds,
                    constantCondition, balance; all except overflow and underflow by default
  --contract NAME   check this contract only; you can give it several times
  --invariants      also print the invariants of contracts that have been proved
  --json            print one JSON object
  --keep FOLDER     write the queries to this folder
  --shofar PROGRAM  run this program; the default is the value of SHOFAR, or shofar
  --base FOLDER     resolve imports from this folder, and from the folders node_modules above it; the current one by default

exit status: 0 all proved, or nothing to check; 1 a violation; 2 an error; 3 something undecided
`;

/** Exit status. */
const PROVED = 0;
const VIOLATED = 1;
const ERROR = 2;
const UNDECIDED = 3;

/** The compiler's words for what it checks, and ours. */
const KINDS = [
  ['Assertion violation', 'assertion'],
  ['Overflow', 'overflow'],
  ['Underflow', 'underflow'],
  ['Division by zero', 'division by zero'],
  ['Empty array "pop"', 'empty array "pop"'],
  ['Out of bounds access', 'out of bounds'],
];

class Mistake extends Error {}

function main(words) {
  const options = readOptions(words);
  if (options.help) {
    process.stdout.write(USAGE);
    return PROVED;
  }
  const solver = new Solver(options);
  const report = check(options, solver);
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 1)}\n` : shown(report));
  if (report.errors.length > 0) return ERROR;
  const has = (status) => report.findings.some((finding) => finding.status === status);
  return has('violated') ? VIOLATED : has('undecided') ? UNDECIDED : PROVED;
}

function readOptions(words) {
  const options = {
    files: [], contracts: [], seconds: 10, memory: null, targets: null, invariants: false, json: false, keep: null,
    shofar: process.env.SHOFAR || 'shofar', base: '.', help: false,
  };
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift();
    const value = () => {
      if (rest.length === 0) throw new Mistake(`${word} needs a value`);
      return rest.shift();
    };
    const number = () => {
      const read = Number(value());
      if (!(read > 0)) throw new Mistake(`${word} needs a positive number`);
      return read;
    };
    switch (word) {
      case '-h': case '--help': options.help = true; break;
      case '-t': options.seconds = number(); break;
      case '-m': options.memory = number(); break;
      case '--targets': options.targets = value().split(','); break;
      case '--contract': options.contracts.push(value()); break;
      case '--invariants': options.invariants = true; break;
      case '--json': options.json = true; break;
      case '--keep': options.keep = value(); break;
      case '--shofar': options.shofar = value(); break;
      case '--base': options.base = value(); break;
      default:
        if (word.startsWith('-')) throw new Mistake(`there is no option ${word}`);
        options.files.push(word);
    }
  }
  if (options.files.length === 0 && !options.help) throw new Mistake('which contracts? See --help');
  return options;
}

/** Runs Shofar. */
class Solver {
  constructor(options) {
    this.options = options;
    /** Each query with its answer and, if there is one, the refutation. */
    this.answers = [];
    const version = spawnSync(options.shofar, ['--version'], { encoding: 'utf8' });
    if (version.error || !/^shofar /.test(version.stdout)) {
      throw new Mistake(`cannot run ${options.shofar}: put shofar on the PATH, or name it with --shofar`);
    }
    if (options.keep) fs.mkdirSync(options.keep, { recursive: true });
  }

  /** Answers a query in the compiler's form: the word, and the model if there is one. */
  solve(text) {
    const { seconds, memory, keep, shofar } = this.options;
    if (keep) fs.writeFileSync(path.join(keep, `${this.answers.length + 1}.smt2`), text);
    const limits = ['-t', String(seconds), ...(memory === null ? [] : ['-m', String(memory)])];
    const run = spawnSync(shofar, ['-', '--json', '--witness', ...limits], {
      input: text, encoding: 'utf8', maxBuffer: 2 ** 30, timeout: Math.ceil((seconds + 10) * 1000),
    });
    const event = lastEvent(run.stdout);
    const refutation = event?.answer === 'unsat' && event.witness?.steps ? event.witness : null;
    const answer = ['sat', 'unsat'].includes(event?.answer) ? event.answer : 'unknown';
    const reason = event?.reason ?? event?.message ?? run.error?.message ?? null;
    this.answers.push({ text, answer, refutation, reason });
    return answer === 'sat' ? `sat\n${modelText(event.witness?.model)}` : `${answer}\n`;
  }
}

/** The last event that Shofar has printed: the answer or an error. */
function lastEvent(output) {
  const lines = (output ?? '').trimEnd().split('\n');
  try {
    return JSON.parse(lines[lines.length - 1]);
  } catch {
    return null;
  }
}

/** A model as definitions; empty for another kind of proof. */
function modelText(model) {
  const quoted = (name) => (/^[\w~!@$%^&*+=<>.?/-]+$/.test(name) ? name : `|${name}|`);
  const definition = ({ predicate, parameters, body }) => {
    const list = parameters.map(({ name, sort }) => `(${quoted(name)} ${sort})`).join(' ');
    return `  (define-fun ${quoted(predicate)} (${list}) Bool\n    ${body})\n`;
  };
  return model ? `(\n${model.map(definition).join('')})\n` : '';
}

/** Compiles the contracts, and collects what the compiler says. */
function check(options, solver) {
  const sources = {};
  for (const file of options.files) sources[nameOf(file, options.base)] = { content: readSource(file) };
  const contracts = Object.keys(sources).map((name) => [name, options.contracts]);
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      outputSelection: { '*': { '': ['ast'] } },
      modelChecker: {
        engine: 'chc',
        solvers: ['smtlib2'],
        showProvedSafe: true,
        showUnproved: true,
        ...(options.targets ? { targets: options.targets } : {}),
        ...(options.contracts.length > 0 ? { contracts: Object.fromEntries(contracts) } : {}),
        ...(options.invariants ? { invariants: ['contract', 'reentrancy'] } : {}),
      },
    },
  };
  const imported = {};
  const output = JSON.parse(loadCompiler().compile(JSON.stringify(input), {
    import: (name) => readImport(name, options.base, imported),
    smtSolver: (text) => ({ contents: solver.solve(text) }),
  }));
  const texts = new Map(Object.entries({ ...sources, ...imported }).map(([name, { content }]) => [name, Buffer.from(content)]));
  const report = { findings: [], notes: [], errors: [] };
  for (const error of output.errors ?? []) sort(error, report, texts);
  attachTraces(report, new Syntax(output.sources), solver.answers);
  report.findings = worst(report.findings);
  report.queries = solver.answers.length;
  return report;
}

/** One finding for each place and kind: the compiler repeats itself, and contracts share the functions that they inherit. */
function worst(findings) {
  const found = new Map();
  const rank = ({ status }) => ['safe', 'undecided', 'violated'].indexOf(status);
  for (const finding of findings) {
    const key = JSON.stringify([finding.file, finding.start, finding.end, finding.kind]);
    const other = found.get(key);
    if (!other || rank(other) < rank(finding)) found.set(key, finding);
  }
  const order = (a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start || a.end - b.end;
  return [...found.values()].sort(order);
}

function loadCompiler() {
  try {
    return require('solc');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    throw new Mistake('the compiler is not installed: run npm install in the folder of this program');
  }
}

function readSource(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new Mistake(`cannot read ${file}: ${error.message}`);
  }
}

/** The name of a source for the compiler, by which imports find it. */
function nameOf(file, base) {
  const relative = path.relative(base, file);
  return (relative.startsWith('..') ? path.resolve(file) : relative).split(path.sep).join('/');
}

/** An imported source: below the base folder, or in a folder node_modules above it. */
function readImport(name, base, imported) {
  const candidates = [path.resolve(base, name)];
  for (let folder = path.resolve(base); ; folder = path.dirname(folder)) {
    candidates.push(path.join(folder, 'node_modules', name));
    if (folder === path.dirname(folder)) break;
  }
  const found = candidates.find((file) => fs.existsSync(file) && fs.statSync(file).isFile());
  if (!found) return { error: 'there is no such file' };
  const contents = fs.readFileSync(found, 'utf8');
  imported[name] = { content: contents };
  return { contents };
}

/** Puts a message of the compiler where it belongs. */
function sort(error, report, texts) {
  const { message, severity, sourceLocation: location } = error;
  const place = placeOf(location, texts);
  if (severity === 'error') {
    report.errors.push({ ...place, message: error.formattedMessage?.trim() || message });
    return;
  }
  const told = /^CHC: (.*?) (happens here|might happen here|check is safe!)/s.exec(message);
  if (told) {
    const kind = KINDS.find(([words]) => told[1].startsWith(words))?.[1] ?? told[1].toLowerCase();
    const status = { 'happens here': 'violated', 'might happen here': 'undecided', 'check is safe!': 'safe' }[told[2]];
    report.findings.push({ ...place, kind, status });
  } else {
    report.notes.push({ ...place, message: message.trim() });
  }
}

function placeOf(location, texts) {
  const text = location && texts.get(location.file);
  if (!text || location.start < 0) return { file: location?.file ?? null };
  const { file, start, end } = location;
  const before = text.subarray(0, start).toString().split('\n');
  return {
    file, start, end, line: before.length, column: before[before.length - 1].length + 1,
    text: text.subarray(start, end).toString(),
  };
}

/** Gives each violation the calls that lead to it. */
function attachTraces(report, syntax, answers) {
  for (const { text, answer, refutation, reason } of answers) {
    if (answer === 'sat') continue;
    const query = new Query(text);
    const around = syntax.aroundAll(query.target.nodes).map((id) => syntax.place(id));
    const status = answer === 'unsat' ? 'violated' : 'undecided';
    const candidates = report.findings.filter((finding) => finding.status === status && !finding.calls && !finding.reason);
    const isAt = (finding) => (place) =>
      place.file === finding.file && place.start === finding.start && place.end === finding.end;
    // An operation may be a violation of two kinds; the first that has no trace yet is taken.
    const places = around.find((place) => candidates.some((finding) => isAt(finding)(place)));
    const finding = places && candidates.find((other) => isAt(other)(places));
    if (!finding) continue;
    finding.contract = syntax.node(query.target.contract)?.name ?? null;
    if (refutation) finding.calls = callsOf(query, syntax, refutation);
    else finding.reason = reason ?? 'no reason given';
  }
}

/** The report for people. */
function shown(report) {
  const lines = report.errors.map(({ message }) => message);
  for (const { file, line, column, kind, status, text, contract, calls, reason } of report.findings) {
    const where = contract && status === 'violated' ? ` in ${contract}` : '';
    lines.push(`${file}:${line}:${column}: ${status}: ${kind}${where}`);
    lines.push(`    ${text.split('\n')[0]}`);
    if (reason) lines.push(`  because: ${reason}`);
    if (calls) lines.push('  calls:', ...linesOf(calls).map((each) => `    ${each}`));
  }
  for (const { file, line, column, message } of report.notes) {
    lines.push(`${line === undefined ? '' : `${file}:${line}:${column}: `}note: ${message}`);
  }
  const count = (status) => report.findings.filter((finding) => finding.status === status).length;
  if (report.errors.length === 0) {
    lines.push(report.findings.length === 0
      ? 'nothing to check: the contracts have no assertions and nothing else that can fail'
      : `${count('safe')} safe, ${count('violated')} violated, ${count('undecided')} undecided`);
  }
  return `${lines.join('\n')}\n`;
}

if (require.main === module) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    process.stderr.write(`check.js: ${error.message}\n`);
    process.exitCode = ERROR;
  }
}
