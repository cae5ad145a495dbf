//! Chooses engines by the clauses, if the user names none.
//!
//! [`CLASSES`] is the whole schedule: classes of systems, from special to general. Each class lists its engines in the order
//! in which they start, with the weights by which they share the time. A system belongs to the first class that fits it after
//! the standard transformations, so that a chain of loops that could be joined counts as one loop.
//!
//! A few classes suffice. They differ in what matters to the methods: whether there is recursion, whether derivations are paths
//! (most engines need that), and whether there is one loop or several predicates that must become one. Joining predicates costs
//! engines on transition systems the structure that other engines use.
//!
//! Orders and weights come from measurements: each engine ran by itself on tasks of the competition, with 4 s of processor time,
//! and from these times follows what a schedule solves on one, two and four cores within 10 s. The results hardly depend on
//! the weights, as long as the first engine has a quarter or a third of the time and every engine that alone solves a task has a
//! place. Of 20 loops over integers, all such schedules solve the 17 that some engine solves; of 20 over reals, on two
//! cores, 13 to 15 of 15. If all engines run at once on fewer cores, they need 1.3 to 3.2 times the processor time of taking
//! turns on two places (six tasks that take engines some seconds, one run each on a busy machine).
//!
//! Loops over reals were measured again after the models of `kind` became small, on all 60 of them. `kind`, `spacer` and `bmc`
//! solve first whatever is solved, `kind` two thirds of it. With weights to match, 40 of 48 tasks take less time than with
//! equal weights for the first four engines (0.7 in the geometric mean), and one more task is solved.
//!
//! Programs over reals are often one loop with a program counter. The transformation `control` makes predicates of its values, for engines
//! that search along paths; where it changes nothing, the slots that name it do not run. Of the
//! tasks where it fires, 32 are not about agreement by rounds of messages, which all engines solve. Each by itself, within 5 s, `spacer` solves
//! 20 of these 32, and 23 with `control`, in half of the time; with it, `lawi` solves 22 and `bmc` 20. Together the three solve 6 of the 12
//! tasks that `spacer` misses. `cegar` solves what `lawi` solves there, in the same time, so it has no slot.
//! Engines on transition systems keep the single loop, since joining predicates would only rename the counter.
//!
//! No engine has a second slot with other settings of its search. `pdkind:interpolation=farkas` and `split-tpa:chains=no` ran by
//! themselves, with 4 s of processor time, on tasks that the schedule does not solve in half a second: 9 over integers and 8
//! or 9 over reals. They solve the tasks that `pdkind` and `split-tpa` solve by default, in about the same time. Of the rest,
//! they solve one task in one of two runs, in 3.8 s, which is more than another slot would get of 10 s on two cores.
//!
//! Nor has an engine a slot with interpolants about the sums that loops preserve (`templates`). On 14 loops over integers with phases or
//! strides and 2 over reals, each engine by itself had 1 s of processor time. With `templates=1`, `lawi` solves 7 in the place of 5,
//! `imc` 4 in either case, one of them another one, and `cegar` 5 in the place of 6. Whatever they gain `spacer` solves in a tenth of a
//! second. With templates `spacer` solves 11 of its 14, and these take longer. So the option is off by default in all of them. It pays off
//! where a loop counts several variables in step, and the engine would enumerate its rounds.
//!
//! Abstraction has one place. Each by itself, within 10 s, `pa` solves 70 of 80 tasks of the track LIA, 67 of 79 of LIA-Lin and
//! 37 of 60 of LRA-Lin, and `cegar` 67 of LIA-Lin; but other engines solve all of these as well. A place for `pa` in the classes
//! without reals costs no task and no time (two cores, both schedules by turns: 0.97 of the time in the geometric mean over LIA,
//! 0.96 over LIA-Lin). It keeps the place in the class that has only two engines otherwise.
//!
//! `invariants` starts second: it ends soon, and what it finds helps the engines that start later. Where all numbers are reals it
//! finds hardly anything, and has no place.
//!
//! Exchange of facts is on where it pays. Over 159 tasks with integers, within 10 s on two cores, it takes 0.98 of the time in the
//! geometric mean, and solves one task more. Over 49 loops over reals it takes 1.03: there the engines that prove most tasks get
//! many lemmas and use few.
//!
//! `abmc` finds long counterexamples: of 20 random loops whose counterexamples have thousands of steps, the schedule refutes 20 with
//! it and 18 without. On 24 tasks of the track LIA-Lin it changes nothing.
//!
//! Datatypes: of 70 tasks, the schedule solves 67 on two cores, each in less than half a second. Each engine by itself had 3 s.
//! `spacer` and `unfold` refute the 20 that are unsatisfiable, and `saturation` 14 of them. Six of the others only `product` proves, four
//! only `algebra`, and three only `words`. What `saturation` and `regular` prove, others prove as well; they have places because they
//! prove it in other ways, and `saturation` is first in six tasks. `regular-sync` and `regular-combined` add nothing to them.

use shofar_horn::HornGraph;
use shofar_horn::transform::Size;
use shofar_logic::{SortKind, TermStore};

use crate::slot::Slot;

/// A class of systems and its engines.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its name.
    pub name: &'static str,
    /// The systems of the class.
    pub description: &'static str,
    /// Whether a system belongs to this class, if it belongs to no earlier one.
    pub fits: fn(&Features) -> bool,
    /// The engines in the order in which they start, as the texts of [`Slot`]s, and their weights.
    pub engines: &'static [(&'static str, u32)],
    /// Whether they tell each other what they learn.
    pub exchanges: bool,
}

impl Class {
    /// The engines and their weights.
    pub(crate) fn slots(&self) -> Vec<(Slot, u32)> {
        let slot = |text: &str| text.parse().expect("a test reads the whole schedule");
        self.engines.iter().map(|&(text, weight)| (slot(text), weight)).collect()
    }
}

/// The schedule. The last class takes all remaining systems.
pub static CLASSES: &[Class] = &[
    Class {
        name: "no recursion",
        description: "no predicate depends on itself",
        fits: |features| !features.is_recursive,
        // There are finitely many derivations, and both engines enumerate them equally well.
        engines: &[("bmc", 1), ("spacer", 1)],
        exchanges: false,
    },
    Class {
        name: "arrays",
        description: "arrays that no transformation removes",
        fits: |features| features.has_arrays,
        // `cells` proves most of what can be proved, mostly at once. Programs with pointers need it on the clauses as they are, contracts
        // with many arrays on the transformed ones. `bmc` refutes what `cells` is too coarse for.
        engines: &[("cells", 3), ("bmc", 3), ("cells:transformed=yes", 3), ("spacer", 2), ("unfold", 1)],
        exchanges: false,
    },
    Class {
        name: "datatypes",
        description: "datatypes that no transformation removes",
        fits: |features| features.has_datatypes,
        // `words` and `product` prove laws of functions at once, or never. `unfold` refutes what can be refuted, mostly at once.
        // `algebra` tries more and more functions.
        engines: &[
            ("spacer", 4),
            ("words", 1),
            ("product", 2),
            ("algebra", 2),
            ("unfold", 2),
            ("saturation", 1),
            ("regular", 1),
            ("pa", 1),
            ("bmc", 1),
        ],
        exchanges: false,
    },
    Class {
        name: "non-linear",
        description: "clauses with several predicates in the body",
        fits: |features| !features.is_linear,
        // Few engines support them. `pa` proves what `spacer` proves, in other ways.
        engines: &[("spacer", 4), ("invariants", 1), ("bmc", 1), ("pa", 1)],
        exchanges: true,
    },
    Class {
        name: "loop over reals",
        description: "one predicate, linear clauses, real numbers and no integers",
        fits: |features| features.predicates == 1 && features.has_reals && !features.has_integers,
        // Where `spacer` takes too long, `kind` proves most tasks, and `imc` is next best. If all paths end, `bmc` sees it
        // first.
        // Programs with a counter among their arguments are easier by locations, for engines that search along paths.
        engines: &[
            ("spacer", 4),
            ("kind", 4),
            ("spacer:passes=control+standard", 3),
            ("lawi:passes=control+standard", 3),
            ("imc", 2),
            ("pdkind", 2),
            ("bmc", 2),
            ("bmc:passes=control+standard", 2),
            ("split-tpa", 1),
        ],
        exchanges: false,
    },
    Class {
        name: "loop",
        description: "one predicate, linear clauses",
        fits: |features| features.predicates == 1,
        // `spacer` misses loops with phases; `trl`, `pdkind` and `split-tpa` solve them, mostly at once. `abmc` finds long
        // counterexamples.
        engines: &[
            ("spacer", 4),
            ("invariants", 1),
            ("trl", 1),
            ("abmc", 1),
            ("pdkind", 2),
            ("split-tpa", 2),
            ("imc", 1),
            ("kind", 1),
            ("lawi", 1),
            ("bmc", 1),
        ],
        exchanges: true,
    },
    Class {
        name: "linear",
        description: "linear clauses over several predicates",
        fits: |_| true,
        // `spacer`, `lawi` and `bmc` keep the predicates. `trl` solves a task at once or hardly ever.
        engines: &[
            ("spacer", 4),
            ("invariants", 1),
            ("trl", 1),
            ("pdkind", 1),
            ("split-tpa", 1),
            ("lawi", 1),
            ("bmc", 1),
            ("imc", 1),
            ("kind", 1),
        ],
        exchanges: true,
    },
];

/// The features of a system that decide its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// The number of predicates.
    pub predicates: usize,
    /// The number of clauses.
    pub clauses: usize,
    /// The number of different terms in the clauses.
    pub terms: usize,
    /// Whether no clause has several predicates in its body.
    pub is_linear: bool,
    /// Whether a predicate depends on itself.
    pub is_recursive: bool,
    /// Whether predicates have integers among their arguments.
    pub has_integers: bool,
    /// Whether predicates have reals among their arguments.
    pub has_reals: bool,
    /// Whether predicates have values of datatypes among their arguments.
    pub has_datatypes: bool,
    /// Whether predicates have arrays among their arguments.
    pub has_arrays: bool,
}

impl Features {
    /// The features of a graph.
    pub fn of(store: &TermStore, graph: &HornGraph) -> Self {
        let Size { nodes, edges, terms, .. } = Size::of(store, graph);
        let has = |kind: fn(&SortKind) -> bool| {
            graph
                .nodes()
                .any(|(_, node)| node.sorts(store).into_iter().any(|sort| kind(store.sort_kind(sort))))
        };
        Features {
            predicates: nodes,
            clauses: edges,
            terms,
            is_linear: graph.is_linear(),
            is_recursive: is_recursive(graph),
            has_integers: has(|kind| matches!(kind, SortKind::Int)),
            has_reals: has(|kind| matches!(kind, SortKind::Real)),
            has_datatypes: has(|kind| matches!(kind, SortKind::Datatype(_))),
            has_arrays: has(|kind| matches!(kind, SortKind::Array(..))),
        }
    }

    /// The class of such systems.
    pub fn class(&self) -> &'static Class {
        let class = CLASSES.iter().find(|class| (class.fits)(self));
        class.expect("the last class takes all systems")
    }

    /// The features in words.
    pub fn describe(&self) -> String {
        let Features {
            predicates,
            clauses,
            terms,
            is_linear,
            is_recursive,
            has_integers,
            has_reals,
            has_datatypes,
            has_arrays,
        } = *self;
        let shape = match (is_recursive, is_linear) {
            (false, _) => "no recursion",
            (true, true) => "linear",
            (true, false) => "not linear",
        };
        let numbers = match (has_integers, has_reals) {
            (true, true) => "integers and reals",
            (true, false) => "integers",
            (false, true) => "reals",
            (false, false) => "no numbers",
        };
        let datatypes = if has_datatypes { ", datatypes" } else { "" };
        let arrays = if has_arrays { ", arrays" } else { "" };
        format!(
            "{predicates} predicates, {clauses} clauses, {terms} terms, {shape}, {numbers}{datatypes}{arrays}"
        )
    }
}

/// Whether some predicate depends on itself: repeatedly removing predicates that depend on no remaining one leaves some.
fn is_recursive(graph: &HornGraph) -> bool {
    let (outgoing, _) = graph.outgoing();
    let targets = |node: usize| outgoing[node].iter().filter_map(|&edge| graph.edge(edge).target());
    let mut incoming = vec![0_usize; outgoing.len()];
    (0..outgoing.len()).flat_map(targets).for_each(|target| incoming[target.index()] += 1);
    let mut free: Vec<usize> = (0..incoming.len()).filter(|&node| incoming[node] == 0).collect();
    let mut gone = 0;
    while let Some(node) = free.pop() {
        gone += 1;
        for target in targets(node) {
            incoming[target.index()] -= 1;
            if incoming[target.index()] == 0 {
                free.push(target.index());
            }
        }
    }
    gone < incoming.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_horn::parse;

    fn class_of(text: &str) -> &'static str {
        let store = TermStore::new();
        let system = parse(&store, "test", text.as_bytes()).expect("the test's clauses are right");
        Features::of(&store, &HornGraph::of(&store, &system)).class().name
    }

    #[test]
    fn classes_by_shape_and_theory() {
        let declarations =
            "(declare-fun P (Int) Bool) (declare-fun Q (Int) Bool) (declare-fun R (Real) Bool)";
        let clause = |body: &str, head: &str| {
            format!("(assert (forall ((x Int) (y Int) (r Real)) (=> {body} {head})))")
        };
        let system =
            |declarations: &str, clauses: &[String]| class_of(&format!("{declarations}{}", clauses.concat()));
        let one = "(declare-fun P (Int) Bool)";
        assert_eq!(system(one, &[clause("true", "(P 0)"), clause("(P x)", "false")]), "no recursion");
        assert_eq!(system(one, &[clause("(P x)", "(P (+ x 1))")]), "loop");
        assert_eq!(
            system("(declare-fun R (Real) Bool)", &[clause("(R r)", "(R (+ r 1.0))")]),
            "loop over reals"
        );
        assert_eq!(system(one, &[clause("(and (P x) (P y))", "(P (+ x y))")]), "non-linear");
        let around = [clause("(P x)", "(Q x)"), clause("(Q x)", "(P x)")];
        assert_eq!(system(declarations, &around), "linear");
        let lists = "(declare-datatypes ((L 0)) (((nil) (cons (tail L)))))(declare-fun P (L) Bool)
            (assert (P nil))(assert (forall ((l L)) (=> (P l) (P (cons l)))))";
        assert_eq!(class_of(lists), "datatypes");
        let array = "(declare-fun P (Int (Array Int Int)) Bool)
            (assert (forall ((x Int) (a (Array Int Int))) (=> (P x a) (P x (store a x 0)))))";
        assert_eq!(class_of(array), "arrays");
        // The second one depends on the first one, which depends on nothing.
        assert_eq!(system(declarations, &around[..1]), "no recursion");
    }

    #[test]
    fn the_guide_has_the_same_table() {
        let guide = include_str!("../../../docs/solving.md");
        for Class { name, description, engines, .. } in CLASSES {
            let engines: Vec<String> =
                engines.iter().map(|(name, weight)| format!("`{name}` {weight}")).collect();
            let row = format!("| {name} | {description} | {} |", engines.join(", "));
            assert!(guide.contains(&row), "{row}");
        }
    }

    #[test]
    fn all_engines_of_the_schedule_exist() {
        for class in CLASSES {
            for (name, weight) in class.engines {
                assert!(*weight > 0, "{name} in {}", class.name);
                assert_eq!(name.parse::<Slot>().map(|slot| slot.to_string()), Ok((*name).to_owned()));
            }
        }
    }
}
