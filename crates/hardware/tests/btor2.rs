//! BTOR2: operators against arithmetic, circuits in lock-step with words, witnesses, and files that are not in the format.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use dashu_int::UBig;
use dashu_int::ops::BitTest;
use shofar_hardware::aig::{Builder, Edge, Node, edge_value};
use shofar_hardware::aiger::{self, Encoding, Place};
use shofar_hardware::btor2::blast::Blasted;
use shofar_hardware::btor2::evaluate::{self, Evaluator, check_run};
use shofar_hardware::btor2::witness::{Claim, read_witness, write_run};
use shofar_hardware::btor2::{Model, Run, is_btor2, read};
use shofar_hardware::check::Fault;
use shofar_hardware::circuit::{Circuit, Property, Reset};
use shofar_hardware::decide::{self, decide};
use shofar_hardware::evidence::Trace;
use shofar_hardware::simulate::replay;
use shofar_hardware::solve::{Options, Verdict, solve};
use shofar_hardware::words::{self, Binary, Unary};
use shofar_run::Limits;
use shofar_testing::Random;
use shofar_testing::scale::numbers;

/// A counter of eight bits that wraps; `bad` is that it is negative.
const COUNTER: &str = "; counts up
1 sort bitvec 8
2 sort bitvec 1
3 zero 1
4 input 2 enable
5 state 1 count
6 init 1 5 3
7 inc 1 5
8 ite 1 4 7 5
9 next 1 5 8
10 slt 2 5 3 ; the sign
11 bad 10 negative
";

fn random_word(random: &mut Random, width: usize) -> UBig {
    // Many operands are at the edges, where operators overflow.
    match random.below(6) {
        0 => UBig::ZERO,
        1 => UBig::ONE << (width - 1),
        2 => (UBig::ONE << width) - UBig::ONE,
        3 => UBig::from(random.below(4)) % (UBig::ONE << width),
        _ => (0..width).fold(UBig::ZERO, |word, _| (word << 1) + UBig::from(u8::from(random.bool()))),
    }
}

fn word_value(values: &[bool], word: &[Edge]) -> UBig {
    word.iter()
        .rev()
        .fold(UBig::ZERO, |number, &bit| (number << 1) + UBig::from(u8::from(edge_value(values, bit))))
}

/// The pairs of operands to try: all of small widths, random ones of others.
fn operands(random: &mut Random, width: usize) -> Vec<[UBig; 2]> {
    if width <= 4 {
        let all = 0..1u32 << width;
        return all.clone().flat_map(|a| all.clone().map(move |b| [a.into(), b.into()])).collect();
    }
    let count = if width == 8 { 150 } else { 30 };
    (0..count).map(|_| [random_word(random, width), random_word(random, width)]).collect()
}

#[test]
fn operators_compute_what_arithmetic_says() {
    let random = &mut Random::new(1);
    for width in [1, 2, 3, 4, 5, 8, 32, 64] {
        let mut builder = Builder::with_leaves(2 * width);
        let leaf = |index: usize| Edge::from(Node::from_index(1 + index));
        let left: Vec<Edge> = (0..width).map(leaf).collect();
        let right: Vec<Edge> = (width..2 * width).map(leaf).collect();
        let unaries: Vec<_> = Unary::ALL
            .iter()
            .map(|&(name, operator)| (name, operator, words::unary(&mut builder, operator, &left)))
            .collect();
        let mut binaries = Vec::new();
        for &(name, operator) in Binary::ALL {
            let Some(expected) = operator.width(width, width) else { continue };
            let before = builder.aig().len();
            let word = words::binary(&mut builder, operator, &left, &right);
            assert_eq!(word.len(), expected, "{name}");
            assert!(builder.aig().len() - before <= operator.cost(width), "{name} of {width} bits");
            binaries.push((name, operator, word));
        }
        let signed = words::extend(&left, width + 3, true);
        let unsigned = words::extend(&left, width + 3, false);
        for [a, b] in operands(random, width) {
            let values = builder.aig().evaluate(|leaf| {
                let bit = leaf.index() - 1;
                if bit < width { a.bit(bit) } else { b.bit(bit - width) }
            });
            for (name, operator, word) in &unaries {
                let expected = evaluate::unary(*operator, &a, width);
                assert_eq!(word_value(&values, word), expected, "{name} {a} of {width} bits");
            }
            for (name, operator, word) in &binaries {
                let expected = evaluate::binary(*operator, &a, &b, width, width);
                assert_eq!(word_value(&values, word), expected, "{a} {name} {b} of {width} bits");
            }
            assert_eq!(word_value(&values, &unsigned), a);
            let sign = if a.bit(width - 1) { UBig::from(7u8) << width } else { UBig::ZERO };
            assert_eq!(word_value(&values, &signed), &a + sign);
        }
    }
}

/// Numbers that are written down here, so that circuits and evaluation are not wrong in the same way.
#[test]
fn division_is_that_of_the_standard() {
    for (operator, a, b, expected) in [
        (Binary::Udiv, 7u8, 0u8, 255u8),
        (Binary::Urem, 7, 0, 7),
        (Binary::Sdiv, 7, 0, 255),
        (Binary::Sdiv, 249, 0, 1),
        (Binary::Srem, 249, 0, 249),
        (Binary::Smod, 249, 0, 249),
        (Binary::Sdiv, 128, 255, 128),
        (Binary::Sdiv, 249, 2, 253),
        (Binary::Srem, 249, 3, 255),
        (Binary::Srem, 7, 253, 1),
        (Binary::Smod, 249, 3, 2),
        (Binary::Smod, 7, 253, 254),
        (Binary::Smod, 249, 253, 255),
        (Binary::Sra, 129, 1, 192),
        (Binary::Sra, 129, 200, 255),
        (Binary::Sll, 3, 8, 0),
        (Binary::Rol, 129, 9, 3),
        (Binary::Ror, 129, 1, 192),
        (Binary::Sdivo, 128, 255, 1),
        (Binary::Smulo, 128, 255, 1),
        (Binary::Umulo, 16, 16, 1),
        (Binary::Umulo, 15, 17, 0),
        (Binary::Ssubo, 0, 128, 1),
    ] {
        let value = evaluate::binary(operator, &a.into(), &b.into(), 8, 8);
        assert_eq!(value, expected.into(), "{a} {operator:?} {b}");
    }
}

/// A random file with states of all kinds, in words of up to this width.
fn random_file(random: &mut Random, greatest: usize, lines: usize) -> String {
    let mut text = String::new();
    // Sort `w` is of words of w bits.
    let widest = 2 * greatest;
    for width in 1..=widest {
        writeln!(text, "{width} sort bitvec {width}").unwrap();
    }
    let mut id = widest;
    // Numbers and widths of what has a value.
    let mut values: Vec<(usize, usize)> = Vec::new();
    let mut states: Vec<(usize, usize)> = Vec::new();
    let pick = |random: &mut Random, values: &[(usize, usize)], width: usize| {
        let fit: Vec<usize> = values.iter().filter(|value| value.1 == width).map(|value| value.0).collect();
        let sign = if random.one_in(4) { "-" } else { "" };
        format!("{sign}{}", random.choose(&fit))
    };
    for width in 1..=widest {
        id += 1;
        writeln!(text, "{id} {} {width}", random.choose(&["one", "ones", "zero"])).unwrap();
        values.push((id, width));
    }
    for index in 0..6 {
        let width = 1 + random.below(greatest);
        id += 1;
        if index < 2 {
            writeln!(text, "{id} input {width} in{index} ; given").unwrap();
            values.push((id, width));
            continue;
        }
        let init = pick(random, &values, width);
        writeln!(
            text,
            "{id} state {width}{}",
            if random.bool() { format!(" s{index}") } else { String::new() }
        )
        .unwrap();
        values.push((id, width));
        states.push((id, width));
        if random.chance(60) {
            id += 1;
            writeln!(text, "{id} init {width} {} {init}", id - 1).unwrap();
        }
    }
    for _ in 0..lines {
        id += 1;
        let width = 1 + random.below(greatest);
        let a = pick(random, &values, width);
        let b = pick(random, &values, width);
        let result = match random.below(10) {
            0 => {
                let (name, operator) = *random.choose(Unary::ALL);
                let result = operator.width(width);
                writeln!(text, "{id} {name} {result} {a}").unwrap();
                result
            }
            1 => {
                let low = random.below(width);
                let high = low + random.below(width - low);
                writeln!(text, "{id} slice {} {a} {high} {low}", high - low + 1).unwrap();
                high - low + 1
            }
            2 => {
                let more = random.below(greatest);
                writeln!(text, "{id} {} {} {a} {more}", random.choose(&["sext", "uext"]), width + more)
                    .unwrap();
                width + more
            }
            3 => {
                let condition = pick(random, &values, 1);
                writeln!(text, "{id} ite {width} {condition} {a} {b} choice{id}").unwrap();
                width
            }
            4 => {
                let number = random.below(1 << width.min(6)) as u64 % (1 << width);
                match random.below(3) {
                    0 => writeln!(text, "{id} const {width} {number:b}").unwrap(),
                    1 => writeln!(text, "{id} constd {width} -{}", number.min(1 << (width - 1))).unwrap(),
                    _ => writeln!(text, "{id} consth {width} {number:x}").unwrap(),
                }
                width
            }
            _ => {
                let (name, operator) = *random.choose(Binary::ALL);
                let Some(result) = operator.width(width, width) else {
                    id -= 1;
                    continue;
                };
                writeln!(text, "{id} {name} {result} {a} {b}").unwrap();
                result
            }
        };
        values.push((id, result));
    }
    for &(state, width) in &states {
        if random.chance(75) {
            id += 1;
            writeln!(text, "{id} next {width} {state} {}", pick(random, &values, width)).unwrap();
        }
    }
    for keyword in ["bad", "bad", "constraint", "fair"] {
        id += 1;
        writeln!(text, "{id} {keyword} {}", pick(random, &values, 1)).unwrap();
    }
    let (first, second) = (pick(random, &values, 1), pick(random, &values, 1));
    writeln!(text, "{} justice 2 {first} {second}", id + 1).unwrap();
    for value in values.iter().rev().take(5) {
        id += 2;
        writeln!(text, "{id} output {}", value.0).unwrap();
    }
    text
}

fn blast(model: &Model) -> Blasted {
    Blasted::new(model, &Limits::default()).unwrap()
}

fn random_trace(random: &mut Random, circuit: &Circuit, steps: usize) -> Trace {
    let mut bits = |count: usize| (0..count).map(|_| random.bool()).collect::<Vec<bool>>();
    let free = bits(circuit.latches.len());
    let inputs: Vec<Vec<bool>> = (0..steps).map(|_| bits(circuit.inputs.len())).collect();
    Trace { initial: circuit.initial_state(|latch| free[latch], &inputs[0]), inputs }
}

/// Circuits, also after they were written in AIGER, compute in 100 steps what the words do.
#[test]
fn circuits_run_in_lock_step_with_words() {
    let mut functions = 0;
    for seed in numbers(150) {
        let random = &mut Random::new(seed);
        let text = random_file(random, 8, 40);
        let model = read(text.as_bytes()).unwrap_or_else(|mistake| panic!("seed {seed}: {mistake}\n{text}"));
        let blasted = blast(&model);
        let trace = random_trace(random, &blasted.circuit, 100);
        let run = blasted.run(&model, &trace);
        let mut bytes = Vec::new();
        aiger::write(&blasted.circuit, Encoding::Binary, b"", &mut bytes).unwrap();
        let written = aiger::read(&bytes).unwrap().circuit;
        functions += written.latches.iter().filter(|latch| matches!(latch.reset, Reset::Function(_))).count();
        assert_eq!(written.names.latches, blasted.circuit.names.latches);
        for circuit in [&blasted.circuit, &written] {
            let steps = replay(circuit, &trace).values;
            let mut evaluator = Evaluator::new(&model);
            for (step, (given, values)) in run.steps.iter().zip(&steps).enumerate() {
                evaluator.step(given).unwrap();
                let bits =
                    |edges: &[Edge]| edges.iter().map(|&edge| edge_value(values, edge)).collect::<Vec<_>>();
                let of_words = |operands: &[shofar_hardware::btor2::Operand]| {
                    let mut bits = Vec::new();
                    for &operand in operands {
                        let value = evaluator.value(operand);
                        bits.extend((0..model.width(operand)).map(|bit| value.bit(bit)));
                    }
                    bits
                };
                assert_eq!(bits(&circuit.bads), of_words(&model.bads), "seed {seed}, step {step}");
                assert_eq!(
                    bits(&circuit.constraints),
                    of_words(&model.constraints),
                    "seed {seed}, step {step}"
                );
                assert_eq!(
                    bits(&circuit.outputs),
                    of_words(&model.outputs),
                    "seed {seed}, step {step}\n{text}"
                );
                assert_eq!(bits(&circuit.fairness), of_words(&model.fairness), "seed {seed}, step {step}");
                assert_eq!(
                    bits(&circuit.justice[0]),
                    of_words(&model.justice[0]),
                    "seed {seed}, step {step}"
                );
            }
        }
    }
    assert!(functions > 10, "{functions} reset functions");
}

fn verdict(circuit: &Circuit) -> Verdict {
    let deadline = Some(Instant::now() + Duration::from_secs(20));
    solve(circuit, &circuit.bads, &Options::default(), &Limits { deadline, ..Limits::default() }).verdict
}

fn written(model: &Model, run: &Run, property: usize) -> String {
    let mut text = Vec::new();
    write_run(model, run, Property::Bad(property), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Lassos of the circuit of bits are lassos over words. Without the last step they are none, unless a shorter loop is left.
#[test]
fn lassos_hold_over_words() {
    let property = [Property::Justice(0)];
    let (mut found, mut shorter) = (0, 0);
    for seed in numbers(100) {
        let text = random_file(&mut Random::new(seed), 3, 15);
        let model = read(text.as_bytes()).unwrap();
        let blasted = blast(&model);
        let limits = Limits { deadline: Some(Instant::now() + Duration::from_secs(20)), ..Limits::default() };
        let outcome = decide(&blasted.circuit, &[], &property, &Options::default(), &limits);
        let decide::Verdict::Unsafe(lasso) = outcome.verdict else { continue };
        found += 1;
        let mut run = blasted.run(&model, &lasso.trace);
        assert_eq!(check_run(&model, &property, &run), Ok(()), "seed {seed}\n{text}");
        let mut written = Vec::new();
        write_run(&model, &run, property[0], &mut written).unwrap();
        let claim = Claim::Unsafe { properties: property.to_vec(), run: run.clone() };
        assert_eq!(read_witness(&model, &written), Ok(claim), "seed {seed}");
        while run.steps.len() > 1 && check_run(&model, &property, &run).is_ok() {
            run.steps.pop();
        }
        let refusal = check_run(&model, &property, &run);
        shorter += usize::from(matches!(refusal, Err(Fault::NoLoop | Fault::NotFair)));
    }
    assert!(found > 15 && shorter > 5, "{found} found, {shorter} of them refused when cut");
}

#[test]
fn counterexamples_hold_over_words_and_are_read_as_written() {
    let mut found = 0;
    for seed in numbers(60) {
        let text = random_file(&mut Random::new(seed), 3, 15);
        let model = read(text.as_bytes()).unwrap();
        let blasted = blast(&model);
        let Verdict::Unsafe(trace, fired) = verdict(&blasted.circuit) else { continue };
        found += 1;
        let run = blasted.run(&model, &trace);
        assert_eq!(check_run(&model, &[Property::Bad(fired)], &run), Ok(()), "seed {seed}\n{text}");
        let witness = written(&model, &run, fired);
        let claim = read_witness(&model, witness.as_bytes()).unwrap();
        assert_eq!(
            claim,
            Claim::Unsafe { properties: vec![Property::Bad(fired)], run },
            "seed {seed}\n{witness}"
        );
    }
    assert!(found > 10, "{found} counterexamples");
}

#[test]
fn a_counter_overflows_after_128_steps() {
    let model = read(COUNTER.as_bytes()).unwrap();
    let blasted = blast(&model);
    assert_eq!(blasted.circuit.names.latches[3], "count[3]");
    assert_eq!(blasted.circuit.names.inputs, ["enable"]);
    let trace = Trace { initial: vec![false; 8], inputs: vec![vec![true]; 129] };
    let run = blasted.run(&model, &trace);
    assert_eq!(check_run(&model, &[Property::Bad(0)], &run), Ok(()));
    let witness = written(&model, &run, 0);
    assert!(witness.starts_with("sat\nb0\n#0\n@0\n0 1 enable@0\n@1\n0 1 enable@1\n"), "{witness}");
    let short = Run { steps: run.steps[1..].to_vec() };
    assert_eq!(check_run(&model, &[Property::Bad(0)], &short), Err(Fault::NotBad { step: 127 }));
    assert_eq!(
        check_run(&model, &[Property::Bad(1)], &run),
        Err(Fault::NotBad { step: 128 }),
        "there is no such property"
    );
    // A value that is given has to be the one that follows.
    let claim = read_witness(&model, b"sat\nb0\n#0\n0 10000000\n@0\n.\n").unwrap();
    let Claim::Unsafe { run, .. } = claim else { panic!("a counterexample") };
    let message = "the value of state count in step 0 is not the one that follows";
    assert_eq!(check_run(&model, &[Property::Bad(0)], &run), Err(Fault::Shape(message.to_owned())));
}

#[test]
fn a_counter_that_skips_a_number_is_safe() {
    let text = "1 sort bitvec 8\n2 sort bitvec 1\n3 zero 1\n4 state 1\n5 init 1 4 3\n6 constd 1 2\n7 add 1 4 6\n\
                8 next 1 4 7\n9 constd 1 7\n10 eq 2 4 9\n11 bad 10\n";
    let model = read(text.as_bytes()).unwrap();
    assert!(matches!(verdict(&blast(&model).circuit), Verdict::Safe(_)));
}

/// Without `next`, a state has any value in each step; with `init`, only from step 1 on.
#[test]
fn states_without_next_are_free_in_each_step() {
    let head = "1 sort bitvec 2\n2 sort bitvec 1\n3 zero 1\n4 state 1 a\n5 state 1 b\n6 init 1 5 3\n";
    let changes =
        "7 state 1 old\n8 init 1 7 3\n9 next 1 7 5\n10 neq 2 7 5\n11 redor 2 7\n12 and 2 10 11\n13 bad 12\n";
    let model = read(format!("{head}{changes}").as_bytes()).unwrap();
    let Verdict::Unsafe(trace, _) = verdict(&blast(&model).circuit) else { panic!("b changes twice") };
    assert!(trace.length() >= 2);
    let run = blast(&model).run(&model, &trace);
    assert_eq!(check_run(&model, &[Property::Bad(0)], &run), Ok(()));
    assert_eq!(run.steps[0].states[1], None, "its initial value follows");
    assert!(run.steps[1].states[1].is_some() && run.steps[1].states[2].is_none());
    let text = written(&model, &run, 0);
    assert!(text.contains("#1\n") && text.contains("#2\n"), "{text}");
}

#[test]
fn mistakes_have_lines_and_reasons() {
    let head = "1 sort bitvec 8\n2 sort bitvec 1\n3 input 1\n4 state 1\n";
    for (line, reason) in [
        ("5 sort array 1 1", "arrays are not supported"),
        ("5 read 1 3 4", "arrays are not supported"),
        ("5 sort bitvec 0", "a word has at least one bit"),
        ("5 sort bitvec 99999999", "words of 99999999 bits"),
        ("5 sort bitvec -1", "`-1` where a width should be"),
        ("5 add 2 3 4", "the value has 8 bits, its sort 1"),
        ("5 add 1 3 7", "`7` is not defined before this line"),
        ("5 add 1 3 1", "`1` has no value"),
        ("5 add 3 3 3", "`3` is no sort"),
        ("5 add 1 3", "the line ends where an operand should be"),
        ("5 iff 2 3 3", "`iff` of 8 and 8 bits"),
        ("5 bad 3", "`bad` takes one bit, not 8"),
        ("5 next 1 3 4", "`next` is for states"),
        ("5 next 1 -4 3", "`next` of a complement"),
        ("5 init 1 4 4", "the value of `init` must be defined before the state"),
        ("5 next 2 4 3", "an operand of 8 bits where 1 should be"),
        ("5 slice 2 3 8 8", "bits 8 to 8 of a word of 8 bits"),
        ("5 const 1 12", "`12` is no number of `const`"),
        ("5 constd 1 256", "`256` does not fit into 8 bits"),
        ("5 constd 1 -129", "`-129` does not fit into 8 bits"),
        ("4 zero 1", "4 is defined twice"),
        ("0 zero 1", "`0` where a positive number should be"),
        ("5 frob 1 3", "`frob` is no keyword of BTOR2"),
        ("5 zero 1 a b", "`b` where the line should end"),
        ("5 uext 1 3 18446744073709551615", "the value has 18446744073709551615 bits, its sort 8"),
    ] {
        let mistake = read(format!("{head}\n{line}\n").as_bytes()).unwrap_err();
        assert_eq!(
            (mistake.place, mistake.message.as_str().starts_with(reason)),
            (Place::Line(6), true),
            "{mistake}"
        );
    }
    assert!(
        is_btor2(b"; first\n 1 sort bitvec 1\n")
            && !is_btor2(b"aag 1 0 0 0 0\n")
            && !is_btor2(b"\xff 1 sort")
    );
}

/// Too large a product is refused, not built.
#[test]
fn circuits_that_would_be_too_large_are_refused() {
    let model = read(b"1 sort bitvec 1000000\n2 input 1\n3 mul 1 2 2\n").unwrap();
    let stop = Blasted::new(&model, &Limits::default()).unwrap_err();
    assert!(stop.to_string().contains("line 3: the circuit might have more than"), "{stop}");
}

#[test]
fn a_long_chain_needs_no_stack() {
    let mut text = "1 sort bitvec 1\n2 input 1\n".to_owned();
    for id in 3..100_000 {
        writeln!(text, "{id} xor 1 {} -{}", id - 1, (id - 1) / 2 + 1).unwrap();
    }
    let text = text.replace("-1\n", "-2\n");
    assert_eq!(read(text.as_bytes()).unwrap().nodes.len(), 99_998);
    assert_eq!(blast(&read(text.as_bytes()).unwrap()).circuit.inputs.len(), 1);
}

/// Files with bytes changed, lines exchanged and ends cut off are read or refused; what is read runs.
#[test]
fn no_bytes_make_the_readers_panic() {
    let mut accepted = 0;
    for seed in numbers(3000) {
        let random = &mut Random::new(seed);
        let mut bytes = random_file(random, 3, 8).into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] = *random.choose(b"0123456789- ;\n"),
                2 => bytes.truncate(at + 1),
                3 => bytes.insert(at, *random.choose(b"0123456789- ;\n")),
                _ => {
                    let other = random.below(bytes.len());
                    bytes.swap(at, other);
                }
            }
        }
        let Ok(model) = read(&bytes) else { continue };
        accepted += 1;
        // Changed widths may be large: only small circuits are run.
        if model.nodes.iter().map(|node| node.width).sum::<usize>() < 1000 {
            let blasted = blast(&model);
            let trace = random_trace(random, &blasted.circuit, 2);
            let run = blasted.run(&model, &trace);
            let mut witness = written(&model, &run, 0).into_bytes();
            let at = random.below(witness.len());
            witness[at] = *random.choose(b"01x#@.b\n 9[");
            if let Ok(Claim::Unsafe { properties, run }) = read_witness(&model, &witness) {
                let _ = check_run(&model, &properties, &run);
            }
        }
    }
    assert!(accepted > 50, "{accepted} accepted");
}

#[test]
fn mistakes_in_witnesses_have_lines() {
    let model = read(COUNTER.as_bytes()).unwrap();
    for (text, line) in [
        ("", 1),
        ("maybe\n", 1),
        ("sat\nk0\n", 2),
        ("sat\nb0j\n", 2),
        ("sat\nb0j1\n", 3),
        ("sat\nb0\n0 1\n", 3),
        ("sat\nb0\n@1\n", 3),
        ("sat\nb0\n@0\n1 1\n", 4),
        ("sat\nb0\n@0\n0 11\n", 4),
        ("sat\nb0\n@0\n0 2\n", 4),
        ("sat\nb0\n@0\n0\n", 4),
        ("sat\nb0\n#0\n0 [0] 1\n", 4),
        ("sat\nb0\n#0\n@0\n#1\n#1\n", 6),
        ("sat\nb0\n#0\n@0\n", 5),
    ] {
        let mistake = read_witness(&model, text.as_bytes()).unwrap_err();
        assert_eq!(mistake.place, Place::Line(line), "{text:?}: {mistake}");
    }
    assert_eq!(read_witness(&model, b"unsat\n").unwrap(), Claim::Safe);
    assert_eq!(read_witness(&model, b"; x\nunknown\n").unwrap(), Claim::Unknown);
}
