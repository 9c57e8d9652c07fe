//! The turns as they grow: what both dialects do to a conversation, in words of `loops.md`.
//! No field name of an agent is known here.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::failure;
use super::resets::Resets;
use crate::model::conversation::{
    Answer, Conversation, Failure, Item, ItemKind, Outcome, Prompt, PromptSource, QueuedPrompt, RecordPos, Turn,
};
use crate::model::growing::Growing;
use crate::model::ids::{Agent, MessageId, SessionId, TurnId};
use crate::model::text::{first_line, unwrap_pastes};

/// A conversation under construction.
#[derive(Debug)]
pub(super) struct Turns {
    told: Arc<Conversation>,
    /// What was said first is not seen: it has no title.
    begins_inside: bool,
    /// The turns' ids, so that none is given twice.
    ids: HashSet<TurnId>,
    /// Where each tool call stands: turn, item.
    calls: HashMap<String, (usize, usize)>,
    /// The text blocks of the newest turn's answer.
    answer_blocks: Vec<Arc<str>>,
    /// Whether the newest turn's end was recorded as such, and not concluded from its last message.
    ended_firmly: bool,
    /// The call that asks a person something.
    asking: Option<String>,
    resets: Resets,
}

/// A tool call as a dialect read it.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) edits: bool,
    /// The question, if the tool asks a person one.
    pub(super) question: Option<String>,
    /// Lines added and removed, where the call itself says it.
    pub(super) lines: Option<(u32, u32)>,
}

impl Turns {
    pub(super) fn new(agent: Agent, resets: Resets) -> Self {
        Self {
            told: Arc::new(Conversation::new(agent)),
            begins_inside: false,
            ids: HashSet::new(),
            calls: HashMap::new(),
            answer_blocks: Vec::new(),
            ended_firmly: false,
            asking: None,
            resets,
        }
    }

    pub(super) fn conversation(&self) -> &Arc<Conversation> {
        &self.told
    }

    fn edit(&mut self) -> &mut Conversation {
        Arc::make_mut(&mut self.told)
    }

    fn turn(&mut self) -> Option<&mut Turn> {
        self.edit().turns.last_mut()
    }

    /// What is read from now on belongs to a turn that began before; its prompt is not known.
    pub(super) fn begin_inside(&mut self, pos: &RecordPos) {
        self.begins_inside = true;
        self.begin(pos, TurnId::new(pos.id.as_str()), "", PromptSource::Unsaid);
    }

    // ----- the file -----

    pub(super) fn consumed(&mut self, length: u64) {
        if self.told.length != length {
            self.edit().length = length;
        }
    }

    pub(super) fn damaged(&mut self) {
        self.edit().damaged += 1;
    }

    pub(super) fn unknown(&mut self, kind: &str) {
        // A type is hostile text too: neither its length nor the number of types may grow without bound.
        let mut kind: String = kind.chars().filter(|c| !c.is_control()).take(80).collect();
        let unknown = &mut self.edit().unknown;
        if unknown.len() >= 200 && !unknown.contains_key(&kind) {
            "other".clone_into(&mut kind);
        }
        *unknown.entry(kind).or_default() += 1;
    }

    /// A record that has an id.
    pub(super) fn seen(&mut self, pos: &RecordPos) {
        let told = self.edit();
        told.positions.insert(&pos.id, pos.offset);
        told.last_record = Some(pos.clone());
    }

    /// Whether a record of this id was there before.
    pub(super) fn has_seen(&self, pos: &RecordPos) -> bool {
        self.told.offset_of(&pos.id).is_some()
    }

    /// Something of the conversation was written.
    pub(super) fn spoke(&mut self, at: Option<Timestamp>) {
        if at > self.told.last_spoken_at {
            self.edit().last_spoken_at = at;
        }
    }

    pub(super) fn session(&mut self, id: &str) {
        if self.told.session_id.as_ref().is_none_or(|known| known.as_str() != id) {
            self.edit().session_id = Some(SessionId::new(id));
        }
    }

    pub(super) fn place(&mut self, cwd: Option<&str>, branch: Option<&str>, cli_version: Option<&str>) {
        fn differs(known: Option<&String>, new: Option<&str>) -> bool {
            new.is_some_and(|new| !new.is_empty() && known.is_none_or(|known| known != new))
        }
        if differs(self.told.cwd.as_ref(), cwd) {
            self.edit().cwd = cwd.map(str::to_owned);
        }
        if differs(self.told.branch.as_ref(), branch) {
            self.edit().branch = branch.map(str::to_owned);
        }
        if differs(self.told.cli_version.as_ref(), cli_version) {
            self.edit().cli_version = cli_version.map(str::to_owned);
        }
    }

    pub(super) fn waiting(&mut self, queued: Vec<QueuedPrompt>) {
        if self.told.queued != queued {
            self.edit().queued = queued;
        }
    }

    /// How many background agents are out, by a record of this time.
    pub(super) fn background(&mut self, agents: usize, at: Option<Timestamp>) {
        let agents = u32::try_from(agents).unwrap_or(u32::MAX);
        if self.told.background_agents != agents {
            let is_more = agents > self.told.background_agents;
            let told = self.edit();
            told.background_agents = agents;
            if is_more {
                told.background_since = at;
            }
        }
    }

    // ----- a turn -----

    /// A prompt was taken up. A turn that still ran ends as superseded. A file that gives an id twice does not make two
    /// turns one: the later gets the place of its prompt behind it.
    pub(super) fn begin(&mut self, pos: &RecordPos, id: TurnId, text: &str, source: PromptSource) {
        let id = if self.ids.contains(&id) { TurnId::new(format!("{id}@{}", pos.offset)) } else { id };
        self.ids.insert(id.clone());
        let knows_first = !self.begins_inside;
        let told = self.edit();
        if let Some(open) = told.turns.last_mut().filter(|turn| turn.outcome.is_none()) {
            open.outcome = Some(Outcome::Superseded);
            open.ended_at = pos.at;
        }
        if told.title.is_none() && knows_first {
            told.title = Some(first_line(&unwrap_pastes(text))).filter(|title| !title.is_empty());
        }
        told.turns.push(Turn {
            id,
            prompt: Prompt { record: pos.clone(), text: text.into(), source },
            outcome: None,
            answer: None,
            items: Growing::new(),
            edited_files: false,
            last_record: pos.clone(),
            ended_at: None,
        });
        self.answer_blocks.clear();
        self.ended_firmly = false;
        self.stop_asking();
    }

    fn stop_asking(&mut self) {
        self.asking = None;
        if self.told.question.is_some() {
            self.edit().question = None;
        }
    }

    /// The agent did something. A turn that had ended goes on, unless the record is older than its end: messages are
    /// written in batches and may come into the file after it. Says whether the record is of the running turn.
    fn stir(&mut self, pos: &RecordPos) -> bool {
        let firm = self.ended_firmly;
        let Some(turn) = self.turn() else { return false };
        turn.last_record = pos.clone();
        if turn.outcome.is_none() {
            return true;
        }
        let late = firm && pos.at.is_some() && pos.at <= turn.ended_at;
        if late {
            return false;
        }
        turn.outcome = None;
        turn.ended_at = None;
        self.ended_firmly = false;
        true
    }

    fn add(&mut self, pos: &RecordPos, kind: ItemKind) {
        if let Some(turn) = self.turn() {
            turn.last_record = pos.clone();
            turn.items.push(Item { offset: pos.offset, at: pos.at, kind });
        }
    }

    /// A text block of the agent.
    pub(super) fn text(&mut self, pos: &RecordPos, message: &MessageId, text: &str) {
        self.stir(pos);
        if text.trim().is_empty() {
            return;
        }
        let text: Arc<str> = text.into();
        self.add(pos, ItemKind::Text { message_id: message.clone(), text: Arc::clone(&text) });
        let Some(turn) = Arc::make_mut(&mut self.told).turns.last_mut() else { return };
        let same = turn.answer.take().filter(|answer| &answer.message_id == message);
        if same.is_none() {
            self.answer_blocks.clear();
        }
        self.answer_blocks.push(text);
        turn.answer = Some(Answer {
            message_id: message.clone(),
            text: join(&self.answer_blocks),
            offset: same.map_or(pos.offset, |first| first.offset),
            at: pos.at,
        });
    }

    pub(super) fn thinking(&mut self, pos: &RecordPos, text: &str) {
        self.stir(pos);
        if !text.trim().is_empty() {
            self.add(pos, ItemKind::Thinking { text: text.into() });
        }
    }

    /// A tool was called. A second record of the same call changes nothing.
    pub(super) fn call(&mut self, pos: &RecordPos, call: Call) {
        self.stir(pos);
        if self.told.turns.is_empty() || self.calls.contains_key(&call.id) {
            return;
        }
        let Call { id, name, summary, edits, question, lines } = call;
        if let Some(question) = question {
            self.asking = Some(id.clone());
            self.edit().question = Some(question.chars().take(2_000).collect());
        }
        self.add(pos, ItemKind::Tool { call_id: id.clone(), name, summary, lines, ok: None });
        if let Some(turn) = self.turn() {
            turn.edited_files |= edits;
            let item = turn.items.len().saturating_sub(1);
            let place = (self.told.turns.len().saturating_sub(1), item);
            self.calls.insert(id, place);
        }
    }

    /// Files were edited by a call whose name does not say so.
    pub(super) fn edited(&mut self) {
        if let Some(turn) = self.turn() {
            turn.edited_files = true;
        }
    }

    /// A tool's result. What was said before it is no answer.
    pub(super) fn result(&mut self, pos: &RecordPos, call: &str, ok: Option<bool>, lines: Option<(u32, u32)>) {
        if self.asking.as_deref() == Some(call) {
            self.stop_asking();
        }
        self.note_result(call, ok, lines);
        if self.stir(pos) {
            self.forget_answer();
        }
    }

    /// The result of a tool that went on after its turn was over: neither that turn nor the one that runs hears of it.
    pub(super) fn result_after_end(&mut self, pos: &RecordPos, call: &str, ok: Option<bool>) {
        self.note_result(call, ok, None);
        self.touch(pos);
    }

    fn note_result(&mut self, call: &str, ok: Option<bool>, lines: Option<(u32, u32)>) {
        if let Some((turn, item)) = self.calls.get(call).copied()
            && let Some(item) = self.edit().turns.get_mut(turn).and_then(|turn| turn.items.get_mut(item))
            && let ItemKind::Tool { ok: known, lines: known_lines, .. } = &mut item.kind
        {
            *known = known.or(ok);
            *known_lines = lines.or(*known_lines);
        }
    }

    /// Whether a call was made in a turn before the newest one.
    pub(super) fn is_of_an_older_turn(&self, call: &str) -> bool {
        self.calls.get(call).is_some_and(|(turn, _)| turn + 1 < self.told.turns.len())
    }

    /// Whether the call is one of ours to complete.
    pub(super) fn has_call(&self, call: &str) -> bool {
        self.calls.contains_key(call)
    }

    /// What was said last was cut off: no answer.
    pub(super) fn cut_off(&mut self) {
        self.forget_answer();
    }

    fn forget_answer(&mut self) {
        self.answer_blocks.clear();
        if let Some(turn) = self.turn() {
            turn.answer = None;
        }
    }

    /// A background agent or task reported, and the agent goes on from there.
    pub(super) fn report(&mut self, pos: &RecordPos, text: &str) {
        self.remark(pos, ItemKind::Report { text: text.into() });
        self.ended_firmly = false;
        if let Some(turn) = self.turn() {
            turn.outcome = None;
            turn.ended_at = None;
        }
        self.forget_answer();
    }

    /// Something that stands in the turn and changes neither its outcome nor its answer.
    pub(super) fn remark(&mut self, pos: &RecordPos, kind: ItemKind) {
        self.add(pos, kind);
    }

    /// The record belongs to the turn.
    pub(super) fn touch(&mut self, pos: &RecordPos) {
        if let Some(turn) = self.turn() {
            turn.last_record = pos.clone();
        }
    }

    /// The turn ended as the agent wanted: by its own record (`firm`), or concluded from its last message.
    pub(super) fn complete(&mut self, pos: &RecordPos, firm: bool) {
        let limit = self.limit_notice(pos.at);
        let Some(turn) = self.turn() else { return };
        turn.last_record = pos.clone();
        match turn.outcome {
            None => turn.outcome = Some(limit.map_or(Outcome::Completed, Outcome::Failed)),
            Some(Outcome::Completed) => {}
            // A failure or interruption stands until the agent does something more.
            Some(_) => return,
        }
        turn.ended_at = pos.at;
        self.ended_firmly = firm;
        self.stop_asking();
    }

    /// The turn failed. A turn whose end was recorded before keeps its outcome.
    pub(super) fn fail(&mut self, pos: &RecordPos, failure: Failure) {
        self.add(pos, ItemKind::Notice { text: failure.text.as_str().into() });
        self.conclude(pos, Outcome::Failed(failure), false);
    }

    /// A person stopped the turn, or it was replaced.
    pub(super) fn stop(&mut self, pos: &RecordPos, outcome: Outcome) {
        self.conclude(pos, outcome, true);
        self.stop_asking();
    }

    fn conclude(&mut self, pos: &RecordPos, outcome: Outcome, firm: bool) {
        let was_firm = self.ended_firmly;
        let Some(turn) = self.turn() else { return };
        turn.last_record = pos.clone();
        if turn.outcome.is_some() && was_firm {
            return;
        }
        turn.outcome = Some(outcome);
        turn.ended_at = pos.at;
        self.ended_firmly = firm;
    }

    /// If all that the agent said is that a limit is reached, that is no answer but a failure.
    pub(super) fn end_at_limit_notice(&mut self, pos: &RecordPos) {
        if let Some(failure) = self.limit_notice(pos.at) {
            self.conclude(pos, Outcome::Failed(failure), false);
        }
    }

    fn limit_notice(&self, at: Option<Timestamp>) -> Option<Failure> {
        let answer = self.told.newest()?.answer.as_ref()?;
        failure::is_limit_notice(&answer.text)
            .then(|| self.failure(&failure::Hints { text: &answer.text, ..Default::default() }, at))
    }

    /// The failure that the hints describe.
    pub(super) fn failure(&self, hints: &failure::Hints<'_>, at: Option<Timestamp>) -> Failure {
        failure::of(hints, self.resets.find(hints.text, at))
    }
}

fn join(blocks: &[Arc<str>]) -> Arc<str> {
    match blocks {
        [one] if one.trim().len() == one.len() => Arc::clone(one),
        _ => blocks.join("\n").trim().into(),
    }
}
