//! What a person or an agent wrote into settings: hook input, the agents' hook settings, config, keymap, theme, scripts.
//! No file is read or written.

use std::path::Path;

use trellis::agent::hooks::{Settings, command};
use trellis::agent::scripted::script::Script;
use trellis::config::Config;
use trellis::model::hook::HookNote;
use trellis::model::ids::Agent;
use trellis::transcript::hooks::{events, read};
use trellis::ui::keymap::Keymap;
use trellis::ui::theme::Theme;

/// The standard input of a hook, a spooled note, and an agent's settings into which ours are put.
pub fn hooks(bytes: &[u8]) {
    let (kind, bytes) = super::choice(bytes, 4);
    let agent = if kind % 2 == 0 { Agent::Claude } else { Agent::Codex };
    if let Some(call) = read(agent, bytes) {
        assert_eq!(call.session.agent, agent);
    }
    let _ = serde_json::from_slice::<HookNote>(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut settings = Settings::read(Path::new("/nowhere/settings.json"), agent).expect("no file is fine");
    settings.text = Some(text.to_owned());
    let ours = command(Path::new("/usr/bin/trellis"), None, agent).expect("a plain path");
    // What cannot be understood is refused, never guessed.
    let (Ok(there), Ok(with)) = (settings.installed(), settings.with(&ours)) else { return };
    settings.text = Some(with.clone());
    let installed = settings.installed().expect("what we write can be read");
    assert_eq!(installed.len(), events(agent).len(), "each event once, in {with:?}");
    assert_eq!(settings.with(&ours).ok(), Some(with.clone()), "a second time changes nothing");
    if there.is_empty() {
        let without = settings.without().expect("what we write can be taken out");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        let (old, new) = (value(text), value(&without));
        assert!(
            old == new || hooks_aside(old.as_ref()) == hooks_aside(new.as_ref()),
            "putting in and taking out leaves the rest: {text:?} became {without:?}"
        );
    }
}

/// The settings but for an empty `hooks`, which may come to be or stay.
fn hooks_aside(value: Option<&serde_json::Value>) -> serde_json::Value {
    let mut value = value.cloned().unwrap_or_else(|| serde_json::json!({}));
    if let Some(map) = value.as_object_mut() {
        if let Some(hooks) = map.get_mut("hooks").and_then(serde_json::Value::as_object_mut) {
            hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        }
        if map.get("hooks").and_then(serde_json::Value::as_object).is_some_and(serde_json::Map::is_empty) {
            map.remove("hooks");
        }
    }
    value
}

/// Each of them reads as itself or is refused in words.
pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (_, problems) = Config::parse("config.toml", &text);
    for problem in problems {
        super::is_harmless(&trellis::ui::sanitise::clean_line(&problem.to_string()));
    }
    let standard = Keymap::standard().expect("the standard keymap reads");
    for read in [Keymap::parse(&text), standard.overlaid(&text)] {
        match read {
            Ok(map) => assert_eq!(map, map.clone()),
            Err(problems) => assert!(!problems.is_empty(), "a refusal has words"),
        }
    }
    let _ = Theme::named(&text, "terminal");
    let _ = Script::parse("script.toml", &text);
}
