//! The transcript readers: what the samples of the real programs say, and what hostile bytes may not do.
//! Finding and watching files is tested in `files`.

mod bytes;
mod claude;
mod codex;
mod fixtures;
mod probes;
mod properties;

use std::fmt::Write as _;

use trellis::model::conversation::{Conversation, Item, ItemKind, Outcome, Turn};
use trellis::model::ids::Agent;
use trellis::transcript::read_all;

/// The conversation of these lines.
fn read(agent: Agent, lines: &[&str]) -> Conversation {
    read_all(agent, format!("{}\n", lines.join("\n")).as_bytes())
}

/// The conversation in one line a turn, for snapshots.
fn render(told: &Conversation) -> String {
    let mut out = String::new();
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let session = told.session_id.as_ref().map_or("-", |id| id.as_str());
    let (cwd, branch) = (or_none(&told.cwd), or_none(&told.branch));
    writeln!(out, "{session} in {cwd} on {branch}, version {}", or_none(&told.cli_version)).unwrap();
    writeln!(out, "title: {}", or_none(&told.title)).unwrap();
    for turn in &told.turns {
        render_turn(&mut out, turn);
    }
    for queued in &told.queued {
        writeln!(out, "queued: {}", queued.text).unwrap();
    }
    writeln!(out, "background {} · question {}", told.background_agents, or_none(&told.question)).unwrap();
    let spoken = told.last_spoken_at.map_or("-".to_owned(), |at| at.to_string());
    let record = told.last_record.as_ref().map_or("-", |pos| pos.id.as_str());
    writeln!(out, "spoken {spoken} · last record {record} · unknown {:?} · damaged {}", told.unknown, told.damaged)
        .unwrap();
    out
}

fn render_turn(out: &mut String, turn: &Turn) {
    let ended = turn.ended_at.map_or("-".to_owned(), |at| at.to_string());
    writeln!(out, "\nturn {} · {:?} · {}", turn.id, turn.prompt.source, state(turn)).unwrap();
    let text = &turn.prompt.text;
    writeln!(out, "  > {:?} ({} chars)", text.trim().lines().next().unwrap_or_default(), text.chars().count()).unwrap();
    for item in &turn.items {
        writeln!(out, "  {}", render_item(item)).unwrap();
    }
    match &turn.answer {
        Some(answer) => writeln!(out, "  = {} {:?}", answer.message_id, answer.text).unwrap(),
        None => writeln!(out, "  = no answer").unwrap(),
    }
    writeln!(out, "  ended {ended} · last {} · edited {}", turn.last_record.id, turn.edited_files).unwrap();
}

fn state(turn: &Turn) -> String {
    match &turn.outcome {
        None => "open".to_owned(),
        Some(Outcome::Failed(failure)) => {
            let resets = failure.resets_at.map(|at| format!(" resets {at}")).unwrap_or_default();
            format!("failed {:?}{resets}: {}", failure.class, failure.text)
        }
        Some(other) => format!("{other:?}").to_lowercase(),
    }
}

fn render_item(item: &Item) -> String {
    match &item.kind {
        ItemKind::Text { text, .. } => format!("text {text:?}"),
        ItemKind::Thinking { text } => format!("thinking {text:?}"),
        ItemKind::Tool { name, summary, lines, ok, .. } => {
            let lines = lines.map(|(added, removed)| format!(" +{added} -{removed}")).unwrap_or_default();
            format!("tool {name} {summary:?} {ok:?}{lines}")
        }
        ItemKind::Report { text } => format!("report {:?}", text.lines().last().unwrap_or_default()),
        ItemKind::Compaction => "compaction".to_owned(),
        ItemKind::Notice { text } => format!("notice {text:?}"),
    }
}
