//! `trellis pair`: pairs without a run, made, listed and shown; their controls are `order`'s.

use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::order::{self, Order};
use super::show::home_is_there;
use super::start::{configured, known, side, whole};
use super::{Failure, Named, out, session, setting};
use crate::boot::Ground;
use crate::model::command::{Command, NewPair};
use crate::model::config::PairConfig;
use crate::model::ids::SessionKey;
use crate::model::pair::{Kickoff, PairRecord, PairState, PairStep, PairStop};
use crate::projection::words;

/// `trellis pair`.
#[derive(Debug, Subcommand)]
pub enum PairCommand {
    /// Start a pair between two sessions.
    Start(PairArgs),
    /// Name the pairs that go on, newest first.
    List {
        /// Stopped ones too.
        #[arg(long)]
        all: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say how a pair stands.
    Show {
        /// Its id, or as much of its beginning as is needed.
        id: String,
        /// The record as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Controls.
    #[command(flatten)]
    Order(Order),
}

/// `trellis pair start`.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// The side that builds: `claude:SESSION` or `codex:SESSION`, the id or its beginning.
    #[arg(long, value_name = "AGENT:SESSION", value_parser = session)]
    pub implementer: SessionKey,
    /// The side that reviews.
    #[arg(long, value_name = "AGENT:SESSION", value_parser = session)]
    pub reviewer: SessionKey,
    /// A setting by its name in the record, as often as needed.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, Value)>,
    /// Which answer goes out first [default: the newest, if the implementer is ready and it was not relayed before; else
    /// the next].
    #[arg(long, value_enum)]
    pub kickoff: Option<KickoffArg>,
    /// The answer as JSON: id, kind and note.
    #[arg(long)]
    pub json: bool,
}

/// Values of `--kickoff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KickoffArg {
    /// The implementer's newest answer.
    Current,
    /// Its next one.
    Next,
}

/// Carries a command about pairs out.
///
/// # Errors
/// There is no such pair, or it was refused.
pub fn pair(place: &Named<'_>, command: PairCommand) -> Result<(), Failure> {
    match command {
        PairCommand::Start(args) => start(place, &args),
        PairCommand::List { all, json } => list(place.home, all, json),
        PairCommand::Show { id, json } => show(place.home, &id, json),
        PairCommand::Order(order) => order::pair(place, order),
    }
}

fn start(place: &Named<'_>, args: &PairArgs) -> Result<(), Failure> {
    let config: PairConfig = configured(&args.settings)?;
    let ground = Ground::of(place)?;
    let live = ground.live_sessions();
    let known = known(&ground, &live);
    let order = NewPair {
        implementer: side(&ground, &live, &whole(&args.implementer, &known)?)?,
        reviewer: side(&ground, &live, &whole(&args.reviewer, &known)?)?,
        kickoff: args.kickoff.map(|kickoff| match kickoff {
            KickoffArg::Current => Kickoff::UseCurrent,
            KickoffArg::Next => Kickoff::WaitForNext,
        }),
        config,
    };
    let done = order::carry_out(ground, &Command::CreatePair(order), None)?;
    let Some(pair) = done.record else { return Err(Failure::internal("the pair was made and not named")) };
    if args.json {
        return out::json(&json!({"id": pair.as_str(), "kind": "pair", "note": done.note}));
    }
    out::line(&out::plain(&format!("{pair} is recorded: {}", done.note)))
}

fn list(home: Option<&Path>, all: bool, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let _ = home_is_there(&ground);
    let loaded = ground.records();
    let mut pairs: Vec<&PairRecord> = loaded.pairs.iter().filter(|pair| all || pair.is_active()).collect();
    pairs.sort_by(|a, b| (b.created_at, b.id.as_str()).cmp(&(a.created_at, a.id.as_str())));
    if json {
        return out::json(&pairs.into_iter().map(row).collect::<Vec<_>>());
    }
    if pairs.is_empty() {
        return out::line("no pair goes on; trellis pair start begins one");
    }
    let width = pairs.iter().map(|pair| pair.id.as_str().len()).max().unwrap_or(0);
    for pair in pairs {
        let relays = words::count(pair.round_count, "relay");
        let whose = if pair.owner.is_empty() { "" } else { "  of a run" };
        out::line(&out::plain(&format!("{:width$}  {:<28}  {relays}{whose}", pair.id.as_str(), state(pair))))?;
    }
    Ok(())
}

fn row(pair: &PairRecord) -> Value {
    json!({
        "id": pair.id, "revision": pair.revision, "owner": pair.owner, "state": pair.state, "step": pair.step, "paused_reason": pair.paused_reason,
        "stop_reason": pair.stop_reason, "round_count": pair.round_count, "created_at": pair.created_at,
        "stopped_at": pair.stopped_at, "implementer": pair.implementer, "reviewer": pair.reviewer,
    })
}

fn show(home: Option<&Path>, id: &str, json: bool) -> Result<(), Failure> {
    let loaded = Ground::find(home)?.records();
    let pair = order::find_pair(&loaded, id)?;
    if json {
        return out::json(pair);
    }
    let mut lines = vec![format!("{}  {}", pair.id, state(pair))];
    if !pair.paused_detail.is_empty() && pair.is_active() {
        lines.push(pair.paused_detail.clone());
    }
    for (side, does) in [(&pair.implementer, "builds"), (&pair.reviewer, "reviews")] {
        lines.push(format!("{:<6} {does:<7}  {}   {}", side.agent.as_str(), side.session_id, side.worktree));
    }
    lines.push(format!("{} of {}", words::count(pair.round_count, "relay"), pair.config.max_rounds));
    lines.into_iter().try_for_each(|line| out::line(&out::plain(&line)))
}

fn state(pair: &PairRecord) -> String {
    match (pair.state, pair.paused_reason, pair.step) {
        (PairState::Stopped, ..) => {
            let reason = pair.stop_reason.map_or("unknown", PairStop::as_str);
            format!("stopped: {reason}")
        }
        (_, Some(reason), _) => format!("paused: {}", words::pause(reason)),
        (PairState::Paused, None, _) => "paused".to_owned(),
        (_, None, Some(PairStep::AwaitReviewer)) => "waits for the reviewer".to_owned(),
        (_, None, Some(PairStep::ConfirmRelay)) => "a relay waits for your look".to_owned(),
        (_, None, Some(PairStep::AwaitImplementer) | None) => "waits for the implementer".to_owned(),
    }
}
