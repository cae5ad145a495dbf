//! Refutations as proofs by hyper-resolution, in the form in which Z3 prints them after `get-proof`.
//!
//! ```text
//! ((set-logic HORN)
//! (declare-fun query!0 () Bool)
//! (proof
//! (let ((@x1 ((_ hyper-res 0 0) (asserted clause!1) (P 1))))
//! (mp ((_ hyper-res 0 0 0 1 0 2) (asserted clause!3) ((_ hyper-res 0 0 0 1) (asserted clause!2) @x1 (Q 2)) @x1 query!0)
//!  (asserted (=> query!0 false)) false))))
//! ```
//!
//! A node is a step: its clause, the nodes of its premises, and its fact. `query!0` stands for the head of a query. A step that is
//! used several times has a name. Programs that read Z3's proofs, such as the Solidity compiler, take the facts and their premises;
//! the clause is therefore only named by its number.

use std::io;

use super::{Printer, Refutation};

/// What is to be written next.
enum Part {
    /// A node, or the name of its step.
    Node(usize),
    /// The fact of a step, which ends its node.
    Fact(usize),
}

impl<W: io::Write> Printer<'_, W> {
    pub(super) fn hyper_resolution(&mut self, refutation: &Refutation) -> io::Result<()> {
        let steps = &refutation.steps;
        let mut uses = vec![0_usize; steps.len()];
        for step in steps {
            step.premises.iter().for_each(|&premise| uses[premise] += 1);
        }
        writeln!(self.out, "((set-logic HORN)\n(declare-fun query!0 () Bool)\n(proof")?;
        let shared = (0..steps.len()).filter(|&number| uses[number] > 1);
        for number in shared.clone() {
            write!(self.out, "(let ((@x{} ", number + 1)?;
            self.node(refutation, number, &uses)?;
            writeln!(self.out, "))")?;
        }
        write!(self.out, "(mp ")?;
        if let Some(last) = steps.len().checked_sub(1) {
            self.node(refutation, last, &uses)?;
        }
        writeln!(self.out, "\n (asserted (=> query!0 false)) false){}))", ")".repeat(shared.count()))
    }

    /// The node of a step, with the nodes of steps that are used only once inside of it.
    fn node(&mut self, refutation: &Refutation, root: usize, uses: &[usize]) -> io::Result<()> {
        let mut open = vec![Part::Node(root)];
        while let Some(part) = open.pop() {
            match part {
                Part::Node(number) if number != root && uses[number] > 1 => {
                    write!(self.out, " @x{}", number + 1)?;
                }
                Part::Node(number) => {
                    let step = &refutation.steps[number];
                    let space = if number == root { "" } else { " " };
                    write!(self.out, "{space}((_ hyper-res 0 0")?;
                    (1..=step.premises.len()).try_for_each(|premise| write!(self.out, " 0 {premise}"))?;
                    write!(self.out, ") (asserted clause!{})", step.clause + 1)?;
                    open.push(Part::Fact(number));
                    open.extend(step.premises.iter().rev().map(|&premise| Part::Node(premise)));
                }
                Part::Fact(number) => {
                    write!(self.out, " ")?;
                    self.whole_fact(refutation, number)?;
                    write!(self.out, ")")?;
                }
            }
        }
        Ok(())
    }

    /// The fact of a step, with complete values.
    fn whole_fact(&mut self, refutation: &Refutation, number: usize) -> io::Result<()> {
        let (store, step) = (self.store, &refutation.steps[number]);
        let Some(head) = &self.system.clauses[step.clause].head else { return write!(self.out, "query!0") };
        let name = store.display_symbol(store.fun_decl(self.system.fun(head.predicate)).name);
        if step.fact.is_empty() {
            return write!(self.out, "{name}");
        }
        write!(self.out, "({name}")?;
        for value in &step.fact {
            write!(self.out, " {}", store.display(store.value_to_term(value)))?;
        }
        write!(self.out, ")")
    }
}
