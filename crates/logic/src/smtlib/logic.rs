//! Logics: which theories a script may use.
//!
//! `(set-logic QF_UFLIA)` decides which names have a meaning before anything is declared. The name of a logic is a list
//! of components, and each component stands for theories:
//!
//! | component | theories |
//! |---|---|
//! | `QF_` in front, `UF`, `DT`, `BOOL` | none: quantifiers, declared functions and datatypes are syntax |
//! | `IDL`, `LIA`, `NIA` | integers |
//! | `RDL`, `LRA`, `NRA` | reals |
//! | `LIRA`, `NIRA` | integers and reals |
//! | `A`, `AX` | arrays |
//! | `BV` | bit-vectors |
//! | `ALL`, `HORN` | all of these |
//!
//! The symbols and sorts of a theory outside of the logic are free: a script of the logic `QF_UF` may declare a sort
//! `Int` and a function `+`. The theory Core belongs to every logic. A logic does not restrict the rest of the
//! language: quantifiers, declared functions and non-linear products are read in every logic.
//!
//! Source: The SMT-LIB Standard 2.6, section 5.5, and the catalogue of logics at smt-lib.org.

use crate::op::Op;

/// A set of theories beyond Core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Theories(u8);

impl Theories {
    /// Core alone: booleans and equality.
    pub const CORE: Theories = Theories(0);
    /// The integers.
    pub const INTS: Theories = Theories(1);
    /// The reals.
    pub const REALS: Theories = Theories(2);
    /// Arrays with extensionality.
    pub const ARRAYS: Theories = Theories(4);
    /// Bit-vectors of fixed size.
    pub const BIT_VECTORS: Theories = Theories(8);
    /// All theories that the reader knows.
    pub const ALL: Theories = Theories(15);

    /// The theories of a logic; `None` if the name is not a list of known components, or if one of them stands for a
    /// theory that the reader does not support.
    pub fn of_logic(name: &str) -> Option<Theories> {
        const COMPONENTS: &[(&str, Theories)] = &[
            ("LIRA", Theories::INTS.with(Theories::REALS)),
            ("NIRA", Theories::INTS.with(Theories::REALS)),
            ("LIA", Theories::INTS),
            ("NIA", Theories::INTS),
            ("IDL", Theories::INTS),
            ("LRA", Theories::REALS),
            ("NRA", Theories::REALS),
            ("RDL", Theories::REALS),
            ("BV", Theories::BIT_VECTORS),
            ("UF", Theories::CORE),
            ("DT", Theories::CORE),
            ("BOOL", Theories::CORE),
            ("AX", Theories::ARRAYS),
            ("A", Theories::ARRAYS),
        ];
        let components = name.strip_prefix("QF_").unwrap_or(name);
        if matches!(components, "ALL" | "HORN") {
            return Some(Theories::ALL);
        }
        let (mut rest, mut theories) = (components, Theories::CORE);
        while !rest.is_empty() {
            let (after, meant) = COMPONENTS
                .iter()
                .find_map(|&(component, theories)| Some((rest.strip_prefix(component)?, theories)))?;
            (rest, theories) = (after, theories.with(meant));
        }
        (!components.is_empty()).then_some(theories)
    }

    /// The theories of both sets.
    pub const fn with(self, other: Theories) -> Theories {
        Theories(self.0 | other.0)
    }

    /// Whether all of these theories are in the set.
    pub const fn contains(self, other: Theories) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the operator is a symbol of Core or of a theory in the set.
    pub fn have(self, op: Op) -> bool {
        let both = Theories::INTS.with(Theories::REALS);
        match op {
            Op::Var(_)
            | Op::Apply(_)
            | Op::Forall
            | Op::Exists
            | Op::True
            | Op::False
            | Op::Not
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Implies
            | Op::Eq
            | Op::Distinct
            | Op::Ite
            | Op::Construct(_)
            | Op::Selector { .. }
            | Op::Tester(_) => true,
            Op::Numeral(_) | Op::Add | Op::Sub | Op::Neg | Op::Mul | Op::Le | Op::Lt | Op::Ge | Op::Gt => {
                self.0 & both.0 != 0
            }
            Op::RealDiv => self.contains(Theories::REALS),
            Op::IntDiv | Op::Mod | Op::Abs | Op::Divisible(_) => self.contains(Theories::INTS),
            Op::ToReal | Op::ToInt | Op::IsInt => self.contains(both),
            Op::Select | Op::Store | Op::ConstArray(_) => self.contains(Theories::ARRAYS),
            _ => self.contains(Theories::BIT_VECTORS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logic_is_read_by_its_components() {
        let (ints, reals) = (Theories::INTS, Theories::REALS);
        for (name, theories) in [
            ("QF_UF", Theories::CORE),
            ("UF", Theories::CORE),
            ("QF_BOOL", Theories::CORE),
            ("QF_DT", Theories::CORE),
            ("QF_IDL", ints),
            ("QF_RDL", reals),
            ("QF_UFLIA", ints),
            ("LIA", ints),
            ("QF_UFNRA", reals),
            ("QF_LIRA", ints.with(reals)),
            ("AUFNIRA", Theories::ARRAYS.with(ints).with(reals)),
            ("QF_AX", Theories::ARRAYS),
            ("QF_AUFBV", Theories::ARRAYS.with(Theories::BIT_VECTORS)),
            ("UFDTLIA", ints),
            ("ALL", Theories::ALL),
            ("QF_ALL", Theories::ALL),
            ("HORN", Theories::ALL),
        ] {
            assert_eq!(Theories::of_logic(name), Some(theories), "{name}");
        }
        for name in ["", "QF_", "QF_FP", "QF_S", "QF_SLIA", "FOO", "qf_lia", "QF_UFC", "QF_LIAX"] {
            assert_eq!(Theories::of_logic(name), None, "{name}");
        }
    }

    #[test]
    fn an_operator_belongs_to_its_theories() {
        assert!(Theories::REALS.have(Op::Add) && Theories::INTS.have(Op::Add));
        assert!(!Theories::CORE.have(Op::Add) && Theories::CORE.have(Op::Eq));
        assert!(!Theories::REALS.have(Op::Mod) && !Theories::INTS.have(Op::RealDiv));
        assert!(!Theories::INTS.have(Op::ToReal) && Theories::ALL.have(Op::ToReal));
        assert!(!Theories::ARRAYS.have(Op::BvAdd) && Theories::BIT_VECTORS.have(Op::BvAdd));
    }
}
