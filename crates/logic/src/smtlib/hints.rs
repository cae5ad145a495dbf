//! The errors of the reader that come with a hint: an undeclared name, and a command that does not end.

use shofar_run::did_you_mean;

use super::lexer::{Short, SyntaxError, Token};
use super::reader::Reader;
use crate::op::named_operators;

impl Reader<'_, '_> {
    /// The error about a name without meaning, with the nearest name or the equivalent of another language's operator.
    #[cold]
    pub(super) fn undeclared(&self, text: &str, token: Token<'_>, offset: usize) -> SyntaxError {
        let reserved =
            matches!(token, Token::Symbol("let" | "forall" | "exists" | "match" | "_" | "as" | "!"));
        let short = Short(text);
        if reserved {
            return SyntaxError::new(offset, format!("unexpected reserved word `{short}`"));
        }
        if named_operators().any(|(name, _)| name == text) {
            return SyntaxError::new(offset, format!("the logic has no symbol `{short}`"));
        }
        let hint = match foreign(text) {
            Some(name) => Some(format!("SMT-LIB writes {name}")),
            None if is_command(text) => Some(self.missing_parenthesis()),
            None => self.environment.nearest(self.store, text).map(did_you_mean),
        };
        SyntaxError::new(offset, format!("undeclared symbol `{short}`")).with_hint(hint)
    }

    #[cold]
    pub(super) fn expected(&self, what: &str, found: Token<'_>) -> SyntaxError {
        let hint = (found == Token::End).then(|| self.missing_parenthesis());
        SyntaxError::new(self.lexer.offset(), format!("expected {what}, found {found}")).with_hint(hint)
    }

    #[cold]
    fn missing_parenthesis(&self) -> String {
        let line = self.lexer.line(self.command);
        format!("is a `)` missing in the command that starts in line {line}?")
    }
}

/// Whether this is the name of a common command, which no formula contains.
fn is_command(name: &str) -> bool {
    matches!(name, "assert" | "check-sat" | "get-model" | "exit" | "rule" | "query")
        || name.starts_with("declare-")
        || name.starts_with("define-")
}

/// The SMT-LIB equivalents of operators of other languages.
fn foreign(name: &str) -> Option<&'static str> {
    Some(match name {
        "==" | "===" | "eq" => "`=` for equality",
        "!=" | "/=" | "<>" | "neq" => "`distinct` for disequality",
        "=<" => "`<=`",
        "=>=" => "`>=`",
        "&&" | "&" => "`and`",
        "~" => "`not` for negation and `-` for minus",
        "->" => "`=>` for implication",
        "<->" | "<=>" => "`=` for equivalence",
        "%" => "`mod`",
        "if" => "`ite`",
        _ => return None,
    })
}
