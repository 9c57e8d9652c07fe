//! Deliberate faults, each of which the simulator must find: those of the driver's order and memory are planted here,
//! in front of the disk; those of the machines are `trellis::planted`'s.

use trellis::driver::ports::Loaded;
use trellis::model::conversation::Conversation;
use trellis::model::ids::{SessionRef, TurnId};
use trellis::model::outbox::{Entry, EntryState};
use trellis::planted::Fault;
use trellis::transcript::Reader;

use super::ingredients::Ingredient;
use super::plan::Plan;
use super::world::World;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A record is saved when what it intends was begun already.
    SaveAfterAct,
    /// A start takes what was in flight for never sent, and looks for no evidence of it.
    RestartLookUpOff,
    /// What a person typed while nothing drove counts as seen.
    HumanMarkNotSaved,
    /// A pair is saved before its run names it.
    PairBeforeRun,
    /// A fault of a machine.
    Machine(Fault),
}

impl Planted {
    pub const ALL: [Self; 8] = [
        Self::SaveAfterAct,
        Self::Machine(Fault::StaleVerdict),
        Self::RestartLookUpOff,
        Self::Machine(Fault::TextForTurn),
        Self::Machine(Fault::NoGrace),
        Self::HumanMarkNotSaved,
        Self::PairBeforeRun,
        Self::Machine(Fault::NewestTurn),
    ];

    /// Whether a world can show it at all; the others need not be played to find it.
    #[cfg_attr(not(debug_assertions), expect(dead_code, reason = "a release build has no faults to plant"))]
    pub fn shows_in(self, plan: &Plan) -> bool {
        let often = |what, seconds| plan.odds.get(&what).is_some_and(|every| *every <= seconds);
        match self {
            Self::SaveAfterAct | Self::RestartLookUpOff | Self::PairBeforeRun => plan.kills > 1,
            Self::HumanMarkNotSaved => plan.kills > 2 && often(Ingredient::Types, 250),
            Self::Machine(Fault::StaleVerdict) => often(Ingredient::Types, 250),
            Self::Machine(Fault::TextForTurn) => plan.identical,
            Self::Machine(Fault::NoGrace) => plan.has(Ingredient::LatePrompt) || plan.has(Ingredient::Unconfirmed),
            Self::Machine(Fault::NewestTurn) => {
                plan.has(Ingredient::NoAnswer) || plan.has(Ingredient::FailedTurn) || plan.has(Ingredient::SecondRun)
            }
        }
    }

    /// Whether a start reads otherwise than the disk has it.
    pub fn spoils_loading(self) -> bool {
        matches!(self, Self::RestartLookUpOff | Self::HumanMarkNotSaved)
    }

    /// What a start reads with this fault.
    pub fn spoil(self, loaded: &mut Loaded, world: &World) {
        match self {
            Self::RestartLookUpOff => {
                let runs = loaded.runs.iter_mut().flat_map(|run| &mut run.outbox);
                let pairs = loaded.pairs.iter_mut().flat_map(|pair| &mut pair.outbox);
                runs.chain(pairs).filter(|entry| entry.in_flight()).for_each(never_sent);
            }
            Self::HumanMarkNotSaved => {
                for run in &mut loaded.runs {
                    run.human_mark.implementer = newest(world, &run.implementer);
                    run.human_mark.reviewer = newest(world, &run.reviewer);
                }
                for pair in &mut loaded.pairs {
                    pair.human_mark.implementer = newest(world, &pair.implementer);
                    pair.human_mark.reviewer = newest(world, &pair.reviewer);
                }
            }
            Self::SaveAfterAct | Self::PairBeforeRun | Self::Machine(_) => {}
        }
    }
}

fn never_sent(entry: &mut Entry) {
    entry.state = EntryState::Prepared;
    (entry.attempts, entry.enters, entry.entered) = (0, 0, false);
    (entry.attempt_at, entry.last_key_at, entry.quiet_since) = (None, None, None);
    (entry.transcript_mark, entry.queue_id, entry.carrier) = (None, None, None);
}

fn newest(world: &World, session: &SessionRef) -> Option<TurnId> {
    let (side, chat) = world.place_of(&session.key())?;
    let chat = &world.agents[side].chats[chat];
    let mut reader = Reader::new(chat.session.agent);
    reader.push(&chat.file);
    let conversation: std::sync::Arc<Conversation> = reader.conversation();
    conversation.newest().map(|turn| turn.id.clone())
}

impl Planted {
    /// Its name, for the command line.
    pub fn name(self) -> String {
        match self {
            Self::Machine(fault) => format!("{fault:?}"),
            planted => format!("{planted:?}"),
        }
    }
}

/// Plants a fault of the machines in this thread, where the build has the switch.
pub fn in_machines(fault: Option<Fault>) {
    #[cfg(debug_assertions)]
    trellis::planted::plant(fault);
    #[cfg(not(debug_assertions))]
    assert!(fault.is_none(), "a release build has no faults to plant");
}
