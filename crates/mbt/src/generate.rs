//! Random traces.
//!
//! Each trace has a language, a number of parts, some solvers, and weights for the kinds of calls, so traces differ in
//! emphasis. Requests for evidence follow each query, whatever its answer will be; the runner skips those that do not
//! fit the answer.

use shofar_logic::number::{Integer, Rational};
use shofar_logic::{Sort, Term, TermStore};
use shofar_smt::interpolate::farkas::Strength;
use shofar_smt::interpolate::{Arithmetic, Equality, Fallback, Labelling, Options, Simplification};
use shofar_smt::proof::Part;
use shofar_smt::renewal::Renewal;
use shofar_smt::solver::Instance;
use shofar_testing::Random;

use crate::formulas::{Formulas, Language};
use crate::trace::{Bounds, Call, Question, Shape, Subject, Trace};

/// The text of the trace with this seed.
pub fn generate(seed: u64) -> String {
    let store = TermStore::new();
    let mut random = Random::new(seed);
    let parts = 1 + random.below(5) as u32;
    let language = Language::some(&mut random);
    let formulas = Formulas::new(&store, language, parts, &mut random);
    let solvers = solvers(&mut random);
    let frequency = [(); 4].map(|()| 1 + random.below(6));
    let mut generator = Generator {
        store: &store,
        frequency,
        formulas,
        parts,
        is_limited: random.below(3) == 0,
        random,
        trace: Trace { solvers, calls: Vec::new() },
    };
    generator.run();
    generator.trace.to_text(&store)
}

/// One solver, or several, in one thread or in two.
fn solvers(random: &mut Random) -> Vec<Subject> {
    let threads: &[usize] = match random.below(10) {
        0 => &[0, 0],
        1 => &[0, 1],
        2 => &[0, 1, 0, 1],
        _ => &[0],
    };
    let mut some = |thread: usize| Subject {
        proofs: random.below(2) == 0,
        renewal: match random.below(4) {
            0 => Renewal::Always,
            1 => Renewal::Never,
            _ => Renewal::WhenCluttered,
        },
        seed: (random.below(2) * random.below(100)) as u64,
        thread,
    };
    threads.iter().map(|&thread| some(thread)).collect()
}

struct Generator<'s> {
    store: &'s TermStore,
    formulas: Formulas<'s>,
    /// The frequencies of single assertions, joint assertions, queries, and opening or closing frames.
    frequency: [usize; 4],
    parts: u32,
    /// Whether calls may have limits.
    is_limited: bool,
    random: Random,
    trace: Trace,
}

impl Generator<'_> {
    fn run(&mut self) {
        let solvers = self.trace.solvers.len();
        if self.random.below(3) > 0 {
            let bounds = self.formulas.bounds(&mut self.random);
            for solver in 0..solvers {
                self.extend(solver, bounds.iter().map(|&(bound, part)| Call::Assert(bound, Part(part))));
            }
        }
        let rounds = 3 + self.random.below(8) + self.random.below(2) * self.random.below(30);
        for _ in 0..rounds * solvers {
            let solver = self.random.below(solvers);
            let calls = self.calls();
            self.extend(solver, calls);
        }
    }

    fn extend(&mut self, solver: usize, calls: impl IntoIterator<Item = Call>) {
        self.trace.calls.extend(calls.into_iter().map(|call| (solver, call)));
    }

    /// The next call or calls.
    fn calls(&mut self) -> Vec<Call> {
        let [single, together, query, frame] = self.frequency;
        let choice = self.random.below(single + together + 2 * query + frame);
        if choice < single {
            let (formula, part) = self.in_part();
            return vec![Call::Assert(formula, part)];
        }
        if choice < single + together {
            return vec![self.assert_together()];
        }
        if choice < single + together + frame {
            return vec![if self.random.below(5) < 3 { Call::Push } else { Call::Pop }];
        }
        if self.random.below(12) == 0 {
            return vec![self.elimination()];
        }
        self.query()
    }

    fn in_part(&mut self) -> (Term, Part) {
        let part = self.random.below(self.parts as usize) as u32;
        (self.formulas.formula(part, &mut self.random), Part(part))
    }

    /// Equations that define symbols, and formulas.
    fn batch(&mut self) -> Vec<(Term, Part)> {
        let mut batch = Vec::new();
        for _ in 0..self.random.below(4) {
            let part = self.random.below(self.parts as usize) as u32;
            batch.push((self.formulas.equation(part, &mut self.random), Part(part)));
        }
        for _ in 0..self.random.below(3) {
            batch.push(self.in_part());
        }
        batch
    }

    fn assert_together(&mut self) -> Call {
        let batch = self.batch();
        match self.random.below(3) {
            0 => Call::AssertAll(batch),
            1 => Call::AssertAll(batch.into_iter().map(|(formula, _)| (formula, Part::default())).collect()),
            _ => {
                let instances = (0..self.random.below(3)).map(|_| self.instance()).collect();
                Call::AssertInstances(batch.into_iter().map(|(formula, _)| formula).collect(), instances)
            }
        }
    }

    /// A formula with terms substituted for its symbols.
    fn instance(&mut self) -> Instance {
        let part = self.random.below(self.parts as usize) as u32;
        let formula = match self.random.below(2) {
            0 => self.formulas.formula(part, &mut self.random),
            _ => self.formulas.equation(part, &mut self.random),
        };
        let symbols = self.store.subterms(&[formula]).into_iter();
        let symbols: Vec<Term> = symbols.filter(|&term| self.store.is_symbol(term)).collect();
        let arguments = symbols.into_iter().map(|symbol| {
            let sort = self.store.sort_of(symbol);
            (symbol, self.formulas.argument(sort, part, &mut self.random))
        });
        Instance { formula, arguments: arguments.collect() }
    }

    fn query(&mut self) -> Vec<Call> {
        let most = if self.random.below(6) == 0 { 15 } else { 6 };
        let count = self.random.below(2) * self.random.below(most);
        let mut assumptions: Vec<(Term, Part)> = (0..count).map(|_| self.in_part()).collect();
        let circle = self.circle();
        let is_circle = !circle.is_empty();
        assumptions.extend(circle);
        let bounds = self.bounds();
        let mut calls = vec![Call::Check(assumptions.clone(), bounds)];
        if bounds != Bounds::default() && self.random.below(3) > 0 {
            calls.push(Call::Check(assumptions, Bounds::default()));
        }
        if is_circle || self.random.below(3) == 0 {
            calls.push(Call::Interpolate(self.question()));
        }
        if (count > 0 || is_circle) && self.random.below(3) == 0 {
            calls.push(Call::MinimizeCore(self.core_bounds()));
        }
        if self.random.below(3) == 0 {
            calls.push(Call::Interpolate(self.question()));
        }
        if self.random.below(6) == 0 {
            calls.push(Call::Project(self.formulas.some_symbols(&mut self.random)));
        }
        if self.random.below(12) == 0 {
            calls.push(Call::Implicant(self.formulas.some_symbols(&mut self.random)));
        }
        calls
    }

    /// Occasionally, a cycle of comparisons of reals or integers.
    fn circle(&mut self) -> Vec<(Term, Part)> {
        let Language { integers, reals, .. } = self.formulas.language;
        let sort = match (reals, integers) {
            (false, false) => return Vec::new(),
            (true, false) => Sort::REAL,
            (false, true) => Sort::INT,
            (true, true) => [Sort::REAL, Sort::INT][self.random.below(2)],
        };
        if self.random.below(5) > 0 {
            return Vec::new();
        }
        let circle = self.formulas.circle(sort, &mut self.random);
        circle.into_iter().map(|(formula, part)| (formula, Part(part))).collect()
    }

    /// The limits of a minimisation. A few conflicts decide some of its queries and not others.
    fn core_bounds(&mut self) -> Bounds {
        match self.random.below(3) {
            0 => Bounds { conflicts: Some(self.random.below(4) as u64), ..Bounds::default() },
            _ => self.bounds(),
        }
    }

    /// Limits, mostly none.
    fn bounds(&mut self) -> Bounds {
        let mut bounds = Bounds::default();
        if !self.is_limited || self.random.below(2) == 0 {
            return bounds;
        }
        let random = &mut self.random;
        match random.below(9) {
            0..=2 => bounds.conflicts = Some(random.below(6) as u64),
            3 | 4 => bounds.propagations = Some(random.below(120) as u64),
            5 => bounds.deadline = Some(random.below(400) as u64),
            6 => bounds.memory = Some([1, u64::MAX][random.below(2)].min(1 << 50)),
            7 => bounds.cancel = Some((random.below(2) * random.below(400)) as u64),
            _ => {
                bounds.gate = Some(random.below(300) as u64);
                bounds.cancel = Some(random.below(300) as u64);
            }
        }
        bounds
    }

    fn question(&mut self) -> Question {
        let mut order: Vec<Part> = (0..self.parts).map(Part).collect();
        let random = &mut self.random;
        if random.below(3) == 0 {
            random.shuffle(&mut order);
        }
        let shape = match random.below(4) {
            0 | 1 => Shape::Binary(order.iter().copied().filter(|_| random.below(2) == 0).collect()),
            2 => Shape::Sequence(order),
            _ => {
                let last = order.len() - 1;
                let parents = order.into_iter().enumerate().map(|(at, part)| {
                    let parent = if at == last { at + 1 } else { at + 1 + random.below(last - at) };
                    (part, parent)
                });
                Shape::Tree(parents.collect())
            }
        };
        let arithmetic = match random.below(7) {
            0..=2 => Arithmetic::Farkas,
            3 => Arithmetic::DualFarkas,
            4 => Arithmetic::Decomposed,
            5 => Arithmetic::DualDecomposed,
            _ => {
                let factor = Rational::new(random.between(0, 4).into(), Integer::from(4));
                Arithmetic::Flexible(Strength::new(factor).expect("it is from zero to one"))
            }
        };
        let options = Options {
            labelling: [Labelling::McMillan, Labelling::Pudlak, Labelling::DualMcMillan][random.below(3)],
            arithmetic,
            equality: [Equality::Strong, Equality::Strong, Equality::Weak][random.below(3)],
            simplification: match random.below(6) {
                0 => Simplification::Normal,
                1 => Simplification::Solver(random.below(50) as u64),
                _ => Simplification::Structural,
            },
            fallback: if random.below(2) == 0 { Fallback::Off } else { Fallback::Disjuncts(40) },
        };
        Question { shape, options, bounds: self.bounds() }
    }

    fn elimination(&mut self) -> Call {
        let (formula, _) = self.in_part();
        let mut vars = self.formulas.some_symbols(&mut self.random);
        let inside = self.store.subterms(&[formula]);
        vars.retain(|var| inside.contains(var));
        vars.truncate(2);
        let forall = self.random.below(3) == 0;
        Call::Eliminate { vars, formula, forall, bounds: self.bounds() }
    }
}
