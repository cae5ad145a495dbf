'use strict';
// Values of SMT-LIB as a Solidity programmer writes them.

/** So many elements of an array, and entries of a mapping, are shown. */
const SHOWN = 8;

/** A value, a term that `readTerms` has read, of a Solidity type. */
function showValue(term, type, context) {
  const { query, syntax } = context;
  const shorter = (part) => typeof part === 'string' ? part : `(${part.map(shorter).join(' ')})`;
  const number = integer(term);
  if (number !== null) return showNumber(number, type, syntax);
  if (term === 'true' || term === 'false') return term;
  const fields = Array.isArray(term) ? query.fields.get(term[0]) : undefined;
  if (fields && fields.length === term.length - 1) {
    if (fields[0]?.endsWith('_accessor_array')) return showArray(term, type, context);
    const members = structMembers(type, syntax);
    const shown = fields.map((field, i) => {
      const name = field.slice(field.indexOf('_accessor_') + '_accessor_'.length);
      return `${name}: ${showValue(term[i + 1], members.get(name) ?? '', context)}`;
    });
    return `{${shown.join(', ')}}`;
  }
  return cut(shorter(term));
}

/** A mapping, or an array with a length. */
function showArray([, array, length], type, context) {
  const table = readTable(array);
  const mapping = /^mapping\((\S+) => (.*)\)$/.exec(type);
  if (!table) return '…';
  if (mapping) {
    const [, key, value] = mapping;
    const entry = ([index, element]) => `${showValue(index, key, context)}: ${showValue(element, value, context)}`;
    const entries = table.entries.slice(0, SHOWN).map(entry);
    if (table.entries.length > SHOWN) entries.push('…');
    entries.push(`others: ${showValue(table.default, value, context)}`);
    return `{${entries.join(', ')}}`;
  }
  const size = integer(length);
  const element = /^(.*)\[\d*\](?: .*)?$/.exec(type)?.[1] ?? '';
  const known = new Map(table.entries.map(([index, value]) => [String(integer(index)), value]));
  const elements = [];
  for (let i = 0n; i < size && i < SHOWN; i++) {
    elements.push(showValue(known.get(String(i)) ?? table.default, element, context));
  }
  if (size > SHOWN) elements.push(`… (${size} elements)`);
  return `[${elements.join(', ')}]`;
}

/** The entries of an array that differ from all others, the latest write first; `null` for other terms. */
function readTable(term) {
  const entries = new Map();
  while (Array.isArray(term) && term[0] === 'store') {
    const key = JSON.stringify(term[2]);
    if (!entries.has(key)) entries.set(key, [term[2], term[3]]);
    term = term[1];
  }
  if (!Array.isArray(term) || !Array.isArray(term[0]) || term[0][0] !== 'as') return null;
  return { entries: [...entries.values()].reverse(), default: term[1] };
}

/** The types of the members of a struct. */
function structMembers(type, syntax) {
  const name = /^struct (\S+)/.exec(type)?.[1];
  const members = new Map();
  for (const { node } of syntax.nodes.values()) {
    if (node.nodeType !== 'StructDefinition' || node.canonicalName !== name) continue;
    for (const member of node.members) members.set(member.name, member.typeDescriptions.typeString);
  }
  return members;
}

/** A number: addresses in hexadecimal, members of enumerations by name, the largest values of types by name. */
function showNumber(number, type, syntax) {
  if (/^(address|contract )/.test(type)) return `0x${number.toString(16)}`;
  const enumeration = /^enum (\S+)/.exec(type)?.[1];
  if (enumeration) {
    for (const { node } of syntax.nodes.values()) {
      const isIt = node.nodeType === 'EnumDefinition' && node.canonicalName === enumeration;
      if (isIt && number >= 0n && number < node.members.length) return `${node.name}.${node.members[Number(number)].name}`;
    }
  }
  const bits = /^(u?)int(\d+)$/.exec(type);
  if (bits && Number(bits[2]) >= 32) {
    const size = BigInt(bits[2]);
    const [least, greatest] = bits[1] ? [0n, 2n ** size - 1n] : [-(2n ** (size - 1n)), 2n ** (size - 1n) - 1n];
    if (number === greatest) return `type(${type}).max`;
    if (number === least && least < 0n) return `type(${type}).min`;
  }
  return String(number);
}

/** The integer that a term is, or `null`. */
function integer(term) {
  if (typeof term === 'string') return /^\d+$/.test(term) ? BigInt(term) : null;
  if (Array.isArray(term) && term[0] === '-' && term.length === 2) {
    const positive = integer(term[1]);
    return positive === null ? null : -positive;
  }
  return null;
}

function cut(text) {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

module.exports = { integer, showValue };
