//! Which changes are told, and how often.

use super::*;
use crate::model::event::EventKind;
use crate::model::ids::RunId;
use crate::model::pair::PauseReason;
use crate::projection::{Banner, LookFirst};
use crate::tell::tests::{at, projection, run};

fn needing(reason: Option<PauseReason>, headline: &str, since: i64) -> RunView {
    RunView {
        standing: Standing::NeedsYou,
        since: at(since),
        banner: Some(Banner { reason, headline: headline.to_owned(), lines: Vec::new(), offers: Vec::new() }),
        ..run("shop")
    }
}

fn told(teller: &mut Teller, run: RunView, now: i64) -> Vec<String> {
    let news = teller.look(&projection(vec![run]), at(now));
    news.into_iter().map(|news| format!("{} | {}", news.reason, news.text)).collect()
}

fn begun() -> Teller {
    let mut teller = Teller::default();
    assert_eq!(told(&mut teller, run("shop"), 0), [""; 0]);
    teller
}

#[test]
fn a_run_that_needs_a_person_is_told_once_and_again_when_it_needs_them_again() {
    let mut teller = begun();
    let near = || needing(Some(PauseReason::NearMiss), "nearly an approval", 10);
    assert_eq!(told(&mut teller, near(), 10), ["near_miss | shop needs you: nearly an approval"]);
    assert_eq!(told(&mut teller, near(), 900), [""; 0]);
    assert_eq!(told(&mut teller, run("shop"), 901), [""; 0]);
    let again = needing(Some(PauseReason::NearMiss), "nearly an approval", 950);
    assert_eq!(told(&mut teller, again, 950).len(), 1);
    // Two waits with nothing seen in between are two all the same.
    let third = needing(Some(PauseReason::NearMiss), "nearly an approval", 990);
    assert_eq!(told(&mut teller, third, 990).len(), 1);
}

#[test]
fn the_end_of_a_run_is_told_and_a_stop_by_hand_is_not() {
    let mut teller = begun();
    let done = || RunView { standing: Standing::Done, sentence: "3 phases · completed".to_owned(), ..run("shop") };
    assert_eq!(told(&mut teller, done(), 1), ["completed | shop is done: 3 phases · completed"]);
    assert_eq!(told(&mut teller, done(), 2), [""; 0]);
    let mut teller = begun();
    assert_eq!(told(&mut teller, RunView { standing: Standing::Ended, ..run("shop") }, 1), [""; 0]);
    let mut teller = begun();
    assert_eq!(told(&mut teller, RunView { standing: Standing::Paused, ..run("shop") }, 1), [""; 0]);
    let mut teller = begun();
    assert_eq!(told(&mut teller, RunView { standing: Standing::Failed, ..run("shop") }, 1).len(), 1);
}

#[test]
fn what_an_agent_asks_is_told_once_a_minute_a_run() {
    let mut teller = begun();
    let asks = || {
        let mut asks = needing(None, "claude asks for approval", 0);
        asks.implementer.state = SessionState::NeedsYou(Need::NeedsApproval);
        asks
    };
    assert_eq!(told(&mut teller, asks(), 1), ["approval | shop needs you: claude asks for approval"]);
    assert_eq!(told(&mut teller, run("shop"), 5), [""; 0]);
    assert_eq!(told(&mut teller, asks(), 20), [""; 0], "within the minute");
    assert_eq!(teller.wake_at(), Some(at(61)));
    assert_eq!(told(&mut teller, asks(), 61).len(), 1, "it still asks when the minute is over");
    assert_eq!((teller.wake_at(), told(&mut teller, asks(), 200)), (None, Vec::new()));
    // One that was answered meanwhile is not told late.
    assert_eq!(told(&mut teller, run("shop"), 210), [""; 0]);
    assert_eq!(told(&mut teller, asks(), 220).len(), 1);
    assert_eq!(told(&mut teller, run("shop"), 230), [""; 0]);
    assert_eq!(told(&mut teller, asks(), 240), [""; 0]);
    assert_eq!(told(&mut teller, run("shop"), 250), [""; 0]);
    assert_eq!((teller.wake_at(), told(&mut teller, run("shop"), 300)), (None, Vec::new()));
}

#[test]
fn what_stood_before_the_start_is_no_news_and_what_the_start_concluded_is() {
    let stood = || needing(Some(PauseReason::UserTyped), "you typed", 3);
    let mut teller = Teller::default();
    assert_eq!(told(&mut teller, stood(), 10), [""; 0]);
    assert_eq!(told(&mut teller, stood(), 20), [""; 0]);

    let mut teller = Teller::default();
    teller.heard(&Event {
        seq: 1,
        at: at(9),
        kind: EventKind::ChecklistPaused,
        run_id: Some(RunId::from("shop")),
        pair_id: None,
        session_id: None,
        reason: None,
        revision: None,
    });
    assert_eq!(told(&mut teller, stood(), 10).len(), 1);
}

#[test]
fn a_dialog_that_the_first_looks_find_is_no_news() {
    let mut teller = Teller::default();
    let asks = || needing(None, "claude asks for approval", 0);
    let looking = |run: RunView, looking: bool| Projection { looking, ..projection(vec![run]) };
    assert_eq!(teller.look(&looking(run("shop"), true), at(0)), []);
    assert_eq!(teller.look(&looking(asks(), true), at(1)), []);
    assert_eq!(teller.look(&looking(asks(), false), at(2)), []);
    assert_eq!(teller.look(&looking(run("shop"), false), at(3)), []);
    assert_eq!(teller.look(&looking(asks(), false), at(4)).len(), 1);
}

#[test]
fn each_relay_that_waits_for_a_look_is_told() {
    let mut teller = begun();
    let looks = |n: u32| RunView {
        standing: Standing::NeedsYou,
        look_first: Some(LookFirst {
            n,
            source: format!("turn {n}"),
            to: crate::model::ids::Role::Reviewer,
            text: "x".into(),
            ticks: None,
            since: at(0),
        }),
        ..run("shop")
    };
    assert_eq!(told(&mut teller, looks(1), 1), ["look_first | shop needs you: look at relay 1 before it is sent"]);
    assert_eq!(told(&mut teller, looks(1), 2), [""; 0]);
    assert_eq!(told(&mut teller, looks(2), 3).len(), 1);
}

#[test]
fn u7_what_an_agent_is_called_does_no_harm_in_the_news() {
    let mut teller = begun();
    let mut hostile = needing(Some(PauseReason::NearMiss), "the line “LG\u{1b}]0;x\u{7}TM\u{9c}”", 1);
    hostile.name = "a\u{1b}[31mb\nc".to_owned();
    let news = teller.look(&projection(vec![hostile]), at(1));
    assert_eq!((news[0].name.as_str(), news[0].text.as_str()), ("ab c", "ab c needs you: the line “LGTM”"));
}
