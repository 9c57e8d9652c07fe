//! Will it run alone? What is known of two sides before a run of theirs is started: advice, never a refusal.
//! What is looked at, and how, is behind the engine.

use crate::model::ids::{SessionKey, SessionRef};
use crate::model::session::{Asks, Permission};

use super::app::{App, Effect, Over};
use super::form::{Form, Sign};

/// A name under which it is remembered that a notification was tried.
pub const TRIED: &str = "notify_tried";

/// A side to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Which session.
    pub session: SessionRef,
    /// Its transcript.
    pub path: String,
}

/// What was seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Of which session.
    pub session: SessionKey,
    /// Whether it asks before it acts, when its transcript says so.
    pub permission: Option<Permission>,
    /// Files in its work tree that are not committed; `None`: it is no git repository.
    pub uncommitted: Option<u32>,
}

impl App {
    /// The sides of an open form that nobody has looked at yet.
    pub(super) fn look_ahead(&mut self) -> Option<Effect> {
        let form = self.over.iter().rev().find_map(|over| match over {
            Over::Form(form) if form.offers_sides() => Some(form),
            _ => None,
        });
        let sides: Vec<Side> = form
            .into_iter()
            .flat_map(|form| [form.side("implementer"), form.side("reviewer")])
            .flatten()
            .filter_map(|side| {
                let view = self.session(&side.key())?;
                Some(Side { session: side.clone(), path: view.path.to_string() })
            })
            .collect();
        if sides.is_empty() {
            // The next form looks anew: meanwhile somebody may have committed, or changed a mode.
            self.looks_ahead_at.clear();
            return None;
        }
        let keys: Vec<SessionKey> = sides.iter().map(|side| side.session.key()).collect();
        if keys.iter().all(|key| self.looks_ahead_at.contains(key)) {
            return None;
        }
        self.looks_ahead_at = keys;
        Some(Effect::LookAhead(sides))
    }

    /// What was seen stands in the form at once.
    pub(super) fn looked_ahead(&mut self, seen: Vec<Ahead>) {
        for one in seen {
            self.ahead.retain(|known| known.session != one.session);
            self.ahead.push(one);
        }
        let mut over = std::mem::take(&mut self.over);
        for form in &mut over {
            if let Over::Form(form) = form
                && !form.waits
            {
                self.check_form(form);
            }
        }
        self.over = over;
    }

    /// Permission mode of both sides, uncommitted changes, notifications: whether each lets it run alone.
    pub(super) fn will_it_run_alone(&self, sides: [&SessionRef; 2]) -> Vec<(Sign, String)> {
        let mut facts = Vec::new();
        let known: Vec<_> =
            sides.iter().filter_map(|side| self.ahead.iter().find(|ahead| ahead.session == side.key())).collect();
        let modes: Vec<(&str, &Permission)> =
            known.iter().filter_map(|ahead| Some((ahead.session.agent.as_str(), ahead.permission.as_ref()?))).collect();
        for (agent, permission) in &modes {
            let what = match permission.asks {
                Asks::Never => continue,
                Asks::SomeCommands => "commands that no rule allows",
                Asks::Commands => "commands",
                Asks::Edits => "edits",
            };
            let words = format!("{agent} asks before {what} ({}): alone it would wait for you", permission.mode);
            facts.push((Sign::Bad, words));
        }
        if modes.len() == 2 && modes.iter().all(|(_, permission)| permission.asks == Asks::Never) {
            facts.push((Sign::Good, "neither side asks for permission".to_owned()));
        }
        let builder = known.iter().find(|ahead| Some(&ahead.session) == sides.first().map(|side| side.key()).as_ref());
        match builder.and_then(|ahead| ahead.uncommitted) {
            Some(0) => facts.push((Sign::Good, "everything is committed".to_owned())),
            Some(1) => facts.push((Sign::Bad, "1 file is not committed: the first review sees it too".to_owned())),
            Some(n) => facts.push((Sign::Bad, format!("{n} files are not committed: the first review sees them too"))),
            None => {}
        }
        let tried = self.memory.get(TRIED).and_then(serde_json::Value::as_bool).unwrap_or(false);
        if !tried {
            facts.push((Sign::Bad, "nobody tried whether you would hear of it: trellis notify --test".to_owned()));
        }
        facts
    }
}

impl Form {
    /// The facts in the order they are shown, as many as fit, and how many warnings are left: where there is no room for
    /// all, what holds goes first, and a line is kept to say that more is left.
    #[must_use]
    pub fn facts_in(&self, room: usize, lines: impl Fn(&str) -> usize) -> (Vec<&(Sign, String)>, usize) {
        let all: usize = self.facts.iter().map(|(_, words)| lines(words)).sum();
        if all <= room {
            return (self.facts.iter().collect(), 0);
        }
        let warnings: Vec<&(Sign, String)> = self.facts.iter().filter(|(sign, _)| *sign != Sign::Good).collect();
        let needed: usize = warnings.iter().map(|(_, words)| lines(words)).sum();
        let mut left = if needed <= room { room } else { room.saturating_sub(1) };
        let count = warnings.len();
        let mut shown = warnings;
        shown.retain(|(_, words)| {
            let fits = lines(words) <= left;
            left -= if fits { lines(words) } else { 0 };
            fits
        });
        let more = count - shown.len();
        (shown, more)
    }
}
