//! "Since you looked": when it opens, what its keys do, what is copied of it.

use jiff::SignedDuration;
use trellis::model::pair::PauseReason;
use trellis::projection::Standing;
use trellis::projection::phases::PhaseHow;
use trellis::projection::summary::{LimitSpan, PhaseEnd, RunSummary, Summary};
use trellis::ui::app::{Effect, Msg, Over, Screen};

use super::Rig;
use super::frames::{View, keep};
use super::scenes::{ago, ended, key, no_agreement, now, one, run};

pub fn night() -> Summary {
    let phase = |n: u32, how, summary: &str, relays, took| PhaseEnd {
        reviewed: true,
        n: Some(n),
        how,
        summary: summary.to_owned(),
        relays,
        took,
    };
    let search = RunSummary {
        key: key("search-index"),
        name: "search-index".to_owned(),
        state_word: "done".to_owned(),
        begun: false,
        phases: vec![
            phase(9, PhaseHow::Agreed, "Price rules", 1, 240),
            phase(10, PhaseHow::Agreed, "Checkout endpoint", 5, 1_860),
            phase(11, PhaseHow::Skipped, "Receipts by mail, with everything that belongs to them", 3, 11_940),
        ],
        relays: 61,
        twice: 0,
        limits: vec![LimitSpan { side: Some("claude".to_owned()), from: ago(40_000), to: Some(ago(30_000)) }],
        near_misses: vec!["asked, then agreed".to_owned()],
        pauses: vec![(ago(20_000), PauseReason::UserTyped)],
        ended: Some((ago(7_200), "completed".to_owned())),
        waits: None,
    };
    let checkout = RunSummary {
        key: key("checkout"),
        name: "checkout".to_owned(),
        state_word: "needs you".to_owned(),
        waits: Some("no agreement after 10 relays".to_owned()),
        phases: Vec::new(),
        relays: 10,
        limits: Vec::new(),
        near_misses: Vec::new(),
        pauses: Vec::new(),
        ended: None,
        ..search.clone()
    };
    Summary { since: ago(55_000), until: now(), runs: vec![checkout, search] }
}

pub fn two_runs() -> trellis::projection::Projection {
    let mut projection = one(no_agreement());
    projection.runs.push(ended("search-index", Standing::Done, "done", 12, 7_200));
    projection
}

fn opened(size: (u16, u16)) -> Rig {
    let mut rig = Rig::new(two_runs(), size);
    rig.send(Msg::Happened(night()));
    rig
}

/// What is kept of it as a frame.
pub fn views() -> Vec<View> {
    let tell = |rig: &mut Rig| drop(rig.send(Msg::Happened(night())));
    vec![View::new("since_you_looked", two_runs, "").then(tell)]
}

#[test]
fn what_happened_is_a_page_of_its_own_at_every_size() {
    keep(views());
}

#[test]
fn its_keys_open_a_run_copy_it_and_close_it() {
    let mut rig = opened((38, 20));
    let copied = rig.press("y");
    let [Effect::Copy { text, .. }] = copied.as_slice() else { panic!("{copied:?}") };
    assert!(text.contains("## checkout (needs you)") && text.contains("| 10 | Checkout endpoint | agreed | 5 | 31m |"));
    assert!(matches!(rig.app.over.last(), Some(Over::Since(_))), "copying leaves it open");
    assert_eq!(rig.press("j Enter"), []);
    assert!(rig.app.over.is_empty());
    assert_eq!(*rig.app.screen(), Screen::Run(key("search-index")));
    let mut rig = opened((38, 20));
    rig.press("Esc");
    assert!(rig.app.over.is_empty());
    // Keys that order something elsewhere order nothing here.
    let mut rig = opened((38, 20));
    assert_eq!(rig.press("x a s p +"), []);
}

#[test]
fn a_key_after_half_an_hour_asks_what_happened_and_does_nothing_else() {
    let mut rig = Rig::new(one(run("checkout")), (38, 20));
    assert_eq!(rig.press("k"), []);
    rig.now += SignedDuration::from_mins(31);
    // Nothing happened: the key means what it means.
    assert_eq!(rig.press("?"), []);
    assert!(matches!(rig.app.over.last(), Some(Over::Help(_))));
    rig.press("Esc");
    let looked_at = rig.app.looked_at;
    rig.now += SignedDuration::from_mins(31);
    let mut moved = run("checkout");
    moved.relay_list[0].seen_at = Some(looked_at + SignedDuration::from_mins(5));
    rig.send(Msg::Changed(std::sync::Arc::new(one(moved))));
    rig.draw();
    assert_eq!(rig.press("x"), [Effect::Summarise(looked_at)]);
    assert!(rig.app.over.is_empty(), "nothing was asked");
    // The next one counts again.
    rig.press("x");
    assert!(matches!(rig.app.over.last(), Some(Over::Question(_))));
}

#[test]
fn a_text_that_is_being_written_goes_first() {
    let mut rig = Rig::new(one(run("checkout")), (60, 24));
    rig.press("R");
    let looked_at = rig.app.looked_at;
    rig.now += SignedDuration::from_mins(31);
    let mut moved = run("checkout");
    moved.relay_list[0].seen_at = Some(looked_at + SignedDuration::from_mins(5));
    rig.send(Msg::Changed(std::sync::Arc::new(one(moved))));
    assert_eq!(rig.press("z"), []);
    assert!(rig.text().contains("checkoutz"), "{}", rig.text());
}

#[test]
fn nothing_opens_when_nothing_happened() {
    let mut rig = Rig::new(two_runs(), (38, 20));
    rig.send(Msg::Happened(Summary { runs: Vec::new(), ..night() }));
    assert!(rig.app.over.is_empty());
}

#[test]
fn numbers_stand_under_their_heads_and_next_needs_a_next() {
    let mut rig = Rig::new(two_runs(), (38, 40));
    rig.send(Msg::Happened(night()));
    let text = rig.text();
    let head = text.lines().find(|line| line.contains("relays   took")).unwrap_or_else(|| panic!("{text}"));
    let row = text.lines().find(|line| line.contains("10 ✓")).unwrap();
    assert_eq!(head.trim_end().chars().count(), row.trim_end().chars().count(), "{text}");
    assert!(text.contains("j next"), "{text}");
    let mut one = night();
    one.runs.truncate(1);
    let mut rig = Rig::new(two_runs(), (38, 40));
    rig.send(Msg::Happened(one));
    assert!(!rig.text().contains("j next"), "{}", rig.text());
}
