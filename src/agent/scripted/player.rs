//! One scripted agent as a pure step: what its transcript shows, what was sent to it, the time → lines to append.
//! No clock, file or thread: the real world plays it against files, the simulator in virtual time.
//! Nothing is remembered between steps but the messages that no one has taken up yet.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::conversation::{Conversation, Outcome, Turn};
use crate::model::ids::Agent;
use crate::model::tempo::Tempo;

use super::dialect::{self, Ending, Identity, Page};
use super::plan::{self, Act, ActKind, Names};
use super::script::{Actor, Pace, Reply, Rule, Then};

/// A message that was sent and not yet taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its text.
    pub text: Arc<str>,
    /// When it is taken up, if the agent is free then.
    pub due: Timestamp,
}

/// What comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Lines to append in one write; empty: nothing is due.
    pub lines: String,
    /// The pending message (by its place) that these lines take up.
    pub taken: Option<usize>,
    /// When to ask again at the latest; `None`: after the next message.
    pub wake_at: Option<Timestamp>,
}

/// What the agent is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// At its input box.
    Idle,
    /// A turn runs, or its background agent.
    Busy,
    /// A dialog is open: what it asks.
    Asking(String),
}

/// A scripted agent and its script. It knows nothing that is not in its transcript.
#[derive(Clone, Debug)]
pub struct Player {
    /// Who it is.
    pub who: Identity,
    actor: Actor,
    pace: Pace,
}

impl Player {
    /// An agent that plays `actor`.
    #[must_use]
    pub fn new(who: Identity, actor: Actor, pace: Pace) -> Self {
        Self { who, actor, pace }
    }

    /// Its part in the script.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The first lines of its transcript, with the conversation it had before, all in the past.
    #[must_use]
    pub fn opening(&self, at: Timestamp) -> String {
        let nothing = Conversation::new(self.who.agent);
        let mut page = Page::after(&self.who, &nothing, at);
        dialect::open(&mut page);
        if let Some(past) = &self.actor.past {
            let names = Names { session: &self.who.session_id, turn: 0 };
            dialect::prompt(&mut page, 0, &past.prompt, false);
            dialect::message(&mut page, names, 0, &[plan::Block::Say(past.answer.clone())]);
            dialect::end(&mut page, &Ending { turn: 0, began: at, last_words: Some(&past.answer) });
        }
        page.finish()
    }

    /// How long after it was sent the `n`th message is taken up, in milliseconds at normal speed.
    #[must_use]
    pub fn accept_after(&self, seen: &Conversation) -> u64 {
        let (least, most) = self.pace.accept_ms;
        let name = dialect::name_of(&self.who.session_id, &format!("accept{}", seen.length));
        let dice = name.get(..8).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
        least + dice % (most.saturating_sub(least) + 1)
    }

    /// What it is doing.
    #[must_use]
    pub fn activity(&self, seen: &Conversation) -> Activity {
        let Some((acts, at)) = self.standing(seen) else { return Activity::Idle };
        match acts.get(at).map(|act| &act.kind) {
            Some(ActKind::Result(tool)) if tool.asks => Activity::Asking("permission prompt".to_owned()),
            _ => Activity::Busy,
        }
    }

    /// What is due now, or when something will be.
    #[must_use]
    pub fn next(&self, seen: &Conversation, inbox: &[Pending], now: Timestamp, tempo: Tempo) -> Next {
        if let (Some((acts, at)), Some(turn)) = (self.standing(seen), seen.newest()) {
            let act = self.play(seen, turn, &acts, at, now, tempo);
            if !act.lines.is_empty() {
                return act;
            }
            let queued = self.enqueue(seen, inbox, now);
            return if queued.lines.is_empty() { earliest(act, queued.wake_at) } else { queued };
        }
        if let Some(waiting) = seen.queued.first() {
            let mut page = Page::after(&self.who, seen, now);
            dialect::prompt(&mut page, seen.turns.len(), &waiting.text, true);
            return Next { lines: page.finish(), ..Next::default() };
        }
        self.take_up(seen, inbox, now)
    }

    /// The acts of the turn that runs and the place in them; `None` at the input box.
    fn standing(&self, seen: &Conversation) -> Option<(Vec<Act>, usize)> {
        let turn = seen.newest()?;
        if matches!(turn.outcome, Some(Outcome::Failed(_) | Outcome::Interrupted | Outcome::Superseded)) {
            return None;
        }
        let index = seen.turns.len() - 1;
        let own_past = index == 0 && self.actor.past.is_some();
        if own_past && turn.outcome.is_some() {
            return None;
        }
        let acts = plan::acts(&self.reply(seen), &self.pace);
        let names = Names { session: &self.who.session_id, turn: index };
        plan::position(&acts, turn, names).map(|at| (acts, at))
    }

    /// The reply to the newest prompt: the rules are gone through again for every prompt of the transcript.
    fn reply(&self, seen: &Conversation) -> Reply {
        let mut used = vec![0_usize; self.actor.rules.len()];
        let mut reply = None;
        let own_past = usize::from(self.actor.past.is_some());
        for turn in seen.turns.iter().skip(own_past) {
            reply = self.pick(&mut used, &turn.prompt.text);
        }
        reply.cloned().unwrap_or_else(|| unanswered(seen.turns.len()))
    }

    fn pick(&self, used: &mut [usize], prompt: &str) -> Option<&Reply> {
        for (rule, used) in self.actor.rules.iter().zip(used) {
            if !rule.fits(prompt) {
                continue;
            }
            if let Some(reply) = at_use(rule, *used) {
                *used += 1;
                return Some(reply);
            }
        }
        None
    }

    fn play(&self, seen: &Conversation, turn: &Turn, acts: &[Act], at: usize, now: Timestamp, tempo: Tempo) -> Next {
        let Some(act) = acts.get(at) else { return Next::default() };
        if act.kind == ActKind::Silence {
            return Next::default();
        }
        let due = later(turn.last_record.at.unwrap_or(now), tempo.millis(act.after_ms));
        if due > now {
            return Next { wake_at: Some(due), ..Next::default() };
        }
        let names = Names { session: &self.who.session_id, turn: seen.turns.len() - 1 };
        let mut page = Page::after(&self.who, seen, now);
        let last_words = turn.answer.as_ref().map(|answer| answer.text.as_ref());
        let ending = Ending { turn: names.turn, began: turn.prompt.record.at.unwrap_or(now), last_words };
        let opener = at.saturating_sub(1);
        match &act.kind {
            ActKind::Message { blocks, leaves } => {
                dialect::message(&mut page, names, at, blocks);
                if *leaves {
                    dialect::claude::end(&mut page, &ending, 1);
                }
            }
            ActKind::Result(tool) => dialect::result(&mut page, names, opener, tool),
            ActKind::Launched(task) => dialect::claude::launched(&mut page, names, opener, task),
            // Launch, Launched, the words meanwhile, the report: the call stands three acts before.
            ActKind::Report(task) => dialect::claude::report(&mut page, names, at.saturating_sub(3), task),
            ActKind::End => dialect::end(&mut page, &ending),
            ActKind::Fail(fault) => {
                let fault =
                    super::script::Fault { resets_ms: fault.resets_ms.map(|wait| tempo.millis(wait)), ..fault.clone() };
                dialect::fail(&mut page, &ending, &fault);
            }
            ActKind::Interrupt => dialect::interrupt(&mut page, &ending),
            ActKind::Silence => {}
        }
        Next { lines: page.finish(), ..Next::default() }
    }

    /// A message that comes while the agent works: Claude puts it into its own queue, Codex's waits outside.
    fn enqueue(&self, seen: &Conversation, inbox: &[Pending], now: Timestamp) -> Next {
        let Some((place, first)) = first_due(inbox) else { return Next::default() };
        if self.who.agent == Agent::Codex {
            return Next::default();
        }
        if first.due > now {
            return Next { wake_at: Some(first.due), ..Next::default() };
        }
        let mut page = Page::after(&self.who, seen, now);
        dialect::claude::enqueue(&mut page, &first.text);
        Next { lines: page.finish(), taken: Some(place), wake_at: None }
    }

    fn take_up(&self, seen: &Conversation, inbox: &[Pending], now: Timestamp) -> Next {
        let Some((place, first)) = first_due(inbox) else { return Next::default() };
        if first.due > now {
            return Next { wake_at: Some(first.due), ..Next::default() };
        }
        let mut page = Page::after(&self.who, seen, now);
        dialect::prompt(&mut page, seen.turns.len(), &first.text, false);
        Next { lines: page.finish(), taken: Some(place), wake_at: None }
    }
}

fn at_use(rule: &Rule, used: usize) -> Option<&Reply> {
    match rule.then {
        Then::NextRule => rule.replies.get(used),
        Then::Last => rule.replies.get(used).or_else(|| rule.replies.last()),
        Then::Cycle => rule.replies.get(used % rule.replies.len().max(1)),
    }
}

/// What a prompt gets that no rule fits: said, so that a script's gap is seen at once.
fn unanswered(turns: usize) -> Reply {
    let words = format!("This script has no reply to message {turns} of this conversation.");
    Reply { beats: vec![super::script::Beat { kind: super::script::BeatKind::Say(words), after_ms: None }] }
}

fn first_due(inbox: &[Pending]) -> Option<(usize, &Pending)> {
    inbox.iter().enumerate().min_by_key(|(place, pending)| (pending.due, *place))
}

fn earliest(mut next: Next, other: Option<Timestamp>) -> Next {
    next.wake_at = [next.wake_at, other].into_iter().flatten().min();
    next
}

/// A time some milliseconds later.
pub(super) fn later(at: Timestamp, milliseconds: u64) -> Timestamp {
    let wait = SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX));
    at.checked_add(wait).unwrap_or(Timestamp::MAX)
}
