'use strict';
// Reads the queries of Solidity's SMTChecker: Horn clauses in SMT-LIB, whose names say which part of a contract they are about.

/** Reads S-expressions: an atom is a string without bars, a list is an array. Does not recurse, because terms can be deep. */
function readTerms(text) {
  const token = /;[^\n]*|"(?:[^"]|"")*"|\|([^|]*)\||[()]|[^\s()|";]+/g;
  const terms = [];
  const open = [terms];
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [word, quoted] = found;
    if (word.startsWith(';')) continue;
    if (word === '(') {
      const list = [];
      open[open.length - 1].push(list);
      open.push(list);
    } else if (word === ')') {
      if (open.length > 1) open.pop();
    } else {
      open[open.length - 1].push(quoted ?? word);
    }
  }
  return terms;
}

/** All lists inside of a term, the term included, from left to right. */
function* listsIn(term) {
  const rest = [term];
  while (rest.length > 0) {
    const next = rest.pop();
    if (!Array.isArray(next)) continue;
    yield next;
    for (let i = next.length - 1; i >= 0; i--) rest.push(next[i]);
  }
}

/**
 * What a variable of a clause stands for: `x_3_0` and `x_3_length_pair_0` are versions of the variable `x` that node 3 of the
 * syntax tree declares, and `tx_0` is one of the values that every function has.
 */
function meaning(variable) {
  const declared = /^(.*?)_(\d+)(?:_length_pair)?_\d+$/.exec(variable);
  if (declared) return { name: declared[1], id: Number(declared[2]) };
  const common = /^(error|this|abi|crypto|tx|state)_\d+$/.exec(variable);
  return common ? { name: common[1], id: null } : null;
}

/** A query: its predicates, and the verification target that it asks about. */
class Query {
  constructor(text) {
    /** What the arguments of each predicate stand for. */
    this.places = new Map();
    /** The names of the fields of each constructor. */
    this.fields = new Map();
    const predicates = new Set();
    const clauses = [];
    for (const command of readTerms(text)) {
      if (command[0] === 'declare-fun') predicates.add(command[1]);
      if (command[0] === 'declare-datatypes') this.#declare(command[2]);
      if (command[0] === 'assert') clauses.push(command[1]);
    }
    for (const clause of clauses) {
      for (const term of listsIn(clause)) {
        if (!predicates.has(term[0]) || this.places.has(term[0])) continue;
        const places = term.slice(1).map((argument) => typeof argument === 'string' ? meaning(argument) : null);
        if (places.every((place) => place !== null)) this.places.set(term[0], places);
      }
    }
    this.target = Query.#target(clauses);
  }

  #declare(constructors) {
    for (const [constructor] of constructors) {
      const [name, ...fields] = Array.isArray(constructor) ? constructor : [constructor];
      this.fields.set(name, fields.map(([field]) => field));
    }
  }

  /**
   * The nodes of the syntax tree that the condition of the target speaks of, and the contract. The rule for the target says
   * which number the error has; the rule that sets this number has the condition beside it.
   */
  static #target(clauses) {
    const target = clauses.map(bodyAndHead).find((clause) => clause?.head === 'false')?.body;
    const asked = clauses.find((clause) => target && bodyAndHead(clause)?.head === target);
    if (!asked) return { contract: null, nodes: [] };
    let number = null;
    let contract = null;
    for (const term of listsIn(bodyAndHead(asked).body)) {
      if (term[0] === '=' && /^error_\d+$/.test(term[1])) number = term[2];
      const summary = readSummary(term[0]);
      if (summary) contract = summary.contract;
    }
    let other = [];
    for (const clause of clauses) {
      for (const term of listsIn(clause)) {
        const [and, condition, set] = term;
        const isTarget = and === 'and' && Array.isArray(set) && set[0] === '=' && set[2] === number &&
          /^error_\d+$/.test(set[1]) && Array.isArray(condition);
        if (!isTarget) continue;
        const nodes = new Set();
        for (const part of listsIn(condition)) {
          for (const word of part) {
            const found = typeof word === 'string' && /^expr_(\d+)_/.exec(word);
            if (found) nodes.add(Number(found[1]));
          }
        }
        if (nodes.size === 0) continue;
        const head = bodyAndHead(clause)?.head;
        if (Array.isArray(head) && head[0].endsWith(`_${contract}`)) return { contract, nodes: [...nodes] };
        other = [...nodes];
      }
    }
    return { contract, nodes: other };
  }
}

/** Body and head of a clause; `null` for a fact. */
function bodyAndHead(clause) {
  const inner = clause[0] === 'forall' ? clause[2] : clause;
  return Array.isArray(inner) && inner[0] === '=>' ? { body: inner[1], head: inner[2] } : null;
}

/**
 * The function that a predicate summarises, and the contract, as nodes of the syntax tree; without a function, the creation of
 * the contract. `null` for other predicates.
 */
function readSummary(predicate) {
  if (typeof predicate !== 'string') return null;
  const called = /^summary_\d+_.*_(\d+)_(\d+)$/.exec(predicate);
  if (called) return { function: Number(called[1]), contract: Number(called[2]) };
  const made = /^summary_constructor_\d+_.*_(\d+)$/.exec(predicate);
  return made ? { function: null, contract: Number(made[1]) } : null;
}

module.exports = { Query, readSummary, readTerms };
