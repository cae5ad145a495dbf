//! Distinct nodes and watched equations.
//!
//! An *equation* is a pair of nodes: a watched one has a token, and an asserted disequality is an equation marked as
//! false. Equations between the same two classes are equivalent, so they are kept as congruence closure keeps
//! applications: a table finds the owning equation of a pair of roots, the others are in the owner's ring, and when two
//! classes are joined, the equations of the lighter one are re-entered. Then
//!
//! - an equation whose two sides are now in one class is true, and its ring is notified;
//! - an equation that meets another one joins its ring, and if one of them is false, the other ring is notified;
//! - whether two classes with an equation between them may be joined is one table lookup.
//!
//! Entries for pairs with a former root stay in the table: they are never looked up, and become valid again when the
//! union is undone.
//!
//! A *group* is a set of pairwise distinct nodes, for `distinct` with many arguments; listing the pairs would take
//! quadratic space. Group and class lead to the member of the class (I7). Two classes are apart if they have members of
//! one group; the check iterates over the memberships of the class with fewer.
//!
//! Whether values or groups make an owning equation false is checked whenever one of its classes gains a value or a
//! membership. The result is stored with the two nodes that differ: an explanation may be requested later, when the
//! classes contain other differing nodes that were not there at the time.

use rustc_hash::FxHashMap;

use super::egraph::{Class, EGraph};
use super::ring::{List, Rings};
use super::undo::Undo;
use super::{Node, Reason, Token};

/// Two nodes that differ: by an assertion, or because both are values, of different constructors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apart {
    /// The first node.
    pub left: Node,
    /// The second node.
    pub right: Node,
    /// Why they differ; `None` if both are values, of different constructors.
    pub reason: Option<Reason>,
}

/// A contradiction: two nodes that differ but are connected in the proof forest. [`EGraph::explain_conflict`] and
/// [`EGraph::prove`] explain it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict(pub Apart);

/// A settled watched equation. [`EGraph::explain_propagation`] explains it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Propagation {
    /// The token of the watch.
    pub token: Token,
    /// The left side of the watched equation.
    pub left: Node,
    /// The right side.
    pub right: Node,
    /// `None` if the sides are equal. Otherwise two nodes that differ: `left` equals the first, `right` the second.
    pub apart: Option<Apart>,
}

impl Propagation {
    /// Whether the equation is true.
    pub fn holds(&self) -> bool {
        self.apart.is_none()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Equation {
    pub(super) left: Node,
    pub(super) right: Node,
    pub(super) token: Option<Token>,
    /// Whether the table leads to this equation, while its sides are in different classes (I6).
    pub(super) is_owner: bool,
    /// Why it is false; only for owners.
    pub(super) apart: Option<Apart>,
    /// The next equation in the ring of the owner.
    pub(super) next: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    pub(super) group: u32,
    pub(super) member: Node,
}

/// Equations, groups, and reported propagations.
#[derive(Clone, Default, Debug)]
pub(super) struct ApartState {
    pub(super) equations: Vec<Equation>,
    /// Slots 2e and 2e + 1 are the sides of equation e. A class lists those of the equations entered there, which
    /// include all owners with a side in it.
    pub(super) sides: Rings,
    /// The owning equation of two roots, the smaller one first.
    pub(super) pairs: FxHashMap<(Node, Node), u32>,

    /// The reason of each group.
    pub(super) groups: Vec<Reason>,
    pub(super) memberships: Vec<Membership>,
    /// Slots are memberships.
    pub(super) memberships_of: Rings,
    /// The membership that a root has in a group.
    pub(super) in_group: FxHashMap<(u32, Node), u32>,

    /// All current propagations, and how many of them were read.
    pub(super) told: Vec<Propagation>,
    pub(super) told_seen: usize,

    /// Scratch of `union`: the owning equations between the lighter class and others.
    crossing: Vec<u32>,
}

impl ApartState {
    /// The equations in the ring.
    pub(super) fn ring(&self, equation: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(equation), move |&at| {
            let next = self.equations[at as usize].next;
            (next != equation).then_some(next)
        })
    }

    fn swap_next(&mut self, left: u32, right: u32) {
        let next = self.equations[left as usize].next;
        self.equations[left as usize].next = self.equations[right as usize].next;
        self.equations[right as usize].next = next;
    }
}

impl EGraph {
    // ---- assertions --------------------------------------------------------------------------------------

    /// Asserts that two nodes are distinct.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn distinct(&mut self, left: Node, right: Node, reason: Reason) -> Result<(), Conflict> {
        if let Some(conflict) = self.conflict {
            return Err(conflict);
        }
        let apart = Apart { left, right, reason: Some(reason) };
        if self.are_equal(left, right) {
            return Err(self.set_conflict(Conflict(apart)));
        }
        let equation = match self.equation_between(self.root(left), self.root(right)) {
            Some(equation) => equation,
            None => self.add_equation(left, right, None),
        };
        // If the nodes are apart already, a second reason is useless: it would be popped first.
        if self.apart.equations[equation as usize].apart.is_none() {
            self.set_apart(equation, apart);
        }
        Ok(())
    }

    /// Asserts that the nodes are pairwise distinct.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn all_distinct(&mut self, nodes: &[Node], reason: Reason) -> Result<(), Conflict> {
        if let &[left, right] = nodes {
            return self.distinct(left, right, reason);
        }
        if let Some(conflict) = self.conflict {
            return Err(conflict);
        }
        let group = self.apart.groups.len() as u32;
        self.apart.groups.push(reason);
        self.trail.record(Undo::Group);
        for &member in nodes {
            let root = self.root(member);
            if let Some(&other) = self.apart.in_group.get(&(group, root)) {
                let left = self.apart.memberships[other as usize].member;
                let apart = Apart { left, right: member, reason: Some(reason) };
                return Err(self.set_conflict(Conflict(apart)));
            }
            let slot = self.apart.memberships_of.add_slot();
            self.apart.memberships.push(Membership { group, member });
            self.apart.memberships_of.link(&mut self.classes[root.index()].memberships, slot);
            self.trail.record(Undo::Membership);
            self.enter_group(group, root, slot);
        }
        for &member in nodes {
            self.settle_equations(self.class(member).sides);
        }
        Ok(())
    }

    /// Reports when the nodes become equal or distinct, until the current level is popped. If they already are, this is
    /// reported at once.
    pub fn watch(&mut self, left: Node, right: Node, token: Token) {
        self.add_equation(left, right, Some(token));
    }

    /// The watched equations settled since the last call, in order, without those popped meanwhile.
    pub fn propagations(&mut self) -> &[Propagation] {
        let seen = std::mem::replace(&mut self.apart.told_seen, self.apart.told.len());
        &self.apart.told[seen..]
    }

    // ---- equations ---------------------------------------------------------------------------------------

    /// Adds an equation, entered and settled as far as known.
    fn add_equation(&mut self, left: Node, right: Node, token: Option<Token>) -> u32 {
        let equation = self.apart.equations.len() as u32;
        let data = Equation { left, right, token, is_owner: true, apart: None, next: equation };
        self.apart.equations.push(data);
        let sides = [self.apart.sides.add_slot(), self.apart.sides.add_slot()];
        self.trail.record(Undo::Equation);
        let roots = [self.root(left), self.root(right)];
        if roots[0] == roots[1] {
            self.tell(equation, None);
        } else if let Some(owner) = self.equation_between(roots[0], roots[1]) {
            self.absorb(equation, owner);
        } else {
            self.enter_pair(pair(roots[0], roots[1]), equation);
            for (slot, root) in std::iter::zip(sides, roots) {
                self.apart.sides.link(&mut self.classes[root.index()].sides, slot);
            }
            self.trail.record(Undo::Sides(equation));
            self.settle(equation);
        }
        equation
    }

    /// The owning equation between two different roots.
    fn equation_between(&self, left: Node, right: Node) -> Option<u32> {
        self.apart.pairs.get(&pair(left, right)).copied()
    }

    fn enter_pair(&mut self, pair: (Node, Node), equation: u32) {
        let before = self.apart.pairs.insert(pair, equation);
        debug_assert!(before.is_none(), "by I6 there is one owner");
        self.trail.record(Undo::Pair(pair.0, pair.1));
    }

    /// Moves the ring of an equation into that of the owner between the same classes.
    fn absorb(&mut self, equation: u32, owner: u32) {
        let [new, old] = [equation, owner].map(|at| self.apart.equations[at as usize].apart);
        match (new, old) {
            (None, Some(apart)) => self.tell(equation, Some(apart)),
            (Some(apart), None) => self.set_apart(owner, apart),
            _ => {}
        }
        self.apart.equations[equation as usize].is_owner = false;
        self.apart.swap_next(equation, owner);
        self.trail.record(Undo::Absorbed(equation, owner));
    }

    pub(super) fn undo_absorb(&mut self, equation: u32, owner: u32) {
        self.apart.swap_next(equation, owner);
        self.apart.equations[equation as usize].is_owner = true;
    }

    /// Marks an owning equation as false if values or groups make it so.
    fn settle(&mut self, equation: u32) {
        let Equation { left, right, apart, .. } = self.apart.equations[equation as usize];
        if apart.is_none()
            && let Some(apart) = self.apart_by_value_or_group(self.root(left), self.root(right))
        {
            self.set_apart(equation, apart);
        }
    }

    /// Settles the equations of a class.
    fn settle_equations(&mut self, sides: List) {
        let mut next = sides.first();
        while let Some(slot) = next {
            if self.is_crossing(slot / 2) {
                self.settle(slot / 2);
            }
            next = self.apart.sides.after(sides, slot);
        }
    }

    /// Whether the equation is an owner and its sides are in different classes.
    fn is_crossing(&self, equation: u32) -> bool {
        let Equation { left, right, is_owner, .. } = self.apart.equations[equation as usize];
        is_owner && !self.are_equal(left, right)
    }

    /// Marks an owning equation as false, and notifies its ring.
    fn set_apart(&mut self, equation: u32, apart: Apart) {
        self.apart.equations[equation as usize].apart = Some(apart);
        self.trail.record(Undo::Apart(equation));
        self.tell(equation, Some(apart));
    }

    /// Notifies the watches in the ring of the equation that it is settled. If it is false, the nodes that differ are
    /// now in the classes of its sides, in either order.
    fn tell(&mut self, equation: u32, apart: Option<Apart>) {
        let mut at = equation;
        loop {
            let Equation { left, right, token, next, .. } = self.apart.equations[at as usize];
            if let Some(token) = token {
                let apart = apart.map(|apart| {
                    if self.are_equal(left, apart.left) {
                        apart
                    } else {
                        Apart { left: apart.right, right: apart.left, ..apart }
                    }
                });
                self.apart.told.push(Propagation { token, left, right, apart });
            }
            at = next;
            if at == equation {
                return;
            }
        }
    }

    // ---- groups ------------------------------------------------------------------------------------------

    fn enter_group(&mut self, group: u32, root: Node, membership: u32) {
        let before = self.apart.in_group.insert((group, root), membership);
        debug_assert!(before.is_none(), "by I7 a class has one member of the group");
        self.trail.record(Undo::InGroup(group, root));
    }

    /// Why two different roots are apart, if values or groups are the reason.
    fn apart_by_value_or_group(&self, left: Node, right: Node) -> Option<Apart> {
        let classes = [left, right].map(|root| &self.classes[root.index()]);
        if let [Some(left), Some(right)] = classes.map(|class| class.value)
            && self.symbol(left) != self.symbol(right)
        {
            return Some(Apart { left, right, reason: None });
        }
        let [few, many] = classes.map(|class| class.memberships);
        let is_swapped = many.len() < few.len();
        let (few, other_root) = if is_swapped { (many, left) } else { (few, right) };
        self.apart.memberships_of.iter(few).find_map(|slot| {
            let Membership { group, member } = self.apart.memberships[slot as usize];
            let other = *self.apart.in_group.get(&(group, other_root))?;
            let other = self.apart.memberships[other as usize].member;
            let (left, right) = if is_swapped { (other, member) } else { (member, other) };
            Some(Apart { left, right, reason: Some(self.apart.groups[group as usize]) })
        })
    }

    /// Why two roots are apart, if they are.
    pub(super) fn apart_roots(&self, left: Node, right: Node) -> Option<Apart> {
        if left == right {
            return None;
        }
        match self.equation_between(left, right) {
            // By I6 the equation stores it.
            Some(equation) => self.apart.equations[equation as usize].apart,
            None => self.apart_by_value_or_group(left, right),
        }
    }

    // ---- union -------------------------------------------------------------------------------------------

    /// Collects, before a union, the equations that it will move.
    pub(super) fn collect_crossing_equations(&mut self, sides: List) {
        let mut crossing = std::mem::take(&mut self.apart.crossing);
        crossing.clear();
        crossing.extend(self.apart.sides.iter(sides).map(|s| s / 2).filter(|&e| self.is_crossing(e)));
        self.apart.crossing = crossing;
    }

    /// Joins the lists and restores I6 to I8, after the members of `from` were relabelled.
    pub(super) fn join_apart(&mut self, from: Node, into: Node, gained_value: bool) {
        let Class { memberships, sides, .. } = self.classes[from.index()];
        let mut next = memberships.first();
        while let Some(slot) = next {
            let group = self.apart.memberships[slot as usize].group;
            self.enter_group(group, into, slot);
            next = self.apart.memberships_of.after(memberships, slot);
        }
        // Settling reads this list, so complete it first.
        self.apart.memberships_of.splice(&mut self.classes[into.index()].memberships, memberships);

        let crossing = std::mem::take(&mut self.apart.crossing);
        for &equation in &crossing {
            let Equation { left, right, .. } = self.apart.equations[equation as usize];
            let (left, right) = (self.root(left), self.root(right));
            if left == right {
                self.tell(equation, None);
            } else if let Some(owner) = self.equation_between(left, right) {
                self.absorb(equation, owner);
                self.settle(owner);
            } else {
                self.enter_pair(pair(left, right), equation);
                self.settle(equation);
            }
        }
        self.apart.crossing = crossing;

        if gained_value || memberships.len() > 0 {
            self.settle_equations(self.classes[into.index()].sides);
        }
        self.apart.sides.splice(&mut self.classes[into.index()].sides, sides);
    }
}

/// The key of an unordered pair.
fn pair(left: Node, right: Node) -> (Node, Node) {
    if left < right { (left, right) } else { (right, left) }
}
