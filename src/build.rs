//! The build script: which commit the program is made from, and when that was. No wall clock is read, so that one commit
//! gives one program; nothing else may be decided here.
#![expect(clippy::disallowed_methods, reason = "cargo talks to a build script by variables")]

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Letters of a commit that are shown.
const SHORT: usize = 12;
/// What the program is made of; a change there that is not committed is said.
const MADE_OF: [&str; 4] = ["src", "assets", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    for name in ["TRELLIS_COMMIT", "SOURCE_DATE_EPOCH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let found = variable("TRELLIS_COMMIT").map(|commit| (commit, None)).or_else(of_package).or_else(of_git);
    let (commit, seconds) = found.unwrap_or_default();
    let short: String = commit.chars().filter(char::is_ascii_alphanumeric).take(SHORT).collect();
    let mark = if commit.ends_with('+') { "+" } else { "" };
    let given = variable("SOURCE_DATE_EPOCH").and_then(|text| text.parse().ok());
    let date = given.or(seconds).map(date).unwrap_or_default();
    let words = [format!("{short}{mark}"), date].join(" ");
    let built = if words.trim().is_empty() { String::new() } else { format!(" ({})", words.trim()) };
    println!("cargo::rustc-env=TRELLIS_BUILT={built}");
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Of a package that cargo made: it says the commit itself.
fn of_package() -> Option<(String, Option<i64>)> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let commit = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    Some((commit.to_owned(), None))
}

/// Of a clone: the commit that is checked out, with a `+` behind it when something was changed since.
///
/// Only a release asks: the version of a debug build would change with every commit, and all of it would be built again.
fn of_git() -> Option<(String, Option<i64>)> {
    if variable("PROFILE").as_deref() != Some("release") {
        return None;
    }
    let top = git(&["rev-parse", "--show-toplevel"])?;
    // A folder inside of another project's clone is none of that project's commits.
    if Path::new(&top).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    for name in MADE_OF {
        println!("cargo::rerun-if-changed={name}");
    }
    // The first moves with each commit, the second when another one is checked out. A path that is not there would mean
    // "always".
    for name in ["logs/HEAD", "HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let told = git(&["show", "--no-patch", "--format=%H %ct", "HEAD"])?;
    let (commit, seconds) = told.split_once(' ')?;
    let changed = git(&[&["status", "--porcelain", "--"], &MADE_OF[..]].concat());
    let mark = if changed.is_some() { "+" } else { "" };
    Some((format!("{commit}{mark}"), seconds.parse().ok()))
}

/// What git answers; `None`: nothing, or there is no git.
fn git(words: &[&str]) -> Option<String> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The day, in UTC, of seconds since 1970 (days to a date by the calendar's own cycle of 400 years).
fn date(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + i64::from(month <= 2))
}
