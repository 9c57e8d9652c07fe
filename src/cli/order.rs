//! `trellis run|pair …` with a control, and orders about sessions: given to the driver over its socket, or, where nobody
//! drives, carried out here once under the home's lock. What an order does is the machines'.

use std::io::Read as _;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::drive::tell_problems;
use super::start::{refused, typed};
use super::{Failure, Named, out, setting, show};
use crate::boot::{Engine, Ground, How};
use crate::call::{self, CallError};
use crate::driver::ports::Loaded;
use crate::model::command::{Command, Confirm, Control, Reply};
use crate::model::config::{PairConfig, RunConfig};
use crate::model::ids::{RecordKey, Role};
use crate::model::pair::PairRecord;
use crate::model::tempo::Tempo;

/// Who changed settings, as the record tells it.
const BY: &str = "command";

/// Which one, and how its answer is told.
#[derive(Debug, Args)]
pub struct Of {
    /// Its id, or as much of its beginning as is needed; of a run its name as well.
    pub id: String,
    /// Only if its revision is still this one, as `view.revision` of the socket, and `status` and `run list` with --json say it.
    #[arg(long, value_name = "N")]
    pub expect: Option<u64>,
    /// The answer as JSON: id, kind and note.
    #[arg(long)]
    pub json: bool,
}

/// Controls that runs and pairs have.
#[derive(Debug, Subcommand)]
pub enum Order {
    /// Hold it: nothing new is typed until it goes on.
    Pause(Of),
    /// Go on.
    Resume(Of),
    /// End it.
    Stop(Of),
    /// Review the newest answer again, counting from 0.
    Retry(Of),
    /// Agree without the reviewer's word.
    Accept(Of),
    /// Relays more than its cap.
    More {
        /// Which.
        #[command(flatten)]
        of: Of,
        /// How many.
        #[arg(long, default_value_t = 5)]
        n: u32,
        /// Tell the reviewer to name blockers only.
        #[arg(long)]
        blockers_only: bool,
    },
    /// Relay the near miss as feedback.
    AsFeedback(Of),
    /// Write to a side.
    Write {
        /// Which.
        #[command(flatten)]
        of: Of,
        /// The side.
        #[arg(long, value_enum)]
        to: SideArg,
        /// The message; `-` reads standard input.
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// The loop goes on after it.
        #[arg(long)]
        go_on: bool,
    },
    /// Follow the session that replaced one.
    Follow(Of),
    /// Resume the agents that are gone.
    BringBack(Of),
    /// Look for the evidence of a delivery again.
    CheckDelivery(Of),
    /// Send the message again: you vouch that nothing of it is on its way.
    SendAgain(Of),
    /// Drop the message that did not go out.
    Drop(Of),
    /// Put the message on the clipboard: you paste it, its transcript proves it.
    ByHand(Of),
    /// Wait no longer for background agents or a quiet time.
    ForceRelay(Of),
    /// Answer to a relay that waits for your look.
    Confirm {
        /// Which.
        #[command(flatten)]
        of: Of,
        /// What becomes of it.
        #[arg(value_enum)]
        action: ConfirmArg,
        /// Send this instead; `-` reads standard input.
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: Option<String>,
    },
    /// Change settings.
    Edit {
        /// Which.
        #[command(flatten)]
        of: Of,
        /// A setting by its name in the record, as often as needed.
        #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting, required = true)]
        settings: Vec<(String, Value)>,
    },
    /// Remove a stopped one and its texts.
    Delete(Of),
}

/// Controls that only runs have.
#[derive(Debug, Subcommand)]
pub enum RunOrder {
    /// Those of pairs too.
    #[command(flatten)]
    Both(Order),
    /// Leave this phase out.
    Skip(Of),
    /// Send the phase prompt now.
    Ask(Of),
    /// Set its name.
    Rename {
        /// Which.
        #[command(flatten)]
        of: Of,
        /// The new one.
        name: String,
    },
    /// A new run with the same sides and settings, numbered on.
    RunOn(Of),
}

/// Sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SideArg {
    /// The one that builds.
    Implementer,
    /// The one that reviews.
    Reviewer,
}

/// Answers to a relay that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConfirmArg {
    /// Send it.
    Send,
    /// Drop it; its answer is not offered again.
    Drop,
    /// End the pair.
    Stop,
}

/// Gives an order about a run.
///
/// # Errors
/// There is no such run, it was refused, or nobody can carry it out.
pub fn run(place: &Named<'_>, order: RunOrder) -> Result<(), Failure> {
    let (of, control) = match order {
        RunOrder::Both(order) => control(order, &defaults(&RunConfig::default()))?,
        RunOrder::Skip(of) => (of, Control::Skip),
        RunOrder::Ask(of) => (of, Control::Ask),
        RunOrder::Rename { of, name } => (of, Control::Rename { name }),
        RunOrder::RunOn(of) => (of, Control::RunOn),
    };
    let ground = Ground::of(place)?;
    let target = RecordKey::Run(show::find(&ground.records(), &of.id)?.id.clone());
    give(ground, &of, target, control)
}

/// Gives an order about a pair.
///
/// # Errors
/// As [`run`].
pub fn pair(place: &Named<'_>, order: Order) -> Result<(), Failure> {
    let (of, control) = control(order, &defaults(&PairConfig::default()))?;
    let ground = Ground::of(place)?;
    let target = RecordKey::Pair(find_pair(&ground.records(), &of.id)?.id.clone());
    give(ground, &of, target, control)
}

/// The pair whose id this is, or begins.
///
/// # Errors
/// None or several.
pub fn find_pair<'a>(loaded: &'a Loaded, id: &str) -> Result<&'a PairRecord, Failure> {
    if let Some(pair) = loaded.pairs.iter().find(|pair| pair.id.as_str() == id) {
        return Ok(pair);
    }
    let begins = |pair: &&PairRecord| !id.is_empty() && pair.id.as_str().starts_with(id);
    match loaded.pairs.iter().filter(begins).collect::<Vec<_>>().as_slice() {
        [pair] => Ok(pair),
        [_, _, ..] => Err(Failure::refused(format!("several pairs begin with {id}; give more of one's id"))),
        [] => Err(match loaded.read_only.iter().find(|other| other.key.as_str() == id) {
            Some(other) => Failure::refused(format!("{id} is shown only: {}", other.sentence())),
            None => Failure::refused(format!("there is no pair {id}; trellis pair list names them")),
        }),
    }
}

fn defaults(config: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn control(order: Order, known: &Map<String, Value>) -> Result<(Of, Control), Failure> {
    Ok(match order {
        Order::Pause(of) => (of, Control::Pause),
        Order::Resume(of) => (of, Control::Resume),
        Order::Stop(of) => (of, Control::Stop),
        Order::Retry(of) => (of, Control::Retry),
        Order::Accept(of) => (of, Control::Accept),
        Order::More { of, n, blockers_only } => (of, Control::More { n, blockers_only }),
        Order::AsFeedback(of) => (of, Control::AsFeedback),
        Order::Write { of, to, text, go_on } => {
            let side = match to {
                SideArg::Implementer => Role::Implementer,
                SideArg::Reviewer => Role::Reviewer,
            };
            (of, Control::Write { side, text: words(text)?, go_on })
        }
        Order::Follow(of) => (of, Control::Follow),
        Order::BringBack(of) => (of, Control::BringBack),
        Order::CheckDelivery(of) => (of, Control::CheckDelivery),
        Order::SendAgain(of) => (of, Control::SendAgain),
        Order::Drop(of) => (of, Control::Drop),
        Order::ByHand(of) => (of, Control::ByHand),
        Order::ForceRelay(of) => (of, Control::ForceRelay),
        Order::Confirm { of, action, text } => {
            let confirm = match (action, text) {
                (ConfirmArg::Send, text) => Confirm::Send { edited_text: text.map(words).transpose()? },
                (ConfirmArg::Drop, None) => Confirm::Drop,
                (ConfirmArg::Stop, None) => Confirm::Stop,
                (_, Some(_)) => return Err(Failure::usage("--text goes with send alone")),
            };
            (of, Control::Confirm(confirm))
        }
        Order::Edit { of, settings } => {
            let as_known = |(name, value): (String, Value)| {
                let value = match known.get(&name) {
                    Some(known) => typed(known, value),
                    None => value,
                };
                (name, value)
            };
            (of, Control::Configure { changes: settings.into_iter().map(as_known).collect(), by: BY.to_owned() })
        }
        Order::Delete(of) => (of, Control::Discard),
    })
}

/// The words themselves, or those of standard input.
///
/// # Errors
/// That cannot be read.
pub fn words(text: String) -> Result<String, Failure> {
    /// A longer message is none.
    const MOST: u64 = 1 << 20;
    if text != "-" {
        return Ok(text);
    }
    let mut read = String::new();
    let got = std::io::stdin().lock().take(MOST).read_to_string(&mut read);
    got.map_err(|error| Failure::refused(format!("can't read standard input: {error}")))?;
    Ok(read)
}

fn give(ground: Ground, of: &Of, target: RecordKey, control: Control) -> Result<(), Failure> {
    let acts = matches!(control, Control::BringBack).then_some("bring-back");
    let command = Command::Control { target: target.clone(), expect: of.expect, control };
    let done = carry_out(ground, &command, acts)?;
    let key = done.record.unwrap_or(target);
    if of.json {
        let kind = if matches!(key, RecordKey::Run(_)) { "run" } else { "pair" };
        return out::json(&json!({"id": key.as_str(), "kind": kind, "note": done.note}));
    }
    out::line(&out::plain(&format!("{key}: {}", done.note)))
}

/// What came of an order.
pub struct Done {
    /// The record that was changed or made.
    pub record: Option<RecordKey>,
    /// What will happen, in a sentence.
    pub note: String,
    /// A driver did it, and goes on with it.
    pub driven: bool,
}

/// Gives an order to whoever drives the home; where nobody does, carries it out here and ends. `acts`: what the order is
/// called, when it does something outside that a process which ends at once cannot see through.
///
/// # Errors
/// It was refused, or nobody can carry it out.
pub fn carry_out(ground: Ground, command: &Command, acts: Option<&str>) -> Result<Done, Failure> {
    let (reply, driven) = match asked(&ground, command) {
        Ok(reply) => (reply, true),
        Err(CallError::Nobody) => {
            ground.refuse_if_driven()?;
            if let Some(word) = acts {
                let start = ground.home.command("drive --background --stay");
                let words = format!("{word} needs a driver, and nobody drives this home: `{start}` starts one");
                return Err(Failure::refused(words));
            }
            tell_problems(&ground);
            let engine = Engine::start(ground, How::RecordOnly, Tempo::REAL)?;
            // An order is judged by what was seen, so everything is looked at first.
            let reply = engine.block_on(async {
                if matches!(command, Command::Control { .. }) {
                    engine.looked().await?;
                }
                Ok::<_, Failure>(engine.handle.send(command.clone()).await)
            });
            engine.finish()?;
            (reply?, false)
        }
        Err(error) => return Err(Failure::refused(error.to_string())),
    };
    match reply {
        Reply::Done { record, note } => Ok(Done { record, note, driven }),
        Reply::Refused(refusal) => Err(refused(&refusal)),
    }
}

/// How long a driver that has no socket yet is waited for: it has just taken the home.
const COMES_UP: Duration = Duration::from_secs(5);
/// Between two tries.
const AGAIN: Duration = Duration::from_millis(50);

/// Asks whoever drives.
///
/// # Errors
/// Nobody does, or it does not answer.
pub fn asked(ground: &Ground, command: &Command) -> Result<Reply, CallError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CallError::Broken(error.to_string()))?;
    runtime.block_on(async {
        let until = tokio::time::Instant::now() + COMES_UP;
        loop {
            match call::order(&ground.home, command).await {
                Err(CallError::Nobody) if ground.refuse_if_driven().is_err() && tokio::time::Instant::now() < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                answered => return answered,
            }
        }
    })
}
