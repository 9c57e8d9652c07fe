//! Times and records: agents that are slow, late, very fast, or write down nothing or twice.

use trellis::model::ids::Agent;
use trellis::model::outbox::EntryState;
use trellis::model::pair::{PairStop, PauseReason};

use super::rig::Bench;

const ANSWER: &str = "Done: the parser reads the new header, and the tests are green.";

#[test]
fn d3_an_agent_that_takes_an_early_enter_for_a_line_feed_gets_it_on_the_first_try() {
    let Some(mut bench) = Bench::of(Agent::Codex, ANSWER, &["--newline-within", "120"]) else { return };
    bench.begin(1.0);
    bench.arrives_once();
    let entry = bench.entry().unwrap();
    assert_eq!((entry.attempts, entry.enters), (1, 0));
}

#[test]
fn d5_an_agent_that_shows_nothing_for_8_s_gets_it_once_and_no_ctrl_c() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--draw-after", "8"]) else { return };
    bench.begin(1.0);
    bench.arrives_once();
    assert_eq!(bench.entry().unwrap().attempts, 1);
}

#[test]
fn d7_a_fast_turn_is_counted() {
    for after in ["0.2", "0"] {
        let Some(mut bench) = Bench::claude(ANSWER, &["--answer-after", after]) else { return };
        bench.begin(1.0);
        bench.arrives_once();
        assert_eq!(bench.pair().round_count, 1);
    }
}

#[test]
fn d7_a_message_whose_record_never_shows_is_not_sent_a_second_time() {
    for agent in [Agent::Claude, Agent::Codex] {
        let Some(mut bench) = Bench::of(agent, ANSWER, &["--never-record"]) else { return };
        bench.begin(20.0);
        let detail = bench.pauses(PauseReason::DeliveryFailed);
        assert!(detail.contains("transcript does not show it"), "{detail}");
        assert_eq!(bench.reviewer.submitted().len(), 1);
        assert_eq!(bench.entry().unwrap().attempts, 1);
    }
}

#[test]
fn a_record_that_comes_6_s_late_is_waited_for() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--record-after", "6"]) else { return };
    bench.begin(1.0);
    bench.arrives_once();
    assert_eq!(bench.entry().unwrap().attempts, 1);
}

#[test]
fn a_prompt_that_is_written_down_twice_is_reported_as_a_duplicate() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--record-twice"]) else { return };
    bench.begin(5.0);
    bench.wait("the agreement", || bench.pair().stop_reason == Some(PairStop::Lgtm));
    let entry = bench.entry().unwrap();
    assert_eq!((entry.state, entry.attempts, entry.duplicates.len()), (EntryState::Delivered, 1, 1));
    assert_eq!(bench.reviewer.submitted().len(), 1, "it was typed once");
    bench.harmless();
}

#[test]
fn i7_the_footer_of_an_idle_screen_during_a_long_turn_raises_no_alarm() {
    let habits = ["--footer", "⏵⏵ accept edits on (shift+tab to cycle)", "--answer-after", "5"];
    let Some(mut bench) = Bench::claude(ANSWER, &habits) else { return };
    // At this tempo the turn is as long as 100 s.
    bench.begin(20.0);
    bench.wait("the delivery", || bench.pair().round_count == 1);
    let mut looks = 0;
    bench.wait("the agreement", || {
        looks += 1;
        let view = bench.view().unwrap();
        assert_eq!(view.banner, None);
        bench.pair().stop_reason == Some(PairStop::Lgtm)
    });
    assert!(looks > 1);
    bench.arrives_once();
}
