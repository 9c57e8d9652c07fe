//! A whole frame: which parts stand where at this size. Pure: the state and a buffer in, cells and wishes out.

mod bits;
mod compare;
mod dialogs;
mod empty;
mod footer;
mod form;
mod help;
mod log;
mod run;
mod runs;
mod sessions;
mod since;
mod wide;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::app::{App, Over, Screen};
use super::layout::{SHORT, SMALLEST, is_beside, too_small};
use super::paint::Painter;
use super::row::{Row, Rule, Span};
use super::theme::{Symbols, Theme, reduce};
use super::times::Times;
use super::width::{columns, width};

/// What a frame wants besides its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Where the terminal's cursor belongs; `None`: nowhere.
    pub cursor: Option<(u16, u16)>,
    /// When it will look different by itself.
    pub wake_at: Option<Timestamp>,
}

/// Draws the whole screen into `buffer`.
pub fn frame(app: &mut App, theme: &Theme, symbols: Symbols, buffer: &mut Buffer) -> Drawn {
    buffer.reset();
    let area = buffer.area;
    let times = app.times();
    let mut painter = Painter::new(buffer, theme);
    painter.sideways = app.talk.sideways;
    app.talk.search.needle().words().clone_into(&mut painter.needle);
    if too_small((area.width, area.height)) {
        let exact = format!("too small, needs {}×{}", SMALLEST.0, SMALLEST.1);
        let room = usize::from(area.width.saturating_sub(1));
        let words = [exact.as_str(), "too small"].into_iter().find(|words| width(words) <= room).unwrap_or("small");
        painter.row(Rect { height: area.height.min(1), ..area }, &Row::plain(words));
    } else {
        whole(app, &mut painter, area, &times);
        over_the_page(app, &mut painter, area);
    }
    let cursor = painter.cursor;
    app.hits = painter.hits;
    reduce(buffer, symbols);
    app.wake(&times);
    if let Some((_, _, since)) = &app.banner_seen {
        times.wake_at(*since + super::app::BANNER_GRACE);
    }
    Drawn { cursor, wake_at: times.next_change() }
}

fn whole(app: &mut App, painter: &mut Painter<'_>, area: Rect, times: &Times) {
    let is_wide = is_beside((area.width, area.height));
    let covers = dialog(app).is_some_and(|over| !matches!(over, Over::Line(_)));
    match (is_wide, covers) {
        (true, _) => wide::draw(app, painter, area, times, covers),
        (false, true) => dialogs::draw(app, painter, area, times),
        (false, false) => {
            let page = match app.screen().clone() {
                Screen::Runs => runs::page(app, area, times),
                Screen::Run(key) => run::page(app, &key, area, times),
                Screen::Sessions => sessions::list_page(app, area, times),
                Screen::Session(key) => sessions::page(app, &key, area, times),
                Screen::Log(_) => log::page(app, area, times),
            };
            page.paint(painter, area);
        }
    }
}

/// A question, and a line that is typed, on a short terminal: over the page, for nothing that takes every key may be out of
/// view. Where it does not fit its first rows are shown.
fn over_the_page(app: &App, painter: &mut Painter<'_>, area: Rect) {
    if area.height >= SHORT {
        return;
    }
    let most = usize::from(area.height);
    let rows = footer::instead(app, usize::from(area.width.saturating_sub(2)), most).unwrap_or_default();
    let height = columns(rows.len()).min(area.height);
    let place = Rect { y: area.bottom() - height, height, ..area };
    painter.blank(place);
    painter.rows(place, &rows);
}

/// The topmost thing over the screen that is no question.
fn dialog(app: &App) -> Option<&Over> {
    app.over.iter().rev().find(|over| !matches!(over, Over::Question(_)))
}

/// One column: header, body, footer, with rules between them.
#[derive(Debug, Default)]
struct Page {
    header: Vec<Row>,
    body: Vec<Row>,
    footer: Vec<Row>,
    /// A person is needed: the rules are double.
    double: bool,
    /// What stands in the rule above the footer.
    below: Vec<Span>,
    cursor: Option<(usize, usize)>,
}

impl Page {
    /// Rows that header, rules and footer leave to the body.
    fn room(header: usize, footer: usize, area: Rect) -> usize {
        let (header, footer) = Self::shrunk(header, footer, area.height);
        let rules = usize::from(header > 0) + usize::from(footer > 0);
        usize::from(area.height).saturating_sub(header + footer + rules)
    }

    /// On a short terminal the header gives way first, then the footer.
    fn shrunk(header: usize, footer: usize, height: u16) -> (usize, usize) {
        match height {
            ..8 => (header.min(1), 0),
            8..10 => (header.min(1), footer.min(1)),
            10..SHORT => (header.min(2), footer.min(1)),
            _ => (header, footer),
        }
    }

    fn paint(&self, painter: &mut Painter<'_>, area: Rect) {
        let (header, footer) = Self::shrunk(self.header.len(), self.footer.len(), area.height);
        let room = Self::room(self.header.len(), self.footer.len(), area);
        let rule = |double| Row::rule(if double { Rule::Double } else { Rule::Single });
        let mut rows: Vec<Row> = self.header.iter().take(header).cloned().collect();
        if header > 0 {
            rows.push(rule(self.double));
        }
        let body_at = rows.len();
        rows.extend(self.body.iter().take(room).cloned());
        rows.resize(body_at + room, Row::blank());
        if footer > 0 {
            rows.push(Row { body: self.below.clone(), ..rule(self.double) });
        }
        // On a short terminal the last footer line is the one that says how to get further.
        rows.extend(self.footer.iter().skip(self.footer.len() - footer).cloned());
        painter.rows(area, &rows);
        if let Some((row, column)) = self.cursor {
            painter.cursor = Some((area.x + columns(column), area.y + columns(body_at + row)));
        }
    }
}
