//! The recursive functions of a model that are tree automata, drawn: states and rules are boxes.
//!
//! Arrows lead from the states of the fields to the rule, and from the rule to the state of the value. Rules between the same states
//! share a box.

use std::fmt::Write as _;

use shofar_horn::infix::{Fit, Notation};
use shofar_horn::witness::{Recursion, TreeAutomaton};
use shofar_logic::TermStore;

use super::automaton::{Frame, drawing};
use super::{Escaped, cut};

/// States and rules up to which a drawing can be read.
const MOST_BOXES: usize = 40;

/// Characters of a line.
const MOST_COLUMNS: usize = 40;

/// The drawings of all automata among recursive functions.
pub(super) fn states(store: &TermStore, notation: Notation, recursion: &Recursion<'_>) -> String {
    let mut html = String::new();
    for (fun, automaton) in recursion.automata() {
        if automaton.states.len() + automaton.rules.len() > MOST_BOXES {
            continue;
        }
        let name = cut(&notation.name(store, store.fun_decl(fun).name), MOST_COLUMNS);
        let tip = html.is_empty().then_some("tip-states");
        let (frames, arrows) = boxes(store, notation, &automaton);
        // Writing to a string does not fail.
        let _ = writeln!(
            html,
            "<section class=\"states\"><h3>automaton {}</h3>{}</section>",
            Escaped::new(&name),
            drawing(&name, &frames, arrows, tip)
        );
    }
    html
}

fn boxes(
    store: &TermStore,
    notation: Notation,
    automaton: &TreeAutomaton,
) -> (Vec<Frame>, Vec<(usize, usize)>) {
    let frame = |class: &'static str, line: String| Frame {
        class,
        lines: vec![cut(&line, MOST_COLUMNS)],
        hint: String::new(),
        clause: None,
    };
    let states = automaton.states.iter();
    let mut frames: Vec<Frame> =
        states.map(|&state| frame("place", notation.term(store, state, Fit::line(8)))).collect();
    let mut arrows: Vec<(usize, usize)> = Vec::new();
    let mut known: Vec<(Vec<usize>, usize, usize)> = Vec::new();
    for rule in &automaton.rules {
        let mut sources: Vec<usize> = rule.sources.iter().flatten().copied().collect();
        sources.sort_unstable();
        sources.dedup();
        let pattern = rule.pattern(store, notation, automaton);
        if let Some(&(_, _, rules)) =
            known.iter().find(|(from, to, _)| *from == sources && *to == rule.target)
        {
            frames[rules].lines.push(cut(&pattern, MOST_COLUMNS));
            continue;
        }
        let rules = frames.len();
        frames.push(frame("rule", pattern));
        arrows.extend(sources.iter().map(|&source| (source, rules)).chain([(rules, rule.target)]));
        known.push((sources, rule.target, rules));
    }
    (frames, arrows)
}
