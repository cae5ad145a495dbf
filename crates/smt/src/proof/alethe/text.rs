//! The text of a proof, linear in the size of the graph of its terms.
//!
//! A formula of a proof occurs in many clauses, and would be written in each. So terms that are used more than once
//! have names, which are defined before their first use, as Alethe allows between steps:
//!
//! ```text
//! (define-fun @p7 () Bool (or @p3 (< x y)))
//! (step t12 (cl (not @p7) @p3 (< x y)) :rule or_pos)
//! ```
//!
//! - T1: a term is written out once, or has a text of at most `LONGEST_REPEATED` characters, or is used once. So the
//!   length of the text is linear in the number of different terms and of references to them.
//! - T2: names are new, and defined before they are used. Readers of the proof expand the definitions.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Term, TermStore};

use super::steps::{Arg, Name, Step, Steps};

/// The greatest length of a term's text that is used more than once without a name.
const LONGEST_REPEATED: usize = 24;

/// The prefix of names, unless such names exist already.
const PREFIX: &str = "@p";

/// Writes the definitions of the fresh symbols used, the assumptions, and the needed steps.
pub(super) fn write(
    store: &TermStore,
    origins: &[(Term, Term)],
    steps: &Steps<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let is_needed = steps.needed();
    let needed =
        || std::iter::zip(steps.steps.iter().enumerate(), &is_needed).filter(|it| *it.1).map(|it| it.0);
    let mut written: Vec<Term> = steps.assumed.clone();
    needed().for_each(|(_, step)| written.extend(terms_of(step)));
    let origins = origins_of(store, origins, &written);
    written.extend(origins.iter().map(|(_, origin)| origin));

    let mut text = Text::new(store, &written);
    for (symbol, origin) in origins {
        text.define(&[origin]);
        text.definition(&store.display(symbol).to_string(), origin);
        text.flush(out)?;
    }
    for (index, &formula) in steps.assumed.iter().enumerate() {
        text.define(&[formula]);
        let _ = write!(text.line, "(assume {} ", Name::Assumption(index));
        text.term(formula);
        text.line.push_str(")\n");
        text.flush(out)?;
    }
    for (index, step) in needed() {
        text.define(&terms_of(step).collect::<Vec<Term>>());
        text.step(Name::Step(index), step);
        text.flush(out)?;
    }
    Ok(())
}

fn terms_of(step: &Step) -> impl Iterator<Item = Term> {
    let args = step.args.iter().filter_map(|arg| match arg {
        Arg::Term(term) => Some(*term),
        Arg::Text(_) => None,
    });
    step.clause.iter().copied().chain(args)
}

/// The fresh symbols in terms, with their origins, in the order of creation.
fn origins_of(store: &TermStore, origins: &[(Term, Term)], terms: &[Term]) -> Vec<(Term, Term)> {
    let mut needed = store.symbols(terms).vars;
    let mut shown = Vec::new();
    for &(symbol, origin) in origins.iter().rev() {
        if needed.contains(&symbol) {
            needed.extend(store.symbols(&[origin]).vars);
            shown.push((symbol, origin));
        }
    }
    shown.reverse();
    shown
}

/// Writes terms with names for shared ones.
struct Text<'s> {
    store: &'s TermStore,
    /// The terms that get a name, with the name once it is defined.
    names: FxHashMap<Term, Option<String>>,
    prefix: String,
    defined: usize,
    /// The text not yet written.
    line: String,
}

impl<'s> Text<'s> {
    /// Takes the terms to be written, each as often as it occurs.
    fn new(store: &'s TermStore, written: &[Term]) -> Self {
        let mut uses: FxHashMap<Term, usize> = FxHashMap::default();
        written.iter().for_each(|term| *uses.entry(*term).or_default() += 1);
        // Arguments come before the terms that contain them.
        let subterms = store.subterms(written);
        for &term in &subterms {
            inner(store, term).iter().for_each(|arg| *uses.entry(*arg).or_default() += 1);
        }
        let mut names = FxHashMap::default();
        let mut lengths: FxHashMap<Term, usize> = FxHashMap::default();
        for &term in &subterms {
            let args = inner(store, term);
            if args.is_empty() {
                lengths.insert(term, store.display(term).to_string().len());
                continue;
            }
            let operator = store.display_op(store.op(term)).to_string().len();
            let length = args.iter().fold(2 + operator, |sum, arg| sum + 1 + lengths[arg]);
            let is_shared = uses.get(&term).is_some_and(|&uses| uses > 1);
            let has_name = is_shared && length > LONGEST_REPEATED;
            if has_name {
                names.insert(term, None);
            }
            lengths.insert(term, if has_name { PREFIX.len() } else { length });
        }
        let symbols = store.symbols(written);
        let of_vars = symbols.vars.iter().map(|&var| store.display(var).to_string());
        let of_funs = symbols.funs.iter().map(|&fun| store.name(store.fun_decl(fun).name).to_owned());
        let taken: FxHashSet<String> = of_vars.chain(of_funs).collect();
        let mut prefix = PREFIX.to_owned();
        while taken.iter().any(|name| name.trim_start_matches('|').starts_with(&prefix)) {
            prefix.push('.');
        }
        Text { store, names, prefix, defined: 0, line: String::new() }
    }

    /// Defines the names that terms need and that are not defined yet.
    fn define(&mut self, terms: &[Term]) {
        let mut needed = Vec::new();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut open: Vec<Term> = terms.to_vec();
        while let Some(term) = open.pop() {
            let name = self.names.get(&term);
            if matches!(name, Some(Some(_))) || !seen.insert(term) {
                continue;
            }
            needed.extend(name.map(|_| term));
            open.extend(inner(self.store, term));
        }
        needed.sort_unstable();
        for term in needed {
            let name = format!("{}{}", self.prefix, self.defined);
            self.defined += 1;
            self.definition(&name, term);
            self.names.insert(term, Some(name));
        }
    }

    fn definition(&mut self, name: &str, term: Term) {
        let sort = self.store.display_sort(self.store.sort_of(term));
        let _ = write!(self.line, "(define-fun {name} () {sort} ");
        self.term(term);
        self.line.push_str(")\n");
    }

    fn step(&mut self, name: Name, Step { clause, rule, premises, args }: &Step) {
        let _ = write!(self.line, "(step {name} (cl");
        for &literal in clause {
            self.line.push(' ');
            self.term(literal);
        }
        let _ = write!(self.line, ") :rule {rule}");
        for (at, premise) in premises.iter().enumerate() {
            let _ = write!(self.line, "{}{premise}", if at == 0 { " :premises (" } else { " " });
        }
        self.line.push_str(if premises.is_empty() { "" } else { ")" });
        for (at, arg) in args.iter().enumerate() {
            self.line.push_str(if at == 0 { " :args (" } else { " " });
            match arg {
                Arg::Term(term) => self.term(*term),
                Arg::Text(text) => self.line.push_str(text),
            }
        }
        self.line.push_str(if args.is_empty() { ")\n" } else { "))\n" });
    }

    /// Appends the term, with the names defined so far.
    fn term(&mut self, term: Term) {
        enum Item {
            Term(Term),
            Text(&'static str),
        }
        let mut open = vec![Item::Term(term)];
        while let Some(item) = open.pop() {
            let term = match item {
                Item::Term(term) => term,
                Item::Text(text) => {
                    self.line.push_str(text);
                    continue;
                }
            };
            let args = inner(self.store, term);
            if let Some(Some(name)) = self.names.get(&term) {
                self.line.push_str(name);
            } else if args.is_empty() {
                let _ = write!(self.line, "{}", self.store.display(term));
            } else {
                let _ = write!(self.line, "({}", self.store.display_op(self.store.op(term)));
                open.push(Item::Text(")"));
                open.extend(args.iter().rev().flat_map(|&arg| [Item::Term(arg), Item::Text(" ")]));
            }
        }
    }

    fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

/// The arguments, unless the term must be written as a whole: terms with bound variables have no names.
fn inner(store: &TermStore, term: Term) -> &[Term] {
    match store.view(term) {
        (Op::Forall | Op::Exists, _) => &[],
        (_, args) => args,
    }
}
