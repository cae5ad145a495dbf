//! Any bytes are read as a message or dropped; what is read can be written, and the text is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use shofar_cluster::message::{MOST_ANSWER, Message};

fuzz_target!(|text: &[u8]| {
    let Ok(message) = Message::read(text, MOST_ANSWER) else { return };
    let written = message.write();
    if let Err(dropped) = Message::read(written.as_bytes(), MOST_ANSWER) {
        panic!("{dropped}\n{written}");
    }
});
