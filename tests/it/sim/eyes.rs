//! The transcripts port of the simulated world: real bytes through the real reader, and a watcher that may be silent,
//! forgetful or beside itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::Timestamp;
use trellis::driver::ports::{FoundSession, TranscriptRead, Transcripts};
use trellis::machine::TranscriptFact;
use trellis::model::ids::{SessionKey, SessionRef};
use trellis::model::outbox::TranscriptMark;
use trellis::transcript::Reader;

use super::ingredients::Ingredient;
use super::world::World;

/// The port. Its readers die with the driver.
pub struct Eyes {
    world: Rc<RefCell<World>>,
    readers: BTreeMap<(usize, usize), (u64, usize, Reader)>,
}

impl Eyes {
    pub fn new(world: Rc<RefCell<World>>) -> Self {
        Self { world, readers: BTreeMap::new() }
    }
}

impl Transcripts for Eyes {
    fn read(&mut self, session: &SessionRef, _now: Timestamp) -> TranscriptRead {
        let world = self.world.borrow();
        let place = world.place_of(&session.key());
        let Some((side, at)) = place.filter(|(side, at)| !world.agents[*side].chats[*at].file.is_empty()) else {
            return TranscriptRead { fact: TranscriptFact::NotYet, conversation: None };
        };
        let chat = &world.agents[side].chats[at];
        let fresh = || (chat.generation, 0, Reader::new(chat.session.agent));
        let slot = self.readers.entry((side, at)).or_insert_with(fresh);
        if slot.0 != chat.generation || slot.1 > chat.file.len() {
            *slot = fresh();
        }
        slot.2.push(&chat.file[slot.1..]);
        slot.1 = chat.file.len();
        let conversation = slot.2.conversation();
        let mark = TranscriptMark {
            path: format!("/sim/{side}-{at}.jsonl"),
            file_identity: chat.identity.to_string(),
            length: conversation.length,
            last_record_id: conversation.last_record.as_ref().map(|record| record.id.clone()),
        };
        TranscriptRead { fact: TranscriptFact::Present(mark), conversation: Some(conversation) }
    }

    fn sessions(&mut self) -> Vec<FoundSession> {
        let world = self.world.borrow();
        let chats = world.agents.iter().flat_map(|agent| &agent.chats).filter(|chat| !chat.file.is_empty());
        chats
            .map(|chat| FoundSession {
                session: chat.session.clone(),
                path: format!("/sim/{}.jsonl", chat.session.session_id).into(),
                title: None,
                modified_at: Some(world.now),
                branch: None,
                last_words: None,
            })
            .collect()
    }

    fn changed(&mut self) -> Vec<SessionKey> {
        let mut world = self.world.borrow_mut();
        let sides = std::mem::take(&mut world.changed);
        if world.watcher.silent_until.is_some_and(|until| until > world.now) {
            return Vec::new();
        }
        let every = |world: &World| world.agents.iter().map(|agent| agent.session().key()).collect();
        if world.watcher.floods > 0 {
            return every(&world);
        }
        let seen: Vec<usize> = sides.into_iter().filter(|_| !world.strikes(Ingredient::LostHint)).collect();
        seen.into_iter().map(|side| world.agents[side].session().key()).collect()
    }
}
