//! One side by hand: trellis does not type to Claude, since a half sentence stands in its box all the time. The person
//! has each message put on tmux's clipboard, makes room for it, and pastes it.

use serde_json::Value;
use trellis::agent::tmux::input_box::{self, Box};
use trellis::model::ids::Agent::{Claude, Codex};

use super::install::{Part, Skip, told};
use super::pairs::is_complete;
use super::person::Dashboard;
use super::rig::{Plan, Rig};

const HALF: &str = "only after the te";

#[test]
fn a_checklist_completes_with_one_side_by_hand() {
    told(one_side_by_hand());
}

fn one_side_by_hand() -> Result<(), Skip> {
    let rig = Rig::start(Part::Whole, Plan::pair(Claude, Codex))?;
    rig.type_in("%0", HALF);
    rig.record_run(&["--first-phase", "ask", "--set", "debounce=0"]);
    let person = Dashboard::open(&rig);
    // Four phase prompts and three times feedback.
    for _ in 0..7 {
        let held = |entry: &Value| entry["target"] == "implementer" && entry["state"] == "prepared";
        let text = rig.wait_for("a held message", || {
            let entry = rig.entries().into_iter().find(held)?;
            entry["text"]["first_line"].as_str().map(str::to_owned)
        });
        person
            .press_until("y", "the copy", || rig.entries().iter().any(|entry| held(entry) && entry["by_hand"] == true));
        rig.wait("the copied text", || rig.tmux(&["show-buffer"]).starts_with(&text));
        rig.press("%0", "C-u");
        rig.wait("an empty box", || in_box(&rig) == Box::Empty);
        rig.tmux(&["paste-buffer", "-p", "-d", "-t", "%0"]);
        rig.wait("the pasted text", || matches!(in_box(&rig), Box::Text(_)));
        rig.press("%0", "Enter");
        rig.wait("the arrival", || !rig.entries().iter().any(held));
        rig.type_in("%0", HALF);
    }
    person.completes();
    let by_hand = |entry: &&Value| entry["target"] == "implementer" && entry["by_hand"] == true;
    assert_eq!(rig.entries().iter().filter(by_hand).count(), 7, "{}", rig.told());
    is_complete(&rig);
    Ok(())
}

fn in_box(rig: &Rig) -> Box {
    input_box::find(Claude, &rig.tmux(&["capture-pane", "-p", "-e", "-t", "%0"]))
}
