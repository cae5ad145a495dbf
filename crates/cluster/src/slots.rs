//! Which slots workers try, if several work on one task.
//!
//! The schedule of the class of the clauses has one slot per engine. On one machine more slots take time from each other; on
//! many machines they cost nothing. So workers get the slots of the schedule first, because an engine by itself is faster than
//! in turns with others, and then [variants](shofar_cooperate::instances) of them.

use shofar_cooperate::instances::variants;

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
    let variants = variants(own.iter().copied()).into_iter().map(str::to_owned);
    let new: Vec<String> = variants.filter(|variant| !slots.contains(variant)).collect();
    slots.extend(new);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
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
