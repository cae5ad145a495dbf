//! Traces: sequences of calls to solvers over one store, as data and as text.
//!
//! The text is in the style of SMT-LIB:
//!
//! ```text
//! (declare-fun f (Int) Int)                         symbols; declare-var declares a variable
//! (solver :proofs :renewal always :seed 7 :thread 1)  the next solver; the first has the number 0
//! (use 1)                                           the calls that follow go to this solver
//! (assert F :part 2)
//! (assert-all (F G) :parts (0 1))
//! (assert-instances (F) (G) (x t y u))              G with t for x and u for y; a list for each instance
//! (push) (pop)
//! (check (F G) :parts (0 1) :conflicts 5)           assumptions
//! (minimize-core :cancel 20)
//! (interpolate sequence (1 0 2) :labelling pudlak :fallback 40)
//! (project (x)) (implicant (x))                     all that is asserted and assumed, in the model
//! (eliminate (x) F :forall)
//! ```
//!
//! The behaviour of a trace depends only on its text, apart from clocks and threads: a run reads the text into a fresh
//! store, so terms have the same indices each time. Reading the output of [`Trace::to_text`] gives the same trace,
//! except for negated numerals, which are read as negative ones.

use std::fmt::Write as _;

use shofar_logic::number::Rational;
use shofar_logic::smtlib::{Environment, Reader, SyntaxError};
use shofar_logic::{Sort, SortKind, Term, TermStore};
use shofar_smt::interpolate::farkas::Strength;
use shofar_smt::interpolate::{Arithmetic, Equality, Fallback, Labelling, Options, Simplification};
use shofar_smt::proof::Part;
use shofar_smt::renewal::Renewal;
use shofar_smt::solver::Instance;

/// Calls to solvers over one store.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    /// The solvers.
    pub solvers: Vec<Subject>,
    /// The calls in order, each with the index of its solver.
    pub calls: Vec<(usize, Call)>,
}

/// The configuration and the thread of a solver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Subject {
    /// Whether it logs proofs.
    pub proofs: bool,
    /// When it is renewed.
    pub renewal: Renewal,
    /// The seed of its decisions.
    pub seed: u64,
    /// The thread that calls it.
    pub thread: usize,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// Asserts a formula in a part.
    Assert(Term, Part),
    /// Asserts formulas together.
    AssertAll(Vec<(Term, Part)>),
    /// Asserts formulas and instances together.
    AssertInstances(Vec<Term>, Vec<Instance>),
    /// Opens a frame.
    Push,
    /// Closes a frame.
    Pop,
    /// A query under assumptions.
    Check(Vec<(Term, Part)>, Bounds),
    /// Minimises the core of the last query.
    MinimizeCore(Bounds),
    /// Interpolates the last query.
    Interpolate(Question),
    /// Projects all assertions and assumptions, in the model of the last query.
    Project(Vec<Term>),
    /// Finds an implicant of the same formulas.
    Implicant(Vec<Term>),
    /// Eliminates variables from a formula.
    Eliminate {
        /// The variables.
        vars: Vec<Term>,
        /// The formula.
        formula: Term,
        /// Whether the quantifier is universal.
        forall: bool,
        /// Limits of its queries.
        bounds: Bounds,
    },
}

/// The limits of a call. Times are in microseconds from its start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bounds {
    /// Conflicts.
    pub conflicts: Option<u64>,
    /// Propagations.
    pub propagations: Option<u64>,
    /// The deadline.
    pub deadline: Option<u64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The time at which another thread sets the cancel flag; zero means before the call.
    pub cancel: Option<u64>,
    /// The time at which another thread opens the gate, which is closed first.
    pub gate: Option<u64>,
}

impl Bounds {
    /// Whether a clock or another thread interferes.
    pub fn is_timed(&self) -> bool {
        self.deadline.is_some() || self.cancel.is_some() || self.gate.is_some()
    }
}

/// A question to the interpolator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The wanted interpolants.
    pub shape: Shape,
    /// The options of the interpolator.
    pub options: Options,
    /// Limits of the search for an interpolant if the proof has none.
    pub bounds: Bounds,
}

/// The wanted interpolants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The interpolant of these parts against all others.
    Binary(Vec<Part>),
    /// The interpolants of all prefixes.
    Sequence(Vec<Part>),
    /// The interpolants of subtrees: parts with the positions of their parents.
    Tree(Vec<(Part, usize)>),
}

impl Call {
    /// The terms of the call.
    pub fn terms(&self) -> Vec<Term> {
        match self {
            Call::Assert(formula, _) => vec![*formula],
            Call::AssertAll(formulas) | Call::Check(formulas, _) => {
                formulas.iter().map(|&(formula, _)| formula).collect()
            }
            Call::AssertInstances(formulas, instances) => {
                let of_instances = instances.iter().flat_map(|instance| {
                    let arguments = instance.arguments.iter().flat_map(|&(symbol, term)| [symbol, term]);
                    std::iter::once(instance.formula).chain(arguments)
                });
                formulas.iter().copied().chain(of_instances).collect()
            }
            Call::Project(vars) | Call::Implicant(vars) => vars.clone(),
            Call::Eliminate { vars, formula, .. } => vars.iter().copied().chain([*formula]).collect(),
            Call::Push | Call::Pop | Call::MinimizeCore(_) | Call::Interpolate(_) => Vec::new(),
        }
    }

    /// The limits of the call, if it can have some.
    pub fn bounds_mut(&mut self) -> Option<&mut Bounds> {
        match self {
            Call::Check(_, bounds)
            | Call::MinimizeCore(bounds)
            | Call::Interpolate(Question { bounds, .. })
            | Call::Eliminate { bounds, .. } => Some(bounds),
            _ => None,
        }
    }
}

impl Trace {
    /// Whether two runs may differ, because of threads or clocks.
    pub fn is_timed(&self) -> bool {
        let threads: Vec<usize> = self.solvers.iter().map(|solver| solver.thread).collect();
        let is_timed = |call: &Call| call.clone().bounds_mut().is_some_and(|bounds| bounds.is_timed());
        threads.windows(2).any(|pair| pair[0] != pair[1]) || self.calls.iter().any(|(_, call)| is_timed(call))
    }

    // ---- writing -----------------------------------------------------------------------------------------------

    /// The trace as text.
    pub fn to_text(&self, store: &TermStore) -> String {
        let mut text = String::new();
        self.write_declarations(store, &mut text);
        for Subject { proofs, renewal, seed, thread } in &self.solvers {
            text.push_str("(solver");
            text.push_str(if *proofs { " :proofs" } else { "" });
            text.push_str(match renewal {
                Renewal::WhenCluttered => "",
                Renewal::Always => " :renewal always",
                Renewal::Never => " :renewal never",
            });
            for (keyword, number) in [(":seed", *seed), (":thread", *thread as u64)] {
                if number > 0 {
                    let _ = write!(text, " {keyword} {number}");
                }
            }
            text.push_str(")\n");
        }
        let mut current = 0;
        for (solver, call) in &self.calls {
            if *solver != current {
                current = *solver;
                let _ = writeln!(text, "(use {solver})");
            }
            text.push('(');
            write_call(store, call, &mut text);
            text.push_str(")\n");
        }
        text
    }

    fn write_declarations(&self, store: &TermStore, text: &mut String) {
        let terms: Vec<Term> = self.calls.iter().flat_map(|(_, call)| call.terms()).collect();
        let symbols = store.symbols(&terms);
        let of_functions = symbols.funs.iter().flat_map(|&fun| {
            let decl = store.fun_decl(fun);
            decl.domain.iter().copied().chain([decl.range])
        });
        let of_vars = symbols.vars.iter().map(|&var| store.sort_of(var));
        let mut sorts: Vec<Sort> = of_functions.chain(of_vars).collect();
        sorts.sort_unstable_by_key(|&sort| store.display_sort(sort).to_string());
        sorts.dedup();
        for sort in sorts {
            if matches!(store.sort_kind(sort), SortKind::Uninterpreted(..)) {
                let _ = writeln!(text, "(declare-sort {} 0)", store.display_sort(sort));
            }
        }
        let mut groups: Vec<&[Sort]> = Vec::new();
        for term in store.subterms(&terms) {
            if let Some(datatype) = store.datatype(store.sort_of(term))
                && !groups.contains(&datatype.group())
            {
                groups.push(datatype.group());
            }
        }
        groups.into_iter().for_each(|group| write_datatypes(store, group, text));
        for &fun in &symbols.funs {
            let decl = store.fun_decl(fun);
            let domain: Vec<String> =
                decl.domain.iter().map(|&sort| store.display_sort(sort).to_string()).collect();
            let (name, range) = (store.display_symbol(decl.name), store.display_sort(decl.range));
            let _ = writeln!(text, "(declare-fun {name} ({}) {range})", domain.join(" "));
        }
        for &var in &symbols.vars {
            let sort = store.display_sort(store.sort_of(var));
            let _ = writeln!(text, "(declare-var {} {sort})", store.display(var));
        }
    }

    // ---- reading -----------------------------------------------------------------------------------------------

    /// Reads a trace.
    pub fn read(store: &TermStore, text: &str) -> Result<Trace, SyntaxError> {
        let mut environment = Environment::new(store);
        let mut reader = Reader::new(store, &mut environment, text.as_bytes());
        let (mut trace, mut current) = (Trace::default(), 0);
        while let Some(name) = reader.command()? {
            match name {
                "declare-var" => _ = reader.declare_variable()?,
                "solver" => {
                    let mut subject = Subject::default();
                    while let Some(keyword) = reader.optional_keyword()? {
                        match keyword {
                            ":proofs" => subject.proofs = true,
                            ":renewal" => subject.renewal = renewal(&mut reader)?,
                            ":seed" => subject.seed = number(&mut reader)? as u64,
                            _ => subject.thread = number(&mut reader)?,
                        }
                    }
                    reader.close()?;
                    trace.solvers.push(subject);
                }
                "use" => {
                    current = number(&mut reader)?;
                    reader.close()?;
                }
                _ if reader.declaration(name)?.is_some() => {}
                _ => {
                    let call = read_call(store, &mut reader, name)?;
                    trace.calls.push((current, call));
                }
            }
        }
        if trace.calls.iter().any(|&(solver, _)| solver >= trace.solvers.len()) {
            return Err(SyntaxError::new(0, "a call goes to no solver"));
        }
        Ok(trace)
    }
}

// ---- writing -------------------------------------------------------------------------------------------------------

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("({})", items.join(" "))
}

fn terms(store: &TermStore, terms: impl IntoIterator<Item = Term>) -> String {
    list(terms.into_iter().map(|term| store.display(term).naming_from(12)))
}

fn numbers(parts: impl IntoIterator<Item = Part>) -> String {
    list(parts.into_iter().map(|Part(number)| number))
}

/// The declaration of datatypes whose fields are of other sorts than datatypes, or of the group.
fn write_datatypes(store: &TermStore, group: &[Sort], text: &mut String) {
    let names = group.iter().map(|&sort| format!("({} 0)", store.display_sort(sort)));
    let _ = write!(text, "(declare-datatypes {} (", list(names));
    for &sort in group {
        let constructors = store.datatype(sort).map_or(&[][..], |datatype| datatype.constructors());
        let constructors = constructors.iter().map(|&id| {
            let constructor = store.constructor(id);
            let fields = constructor.fields.iter().map(|&(name, sort)| {
                format!(" ({} {})", store.display_symbol(name), store.display_sort(sort))
            });
            format!("({}{})", store.display_symbol(constructor.name), fields.collect::<String>())
        });
        text.push_str(&list(constructors));
    }
    text.push_str("))\n");
}

fn write_call(store: &TermStore, call: &Call, text: &mut String) {
    let _ = match call {
        Call::Assert(formula, part) => {
            let _ = write!(text, "assert {}", store.display(*formula).naming_from(12));
            match part {
                Part(0) => Ok(()),
                Part(number) => write!(text, " :part {number}"),
            }
        }
        Call::AssertAll(formulas) => {
            text.push_str("assert-all ");
            write_in_parts(store, formulas, text);
            Ok(())
        }
        Call::AssertInstances(formulas, instances) => {
            let patterns = instances.iter().map(|instance| instance.formula);
            let (formulas, patterns) = (terms(store, formulas.iter().copied()), terms(store, patterns));
            let _ = write!(text, "assert-instances {formulas} {patterns}");
            instances.iter().try_for_each(|instance| {
                let arguments = instance.arguments.iter().flat_map(|&(symbol, term)| [symbol, term]);
                write!(text, " {}", terms(store, arguments))
            })
        }
        Call::Push => write!(text, "push"),
        Call::Pop => write!(text, "pop"),
        Call::Check(assumptions, bounds) => {
            text.push_str("check ");
            write_in_parts(store, assumptions, text);
            write_bounds(bounds, text);
            Ok(())
        }
        Call::MinimizeCore(bounds) => {
            text.push_str("minimize-core");
            write_bounds(bounds, text);
            Ok(())
        }
        Call::Interpolate(question) => {
            write_question(store, question, text);
            Ok(())
        }
        Call::Project(vars) => write!(text, "project {}", terms(store, vars.iter().copied())),
        Call::Implicant(vars) => write!(text, "implicant {}", terms(store, vars.iter().copied())),
        Call::Eliminate { vars, formula, forall, bounds } => {
            let formula = store.display(*formula).naming_from(12);
            let _ = write!(text, "eliminate {} {formula}", terms(store, vars.iter().copied()));
            text.push_str(if *forall { " :forall" } else { "" });
            write_bounds(bounds, text);
            Ok(())
        }
    };
}

fn write_in_parts(store: &TermStore, formulas: &[(Term, Part)], text: &mut String) {
    text.push_str(&terms(store, formulas.iter().map(|&(formula, _)| formula)));
    if formulas.iter().any(|&(_, part)| part != Part::default()) {
        let _ = write!(text, " :parts {}", numbers(formulas.iter().map(|&(_, part)| part)));
    }
}

fn write_bounds(bounds: &Bounds, text: &mut String) {
    let mut copy = *bounds;
    for (name, limit) in copy.by_name() {
        if let Some(limit) = limit {
            let _ = write!(text, " {name} {limit}");
        }
    }
}

impl Bounds {
    /// The limits with their keywords.
    pub fn by_name(&mut self) -> [(&'static str, &mut Option<u64>); 6] {
        [
            (":conflicts", &mut self.conflicts),
            (":propagations", &mut self.propagations),
            (":deadline", &mut self.deadline),
            (":memory", &mut self.memory),
            (":cancel", &mut self.cancel),
            (":gate", &mut self.gate),
        ]
    }
}

fn write_question(store: &TermStore, question: &Question, text: &mut String) {
    let _ = match &question.shape {
        Shape::Binary(parts) => write!(text, "interpolate binary {}", numbers(parts.iter().copied())),
        Shape::Sequence(parts) => write!(text, "interpolate sequence {}", numbers(parts.iter().copied())),
        Shape::Tree(nodes) => {
            let parts = numbers(nodes.iter().map(|&(part, _)| part));
            write!(text, "interpolate tree {parts} {}", list(nodes.iter().map(|&(_, parent)| parent)))
        }
    };
    let Options { labelling, arithmetic, equality, simplification, fallback } = &question.options;
    text.push_str(match labelling {
        Labelling::McMillan => "",
        Labelling::Pudlak => " :labelling pudlak",
        Labelling::DualMcMillan => " :labelling dual",
    });
    match arithmetic {
        Arithmetic::Farkas => {}
        Arithmetic::DualFarkas => text.push_str(" :arithmetic dual-farkas"),
        Arithmetic::Decomposed => text.push_str(" :arithmetic decomposed"),
        Arithmetic::DualDecomposed => text.push_str(" :arithmetic dual-decomposed"),
        Arithmetic::Flexible(strength) => {
            let factor = store.display(store.real(strength.factor().clone())).to_string();
            let _ = write!(text, " :flexible {factor}");
        }
    }
    text.push_str(match equality {
        Equality::Strong => "",
        Equality::Weak => " :equality weak",
    });
    match simplification {
        Simplification::Structural => {}
        Simplification::Normal => text.push_str(" :simplification normal"),
        Simplification::Solver(conflicts) => _ = write!(text, " :simplify-by {conflicts}"),
    }
    if let Fallback::Disjuncts(disjuncts) = fallback {
        let _ = write!(text, " :fallback {disjuncts}");
    }
    write_bounds(&question.bounds, text);
}

// ---- reading -------------------------------------------------------------------------------------------------------

type Read<T> = Result<T, SyntaxError>;

fn wrong<T>(reader: &Reader<'_, '_>, message: &str) -> Read<T> {
    Err(SyntaxError::new(reader.offset(), message))
}

fn number(reader: &mut Reader<'_, '_>) -> Read<usize> {
    match reader.optional_numeral()? {
        Some(number) => Ok(number),
        None => wrong(reader, "expected a numeral"),
    }
}

fn renewal(reader: &mut Reader<'_, '_>) -> Read<Renewal> {
    match reader.symbol()? {
        "always" => Ok(Renewal::Always),
        "never" => Ok(Renewal::Never),
        _ => wrong(reader, "expected always or never"),
    }
}

fn numbers_of(store: &TermStore, reader: &mut Reader<'_, '_>) -> Read<Vec<usize>> {
    let mut numbers = Vec::new();
    for term in reader.terms()? {
        let integer = store.numeral(term).and_then(Rational::to_integer);
        match integer.and_then(|integer| integer.to_usize()) {
            Some(number) => numbers.push(number),
            None => return wrong(reader, "expected numerals"),
        }
    }
    Ok(numbers)
}

fn parts_of(store: &TermStore, reader: &mut Reader<'_, '_>) -> Read<Vec<Part>> {
    Ok(numbers_of(store, reader)?.into_iter().map(|number| Part(number as u32)).collect())
}

fn read_call(store: &TermStore, reader: &mut Reader<'_, '_>, name: &str) -> Read<Call> {
    let mut call = match name {
        "assert" => Call::Assert(reader.formula()?, Part::default()),
        "assert-all" => Call::AssertAll(in_default_part(reader.terms()?)),
        "assert-instances" => {
            let (formulas, patterns) = (reader.terms()?, reader.terms()?);
            let mut instances = Vec::new();
            for formula in patterns {
                let arguments = reader.terms()?;
                let arguments = arguments.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                instances.push(Instance { formula, arguments });
            }
            Call::AssertInstances(formulas, instances)
        }
        "push" => Call::Push,
        "pop" => Call::Pop,
        "check" => Call::Check(in_default_part(reader.terms()?), Bounds::default()),
        "minimize-core" => Call::MinimizeCore(Bounds::default()),
        "interpolate" => {
            let shape = match reader.symbol()? {
                "binary" => Shape::Binary(parts_of(store, reader)?),
                "sequence" => Shape::Sequence(parts_of(store, reader)?),
                _ => {
                    let (parts, parents) = (parts_of(store, reader)?, numbers_of(store, reader)?);
                    Shape::Tree(std::iter::zip(parts, parents).collect())
                }
            };
            let options = Options { fallback: Fallback::Off, ..Options::default() };
            Call::Interpolate(Question { shape, options, bounds: Bounds::default() })
        }
        "project" => Call::Project(reader.terms()?),
        "implicant" => Call::Implicant(reader.terms()?),
        "eliminate" => Call::Eliminate {
            vars: reader.terms()?,
            formula: reader.formula()?,
            forall: false,
            bounds: Bounds::default(),
        },
        _ => return wrong(reader, "unknown call"),
    };
    while let Some(keyword) = reader.optional_keyword()? {
        read_option(store, reader, keyword, &mut call)?;
    }
    reader.close()?;
    Ok(call)
}

fn in_default_part(formulas: Vec<Term>) -> Vec<(Term, Part)> {
    formulas.into_iter().map(|formula| (formula, Part::default())).collect()
}

fn read_option(store: &TermStore, reader: &mut Reader<'_, '_>, keyword: &str, call: &mut Call) -> Read<()> {
    match (keyword, &mut *call) {
        (":part", Call::Assert(_, part)) => {
            *part = Part(number(reader)? as u32);
            return Ok(());
        }
        (":parts", Call::AssertAll(formulas) | Call::Check(formulas, _)) => {
            let parts = parts_of(store, reader)?;
            std::iter::zip(formulas, parts).for_each(|((_, part), read)| *part = read);
            return Ok(());
        }
        (":forall", Call::Eliminate { forall, .. }) => {
            *forall = true;
            return Ok(());
        }
        (_, Call::Interpolate(question)) if !is_limit(keyword) => {
            return read_interpolation(store, reader, keyword, &mut question.options);
        }
        _ => {}
    }
    let Some(bounds) = call.bounds_mut() else { return wrong(reader, "unknown option") };
    let Some((_, limit)) = bounds.by_name().into_iter().find(|(name, _)| *name == keyword) else {
        return wrong(reader, "unknown option");
    };
    *limit = Some(number(reader)? as u64);
    Ok(())
}

fn is_limit(keyword: &str) -> bool {
    Bounds::default().by_name().into_iter().any(|(name, _)| name == keyword)
}

fn read_interpolation(
    store: &TermStore,
    reader: &mut Reader<'_, '_>,
    keyword: &str,
    options: &mut Options,
) -> Read<()> {
    match keyword {
        ":fallback" => options.fallback = Fallback::Disjuncts(number(reader)?),
        ":simplify-by" => options.simplification = Simplification::Solver(number(reader)? as u64),
        ":flexible" => {
            let term = reader.term()?;
            let factor = store.numeral(store.normalize(term)).cloned().and_then(Strength::new);
            let Some(strength) = factor else { return wrong(reader, "expected a number from 0 to 1") };
            options.arithmetic = Arithmetic::Flexible(strength);
        }
        _ => match (keyword, reader.symbol()?) {
            (":labelling", "pudlak") => options.labelling = Labelling::Pudlak,
            (":labelling", "dual") => options.labelling = Labelling::DualMcMillan,
            (":arithmetic", "dual-farkas") => options.arithmetic = Arithmetic::DualFarkas,
            (":arithmetic", "decomposed") => options.arithmetic = Arithmetic::Decomposed,
            (":arithmetic", "dual-decomposed") => options.arithmetic = Arithmetic::DualDecomposed,
            (":equality", "weak") => options.equality = Equality::Weak,
            (":simplification", "normal") => options.simplification = Simplification::Normal,
            _ => return wrong(reader, "unknown option"),
        },
    }
    Ok(())
}
