//! The step machines: pure functions of (record, what is seen, now). No clock, file, channel, task or random number.
//!
//! A machine's functions are of four kinds, called by the driver in this order:
//! 1. `create_*`: a new record from an order, or a refusal.
//! 2. `look`: everything that can be concluded from what is seen now. Level-triggered: it may be called at any
//!    time and any number of times; when nothing changed it returns an unchanged record. Its order is that of
//!    `loops.md` §2: evidence for entries in flight, human prompts, sending, the steps.
//! 3. `sent`: the report of a send sequence that a `look` asked for.
//! 4. `control`: an order of a person, or a refusal with its reason.
//!
//! Each returns a [`Step`]. The driver saves the record if it changed, **then** carries out the effects, **then**
//! publishes; an effect never leaves before the record that caused it is on the disk.
//!
//! What the driver owes the machines:
//! - The save raises `revision` and sets `last_persisted_at`; the machines touch neither.
//! - `control` gets the scene that the person's screen showed (the one of the last publication, not read anew), because
//!   a control that lets the loop go on takes into account only what the person could see. A fresh `look` follows at once.
//! - `run::look` and `run::control` get every pair of that run that exists on the disk, so that they see the current
//!   one, the one that is to stop and the one that `more` goes on from. A pair's `look` comes after its run's.
//! - An order of a run to its pair goes through [`pair::order`], with a scene of the *run's* sides.
//! - An order or effect may come twice: each is without effect when what it wants is already so.
//! - At a start: [`restart::orphans`] first (each is ordered to stop), then runs, then pairs, by plain looks.

mod delivery;
pub mod launch;
pub mod ledger;
pub mod limits;
pub mod pair;
pub mod plan;
pub mod restart;
pub mod run;
pub mod sending;
pub mod session;
mod turns;
pub mod wire;

mod clock;
mod common;
mod draft;
mod grounds;
mod guard;
mod orders;
mod prompts;
mod setback;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::conversation::Conversation;
use crate::model::event::{Decision, EventKind};
use crate::model::ids::{EntryId, PairId, Role, SessionKey, SessionRef};
use crate::model::outbox::TranscriptMark;
use crate::model::pair::PairRecord;
use crate::model::reach::{ProbeAsk, Reach, SendReport};
use crate::model::run::{GitMark, RunRecord};
use crate::model::tempo::Tempo;
use crate::model::tree::TreeState;

/// Work trees beside a commit (`None`: their head then): when they were observed, and as what. `None` inside: no git
/// repository, or unreadable.
pub type Trees = BTreeMap<(String, Option<String>), (Timestamp, Option<Arc<TreeState>>)>;

/// What one look sees. Both transcripts were read to their end just before.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The wall clock.
    pub now: Timestamp,
    /// When this driver started, or began to look again after a time in which nobody did (the machine slept, the clock
    /// was set): graces and queue waits begin anew then.
    pub driver_started_at: Timestamp,
    /// Since when the record is looked at and can be saved: that start, or the newest save of it that was refused. What was
    /// not saved did not happen, so graces and the 60 s of a message count from here at the earliest.
    pub kept_since: Timestamp,
    /// The side that builds.
    pub implementer: Side<'a>,
    /// The side that reviews.
    pub reviewer: Side<'a>,
    /// Every outbox entry of this home, for the origin of prompts.
    pub ledger: &'a ledger::Ledger,
    /// Newest observation of the implementer's work tree, and when it was made. `None` inside: no git repository or unreadable.
    pub git: Option<(Timestamp, Option<GitMark>)>,
    /// Work trees beside a commit as last observed, and when.
    pub trees: &'a Trees,
    /// A first attempt may go out although the box cannot be read (`send_when_box_unknown`).
    pub box_may_be_unknown: bool,
    /// The home's folder: a message that is too long to type is named by its file below it.
    pub home: &'a str,
    /// A longer message, in bytes, is named by its file.
    pub message_file_above: u64,
    /// How fast this home's waits run: the grace, the 60 s, the quiet times of the machines are asked of it.
    pub tempo: Tempo,
}

impl<'a> Scene<'a> {
    /// One side.
    #[must_use]
    pub fn side(&self, role: Role) -> &Side<'a> {
        match role {
            Role::Implementer => &self.implementer,
            Role::Reviewer => &self.reviewer,
        }
    }
}

/// One session as a look sees it.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// The session.
    pub session: &'a SessionRef,
    /// Its transcript, folded. `None` when there is none (yet).
    pub conversation: Option<&'a Conversation>,
    /// The transcript as a file.
    pub transcript: &'a TranscriptFact,
    /// The newest observation of its transport; `None` before the first.
    pub reach: Option<&'a Reach>,
    /// A send or Enter sequence to this session runs right now (of any record): no other may begin.
    pub sending: Option<&'a EntryId>,
    /// It was put away.
    pub put_away: bool,
    /// trellis keeps a note about it (it launched it, or a person said something about it): it exists although
    /// there may be no transcript yet. Only creation asks.
    pub noted: bool,
    /// A newer session of the same folder, without proof that it replaced this one: named in the wait line only.
    pub newer_in_folder: Option<&'a SessionRef>,
}

/// The transcript as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptFact {
    /// It is there; the mark describes its end as read.
    Present(TranscriptMark),
    /// There is none, and none is provably deleted: a session that never had a message.
    NotYet,
    /// The root was read without error and the file that was known is not there.
    Deleted,
    /// It or its root cannot be read, and why.
    Unreadable(String),
}

/// What a machine wants done once its record is saved.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Observe a session afresh; a look follows.
    Probe(ProbeAsk),
    /// Observe the implementer's work tree; a look follows.
    LookAtGit {
        /// The folder.
        worktree: String,
    },
    /// See what the implementer's work tree differs in from a commit (`None`: from its head); a look follows.
    CountLines {
        /// The folder.
        worktree: String,
        /// The commit.
        base: Option<String>,
    },
    /// Run the whole send sequence of an entry; `sent` follows with the report.
    Send(Delivery),
    /// Press Enter alone on our own text; `sent` follows with the report.
    PressEnter(Delivery),
    /// Put a text on the clipboard for the person to paste.
    Clipboard {
        /// The text.
        text: Arc<str>,
    },
    /// Resume a dead agent's session. When that succeeded, the records paused `agent_gone` on it are ordered to resume.
    BringBack(SessionRef),
    /// Create this pair (it is saved as its own step; a refusal comes back as `run::pair_refused`).
    CreatePair(Box<PairRecord>),
    /// Order a pair: stop, pause, resume, or a control that reached the run and belongs to its pair.
    OrderPair(PairId, PairOrder),
    /// Create this run (run on).
    CreateRun(Box<RunRecord>),
    /// Remove a stopped record and its texts.
    Discard,
}

/// An order of a run to its pair.
#[derive(Clone, Debug, PartialEq)]
pub enum PairOrder {
    /// Stop it `manual`.
    Stop,
    /// Pause it `manual`.
    Pause,
    /// Resume it if its reason is `manual`.
    ResumeIfManual,
    /// Name the new sessions of the sides (follow).
    Follow,
    /// Pass on a control.
    Control(crate::model::command::Control),
}

/// What a transport needs to send an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The entry.
    pub entry: EntryId,
    /// To which session.
    pub session: SessionKey,
    /// What is really sent: the record holds it already, in `sent_text` where it differs from the message.
    pub text: Arc<str>,
    /// The prompt in front of the relayed answer, in bytes of `text`: Claude gets it as the person's own words. 0: none.
    pub prompt_bytes: usize,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// A first attempt may go out although the box cannot be read.
    pub allow_unknown_box: bool,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<R> {
    /// The record after the step.
    pub record: R,
    /// Whether it differs and must be saved before anything else.
    pub changed: bool,
    /// What to do after the save, in order.
    pub effects: Vec<Effect>,
    /// What to publish after that: kind and reason.
    pub events: Vec<(EventKind, Option<String>)>,
    /// Why, for the log.
    pub decisions: Vec<Decision>,
    /// Look again at this time at the latest (besides the 15 s tick).
    pub wake_at: Option<Timestamp>,
}

impl<R> Step<R> {
    /// Nothing happened.
    #[must_use]
    pub fn unchanged(record: R) -> Self {
        Self { record, changed: false, effects: Vec::new(), events: Vec::new(), decisions: Vec::new(), wake_at: None }
    }
}

/// The report of a send sequence, as the driver hands it to `sent`.
#[derive(Clone, Debug, PartialEq)]
pub struct SentReport {
    /// The entry.
    pub entry: EntryId,
    /// Whether it was Enter alone.
    pub enter_only: bool,
    /// What happened.
    pub report: SendReport,
}

/// What a record waits for, in words and with its end: the screen's third line, and `why`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Wait {
    /// Who does what (`codex reviews`, `waits for claude to be free`).
    pub who: String,
    /// What exactly (`reads src/checkout.rs`), or the missing tick; may be empty.
    pub what: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// What ends it (`ends when codex ends its turn`, `goes on at 05:00`).
    pub ends: String,
    /// The same for programs and tests: where that one thing happens.
    #[serde(default)]
    pub by: By,
    /// The latest time at which something happens by itself, if there is one.
    pub deadline: Option<Timestamp>,
    /// When a person is asked if nothing has ended it until then.
    #[serde(default)]
    pub asks_at: Option<Timestamp>,
}

/// Where the one thing happens that ends a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Nowhere: it has ended.
    #[default]
    Nothing,
    /// The next look, which comes at once.
    Itself,
    /// A side's transcript: a record that its agent writes.
    Transcript,
    /// The clock: the deadline comes.
    Timer,
    /// An agent's pane: a dialog is answered, the box emptied, a message pasted.
    Pane,
    /// An order of a person to trellis.
    Key,
}
