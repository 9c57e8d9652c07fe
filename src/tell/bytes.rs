//! What a terminal is sent: a bell, one of three notifications; wrapped where tmux stands between. Pure.
//! Every text is cleaned here once more: no byte of it can end a sequence or begin one.

use super::clean;

/// The bell.
pub const BELL: &[u8] = b"\x07";

/// The notifications that terminals know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `OSC 9`: iTerm2, WezTerm, Ghostty.
    Osc9,
    /// `OSC 777`: foot, rxvt-unicode.
    Osc777,
    /// `OSC 99`: kitty.
    Osc99,
}

impl Dialect {
    /// The name in `config.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Osc9 => "osc9",
            Self::Osc777 => "osc777",
            Self::Osc99 => "osc99",
        }
    }

    /// A notification of a sentence.
    #[must_use]
    pub fn notification(self, text: &str) -> Vec<u8> {
        let text = clean(text);
        match self {
            // Some terminals read a number behind `9;` as another command: ours begins with a word.
            Self::Osc9 => format!("\x1b]9;trellis: {text}\x07"),
            // The parts are told apart by semicolons.
            Self::Osc777 => format!("\x1b]777;notify;trellis;{}\x07", text.replace(';', ",")),
            Self::Osc99 => {
                format!("\x1b]99;i=trellis:d=0:p=title;trellis\x1b\\\x1b]99;i=trellis:d=1:p=body;{text}\x1b\\")
            }
        }
        .into_bytes()
    }
}

/// Whether a terminal has a title that can be set: a console without one would print the words.
#[must_use]
pub fn has_title(term: Option<&str>) -> bool {
    term.is_some_and(|term| term != "linux" && term != "dumb" && !term.starts_with("vt"))
}

/// Wraps sequences so that tmux hands them on to the terminal around it.
#[must_use]
pub fn through_tmux(bytes: &[u8]) -> Vec<u8> {
    let mut wrapped = b"\x1bPtmux;".to_vec();
    for byte in bytes {
        if *byte == 0x1b {
            wrapped.push(0x1b);
        }
        wrapped.push(*byte);
    }
    wrapped.extend(b"\x1b\\");
    wrapped
}

/// A text as a tmux format that comes out as itself: `#` begins an expansion (a command even), `%` a date.
#[must_use]
pub fn tmux_literal(text: &str) -> String {
    clean(text).replace('#', "##").replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{7}b\u{1b}\\c\u{9c}d;e\u{1b}]52;c;eA==\u{7}\nf";

    #[test]
    fn u7_no_text_ends_or_begins_a_sequence() {
        for dialect in [Dialect::Osc9, Dialect::Osc777, Dialect::Osc99] {
            let bytes = dialect.notification(HOSTILE);
            let text = String::from_utf8(bytes).unwrap();
            let (begins, ends) = (text.matches('\u{1b}').count(), text.matches('\u{7}').count());
            let wanted = if dialect == Dialect::Osc99 { (4, 0) } else { (1, 1) };
            assert_eq!((begins, ends), wanted, "{text:?}");
            assert!(!text.contains(['\u{9c}', '\n']) && !text.contains("52;"), "{text:?}");
        }
    }

    #[test]
    fn the_three_notifications_read_as_their_terminals_want_them() {
        let of = |dialect: Dialect| String::from_utf8(dialect.notification("shop needs you; now")).unwrap();
        assert_eq!(of(Dialect::Osc9), "\u{1b}]9;trellis: shop needs you; now\u{7}");
        assert_eq!(of(Dialect::Osc777), "\u{1b}]777;notify;trellis;shop needs you, now\u{7}");
        assert!(of(Dialect::Osc99).ends_with("p=body;shop needs you; now\u{1b}\\"));
    }

    #[test]
    fn tmux_gets_every_escape_twice_and_an_end() {
        assert_eq!(through_tmux(b"\x1b]9;x\x07"), b"\x1bPtmux;\x1b\x1b]9;x\x07\x1b\\");
    }

    #[test]
    fn u7_no_format_of_tmux_is_left_in_a_text() {
        assert_eq!(tmux_literal("100% of #(touch x) #{pid} #[fg=red]"), "100%% of ##(touch x) ##{pid} ##[fg=red]");
    }
}
