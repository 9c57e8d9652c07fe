//! Each reason says its thing and offers its keys, best first.

use super::super::record::view;
use super::super::samples::{Stage, after, pair, round, run, talk, turn};
use super::super::{RunView, Standing};
use crate::machine::plan::{Act, Plan, When};
use crate::model::conversation::{Failure, FailureClass, Outcome};
use crate::model::ids::{Agent, Role, SessionId};
use crate::model::outbox::Purpose;
use crate::model::pair::{Limit, NearMiss, PairState, PairStop, PauseReason};
use crate::model::reach::{InputBox, LiveStatus, OnItsWay, ProcessFact, Reach, Tick, Ticks, Transport};
use crate::model::run::{AttemptStatus, RunState};

fn reach() -> Reach {
    Reach {
        at: after(30),
        transport: Some(Transport::Tmux),
        process: ProcessFact::Alive { pid: 1, started_at: None },
        status: LiveStatus::Idle,
        ticks: Ticks::all_hold(),
        input: InputBox::Empty,
        on_its_way: OnItsWay::No,
        replaced_by: None,
        sign: None,
        seen: None,
        place: "%2".to_owned(),
        last_words: String::new(),
    }
}

/// A run whose own reason it is.
fn paused_run(reason: PauseReason) -> Stage {
    let mut run = run();
    run.state = RunState::Paused;
    run.paused_reason = Some(reason);
    run.paused_at = Some(after(60));
    Stage::new(Some(run), Some(pair()))
}

/// A running run whose pair is paused.
fn paused_pair(reason: PauseReason) -> Stage {
    let mut pair = pair();
    pair.state = PairState::Paused;
    pair.paused_reason = Some(reason);
    pair.paused_at = Some(after(60));
    Stage::new(Some(run()), Some(pair))
}

fn seen(stage: &Stage) -> RunView {
    view(&stage.record(), &stage.facts()).unwrap()
}

fn keys(view: &RunView) -> String {
    let banner = view.banner.as_ref().unwrap();
    banner.offers.iter().map(|offer| offer.key.as_str()).collect::<Vec<_>>().join(" ")
}

fn said(view: &RunView) -> String {
    let banner = view.banner.as_ref().unwrap();
    format!("{}\n{}", banner.headline, banner.lines.join("\n"))
}

#[test]
fn every_reason_offers_what_the_manual_says() {
    let of_pair = [
        (PauseReason::NearMiss, "a p w x"),
        (PauseReason::UserTyped, "p w t x"),
        (PauseReason::NoAnswer, "p t x"),
        (PauseReason::Limit, "p x"),
        (PauseReason::SessionChanged, "f t x"),
        (PauseReason::AgentGone, "b t x"),
        (PauseReason::AgentError, "p t x"),
        (PauseReason::DeliveryFailed, "p y t x"),
        (PauseReason::RecordChanged, "p x"),
    ];
    for (reason, expected) in of_pair {
        let view = seen(&paused_pair(reason));
        assert_eq!(keys(&view), expected, "{reason:?}");
        assert_eq!(view.standing, Standing::NeedsYou, "{reason:?}");
        assert_eq!(view.banner.unwrap().reason, Some(reason));
    }
    let of_run = [
        (PauseReason::PhaseNotConverged, "+ r a s w x"),
        (PauseReason::PairStopped, "r s x"),
        (PauseReason::ReviewStartFailed, "r s x"),
        (PauseReason::PhaseLimit, "p x"),
    ];
    for (reason, expected) in of_run {
        let view = seen(&paused_run(reason));
        assert_eq!(keys(&view), expected, "{reason:?}");
        assert_eq!(view.standing, Standing::NeedsYou, "{reason:?}");
    }
}

#[test]
fn a_manual_pause_needs_no_banner() {
    let view = seen(&paused_run(PauseReason::Manual));
    assert_eq!(view.banner, None);
    assert_eq!((view.standing, view.sentence.as_str()), (Standing::Paused, "paused by you"));
}

/// L9, L11: reviews that find as much as before, over turns that change nothing, are shown as just that.
#[test]
fn l09_l11_no_agreement_shows_what_is_not_reviewed_and_that_it_does_not_shrink() {
    let mut stage = paused_run(PauseReason::PhaseNotConverged);
    let review = "1. rounds twice\n2. no key";
    stage.implementer = talk(
        Agent::Claude,
        vec![
            turn("c1", "do it", "Did it.", 10, 20),
            turn("c2", "Feedback:", "Fixed.", 130, 140),
            turn("c3", "Feedback:", "Fixed again.", 250, 260),
        ],
    );
    stage.reviewer = talk(
        Agent::Codex,
        vec![turn("x1", "r", review, 70, 80), turn("x2", "r", review, 190, 200), turn("x3", "r", review, 310, 320)],
    );
    let pair = stage.pair.as_mut().unwrap();
    pair.round_count = 5;
    pair.state = PairState::Stopped;
    pair.rounds = vec![
        round(1, "c1", "x1"),
        round(2, "x1", "c2"),
        round(3, "c2", "x2"),
        round(4, "x2", "c3"),
        round(5, "c3", "x3"),
    ];
    stage.run.as_mut().unwrap().phases[0].status = AttemptStatus::NotConverged;
    let view = seen(&stage);
    assert!(said(&view).contains("no agreement after 5 relays"), "{}", said(&view));
    assert!(said(&view).contains("claude's last fix (12:04) is NOT reviewed."), "{}", said(&view));
    assert!(said(&view).contains("The reviews do not shrink."), "{}", said(&view));
    let rows: Vec<_> = view.reviews.iter().map(|row| (row.n, row.points, row.repeated, row.lines)).collect();
    assert_eq!(rows, [(1, 2, 0, Some(0)), (2, 2, 2, Some(0)), (3, 2, 2, Some(0))]);
    let keys: Vec<&str> = view.banner.as_ref().unwrap().offers.iter().map(|offer| offer.key.as_str()).collect();
    assert!(["+", "a", "s", "x"].iter().all(|key| keys.contains(key)), "{keys:?}");
    assert_eq!(view.relay_list.len(), 5);
    assert_eq!(view.relay_list[1].points, Some(2));
    assert_eq!(view.relay_list[0].first_line, "Did it.", "the answer, not the prompt in front of it");
    assert_eq!(view.relays, 5);
    assert!(view.phases[0].needs_you);
}

#[test]
fn a_near_miss_quotes_the_line() {
    let mut stage = paused_pair(PauseReason::NearMiss);
    stage.pair.as_mut().unwrap().near_miss =
        Some(NearMiss { turn_id: "x1".into(), message_id: "x1-m".into(), line: "LGTM with one nit".to_owned() });
    stage.pair.as_mut().unwrap().paused_detail = "codex nearly approved: LGTM with one nit".to_owned();
    let said = said(&seen(&stage));
    assert!(said.contains("codex wrote “LGTM with one nit”: close to LGTM, but not it."), "{said}");
    assert_eq!(said.matches("LGTM with one nit").count(), 1, "nothing is said twice: {said}");
}

#[test]
fn typed_words_are_quoted_with_what_going_on_will_send() {
    let mut stage = paused_pair(PauseReason::UserTyped);
    stage.pair.as_mut().unwrap().step = Some(crate::model::pair::PairStep::AwaitImplementer);
    let act = Act::Sends {
        purpose: Purpose::ToReviewer,
        to: Role::Reviewer,
        source: Some("c1".into()),
        relay: Some(1),
        is_same_text: false,
    };
    stage.plan = Some(Plan { act, when: When::Now, agrees: false });
    let view = seen(&stage);
    assert!(said(&view).starts_with("you wrote to claude\n“do phase three” to claude at 12:00"), "{}", said(&view));
    let offers = &view.banner.unwrap().offers;
    assert_eq!(offers[0].what, "sends claude's answer of 12:00 to codex (relay 1)");
}

/// Screen, watch and status say the same, though not each of them has read the transcripts.
#[test]
fn an_interruption_is_called_one_without_the_transcripts_too() {
    let mut stage = paused_pair(PauseReason::UserTyped);
    stage.pair.as_mut().unwrap().paused_detail = "you interrupted codex".to_owned();
    let with = said(&seen(&stage));
    stage.implementer.conversation = None;
    stage.reviewer.conversation = None;
    let without = seen(&stage);
    assert_eq!(without.sentence, "you interrupted codex");
    assert!(with.starts_with("you interrupted codex\n"), "{with}");
    stage.pair.as_mut().unwrap().paused_detail = "you wrote to codex: is it: done?".to_owned();
    assert_eq!(seen(&stage).sentence, "you wrote to codex");
}

/// An agent that ends while a run waits for its person is shown at once, with its own time; what brings it back says all.
#[test]
fn an_agent_that_went_while_a_person_is_waited_for_takes_the_banner() {
    let mut stage = paused_pair(PauseReason::UserTyped);
    stage.pair.as_mut().unwrap().paused_detail = "you interrupted codex".to_owned();
    let why = "codex is gone: its process has ended (%2)".to_owned();
    stage.plan = Some(Plan { act: Act::Pauses(PauseReason::AgentGone, why), when: When::Now, agrees: false });
    stage.side(Role::Reviewer).gone_since = Some(after(120));
    stage.brings_back = vec![Role::Implementer, Role::Reviewer];
    let view = seen(&stage);
    assert_eq!(keys(&view), "b t x");
    let words = said(&view);
    assert!(
        words.starts_with("codex is gone\nGone since 12:02: its process has ended (%2).\nBefore that: you interrupted"),
        "{words}"
    );
    let offer = &view.banner.unwrap().offers[0];
    assert_eq!(offer.what, "resumes claude's and codex's sessions in a new tmux window; then you decide");
}

#[test]
fn an_interruption_is_no_typing() {
    let mut stage = paused_pair(PauseReason::UserTyped);
    let mut stopped = turn("x1", "the prompt", "half", 70, 80);
    stopped.outcome = Some(Outcome::Interrupted);
    stopped.answer = None;
    stage.reviewer = talk(Agent::Codex, vec![stopped]);
    assert!(said(&seen(&stage)).starts_with("you interrupted codex\n"), "{}", said(&seen(&stage)));
}

#[test]
fn a_limit_says_when_it_goes_on_by_itself_and_whether() {
    let mut stage = paused_pair(PauseReason::Limit);
    let pair = stage.pair.as_mut().unwrap();
    pair.limit = Some(Limit { text: "resets 5am".to_owned(), resets_at: Some(after(7_200)) });
    let view = seen(&stage);
    assert_eq!(view.standing, Standing::Limit);
    assert_eq!(view.sentence, "codex at its limit · back 14:00");
    assert!(said(&view).contains("Goes on by itself at 14:00"), "{}", said(&view));
    // What goes out then is what the plan says, in its words.
    for (is_same_text, words) in [(true, "sends the same message to codex again"), (false, "asks codex to go on")] {
        let (purpose, to) = (Purpose::Continue, Role::Reviewer);
        let act = Act::Sends { purpose, to, source: None, relay: None, is_same_text };
        stage.plan = Some(Plan { act, when: When::Now, agrees: false });
        let view = seen(&stage);
        let banner = view.banner.as_ref().unwrap();
        assert_eq!(banner.offers[0].what, words);
        assert_eq!(
            banner.lines.last().unwrap(),
            "Goes on by itself at 14:00, as “try now” does.",
            "nothing is said twice"
        );
    }
    stage.pair.as_mut().unwrap().config.resume_after_limit = false;
    let view = seen(&stage);
    assert_eq!(view.standing, Standing::NeedsYou);
    assert!(said(&view).contains("nothing goes on by itself"), "{}", said(&view));
}

#[test]
fn a_changed_session_names_both() {
    let mut stage = paused_pair(PauseReason::SessionChanged);
    let mut changed = reach();
    changed.replaced_by = Some((SessionId::from("x-2"), "same pane".to_owned()));
    stage.side(Role::Reviewer).reach = Some(changed);
    let words = said(&seen(&stage));
    assert!(words.contains("was x-1") && words.contains("now x-2 (same pane)"), "{words}");
}

#[test]
fn a_failed_turn_gives_class_and_words() {
    let mut stage = paused_pair(PauseReason::AgentError);
    let mut failed = turn("x1", "the prompt", "", 70, 80);
    failed.answer = None;
    failed.outcome =
        Some(Outcome::Failed(Failure { class: FailureClass::Auth, text: "log in".to_owned(), resets_at: None }));
    stage.reviewer = talk(Agent::Codex, vec![failed]);
    stage.pair.as_mut().unwrap().paused_detail =
        "codex failed (not logged in): log in, after 2 attempts to go on".to_owned();
    let view = seen(&stage);
    let lines = &view.banner.as_ref().unwrap().lines;
    assert_eq!(
        lines[..],
        ["not logged in: log in", "after 2 attempts to go on"],
        "class, words and attempts, each once"
    );
}

#[test]
fn an_open_dialog_is_the_persons_to_answer() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    let mut waiting = reach();
    waiting.status = LiveStatus::Waiting { what: "run cargo publish?".to_owned() };
    stage.side(Role::Reviewer).reach = Some(waiting);
    let view = seen(&stage);
    assert_eq!((keys(&view).as_str(), view.standing), ("t", Standing::NeedsYou));
    assert!(said(&view).contains("“run cargo publish?”"));
}

#[test]
fn a_tick_that_is_missing_holds_a_message_and_says_so() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    let mut missing = reach();
    stage.side(Role::Implementer).hindered_since = Some(after(30));
    missing.ticks.box_empty = Tick::Missing("claude's box holds text of yours".to_owned());
    missing.at = after(61);
    stage.side(Role::Implementer).reach = Some(missing.clone());
    stage.side(Role::Implementer).state = Some(crate::model::session::SessionState::Idle);
    stage.pair.as_mut().unwrap().outbox = vec![entry()];
    assert_eq!(seen(&stage).banner, None, "a first look is no reason to call a person");
    missing.at = after(63);
    stage.side(Role::Implementer).reach = Some(missing.clone());
    assert_eq!(seen(&stage).banner, None, "nor is an agent that has just come up");
    missing.at = after(66);
    stage.side(Role::Implementer).reach = Some(missing);
    let view = seen(&stage);
    assert_eq!(keys(&view), "p y t x");
    assert!(said(&view).starts_with("relay to claude is held\nclaude's box holds text of yours"), "{}", said(&view));
    assert_eq!(view.delivery.unwrap().held.as_deref(), Some("claude's box holds text of yours"));
}

fn entry() -> crate::model::outbox::Entry {
    serde_json::from_value(serde_json::json!({
        "id": "e1", "purpose": "to_implementer", "target": "implementer",
        "text": {"file": "", "sha256": "", "bytes": 0, "first_line": ""},
        "source_turn_id": null, "source_message_id": null, "resend_of": null, "transcript_mark": null,
        "prepared_at": "2026-03-01T12:01:00Z", "attempts": 0, "attempt_at": null, "last_key_at": null,
        "enters": 0, "queue_id": null, "state": "prepared", "delivered_turn_id": null
    }))
    .unwrap()
}

#[test]
fn a_pair_alone_that_found_no_agreement_can_still_go_on() {
    let mut pair = pair();
    pair.owner = String::new();
    pair.state = PairState::Stopped;
    pair.stop_reason = Some(PairStop::MaxRounds);
    pair.stopped_at = Some(after(600));
    pair.round_count = 10;
    let view = seen(&Stage::new(None, Some(pair)));
    assert_eq!(view.standing, Standing::Ended);
    assert_eq!(view.stop_words, "no agreement after 10 relays");
    assert_eq!(keys(&view), "+ r a");
}

#[test]
fn a_record_that_cannot_be_saved_says_so() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    stage.unsaved = Some("can't save r1.json: no space left".to_owned());
    let view = seen(&stage);
    assert!(said(&view).starts_with("can't save\ncan't save r1.json: no space left"));
    assert_eq!(view.standing, Standing::NeedsYou);
}

#[test]
fn the_side_that_the_record_calls_gone_is_the_one_that_is_named() {
    let mut stage = paused_pair(PauseReason::AgentGone);
    stage.implementer.reach = None;
    for (detail, who) in [("codex is gone: its process has ended", "codex"), ("claude: nothing answers", "claude")] {
        if let Some(pair) = &mut stage.pair {
            detail.clone_into(&mut pair.paused_detail);
        }
        assert!(said(&seen(&stage)).starts_with(&format!("{who} is gone")), "{}", said(&seen(&stage)));
    }
}
