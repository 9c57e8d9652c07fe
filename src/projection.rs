//! What a viewer draws, derived from the records and the sessions: facts and sentences, no styles, no widths, no keys' positions.
//! Pure; serialisable, so that a viewer in another process draws the same.

pub mod banner;
pub mod build;
pub mod counts;
mod driver;
pub mod facts;
pub mod foreign;
pub mod phases;
pub mod record;
pub mod reviews;
pub mod sessions;
mod shown;
pub mod summary;
pub mod thread;
pub mod words;

#[cfg(test)]
mod samples;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::machine::Wait;
use crate::model::config::{PairConfig, RunConfig};
use crate::model::conversation::Item;
use crate::model::event::Decision;
use crate::model::growing::Growing;
use crate::model::ids::{Agent, MessageId, RecordKey, Role, SessionKey, SessionRef};
use crate::model::outbox::{EntryState, Purpose};
use crate::model::pair::PauseReason;
use crate::model::reach::{Ticks, Transport};
use crate::model::run::AttemptStatus;
use crate::model::session::{Launch, SessionState, StateFact};

pub use driver::{DriverFact, wakes};
pub use shown::Shown;

/// Everything a viewer draws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// Rises with each publication.
    pub seq: u64,
    /// The wall clock when it was made.
    pub at: Option<Timestamp>,
    /// Some session is being looked at for the first time: what is said of it may change in a moment.
    #[serde(default)]
    pub looking: bool,
    /// Sessions whose transcripts were not read yet: they have no title.
    #[serde(default)]
    pub unread: usize,
    /// Who drives this home.
    pub driver: DriverFact,
    /// Another process drives and tells what it shows: what is ordered here is done there.
    #[serde(default)]
    pub takes_orders: bool,
    /// The home's folder, for people.
    pub home: String,
    /// Things said once: disk errors, quarantined files, a watcher's fall-back. Newest last.
    pub notices: Vec<Notice>,
    /// Runs, and pairs without a run, in no particular order.
    pub runs: Growing<RunView>,
    /// Sessions, newest activity first.
    pub sessions: Growing<SessionView>,
    /// Sessions that were started here, oldest first.
    #[serde(default)]
    pub launches: Vec<LaunchView>,
    /// Decisions, oldest first, at most the last 1,000.
    pub log: Vec<Arc<Decision>>,
    /// The conversation of the record that a viewer asked to be shown.
    pub shown: Option<Arc<Thread>>,
}

/// Something said once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// When.
    pub at: Timestamp,
    /// The sentence.
    pub text: String,
    /// Whether something does not work because of it.
    pub is_error: bool,
}

/// How a run stands: its glyph and place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A person is needed.
    NeedsYou,
    /// It goes.
    Going,
    /// It waits for a side that nobody has prompted yet.
    Waits,
    /// At a limit with a known end.
    Limit,
    /// Paused by a person.
    Paused,
    /// Completed.
    Done,
    /// Stopped otherwise.
    Ended,
    /// Stopped by an error.
    Failed,
}

/// One run, or one pair without a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunView {
    /// The record.
    pub key: RecordKey,
    /// Goes with every control, so that one that was meant for something else is refused. For a run it is made of its
    /// own revision and its pair's; nothing else may be read from it.
    pub revision: u64,
    /// Its name, or the work tree's folder name, or its id; of several with one name the later ones have a number.
    pub name: String,
    /// Its name as a person gave it; empty: none was given.
    #[serde(default)]
    pub given_name: String,
    /// How it stands.
    pub standing: Standing,
    /// `going`, `needs you`, `paused`, `limit`, `done`, `stopped`, `read-only`, `unreadable`, `damaged`: the state word.
    pub state_word: String,
    /// Since when it stands so.
    pub since: Timestamp,
    /// One sentence for the list (`codex reviews · relay 5 of 10`).
    pub sentence: String,
    /// Who does what, what exactly, until when.
    pub wait: Wait,
    /// Which of ask, build, review it is at; `None` when ended.
    pub stage: Option<Stage>,
    /// The phase now (from 1); `None` for a pair.
    pub phase: Option<u32>,
    /// That phase was asked for and may not exist: no answer and no work shows it yet.
    #[serde(default)]
    pub phase_asked: bool,
    /// Number of phases, if a person gave one (for display).
    pub phases_expected: Option<u32>,
    /// Relays delivered in the current attempt.
    pub relays: u32,
    /// Its cap.
    pub max_relays: u32,
    /// Phases, oldest first, each once unless it was reviewed again (empty for a pair).
    pub phases: Vec<PhaseView>,
    /// Relays of the current attempt, oldest first.
    pub relay_list: Vec<RelayView>,
    /// One row per review of the current attempt.
    pub reviews: Vec<ReviewView>,
    /// Points of the newest review that were named before.
    #[serde(default)]
    pub open_points: Vec<OpenPoint>,
    /// The sides.
    pub implementer: SideView,
    /// The sides.
    pub reviewer: SideView,
    /// What needs a person, if anything.
    pub banner: Option<Banner>,
    /// A relay that waits for a look.
    pub look_first: Option<LookFirst>,
    /// The message on its way or held, if any.
    pub delivery: Option<DeliveryView>,
    /// Controls that are impossible now, by name, with the reason. Every other control is possible.
    pub impossible: Vec<(String, String)>,
    /// It waits for the first answer and nothing was sent: the first-wait screen.
    pub first_wait: bool,
    /// What would be accepted now was not reviewed to its end.
    #[serde(default)]
    pub unreviewed: bool,
    /// It is shown and never driven: another program's, or not to be read. Why, and what a person can do.
    pub read_only: Option<String>,
    /// Its settings, for the options form.
    pub settings: Settings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stopped.
    pub stopped_at: Option<Timestamp>,
    /// Why it stopped, in words.
    pub stop_words: String,
}

/// Settings of either kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settings {
    /// Of a run.
    Run(Box<RunConfig>),
    /// Of a pair.
    Pair(Box<PairConfig>),
}

/// `ask ─ build ─ review`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The phase is asked for, or waited for.
    Ask,
    /// The implementer works.
    Build,
    /// The reviewer works.
    Review,
}

/// One phase, from where its relays count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseView {
    /// The phase, from 1.
    pub n: u32,
    /// How it stands.
    pub status: AttemptStatus,
    /// Agreed by a person.
    pub by_user: bool,
    /// The newest answer was reviewed.
    pub reviewed: bool,
    /// First line of its answer.
    pub summary: String,
    /// Its relays, each once.
    pub relays: u32,
    /// Since when it is built: its prompt was seen, or the phase before had ended. Of a later attempt, when that began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// It needs a person.
    pub needs_you: bool,
}

impl PhaseView {
    /// How it ended; `None`: it goes on, was stopped or failed.
    #[must_use]
    pub const fn how(&self) -> Option<phases::PhaseHow> {
        phases::PhaseHow::of(self.status, self.by_user)
    }
}

/// One relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayView {
    /// From 1.
    pub n: u32,
    /// The side that got it.
    pub to: Role,
    /// When the last key was pressed.
    pub sent_at: Option<Timestamp>,
    /// When it was seen in the transcript.
    pub seen_at: Option<Timestamp>,
    /// Where it is.
    pub state: EntryState,
    /// First line of what it carries.
    pub first_line: String,
    /// A person edited it.
    pub edited: bool,
    /// Points of the reviewer's answer it carries.
    pub points: Option<u32>,
    /// Of those, repeated ones.
    pub repeated: Option<u32>,
}

/// One review: a row of the plateau table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewView {
    /// From 1.
    pub n: u32,
    /// Points named.
    pub points: u32,
    /// Of those, repeated ones.
    pub repeated: u32,
    /// Lines that came in since the review before; `None`: nobody says.
    pub lines: Option<u32>,
    /// Files that changed since then.
    #[serde(default)]
    pub files: Option<u32>,
    /// git says so; else the tools of the reviewed turn.
    #[serde(default)]
    pub by_git: bool,
}

/// A point of the newest review that was named before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPoint {
    /// Its first line.
    pub words: String,
    /// The review that named it first, from 1.
    pub since: u32,
}

/// One side of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideView {
    /// The session.
    pub session: SessionRef,
    /// `claude`, or `claude·1` when both sides are of one kind.
    pub label: String,
    /// Its state.
    pub state: SessionState,
    /// Where it is (`%1`, `pid 4242`, `scripted`).
    pub place: String,
    /// The way to it.
    pub transport: Option<Transport>,
}

/// What needs a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Banner {
    /// Why; `None` for an agent's open dialog.
    pub reason: Option<PauseReason>,
    /// Headline (`no agreement after 10 relays`).
    pub headline: String,
    /// Facts, a sentence each.
    pub lines: Vec<String>,
    /// What can be done, best first.
    pub offers: Vec<Offer>,
}

/// One thing that can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The key of the default keymap.
    pub key: String,
    /// A word (`go on`, `accept`).
    pub word: String,
    /// What it will do, with its object (`sends claude's answer of 14:20 to codex (relay 5)`).
    pub what: String,
    /// The side whose pane it leads to, if it leads to one.
    #[serde(default)]
    pub pane_of: Option<Role>,
}

/// A relay that waits for a look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookFirst {
    /// Which relay it would be.
    pub n: u32,
    /// Turn and message it carries: tells one waiting relay from the next.
    #[serde(default)]
    pub source: String,
    /// The side it goes to.
    pub to: Role,
    /// The text as it would be sent.
    pub text: Arc<str>,
    /// The pre-flight of the target now.
    pub ticks: Option<Ticks>,
    /// Since when.
    pub since: Timestamp,
}

/// The message on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeliveryView {
    /// What it is for.
    pub purpose: Purpose,
    /// The side it goes to.
    pub to: Role,
    /// Where it is.
    pub state: EntryState,
    /// Why it is held, or what is waited for.
    pub held: Option<String>,
    /// The whole text (copy).
    pub text: Arc<str>,
    /// The pre-flight of the target now.
    pub ticks: Option<Ticks>,
    /// The person pastes it.
    pub by_hand: bool,
}

/// One session in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    /// The session.
    pub session: SessionRef,
    /// Its name in trellis, or its title.
    pub title: Arc<str>,
    /// Its state.
    pub state: SessionState,
    /// Since when, why, and on which evidence.
    pub fact: StateFact,
    /// Newest activity.
    pub active_at: Option<Timestamp>,
    /// The way to it, when there is one.
    pub transport: Option<Transport>,
    /// Where it is.
    pub place: String,
    /// Alive.
    pub live: bool,
    /// The active run or pair it takes part in.
    pub used_by: Option<RecordKey>,
    /// Put away.
    pub put_away: bool,
    /// Git branch.
    pub branch: Option<Arc<str>>,
    /// First line of what its agent said last, when it was read for the list.
    #[serde(default)]
    pub last_words: Arc<str>,
    /// Transcript path.
    pub path: Arc<str>,
    /// Kind of agent, again, for sorting.
    pub agent: Agent,
    /// What it was launched with, or last seen running as in a run.
    #[serde(default)]
    pub launch: Option<Launch>,
}

/// A session that was started here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchView {
    /// The id it was started under: its own, or one of ours until its agent names it.
    pub asked: SessionKey,
    /// Its own id, as far as it has one.
    pub session: SessionKey,
    /// Where it was started.
    pub place: String,
    /// How far it came.
    pub stage: LaunchStage,
    /// The same in a sentence.
    pub words: String,
}

/// How far a start came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchStage {
    /// Its program runs and says nothing yet.
    Starting,
    /// It asks something that only a person answers.
    Waits,
    /// It is up, and its session has no name before its first message.
    Unnamed,
    /// It is up.
    Up,
    /// It never came up.
    Ended,
}

impl LaunchStage {
    /// Nothing more is to be seen of the start.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Up | Self::Ended)
    }
}

/// A conversation to be shown: both sides of a run in time order, or one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Of which record.
    pub record: Option<RecordKey>,
    /// Or of which session.
    pub session: Option<SessionKey>,
    /// Its entries in time order.
    pub entries: Growing<ThreadEntry>,
    /// Answers of a reviewer that repeat points of earlier ones.
    #[serde(default)]
    pub repeated: Vec<Repeated>,
    /// What was said before the first entry was not read.
    #[serde(default)]
    pub begins_inside: bool,
}

/// An answer that repeats points of earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The answer's message.
    pub message_id: MessageId,
    /// The lines of its text, from 0, at which they begin.
    pub lines: Vec<u32>,
}

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadEntry {
    /// When.
    pub at: Option<Timestamp>,
    /// What.
    pub kind: ThreadKind,
}

/// Kinds of entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadKind {
    /// An agent's message or tool call.
    Said {
        /// Which side (of a session alone: implementer).
        role: Role,
        /// Its label.
        label: String,
        /// The thing.
        item: Item,
    },
    /// A prompt that a person typed.
    Human {
        /// Into which side.
        role: Role,
        /// Its label.
        label: String,
        /// The words.
        text: Arc<str>,
    },
    /// A prompt that trellis carried, in the thread of one session, where the answer it came from is not.
    Carried {
        /// Into which side.
        role: Role,
        /// Its label.
        label: String,
        /// The words, with what trellis put in front.
        text: Arc<str>,
    },
    /// A message of trellis: one line under the answer it carries.
    Relay {
        /// Which relay; `None` for advance, clarify, continue, user.
        n: Option<u32>,
        /// What for.
        purpose: Purpose,
        /// What it is, in words: `relay 3 to codex`, `asked claude for the next phase`.
        what: String,
        /// To which side.
        to: Role,
        /// Its label.
        label: String,
        /// When the last key was pressed.
        sent_at: Option<Timestamp>,
        /// When it was seen.
        seen_at: Option<Timestamp>,
        /// Where it is.
        state: EntryState,
        /// A person edited it.
        edited: bool,
        /// The text, shown only when edited or unfolded.
        text: Arc<str>,
        /// What it was before a person edited it, if that is kept.
        #[serde(default)]
        original: Option<Arc<str>>,
    },
    /// A new phase begins here.
    Phase {
        /// Which.
        n: u32,
        /// First line of its answer.
        summary: String,
    },
    /// A phase is reviewed again from here: its relays count from 1.
    Again {
        /// Which.
        n: u32,
    },
    /// A turn ended otherwise than `completed`.
    Ended {
        /// Which side.
        role: Role,
        /// Its label.
        label: String,
        /// In words.
        words: String,
    },
}
