//! Forms: fields, the focus, problems at their fields. Which fields a form has and what it orders is in `forms`.

use super::key::{Code, Key};
use super::line_edit::LineEdit;

use crate::model::ids::{RecordKey, SessionKey, SessionRef};

/// What a form is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// A new run.
    NewRun,
    /// A new pair without a run.
    NewPair,
    /// A new session.
    StartAgent,
    /// Settings of a record, as it was at a revision.
    Options(RecordKey, u64),
    /// More relays for a record, as it was at a revision.
    More(RecordKey, u64),
    /// Another name for a record.
    RenameRun(RecordKey, u64),
    /// Another name for a session.
    RenameSession(SessionKey),
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A line of text.
    Line(LineEdit),
    /// One of several.
    Choice {
        /// In words.
        options: Vec<String>,
        /// Which; none of them while nothing is chosen.
        at: Option<usize>,
    },
    /// Yes or no.
    Tick(bool),
    /// A text of several lines, and the one it began with.
    Prompt(String, String),
    /// Fields behind it that are shown when it is open.
    Fold(bool),
    /// Something to do.
    Button,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; that of the setting where it is one.
    pub id: &'static str,
    /// In front of it.
    pub label: &'static str,
    /// What it holds.
    pub value: Value,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// It stands on the line of the field before.
    pub joins: bool,
    /// It stands behind the fold, and is not shown while that is closed.
    pub folded: bool,
}

impl Field {
    /// A line of text.
    #[must_use]
    pub fn line(id: &'static str, label: &'static str, words: impl Into<String>) -> Self {
        Self::new(id, label, Value::Line(LineEdit::new(words)))
    }

    /// A choice.
    #[must_use]
    pub fn choice(id: &'static str, label: &'static str, options: Vec<String>, at: Option<usize>) -> Self {
        Self::new(id, label, Value::Choice { options, at })
    }

    /// A box to tick.
    #[must_use]
    pub fn tick(id: &'static str, label: &'static str, on: bool) -> Self {
        Self::new(id, label, Value::Tick(on))
    }

    /// A text of several lines.
    #[must_use]
    pub fn prompt(id: &'static str, label: &'static str, words: &str, standard: &str) -> Self {
        Self::new(id, label, Value::Prompt(words.to_owned(), standard.to_owned()))
    }

    /// A button.
    #[must_use]
    pub fn button(id: &'static str, label: &'static str) -> Self {
        Self::new(id, label, Value::Button)
    }

    const fn new(id: &'static str, label: &'static str, value: Value) -> Self {
        Self { id, label, value, problem: None, joins: false, folded: false }
    }

    /// A fold, closed.
    #[must_use]
    pub fn fold(id: &'static str, label: &'static str) -> Self {
        Self::new(id, label, Value::Fold(false))
    }

    /// Behind the fold.
    #[must_use]
    pub const fn behind_fold(mut self) -> Self {
        self.folded = true;
        self
    }

    /// On the line of the field before.
    #[must_use]
    pub const fn joined(mut self) -> Self {
        self.joins = true;
        self
    }
}

/// What a fact means for a run that is to go alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is well.
    Good,
    /// It may stop it.
    Bad,
    /// It is being looked at.
    Open,
}

/// An open form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// What it is for.
    pub kind: FormKind,
    /// Above it.
    pub title: String,
    /// At the right of the title.
    pub remark: String,
    /// Its fields in order; buttons last.
    pub fields: Vec<Field>,
    /// The focused one.
    pub at: usize,
    /// First line in view.
    pub top: usize,
    /// An order is on its way.
    pub waits: bool,
    /// What is wrong with no field of its own.
    pub problem: Option<String>,
    /// Sessions that can be chosen for a side.
    pub sides: Vec<SessionRef>,
    /// From here on they are older: found by typing.
    pub older_from: usize,
    /// The session it was opened for: it builds.
    pub builds: Option<SessionKey>,
    /// A person chose a side.
    pub chose_side: bool,
    /// What is known about whether it will work, in sentences.
    pub facts: Vec<(Sign, String)>,
    /// What starting does, in sentences.
    pub explains: String,
}

impl Form {
    /// With fields; the first button has the focus.
    #[must_use]
    pub fn new(kind: FormKind, title: impl Into<String>, fields: Vec<Field>) -> Self {
        let at = fields.iter().position(|field| field.value == Value::Button).unwrap_or(0);
        Self {
            kind,
            title: title.into(),
            remark: String::new(),
            fields,
            at,
            top: 0,
            waits: false,
            problem: None,
            sides: Vec::new(),
            older_from: usize::MAX,
            builds: None,
            chose_side: false,
            facts: Vec::new(),
            explains: String::new(),
        }
    }

    /// The focused field.
    #[must_use]
    pub fn focused(&self) -> Option<&Field> {
        self.fields.get(self.at)
    }

    /// A field by name.
    #[must_use]
    pub fn field(&self, id: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// A field by name, to change it.
    pub fn field_mut(&mut self, id: &str) -> Option<&mut Field> {
        self.fields.iter_mut().find(|field| field.id == id)
    }

    /// Puts the focus on a field.
    pub fn focus(&mut self, id: &str) {
        if let Some(at) = self.fields.iter().position(|field| field.id == id) {
            self.at = at;
        }
    }

    /// Whether sessions are chosen in it.
    #[must_use]
    pub const fn offers_sides(&self) -> bool {
        matches!(self.kind, FormKind::NewRun | FormKind::NewPair)
    }

    /// The next or previous field, around the end.
    pub fn move_by(&mut self, by: isize) {
        let count = self.fields.len().max(1);
        let step = if by < 0 { count - 1 } else { 1 };
        for _ in 0..count {
            self.at = (self.at + step) % count;
            if self.fields.get(self.at).is_some_and(|field| self.shows(field)) {
                break;
            }
        }
    }

    /// Whether a field is shown: not behind a closed fold, unless something is wrong with it.
    #[must_use]
    pub fn shows(&self, field: &Field) -> bool {
        let open = || self.fields.iter().any(|field| field.value == Value::Fold(true));
        !field.folded || field.problem.is_some() || open()
    }

    /// `3 standard`, `1 yours, 2 standard`: the prompts behind the fold.
    #[must_use]
    pub fn fold_words(&self) -> String {
        let prompts: Vec<bool> = self
            .fields
            .iter()
            .filter_map(|field| match &field.value {
                Value::Prompt(words, standard) => Some(words == standard),
                _ => None,
            })
            .collect();
        let standard = prompts.iter().filter(|is_standard| **is_standard).count();
        match prompts.len() - standard {
            0 => format!("{standard} standard"),
            own => format!("{own} yours, {standard} standard"),
        }
    }

    /// The text of a line or prompt.
    #[must_use]
    pub fn words(&self, id: &str) -> &str {
        match self.field(id).map(|field| &field.value) {
            Some(Value::Line(line)) => line.text().trim(),
            Some(Value::Prompt(words, _)) => words,
            _ => "",
        }
    }

    /// Whether a box is ticked.
    #[must_use]
    pub fn ticked(&self, id: &str) -> bool {
        matches!(self.field(id).map(|field| &field.value), Some(Value::Tick(true)))
    }

    /// Which option is chosen.
    #[must_use]
    pub fn chosen(&self, id: &str) -> Option<usize> {
        match self.field(id).map(|field| &field.value) {
            Some(Value::Choice { at, .. }) => *at,
            _ => None,
        }
    }

    /// The session chosen for a side.
    #[must_use]
    pub fn side(&self, id: &str) -> Option<&SessionRef> {
        self.chosen(id).and_then(|at| self.sides.get(at))
    }

    /// A whole number of a line.
    #[must_use]
    pub fn number(&self, id: &str) -> Option<u32> {
        self.words(id).parse().ok()
    }

    /// Turns a choice or ticks a box; false for other fields.
    pub fn turn(&mut self, by: isize) -> bool {
        match self.fields.get_mut(self.at).map(|field| &mut field.value) {
            Some(Value::Choice { options, at }) if !options.is_empty() => {
                let count = options.len();
                *at = Some(match (*at, by < 0) {
                    (None, _) => 0,
                    (Some(at), true) => (at + count - 1) % count,
                    (Some(at), false) => (at + 1) % count,
                });
                true
            }
            Some(Value::Tick(on) | Value::Fold(on)) => {
                *on = !*on;
                true
            }
            _ => false,
        }
    }

    /// Takes a key as text where the focus is in a line, or as a turn of a choice; false when it means nothing to the field.
    pub fn type_key(&mut self, key: Key) -> bool {
        match self.fields.get_mut(self.at).map(|field| &mut field.value) {
            Some(Value::Line(line)) => line.key(key),
            Some(Value::Choice { .. }) => match key.code {
                Code::Right if !key.ctrl => self.turn(1),
                Code::Left if !key.ctrl => self.turn(-1),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the focus is in a line of text.
    #[must_use]
    pub fn in_text(&self) -> bool {
        matches!(self.focused().map(|field| &field.value), Some(Value::Line(_)))
    }

    /// Whether something is wrong.
    #[must_use]
    pub fn has_problem(&self) -> bool {
        self.fields.iter().any(|field| field.problem.is_some())
    }
}
