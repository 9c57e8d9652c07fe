//! Tones to styles, by the roles of the theme file; and the ASCII set for terminals that cannot show our glyphs.
//! Nothing else in `ui` names a colour.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::row::Tone;

/// The themes that come with the program.
pub const THEMES: &str = include_str!("../../assets/theme.toml");

/// Styles of one theme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    styles: BTreeMap<Tone, Style>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Role {
    fg: Option<String>,
    bold: bool,
    italic: bool,
    underlined: bool,
    reversed: bool,
}

impl Theme {
    /// One theme of a theme file.
    ///
    /// # Errors
    /// When the file is no TOML, has no theme of that name, or names a role or colour that does not exist.
    pub fn named(file: &str, name: &str) -> Result<Self, String> {
        let themes: BTreeMap<String, BTreeMap<String, Role>> =
            toml::from_str(file).map_err(|error| format!("mend the theme file: {}", error.message()))?;
        let Some(roles) = themes.get(name) else {
            let known: Vec<&str> = themes.keys().map(String::as_str).collect();
            return Err(format!("choose a theme out of {}: there is no {name}", known.join(", ")));
        };
        let mut styles = BTreeMap::new();
        for (role, looks) in roles {
            let tone = tone_named(role).ok_or_else(|| format!("mend the theme {name}: there is no role {role}"))?;
            styles.insert(tone, style_of(looks).map_err(|color| format!("mend the theme {name}: {role} has {color}"))?);
        }
        Ok(Self { styles })
    }

    /// The default: the terminal's own colours. `without_color` is the monochrome one.
    #[must_use]
    pub fn standard(without_color: bool) -> Self {
        Self::named(THEMES, if without_color { "mono" } else { "terminal" }).unwrap_or_default()
    }

    /// The style of a tone.
    #[must_use]
    pub fn style(&self, tone: Tone) -> Style {
        self.styles.get(&tone).copied().unwrap_or_default()
    }
}

fn tone_named(role: &str) -> Option<Tone> {
    Some(match role {
        "text" => Tone::Text,
        "needs-you" => Tone::NeedsYou,
        "going" => Tone::Going,
        "held" => Tone::Held,
        "relay" => Tone::Relay,
        "strong" => Tone::Strong,
        "emphasis" => Tone::Emphasis,
        "code" => Tone::Code,
        "added" => Tone::Added,
        "removed" => Tone::Removed,
        "key" => Tone::Key,
        "field" => Tone::Field,
        "failed" => Tone::Failed,
        _ => return None,
    })
}

fn style_of(looks: &Role) -> Result<Style, String> {
    let mut style = Style::new();
    if let Some(name) = &looks.fg {
        style = style.fg(color_named(name).ok_or_else(|| format!("no color {name}"))?);
    }
    for (wanted, modifier) in [
        (looks.bold, Modifier::BOLD),
        (looks.italic, Modifier::ITALIC),
        (looks.underlined, Modifier::UNDERLINED),
        (looks.reversed, Modifier::REVERSED),
    ] {
        if wanted {
            style = style.add_modifier(modifier);
        }
    }
    Ok(style)
}

/// The terminal's own palette only: it is the person's choice and fits their background.
fn color_named(name: &str) -> Option<Color> {
    Some(match name {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        _ => return None,
    })
}

/// Which characters the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// All of them.
    #[default]
    Unicode,
    /// Ours as ASCII; agents' text as it is.
    AsciiGlyphs,
    /// Nothing but ASCII: what has no counterpart becomes `?`.
    AsciiOnly,
}

/// Our own glyphs and what stands for them in ASCII, one column each.
pub const GLYPHS: &[(&str, &str)] = &[
    ("●", "*"),
    ("○", "o"),
    ("‖", "="),
    ("◷", "~"),
    ("✓", "+"),
    ("■", "#"),
    ("✗", "x"),
    ("»", ">"),
    ("▸", ">"),
    ("↳", "^"),
    ("─", "-"),
    ("═", "="),
    ("│", "|"),
    ("┼", "+"),
    ("├", "+"),
    ("┤", "+"),
    ("┬", "+"),
    ("┴", "+"),
    ("▮", "#"),
    ("▯", "."),
    ("▾", "v"),
    ("▴", "^"),
    ("‹", "<"),
    ("›", ">"),
    ("→", ">"),
    ("←", "<"),
    ("↑", "^"),
    ("↓", "v"),
    ("⇄", "="),
    ("·", "."),
    ("…", "~"),
    ("–", "-"),
    ("−", "-"),
    ("•", "*"),
];

/// Replaces what the terminal cannot show, cell by cell.
pub fn reduce(buffer: &mut Buffer, symbols: Symbols) {
    if symbols == Symbols::Unicode {
        return;
    }
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.is_ascii() {
            continue;
        }
        if let Some((_, ascii)) = GLYPHS.iter().find(|(glyph, _)| *glyph == symbol) {
            cell.set_symbol(ascii);
        } else if symbols == Symbols::AsciiOnly {
            cell.set_symbol("?");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::width::width;

    #[test]
    fn every_theme_reads_and_an_unknown_one_is_named() {
        for name in ["terminal", "mono", "high-contrast", "colour-blind"] {
            Theme::named(THEMES, name).unwrap();
        }
        let error = Theme::named(THEMES, "pink").unwrap_err();
        assert!(error.contains("there is no pink"), "{error}");
        assert!(Theme::named("[t]\nborder = {}", "t").is_err());
        assert!(Theme::named("[t]\ntext = { fg = \"yellow\" }", "t").is_err());
    }

    #[test]
    fn mono_has_no_color() {
        let mono = Theme::standard(true);
        assert!(mono.styles.values().all(|style| style.fg.is_none() && style.bg.is_none()));
    }

    #[test]
    fn glyphs_are_one_column_and_no_emoji() {
        for (glyph, ascii) in GLYPHS {
            assert_eq!((width(glyph), width(ascii)), (1, 1), "{glyph}");
            assert_eq!(glyph.chars().count(), 1);
            // Pictographs of these blocks begin at the values that emoji-data lists; ours stay clear of them.
            let pictographs = "‼⁉↔↕↖↗↘↙↩↪⌚⌛▪▫▶◀◻◼◽◾✔✖✳✴⬅⬆⬇⬛⬜☑☺";
            assert!(!pictographs.contains(*glyph), "{glyph}");
        }
    }
}
