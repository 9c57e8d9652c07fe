//! Frames that were looked at, kept with their styles.

use std::fmt::Write as _;

use trellis::projection::Projection;
use trellis::ui::Tmux;
use trellis::ui::layout::is_beside;

use super::{Rig, picture, scenes};

const SIZES: [(u16, u16); 5] = [(38, 20), (60, 24), (80, 24), (120, 40), (180, 50)];

/// A scene at all sizes in one file, after some keys.
fn keep(name: &str, projection: &dyn Fn() -> Projection, keys: &str) {
    keep_where(Tmux::Unneeded, name, projection, keys);
}

/// The same where the screen stands outside tmux, or there is none.
fn keep_where(tmux: Tmux, name: &str, projection: &dyn Fn() -> Projection, keys: &str) {
    keep_by(tmux, name, projection, |_| keys.to_owned());
}

/// The same by other keys at other sizes.
fn keep_by(tmux: Tmux, name: &str, projection: &dyn Fn() -> Projection, keys: impl Fn((u16, u16)) -> String) {
    let mut out = String::new();
    for size in SIZES {
        let mut rig = Rig::new(projection(), size);
        rig.app.nearby.tmux = tmux;
        rig.press(&keys(size));
        let _ = writeln!(out, "== {}×{}\n{}", size.0, size.1, picture(&mut rig));
    }
    insta::with_settings!({ snapshot_path => "frames", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, out);
    });
}

#[test]
fn runs() {
    keep("runs", &scenes::all_standings, "");
    keep("runs_none", &scenes::empty, "");
    keep("runs_viewer", &scenes::viewed, "");
}

#[test]
fn run() {
    keep("run_in_review", &|| scenes::one(scenes::run("checkout")), "Enter");
    keep("run_phases", &|| scenes::one(scenes::run("checkout")), "Enter Tab");
    keep("run_relays", &|| scenes::one(scenes::run("checkout")), "Enter Tab Tab");
    keep("run_pair", &|| scenes::one(scenes::pair_alone()), "Enter");
    keep("run_first_wait", &|| scenes::one(scenes::first_wait()), "Enter");
    keep(
        "run_done",
        &|| scenes::one(scenes::ended("search-index", trellis::projection::Standing::Done, "done", 12, 7_300)),
        "Enter",
    );
}

#[test]
fn run_that_needs_you() {
    keep("banner_no_agreement", &|| scenes::one(scenes::no_agreement()), "Enter");
    for (name, run) in scenes::banners() {
        keep(&format!("banner_{name}"), &|| scenes::one(run.clone()), "Enter");
    }
}

#[test]
fn look_first() {
    for (name, keys) in [("look_first_banner", ""), ("look_first", "Enter"), ("look_first_edit", "Enter i")] {
        // Beside the list one Enter leads into the preview, and Esc from there to the run.
        let way = |size| format!("{} {keys}", if is_beside(size) { "Enter Esc" } else { "Enter" });
        keep_by(Tmux::Unneeded, name, &|| scenes::one(scenes::look_first()), way);
    }
}

#[test]
fn questions_and_dialogs() {
    keep("question_stop", &|| scenes::one(scenes::run("checkout")), "Enter x");
    keep("question_quit", &|| scenes::one(scenes::run("checkout")), "Enter q");
    keep("palette", &|| scenes::one(scenes::run("checkout")), "Enter :");
    keep("help", &|| scenes::one(scenes::run("checkout")), "Enter ?");
    keep("more", &|| scenes::one(scenes::no_agreement()), "Enter +");
    keep("options", &|| scenes::one(scenes::run("checkout")), "Enter o");
    keep("new_run", &scenes::two_sessions, "n");
    keep("new_run_none", &scenes::empty, "n");
    keep("write", &|| scenes::one(scenes::run("checkout")), "Enter w Enter H e l l o");
    keep("write_to", &|| scenes::one(scenes::run("checkout")), "Enter w");
    keep("question_accept", &|| scenes::one(scenes::no_agreement()), "Enter a");
    keep("rename", &|| scenes::one(scenes::run("checkout")), "R");
    keep("new_pair", &scenes::two_sessions, "N");
    keep("start_agent", &scenes::two_sessions, "2 S");
    keep("help_runs", &scenes::all_standings, "?");
    keep("help_filter", &scenes::all_standings, "? / p a u s e");
    keep("palette_sessions", &scenes::all_standings, "2 G :");
    keep("copy_menu", &scenes::all_standings, "2 y");
    keep("filter", &scenes::all_standings, "/ d o c");
}

#[test]
fn sessions_and_log() {
    keep("sessions", &scenes::all_standings, "2");
    keep("sessions_none", &scenes::empty, "2");
    keep("sessions_all", &scenes::all_standings, "2 z .");
    keep("session", &scenes::one_session, "2 Enter");
    keep("log", &scenes::all_standings, "3");
    keep("log_all", &scenes::all_standings, "3 .");
    keep("log_search", &scenes::all_standings, "3 / r e l a y Enter");
    keep("log_none", &scenes::empty, "3");
}

/// Where nothing can be typed that is said, and what to do instead.
#[test]
fn without_tmux() {
    for (tmux, name) in [(Tmux::Outside, "outside"), (Tmux::Missing, "missing")] {
        keep_where(tmux, &format!("tmux_{name}_runs"), &scenes::empty, "");
        keep_where(tmux, &format!("tmux_{name}_sessions"), &scenes::empty, "2");
        keep_where(tmux, &format!("tmux_{name}_new_run"), &scenes::one_by_hand, "n");
    }
    keep("first_wait_by_hand", &|| scenes::one(scenes::first_wait_by_hand()), "Enter");
}

#[test]
fn many_scripts() {
    keep("many_scripts_runs", &scenes::many_scripts, "");
    keep("many_scripts_run", &scenes::many_scripts, "Enter");
}
