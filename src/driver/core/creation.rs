//! New records from orders: their ids, and the orders that wait for an observation of their sessions.

use jiff::{SignedDuration, Timestamp};

use super::Core;
use super::acts::{Acted, not_saved};
use super::books::Shelved;
use crate::driver::ports::{Agents, Records, SaveError, Transcripts};
use crate::machine::{pair, run};
use crate::model::command::{Command, NewPair, NewRun, Refusal, Reply};
use crate::model::config::FirstPhase;
use crate::model::ids::{PairId, RecordKey, RunId, SessionRef};
use crate::model::pair::Kickoff;
use crate::model::reach::Transport;
use crate::model::run::RunRecord;

/// An order waits this long for the observation of its sessions.
const PATIENCE: SignedDuration = SignedDuration::from_secs(5);

/// Ids of new records: the time and a suffix, so that they sort by age; one that is taken is passed over.
#[derive(Clone, Debug)]
pub struct Ids {
    state: u64,
}

impl Ids {
    /// A sequence that depends on nothing but the seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next id, `{yyyymmdd-hhmmss}-{suffix}`.
    pub fn next(&mut self, now: Timestamp) -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut bits = self.step();
        let mut suffix = String::with_capacity(6);
        for _ in 0..6 {
            let at = usize::try_from(bits & 31).unwrap_or(0);
            suffix.push(LETTERS.get(at).copied().map_or('x', char::from));
            bits >>= 5;
        }
        format!("{}-{suffix}", now.strftime("%Y%m%d-%H%M%S"))
    }

    /// A UUID of version 4, for an agent that lets its launcher choose the id.
    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.step(), self.step());
        let version = (high & !0xf000) | 0x4000;
        let variant = (low >> 2) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            version >> 32,
            (version >> 16) & 0xffff,
            version & 0xffff,
            variant >> 48,
            variant & 0xffff_ffff_ffff
        )
    }

    /// A step of SplitMix64: every seed gives another sequence, none repeats within a home's life.
    const fn step(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// An order that waits for an observation of its sessions.
#[derive(Clone, Debug)]
pub struct Parked {
    ticket: u64,
    command: Command,
    sides: Vec<SessionRef>,
    /// An older observation is none.
    since: Timestamp,
    until: Timestamp,
}

impl Parked {
    /// It is carried out then at the latest.
    pub fn wait_no_longer_than(&mut self, until: Timestamp) {
        self.until = self.until.min(until);
    }

    /// How long it waits at most.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        self.until
    }
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// A creation: at once when both sessions were observed, else after that.
    pub(super) fn create(&mut self, ticket: u64, command: Command, sides: [SessionRef; 2], now: Timestamp) {
        self.park(ticket, command, sides.into(), Timestamp::MIN, now);
    }

    /// An order about how a session is reached: what was seen of it before does not count.
    pub(super) fn choose(&mut self, ticket: u64, command: Command, session: SessionRef, now: Timestamp) {
        self.park(ticket, command, vec![session], now, now);
    }

    fn park(&mut self, ticket: u64, command: Command, sides: Vec<SessionRef>, since: Timestamp, now: Timestamp) {
        for side in &sides {
            self.read(side, now);
        }
        let until = now.checked_add(self.options.tempo.wait(PATIENCE)).unwrap_or(now);
        let parked = Parked { ticket, command, sides, since, until };
        self.see_to(&parked, now);
        self.parked.push(parked);
    }

    /// Whether its sessions were observed; observes them where they were not.
    fn see_to(&mut self, parked: &Parked, now: Timestamp) -> bool {
        let mut seen = true;
        for side in &parked.sides {
            if self.reach_of(side).is_none_or(|reach| reach.at < parked.since) {
                seen = false;
                self.observe(&side.key(), now);
            }
        }
        seen
    }

    fn reach_of(&self, side: &SessionRef) -> Option<&crate::model::reach::Reach> {
        self.sessions.get(&side.key()).and_then(|known| known.facts.reach.as_ref())
    }

    /// Carries out the creations that have waited long enough.
    pub(super) fn unpark(&mut self, now: Timestamp) {
        let mut waiting = Vec::new();
        let mut ready = Vec::new();
        for parked in std::mem::take(&mut self.parked) {
            let is_ready = self.see_to(&parked, now) || parked.until <= now;
            if is_ready { ready.push(parked) } else { waiting.push(parked) }
        }
        self.parked = waiting;
        if ready.is_empty() {
            return;
        }
        for parked in ready {
            let reply = match parked.command {
                Command::CreateRun(order) => self.create_run(order, now),
                Command::CreatePair(order) => self.create_pair(order, now),
                Command::Session { session, control } => self.session_control(&session, control, now),
                Command::Control { .. } | Command::StartSession(_) | Command::LookNow => continue,
            };
            let reply = reply.unwrap_or_else(Reply::Refused);
            self.replies.push_back((parked.ticket, reply));
        }
        self.settle(now);
    }

    fn create_run(&mut self, mut order: NewRun, now: Timestamp) -> Result<Reply, Refusal> {
        order.implementer = self.at_home(order.implementer, now);
        order.reviewer = self.at_home(order.reviewer, now);
        self.refuse_unread(&order.implementer, &order.reviewer)?;
        let id = RunId::new(self.fresh_id(now));
        let scene = self.scene(&order.implementer, &order.reviewer, now);
        let record = run::create(&order, id.clone(), &scene)?;
        let mut note = first_words(&record);
        for side in [&record.implementer, &record.reviewer] {
            if let Some(reach) = self.reach_of(side).filter(|reach| reach.transport == Some(Transport::ByHand)) {
                let (agent, place) = (side.agent, &reach.place);
                note = format!("{note}; {agent} ({place}) is in no pane: you paste each message to it");
            }
        }
        self.made(record, now)?;
        Ok(Reply::Done { record: Some(RecordKey::Run(id)), note })
    }

    /// A message may be on its way in a record that cannot be read: nobody else writes into its sessions.
    fn refuse_unread(&self, implementer: &SessionRef, reviewer: &SessionRef) -> Result<(), Refusal> {
        for (field, side) in [("implementer", implementer), ("reviewer", reviewer)] {
            let key = side.key();
            if let Some(unread) = self.read_only.iter().find(|unread| unread.cause.is_fault() && unread.uses(&key)) {
                let message = format!("{key} is used by {}, which can't be read: {}", unread.key, unread.sentence());
                return Err(Refusal::invalid(field, &message));
            }
        }
        Ok(())
    }

    fn create_pair(&mut self, mut order: NewPair, now: Timestamp) -> Result<Reply, Refusal> {
        order.implementer = self.at_home(order.implementer, now);
        order.reviewer = self.at_home(order.reviewer, now);
        self.refuse_unread(&order.implementer, &order.reviewer)?;
        let id = PairId::new(self.fresh_id(now));
        let scene = self.scene(&order.implementer, &order.reviewer, now);
        let record = pair::create(&order, id.clone(), &scene)?;
        let builder = record.implementer.agent;
        let note = match record.kickoff {
            Kickoff::WaitForNext => {
                format!("nothing is sent; {builder}'s next answer goes to {}", record.reviewer.agent)
            }
            Kickoff::UseCurrent | Kickoff::Turn { .. } => {
                format!("{builder}'s answer goes to {}", record.reviewer.agent)
            }
        };
        self.made(record, now)?;
        Ok(Reply::Done { record: Some(RecordKey::Pair(id)), note })
    }

    /// The session with the folder it works in now, as its transcript names it.
    fn at_home(&mut self, mut session: SessionRef, now: Timestamp) -> SessionRef {
        self.read(&session, now);
        let known = self.sessions.get(&session.key()).and_then(|known| known.facts.conversation.as_ref());
        if let Some(folder) = known.and_then(|conversation| conversation.cwd.clone()) {
            session.worktree = folder;
        }
        session
    }

    fn fresh_id(&mut self, now: Timestamp) -> String {
        loop {
            let id = self.ids.next(now);
            if self.is_free(&id) {
                return id;
            }
        }
    }

    /// Whether no record bears this id, be it one that is shown only.
    fn is_free(&self, id: &str) -> bool {
        !self.books.is_taken(id) && !self.read_only.iter().any(|foreign| foreign.key.as_str() == id)
    }

    /// A run that goes on from a stopped one.
    pub(super) fn create_run_on(&mut self, mut record: RunRecord, acted: &mut Acted, now: Timestamp) {
        if !self.is_free(record.id.as_str()) {
            record.id = RunId::new(self.fresh_id(now));
        }
        let key = RecordKey::Run(record.id.clone());
        let words = first_words(&record);
        match self.made(record, now) {
            Ok(()) => {
                acted.made = Some(key);
                acted.words = Some(words);
            }
            Err(refusal) => acted.refused = Some(refusal),
        }
    }

    /// Makes a record that a person ordered. One whose save was refused may lie on the disk all the same (renamed, its
    /// folder not synced) and would come to life at the next start, beside the one that was ordered instead. So nothing new
    /// is made before that is gone: it may even bear the same id.
    pub(super) fn made<K: Shelved>(&mut self, record: K, now: Timestamp) -> Result<(), Refusal> {
        self.unmake().map_err(|error| not_saved(&error))?;
        let key = record.key();
        self.bring_into_being(record, now).map_err(|error| {
            // Under a name that is somebody else's nothing of ours was written.
            if !matches!(error, SaveError::Changed { .. }) {
                self.unmade.push(key);
                let _ = self.unmake();
            }
            not_saved(&error)
        })
    }

    /// Takes what was refused off the disk; tried again with each tick until that is done.
    ///
    /// # Errors
    /// Some of it may still lie there.
    pub(super) fn unmake(&mut self) -> Result<(), SaveError> {
        let mut all = Ok(());
        let records = &mut self.records;
        self.unmade.retain(|key| match records.discard(key) {
            Ok(()) => false,
            Err(error) => {
                all = Err(error);
                true
            }
        });
        all
    }
}

/// What a new run does first.
fn first_words(run: &RunRecord) -> String {
    let (builder, reviewer) = (run.implementer.agent, run.reviewer.agent);
    match run.config.first_phase {
        FirstPhase::Next => format!("nothing is sent; {builder}'s next answer goes to {reviewer}"),
        FirstPhase::Current => format!("{builder}'s last answer goes to {reviewer}"),
        FirstPhase::Ask => format!("{builder} is asked for the first phase"),
    }
}

#[cfg(test)]
#[path = "creation_tests.rs"]
mod tests;
