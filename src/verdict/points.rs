//! The points of a reviewer's answer, and which of them repeat (`dashboard.md` §3). A hint for people; decides nothing.

use std::collections::BTreeSet;

use super::lines::{self, Kind, Line};
use super::words::{Signal, folded, is_blank};

/// The points of an answer: its top-level list items, or without a list its paragraphs. Code and quotes are no points,
/// nor is a line that gives the verdict (`signal`, or what comes near it) or only leads to what follows.
#[must_use]
pub fn points(answer: &str, signal: &str) -> Vec<String> {
    located(answer, signal).into_iter().map(|point| point.text).collect()
}

/// A point and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The line of the answer at which it begins, from 0.
    pub line: usize,
    /// Its words, without the marker of a list.
    pub text: String,
}

/// The points of an answer with the lines at which they begin. An answer that gives the signal has none.
#[must_use]
pub fn located(answer: &str, signal: &str) -> Vec<Point> {
    if super::stop_signal(answer, signal).is_match() {
        return Vec::new();
    }
    let lines = lines::scan(answer);
    let mut points = if lines.iter().any(|line| line.top_item) { items(&lines) } else { paragraphs(&lines) };
    let signal = (!is_blank(signal)).then(|| Signal::new(signal));
    points.retain(|point| {
        let is_verdict = |signal: &Signal| signal.equals(&point.text) || signal.nearly(&point.text);
        !signal.as_ref().is_some_and(|signal| !point.text.contains('\n') && is_verdict(signal))
    });
    points
}

/// For each point, whether it repeats one of `earlier` (points of earlier answers of the same side).
#[must_use]
pub fn repeats(points: &[String], earlier: &[String]) -> Vec<bool> {
    let earlier: Vec<BTreeSet<String>> = earlier.iter().map(|point| words(point)).collect();
    points
        .iter()
        .map(|point| {
            let words = words(point);
            // Equal ones share all of their words; so 80 % shared covers both halves of the rule.
            !words.is_empty() && earlier.iter().any(|before| words.intersection(before).count() * 5 >= words.len() * 4)
        })
        .collect()
}

/// For each point, which of the earlier answers named it first, from 1; `None`: it is new.
#[must_use]
pub fn first_named(points: &[String], earlier: &[Vec<String>]) -> Vec<Option<u32>> {
    let mut first = vec![None; points.len()];
    for (answer, before) in (1..).zip(earlier) {
        for (since, repeats) in first.iter_mut().zip(repeats(points, before)) {
            if repeats && since.is_none() {
                *since = Some(answer);
            }
        }
    }
    first
}

/// The words of a point without case, numbers and punctuation.
fn words(point: &str) -> BTreeSet<String> {
    folded(point).split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Items with what belongs to them: lines indented below, and lines that go on without a blank line.
fn items(lines: &[Line<'_>]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut open = false;
    let mut after_blank = false;
    for line in lines {
        match line.kind {
            Kind::Blank => after_blank = true,
            Kind::Text | Kind::Lazy if line.top_item => {
                points.push(Point { line: line.number.saturating_sub(1), text: without_marker(line.text).to_owned() });
                (open, after_blank) = (true, false);
            }
            Kind::Text | Kind::Lazy => {
                open = open && (line.in_item || !after_blank);
                after_blank = false;
                if let (true, Some(point)) = (open, points.last_mut()) {
                    point.text.push('\n');
                    point.text.push_str(line.text.trim());
                }
            }
            Kind::Heading | Kind::Rule => open = false,
            Kind::Code | Kind::Quote => after_blank = false,
        }
    }
    points.retain(|point| !point.text.trim().is_empty());
    points
}

/// A paragraph that ends with a colon says that something comes, not what.
fn paragraphs(lines: &[Line<'_>]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut open = false;
    for line in lines {
        if !matches!(line.kind, Kind::Text | Kind::Lazy) {
            open = false;
            continue;
        }
        match points.last_mut() {
            Some(point) if open => {
                point.text.push('\n');
                point.text.push_str(line.text.trim());
            }
            _ => points.push(Point { line: line.number.saturating_sub(1), text: line.text.trim().to_owned() }),
        }
        open = true;
    }
    points.retain(|point| !point.text.ends_with(':'));
    points
}

/// An item's first line without `- ` or `12. `.
fn without_marker(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['-', '*', '+', '.', ')']).unwrap_or(rest).trim()
}

#[cfg(test)]
#[path = "points_tests.rs"]
mod tests;
