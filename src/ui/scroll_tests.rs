//! Where the view stands.

use super::*;
use crate::model::conversation::{Item, ItemKind};
use crate::model::ids::{MessageId, RecordKey, RunId};
use crate::projection::{ThreadEntry, ThreadKind};

fn times() -> Times {
    Times::new("2026-03-14T14:21:12Z".parse().unwrap(), jiff::tz::TimeZone::UTC)
}

fn thread(texts: &[&str]) -> Arc<Thread> {
    let entries = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let role = if at % 2 == 0 { Role::Implementer } else { Role::Reviewer };
            let kind = ItemKind::Text { message_id: MessageId::from("m"), text: (*text).into() };
            let item = Item { offset: 0, at: None, kind };
            ThreadEntry { at: None, kind: ThreadKind::Said { role, label: "claude".to_owned(), item } }
        })
        .collect();
    Arc::new(Thread { record: Some(RecordKey::Run(RunId::from("r"))), session: None, entries })
}

fn view(scroll: &mut Scroll, height: usize) -> Vec<String> {
    scroll.rows(20, height, false, false, &times()).into_iter().map(|(_, row)| row.words().trim().to_owned()).collect()
}

#[test]
fn it_follows_the_end_until_scrolled_and_counts_what_is_new() {
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["one", "two", "three"])));
    assert_eq!(view(&mut scroll, 2), ["claude builds", "three"]);
    scroll.move_by(-1, &times());
    assert_eq!(view(&mut scroll, 2), ["two", "claude builds"]);
    scroll.set(Some(&thread(&["one", "two", "three", "four"])));
    assert_eq!(view(&mut scroll, 2), ["two", "claude builds"]);
    assert_eq!(scroll.unread(), 1);
    scroll.follow();
    assert_eq!(view(&mut scroll, 2), ["claude reviews", "four"]);
}

#[test]
fn coming_to_the_end_follows_again() {
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["one", "two", "three"])));
    let _ = view(&mut scroll, 3);
    scroll.page(-1, &times());
    assert!(!scroll.follows());
    scroll.page(1, &times());
    assert!(scroll.follows());
    scroll.to_start();
    assert_eq!(view(&mut scroll, 2), ["claude builds", "one"]);
}

#[test]
fn search_goes_around_and_says_when_there_is_nothing() {
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["alpha", "beta", "alpha again", "gamma"])));
    let _ = view(&mut scroll, 2);
    scroll.needle = "alpha".to_owned();
    assert!(scroll.find(false, &times()));
    assert_eq!(view(&mut scroll, 1), ["alpha again"]);
    assert!(scroll.find(false, &times()));
    assert_eq!(view(&mut scroll, 1), ["alpha"]);
    assert!(scroll.find(false, &times()));
    assert_eq!(view(&mut scroll, 1), ["alpha again"]);
    scroll.needle = "nowhere".to_owned();
    assert!(!scroll.find(true, &times()));
}
