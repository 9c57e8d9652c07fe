//! The rules for stop signal, near miss and completion signal (`loops.md` §4.3). Pure: text in, verdict with its reason out.
//! What a verdict leads to is the machines' business.

mod lines;
pub mod points;
mod words;

use std::fmt;

use lines::{Kind, Line};
use words::Signal;

/// What a rule says of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The signal was given.
    Match {
        /// The line, trimmed, at most 200 characters.
        line: String,
        /// Its number, from 1.
        number: usize,
        /// Why, in a sentence.
        why: String,
    },
    /// It may have been meant: somebody has to be asked.
    NearMiss {
        /// The line, trimmed, at most 200 characters.
        line: String,
        /// Its number, from 1.
        number: usize,
        /// Why, in a sentence.
        why: String,
    },
    /// It was not given.
    None {
        /// Why, in a sentence.
        why: String,
    },
}

impl Verdict {
    /// `match`, `near_miss` or `none`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Match { .. } => "match",
            Self::NearMiss { .. } => "near_miss",
            Self::None { .. } => "none",
        }
    }

    /// The reason, in a sentence.
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Match { why, .. } | Self::NearMiss { why, .. } | Self::None { why } => why,
        }
    }

    /// Whether it is a match.
    #[must_use]
    pub const fn is_match(&self) -> bool {
        matches!(self, Self::Match { .. })
    }

    fn none(why: impl Into<String>) -> Self {
        Self::None { why: why.into() }
    }

    fn near_miss(line: &Line<'_>, why: &str) -> Self {
        let text = line.text.trim();
        let why = format!("line {}, `{}`, {why}", line.number, shortened(text));
        Self::NearMiss { line: kept(text), number: line.number, why }
    }
}

/// Why a text cannot be a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalProblem {
    /// Nothing that can be seen.
    Blank,
    /// It does not fit on a line.
    SeveralLines,
    /// No answer could ever be read as it (it is a block quote, for instance).
    NeverMatches,
}

impl fmt::Display for SignalProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blank => "the signal is blank; give a word that says that all is well",
            Self::SeveralLines => "the signal has more than one line; give a word or two",
            Self::NeverMatches => "an answer with this signal alone would not count; give a plain word",
        })
    }
}

impl std::error::Error for SignalProblem {}

/// Whether `signal` can be a stop or completion signal.
///
/// # Errors
/// It is blank, has several lines, or would not be recognised in an answer that holds nothing else.
pub fn check_signal(signal: &str) -> Result<(), SignalProblem> {
    if words::is_blank(signal) {
        return Err(SignalProblem::Blank);
    }
    if signal.trim().contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']) {
        return Err(SignalProblem::SeveralLines);
    }
    if stop_signal(signal.trim(), signal).is_match() { Ok(()) } else { Err(SignalProblem::NeverMatches) }
}

/// Whether a reviewer's answer approves.
///
/// A match must be undoubted: a place where the word may be meant otherwise makes a near miss.
#[must_use]
pub fn stop_signal(answer: &str, signal: &str) -> Verdict {
    if words::is_blank(signal) {
        return Verdict::none("the signal is blank, and a blank signal is never given");
    }
    if words::is_blank(answer) {
        return Verdict::none("the answer is empty");
    }
    let signal = Signal::new(signal);
    let lines = lines::scan(answer);
    let first = lines.iter().position(|line| line.kind != Kind::Blank);
    let last = lines.iter().rposition(|line| line.kind != Kind::Blank);

    // The last match is the one to judge: what takes it back can only stand after it.
    let mut out_of_place = None;
    for (at, line) in lines.iter().enumerate().rev() {
        if !line.counts() || !signal.equals(line.text) {
            continue;
        }
        match placed(&lines, at, first, last) {
            Ok(place) => return judged(&lines, at, place),
            Err(why) => out_of_place = out_of_place.or(Some((line, why))),
        }
    }
    if let Some((line, why)) = out_of_place {
        return Verdict::near_miss(line, why);
    }
    nearly(&lines, &signal)
}

/// Whether an implementer's answer says that no phase is left.
#[must_use]
pub fn completion_signal(answer: &str, signal: &str) -> Verdict {
    if words::is_blank(signal) {
        return Verdict::none("the signal is blank, and a blank signal is never given");
    }
    let mut full = answer.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((at, line)) = full.next() else { return Verdict::none("the answer is empty") };
    let more = full.count();
    if more > 0 {
        return Verdict::none(format!("the answer has {} lines with text; the signal must be the only one", more + 1));
    }
    let line = line.trim();
    if Signal::new(signal).equals(line) {
        let why = format!("the only line with text, `{}`, is the signal", shortened(line));
        Verdict::Match { line: kept(line), number: at + 1, why }
    } else {
        Verdict::none(format!("the only line with text, `{}`, is not the signal", shortened(line)))
    }
}

/// Where an equal line stands, or why that place does not do.
fn placed(
    lines: &[Line<'_>],
    at: usize,
    first: Option<usize>,
    last: Option<usize>,
) -> Result<&'static str, &'static str> {
    let Some(line) = lines.get(at) else { return Err("is not there") };
    if line.kind == Kind::Lazy {
        return Err("is the signal, but right under a block quote, where it may be part of it");
    }
    if line.in_item {
        return Err("is the signal, but inside a list item, where it may speak of that item only");
    }
    if first == Some(at) {
        return Ok("the first line");
    }
    if last == Some(at) {
        return Ok("the last line");
    }
    let before = at.checked_sub(1).and_then(|before| lines.get(before)).is_none_or(Line::ends_paragraph_below);
    let after = lines.get(at + 1).is_none_or(Line::ends_paragraph_above);
    if before && after {
        Ok("a paragraph of its own")
    } else {
        Err("is the signal, but neither the first or last line nor a paragraph of its own")
    }
}

/// A match, unless what follows takes it back.
fn judged(lines: &[Line<'_>], at: usize, place: &'static str) -> Verdict {
    let Some(line) = lines.get(at) else { return Verdict::none("the line is not there") };
    let mut starts = true;
    for next in lines.iter().skip(at + 1) {
        if next.counts() {
            if starts && words::takes_back(next.text) {
                let why = format!("is the signal, but line {} takes something back", next.number);
                return Verdict::near_miss(line, &why);
            }
            starts = next.ends_paragraph_below();
        } else {
            starts = true;
        }
    }
    let text = line.text.trim();
    let why = format!("line {}, `{}`, is the signal and {place}", line.number, shortened(text));
    Verdict::Match { line: kept(text), number: line.number, why }
}

/// No line equals the signal: whether one comes near.
fn nearly(lines: &[Line<'_>], signal: &Signal) -> Verdict {
    for line in lines.iter().rev().filter(|line| line.counts()) {
        // A person sees these as line ends; the rule does not (lines end at `\n` only).
        let breaks = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}', '\r'];
        if line.text.contains(breaks) && line.text.split(breaks).any(|part| signal.equals(part)) {
            return Verdict::near_miss(line, "holds the signal behind a character that is no line end");
        }
        if signal.nearly(line.text) {
            return Verdict::near_miss(line, "is short and holds the signal among other words");
        }
    }
    let hidden = lines.iter().any(|line| matches!(line.kind, Kind::Code | Kind::Quote) && signal.stands_in(line.text));
    if hidden {
        return Verdict::none("the signal stands in code or in a block quote only");
    }
    if lines.iter().any(|line| line.counts() && signal.stands_in(line.text)) {
        return Verdict::none("the signal is named in a sentence, not given");
    }
    Verdict::none("no line is the signal or comes near it")
}

/// A line as a record may keep it: an endless one must not blow the record up.
fn kept(line: &str) -> String {
    line.chars().take(200).collect()
}

/// A line for a sentence: its first 60 characters.
fn shortened(line: &str) -> String {
    let mut text: String = line.chars().take(60).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
