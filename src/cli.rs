//! The command line: what can be said, what it means, and with which code the program ends.
//! One file a group of commands does the work; nothing here opens a home or a terminal.

pub mod background;
pub mod completions;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod drive;
pub mod dump;
pub mod events;
pub mod hook;
pub mod hooks;
pub mod man;
pub mod new;
pub mod notify;
pub mod order;
pub mod pair;
pub mod session;
pub mod show;
pub mod since;
pub mod start;
pub mod status;
pub mod uninstall;
pub mod values;
pub mod verdict;
pub mod verify;
pub mod watch;
pub mod why;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

use crate::boot::Named;
use crate::failure::Failure;
use crate::model::config::FirstPhase;
use crate::model::ids::{Agent, SessionKey};
use crate::model::tempo::Tempo;
use crate::out;
use values::{session, setting, size, socket, tempo};

/// The version, and of what it is built: the commit and its day in a release, nothing more in a debug build.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("TRELLIS_BUILT"));

/// How the command is called that the agents call.
const HOOK: &str = "trellis hook";

/// Carries messages between a coding agent that implements and one that reviews, until the reviewer approves.
#[derive(Debug, Parser)]
#[command(name = "trellis", version = VERSION, disable_help_subcommand = true)]
pub struct Cli {
    /// The folder that holds everything trellis keeps [default: $TRELLIS_HOME, else ~/.trellis; of trellis
    /// demo a folder of its own].
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// The tmux server whose panes are used: the name of a socket, or its path [default: tmux_socket of config.toml, else
    /// the one trellis runs in, else the usual one].
    #[arg(long, global = true, value_name = "NAME|PATH", value_parser = socket)]
    pub tmux_socket: Option<String>,
    /// What to do; the dashboard without one.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the loop with scripted agents: no account is needed, nothing real is touched.
    Demo(DemoArgs),
    /// Start, look at and control checklist runs.
    #[command(subcommand)]
    Run(RunCommand),
    /// Pairs without a run: start, look at and control them.
    #[command(subcommand)]
    Pair(pair::PairCommand),
    /// Look at the agents' sessions, start one, and say something about one.
    #[command(subcommand)]
    Session(SessionCommand),
    /// Drive all runs of the home here, in the foreground.
    Drive(DriveArgs),
    /// Print a sentence for every change, one a line; drives nothing.
    Watch {
        /// One run alone, until it is over: its id, as much of its beginning as is needed, or its name.
        run: Option<String>,
        /// Each as a line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print what happens, an event a line, as JSON.
    Events(events::EventsArgs),
    /// Say how everything stands, from the files alone.
    Status(StatusArgs),
    /// Say what was decided in a run and on what it rests; and what it waits for now, until when, and what ends that.
    Why {
        /// The run's id, as much of its beginning as is needed, or its name.
        run: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Try the ways by which trellis tells you something.
    Notify {
        /// Send one by every way that is configured, and say what came of each.
        #[arg(long, required = true)]
        test: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// The settings of this home.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Let an agent tell trellis at once that it asks for something; trellis works the same without.
    #[command(subcommand)]
    Hooks(hooks::HooksCommand),
    /// What the agents call: takes a hook's JSON on standard input, prints nothing and always ends well.
    #[command(hide = true)]
    Hook {
        /// Which agent calls.
        #[arg(long, value_enum)]
        agent: AgentArg,
    },
    /// Say what the rules for signals make of an answer.
    Verdict(VerdictArgs),
    /// Say what would keep a run from going, and what to do about it; 1 when something would.
    Doctor {
        /// For others to read: without paths, names and texts of this machine.
        #[arg(long)]
        report: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print one frame of a screen as text or as a picture.
    Dump(DumpArgs),
    /// Print what a shell completes commands with.
    Completions {
        /// Whose.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a manual page, for man to show.
    Man {
        /// Which: `trellis`, `trellis-run`, `trellis-run-start`, … [default: trellis].
        #[arg(conflicts_with = "list")]
        page: Option<String>,
        /// Name the pages.
        #[arg(long)]
        list: bool,
        /// Their names as JSON.
        #[arg(long, requires = "list")]
        json: bool,
    },
    /// Name everything that trellis put on this machine: hooks, home, demos; with --yes remove it.
    Uninstall {
        /// Remove it.
        #[arg(long)]
        yes: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

/// `trellis demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Without a dashboard: print events as JSON lines and end with the run.
    #[arg(long)]
    pub headless: bool,
    /// Divide every wait by this, from 0.1 to 100.
    #[arg(long, value_name = "N", default_value = "1", value_parser = tempo)]
    pub speed: Tempo,
    /// Play a script of your own.
    #[arg(long, value_name = "FILE", conflicts_with = "scene")]
    pub script: Option<PathBuf>,
    /// Play one of the scenes that come with the program.
    #[arg(long, value_name = "NAME")]
    pub scene: Option<String>,
    /// Name the scenes.
    #[arg(long, conflicts_with_all = ["headless", "script", "scene"])]
    pub list: bool,
    /// Their names as JSON.
    #[arg(long, requires = "list")]
    pub json: bool,
}

/// `trellis run`.
#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Start a run between two sessions.
    Start(StartArgs),
    /// Name the runs of this home, newest first.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say how a run stands.
    Show {
        /// The run's id, as much of its beginning as is needed, or its name; with `--since` it may be left out: all runs.
        #[arg(required_unless_present = "since")]
        id: Option<String>,
        /// The record as JSON.
        #[arg(long)]
        json: bool,
        /// What happened in it since then, as Markdown: `30m`, `2h`, `1d`, `23:10`, or a time with its date.
        #[arg(long, value_name = "TIME", value_parser = since::past)]
        since: Option<Timestamp>,
    },
    /// Read both transcripts again and prove that each message stands in its target exactly once.
    Verify {
        /// The run's id, as much of its beginning as is needed, or its name.
        id: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Controls.
    #[command(flatten)]
    Order(order::RunOrder),
}

/// `trellis session`.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Start an agent: a new session in a tmux window, or without one.
    New(new::NewArgs),
    /// Name the sessions on this machine: those that live first, then those of the last 7 days.
    List {
        /// As JSON: all of them.
        #[arg(long)]
        json: bool,
    },
    /// Say how one stands.
    Show(session::OfSession),
    /// Choose how a session that is not open is reached: headless (its program is started for each message) or tmux.
    Reach(ReachArgs),
    /// Say something about one.
    #[command(flatten)]
    Order(session::SessionOrder),
}

/// `trellis session reach`.
#[derive(Debug, Args)]
pub struct ReachArgs {
    /// `claude:SESSION` or `codex:SESSION`, the id or its beginning; `trellis session list` names them.
    #[arg(value_name = "AGENT:SESSION", value_parser = session)]
    pub session: SessionKey,
    /// Which way.
    #[arg(value_enum)]
    pub way: WayArg,
    /// Headless: what it may do unasked, as Claude's --permission-mode or Codex's --sandbox names it; empty: its own settings.
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<String>,
    /// Headless: the model, as the agent names it; empty: its own settings.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The answer as JSON: id, kind and note.
    #[arg(long)]
    pub json: bool,
}

/// Ways that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WayArg {
    /// A process for each message.
    Headless,
    /// The pane it is opened in.
    Tmux,
}

/// `trellis run start`.
#[derive(Debug, Args)]
pub struct StartArgs {
    /// The side that builds: `claude:SESSION` or `codex:SESSION`, the id or its beginning; `trellis session list` names them.
    #[arg(long, value_name = "AGENT:SESSION", value_parser = session)]
    pub implementer: SessionKey,
    /// The side that reviews.
    #[arg(long, value_name = "AGENT:SESSION", value_parser = session)]
    pub reviewer: SessionKey,
    /// A setting of the run by its name in the record, as often as needed.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, serde_json::Value)>,
    /// Which answer is the first phase [default: next].
    #[arg(long, value_enum)]
    pub first_phase: Option<FirstPhaseArg>,
    /// Drive it here in the foreground, events as JSON lines; 0 only when it completes.
    #[arg(long)]
    pub headless: bool,
    /// The answer as JSON: id, kind and note.
    #[arg(long, conflicts_with = "headless")]
    pub json: bool,
}

/// Values of `--first-phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FirstPhaseArg {
    /// The implementer's next answer.
    Next,
    /// Its newest answer, reviewed now.
    Current,
    /// The phase prompt goes out at once.
    Ask,
}

impl From<FirstPhaseArg> for FirstPhase {
    fn from(arg: FirstPhaseArg) -> Self {
        match arg {
            FirstPhaseArg::Next => Self::Next,
            FirstPhaseArg::Current => Self::Current,
            FirstPhaseArg::Ask => Self::Ask,
        }
    }
}

/// Values of `--agent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentArg {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
}

impl From<AgentArg> for Agent {
    fn from(arg: AgentArg) -> Self {
        match arg {
            AgentArg::Claude => Self::Claude,
            AgentArg::Codex => Self::Codex,
        }
    }
}

/// `trellis drive`.
#[derive(Debug, Args)]
pub struct DriveArgs {
    /// Go on without a terminal, after this command has ended.
    #[arg(long, conflicts_with = "stop")]
    pub background: bool,
    /// End a driver that goes on in the background; what it began is finished.
    #[arg(long)]
    pub stop: bool,
    /// Go on when no run is left: new ones may be started over the socket.
    #[arg(long, conflicts_with = "stop")]
    pub stay: bool,
    /// What came of --background or --stop as JSON; events are JSON lines in any case.
    #[arg(long)]
    pub json: bool,
    /// This is the process that goes on.
    #[arg(long, hide = true, conflicts_with_all = ["background", "stop"])]
    pub detached: bool,
    /// How fast scripted agents play.
    #[arg(long, hide = true, value_name = "N", default_value = "1", value_parser = tempo)]
    pub speed: Tempo,
}

/// `trellis status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// A few ASCII characters for a status line: `trellis !1 >3 ?1` is one run that needs you, three that go, and one that
    /// another program goes on with; what is nought is left out.
    #[arg(long, conflicts_with = "json")]
    pub short: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// What happened in all runs since then, as Markdown: `30m`, `2h`, `1d`, `23:10`, or a time with its date.
    #[arg(long, value_name = "TIME", value_parser = since::past, conflicts_with = "short")]
    pub since: Option<Timestamp>,
}

/// `trellis config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write the commented settings into the home, where there are none.
    Init {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Name every problem of config.toml, keymap.toml and theme.toml.
    Check {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

/// `trellis verdict`.
#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// The word to look for [default: LGTM; with --completion: COMPLETED].
    #[arg(long, value_name = "WORD")]
    pub signal: Option<String>,
    /// Read it as the implementer's word that no phase is left.
    #[arg(long)]
    pub completion: bool,
    /// The answer; `-` reads standard input.
    pub file: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `trellis dump`.
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// Which screen.
    #[arg(long, value_enum)]
    pub screen: ScreenArg,
    /// Columns and rows.
    #[arg(long, value_name = "WxH", default_value = "80x24", value_parser = size)]
    pub size: (u16, u16),
    /// Which run, by its id or name [default: the newest].
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Keys to press before, by their names in keymap.toml; what they order is not done.
    #[arg(long, value_name = "KEYS", value_delimiter = ' ')]
    pub keys: Vec<crate::ui::key::Key>,
    /// As an SVG picture instead of text.
    #[arg(long)]
    pub svg: bool,
}

/// Screens that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScreenArg {
    /// All runs.
    Runs,
    /// One run.
    Run,
    /// All sessions.
    Sessions,
    /// Decisions.
    Log,
    /// Keys and words.
    Help,
}

/// Understands the command line.
///
/// # Errors
/// `Err(Ok(text))`: help or version was asked for. `Err(Err(_))`: it cannot be understood.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Result<String, Failure>> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.len() <= 1 {
        // The dashboard opens so, and half a millisecond sooner than after the definition of every command was made.
        return Ok(Cli { home: None, tmux_socket: None, command: None });
    }
    Cli::try_parse_from(&arguments).map_err(without_hidden).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(error.render().to_string()),
        // Without this the whole help would stand where one line is wanted.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let (words, parts) = asked(&arguments);
            Err(Failure::usage(format!("{words} needs one of {}; {words} --help says more", parts.join(", "))))
        }
        _ => Err(Failure::usage(one_line(&error.render().to_string(), &asked(&arguments).0))),
    })
}

/// What the help does not list is proposed to nobody.
fn without_hidden(mut error: clap::Error) -> clap::Error {
    let hidden = |name: &String| Cli::command().find_subcommand(name).is_some_and(clap::Command::is_hide_set);
    if let Some(ContextValue::Strings(names)) = error.remove(ContextKind::SuggestedSubcommand) {
        let shown: Vec<String> = names.into_iter().filter(|name| !hidden(name)).collect();
        if !shown.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
        }
    }
    error
}

/// How the command that was meant is called in full, and what can follow it.
fn asked(arguments: &[OsString]) -> (String, Vec<String>) {
    let top = Cli::command();
    let (mut words, mut command) = (top.get_name().to_owned(), &top);
    let mut is_value = false;
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        // Only these may stand between a command and its own commands.
        if std::mem::replace(&mut is_value, matches!(argument, "--home" | "--tmux-socket")) || argument.starts_with('-')
        {
            continue;
        }
        let Some(next) = command.find_subcommand(argument) else { break };
        command = next;
        words = format!("{words} {argument}");
    }
    (words, command.get_subcommands().map(|command| command.get_name().to_owned()).collect())
}

/// The paragraphs before the usage as one line, with the help of the command that was meant.
fn one_line(text: &str, command: &str) -> String {
    let told = text.split("\n\nUsage:").next().unwrap_or(text);
    let told = told.split("\n\nFor more information").next().unwrap_or(told);
    let words: Vec<&str> = told.trim_start_matches("error: ").split_whitespace().collect();
    format!("{}; {command} --help says what there is", words.join(" "))
}

/// Runs the command line and says how it ended.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if asked(&arguments).0 == HOOK {
        // Whatever stands behind it: an exit code of 2 would be a verdict for the agent that called.
        hook::run(arguments);
        return ExitCode::SUCCESS;
    }
    let outcome = match parse(arguments) {
        Ok(cli) => dispatch(cli),
        Err(Ok(text)) => out::text(&text),
        Err(Err(failure)) => Err(failure),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            out::complain(&failure.message);
            ExitCode::from(failure.code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    let home = cli.home.as_deref();
    let place = Named { home, tmux_socket: cli.tmux_socket.as_deref() };
    match cli.command {
        None => drive::dashboard(&place),
        Some(Command::Demo(args)) => demo::demo(home, &args),
        Some(Command::Run(RunCommand::Start(args))) => start::start(&place, &args),
        Some(Command::Run(RunCommand::List { json })) => show::list(home, json),
        Some(Command::Run(RunCommand::Show { id, json, since: None })) => {
            show::show(home, &id.unwrap_or_default(), json)
        }
        Some(Command::Run(RunCommand::Show { id, json, since: Some(at) })) => match id {
            Some(id) => since::of_run(home, &id, at, json),
            None => since::of_all(home, at, json),
        },
        Some(Command::Run(RunCommand::Verify { id, json })) => verify::verify(home, &id, json),
        Some(Command::Run(RunCommand::Order(order))) => order::run(&place, order),
        Some(Command::Pair(command)) => pair::pair(&place, command),
        Some(Command::Session(SessionCommand::Order(order))) => session::order(&place, order),
        Some(Command::Session(SessionCommand::New(args))) => new::new(&place, args),
        Some(Command::Session(SessionCommand::List { json })) => session::list(&place, json),
        Some(Command::Session(SessionCommand::Show(of))) => session::show(&place, &of),
        Some(Command::Session(SessionCommand::Reach(args))) => session::reach(&place, args),
        Some(Command::Drive(args)) if args.detached => background::detached(&place, args.speed, args.stay),
        Some(Command::Drive(args)) if args.background => background::start(&place, args.speed, args.stay, args.json),
        Some(Command::Drive(args)) if args.stop => background::stop(home, args.json),
        Some(Command::Drive(args)) => drive::drive(&place, args.speed, args.stay),
        Some(Command::Events(args)) => events::events(home, &args),
        Some(Command::Watch { run, json }) => watch::watch(home, run.as_deref(), json),
        Some(Command::Status(args)) => match args.since {
            Some(at) => since::of_all(home, at, args.json),
            None => status::status(home, args.short, args.json),
        },
        Some(Command::Why { run, json }) => why::why(home, &run, json),
        Some(Command::Notify { json, .. }) => notify::test(home, json),
        Some(Command::Config(ConfigCommand::Init { json })) => config::init(home, json),
        Some(Command::Config(ConfigCommand::Check { json })) => config::check(home, json),
        Some(Command::Hooks(command)) => hooks::hooks(home, command),
        // It never comes here: it is answered before anything else is looked at.
        Some(Command::Hook { .. }) => Ok(()),
        Some(Command::Verdict(args)) => verdict::verdict(&args),
        Some(Command::Doctor { report, json }) => doctor::doctor(&place, report, json),
        Some(Command::Dump(args)) => dump::dump(home, &args),
        Some(Command::Uninstall { yes, json }) => uninstall::uninstall(&place, yes, json),
        Some(Command::Completions { shell }) => completions::completions(shell),
        Some(Command::Man { list: true, json, .. }) => man::list(json),
        Some(Command::Man { page, list: false, .. }) => man::man(page.as_deref().unwrap_or("trellis")),
    }
}

#[cfg(test)]
#[path = "cli/cli_tests.rs"]
mod tests;
