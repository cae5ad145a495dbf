//! Refutations as Alethe proofs, for other checkers.
//!
//! Alethe is the format of veriT and cvc5 (H. Barbosa et al., "The Alethe Proof Format: A Specification and Reference
//! Manual"). The assumptions are the used clauses, as `shofar convert` writes them. A step instantiates its clause
//! (`forall_inst`), and one resolution derives its fact from the facts of its premises. Rules in between decompose
//! implication and conjunction. A *hole*, which a checker has to believe or to compute, is only the evaluation of
//! ground terms: that a constraint without variables is true, or that the argument of an atom, `(+ 1 1)`, is the
//! argument of the fact, `2`.
//!
//! ```text
//! (step t3.i (cl (or (not @c3) (clause.3 1 2))) :rule forall_inst :args (1 2))
//! (step t3.o (cl (not @c3) (clause.3 1 2)) :rule or :premises (t3.i))
//! (step t3.c (cl (not (clause.3 1 2)) (not (body.3 1 2)) (L2 2)) :rule implies_pos)
//! (step t3.b (cl (body.3 1 2) (not (L1 1)) (not (D 1 2))) :rule and_neg)
//! (step t3 (cl (L2 2)) :rule resolution :premises (t3.c t3.o c3 t3.b t1 t2))
//! ```
//!
//! Clauses, bodies and constraints are defined at the start and applied to values, so a step takes a few lines however
//! large its clause is: the proof is larger than the refutation as text by a small factor, and by the clauses once.

use std::fmt::Write as _;
use std::io;

use rustc_hash::FxHashSet;
use shofar_logic::{Substitution, Term, TermStore, Value};

use super::{Printer, Refutation, Step};
use crate::system::{Atom, Clause, HornSystem};

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn alethe(&mut self, refutation: &Refutation) -> io::Result<()> {
        let Printer { store, system, out } = self;
        let mut proof = Proof { store, system, refutation, mark: mark(store, system), out };
        let mut used = vec![false; system.clauses.len()];
        refutation.steps.iter().for_each(|step| used[step.clause] = true);
        let used: Vec<usize> = (0..used.len()).filter(|&clause| used[clause]).collect();
        used.iter().try_for_each(|&clause| proof.definitions(clause))?;
        used.iter().try_for_each(|&clause| proof.assumption(clause))?;
        let mut steps = refutation.steps.iter().enumerate();
        steps.try_for_each(|(number, step)| proof.step(number + 1, step))
    }
}

/// Dots that keep the names of definitions distinct from those in the clauses.
fn mark(store: &TermStore, system: &HornSystem) -> String {
    let funs = system.predicates().map(|(_, fun)| fun).chain(system.functions.iter().copied());
    let names = funs.map(|fun| store.name(store.fun_decl(fun).name));
    let dots = names.filter_map(|name| {
        let rest = ["clause", "body", "constraint"].iter().find_map(|stem| name.strip_prefix(stem))?;
        Some(rest.len() - rest.trim_start_matches('.').len())
    });
    ".".repeat(dots.max().unwrap_or(0) + 1)
}

/// Whether the body is written with its constraint.
fn has_constraint(clause: &Clause) -> bool {
    clause.constraint != Term::TRUE || clause.body.is_empty()
}

/// The proof of a refutation.
struct Proof<'p, W> {
    store: &'p TermStore,
    system: &'p HornSystem,
    refutation: &'p Refutation,
    mark: String,
    out: &'p mut W,
}

impl<W: io::Write> Proof<'_, W> {
    /// The definitions of the names for parts of a clause.
    fn definitions(&mut self, number: usize) -> io::Result<()> {
        let clause = &self.system.clauses[number];
        let variables = self.sorted_variables(clause);
        let names: Vec<String> =
            clause.variables.iter().map(|&variable| self.store.display(variable).to_string()).collect();
        let mut parts: Vec<String> = clause.body.iter().map(|atom| self.atom(atom)).collect();
        if has_constraint(clause) {
            let constraint = self.store.display(clause.constraint);
            let name = self.name("constraint", number);
            writeln!(self.out, "(define-fun {name} ({variables}) Bool {constraint})")?;
            parts.push(applied(&name, &names));
        }
        // A body of one part has the name of the part.
        let mut body = parts.concat();
        if parts.len() > 1 {
            let name = self.name("body", number);
            writeln!(self.out, "(define-fun {name} ({variables}) Bool (and {}))", parts.join(" "))?;
            body = applied(&name, &names);
        }
        let head = clause.head.as_ref().map_or("false".to_owned(), |head| self.atom(head));
        writeln!(
            self.out,
            "(define-fun {} ({variables}) Bool (=> {body} {head}))",
            self.name("clause", number)
        )
    }

    fn assumption(&mut self, number: usize) -> io::Result<()> {
        let clause = &self.system.clauses[number];
        let names: Vec<String> =
            clause.variables.iter().map(|&variable| self.store.display(variable).to_string()).collect();
        let name = applied(&self.name("clause", number), &names);
        let variables = self.sorted_variables(clause);
        let number = number + 1;
        if clause.variables.is_empty() {
            return writeln!(self.out, "(assume c{number} {name})");
        }
        writeln!(self.out, "(assume c{number} (! (forall ({variables}) {name}) :named @c{number}))")
    }

    fn step(&mut self, number: usize, step: &Step) -> io::Result<()> {
        let (store, clause) = (self.store, &self.system.clauses[step.clause]);
        let id = step.clause + 1;
        let values: Vec<String> =
            step.instantiation.iter().map(|value| store.display_value(value).to_string()).collect();
        let [whole, several, constraint] =
            ["clause", "body", "constraint"].map(|stem| applied(&self.name(stem, step.clause), &values));
        let terms = step.instantiation.iter().map(|value| store.value_to_term(value));
        let instance: Substitution = clause.variables.iter().copied().zip(terms).collect();

        // The clauses to resolve, in an order in which each has a literal that an earlier one has negated.
        let mut premises: Vec<String> = vec![format!("t{number}.c")];
        if clause.variables.is_empty() {
            premises.push(format!("c{id}"));
        } else {
            writeln!(
                self.out,
                "(step t{number}.i (cl (or (not @c{id}) {whole})) :rule forall_inst :args ({}))",
                values.join(" ")
            )?;
            writeln!(
                self.out,
                "(step t{number}.o (cl (not @c{id}) {whole}) :rule or :premises (t{number}.i))"
            )?;
            premises.extend([format!("t{number}.o"), format!("c{id}")]);
        }
        let head = match &clause.head {
            Some(head) => self.instance(head, &instance),
            None => "false".to_owned(),
        };
        let atoms: Vec<String> = clause.body.iter().map(|atom| self.instance(atom, &instance)).collect();
        let parts: Vec<&String> = atoms.iter().chain(has_constraint(clause).then_some(&constraint)).collect();
        let body = if let [only] = parts[..] { only } else { &several };
        writeln!(self.out, "(step t{number}.c (cl (not {whole}) (not {body}) {head}) :rule implies_pos)")?;
        if parts.len() > 1 {
            let mut denied = String::new();
            parts.iter().for_each(|part| _ = write!(denied, " (not {part})"));
            writeln!(self.out, "(step t{number}.b (cl {body}{denied}) :rule and_neg)")?;
            premises.push(format!("t{number}.b"));
        }
        if has_constraint(clause) {
            let rule = if clause.constraint == Term::TRUE { "true" } else { "hole" };
            writeln!(self.out, "(step t{number}.e (cl {constraint}) :rule {rule})")?;
            premises.push(format!("t{number}.e"));
        }
        let mut facts: Vec<String> = Vec::with_capacity(step.premises.len());
        let mut met: FxHashSet<&String> = FxHashSet::default();
        for (position, (atom, premise)) in atoms.iter().zip(&step.premises).enumerate() {
            let fact = self.ground(&clause.body[position], &self.refutation.steps[*premise].fact);
            let is_evaluated = *atom != fact;
            if met.insert(atom) && is_evaluated {
                let name = format!("t{number}.{position}");
                writeln!(self.out, "(step {name}e (cl (= {atom} {fact})) :rule hole)")?;
                writeln!(
                    self.out,
                    "(step {name} (cl {atom} (not {fact})) :rule equiv2 :premises ({name}e))"
                )?;
                premises.push(name);
            }
            facts.push(format!("t{}", premise + 1));
        }
        // A fact may be both an unevaluated atom and the value of another one.
        premises.append(&mut facts);
        let fact = match &clause.head {
            Some(atom) => {
                let fact = self.ground(atom, &step.fact);
                if head != fact {
                    let name = format!("t{number}.h");
                    writeln!(self.out, "(step {name}e (cl (= {head} {fact})) :rule hole)")?;
                    writeln!(
                        self.out,
                        "(step {name} (cl (not {head}) {fact}) :rule equiv1 :premises ({name}e))"
                    )?;
                    premises.push(name);
                }
                format!(" {fact}")
            }
            None => {
                writeln!(self.out, "(step t{number}.f (cl (not false)) :rule false)")?;
                premises.push(format!("t{number}.f"));
                String::new()
            }
        };
        let mut seen: FxHashSet<String> = FxHashSet::default();
        premises.retain(|premise| seen.insert(premise.clone()));
        writeln!(self.out, "(step t{number} (cl{fact}) :rule resolution :premises ({}))", premises.join(" "))
    }

    fn name(&self, stem: &str, clause: usize) -> String {
        format!("{stem}{}{}", self.mark, clause + 1)
    }

    fn sorted_variables(&self, clause: &Clause) -> String {
        let sorted = |&variable: &Term| {
            let sort = self.store.display_sort(self.store.sort_of(variable));
            format!("({} {sort})", self.store.display(variable))
        };
        clause.variables.iter().map(sorted).collect::<Vec<_>>().join(" ")
    }

    fn atom(&self, atom: &Atom) -> String {
        let args: Vec<String> = atom.args.iter().map(|&arg| self.store.display(arg).to_string()).collect();
        applied(&self.predicate(atom), &args)
    }

    /// An atom of a clause with values for its variables, unevaluated.
    fn instance(&self, atom: &Atom, values: &Substitution) -> String {
        let args: Vec<String> = atom
            .args
            .iter()
            .map(|&arg| self.store.display(self.store.substitute(arg, values)).to_string())
            .collect();
        applied(&self.predicate(atom), &args)
    }

    /// The fact of an atom.
    fn ground(&self, atom: &Atom, fact: &[Value]) -> String {
        let values: Vec<String> =
            fact.iter().map(|value| self.store.display_value(value).to_string()).collect();
        applied(&self.predicate(atom), &values)
    }

    fn predicate(&self, atom: &Atom) -> String {
        let name = self.store.fun_decl(self.system.fun(atom.predicate)).name;
        self.store.display_symbol(name).to_string()
    }
}

fn applied(name: &str, args: &[String]) -> String {
    if args.is_empty() { name.to_owned() } else { format!("({name} {})", args.join(" ")) }
}
