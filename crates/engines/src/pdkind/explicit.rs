//! PD-KIND on systems with a dozen states, where sets are bit masks and every answer can be computed.
//!
//! Interpolants and generalisations are drawn at random from all that the contract of [`Domain`] permits, which a
//! solver would never do. Answers are compared with the reachable states, and the invariants are checked after each
//! rule. The same test exposes the errors printed in the literature: `tamper` makes them after the rule in question, or
//! the domain breaks its contract accordingly.

use shofar_run::Stop;
use shofar_testing::{Random, scale};

use super::domain::{Domain, Image};
use super::ice::{Ice, Rule, Status};
use super::{Depth, Order};

/// A random set between two others.
fn between(random: &mut Random, least: u32, greatest: u32) -> u32 {
    assert_eq!(least & !greatest, 0);
    let optional = greatest & !least;
    least | (optional & (random.below(1 << 15) as u32))
}

fn member(random: &mut Random, set: u32) -> u32 {
    let members: Vec<u32> = (0..32).map(|state| 1 << state).filter(|state| set & state != 0).collect();
    *random.choose(&members)
}

const STATES: usize = 14;
const ALL: u32 = (1 << STATES) - 1;

/// The errors printed in the literature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Erratum {
    /// Sets learnt for more than zero steps need not contain the initial states.
    NoInitialStates,
    /// Bad-Lemma searches for the start of the path instead of the complement of the lemma.
    StartForLemma,
    /// The next level is `n + n_cti`.
    LevelsAdded,
    /// Bad-Lemma takes some number of steps after which the lemma is false, not the first one.
    NotTheFirst,
}

struct Explicit {
    random: Random,
    init: u32,
    /// Indexed by state.
    successors: Vec<u32>,
    erratum: Option<Erratum>,
    // The current level.
    steps: usize,
    frame: u32,
    /// The last generalisation.
    start: u32,
}

impl Explicit {
    /// A random system with a long chain, so that bad states are reached late.
    fn new(seed: u64, erratum: Option<Erratum>) -> (Self, u32) {
        let mut random = Random::new(seed);
        let successors = (0..STATES)
            .map(|state| {
                let mut to = 0;
                if state + 1 < STATES && random.chance(90) {
                    to |= 1 << (state + 1);
                }
                for other in 0..STATES {
                    if random.chance(if other <= state { 12 } else { 2 }) {
                        to |= 1 << other;
                    }
                }
                to
            })
            .collect();
        let init = if random.chance(70) { 1 } else { 1 | 1 << (1 + random.below(3)) };
        let mut bad = 1 << (STATES / 2 + random.below(STATES / 2));
        if random.chance(50) {
            bad |= 1 << (STATES / 2 + random.below(STATES / 2));
        }
        (Explicit { random, init, successors, erratum, steps: 0, frame: ALL, start: 0 }, bad)
    }

    fn post(&self, set: u32) -> u32 {
        let members = (0..STATES).filter(|state| set & 1 << state != 0);
        members.fold(0, |all, state| all | self.successors[state])
    }

    fn pre(&self, set: u32) -> u32 {
        let leads_there = |state: &usize| self.successors[*state] & set != 0;
        (0..STATES).filter(leads_there).fold(0, |all, state| all | 1 << state)
    }

    /// The states reached in exactly the given number of steps.
    fn layer(&self, steps: usize) -> u32 {
        (0..steps).fold(self.init, |set, _| self.post(set))
    }
}

impl Domain for Explicit {
    type Set = u32;
    /// The first and the last state.
    type Path = (u32, u32);

    fn poll(&mut self) -> Result<(), Stop> {
        Ok(())
    }

    fn complement(&mut self, set: u32) -> u32 {
        ALL & !set
    }

    fn intersection(&mut self, first: u32, second: u32) -> u32 {
        first & second
    }

    fn initial(&mut self, goal: u32) -> Result<Image<u32>, Stop> {
        Ok(if self.init & goal != 0 {
            Image::Meets(goal)
        } else {
            Image::Apart(between(&mut self.random, self.init, ALL & !goal))
        })
    }

    fn image(&mut self, frame: &[u32], goal: u32) -> Result<Image<u32>, Stop> {
        let frame = frame.iter().fold(ALL, |all, set| all & set);
        let predecessors = self.pre(goal);
        if frame & predecessors != 0 {
            let one = member(&mut self.random, frame & predecessors);
            return Ok(Image::Meets(between(&mut self.random, one, predecessors)));
        }
        let mut least = self.post(frame);
        match self.erratum {
            Some(Erratum::NoInitialStates) => {}
            // With an error elsewhere R2 need not hold.
            Some(_) => least |= self.init & !goal,
            None => {
                assert_eq!(self.init & goal, 0, "R2");
                least |= self.init;
            }
        }
        Ok(Image::Apart(between(&mut self.random, least, ALL & !goal)))
    }

    fn open_level(&mut self, steps: usize, frame: &[u32]) -> Result<(), Stop> {
        self.steps = steps;
        self.frame = frame.iter().fold(ALL, |all, set| all & set);
        Ok(())
    }

    fn restrict(&mut self, set: u32) -> Result<(), Stop> {
        self.frame &= set;
        Ok(())
    }

    fn path_to(&mut self, set: u32) -> Result<Option<(u32, u32)>, Stop> {
        let mut backwards = vec![set];
        for _ in 0..self.steps {
            let before = self.pre(backwards[backwards.len() - 1]) & self.frame;
            backwards.push(before);
        }
        let starts = backwards[self.steps];
        if starts == 0 {
            return Ok(None);
        }
        let start = member(&mut self.random, starts);
        let mut at = start;
        for next in backwards.iter().rev().skip(1) {
            let to = self.post(at) & next;
            at = member(&mut self.random, to);
        }
        Ok(Some((start, at)))
    }

    fn ends_in(&mut self, path: &(u32, u32), set: u32) -> Result<bool, Stop> {
        Ok(path.1 & set != 0)
    }

    fn generalise(&mut self, path: &(u32, u32), set: u32) -> Result<u32, Stop> {
        let starts = (0..self.steps).fold(set, |set, _| self.pre(set));
        self.start = between(&mut self.random, path.0, starts);
        Ok(self.start)
    }
}

/// The first fault of a run, or `None`.
fn fault(seed: u64, depth: Depth, order: Order, erratum: Option<Erratum>) -> Option<String> {
    let (domain, bad) = Explicit::new(seed, erratum);
    if domain.init & bad != 0 {
        return None;
    }
    let mut reached = domain.init;
    // No shortest path has more steps than there are states.
    for _ in 0..STATES {
        reached |= domain.post(reached);
    }
    let is_safe = reached & bad == 0;
    let mut ice = match Ice::new(domain, bad, depth, order) {
        Ok(ice) => ice,
        Err(stop) => return Some(stop.to_string()),
    };
    for _ in 0..20_000 {
        let (n, n_cti) = (ice.n, ice.n_cti);
        let rule = match ice.step() {
            Ok(rule) => rule,
            Err(stop) => return Some(stop.to_string()),
        };
        tamper(&mut ice, &rule, n, n_cti, erratum);
        if let Some(fault) = broken_invariant(&ice) {
            return Some(format!("{fault} after {rule:?}"));
        }
        match rule {
            Rule::Safe => {
                if !is_safe {
                    return Some("safe, but a bad state is reached".to_owned());
                }
                let frame = ice.lemmas().into_iter().fold(ALL, |all, lemma| all & lemma);
                let after = (0..ice.k).fold(frame, |set, step| {
                    let next = ice.domain.post(set);
                    if step + 1 < ice.k { next & frame } else { next }
                });
                let starts_well = (0..ice.k).all(|steps| ice.domain.layer(steps) & !frame == 0);
                let is_inductive = after & !frame == 0 && starts_well && frame & bad == 0;
                return (!is_inductive).then(|| "the frame is not k-inductive".to_owned());
            }
            Rule::Unsafe(trace) => {
                if is_safe {
                    return Some("unsafe, but no bad state is reached".to_owned());
                }
                let mut at = ice.domain.init;
                let mut length = 0;
                for (set, steps) in trace {
                    at = (0..length).fold(at, |set, _| ice.domain.post(set)) & set;
                    length = steps;
                }
                return (at & bad == 0).then(|| "the path is none".to_owned());
            }
            _ => {}
        }
    }
    Some("it does not end".to_owned())
}

/// Makes the error after the rule.
fn tamper(ice: &mut Ice<Explicit>, rule: &Rule<u32>, n: usize, n_cti: usize, erratum: Option<Erratum>) {
    match (erratum, rule) {
        (Some(Erratum::LevelsAdded), Rule::NextLevel) => {
            ice.n = n + n_cti;
            ice.n_cti = ice.n + ice.k;
        }
        (Some(Erratum::StartForLemma), Rule::BadLemma) => {
            let start = ice.domain.start;
            let found = (n + 1..=n + ice.k).find(|&steps| ice.domain.layer(steps) & start != 0);
            ice.n_cti = n_cti.min(found.unwrap_or(n + ice.k));
        }
        (Some(Erratum::NotTheFirst), Rule::BadLemma) => {
            let bad: Vec<u32> =
                ice.frame.iter().filter(|e| e.status == Status::Bad).map(|e| ALL & !e.lemma).collect();
            let last =
                (n + 1..=n + ice.k).rfind(|&steps| bad.iter().all(|set| ice.domain.layer(steps) & set != 0));
            ice.n_cti = last.map_or(ice.n_cti, |last| n_cti.min(last));
        }
        _ => {}
    }
}

/// Checks C1, C2, C3, C5 and R1.
fn broken_invariant(ice: &Ice<Explicit>) -> Option<&'static str> {
    let within = |set: u32, steps: usize| (0..=steps).all(|at| ice.domain.layer(at) & !set == 0);
    let frame = ice.lemmas().into_iter().fold(ALL, |all, lemma| all & lemma);
    let inductive = |set: u32| {
        let last = (1..ice.k).fold(frame, |at, _| ice.domain.post(at) & frame);
        ice.domain.post(last) & !set == 0
    };
    if !(1..=ice.n + 1).contains(&ice.k) {
        return Some("C1");
    }
    for element in &ice.frame {
        if !within(element.lemma, ice.n) {
            return Some("C2");
        }
        if element.status == Status::Pushed && !inductive(element.lemma) {
            return Some("C3");
        }
        if element.status == Status::Bad && !within(element.lemma, ice.n_cti - 1) {
            return Some("C5");
        }
    }
    (0..ice.fire.num_levels())
        .any(|steps| ice.fire.frame(steps).into_iter().any(|lemma| !within(lemma, steps)))
        .then_some("R1")
}

fn strategies() -> impl Iterator<Item = (Depth, Order)> + Clone {
    let depths = [Depth::Full, Depth::Growing, Depth::Fixed(1), Depth::Fixed(3)];
    let orders = [Order::Fifo, Order::Lifo, Order::Shallow];
    depths.into_iter().flat_map(move |depth| orders.map(|order| (depth, order)))
}

#[test]
fn random_systems_are_decided_rightly() {
    for (seed, (depth, order)) in (0..10_000 * scale()).zip(strategies().cycle()) {
        assert_eq!(fault(seed, depth, order, None), None, "system {seed}, {depth:?}, {order:?}");
    }
}

#[test]
fn the_printed_rules_are_wrong() {
    for erratum in
        [Erratum::NoInitialStates, Erratum::StartForLemma, Erratum::LevelsAdded, Erratum::NotTheFirst]
    {
        let mut runs = (0..10_000).zip(strategies().cycle());
        let is_seen = runs.any(|(seed, (depth, order))| fault(seed, depth, order, Some(erratum)).is_some());
        assert!(is_seen, "{erratum:?} does no harm");
    }
}
