//! What the projection is made of: records with their sessions, as the driver holds them. Borrowed, never changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::sessions::Listed;
use super::{DriverFact, Notice, Thread};
use crate::driver::ports::ReadOnly;
use crate::machine::Wait;
use crate::machine::ledger::Ledger;
use crate::machine::plan::Plan;
use crate::model::conversation::Conversation;
use crate::model::event::Decision;
use crate::model::hook::Asked;
use crate::model::ids::{RecordKey, Role, SessionKey};
use crate::model::outbox::TranscriptMark;
use crate::model::pair::PairRecord;
use crate::model::reach::Reach;
use crate::model::run::RunRecord;
use crate::model::session::{SessionNote, SessionState, StateFact};

/// Everything [`super::build::projection`] looks at.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The wall clock.
    pub now: Timestamp,
    /// The person's time zone: "back 05:00" is local.
    pub zone: &'a TimeZone,
    /// Number of this publication.
    pub seq: u64,
    /// Who drives.
    pub driver: DriverFact,
    /// The home's folder.
    pub home: &'a str,
    /// Agents are started in windows of tmux; those of a demo are not.
    pub opens_windows: bool,
    /// Things said once.
    pub notices: &'a [Notice],
    /// Sessions found under the agents' roots, newest first.
    pub found: &'a [Listed],
    /// Records of other programs, and what cannot be read.
    pub read_only: &'a [ReadOnly],
    /// Decisions.
    pub log: Vec<Arc<Decision>>,
    /// The conversation that is shown.
    pub shown: Option<Arc<Thread>>,
}

/// What is known of sessions, by their keys. As long as a session's facts are the same share, nothing of it changed.
pub trait KnownSessions {
    /// Of one.
    fn of(&self, session: &SessionKey) -> Option<&Arc<SessionFacts>>;
    /// Of each.
    fn all<'a>(&'a self) -> Box<dyn Iterator<Item = (&'a SessionKey, &'a Arc<SessionFacts>)> + 'a>;
}

impl KnownSessions for BTreeMap<SessionKey, Arc<SessionFacts>> {
    fn of(&self, session: &SessionKey) -> Option<&Arc<SessionFacts>> {
        self.get(session)
    }

    fn all<'a>(&'a self) -> Box<dyn Iterator<Item = (&'a SessionKey, &'a Arc<SessionFacts>)> + 'a> {
        Box::new(self.iter())
    }
}

/// One session as the driver knows it.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// What a person said about it.
    pub note: SessionNote,
    /// Its transcript, if it was read.
    pub conversation: Option<Arc<Conversation>>,
    /// Where its transcript ended then.
    pub mark: Option<TranscriptMark>,
    /// The newest observation.
    pub reach: Option<Reach>,
    /// Its state, once it was told.
    pub state: Option<SessionState>,
    /// What that rests on.
    pub fact: StateFact,
    /// The permission that it asks for, if a hook told of it.
    pub asked: Option<Asked>,
    /// A send sequence runs.
    pub sending: bool,
    /// Since when its pre-flight has missed something at every observation.
    pub hindered_since: Option<Timestamp>,
    /// When its process was first seen to be gone; `None`: it lives, or was gone at the first look.
    pub gone_since: Option<Timestamp>,
}

/// A run with its pair, or a pair alone.
#[derive(Clone, Debug)]
pub struct RecordFacts<'a> {
    /// The run, if it is one.
    pub run: Option<&'a RunRecord>,
    /// The current pair of the run, or the pair.
    pub pair: Option<&'a PairRecord>,
    /// Every pair of the run that is still known, oldest first (the current one too).
    pub pairs: Vec<&'a PairRecord>,
    /// What it waits for.
    pub wait: Wait,
    /// Controls that are impossible now, with the reason.
    pub impossible: Vec<(String, String)>,
    /// What going on would do, as long as it is paused.
    pub plan: Option<Plan>,
    /// The sides whose sessions "bring back" would resume.
    pub brings_back: Vec<Role>,
    /// Why it could not be saved, if so.
    pub unsaved: Option<&'a str>,
    /// The sides.
    pub implementer: Option<&'a SessionFacts>,
    /// The sides.
    pub reviewer: Option<&'a SessionFacts>,
    /// Whose prompt is whose.
    pub ledger: &'a Ledger,
}

impl<'a> RecordFacts<'a> {
    /// Which record a person's controls go to.
    #[must_use]
    pub fn key(&self) -> Option<RecordKey> {
        match (self.run, self.pair) {
            (Some(run), _) => Some(RecordKey::Run(run.id.clone())),
            (None, Some(pair)) => Some(RecordKey::Pair(pair.id.clone())),
            (None, None) => None,
        }
    }

    /// What is known of a side.
    #[must_use]
    pub fn side(&self, role: Role) -> Option<&'a SessionFacts> {
        match role {
            Role::Implementer => self.implementer,
            Role::Reviewer => self.reviewer,
        }
    }

    /// The transcript of a side.
    #[must_use]
    pub fn conversation(&self, role: Role) -> Option<&'a Conversation> {
        self.side(role).and_then(|side| side.conversation.as_deref())
    }
}
