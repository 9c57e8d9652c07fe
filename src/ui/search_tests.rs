//! Looking for words.

use proptest::prelude::*;

use super::*;
use crate::model::conversation::{Item, ItemKind};
use crate::model::ids::{MessageId, Role};
use crate::projection::{ThreadEntry, ThreadKind};

fn thread(texts: &[String]) -> Thread {
    let entry = |(at, text): (usize, &String)| {
        let role = if at % 2 == 0 { Role::Implementer } else { Role::Reviewer };
        let kind = ItemKind::Text { message_id: MessageId::from("m"), text: text.as_str().into() };
        let kind = ThreadKind::Said { role, label: "claude".to_owned(), item: Item { offset: 0, at: None, kind } };
        ThreadEntry { at: None, kind }
    };
    Thread { entries: texts.iter().enumerate().map(entry).collect(), ..Thread::default() }
}

fn begun(words: &str, thread: &Thread) -> Search {
    let mut search = Search::default();
    search.look_for(words);
    search.begin_anew(thread.entries.len());
    search
}

fn through(search: &mut Search, thread: &Thread) -> Option<Match> {
    let mut found = None;
    while search.is_busy() {
        found = search.step(thread, Detail::Answers).or(found);
    }
    found
}

#[test]
fn the_nearest_match_comes_with_its_number() {
    let texts: Vec<String> = ["an Alpha and alpha", "beta", "ALPHA", "gamma"].map(str::to_owned).to_vec();
    let thread = thread(&texts);
    let mut search = begun("alpha", &thread);
    search.seek(false, Match { entry: 3, at: usize::MAX });
    assert_eq!(through(&mut search, &thread), Some(Match { entry: 2, at: 0 }));
    assert_eq!(search.counter().unwrap(), "3/3");
    for (forward, wanted) in [(false, (0, 13)), (false, (0, 3)), (false, (2, 0)), (true, (0, 3)), (true, (0, 13))] {
        search.seek(forward, Match::default());
        let found = through(&mut search, &thread).unwrap();
        assert_eq!((found.entry, found.at), wanted);
    }
    assert_eq!(search.counter().unwrap(), "2/3");
}

#[test]
fn what_is_not_there_ends_the_search() {
    let thread = thread(&["one".to_owned(), "two".to_owned()]);
    let mut search = begun("three", &thread);
    search.seek(true, Match::default());
    assert_eq!(through(&mut search, &thread), None);
    assert_eq!(search.counter().unwrap(), "0 found");
}

#[test]
fn a_long_conversation_is_looked_through_in_parts_and_the_near_match_comes_with_the_first() {
    let mut texts = vec!["filler words ".repeat(100_000); 30];
    texts.push("here it is, the needle".to_owned());
    let thread = thread(&texts);
    let mut search = begun("needle", &thread);
    search.seek(false, Match { entry: 30, at: usize::MAX });
    assert!(search.step(&thread, Detail::Answers).is_some(), "in the first part");
    assert!(search.is_busy(), "it is still counted");
    assert!(search.counter().unwrap().contains('+'));
    let parts = std::iter::from_fn(|| search.is_busy().then(|| search.step(&thread, Detail::Answers))).count();
    assert!(parts >= 2);
    assert_eq!(search.counter().unwrap(), "1/1");
}

#[test]
fn new_messages_are_counted_without_counting_the_old_ones_again() {
    let mut texts = vec!["needle".to_owned(); 5];
    let old = thread(&texts);
    let mut search = begun("needle", &old);
    through(&mut search, &old);
    texts.push("another needle".to_owned());
    let new = thread(&texts);
    search.goes_on(5, 6);
    assert_eq!(search.counter().unwrap(), "5+ found");
    through(&mut search, &new);
    assert_eq!(search.counter().unwrap(), "6 found");
}

proptest! {
    #[test]
    fn a_match_is_where_lower_case_says(text in "[a-cA-CäÄ語 .]{0,60}", words in "[a-cäÄ語 ]{1,4}") {
        let found = Needle::new(&words).find(&text, 0).map(|found| found.start);
        // None of these letters changes its length with its case.
        prop_assert_eq!(found, text.to_lowercase().find(&words.to_lowercase()));
    }
}
