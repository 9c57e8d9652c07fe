//! Every request about a run and about a pair in every state of one: the answers stand in a table, each is one that the
//! document names, and each fault says what is wrong and what to do. And what a person's words become.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};
use trellis::driver::ports::Records as _;
use trellis::model::conversation::Conversation;
use trellis::model::ids::{Agent, RecordKey};
use trellis::model::outbox::EntryState;
use trellis::model::pair::PairRecord;
use trellis::model::run::RunRecord;
use trellis::model::text::TextRef;
use trellis::paths::Home;
use trellis::serve::routes::{Kind, Op, ROUTES, Route};
use trellis::store::Store;

use super::document::{document, statuses};
use super::{Served, served, served_in, still};
use crate::driver::world::{Talks, session};
use crate::store::making::{at, entry, pair, run};

/// What is sent along, where something has to be.
fn body(op: Op) -> &'static str {
    match op {
        Op::Configure(_) => r#"{"max_rounds": 7}"#,
        Op::Control(_, spec) => match spec.word {
            "more" => r#"{"n": 2}"#,
            "write" => r#"{"side": "implementer", "text": "Please look at the cart."}"#,
            "rename" => r#"{"name": "another"}"#,
            "confirm" => r#"{"action": "send"}"#,
            _ => "",
        },
        _ => "",
    }
}

/// The requests about one record, with a word for each.
fn requests(kind: Kind) -> Vec<(String, &'static Route)> {
    let about_one = |route: &&Route| route.path.contains("{id}") && route.path.contains(&format!("/{}/", kind.word()));
    let named = |route: &'static Route| match route.op {
        Op::Control(_, spec) => (spec.word.to_owned(), route),
        _ => (route.method.as_str().to_owned(), route),
    };
    ROUTES.iter().filter(about_one).map(named).collect()
}

fn with(record: &impl serde::Serialize, changes: &Value) -> Value {
    let mut value = serde_json::to_value(record).unwrap();
    for (name, change) in changes.as_object().unwrap() {
        value[name] = change.clone();
    }
    value
}

fn paused(reason: &str) -> Value {
    json!({"state": "paused", "paused_reason": reason, "paused_detail": "a detail", "paused_at": at(9)})
}

/// The states of a run: its name, what differs, and what differs of its pair if it has one.
fn states_of_runs() -> Vec<(&'static str, Value, Option<Value>)> {
    let attempt = |status: &str| {
        json!([{"n": 1, "status": status, "by": null, "reviewed": false, "pair_id": "PAIR", "turn_id": "t", "started_at": at(3),
            "ended_at": (status != "running").then(|| at(8)), "summary": "the cart"}])
    };
    let review = json!({"step": "review", "current_pair_id": "PAIR", "pair_seen": true, "phases": attempt("running")});
    let held = |reason: &str, step: &str| {
        let mut value = paused(reason);
        value["step"] = step.into();
        value
    };
    let ended = |reason: &str, status: &str| {
        let mut value = held(reason, "review");
        value["current_pair_id"] = "PAIR".into();
        value["phases"] = attempt(status);
        value
    };
    let stopped = |reason: &str| json!({"state": "stopped", "step": null, "stop_reason": reason, "stopped_at": at(9)});
    let over = |reason: &str| json!({"state": "stopped", "step": null, "stop_reason": reason, "stopped_at": at(8)});
    vec![
        ("probe", json!({}), None),
        ("review", review.clone(), Some(json!({}))),
        ("advance", json!({"step": "advance", "after": "lgtm", "phases_done": 1}), None),
        (
            "near_miss",
            review.clone(),
            Some(with(
                &paused("near_miss"),
                &json!({"near_miss": {"turn_id": "t", "message_id": "m", "line": "LGTM, nearly"}}),
            )),
        ),
        (
            "look first",
            review,
            Some(json!({"step": "confirm_relay", "pending_confirm": {"direction": "to_reviewer", "target": "reviewer",
            "source_turn_id": "t", "source_message_id": "m", "text": TextRef::of("the cart")}})),
        ),
        ("manual", held("manual", "probe"), None),
        ("limit", held("limit", "probe"), None),
        ("agent_gone", held("agent_gone", "probe"), None),
        ("session_changed", held("session_changed", "probe"), None),
        ("no_answer", held("no_answer", "probe"), None),
        ("phase_limit", held("phase_limit", "advance"), None),
        ("not_converged", ended("phase_not_converged", "not_converged"), Some(over("max_rounds"))),
        ("pair_stopped", ended("pair_stopped", "stopped"), Some(over("manual"))),
        ("completed", stopped("completed"), None),
        ("stopped", stopped("manual"), None),
    ]
}

fn states_of_pairs() -> Vec<(&'static str, Value)> {
    let stopped = |reason: &str| json!({"state": "stopped", "step": null, "stop_reason": reason, "stopped_at": at(9)});
    vec![
        ("await_implementer", json!({"step": "await_implementer"})),
        ("await_reviewer", json!({})),
        (
            "confirm_relay",
            json!({"step": "confirm_relay", "pending_confirm": {"direction": "to_reviewer", "target": "reviewer",
            "source_turn_id": "t", "source_message_id": "m", "text": TextRef::of("the cart")}}),
        ),
        ("manual", paused("manual")),
        (
            "near_miss",
            with(
                &paused("near_miss"),
                &json!({"near_miss": {"turn_id": "t", "message_id": "m", "line": "LGTM, nearly"}}),
            ),
        ),
        ("delivery_failed", paused("delivery_failed")),
        ("lgtm", stopped("lgtm")),
        (
            "max_rounds",
            with(
                &stopped("max_rounds"),
                &json!({"due": {"direction": "to_implementer", "source_turn_id": "t", "text": TextRef::of("more")}}),
            ),
        ),
    ]
}

/// Sessions of its own for each record, so that none stands in the way of another.
fn sides(value: &mut Value, id: &str) {
    value["implementer"] = serde_json::to_value(session(Agent::Claude, &format!("c-{id}"))).unwrap();
    value["reviewer"] = serde_json::to_value(session(Agent::Codex, &format!("x-{id}"))).unwrap();
}

/// Each side has said something.
fn talk(talks: &mut Talks, id: &str) {
    for (agent, name) in [(Agent::Claude, "c"), (Agent::Codex, "x")] {
        let key = session(agent, &format!("{name}-{id}")).key();
        talks.conversations.insert(key.clone(), Conversation::new(agent));
        talks.prompt(&key, "Please build the cart.", at(5));
        talks.answer(&key, "The cart is there.", at(6));
    }
}

fn save_run(store: &mut Store, id: &str, changes: &Value, of_pair: Option<&Value>) {
    let text = with(&run(id), changes).to_string().replace("PAIR", &format!("{id}-p1"));
    let mut value: Value = serde_json::from_str(&text).unwrap();
    sides(&mut value, id);
    let record: RunRecord = serde_json::from_value(value).unwrap();
    if let Some(of_pair) = of_pair {
        let mut value = with(&pair(&format!("{id}-p1")), of_pair);
        sides(&mut value, id);
        save_pair_value(store, value);
    }
    store.save_run(&record).unwrap();
}

fn save_pair_value(store: &mut Store, value: Value) {
    let mut record: PairRecord = serde_json::from_value(value).unwrap();
    // What only the memory holds.
    if let Some(pending) = &mut record.pending_confirm {
        pending.text = TextRef::of("the cart");
    }
    if let Some(due) = &mut record.due {
        due.text = TextRef::of("more");
    }
    if record.paused_reason.is_some_and(|reason| reason.as_str() == "delivery_failed") {
        record.outbox.push(entry(record.id.as_str(), 1, "the cart", EntryState::Sent));
    }
    store.save_pair(&record).unwrap();
}

/// Asks everything of one state, each of a record of its own, and writes the codes down.
async fn ask_all(served: &Served, kind: Kind, state: &str, prefix: &str, table: &mut String) {
    let document = document();
    write!(table, "{state:<18}").unwrap();
    for (word, route) in requests(kind) {
        let id = format!("{prefix}{}", word.to_lowercase());
        let got = served.ask(route.method.as_str(), &route.path.replace("{id}", &id), body(route.op)).await;
        let told = statuses(&document, &route.method, &route.path);
        assert!(told.contains(&got.status), "{state}: {word}: the document says {told:?}: {got:?}");
        if got.status >= 400 {
            got.fault(got.status);
        } else {
            let shown = got.json();
            assert!(shown["id"].is_string(), "{state}: {word}: {got:?}");
            assert!(shown["note"].is_string() || word == "GET", "{state}: {word}: {got:?}");
        }
        write!(table, " {word}={}", got.status).unwrap();
    }
    table.push('\n');
}

#[test]
fn every_request_of_a_run_is_answered_in_every_state() {
    let mut table = String::new();
    for (number, (state, changes, of_pair)) in states_of_runs().iter().enumerate() {
        let prefix = format!("s{number}-");
        let lay_out = |store: &mut Store, talks: &mut Talks| {
            for (word, _) in requests(Kind::Run) {
                talk(talks, &format!("{prefix}{}", word.to_lowercase()));
                save_run(store, &format!("{prefix}{}", word.to_lowercase()), changes, of_pair.as_ref());
            }
        };
        served(still(), lay_out, async |served| ask_all(served, Kind::Run, state, &prefix, &mut table).await);
    }
    shown_only(Kind::Run, &mut table);
    insta::assert_snapshot!("runs", table);
}

#[test]
fn every_request_of_a_pair_is_answered_in_every_state() {
    let mut table = String::new();
    for (number, (state, changes)) in states_of_pairs().iter().enumerate() {
        let prefix = format!("s{number}-");
        let lay_out = |store: &mut Store, talks: &mut Talks| {
            for (word, _) in requests(Kind::Pair) {
                let id = format!("{prefix}{}", word.to_lowercase());
                talk(talks, &id);
                let mut value = with(&pair(&id), changes);
                value["owner"] = "".into();
                sides(&mut value, &id);
                save_pair_value(store, value);
            }
        };
        served(still(), lay_out, async |served| ask_all(served, Kind::Pair, state, &prefix, &mut table).await);
    }
    shown_only(Kind::Pair, &mut table);
    insta::assert_snapshot!("pairs", table);
}

/// Records that are no more than shown: of another program, and changed by one while they are driven; and a full disk.
fn shown_only(kind: Kind, table: &mut String) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let dir = if kind == Kind::Run { home.runs() } else { home.pairs() };
    let lay_out = |_: &mut Store, _: &mut Talks| {
        fs::create_dir_all(&dir).unwrap();
        for (word, _) in requests(kind) {
            fs::write(
                dir.join(format!("foreign-{}.json", word.to_lowercase())),
                "{\"id\": \"x\", \"state\": \"running\"}",
            )
            .unwrap();
        }
    };
    served_in(&home, still(), lay_out, async |served| ask_all(served, kind, "read-only", "foreign-", table).await);

    let save = |store: &mut Store, prefix: &str| {
        for (word, _) in requests(kind) {
            let id = format!("{prefix}{}", word.to_lowercase());
            match kind {
                Kind::Run => save_run(store, &id, &json!({}), None),
                Kind::Pair => {
                    let mut value = with(&pair(&id), &json!({"owner": ""}));
                    sides(&mut value, &id);
                    save_pair_value(store, value);
                }
            }
        }
    };
    served(
        still(),
        |store, _| save(store, "changed-"),
        async |served| {
            let dir = if kind == Kind::Run { served.home.runs() } else { served.home.pairs() };
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let text = fs::read_to_string(&path).unwrap();
                    fs::write(&path, format!("{text} ")).unwrap();
                }
            }
            ask_all(served, kind, "changed meanwhile", "changed-", table).await;
        },
    );
    served(
        still(),
        |store, _| save(store, "gone-"),
        async |served| {
            // No record can be written there any more.
            let dir = if kind == Kind::Run { served.home.runs() } else { served.home.pairs() };
            fs::rename(&dir, served.home.root().join("elsewhere")).unwrap();
            fs::write(&dir, "in the way").unwrap();
            ask_all(served, kind, "nothing is saved", "gone-", table).await;
        },
    );
}

fn post(sides: &str, more: &str) -> String {
    format!("{{{sides}{more}}}")
}

#[test]
fn a_run_is_made_with_defaults_and_an_empty_prompt_stays_empty() {
    const SIDES: &str = r#""implementer": {"agent": "claude", "session_id": "c-1", "worktree": "/elsewhere"}, "reviewer": {"agent": "codex", "session_id": "x-1"}"#;
    served(
        still(),
        |_, _| {},
        async |served| {
            let more = r#", "max_rounds": 3, "feedback_prompt": "", "config": {"first_phase": "next", "name": "shop"}"#;
            let made = served.ask("POST", "/api/v1/checklist", &post(SIDES, more)).await;
            assert_eq!(made.status, 201, "{made:?}");
            let record = made.json();
            let id = record["id"].as_str().unwrap();
            assert!(made.head.contains(&format!("location: /api/v1/checklist/{id}")), "{}", made.head);
            let config = &record["config"];
            assert_eq!((config["max_rounds"].as_u64(), config["feedback_prompt"].as_str()), (Some(3), Some("")));
            assert_eq!(
                (config["review_stop_signal"].as_str(), config["max_phases"].as_u64()),
                (Some("LGTM"), Some(100))
            );
            assert_eq!((record["name"].as_str(), record["state"].as_str()), (Some("shop"), Some("running")));
            assert!(record["note"].as_str().is_some_and(|note| !note.is_empty()));
            // Answered means saved.
            let file = served.home.record(&RecordKey::Run(id.into())).unwrap();
            let saved: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            assert_eq!((&saved["id"], &saved["revision"]), (&record["id"], &record["revision"]));
            assert_eq!(served.ask("GET", "/api/v1/checklist", "").await.json()["checklists"][0]["id"], record["id"]);
            let of_side = served.ask("GET", "/api/v1/checklist/by-session/claude:c-1", "").await.json();
            assert_eq!(of_side["checklists"][0]["id"], record["id"]);

            // Its sides are taken now, and what cannot be is said with its field.
            let again = served.ask("POST", "/api/v1/checklist", &post(SIDES, "")).await.fault(400);
            assert!(again["message"].as_str().unwrap().contains(id), "{again}");
            let same = SIDES.replace("codex", "claude").replace("x-1", "c-1");
            served.ask("POST", "/api/v1/checklist", &post(&same, "")).await.fault(400);
            for (more, field) in [
                (r#", "max_rounds": "many""#, "max_rounds"),
                (r#", "max_round": 3"#, "max_round"),
                (r#", "config": {"max_rounds": 3}, "max_rounds": 4"#, "max_rounds"),
                (r#", "near_miss": "maybe""#, "near_miss"),
            ] {
                let fault = served.ask("POST", "/api/v1/checklist", &post(SIDES, more)).await.fault(400);
                assert_eq!(fault["field"], field, "{fault}");
            }
            let missing = served
                .ask("POST", "/api/v1/checklist", r#"{"implementer": {"agent": "claude", "session_id": "c-1"}}"#)
                .await;
            assert_eq!(missing.fault(400)["field"], "reviewer");
        },
    );
}

#[test]
fn a_pair_begins_by_itself_as_it_should_where_nobody_says_how() {
    const SIDES: &str = r#""implementer": {"agent": "claude", "session_id": "c-1"}, "reviewer": {"agent": "codex", "session_id": "x-1"}"#;
    served(
        still(),
        |_, _| {},
        async |served| {
            let made = served.ask("POST", "/api/v1/pair", &post(SIDES, r#", "stop_signal": "SHIP IT""#)).await;
            assert_eq!(made.status, 201, "{made:?}");
            let pair = made.json();
            assert!(["use_current", "wait_for_next"].contains(&pair["kickoff"].as_str().unwrap()), "{pair}");
            assert_eq!((pair["owner"].as_str(), pair["config"]["stop_signal"].as_str()), (Some(""), Some("SHIP IT")));
            let id = pair["id"].as_str().unwrap();
            assert_eq!(served.ask("POST", &format!("/api/v1/pair/{id}/stop"), "").await.json()["state"], "stopped");
            let next = post(SIDES, r#", "kickoff": "wait_for_next""#);
            assert_eq!(served.ask("POST", "/api/v1/pair", &next).await.json()["kickoff"], "wait_for_next");
            served.ask("POST", "/api/v1/pair", &post(SIDES, r#", "kickoff": "now""#)).await.fault(400);
        },
    );
}

#[test]
fn an_order_meant_for_another_revision_is_refused_over_the_socket_too() {
    served(
        still(),
        |store, _| store.save_run(&run("r1")).unwrap(),
        async |served| {
            let seen = served.ask("GET", "/api/v1/checklist/r1", "").await.json()["view"]["revision"].as_u64().unwrap();
            let order = json!({"name": "first", "expect": seen}).to_string();
            let first = served.ask("POST", "/api/v1/checklist/r1/rename", &order).await;
            assert_eq!((first.status, first.json()["name"].as_str()), (200, Some("first")));
            let late = json!({"name": "second", "expect": seen}).to_string();
            served.ask("POST", "/api/v1/checklist/r1/rename", &late).await.fault(409);
            let change = json!({"max_rounds": 4, "expect": seen}).to_string();
            served.ask("PATCH", "/api/v1/checklist/r1", &change).await.fault(409);
            // Who stops it stops it, wherever it is by now.
            let stop = json!({"expect": seen}).to_string();
            assert_eq!(served.ask("POST", "/api/v1/checklist/r1/stop", &stop).await.status, 200);
            served.ask("DELETE", &format!("/api/v1/checklist/r1?expect={seen}"), "").await.fault(409);
            assert_eq!(served.ask("DELETE", "/api/v1/checklist/r1", "").await.status, 200);
            served.ask("GET", "/api/v1/checklist/r1", "").await.fault(404);
            served.ask("DELETE", "/api/v1/checklist/r1", "").await.fault(404);
            assert!(!served.home.runs().join("r1.json").exists());
        },
    );
}

#[test]
fn sessions_are_listed_named_put_away_and_read_page_by_page() {
    let talk = |_: &mut Store, talks: &mut Talks| {
        let key = session(Agent::Claude, "c-1").key();
        for n in 0..40 {
            talks.prompt(&key, &format!("question {n}"), at(100 + 2 * n));
            talks.answer(&key, &format!("answer {n}"), at(101 + 2 * n));
        }
    };
    served(still(), talk, async |served| {
        let all = served.ask("GET", "/api/v1/sessions", "").await.json();
        let ids: Vec<&str> =
            all["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert!(ids.contains(&"claude:c-1") && ids.contains(&"codex:x-1"), "{ids:?}");
        assert_eq!(served.ask("GET", "/api/v1/sessions/c-1", "").await.json()["id"], "claude:c-1");
        let named = served.ask("POST", "/api/v1/sessions/claude:c-1/rename", r#"{"name": "builder"}"#).await;
        assert_eq!((named.status, named.json()["title"].as_str()), (200, Some("builder")));
        assert_eq!(served.ask("POST", "/api/v1/sessions/c-1/put-away", "").await.json()["put_away"], true);
        assert_eq!(served.ask("POST", "/api/v1/sessions/c-1/take-back", "").await.json()["put_away"], false);
        let free = served.ask("POST", "/api/v1/sessions/c-1/send", r#"{"text": "hello"}"#).await.fault(409);
        assert!(free["message"].as_str().unwrap().contains("is in no run"), "{free}");
        served.ask("POST", "/api/v1/sessions/c-1/send", "{}").await.fault(400);
        served.ask("POST", "/api/v1/sessions", r#"{"agent": "claude"}"#).await.fault(400);
        served.ask("POST", "/api/v1/sessions/c-1/reach", r#"{"transport": "by_hand"}"#).await.fault(400);

        let newest = served.ask("GET", "/api/v1/sessions/c-1/transcript?limit=3", "").await.json();
        let total = newest["total"].as_u64().unwrap();
        assert_eq!((newest["after"].as_u64(), newest["more"].as_bool()), (Some(total - 3), Some(false)));
        let (mut after, mut words) = (0, Vec::new());
        loop {
            let page =
                served.ask("GET", &format!("/api/v1/sessions/c-1/transcript?after={after}&limit=7"), "").await.json();
            for entry in page["entries"].as_array().unwrap() {
                after += 1;
                assert_eq!(entry["n"].as_u64(), Some(after));
                words.extend(entry["text"].as_str().map(str::to_owned));
            }
            assert_eq!(page["next"].as_u64(), Some(after));
            if page["more"] == false {
                break;
            }
        }
        assert_eq!(after, total);
        assert!(words.ends_with(&["question 39".to_owned(), "answer 39".to_owned()]), "{words:?}");
        let past = served.ask("GET", "/api/v1/sessions/c-1/transcript?after=99999999999999999999", "").await;
        past.fault(400);
        let behind =
            served.ask("GET", &format!("/api/v1/sessions/c-1/transcript?after={}", total + 5), "").await.json();
        assert_eq!((behind["entries"].as_array().map(Vec::len), behind["next"].as_u64()), (Some(0), Some(total)));
    });
}

#[test]
fn a_message_to_a_session_goes_through_the_run_it_is_a_side_of() {
    served(
        still(),
        |store, _| store.save_run(&run("r1")).unwrap(),
        async |served| {
            let got = served
                .ask("POST", "/api/v1/sessions/codex:x-1/send", r#"{"text": "Look at the cart.", "go_on": true}"#)
                .await;
            assert_eq!(got.status, 200, "{got:?}");
            let entry = served.ask("GET", "/api/v1/checklist/r1", "").await.json()["outbox"][0].clone();
            assert_eq!((entry["purpose"].as_str(), entry["target"].as_str()), (Some("user"), Some("reviewer")));
            assert_eq!(entry["text"]["first_line"], "Look at the cart.");
        },
    );
}

#[test]
fn the_order_of_a_viewer_is_answered_as_the_driver_answers() {
    served(
        still(),
        |store, _| store.save_run(&run("r1")).unwrap(),
        async |served| {
            let order = r#"{"control": {"target": {"run": "r1"}, "expect": null, "control": {"rename": {"name": "by a viewer"}}}}"#;
            let got = served.ask("POST", "/api/v1/order", order).await;
            assert_eq!((got.status, &got.json()["done"]["record"]["run"]), (200, &json!("r1")));
            let refused = order.replace("\"r1\"", "\"r2\"");
            assert_eq!(served.ask("POST", "/api/v1/order", &refused).await.json()["refused"]["kind"], "unknown");
            served.ask("POST", "/api/v1/order", r#"{"control": {}}"#).await.fault(400);
            served.ask("POST", "/api/v1/order", r#"{"quit": null}"#).await.fault(400);
        },
    );
}
