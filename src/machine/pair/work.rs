//! How much the implementer changed since the review before: asked of git once a relay is with the reviewer, and kept with
//! that relay. It decides nothing.

use super::super::common::Loop as _;
use super::steps::Pair;
use crate::machine::Effect;
use crate::model::ids::Role;
use crate::model::pair::Direction;
use crate::model::tree::Work;

/// Takes an observation of the work tree in, or asks for one.
pub(super) fn count(draft: &mut Pair<'_>) {
    let Some(round) = draft.rec.rounds.last() else { return };
    if round.direction != Direction::ToReviewer || round.work.is_some() {
        return;
    }
    let since = round.at;
    let worktree = draft.rec.session(Role::Implementer).worktree.clone();
    let base = draft.rec.tree.as_ref().map(|tree| tree.base.clone());
    let seen = draft.scene.trees.get(&(worktree.clone(), base.clone()));
    let Some((_, now)) = seen.filter(|(at, _)| *at >= since) else {
        draft.effect(Effect::CountLines { worktree, base });
        return;
    };
    let now = now.as_deref().cloned();
    let work = match (&draft.rec.tree, &now) {
        (_, None) => Work::Unknown,
        (None, Some(_)) => Work::First,
        (Some(before), Some(now)) => now.since(before),
    };
    if now.is_some() {
        draft.rec.tree = now;
    }
    if let Some(round) = draft.rec.rounds.last_mut() {
        round.work = Some(work);
    }
}
