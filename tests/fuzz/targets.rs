//! The fuzz targets: for each kind of bytes that others write, a function that must hold for all of them, and its seeds.
//! What mutates the bytes is elsewhere: counted in `main`, guided by coverage in `guided`.

pub mod outward;
pub mod panes;
pub mod settings;
pub mod store;
pub mod transcripts;
pub mod words;

/// One target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, for the command and for the folder of what it found.
    pub name: &'static str,
    /// What must hold for all bytes: it panics when it does not.
    pub check: fn(&[u8]),
    /// Files and folders with its seeds, below the package's folder.
    pub seeds: &'static [&'static str],
}

/// All of them.
pub const ALL: [Target; 9] = [
    Target {
        name: "claude",
        check: transcripts::claude,
        seeds: &["tests/fixtures/transcripts/claude", "tests/fuzz/corpus/transcripts"],
    },
    Target {
        name: "codex",
        check: transcripts::codex,
        seeds: &["tests/fixtures/transcripts/codex", "tests/fuzz/corpus/transcripts"],
    },
    Target { name: "store", check: store::load, seeds: &["tests/fuzz/corpus/store"] },
    Target { name: "verdicts", check: words::verdicts, seeds: &["tests/fuzz/corpus/verdicts"] },
    Target {
        name: "markdown",
        check: words::markdown,
        seeds: &["tests/fuzz/corpus/markdown", "tests/fuzz/corpus/verdicts", "README.md"],
    },
    Target { name: "hooks", check: settings::hooks, seeds: &["tests/fuzz/corpus/hooks"] },
    Target {
        name: "settings",
        check: settings::settings,
        seeds: &["tests/fuzz/corpus/settings", "assets/config.toml", "assets/theme.toml", "assets/demo/night.toml"],
    },
    Target { name: "panes", check: panes::panes, seeds: &["tests/fuzz/corpus/panes", "tests/fixtures/panes"] },
    Target {
        name: "outward",
        check: outward::outward,
        seeds: &["tests/fuzz/corpus/outward", "tests/fuzz/corpus/verdicts"],
    },
];

/// The target of that name.
pub fn named(name: &str) -> Option<Target> {
    ALL.into_iter().find(|target| target.name == name)
}

/// The last byte is a choice among `of`; the rest is the text. So a seed is a file as it is.
fn choice(bytes: &[u8], of: u8) -> (u8, &[u8]) {
    match bytes.split_last() {
        Some((last, rest)) => (last % of, rest),
        None => (0, bytes),
    }
}

/// No byte that a terminal would take for anything but text.
#[track_caller]
fn is_harmless(text: &str) {
    let bad = text.chars().find(|sign| {
        sign.is_control() || matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    });
    assert_eq!(bad, None, "in {text:?}");
}
