//! The transport alone: one send into a pane of a fake agent, without a driver. What a driver makes of it is in `bench`.

use std::path::{Path, PathBuf};
use std::process::Command;

use trellis::agent::claude::ClaudeSession;
use trellis::agent::tmux::typing::{Moment, Typing};
use trellis::agent::tmux::{Pane, PaneId, Pressed, Server};
use trellis::machine::Delivery;
use trellis::model::ids::{Agent, SessionId};
use trellis::model::reach::{InFlight, InputBox, LiveStatus, OnItsWay, ProcessFact, SendReport, Tick, Transport};
use trellis::model::text::fold;

use super::rig::{Rig, SESSION};

fn session() -> ClaudeSession {
    ClaudeSession::new(SessionId::new(SESSION))
}

fn forty_lines() -> String {
    let mut lines =
        vec!["Findings:", "", "```rust", "fn main() {", "    println!(\"日本語\");", "}", "```", "- one", "* two", ""];
    lines.extend(["a line of the answer"; 30]);
    lines.join("\n")
}

fn entered(report: &SendReport) {
    assert_eq!(report.stopped, None);
    assert!(report.entered && report.last_key_at.is_some());
}

#[test]
fn d1_forty_lines_arrive_as_one_message() {
    let Some(rig) = Rig::start(&["--clock"]) else { return };
    entered(&rig.send(&forty_lines()));
    rig.arrives_once(&forty_lines());
}

#[test]
fn d3_enter_comes_late_enough_for_an_agent_that_takes_an_early_one_for_a_line_feed() {
    let Some(rig) = Rig::start(&["--codex", "--newline-within", "120"]) else { return };
    let pane = rig.pane();
    let typing = Typing { pane: &pane, agent: Agent::Codex, entry: &"p.1".into(), check: &|_: Moment| Ok(()) };
    entered(&typing.send(&[forty_lines()], false));
    rig.arrives_once(&forty_lines());
}

#[test]
fn d5_a_slow_agent_gets_the_message_once_and_no_ctrl_c() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.set("frozen");
    let mut session = session();
    let report = session.send(&rig.settings(), &Rig::delivery("slowly now"));
    assert!(report.last_key_at.is_some() && !report.entered, "Enter is pressed only on a text that is seen");
    rig.unset("frozen");
    let entry = InFlight { text: "slowly now".into(), ..InFlight::default() };
    rig.wait("our own text", || session.probe(&rig.settings(), Some(&entry)).input == InputBox::Ours);
    entered(&session.press_enter(&rig.settings(), &Rig::delivery("slowly now")));
    rig.arrives_once("slowly now");
}

/// Killed behind its Enter, before that was saved: the pane says what it came to, to a start that knows nothing of it.
/// An id that tmux would read as more than one word is not noted.
#[test]
fn a_pane_keeps_which_message_enter_was_pressed_on() {
    let Some(rig) = Rig::start(&[]) else { return };
    let flies = |entry: &str| InFlight { entry: Some(entry.into()), text: "once".into(), ..InFlight::default() };
    let seen = |entry: &str| session().probe(&rig.settings(), Some(&flies(entry))).on_its_way;
    assert_eq!(seen("p.1"), OnItsWay::No);
    entered(&rig.send("once"));
    rig.arrives_once("once");
    rig.wait("the mark", || seen("p.1") == OnItsWay::Entered);
    assert_eq!(seen("p.2"), OnItsWay::No, "another message was not entered");
    assert_eq!(rig.pane().enter(&"x ; kill-server".into()), Ok(Pressed::Done));
    rig.wait("the mark, as it was", || seen("p.1") == OnItsWay::Entered);
}

#[test]
fn d9_half_a_sentence_of_a_person_holds_the_message_until_the_box_is_empty() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["send-keys", "-t", "%0", "-l", "only after the tests"]);
    rig.tmux(&["send-keys", "-t", "%0", "Home"]);
    let seen = || session().probe(&rig.settings(), None);
    rig.wait("the half sentence", || seen().input == InputBox::Other);
    assert!(matches!(&seen().ticks.box_empty, Tick::Missing(why) if why.contains("unsent text")));
    let report = rig.send("a relay");
    assert_eq!(report.last_key_at, None, "nothing was typed");
    assert_eq!(report.stopped.as_deref(), Some("unsent text in claude's input box"));
    rig.tmux(&["send-keys", "-t", "%0", "C-u"]);
    rig.wait("the empty box", || seen().input == InputBox::Empty);
    entered(&rig.send("a relay"));
    rig.arrives_once("a relay");
}

#[test]
fn d13_an_end_of_paste_inside_the_message_ends_nothing() {
    let Some(rig) = Rig::start(&[]) else { return };
    let text = "before\u{1b}[201~\nrm -rf x\u{1b}]0;t\u{7}\tafter";
    entered(&rig.send(text));
    rig.arrives_once("before[201~\nrm -rf x]0;t\tafter");
}

#[test]
fn d15_what_looks_like_a_command_arrives_as_text() {
    let Some(rig) = Rig::start(&[]) else { return };
    let texts = ["/clear the cache first", "!important", "# Findings", "@src/a.rs is wrong", "ends in a \\"];
    for (at, text) in texts.into_iter().enumerate() {
        // It may still be at the turn before, or begin it only now: then nothing is typed, and it is tried again.
        let mut report = SendReport::default();
        rig.wait("its end of the turn before", || {
            report = rig.send(text);
            report.stopped.as_deref() != Some("claude is busy")
        });
        entered(&report);
        rig.wait("the message", || rig.submitted().len() > at);
        let got = &rig.submitted()[at];
        assert!(fold(got).ends_with(&fold(text)));
        assert!(!got.starts_with(['/', '!', '#', '@']) && !got.ends_with('\\'), "{got}");
    }
}

#[test]
fn blank_lines_in_front_hold_nothing_up() {
    let Some(rig) = Rig::start(&["--fold-pastes"]) else { return };
    let text = "\n\n\nfirst words\n\n\n\nand last";
    entered(&rig.send(text));
    rig.arrives_once(text);
}

#[test]
fn d17_after_a_restart_of_the_server_nothing_goes_to_the_pane_of_the_same_number() {
    let Some(rig) = Rig::start(&[]) else { return };
    let pane = rig.pane();
    let mut session = session();
    let before = session.probe(&rig.settings(), None);
    assert!(matches!(before.process, ProcessFact::Alive { .. }));
    assert_eq!((before.transport, before.place.as_str()), (Some(Transport::Tmux), "%0"));
    rig.tmux(&["kill-server"]);
    rig.wait("the server to end", || Server::at(rig.socket()).panes().is_err());
    rig.open(&["cat"]);
    rig.wait("the new server", || Server::at(rig.socket()).panes().is_ok());
    assert_ne!(pane.paste("trellis-test", "typed into a stranger").unwrap_or(Pressed::Refused), Pressed::Done);
    assert_ne!(pane.enter(&"p.1".into()).unwrap_or(Pressed::Refused), Pressed::Done);
    let typing = Typing { pane: &pane, agent: Agent::Claude, entry: &"p.1".into(), check: &|_: Moment| Ok(()) };
    assert_eq!(typing.send(&[String::from("typed into a stranger")], true).last_key_at, None);
    assert!(!rig.tmux(&["capture-pane", "-p", "-t", "%0"]).contains("stranger"));
    assert_eq!(rig.tmux(&["list-buffers"]), "", "no text is left in a buffer");
    rig.wait("the agent's end", || session.probe(&rig.settings(), None).process == ProcessFact::Dead);
    let after = session.probe(&rig.settings(), None);
    assert!(matches!(after.ticks.alive, Tick::Missing(_)));
    assert_eq!(after.transport, None);
    assert!(session.send(&rig.settings(), &Rig::delivery("x")).stopped.is_some());
}

#[test]
fn d19_a_pane_that_is_not_there_is_an_error_and_never_another_one() {
    let Some(rig) = Rig::start(&[]) else { return };
    assert!(Server::at(rig.socket()).pane(&PaneId::new("%9999").unwrap()).is_err());
    let gone = Pane { id: PaneId::new("%9999").unwrap(), ..rig.pane() };
    assert_ne!(gone.paste("trellis-test", "astray").unwrap_or(Pressed::Refused), Pressed::Done);
    assert_ne!(gone.enter(&"p.1".into()).unwrap_or(Pressed::Refused), Pressed::Done);
    assert!(rig.submitted().is_empty());
    assert_eq!(session().probe(&rig.settings(), None).input, InputBox::Empty);
}

#[test]
fn d21_keys_that_are_not_taken_do_not_matter() {
    let Some(rig) = Rig::start(&["--ignore-typed"]) else { return };
    entered(&rig.send("through a paste"));
    rig.arrives_once("through a paste");
}

/// Set in the processes that this test starts of itself: the locale is the whole process's.
const IN_A_LOCALE: &str = "TRELLIS_TEST_IN_A_LOCALE";

#[test]
fn d25_signs_and_titles_are_read_whatever_the_locale() {
    if std::env::var_os(IN_A_LOCALE).is_some() {
        return signs_and_titles();
    }
    for locale in [&[][..], &[("LC_ALL", "C")], &[("LANG", "POSIX")], &[("LC_CTYPE", "POSIX"), ("LANG", "C.UTF-8")]] {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "tmux::transport::d25_signs_and_titles_are_read_whatever_the_locale", "--nocapture"]);
        for name in ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"] {
            test.env_remove(name);
        }
        let output = test.env(IN_A_LOCALE, "").envs(locale.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{locale:?}: {said}");
    }
}

fn signs_and_titles() {
    const TITLE: &str = "会話 ❯ “titel” – ‘é’";
    let Some(rig) = Rig::start(&["--title", TITLE]) else { return };
    rig.wait("the title", || rig.pane().title.starts_with("会話"));
    assert_eq!(rig.pane().title, TITLE);
    let listed = Server::at(rig.socket()).panes().unwrap();
    assert_eq!(listed[0].title, TITLE);
    assert_eq!(session().probe(&rig.settings(), None).input, InputBox::Empty);
    let text = "次の段階 “quoted” – ‘done’";
    entered(&rig.send(text));
    rig.arrives_once(text);
}

#[test]
fn copy_mode_is_left_before_the_first_key_and_before_enter() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["copy-mode", "-t", "%0"]);
    assert_eq!(session().probe(&rig.settings(), None).ticks.not_scrolled, Tick::Holds, "trellis leaves it itself");
    entered(&rig.send("scrolled"));
    rig.arrives_once("scrolled");

    let Some(rig) = Rig::start(&["--on-paste", "copy-mode"]) else { return };
    entered(&rig.send("scrolled between"));
    rig.arrives_once("scrolled between");
}

#[test]
fn a_chooser_of_tmux_is_not_closed_for_the_person() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["choose-tree", "-t", "%0"]);
    assert!(matches!(session().probe(&rig.settings(), None).ticks.not_scrolled, Tick::Missing(_)));
    assert_eq!(rig.send("x").last_key_at, None);
}

#[test]
fn a_dialog_gets_no_key_also_when_it_opens_between_paste_and_enter() {
    let Some(rig) = Rig::start(&["--on-paste", "dialog"]) else { return };
    let report = rig.send("at the worst moment");
    assert!(!report.entered, "{report:?}");
    let reach = session().probe(&rig.settings(), None);
    assert_eq!(reach.status, LiveStatus::Waiting { what: String::from("permission prompt") });
    assert!(matches!(reach.ticks.no_dialog, Tick::Missing(_)));
    assert_eq!(rig.send("again").last_key_at, None);
    assert_eq!((rig.submitted().len(), rig.happened()), (0, Vec::<String>::new()), "nothing was approved");
}

#[test]
fn a_lost_enter_is_pressed_again_alone_and_only_on_our_own_text() {
    let Some(rig) = Rig::start(&["--drop-enters", "1"]) else { return };
    let mut session = session();
    entered(&session.send(&rig.settings(), &Rig::delivery("lost once")));
    let entry = InFlight { text: "lost once".into(), ..InFlight::default() };
    let seen = session.probe(&rig.settings(), Some(&entry));
    assert_eq!((seen.input, seen.on_its_way), (InputBox::Ours, OnItsWay::No));
    rig.tmux(&["send-keys", "-t", "%0", "-l", " and mine"]);
    rig.wait("the added words", || session.probe(&rig.settings(), Some(&entry)).input == InputBox::Other);
    assert!(!session.press_enter(&rig.settings(), &Rig::delivery("lost once")).entered);
    rig.tmux(&["send-keys", "-t", "%0", "C-u"]);
    rig.wait("the empty box", || session.probe(&rig.settings(), Some(&entry)).input == InputBox::Empty);
    entered(&session.send(&rig.settings(), &Rig::delivery("lost once")));
    rig.arrives_once("lost once");
}

#[test]
fn a_box_that_nobody_knows_holds_the_message_unless_a_person_allowed_it() {
    let Some(rig) = Rig::start(&["--no-box"]) else { return };
    assert_eq!(session().probe(&rig.settings(), None).input, InputBox::Unknown);
    assert_eq!(rig.send("x").last_key_at, None);
    let allowed = Delivery { allow_unknown_box: true, ..Rig::delivery("allowed") };
    entered(&session().send(&rig.settings(), &allowed));
    rig.arrives_once("allowed");
}

#[test]
fn panes_that_share_their_keys_get_none() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["split-window", "-t", "%0", "cat"]);
    rig.tmux(&["set-option", "-w", "-t", "%0", "synchronize-panes", "on"]);
    let reach = session().probe(&rig.settings(), None);
    assert!(matches!(&reach.ticks.pane, Tick::Missing(why) if why.contains("all panes")));
    assert_eq!(rig.send("x").last_key_at, None);
}

#[test]
fn an_agent_that_ends_after_the_paste_leaves_no_enter_to_what_comes_after_it() {
    let Some(rig) = Rig::start(&["--on-paste", "exit"]) else { return };
    rig.tmux(&["split-window", "-t", "%0", "cat"]);
    let report = rig.send("into nothing");
    assert!(!report.entered);
    assert!(report.stopped.is_some());
}

#[test]
fn a_session_that_went_over_to_another_is_named_with_its_proof() {
    let Some(rig) = Rig::start(&[]) else { return };
    let mut session = session();
    session.probe(&rig.settings(), None);
    let status = only_file(&rig.home().join("sessions"));
    let text = std::fs::read_to_string(&status).unwrap().replace(SESSION, "another");
    std::fs::write(&status, text).unwrap();
    let reach = session.probe(&rig.settings(), None);
    let (id, proof) = reach.replaced_by.unwrap();
    assert_eq!(id, SessionId::new("another"));
    assert!(proof.contains("status file"));
    assert_eq!(session.send(&rig.settings(), &Rig::delivery("x")).last_key_at, None);
}

fn only_file(folder: &Path) -> PathBuf {
    std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}
