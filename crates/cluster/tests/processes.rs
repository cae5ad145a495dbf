//! Servers, workers and clients that die, lie or panic. Workers and clients are processes of this test program, so that they
//! can be killed; their times are short.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use shofar_cluster::assist::{Found, Request, Signals, assist};
use shofar_cluster::batch::{self, Batch, Line};
use shofar_cluster::broker::{Broker, RIGHTS};
use shofar_cluster::confirm::Form;
use shofar_cluster::message::{Answer, Job, JobId, MOST_SMALL, Message, Word};
use shofar_cluster::work::{self, Outcome};
use shofar_cluster::worker::{self, Solve, Worker};
use shofar_cluster::{Name, Note, TaskId, Times, Trouble};
use shofar_cooperate::exchange::outside::Outside;
use shofar_testing::server::{Server, wait_for};

/// The variable that says which role a process of this program plays, with its arguments behind spaces.
const ROLE: &str = "SHOFAR_TEST_ROLE";

/// A loop that `spacer` proves at once, and `bmc` never.
const SAFE: &str = "(set-logic HORN)(declare-fun P (Int Int) Bool)
    (assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y N)) (P x y))))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (+ y x)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (< y 0)) false)))(check-sat)";

/// Different tasks of the same kind.
fn safe(number: usize) -> String {
    SAFE.replace('N', &number.to_string())
}

fn broken(number: usize) -> String {
    safe(number).replace("(< y 0)", "(> x 3)")
}

fn times() -> Times {
    Times { grace: Duration::from_secs(3), ..Times::short() }
}

/// A worker that runs in this process or in one of its own.
fn a_worker(url: &str, name: &str) -> Worker {
    Worker {
        address: url.parse().unwrap(),
        name: Name::unique(name),
        places: 1,
        most_time: Some(Duration::from_secs(20)),
        memory: None,
        once: false,
        times: times(),
    }
}

/// A worker in a thread, which ends with the test.
struct Hired {
    stop: Arc<AtomicBool>,
    name: Name,
    notes: Arc<Mutex<Vec<Note>>>,
    thread: Option<thread::JoinHandle<Result<(), String>>>,
}

impl Hired {
    fn new(url: &str, solve: Solve) -> Self {
        let (stop, notes) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let worker = a_worker(url, "thread");
        let name = worker.name.clone();
        let (flag, list) = (Arc::clone(&stop), Arc::clone(&notes));
        let thread = thread::spawn(move || {
            worker::run(&worker, &solve, &flag, &|note| list.lock().unwrap().push(note))
        });
        Hired { stop, name, notes, thread: Some(thread) }
    }

    fn honest(url: &str) -> Self {
        Hired::new(url, Arc::new(work::solve))
    }

    fn end(&mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map_or(Ok(()), |thread| thread.join().unwrap())
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// A process of this program in a role, which ends with the test.
struct Process(Child);

impl Process {
    fn start(role: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "process_in_a_role", "--nocapture"]).env(ROLE, role);
        Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// As `kill -9` does.
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Plays a role if this process is started for one. Otherwise there is nothing to test.
#[test]
fn process_in_a_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let never = AtomicBool::new(false);
    let words: Vec<&str> = role.split(' ').collect();
    match words[..] {
        ["worker", url] => {
            let _ = worker::run(&a_worker(url, "process"), &(Arc::new(work::solve) as _), &never, &|_| ());
        }
        // Its jobs take long enough to be interrupted.
        ["slow", url] => {
            let slow: Solve = Arc::new(|order| {
                thread::sleep(Duration::from_millis(200));
                work::solve(order)
            });
            let _ = worker::run(&a_worker(url, "slow"), &slow, &never, &|_| ());
        }
        // It begins a job and never ends it.
        ["sleeper", url] => {
            let sleep: Solve = Arc::new(|_| {
                thread::sleep(Duration::from_secs(600));
                Outcome::unknown("slept".to_owned())
            });
            let _ = worker::run(&a_worker(url, "sleeper"), &sleep, &never, &|_| ());
        }
        ["batch", url, folder] => {
            batch::run(&a_batch(url, Path::new(folder)), &never, &|_| ()).unwrap();
        }
        _ => panic!("there is no role {role}"),
    }
}

fn request(url: &str, text: &str, slots: &[&str], wait: u64) -> Request {
    Request {
        address: url.parse().unwrap(),
        text: Arc::from(text.as_bytes()),
        query: None,
        slots: slots.iter().map(|&slot| slot.to_owned()).collect(),
        seed: 0,
        passes: None,
        outside: None,
        deadline: Instant::now().checked_add(Duration::from_secs(40)),
        mib: None,
        form: Form::Plain,
        wait: Duration::from_secs(wait),
        times: times(),
    }
}

/// Asks workers, without engines here.
fn ask(request: &Request) -> (Option<Found>, Vec<Note>) {
    let signals = Signals::default();
    signals.alone.store(true, Ordering::Relaxed);
    let notes = Mutex::new(Vec::new());
    let found = assist(request, &signals, &|note| notes.lock().unwrap().push(note));
    (found, notes.into_inner().unwrap())
}

fn word(found: Option<&Found>) -> Option<Word> {
    found.map(|found| found.confirmed.word())
}

/// The workers that have begun a job of a task.
fn begun(url: &str, text: &str) -> usize {
    let Ok(mut broker) = Broker::connect(&url.parse().unwrap(), &times()) else { return 0 };
    let entries = broker.answers(&[(TaskId::of(text.as_bytes()), "0".to_owned())], None).unwrap_or_default();
    let is_begun = |text: &[u8]| matches!(Message::read(text, MOST_SMALL), Ok(Message::Begun(_)));
    entries.iter().filter(|(_, entry)| is_begun(&entry.text)).count()
}

/// The number of jobs that are not finished, and of those that are given up.
fn lengths(url: &str) -> (usize, usize) {
    Broker::connect(&url.parse().unwrap(), &times()).unwrap().lengths().unwrap()
}

#[test]
fn a_worker_solves_what_only_its_slot_solves() {
    let Some(server) = Server::start(&[]) else { return };
    let mut workers = [Hired::honest(&server.url()), Hired::honest(&server.url())];
    let (found, notes) = ask(&request(&server.url(), &safe(0), &["bmc", "spacer"], 20));
    let found = found.expect("spacer proves it");
    assert_eq!((found.confirmed.word(), &*found.engine), (Word::Sat, "spacer"), "{notes:?}");
    let (found, _) = ask(&request(&server.url(), &broken(0), &["spacer"], 20));
    assert_eq!(word(found.as_ref()), Some(Word::Unsat));
    // The worker that tried `bmc` is told that nobody waits.
    wait_for("the end of all jobs", || lengths(&server.url()).0 == 0);
    for worker in &mut workers {
        worker.end().unwrap();
    }
    let left = |worker: &Hired| {
        let notes = worker.notes.lock().unwrap();
        notes.iter().any(|note| matches!(note, Note::Leaves(_, "nobody waits for it")))
    };
    assert!(workers.iter().any(left));
}

#[test]
fn without_workers_nobody_is_waited_for() {
    let Some(server) = Server::start(&[]) else { return };
    let start = Instant::now();
    let (found, notes) = ask(&request(&server.url(), &safe(0), &["spacer"], 1));
    assert!(found.is_none() && start.elapsed() < Duration::from_secs(10), "{notes:?}");
    // The job is on the broker, and the first worker sees that its client has gone.
    assert_eq!(lengths(&server.url()).0, 1);
    let worker = Hired::honest(&server.url());
    wait_for("the end of the job", || lengths(&server.url()).0 == 0);
    assert!(!worker.notes.lock().unwrap().iter().any(|note| matches!(note, Note::Begins(..))));
}

#[test]
fn the_job_of_a_killed_worker_is_done_by_another() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let text = safe(1);
    let mut sleeper = Process::start(&format!("sleeper {url}"));
    let client = {
        let request = request(&url, &text, &["spacer"], 30);
        thread::spawn(move || ask(&request))
    };
    wait_for("the beginning of the job", || begun(&url, &text) == 1);
    sleeper.kill();
    let killed = Instant::now();
    let worker = Hired::honest(&url);
    let (found, notes) = client.join().unwrap();
    let found = found.unwrap_or_else(|| panic!("{notes:?}"));
    assert_eq!((found.confirmed.word(), found.from), (Word::Sat, worker.name.clone()));
    // The proof takes no time: this is the time without a sign of life.
    let time = killed.elapsed();
    assert!(time < times().claim_after + Duration::from_secs(8), "{time:?}");
}

#[test]
fn after_the_death_of_the_server_jobs_come_back() {
    let Some(mut server) = Server::start(&[]) else { return };
    let url = server.url();
    let text = safe(2);
    // It does not end before the server is gone, and then its answer has to wait.
    let is_released = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_released);
    let slow: Solve = Arc::new(move |order| {
        while !flag.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        work::solve(order)
    });
    let worker = Hired::new(&url, slow);
    let client = {
        let request = request(&url, &text, &["spacer", "pdkind"], 30);
        thread::spawn(move || ask(&request))
    };
    wait_for("the beginning of a job", || begun(&url, &text) == 1);
    server.kill();
    thread::sleep(Duration::from_millis(500));
    server.restart();
    is_released.store(true, Ordering::Relaxed);
    let (found, notes) = client.join().unwrap();
    assert_eq!(word(found.as_ref()), Some(Word::Sat), "{notes:?}");
    assert!(notes.iter().any(|note| matches!(note, Note::Lost(Trouble::NoServer(..)))), "{notes:?}");
    assert!(notes.iter().any(|note| matches!(note, Note::Connected(_))), "{notes:?}");
    // Worker and client have joined the new server.
    let (found, _) = ask(&request(&url, &broken(2), &["spacer"], 20));
    assert_eq!(found.map(|found| found.from), Some(worker.name.clone()));
}

/// The server loses its memory, and connections stay.
#[test]
fn jobs_that_the_server_has_forgotten_come_back() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let text = safe(12);
    let client = {
        let request = request(&url, &text, &["spacer"], 40);
        thread::spawn(move || ask(&request))
    };
    wait_for("the job", || lengths(&url).0 == 1);
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let _: () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
    let worker = Hired::honest(&url);
    let (found, notes) = client.join().unwrap();
    assert_eq!(found.map(|found| found.from), Some(worker.name.clone()), "{notes:?}");
}

#[test]
fn two_clients_with_the_same_task_get_their_answers() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let clients: Vec<_> = (0..2)
        .map(|_| {
            let request = request(&url, &safe(13), &["bmc", "spacer"], 30);
            thread::spawn(move || ask(&request))
        })
        .collect();
    wait_for("the jobs of both", || lengths(&url).0 == 4);
    let mut workers = [Hired::honest(&url), Hired::honest(&url), Hired::honest(&url)];
    for client in clients {
        let (found, notes) = client.join().unwrap();
        assert_eq!(word(found.as_ref()), Some(Word::Sat), "{notes:?}");
    }
    wait_for("the end of all jobs", || lengths(&url).0 == 0);
    workers.iter_mut().for_each(|worker| worker.end().unwrap());
}

/// `x` grows by `2 y`, and `y` by one. `kind` proves that `x` stays even and non-negative only if it is told that `y` is not negative, which
/// `invariants` finds; but that knows nothing of even numbers.
const SUMS: &str = "(declare-fun P (Int Int) Bool)(assert (P 0 0))
    (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x (* 2 y)) (+ y 1)))))
    (assert (forall ((x Int) (y Int)) (=> (and (P x y) (or (< x 0) (< 2 x 6))) false)))";

/// A client with engines of its own, in threads.
struct Here {
    outside: Arc<Outside>,
    signals: Arc<Signals>,
    cancel: Arc<AtomicBool>,
    assisting: thread::JoinHandle<Option<Found>>,
    solving: thread::JoinHandle<Outcome>,
}

impl Here {
    /// Engines here, and slots for workers.
    fn start(url: &str, text: &str, engines: &[&str], slots: &[&str]) -> Self {
        let (outside, signals) = (Arc::<Outside>::default(), Arc::<Signals>::default());
        let order = work::Order { outside: Some(Arc::clone(&outside)), ..order_of(text) };
        let slots_here = engines.iter().map(|&engine| engine.to_owned()).collect();
        let order = work::Order { job: Job { slots: slots_here, ..order.job.clone() }, ..order };
        let cancel = Arc::clone(&order.cancel);
        let request = Request { outside: Some(Arc::clone(&outside)), ..request(url, text, slots, 30) };
        let asked = Arc::clone(&signals);
        let assisting = thread::spawn(move || assist(&request, &asked, &|_| ()));
        let solving = thread::spawn(move || work::solve(&order));
        Here { outside, signals, cancel, assisting, solving }
    }

    /// What the engines here say.
    fn result(self) -> Outcome {
        let outcome = self.solving.join().unwrap();
        self.signals.stop.store(true, Ordering::Relaxed);
        let _ = self.assisting.join().unwrap();
        outcome
    }

    /// What workers say.
    fn found(self) -> Option<Found> {
        let found = self.assisting.join().unwrap();
        self.cancel.store(true, Ordering::Relaxed);
        self.solving.join().unwrap();
        found
    }
}

#[test]
fn a_worker_that_comes_late_gets_the_facts() {
    let Some(server) = Server::start(&[]) else { return };
    // Here an invariant is found, and then `bmc` searches in vain.
    let here = Here::start(&server.url(), SUMS, &["invariants", "bmc"], &["kind"]);
    wait_for("a fact", || here.outside.figures().sent > 0);
    thread::sleep(Duration::from_secs(1));
    let worker = Hired::honest(&server.url());
    let found = here.found().expect("with the invariant it is easy");
    assert_eq!((found.confirmed.word(), &*found.engine, &found.from), (Word::Sat, "kind", &worker.name));
}

#[test]
fn two_clients_with_the_same_task_share_facts() {
    let Some(server) = Server::start(&[]) else { return };
    let one = Here::start(&server.url(), SUMS, &["invariants", "bmc"], &[]);
    wait_for("a fact", || one.outside.figures().sent > 0);
    let other = Here::start(&server.url(), SUMS, &["kind"], &[]);
    let outside = Arc::clone(&other.outside);
    assert_eq!(other.result().verdict, Word::Sat, "{:?}", outside.figures());
    assert!(outside.figures().accepted > 0 && outside.graph() == one.outside.graph());
    one.cancel.store(true, Ordering::Relaxed);
    assert_eq!(one.result().verdict, Word::Unknown);
}

/// What is in the stream of facts may come from anybody.
#[test]
fn hostile_facts_change_no_answer() {
    let Some(server) = Server::start(&[]) else { return };
    let text = safe(14);
    let here = Here::start(&server.url(), &text, &["bmc"], &["spacer", "pdkind", "imc"]);
    wait_for("the name of the graph", || here.outside.graph().is_some());
    let key = format!("shofar:1:facts:{}:{}", TaskId::of(text.as_bytes()), here.outside.graph().unwrap());
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let fact = |fact: &str| format!("{{\"v\":1,\"k\":\"fact\",\"from\":\"liar\",\"fact\":{fact}}}");
    let about = |formula: &str| format!("\"p\":0,\"a\":[\"Int\",\"Int\"],\"f\":\"{formula}\"");
    let closed = |formula: &str| fact(&format!("{{\"k\":\"closed\",\"set\":[{{{}}}]}}", about(formula)));
    for entry in [
        "garbage".to_owned(),
        "[".repeat(1_000_000),
        fact("7"),
        fact("{\"k\":\"depth\",\"h\":1000000}"),
        fact(&format!("\"{}\"", "x".repeat(1_000_000))),
        closed("(<= x1 3)"),
        closed("false"),
        closed("(= x1 true)"),
        closed(&format!("(<= x1 {})", "9".repeat(10_000))),
        closed(&format!("{}true{}", "(not ".repeat(1000), ")".repeat(1000))),
        fact(&format!("{{\"k\":\"bounded\",\"h\":50,{}}}", about("(<= x0 3)"))),
        fact(&format!("{{\"k\":\"bounded\",\"h\":50,{}}}", about("false"))),
    ] {
        let _: String =
            redis::cmd("XADD").arg(&key).arg("*").arg("m").arg(entry).query(&mut connection).unwrap();
    }
    let worker = Hired::honest(&server.url());
    let found = here.found().expect("spacer proves it");
    assert_eq!((found.confirmed.word(), &found.from), (Word::Sat, &worker.name));
}

#[test]
fn without_a_server_a_client_does_not_wait() {
    let Some(mut server) = Server::start(&[]) else { return };
    server.kill();
    let start = Instant::now();
    let (found, notes) = ask(&request(&server.url(), &safe(3), &["spacer"], 0));
    assert!(found.is_none() && start.elapsed() < Duration::from_secs(5));
    let told = notes.iter().filter(|note| matches!(note, Note::Lost(Trouble::NoServer(..)))).count();
    assert!(told <= 1, "{notes:?}");
}

/// Plays a worker that takes one job, and answers with these texts.
fn lie(server: &Server, answers: impl Fn(&Job) -> Vec<String>) {
    let mut broker = Broker::connect(&server.url().parse().unwrap(), &times()).unwrap();
    let name: Name = "liar".parse().unwrap();
    let presence =
        Message::read(br#"{"v":1,"k":"worker","from":"liar","version":"0","places":1}"#, MOST_SMALL);
    broker.join(&presence.unwrap()).unwrap();
    let mut taken = Vec::new();
    wait_for("a job for the liar", || {
        taken = broker.take(&name, 1, Duration::from_millis(100)).unwrap();
        !taken.is_empty()
    });
    let Ok(Message::Job(job)) = Message::read(&taken[0].text, MOST_SMALL) else { panic!("not a job") };
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    for text in answers(&job) {
        let key = format!("shofar:1:answers:{}", job.id.task);
        let _: String =
            redis::cmd("XADD").arg(key).arg("*").arg("m").arg(text).query(&mut connection).unwrap();
    }
    broker.finish(&taken[0].id).unwrap();
}

#[test]
fn hostile_workers_cost_time_and_nothing_else() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let text = safe(4);
    let client = {
        let request = request(&url, &text, &["spacer", "pdkind"], 30);
        thread::spawn(move || ask(&request))
    };
    let other_model = work::solve(&order_of(&safe(5).replace("(< y 0)", "(< x 0)"))).witness;
    lie(&server, |job| {
        let answer = |verdict, witness: Option<String>, from: &str| {
            Message::Answer(Answer {
                id: job.id.clone(),
                verdict,
                engine: Some("\u{1b}[31mspacer".to_owned()),
                witness,
                reason: None,
                seconds: 0.0,
                from: from.parse().unwrap(),
            })
            .write()
        };
        let define = |formula: &str| Some(format!("((define-fun P ((x Int) (y Int)) Bool {formula}))"));
        vec![
            "x".repeat(40 << 20),
            "[".repeat(1 << 20),
            "{\"v\":1,\"k\":\"answer\"}".to_owned(),
            answer(Word::Sat, define("true"), "w1"),
            answer(Word::Sat, define("(= x true)"), "w2"),
            answer(Word::Sat, define(&format!("(< x {})", "9".repeat(1_000_000))), "w3"),
            answer(
                Word::Sat,
                define(&format!("{}true{}", "(not ".repeat(200_000), ")".repeat(200_000))),
                "w4",
            ),
            answer(Word::Unsat, None, "w5"),
            answer(Word::Sat, other_model.clone(), "w6"),
            answer(Word::Unsat, other_model.clone(), "w7"),
            // A banned worker may be right, and is not heard.
            answer(Word::Sat, define("(and (>= x 0) (>= y 0))"), "w1"),
        ]
    });
    let mut worker = Hired::honest(&url);
    let (found, notes) = client.join().unwrap();
    let found = found.unwrap_or_else(|| panic!("{notes:?}"));
    assert_eq!(found.confirmed.word(), Word::Sat);
    assert_ne!(found.from.as_str(), "w1");
    let banned: BTreeSet<&str> = notes
        .iter()
        .filter_map(|note| match note {
            Note::Banned(worker, _) => Some(worker.as_str()),
            _ => None,
        })
        .collect();
    // The honest worker may be faster than the last liars.
    assert!(banned.contains("w1") && !banned.contains(worker.name.as_str()), "{notes:?}");
    assert!(notes.iter().any(|note| matches!(note, Note::Dropped(_))), "{notes:?}");
    let memory = shofar_run::memory_in_use().unwrap_or(0) >> 20;
    assert!(memory < 1500, "{memory} MiB");
    worker.end().unwrap();
}

fn order_of(text: &str) -> work::Order {
    let id = JobId { task: TaskId::of(text.as_bytes()), query: None, run: "r".parse().unwrap(), number: 0 };
    let job = Job {
        id,
        slots: vec!["spacer".to_owned()],
        seed: 0,
        seconds: None,
        mib: None,
        passes: None,
        share: false,
        attempt: 1,
    };
    work::Order {
        text: text.as_bytes().to_vec(),
        job,
        deadline: None,
        memory: None,
        cancel: Arc::default(),
        outside: None,
    }
}

#[test]
fn wrong_passwords_and_missing_rights_have_clear_messages() {
    let Some(server) = Server::start(&["--requirepass", "right"]) else { return };
    let mut connection = redis::Client::open(format!("redis://:right@127.0.0.1:{}", server.port))
        .unwrap()
        .get_connection()
        .unwrap();
    let mut user = |name: &str, rights: &str| {
        let mut command = redis::cmd("ACL");
        command.arg("SETUSER").arg(name).arg("on").arg(">word");
        rights.split_whitespace().for_each(|right| {
            command.arg(right);
        });
        let _: () = command.query(&mut connection).unwrap();
    };
    user("enough", RIGHTS);
    user("reader", &RIGHTS.replace("+xadd", ""));
    let url = |account: &str| format!("redis://{account}@127.0.0.1:{}", server.port);
    let stop = AtomicBool::new(false);
    for (account, part) in
        [(":wrong", "refuses the password"), ("", "refuses the password"), ("reader:word", "lacks rights")]
    {
        let address = if account.is_empty() { server.url() } else { url(account) };
        // A worker ends, because waiting does not help.
        let message =
            worker::run(&a_worker(&address, "w"), &(Arc::new(work::solve) as _), &stop, &|_| ()).unwrap_err();
        assert!(
            message.contains(part) && !message.contains("wrong") && !message.contains("word:"),
            "{message}"
        );
        // A client goes on alone, and says why.
        let (found, notes) = ask(&request(&address, &safe(6), &["spacer"], 20));
        let Some(Note::Lost(trouble)) = notes.first() else { panic!("{notes:?}") };
        assert!(found.is_none() && trouble.to_string().contains(part), "{trouble}");
    }
    // The documented rights suffice for everything.
    let address = url("enough:word");
    let mut worker = Hired::honest(&address);
    let (found, notes) = ask(&request(&address, &safe(6), &["spacer"], 20));
    assert_eq!(word(found.as_ref()), Some(Word::Sat), "{notes:?}");
    let status = shofar_cluster::status::Status::of(&address.parse().unwrap(), &times()).unwrap();
    assert_eq!((status.workers.len(), status.jobs, status.dead), (1, 0, 0), "{status}");
    worker.end().unwrap();
    let status = shofar_cluster::status::Status::of(&address.parse().unwrap(), &times()).unwrap();
    assert_eq!(status.workers.len(), 0, "{status}");
}

/// A folder with tasks, their list, and the results.
fn a_batch(url: &str, folder: &Path) -> Batch {
    let list = std::fs::read_to_string(folder.join("list")).unwrap();
    Batch {
        address: url.parse().unwrap(),
        files: batch::read_list(&list, folder),
        results: folder.join("results"),
        slots: Vec::new(),
        seed: 0,
        time: Some(Duration::from_secs(10)),
        mib: None,
        witness: false,
        checkers: 1,
        times: times(),
    }
}

/// Whether a task of a batch is safe: every second one.
fn is_safe(task: usize) -> bool {
    task.is_multiple_of(2)
}

fn write_tasks(folder: &Path, number: usize) {
    let mut list = "# the tasks\n".to_owned();
    for task in 0..number {
        let text = if is_safe(task) { safe(task) } else { broken(task) };
        std::fs::write(folder.join(format!("{task}.smt2")), text).unwrap();
        list += &format!("{task}.smt2\n");
    }
    std::fs::write(folder.join("list"), list).unwrap();
}

fn lines(path: &PathBuf) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn a_batch_survives_the_deaths_of_workers_and_of_the_client() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let folder = tempfile::tempdir().unwrap();
    let number = 50;
    write_tasks(folder.path(), number);
    let results = folder.path().join("results");
    let role = format!("batch {url} {}", folder.path().display());
    let mut client = Process::start(&role);
    let worker = || Process::start(&format!("slow {url}"));
    let mut workers = [worker(), worker()];
    let start = Instant::now();
    let mut next_kill = Duration::from_millis(900);
    let (mut kills, mut is_restarted) = (0, false);
    while lines(&results).len() < number {
        assert!(start.elapsed() < Duration::from_secs(60), "{} lines", lines(&results).len());
        thread::sleep(Duration::from_millis(50));
        // A job whose worker is killed comes back after at least three kills. So six kills end no job three times.
        if kills < 6 && start.elapsed() > next_kill {
            workers[kills % 2].kill();
            workers[kills % 2] = worker();
            kills += 1;
            next_kill = start.elapsed() + Duration::from_millis(900);
        }
        if !is_restarted && lines(&results).len() >= 10 {
            client.kill();
            client = Process::start(&role);
            is_restarted = true;
        }
    }
    wait_for("the end of the client", || client.0.try_wait().unwrap().is_some());
    let lines = lines(&results);
    let files: BTreeSet<&str> = lines.iter().map(|line| &*line.file).collect();
    assert_eq!((lines.len(), files.len()), (number, number), "after {kills} kills");
    for line in &lines {
        let task: usize = line.file.trim_end_matches(".smt2").parse().unwrap();
        assert_eq!(line.answer, if is_safe(task) { "sat" } else { "unsat" }, "{line:?}");
    }
    assert!(is_restarted && kills > 1);
    // A further run has nothing to do.
    let summary = batch::run(&a_batch(&url, folder.path()), &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!((summary.answered, summary.known, summary.all), (number, number, number));
}

#[test]
fn equal_files_are_solved_once_and_missing_ones_are_errors() {
    let Some(server) = Server::start(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a"), safe(0)).unwrap();
    std::fs::write(path("b"), safe(0)).unwrap();
    std::fs::write(path("wrong"), "(assert").unwrap();
    std::fs::write(path("list"), "a\nb\nmissing\nwrong\n").unwrap();
    let worker = Hired::honest(&server.url());
    let batch = Batch { witness: true, ..a_batch(&server.url(), folder.path()) };
    let summary = batch::run(&batch, &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!((summary.answered, summary.known), (4, 0));
    let mut found = lines(&batch.results);
    found.sort_by(|one, other| one.file.cmp(&other.file));
    let answers: Vec<&str> = found.iter().map(|line| &*line.answer).collect();
    assert_eq!(answers, ["sat", "sat", "error", "unknown"]);
    assert!(found[0].witness.as_ref().is_some_and(|witness| witness.contains("define-fun P")));
    assert!(found[3].reason.as_ref().is_some_and(|reason| reason.contains("cannot be read")));
    let begun = worker.notes.lock().unwrap().iter().filter(|note| matches!(note, Note::Begins(..))).count();
    assert_eq!(begun, 2);
    // Later, a third file with the same content needs no worker.
    std::fs::write(path("c"), safe(0)).unwrap();
    std::fs::write(path("list"), "a\nb\nc\nmissing\nwrong\n").unwrap();
    let batch = a_batch(&server.url(), folder.path());
    let summary = batch::run(&batch, &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!((summary.answered, summary.known, lines(&batch.results).len()), (5, 4, 5));
}

#[test]
fn a_job_that_panics_is_given_up_after_three_attempts() {
    let Some(server) = Server::start(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 2);
    let poison = TaskId::of(safe(0).as_bytes());
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&attempts);
    let solve: Solve = Arc::new(move |order| {
        if order.job.id.task == poison {
            list.lock().unwrap().push(order.job.attempt);
            panic!("on purpose");
        }
        work::solve(order)
    });
    let mut worker = Hired::new(&server.url(), solve);
    let batch = a_batch(&server.url(), folder.path());
    batch::run(&batch, &AtomicBool::new(false), &|_| ()).unwrap();
    let mut lines = lines(&batch.results);
    lines.sort_by(|one, other| one.file.cmp(&other.file));
    assert_eq!((&*lines[0].answer, &*lines[1].answer), ("unknown", "unsat"));
    assert!(lines[0].reason.as_ref().is_some_and(|reason| reason.contains("on purpose")), "{lines:?}");
    assert_eq!(*attempts.lock().unwrap(), [1, 2, 3]);
    assert_eq!(lengths(&server.url()), (0, 1));
    // The worker is alive.
    assert_eq!(worker.end(), Ok(()));
}

#[test]
fn a_job_with_unknown_slots_is_refused() {
    let Some(server) = Server::start(&[]) else { return };
    let _worker = Hired::honest(&server.url());
    let (found, notes) = ask(&request(&server.url(), &safe(7), &["oracle"], 20));
    assert!(found.is_none());
    let refused = notes.iter().filter(|note| matches!(note, Note::Refused(..))).count();
    assert_eq!(refused, 3, "{notes:?}");
    assert!(notes.iter().any(|note| matches!(note, Note::Dead(..))), "{notes:?}");
}

#[test]
fn a_worker_that_is_stopped_gives_its_job_back() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    let text = safe(8);
    let sleep: Solve = Arc::new(|order| {
        while !order.cancel.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        Outcome::unknown("cancelled".to_owned())
    });
    let mut sleeper = Hired::new(&url, sleep);
    let client = {
        let request = request(&url, &text, &["spacer"], 30);
        thread::spawn(move || ask(&request))
    };
    wait_for("the beginning of the job", || begun(&url, &text) == 1);
    sleeper.end().unwrap();
    let start = Instant::now();
    let worker = Hired::honest(&url);
    let (found, notes) = client.join().unwrap();
    assert_eq!(found.map(|found| found.from), Some(worker.name.clone()), "{notes:?}");
    // Nobody had to wait for a sign of life.
    assert!(start.elapsed() < times().claim_after, "{:?}", start.elapsed());
}

#[test]
fn limits_of_jobs_are_minima() {
    let Some(server) = Server::start(&[]) else { return };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let solve: Solve = Arc::new(move |order| {
        let seconds = order.deadline.unwrap().saturating_duration_since(Instant::now()).as_secs_f64();
        list.lock().unwrap().push((seconds, order.memory));
        Outcome::unknown("looked".to_owned())
    });
    let _worker = Hired::new(&server.url(), solve);
    let far = Request {
        deadline: Instant::now().checked_add(Duration::from_secs(1000)),
        mib: Some(100),
        ..request(&server.url(), &safe(9), &["spacer"], 20)
    };
    let near = request(&server.url(), &safe(10), &["spacer"], 20);
    let near = Request { deadline: Instant::now().checked_add(Duration::from_secs(8)), ..near };
    for request in [&far, &near] {
        ask(request);
    }
    let seen = seen.lock().unwrap();
    let [(first, memory), (second, none)] = seen[..] else { panic!("{seen:?}") };
    assert!(first <= 20.0 && first > 15.0 && second <= 8.0, "{first} {second}");
    assert!(memory.is_some_and(|memory| memory >= 100 << 20) && none.is_none());
}
