//! The options of engines, by name.
//!
//! An engine declares each option once, by [`options!`]: the field, its default, the name, the meaning, and the range
//! of a number. The macro makes the fields with their defaults, and the [`EngineOption`]s that read, set and describe
//! them.

use std::ops::RangeInclusive;

use crate::InterpolationMethod;

/// Declares the struct `Options` of an engine. A row is `field: type = default, "name": "meaning"`, followed by
/// `in range` for a number; without a name it is not an option for users. Comments in front of a row are added to the
/// documentation of the field.
macro_rules! options {
    ($(
        $(#[$attribute:meta])*
        $field:ident: $type:ty = $default:expr $(, $name:literal: $meaning:literal $(in $range:expr)?)?;
    )*) => {
        /// The options of the engine.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[non_exhaustive]
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
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*

            /// The options for users.
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

/// An option of an engine for its users.
pub struct EngineOption<'a> {
    /// Its name, for example `guidance`.
    pub name: &'static str,
    /// Its meaning, in one line.
    pub meaning: &'static str,
    /// The default value.
    pub default: String,
    pub(crate) setting: &'a mut dyn Setting,
    /// The admissible range, if it is a number.
    pub(crate) range: Option<RangeInclusive<u64>>,
}

impl EngineOption<'_> {
    /// Its value.
    pub fn get(&self) -> String {
        self.setting.get()
    }

    /// The admissible values.
    pub fn values(&self) -> String {
        match &self.range {
            Some(range) => format!("{} from {} to {}", self.setting.values(), range.start(), range.end()),
            None => self.setting.values(),
        }
    }

    /// Sets the value if it is possible, and returns whether it is.
    #[must_use]
    pub fn set(&mut self, value: &str) -> bool {
        let is_possible =
            self.range.as_ref().is_none_or(|range| value.parse().is_ok_and(|number| range.contains(&number)));
        is_possible && self.setting.set(value)
    }
}

/// A setting that can be parsed from a text.
pub(crate) trait Setting {
    fn get(&self) -> String;
    fn values(&self) -> String;
    /// Sets the value; returns whether the text is one.
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

/// An enumeration whose values have names.
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
