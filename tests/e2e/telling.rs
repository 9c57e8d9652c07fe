//! What trellis tells a person outside the moment: notifications, the pane's title, the status line, settings that do not
//! count.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::demo::trellis;
use super::terminal::{NARROW, PATIENCE, Terminal};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(home: &Path, words: &[&str]) -> Output {
    trellis(home).args(words).output().unwrap()
}

fn wait(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Plays a scene without a dashboard, with a program that writes down what it is told.
fn told_by(scene: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let words = [&["demo", "--headless", "--speed", "4"], scene].concat();
    let playing = trellis(&home).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let config = home.join("config.toml");
    wait("the demo's settings", || config.exists());
    let out = home.join("told");
    let program = format!(
        "notify_command = [\"/bin/sh\", \"-c\", 'echo \"$TRELLIS_REASON|$TRELLIS_TEXT\" >> \"$0\"', {:?}]\n",
        out.display().to_string()
    );
    // Read when there is something to tell: what was changed meanwhile counts.
    fs::write(&config, format!("{}{program}", fs::read_to_string(&config).unwrap())).unwrap();
    drop(playing.wait_with_output().unwrap());
    fs::read_to_string(out).unwrap_or_default()
}

#[test]
fn a_run_without_a_dashboard_tells_its_need_and_its_end_once() {
    let near_miss = told_by(&["--scene", "near-miss"]);
    assert_eq!(near_miss.lines().collect::<Vec<_>>(), ["near_miss|shop needs you: codex nearly approved"]);
    let done = told_by(&[]);
    assert_eq!(done.lines().collect::<Vec<_>>(), ["completed|shop is done: 3 phases · completed"]);
}

/// U17: over SSH, without a display or a bus, nothing is waited for and the terminal's own ways are left.
#[test]
fn u17_over_ssh_nothing_hangs_and_each_way_says_why_it_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), "notify_command = [\"/nowhere/notify-send\"]\n").unwrap();
    let mut command = trellis(folder.path());
    command.env("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22").env_remove("DISPLAY");
    let output = command.args(["notify", "--test"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert!(lines[0].starts_with("bell     no   there is no terminal"), "{said}");
    assert!(lines[3].starts_with("command  FAIL can't run /nowhere/notify-send"), "{said}");
    fs::write(folder.path().join("config.toml"), "").unwrap();
    assert_eq!(run(folder.path(), &["notify", "--test"]).status.code(), Some(1), "no way is left");
}

#[test]
fn a_notification_goes_through_tmux_or_stands_in_its_message_line() {
    let inner = Terminal::open((80, 24));
    let outer = Terminal::open((80, 25));
    // A client: a message is shown to one.
    outer.run(&inner.attached());
    outer.wait_for("[t]");
    inner.know_tmux();
    fs::create_dir_all(inner.home()).unwrap();
    let config = inner.home().join("config.toml");
    fs::write(&config, "").unwrap();
    inner.trellis("notify --test");
    inner.wait_for("tmux     yes  shown by display-message");
    outer.wait_for("trellis: this is a test");

    // What the program writes, before tmux reads it.
    let raw = inner.folder.path().join("raw");
    inner.tmux(&["pipe-pane", "-t", "t", &format!("cat > '{}'", raw.display())]);
    fs::write(&config, "notification = \"osc9\"\n").unwrap();
    inner.trellis("notify --test");
    inner.wait_for("terminal no   tmux hands nothing on");
    inner.tmux(&["set-option", "-g", "allow-passthrough", "on"]);
    inner.trellis("notify --test");
    inner.wait_for("terminal yes  sent as osc9, through tmux");
    let wanted = b"\x1bPtmux;\x1b\x1b]9;trellis: this is a test\x07\x1b\\\x07";
    wait("the bytes", || fs::read(&raw).is_ok_and(|bytes| bytes.windows(wanted.len()).any(|part| part == wanted)));
}

/// U7: a name that is a command of tmux's formats is shown as it is written, and nothing is run.
#[test]
fn u7_a_format_of_tmux_in_a_name_is_only_text() {
    let inner = Terminal::open((100, 24));
    let outer = Terminal::open((100, 25));
    outer.run(&inner.attached());
    outer.wait_for("[t]");
    inner.know_tmux();
    inner.trellis("demo --scene near-miss --speed 2");
    inner.wait_for("phase 1");
    let hit = inner.folder.path().join("hit");
    inner.keys(&["R"]);
    inner.wait_for("rename");
    inner.keys(&["C-u"]);
    let name = format!("#(touch {})100%#[fg=red]#{{pid}}", hit.display());
    inner.tmux(&["send-keys", "-t", "t", "-l", &name]);
    inner.press_until(&["C-s"], "it is renamed", |screen| screen.contains("#(touch") && !screen.contains("field"));
    let shown = outer.wait("the message", |screen| screen.contains("trellis: #(touch"));
    assert!(shown.contains("100%#[fg=red]#{pid} needs you"), "{shown}");
    assert!(!hit.exists());
    inner.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
}

#[test]
fn the_panes_title_says_how_the_runs_stand_and_comes_back_at_the_end() {
    let terminal = Terminal::open(NARROW);
    terminal.tmux(&["select-pane", "-t", "t", "-T", "mine"]);
    terminal.trellis("demo --scene near-miss --speed 3");
    terminal.wait_for("phase 1");
    wait("a run that goes", || terminal.fact("pane_title") == "trellis >1");
    terminal.wait_for("! shop");
    wait("a run that waits", || terminal.fact("pane_title") == "trellis !1");
    let status = run(&terminal.home(), &["status", "--short"]);
    assert_eq!((status.status.code(), text(&status.stdout).as_str()), (Some(0), "trellis !1\n"));
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    wait("the title of before", || terminal.fact("pane_title") == "mine");
}

#[test]
fn status_reads_files_and_is_always_content() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    for words in [&["status"][..], &["status", "--short"], &["status", "--json"]] {
        let output = run(&home, words);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    assert!(!home.exists(), "a look makes no home");
    assert_eq!(run(&home, &["demo", "--headless", "--speed", "20", "--scene", "near-miss"]).status.code(), Some(1));
    assert_eq!(text(&run(&home, &["status", "--short"]).stdout), "trellis !1\n");
    let told = text(&run(&home, &["status"]).stdout);
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("shop phase 1: needs you: codex nearly approved  (since "), "{told}");
    let value: Value = serde_json::from_slice(&run(&home, &["status", "--json"]).stdout).unwrap();
    assert_eq!((&value["needs_you"], &value["short"]), (&Value::from(1), &Value::from("trellis !1")));
    assert_eq!(value["runs"][0]["reason"], "near_miss");
}

/// An agent's open dialog stands in no record; what its driver published tells it.
#[test]
fn status_knows_of_a_dialog_that_the_driver_sees() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
about = "a question"
worktree = "shop"
[[person]]
to = "implementer"
when = [{ side = "implementer", prompts = 0 }]
text = "begin"
[implementer]
agent = "claude"
[[implementer.rules]]
name = "phases"
then = "last"
replies = [{ beats = [{ run = "rm -r target", asks = true, takes_ms = 600000 }, { say = "Done." }] }]
[reviewer]
agent = "codex"
[[reviewer.rules]]
name = "all"
then = "last"
replies = [{ beats = [{ say = "LGTM" }] }]
"#;
    let file = folder.path().join("asks.toml");
    fs::write(&file, script).unwrap();
    let home = folder.path().join("home");
    let words = ["demo", "--headless", "--script", file.to_str().unwrap()];
    let mut driver = trellis(&home).args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let short = || text(&run(&home, &["status", "--short"]).stdout);
    wait("the dialog", || short() == "trellis !1\n");
    assert!(text(&run(&home, &["status"]).stdout).contains("shop phase 1: needs you: claude asks for approval"));
    driver.kill().unwrap();
    driver.wait().unwrap();
    // What a driver saw that is gone counts no more.
    assert_eq!(short(), "trellis >1\n");
}

/// U15: a reader that goes away ends the command without a word.
#[test]
fn u15_a_reader_that_went_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    assert!(run(home, &["demo", "--headless", "--speed", "50"]).status.success());
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["status", "--short"],
        &["run", "list"],
        &["run", "list", "--json"],
        &["config", "check"],
        &["session", "list"],
        &["notify", "--test"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = trellis(home).args(words).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(text(&output.stderr), "", "{words:?}");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words:?}: {output:?}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = trellis(home).arg("status").stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn settings_are_written_once_and_their_problems_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    assert!(run(&home, &["config", "check"]).status.success());
    assert!(run(&home, &["config", "init"]).status.success());
    let written = fs::read_to_string(home.join("config.toml")).unwrap();
    assert_eq!(written, trellis::config::DEFAULT_FILE);
    assert!(run(&home, &["config", "check"]).status.success());
    let again = run(&home, &["config", "init"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("it is there already"), "{}", text(&again.stderr));

    fs::write(home.join("config.toml"), "mouse = 3\n").unwrap();
    fs::write(home.join("keymap.toml"), "[[runs]]\nkeys = [\"x\"]\naction = \"new-run\"\n").unwrap();
    fs::write(home.join("theme.toml"), "[terminal]\nmoon = {}\n").unwrap();
    let output = run(&home, &["config", "check"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    for part in
        ["config.toml: mouse: 3 does not fit", "keymap.toml: give x one meaning", "theme.toml: ", "no role moon"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
}

/// A bad value falls back, and the screen says so from its first frame on.
#[test]
fn a_bad_setting_is_said_on_the_screen() {
    let terminal = Terminal::open((100, 30));
    fs::create_dir_all(terminal.home()).unwrap();
    fs::write(terminal.home().join("config.toml"), "mouse = 3\n").unwrap();
    fs::write(terminal.home().join("keymap.toml"), "[[runs]]\nkeys = [\"x\"]\naction = \"new-run\"\n").unwrap();
    terminal.trellis("");
    terminal.wait_for("config.toml: mouse: 3 does not fit");
    terminal.keep("bad-setting");
    fs::write(terminal.home().join("config.toml"), "").unwrap();
    terminal.wait_for("give x one meaning in the keymap: on Runs it is stop and new-run");
    fs::write(terminal.home().join("keymap.toml"), "").unwrap();
    terminal.wait_for("the changed settings count");
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
}
