//! The command line: what is understood, and that everything else is one line and exit code 2.

use std::path::Path;

use super::*;

fn said(words: &[&str]) -> Result<Cli, Result<String, Failure>> {
    parse(std::iter::once("trellis").chain(words.iter().copied()).map(OsString::from))
}

#[test]
fn the_definition_is_sound() {
    use clap::CommandFactory as _;
    Cli::command().debug_assert();
}

#[test]
fn home_may_stand_anywhere() {
    for words in
        [&["--home", "/h", "run", "list"][..], &["run", "list", "--home", "/h"], &["run", "--home", "/h", "list"]]
    {
        assert_eq!(said(words).unwrap().home.as_deref(), Some(Path::new("/h")));
    }
}

#[test]
fn no_word_at_all_means_what_the_definition_says() {
    let defined = Cli::try_parse_from(["trellis"]).unwrap();
    assert_eq!(format!("{:?}", said(&[]).unwrap()), format!("{defined:?}"));
}

#[test]
fn commands_are_understood() {
    assert!(said(&[]).unwrap().command.is_none());
    assert!(matches!(said(&["drive"]).unwrap().command, Some(Command::Drive(_))));
    let Some(Command::Demo(demo)) = said(&["demo", "--headless", "--speed", "20"]).unwrap().command else { panic!() };
    assert!(demo.headless && demo.speed == Tempo::of_speed(20.0).unwrap());
    let Some(Command::Dump(dump)) = said(&["dump", "--screen", "run", "--size", "38x20"]).unwrap().command else {
        panic!()
    };
    assert_eq!((dump.screen, dump.size), (ScreenArg::Run, (38, 20)));
    let words = ["run", "start", "--implementer", "claude:a:b", "--reviewer", "codex:c"];
    let Some(Command::Run(RunCommand::Start(start))) = said(&words).unwrap().command else { panic!() };
    assert_eq!((start.implementer.to_string().as_str(), start.headless), ("claude:a:b", false));
}

#[test]
fn mistakes_are_one_line_and_code_2() {
    let cases = [
        (&["demo", "--speed", "0"][..], "give a number from 0.1 to 100"),
        (&["demo", "--speed", "fast"], "give a number from 0.1 to 100"),
        (&["demo", "--scene", "limit", "--script", "x"], "cannot be used with"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["dump", "--screen", "run", "--size", "38"], "write columns x rows, 120x40"),
        (&["dump", "--screen", "run", "--size", "0x20"], "write columns x rows, 120x40"),
        (&["dump", "--screen", "nothing", "--size", "38x20"], "invalid value"),
        (&["run", "start", "--implementer", "gemini:a", "--reviewer", "codex:b"], "gemini is no agent"),
        (&["run", "start", "--implementer", "claude:", "--reviewer", "codex:b"], "the session's id is missing"),
        (&["run", "start", "--implementer", "claude:a"], "--reviewer"),
        (&["run"], "needs one of start, list, show, verify"),
        (&["run", "show"], "<ID>"),
        (&["run", "start"], "trellis run start --help says"),
        (&["--home", "run", "run", "verify"], "trellis run verify --help says"),
        (
            &["session"],
            "trellis session needs one of new, list, show, reach, transcript, rename, put-away, take-back, bring-back, send; trellis",
        ),
        (&["verdict"], "trellis verdict --help says"),
    ];
    for (words, expected) in cases {
        match said(words) {
            Err(Err(failure)) => {
                assert_eq!(failure.code(), 2, "{words:?}");
                assert!(!failure.message.contains('\n'), "{words:?}: {}", failure.message);
                assert!(failure.message.contains(expected), "{words:?}: {}", failure.message);
            }
            other => panic!("{words:?}: {other:?}"),
        }
    }
}

#[test]
fn what_is_usual_need_not_be_said() {
    let Some(Command::Dump(dump)) = said(&["dump", "--screen", "runs"]).unwrap().command else { panic!() };
    assert_eq!(dump.size, (80, 24));
    let Some(Command::Verdict(verdict)) = said(&["verdict", "-"]).unwrap().command else { panic!() };
    assert_eq!((verdict.signal, verdict.completion), (None, false));
}

#[test]
fn help_is_no_mistake() {
    for words in [&["--help"][..], &["demo", "--help"], &["--version"]] {
        assert!(matches!(said(words), Err(Ok(_))), "{words:?}");
    }
}

#[test]
fn codes_are_as_the_manual_says() {
    assert_eq!(Failure::refused("x").code(), 1);
    assert_eq!(Failure::usage("x").code(), 2);
    assert_eq!(Failure::internal("x").code(), 70);
    assert_eq!(Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe)).message, "");
}

#[test]
fn what_the_help_does_not_list_is_not_proposed() {
    let Err(Err(failure)) = said(&["foo"]) else { panic!() };
    assert!(!failure.message.contains("hook"), "{}", failure.message);
    let Err(Err(failure)) = said(&["statsu"]) else { panic!() };
    assert!(failure.message.contains("'status'"), "{}", failure.message);
    let Err(Ok(help)) = said(&["demo", "--help"]) else { panic!() };
    assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains("a folder of its own"), "{help}");
}

/// What can be ordered over the socket can be ordered by a command, and the other way round.
#[test]
fn every_control_is_a_command_of_runs_and_of_pairs_where_they_have_it() {
    use crate::serve::routes::{CONTROLS, SESSION_ORDERS};
    let top = Cli::command();
    // Making, looking, settings and removal have methods of their own there.
    let own = ["start", "list", "show", "verify", "edit", "delete"];
    for (group, wanted) in [
        ("run", CONTROLS.iter().map(|spec| spec.word).collect::<Vec<_>>()),
        ("pair", CONTROLS.iter().filter(|spec| spec.of_pairs).map(|spec| spec.word).collect()),
        ("session", SESSION_ORDERS.iter().map(|(word, _)| *word).collect()),
    ] {
        let own = if group == "session" { &["new", "list", "show", "transcript"][..] } else { &own[..] };
        let commands = top.find_subcommand(group).unwrap().get_subcommands().map(clap::Command::get_name);
        let mut commands: Vec<&str> = commands.filter(|name| !own.contains(name)).collect();
        let mut wanted = wanted;
        commands.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(commands, wanted, "{group}");
    }
}
