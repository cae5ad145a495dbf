//! Ground terms over datatypes: why they have their values, and why two of them differ.
//!
//! The rules are those of the solver's proofs, which `docs/smt.md` lists. Each subterm whose value differs from it gets an
//! equation, from those of its arguments:
//!
//! ```text
//! f(.., a, ..)         cong: f of the values; then the value of that, and trans
//! sel(c(.., v, ..))    dt_select
//! is-c(d(..))          dt_test
//! comparison           la_generic
//! different values     dt_inject down to the first field that differs, and there dt_clash or la_generic
//! ```
//!
//! Terms with many parts are not taken apart, because the text would be quadratic in the length of a list.

use std::io;

use rustc_hash::FxHashMap;
use shofar_logic::{Assignment, Op, SortKind, Term, TermStore};

use super::{Proof, is_sum};

/// The number of subterms up to which terms are taken apart.
const MOST_SUBTERMS: usize = 40;

/// The value of a ground term, as a term; `None` if it is left open.
fn value(store: &TermStore, term: Term) -> Option<Term> {
    Some(store.value_to_term(&store.eval(term, &Assignment::new()).ok()?))
}

fn is_datatype(store: &TermStore, term: Term) -> bool {
    matches!(store.sort_kind(store.sort_of(term)), SortKind::Datatype(_))
}

/// Whether datatypes occur in the terms, and these are small enough to be taken apart.
fn is_small(store: &TermStore, terms: &[Term]) -> bool {
    let parts = store.subterms(terms);
    parts.len() <= MOST_SUBTERMS && parts.into_iter().any(|part| is_datatype(store, part))
}

impl<W: io::Write> Proof<'_, W> {
    /// Proves that a ground term over datatypes equals another one; `equation` is the text of that. Returns whether it
    /// could.
    pub(super) fn equal_values(
        &mut self,
        name: &str,
        equation: &str,
        left: Term,
        right: Term,
    ) -> io::Result<bool> {
        let store = self.store;
        if !is_small(store, &[left, right]) {
            return Ok(false);
        }
        let Some(common) = value(store, left) else { return Ok(false) };
        let mut steps = FxHashMap::default();
        let mut sides = Vec::new();
        for (term, side) in [(left, "l"), (right, "r")] {
            if term != common {
                let Some(step) = self.evaluated(&format!("{name}.{side}"), term, &mut steps)? else {
                    return Ok(false);
                };
                sides.push((term, step));
            }
        }
        if let Some((_, step)) = sides.get_mut(usize::from(left != common)) {
            let turned = format!("{name}.s");
            let [term, value] = [right, common].map(|term| store.display(term).to_string());
            writeln!(self.out, "(step {turned} (cl (= {value} {term})) :rule symm :premises ({step}))")?;
            *step = turned;
        }
        let premises: Vec<String> = sides.into_iter().map(|(_, step)| step).collect();
        writeln!(self.out, "(step {name} (cl {equation}) :rule trans :premises ({}))", premises.join(" "))?;
        Ok(true)
    }

    /// Proves that two ground terms of a datatype differ; `equation` is the text of their equation. Returns whether it
    /// could.
    pub(super) fn different_values(
        &mut self,
        name: &str,
        equation: &str,
        left: Term,
        right: Term,
    ) -> io::Result<bool> {
        let store = self.store;
        let values = value(store, left).zip(value(store, right));
        let Some((mut a, mut b)) = values.filter(|_| is_datatype(store, left)) else { return Ok(false) };
        if !is_small(store, &[left, right, a, b]) {
            return Ok(false);
        }
        let shown = |a: Term, b: Term| format!("(= {} {})", store.display(a), store.display(b));
        let mut premises: Vec<String> = Vec::new();
        let mut here = equation.to_owned();
        if (a, b) != (left, right) {
            let mut steps = FxHashMap::default();
            let mut literals = Vec::new();
            for (term, value, side) in [(left, a, "l"), (right, b, "r")] {
                if term != value {
                    let Some(step) = self.evaluated(&format!("{name}.{side}"), term, &mut steps)? else {
                        return Ok(false);
                    };
                    premises.push(step);
                    literals.push(format!("(not {})", shown(term, value)));
                }
            }
            literals.insert(usize::from(left != a), format!("(not {equation})"));
            here = shown(a, b);
            let clause = literals.join(" ");
            writeln!(self.out, "(step {name}.v (cl {clause} {here}) :rule eq_transitive)")?;
            premises.insert(0, format!("{name}.v"));
        }
        for level in 0.. {
            let step = format!("{name}.{level}");
            let is_made = |term: Term| matches!(store.op(term), Op::Construct(_));
            let fields = std::iter::zip(store.args(a), store.args(b)).enumerate();
            let mut fields = fields.filter(|(_, (a, b))| a != b);
            let rule = match fields.next() {
                Some((field, (&next_a, &next_b))) if is_made(a) && store.op(a) == store.op(b) => {
                    let next = shown(next_a, next_b);
                    writeln!(
                        self.out,
                        "(step {step} (cl (not {here}) {next}) :rule dt_inject :args ({field}))"
                    )?;
                    (a, b, here) = (next_a, next_b, next);
                    premises.push(step);
                    continue;
                }
                _ if is_made(a) && is_made(b) => "dt_clash",
                _ if is_sum(store, a) && is_sum(store, b) => "la_generic :args (1)",
                _ => "hole",
            };
            writeln!(self.out, "(step {step} (cl (not {here})) :rule {rule})")?;
            premises.push(step);
            break;
        }
        writeln!(
            self.out,
            "(step {name} (cl (not {equation})) :rule resolution :premises ({}))",
            premises.join(" ")
        )?;
        Ok(true)
    }

    /// Proves a ground atom over datatypes, or its negation; `text` is that of the atom. Returns whether it could.
    pub(super) fn valued(&mut self, name: &str, text: &str, atom: Term, holds: bool) -> io::Result<bool> {
        if !is_small(self.store, &[atom]) {
            return Ok(false);
        }
        let step = self.evaluated(&format!("{name}.l"), atom, &mut FxHashMap::default())?;
        let Some(step) = step else { return Ok(false) };
        writeln!(self.out, "(step {name}.t (cl (= {text} {holds})) :rule trans :premises ({step}))")?;
        // A formula that equals true is true, and one that equals false is not.
        let (rule, clause, literal) = match holds {
            true => ("equiv_pos1", format!("{text} (not true)"), text.to_owned()),
            false => ("equiv_pos2", format!("(not {text}) false"), format!("(not {text})")),
        };
        writeln!(self.out, "(step {name}.q (cl (not (= {text} {holds})) {clause}) :rule {rule})")?;
        self.constant(&format!("{name}.u"), holds)?;
        writeln!(
            self.out,
            "(step {name} (cl {literal}) :rule resolution :premises ({name}.q {name}.t {name}.u))"
        )?;
        Ok(true)
    }

    /// That true is true, or false is not.
    fn constant(&mut self, name: &str, holds: bool) -> io::Result<()> {
        let literal = if holds { "true" } else { "(not false)" };
        writeln!(self.out, "(step {name} (cl {literal}) :rule {holds})")
    }

    /// Proves that a ground term has its value, which differs from it. Returns the name of the step; `None` if a part has no
    /// value. The steps of other terms are known.
    fn evaluated(
        &mut self,
        name: &str,
        term: Term,
        steps: &mut FxHashMap<Term, String>,
    ) -> io::Result<Option<String>> {
        let store = self.store;
        let parts = store.subterms(&[term]);
        let Some(values) = parts.iter().map(|&part| value(store, part)).collect::<Option<Vec<Term>>>() else {
            return Ok(None);
        };
        // Ascending indices are bottom-up.
        for (number, (&part, &value)) in std::iter::zip(&parts, &values).enumerate() {
            if part == value || steps.contains_key(&part) {
                continue;
            }
            let step = format!("{name}{number}");
            let [shown, result] = [part, value].map(|term| store.display(term).to_string());
            let equation = format!("(= {shown} {result})");
            let (op, args) = store.view(part);
            let with_values = args.iter().map(|arg| {
                let at = parts.iter().position(|other| other == arg).expect("it is a part");
                values[at]
            });
            let with_values: Vec<Term> = with_values.collect();
            let known = store.app(op, &with_values).expect("the values have the sorts of their terms");
            let premises: Vec<&str> = args.iter().filter_map(|arg| Some(steps.get(arg)?.as_str())).collect();
            let premises = premises.join(" ");
            if known == value {
                writeln!(self.out, "(step {step} (cl {equation}) :rule cong :premises ({premises}))")?;
            } else if known == part {
                self.known(&step, &equation, part, value)?;
            } else {
                let between = store.display(known).to_string();
                writeln!(
                    self.out,
                    "(step {step}.c (cl (= {shown} {between})) :rule cong :premises ({premises}))"
                )?;
                self.known(&format!("{step}.k"), &format!("(= {between} {result})"), known, value)?;
                writeln!(
                    self.out,
                    "(step {step} (cl {equation}) :rule trans :premises ({step}.c {step}.k))"
                )?;
            }
            steps.insert(part, step);
        }
        Ok(steps.get(&term).cloned())
    }

    /// Proves the value of an application to values.
    fn known(&mut self, name: &str, equation: &str, term: Term, value: Term) -> io::Result<()> {
        let store = self.store;
        if is_sum(store, term) && is_sum(store, value) {
            return self.equal(name, equation, term, value);
        }
        let (op, args) = store.view(term);
        let rule = match op {
            Op::Selector { .. } => "dt_select",
            Op::Tester(_) => "dt_test",
            Op::Le | Op::Lt | Op::Ge | Op::Gt | Op::Eq
                if (op != Op::Eq || value == Term::FALSE)
                    && args.len() == 2
                    && args.iter().all(|&arg| is_sum(store, arg)) =>
            {
                let (atom, holds) = (store.display(term).to_string(), value == Term::TRUE);
                let (rule, clause, literal) = match holds {
                    true => ("equiv_neg1", format!("(not {atom}) (not true)"), atom),
                    false => ("equiv_neg2", format!("{atom} false"), format!("(not {atom})")),
                };
                writeln!(self.out, "(step {name}.e (cl {equation} {clause}) :rule {rule})")?;
                writeln!(self.out, "(step {name}.a (cl {literal}) :rule la_generic :args (1))")?;
                self.constant(&format!("{name}.u"), holds)?;
                return writeln!(
                    self.out,
                    "(step {name} (cl {equation}) :rule resolution :premises ({name}.e {name}.a {name}.u))"
                );
            }
            _ => "hole",
        };
        writeln!(self.out, "(step {name} (cl {equation}) :rule {rule})")
    }
}
