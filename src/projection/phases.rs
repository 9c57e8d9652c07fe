//! The phases of a run as a person counts them, and how each ended: one counting for every page, table and sentence.
//! A phase that goes on where its cap was reached, or is decided by a person after it, is the same row; one that is
//! reviewed again from 0 has a row of its own. Nothing is drawn here. Pure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::words;
use crate::model::ids::PairId;
use crate::model::pair::PairRecord;
use crate::model::run::{Attempt, AttemptStatus, RunRecord};

/// How a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseHow {
    /// The reviewer agreed.
    Agreed,
    /// A person accepted it.
    Accepted,
    /// A person left it out.
    Skipped,
    /// The cap was reached, and nobody has decided.
    NotAgreed,
}

impl PhaseHow {
    /// Every way, in the order in which they are told.
    pub const ALL: [Self; 4] = [Self::Agreed, Self::Accepted, Self::Skipped, Self::NotAgreed];

    /// How an attempt ended; `None`: it goes on, was stopped or failed, which no count tells.
    #[must_use]
    pub const fn of(status: AttemptStatus, by_user: bool) -> Option<Self> {
        match status {
            AttemptStatus::Converged if by_user => Some(Self::Accepted),
            AttemptStatus::Converged => Some(Self::Agreed),
            AttemptStatus::Skipped => Some(Self::Skipped),
            AttemptStatus::NotConverged => Some(Self::NotAgreed),
            AttemptStatus::Running | AttemptStatus::Stopped | AttemptStatus::Error => None,
        }
    }

    /// In a word or two. `reviewed`: the reviewer saw the newest answer; what went through without that says so.
    #[must_use]
    pub const fn word(self, reviewed: bool) -> &'static str {
        match (self, reviewed) {
            (Self::Agreed, true) => "agreed",
            (Self::Agreed, false) => "agreed, not reviewed",
            (Self::Accepted, true) => "accepted by you",
            (Self::Accepted, false) => "accepted by you, not reviewed",
            (Self::Skipped, _) => "skipped by you",
            (Self::NotAgreed, _) => "not agreed",
        }
    }
}

/// `2 phases agreed · 1 accepted by you, not reviewed`; `None`: no phase ended.
#[must_use]
pub fn tally(ended: impl Iterator<Item = (PhaseHow, bool)>) -> Option<String> {
    let ended: Vec<&str> = ended.map(|(how, reviewed)| how.word(reviewed)).collect();
    let words = PhaseHow::ALL.into_iter().flat_map(|how| {
        let (seen, unseen) = (how.word(true), how.word(false));
        if seen == unseen { vec![seen] } else { vec![seen, unseen] }
    });
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        let n = ended.iter().filter(|ended| **ended == word).count();
        match n {
            0 => {}
            1 if parts.is_empty() => parts.push(format!("1 phase {word}")),
            _ if parts.is_empty() => parts.push(format!("{n} phases {word}")),
            _ => parts.push(format!("{n} {word}")),
        }
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// A phase from where its relays count from 1, to how it stands.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// The attempt it began with.
    pub first: &'a Attempt,
    /// The newest that belongs to it: how it stands.
    pub last: &'a Attempt,
    /// Its relays, each once.
    pub relays: u32,
}

impl Tried<'_> {
    /// A person accepted it, or left it out.
    #[must_use]
    pub fn by_user(&self) -> bool {
        self.last.by.as_deref() == Some("user")
    }

    /// How it ended; `None`: it goes on, was stopped or failed.
    #[must_use]
    pub fn how(&self) -> Option<PhaseHow> {
        PhaseHow::of(self.last.status, self.by_user())
    }

    /// First line of its answer, without marks of Markdown; empty: it was left out before one.
    #[must_use]
    pub fn summary(&self) -> String {
        let named = [self.first, self.last].into_iter().find(|attempt| !attempt.summary.is_empty());
        named.map(|attempt| words::as_name(&attempt.summary)).unwrap_or_default()
    }

    /// Since when a person counts it.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        self.first.since()
    }
}

/// The phases of a run, oldest first; `pairs`: its own, as far as they are known.
#[must_use]
pub fn tried<'a>(run: &'a RunRecord, pairs: &[&PairRecord]) -> Vec<Tried<'a>> {
    let mut list: Vec<Tried<'a>> = Vec::new();
    for attempt in &run.phases {
        let pair = pairs.iter().find(|pair| Some(&pair.id) == attempt.pair_id.as_ref());
        let relays = pair.map_or(attempt.relays, |pair| pair.round_count);
        match list.last_mut().filter(|before| goes_on(run, pairs, before.last, attempt)) {
            // A pair that goes on counts over the pairs before it.
            Some(before) => *before = Tried { last: attempt, relays: relays.max(before.relays), ..*before },
            None => list.push(Tried { first: attempt, last: attempt, relays }),
        }
    }
    list
}

/// Whether an attempt is the one before it, gone on with or decided.
fn goes_on(run: &RunRecord, pairs: &[&PairRecord], before: &Attempt, attempt: &Attempt) -> bool {
    let continues = |id: &PairId| {
        let pair = pairs.iter().find(|pair| pair.id == *id).and_then(|pair| pair.continues.as_ref());
        let pending = run.pending.as_ref().filter(|pending| pending.create == *id);
        pair.or_else(|| pending.and_then(|pending| pending.continues.as_ref())).cloned()
    };
    before.n == attempt.n
        && match &attempt.pair_id {
            None => true,
            Some(id) => {
                before.pair_id.as_ref() == Some(id) || before.pair_id.is_some() && continues(id) == before.pair_id
            }
        }
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
