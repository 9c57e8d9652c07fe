//! What a script may say, and how a mistake in one is told.

use super::*;
use crate::agent::scripted::scenes::{self, DEMO, SCENES};

const SMALL: &str = r#"
about = "one answer"
[implementer]
agent = "claude"
[[implementer.rules]]
name = "anything"
replies = [{ beats = [{ say = "yes" }] }]
[reviewer]
agent = "codex"
"#;

#[test]
fn a_small_script_takes_the_defaults() {
    let script = Script::parse("small.toml", SMALL).expect("it reads");
    assert_eq!(script.pace, Pace { accept_ms: (200, 800), beat_ms: 350, end_ms: 60 });
    assert_eq!(script.run, RunConfig::default());
    assert_eq!(script.worktree, "shop");
    assert!(script.implementer.rules[0].fits("whatever is asked"));
}

#[test]
fn a_mistake_names_the_file_the_line_and_what_is_wrong() {
    let cases = [
        (SMALL.replace("say = ", "says = "), "small.toml, line 7: unknown field `says`"),
        (
            SMALL.replace("{ say = \"yes\" }", "{ say = \"yes\", run = \"ls\" }"),
            "small.toml, line 7: a beat is exactly one of",
        ),
        (SMALL.replace("{ say = \"yes\" }", "{ after_ms = 5 }"), "a beat is exactly one of"),
        (SMALL.replace("\"yes\"", "\" \""), "small.toml: implementer, rule anything: say and think need words"),
        (SMALL.replace("[{ beats = [{ say = \"yes\" }] }]", "[]"), "rule anything: give it at least one reply"),
        (SMALL.replace("claude", "gemini"), "small.toml, line 4: unknown variant `gemini`"),
        (SMALL.replace("one answer", ""), "about is empty"),
        (SMALL.replace("\n[implementer]", "\nworktree = \"../x\"\n[implementer]"), "worktree must be a name"),
        (SMALL.replace("\n[implementer]", "\n[run]\nrounds = 3\n[implementer]"), "run.rounds is no setting of a run"),
        (
            SMALL.replace("\n[implementer]", "\n[pace]\naccept_ms = [9, 1]\n[implementer]"),
            "pace.accept_ms must be [least, most]",
        ),
        ("about = ".to_owned(), "small.toml, line 1: "),
    ];
    for (text, expected) in cases {
        let error = Script::parse("small.toml", &text).expect_err(expected);
        assert!(error.contains(expected), "{error}\nshould say: {expected}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_background_agent_is_claudes_only() {
    let text = SMALL.replace("claude", "codex").replace("{ say = \"yes\" }", "{ background = \"count\" }");
    let error = Script::parse("s", &text).expect_err("codex has none");
    assert!(error.contains("only a claude actor has background agents"), "{error}");
}

#[test]
fn every_script_that_comes_with_the_program_reads() {
    for scene in std::iter::once(DEMO).chain(SCENES) {
        let script = scene.script().unwrap_or_else(|error| panic!("{}: {error}", scene.name));
        assert_eq!(script.implementer.agent, Agent::Claude, "{}", scene.name);
        assert_eq!(script.reviewer.agent, Agent::Codex, "{}", scene.name);
        assert!(!script.person.is_empty(), "{}: nobody starts it", scene.name);
    }
    scenes::spare().expect("the idle pair reads");
}

/// A count of messages by their text must not be fooled by what an agent says.
#[test]
fn no_scripted_text_holds_the_words_of_a_prompt() {
    for scene in std::iter::once(DEMO).chain(SCENES) {
        for forbidden in ["Implement the next phase", "Feedback:"] {
            assert!(!scene.text.contains(forbidden), "{} holds {forbidden:?}", scene.name);
        }
        let script = scene.script().expect("it reads");
        assert!(script.person.iter().all(|act| !act.text.contains("next phase")), "{}", scene.name);
    }
}

#[test]
fn no_two_replies_of_the_demo_are_equal() {
    let script = DEMO.script().expect("it reads");
    let mut said = BTreeSet::new();
    for actor in [&script.implementer, &script.reviewer] {
        for beat in actor.rules.iter().flat_map(|rule| &rule.replies).flat_map(|reply| &reply.beats) {
            if let BeatKind::Say(text) = &beat.kind {
                assert!(said.insert(text.clone()), "twice: {text}");
            }
        }
    }
    assert!(said.len() > 13);
}

#[test]
fn an_unknown_scene_is_refused_with_the_names_there_are() {
    let error = scenes::Scene::named("nihgt").expect_err("there is none");
    assert!(error.contains("near-miss, no-agreement, limit, typed, look-first, gone, no-answer, night"), "{error}");
}
