//! Frames that were looked at, kept with their styles: each screen and dialog in a scene. Other tests go the same ways
//! (`views`), so that what is kept here is tried at every size and with every text too.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use trellis::projection::{Projection, Standing};
use trellis::ui::Tmux;
use trellis::ui::app::{Answer, Over, Pane, Purpose, Screen};
use trellis::ui::form::FormKind;
use trellis::ui::layout::is_beside;

use super::{Rig, picture, scenes, since, talk};

const SIZES: &[(u16, u16)] = &[(38, 20), (60, 24), (80, 24), (120, 40), (180, 50)];

/// A screen or a dialog in a scene.
pub struct View {
    name: String,
    scene: Box<dyn Fn() -> Projection>,
    /// What leads to it.
    pub keys: &'static str,
    /// What keys alone cannot do, after them.
    then: Option<fn(&mut Rig)>,
    tmux: Tmux,
    sizes: &'static [(u16, u16)],
}

impl View {
    pub fn new(name: impl Into<String>, scene: impl Fn() -> Projection + 'static, keys: &'static str) -> Self {
        let (name, scene) = (name.into(), Box::new(scene));
        Self { name, scene, keys, then: None, tmux: Tmux::Unneeded, sizes: SIZES }
    }

    pub fn then(self, then: fn(&mut Rig)) -> Self {
        Self { then: Some(then), ..self }
    }

    pub fn sizes(self, sizes: &'static [(u16, u16)]) -> Self {
        Self { sizes, ..self }
    }

    /// Its scene before any key.
    pub fn scene(&self, size: (u16, u16)) -> Rig {
        let mut rig = Rig::new((self.scene)(), size);
        rig.app.nearby.tmux = self.tmux;
        rig
    }

    /// The view itself.
    pub fn open(&self, size: (u16, u16)) -> Rig {
        let mut rig = self.scene(size);
        self.lead(&mut rig);
        rig
    }

    /// Goes its way, from whatever is shown.
    pub fn lead(&self, rig: &mut Rig) {
        rig.press(self.keys);
        if let Some(then) = self.then {
            then(rig);
        }
    }
}

/// Every view there is.
pub fn views() -> Vec<View> {
    let groups = [
        lists(),
        runs(),
        needing_you(),
        looks(),
        dialogs(),
        forms(),
        sessions_and_logs(),
        out_of_tmux(),
        in_many_scripts(),
        talk::views(),
        since::views(),
    ];
    groups.into_iter().flatten().collect()
}

/// Each way once, for other scenes than its own.
pub fn ways() -> Vec<View> {
    let mut known = BTreeSet::new();
    views().into_iter().filter(|view| known.insert(view.keys) || view.then.is_some()).collect()
}

/// Each at all its sizes in one file.
pub fn keep(views: Vec<View>) {
    for view in views {
        let mut out = String::new();
        for size in view.sizes {
            let _ = writeln!(out, "== {}×{}\n{}", size.0, size.1, picture(&mut view.open(*size)));
        }
        insta::with_settings!({ snapshot_path => "frames", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(view.name, out);
        });
    }
}

fn checkout() -> Projection {
    scenes::one(scenes::run("checkout"))
}

fn lists() -> Vec<View> {
    vec![
        View::new("runs", scenes::all_standings, ""),
        View::new("runs_none", scenes::empty, ""),
        View::new("runs_viewer", scenes::viewed, ""),
        View::new("runs_undriven", scenes::undriven, ""),
        View::new("run_undriven", scenes::undriven, "G k k k k Enter"),
        View::new("filter", scenes::all_standings, "/ d o c"),
    ]
}

fn runs() -> Vec<View> {
    vec![
        View::new("run_in_review", checkout, "Enter"),
        View::new("run_phases", checkout, "Enter Tab"),
        View::new("run_relays", checkout, "Enter Tab Tab"),
        View::new("run_pair", || scenes::one(scenes::pair_alone()), "Enter"),
        View::new("run_pair_ended", || scenes::one(scenes::pair_ended()), "Enter"),
        View::new("run_first_wait", || scenes::one(scenes::first_wait()), "Enter"),
        View::new(
            "run_done",
            || scenes::one(scenes::ended("search-index", Standing::Done, "done", 12, 7_300)),
            "Enter",
        ),
    ]
}

fn needing_you() -> Vec<View> {
    let others = scenes::banners().into_iter();
    let others =
        others.map(|(name, run)| View::new(format!("banner_{name}"), move || scenes::one(run.clone()), "Enter"));
    std::iter::once(View::new("banner_no_agreement", || scenes::one(scenes::no_agreement()), "Enter"))
        .chain(others)
        .collect()
}

fn looks() -> Vec<View> {
    let look = |name, then| View::new(name, || scenes::one(scenes::look_first()), "Enter").then(then);
    vec![
        look("look_first_banner", |rig| look_by(rig, "")),
        look("look_first", |rig| look_by(rig, "Enter")),
        look("look_first_edit", |rig| look_by(rig, "Enter i")),
        look("look_first_edited", |rig| look_by(rig, "Enter i M i n e . Enter Esc")),
        look("question_original", |rig| look_by(rig, "Enter i N Ctrl-r")),
        look("question_send", |rig| look_by(rig, "Enter Enter")),
    ]
}

/// Keys from the banner on: beside the list the first Enter led into the preview, and Esc leads from there to the run.
fn look_by(rig: &mut Rig, keys: &str) {
    if is_beside(rig.app.size) {
        rig.press("Esc");
    }
    rig.press(keys);
}

fn dialogs() -> Vec<View> {
    vec![
        View::new("question_stop", checkout, "Enter x"),
        View::new("question_quit", checkout, "Enter q"),
        View::new("palette", checkout, "Enter :"),
        View::new("help", checkout, "Enter ?"),
        View::new("write", checkout, "Enter w Enter H e l l o"),
        View::new("write_to", checkout, "Enter w"),
        View::new("question_accept", || scenes::one(scenes::no_agreement()), "Enter a"),
        View::new("help_runs", scenes::all_standings, "?"),
        View::new("help_filter", scenes::all_standings, "? / p a u s e"),
        View::new("palette_sessions", scenes::all_standings, "2 G :"),
        View::new("copy_menu", scenes::all_standings, "2 y"),
        View::new("copy_menu_run", checkout, "Enter y"),
        View::new("copy_menu_session", scenes::one_session, "2 Enter y"),
    ]
}

fn forms() -> Vec<View> {
    vec![
        View::new("more", || scenes::one(scenes::no_agreement()), "Enter +"),
        View::new("options", checkout, "Enter o"),
        View::new("new_run", scenes::two_sessions, "n"),
        View::new("new_run_none", scenes::empty, "n"),
        View::new("new_run_prompts", scenes::two_sessions, "n").then(|rig| {
            go_to(rig, "▸prompts");
            rig.press("Space");
        }),
        View::new("prompt", scenes::two_sessions, "n").then(|rig| {
            go_to(rig, "▸prompts");
            rig.press("Space Tab Enter");
        }),
        View::new("picker", scenes::two_sessions, "n").then(|rig| {
            go_to(rig, "▸builds");
            rig.press("Enter");
        }),
        View::new("new_pair", scenes::two_sessions, "N"),
        View::new("start_agent", scenes::two_sessions, "2 S"),
        View::new("rename", checkout, "R"),
        View::new("rename_session", scenes::two_sessions, "2 R"),
    ]
}

/// Goes from field to field until this stands on the screen.
fn go_to(rig: &mut Rig, mark: &str) {
    for _ in 0..20 {
        if rig.text().contains(mark) {
            return;
        }
        rig.press("Tab");
    }
    // A test that leads elsewhere by the same keys goes on from there.
}

fn sessions_and_logs() -> Vec<View> {
    vec![
        View::new("sessions", scenes::all_standings, "2"),
        View::new("sessions_none", scenes::empty, "2"),
        View::new("sessions_all", scenes::all_standings, "2 z ."),
        View::new("session", scenes::one_session, "2 Enter"),
        View::new("log", scenes::all_standings, "3"),
        View::new("log_all", scenes::all_standings, "3 ."),
        View::new("log_search", scenes::all_standings, "3 / r e l a y Enter"),
        View::new("log_none", scenes::empty, "3"),
        View::new("log_of_run", checkout, "Enter L"),
    ]
}

fn out_of_tmux() -> Vec<View> {
    let mut views = vec![View::new("first_wait_by_hand", || scenes::one(scenes::first_wait_by_hand()), "Enter")];
    for (tmux, name) in [(Tmux::Outside, "outside"), (Tmux::Missing, "missing")] {
        let at = |what: &str, scene: fn() -> Projection, keys| View {
            tmux,
            ..View::new(format!("tmux_{name}_{what}"), scene, keys)
        };
        views.push(at("runs", scenes::empty, ""));
        views.push(at("sessions", scenes::empty, "2"));
        views.push(at("new_run", scenes::one_by_hand, "n"));
    }
    views
}

fn in_many_scripts() -> Vec<View> {
    vec![
        View::new("many_scripts_runs", scenes::many_scripts, ""),
        View::new("many_scripts_run", scenes::many_scripts, "Enter"),
    ]
}

#[test]
fn run() {
    keep(lists());
    keep(runs());
}

#[test]
fn run_that_needs_you() {
    keep(needing_you());
}

#[test]
fn look_first() {
    keep(looks());
}

#[test]
fn questions_and_dialogs() {
    keep(dialogs());
    keep(forms());
}

#[test]
fn sessions_and_log() {
    keep(sessions_and_logs());
}

/// Where nothing can be typed that is said, and what to do instead.
#[test]
fn without_tmux() {
    keep(out_of_tmux());
}

#[test]
fn many_scripts() {
    keep(in_many_scripts());
}

/// What the frame shows, by name: a new kind of screen or dialog needs a name here, and then a view that shows it.
fn shown(rig: &Rig) -> Vec<&'static str> {
    let screen = match rig.app.screen() {
        Screen::Runs => "runs",
        Screen::Run(key) => match rig.app.pane_of(rig.app.run(key).unwrap()) {
            Pane::Banner => "banner",
            Pane::Talk => "talk",
            Pane::Phases => "phases",
            Pane::Relays => "relays",
        },
        Screen::Sessions => "sessions",
        Screen::Session(_) => "session",
        Screen::Log(None) => "log",
        Screen::Log(Some(_)) => "log of a run",
    };
    let over = rig.app.over.iter().map(|over| match over {
        Over::Help(_) => "help",
        Over::Menu(menu) if menu.title == "all actions" => "palette",
        Over::Menu(menu) if menu.title == "copy" => "copy menu",
        Over::Menu(menu) if menu.title == "write to" => "whom to write to",
        Over::Menu(_) => "picker",
        Over::Form(form) => match form.kind {
            FormKind::NewRun => "new run",
            FormKind::NewPair => "new pair",
            FormKind::StartAgent => "start an agent",
            FormKind::Options(..) => "options",
            FormKind::More(..) => "more relays",
            FormKind::RenameRun(..) => "rename a run",
            FormKind::RenameSession(_) => "rename a session",
        },
        Over::Editor(writing) => match writing.purpose {
            Purpose::Write { .. } => "a message",
            Purpose::Relay { .. } => "a relay's text",
            Purpose::Prompt(_) => "a prompt",
        },
        Over::Look(_) => "preview",
        Over::Compare(_) => "comparison",
        Over::Since(_) => "since you looked",
        Over::Line(_) => "filter",
        Over::Question(question) => match question.yes {
            Answer::Do(_) => "question",
            Answer::Original => "original again?",
            Answer::Leave => "leave?",
        },
    });
    std::iter::once(screen).chain(over).collect()
}

#[test]
fn every_kind_of_screen_and_dialog_is_kept() {
    let all = [
        "runs",
        "banner",
        "talk",
        "phases",
        "relays",
        "sessions",
        "session",
        "log",
        "log of a run",
        "help",
        "palette",
        "copy menu",
        "whom to write to",
        "picker",
        "new run",
        "new pair",
        "start an agent",
        "options",
        "more relays",
        "rename a run",
        "rename a session",
        "a message",
        "a relay's text",
        "a prompt",
        "preview",
        "comparison",
        "since you looked",
        "filter",
        "question",
        "original again?",
        "leave?",
    ];
    let kept: BTreeSet<&str> = views().iter().flat_map(|view| shown(&view.open((38, 20)))).collect();
    assert_eq!(kept, BTreeSet::from(all));
}
