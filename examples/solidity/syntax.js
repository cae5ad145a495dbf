'use strict';
// The compiler's syntax trees: nodes by their numbers, and their places in the sources.

/** The syntax trees of all sources. */
class Syntax {
  constructor(sources) {
    this.nodes = new Map();
    this.files = new Map();
    for (const [file, { id, ast }] of Object.entries(sources ?? {})) {
      this.files.set(id, file);
      if (ast) this.#add(ast);
    }
  }

  #add(root) {
    const rest = [{ node: root, parent: null }];
    while (rest.length > 0) {
      const { node, parent } = rest.pop();
      const isNode = typeof node.id === 'number' && typeof node.nodeType === 'string';
      if (isNode) this.nodes.set(node.id, { node, parent });
      for (const child of Object.values(node)) {
        if (child && typeof child === 'object') rest.push({ node: child, parent: isNode ? node.id : parent });
      }
    }
  }

  /** A node, or `undefined`. */
  node(id) {
    return this.nodes.get(id)?.node;
  }

  /** The place of a node: file, first byte, and the byte behind the last one. */
  place(id) {
    const [start, length, file] = this.node(id).src.split(':').map(Number);
    return { file: this.files.get(file), start, end: start + length };
  }

  /** The node and what it is a part of, from the inside out. */
  *around(id) {
    for (let next = id; this.nodes.has(next); next = this.nodes.get(next).parent) yield next;
  }

  /** The smallest node that contains all of these and what it is a part of, from the inside out. */
  aroundAll(ids) {
    const [first, ...others] = ids.filter((id) => this.nodes.has(id)).map((id) => [...this.around(id)]);
    return (first ?? []).filter((id) => others.every((chain) => chain.includes(id)));
  }
}

module.exports = { Syntax };
