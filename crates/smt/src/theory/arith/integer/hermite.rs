//! Hermite normal form of a matrix of integers, modulo a determinant.
//!
//! A matrix `A` with independent rows has a unique lower triangular `H` with `A·V = [H 0]` for a unimodular `V`, if the
//! entries left of the positive diagonal are reduced modulo their row's diagonal entry. The columns of `H` and `A`
//! generate the same lattice. For any minor `D` of full size the lattice contains all vectors divisible by `D`. So all
//! computation is modulo `|D|`, and no entry ever gets larger. Once the diagonal entry `h` of a row is known, the rows
//! below can be taken modulo `D/h`.
//!
//! Source: P. D. Domich, R. Kannan and L. E. Trotter, *Hermite normal form computation using modulo determinant
//! arithmetic*, Mathematics of Operations Research 12 (1987), in the form of H. Cohen, *A Course in Computational
//! Algebraic Number Theory*, algorithm 2.4.8. The minor comes from fraction-free elimination (E. H. Bareiss,
//! *Sylvester's identity and multistep integer-preserving Gaussian elimination*, 1968), which also determines the
//! independent rows.

use shofar_logic::number::Integer;

/// Independent rows, in the given order, with a minor of full size.
pub(super) struct Independent {
    /// The indices of the rows: each row of the matrix that is not a combination of earlier ones.
    pub(super) rows: Vec<usize>,
    /// The absolute value of the minor.
    pub(super) minor: Integer,
}

/// Chooses independent rows; `None` if numbers get longer than `most_bits`.
pub(super) fn independent_rows(matrix: &[Vec<Integer>], most_bits: usize) -> Option<Independent> {
    let mut rows = Vec::new();
    // The rows found so far after elimination, each with the column of its pivot.
    let mut eliminated: Vec<(usize, Vec<Integer>)> = Vec::new();
    let mut minor = Integer::ONE;
    for (index, row) in matrix.iter().enumerate() {
        let mut row = row.clone();
        let mut previous = Integer::ONE;
        for (column, pivot_row) in &eliminated {
            let (pivot, factor) = (&pivot_row[*column], row[*column].clone());
            for (entry, other) in row.iter_mut().zip(pivot_row) {
                *entry = (&*entry * pivot - &factor * other).div_exact(&previous);
            }
            previous = pivot.clone();
        }
        if row.iter().any(|entry| entry.bit_len() > most_bits) {
            return None;
        }
        let Some(column) = row.iter().position(|entry| !entry.is_zero()) else { continue };
        rows.push(index);
        minor = row[column].abs();
        eliminated.push((column, row));
    }
    Some(Independent { rows, minor })
}

/// The Hermite normal form of a matrix with independent rows, as rows, given a minor of full size.
pub(super) fn hermite_normal_form(rows: &[&[Integer]], minor: &Integer) -> Vec<Vec<Integer>> {
    let height = rows.len();
    let width = rows.first().map_or(0, |row| row.len());
    let mut columns: Vec<Vec<Integer>> =
        (0..width).map(|column| rows.iter().map(|row| row[column].rem_euclid(minor)).collect()).collect();
    let mut modulus = minor.clone();
    let mut normal: Vec<Vec<Integer>> = Vec::with_capacity(height);
    for row in 0..height {
        // Collects the divisor of this row's entries in one column.
        let (pivot, others) =
            columns[row..].split_first_mut().expect("independent rows have as many columns");
        for other in others {
            if !other[row].is_zero() {
                combine(pivot, other, row, &modulus);
            }
        }
        let (diagonal, factor, _) = pivot[row].gcd_ext(&modulus);
        let mut column: Vec<Integer> =
            pivot.iter().map(|entry| (entry * &factor).rem_euclid(&modulus)).collect();
        column[row] = diagonal.clone();
        for earlier in &mut normal {
            let quotient = earlier[row].div_floor(&diagonal);
            if !quotient.is_zero() {
                for (entry, other) in earlier.iter_mut().zip(&column) {
                    *entry -= &quotient * other;
                }
            }
        }
        normal.push(column);
        modulus = modulus.div_exact(&diagonal);
    }
    (0..height).map(|row| normal.iter().map(|column| column[row].clone()).collect()).collect()
}

/// A unimodular combination of two columns, modulo `modulus`, after which the second has a zero in the given row.
fn combine(first: &mut [Integer], second: &mut [Integer], row: usize, modulus: &Integer) {
    let (divisor, s, t) = first[row].gcd_ext(&second[row]);
    let (a, b) = (first[row].div_exact(&divisor), second[row].div_exact(&divisor));
    for (x, y) in first.iter_mut().zip(second) {
        let sum = (&s * &*x + &t * &*y).rem_euclid(modulus);
        *y = (&a * &*y - &b * &*x).rem_euclid(modulus);
        *x = sum;
    }
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;

    use super::*;

    fn matrix(rows: &[&[i64]]) -> Vec<Vec<Integer>> {
        rows.iter().map(|row| row.iter().map(|&entry| Integer::from(entry)).collect()).collect()
    }

    /// Whether the vector is an integer combination of the columns of a lower triangular matrix.
    fn is_generated(normal: &[Vec<Integer>], mut vector: Vec<Integer>) -> bool {
        for row in 0..normal.len() {
            if !normal[row][row].divides(&vector[row]) {
                return false;
            }
            let factor = vector[row].div_exact(&normal[row][row]);
            for below in row..normal.len() {
                vector[below] = &vector[below] - &factor * &normal[below][row];
            }
        }
        true
    }

    #[test]
    fn the_lattice_of_a_normal_form_is_that_of_the_matrix() {
        let mut random = Random::new(7);
        let mut found = 0;
        for _ in 0..300 {
            let (height, width) = (1 + random.below(4), 1 + random.below(5));
            let mut entry = || Integer::from(random.between(-9, 9));
            let all: Vec<Vec<Integer>> = (0..height).map(|_| (0..width).map(|_| entry()).collect()).collect();
            let independent = independent_rows(&all, 1000).expect("small");
            let rows: Vec<&[Integer]> = independent.rows.iter().map(|&row| &all[row][..]).collect();
            let normal = hermite_normal_form(&rows, &independent.minor);
            let mut determinant = Integer::ONE;
            for (index, row) in normal.iter().enumerate() {
                determinant *= &row[index];
                assert!(row[index].is_positive() && row[index + 1..].iter().all(Integer::is_zero));
                assert!(row[..index].iter().all(|entry| !entry.is_negative() && *entry < row[index]));
            }
            // One inclusion, and the index of the lattice: the gcd of all minors of full size.
            for column in 0..width {
                assert!(is_generated(&normal, rows.iter().map(|row| row[column].clone()).collect()));
            }
            assert_eq!(determinant, gcd_of_minors(&rows), "{rows:?}");
            found += usize::from(rows.len() > 2);
        }
        assert!(found > 50, "{found} matrices of rank three or more");
    }

    fn gcd_of_minors(rows: &[&[Integer]]) -> Integer {
        let width = rows.first().map_or(0, |row| row.len());
        let subsets = (0_u32..1 << width).filter(|subset| subset.count_ones() as usize == rows.len());
        subsets.fold(Integer::ZERO, |divisor, subset| {
            let columns: Vec<usize> = (0..width).filter(|column| subset >> column & 1 == 1).collect();
            divisor.gcd(&determinant(rows, &columns))
        })
    }

    /// By expansion along the first row.
    fn determinant(rows: &[&[Integer]], columns: &[usize]) -> Integer {
        let Some((first, rest)) = rows.split_first() else { return Integer::ONE };
        let mut sum = Integer::ZERO;
        for (index, &column) in columns.iter().enumerate() {
            let others: Vec<usize> = columns.iter().copied().filter(|&other| other != column).collect();
            let part = &first[column] * determinant(rest, &others);
            if index % 2 == 0 { sum += part } else { sum -= part }
        }
        sum
    }

    #[test]
    fn dependent_rows_are_left_out() {
        let rows = matrix(&[&[2, 4], &[1, 2], &[0, 0], &[0, 3]]);
        let independent = independent_rows(&rows, 64).expect("small");
        assert_eq!((independent.rows, independent.minor), (vec![0, 3], Integer::from(6)));
        assert!(independent_rows(&matrix(&[&[1 << 40]]), 32).is_none());
    }
}
