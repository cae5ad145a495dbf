//! Places in a schedule: an engine, with settings of its own where it has any.
//!
//! A slot is written as the engine's name and its settings behind colons, `pdkind:interpolation=farkas:depth=2`; so the
//! table of classes says it, and so users may. That text is also its *label*, by which events, statistics and messages
//! call it.
//!
//! - S1: the labels of a run are different, so that one engine can run with several settings side by side. Of slots with
//!   the same text the second one is `pdkind#2`.
//! - S2: what is said for a slot counts more than what is said for all slots of its engine, and that more than what is
//!   said for all engines.
//! - S3: an engine does not know its label: its run does, and tells events under it.

use shofar_engines::{Engine, Label, all, by_name, set_option};

/// An engine of the schedule and the settings that it has there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    engine: &'static str,
    settings: Vec<(String, String)>,
}

impl Slot {
    /// Reads a slot and tries whether there are such an engine and such settings; tells what there is if not.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':').map(str::trim);
        let mut engine = engine(parts.next().unwrap_or_default())?;
        let mut settings = Vec::new();
        for part in parts {
            let (option, value) = part.split_once('=').ok_or("write ENGINE:OPTION=VALUE")?;
            set_option(engine.as_mut(), option, value)?;
            settings.push((option.to_owned(), value.to_owned()));
        }
        Ok(Slot { engine: engine.name(), settings })
    }

    /// Its text.
    pub fn label(&self) -> String {
        let settings = self.settings.iter().map(|(option, value)| format!(":{option}={value}"));
        std::iter::once(self.engine.to_owned()).chain(settings).collect()
    }

    /// The engine, set by what counts for more slots first and by the slot's own settings then.
    pub(crate) fn engine(
        &self,
        common: impl FnOnce(&mut dyn Engine) -> Result<(), String>,
    ) -> Result<Box<dyn Engine>, String> {
        let mut engine = engine(self.engine)?;
        common(engine.as_mut())?;
        for (option, value) in &self.settings {
            set_option(engine.as_mut(), option, value)?;
        }
        Ok(engine)
    }
}

/// The engine with this name; tells which there are if there is none.
pub fn engine(name: &str) -> Result<Box<dyn Engine>, String> {
    by_name(name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|engine| engine.name()).collect();
        format!("there is no engine `{name}`: the engines are {}", names.join(", "))
    })
}

/// The labels of slots in this order, by S1.
pub(crate) fn labels(slots: &[Slot]) -> Vec<Label> {
    let label = |(index, slot): (usize, &Slot)| {
        let before = slots[..index].iter().filter(|other| *other == slot).count();
        let text = slot.label();
        Label::from(if before == 0 { text } else { format!("{text}#{}", before + 1) })
    };
    slots.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(text: &str) -> Slot {
        Slot::parse(text).expect("there is such a slot")
    }

    #[test]
    fn slots_have_different_labels() {
        let texts =
            ["pdkind", "PdKind", "pdkind:depth=2", "split-tpa : chains=no", "pdkind", "pdkind:depth=2"];
        assert_eq!(
            labels(&texts.map(slot)),
            ["pdkind", "pdkind#2", "pdkind:depth=2", "split-tpa:chains=no", "pdkind#3", "pdkind:depth=2#2"]
        );
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, part) in [
            ("magic", "there is no engine `magic`: the engines are spacer, "),
            ("", "the engines are"),
            ("spacer:guidance", "write ENGINE:OPTION=VALUE"),
            ("spacer:colour=red", "the options of spacer are: "),
            ("split-tpa:chains=perhaps", "there are yes, no; the default is yes"),
            ("imc:rounds=-1", "there are the whole numbers from 0 to 1000000; the default is 20"),
            ("imc:rounds=1000001", "`1000001` is not possible"),
        ] {
            let complaint = Slot::parse(text).expect_err("there is no such slot");
            assert!(complaint.contains(part), "{complaint}");
        }
    }

    /// By S2.
    #[test]
    fn own_settings_count_more_than_common_ones() {
        let value_of = |text: &str| {
            let common = |engine: &mut dyn Engine| set_option(engine, "depth", "3");
            let mut engine = slot(text).engine(common).expect("the settings are right");
            engine.options().iter().find(|option| option.name == "depth").map(|option| option.get())
        };
        assert_eq!(value_of("pdkind").as_deref(), Some("3"));
        assert_eq!(value_of("pdkind:depth=2").as_deref(), Some("2"));
    }
}
