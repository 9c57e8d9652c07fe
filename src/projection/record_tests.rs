//! Standing, sentence, stage and counts in the states a run goes through.

use super::super::samples::{Stage, after, pair, round, run, talk, turn};
use super::super::{RunView, Stage as Step, Standing};
use super::view;
use crate::machine::Wait;
use crate::model::ids::{Agent, Role};
use crate::model::pair::{PairStep, PairStop};
use crate::model::run::{AttemptStatus, RunState, RunStep, RunStop};
use crate::model::session::SessionState;

fn seen(stage: &Stage) -> RunView {
    view(&stage.record(), &stage.facts()).unwrap()
}

fn waiting(who: &str) -> Wait {
    Wait { who: who.to_owned(), ..Wait::default() }
}

#[test]
fn in_review_it_counts_relays() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    stage.pair.as_mut().unwrap().round_count = 5;
    stage.wait = waiting("codex reviews");
    let view = seen(&stage);
    assert_eq!(view.sentence, "codex reviews · relay 5 of 10");
    assert_eq!((view.standing, view.state_word.as_str()), (Standing::Going, "going"));
    assert_eq!((view.stage, view.phase), (Some(Step::Review), Some(3)));
    assert_eq!((view.relays, view.max_relays), (5, 10));
    stage.pair.as_mut().unwrap().step = Some(PairStep::AwaitImplementer);
    assert_eq!(seen(&stage).stage, Some(Step::Build));
}

/// L13: words without work are reviewed as they are, and the screen says that no file was changed.
#[test]
fn l13_a_review_of_words_alone_says_that_no_file_was_changed() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    let pair = stage.pair.as_mut().unwrap();
    pair.round_count = 1;
    pair.rounds = vec![round(1, "c1", "x1")];
    stage.wait = waiting("codex reviews");
    assert_eq!(seen(&stage).sentence, "codex reviews · relay 1 of 10 · no file was changed");
    let mut edited = turn("c1", "do phase three", "Did it.", 10, 20);
    edited.edited_files = true;
    stage.implementer = talk(Agent::Claude, vec![edited]);
    assert_eq!(seen(&stage).sentence, "codex reviews · relay 1 of 10");
}

#[test]
fn the_first_wait_is_told_until_something_was_sent_or_is_worked_on() {
    let mut fresh = run();
    fresh.step = Some(RunStep::Probe);
    fresh.phases.clear();
    fresh.phases_done = 0;
    fresh.current_pair_id = None;
    let mut stage = Stage::new(Some(fresh), None);
    stage.wait = waiting("waits for claude's first answer");
    // An answer that is about to be taken as the phase: it is nobody's move, and its work is where the run is.
    let view = seen(&stage);
    assert!(!view.first_wait);
    assert_eq!((view.standing, view.stage, view.phase), (Standing::Going, Some(Step::Build), Some(1)));
    let newest = stage.implementer.conversation.as_ref().and_then(|talk| talk.newest()).map(|turn| turn.id.clone());
    stage.run.as_mut().unwrap().baseline_turn_id = newest;
    let view = seen(&stage);
    assert!(view.first_wait);
    // As long as something ends by itself, the move is not the person's.
    stage.wait.deadline = Some(after(5));
    assert!(!seen(&stage).first_wait);
    stage.wait.deadline = None;
    assert_eq!((view.standing, view.stage, view.phase), (Standing::Waits, Some(Step::Ask), Some(1)));
    stage.side(Role::Implementer).state = Some(SessionState::Working { activity: "reads".to_owned() });
    let view = seen(&stage);
    assert!(!view.first_wait);
    assert_eq!((view.standing, view.stage), (Standing::Going, Some(Step::Build)));
}

#[test]
fn ended_runs_say_how() {
    let ended = |stop: RunStop| {
        let mut run = run();
        run.state = RunState::Stopped;
        run.step = None;
        run.stop_reason = Some(stop);
        run.stopped_at = Some(after(600));
        run.phases[0].status = AttemptStatus::Converged;
        seen(&Stage::new(Some(run), Some(pair())))
    };
    let done = ended(RunStop::Completed);
    assert_eq!((done.standing, done.state_word.as_str()), (Standing::Done, "done"));
    assert_eq!(done.sentence, "2 phases · completed");
    assert_eq!((done.stage, done.since), (None, after(600)));
    assert_eq!(ended(RunStop::Manual).standing, Standing::Ended);
    assert_eq!(ended(RunStop::ServerRestarted).standing, Standing::Failed);
}

#[test]
fn a_pair_alone_has_no_phase() {
    let mut alone = pair();
    alone.owner = String::new();
    let view = seen(&Stage::new(None, Some(alone.clone())));
    assert_eq!((view.phase, view.phases.len(), view.name.as_str()), (None, 0, "shop"));
    alone.state = crate::model::pair::PairState::Stopped;
    alone.stop_reason = Some(PairStop::Lgtm);
    alone.accepted_by = Some("user".to_owned());
    alone.stopped_at = Some(after(60));
    let view = seen(&Stage::new(None, Some(alone)));
    assert_eq!((view.standing, view.stop_words.as_str()), (Standing::Done, "accepted by you"));
}

#[test]
fn two_of_a_kind_are_numbered() {
    let mut run = run();
    run.reviewer = super::super::samples::side(Agent::Claude, "c-2");
    let view = seen(&Stage::new(Some(run), None));
    assert_eq!((view.implementer.label.as_str(), view.reviewer.label.as_str()), ("claude·1", "claude·2"));
}

/// What is on its way to the reviewer is its work already.
#[test]
fn a_relay_on_its_way_to_the_reviewer_is_review() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    let pair = stage.pair.as_mut().unwrap();
    pair.step = Some(PairStep::AwaitImplementer);
    pair.outbox = vec![
        serde_json::from_value(serde_json::json!({
            "id": "e1", "purpose": "to_reviewer", "target": "reviewer",
            "text": {"file": "", "sha256": "", "bytes": 0, "first_line": ""},
            "source_turn_id": null, "source_message_id": null, "resend_of": null, "transcript_mark": null,
            "prepared_at": "2026-03-01T12:01:00Z", "attempts": 0, "attempt_at": null, "last_key_at": null,
            "enters": 0, "queue_id": null, "state": "prepared", "delivered_turn_id": null
        }))
        .unwrap(),
    ];
    assert_eq!(seen(&stage).stage, Some(Step::Review));
    stage.pair.as_mut().unwrap().outbox[0].target = Role::Implementer;
    assert_eq!(seen(&stage).stage, Some(Step::Build));
}

/// Who has only the records, and no transcript, counts from the last step that they tell of, not from the run's start.
#[test]
fn without_a_wait_its_time_is_that_of_the_last_step() {
    let mut stage = Stage::new(Some(run()), Some(pair()));
    assert_eq!(seen(&stage).since, after(0));
    stage.pair.as_mut().unwrap().rounds = vec![round(1, "c1", "x1"), round(2, "x1", "c2")];
    assert_eq!(seen(&stage).since, after(120), "the relay that was seen last");
    let run = stage.run.as_mut().unwrap();
    run.phases[0].status = AttemptStatus::Converged;
    run.phases[0].ended_at = Some(after(300));
    assert_eq!(seen(&stage).since, after(300), "the phase that ended");
    stage.wait.since = Some(after(400));
    assert_eq!(seen(&stage).since, after(400));
}

/// The phase that is built is called by its number from its first edit on, also when the turn has just ended.
#[test]
fn a_phase_that_was_worked_on_stays_one_when_its_turn_ends() {
    let mut asked = run();
    asked.step = Some(RunStep::Probe);
    asked.phases[0].status = AttemptStatus::Converged;
    asked.phases[0].ended_at = Some(after(5));
    asked.baseline_turn_id = Some("c1".into());
    let mut stage = Stage::new(Some(asked), None);
    let mut before = turn("c1", "do phase three", "Did it.", 0, 4);
    before.edited_files = true;
    let mut works = turn("c2", "do phase four", "Did it too.", 10, 20);
    stage.implementer = talk(Agent::Claude, vec![before.clone()]);
    assert!(seen(&stage).phase_asked, "the phase before was worked on, nobody knows of another");
    stage.implementer = talk(Agent::Claude, vec![before.clone(), works.clone()]);
    assert!(seen(&stage).phase_asked, "a short answer may say that no phase is left");
    works.edited_files = true;
    for outcome in [None, works.outcome.clone()] {
        let edits = crate::model::conversation::Turn { outcome, ..works.clone() };
        stage.implementer = talk(Agent::Claude, vec![before.clone(), edits]);
        assert!(!seen(&stage).phase_asked);
    }
}

/// What a person asked the builder for between two reviews is reviewed too: its lines are counted.
#[test]
fn lines_between_two_reviews_are_those_of_every_turn_between_them() {
    let edits = |id: &str, from: i64, added: u32, file: &str| {
        let mut turn = turn(id, "do it", "Did it.", from, from + 5);
        turn.edited_files = true;
        let kind = crate::model::conversation::ItemKind::Tool {
            call_id: String::new(),
            name: "Edit".to_owned(),
            summary: file.to_owned(),
            lines: Some((added, 0)),
            ok: Some(true),
        };
        let item = crate::model::conversation::Item { offset: 0, at: Some(after(from)), kind };
        turn.items = std::iter::once(item).chain(turn.items.iter().cloned()).collect();
        turn
    };
    let mut stage = Stage::new(Some(run()), Some(pair()));
    stage.implementer = talk(
        Agent::Claude,
        vec![
            edits("c0", 0, 50, "old.rs"),
            edits("c1", 10, 3, "a.rs"),
            edits("c2", 30, 1, "b.rs"),
            turn("c3", "go on", "Nothing to change.", 40, 45),
        ],
    );
    stage.reviewer = talk(
        Agent::Codex,
        vec![turn("x1", "review", "1. one point", 20, 25), turn("x2", "review", "1. another", 50, 55)],
    );
    stage.pair.as_mut().unwrap().rounds = vec![round(1, "c1", "x1"), round(2, "x1", "c2"), round(3, "c3", "x2")];
    stage.wait = waiting("codex reviews");
    stage.pair.as_mut().unwrap().round_count = 3;
    let view = seen(&stage);
    let counts: Vec<_> = view.reviews.iter().map(|review| (review.lines, review.files)).collect();
    assert_eq!(counts, [(Some(3), Some(1)), (Some(1), Some(1))]);
    assert_eq!(view.sentence, "codex reviews · relay 3 of 10", "a file was changed");
}
