//! Families of formulas that grow with a parameter, with their answers if known.
//!
//! | family | theory | answer |
//! |---|---|---|
//! | pigeons | propositional; no short resolution proofs | known |
//! | random 3-SAT at the threshold | propositional | unknown |
//! | chains and cycles | differences | known: a cycle is satisfiable if its weights sum up to zero or more |
//! | diamonds | differences, or equalities of any sort: few atoms, exponentially many paths | unsatisfiable |
//! | knapsacks | integers between zero and one in one equation | by dynamic programming |
//! | job shops | differences in disjunctions | by enumeration |

use shofar_logic::{Sort, Term, TermStore};

use crate::Random;

/// Formulas, with their satisfiability if it is known.
pub struct Instance {
    /// The formulas.
    pub formulas: Vec<Term>,
    /// Whether their conjunction is satisfiable.
    pub is_satisfiable: Option<bool>,
}

impl Instance {
    fn new(formulas: Vec<Term>, is_satisfiable: bool) -> Self {
        Instance { formulas, is_satisfiable: Some(is_satisfiable) }
    }
}

fn var(store: &TermStore, name: String, sort: Sort) -> Term {
    store.var(store.symbol(&name), sort)
}

/// Each pigeon sits in a hole, and no two in the same.
pub fn pigeons(store: &TermStore, pigeons: usize, holes: usize) -> Instance {
    let sits = |pigeon: usize, hole: usize| var(store, format!("p{pigeon}_{hole}"), Sort::BOOL);
    let mut formulas = Vec::new();
    for pigeon in 0..pigeons {
        formulas.push(store.or_of((0..holes).map(|hole| sits(pigeon, hole))));
        for other in 0..pigeon {
            for hole in 0..holes {
                formulas.push(store.not(store.and2(sits(pigeon, hole), sits(other, hole))));
            }
        }
    }
    Instance::new(formulas, pigeons <= holes)
}

/// Clauses of three different variables each, 4.26 times as many as variables: about half of these are satisfiable.
pub fn random_3_sat(store: &TermStore, variables: usize, seed: u64) -> Instance {
    let literal = |(variable, is_positive): (usize, bool)| {
        store.signed(var(store, format!("b{variable}"), Sort::BOOL), is_positive)
    };
    let clauses = random_3_clauses(variables, variables * 426 / 100, seed);
    let formulas = clauses.into_iter().map(|clause| store.or(&clause.map(literal))).collect();
    Instance { formulas, is_satisfiable: None }
}

/// Clauses of three different variables each, as numbers of variables and signs.
pub fn random_3_clauses(variables: usize, clauses: usize, seed: u64) -> Vec<[(usize, bool); 3]> {
    let mut random = Random::new(seed);
    let mut clause = || {
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < 3 {
            let variable = random.below(variables);
            if !chosen.contains(&variable) {
                chosen.push(variable);
            }
        }
        [0, 1, 2].map(|at| (chosen[at], random.bool()))
    };
    (0..clauses).map(|_| clause()).collect()
}

/// `x0 < x1 < ... < xn`, and `xn - x0 <= span`.
pub fn chain(store: &TermStore, length: usize, span: usize) -> Instance {
    let x = |index: usize| var(store, format!("x{index}"), Sort::INT);
    let mut formulas: Vec<Term> = (0..length).map(|index| store.lt(x(index), x(index + 1))).collect();
    formulas.push(store.le(store.sub(x(length), x(0)), store.int(span as i64)));
    Instance::new(formulas, span >= length)
}

/// `x1 - x0 <= w0`, ..., `x0 - xn <= wn` for weights that sum up to the total.
pub fn cycle(store: &TermStore, length: usize, total: i64, seed: u64) -> Instance {
    let mut random = Random::new(seed);
    let mut weights: Vec<i64> = (1..length).map(|_| random.between(-100, 100)).collect();
    weights.push(total - weights.iter().sum::<i64>());
    let x = |index: usize| var(store, format!("x{index}"), Sort::INT);
    let bound = |(index, &weight): (usize, &i64)| {
        store.le(store.sub(x((index + 1) % length), x(index)), store.int(weight))
    };
    Instance::new(weights.iter().enumerate().map(bound).collect(), total >= 0)
}

/// From each corner to the next, one of two ways: `x0 < y0 < x1` or `x0 < z0 < x1`; and back to the start.
pub fn arithmetic_diamonds(store: &TermStore, diamonds: usize) -> Instance {
    let point = |name: &str, index: usize| var(store, format!("{name}{index}"), Sort::REAL);
    let mut formulas: Vec<Term> = (0..diamonds)
        .map(|index| {
            let (from, to) = (point("x", index), point("x", index + 1));
            let way = |by: Term| store.and2(store.lt(from, by), store.lt(by, to));
            store.or2(way(point("y", index)), way(point("z", index)))
        })
        .collect();
    formulas.push(store.le(point("x", diamonds), point("x", 0)));
    Instance::new(formulas, false)
}

/// From each corner to the next, one of two ways: `x0 = y0 = x1` or `x0 = z0 = x1`; the ends differ.
pub fn equality_diamonds(store: &TermStore, diamonds: usize, sort: Sort) -> Instance {
    let point = |name: &str, index: usize| var(store, format!("{name}{index}"), sort);
    let mut formulas: Vec<Term> = (0..diamonds)
        .map(|index| {
            let (from, to) = (point("x", index), point("x", index + 1));
            let way = |by: Term| store.and2(store.eq(from, by), store.eq(by, to));
            store.or2(way(point("y", index)), way(point("z", index)))
        })
        .collect();
    formulas.push(store.not(store.eq(point("x", 0), point("x", diamonds))));
    Instance::new(formulas, false)
}

/// Some of the weights, each taken once at most, sum up to the capacity.
pub fn knapsack(store: &TermStore, items: usize, seed: u64) -> Instance {
    let mut random = Random::new(seed);
    let weights: Vec<usize> = (0..items).map(|_| 10 + random.below(90)).collect();
    let capacity = weights.iter().sum::<usize>() / 2 + random.below(3);
    let mut reachable = vec![false; capacity + 1];
    reachable[0] = true;
    for &weight in &weights {
        for sum in (weight..=capacity).rev() {
            reachable[sum] |= reachable[sum - weight];
        }
    }
    let taken = |item: usize| var(store, format!("x{item}"), Sort::INT);
    let mut formulas = Vec::new();
    let mut sum = Vec::new();
    for (item, &weight) in weights.iter().enumerate() {
        formulas.push(store.ge(taken(item), store.int(0)));
        formulas.push(store.le(taken(item), store.int(1)));
        sum.push(store.mul_const(&(weight as i64).into(), taken(item)));
    }
    formulas.push(store.eq(store.add(&sum), store.int(capacity as i64)));
    Instance::new(formulas, reachable[capacity])
}

/// A job shop: each job visits all machines in an order of its own.
pub struct JobShop {
    /// Indexed by job, in the order of their steps: machine and duration.
    jobs: Vec<Vec<(usize, usize)>>,
}

impl JobShop {
    /// Jobs with random orders and durations.
    pub fn new(jobs: usize, machines: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut job = || {
            let mut order: Vec<usize> = (0..machines).collect();
            random.shuffle(&mut order);
            order.into_iter().map(|machine| (machine, 1 + random.below(9))).collect()
        };
        JobShop { jobs: (0..jobs).map(|_| job()).collect() }
    }

    /// A sufficient time: the jobs one after the other.
    pub fn enough(&self) -> usize {
        self.jobs.iter().flatten().map(|(_, duration)| duration).sum()
    }

    /// The shortest time, by enumeration of all orders of steps on machines. For very small shops.
    pub fn optimum(&self) -> usize {
        struct State {
            next: Vec<usize>,
            job_free: Vec<usize>,
            machine_free: Vec<usize>,
        }
        let machines = self.jobs[0].len();
        let mut best = self.enough();
        let start = State {
            next: vec![0; self.jobs.len()],
            job_free: vec![0; self.jobs.len()],
            machine_free: vec![0; machines],
        };
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            let end = state.job_free.iter().copied().max().unwrap_or(0);
            if end >= best {
                continue;
            }
            let mut is_done = true;
            for (job, steps) in self.jobs.iter().enumerate() {
                let Some(&(machine, duration)) = steps.get(state.next[job]) else { continue };
                is_done = false;
                let mut after = State {
                    next: state.next.clone(),
                    job_free: state.job_free.clone(),
                    machine_free: state.machine_free.clone(),
                };
                let end = state.job_free[job].max(state.machine_free[machine]) + duration;
                after.next[job] += 1;
                after.job_free[job] = end;
                after.machine_free[machine] = end;
                open.push(after);
            }
            if is_done {
                best = end;
            }
        }
        best
    }

    /// The formula that the work takes at most this time.
    pub fn within(&self, store: &TermStore, time: usize) -> Instance {
        let start = |job: usize, step: usize| var(store, format!("s{job}_{step}"), Sort::INT);
        let end = |job: usize, step: usize, duration: usize| {
            store.add(&[start(job, step), store.int(duration as i64)])
        };
        let mut formulas = Vec::new();
        for (job, steps) in self.jobs.iter().enumerate() {
            formulas.push(store.ge(start(job, 0), store.int(0)));
            for (step, &(machine, duration)) in steps.iter().enumerate() {
                let next = if step + 1 < steps.len() { start(job, step + 1) } else { store.int(time as i64) };
                formulas.push(store.le(end(job, step, duration), next));
                for (other, others) in self.jobs[..job].iter().enumerate() {
                    let (place, &(_, length)) = others
                        .iter()
                        .enumerate()
                        .find(|(_, (visited, _))| *visited == machine)
                        .expect("every job visits all machines");
                    formulas.push(store.or2(
                        store.le(end(job, step, duration), start(other, place)),
                        store.le(end(other, place, length), start(job, step)),
                    ));
                }
            }
        }
        Instance { formulas, is_satisfiable: None }
    }
}
