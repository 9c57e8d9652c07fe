//! `trellis run verify`: reads both transcripts again, from their first byte, and proves that each message of a run
//! stands in its target exactly once. Its judgement is its own: it shares no code with what decided to send.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Failure, out, show};
use crate::boot::Ground;
use crate::driver::ports::Loaded;
use crate::model::conversation::Conversation;
use crate::model::ids::{EntryId, RecordKey, Role, RunId, SessionKey, TurnId};
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::FormerParticipant;
use crate::model::text::fold;

/// Reads, proves, prints a line a message. A success only if all hold.
///
/// # Errors
/// A message stands there not at all or more than once, or something cannot be read.
pub fn verify(home: Option<&Path>, id: &str, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let loaded = ground.records();
    let run = show::find(&loaded, id)?;
    let mut records = vec![RecordKey::Run(run.id.clone())];
    records.extend(loaded.pairs_of(run).iter().map(|pair| RecordKey::Pair(pair.id.clone())));
    // Of every record: two of them may send equal texts to one session.
    let claims = every_entry(&ground, &loaded, &records)?;
    let mut conversations = BTreeMap::new();
    let former = run.participants_history.iter().map(|former| &former.session);
    for side in [&run.implementer, &run.reviewer].into_iter().chain(former) {
        if let Some(conversation) = ground.transcript(side)? {
            conversations.insert(side.key(), conversation);
        }
    }
    let findings = prove(&claims, &conversations);
    let ours: Vec<&Finding> = findings.iter().filter(|finding| records.contains(&finding.record)).collect();
    let failed = ours.iter().filter(|finding| !finding.holds).count();
    if json {
        out::json(&as_json(&run.id, &ours))?;
    } else {
        for finding in &ours {
            let mark = if finding.holds { "ok   " } else { "FAIL " };
            out::line(&out::plain(&format!("{mark} {}  {}", finding.entry, finding.words)))?;
        }
    }
    if failed > 0 {
        return Err(Failure::refused(format!("{failed} of {} messages are not proven", ours.len())));
    }
    if json { Ok(()) } else { out::line(&format!("{} messages, each as its record says", ours.len())) }
}

fn as_json(run: &RunId, findings: &[&Finding]) -> serde_json::Value {
    let messages: Vec<serde_json::Value> = findings
        .iter()
        .map(|finding| {
            let record = finding.record.as_str();
            serde_json::json!({"entry": finding.entry, "record": record, "holds": finding.holds, "why": finding.words})
        })
        .collect();
    serde_json::json!({"run": run, "holds": findings.iter().all(|finding| finding.holds), "messages": messages})
}

/// The entries of every record, those that were moved out of it included.
fn every_entry(ground: &Ground, loaded: &Loaded, proven: &[RecordKey]) -> Result<Vec<Claim>, Failure> {
    let mut claims = Vec::new();
    let mut add =
        |key: RecordKey, outbox: &[Entry], former: &[FormerParticipant], side: &dyn Fn(Role) -> SessionKey| {
            let older = loaded.older_entries.get(&key).map(Vec::as_slice).unwrap_or_default();
            for entry in older.iter().filter(|old| outbox.iter().all(|kept| kept.id != old.id)).chain(outbox) {
                let text = match (&entry.sent_text, ground.text(&key, &entry.text)) {
                    (Some(sent), _) => sent.as_str().into(),
                    (None, Ok(text)) => text,
                    (None, Err(failure)) if proven.contains(&key) => return Err(failure),
                    // Of a record that is not proven here only the turns count.
                    (None, Err(_)) => "".into(),
                };
                claims.push(Claim::of(&key, entry, &text, &target(entry, former, side(entry.target))));
            }
            Ok::<(), Failure>(())
        };
    for run in &loaded.runs {
        let key = RecordKey::Run(run.id.clone());
        add(key, &run.outbox, &run.participants_history, &|role| run.side(role).key())?;
    }
    for pair in &loaded.pairs {
        let key = RecordKey::Pair(pair.id.clone());
        add(key, &pair.outbox, &pair.participants_history, &|role| pair.side(role).key())?;
    }
    Ok(claims)
}

/// The session that was the entry's side when it was prepared.
fn target(entry: &Entry, former: &[FormerParticipant], now: SessionKey) -> SessionKey {
    let mut then = former.iter().filter(|former| former.side == entry.target);
    let had = |former: &&FormerParticipant| match former.entries_made.zip(entry.id.number()) {
        Some((made, number)) => number <= made,
        None => former.until > entry.prepared_at,
    };
    then.find(had).map_or(now, |former| former.session.key())
}

/// What a record says of a message.
#[derive(Clone, Debug)]
pub struct Claim {
    record: RecordKey,
    entry: EntryId,
    target: SessionKey,
    folded: String,
    state: EntryState,
    attempts: u32,
    altered: bool,
    turn: Option<TurnId>,
    /// Where the target's transcript ended before it was sent.
    mark: Option<u64>,
}

impl Claim {
    /// What `entry` of `record` says, sent to `target` as `text`.
    #[must_use]
    pub fn of(record: &RecordKey, entry: &Entry, text: &str, target: &SessionKey) -> Self {
        Self {
            record: record.clone(),
            entry: entry.id.clone(),
            target: target.clone(),
            folded: fold(text),
            state: entry.state,
            attempts: entry.attempts,
            altered: entry.altered,
            turn: entry.delivered_turn_id.clone(),
            mark: entry.transcript_mark.as_ref().map(|mark| mark.length),
        }
    }
}

/// What the transcript says of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whose message.
    pub record: RecordKey,
    /// The message.
    pub entry: EntryId,
    /// Whether the record is right.
    pub holds: bool,
    /// Why, in a sentence.
    pub words: String,
}

/// Compares what all records claim with what the transcripts show.
#[must_use]
pub fn prove(claims: &[Claim], conversations: &BTreeMap<SessionKey, Arc<Conversation>>) -> Vec<Finding> {
    let mut owners: BTreeMap<(&SessionKey, &TurnId), Vec<&EntryId>> = BTreeMap::new();
    for claim in claims {
        if let (EntryState::Delivered, Some(turn)) = (claim.state, &claim.turn) {
            owners.entry((&claim.target, turn)).or_default().push(&claim.entry);
        }
    }
    let prompts: BTreeMap<&SessionKey, Vec<(&TurnId, u64, String)>> =
        conversations.iter().map(|(key, conversation)| (key, prompts(conversation))).collect();
    let owned = |key: &SessionKey, turn: &TurnId| owners.get(&(key, turn)).map_or(0, Vec::len);
    claims
        .iter()
        .map(|claim| {
            let judged = judge(claim, prompts.get(&claim.target).map(Vec::as_slice), &owned);
            let (holds, words) = match judged {
                Ok(words) => (true, words),
                Err(words) => (false, words),
            };
            Finding { record: claim.record.clone(), entry: claim.entry.clone(), holds, words }
        })
        .collect()
}

fn prompts(conversation: &Conversation) -> Vec<(&TurnId, u64, String)> {
    let turns = conversation.turns.iter();
    turns.map(|turn| (&turn.id, turn.prompt.record.offset, fold(&turn.prompt.text))).collect()
}

type Prompts<'a> = [(&'a TurnId, u64, String)];

fn judge(
    claim: &Claim,
    prompts: Option<&Prompts<'_>>,
    owned: &dyn Fn(&SessionKey, &TurnId) -> usize,
) -> Result<String, String> {
    let target = &claim.target;
    // Nothing of it ever left: there is nothing to look for.
    if claim.attempts == 0 && claim.state != EntryState::Delivered {
        return Ok(format!("was never sent to {target}"));
    }
    let prompts = prompts.ok_or_else(|| format!("the transcript of {target} cannot be found"))?;
    let is_copy = |text: &str| text == claim.folded || (claim.altered && text.contains(&claim.folded));
    // Copies that nobody owns: of a text sent before the mark they are another's, or a person's own.
    let after_mark = |offset: u64| claim.mark.is_none_or(|mark| offset >= mark);
    let stray = prompts
        .iter()
        .filter(|(turn, offset, text)| is_copy(text) && after_mark(*offset) && owned(target, turn) == 0)
        .count();
    match (claim.state, &claim.turn) {
        (EntryState::Delivered, Some(turn)) => {
            let Some((_, _, text)) = prompts.iter().find(|(id, _, _)| *id == turn) else {
                return Err(format!("the turn {turn} is not in the transcript of {target}"));
            };
            if !is_copy(text) {
                return Err(format!("the prompt of turn {turn} in {target} is another text"));
            }
            if owned(target, turn) > 1 {
                return Err(format!("two messages claim the turn {turn} of {target}"));
            }
            if stray > 0 {
                return Err(format!("stands {} times in {target}", stray + 1));
            }
            Ok(format!("stands once in {target}, turn {turn}"))
        }
        (EntryState::Delivered, None) => Err(format!("is called delivered without a turn of {target}")),
        (EntryState::Withdrawn | EntryState::Abandoned, _) if stray == 0 => {
            Ok(format!("was given up and is not in {target}"))
        }
        (EntryState::Abandoned, _) if stray == 1 => Ok(format!("was given up and came late, once, to {target}")),
        (EntryState::Withdrawn | EntryState::Abandoned, _) => {
            Err(format!("was given up, and stands {stray} times in {target}"))
        }
        (EntryState::Prepared | EntryState::Sent | EntryState::Queued, _) => {
            Err(format!("is still on its way to {target}; run trellis drive, then verify again"))
        }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
