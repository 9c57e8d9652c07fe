//! Relays that are aimed at an open dialog: none reaches it, and each arrives once after it is closed. Enter would approve
//! what the dialog asks, so a file that was not made proves that none was pressed.

use std::time::Duration;

use serde_json::{Value, json};
use trellis::model::ids::Agent::{Claude, Codex};

use super::cases::one_phase;
use super::install::{Part, Skip, setting, told};
use super::pairs::{relays, verified};
use super::port::Port;
use super::rig::{Plan, Rig, play};

/// How long a dialog stays open once a message waits for it.
const OPEN: Duration = Duration::from_secs(4);

#[test]
fn a_menu_that_is_open_for_half_a_minute_holds_the_relay() {
    told(half_a_minute());
}

#[test]
fn no_relay_reaches_an_open_dialog_of_claude() {
    told(dialogs_of_claude());
}

#[test]
fn no_message_for_codex_answers_its_approval_dialog() {
    told(dialogs_of_codex(Part::Whole, true));
}

#[test]
fn no_message_typed_to_codex_answers_its_approval_dialog() {
    told(dialogs_of_codex(Part::Whole, false));
}

fn half_a_minute() -> Result<(), Skip> {
    let mut play = one_phase();
    play["sides"]["reviewer"][0][1][0] = json!({"say": "One remark: a line is missing.", "gate": "remark"});
    let rig = Rig::start(Part::Small, Plan::of(vec![Claude, Codex], play))?;
    let run = rig.begin_run(&["--first-phase", "ask"]);
    rig.wait("the review", || rig.count("reviewer", "Review the implementer's work") == 1);
    open_menu(&rig);
    rig.open_gate("remark");
    held(&rig, "implementer", Duration::from_secs(30), || menu_is_open(&rig));
    rig.press("%0", "Escape");
    let (code, said) = run.finish(Duration::from_mins(8));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    assert_eq!(rig.count("implementer", "Feedback:"), 1, "{}", rig.told());
    assert_eq!(relays(&rig), [3], "{}", rig.told());
    verified(&rig);
    Ok(())
}

/// Every second relay meets the `/model` menu; every other one meets a permission prompt that Claude raises by itself
/// when a shell command in the background has ended.
fn dialogs_of_claude() -> Result<(), Skip> {
    let count = setting("TRELLIS_DIALOGS", 2);
    let (mut answers, mut remarks) = (Vec::new(), Vec::new());
    for at in 1..=count {
        let wait = json!({"name": "Bash", "input":
            {"command": format!("./wait.sh {at}"), "description": "Wait", "run_in_background": true}});
        let answer = format!("Answer {at} is ready.");
        answers.push(if is_menu(at) { json!(answer) } else { json!([{"tool": wait}, answer]) });
        remarks.push(json!({"say": format!("Remark {at}."), "gate": format!("remark-{at}")}));
    }
    answers.push(json!("The last answer."));
    remarks.push(json!("LGTM"));
    let asks: Vec<Value> = (1..=count)
        .filter(|at| !is_menu(*at))
        .map(|at| json!([{"tool": {"name": "Bash", "input": {"command": format!("./approved.sh {at}"), "description": "Go"}}}, "That ran."]))
        .collect();
    let first = answers.remove(0);
    let implementer = json!([
        ["<task-notification>", asks],
        ["Feedback:", answers],
        ["Implement the next phase", [first, "COMPLETED"]],
        ["", ["READY"]],
    ]);
    let reviewer = json!([["Review the implementer's work", remarks], ["", ["READY"]]]);
    let mut plan = Plan::of(vec![Claude, Claude], play(&implementer, &reviewer));
    plan.claude = vec!["--permission-mode", "default", "--allowedTools", "Bash(./wait.sh:*)", "--"];
    let rig = Rig::start(Part::Small, plan)?;
    rig.script("wait.sh", &format!("while ! [ -e {}-$1 ]; do sleep 0.1; done", rig.path("GATE-wake").display()));
    rig.script("approved.sh", &format!("touch {}-$1", rig.path("approved").display()));

    let relays = format!("max_rounds={}", 2 * count + 10);
    let mut run = rig.begin_run(&["--first-phase", "ask", "--set", &relays, "--set", "debounce=0"]);
    for at in 1..=count {
        let reviews = usize::try_from(at).unwrap();
        rig.wait("the review", || rig.count("reviewer", "Review the implementer's work") == reviews);
        let approved = rig.path(&format!("approved-{at}"));
        if is_menu(at) {
            open_menu(&rig);
        } else {
            rig.open_gate(&format!("wake-{at}"));
            rig.wait("the permission prompt", || asks_permission(&rig));
        }
        rig.open_gate(&format!("remark-{at}"));
        held(&rig, "implementer", OPEN, || {
            if is_menu(at) { menu_is_open(&rig) } else { asks_permission(&rig) && !approved.exists() }
        });
        rig.press("%0", if is_menu(at) { "Escape" } else { "Enter" });
        rig.wait("the relay", || rig.count("implementer", &format!("Remark {at}.")) == 1);
        assert!(is_menu(at) || approved.exists());
        assert!(run.ended().is_none(), "{}\n{}", run.said(), rig.told());
    }
    let (code, said) = run.finish(Duration::from_mins(3));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    for at in 1..=count {
        assert_eq!(rig.count("implementer", &format!("Remark {at}.")), 1, "{}", rig.told());
    }
    verified(&rig);
    println!("{count} relays to claude met an open dialog: none reached it, each arrived once");
    Ok(())
}

fn is_menu(at: u64) -> bool {
    at % 2 == 1
}

/// A person's prompt makes Codex ask for an approval, and a message comes due meanwhile: the phase prompt of a new run, or
/// one that is given to the transport straight away. `queue`: it goes through `codex queue`; else no Codex that knows it
/// can be found, and it is typed.
fn dialogs_of_codex(part: Part, queue: bool) -> Result<(), Skip> {
    let count = setting("TRELLIS_DIALOGS", 2).div_ceil(5).max(2);
    let asks: Vec<Value> = (1..=count)
        .map(|at| {
            let input = json!({"cmd": format!("touch ../approved-{at}"), "sandbox_permissions": "require_escalated",
                "justification": "May it be made?"});
            json!([{"say": "More is needed.", "tool": {"name": "exec_command", "input": input}}, "It is made."])
        })
        .collect();
    let rules = [["Make it", "asks"], ["Implement the next phase", ""], ["Straight", ""], ["", ""]];
    let rules = rules.map(|[words, what]| json!([words, if what.is_empty() { json!(["Done."]) } else { json!(asks) }]));
    let mut plan = Plan::of(vec![Codex, Claude], play(&json!(rules), &json!([["", ["READY"]]])));
    plan.codex = vec!["-a", "on-request", "-s", "workspace-write", "--no-daemon"];
    plan.codex_without_queue = !queue;
    let mut rig = Rig::start(part, plan)?;
    let mut port = Port::new(&rig);
    let mut runs = 0;
    for at in 1..=count {
        let approved = rig.path(&format!("approved-{at}"));
        rig.say("%0", &format!("Make it {at}"));
        let asks = |rig: &Rig| rig.screen("%0").contains("May it be made?") && !approved.exists();
        rig.wait("the approval dialog", || asks(&rig));
        let straight = format!("Straight to it, {at}.");
        let report = port.send(rig.implementer(), &straight);
        assert_eq!(report.last_key_at.is_some(), queue, "{report:?}");
        if queue && at % 2 == 0 {
            rig.stays("the open dialog", OPEN, || asks(&rig) && rig.count("implementer", &straight) == 0);
            rig.press("%0", "Enter");
            rig.wait("the message", || rig.count("implementer", &straight) == 1);
        } else {
            // A home of its own each time: to it all that was said before is a person's.
            rig.use_home(&format!("trellis-{at}"));
            let run =
                rig.begin_run(&["--first-phase", "ask", "--set", "confirm_before_relay=true", "--set", "debounce=0"]);
            rig.wait("the run", || rig.run()["step"] == "advance");
            let untouched = || rig.entries().iter().all(|entry| entry["attempts"] == 0);
            rig.stays("the open dialog", OPEN, || asks(&rig) && untouched());
            rig.press("%0", "Enter");
            rig.wait("the approved command", || approved.exists());
            rig.wait("the message", || rig.entries().iter().any(|entry| entry["state"] == "delivered"));
            run.kill();
            assert!(rig.entries().iter().all(|entry| entry["queue_id"].is_string() == queue), "{}", rig.told());
            verified(&rig);
            runs += 1;
        }
        assert!(approved.exists());
        assert_eq!(rig.count("implementer", &straight), usize::from(queue), "{}", rig.told());
        assert_eq!(rig.count("implementer", "Implement the next phase"), runs, "{}", rig.told());
    }
    let way = if queue { "queued for" } else { "typed to" };
    println!("{count} messages {way} codex met an open dialog: none reached it, each arrived once");
    Ok(())
}

/// A message waits for this side, and neither a key nor a command was given to it while the dialog is as it was.
fn held(rig: &Rig, side: &str, time: Duration, mut dialog: impl FnMut() -> bool) {
    let waiting = |entry: &Value| entry["target"] == side && entry["state"] == "prepared" && entry["attempts"] == 0;
    rig.wait("the message that waits", || rig.entries().iter().any(waiting));
    rig.stays("the open dialog", time, || dialog() && rig.entries().iter().any(waiting));
}

fn open_menu(rig: &Rig) {
    rig.type_in("%0", "/model");
    rig.wait("the command", || rig.screen("%0").contains("❯\u{a0}/model") || rig.screen("%0").contains("❯ /model"));
    rig.press("%0", "Enter");
    rig.wait("the menu", || menu_is_open(rig));
}

fn menu_is_open(rig: &Rig) -> bool {
    rig.claude_waits_for("%0").is_some_and(|what| what == "dialog open")
}

fn asks_permission(rig: &Rig) -> bool {
    rig.claude_waits_for("%0").is_some_and(|what| what == "permission prompt")
}
