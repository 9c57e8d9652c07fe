//! Hooks that trellis put into the real agents' settings: an approval shows with what is asked, and without hooks it shows
//! too; Codex's question whether the new hooks are to be trusted is named and never answered.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trellis::agent::tmux::dialog::{self, Dialog};
use trellis::model::ids::Agent::{Claude, Codex};

use super::install::{Part, Skip, told};
use super::rig::{Plan, Rig, play};

const COMMAND: Duration = Duration::from_mins(1);

#[test]
fn an_approval_of_claude_shows_with_what_its_hook_says() {
    told(approval(true));
}

#[test]
fn an_approval_of_claude_shows_without_hooks() {
    told(approval(false));
}

#[test]
fn codexs_question_about_new_hooks_is_named_and_never_answered() {
    told(trust());
}

/// Nobody is open yet: what is installed counts for agents that start after it.
fn rig() -> Result<Rig, Skip> {
    let tool = json!({"name": "Bash", "input": {"command": "./approved.sh", "description": "Go"}});
    let implementer = json!([["Make it", [[{"tool": tool}, "That ran."]]], ["", ["READY"]]]);
    let mut plan = Plan::of(Vec::new(), play(&implementer, &json!([["", ["READY"]]])));
    plan.claude = vec!["--permission-mode", "default"];
    let rig = Rig::start(Part::Whole, plan)?;
    rig.script("approved.sh", &format!("touch {}", rig.path("approved").display()));
    fs::create_dir_all(rig.home()).unwrap();
    Ok(rig)
}

fn hooks(rig: &Rig, words: &[&str]) -> String {
    let (code, said) = rig.trellis(&[&["hooks"], words].concat(), COMMAND);
    assert_eq!(code, Some(0), "{said}");
    said
}

/// What trellis says of the one session.
fn shown(rig: &Rig) -> (String, String) {
    let socket = rig.path("s").to_string_lossy().into_owned();
    let (code, said) = rig.trellis(&["session", "list", "--json", "--tmux-socket", &socket], COMMAND);
    assert_eq!(code, Some(0), "{said}");
    let all: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let one = all.as_array().into_iter().flatten().find(|one| one["live"] == true).cloned().unwrap_or_default();
    let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
    (text("state"), text("because"))
}

fn notes(rig: &Rig, words: &str) -> usize {
    let files = fs::read_dir(rig.home().join("hooks")).into_iter().flatten().flatten();
    files.filter(|file| fs::read_to_string(file.path()).is_ok_and(|text| text.contains(words))).count()
}

fn approval(with_hooks: bool) -> Result<(), Skip> {
    let rig = rig()?;
    let settings = rig.path("home/.claude/settings.json");
    let own = "{\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n";
    fs::write(&settings, own).unwrap();
    if with_hooks {
        hooks(&rig, &["install", "--agent", "claude", "--yes"]);
        assert!(hooks(&rig, &["status", "--agent", "claude"]).contains("PermissionRequest"));
    }
    let pane = rig.open(Claude, "You are the implementer. Reply READY.");
    rig.came_up("claude", || rig.greeted(Claude, &pane))?;
    assert_eq!(notes(&rig, "approved.sh"), 0);
    rig.say(&pane, "Make it");
    if with_hooks {
        rig.wait("the hook's note", || notes(&rig, "approved.sh") == 1);
        let noted = Instant::now();
        rig.wait("the approval with what is asked", || shown(&rig) == asks("Bash: ./approved.sh"));
        println!("an approval of claude was shown {} ms after its hook's note", noted.elapsed().as_millis());
    }
    rig.wait("the permission prompt", || rig.claude_waits_for(&pane).as_deref() == Some("permission prompt"));
    if !with_hooks {
        let waits = Instant::now();
        rig.wait("the approval", || shown(&rig).0 == "needs_approval");
        println!("without hooks it was shown {} ms after claude's own word", waits.elapsed().as_millis());
        assert_eq!(notes(&rig, ""), 0);
    }
    assert!(!rig.path("approved").exists(), "nobody answered it");
    // A dialog that has just opened takes no key yet.
    rig.wait("the approved command", || {
        if rig.screen(&pane).contains("Do you want to proceed?") {
            rig.press(&pane, "Enter");
            std::thread::park_timeout(Duration::from_secs(1));
        }
        rig.path("approved").exists()
    });
    rig.wait("the end of the approval", || shown(&rig).0 != "needs_approval");
    if with_hooks {
        hooks(&rig, &["remove", "--agent", "claude", "--yes"]);
    }
    assert_eq!(fs::read_to_string(&settings).unwrap(), own, "what others wrote there is as it was");
    Ok(())
}

fn asks(what: &str) -> (String, String) {
    (String::from("needs_approval"), what.to_owned())
}

fn trust() -> Result<(), Skip> {
    let rig = rig()?;
    hooks(&rig, &["install", "--agent", "codex", "--yes"]);
    let config = || fs::read_to_string(rig.path("home/.codex/config.toml")).unwrap();
    let before = config();
    let socket = rig.path("s").to_string_lossy().into_owned();
    let words = ["--tmux-socket", &socket, "session", "new", "--agent", "codex"];
    let (code, said) = rig.trellis(&words, Duration::from_mins(2));
    println!("{said}");
    if said.contains("has not come up yet") {
        return Err(format!("codex did not come up: {said}"));
    }
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    let wanted = format!("codex waits for you in %0: {}", Dialog::Hooks.words());
    assert!(said.contains(&wanted), "{said}\n{}", rig.told());
    let asks = || dialog::find(Codex, &rig.screen("%0")) == Some(Dialog::Hooks);
    rig.stays("the open question", Duration::from_secs(4), asks);
    assert_eq!(config(), before, "nobody trusted anything");
    Ok(())
}
