//! Themes read and can be read; our own glyphs are one column, no emoji, and have counterparts.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::*;
use crate::ui::width::width;

const NAMES: [&str; 4] = ["terminal", "mono", "high-contrast", "colour-blind"];

/// Backgrounds a terminal may have, each with its own foreground: black on white, white on black, Solarized light.
const TERMINALS: [([u8; 3], [u8; 3]); 3] =
    [([255, 255, 255], [0, 0, 0]), ([0, 0, 0], [255, 255, 255]), ([0xfd, 0xf6, 0xe3], [0x65, 0x7b, 0x83])];

fn luminance(rgb: [u8; 3]) -> f64 {
    let part = |level: u8| {
        let level = f64::from(level) / 255.0;
        if level <= 0.04045 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(rgb[0]) + 0.7152 * part(rgb[1]) + 0.0722 * part(rgb[2])
}

/// The contrast of the Web Content Accessibility Guidelines: 1 to 21.
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_theme_reads_and_an_unknown_one_is_named() {
    for name in NAMES {
        Theme::named(THEMES, name).unwrap();
    }
    let error = Theme::named(THEMES, "pink").unwrap_err();
    assert!(error.contains("there is no pink"), "{error}");
    assert!(Theme::named("[t]\nborder = {}", "t").is_err());
    assert!(Theme::named("[t]\ntext = { fg = \"yellow\" }", "t").is_err());
    assert!(Theme::named("[t]\ntext = { fg = 7 }", "t").is_err());
}

#[test]
fn u13_the_default_theme_leaves_every_letter_in_the_terminals_own_colours() {
    for without_color in [false, true] {
        for (tone, looks) in &Theme::standard(without_color).styles {
            assert_eq!((looks.words.fg, looks.words.bg), (None, None), "{tone:?}");
            assert_eq!(looks.sign.bg, None, "{tone:?}");
            // Yellow, white and bright ones are lost on a light background, dim text on a dark one.
            let fits = [Color::Red, Color::Green, Color::Blue, Color::Magenta, Color::Cyan];
            assert!(looks.sign.fg.is_none_or(|color| !without_color && fits.contains(&color)), "{tone:?}");
            // What cannot be done now need not be read; why it cannot, must.
            let may_be_dim = *tone == Tone::Impossible;
            assert!(may_be_dim || !looks.words.add_modifier.contains(Modifier::DIM), "{tone:?}");
        }
    }
}

/// On white, black and Solarized light: a named theme draws on the terminal's own colours alone, or on a background of
/// its own in colours that stand out from it.
#[test]
fn u13_named_themes_have_a_contrast_of_at_least_4_5_on_every_background() {
    for name in NAMES.into_iter().filter(|name| *name != "terminal") {
        let theme = Theme::named(THEMES, name).unwrap();
        for (background, foreground) in TERMINALS {
            let ground = theme.ground().bg.and_then(fixed_rgb);
            for (tone, looks) in &theme.styles {
                for style in [looks.words, looks.sign] {
                    let ink = style.fg.or(theme.ground().fg);
                    match (ground, ink) {
                        (Some(ground), Some(ink)) => {
                            let ink = fixed_rgb(ink).unwrap();
                            let ratio = contrast(ink, ground);
                            assert!(ratio >= 4.5, "{name} {tone:?}: {ratio:.2}");
                        }
                        // What the terminal's owner chose for all their text; no theme can better it.
                        (None, None) => assert!(contrast(foreground, background) > 4.0),
                        mixed => panic!("{name} {tone:?} mixes its own colours with the terminal's: {mixed:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn without_colour_a_theme_keeps_its_other_looks() {
    for name in NAMES {
        let theme = Theme::named(THEMES, name).unwrap();
        let plain = theme.clone().without_color();
        for (tone, looks) in &plain.styles {
            assert_eq!((looks.words.fg, looks.words.bg, looks.sign), (None, None, looks.words), "{name} {tone:?}");
            assert_eq!(looks.words.add_modifier, theme.looks(*tone).words.add_modifier, "{name} {tone:?}");
        }
    }
}

#[test]
fn the_fixed_colours_are_those_of_every_terminal() {
    let rgb = |number| fixed_rgb(Color::Indexed(number));
    assert_eq!((rgb(16), rgb(231)), (Some([0; 3]), Some([255; 3])));
    assert_eq!((rgb(74), rgb(244)), (Some([95, 175, 215]), Some([128; 3])));
    assert_eq!((rgb(3), fixed_rgb(Color::Red)), (None, None));
}

#[test]
fn glyphs_are_one_column_and_no_emoji() {
    for (glyph, ascii) in GLYPHS {
        assert_eq!((width(glyph), width(ascii)), (1, 1), "{glyph}");
        assert_eq!(glyph.chars().count(), 1);
        assert!(!is_pictograph(glyph), "{glyph}");
    }
    assert!(is_pictograph("\u{23f8}") && is_pictograph("\u{25b6}") && is_pictograph("\u{2714}"));
}

/// `Extended_Pictographic`, which holds every `Emoji_Presentation` but flags: such a character, a joiner and such a
/// character again are one grapheme, and nothing else is.
fn is_pictograph(glyph: &str) -> bool {
    format!("{glyph}\u{200d}{glyph}").graphemes(true).count() == 1
}

/// Terminals that draw ambiguous glyphs in two columns hide what follows them.
#[test]
fn the_glyphs_that_may_be_two_columns_wide_are_known() {
    let wide: String = GLYPHS.iter().map(|(glyph, _)| *glyph).filter(|glyph| glyph.width_cjk() > 1).collect();
    let known = "●○‖■─═│┼├┤┬┴→←↑↓·…–•▏“”";
    assert!(wide.chars().all(|glyph| known.contains(glyph)), "{wide}");
}
