//! Each scene in a real terminal: its banner is shown, and the keys that the banner names lead the run to its end.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A tmux server of its own with one window, in which the program runs.
struct Screen {
    socket: std::path::PathBuf,
}

impl Screen {
    fn open(folder: &Path, size: (u16, u16), words: &str) -> Self {
        let screen = Self { socket: folder.join("tmux") };
        let program = format!(
            "env -i HOME={home} TERM=screen-256color LANG=C.UTF-8 PATH=/usr/bin:/bin {trellis} {words} --home {home}/h; echo ended $?; cat",
            home = folder.display(),
            trellis = env!("CARGO_BIN_EXE_trellis"),
        );
        let (width, height) = (size.0.to_string(), size.1.to_string());
        screen.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &width, "-y", &height, &program]);
        screen
    }

    fn tmux(&self, words: &[&str]) -> String {
        let output = Command::new("tmux").env_remove("TMUX").arg("-S").arg(&self.socket).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shown(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows one of the words.
    fn wait_for(&self, words: &[&str]) -> String {
        let started = Instant::now();
        loop {
            let shown = self.shown();
            if words.iter().any(|word| shown.contains(word)) {
                return shown;
            }
            assert!(started.elapsed() < Duration::from_secs(40), "none of {words:?} was shown:\n{shown}");
            std::thread::yield_now();
        }
    }

    /// Presses a key until the screen no longer shows the words: a banner's keys count only after a moment.
    fn press_until_gone(&self, key: &str, words: &str) {
        let started = Instant::now();
        let mut pressed: Option<Instant> = None;
        while self.shown().contains(words) {
            if pressed.is_none_or(|at| at.elapsed() > Duration::from_millis(1_500)) {
                self.tmux(&["send-keys", key]);
                pressed = Some(Instant::now());
            }
            assert!(
                started.elapsed() < Duration::from_secs(30),
                "{key} does not lead on from {words:?}:\n{}",
                self.shown()
            );
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn scene(name: &str, size: (u16, u16), banner: &str, keys: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let screen = Screen::open(folder.path(), size, &format!("demo --speed 15 --scene {name}"));
    screen.wait_for(&[banner]);
    for (key, until_gone) in keys {
        screen.wait_for(&[until_gone]);
        screen.press_until_gone(key, until_gone);
    }
    screen.wait_for(&["done", "completed"]);
    screen.tmux(&["send-keys", "q"]);
    screen.wait_for(&["ended 0"]);
}

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (38, 20);

#[test]
fn near_miss_is_accepted() {
    scene("near-miss", WIDE, "nearly approved", &[("a", "needs you")]);
}

#[test]
fn near_miss_goes_on_as_feedback() {
    scene("near-miss", WIDE, "nearly approved", &[("p", "needs you")]);
}

#[test]
fn a_limit_is_tried_at_once() {
    scene("limit", WIDE, "try now", &[("p", "try now")]);
}

#[test]
fn typed_words_are_taken_into_account() {
    scene("typed", WIDE, "you wrote to claude", &[("p", "needs you")]);
}

#[test]
fn a_dead_program_is_brought_back() {
    scene("gone", WIDE, "codex is gone", &[("b", "needs you")]);
}

#[test]
fn a_turn_without_an_answer_is_asked_again() {
    scene("no-answer", WIDE, "without an answer", &[("p", "needs you")]);
}

#[test]
fn without_agreement_the_phase_is_accepted() {
    scene("no-agreement", NARROW, "no agreement", &[("a", "needs you")]);
}

/// W3: keys and settings that an editor saves by renaming count at once, each time.
#[test]
fn w3_changed_keys_and_settings_count_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let screen = Screen::open(folder.path(), (100, 30), "demo");
    screen.wait_for(&["going"]);
    let home = folder.path().join("h");
    let save = |name: &str, text: &str| {
        std::fs::write(home.join("saved~"), text).unwrap();
        std::fs::rename(home.join("saved~"), home.join(name)).unwrap();
    };
    save("keymap.toml", "this is no keymap");
    screen.wait_for(&["the standard keys count"]);
    save("keymap.toml", "");
    screen.wait_for(&["the changed settings count"]);
    let config = std::fs::read_to_string(home.join("config.toml")).unwrap();
    save("config.toml", &format!("{config}symbols = \"nothing\"\n"));
    screen.wait_for(&["config.toml"]);
    save("config.toml", &format!("{config}symbols = \"ascii\"\n"));
    let shown = screen.wait_for(&["the changed settings count"]);
    assert!(!shown.contains('\u{2502}'), "ascii is drawn from now on:\n{shown}");
}
