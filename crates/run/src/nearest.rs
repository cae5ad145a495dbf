//! Suggests the correct spelling of a name.
//!
//! Names are compared by optimal string alignment: the distance counts inserted, deleted and replaced characters, and
//! exchanged neighbours. A name is near if at most one character, or a third of them, is wrong, but not all.

/// Longer names are not compared: the distance takes quadratic time.
const LONGEST: usize = 100;

/// The candidate nearest to a name, if one is near; the first of several.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let length = name.chars().count();
    let most = (length / 3).max(1);
    let distance = |candidate: &str| {
        if name.eq_ignore_ascii_case(candidate) {
            return Some(0);
        }
        let is_comparable = candidate.len() <= LONGEST && candidate.len().abs_diff(name.len()) <= 4 * most;
        let distance = is_comparable.then(|| strsim::osa_distance(name, candidate))?;
        (distance <= most && distance < length.min(candidate.chars().count())).then_some(distance)
    };
    let near = candidates.into_iter().filter_map(|candidate| Some((distance(candidate)?, candidate)));
    near.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// The hint that names the nearest candidate.
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["spacer", "bmc", "kind", "pdkind", "split-tpa"];

    #[test]
    fn a_misspelt_name_has_a_nearest_one() {
        for (name, expected) in [
            ("spaser", "spacer"),
            ("spcaer", "spacer"),
            ("Spacer", "spacer"),
            ("bcm", "bmc"),
            ("kynd", "kind"),
            ("pdkynd", "pdkind"),
            ("split_tpa", "split-tpa"),
        ] {
            assert_eq!(nearest(name, NAMES), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_name_unlike_all_others_has_none() {
        for name in ["", "x", "zz", "golem", &"spacer".repeat(100)] {
            assert_eq!(nearest(name, NAMES), None, "{name}");
        }
        assert_eq!(nearest("y", ["x", "xy"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
