//! Normal forms of formulas with much sharing, by factoring out common members of junctions.
//!
//! A partial interpolant collects the interpolants of the lemmas below it, mostly as a conjunction, and thousands of
//! partial interpolants share nearly all of it. The store's normal form is flat. It would list all members for each
//! conjunction inside a disjunction, which is quadratic in the size of the proof. But such neighbouring conjunctions
//! have most members in common, and by distributivity
//!
//! ```text
//! (C and R1) or ... or (C and Rn)   =   C and (R1 or ... or Rn)           and dually
//! ```
//!
//! so the common members rise until they are listed once.
//!
//! ```text
//! from the root down    the rim of a junction: where its region, the junctions of its kind right below, ends.
//!                       A junction that occurs only in regions of its own kind needs no rim
//! from the leaves up    the rim of a junction becomes the list of its members, common ones are factored out, and
//!                       members of a junction of the other kind become terms
//! ```
//!
//! Not every formula shrinks this way. A multiple of the formula's length bounds the total length of rims and lists, so
//! time and space are linear. If the budget does not suffice, there is no normal form of a sensible size.

use rustc_hash::FxHashMap;
use shofar_logic::{Op, Term, TermStore};

/// The total length of all lists is at most `ALLOWANCE` plus `GROWTH` times the length of the formula.
const ALLOWANCE: usize = 1 << 16;
const GROWTH: usize = 8;

/// A formula and its subterms down to the leaves, by positions.
struct Graph {
    /// Ascending.
    terms: Vec<Term>,
    kinds: Vec<Op>,
    /// Where the arguments of each term start in `args`. Leaves have none.
    starts: Vec<u32>,
    args: Vec<u32>,
}

impl Graph {
    fn new(store: &TermStore, terms: Vec<Term>) -> Self {
        let positions: FxHashMap<Term, u32> =
            terms.iter().enumerate().map(|(position, &term)| (term, position as u32)).collect();
        let (mut starts, mut args) = (Vec::with_capacity(terms.len() + 1), Vec::new());
        starts.push(0);
        for &term in &terms {
            if store.is_connective(term) {
                args.extend(store.args(term).iter().map(|arg| positions[arg]));
            }
            starts.push(args.len() as u32);
        }
        let kinds = terms.iter().map(|&term| store.op(term)).collect();
        Graph { terms, kinds, starts, args }
    }

    fn args(&self, at: usize) -> &[u32] {
        &self.args[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// A junction as the list of its members: normal formulas that are not junctions of this kind, ascending, each once. An
/// empty list means the neutral truth value. A single member fits both kinds.
struct Image {
    kind: Op,
    members: Vec<Term>,
    /// The junction as a term, built on demand.
    term: Option<Term>,
}

/// Computes normal forms. Images do not depend on the context of a term, so all formulas share them.
pub(super) struct Factoring<'s> {
    store: &'s TermStore,
    images: FxHashMap<Term, Image>,
    /// How much the lists may still grow.
    budget: usize,
}

impl<'s> Factoring<'s> {
    pub(super) fn new(store: &'s TermStore) -> Self {
        Factoring { store, images: FxHashMap::default(), budget: 0 }
    }

    /// The normal form of a formula as written, with common members of junctions factored out. `None` if it is too
    /// large.
    pub(super) fn factored(&mut self, formula: Term) -> Option<Term> {
        let store = self.store;
        let subterms = store.subterms_until(&[formula], |term| !store.is_connective(term));
        let length: usize = subterms.iter().map(|&term| store.args(term).len()).sum();
        self.budget = ALLOWANCE + GROWTH * length;
        for (term, rim) in self.rims(formula, subterms)? {
            let image = self.image(term, &rim)?;
            self.images.insert(term, image);
        }
        Some(self.term_of(formula))
    }

    /// The subterms that need an image and have none yet, each with its rim, whose terms come before it. The rim of a
    /// term other than a junction is its arguments.
    fn rims(&mut self, root: Term, subterms: Vec<Term>) -> Option<Vec<(Term, Vec<Term>)>> {
        let store = self.store;
        let graph = Graph::new(store, subterms);
        let mut is_needed: Vec<bool> = graph.terms.iter().map(|&term| term == root).collect();
        // The junction whose region last contained each subterm.
        let mut region_of: Vec<usize> = vec![usize::MAX; graph.terms.len()];
        let mut open: Vec<u32> = Vec::new();
        let mut found: Vec<(Term, Vec<Term>)> = Vec::new();
        let mut leaves: Vec<(Term, Vec<Term>)> = Vec::new();
        for (at, &term) in graph.terms.iter().enumerate().rev() {
            if !is_needed[at] || self.images.contains_key(&term) {
                continue;
            }
            if !store.is_connective(term) {
                leaves.push((term, Vec::new()));
                continue;
            }
            let kind = store.op(term);
            let is_junction = matches!(kind, Op::And | Op::Or);
            let mut rim: Vec<Term> = Vec::new();
            open.extend_from_slice(graph.args(at));
            while let Some(part) = open.pop() {
                let part = part as usize;
                if is_junction && std::mem::replace(&mut region_of[part], at) == at {
                    continue;
                }
                self.spend(1)?;
                if is_junction && graph.kinds[part] == kind {
                    open.extend_from_slice(graph.args(part));
                } else {
                    is_needed[part] = true;
                    rim.push(graph.terms[part]);
                }
            }
            if !is_junction {
                // The order of arguments matters.
                rim.reverse();
            }
            found.push((term, rim));
        }
        // Leaves need no images of other terms.
        leaves.extend(found.into_iter().rev());
        Some(leaves)
    }

    /// The image of a term with this rim. All terms of the rim have images.
    fn image(&mut self, term: Term, rim: &[Term]) -> Option<Image> {
        let store = self.store;
        match store.op(term) {
            kind @ (Op::And | Op::Or) => {
                let mut operands = Operands { kind, members: Vec::new() };
                for &part in rim {
                    let image = &self.images[&part];
                    if image.kind == kind || image.members.len() == 1 {
                        operands.members.extend_from_slice(&image.members);
                    } else {
                        let part = self.term_of(part);
                        operands.add(store, part);
                    }
                }
                self.spend(operands.members.len())?;
                operands.sort();
                self.take_out(operands)
            }
            Op::Not if rim.len() == 1 => {
                let Image { kind, members, .. } = &self.images[&rim[0]];
                let mut operands = Operands { kind: dual(*kind), members: Vec::with_capacity(members.len()) };
                members.iter().for_each(|&member| operands.add(store, store.not(member)));
                self.spend(operands.members.len())?;
                operands.sort();
                Some(operands.into())
            }
            op if store.is_connective(term) => {
                let args: Vec<Term> = rim.iter().map(|&arg| self.term_of(arg)).collect();
                Some(of_term(store, store.build(op, &args).expect("formulas are replaced by formulas")))
            }
            _ => Some(of_term(store, store.normalize(term))),
        }
    }

    /// The image as a term.
    fn term_of(&mut self, term: Term) -> Term {
        let store = self.store;
        let image = self.images.get_mut(&term).expect("rims come before what is made of them");
        *image.term.get_or_insert_with(|| junction_of(store, image.kind, &image.members))
    }

    /// The junction of operands. Factors out the members of the other kind that all operands share.
    fn take_out(&mut self, operands: Operands) -> Option<Image> {
        let (store, kind) = (self.store, operands.kind);
        let is_settled = operands.members.len() < 2 || operands.members.contains(&truth(dual(kind)));
        if is_settled {
            return Some(operands.into());
        }
        let parts = |operand: Term| {
            let mut parts = Operands { kind: dual(kind), members: Vec::new() };
            parts.add(store, operand);
            parts.sort();
            parts.members
        };
        let mut common = parts(operands.members[0]);
        for &operand in &operands.members[1..] {
            let parts = parts(operand);
            self.spend(parts.len())?;
            common.retain(|member| parts.binary_search(member).is_ok());
            if common.is_empty() {
                return Some(operands.into());
            }
        }
        let mut rests = Operands { kind, members: Vec::with_capacity(operands.members.len()) };
        for &operand in &operands.members {
            let mut rest = parts(operand);
            rest.retain(|member| common.binary_search(member).is_err());
            rests.add(store, junction_of(store, dual(kind), &rest));
        }
        let mut all = Operands { kind: dual(kind), members: common };
        all.add(store, junction_of(store, kind, &rests.members));
        all.sort();
        Some(all.into())
    }

    fn spend(&mut self, length: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(length)?;
        Some(())
    }
}

/// Members of a junction, in no order and with repetitions.
struct Operands {
    kind: Op,
    members: Vec<Term>,
}

impl Operands {
    /// Adds a normal formula, or its members if it is a junction of this kind.
    fn add(&mut self, store: &TermStore, formula: Term) {
        self.members.extend(store.members(formula, self.kind));
    }

    fn sort(&mut self) {
        self.members.sort_unstable();
        self.members.dedup();
    }
}

impl From<Operands> for Image {
    fn from(Operands { kind, members }: Operands) -> Self {
        Image { kind, members, term: None }
    }
}

/// A normal formula as an image.
fn of_term(store: &TermStore, formula: Term) -> Image {
    let kind = if store.op(formula) == Op::Or { Op::Or } else { Op::And };
    let mut operands = Operands { kind, members: Vec::new() };
    operands.add(store, formula);
    operands.sort();
    Image { kind, members: operands.members, term: Some(formula) }
}

fn junction_of(store: &TermStore, kind: Op, members: &[Term]) -> Term {
    if kind == Op::And { store.and(members) } else { store.or(members) }
}

fn dual(kind: Op) -> Op {
    if kind == Op::And { Op::Or } else { Op::And }
}

/// The neutral truth value.
fn truth(kind: Op) -> Term {
    if kind == Op::And { Term::TRUE } else { Term::FALSE }
}
