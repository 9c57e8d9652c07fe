//! `trellis notify --test`: tells a test sentence by every way that is configured, and says what came of each.

use std::path::Path;

use serde_json::{Value, json};

use super::{Failure, out};
use crate::boot::{self, Outcome};
use crate::paths::Home;
use crate::store::home_files::Remembered;

/// The name under which it is remembered that the ways were tried.
const TRIED: &str = "notify_tried";

/// Tells, and says how.
///
/// # Errors
/// A way that is configured did not work, or there is none at all.
pub fn test(home: Option<&Path>, json: bool) -> Result<(), Failure> {
    let ground = boot::Ground::find(home)?;
    super::drive::tell_problems(&ground);
    let (mut used, mut failed) = (0, 0);
    let mut rows: Vec<Value> = Vec::new();
    for tried in boot::test_ways(&ground)? {
        let (outcome, mark, words) = match &tried.outcome {
            Outcome::Used(words) => {
                used += 1;
                ("used", "yes ", words)
            }
            Outcome::Left(why) => ("left", "no  ", why),
            Outcome::Failed(why) => {
                failed += 1;
                ("failed", "FAIL", why)
            }
        };
        if json {
            rows.push(json!({"way": tried.way, "outcome": outcome, "says": words}));
        } else {
            out::line(&out::plain(&format!("{:<9}{mark} {words}", tried.way)))?;
        }
    }
    if json {
        out::json(&rows)?;
    }
    match (used, failed) {
        (_, 1..) => Err(Failure::said()),
        (0, 0) => Err(Failure::refused("no way is left to tell you anything; trellis config init writes the settings")),
        _ => {
            remember(&ground.home);
            Ok(())
        }
    }
}

/// The form of a new run asks whether somebody tried. A home that is not there yet is not made for it.
fn remember(home: &Home) {
    if !home.root().exists() {
        return;
    }
    let mut remembered = Remembered::load(home);
    let kept = remembered.set(TRIED, true.into());
    let kept = kept.and_then(|()| remembered.save(home).map_err(|error| error.to_string()));
    if let Err(why) = kept {
        out::note(&why);
    }
}
