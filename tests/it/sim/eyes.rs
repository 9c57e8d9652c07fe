//! The transcripts port of the simulated world: real bytes through the real reader; hints that may be lost.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::Timestamp;
use trellis::driver::ports::{FoundSession, TranscriptRead, Transcripts};
use trellis::machine::TranscriptFact;
use trellis::model::ids::{SessionKey, SessionRef};
use trellis::model::outbox::TranscriptMark;
use trellis::transcript::Reader;

use super::world::World;

/// The port. Its readers die with the driver.
pub struct Eyes {
    world: Rc<RefCell<World>>,
    readers: BTreeMap<usize, (u64, usize, Reader)>,
}

impl Eyes {
    pub fn new(world: Rc<RefCell<World>>) -> Self {
        Self { world, readers: BTreeMap::new() }
    }
}

impl Transcripts for Eyes {
    fn read(&mut self, session: &SessionRef, _now: Timestamp) -> TranscriptRead {
        let world = self.world.borrow();
        let Some(side) = world.side_of(&session.key()) else {
            return TranscriptRead { fact: TranscriptFact::NotYet, conversation: None };
        };
        let agent = &world.agents[side];
        if agent.file.is_empty() {
            return TranscriptRead { fact: TranscriptFact::NotYet, conversation: None };
        }
        let fresh = || (agent.identity, 0, Reader::new(agent.session.agent));
        let slot = self.readers.entry(side).or_insert_with(fresh);
        if slot.0 != agent.identity || slot.1 > agent.file.len() {
            *slot = fresh();
        }
        slot.2.push(&agent.file[slot.1..]);
        slot.1 = agent.file.len();
        let conversation = slot.2.conversation();
        let mark = TranscriptMark {
            path: format!("/sim/{side}.jsonl"),
            file_identity: agent.identity.to_string(),
            length: conversation.length,
            last_record_id: conversation.last_record.as_ref().map(|record| record.id.clone()),
        };
        TranscriptRead { fact: TranscriptFact::Present(mark), conversation: Some(conversation) }
    }

    fn sessions(&mut self) -> Vec<FoundSession> {
        let world = self.world.borrow();
        world
            .agents
            .iter()
            .enumerate()
            .map(|(side, agent)| FoundSession {
                session: agent.session.clone(),
                path: format!("/sim/{side}.jsonl"),
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
        let lost = world.plan.lost_hints;
        let seen: Vec<usize> = sides.into_iter().filter(|_| !world.rng.chance(lost)).collect();
        seen.into_iter().map(|side| world.agents[side].session.key()).collect()
    }
}
