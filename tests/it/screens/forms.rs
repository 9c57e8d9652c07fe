//! The forms (`dashboard.md` §6): what they propose to think of, what they keep, where a problem stands.

use trellis::model::command::Command;
use trellis::model::ids::Agent;
use trellis::model::session::{Asks, Permission};
use trellis::projection::Projection;
use trellis::ui::ahead::{Ahead, TRIED};
use trellis::ui::app::{Effect, Msg, Over};
use trellis::ui::form::Form;

use super::{Rig, scenes};

fn rig(projection: Projection) -> Rig {
    Rig::new(projection, (60, 34))
}

/// What is seen of the two sides of the scene.
fn seen(claude: (&str, Asks), codex: (&str, Asks), uncommitted: Option<u32>) -> Msg {
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
    rig.send(seen(("default", Asks::Edits), ("on-request", Asks::Commands), Some(3)));
    let text = flat(&rig.text());
    for fact in [
        "! claude asks before edits (default): alone it would wait for you",
        "! codex asks before commands (on-request): alone it would wait for you",
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
    rig.send(seen(("bypassPermissions", Asks::Never), ("never", Asks::Never), Some(0)));
    let text = flat(&rig.text());
    assert!(
        text.contains("✓ neither side asks for permission") && text.contains("✓ everything is committed"),
        "{text}"
    );
    assert!(!text.contains("notify --test"), "{text}");
    rig.send(seen(("acceptEdits", Asks::Commands), ("never", Asks::Never), Some(0)));
    assert!(flat(&rig.text()).contains("! claude asks before commands (acceptEdits)"), "{}", rig.text());
}

/// In a side pane what warns stays, and what a start will do.
#[test]
fn in_a_side_pane_the_warnings_and_the_sentence_about_starting_stay() {
    let mut rig = Rig::new(scenes::two_sessions(), (38, 20));
    rig.press("n");
    rig.send(seen(("default", Asks::Edits), ("never", Asks::Never), Some(3)));
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

/// Live, free sessions of these agents in one work tree, `s0` the one that was active last.
fn live(agents: &[Agent]) -> Projection {
    let mut projection = scenes::two_sessions();
    let like = projection.sessions[0].clone();
    projection.sessions.clear();
    for (at, agent) in (0_i64..).zip(agents) {
        let mut view = like.clone();
        view.session = scenes::session(*agent, &format!("s{at}"));
        view.agent = *agent;
        view.active_at = Some(scenes::ago(60 * at));
        projection.sessions.push(view);
    }
    projection
}

/// The form for a new run where these sessions stand in the window, by pane order: who builds and who reviews.
fn proposed(projection: Projection, window: &[usize]) -> (Rig, [Option<String>; 2]) {
    let keys: Vec<_> = projection.sessions.iter().map(|view| view.session.key()).collect();
    let mut rig = rig(projection);
    rig.app.nearby.window = window.iter().map(|at| keys[*at].clone()).collect();
    rig.press("n");
    let form = form(&rig);
    let name = |id| form.side(id).map(|side| side.session_id.as_str().to_owned());
    let sides = [name("implementer"), name("reviewer")];
    (rig, sides)
}

fn form(rig: &Rig) -> &Form {
    rig.app.over.iter().find_map(|over| if let Over::Form(form) = over { Some(form) } else { None }).unwrap()
}

#[test]
fn the_two_agents_of_this_window_are_proposed_in_the_roles_that_fit_them() {
    use Agent::{Claude, Codex};
    let some = |name: &str| Some(name.to_owned());
    let (mut rig, sides) = proposed(live(&[Claude, Codex, Claude]), &[1, 2]);
    assert_eq!(sides, [some("s2"), some("s1")], "Claude builds");
    assert!(rig.text().contains("proposed from this window"), "{}", rig.text());
    let (_, sides) = proposed(live(&[Claude, Claude, Codex]), &[1, 0]);
    assert_eq!(sides, [some("s1"), some("s0")], "of two of a kind the first pane builds");
    let mut swapped = live(&[Claude, Codex]);
    let mut before = scenes::ended("before", trellis::projection::Standing::Done, "done", 1, 60);
    before.implementer.session = swapped.sessions[1].session.clone();
    before.reviewer.session = swapped.sessions[0].session.clone();
    swapped.runs.push(before);
    let (_, sides) = proposed(swapped, &[0, 1]);
    assert_eq!(sides, [some("s1"), some("s0")], "as they were last in this work tree");
    for window in [&[0, 1, 2][..], &[0], &[]] {
        let (_, sides) = proposed(live(&[Claude, Codex, Claude]), window);
        assert_eq!(sides, [None, None], "{window:?}: more or fewer than two");
    }
}

#[test]
fn the_picker_has_this_window_first_then_this_work_tree_then_what_lives_then_the_rest() {
    let mut projection = live(&[Agent::Codex; 5]);
    projection.sessions[0].live = false;
    "/elsewhere".clone_into(&mut projection.sessions[0].session.worktree);
    "/elsewhere".clone_into(&mut projection.sessions[1].session.worktree);
    let here = projection.sessions[2].session.worktree.clone();
    let keys: Vec<_> = projection.sessions.iter().map(|view| view.session.key()).collect();
    let mut rig = rig(projection);
    rig.app.nearby.window = vec![keys[4].clone(), keys[3].clone()];
    rig.app.nearby.worktree = Some(here);
    rig.press("n");
    let order: Vec<String> = form(&rig).sides.iter().map(|side| side.session_id.as_str().to_owned()).collect();
    assert_eq!(order, ["s4", "s3", "s2", "s1", "s0"]);
}

/// Between what a field is called and what stands in it is a blank, however long the name is.
#[test]
fn an_unfolded_prompt_stands_apart_from_its_name() {
    let mut rig = rig(scenes::two_sessions());
    rig.press("n");
    while !rig.text().contains("▸prompts") {
        rig.press("Tab");
    }
    rig.press("Space");
    let text = rig.text();
    for name in ["ask", "review", "feedback"] {
        let has = |row: &str| row.split_whitespace().collect::<Vec<_>>().starts_with(&[name, "standard"]);
        assert!(text.lines().any(has), "{name}\n{text}");
    }
}
