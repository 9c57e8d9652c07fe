//! The driver without a clock, a thread or a channel: inputs and the time go in, jobs go to the ports, events and the
//! projection come out. The real task and the simulator run this same code.
//!
//! The only way a record changes is `Core::law`: step → save → act → publish. Which step is due is the machines'
//! business, which record is looked at and when is [`looks`]'s, what a person ordered is [`orders`]'s.

pub mod acts;
pub mod books;
pub mod creation;
pub mod drawn;
pub mod heard;
pub mod jumps;
pub mod kept;
pub mod launches;
pub mod law;
pub mod looks;
pub mod orders;
pub mod scene;
pub mod screen;
pub mod sessions;
pub mod shared;
pub mod trees;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use self::books::Books;
use self::creation::{Ids, Parked};
use self::kept::Kept as _;
use self::launches::Launches;
use self::screen::Screen;
use self::sessions::{ComingBack, Known};
use self::trees::WorkTrees;
use super::ports::{Agents, FoundSession, Outcome, ReadOnly, Records, Transcripts};
use super::why::Why;
use crate::machine::ledger::Ledger;
use crate::model::command::{Command, Reply};
use crate::model::event::Event;
use crate::model::ids::{Agent, RecordKey, SessionKey, SessionRef};
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;
use crate::model::tempo::Tempo;
use crate::projection::sessions::Listed;
use crate::projection::{DriverFact, Notice};

/// A missed notification delays by this at most.
const TICK: SignedDuration = SignedDuration::from_secs(15);

/// What a home decides about its driver.
#[derive(Clone, Debug)]
pub struct Options {
    /// How fast waits run.
    pub tempo: Tempo,
    /// Entropy for the ids of new records; equal seeds give equal ids.
    pub seed: u64,
    /// The home's folder.
    pub home: String,
    /// The command that ends a driver of it in the background.
    pub stop_command: String,
    /// A longer message, in bytes, is named by the file in which it stands.
    pub message_file_above: u64,
    /// The person's time zone.
    pub zone: TimeZone,
    /// A first message may go out although the box cannot be read.
    pub send_when_box_unknown: bool,
    /// Orders are carried out and saved, and no record is looked at: for a command that only records a new run.
    pub records_only: bool,
    /// Why no agent is started here, where that is so: a demo's home has its own.
    pub starts_nothing: Option<String>,
    /// Agents would run as root, and nothing says that this is a sandbox.
    pub as_root: bool,
    /// Sessions are observed. A viewer of scripted agents cannot: they live in the process that plays them.
    pub observes: bool,
    /// Who drives, as the screens are to say it. Anything but [`DriverFact::Here`] makes a viewer: it reads, never acts.
    pub driver: DriverFact,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tempo: Tempo::REAL,
            seed: 0,
            home: String::new(),
            stop_command: "trellis drive --stop".to_owned(),
            message_file_above: 65_536,
            zone: TimeZone::UTC,
            send_when_box_unknown: false,
            records_only: false,
            starts_nothing: None,
            as_root: false,
            observes: true,
            driver: DriverFact::Here,
        }
    }
}

/// What the driver is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An order, with a number that comes back with its reply.
    Command {
        /// The number.
        ticket: u64,
        /// The order.
        command: Box<Command>,
    },
    /// A job ended.
    Outcome(Box<Outcome>),
    /// Transcripts may have changed; [`Transcripts::changed`] says which.
    Hint,
    /// Nothing but the time.
    Tick,
}

/// The driver. See the module.
#[derive(Debug)]
pub struct Core<R, T, A> {
    records: R,
    transcripts: T,
    agents: A,
    options: Options,
    /// Since when it has looked without a break.
    started_at: Timestamp,
    /// When it was told something last.
    looked_at: Timestamp,
    books: Books,
    read_only: Vec<ReadOnly>,
    runs_unread: bool,
    ledger: Ledger,
    sessions: BTreeMap<SessionKey, Known>,
    trees: WorkTrees,
    found: Vec<Listed>,
    /// The newest of those, by agent and folder.
    newest: BTreeMap<(Agent, String), SessionRef>,
    /// Of those, how many were not read yet.
    unread: usize,
    /// Sessions that no record uses and that are to be observed, a few at a time.
    to_look: VecDeque<SessionKey>,
    begun: Vec<FoundSession>,
    heard: BTreeSet<String>,
    dirty: BTreeSet<RecordKey>,
    touched: BTreeSet<SessionKey>,
    next_tick: Timestamp,
    parked: Vec<Parked>,
    /// Records whose making was refused and that may lie on the disk all the same.
    unmade: Vec<RecordKey>,
    launches: Launches,
    /// Sessions that are being brought back.
    coming_back: BTreeMap<SessionKey, ComingBack>,
    ids: Ids,
    seq: u64,
    events: VecDeque<Event>,
    replies: VecDeque<(u64, Reply)>,
    notices: Vec<Notice>,
    why: Why,
    screen: Screen,
    closing: bool,
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Loads the home, puts it in order (`loops.md` §6) and looks at everything once.
    pub fn start(records: R, transcripts: T, agents: A, options: Options, now: Timestamp) -> Self {
        let ids = Ids::new(options.seed);
        let mut core = Self {
            records,
            transcripts,
            agents,
            options,
            started_at: now,
            looked_at: now,
            books: Books::default(),
            read_only: Vec::new(),
            runs_unread: false,
            ledger: Ledger::new(),
            sessions: BTreeMap::new(),
            trees: WorkTrees::default(),
            found: Vec::new(),
            newest: BTreeMap::new(),
            unread: 0,
            to_look: VecDeque::new(),
            begun: Vec::new(),
            heard: BTreeSet::new(),
            dirty: BTreeSet::new(),
            touched: BTreeSet::new(),
            next_tick: now,
            parked: Vec::new(),
            unmade: Vec::new(),
            launches: Launches::default(),
            coming_back: BTreeMap::new(),
            ids,
            seq: 0,
            events: VecDeque::new(),
            replies: VecDeque::new(),
            notices: Vec::new(),
            why: Why::default(),
            screen: Screen::default(),
            closing: false,
        };
        core.load(now);
        core.tick(now);
        // What nothing depends on waits until the first screen is drawn: a hint comes by itself.
        if core.drives() && !core.options.records_only {
            core.stop_orphans(now);
        }
        core.settle(now);
        core
    }

    /// Takes one input in and carries out everything that follows from it.
    pub fn input(&mut self, input: Input, now: Timestamp) {
        self.mind_the_clock(now);
        self.due(now);
        match input {
            Input::Command { ticket, command } => self.command(ticket, *command, now),
            Input::Outcome(outcome) => self.outcome(*outcome, now),
            Input::Hint => self.hint(now),
            Input::Tick => {}
        }
        self.look_on(now);
        self.settle(now);
        self.unpark(now);
    }

    /// Gives an order and answers at once, if it can be answered at once.
    pub fn order(&mut self, command: Command, now: Timestamp) -> Option<Reply> {
        let ticket = u64::MAX;
        self.input(Input::Command { ticket, command: Box::new(command) }, now);
        let at = self.replies.iter().position(|(of, _)| *of == ticket)?;
        self.replies.remove(at).map(|(_, reply)| reply)
    }

    /// The time at which [`Input::Tick`] is due at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        let records = self.books.wakes();
        let sessions = self.sessions.values().filter_map(Known::wake);
        let parked = self.parked.iter().map(Parked::until);
        records.chain(sessions).chain(parked).chain([self.next_tick]).min()
    }

    /// Events published since the last call, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.events.drain(..).collect()
    }

    /// Answers to orders since the last call, with their numbers.
    pub fn take_replies(&mut self) -> Vec<(u64, Reply)> {
        self.replies.drain(..).collect()
    }

    /// The records, as last saved.
    #[must_use]
    pub const fn books(&self) -> &Books {
        &self.books
    }

    /// The ports, for tests that look at what they were asked.
    pub const fn ports(&mut self) -> (&mut R, &mut T, &mut A) {
        (&mut self.records, &mut self.transcripts, &mut self.agents)
    }

    /// Gives the ports back: the driver is over.
    pub fn into_ports(self) -> (R, T, A) {
        (self.records, self.transcripts, self.agents)
    }

    /// Whether this process drives; a viewer only reads.
    #[must_use]
    pub const fn drives(&self) -> bool {
        matches!(self.options.driver, DriverFact::Here)
    }

    /// From now on nothing new is begun; what a send sequence reports is still saved.
    pub const fn close(&mut self) {
        self.closing = true;
    }

    /// Whether a send sequence runs whose report is not saved yet.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.sessions.values().any(|known| known.sending.is_some())
    }

    /// Says who drives, for a viewer.
    pub fn driven_by(&mut self, driver: DriverFact) {
        if self.options.driver != driver {
            self.options.driver = driver;
            self.screen.outdate();
        }
    }

    /// Reads all records anew, for a viewer: what it showed is replaced.
    pub fn reload(&mut self, now: Timestamp) {
        self.load(now);
        self.settle(now);
    }

    fn load(&mut self, now: Timestamp) {
        let loaded = self.records.load();
        self.books = Books::of(loaded.runs, loaded.pairs);
        self.ledger = Ledger::new();
        for run in self.books.runs() {
            // Messages that moved out of the record are ours all the same: the ledger keeps what it was once given.
            if let Some(older) = loaded.older_entries.get(&run.record.key()) {
                self.ledger.add_run(&RunRecord { outbox: older.clone(), ..run.record.clone() });
            }
            self.ledger.add_run(&run.record);
        }
        for pair in self.books.pairs() {
            if let Some(older) = loaded.older_entries.get(&pair.record.key()) {
                self.ledger.add_pair(&PairRecord { outbox: older.clone(), ..pair.record.clone() });
            }
            self.ledger.add_pair(&pair.record);
        }
        (self.read_only, self.runs_unread) = (loaded.read_only, loaded.runs_unread);
        for (key, note) in loaded.sessions {
            self.keep_note(key, note);
        }
        if self.drives() {
            self.take_up_launches(now);
        }
        self.seq = self.seq.max(loaded.last_seq);
        self.why = Why::of(loaded.decisions);
        for text in loaded.notices {
            self.notice(text, true, now);
        }
        self.dirty = self.books.watched();
        self.screen.forget();
    }

    /// Says once what does not work and is none of the driver's.
    pub fn complain(&mut self, words: String, now: Timestamp) {
        self.notice(words, true, now);
    }

    /// Says something once.
    fn notice(&mut self, text: String, is_error: bool, now: Timestamp) {
        const KEPT: usize = 50;
        if let Some(at) = self.notices.iter().position(|notice| notice.text == text) {
            if is_error {
                return;
            }
            // What went well is news each time.
            self.notices.remove(at);
        }
        self.notices.push(Notice { at: now, text, is_error });
        let over = self.notices.len().saturating_sub(KEPT);
        self.notices.drain(..over);
        self.screen.outdate();
    }

    /// What the time alone makes due.
    fn due(&mut self, now: Timestamp) {
        for text in self.transcripts.notices() {
            self.notice(text, true, now);
        }
        if now >= self.next_tick {
            self.tick(now);
        }
        self.dirty.extend(self.books.due(now));
        self.due_sessions(now);
    }

    /// The self-heal: everything that waits is looked at, whatever was or was not announced.
    fn tick(&mut self, now: Timestamp) {
        let pause = self.options.tempo.wait(TICK);
        self.next_tick = now.checked_add(pause).unwrap_or(now);
        let _ = self.unmake();
        self.hear(now);
        self.find_sessions();
        self.observe_used(now);
        self.dirty.extend(self.books.watched());
    }

    /// The projection, made anew only when something changed since the last one.
    pub fn projection(&mut self, now: Timestamp) -> Arc<crate::projection::Projection> {
        self.draw(now)
    }
}
