//! Which dialog of an agent's start stands on its pane, read from the captured screen. Pure, and only for words to a
//! person: nothing is typed because of it. What is not drawn as known has no name.

use super::screen::{self, Row};
use crate::model::ids::Agent;

/// A dialog that an agent opens before it has a session, or before it takes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// May it read, edit and run files in this folder?
    Trust,
    /// Hooks are new or were changed.
    Hooks,
    /// Everything will be allowed: is that meant?
    Bypass,
    /// An account or another way to the model is to be chosen.
    Login,
    /// A key for the model was found: is it to be used?
    ApiKey,
    /// A question that has no name here.
    Other,
}

impl Dialog {
    /// What it asks, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Trust => "its question whether to trust the folder",
            Self::Hooks => "its question about new or changed hooks",
            Self::Bypass => "its warning before everything is allowed",
            Self::Login => "its question how to sign in",
            Self::ApiKey => "its question whether to use the API key it found",
            Self::Other => "a question of its start",
        }
    }
}

/// Finds the dialog on a captured pane of an agent that is starting. It is the last thing on the screen: its choices and
/// the line that says how to answer stand below its words, and nothing below that.
#[must_use]
pub fn find(agent: Agent, captured: &str) -> Option<Dialog> {
    let rows = screen::rows(captured);
    let end = rows.iter().rposition(|row| !screen::is_blank(row))?;
    let foot = line(rows.get(end)?);
    let feet: &[&str] = match agent {
        Agent::Claude => &["Enter to confirm"],
        Agent::Codex => &["enter continue", "enter confirm", "Press enter to continue", "Press Enter to continue"],
    };
    let choice = rows.get(..end)?.iter().rposition(is_chosen)?;
    if !feet.iter().any(|words| foot.starts_with(words)) {
        return None;
    }
    // Its words stand above the choice, its first line not far up: a dialog fills no more than a screen.
    let above: Vec<String> = rows.get(..choice)?.iter().map(line).collect();
    let named =
        |(begins, dialog): &(&str, Dialog)| above.iter().rev().any(|line| line.starts_with(begins)).then_some(*dialog);
    let known: &[(&str, Dialog)] = match agent {
        Agent::Claude => &[
            ("Quick safety check: Is this", Dialog::Trust),
            ("Do you trust the files in this", Dialog::Trust),
            ("WARNING: Claude Code running in", Dialog::Bypass),
            ("Detected a custom API key in your", Dialog::ApiKey),
            ("Select login method", Dialog::Login),
        ],
        Agent::Codex => &[
            ("Trust this folder?", Dialog::Trust),
            ("Hooks need review", Dialog::Hooks),
            ("Choose how you want to use", Dialog::Login),
        ],
    };
    Some(known.iter().find_map(named).unwrap_or(Dialog::Other))
}

/// A row with the mark of the choice that Enter would take: at the left edge, before a number or a word.
fn is_chosen(row: &Row) -> bool {
    let text = line(row);
    let Some(rest) = ['❯', '›', '>'].into_iter().find_map(|mark| text.strip_prefix(mark)) else { return false };
    // Claude's input box has a no-break space behind its mark.
    rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
}

fn line(row: &Row) -> String {
    screen::text(row).trim().to_owned()
}

#[cfg(test)]
#[path = "dialog_tests.rs"]
mod tests;
