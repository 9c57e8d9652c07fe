//! The frames below `tests/fixtures/panes` were captured from Claude Code 2.1.332 and Codex CLI 0.171.0.

use super::*;

macro_rules! frame {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/panes/", $name, ".ansi"))
    };
}

const HALF: &str = "only after the tests";
const THREE: &str = "first line\nsecond 日本語 line\nthird";

fn thirty_one() -> String {
    (1..=31).map(|line| format!("line {line} of the paste\n")).collect::<Vec<_>>().concat()
}

fn sixty_words() -> String {
    (1..=60).map(|word| format!("word{word} ")).collect::<Vec<_>>().concat()
}

#[test]
fn an_empty_box_is_empty_also_when_the_agent_hints_or_works() {
    for frame in [frame!("claude_empty"), frame!("claude_fresh"), frame!("claude_busy")] {
        assert_eq!(find(Agent::Claude, frame), Box::Empty);
    }
    for frame in [frame!("codex_empty"), frame!("codex_fresh"), frame!("codex_busy"), frame!("codex_done")] {
        assert_eq!(find(Agent::Codex, frame), Box::Empty);
    }
}

#[test]
fn d9_half_a_sentence_is_other_wherever_the_cursor_stands() {
    for frame in [frame!("claude_typed"), frame!("claude_typed_home")] {
        assert_eq!(find(Agent::Claude, frame), Box::Text(HALF.to_owned()));
        assert_eq!(read(Agent::Claude, frame, Some("something else"), false), InputBox::Other);
        assert_eq!(read(Agent::Claude, frame, None, false), InputBox::Other);
    }
    for frame in [frame!("codex_typed"), frame!("codex_typed_home")] {
        assert_eq!(find(Agent::Codex, frame), Box::Text(HALF.to_owned()));
        assert_eq!(read(Agent::Codex, frame, None, false), InputBox::Other);
    }
}

#[test]
fn our_own_text_is_ours_wrapped_or_with_wide_letters() {
    assert_eq!(read(Agent::Claude, frame!("claude_three"), Some(THREE), false), InputBox::Ours);
    assert_eq!(read(Agent::Codex, frame!("codex_three"), Some(THREE), false), InputBox::Ours);
    assert_eq!(read(Agent::Claude, frame!("claude_wrap"), Some(&sixty_words()), false), InputBox::Ours);
    assert_eq!(read(Agent::Codex, frame!("codex_wrap"), Some(&sixty_words()), false), InputBox::Ours);
    assert_eq!(read(Agent::Claude, frame!("claude_three"), Some("first line\nsecond"), false), InputBox::Other);
}

#[test]
fn a_folded_paste_is_ours_only_with_our_number_of_lines_and_nothing_beside_it() {
    assert_eq!(read(Agent::Claude, frame!("claude_30"), Some(&thirty_one()), false), InputBox::Ours);
    assert_eq!(read(Agent::Codex, frame!("codex_30"), Some(&thirty_one()), false), InputBox::Ours);
    assert_eq!(read(Agent::Claude, frame!("claude_30"), Some("a\nb"), false), InputBox::Other);
}

#[test]
fn of_a_text_longer_than_the_box_only_the_end_is_seen() {
    let frame = frame!("claude_scrolled");
    let text = format!("Feedback:\n\n{}", "word ".repeat(600));
    assert!(matches!(find(Agent::Claude, frame), Box::End(_)));
    assert_eq!(read(Agent::Claude, frame, Some(&text), true), InputBox::Ours);
    assert_eq!(read(Agent::Claude, frame, Some(&text), false), InputBox::Unknown, "nobody saw what stands above");
    assert_eq!(read(Agent::Claude, frame, Some("something else"), true), InputBox::Other);
}

#[test]
fn a_question_has_no_box() {
    assert_eq!(find(Agent::Claude, frame!("claude_question")), Box::Unknown);
    assert_eq!(read(Agent::Claude, frame!("claude_question"), Some("x"), false), InputBox::Unknown);
}

#[test]
fn a_screen_that_nobody_knows_is_unknown() {
    for frame in ["", "\n\n", "$ ls\nCargo.toml\n$ ", "┌────┐\n│ > │\n└────┘"] {
        assert_eq!(find(Agent::Claude, frame), Box::Unknown, "{frame}");
        assert_eq!(find(Agent::Codex, frame), Box::Unknown, "{frame}");
    }
}

#[test]
fn i13_a_status_display_of_six_lines_and_a_clock_change_nothing() {
    for clock in ["12:00:01", "12:00:02"] {
        let hud = format!("\n  \u{1b}[32mctx 41% ▓▓░░ {clock}\u{1b}[39m").repeat(6);
        let below = frame!("claude_typed").trim_end().to_owned() + &hud + "\n──────────────────────";
        assert_eq!(find(Agent::Claude, &below), Box::Text(HALF.to_owned()));
    }
}

#[test]
fn an_answer_that_draws_an_empty_box_does_not_hide_the_real_one() {
    let rule = "─".repeat(60);
    let fake = format!("{rule}\n❯\u{a0}\n{rule}\n{}", frame!("claude_typed"));
    assert_eq!(find(Agent::Claude, &fake), Box::Text(HALF.to_owned()));
    let fake = format!("\u{1b}[1m›\u{1b}[0m \u{1b}[2mAsk Codex\u{1b}[0m\n\n  foot\n{}", frame!("codex_typed"));
    assert_eq!(find(Agent::Codex, &fake), Box::Text(HALF.to_owned()));
}

#[test]
fn in_a_low_pane_the_part_of_the_box_that_is_seen_is_read() {
    // As Claude draws in a pane of 11 rows: the lower border lies below it.
    let rule = "─".repeat(80);
    let low = |top: &str, rows: &str| format!("● READY\n\n✻ Cooked for 0s\n{top}\n{rows}\n");
    let hidden = format!("─── ↑ 1 more {}", "─".repeat(67));
    let four = "a\nb\nc\nd";
    assert_eq!(read(Agent::Claude, &low(&hidden, "  b\n  c\n  d"), Some(four), true), InputBox::Ours);
    assert_eq!(read(Agent::Claude, &low(&hidden, "  b\n  c\n  d"), Some(four), false), InputBox::Unknown);
    assert_eq!(read(Agent::Claude, &low(&hidden, "  b\n  c\n  mine"), Some(four), true), InputBox::Other);
    assert_eq!(
        read(Agent::Claude, &low(&hidden, "  \n  \n  \u{1b}[7m \u{1b}[27m"), Some("a\n\n\n"), true),
        InputBox::Ours
    );
    let cut = |text: &str| low(&rule, &format!("❯\u{a0}{text}"));
    assert_eq!(find(Agent::Claude, &cut("a\n  b\n  c")), Box::Cut(String::from("a\nb\nc")));
    assert_eq!(read(Agent::Claude, &cut("a\n  b\n  c"), Some("a\nb\nc"), true), InputBox::Ours);
    assert_eq!(read(Agent::Claude, &cut("a\n  b\n  c"), Some("a\nb\nc"), false), InputBox::Unknown);
    assert_eq!(read(Agent::Claude, &cut("a\n  b"), Some("a\nb\nc"), true), InputBox::Unknown);
    assert_eq!(read(Agent::Claude, &cut("mine"), Some("a\nb\nc"), true), InputBox::Other);
    assert_eq!(
        read(Agent::Claude, &cut("\u{1b}[7m \u{1b}[27m"), None, false),
        InputBox::Unknown,
        "more may stand below"
    );
    // A rule above other things, such as a dialog, is no box.
    assert_eq!(find(Agent::Claude, &low(&rule, " Do you want to proceed?\n ❯ 1. Yes")), Box::Unknown);
    assert_eq!(find(Agent::Claude, &low(&hidden, "no row of a box")), Box::Unknown);
}

#[test]
fn a_pane_that_is_too_low_is_named_as_the_reason() {
    for input in [InputBox::Unknown, InputBox::Empty] {
        let Tick::Missing(why) = tick(Agent::Claude, input, 9) else { panic!("it holds") };
        assert!(why.contains("only 9 rows") && why.contains("make it 12"), "{why}");
    }
    for (agent, rows) in [(Agent::Claude, 10), (Agent::Codex, 7)] {
        let Tick::Missing(why) = tick(agent, InputBox::Unknown, rows) else { panic!("it holds") };
        assert!(why.ends_with("cannot be read"), "{why}");
        assert_eq!(tick(agent, InputBox::Empty, rows), Tick::Holds);
    }
}

#[test]
fn nobody_is_told_to_press_enter_on_a_command() {
    let rule = "─".repeat(60);
    for text in ["/clear", "!rm -rf x"] {
        let frame = format!("{rule}\n❯\u{a0}{text}\n{rule}\n  foot");
        let input = read(Agent::Claude, &frame, Some("\u{3164}and more"), true);
        assert_eq!(input, InputBox::Command);
        let Tick::Missing(why) = tick(Agent::Claude, input, 40) else { panic!("it holds") };
        assert!(!why.contains("press Enter"), "{why}");
    }
}

#[test]
fn attributes_go_on_from_row_to_row() {
    let rows = screen::rows("\u{1b}[2mfaint\nstill\u{1b}[0m no\u{1b}[38;5;7m more\u{1b}[1;2mx");
    assert!(rows[0].iter().all(|cell| cell.dim));
    assert!(rows[1][..5].iter().all(|cell| cell.dim));
    assert!(rows[1][6..12].iter().all(|cell| !cell.dim && !cell.reverse), "a colour's number is no attribute");
    assert!(rows[1].last().unwrap().bold && rows[1].last().unwrap().dim);
}
