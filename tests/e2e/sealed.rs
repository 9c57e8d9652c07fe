//! What the running program does to the world around it: no socket of a network, no file that others may read, no path out of its home;
//! and `trellis why`, whose every ground is looked up in the file that it names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The program in a home, in an environment of its own, behind other words (`strace …`).
fn behind(words: &[&str], folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_trellis");
    let mut all = words.iter().copied().chain([program, "--home"]).map(str::to_owned).collect::<Vec<String>>();
    all.push(folder.join("home").display().to_string());
    all.extend(arguments.iter().map(|word| (*word).to_owned()));
    let mut command = Command::new(&all[0]);
    command.args(&all[1..]).env_clear().env("HOME", folder).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("TMPDIR", folder).env("LANG", "C.UTF-8").env("TMUX_TMPDIR", folder).current_dir(folder);
    command.output().unwrap()
}

#[track_caller]
fn went_well(output: &Output, what: &str) {
    assert!(output.status.success(), "{what}: {}\n{}", text(&output.stdout), text(&output.stderr));
}

fn run_id(folder: &Path) -> String {
    let listed = behind(&[], folder, &["run", "list", "--json"]);
    went_well(&listed, "run list");
    let rows: Value = serde_json::from_slice(&listed.stdout).unwrap();
    rows[0]["id"].as_str().unwrap().to_owned()
}

/// A whole run, and what one asks around it: not one socket but those between processes of this machine (a program that
/// is started is waited for by a pair of them), and nothing that any of them is connected to.
#[test]
fn not_one_socket_reaches_a_network() {
    let probe = Command::new("strace").args(["-f", "-o", "/dev/null", "-e", "trace=socket", "true"]).output();
    match probe {
        Ok(probe) if probe.status.success() => {}
        Ok(probe) => return println!("skipped: strace may not trace here: {}", text(&probe.stderr).trim()),
        Err(error) => return println!("skipped: no strace: {error}"),
    }
    let folder = tempfile::tempdir().unwrap();
    let mut sockets = 0;
    let mut traced = |arguments: &[&str]| {
        let trace = folder.path().join("trace");
        let calls = "trace=socket,socketpair,connect,bind,listen,accept,accept4,sendto,sendmsg,recvfrom";
        let strace = ["strace", "-f", "-qq", "-o", trace.to_str().unwrap(), "-e", calls];
        let output = behind(&strace, folder.path(), arguments);
        let told = fs::read_to_string(&trace).unwrap();
        for line in told.lines().filter(|line| line.contains('(')) {
            sockets += usize::from(line.contains("socket"));
            let is_local = line.contains("AF_UNIX") || !line.contains("AF_");
            assert!(is_local, "trellis {arguments:?}: {line}");
            // To whom a process of this machine may speak: a tmux server, and a driver by its home's own socket.
            let speaks = line.contains(" connect(") || line.contains(" bind(") || line.contains(" listen(");
            let is_known = ["tmux", "nscd", "trellis.sock", ".socket/s"].iter().any(|name| line.contains(name));
            // Listening names nothing: what is listened on was bound to a name before.
            assert!(!speaks || is_known || line.contains(" listen("), "trellis {arguments:?}: {line}");
        }
        output
    };
    went_well(&traced(&["demo", "--headless", "--speed", "20"]), "the demo");
    let id = run_id(folder.path());
    for arguments in [
        &["status"][..],
        &["run", "list"],
        &["run", "show", &id],
        &["run", "verify", &id],
        &["why", &id],
        &["session", "list"],
        &["config", "init"],
        &["doctor", "--report"],
        &["completions", "bash"],
        &["man"],
        &["uninstall"],
        &["--version"],
    ] {
        traced(arguments);
    }
    traced(&["doctor"]);
    println!("{sockets} calls for sockets, none of them of a network");
}

/// Whatever the umask lets through: what trellis makes is for the person alone.
#[test]
fn everything_below_a_home_is_for_the_person_alone_under_any_umask() {
    let folder = tempfile::tempdir().unwrap();
    let open = ["sh", "-c", "umask 000; exec \"$0\" \"$@\""];
    went_well(&behind(&open, folder.path(), &["demo", "--headless", "--speed", "50"]), "the demo");
    let id = run_id(folder.path());
    went_well(&behind(&open, folder.path(), &["why", &id]), "why");
    behind(&open, folder.path(), &["config", "init"]);
    let note = r#"{"session_id":"s-1","hook_event_name":"SessionStart","cwd":"/w"}"#;
    let fed = ["sh", "-c", &format!("umask 000; printf '%s' '{note}' | \"$0\" \"$@\"")];
    behind(&fed, folder.path(), &["hook", "--agent", "claude"]);
    let mut found = vec![folder.path().join("home")];
    let mut seen = 0;
    while let Some(path) = found.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        assert_eq!(facts.permissions().mode() & 0o077, 0, "{}", path.display());
        seen += 1;
        if facts.is_dir() {
            found.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(seen > 20, "{seen} files and folders");
}

/// Ids that are paths, and links in the place of files: refused in words, and nothing outside of the home is touched.
#[test]
fn no_id_and_no_link_leads_out_of_the_home() {
    let folder = tempfile::tempdir().unwrap();
    went_well(&behind(&[], folder.path(), &["demo", "--headless", "--speed", "50"]), "the demo");
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("record.json"), "{\"secret\": true}").unwrap();
    for id in ["../outside/record", "/etc/passwd", "..", ".", "", "a/b", "-x\u{1b}[31m", "a\nb"] {
        for command in [&["run", "show"][..], &["run", "verify"], &["why"]] {
            let output = behind(&[], folder.path(), &[command, &["--", id]].concat());
            assert!(!output.status.success(), "{command:?} {id:?}");
            let said = text(&output.stdout) + &text(&output.stderr);
            assert!(!said.contains("secret") && !said.contains('\u{1b}'), "{said:?}");
        }
    }
    let reach = behind(&[], folder.path(), &["session", "reach", "claude:../../outside/x", "headless"]);
    assert!(!reach.status.success());
    // A link where a record, a note or the journal should be.
    let home = folder.path().join("home");
    std::os::unix::fs::symlink(outside.join("record.json"), home.join("checklist-runs/link.json")).unwrap();
    std::os::unix::fs::symlink(&outside, home.join("pairs/folder")).unwrap();
    let shown = behind(&[], folder.path(), &["run", "show", "link"]);
    assert!(!text(&shown.stdout).contains("secret"), "{}", text(&shown.stdout));
    went_well(&behind(&[], folder.path(), &["demo", "--headless", "--speed", "50"]), "goes on beside them");
    let left: Vec<PathBuf> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [outside.join("record.json")]);
    assert_eq!(fs::read_to_string(&left[0]).unwrap(), "{\"secret\": true}");
}

/// Every decision of a run that rests on a record names a file and a byte: there a record begins.
#[test]
fn why_names_for_each_decision_a_record_that_stands_there() {
    let folder = tempfile::tempdir().unwrap();
    went_well(&behind(&[], folder.path(), &["demo", "--headless", "--speed", "20"]), "the demo");
    let id = run_id(folder.path());
    let told = behind(&[], folder.path(), &["why", &id, "--json"]);
    went_well(&told, "why");
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((told["run"].as_str(), &told["wait"]), (Some(id.as_str()), &Value::Null), "it has ended");
    let decisions = told["decisions"].as_array().unwrap();
    let mut records = 0;
    for decision in decisions {
        let ground = &decision["ground"];
        let kind = ground["kind"].as_str();
        assert!(matches!(kind, Some("record" | "timer" | "key" | "seen" | "own")), "{decision}");
        if kind != Some("record") {
            continue;
        }
        records += 1;
        let bytes = fs::read(ground["file"].as_str().unwrap()).unwrap();
        let offset = usize::try_from(ground["offset"].as_u64().unwrap()).unwrap();
        assert!(offset == 0 || bytes[offset - 1] == b'\n', "{decision}: no line begins there");
        let line = text(bytes[offset..].split(|byte| *byte == b'\n').next().unwrap());
        let record: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{decision}: {line}"));
        assert!(record["type"].is_string(), "{record}");
    }
    // Three phases, six reviews: each relay, each arrival, each verdict.
    assert!(records >= 15, "{records} of {} rest on records", decisions.len());
    // The same for people, at the width of a pipe; no line is wider.
    let page = text(&behind(&[], folder.path(), &["why", &id]).stdout);
    assert!(page.contains("phase 1 goes to the reviewer") && page.contains("at byte"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let unknown = behind(&[], folder.path(), &["why", "nobody"]);
    assert!(!unknown.status.success() && text(&unknown.stderr).contains("there is no run nobody"));
}
