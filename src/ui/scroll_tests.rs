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
    Arc::new(Thread { record: Some(RecordKey::Run(RunId::from("r"))), entries, ..Thread::default() })
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
fn each_jump_back_goes_to_the_entry_before_whatever_stands_above_an_entry() {
    for wide in [false, true] {
        let mut scroll = Scroll::default();
        scroll.set(Some(&thread(&["one", "two", "three", "four"])));
        let _ = scroll.rows(20, 2, wide, false, &times());
        let mut seen = Vec::new();
        while seen.len() < 5 && scroll.jump(false, |_| true, &times()) {
            let rows = scroll.rows(20, 2, wide, false, &times());
            seen.push(rows[1].1.words().trim().to_owned());
        }
        assert_eq!(seen, ["three", "two", "one"], "the last one was in view; wide: {wide}");
        assert!(scroll.jump(true, |_| true, &times()));
    }
}

#[test]
fn search_goes_around_and_says_when_there_is_nothing() {
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["alpha", "beta", "alpha again", "gamma"])));
    let _ = view(&mut scroll, 2);
    let find = |scroll: &mut Scroll| {
        scroll.seek(false);
        scroll.search_on(&times());
        scroll.search.stands_at_one()
    };
    scroll.look_for("Alpha");
    for wanted in ["alpha again", "alpha", "alpha again"] {
        assert!(find(&mut scroll));
        assert_eq!(view(&mut scroll, 1), [wanted]);
    }
    scroll.look_for("nowhere");
    assert!(!find(&mut scroll));
}

#[test]
fn every_match_of_a_long_message_is_gone_to() {
    let lines: Vec<String> =
        (0..5_000).map(|n| if n % 1_000 == 7 { format!("needle {n}") } else { format!("line {n}") }).collect();
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["before", &lines.join("\n\n")])));
    let _ = view(&mut scroll, 3);
    scroll.look_for("needle");
    for n in [4_007, 3_007, 2_007, 1_007, 7, 4_007] {
        scroll.seek(false);
        scroll.search_on(&times());
        assert_eq!(view(&mut scroll, 1), [format!("needle {n}")]);
    }
}

/// What is done, by name.
type Act<'a> = (&'a str, &'a dyn Fn(&mut Scroll));

#[test]
fn what_is_drawn_costs_what_is_seen_however_long_the_conversation_is() {
    let short = |n: usize| format!("message {n} with some words in it");
    let cost = |count: usize, act: &dyn Fn(&mut Scroll)| {
        let texts: Vec<String> = (0..count).map(short).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut scroll = Scroll::default();
        scroll.set(Some(&thread(&texts)));
        let _ = view(&mut scroll, 20);
        let before = scroll.laid_out();
        act(&mut scroll);
        let _ = view(&mut scroll, 20);
        scroll.laid_out() - before
    };
    let acts: [Act<'_>; 6] = [
        ("page up", &|scroll| scroll.page(-1, &times())),
        ("home", &Scroll::to_start),
        ("end", &|scroll| {
            scroll.to_start();
            scroll.follow();
        }),
        ("jump", &|scroll| {
            scroll.jump(
                false,
                |entry| matches!(&entry.kind, ThreadKind::Said { item, .. } if item.offset == 0),
                &times(),
            );
        }),
        ("search", &|scroll| {
            scroll.look_for("message 3 ");
            scroll.seek(false);
            while scroll.search.is_busy() {
                scroll.search_on(&times());
            }
        }),
        ("another width", &|scroll| {
            let _ = scroll.rows(60, 20, false, false, &times());
        }),
    ];
    for (name, act) in acts {
        let (few, many) = (cost(200, act), cost(20_000, act));
        assert!(many <= few + 600, "{name}: {few} bytes of 200 messages, {many} of 20,000");
        assert!(many < 4_000, "{name}: {many}");
    }
}

#[test]
fn one_huge_message_is_laid_out_in_part() {
    let text = "a line of a very long message\n".repeat(170_000);
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&[&text])));
    let _ = view(&mut scroll, 40);
    assert!(text.len() > 5_000_000 && scroll.laid_out() < 100_000, "{}", scroll.laid_out());
}

#[test]
fn the_view_stays_at_its_message_when_something_comes_in_before_it() {
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["one", "two", "three", "four"])));
    let _ = view(&mut scroll, 2);
    scroll.move_by(-2, &times());
    let before = view(&mut scroll, 2);
    let mut longer = (*thread(&["one", "two", "three", "four"])).clone();
    let kind = ThreadKind::Phase { n: 1, summary: "new".to_owned() };
    longer.entries.rewrite(|entries| entries.insert(0, ThreadEntry { at: None, kind }));
    scroll.set(Some(&Arc::new(longer)));
    assert_eq!(view(&mut scroll, 2), before);
}

#[test]
fn code_slides_no_further_than_it_is_long() {
    let mut scroll = Scroll::default();
    scroll.set(Some(&thread(&["```\n0123456789012345678901234567890123456789\n```"])));
    let _ = view(&mut scroll, 5);
    for _ in 0..20 {
        scroll.slide(true);
        let _ = view(&mut scroll, 5);
    }
    assert_eq!(scroll.sideways, 24, "four columns of lead, forty of code, twenty of room");
    for _ in 0..20 {
        scroll.slide(false);
    }
    assert_eq!(scroll.sideways, 0);
}

/// The end of a conversation, and the whole.
fn in_part() -> (Arc<Thread>, Arc<Thread>) {
    let mut end = (*thread(&["", "five", "six", "seven"])).clone();
    let words = "there is more".to_owned();
    let kind = ThreadKind::Ended { role: Role::Implementer, label: "claude".to_owned(), words };
    end.entries.rewrite(|entries| entries[0] = ThreadEntry { at: None, kind });
    end.begins_inside = true;
    (Arc::new(end), thread(&["one", "two", "three", "four", "alpha", "five", "six", "seven"]))
}

#[test]
fn the_beginning_is_wanted_by_who_goes_there_and_the_view_stays_where_it_is() {
    let (end, whole) = in_part();
    let mut scroll = Scroll::default();
    scroll.set(Some(&end));
    let _ = view(&mut scroll, 2);
    assert!(!scroll.wants_beginning(), "at the end nobody asks");
    while !scroll.wants_beginning() {
        assert!(!view(&mut scroll, 2).contains(&"there is more".to_owned()));
        scroll.move_by(-1, &times());
    }
    scroll.set(Some(&whole));
    assert!(!scroll.wants_beginning());
    assert_eq!(view(&mut scroll, 3)[..2], ["claude reviews", "five"].map(str::to_owned));
    assert_eq!(scroll.unread(), 0, "what stood before is no news");
}

#[test]
fn home_goes_to_the_beginning_as_soon_as_it_is_there() {
    let (end, whole) = in_part();
    let mut scroll = Scroll::default();
    scroll.set(Some(&end));
    let _ = view(&mut scroll, 2);
    scroll.to_start();
    assert!(scroll.wants_beginning());
    let _ = view(&mut scroll, 2);
    scroll.set(Some(&whole));
    assert_eq!(view(&mut scroll, 2), ["claude builds", "one"]);
}

#[test]
fn words_and_parts_that_are_not_found_are_looked_for_in_what_stands_before() {
    let (end, whole) = in_part();
    let mut scroll = Scroll::default();
    scroll.set(Some(&end));
    let _ = view(&mut scroll, 2);
    assert!(!scroll.jump(false, |entry| matches!(entry.kind, ThreadKind::Phase { .. }), &times()));
    assert!(scroll.wants_beginning());
    scroll.follow();
    assert!(!scroll.wants_beginning());
    scroll.look_for("alpha");
    scroll.seek(false);
    scroll.search_on(&times());
    assert!(!scroll.search.stands_at_one() && !scroll.search.is_busy() && scroll.wants_beginning());
    scroll.set(Some(&whole));
    scroll.search_on(&times());
    assert!(scroll.search.stands_at_one());
    assert_eq!(view(&mut scroll, 1), ["alpha"]);
}
