//! What an agent says: the rule for verdicts, and how its Markdown is laid out. Nothing is drawn on a terminal.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trellis::ui::row::{Row, Tone};
use trellis::ui::talk::{Block, BlockKind, Piece};
use trellis::ui::times::Times;
use trellis::ui::width::{cut, head, pad, skip, width};
use trellis::ui::{markdown, wrap};
use trellis::verdict::points::{first_named, located, points, repeats};
use trellis::verdict::{check_signal, completion_signal, stop_signal};

/// The signal stands in front of a NUL, the answer behind it; without one the signal is the standard one.
pub fn verdicts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (signal, answer) = text.split_once('\0').unwrap_or(("LGTM", &text));
    for verdict in [stop_signal(answer, signal), completion_signal(answer, signal)] {
        assert!(!verdict.why().is_empty());
        assert!(!verdict.is_match() || !signal.trim().is_empty(), "a blank signal is never given");
    }
    if check_signal(signal).is_ok() {
        assert!(stop_signal(signal.trim(), signal).is_match(), "a signal that is allowed can be given");
    }
    // A line in front or behind that is not blank cannot make an approval out of words in the middle.
    if stop_signal(answer, "LGTM").is_match() {
        let letters: String = answer.chars().filter(|sign| sign.is_alphanumeric()).collect::<String>().to_lowercase();
        assert!(letters.contains("lgtm"), "an approval holds the word: {answer:?}");
    }
    let named = points(answer, signal);
    let places = located(answer, signal);
    assert_eq!(named.len(), places.len());
    assert_eq!(repeats(&named, &named).len(), named.len());
    let _ = first_named(&named, &[named.clone(), points(signal, signal)]);
}

/// The last byte is the width, the one before it which lines are marked.
pub fn markdown(bytes: &[u8]) {
    let (columns, bytes) = super::choice(bytes, 130);
    let (mark, bytes) = super::choice(bytes, 16);
    let text = String::from_utf8_lossy(bytes);
    let columns = usize::from(columns);
    let rows = markdown::rows(&text, columns, &[usize::from(mark), usize::from(mark) + 3]);
    rows.iter().for_each(harmless);
    for row in wrap::wrap_text(&text, Tone::Text, columns) {
        harmless(&row);
    }
    let times = Times::new(Timestamp::UNIX_EPOCH, TimeZone::UTC);
    let whole: Arc<str> = Arc::from(&*text);
    let piece = Piece { range: (0, whole.len()), fence: None };
    // Comparing costs the square of what differs: a small text shows the same.
    let (before, after) = if text.len() <= 1_024 { halves(&text) } else { ("", "") };
    for kind in [
        BlockKind::Words { text: Arc::clone(&whole), piece, thinking: mark > 7, marks: vec![u32::from(mark)] },
        BlockKind::Change { before: before.into(), after: after.into() },
        BlockKind::Remark(Tone::Text, text.clone().into_owned()),
        BlockKind::Folded(text.clone().into_owned()),
    ] {
        let block = Block { side: None, kind };
        for wide in [false, true] {
            block.rows(columns, wide, &times).iter().for_each(harmless);
        }
    }
    let line = trellis::ui::sanitise::clean_line(&text);
    super::is_harmless(&line);
    assert!(width(&cut(&line, columns)) <= columns, "cut fits");
    assert!(width(head(&line, columns)) <= columns, "a head fits");
    assert_eq!(width(&pad(&line, columns)), columns, "padded is as wide as asked");
    let _ = skip(&line, columns);
}

fn harmless(row: &Row) {
    for span in row.lead.iter().chain(&row.body).chain(&row.tail) {
        super::is_harmless(span.text());
    }
}

fn halves(text: &str) -> (&str, &str) {
    let mut at = text.len() / 2;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.split_at(at)
}
