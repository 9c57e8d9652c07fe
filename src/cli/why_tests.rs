//! Tests of `why`: the table at any width, and what it says of a ground and of a wait.

use super::*;
use crate::model::ids::{Agent, SessionKey};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn decision(when: &str, what: &str, evidence: &str, ground: Option<On>) -> Decision {
    Decision {
        at: at(when),
        record: Some("shop-p1".to_owned()),
        what: what.to_owned(),
        evidence: evidence.to_owned(),
        ground,
        decided: true,
    }
}

fn decisions() -> Vec<Decision> {
    let session = SessionKey { agent: Agent::Codex, session_id: "x-1".into() };
    let file = "/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T09-00-00-x-1.jsonl".to_owned();
    let record = On::Record { session, file, record: "m7".to_owned(), offset: 18_204 };
    vec![
        decision(
            "2026-11-29T23:59:58Z",
            "relays the answer to codex",
            "turn t1, message m7 at byte 18204",
            Some(record),
        ),
        decision("2026-11-30T09:00:01Z", "goes on: the limit is over", "timer of 2026-11-30T09:00:00Z", None),
        decision("2026-11-30T09:00:02Z", "goes on, as you said", "a key", Some(On::Key)),
    ]
}

fn page(wait: &Wait, columns: usize) -> String {
    let offers = [Offer {
        key: "p".to_owned(),
        word: "go on".to_owned(),
        what: "sends relay 3 to codex".to_owned(),
        pane_of: None,
    }];
    let told = Told {
        run: "shop",
        name: "shop",
        state: "going",
        sentence: "codex reviews",
        only_shown: false,
        driven: false,
        wait: Some(Waiting { wait, offers: &offers }),
        decisions: decisions(),
    };
    table(&told, columns, at("2026-11-30T09:05:00Z"), &TimeZone::UTC)
}

fn reviewing() -> Wait {
    Wait {
        who: "codex reviews".to_owned(),
        what: "reads \u{1b}[31msrc/checkout.rs".to_owned(),
        since: Some(at("2026-11-30T09:01:00Z")),
        ends: "ends when codex ends its turn".to_owned(),
        by: By::Transcript,
        ..Wait::default()
    }
}

#[test]
fn each_decision_names_its_file_and_byte_its_timer_or_its_key() {
    let page = page(&reviewing(), 220);
    let lines: Vec<&str> = page.lines().collect();
    let line =
        |words: &str| *lines.iter().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {page}"));
    let relay = line("relays the answer");
    assert!(relay.contains("message m7 at byte 18204 of /home/dev/.codex/sessions/2026/11/30/rollout-"), "{relay}");
    assert!(line("the limit is over").contains("timer of 2026-11-30T09:00:00Z"));
    assert!(line("as you said").ends_with("a key"));
    assert!(lines.contains(&"2026-11-29") && lines.contains(&"2026-11-30"), "a day is named once: {page}");
}

#[test]
fn a_wait_names_its_deadline_and_the_one_thing_that_ends_it() {
    let said = page(&reviewing(), 120);
    for words in [
        "now: codex reviews: reads src/checkout.rs",
        "since 09:01, 4m",
        "ends when codex ends its turn; a record in its transcript does it",
        "no deadline",
        "p go on: sends relay 3 to codex",
        "nobody drives this home",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let limit = Wait { deadline: Some(at("2026-11-30T12:00:00Z")), by: By::Timer, ..reviewing() };
    assert!(page(&limit, 120).contains("deadline 12:00: it goes on by itself"));
    let sent = Wait { asks_at: Some(at("2026-11-30T09:06:00Z")), ..reviewing() };
    assert!(page(&sent, 120).contains("deadline 09:06: without it you are asked"));
}

#[test]
fn no_line_is_wider_than_asked_and_no_word_is_lost() {
    let words = |page: &str| page.chars().filter(|sign| sign.is_alphanumeric()).collect::<Vec<char>>().len();
    for columns in 20..200 {
        let page = page(&reviewing(), columns);
        let widest = page.lines().map(crate::ui::width::width).max();
        assert!(widest <= Some(columns), "{columns}: {page}");
        assert!(!page.contains('\u{1b}'));
        assert!(words(&page) >= words(&self::page(&reviewing(), 199)), "{columns}");
    }
}
