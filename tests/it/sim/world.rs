//! The world outside trellis in virtual time: two agents with their panes, an agenda, dice, and a clock that may jump.
//! Knows nothing of trellis' records.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use trellis::driver::ports::Outcome;
use trellis::model::ids::{EntryId, RecordKey, SessionKey};

use super::agents::{FakeAgent, Prompt};
use super::ingredients::{Ingredient, Odds};
use super::invariants::{Invariant, Violation};
use super::plan::Plan;
use super::rng::Rng;

/// The implementer's place in [`World::agents`].
pub const IMPLEMENTER: usize = 0;
/// The reviewer's place.
pub const REVIEWER: usize = 1;

/// Lived time after which nothing that needs a person strikes any more, so that the run can come to its end.
const CALM_AFTER: SignedDuration = SignedDuration::from_mins(45);

/// What will happen at a time.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A job's outcome reaches the driver of this epoch.
    Outcome(u32, Box<Outcome>),
    /// A step of a send sequence of the driver of this epoch.
    Key(u32, super::panes::Keys),
    /// A detached queue command inserts its row.
    QueueInsert { side: usize, session: SessionKey, id: String, text: String },
    /// The agent takes a submitted text up, if it still lives the same life.
    TakeUp { side: usize, prompt: Prompt, life: u32 },
    /// The next step of the running turn.
    TurnStep { side: usize, turn: u64 },
    /// The agent looks at its queue.
    LookAtQueue { side: usize },
    /// The rest of a torn line is written.
    Rest { side: usize },
    /// A background agent of this life reports.
    Report { side: usize, life: u32 },
    /// A dialog closes.
    DialogCloses { side: usize },
    /// A dead agent's program is started again.
    Revive { side: usize },
    /// The disk has room again.
    DiskHasRoom,
    /// A timed ingredient strikes.
    Fate(Ingredient),
    /// The driver process is killed.
    Kill(u32),
    /// A driver is started.
    Restart,
    /// The person looks at what a run asks for.
    Help,
    /// A driver that sleeps wakes: it never sleeps for long, since the clock may jump.
    Wake,
    /// The second process looks again.
    Look,
}

/// A prompt that a person typed, once it stands in a transcript.
#[derive(Clone, Debug)]
pub struct Typed {
    pub side: usize,
    pub session: SessionKey,
    pub text: String,
    /// The loop waited for just such a prompt.
    pub awaited: bool,
}

/// Everything outside.
pub struct World {
    pub now: Timestamp,
    pub plan: Plan,
    pub rng: Rng,
    dice: BTreeMap<Ingredient, Rng>,
    /// How often each ingredient struck.
    pub struck: BTreeMap<Ingredient, u32>,
    pub agents: [FakeAgent; 2],
    agenda: BTreeMap<(Timestamp, u64), Happening>,
    seq: u64,
    begun_at: Timestamp,
    /// How far the clock is ahead of the time that was lived.
    shifted: SignedDuration,
    /// Which driver process lives; rises with each start.
    pub epoch: u32,
    /// The driver was killed: nothing it does takes effect any more.
    pub dead: bool,
    /// Port calls until the next kill at a boundary.
    pub fuse: Option<u64>,
    /// Sides whose file changed since the driver asked.
    pub changed: Vec<usize>,
    pub watcher: Watcher,
    pub disk_is_full: bool,
    pub timeline: Vec<String>,
    live: bool,
    /// Send sequences that began since the last check: whose, which entry, and whether it was Enter alone.
    pub begun: Vec<(RecordKey, EntryId, bool)>,
    /// Prompts of people in the order in which they came into a transcript.
    pub typed: Vec<Typed>,
    /// A side for which the loop waits without having prompted it, as its record says.
    pub open_wait: Option<usize>,
    /// Lived time of the newest thing that moved.
    moved: SignedDuration,
    pub wrong: Vec<Violation>,
    /// Messages that went out twice as the rules have it: see `invariants::live`.
    pub beyond_grace: u32,
    next_id: u64,
}

/// How the watcher of files is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watcher {
    pub silent_until: Option<Timestamp>,
    pub floods: u32,
}

impl World {
    pub fn new(plan: Plan) -> Self {
        let start: Timestamp = "2026-11-30T08:00:00Z".parse().unwrap();
        let dice = (1_u64..)
            .zip(Ingredient::ALL)
            .map(|(n, what)| (*what, Rng::new(plan.seed.wrapping_mul(1_009).wrapping_add(n))))
            .collect();
        let agents = [FakeAgent::implementer(&plan, start), FakeAgent::reviewer(&plan, start)];
        let mut world = Self {
            now: start,
            rng: Rng::new(plan.seed.wrapping_mul(31).wrapping_add(7)),
            plan,
            dice,
            struck: BTreeMap::new(),
            agents,
            agenda: BTreeMap::new(),
            seq: 0,
            begun_at: start,
            shifted: SignedDuration::ZERO,
            epoch: 0,
            dead: false,
            fuse: None,
            changed: Vec::new(),
            watcher: Watcher::default(),
            disk_is_full: false,
            timeline: Vec::new(),
            live: std::env::var("TRELLIS_LIVE").is_ok_and(|how| how == "2"),
            begun: Vec::new(),
            typed: Vec::new(),
            open_wait: None,
            moved: SignedDuration::ZERO,
            wrong: Vec::new(),
            beyond_grace: 0,
            next_id: 0,
        };
        for side in [IMPLEMENTER, REVIEWER] {
            world.greet(side);
        }
        for what in Ingredient::ALL {
            world.schedule_fate(*what);
        }
        world
    }

    /// Time as it was lived: jumps of the clock and sleeps of the machine left out.
    pub fn lived(&self) -> SignedDuration {
        self.now.duration_since(self.begun_at) - self.shifted
    }

    pub fn is_calm(&self) -> bool {
        self.lived() > CALM_AFTER
    }

    pub fn say(&mut self, text: String) {
        let at = self.now;
        if self.live {
            println!("{at} {text}");
        }
        self.timeline.push(format!("{at} {text}"));
        self.moved = self.lived();
    }

    /// How long nothing has moved, in lived time.
    pub fn still_for(&self) -> SignedDuration {
        self.lived() - self.moved
    }

    /// A promise is broken.
    pub fn breaks(&mut self, invariant: Invariant, what: String) {
        self.say(format!("BROKEN {}: {what}", invariant.name()));
        self.wrong.push(Violation { invariant, at: self.now, what });
    }

    pub fn id(&mut self, prefix: &str) -> String {
        self.next_id += 1;
        format!("{prefix}{}", self.next_id)
    }

    pub const fn ids(&mut self) -> &mut u64 {
        &mut self.next_id
    }

    pub fn after(&mut self, millis: u64, what: Happening) {
        self.seq += 1;
        let at = self.now + SignedDuration::from_millis(i64::try_from(millis).unwrap());
        self.agenda.insert((at, self.seq), what);
    }

    /// The time of the next thing on the agenda.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.agenda.keys().next().map(|(at, _)| *at)
    }

    pub fn take_next(&mut self) -> Option<Happening> {
        self.agenda.pop_first().map(|(_, what)| what)
    }

    pub fn coming(&self) -> impl Iterator<Item = &Happening> {
        self.agenda.values()
    }

    /// Whether an ingredient strikes on this occasion. Every one passes through here: the plan can leave any single
    /// time out, and the census counts the rest.
    pub fn strikes(&mut self, what: Ingredient) -> bool {
        let Some(odds) = self.plan.odds.get(&what).copied() else { return false };
        let hit = match what.odds() {
            Odds::Of(..) => self.dice.get_mut(&what).is_some_and(|dice| dice.chance(odds)),
            Odds::Every(..) | Odds::Comes => true,
        };
        if !hit || (self.is_calm() && what.odds() != Odds::Comes) {
            return false;
        }
        let times = self.struck.entry(what).or_default();
        *times += 1;
        let spared = self.plan.spared.contains(&(what, *times));
        if !spared && what.odds() != Odds::Comes {
            self.say(format!("[{what:?}]"));
        }
        !spared
    }

    /// A number from an ingredient's own dice, so that what it does depends on nothing else.
    pub fn between(&mut self, what: Ingredient, low: u64, high: u64) -> u64 {
        self.dice.get_mut(&what).map_or(low, |dice| dice.between(low, high))
    }

    /// Puts the next time of a timed ingredient on the agenda.
    pub fn schedule_fate(&mut self, what: Ingredient) {
        let Odds::Every(..) = what.odds() else { return };
        let Some(every) = self.plan.odds.get(&what).copied() else { return };
        if !self.is_calm() {
            let wait = self.between(what, every * 300, every * 1_700);
            self.after(wait, Happening::Fate(what));
        }
    }

    /// The clock jumps, or the machine sleeps: whatever was to come comes as much later by the clock.
    pub fn shift(&mut self, by: SignedDuration) {
        let agenda = std::mem::take(&mut self.agenda);
        self.agenda = agenda.into_iter().map(|((at, seq), what)| ((at + by, seq), what)).collect();
        self.now += by;
        self.shifted += by;
        self.say(format!("the clock moved by {by:#}"));
        self.after(5_000, Happening::Wake);
    }

    /// Which side a session is or was, and which of its conversations.
    pub fn place_of(&self, key: &SessionKey) -> Option<(usize, usize)> {
        self.agents.iter().enumerate().find_map(|(side, agent)| {
            agent.chats.iter().position(|chat| &chat.session.key() == key).map(|chat| (side, chat))
        })
    }

    /// The side whose conversation it is now.
    pub fn side_of(&self, key: &SessionKey) -> Option<usize> {
        let (side, chat) = self.place_of(key)?;
        (chat + 1 == self.agents[side].chats.len()).then_some(side)
    }

    /// Counts a port call; true when this driver is dead, or dies here.
    pub fn burn(&mut self) -> bool {
        if self.dead {
            return true;
        }
        if let Some(left) = &mut self.fuse {
            if *left == 0 {
                self.fuse = None;
                self.dead = true;
                self.say("KILL at a boundary".into());
                return true;
            }
            *left -= 1;
        }
        false
    }

    /// One happening of the world itself; those of the driver and the person are carried out by their owners.
    pub fn happen(&mut self, what: Happening) {
        match what {
            Happening::QueueInsert { side, session, id, text } => self.queue_insert(side, &session, id, text),
            Happening::TakeUp { side, prompt, life } => self.taken_up(side, prompt, life),
            Happening::TurnStep { side, turn } => self.turn_step(side, turn),
            Happening::LookAtQueue { side } => self.look_at_queue(side),
            Happening::Rest { side } => self.flush(side),
            Happening::Report { side, life } => self.background_report(side, life),
            Happening::DialogCloses { side } => self.agents[side].dialog = false,
            Happening::Revive { side } => self.revive(side),
            Happening::DiskHasRoom => self.disk_is_full = false,
            Happening::Outcome(..)
            | Happening::Key(..)
            | Happening::Kill(_)
            | Happening::Restart
            | Happening::Help
            | Happening::Wake
            | Happening::Look
            | Happening::Fate(_) => {}
        }
    }
}

/// The first characters of a text, for the timeline.
pub fn head(text: &str) -> String {
    text.replace('\n', "⏎").chars().take(70).collect()
}
