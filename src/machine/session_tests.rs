//! What keeps a session from being idle, and its state for people. One line a case.

use super::*;
use crate::machine::TranscriptFact;
use crate::machine::ledger::Ledger;
use crate::model::conversation::{Prompt, PromptSource, QueuedPrompt, RecordPos};
use crate::model::ids::{Agent, RecordId, SessionId, SessionRef, TurnId};
use crate::model::reach::{InputBox, OnItsWay, Ticks};
use crate::model::tempo::Tempo;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_000 + second).unwrap()
}

/// A conversation whose only turn ran from 0 to 10.
fn spoken(outcome: Option<Outcome>) -> Conversation {
    let mut conversation = Conversation::new(Agent::Claude);
    let record = |second| RecordPos { id: RecordId::new("r"), offset: 1, at: Some(at(second)) };
    conversation.turns.push(Turn {
        id: TurnId::new("t"),
        prompt: Prompt { record: record(0), text: "go".into(), source: PromptSource::Typed },
        ended_at: outcome.is_some().then(|| at(10)),
        outcome,
        answer: None,
        items: Vec::new().into(),
        edited_files: false,
        last_record: record(10),
    });
    conversation.last_spoken_at = Some(at(10));
    conversation
}

fn reach(second: i64) -> Reach {
    Reach {
        at: at(second),
        transport: Some(Transport::Tmux),
        process: ProcessFact::Alive { pid: 1, started_at: Some(at(-100)) },
        status: LiveStatus::Idle,
        ticks: Ticks::all_hold(),
        input: InputBox::Empty,
        on_its_way: OnItsWay::No,
        replaced_by: None,
        sign: None,
        seen: None,
        place: String::new(),
        last_words: String::new(),
    }
}

fn check(conversation: Option<&Conversation>, reach: Option<&Reach>, now: i64, because: &[Busy]) {
    let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: SessionId::new("s") };
    let other = SessionRef { session_id: SessionId::new("o"), ..session.clone() };
    let fact = TranscriptFact::NotYet;
    let side = Side {
        session: &session,
        conversation,
        transcript: &fact,
        reach,
        sending: None,
        put_away: false,
        noted: false,
        newer_in_folder: None,
    };
    let ledger = Ledger::new();
    let reviewer = Side { session: &other, conversation: None, reach: None, ..side.clone() };
    let scene = Scene {
        now: at(now),
        driver_started_at: at(0),
        kept_since: at(0),
        implementer: side,
        reviewer,
        ledger: &ledger,
        git: None,
        trees: &super::super::Trees::new(),
        box_may_be_unknown: false,
        home: "/home",
        message_file_above: 65_536,
        tempo: Tempo::REAL,
    };
    assert_eq!(idle(&scene, Role::Implementer, 2_000).because, because);
}

#[test]
fn what_keeps_a_session_busy() {
    let ended = spoken(Some(Outcome::Completed));
    check(None, None, 20, &[]);
    check(Some(&ended), None, 20, &[]);
    check(Some(&ended), None, 11, &[Busy::Quiet(at(12))]);
    check(Some(&spoken(None)), None, 20, &[Busy::Turn]);
    let mut agents = ended.clone();
    agents.background_agents = 2;
    check(Some(&agents), Some(&reach(20)), 20, &[Busy::Background(2)]);
    let mut asked = ended.clone();
    asked.question = Some("which?".to_owned());
    check(Some(&asked), Some(&reach(20)), 20, &[Busy::Question("which?".to_owned())]);
    let mut queued = ended;
    queued.queued.push(QueuedPrompt { text: "later".into(), offset: 5, at: Some(at(9)) });
    check(Some(&queued), Some(&reach(20)), 20, &[Busy::QueuedPrompt]);
}

#[test]
fn what_the_agent_says_counts_if_it_is_newer_than_its_transcript() {
    let ended = spoken(Some(Outcome::Completed));
    let says = |second, status: LiveStatus| Reach { status, ..reach(second) };
    check(Some(&ended), Some(&says(20, LiveStatus::Busy)), 20, &[Busy::Says]);
    check(Some(&ended), Some(&says(5, LiveStatus::Busy)), 20, &[]);
    let waiting = LiveStatus::Waiting { what: "permission".to_owned() };
    check(Some(&ended), Some(&says(20, waiting)), 20, &[Busy::Dialog("permission".to_owned())]);
    let mut dialog = reach(20);
    dialog.ticks.no_dialog = Tick::Missing("a dialog is open".to_owned());
    check(Some(&ended), Some(&dialog), 20, &[Busy::Dialog("a dialog is open".to_owned())]);
}

#[test]
fn a_queue_and_background_agents_die_with_their_process() {
    let mut conversation = spoken(Some(Outcome::Completed));
    conversation.background_agents = 1;
    conversation.queued.push(QueuedPrompt { text: "later".into(), offset: 5, at: Some(at(9)) });
    let with = |process| Reach { process, ..reach(20) };
    check(Some(&conversation), Some(&with(ProcessFact::Dead)), 20, &[]);
    check(Some(&conversation), Some(&with(ProcessFact::Alive { pid: 2, started_at: Some(at(15)) })), 20, &[]);
    let unknown = [Busy::QueuedPrompt, Busy::Background(1)];
    check(Some(&conversation), Some(&with(ProcessFact::Unknown)), 20, &unknown);
    check(Some(&spoken(None)), Some(&with(ProcessFact::Dead)), 20, &[]);
}

#[test]
fn states_for_people() {
    let check = |conversation: Option<&Conversation>, reach: Option<&Reach>, state: &SessionState| {
        assert_eq!(&super::state(conversation, reach, None, at(20)).state, state);
    };
    let failed = |class| spoken(Some(Outcome::Failed(Failure { class, text: String::new(), resets_at: None })));
    check(None, Some(&reach(20)), &SessionState::Idle);
    check(Some(&spoken(Some(Outcome::Completed))), None, &SessionState::Idle);
    check(Some(&spoken(None)), None, &SessionState::Working { activity: String::new() });
    check(Some(&failed(FailureClass::Limit)), None, &SessionState::NeedsYou(Need::Limit));
    check(Some(&failed(FailureClass::Auth)), None, &SessionState::NeedsYou(Need::Error));
    let waiting = Reach { status: LiveStatus::Waiting { what: "x".to_owned() }, ..reach(20) };
    check(Some(&spoken(None)), Some(&waiting), &SessionState::NeedsYou(Need::NeedsApproval));
    let dead = Reach { process: ProcessFact::Dead, transport: None, ..reach(20) };
    check(Some(&spoken(None)), Some(&dead), &SessionState::Gone);
    let headless = Reach { process: ProcessFact::Dead, transport: Some(Transport::Headless), ..reach(20) };
    check(Some(&spoken(Some(Outcome::Completed))), Some(&headless), &SessionState::Idle);
}

/// I1, I5: the transcript says whether a turn runs. A status of `idle` that comes before the last records ends none, and
/// neither does one that comes right after a send, before the record of it.
#[test]
fn i1_a_turn_is_over_when_its_end_is_recorded_and_not_before() {
    let says = |second, status: LiveStatus| Reach { status, ..reach(second) };
    for status in [LiveStatus::Idle, LiveStatus::Silent] {
        check(Some(&spoken(None)), Some(&says(11, status.clone())), 600, &[Busy::Turn]);
        check(Some(&spoken(Some(Outcome::Completed))), Some(&says(20, status)), 20, &[]);
    }
}

/// I7: neither a long tool nor the retries of minutes are anything but work, and nothing is said of an alarm.
#[test]
fn i7_a_turn_that_takes_long_is_work_however_long() {
    let mut long = spoken(None);
    let name = "Bash".to_owned();
    let kind =
        ItemKind::Tool { call_id: "c".to_owned(), name, summary: "cargo test".to_owned(), ok: None, lines: None };
    long.turns[0].items.push(crate::model::conversation::Item { offset: 1, at: Some(at(10)), kind });
    for now in [20, 600, 86_400] {
        let busy = Reach { status: LiveStatus::Busy, ..reach(now) };
        let view = state(Some(&long), Some(&busy), None, at(now));
        assert_eq!(view.state, SessionState::Working { activity: "runs cargo test".to_owned() });
        assert_eq!(view.fact.since, Some(at(0)), "since its prompt");
    }
}

#[test]
fn a_state_says_since_when_and_what_said_so() {
    let sign = |since, source: &str| Some(crate::model::reach::Sign { since, source: source.to_owned() });
    let fact = |conversation: Option<&Conversation>, reach: &Reach| state(conversation, Some(reach), None, at(20)).fact;
    let ended = spoken(Some(Outcome::Completed));

    let asks = Reach {
        status: LiveStatus::Waiting { what: "permission prompt".to_owned() },
        sign: sign(Some(at(15)), "sessions/7.json: waiting"),
        ..reach(20)
    };
    let told = fact(Some(&spoken(None)), &asks);
    assert_eq!((told.since, told.because.as_str()), (Some(at(15)), "permission prompt"));
    assert_eq!(told.evidence, "sessions/7.json: waiting");

    let idle = fact(Some(&ended), &reach(20));
    assert_eq!(
        (idle.since, idle.because.as_str(), idle.evidence.as_str()),
        (Some(at(10)), TURN_ENDED, "record r at byte 1")
    );
    let stopped = fact(Some(&spoken(Some(Outcome::Interrupted))), &reach(20));
    assert_eq!(stopped.because, "its turn was interrupted");

    // Background agents keep it at work; a background shell does not, whatever word the agent has for it.
    let mut away = ended.clone();
    away.background_agents = 1;
    let view = state(Some(&away), Some(&Reach { status: LiveStatus::Busy, ..reach(20) }), None, at(20));
    assert_eq!((view.state.word(), view.fact.because.as_str()), ("working", "waits for 1 background agent"));
    let shell = Reach { sign: sign(Some(at(11)), "sessions/7.json: shell"), ..reach(20) };
    assert_eq!(state(Some(&ended), Some(&shell), None, at(20)).state, SessionState::Idle);

    let left = Reach { replaced_by: Some((SessionId::new("new"), "it names new".to_owned())), ..reach(20) };
    let view = state(Some(&ended), Some(&left), None, at(20));
    assert_eq!((view.state, view.fact.evidence.as_str()), (SessionState::Gone, "it names new"));
    assert_eq!(view.fact.because, "its agent went over to session new");
}

/// What is shown of a dead session says it once, and is the same at every look.
#[test]
fn a_dead_session_is_the_same_at_every_look() {
    let ended = spoken(Some(Outcome::Completed));
    let seen = |second| {
        let dead = Reach { process: ProcessFact::Dead, transport: None, ..reach(second) };
        state(Some(&ended), Some(&dead), None, at(second))
    };
    assert_eq!(seen(20), seen(90));
    assert!(!seen(20).fact.evidence.contains("no process"), "{:?}", seen(20).fact);
}

#[test]
fn what_a_hook_says_is_asked_shows_until_anything_newer_says_otherwise() {
    let asked = Asked { at: at(12), what: "Bash: touch x".to_owned() };
    let open = spoken(None);
    let says = |second, status: LiveStatus| Reach { status, ..reach(second) };
    let waits = || LiveStatus::Waiting { what: "permission prompt".to_owned() };
    let asks = |conversation: &Conversation, reach: Option<&Reach>| still_asks(&asked, Some(conversation), reach);
    assert!(asks(&open, None));
    assert!(asks(&open, Some(&says(12, LiveStatus::Busy))), "a status file a moment behind says nothing");
    assert!(asks(&open, Some(&says(20, waits()))));
    assert!(!asks(&open, Some(&says(20, LiveStatus::Busy))));
    assert!(!asks(&open, Some(&says(20, LiveStatus::Idle))));
    // Codex says nothing: its records do. The call of the tool itself is about as old as the hook.
    let mut answered = open.clone();
    answered.last_spoken_at = Some(at(13));
    assert!(asks(&answered, Some(&says(20, LiveStatus::Silent))));
    answered.last_spoken_at = Some(at(15));
    assert!(!asks(&answered, Some(&says(20, LiveStatus::Silent))));
    let mut ended = spoken(Some(Outcome::Interrupted));
    ended.turns[0].ended_at = Some(at(13));
    assert!(!asks(&ended, None));
    assert!(!asks(&open, Some(&Reach { process: ProcessFact::Dead, ..says(20, LiveStatus::Silent) })));

    let view = |reach: Option<&Reach>| state(Some(&open), reach, Some(&asked), at(20));
    for reach in [None, Some(says(20, waits())), Some(says(20, LiveStatus::Silent))] {
        let view = view(reach.as_ref());
        assert_eq!((view.state.word(), view.fact.because.as_str()), ("needs_approval", "Bash: touch x"));
    }
    assert_eq!(view(None).fact.since, Some(at(12)));
}

#[test]
fn paths_below_the_folder_are_said_without_it() {
    assert_eq!(below("/w/shop/src/a.rs", Some("/w/shop")), "src/a.rs");
    assert_eq!(below("cat /w/shop/a /w/shop/b", Some("/w/shop/")), "cat a b");
    assert_eq!(below("/w/shopping/a", Some("/w/shop")), "/w/shopping/a");
    assert_eq!(below("/etc/a", Some("/")), "/etc/a");
    assert_eq!(below("a", None), "a");
}
