//! What can be copied, and what a person reads of it: the message in view, its points, the other messages of the
//! conversation, what names a session. Nothing is ordered here.

use std::sync::Arc;

use crate::model::ids::{Agent, Role};
use crate::model::text::first_line;
use crate::projection::words::unmarked;
use crate::projection::{RunView, SessionView, ThreadKind};
use crate::verdict::points;

use super::app::{App, Effect, Over, Screen};
use super::menu::{Choice, Menu, MenuItem};
use super::talk::{answer_at, text_at};

/// Messages offered at most. Who looks for an older one finds it by scrolling to it.
const OFFERED: usize = 30;

/// Something that can be copied.
struct Copyable {
    /// In the list.
    words: String,
    text: String,
    /// What it is called when it was copied.
    what: String,
}

impl App {
    /// What names a session, and what was said in it where it is read.
    pub(super) fn copy_of_session(&mut self, view: &SessionView) {
        let id = view.session.session_id.to_string();
        let resume = match view.agent {
            Agent::Claude => format!("claude --resume {id}"),
            Agent::Codex => format!("codex resume {id}"),
        };
        let name =
            |words: &str, text: String, what: &str| Copyable { words: words.to_owned(), text, what: what.to_owned() };
        let mut all = vec![
            name("id", id, "the session's id"),
            name("path of the transcript", view.path.to_string(), "the transcript's path"),
            name("resume command", resume, "the resume command"),
        ];
        all.extend(self.messages().1);
        self.offer(all, 0);
    }

    /// Copies what is in view; where there is more to choose from, that is selected in the list of all.
    pub(super) fn copy(&mut self) -> Vec<Effect> {
        let Some((text, what)) = self.words_here() else {
            self.say("nothing to copy here", false);
            return Vec::new();
        };
        let (mut at, mut all) = self.messages();
        if matches!(self.screen(), Screen::Runs) {
            // Beside the list the line of the run comes first.
            all.insert(0, Copyable { words: what.clone(), text: text.clone(), what: what.clone() });
            at = 0;
        }
        if self.after_refusal || all.len() < 2 {
            return self.copied(text, what);
        }
        self.offer(all, at);
        Vec::new()
    }

    fn offer(&mut self, all: Vec<Copyable>, at: usize) {
        let items = all.into_iter().map(|one| MenuItem {
            words: one.words,
            explains: String::new(),
            right: String::new(),
            impossible: None,
            choice: Choice::Do(vec![Effect::Copy { text: one.text, what: one.what }]),
        });
        let mut menu = Menu::few("copy", "copy", items.collect());
        menu.at = at;
        self.over.push(Over::Menu(Box::new(menu)));
    }

    /// Copies, unless the key was meant as a yes to a question that was not asked or is gone.
    pub(super) fn copied(&mut self, text: String, what: String) -> Vec<Effect> {
        if self.after_refusal {
            self.say("nothing copied: no question was open", false);
            return Vec::new();
        }
        vec![Effect::Copy { text, what }]
    }

    /// The messages of the conversation that is read, newest first, each review with its points below it; and the place of
    /// the one in view.
    fn messages(&self) -> (usize, Vec<Copyable>) {
        if !matches!(self.screen(), Screen::Run(_) | Screen::Session(_)) && !self.reads_beside() {
            return (0, Vec::new());
        }
        let here = self.talk.text_in_view().map(|(_, at)| at);
        let count = self.talk.thread().map_or(0, |thread| thread.entries.len());
        let (mut place, mut all, mut messages) = (0, Vec::new(), 0);
        for at in (0..count).rev() {
            let Some(message) = self.message(at) else { continue };
            messages += 1;
            // The one in view is offered however old it is.
            if messages > OFFERED && here.is_none_or(|here| at > here) {
                continue;
            }
            if Some(at) == here {
                place = all.len();
            }
            let points = self.points_of(at, &message.what);
            all.push(message);
            all.extend(points);
            if messages >= OFFERED && here.is_none_or(|here| at <= here) {
                break;
            }
        }
        (place, all)
    }

    /// An entry of the conversation with its time, side and first line.
    fn message(&self, at: usize) -> Option<Copyable> {
        let (text, what, label) = self.named_text(at)?;
        let at = self.talk.thread()?.entries.get(at)?.at;
        let clock = at.map(|at| self.times().clock(at)).unwrap_or_default();
        let words = format!("{clock} {label}: {}", unmarked(&first_line(&text)));
        Some(Copyable { words, text: text.to_string(), what })
    }

    /// The points of a review: one of them can be wanted alone.
    fn points_of(&self, at: usize, what: &str) -> Vec<Copyable> {
        let review = self.talk.thread().and_then(|thread| answer_at(thread, at));
        let Some((Role::Reviewer, text)) = review.filter(|_| !matches!(self.screen(), Screen::Session(_))) else {
            return Vec::new();
        };
        let signal = self.target().and_then(|key| self.run(&key)).map_or("", RunView::stop_signal);
        let points = points::points(text, signal).into_iter().zip(1..);
        points
            .map(|(text, n)| Copyable {
                words: format!("  {n}  {}", unmarked(&first_line(&text))),
                text,
                what: format!("point {n} of {what}"),
            })
            .collect()
    }

    /// Whether the conversation of the selected run stands beside the list.
    fn reads_beside(&self) -> bool {
        let beside = matches!(self.screen(), Screen::Runs) && self.is_beside();
        beside && self.talk.thread().is_some_and(|thread| thread.record.is_some() && thread.record == self.target())
    }

    /// The text of an entry of the conversation, what it is, and whose.
    fn named_text(&self, at: usize) -> Option<(Arc<str>, String, String)> {
        let thread = self.talk.thread()?;
        let (text, entry) = (text_at(thread, at, self.talk.detail())?, thread.entries.get(at)?);
        let (what, label) = match &entry.kind {
            ThreadKind::Said { label, .. } => (format!("{label}'s answer"), label.clone()),
            ThreadKind::Human { label, .. } => (format!("your words to {label}"), "you".to_owned()),
            ThreadKind::Relay { label, .. } => ("the message".to_owned(), format!("to {label}")),
            _ => ("the message".to_owned(), "trellis".to_owned()),
        };
        let at = entry.at.map(|at| format!(" of {}", self.times().clock(at)));
        Some((Arc::clone(text), format!("{what}{}", at.unwrap_or_default()), label))
    }

    /// The text that copying and opening mean on this screen, and what it is.
    pub(super) fn words_here(&self) -> Option<(String, String)> {
        match self.screen() {
            Screen::Runs => {
                let run = self.target().and_then(|key| self.run(&key))?;
                let name = &run.name;
                Some((format!("{name}: {}", run.sentence), format!("the line of {name}")))
            }
            Screen::Run(_) | Screen::Session(_) => {
                let (_, at) = self.talk.text_in_view()?;
                self.named_text(at).map(|(text, what, _)| (text.to_string(), what))
            }
            Screen::Sessions => None,
            Screen::Log(_) => {
                let lines = self.log_lines();
                let at = lines.len().checked_sub(1 + self.log_up)?;
                let line = lines.get(at)?;
                Some((format!("{} {} ({})", line.at, line.what, line.evidence), "the line".to_owned()))
            }
        }
    }
}
