//! A driver without a terminal: started and waited for, found again by what it says in the lock, asked to end.
//! Who drives is decided by the lock alone. Nobody takes it away: one process gives it up, another waits for it.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::agent::os;
use crate::driver::handle::Handle;
use crate::model::command::Reply;
use crate::model::tempo::Tempo;
use crate::paths::{Home, own_program};
use crate::projection::DriverFact;
use crate::store::lock::{Claim, Holder, Kind, holder};
use crate::supervise::Supervisor;
use crate::ui::Outside;

/// What the new process says once it has read the home and waits for the lock.
pub const READY: &str = "ready";
/// What it says once it drives.
pub const DRIVES: &str = "drives";
/// How long it waits for the lock: longer than a driver takes to finish what it began.
pub const WAITS: Duration = Duration::from_secs(30);

/// How long it may take to say a word.
const A_WORD: Duration = Duration::from_secs(40);
/// How long a driver that was asked to end is waited for.
const AN_END: Duration = Duration::from_secs(20);
/// Between two looks at the lock.
const A_MOMENT: Duration = Duration::from_millis(30);

/// A process that is to drive in the background.
#[derive(Debug)]
pub struct Detached {
    child: Child,
    words: Lines<BufReader<ChildStdout>>,
    /// It drives: it outlives this process.
    drives: bool,
}

impl Drop for Detached {
    fn drop(&mut self) {
        // One that nobody waits for any more must not take the lock later.
        if !self.drives {
            let _ = self.child.start_kill();
        }
    }
}

impl Detached {
    /// Starts it, and returns once it waits for the lock. `tmux`: the server that this process was told to use;
    /// `stay`: it goes on when no run is left.
    ///
    /// # Errors
    /// A sentence: it cannot be started, or what it says against the home. Nothing is left of it then.
    pub async fn start(home: &Home, tempo: Tempo, tmux: Option<&str>, stay: bool) -> Result<Self, String> {
        let program = own_program().map_err(|error| format!("can't find trellis' own program: {error}"))?;
        let mut command = Command::new(&program);
        command.arg("--home").arg(home.root()).args(["drive", "--detached", "--speed", &tempo.to_string()]);
        command.args(stay.then_some("--stay"));
        command.args(tmux.into_iter().flat_map(|named| ["--tmux-socket", named]));
        let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().map_err(|error| format!("can't start {}: {error}", program.display()))?;
        let words = child.stdout.take().ok_or("a driver in the background has no output")?;
        let mut detached = Self { child, words: BufReader::new(words).lines(), drives: false };
        detached.says(READY).await?;
        Ok(detached)
    }

    /// Waits until it drives; the lock is to be free, or soon. Its process id.
    ///
    /// # Errors
    /// A sentence: it did not get the lock, or failed. Nothing is left of it then.
    pub async fn drives(mut self, home: &Home) -> Result<u32, String> {
        self.says(DRIVES).await?;
        let pid = self.child.id();
        match holder(home) {
            Ok(Holder::Process(Some(claim))) if Some(claim.pid) == pid && claim.kind == Kind::Background => {
                self.drives = true;
                Ok(claim.pid)
            }
            _ => Err(self.end("the driver in the background does not hold the home's lock").await),
        }
    }

    /// Waits for a word.
    async fn says(&mut self, word: &str) -> Result<(), String> {
        match timeout(A_WORD, self.words.next_line()).await {
            Ok(Ok(Some(line))) if line == word => Ok(()),
            Ok(_) => Err(self.end("the driver in the background ended without a word").await),
            Err(_) => Err(self.end("the driver in the background did not start in time").await),
        }
    }

    /// Ends it; what it said against it, or else these words.
    pub async fn end(&mut self, words: &str) -> String {
        let _ = self.child.start_kill();
        let mut said = String::new();
        if let Some(complaint) = self.child.stderr.take() {
            let _ = complaint.take(4_096).read_to_string(&mut said).await;
        }
        let _ = self.child.wait().await;
        let said = crate::model::text::first_line(&said);
        let said = said.trim_start_matches("trellis: ");
        if said.is_empty() { words.to_owned() } else { said.to_owned() }
    }
}

/// Hands the home that this process drives to one in the background; the line of this process becomes a viewer's.
///
/// # Errors
/// A sentence: then this process drives on, or says why it does not.
pub(super) async fn hand_over(home: &Home, tempo: Tempo, tmux: Option<&str>, handle: &Handle) -> Result<(), String> {
    let mut detached = Detached::start(home, tempo, tmux, false).await?;
    if let Reply::Refused(refusal) = handle.hand_over().await {
        detached.end("").await;
        return Err(refusal.message);
    }
    let Err(why) = detached.drives(home).await else { return Ok(()) };
    Err(match handle.take_over().await {
        Reply::Done { .. } => format!("{why}; this process drives on"),
        Reply::Refused(refusal) => format!("{why}; and {}", refusal.message),
    })
}

/// The process in the background that drives a home, when it is proven to be the one that took the lock.
#[must_use]
pub fn driver(home: &Home) -> Option<Claim> {
    let Ok(Holder::Process(Some(claim))) = holder(home) else { return None };
    let is_it = |process: os::Process| !claim.start_mark.is_empty() && process.start_mark == claim.start_mark;
    let proven = claim.kind == Kind::Background && os::process(claim.pid).is_some_and(is_it);
    proven.then_some(claim)
}

/// Asks it to end, and waits until it has given the lock up.
///
/// # Errors
/// A sentence: it does not end.
pub async fn end(home: &Home, claim: &Claim) -> Result<(), String> {
    let pid = claim.pid;
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("the lock names no process")?;
    kill_process(process, Signal::TERM).map_err(|error| format!("process {pid} can't be asked to end: {error}"))?;
    let gone = async {
        while matches!(holder(home), Ok(Holder::Process(by)) if by.as_ref().is_none_or(|by| by == claim)) {
            sleep(A_MOMENT).await;
        }
    };
    let seconds = AN_END.as_secs();
    timeout(AN_END, gone).await.map_err(|_| format!("process {pid} did not end within {seconds} s"))
}

/// Where a driver in the background has the home: asks it to end and drives here from then on. A driver that somebody
/// sits in front of is left alone.
pub(super) fn come_back(home: &Home, handle: &Handle, call: mpsc::Sender<Outside>, supervisor: &Supervisor) {
    if driver(home).is_some() {
        take_over(home, handle, call, supervisor);
    }
}

/// A viewer drives from now on, if nobody does, or one in the background does and ends for it. What comes of it is said.
pub(super) fn take_over(home: &Home, handle: &Handle, call: mpsc::Sender<Outside>, supervisor: &Supervisor) {
    let (home, handle) = (home.clone(), handle.clone());
    supervisor.spawn("take over", async move {
        let say = async |words: String, is_error: bool| {
            // A screen that is gone needs no word.
            let _ = call.send(Outside::Say { words, is_error }).await;
        };
        if let Some(claim) = driver(&home) {
            say(format!("takes over from process {}, which drives in the background", claim.pid), false).await;
            if let Err(why) = end(&home, &claim).await {
                return say(format!("{why}: this is a view; {} tries again", home.command("drive --stop")), true).await;
            }
        }
        match handle.take_over().await {
            Reply::Done { note, .. } => {
                // Said when the screen knows it too: a key that follows means the driver's screen.
                let _ = handle.projections().wait_for(|shown| shown.driver == DriverFact::Here).await;
                say(note, false).await;
            }
            Reply::Refused(refusal) => say(refusal.message, true).await,
        }
    });
}
