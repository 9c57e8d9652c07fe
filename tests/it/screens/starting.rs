//! Starting an agent from the list of sessions, and the two agents of the window that a new run proposes.

use std::sync::Arc;

use trellis::model::command::{Command, Refusal, Reply};
use trellis::model::ids::{Agent, SessionKey, SessionRef};
use trellis::model::launch::{NewSession, unnamed};
use trellis::model::reach::Transport;
use trellis::model::session::SessionState;
use trellis::projection::Projection;
use trellis::ui::app::{Effect, Msg, Over, Then};
use trellis::ui::{Nearby, Tmux};

use super::{Rig, scenes};

fn ordered(effects: &[Effect]) -> Option<NewSession> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send { command: Command::StartSession(order), then: Then::Form } => Some(order.clone()),
        _ => None,
    })
}

fn at(folder: &str, size: (u16, u16)) -> Rig {
    let mut rig = Rig::new(scenes::all_standings(), size);
    rig.app.nearby.worktree = Some(folder.to_owned());
    rig
}

#[test]
fn an_agent_is_started_from_the_list_of_sessions() {
    for size in [(38, 20), (38, 18), (120, 40)] {
        let mut rig = at("/src/shop", size);
        rig.press("2 S");
        let text = rig.text();
        for word in ["start an agent", "claude", "/src/shop", "tmux window", "as its settings say", "[ start ]"] {
            assert!(text.contains(word), "{word} is not on\n{text}");
        }
        let order = ordered(&rig.press("Enter")).unwrap();
        assert_eq!(
            (order.agent, order.worktree.as_str(), order.transport),
            (Agent::Claude, "/src/shop", Transport::Tmux)
        );
        assert_eq!((order.permission_mode, order.model, order.prompt, order.name), (None, None, None, None));
    }
}

#[test]
fn each_field_of_a_start_is_ordered_and_the_choice_is_remembered() {
    let mut rig = at("/src/shop", (38, 20));
    // To the agent, turned to codex; then where stays, permissions twice on, a model.
    rig.press("2 S Tab Space Tab Tab Tab Space Space");
    assert!(rig.text().contains("workspace-write"), "{}", rig.text());
    let effects = rig.press("Tab g p t Ctrl-s");
    let order = ordered(&effects).unwrap();
    assert_eq!((order.agent, order.permission_mode.as_deref()), (Agent::Codex, Some("workspace-write")));
    assert_eq!(order.model.as_deref(), Some("gpt"));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Remember("start_agent", _))));
    rig.send(Msg::Replied(Then::Form, Some(Reply::Done { record: None, note: "codex starts in pane %5".to_owned() })));
    assert!(rig.app.over.is_empty() && rig.text().contains("codex starts in pane %5"), "{}", rig.text());
    rig.press("S");
    assert!(rig.text().contains("codex") && rig.text().contains("workspace-write"), "{}", rig.text());
    // Another agent knows other permissions.
    rig.press("Tab Space");
    assert!(rig.text().contains("as its settings say"), "{}", rig.text());
}

#[test]
fn what_cannot_be_started_is_said_at_its_field() {
    let mut rig = at("/src/shop", (38, 20));
    rig.app.nearby.as_root = true;
    rig.press("2 S Tab Tab Tab Tab Left");
    assert!(rig.text().contains("claude refuses this as"), "{}", rig.text());
    assert_eq!(ordered(&rig.press("Ctrl-s")), None);
    rig.press("Right");
    // codex without a window needs words.
    let effects = rig.press("Shift-Tab Space Shift-Tab Shift-Tab Space Ctrl-s");
    assert_eq!(ordered(&effects), None);
    assert!(rig.text().contains("needs a first message"), "{}", rig.text());
    let mut rig = at("", (38, 20));
    assert_eq!(ordered(&rig.press("2 S Enter")), None);
    assert!(rig.text().contains("name a folder"), "{}", rig.text());
    let mut rig = at("/src/shop", (38, 20));
    rig.press("2 S Enter");
    let refusal = Refusal::invalid("worktree", "the folder /src/shop is not there");
    rig.send(Msg::Replied(Then::Form, Some(Reply::Refused(refusal))));
    assert!(rig.text().contains("is not there"), "{}", rig.text());
}

fn sides(rig: &Rig) -> (Option<SessionRef>, Option<SessionRef>) {
    let Some(Over::Form(form)) = rig.app.over.last() else { panic!("no form") };
    (form.side("implementer").cloned(), form.side("reviewer").cloned())
}

fn ids(rig: &Rig) -> (Option<String>, Option<String>) {
    let id = |side: Option<SessionRef>| side.map(|side| side.session_id.to_string());
    let (builds, reviews) = sides(rig);
    (id(builds), id(reviews))
}

fn key(agent: Agent, id: &str) -> SessionKey {
    SessionKey { agent, session_id: id.into() }
}

fn window(of: &[(Agent, &str)]) -> Nearby {
    let window = of.iter().map(|(agent, id)| key(*agent, id)).collect();
    Nearby { window, tmux: Tmux::Inside, ..Nearby::default() }
}

fn two(builds: &str, reviews: &str) -> (Option<String>, Option<String>) {
    (Some(builds.to_owned()), Some(reviews.to_owned()))
}

/// No run yet: nobody has built here.
fn fresh() -> Projection {
    Projection { runs: Vec::new().into(), ..scenes::all_standings() }
}

#[test]
fn inside_tmux_the_two_agents_of_the_window_are_proposed_and_no_others() {
    let mut rig = Rig::new(fresh(), (38, 20));
    rig.app.nearby = window(&[(Agent::Codex, "%2"), (Agent::Claude, "%1")]);
    rig.press("n");
    assert_eq!(ids(&rig), two("%1", "%2"), "claude builds whatever its pane is");
    assert!(rig.text().contains("proposed from this window"), "{}", rig.text());
    rig.press("Ctrl-t");
    assert_eq!(ids(&rig), two("%2", "%1"));
    // Of two of a kind the upper pane builds: the order is that of the panes.
    let mut rig = Rig::new(fresh(), (38, 20));
    rig.app.nearby = window(&[(Agent::Claude, "%7"), (Agent::Claude, "%1")]);
    rig.press("n");
    assert_eq!(ids(&rig), two("%7", "%1"));
    for few in
        [&[][..], &[(Agent::Claude, "%1")], &[(Agent::Claude, "%1"), (Agent::Codex, "%2"), (Agent::Claude, "%7")]]
    {
        let mut rig = Rig::new(fresh(), (38, 20));
        rig.app.nearby = window(few);
        rig.press("n");
        assert_eq!(ids(&rig), (None, None), "{few:?}");
    }
}

#[test]
fn agents_that_were_opened_since_are_proposed_while_nobody_has_chosen() {
    let mut rig = Rig::new(fresh(), (38, 20));
    rig.app.nearby = window(&[]);
    assert_eq!(rig.press("n"), [Effect::LookAround]);
    assert_eq!(ids(&rig), (None, None));
    rig.send(Msg::Nearby(window(&[(Agent::Claude, "%1"), (Agent::Codex, "%2")])));
    assert_eq!(ids(&rig), two("%1", "%2"));
    rig.press("Ctrl-t");
    rig.send(Msg::Nearby(window(&[(Agent::Claude, "%7"), (Agent::Codex, "%2")])));
    assert_eq!(ids(&rig), two("%2", "%1"), "what a person chose stays");
}

#[test]
fn a_form_that_was_opened_before_the_sessions_were_found_fills_itself_in() {
    let all = fresh();
    let live = |ids: &[&str]| {
        let of = |id: &&str| all.sessions.iter().find(|view| view.session.session_id.as_str() == *id).cloned();
        Projection { sessions: ids.iter().filter_map(of).collect(), ..all.clone() }
    };
    let found = |looking, ids: &[&str]| Msg::Changed(Arc::new(Projection { looking, ..live(ids) }));
    let mut rig = Rig::new(live(&[]), (60, 40));
    rig.press("n");
    assert_eq!(ids(&rig), (None, None));
    // One after the other, as they are looked at.
    rig.send(found(true, &["%7"]));
    assert_eq!(ids(&rig), (None, None));
    rig.send(found(true, &["%7", "%2"]));
    assert_eq!(ids(&rig), two("%7", "%2"));
    rig.send(found(true, &["%7", "%2", "%1"]));
    assert_eq!(ids(&rig), (None, None), "of three live ones none is proposed");
    rig.send(found(false, &["%1", "%2"]));
    assert_eq!(ids(&rig), two("%1", "%2"));
    assert!(rig.text().contains("proposed"), "{}", rig.text());
    // What is proposed does not move under a hand any more, and what is offered grows.
    rig.send(found(false, &["%7", "%1", "%2"]));
    assert_eq!(ids(&rig), two("%1", "%2"));
    let Some(Over::Form(form)) = rig.app.over.last() else { panic!("no form") };
    assert_eq!(form.sides.len(), 3);
    // What a person chose stays, whatever is found, until it is gone.
    let mut rig = Rig::new(live(&["%1", "%2"]), (60, 40));
    rig.press("n Ctrl-t");
    rig.send(found(true, &["%7", "%1", "%2"]));
    assert_eq!(ids(&rig), two("%2", "%1"));
    rig.send(found(false, &["%7", "%1"]));
    assert_eq!(ids(&rig), (None, Some("%1".to_owned())));
}

#[test]
fn older_sessions_are_found_by_typing_and_one_without_a_name_is_none() {
    let mut projection = fresh();
    let mut starting = projection.sessions[0].clone();
    starting.session.session_id = unnamed("20260301-x");
    projection.sessions.push(starting);
    let mut rig = Rig::new(projection, (60, 40));
    rig.app.nearby = window(&[]);
    rig.press("n");
    let Some(Over::Form(form)) = rig.app.over.last() else { panic!("no form") };
    assert!(form.sides.iter().all(|side| !side.session_id.as_str().starts_with("starting-")));
    rig.press("Tab Tab Enter");
    assert!(!rig.text().contains("gone"), "{}", rig.text());
    rig.press("g o n e");
    assert!(rig.text().contains("gone"), "{}", rig.text());
}

#[test]
fn a_form_does_not_call_what_was_not_looked_at_out_of_reach() {
    let mut projection = fresh();
    projection.sessions.rewrite(|sessions| {
        sessions.retain(|view| ["%1", "%2"].contains(&view.session.session_id.as_str()));
    });
    let seen = projection.clone();
    for at in 0..projection.sessions.len() {
        let view = &mut projection.sessions[at];
        (view.state, view.transport) = (SessionState::NotLooked, None);
    }
    let mut rig = Rig::new(projection, (60, 40));
    rig.press("n");
    let text = rig.text();
    assert!(text.contains("not looked at yet") && !text.contains("no way to write"), "{text}");
    rig.send(Msg::Changed(Arc::new(seen)));
    let text = rig.text();
    assert!(text.contains("both can be written to") && !text.contains("not looked at"), "{text}");
}

#[test]
fn the_window_is_looked_at_again_while_a_form_is_open_and_agents_come() {
    let all = fresh();
    let mut rig = Rig::new(Projection { sessions: Vec::new().into(), ..all.clone() }, (60, 40));
    rig.press("n");
    assert!(rig.text().contains("first message"), "{}", rig.text());
    let looks = |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::LookAround)).count();
    assert_eq!(looks(&rig.send(Msg::Changed(Arc::new(all.clone())))), 1);
    assert_eq!(looks(&rig.send(Msg::Changed(Arc::new(all)))), 0, "the same live ones");
}

#[test]
fn a_pick_leads_on_to_the_other_side_and_then_to_the_start() {
    let mut rig = Rig::new(fresh(), (38, 20));
    // Three live ones: nobody is proposed.
    rig.press("n Shift-Tab");
    let Some(Over::Form(form)) = rig.app.over.last_mut() else { panic!("no form") };
    assert_eq!(form.remark, "", "nothing is proposed");
    form.focus("implementer");
    rig.press("Enter Enter");
    let focus = |rig: &Rig| match rig.app.over.last() {
        Some(Over::Form(form)) => form.focused().unwrap().id,
        _ => panic!("no form"),
    };
    assert_eq!(focus(&rig), "reviewer");
    let (builds, _) = ids(&rig);
    rig.press("Enter");
    // What tells two of a kind apart stands below each, and the builder is not what Enter picks.
    let text = rig.text();
    assert!(text.contains("letters filter") && text.contains("↓ move"), "{text}");
    assert!(text.lines().any(|line| line.contains("builds")), "{text}");
    rig.press("Enter");
    assert_eq!(focus(&rig), "start");
    let (still, reviews) = ids(&rig);
    assert_eq!(still, builds);
    assert_ne!(reviews, builds);
}
