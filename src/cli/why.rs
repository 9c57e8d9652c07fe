//! `trellis why`: decision by decision, what was decided and on which record, time or key; and of what is waited for now
//! the deadline and the one thing that ends it. As a table of any width, or as JSON. Reads and drives nothing itself.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{Failure, out};
use crate::boot::{Engine, Ground};
use crate::clock;
use crate::machine::{By, Wait};
use crate::model::event::{Decision, Ground as On};
use crate::model::tempo::Tempo;
use crate::projection::{DriverFact, Offer, RunView, words};
use crate::ui::row::{Span, Tone};
use crate::ui::width::pad;
use crate::ui::wrap::wrap;

/// From so many columns on what was decided and its ground stand side by side.
const BESIDE: usize = 100;
/// Columns where the output is no terminal.
const PAPER: usize = 100;
/// Columns of a time.
const CLOCK: usize = 8;

/// What is told of one run.
#[derive(Debug, Serialize)]
struct Told<'a> {
    run: &'a str,
    name: &'a str,
    state: &'a str,
    sentence: &'a str,
    /// Its record is none of this trellis's, or damaged: the sentence says what a person can do.
    #[serde(skip)]
    only_shown: bool,
    /// Whether a process drives: without one nothing goes on.
    driven: bool,
    /// What is waited for; nothing in a run that has ended.
    wait: Option<Waiting<'a>>,
    /// Oldest first, as far as the log goes back.
    decisions: Vec<Decision>,
}

/// A wait, with what a person can order in it.
#[derive(Debug, Serialize)]
struct Waiting<'a> {
    #[serde(flatten)]
    wait: &'a Wait,
    offers: &'a [Offer],
}

/// Tells it.
///
/// # Errors
/// There is no such run, or the home cannot be read.
pub fn why(home: Option<&Path>, run: &str, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let log = ground.decisions();
    let engine = Engine::watch(ground, Tempo::REAL)?;
    let looked = engine.block_on(engine.looked());
    let finished = engine.finish();
    let projection = looked?;
    let view = Engine::named(&projection, run)?;
    let told = told(view, &projection.driver, log);
    if json {
        out::json(&told)?;
    } else {
        let columns = crossterm::terminal::size().map_or(PAPER, |(columns, _)| usize::from(columns));
        out::text(&table(&told, columns, clock::now(), &TimeZone::system()))?;
    }
    finished
}

fn told<'a>(view: &'a RunView, driver: &DriverFact, log: Vec<Decision>) -> Told<'a> {
    let is_over = view.stopped_at.is_some() || view.read_only.is_some();
    let offers = view.banner.as_ref().map_or(&[][..], |banner| &banner.offers);
    Told {
        run: view.key.as_str(),
        name: &view.name,
        state: &view.state_word,
        sentence: &view.sentence,
        only_shown: view.read_only.is_some(),
        driven: matches!(driver, DriverFact::Elsewhere { .. }),
        wait: (!is_over).then_some(Waiting { wait: &view.wait, offers }),
        decisions: log.into_iter().filter(|line| line.decided && line.is_of(&view.key)).collect(),
    }
}

/// For people, at most `columns` wide.
fn table(told: &Told<'_>, columns: usize, now: Timestamp, zone: &TimeZone) -> String {
    let mut page = Page { columns: columns.max(20), lines: Vec::new() };
    page.say(0, &format!("{}  {}, {}", told.run, told.name, told.state));
    page.say(0, "");
    page.decisions(&told.decisions, zone);
    if let Some(waiting) = &told.wait {
        page.say(0, "");
        page.wait(waiting, told.driven, now, zone);
    } else if told.only_shown {
        page.say(0, "");
        page.say(0, &format!("now: {}", told.sentence));
    }
    let mut text = String::new();
    for line in &page.lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The lines of a table.
struct Page {
    columns: usize,
    lines: Vec<String>,
}

impl Page {
    /// Words behind an indent, in as many lines as they need.
    fn say(&mut self, indent: usize, words: &str) {
        let room = self.columns.saturating_sub(indent);
        self.lines.extend(lines(words, room).into_iter().map(|line| format!("{}{line}", " ".repeat(indent))));
    }

    fn decisions(&mut self, decisions: &[Decision], zone: &TimeZone) {
        if decisions.is_empty() {
            self.say(0, "nothing is noted of it: the log of decisions does not go back so far");
        }
        let mut day = String::new();
        for decision in decisions {
            let at = zone.to_datetime(decision.at);
            let today = at.strftime("%Y-%m-%d").to_string();
            if today != day {
                self.say(0, &today);
                day = today;
            }
            self.decision(&at.strftime("%H:%M:%S").to_string(), decision);
        }
    }

    fn decision(&mut self, clock: &str, decision: &Decision) {
        let ground = ground(decision);
        if self.columns < BESIDE {
            let head = format!("{clock} {}", decision.what);
            self.say(0, &head);
            return self.say(2, &format!("on {ground}"));
        }
        let room = self.columns - CLOCK - 2;
        let (left, right) = (room * 2 / 5, room - room * 2 / 5 - 2);
        let (what, on) = (lines(&decision.what, left), lines(&ground, right));
        for at in 0..what.len().max(on.len()) {
            let cell = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
            let clock = if at == 0 { clock } else { "" };
            self.lines.push(format!("{}  {}  {}", pad(clock, CLOCK), pad(&cell(&what), left), cell(&on)));
        }
    }

    fn wait(&mut self, waiting: &Waiting<'_>, driven: bool, now: Timestamp, zone: &TimeZone) {
        let wait = waiting.wait;
        let colon = if wait.who.is_empty() || wait.what.is_empty() { "" } else { ": " };
        self.say(0, &format!("now: {}{colon}{}", wait.who, wait.what));
        let moment = |at: Timestamp| words::moment(at, now, zone);
        if let Some(since) = wait.since {
            self.say(2, &format!("since {}, {}", moment(since), words::span(now.duration_since(since))));
        }
        if !wait.ends.is_empty() {
            self.say(2, &format!("{}; {}", wait.ends, place(wait.by)));
        }
        self.say(
            2,
            &match (wait.deadline, wait.asks_at) {
                (Some(at), _) => format!("deadline {}: it goes on by itself", moment(at)),
                (None, Some(at)) => format!("deadline {}: without it you are asked", moment(at)),
                (None, None) => "no deadline".to_owned(),
            },
        );
        for offer in waiting.offers {
            self.say(2, &format!("{} {}: {}", offer.key, offer.word, offer.what));
        }
        if !driven {
            self.say(2, "nobody drives this home: trellis, or trellis drive, goes on");
        }
    }
}

/// The ground of a decision, with the file where it is a record's.
fn ground(decision: &Decision) -> String {
    match &decision.ground {
        Some(On::Record { file, offset, .. }) if !file.is_empty() => {
            let byte = format!("byte {offset}");
            let offset = if decision.evidence.contains(&byte) { String::new() } else { format!(", {byte}") };
            format!("{}{offset} of {file}", decision.evidence)
        }
        _ if decision.evidence.is_empty() => "nothing that was noted".to_owned(),
        _ => decision.evidence.clone(),
    }
}

/// Where the one thing happens that ends a wait.
const fn place(by: By) -> &'static str {
    match by {
        By::Nothing => "nothing is waited for",
        By::Itself => "the next look does it",
        By::Transcript => "a record in its transcript does it",
        By::Timer => "the clock does it",
        By::Pane => "you do it in its pane",
        By::Key => "a key or an order of yours does it",
    }
}

/// Words in lines of at most so many columns; nothing of them can move a cursor.
fn lines(words: &str, columns: usize) -> Vec<String> {
    let rows = wrap(&[Span::new(Tone::Text, words)], columns.max(1), &[]);
    rows.iter().map(crate::ui::row::Row::words).collect()
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;
