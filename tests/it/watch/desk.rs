//! A home with both roots, watched, and what the agents would write into it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tokio::sync::mpsc::Receiver;

use trellis::driver::ports::{FoundSession, Transcripts};
use trellis::machine::TranscriptFact;
use trellis::model::conversation::Conversation;
use trellis::model::ids::{Agent, SessionId, SessionKey, SessionRef};
use trellis::supervise::Supervisor;
use trellis::transcript::Reader;
use trellis::watch::{self, Roots, Watch};

const PATIENCE: Duration = Duration::from_secs(20);
pub const ID: &str = "00000000-0000-4000-8000-000000000501";

/// A home with both roots, watched.
pub struct Desk {
    pub home: TempDir,
    pub watch: Watch,
    pub woken: Receiver<()>,
    pub runtime: tokio::runtime::Runtime,
    pub now: Timestamp,
}

impl Desk {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("projects")).unwrap();
        fs::create_dir_all(home.path().join("sessions")).unwrap();
        Self::at(home)
    }

    pub fn at(home: TempDir) -> Self {
        let roots = Roots {
            claude_projects: home.path().join("projects"),
            codex_sessions: home.path().join("sessions"),
            signs: Vec::new(),
        };
        let (watch, woken) = watch::start(&roots, &Supervisor::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { home, watch, woken, runtime, now: Timestamp::now() }
    }

    pub fn claude(&self, folder: &str, id: &str) -> PathBuf {
        self.home.path().join("projects").join(folder).join(format!("{id}.jsonl"))
    }

    pub fn codex(&self, day: &str, id: &str) -> PathBuf {
        self.home.path().join("sessions").join(day).join(format!("rollout-2026-11-30T09-51-43-{id}.jsonl"))
    }

    pub fn read(&mut self, agent: Agent, id: &str) -> (TranscriptFact, Option<Arc<Conversation>>) {
        self.now += SignedDuration::from_secs(1);
        let read = self.watch.read(&session(agent, id), self.now);
        (read.fact, read.conversation)
    }

    /// What was read of a transcript that is there.
    pub fn present(&mut self, agent: Agent, id: &str) -> Arc<Conversation> {
        let (fact, conversation) = self.read(agent, id);
        let TranscriptFact::Present(mark) = fact else { panic!("not present: {fact:?}") };
        let conversation = conversation.unwrap();
        assert_eq!(mark.length, conversation.length);
        assert_eq!(mark.last_record_id.as_ref(), conversation.last_record.as_ref().map(|record| &record.id));
        conversation
    }

    /// Waits for wake-ups until `look` finds what it looks for.
    pub fn until<T>(&mut self, what: &str, mut look: impl FnMut(&mut Watch) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(&mut self.watch) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let woken = self.runtime.block_on(async { tokio::time::timeout(left, self.woken.recv()).await });
            assert!(matches!(woken, Ok(Some(()))), "no wake-up brought: {what}");
        }
    }

    pub fn until_changed(&mut self, agent: Agent, id: &str) {
        let key = key(agent, id);
        let what = format!("a change of {key}");
        self.until(&what, |watch| watch.changed().contains(&key).then_some(()));
    }

    /// Takes everything heard so far.
    pub fn drain(&mut self) {
        self.watch.changed();
    }

    pub fn listed(&mut self) -> Vec<FoundSession> {
        self.watch.sessions()
    }
}

pub fn key(agent: Agent, id: &str) -> SessionKey {
    SessionKey { agent, session_id: SessionId::new(id) }
}

pub fn session(agent: Agent, id: &str) -> SessionRef {
    SessionRef { agent, worktree: "/home/dev/project".into(), session_id: SessionId::new(id) }
}

pub fn put(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// As the agents do it: open, write, close.
pub fn append(path: &Path, text: impl AsRef<[u8]>) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_ref()).unwrap();
}

pub fn replace(path: &Path, text: impl AsRef<[u8]>) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, path).unwrap();
}

pub fn prompt(id: &str, cwd: &str, n: usize, text: &str) -> String {
    let record = serde_json::json!({
        "parentUuid": null, "isSidechain": false, "type": "user",
        "message": { "role": "user", "content": text },
        "uuid": format!("u-{n}"), "timestamp": "2026-11-30T09:54:26.391Z",
        "origin": { "kind": "human" }, "promptSource": "typed",
        "cwd": cwd, "sessionId": id, "version": "2.1.332", "gitBranch": "main",
    });
    format!("{record}\n")
}

pub fn answer(id: &str, n: usize, text: &str) -> String {
    let record = serde_json::json!({
        "isSidechain": false, "type": "assistant",
        "message": {
            "id": format!("msg-{n}"), "role": "assistant", "model": "m",
            "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
        },
        "uuid": format!("a-{n}"), "timestamp": "2026-11-30T09:54:27.391Z",
        "sessionId": id, "version": "2.1.332",
    });
    let end = serde_json::json!({
        "type": "system", "subtype": "turn_duration", "durationMs": 5, "isSidechain": false,
        "uuid": format!("e-{n}"), "timestamp": "2026-11-30T09:54:27.392Z", "sessionId": id,
    });
    format!("{record}\n{end}\n")
}

pub fn talk(id: &str, turns: usize) -> String {
    (0..turns).map(|n| prompt(id, "/home/dev/project", n, "go on") + &answer(id, n, "done")).collect()
}

pub fn rollout(id: &str, cwd: &str, source: &str, bulk: usize) -> String {
    let meta = serde_json::json!({
        "timestamp": "2026-11-30T09:51:43.689Z", "ordinal": 0, "type": "session_meta",
        "payload": {
            "base_instructions": { "text": "x".repeat(bulk) }, "session_id": id, "id": id, "cwd": cwd,
            "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli", "thread_source": source,
            "git": { "branch": "main" },
        },
    });
    let started = serde_json::json!({
        "timestamp": "2026-11-30T09:51:43.690Z", "ordinal": 1, "type": "event_msg",
        "payload": { "type": "task_started", "turn_id": "t-1" },
    });
    format!("{meta}\n{started}\n")
}

pub fn at_once(agent: Agent, text: &[u8]) -> Arc<Conversation> {
    let mut reader = Reader::new(agent);
    reader.push(text);
    reader.conversation()
}
