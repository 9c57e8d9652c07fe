//! What the lists say while nothing stands in them: what is missing and how to begin, without tmux too. No other words.

use crate::ui::app::{App, Tmux};
use crate::ui::order::Unlisted;
use crate::ui::row::{Row, Tone};
use crate::ui::wrap::wrap_text;

/// Before anything was looked at nothing is known to be missing.
const LOOKING: &str = "Looks for runs and sessions.";

/// What the list of runs says.
pub fn runs(app: &App, columns: usize) -> Vec<Row> {
    let words = if !app.runs_filter.text().is_empty() {
        format!("No run holds \"{}\".\nEsc shows all of them again.", app.runs_filter.text())
    } else if app.projection.at.is_none() {
        LOOKING.to_owned()
    } else if app.projection.sessions.is_empty() {
        let begin = match app.nearby.tmux {
            Tmux::Inside | Tmux::Unneeded => {
                "Start one of each, best in two panes of a tmux window, and give each a first message: then they appear under 2 sessions.\n\nThen n makes a run: one builds, the other reviews, trellis carries the messages."
            }
            Tmux::Outside => {
                "This is no tmux pane. Best start tmux, then claude, codex and trellis in three panes of it, and press n.\n\nWithout panes: start both anywhere; what can't be typed, you paste. Or trellis runs them headless: S under 2 sessions starts one."
            }
            Tmux::Missing => {
                "tmux is not installed, so nothing can be typed for you. Best install it, then start all three in panes of it.\n\nWithout it: start both anywhere; what can't be typed, you paste. Or trellis runs them headless: S under 2 sessions starts one."
            }
        };
        format!(
            "No run yet, and no session of Claude Code or Codex was found.\n\n{begin}\n\ntrellis demo shows it all with scripted agents."
        )
    } else {
        "No run yet.\n\nn makes one: a session builds, another reviews, trellis carries the messages between them until the reviewer says that it is good.\n\n2 shows the sessions that were found. One that is open and not there needs a first message.".to_owned()
    };
    let mut rows = said(&words, columns);
    rows.extend(notices(app, columns));
    rows
}

/// What the list of sessions says while it is empty.
pub fn sessions(app: &App, columns: usize, unlisted: Unlisted) -> Vec<Row> {
    let Unlisted { older, hidden, put_away } = unlisted;
    let words = if app.projection.at.is_none() {
        LOOKING.to_owned()
    } else if hidden + put_away > 0 {
        format!(
            "No session is listed: {} older, {hidden} hidden, {put_away} put away.\n. shows them.",
            thousands(older)
        )
    } else if older > 0 {
        format!(
            "No session was active in the last 7 days.\n{} older ones: . shows them, / searches them.",
            thousands(older)
        )
    } else if !app.sessions_filter.text().trim().is_empty() && !app.projection.sessions.is_empty() {
        format!("No session holds \"{}\".\nEsc shows all of them again.", app.sessions_filter.text())
    } else {
        let begin = match app.nearby.tmux {
            Tmux::Inside | Tmux::Unneeded => {
                "S starts one here. One that you start yourself, best in a tmux pane, appears with its first message."
            }
            Tmux::Outside => {
                "S starts one here. One that you start yourself, best in a tmux pane, though this is none, appears with its first message.\n\ntrellis types into panes; to a claude elsewhere you paste each message."
            }
            Tmux::Missing => {
                "S starts one here, headless. One that you start yourself appears with its first message.\n\ntrellis types into tmux panes, and tmux is not installed: to a claude elsewhere you paste each message."
            }
        };
        format!("No session of Claude Code or Codex was found.\n\n{begin}")
    };
    said(&words, columns)
}

fn said(words: &str, columns: usize) -> Vec<Row> {
    let mut rows = vec![Row::blank()];
    rows.extend(wrap_text(words, Tone::Text, columns));
    rows
}

fn notices(app: &App, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for notice in app.projection.notices.iter().rev().take(3) {
        rows.push(Row::blank());
        let tone = if notice.is_error { Tone::Failed } else { Tone::Text };
        rows.extend(wrap_text(&notice.text, tone, columns));
    }
    rows
}

/// `2941` as `2,941`.
pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let first = digits.len() % 3;
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
