//! Subsume: one cube that contains those of a cluster, and what continues them.
//!
//! Let the lemmas of a cluster exclude the cubes `form_1 <= v_1, form_2 >= v_2, ..`, with the numbers of each lemma for
//! `v`. These numbers are points `p_0, p_1, ..`, the oldest first. The guess puts no number in the place of `v` but any
//! point of the cone in which the cluster has grown,
//!
//! ```text
//! exists w_1 >= 0, w_2 >= 0, ..   form_i <= (p_0 + w_1 (p_1 - p_0) + w_2 (p_2 - p_0) + ..)_i   for all i
//! ```
//!
//! and the weights are eliminated: by equations as far as these determine them (Gauss), the rest by combining bounds
//! (Fourier and Motzkin), where a combination of more rows than weights demand is redundant (Kohler). Members are few, and
//! so are weights; all of it is exact and takes no solver.
//!
//! - S1: the guess contains the cubes of all members: each is there by one weight.
//! - S2: what is linear in the points of all members stays. So `x <= 1, y >= 1` and `x <= 2, y >= 2` and so on become
//!   `x <= y`, and in more dimensions all equations of the points' affine hull are found in that way.
//! - S3: if an integer form is equal to a number in each member, and all these numbers have the same residue by a
//!   modulus, there is a second guess that says so too. It contains the cubes as well, and is smaller.
//!
//! H. G. V. K., Y. Chen, S. Shoham, A. Gurfinkel, "Global guidance for local generalization in model checking" (CAV
//! 2020), section 4. There, the points are those of the convex hull. A hull ends where the cluster does, so that the next
//! lemma lies outside again; a cone goes on. There, moreover, weights are projected by a model, and literals that do not
//! hold of the whole closure are dropped with a solver.

use shofar_logic::number::Rational;
use shofar_logic::{LinearPoly, Sort, Term, TermStore};
use shofar_smt::project::simplify_cube;

use super::guidance::{Shape, compare, conjecture};

/// Rows that elimination may lead to.
const MOST_ROWS: usize = 64;

/// Cubes that contain those of all members, and of all that continue them: the smaller one first. None if members differ
/// in one literal only, or nothing is common to them.
pub(super) fn subsume(store: &TermStore, shapes: &[Shape], members: &[Vec<Rational>]) -> Vec<Vec<Term>> {
    let Some(cone) = Cone::of(store, shapes, members) else { return Vec::new() };
    let residues = cone.residues(store, members);
    let sort = cone.sort;
    let Some(closure) = cone.eliminate() else { return Vec::new() };
    let mut cube = conjecture(store, shapes, members);
    cube.extend(closure.into_iter().map(|row| row.literal(store, sort)));
    simplify_cube(store, &mut cube);
    let mut guesses = Vec::new();
    if !residues.is_empty() {
        guesses.push([cube.as_slice(), residues.as_slice()].concat());
    }
    guesses.push(cube);
    guesses
}

/// How a sum is related to zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Equal,
    AtMost,
    Below,
}

/// `sum of weights[j] * w_j + rest`, related to zero.
#[derive(Clone, Debug)]
struct Row {
    weights: Vec<Rational>,
    rest: LinearPoly,
    relation: Relation,
    /// The rows of the beginning that it is a combination of, as a set.
    parents: u64,
}

impl Row {
    /// Adds a multiple of another row. The factor is positive unless that is an equation.
    fn add_scaled(&mut self, other: &Row, factor: &Rational) {
        for (weight, added) in self.weights.iter_mut().zip(&other.weights) {
            weight.add_mul(factor, added);
        }
        self.rest.add_scaled(&other.rest, factor);
        self.parents |= other.parents;
        if other.relation == Relation::Below {
            self.relation = Relation::Below;
        }
    }

    /// The row without a weight, by an equation in which it occurs.
    fn cancel(&mut self, equation: &Row, weight: usize) {
        if !self.weights[weight].is_zero() {
            let factor = -(&self.weights[weight] / &equation.weights[weight]);
            self.add_scaled(equation, &factor);
        }
    }

    /// The combination of a row in which a weight is bounded from above with one in which it is bounded from below.
    fn resolve(&self, below: &Row, weight: usize) -> Row {
        let mut row = self.clone();
        row.add_scaled(below, &-(&self.weights[weight] / &below.weights[weight]));
        row
    }

    /// The literal that a row without weights is.
    fn literal(&self, store: &TermStore, sort: Sort) -> Term {
        match self.relation {
            Relation::Equal => {
                let (primitive, _) = self.rest.clone().factored();
                let zero = if sort == Sort::INT { store.int(0) } else { store.real(0) };
                store.eq(store.normalize(primitive.to_term(store, sort)), zero)
            }
            relation => compare(store, self.rest.clone(), sort, relation == Relation::Below),
        }
    }
}

/// The numbers of a cluster, as a first point and directions with weights, and how forms are related to them.
struct Cone {
    /// That of all forms.
    sort: Sort,
    equations: Vec<Row>,
    /// The positions and forms of equations.
    equal: Vec<(usize, Term)>,
    bounds: Vec<Row>,
    weights: usize,
}

impl Cone {
    /// None if members differ in one literal only, or there are forms of both sorts.
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
            let mut rest = LinearPoly::from_term(store, form);
            rest.add_constant(&-first[at].clone());
            let mut weights: Vec<Rational> = directions.iter().map(|along| -along[column].clone()).collect();
            if !is_upper {
                rest.scale(&-Rational::ONE);
                weights.iter_mut().for_each(|weight| *weight = -weight.clone());
            }
            if is_equal {
                cone.equations.push(Row { weights, rest, relation: Relation::Equal, parents: 0 });
                cone.equal.push((at, form));
            } else {
                let relation = if is_strict { Relation::Below } else { Relation::AtMost };
                cone.bounds.push(Row { weights, rest, relation, parents: 0 });
            }
        }
        for weight in 0..weights {
            let mut unit = vec![Rational::ZERO; weights];
            unit[weight] = -Rational::ONE;
            let rest = LinearPoly::from_constant(Rational::ZERO);
            cone.bounds.push(Row { weights: unit, rest, relation: Relation::AtMost, parents: 0 });
        }
        Some(cone)
    }

    /// The residues that equal forms have in all members (S3).
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

    /// The rows without weights that follow. None if they are too many.
    fn eliminate(mut self) -> Option<Vec<Row>> {
        for weight in 0..self.weights {
            let Some(found) = self.equations.iter().position(|row| !row.weights[weight].is_zero()) else {
                continue;
            };
            let equation = self.equations.swap_remove(found);
            let rows = self.equations.iter_mut().chain(&mut self.bounds);
            rows.for_each(|row| row.cancel(&equation, weight));
        }
        if self.bounds.len() > MOST_ROWS {
            return None;
        }
        self.bounds.iter_mut().enumerate().for_each(|(index, row)| row.parents = 1 << index);
        let mut eliminated = 0;
        while let Some(weight) = next_weight(&self.bounds, self.weights) {
            eliminated += 1;
            self.bounds = resolve_all(self.bounds, weight, eliminated);
            if self.bounds.len() > MOST_ROWS {
                return None;
            }
        }
        self.equations.extend(self.bounds);
        self.equations.retain(|row| !row.rest.is_constant());
        Some(self.equations)
    }
}

/// The form that a literal bounds.
fn form(shape: Shape) -> Option<Term> {
    match shape {
        Shape::Upper { form, .. } | Shape::Lower { form, .. } => Some(form),
        Shape::Other(_) => None,
    }
}

/// Where the other members lie, as seen from the first: the numbers at the given positions but for a positive factor, each
/// direction once.
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

/// The weight whose elimination makes the fewest rows, if one is left.
fn next_weight(rows: &[Row], weights: usize) -> Option<usize> {
    let occurs = |&weight: &usize| rows.iter().any(|row| !row.weights[weight].is_zero());
    let pairs = |&weight: &usize| {
        let above = rows.iter().filter(|row| row.weights[weight].is_positive()).count();
        let below = rows.iter().filter(|row| row.weights[weight].is_negative()).count();
        above * below
    };
    (0..weights).filter(occurs).min_by_key(pairs)
}

/// Eliminates a weight, the so-manieth one, from bounds.
fn resolve_all(rows: Vec<Row>, weight: usize, eliminated: u32) -> Vec<Row> {
    let (concerned, mut rows): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| !row.weights[weight].is_zero());
    let (above, below): (Vec<Row>, Vec<Row>) =
        concerned.into_iter().partition(|row| row.weights[weight].is_positive());
    for high in &above {
        let resolvents = below.iter().map(|low| high.resolve(low, weight));
        // Others follow from rows with fewer parents.
        rows.extend(resolvents.filter(|row| row.parents.count_ones() <= eliminated + 1));
    }
    rows
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

    /// S1, and that elimination is exact: the same is said with weights as variables, which projection eliminates.
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
