//! Mistakes in the input, shown with an excerpt of the text.
//!
//! The first line of a message is `FILE:LINE:COLUMN: MESSAGE`, so that editors and scripts find the place. Below it stand
//! the line of the text, with the token or expression underlined, and a hint if there is one:
//!
//! ```text
//! loop.smt2:7:12: undeclared symbol `Invv`
//!   |
//! 7 |   (assert (Invv x))
//!   |            ^^^^
//!   |
//!   = help: did you mean `Inv`?
//! ```
//!
//! - D1: the cost of a message depends on [`WINDOW`] only, except that the line is counted from the beginning of the text.
//!   Files of one huge line are common, and are neither copied nor printed.
//! - D2: a file cannot control the terminal. In file name, message and hint control characters are escaped. In the excerpt
//!   the renderer replaces those of ASCII; the others, and bytes that are not UTF-8, become replacement characters.

use std::io::{self, Write};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{Effects, Style};
use serde_json::{Value as Json, json};
use shofar_horn::{ParseError, ParseErrorKind, Position};
use terminal_size::terminal_size_of;

use crate::escape;

/// Bytes of a line that are shown at most before and after the beginning of the mistake.
const WINDOW: usize = 400;

/// The width of messages if standard error is not a terminal.
const WIDTH: usize = 120;

/// The least width of messages. Narrower terminals break the lines.
const LEAST_WIDTH: usize = 40;

/// The command for scripts that are not clauses.
pub(crate) const SMT_SCRIPTS: &str = "`shofar smt` executes SMT scripts";

/// A mistake in the input, ready to be printed in any thread.
pub(crate) struct Diagnostic {
    file: String,
    position: Position,
    message: String,
    hint: Option<String>,
    excerpt: Option<Excerpt>,
}

/// The line of a text with a mistake, cut to a window around it.
struct Excerpt {
    text: String,
    line: usize,
    /// The bytes of `text` to underline.
    span: Range<usize>,
}

impl Diagnostic {
    /// A mistake that a reader has found in a text.
    pub(crate) fn new(text: &[u8], error: ParseError) -> Self {
        let line = error.position.line as usize;
        let excerpt = error.span.map(|span| Excerpt::new(text, line, span));
        Diagnostic {
            file: error.file,
            position: error.position,
            message: error.message,
            hint: hint(error.kind, error.hint),
            excerpt,
        }
    }

    /// Writes the message to standard error.
    pub(crate) fn print(&self) -> io::Result<()> {
        let bold = Style::new().effects(Effects::BOLD);
        let mut out = anstream::stderr().lock();
        let (file, message) = (escape::line(&self.file), escape::line(&self.message));
        writeln!(out, "{bold}{file}:{}:{bold:#} {message}", self.position)?;
        match (&self.excerpt, self.hint.as_deref().map(escape::line)) {
            (Some(excerpt), hint) => writeln!(out, "{}", excerpt.rendered(hint.as_deref())),
            (None, Some(hint)) => writeln!(out, "help: {hint}"),
            (None, None) => Ok(()),
        }
    }

    /// The message and its place in one line.
    pub(crate) fn summary(&self) -> String {
        format!("{}:{}: {}", self.file, self.position, self.message)
    }

    /// The message as an event of `--json`.
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "event": "error",
            "file": self.file,
            "line": self.position.line,
            "column": self.position.column,
            "message": self.message,
            "hint": self.hint,
        })
    }
}

/// The hint of a reader, with the option or command that helps.
fn hint(kind: ParseErrorKind, hint: Option<String>) -> Option<String> {
    match kind {
        ParseErrorKind::SeveralQuestions => Some("choose one by its number, as in `--query 1`".to_owned()),
        ParseErrorKind::SmtScript => hint.map(|hint| format!("{hint}; {SMT_SCRIPTS}")),
        _ => hint,
    }
}

impl Excerpt {
    /// The excerpt for a span of the text that begins in this line. A span of several lines is cut to the first one. At the
    /// end of the text it is the end of the last line that is not blank.
    fn new(text: &[u8], mut line: usize, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        if text[start..].is_empty() {
            let blank = text.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).take(WINDOW);
            start -= blank.clone().count();
            line = line.saturating_sub(blank.filter(|byte| **byte == b'\n').count()).max(1);
        }
        let is_newline = |byte: &u8| *byte == b'\n';
        let before = &text[start.saturating_sub(WINDOW)..start];
        let before = &before[before.iter().rposition(is_newline).map_or(0, |newline| newline + 1)..];
        let after = &text[start..text.len().min(start + WINDOW)];
        let after = &after[..after.iter().position(is_newline).unwrap_or(after.len())];
        let after = after.strip_suffix(b"\r").unwrap_or(after);
        let (marked, after) = after.split_at(span.end.saturating_sub(start).min(after.len()));
        let mut excerpt = shown(whole_characters(before));
        let begin = excerpt.len();
        excerpt.push_str(&shown(marked));
        let end = excerpt.len();
        excerpt.push_str(&shown(after));
        Excerpt { text: excerpt, line, span: begin..end }
    }

    /// The excerpt with colours, as a text of several lines.
    fn rendered(&self, hint: Option<&str>) -> String {
        let annotation = AnnotationKind::Primary.span(self.span.clone());
        let snippet = Snippet::source(&self.text).line_start(self.line).annotation(annotation);
        let hint = hint.map(|hint| Level::HELP.message(hint));
        let group = Group::with_level(Level::ERROR).element(snippet).elements(hint);
        let width = terminal_size_of(io::stderr()).map_or(WIDTH, |(width, _)| usize::from(width.0));
        Renderer::styled().term_width(width.max(LEAST_WIDTH)).render(&[group])
    }
}

/// Bytes as the renderer gets them, which replaces only the control characters of ASCII.
fn shown(bytes: &[u8]) -> String {
    let is_left = |c: char| c.is_control() && !c.is_ascii();
    String::from_utf8_lossy(bytes).replace(is_left, "\u{fffd}")
}

/// A text without the end of a character whose beginning was cut off.
fn whole_characters(text: &[u8]) -> &[u8] {
    let cut = text.iter().take(3).take_while(|byte| *byte & 0xc0 == 0x80).count();
    &text[cut..]
}

#[cfg(test)]
mod tests {
    use shofar_testing::Random;

    use super::*;

    /// The excerpt for a part of a text, without colours.
    fn excerpt_of(text: &[u8], part: &[u8]) -> String {
        let start = text.windows(part.len()).position(|window| window == part).expect("it is a part");
        excerpt_at(text, start..start + part.len())
    }

    fn excerpt_at(text: &[u8], span: Range<usize>) -> String {
        let line = Position::of(text, span.start).line as usize;
        let rendered = Excerpt::new(text, line, span).rendered(None);
        anstream::adapter::strip_str(&rendered).to_string()
    }

    #[test]
    fn the_whole_expression_is_underlined() {
        assert_eq!(excerpt_of(b"(a)\n(b (c d))\n", b"(c d)"), "  |\n2 | (b (c d))\n  |    ^^^^^");
    }

    #[test]
    fn tabs_wide_characters_and_carriage_returns_keep_the_underline_in_place() {
        assert_eq!(excerpt_of(b"\t(b c)\r\n", b"c"), "  |\n1 |     (b c)\n  |        ^");
        assert_eq!(excerpt_of("(漢字 c)\n".as_bytes(), b"c"), "  |\n1 | (漢字 c)\n  |       ^");
        assert_eq!(excerpt_of("(漢字 c)\r\n".as_bytes(), "漢字".as_bytes()), "  |\n1 | (漢字 c)\n  |  ^^^^");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_reach_the_terminal() {
        let excerpt = excerpt_of(b"(\x1b[31m \xc2\x9b31m\xff\xfe c)\n", b"c");
        assert!(!excerpt.contains(['\x1b', '\u{9b}']), "{excerpt:?}");
        assert!(excerpt.contains("\u{fffd}31m\u{fffd}\u{fffd} c)"), "{excerpt}");
    }

    #[test]
    fn a_span_of_several_lines_is_cut_to_its_first() {
        assert_eq!(excerpt_of(b"(a\n b\n c)", b"a\n b\n c"), "  |\n1 | (a\n  |  ^");
    }

    #[test]
    fn the_end_of_the_text_is_shown_behind_its_last_word() {
        let text = b"(a\n (b\n\n";
        assert_eq!(excerpt_at(text, text.len()..text.len()), "  |\n2 |  (b\n  |    ^");
        assert_eq!(excerpt_at(b"", 0..0), "  |\n1 |\n  | ^");
    }

    #[test]
    fn no_bytes_make_the_renderer_panic() {
        let mut random = Random::new(17);
        let parts: [&[u8]; 12] = [
            b"(",
            b")",
            b"\n",
            b"\r",
            b"\t",
            b"ab",
            b"\0",
            b"\xff",
            b"\x1b[0m",
            "\u{301}".as_bytes(),
            "漢".as_bytes(),
            "\u{202e}".as_bytes(),
        ];
        for _ in 0..2000 {
            let length = random.below(30);
            let text: Vec<u8> = (0..length).flat_map(|_| parts[random.below(parts.len())]).copied().collect();
            let start = random.below(text.len() + 1);
            let end = start + random.below(text.len() + 2);
            assert!(!excerpt_at(&text, start..end).is_empty());
        }
    }

    /// By D1.
    #[test]
    fn of_a_huge_line_only_a_window_is_looked_at() {
        for word in ["(> x 10) ", "漢字漢"] {
            let text = format!("{}mistake {}", word.repeat(1_000_000), word.repeat(1_000_000));
            let shown = excerpt_of(text.as_bytes(), b"mistake");
            assert!(
                shown.len() < 2000 && shown.contains("mistake") && shown.ends_with(" ^^^^^^^"),
                "{shown}"
            );
        }
    }
}
