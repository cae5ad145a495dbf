//! Brokers: each test that needs one has a server of its own, which speaks Redis's protocol.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The programs that speak the protocol.
const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

/// A server without memory on disk, which ends with the test.
pub struct Server {
    child: Child,
    program: &'static str,
    /// Where it listens.
    pub port: u16,
    options: Vec<String>,
}

impl Server {
    /// Starts a server on a free port; `None`, with a message, if none is installed.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn start(options: &[&str]) -> Option<Self> {
        let is_installed = |program: &&&'static str| {
            Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        };
        let Some(program) = PROGRAMS.iter().find(is_installed) else {
            eprintln!("skipped: neither {} is installed", PROGRAMS.join(" nor "));
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let child = spawn(program, port, &options);
        Some(Server { child, program, port, options })
    }

    /// The address for clients and workers.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Ends the server at once, as `kill -9` does.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the server again, on the same port and without memory.
    pub fn restart(&mut self) {
        self.child = spawn(self.program, self.port, &self.options);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server and waits until it listens.
fn spawn(program: &str, port: u16, options: &[String]) -> Child {
    let mut command = Command::new(program);
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    command.args(options).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "the server does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Waits until something is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(40), "{what} does not happen");
        thread::sleep(Duration::from_millis(20));
    }
}
