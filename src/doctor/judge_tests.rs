//! Tests of `doctor::judge`: each state of the machine gives its level and its advice.

use std::collections::BTreeMap;

use super::*;
use crate::doctor::Level;
use crate::doctor::facts::{RootContent, WatchFact, WatchLimits};
use crate::model::ids::{Agent, SessionId, SessionKey};

fn all_well() -> Facts {
    let program = |tried: &crate::doctor::Tried| ProgramFact {
        agent: tried.agent,
        named: false,
        file: Ok(format!("/usr/bin/{}", tried.agent)),
        version: Some(Ok(format!("{} (it says)", tried.version))),
    };
    let root = |agent| RootFact {
        agent,
        path: String::from("/home/dev/.agent"),
        content: Ok(Some(RootContent { sessions: 3, read: 3, refused: 0, unknown: BTreeMap::new() })),
    };
    Facts {
        tmux: Some(Ok(String::from("tmux 3.3a"))),
        programs: TRIED.iter().map(program).collect(),
        roots: vec![root(Agent::Claude), root(Agent::Codex)],
        watching: WatchFact {
            polling: false,
            limits: Some(WatchLimits { watches: 8192, instances: 128, instances_used: 3 }),
        },
        home: HomeFact {
            path: String::from("/home/dev/.trellis"),
            exists: true,
            free: Some(1 << 40),
            ..HomeFact::default()
        },
        utf8: true,
        ..Facts::default()
    }
}

/// The findings that are not well, as `level about`, with all their words.
fn complaints(facts: &Facts) -> Vec<(String, String)> {
    let findings = judge(facts).into_iter().filter(|finding| finding.level != Level::Well);
    let told = findings.map(|finding| {
        let advice = finding.advice.as_ref().map(ToString::to_string).unwrap_or_default();
        (format!("{} {}", finding.level.word(), finding.about), format!("{} | {advice}", finding.says))
    });
    told.collect()
}

#[track_caller]
fn only(facts: &Facts, heading: &str, parts: &[&str]) {
    let complaints = complaints(facts);
    let [(found, words)] = complaints.as_slice() else { panic!("{complaints:?}") };
    assert_eq!(found, heading, "{words}");
    for part in parts {
        assert!(words.contains(part), "{part:?} is not in {words:?}");
    }
}

fn session() -> SessionKey {
    SessionKey { agent: Agent::Claude, session_id: SessionId::new("11-22") }
}

#[test]
fn a_machine_on_which_all_is_well_has_no_complaint() {
    assert_eq!(complaints(&all_well()), []);
    assert!(judge(&all_well()).len() >= 6, "and what was looked at is said");
}

#[test]
fn a_tmux_that_is_missing_or_too_old_stops_and_a_newer_one_does_not() {
    let with = |said: Result<&str, &str>| {
        let said = said.map(str::to_owned).map_err(str::to_owned);
        Facts { tmux: Some(said), ..all_well() }
    };
    only(&with(Err("can't run tmux: No such file")), "fix tmux", &["No such file", "install tmux 3.2", "headless"]);
    only(&with(Ok("tmux 3.1c")), "fix tmux", &["3.1c is too old", "3.2 or newer"]);
    only(&with(Ok("tmux master")), "note tmux", &["master", "3.3a"]);
    for good in ["tmux 3.2", "tmux 3.3a", "tmux 3.5", "tmux next-3.6"] {
        assert_eq!(complaints(&with(Ok(good))), [], "{good}");
    }
}

#[test]
fn an_agent_that_is_too_old_stops_and_one_that_is_newer_is_told() {
    let with = |said: Result<&str, &str>| {
        let mut facts = all_well();
        facts.programs[0].version = Some(said.map(str::to_owned).map_err(str::to_owned));
        facts
    };
    only(&with(Ok("2.0.77 (Claude Code)")), "fix claude", &["2.0.77 is too old", "/usr/bin/claude", "update it to"]);
    only(&with(Ok("2.1.331 (Claude Code)")), "note claude", &["older than", "2.1.332"]);
    only(&with(Ok("9.0.0 (Claude Code)")), "note claude", &["newer than", "2.1.332"]);
    only(&with(Ok("hello")), "note claude", &["cannot be compared", "hello"]);
    only(&with(Err("it ended with exit code 3")), "fix claude", &["exit code 3", "run it yourself"]);
}

#[test]
fn one_agent_that_is_missing_is_a_note_and_both_stop() {
    let mut facts = all_well();
    facts.programs[1] =
        ProgramFact { agent: Agent::Codex, named: false, file: Err(String::from("not in PATH")), version: None };
    only(&facts, "note codex", &["not in PATH", "codex_program"]);
    facts.programs[0] =
        ProgramFact { agent: Agent::Claude, named: false, file: Err(String::from("not in PATH")), version: None };
    assert!(complaints(&facts).iter().all(|(heading, _)| heading.starts_with("fix ")), "{:?}", complaints(&facts));
    // Sessions that run need no program to be found.
    facts.live = vec![(session(), Ok(String::from("pane %1")))];
    assert!(complaints(&facts).iter().all(|(heading, _)| heading.starts_with("note ")), "{:?}", complaints(&facts));
}

#[test]
fn transcripts_that_cannot_be_read_stop_and_none_at_all_do_not() {
    let with = |content| {
        let mut facts = all_well();
        facts.roots[0].content = content;
        facts
    };
    only(
        &with(Err(String::from("Permission denied"))),
        "fix transcripts",
        &["claude", "Permission denied", "config.toml"],
    );
    only(&with(Ok(None)), "note transcripts", &["no transcripts yet", "waited for"]);
}

#[test]
fn records_that_are_not_understood_are_counted_by_type() {
    let mut facts = all_well();
    let unknown =
        BTreeMap::from([(String::from("dream"), 2), (String::from("wish/list"), 40), (String::from("a \u{1b}[2J"), 1)]);
    facts.roots[1].content = Ok(Some(RootContent { sessions: 9, read: 3, refused: 0, unknown }));
    only(&facts, "note transcripts", &["43 records of the newest 3 codex sessions", "40 × wish/list, 2 × dream, 1 × "]);
}

#[test]
fn a_session_that_is_in_no_pane_can_be_a_side_by_hand() {
    let facts = Facts { live: vec![(session(), Err(String::from("pid 7 is in no tmux pane")))], ..all_well() };
    only(&facts, "note session", &["claude:11-22", "in no tmux pane", "by hand"]);
}

#[test]
fn a_side_without_its_process_stops_its_run() {
    let facts = Facts { absent: vec![(String::from("run-1"), session())], ..all_well() };
    only(&facts, "fix run", &["claude:11-22", "run-1", "press b"]);
}

#[test]
fn a_home_that_refuses_is_full_or_has_another_writer_stops() {
    let with = |change: fn(&mut HomeFact)| {
        let mut facts = all_well();
        change(&mut facts.home);
        facts
    };
    only(
        &with(|home| home.refuses = Some(String::from("Permission denied"))),
        "fix home",
        &["cannot be written", "--home"],
    );
    only(&with(|home| home.lock_refuses = Some(String::from("no access"))), "fix home", &["no access", "trellis.lock"]);
    only(&with(|home| home.free = Some(4096)), "fix home", &["4 KB are free", "make room"]);
    only(
        &with(|home| home.strangers = vec![(77, String::from("other"))]),
        "fix home",
        &["other (pid 77)", "two writers"],
    );
    only(&with(|home| home.quarantined = 2), "note home", &["2 files are in /home/dev/.trellis/quarantine"]);
    only(
        &with(|home| home.foreign = vec![(String::from("run r1"), String::from("written by a newer trellis"))]),
        "note home",
        &["1 record is only shown", "run r1", "newer trellis"],
    );
    assert_eq!(complaints(&with(|home| home.exists = false)), [], "it is made when it is needed");
}

#[test]
fn a_driver_is_as_it_should_be_unless_it_was_stopped() {
    let with = |stopped| {
        let mut facts = all_well();
        facts.home.driver = Some(DriverProcess { pid: Some(4242), stopped });
        facts
    };
    assert_eq!(complaints(&with(false)), []);
    assert!(judge(&with(false)).iter().any(|finding| finding.says.to_string().contains("pid 4242")));
    only(&with(true), "fix driver", &["pid 4242", "stopped", "fg"]);
}

#[test]
fn what_eats_bells_copies_and_notifications_is_named_with_the_option_to_set() {
    let server = |name: &str, value: &str| ServerFact {
        socket: String::from("/tmp/tmux-1/default"),
        panes: 2,
        options: BTreeMap::from([(name.to_owned(), value.to_owned())]),
    };
    for (name, bad, good, about) in [
        ("set-clipboard", "off", "external", "note clipboard"),
        ("bell-action", "none", "any", "note bell"),
        ("monitor-bell", "off", "on", "note bell"),
        ("allow-passthrough", "off", "on", "note notification"),
    ] {
        only(&Facts { servers: vec![server(name, bad)], inside_tmux: true, ..all_well() }, about, &[name]);
        assert_eq!(complaints(&Facts { servers: vec![server(name, bad)], ..all_well() }), [], "trellis is not in it");
        assert_eq!(complaints(&Facts { servers: vec![server(name, good)], inside_tmux: true, ..all_well() }), []);
    }
}

#[test]
fn watches_that_are_used_up_are_named_with_their_limit() {
    let with = |polling, used| Facts {
        watching: WatchFact {
            polling,
            limits: Some(WatchLimits { watches: 10, instances: 128, instances_used: used }),
        },
        ..all_well()
    };
    only(
        &with(true, 128),
        "note watching",
        &["again and again", "max_user_watches (now 10)", "max_user_instances (now 128)"],
    );
    only(&with(false, 126), "note watching", &["126 of 128", "sysctl"]);
}

#[test]
fn mistakes_in_settings_and_a_plain_locale_are_notes() {
    let facts = Facts { settings: vec![(String::from("config.toml"), String::from("theme: no such"))], ..all_well() };
    only(&facts, "note settings", &["config.toml: theme: no such", "default counts"]);
    only(&Facts { utf8: false, ..all_well() }, "note terminal", &["UTF-8"]);
}

#[test]
fn a_report_names_nothing_of_the_machine_or_the_person() {
    let mut facts = all_well();
    facts.tmux = Some(Err(String::from("SECRET")));
    facts.inside_tmux = true;
    facts.servers = vec![ServerFact {
        socket: String::from("SECRET"),
        panes: 1,
        options: BTreeMap::from([(String::from("bell-action"), String::from("none"))]),
    }];
    for program in &mut facts.programs {
        program.file = Ok(String::from("SECRET"));
    }
    facts.programs[1].version = Some(Err(String::from("SECRET")));
    for root in &mut facts.roots {
        root.path = String::from("SECRET");
    }
    facts.roots[0].content = Err(String::from("SECRET"));
    let id = SessionKey { agent: Agent::Claude, session_id: SessionId::new("SECRET") };
    facts.live = vec![(id.clone(), Ok(String::from("SECRET"))), (id.clone(), Err(String::from("SECRET")))];
    facts.absent = vec![(String::from("SECRET"), id)];
    facts.settings = vec![(String::from("SECRET"), String::from("SECRET"))];
    facts.unreadable = vec![(String::from("SECRET"), String::from("SECRET"))];
    facts.signs = Some((String::from("SECRET"), String::from("SECRET")));
    let hostile = String::from("sk-ant-api03-SECRETTOKEN_of-jane.doe/acme-internal");
    let unknown = BTreeMap::from([(hostile, 2), (String::from("SECRET of mine"), 1)]);
    facts.roots[1].content = Ok(Some(RootContent { sessions: 1, read: 1, refused: 1, unknown }));
    facts.home = HomeFact {
        path: String::from("SECRET"),
        refuses: Some(String::from("SECRET")),
        wide: Some(0o777),
        lock_refuses: Some(String::from("SECRET")),
        strangers: vec![(1, String::from("SECRET"))],
        foreign: vec![(String::from("SECRET"), String::from("SECRET"))],
        quarantined: 1,
        free: Some(1),
        ..facts.home
    };
    for finding in judge(&facts) {
        let told = finding.says.redacted() + &finding.advice.as_ref().map(Sentence::redacted).unwrap_or_default();
        assert!(!told.contains("SECRET"), "{told}");
        assert!(!told.is_empty());
    }
}

#[test]
fn only_words_of_a_protocol_are_shown_as_types() {
    for (name, shown) in [
        ("event_msg/item_completed/FileChange", true),
        ("system/api_error", true),
        ("queue-operation/requeue", true),
        ("user/malformed", true),
        ("sk-ant-api03-SECRETTOKEN_of-jane.doe/acme-internal", false),
        ("ghp_abcDEFghiJKLmno", false),
        ("jane.doe", false),
        ("Bearer abc", false),
        ("a/b/c/d", false),
        ("a-b_c", false),
        ("user/", false),
        ("", false),
        ("one_two_three_four_five", false),
        ("abcdefghijklmnopqrstuvwxyz", false),
        ("t\u{202e}x", false),
    ] {
        assert_eq!(is_protocols(name), shown, "{name}");
    }
}

#[test]
fn what_cannot_be_read_stops() {
    let it = || (String::from("/h/x"), String::from("permission denied"));
    only(&Facts { unreadable: vec![it()], ..all_well() }, "fix settings", &["/h/x cannot be read: permission denied"]);
    only(&Facts { signs: Some(it()), ..all_well() }, "fix sessions", &["status files cannot be read at /h/x"]);
}

#[test]
fn a_home_that_is_open_to_others_is_said() {
    let mut facts = all_well();
    for (mode, level) in
        [(Some(0o755), Some("note")), (Some(0o775), Some("fix")), (Some(0o702), Some("fix")), (None, None)]
    {
        facts.home.wide = mode;
        let findings = judge(&facts);
        let found = findings.iter().find(|finding| finding.says.to_string().starts_with("others on this machine may"));
        assert_eq!(found.map(|finding| finding.level.word()), level, "{mode:?}");
    }
}
