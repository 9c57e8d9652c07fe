//! The outbox: every message trellis sends, as an entry of the record it belongs to (`loops.md` §3).
//! When an entry may move is `machine::delivery`'s business.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{EntryId, MessageId, RecordId, Role, TurnId};
use super::reach::{InFlight, ProcessMark};
use super::text::TextRef;

/// One message on its way, or that was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Derives from the record's id and the count of its entries.
    pub id: EntryId,
    /// What it is for.
    pub purpose: Purpose,
    /// Which side gets it.
    pub target: Role,
    /// The whole text.
    pub text: TextRef,
    /// What is really sent where that differs from the text: one line that names its file, or a line in front of it.
    /// Saved before the send, so that a kill in between leaves no message that nobody knows again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_text: Option<String>,
    /// The turn whose answer it carries.
    pub source_turn_id: Option<TurnId>,
    /// The message it carries.
    pub source_message_id: Option<MessageId>,
    /// The entry whose message this one sends again or goes on from.
    pub resend_of: Option<EntryId>,
    /// Where the target's transcript ended before the first attempt.
    pub transcript_mark: Option<TranscriptMark>,
    /// When it was prepared.
    pub prepared_at: Timestamp,
    /// Send sequences begun. More than zero and not ended is "in flight".
    pub attempts: u32,
    /// When the last sequence began.
    pub attempt_at: Option<Timestamp>,
    /// When our last key or queue command ended.
    pub last_key_at: Option<Timestamp>,
    /// Enter was pressed on it in a pane, where it was seen to stand.
    #[serde(default, skip_serializing_if = "is_false")]
    pub entered: bool,
    /// Enter pressed alone, since the times last began anew.
    pub enters: u32,
    /// The agent queue's id of it.
    pub queue_id: Option<String>,
    /// The process that was started to carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<ProcessMark>,
    /// The person pastes it; trellis never types it again.
    #[serde(default)]
    pub by_hand: bool,
    /// Where it is.
    pub state: EntryState,
    /// The turn that took it up.
    pub delivered_turn_id: Option<TurnId>,
    /// When that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// It arrived inside a longer text.
    #[serde(default)]
    pub altered: bool,
    /// Second copies that were seen: their turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<TurnId>,
    /// A person wrote it and let the loop go on (`write` with "and go on").
    #[serde(default)]
    pub go_on: bool,
    /// A person changed it before it went out (look first).
    #[serde(default)]
    pub edited: bool,
    /// Its text before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<TextRef>,
    /// A person does not want to wait for background agents or a long quiet time of the target.
    #[serde(default)]
    pub forced: bool,
    /// Since when every condition for sending again has held without a break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_since: Option<Timestamp>,
    /// Since when the 60 s of an undelivered entry run (begun anew by a resume or a look).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_from: Option<Timestamp>,
    /// When a process was last noted to carry it: in that time the 60 s do not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_at: Option<Timestamp>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Entry {
    /// Not yet delivered, withdrawn or abandoned.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// Whether something of it may be on its way: nothing else decides it.
    #[must_use]
    pub fn in_flight(&self) -> bool {
        self.attempts > 0 && self.is_open()
    }

    /// What a transport needs to look for it.
    #[must_use]
    pub fn on_its_way(&self) -> InFlight {
        InFlight {
            entry: Some(self.id.clone()),
            text: self.text_on_the_wire().into(),
            queue_id: self.queue_id.clone(),
            carrier: self.carrier.clone(),
        }
    }

    /// What the target's transcript must show.
    #[must_use]
    pub fn text_on_the_wire(&self) -> &str {
        self.sent_text.as_deref().unwrap_or_else(|| self.text.text())
    }
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Asks for the next phase.
    Advance,
    /// Relays an answer to the reviewer.
    ToReviewer,
    /// Relays an answer to the implementer.
    ToImplementer,
    /// Asks the reviewer whether a near miss was an approval.
    Clarify,
    /// Lets a stopped turn go on.
    Continue,
    /// A person wrote it from trellis.
    User,
}

impl Purpose {
    /// Whether a delivery of it counts as a relay.
    #[must_use]
    pub const fn is_relay(self) -> bool {
        matches!(self, Self::ToReviewer | Self::ToImplementer)
    }
}

/// Where an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    /// Saved, waiting to go out (or, with `attempts`, perhaps typed).
    Prepared,
    /// Typed and entered; not yet seen.
    Sent,
    /// In the agent's own queue.
    Queued,
    /// Seen in the target's transcript.
    Delivered,
    /// Taken back before anything of it was typed.
    Withdrawn,
    /// Given up; a late copy of it is still ours.
    Abandoned,
}

impl EntryState {
    /// Not yet delivered, withdrawn or abandoned.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Prepared | Self::Sent | Self::Queued)
    }
}

/// Where a transcript ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptMark {
    /// The file.
    pub path: String,
    /// Device and inode, as text; changes when the file is replaced.
    pub file_identity: String,
    /// Bytes of complete lines.
    pub length: u64,
    /// The last record in it.
    pub last_record_id: Option<RecordId>,
}
