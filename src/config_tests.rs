//! Tests of `config`.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn the_commented_default_is_the_default_and_names_every_key_rightly() {
    let (config, problems) = Config::parse("config.toml", DEFAULT_FILE);
    assert_eq!((config, problems), (Config::default(), vec![]));
    let uncommented: String = DEFAULT_FILE
        .lines()
        .map(|line| match line.strip_prefix("#") {
            Some(setting) if setting.starts_with(|c: char| c.is_ascii_lowercase()) => setting,
            _ => line,
        })
        .fold(String::new(), |text, line| text + line + "\n");
    let (config, problems) = Config::parse("config.toml", &uncommented);
    assert_eq!(problems, vec![]);
    assert_eq!(config.claude_home.as_deref(), Some("~/.claude"));
    assert_eq!(config.claude_program.as_deref(), Some("claude"));
    let named = Config { claude_home: None, codex_home: None, claude_program: None, codex_program: None, ..config };
    assert_eq!(named, Config::default());
}

#[test]
fn a_bad_value_falls_back_alone_and_is_named() {
    let text = "theme = \"neon\"\nmouse = true\nmessage_file_above = 5\nbell = \"yes\"\nclaude_home = 3\ncolour = 1\n";
    let (config, problems) = Config::parse("config.toml", text);
    assert_eq!(config, Config { mouse: true, ..Config::default() });
    let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(keys, ["claude_home", "theme", "bell", "message_file_above", "colour"]);
    assert!(problems[1].to_string().starts_with("config.toml: theme: \"neon\" does not fit"), "{}", problems[1]);
    assert!(problems[1].to_string().ends_with("\"terminal\" counts"), "{}", problems[1]);
    assert!(problems[1].problem.contains("give one of terminal, mono, high-contrast"), "{}", problems[1]);
    assert!(problems[2].problem.contains("give true or false"), "{}", problems[2]);
    for problem in Config::parse("c", "notify_command = 3\nmessage_file_above = -1\nmouse = 1.5\non_quit = 7\n").1 {
        let said = problem.to_string();
        assert!(!said.contains("variant") && !said.contains("invalid") && !said.contains("sequence"), "{said}");
    }
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line() {
    let (config, problems) = Config::parse("config.toml", "mouse = true\n\nbell = = 1\n");
    assert_eq!(config, Config::default());
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().starts_with("config.toml: line 3: "), "{}", problems[0]);
}

#[test]
fn names_that_can_name_nothing_are_left_out_and_said() {
    for (key, value) in [
        ("tmux_socket", "two words"),
        ("tmux_socket", "-L other"),
        ("tmux_socket", "/tmp/"),
        ("tmux_socket", ".."),
        ("tmux_socket", "~other"),
        ("tmux_socket", "bell\\u0007"),
        ("claude_program", "claude --dangerously-skip-permissions"),
        ("claude_program", "/usr/bin/claude --verbose"),
        ("claude_program", "env claude"),
        ("codex_program", "-codex"),
        ("codex_program", "./"),
        ("codex_program", "co\\ndex"),
    ] {
        let (config, problems) = Config::parse("config.toml", &format!("mouse = true\n{key} = \"{value}\"\n"));
        assert_eq!(config, Config { mouse: true, ..Config::default() }, "{key} {value}");
        assert_eq!(problems.len(), 1, "{key} {value}: {problems:?}");
        assert!(problems[0].key == key && problems[0].problem.ends_with("; left out"), "{:?}", problems[0]);
    }
    for (key, value) in [
        ("tmux_socket", "agents"),
        ("tmux_socket", "~/tmux/my agents"),
        ("tmux_socket", "./sock"),
        ("claude_program", "claude-2.1"),
        ("claude_program", "/opt/my tools/claude"),
        ("codex_program", "~/bin/codex"),
    ] {
        let (_, problems) = Config::parse("config.toml", &format!("{key} = \"{value}\"\n"));
        assert_eq!(problems, vec![], "{key} {value}");
    }
}

#[test]
fn a_notify_command_is_a_list_and_names_a_program() {
    let (config, problems) = Config::parse("config.toml", "notify_command = [\"notify-send\", \"trellis\"]");
    assert_eq!((config.notify_command, problems), (vec!["notify-send".to_owned(), "trellis".to_owned()], vec![]));
    let (config, problems) = Config::parse("config.toml", "notify_command = \"notify-send trellis\"");
    assert_eq!((config.notify_command.len(), problems.len()), (0, 1));
    let (config, problems) = Config::parse("config.toml", "notify_command = [\" \"]");
    assert_eq!((config.notify_command.len(), problems.len()), (0, 1));
}
