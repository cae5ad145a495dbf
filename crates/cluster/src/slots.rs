//! Which slots workers try, if several work on one task.
//!
//! The schedule of the class of the clauses has one slot per engine. On one machine more slots take time from each other; on
//! many machines they cost nothing. So workers get the slots of the schedule first, because an engine by itself is faster than
//! in turns with others, and then the same engines with other settings: interpolants of other strength above all, which
//! is what instances of one engine differ most by (parallel PD-KIND), then other orders of search, then relatives.

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

/// The slots for workers: those of the schedule that this machine cannot run at full speed, and variants.
///
/// `schedule` are the slots that run here, `places` of them at the same time.
pub fn for_workers(schedule: &[String], places: usize) -> Vec<String> {
    // A second slot with the same text has a number in its label.
    let mut own: Vec<&str> = Vec::new();
    for label in schedule {
        let slot = label.split('#').next().unwrap_or_default();
        if !own.contains(&slot) {
            own.push(slot);
        }
    }
    let mut slots: Vec<String> = Vec::new();
    if places < schedule.len() {
        // The first slot has the most time here, so it is the last one to get a worker.
        slots.extend(own.iter().cycle().skip(1).take(own.len()).map(|&slot| slot.to_owned()));
    }
    let variants: Vec<&[&str]> = own
        .iter()
        .filter_map(|slot| {
            let engine = slot.split(':').next().unwrap_or_default();
            VARIANTS.iter().find(|(name, _)| *name == engine).map(|(_, variants)| *variants)
        })
        .collect();
    for round in 0..variants.iter().map(|variants| variants.len()).max().unwrap_or(0) {
        for variant in variants.iter().filter_map(|variants| variants.get(round)) {
            if !own.contains(variant) && !slots.iter().any(|slot| slot == variant) {
                slots.push((*variant).to_owned());
            }
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use shofar_cooperate::slot::Slot;

    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

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
    fn workers_get_the_schedule_and_then_variants() {
        let slots = for_workers(&strings(&["spacer", "bmc", "pa", "spacer#2"]), 2);
        assert_eq!(slots[..4], strings(&["bmc", "pa", "spacer", "spacer:guidance=no"]));
        assert!(slots.contains(&"pa:templates=1".to_owned()));
        // With enough cores here, workers try other slots only.
        assert_eq!(for_workers(&strings(&["bmc", "imc"]), 8), ["imc:interpolation=farkas"]);
    }
}
