//! The log of decisions as the driver keeps it: the newest, each remark once. Writing it to the disk is the store's.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::model::event::Decision;

/// How many are kept in memory.
pub const KEPT: usize = 1_000;

/// The newest decisions.
#[derive(Clone, Debug, Default)]
pub struct Why {
    lines: VecDeque<Arc<Decision>>,
    last: BTreeMap<Option<String>, Arc<Decision>>,
}

impl Why {
    /// Those of earlier sessions, oldest first.
    #[must_use]
    pub fn of(decisions: Vec<Decision>) -> Self {
        let mut why = Self::default();
        for decision in decisions {
            why.push(Arc::new(decision));
        }
        why
    }

    /// Takes one in. A remark that says again what was said last of the same record is left out: `None`.
    pub fn tell(&mut self, decision: Decision) -> Option<Arc<Decision>> {
        let repeated = self
            .last
            .get(&decision.record)
            .is_some_and(|last| !decision.decided && last.what == decision.what && last.evidence == decision.evidence);
        if repeated {
            return None;
        }
        let decision = Arc::new(decision);
        self.push(decision.clone());
        Some(decision)
    }

    /// Oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<Arc<Decision>> {
        self.lines.iter().cloned().collect()
    }

    fn push(&mut self, decision: Arc<Decision>) {
        self.last.insert(decision.record.clone(), decision.clone());
        self.lines.push_back(decision);
        while self.lines.len() > KEPT {
            self.lines.pop_front();
        }
    }
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;
