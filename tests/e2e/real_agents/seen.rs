//! What can be read of a rig: the prompts that reached the models, the agents' transcripts, trellis's records.

use std::path::PathBuf;

use serde_json::Value;
use trellis::model::ids::{Agent, SessionKey};

use super::rig::Rig;

/// A prompt that reached a model for the first time.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which side's model.
    pub side: String,
    pub prompt: String,
}

impl Rig {
    /// The prompts that reached the models, each once, in order.
    pub fn prompts(&self) -> Vec<Asked> {
        self.log().iter().filter(|line| line["fresh"] == true).map(asked).collect()
    }

    /// How many prompts of a side hold these words.
    pub fn count(&self, side: &str, words: &str) -> usize {
        self.prompts().iter().filter(|asked| asked.side == side && asked.prompt.contains(words)).count()
    }

    /// The lines of the models' log.
    pub fn log(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The transcript of a session, empty without one.
    pub fn transcript(&self, session: &SessionKey) -> String {
        let path = self.transcript_path(session);
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    }

    /// Where it is.
    pub fn transcript_path(&self, session: &SessionKey) -> Option<PathBuf> {
        let root = match session.agent {
            Agent::Claude => self.path("home/.claude/projects"),
            Agent::Codex => self.path("home/.codex/sessions"),
        };
        let name = format!("{}.jsonl", session.session_id);
        let mut folders = vec![root];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.to_string_lossy().ends_with(&name) {
                    return Some(path);
                }
            }
        }
        None
    }

    /// All records of trellis's home: runs first.
    pub fn records(&self) -> Vec<Value> {
        let mut records = Vec::new();
        for folder in ["checklist-runs", "pairs"] {
            for file in std::fs::read_dir(self.home().join(folder)).into_iter().flatten().flatten() {
                let is_record = file.path().extension().is_some_and(|end| end == "json");
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                records.extend(serde_json::from_slice::<Value>(&bytes).ok().filter(|_| is_record));
            }
        }
        records
    }

    /// The newest run.
    pub fn run(&self) -> Value {
        let runs = self.records().into_iter().filter(|record| record["phases"].is_array());
        runs.max_by_key(|run| run["created_at"].as_str().unwrap_or_default().to_owned()).unwrap_or_default()
    }

    /// Why a record is paused, if one is.
    pub fn paused(&self) -> Option<String> {
        let paused = self.records().into_iter().find(|record| record["state"] == "paused")?;
        Some(paused["paused_reason"].as_str().unwrap_or_default().to_owned())
    }

    /// Every outbox entry of every record.
    pub fn entries(&self) -> Vec<Value> {
        self.records().iter().flat_map(|record| record["outbox"].as_array().cloned().unwrap_or_default()).collect()
    }
}

fn asked(line: &Value) -> Asked {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    Asked { side: text("side"), prompt: text("prompt") }
}
