//! A world in memory for the driver: a disk that can refuse, two transcripts that grow, agents that answer, and time.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use trellis::driver::core::{Core, Input, Options};
use trellis::driver::ports::{Agents, Comeback, FoundSession, Job, Launched, Outcome, TranscriptRead, Transcripts};
use trellis::machine::TranscriptFact;
use trellis::model::command::{Command, Control, NewPair, NewRun, Reply};
use trellis::model::config::{FirstPhase, PairConfig, RunConfig};
use trellis::model::conversation::{
    Answer, Conversation, Failure, Item, ItemKind, Outcome as TurnOutcome, Prompt, PromptSource, RecordPos, Turn,
};
use trellis::model::event::EventKind;
use trellis::model::ids::{Agent, MessageId, RecordId, RecordKey, SessionId, SessionKey, SessionRef, TurnId};
use trellis::model::launch::Start;
use trellis::model::outbox::TranscriptMark;
use trellis::model::pair::{Kickoff, PairRecord};
use trellis::model::reach::{
    InputBox, LiveStatus, OnItsWay, ProbeAsk, ProcessFact, ProcessMark, Reach, SendReport, Ticks, Transport,
};
use trellis::model::run::RunRecord;
use trellis::model::session::Launch;

pub use super::disk::{Disk, Journal, MemRecords};

/// Both sides' transcripts, as the readers would give them.
#[derive(Default)]
pub struct Talks {
    pub conversations: BTreeMap<SessionKey, Conversation>,
    pub changed: Vec<SessionKey>,
    next_offset: u64,
}

impl Talks {
    fn position(&mut self, id: &str, at: Timestamp) -> RecordPos {
        self.next_offset += 100;
        RecordPos { id: RecordId::from(id), offset: self.next_offset, at: Some(at) }
    }

    fn note(conversation: &mut Conversation, position: &RecordPos) {
        conversation.positions.insert(&position.id, position.offset);
        conversation.last_record = Some(position.clone());
        conversation.last_spoken_at = position.at;
        conversation.length = position.offset + 100;
    }

    /// A prompt is taken up: a turn begins.
    pub fn prompt(&mut self, session: &SessionKey, text: &str, at: Timestamp) -> TurnId {
        let count = self.conversations[session].turns.len() + 1;
        let id = TurnId::new(format!("{}-t{count}", session.session_id));
        let position = self.position(&format!("{id}-p"), at);
        let conversation = self.conversations.get_mut(session).unwrap();
        if let Some(open) = conversation.turns.last_mut().filter(|turn| turn.outcome.is_none()) {
            open.outcome = Some(TurnOutcome::Superseded);
            open.ended_at = Some(at);
        }
        Self::note(conversation, &position);
        conversation.turns.push(Turn {
            id: id.clone(),
            prompt: Prompt { record: position.clone(), text: text.into(), source: PromptSource::Typed },
            outcome: None,
            answer: None,
            items: Vec::new().into(),
            edited_files: false,
            last_record: position,
            ended_at: None,
        });
        self.changed.push(session.clone());
        id
    }

    /// The open turn ends with an answer.
    pub fn answer(&mut self, session: &SessionKey, text: &str, at: Timestamp) {
        let count = self.conversations[session].turns.len();
        let position = self.position(&format!("{}-m{count}", session.session_id), at);
        let conversation = self.conversations.get_mut(session).unwrap();
        Self::note(conversation, &position);
        let turn = conversation.turns.last_mut().unwrap();
        let message_id = MessageId::new(position.id.as_str());
        turn.items.push(Item {
            offset: position.offset,
            at: Some(at),
            kind: ItemKind::Text { message_id: message_id.clone(), text: text.into() },
        });
        turn.answer = Some(Answer { message_id, text: text.into(), offset: position.offset, at: Some(at) });
        turn.outcome = Some(TurnOutcome::Completed);
        turn.ended_at = Some(at);
        turn.last_record = position;
        self.changed.push(session.clone());
    }

    /// A person stops the open turn.
    pub fn interrupt(&mut self, session: &SessionKey, at: Timestamp) {
        let count = self.conversations[session].turns.len();
        let position = self.position(&format!("{}-i{count}", session.session_id), at);
        let conversation = self.conversations.get_mut(session).unwrap();
        Self::note(conversation, &position);
        let turn = conversation.turns.last_mut().unwrap();
        turn.outcome = Some(TurnOutcome::Interrupted);
        turn.ended_at = Some(at);
        turn.last_record = position;
        self.changed.push(session.clone());
    }

    /// The open turn fails.
    pub fn fail(&mut self, session: &SessionKey, failure: Failure, at: Timestamp) {
        let count = self.conversations[session].turns.len();
        let position = self.position(&format!("{}-f{count}", session.session_id), at);
        let conversation = self.conversations.get_mut(session).unwrap();
        Self::note(conversation, &position);
        let turn = conversation.turns.last_mut().unwrap();
        turn.outcome = Some(TurnOutcome::Failed(failure));
        turn.ended_at = Some(at);
        turn.last_record = position;
        self.changed.push(session.clone());
    }

    pub fn prompts(&self, session: &SessionKey) -> Vec<String> {
        self.conversations[session].turns.iter().map(|turn| turn.prompt.text.to_string()).collect()
    }
}

#[derive(Clone)]
pub struct MemTranscripts(pub Rc<RefCell<Talks>>);

impl Transcripts for MemTranscripts {
    fn read(&mut self, session: &SessionRef, _now: Timestamp) -> TranscriptRead {
        let talks = self.0.borrow();
        match talks.conversations.get(&session.key()) {
            None => TranscriptRead { fact: TranscriptFact::NotYet, conversation: None },
            Some(conversation) => TranscriptRead {
                fact: TranscriptFact::Present(TranscriptMark {
                    path: format!("/t/{}.jsonl", session.session_id),
                    file_identity: "1:1".to_owned(),
                    length: conversation.length,
                    last_record_id: conversation.last_record.as_ref().map(|record| record.id.clone()),
                }),
                conversation: Some(Arc::new(conversation.clone())),
            },
        }
    }

    fn sessions(&mut self) -> Vec<FoundSession> {
        let talks = self.0.borrow();
        let found = |(key, conversation): (&SessionKey, &Conversation)| FoundSession {
            session: SessionRef {
                agent: key.agent,
                worktree: "/w/shop".to_owned(),
                session_id: key.session_id.clone(),
            },
            path: format!("/t/{}.jsonl", key.session_id).into(),
            title: None,
            modified_at: conversation.last_spoken_at,
            branch: None,
            last_words: None,
        };
        talks.conversations.iter().map(found).collect()
    }

    fn changed(&mut self) -> Vec<SessionKey> {
        std::mem::take(&mut self.0.borrow_mut().changed)
    }
}

#[derive(Clone)]
pub struct MemAgents {
    pub jobs: Rc<RefCell<VecDeque<Job>>>,
    pub journal: Journal,
}

impl Agents for MemAgents {
    fn begin(&mut self, job: Job) {
        match &job {
            Job::Send(record, delivery) => {
                let line = format!("send {} of {record} to {} a{}", delivery.entry, delivery.session, delivery.attempt);
                self.journal.borrow_mut().push(line);
            }
            Job::PressEnter(record, delivery) => {
                self.journal.borrow_mut().push(format!("enter {} of {record}", delivery.entry));
            }
            Job::Probe(_)
            | Job::Git { .. }
            | Job::Lines { .. }
            | Job::Clipboard(_)
            | Job::BringBack(_)
            | Job::Launch(_) => {}
        }
        self.jobs.borrow_mut().push_back(job);
    }
}

pub type MemCore = Core<MemRecords, MemTranscripts, MemAgents>;

/// Something that happens at a time.
enum Later {
    Outcome(Box<Outcome>),
    Prompt(SessionKey, String),
    Answer(SessionKey, String),
}

/// What an agent says to a prompt; `None`: it stays silent.
pub type Replies = Box<dyn FnMut(&SessionKey, &str) -> Option<String>>;

pub struct World {
    pub disk: Rc<RefCell<Disk>>,
    pub talks: Rc<RefCell<Talks>>,
    pub journal: Journal,
    pub jobs: Rc<RefCell<VecDeque<Job>>>,
    pub core: MemCore,
    pub now: Timestamp,
    pub replies: Replies,
    /// Sessions whose program is dead.
    pub dead: Vec<SessionKey>,
    /// Sends are swallowed: reported, but never seen.
    pub lossy: bool,
    /// No change of a file is ever told.
    pub deaf: bool,
    /// The processes that observations tell of.
    pub processes: BTreeMap<SessionKey, ProcessMark>,
    /// What every observation was asked.
    pub asked: Vec<ProbeAsk>,
    /// What was asked for: sessions to start and to bring back.
    pub starts: Vec<Start>,
    pub comebacks: Vec<Comeback>,
    /// What comes of opening a window.
    pub window: Result<Launched, String>,
    /// What is seen of a session that was just started.
    pub seen_first: Option<Reach>,
    /// What is seen of a session instead of what would be.
    pub reaches: BTreeMap<SessionKey, Reach>,
    later: Vec<(Timestamp, Later)>,
    seed: u64,
}

pub fn claude() -> SessionRef {
    session(Agent::Claude, "c-1")
}

pub fn codex() -> SessionRef {
    session(Agent::Codex, "x-1")
}

pub fn session(agent: Agent, id: &str) -> SessionRef {
    SessionRef { agent, worktree: "/w/shop".to_owned(), session_id: SessionId::from(id) }
}

pub fn noon() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

pub fn seconds(n: i64) -> SignedDuration {
    SignedDuration::from_secs(n)
}

impl World {
    /// Two idle sessions, each with one old turn, and an empty home.
    pub fn new() -> Self {
        let talks = Rc::new(RefCell::new(Talks::default()));
        for side in [claude(), codex()] {
            talks.borrow_mut().conversations.insert(side.key(), Conversation::new(side.agent));
            talks.borrow_mut().prompt(&side.key(), "hello", noon() - seconds(600));
            talks.borrow_mut().answer(&side.key(), "Hello.", noon() - seconds(590));
        }
        let disk = Rc::new(RefCell::new(Disk::default()));
        Self::on(disk, talks, noon(), 7)
    }

    /// A driver started on what is there.
    pub fn on(disk: Rc<RefCell<Disk>>, talks: Rc<RefCell<Talks>>, now: Timestamp, seed: u64) -> Self {
        let journal = Journal::default();
        let jobs = Rc::new(RefCell::new(VecDeque::new()));
        let core = start(&disk, &talks, &jobs, &journal, now, seed);
        Self {
            disk,
            talks,
            journal,
            jobs,
            core,
            now,
            replies: Box::new(|_, _| Some("Done.".to_owned())),
            dead: Vec::new(),
            lossy: false,
            deaf: false,
            processes: BTreeMap::new(),
            asked: Vec::new(),
            starts: Vec::new(),
            comebacks: Vec::new(),
            window: Ok(Launched {
                launch: Launch { worktree: "/w/shop".to_owned(), ..Launch::default() },
                place: "in pane %5".to_owned(),
                named: None,
            }),
            seen_first: None,
            reaches: BTreeMap::new(),
            later: Vec::new(),
            seed,
        }
    }

    /// The driver is killed and started again; the agents live on.
    pub fn restart(&mut self) {
        self.jobs.borrow_mut().clear();
        self.later.retain(|(_, later)| !matches!(later, Later::Outcome(_)));
        self.seed += 1;
        self.core = start(&self.disk, &self.talks, &self.jobs, &self.journal, self.now, self.seed);
    }

    pub fn order(&mut self, command: Command) -> Reply {
        if let Some(reply) = self.core.order(command, self.now) {
            return reply;
        }
        for _ in 0..50 {
            self.step();
            if let Some((_, reply)) = self.core.take_replies().pop() {
                return reply;
            }
        }
        panic!("no answer to the order")
    }

    pub fn control(&mut self, target: &RecordKey, control: Control) -> Reply {
        self.order(Command::Control { target: target.clone(), expect: None, control })
    }

    pub fn new_run(&mut self, first_phase: FirstPhase) -> RecordKey {
        self.new_run_with(RunConfig { first_phase, ..RunConfig::default() })
    }

    pub fn new_run_with(&mut self, config: RunConfig) -> RecordKey {
        let order = NewRun { implementer: claude(), reviewer: codex(), config };
        match self.order(Command::CreateRun(order)) {
            Reply::Done { record: Some(key), .. } => key,
            other => panic!("{other:?}"),
        }
    }

    pub fn new_pair(&mut self, kickoff: Kickoff) -> RecordKey {
        let order =
            NewPair { implementer: claude(), reviewer: codex(), kickoff: Some(kickoff), config: PairConfig::default() };
        match self.order(Command::CreatePair(order)) {
            Reply::Done { record: Some(key), .. } => key,
            other => panic!("{other:?}"),
        }
    }

    pub fn pair(&self, key: &RecordKey) -> PairRecord {
        let RecordKey::Pair(id) = key else { panic!("no pair") };
        self.disk.borrow().pairs[id].clone()
    }

    pub fn run(&self, key: &RecordKey) -> RunRecord {
        let RecordKey::Run(id) = key else { panic!("no run") };
        self.disk.borrow().runs[id].clone()
    }

    pub fn pair_of(&self, key: &RecordKey) -> PairRecord {
        let id = self.run(key).current_pair_id.unwrap();
        self.disk.borrow().pairs[&id].clone()
    }

    pub fn prompts(&self, session: &SessionRef) -> Vec<String> {
        self.talks.borrow().prompts(&session.key())
    }

    pub fn events(&self) -> Vec<EventKind> {
        self.disk.borrow().events.iter().map(|event| event.kind).collect()
    }

    pub fn person_types(&mut self, session: &SessionRef, text: &str) {
        self.talks.borrow_mut().prompt(&session.key(), text, self.now);
        let answer = (self.replies)(&session.key(), text);
        if let Some(answer) = answer {
            self.later.push((self.now + seconds(3), Later::Answer(session.key(), answer)));
        }
        self.hint();
    }

    pub fn hint(&mut self) {
        if self.deaf {
            self.talks.borrow_mut().changed.clear();
            return;
        }
        self.core.input(Input::Hint, self.now);
    }

    /// The next thing that happens; time goes to it.
    pub fn step(&mut self) {
        self.begin_jobs();
        let next = self.later.iter().map(|(at, _)| *at).min();
        let deadline = self.core.deadline();
        let Some(at) = [next, deadline].into_iter().flatten().min() else { return };
        self.now = self.now.max(at);
        self.later.sort_by_key(|(at, _)| *at);
        if self.later.first().is_some_and(|(at, _)| *at <= self.now) {
            let (_, later) = self.later.remove(0);
            self.happen(later);
        } else {
            self.core.input(Input::Tick, self.now);
        }
        self.begin_jobs();
    }

    /// The wall clock is set, or the machine slept: what was to come comes as much later by it. A driver never sleeps for
    /// longer than some seconds.
    pub fn set_clock(&mut self, by: SignedDuration) {
        self.begin_jobs();
        self.now += by;
        for (at, _) in &mut self.later {
            *at += by;
        }
        self.now += seconds(5);
        self.core.input(Input::Tick, self.now);
    }

    /// Steps until it holds; panics when it does not come true within the span.
    pub fn until(&mut self, span: SignedDuration, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = self.now + span;
        while !holds(self) {
            assert!(self.now <= end, "never: {what}\n{}", self.story());
            self.step();
        }
    }

    /// Lets a span go by.
    pub fn pass(&mut self, span: SignedDuration) {
        let end = self.now + span;
        loop {
            self.begin_jobs();
            let next = self.later.iter().map(|(at, _)| *at).min();
            let next = [next, self.core.deadline()].into_iter().flatten().min();
            if next.is_none_or(|at| at > end) {
                break;
            }
            self.step();
        }
        self.now = end;
    }

    pub fn story(&self) -> String {
        let disk = self.disk.borrow();
        format!("{:#?}\n{:#?}\n{:#?}", self.journal.borrow(), disk.runs, disk.pairs)
    }

    fn happen(&mut self, later: Later) {
        match later {
            Later::Outcome(outcome) => self.core.input(Input::Outcome(outcome), self.now),
            Later::Prompt(session, text) => {
                self.talks.borrow_mut().prompt(&session, &text, self.now);
                if let Some(answer) = (self.replies)(&session, &text) {
                    self.later.push((self.now + seconds(3), Later::Answer(session, answer)));
                }
                self.hint();
            }
            Later::Answer(session, text) => {
                self.talks.borrow_mut().answer(&session, &text, self.now);
                self.hint();
            }
        }
    }

    fn soon(&mut self, at: Timestamp, outcome: Outcome) {
        self.later.push((at, Later::Outcome(Box::new(outcome))));
    }

    fn begin_jobs(&mut self) {
        loop {
            let Some(job) = self.jobs.borrow_mut().pop_front() else { return };
            self.begin(job);
        }
    }

    fn begin(&mut self, job: Job) {
        let soon = self.now + SignedDuration::from_millis(50);
        match job {
            Job::Probe(ask) => {
                let reach = self.reach(&ask.session);
                self.asked.push(ask.clone());
                self.soon(soon, Outcome::Probed(ask.session, Box::new(reach)));
            }
            Job::Send(record, delivery) => {
                let report =
                    SendReport { last_key_at: Some(soon), entered: true, queue_id: None, carrier: None, stopped: None };
                let sent = Outcome::Sent {
                    record,
                    entry: delivery.entry,
                    session: delivery.session.clone(),
                    enter_only: false,
                    report,
                };
                self.soon(soon, sent);
                if !self.lossy {
                    let seen = soon + SignedDuration::from_millis(400);
                    self.later.push((seen, Later::Prompt(delivery.session, delivery.text.to_string())));
                }
            }
            Job::PressEnter(record, delivery) => {
                let report =
                    SendReport { last_key_at: Some(soon), entered: true, queue_id: None, carrier: None, stopped: None };
                let sent = Outcome::Sent {
                    record,
                    entry: delivery.entry,
                    session: delivery.session,
                    enter_only: true,
                    report,
                };
                self.soon(soon, sent);
            }
            Job::Git { worktree } => {
                self.soon(soon, Outcome::Git { worktree, mark: None });
            }
            Job::Lines { worktree, base } => {
                self.soon(soon, Outcome::Lines { worktree, base, state: None });
            }
            Job::Clipboard(_) => {
                self.soon(soon, Outcome::Copied(Ok("copied".to_owned())));
            }
            Job::BringBack(comeback) => {
                let key = comeback.session.key();
                self.dead.retain(|dead| dead != &key);
                self.soon(soon, Outcome::BroughtBack(key, Ok("in a new window".to_owned())));
                self.comebacks.push(*comeback);
            }
            Job::Launch(start) => {
                if let Some(first) = self.seen_first.clone() {
                    self.reaches.insert(start.session.clone(), first);
                }
                self.soon(soon, Outcome::Launched(start.session.clone(), self.window.clone()));
                self.starts.push(*start);
            }
        }
    }

    /// Something was learnt of the world.
    pub fn tell(&mut self, outcome: Outcome) {
        self.soon(self.now, outcome);
    }

    /// A program in a pane, as it is seen.
    pub fn alive(&self) -> Reach {
        let process = ProcessFact::Alive { pid: 1, started_at: None };
        Reach { transport: Some(Transport::Tmux), process, ..self.reach(&claude().key()) }
    }

    fn reach(&self, session: &SessionKey) -> Reach {
        if let Some(reach) = self.reaches.get(session) {
            return Reach { at: self.now, ..reach.clone() };
        }
        let is_dead = self.dead.contains(session);
        let is_open = self.talks.borrow().conversations.get(session).is_some_and(Conversation::is_open);
        Reach {
            at: self.now + SignedDuration::from_millis(50),
            transport: (!is_dead).then_some(Transport::Scripted),
            process: if is_dead { ProcessFact::Dead } else { ProcessFact::Alive { pid: 1, started_at: None } },
            status: if is_open { LiveStatus::Busy } else { LiveStatus::Idle },
            ticks: Ticks::all_hold(),
            input: InputBox::Empty,
            on_its_way: OnItsWay::No,
            replaced_by: None,
            sign: None,
            seen: self.processes.get(session).cloned(),
            place: "scripted".to_owned(),
            last_words: String::new(),
        }
    }
}

fn start(
    disk: &Rc<RefCell<Disk>>,
    talks: &Rc<RefCell<Talks>>,
    jobs: &Rc<RefCell<VecDeque<Job>>>,
    journal: &Journal,
    now: Timestamp,
    seed: u64,
) -> MemCore {
    let records = MemRecords { disk: disk.clone(), journal: journal.clone() };
    let agents = MemAgents { jobs: jobs.clone(), journal: journal.clone() };
    let options = Options { seed, ..Options::default() };
    Core::start(records, MemTranscripts(talks.clone()), agents, options, now)
}
