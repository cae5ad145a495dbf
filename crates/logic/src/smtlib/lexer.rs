//! The tokens of SMT-LIB 2.6.
//!
//! The lexer works on bytes, so comments in other encodings are harmless; only names must be UTF-8. It copies nothing:
//! a token is a slice of the text.

use std::fmt;
use std::ops::Range;

use shofar_run::{Poll, Reason};

use super::display::is_symbol_byte;

/// A token, with its slice of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'t> {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A symbol written plainly.
    Symbol(&'t str),
    /// A symbol within bars; the bars are not part of the slice. It is the same name as the plain symbol, except that
    /// it is never a reserved word.
    Quoted(&'t str),
    /// A keyword, with its colon.
    Keyword(&'t str),
    /// Decimal digits.
    Numeral(&'t str),
    /// Decimal digits, a point and more digits.
    Decimal(&'t str),
    /// The digits after `#x`.
    Hex(&'t str),
    /// The digits after `#b`.
    Binary(&'t str),
    /// The contents of a string, with quotation marks still doubled.
    String(&'t [u8]),
    /// The end of the text.
    End,
}

impl fmt::Display for Token<'_> {
    /// Writes the token as error messages name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Open => f.write_str("`(`"),
            Token::Close => f.write_str("`)`"),
            Token::Symbol(name) | Token::Keyword(name) => write!(f, "`{}`", Short(name)),
            Token::Quoted(name) => write!(f, "`|{}|`", Short(name)),
            Token::Numeral(digits) | Token::Decimal(digits) => write!(f, "number {}", Short(digits)),
            Token::Hex(digits) => write!(f, "#x{}", Short(digits)),
            Token::Binary(digits) => write!(f, "#b{}", Short(digits)),
            Token::String(_) => f.write_str("a string"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// A text for a message, truncated if it is too long.
pub(crate) struct Short<'t>(pub(crate) &'t str);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 60;
        match self.0.char_indices().nth(MOST) {
            None => f.write_str(self.0),
            Some((end, _)) => write!(f, "{}...", &self.0[..end]),
        }
    }
}

/// Why a script cannot be read, and where: an error in it, or a limit that was reached there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The start of the text at fault, in bytes: the offset of a token or of a whole expression.
    pub offset: usize,
    /// The end of that text, if it is not the token or expression at `offset`.
    pub end: Option<usize>,
    /// The error message.
    pub message: String,
    /// A suggestion, as a sentence.
    pub hint: Option<String>,
    /// The limit that ended reading. Then the script has no error so far.
    pub interruption: Option<Reason>,
}

impl SyntaxError {
    /// An error at an offset.
    #[cold]
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        SyntaxError { offset, end: None, message: message.into(), hint: None, interruption: None }
    }

    /// An interruption by a limit.
    #[cold]
    pub fn interrupted(offset: usize, reason: Reason) -> Self {
        SyntaxError { interruption: Some(reason), ..SyntaxError::new(offset, reason.to_string()) }
    }

    /// The same error, for the text from its offset to this one.
    pub fn until(mut self, end: usize) -> Self {
        self.end = Some(end);
        self
    }

    /// The same error with this hint, if any.
    pub fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// The text at fault, in bytes: the token or the expression at its offset, unless the error has an end. Empty at
    /// the end of the text.
    pub fn span(&self, text: &[u8]) -> Range<usize> {
        let start = self.offset.min(text.len());
        let end = self.end.unwrap_or_else(|| expression_end(text, start));
        start..end.clamp(start, text.len())
    }

    /// Adds the subject to an error.
    pub fn about(mut self, what: impl fmt::Display) -> Self {
        if self.interruption.is_none() {
            self.message = format!("{what}: {}", self.message);
        }
        self
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// The number of bytes of an expression that are read again to find its end. Messages show a few lines, so a longer one
/// may be cut.
const MOST_OF_EXPRESSION: usize = 1 << 16;

/// The end of the expression that starts at this offset: of a token, or of a list up to its closing parenthesis.
fn expression_end(text: &[u8], offset: usize) -> usize {
    let text = &text[..text.len().min(offset.saturating_add(MOST_OF_EXPRESSION))];
    let mut lexer = Lexer { position: offset, ..Lexer::new(text) };
    let mut depth = 0_usize;
    loop {
        match lexer.next_token() {
            Ok(Token::Open) => depth += 1,
            Ok(Token::Close) => depth = depth.saturating_sub(1),
            Ok(Token::End) => return text.len(),
            Ok(_) => {}
            // A malformed token ends where the next one may start.
            Err(_) => {
                let rest = text[lexer.start..].iter().skip(1);
                return lexer.start + 1 + rest.take_while(|&&byte| in_symbol(byte) || byte >= 0x80).count();
            }
        }
        if depth == 0 {
            return lexer.position;
        }
    }
}

/// Bytes between two checks of the limits.
const STOP_INTERVAL: usize = 1 << 16;

/// Reads tokens one after the other.
#[derive(Clone)]
pub struct Lexer<'t> {
    text: &'t [u8],
    position: usize,
    /// The start of the last token.
    start: usize,
    /// The position at which the limits are checked next.
    pause: usize,
    limits: Option<&'t Poll<'t>>,
}

/// The class of a byte: how a token that starts with it continues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Comment,
    Open,
    Close,
    Symbol,
    Digit,
    Bar,
    Quote,
    Colon,
    Hash,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        classes[byte] = match b {
            b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
            b';' => Class::Comment,
            b'(' => Class::Open,
            b')' => Class::Close,
            b'|' => Class::Bar,
            b'"' => Class::Quote,
            b':' => Class::Colon,
            b'#' => Class::Hash,
            b'0'..=b'9' => Class::Digit,
            _ if is_symbol_byte(b) => Class::Symbol,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

fn in_symbol(byte: u8) -> bool {
    matches!(CLASSES[byte as usize], Class::Symbol | Class::Digit)
}

impl<'t> Lexer<'t> {
    /// A lexer at the beginning of a text.
    pub fn new(text: &'t [u8]) -> Self {
        // Editors add a byte-order mark; it is not part of the script.
        let position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Lexer { text, position, start: position, pause: usize::MAX, limits: None }
    }

    /// Sets limits, which the lexer checks regularly. If one is reached, the next token is an error.
    pub fn within(mut self, limits: &'t Poll<'t>) -> Self {
        (self.pause, self.limits) = (0, Some(limits));
        self
    }

    /// The start of the last token, in bytes from the beginning.
    pub fn offset(&self) -> usize {
        self.start
    }

    /// The end of the last token.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The line of an offset, counted from one. It scans all of the text before.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.text[..offset.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    /// The next token. At the end of the text it is always [`Token::End`].
    #[inline]
    pub fn next_token(&mut self) -> Result<Token<'t>, SyntaxError> {
        if self.position >= self.pause {
            self.ask_limits()?;
        }
        loop {
            self.start = self.position;
            let Some(&byte) = self.text.get(self.position) else { return Ok(Token::End) };
            self.position += 1;
            match CLASSES[byte as usize] {
                Class::Space => {}
                Class::Open => return Ok(Token::Open),
                Class::Close => return Ok(Token::Close),
                Class::Symbol => return Ok(Token::Symbol(self.take_while(self.start, in_symbol)?)),
                Class::Digit => return self.number(),
                Class::Bar => return self.quoted(),
                Class::Comment => self.skip_comment(),
                Class::Quote => return self.string(),
                Class::Colon => return self.keyword(),
                Class::Hash => return self.radix_literal(),
                Class::Other => return Err(self.unexpected_byte(byte)),
            }
        }
    }

    #[cold]
    fn ask_limits(&mut self) -> Result<(), SyntaxError> {
        self.pause = self.position.saturating_add(STOP_INTERVAL);
        match self.limits.and_then(Poll::interruption) {
            Some(reason) => Err(SyntaxError::interrupted(self.position, reason)),
            None => Ok(()),
        }
    }

    /// The slice from `from` up to the first byte that is not `wanted`.
    #[inline]
    fn take_while(&mut self, from: usize, wanted: impl Fn(u8) -> bool) -> Result<&'t str, SyntaxError> {
        while self.text.get(self.position).is_some_and(|&byte| wanted(byte)) {
            self.position += 1;
        }
        self.utf8(from, self.position)
    }

    #[inline]
    fn utf8(&self, from: usize, to: usize) -> Result<&'t str, SyntaxError> {
        std::str::from_utf8(&self.text[from..to])
            .map_err(|error| SyntaxError::new(from + error.valid_up_to(), "a name that is not UTF-8"))
    }

    fn skip_comment(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    fn number(&mut self) -> Result<Token<'t>, SyntaxError> {
        let mut digits = self.take_while(self.start, |b| b.is_ascii_digit())?;
        let fraction = |l: &Self, i: usize| l.text.get(l.position + i).copied();
        let decimal =
            fraction(self, 0) == Some(b'.') && fraction(self, 1).is_some_and(|b| b.is_ascii_digit());
        if decimal {
            self.position += 1;
            digits = self.take_while(self.start, |b| b.is_ascii_digit())?;
        }
        if self.text.get(self.position).is_some_and(|&b| in_symbol(b)) {
            let name = self.take_while(self.start, in_symbol)?;
            let message = format!("`{}` is neither a number nor a symbol", Short(name));
            return Err(SyntaxError::new(self.start, message));
        }
        Ok(if decimal { Token::Decimal(digits) } else { Token::Numeral(digits) })
    }

    fn quoted(&mut self) -> Result<Token<'t>, SyntaxError> {
        let inside = self.position;
        let Some(length) = self.text[inside..].iter().position(|&byte| byte == b'|') else {
            return Err(SyntaxError::new(self.start, "a `|` without its closing `|`"));
        };
        self.position = inside + length + 1;
        Ok(Token::Quoted(self.utf8(inside, inside + length)?))
    }

    fn string(&mut self) -> Result<Token<'t>, SyntaxError> {
        let inside = self.position;
        loop {
            let Some(length) = self.text[self.position..].iter().position(|&byte| byte == b'"') else {
                return Err(SyntaxError::new(self.start, "a string without its closing quotation mark"));
            };
            self.position += length + 1;
            if self.text.get(self.position) != Some(&b'"') {
                return Ok(Token::String(&self.text[inside..self.position - 1]));
            }
            self.position += 1;
        }
    }

    fn keyword(&mut self) -> Result<Token<'t>, SyntaxError> {
        match self.take_while(self.start, in_symbol)? {
            ":" => Err(SyntaxError::new(self.start, "a `:` without the name of a keyword")),
            name => Ok(Token::Keyword(name)),
        }
    }

    fn radix_literal(&mut self) -> Result<Token<'t>, SyntaxError> {
        let radix = self.text.get(self.position).copied();
        let inside = self.start + 2;
        self.position = inside.min(self.text.len());
        let digits = match radix {
            Some(b'x') => self.take_while(inside, |b| b.is_ascii_hexdigit())?,
            Some(b'b') => self.take_while(inside, |b| matches!(b, b'0' | b'1'))?,
            _ => return Err(SyntaxError::new(self.start, "`#` must be followed by `x` or `b` and digits")),
        };
        if digits.is_empty() || self.text.get(self.position).is_some_and(|&b| in_symbol(b)) {
            return Err(SyntaxError::new(self.start, "a malformed hexadecimal or binary number"));
        }
        Ok(if radix == Some(b'x') { Token::Hex(digits) } else { Token::Binary(digits) })
    }

    #[cold]
    fn unexpected_byte(&self, byte: u8) -> SyntaxError {
        let rest = &self.text[self.start..self.text.len().min(self.start + 4)];
        let character = match std::str::from_utf8(rest) {
            Ok(text) => text.chars().next(),
            Err(error) => {
                std::str::from_utf8(&rest[..error.valid_up_to()]).ok().and_then(|text| text.chars().next())
            }
        };
        let message = match character {
            Some(c) if !c.is_control() => format!("unexpected character `{c}`"),
            _ => format!("unexpected byte 0x{byte:02x}"),
        };
        SyntaxError::new(self.start, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut found = Vec::new();
        loop {
            match lexer.next_token().unwrap() {
                Token::End => return found,
                token => found.push(token),
            }
        }
    }

    fn error(text: &[u8]) -> (usize, String) {
        let mut lexer = Lexer::new(text);
        loop {
            match lexer.next_token() {
                Ok(Token::End) => panic!("no error"),
                Ok(_) => {}
                Err(error) => return (error.offset, error.message),
            }
        }
    }

    #[test]
    fn every_kind_of_token() {
        let text = "(assert x!1 |a b\n;| ; comment )\n :named 12 1.50 #xAf0 #b01 \"say \"\"x\"\"\" )";
        let expected = [
            Token::Open,
            Token::Symbol("assert"),
            Token::Symbol("x!1"),
            Token::Quoted("a b\n;"),
            Token::Keyword(":named"),
            Token::Numeral("12"),
            Token::Decimal("1.50"),
            Token::Hex("Af0"),
            Token::Binary("01"),
            Token::String(b"say \"\"x\"\""),
            Token::Close,
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn tokens_need_no_space_between_them() {
        assert_eq!(tokens("(a|b|\"c\"1)").len(), 6);
        assert_eq!(tokens("a;b\rc\n+"), [Token::Symbol("a"), Token::Symbol("+")]);
    }

    #[test]
    fn mistakes_are_located() {
        assert_eq!(error(b"(a |b").0, 3);
        assert_eq!(error(b"  \"abc\"\"").0, 2);
        assert_eq!(error(b"(12ab)"), (1, "`12ab` is neither a number nor a symbol".to_owned()));
        assert_eq!(error(b"1.x").0, 0);
        for malformed in [&b"#"[..], b"#y", b"#x", b"#xg", b"#b2", b"#b012", b":", b"a :)"] {
            error(malformed);
        }
        assert_eq!(error("a ü".as_bytes()), (2, "unexpected character `ü`".to_owned()));
        assert_eq!(error(b"a \xff").1, "unexpected byte 0xff");
        assert_eq!(error(b"|a\xff|").0, 2);
    }

    #[test]
    fn an_error_spans_the_token_or_expression_at_its_offset() {
        let spanned =
            |text: &str, offset: usize| text[SyntaxError::new(offset, "").span(text.as_bytes())].to_owned();
        let text = "(assert (+ |a b| ; )\n (f \"(\"))) 12ab :)";
        assert_eq!(spanned(text, 0), &text[..text.find(" 12").unwrap()]);
        assert_eq!(spanned(text, 1), "assert");
        assert_eq!(spanned(text, 8), "(+ |a b| ; )\n (f \"(\"))");
        assert_eq!(spanned(text, 11), "|a b|");
        assert_eq!(spanned(text, text.find("12").unwrap()), "12ab");
        assert_eq!(spanned(text, text.find(":)").unwrap()), ":");
        assert_eq!(spanned(text, text.len()), "");
        assert_eq!(spanned("(a |bc d", 3), "|bc");
        assert_eq!(spanned("a üü)", 2), "üü");
        assert_eq!(SyntaxError::new(1, "").until(3).span(b"abcde"), 1..3);
        assert_eq!(SyntaxError::new(9, "").until(3).span(b"abcde"), 5..5);
        // The end of a huge expression is not looked for.
        let huge = "(".repeat(1 << 20);
        assert_eq!(SyntaxError::new(5, "").span(huge.as_bytes()), 5..5 + MOST_OF_EXPRESSION);
    }

    #[test]
    fn comments_may_hold_any_bytes() {
        let mut lexer = Lexer::new(b"; caf\xe9\nx");
        assert_eq!(lexer.next_token(), Ok(Token::Symbol("x")));
        assert_eq!(lexer.next_token(), Ok(Token::End));
        assert_eq!(lexer.next_token(), Ok(Token::End));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(tokens("\u{feff}(x").len(), 2);
    }
}
