//! How a conversation is cut into blocks.

use super::*;
use crate::model::ids::MessageId;
use crate::ui::times::Times;

fn said(role: Role, kind: ItemKind) -> ThreadEntry {
    ThreadEntry {
        at: None,
        kind: ThreadKind::Said { role, label: "claude".to_owned(), item: Item { offset: 0, at: None, kind } },
    }
}

fn words_of(text: &str) -> ItemKind {
    ItemKind::Text { message_id: MessageId::from("m"), text: text.into() }
}

fn tool(summary: &str, lines: Option<(u32, u32)>) -> ItemKind {
    ItemKind::Tool {
        call_id: String::new(),
        name: "Edit".to_owned(),
        summary: summary.to_owned(),
        lines,
        ok: Some(true),
    }
}

fn shown(thread: &Thread, detail: Detail) -> Vec<String> {
    let times = Times::new("2026-03-14T14:21:12Z".parse().unwrap(), jiff::tz::TimeZone::UTC);
    let all = (0..thread.entries.len()).flat_map(|at| blocks_of(thread, at, detail));
    all.flat_map(|block| block.rows(40, false, &times)).map(|row| row.words()).collect()
}

fn turn() -> Thread {
    Thread {
        entries: vec![
            said(Role::Implementer, words_of("first I look")),
            said(Role::Implementer, tool("a.rs", Some((2, 1)))),
            said(Role::Implementer, ItemKind::Thinking { text: "hm".into() }),
            said(Role::Implementer, tool("a.rs", Some((3, 0)))),
            said(Role::Implementer, words_of("done")),
        ]
        .into(),
        ..Thread::default()
    }
}

#[test]
fn the_answer_stands_and_the_tools_fold() {
    assert_eq!(shown(&turn(), Detail::Answers), ["       claude builds", "  done", "  + 2 tools · 1 file +5 −1"]);
}

#[test]
fn detail_unfolds_them() {
    let all = shown(&turn(), Detail::Thinking);
    assert_eq!(
        all,
        [
            "       claude builds",
            "  first I look",
            "  · edit  a.rs  +2 −1",
            "  ~ hm",
            "  · edit  a.rs  +3 −0",
            "  done"
        ]
    );
    assert_eq!(shown(&turn(), Detail::Tools).len(), 5);
}

#[test]
fn a_long_text_is_several_blocks_and_loses_nothing() {
    let lines: Vec<String> = (0..40_000).map(|n| format!("line {n}\n")).collect();
    let text = lines.concat();
    let shared: Arc<str> = text.as_str().into();
    let parts = words(&shared, false, &[]);
    assert!(parts.len() > 5);
    let blocks = parts.into_iter().map(|kind| Block { side: None, kind });
    let whole: String = blocks.map(|block| block.source().unwrap().to_owned()).collect();
    assert_eq!(whole, text);
}

#[test]
fn a_fence_goes_on_in_the_next_block() {
    let text: Arc<str> = format!("````diff\n{}\n```\n+still in it\n````\nout", "+code\n".repeat(20_000)).into();
    let parts = words(&text, false, &[]);
    let times = Times::new("2026-03-14T14:21:12Z".parse().unwrap(), jiff::tz::TimeZone::UTC);
    assert!(parts.len() > 2);
    for kind in parts {
        let BlockKind::Words { piece, .. } = &kind else { panic!("{kind:?}") };
        assert_eq!(piece.fence, (piece.range.0 > 0).then_some((0, 8)));
        let rows = Block { side: None, kind }.rows(40, false, &times);
        assert!(rows.iter().filter(|row| row.slides).all(|row| row.words().contains("code")
            || row.words().contains("still")
            || row.words().contains("```")
            || row.words().trim() == "│"));
        assert!(rows.iter().filter(|row| row.words().contains("+code")).all(|row| row.body[0].tone() == Tone::Added));
    }
}

/// The time over an answer is the answer's, as banner and copies have it; with its tools unfolded, that of the first.
#[test]
fn the_heading_has_the_time_of_what_is_read_below_it() {
    let mut thread = turn();
    for at in 0..thread.entries.len() {
        thread.entries[at].at = format!("2026-03-14T14:{}:00Z", 10 + at).parse().ok();
    }
    assert!(shown(&thread, Detail::Answers)[0].starts_with("14:14"), "{:?}", shown(&thread, Detail::Answers));
    assert!(shown(&thread, Detail::Tools)[0].starts_with("14:10"));
}

/// Who has nothing to show yet has no heading.
#[test]
fn a_heading_never_stands_over_nothing() {
    let thread = Thread {
        entries: vec![
            said(Role::Reviewer, ItemKind::Thinking { text: "hm".into() }),
            said(Role::Reviewer, words_of(" \n")),
        ]
        .into(),
        ..Thread::default()
    };
    assert_eq!(shown(&thread, Detail::Answers).iter().filter(|row| row.contains("reviews")).count(), 0);
    assert!(shown(&thread, Detail::Thinking).iter().any(|row| row.contains("reviews")));
}
