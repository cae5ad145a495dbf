//! Slots of a schedule: an engine with its own settings.
//!
//! The text of a slot is the engine's name and its settings after colons, as in `pdkind:interpolation=farkas:depth=2`. Users
//! and the table of classes write it like this. The text is also the slot's *label* in events, statistics and messages.
//!
//! A slot can also name transformations that only its engine's clauses pass, after those of the run. Their names are separated by `+`,
//! since commas separate slots: `lawi:passes=control+standard`.
//!
//! - S1: the labels of a run are different, so that one engine can run with several settings side by side. The second of two
//!   slots with the same text is `pdkind#2`.
//! - S2: a setting of a slot overrides a setting of all slots of its engine, which overrides a setting of all engines.
//! - S3: an engine does not know its label. Its run does, and reports events under it.

use std::fmt;
use std::str::FromStr;

use shofar_engines::{Engine, Label, by_name, set_option};
use shofar_horn::transform::Passes;
use shofar_run::OptionError;

/// Why slots and settings can be applied without errors.
const TRIED: &str = "slots and settings are tried when they are made";

/// The name by which a slot names transformations. No engine has an option of this name.
const PASSES: &str = "passes";

/// An engine of the schedule with its own settings and transformations. The engine, the options and their values exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    engine: &'static str,
    /// The transformations of this slot alone.
    passes: Option<Passes>,
    /// The settings that the text shows.
    settings: Vec<(String, String)>,
    /// Settings to the default value that the text leaves out. They still override the common settings.
    defaults: Vec<(String, String)>,
}

impl Slot {
    /// The slot of an engine that is set by its fields. It sets every option, so no common setting changes it. The text shows
    /// the options that differ from the defaults.
    pub fn of(mut engine: impl Engine) -> Result<Self, OptionError> {
        Slot::of_engine(&mut engine)
    }

    fn of_engine(engine: &mut dyn Engine) -> Result<Self, OptionError> {
        let mut tried = by_name(engine.name())?;
        let mut slot =
            Slot { engine: engine.name(), passes: None, settings: Vec::new(), defaults: Vec::new() };
        for option in engine.options() {
            let value = option.get();
            set_option(tried.as_mut(), option.name, &value)?;
            let settings = if value == option.default { &mut slot.defaults } else { &mut slot.settings };
            settings.push((option.name.to_owned(), value));
        }
        Ok(slot)
    }

    /// The slot with common settings made its own, where it has none.
    pub(crate) fn with(&self, common: impl FnOnce(&mut dyn Engine)) -> Self {
        let Slot { engine, settings, .. } = Slot::of_engine(self.engine(common).as_mut()).expect(TRIED);
        Slot { engine, passes: self.passes.clone(), settings, defaults: Vec::new() }
    }

    /// The transformations of this slot alone, if it names some.
    pub(crate) fn passes(&self) -> Option<&Passes> {
        self.passes.as_ref()
    }

    /// The engine, with the common settings first and the slot's own settings then.
    pub(crate) fn engine(&self, common: impl FnOnce(&mut dyn Engine)) -> Box<dyn Engine> {
        let mut engine = by_name(self.engine).expect(TRIED);
        common(engine.as_mut());
        for (option, value) in self.defaults.iter().chain(&self.settings) {
            set_option(engine.as_mut(), option, value).expect(TRIED);
        }
        engine
    }
}

impl FromStr for Slot {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let mut parts = text.split(':').map(str::trim);
        let mut engine = by_name(parts.next().unwrap_or_default())?;
        let (mut passes, mut settings) = (None, Vec::new());
        for part in parts {
            let form = "ENGINE:OPTION=VALUE";
            let malformed = || OptionError::Malformed { text: text.to_owned(), form };
            let (option, value) = part.split_once('=').ok_or_else(malformed)?;
            if option == PASSES {
                let names: Vec<&str> = value.split('+').map(str::trim).collect();
                passes = Some(names.join(",").parse()?);
                continue;
            }
            set_option(engine.as_mut(), option, value)?;
            settings.push((option.to_owned(), value.to_owned()));
        }
        Ok(Slot { engine: engine.name(), passes, settings, defaults: Vec::new() })
    }
}

/// The text that [`from_str`](Slot::from_str) reads, apart from settings to the default value that the fields of an engine make.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.engine)?;
        if let Some(passes) = &self.passes {
            write!(f, ":{PASSES}={}", passes.to_string().replace(',', "+"))?;
        }
        self.settings.iter().try_for_each(|(option, value)| write!(f, ":{option}={value}"))
    }
}

/// A setting of all slots of an engine. The engine, the option and the value exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    engine: &'static str,
    option: String,
    value: String,
}

impl Setting {
    /// Gives an option of an engine a value.
    pub fn new(engine: &str, option: &str, value: &str) -> Result<Self, OptionError> {
        let mut engine = by_name(engine)?;
        set_option(engine.as_mut(), option, value)?;
        Ok(Setting { engine: engine.name(), option: option.to_owned(), value: value.to_owned() })
    }

    /// Sets the option if the engine is the setting's.
    pub(crate) fn apply(&self, engine: &mut dyn Engine) {
        if engine.name() == self.engine {
            set_option(engine, &self.option, &self.value).expect(TRIED);
        }
    }
}

/// As it is read.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}={}", self.engine, self.option, self.value)
    }
}

/// Reads `ENGINE.OPTION=VALUE`.
impl FromStr for Setting {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let parts = text.split_once('=').and_then(|(name, value)| Some((name.split_once('.')?, value)));
        let malformed = || OptionError::Malformed { text: text.to_owned(), form: "ENGINE.OPTION=VALUE" };
        let ((engine, option), value) = parts.ok_or_else(malformed)?;
        Setting::new(engine, option, value)
    }
}

/// The labels of slots in this order, by S1.
pub(crate) fn labels(slots: &[Slot]) -> Vec<Label> {
    let texts: Vec<String> = slots.iter().map(Slot::to_string).collect();
    let label = |(index, text): (usize, &String)| {
        let before = texts[..index].iter().filter(|other| *other == text).count();
        Label::from(if before == 0 { text.clone() } else { format!("{text}#{}", before + 1) })
    };
    texts.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use shofar_engines::{Imc, PdKind, Spacer, Tpa};

    use super::*;

    fn slot(text: &str) -> Slot {
        text.parse().expect("there is such a slot")
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
            ("spaser", "there is no engine `spaser`, did you mean `spacer`? (the engines are spacer, "),
            ("", "the engines are"),
            ("spacer:guidance", "`spacer:guidance` is not of the form ENGINE:OPTION=VALUE"),
            ("spacer:colour=red", "spacer has no option `colour`: its options are "),
            (
                "spacer:guidence=no",
                "spacer has no option `guidence`, did you mean `guidance`? (its options are ",
            ),
            ("bmc:depth=3", "bmc has no option `depth`: it has no options"),
            ("split-tpa:chains=perhaps", "possible are yes, no; the default is yes"),
            ("imc:rounds=-1", "possible are the whole numbers from 0 to 1000000; the default is 20"),
            ("imc:rounds=1000001", "imc.rounds cannot be `1000001`"),
            ("lawi:passes=contrl", "there is no transformation `contrl`, did you mean `control`?"),
        ] {
            let complaint = text.parse::<Slot>().expect_err("there is no such slot").to_string();
            assert!(complaint.contains(part), "{complaint}");
        }
    }

    #[test]
    fn transformations_are_part_of_the_text() {
        let slot = slot("lawi:interpolation=farkas:passes=control + standard");
        assert_eq!(slot.to_string(), "lawi:passes=control+standard:interpolation=farkas");
        assert_eq!(slot.passes().map(Passes::to_string).as_deref(), Some("control,standard"));
        assert_eq!(slot.with(|_| ()), slot);
    }

    /// Otherwise a slot could not set it.
    #[test]
    fn no_engine_has_the_option_passes() {
        for mut engine in shofar_engines::all() {
            assert!(engine.options().iter().all(|option| option.name != PASSES), "{}", engine.name());
        }
    }

    fn of(engine: impl Engine) -> Slot {
        Slot::of(engine).expect("the fields are in range")
    }

    #[test]
    fn an_engine_that_is_set_by_its_fields_has_a_short_text() {
        let mut spacer = Spacer::default();
        assert_eq!(of(spacer).to_string(), "spacer");
        spacer.options.guidance = false;
        spacer.options.requeue = true;
        assert_eq!(of(spacer).to_string(), "spacer:guidance=no:requeue=yes");
        assert_eq!(of(Tpa::split()).to_string(), "split-tpa");
        assert_eq!(labels(&[slot("spacer"), of(Spacer::default())]), ["spacer", "spacer#2"]);
    }

    #[test]
    fn a_field_that_is_out_of_range_is_an_error() {
        let mut imc = Imc::default();
        imc.options.rounds = 1_000_001;
        let error = Slot::of(imc).expect_err("there are too many rounds").to_string();
        assert!(error.contains("imc.rounds cannot be `1000001`"), "{error}");
    }

    #[test]
    fn settings_are_tried_when_they_are_made() {
        assert_eq!("spacer.guidance=no".parse(), Setting::new("Spacer", "guidance", "no"));
        for (text, part) in [
            ("spaser.guidance=no", "did you mean `spacer`?"),
            ("spacer.guidence=no", "did you mean `guidance`?"),
            ("spacer.guidance=noo", "did you mean `no`?"),
            ("spacer.guidance", "is not of the form ENGINE.OPTION=VALUE"),
        ] {
            let complaint = text.parse::<Setting>().expect_err("there is no such setting").to_string();
            assert!(complaint.contains(part), "{complaint}");
        }
    }

    /// By S2.
    #[test]
    fn own_settings_count_more_than_common_ones() {
        let value_of = |slot: Slot| {
            let setting = Setting::new("pdkind", "depth", "3").expect("there is such a setting");
            let common = |engine: &mut dyn Engine| setting.apply(engine);
            let mut engine = slot.engine(common);
            engine.options().iter().find(|option| option.name == "depth").map(|option| option.get())
        };
        assert_eq!(value_of(slot("pdkind")).as_deref(), Some("3"));
        assert_eq!(value_of(slot("pdkind:depth=2")).as_deref(), Some("2"));
        assert_eq!(value_of(of(PdKind::default())).as_deref(), Some("growing"));
    }
}
