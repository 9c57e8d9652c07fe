//! The sentences of a wait (`dashboard.md` §3): who does what, what exactly, what ends it. Times stay times.

use jiff::{SignedDuration, Timestamp};

use super::common::Loop;
use super::delivery::{self, Next};
use super::draft::{Draft, later};
use super::sending::Sending;
use super::session::{self, Busy, IdleVerdict};
use super::turns::{self, Reading};
use super::{By, Wait, setback};
use crate::model::conversation::Turn;
use crate::model::ids::Role;
use crate::model::outbox::Entry;
use crate::model::pair::{PairStop, PauseReason};
use crate::model::run::RunStop;

/// After this a silence is said.
const SILENT: SignedDuration = SignedDuration::from_mins(5);
/// Why a side that has ended its turn gets nothing yet.
const SPOKE: &str = "it spoke a moment ago";

/// How a side is called: by its agent, numbered when both are the same.
pub(super) fn name<R: Loop>(rec: &R, role: Role) -> String {
    let agent = rec.session(role).agent;
    if agent != rec.session(role.other()).agent {
        return agent.to_string();
    }
    let number = match role {
        Role::Implementer => 1,
        Role::Reviewer => 2,
    };
    format!("{agent}·{number}")
}

/// What a message is to its reader.
pub(super) fn sending<R: Loop>(rec: &R, entry: &Entry) -> Sending {
    Sending::of(entry, rec.outbox(), rec.as_run())
}

/// Why a run ended, as the log and the answer to an order say it.
pub(super) const fn run_stop(reason: RunStop) -> &'static str {
    match reason {
        RunStop::Completed => "completed",
        RunStop::Manual => "stopped by you",
        RunStop::PeerError => "stopped: a side's transcript is gone",
        RunStop::SessionTrashed => "stopped: a side was put away",
        RunStop::ServerRestarted => "stopped: a transcript was gone after a restart",
    }
}

/// Why a pair ended, in the same way. Its end by hand may have come with its run's.
pub(super) const fn pair_stop(reason: PairStop) -> &'static str {
    match reason {
        PairStop::Lgtm => "the review ended: agreed",
        PairStop::MaxRounds => "the review ended without agreement",
        PairStop::Manual => "the review was stopped",
        PairStop::PeerError => "the review ended: a side's transcript is gone",
        PairStop::SessionTrashed => "the review ended: a side was put away",
    }
}

/// A paused record waits for a person, or for a limit's end.
pub(super) fn paused<R: Loop>(draft: &Draft<'_, R>) -> Option<Wait> {
    let reason = draft.rec.paused_reason()?;
    let detail = draft.rec.paused_detail().to_owned();
    let since = draft.rec.paused_at();
    let told = draft.rec.limit().and_then(|limit| limit.resets_at);
    if let Some(told) = told.filter(|_| reason == PauseReason::Limit && draft.rec.knobs().resume_after_limit) {
        let role = draft.rec.awaited_side().unwrap_or(Role::Implementer);
        return Some(Wait {
            who: format!("{} is at its limit", draft.name(role)),
            what: detail,
            since,
            ends: "goes on by itself".to_owned(),
            by: By::Timer,
            deadline: Some(setback::goes_on_at(draft, told)),
            ..Wait::default()
        });
    }
    if reason == PauseReason::Manual {
        let ends = "goes on when you say so".to_owned();
        return Some(Wait { who: detail, what: String::new(), since, ends, by: By::Key, ..Wait::default() });
    }
    Some(Wait {
        who: "waits for you".to_owned(),
        what: detail,
        since,
        ends: "ends when you decide".to_owned(),
        by: By::Key,
        ..Wait::default()
    })
}

/// A message that waits to go out or to be seen.
pub(super) fn delivery<R: Loop>(draft: &Draft<'_, R>) -> Option<Wait> {
    let index = draft.rec.open_index()?;
    let entry = draft.rec.open()?;
    let name = draft.name(entry.target);
    let message = sending(&draft.rec, entry).thing();
    let since = Some(entry.last_key_at.or(entry.attempt_at).unwrap_or(entry.prepared_at));
    let asks_at = delivery::gives_up_at(draft, entry);
    let wait = |who: String, what: String, (ends, by): (&str, By), deadline| {
        Some(Wait { who, what, since, ends: ends.to_owned(), by, deadline, asks_at })
    };
    let until_seen = ("ends when its transcript shows it", By::Transcript);
    match delivery::next(draft, index) {
        Next::Runs | Next::Send | Next::Enter | Next::Copy => {
            wait(format!("sends {message} to {name}"), String::new(), until_seen, None)
        }
        Next::Observe => {
            let what = if entry.in_flight() { "looks whether it arrived" } else { "looks whether it is free" };
            wait(format!("{message} goes to {name}"), what.to_owned(), until_seen, None)
        }
        // It has said what it had to say: nothing but a quiet moment is missing.
        Next::Busy(idle) if is_settling(&idle) => {
            let ends = ("goes out in a moment", By::Timer);
            wait(format!("{message} goes to {name}"), SPOKE.to_owned(), ends, quiet_end(&idle))
        }
        Next::Busy(idle) => {
            let who = format!("waits for {name} to be free");
            let (ends, by, at) = busy_ends(&name, &idle);
            wait(who, busy(draft, entry.target, &idle), (&ends, by), at)
        }
        // Whether that lasts, and needs a person, is seen by whoever watches for longer than one look.
        // What was entered is not typed again: only its record, or a person, ends that.
        Next::Held(why) if entry.entered => wait(format!("{message} goes to {name}"), why, until_seen, None),
        Next::Held(why) => {
            wait(format!("{message} goes to {name}"), why, ("goes out when that is gone", By::Pane), None)
        }
        Next::OnItsWay(why) => wait(format!("{message} goes to {name}"), why.to_owned(), until_seen, None),
        Next::Quiet(at) | Next::EnterAt(at) => {
            let what = "not seen yet, and nothing of it is on its way".to_owned();
            wait(format!("{message} goes to {name}"), what, ("is tried again then", By::Timer), Some(at))
        }
        Next::Paste => {
            let place = draft.side(entry.target).reach.map_or("", |reach| reach.place.as_str());
            let place = if place.is_empty() { String::new() } else { format!(": {place}") };
            wait(
                "waits for you".to_owned(),
                format!("paste {message} in {name}'s pane{place}"),
                ("ends when its transcript shows it", By::Pane),
                None,
            )
        }
        Next::Gone(why) | Next::GiveUp(why) => {
            wait(format!("{message} goes to {name}"), why, ("ends when you decide", By::Key), None)
        }
    }
}

/// A side whose answer is waited for. `does`: what it does while it works (`reviews`).
pub(super) fn side<R: Loop>(draft: &Draft<'_, R>, role: Role, does: &str) -> Wait {
    let name = draft.name(role);
    let newest = draft.conversation(role).and_then(|conversation| conversation.newest());
    if let Some(retry) = draft.rec.retry().filter(|retry| retry.at > draft.now()) {
        return Wait {
            who: format!("{name} failed for now"),
            what: format!("attempt {} to go on comes by itself", retry.n),
            since: newest.and_then(|turn| turn.ended_at),
            ends: "goes on by itself".to_owned(),
            by: By::Timer,
            deadline: Some(retry.at),
            ..Wait::default()
        };
    }
    match turns::read(draft, role) {
        Reading::Busy(idle) if idle.because.contains(&Busy::Turn) => {
            let (ends, by, deadline) = busy_ends(&name, &idle);
            Wait {
                who: format!("{name} {does}"),
                what: newest.map_or_else(String::new, |turn| doing(draft, role, turn)),
                since: newest.and_then(|turn| turn.prompt.record.at),
                ends,
                by,
                deadline,
                ..Wait::default()
            }
        }
        // What was said before the wait began is nothing that is waited for.
        Reading::Busy(idle) if is_settling(&idle) && turns::newest_that_counts(draft, role).is_none() => {
            next_answer(draft, role)
        }
        // The time is still that of its work: who has built for 25 minutes has not just begun.
        Reading::Busy(idle) if is_settling(&idle) && newest.is_some_and(Turn::is_answered) => Wait {
            who: format!("{name} has answered"),
            what: "it may say more".to_owned(),
            since: newest.and_then(|turn| turn.prompt.record.at),
            ends: "read in a moment".to_owned(),
            by: By::Timer,
            deadline: quiet_end(&idle),
            ..Wait::default()
        },
        Reading::Busy(idle) => {
            let (ends, by, deadline) = busy_ends(&name, &idle);
            Wait {
                who: format!("waits for {name} to be free"),
                what: busy(draft, role, &idle),
                since: newest.and_then(|turn| turn.ended_at.or(turn.prompt.record.at)),
                ends,
                by,
                deadline,
                ..Wait::default()
            }
        }
        // A message of ours was seen there, and its transcript was not read: whether it works is not known here.
        Reading::Prompt | Reading::Lost if draft.conversation(role).is_none() && has_begun(draft) => Wait {
            who: format!("waits for {name}'s answer"),
            ends: format!("ends when {name} has answered"),
            by: By::Transcript,
            ..Wait::default()
        },
        Reading::Prompt | Reading::Lost => next_answer(draft, role),
        Reading::Answer(_) => Wait {
            who: format!("{name} has answered"),
            what: "it is being read".to_owned(),
            since: newest.and_then(|turn| turn.prompt.record.at),
            ends: "ends at once".to_owned(),
            by: By::Itself,
            ..Wait::default()
        },
        Reading::NoAnswer(_) | Reading::Interrupted(_) | Reading::Failed(..) => Wait {
            who: format!("{name} has ended its turn"),
            what: "it is being read".to_owned(),
            since: newest.and_then(|turn| turn.ended_at),
            ends: "ends at once".to_owned(),
            by: By::Itself,
            ..Wait::default()
        },
    }
}

/// A side that nobody has prompted yet.
fn next_answer<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Wait {
    let name = draft.name(role);
    let newest = draft.conversation(role).and_then(|conversation| conversation.newest());
    Wait {
        who: format!("waits for {name}'s next answer"),
        what: newer_session(draft, role).unwrap_or_else(|| "nothing was sent: prompt it as you like".to_owned()),
        // Where a decision of the person came last, that is what began the wait.
        since: newest.and_then(|turn| turn.ended_at).max(draft.rec.open_wait().and(draft.rec.saved_at())),
        ends: format!("ends when {name} has answered"),
        by: By::Transcript,
        ..Wait::default()
    }
}

/// Whether the turn whose answer is waited for is known.
fn has_begun<R: Loop>(draft: &Draft<'_, R>) -> bool {
    draft.rec.awaited().is_some_and(|awaited| awaited.turn_id.is_some())
}

/// The folder a side works in: paths below it are said without it.
fn folder_of<'a, R: Loop>(draft: &Draft<'a, R>, role: Role) -> Option<&'a str> {
    draft.conversation(role)?.cwd.as_deref()
}

/// What a running turn does, or for how long nothing was heard of it: then the talk may go on elsewhere.
fn doing<R: Loop>(draft: &Draft<'_, R>, role: Role, turn: &Turn) -> String {
    let Some(at) = turn.last_record.at.filter(|at| later(*at, SILENT) <= draft.now()) else {
        return session::activity(turn, folder_of(draft, role));
    };
    let silent = format!("no sign for {}", span(draft.now(), at));
    newer_session(draft, role).map_or(silent.clone(), |newer| format!("{silent}; {newer}"))
}

/// A duration in short: `12s`, `4m`, `3h19m`.
fn span(now: Timestamp, since: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m"),
        (hours, minutes) => format!("{hours}h{minutes:02}m"),
    }
}

/// Why a side is not free, in words.
pub(super) fn busy<R: Loop>(draft: &Draft<'_, R>, role: Role, idle: &IdleVerdict) -> String {
    let newest = draft.conversation(role).and_then(|conversation| conversation.newest());
    let words = idle.because.iter().map(|busy| match busy {
        Busy::Turn => match newest
            .map(|turn| session::activity(turn, folder_of(draft, role)))
            .filter(|activity| !activity.is_empty())
        {
            Some(activity) => format!("it {activity}"),
            None => "its turn runs".to_owned(),
        },
        Busy::Says => "it says that it works".to_owned(),
        Busy::Dialog(what) => format!("it waits for you: {what}"),
        Busy::Question(question) => format!("it asks you: {question}"),
        Busy::QueuedPrompt => "a prompt waits in its queue".to_owned(),
        Busy::Background(count) => session::background(*count),
        Busy::Quiet(_) => SPOKE.to_owned(),
        Busy::InFlight(record) => format!("a message of {record} is on its way to it"),
    });
    words.take(2).collect::<Vec<_>>().join(", ")
}

/// Whether nothing but its quiet time keeps a side.
fn is_settling(idle: &IdleVerdict) -> bool {
    !idle.is_idle() && idle.because.iter().all(|busy| matches!(busy, Busy::Quiet(_)))
}

fn quiet_end(idle: &IdleVerdict) -> Option<Timestamp> {
    idle.because.iter().find_map(|busy| match busy {
        Busy::Quiet(at) => Some(*at),
        _ => None,
    })
}

/// What ends it that a side is not free: in words, where that happens, and when, if the clock does it.
pub(super) fn busy_ends(name: &str, idle: &IdleVerdict) -> (String, By, Option<Timestamp>) {
    let (ends, by) = match idle.because.first() {
        Some(Busy::Turn | Busy::Says) => (format!("ends when {name} ends its turn"), By::Transcript),
        Some(Busy::Dialog(_) | Busy::Question(_)) => (format!("ends when you have answered {name}"), By::Pane),
        Some(Busy::QueuedPrompt) => (format!("ends when {name} has taken it"), By::Transcript),
        Some(Busy::Background(_)) => ("ends when they have reported".to_owned(), By::Transcript),
        Some(Busy::InFlight(_)) => ("ends when that message is seen or given up".to_owned(), By::Transcript),
        Some(Busy::Quiet(at)) => return ("ends in a moment".to_owned(), By::Timer, Some(*at)),
        None => ("ends at once".to_owned(), By::Itself),
    };
    (ends, by, None)
}

/// A newer session of the same folder, without proof that it took this one's place.
pub(super) fn newer_session<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Option<String> {
    draft
        .side(role)
        .newer_in_folder
        .map(|session| format!("a newer session stands in its folder: {}", session.session_id))
}
