//! The world outside trellis in virtual time: two agents with their panes, queues and transcripts, and an agenda.
//! Knows nothing of trellis' records.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use trellis::driver::ports::Outcome;
use trellis::model::ids::{Agent, EntryId, RecordKey, SessionId, SessionKey, SessionRef};

use super::brain::Brain;
use super::dialect::{Line, Writer};
use super::plan::Plan;
use super::rng::Rng;

/// The implementer's place in [`World::agents`].
pub const IMPLEMENTER: usize = 0;
/// The reviewer's place.
pub const REVIEWER: usize = 1;

/// What will happen at a time.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A job's outcome reaches the driver of this epoch.
    Outcome(u32, Box<Outcome>),
    /// A step of a send sequence of the driver of this epoch.
    Key(u32, super::hands::Keys),
    /// A detached queue command inserts its row.
    QueueInsert { side: usize, id: String, text: String },
    /// The agent takes a submitted text up.
    TakeUp { side: usize, text: String },
    /// The next step of the running turn.
    TurnStep { side: usize, turn: u64 },
    /// The agent looks at its queue.
    LookAtQueue { side: usize },
    /// A background agent reports.
    Report { side: usize },
    /// A dialog closes.
    DialogCloses { side: usize },
    /// The driver process is killed.
    Kill,
}

/// One agent with its pane.
pub struct FakeAgent {
    pub session: SessionRef,
    pub writer: Writer,
    pub file: Vec<u8>,
    pub identity: u64,
    /// What stands in the input box.
    pub input: String,
    pub dialog: bool,
    pub started_at: Timestamp,
    /// Submitted, not yet recorded.
    pub submitted: u32,
    /// The agent's own queue.
    pub queue: VecDeque<(String, String)>,
    /// The running turn: its number and the steps that are left.
    pub turn: Option<(u64, VecDeque<(u64, Vec<Line>)>)>,
    pub turns: u64,
    pub background: u32,
    /// Prompts that a person typed, by text.
    pub human: Vec<String>,
    pub brain: Brain,
}

/// Everything outside.
pub struct World {
    pub now: Timestamp,
    pub plan: Plan,
    pub rng: Rng,
    pub agents: [FakeAgent; 2],
    pub agenda: BTreeMap<(Timestamp, u64), Happening>,
    seq: u64,
    /// Which driver process lives; rises with each start.
    pub epoch: u32,
    /// The driver was killed: nothing it does takes effect any more.
    pub dead: bool,
    /// Port calls until the next kill at a boundary.
    pub fuse: Option<u64>,
    /// Sides whose file changed since the driver asked.
    pub changed: Vec<usize>,
    pub timeline: Vec<String>,
    /// Print the timeline as it grows (for a world that hangs).
    pub live: bool,
    /// Send sequences that began since the last check: whose, which entry.
    pub begun: Vec<(RecordKey, EntryId)>,
    next_id: u64,
}

impl World {
    pub fn new(plan: Plan) -> Self {
        let start: Timestamp = "2026-11-30T08:00:00Z".parse().unwrap();
        let agent = |kind: Agent, name: &str, brain: Brain| {
            let session = format!("{name}-{}", kind.as_str());
            FakeAgent {
                session: SessionRef {
                    agent: kind,
                    worktree: "/sim/shop".into(),
                    session_id: SessionId::new(session.clone()),
                },
                writer: Writer::new(kind, &session, "/sim/shop"),
                file: Vec::new(),
                identity: 1,
                input: String::new(),
                dialog: false,
                started_at: start,
                submitted: 0,
                queue: VecDeque::new(),
                turn: None,
                turns: 0,
                background: 0,
                human: Vec::new(),
                brain,
            }
        };
        let agents = [
            agent(plan.implementer, "builder", Brain::implementer(&plan)),
            agent(plan.reviewer, "critic", Brain::reviewer(&plan)),
        ];
        let mut world = Self {
            now: start,
            rng: Rng::new(plan.seed.wrapping_mul(31).wrapping_add(7)),
            plan,
            agents,
            agenda: BTreeMap::new(),
            seq: 0,
            epoch: 0,
            dead: false,
            fuse: None,
            changed: Vec::new(),
            timeline: Vec::new(),
            live: std::env::var("TRELLIS_LIVE").is_ok_and(|how| how == "2"),
            begun: Vec::new(),
            next_id: 0,
        };
        // Both sessions have been greeted before trellis comes.
        for side in [IMPLEMENTER, REVIEWER] {
            let lines = [
                Line::Prompt { text: format!("You are side {side}. Reply READY."), queued: false },
                Line::Text { message: format!("greet{side}"), text: "READY".into(), last: true },
                Line::End { last: Some("READY".into()) },
            ];
            world.agents[side].human.push(format!("You are side {side}. Reply READY."));
            world.append(side, &lines);
        }
        world
    }

    pub fn say(&mut self, text: String) {
        let at = self.now;
        if self.live {
            println!("{at} {text}");
        }
        self.timeline.push(format!("{at} {text}"));
    }

    pub fn id(&mut self, prefix: &str) -> String {
        self.next_id += 1;
        format!("{prefix}{}", self.next_id)
    }

    pub fn after(&mut self, millis: u64, what: Happening) {
        self.seq += 1;
        let at = self.now + SignedDuration::from_millis(i64::try_from(millis).unwrap());
        self.agenda.insert((at, self.seq), what);
    }

    /// Which side a session is.
    pub fn side_of(&self, key: &SessionKey) -> Option<usize> {
        self.agents.iter().position(|agent| &agent.session.key() == key)
    }

    pub fn append(&mut self, side: usize, lines: &[Line]) {
        let now = self.now;
        let agent = &mut self.agents[side];
        let bytes = agent.writer.write(now, lines);
        agent.file.extend_from_slice(&bytes);
        self.changed.push(side);
    }

    /// Enter was pressed on a text.
    pub fn submit(&mut self, side: usize, text: String, human: bool) {
        if human {
            self.agents[side].human.push(text.clone());
        }
        let who = if human { "person" } else { "trellis" };
        self.say(format!("{who} submits to {side}: {}", head(&text)));
        if self.agents[side].turn.is_some() {
            match self.agents[side].session.agent {
                Agent::Claude => {
                    self.append(side, &[Line::Enqueue { text: text.clone() }]);
                    self.agents[side].queue.push_back((String::new(), text));
                }
                Agent::Codex => self.absorb(side, text),
            }
            return;
        }
        self.agents[side].submitted += 1;
        let late = self.plan.late_records;
        let wait = if self.rng.chance(late) { self.rng.between(800, 6_000) } else { self.rng.between(150, 800) };
        self.after(wait, Happening::TakeUp { side, text });
    }

    fn absorb(&mut self, side: usize, text: String) {
        self.say(format!("{side} absorbs: {}", head(&text)));
        self.append(side, &[Line::Absorbed { text: text.clone() }]);
        self.begin(side, &text);
    }

    /// A submitted text reaches the agent.
    pub fn take_up(&mut self, side: usize, text: String, queued: bool) {
        if self.agents[side].turn.is_some() {
            match self.agents[side].session.agent {
                Agent::Claude => {
                    self.append(side, &[Line::Enqueue { text: text.clone() }]);
                    self.agents[side].queue.push_back((String::new(), text));
                }
                Agent::Codex if queued => self.agents[side].queue.push_front((String::new(), text)),
                Agent::Codex => self.absorb(side, text),
            }
            return;
        }
        self.say(format!("{side} takes up: {}", head(&text)));
        let mut lines = Vec::new();
        if queued && self.agents[side].session.agent == Agent::Claude {
            lines.push(Line::Dequeue);
        }
        lines.push(Line::Prompt { text: text.clone(), queued });
        self.append(side, &lines);
        self.begin(side, &text);
    }

    /// Plans the turn (or the rest of it) that answers a prompt.
    fn begin(&mut self, side: usize, text: &str) {
        let reply = self.agents[side].brain.reply(text, &mut self.rng, &self.plan);
        self.agents[side].turns += 1;
        let turn = self.agents[side].turns;
        let mut steps = VecDeque::new();
        for _ in 0..self.rng.between(0, 2) {
            let call = self.id("call");
            steps.push_back((
                self.rng.between(100, 4_000),
                vec![Line::Tool { call: call.clone(), command: "cargo test".into() }],
            ));
            steps.push_back((self.rng.between(100, 20_000), vec![Line::ToolResult { call }]));
        }
        if reply.launches && self.agents[side].session.agent == Agent::Claude {
            steps.push_back((200, vec![Line::Launch { call: "launch".into() }]));
        }
        let wait = self.rng.between(200, 8_000);
        steps.push_back((wait, reply.lines(&mut self.next_id)));
        let end = if self.rng.chance(self.plan.late_records) {
            self.rng.between(300, 3_000)
        } else {
            self.rng.between(5, 150)
        };
        steps.push_back((end, reply.ending()));
        self.agents[side].turn = Some((turn, steps));
        self.schedule_step(side, turn);
    }

    fn schedule_step(&mut self, side: usize, turn: u64) {
        let wait = self.agents[side].turn.as_ref().and_then(|(_, steps)| steps.front().map(|(wait, _)| *wait));
        if let Some(wait) = wait {
            self.after(wait, Happening::TurnStep { side, turn });
        }
    }

    fn turn_step(&mut self, side: usize, number: u64) {
        let Some((turn, steps)) = self.agents[side].turn.as_mut() else { return };
        if *turn != number {
            return;
        }
        let Some((_, lines)) = steps.pop_front() else { return };
        let over = steps.is_empty();
        if lines.iter().any(|line| matches!(line, Line::Launch { .. })) {
            self.agents[side].background += 1;
            let wait = self.rng.between(3_000, 40_000);
            self.after(wait, Happening::Report { side });
        }
        let results = lines.iter().any(|line| matches!(line, Line::ToolResult { .. }));
        self.append(side, &lines);
        if over {
            self.say(format!("{side} ends its turn: {lines:?}"));
            self.agents[side].turn = None;
            self.after(30, Happening::LookAtQueue { side });
        } else if results && self.agents[side].session.agent == Agent::Claude && self.rng.chance(50) {
            if let Some((_, text)) = self.agents[side].queue.pop_front() {
                self.append(side, &[Line::Remove]);
                self.absorb(side, text);
                return;
            }
            self.schedule_step(side, number);
        } else {
            self.schedule_step(side, number);
        }
    }

    fn background_report(&mut self, side: usize) {
        if self.agents[side].turn.is_some() {
            self.after(2_000, Happening::Report { side });
            return;
        }
        self.agents[side].background = self.agents[side].background.saturating_sub(1);
        self.say(format!("a background agent of {side} reports"));
        self.append(side, &[Line::Report { text: "all looked at".into() }]);
        let reply = self.agents[side].brain.after_report(&mut self.rng);
        self.agents[side].turns += 1;
        let turn = self.agents[side].turns;
        let wait = self.rng.between(200, 5_000);
        let steps = VecDeque::from([(wait, reply.lines(&mut self.next_id)), (50, reply.ending())]);
        self.agents[side].turn = Some((turn, steps));
        self.schedule_step(side, turn);
    }

    /// One happening of the world itself; those of the driver and the person are carried out by their owners.
    pub fn happen(&mut self, what: Happening) {
        match what {
            Happening::QueueInsert { side, id, text } => {
                self.say(format!("the queue of {side} holds {id}: {}", head(&text)));
                self.agents[side].queue.push_back((id, text));
                let wait = self.rng.between(200, 8_000);
                self.after(wait, Happening::LookAtQueue { side });
            }
            Happening::TakeUp { side, text } => {
                self.agents[side].submitted -= 1;
                self.take_up(side, text, false);
            }
            Happening::TurnStep { side, turn } => self.turn_step(side, turn),
            Happening::LookAtQueue { side } => {
                let free = self.agents[side].turn.is_none() && self.agents[side].submitted == 0;
                if free && let Some((_, text)) = self.agents[side].queue.pop_front() {
                    self.take_up(side, text, true);
                } else if !self.agents[side].queue.is_empty() {
                    self.after(1_000, Happening::LookAtQueue { side });
                }
            }
            Happening::Report { side } => self.background_report(side),
            Happening::DialogCloses { side } => self.agents[side].dialog = false,
            Happening::Outcome(..) | Happening::Key(..) | Happening::Kill => {}
        }
    }
}

/// The first characters of a text, for the timeline.
pub fn head(text: &str) -> String {
    let line: String = text.replace('\n', "⏎").chars().take(70).collect();
    line
}
