//! How long a relay takes, and how much of that is trellis: from the end of the answer that is carried to the prompt's
//! record in the target's transcript. Times are those of the agents' own records and of trellis's.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use trellis::model::ids::Agent;

use super::rig::Rig;

/// The parts of one relay, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    /// From the end of the carried turn to our last key or queue command: trellis's own time.
    pub own: i64,
    /// Of that, until the message was prepared.
    pub noticed: i64,
    /// From the last key to the prompt's record: the agent's time.
    pub agent: i64,
    /// From the prompt's record until the delivery is saved: trellis's again, behind the arrival.
    pub proven: i64,
}

/// The relays of a rig's pairs.
pub fn relays(rig: &Rig) -> Vec<Relay> {
    let ends = [turn_ends(rig, 0), turn_ends(rig, 1)];
    let prompts = [prompt_times(rig, 0), prompt_times(rig, 1)];
    let mut relays = Vec::new();
    let begun = rig.run()["created_at"].as_str().and_then(|text| text.parse::<Timestamp>().ok()).unwrap_or_default();
    for entry in rig.entries() {
        let target = usize::from(entry["target"] == "reviewer");
        let time = |name: &str| entry[name].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let (Some(prepared), Some(key), Some(delivered)) =
            (time("prepared_at"), time("last_key_at"), time("delivered_at"))
        else {
            continue;
        };
        // The newest end of a turn of the other side before the message was prepared, or of its own side for a phase prompt.
        let source = if entry["purpose"] == "advance" { 1 } else { 1 - target };
        // The first phase prompt follows no answer, but the start.
        let Some(ended) = ends[source].iter().filter(|end| (begun..=prepared).contains(*end)).max() else { continue };
        let Some(arrived) = entry["delivered_turn_id"].as_str().and_then(|turn| prompts[target].get(turn)) else {
            continue;
        };
        let between =
            |from: Timestamp, to: Timestamp| to.duration_since(from).as_millis().try_into().unwrap_or(i64::MAX);
        relays.push(Relay {
            own: between(*ended, key),
            noticed: between(*ended, prepared),
            agent: between(key, *arrived),
            proven: between(*arrived, delivered),
        });
    }
    relays
}

/// One line of figures: the middle and the worst.
pub fn line(name: &str, relays: &[Relay]) -> String {
    let figure = |part: fn(&Relay) -> i64| {
        let mut all: Vec<i64> = relays.iter().map(part).collect();
        all.sort_unstable();
        format!("{} / {}", all.get(all.len() / 2).copied().unwrap_or(0), all.last().copied().unwrap_or(0))
    };
    format!(
        "{name}: {} relays, p50 / max in ms: own {}, of that until prepared {}; the agent's {}; proven {}",
        relays.len(),
        figure(|relay| relay.own),
        figure(|relay| relay.noticed),
        figure(|relay| relay.agent),
        figure(|relay| relay.proven)
    )
}

fn records(rig: &Rig, side: usize) -> (Agent, Vec<Value>) {
    let session = if side == 0 { rig.implementer() } else { rig.reviewer() };
    let text = rig.transcript(session);
    (session.agent, text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn time_of(record: &Value) -> Option<Timestamp> {
    record["timestamp"].as_str()?.parse().ok()
}

/// When each turn of a side ended.
fn turn_ends(rig: &Rig, side: usize) -> Vec<Timestamp> {
    let (agent, records) = records(rig, side);
    let is_end = |record: &&Value| match agent {
        Agent::Claude => record["subtype"] == "turn_duration",
        Agent::Codex => record["payload"]["type"] == "task_complete",
    };
    records.iter().filter(is_end).filter_map(time_of).collect()
}

/// When the prompt of each turn of a side was recorded.
fn prompt_times(rig: &Rig, side: usize) -> BTreeMap<String, Timestamp> {
    let (agent, records) = records(rig, side);
    let mut times = BTreeMap::new();
    let mut turn = String::new();
    for record in &records {
        let Some(at) = time_of(record) else { continue };
        let payload = &record["payload"];
        match agent {
            Agent::Claude if record["type"] == "user" => {
                times.insert(record["uuid"].as_str().unwrap_or_default().to_owned(), at);
            }
            Agent::Codex if payload["type"] == "task_started" => {
                payload["turn_id"].as_str().unwrap_or_default().clone_into(&mut turn);
            }
            Agent::Codex if payload["item"]["type"] == "UserMessage" => {
                times.entry(turn.clone()).or_insert(at);
            }
            Agent::Claude | Agent::Codex => {}
        }
    }
    times
}
