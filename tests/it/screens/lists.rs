//! The lists (`dashboard.md` §2): what stands where, what is left out, and how it comes back.

use std::sync::Arc;

use jiff::SignedDuration;
use trellis::projection::{Projection, Standing};
use trellis::ui::app::{Msg, Over, Screen};
use trellis::ui::line_edit::LineEdit;

use super::{Rig, scenes};

fn rig(projection: Projection) -> Rig {
    Rig::new(projection, (60, 40))
}

/// The row of the screen that holds some words.
fn row(text: &str, words: &str) -> usize {
    text.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words} in\n{text}"))
}

#[test]
fn runs_stand_by_what_they_need_each_with_a_sentence() {
    let text = rig(scenes::all_standings()).text();
    let places: Vec<usize> =
        ["checkout", "search-index", "docs-site", "billing", "admin-ui", "── ended", "auth", "cli-flags"]
            .iter()
            .map(|name| row(&text, name))
            .collect();
    assert!(places.is_sorted(), "{text}");
    for (name, sentence) in [
        ("checkout", "no agreement after 10 relays"),
        ("search-index", "codex reviews · relay 5 of 10"),
        ("billing", "claude at its limit · back 17:00"),
        ("admin-ui", "paused by you"),
    ] {
        assert_eq!(row(&text, sentence), row(&text, name) + 1, "{text}");
    }
}

#[test]
fn a_pair_without_a_checklist_stands_among_the_runs_without_a_phase() {
    let mut rig = rig(scenes::one(scenes::pair_alone()));
    let text = rig.text();
    let line = text.lines().nth(row(&text, "one-look")).unwrap().to_owned();
    assert!(line.contains("pair") && !line.contains("phase"), "{text}");
    rig.press("Enter");
    let text = rig.text();
    assert!(text.contains("relay 3 of 10") && !text.lines().next().unwrap().contains("phase"), "{text}");
}

#[test]
fn old_ended_runs_are_shown_by_a_full_stop() {
    let old = scenes::ended("ancient", Standing::Done, "done", 3, 8 * 24 * 3_600);
    let mut projection = scenes::one(scenes::run("checkout"));
    projection.runs.push(old);
    let mut rig = rig(projection);
    assert!(!rig.text().contains("ancient"));
    rig.press(".");
    assert!(rig.text().contains("ancient"));
    rig.press(".");
    assert!(!rig.text().contains("ancient"));
}

#[test]
fn sessions_show_state_agent_title_place_and_their_run() {
    let mut rig = rig(scenes::one_session());
    rig.press("2");
    let text = rig.text();
    let first = row(&text, "Implement the cart");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[first].contains("○") && lines[first].contains("claude"), "{text}");
    for part in ["idle", "shop", "%1", "⇄ checkout"] {
        assert!(lines[first + 1].contains(part), "{part}:\n{text}");
    }
    assert!(row(&text, "waits for your approval") > first, "{text}");
    assert!(text.contains("12 older · / searches all"), "{text}");
}

#[test]
fn the_count_of_older_sessions_is_written_for_people_and_goes_while_all_are_searched() {
    let mut rig = rig(scenes::all_standings());
    rig.press("2");
    assert!(rig.text().contains("2,941 older · / searches all"), "{}", rig.text());
    rig.press("/ o l d - 1 7 Enter");
    let text = rig.text();
    assert!(!text.contains("older"), "{text}");
    assert!(text.contains("An old one"), "{text}");
    rig.press("Esc");
    assert!(rig.text().contains("2,941 older"), "{}", rig.text());
}

#[test]
fn a_session_is_hidden_until_something_happens_in_it() {
    let mut rig = rig(scenes::two_sessions());
    rig.press("2 z");
    let text = rig.text();
    assert!(!text.contains("Implement the cart") && text.contains(". shows it"), "{text}");
    assert!(text.contains("1 hidden · . shows all") && !text.contains("older"), "{text}");
    rig.press(".");
    let text = rig.text();
    assert!(text.contains("Implement the cart") && text.contains("hidden"), "{text}");
    rig.press(".");
    assert!(!rig.text().contains("Implement the cart"));
    let mut moved = scenes::two_sessions();
    moved.sessions[0].active_at = Some(rig.now);
    rig.send(Msg::Changed(Arc::new(moved)));
    rig.pass(2_000);
    assert!(rig.text().contains("Implement the cart"), "{}", rig.text());
}

#[test]
fn what_was_put_away_is_shown_with_all() {
    let mut projection = scenes::two_sessions();
    projection.sessions[0].put_away = true;
    let mut rig = rig(projection);
    rig.press("2");
    assert!(!rig.text().contains("Implement the cart"));
    rig.press(".");
    assert!(rig.text().contains("put away"), "{}", rig.text());
}

#[test]
fn a_session_is_new_until_its_transcript_was_opened() {
    let mut rig = rig(scenes::two_sessions());
    rig.press("2");
    assert!(!rig.text().contains("new  "), "what was there at the start is not news");
    let mut moved = scenes::two_sessions();
    let at = rig.now + SignedDuration::from_secs(1);
    moved.sessions[1].active_at = Some(at);
    rig.send(Msg::Changed(Arc::new(moved)));
    rig.pass(3_000);
    let text = rig.text();
    assert!(text.lines().any(|line| line.contains("Review the cart") && line.contains("new  codex")), "{text}");
    let key = rig.app.projection.sessions[1].session.key();
    rig.app.sessions.select(&key);
    rig.press("Enter");
    assert_eq!(*rig.app.screen(), Screen::Session(key));
    rig.press("Esc");
    assert!(!rig.text().contains("new  codex"), "{}", rig.text());
}

#[test]
fn the_log_has_decisions_with_evidence_newest_last_and_everything_by_a_full_stop() {
    let mut rig = rig(scenes::all_standings());
    rig.press("3");
    let text = rig.text();
    assert!(row(&text, "relay 1 goes to codex") < row(&text, "relay 2 goes to claude"), "{text}");
    assert!(text.contains("codex's answer, record 219 at 91,002") && text.contains("key n"), "{text}");
    assert!(!text.contains("quiet for 2 s"), "{text}");
    rig.press(".");
    let text = rig.text();
    assert!(text.contains("quiet for 2 s") && text.contains("timer"), "{text}");
}

#[test]
fn the_log_of_one_run_holds_its_lines_alone() {
    let mut projection = scenes::all_standings();
    let mut other = (*projection.log[1]).clone();
    other.record = Some("auth".to_owned());
    other.what = "something of another run".to_owned();
    projection.log.push(Arc::new(other));
    let mut rig = rig(projection);
    rig.press("L");
    let text = rig.text();
    assert!(text.contains("log · checkout") && text.contains("relay 1 goes to codex"), "{text}");
    assert!(!text.contains("another run"), "{text}");
    rig.press("3");
    assert!(rig.text().contains("another run"));
}

#[test]
fn the_next_run_that_needs_you_is_found_from_everywhere_and_around_the_end() {
    let mut projection = scenes::all_standings();
    projection.runs[0].standing = Standing::NeedsYou;
    let mut rig = rig(projection);
    let waiting = |rig: &Rig| rig.app.run(&rig.app.target().unwrap()).unwrap().standing == Standing::NeedsYou;
    let mut met = Vec::new();
    for _ in 0..2 {
        rig.press("!");
        assert!(waiting(&rig));
        met.push(rig.app.target().unwrap());
    }
    assert_ne!(met[0], met[1]);
    rig.press("2 !");
    assert!(matches!(rig.app.screen(), Screen::Run(_)) && waiting(&rig));
    let mut rig = self::rig(scenes::one(scenes::run("checkout")));
    rig.press("!");
    assert!(rig.text().contains("nothing needs you"));
}

/// What a list is filtered by stands in its title, and hides no run that needs its person.
#[test]
fn a_filter_is_shown_and_hides_no_need() {
    for size in [(38, 20), (120, 40)] {
        for from in ["", "2 "] {
            let mut rig = Rig::new(scenes::all_standings(), size);
            let filter =
                rig.app.projection.runs.iter().find(|run| run.standing == Standing::Paused).unwrap().name.clone();
            let letters: Vec<String> = filter.chars().map(String::from).collect();
            rig.press(&format!("/ {} Enter", letters.join(" ")));
            let text = rig.text();
            assert!(text.lines().next().unwrap().contains(&format!(" /{}", &filter[..4])), "{text}");
            assert_eq!(rig.app.runs.order().len(), 1);
            rig.press(&format!("{from}!"));
            let on = rig.app.target().unwrap();
            let standing = rig.app.run(&on).unwrap().standing;
            assert_eq!(standing, Standing::NeedsYou, "{}", rig.text());
            rig.press("1");
            assert!(rig.app.runs.order().contains(&on), "{}", rig.text());
        }
        let mut rig = Rig::new(scenes::two_sessions(), size);
        rig.press("2 / c l Enter");
        assert!(rig.text().lines().next().unwrap().contains("sessions /cl"), "{}", rig.text());
    }
}

#[test]
fn the_palette_names_every_action_of_its_screen_with_its_key_and_why_one_is_impossible() {
    for (keys, size) in [("Enter", (38, 20)), ("", (120, 40)), ("2", (38, 20)), ("3", (120, 40)), ("2 Enter", (60, 24))]
    {
        let mut rig = Rig::new(scenes::one(scenes::run("checkout")), size);
        rig.press(keys);
        let place = rig.app.screen_place();
        let actions: Vec<(String, String)> = rig
            .app
            .keymap
            .bindings(place)
            .filter(|binding| binding.action.name() != "palette")
            .map(|binding| (binding.action.name().replace('-', " "), binding.keys[0].to_string()))
            .collect();
        rig.press(":");
        for (name, key) in actions {
            let Some(Over::Menu(menu)) = rig.app.over.last_mut() else { panic!("no palette") };
            menu.filter = LineEdit::new(name.clone());
            let text = rig.text();
            assert!(
                text.lines().any(|line| line.contains(&name) && line.split_whitespace().any(|word| word == key)),
                "{name} with {key} is not in the palette:\n{text}"
            );
        }
    }
    let mut rig = rig(scenes::one(scenes::run("checkout")));
    rig.press(": f o l l o w");
    assert!(rig.text().contains("not now: no session was replaced"), "{}", rig.text());
    rig.press("Esc 2 G : w r i t e");
    assert!(rig.text().contains("not now: no run uses this session"), "{}", rig.text());
    let mut rig = self::rig(scenes::empty());
    rig.press(": s k i p");
    assert!(rig.text().contains("not now: select a run first"), "{}", rig.text());
}
