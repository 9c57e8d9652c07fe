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
    styles: BTreeMap<Tone, Looks>,
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// All of it.
    pub words: Style,
    /// The sign it begins with: what stands before its first letter, digit or blank.
    pub sign: Style,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Role {
    fg: Option<Ink>,
    bg: Option<Ink>,
    sign: Option<Ink>,
    bold: bool,
    dim: bool,
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
            styles.insert(tone, looks_of(looks).map_err(|color| format!("mend the theme {name}: {role} has {color}"))?);
        }
        Ok(Self { styles })
    }

    /// The default: the terminal's own colours. `without_color` is the monochrome one.
    #[must_use]
    pub fn standard(without_color: bool) -> Self {
        Self::named(THEMES, if without_color { "mono" } else { "terminal" }).unwrap_or_default()
    }

    /// The same with bold, italic, underlined and reversed alone.
    #[must_use]
    pub fn without_color(mut self) -> Self {
        for looks in self.styles.values_mut() {
            looks.words = Style { fg: None, bg: None, ..looks.words };
            looks.sign = looks.words;
        }
        self
    }

    /// How a tone looks.
    #[must_use]
    pub fn looks(&self, tone: Tone) -> Looks {
        self.styles.get(&tone).copied().unwrap_or_default()
    }

    /// What a whole frame is filled with before anything is drawn: nothing, unless the theme brings its own background.
    #[must_use]
    pub fn ground(&self) -> Style {
        self.looks(Tone::Text).words
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
        "impossible" => Tone::Impossible,
        _ => return None,
    })
}

fn looks_of(role: &Role) -> Result<Looks, String> {
    let mut words = Style::new();
    if let Some(ink) = &role.fg {
        words = words.fg(color_of(ink)?);
    }
    if let Some(ink) = &role.bg {
        words = words.bg(color_of(ink)?);
    }
    for (wanted, modifier) in [
        (role.bold, Modifier::BOLD),
        (role.dim, Modifier::DIM),
        (role.italic, Modifier::ITALIC),
        (role.underlined, Modifier::UNDERLINED),
        (role.reversed, Modifier::REVERSED),
    ] {
        if wanted {
            words = words.add_modifier(modifier);
        }
    }
    let sign = match &role.sign {
        Some(ink) => words.fg(color_of(ink)?),
        None => words,
    };
    Ok(Looks { words, sign })
}

/// A colour as the file writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Ink {
    /// One of the terminal's own palette: the person's choice, which fits their background.
    Named(String),
    /// One of the 240 fixed colours of 256-colour terminals; for themes that bring their own background.
    Fixed(u8),
}

fn color_of(ink: &Ink) -> Result<Color, String> {
    match ink {
        Ink::Named(name) => Ok(match name.as_str() {
            "default" => Color::Reset,
            "black" => Color::Black,
            "red" => Color::Red,
            "green" => Color::Green,
            "blue" => Color::Blue,
            "magenta" => Color::Magenta,
            "cyan" => Color::Cyan,
            _ => return Err(format!("no color {name}")),
        }),
        // The first sixteen differ from terminal to terminal.
        Ink::Fixed(number @ 16..) => Ok(Color::Indexed(*number)),
        Ink::Fixed(number) => Err(format!("no color {number}: numbers go from 16 to 255")),
    }
}

/// Red, green and blue of a fixed colour, as every 256-colour terminal shows it; `None` for the terminal's own ones.
#[must_use]
pub fn fixed_rgb(color: Color) -> Option<[u8; 3]> {
    match color {
        Color::Indexed(gray @ 232..) => Some([(gray - 232) * 10 + 8; 3]),
        Color::Indexed(number @ 16..) => {
            let cube = number - 16;
            Some([cube / 36, cube / 6 % 6, cube % 6].map(|level| if level == 0 { 0 } else { 55 + 40 * level }))
        }
        _ => None,
    }
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
    ("▏", "|"),
    ("“", "\""),
    ("”", "\""),
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
#[path = "theme_tests.rs"]
mod tests;
