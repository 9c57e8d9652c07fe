//! A key as the keymap writes it. Where keys come from is `input`'s business.

use std::fmt;
use std::str::FromStr;

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are those on the keyboard")]
pub enum Code {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

/// A key with or without Ctrl. Shift is in the character; Alt and function keys are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which.
    pub code: Code,
    /// With Ctrl.
    pub ctrl: bool,
}

impl Key {
    /// A character.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self { code: Code::Char(c), ctrl: false }
    }

    /// A key without Ctrl.
    #[must_use]
    pub const fn plain(code: Code) -> Self {
        Self { code, ctrl: false }
    }

    /// A character with Ctrl.
    #[must_use]
    pub const fn ctrl(c: char) -> Self {
        Self { code: Code::Char(c), ctrl: true }
    }

    /// The character it types, if it types one.
    #[must_use]
    pub const fn typed(self) -> Option<char> {
        match self {
            Self { code: Code::Char(c), ctrl: false } => Some(c),
            _ => None,
        }
    }
}

const NAMES: &[(&str, Code)] = &[
    ("Enter", Code::Enter),
    ("Esc", Code::Esc),
    ("Tab", Code::Tab),
    ("Shift-Tab", Code::BackTab),
    ("Backspace", Code::Backspace),
    ("Delete", Code::Delete),
    ("↑", Code::Up),
    ("↓", Code::Down),
    ("←", Code::Left),
    ("→", Code::Right),
    ("Up", Code::Up),
    ("Down", Code::Down),
    ("Left", Code::Left),
    ("Right", Code::Right),
    ("Home", Code::Home),
    ("End", Code::End),
    ("PgUp", Code::PageUp),
    ("PgDn", Code::PageDown),
    ("Space", Code::Char(' ')),
];

impl FromStr for Key {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some((_, code)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Ok(Self::plain(*code));
        }
        let (ctrl, rest) = match name.strip_prefix("Ctrl-") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() => Ok(Self { code: Code::Char(c), ctrl }),
            _ => Err(format!("there is no key {name}")),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(c) => write!(f, "{c}"),
            _ => Ok(()),
        }
    }
}
