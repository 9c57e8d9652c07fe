//! What the agents' hooks told: an open dialog shows at once, a session that begins is known before its transcript.
//! Nothing is sent, held or ended because of a hook: records, status files and panes decide that.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Core;
use crate::driver::ports::{Agents, FoundSession, Records, Transcripts};
use crate::model::hook::{Asked, HookEvent, HookNote};
use crate::model::ids::SessionKey;
use crate::model::reach::ProcessFact;

/// Sessions that are known by a hook alone; the oldest are forgotten first.
const MOST_BEGUN: usize = 50;

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Takes in what is new. A note that asks for something stays until that is answered: viewers read it too.
    pub(super) fn hear(&mut self, now: Timestamp) {
        let notes = self.records.hook_notes(now);
        self.heard.retain(|known| notes.iter().any(|(name, _)| name == known));
        let (mut done, mut asking) = (Vec::new(), BTreeMap::new());
        for (name, note) in notes {
            let Some(note) = note else {
                done.push(name);
                continue;
            };
            let key = note.key();
            let is_new = self.heard.insert(name.clone());
            if is_new {
                self.observe_those_of(&note, now);
            }
            // Whatever comes after a question answers it, or asks another.
            if let Some((old, _)) = asking.remove(&key) {
                done.push(old);
                self.sessions.entry(key.clone()).or_default().facts.asked = None;
                self.touched.insert(key.clone());
            }
            match note.event {
                HookEvent::Asks { what } => {
                    asking.insert(key, (name, Asked { at: note.at, what }));
                }
                HookEvent::Started => {
                    self.begins(&note);
                    done.push(name);
                }
                HookEvent::Ended => {
                    self.begun.retain(|begun| begun.session.key() != key);
                    done.push(name);
                }
            }
        }
        for (key, (name, asked)) in asking {
            let known = self.sessions.entry(key.clone()).or_default();
            if known.facts.asked.as_ref() != Some(&asked) && known.answered_at.is_none_or(|at| asked.at > at) {
                known.facts.asked = Some(asked);
                known.asked_in = Some(name);
                self.touched.insert(key);
            }
        }
        if self.drives() && !done.is_empty() {
            self.records.forget_hook_notes(&done);
        }
    }

    /// The session itself, and those that its process held before: they may have been left for it.
    fn observe_those_of(&mut self, note: &HookNote, now: Timestamp) {
        let held = |known: &super::sessions::Known| note.process.is_some() && known.facts.note.seen == note.process;
        let mut keys: Vec<SessionKey> =
            self.sessions.iter().filter(|(_, known)| held(known)).map(|(key, _)| key.clone()).collect();
        keys.push(note.key());
        for key in keys {
            self.observe(&key, now);
        }
    }

    fn begins(&mut self, note: &HookNote) {
        self.begun.retain(|begun| begun.session.key() != note.key());
        self.begun.insert(
            0,
            FoundSession {
                session: note.session.clone(),
                path: note.transcript.as_deref().unwrap_or_default().into(),
                title: None,
                modified_at: Some(note.at),
                branch: None,
                last_words: None,
            },
        );
        self.begun.truncate(MOST_BEGUN);
        self.find_sessions();
    }

    /// Those that began and have no transcript yet, as long as their process lives.
    pub(super) fn begun_beside(&mut self, found: &[FoundSession]) -> Vec<FoundSession> {
        let sessions = &self.sessions;
        self.begun.retain(|begun| {
            let key = begun.session.key();
            let reach = sessions.get(&key).and_then(|known| known.facts.reach.as_ref());
            let is_dead = reach.is_some_and(|reach| {
                reach.process == ProcessFact::Dead && begun.modified_at.is_none_or(|began| reach.at > began)
            });
            !is_dead && found.iter().all(|found| found.session.key() != key)
        });
        self.begun.clone()
    }
}
