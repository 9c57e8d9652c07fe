//! A person's first run: two real agents that are open already, trellis in a third pane of their window, `n`, Enter. With
//! `TRELLIS_PICTURE=FILE` a frame of that window becomes a picture, drawn by the project's own tool.

use std::time::Duration;

use trellis::model::ids::Agent::{Claude, Codex};

use super::install::{self, Part, Skip, told};
use super::pairs::verified;
use super::rig::{Plan, Rig};
use crate::terminal::picture;

/// Columns and rows of the window, and of trellis's pane in it.
const WINDOW: (u16, u16) = (134, 40);
const SIDE: u16 = 48;
const TITLE: &str = "Claude Code builds, Codex reviews, trellis carries";

#[test]
fn beside_two_open_agents_n_and_enter_start_a_run() {
    told(a_first_run());
}

fn a_first_run() -> Result<(), Skip> {
    let rig = Rig::start(Part::Small, Plan::pair(Claude, Codex))?;
    // A terminal that shows the window, as a person has one.
    let (columns, rows) = (WINDOW.0.to_string(), WINDOW.1.to_string());
    let attach = format!("env -u TMUX TERM=xterm-256color tmux -u -S {} attach", rig.path("s").display());
    let glass = rig.path("glass").to_string_lossy().into_owned();
    let on_glass = |words: &[&str]| {
        let mut command = std::process::Command::new("tmux");
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color");
        let output = command.args(["-u", "-f", "/dev/null", "-S", &glass]).args(words).output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let _ended = Glass(&on_glass);
    on_glass(&["new-session", "-d", "-x", &columns, "-y", &rows, &attach]);
    on_glass(&["set", "-g", "status", "off"]);

    let home = rig.path("trellis").to_string_lossy().into_owned();
    let words = [install::trellis().to_string_lossy().into_owned(), String::from("--home"), home];
    let side = rig.open_words(&words);
    rig.tmux(&["set", "-g", "status", "off"]);
    rig.tmux(&["select-layout", "main-vertical"]);
    rig.tmux(&["move-pane", "-v", "-s", "%1", "-t", "%0"]);
    rig.tmux(&["resize-pane", "-t", &side, "-x", &SIDE.to_string()]);
    let shows = |part: &str| rig.wait(&format!("{part:?} on trellis's screen"), || rig.screen(&side).contains(part));
    let press = |key: &str| rig.tmux(&["send-keys", "-t", &side, key]);

    shows("n");
    press("n");
    shows("proposed from this window");
    press("Enter");
    shows("nothing was sent");
    // The person asks for the first phase as always; from there on trellis carries.
    rig.tmux(&["send-keys", "-t", "%0", "-l", "Implement the next phase from CHECKLIST.md, then stop."]);
    std::thread::park_timeout(Duration::from_millis(500));
    rig.tmux(&["send-keys", "-t", "%0", "Enter"]);
    let reviews = || rig.count("reviewer", "Review the implementer's work");
    rig.wait("the fifth review", || reviews() == 5 && rig.screen(&side).contains("relay"));
    std::thread::park_timeout(Duration::from_secs(2));
    let frame = on_glass(&["capture-pane", "-p", "-e"]);
    if let Some(file) = std::env::var_os("TRELLIS_PICTURE") {
        // The folder of a test has a name that nobody would give one.
        let folder = rig.path("repo").to_string_lossy().into_owned();
        std::fs::write(file, picture(&frame.replace(&folder, "~/shop"), WINDOW, TITLE)).unwrap();
    }
    rig.wait("the end of the run", || rig.run()["stop_reason"] == "completed");
    verified(&rig);
    press("q");
    rig.wait("trellis's end", || !rig.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]).lines().any(|pane| pane == side));
    Ok(())
}

/// The terminal that shows the window; it ends with the test.
struct Glass<'a>(&'a dyn Fn(&[&str]) -> String);

impl Drop for Glass<'_> {
    fn drop(&mut self) {
        (self.0)(&["kill-server"]);
    }
}
