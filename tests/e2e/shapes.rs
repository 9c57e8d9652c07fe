//! What `--json` prints is what the manual's table says: every command that has it is run, with a driver and without one, and
//! each key of what it prints is looked up in the table, and the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use clap::CommandFactory as _;
use serde_json::{Map, Value};
use trellis::cli::Cli;
use trellis::ui::sanitise::is_unwanted;

use super::demo::Ended;
use super::served::Left;

/// What a value is to look like.
#[derive(Debug)]
enum Shape {
    /// Anything.
    Any,
    /// A list of these.
    List(Box<Self>),
    /// Keys, whether they may be missing, and what stands there; `open`: others may stand beside them.
    Object { keys: BTreeMap<String, (bool, Self)>, open: bool },
}

/// Reads a shape as the manual writes it.
struct Reader<'a>(std::iter::Peekable<std::str::Chars<'a>>);

impl Reader<'_> {
    fn skip(&mut self) {
        while self.0.next_if(|c| c.is_whitespace() || *c == ',').is_some() {}
    }

    fn shape(&mut self) -> Shape {
        self.skip();
        match self.0.next() {
            Some('[') => {
                let inner = self.shape();
                self.skip();
                assert_eq!(self.0.next(), Some(']'));
                Shape::List(Box::new(inner))
            }
            Some('{') => self.object(),
            other => panic!("{other:?} begins no shape"),
        }
    }

    fn object(&mut self) -> Shape {
        let (mut keys, mut open) = (BTreeMap::new(), false);
        loop {
            self.skip();
            if self.0.next_if_eq(&'}').is_some() {
                return Shape::Object { keys, open };
            }
            if self.0.next_if_eq(&'…').is_some() {
                open = true;
                continue;
            }
            let mut name = String::new();
            while let Some(c) = self.0.next_if(|c| c.is_ascii_lowercase() || *c == '_') {
                name.push(c);
            }
            assert!(!name.is_empty(), "a name is missing before {:?}", self.0.peek());
            let may_miss = self.0.next_if_eq(&'?').is_some();
            let inner = if self.0.next_if_eq(&':').is_some() { self.shape() } else { Shape::Any };
            keys.insert(name, (may_miss, inner));
        }
    }
}

/// The table of the manual: by command, the shape, and whether it is one value a line.
fn table() -> BTreeMap<String, (Shape, bool)> {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual.md")).unwrap();
    let (_, part) = manual.split_once("### What `--json` prints").unwrap();
    let part = part.split("\n## ").next().unwrap();
    let rows = part.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let mut table = BTreeMap::new();
    for (commands, prints) in rows.filter(|(commands, _)| *commands != "command") {
        let shape = prints.split('`').nth(1).map(|text| (text, prints.starts_with("lines ")));
        for name in commands.replace('`', "").split(", ") {
            let (shape, is_lines) = match shape {
                Some((text, lines)) => (Reader(text.chars().peekable()).shape(), lines),
                None => (Shape::List(Box::new(Shape::Any)), false),
            };
            assert!(table.insert(name.to_owned(), (shape, is_lines)).is_none(), "{name} stands there twice");
        }
    }
    table
}

/// What a value has and the shape has not, or the other way round.
fn differs(value: &Value, shape: &Shape, at: &str, found: &mut Vec<String>) {
    match (value, shape) {
        (_, Shape::Any) | (Value::Null, Shape::Object { .. } | Shape::List(_)) => {}
        (Value::Array(values), Shape::List(inner)) => {
            for value in values {
                differs(value, inner, &format!("{at}[]"), found);
            }
        }
        (Value::Object(fields), Shape::Object { keys, open }) => {
            let missing = keys.iter().filter(|(name, (may_miss, _))| !may_miss && !fields.contains_key(*name));
            found.extend(missing.map(|(name, _)| format!("{at}.{name} is missing")));
            let more = fields.keys().filter(|name| !open && !keys.contains_key(*name));
            found.extend(more.map(|name| format!("{at}.{name} is not in the manual")));
            for (name, (_, inner)) in keys {
                fields.get(name).into_iter().for_each(|value| differs(value, inner, &format!("{at}.{name}"), found));
            }
        }
        (value, _) => found.push(format!("{at} is {value}")),
    }
}

/// Whether what a command printed is as the manual says.
#[track_caller]
pub fn is_as_the_manual_says(name: &str, printed: &str) {
    let table = table();
    let (shape, is_lines) = table.get(name).unwrap_or_else(|| panic!("{name} is not in the manual's table"));
    let lines: Vec<&str> = printed.lines().collect();
    assert!(*is_lines || lines.len() == 1, "{name}: {printed}");
    assert!(!printed.chars().any(|c| c != '\n' && is_unwanted(c)), "{name}: {printed:?}");
    for line in lines {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        let mut found = Vec::new();
        differs(&value, shape, "", &mut found);
        assert!(found.is_empty(), "{name}: {found:?}: {value}");
    }
}

/// Every command that has `--json`, as it is called.
fn with_json() -> BTreeSet<String> {
    fn walk(command: &clap::Command, name: &str, found: &mut BTreeSet<String>) {
        if command.get_arguments().any(|argument| argument.get_id() == "json") {
            found.insert(name.to_owned());
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            walk(below, format!("{name} {}", below.get_name()).trim(), found);
        }
    }
    let mut found = BTreeSet::new();
    walk(&Cli::command(), "", &mut found);
    found
}

/// Those that do not have it, and why.
const WITHOUT: [(&str, &str); 2] =
    [("dump", "a picture, or a frame as text"), ("completions", "a program of the shell's own language")];

#[test]
fn every_command_has_json_or_a_reason() {
    let has = with_json();
    let leaves = |command: &clap::Command| !command.has_subcommands() && !command.is_hide_set();
    let mut all = BTreeSet::new();
    let top = Cli::command();
    for one in top.get_subcommands() {
        all.extend(leaves(one).then(|| one.get_name().to_owned()));
        all.extend(
            one.get_subcommands()
                .filter(|one| leaves(one))
                .map(|below| format!("{} {}", one.get_name(), below.get_name())),
        );
    }
    let without: BTreeSet<String> = WITHOUT.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(all.difference(&has).cloned().collect::<BTreeSet<_>>(), without);
}

/// The row of the table that a command is described in.
fn row_of(words: &[&str], table: &BTreeMap<String, (Shape, bool)>) -> String {
    let named = |word: &str| words.contains(&word);
    let two = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let option = ["--since", "--background", "--stop", "--test", "--list"].into_iter().find(|option| named(option));
    let with_option = |of: &str| option.map(|option| format!("{of} {option}"));
    [with_option(&two), with_option(words[0]), Some(two), Some(words[0].to_owned())]
        .into_iter()
        .flatten()
        .find(|name| table.contains_key(name))
        .unwrap_or_else(|| "every order".to_owned())
}

struct Home {
    left: Left,
    seen: BTreeSet<String>,
}

impl Home {
    /// Runs a command with `--json`. What is refused says why in one line and prints nothing else.
    #[track_caller]
    fn run(&mut self, words: &[&str]) -> Option<Value> {
        let asked: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        let name = row_of(words, &table());
        let known = with_json();
        let called = [words.iter().take(2).copied().collect::<Vec<_>>().join(" "), words[0].to_owned()];
        self.seen.extend(called.into_iter().find(|called| known.contains(called)));
        let Output { status, stdout, stderr } = self.left.ask(&asked);
        let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert!(matches!(status.code(), Some(0 | 1)), "{words:?}: {status}: {err}");
        if out.is_empty() {
            assert_eq!((status.code(), err.trim_end().lines().count()), (Some(1), 1), "{words:?}: {err}");
            return None;
        }
        is_as_the_manual_says(&name, &out);
        serde_json::from_str(out.lines().next().unwrap()).ok()
    }

    #[track_caller]
    fn holds(&mut self, words: &[&str]) -> Value {
        self.run(words).unwrap_or_else(|| panic!("{words:?} was refused"))
    }
}

/// Everything that only looks, and every control; those that are refused in this state have the same answer when they are not.
fn everything(home: &mut Home) {
    let (run, shop) = (home.left.run.clone(), home.left.done.clone());
    let (run, shop) = (run.as_str(), shop.as_str());
    let sides = home.holds(&["run", "show", run])["run"].clone();
    let of = |side: &str, agent: &str| format!("{agent}:{}", sides[side]["session_id"].as_str().unwrap());
    let (claude, codex) = (of("implementer", "claude"), of("reviewer", "codex"));
    let answer = home.left.folder.path().join("answer");
    fs::write(&answer, "LGTM\n").unwrap();
    let answer = answer.display().to_string();
    let pairs = home.holds(&["pair", "list", "--all"]);
    let pair = pairs[0]["id"].as_str().unwrap().to_owned();
    for words in [
        &["run", "list"][..],
        &["run", "show", shop],
        &["run", "show", shop, "--since", "1d"],
        &["run", "verify", shop],
        &["pair", "show", &pair],
        &["session", "list"],
        &["session", "show", &claude],
        &["session", "transcript", &claude],
        &["session", "rename", &claude, "the writer"],
        &["events"],
        &["status"],
        &["status", "--since", "1d"],
        &["why", shop],
        &["why", run],
        &["watch", shop],
        &["doctor"],
        &["verdict", &answer],
        &["notify", "--test"],
        &["config", "check"],
        &["hooks", "status"],
        &["hooks", "install", "--agent", "claude", "--yes"],
        &["hooks", "remove", "--agent", "claude", "--yes"],
        &["demo", "--list"],
        &["man", "--list"],
        &["uninstall"],
    ] {
        home.holds(words);
    }
    for kind in ["run", "pair"] {
        let top = Cli::command();
        let group = top.find_subcommand(kind).unwrap();
        for control in group.get_subcommands().map(clap::Command::get_name) {
            let of = if kind == "run" { run } else { &pair };
            let more: &[&str] = match control {
                "start" | "list" | "show" | "verify" | "stop" | "delete" => continue,
                "write" => &["--to", "reviewer", "Look at the links."],
                "rename" => &["docs"],
                "confirm" => &["send"],
                "edit" => &["--set", "max_rounds=5"],
                _ => &[],
            };
            home.run(&[&[kind, control, of], more].concat());
        }
    }
    // What was written was never sent.
    home.run(&["run", "drop", run]);
    let stopped = home.holds(&["run", "stop", run]);
    assert_eq!((stopped["id"].as_str(), stopped["kind"].as_str()), (Some(run), Some("run")));
    let next = home.holds(&["run", "run-on", run])["id"].as_str().unwrap().to_owned();
    home.holds(&["run", "stop", &next]);
    home.holds(&["run", "delete", &next]);
    let sides = ["--implementer", &claude, "--reviewer", &codex];
    let pair = home.holds(&[&["pair", "start", "--kickoff", "next"], &sides[..]].concat());
    let pair = pair["id"].as_str().unwrap().to_owned();
    home.holds(&["session", "send", &codex, "Look at the links."]);
    home.holds(&["pair", "stop", &pair]);
    home.holds(&["pair", "delete", &pair]);
    home.holds(&["session", "put-away", &codex]);
    home.holds(&["session", "take-back", &codex]);
    home.run(&["session", "bring-back", &codex]);
    home.run(&["session", "reach", &codex, "tmux"]);
    home.run(&["config", "init"]);
    home.holds(&[&["run", "start"], &sides[..]].concat())["id"].as_str().unwrap().clone_into(&mut home.left.run);
}

#[test]
fn what_every_command_prints_as_json_is_what_the_manual_says() {
    let mut home = Home { left: Left::new(), seen: BTreeSet::new() };
    everything(&mut home);
    home.holds(&["drive", "--stop"]);
    home.holds(&["drive", "--background", "--stay"]);
    home.holds(&["drive", "--stop"]);
    let driver = home.left.command(&["drive", "--stay"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let driver = Ended(driver);
    home.left.until_driven();
    everything(&mut home);
    drop(driver);
    // Here no agent can be started, and there are settings already.
    home.seen.insert("session new".to_owned());
    assert_eq!(home.seen, with_json());
    let fresh = home.left.folder.path().join("fresh");
    fs::create_dir(&fresh).unwrap();
    let made = super::demo::trellis(&fresh).args(["config", "init", "--json"]).output().unwrap();
    is_as_the_manual_says("config init", &String::from_utf8(made.stdout).unwrap());
}

/// A record of a newer trellis is a row like any other.
#[test]
fn a_record_that_is_only_shown_has_the_keys_of_the_others() {
    let left = Left::new();
    let file = left.folder.path().join("home/checklist-runs").join(format!("{}.json", left.run));
    let mut record: Map<String, Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    record.insert("schema".to_owned(), 99.into());
    fs::write(&file, Value::Object(record).to_string()).unwrap();
    for words in [&["run", "list", "--json"][..], &["status", "--json"]] {
        let out = String::from_utf8(left.ask(words).stdout).unwrap();
        assert!(out.contains("schema 99"), "{out}");
        is_as_the_manual_says(&row_of(words, &table()), &out);
    }
}
