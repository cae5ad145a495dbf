//! The number of generated inputs, set by the environment.

use std::ops::Range;

/// The factor for the number of inputs: `SHOFAR_TEST_SCALE` in the environment.
pub fn scale() -> u64 {
    setting("SHOFAR_TEST_SCALE", 1)
}

/// The indices of inputs, by default `0..count`. `SHOFAR_TEST_FROM` in the environment skips the first ones, so that a
/// long run can be split.
pub fn numbers(count: u64) -> Range<u64> {
    setting("SHOFAR_TEST_FROM", 0)..count * scale()
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
