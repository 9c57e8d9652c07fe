//! What needs a person (`dashboard.md` §5): when keys count, what they may reach, what is asked, what is said.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;
use proptest::prelude::*;
use trellis::driver::ports::{Cause, ReadOnly};
use trellis::model::command::{Command, Control, Refusal, Reply};
use trellis::model::ids::{PairId, RecordKey, Role, RunId};
use trellis::model::reach::Transport;
use trellis::projection::{DriverFact, Projection, RunView, Standing, foreign};
use trellis::ui::action::Action;
use trellis::ui::app::{Effect, Msg, Over, Then};
use trellis::ui::key::Key;
use trellis::ui::keymap::{Keymap, Place};

use super::{Rig, scenes};

fn rig(projection: Projection) -> Rig {
    Rig::new(projection, (38, 20))
}

fn orders(effects: &[Effect]) -> Vec<(RecordKey, Option<u64>, Control)> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Send { command: Command::Control { target, expect, control }, .. } => {
                Some((target.clone(), *expect, control.clone()))
            }
            _ => None,
        })
        .collect()
}

/// Each reason with the keys it offers, in their order, and each of them does something.
#[test]
fn every_banner_shows_its_keys_in_their_order_and_each_leads_somewhere() {
    for size in [(38, 20), (120, 40)] {
        let mut all = scenes::banners();
        all.push(("no_agreement", scenes::no_agreement()));
        for (name, run) in all {
            let offers = run.banner.as_ref().unwrap().offers.clone();
            let mut rig = Rig::new(scenes::one(run.clone()), size);
            rig.press("Enter");
            let text = rig.text();
            let mut from = 0;
            for offer in &offers {
                let words = format!("{} {}", offer.key, offer.word);
                let at = text[from..].find(&words).unwrap_or_else(|| panic!("{name}: no {words} in\n{text}"));
                from += at;
            }
            for offer in &offers {
                let mut rig = Rig::new(scenes::one(run.clone()), size);
                rig.press("Enter");
                let before = rig.text();
                let effects = rig.press(&offer.key);
                let says = rig.text();
                assert!(!effects.is_empty() || says != before, "{name}: {} does nothing", offer.key);
            }
        }
    }
}

/// Every banner, the look and the first wait, beside a run that goes.
fn all_kinds() -> Vec<RunView> {
    let mut all: Vec<RunView> = scenes::banners().into_iter().map(|(_, run)| run).collect();
    all.extend([scenes::no_agreement(), scenes::look_first(), scenes::first_wait(), scenes::run("checkout")]);
    all
}

/// Banner, footer, the page of the first wait and the palette say the same of a pane that is not there.
#[test]
fn a_pane_that_is_not_there_is_offered_nowhere() {
    for way in [Transport::Scripted, Transport::Headless, Transport::ByHand] {
        for mut run in all_kinds() {
            for side in [&mut run.implementer, &mut run.reviewer] {
                side.transport = Some(way);
                side.place = "pid 4242".to_owned();
            }
            for (size, keys) in [((38, 20), ""), ((38, 20), "Enter"), ((120, 40), ""), ((120, 40), "Enter")] {
                let mut rig = Rig::new(scenes::one(run.clone()), size);
                rig.press(keys);
                let text = rig.text();
                let offered = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(!offered.contains("t pane") && !offered.contains("go to claude's pane"), "{way:?}\n{text}");
                assert!(!rig.press("t").iter().any(|effect| matches!(effect, Effect::GoToPane(_))));
            }
        }
    }
}

/// A message that a person pastes goes where its agent is: into a pane only where there is one.
#[test]
fn a_copy_is_pasted_in_a_pane_only_where_there_is_one() {
    for (way, place, says) in [
        (Transport::Tmux, "%2", "paste it yourself in codex's pane"),
        (Transport::ByHand, "pid 4242", "paste it yourself where codex runs"),
        (Transport::Headless, "pid 4242", "paste it yourself where codex runs"),
    ] {
        let mut run = scenes::look_first();
        run.banner = None;
        for side in [&mut run.implementer, &mut run.reviewer] {
            side.transport = Some(way);
            side.place = place.to_owned();
        }
        let says = says.replace("codex", run.look_first.as_ref().map_or("codex", |look| label_of(&run, look.to)));
        let mut rig = Rig::new(scenes::one(run), (60, 24));
        rig.press("Enter");
        let text = rig.text();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&says), "{way:?}: {says}\n{text}");
    }
}

fn label_of(run: &RunView, role: Role) -> &str {
    &if role == Role::Implementer { &run.implementer } else { &run.reviewer }.label
}

/// The conversation of a record that cannot be read is not on its way: what is wrong with it stands there.
#[test]
fn a_damaged_record_says_so_where_its_conversation_would_stand() {
    let damaged = ReadOnly {
        key: RecordKey::Run(RunId::new("half")),
        cause: Cause::Damaged,
        why: "it is no whole JSON".to_owned(),
        remedy: "mend it and put it back from /h/quarantine/half.json".to_owned(),
        written_at: None,
        value: serde_json::Value::Null,
    };
    for size in [(38, 20), (80, 24), (120, 40), (200, 60)] {
        let run = foreign::view(&damaged, scenes::now()).unwrap();
        let mut rig = Rig::new(Projection { shown: None, ..scenes::one(run) }, size);
        rig.press("Enter");
        let text = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!text.contains("reading the conversation"), "{size:?}\n{text}");
        assert!(text.contains("it is no whole JSON; mend it"), "{size:?}\n{text}");
    }
}

/// A pair has no phases: what it has are its relays.
#[test]
fn a_wide_pair_that_has_ended_lists_its_relays_and_no_phases() {
    let mut run = scenes::run("checkout");
    run.key = RecordKey::Pair(PairId::new("checkout"));
    run.phases.clear();
    run.phase = None;
    (run.standing, run.stopped_at) = (Standing::Done, Some(scenes::now()));
    for keys in ["", "Enter", "Enter Tab", "Enter Tab Tab"] {
        let mut rig = Rig::new(scenes::one(run.clone()), (120, 40));
        rig.press(keys);
        let text = rig.text();
        assert!(text.contains("relays") && !text.contains("none yet") && !text.contains("phases"), "{keys}\n{text}");
    }
}

#[test]
fn t_leads_to_the_pane_that_the_banner_names_and_the_other_key_to_the_other() {
    let typed = || scenes::banners().into_iter().find(|(name, _)| *name == "user_typed").unwrap().1;
    for named in [Role::Implementer, Role::Reviewer] {
        let mut run = typed();
        for offer in run.banner.as_mut().unwrap().offers.iter_mut().filter(|offer| offer.key == "t") {
            offer.pane_of = Some(named);
        }
        let key_of =
            |role: Role| if role == Role::Implementer { &run.implementer } else { &run.reviewer }.session.key();
        for (key, role) in [("t", named), ("T", named.other())] {
            assert_eq!(rig(scenes::one(run.clone())).press(key), [Effect::GoToPane(key_of(role))], "{named:?} {key}");
        }
    }
}

/// Who looks on gives no order: nothing offers one, each key says where it is given, and what helps.
#[test]
fn a_view_offers_no_order_and_each_key_of_one_says_where_it_is_given() {
    for run in all_kinds() {
        for (size, keys) in [((38, 20), ""), ((38, 20), "Enter"), ((120, 40), ""), ((120, 40), "Enter")] {
            let mut viewed = scenes::one(run.clone());
            viewed.driver = DriverFact::Elsewhere { pid: Some(6128), background: false };
            let mut rig = Rig::new(viewed, size);
            rig.press(keys);
            let text = rig.text();
            let offered = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for order in ["p pause", "p go on", "s skip", "x stop", "+ go on", "n new", "r again", "w write", "A ask"] {
                assert!(!offered.contains(order), "{order}:\n{text}");
            }
            for key in ["p", "s", "x", "+", "r", "a", "w", "o", "R", "n", "N", "A", "b"] {
                let effects = rig.press(key);
                assert_eq!(orders(&effects), [], "{key}");
                if keys.is_empty() {
                    assert!(rig.app.over.is_empty(), "{key} opened a dialog");
                    let said = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
                    assert!(said.contains("give the order there"), "{key}: {said}");
                }
            }
        }
    }
    // In the list of sessions as well; and nobody is called dead who was not looked at.
    let mut viewed = scenes::one(scenes::run("checkout"));
    viewed.driver = DriverFact::Elsewhere { pid: Some(6128), background: true };
    viewed.sessions.rewrite(|sessions| sessions.iter_mut().for_each(|session| session.live = false));
    let mut rig = rig(viewed);
    rig.press("2");
    let text = rig.text();
    assert!(!text.contains("new run") && !text.contains("start") && !text.contains("0 live"), "{text}");
    rig.press("S");
    assert!(
        rig.text()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("process 6128 drives in the background: O takes over")
    );
}

#[test]
fn a_key_in_the_first_moment_of_a_banner_does_nothing_and_that_is_said() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("Enter");
    let mut run = scenes::no_agreement();
    run.revision = 8;
    rig.send(Msg::Changed(Arc::new(scenes::one(run))));
    rig.draw();
    for key in ["p", "x", "s", "a", "+", "w", "o"] {
        assert_eq!(rig.send(Msg::Key(key.parse().unwrap())), [], "{key}");
        assert!(rig.app.over.is_empty(), "{key} opened a dialog");
    }
    assert!(rig.text().contains("press again"), "{}", rig.text());
    rig.pass(400);
    assert_eq!(orders(&rig.press("p")).len(), 1);
}

#[test]
fn a_banner_opens_no_dialog_by_itself() {
    for (_, run) in scenes::banners() {
        let mut rig = rig(scenes::one(scenes::run("checkout")));
        rig.press("Enter");
        rig.send(Msg::Changed(Arc::new(scenes::one(run))));
        rig.draw();
        rig.pass(60_000);
        assert!(rig.app.over.is_empty());
    }
}

#[test]
fn who_follows_the_conversation_sees_that_they_are_needed_and_who_reads_further_up_is_left_alone() {
    for (keys, shown) in [("Enter Tab Shift-Tab", true), ("Enter Tab Shift-Tab PgUp", false)] {
        let mut rig = rig(scenes::one(scenes::run("checkout")));
        rig.press(keys);
        rig.app.pane = Some(trellis::ui::app::Pane::Talk);
        rig.send(Msg::Changed(Arc::new(scenes::one(scenes::no_agreement()))));
        let text = rig.text();
        assert_eq!(text.contains("5 more relays"), shown, "{keys}:\n{text}");
        assert!(text.contains("! needs you"), "{text}");
    }
}

#[test]
fn what_ends_or_spends_something_asks_in_one_line_and_only_yes_or_the_same_key_is_yes() {
    let going = || scenes::one(scenes::run("checkout"));
    let ended = || scenes::one(scenes::ended("auth", Standing::Done, "done", 3, 600));
    let table: [(fn() -> Projection, &str, Control); 6] = [
        (going, "x", Control::Stop),
        (going, "s", Control::Skip),
        (going, "a", Control::Accept),
        (going, "r", Control::Retry),
        (going, "F", Control::ForceRelay),
        (ended, "D", Control::Discard),
    ];
    for (world, key, control) in table {
        for yes in ["y", key] {
            let effects = rig(world()).press(&format!("{key} {yes}"));
            assert_eq!(orders(&effects).pop().map(|(_, _, control)| control), Some(control.clone()), "{key} {yes}");
        }
        let others = "p s r a + x A F f b w t T o L R D n N . 1 2 3 j k g G q m v ! ? : / Enter Esc Tab Ctrl-c Ctrl-z";
        for no in others.split(' ').filter(|no| *no != key) {
            let mut rig = rig(world());
            rig.press(key);
            let screen = rig.app.trail.clone();
            let effects = rig.press(no);
            assert_eq!(effects, [], "{key}, then {no}");
            assert!(rig.app.over.is_empty() && rig.app.trail == screen, "{key}, then {no}");
            assert!(rig.text().contains("no: nothing was sent"), "{key}, then {no}");
        }
    }
    let first = rig(scenes::one(scenes::first_wait())).press("A A");
    assert_eq!(orders(&first)[0].2, Control::Ask);
}

#[test]
fn accepting_says_when_the_last_fix_is_not_reviewed() {
    for (unreviewed, pair) in [(true, false), (false, false), (true, true)] {
        let mut run = if pair { scenes::pair_alone() } else { scenes::run("checkout") };
        run.unreviewed = unreviewed;
        let mut rig = Rig::new(scenes::one(run), (120, 40));
        rig.press("a");
        let text = rig.text();
        assert_eq!(text.contains("The last fix is not reviewed."), unreviewed, "{text}");
    }
}

#[test]
fn a_refusal_says_its_sentence() {
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press("p");
    let why = "it moved while you looked: look again, then repeat the order";
    rig.send(Msg::Replied(Then::Say, Some(Reply::Refused(Refusal::not_now(why)))));
    let text = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(why), "{text}");
}

#[test]
fn the_banner_says_the_keys_of_the_persons_own_keymap() {
    let mut rig = rig(scenes::one(scenes::no_agreement()));
    let own = "[[of-a-run]]\nkeys = [\"Ctrl-y\"]\naction = \"accept\"\n";
    rig.app.keymap = Keymap::standard().unwrap().overlaid(own).unwrap();
    rig.press("Enter");
    let text = rig.text();
    assert!(text.contains("Ctrl-y accept") && !text.contains(" a accept"), "{text}");
    assert_eq!(orders(&rig.press("a a")), []);
    assert_eq!(orders(&rig.press("Ctrl-y Ctrl-y"))[0].2, Control::Accept);
}

#[test]
fn a_waiting_relay_says_where_it_goes_and_what_is_in_its_way_and_is_copied_as_it_is() {
    let mut run = scenes::look_first();
    run.banner = None;
    let mut rig = rig(scenes::one(run));
    rig.press("Enter");
    let text = rig.text();
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("Relay 4 from codex to claude waits for your look."), "{text}");
    assert!(joined.contains("claude's box holds text of yours"), "{text}");
    for offer in ["Enter look", "y     copy", "x     stop"] {
        assert!(text.contains(offer), "{offer}:\n{text}");
    }
    let copied = rig.press("y");
    assert!(
        matches!(&copied[..], [Effect::Copy { text, what }] if text.starts_with("Feedback:") && what == "relay 4"),
        "{copied:?}"
    );
}

/// Keys of a run that may give an order, and those that lead to one.
const PRESSED: [&str; 18] =
    ["p", "s", "r", "a", "+", "x", "A", "F", "f", "b", "o", "R", "y", "j", "k", "Enter", "Esc", "Ctrl-s"];

fn kinds(which: usize, name: &str) -> RunView {
    let mut run = match which % 5 {
        0 => scenes::run(name),
        1 => scenes::no_agreement(),
        2 => scenes::look_first(),
        3 => scenes::banners().swap_remove(0).1,
        _ => scenes::ended(name, Standing::Done, "done", 3, 600),
    };
    run.key = scenes::key(name);
    name.clone_into(&mut run.name);
    run
}

#[derive(Clone, Debug)]
enum Happens {
    Moves(usize, usize),
    Goes(usize),
    Frame,
    Passes(i64),
    Presses(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => (0usize..3, 0usize..5).prop_map(|(run, kind)| Happens::Moves(run, kind)),
        1 => (0usize..3).prop_map(Happens::Goes),
        3 => Just(Happens::Frame),
        3 => (0i64..2_500).prop_map(Happens::Passes),
        8 => (0usize..PRESSED.len()).prop_map(Happens::Presses),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Three runs change and come and go at any moment, before and after frames. An order that a key leads to, at once or
    /// through a question, a form or a preview, names a run that was under the cursor in a frame, at a revision that a
    /// frame showed of it; so it is carried out on exactly what was seen, or it is refused. It is never another run's.
    #[test]
    fn a_key_pressed_while_its_target_moves_is_refused_and_never_reaches_another(
        start in any::<bool>(),
        history in proptest::collection::vec(happens(), 4..50),
    ) {
        let names = ["a", "b", "c"];
        let mut world: Vec<Option<(u64, usize)>> = vec![Some((1, 0)), Some((1, 1)), Some((1, 2))];
        let projection = |world: &[Option<(u64, usize)>]| {
            let mut projection = scenes::one(scenes::run("a"));
            projection.runs = names.iter().zip(world).filter_map(|(name, state)| {
                let (revision, kind) = (*state)?;
                let mut run = kinds(kind, name);
                run.revision = revision;
                Some(run)
            }).collect();
            projection
        };
        let size = if start { (38, 20) } else { (120, 40) };
        let mut rig = Rig::new(projection(&world), size);
        // Every run and revision that a frame showed; what stood under the cursor in the newest one.
        let mut shown: BTreeSet<(RecordKey, u64)> = BTreeSet::new();
        let mut under_cursor = rig.app.target();
        let mut moved = false;
        shown.extend(rig.app.seen.runs.iter().map(|run| (run.key.clone(), run.revision)));
        let mut next = 1;
        for what in history {
            match what {
                Happens::Moves(run, kind) => {
                    next += 1;
                    world[run] = Some((next, kind));
                    rig.send(Msg::Changed(Arc::new(projection(&world))));
                }
                Happens::Goes(run) => {
                    world[run] = None;
                    rig.send(Msg::Changed(Arc::new(projection(&world))));
                }
                Happens::Frame => {
                    rig.draw();
                    shown.extend(rig.app.seen.runs.iter().map(|run| (run.key.clone(), run.revision)));
                    under_cursor = rig.app.target();
                    moved = false;
                }
                Happens::Passes(milliseconds) => rig.pass(milliseconds),
                Happens::Presses(key) => {
                    let key: Key = PRESSED[key].parse().unwrap();
                    let open = !rig.app.over.is_empty();
                    for (target, expect, control) in orders(&rig.send(Msg::Key(key))) {
                        let seen = expect.map(|revision| (target.clone(), revision));
                        prop_assert!(
                            seen.as_ref().is_some_and(|seen| shown.contains(seen)),
                            "{key} ordered {control:?} of {target} at {expect:?}, which no frame showed"
                        );
                        // The cursor goes elsewhere by a person's key and by nothing else.
                        prop_assert!(
                            open || moved || under_cursor.as_ref() == Some(&target),
                            "{key} ordered {control:?} of {target} while the cursor was seen on {under_cursor:?}"
                        );
                    }
                    moved = true;
                }
            }
        }
    }

    /// Whatever banner comes up under the fingers: no key reaches it before it was in view for 400 ms.
    #[test]
    fn no_key_reaches_a_banner_before_it_was_in_view_for_a_while(
        kind in 1usize..4,
        presses in proptest::collection::vec((0i64..400, 0usize..13), 1..6),
    ) {
        let mut rig = rig(scenes::one(scenes::run("a")));
        rig.press("Enter");
        let mut run = kinds(kind, "a");
        run.revision = 2;
        run.since = rig.now;
        rig.send(Msg::Changed(Arc::new(scenes::one(run))));
        rig.draw();
        let came = rig.now;
        let mut presses = presses;
        presses.sort_unstable();
        for (after, key) in presses {
            let at = came + SignedDuration::from_millis(after);
            let effects = rig.app.update(Msg::Key(PRESSED[key].parse().unwrap()), at);
            prop_assert_eq!(orders(&effects), vec![], "{} after {} ms", PRESSED[key], after);
            prop_assert!(!rig.app.over.iter().any(|over| matches!(over, Over::Question(_) | Over::Look(_))));
        }
    }
}

/// The whole of §10 says that a key has one meaning on a screen, and these the same on every one.
#[test]
fn the_keys_that_people_know_by_heart_mean_the_same_everywhere() {
    let keymap = Keymap::standard().unwrap();
    let table = [
        ("t", Action::GoToPane),
        ("b", Action::BringBack),
        ("w", Action::Write),
        ("e", Action::Outside),
        ("s", Action::Skip),
        ("a", Action::Accept),
        ("x", Action::Stop),
    ];
    for place in [Place::Runs, Place::Run, Place::Sessions, Place::Session, Place::Log, Place::LookFirst] {
        for (key, action) in table {
            let means = keymap.action(place, key.parse().unwrap());
            assert!(means.is_none() || means == Some(action), "{key} on {place:?} is {means:?}");
        }
        // Back has four keys: a phone keyboard has no Esc.
        for back in ["Esc", "h", "Left", "Backspace"] {
            assert_eq!(keymap.action(place, back.parse().unwrap()), Some(Action::Back), "{back} on {place:?}");
        }
    }
}

/// The plateau can be seen at every size a dialog has: on the page, below the relays, and while a question is open.
#[test]
fn the_table_of_reviews_can_be_seen_in_a_small_window_and_while_it_is_asked() {
    let is_seen = |text: &str| text.contains("points") && text.contains("repeated") && text.contains("review ");
    for size in [(38, 18), (38, 20)] {
        let mut rig = Rig::new(scenes::one(scenes::no_agreement()), size);
        rig.press("Enter a");
        assert!(is_seen(&rig.text()), "{size:?} asked\n{}", rig.text());
        rig.press("n Tab Tab Tab");
        let text = rig.text();
        assert!(text.contains("relays of phase") && is_seen(&text), "{size:?}\n{text}");
    }
}

/// A phase that went through without a review is never told as agreed, and its relays count once.
#[test]
fn the_end_of_a_run_tells_what_was_not_reviewed() {
    let mut run = scenes::ended("auth", Standing::Done, "done", 2, 60);
    let relays: u32 = run.phases.iter().map(|phase| phase.relays).sum();
    let last = run.phases.last_mut().unwrap();
    (last.by_user, last.reviewed) = (true, false);
    let mut rig = rig(scenes::one(run));
    rig.press("Enter");
    let text = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 phase agreed · 1 accepted by you, not reviewed"), "{text}");
    assert!(text.contains(&format!("{relays} relays")), "{text}");
}
