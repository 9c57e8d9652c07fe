//! What commands print of a home whose names, phases, settings and paths are hostile: nothing of it acts on a terminal, and
//! JSON says all of it.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use trellis::ui::sanitise::is_unwanted;

use super::demo::trellis;
use super::stuck;

/// A sequence, an unterminated one, a C1 byte, marks that turn a line around, and what has no width.
const HOSTILE: &str = "a\u{1b}[31mb\u{202e}c\u{2066}d\u{9b}32me\u{200b}f\u{feff}g\u{2028}h\u{e0041}i\u{7}j\u{1b}]0;k";

fn harmless(what: &str, output: &Output) -> String {
    for (stream, bytes) in [("output", &output.stdout), ("error output", &output.stderr)] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let found: Vec<char> = text.chars().filter(|c| *c != '\n' && is_unwanted(*c)).collect();
        assert!(found.is_empty(), "{what}: {found:?} in its {stream}: {text:?}");
    }
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn u7_no_command_prints_what_acts_on_a_terminal_and_json_says_all() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(format!("home {}", HOSTILE.replace('\u{feff}', "")));
    let run = |words: &[&str]| trellis(&home).args(words).output().unwrap();
    harmless("demo", &run(&["demo", "--headless", "--speed", "50"]));
    stuck::change(&home, "checklist-runs", |run| {
        run["name"] = json!(HOSTILE);
        for phase in run["phases"].as_array_mut().unwrap() {
            phase["summary"] = json!(format!("phase {HOSTILE}"));
        }
    });
    let text = fs::read_to_string(home.join("config.toml")).unwrap_or_default();
    fs::write(
        home.join("config.toml"),
        format!("{text}\n\"{}\" = 1\n", HOSTILE.escape_unicode().to_string().replace("\\u{", "\\U").replace('}', "")),
    )
    .unwrap();
    fs::write(home.join("keymap.toml"), "[[runs]]\nkeys = [\"\\u202eX\\u001b[31m\"]\naction = \"open\"\n").unwrap();
    let list = harmless("run list --json", &run(&["run", "list", "--json"]));
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list[0]["name"], HOSTILE);
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let answer = folder.path().join(format!("answer {HOSTILE}"));
    fs::write(&answer, HOSTILE).unwrap();
    let answer = answer.display().to_string();
    let commands: &[&[&str]] = &[
        &["run", "list"],
        &["run", "show", &id],
        &["run", "show", &id, "--json"],
        &["run", "show", &id, "--since", "1d"],
        &["run", "show", &id, "--since", "1d", "--json"],
        &["run", "show", "--since", "1d"],
        &["run", "show", HOSTILE],
        &["run", "verify", &id],
        &["run", "verify", &id, "--json"],
        &["run", "start", "--implementer", HOSTILE, "--reviewer", HOSTILE],
        &["status"],
        &["status", "--json"],
        &["status", "--short"],
        &["status", "--since", "1d"],
        &["session", "list"],
        &["session", "list", "--json"],
        &["session", "reach", HOSTILE, "headless"],
        &["session", "reach", "claude:builder", "headless"],
        &["watch", &id],
        &["config", "check"],
        &["config", "init"],
        &["hooks", "status"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--report"],
        &["verdict", "--signal", HOSTILE, &answer],
        &["verdict", "--signal", "LGTM", "/no/such\u{202e}file"],
        &["notify", "--test"],
        &["uninstall"],
        &["man", HOSTILE],
        &["completions", "bash"],
        &["drive", "--stop"],
        &["drive"],
        &["dump", "--screen", "runs"],
        &["dump", "--screen", "runs", "--svg"],
        &["dump", "--screen", "log"],
        &["dump", "--screen", "run", "--run", HOSTILE],
    ];
    for command in commands {
        let said = harmless(&format!("{command:?}"), &run(command));
        if command.contains(&"--json") {
            let value: Value =
                serde_json::from_str(&said).unwrap_or_else(|error| panic!("{command:?}: {error}: {said}"));
            if command[..2] == ["run", "show"] && !command.contains(&"--since") {
                assert_eq!(value["run"]["name"], HOSTILE, "{command:?}");
            }
        }
    }
}
