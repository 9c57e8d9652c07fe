//! What nobody should send: each gets a documented answer or a closed line, and the driver goes on.

use super::{Served, parse, served, still};
use crate::store::making::run;
use trellis::driver::ports::Records as _;

async fn still_there(served: &Served) {
    assert_eq!(served.ask("GET", "/api/v1/health", "").await.status, 200);
}

#[test]
fn bodies_that_are_too_long_too_deep_or_of_another_kind_are_refused() {
    let lay_out =
        |store: &mut trellis::store::Store, _: &mut crate::driver::world::Talks| store.save_run(&run("r1")).unwrap();
    served(still(), lay_out, async |served| {
        let path = "/api/v1/checklist/r1/rename";
        let huge = format!("{{\"name\": \"{}\"}}", "x".repeat(2 << 20));
        served.ask("POST", path, &huge).await.fault(413);
        // The same without a word about its length.
        let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, "x".repeat(1 << 16)).repeat(20);
        let chunked = format!(
            "POST {path} HTTP/1.1\r\nhost: t\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{chunk}0\r\n\r\n"
        );
        parse(&served.raw(chunked.as_bytes()).await).fault(413);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        served.ask("POST", path, &deep).await.fault(400);
        let nested = format!("{{\"name\": {}{}}}", "{\"a\":".repeat(5_000), "1".to_owned() + &"}".repeat(5_000));
        served.ask("POST", path, &nested).await.fault(400);
        for wrong in [
            "",
            "{",
            "[]",
            "null",
            "7",
            "\"name\"",
            "{\"name\": 7}",
            "{\"name\": null}",
            "{\"nome\": \"x\"}",
            "{\"name\":\"a\",\"expect\":-1}",
            "{\"name\":\"a\",\"expect\":\"1\"}",
            "{\"name\":\"a\"} {}",
        ] {
            let fault = served.ask("POST", path, wrong).await.fault(400);
            assert_eq!(fault["error"], "bad_request", "{wrong}");
        }
        let bytes = [b"{\"name\": \"".as_slice(), &[0xff, 0xfe, 0x80], b"\"}"].concat();
        served.ask_with("POST", path, "", &bytes).await.fault(400);
        let form = "content-type: application/x-www-form-urlencoded\r\n";
        served.ask_with("POST", path, form, b"name=x").await.fault(415);
        // One that names no kind is read as what everything here is.
        assert_eq!(served.ask_with("POST", path, "", b"{\"name\": \"named\"}").await.status, 200);
        still_there(served).await;
    });
}

#[test]
fn ids_that_are_paths_or_nothing_at_all_are_unknown() {
    let lay_out =
        |store: &mut trellis::store::Store, _: &mut crate::driver::world::Talks| store.save_run(&run("r1")).unwrap();
    served(still(), lay_out, async |served| {
        std::fs::write(served.home.root().join("secret.json"), "{\"schema\": 1}").unwrap();
        let long = "x".repeat(10_000);
        for id in [
            "..%2fsecret",
            "%2e%2e%2fsecret",
            "r2",
            "R1",
            "r1%00",
            "%2fetc%2fpasswd",
            "%1b%5b31m",
            "%ef%bb%bfr1",
            "*",
            &long,
        ] {
            for (method, tail) in [("GET", ""), ("POST", "/pause"), ("DELETE", ""), ("POST", "/nothing")] {
                for kind in ["checklist", "pair"] {
                    served.ask(method, &format!("/api/v1/{kind}/{id}{tail}"), "").await.fault(404);
                }
            }
            served.ask("GET", &format!("/api/v1/sessions/{id}"), "").await.fault(404);
            served.ask("GET", &format!("/api/v1/sessions/{id}/transcript"), "").await.fault(404);
            served.ask("POST", &format!("/api/v1/sessions/{id}/put-away"), "").await.fault(404);
            let none = served.ask("GET", &format!("/api/v1/checklist/by-session/{id}"), "").await;
            assert_eq!((none.status, none.json()["checklists"].as_array().map(Vec::len)), (200, Some(0)));
        }
        for id in ["%", "%f", "%zz", "%ff%fe", "%c3%28"] {
            served.ask("GET", &format!("/api/v1/checklist/{id}"), "").await.fault(400);
        }
        for path in [
            "/",
            "/api",
            "/api/v1",
            "/api/v1/",
            "/api/v1/checklist/",
            "/api/v1//checklist",
            "/api/v2/health",
            "/api/v1/../v1/health",
            "/api/v1/checklist/r1/pause/now",
        ] {
            served.ask("GET", path, "").await.fault(404);
        }
        let got = served.ask("PUT", "/api/v1/checklist/r1", "{}").await;
        got.fault(405);
        assert!(got.head.to_lowercase().contains("allow: get, patch, delete"), "{}", got.head);
        served.ask("GET", "/api/v1/checklist/r1/pause", "").await.fault(405);
        served.ask("GET", "/api/v1/checklist?include_stopped=maybe", "").await.fault(400);
        served.ask("GET", "/api/v1/checklist?nothing=1", "").await.fault(400);
        served.ask("GET", "/api/v1/events?since=soon", "").await.fault(400);
        served.ask_with("GET", "/api/v1/events", "last-event-id: x\r\n", b"").await.fault(400);
        served.ask("GET", "/api/v1/checklist/ws", "").await.fault(426);
        still_there(served).await;
    });
}

#[test]
fn garbage_on_the_line_ends_that_line_alone() {
    served(
        still(),
        |_, _| {},
        async |served| {
            let binary: Vec<u8> = (0..=255).cycle().take(100_000).collect();
            let head = format!("GET /api/v1/health HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(200_000));
            let many = format!("GET /api/v1/health HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(5_000));
            let smuggled = "POST /api/v1/order HTTP/1.1\r\nhost: t\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /api/v1/health HTTP/1.1\r\n\r\n";
            for garbage in [
                &binary[..],
                head.as_bytes(),
                many.as_bytes(),
                smuggled.as_bytes(),
                b"\r\n\r\n\r\n",
                b"GET",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                b"\x16\x03\x01\x02\x00",
            ] {
                let _ = served.raw(garbage).await;
                still_there(served).await;
            }
            // Two in a row, then garbage: both are answered in order.
            let asks = "GET /api/v1/health HTTP/1.1\r\nhost: t\r\n\r\n".repeat(2) + "\u{0}garbage\r\n\r\n";
            let text = String::from_utf8_lossy(&served.raw(asks.as_bytes()).await).into_owned();
            assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
            // A body that is promised and never comes ends with the line.
            let _ = served.raw(b"POST /api/v1/order HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n{").await;
            still_there(served).await;
        },
    );
}

#[test]
fn what_others_wrote_comes_back_without_a_sign_that_acts_on_a_terminal() {
    let mut named = run("r1");
    "\u{1b}]0;gone\u{7}\u{202e}name\u{9b}31m".clone_into(&mut named.name);
    let lay_out =
        move |store: &mut trellis::store::Store, _: &mut crate::driver::world::Talks| store.save_run(&named).unwrap();
    served(still(), lay_out, async |served| {
        for path in ["checklist", "checklist/r1", "projection"] {
            let got = served.ask("GET", &format!("/api/v1/{path}"), "").await;
            assert!(!got.text.chars().any(trellis::model::harmless::is_unwanted), "{path}");
        }
        let name = served.ask("GET", "/api/v1/checklist/r1", "").await.json()["name"].as_str().unwrap().to_owned();
        assert_eq!(name, "\u{1b}]0;gone\u{7}\u{202e}name\u{9b}31m", "and means the same");
        let told = served.ask("GET", "/api/v1/checklist/%1b%5b31m%e2%80%ae", "").await;
        told.fault(404);
        assert!(!told.text.contains('\u{1b}') && !told.text.contains('\u{202e}'), "{told:?}");
    });
}

#[test]
fn one_connection_too_many_is_told_so_and_the_others_go_on() {
    served(
        still(),
        |_, _| {},
        async |served| {
            let mut open = Vec::new();
            for _ in 0..256 {
                open.push(tokio::net::UnixStream::connect(served.home.socket()).await.unwrap());
            }
            let mut told = Vec::new();
            // The last of them may still wait to be taken in.
            while told.is_empty() {
                told = served.raw(b"").await;
            }
            parse(&told).fault(503);
            drop(open);
            while served.ask("GET", "/api/v1/health", "").await.status != 200 {
                tokio::task::yield_now().await;
            }
        },
    );
}

/// Names and settings stand in the record itself, which is to stay small: a message has a file of its own.
#[test]
fn texts_that_a_record_cannot_hold_are_refused_at_their_field() {
    use trellis::store::trim::RECORD_LIMIT;
    let lay_out =
        |store: &mut trellis::store::Store, _: &mut crate::driver::world::Talks| store.save_run(&run("r1")).unwrap();
    served(still(), lay_out, async |served| {
        let path = "/api/v1/checklist/r1";
        let (long, fits) = ("x".repeat(16_385), "\u{1b}".repeat(2_730));
        for field in ["review_prompt", "feedback_prompt", "clarify_prompt", "continue_prompt", "advance_prompt"] {
            let patch = |text: &str| serde_json::json!({field: text}).to_string();
            for text in [&long, &"\u{0}".repeat(2_731)] {
                assert_eq!(served.ask("PATCH", path, &patch(text)).await.fault(400)["field"], field);
            }
            assert_eq!(served.ask("PATCH", path, &patch(&fits)).await.status, 200, "{field}");
        }
        for (body, field) in [
            (serde_json::json!({"review_stop_signal": "x".repeat(201)}), "review_stop_signal"),
            (serde_json::json!({"completion_signal": "x".repeat(201)}), "completion_signal"),
            (serde_json::json!({"name": "x".repeat(201)}), "name"),
            (serde_json::json!({"max_rounds": 3, "by": "x".repeat(201)}), "by"),
        ] {
            assert_eq!(served.ask("PATCH", path, &body.to_string()).await.fault(400)["field"], field);
        }
        let name = serde_json::json!({"name": "ü".repeat(201)}).to_string();
        assert_eq!(served.ask("POST", &format!("{path}/rename"), &name).await.fault(400)["field"], "name");
        let name = serde_json::json!({"name": "ü".repeat(200)}).to_string();
        assert_eq!(served.ask("POST", &format!("{path}/rename"), &name).await.status, 200);
        let file = served.home.root().join("checklist-runs/r1.json");
        let length = std::fs::metadata(file).unwrap().len();
        assert!(length < RECORD_LIMIT as u64, "{length}");
    });
}

/// What an agent is to run with becomes a word behind an option of its program.
#[test]
fn a_way_to_a_session_takes_no_option_for_a_model_or_a_mode() {
    use crate::driver::world::{noon, session};
    use trellis::model::conversation::Conversation;
    use trellis::model::ids::Agent;
    let lay_out = |_: &mut trellis::store::Store, talks: &mut crate::driver::world::Talks| {
        let side = session(Agent::Claude, "c-1");
        talks.conversations.insert(side.key(), Conversation::new(side.agent));
        talks.prompt(&side.key(), "hello", noon());
    };
    served(still(), lay_out, async |served| {
        let path = "/api/v1/sessions/claude:c-1/reach";
        for (field, word) in [
            ("model", "--dangerously-skip-permissions"),
            ("model", "opus --print"),
            ("permission_mode", "--dangerously-skip-permissions"),
            ("permission_mode", "everything"),
        ] {
            let body = serde_json::json!({"transport": "headless", field: word}).to_string();
            assert_eq!(served.ask("POST", path, &body).await.fault(400)["field"], field, "{word}");
        }
    });
}
