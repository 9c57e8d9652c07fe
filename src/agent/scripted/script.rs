//! What a script says: who replies what to which prompt, at which pace, and what the scripted person does.
//! Types and their checks; text in, script or a sentence out. Nothing is played here and no file is read.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::model::config::RunConfig;
use crate::model::ids::{Agent, Role};

/// A whole script: one demo, one scene, or a person's own file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// One sentence: what it shows.
    pub about: String,
    /// Name of the folder that the agents pretend to work in.
    #[serde(default = "default_worktree")]
    pub worktree: String,
    /// Settings of the run, by the names of `config` in its record; what is left out takes the defaults.
    #[serde(default)]
    pub run: RunConfig,
    /// How long things take.
    #[serde(default)]
    pub pace: Pace,
    /// The side that builds.
    pub implementer: Actor,
    /// The side that reviews.
    pub reviewer: Actor,
    /// What the person at the keyboard does.
    #[serde(default)]
    pub person: Vec<PersonAct>,
}

fn default_worktree() -> String {
    "shop".to_owned()
}

/// How long things take, in milliseconds at normal speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// A message is taken up this long after it was sent, at least and at most.
    pub accept_ms: (u64, u64),
    /// Before each beat that does not say it itself.
    pub beat_ms: u64,
    /// Between an agent's last words and the end of its turn.
    pub end_ms: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { accept_ms: (200, 800), beat_ms: 350, end_ms: 60 }
    }
}

/// One scripted agent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// Whose transcript it writes.
    pub agent: Agent,
    /// A conversation it had before the script begins.
    #[serde(default)]
    pub past: Option<Past>,
    /// What it replies; the first rule that fits a prompt counts.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Its process is found dead once it has had this many turns, until it is brought back.
    #[serde(default)]
    pub gone_after_turns: Option<usize>,
}

/// One exchange before the script begins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// What a person said.
    pub prompt: String,
    /// What the agent answered.
    pub answer: String,
}

/// Which prompts get which replies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// For people and error messages.
    pub name: String,
    /// The prompt holds one of these texts; empty: any prompt fits.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Its replies in order of use.
    pub replies: Vec<Reply>,
    /// What a further use gets.
    #[serde(default)]
    pub then: Then,
}

impl Rule {
    /// Whether a prompt fits, use counts left aside.
    #[must_use]
    pub fn fits(&self, prompt: &str) -> bool {
        self.contains.is_empty() || self.contains.iter().any(|part| prompt.contains(part.as_str()))
    }
}

/// What happens when a rule's replies are used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The rule fits no more; a later one may.
    #[default]
    NextRule,
    /// The last reply again (identical replies).
    Last,
    /// From the first again.
    Cycle,
}

/// One reply: beats in order; after the last one the turn ends.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// What happens, in order. None: the turn ends without a word.
    #[serde(default)]
    pub beats: Vec<Beat>,
}

/// One thing that happens in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawBeat")]
pub struct Beat {
    /// What.
    pub kind: BeatKind,
    /// Milliseconds before it; the script's pace if it says nothing.
    pub after_ms: Option<u64>,
}

/// Kinds of beats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeatKind {
    /// It thinks.
    Think(String),
    /// It says something. What it says last, after the last tool, is its answer.
    Say(String),
    /// It calls a tool and waits for the result.
    Tool(ToolUse),
    /// It starts a background agent that reports `takes_ms` after the turn was left; what follows is said then.
    Background {
        /// What the background agent is for.
        task: String,
        /// What the agent says before it leaves the turn.
        meanwhile: String,
        /// How long it takes.
        takes_ms: u64,
    },
    /// The turn fails.
    Fail(Fault),
    /// A person stops the turn.
    Interrupt,
    /// Nothing more ever happens in this turn.
    Silence,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// Which tool.
    pub tool: Tool,
    /// What comes back.
    pub output: String,
    /// How long it takes.
    pub takes_ms: u64,
    /// It asks for permission and waits: a dialog is open meanwhile.
    pub asks: bool,
    /// It fails.
    pub fails: bool,
}

/// Tools that scripted agents pretend to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A shell command.
    Run(String),
    /// A new file and its contents.
    Write(String, String),
    /// An existing file and a text that is added to it.
    Edit(String, String),
    /// A look into a file.
    Read(String),
}

/// Why a turn fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which kind.
    pub kind: FaultKind,
    /// The agent's words; for a limit, `{resets}` becomes the time it ends.
    pub text: String,
    /// For a limit with a known end: milliseconds from then.
    pub resets_ms: Option<u64>,
}

/// Kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An allowance is used up.
    Limit,
    /// The service is overloaded.
    Overloaded,
    /// The connection dropped.
    Network,
    /// Not logged in.
    Auth,
    /// Anything else.
    Other,
}

/// A beat as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBeat {
    think: Option<String>,
    say: Option<String>,
    run: Option<String>,
    write: Option<String>,
    edit: Option<String>,
    read: Option<String>,
    background: Option<String>,
    fail: Option<FaultKind>,
    interrupt: Option<bool>,
    silence: Option<bool>,
    content: Option<String>,
    output: Option<String>,
    meanwhile: Option<String>,
    text: Option<String>,
    takes_ms: Option<u64>,
    resets_ms: Option<u64>,
    after_ms: Option<u64>,
    #[serde(default)]
    asks: bool,
    #[serde(default)]
    fails: bool,
}

/// How long a tool takes that does not say it.
const TOOL_MS: u64 = 300;
/// How long a background agent takes that does not say it.
const BACKGROUND_MS: u64 = 2_000;

impl TryFrom<RawBeat> for Beat {
    type Error = String;

    fn try_from(raw: RawBeat) -> Result<Self, String> {
        const ONE: &str =
            "a beat is exactly one of think, say, run, write, edit, read, background, fail, interrupt, silence";
        let after_ms = raw.after_ms;
        let content = raw.content.unwrap_or_default();
        let (output, asks, fails) = (raw.output.unwrap_or_default(), raw.asks, raw.fails);
        let takes_ms = raw.takes_ms;
        let tool = |tool| {
            let takes_ms = takes_ms.unwrap_or(TOOL_MS);
            BeatKind::Tool(ToolUse { tool, output: output.clone(), takes_ms, asks, fails })
        };
        let (text, resets_ms, meanwhile) = (raw.text, raw.resets_ms, raw.meanwhile);
        let kinds = [
            raw.think.map(BeatKind::Think),
            raw.say.map(BeatKind::Say),
            raw.run.map(|command| tool(Tool::Run(command))),
            raw.write.map(|path| tool(Tool::Write(path, content.clone()))),
            raw.edit.map(|path| tool(Tool::Edit(path, content.clone()))),
            raw.read.map(|path| tool(Tool::Read(path))),
            raw.background.map(|task| BeatKind::Background {
                task,
                meanwhile: meanwhile.unwrap_or_default(),
                takes_ms: takes_ms.unwrap_or(BACKGROUND_MS),
            }),
            raw.fail.map(|kind| BeatKind::Fail(Fault { kind, text: text.unwrap_or_default(), resets_ms })),
            raw.interrupt.filter(|yes| *yes).map(|_| BeatKind::Interrupt),
            raw.silence.filter(|yes| *yes).map(|_| BeatKind::Silence),
        ];
        let mut kinds = kinds.into_iter().flatten();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Ok(Self { kind, after_ms }),
            _ => Err(ONE.to_owned()),
        }
    }
}

/// Something the person at the keyboard does: a prompt typed into a session, once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonAct {
    /// Into which side.
    pub to: Role,
    /// The words.
    pub text: String,
    /// All of these must hold.
    #[serde(default)]
    pub when: Vec<When>,
    /// Milliseconds from then.
    #[serde(default)]
    pub after_ms: u64,
}

/// What a side must look like for a person to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Which side.
    pub side: Role,
    /// It has had exactly this many prompts.
    pub prompts: usize,
    /// Its newest turn is open (true) or ended (false).
    #[serde(default)]
    pub open: Option<bool>,
}

/// The idle pair that lives in each demo home beside the one that plays.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spare {
    /// Name of the folder that they pretend to work in.
    pub worktree: String,
    /// How long things take.
    #[serde(default)]
    pub pace: Pace,
    /// The side that can build.
    pub implementer: Actor,
    /// The side that can review.
    pub reviewer: Actor,
}

impl Spare {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// A sentence that names `file`, the line and what is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let spare: Self = read(file, text)?;
        check_actor(file, "implementer", &spare.implementer)?;
        check_actor(file, "reviewer", &spare.reviewer)?;
        Ok(spare)
    }
}

impl Script {
    /// Reads the text of a script; `file` is named in errors.
    ///
    /// # Errors
    /// A sentence that names the file, the line or rule, and what is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let script: Self = read(file, text)?;
        check_actor(file, "implementer", &script.implementer)?;
        check_actor(file, "reviewer", &script.reviewer)?;
        if script.about.trim().is_empty() {
            return Err(format!("{file}: about is empty; say in a sentence what the script shows"));
        }
        if script.worktree.is_empty() || !script.worktree.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(format!("{file}: worktree must be a name of letters, digits and hyphens"));
        }
        let (least, most) = script.pace.accept_ms;
        if least > most {
            return Err(format!("{file}: pace.accept_ms must be [least, most]"));
        }
        if let Some(unknown) = script.run.extra.keys().next() {
            return Err(format!("{file}: run.{unknown} is no setting of a run"));
        }
        if let Some(act) = script.person.iter().find(|act| act.text.trim().is_empty()) {
            return Err(
                format!("{file}: the person types nothing into the {:?}; give it a text", act.to).to_lowercase()
            );
        }
        let mut texts = BTreeSet::new();
        for act in &script.person {
            if !texts.insert(act.text.as_str()) {
                return Err(format!("{file}: the person types the same words twice; each act is known by its words"));
            }
        }
        Ok(script)
    }

    /// One side.
    #[must_use]
    pub fn actor(&self, role: Role) -> &Actor {
        match role {
            Role::Implementer => &self.implementer,
            Role::Reviewer => &self.reviewer,
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map_or(1, |head| head.bytes().filter(|byte| *byte == b'\n').count() + 1);
        let words = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{file}, line {line}: {words}")
    })
}

fn check_actor(file: &str, side: &str, actor: &Actor) -> Result<(), String> {
    for rule in &actor.rules {
        let at = format!("{file}: {side}, rule {}", rule.name);
        if rule.replies.is_empty() {
            return Err(format!("{at}: give it at least one reply"));
        }
        if rule.contains.iter().any(String::is_empty) {
            return Err(format!("{at}: an empty text in contains fits everything; leave contains out instead"));
        }
        for beat in rule.replies.iter().flat_map(|reply| &reply.beats) {
            match &beat.kind {
                BeatKind::Background { .. } if actor.agent == Agent::Codex => {
                    return Err(format!("{at}: only a claude actor has background agents"));
                }
                BeatKind::Say(text) | BeatKind::Think(text) if text.trim().is_empty() => {
                    return Err(format!("{at}: say and think need words; leave the beat out for none"));
                }
                BeatKind::Fail(fault) if fault.resets_ms.is_some() && fault.kind != FaultKind::Limit => {
                    return Err(format!("{at}: only a limit has resets_ms"));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
