//! One agent of the small world: its conversation and what its transport would see.

use std::collections::VecDeque;

use jiff::Timestamp;
use trellis::machine::{Delivery, TranscriptFact};
use trellis::model::conversation::{Conversation, RecordPos};
use trellis::model::ids::{Agent, EntryId, RecordId, SessionId, SessionRef};
use trellis::model::outbox::TranscriptMark;
use trellis::model::reach::{InputBox, LiveStatus, OnItsWay, ProcessFact, Reach, SendReport, Ticks, Transport};

use super::world::at;

/// One agent: its conversation, and what its transport would see.
pub struct Agency {
    pub session: SessionRef,
    pub conversation: Conversation,
    pub fact: Option<TranscriptFact>,
    pub input: InputBox,
    pub on_its_way: OnItsWay,
    pub status: LiveStatus,
    pub process: ProcessFact,
    pub transport: Option<Transport>,
    pub ticks: Ticks,
    pub replaced_by: Option<(SessionId, String)>,
    pub last_words: String,
    pub put_away: bool,
    /// What was sent to it, oldest first.
    pub inbox: Vec<Delivery>,
    /// Enter pressed alone.
    pub enters: usize,
    /// What the next send sequences report; none left: all goes well.
    pub reports: VecDeque<SendReport>,
    pub reach: Option<Reach>,
    pub sending: Option<EntryId>,
    records: u64,
    letter: char,
}

impl Agency {
    pub fn new(agent: Agent, letter: char) -> Self {
        Self {
            session: SessionRef {
                agent,
                worktree: "/w".to_owned(),
                session_id: SessionId::new(format!("{letter}-session")),
            },
            conversation: Conversation::new(agent),
            fact: None,
            input: InputBox::Empty,
            on_its_way: OnItsWay::No,
            status: LiveStatus::Silent,
            process: ProcessFact::Alive { pid: 7, started_at: Some(at(-10_000)) },
            transport: Some(Transport::Tmux),
            ticks: Ticks::all_hold(),
            replaced_by: None,
            last_words: String::new(),
            put_away: false,
            inbox: Vec::new(),
            enters: 0,
            reports: VecDeque::new(),
            reach: None,
            sending: None,
            records: 0,
            letter,
        }
    }

    pub fn record(&mut self, now: Timestamp) -> RecordPos {
        self.records += 1;
        let pos = RecordPos {
            id: RecordId::new(format!("{}-{}", self.letter, self.records)),
            offset: self.records * 100,
            at: Some(now),
        };
        self.conversation.positions.insert(&pos.id, pos.offset);
        self.conversation.last_record = Some(pos.clone());
        self.conversation.last_spoken_at = Some(now);
        self.conversation.length = pos.offset + 100;
        pos
    }

    pub fn fact(&self) -> TranscriptFact {
        if let Some(fact) = &self.fact {
            return fact.clone();
        }
        match &self.conversation.last_record {
            None => TranscriptFact::NotYet,
            Some(last) => TranscriptFact::Present(TranscriptMark {
                path: format!("/t/{}.jsonl", self.letter),
                file_identity: "1:1".to_owned(),
                length: self.conversation.length,
                last_record_id: Some(last.id.clone()),
            }),
        }
    }

    pub fn observe(&mut self, now: Timestamp) {
        self.reach = Some(Reach {
            at: now,
            transport: self.transport,
            process: self.process.clone(),
            status: self.status.clone(),
            ticks: self.ticks.clone(),
            input: self.input,
            on_its_way: self.on_its_way.clone(),
            replaced_by: self.replaced_by.clone(),
            sign: None,
            seen: None,
            place: "%1".to_owned(),
            last_words: self.last_words.clone(),
        });
    }
}
