//! What keys order, what they ask, and what they must never do.

use std::sync::Arc;

use proptest::prelude::*;
use trellis::model::command::{Command, Confirm, Control, Refusal, Reply, SessionControl};
use trellis::model::config::FirstPhase;
use trellis::model::ids::Role;
use trellis::projection::{Projection, Standing};
use trellis::ui::app::{Effect, Exit, Msg, Over, Screen, Then};
use trellis::ui::key::Key;
use trellis::ui::keymap::{Keymap, Place};

use super::{Rig, scenes};

fn rig(projection: Projection) -> Rig {
    Rig::new(projection, (38, 20))
}

/// Terminals paste the end of a line as the Enter key sends it.
#[test]
fn a_paste_keeps_its_lines() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("w Enter");
    rig.send(Msg::Paste("Do not\rdelete the\r\ntables\n".to_owned()));
    let text = "Do not\ndelete the\ntables\n".to_owned();
    let written = controls(&rig.press("Ctrl-s")).into_iter().map(|(_, control)| control).collect::<Vec<_>>();
    assert_eq!(written, [Control::Write { side: Role::Implementer, text, go_on: false }]);
}

/// The controls among some effects, with the revision they name.
fn controls(effects: &[Effect]) -> Vec<(Option<u64>, Control)> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Send { command: Command::Control { expect, control, .. }, .. } => Some((*expect, control.clone())),
            _ => None,
        })
        .collect()
}

fn ordered(projection: Projection, keys: &str) -> Vec<Control> {
    let effects = rig(projection).press(keys);
    let controls = controls(&effects);
    assert!(controls.iter().all(|(expect, control)| *expect == Some(7) || matches!(control, Control::Write { .. })));
    controls.into_iter().map(|(_, control)| control).collect()
}

#[test]
fn keys_of_a_run_order_what_they_say() {
    let going = || scenes::one(scenes::run("checkout"));
    let stuck = || scenes::one(scenes::no_agreement());
    assert_eq!(ordered(going(), "p"), [Control::Pause]);
    assert_eq!(ordered(stuck(), "p"), [Control::Resume]);
    assert_eq!(ordered(stuck(), "r"), [Control::Retry]);
    assert_eq!(ordered(going(), "r r"), [Control::Retry], "asks while a review is going");
    assert_eq!(ordered(going(), "s s"), [Control::Skip]);
    assert_eq!(ordered(going(), "s y"), [Control::Skip]);
    assert_eq!(ordered(going(), "s n"), []);
    assert_eq!(ordered(going(), "x x"), [Control::Stop]);
    assert_eq!(ordered(going(), "x q"), []);
    assert_eq!(ordered(stuck(), "a a"), [Control::Accept]);
    assert_eq!(ordered(going(), "F F"), [Control::ForceRelay]);
    assert_eq!(ordered(scenes::one(scenes::first_wait()), "A A"), [Control::Ask]);
    assert_eq!(ordered(stuck(), "+ Enter"), [Control::More { n: 5, blockers_only: false }]);
    assert_eq!(ordered(stuck(), "= Tab Ctrl-u 7 Tab Space Enter Enter"), [Control::More { n: 7, blockers_only: true }]);
    assert_eq!(ordered(going(), "R Ctrl-u s h o p Ctrl-s"), [Control::Rename { name: "shop".to_owned() }]);
    assert_eq!(
        ordered(going(), "w Down Enter H i Ctrl-s"),
        [Control::Write { side: Role::Reviewer, text: "Hi".to_owned(), go_on: false }]
    );
}

#[test]
fn an_ended_run_goes_on_or_is_removed() {
    let over = || scenes::one(scenes::ended("auth", Standing::Done, "done", 3, 600));
    assert_eq!(ordered(over(), "r"), [Control::RunOn]);
    assert_eq!(ordered(over(), "D D"), [Control::Discard]);
    assert_eq!(ordered(over(), "p"), [], "impossible, with a reason");
}

#[test]
fn each_banner_is_resolved_by_its_keys() {
    let of = |name: &str| {
        let run = scenes::banners().into_iter().find(|(known, _)| *known == name).unwrap().1;
        scenes::one(run)
    };
    assert_eq!(ordered(of("near_miss"), "Enter a y"), [Control::Accept]);
    assert_eq!(ordered(of("near_miss"), "Enter p"), [Control::Resume], "the machine knows what that is");
    assert_eq!(ordered(of("limit"), "Enter p"), [Control::Resume]);
    assert_eq!(ordered(of("session_changed"), "Enter f"), [Control::Follow]);
    assert_eq!(ordered(of("agent_gone"), "Enter b"), [Control::BringBack]);
    assert_eq!(ordered(of("delivery_failed"), "Enter p"), [Control::Resume]);
    assert_eq!(ordered(of("delivery_failed"), "Enter y"), [Control::ByHand]);
}

#[test]
fn what_is_to_be_pasted_is_copied_once_as_it_is_saved() {
    let failed = scenes::one(scenes::banners().into_iter().find(|(name, _)| *name == "delivery_failed").unwrap().1);
    let mut saved = failed.clone();
    let delivery = saved.runs[0].delivery.as_mut().unwrap();
    (delivery.by_hand, delivery.text) = (true, "Message:\n/clear it".into());
    let mut rig = rig(failed);
    assert!(!rig.press("Enter y").iter().any(|effect| matches!(effect, Effect::Copy { .. })), "not before it is saved");
    let copies = |effects: Vec<Effect>| {
        let copied = effects.into_iter().filter_map(|effect| match effect {
            Effect::Copy { text, .. } => Some(text),
            _ => None,
        });
        copied.collect::<Vec<_>>()
    };
    assert_eq!(copies(rig.send(Msg::Changed(Arc::new(saved.clone())))), ["Message:\n/clear it"]);
    saved.seq += 1;
    assert!(copies(rig.send(Msg::Changed(Arc::new(saved)))).is_empty(), "once");
    rig.draw();
    rig.pass(500);
    assert_eq!(copies(rig.press("y")), ["Message:\n/clear it"], "and again when asked");
}

#[test]
fn look_first_sends_edits_and_drops() {
    let waiting = || scenes::one(scenes::look_first());
    let send =
        |edited_text: Option<&str>| Control::Confirm(Confirm::Send { edited_text: edited_text.map(str::to_owned) });
    assert_eq!(ordered(waiting(), "Enter Enter Enter Enter"), [send(None)]);
    assert_eq!(ordered(waiting(), "Enter Enter Enter y"), [send(None)]);
    assert_eq!(ordered(waiting(), "Enter Enter d d"), [Control::Confirm(Confirm::Drop)]);
    assert_eq!(ordered(waiting(), "Enter Enter d x"), []);
    let edited = ordered(waiting(), "Enter Enter i N o Ctrl-s");
    let Control::Confirm(Confirm::Send { edited_text: Some(text) }) = &edited[0] else { panic!("{edited:?}") };
    assert!(text.starts_with("NoFeedback:"), "{text}");
    let kept = ordered(waiting(), "Enter Enter i N o Esc Enter y");
    assert_eq!(kept, edited, "leaving the editor keeps the edit");
}

/// Beside the list one Enter opens what it is offered for; at no size does a press too many send.
#[test]
fn enter_opens_the_preview_that_is_offered_and_asks_before_it_sends() {
    for (size, opens) in [((38, 20), 2), ((80, 24), 2), ((120, 40), 1), ((180, 50), 1)] {
        let mut run = scenes::look_first();
        run.banner = None;
        let mut rig = Rig::new(scenes::one(run), size);
        let is_open = |rig: &Rig| rig.app.over.iter().any(|over| matches!(over, Over::Look(_)));
        for press in 1..=opens {
            assert!(!is_open(&rig), "{size:?}");
            assert!(press < opens || rig.text().contains("Enter look"), "{size:?}");
            assert_eq!(controls(&rig.press("Enter")), []);
        }
        assert!(is_open(&rig), "{size:?}");
        assert_eq!(controls(&rig.press("Enter")), [], "{size:?}: one press too many");
        let text = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("send relay 4 to claude?"), "{text}");
        assert_eq!(controls(&rig.press("Esc")), [], "{size:?}");
        assert!(is_open(&rig), "{size:?}: any other key is no");
        assert_eq!(controls(&rig.press("Enter y")).len(), 1, "{size:?}");
    }
}

#[test]
fn a_preview_goes_along_with_its_run_while_the_same_relay_waits() {
    let moved = |revision, text: &str| {
        let mut run = scenes::look_first();
        run.revision = revision;
        run.look_first.as_mut().unwrap().text = text.into();
        Msg::Changed(Arc::new(scenes::one(run)))
    };
    let same = scenes::look_first().look_first.unwrap().text;
    for keys in ["Enter Enter", "Enter Enter i N o"] {
        let send = if keys.ends_with('o') { "Ctrl-s" } else { "Enter y" };
        let mut rig = rig(scenes::one(scenes::look_first()));
        rig.press(keys);
        rig.send(moved(8, &same));
        rig.draw();
        assert_eq!(controls(&rig.press(send))[0].0, Some(8), "the same relay, {keys}");
        let mut rig = self::rig(scenes::one(scenes::look_first()));
        rig.press(keys);
        rig.send(moved(9, "another text"));
        rig.draw();
        let orders = controls(&rig.press(send));
        assert!(
            orders.iter().all(|(seen, _)| *seen == Some(7)),
            "another relay is not what was read, {keys}: {orders:?}"
        );
    }
}

#[test]
fn running_on_opens_the_new_run() {
    let ended = scenes::ended("auth", Standing::Done, "done", 12, 7_200);
    let mut rig = rig(scenes::one(ended.clone()));
    let effects = rig.press("Enter r");
    assert!(matches!(effects.as_slice(), [Effect::Send { then: Then::Open, .. }]), "{effects:?}");
    let new = scenes::first_wait();
    let key = new.key.clone();
    let mut projection = scenes::one(ended);
    projection.runs.push(new);
    rig.send(Msg::Changed(Arc::new(projection)));
    rig.send(Msg::Replied(Then::Open, Some(Reply::Done { record: Some(key.clone()), note: String::new() })));
    assert_eq!(*rig.app.screen(), Screen::Run(key));
}

#[test]
fn a_list_that_holds_still_calls_no_going_run_ended() {
    let ended = scenes::ended("auth", Standing::Done, "done", 12, 7_200);
    let mut rig = rig(scenes::one(ended.clone()));
    rig.press("j");
    let mut projection = scenes::one(ended);
    projection.runs.push(scenes::run("checkout"));
    rig.send(Msg::Changed(Arc::new(projection)));
    assert_eq!(rig.app.runs.order().len(), 2);
    let shown = rig.text();
    // A new run goes at once where it belongs.
    assert!(shown.find("checkout") < shown.find("── ended"), "{shown}");
}

#[test]
fn no_footer_names_a_key_twice() {
    for (name, run) in scenes::banners() {
        for size in [(38, 20), (80, 24), (120, 40)] {
            let mut rig = Rig::new(scenes::one(run.clone()), size);
            let shown = rig.text();
            let footer: Vec<&str> = shown.lines().rev().take(2).collect();
            for key in [" p ", " t ", " w ", " x "] {
                let times: usize = footer.iter().map(|line| format!(" {line} ").matches(key).count()).sum();
                assert!(times <= 1, "{name} names{key}{times} times:\n{}", footer.join("\n"));
            }
        }
    }
}

#[test]
fn a_banner_counts_only_after_it_was_in_view() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("Enter");
    let mut run = scenes::no_agreement();
    run.revision = 8;
    rig.send(Msg::Changed(Arc::new(scenes::one(run))));
    rig.draw();
    let now = rig.now;
    for wait in [0, 399] {
        let at = now + jiff::SignedDuration::from_millis(wait);
        assert!(rig.app.update(Msg::Key(Key::char('p')), at).is_empty(), "{wait} ms");
    }
    let at = now + jiff::SignedDuration::from_millis(400);
    let effects = rig.app.update(Msg::Key(Key::char('p')), at);
    assert_eq!(controls(&effects), [(Some(8), Control::Resume)]);
}

#[test]
fn a_key_names_what_was_on_the_screen() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    let mut moved = scenes::run("checkout");
    moved.revision = 99;
    rig.send(Msg::Changed(Arc::new(scenes::one(moved))));
    let effects = rig.send(Msg::Key(Key::char('p')));
    assert_eq!(controls(&effects), [(Some(7), Control::Pause)], "the frame showed revision 7");
    rig.draw();
    let effects = rig.send(Msg::Key(Key::char('p')));
    assert_eq!(controls(&effects), [(Some(99), Control::Pause)]);
}

#[test]
fn a_question_keeps_the_revision_it_was_asked_at() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("x");
    let mut moved = scenes::run("checkout");
    moved.revision = 99;
    rig.send(Msg::Changed(Arc::new(scenes::one(moved))));
    let effects = rig.press("x");
    assert_eq!(controls(&effects), [(Some(7), Control::Stop)]);
}

#[test]
fn a_refusal_is_said() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("p");
    rig.send(Msg::Replied(Then::Say, Some(Reply::Refused(Refusal::not_now("it moved on: look again")))));
    assert!(rig.text().contains("it moved on: look again"));
}

#[test]
fn quitting_asks_while_a_run_goes() {
    assert_eq!(rig(scenes::empty()).press("q"), [Effect::Quit(Exit::Quit)]);
    let going = || scenes::one(scenes::run("checkout"));
    assert_eq!(rig(going()).press("q q"), [Effect::Quit(Exit::Quit)]);
    assert_eq!(rig(going()).press("Ctrl-c Ctrl-c"), [Effect::Quit(Exit::Quit)]);
    assert_eq!(rig(going()).press("q Esc"), []);
    assert!(rig(going()).text().contains("checkout"));
}

#[test]
fn a_new_run_is_started_from_the_form() {
    let mut rig = rig(scenes::two_sessions());
    let effects = rig.press("n Enter");
    assert_eq!(effects[0], Effect::LookAround, "agents may have been opened meanwhile");
    let Effect::Send { command: Command::CreateRun(new), then: Then::Form } = &effects[1] else {
        panic!("{effects:?}")
    };
    assert_eq!(new.implementer.session_id.as_str(), "%1");
    assert_eq!(new.reviewer.session_id.as_str(), "%2");
    assert_eq!(new.config.first_phase, FirstPhase::Next);
    let record = Some(scenes::key("new"));
    let mut projection = scenes::two_sessions();
    projection.runs.push(scenes::run("new"));
    rig.send(Msg::Changed(Arc::new(projection)));
    rig.send(Msg::Replied(Then::Form, Some(Reply::Done { record, note: "waits for claude's next answer".to_owned() })));
    assert_eq!(*rig.app.screen(), Screen::Run(scenes::key("new")));
    assert!(rig.app.over.is_empty());
}

#[test]
fn the_form_swaps_turns_and_says_what_is_wrong() {
    let mut rig = rig(scenes::two_sessions());
    let effects = rig.press("n Ctrl-t Shift-Tab Shift-Tab Shift-Tab Shift-Tab Shift-Tab Ctrl-u 0 Ctrl-s");
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::Send { .. })), "{effects:?}");
    assert!(rig.text().contains("a whole number from 1 on"), "{}", rig.text());
    let effects = rig.press("Ctrl-u 3 Ctrl-s");
    let Effect::Send { command: Command::CreateRun(new), .. } = &effects[0] else { panic!("{effects:?}") };
    assert_eq!((new.implementer.session_id.as_str(), new.config.max_rounds), ("%2", 3));
    rig.send(Msg::Replied(Then::Form, Some(Reply::Refused(Refusal::invalid("reviewer", "this one is used by shop")))));
    assert!(rig.text().contains("this one is used by shop"));
}

#[test]
fn every_letter_is_text_in_a_field() {
    let effects = rig(scenes::one(scenes::run("checkout"))).press("R Ctrl-u q x p 1 ? : Ctrl-s");
    assert_eq!(controls(&effects), [(Some(7), Control::Rename { name: "qxp1?:".to_owned() })]);
}

#[test]
fn selection_is_held_by_run_and_the_list_holds_still() {
    let mut rig = rig(scenes::all_standings());
    rig.press("j");
    let selected = rig.app.runs.on().cloned().unwrap();
    let before = rig.app.runs.order().to_vec();
    let mut projection = scenes::all_standings();
    projection.runs.rewrite(|runs| {
        for run in runs.iter_mut().filter(|run| run.key != selected && run.standing == Standing::Going) {
            run.standing = Standing::NeedsYou;
        }
    });
    rig.send(Msg::Changed(Arc::new(projection)));
    assert_eq!(rig.app.runs.order(), before, "within 2 s of a key");
    rig.pass(2_000);
    assert_ne!(rig.app.runs.order(), before);
    assert_eq!(rig.app.runs.on(), Some(&selected));
}

#[test]
fn sessions_are_named_put_away_and_written_to() {
    let mut rig = rig(scenes::all_standings());
    let effects = rig.press("2 R Ctrl-u m e Ctrl-s");
    let Effect::Send { command: Command::Session { control, .. }, .. } = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(*control, SessionControl::Rename { name: "me".to_owned() });
    let effects = rig.press("Esc D");
    assert!(matches!(
        &effects[..],
        [Effect::Send { command: Command::Session { control: SessionControl::PutAway, .. }, .. }]
    ));
    let effects = rig.press("y Down Enter");
    assert!(matches!(&effects[..], [Effect::Copy { text: path, .. }] if path.starts_with("/home/dev/.claude/")));
}

#[test]
fn the_palette_does_what_its_key_does_and_gives_reasons() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    assert_eq!(controls(&rig.press(": p a u s e Enter")), [(Some(7), Control::Pause)]);
    let effects = rig.press(": r e p l a c e d Enter");
    assert_eq!(controls(&effects), []);
    assert!(rig.text().contains("no session was replaced"), "{}", rig.text());
}

#[test]
fn the_help_lists_every_key_of_its_screen() {
    let keymap = Keymap::standard().unwrap();
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (120, 200));
    rig.press("Enter ?");
    let text = rig.text();
    for binding in keymap.bindings(Place::Run) {
        assert!(text.contains(&binding.says), "{} is not in the help", binding.says);
    }
}

#[test]
fn words_that_people_do_not_say_are_nowhere() {
    let mut texts = String::new();
    for projection in
        [scenes::all_standings(), scenes::one(scenes::no_agreement()), scenes::empty(), scenes::two_sessions()]
    {
        for keys in ["", "Enter", "Enter ?", "n", "2", "2 ?", "3", ":", "Enter o"] {
            let mut rig = Rig::new(projection.clone(), (120, 120));
            rig.press(keys);
            texts.push_str(&rig.text().to_lowercase());
        }
    }
    let texts = texts.replace("rounds twice", "").replace("round(", "").replace("background", "");
    for word in ["round", "ball", "probe", "advance", "trash", "eligible"] {
        assert!(!texts.contains(word), "{word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever moves between the frame and the key: an order names a run that was selected in the frame, at the
    /// revision of the frame.
    #[test]
    fn a_key_is_never_applied_to_another_run(
        moves in proptest::collection::vec((0usize..6, 0u64..4, any::<bool>()), 1..12),
        keys in proptest::collection::vec(0usize..8, 1..12),
    ) {
        let names = ["a", "b", "c"];
        let world = |state: &[(u64, bool)]| {
            let mut projection = scenes::one(scenes::run("a"));
            projection.runs = names.iter().zip(state).filter(|(_, (_, there))| *there).map(|(name, (revision, _))| {
                let mut run = scenes::run(name);
                run.revision = *revision;
                if revision % 2 == 1 { run.standing = Standing::NeedsYou; }
                run
            }).collect();
            projection
        };
        let mut state = vec![(7, true), (7, true), (7, true)];
        let mut rig = Rig::new(world(&state), (38, 20));
        let pressed = ["p", "x", "y", "s", "j", "k", "r", "a"];
        let mut moves = moves.into_iter().cycle();
        for key in keys {
            let frame = world(&state);
            rig.send(Msg::Changed(Arc::new(frame.clone())));
            rig.draw();
            rig.pass(500);
            let selected = rig.app.runs.on().cloned();
            let asked = rig.app.over.len();
            let (which, by, there) = moves.next().unwrap();
            state[which % 3] = (state[which % 3].0 + by, there || by == 0);
            rig.send(Msg::Changed(Arc::new(world(&state))));
            let effects = rig.send(Msg::Key(pressed[key].parse().unwrap()));
            for effect in effects {
                let Effect::Send { command: Command::Control { target, expect, .. }, .. } = effect else { continue };
                if asked == 0 {
                    prop_assert_eq!(Some(&target), rig.app.runs.on().or(selected.as_ref()));
                    let seen = frame.runs.iter().find(|run| run.key == target);
                    prop_assert_eq!(expect, seen.map(|run| run.revision));
                    prop_assert_eq!(Some(target), selected.clone());
                }
                prop_assert!(expect.is_some());
            }
        }
    }
}

#[test]
fn a_key_of_another_screen_says_where_it_works() {
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (80, 24));
    rig.press("c");
    assert!(rig.text().contains("c works in a run: compare two answers"), "{}", rig.text());
    rig.press("S");
    assert!(rig.text().contains("S works among the sessions (2): start an agent"), "{}", rig.text());
    rig.press("2 H");
    assert!(rig.text().contains("H works among the runs (1): put the note"), "{}", rig.text());
}

/// What the footer offers leads somewhere: nothing to go to, to copy or to change has no key in it.
#[test]
fn the_footer_leaves_out_what_is_impossible() {
    let footer = |projection: Projection, keys: &str, size: (u16, u16)| {
        let mut rig = Rig::new(projection, size);
        rig.press(keys);
        let text = rig.text();
        text.lines().last().unwrap_or_default().to_owned()
    };
    let empty = footer(scenes::empty(), "", (120, 40));
    for word in ["! next", "o options", "y copy"] {
        assert!(!empty.contains(word), "{empty}");
    }
    for word in ["y copy", "o options"] {
        assert!(!footer(scenes::empty(), "2", (120, 40)).contains(word), "{word}");
    }
    let going = footer(scenes::one(scenes::run("checkout")), "", (120, 40));
    assert!(!going.contains("! next") && going.contains("y copy") && going.contains("o options"), "{going}");
    let needing = || scenes::one(scenes::no_agreement());
    let in_list = footer(needing(), "", (120, 40));
    assert!(!in_list.contains("what") && in_list.contains("! next"), "{in_list}");
}

/// Away from its banner a run that needs you has the banner's keys in its footer; on it they are not repeated.
#[test]
fn a_needing_runs_offers_stand_in_the_footer_of_its_other_parts() {
    let mut rig = Rig::new(scenes::one(scenes::no_agreement()), (38, 20));
    rig.press("Enter");
    assert!(!rig.text().lines().last().unwrap().contains("+ go on"), "{}", rig.text());
    rig.press("Tab");
    let text = rig.text();
    let last = text.lines().last().unwrap();
    for offer in ["+ ", "r ", "a "] {
        assert!(last.contains(offer), "{text}");
    }
}

#[test]
fn a_key_that_turns_parts_says_where_there_are_none() {
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (120, 40));
    for key in ["Tab", "Shift-Tab"] {
        rig.press(key);
        assert!(rig.text().contains("open it first"), "{}", rig.text());
    }
}

/// The footer gives way to a sentence only where rows are scarce.
#[test]
fn a_sentence_leaves_the_footer_its_keys() {
    for size in [(38, 14), (38, 19), (120, 14), (120, 18)] {
        let mut rig = Rig::new(scenes::one(scenes::run("checkout")), size);
        rig.press("Tab");
        let text = rig.text();
        assert!(text.contains("open it first") && text.contains("? "), "{size:?}\n{text}");
    }
}
