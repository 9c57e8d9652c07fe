//! Which changes of the runs a person is called for: each once, an agent's open dialog at most once a minute a run.
//! Pure: projections, events and the time in, news out.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::clean;
use crate::model::event::Event;
use crate::model::ids::RecordKey;
use crate::model::session::{Need, SessionState};
use crate::projection::{Projection, RunView, SideView, Standing};

/// The least time between two calls for what an agent asks in one run.
const BETWEEN_ASKS: SignedDuration = SignedDuration::from_secs(60);

/// Something a person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// Of which run or pair.
    pub run: RecordKey,
    /// Its name, cleaned.
    pub name: String,
    /// Why, by a name: a pause reason, `look_first`, `approval`, `held`, `completed`, `failed`.
    pub reason: String,
    /// The sentence, cleaned and bounded.
    pub text: String,
}

/// What tells one call for a run from the next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    /// Its loop waits for a person: the reason, and what tells one wait of that kind from the next.
    Waits(String, String),
    /// An agent's own dialog is open, or something lies in a message's way.
    Asks(String),
    /// It is over.
    Over,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// The call that stands and needs no telling any more.
    told: Option<Call>,
    /// When an ask was told last.
    asked_at: Option<Timestamp>,
}

/// Remembers what was told.
#[derive(Clone, Debug, Default)]
pub struct Teller {
    runs: BTreeMap<RecordKey, Known>,
    /// Runs that moved since the start: how they stand in the first projection is news already.
    moved: BTreeSet<RecordKey>,
    /// A first projection was seen: what stood in it was there before us.
    begun: bool,
    /// Every session was looked at once: a dialog that is open from now on is news.
    settled: bool,
    wake_at: Option<Timestamp>,
}

impl Teller {
    /// Takes note of a published event.
    pub fn heard(&mut self, event: &Event) {
        let run = event.run_id.clone().map(RecordKey::Run);
        self.moved.extend(run.or_else(|| event.pair_id.clone().map(RecordKey::Pair)));
    }

    /// When [`Teller::look`] has to be called again although nothing changed.
    #[must_use]
    pub const fn wake_at(&self) -> Option<Timestamp> {
        self.wake_at
    }

    /// What is to be told now.
    pub fn look(&mut self, projection: &Projection, now: Timestamp) -> Vec<News> {
        if projection.at.is_none() {
            return Vec::new();
        }
        self.wake_at = None;
        let (first, settled) = (!self.begun, self.settled);
        (self.begun, self.settled) = (true, settled || !projection.looking);
        let mut news = Vec::new();
        for run in projection.runs.iter().filter(|run| run.read_only.is_none()) {
            let is_old = first && !self.moved.contains(&run.key);
            let known = self.runs.entry(run.key.clone()).or_default();
            let Some((call, told)) = call(run) else {
                known.told = None;
                continue;
            };
            if known.told.as_ref() == Some(&call) {
                continue;
            }
            if let Call::Asks(_) = call {
                if !is_old && settled {
                    let free_at = known.asked_at.and_then(|at| at.checked_add(BETWEEN_ASKS).ok());
                    if let Some(at) = free_at.filter(|at| *at > now) {
                        self.wake_at = Some(self.wake_at.map_or(at, |wake| wake.min(at)));
                        continue;
                    }
                    known.asked_at = Some(now);
                    news.push(told);
                }
            } else if !is_old {
                news.push(told);
            }
            known.told = Some(call);
        }
        self.runs.retain(|key, _| projection.runs.iter().any(|run| run.key == *key));
        news
    }
}

/// The call for a person that a run is now, if any, and its words.
fn call(run: &RunView) -> Option<(Call, News)> {
    let news = |reason: &str, text: String| News {
        run: run.key.clone(),
        name: clean(&run.name),
        reason: reason.to_owned(),
        text: clean(&text),
    };
    let name = &run.name;
    let needs = |what: &str| format!("{name} needs you: {what}");
    match (run.standing, &run.banner, &run.look_first) {
        (Standing::Done, ..) => Some((Call::Over, news("completed", format!("{name} is done: {}", run.sentence)))),
        (Standing::Failed, ..) => Some((Call::Over, news("failed", format!("{name} failed: {}", run.sentence)))),
        (Standing::NeedsYou | Standing::Ended, Some(banner), _) if banner.reason.is_some() => {
            let reason = banner.reason.map(crate::model::pair::PauseReason::as_str).unwrap_or_default();
            // A changed file's pause is shown from memory and has no time of its own.
            let which = if reason == "record_changed" { String::new() } else { run.since.to_string() };
            Some((Call::Waits(reason.to_owned(), which), news(reason, needs(&banner.headline))))
        }
        (Standing::NeedsYou, banner, Some(look)) if banner.is_none() => {
            let what = format!("look at relay {} before it is sent", look.n);
            let which = format!("{} {}", look.n, look.source);
            Some((Call::Waits("look_first".to_owned(), which), news("look_first", needs(&what))))
        }
        (Standing::NeedsYou, Some(banner), _) => {
            let asks = |side: &SideView| matches!(side.state, SessionState::NeedsYou(Need::NeedsApproval));
            let reason = if asks(&run.implementer) || asks(&run.reviewer) { "approval" } else { "held" };
            Some((Call::Asks(banner.headline.clone()), news(reason, needs(&banner.headline))))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "news_tests.rs"]
mod tests;
