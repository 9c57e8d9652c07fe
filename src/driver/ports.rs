//! What the driver needs of the world: three ports. The real ones are `store`, `watch` and `agent`;
//! the simulator has its own. No implementation lives here.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::machine::{Delivery, TranscriptFact};
use crate::model::conversation::Conversation;
use crate::model::event::{Decision, Event};
use crate::model::hook::HookNote;
use crate::model::ids::{EntryId, PairId, RecordKey, RunId, SessionId, SessionKey, SessionRef};
use crate::model::launch::Start;
use crate::model::outbox::Entry;
use crate::model::pair::PairRecord;
use crate::model::reach::{ProbeAsk, Reach, SendReport};
use crate::model::run::{GitMark, RunRecord};
use crate::model::session::{Launch, SessionNote};
use crate::model::text::TextRef;
use crate::model::tree::TreeState;

/// The disk. One writer: only the driver holds this port.
pub trait Records {
    /// Everything on the disk, read once at the start.
    fn load(&mut self) -> Loaded;
    /// Writes texts that are not there yet, then the record, atomically and durably.
    ///
    /// # Errors
    /// The record on the disk is still the old one (or, for [`SaveError::Changed`], somebody else's).
    fn save_run(&mut self, record: &RunRecord) -> Result<(), SaveError>;
    /// The same for a pair.
    ///
    /// # Errors
    /// As for a run.
    fn save_pair(&mut self, record: &PairRecord) -> Result<(), SaveError>;
    /// Takes the file on the disk as the record (`record_changed`, resume).
    ///
    /// # Errors
    /// It cannot be read.
    fn adopt_run(&mut self, id: &RunId) -> Result<RunRecord, SaveError>;
    /// The same for a pair.
    ///
    /// # Errors
    /// It cannot be read.
    fn adopt_pair(&mut self, id: &PairId) -> Result<PairRecord, SaveError>;
    /// Moves a foreign file out of the way, so that the next save of this record writes ours (`record_changed`, stop).
    ///
    /// # Errors
    /// It cannot be moved.
    fn displace(&mut self, key: &RecordKey) -> Result<(), SaveError>;
    /// The text of a reference: what is in memory, else what the disk holds. Texts of records that stopped long ago
    /// are not loaded at the start. `None`: it cannot be read, or is not what the reference says.
    fn text(&mut self, key: &RecordKey, text: &TextRef) -> Option<Arc<str>> {
        let _ = key;
        (text.bytes == text.inline.len() as u64).then(|| Arc::clone(&text.inline))
    }
    /// Removes a stopped record and its texts.
    ///
    /// # Errors
    /// Something of it is still there.
    fn discard(&mut self, key: &RecordKey) -> Result<(), SaveError>;
    /// Writes what is kept about a session.
    ///
    /// # Errors
    /// The old file is still there.
    fn save_session(&mut self, key: &SessionKey, note: &SessionNote) -> Result<(), SaveError>;
    /// What the agents' hooks told and is not forgotten yet, oldest first, by name; `None` for what is no note any more.
    fn hook_notes(&mut self, _now: Timestamp) -> Vec<(String, Option<HookNote>)> {
        Vec::new()
    }
    /// Removes notes that are done with; one that stays is only read again.
    fn forget_hook_notes(&mut self, _names: &[String]) {}
    /// Removes what is kept about a session that never came to be. One that is not there is no error.
    ///
    /// # Errors
    /// It is still there.
    fn forget_session(&mut self, key: &SessionKey) -> Result<(), SaveError>;
    /// Appends to `events.jsonl`; a failure is told as a notice and does not hold the run.
    ///
    /// # Errors
    /// The event is not on the disk.
    fn append_event(&mut self, event: &Event) -> Result<(), SaveError>;
    /// Appends to the log of decisions; as [`Records::append_event`].
    ///
    /// # Errors
    /// The line is not on the disk.
    fn append_decision(&mut self, decision: &Decision) -> Result<(), SaveError>;
}

/// Why a save did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaveError {
    /// The file is not what trellis last wrote: nothing was written to it; ours is kept beside it.
    #[error("{file} was changed by another program; ours is kept as {kept_as}")]
    Changed {
        /// The file.
        file: String,
        /// Ours.
        kept_as: String,
    },
    /// The system refused.
    #[error("can't save {file}: {why}")]
    Io {
        /// The file.
        file: String,
        /// Why (`no space left`).
        why: String,
    },
}

/// What a home holds.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Runs that may be driven.
    pub runs: Vec<RunRecord>,
    /// Pairs that may be driven.
    pub pairs: Vec<PairRecord>,
    /// Records that are shown only: a newer schema, another program's, and what cannot be read.
    pub read_only: Vec<ReadOnly>,
    /// The folder of the runs could not be read: nothing is known of any run.
    pub runs_unread: bool,
    /// That of the pairs could not.
    pub pairs_unread: bool,
    /// Sessions a person said something about.
    pub sessions: BTreeMap<SessionKey, SessionNote>,
    /// The number of the last event.
    pub last_seq: u64,
    /// Outbox entries that moved out of their record (`{id}/outbox.jsonl`), oldest first: prompts of ours
    /// stay ours. Only those that were given up have their texts.
    pub older_entries: BTreeMap<RecordKey, Vec<Entry>>,
    /// Newest decisions, oldest first, at most 1,000.
    pub decisions: Vec<Decision>,
    /// What was moved to quarantine or could not be read: a sentence each.
    pub notices: Vec<String>,
}

impl Loaded {
    /// The pairs of a run, oldest first: of its attempts, those they go on from, and the one that is to be.
    #[must_use]
    pub fn pairs_of(&self, run: &RunRecord) -> Vec<&PairRecord> {
        let mut ids: Vec<PairId> = run.phases.iter().filter_map(|attempt| attempt.pair_id.clone()).collect();
        ids.extend(run.current_pair_id.clone());
        ids.extend(run.pending_pair_stop.clone());
        let mut pairs: Vec<&PairRecord> =
            self.pairs.iter().filter(|pair| ids.contains(&pair.id) || pair.id.is_of(&run.id)).collect();
        pairs.sort_by(|a, b| (a.created_at, a.id.as_str()).cmp(&(b.created_at, b.id.as_str())));
        pairs
    }
}

/// Events that were published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Those that were asked for.
    pub events: Vec<Event>,
    /// The number of the oldest that is kept; `None`: none is.
    pub oldest: Option<u64>,
    /// The number of the newest.
    pub newest: u64,
}

/// A record that is shown, never driven, rewritten or removed unasked.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOnly {
    /// Which.
    pub key: RecordKey,
    /// What keeps it from being driven.
    pub cause: Cause,
    /// The same in words (`written by a newer trellis`).
    pub why: String,
    /// What a person can do about it.
    pub remedy: String,
    /// When its file was written last, if that is known.
    pub written_at: Option<Timestamp>,
    /// Its contents, as far as they are understood.
    pub value: serde_json::Value,
}

/// What keeps a record from being driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A newer trellis wrote it.
    Newer,
    /// Another program did.
    Stranger,
    /// It, or a message of it that is still to go, cannot be read.
    Unreadable,
    /// What stands in it is no record.
    Damaged,
}

impl Cause {
    /// It would be driven if it could be read: a person is needed.
    #[must_use]
    pub const fn is_fault(self) -> bool {
        matches!(self, Self::Unreadable | Self::Damaged)
    }

    /// The word for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Newer | Self::Stranger => "read-only",
            Self::Unreadable => "unreadable",
            Self::Damaged => "damaged",
        }
    }
}

impl ReadOnly {
    /// Why, and what a person can do: one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}; {}", self.why, self.remedy)
    }

    /// Whether a session is a side of it, as far as that can be read, and it has not stopped.
    #[must_use]
    pub fn uses(&self, session: &SessionKey) -> bool {
        let is_side = |side: &str| {
            let of = |field: &str| self.value.get(side).and_then(|side| side.get(field)).and_then(|text| text.as_str());
            of("agent") == Some(session.agent.as_str()) && of("session_id") == Some(session.session_id.as_str())
        };
        let has_stopped = self.value.get("stopped_at").is_some_and(|at| !at.is_null());
        !has_stopped && (is_side("implementer") || is_side("reviewer"))
    }

    /// Whether it is the run that made a pair: what becomes of that pair stands in it.
    #[must_use]
    pub fn owns(&self, pair: &PairId) -> bool {
        matches!(self.key, RecordKey::Run(_))
            && pair.as_str().strip_prefix(self.key.as_str()).is_some_and(|rest| rest.starts_with('-'))
    }
}

/// The transcripts. Reading is synchronous: `loops.md` §3 wants them read to the end before a send.
pub trait Transcripts {
    /// Reads what was appended since the last call and folds it in.
    fn read(&mut self, session: &SessionRef, now: Timestamp) -> TranscriptRead;
    /// The same for a screen alone: of a long transcript only the end. With `whole` the rest as well: the end is told first,
    /// and what stands before is read in parts, each of which comes with a wake-up of its own. Without it what was read whole
    /// is let go. Nothing may be concluded from it but what is shown.
    fn read_to_show(&mut self, session: &SessionRef, _whole: bool, now: Timestamp) -> TranscriptRead {
        self.read(session, now)
    }
    /// Sessions found under the agents' roots, newest activity first.
    fn sessions(&mut self) -> Vec<FoundSession>;
    /// The same with what is known by now, and how many of them were not read yet: those have no title. Each call reads
    /// some more, the newest first; as long as any is left, a wake-up comes by itself.
    fn sessions_so_far(&mut self) -> (Vec<FoundSession>, usize) {
        (self.sessions(), 0)
    }
    /// Sessions whose transcript may have changed since the last call, or that are new (hints; may be empty or too many).
    fn changed(&mut self) -> Vec<SessionKey>;
    /// Whether an agent's own sign of its state may have changed since the last call (a status file, a hook's note).
    fn signs(&mut self) -> bool {
        false
    }
    /// A record proves that this session had a transcript once: if it is not there now, it was deleted. Without this,
    /// a start would take a deleted transcript for one that was never written.
    fn had_transcript(&mut self, _session: &SessionKey) {}
    /// What a person has to be told about the watching (it fell back to polling); each sentence is returned once.
    fn notices(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// What was learnt of the transcripts by reading their ends, kept from one start to the next. Nothing is lost with it.
pub trait Summaries: Send {
    /// What was kept; empty: nothing.
    fn load(&mut self) -> Vec<u8>;
    /// Keeps it, in place of what was kept before.
    fn keep(&mut self, text: &str);
}

/// A transcript as just read.
#[derive(Clone, Debug)]
pub struct TranscriptRead {
    /// The file.
    pub fact: TranscriptFact,
    /// Its contents, if it has any.
    pub conversation: Option<Arc<Conversation>>,
}

/// A session found under a root.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundSession {
    /// Who it is.
    pub session: SessionRef,
    /// Its transcript.
    pub path: Arc<str>,
    /// First line of its first prompt, as far as a probe of the file shows it.
    pub title: Option<Arc<str>>,
    /// Newest write.
    pub modified_at: Option<Timestamp>,
    /// Git branch.
    pub branch: Option<Arc<str>>,
    /// First line of what its agent said last, as far as a probe shows it.
    pub last_words: Option<Arc<str>>,
}

/// The agents. Nothing here blocks: a job is begun, its outcome comes back as [`Outcome`].
pub trait Agents {
    /// Begins a job.
    fn begin(&mut self, job: Job);
    /// What is kept about a session, at the start and whenever it is saved: how it is reached counts from the next job on.
    fn noted(&mut self, _session: &SessionKey, _note: &SessionNote) {}
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    /// Observe a session.
    Probe(ProbeAsk),
    /// The whole send sequence.
    Send(RecordKey, Delivery),
    /// Enter alone.
    PressEnter(RecordKey, Delivery),
    /// Observe a work tree.
    Git {
        /// The folder.
        worktree: String,
    },
    /// See what a work tree differs in from a commit.
    Lines {
        /// The folder.
        worktree: String,
        /// The commit; `None`: its head.
        base: Option<String>,
    },
    /// Put a text on the clipboard.
    Clipboard(Arc<str>),
    /// Resume a dead agent's session.
    BringBack(Box<Comeback>),
    /// Start a new session.
    Launch(Box<Start>),
}

/// A session to resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comeback {
    /// The session.
    pub session: SessionRef,
    /// What it was launched with or last seen running as, where that is known.
    pub launch: Option<Launch>,
    /// The order: agents of one order come back side by side.
    pub order: String,
}

/// A new session's window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// What was really started.
    pub launch: Launch,
    /// Where, for people, as it stands behind "it starts".
    pub place: String,
    /// The session that its agent named, where that is known at once.
    pub named: Option<SessionId>,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An observation.
    Probed(SessionKey, Box<Reach>),
    /// A send sequence ended.
    Sent {
        /// Of which record.
        record: RecordKey,
        /// Which entry.
        entry: EntryId,
        /// The session.
        session: SessionKey,
        /// Whether it was Enter alone.
        enter_only: bool,
        /// What happened.
        report: SendReport,
    },
    /// A work tree as observed.
    Git {
        /// The folder.
        worktree: String,
        /// Its mark; `None`: no repository, or unreadable.
        mark: Option<GitMark>,
    },
    /// A process that carried a message to this session has ended.
    Left(SessionKey),
    /// What a work tree differs in from a commit.
    Lines {
        /// The folder.
        worktree: String,
        /// The commit that was asked for.
        base: Option<String>,
        /// `None`: no repository, or unreadable.
        state: Option<TreeState>,
    },
    /// Bringing back ended: a sentence, or why not.
    BroughtBack(SessionKey, Result<String, String>),
    /// A new session's program was started, or why not. Whether it comes up is seen by observing it.
    Launched(SessionKey, Result<Launched, String>),
    /// What a session's process was started with: told once a process.
    RunsAs(SessionKey, Launch),
    /// The clipboard: how it was put there, or why not.
    Copied(Result<String, String>),
}
