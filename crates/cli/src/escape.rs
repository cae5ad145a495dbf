//! Texts of the input in messages.
//!
//! Names, file names and hints may contain control characters, which terminals obey. Messages write them as SMT-LIB does in
//! string literals: `\u{1b}`. Standard output is for programs and has the characters themselves.

/// A text as part of a line: control characters are escaped, line breaks and tabs among them.
pub(crate) fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// A text that may have several lines and tabs; the other control characters are escaped.
pub(crate) fn lines(text: &str) -> String {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !is_kept(c) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let text = "|a\x1b]0;x\x07\u{9b}31m|\r漢é😀\x7f\0";
        let expected = r"|a\u{1b}]0;x\u{7}\u{9b}31m|\u{d}漢é😀\u{7f}\u{0}";
        assert_eq!((&*line(text), &*lines(text)), (expected, expected));
    }

    #[test]
    fn only_texts_of_several_lines_keep_line_breaks_and_tabs() {
        assert_eq!((&*line("a\nb\tc"), &*lines("a\nb\tc")), (r"a\u{a}b\u{9}c", "a\nb\tc"));
    }
}
