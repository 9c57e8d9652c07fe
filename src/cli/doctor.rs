//! `trellis doctor`: what would keep a run from going, and what to do about it. 1 when something would.
//! The judgement is `doctor`'s; nothing is changed.

use serde_json::json;

use super::{Failure, Named, out};
use crate::boot::Ground;
use crate::doctor::{self, Finding, Level};

/// Says how everything stands. `report`: for others to read, without paths, names and texts of this machine.
///
/// # Errors
/// Something would stop a run; it was said.
pub fn doctor(place: &Named<'_>, report: bool, as_json: bool) -> Result<(), Failure> {
    let (ground, unreadable) = Ground::at_any_rate(place)?;
    let findings = doctor::judge(&ground.health(&unreadable));
    let words =
        |sentence: &doctor::Sentence| out::plain(&if report { sentence.redacted() } else { sentence.to_string() });
    if as_json {
        let one = |finding: &Finding| {
            json!({
                "level": finding.level.word(), "about": finding.about,
                "says": words(&finding.says), "advice": finding.advice.as_ref().map(words),
            })
        };
        out::json(&findings.iter().map(one).collect::<Vec<_>>())?;
    } else {
        if report {
            let system = format!("trellis {} on {} {}", super::VERSION, std::env::consts::OS, std::env::consts::ARCH);
            out::line(&system)?;
        }
        for finding in &findings {
            out::line(&format!("{:<4}  {:<12}  {}", finding.level.word(), finding.about, words(&finding.says)))?;
            if let Some(advice) = &finding.advice {
                out::line(&format!("{:20}{}", "", words(advice)))?;
            }
        }
    }
    let stops = findings.iter().filter(|finding| finding.level == Level::Stops).count();
    let last = match stops {
        0 => return Ok(()),
        1 => String::from("one thing would stop a run; do what stands below the line marked fix"),
        n => format!("{n} things would stop a run; do what stands below the lines marked fix"),
    };
    Err(Failure::refused(last))
}
