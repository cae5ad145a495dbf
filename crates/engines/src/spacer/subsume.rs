//! Subsume: one cube that contains those of a cluster, and their continuation.
//!
//! Let the lemmas of a cluster exclude the cubes `form_1 <= v_1, form_2 >= v_2, ..`, with the numbers of each lemma for
//! `v`. These numbers are points `p_0, p_1, ..`, the oldest first. The guess replaces `v` by any point of the cone in
//! which the cluster has grown,
//!
//! ```text
//! exists w_1 >= 0, w_2 >= 0, ..   form_i <= (p_0 + w_1 (p_1 - p_0) + w_2 (p_2 - p_0) + ..)_i   for all i
//! ```
//!
//! and the weights are eliminated: by equations that determine them (Gauss), the rest by combining bounds (Fourier and
//! Motzkin, `shofar_logic::fourier_motzkin`), where a combination of more rows than weights demand is redundant
//! (Kohler). Members are few, and so are weights; the computation is exact and needs no solver.
//!
//! - S1: the guess contains the cubes of all members: each corresponds to one weight.
//! - S2: linear relations between the points of all members are kept. So `x <= 1, y >= 1` and `x <= 2, y >= 2` and so
//!   on become `x <= y`, and in more dimensions all equations of the points' affine hull are found in that way.
//! - S3: if an integer form equals a number in each member, and all these numbers have the same residue by a modulus, a
//!   second guess adds this residue. It contains the cubes as well, and is smaller.
//!
//! H. G. V. K., Y. Chen, S. Shoham, A. Gurfinkel, "Global guidance for local generalization in model checking" (CAV
//! 2020), section 4. They take the points of the convex hull. A hull ends where the cluster does, so the next lemma
//! lies outside again; a cone continues. They also project weights by a model, and drop literals that do not hold for
//! the whole closure with a solver.

use shofar_logic::fourier_motzkin::{Inequality, sides};
use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Term, TermStore};
use shofar_smt::project::simplify_cube;

use super::guidance::{Shape, compare, conjecture};

/// The maximal number of rows in elimination.
const MOST_ROWS: usize = 64;

/// Cubes that contain those of all members and their continuation, the smaller one first. Empty if members differ in
/// only one literal, or have nothing in common.
pub(super) fn subsume(store: &TermStore, shapes: &[Shape], members: &[Vec<Rational>]) -> Vec<Vec<Term>> {
    let Some(cone) = Cone::of(store, shapes, members) else { return Vec::new() };
    let residues = cone.residues(store, members);
    let Some(closure) = cone.eliminate(store) else { return Vec::new() };
    let mut cube = conjecture(store, shapes, members);
    cube.extend(closure);
    simplify_cube(store, &mut cube);
    let mut guesses = Vec::new();
    if !residues.is_empty() {
        guesses.push([cube.as_slice(), residues.as_slice()].concat());
    }
    guesses.push(cube);
    guesses
}

/// A summand: weights come first, then forms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Summand {
    Weight(usize),
    Form(Term),
}

/// A bound, and the set of initial bounds that it combines.
struct Row {
    inequality: Inequality<Summand>,
    parents: u64,
}

impl Row {
    fn coefficient(&self, weight: usize) -> Rational {
        self.inequality.poly.coefficient(Summand::Weight(weight))
    }
}

/// A sum without weights as a sum of forms; `None` if it has weights or is a number.
fn without_weights(sum: &LinearPoly<Summand>) -> Option<LinearPoly> {
    let form = |(summand, factor): &(Summand, Rational)| match summand {
        Summand::Form(form) => Some((*form, factor.clone())),
        Summand::Weight(_) => None,
    };
    let forms: Option<Vec<(Term, Rational)>> = sum.terms().iter().map(form).collect();
    forms.filter(|forms| !forms.is_empty()).map(|forms| LinearPoly::from_pairs(forms, sum.constant().clone()))
}

/// The numbers of a cluster, as a first point and directions with weights, and the relations of the forms to them.
struct Cone {
    /// The sort of all forms.
    sort: Sort,
    /// Sums that are zero.
    equations: Vec<LinearPoly<Summand>>,
    /// The positions and forms of equations.
    equal: Vec<(usize, Term)>,
    bounds: Vec<Inequality<Summand>>,
    weights: usize,
}

impl Cone {
    /// `None` if members differ in only one literal, or there are forms of both sorts.
    fn of(store: &TermStore, shapes: &[Shape], members: &[Vec<Rational>]) -> Option<Self> {
        let first = members.first()?;
        let differs = |&at: &usize| members.iter().any(|member| member[at] != first[at]);
        let varying: Vec<usize> = (0..shapes.len()).filter(differs).collect();
        let &[reference, _, ..] = varying.as_slice() else { return None };
        let sort = store.sort_of(form(shapes[reference])?);
        let directions = directions(&varying, members);
        let weights = directions.len();
        let mut cone = Cone { sort, equations: Vec::new(), equal: Vec::new(), bounds: Vec::new(), weights };
        for (column, &at) in varying.iter().enumerate() {
            let form = form(shapes[at])?;
            if store.sort_of(form) != sort {
                return None;
            }
            let (is_upper, is_strict) = match shapes[at] {
                Shape::Upper { is_strict, .. } => (true, is_strict),
                Shape::Lower { is_strict, .. } => (false, is_strict),
                Shape::Other(_) => return None,
            };
            let opposite = match is_upper {
                true => Shape::Lower { form, is_strict: false },
                false => Shape::Upper { form, is_strict: false },
            };
            let meets = |&other: &usize| {
                shapes[other] == opposite && members.iter().all(|member| member[other] == member[at])
            };
            let is_equal = !is_strict && varying.iter().any(meets);
            if is_equal && !is_upper {
                continue;
            }
            // form - first - sum of direction * weight is at most zero, or at least.
            let form_sum = LinearPoly::from_term(store, form);
            let forms = form_sum.terms().iter().map(|(form, factor)| (Summand::Form(*form), factor.clone()));
            let along = directions.iter().enumerate();
            let along = along.map(|(weight, along)| (Summand::Weight(weight), -along[column].clone()));
            let mut poly =
                LinearPoly::from_pairs(along.chain(forms).collect(), form_sum.constant() - &first[at]);
            if !is_upper {
                poly.scale(&-Rational::ONE);
            }
            if is_equal {
                cone.equations.push(poly);
                cone.equal.push((at, form));
            } else {
                cone.bounds.push(Inequality { poly, is_strict });
            }
        }
        for weight in 0..weights {
            let poly =
                LinearPoly::from_pairs(vec![(Summand::Weight(weight), -Rational::ONE)], Rational::ZERO);
            cone.bounds.push(Inequality { poly, is_strict: false });
        }
        Some(cone)
    }

    /// The residues of equal forms in all members (S3).
    fn residues(&self, store: &TermStore, members: &[Vec<Rational>]) -> Vec<Term> {
        if self.sort != Sort::INT {
            return Vec::new();
        }
        let residue = |&(at, form): &(usize, Term)| {
            let first = members.first()?[at].to_integer()?;
            let numbers = members.iter().map(|member| &member[at] - &Rational::from(first.clone()));
            let modulus =
                numbers.fold(Rational::ZERO, |modulus, number| modulus.gcd(&number)).to_integer()?;
            let residue = first.checked_div_rem_euclid(&modulus)?.1;
            let literal = store.eq(store.modulo(form, store.int(modulus)), store.int(residue));
            (literal != Term::TRUE).then_some(literal)
        };
        self.equal.iter().filter_map(residue).collect()
    }

    /// The implied literals without weights. `None` if elimination needs too many rows.
    fn eliminate(mut self, store: &TermStore) -> Option<Vec<Term>> {
        for weight in (0..self.weights).map(Summand::Weight) {
            let Some(found) = self.equations.iter().position(|sum| !sum.coefficient(weight).is_zero()) else {
                continue;
            };
            let equation = self.equations.swap_remove(found);
            let bounds = self.bounds.iter_mut().map(|bound| &mut bound.poly);
            self.equations.iter_mut().chain(bounds).for_each(|sum| sum.cancel(weight, &equation));
        }
        if self.bounds.len() > MOST_ROWS {
            return None;
        }
        let numbered = self.bounds.into_iter().enumerate();
        let mut rows: Vec<Row> =
            numbered.map(|(index, inequality)| Row { inequality, parents: 1 << index }).collect();
        let mut eliminated = 0;
        while let Some(weight) = next_weight(&rows, self.weights) {
            eliminated += 1;
            rows = resolve_all(rows, weight, eliminated);
            if rows.len() > MOST_ROWS {
                return None;
            }
        }
        let sort = self.sort;
        let equations = self.equations.iter().filter_map(|sum| {
            let (primitive, _) = without_weights(sum)?.factored();
            let zero = LinearPoly::default().to_term(store, sort);
            Some(store.eq(store.normalize(primitive.to_term(store, sort)), zero))
        });
        let bounds = rows.iter().filter_map(|Row { inequality, .. }| {
            Some(compare(store, without_weights(&inequality.poly)?, sort, inequality.is_strict))
        });
        Some(equations.chain(bounds).collect())
    }
}

/// The form of a bound.
fn form(shape: Shape) -> Option<Term> {
    match shape {
        Shape::Upper { form, .. } | Shape::Lower { form, .. } => Some(form),
        Shape::Other(_) => None,
    }
}

/// The directions from the first member to the others at the given positions, up to a positive factor, without
/// duplicates.
fn directions(varying: &[usize], members: &[Vec<Rational>]) -> Vec<Vec<Rational>> {
    let mut directions = Vec::new();
    let Some((first, others)) = members.split_first() else { return directions };
    for member in others {
        let mut along: Vec<Rational> = varying.iter().map(|&at| &member[at] - &first[at]).collect();
        let content = along.iter().fold(Rational::ZERO, |content, number| content.gcd(number));
        if content.is_zero() {
            continue;
        }
        along.iter_mut().for_each(|number| *number = &*number / &content);
        if !directions.contains(&along) {
            directions.push(along);
        }
    }
    directions
}

/// The weight whose elimination makes the fewest rows; `None` if none is left.
fn next_weight(rows: &[Row], weights: usize) -> Option<usize> {
    let occurs = |&weight: &usize| rows.iter().any(|row| !row.coefficient(weight).is_zero());
    let pairs = |&weight: &usize| {
        let above = rows.iter().filter(|row| row.coefficient(weight).is_positive()).count();
        let below = rows.iter().filter(|row| row.coefficient(weight).is_negative()).count();
        above * below
    };
    (0..weights).filter(occurs).min_by_key(pairs)
}

/// Eliminates a weight from bounds. `eliminated` counts the eliminated weights, including this one.
fn resolve_all(rows: Vec<Row>, weight: usize, eliminated: u32) -> Vec<Row> {
    let (concerned, mut others): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| !row.coefficient(weight).is_zero());
    let bounds = concerned.iter().filter_map(|row| {
        let (side, bound) = row.inequality.bound_of(Summand::Weight(weight))?;
        Some((side, (bound, row.parents)))
    });
    let (lower, upper) = sides(bounds);
    for (high, above) in &upper {
        for (low, below) in &lower {
            let parents = above | below;
            // Other combinations follow from rows with fewer parents.
            if parents.count_ones() <= eliminated + 1 {
                let mut inequality = low.meets(high);
                // Keeps numbers from growing from weight to weight.
                let content = inequality.poly.content();
                if !content.is_zero() {
                    inequality.poly.scale(&content.recip());
                }
                others.push(Row { inequality, parents });
            }
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use shofar_run::Limits;
    use shofar_smt::project::{Bounds, Status, eliminate};
    use shofar_smt::sat::Outcome;
    use shofar_smt::solver::Solver;

    use super::super::guidance::literal;

    fn upper(form: Term) -> Shape {
        Shape::Upper { form, is_strict: false }
    }

    fn lower(form: Term) -> Shape {
        Shape::Lower { form, is_strict: false }
    }

    fn points<const N: usize>(members: &[[i64; N]]) -> Vec<Vec<Rational>> {
        members.iter().map(|member| member.map(Rational::from).to_vec()).collect()
    }

    fn variables<const N: usize>(store: &TermStore, names: [&str; N], sort: Sort) -> [Term; N] {
        names.map(|name| store.var(store.symbol(name), sort))
    }

    fn follows(store: &TermStore, premises: &[Term], conclusion: Term) -> bool {
        let mut solver = Solver::new(store);
        solver.assert(store.not(conclusion)).expect("it is linear");
        solver.check(premises, &Limits::default()).expect("it is linear") == Outcome::Unsat
    }

    #[test]
    fn numbers_in_a_plane_become_a_relation() {
        let store = TermStore::new();
        let [x, y, z] = variables(&store, ["x", "y", "z"], Sort::INT);
        let shapes = [upper(x), upper(y), lower(z)];
        let members = points(&[[0, 0, 0], [1, 0, 1], [0, 1, 1], [2, 1, 3]]);
        let guesses = subsume(&store, &shapes, &members);
        let [guess] = guesses.as_slice() else { panic!("{guesses:?}") };
        let difference = store.sub(store.add(&[x, y]), z);
        assert!(guess.contains(&store.le(difference, store.int(0))), "{guess:?}");
        assert!(guess.contains(&store.ge(z, store.int(0))));
        assert!(!guess.contains(&Term::FALSE));
    }

    #[test]
    fn equations_have_residues() {
        let store = TermStore::new();
        let [x, y] = variables(&store, ["x", "y"], Sort::INT);
        let shapes = [upper(x), upper(y), lower(x)];
        let members = points(&[[3, 0, 3], [7, 1, 7], [5, 4, 5], [9, 2, 9]]);
        let [small, large] = subsume(&store, &shapes, &members).try_into().expect("one without residues");
        assert!(small.contains(&store.eq(store.modulo(x, store.int(2)), store.int(1))));
        assert_eq!(small.len(), large.len() + 1);
        assert!(large.contains(&store.ge(x, store.int(3))), "{large:?}");
    }

    #[test]
    fn points_in_general_position_suggest_nothing() {
        let store = TermStore::new();
        let [x, y] = variables(&store, ["x", "y"], Sort::REAL);
        let members = points(&[[0, 0], [1, 5], [2, 7], [3, 8]]);
        assert_eq!(subsume(&store, &[upper(x), upper(y)], &members), [vec![]]);
        assert!(subsume(&store, &[upper(x), upper(y)], &points(&[[1, 1]; 4])).is_empty());
        assert!(subsume(&store, &[upper(x), upper(y)], &points(&[[1, 1], [2, 1]])).is_empty());
    }

    /// S1, and that elimination is exact: compares with weights as variables that projection eliminates.
    #[test]
    fn closures_contain_all_members_and_are_exact() {
        let store = TermStore::new();
        let mut state = 7_u64;
        let mut random = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((state >> 33) % bound).expect("a few")
        };
        let mut nontrivial = 0;
        for round in 0..40 {
            let sort = if round % 2 == 0 { Sort::REAL } else { Sort::INT };
            let [x, y, z] = variables(&store, ["x", "y", "z"], sort);
            let shapes = [upper(x), Shape::Upper { form: y, is_strict: round % 3 == 0 }, lower(z), lower(x)];
            let is_equal = round % 4 < 2;
            let members: Vec<Vec<Rational>> = (0..4)
                .map(|_| {
                    let [a, b] = [random(3), random(4)];
                    let last = if is_equal { a } else { b - a };
                    [a, b, a + 2 * b, last].map(Rational::from).to_vec()
                })
                .collect();
            for guess in subsume(&store, &shapes, &members) {
                let whole = store.and(&guess);
                for member in &members {
                    let pairs = shapes.iter().zip(member);
                    let cube: Vec<Term> =
                        pairs.map(|(&shape, number)| literal(&store, shape, number)).collect();
                    assert!(follows(&store, &cube, whole), "S1 in round {round}");
                }
                if sort == Sort::INT {
                    continue;
                }
                nontrivial += usize::from(!guess.is_empty());
                let weights = variables(&store, ["u", "v", "w"], sort);
                let mut parts: Vec<Term> = weights.iter().map(|&w| store.ge(w, store.real(0))).collect();
                for (at, &shape) in shapes.iter().enumerate() {
                    let first = &members[0][at];
                    let steps = weights.iter().zip(&members[1..]);
                    let steps = steps.map(|(&w, member)| store.mul(&[store.real(&member[at] - first), w]));
                    let sum: Vec<Term> = steps.chain([store.real(first.clone())]).collect();
                    let difference = |form: Term| store.sub(form, store.add(&sum));
                    let zero = store.real(0);
                    parts.push(match shape {
                        Shape::Upper { form, is_strict: true } => store.lt(difference(form), zero),
                        Shape::Upper { form, is_strict: false } => store.le(difference(form), zero),
                        Shape::Lower { form, .. } => store.ge(difference(form), zero),
                        Shape::Other(_) => panic!("all are bounds"),
                    });
                }
                let slow = eliminate(&store, store.and(&parts), &weights, &Bounds::default());
                let slow = slow.expect("reals can be eliminated");
                assert_eq!(slow.status, Status::Complete);
                assert!(follows(&store, &[whole], slow.formula), "round {round}");
                assert!(follows(&store, &[slow.formula], whole), "round {round}");
            }
        }
        assert!(nontrivial > 5);
    }
}
