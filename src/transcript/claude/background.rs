//! Which background agents were started and have not reported. A background shell does not count.

use std::collections::BTreeSet;

/// The agents in the background.
#[derive(Debug, Default)]
pub(super) struct Background {
    agents: BTreeSet<String>,
    /// Those of `agents` that the turn in progress started.
    fresh: BTreeSet<String>,
    /// Agents that the end of a turn counted and no record named.
    unnamed: usize,
    shells: BTreeSet<String>,
}

impl Background {
    pub(super) fn count(&self) -> usize {
        self.agents.len() + self.unnamed
    }

    pub(super) fn launched(&mut self, agent: &str) {
        self.agents.insert(agent.to_owned());
        self.fresh.insert(agent.to_owned());
    }

    pub(super) fn shell(&mut self, task: &str) {
        self.shells.insert(task.to_owned());
    }

    /// A task reported, or was stopped.
    pub(super) fn finished(&mut self, task: &str) {
        self.fresh.remove(task);
        if !self.agents.remove(task) && !self.shells.contains(task) {
            self.unnamed = self.unnamed.saturating_sub(1);
        }
    }

    /// A turn ended, and its record counts the agents that are left. Without a count there are none, but one
    /// that this turn started is believed until it reports or another turn has ended.
    pub(super) fn turn_ended(&mut self, pending: Option<i64>) {
        let pending = pending.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        let fresh = std::mem::take(&mut self.fresh);
        if pending < self.agents.len() {
            self.agents = fresh;
        }
        self.unnamed = pending.saturating_sub(self.agents.len());
    }

    pub(super) fn clear(&mut self) {
        self.agents.clear();
        self.fresh.clear();
        self.unnamed = 0;
    }
}
