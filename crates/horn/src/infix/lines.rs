//! Tokens broken into lines.
//!
//! A group stands on one line if it fits, with the text behind it up to the next break. Otherwise each of its breaks
//! starts a line, in the column where the group starts and its indentation further, but for those of lists, which do so
//! only where the next item does not fit. One pass sums up widths, one writes.
//!
//! Where it comes from: Oppen, "Prettyprinting", 1980.

use super::Fit;

/// A part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Text(String),
    /// Starts a group with an indentation.
    Open(usize),
    Close,
    /// A space, or a new line if the group has several.
    Break,
    /// A space, or a new line if the group has several and what follows does not fit.
    Fill,
    /// A new line.
    Line,
}

/// The tokens as text. Groups that are not closed end with it.
pub(super) fn broken(tokens: &[Token], fit: Fit) -> String {
    // What stands before each token if all is on one line.
    let mut before: Vec<usize> = Vec::with_capacity(tokens.len() + 1);
    let mut total: usize = 0;
    for token in tokens {
        before.push(total);
        total += match token {
            Token::Text(text) => text.chars().count(),
            Token::Break | Token::Fill => 1,
            Token::Open(_) | Token::Close | Token::Line => 0,
        };
    }
    before.push(total);
    // The next break from each token on, in any group, and where the item behind a break or a whole group ends.
    let mut next_break = vec![tokens.len(); tokens.len() + 1];
    let mut ends = vec![tokens.len(); tokens.len()];
    // The ends of the groups around, and of the items at the place that was reached.
    let mut around: Vec<(usize, usize)> = Vec::new();
    for (position, token) in tokens.iter().enumerate().rev() {
        next_break[position] = match token {
            Token::Break | Token::Fill | Token::Line => position,
            _ => next_break[position + 1],
        };
        match token {
            Token::Close => around.push((position, position)),
            Token::Open(_) => ends[position] = around.pop().map_or(tokens.len(), |(end, _)| end),
            Token::Break | Token::Fill | Token::Line => {
                if let Some((_, item)) = around.last_mut() {
                    ends[position] = std::mem::replace(item, position);
                }
            }
            Token::Text(_) => {}
        }
    }
    // Deep groups start no further to the right than this, so that the text stays linear.
    let most_indent = fit.column + (fit.width.saturating_sub(fit.column) / 2).min(200);
    let mut text = String::new();
    let mut column = fit.column;
    // Where lines of the open groups start, and whether the groups are broken.
    let mut groups: Vec<(usize, bool)> = Vec::new();
    for (position, token) in tokens.iter().enumerate() {
        let fits = |end: usize| column.saturating_add(before[end] - before[position]) <= fit.width;
        let (indent, is_broken) = groups.last().copied().unwrap_or((fit.column, false));
        let is_line = match token {
            Token::Text(part) => {
                text.push_str(part);
                column += part.chars().count();
                continue;
            }
            Token::Open(extra) => {
                let is_broken = !fits(next_break[ends[position]]);
                groups.push(((column + extra).min(most_indent), is_broken));
                continue;
            }
            Token::Close => {
                groups.pop();
                continue;
            }
            Token::Break => is_broken,
            Token::Fill => is_broken && !fits(next_break[ends[position]]),
            Token::Line => true,
        };
        if is_line {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            text.push(' ');
            column += 1;
        }
    }
    text
}
