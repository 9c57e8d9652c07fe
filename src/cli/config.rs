//! `trellis config init` and `trellis config check`: the commented settings, and what of the files of a home does not count.

use std::path::Path;

use serde_json::json;

use super::{Failure, out};
use crate::boot;
use crate::config::DEFAULT_FILE;
use crate::paths::{Environment, Home};
use crate::store::home_files::write_new;

/// Writes the commented default.
///
/// # Errors
/// There is a file already, or it cannot be written.
pub fn init(home: Option<&Path>, json: bool) -> Result<(), Failure> {
    let home = located(home)?;
    write_new(&home.config(), DEFAULT_FILE).map_err(|error| Failure::refused(error.to_string()))?;
    if json {
        return out::json(&json!({"file": home.config().display().to_string()}));
    }
    out::line(&out::plain(&format!("{} holds every setting as a comment", home.config().display())))
}

/// Names each problem of `config.toml`, `keymap.toml` and `theme.toml`.
///
/// # Errors
/// There is one.
pub fn check(home: Option<&Path>, json: bool) -> Result<(), Failure> {
    let home = located(home)?;
    let problems = boot::problems(&home);
    let files = [home.config(), home.keymap(), home.theme()];
    let there: Vec<String> = files.iter().filter(|file| file.exists()).map(|file| file.display().to_string()).collect();
    if json {
        out::json(&json!({"files": there, "problems": problems}))?;
        return if problems.is_empty() { Ok(()) } else { Err(Failure::said()) };
    }
    for problem in &problems {
        out::line(&out::plain(problem))?;
    }
    if problems.is_empty() {
        let words = if there.is_empty() {
            format!("there are no settings in {}; the defaults count", home.root().display())
        } else {
            format!("nothing is wrong in {}", there.join(", "))
        };
        return out::line(&out::plain(&words));
    }
    Err(Failure::said())
}

fn located(home: Option<&Path>) -> Result<Home, Failure> {
    let home = Home::locate(home, &Environment::read()).map_err(|error| Failure::refused(error.to_string()))?;
    boot::is_folder(&home).map(|()| home)
}
