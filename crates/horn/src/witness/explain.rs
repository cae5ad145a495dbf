//! Explains answers to people.
//!
//! A refutation is shown in program order ([`Trace`]), a model predicate by predicate with the clauses that it
//! satisfies:
//!
//! ```text
//! 1  Inv  x = 0, y = 5    (clause 1 at 3:2)      Inv(x: Int)
//! 2  Inv  x: 0 → 1, y = 5 (clause 2 at 5:2)          x ≥ 0 ∧ x ≤ 10
//! 3  false                (clause 3 at 7:2)        init          Inv(0)  (clause 1 at 3:2)
//!                                                  preserved by  Inv(z) ← Inv(x), z = x + 1  (clause 2 at 5:2)
//!                                                  excludes      false ← Inv(x), x > 10  (clause 3 at 7:2)
//! ```
//!
//! Values are written as [`ValueTexts`] does, with a legend below if there are lists or Peano numbers. Long texts are cut in the middle unless `full` is set, so a trace of a million steps is a page. Names come from the
//! input: control characters are not printed.

use std::collections::BTreeSet;
use std::io;

use anstyle::{AnsiColor, Style};
use rustc_hash::FxHashSet;
use shofar_logic::{Op, Term, TermStore, Value};

use super::meaning::in_words;
use super::trace::{Argument, Trace};
use super::{
    AtomOrder, Definition, Induction, Interpretation, Model, Premise, PureClause, Recursion, Refutation,
    Saturation, Witness,
};
use crate::infix::{Fit, Notation, ValueTexts};
use crate::system::{Atom, Clause, HornSystem, PredicateId};

/// The line width.
const WIDTH: usize = 100;

/// The numbers of steps shown at the beginning and at the end of a trace.
const MOST_FIRST: usize = 25;
const MOST_LAST: usize = 15;

/// The maximal number of characters of a value or a name.
const MOST_CHARACTERS: usize = 60;

/// The maximal number of changed elements of an array shown in a step.
const MOST_ELEMENTS: usize = 6;

/// The maximal number of unchanged values shown in a step.
const MOST_UNCHANGED: usize = 8;

/// The maximal number of clauses of each role shown for a predicate.
const MOST_CLAUSES: usize = 8;

/// The maximal number of predicates of a model shown.
const MOST_PREDICATES: usize = 200;

/// With more parameters of a predicate than this, only those in its definition are shown.
const MOST_PARAMETERS: usize = 12;

/// Lines and symbols of a formula that are shown.
const MOST_LINES: usize = 60;
const MOST_SYMBOLS: usize = 4000;

/// Lines of a rule, its symbols and arguments of its atoms that are shown, and the column in which it starts.
const MOST_RULE_LINES: usize = 4;
const MOST_RULE_SYMBOLS: usize = 300;
const MOST_RULE_ARGUMENTS: usize = 8;
const RULE_COLUMN: usize = 16;

/// The maximal number of levels of indentation shown.
const MOST_LEVELS: usize = 16;

/// The options of an explanation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Explanation {
    /// Use colours.
    pub color: bool,
    /// Omit nothing.
    pub full: bool,
    /// How readers get the omitted parts, as in "`full` shows them". It follows each note that something is omitted.
    pub full_hint: Option<&'static str>,
    /// Show the values of the clauses' variables that are not arguments of the fact.
    pub locals: bool,
    /// How formulas, clauses and values are written.
    pub notation: Notation,
}

impl Witness {
    /// Explains the witness to people.
    pub fn explain(
        &self,
        store: &TermStore,
        system: &HornSystem,
        explanation: Explanation,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let values = ValueTexts::new(store, explanation.notation);
        let writer = Writer { store, system, explanation, values: &values };
        match self {
            Witness::Model(model) => writer.model(model, out),
            Witness::Induction(proof) => writer.induction(proof, out),
            Witness::Saturation(proof) => writer.saturation(proof, out),
            Witness::Refutation(refutation) => writer.refutation(refutation, out),
        }
    }
}

/// The emphasis of a text.
#[derive(Clone, Copy)]
enum Mark {
    Name,
    Change,
    False,
    Aside,
}

impl Mark {
    /// How terminals show it.
    fn style(self) -> Style {
        match self {
            Mark::Name => Style::new().bold(),
            Mark::Change => AnsiColor::Yellow.on_default().bold(),
            Mark::False => AnsiColor::Red.on_default().bold(),
            Mark::Aside => Style::new().dimmed(),
        }
    }
}

#[derive(Clone, Copy)]
struct Writer<'a> {
    store: &'a TermStore,
    system: &'a HornSystem,
    explanation: Explanation,
    values: &'a ValueTexts<'a>,
}

impl Writer<'_> {
    fn marked(&self, mark: Mark, text: &str) -> String {
        let style = if self.explanation.color { mark.style() } else { Style::new() };
        format!("{style}{text}{style:#}")
    }

    /// A note about omitted parts, with the hint how to get them.
    fn omission(&self, note: &str) -> String {
        let hint = self.explanation.full_hint.map_or_else(String::new, |hint| format!("; {hint}"));
        self.marked(Mark::Aside, &format!("{note}{hint}"))
    }

    /// A text of the input without control characters, cut to a readable length.
    fn shown(&self, text: &str) -> String {
        let most = if self.explanation.full { usize::MAX } else { MOST_CHARACTERS };
        let mut shown: String = printable(text).take(most).collect();
        if text.chars().nth(most).is_some() {
            shown.push_str(self.explanation.notation.ellipsis());
        }
        shown
    }

    fn predicate(&self, predicate: PredicateId) -> String {
        let name = self.store.fun_decl(self.system.fun(predicate)).name;
        self.shown(&self.explanation.notation.name(self.store, name))
    }

    fn title(&self, clause: usize) -> String {
        self.shown(&self.system.clause_title(self.store, clause))
    }

    // ---- refutations -------------------------------------------------------------------------------------

    fn refutation(&self, refutation: &Refutation, out: &mut impl io::Write) -> io::Result<()> {
        let trace = Trace::new(self.store, self.system, refutation);
        let count = trace.lines().len();
        let what = if trace.is_path() { "a run" } else { "a derivation" };
        let steps = if count == 1 { "one step".to_owned() } else { format!("{count} steps") };
        writeln!(out, "The clauses contradict each other: {what} of {steps} leads to false.\n")?;
        let is_cut = !self.explanation.full && count > MOST_FIRST + MOST_LAST + 1;
        let first = if is_cut { MOST_FIRST } else { count };
        for line in 0..first {
            self.step(&trace, line, out)?;
        }
        if is_cut {
            let left_out = count - MOST_FIRST - MOST_LAST;
            let note = self.omission(&format!("... {left_out} steps are left out"));
            writeln!(out, "{note}")?;
            for line in count - MOST_LAST..count {
                self.step(&trace, line, out)?;
            }
        }
        self.rules(&trace, out)
    }

    /// The clauses that the steps instantiate, as rules. In SMT-LIB they would say the same as the input.
    fn rules(&self, trace: &Trace<'_>, out: &mut impl io::Write) -> io::Result<()> {
        if self.explanation.notation == Notation::Smtlib {
            return Ok(());
        }
        let steps = 0..trace.lines().len();
        let used: BTreeSet<usize> = steps.map(|line| trace.step(line).clause).collect();
        let most = if self.explanation.full { usize::MAX } else { MOST_CLAUSES };
        writeln!(out)?;
        for &clause in used.iter().take(most) {
            let number = format!("clause {}", clause + 1);
            write!(out, "{number:<13} ")?;
            self.rule(clause, number.len().max(13) + 1, None, out)?;
        }
        if let Some(more) = used.len().checked_sub(most).filter(|&more| more > 0) {
            let note = self.omission(&format!("{more} more clauses"));
            writeln!(out, "{note}")?;
        }
        self.legend(out)
    }

    /// How lists and Peano numbers are written.
    fn legend(&self, out: &mut impl io::Write) -> io::Result<()> {
        for (position, line) in self.explanation.notation.legend(self.store, self.system).iter().enumerate() {
            let (start, title) = if position == 0 { ("\n", "notation") } else { ("", "") };
            writeln!(out, "{start}{title:<13} {}", self.marked(Mark::Aside, &self.shown_line(line)))?;
        }
        Ok(())
    }

    /// A line without control characters, cut to a readable length.
    fn shown_line(&self, text: &str) -> String {
        let mut shown: String = printable(text).take(WIDTH - RULE_COLUMN).collect();
        if text.chars().nth(WIDTH - RULE_COLUMN).is_some() {
            shown.push_str(self.explanation.notation.ellipsis());
        }
        shown
    }

    /// A clause as a rule that starts in a column, and a remark behind it.
    fn rule(
        &self,
        clause: usize,
        column: usize,
        aside: Option<&str>,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let (lines, symbols, arguments) = match self.explanation.full {
            true => (usize::MAX, usize::MAX, usize::MAX),
            false => (MOST_RULE_LINES, MOST_RULE_SYMBOLS, MOST_RULE_ARGUMENTS),
        };
        let notation = self.explanation.notation;
        let fit = Fit { width: WIDTH, column, symbols, arguments };
        let rule = notation.clause(self.store, self.system, clause, fit);
        let mut end = column;
        for (position, line) in rule.lines().take(lines).enumerate() {
            if position > 0 {
                writeln!(out)?;
            }
            write!(out, "{}", printable(line).collect::<String>())?;
            end = line.chars().count() + if position == 0 { column } else { 0 };
        }
        if rule.lines().nth(lines).is_some() {
            write!(out, " {}", notation.ellipsis())?;
            end += 1 + notation.ellipsis().chars().count();
        }
        if let Some(aside) = aside {
            match end + 2 + aside.chars().count() <= WIDTH {
                true => write!(out, "  ")?,
                false => write!(out, "\n{:column$}", "")?,
            }
            write!(out, "{}", self.marked(Mark::Aside, aside))?;
        }
        writeln!(out)
    }

    fn step(&self, trace: &Trace<'_>, line: usize, out: &mut impl io::Write) -> io::Result<()> {
        let columns = trace.lines().len().to_string().len();
        let indent = "| ".repeat(trace.lines()[line].level.min(MOST_LEVELS));
        let name = match trace.predicate(line) {
            Some(predicate) => (self.predicate(predicate), Mark::Name),
            None => ("false".to_owned(), Mark::False),
        };
        let head = columns + 2 + indent.len();
        write!(out, "{:>columns$}  {indent}{}", line + 1, self.marked(name.1, &name.0))?;
        let column = head + name.0.chars().count();
        let mut items = self.arguments(&trace.arguments(line));
        let premises = trace.premises(line);
        // A premise in the previous line needs no mention.
        let is_plain = premises.is_empty() || (premises.len() == 1 && premises[0] + 1 == line);
        let mut aside = format!("({})", self.title(trace.step(line).clause));
        if !is_plain {
            let numbers: Vec<String> = premises.iter().map(|premise| (premise + 1).to_string()).collect();
            let arrow = self.explanation.notation.premise_arrow();
            aside = format!("{arrow} {}  {aside}", numbers.join(", "));
        }
        items.push(Item { text: aside, mark: Some(Mark::Aside), ends: false, space: 2 });
        items[0].space = 2;
        self.wrapped(&items, column, head + 2, out)?;
        writeln!(out)?;
        if self.explanation.locals {
            self.locals(trace, line, head + 2, out)?;
        }
        Ok(())
    }

    fn arguments(&self, arguments: &[Argument<'_>]) -> Vec<Item> {
        let unchanged = arguments.iter().filter(|argument| argument.before == Some(argument.value)).count();
        let is_cut = !self.explanation.full && unchanged > MOST_UNCHANGED;
        let shown = arguments.iter().filter(|argument| !is_cut || argument.before != Some(argument.value));
        let mut items: Vec<Item> = shown.flat_map(|argument| self.argument(argument)).collect();
        if is_cut {
            let text = format!("and {unchanged} as before");
            items.push(Item { text, mark: Some(Mark::Aside), ends: true, space: 1 });
        }
        if let Some(last) = items.last_mut() {
            last.ends = false;
        }
        items
    }

    /// An argument with its value, or with the change of its value. For an array, each changed element is an item.
    fn argument(&self, argument: &Argument<'_>) -> Vec<Item> {
        let name = self.variable(argument.parameter);
        let (texts, mark) = match argument.before.filter(|_| argument.is_changed()) {
            Some(before) => (self.change(&name, before, argument.value), Some(Mark::Change)),
            None => (vec![format!("{name} = {}", self.value(argument.value))], None),
        };
        texts.into_iter().map(|text| Item { text, mark, ends: true, space: 1 }).collect()
    }

    fn change(&self, name: &str, before: &Value, after: &Value) -> Vec<String> {
        let (characters, elements) = match self.explanation.full {
            true => (usize::MAX, usize::MAX),
            false => (MOST_CHARACTERS, MOST_ELEMENTS),
        };
        match self.values.changes(name, before, after, characters, elements) {
            Some(texts) => texts.iter().map(|text| printable(text).collect()).collect(),
            None => {
                let arrow = self.explanation.notation.arrow();
                vec![format!("{name}: {} {arrow} {}", self.value(before), self.value(after))]
            }
        }
    }

    fn variable(&self, variable: Term) -> String {
        match self.store.op(variable) {
            Op::Var(name) => self.shown(&self.explanation.notation.name(self.store, name)),
            _ => self.shown(&self.store.display(variable).to_string()),
        }
    }

    fn value(&self, value: &Value) -> String {
        let most = if self.explanation.full { usize::MAX } else { MOST_CHARACTERS };
        self.shown(&self.values.text(value, most))
    }

    /// The variables of the clause that are not arguments of its head, on separate lines.
    fn locals(
        &self,
        trace: &Trace<'_>,
        line: usize,
        column: usize,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        let step = trace.step(line);
        let Clause { variables, head, .. } = &self.system.clauses[step.clause];
        let is_local = |variable: &Term| head.as_ref().is_none_or(|head| !head.args.contains(variable));
        let locals = variables.iter().zip(&step.instantiation).filter(|(variable, _)| is_local(variable));
        let mut items: Vec<Item> = locals
            .map(|(&variable, value)| Item {
                text: format!("{} = {}", self.variable(variable), self.value(value)),
                mark: Some(Mark::Aside),
                ends: true,
                space: 1,
            })
            .collect();
        let Some(last) = items.last_mut() else { return Ok(()) };
        last.ends = false;
        items[0].space = 2;
        write!(out, "{:column$}{}", "", self.marked(Mark::Aside, "with"))?;
        self.wrapped(&items, column + "with".len(), column + 2, out)?;
        writeln!(out)
    }

    /// Writes items after a text that ends in `column`; items that do not fit continue on lines indented by `indent`.
    fn wrapped(
        &self,
        items: &[Item],
        mut column: usize,
        indent: usize,
        out: &mut impl io::Write,
    ) -> io::Result<()> {
        for item in items {
            let text = if item.ends { format!("{},", item.text) } else { item.text.clone() };
            let width = text.chars().count();
            if column + item.space + width > WIDTH && column > indent && item.space > 0 {
                write!(out, "\n{:indent$}", "")?;
                column = indent + width;
            } else {
                write!(out, "{:1$}", "", item.space)?;
                column += item.space + width;
            }
            match item.mark {
                Some(mark) => write!(out, "{}", self.marked(mark, &text))?,
                None => write!(out, "{text}")?,
            }
        }
        Ok(())
    }

    // ---- models ------------------------------------------------------------------------------------------

    fn model(&self, model: &Model, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "All clauses are true if the predicates mean this:")?;
        let most = if self.explanation.full { usize::MAX } else { MOST_PREDICATES };
        for ((predicate, _), roles) in self.system.predicates().zip(clause_roles(self.system)).take(most) {
            writeln!(out)?;
            self.definition(model, predicate, out)?;
            for clauses in roles.chunk_by(|a, b| a.0 == b.0) {
                self.clauses(clauses, out)?;
            }
            if roles.is_empty() {
                writeln!(out, "  {}", self.marked(Mark::Aside, "no clause derives or excludes it"))?;
            }
        }
        if let Some(more) = self.system.predicates().len().checked_sub(most).filter(|&more| more > 0) {
            let note = self.omission(&format!("... {more} predicates are left out"));
            writeln!(out, "\n{note}")?;
        }
        self.recursion(&model.recursion(self.store, self.system), out)?;
        let is_alone = |clause: &Clause| clause.head.is_none() && clause.body.is_empty();
        let clauses = self.system.clauses.iter().enumerate();
        let alone = clauses.filter(|(_, clause)| is_alone(clause)).map(|(number, _)| number);
        for clause in alone {
            writeln!(out, "\n{} says nothing of predicates and is true by itself", self.title(clause))?;
        }
        self.legend(out)
    }

    /// The recursive functions that formulas apply, and the lemmas about them.
    fn recursion(&self, recursion: &Recursion<'_>, out: &mut impl io::Write) -> io::Result<()> {
        let equations = recursion.equations(self.explanation.notation);
        if equations.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.marked(Mark::Name, "where"))?;
        equations.iter().try_for_each(|&equation| self.formula(equation, out))?;
        for (fun, automaton) in recursion.automata() {
            let name = self.shown(&self.explanation.notation.name(self.store, self.store.fun_decl(fun).name));
            writeln!(out, "\n{} {name}", self.marked(Mark::Name, "automaton"))?;
            for rule in &automaton.rules {
                writeln!(
                    out,
                    "    {}",
                    self.shown(&rule.text(self.store, self.explanation.notation, &automaton))
                )?;
            }
        }
        let lemmas = recursion.lemma_formulas();
        if !lemmas.is_empty() {
            writeln!(out, "\n{}", self.marked(Mark::Name, "and by induction"))?;
        }
        lemmas.iter().try_for_each(|&lemma| self.formula(lemma, out))
    }

    fn induction(&self, proof: &Induction, out: &mut impl io::Write) -> io::Result<()> {
        let (store, system) = (self.store, self.system);
        writeln!(
            out,
            "By induction on derivations, these lemmas are true for all facts that the clauses derive."
        )?;
        writeln!(out, "They contradict the bodies of all queries, so the clauses have a model.")?;
        let symbols = if self.explanation.full { usize::MAX } else { MOST_SYMBOLS };
        let fit = |column: usize| Fit { width: WIDTH, column, symbols, arguments: usize::MAX };
        let term = |term: Term, column: usize| {
            let text = self.explanation.notation.term(store, term, fit(column));
            text.lines().map(|line| printable(line).collect::<String>()).collect::<Vec<_>>().join("\n")
        };
        let most = if self.explanation.full { usize::MAX } else { MOST_PREDICATES };
        for (number, lemma) in proof.lemmas.iter().enumerate().take(most) {
            writeln!(out, "\n{}", self.marked(Mark::Name, &format!("lemma {}", number + 1)))?;
            for Premise { atom, is_unfolded } in &lemma.premises {
                let fact = store.apply(system.fun(atom.predicate), &atom.args);
                let fact = fact.expect("the sorts of a premise fit");
                let note = if *is_unfolded { self.marked(Mark::Aside, "  unfolded") } else { String::new() };
                writeln!(out, "    {}{note}", term(fact, 4))?;
            }
            writeln!(out, "  {}\n    {}", self.marked(Mark::Aside, "imply"), term(lemma.conclusion, 4))?;
        }
        if let Some(more) = proof.lemmas.len().checked_sub(most).filter(|&more| more > 0) {
            writeln!(out, "\n{}", self.omission(&format!("... {more} lemmas are left out")))?;
        }
        self.recursion(&proof.recursion(store, system), out)
    }

    fn saturation(&self, proof: &Saturation, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(
            out,
            "These clauses cover the system and are saturated: resolution derives nothing new from them."
        )?;
        writeln!(out, "None of them is empty, so they have a model, which is one of the system.")?;
        let order = match &proof.order {
            AtomOrder::Derivations => "facts are ordered by the heights of their derivations".to_owned(),
            AtomOrder::KnuthBendix(_) => {
                format!("the order of Knuth and Bendix: {}", proof.order.text(self.store, self.system))
            }
        };
        writeln!(out, "{}", self.marked(Mark::Aside, &printable(&order).collect::<String>()))?;
        let most = if self.explanation.full { usize::MAX } else { MOST_PREDICATES };
        for (number, clause) in proof.clauses.iter().enumerate().take(most) {
            writeln!(out, "\n{}", self.marked(Mark::Name, &format!("clause {}", number + 1)))?;
            self.formula(self.open_formula(clause), out)?;
            if let Some(selected) = clause.selected {
                let note = format!("    atom {} is selected", selected + 1);
                writeln!(out, "{}", self.marked(Mark::Aside, &note))?;
            }
        }
        if let Some(more) = proof.clauses.len().checked_sub(most).filter(|&more| more > 0) {
            writeln!(out, "\n{}", self.omission(&format!("... {more} clauses are left out")))?;
        }
        Ok(())
    }

    /// A clause of a saturation without its quantifier.
    fn open_formula(&self, clause: &PureClause) -> Term {
        let formula = clause.to_formula(self.store, self.system);
        match self.store.view(formula) {
            (Op::Forall, [.., matrix]) => *matrix,
            _ => formula,
        }
    }

    fn definition(&self, model: &Model, predicate: PredicateId, out: &mut impl io::Write) -> io::Result<()> {
        let definition = model.definition(predicate);
        let name = self.predicate(predicate);
        write!(out, "{}", self.marked(Mark::Name, &name))?;
        let column = name.chars().count();
        self.wrapped(&self.parameters(definition), column, 6, out)?;
        writeln!(out)?;
        let Interpretation::Formula(body) = definition.interpretation;
        self.formula(body, out)?;
        match in_words(self.store, self.explanation.notation, body) {
            Some(words) => {
                let words: String = printable(&words).collect();
                writeln!(out, "  {}      {words}", self.marked(Mark::Aside, "in words"))
            }
            None => Ok(()),
        }
    }

    /// A formula on lines of its own.
    fn formula(&self, formula: Term, out: &mut impl io::Write) -> io::Result<()> {
        let symbols = if self.explanation.full { usize::MAX } else { MOST_SYMBOLS };
        let fit = Fit { width: WIDTH, column: 4, symbols, arguments: usize::MAX };
        let text = self.explanation.notation.term(self.store, formula, fit);
        let most = if self.explanation.full { usize::MAX } else { MOST_LINES };
        for (position, line) in text.lines().take(most).enumerate() {
            let indent = if position == 0 { "    " } else { "" };
            writeln!(out, "{indent}{}", printable(line).collect::<String>())?;
        }
        if let Some(more) = text.lines().count().checked_sub(most).filter(|&more| more > 0) {
            let note = self.omission(&format!("    ... {more} lines are left out"));
            writeln!(out, "{note}")?;
        }
        Ok(())
    }

    /// The parameters of a definition with their sorts, in parentheses.
    fn parameters(&self, definition: &Definition) -> Vec<Item> {
        let all = &*definition.parameters;
        let is_cut = !self.explanation.full && all.len() > MOST_PARAMETERS;
        let mentioned: FxHashSet<Term> = match definition.interpretation {
            Interpretation::Formula(body) => self.store.free_vars(&[body]).into_iter().collect(),
        };
        let listed: Vec<Term> =
            all.iter().copied().filter(|parameter| !is_cut || mentioned.contains(parameter)).collect();
        let is_smtlib = self.explanation.notation == Notation::Smtlib;
        let sort_of = |parameter: Term| self.store.sort_of(parameter);
        let item = |(position, &parameter): (usize, &Term)| {
            let name = self.variable(parameter);
            let sort = self.shown(&self.explanation.notation.sort(self.store, sort_of(parameter)));
            // One sort stands behind all neighbours that have it.
            let is_same = listed.get(position + 1).is_some_and(|&next| sort_of(next) == sort_of(parameter));
            let text = match (is_smtlib, is_same) {
                (true, _) => format!("{name} {sort}"),
                (false, true) => name,
                (false, false) => format!("{name}: {sort}"),
            };
            Item { text, mark: None, ends: true, space: 1 }
        };
        let mut items: Vec<Item> = listed.iter().enumerate().map(item).collect();
        let others = all.len() - items.len();
        if others > 0 {
            let text =
                if items.is_empty() { format!("{others} arguments") } else { format!("and {others} others") };
            items.push(Item { text, mark: Some(Mark::Aside), ends: true, space: 1 });
        }
        if let [first, ..] = &mut *items {
            first.text.insert(0, '(');
            first.space = usize::from(is_smtlib);
        }
        if let [.., last] = &mut *items {
            last.text.push(')');
            last.ends = false;
        }
        items
    }

    /// The clauses in which the predicate has the same role, one per line.
    fn clauses(&self, clauses: &[(Role, usize)], out: &mut impl io::Write) -> io::Result<()> {
        let most = if self.explanation.full { usize::MAX } else { MOST_CLAUSES };
        for &(role, number) in clauses.iter().take(most) {
            write!(out, "  {:<13} ", role.name())?;
            if self.explanation.notation == Notation::Smtlib {
                let with = self.company(&self.system.clauses[number], role);
                writeln!(out, "{}{with}", self.marked(Mark::Aside, &self.title(number)))?;
            } else {
                self.rule(number, RULE_COLUMN, Some(&format!("({})", self.title(number))), out)?;
            }
        }
        if let Some(more) = clauses.len().checked_sub(most).filter(|&more| more > 0) {
            let note = self.omission(&format!("{more} more clauses"));
            writeln!(out, "  {:<13} {note}", clauses[0].0.name())?;
        }
        Ok(())
    }

    /// Which predicates a clause involves, where its role does not say that. A rule says so itself.
    fn company(&self, clause: &Clause, role: Role) -> String {
        let names = |atoms: &[Atom]| {
            let names: Vec<String> = atoms.iter().map(|atom| self.predicate(atom.predicate)).collect();
            names.join(" and ")
        };
        match role {
            Role::Entry => format!(", from {}", names(&clause.body)),
            Role::Step | Role::Query if clause.body.len() > 1 => format!(", with {}", names(&clause.body)),
            _ => String::new(),
        }
    }
}

/// An unbreakable part of a line.
struct Item {
    text: String,
    mark: Option<Mark>,
    /// Whether another item of the same list follows.
    ends: bool,
    /// Spaces before it. Without any it stays behind the one before.
    space: usize,
}

/// The role of a clause for one of its predicates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// A fact of the predicate.
    Fact,
    /// Derives the predicate from other ones.
    Entry,
    /// Derives the predicate from itself.
    Step,
    /// A query with the predicate in its body.
    Query,
}

impl Role {
    /// The name of the role for people.
    pub fn name(self) -> &'static str {
        match self {
            Role::Fact => "init",
            Role::Entry => "entered by",
            Role::Step => "preserved by",
            Role::Query => "excludes",
        }
    }
}

/// For each predicate, the clauses with it in the head, and the queries with it in the body; sorted by role, then in
/// the order of the system.
pub fn clause_roles(system: &HornSystem) -> Vec<Vec<(Role, usize)>> {
    let mut roles: Vec<Vec<(Role, usize)>> = vec![Vec::new(); system.predicates().len()];
    for (number, clause) in system.clauses.iter().enumerate() {
        let mut add = |atom: &Atom, role| {
            let roles = &mut roles[atom.predicate.index()];
            if roles.last() != Some(&(role, number)) {
                roles.push((role, number));
            }
        };
        match &clause.head {
            Some(head) if clause.body.is_empty() => add(head, Role::Fact),
            Some(head) if clause.body.iter().any(|atom| atom.predicate == head.predicate) => {
                add(head, Role::Step);
            }
            Some(head) => add(head, Role::Entry),
            None => clause.body.iter().for_each(|atom| add(atom, Role::Query)),
        }
    }
    roles.iter_mut().for_each(|roles| roles.sort());
    roles
}

/// The text with control characters replaced.
fn printable(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c })
}
