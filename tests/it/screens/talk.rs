//! The conversation: how Markdown reads, what stands under an answer, comparing, copying, searching, following.

use std::sync::Arc;

use trellis::model::ids::Role;
use trellis::model::outbox::EntryState;
use trellis::model::session::SessionState;
use trellis::projection::{OpenPoint, Projection, Repeated, ThreadEntry, ThreadKind};
use trellis::ui::app::{Effect, Msg, Over, Screen};

use super::frames::{View, keep};
use super::scenes::talks::{said, sent, tool, words};
use super::{Rig, scenes};

/// One of everything that agents write.
const RICH: &str = "# What was done\n\nThe **total** is rounded *once*, after tax; see `round()` in [the rules](docs/prices.md \"Price rules\").\n\n## Points\n\n1. no idempotency key, so a retry charges the customer twice\n   - the header is read and thrown away\n     1. in `src/checkout.rs:88`\n   - [x] a test for it\n   - [ ] a line in the manual\n2. ~~the log~~ holds no card number\n\n> The importer wants the columns in this order.\n>\n> > And no others.\n\n```rust\nlet total = round(sum(&cart, 2) * (1.0 + tax)); // once, and after tax only, as the rules say it\n```\n\n```diff\n@@ -86,3 +86,2 @@ fn total()\n-    let t = round(sum);\n-    charge(round(t * tax));\n+    charge(round(sum * tax));\n```\n\n| rule | before | after | 合計 |\n|:-----|-------:|:-----:|------|\n| discount | 12.50 | 12.5 | 一度だけ丸めます |\n| tax | 1900 | 19 | `rounded` after the discount, never before |\n\n### Left\n\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-Totals are rounded.\n+Totals are rounded once.\n\n* * *\n\n<details>\n<summary>Numbers</summary>\n</details>\n\nA note[^1] and <https://x.example/prices>.\n\n[^1]: Of the person who wrote the rules.\n";

fn with_talk(entries: Vec<ThreadEntry>) -> Projection {
    let mut projection = scenes::one(scenes::run("checkout"));
    let mut thread = projection.shown.as_deref().cloned().unwrap();
    thread.entries = entries.into();
    projection.shown = Some(Arc::new(thread));
    projection
}

/// The conversations that are kept as frames.
pub fn views() -> Vec<View> {
    let rich = || with_talk(vec![said("14:05:00", Role::Reviewer, words(RICH))]);
    vec![
        View::new("talk_markdown", rich, "Enter").sizes(&[(38, 80), (60, 70), (80, 70), (120, 70), (180, 60)]),
        View::new("talk_markdown_sideways", rich, "Enter > > >").sizes(&[(38, 80)]),
        View::new("talk_reviews", reviews, "Enter").sizes(&[(38, 30), (60, 30), (80, 30), (120, 40), (180, 50)]),
        View::new("talk_compare", reviews, "Enter c"),
    ]
}

/// Keeps one of them.
fn keep_one(at: usize) {
    keep(vec![views().swap_remove(at)]);
}

#[test]
fn markdown_as_people_read_it() {
    keep_one(0);
    keep_one(1);
}

/// Two reviews, the second of which names a point again.
pub fn reviews() -> Projection {
    let mut projection = with_talk(vec![
        said("14:02:00", Role::Implementer, words("The endpoint is in place, with tests for empty carts.")),
        sent(1, Role::Reviewer, "14:02:10"),
        said(
            "14:05:00",
            Role::Reviewer,
            words("Two remarks:\n1. there is no idempotency key\n2. the total rounds twice"),
        ),
        sent(2, Role::Implementer, "14:05:31"),
        said("14:09:00", Role::Implementer, words("Both are fixed, with a test for each of them.")),
        sent(3, Role::Reviewer, "14:09:02"),
        said(
            "14:14:00",
            Role::Reviewer,
            words("The key is good now.\n1. the total still rounds twice\n2. the log holds a card number"),
        ),
    ]);
    let run = &mut projection.runs[0];
    run.reviews = [(2, 0, 212), (2, 1, 40)]
        .into_iter()
        .zip(1..)
        .map(|((points, repeated, lines), n)| trellis::projection::ReviewView {
            n,
            points,
            repeated,
            lines: Some(lines),
            files: Some(2),
            by_git: n > 1,
        })
        .collect();
    run.open_points = vec![OpenPoint { words: "the total still rounds twice".to_owned(), since: 1 }];
    let mut thread = projection.shown.as_deref().cloned().unwrap();
    let ThreadKind::Said { item, .. } = &mut thread.entries[6].kind else { panic!() };
    item.kind = trellis::model::conversation::ItemKind::Text {
        message_id: "second".into(),
        text: "The key is good now.\n1. the total still rounds twice\n2. the log holds a card number".into(),
    };
    thread.repeated = vec![Repeated { message_id: "second".into(), lines: vec![1] }];
    projection.shown = Some(Arc::new(thread));
    projection
}

#[test]
fn a_point_that_was_named_before_is_marked_where_it_stands() {
    let mut rig = Rig::new(reviews(), (38, 20));
    let text = {
        rig.press("Enter");
        rig.text()
    };
    assert!(text.contains("= 1. the total still rounds twice"), "{text}");
    assert!(text.contains("  1. there is no idempotency key") || !text.contains("idempotency"), "{text}");
    keep_one(2);
}

#[test]
fn two_answers_of_a_side_are_compared() {
    let mut rig = Rig::new(reviews(), (38, 20));
    rig.press("Enter c");
    let text = rig.text();
    assert!(text.contains("codex, relay 2 → 14:14"), "{text}");
    assert!(text.contains("= 1 of 2 points said before"), "{text}");
    assert!(text.contains(" -  Two remarks:") && text.contains(" += 1. the total still rounds"), "{text}");
    rig.press("c");
    assert!(rig.text().contains("claude, relay 1 → 3"), "again: the other side\n{}", rig.text());
    rig.press("c {");
    assert!(rig.text().contains("codex has one answer only"), "no earlier pair\n{}", rig.text());
    assert!(rig.text().contains("codex, relay 2 → 14:14"), "and the comparison stays");
    let effects = rig.press("y");
    let [Effect::Copy { text, what }] = &effects[..] else { panic!("{effects:?}") };
    assert!(text.contains("- Two remarks:\n") && what == "the comparison of codex's answers", "{what}: {text}");
    assert_eq!(rig.press("x x"), [], "nothing is ordered from here");
    rig.press("Esc");
    assert!(rig.app.over.is_empty());
    keep_one(3);
}

#[test]
fn a_comparison_scrolls_and_is_opened_from_a_banner() {
    let long: String = (0..60).map(|n| format!("{n}. point number {n} of many\n")).collect();
    let mut projection = reviews();
    projection.runs[0].banner = scenes::no_agreement().banner;
    let mut thread = projection.shown.as_deref().cloned().unwrap();
    thread.entries.push(said("14:19:00", Role::Implementer, words("Fixed.")));
    thread.entries.push(said("14:20:00", Role::Reviewer, words(&long)));
    projection.shown = Some(Arc::new(thread));
    let mut rig = Rig::new(projection, (38, 20));
    rig.press("Enter");
    assert!(rig.text().lines().last().unwrap().contains("c compare"), "{}", rig.text());
    rig.press("c");
    assert!(rig.text().contains("codex: 14:14 → 14:20"), "{}", rig.text());
    let first = rig.text();
    rig.press("PgDn");
    assert_ne!(rig.text(), first);
    rig.press("G");
    assert!(rig.text().contains("point number 59"), "{}", rig.text());
    rig.press("g");
    assert_eq!(rig.text(), first);
    rig.press("{");
    assert!(rig.text().contains("codex, relay 2 → 14:14"));
    rig.press("}");
    assert!(rig.text().contains("codex: 14:14 → 14:20"));
    rig.press("}");
    assert!(rig.text().contains("that is the newest"), "{}", rig.text());
}

/// What a side says while it works is no answer, and answers to two phases are called by them.
#[test]
fn what_is_compared_are_answers_and_of_two_phases_each_is_named() {
    let phase = |n: u32, clock: &str| ThreadEntry {
        at: said(clock, Role::Implementer, words("")).at,
        kind: ThreadKind::Phase { n, summary: "Cart".to_owned() },
    };
    let entries = || {
        vec![
            phase(1, "14:00:00"),
            said("14:01:00", Role::Implementer, words("one two")),
            sent(1, Role::Reviewer, "14:01:10"),
            said("14:02:00", Role::Reviewer, words("LGTM")),
            phase(2, "14:03:00"),
            said("14:04:00", Role::Implementer, words("one three")),
            sent(1, Role::Reviewer, "14:04:10"),
            said("14:05:00", Role::Reviewer, words("1. a point")),
            sent(2, Role::Implementer, "14:05:10"),
            said("14:06:00", Role::Implementer, words("The prices come next.")),
        ]
    };
    for (works, newest) in [(true, "one three"), (false, "The prices come next.")] {
        for size in [(38, 20), (120, 40)] {
            let mut projection = with_talk(entries());
            if works {
                projection.runs[0].implementer.state = SessionState::Working { activity: "edits".to_owned() };
            }
            let mut rig = Rig::new(projection, size);
            rig.press("Enter g G c");
            let Some(Over::Compare(compare)) = rig.app.over.last() else { panic!("{}", rig.text()) };
            let compare = if compare.role == Role::Implementer { compare } else { panic!("{}", rig.text()) };
            assert_eq!(&*compare.after.text, newest);
            let text = rig.text();
            assert_eq!(text.contains("phase 1") && text.contains("→ phase 2"), works, "{text}");
            assert!(text.contains("{ earlier"), "{text}");
        }
    }
}

/// Beside the list the findings can be copied as well, and what was copied where to is said.
#[test]
fn beside_the_list_the_messages_are_offered_below_the_line_of_the_run() {
    let mut rig = Rig::new(reviews(), (120, 40));
    assert_eq!(rig.press("y"), []);
    let text = rig.text();
    assert!(text.contains("the line of checkout") && text.contains("1  the total still rounds twice"), "{text}");
    assert!(text.contains("codex: The key is good now."), "{text}");
    let copied = rig.press("j j Enter");
    assert!(matches!(&copied[..], [Effect::Copy { text, .. }] if text == "the total still rounds twice"), "{copied:?}");
}

#[test]
fn with_one_answer_there_is_a_sentence_and_no_comparison() {
    let mut rig = Rig::new(with_talk(vec![said("14:02:00", Role::Implementer, words("one"))]), (38, 20));
    rig.press("Enter c");
    assert!(rig.app.over.is_empty());
    assert!(rig.text().contains("claude has one answer only"), "{}", rig.text());
}

#[test]
fn u19_message_finding_path_and_line_are_copied_by_a_key() {
    let copied = |rig: &mut Rig, keys: &str| match &rig.press(keys)[..] {
        [Effect::Copy { text, what }] => (text.clone(), what.clone()),
        other => panic!("{keys}: {other:?}"),
    };
    let mut rig = Rig::new(reviews(), (38, 20));
    assert!(!rig.app.mouse, "dragging selects, as it does without trellis");
    rig.press("Enter");
    let (whole, what) = copied(&mut rig, "y Enter");
    assert!(whole.starts_with("The key is good now.") && what.starts_with("codex's answer of 14:14"), "{what}");
    let (finding, what) = copied(&mut rig, "y j Enter");
    assert_eq!(finding, "the total still rounds twice");
    assert!(what.starts_with("point 1 of codex's answer of 14:14"), "{what}");
    // Older ones stand below, each by its time, its side and how it begins, a review with its points wherever the view is.
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (38, 20));
    assert_eq!(copied(&mut rig, "Enter y Enter").0, "Both fixed, a test for each.");
    rig.press("y");
    assert!(rig.text().contains("codex: Two remarks:"), "{}", rig.text());
    let (older, what) = copied(&mut rig, "j Enter");
    assert!(older.starts_with("Two remarks:") && what.starts_with("codex's answer of"), "{what}: {older}");
    let (point, what) = copied(&mut rig, "y j j Enter");
    assert!(
        point.starts_with("no **idempotency** key") && what.starts_with("point 1 of codex's answer of"),
        "{what}: {point}"
    );
    // Where there is one only, it is copied at once.
    let mut alone = Rig::new(with_talk(vec![said("14:02:00", Role::Implementer, words("one"))]), (38, 20));
    assert_eq!(copied(&mut alone, "Enter y").0, "one");
    let (path, _) = copied(&mut rig, "2 y j Enter");
    assert!(path.starts_with("/home/dev/.claude/projects/shop/"), "{path}");
    assert!(copied(&mut rig, "3 y").0.contains("relay 2 goes to claude"));
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (38, 20));
    assert!(copied(&mut rig, "Enter Enter y").0.starts_with("Feedback:"));
}

#[test]
fn the_end_is_followed_until_it_is_left_and_what_comes_meanwhile_is_counted() {
    let with = |more: usize| {
        let mut projection = with_talk(Vec::new());
        let mut thread = projection.shown.as_deref().cloned().unwrap();
        for n in 0..40 + more {
            let role = if n % 2 == 0 { Role::Implementer } else { Role::Reviewer };
            thread.entries.push(said("14:02:00", role, words(&format!("message {n}"))));
            thread.entries.push(said("14:02:00", role, tool("Read", "a.rs", None, Some(true))));
        }
        projection.shown = Some(Arc::new(thread));
        projection
    };
    for size in [(38, 20), (120, 40)] {
        let mut rig = Rig::new(with(0), size);
        rig.press("Enter");
        assert!(rig.text().contains("message 39"));
        rig.send(Msg::Changed(Arc::new(with(1))));
        assert!(rig.text().contains("message 40"), "it follows");
        rig.press("PgUp PgUp");
        let before = rig.text();
        assert!(before.contains("G newest"), "{before}");
        rig.send(Msg::Changed(Arc::new(with(4))));
        let text = rig.text();
        assert!(text.contains("3 new · G newest"), "tools are no messages\n{text}");
        assert!(!text.contains("message 43"));
        rig.press("G");
        assert!(rig.text().contains("message 43") && !rig.text().contains("G newest"), "{}", rig.text());
    }
}

#[test]
fn a_search_says_where_it_stands() {
    let entries = (0..30).map(|n| {
        let role = if n % 2 == 0 { Role::Implementer } else { Role::Reviewer };
        said("14:02:00", role, words(&format!("{} number {n}", if n % 10 == 3 { "needle" } else { "hay" })))
    });
    for size in [(38, 20), (120, 40)] {
        let mut rig = Rig::new(with_talk(entries.clone().collect()), size);
        rig.press("Enter / N e e d l e Enter");
        rig.pass(10);
        let text = rig.text();
        assert!(text.contains("3/3") && text.contains("needle number 23"), "{text}");
        rig.press("N N");
        assert!(rig.text().contains("1/3"), "{}", rig.text());
        rig.press("N");
        assert!(rig.text().contains("3/3"), "around the end");
        rig.press("/ Ctrl-u n o w h e r e Enter");
        rig.pass(10);
        assert!(rig.text().contains("nowhere is not in it"), "{}", rig.text());
        rig.press("/ Esc");
        assert!(!rig.text().contains("found"), "{}", rig.text());
        // Esc ends the search before it goes out.
        rig.press("/ N e e d l e Enter Esc");
        assert!(!rig.text().contains("/3") && matches!(rig.app.screen(), Screen::Run(_)), "{}", rig.text());
        rig.press("Esc");
        assert!(matches!(rig.app.screen(), Screen::Runs));
    }
}

#[test]
fn an_edited_relay_shows_its_text_as_a_change_and_no_other_relay_shows_one() {
    let mut edited = sent(2, Role::Implementer, "14:05:31");
    if let ThreadKind::Relay { edited, original, text, .. } = &mut edited.kind {
        *edited = true;
        *original = Some("Feedback:\n\n1. no key\n2. rounds twice".into());
        *text = "Feedback:\n\n1. no key\n2. rounds twice, but leave that".into();
    }
    let talk = with_talk(vec![
        said("14:05:00", Role::Reviewer, words("1. no key\n2. rounds twice")),
        sent(1, Role::Implementer, "14:05:20"),
        edited,
    ]);
    let mut rig = Rig::new(talk, (60, 24));
    rig.press("Enter");
    let text = rig.text();
    assert!(text.contains("2. rounds twice+, but leave that+"), "{text}");
    assert!(text.contains("edited by you"), "{text}");
    assert_eq!(text.matches("Feedback:").count(), 1, "the prompt of the other one is folded\n{text}");
}

#[test]
fn a_relay_is_one_line_with_both_of_its_times_and_its_state() {
    let mut waiting = sent(2, Role::Implementer, "14:05:31");
    if let ThreadKind::Relay { seen_at, state, .. } = &mut waiting.kind {
        (*seen_at, *state) = (None, EntryState::Sent);
    }
    let talk = with_talk(vec![
        said("14:02:00", Role::Implementer, words("done")),
        sent(1, Role::Reviewer, "14:02:10"),
        waiting,
        ThreadEntry {
            at: None,
            kind: ThreadKind::Human { role: Role::Implementer, label: "claude".to_owned(), text: "and now?".into() },
        },
    ]);
    let mut rig = Rig::new(talk.clone(), (120, 40));
    rig.press("Enter");
    let text = rig.text();
    assert!(text.contains("↳ relay 1 to codex · sent 14:02:10 · seen 14:02:10"), "{text}");
    assert!(text.contains("↳ relay 2 to claude · sent 14:05:31 · not seen yet"), "{text}");
    assert!(text.contains("you to claude"), "{text}");
    let mut rig = Rig::new(talk, (38, 20));
    rig.press("Enter");
    assert!(rig.text().contains("↳ relay 1 to codex · seen 14:02"), "{}", rig.text());
}

#[test]
fn code_and_tables_go_sideways_and_say_where_they_are_cut() {
    let code = "```\nabcdefghijklmnopqrstuvwxyz0123456789abcdefghij\nshort\n```";
    let mut rig = Rig::new(with_talk(vec![said("14:02:00", Role::Implementer, words(code))]), (38, 20));
    rig.press("Enter");
    assert!(rig.text().contains("│ abcdefghijklmnopqrstuvwxyz01234…"), "{}", rig.text());
    rig.press("> >");
    let text = rig.text();
    assert!(text.contains("│ …") && text.contains("ghij\n"), "{text}");
    assert!(!text.contains("short"));
    rig.press("> > > >");
    assert_eq!(rig.text(), text, "no further than there is something to be seen");
    rig.press("< < < <");
    assert!(rig.text().contains("│ abcdef"));
}

#[test]
fn opening_outside_gives_the_whole_message() {
    let mut rig = Rig::new(reviews(), (38, 20));
    let effects = rig.press("Enter e");
    assert!(matches!(&effects[..], [Effect::Page(text)] if text.starts_with("The key is good now.")), "{effects:?}");
    rig.press("c");
    assert!(matches!(rig.app.over.last(), Some(Over::Compare(_))));
    assert!(matches!(&rig.press("e")[..], [Effect::Page(text)] if text.contains("- Two remarks:\n")));
}

#[test]
fn l9_points_lines_and_files_of_each_review_stand_in_one_table() {
    let mut rig = Rig::new(scenes::one(scenes::no_agreement()), (60, 30));
    rig.press("Enter");
    let text = rig.text();
    for row in ["review       1    2    3    4    5", "lines new  212   40   12    9    7", "files        3    3"] {
        assert!(text.contains(row), "{row} is missing\n{text}");
    }
    assert!(text.contains("by git"), "{text}");
    // Where one number is the tools', it says so.
    let mut run = scenes::no_agreement();
    run.reviews[0].by_git = false;
    let mut rig = Rig::new(scenes::one(run), (60, 30));
    rig.press("Enter");
    assert!(rig.text().contains("lines new ~212   40") && rig.text().contains("~ by tools"), "{}", rig.text());
    // Where rows are scarce the offers stay and the remarks go.
    let mut rig = Rig::new(scenes::one(scenes::no_agreement()), (38, 20));
    rig.press("Enter");
    assert!(rig.text().contains("lines new") && rig.text().contains("x stop"), "{}", rig.text());
}
