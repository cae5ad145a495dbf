//! What users may choose about an engine, by names.
//!
//! An engine declares each choice once, by [`options!`]: the field, its default, the name, the meaning, and the range of a
//! number. The fields with their defaults, and the [`EngineOption`]s by which they are read, set and described, are made of that.

use std::ops::RangeInclusive;

use crate::InterpolationMethod;

/// Declares the struct `Options` of an engine. A row is `field: type = default, "name": "meaning"`, with `in range` behind it
/// for a number; without a name it is no option of users. Comments in front of a row are added to the documentation of the field.
macro_rules! options {
    ($(
        $(#[$attribute:meta])*
        $field:ident: $type:ty = $default:expr $(, $name:literal: $meaning:literal $(in $range:expr)?)?;
    )*) => {
        /// Choices of the method.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Options {
            $(
                $(#[doc = concat!("`", $name, "`: ", $meaning, ".\n\n")])?
                $(#[$attribute])*
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                pub $field: $type,
            )*
        }

        impl Default for Options {
            fn default() -> Self {
                Options { $($field: $default),* }
            }
        }

        impl Options {
            /// What users may choose.
            fn list(&mut self) -> Vec<$crate::EngineOption<'_>> {
                use $crate::option::{EngineOption, Setting};
                let defaults = Options::default();
                vec![$($(
                    EngineOption {
                        name: $name,
                        meaning: $meaning,
                        default: Setting::get(&defaults.$field),
                        setting: &mut self.$field,
                        range: [$($range)?].into_iter().next(),
                    },
                )?)*]
            }
        }
    };
}

pub(crate) use options;

/// A choice that an engine leaves to its user.
pub struct EngineOption<'a> {
    /// Its name, as in `guidance`.
    pub name: &'static str,
    /// What it chooses, in one line.
    pub meaning: &'static str,
    /// The value that it has if nobody chooses.
    pub default: String,
    pub(crate) setting: &'a mut dyn Setting,
    /// The numbers that it may have, if it is one.
    pub(crate) range: Option<RangeInclusive<u64>>,
}

impl EngineOption<'_> {
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

impl Named for InterpolationMethod {
    const ALL: &'static [Self] = &InterpolationMethod::ALL;

    fn name(self) -> &'static str {
        InterpolationMethod::name(self)
    }
}
