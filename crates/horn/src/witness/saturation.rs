//! Saturated sets of clauses, which prove that the clauses of a system have a model.
//!
//! A *pure* clause has no constraint: atoms over variables, constructors and values, and disequalities, which are atoms,
//! too. A set of pure clauses is *saturated* if all that ordered resolution derives from it is in it already, up to
//! subsumption. A saturated set without the empty clause has a model. If each clause of the system follows from the
//! set, that is a model of the system. The checker (`check/saturation/`) says precisely what it requires.
//!
//! As text, a saturation is its order and its clauses, which are closed formulas. `:select` is the number of the selected
//! atom of a body, counted from one:
//!
//! ```text
//! (saturation
//!   (order derivations)
//!   (clause (forall ((x Nat)) (lt Z (S x))))
//!   (clause (forall ((x Nat) (y Nat)) (=> (lt x y) (lt (S x) (S y)))))
//!   (clause (forall ((x Nat)) (=> (lt x x) false)) :select 1))
//! ```
//!
//! The other order is that of Knuth and Bendix, with weights, and with constructors and predicates in ascending
//! precedence:
//!
//! ```text
//! (order :variable 1 :constructors ((Z 1) (S 1)) :distinct 1 :predicates ((lt 1)))
//! ```

use std::io;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use shofar_logic::{Op, Sort, Substitution, Symbol, Term, TermStore};

use super::text::formula;
use super::{FreeNames, Printer};
use crate::graph::NodeId;
use crate::system::{HornSystem, PredicateId};

/// A proof that clauses have a model: pure clauses that are saturated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saturation {
    /// The order of atoms.
    pub order: AtomOrder,
    /// The clauses.
    pub clauses: Vec<PureClause>,
}

/// An order of atoms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AtomOrder {
    /// Facts are ordered by the heights of their derivations. So the head of a clause is greater than its body.
    Derivations,
    /// The order of Knuth and Bendix.
    KnuthBendix(Weights),
}

/// The weights and precedences of an order of Knuth and Bendix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights {
    /// The weight of variables, and of the values of other sorts than datatypes.
    pub variable: u32,
    /// The constructors with their weights, in ascending precedence. Instances of a constructor for different sorts have
    /// one name and one weight.
    pub constructors: Vec<(Symbol, u32)>,
    /// The weight of disequalities. They are lower than predicates.
    pub distinct: u32,
    /// The predicates with their weights, in ascending precedence.
    pub predicates: Vec<(PredicateId, u32)>,
}

/// The symbol in front of an atom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// A predicate of the system.
    Predicate(PredicateId),
    /// Disequality of values of a sort: a relation that holds at least for all pairs of different values.
    Distinct(Sort),
}

/// An atom of a pure clause.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PureAtom {
    /// The predicate.
    pub relation: Relation,
    /// The arguments: terms of variables, constructors and values.
    pub arguments: Box<[Term]>,
}

/// A clause without a constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PureClause {
    /// The variables.
    pub variables: Box<[Term]>,
    /// The body.
    pub body: Vec<PureAtom>,
    /// The head; `None` for a goal, whose body never holds.
    pub head: Option<PureAtom>,
    /// The position of the selected atom of the body.
    pub selected: Option<usize>,
}

impl PureAtom {
    /// An atom of a node of a [system's graph](crate::HornGraph::of).
    pub fn new(node: NodeId, arguments: &[Term]) -> Self {
        PureAtom { relation: Relation::Predicate(of_node(node)), arguments: arguments.into() }
    }

    /// The disequality of two terms of a sort.
    pub fn distinct(sort: Sort, arguments: [Term; 2]) -> Self {
        PureAtom { relation: Relation::Distinct(sort), arguments: arguments.into() }
    }

    fn to_formula(&self, store: &TermStore, system: &HornSystem) -> Term {
        let made = match self.relation {
            Relation::Predicate(predicate) => store.apply(system.fun(predicate), &self.arguments),
            Relation::Distinct(_) => store.app(Op::Distinct, &self.arguments),
        };
        made.expect("the sorts of an atom fit")
    }

    fn of_formula(store: &TermStore, system: &HornSystem, formula: Term) -> Result<Self, String> {
        let (relation, arguments) = match store.view(formula) {
            (Op::Apply(fun), arguments) => {
                let known = system.predicates().find(|&(_, other)| other == fun);
                let (predicate, _) = known.ok_or("an atom does not have a predicate of the clauses")?;
                (Relation::Predicate(predicate), arguments)
            }
            (Op::Distinct, arguments @ &[first, _]) => (Relation::Distinct(store.sort_of(first)), arguments),
            _ => return Err("an atom is neither a predicate with arguments nor `distinct`".to_owned()),
        };
        // Values have one form only.
        Ok(PureAtom { relation, arguments: arguments.iter().map(|&it| store.normalize(it)).collect() })
    }
}

impl Weights {
    /// Weights for the nodes of a [system's graph](crate::HornGraph::of), in ascending precedence.
    pub fn of_nodes(
        variable: u32,
        constructors: Vec<(Symbol, u32)>,
        distinct: u32,
        nodes: impl IntoIterator<Item = (NodeId, u32)>,
    ) -> Self {
        let predicates = nodes.into_iter().map(|(node, weight)| (of_node(node), weight)).collect();
        Weights { variable, constructors, distinct, predicates }
    }
}

fn of_node(node: NodeId) -> PredicateId {
    PredicateId(u32::try_from(node.index()).expect("an index of a graph"))
}

impl PureClause {
    /// The atoms of body and head.
    pub fn atoms(&self) -> impl Iterator<Item = &PureAtom> {
        self.body.iter().chain(&self.head)
    }

    /// The clause as a closed formula.
    pub fn to_formula(&self, store: &TermStore, system: &HornSystem) -> Term {
        let app = |op: Op, args: &[Term]| store.app(op, args).expect("the sorts of a clause fit");
        let atoms: Vec<Term> = self.body.iter().map(|atom| atom.to_formula(store, system)).collect();
        let head = self.head.as_ref().map_or(Term::FALSE, |head| head.to_formula(store, system));
        let body = match &atoms[..] {
            [] => head,
            &[atom] => app(Op::Implies, &[atom, head]),
            atoms => app(Op::Implies, &[app(Op::And, atoms), head]),
        };
        let bound: Vec<Term> = self.variables.iter().copied().chain([body]).collect();
        if bound.len() == 1 { body } else { app(Op::Forall, &bound) }
    }

    /// The clause of a closed formula with the number of its selected atom, counted from one. The error says what is wrong.
    pub(super) fn of_formula(
        store: &TermStore,
        system: &HornSystem,
        formula: Term,
        select: Option<usize>,
    ) -> Result<Self, String> {
        let (variables, matrix) = match store.view(formula) {
            (Op::Forall, [variables @ .., matrix]) => (variables, *matrix),
            _ => (&[][..], formula),
        };
        let (atoms, head) = match store.view(matrix) {
            (Op::Implies, &[body, head]) => match store.view(body) {
                (Op::And, atoms) => (atoms.to_vec(), head),
                _ => (vec![body], head),
            },
            _ => (Vec::new(), matrix),
        };
        let atom = |&atom: &Term| PureAtom::of_formula(store, system, atom);
        let body = atoms.iter().map(atom).collect::<Result<Vec<_>, String>>()?;
        let head = if head == Term::FALSE { None } else { Some(atom(&head)?) };
        let selected = match select {
            Some(0) => return Err("atoms are counted from one".to_owned()),
            Some(number) if number > body.len() => return Err(format!("the clause has no atom {number}")),
            other => other.map(|number| number - 1),
        };
        Ok(PureClause { variables: variables.into(), body, head, selected })
    }

    fn select(&self) -> Option<usize> {
        self.selected.map(|position| position + 1)
    }
}

impl Saturation {
    /// The same proof with simple names for variables, which mean nothing else in the clauses.
    pub fn with_names(self, store: &TermStore, system: &HornSystem) -> Self {
        let free = FreeNames::new(store, system);
        let named = |clause: PureClause| {
            let mut used = FxHashSet::default();
            let name = |(number, &variable): (usize, &Term)| {
                let name = free.choose(Some(&format!("x{number}")), "x", &mut used);
                (variable, store.var(name, store.sort_of(variable)))
            };
            let names: Substitution = clause.variables.iter().enumerate().map(name).collect();
            let renamed = |terms: &[Term]| terms.iter().map(|&it| store.substitute(it, &names)).collect();
            let atom = |atom: PureAtom| PureAtom { arguments: renamed(&atom.arguments), ..atom };
            PureClause {
                variables: renamed(&clause.variables),
                body: clause.body.into_iter().map(atom).collect(),
                head: clause.head.map(atom),
                selected: clause.selected,
            }
        };
        Saturation { order: self.order, clauses: self.clauses.into_iter().map(named).collect() }
    }
}

/// A saturation as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonSaturation {
    pub(super) order: JsonOrder,
    pub(super) clauses: Vec<JsonPureClause>,
}

/// An order as JSON: `"derivations"`, or an object with weights.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JsonOrder {
    Derivations,
    Weights(JsonWeights),
}

/// The weights of an order as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonWeights {
    pub(super) variable: u32,
    pub(super) constructors: Vec<JsonWeight>,
    pub(super) distinct: u32,
    pub(super) predicates: Vec<JsonWeight>,
}

/// The weight of a symbol as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonWeight {
    pub(super) name: String,
    pub(super) weight: u32,
}

/// A pure clause as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonPureClause {
    pub(super) clause: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) select: Option<usize>,
}

impl JsonSaturation {
    pub(super) fn of(store: &TermStore, system: &HornSystem, proof: &Saturation) -> Self {
        let clauses = json_clauses(store, system, proof).collect();
        JsonSaturation { order: JsonOrder::of(store, system, &proof.order), clauses }
    }
}

impl JsonOrder {
    fn of(store: &TermStore, system: &HornSystem, order: &AtomOrder) -> Self {
        let AtomOrder::KnuthBendix(weights) = order else { return JsonOrder::Derivations };
        let weight = |name: Symbol, weight: u32| JsonWeight { name: store.name(name).to_owned(), weight };
        let constructors = weights.constructors.iter().map(|&(name, of)| weight(name, of));
        let predicate =
            |&(predicate, of): &(PredicateId, u32)| weight(predicate_name(store, system, predicate), of);
        JsonOrder::Weights(JsonWeights {
            variable: weights.variable,
            constructors: constructors.collect(),
            distinct: weights.distinct,
            predicates: weights.predicates.iter().map(predicate).collect(),
        })
    }
}

fn predicate_name(store: &TermStore, system: &HornSystem, predicate: PredicateId) -> Symbol {
    store.fun_decl(system.fun(predicate)).name
}

fn json_clauses<'a>(
    store: &'a TermStore,
    system: &'a HornSystem,
    proof: &'a Saturation,
) -> impl Iterator<Item = JsonPureClause> + 'a {
    let json = |clause: &PureClause| JsonPureClause {
        clause: store.display(clause.to_formula(store, system)).to_string(),
        select: clause.select(),
    };
    proof.clauses.iter().map(json)
}

impl AtomOrder {
    /// The order as it is written behind `(order`.
    pub(crate) fn text(&self, store: &TermStore, system: &HornSystem) -> String {
        let AtomOrder::KnuthBendix(weights) = self else { return "derivations".to_owned() };
        let pair = |name: Symbol, weight: u32| format!("({} {weight})", store.display_symbol(name));
        let constructors: Vec<String> =
            weights.constructors.iter().map(|&(name, of)| pair(name, of)).collect();
        let predicates = weights.predicates.iter();
        let predicates: Vec<String> = predicates
            .map(|&(predicate, weight)| pair(predicate_name(store, system, predicate), weight))
            .collect();
        format!(
            ":variable {} :constructors ({}) :distinct {} :predicates ({})",
            weights.variable,
            constructors.join(" "),
            weights.distinct,
            predicates.join(" ")
        )
    }
}

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn text_saturation(&mut self, proof: &Saturation) -> io::Result<()> {
        write!(self.out, "(saturation\n  (order {})", proof.order.text(self.store, self.system))?;
        for clause in &proof.clauses {
            let shown = clause.to_formula(self.store, self.system);
            write!(self.out, "\n  (clause {}", formula(self.store, shown, 10))?;
            if let Some(number) = clause.select() {
                write!(self.out, " :select {number}")?;
            }
            write!(self.out, ")")?;
        }
        writeln!(self.out, ")")
    }

    pub(super) fn json_saturation(&mut self, proof: &Saturation) -> io::Result<()> {
        let order = serde_json::to_string(&JsonOrder::of(self.store, self.system, &proof.order))?;
        write!(self.out, r#"{{"answer": "sat", "saturation": {{"order": {order}, "clauses": ["#)?;
        self.json_items(json_clauses(self.store, self.system, proof))?;
        writeln!(self.out, "\n]}}}}")
    }
}
