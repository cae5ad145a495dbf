//! What users may choose about an engine, by names.
//!
//! An engine lists its [`EngineOption`]s once: the name, the meaning, the field that is set, and the range of a number. The
//! default is the value of the field in a new engine. Reading, setting and describing all go through that list.

use std::ops::RangeInclusive;

use crate::Interpolation;

/// A choice that an engine leaves to its user.
pub struct EngineOption<'a> {
    /// Its name, as in `guidance`.
    pub name: &'static str,
    /// What it chooses, in one line.
    pub help: &'static str,
    setting: &'a mut dyn Setting,
    /// The numbers that it may have, if it is one.
    range: Option<RangeInclusive<u64>>,
}

impl<'a> EngineOption<'a> {
    pub(crate) fn new(name: &'static str, help: &'static str, setting: &'a mut dyn Setting) -> Self {
        EngineOption { name, help, setting, range: None }
    }

    /// A number with its range.
    pub(crate) fn number(
        name: &'static str,
        help: &'static str,
        setting: &'a mut dyn Setting,
        range: RangeInclusive<u64>,
    ) -> Self {
        EngineOption { name, help, setting, range: Some(range) }
    }

    /// Its value.
    pub fn get(&self) -> String {
        self.setting.get()
    }

    /// The values that it may have.
    pub fn values(&self) -> String {
        match &self.range {
            Some(range) => format!("{} from {} to {}", self.setting.values(), range.start(), range.end()),
            None => self.setting.values(),
        }
    }

    /// Gives it another value; tells the possible ones if this is none of them.
    pub fn set(&mut self, value: &str) -> Result<(), String> {
        let is_possible =
            self.range.as_ref().is_none_or(|range| value.parse().is_ok_and(|number| range.contains(&number)));
        if is_possible && self.setting.set(value) {
            Ok(())
        } else {
            Err(format!("there are {}", self.values()))
        }
    }
}

/// Something that can be set by a text.
pub(crate) trait Setting {
    fn get(&self) -> String;
    fn values(&self) -> String;
    /// Whether the text is a value.
    fn set(&mut self, value: &str) -> bool;
}

impl Setting for bool {
    fn get(&self) -> String {
        if *self { "yes".to_owned() } else { "no".to_owned() }
    }

    fn values(&self) -> String {
        "yes, no".to_owned()
    }

    fn set(&mut self, value: &str) -> bool {
        match value {
            "yes" | "true" | "on" => *self = true,
            "no" | "false" | "off" => *self = false,
            _ => return false,
        }
        true
    }
}

/// Whole numbers.
macro_rules! number {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn get(&self) -> String {
                self.to_string()
            }

            fn values(&self) -> String {
                "the whole numbers".to_owned()
            }

            fn set(&mut self, value: &str) -> bool {
                value.parse().map(|number| *self = number).is_ok()
            }
        }
    )*};
}

number!(u64, usize);

/// A choice between a few values with names.
pub(crate) trait Named: Copy + 'static {
    const ALL: &'static [Self];

    fn name(self) -> &'static str;
}

impl<T: Named> Setting for T {
    fn get(&self) -> String {
        self.name().to_owned()
    }

    fn values(&self) -> String {
        T::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ")
    }

    fn set(&mut self, value: &str) -> bool {
        match T::ALL.iter().find(|known| known.name() == value) {
            Some(&known) => *self = known,
            None => return false,
        }
        true
    }
}

impl Named for Interpolation {
    const ALL: &'static [Self] = &Interpolation::ALL;

    fn name(self) -> &'static str {
        Interpolation::name(self)
    }
}
