//! One line of the screen before it has a place: spans with tones, a right-hand part, what a click on it means.
//! Knows no colour and no position; `paint` gives it both.

use super::key::Key;
use super::sanitise::clean_line;
use super::width::width;

/// What a piece of text is, as far as its looks go. The theme gives it a style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tone {
    /// Everything without a role of its own; an agent's text always.
    #[default]
    Text,
    /// A person is needed.
    NeedsYou,
    /// It goes, it holds, it was added.
    Going,
    /// At a limit, or paused.
    Held,
    /// A line about a message of trellis.
    Relay,
    /// Names, headings, the step it is at.
    Strong,
    /// Emphasis inside text.
    Emphasis,
    /// Code inside text.
    Code,
    /// A line that was added in a diff.
    Added,
    /// A line that was removed in a diff.
    Removed,
    /// A key that can be pressed.
    Key,
    /// A field that is being filled in.
    Field,
    /// Something does not work.
    Failed,
    /// The name of what cannot be done now; its reason stands beside it in ordinary text.
    Impossible,
}

/// A piece of harmless text in one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    text: String,
    tone: Tone,
    hit: Option<Hit>,
}

impl Span {
    /// Makes it; the text is cleaned here and nowhere else.
    #[must_use]
    pub fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        Self { text: clean_line(text.as_ref()).into_owned(), tone, hit: None }
    }

    /// With a meaning for a click.
    #[must_use]
    pub fn hits(mut self, hit: Hit) -> Self {
        self.hit = Some(hit);
        self
    }

    /// What a click on it means.
    #[must_use]
    pub const fn hit(&self) -> Option<&Hit> {
        self.hit.as_ref()
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tone.
    #[must_use]
    pub const fn tone(&self) -> Tone {
        self.tone
    }

    /// Its columns.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.text)
    }
}

/// A span in the tone of ordinary text.
#[must_use]
pub fn text(text: impl AsRef<str>) -> Span {
    Span::new(Tone::Text, text)
}

/// A span in a tone.
#[must_use]
pub fn toned(tone: Tone, text: impl AsRef<str>) -> Span {
    Span::new(tone, text)
}

/// Columns of some spans.
#[must_use]
pub fn spans_width(spans: &[Span]) -> usize {
    spans.iter().map(Span::width).sum()
}

/// A horizontal rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Parts things.
    Single,
    /// Says that a person is needed.
    Double,
}

/// What a click means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Select this item of the list in this pane.
    Select(usize),
    /// Select this item of the open menu.
    Pick(usize),
    /// As if this key had been pressed.
    Press(Key),
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Stands still when the body is scrolled sideways.
    pub lead: Vec<Span>,
    /// The line itself.
    pub body: Vec<Span>,
    /// At the right edge.
    pub tail: Vec<Span>,
    /// The body is kept verbatim and may be scrolled sideways.
    pub slides: bool,
    /// The cursor stands here, and its list has the focus.
    pub selected: bool,
    /// The cursor stands here, and its list does not have the focus.
    pub marked: bool,
    /// Which of the matches in it, from 0, is the one that a search stands at.
    pub found: Option<usize>,
    /// A rule instead of text; a body becomes its label.
    pub rule: Option<Rule>,
    /// What a click on it means.
    pub hit: Option<Hit>,
}

impl Row {
    /// A line of spans.
    #[must_use]
    pub fn of(body: impl Into<Vec<Span>>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// A line of ordinary text.
    #[must_use]
    pub fn plain(line: impl AsRef<str>) -> Self {
        Self::of(vec![text(line)])
    }

    /// An empty line.
    #[must_use]
    pub fn blank() -> Self {
        Self::default()
    }

    /// A rule.
    #[must_use]
    pub fn rule(rule: Rule) -> Self {
        Self { rule: Some(rule), ..Self::default() }
    }

    /// With a right-hand part.
    #[must_use]
    pub fn tail(mut self, tail: impl Into<Vec<Span>>) -> Self {
        self.tail = tail.into();
        self
    }

    /// With blanks in front.
    #[must_use]
    pub fn indent(mut self, columns: usize) -> Self {
        if columns > 0 {
            self.lead.insert(0, text(" ".repeat(columns)));
        }
        self
    }

    /// With or without the cursor.
    #[must_use]
    pub fn selected(mut self, selected: bool) -> Self {
        self.selected = selected;
        self
    }

    /// With a meaning for a click.
    #[must_use]
    pub fn hit(mut self, hit: Hit) -> Self {
        self.hit = Some(hit);
        self
    }

    /// Its text without looks, for searching and copying.
    #[must_use]
    pub fn words(&self) -> String {
        self.lead.iter().chain(&self.body).chain(&self.tail).map(Span::text).collect()
    }
}
