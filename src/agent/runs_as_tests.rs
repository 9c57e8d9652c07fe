//! Programs and the words a session is opened again with.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn what_a_session_was_started_with_is_used_again_and_its_id_and_message_are_not() {
    let line =
        "/opt/claude --session-id 1-2 --permission-mode acceptEdits --model=opus --settings s.json -- Hello there";
    let launch = launch_from(Agent::Claude, &words(line), "/src/shop");
    assert_eq!(launch.argv, words("/opt/claude --settings s.json"));
    assert_eq!(launch.permission_mode.as_deref(), Some("acceptEdits"));
    assert_eq!(launch.model.as_deref(), Some("opus"));
    assert_eq!(launch.worktree, "/src/shop");
    let launch = launch_from(Agent::Claude, &words("/opt/claude --dangerously-skip-permissions --resume 1-2"), "/w");
    assert_eq!((launch.argv, launch.permission_mode), (words("/opt/claude"), Some("bypassPermissions".to_owned())));
}

#[test]
fn codex_keeps_its_sandbox_its_policy_and_how_it_was_configured() {
    let line = "/opt/codex --no-daemon -a never -s workspace-write -c model_provider=x -m gpt resume 1-2";
    let launch = launch_from(Agent::Codex, &words(line), "/w");
    assert_eq!(launch.argv, words("/opt/codex --no-daemon -c model_provider=x"));
    assert_eq!(launch.permission_mode.as_deref(), Some("workspace-write/never"));
    assert_eq!(launch.model.as_deref(), Some("gpt"));
    let launch = launch_from(Agent::Codex, &words("/opt/codex -a never"), "/w");
    assert_eq!((launch.argv, launch.permission_mode), (words("/opt/codex -a never"), None));
    let launch = launch_from(Agent::Codex, &words("/opt/codex --sandbox=read-only -a on-request"), "/w");
    assert_eq!(
        (launch.argv, launch.permission_mode),
        (words("/opt/codex -a on-request"), Some("read-only".to_owned()))
    );
}

#[test]
fn a_script_is_the_program_and_not_its_interpreter() {
    for interpreter in ["/usr/bin/python3.12", "/usr/bin/node", "/usr/bin/bun"] {
        let line = words(&format!("{interpreter} /opt/claude --resume 1-2"));
        assert_eq!(launch_from(Agent::Claude, &line, "/w").argv, words(&format!("{interpreter} /opt/claude")));
    }
    assert_eq!(script(&words("/opt/nodes /opt/claude")), None);
}

#[test]
fn a_program_comes_from_the_launch_then_the_settings_then_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.path().join(name);
        std::fs::File::create(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let (own, named, on_path) = (make("own"), make("named"), make("claude"));
    let launch = |program: &Path| Launch {
        argv: vec![words_of(program), "--settings".to_owned(), "s".to_owned()],
        ..Launch::default()
    };
    let mut settings = Settings { path: Some(folder.path().as_os_str().to_owned()), ..Settings::default() };
    let found = |settings: &Settings, launch: Option<&Launch>| program_of(Agent::Claude, launch, settings);
    assert_eq!(found(&settings, None), Ok(vec![words_of(&on_path)]));
    settings.claude_program = Some(named.clone());
    assert_eq!(found(&settings, None), Ok(vec![words_of(&named)]));
    let of = |program: &Path| Ok(vec![words_of(program), "--settings".to_owned(), "s".to_owned()]);
    assert_eq!(found(&settings, Some(&launch(&own))), of(&own));
    std::fs::remove_file(&own).unwrap();
    assert_eq!(found(&settings, Some(&launch(&own))), of(&named), "its program is gone, its words are not");
    settings.claude_program = Some(own);
    let told = found(&settings, None).unwrap_err();
    assert!(told.starts_with("claude_program in config.toml names") && told.ends_with("can't be run"), "{told}");
    settings.claude_program = Some("claude".into());
    assert_eq!(found(&settings, None), Ok(vec![words_of(&on_path)]), "a bare name is looked for");
    let nowhere = program_of(Agent::Codex, None, &settings).unwrap_err();
    assert!(nowhere.contains("codex_program in config.toml"), "{nowhere}");
}
