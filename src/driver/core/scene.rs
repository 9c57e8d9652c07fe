//! What a look sees, put together from what was read and observed; and what a person's screen showed, for controls.

use jiff::Timestamp;

use super::Core;
use super::kept::{Held, Kept};
use super::sessions::Known;
use crate::driver::ports::{Agents, Records, TranscriptRead, Transcripts};
use crate::machine::{Scene, Side, TranscriptFact};
use crate::model::ids::{Role, SessionRef};

/// The fact of a transcript that was never read.
static NOT_READ: TranscriptFact = TranscriptFact::NotYet;

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// What a look at a record sees: both its sides as last read.
    pub(super) fn scene_for<'a, K: Kept>(&'a self, held: &'a Held<K>, now: Timestamp) -> Scene<'a> {
        let [builder, reviewer] = [Role::Implementer, Role::Reviewer].map(|role| held.seen().session(role));
        let scene = self.scene(builder, reviewer, now);
        Scene { kept_since: held.refused_at.max(Some(self.started_at)).unwrap_or(self.started_at), ..scene }
    }

    /// Both sides as last read.
    pub(super) fn scene<'a>(&'a self, builder: &'a SessionRef, reviewer: &'a SessionRef, now: Timestamp) -> Scene<'a> {
        self.scene_of(builder, reviewer, now, |known| known.read.as_ref())
    }

    /// Both sides as the last projection showed them.
    pub(super) fn shown_scene<'a>(
        &'a self,
        builder: &'a SessionRef,
        reviewer: &'a SessionRef,
        now: Timestamp,
    ) -> Scene<'a> {
        self.scene_of(builder, reviewer, now, |known| known.shown.as_ref().or(known.read.as_ref()))
    }

    fn scene_of<'a>(
        &'a self,
        builder: &'a SessionRef,
        reviewer: &'a SessionRef,
        now: Timestamp,
        read: impl Fn(&'a Known) -> Option<&'a TranscriptRead>,
    ) -> Scene<'a> {
        Scene {
            now,
            driver_started_at: self.started_at,
            kept_since: self.started_at,
            implementer: self.side(builder, &read),
            reviewer: self.side(reviewer, &read),
            ledger: &self.ledger,
            box_may_be_unknown: self.options.send_when_box_unknown,
            home: &self.options.home,
            message_file_above: self.options.message_file_above,
            git: self.trees.seen(&builder.worktree),
            trees: self.trees.beside_commits(),
            tempo: self.options.tempo,
        }
    }

    fn side<'a>(
        &'a self,
        session: &'a SessionRef,
        read: &impl Fn(&'a Known) -> Option<&'a TranscriptRead>,
    ) -> Side<'a> {
        let known = self.sessions.get(&session.key());
        let read = known.and_then(read);
        Side {
            session,
            conversation: read.and_then(|read| read.conversation.as_deref()),
            transcript: read.map_or(&NOT_READ, |read| &read.fact),
            reach: known.and_then(|known| known.facts.reach.as_ref()),
            sending: known.and_then(|known| known.sending.as_ref()).map(|(_, entry)| entry),
            put_away: known.is_some_and(|known| known.facts.note.put_away_at.is_some()),
            noted: known.is_some_and(|known| known.noted),
            newer_in_folder: self.newer_in_folder(session),
        }
    }

    /// A session of the same agent and folder that was written to later, and that no record uses.
    pub(super) fn newer_in_folder(&self, session: &SessionRef) -> Option<&SessionRef> {
        let newest = self.newest.get(&(session.agent, session.worktree.clone()))?;
        let is_other = newest.session_id != session.session_id;
        let is_free = self.ledger.active_with(&newest.key()).into_iter().next().is_none();
        (is_other && is_free).then_some(newest)
    }
}
