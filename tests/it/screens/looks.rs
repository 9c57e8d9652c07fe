//! Looks and manners (`dashboard.md` §7): themes, glyphs, the mouse.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use trellis::projection::Projection;
use trellis::ui::app::{Effect, Msg, Over, Screen};
use trellis::ui::draw;
use trellis::ui::dump;
use trellis::ui::theme::{GLYPHS, Symbols, THEMES, Theme};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::frames::views;
use super::{Rig, scenes};

/// Scenes, each with the ways of keys into it.
fn worlds() -> Vec<(Projection, &'static [&'static str])> {
    let mut all = scenes::all_standings();
    all.sessions.truncate(8);
    let worlds = vec![
        all,
        scenes::one(scenes::run("checkout")),
        scenes::one(scenes::no_agreement()),
        scenes::one(scenes::look_first()),
        scenes::one(scenes::first_wait()),
        scenes::two_sessions(),
        scenes::empty(),
    ];
    let mut worlds: Vec<(Projection, &[&str])> = worlds.into_iter().map(|world| (world, &WAYS[..])).collect();
    worlds.extend(scenes::banners().into_iter().map(|(_, run)| (scenes::one(run), &["Enter"][..])));
    worlds
}

const WAYS: [&str; 11] = ["", "Enter", "Enter Tab", "Enter Tab Tab", "Enter Enter", "2", "3", "?", ":", "n", "o"];

fn frame(projection: Projection, size: (u16, u16), keys: &str, theme: &Theme, symbols: Symbols) -> Buffer {
    let mut rig = Rig::new(projection, size);
    rig.press(keys);
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let _ = draw::frame(&mut rig.app, theme, symbols, &mut buffer);
    buffer
}

#[test]
fn u13_the_default_theme_paints_no_background_and_no_letter() {
    for (world, ways) in worlds() {
        for keys in ways {
            let buffer = frame(world.clone(), (120, 40), keys, &Theme::standard(false), Symbols::Unicode);
            for cell in buffer.content() {
                assert_eq!(cell.bg, Color::Reset);
                let is_word = cell.symbol().chars().any(char::is_alphanumeric);
                assert!(!is_word || cell.fg == Color::Reset, "{} is {}", cell.symbol(), cell.fg);
            }
        }
    }
}

#[test]
fn a_theme_with_a_background_of_its_own_fills_the_whole_screen() {
    for name in ["high-contrast", "colour-blind"] {
        let theme = Theme::named(THEMES, name).unwrap();
        for keys in WAYS {
            let buffer = frame(scenes::all_standings(), (120, 40), keys, &theme, Symbols::Unicode);
            for cell in buffer.content() {
                assert!(cell.bg == Color::Indexed(16) && cell.fg != Color::Reset, "{name}, {keys}: {cell:?}");
            }
        }
    }
}

/// Focus is a sign and reverse video, in every theme.
#[test]
fn the_cursor_is_a_sign_and_reverse_video_in_every_theme() {
    for name in ["terminal", "mono", "high-contrast", "colour-blind"] {
        let theme = Theme::named(THEMES, name).unwrap();
        let buffer = frame(scenes::all_standings(), (38, 20), "j", &theme, Symbols::Unicode);
        let (_, row) =
            (0..38 * 20).map(|at: u16| (at % 38, at / 38)).find(|place| buffer[*place].symbol() == "▸").unwrap();
        assert!((0..38).all(|x| buffer[(x, row)].modifier.contains(Modifier::REVERSED)), "{name}");
    }
}

/// Every sign of ours has an ASCII one in its place, and the frame keeps its shape.
#[test]
fn u5_the_ascii_signs_take_the_same_columns() {
    for (world, ways) in worlds() {
        for keys in ways {
            let unicode = frame(world.clone(), (60, 24), keys, &Theme::standard(true), Symbols::Unicode);
            let ascii = frame(world.clone(), (60, 24), keys, &Theme::standard(true), Symbols::AsciiGlyphs);
            for (one, other) in unicode.content().iter().zip(ascii.content()) {
                match GLYPHS.iter().find(|(glyph, _)| *glyph == one.symbol()) {
                    Some((_, sign)) => assert_eq!(other.symbol(), *sign),
                    None => assert_eq!(other.symbol(), one.symbol()),
                }
            }
        }
    }
}

#[test]
fn the_signs_are_those_of_the_manual() {
    let text = dump::plain(&frame(scenes::all_standings(), (38, 20), "", &Theme::standard(true), Symbols::AsciiOnly));
    for row in ["! checkout", "* search-index", "~ billing", "= admin-ui", "+ auth", "# cli-flags"] {
        assert!(text.contains(row), "{row}:\n{text}");
    }
}

/// A terminal may draw some of our signs in two columns: none of them stands in the last column, and behind each that stands
/// for something is a blank (in the strip of phases the next sign). Lines and the signs inside of words cannot keep that.
#[test]
fn signs_of_ambiguous_width_are_followed_by_a_blank_and_end_no_row() {
    const LINES: &str = "─═│┼├┤┬┴";
    const IN_WORDS: &str = "·…–“”";
    let strip = "✓»■✗!●○◷‖·…";
    let ambiguous = |sign: &str| GLYPHS.iter().any(|(glyph, _)| *glyph == sign) && sign.width_cjk() > sign.width();
    let mut seen = BTreeSet::new();
    for view in views() {
        for size in [(38, 20), (120, 40)] {
            let mut rig = view.open(size);
            let buffer = rig.draw();
            for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
                let sign = buffer[(x, y)].symbol();
                if !ambiguous(sign) || LINES.contains(sign) {
                    continue;
                }
                seen.insert(sign.to_owned());
                assert!(x + 1 < size.0, "{sign} ends a row:\n{}", dump::plain(&buffer));
                let next = buffer[(x + 1, y)].symbol();
                let is_apart = next == " " || (strip.contains(sign) && strip.contains(next));
                assert!(IN_WORDS.contains(sign) || is_apart, "{next} follows {sign}:\n{}", dump::plain(&buffer));
            }
        }
    }
    for sign in ["●", "○", "‖", "■", "◷", "→", "…", "·"].into_iter().filter(|sign| ambiguous(sign)) {
        assert!(seen.contains(sign), "{sign} is in no view");
    }
}

/// No file of ours draws a pictograph: what one is, the joiner tells (two of them joined are one grapheme).
#[test]
fn nothing_we_draw_is_an_emoji() {
    let is_pictograph = |c: char| format!("{c}\u{200d}{c}").graphemes(true).count() == 1;
    assert!(is_pictograph('⏸') && is_pictograph('✔') && is_pictograph('▶') && !is_pictograph('✓'));
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("assets")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or("");
            let is_test = path.to_string_lossy().ends_with("_tests.rs");
            if is_test || !matches!(kind, "rs" | "toml" | "txt" | "md") {
                continue;
            }
            read += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let found: String = text.chars().filter(|c| !c.is_ascii() && is_pictograph(*c)).collect();
            assert_eq!(found, "", "{}", path.display());
        }
    }
    assert!(read > 100, "{read} files");
}

#[test]
fn u19_the_mouse_is_off_until_it_is_wanted_and_that_is_remembered() {
    let mut rig = Rig::new(scenes::all_standings(), (38, 20));
    assert!(!rig.app.mouse);
    let on = rig.press("m");
    assert_eq!(on, [Effect::Mouse(true), Effect::Remember("mouse", true.into())]);
    assert!(rig.text().contains("mouse on"));
    let off = rig.press("m");
    assert_eq!(off, [Effect::Mouse(false), Effect::Remember("mouse", false.into())]);
}

/// Where some words stand on the screen.
fn place_of(rig: &mut Rig, words: &str) -> (u16, u16) {
    let buffer = rig.draw();
    let text = dump::plain(&buffer);
    let (y, line) = text.lines().enumerate().find(|(_, line)| line.contains(words)).unwrap_or_else(|| panic!("{text}"));
    let x = line[..line.find(words).unwrap()].chars().count();
    (u16::try_from(x).unwrap(), u16::try_from(y).unwrap())
}

fn click(rig: &mut Rig, words: &str) -> Vec<Effect> {
    let (x, y) = place_of(rig, words);
    rig.pass(500);
    let effects = rig.send(Msg::Click { x: x + 1, y });
    rig.draw();
    rig.pass(500);
    effects.into_iter().filter(|effect| !matches!(effect, Effect::Show(_))).collect()
}

#[test]
fn a_click_selects_a_row_and_presses_a_key_of_the_footer_and_of_the_banner() {
    for size in [(38, 20), (120, 40)] {
        let mut rig = Rig::new(scenes::all_standings(), size);
        click(&mut rig, "docs-site");
        assert_eq!(rig.app.runs.on(), Some(&scenes::key("docs-site")));
        let effects = click(&mut rig, "p pause");
        assert!(matches!(&effects[..], [Effect::Send { .. }]), "{effects:?}");
        click(&mut rig, "? help");
        assert!(matches!(rig.app.over.last(), Some(Over::Help(_))));
        click(&mut rig, "Esc close");
        assert!(rig.app.over.is_empty());
        let mut rig = Rig::new(scenes::one(scenes::no_agreement()), size);
        rig.press("Enter");
        click(&mut rig, "x stop");
        assert!(matches!(rig.app.over.last(), Some(Over::Question(_))));
    }
}

#[test]
fn a_click_selects_a_session_and_a_line_of_the_palette() {
    let mut rig = Rig::new(scenes::all_standings(), (60, 24));
    rig.press("2");
    click(&mut rig, "Old importer");
    assert_eq!(rig.app.sessions.index(), 3);
    rig.press("1 :");
    click(&mut rig, "accept");
    let Some(Over::Menu(menu)) = rig.app.over.last() else { panic!("no palette") };
    assert_eq!(menu.selected().unwrap().words, "accept");
    // Beside everything nothing happens.
    assert_eq!(rig.send(Msg::Click { x: 59, y: 0 }), []);
}

#[test]
fn the_wheel_scrolls_what_lies_on_top() {
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (38, 20));
    rig.press("Enter Enter");
    let before = rig.text();
    rig.send(Msg::Wheel(3));
    assert_ne!(rig.text(), before);
    rig.send(Msg::Wheel(-3));
    assert_eq!(rig.text(), before);
    rig.press("?");
    let before = rig.text();
    rig.send(Msg::Wheel(3));
    assert_ne!(rig.text(), before);
    let mut rig = Rig::new(scenes::all_standings(), (38, 20));
    rig.send(Msg::Wheel(1));
    assert_eq!(rig.app.runs.index(), 1);
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (38, 20));
    rig.press("Enter");
    assert_eq!(*rig.app.screen(), Screen::Run(scenes::key("checkout")));
    let before = rig.text();
    rig.send(Msg::Wheel(-3));
    assert_ne!(rig.text(), before, "the conversation");
}
