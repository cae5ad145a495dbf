//! Instances of engines beyond those of a class, for machines with more cores than the class has engines.
//!
//! On few cores more instances only take time from each other. On many, an instance that finds other proofs is worth more than a core
//! without work: the same engine with interpolants of other strength above all (M. Blicha et al., "Cooperative parallel SMT-based
//! model checking", VMCAI 2020), then with another order of search, then a relative.

/// For each engine, slots that find other proofs.
const VARIANTS: &[(&str, &[&str])] = &[
    (
        "spacer",
        &[
            "spacer:guidance=no",
            "spacer:interpolation=decomposed",
            "spacer:descent=random:requeue=yes",
            "spacer:interpolation=adaptive:guidance=no",
        ],
    ),
    ("pdkind", &["pdkind:interpolation=farkas", "pdkind:depth=2", "pdkind:order=lifo:interpolation=dual"]),
    ("split-tpa", &["tpa", "split-tpa:interpolation=farkas", "split-tpa:chains=no"]),
    ("kind", &["kavy", "kind:simple-paths=no"]),
    ("imc", &["imc:interpolation=farkas"]),
    ("lawi", &["lawi:interpolation=decomposed", "cegar"]),
    ("pa", &["pa:templates=1", "pa:interpolation=farkas"]),
    ("regular", &["regular-sync", "regular-combined"]),
    ("unfold", &["unfold:batch=4"]),
];

/// Variants of the engines of these slots, one of each engine before the second of any, without the slots themselves.
pub fn variants<'a>(slots: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let slots: Vec<&str> = slots.into_iter().collect();
    let engine = |slot: &&str| slot.split(':').next().unwrap_or_default().to_owned();
    let engines: Vec<String> = slots.iter().map(engine).collect();
    let lists: Vec<&[&str]> = engines
        .iter()
        .filter_map(|engine| VARIANTS.iter().find(|(name, _)| name == engine))
        .map(|(_, variants)| *variants)
        .collect();
    let mut found: Vec<&str> = Vec::new();
    for round in 0..lists.iter().map(|list| list.len()).max().unwrap_or(0) {
        for variant in lists.iter().filter_map(|list| list.get(round)) {
            if !slots.contains(variant) && !found.contains(variant) {
                found.push(variant);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Slot;

    #[test]
    fn all_variants_exist_and_differ() {
        let mut all: Vec<&str> = VARIANTS.iter().flat_map(|(_, variants)| *variants).copied().collect();
        for text in &all {
            assert_eq!(text.parse::<Slot>().map(|slot| slot.to_string()), Ok((*text).to_owned()));
        }
        let number = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), number);
    }

    #[test]
    fn each_engine_has_a_variant_before_one_has_two() {
        let found = variants(["spacer", "kind", "kavy", "bmc"]);
        assert_eq!(
            found[..3],
            ["spacer:guidance=no", "spacer:interpolation=decomposed", "kind:simple-paths=no"]
        );
    }
}
