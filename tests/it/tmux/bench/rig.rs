//! A driver with everything below it, on a pair of fake agents in one tmux server. No rule is checked here.

use std::time::Duration;

use tokio::sync::mpsc;
use trellis::agent::{Settings, Transports};
use trellis::clock;
use trellis::driver::core::{Core, Options};
use trellis::driver::handle::{Handle, line};
use trellis::driver::task::{self, Edges};
use trellis::machine::wire;
use trellis::model::command::{Command, Control, NewPair, Reply};
use trellis::model::config::PairConfig;
use trellis::model::ids::{Agent, RecordKey, SessionId, SessionRef};
use trellis::model::outbox::{Entry, EntryState};
use trellis::model::pair::{Kickoff, PairRecord, PairState, PairStop, PauseReason};
use trellis::model::tempo::Tempo;
use trellis::model::text::fold;
use trellis::paths::Home;
use trellis::projection::RunView;
use trellis::store::Store;
use trellis::supervise::Supervisor;
use trellis::watch::{self, Roots};

use super::super::rig::{Elsewhere, Fake, Panes, can_run, settings, until};

pub const BUILDER: &str = "b0000000-2222-4333-8444-555555555555";
pub const REVIEWER: &str = "c0000000-2222-4333-8444-555555555555";

/// What is in front of the answer that is relayed.
pub const PROMPT: &str = "Review this. If it is good, reply with LGTM on its own line.";

/// What is to be seen of a bench.
pub struct Bench {
    pub panes: Panes,
    pub reviewer: Fake,
    pub settings: Settings,
    pub send_when_box_unknown: bool,
    pub message_file_above: u64,
    /// The reviewer's own terminal, where it is in no pane.
    pub elsewhere: Option<Elsewhere>,
    home: Home,
    answer: String,
    config: PairConfig,
    /// Dropped before the panes: nothing is typed into a server that ends.
    stack: Option<Stack>,
}

struct Stack {
    handle: Handle,
    supervisor: Supervisor,
    runtime: tokio::runtime::Runtime,
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.supervisor.shutdown();
        self.runtime.block_on(self.supervisor.finished(Duration::from_secs(20)));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stack = None;
    }
}

impl Bench {
    /// An implementer that has given `answer`, and a reviewer with these habits. Nothing is driven yet.
    pub fn of(agent: Agent, answer: &str, habits: &[&str]) -> Option<Self> {
        Self::with(answer, habits, |panes, options| (Fake::open(panes, agent, REVIEWER, options), None))
    }

    /// The same with a Claude in a terminal that belongs to no tmux.
    pub fn elsewhere(answer: &str, habits: &[&str]) -> Option<Self> {
        Self::with(answer, habits, |panes, options| {
            let (fake, terminal) = Fake::open_elsewhere(panes, Agent::Claude, REVIEWER, options);
            (fake, Some(terminal))
        })
    }

    fn with(
        answer: &str,
        habits: &[&str],
        open: impl FnOnce(&Panes, &[&str]) -> (Fake, Option<Elsewhere>),
    ) -> Option<Self> {
        if !can_run() {
            return None;
        }
        let panes = Panes::new();
        let said = panes.folder.path().join("said");
        std::fs::write(&said, answer).unwrap();
        Fake::open(&panes, Agent::Claude, BUILDER, &["--said", &format!("@{}", said.display())]);
        let mut options = vec!["--said", "READY"];
        options.extend(habits);
        let (reviewer, elsewhere) = open(&panes, &options);
        Some(Self {
            settings: settings(&panes),
            home: Home::at(panes.folder.path().join("home")),
            panes,
            reviewer,
            elsewhere,
            send_when_box_unknown: false,
            message_file_above: 65_536,
            answer: answer.to_owned(),
            config: PairConfig { debounce: 0, ..PairConfig::default() },
            stack: None,
        })
    }

    /// The same with Claude's dialect.
    pub fn claude(answer: &str, habits: &[&str]) -> Option<Self> {
        Self::of(Agent::Claude, answer, habits)
    }

    /// Relays the answer alone.
    pub fn without_prompt(mut self) -> Self {
        self.config.review_prompt.clear();
        self
    }

    /// The message as it is to arrive.
    pub fn message(&self) -> String {
        if self.config.review_prompt.is_empty() { self.answer.clone() } else { format!("{PROMPT}\n\n{}", self.answer) }
    }

    /// Starts a driver; one that runs is ended first.
    pub fn drive(&mut self, speed: f64) {
        self.stack = None;
        let supervisor = Supervisor::new();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let claude_projects = self.settings.claude_home.join("projects");
        let codex_sessions = self.settings.codex_home.join("sessions");
        let (transcripts, hints) = {
            let _entered = runtime.enter();
            watch::start(&Roots { claude_projects, codex_sessions, signs: Vec::new() }, &supervisor)
        };
        let (tell, outcomes) = mpsc::channel(256);
        let agents = Transports::new(self.settings.clone(), tell, supervisor.clone());
        let options = Options {
            tempo: Tempo::of_speed(speed).unwrap(),
            home: self.home.root().display().to_string(),
            send_when_box_unknown: self.send_when_box_unknown,
            message_file_above: self.message_file_above,
            ..Options::default()
        };
        let records = Store::new(self.home.clone());
        let (handle, end) = line();
        let make = move || Core::start(records, transcripts, agents, options, clock::now());
        task::start(&supervisor, make, end, Edges { outcomes, hints }, clock::now).unwrap();
        self.stack = Some(Stack { handle, supervisor, runtime });
    }

    /// Ends the driver: what it had begun is finished.
    pub fn end(&mut self) {
        self.stack = None;
    }

    /// Drives, and begins the pair: the implementer's answer is relayed to the reviewer.
    pub fn begin(&mut self, speed: f64) {
        self.drive(speed);
        let worktree = self.panes.folder.path().display().to_string();
        let side = |agent, id| SessionRef { agent, worktree: worktree.clone(), session_id: SessionId::new(id) };
        let order = NewPair {
            implementer: side(Agent::Claude, BUILDER),
            reviewer: side(self.reviewer.agent, REVIEWER),
            config: self.config.clone(),
            kickoff: Some(Kickoff::UseCurrent),
        };
        let reply = self.handle().send_blocking(Command::CreatePair(order));
        assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    }

    pub fn handle(&self) -> &Handle {
        &self.stack.as_ref().unwrap().handle
    }

    pub fn control(&self, control: Control) -> Reply {
        let target = RecordKey::Pair(self.pair().id);
        self.handle().send_blocking(Command::Control { target, expect: None, control })
    }

    /// The record as it stands on the disk.
    pub fn pair(&self) -> PairRecord {
        let mut found = None;
        until(
            || {
                let files = std::fs::read_dir(self.home.pairs()).into_iter().flatten().filter_map(Result::ok);
                let records = files.filter(|file| file.path().extension().is_some_and(|end| end == "json"));
                let texts = records.filter_map(|file| std::fs::read_to_string(file.path()).ok());
                let mut pairs = texts.filter_map(|text| serde_json::from_str(&text).ok());
                found = pairs.next();
                found.is_some()
            },
            || String::from("no pair was saved"),
        );
        found.unwrap()
    }

    /// The folder of the record's texts.
    pub fn texts(&self) -> std::path::PathBuf {
        self.home.texts(&RecordKey::Pair(self.pair().id)).unwrap()
    }

    /// The relay.
    pub fn entry(&self) -> Option<Entry> {
        self.pair().outbox.into_iter().next()
    }

    /// As the screen shows it.
    pub fn view(&self) -> Option<RunView> {
        self.handle().projection().runs.first().cloned()
    }

    /// Why the message is held, as the screen says it.
    pub fn held(&self) -> Option<String> {
        let view = self.view()?;
        let wait =
            format!("{} {}", view.wait.what, view.banner.map(|banner| banner.lines.join(" ")).unwrap_or_default());
        Some(format!("{} {wait}", view.delivery.and_then(|delivery| delivery.held).unwrap_or_default()))
    }

    #[track_caller]
    pub fn wait(&self, what: &str, holds: impl FnMut() -> bool) {
        until(holds, || {
            format!(
                "waited in vain for {what}\nheld: {:?}\n{:?} {:?}\n{:#?}\nsubmitted: {:?}\nhappened: {:?}\n{}\n{}",
                self.held(),
                self.pair().paused_reason,
                self.pair().stop_reason,
                self.entry(),
                self.reviewer.submitted(),
                self.reviewer.happened(),
                self.panes.shown(&self.reviewer.pane),
                std::fs::read_to_string(self.home.decisions()).unwrap_or_default()
            )
        });
    }

    /// Waits until the screen says why the message does not go out.
    #[track_caller]
    pub fn says(&self, words: &str) {
        self.wait(words, || self.held().is_some_and(|held| held.contains(words)));
    }

    /// The agreement: the one message arrived once, as it was, and nothing was done that may not be done.
    #[track_caller]
    pub fn arrives_once(&self) {
        self.wait("the agreement", || {
            let pair = self.pair();
            // A slow machine may have called a person in between: they go on.
            if pair.state == PairState::Paused && pair.paused_reason == Some(PauseReason::DeliveryFailed) {
                self.control(Control::Resume);
            }
            pair.stop_reason == Some(PairStop::Lgtm)
        });
        let got = self.reviewer.submitted();
        assert_eq!(got.len(), 1, "{got:?}");
        let entry = self.entry().unwrap();
        let wire = wire::whole(&self.message(), 0, self.reviewer.agent).unwrap();
        assert_eq!(fold(&got[0]), fold(entry.sent_text.as_deref().unwrap_or(&wire.text)));
        assert_eq!((entry.state, entry.altered, entry.duplicates.len()), (EntryState::Delivered, false, 0));
        self.harmless();
    }

    /// No dialog was answered, no Ctrl-C was sent, no shell got a byte.
    #[track_caller]
    pub fn harmless(&self) {
        let happened = self.reviewer.happened();
        assert!(!happened.iter().any(|what| what != "enter dropped"), "{happened:?}");
    }

    /// The run pauses for this reason; gives what it says of it.
    #[track_caller]
    pub fn pauses(&self, reason: PauseReason) -> String {
        self.wait(reason.as_str(), || self.pair().paused_reason == Some(reason));
        self.harmless();
        self.pair().paused_detail
    }

    /// Keys that a person presses in the reviewer's pane.
    pub fn person(&self, keys: &[&str]) {
        let mut words = vec!["send-keys", "-t", &self.reviewer.pane];
        words.extend(keys);
        self.panes.tmux(&words);
    }

    /// Gives the reviewer's pane another size.
    pub fn resize(&self, columns: &str, rows: &str) {
        self.panes.tmux(&["resize-window", "-t", &self.reviewer.pane, "-x", columns, "-y", rows]);
    }

    pub fn shown(&self) -> String {
        self.panes.shown(&self.reviewer.pane)
    }
}
