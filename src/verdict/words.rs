//! How words and signals are compared: case, emphasis, the words that turn an approval into a condition.
//! Where a line stands is not looked at here.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_segmentation::UnicodeSegmentation;

use crate::model::text::nfc;

/// Words a line may have at most to be a near miss; the signal counts as one, however many it has.
const NEAR_WORDS: usize = 5;

/// Words that make a short line with the signal feedback instead of a near miss (`n't` apart).
const CONDITIONS: [&str; 16] = [
    "not", "no", "never", "cannot", "yet", "until", "unless", "once", "if", "when", "after", "but", "except",
    "however", "pending", "almost",
];

/// Words at the start of a paragraph that take back a match before it.
const TAKE_BACK: [&str; 6] = ["but", "except", "however", "once", "after", "if"];

/// A signal, ready to be compared.
pub(super) struct Signal {
    folded: String,
}

impl Signal {
    pub(super) fn new(signal: &str) -> Self {
        Self { folded: folded(signal.trim()) }
    }

    /// Whether a line, trimmed and freed of emphasis, backticks and one `.` or `!` at its end, equals the signal.
    ///
    /// Compared at each stage of freeing, so that a signal may itself end with `!` or stand in asterisks.
    pub(super) fn equals(&self, line: &str) -> bool {
        let mut text = line.trim();
        // Folding can make a text at most three times as long; what is far longer need not be freed bit by bit.
        if text.len() > self.folded.len().saturating_mul(4).saturating_add(64) {
            return false;
        }
        let mut sentence_end = true;
        loop {
            if folded(text) == self.folded {
                return true;
            }
            if let Some(inner) = freed(text) {
                text = inner;
            } else if let (true, Some(rest)) = (sentence_end, text.strip_suffix(['.', '!'])) {
                sentence_end = false;
                text = rest.trim_end();
            } else {
                return false;
            }
        }
    }

    /// Whether the signal stands in the text as a word.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        let text = folded(text);
        self.places(&text).next().is_some()
    }

    /// Whether a line is short, holds the signal as a word and sets no condition beside it.
    pub(super) fn nearly(&self, line: &str) -> bool {
        let line = folded(line);
        if count(&line) >= NEAR_WORDS + count(&self.folded) {
            return false;
        }
        // Few words hold few signals; a row of them without blanks is judged by its first ones.
        self.places(&line).take(NEAR_WORDS).any(|(before, after)| {
            let others = count(before) + count(after);
            others < NEAR_WORDS && !sets_condition(before) && !sets_condition(after)
        })
    }

    /// What stands before and after each place where the signal stands as a word.
    fn places<'a>(&'a self, line: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        line.match_indices(self.folded.as_str()).filter_map(|(at, found)| {
            let (before, rest) = line.split_at_checked(at)?;
            let after = rest.strip_prefix(found)?;
            let free = !before.chars().next_back().is_some_and(joins) && !after.chars().next().is_some_and(joins);
            free.then_some((before, after))
        })
    }
}

/// Whether a neighbour makes the signal part of a longer word. Scripts written without spaces never do.
fn joins(neighbour: char) -> bool {
    neighbour.is_alphanumeric() && neighbour < '\u{2e80}'
}

/// Nothing that can be seen.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || c.is_control() || matches!(get_general_category(c), GeneralCategory::Format))
}

/// Case and the ways to write an accent taken away, so that equal words are equal.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in nfc(text).chars() {
        if sign.is_ascii() {
            out.push(sign.to_ascii_lowercase());
        } else {
            out.extend(sign.to_uppercase().flat_map(char::to_lowercase));
        }
    }
    match nfc(&out) {
        Cow::Borrowed(_) => out,
        Cow::Owned(out) => out,
    }
}

/// Whether a paragraph begins with a word that takes back what stood before.
pub(super) fn takes_back(paragraph: &str) -> bool {
    let first = split(paragraph).find(|word| word.contains(char::is_alphabetic));
    first.is_some_and(|word| TAKE_BACK.contains(&folded(word).as_str()))
}

fn sets_condition(folded: &str) -> bool {
    split(folded).any(|word| {
        let word = word.trim_matches(['\'', '’']);
        CONDITIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t")
    })
}

/// The words of a text; an apostrophe belongs to its word.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| word.contains(char::is_alphanumeric))
}

/// Words as a person counts them: between blanks, signs alone not; in scripts without blanks as Unicode divides them.
fn count(text: &str) -> usize {
    text.split_whitespace()
        .filter(|token| token.contains(char::is_alphanumeric))
        .map(|token| if token.contains(|c| c >= '\u{2e80}') { token.unicode_words().count().max(1) } else { 1 })
        .sum()
}

/// One layer of symmetric emphasis or backticks taken off.
fn freed(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|c| matches!(c, '*' | '_' | '`'))?;
    let rest = text.trim_start_matches(mark);
    let inner = rest.trim_end_matches(mark);
    let (opening, closing) = (text.len() - rest.len(), rest.len() - inner.len());
    let most = match mark {
        '*' => 3,
        '_' => 2,
        _ => usize::MAX,
    };
    if inner.is_empty() || opening != closing || opening > most {
        return None;
    }
    if mark == '`' {
        // Blanks just inside belong to the code span's marks.
        return Some(inner.trim());
    }
    // Emphasis with a blank inside its marks is none.
    (inner.trim().len() == inner.len()).then_some(inner)
}
