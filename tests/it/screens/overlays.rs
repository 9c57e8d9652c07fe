//! The keymap and what lies over a screen: each key of each table does something there, and the table says each that does.

use trellis::projection::{Projection, RunView};
use trellis::ui::app::{Effect, Exit, Msg, Over};
use trellis::ui::key::Key;
use trellis::ui::keymap::{Keymap, Place};

use super::since::{night, two_runs};
use super::talk::reviews;
use super::{Rig, picture, scenes};

/// How a place is opened in the tests, and what is pressed there before a key so that it has something to do.
struct Scene {
    place: Place,
    projection: fn() -> Projection,
    open: &'static str,
    before: &'static [&'static str],
}

fn going() -> Projection {
    scenes::one(scenes::run("checkout"))
}

fn look() -> Projection {
    scenes::one(scenes::look_first())
}

const SCENES: [Scene; 8] = [
    Scene { place: Place::LookFirst, projection: look, open: "Enter Enter", before: &["", "j", "G"] },
    Scene { place: Place::Editor, projection: look, open: "Enter Enter i", before: &["", "a b", "a b Left"] },
    Scene {
        place: Place::Form,
        projection: scenes::two_sessions,
        open: "n",
        before: &[
            "",
            "Tab",
            "Tab Tab",
            "Tab Tab Tab Tab",
            "Tab Tab Tab Tab Tab Tab Tab Tab",
            "Tab Tab Tab Tab Tab Tab Tab Tab Tab",
        ],
    },
    Scene { place: Place::Palette, projection: going, open: "Enter :", before: &["", "Down", "a"] },
    Scene { place: Place::Palette, projection: scenes::all_standings, open: "/", before: &["", "Down", "a"] },
    Scene { place: Place::Summary, projection: two_runs, open: "", before: &["", "j", "j j j", "G"] },
    Scene { place: Place::Help, projection: going, open: "?", before: &["", "j", "G"] },
    // The comparison has the keys of its screen; one that would act on what lies below says so.
    Scene { place: Place::Run, projection: reviews, open: "Enter c", before: &["", "j", "G"] },
];

impl Scene {
    fn rig(&self, before: &str) -> Rig {
        // So low that a comparison scrolls.
        let rows = if self.place == Place::Run { 8 } else { 20 };
        let mut rig = Rig::new((self.projection)(), (38, rows));
        rig.press(self.open);
        if self.place == Place::Summary {
            rig.send(Msg::Happened(night()));
            rig.draw();
        }
        assert_eq!(rig.app.place(), self.place, "{}", self.open);
        rig.press(before);
        rig
    }

    /// Whether a key changes the screen or has an effect, after one of the beginnings.
    fn does(&self, key: Key) -> bool {
        self.before.iter().any(|before| {
            let mut rig = self.rig(before);
            let frame = picture(&mut rig);
            let over = format!("{:?}", rig.app.over);
            let effects = rig.press(&key.to_string());
            !effects.is_empty() || picture(&mut rig) != frame || format!("{:?}", rig.app.over) != over
        })
    }
}

#[test]
fn each_key_of_each_table_does_something_where_the_table_counts() {
    let keymap = Keymap::standard().unwrap();
    for place in Place::ALL {
        let screens = [Place::Runs, Place::Run, Place::Sessions, Place::Session, Place::Log];
        assert!(
            screens.contains(place) || SCENES.iter().any(|scene| scene.place == *place),
            "{place:?} is not looked at"
        );
    }
    let mut dead = Vec::new();
    for scene in &SCENES {
        for binding in keymap.bindings(scene.place) {
            dead.extend(
                binding
                    .keys
                    .iter()
                    .filter(|key| !scene.does(**key))
                    .map(|key| format!("{:?} ({}): {key} {}", scene.place, scene.open, binding.action.name())),
            );
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

/// What leaves, suspends and draws anew is no letter, and works over everything.
#[test]
fn ctrl_c_ctrl_z_and_ctrl_l_work_over_everything() {
    for scene in &SCENES {
        let name = format!("{:?} ({})", scene.place, scene.open);
        assert_eq!(scene.rig("").press("Ctrl-z"), [Effect::Suspend], "{name}");
        assert_eq!(scene.rig("").press("Ctrl-l"), [Effect::Redraw], "{name}");
        let mut rig = scene.rig("");
        let over = rig.app.over.len();
        let left = rig.press("Ctrl-c");
        if left.is_empty() {
            assert!(matches!(rig.app.over.last(), Some(Over::Question(_))), "{name}");
            let asked = rig.text();
            assert!(rig.app.size.1 < 14 || asked.contains("Esc stay"), "{name}: the question is to be read:\n{asked}");
            assert_eq!(rig.press("Esc"), [], "{name}");
            assert_eq!(rig.app.over.len(), over, "{name}: what was open is open still");
            assert_eq!(rig.press("Ctrl-c Ctrl-c"), [Effect::Quit(Exit::Quit)], "{name}");
        } else {
            assert_eq!(left, [Effect::Quit(Exit::Quit)], "{name}");
        }
    }
}

/// A text that is being written is not lost without a question, whatever `on_quit` says.
#[test]
fn what_is_being_written_is_asked_about_before_it_is_lost() {
    let mut rig = Rig::new(look(), (38, 20));
    rig.press("Enter Enter i z");
    assert_eq!(rig.press("Ctrl-c"), []);
    let asked = rig.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(asked.contains("what you wrote is not sent and will not be kept"), "{asked}");
    assert!(asked.contains("Esc stay"), "{asked}");
    rig.press("Esc");
    assert!(rig.text().contains("as it will be sent"), "{}", rig.text());
    assert_eq!(rig.press("Ctrl-c Ctrl-c"), [Effect::Quit(Exit::Quit)]);
}

/// Esc leaves an editor and keeps what was written, for the same run and in the same session of the dashboard.
#[test]
fn what_was_written_is_kept_when_the_editor_is_left() {
    let mut rig = Rig::new(going(), (38, 20));
    rig.press("w Enter H i Esc");
    assert!(rig.text().contains("what you wrote is kept"), "{}", rig.text());
    assert!(rig.app.over.is_empty());
    rig.press("w Enter");
    assert!(rig.text().contains("Hi"), "{}", rig.text());
}

fn near_miss() -> RunView {
    scenes::banners().into_iter().find(|(name, _)| *name == "near_miss").unwrap().1
}

/// What takes every key is in view at every size at which there is a screen, its beginning at least.
#[test]
fn a_question_is_in_view_on_the_shortest_terminal() {
    for size in [(20, 6), (20, 8), (20, 10), (24, 13), (38, 6), (38, 7), (38, 8), (38, 20), (120, 13)] {
        for (open, key) in [("", "x"), ("Enter", "x"), ("Enter", "s")] {
            let mut rig = Rig::new(scenes::one(near_miss()), size);
            rig.press(open);
            rig.press(key);
            let Some(Over::Question(question)) = rig.app.over.last() else { panic!("{key} asks nothing at {size:?}") };
            let asked = question.words.clone();
            let words: String = asked.split_whitespace().collect();
            let shown: String = rig.text().split_whitespace().collect();
            let room = usize::from(size.0 - 2) * usize::from(size.1);
            if asked.chars().count() + usize::from(size.1) * 8 < room {
                assert!(shown.contains(&words), "{key} at {size:?}: {}", rig.text());
            } else {
                let first: String = words.chars().take(20).collect();
                assert!(shown.contains(&first), "{key} at {size:?}: {}", rig.text());
            }
        }
    }
}

/// A sentence that a short terminal cuts says that it goes on.
#[test]
fn a_banner_that_is_cut_says_so() {
    let told = |rows| {
        let mut run = near_miss();
        run.banner.as_mut().unwrap().lines =
            vec!["codex wrote “Verdict: LGTM, mostly.”: close to LGTM, but not it.".to_owned()];
        let mut rig = Rig::new(scenes::one(run), (38, rows));
        rig.press("Enter");
        rig.text()
    };
    let whole = told(20);
    assert!(whole.contains("but not it."), "{whole}");
    let cut = told(10);
    assert!(!cut.contains("but not it.") && cut.contains("LGTM,…"), "{cut}");
}
