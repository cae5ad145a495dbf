//! How many inputs are to be generated, as the environment says.

use std::ops::Range;

/// How many times as many inputs are to be generated: `SHOFAR_TEST_SCALE` in the environment.
pub fn scale() -> u64 {
    setting("SHOFAR_TEST_SCALE", 1)
}

/// The numbers of inputs, of which there are usually so many. `SHOFAR_TEST_FROM` in the environment leaves out those
/// before, so that a long run can be made in pieces.
pub fn numbers(count: u64) -> Range<u64> {
    setting("SHOFAR_TEST_FROM", 0)..count * scale()
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
