//! The fake agents: their transcripts, queues and turns. What they say is `brain`'s, how it is written `dialect`'s.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};
use trellis::model::ids::{Agent, EntryId, SessionId, SessionKey, SessionRef};

use super::brain::Brain;
use super::dialect::{Line, Writer};
use super::ingredients::Ingredient;
use super::plan::Plan;
use super::world::{Happening, IMPLEMENTER, Typed, World, head};

/// A text on its way into a turn.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub text: String,
    /// A person's own words.
    pub human: bool,
    /// The id of its row, where it came through a queue of trellis'.
    pub queue_id: String,
}

impl Prompt {
    pub fn new(text: impl Into<String>, human: bool) -> Self {
        Self { text: text.into(), human, queue_id: String::new() }
    }
}

/// One conversation of an agent with its file.
#[derive(Clone, Debug)]
pub struct Chat {
    pub session: SessionRef,
    writer: Writer,
    pub file: Vec<u8>,
    /// All that was ever written to it, what was lost with its end too.
    pub written: Vec<u8>,
    /// Changes when another file stands in its place.
    pub identity: u64,
    /// Changes when what was read before counts no more.
    pub generation: u64,
    /// The rest of a line that is half written.
    rest: Vec<u8>,
}

/// A turn under way.
#[derive(Clone, Debug)]
pub struct Running {
    number: u64,
    steps: VecDeque<(u64, Vec<Line>)>,
    prompt: String,
    /// The mind as it was before, for a turn that comes to nothing.
    before: Brain,
}

/// One agent with its pane.
pub struct FakeAgent {
    pub kind: Agent,
    pub chats: Vec<Chat>,
    /// What stands in the input box.
    pub input: String,
    pub dialog: bool,
    /// The message that trellis pressed Enter on last, as its pane keeps it.
    pub entered: Option<EntryId>,
    pub box_unknown_until: Option<Timestamp>,
    pub alive: bool,
    pub started_at: Timestamp,
    /// Rises when its process ends.
    pub life: u32,
    /// Submitted, not yet recorded.
    pub submitted: u32,
    /// Texts of trellis' among them, and since when in lived time.
    pub unrecorded: Vec<(String, SignedDuration)>,
    /// The agent's own queue.
    pub queue: VecDeque<Prompt>,
    pub turn: Option<Running>,
    turns: u64,
    pub background: u32,
    limited_until: Option<Timestamp>,
    /// Prompts that a person typed, by text.
    pub human: Vec<String>,
    /// Prompts that it took up once more of its own accord.
    pub doubled: Vec<String>,
    pub brain: Brain,
}

impl FakeAgent {
    pub fn implementer(plan: &Plan, at: Timestamp) -> Self {
        Self::new(plan.implementer, "builder", Brain::implementer(plan), at)
    }

    pub fn reviewer(plan: &Plan, at: Timestamp) -> Self {
        Self::new(plan.reviewer, "critic", Brain::reviewer(plan), at)
    }

    fn new(kind: Agent, name: &str, brain: Brain, at: Timestamp) -> Self {
        Self {
            kind,
            chats: vec![Chat::new(kind, &format!("{name}-{}", kind.as_str()))],
            input: String::new(),
            dialog: false,
            entered: None,
            box_unknown_until: None,
            alive: true,
            started_at: at,
            life: 0,
            submitted: 0,
            unrecorded: Vec::new(),
            queue: VecDeque::new(),
            turn: None,
            turns: 0,
            background: 0,
            limited_until: None,
            human: Vec::new(),
            doubled: Vec::new(),
            brain,
        }
    }

    /// The conversation it is in.
    pub fn chat(&self) -> &Chat {
        self.chats.last().unwrap()
    }

    fn chat_mut(&mut self) -> &mut Chat {
        self.chats.last_mut().unwrap()
    }

    pub fn session(&self) -> &SessionRef {
        &self.chat().session
    }

    /// Nothing goes on in it; of what lies in its box nothing comes by itself, and nothing at all of one that is gone.
    pub fn is_at_rest(&self) -> bool {
        let works = self.turn.is_some() || self.submitted > 0 || self.background > 0;
        !self.alive || !(works || self.dialog || !self.queue.is_empty())
    }

    fn is_free(&self) -> bool {
        self.alive && self.is_at_rest() && self.input.is_empty()
    }
}

impl Chat {
    fn new(kind: Agent, session: &str) -> Self {
        Self {
            session: SessionRef {
                agent: kind,
                worktree: "/sim/shop".into(),
                session_id: SessionId::new(session.to_owned()),
            },
            writer: Writer::new(kind, session, "/sim/shop"),
            file: Vec::new(),
            written: Vec::new(),
            identity: 1,
            generation: 1,
            rest: Vec::new(),
        }
    }
}

impl World {
    /// Both sessions have been greeted before trellis comes.
    pub fn greet(&mut self, side: usize) {
        let text = format!("You are side {side}. Reply READY.");
        let lines = [
            Line::Prompt { text: text.clone(), queued: false },
            Line::Text { message: format!("greet{side}"), text: "READY".into(), last: true },
            Line::End { last: Some("READY".into()) },
        ];
        self.agents[side].human.push(text);
        self.write(side, &lines);
    }

    fn write(&mut self, side: usize, lines: &[Line]) {
        let now = self.now;
        let chat = self.agents[side].chat_mut();
        let bytes = chat.writer.write(now, lines);
        chat.file.extend_from_slice(&bytes);
        chat.written.extend_from_slice(&bytes);
        self.changed.push(side);
    }

    /// Appends lines as the agent does: perhaps in two pieces, perhaps the last one twice.
    fn append(&mut self, side: usize, lines: &[Line]) {
        self.flush(side);
        self.write(side, lines);
        let is_prompt = |line: &Line| matches!(line, Line::Prompt { .. } | Line::Absorbed { .. });
        let has_prompt = lines.iter().any(is_prompt);
        // What has no id of its own would be another one of its kind.
        let has_id = !matches!(lines.last(), Some(Line::Enqueue { .. } | Line::Dequeue | Line::Remove));
        let repeatable = self.agents[side].kind == Agent::Claude && !has_prompt && has_id;
        if repeatable && self.strikes(Ingredient::RepeatedLine) {
            let chat = self.agents[side].chat_mut();
            let from = chat.file[..chat.file.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            chat.written.extend_from_slice(&chat.file[from..]);
            chat.file.extend_from_within(from..);
        }
        if !has_prompt && self.strikes(Ingredient::TornLine) {
            let chat = self.agents[side].chat_mut();
            let from = chat.file[..chat.file.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            chat.rest = chat.file.split_off(from + (chat.file.len() - from) / 2);
            let wait = self.between(Ingredient::TornLine, 100, 5_000);
            self.after(wait, Happening::Rest { side });
        }
        self.say(format!("  {side} writes {}", names(lines)));
    }

    /// The rest of a torn line is written.
    pub fn flush(&mut self, side: usize) {
        let chat = self.agents[side].chat_mut();
        if !chat.rest.is_empty() {
            let rest = std::mem::take(&mut chat.rest);
            chat.file.extend_from_slice(&rest);
            self.changed.push(side);
        }
    }

    /// Enter was pressed on a text.
    pub fn submit(&mut self, side: usize, prompt: Prompt) {
        if prompt.human {
            self.agents[side].human.push(prompt.text.clone());
        }
        let who = if prompt.human { "person" } else { "trellis" };
        self.say(format!("{who} submits to {side}: {}", head(&prompt.text)));
        if !self.agents[side].alive {
            return;
        }
        if self.agents[side].turn.is_some() {
            return match self.agents[side].kind {
                Agent::Claude => self.enqueue(side, prompt),
                Agent::Codex => self.absorb(side, prompt),
            };
        }
        if !prompt.human && self.strikes(Ingredient::Swallowed) {
            return;
        }
        self.agents[side].submitted += 1;
        if !prompt.human {
            let now = self.lived();
            self.agents[side].unrecorded.push((prompt.text.clone(), now));
        }
        let wait = if !prompt.human && self.strikes(Ingredient::Unconfirmed) {
            self.between(Ingredient::Unconfirmed, 61_000, 300_000)
        } else if self.strikes(Ingredient::LatePrompt) {
            self.between(Ingredient::LatePrompt, 800, 6_000)
        } else {
            self.rng.between(150, 800)
        };
        let life = self.agents[side].life;
        self.after(wait, Happening::TakeUp { side, prompt, life });
    }

    fn enqueue(&mut self, side: usize, prompt: Prompt) {
        self.append(side, &[Line::Enqueue { text: prompt.text.clone() }]);
        self.agents[side].queue.push_back(prompt);
    }

    fn absorb(&mut self, side: usize, prompt: Prompt) {
        let how = match self.agents[side].kind {
            Agent::Claude => Ingredient::Absorbed,
            Agent::Codex => Ingredient::Steered,
        };
        self.strikes(how);
        self.say(format!("{side} absorbs: {}", head(&prompt.text)));
        self.append(side, &[Line::Absorbed { text: prompt.text.clone() }]);
        self.note_typed(side, &prompt);
        self.begin(side, &prompt.text);
    }

    /// A submitted text reaches the agent.
    pub fn taken_up(&mut self, side: usize, prompt: Prompt, life: u32) {
        if self.agents[side].life != life {
            return;
        }
        let agent = &mut self.agents[side];
        agent.submitted -= 1;
        if let Some(at) = agent.unrecorded.iter().position(|(text, _)| *text == prompt.text) {
            agent.unrecorded.remove(at);
        }
        self.take_up(side, prompt, false);
    }

    fn take_up(&mut self, side: usize, prompt: Prompt, queued: bool) {
        let kind = self.agents[side].kind;
        if self.agents[side].turn.is_some() {
            return match kind {
                Agent::Claude => self.enqueue(side, prompt),
                Agent::Codex if queued => self.agents[side].queue.push_front(prompt),
                Agent::Codex => self.absorb(side, prompt),
            };
        }
        self.say(format!("{side} takes up: {}", head(&prompt.text)));
        let mut lines = Vec::new();
        if queued && kind == Agent::Claude {
            lines.push(Line::Dequeue);
        }
        lines.push(Line::Prompt { text: prompt.text.clone(), queued });
        self.append(side, &lines);
        self.note_typed(side, &prompt);
        self.begin(side, &prompt.text);
        if !prompt.human && self.strikes(Ingredient::DoubledPrompt) {
            self.agents[side].doubled.push(prompt.text.clone());
            match kind {
                Agent::Claude => self.enqueue(side, prompt),
                Agent::Codex => self.agents[side].queue.push_back(prompt),
            }
        }
    }

    fn note_typed(&mut self, side: usize, prompt: &Prompt) {
        if prompt.human {
            let session: SessionKey = self.agents[side].session().key();
            let awaited = self.open_wait == Some(side);
            self.typed.push(Typed { side, session, text: prompt.text.clone(), awaited });
        }
    }

    /// Plans the turn (or the rest of it) that answers a prompt.
    fn begin(&mut self, side: usize, text: &str) {
        let before = self.agents[side].brain.clone();
        let mut steps = VecDeque::new();
        let limited = self.agents[side].limited_until.filter(|until| *until > self.now);
        if limited.is_none() && self.strikes(Ingredient::Limit) {
            let wait = self.between(Ingredient::Limit, 5, 90);
            self.agents[side].limited_until = Some(self.now + SignedDuration::from_mins(i64::try_from(wait).unwrap()));
        }
        if let Some(until) = self.agents[side].limited_until.filter(|until| *until > self.now) {
            let until = Timestamp::from_second(until.as_second() + 1).unwrap();
            let words = format!("You've hit your usage limit. Try again at {until}");
            let wait = self.rng.between(200, 2_000);
            steps.push_back((wait, vec![Line::Failed { status: 429, words }]));
            self.agents[side].brain.unfinish(text);
        } else {
            self.plan_answer(side, text, &mut steps);
        }
        self.agents[side].turns += 1;
        let number = self.agents[side].turns;
        self.agents[side].turn = Some(Running { number, steps, prompt: text.to_owned(), before });
        self.schedule_step(side, number);
    }

    fn plan_answer(&mut self, side: usize, text: &str, steps: &mut VecDeque<(u64, Vec<Line>)>) {
        let failures = [Ingredient::Interruption, Ingredient::FailedTurn, Ingredient::NoAnswer];
        let failure = failures.into_iter().find(|what| self.strikes(*what));
        let agent = &mut self.agents[side];
        let reply = agent.brain.reply(text, failure, &mut self.rng, &self.plan);
        for _ in 0..self.rng.between(0, 2) {
            let call = self.id("call");
            let wait = self.rng.between(100, 4_000);
            steps.push_back((wait, vec![Line::Tool { call: call.clone(), command: "cargo test".into() }]));
            let wait = self.rng.between(100, 20_000);
            steps.push_back((wait, vec![Line::ToolResult { call }]));
        }
        let claude = self.agents[side].kind == Agent::Claude;
        if failure.is_none() && claude && side == IMPLEMENTER && self.strikes(Ingredient::Report) {
            steps.push_back((200, vec![Line::Launch { call: "launch".into() }]));
        }
        if self.strikes(Ingredient::SilentTurn) {
            let wait = self.between(Ingredient::SilentTurn, 1_200_000, 3_600_000);
            self.agents[side].brain.unfinish(text);
            steps.push_back((wait, vec![Line::Interrupted]));
            return;
        }
        let slow = self.strikes(Ingredient::SlowTurn);
        let wait =
            if slow { self.between(Ingredient::SlowTurn, 30_000, 1_200_000) } else { self.rng.between(200, 8_000) };
        steps.push_back((wait, reply.lines(self.ids())));
        let end = self.rng.between(5, 150);
        steps.push_back((end, reply.ending()));
    }

    fn schedule_step(&mut self, side: usize, turn: u64) {
        let wait = self.agents[side].turn.as_ref().and_then(|running| running.steps.front().map(|(wait, _)| *wait));
        if let Some(wait) = wait {
            self.after(wait, Happening::TurnStep { side, turn });
        }
    }

    pub fn turn_step(&mut self, side: usize, number: u64) {
        let Some(running) = self.agents[side].turn.as_mut().filter(|running| running.number == number) else { return };
        let Some((_, lines)) = running.steps.pop_front() else { return };
        let over = running.steps.is_empty();
        if lines.iter().any(|line| matches!(line, Line::Launch { .. })) {
            self.agents[side].background += 1;
            let wait = self.rng.between(3_000, 40_000);
            let life = self.agents[side].life;
            self.after(wait, Happening::Report { side, life });
        }
        let results = lines.iter().any(|line| matches!(line, Line::ToolResult { .. }));
        self.append(side, &lines);
        if over {
            self.say(format!("{side} ends its turn"));
            self.agents[side].turn = None;
            self.after(30, Happening::LookAtQueue { side });
            return;
        }
        if results
            && self.agents[side].kind == Agent::Claude
            && self.rng.chance(50)
            && let Some(prompt) = self.agents[side].queue.pop_front()
        {
            self.append(side, &[Line::Remove]);
            return self.absorb(side, prompt);
        }
        self.schedule_step(side, number);
    }

    pub fn background_report(&mut self, side: usize, life: u32) {
        if self.agents[side].life != life {
            return;
        }
        if self.agents[side].turn.is_some() {
            return self.after(2_000, Happening::Report { side, life });
        }
        self.agents[side].background = self.agents[side].background.saturating_sub(1);
        self.say(format!("a background agent of {side} reports"));
        self.append(side, &[Line::Report { text: "all looked at".into() }]);
        let before = self.agents[side].brain.clone();
        let reply = self.agents[side].brain.after_report();
        self.agents[side].turns += 1;
        let number = self.agents[side].turns;
        let wait = self.rng.between(200, 5_000);
        let steps = VecDeque::from([(wait, reply.lines(self.ids())), (50, reply.ending())]);
        self.agents[side].turn = Some(Running { number, steps, prompt: String::new(), before });
        self.schedule_step(side, number);
    }

    pub fn queue_insert(&mut self, side: usize, session: &SessionKey, id: String, text: String) {
        if self.side_of(session) != Some(side) || self.strikes(Ingredient::Swallowed) {
            return self.say(format!("{id} never comes to the queue of {side}"));
        }
        self.say(format!("the queue of {side} holds {id}: {}", head(&text)));
        self.agents[side].queue.push_back(Prompt { text, human: false, queue_id: id });
        let wait = if self.strikes(Ingredient::LongQueue) {
            self.between(Ingredient::LongQueue, 60_000, 1_200_000)
        } else {
            self.rng.between(200, 8_000)
        };
        self.after(wait, Happening::LookAtQueue { side });
    }

    pub fn look_at_queue(&mut self, side: usize) {
        let agent = &mut self.agents[side];
        let free = agent.alive && agent.turn.is_none() && agent.submitted == 0;
        if free && let Some(prompt) = agent.queue.pop_front() {
            self.take_up(side, prompt, true);
        } else if !self.agents[side].queue.is_empty() {
            self.after(1_000, Happening::LookAtQueue { side });
        }
    }

    /// The running turn comes to nothing; what it had begun is not done.
    fn cut(&mut self, side: usize) {
        if let Some(running) = self.agents[side].turn.take() {
            self.agents[side].brain.falls_back_to(running.before);
            if !running.prompt.is_empty() {
                self.agents[side].brain.unfinish(&running.prompt);
            }
        }
    }

    /// A person presses Esc.
    pub fn escape(&mut self, side: usize) {
        if self.agents[side].turn.is_some() && self.strikes(Ingredient::PressesEsc) {
            self.cut(side);
            self.append(side, &[Line::Interrupted]);
            self.after(30, Happening::LookAtQueue { side });
        }
    }

    /// The agent's process dies, and with it what it held in memory.
    pub fn crash(&mut self, side: usize) {
        if !self.agents[side].alive || !self.strikes(Ingredient::Crash) {
            return;
        }
        self.flush(side);
        self.cut(side);
        let agent = &mut self.agents[side];
        (agent.alive, agent.life, agent.submitted, agent.background) = (false, agent.life + 1, 0, 0);
        agent.unrecorded.clear();
        agent.input.clear();
        agent.dialog = false;
        if agent.kind == Agent::Claude {
            agent.queue.clear();
        }
        self.say(format!("the process of {side} is gone"));
    }

    pub fn revive(&mut self, side: usize) {
        if !self.agents[side].alive {
            self.agents[side].alive = true;
            self.agents[side].started_at = self.now;
            self.say(format!("{side} is started again on its session"));
            self.after(500, Happening::LookAtQueue { side });
        }
    }

    /// `/clear` or `/new`: the same pane, another session.
    pub fn clear(&mut self, side: usize) {
        if !self.agents[side].alive || !self.agents[side].is_free() || !self.strikes(Ingredient::Cleared) {
            return;
        }
        self.flush(side);
        let agent = &mut self.agents[side];
        let name = agent.chats[0].session.session_id.as_str().to_owned();
        let session = format!("{name}-after-{}", agent.chats.len());
        agent.chats.push(Chat::new(agent.kind, &session));
        self.say(format!("{side} goes over to the session {session}"));
    }

    /// Whether a text still stands in a session's file: it may have gone with the end of it, and then it says nothing.
    pub fn still_says(&self, session: &SessionKey, text: &str) -> bool {
        !self.struck.contains_key(&Ingredient::LostTail)
            || self
                .place_of(session)
                .is_some_and(|(side, chat)| String::from_utf8_lossy(&self.agents[side].chats[chat].file).contains(text))
    }

    /// The file is put in its place anew, with other numbers of the file system.
    pub fn rotate(&mut self, side: usize) {
        if self.strikes(Ingredient::RotatedFile) {
            self.flush(side);
            let chat = self.agents[side].chat_mut();
            chat.identity += 1;
            chat.generation += 1;
            self.changed.push(side);
        }
    }

    /// The last lines of the file are gone, as behind a loss of power.
    pub fn lose_tail(&mut self, side: usize) {
        if self.agents[side].turn.is_some() || !self.strikes(Ingredient::LostTail) {
            return;
        }
        self.flush(side);
        let lines = self.between(Ingredient::LostTail, 1, 3);
        let chat = self.agents[side].chat_mut();
        for _ in 0..lines {
            let end = chat.file.len().saturating_sub(1);
            let from = chat.file[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if from > 0 {
                chat.file.truncate(from);
            }
        }
        chat.generation += 1;
        self.changed.push(side);
    }
}

fn names(lines: &[Line]) -> String {
    let name = |line: &Line| match line {
        Line::Text { text, .. } => format!("Text {:?}", head(text)),
        Line::Failed { words, .. } => format!("Failed {:?}", head(words)),
        line => format!("{line:?}").split([' ', '{']).next().unwrap_or_default().to_owned(),
    };
    lines.iter().map(name).collect::<Vec<_>>().join(", ")
}
