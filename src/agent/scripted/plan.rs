//! A reply as the acts that appear in a transcript, and how far a turn of the transcript has come in them.
//! Pure: the position is read from what the transcript shows, never remembered.

use crate::model::conversation::{Item, ItemKind, Outcome, Turn};
use crate::model::ids::SessionId;

use super::dialect::name_of;
use super::script::{BeatKind, Fault, Pace, Reply, ToolUse};

/// One thing that is written at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// What is written.
    pub kind: ActKind,
    /// Milliseconds after the act before it, at normal speed.
    pub after_ms: u64,
}

/// Kinds of acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActKind {
    /// A message of the agent. `leaves`: its turn is left while a background agent works.
    Message {
        /// Its blocks.
        blocks: Vec<Block>,
        /// The turn is left after it.
        leaves: bool,
    },
    /// The result of the call that ended the message before.
    Result(ToolUse),
    /// The background agent was started.
    Launched(String),
    /// The background agent reports.
    Report(String),
    /// The turn ends.
    End,
    /// The turn fails.
    Fail(Fault),
    /// A person stops the turn.
    Interrupt,
    /// Nothing more happens.
    Silence,
}

/// A block of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Thinking.
    Think(String),
    /// Text.
    Say(String),
    /// A tool call.
    Call(ToolUse),
    /// The start of a background agent.
    Launch(String),
}

impl Block {
    fn ends_message(&self) -> bool {
        matches!(self, Self::Call(_) | Self::Launch(_))
    }
}

/// The acts of a reply, in order.
#[must_use]
pub fn acts(reply: &Reply, pace: &Pace) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut wait = 0;
    let mut ended = false;
    for beat in &reply.beats {
        let before = beat.after_ms.unwrap_or(pace.beat_ms);
        match &beat.kind {
            BeatKind::Think(text) => {
                close(&mut acts, &mut blocks, &mut wait, false);
                wait += before;
                blocks.push(Block::Think(text.clone()));
            }
            BeatKind::Say(text) => {
                wait += before;
                blocks.push(Block::Say(text.clone()));
            }
            BeatKind::Tool(tool) => {
                wait += before;
                blocks.push(Block::Call(tool.clone()));
                close(&mut acts, &mut blocks, &mut wait, false);
                acts.push(Act { kind: ActKind::Result(tool.clone()), after_ms: tool.takes_ms });
            }
            BeatKind::Background { task, meanwhile, takes_ms } => {
                wait += before;
                blocks.push(Block::Launch(task.clone()));
                close(&mut acts, &mut blocks, &mut wait, false);
                acts.push(Act { kind: ActKind::Launched(task.clone()), after_ms: 30 });
                let words = if meanwhile.is_empty() { "The background agent works on it." } else { meanwhile };
                blocks.push(Block::Say(words.to_owned()));
                wait += pace.beat_ms;
                close(&mut acts, &mut blocks, &mut wait, true);
                acts.push(Act { kind: ActKind::Report(task.clone()), after_ms: *takes_ms });
            }
            BeatKind::Fail(_) | BeatKind::Interrupt | BeatKind::Silence => {
                close(&mut acts, &mut blocks, &mut wait, false);
                acts.push(Act { kind: last_act(&beat.kind), after_ms: before });
                ended = true;
            }
        }
        if ended {
            break;
        }
    }
    close(&mut acts, &mut blocks, &mut wait, false);
    if !ended {
        acts.push(Act { kind: ActKind::End, after_ms: pace.end_ms });
    }
    acts
}

fn last_act(kind: &BeatKind) -> ActKind {
    match kind {
        BeatKind::Fail(fault) => ActKind::Fail(fault.clone()),
        BeatKind::Interrupt => ActKind::Interrupt,
        _ => ActKind::Silence,
    }
}

/// A message appears as a whole, as the agents write it.
fn close(acts: &mut Vec<Act>, blocks: &mut Vec<Block>, wait: &mut u64, leaves: bool) {
    if blocks.is_empty() {
        return;
    }
    let kind = ActKind::Message { blocks: std::mem::take(blocks), leaves };
    acts.push(Act { kind, after_ms: std::mem::take(wait) });
}

/// Names of what one turn's acts leave in the transcript: equal for equal positions, so that they can be found again.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// The turn's place among the turns of the transcript.
    pub turn: usize,
}

impl Names<'_> {
    /// Of a message.
    #[must_use]
    pub fn message(self, act: usize, block: usize) -> String {
        format!("msg_{}", name_of(self.session, &format!("m{}.{act}.{block}", self.turn)))
    }

    /// Of the call that ends the message `act`.
    #[must_use]
    pub fn call(self, act: usize) -> String {
        name_of(self.session, &format!("c{}.{act}", self.turn))
    }
}

/// How far a turn has come: the first act that the transcript does not show. `None`: the turn is over.
#[must_use]
pub fn position(acts: &[Act], turn: &Turn, names: Names<'_>) -> Option<usize> {
    let seen = (0..acts.len()).rev().find(|&index| shows(acts, index, turn, names));
    let next = seen.map_or(0, |index| index + 1);
    let kind = &acts.get(next)?.kind;
    match &turn.outcome {
        // A turn that was left for a background agent goes on by itself.
        Some(Outcome::Completed) if matches!(kind, ActKind::Report(_)) => Some(next),
        Some(_) => None,
        None => Some(next),
    }
}

fn shows(acts: &[Act], index: usize, turn: &Turn, names: Names<'_>) -> bool {
    let Some(act) = acts.get(index) else { return false };
    let any = |test: &dyn Fn(&Item) -> bool| turn.items.iter().any(test);
    match &act.kind {
        ActKind::Message { blocks, .. } => blocks.iter().enumerate().any(|(block, what)| match what {
            Block::Think(words) => any(&|item| matches!(&item.kind, ItemKind::Thinking { text } if **text == **words)),
            Block::Say(_) => any(&|item| {
                matches!(&item.kind, ItemKind::Text { message_id, .. }
                if message_id.as_str() == names.message(index, 0) || message_id.as_str() == names.message(index, block))
            }),
            Block::Call(_) | Block::Launch(_) => any(&|item| called(item, &names.call(index)).is_some()),
        }),
        ActKind::Result(_) | ActKind::Launched(_) => {
            let call = names.call(index.saturating_sub(1));
            any(&|item| called(item, &call) == Some(true))
        }
        ActKind::Report(_) => {
            let wanted = acts.iter().take(index + 1).filter(|act| matches!(act.kind, ActKind::Report(_))).count();
            turn.items.iter().filter(|item| matches!(item.kind, ItemKind::Report { .. })).count() >= wanted
        }
        ActKind::End | ActKind::Fail(_) | ActKind::Interrupt | ActKind::Silence => false,
    }
}

/// Whether the item is that call, and whether its result is there.
fn called(item: &Item, call: &str) -> Option<bool> {
    match &item.kind {
        ItemKind::Tool { call_id, ok, .. } if call_id.contains(call) => Some(ok.is_some()),
        _ => None,
    }
}

/// Whether a message's blocks end with a call (its stop reason is then `tool_use`).
#[must_use]
pub fn calls(blocks: &[Block]) -> bool {
    blocks.last().is_some_and(Block::ends_message)
}
