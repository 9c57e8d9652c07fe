//! Scripted agents in virtual time: what they write must read back through the real readers as what the script says,
//! and a player that knows nothing but its transcript must go on exactly where another one stopped.

mod stage;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use trellis::agent::scripted::dialect::Identity;
use trellis::agent::scripted::player::{Activity, Pending, Player};
use trellis::agent::scripted::scenes::{DEMO, SCENES};
use trellis::agent::scripted::script::{Actor, Pace, Script};
use trellis::model::config::{ADVANCE_PROMPT, FEEDBACK_PROMPT, RUN_REVIEW_PROMPT};
use trellis::model::conversation::{Conversation, FailureClass, ItemKind, Outcome, PromptSource};
use trellis::model::ids::{Agent, Role, SessionId};
use trellis::model::tempo::Tempo;
use trellis::transcript::Reader;

fn start() -> Timestamp {
    "2026-11-30T09:00:00Z".parse().unwrap()
}

/// One scripted session and its file in memory.
struct Desk {
    player: Player,
    reader: Reader,
    bytes: Vec<u8>,
    inbox: Vec<Pending>,
    now: Timestamp,
    tempo: Tempo,
}

impl Desk {
    fn new(actor: &Actor, pace: Pace) -> Self {
        let session_id = SessionId::new("11111111-2222-4333-8444-555555555555");
        let who = Identity { agent: actor.agent, session_id, cwd: "/home/dev/shop".to_owned() };
        let player = Player::new(who, actor.clone(), pace);
        let mut desk = Self {
            reader: Reader::new(actor.agent),
            bytes: Vec::new(),
            inbox: Vec::new(),
            now: start(),
            tempo: Tempo::REAL,
            player,
        };
        let opening = desk.player.opening(desk.now);
        desk.append(&opening);
        desk
    }

    /// A side of a script whose implementer and reviewer are given as TOML.
    fn of(agent: Agent, rules: &str) -> Self {
        let (agent, other) = (agent.as_str(), if agent == Agent::Claude { "codex" } else { "claude" });
        let text = format!(
            "about = \"a test\"\n[implementer]\nagent = \"{agent}\"\n{rules}\n[reviewer]\nagent = \"{other}\"\n"
        );
        let script = Script::parse("test", &text).unwrap();
        Self::new(&script.implementer, script.pace)
    }

    fn saying(agent: Agent, beats: &str) -> Self {
        Self::of(
            agent,
            &format!("rules = [{{ name = \"all\", then = \"last\", replies = [{{ beats = [{beats}] }}] }}]"),
        )
    }

    fn append(&mut self, lines: &str) {
        assert!(lines.ends_with('\n'), "only whole lines are written");
        self.bytes.extend_from_slice(lines.as_bytes());
        self.reader.push(lines.as_bytes());
    }

    fn seen(&self) -> Arc<Conversation> {
        self.reader.conversation()
    }

    fn send(&mut self, text: &str) {
        let wait = self.player.accept_after(&self.seen());
        let due = self.now + SignedDuration::from_millis(i64::try_from(wait).unwrap());
        self.inbox.push(Pending { text: text.into(), due });
    }

    /// Plays until nothing is due and nothing will be.
    fn settle(&mut self) {
        while self.step() {}
    }

    /// One append, or the time moves to the next thing. `false`: nothing is to come.
    fn step(&mut self) -> bool {
        let next = self.player.next(&self.seen(), &self.inbox, self.now, self.tempo);
        if let Some(place) = next.taken {
            self.inbox.remove(place);
        }
        if !next.lines.is_empty() {
            self.append(&next.lines);
            return true;
        }
        let Some(wake) = next.wake_at else { return false };
        assert!(wake > self.now, "a wake-up in the past would spin");
        self.now = wake;
        true
    }

    fn ask(&mut self, text: &str) -> Arc<Conversation> {
        self.send(text);
        self.settle();
        let seen = self.seen();
        assert_eq!((seen.damaged, seen.unknown.len()), (0, 0), "{:?}", seen.unknown);
        seen
    }
}

const BOTH: [Agent; 2] = [Agent::Claude, Agent::Codex];

#[test]
fn a_turn_reads_back_as_the_script_says() {
    for agent in BOTH {
        let mut desk = Desk::saying(
            agent,
            "{ think = \"hm\" }, { say = \"I look.\" }, { run = \"ls\", output = \"a.rs\" }, { write = \"b.rs\", content = \"x\\ny\\n\" }, { say = \"It is **there**.\" }",
        );
        let seen = desk.ask("please do\n\nit");
        assert_eq!(seen.turns.len(), 1, "{agent}");
        let turn = &seen.turns[0];
        assert_eq!(turn.prompt.text.as_ref(), "please do\n\nit", "{agent}");
        assert_eq!(turn.outcome, Some(Outcome::Completed), "{agent}");
        assert_eq!(turn.answer.as_ref().unwrap().text.as_ref(), "It is **there**.", "{agent}");
        assert!(turn.edited_files, "{agent}");
        let tools: Vec<_> = turn
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Tool { ok, summary, .. } => Some((*ok, summary.clone())),
                _ => None,
            })
            .collect();
        assert_eq!(tools.len(), 2, "{agent}: {tools:?}");
        assert!(tools.iter().all(|(ok, _)| *ok == Some(true)), "{agent}: {tools:?}");
        assert!(
            turn.items.iter().any(|item| matches!(&item.kind, ItemKind::Thinking { text } if text.as_ref() == "hm")),
            "{agent}"
        );
        assert_eq!(seen.cwd.as_deref(), Some("/home/dev/shop"), "{agent}");
        assert_eq!(seen.session_id.as_ref(), Some(&desk.player.who.session_id), "{agent}");
        assert!(seen.cli_version.is_some() && seen.last_spoken_at.is_some(), "{agent}");
        assert_eq!(desk.player.activity(&seen), Activity::Idle, "{agent}");
        if agent == Agent::Claude {
            assert_eq!(turn.prompt.source, PromptSource::Typed);
        }
    }
}

#[test]
fn nothing_is_taken_up_before_its_time_and_all_of_it_after() {
    for agent in BOTH {
        let mut desk = Desk::saying(agent, "{ say = \"yes\" }");
        for n in 0..20 {
            let sent = desk.now;
            let seen = desk.ask(&format!("message {n}"));
            let taken = seen.turns[n].prompt.record.at.unwrap();
            let waited = taken.duration_since(sent).as_millis();
            assert!((200..=800).contains(&waited), "{agent}: {waited} ms");
        }
    }
}

#[test]
fn a_speed_divides_every_wait() {
    let mut slow = Desk::saying(Agent::Claude, "{ say = \"yes\", after_ms = 4000 }");
    let mut fast = Desk::saying(Agent::Claude, "{ say = \"yes\", after_ms = 4000 }");
    fast.tempo = Tempo::of_speed(20.0).unwrap();
    slow.ask("go");
    fast.inbox.push(Pending { text: "go".into(), due: fast.now });
    fast.settle();
    let took = |desk: &Desk| desk.now.duration_since(start()).as_millis();
    assert!(took(&slow) >= 4_200, "{}", took(&slow));
    assert!((200..=210).contains(&took(&fast)), "{}", took(&fast));
}

#[test]
fn a_reply_without_words_is_no_answer() {
    for agent in BOTH {
        let mut desk = Desk::saying(agent, "{ think = \"nothing to say\" }, { read = \"a.rs\" }");
        let seen = desk.ask("go");
        assert_eq!(seen.newest().unwrap().outcome, Some(Outcome::Completed), "{agent}");
        assert_eq!(seen.newest().unwrap().answer, None, "{agent}");
    }
}

#[test]
fn faults_read_back_as_what_they_are() {
    let kinds = [
        ("limit", "You've hit your usage limit.", FailureClass::Limit),
        ("overloaded", "Overloaded", FailureClass::Overloaded),
        ("network", "Connection error: socket closed", FailureClass::Network),
        ("auth", "Please run /login", FailureClass::Auth),
        ("other", "The request is malformed", FailureClass::Other),
    ];
    for agent in BOTH {
        for (kind, text, class) in kinds {
            let mut desk = Desk::saying(agent, &format!("{{ fail = \"{kind}\", text = \"{text}\" }}"));
            let seen = desk.ask("go");
            match &seen.newest().unwrap().outcome {
                Some(Outcome::Failed(failure)) => {
                    assert_eq!((failure.class, failure.text.as_str()), (class, text), "{agent}");
                }
                other => panic!("{agent} {kind}: {other:?}"),
            }
            assert_eq!(desk.player.activity(&seen), Activity::Idle);
        }
    }
}

#[test]
fn a_limit_says_when_it_ends() {
    for agent in BOTH {
        let mut desk = Desk::saying(
            agent,
            "{ fail = \"limit\", text = \"You've hit your usage limit. Try again at {resets}.\", resets_ms = 60000 }",
        );
        let seen = desk.ask("go");
        let turn = seen.newest().unwrap();
        let Some(Outcome::Failed(failure)) = &turn.outcome else { panic!("{agent}: {:?}", turn.outcome) };
        let wait = failure.resets_at.expect("it names the time").duration_since(turn.ended_at.unwrap());
        assert!((59_000..=60_000).contains(&wait.as_millis()), "{agent}: {wait}, {}", failure.text);
    }
}

#[test]
fn an_interrupted_turn_and_a_silent_one() {
    for agent in BOTH {
        let mut desk = Desk::saying(agent, "{ run = \"ls\" }, { interrupt = true }");
        assert_eq!(desk.ask("go").newest().unwrap().outcome, Some(Outcome::Interrupted), "{agent}");
        let mut desk = Desk::saying(agent, "{ say = \"wait\" }, { silence = true }");
        let seen = desk.ask("go");
        assert_eq!(seen.newest().unwrap().outcome, None, "{agent}");
        assert_eq!(desk.player.activity(&seen), Activity::Busy, "{agent}");
    }
}

#[test]
fn a_background_agent_keeps_the_turn_open_and_what_follows_is_the_answer() {
    let mut desk = Desk::saying(
        Agent::Claude,
        "{ background = \"count the files\", meanwhile = \"I wait for the count.\", takes_ms = 5000 }, { say = \"There are three.\" }",
    );
    desk.send("go");
    while desk.seen().background_agents == 0 {
        assert!(desk.step());
    }
    while desk.seen().newest().unwrap().answer.is_none() {
        assert!(desk.step());
    }
    assert_eq!(desk.seen().background_agents, 1);
    assert_eq!(desk.player.activity(&desk.seen()), Activity::Busy);
    desk.settle();
    let seen = desk.seen();
    assert_eq!((seen.turns.len(), seen.background_agents), (1, 0));
    let turn = seen.newest().unwrap();
    assert_eq!(turn.outcome, Some(Outcome::Completed));
    assert_eq!(turn.answer.as_ref().unwrap().text.as_ref(), "There are three.");
    assert!(turn.items.iter().any(|item| matches!(item.kind, ItemKind::Report { .. })));
}

#[test]
fn a_permission_question_shows_while_the_call_waits() {
    for agent in BOTH {
        let mut desk =
            Desk::saying(agent, "{ run = \"rm -r target\", asks = true, takes_ms = 3000 }, { say = \"done\" }");
        desk.send("go");
        let mut asked = false;
        while desk.step() {
            asked |= matches!(desk.player.activity(&desk.seen()), Activity::Asking(_));
        }
        assert!(asked, "{agent}");
        assert_eq!(desk.player.activity(&desk.seen()), Activity::Idle, "{agent}");
    }
}

#[test]
fn a_message_that_comes_while_a_turn_runs_gets_a_turn_of_its_own() {
    for agent in BOTH {
        let mut desk = Desk::saying(agent, "{ say = \"yes\", after_ms = 5000 }");
        desk.send("first");
        desk.send("second");
        let mut queued = false;
        while desk.step() {
            queued |= !desk.seen().queued.is_empty();
        }
        let seen = desk.seen();
        let prompts: Vec<&str> = seen.turns.iter().map(|turn| turn.prompt.text.as_ref()).collect();
        assert_eq!(prompts, ["first", "second"], "{agent}");
        assert!(seen.turns.iter().all(|turn| turn.outcome == Some(Outcome::Completed)), "{agent}");
        assert_eq!(queued, agent == Agent::Claude, "only Claude writes its queue into the transcript");
        assert!(seen.queued.is_empty(), "{agent}");
    }
}

#[test]
fn replies_go_by_rule_and_by_use() {
    let rules = r#"
[[implementer.rules]]
name = "greeting"
contains = ["hello", "good day"]
replies = [{ beats = [{ say = "first hello" }] }, { beats = [{ say = "second hello" }] }]
[[implementer.rules]]
name = "time"
contains = ["time"]
then = "cycle"
replies = [{ beats = [{ say = "noon" }] }, { beats = [{ say = "night" }] }]
[[implementer.rules]]
name = "late greeting"
contains = ["hello"]
then = "last"
replies = [{ beats = [{ say = "again?" }] }]
"#;
    for agent in BOTH {
        let mut desk = Desk::of(agent, rules);
        let asked = ["hello", "what time", "good day", "time", "hello", "time", "hello", "bye"];
        let got: Vec<String> = asked
            .iter()
            .map(|prompt| desk.ask(prompt).newest().unwrap().answer.as_ref().unwrap().text.to_string())
            .collect();
        let unanswered = "This script has no reply to message 8 of this conversation.";
        assert_eq!(
            got,
            ["first hello", "noon", "second hello", "night", "again?", "noon", "again?", unanswered],
            "{agent}"
        );
    }
}

/// Each step is played by a player that was made a moment ago from the bytes alone; the file comes out the same.
#[test]
fn a_new_player_goes_on_where_the_transcript_stands() {
    for agent in BOTH {
        let background = if agent == Agent::Claude { "{ background = \"count\" }," } else { "" };
        let beats = format!(
            "{{ think = \"a\" }}, {{ say = \"b\" }}, {{ run = \"c\" }}, {{ run = \"c\" }}, {background} {{ edit = \"d\", content = \"e\" }}, {{ think = \"f\" }}, {{ say = \"g\" }}"
        );
        let mut kept = Desk::saying(agent, &beats);
        let mut restarted = Desk::saying(agent, &beats);
        for prompt in ["one", "two"] {
            kept.ask(prompt);
            restarted.send(prompt);
            while restarted.step() {
                let fresh = Desk::saying(agent, &beats);
                restarted.player = fresh.player;
                restarted.reader = Reader::new(agent);
                restarted.reader.push(&restarted.bytes);
            }
        }
        assert_eq!(String::from_utf8_lossy(&kept.bytes), String::from_utf8_lossy(&restarted.bytes), "{agent}");
    }
}

/// A message that was sent and not taken up when the process died is lost; sent again it is there once.
#[test]
fn a_kill_loses_what_was_not_taken_up_and_nothing_else() {
    let mut desk = Desk::saying(Agent::Codex, "{ say = \"yes\" }");
    desk.send("lost");
    desk.inbox.clear();
    desk.settle();
    assert!(desk.seen().turns.is_empty());
    assert_eq!(desk.ask("lost").turns.len(), 1);
}

#[test]
fn record_ids_are_never_used_twice() {
    for agent in BOTH {
        let mut desk = Desk::saying(agent, "{ think = \"a\" }, { run = \"b\" }, { say = \"c\" }");
        for n in 0..5 {
            desk.ask(&format!("{n}"));
        }
        let field = if agent == Agent::Claude { "uuid" } else { "ordinal" };
        let mut ids = std::collections::BTreeSet::new();
        for line in desk.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let record: serde_json::Value = serde_json::from_slice(line).unwrap();
            if let Some(id) = record.get(field) {
                assert!(ids.insert(id.to_string()), "{agent}: {id} twice");
            }
        }
        assert!(ids.len() > 20, "{agent}: {}", ids.len());
    }
}

/// The straight loop, driven by hand in virtual time: what the demo is promised to be.
#[test]
fn the_demo_makes_three_one_and_five_relays_in_twenty_to_forty_seconds() {
    let script = DEMO.script().unwrap();
    let debounce = SignedDuration::from_millis(i64::try_from(script.run.debounce).unwrap());
    let mut implementer = Desk::new(&script.implementer, script.pace);
    let mut reviewer = Desk::new(&script.reviewer, script.pace);
    let mut now = start();
    let mut talk = |desk: &mut Desk, text: &str| {
        desk.now = now;
        let seen = desk.ask(text);
        now = desk.now + debounce;
        seen.newest().unwrap().answer.as_ref().expect("an answer").text.to_string()
    };
    let advance = ADVANCE_PROMPT.replace("{completion_signal}", "COMPLETED");
    let review = RUN_REVIEW_PROMPT.replace("{review_stop_signal}", "LGTM");
    let mut relays = Vec::new();
    let mut answers = Vec::new();
    let mut answer = talk(&mut implementer, &script.person[0].text);
    let mut advances = 0;
    while answer != "COMPLETED" {
        let mut count = 0;
        loop {
            answers.push(answer.clone());
            count += 1;
            let verdict = talk(&mut reviewer, &format!("{review}\n\n{answer}"));
            answers.push(verdict.clone());
            if verdict.lines().last() == Some("LGTM") {
                break;
            }
            count += 1;
            answer = talk(&mut implementer, &format!("{FEEDBACK_PROMPT}\n\n{verdict}"));
        }
        relays.push(count);
        advances += 1;
        answer = talk(&mut implementer, &advance);
    }
    assert_eq!((relays, advances), (vec![3, 1, 5], 3));
    assert_eq!((implementer.seen().turns.len(), reviewer.seen().turns.len()), (7, 6));
    let distinct: std::collections::BTreeSet<_> = answers.iter().collect();
    assert_eq!(distinct.len(), answers.len(), "no two replies are equal");
    let took = now.duration_since(start()).as_secs();
    assert!((20..=36).contains(&took), "{took} s");
}

#[test]
fn each_scene_gets_to_its_situation() {
    for scene in SCENES {
        let script = scene.script().unwrap();
        let mut implementer = Desk::new(&script.implementer, script.pace);
        let mut reviewer = Desk::new(&script.reviewer, script.pace);
        let act = &script.person[0];
        assert_eq!(act.to, Role::Implementer);
        let built = implementer.ask(&act.text);
        assert!(built.newest().unwrap().is_answered(), "{}", scene.name);
        let reviewed = reviewer.ask(RUN_REVIEW_PROMPT);
        let turn = reviewed.newest().unwrap();
        let settled = match scene.name {
            "limit" => matches!(&turn.outcome, Some(Outcome::Failed(failure)) if failure.resets_at.is_some()),
            "no-answer" => turn.outcome == Some(Outcome::Completed) && turn.answer.is_none(),
            _ => turn.is_answered(),
        };
        assert!(settled, "{}: {turn:?}", scene.name);
        let advance = implementer.ask(ADVANCE_PROMPT);
        assert!(advance.newest().unwrap().is_answered(), "{}", scene.name);
    }
}
