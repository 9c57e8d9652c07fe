//! Two answers of one side, compared: which they are, where the view of them stands, and its keys.
//! How the change itself reads is in `change`.

use std::sync::Arc;

use jiff::Timestamp;

use crate::model::ids::Role;
use crate::model::session::SessionState;
use crate::projection::{RunView, Thread, ThreadKind};
use crate::verdict::points;

use super::action::Action;
use super::app::{App, Effect, Over, Screen};
use super::change;
use super::key::Key;
use super::row::Row;
use super::talk::answer_at;

/// An answer that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// When it was given.
    pub at: Option<Timestamp>,
    /// The phase it belongs to, as far as the conversation tells.
    pub phase: Option<u32>,
    /// The relay that carried it to the other side.
    pub relay: Option<u32>,
    /// Its text.
    pub text: Arc<str>,
    /// Its entry in the conversation when the comparison began.
    entry: usize,
}

/// An open comparison.
#[derive(Debug)]
pub struct Compare {
    /// Whose answers.
    pub role: Role,
    /// Their agent.
    pub label: String,
    /// The older one.
    pub before: Side,
    /// The newer one.
    pub after: Side,
    /// First line in view.
    pub top: usize,
    /// Lines in view, as last drawn.
    pub height: usize,
    /// Points of the newer one, and how many of them stand in the older one too.
    pub points: (usize, usize),
    /// Words that came in and that went away.
    pub words: (usize, usize),
    marks: Vec<usize>,
    rows: (usize, Vec<Row>),
}

/// Whose answers are to be compared.
struct Wanted {
    role: Role,
    /// It is at work: what it says meanwhile is no answer yet.
    works: bool,
    /// The word by which the reviewer agrees.
    signal: String,
}

impl Compare {
    /// The answer at or before an entry, of this side, with the one before it; else why not.
    fn of(thread: &Thread, wanted: &Wanted, from: usize) -> Result<Self, String> {
        let &Wanted { role, works, .. } = wanted;
        let mut answers = (0..thread.entries.len().min(from.saturating_add(1))).rev().filter_map(|entry| {
            let (_, text) = answer_at(thread, entry).filter(|(side, _)| *side == role)?;
            let relay = relay_of(thread, entry, role);
            if works && relay.is_none() && is_newest_word(thread, entry, role) {
                return None;
            }
            let at = thread.entries.get(entry).and_then(|entry| entry.at);
            Some(Side { at, phase: phase_at(thread, entry), relay, text: Arc::clone(text), entry })
        });
        let (after, before) = (answers.next(), answers.next());
        let label = label_of(thread, role);
        let (Some(after), Some(before)) = (after.clone(), before) else {
            let count = if after.is_some() { "one answer only" } else { "no answer yet" };
            return Err(format!("{label} has {count}: there are no two to compare"));
        };
        let found = points::located(&after.text, &wanted.signal);
        let texts: Vec<String> = found.iter().map(|point| point.text.clone()).collect();
        let repeats = points::repeats(&texts, &points::points(&before.text, &wanted.signal));
        let marks: Vec<usize> =
            found.iter().zip(repeats).filter(|(_, repeats)| *repeats).map(|(point, _)| point.line).collect();
        Ok(Self {
            role,
            label,
            top: 0,
            height: 1,
            points: (found.len(), marks.len()),
            words: change::counts(&before.text, &after.text),
            before,
            after,
            marks,
            rows: (0, Vec::new()),
        })
    }

    /// All of its rows in so many columns.
    pub fn rows(&mut self, columns: usize) -> &[Row] {
        if self.rows.0 != columns {
            self.rows = (columns, change::rows(&self.before.text, &self.after.text, columns, &self.marks));
        }
        &self.rows.1
    }

    fn move_by(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.rows.1.len().saturating_sub(self.height));
    }
}

/// Whether nothing came after what a side said but words and tools of its own: while it works it is no answer yet.
fn is_newest_word(thread: &Thread, entry: usize, role: Role) -> bool {
    thread.entries.iter().skip(entry + 1).all(|entry| match &entry.kind {
        ThreadKind::Said { role: by, .. } => *by == role,
        ThreadKind::Ended { .. } => true,
        _ => false,
    })
}

/// The phase that an entry stands in.
fn phase_at(thread: &Thread, entry: usize) -> Option<u32> {
    thread.entries.iter().take(entry + 1).rev().find_map(|entry| match entry.kind {
        ThreadKind::Phase { n, .. } | ThreadKind::Again { n } => Some(n),
        _ => None,
    })
}

/// The relay that carried the answer at an entry: its line stands below it, before the side speaks again.
fn relay_of(thread: &Thread, entry: usize, role: Role) -> Option<u32> {
    let below = thread.entries.iter().skip(entry + 1);
    let mut until = below.take_while(|entry| !matches!(&entry.kind, ThreadKind::Said { role: by, .. } if *by == role));
    until.find_map(|entry| match &entry.kind {
        ThreadKind::Relay { n, to, .. } if *to != role => *n,
        _ => None,
    })
}

fn label_of(thread: &Thread, wanted: Role) -> String {
    let label = thread.entries.iter().rev().find_map(|entry| match &entry.kind {
        ThreadKind::Said { role, label, .. } if *role == wanted => Some(label.clone()),
        ThreadKind::Relay { to, label, .. } if *to == wanted => Some(label.clone()),
        _ => None,
    });
    label.unwrap_or_else(|| if wanted == Role::Reviewer { "the reviewer" } else { "the builder" }.to_owned())
}

impl App {
    /// Opens the comparison of the answer in view (before a banner: of the newest review) with the one before it.
    pub(super) fn compare(&mut self) {
        let Screen::Run(key) = self.screen() else { return };
        let in_talk = self.run(key).is_some_and(|run| self.pane_of(run) == super::app::Pane::Talk);
        let Some(thread) = self.talk.thread() else {
            self.say("the conversation is still being read", false);
            return;
        };
        let here = self.talk.in_view(|thread, at| answer_at(thread, at).map(|(role, _)| role)).filter(|_| in_talk);
        let (role, from) = here.unwrap_or((Role::Reviewer, usize::MAX));
        // Where one side cannot be compared the other one may be.
        let made = Compare::of(thread, &self.wanted(role), from).or_else(|why| {
            let other = if in_talk { role } else { role.other() };
            Compare::of(thread, &self.wanted(other), usize::MAX).map_err(|_| why)
        });
        match made {
            Ok(compare) => self.over.push(Over::Compare(Box::new(compare))),
            Err(why) => self.say(why, false),
        }
    }

    /// A side of the shown run.
    fn wanted(&self, role: Role) -> Wanted {
        let run = self.target().and_then(|key| self.run(&key));
        let side = run.map(|run| if role == Role::Implementer { &run.implementer } else { &run.reviewer });
        let works = side.is_some_and(|side| matches!(side.state, SessionState::Working { .. }));
        Wanted { role, works, signal: run.map_or("", RunView::stop_signal).to_owned() }
    }

    /// Keys of an open comparison.
    pub(super) fn compare_key(&mut self, key: Key) -> Vec<Effect> {
        let action = self.keymap.action(self.screen_place(), key);
        let Some(Over::Compare(open)) = self.over.last() else { return Vec::new() };
        let (same, other) = (self.wanted(open.role), self.wanted(open.role.other()));
        let Some(Over::Compare(compare)) = self.over.last_mut() else { return Vec::new() };
        let page = isize::try_from(compare.height.saturating_sub(1).max(1)).unwrap_or(1);
        match action {
            Some(Action::Down) => compare.move_by(1),
            Some(Action::Up) => compare.move_by(-1),
            Some(Action::PageDown) => compare.move_by(page),
            Some(Action::PageUp) => compare.move_by(-page),
            Some(Action::First) => compare.top = 0,
            Some(Action::Last) => compare.move_by(isize::MAX),
            Some(Action::Back) => {
                self.over.pop();
            }
            Some(Action::Compare) => {
                self.compare_others(|thread| Compare::of(thread, &other, usize::MAX));
            }
            Some(Action::PreviousRelay) => {
                let from = compare.before.entry;
                self.compare_others(|thread| Compare::of(thread, &same, from));
            }
            Some(Action::NextRelay) => {
                let from = compare.after.entry;
                self.compare_others(|thread| {
                    let newest = || "that is the newest".to_owned();
                    let is_his = |at: &usize| answer_at(thread, *at).is_some_and(|(by, _)| by == same.role);
                    let next = (from.saturating_add(1)..thread.entries.len()).find(is_his).ok_or_else(newest)?;
                    Compare::of(thread, &same, next)
                        .and_then(|made| if made.after.entry > from { Ok(made) } else { Err(newest()) })
                });
            }
            Some(Action::Copy) => {
                let text = change::plain(&compare.before.text, &compare.after.text);
                let what = format!("the comparison of {}'s answers", compare.label);
                return self.copied(text, what);
            }
            Some(Action::Outside) => {
                return vec![Effect::Page(change::plain(&compare.before.text, &compare.after.text))];
            }
            Some(
                Action::Help | Action::Quit | Action::Redraw | Action::Suspend | Action::Mouse | Action::NextNeedsYou,
            ) => return action.map(|action| self.act(action, Some(key))).unwrap_or_default(),
            Some(_) => self.say("Esc leaves the comparison first", false),
            None => {}
        }
        Vec::new()
    }

    /// Shows another comparison in place of the open one, or says why not.
    fn compare_others(&mut self, make: impl FnOnce(&Thread) -> Result<Compare, String>) {
        let Some(made) = self.talk.thread().map(make) else { return };
        match (made, self.over.last_mut()) {
            (Ok(made), Some(Over::Compare(compare))) => **compare = made,
            (Ok(_), _) => {}
            (Err(why), _) => self.say(why, false),
        }
    }
}
