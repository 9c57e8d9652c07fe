//! Sizes, lengths and bytes that a screen must survive: cases U1, U3, U5 and U7.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::{Terminal, TerminalOptions, Viewport};
use trellis::model::command::{Refusal, Reply};
use trellis::ui::app::{Msg, Then};
use trellis::ui::draw;
use trellis::ui::dump;
use trellis::ui::terminal::cells::Cells;
use trellis::ui::theme::{GLYPHS, Symbols, Theme};

use super::frames::{views, ways};
use super::{Rig, scenes};

#[test]
fn u1_no_size_panics() {
    for view in views() {
        let mut rig = view.open((80, 24));
        for (width, height) in
            (1..=60).step_by(11).flat_map(|width| (1..=20).step_by(5).map(move |height| (width, height)))
        {
            rig.send(Msg::Resize(width, height));
            rig.draw();
        }
    }
}

#[test]
fn u1_too_small_is_said_in_one_line() {
    for view in views() {
        let text = view.scene((10, 3)).text();
        assert_eq!(text.lines().filter(|line| !line.trim().is_empty()).count(), 1, "{text}");
        assert!(text.contains("too"), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The scene of one view, and the way of another one.
    #[test]
    fn u1_any_screen_in_any_scene_survives_any_size(
        scene in 0..views().len() + 1,
        way in 0..views().len(),
        sizes in proptest::collection::vec((1u16..=250, 1u16..=80), 1..6),
        more in proptest::collection::vec(0usize..12, 0..8),
    ) {
        let keys = ["j", "k", "PgDn", "PgUp", "G", "g", "Tab", "v", "<", ">", "[", "}"];
        let mut rig = views().get(scene).map_or_else(|| Rig::new(scenes::hostile(), sizes[0]), |view| view.scene(sizes[0]));
        views()[way].lead(&mut rig);
        for (width, height) in sizes {
            rig.send(Msg::Resize(width, height));
            let text = dump::plain(&rig.draw());
            prop_assert!(text.lines().count() <= usize::from(height));
            for line in text.lines() {
                prop_assert!(trellis::ui::width::width(line) <= usize::from(width), "{line}");
            }
            for key in &more {
                rig.press(keys[*key]);
            }
        }
    }
}

#[test]
fn u3_ninety_thousand_lines_scroll_to_the_true_end() {
    let lines: Vec<String> = (0..90_000).map(|n| format!("line {n} of a long answer\n\n")).collect();
    let long = lines.concat();
    let mut rig = Rig::new(scenes::long_talk(&[long, "short".to_owned()]), (38, 20));
    rig.press("Enter g");
    assert!(!rig.text().contains("short"));
    rig.press("PgDn PgDn G");
    let text = rig.text();
    assert!(text.contains("short") && text.contains("line 89999"), "{text}");
    rig.press("PgUp PgUp");
    assert!(rig.text().contains("line 899"), "{}", rig.text());
}

#[test]
fn u3_one_endless_line_scrolls_to_its_end() {
    let mut rig = Rig::new(scenes::long_talk(&[format!("{}THE-END", "x".repeat(200_000))]), (38, 20));
    rig.press("Enter G");
    let text = rig.text().replace(['\n', ' '], "");
    assert!(text.contains("THE-END"), "{text}");
}

#[test]
fn u3_thousands_of_messages_end_in_one_frame() {
    let texts: Vec<String> = (0..5_000).map(|n| format!("message {n}")).collect();
    let mut rig = Rig::new(scenes::long_talk(&texts), (120, 40));
    rig.press("Enter");
    assert!(rig.text().contains("message 4999"));
    rig.press("g");
    assert!(rig.text().contains("message 0"));
}

#[test]
fn u5_our_own_glyphs_have_ascii_counterparts() {
    let mut all = vec![scenes::all_standings(), scenes::one(scenes::no_agreement()), scenes::one(scenes::look_first())];
    all.push(scenes::one(scenes::run("checkout")));
    all.extend(scenes::banners().into_iter().map(|(_, run)| scenes::one(run)));
    for scene in all {
        for keys in ["", "Enter", "Enter Enter", "Enter ?", "n", "2", "3", ":", "/", "? /"] {
            let mut rig = Rig::new(scene.clone(), (120, 60));
            rig.press(keys);
            let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 120, 60));
            let _ = draw::frame(&mut rig.app, &Theme::standard(true), Symbols::AsciiOnly, &mut buffer);
            let text = dump::plain(&buffer);
            assert!(text.is_ascii(), "{text}");
            let unicode = rig.text();
            for c in unicode.chars().filter(|c| !c.is_ascii()) {
                assert!(GLYPHS.iter().any(|(glyph, _)| glyph.starts_with(c)), "{c} has no counterpart");
            }
        }
    }
}

/// A scene full of hostile words, at the end of each way.
fn hostile_views(size: (u16, u16)) -> impl Iterator<Item = Rig> {
    ways().into_iter().map(move |view| {
        let mut rig = Rig::new(scenes::hostile(), size);
        view.lead(&mut rig);
        rig
    })
}

#[test]
fn u7_hostile_text_reaches_no_cell() {
    for size in [(38, 20), (120, 40), (180, 50)] {
        for mut rig in hostile_views(size) {
            assert_harmless(&rig.draw());
            rig.press("v v");
            assert_harmless(&rig.draw());
        }
    }
}

/// A text that is cut is cleaned before: wherever the cut is, nothing of a sequence stays as words.
#[test]
fn u7_no_cut_leaves_a_part_of_a_sequence() {
    for keys in ["", "2", "2 y", "3", "Enter", "Enter Tab", "Enter Tab Tab", "Enter Tab Tab Tab", "n Enter", ":"] {
        for width in (20..=140).step_by(7) {
            let mut rig = Rig::new(scenes::hostile(), (width, 30));
            rig.press(keys);
            let text = rig.text();
            for part in ["52;c", "]0;t", "]8;;", "[2J", "[31m", "[0m", "[6n", "[?1003", "5n"] {
                assert!(!text.contains(part), "{part} after {keys} in {width} columns:\n{text}");
            }
        }
    }
}

fn assert_harmless(buffer: &Buffer) {
    for cell in buffer.content() {
        assert!(!cell.symbol().chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", cell.symbol());
    }
}

/// What the engine, an editor or a file says is drawn as harmlessly as what an agent wrote.
#[test]
fn u7_hostile_errors_and_replies_reach_no_cell() {
    let told: [fn() -> Msg; 3] = [
        || Msg::Trouble(scenes::HOSTILE.to_owned()),
        || Msg::Replied(Then::Say, Some(Reply::Refused(Refusal::not_now(scenes::HOSTILE)))),
        || Msg::Replied(Then::Say, Some(Reply::Done { record: None, note: scenes::HOSTILE.to_owned() })),
    ];
    for msg in told {
        for keys in ["", "Enter", "2", "n", ":", "Enter w Enter"] {
            let mut rig = Rig::new(scenes::hostile(), (60, 24));
            rig.press(keys);
            rig.send(msg());
            let buffer = rig.draw();
            assert!(dump::plain(&buffer).contains("link"), "{keys}: the words stay\n{}", dump::plain(&buffer));
            assert_harmless(&buffer);
        }
    }
    for then in [Then::Form, Then::Editor, Then::Look] {
        for keys in ["n Enter", "Enter w Enter H Ctrl-s"] {
            let mut rig = Rig::new(scenes::hostile(), (60, 24));
            rig.press(keys);
            rig.send(Msg::Replied(then, Some(Reply::Refused(Refusal::invalid("name", scenes::HOSTILE)))));
            assert_harmless(&rig.draw());
        }
    }
}

/// The bytes are those of the program's own way to the terminal.
#[test]
fn u7_hostile_text_writes_no_sequence_to_the_terminal() {
    for mut rig in hostile_views((120, 40)) {
        let buffer = rig.draw();
        let mut bytes = Vec::new();
        {
            let options = TerminalOptions { viewport: Viewport::Fixed(buffer.area) };
            let mut terminal = Terminal::with_options(Cells::new(&mut bytes), options).unwrap();
            terminal.draw(|frame| frame.buffer_mut().content.clone_from_slice(buffer.content())).unwrap();
        }
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.len() > 500);
        assert!(!text.contains("\u{1b}]"), "an OSC sequence");
        assert!(!text.contains("\u{1b}P") && !text.contains('\u{7}'));
        assert!(!text.chars().any(|c| ('\u{80}'..='\u{9f}').contains(&c)), "a C1 byte");
        for sequence in text.split('\u{1b}').skip(1) {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            let letter = sequence.as_bytes()[end];
            assert!(sequence.starts_with('['), "{sequence:?}");
            assert!(matches!(letter, b'm' | b'H' | b'l' | b'h' | b'J'), "{sequence:?}");
            if matches!(letter, b'h' | b'l') {
                assert!(sequence.starts_with("[?25"), "{sequence:?}");
            }
        }
    }
}

#[test]
fn u7_the_words_of_a_hostile_text_stay_readable() {
    let mut rig = Rig::new(scenes::hostile(), (120, 40));
    rig.press("Enter");
    assert!(rig.text().contains("link"), "{}", rig.text());
}

#[test]
fn the_mono_theme_says_everything_without_color() {
    let mut rig = Rig::new(scenes::all_standings(), (120, 40));
    let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 120, 40));
    let _ = draw::frame(&mut rig.app, &Theme::standard(true), Symbols::Unicode, &mut buffer);
    for cell in buffer.content() {
        assert_eq!((cell.fg, cell.bg), (ratatui::style::Color::Reset, ratatui::style::Color::Reset));
    }
    let text = dump::plain(&buffer);
    for glyph in ["!", "●", "◷", "‖", "✓", "■"] {
        assert!(text.contains(glyph), "{glyph}");
    }
}

#[test]
fn a_frame_wakes_only_when_something_visible_changes() {
    let mut rig = Rig::new(scenes::empty(), (80, 24));
    let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 24));
    let drawn = draw::frame(&mut rig.app, &Theme::standard(false), Symbols::Unicode, &mut buffer);
    assert_eq!(drawn.wake_at, None, "nothing on it counts time");
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (80, 24));
    rig.pass(60_000);
    rig.draw();
    let drawn = draw::frame(&mut rig.app, &Theme::standard(false), Symbols::Unicode, &mut buffer);
    let until = drawn.wake_at.unwrap().duration_since(rig.now);
    assert!(until.as_secs() > 30, "{until:?}: minutes change by the minute");
}

#[test]
fn a_picture_is_whole_xml_without_control_characters() {
    let mut rig = Rig::new(scenes::hostile(), (120, 40));
    let svg = dump::svg(&rig.draw(), "a <title>");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("a &lt;title&gt;"));
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'));
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
}

#[test]
fn a_countdown_is_said_once() {
    for (left, said, never) in [(5_400, "ends in 5s", "a moment"), (400, "ends in a moment", "(in")] {
        let mut run = scenes::run("checkout");
        run.wait.what = String::new();
        run.wait.ends = "ends in a moment".to_owned();
        // The first frame is drawn a second after the scene's time.
        run.wait.deadline = Some(scenes::now() + jiff::SignedDuration::from_millis(1_000 + left));
        let mut rig = Rig::new(scenes::one(run), (120, 40));
        let shown = rig.text();
        assert!(shown.contains(said) && !shown.contains(never), "{left} ms:\n{shown}");
    }
}
