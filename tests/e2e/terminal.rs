//! A real terminal for tests: the built program in a tmux server of its own, driven by keys and read by captures.
//! Waits are for a condition with a deadline; there is no sleep that a slow machine could make too short.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use ansi_to_tui::IntoText as _;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget as _;

/// How long a test waits for a condition before it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The built program.
pub fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_trellis"))
}

/// A side pane beside an agent.
pub const NARROW: (u16, u16) = (38, 20);
/// A window of its own.
pub const WIDE: (u16, u16) = (120, 40);

/// A tmux server with one session and one window.
pub struct Terminal {
    socket: PathBuf,
    width: u16,
    height: u16,
    pub folder: tempfile::TempDir,
}

impl Terminal {
    /// A shell prompt of the given size, with a fresh HOME and nothing of the person's environment.
    pub fn open(size: (u16, u16)) -> Self {
        Self::open_as(size, "")
    }

    /// The same with other or further variables of its environment: `TERM=vt100 NO_COLOR=1`.
    pub fn open_as((width, height): (u16, u16), variables: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let terminal = Self { socket: folder.path().join("tmux"), width, height, folder };
        let (w, h) = (width.to_string(), height.to_string());
        let shell = format!(
            "exec env -i HOME={} PATH=/usr/bin:/bin LANG=C.UTF-8 TZ=UTC TERM=tmux-256color PS1='ready$ ' {variables} \
             bash --norc --noprofile -i",
            terminal.folder.path().display()
        );
        terminal.tmux(&["new-session", "-d", "-s", "t", "-x", &w, "-y", &h, &shell]);
        terminal.wait_for("ready$");
        terminal
    }

    /// One where a command of the program runs in a home of its own; its exit code is shown when it has ended.
    pub fn running(size: (u16, u16), words: &str) -> Self {
        let terminal = Self::open(size);
        terminal.trellis(words);
        terminal
    }

    /// Runs the program; when it has ended the screen says `ended` and its exit code.
    pub fn trellis(&self, words: &str) {
        let (program, home) = (program(), self.home());
        self.run(&format!("clear; {} {words} --home {}; echo ended $?", program.display(), home.display()));
    }

    /// Where the program's home is to be.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("trellis-home")
    }

    /// One tmux command on this server.
    pub fn tmux(&self, arguments: &[&str]) -> Output {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .args(["-u", "-f", "/dev/null"])
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

    /// Lets the shell know that it runs inside tmux, which its fresh environment does not say.
    pub fn know_tmux(&self) {
        let (server, pane) = (self.fact("pid"), self.fact("pane_id"));
        self.run(&format!("export TMUX={},{server},0 TMUX_PANE={pane}", self.socket.display()));
    }

    /// A command line that shows this terminal inside another one.
    pub fn attached(&self) -> String {
        format!("TMUX= tmux -u -S {} attach", self.socket.display())
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

    /// Presses keys until the screen satisfies a condition. They are pressed again when nothing came of them for a while:
    /// a banner's keys count only after a moment, and an order is refused when the run has just moved.
    pub fn press_until(&self, keys: &[&str], what: &str, condition: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        let mut again_at = Instant::now();
        loop {
            let screen = self.screen();
            if condition(&screen) {
                return screen;
            }
            if Instant::now() >= again_at {
                self.tmux(&[&["send-keys", "-t", "t"], keys].concat());
                again_at = Instant::now() + Duration::from_secs(2);
            }
            assert!(Instant::now() < end, "{keys:?} does not lead to: {what}\nthe screen:\n{screen}");
            std::thread::park_timeout(Duration::from_millis(40));
        }
    }

    /// Presses keys once, whatever stands on the screen, and waits until it satisfies a condition.
    pub fn press_then(&self, keys: &[&str], what: &str, condition: impl Fn(&str) -> bool) -> String {
        self.tmux(&[&["send-keys", "-t", "t"], keys].concat());
        self.wait(&format!("{keys:?}: {what}"), condition)
    }

    /// The words of the screen without its rules and line breaks.
    pub fn flat(screen: &str) -> String {
        screen.replace(['│', '─', '═'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Presses keys until a text is shown.
    pub fn press_for(&self, keys: &[&str], text: &str) -> String {
        self.press_until(keys, text, |screen| screen.contains(text))
    }

    /// From now on everything that is written to the terminal is kept in this file too.
    pub fn record(&self, name: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, "").unwrap();
        self.tmux(&["pipe-pane", "-t", "t", &format!("cat >> {}", file.display())]);
        file
    }

    /// What tmux knows of the pane, by the name of a format.
    pub fn fact(&self, name: &str) -> String {
        let format = format!("#{{{name}}}");
        let told = self.tmux(&["display-message", "-p", "-t", "t", &format]).stdout;
        String::from_utf8_lossy(&told).trim().to_owned()
    }

    /// Keeps a frame below `target/tmp/frames`, to be looked at: as text, and as a picture for the manual.
    pub fn keep(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frames");
        std::fs::create_dir_all(&folder).unwrap();
        let size = format!("{}x{}", self.width, self.height);
        std::fs::write(folder.join(format!("{name}-{size}.txt")), self.screen()).unwrap();
        std::fs::write(folder.join(format!("{name}-{size}.svg")), self.picture("trellis")).unwrap();
    }

    /// The frame that is shown, as a picture.
    pub fn picture(&self, title: &str) -> String {
        let frame = self.tmux(&["capture-pane", "-p", "-e", "-t", "t"]).stdout;
        picture(&String::from_utf8_lossy(&frame), (self.width, self.height), title)
    }
}

/// A captured screen as the project draws its own frames.
pub fn picture(frame: &str, (width, height): (u16, u16), title: &str) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let text = frame.into_text().expect("a capture holds text and colours only");
    text.render(buffer.area, &mut buffer);
    trellis::ui::dump::svg(&buffer, title)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves no driver in the background behind.
        if self.home().join("trellis.lock").exists() {
            let _ = Command::new(program()).arg("--home").arg(self.home()).args(["drive", "--stop"]).output();
        }
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}
