//! What somebody sees who uses the screens for the first time: where keys lead, what is said, what is never silent.

use std::sync::Arc;

use trellis::model::command::{Command, Confirm, Control, Refusal, Reply};
use trellis::model::reach::Transport;
use trellis::projection::{DriverFact, Notice, Projection, RunView, Standing, Thread};
use trellis::ui::app::{App, Effect, Msg, Over, Pane, Screen, Then};
use trellis::ui::key::Key;

use super::{Rig, scenes};

fn rig(projection: Projection) -> Rig {
    Rig::new(projection, (38, 20))
}

fn done(key: &str, note: &str) -> Reply {
    Reply::Done { record: Some(scenes::key(key)), note: note.to_owned() }
}

fn confirms(effects: &[Effect]) -> Vec<(Option<u64>, Then)> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Send { command: Command::Control { expect, control: Control::Confirm(_), .. }, then } => {
                Some((*expect, *then))
            }
            _ => None,
        })
        .collect()
}

/// The same run with another revision and, if named, another waiting relay.
fn moved(revision: u64, source: Option<&str>) -> RunView {
    let mut run = scenes::look_first();
    run.revision = revision;
    if let (Some(look), Some(source)) = (&mut run.look_first, source) {
        source.clone_into(&mut look.source);
        look.n += 1;
    }
    run
}

fn looks(app: &App) -> bool {
    app.over.iter().any(|over| matches!(over, Over::Look(_)))
}

#[test]
fn a_card_closes_after_its_order_and_the_next_relay_is_opened_anew() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    assert_eq!(confirms(&rig.press("Enter Enter Enter Enter")), [(Some(7), Then::Look)], "sent once");
    rig.send(Msg::Changed(Arc::new(scenes::one(moved(9, Some("turn-4 message-4"))))));
    assert!(rig.text().contains("on its way"), "{}", rig.text());
    rig.send(Msg::Replied(Then::Look, Some(done("checkout", "goes out"))));
    assert!(!looks(&rig.app));
    assert!(matches!(rig.app.screen(), Screen::Run(_)));
    rig.draw();
    rig.pass(500);
    assert_eq!(confirms(&rig.press("Enter Enter y")), [(Some(9), Then::Look)], "the next card, the next relay");
}

#[test]
fn a_card_never_becomes_that_of_another_relay() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    rig.press("Enter Enter");
    rig.send(Msg::Changed(Arc::new(scenes::one(moved(9, Some("turn-4 message-4"))))));
    let text = rig.text();
    assert!(text.contains("no longer waiting") && !text.contains("relay 5"), "{text}");
    assert_eq!(confirms(&rig.press("Enter")), []);
    assert!(!looks(&rig.app), "Enter leads back to the run");
}

/// Opens the preview: beside the list one `Enter` does it.
fn open_look(rig: &mut Rig) {
    rig.press("Enter");
    if rig.app.over.is_empty() {
        rig.press("Enter");
    }
    assert!(matches!(rig.app.over.last(), Some(Over::Look(_))), "{}", rig.text());
}

/// Every word of a relay can be read before it is sent, its direction too, at any size and after an edit.
#[test]
fn every_word_of_a_relay_can_be_read_before_it_is_sent() {
    for (columns, rows) in [(38, 20), (120, 40), (20, 6), (60, 24)] {
        for edited in [false, true] {
            let mut run = scenes::look_first();
            let words: Vec<String> = (0..400).map(|n| format!("word{n:03}")).collect();
            run.look_first.as_mut().unwrap().text = words.join(" ").into();
            let mut rig = Rig::new(scenes::one(run), (columns, rows));
            open_look(&mut rig);
            if edited {
                rig.press("i X Esc");
                assert!(rig.text().contains("edited"), "{}", rig.text());
            }
            let mut seen = String::new();
            rig.press("g");
            for _ in 0..400 {
                seen.push_str(&rig.text());
                rig.press("j");
            }
            let missing: Vec<&String> = words.iter().filter(|word| !seen.contains(*word)).collect();
            assert!(missing.is_empty(), "{columns}×{rows}, edited {edited}: {missing:?}\n{}", rig.text());
        }
    }
    let mut run = scenes::look_first();
    run.implementer.label = "claude·1".to_owned();
    run.reviewer.label = "claude·2".to_owned();
    let mut rig = Rig::new(scenes::one(run), (38, 20));
    open_look(&mut rig);
    assert!(rig.text().contains("claude·2 → claude·1"), "{}", rig.text());
}

/// A pause while a relay waits for its look is no dead end: every screen of it names the key that goes on.
#[test]
fn a_paused_run_whose_relay_waits_names_what_goes_on() {
    for size in [(38, 20), (120, 40)] {
        let mut run = scenes::look_first();
        run.standing = Standing::Paused;
        let mut rig = Rig::new(scenes::one(run), size);
        assert!(rig.text().contains("p go on"), "{}", rig.text());
        open_look(&mut rig);
        let text = rig.text();
        assert!(text.contains("p goes on") && !text.contains("Enter send"), "{text}");
    }
}

#[test]
fn without_a_waiting_relay_nothing_says_look_first() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    rig.press("Enter Enter");
    rig.send(Msg::Changed(Arc::new(scenes::one(scenes::run("checkout")))));
    assert!(!rig.text().contains("look first"), "{}", rig.text());
}

#[test]
fn a_refused_order_can_be_given_again_once_the_new_state_was_seen() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    rig.press("Enter Enter Enter y");
    let refused = Refusal::not_now("it moved while you looked: look again, then repeat the order");
    rig.send(Msg::Replied(Then::Look, Some(Reply::Refused(refused))));
    rig.send(Msg::Changed(Arc::new(scenes::one(moved(8, None)))));
    rig.send(Msg::Key("Enter".parse().unwrap()));
    assert_eq!(confirms(&rig.send(Msg::Key("y".parse().unwrap()))), [(Some(7), Then::Look)], "not seen yet");
    rig.send(Msg::Replied(Then::Look, Some(Reply::Refused(Refusal::not_now("it moved while you looked")))));
    rig.draw();
    assert_eq!(confirms(&rig.press("Enter y")), [(Some(8), Then::Look)]);
}

#[test]
fn dropping_closes_the_card_and_so_does_sending_from_the_editor() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    assert_eq!(confirms(&rig.press("Enter Enter d d")), [(Some(7), Then::Look)]);
    rig.send(Msg::Replied(Then::Look, Some(done("checkout", "dropped"))));
    assert!(rig.app.over.is_empty());
    rig.draw();
    rig.pass(500);
    let effects = rig.press("Enter i N Ctrl-s");
    assert!(matches!(
        &effects[..],
        [Effect::Send { command: Command::Control { control: Control::Confirm(Confirm::Send { .. }), .. }, .. }]
    ));
    rig.send(Msg::Replied(Then::Editor, Some(done("checkout", "goes out"))));
    assert!(rig.app.over.is_empty());
}

/// A relay waits, and nothing else needs the person.
fn waits(revision: u64) -> RunView {
    let mut run = moved(revision, None);
    run.banner = None;
    run
}

/// The edits that orders to send a waiting relay carry; empty: as it is.
fn edits_sent(effects: &[Effect]) -> Vec<String> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Send {
            command: Command::Control { control: Control::Confirm(Confirm::Send { edited_text }), .. },
            ..
        } => Some(edited_text.clone().unwrap_or_default()),
        _ => None,
    });
    sent.collect()
}

#[test]
fn an_edit_is_kept_until_its_relay_is_gone_wherever_the_person_goes() {
    for away in ["Esc", "Esc 2 1 Enter", "Esc Esc Enter", "Esc Tab Tab Shift-Tab Shift-Tab", "t Esc 3 1 Enter"] {
        let mut rig = rig(scenes::one(waits(7)));
        rig.press("Enter Enter i N Esc");
        rig.press(away);
        // It may move meanwhile, as long as the same relay waits.
        rig.send(Msg::Changed(Arc::new(scenes::one(waits(8)))));
        rig.draw();
        rig.pass(500);
        let text = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Your edit of it is kept."), "{away}: {text}");
        let copied = rig.press("y");
        assert!(
            matches!(&copied[..], [Effect::Copy { text, .. }] if text.starts_with("NFeedback:")),
            "{away}: {copied:?}"
        );
        rig.press("Enter");
        assert!(rig.text().contains("edited ·"), "{away}:\n{}", rig.text());
        let sent = edits_sent(&rig.press("Enter y"));
        assert!(sent[0].starts_with("NFeedback:"), "{away}");
    }
}

/// What a memory holds after some effects, as one that lasts beyond the screen.
fn remembered(effects: &[Effect]) -> std::collections::BTreeMap<String, serde_json::Value> {
    let kept = effects.iter().filter_map(|effect| match effect {
        Effect::Remember(name, value) => Some(((*name).to_owned(), value.clone())),
        _ => None,
    });
    kept.collect()
}

/// "Your edit of it is kept" and "what you wrote is kept" are so when the screen is left and opened again.
#[test]
fn what_is_called_kept_is_there_at_the_next_start_until_its_relay_or_run_is_gone() {
    let mut first = rig(scenes::one(waits(7)));
    let memory = remembered(&first.press("Enter Enter i N Esc Esc w Enter H i Esc"));
    let next = |projection| {
        let mut rig = Rig::new(Projection::default(), (38, 20));
        rig.app.recall(memory.clone());
        // Nothing was read yet: that is no sign that the relay is gone.
        let mut effects = rig.send(Msg::Changed(Arc::new(Projection::default())));
        effects.extend(rig.send(Msg::Changed(Arc::new(projection))));
        rig.draw();
        rig.pass(500);
        (rig, remembered(&effects))
    };
    let (mut rig, forgotten) = next(scenes::one(waits(8)));
    assert!(forgotten.is_empty(), "{forgotten:?}");
    rig.press("Enter");
    assert!(rig.text().split_whitespace().collect::<Vec<_>>().join(" ").contains("Your edit of it is kept."));
    let sent = rig.press("Enter Enter y");
    assert!(edits_sent(&sent)[0].starts_with("NFeedback:"));
    let (mut rig, forgotten) = next(scenes::one(moved(9, Some("turn-4 message-4"))));
    assert_eq!(forgotten["edits"], serde_json::json!([]), "another relay waits: the edit is no more");
    let written = rig.press("w Enter");
    assert!(rig.text().contains("Hi"), "{written:?} {}", rig.text());
    let sent = remembered(&rig.press("Ctrl-s"));
    assert_eq!(sent["written"], serde_json::json!({}));
}

#[test]
fn the_text_of_the_persons_own_editor_is_kept_as_well_and_the_original_is_no_edit() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    let original = scenes::look_first().look_first.unwrap().text.to_string();
    rig.press("Enter Enter");
    rig.send(Msg::Edited("Other words.\n".to_owned()));
    rig.press("Esc Enter");
    assert!(rig.text().contains("Other words."), "{}", rig.text());
    rig.send(Msg::Edited(format!("{original}\n")));
    assert_eq!(edits_sent(&rig.press("Esc Enter Enter y")), [""], "as it is");
}

#[test]
fn an_edit_never_reaches_another_relay_and_goes_with_its_own() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    rig.press("Enter Enter i N Esc Esc");
    rig.send(Msg::Changed(Arc::new(scenes::one(moved(9, Some("turn-4 message-4"))))));
    rig.draw();
    rig.pass(500);
    assert!(!rig.text().contains("is kept"), "{}", rig.text());
    assert_eq!(edits_sent(&rig.press("Enter Enter y")), [""]);
    assert!(rig.app.edits.is_empty());
    // Sent or dropped: the same relay once more, if it ever comes, is the agent's own.
    let mut rig = Rig::new(scenes::one(waits(7)), (38, 20));
    rig.press("Enter Enter i N Esc Esc");
    rig.send(Msg::Changed(Arc::new(scenes::one(scenes::run("checkout")))));
    rig.send(Msg::Changed(Arc::new(scenes::one(waits(7)))));
    assert!(!rig.text().contains("is kept"), "{}", rig.text());
}

#[test]
fn enter_in_the_first_moment_of_a_waiting_relay_says_why_it_does_nothing() {
    for banner in [true, false] {
        let mut rig = rig(scenes::one(scenes::run("checkout")));
        rig.press("Enter");
        let mut run = moved(9, None);
        if !banner {
            run.banner = None;
        }
        rig.send(Msg::Changed(Arc::new(scenes::one(run))));
        rig.draw();
        rig.send(Msg::Key("Enter".parse().unwrap()));
        assert!(rig.app.over.is_empty());
        assert!(rig.text().contains("press again"), "{}", rig.text());
    }
}

#[test]
fn copying_works_after_a_no_once_another_key_came_between() {
    let mut run = scenes::look_first();
    run.banner = None;
    run.reviewer.transport = Some(Transport::Scripted);
    run.implementer.transport = Some(Transport::Scripted);
    for between in ["t", "T", "+ Esc", "w Esc", "j"] {
        let mut rig = rig(scenes::one(run.clone()));
        rig.press("Enter x n");
        rig.press(between);
        let copied = rig.press("y");
        assert!(matches!(&copied[..], [Effect::Copy { .. }]), "{between}: {copied:?} {}", rig.text());
    }
    // Right after it, the key can only be meant as a late yes.
    let mut rig = rig(scenes::one(run));
    assert_eq!(rig.press("Enter x n y"), []);
}

#[test]
fn in_front_of_the_card_the_first_key_is_enter() {
    let mut rig = rig(scenes::one(scenes::look_first()));
    rig.press("Enter");
    let text = rig.text();
    assert!(text.lines().last().unwrap().trim_start().starts_with("Enter look at it"), "{text}");
}

#[test]
fn a_run_that_goes_on_is_opened_and_stands_among_those_that_go() {
    let over = || scenes::ended("auth", Standing::Done, "done", 3, 600);
    let mut projection = scenes::one(scenes::run("checkout"));
    projection.runs.push(over());
    let mut rig = rig(projection.clone());
    let effects = rig.press("j r");
    assert!(matches!(&effects[..], [Effect::Send { then: Then::Open, .. }]), "{effects:?}");
    rig.send(Msg::Replied(Then::Open, Some(done("auth-2", "nothing is sent"))));
    let mut again = scenes::run("auth-2");
    again.key = scenes::key("auth-2");
    again.name = "auth".to_owned();
    projection.runs.push(again);
    rig.send(Msg::Changed(Arc::new(projection)));
    assert_eq!(*rig.app.screen(), Screen::Run(scenes::key("auth-2")));
    assert_eq!(rig.app.runs.on(), Some(&scenes::key("auth-2")));
    let at = |rig: &Rig, key: &str| rig.app.runs.order().iter().position(|known| *known == scenes::key(key)).unwrap();
    assert!(at(&rig, "auth-2") < at(&rig, "auth"), "{:?}", rig.app.runs.order());
}

#[test]
fn no_going_run_stands_below_the_line_of_the_ended_ones() {
    let mut projection = scenes::one(scenes::run("checkout"));
    projection.runs.push(scenes::run("docs"));
    let mut rig = rig(projection);
    rig.press("x x");
    let mut after = scenes::one(scenes::ended("checkout", Standing::Ended, "stopped", 1, 0));
    after.runs.push(scenes::run("docs"));
    let first = rig.app.runs.order()[0].clone();
    if first == scenes::key("docs") {
        after.runs = vec![scenes::run("checkout"), scenes::ended("docs", Standing::Ended, "stopped", 1, 0)].into();
    }
    rig.send(Msg::Changed(Arc::new(after)));
    let text = rig.text();
    assert!(!text.contains("ended ─"), "the list holds still, so nothing stands in the ended part yet: {text}");
    rig.pass(2_000);
    assert!(rig.text().contains("ended ─"));
    assert_eq!(rig.app.runs.order()[1], first);
}

#[test]
fn a_yes_to_a_question_that_was_not_asked_copies_nothing() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    // A going run cannot be removed: refused, no question.
    assert_eq!(rig.press("f y"), []);
    assert!(rig.text().contains("nothing copied"), "{}", rig.text());
    assert!(matches!(&rig.press("y")[..], [Effect::Copy { .. }]));
    assert_eq!(rig.press("x n y"), [], "the question is gone");
    rig.press("f");
    rig.pass(2_000);
    assert!(matches!(&rig.press("y")[..], [Effect::Copy { .. }]), "much later it is a copy");
}

#[test]
fn a_copy_says_what_was_copied() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    let effects = rig.press("Enter y Enter");
    let [Effect::Copy { what, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert!(what.contains("'s answer of ") || what.starts_with("your words"), "{what}");
}

/// An order that is taken and fails later has no reply that says so.
#[test]
fn what_fails_after_its_order_was_taken_is_said_when_it_fails() {
    for size in [(38, 20), (120, 40)] {
        let mut rig = Rig::new(scenes::all_standings(), size);
        rig.press("2");
        let mut later = scenes::all_standings();
        let why = "can't bring codex:9b1c back: can't find codex in PATH";
        later.notices.push(Notice { at: rig.now, text: why.to_owned(), is_error: true });
        rig.send(Msg::Changed(Arc::new(later.clone())));
        let said = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(why), "{}", rig.text());
        // Said once; said again when it fails again.
        rig.press("j");
        rig.send(Msg::Changed(Arc::new(later.clone())));
        assert!(!rig.text().contains("can't bring"), "{}", rig.text());
        later.notices[0].at = rig.now;
        rig.send(Msg::Changed(Arc::new(later)));
        assert!(rig.text().contains("can't bring"), "{}", rig.text());
    }
}

#[test]
fn a_no_is_said() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    assert_eq!(rig.press("x Enter"), []);
    assert!(rig.text().contains("no: nothing was sent"), "{}", rig.text());
    rig.press("j");
    assert!(!rig.text().contains("no: nothing"), "the next key takes it away");
}

#[test]
fn a_sentence_goes_after_a_while_and_hides_no_key() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("x Enter");
    let text = rig.text();
    assert!(text.contains("no: nothing was sent") && text.contains("Enter open"), "{text}");
    rig.pass(4_000);
    assert!(!rig.text().contains("no: nothing"));
}

#[test]
fn a_key_stands_once_in_a_footer() {
    let mut scenes: Vec<Projection> = scenes::banners().into_iter().map(|(_, run)| scenes::one(run)).collect();
    scenes.push(scenes::all_standings());
    scenes.push(scenes::one(scenes::no_agreement()));
    let mut look = scenes::look_first();
    look.banner = None;
    scenes.push(scenes::one(look));
    for projection in scenes {
        for (size, keys) in [((80, 24), ""), ((38, 20), ""), ((120, 40), ""), ((120, 40), "Enter")] {
            let mut rig = Rig::new(projection.clone(), size);
            rig.press(keys);
            let text = rig.text();
            let footer = text.lines().rev().take_while(|line| !line.contains('─')).collect::<Vec<_>>().join("  ");
            let names: Vec<&str> = footer
                .split("  ")
                .filter_map(|part| part.split_whitespace().next())
                .filter(|key| key.parse::<Key>().is_ok())
                .collect();
            let mut once = names.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), names.len(), "{footer}");
        }
    }
}

#[test]
fn a_side_to_write_to_is_told_apart_in_a_narrow_pane_and_picked_by_j_and_k() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("w");
    let text = rig.text();
    for words in ["claude, then wait", "codex, then wait", "claude, then go on", "codex, then go on"] {
        assert!(text.contains(words), "{text}");
    }
    let effects = rig.press("j j k Enter H i Ctrl-s");
    assert!(matches!(
        &effects[..],
        [Effect::Send {
            command: Command::Control {
                control: Control::Write { side: trellis::model::ids::Role::Reviewer, go_on: false, .. },
                ..
            },
            ..
        }]
    ));
}

#[test]
fn a_view_says_in_words_who_drives() {
    for size in [(38, 20), (80, 24), (120, 40)] {
        let mut projection = scenes::all_standings();
        projection.driver = DriverFact::Elsewhere { pid: Some(26_465), background: false };
        let text = Rig::new(projection, size).text();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("process 26465 drives this home; this is a view"), "{text}");
    }
}

#[test]
fn tab_goes_around_where_nothing_happened_yet_and_shows_where_it_is() {
    let mut run = scenes::run("checkout");
    run.phases.clear();
    run.relay_list.clear();
    let mut rig = Rig::new(scenes::one(run.clone()), (120, 40));
    rig.press("Enter");
    assert!(rig.text().contains("▸conversation"), "{}", rig.text());
    rig.press("Tab");
    assert!(rig.text().contains("▸ n  phase"), "{}", rig.text());
    rig.press("Tab");
    assert!(rig.text().contains("▸relays"), "{}", rig.text());
    rig.press("Tab");
    assert_eq!(rig.app.pane, Some(Pane::Talk));
    let mut narrow = Rig::new(scenes::one(run), (38, 20));
    narrow.press("Enter Tab");
    assert!(narrow.text().contains("n  phase"), "{}", narrow.text());
}

#[test]
fn what_is_waited_for_stays_whole_in_a_narrow_pane() {
    let mut run = scenes::run("checkout");
    run.sentence = "waits for claude to be free · relay 2 of 10".to_owned();
    run.wait.who = "waits for claude to be free".to_owned();
    let mut rig = rig(scenes::one(run));
    let text = rig.text();
    assert!(text.contains("waits for claude to be free") && !text.contains("free ·"), "{text}");
    rig.press("Enter");
    assert!(rig.text().contains("waits for claude to be free"), "{}", rig.text());
}

#[test]
fn a_session_shows_its_id_and_takes_no_part_in_a_run() {
    let projection = scenes::all_standings();
    let session = projection.sessions.iter().find(|view| view.live).unwrap().session.clone();
    let mut rig = rig(projection.clone());
    rig.press("2");
    let key = rig.app.sessions.on().cloned().unwrap();
    rig.press("Enter");
    let id = key.session_id.as_str().to_owned();
    assert!(rig.text().contains(&id), "{}", rig.text());
    let effects = rig.press("y Enter");
    assert!(matches!(&effects[..], [Effect::Copy { text, .. }] if *text == id), "{effects:?}");
    // The conversation of a session by itself: nobody builds in it.
    let mut run = scenes::one(scenes::run("checkout"));
    run.sessions = projection.sessions;
    let thread = run.shown.clone().map(|thread| Thread { record: None, session: Some(key), ..(*thread).clone() });
    run.shown = thread.map(Arc::new);
    rig.send(Msg::Changed(Arc::new(run)));
    let text = rig.text();
    assert!(!text.contains("builds") && !text.contains("reviews"), "{text} {session:?}");
}

#[test]
fn a_scripted_agent_has_no_pane_and_that_is_said() {
    let mut run = scenes::run("checkout");
    run.implementer.transport = Some(Transport::Scripted);
    run.reviewer.transport = Some(Transport::Scripted);
    let mut rig = rig(scenes::one(run));
    assert_eq!(rig.press("t"), []);
    assert!(rig.text().contains("a scripted agent has no pane"), "{}", rig.text());
}
