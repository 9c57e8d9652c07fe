//! `trellis verdict`: what the rules for signals make of an answer, and why.
//! The rules themselves are the crate's `verdict`.

use std::io::Read as _;
use std::path::Path;

use super::{Failure, VerdictArgs, out};
use crate::model::config::RunConfig;
use crate::verdict;

/// Prints `match`, `near_miss` or `none` and the reason; only a match is a success.
///
/// # Errors
/// The answer cannot be read, the signal cannot be one, or it is no match.
pub fn verdict(args: &VerdictArgs) -> Result<(), Failure> {
    let defaults = RunConfig::default();
    let usual = if args.completion { defaults.completion_signal } else { defaults.review_stop_signal };
    let signal = args.signal.clone().unwrap_or(usual);
    verdict::check_signal(&signal).map_err(|problem| Failure::usage(format!("--signal: {problem}")))?;
    let answer = read(&args.file)?;
    let found = if args.completion {
        verdict::completion_signal(&answer, &signal)
    } else {
        verdict::stop_signal(&answer, &signal)
    };
    if args.json {
        out::json(&serde_json::json!({"verdict": found.word(), "why": found.why()}))?;
    } else {
        out::line(found.word())?;
        out::line(&out::plain(found.why()))?;
    }
    if found.is_match() { Ok(()) } else { Err(Failure::said()) }
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::refused(format!("can't read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
