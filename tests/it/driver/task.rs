//! The driver's task and its handle: orders are answered, events and projections handed out, a viewer hands over.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use trellis::driver::core::{Core, Options};
use trellis::driver::handle::line;
use trellis::driver::ports::{Agents, Job, Loaded, Outcome, Records};
use trellis::driver::task::{Edges, drive};
use trellis::driver::viewer::{Ended, Heard, LookOnly, NoAgents, ReadRecords, Shelf, Theirs, view};
use trellis::model::command::{Command, NewRun, RefusalKind, Reply};
use trellis::model::config::RunConfig;
use trellis::model::event::{Event, EventKind};
use trellis::model::ids::Agent;
use trellis::model::reach::{InputBox, LiveStatus, OnItsWay, ProcessFact, Reach, Ticks, Transport};
use trellis::model::session::SessionState;
use trellis::projection::{DriverFact, Notice, Projection};
use trellis::supervise::Supervisor;

use super::world::{Disk, Journal, MemRecords, MemTranscripts, World, claude, codex, session};

/// Agents that are there and free.
pub struct Free(pub mpsc::Sender<Outcome>);

impl Agents for Free {
    fn begin(&mut self, job: Job) {
        if let Job::Probe(ask) = job {
            let _ = self.0.try_send(Outcome::Probed(ask.session, Box::new(free())));
        }
    }
}

/// How an agent is that is there and free.
fn free() -> Reach {
    Reach {
        at: trellis::clock::now(),
        transport: Some(Transport::Scripted),
        process: ProcessFact::Alive { pid: 1, started_at: None },
        status: LiveStatus::Idle,
        ticks: Ticks::all_hold(),
        input: InputBox::Empty,
        on_its_way: OnItsWay::No,
        replaced_by: None,
        sign: None,
        seen: None,
        place: "scripted".to_owned(),
        last_words: String::new(),
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), future).await.unwrap() })
}

#[test]
fn orders_are_answered_and_the_task_ends_when_told() {
    let world = World::new();
    let records = MemRecords { disk: world.disk.clone(), journal: Journal::default() };
    let (outcome, outcomes) = mpsc::channel(64);
    let (_hint, hints) = mpsc::channel(8);
    let (handle, end) = line();
    let now = trellis::clock::now();
    let core = Core::start(records, MemTranscripts(world.talks.clone()), Free(outcome), Options::default(), now);
    let supervisor = Supervisor::new();
    let mut events = handle.events();
    let task = drive(core, end, Edges { outcomes, hints }, supervisor.token(), trellis::clock::now);
    let client = async {
        let order = NewRun { implementer: claude(), reviewer: codex(), config: RunConfig::default() };
        let reply = handle.send(Command::CreateRun(order)).await;
        let Reply::Done { record: Some(run), .. } = reply else { panic!("{reply:?}") };
        assert_eq!(events.recv().await.unwrap().kind, EventKind::ChecklistStarted);
        handle.projections().wait_for(|projection| projection.runs.iter().any(|view| view.key == run)).await.unwrap();
        assert_eq!(handle.projection().driver, DriverFact::Here);
        handle.shutdown().await;
    };
    block_on(async { tokio::join!(task, client) });
    assert_eq!(world.disk.borrow().runs.len(), 1);
    let late = block_on(handle.send(Command::LookNow));
    assert!(matches!(late, Reply::Refused(_)), "nobody is there any more");
}

/// What waits is taken in together: a driver of many records makes one projection of it, not one for each.
#[test]
fn orders_that_wait_are_all_carried_out_before_one_projection_shows_them() {
    let world = World::new();
    let records = MemRecords { disk: world.disk.clone(), journal: Journal::default() };
    let (outcome, outcomes) = mpsc::channel(64);
    let (_hint, hints) = mpsc::channel(8);
    let (handle, end) = line();
    let now = trellis::clock::now();
    let core = Core::start(records, MemTranscripts(world.talks.clone()), Free(outcome), Options::default(), now);
    let supervisor = Supervisor::new();
    let task = drive(core, end, Edges { outcomes, hints }, supervisor.token(), trellis::clock::now);
    let order = |number: u32| {
        let (implementer, reviewer) =
            (session(Agent::Claude, &format!("c-{number}")), session(Agent::Codex, &format!("x-{number}")));
        let run = NewRun { implementer, reviewer, config: RunConfig::default() };
        handle.send(Command::CreateRun(run))
    };
    let client = async {
        let (first, second, third) = (
            async { tokio::join!(order(1), order(2), order(3), order(4), order(5)) },
            async { tokio::join!(order(6), order(7), order(8), order(9), order(10)) },
            async { tokio::join!(order(11), order(12), order(13), order(14), order(15)) },
        );
        let replies = tokio::join!(first, second, third);
        handle.shutdown().await;
        replies
    };
    let (replies, _) = block_on(async { tokio::join!(client, task) });
    assert!(matches!(replies.0.0, Reply::Done { .. }), "{replies:?}");
    assert_eq!(world.disk.borrow().runs.len(), 15, "{replies:?}");
    assert_eq!(handle.projection().runs.len(), 15);
    assert!(handle.projection().seq < 10, "{} projections for 15 orders", handle.projection().seq);
}

#[test]
fn a_stop_of_everything_ends_the_task() {
    let world = World::new();
    let records = MemRecords { disk: world.disk.clone(), journal: Journal::default() };
    let (outcome, outcomes) = mpsc::channel(64);
    let (_hint, hints) = mpsc::channel(8);
    let (_handle, end) = line();
    let now = trellis::clock::now();
    let core = Core::start(records, MemTranscripts(world.talks.clone()), Free(outcome), Options::default(), now);
    let supervisor = Supervisor::new();
    let task = drive(core, end, Edges { outcomes, hints }, supervisor.token(), trellis::clock::now);
    block_on(async { tokio::join!(task, async { supervisor.shutdown() }) });
}

/// A shelf over the same disk in memory.
struct MemShelf {
    records: MemRecords,
    driver: Rc<RefCell<DriverFact>>,
}

impl Shelf for MemShelf {
    fn read(&mut self) -> Option<Loaded> {
        Some(self.records.load())
    }

    fn events(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn driver(&mut self) -> DriverFact {
        self.driver.borrow().clone()
    }
}

/// Whoever drives tells nothing.
fn nobody_tells() -> Theirs {
    tokio::sync::watch::channel(Heard::Nothing).1
}

#[test]
fn a_viewer_takes_over_only_when_nobody_drives() {
    let world = World::new();
    let disk: Rc<RefCell<Disk>> = world.disk.clone();
    let driver = Rc::new(RefCell::new(DriverFact::Elsewhere { pid: Some(77), background: false }));
    let shelf = MemShelf { records: MemRecords { disk, journal: Journal::default() }, driver: driver.clone() };
    let options = Options { driver: driver.borrow().clone(), ..Options::default() };
    let now = trellis::clock::now();
    let core =
        Core::start(ReadRecords::new(shelf), MemTranscripts(world.talks.clone()), LookOnly(NoAgents), options, now);
    let (handle, end) = line();
    let (_hint, hints) = mpsc::channel(8);
    let (_tell, outcomes) = mpsc::channel(8);
    let supervisor = Supervisor::new();
    let task = view(core, end, Edges { outcomes, hints }, nobody_tells(), supervisor.token(), trellis::clock::now);
    let client = async {
        let Reply::Refused(refusal) = handle.send(Command::LookNow).await else { panic!("a viewer took an order") };
        assert!(refusal.message.contains("77"), "{refusal}");
        let Reply::Refused(refusal) = handle.take_over().await else { panic!("two drivers") };
        assert_eq!(refusal.kind, RefusalKind::NotDriver);
        *driver.borrow_mut() = DriverFact::Nobody;
        let mut projections = handle.projections();
        projections.wait_for(|projection| projection.driver == DriverFact::Nobody).await.unwrap();
        handle.take_over().await
    };
    let boot = async {
        let Ended::TakeOver(_line, answer) = task.await else { panic!("ended otherwise") };
        answer.send(Reply::Done { record: None, note: "drives now".to_owned() }).unwrap();
    };
    let (reply, ()) = block_on(async { tokio::join!(client, boot) });
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
}

/// What whoever drives tells is shown as it is, under this process's own word of who drives, and nothing is looked at
/// meanwhile. When nobody tells any more, it looks for itself.
#[test]
fn a_viewer_shows_what_the_driver_tells_and_looks_for_itself_when_it_is_gone() {
    let world = World::new();
    let elsewhere = DriverFact::Elsewhere { pid: Some(77), background: false };
    let driver = Rc::new(RefCell::new(elsewhere.clone()));
    let records = MemRecords { disk: world.disk.clone(), journal: Journal::default() };
    let options = Options { driver: elsewhere.clone(), observes: false, ..Options::default() };
    let now = trellis::clock::now();
    let shelf = ReadRecords::new(MemShelf { records, driver: driver.clone() });
    let core = Core::start(shelf, MemTranscripts(world.talks.clone()), LookOnly(NoAgents), options, now);
    let (handle, end) = line();
    let (_hint, hints) = mpsc::channel(8);
    let (_tell, outcomes) = mpsc::channel(8);
    let (tell, theirs) = tokio::sync::watch::channel(Heard::Nothing);
    let supervisor = Supervisor::new();
    let task = view(core, end, Edges { outcomes, hints }, theirs, supervisor.token(), trellis::clock::now);
    let client = async {
        let mut projections = handle.projections();
        let own = projections.wait_for(|shown| shown.at.is_some()).await.unwrap().clone();
        assert!(!own.takes_orders && !own.sessions.is_empty());
        let notice = Notice { at: now, text: "said there".to_owned(), is_error: false };
        let told = Projection {
            driver: DriverFact::Here,
            home: "there".to_owned(),
            notices: vec![notice],
            unread: 3,
            ..Projection::default()
        };
        tell.send(Heard::Shows(Arc::new(told.clone()))).unwrap();
        let shown = projections.wait_for(|shown| shown.takes_orders).await.unwrap().clone();
        assert_eq!((shown.unread, shown.sessions.len(), shown.notices.len()), (3, 0, 1));
        assert_eq!((&shown.driver, shown.home.as_str()), (&elsewhere, ""), "who drives is this process's own word");
        assert!(shown.seq > own.seq, "a screen takes it for news");
        // It was suspended: nothing is ordered there, and when it goes on it is followed again.
        tell.send(Heard::Silence).unwrap();
        let silent = DriverFact::Silent { pid: Some(77), background: false };
        let still = projections.wait_for(|shown| shown.driver == silent).await.unwrap().clone();
        assert!(!still.takes_orders && still.sessions.len() == own.sessions.len(), "{still:?}");
        let Reply::Refused(refusal) = handle.send(Command::LookNow).await else { panic!("a viewer took an order") };
        assert!(refusal.message.contains("process 77 does not answer"), "{refusal}");
        tell.send(Heard::Shows(Arc::new(told))).unwrap();
        projections.wait_for(|shown| shown.takes_orders && shown.driver == elsewhere).await.unwrap();
        *driver.borrow_mut() = DriverFact::Nobody;
        tell.send(Heard::Nothing).unwrap();
        let left = projections.wait_for(|shown| shown.driver == DriverFact::Nobody).await.unwrap().clone();
        assert!(!left.takes_orders && left.sessions.len() == own.sessions.len(), "{left:?}");
        supervisor.shutdown();
    };
    let ((), ended) = block_on(async { tokio::join!(client, task) });
    assert!(matches!(ended, Ended::Shutdown));
}

/// A viewer looks whether the agents are there, as the driver does, and does nothing else to them.
#[test]
fn a_viewer_looks_at_sessions_before_it_says_how_they_stand() {
    let world = World::new();
    let driver = Rc::new(RefCell::new(DriverFact::Elsewhere { pid: Some(77), background: false }));
    let shelf = MemShelf { records: MemRecords { disk: world.disk.clone(), journal: Journal::default() }, driver };
    let options = Options { driver: DriverFact::Elsewhere { pid: Some(77), background: false }, ..Options::default() };
    let (tell, outcomes) = mpsc::channel(64);
    let (_hint, hints) = mpsc::channel(8);
    let transcripts = MemTranscripts(world.talks.clone());
    let now = trellis::clock::now();
    let core = Core::start(ReadRecords::new(shelf), transcripts, LookOnly(Free(tell)), options, now);
    let (handle, end) = line();
    let supervisor = Supervisor::new();
    let task = view(core, end, Edges { outcomes, hints }, nobody_tells(), supervisor.token(), trellis::clock::now);
    let client = async {
        let mut projections = handle.projections();
        let looked = projections
            .wait_for(|shown| !shown.looking && !shown.sessions.is_empty() && shown.sessions.iter().all(|one| one.live))
            .await
            .unwrap()
            .clone();
        supervisor.shutdown();
        looked
    };
    let (looked, ended) = block_on(async { tokio::join!(client, task) });
    assert!(matches!(ended, Ended::Shutdown));
    let gone = |state: &SessionState| matches!(state, SessionState::Gone | SessionState::NotLooked);
    assert!(looked.sessions.iter().all(|one| !gone(&one.state)), "{:?}", looked.sessions);
}
