//! Keys that order something of a run or a session: what they send, what they ask first, why they cannot.
//! An order names the record and the revision that the last frame showed, never what came since.

use crate::model::command::{Command, Control, SessionControl};
use crate::model::ids::{RecordKey, Role, SessionKey};
use crate::model::reach::Transport;
use crate::projection::words::no_pane;
use crate::projection::{DriverFact, Offer, Projection, RunView, SessionView};

use super::action::Action;
use super::app::{Answer, App, Effect, Over, Pane, Purpose, Question, Screen, Then};
use super::form::{Field, Form, FormKind};
use super::key::Key;
use super::keymap::{Keymap, Place, Table};
use super::meaning::{at_work, awaits_paste, control_of, is_order, looks_again, may, question_of};
use super::menu::{Choice, Menu, MenuItem};

/// What a key in the first moment of a banner is told.
pub(super) const TOO_EARLY: &str = "this came up just now: read it, then press again";

impl App {
    /// An action about a run or a session.
    pub fn order_key(&mut self, action: Action, key: Option<Key>) -> Vec<Effect> {
        if let Some(why) = self.only_looks().filter(|_| is_order(action)) {
            self.refuse(why);
            return Vec::new();
        }
        match action {
            Action::NewRun | Action::NewPair => {
                let builds = self.session_target();
                let form = if action == Action::NewRun {
                    self.new_run_form(builds.as_ref())
                } else {
                    self.new_pair_form(builds.as_ref())
                };
                self.over.push(Over::Form(Box::new(form)));
                // Agents may have been opened or closed since the last time.
                vec![Effect::LookAround]
            }
            Action::StartAgent => {
                self.over.push(Over::Form(Box::new(self.start_form())));
                Vec::new()
            }
            _ if self.cursor_lost && matches!(self.screen(), Screen::Runs | Screen::Sessions) => {
                self.say("what was selected is gone: look, then press again", false);
                Vec::new()
            }
            _ if self.target().is_some() => self.run_key(action, key),
            _ if self.session_target().is_some() => self.session_key(action, key),
            Action::Copy => self.copy(),
            Action::Outside => self.outside(),
            _ => {
                self.say("select a run first", false);
                Vec::new()
            }
        }
    }

    fn run_key(&mut self, action: Action, key: Option<Key>) -> Vec<Effect> {
        if matches!(self.screen(), Screen::Log(_)) && matches!(action, Action::Copy | Action::Outside) {
            return if action == Action::Copy { self.copy() } else { self.outside() };
        }
        let Some(run) = self.target().and_then(|target| self.run_as_seen(&target).cloned()) else {
            self.say("this run was not on the screen yet: look, then press again", false);
            return Vec::new();
        };
        match action {
            Action::GoToPane | Action::GoToOtherPane => {
                let side = if action == Action::GoToPane { at_work(&run) } else { at_work(&run).other() };
                let view = if side == Role::Implementer { &run.implementer } else { &run.reviewer };
                return self.go_to_pane(view.session.key(), view.transport, &view.label, &view.place);
            }
            Action::LogOfRun => {
                self.log_up = 0;
                self.trail.push(Screen::Log(Some(run.key)));
                return Vec::new();
            }
            Action::Outside => return self.outside(),
            Action::Copy if run.look_first.is_some() && self.shows_banner_of(&run) => {
                let Some(look) = &run.look_first else { return Vec::new() };
                let text = self.edit_of(&run).unwrap_or(&look.text).to_owned();
                return self.copied(text, format!("relay {}", look.n));
            }
            Action::Copy if !awaits_paste(&run) => return self.copy(),
            _ => {}
        }
        if let Some(why) = &run.read_only {
            self.refuse(why.clone());
            return Vec::new();
        }
        if !self.banner_counts(&run) {
            self.refuse(TOO_EARLY);
            return Vec::new();
        }
        match action {
            Action::Options => self.over.push(Over::Form(Box::new(self.options_form(&run)))),
            Action::Rename => {
                // The number that tells it from others is no part of its name.
                let name = if run.given_name.is_empty() { &run.name } else { &run.given_name };
                let form = rename_form(FormKind::RenameRun(run.key, run.revision), name);
                self.over.push(Over::Form(Box::new(form)));
            }
            Action::More => self.ask_for_more(&run),
            Action::Write => self.ask_whom(&run),
            Action::Copy => return self.paste_by_hand(&run),
            _ => return self.control_key(action, &run, key),
        }
        Vec::new()
    }

    fn control_key(&mut self, action: Action, run: &RunView, key: Option<Key>) -> Vec<Effect> {
        let Some(control) = control_of(action, run) else { return Vec::new() };
        if action == Action::PauseOrGoOn && looks_again(run) {
            return vec![Effect::Send { command: Command::LookNow, then: Then::Say }];
        }
        if let Err(why) = may(run, control.name()) {
            self.refuse(why);
            return Vec::new();
        }
        let question = question_of(action, run, &run.name);
        let effect = send(&run.key, run.revision, control);
        match question {
            None => vec![effect],
            Some(words) => {
                let words = format!("{words}  y yes · any other key no");
                self.over.push(Over::Question(Question { words, key, yes: Answer::Do(vec![effect]) }));
                Vec::new()
            }
        }
    }

    fn ask_for_more(&mut self, run: &RunView) {
        if let Err(why) = may(run, "more") {
            self.say(why, true);
            return;
        }
        let fields = vec![
            Field::line("more", "relays", "5"),
            Field::tick("blockers_only", "tell the reviewer: blockers only", false),
            Field::button("save", "go on"),
        ];
        let mut form =
            Form::new(FormKind::More(run.key.clone(), run.revision), format!("more relays · {}", run.name), fields);
        "The count goes on from where it is.".clone_into(&mut form.explains);
        self.over.push(Over::Form(Box::new(form)));
    }

    fn ask_whom(&mut self, run: &RunView) {
        if let Err(why) = may(run, "write") {
            self.say(why, true);
            return;
        }
        let mut items = Vec::new();
        for (go_on, short, long) in [(false, "then wait", ", the run waits"), (true, "then go on", ", the run goes on")]
        {
            for (side, view) in [(Role::Implementer, &run.implementer), (Role::Reviewer, &run.reviewer)] {
                let words = format!("{}, {short}", view.label);
                let purpose = Purpose::Write { run: run.key.clone(), side, go_on };
                let choice = Choice::Write(purpose, format!("to {}{long}", view.label));
                let (explains, right) = (String::new(), String::new());
                items.push(MenuItem { words, explains, right, impossible: None, choice });
            }
        }
        self.over.push(Over::Menu(Box::new(Menu::few("write to", "write", items))));
    }

    /// The message that cannot be typed goes on the clipboard, and the person vouches to paste it.
    fn paste_by_hand(&mut self, run: &RunView) -> Vec<Effect> {
        let Some(delivery) = &run.delivery else { return self.copy() };
        let effects = self.copied(delivery.text.to_string(), "the message".to_owned());
        let may = self.only_looks().is_none() && may(run, Control::ByHand.name()).is_ok();
        if effects.is_empty() || delivery.by_hand || !may {
            return effects;
        }
        // Copied once that is saved: only then it is known what exactly is to be pasted.
        vec![send(&run.key, run.revision, Control::ByHand)]
    }

    /// Messages that the person is to paste since the last look go on the clipboard.
    pub(super) fn copy_what_is_to_be_pasted(&mut self, before: &Projection) -> Vec<Effect> {
        if self.projection.driver != DriverFact::Here || before.driver != DriverFact::Here {
            return Vec::new();
        }
        let by_hand = |projection: &Projection, key: &RecordKey| {
            let run = projection.runs.iter().find(|run| &run.key == key);
            run.and_then(|run| run.delivery.as_ref())
                .filter(|delivery| delivery.by_hand)
                .map(|delivery| delivery.text.clone())
        };
        let runs = self.projection.runs.iter();
        let new = runs.filter_map(|run| {
            let text = by_hand(&self.projection, &run.key)?;
            (by_hand(before, &run.key).as_ref() != Some(&text)).then_some(text)
        });
        new.map(|text| Effect::Copy { text: text.to_string(), what: "the message to paste".to_owned() }).collect()
    }

    fn session_key(&mut self, action: Action, key: Option<Key>) -> Vec<Effect> {
        let Some(view) = self.session_target().and_then(|target| self.session(&target).cloned()) else {
            return Vec::new();
        };
        let target = view.session.key();
        match action {
            Action::GoToPane => return self.go_to_pane(target, view.transport, view.agent.as_str(), &view.place),
            Action::BringBack if view.live => self.say("it is alive", false),
            Action::BringBack => return vec![session_order(&target, SessionControl::BringBack)],
            Action::Rename => {
                self.over.push(Over::Form(Box::new(rename_form(FormKind::RenameSession(target), &view.title))));
            }
            Action::Write => self.write_to_session(&view),
            Action::Hide => {
                self.hidden.retain(|(known, _)| *known != target);
                self.hidden.push((target, view.active_at));
                self.say("hidden until it changes: . shows it", false);
            }
            Action::Copy => self.copy_of_session(&view),
            Action::Outside => return self.outside(),
            Action::Discard => return self.put_away(&view, key),
            _ => {}
        }
        Vec::new()
    }

    fn write_to_session(&mut self, view: &SessionView) {
        let run = view.used_by.as_ref().and_then(|key| self.run(key)).cloned();
        match run {
            Some(run) => {
                let side = if run.implementer.session.key() == view.session.key() {
                    Role::Implementer
                } else {
                    Role::Reviewer
                };
                if let Err(why) = may(&run, "write") {
                    self.refuse(why);
                } else {
                    let title = format!("to {}, in {}", view.agent, run.name);
                    self.begin_writing(Purpose::Write { run: run.key, side, go_on: false }, title, "");
                }
            }
            None => self.say("no run uses this session: write in its own pane (t)", false),
        }
    }

    fn put_away(&mut self, view: &SessionView, key: Option<Key>) -> Vec<Effect> {
        let target = view.session.key();
        let control = if view.put_away { SessionControl::TakeBack } else { SessionControl::PutAway };
        let effect = session_order(&target, control);
        match view.used_by.as_ref().filter(|_| !view.put_away) {
            None => vec![effect],
            Some(by) => {
                let name = self.run(by).map_or_else(|| by.to_string(), |run| run.name.clone());
                let words = format!("put it away? {name} uses it and would stop.  y yes · any other key no");
                self.over.push(Over::Question(Question { words, key, yes: Answer::Do(vec![effect]) }));
                Vec::new()
            }
        }
    }

    fn outside(&mut self) -> Vec<Effect> {
        if let Some((words, _)) = self.words_here() {
            return vec![Effect::Page(words)];
        }
        self.say("nothing to open here", false);
        Vec::new()
    }

    /// Goes to a session's pane, or says why there is none.
    pub(super) fn go_to_pane(
        &mut self,
        session: SessionKey,
        way: Option<Transport>,
        label: &str,
        place: &str,
    ) -> Vec<Effect> {
        match no_pane(way, label, place) {
            None => vec![Effect::GoToPane(session)],
            // Going there asks nothing: a `y` that follows is no yes to it.
            Some(why) => {
                self.say(why, true);
                Vec::new()
            }
        }
    }

    /// Whether the banner of a run is what its screen shows.
    fn shows_banner_of(&self, run: &RunView) -> bool {
        matches!(self.screen(), Screen::Runs) || self.pane_of(run) == Pane::Banner
    }

    /// Why an action of this screen is impossible now.
    pub(super) fn why_not(&self, action: Action) -> Option<String> {
        if action == Action::TakeOver {
            return self.why_not_take_over();
        }
        if action == Action::NextMatch || action == Action::PreviousMatch {
            let in_log = matches!(self.screen(), Screen::Log(_));
            let needle = if in_log { self.log_filter.text() } else { self.talk.search.needle().words() };
            return needle.is_empty().then(|| "look for something with / first".to_owned());
        }
        if let Some(run) = self.target().and_then(|key| self.run(&key)) {
            return self.why_not_of(action, run);
        }
        if let Some(why) = self.only_looks().filter(|_| is_order(action)) {
            return Some(why);
        }
        if let Some(view) = self.session_target().and_then(|key| self.session(&key)) {
            return match action {
                Action::GoToPane => no_pane(view.transport, view.agent.as_str(), &view.place),
                Action::BringBack if view.live => Some("it is alive".to_owned()),
                Action::Write if view.used_by.is_none() => {
                    Some("no run uses this session: write in its own pane".to_owned())
                }
                _ => None,
            };
        }
        let of_a_run = self.keymap.table(Table::OfARun).iter().any(|binding| binding.action == action);
        (of_a_run && self.screen_place() == Place::Runs).then(|| "select a run first".to_owned())
    }

    /// Why an action is impossible for a run as it stands. Whatever is offered, and wherever, is decided here.
    #[must_use]
    pub fn why_not_of(&self, action: Action, run: &RunView) -> Option<String> {
        if let Some(why) = self.only_looks().filter(|_| is_order(action)) {
            return Some(why);
        }
        match action {
            Action::GoToPane | Action::GoToOtherPane => {
                let side = if action == Action::GoToPane { at_work(run) } else { at_work(run).other() };
                let view = if side == Role::Implementer { &run.implementer } else { &run.reviewer };
                no_pane(view.transport, &view.label, &view.place)
            }
            Action::Options => run.read_only.clone().or_else(|| may(run, "config").err()),
            Action::Rename => run.read_only.clone().or_else(|| may(run, "rename").err()),
            Action::More => may(run, "more").err(),
            Action::Write => may(run, "write").err(),
            Action::PauseOrGoOn if looks_again(run) => None,
            _ => control_of(action, run).and_then(|control| may(run, control.name()).err()),
        }
    }

    /// Whether what a banner offers can be done.
    #[must_use]
    pub fn offer_works(&self, run: &RunView, offer: &Offer) -> bool {
        let key = offer.key.parse().ok();
        let action = key.and_then(|key| Keymap::standard_action(Place::Run, key));
        action.is_none_or(|action| self.why_not_of(action, run).is_none())
    }

    /// Whether there is anything to copy on this screen.
    pub(super) fn can_copy(&self) -> bool {
        match self.screen() {
            Screen::Runs => self.target().is_some(),
            Screen::Sessions => self.session_target().is_some(),
            Screen::Run(_) | Screen::Session(_) => self.talk.text_in_view().is_some(),
            Screen::Log(_) => !self.log_lines().is_empty(),
        }
    }
}

/// The effect that sends a control of a record at the revision the person saw.
#[must_use]
pub fn send(target: &RecordKey, revision: u64, control: Control) -> Effect {
    let then = match control {
        Control::RunOn => Then::Open,
        Control::Confirm(_) => Then::Look,
        _ => Then::Say,
    };
    Effect::Send { command: Command::Control { target: target.clone(), expect: Some(revision), control }, then }
}

fn session_order(session: &SessionKey, control: SessionControl) -> Effect {
    Effect::Send { command: Command::Session { session: session.clone(), control }, then: Then::Say }
}

/// A text to copy: how it is offered, the text, and what it is.
fn rename_form(kind: FormKind, name: &str) -> Form {
    let mut form = Form::new(kind, "rename", vec![Field::line("name", "name", name), Field::button("save", "save")]);
    form.at = 0;
    form
}
