//! What a key means for a run as it stands: which control, whether it is possible, what is asked before. Nothing is sent,
//! kept or drawn here.

use crate::model::command::{Confirm, Control};
use crate::model::ids::Role;
use crate::model::pair::PauseReason;
use crate::projection::{RunView, Stage, Standing};

use super::action::Action;
use super::order::is_over;

/// The side whose pane is meant: the one that the banner names, else the one at work: the reviewer in a review, else
/// the builder.
#[must_use]
pub fn at_work(run: &RunView) -> Role {
    let named = run.banner.as_ref().and_then(|banner| banner.offers.iter().find_map(|offer| offer.pane_of));
    if let Some(role) = named {
        return role;
    }
    match &run.delivery {
        Some(delivery) if delivery.held.is_some() => delivery.to,
        _ if run.stage == Some(Stage::Review) => Role::Reviewer,
        _ => Role::Implementer,
    }
}

/// Whether an action gives an order, or leads to one: only who drives takes it.
pub(super) const fn is_order(action: Action) -> bool {
    matches!(
        action,
        Action::PauseOrGoOn
            | Action::Skip
            | Action::Again
            | Action::Accept
            | Action::More
            | Action::Stop
            | Action::Ask
            | Action::ForceRelay
            | Action::Follow
            | Action::BringBack
            | Action::Write
            | Action::Options
            | Action::Rename
            | Action::Discard
            | Action::NewRun
            | Action::NewPair
            | Action::StartAgent
    )
}

/// Whether a control is possible, else why not.
///
/// # Errors
/// The reason, in a sentence.
pub fn may(run: &RunView, control: &str) -> Result<(), String> {
    match run.impossible.iter().find(|(name, _)| name == control) {
        Some((_, why)) => Err(why.clone()),
        None => Ok(()),
    }
}

/// Whether going on would only be a look at what keeps a message from going out.
pub(super) fn looks_again(run: &RunView) -> bool {
    offers(run, "p", "look again") && run.delivery.is_some() && may(run, "resume").is_err()
}

/// Whether the banner offers a key with this word.
fn offers(run: &RunView, key: &str, word: &str) -> bool {
    run.banner.as_ref().is_some_and(|banner| banner.offers.iter().any(|offer| offer.key == key && offer.word == word))
}

/// Whether the text of a message waits to be pasted by the person.
#[must_use]
pub fn awaits_paste(run: &RunView) -> bool {
    let failed = run.banner.as_ref().is_some_and(|banner| banner.reason == Some(PauseReason::DeliveryFailed));
    run.delivery.as_ref().is_some_and(|delivery| failed || delivery.by_hand || delivery.held.is_some())
}

/// Whether it stands still until somebody, or a limit's end, lets it go on.
fn is_paused(run: &RunView) -> bool {
    let for_a_reason = run.banner.as_ref().is_some_and(|banner| banner.reason.is_some());
    for_a_reason || matches!(run.standing, Standing::Paused | Standing::Limit)
}

/// The control a key means for this run as it stands.
#[must_use]
pub fn control_of(action: Action, run: &RunView) -> Option<Control> {
    Some(match action {
        // A pair that paused by itself leaves its run running: what can go on goes on, whatever the run says of itself.
        // Of what waits for a person a key never makes a pause by hand: where going on is impossible it says why.
        Action::PauseOrGoOn if may(run, "resume").is_ok() || is_paused(run) => Control::Resume,
        Action::PauseOrGoOn => Control::Pause,
        Action::Skip => Control::Skip,
        Action::Again if is_over(run) => Control::RunOn,
        Action::Again => Control::Retry,
        Action::Accept => Control::Accept,
        Action::Stop => Control::Stop,
        Action::Ask => Control::Ask,
        Action::ForceRelay => Control::ForceRelay,
        Action::Follow => Control::Follow,
        Action::BringBack => Control::BringBack,
        Action::Discard => Control::Discard,
        Action::Drop => Control::Confirm(Confirm::Drop),
        _ => return None,
    })
}

/// What is asked before the control goes out; `None`: it goes out at once.
pub(super) fn question_of(action: Action, run: &RunView, name: &str) -> Option<String> {
    let phase = run.phase.map_or_else(|| name.to_owned(), |n| format!("phase {n} of {name}"));
    Some(match action {
        Action::Accept => {
            let remark = if run.unreviewed { " The last fix is not reviewed." } else { "" };
            format!("accept {phase}?{remark}")
        }
        Action::Stop => format!("stop {name}?"),
        Action::Skip => format!("skip {phase}?"),
        Action::Ask => format!("ask {} for the phase now?", run.implementer.label),
        Action::ForceRelay => "relay now, without waiting longer?".to_owned(),
        Action::Discard => format!("remove {name} from trellis?"),
        Action::Drop => "drop this message? Its turn is spent.".to_owned(),
        Action::Again if run.stage == Some(Stage::Review) && run.standing == Standing::Going => {
            format!("review {phase} again, count from 0?")
        }
        _ => return None,
    })
}
