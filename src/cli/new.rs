//! `trellis session new`: an agent is started in a tmux window, or without one. What can be started is the driver's word;
//! this orders, and tells how far it came.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::drive::tell_problems;
use super::order::asked;
use super::start::refused;
use super::{AgentArg, Failure, Named, WayArg, out};

use crate::boot::{Engine, Ground, How};
use crate::call::{self, CallError};
use crate::model::command::{Command, Reply};
use crate::model::launch::NewSession;
use crate::model::reach::Transport;
use crate::model::tempo::Tempo;
use crate::paths::Home;
use crate::projection::{LaunchStage, LaunchView, Projection};

/// How long an agent may take to come up. It is not ended after that: it only is not waited for.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long one that is up may take to name its session without a message: Codex opens its thread a moment after its box.
const NAMED_WITHIN: Duration = Duration::from_secs(5);

/// `trellis session new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// Which program.
    #[arg(long, value_enum)]
    pub agent: AgentArg,
    /// The folder it works in [default: this one].
    #[arg(long, value_name = "DIR")]
    pub worktree: Option<PathBuf>,
    /// In a window of its own, or run by trellis for each message.
    #[arg(long, value_enum, default_value = "tmux")]
    pub transport: WayArg,
    /// What it may do unasked. claude: manual, acceptEdits, auto, plan, dontAsk, bypassPermissions; codex: read-only,
    /// workspace-write, workspace-write/never, danger-full-access, danger-full-access/never [default: what its own
    /// settings say].
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<String>,
    /// Its model [default: what its own settings say].
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Your first message; `-` reads standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,
    /// A name in trellis.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// As JSON: id, kind, note, how far it came, and where.
    #[arg(long)]
    pub json: bool,
}

/// Starts a session and says how far it came: up, waiting for a person, or not to be started.
///
/// # Errors
/// Refused, or the agent ended at once.
pub fn new(place: &Named<'_>, args: NewArgs) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    tell_problems(&ground);
    let (is_named, json) = (args.prompt.is_some(), args.json);
    let order = order(&ground, args)?;
    // Whoever drives starts it; how far it came is seen there.
    match asked(&ground, &Command::StartSession(order.clone())) {
        Ok(Reply::Done { note, .. }) => {
            out::note(&note);
            return come_up_there(&ground.home, &note, is_named, json);
        }
        Ok(Reply::Refused(refusal)) => return Err(refused(&refusal)),
        Err(CallError::Nobody) => ground.refuse_if_driven()?,
        Err(error) => return Err(Failure::refused(error.to_string())),
    }
    let engine = Engine::start(ground, How::RecordOnly, Tempo::REAL)?;
    let outcome = engine.block_on(async {
        match engine.handle.send(Command::StartSession(order)).await {
            Reply::Done { note, .. } => out::note(&note),
            Reply::Refused(refusal) => return Err(refused(&refusal)),
        }
        come_up(&engine, is_named, json).await
    });
    engine.finish().and(outcome)
}

fn order(ground: &Ground, args: NewArgs) -> Result<NewSession, Failure> {
    let here = ground.environment.current_dir.as_deref().unwrap_or_else(|| Path::new("/"));
    let named = args.worktree.as_deref().unwrap_or_else(|| Path::new("."));
    let folder = ground.environment.absolute(here, named);
    let real = fs::canonicalize(&folder).ok().filter(|folder| folder.is_dir());
    let real =
        real.ok_or_else(|| Failure::refused(format!("worktree: the folder {} is not there", folder.display())))?;
    let worktree = real.to_str().ok_or_else(|| Failure::refused("worktree: its name is not UTF-8"))?.to_owned();
    let prompt = match args.prompt {
        Some(text) if text == "-" => {
            let mut text = String::new();
            let read = std::io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Failure::refused(format!("can't read the first message: {error}")))?;
            Some(text.trim_end().to_owned())
        }
        prompt => prompt,
    };
    Ok(NewSession {
        agent: args.agent.into(),
        worktree,
        transport: match args.transport {
            WayArg::Tmux => Transport::Tmux,
            WayArg::Headless => Transport::Headless,
        },
        permission_mode: args.permission_mode,
        model: args.model,
        prompt,
        name: args.name,
    })
}

/// Waits until the agent is up, asks something, or has ended; then says so with its session.
async fn come_up(engine: &Engine, is_named: bool, json: bool) -> Result<(), Failure> {
    stage(engine, PATIENCE, |stage| is_told(stage, is_named)).await?;
    stage(engine, NAMED_WITHIN, |stage| stage != LaunchStage::Unnamed).await?;
    match engine.handle.projection().launches.last().cloned() {
        Some(launch) => told(&launch, json),
        None => Err(Failure::internal("the start was forgotten")),
    }
}

/// The same where another process drives: what it shows of the start is followed.
fn come_up_there(home: &Home, note: &str, is_named: bool, json: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::internal(format!("can't start the runtime: {error}")))?;
    let mut seen: Option<LaunchView> = None;
    runtime.block_on(async {
        stage_there(home, note, &mut seen, PATIENCE, |stage| is_told(stage, is_named)).await;
        stage_there(home, note, &mut seen, NAMED_WITHIN, |stage| stage != LaunchStage::Unnamed).await;
    });
    match seen {
        Some(launch) => told(&launch, json),
        // It drives no more, or is of another version: what it answered is all that is known.
        None => Ok(()),
    }
}

/// Follows one start there for so long, until it has come to such a stage.
async fn stage_there(
    home: &Home,
    note: &str,
    seen: &mut Option<LaunchView>,
    patience: Duration,
    is_wanted: impl Fn(LaunchStage) -> bool,
) {
    let follows = call::projections(home, |shown: Projection| {
        let newest_first = || shown.launches.iter().rev();
        let launch = match &*seen {
            Some(known) => newest_first().find(|launch| launch.asked == known.asked),
            // The answer is what was said of the start last, unless it has come further since.
            None => newest_first().find(|launch| launch.words == note).or_else(|| newest_first().next()),
        };
        if launch.is_some() {
            *seen = launch.cloned();
        }
        !launch.is_some_and(|launch| is_wanted(launch.stage))
    });
    let _ = tokio::time::timeout(patience, follows).await;
}

/// Nothing more is to be waited for, but perhaps its name.
const fn is_told(stage: LaunchStage, is_named: bool) -> bool {
    match stage {
        LaunchStage::Starting => false,
        LaunchStage::Unnamed => !is_named,
        LaunchStage::Waits | LaunchStage::Up | LaunchStage::Ended => true,
    }
}

fn told(launch: &LaunchView, json: bool) -> Result<(), Failure> {
    match launch.stage {
        LaunchStage::Ended => Err(Failure::refused(launch.words.clone())),
        stage if json => out::json(&json!({
            "id": launch.session.to_string(), "kind": "session", "note": launch.words, "stage": stage, "place": launch.place,
        })),
        _ => out::line(&out::plain(&words(launch))),
    }
}

/// Waits for so long until the start has come to such a stage.
async fn stage(engine: &Engine, patience: Duration, is_wanted: impl Fn(LaunchStage) -> bool) -> Result<(), Failure> {
    let mut projections = engine.handle.projections();
    let wanted = |projection: &Projection| projection.launches.last().is_some_and(|launch| is_wanted(launch.stage));
    let waited = tokio::time::timeout(patience, projections.wait_for(|projection| wanted(projection))).await;
    match waited {
        Ok(Err(_)) => Err(Failure::refused("told to end; the agent goes on without being watched")),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

fn words(launch: &LaunchView) -> String {
    let said = match launch.stage {
        LaunchStage::Starting => format!("{}, and has not come up yet", launch.words),
        _ => launch.words.clone(),
    };
    format!("{}  {said}", launch.session)
}
