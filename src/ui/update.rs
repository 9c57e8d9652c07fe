//! What happens to the screen's state when something happens: messages in, effects out. Pure.
//! Orders about a run or session are in `order_keys`, their replies in `reply`, what lies over a screen in `overlay`.

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::ids::RecordKey;
use crate::projection::{Projection, RunView, Standing, ThreadEntry, ThreadKind};

use super::action::Action;
use super::app::{App, Effect, Help, Msg, Over, Pane, REFUSED_FOR, Screen, panes};
use super::drives::as_driven;
use super::key::{Code, Key};
use super::keymap::Place;
use super::line_edit::LineEdit;
use super::look::Look;
use super::order::is_over;
use super::order_keys::TOO_EARLY;
use super::row::Hit;

impl App {
    /// Takes a message at a time.
    pub fn update(&mut self, msg: Msg, now: Timestamp) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = match msg {
            Msg::Key(key) => self.key(key),
            Msg::Paste(words) => self.paste(&words),
            Msg::Wheel(lines) => self.wheel(lines),
            Msg::Click { x, y } => self.click(x, y),
            Msg::Resize(columns, rows) => {
                self.size = (columns, rows);
                Vec::new()
            }
            Msg::Changed(projection) => {
                let projection = as_driven(projection, &self.keymap);
                self.show_what_came_up(&projection);
                let refused = self.only_looks();
                let before = std::mem::replace(&mut self.projection, projection);
                if before.driver != self.projection.driver {
                    // Why no order was taken a moment ago is not so any more.
                    self.said.take_if(|said| refused.as_ref() == Some(&said.words));
                    // Who drives from now on has to be told what is on the screen.
                    self.shown = None;
                }
                self.say_what_failed(&before);
                self.leave_what_is_gone();
                let kept = self.drop_edits();
                let look = self.offer_what_is_found(&before);
                self.open_awaited();
                kept.into_iter().chain(look).chain(self.copy_what_is_to_be_pasted(&before)).collect()
            }
            Msg::Replied(then, reply) => self.replied(then, reply),
            Msg::Edited(words) => self.edited(&words),
            Msg::Happened(summary) => {
                self.open_summary(summary);
                Vec::new()
            }
            Msg::Ahead(seen) => {
                self.looked_ahead(seen);
                Vec::new()
            }
            Msg::Nearby(nearby) => self.look_around(nearby),
            Msg::Trouble(words) => {
                self.say(words, true);
                Vec::new()
            }
            Msg::Woken => Vec::new(),
        };
        for effect in &effects {
            if let Effect::Remember(name, value) = effect {
                self.memory.insert((*name).to_owned(), value.clone());
            }
        }
        self.refresh();
        self.search_on();
        effects.extend(self.look_ahead());
        let wanted = self.wants_shown();
        if wanted != self.shown {
            self.shown.clone_from(&wanted);
            self.refresh();
            effects.push(Effect::Show(wanted));
        }
        effects
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        if let Some(since) = self.ends_silence() {
            // A key that was pressed to see what happened means nothing else.
            return vec![Effect::Summarise(since)];
        }
        self.last_key = self.now;
        self.said = None;
        self.awaited = None;
        let refused_at = self.refused_at.take();
        self.after_refusal = refused_at.is_some_and(|at| self.now.duration_since(at) < REFUSED_FOR);
        if let Some(action) = self.leaves_or_draws(key) {
            return self.act(action, Some(key));
        }
        match self.over.last() {
            Some(Over::Question(_)) => self.answer(key),
            Some(Over::Line(_)) => self.line_key(key),
            Some(Over::Menu(_)) => self.menu_key(key),
            Some(Over::Form(_)) => self.form_key(key),
            Some(Over::Editor(_)) => self.editor_key(key),
            Some(Over::Look(_)) => self.look_key(key),
            Some(Over::Compare(_)) => self.compare_key(key),
            Some(Over::Since(_)) => self.since_key(key),
            Some(Over::Help(_)) => self.help_key(key),
            None => {
                if let Some(action) = self.keymap.action(self.place(), key) {
                    return self.act(action, Some(key));
                }
                self.say_where(key);
                Vec::new()
            }
        }
    }

    /// What leaves, suspends and draws anew does so in every dialog; to a question each key is an answer.
    fn leaves_or_draws(&self, key: Key) -> Option<Action> {
        let is_answer = matches!(self.over.last(), None | Some(Over::Question(_)));
        let action = self.keymap.action(self.place(), key).filter(|_| !is_answer)?;
        matches!(action, Action::Quit | Action::Redraw | Action::Suspend).then_some(action)
    }

    /// Carries out an action of the screen.
    pub fn act(&mut self, action: Action, key: Option<Key>) -> Vec<Effect> {
        match action {
            Action::ShowRuns => self.go_to(Screen::Runs),
            Action::ShowSessions => self.go_to(Screen::Sessions),
            Action::ShowLog => self.go_to(Screen::Log(None)),
            Action::Open => return self.open(),
            Action::Back => return self.back(),
            Action::Down => return self.scroll(1),
            Action::Up => return self.scroll(-1),
            Action::PageDown => self.page(1),
            Action::PageUp => self.page(-1),
            Action::First => self.go_to_end(false),
            Action::Last => self.go_to_end(true),
            Action::NextPane => self.next_pane(1),
            Action::PreviousPane => self.next_pane(-1),
            Action::NextNeedsYou => self.next_needs_you(),
            Action::Search => {
                let line = self.search_line().map(LineEdit::text).unwrap_or_default().to_owned();
                self.over.push(Over::Line(LineEdit::new(line)));
            }
            Action::Palette => self.open_palette(),
            Action::Help => self.open_help(),
            Action::Mouse => {
                self.mouse = !self.mouse;
                self.say(if self.mouse { "mouse on" } else { "mouse off" }, false);
                return vec![Effect::Mouse(self.mouse), Effect::Remember("mouse", self.mouse.into())];
            }
            Action::ScrollLeft => self.talk.slide(false),
            Action::ScrollRight => self.talk.slide(true),
            Action::Quit => return self.quit(key),
            Action::TakeOver => return self.take_over(),
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::HideNote => return self.hide_note(),
            Action::ShowAll => self.show_all(),
            Action::Detail => {
                self.talk.cycle_detail();
                self.say(self.talk.detail().words(), false);
            }
            Action::PreviousPart => self.jump_part(false),
            Action::NextPart => self.jump_part(true),
            Action::PreviousRelay => self.jump_relay(false),
            Action::NextRelay => self.jump_relay(true),
            Action::NextMatch => self.find(true),
            Action::PreviousMatch => self.find(false),
            Action::Compare => self.compare(),
            other => return self.order_key(other, key),
        }
        Vec::new()
    }

    fn go_to(&mut self, screen: Screen) {
        self.trail = match screen {
            Screen::Runs => vec![Screen::Runs],
            other => vec![Screen::Runs, other],
        };
        self.log_up = 0;
        self.pane = None;
    }

    /// Opens a run.
    pub fn open_run(&mut self, key: &RecordKey) {
        self.runs.select(key);
        self.pane = None;
        self.talk.follow();
        self.trail = vec![Screen::Runs, Screen::Run(key.clone())];
    }

    fn open(&mut self) -> Vec<Effect> {
        match self.screen().clone() {
            Screen::Runs => {
                if let Some(key) = self.runs.on().cloned() {
                    self.open_run(&key);
                    // Beside the list stands already what Enter is offered for there.
                    if self.is_beside() && self.run(&key).is_some_and(offers_look) {
                        self.open_in_run(&key);
                    }
                }
            }
            Screen::Run(key) => self.open_in_run(&key),
            Screen::Sessions => {
                if let Some(key) = self.sessions.on().cloned() {
                    self.talk.follow();
                    self.trail.push(Screen::Session(key));
                }
            }
            Screen::Session(_) | Screen::Log(_) => {}
        }
        Vec::new()
    }

    fn open_in_run(&mut self, key: &RecordKey) {
        let Some(run) = self.run(key) else { return };
        let look = run.look_first.as_ref().map(|relay| Look::new(run, relay));
        match (self.pane_of(run), look) {
            (Pane::Banner | Pane::Talk, Some(look)) => {
                if self.run(key).is_some_and(|run| self.banner_counts(run)) {
                    self.over.push(Over::Look(look));
                } else {
                    self.refuse(TOO_EARLY);
                }
            }
            (Pane::Banner, None) => self.pane = Some(Pane::Talk),
            (Pane::Phases, _) => {
                if let Some((n, _)) = self.phase.on().copied() {
                    self.show_phase(n);
                    self.pane = Some(Pane::Talk);
                }
            }
            (Pane::Relays, _) => {
                if let Some(n) = self.relay.on().copied() {
                    self.show_relay(n);
                    self.pane = Some(Pane::Talk);
                }
            }
            (Pane::Talk, _) => {}
        }
    }

    fn back(&mut self) -> Vec<Effect> {
        // What was filtered by goes first: a filtered list says that Esc shows all of it again.
        let filter = match self.screen() {
            Screen::Sessions => Some(&mut self.sessions_filter),
            Screen::Runs => Some(&mut self.runs_filter),
            Screen::Log(_) => Some(&mut self.log_filter),
            Screen::Run(_) | Screen::Session(_) => None,
        };
        if let Some(filter) = filter.filter(|filter| !filter.text().is_empty()) {
            filter.clear();
        } else if !self.talk.search.needle().words().is_empty() {
            self.talk.look_for("");
        } else if self.trail.len() > 1 {
            self.trail.pop();
            self.pane = None;
        }
        Vec::new()
    }

    /// A person who follows a conversation, and does not read further up in it, sees at once that they are needed.
    fn show_what_came_up(&mut self, next: &Projection) {
        let Screen::Run(key) = self.screen() else { return };
        let needs = |projection: &Projection| {
            let run = projection.runs.iter().find(|run| run.key == *key);
            run.is_some_and(|run| run.banner.is_some() || run.look_first.is_some())
        };
        if self.pane == Some(Pane::Talk) && self.talk.follows() && needs(next) && !needs(&self.projection) {
            self.pane = None;
        }
    }

    /// A run that is gone cannot stay open.
    fn leave_what_is_gone(&mut self) {
        let gone = |app: &Self, screen: &Screen| match screen {
            Screen::Run(key) => app.run(key).is_none(),
            _ => false,
        };
        while self.trail.len() > 1 && gone(self, &self.screen().clone()) {
            self.trail.pop();
            self.over.retain(|over| matches!(over, Over::Help(_) | Over::Editor(_)));
        }
        // A run that is over has nothing to look at first.
        let projection = Arc::clone(&self.projection);
        let over = |run: &RecordKey| projection.runs.iter().any(|view| view.key == *run && is_over(view));
        self.over.retain(|open| !matches!(open, Over::Look(look) if over(&look.run)));
    }

    /// By lines: the cursor of a list, the text of a view.
    fn scroll(&mut self, by: isize) -> Vec<Effect> {
        let times = self.times();
        match self.screen().clone() {
            Screen::Runs => {
                self.cursor_lost = false;
                self.runs.move_by(by);
            }
            Screen::Sessions => {
                self.cursor_lost = false;
                self.sessions.move_by(by);
            }
            Screen::Session(_) => self.talk.move_by(by, &times),
            Screen::Log(_) => self.move_log(by),
            Screen::Run(key) => match self.run(&key).map(|run| self.pane_of(run)) {
                Some(Pane::Phases) => self.phase.move_by(by),
                Some(Pane::Relays) => self.relay.move_by(by),
                _ => self.talk.move_by(by, &times),
            },
        }
        Vec::new()
    }

    fn move_log(&mut self, by: isize) {
        let last = self.log_lines().len().saturating_sub(1);
        self.log_up = self.log_up.saturating_add_signed(-by).min(last);
    }

    fn page(&mut self, pages: isize) {
        let lines = isize::try_from(self.size.1 / 2).unwrap_or(10).max(1);
        let times = self.times();
        match self.screen() {
            Screen::Session(_) => self.talk.page(pages, &times),
            Screen::Run(_) if self.shows_talk() => self.talk.page(pages, &times),
            _ => {
                let _ = self.scroll(pages * lines);
            }
        }
    }

    fn shows_talk(&self) -> bool {
        let Screen::Run(key) = self.screen() else { return false };
        self.run(key).is_some_and(|run| matches!(self.pane_of(run), Pane::Talk | Pane::Banner))
    }

    fn go_to_end(&mut self, last: bool) {
        match self.screen().clone() {
            Screen::Runs if last => self.runs.last(),
            Screen::Runs => self.runs.first(),
            Screen::Sessions if last => self.sessions.last(),
            Screen::Sessions => self.sessions.first(),
            Screen::Log(_) => self.log_up = if last { 0 } else { self.log_lines().len().saturating_sub(1) },
            Screen::Run(key) => match self.run(&key).map(|run| self.pane_of(run)) {
                Some(Pane::Phases) if last => self.phase.last(),
                Some(Pane::Phases) => self.phase.first(),
                Some(Pane::Relays) if last => self.relay.last(),
                Some(Pane::Relays) => self.relay.first(),
                _ if last => self.talk.follow(),
                _ => self.talk.to_start(),
            },
            Screen::Session(_) if last => self.talk.follow(),
            Screen::Session(_) => self.talk.to_start(),
        }
    }

    fn next_pane(&mut self, by: isize) {
        let Screen::Run(key) = self.screen().clone() else {
            let is_row = *self.screen() == Screen::Runs && self.target().is_some();
            return self
                .say(if is_row { "open it first: its parts turn there" } else { "this screen has one part" }, false);
        };
        let Some(run) = self.run(&key) else { return };
        let (mut all, here) = (panes(run), self.pane_of(run));
        // Side by side the end of a run has no part of its own: the conversation has the keys already.
        let is_beside = self.size.0 >= super::layout::WIDE && is_over(run) && run.banner.is_none();
        let here = if is_beside && here == Pane::Banner { Pane::Talk } else { here };
        all.retain(|pane| !is_beside || *pane != Pane::Banner);
        let at = all.iter().position(|pane| *pane == here).unwrap_or(0);
        let count = all.len();
        let next = if by < 0 { (at + count - 1) % count } else { (at + 1) % count };
        self.pane = all.get(next).copied();
    }

    fn next_needs_you(&mut self) {
        // A filter hides rows, not needs: what the list leaves out comes behind what it shows.
        let listed = self.runs.order().to_vec();
        let unlisted = self.projection.runs.iter().map(|run| run.key.clone()).filter(|key| !listed.contains(key));
        let order: Vec<RecordKey> = listed.iter().cloned().chain(unlisted).collect();
        let waiting = |key: &RecordKey| self.run(key).is_some_and(|run| run.standing == Standing::NeedsYou);
        let from = self.target().and_then(|key| order.iter().position(|known| *known == key)).unwrap_or(0);
        let next = order.iter().cycle().skip(from + 1).take(order.len()).find(|key| waiting(key)).cloned();
        match next {
            Some(key) => {
                let stays_in_list = *self.screen() == Screen::Runs;
                if !listed.contains(&key) {
                    self.runs_filter.clear();
                    let wanted = self.wanted_runs();
                    let _ = self.runs.set_order(wanted, false);
                }
                self.open_run(&key);
                if stays_in_list {
                    self.trail = vec![Screen::Runs];
                }
            }
            None => self.say("nothing needs you", false),
        }
    }

    /// The line that `/` types into here.
    pub fn search_line(&self) -> Option<&LineEdit> {
        match self.screen() {
            Screen::Runs => Some(&self.runs_filter),
            Screen::Sessions => Some(&self.sessions_filter),
            Screen::Log(_) => Some(&self.log_filter),
            Screen::Run(_) | Screen::Session(_) => None,
        }
    }

    fn open_help(&mut self) {
        let place = self.place();
        let help = Help { place, top: 0, filter: LineEdit::default(), typing: false };
        self.over.push(Over::Help(Box::new(help)));
    }

    fn show_all(&mut self) {
        let (flag, words) = match self.screen() {
            Screen::Runs => (&mut self.all_runs, ["all runs", "runs that go and those of the last 7 days"]),
            Screen::Sessions => (&mut self.all_sessions, ["all sessions", "sessions of the last 7 days"]),
            Screen::Log(_) => (&mut self.all_log, ["everything", "decisions only"]),
            Screen::Run(_) | Screen::Session(_) => return,
        };
        *flag = !*flag;
        let words = if *flag { words[0] } else { words[1] };
        self.say(words, false);
    }

    fn show_phase(&mut self, n: u32) {
        let is_it = |entry: &ThreadEntry| matches!(entry.kind, ThreadKind::Phase { n: phase, .. } if phase == n);
        let found = self.talk.show_last(is_it);
        if !found {
            self.say(format!("phase {n} is not in the conversation that is kept here"), false);
        }
    }

    fn show_relay(&mut self, n: u32) {
        let is_it = |entry: &ThreadEntry| matches!(entry.kind, ThreadKind::Relay { n: Some(relay), .. } if relay == n);
        let found = self.talk.show_last(is_it);
        if !found {
            self.say(format!("relay {n} is not in the conversation that is kept here"), false);
        }
    }

    /// To the next match of what `/` looked for.
    pub fn find(&mut self, forward: bool) {
        if matches!(self.screen(), Screen::Log(_)) {
            let newest = self.log_lines().len();
            let here = newest.saturating_sub(1 + self.log_up);
            self.find_in_log(if forward { here + 1..newest } else { 0..here }, forward);
        } else if self.talk.search.needle().words().is_empty() {
            self.say("look for something with / first", false);
        } else {
            self.talk.seek(forward);
            self.search_on();
        }
    }

    /// Looks through another part of the conversation; in a long one a search takes several frames.
    fn search_on(&mut self) {
        let sought = self.talk.search.seeks();
        let times = self.times();
        self.talk.search_on(&times);
        if !sought || self.talk.search.seeks() {
            return;
        }
        if !self.talk.search.stands_at_one() {
            self.say(format!("{} is not in it", self.talk.search.needle().words()), false);
        } else if matches!(self.screen(), Screen::Run(_)) {
            self.pane = Some(Pane::Talk);
        }
    }

    /// Goes to the first of these lines of the log, or to the last, that holds what is looked for; whether there is one.
    fn find_in_log(&mut self, among: Range<usize>, forward: bool) -> bool {
        let lines = self.log_lines();
        let holds = |at: &usize| lines.get(*at).is_some_and(|line| self.is_sought(line));
        let found = if forward { among.clone().find(holds) } else { among.clone().rev().find(holds) };
        if let Some(at) = found {
            self.log_up = lines.len() - 1 - at;
        }
        found.is_some()
    }

    /// What was typed is looked for from the line that is selected: backwards, then forwards.
    fn find_in_log_first(&mut self) {
        let newest = self.log_lines().len();
        let here = newest.saturating_sub(self.log_up);
        if !self.find_in_log(0..here, false) && !self.find_in_log(here..newest, true) {
            self.say(format!("{} is not in it", self.log_filter.text()), false);
        }
    }

    /// The wheel scrolls what lies on top; a field or a question has nothing to scroll.
    fn wheel(&mut self, lines: isize) -> Vec<Effect> {
        match self.over.last_mut() {
            Some(Over::Look(look)) => look.move_by(lines),
            Some(Over::Help(help)) => help.top = help.top.saturating_add_signed(lines),
            Some(Over::Menu(menu)) => menu.move_by(lines),
            Some(Over::Compare(_) | Over::Since(_)) => {
                let key = Key::plain(if lines < 0 { Code::Up } else { Code::Down });
                return (0..lines.unsigned_abs()).flat_map(|_| self.key(key)).collect();
            }
            Some(Over::Form(_) | Over::Editor(_) | Over::Question(_)) => {}
            Some(Over::Line(_)) | None => return self.scroll(lines),
        }
        Vec::new()
    }

    fn click(&mut self, x: u16, y: u16) -> Vec<Effect> {
        let hit =
            self.hits.iter().find(|(row, columns, _)| *row == y && columns.contains(&x)).map(|(_, _, hit)| hit.clone());
        match hit {
            Some(Hit::Press(key)) => self.key(key),
            Some(Hit::Pick(index)) => {
                if let Some(Over::Menu(menu)) = self.over.last_mut() {
                    menu.at = index;
                }
                Vec::new()
            }
            Some(Hit::Select(index)) if self.over.is_empty() => {
                self.click_row(index);
                Vec::new()
            }
            Some(Hit::Select(_)) | None => Vec::new(),
        }
    }

    fn click_row(&mut self, index: usize) {
        match self.screen() {
            Screen::Sessions => self.sessions.select_index(index),
            Screen::Runs => self.runs.select_index(index),
            Screen::Run(_) => {
                self.runs.select_index(index);
                if let Some(key) = self.runs.on().cloned() {
                    self.open_run(&key);
                }
            }
            Screen::Session(_) | Screen::Log(_) => {}
        }
    }

    /// The filter or search line.
    fn line_key(&mut self, key: Key) -> Vec<Effect> {
        let Some(Over::Line(mut line)) = self.over.pop() else { return Vec::new() };
        let done = match self.keymap.action(Place::Palette, key) {
            Some(Action::Open) => true,
            Some(Action::Back) => {
                line.clear();
                true
            }
            Some(Action::Down | Action::Up) => {
                let by = if key.code == Code::Up || key == Key::ctrl('p') { -1 } else { 1 };
                let effects = self.scroll(by);
                self.over.push(Over::Line(line));
                return effects;
            }
            Some(Action::EmptyLine) => {
                line.clear();
                false
            }
            _ => {
                line.key(key);
                false
            }
        };
        match self.screen() {
            Screen::Runs => self.runs_filter = line.clone(),
            Screen::Sessions => self.sessions_filter = line.clone(),
            Screen::Log(_) => {
                self.log_filter = line.clone();
                if done && !line.text().is_empty() {
                    self.find_in_log_first();
                }
            }
            Screen::Run(_) | Screen::Session(_) => {
                self.talk.look_for(line.text());
                if done && !line.text().is_empty() {
                    self.find(false);
                }
            }
        }
        if !done {
            self.over.push(Over::Line(line));
        }
        Vec::new()
    }
}

/// Whether a relay that waits for a look is all that is asked of the person.
fn offers_look(run: &RunView) -> bool {
    run.look_first.is_some() && run.banner.as_ref().is_none_or(|banner| banner.reason.is_none())
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
