//! Tests of `paths`.

use super::*;
use crate::model::ids::{Agent, PairId, SessionId};

fn environment() -> Environment {
    Environment {
        user_home: Some("/home/dev".into()),
        current_dir: Some("/home/dev/shop".into()),
        ..Environment::default()
    }
}

#[test]
fn the_flag_wins_over_the_variable_and_both_over_the_default() {
    let mut environment = environment();
    let root = |flag: Option<&str>, environment: &Environment| {
        Home::locate(flag.map(Path::new), environment).unwrap().root().to_owned()
    };
    assert_eq!(root(None, &environment), Path::new("/home/dev/.trellis"));
    environment.trellis_home = Some("/srv/t".into());
    assert_eq!(root(None, &environment), Path::new("/srv/t"));
    assert_eq!(root(Some("demo"), &environment), Path::new("/home/dev/shop/demo"));
    assert_eq!(root(Some("~/demo"), &environment), Path::new("/home/dev/demo"));
    assert_eq!(Home::locate(None, &Environment::default()), Err(NoHome));
}

#[test]
fn config_moves_the_agents_roots_and_a_relative_one_stays_in_the_home() {
    let mut environment = environment();
    let home = Home::at("/tmp/demo");
    let roots = AgentRoots::resolve(&home, &environment, None, None);
    assert_eq!(roots.claude_projects(), Path::new("/home/dev/.claude/projects"));
    assert_eq!(roots.codex_sessions(), Path::new("/home/dev/.codex/sessions"));
    environment.claude_config_dir = Some("/alt/claude".into());
    environment.codex_home = Some("/alt/codex".into());
    let roots = AgentRoots::resolve(&home, &environment, None, None);
    assert_eq!(roots.claude_status(), Path::new("/alt/claude/sessions"));
    assert_eq!(roots.codex_queue(), Path::new("/alt/codex/queue_1.sqlite"));
    let roots = AgentRoots::resolve(&home, &environment, Some("agents/claude"), Some("/x/codex"));
    assert_eq!(roots.claude, Path::new("/tmp/demo/agents/claude"));
    assert_eq!(roots.codex, Path::new("/x/codex"));
}

#[test]
fn an_id_that_could_leave_the_home_names_no_file() {
    let home = Home::at("/tmp/h");
    for id in ["../x", "", ".", "..", "a/b", "a\0b", "-\u{202e}x", ".hidden", "ünï"] {
        assert_eq!(home.record(&RecordKey::Pair(PairId::new(id))), None, "{id:?}");
        assert_eq!(home.texts(&RecordKey::Pair(PairId::new(id))), None, "{id:?}");
        let key = SessionKey { agent: Agent::Claude, session_id: SessionId::new(id) };
        assert_eq!(home.session(&key), None, "{id:?}");
    }
    assert_eq!(home.record(&RecordKey::Pair("p-1".into())).unwrap(), Path::new("/tmp/h/pairs/p-1.json"));
}

#[test]
fn the_locale_tells_whether_more_than_ascii_can_be_shown() {
    for (locale, expected) in
        [(None, false), (Some("C"), false), (Some("C.UTF-8"), true), (Some("de_DE.utf8"), true), (Some("en_US"), false)]
    {
        let environment = Environment { locale: locale.map(str::to_owned), ..Environment::default() };
        assert_eq!(environment.is_utf8(), expected, "{locale:?}");
    }
}
