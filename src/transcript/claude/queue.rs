//! Claude's own queue as its records tell it: what waits, what was taken, what is proved gone.
//! Whether the process that holds the queue still lives is not known here.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::conversation::QueuedPrompt;

/// Most taken entries that are remembered until their text shows up.
const REMEMBERED: usize = 32;

#[derive(Debug)]
struct Entry {
    prompt: QueuedPrompt,
    /// A report of a background task waits in the same queue; it is no prompt.
    report: bool,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Entry>,
    /// Entries that a record without text took, oldest first: which ones is a guess until the text shows up.
    taken: VecDeque<Entry>,
}

impl Queue {
    /// The prompts that wait.
    pub(super) fn prompts(&self) -> Vec<QueuedPrompt> {
        self.waiting.iter().filter(|entry| !entry.report).map(|entry| entry.prompt.clone()).collect()
    }

    pub(super) fn enqueue(&mut self, text: &str, report: bool, offset: u64, at: Option<Timestamp>) {
        let prompt = QueuedPrompt { text: Arc::from(text), offset, at };
        self.waiting.push_back(Entry { prompt, report });
    }

    /// An entry left the queue; `text` if the record names it.
    pub(super) fn take(&mut self, text: Option<&str>) {
        let at = text.map_or(Some(0), |text| self.waiting.iter().position(|entry| &*entry.prompt.text == text));
        if let Some(entry) = at.and_then(|at| self.waiting.remove(at)) {
            self.taken.push_back(entry);
            if self.taken.len() > REMEMBERED {
                self.taken.pop_front();
            }
        }
    }

    /// All entries left the queue (back into the input box).
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.taken.clear();
    }

    /// A prompt was typed and taken up at once. What is typed while something waits is put behind it, so no prompt waits
    /// any more.
    pub(super) fn typed(&mut self, text: &str) {
        if self.waiting.iter().chain(&self.taken).any(|entry| &*entry.prompt.text == text) {
            return self.arrived(text);
        }
        self.waiting.retain(|entry| entry.report);
    }

    /// A message with this text was taken up. If it is one that still waits, a prompt before it is proved gone:
    /// the queue is first in, first out.
    pub(super) fn arrived(&mut self, text: &str) {
        if let Some(at) = self.taken.iter().position(|entry| &*entry.prompt.text == text) {
            self.taken.remove(at);
            return;
        }
        let Some(at) = self.waiting.iter().position(|entry| &*entry.prompt.text == text) else { return };
        let Some(entry) = self.waiting.remove(at) else { return };
        let guess = self.taken.pop_front();
        if entry.report {
            // Reports have their own turn; the prompt that was guessed to be taken still waits.
            self.waiting.extend(guess);
            self.waiting.make_contiguous().sort_by_key(|entry| entry.prompt.offset);
        } else {
            self.waiting.drain(..at);
        }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
