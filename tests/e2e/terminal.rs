//! A real terminal for tests: the built program in a tmux server of its own, driven by keys and read by captures.
//! Waits are for a condition with a deadline; there is no sleep that a slow machine could make too short.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// How long a test waits for a condition before it fails.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The built program.
pub fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_trellis"))
}

/// Whether tmux is here; says so when a test is skipped for it.
pub fn has_tmux() -> bool {
    let there = Command::new("tmux").arg("-V").output().is_ok_and(|out| out.status.success());
    if !there {
        println!("skipped: tmux is not installed");
    }
    there
}

/// Polls until `condition` gives something.
pub fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < end, "waited {PATIENCE:?} in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(30));
    }
}

/// A tmux server with one session and one window.
pub struct Terminal {
    socket: String,
    width: u16,
    height: u16,
    pub folder: tempfile::TempDir,
}

impl Terminal {
    /// A shell prompt of the given size, with a fresh HOME.
    pub fn open(name: &str, width: u16, height: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let terminal = Self { socket: format!("trellis-e2e-{name}-{}", std::process::id()), width, height, folder };
        let (w, h) = (width.to_string(), height.to_string());
        let shell = "exec env PS1='ready$ ' TERM=tmux-256color bash --norc --noprofile -i";
        terminal.tmux(&["new-session", "-d", "-s", "t", "-x", &w, "-y", &h, shell]);
        terminal.wait_for("ready$");
        terminal
    }

    /// Where the program's home is to be.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("trellis-home")
    }

    /// One tmux command on this server.
    pub fn tmux(&self, arguments: &[&str]) -> Output {
        let output = Command::new("tmux")
            .args(["-u", "-L", &self.socket, "-f", "/dev/null"])
            .args(arguments)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .env("HOME", self.folder.path())
            .env("LANG", "C.UTF-8")
            .output()
            .unwrap();
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Types a command line and Enter.
    pub fn run(&self, line: &str) {
        self.tmux(&["send-keys", "-t", "t", "-l", line]);
        self.keys(&["Enter"]);
    }

    /// Presses keys, by tmux names, one after the other.
    pub fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", "-t", "t", key]);
        }
    }

    /// What stands on the screen.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-t", "t"]).stdout).into_owned()
    }

    /// Waits until a text stands on the screen; gives the screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }

    /// Waits until the screen satisfies a condition; gives the screen.
    pub fn wait(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if condition(&screen) {
                assert!(screen.lines().count() <= usize::from(self.height));
                assert!(self.width > 0);
                return screen;
            }
            last.clone_from(&screen);
            assert!(Instant::now() < end, "waited {PATIENCE:?} in vain for: {what}\nthe screen:\n{last}");
            std::thread::park_timeout(Duration::from_millis(40));
        }
    }

    /// Keeps a frame below `target/frames`, to be looked at.
    pub fn keep(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frames");
        std::fs::create_dir_all(&folder).unwrap();
        let size = format!("{}x{}", self.width, self.height);
        std::fs::write(folder.join(format!("{name}-{size}.txt")), self.screen()).unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}
