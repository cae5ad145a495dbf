'use strict';
// Tells a refutation of a query as calls of a contract.
//
// The derivation of the target has a spine: predicates `interface_..`, the states between transactions. Each of them comes from
// the one before and from the summary of the function that was called, the first from the summary of the constructor. What a
// function calls stands below its summary; calls below `nondet_..` are made by unknown code that was called.

const { readSummary, readTerms } = require('./query.js');
const { integer, showValue } = require('./values.js');

/** The calls of a refutation, an object of Shofar's JSON, in the order of execution. */
function callsOf(query, syntax, { steps, definitions }) {
  const context = { query, syntax, read: valueReader(definitions ?? []) };
  const byNumber = new Map(steps.map((step) => [step.step, step]));
  // The body of a rule starts with the block before; the calls behind it stand in reverse order.
  const premises = (step) => {
    const [before, ...others] = step.premises.map((number) => byNumber.get(number));
    return before ? [before, ...others.reverse()] : [];
  };
  const isState = (step) => /^interface_\d+_/.test(step.predicate ?? '');
  const target = steps.find((step) => (step.predicate ?? '').startsWith('error_target_'));
  const transactions = [];
  for (let state = target; state;) {
    const found = premises(state);
    const called = found.find((step) => readSummary(step.predicate));
    if (called) transactions.push(called);
    state = found.find(isState);
  }
  const calls = [];
  const rest = transactions.map((step) => ({ step, depth: 0, isOutside: false }));
  while (rest.length > 0) {
    const { step, depth, isOutside } = rest.pop();
    calls.push({ ...told(step, context), depth, isOutside });
    for (const call of callsInside(step, premises, syntax).reverse()) rest.push({ ...call, depth: depth + 1 });
  }
  return calls;
}

/** The calls of a function. If it has a second summary below the first, as transactions have, those below the second. */
function callsInside(summary, premises, syntax) {
  const calls = callsBelow(summary, premises, syntax);
  const [{ step } = {}] = calls;
  const isSecond = calls.length === 1 && step.predicate !== summary.predicate &&
    readSummary(step.predicate).function === readSummary(summary.predicate).function;
  return isSecond ? callsBelow(step, premises, syntax) : calls;
}

/** The calls directly below a summary, in the order of execution. Loops make long chains, so this does not recurse. */
function callsBelow(summary, premises, syntax) {
  const calls = [];
  const rest = premises(summary).reverse().map((step) => ({ step, isOutside: false }));
  while (rest.length > 0) {
    const { step, isOutside } = rest.pop();
    // The creation of a contract is told with the arguments of its constructor.
    if (readSummary(step.predicate) && !isOwnConstructor(step, syntax)) {
      calls.push({ step, isOutside });
      continue;
    }
    const isUnknown = isOutside || (step.predicate ?? '').startsWith('nondet_');
    for (const premise of premises(step).reverse()) rest.push({ step: premise, isOutside: isUnknown });
  }
  return calls;
}

/** Whether a predicate summarises a contract's own constructor, not that of one of its bases. */
function isOwnConstructor(step, syntax) {
  const summary = readSummary(step.predicate);
  const definition = syntax.node(summary.function);
  return definition?.kind === 'constructor' && definition.scope === summary.contract;
}

/** Reads values. Parts that several values share have names, and may have a parameter. */
function valueReader(definitions) {
  const named = new Map(definitions.map((definition) => [definition.name, definition]));
  const known = new Map();
  const whole = (term) => {
    if (Array.isArray(term)) {
      const parts = term.map(whole);
      const { parameters, body } = (typeof term[0] === 'string' && named.get(term[0])) || {};
      return parameters ? replaced(whole(readTerms(body)[0]), parameters[0].name, parts[1]) : parts;
    }
    const definition = named.get(term);
    if (!definition || definition.parameters) return term;
    if (!known.has(term)) known.set(term, whole(readTerms(definition.body)[0]));
    return known.get(term);
  };
  return (text) => whole(readTerms(text)[0]);
}

/** A term with a value in the place of a name. */
function replaced(term, name, value) {
  if (Array.isArray(term)) return term.map((part) => replaced(part, name, value));
  return term === name ? value : term;
}

/** One call: what is called, by whom, with which arguments, and what it changes. */
function told(step, context) {
  const { query, syntax } = context;
  const summary = readSummary(step.predicate);
  const definition = summary.function === null ? undefined : syntax.node(summary.function);
  // A constructor is never inherited.
  const owner = definition?.kind === 'constructor' ? definition.scope : summary.contract;
  const contract = syntax.node(owner)?.name ?? '?';
  const name = summary.function === null ? 'constructor' : definition?.name || definition?.kind || '?';
  const places = query.places.get(step.predicate) ?? [];
  const values = step.arguments.map(context.read);
  const call = { contract, function: name, arguments: [], returns: [], fails: false, sender: null, value: null, state: [] };
  const first = new Map();
  const returned = new Set((definition?.returnParameters?.parameters ?? []).map((parameter) => parameter.id));
  places.forEach((place, i) => {
    const declaration = place.id === null ? undefined : syntax.node(place.id);
    const type = declaration?.typeDescriptions?.typeString ?? '';
    const shown = () => showValue(values[i], type, context);
    if (place.id === null) {
      if (place.name === 'tx') transaction(call, values[i], query);
      if (place.name === 'error') call.fails = integer(values[i]) !== 0n;
    } else if (returned.has(place.id)) {
      if (!call.fails) call.returns.push({ name: place.name, value: shown() });
    } else if (!first.has(place.id)) {
      first.set(place.id, shown());
      if (!declaration?.stateVariable) call.arguments.push({ name: place.name, value: shown() });
    } else if (declaration?.stateVariable) {
      call.state.push({ name: place.name, before: first.get(place.id), after: shown() });
    }
  });
  return call;
}

/** Sender and value of a transaction. */
function transaction(call, term, query) {
  const fields = Array.isArray(term) ? query.fields.get(term[0]) ?? [] : [];
  const field = (name) => (fields.includes(name) ? integer(term[fields.indexOf(name) + 1]) : null);
  const sender = field('msg.sender');
  const value = field('msg.value');
  if (typeof sender === 'bigint') call.sender = `0x${sender.toString(16)}`;
  if (typeof value === 'bigint' && value > 0n) call.value = String(value);
}

/** The lines in which a trace is printed. */
function linesOf(calls) {
  return calls.flatMap((call) => {
    const indent = '  '.repeat(call.depth);
    const list = (values) => values.map(({ name, value }) => (name ? `${name} = ${value}` : value)).join(', ');
    let line = `${indent}${call.contract}.${call.function}(${list(call.arguments)})`;
    if (call.returns.length > 0) line += ` returns ${list(call.returns)}`;
    if (call.isOutside) line += '  called by unknown code';
    else if (call.depth > 0) line += '  internal call';
    if (call.sender !== null && (call.depth === 0 || call.isOutside)) line += `  from ${call.sender}`;
    if (call.value !== null) line += `, value ${call.value}`;
    if (call.depth > 0 && !call.isOutside) return [line];
    const isNew = call.function === 'constructor';
    const changed = call.state.filter(({ before, after }) => isNew || before !== after);
    return [line, ...changed.map(({ name, before, after }) =>
      `${indent}    ${name}${isNew ? ` = ${after}` : `: ${before} → ${after}`}`)];
  });
}

module.exports = { callsOf, linesOf };
