//! Editing the agents' settings: ours comes and goes, every other byte stays.
#![expect(clippy::disallowed_methods, reason = "the tests write what a person wrote")]

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const COMMAND: &str = "'/opt/trellis' hook --agent claude";

fn settings(text: &str) -> Settings {
    Settings { path: PathBuf::from("/h/settings.json"), text: Some(text.to_owned()), agent: Agent::Claude }
}

/// What a person may have there.
const TEXTS: [&str; 10] = [
    "{}\n",
    "{\n}\n",
    "{\n  \"model\": \"x\",\n  \"n\": 1.0, \"big\": 123456789012345678901234567890\n}\n",
    "{\n\t\"permissions\": {\n\t\t\"allow\": [\"Bash\"]\n\t}\n}",
    "{\r\n    \"a\": 1\r\n}\r\n",
    "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say x\"}]}]}}",
    "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"matcher\": \"clear\",\n        \"hooks\": [ { \"type\": \"command\", \"command\": \"a, b\" } ]\n      }\n    ]\n  },\n  \"z\": \"}\\\"]\"\n}\n",
    "{ \"hooks\" : { \"PermissionRequest\" : [ { \"hooks\" : [ { \"command\" : \"trellis-like hook --agent codex\" } ] } ] } }",
    "{\n  \"other\": {\"hooks\": [1]},\n\n  \"e\": {}\n}",
    "{\"\u{e9}\u{65e5}\":\"\\u0000\"}",
];

#[test]
fn what_is_put_in_comes_out_again_and_every_other_byte_stays() {
    for text in TEXTS {
        let with = settings(text).with(COMMAND).unwrap();
        let value: Value = serde_json::from_str(&with).unwrap_or_else(|error| panic!("{error}:\n{with}"));
        for event in events(Agent::Claude) {
            let groups = value["hooks"][*event].as_array().unwrap();
            assert_eq!(groups.last().unwrap()["hooks"][0]["command"], COMMAND, "{with}");
        }
        let installed = settings(&with);
        assert_eq!(installed.installed().unwrap().len(), events(Agent::Claude).len());
        assert_eq!(installed.with(COMMAND).unwrap(), with, "a second time changes nothing");
        let without = installed.without().unwrap();
        if text == "{\n}\n" {
            assert_eq!(without, "{}\n");
        } else {
            assert_eq!(without, text);
        }
        assert_eq!(settings(text).without().unwrap(), text, "what holds none of ours stays");
        // What a person added stands there as a part of the whole.
        let kept: Vec<&str> = text.split(['{', '}', '[', ']', ',', '\n']).map(str::trim).collect();
        assert!(kept.iter().all(|part| with.contains(part)), "{with}");
    }
}

#[test]
fn the_layout_is_the_files_own() {
    let with = settings("{\n    \"a\": 1\n}\n").with(COMMAND).unwrap();
    assert!(
        with.starts_with("{\n    \"a\": 1,\n    \"hooks\": {\n        \"SessionStart\": [\n            {\n"),
        "{with}"
    );
    assert!(with.ends_with("        ]\n    }\n}\n"), "{with}");
}

#[test]
fn an_older_one_is_replaced_and_a_neighbour_in_its_group_stays() {
    let old = settings("{}").with("'/old/trellis' --home '/x' hook --agent claude").unwrap();
    let new = settings(&old).with(COMMAND).unwrap();
    assert!(!new.contains("/old/"), "{new}");
    assert_eq!(settings(&new).installed().unwrap().len(), 3);
    let mixed = r#"{"hooks":{"SessionEnd":[{"hooks":[{"command":"mine"},{"command":"'/opt/trellis' hook --agent claude"},{"command":"too"}]}]}}"#;
    let left = settings(mixed).without().unwrap();
    assert_eq!(left, r#"{"hooks":{"SessionEnd":[{"hooks":[{"command":"mine"},{"command":"too"}]}]}}"#);
}

#[test]
fn what_cannot_be_understood_is_refused_with_its_line() {
    for (text, said) in [
        ("{\n  \"a\": 1,\n}\n", "line 3"),
        ("{\n  // mine\n  \"a\": 1\n}\n", "line 2"),
        ("[]", "an object is wanted"),
        ("{\"hooks\": []}", "another shape"),
        ("{\"hooks\": {\"SessionStart\": {}}}", "another shape"),
        ("{\"hooks\": {}, \"hooks\": {}}", "twice"),
    ] {
        let refused = settings(text).with(COMMAND).unwrap_err().to_string();
        assert!(refused.contains(said), "{text}: {refused}");
        assert!(refused.starts_with("/h/settings.json: "), "{refused}");
    }
}

#[test]
fn a_command_is_quoted_for_the_shell_and_known_again() {
    let line = command(Path::new("/o'brien/my trellis"), Some(Path::new("/h $x")), Agent::Claude).unwrap();
    assert_eq!(line, r"'/o'\''brien/my trellis' --home '/h $x' hook --agent claude");
    assert!(command(Path::new("/a\nb"), None, Agent::Codex).is_err());
    for (line, ours) in [
        ("'/opt/trellis' hook --agent claude", true),
        ("/usr/bin/trellis hook --agent claude", true),
        ("'/a b/trellis' --home '/x y' hook --agent claude", true),
        ("'/opt/trellis' hook --agent codex", false),
        ("/opt/other hook --agent claude", false),
        ("echo trellis hook", false),
        ("trellis status", false),
        // Any name of the file, as it is written here; in a person's own words it has to be trellis.
        ("'/nix/store/x/bin/.trellis-wrapped' hook --agent claude", true),
        (r"'/o'\''brien/tr' --home '/h $x' hook --agent claude", true),
        ("/usr/bin/tre\\llis  hook --agent claude", true),
        ("/opt/x/trellis-notify hook --agent claude", false),
        ("/nix/store/x/bin/.trellis-wrapped hook --agent claude", false),
        // More than one simple command.
        ("/usr/local/bin/audit.sh && '/opt/trellis' hook --agent claude", false),
        ("tee -a /var/log/x | /usr/bin/trellis hook --agent claude", false),
        ("FOO=1 '/opt/trellis' hook --agent claude", false),
        ("nice '/opt/trellis' hook --agent claude", false),
        ("'/opt/trellis' hook --agent claude; rm x", false),
        ("'/opt/trellis' hook --agent claude > /tmp/x", false),
        ("$HOME/bin/trellis hook --agent claude", false),
        ("`which trellis` hook --agent claude", false),
        ("'/opt/trellis' --home '/x' --verbose hook --agent claude", false),
        ("'/opt/trellis hook --agent claude", false),
        ("'/opt/trellis' hook --agent 'claude'", true),
        ("", false),
    ] {
        assert_eq!(is_ours(line, Agent::Claude), ours, "{line}");
    }
}

#[test]
fn a_link_stays_a_link_the_mode_stays_and_a_copy_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("dotfiles.json"), folder.path().join("settings.json"));
    fs::write(&target, "{\n  \"a\": 1\n}\n").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let read = Settings::read(&link, Agent::Claude).unwrap();
    let copy = read.write(&read.with(COMMAND).unwrap(), "1").unwrap().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&target), mode(&copy)), (0o640, 0o640));
    assert_eq!(fs::read_to_string(&copy).unwrap(), "{\n  \"a\": 1\n}\n");
    assert!(fs::read_to_string(&link).unwrap().contains("hook --agent claude"));

    // Somebody else wrote meanwhile: theirs stays.
    let read = Settings::read(&link, Agent::Claude).unwrap();
    fs::write(&target, "{\"theirs\": 1}").unwrap();
    assert!(matches!(read.write("{}", "2"), Err(Refused::Changed { .. })));
    assert_eq!(fs::read_to_string(&link).unwrap(), "{\"theirs\": 1}");

    // Where there is none yet, one is made, with its folder.
    let fresh = Settings::read(&folder.path().join("new/hooks.json"), Agent::Codex).unwrap();
    let command = command(Path::new("/opt/trellis"), None, Agent::Codex).unwrap();
    assert_eq!(fresh.write(&fresh.with(&command).unwrap(), "3").unwrap(), None);
    let made = Settings::read(&folder.path().join("new/hooks.json"), Agent::Codex).unwrap();
    assert_eq!(made.installed().unwrap().len(), 2);
    assert_eq!(made.without().unwrap(), "{}\n");
    assert_eq!(
        fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp"))
            .count(),
        0
    );
}

#[test]
fn what_others_chained_to_it_stays_and_a_program_of_any_name_is_found_again() {
    let others = [
        "/usr/local/bin/audit.sh && '/opt/trellis' hook --agent claude",
        "tee -a /var/log/x | /usr/bin/trellis hook --agent claude",
        "/opt/x/trellis-notify hook --agent claude",
    ];
    let entries: Vec<Value> = others.iter().map(|line| json!({"type": "command", "command": line})).collect();
    let text = json!({"hooks": {"SessionStart": [{"hooks": entries}]}}).to_string();
    assert_eq!(settings(&text).without().unwrap(), text);
    let line = command(Path::new("/nix/store/x/bin/.trellis-wrapped"), None, Agent::Claude).unwrap();
    let with = settings(&text).with(&line).unwrap();
    let again = settings(&with);
    assert_eq!(again.installed().unwrap().len(), 3);
    assert_eq!(again.with(&line).unwrap(), with, "a second time changes nothing");
    assert_eq!(again.without().unwrap(), text);
}

#[test]
fn a_link_that_leads_to_nothing_yet_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("dots/real.json"), folder.path().join("settings.json"));
    std::os::unix::fs::symlink("dots/next.json", &link).unwrap();
    fs::create_dir(folder.path().join("dots")).unwrap();
    std::os::unix::fs::symlink("real.json", folder.path().join("dots/next.json")).unwrap();
    let read = Settings::read(&link, Agent::Claude).unwrap();
    assert_eq!(read.write(&read.with(COMMAND).unwrap(), "1").unwrap(), None);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("hook --agent claude"));
}

#[test]
fn a_file_without_a_right_to_write_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{}\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let read = Settings::read(&path, Agent::Claude).unwrap();
    let refused = read.write(&read.with(COMMAND).unwrap(), "1").unwrap_err().to_string();
    assert!(refused.contains("chmod u+w"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

/// A group that names its hooks twice is read one way by one parser and the other way by the next: nothing is put into a
/// file out of which it could not be taken again.
#[test]
fn what_could_not_be_taken_out_is_not_put_in() {
    let twice = "{\"hooks\": {\"Own\": [{\"hooks\": [{\"command\": \"a\"}], \"hooks\": [{\"command\": \"b\"}]}]}}";
    for refused in [settings(twice).installed().map(drop), settings(twice).with(COMMAND).map(drop)] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("names hooks twice"), "{said}");
    }
}
