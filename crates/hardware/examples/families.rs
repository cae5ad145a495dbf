//! Writes a circuit of a family to standard output, in BTOR2, to measure with: its answer is known by construction.
//!
//! `families FAMILY SIZE [unsafe]`. The same arguments give the same text. Without arguments it lists the families.

use std::io::{self, Write as _};
use std::process::ExitCode;

#[path = "../tests/families/mod.rs"]
mod families;

use families::FAMILIES;

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = io::stdout().lock();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let family = words.first().and_then(|name| FAMILIES.iter().find(|family| family.name == *name));
    let size = words.get(1).and_then(|size| size.parse().ok());
    let is_safe = match words.get(2..) {
        None | Some([]) => Some(true),
        Some(["unsafe"]) => Some(false),
        Some(_) => None,
    };
    if let (Some(family), Some(size), Some(is_safe)) = (family, size, is_safe)
        && family.sizes.contains(&size)
    {
        out.write_all(family.text(size, is_safe).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut message = io::stderr().lock();
    writeln!(message, "families FAMILY SIZE [unsafe], with the families and their sizes")?;
    for family in FAMILIES {
        writeln!(message, "    {:<12} {} to {}", family.name, family.sizes.start(), family.sizes.end())?;
    }
    Ok(ExitCode::from(2))
}
