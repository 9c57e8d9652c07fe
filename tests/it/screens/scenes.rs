//! Projections built by hand: what the screen is drawn from in tests.

mod banners;
mod hard;
pub mod talks;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use trellis::machine::Wait;
use trellis::model::event::Decision;
use trellis::model::ids::{Agent, PairId, RecordKey, Role, RunId, SessionId, SessionRef};
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::pair::PauseReason;
use trellis::model::reach::{Tick, Ticks, Transport};
use trellis::model::run::AttemptStatus;
use trellis::model::session::{Need, SessionState, StateFact, TURN_ENDED};
use trellis::projection::{
    Banner, DeliveryView, DriverFact, LookFirst, Offer, PhaseView, Projection, RelayView, ReviewView, RunView,
    SessionView, Settings, SideView, Stage, Standing,
};

pub use banners::banners;
pub use hard::{HOSTILE, hostile, long_talk, many_scripts};
use talks::talk;

/// The time at which every scene plays: 14:21:12 UTC.
pub fn now() -> Timestamp {
    "2026-03-14T14:21:12Z".parse().unwrap()
}

pub fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

fn at(clock: &str) -> Timestamp {
    format!("2026-03-14T{clock}Z").parse().unwrap()
}

pub fn session(agent: Agent, id: &str) -> SessionRef {
    SessionRef { agent, worktree: "/home/dev/shop".to_owned(), session_id: SessionId::from(id) }
}

fn side(agent: Agent, place: &str) -> SideView {
    SideView {
        session: session(agent, place),
        label: agent.as_str().to_owned(),
        state: SessionState::Idle,
        place: place.to_owned(),
        transport: Some(Transport::Tmux),
    }
}

pub fn key(id: &str) -> RecordKey {
    RecordKey::Run(RunId::from(id))
}

/// A run that goes, in review of phase 3.
pub fn run(name: &str) -> RunView {
    RunView {
        key: key(name),
        revision: 7,
        name: name.to_owned(),
        given_name: name.to_owned(),
        standing: Standing::Going,
        state_word: "going".to_owned(),
        since: ago(120),
        sentence: "codex reviews · relay 3 of 10".to_owned(),
        wait: Wait {
            who: "codex reviews".to_owned(),
            what: "reads src/checkout.rs".to_owned(),
            since: Some(ago(120)),
            ends: "ends when codex ends its turn".to_owned(),
            ..Wait::default()
        },
        stage: Some(Stage::Review),
        phase: Some(3),
        phases_expected: None,
        relays: 3,
        max_relays: 10,
        phases: vec![
            phase(1, AttemptStatus::Converged, "Cart model", 3, 8),
            phase(2, AttemptStatus::Converged, "Cart storage", 1, 4),
            phase(3, AttemptStatus::Running, "Checkout endpoint", 3, 23),
        ],
        relay_list: vec![
            relay(1, Role::Reviewer, "13:58:10", None),
            relay(2, Role::Implementer, "14:00:31", Some((2, 0))),
            relay(3, Role::Reviewer, "14:02:02", None),
        ],
        reviews: vec![ReviewView { n: 1, points: 2, repeated: 0, lines: Some(212), files: Some(3), by_git: true }],
        open_points: Vec::new(),
        implementer: side(Agent::Claude, "%1"),
        reviewer: side(Agent::Codex, "%2"),
        banner: None,
        look_first: None,
        delivery: None,
        impossible: [
            ("resume", "it goes already"),
            ("ask", "the first phase was asked for"),
            ("more", "the cap was not reached"),
            ("run_on", "it has not ended"),
            ("discard", "stop it first"),
            ("follow", "no session was replaced"),
            ("bring_back", "both sides are alive"),
        ]
        .map(|(name, why)| (name.to_owned(), why.to_owned()))
        .to_vec(),
        phase_asked: false,
        first_wait: false,
        unreviewed: false,
        read_only: None,
        settings: Settings::Run(Box::default()),
        created_at: ago(7_200),
        stopped_at: None,
        stop_words: String::new(),
    }
}

fn phase(n: u32, status: AttemptStatus, summary: &str, relays: u32, minutes: i64) -> PhaseView {
    let started_at = ago(minutes * 60 + 60);
    PhaseView {
        n,
        status,
        by_user: false,
        reviewed: true,
        summary: summary.to_owned(),
        relays,
        started_at,
        ended_at: (status != AttemptStatus::Running).then(|| started_at + SignedDuration::from_secs(minutes * 60)),
        needs_you: false,
    }
}

fn relay(n: u32, to: Role, clock: &str, points: Option<(u32, u32)>) -> RelayView {
    RelayView {
        n,
        to,
        sent_at: Some(at(clock)),
        seen_at: Some(at(clock)),
        state: EntryState::Delivered,
        first_line: "POST /checkout is in place".to_owned(),
        edited: false,
        points: points.map(|(points, _)| points),
        repeated: points.map(|(_, repeated)| repeated),
    }
}

fn stands(name: &str, standing: Standing, word: &str, sentence: &str, phase: u32, since: i64) -> RunView {
    let mut run = run(name);
    run.standing = standing;
    run.state_word = word.into();
    run.sentence = sentence.into();
    run.phase = Some(phase);
    run.since = ago(since);
    run.wait.since = Some(ago(since));
    run.created_at = ago(since + 7_200);
    run
}

/// A run that ended.
pub fn ended(name: &str, standing: Standing, word: &str, phases: u32, since: i64) -> RunView {
    let mut run = stands(name, standing, word, "completed", 1, since);
    run.phase = None;
    run.stage = None;
    run.phases = (1..=phases)
        .map(|n| {
            let status = if n == 4 && phases > 4 { AttemptStatus::Skipped } else { AttemptStatus::Converged };
            phase(
                n,
                status,
                ["Cart model", "Cart storage", "Tax table", "Old importer"][(n as usize - 1) % 4],
                n % 3 + 1,
                8,
            )
        })
        .collect();
    run.stopped_at = Some(ago(since));
    run.stop_words = if standing == Standing::Done { "completed at 12:21" } else { "stopped by you" }.into();
    run.impossible = ["pause", "resume", "skip", "accept", "retry", "stop", "ask", "force_relay", "write", "more"]
        .map(|name| (name.to_owned(), "it has ended".to_owned()))
        .to_vec();
    run
}

fn offers(list: &[(&str, &str, &str)]) -> Vec<Offer> {
    list.iter()
        .map(|(key, word, what)| {
            let (key, word, what) = ((*key).to_owned(), (*word).to_owned(), (*what).to_owned());
            Offer { key, word, what, pane_of: None }
        })
        .collect()
}

fn needs(reason: PauseReason, headline: &str, lines: &[&str], list: &[(&str, &str, &str)]) -> RunView {
    let mut run = stands("checkout", Standing::NeedsYou, "needs you", headline, 3, 240);
    run.impossible = [("pause", "it is paused"), ("run_on", "it has not ended"), ("discard", "stop it first")]
        .map(|(name, why)| (name.to_owned(), why.to_owned()))
        .to_vec();
    run.phases.last_mut().unwrap().needs_you = true;
    run.wait.who = "waits for you".into();
    run.wait.what = String::new();
    run.wait.ends = String::new();
    run.banner = Some(Banner {
        reason: Some(reason),
        headline: headline.to_owned(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        offers: offers(list),
    });
    run
}

/// The cap was reached with a fix that nobody reviewed.
pub fn no_agreement() -> RunView {
    let mut run = needs(
        PauseReason::PhaseNotConverged,
        "no agreement after 10 relays",
        &["claude's last fix (14:14) is NOT reviewed. The reviews do not shrink."],
        &[
            ("+", "go on", "5 more relays, from here"),
            ("r", "again", "review it again, count 0"),
            ("a", "accept", "as it is, not reviewed"),
            ("s", "skip", "leave it, next phase"),
            ("w", "write", "tell one of them something"),
            ("x", "stop", "end this run"),
        ],
    );
    run.relays = 10;
    run.phases.last_mut().unwrap().reviewed = false;
    run.unreviewed = true;
    run.reviews = [(2, 0, 212), (3, 0, 40), (2, 1, 12), (3, 2, 9), (2, 2, 7)]
        .into_iter()
        .zip(1..)
        .map(|((points, repeated, lines), n)| ReviewView {
            n,
            points,
            repeated,
            lines: Some(lines),
            files: Some(3),
            by_git: true,
        })
        .collect();
    run
}

fn box_holds_text() -> Ticks {
    Ticks {
        box_empty: Tick::Missing("claude's box holds text of yours; the relay goes out once it is gone".to_owned()),
        ..Ticks::all_hold()
    }
}

/// A relay waits for a look.
pub fn look_first() -> RunView {
    let mut run = needs(
        PauseReason::Manual,
        "relay 4 to claude waits for your look",
        &[],
        &[("Enter", "look", "shows it"), ("y", "copy", "to paste it yourself"), ("x", "stop", "end this run")],
    );
    run.state_word = "look first".into();
    run.banner.as_mut().unwrap().reason = None;
    run.look_first = Some(LookFirst {
        n: 4,
        source: "turn-3 message-3".into(),
        to: Role::Implementer,
        text: "Feedback:\n\nTwo remarks:\n1. POST /checkout has no idempotency key, so a retry charges twice\n2. the total is rounded twice (src/checkout.rs:88)\n\nEverything else in this phase is good.\n\nPlease run the whole test suite before you answer.\nThe price rules are in docs/prices.md.\n\nThe order of the columns in the table matters to the importer; keep it.\n\nOne more thing: the log line of a failed charge must not hold the card number, not even its last four digits, because the log is shipped to a third party.\n\nThat is all.".into(),
        ticks: Some(box_holds_text()),
        since: ago(60),
    });
    run
}

/// Nothing was sent yet.
pub fn first_wait() -> RunView {
    let mut run = run("checkout");
    run.first_wait = true;
    run.phase = Some(1);
    run.phases.clear();
    run.relay_list.clear();
    run.reviews.clear();
    run.relays = 0;
    run.stage = Some(Stage::Ask);
    run.sentence = "waits for claude's first answer".into();
    run.wait = Wait {
        who: "waits for claude's first answer".to_owned(),
        what: "nothing was sent".to_owned(),
        since: Some(ago(12)),
        ends: String::new(),
        ..Wait::default()
    };
    run.impossible.retain(|(name, _)| name != "ask");
    run
}

/// Two lines a run in every standing: the first sketch.
pub fn all_standings() -> Projection {
    let mut first = no_agreement();
    first.name = "checkout".into();
    let mut runs = vec![
        ended("cli-flags", Standing::Ended, "stopped", 4, 90_000),
        stands("admin-ui", Standing::Paused, "paused", "paused by you", 2, 10_900),
        stands("billing", Standing::Limit, "limit", "claude at its limit · back 17:00", 5, 2_900),
        first,
        stands("search-index", Standing::Going, "going", "codex reviews · relay 5 of 10", 7, 120),
        stands("docs-site", Standing::Going, "going", "claude works on the phase", 1, 12),
        ended("auth", Standing::Done, "done", 12, 7_300),
    ];
    runs[4].created_at = ago(100);
    let mut projection = Projection { runs: runs.into(), ..base() };
    projection.sessions.extend((0..2_929).map(|n| old_session(12 + n)));
    projection
}

fn base() -> Projection {
    Projection {
        seq: 1,
        at: Some(now()),
        driver: DriverFact::Here,
        home: "/home/dev/.trellis".to_owned(),
        sessions: sessions().into(),
        log: log(),
        ..Projection::default()
    }
}

/// No run, and one session of each kind.
pub fn two_sessions() -> Projection {
    let mut projection = base();
    projection.sessions.truncate(2);
    projection.sessions[1].state = SessionState::Idle;
    projection
}

/// The same, the Claude in a terminal of its own: a person pastes.
pub fn one_by_hand() -> Projection {
    let mut projection = two_sessions();
    projection.sessions[0].transport = Some(Transport::ByHand);
    "/dev/pts/3".clone_into(&mut projection.sessions[0].place);
    projection
}

/// The first wait for a builder that is in no pane.
pub fn first_wait_by_hand() -> RunView {
    let mut run = first_wait();
    run.implementer.transport = Some(Transport::ByHand);
    "/dev/pts/3".clone_into(&mut run.implementer.place);
    run
}

/// Another process drives.
pub fn viewed() -> Projection {
    Projection { driver: DriverFact::Elsewhere { pid: Some(4242), background: false }, ..all_standings() }
}

/// Another process drove, and is gone.
pub fn undriven() -> Projection {
    Projection { driver: DriverFact::Nobody, ..all_standings() }
}

/// A pair without a checklist.
pub fn pair_alone() -> RunView {
    let mut run = run("one-look");
    run.key = RecordKey::Pair(PairId::from("one-look"));
    run.phase = None;
    run.phases.clear();
    run.sentence = "codex reviews · relay 3 of 10".into();
    run.settings = Settings::Pair(Box::default());
    run
}

/// The same at its end, agreed after three relays.
pub fn pair_ended() -> RunView {
    let mut run = ended("one-look", Standing::Done, "done", 0, 300);
    run.key = pair_alone().key;
    run.settings = pair_alone().settings;
    run.phase = None;
    run.sentence = "agreed".into();
    run.stop_words = "agreed".into();
    run
}

/// One session whose transcript is shown.
pub fn one_session() -> Projection {
    let mut projection = one(run("checkout"));
    let key = projection.sessions[0].session.key();
    let mut thread = talk();
    thread.record = None;
    thread.session = Some(key);
    projection.shown = Some(Arc::new(thread));
    projection.sessions[0].used_by = Some(projection.runs[0].key.clone());
    projection
}

/// No run and no session.
pub fn empty() -> Projection {
    Projection { at: Some(now()), driver: DriverFact::Here, ..Projection::default() }
}

/// One run, with its conversation.
pub fn one(run: RunView) -> Projection {
    let mut thread = talk();
    thread.record = Some(run.key.clone());
    if run.first_wait {
        thread.entries.clear();
    }
    Projection { runs: vec![run].into(), shown: Some(Arc::new(thread)), ..base() }
}

fn sessions() -> Vec<SessionView> {
    let mut list = vec![
        session_view(Agent::Claude, "%1", "Implement the cart", SessionState::Idle, 12, true),
        session_view(
            Agent::Codex,
            "%2",
            "Review the cart",
            SessionState::Working { activity: "runs cargo test".to_owned() },
            45,
            true,
        ),
        session_view(Agent::Claude, "%7", "Docs", SessionState::NeedsYou(Need::NeedsApproval), 600, true),
        session_view(Agent::Codex, "9b1c", "Old importer", SessionState::Gone, 90_000, false),
    ];
    list.extend((0..12).map(old_session));
    list
}

fn old_session(n: i64) -> SessionView {
    let id = format!("old-{n}");
    session_view(Agent::Claude, &id, "An old one", SessionState::Gone, 900_000 + n, false)
}

fn session_view(agent: Agent, id: &str, title: &str, state: SessionState, age: i64, live: bool) -> SessionView {
    let asks = state == SessionState::NeedsYou(Need::NeedsApproval);
    SessionView {
        session: session(agent, id),
        title: title.into(),
        state,
        fact: StateFact {
            since: Some(ago(age)),
            because: if asks { "permission prompt".to_owned() } else { TURN_ENDED.to_owned() },
            evidence: "record 8f2a at byte 52110".to_owned(),
        },
        active_at: Some(ago(age)),
        transport: live.then_some(Transport::Tmux),
        place: if live { id.to_owned() } else { String::new() },
        live,
        used_by: None,
        put_away: false,
        branch: Some("main".into()),
        last_words: "".into(),
        path: format!("/home/dev/.claude/projects/shop/{id}.jsonl").into(),
        agent,
        launch: None,
    }
}

fn log() -> Vec<Arc<Decision>> {
    let line = |age: i64, what: &str, evidence: &str, decided: bool| {
        Arc::new(Decision {
            at: ago(age),
            record: Some("checkout".to_owned()),
            what: what.to_owned(),
            evidence: evidence.to_owned(),
            ground: None,
            decided,
        })
    };
    vec![
        line(90_000, "run checkout was created", "key n", true),
        line(1_200, "relay 1 goes to codex", "claude's answer msg_01, record 4f1e at 18,204", true),
        line(1_199, "relay 1 was seen", "codex record 212 at 90,114", true),
        line(1_100, "codex is quiet for 2 s", "timer", false),
        line(1_080, "the review is not an approval", "no LGTM on a line of its own in record 219", true),
        line(1_079, "relay 2 goes to claude", "codex's answer, record 219 at 91,002", true),
    ]
}
