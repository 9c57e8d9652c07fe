//! Keys of what lies over a screen: form, editor, palette and pickers, help. Those of the preview are in `look`.

use serde_json::Value as Json;

use crate::model::command::{Command, Confirm, Control};
use crate::model::ids::RecordKey;
use crate::model::text::first_line;

use super::action::Action;
use super::app::{Answer, App, Effect, Over, Purpose, Question, Then, Writing};
use super::editor::Editor;
use super::form::{Field, Form, FormKind, Value};
use super::forms::{PAIR_REMEMBERED, REMEMBERED, START_ASK, order_of, pair_config, run_config, swap_sides};
use super::key::Key;
use super::keymap::{Binding, Place, Table};
use super::menu::{Choice, Menu, MenuItem};
use super::start_form;

/// The name under which words to a side that were not sent are remembered, by the id of their run.
pub const WRITTEN: &str = "written";

impl App {
    /// Keys of a form.
    pub fn form_key(&mut self, key: Key) -> Vec<Effect> {
        let Some(Over::Form(mut form)) = self.over.pop() else { return Vec::new() };
        let action = self.keymap.action(Place::Form, key);
        let typed = form.in_text() && key.typed().is_some();
        let mut effects = Vec::new();
        let mut stays = true;
        match action {
            _ if typed => {
                form.type_key(key);
            }
            Some(Action::NextPane) => form.move_by(1),
            Some(Action::PreviousPane) => form.move_by(-1),
            Some(Action::Back) => {
                effects.extend(remember(&form));
                stays = false;
            }
            Some(Action::Save) => effects.extend(self.submit(&mut form, false)),
            Some(Action::Swap) => {
                swap_sides(&mut form);
                form.chose_side = true;
            }
            Some(Action::Turn) => {
                form.turn(1);
            }
            Some(Action::Open) => match self.enter_field(&mut form) {
                Entered::Nothing => {}
                Entered::Do(more) => effects.extend(more),
                Entered::Over(over) => {
                    self.check_form(&mut form);
                    self.over.push(Over::Form(form));
                    self.over.push(*over);
                    return effects;
                }
            },
            Some(Action::Outside) => {
                if let Some(Field { value: Value::Prompt(words, _), .. }) = form.focused() {
                    effects.push(Effect::EditOutside(words.clone()));
                } else {
                    self.say("that opens a prompt in your editor: go to its field first", false);
                }
            }
            _ => {
                form.type_key(key);
            }
        }
        if stays {
            if !form.waits {
                self.check_form(&mut form);
            }
            self.over.push(Over::Form(form));
        }
        effects
    }

    fn enter_field(&self, form: &mut Form) -> Entered {
        let Some(field) = form.focused() else { return Entered::Nothing };
        let id = field.id;
        match &field.value {
            Value::Line(_) | Value::Tick(_) => {
                form.move_by(1);
                Entered::Nothing
            }
            Value::Choice { options, .. } if matches!(id, "implementer" | "reviewer") => {
                Entered::Over(Box::new(Over::Menu(Box::new(self.picker(form, id, options)))))
            }
            Value::Choice { .. } | Value::Fold(_) => {
                form.turn(1);
                Entered::Nothing
            }
            Value::Prompt(words, standard) => {
                let mut editor = Editor::new(standard);
                editor.replace(words);
                Entered::Over(Box::new(Over::Editor(Box::new(Writing {
                    editor,
                    purpose: Purpose::Prompt(id),
                    title: format!("prompt: {}", field.label),
                    waits: false,
                    problem: None,
                }))))
            }
            Value::Button => Entered::Do(self.submit(form, id == START_ASK)),
        }
    }

    /// The sessions that can be chosen for a side; where nothing is chosen, the first that is not the other side.
    fn picker(&self, form: &Form, id: &'static str, options: &[String]) -> Menu {
        let (title, other, does) = match id {
            "implementer" => ("who builds", form.chosen("reviewer"), "reviews"),
            _ => ("who reviews", form.chosen("implementer"), "builds"),
        };
        let item = |(at, words): (usize, &String)| {
            let side = form.sides.get(at);
            MenuItem {
                words: words.clone(),
                explains: side.map(|side| self.told_apart_by(side)).unwrap_or_default(),
                right: if other == Some(at) {
                    does.to_owned()
                } else {
                    side.map(|side| self.age_of(side)).unwrap_or_default()
                },
                impossible: None,
                choice: Choice::Field(id, at),
            }
        };
        let items: Vec<MenuItem> = (0..).zip(options).map(item).collect();
        let at = form.chosen(id).or_else(|| (0..items.len()).find(|at| other != Some(*at))).unwrap_or(0);
        let menu = Menu::new(title, items);
        Menu { older_from: form.older_from.max(at + 1), tells_each: true, does: "pick", at, ..menu }
    }

    /// What two sessions of one agent differ by for a person: what they are about, and where.
    fn told_apart_by(&self, side: &crate::model::ids::SessionRef) -> String {
        let title = self.session(&side.key()).map_or("", |view| &*view.title);
        [first_line(title).as_str(), side.worktree.as_str()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · ")
    }

    fn age_of(&self, side: &crate::model::ids::SessionRef) -> String {
        let at = self.session(&side.key()).and_then(|view| view.active_at);
        at.map(|at| self.times().ago_short(at)).unwrap_or_default()
    }

    /// Gives the form's order, unless something is wrong with it.
    fn submit(&self, form: &mut Form, ask_now: bool) -> Vec<Effect> {
        if form.waits {
            return Vec::new();
        }
        form.problem = None;
        self.check_form(form);
        if let Some(at) = form.fields.iter().position(|field| field.problem.is_some()) {
            form.at = at;
            return Vec::new();
        }
        let before = match &form.kind {
            FormKind::Options(key, _) => self.run(key),
            _ => None,
        };
        let Some(command) = order_of(form, before, ask_now) else { return Vec::new() };
        form.waits = true;
        let mut effects = vec![Effect::Send { command, then: Then::Form }];
        effects.extend(remember(form));
        effects
    }

    /// Opens an editor.
    pub fn begin_writing(&mut self, purpose: Purpose, title: impl Into<String>, text: &str) {
        let kept = match &purpose {
            Purpose::Write { run, .. } => {
                let kept = self.memory.get(WRITTEN).and_then(|written| written.get(run.as_str()));
                kept.and_then(Json::as_str).map(str::to_owned)
            }
            _ => None,
        };
        let mut editor = Editor::new(text);
        if let Some(kept) = kept {
            editor.replace(&kept);
        }
        let title = title.into();
        self.over.push(Over::Editor(Box::new(Writing { editor, purpose, title, waits: false, problem: None })));
    }

    /// Keys of an editor: what is bound acts, everything else is text.
    pub fn editor_key(&mut self, key: Key) -> Vec<Effect> {
        let action = self.keymap.action(Place::Editor, key);
        let Some(Over::Editor(writing)) = self.over.last_mut() else { return Vec::new() };
        if writing.waits && action != Some(Action::Back) {
            return Vec::new();
        }
        match action {
            Some(Action::Save) => return self.send_written(),
            Some(Action::Back) => return self.leave_editor(),
            Some(Action::Outside) => return vec![Effect::EditOutside(writing.editor.text())],
            Some(Action::Original) if writing.editor.is_changed() => {
                let words = "the original text again?  y yes · any other key no".to_owned();
                self.over.push(Over::Question(Question { words, key: Some(key), yes: Answer::Original }));
            }
            Some(Action::DeleteWord) => writing.editor.delete_word(),
            Some(Action::EmptyLine) => writing.editor.delete_to_start(),
            Some(Action::DeleteToEnd) => writing.editor.delete_to_end(),
            Some(Action::LineStart) => writing.editor.line_start(),
            Some(Action::LineEnd) => writing.editor.line_end(),
            _ => writing.editor.key(key),
        }
        Vec::new()
    }

    fn send_written(&mut self) -> Vec<Effect> {
        let Some(Over::Editor(writing)) = self.over.last_mut() else { return Vec::new() };
        let text = writing.editor.text();
        if text.trim().is_empty() && !matches!(writing.purpose, Purpose::Prompt(_)) {
            writing.problem = Some("write something first".to_owned());
            return Vec::new();
        }
        match writing.purpose.clone() {
            Purpose::Write { run, side, go_on } => {
                writing.waits = true;
                let kept = self.keep_written(&run, None);
                // A message is the person's own act and goes into whatever the run is now.
                let control = Control::Write { side, text, go_on };
                let command = Command::Control { target: run, expect: None, control };
                std::iter::once(Effect::Send { command, then: Then::Editor }).chain(kept).collect()
            }
            Purpose::Relay { run } => {
                let edited_text = writing.editor.is_changed().then_some(text);
                let Some(revision) = self.look_revision(&run) else {
                    if let Some(Over::Editor(writing)) = self.over.last_mut() {
                        writing.problem = Some("this relay is no longer waiting: Esc goes back".to_owned());
                    }
                    return Vec::new();
                };
                if let Some(Over::Editor(writing)) = self.over.last_mut() {
                    writing.waits = true;
                }
                let control = Control::Confirm(Confirm::Send { edited_text });
                let command = Command::Control { target: run, expect: Some(revision), control };
                vec![Effect::Send { command, then: Then::Editor }]
            }
            Purpose::Prompt(id) => {
                self.over.pop();
                self.set_prompt(id, text);
                Vec::new()
            }
        }
    }

    /// Keeps what was written to a side of a run and not sent, also for the next start; `None`: nothing is left of it.
    fn keep_written(&self, run: &RecordKey, text: Option<String>) -> Option<Effect> {
        let before = self.memory.get(WRITTEN).and_then(Json::as_object);
        let mut written = before.cloned().unwrap_or_default();
        // With its run goes what was written to it.
        written.retain(|id, _| id != run.as_str() && self.projection.runs.iter().any(|run| run.key.as_str() == id));
        written.extend(text.map(|text| (run.as_str().to_owned(), Json::String(text))));
        (before != Some(&written) && (before.is_some() || !written.is_empty()))
            .then(|| Effect::Remember(WRITTEN, Json::Object(written)))
    }

    fn set_prompt(&mut self, id: &str, text: String) {
        if let Some(Over::Form(form)) = self.over.last_mut()
            && let Some(Field { value: Value::Prompt(words, _), .. }) = form.field_mut(id)
        {
            *words = text;
        }
    }

    /// Out of the editor; what was written is kept where it belongs.
    fn leave_editor(&mut self) -> Vec<Effect> {
        let Some(Over::Editor(writing)) = self.over.pop() else { return Vec::new() };
        let text = writing.editor.text();
        match writing.purpose {
            Purpose::Prompt(id) => self.set_prompt(id, text),
            Purpose::Write { run, .. } => {
                let text = Some(text).filter(|text| !text.trim().is_empty());
                if text.is_some() {
                    self.say("what you wrote is kept", false);
                }
                return self.keep_written(&run, text).into_iter().collect();
            }
            Purpose::Relay { .. } => return self.keep_edit(text).into_iter().collect(),
        }
        Vec::new()
    }

    /// The text that came back from the person's own editor.
    pub fn edited(&mut self, text: &str) -> Vec<Effect> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        match self.over.last_mut() {
            Some(Over::Editor(writing)) => writing.editor.replace(text),
            Some(Over::Look(_)) => return self.keep_edit(text.to_owned()).into_iter().collect(),
            Some(Over::Form(form)) => {
                if let Some(Field { value: Value::Prompt(words, _), .. }) = form.fields.get_mut(form.at) {
                    text.clone_into(words);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// All actions by name, the impossible ones with their reason: of another screen's the reason is where it works.
    pub fn open_palette(&mut self) {
        let place = self.screen_place();
        let item = |binding: &Binding, impossible| MenuItem {
            words: binding.action.name().replace('-', " "),
            explains: binding.says.clone(),
            right: binding.keys.first().map(ToString::to_string).unwrap_or_default(),
            impossible,
            choice: Choice::Act(binding.action),
        };
        let here = self.keymap.bindings(place).filter(|binding| !matches!(binding.action, Action::Palette));
        let mut items: Vec<MenuItem> = here.map(|binding| item(binding, self.why_not(binding.action))).collect();
        for table in [Table::Runs, Table::OfARun, Table::Run, Table::Sessions, Table::Session, Table::Log] {
            for binding in self.keymap.table(table) {
                if !items.iter().any(|known| known.choice == Choice::Act(binding.action)) {
                    items.push(item(binding, Some(format!("it works {}", self.where_it_works(table)))));
                }
            }
        }
        let none = "nothing holds that; what is set once and for all, looks too, stands in config.toml, and trellis config \
                    init writes one";
        self.over.push(Over::Menu(Box::new(Menu { none, ..Menu::new("all actions", items) })));
    }

    /// Keys of the palette and the pickers.
    pub fn menu_key(&mut self, key: Key) -> Vec<Effect> {
        let action = self.keymap.action(Place::Palette, key);
        let Some(Over::Menu(menu)) = self.over.last_mut() else { return Vec::new() };
        match action {
            Some(Action::Down) => menu.move_by(1),
            Some(Action::Up) => menu.move_by(-1),
            Some(Action::EmptyLine) => menu.filter.clear(),
            Some(Action::Back) => {
                self.over.pop();
            }
            Some(Action::Open) => {
                let Some(item) = menu.selected().cloned() else { return Vec::new() };
                if let Some(why) = item.impossible {
                    self.refuse(why);
                    return Vec::new();
                }
                self.over.pop();
                return self.choose(item.choice);
            }
            _ if !menu.by_typing => match key.typed() {
                Some('j') => menu.move_by(1),
                Some('k') => menu.move_by(-1),
                _ => {}
            },
            _ => {
                menu.filter.key(key);
                menu.at = 0;
                menu.top = 0;
            }
        }
        Vec::new()
    }

    fn choose(&mut self, choice: Choice) -> Vec<Effect> {
        match choice {
            Choice::Act(action) => {
                let key = self.keymap.key(self.screen_place(), action);
                self.act(action, key)
            }
            Choice::Do(effects) => effects,
            Choice::Write(purpose, title) => {
                self.begin_writing(purpose, title, "");
                Vec::new()
            }
            Choice::Field(id, at) => {
                if let Some(Over::Form(mut form)) = self.over.pop() {
                    if let Some(Field { value: Value::Choice { at: chosen, .. }, .. }) = form.field_mut(id) {
                        *chosen = Some(at);
                    }
                    form.chose_side |= matches!(id, "implementer" | "reviewer");
                    self.check_form(&mut form);
                    // On to what is still to be picked, else to the start.
                    let open = ["implementer", "reviewer"]
                        .into_iter()
                        .find(|id| form.field(id).is_some_and(|field| field.problem.is_some()));
                    form.focus(open.unwrap_or("start"));
                    self.over.push(Over::Form(form));
                }
                Vec::new()
            }
        }
    }

    /// Keys of the help.
    pub fn help_key(&mut self, key: Key) -> Vec<Effect> {
        let action = self.keymap.action(Place::Help, key);
        let page = isize::try_from(self.size.1.saturating_sub(4)).unwrap_or(10).max(1);
        let Some(Over::Help(help)) = self.over.last_mut() else { return Vec::new() };
        if help.typing {
            match self.keymap.action(Place::Palette, key) {
                Some(Action::Open) => help.typing = false,
                Some(Action::Back) => {
                    help.typing = false;
                    help.filter.clear();
                }
                Some(Action::EmptyLine) => help.filter.clear(),
                _ => {
                    help.filter.key(key);
                    help.top = 0;
                }
            }
            return Vec::new();
        }
        match action {
            Some(Action::Search) => help.typing = true,
            Some(Action::Down) => help.top += 1,
            Some(Action::Up) => help.top = help.top.saturating_sub(1),
            Some(Action::PageDown) => help.top = help.top.saturating_add_signed(page),
            Some(Action::PageUp) => help.top = help.top.saturating_add_signed(-page),
            Some(Action::First) => help.top = 0,
            Some(Action::Last) => help.top = usize::MAX / 2,
            Some(Action::Back) => {
                self.over.pop();
            }
            _ => {}
        }
        Vec::new()
    }

    /// Pasted text is text where text is typed, and nothing anywhere else.
    pub fn paste(&mut self, words: &str) -> Vec<Effect> {
        // Terminals paste what ends a line as the Enter key sends it.
        let words = &words.replace("\r\n", "\n").replace('\r', "\n");
        match self.over.last_mut() {
            Some(Over::Editor(writing)) if !writing.waits => writing.editor.insert(words),
            Some(Over::Form(form)) => {
                if let Some(Field { value: Value::Line(line), .. }) = form.fields.get_mut(form.at) {
                    line.insert(words);
                }
                if let Some(Over::Form(mut form)) = self.over.pop() {
                    self.check_form(&mut form);
                    self.over.push(Over::Form(form));
                }
            }
            Some(Over::Menu(menu)) if menu.by_typing => menu.filter.insert(&first_line(words)),
            Some(Over::Line(line)) => line.insert(&first_line(words)),
            _ => {}
        }
        Vec::new()
    }
}

enum Entered {
    Nothing,
    Do(Vec<Effect>),
    Over(Box<Over>),
}

/// A new run's values are kept for the next time; its name and sides are not.
fn remember(form: &Form) -> Option<Effect> {
    let (name, kept) = match form.kind {
        FormKind::NewRun => {
            let mut config = run_config(form, false);
            config.name.clear();
            (REMEMBERED, serde_json::to_value(config))
        }
        FormKind::NewPair => (PAIR_REMEMBERED, serde_json::to_value(pair_config(form))),
        FormKind::StartAgent => return Some(start_form::remember(form)),
        _ => return None,
    };
    kept.ok().map(|value| Effect::Remember(name, value))
}
