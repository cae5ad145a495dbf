//! A throw-away theory: a declared sort with finitely many elements, in order.
//!
//! It is here to show what a theory takes, and to test what holds theories together: everything about it is in this file, and
//! it joins a solver by standing in a list. It decides
//!
//! ```text
//! x = e, x = y       for elements e of the sort, which are declared constants
//! before(x, y)       x comes before y
//! next(x)            the element behind x, and the first one behind the last
//! ```
//!
//! by sets of elements for each term, which assertions make smaller. Terms with several elements left are split: by an
//! atom `x = e` made within the check, or if nothing is known of x, by the lemma that it is one of the elements. What `next`
//! means is told by lemmas, when its argument has one element left. Every clause is justified by [`FINITE`], for
//! which the checker tries all elements for all terms.

use rustc_hash::FxHashMap;
use shofar_logic::{Fun, Op, Sort, Term, TermStore, Value};
use shofar_smt::proof::{Axiom, AxiomRule, Justification};
use shofar_smt::sat::{Answers, Certificate, Clash, Effort, Lit, Theory, Var};
use shofar_smt::theory::component::{Component, Handle, TermLemma, Terms, Values};

/// What an enumeration is called by its user.
#[derive(Clone)]
pub(crate) struct Language {
    pub(crate) sort: Sort,
    pub(crate) elements: Vec<Term>,
    pub(crate) next: Fun,
    pub(crate) before: Fun,
}

pub(crate) struct Enumeration {
    language: Language,
    /// The terms of the sort, and their numbers.
    terms: Vec<Term>,
    numbers: FxHashMap<Term, usize>,
    atoms: FxHashMap<Var, Meaning>,
    /// The atoms `x = e`.
    memberships: FxHashMap<(usize, usize), Var>,
    /// The true atoms, and how many there were when levels were opened.
    asserted: Vec<Lit>,
    marks: Vec<usize>,
    /// By handles.
    shared: Vec<usize>,
    /// The applications of `next` with their arguments.
    successors: Vec<(usize, usize)>,
    /// What is to be said in formulas, and what was said already of terms that come before others.
    pending: Vec<Pending>,
    told: Vec<usize>,
    /// How often something was found out in which way.
    pub(crate) counters: Counters,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Counters {
    pub(crate) propagations: u64,
    pub(crate) conflicts: u64,
    pub(crate) new_atoms: u64,
    pub(crate) term_lemmas: u64,
    pub(crate) equalities: u64,
}

#[derive(Clone, Copy)]
enum Meaning {
    Same(usize, usize),
    Before(usize, usize),
}

/// A lemma about terms.
#[derive(Clone, Copy)]
enum Pending {
    /// The term is one of the elements.
    OneOf(usize),
    /// If the argument is the element, the application of `next` is the one behind it.
    Successor { application: usize, argument: usize, element: usize },
    /// What comes before something else is not the last one: there is something behind it other than the first one.
    NotLast(usize, usize),
}

/// Sets of elements as bits, by numbers of terms.
type Domains = Vec<u32>;

impl Enumeration {
    pub(crate) fn new(language: &Language) -> Self {
        Enumeration {
            language: language.clone(),
            terms: Vec::new(),
            numbers: FxHashMap::default(),
            atoms: FxHashMap::default(),
            memberships: FxHashMap::default(),
            asserted: Vec::new(),
            marks: Vec::new(),
            shared: Vec::new(),
            successors: Vec::new(),
            pending: Vec::new(),
            told: Vec::new(),
            counters: Counters::default(),
        }
    }

    fn element(&self, term: Term) -> Option<usize> {
        self.language.elements.iter().position(|&element| element == term)
    }

    fn number(&mut self, store: &TermStore, term: Term) -> usize {
        if let Some(&number) = self.numbers.get(&term) {
            return number;
        }
        let number = self.terms.len();
        self.terms.push(term);
        self.numbers.insert(term, number);
        if let (Op::Apply(fun), &[argument]) = store.view(term)
            && fun == self.language.next
        {
            let argument = self.number(store, argument);
            self.successors.push((number, argument));
        }
        number
    }

    fn add(&mut self, var: Var, meaning: Meaning) {
        self.atoms.insert(var, meaning);
        if let Meaning::Same(a, b) = meaning {
            for (term, element) in [(a, b), (b, a)] {
                if let Some(element) = self.element(self.terms[element]) {
                    self.memberships.insert((term, element), var);
                }
            }
        }
    }

    /// The elements that literals leave; `None` if they contradict each other.
    fn domains(&self, literals: &[Lit]) -> Option<Domains> {
        let all = (1_u32 << self.language.elements.len()) - 1;
        let start = |term: &Term| self.element(*term).map_or(all, |element| 1 << element);
        let mut domains: Domains = self.terms.iter().map(start).collect();
        loop {
            let before = domains.clone();
            for lit in literals {
                match (self.atoms[&lit.var()], lit.is_positive()) {
                    (Meaning::Same(a, b), true) => {
                        let common = domains[a] & domains[b];
                        (domains[a], domains[b]) = (common, common);
                    }
                    (Meaning::Same(a, b), false) => {
                        for (one, other) in [(a, b), (b, a)] {
                            if domains[other].count_ones() == 1 {
                                domains[one] &= !domains[other];
                            }
                        }
                        if a == b {
                            domains[a] = 0;
                        }
                    }
                    (Meaning::Before(a, b), true) => restrict(&mut domains, a, b, true),
                    (Meaning::Before(a, b), false) => restrict(&mut domains, b, a, false),
                }
            }
            if domains.contains(&0) {
                return None;
            }
            if domains == before {
                return Some(domains);
            }
        }
    }

    /// As few of the literals as contradict each other still.
    fn minimized(&self, mut literals: Vec<Lit>) -> Vec<Lit> {
        let mut at = 0;
        while at < literals.len() {
            let mut fewer = literals.clone();
            fewer.remove(at);
            if self.domains(&fewer).is_none() { literals = fewer } else { at += 1 }
        }
        literals
    }

    fn propagate(&mut self, domains: &Domains, answers: &mut Answers<'_>) {
        let mut atoms: Vec<(Var, Meaning)> =
            self.atoms.iter().map(|(&var, &meaning)| (var, meaning)).collect();
        atoms.sort_by_key(|(var, _)| *var);
        for (var, meaning) in atoms {
            let Meaning::Same(a, b) = meaning else { continue };
            let (a, b) = (domains[a], domains[b]);
            let known =
                if a & b == 0 { Some(false) } else { (a == b && a.count_ones() == 1).then_some(true) };
            if let Some(holds) = known
                && !self.asserted.contains(&var.lit(holds))
            {
                self.counters.propagations += 1;
                answers.propagate(var.lit(holds), self.asserted.len() as u32);
            }
        }
    }

    /// Has the search find one element for the first term that has several left. Returns whether there is one.
    fn split(&mut self, domains: &Domains, answers: &mut Answers<'_>) -> bool {
        let Some(term) = domains.iter().position(|domain| domain.count_ones() > 1) else { return false };
        let first = domains[term].trailing_zeros() as usize;
        let element = self.numbers.get(&self.language.elements[first]).copied();
        match (self.memberships.get(&(term, first)), element) {
            (Some(&atom), _) => answers.set_decision(atom, true),
            (None, Some(element)) if domains[term].count_ones() < self.language.elements.len() as u32 => {
                self.counters.new_atoms += 1;
                let atom = answers.new_atom();
                self.add(atom, Meaning::Same(term, element));
            }
            _ => {
                self.pending.push(Pending::OneOf(term));
                answers.postpone();
            }
        }
        true
    }

    /// Takes note of what has to be said of `next`.
    fn instantiate(&mut self, domains: &Domains, answers: &mut Answers<'_>) {
        for &(application, argument) in &self.successors {
            let element = domains[argument].trailing_zeros() as usize;
            let behind = (element + 1) % self.language.elements.len();
            if domains[application] != 1 << behind {
                self.pending.push(Pending::Successor { application, argument, element });
            }
        }
        for lit in self.asserted.iter().filter(|lit| lit.is_positive()) {
            if let Meaning::Before(a, b) = self.atoms[&lit.var()]
                && !self.told.contains(&a)
            {
                self.told.push(a);
                self.pending.push(Pending::NotLast(a, b));
            }
        }
        if !self.pending.is_empty() {
            answers.postpone();
        }
    }
}

impl Theory for Enumeration {
    fn assert(&mut self, lit: Lit) -> Result<(), Clash> {
        self.asserted.push(lit);
        Ok(())
    }

    fn push_level(&mut self) {
        self.marks.push(self.asserted.len());
    }

    fn pop_levels(&mut self, count: u32) {
        let level = self.marks.len() - count as usize;
        self.asserted.truncate(self.marks[level]);
        self.marks.truncate(level);
    }

    fn check(&mut self, effort: Effort, answers: &mut Answers<'_>) {
        let Some(domains) = self.domains(&self.asserted) else {
            self.counters.conflicts += 1;
            answers.conflict(&self.minimized(self.asserted.clone()), Certificate(0));
            return;
        };
        self.propagate(&domains, answers);
        if effort == Effort::Final && !self.split(&domains, answers) {
            self.instantiate(&domains, answers);
        }
    }

    /// The token says how many literals were asserted before.
    fn explain(&mut self, lit: Lit, token: u32, out: &mut Vec<Lit>) -> Certificate {
        let mut literals = self.asserted[..token as usize].to_vec();
        literals.push(!lit);
        out.extend(self.minimized(literals).into_iter().filter(|&other| other != !lit));
        Certificate(0)
    }
}

impl Component for Enumeration {
    fn owns_sort(&self, _store: &TermStore, sort: Sort) -> bool {
        sort == self.language.sort
    }

    fn knows(&self, symbol: Term) -> bool {
        self.numbers.contains_key(&symbol) || self.element(symbol).is_some()
    }

    fn define(&mut self, var: Var, atom: Term, terms: &mut Terms<'_, '_>) -> bool {
        let store = terms.store();
        let (op, &[left, right]) = store.view(atom) else { return false };
        if store.sort_of(left) != self.language.sort {
            return false;
        }
        let (left, right) = (self.number(store, left), self.number(store, right));
        match op {
            Op::Eq => self.add(var, Meaning::Same(left, right)),
            Op::Apply(fun) if fun == self.language.before => self.add(var, Meaning::Before(left, right)),
            _ => return false,
        }
        true
    }

    fn sides(&self, store: &TermStore, equality: Term) -> Option<(Term, Term)> {
        let &[left, right] = store.args(equality) else { return None };
        Some((left, right))
    }

    fn share(&mut self, store: &TermStore, term: Term) -> Handle {
        let number = self.number(store, term);
        self.shared.push(number);
        Handle(self.shared.len() as u32 - 1)
    }

    fn candidate(&self) -> Vec<u32> {
        let domains = self.domains(&self.asserted).expect("the check has found nothing");
        self.shared.iter().map(|&number| domains[number]).collect()
    }

    fn define_equality(&mut self, var: Var, left: Handle, right: Handle, _answers: &mut Answers<'_>) {
        self.counters.equalities += 1;
        let [left, right] = [left, right].map(|Handle(handle)| self.shared[handle as usize]);
        self.add(var, Meaning::Same(left, right));
    }

    fn values<'v>(&'v self) -> Box<dyn Values + 'v> {
        let domains = self.domains(&self.asserted).expect("the check has found nothing");
        Box::new(Elements { theory: self, domains })
    }

    fn take_lemmas(&mut self, store: &TermStore) -> Vec<TermLemma> {
        let (terms, elements) = (&self.terms, &self.language.elements);
        let mut lemmas = Vec::new();
        for pending in self.pending.drain(..) {
            self.counters.term_lemmas += 1;
            let literals = match pending {
                Pending::OneOf(term) => {
                    elements.iter().map(|&element| store.eq(terms[term], element)).collect()
                }
                Pending::Successor { application, argument, element } => {
                    let behind = elements[(element + 1) % elements.len()];
                    let premise = store.eq(terms[argument], elements[element]);
                    vec![store.not(premise), store.eq(terms[application], behind)]
                }
                Pending::NotLast(a, b) => {
                    let before = store.apply(self.language.before, &[terms[a], terms[b]]);
                    let next = store.apply(self.language.next, &[terms[a]]).expect("well-sorted");
                    vec![store.not(before.expect("well-sorted")), store.not(store.eq(next, elements[0]))]
                }
            };
            lemmas.push(TermLemma { literals, certificate: Certificate(0) });
        }
        lemmas
    }

    fn log_proofs(&mut self) {}

    fn formula(&self, store: &TermStore, var: Var) -> Option<Term> {
        match self.atoms.get(&var)? {
            Meaning::Same(a, b) => Some(store.eq(self.terms[*a], self.terms[*b])),
            Meaning::Before(..) => None,
        }
    }

    fn justification(
        &self,
        _store: &TermStore,
        _certificate: Certificate,
        _clause: &[Lit],
        _atom: &dyn Fn(Lit) -> (Term, bool),
    ) -> Justification {
        Justification::Axiom(Axiom { rule: FINITE, terms: self.language.elements.clone().into() })
    }

    fn statistics(&self, counters: &mut Vec<(&'static str, u64)>) {
        let Counters { propagations, conflicts, new_atoms, term_lemmas, equalities } = self.counters;
        counters.extend([
            ("enumeration-propagations", propagations),
            ("enumeration-conflicts", conflicts),
            ("enumeration-new-atoms", new_atoms),
            ("enumeration-term-lemmas", term_lemmas),
            ("enumeration-equalities", equalities),
        ]);
    }
}

struct Elements<'v> {
    theory: &'v Enumeration,
    domains: Domains,
}

impl Elements<'_> {
    fn value(&self, store: &TermStore, number: usize) -> Value {
        store.uninterpreted_value(self.theory.language.sort, self.domains[number].trailing_zeros())
    }
}

impl Values for Elements<'_> {
    fn symbol(&self, store: &TermStore, symbol: Term) -> Option<Value> {
        if let Some(element) = self.theory.element(symbol) {
            return Some(store.uninterpreted_value(self.theory.language.sort, element as u32));
        }
        Some(self.value(store, *self.theory.numbers.get(&symbol)?))
    }

    fn shared(&self, store: &TermStore, Handle(handle): Handle, _sort: Sort) -> Value {
        self.value(store, self.theory.shared[handle as usize])
    }
}

/// A clause of equalities, of `before` and of `next` is true whatever elements its terms are. The terms of the rule are the
/// elements.
pub(crate) const FINITE: AxiomRule =
    AxiomRule { name: "finite", check: holds_for_all_elements, introduces: None };

fn holds_for_all_elements(
    store: &TermStore,
    clause: &[(Term, bool)],
    elements: &[Term],
) -> Result<(), String> {
    let sort = elements.first().map(|&element| store.sort_of(element));
    let atoms: Vec<Term> = clause.iter().map(|&(atom, _)| atom).collect();
    let is_open = |term: &Term| Some(store.sort_of(*term)) == sort && !elements.contains(term);
    let terms: Vec<Term> = store.subterms(&atoms).into_iter().filter(is_open).collect();
    let name = |fun: Fun| store.name(store.fun_decl(fun).name);
    let count = elements.len();
    for choice in 0..count.pow(terms.len() as u32) {
        let value = |term: Term| match elements.iter().position(|&element| element == term) {
            Some(element) => element,
            None => {
                let position = terms.iter().position(|&other| other == term).expect("all were collected");
                choice / count.pow(position as u32) % count
            }
        };
        let respects_next = terms.iter().all(|&term| match store.view(term) {
            (Op::Apply(fun), &[argument]) if name(fun) == "next" => {
                value(term) == (value(argument) + 1) % count
            }
            _ => true,
        });
        let is_true = clause.iter().any(|&(atom, affirmed)| {
            let (op, &[left, right]) = store.view(atom) else { return false };
            let holds = match op {
                Op::Eq => value(left) == value(right),
                Op::Apply(fun) if name(fun) == "before" => value(left) < value(right),
                _ => return false,
            };
            holds == affirmed
        });
        if respects_next && !is_true {
            return Err(format!("choice {choice} of elements makes all literals false"));
        }
    }
    Ok(())
}

/// Leaves `a` and `b` only the elements with `a < b`, or `a <= b`.
fn restrict(domains: &mut Domains, a: usize, b: usize, strictly: bool) {
    if a == b && strictly {
        domains[a] = 0;
    }
    if a == b || domains[a] == 0 || domains[b] == 0 {
        return;
    }
    let (greatest, least) = (31 - domains[b].leading_zeros(), domains[a].trailing_zeros());
    let below = |bound: u32| (1_u32 << bound) - 1;
    domains[a] &= below(if strictly { greatest } else { greatest + 1 });
    domains[b] &= !below(if strictly { least + 1 } else { least });
}
