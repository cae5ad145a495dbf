//! Shrunk traces that once failed.

use std::fs;
use std::path::Path;

use shofar_mbt::{Coverage, run};

#[test]
fn what_once_went_wrong_is_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut coverage = Coverage::default();
        if let Err(failure) = run(&text, &mut coverage) {
            panic!("{}: {failure}", file.display());
        }
        assert_eq!(coverage.of("proofs, not shown"), 0, "{}", file.display());
    }
}
