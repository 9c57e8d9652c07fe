//! Which runs, sessions and log lines are listed, and in which order. The lists hold still for a moment after a key.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::event::Decision;
use crate::model::ids::{RecordKey, SessionKey};
use crate::projection::{RunView, SessionView, Shown, Standing};

use super::app::{App, ORDER_HOLDS, SAID_FOR, Screen};

/// Ended runs and sessions without activity are old after this.
const OLD: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Sessions that are not listed, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Without activity in the last days.
    pub older: usize,
    /// Hidden by a person until they change.
    pub hidden: usize,
    /// Put away by a person.
    pub put_away: usize,
}

/// Whether a run is over.
#[must_use]
pub const fn is_over(run: &RunView) -> bool {
    matches!(run.standing, Standing::Done | Standing::Ended | Standing::Failed)
}

/// Whether a text holds what is filtered by.
fn passes(filter: &str, words: &[&str]) -> bool {
    let filter = filter.trim().to_lowercase();
    filter.is_empty() || words.iter().any(|word| word.to_lowercase().contains(&filter))
}

impl App {
    /// The runs as they would stand: needs-you first, then going, then held, then ended.
    #[must_use]
    pub fn wanted_runs(&self) -> Vec<RecordKey> {
        let filter = self.runs_filter.text();
        let mut runs: Vec<&RunView> = self
            .projection
            .runs
            .iter()
            .filter(|run| self.all_runs || !is_over(run) || self.is_recent(run.stopped_at.or(Some(run.since))))
            .filter(|run| passes(filter, &[&run.name, &run.sentence, run.key.as_str()]))
            .collect();
        runs.sort_by_key(|run| {
            let class = match run.standing {
                Standing::NeedsYou => 0,
                Standing::Going => 1,
                Standing::Waits => 2,
                Standing::Limit => 3,
                Standing::Paused => 4,
                Standing::Done | Standing::Ended | Standing::Failed => 5,
            };
            let at = if class == 5 { run.stopped_at.unwrap_or(run.since) } else { run.created_at };
            (class, Reverse(at), run.key.clone())
        });
        runs.into_iter().map(|run| run.key.clone()).collect()
    }

    /// The sessions as they would stand: live ones, then by activity.
    #[must_use]
    pub fn wanted_sessions(&self) -> Vec<SessionKey> {
        let filter = self.sessions_filter.text();
        let mut sessions: Vec<&SessionView> = self
            .projection
            .sessions
            .iter()
            .filter(|view| self.lists(view, filter))
            .filter(|view| {
                passes(
                    filter,
                    &[&view.title, &view.session.worktree, view.agent.as_str(), view.session.session_id.as_str()],
                )
            })
            .collect();
        sessions.sort_by(|a, b| {
            let by_activity = b.live.cmp(&a.live).then(b.active_at.cmp(&a.active_at));
            by_activity.then_with(|| a.session.session_id.cmp(&b.session.session_id))
        });
        sessions.into_iter().map(|view| view.session.key()).collect()
    }

    fn lists(&self, view: &SessionView, filter: &str) -> bool {
        if self.all_sessions {
            return true;
        }
        if view.put_away || !(view.live || !filter.trim().is_empty() || self.is_recent(view.active_at)) {
            return false;
        }
        !self.is_hidden(view)
    }

    /// Sessions that are not listed; none while a filter searches all.
    #[must_use]
    pub fn unlisted_sessions(&self) -> Unlisted {
        if !self.sessions_filter.text().trim().is_empty() {
            return Unlisted::default();
        }
        let all = &self.projection.sessions;
        let count = all.len().saturating_sub(self.sessions.order().len());
        let put_away = all.iter().filter(|view| view.put_away).count().min(count);
        let hidden = all.iter().filter(|view| !view.put_away && self.is_hidden(view)).count().min(count - put_away);
        Unlisted { older: count - put_away - hidden, hidden, put_away }
    }

    /// Whether a session is hidden until it changes.
    #[must_use]
    pub fn is_hidden(&self, view: &SessionView) -> bool {
        self.hidden.iter().any(|(known, at)| *at == view.active_at && *known == view.session.key())
    }

    /// Whether something happened in a session that was not looked at since.
    #[must_use]
    pub fn is_unread(&self, view: &SessionView) -> bool {
        let seen = self.read_to.get(&view.session.key()).copied().unwrap_or(self.opened_at);
        view.active_at.is_some_and(|at| at > seen)
    }

    /// After a frame: what stood open in it is read.
    pub(super) fn read_what_is_shown(&mut self) {
        let open: Vec<SessionKey> = match self.screen() {
            Screen::Session(key) => vec![key.clone()],
            Screen::Run(key) => self
                .run(key)
                .map_or_else(Vec::new, |run| vec![run.implementer.session.key(), run.reviewer.session.key()]),
            Screen::Runs | Screen::Sessions | Screen::Log(_) => Vec::new(),
        };
        for key in open {
            if let Some(at) = self.session(&key).and_then(|view| view.active_at) {
                self.read_to.insert(key, at);
            }
        }
    }

    fn is_recent(&self, at: Option<Timestamp>) -> bool {
        at.is_some_and(|at| self.now.duration_since(at) < OLD)
    }

    /// The lines of the log that are shown, oldest first.
    #[must_use]
    pub fn log_lines(&self) -> Vec<Arc<Decision>> {
        let of = match self.screen() {
            Screen::Log(of) => of.clone(),
            _ => None,
        };
        self.projection
            .log
            .iter()
            .filter(|line| self.all_log || line.decided)
            .filter(|line| of.as_ref().is_none_or(|key| line.is_of(key)))
            .map(Arc::clone)
            .collect()
    }

    /// Whether a line of the log holds what is looked for there.
    #[must_use]
    pub fn is_sought(&self, line: &Decision) -> bool {
        let needle = self.log_filter.text().to_lowercase();
        let holds = |words: &str| words.to_lowercase().contains(&needle);
        !needle.is_empty() && (holds(&line.what) || holds(&line.evidence))
    }

    /// Whether a list would stand otherwise if it did not hold still.
    #[must_use]
    pub fn order_is_stale(&self) -> bool {
        self.holds_still() && (self.runs.differs(&self.wanted_runs()) || self.sessions.differs(&self.wanted_sessions()))
    }

    fn holds_still(&self) -> bool {
        self.now.duration_since(self.last_key) < ORDER_HOLDS
    }

    /// Takes over what is new: orders, selections, the conversation, what the footer says.
    pub fn refresh(&mut self) {
        let frozen = self.holds_still();
        let (runs, sessions) = (self.wanted_runs(), self.wanted_sessions());
        let on_list = matches!(self.screen(), Screen::Runs | Screen::Sessions);
        let lost_run = self.runs.set_order(runs, frozen) && matches!(self.screen(), Screen::Runs);
        let lost_session = self.sessions.set_order(sessions, frozen) && matches!(self.screen(), Screen::Sessions);
        self.cursor_lost = on_list && (self.cursor_lost || lost_run || lost_session);
        self.refresh_run();
        // What went wrong stays until a key says that somebody was there to read it.
        if self.said.as_ref().is_some_and(|said| !said.is_error && self.now.duration_since(said.at) >= SAID_FOR) {
            self.said = None;
        }
    }

    fn refresh_run(&mut self) {
        let projection = Arc::clone(&self.projection);
        let run = self.target().and_then(|key| projection.runs.iter().find(|run| run.key == key));
        let phases =
            run.map(|run| (0..).zip(&run.phases).map(|(at, phase)| (phase.n, at)).collect()).unwrap_or_default();
        let relays = run.map(|run| run.relay_list.iter().map(|relay| relay.n).collect()).unwrap_or_default();
        let phase_at_end = self.phase.index() + 1 >= self.phase.order().len();
        let relay_at_end = self.relay.index() + 1 >= self.relay.order().len();
        self.phase.set_order(phases, false);
        self.relay.set_order(relays, false);
        if phase_at_end {
            self.phase.last();
        }
        if relay_at_end {
            self.relay.last();
        }
        let thread = projection.shown.as_ref().filter(|thread| match &self.shown {
            Some(Shown::Record(key)) => thread.record.as_ref() == Some(key),
            Some(Shown::Session(key) | Shown::Whole(key)) => thread.session.as_ref() == Some(key),
            None => false,
        });
        self.talk.set(thread);
    }

    /// A session's conversation: whole where somebody went to its beginning, and for as long as it is shown.
    fn session_shown(&self, key: &SessionKey) -> Shown {
        let is_it = self.shown.as_ref().and_then(Shown::session) == Some(key);
        let is_whole = matches!(self.shown, Some(Shown::Whole(_))) || self.talk.wants_beginning();
        if is_it && is_whole { Shown::Whole(key.clone()) } else { Shown::Session(key.clone()) }
    }

    /// The conversation that the screen needs.
    #[must_use]
    pub fn wants_shown(&self) -> Option<Shown> {
        match self.screen() {
            Screen::Run(key) => Some(Shown::Record(key.clone())),
            Screen::Session(key) => Some(self.session_shown(key)),
            Screen::Runs if self.size.0 >= super::layout::WIDE => self.runs.on().cloned().map(Shown::Record),
            Screen::Sessions if self.size.0 >= super::layout::WIDE => {
                self.sessions.on().map(|key| self.session_shown(key))
            }
            Screen::Runs | Screen::Sessions | Screen::Log(_) => self.shown.clone(),
        }
    }
}
