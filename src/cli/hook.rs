//! `trellis hook`: takes what an agent tells its hook and puts a note into the home's spool. The agent waits for it, takes
//! what it prints for orders and its exit code for a verdict: so nothing is printed, and it ends well and soon, always.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{Command, parse};
use crate::agent::os;
use crate::clock;
use crate::model::hook::HookNote;
use crate::model::ids::{Agent, is_safe_name};
use crate::model::reach::ProcessMark;
use crate::paths::{Environment, Home};
use crate::store::spool;
use crate::transcript::hooks;

/// The agent waits no longer than this, whatever the disk or the other end of the pipe do.
const LIMIT: Duration = Duration::from_millis(40);
/// What an agent says of a tool may hold a whole file; more than this is not read.
const LARGEST: u64 = 8 * 1024 * 1024;
/// Paths that are longer are none.
const LONGEST: usize = 4_096;

/// Does it, as far as it can be done in time.
pub fn run(arguments: Vec<OsString>) {
    let (done, ended) = mpsc::sync_channel(1);
    let begun = thread::Builder::new().name("hook".to_owned()).spawn(move || {
        spool(arguments);
        let _ = done.send(());
    });
    if begun.is_ok() {
        // In time or not: the process ends, and with it what is not done yet.
        let _ = ended.recv_timeout(LIMIT);
    }
}

/// Each step that fails ends it: there is nobody to tell, and without hooks everything works the same.
fn spool(arguments: Vec<OsString>) -> Option<()> {
    let cli = parse(arguments).ok()?;
    let Some(Command::Hook { agent }) = cli.command else { return None };
    let home = Home::locate(cli.home.as_deref(), &Environment::read()).ok()?;
    let mut json = Vec::new();
    std::io::stdin().lock().take(LARGEST).read_to_end(&mut json).ok()?;
    let note = note(agent.into(), &json)?;
    spool::put(&home, &note, std::process::id()).ok()
}

fn note(agent: Agent, json: &[u8]) -> Option<HookNote> {
    let call = hooks::read(agent, json)?;
    let is_id = is_safe_name(call.session.session_id.as_str());
    let paths = [Some(call.session.worktree.as_str()), call.transcript.as_deref()];
    if !is_id || paths.into_iter().flatten().any(|path| path.len() > LONGEST) {
        return None;
    }
    let transcript = call.transcript.filter(|path| Path::new(path).is_absolute());
    Some(HookNote { at: clock::now(), session: call.session, transcript, process: caller(agent), event: call.event })
}

/// The agent that called it: it, or a shell of it, is above this process.
fn caller(agent: Agent) -> Option<ProcessMark> {
    let own = os::process(std::process::id())?;
    let above = os::lineage(&own).into_iter().skip(1).filter_map(os::process);
    above.take(8).find(|process| process.name.starts_with(agent.as_str())).map(|process| process.mark())
}
