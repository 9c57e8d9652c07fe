//! What holds a loop before anything else is considered: a side put away, deleted, unreadable, replaced or gone.

use super::common::Loop;
use super::draft::Draft;
use super::grounds::Evidence;
use super::prompts::SIDES;
use super::{TranscriptFact, turns};
use crate::model::ids::Role;
use crate::model::pair::PauseReason;

/// Why a record ends at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A side was put away.
    PutAway(Role),
    /// A side's transcript is provably deleted.
    Deleted(Role),
}

/// Whether a side's fate ends the record in every state.
pub(super) fn ends<R: Loop>(draft: &Draft<'_, R>) -> Option<End> {
    let put_away = SIDES.into_iter().find(|role| draft.side(*role).put_away).map(End::PutAway);
    put_away.or_else(|| {
        SIDES.into_iter().find(|role| *draft.side(*role).transcript == TranscriptFact::Deleted).map(End::Deleted)
    })
}

/// Whether this look belongs to a start: the record was not saved since the driver began, which was a moment ago.
pub(super) fn at_start<R: Loop>(draft: &Draft<'_, R>, last_saved: Option<jiff::Timestamp>) -> bool {
    let started = draft.scene.driver_started_at;
    last_saved.is_none_or(|saved| saved < started)
        && draft.now() <= super::draft::later(started, jiff::SignedDuration::from_secs(60))
}

/// Pauses when a side cannot be judged at all. True: it did.
pub(super) fn blocks<R: Loop>(draft: &mut Draft<'_, R>, sides: &[Role]) -> bool {
    sides.iter().any(|role| unreadable(draft, *role) || replaced(draft, *role))
}

fn unreadable<R: Loop>(draft: &mut Draft<'_, R>, role: Role) -> bool {
    let name = draft.name(role);
    let why = match draft.side(role).transcript {
        TranscriptFact::Unreadable(why) => Some(why.clone()),
        TranscriptFact::Present(_) | TranscriptFact::NotYet | TranscriptFact::Deleted => None,
    };
    let why = why.or_else(|| stranger_file(draft, role)).or_else(|| {
        (!turns::anchors_hold(draft, role))
            .then(|| "what was answered last is not in its transcript any more".to_owned())
    });
    let Some(why) = why else { return false };
    draft.pause(PauseReason::AgentGone, format!("{name}: {why}"), Evidence::seen("its transcript"));
    true
}

/// The file under the session's name holds another session's records.
fn stranger_file<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Option<String> {
    let told = draft.conversation(role)?.session_id.as_ref()?;
    let known = &draft.rec.session(role).session_id;
    (told != known).then(|| format!("the transcript of {known} holds another session ({told})"))
}

fn replaced<R: Loop>(draft: &mut Draft<'_, R>, role: Role) -> bool {
    let Some((new, proof)) = draft.side(role).reach.and_then(|reach| reach.replaced_by.as_ref()) else { return false };
    let name = draft.name(role);
    let old = &draft.rec.session(role).session_id;
    let detail = format!("{name} answers under another session: {old} became {new}");
    draft.pause(PauseReason::SessionChanged, detail, Evidence::seen(proof.clone()));
    true
}

/// Pauses `agent_gone` when the awaited side's agent is not there any more. True: it did.
pub(super) fn gone<R: Loop>(draft: &mut Draft<'_, R>, role: Role) -> bool {
    draft.keep_an_eye_on(role);
    let Some(why) = super::session::gone(draft.side(role)) else { return false };
    let name = draft.name(role);
    draft.pause(
        PauseReason::AgentGone,
        format!("{name} is gone: {why}"),
        Evidence::seen("an observation of its process"),
    );
    true
}
