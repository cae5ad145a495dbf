//! Families of circuits that grow with a parameter, in BTOR2. Their answers are known by construction: each family has a
//! design without a bug and one with a small bug that a run reaches.
//!
//! | family | size | property | the bug |
//! |---|---|---|---|
//! | counter | bits | a counter that restarts never has all bits set | it restarts one step late |
//! | crc | bits | two registers of a cyclic code agree, one holds the complement | one has a tap more |
//! | fifo | log of the depth | a ring buffer has the front of a shift queue | it is full one write late |
//! | round-robin | clients | at most one client has the resource | a grant does not wait for the holder |
//! | matrix | clients | at most one client wins | the winner keeps its priority half |
//! | ring | stations | there is one token | the last station keeps a copy |
//! | pipeline | stages | the result is that of the specification, with stalls | the last stage ignores a stall |
//! | gray | bits | a Gray counter follows a binary one | it misses the wrap-around |
//! | multiplier | bits | shift-and-add ends with the product | it ends one step early |
//! | shift | width | x + x is x shifted, bit by bit behind delay lines | one delay line is longer |
//!
//! The unit of time is a step; all inputs are free. The example `generate` and tests both include this file.

#![allow(dead_code, reason = "each user needs a part")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// A family of designs.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// The sizes for which it is defined.
    pub(crate) sizes: RangeInclusive<usize>,
    /// A size for tests.
    pub(crate) small: usize,
    /// Writes the design of a size, without a bug if the flag is set. The result is true if the property fails.
    make: fn(&mut Design, usize, bool) -> Value,
}

impl Family {
    /// The circuit of a size, as text. It is safe or has the bug.
    pub(crate) fn text(&self, size: usize, is_safe: bool) -> String {
        let mut design = Design::default();
        let bad = (self.make)(&mut design, size, is_safe);
        design.line(&format!("bad {} wrong", bad.id));
        design.text
    }
}

/// All families.
pub(crate) const FAMILIES: &[Family] = &[
    Family { name: "counter", sizes: 2..=64, small: 4, make: counter },
    Family { name: "crc", sizes: 3..=64, small: 5, make: crc },
    Family { name: "fifo", sizes: 1..=16, small: 1, make: fifo },
    Family { name: "round-robin", sizes: 2..=10_000, small: 3, make: round_robin },
    Family { name: "matrix", sizes: 2..=1000, small: 3, make: matrix },
    Family { name: "ring", sizes: 2..=10_000, small: 5, make: ring },
    Family { name: "pipeline", sizes: 1..=10_000, small: 3, make: pipeline },
    Family { name: "gray", sizes: 2..=64, small: 4, make: gray },
    Family { name: "multiplier", sizes: 2..=64, small: 3, make: multiplier },
    Family { name: "shift", sizes: 1..=10_000, small: 4, make: shift },
];

/// A value: its line, and its number of bits.
#[derive(Clone, Copy)]
struct Value {
    id: usize,
    width: usize,
}

/// The text of a circuit while it is written.
#[derive(Default)]
struct Design {
    text: String,
    lines: usize,
    /// By widths: the line of the sort.
    sorts: BTreeMap<usize, usize>,
}

impl Design {
    /// Writes a line. The result is its number.
    fn line(&mut self, content: &str) -> usize {
        self.lines += 1;
        let _ = writeln!(self.text, "{} {content}", self.lines);
        self.lines
    }

    fn sort(&mut self, width: usize) -> usize {
        if let Some(&sort) = self.sorts.get(&width) {
            return sort;
        }
        let sort = self.line(&format!("sort bitvec {width}"));
        self.sorts.insert(width, sort);
        sort
    }

    /// A value with a keyword, and with what follows the sort.
    fn value(&mut self, keyword: &str, width: usize, rest: &str) -> Value {
        let sort = self.sort(width);
        Value { id: self.line(format!("{keyword} {sort} {rest}").trim_end()), width }
    }

    fn input(&mut self, name: &str, width: usize) -> Value {
        self.value("input", width, name)
    }

    fn constant(&mut self, width: usize, number: u64) -> Value {
        self.value("constd", width, &number.to_string())
    }

    /// A state that begins with a number.
    fn state(&mut self, name: &str, width: usize, initial: u64) -> Value {
        // An initial value is defined before its state.
        let initial = self.constant(width, initial);
        let state = self.value("state", width, name);
        self.value("init", width, &format!("{} {}", state.id, initial.id));
        state
    }

    fn next(&mut self, state: Value, value: Value) {
        assert_eq!(state.width, value.width);
        self.value("next", state.width, &format!("{} {}", state.id, value.id));
    }

    fn unary(&mut self, operator: &str, width: usize, argument: Value) -> Value {
        self.value(operator, width, &argument.id.to_string())
    }

    fn not(&mut self, argument: Value) -> Value {
        self.unary("not", argument.width, argument)
    }

    /// Whether a bit is set.
    fn any(&mut self, argument: Value) -> Value {
        self.unary("redor", 1, argument)
    }

    /// An operator whose result is as wide as its arguments.
    fn binary(&mut self, operator: &str, left: Value, right: Value) -> Value {
        assert_eq!(left.width, right.width);
        self.value(operator, left.width, &format!("{} {}", left.id, right.id))
    }

    fn and(&mut self, left: Value, right: Value) -> Value {
        self.binary("and", left, right)
    }

    fn or(&mut self, left: Value, right: Value) -> Value {
        self.binary("or", left, right)
    }

    fn equal(&mut self, left: Value, right: Value) -> Value {
        self.value("eq", 1, &format!("{} {}", left.id, right.id))
    }

    fn is(&mut self, value: Value, number: u64) -> Value {
        let number = self.constant(value.width, number);
        self.equal(value, number)
    }

    fn differ(&mut self, left: Value, right: Value) -> Value {
        self.value("neq", 1, &format!("{} {}", left.id, right.id))
    }

    fn plus(&mut self, value: Value, number: u64) -> Value {
        let number = self.constant(value.width, number);
        self.binary("add", value, number)
    }

    fn ite(&mut self, condition: Value, then: Value, other: Value) -> Value {
        assert_eq!(then.width, other.width);
        self.value("ite", then.width, &format!("{} {} {}", condition.id, then.id, other.id))
    }

    /// The bits from `low` to `high`.
    fn slice(&mut self, value: Value, high: usize, low: usize) -> Value {
        self.value("slice", high - low + 1, &format!("{} {high} {low}", value.id))
    }

    fn bit(&mut self, value: Value, bit: usize) -> Value {
        self.slice(value, bit, bit)
    }

    fn concat(&mut self, high: Value, low: Value) -> Value {
        self.value("concat", high.width + low.width, &format!("{} {}", high.id, low.id))
    }

    /// The word with 0 in place of each bit above its width.
    fn extend(&mut self, value: Value, width: usize) -> Value {
        self.value("uext", width, &format!("{} {}", value.id, width - value.width))
    }

    /// The word moved up by one bit; its lowest bit is given.
    fn shifted_up(&mut self, value: Value, lowest: Value) -> Value {
        if value.width == 1 {
            return lowest;
        }
        let rest = self.slice(value, value.width - 2, 0);
        self.concat(rest, lowest)
    }

    /// Whether at least two bits are set.
    fn has_two(&mut self, value: Value) -> Value {
        let before = self.unary("dec", value.width, value);
        let rest = self.and(value, before);
        self.any(rest)
    }

    /// The sum of a word and a bit.
    fn plus_bit(&mut self, value: Value, bit: Value) -> Value {
        let bit = self.extend(bit, value.width);
        self.binary("add", value, bit)
    }
}

/// The number with so many bits that are all set.
fn ones(width: usize) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

fn counter(design: &mut Design, width: usize, is_safe: bool) -> Value {
    let enable = design.input("enable", 1);
    let count = design.state("count", width, 0);
    let ends = design.is(count, if is_safe { ones(width) - 1 } else { ones(width) });
    let (zero, more) = (design.constant(width, 0), design.plus(count, 1));
    let step = design.ite(ends, zero, more);
    let next = design.ite(enable, step, count);
    design.next(count, next);
    design.is(count, ones(width))
}

fn crc(design: &mut Design, width: usize, is_safe: bool) -> Value {
    // x^width + x + 1, with one more tap in the middle for the bug.
    let taps = 0b11;
    let other_taps = if is_safe { taps } else { taps ^ 1 << (width / 2).max(2) };
    let data = design.input("data", 1);
    let register = design.state("register", width, 0);
    let complement = design.state("complement", width, ones(width));
    let zero = design.constant(width, 0);
    for (state, taps, is_complement) in [(register, taps, false), (complement, other_taps, true)] {
        let word = if is_complement { design.not(state) } else { state };
        let top = design.bit(word, width - 1);
        let feedback = design.binary("xor", top, data);
        let low = design.constant(1, 0);
        let moved = design.shifted_up(word, low);
        let taps = design.constant(width, taps & ones(width));
        let mask = design.ite(feedback, taps, zero);
        let next = design.binary("xor", moved, mask);
        let next = if is_complement { design.not(next) } else { next };
        design.next(state, next);
    }
    let agrees = design.not(complement);
    design.differ(register, agrees)
}

fn fifo(design: &mut Design, log_depth: usize, is_safe: bool) -> Value {
    let (depth, width) = (1usize << log_depth, 2);
    let [push, pop] = ["push", "pop"].map(|name| design.input(name, 1));
    let data = design.input("data", width);
    let first = design.state("first", log_depth, 0);
    let count = design.state("count", log_depth + 2, 0);
    let full = design.is(count, depth as u64 + u64::from(!is_safe));
    let (is_open, is_used) = (design.not(full), design.any(count));
    let (writes, reads) = (design.and(push, is_open), design.and(pop, is_used));

    // The ring buffer: a write goes to the place behind the last byte.
    let low_count = design.slice(count, log_depth - 1, 0);
    let place = design.binary("add", first, low_count);
    let mut front = design.constant(width, 0);
    for index in 0..depth {
        let cell = design.state(&format!("memory[{index}]"), width, 0);
        let is_here = design.is(place, index as u64);
        let is_written = design.and(writes, is_here);
        let next = design.ite(is_written, data, cell);
        design.next(cell, next);
        let is_first = design.is(first, index as u64);
        front = design.ite(is_first, cell, front);
    }
    let next = design.plus_bit(first, reads);
    design.next(first, next);
    let more = design.plus_bit(count, writes);
    let minus = design.extend(reads, count.width);
    let next = design.binary("sub", more, minus);
    design.next(count, next);

    // The queue: a read moves all places down, and a write goes to the first free one. It has room for one write more.
    let cells: Vec<Value> =
        (0..=depth).map(|index| design.state(&format!("queue[{index}]"), width, 0)).collect();
    for (index, &cell) in cells.iter().enumerate() {
        let later = cells.get(index + 1).copied().unwrap_or(cell);
        let stays = design.ite(reads, later, cell);
        let free = design.is(count, index as u64);
        let free_after = design.is(count, index as u64 + 1);
        let is_free = design.ite(reads, free_after, free);
        let is_written = design.and(writes, is_free);
        let next = design.ite(is_written, data, stays);
        design.next(cell, next);
    }
    let wrong = design.differ(front, cells[0]);
    design.and(is_used, wrong)
}

fn round_robin(design: &mut Design, clients: usize, is_safe: bool) -> Value {
    let [request, hold] = ["request", "hold"].map(|name| design.input(name, clients));
    // The client that comes first has its bit in `turn`.
    let turn = design.state("turn", clients, 1);
    let granted = design.state("granted", clients, 0);
    // The lowest request from the turn on, with wrap-around: x & ~(x - turn) on the requests twice.
    let twice = design.concat(request, request);
    let from = design.extend(turn, 2 * clients);
    let rest = design.binary("sub", twice, from);
    let rest = design.not(rest);
    let lowest = design.and(twice, rest);
    let (high, low) = (design.slice(lowest, 2 * clients - 1, clients), design.slice(lowest, clients - 1, 0));
    let winner = design.or(high, low);
    let held = design.and(granted, hold);
    let is_held = design.any(held);
    let next = if is_safe { design.ite(is_held, held, winner) } else { design.or(held, winner) };
    design.next(granted, next);
    let top = design.bit(winner, clients - 1);
    let after = design.shifted_up(winner, top);
    let is_won = design.any(winner);
    let next = design.ite(is_won, after, turn);
    design.next(turn, next);
    design.has_two(granted)
}

fn matrix(design: &mut Design, clients: usize, is_safe: bool) -> Value {
    let request = design.input("request", clients);
    // Client i comes before client j if before[i][j] is set.
    let mut before: BTreeMap<(usize, usize), Value> = BTreeMap::new();
    for i in 0..clients {
        for j in (0..clients).filter(|&j| j != i) {
            before.insert((i, j), design.state(&format!("before[{i}][{j}]"), 1, u64::from(i < j)));
        }
    }
    let requests: Vec<Value> = (0..clients).map(|i| design.bit(request, i)).collect();
    let mut wins = Vec::new();
    for i in 0..clients {
        let mut win = requests[i];
        for j in (0..clients).filter(|&j| j != i) {
            let loses = design.and(requests[j], before[&(j, i)]);
            let stays = design.not(loses);
            win = design.and(win, stays);
        }
        wins.push(win);
    }
    // The winner becomes the last one: it gives its priority over all others to them.
    for (&(i, j), &state) in &before {
        let loses = design.not(wins[i]);
        let kept = design.and(state, loses);
        let has_bug = !is_safe && j == 0;
        let next = if has_bug { kept } else { design.or(kept, wins[j]) };
        design.next(state, next);
    }
    let winners = wins[1..].iter().fold(wins[0], |word, &win| design.concat(win, word));
    design.has_two(winners)
}

fn ring(design: &mut Design, stations: usize, is_safe: bool) -> Value {
    let [moves, stall] = ["move", "stall"].map(|name| design.input(name, 1));
    let token = design.state("token", stations, 1);
    let last = design.bit(token, stations - 1);
    let mut passed = design.shifted_up(token, last);
    if !is_safe {
        let kept = design.and(last, stall);
        let rest = design.constant(stations - 1, 0);
        let copy = design.concat(kept, rest);
        passed = design.or(passed, copy);
    }
    let next = design.ite(moves, passed, token);
    design.next(token, next);
    design.has_two(token)
}

fn pipeline(design: &mut Design, stages: usize, is_safe: bool) -> Value {
    let width = 4;
    let [enters, stall] = ["enters", "stall"].map(|name| design.input(name, 1));
    let data = design.input("data", width);
    // A stage adds or flips: different values stay different.
    let compute = |design: &mut Design, stage: usize, value: Value| {
        let number = (3 * stage as u64 + 1) & ones(width);
        if stage.is_multiple_of(2) {
            return design.plus(value, number);
        }
        let number = design.constant(width, number);
        design.binary("xor", value, number)
    };
    let mut expected = data;
    for stage in 0..stages {
        expected = compute(design, stage, expected);
    }
    let (mut is_valid, mut value) = (enters, data);
    for stage in 0..stages {
        let valid = design.state(&format!("valid{stage}"), 1, 0);
        let result = design.state(&format!("result{stage}"), width, 0);
        let reference = design.state(&format!("reference{stage}"), width, 0);
        let computed = compute(design, stage, value);
        let is_deaf = !is_safe && stage + 1 == stages;
        for (state, new, can_stall) in
            [(valid, is_valid, true), (result, computed, !is_deaf), (reference, expected, true)]
        {
            let next = if can_stall { design.ite(stall, state, new) } else { new };
            design.next(state, next);
        }
        (is_valid, value, expected) = (valid, result, reference);
    }
    let wrong = design.differ(value, expected);
    design.and(is_valid, wrong)
}

fn gray(design: &mut Design, width: usize, is_safe: bool) -> Value {
    let enable = design.input("enable", 1);
    let binary = design.state("binary", width, 0);
    let gray = design.state("gray", width, 0);
    let more = design.plus(binary, 1);
    let next = design.ite(enable, more, binary);
    design.next(binary, next);
    // An even number of ones: the lowest bit flips. Else the bit above the lowest one flips, or the highest bit if it is
    // the lowest one.
    let parity = design.unary("redxor", 1, gray);
    let negated = design.unary("neg", width, gray);
    let lowest = design.and(gray, negated);
    let zero = design.constant(1, 0);
    let above = design.shifted_up(lowest, zero);
    let top = design.bit(lowest, width - 1);
    let above = if is_safe { design.ite(top, lowest, above) } else { above };
    let one = design.constant(width, 1);
    let mask = design.ite(parity, above, one);
    let flipped = design.binary("xor", gray, mask);
    let next = design.ite(enable, flipped, gray);
    design.next(gray, next);
    let one = design.constant(width, 1);
    let half = design.binary("srl", binary, one);
    let code = design.binary("xor", binary, half);
    design.differ(gray, code)
}

fn multiplier(design: &mut Design, width: usize, is_safe: bool) -> Value {
    let [left, right] = ["left", "right"].map(|name| design.input(name, width));
    let is_running = design.state("running", 1, 0);
    let steps = design.state("steps", width, 0);
    let [first, second, moved, rest, sum] =
        ["first", "second", "moved", "rest", "sum"].map(|name| design.state(name, width, 0));
    let on = design.constant(1, 1);
    design.next(is_running, on);
    let is_done = design.is(steps, if is_safe { width as u64 } else { width as u64 - 1 });
    let more = design.plus(steps, 1);
    let zero = design.constant(width, 0);
    let low = design.constant(1, 0);
    let doubled = design.shifted_up(moved, low);
    let one = design.constant(width, 1);
    let halved = design.binary("srl", rest, one);
    let takes = design.bit(rest, 0);
    let added = design.binary("add", sum, moved);
    let summed = design.ite(takes, added, sum);
    for (state, begin, then) in [
        (steps, zero, more),
        (first, left, first),
        (second, right, second),
        (moved, left, doubled),
        (rest, right, halved),
        (sum, zero, summed),
    ] {
        let stays = design.ite(is_done, state, then);
        let next = design.ite(is_running, stays, begin);
        design.next(state, next);
    }
    let product = design.binary("mul", first, second);
    let wrong = design.differ(product, sum);
    let is_over = design.and(is_running, is_done);
    design.and(is_over, wrong)
}

fn shift(design: &mut Design, width: usize, is_safe: bool) -> Value {
    let digit = design.input("digit", 1);
    let lines = [("x", width), ("y", if is_safe { width } else { width + 1 })].map(|(name, length)| {
        let line = design.state(name, length, 0);
        let next = design.shifted_up(line, digit);
        design.next(line, next);
        design.bit(line, length - 1)
    });
    // Digits come lowest first: the sum's digit is x + y + carry, that of the shifted word the digit before.
    let [carry, before] = ["carry", "before"].map(|name| design.state(name, 1, 0));
    let [x, y] = lines;
    let half = design.binary("xor", x, y);
    let sum = design.binary("xor", half, carry);
    let both = design.and(x, y);
    let through = design.and(half, carry);
    let next = design.or(both, through);
    design.next(carry, next);
    design.next(before, x);
    design.differ(sum, before)
}
