//! Prints terms in SMT-LIB syntax.
//!
//! A term is a graph and its text a tree, so a subterm that occurs more than once is written once and named by `let`.
//! The text is planned first:
//!
//! 1. A traversal finds the *nodes*: subterms together with the quantifier that binds their innermost variable (the
//!    home of [`Scoping`]), since one term may have different meanings under different quantifiers.
//! 2. From the root down, each node is placed in the innermost scope around all of its uses: the body of a quantifier,
//!    or the outside. A node used in one quantifier only is named inside of it.
//! 3. From the leaves up, each node gets a rank above the ranks of the named nodes that its text mentions. Named nodes
//!    of one scope and one rank do not mention each other and share a `let`; lower ranks come first.
//!
//! Writing then follows the plan. All steps are loops over arrays, linear in the text except for a logarithm if
//! quantifiers nest: they handle terms of any depth and sharing.
//!
//! The text reads back to the same term as written, with these exceptions, which read back to a term of equal meaning.
//! `(and)` and `(or)`, which SMT-LIB does not have, are written `true` and `false`. Signs and fractions of literals
//! become the numerals that they denote: the negation of the numeral 5 is written `(- 5)`, as is the numeral -5. Names
//! are trusted: a term in which a quantifier binds the name of a constant that occurs in its body, or of a variable of
//! another sort, has no faithful text.

use std::fmt;
use std::fmt::Write;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::free_vars::{OUTERMOST, Scope, Scoping, bound_variables};
use crate::number::{Integer, Rational};
use crate::op::Op;
use crate::sort::Sort;
use crate::term::{Term, TermStore};

impl TermStore {
    /// The term as SMT-LIB 2.6, on one line unless made [`pretty`](DisplayTerm::pretty). Writing it to a file with
    /// `write!` needs no intermediate string.
    pub fn display(&self, term: Term) -> DisplayTerm<'_> {
        DisplayTerm { store: self, term, layout: None, column: 0, least_named: 2 }
    }
}

/// A term to be printed; see [`TermStore::display`].
#[derive(Clone, Copy)]
pub struct DisplayTerm<'a> {
    store: &'a TermStore,
    term: Term,
    layout: Option<Layout>,
    /// The column where the text starts.
    column: usize,
    /// Subterms that are used more than once are named from this size on.
    least_named: u32,
}

impl DisplayTerm<'_> {
    /// Breaks text that does not fit into `width` columns into lines, with arguments `indent` columns to the right of
    /// their operator. Nothing is indented beyond half of the width, so that deep terms stay readable and their text
    /// linear in their size.
    pub fn pretty(self, width: usize, indent: usize) -> Self {
        DisplayTerm { layout: Some(Layout { width, indent }), ..self }
    }

    /// Sets the column where the text starts, for [`pretty`](Self::pretty).
    pub fn at(self, column: usize) -> Self {
        DisplayTerm { column, ..self }
    }

    /// Repeats subterms of fewer than `size` symbols at each use instead of naming them, which people read more easily.
    /// The text grows at most by this factor.
    pub fn naming_from(self, size: u32) -> Self {
        DisplayTerm { least_named: size.max(2), ..self }
    }
}

impl fmt::Display for DisplayTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.store.args(self.term).is_empty() {
            return write_leaf(self.store, self.term, f);
        }
        let mut plan = Plan::new(self.store, self.term, self.least_named);
        if self.layout.is_some() {
            plan.measure();
        }
        Writer {
            plan: &plan,
            out: Columns { out: f, column: self.column },
            layout: self.layout,
            open: Vec::new(),
        }
        .write()
    }
}

#[derive(Clone, Copy)]
struct Layout {
    width: usize,
    indent: usize,
}

impl Layout {
    /// The rightmost column in which a line may start.
    fn limit(self) -> usize {
        self.width / 2
    }
}

// ---- the plan --------------------------------------------------------------------------------------------

type NodeId = u32;

/// A subterm that is written once.
struct Node {
    term: Term,
    /// The nodes of its arguments, or of the body of a quantifier, in [`Plan::children`].
    children: Range<usize>,
    uses: u32,
    /// The number of symbols of its text without names.
    size: u32,
    /// The scope in which it is written, or its name is bound.
    scope: Scope,
    /// The rank: above the ranks of the named nodes that its text mentions.
    rank: u32,
    /// The number in its name, if it has one.
    name: Option<u32>,
    /// The scope of a quantifier's body.
    inner: Scope,
    /// The width of its text on one line, in columns.
    width: usize,
}

/// The body of a quantifier, or the whole term. The positions of quantifiers make scopes a tree. `jump` leads to an
/// ancestor such that any ancestor is reached in logarithmically many steps.
#[derive(Clone)]
struct ScopePlan {
    body: NodeId,
    parent: Scope,
    jump: Scope,
    depth: u32,
    /// Its `let`s in [`Plan::lets`], outermost first.
    lets: Range<usize>,
}

/// A `let` with parallel bindings.
struct Let {
    scope: Scope,
    /// The nodes it binds, in [`Plan::named`].
    bindings: Range<usize>,
    /// The width of the list of bindings on one line.
    bindings_width: usize,
    /// The width of the whole on one line.
    width: usize,
}

struct Plan<'a> {
    store: &'a TermStore,
    nodes: Vec<Node>,
    children: Vec<NodeId>,
    /// The nodes, each after its children.
    order: Vec<NodeId>,
    scopes: Vec<ScopePlan>,
    named: Vec<NodeId>,
    lets: Vec<Let>,
    /// The prefix of names.
    prefix: String,
    /// The size from which on nodes are named.
    least_named: u32,
}

impl<'a> Plan<'a> {
    fn new(store: &'a TermStore, root: Term, least_named: u32) -> Self {
        let outside = ScopePlan { body: 0, parent: OUTERMOST, jump: OUTERMOST, depth: 0, lets: 0..0 };
        let mut plan = Plan {
            store,
            nodes: Vec::new(),
            children: Vec::new(),
            order: Vec::new(),
            scopes: vec![outside],
            named: Vec::new(),
            lets: Vec::new(),
            prefix: String::new(),
            least_named,
        };
        plan.find_nodes(root);
        plan.size();
        plan.place();
        plan.rank();
        plan.bind();
        plan
    }

    /// Step 1: the nodes, their children and how often each is used.
    fn find_nodes(&mut self, root: Term) {
        let store = self.store;
        let mut scoping = Scoping::new(store, &[root], |_| false);
        let mut known: FxHashMap<(Term, Scope), NodeId> = FxHashMap::default();
        let mut open: Vec<(NodeId, usize)> = Vec::new();
        self.add_node(root);
        self.enter(0, &mut scoping);
        open.push((0, 0));
        while let Some((node, next)) = open.last_mut() {
            let (term, children) =
                (self.nodes[*node as usize].term, self.nodes[*node as usize].children.clone());
            if *next == children.len() {
                if is_quantifier(store.op(term)) {
                    scoping.leave(store, term);
                }
                self.order.push(*node);
                open.pop();
                continue;
            }
            let args = store.args(term);
            let slot = children.start + *next;
            let child = args[args.len() - children.len() + *next];
            *next += 1;
            let id = *known.entry((child, scoping.home(child))).or_insert(self.nodes.len() as NodeId);
            self.children[slot] = id;
            if id as usize == self.nodes.len() {
                self.add_node(child);
                self.enter(id, &mut scoping);
                open.push((id, 0));
            }
            self.nodes[id as usize].uses += 1;
        }
    }

    fn add_node(&mut self, term: Term) {
        let (op, args) = self.store.view(term);
        let start = self.children.len();
        self.children.resize(start + if is_quantifier(op) { 1 } else { args.len() }, 0);
        let children = start..self.children.len();
        self.nodes.push(Node {
            term,
            children,
            uses: 0,
            size: 1,
            scope: OUTERMOST,
            rank: 0,
            name: None,
            inner: OUTERMOST,
            width: 0,
        });
    }

    fn enter(&mut self, node: NodeId, scoping: &mut Scoping) {
        let term = self.nodes[node as usize].term;
        if is_quantifier(self.store.op(term)) {
            self.nodes[node as usize].inner = scoping.enter(self.store, term);
            let outside = self.scopes[OUTERMOST as usize].clone();
            self.scopes.push(outside);
        }
    }

    /// The size of each node.
    fn size(&mut self) {
        for position in 0..self.order.len() {
            let id = self.order[position] as usize;
            let children = &self.children[self.nodes[id].children.clone()];
            let sizes = children.iter().map(|&child| self.nodes[child as usize].size);
            self.nodes[id].size = sizes.fold(1, u32::saturating_add);
        }
    }

    /// Step 2: the scope of each node, the innermost one around its uses.
    fn place(&mut self) {
        let mut placed = vec![false; self.nodes.len()];
        for position in (0..self.order.len()).rev() {
            let id = self.order[position];
            let Node { ref children, scope, inner, .. } = self.nodes[id as usize];
            let children = children.clone();
            if inner != OUTERMOST {
                self.open_scope(inner, scope, self.children[children.start]);
            }
            let scope = if inner == OUTERMOST { scope } else { inner };
            for slot in children {
                let child = self.children[slot] as usize;
                let around = if placed[child] { self.common(self.nodes[child].scope, scope) } else { scope };
                self.nodes[child].scope = around;
                placed[child] = true;
            }
        }
    }

    fn open_scope(&mut self, scope: Scope, parent: Scope, body: NodeId) {
        let depth_of = |scope: Scope| self.scopes[scope as usize].depth;
        let jump = self.scopes[parent as usize].jump;
        let far = self.scopes[jump as usize].jump;
        let equal_steps = depth_of(parent) - depth_of(jump) == depth_of(jump) - depth_of(far);
        let jump = if equal_steps { far } else { parent };
        self.scopes[scope as usize] =
            ScopePlan { body, parent, jump, depth: depth_of(parent) + 1, lets: 0..0 };
    }

    /// The innermost scope around both.
    fn common(&self, mut a: Scope, mut b: Scope) -> Scope {
        let at = |scope: Scope| &self.scopes[scope as usize];
        let lift = |mut scope: Scope, depth: u32| {
            while at(scope).depth > depth {
                scope = if at(at(scope).jump).depth >= depth { at(scope).jump } else { at(scope).parent };
            }
            scope
        };
        let depth = at(a).depth.min(at(b).depth);
        (a, b) = (lift(a, depth), lift(b, depth));
        while a != b {
            (a, b) = match (at(a).jump, at(b).jump) {
                (c, d) if c == d => (at(a).parent, at(b).parent),
                jumps => jumps,
            };
        }
        a
    }

    /// Step 3: ranks, so that definitions come before their uses.
    fn rank(&mut self) {
        for position in 0..self.order.len() {
            let id = self.order[position] as usize;
            let children = &self.children[self.nodes[id].children.clone()];
            let ranks = children.iter().map(|&child| {
                let child = &self.nodes[child as usize];
                child.rank + u32::from(child.is_named(self.least_named))
            });
            self.nodes[id].rank = ranks.max().unwrap_or(0);
        }
    }

    /// Names, and the `let`s that bind them.
    fn bind(&mut self) {
        let is_named = |&id: &NodeId| self.nodes[id as usize].is_named(self.least_named);
        self.named = (0..self.nodes.len() as NodeId).filter(is_named).collect();
        let key = |id: NodeId| (self.nodes[id as usize].scope, self.nodes[id as usize].rank);
        self.named.sort_by_key(|&id| key(id));
        let mut start = 0;
        for group in self.named.chunk_by(|&a, &b| key(a) == key(b)) {
            let bindings = start..start + group.len();
            start = bindings.end;
            let scope = self.nodes[group[0] as usize].scope;
            let lets = &mut self.scopes[scope as usize].lets;
            if lets.start == lets.end {
                *lets = self.lets.len()..self.lets.len();
            }
            lets.end += 1;
            self.lets.push(Let { scope, bindings, bindings_width: 0, width: 0 });
        }
        for (number, &id) in self.named.iter().enumerate() {
            self.nodes[id as usize].name = Some(number as u32 + 1);
        }
        if !self.named.is_empty() {
            self.prefix = self.unused_prefix();
        }
    }

    /// `a!`, with enough exclamation marks to differ from the names in the term, whatever number follows.
    fn unused_prefix(&self) -> String {
        let store = self.store;
        let mut taken: Vec<usize> = Vec::new();
        let mut take = |name| {
            let rest = store.name(name).strip_prefix('a').unwrap_or_default();
            let number = rest.trim_start_matches('!');
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
                taken.push(rest.len() - number.len());
            }
        };
        for node in &self.nodes {
            match store.op(node.term) {
                Op::Var(name) => take(name),
                Op::Apply(fun) => take(store.fun_decl(fun).name),
                Op::Construct(id) | Op::Tester(id) => take(store.constructor(id).name),
                Op::Selector { constructor, field } => {
                    take(store.constructor(constructor).fields[field as usize].0);
                }
                Op::Forall | Op::Exists => {
                    for &variable in bound_variables(store, node.term) {
                        if let Op::Var(name) = store.op(variable) {
                            take(name);
                        }
                    }
                }
                _ => {}
            }
        }
        let marks = (1..).find(|marks| !taken.contains(marks)).unwrap_or(1);
        format!("a{}", "!".repeat(marks))
    }

    /// The widths of all texts on one line.
    fn measure(&mut self) {
        for position in 0..self.order.len() {
            let id = self.order[position] as usize;
            let mut width = self.head_width(id as NodeId);
            if self.nodes[id].inner != OUTERMOST {
                let scope = self.nodes[id].inner;
                width += self.variables_width(id as NodeId) + self.measure_scope(scope) + 3;
            } else if !self.nodes[id].children.is_empty() {
                let children = &self.children[self.nodes[id].children.clone()];
                width += children.iter().map(|&child| self.use_width(child) + 1).sum::<usize>() + 1;
            }
            self.nodes[id].width = width.min(TOO_WIDE);
        }
        self.measure_scope(OUTERMOST);
    }

    /// The width of a scope's text; its nodes are measured before.
    fn measure_scope(&mut self, scope: Scope) -> usize {
        let scope = self.scopes[scope as usize].clone();
        let mut width = self.use_width(scope.body);
        for position in scope.lets.rev() {
            let bindings = &self.named[self.lets[position].bindings.clone()];
            let bindings = bindings.iter().map(|&id| self.binding_width(id) + 1).sum::<usize>() + 1;
            width = (width + bindings + "(let  )".len()).min(TOO_WIDE);
            self.lets[position].bindings_width = bindings;
            self.lets[position].width = width;
        }
        width
    }

    fn head_width(&self, node: NodeId) -> usize {
        let mut counter = Columns { out: &mut Nowhere, column: 0 };
        // Counting columns cannot fail.
        let _ = self.write_head(node, &mut counter);
        counter.column
    }

    fn use_width(&self, node: NodeId) -> usize {
        self.nodes[node as usize].name.map_or(self.nodes[node as usize].width, |n| self.name_width(n))
    }

    fn binding_width(&self, node: NodeId) -> usize {
        let Node { name, width, .. } = self.nodes[node as usize];
        name.map_or(0, |name| self.name_width(name)) + width + "( )".len()
    }

    fn name_width(&self, name: u32) -> usize {
        self.prefix.len() + name.ilog10() as usize + 1
    }

    fn variables_width(&self, node: NodeId) -> usize {
        let variables = bound_variables(self.store, self.nodes[node as usize].term);
        variables.iter().map(|&v| self.variable_width(v) + 1).sum::<usize>() + 1
    }

    fn variable_width(&self, variable: Term) -> usize {
        let mut counter = Columns { out: &mut Nowhere, column: 0 };
        let _ = write_variable(self.store, variable, &mut counter);
        counter.column
    }

    /// The beginning of a node's text, before its arguments.
    fn write_head(&self, node: NodeId, out: &mut impl Write) -> fmt::Result {
        let term = self.nodes[node as usize].term;
        if self.nodes[node as usize].children.is_empty() {
            return write_leaf(self.store, term, out);
        }
        write!(out, "({}", self.store.display_op(self.store.op(term)))
    }
}

impl Node {
    fn is_named(&self, least: u32) -> bool {
        self.uses > 1 && self.size >= least
    }
}

/// Represents all larger widths; sums of such widths do not overflow.
const TOO_WIDE: usize = 1 << 24;

fn is_quantifier(op: Op) -> bool {
    matches!(op, Op::Forall | Op::Exists)
}

// ---- writing ---------------------------------------------------------------------------------------------

/// A piece of the text.
#[derive(Clone, Copy)]
enum Part {
    /// A node by its name, or by its text if it has none.
    Use(NodeId),
    /// The text of a node.
    Definition(NodeId),
    /// The `let` at this position of [`Plan::lets`], with everything inside.
    Let(usize),
    /// The bindings of a `let`.
    Bindings(usize),
    /// The binding of one node.
    Binding(NodeId),
    /// The variables that a quantifier binds.
    Variables(NodeId),
    /// One of them.
    Variable(Term),
}

/// A list whose parenthesis is not closed yet.
struct OpenList {
    list: Part,
    next: usize,
    /// The column of its parenthesis.
    column: usize,
    broken: bool,
    /// The number of parentheses directly after its own.
    tail: usize,
}

struct Writer<'a, 'f, W> {
    plan: &'a Plan<'a>,
    out: Columns<'f, W>,
    layout: Option<Layout>,
    open: Vec<OpenList>,
}

impl<W: Write> Writer<'_, '_, W> {
    fn write(&mut self) -> fmt::Result {
        self.start(self.scope(OUTERMOST), 0)?;
        while let Some(list) = self.open.last_mut() {
            let position = list.next;
            list.next += 1;
            let OpenList { list, column, broken, tail, .. } = *list;
            let length = self.length(list);
            if position == length {
                self.out.write_char(')')?;
                self.open.pop();
                continue;
            }
            let part = self.element(list, position);
            self.separate(list, position, part, broken.then_some(column))?;
            self.start(part, if position + 1 == length { tail + 1 } else { 0 })?;
        }
        Ok(())
    }

    /// The part for the body of a quantifier.
    fn scope(&self, scope: Scope) -> Part {
        let ScopePlan { body, lets, .. } = &self.plan.scopes[scope as usize];
        if lets.is_empty() { Part::Use(*body) } else { Part::Let(lets.start) }
    }

    /// Writes an atom, or the beginning of a list that stays open.
    fn start(&mut self, part: Part, tail: usize) -> fmt::Result {
        let plan = self.plan;
        let column = self.out.column;
        match part {
            Part::Use(id) => {
                if let Some(name) = plan.nodes[id as usize].name {
                    return write!(self.out, "{}{name}", plan.prefix);
                }
                return self.start(Part::Definition(id), tail);
            }
            Part::Definition(id) => {
                plan.write_head(id, &mut self.out)?;
                if plan.nodes[id as usize].children.is_empty() {
                    return Ok(());
                }
            }
            Part::Variable(variable) => return write_variable(plan.store, variable, &mut self.out),
            Part::Let(_) => self.out.write_str("(let")?,
            Part::Bindings(_) | Part::Variables(_) => self.out.write_char('(')?,
            Part::Binding(id) => {
                let name = plan.nodes[id as usize].name.unwrap_or_default();
                write!(self.out, "({}{name}", plan.prefix)?;
            }
        }
        let broken = self.layout.is_some_and(|layout| column + self.width(part) + tail > layout.width);
        self.open.push(OpenList { list: part, next: 0, column, broken, tail });
        Ok(())
    }

    /// Writes the separator before an element: a space, or a new line if the list is broken and starts in the given
    /// column.
    fn separate(&mut self, list: Part, position: usize, part: Part, broken: Option<usize>) -> fmt::Result {
        if position == 0 && matches!(list, Part::Bindings(_) | Part::Variables(_)) {
            return Ok(());
        }
        let (Some(layout), Some(column)) = (self.layout, broken) else { return self.out.write_char(' ') };
        let indentation = match list {
            Part::Definition(id) => {
                let quantifier = self.plan.nodes[id as usize].inner != OUTERMOST;
                let beside = if quantifier { position == 0 } else { self.length(list) == 1 };
                (!beside || !quantifier && self.out.column > layout.limit()).then_some(column + layout.indent)
            }
            Part::Let(_) => (position > 0).then_some(column),
            Part::Bindings(_) => Some(column + 1),
            Part::Variables(_) => {
                (self.out.column + 1 + self.width(part) >= layout.width).then_some(column + 1)
            }
            Part::Use(_) | Part::Binding(_) | Part::Variable(_) => None,
        };
        match indentation {
            Some(columns) => write!(self.out, "\n{:1$}", "", columns.min(layout.limit())),
            None => self.out.write_char(' '),
        }
    }

    /// The number of elements after the head of a list.
    fn length(&self, list: Part) -> usize {
        match list {
            Part::Definition(id) | Part::Use(id) => {
                let node = &self.plan.nodes[id as usize];
                if node.inner == OUTERMOST { node.children.len() } else { 2 }
            }
            Part::Let(_) => 2,
            Part::Bindings(position) => self.plan.lets[position].bindings.len(),
            Part::Binding(_) => 1,
            Part::Variables(id) => bound_variables(self.plan.store, self.plan.nodes[id as usize].term).len(),
            Part::Variable(_) => 0,
        }
    }

    fn element(&self, list: Part, position: usize) -> Part {
        let plan = self.plan;
        match list {
            Part::Definition(id) | Part::Use(id) => {
                let node = &plan.nodes[id as usize];
                match (node.inner, position) {
                    (OUTERMOST, _) => Part::Use(plan.children[node.children.start + position]),
                    (_, 0) => Part::Variables(id),
                    (scope, _) => self.scope(scope),
                }
            }
            Part::Let(number) if position == 0 => Part::Bindings(number),
            Part::Let(number) => {
                let scope = &plan.scopes[plan.lets[number].scope as usize];
                if number + 1 < scope.lets.end { Part::Let(number + 1) } else { Part::Use(scope.body) }
            }
            Part::Bindings(number) => Part::Binding(plan.named[plan.lets[number].bindings.start + position]),
            Part::Binding(id) => Part::Definition(id),
            Part::Variables(id) => {
                Part::Variable(bound_variables(plan.store, plan.nodes[id as usize].term)[position])
            }
            Part::Variable(variable) => Part::Variable(variable),
        }
    }

    fn width(&self, part: Part) -> usize {
        match part {
            Part::Use(id) => self.plan.use_width(id),
            Part::Definition(id) => self.plan.nodes[id as usize].width,
            Part::Let(number) => self.plan.lets[number].width,
            Part::Bindings(number) => self.plan.lets[number].bindings_width,
            Part::Binding(id) => self.plan.binding_width(id),
            Part::Variables(id) => self.plan.variables_width(id),
            Part::Variable(variable) => self.plan.variable_width(variable),
        }
    }
}

/// A term without arguments.
fn write_leaf(store: &TermStore, term: Term, out: &mut impl Write) -> fmt::Result {
    match store.op(term) {
        Op::Numeral(id) => write_numeral(store.rational(id), store.sort_of(term), out),
        Op::BvNumeral(id) => {
            let width = store.bv_width(store.sort_of(term)).unwrap_or_default();
            write_bitvector(store.integer(id), width, out)
        }
        Op::And => out.write_str("true"),
        Op::Or => out.write_str("false"),
        op => write!(out, "{}", store.display_op(op)),
    }
}

/// Writes a number of sort `Int` or `Real` in SMT-LIB syntax.
pub fn write_numeral(number: &Rational, sort: Sort, out: &mut impl Write) -> fmt::Result {
    let (numerator, denominator) = (number.numer().abs(), number.denom());
    let (open, close) = if number.is_negative() { ("(- ", ")") } else { ("", "") };
    match sort {
        Sort::REAL if denominator.is_one() => write!(out, "{open}{numerator}.0{close}"),
        Sort::REAL => write!(out, "{open}(/ {numerator}.0 {denominator}.0){close}"),
        _ => write!(out, "{open}{numerator}{close}"),
    }
}

/// Writes the bit-vector with the lowest `width` bits of a number in SMT-LIB syntax.
pub fn write_bitvector(value: &Integer, width: u32, out: &mut impl Write) -> fmt::Result {
    let bits_per_digit = if width.is_multiple_of(4) { 4 } else { 1 };
    out.write_str(if bits_per_digit == 4 { "#x" } else { "#b" })?;
    for digit in (0..width / bits_per_digit).rev() {
        let bits = (digit * bits_per_digit..(digit + 1) * bits_per_digit).rev();
        let digit = bits.fold(0, |digit, bit| digit << 1 | u32::from(value.bit(bit as usize)));
        out.write_char(char::from_digit(digit, 16).unwrap_or('0'))?;
    }
    Ok(())
}

fn write_variable(store: &TermStore, variable: Term, out: &mut impl Write) -> fmt::Result {
    write!(out, "({} {})", store.display_op(store.op(variable)), store.display_sort(store.sort_of(variable)))
}

/// Counts the columns of the current line.
struct Columns<'w, W> {
    out: &'w mut W,
    column: usize,
}

impl<W: Write> Write for Columns<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match text.rfind('\n') {
            Some(position) => self.column = text[position + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
        self.out.write_str(text)
    }
}

struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::sort::{ConstructorSpec, SortKind};

    fn int(store: &TermStore, name: &str) -> Term {
        store.var(store.symbol(name), Sort::INT)
    }

    fn app(store: &TermStore, op: Op, args: &[Term]) -> Term {
        store.app(op, args).unwrap()
    }

    fn show(store: &TermStore, term: Term) -> String {
        store.display(term).to_string()
    }

    #[test]
    fn numerals_carry_sign_and_sort() {
        let store = TermStore::new();
        let real = |n: i64, d: i64| store.real(Rational::new(Integer::from(n), Integer::from(d)));
        let cases = [
            (store.int(5), "5"),
            (store.int(-5), "(- 5)"),
            (store.int(i64::MIN), "(- 9223372036854775808)"),
            (real(1, 1), "1.0"),
            (real(-1, 1), "(- 1.0)"),
            (real(1, 3), "(/ 1.0 3.0)"),
            (real(-1, 3), "(- (/ 1.0 3.0))"),
            (store.bv(0xbe, 8), "#xbe"),
            (store.bv(5, 3), "#b101"),
            (store.bv(-1, 68), "#xfffffffffffffffff"),
        ];
        for (term, text) in cases {
            assert_eq!(show(&store, term), text);
        }
    }

    #[test]
    fn applications_are_written_as_they_are() {
        let store = TermStore::new();
        let (x, y) = (int(&store, "x"), int(&store, "a b"));
        let negation = app(&store, Op::Neg, &[x]);
        let difference = app(&store, Op::Sub, &[negation, y, store.int(-1)]);
        assert_eq!(show(&store, difference), "(- (- x) |a b| (- 1))");
        assert_eq!(show(&store, app(&store, Op::And, &[])), "true");
        assert_eq!(show(&store, app(&store, Op::Or, &[])), "false");
        let divisible = app(&store, store.divisible_op(Integer::from(3)), &[x]);
        assert_eq!(show(&store, divisible), "((_ divisible 3) x)");
        let constant = store.fun(store.symbol("c"), &[], Sort::INT);
        let f = store.fun(store.symbol("f"), &[Sort::INT], Sort::INT);
        let applied = store.apply(f, &[store.apply(constant, &[]).unwrap()]).unwrap();
        assert_eq!(show(&store, applied), "(f c)");
        let array = store.array_sort(Sort::INT, Sort::INT);
        let zeros = app(&store, Op::ConstArray(array), &[store.int(0)]);
        assert_eq!(show(&store, zeros), "((as const (Array Int Int)) 0)");
    }

    #[test]
    fn constructors_of_parametric_datatypes_say_their_sort() {
        let store = TermStore::new();
        let t = store.sort(SortKind::Uninterpreted(store.symbol("T"), [].into()));
        let list = store.new_datatype(store.symbol("List"), &[t]);
        let spec = |name: &str, fields: &[(&str, Sort)]| ConstructorSpec {
            name: store.symbol(name),
            fields: fields.iter().map(|(name, sort)| (store.symbol(name), *sort)).collect(),
        };
        let constructors = vec![spec("nil", &[]), spec("cons", &[("head", t), ("tail", list)])];
        let list = store.define_datatypes(&[(list, constructors)]).unwrap()[0];
        let ints = store.instantiate_datatype(list, &[Sort::INT]);
        let [nil, cons] = *store.datatype(ints).unwrap().constructors() else { unreachable!() };
        let empty = app(&store, Op::Construct(nil), &[]);
        let one = app(&store, Op::Construct(cons), &[store.int(1), empty]);
        assert_eq!(show(&store, one), "((as cons (List Int)) 1 (as nil (List Int)))");
        let test = app(&store, Op::Tester(cons), &[one]);
        assert_eq!(show(&store, test), "((_ is cons) ((as cons (List Int)) 1 (as nil (List Int))))");
        let head =
            app(&store, Op::Selector { constructor: cons, field: 0 }, &[store.var(store.symbol("l"), ints)]);
        assert_eq!(show(&store, head), "(head l)");
    }

    #[test]
    fn shared_subterms_of_one_rank_share_a_let() {
        let store = TermStore::new();
        let (x, y) = (int(&store, "x"), int(&store, "y"));
        let sum = app(&store, Op::Add, &[x, y]);
        let difference = app(&store, Op::Sub, &[x, y]);
        let product = app(&store, Op::Mul, &[sum, difference]);
        let left = app(&store, Op::Lt, &[sum, product]);
        let right = app(&store, Op::Lt, &[product, difference]);
        let both = app(&store, Op::And, &[left, right]);
        assert_eq!(
            show(&store, both),
            "(let ((a!1 (+ x y)) (a!2 (- x y))) (let ((a!3 (* a!1 a!2))) (and (< a!1 a!3) (< a!3 a!2))))"
        );
    }

    #[test]
    fn small_subterms_need_no_name() {
        let store = TermStore::new();
        let (x, y) = (int(&store, "x"), int(&store, "y"));
        let sum = app(&store, Op::Add, &[x, y]);
        let product = app(&store, Op::Mul, &[sum, sum]);
        let both =
            app(&store, Op::And, &[app(&store, Op::Lt, &[sum, product]), app(&store, Op::Lt, &[product, x])]);
        let named_from = |size| store.display(both).naming_from(size).to_string();
        assert_eq!(named_from(0), show(&store, both));
        assert_eq!(named_from(4), "(let ((a!1 (* (+ x y) (+ x y)))) (and (< (+ x y) a!1) (< a!1 x)))");
        assert_eq!(named_from(8), "(and (< (+ x y) (* (+ x y) (+ x y))) (< (* (+ x y) (+ x y)) x))");
    }

    #[test]
    fn names_of_the_term_are_not_taken() {
        let store = TermStore::new();
        let x = int(&store, "a!1");
        let y = int(&store, "a!!x");
        let sum = app(&store, Op::Add, &[x, y]);
        let twice = app(&store, Op::Lt, &[sum, sum]);
        assert_eq!(show(&store, twice), "(let ((a!!1 (+ a!1 a!!x))) (< a!!1 a!!1))");
    }

    #[test]
    fn what_mentions_a_bound_variable_stays_under_its_quantifier() {
        let store = TermStore::new();
        let (x, y) = (int(&store, "x"), int(&store, "y"));
        let less = app(&store, Op::Lt, &[x, y]);
        let body = app(&store, Op::Or, &[less, app(&store, Op::Not, &[less])]);
        let all = app(&store, Op::Forall, &[x, body]);
        assert_eq!(
            show(&store, all),
            "(forall ((x Int)) (let ((a!1 (< x y))) (or a!1 (not a!1))))",
            "and what is used in one quantifier only is bound there"
        );
        // The free and the bound `(< x y)` are one term, but must not be named together.
        let mixed = app(&store, Op::And, &[less, app(&store, Op::Forall, &[x, less])]);
        assert_eq!(show(&store, mixed), "(and (< x y) (forall ((x Int)) (< x y)))");
        let [left, right] = [Op::Forall, Op::Exists].map(|op| app(&store, op, &[int(&store, "z"), less]));
        let outside = app(&store, Op::And, &[left, right]);
        assert_eq!(
            show(&store, outside),
            "(let ((a!1 (< x y))) (and (forall ((z Int)) a!1) (exists ((z Int)) a!1)))"
        );
    }

    #[test]
    fn inner_quantifiers_use_the_names_of_outer_ones() {
        let store = TermStore::new();
        let (x, y) = (int(&store, "x"), int(&store, "y"));
        let outer = app(&store, Op::Lt, &[x, store.int(0)]);
        let inner = app(&store, Op::Lt, &[y, x]);
        let body = app(&store, Op::Or, &[inner, app(&store, Op::Not, &[inner]), outer]);
        let some = app(&store, Op::Exists, &[y, body]);
        let all = app(&store, Op::Forall, &[x, app(&store, Op::And, &[outer, some, some])]);
        assert_eq!(
            show(&store, all),
            "(forall ((x Int)) (let ((a!1 (< x 0))) \
             (let ((a!2 (exists ((y Int)) (let ((a!3 (< y x))) (or a!3 (not a!3) a!1))))) (and a!1 a!2 a!2))))"
        );
    }

    #[test]
    fn lines_break_where_the_width_ends() {
        let store = TermStore::new();
        let (x, y) = (int(&store, "x"), int(&store, "y"));
        let less = app(&store, Op::Lt, &[x, store.int(10)]);
        let sum = app(&store, Op::Add, &[x, y, store.int(-1)]);
        let body =
            app(&store, Op::Implies, &[less, app(&store, Op::Eq, &[sum, app(&store, Op::Mul, &[sum, y])])]);
        let all = app(&store, Op::Forall, &[x, y, body]);
        let pretty = |width| store.display(all).pretty(width, 2).to_string();
        assert_eq!(pretty(200), show(&store, all));
        assert_eq!(
            pretty(50),
            "(forall ((x Int) (y Int))\n  (let ((a!1 (+ x y (- 1))))\n  (=> (< x 10) (= a!1 (* a!1 y)))))"
        );
        let there = store.display(all).pretty(60, 2).at(10).to_string();
        assert_eq!(
            there,
            "(forall ((x Int) (y Int))\n            (let ((a!1 (+ x y (- 1))))\n            (=> (< x 10) (= a!1 (* a!1 y)))))"
        );
        let narrow = "
(forall ((x Int)
         (y Int))
  (let ((a!1 (+
          x
          y
          (- 1))))
  (=>
    (< x 10)
    (=
      a!1
      (* a!1 y)))))";
        assert_eq!(pretty(20), narrow.trim_start());
    }

    /// A tower of `levels` applications made by `step`, and its text.
    fn tower(store: &TermStore, levels: usize, step: impl Fn(usize, Term) -> Term) -> String {
        let term =
            (0..levels).fold(store.var(store.symbol("p"), Sort::BOOL), |term, level| step(level, term));
        let start = Instant::now();
        let text = show(store, term);
        let pretty = store.display(term).pretty(80, 2).to_string();
        assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
        assert_eq!(balance(&text), 0);
        assert_eq!(balance(&pretty), 0);
        assert!(pretty.len() < 60 * text.len());
        text
    }

    fn balance(text: &str) -> i64 {
        let mut depth = 0;
        for byte in text.bytes() {
            depth += i64::from(byte == b'(') - i64::from(byte == b')');
            assert!(depth >= 0);
        }
        depth
    }

    #[test]
    fn a_million_levels() {
        let store = TermStore::new();
        let text = tower(&store, 1_000_000, |_, term| app(&store, Op::Not, &[term]));
        assert_eq!(text.len(), 1 + 6 * 1_000_000);
        let q = store.var(store.symbol("q"), Sort::BOOL);
        tower(&store, 1_000_000, |_, term| app(&store, Op::And, &[q, term]));
    }

    #[test]
    fn a_hundred_thousand_doublings() {
        let store = TermStore::new();
        let text = tower(&store, 100_000, |_, term| app(&store, Op::And, &[term, term]));
        assert_eq!(text.matches("let").count(), 99_999);
    }

    #[test]
    fn a_hundred_thousand_quantifiers() {
        let store = TermStore::new();
        let shared = app(&store, Op::Not, &[store.var(store.symbol("q"), Sort::BOOL)]);
        let same = int(&store, "x");
        let positive = app(&store, Op::Lt, &[store.int(0), same]);
        tower(&store, 100_000, |_, term| {
            let body = app(&store, Op::And, &[positive, shared, term, positive]);
            app(&store, Op::Exists, &[same, body])
        });
        tower(&store, 100_000, |level, term| {
            let variable = int(&store, &format!("x{level}"));
            let atom = app(&store, Op::Lt, &[variable, same]);
            app(&store, Op::Forall, &[variable, app(&store, Op::And, &[atom, term, shared])])
        });
    }

    #[test]
    fn doublings_across_quantifiers() {
        let store = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| int(&store, name));
        let text = tower(&store, 10_000, |_, term| {
            let under = |variable| {
                let atom = app(&store, Op::Lt, &[variable, store.int(0)]);
                app(&store, Op::Forall, &[variable, app(&store, Op::And, &[atom, term])])
            };
            app(&store, Op::Or, &[under(x), under(y)])
        });
        assert!(text.len() < 2_000_000);
    }
}
