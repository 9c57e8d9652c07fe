//! The answer before which nothing of the implementer counts, and whether files were edited since it.

use super::super::common::Loop as _;
use super::super::draft::{Draft, later};
use super::super::{Effect, Scene, clock, turns};
use crate::model::conversation::{ItemKind, Turn};
use crate::model::ids::Role;
use crate::model::pair::AnswerId;
use crate::model::run::{GitMark, RunRecord};
use crate::model::text::first_line;

pub(super) type Run<'a> = Draft<'a, RunRecord>;

/// How long an observation of the work tree is waited for, counted from the turn it is about.
const TREE_PATIENCE: jiff::SignedDuration = jiff::SignedDuration::from_secs(10);

/// Takes an answer of the implementer as the baseline.
pub(super) fn set_to_answer(draft: &mut Run<'_>, answer: Option<&AnswerId>) {
    let turn = draft
        .conversation(Role::Implementer)
        .zip(answer)
        .and_then(|(conversation, answer)| conversation.turns.get(conversation.turn_index(&answer.turn_id)?));
    let git = edited_mark(draft.scene, turn.filter(|turn| is_newest(draft, turn)));
    let text = answer
        .zip(draft.conversation(Role::Implementer))
        .and_then(|(answer, conversation)| turns::message_text(conversation, &answer.turn_id, &answer.message_id));
    let run = &mut draft.rec;
    run.baseline_turn_id = answer.map(|answer| answer.turn_id.clone());
    run.baseline_message_id = answer.map(|answer| answer.message_id.clone());
    run.baseline_text = text.map_or_else(String::new, |text| first_line(&text));
    run.baseline_git = git;
}

/// Takes the implementer's newest ended turn as the baseline.
pub(super) fn set_to_newest_ended(draft: &mut Run<'_>) {
    let ended = draft.conversation(Role::Implementer).and_then(turns::newest_ended);
    let message = ended.and_then(turns::judged_message);
    let same =
        draft.rec.baseline_turn_id == ended.map(|turn| turn.id.clone()) && draft.rec.baseline_message_id == message;
    if same && draft.rec.baseline_git.is_some() {
        return;
    }
    let text = ended.and_then(|turn| turn.answer.as_ref()).map_or_else(String::new, |answer| first_line(&answer.text));
    let git = edited_mark(draft.scene, ended);
    let run = &mut draft.rec;
    run.baseline_turn_id = ended.map(|turn| turn.id.clone());
    run.baseline_message_id = message;
    run.baseline_text = text;
    run.baseline_git = git;
}

/// The work tree at the end of a turn: an observation made since, and only if it was made.
pub(super) fn edited_mark(scene: &Scene<'_>, turn: Option<&Turn>) -> Option<GitMark> {
    let (at, mark) = scene.git.as_ref()?;
    let ended = turn.and_then(|turn| turn.ended_at.or(turn.last_record.at));
    ended.is_none_or(|ended| *at >= ended).then(|| mark.clone()).flatten()
}

/// Fills in the work tree of a baseline that was taken before it was observed, while nothing has followed yet.
pub(super) fn complete(draft: &mut Run<'_>) {
    if draft.rec.baseline_git.is_some() {
        return;
    }
    let Some(id) = draft.rec.baseline_turn_id.clone() else { return };
    let Some(conversation) = draft.conversation(Role::Implementer) else { return };
    let Some(turn) = conversation.newest().filter(|turn| turn.id == id && turn.outcome.is_some()) else { return };
    let ended = turn.ended_at.or(turn.last_record.at);
    if draft.scene.git.as_ref().is_none_or(|(at, _)| ended.is_some_and(|ended| *at < ended)) {
        draft.effect(Effect::LookAtGit { worktree: draft.rec.session(Role::Implementer).worktree.clone() });
    }
    draft.rec.baseline_git = edited_mark(draft.scene, Some(turn));
}

fn is_newest(draft: &Run<'_>, turn: &Turn) -> bool {
    draft
        .conversation(Role::Implementer)
        .and_then(|conversation| conversation.newest())
        .is_some_and(|newest| newest.id == turn.id)
}

/// Whether the work tree was observed since a turn ended. If not, that is asked for, and waited for a short while.
pub(super) fn tree_is_known(draft: &mut Run<'_>, turn: Option<&Turn>) -> bool {
    let ended = turn.and_then(|turn| turn.ended_at.or(turn.last_record.at));
    let Some(ended) = ended.filter(|ended| !clock::is_from_before(*ended, draft.now())) else { return true };
    if draft.scene.git.as_ref().is_some_and(|(at, _)| *at >= ended) {
        return true;
    }
    draft.effect(Effect::LookAtGit { worktree: draft.rec.session(Role::Implementer).worktree.clone() });
    let until = later(ended, draft.scene.tempo.wait(TREE_PATIENCE));
    draft.wake(until);
    draft.now() >= until
}

/// Whether a file was edited between the baseline and the end of turn `index`, as far as that can be seen.
pub(super) fn edited_since(draft: &Run<'_>, index: usize) -> bool {
    let Some(conversation) = draft.conversation(Role::Implementer) else { return false };
    let from = draft.rec.baseline_turn_id.as_ref().and_then(|turn| conversation.turn_index(turn));
    let by_tools = conversation.turns.iter().enumerate().take(index.saturating_add(1)).any(|(at, turn)| match from {
        Some(from) if at < from => false,
        Some(from) if at == from => edited_behind(turn, draft.rec.baseline_message_id.as_ref()),
        Some(_) => turn.edited_files,
        // Without a baseline only the turn itself is looked at: what was before it is nobody's phase.
        None => at == index && turn.edited_files,
    });
    let ended = conversation.turns.get(index).and_then(|turn| turn.ended_at.or(turn.last_record.at));
    let by_tree = match (&draft.rec.baseline_git, &draft.scene.git) {
        (Some(before), Some((at, Some(now)))) => ended.is_none_or(|ended| *at >= ended) && before != now,
        _ => false,
    };
    by_tools || by_tree
}

/// Whether a turn edited files after the message that is the baseline.
fn edited_behind(turn: &Turn, message: Option<&crate::model::ids::MessageId>) -> bool {
    let Some(message) = message else { return false };
    let end = turn.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Text { message_id, .. } if message_id == message => Some(item.offset),
        _ => None,
    });
    let Some(end) = end.max() else { return false };
    turn.items.iter().any(|item| {
        item.offset > end
            && matches!(&item.kind, ItemKind::Tool { name, .. }
                if matches!(name.as_str(), "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "apply_patch"))
    })
}
