//! The forms (`dashboard.md` §6): what they propose to think of, what they keep, where a problem stands.

use trellis::model::command::Command;
use trellis::model::session::Permission;
use trellis::projection::Projection;
use trellis::ui::ahead::{Ahead, TRIED};
use trellis::ui::app::{Effect, Msg};

use super::{Rig, scenes};

fn rig(projection: Projection) -> Rig {
    Rig::new(projection, (60, 34))
}

/// What is seen of the two sides of the scene.
fn seen(claude: (&str, bool), codex: (&str, bool), uncommitted: Option<u32>) -> Msg {
    let sessions = scenes::two_sessions().sessions;
    let modes = [claude, codex];
    Msg::Ahead(
        sessions
            .iter()
            .zip(modes)
            .map(|(view, (mode, asks))| Ahead {
                session: view.session.key(),
                permission: Some(Permission { mode: mode.to_owned(), asks }),
                uncommitted,
            })
            .collect(),
    )
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn opening_a_form_looks_at_its_sides_once_and_anew_at_the_next() {
    let mut rig = rig(scenes::two_sessions());
    let asks = |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::LookAhead(_))).count();
    assert_eq!(asks(&rig.send(Msg::Key("n".parse().unwrap()))), 1);
    assert_eq!(asks(&rig.send(Msg::Key("Tab".parse().unwrap()))), 0);
    assert_eq!(asks(&rig.send(Msg::Key("Ctrl-t".parse().unwrap()))), 0, "the same two");
    rig.send(Msg::Key("Esc".parse().unwrap()));
    assert_eq!(asks(&rig.send(Msg::Key("n".parse().unwrap()))), 1);
}

#[test]
fn will_it_run_alone_is_answered_before_the_start_and_refuses_nothing() {
    let mut rig = rig(scenes::two_sessions());
    rig.press("n");
    let text = flat(&rig.text());
    assert!(text.contains("✓ both free, both can be written to"), "{text}");
    assert!(text.contains("! nobody tried whether you would hear of it: trellis notify --test"), "{text}");
    rig.send(seen(("default", true), ("on-request", true), Some(3)));
    let text = flat(&rig.text());
    for fact in [
        "! claude asks before edits (default): alone it would wait for you",
        "! codex asks before edits (on-request): alone it would wait for you",
        "! 3 files are not committed",
    ] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
    let effects = rig.press("Enter");
    assert!(matches!(effects[0], Effect::Send { command: Command::CreateRun(_), .. }), "advice refuses nothing");
}

#[test]
fn what_lets_it_run_alone_is_said_too() {
    let mut rig = rig(scenes::two_sessions());
    rig.app.memory.insert(TRIED.to_owned(), true.into());
    rig.press("n");
    rig.send(seen(("bypassPermissions", false), ("never", false), Some(0)));
    let text = flat(&rig.text());
    assert!(
        text.contains("✓ neither side asks for permission") && text.contains("✓ everything is committed"),
        "{text}"
    );
    assert!(!text.contains("notify --test"), "{text}");
    rig.send(seen(("acceptEdits", true), ("never", false), Some(0)));
    assert!(flat(&rig.text()).contains("! claude asks before commands (acceptEdits)"), "{}", rig.text());
}

/// In a side pane what warns stays, and what a start will do.
#[test]
fn in_a_side_pane_the_warnings_and_the_sentence_about_starting_stay() {
    let mut rig = Rig::new(scenes::two_sessions(), (38, 20));
    rig.press("n");
    rig.send(seen(("default", true), ("never", false), Some(3)));
    let text = flat(&rig.text());
    assert!(text.contains("! claude asks before edits"), "{}", rig.text());
    assert!(text.contains("Starting sends nothing: claude's next answer will be phase 1."), "{}", rig.text());
    assert!(text.contains("[ start ]"), "{}", rig.text());
}

#[test]
fn what_was_filled_in_is_there_the_next_time_in_both_forms() {
    for (key, id) in [("n", "new_run"), ("N", "new_pair")] {
        let mut rig = rig(scenes::two_sessions());
        rig.press(key);
        while !rig.text().lines().any(|line| line.contains("▸relays")) {
            rig.press("Tab");
        }
        let effects = rig.press("Ctrl-u 4 Esc");
        assert!(matches!(&effects[..], [Effect::Remember(name, _)] if *name == id), "{effects:?}");
        rig.press(key);
        let text = rig.text();
        assert!(text.lines().any(|line| line.contains("relays    4")), "{text}");
    }
}

#[test]
fn a_problem_stands_at_its_field_while_one_types_and_goes_again() {
    let mut rig = rig(scenes::two_sessions());
    rig.press("n");
    while !rig.text().lines().any(|line| line.contains("▸relays")) {
        rig.press("Tab");
    }
    rig.press("Ctrl-u");
    let text = rig.text();
    let at = text.lines().position(|line| line.contains("▸relays")).unwrap();
    assert!(text.lines().nth(at + 1).unwrap().contains("a whole number from 1 on"), "{text}");
    rig.press("3");
    assert!(!rig.text().contains("a whole number"), "{}", rig.text());
    rig.press("Shift-Tab Shift-Tab Ctrl-u");
    assert!(rig.text().contains("a word the agent will write"), "{}", rig.text());
}

#[test]
fn the_options_show_the_sides_and_leave_them_as_they_are() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("o");
    let text = flat(&rig.text());
    assert!(text.contains("claude builds, codex reviews."), "{text}");
    assert!(!text.contains("Enter picks"), "{text}");
}
