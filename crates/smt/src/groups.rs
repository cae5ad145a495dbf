//! The arguments of `get-interpolants`: groups of named assertions, in a sequence or a tree.
//!
//! ```text
//! group      name | (and name ...)
//! chain      an item, then further ones;  item   group | (chain)
//! ```
//!
//! Each group is a node. In a chain, the parent of a group is the next group. The root of a chain in parentheses is its
//! last group, whose parent is the next group of the enclosing chain. So consecutive groups are a sequence, and `A (B
//! C) D` is a tree with the root `D` over `A` and `C`, and `C` over `B`. Children come before their parents. The syntax
//! of trees is that of SMTInterpol.

use rustc_hash::FxHashSet;
use shofar_logic::smtlib::{Lexer, Token};

/// A group of assertions and the position of its parent. The root is last; its parent is the position after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group<'t> {
    pub(crate) names: Vec<&'t str>,
    pub(crate) parent: usize,
}

/// Reads the arguments of a `get-interpolants` command.
pub(crate) fn read(text: &[u8]) -> Result<Vec<Group<'_>>, String> {
    let mut lexer = Lexer::new(text);
    let mut next = || lexer.next_token().map_err(|error| error.to_string());
    // The parenthesis and the name of the command.
    next()?;
    next()?;
    let mut groups: Vec<Group<'_>> = Vec::new();
    // For each open chain, the groups that have no parent yet.
    let mut open: Vec<Vec<usize>> = vec![Vec::new()];
    loop {
        let mut token = next()?;
        let mut names = Vec::new();
        while token == Token::Open {
            token = next()?;
            if token == Token::Symbol("and") {
                loop {
                    match next()? {
                        Token::Symbol(name) | Token::Quoted(name) => names.push(name),
                        Token::Close if !names.is_empty() => break,
                        _ => return Err("a group `(and ...)` lists names of assertions".to_owned()),
                    }
                }
            } else {
                open.push(Vec::new());
            }
        }
        if let Token::Symbol(name) | Token::Quoted(name) = token
            && names.is_empty()
        {
            names.push(name);
        }
        let waiting = open.last_mut().ok_or("there are too many parentheses")?;
        if !names.is_empty() {
            let position = groups.len();
            for child in std::mem::replace(waiting, vec![position]) {
                groups[child].parent = position;
            }
            groups.push(Group { names, parent: position + 1 });
            continue;
        }
        if token != Token::Close {
            return Err("a name, a group `(and ...)` or a subtree is expected".to_owned());
        }
        let [root] = waiting[..] else { return Err("a tree needs a group at its root".to_owned()) };
        open.pop();
        match open.last_mut() {
            Some(around) => around.push(root),
            None if groups.len() < 2 => return Err("two groups at least are needed".to_owned()),
            None => return without_repetitions(groups),
        }
    }
}

/// The groups, unless a name is listed twice.
fn without_repetitions(groups: Vec<Group<'_>>) -> Result<Vec<Group<'_>>, String> {
    let mut known = FxHashSet::default();
    let mut names = groups.iter().flat_map(|group| &group.names);
    match names.find(|name| !known.insert(**name)) {
        Some(name) => Err(format!("`{name}` is listed twice")),
        None => Ok(groups),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Vec<(String, usize)>, String> {
        let groups = read(text.as_bytes())?;
        Ok(groups.into_iter().map(|group| (group.names.join("+"), group.parent)).collect())
    }

    #[test]
    fn groups_in_a_row_are_a_sequence() {
        let expected = [("a", 1), ("b+c", 2), ("d", 3)].map(|(names, parent)| (names.to_owned(), parent));
        assert_eq!(shape("(get-interpolants a (and b c) |d|)"), Ok(expected.to_vec()));
    }

    #[test]
    fn parentheses_make_a_tree() {
        let expected = [("a", 3), ("b", 2), ("c", 3), ("d", 4)];
        let expected = expected.map(|(names, parent)| (names.to_owned(), parent));
        assert_eq!(shape("(get-interpolants a (b c) d)"), Ok(expected.to_vec()));
        let expected = [("a", 2), ("b", 2), ("c", 3)].map(|(names, parent)| (names.to_owned(), parent));
        assert_eq!(shape("(get-interpolants (a) (b) c)"), Ok(expected.to_vec()));
        let expected = [("a", 1), ("b", 2), ("c", 3)].map(|(names, parent)| (names.to_owned(), parent));
        assert_eq!(shape("(get-interpolants ((a) b) c)"), Ok(expected.to_vec()));
    }

    #[test]
    fn mistakes_are_told() {
        for text in [
            "(get-interpolants)",
            "(get-interpolants a)",
            "(get-interpolants a (b))",
            "(get-interpolants a 7)",
        ] {
            assert!(shape(text).is_err(), "{text}");
        }
    }
}
