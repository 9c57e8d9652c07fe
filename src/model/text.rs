//! References to texts that stand in files of their own, and how two texts are compared.
//! Reading and writing those files is the store's.

use serde::{Deserialize, Serialize};

/// A text kept once, outside the record that names it.
///
/// `inline` is there only in memory: the store fills it when it loads and leaves it out when it writes,
/// so a record stays small and a relay costs the same at round 1 and at round 500.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRef {
    /// File name below the record's own folder, `{sha256}.txt`.
    pub file: String,
    /// Hex SHA-256 of the text.
    pub sha256: String,
    /// Length in bytes.
    pub bytes: u64,
    /// First non-empty line, at most 200 characters.
    pub first_line: String,
    /// The text itself, never serialised.
    #[serde(skip)]
    pub inline: std::sync::Arc<str>,
}

impl TextRef {
    /// Makes the reference of a text. Pure: the store writes the file before the record that names it.
    #[must_use]
    pub fn of(text: &str) -> Self {
        use sha2::{Digest, Sha256};
        use std::fmt::Write as _;
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(text.as_bytes()) {
            let _ = write!(sha256, "{byte:02x}");
        }
        Self {
            file: format!("{sha256}.txt"),
            sha256,
            bytes: text.len() as u64,
            first_line: first_line(text),
            inline: text.into(),
        }
    }

    /// The text (empty when the store could not read it; the store says so).
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inline
    }
}

/// First non-empty line, at most 200 characters.
#[must_use]
pub fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").chars().take(200).collect()
}
