//! Adding and removing entries in a JSON text of hooks (`{"hooks": {event: [{"hooks": [{"command": …}]}]}}`) by cutting and
//! pasting at the places where its values stand: every other byte stays as it is. Reads and writes no file.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Why a text is not edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is no JSON.
    #[error("line {line} is no valid JSON ({why}); correct it first")]
    NoJson {
        /// Which line, from 1.
        line: usize,
        /// What the parser says.
        why: String,
    },
    /// It is JSON of another shape.
    #[error("{0}")]
    Shape(String),
}

/// The members of an object in order, with their places.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

/// An object or a list inside a text: where it stands, and where its values do.
struct Inside {
    /// From its opening to behind its closing bracket.
    whole: Range<usize>,
    /// Its values, with their keys (of a list: none).
    values: Vec<(String, Range<usize>)>,
}

fn problem(error: &serde_json::Error) -> Problem {
    Problem::NoJson { line: error.line().max(1), why: error.to_string() }
}

/// Where a value that was parsed out of `text` stands in it.
fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    start..start + value.get().len()
}

fn cut(text: &str, range: &Range<usize>) -> Result<String, Problem> {
    text.get(range.clone())
        .map(str::to_owned)
        .ok_or_else(|| Problem::Shape("it holds a value without a place".to_owned()))
}

fn inside(text: &str, range: Range<usize>, what: &str) -> Result<Inside, Problem> {
    let part = text.get(range.clone()).unwrap_or_default();
    let shape = || Problem::Shape(format!("{what} has another shape than the agent's own; it is left as it is"));
    let at = |value: &RawValue| {
        let inner = place(part, value);
        range.start + inner.start..range.start + inner.end
    };
    let values = match part.trim_start().chars().next() {
        Some('{') => {
            let Members(members) = serde_json::from_str(part).map_err(|error| problem(&error))?;
            members.into_iter().map(|(key, value)| (key, at(value))).collect()
        }
        Some('[') => {
            let values: Vec<&RawValue> = serde_json::from_str(part).map_err(|error| problem(&error))?;
            values.into_iter().map(|value| (String::new(), at(value))).collect()
        }
        _ => return Err(shape()),
    };
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.start + part.trim_end().len();
    Ok(Inside { whole: start..end, values })
}

impl Inside {
    /// The one value of a key.
    fn get(&self, key: &str) -> Result<Option<&Range<usize>>, Problem> {
        let mut found = self.values.iter().filter(|(name, _)| name == key).map(|(_, range)| range);
        let one = found.next();
        if found.next().is_some() {
            return Err(Problem::Shape(format!("it names {key} twice; which of them counts is not known")));
        }
        Ok(one)
    }
}

/// The `hooks` of a text, and the whole text's own object.
fn hooks(text: &str) -> Result<(Inside, Option<Inside>), Problem> {
    // The whole text first: its errors have their lines.
    serde_json::from_str::<Value>(text).map_err(|error| problem(&error))?;
    if !text.trim_start().starts_with('{') {
        return Err(Problem::Shape("it holds no settings: an object is wanted".to_owned()));
    }
    let root = inside(text, 0..text.len(), "it")?;
    let Some(range) = root.get("hooks")?.cloned() else { return Ok((root, None)) };
    if !text.get(range.clone()).unwrap_or_default().starts_with('{') {
        return Err(Problem::Shape("its hooks have another shape than the agent's own".to_owned()));
    }
    let hooks = inside(text, range, "hooks")?;
    Ok((root, Some(hooks)))
}

/// Every command of a hook, with its event. What could not be taken out again is not read either.
pub(super) fn commands(text: &str) -> Result<Vec<(String, String)>, Problem> {
    let (_, hooks) = hooks(text)?;
    let mut commands = Vec::new();
    for (event, range) in hooks.iter().flat_map(|hooks| &hooks.values) {
        for entry in entries_of(text, event, range)?.iter().flat_map(|(_, entries)| &entries.values) {
            let value: Value = serde_json::from_str(&cut(text, &entry.1)?).map_err(|error| problem(&error))?;
            commands.extend(value.get("command").and_then(Value::as_str).map(|word| (event.clone(), word.to_owned())));
        }
    }
    Ok(commands)
}

/// The entries of an event's list, group by group, each with the place of its group in the list.
fn entries_of(text: &str, event: &str, range: &Range<usize>) -> Result<Vec<(usize, Inside)>, Problem> {
    if !text.get(range.clone()).unwrap_or_default().starts_with('[') {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (nth, (_, group)) in inside(text, range.clone(), event)?.values.iter().enumerate() {
        let Ok(members) = inside(text, group.clone(), event) else { continue };
        let Some(entries) = members.get("hooks")?.cloned() else { continue };
        found.extend(inside(text, entries, event).ok().map(|entries| (nth, entries)));
    }
    Ok(found)
}

/// Puts an entry at the end of an event's list.
pub(super) fn put_in(text: &str, event: &str, entry: &Value) -> Result<String, Problem> {
    let (root, hooks) = hooks(text)?;
    let style = Style::of(text);
    let Some(hooks) = hooks else {
        let value = Value::Object([(event.to_owned(), Value::Array(vec![entry.clone()]))].into_iter().collect());
        return Ok(style.append(text, &root, Some("hooks"), &value, 1));
    };
    match hooks.get(event)? {
        None => Ok(style.append(text, &hooks, Some(event), &Value::Array(vec![entry.clone()]), 2)),
        Some(range) if text.get(range.clone()).unwrap_or_default().starts_with('[') => {
            let list = inside(text, range.clone(), event)?;
            Ok(style.append(text, &list, None, entry, 3))
        }
        Some(_) => Err(Problem::Shape(format!("{event} has another shape than the agent's own"))),
    }
}

/// Takes out every entry whose command is meant, and what is empty without it.
pub(super) fn take_out(text: &str, is_meant: impl Fn(&str) -> bool) -> Result<String, Problem> {
    let mut text = text.to_owned();
    // One cut a pass: each moves the places of what stands behind it.
    while let Some(range) = next_cut(&text, &is_meant)? {
        text.replace_range(range, "");
    }
    Ok(text)
}

fn next_cut(text: &str, is_meant: &impl Fn(&str) -> bool) -> Result<Option<Range<usize>>, Problem> {
    let (root, hooks) = hooks(text)?;
    let Some(hooks) = hooks else { return Ok(None) };
    for (at, (event, range)) in hooks.values.iter().enumerate() {
        for (nth, entries) in entries_of(text, event, range)? {
            let mut meant = Vec::new();
            for (place, (_, entry)) in entries.values.iter().enumerate() {
                let value: Value = serde_json::from_str(&cut(text, entry)?).map_err(|error| problem(&error))?;
                if value.get("command").and_then(Value::as_str).is_some_and(is_meant) {
                    meant.push(place);
                }
            }
            let Some(first) = meant.first() else { continue };
            // What is left empty goes with it: the group, the event's list, the object of hooks.
            let gone = if meant.len() < entries.values.len() {
                removal(text, &entries, *first)
            } else if let list = inside(text, range.clone(), event)?
                && list.values.len() > 1
            {
                removal(text, &list, nth)
            } else if hooks.values.len() > 1 {
                removal(text, &hooks, at)
            } else {
                let place = root.values.iter().position(|(key, _)| key == "hooks").unwrap_or_default();
                removal(text, &root, place)
            };
            return Ok(Some(gone));
        }
    }
    Ok(None)
}

/// What goes with a value: its key, and the comma before it (of the first: behind it).
fn removal(text: &str, of: &Inside, nth: usize) -> Range<usize> {
    let end = of.values.get(nth).map_or(of.whole.end, |(_, range)| range.end);
    match nth.checked_sub(1).and_then(|before| of.values.get(before)) {
        Some((_, before)) => before.end..end,
        None if of.values.len() == 1 => of.whole.start + 1..of.whole.end - 1,
        None => {
            let behind = text.get(end..).unwrap_or_default();
            of.whole.start + 1..end + behind.find(',').map_or(0, |comma| comma + 1)
        }
    }
}

/// How a text is laid out.
struct Style {
    unit: String,
    line: &'static str,
    /// It stands in one line.
    is_flat: bool,
}

impl Style {
    fn of(text: &str) -> Self {
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let blank = |line: &&str| line.trim() != *line && !line.trim().is_empty() && line.starts_with([' ', '\t']);
        let indented = text.lines().find(blank);
        let unit = indented.map(|line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect());
        let is_flat = !text.trim().contains('\n') && text.trim().len() > 2;
        Self { unit: unit.unwrap_or_else(|| "  ".to_owned()), line, is_flat }
    }

    /// A value in this layout, its own lines at `depth`.
    fn value(&self, value: &Value, depth: usize) -> String {
        if self.is_flat {
            return value.to_string();
        }
        let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
        let lines = pretty.lines().enumerate().map(|(nth, line)| {
            let own = line.len() - line.trim_start().len();
            let depth = if nth == 0 { 0 } else { depth + own / 2 };
            format!("{}{}", self.unit.repeat(depth), line.trim_start())
        });
        lines.collect::<Vec<_>>().join(self.line)
    }

    /// The text with a value behind the last one of an object or list.
    fn append(&self, text: &str, of: &Inside, key: Option<&str>, value: &Value, depth: usize) -> String {
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        let member = format!("{key}{}", self.value(value, depth));
        let (gap, close) = if self.is_flat {
            (String::new(), String::new())
        } else {
            let gap = |depth: usize| format!("{}{}", self.line, self.unit.repeat(depth));
            (gap(depth), gap(depth - 1))
        };
        let mut text = text.to_owned();
        match of.values.last() {
            Some((_, last)) => {
                let space = if self.is_flat { " " } else { "" };
                text.insert_str(last.end, &format!(",{space}{gap}{member}"));
            }
            None => text.replace_range(of.whole.start + 1..of.whole.end - 1, &format!("{gap}{member}{close}")),
        }
        text
    }
}
