//! What is asked of tmux itself: its version, and options of a server. Nothing is changed.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use super::Server;
use crate::agent::program::{Program, on_path};

/// Options that a notification, a bell or a copy depends on.
const OPTIONS: [&str; 5] = ["set-clipboard", "allow-passthrough", "bell-action", "monitor-bell", "visual-bell"];

/// What tmux says of its version (`tmux 3.3a`).
///
/// # Errors
/// There is no tmux on the search path, or it complains.
pub fn version() -> Result<String, String> {
    Ok(crate::model::text::first_line(&Program::new("tmux", ["-V"]).run()?.content()?))
}

/// Whether there is a tmux on a search path. It is not run.
#[must_use]
pub fn is_installed(path: Option<&OsStr>) -> bool {
    on_path("tmux", path).is_some()
}

impl Server {
    /// The options that matter, as the server has them for all sessions; one that it does not know is left out.
    #[must_use]
    pub fn options(&self) -> BTreeMap<String, String> {
        let value = |name: &str| {
            // Of a server, a session or a window: a name lives in one of them only.
            let asked = |scope: &str| self.told(&["show-options", scope, name], &[]).ok();
            let found = ["-sqv", "-gqv", "-gwqv"]
                .into_iter()
                .find_map(|scope| asked(scope).filter(|said| !said.trim().is_empty()));
            Some((name.to_owned(), found?.trim().to_owned()))
        };
        OPTIONS.into_iter().filter_map(value).collect()
    }
}
