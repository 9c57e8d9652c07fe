//! What the real programs wrote (trimmed), and what it says. Each file is one state of one session.

use std::fs;
use std::path::{Path, PathBuf};

use trellis::model::ids::Agent;
use trellis::transcript::{Reader, read_all};

use super::render;

fn folder(agent: Agent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts").join(agent.as_str())
}

/// Name and bytes of every sample of an agent.
pub(super) fn samples(agent: Agent) -> Vec<(String, Vec<u8>)> {
    let mut samples: Vec<(String, Vec<u8>)> = fs::read_dir(folder(agent))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    samples.sort();
    samples
}

/// The bytes of one sample.
pub(super) fn sample(agent: Agent, name: &str) -> Vec<u8> {
    fs::read(folder(agent).join(format!("{name}.jsonl"))).unwrap()
}

fn pin(agent: Agent) {
    let samples = samples(agent);
    assert!(samples.len() > 20, "the samples are missing");
    for (name, bytes) in samples {
        let told = read_all(agent, &bytes);
        assert_eq!(told.length, bytes.len() as u64, "{name} is read to its end");
        assert!(told.unknown.is_empty(), "{name}: {:?}", told.unknown);
        assert_eq!(told.damaged, 0, "{name}");
        insta::assert_snapshot!(format!("{agent}-{name}"), render(&told));
    }
}

#[test]
fn every_claude_sample_says_what_it_shows() {
    pin(Agent::Claude);
}

#[test]
fn every_codex_sample_says_what_it_shows() {
    pin(Agent::Codex);
}

#[test]
fn samples_read_byte_by_byte_say_the_same() {
    for agent in [Agent::Claude, Agent::Codex] {
        for (name, bytes) in samples(agent) {
            let mut reader = Reader::new(agent);
            for chunk in bytes.chunks(7) {
                reader.push(chunk);
            }
            assert_eq!(*reader.conversation(), read_all(agent, &bytes), "{name}");
        }
    }
}
