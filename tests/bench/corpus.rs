//! Transcripts as the agents write them, made from a seed: two thousand of uneven length, and one long. Same seed, same bytes.
//! Nothing is measured here.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use trellis::paths::Home;
use trellis::watch::Roots;

use crate::Plan;

/// A small generator of numbers (splitmix).
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound.max(1)
    }

    fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two numbers, small ones far more often.
    fn uneven(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.share())
    }

    fn id(&mut self) -> String {
        let (one, two) = (self.roll(), self.roll());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            one >> 32,
            (one >> 16) & 0xffff,
            one & 0xfff,
            two >> 52,
            two & 0xffff_ffff_ffff
        )
    }
}

const WORDS: [&str; 32] = [
    "the",
    "cart",
    "total",
    "is",
    "rounded",
    "once",
    "after",
    "tax",
    "`src/checkout.rs`",
    "reads",
    "price",
    "rules",
    "and",
    "applies",
    "them",
    "in",
    "order",
    "tests",
    "pass",
    "fn",
    "let",
    "mut",
    "match",
    "=>",
    "Ok(())",
    "語",
    "✓",
    "unwrap()",
    "diff",
    "+++",
    "finding",
    "P1:",
];

/// Words of about so many bytes, escaped for a JSON string.
fn prose(dice: &mut Dice, bytes: usize, out: &mut String) {
    let end = out.len() + bytes;
    let mut column = 0;
    while out.len() < end {
        let word = WORDS[dice.below(WORDS.len() as u64) as usize];
        if dice.below(20) == 0 {
            let _ = write!(out, "\\\"{word}\\\"");
        } else {
            out.push_str(word);
        }
        column += word.len() + 1;
        if column > 80 {
            out.push_str(if dice.below(6) == 0 { "\\n- " } else { "\\n" });
            column = 0;
        } else {
            out.push(' ');
        }
    }
}

/// Letters without a word, as of an image.
fn letters(dice: &mut Dice, bytes: usize, out: &mut String) {
    let end = out.len() + bytes;
    while out.len() < end {
        let mut bits = dice.roll();
        for _ in 0..12 {
            out.push(char::from(b'A' + (bits & 0xf) as u8));
            bits >>= 5;
        }
    }
}

fn time(seconds: u64) -> String {
    let at = jiff::Timestamp::from_second(1_767_225_600 + seconds as i64).unwrap();
    format!("{:.3}", at.strftime("%Y-%m-%dT%H:%M:%S.000Z"))
}

/// One session as it grows, of either agent.
pub struct Session {
    codex: bool,
    pub id: String,
    folder: String,
    parent: String,
    clock: u64,
    turns: u64,
    /// Claude writes `message` before `type` in some versions.
    type_last: bool,
}

impl Session {
    pub fn new(dice: &mut Dice, codex: bool) -> Self {
        Self {
            codex,
            id: dice.id(),
            folder: format!("/home/dev/work/project-{:02}", dice.below(60)),
            parent: "null".to_owned(),
            clock: dice.below(330 * 86_400),
            turns: 0,
            type_last: dice.below(10) < 3,
        }
    }

    fn path(&self, root: &Path) -> PathBuf {
        if self.codex {
            let began = time(self.clock);
            let day = began.get(..10).unwrap_or_default().replace('-', "/");
            let stamp = began.get(..19).unwrap_or_default().replace(':', "-");
            root.join(".codex/sessions").join(day).join(format!("rollout-{stamp}-{}.jsonl", self.id))
        } else {
            root.join(".claude/projects").join(self.folder.replace('/', "-")).join(format!("{}.jsonl", self.id))
        }
    }

    fn claude(&mut self, dice: &mut Dice, kind: &str, message: &str, out: &mut String) {
        self.clock += 1 + dice.below(20);
        let (uuid, at) = (dice.id(), time(self.clock));
        let (parent, folder, id) = (&self.parent, &self.folder, &self.id);
        let head = format!("{{\"parentUuid\":{parent},\"isSidechain\":false");
        let about = format!(
            "\"userType\":\"external\",\"entrypoint\":\"cli\",\"cwd\":\"{folder}\",\"sessionId\":\"{id}\",\
             \"version\":\"2.1.90\",\"gitBranch\":\"main\""
        );
        let own = format!("\"uuid\":\"{uuid}\",\"timestamp\":\"{at}\"");
        let _ = if self.type_last {
            writeln!(out, "{head},\"message\":{message},\"type\":\"{kind}\",{own},{about}}}")
        } else {
            writeln!(out, "{head},{about},\"type\":\"{kind}\",\"message\":{message},{own}}}")
        };
        self.parent = format!("\"{uuid}\"");
    }

    fn says(&mut self, dice: &mut Dice, block: &str, stop: &str, out: &mut String) {
        let id = dice.roll();
        let message = format!(
            "{{\"model\":\"claude-opus-4-5\",\"id\":\"msg_{id:016x}\",\"type\":\"message\",\"role\":\"assistant\",\
             \"content\":[{block}],\"stop_reason\":{stop},\"stop_sequence\":null,\"usage\":{{\"input_tokens\":9,\
             \"cache_read_input_tokens\":120034,\"output_tokens\":812}}}}"
        );
        self.claude(dice, "assistant", &message, out);
    }

    /// An answer of the agent with just this text, and the end of its turn.
    pub fn answer(&mut self, dice: &mut Dice, text: &str, out: &mut String) {
        let block = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
        self.says(dice, &block, "\"end_turn\"", out);
    }

    /// A turn: a prompt, tools, an answer, its end.
    pub fn turn(&mut self, dice: &mut Dice, out: &mut String) {
        self.turns += 1;
        if self.codex { self.codex_turn(dice, out) } else { self.claude_turn(dice, out) }
    }

    fn claude_turn(&mut self, dice: &mut Dice, out: &mut String) {
        if self.turns == 1 {
            let _ = writeln!(
                out,
                "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{}\",\"snapshot\":{{}},\"isSnapshotUpdate\":false}}",
                dice.id()
            );
        }
        let text = words(dice, 60, 900);
        self.claude(dice, "user", &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"), out);
        for _ in 0..2 + dice.below(9) {
            let call = format!("toolu_{:016x}", dice.roll());
            if dice.below(3) == 0 {
                let text = words(dice, 100, 1_500);
                self.says(
                    dice,
                    &format!("{{\"type\":\"thinking\",\"thinking\":\"{text}\",\"signature\":\"Ep\"}}"),
                    "null",
                    out,
                );
            }
            if dice.below(2) == 0 {
                let text = words(dice, 40, 600);
                self.says(dice, &format!("{{\"type\":\"text\",\"text\":\"{text}\"}}"), "null", out);
            }
            let (tool, text) = (["Bash", "Read", "Edit", "Grep"][dice.below(4) as usize], words(dice, 30, 400));
            let block = format!(
                "{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"{tool}\",\"input\":{{\"command\":\"{text}\"}}}}"
            );
            self.says(dice, &block, "\"tool_use\"", out);
            let result = result(dice);
            let block = format!("{{\"tool_use_id\":\"{call}\",\"type\":\"tool_result\",\"content\":\"{result}\"}}");
            self.claude(dice, "user", &format!("{{\"role\":\"user\",\"content\":[{block}]}}"), out);
        }
        let text = words(dice, 200, 2_500);
        self.answer(dice, &text, out);
        let (parent, id, at, uuid) = (&self.parent, &self.id, time(self.clock), dice.id());
        let _ = writeln!(
            out,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"system\",\"subtype\":\"turn_duration\",\
             \"durationMs\":81000,\"timestamp\":\"{at}\",\"uuid\":\"{uuid}\",\"isMeta\":false,\"sessionId\":\"{id}\"}}"
        );
    }

    fn codex(&mut self, dice: &mut Dice, kind: &str, payload: &str, out: &mut String) {
        self.clock += 1 + dice.below(15);
        let _ = writeln!(out, "{{\"timestamp\":\"{}\",\"type\":\"{kind}\",\"payload\":{payload}}}", time(self.clock));
    }

    fn codex_turn(&mut self, dice: &mut Dice, out: &mut String) {
        let folder = self.folder.clone();
        if self.turns == 1 {
            let text = words(dice, 11_000, 13_000);
            let payload = format!(
                "{{\"id\":\"{}\",\"timestamp\":\"{}\",\"cwd\":\"{folder}\",\"originator\":\"codex_cli_rs\",\"cli_version\":\
                 \"0.98.0\",\"source\":\"cli\",\"base_instructions\":{{\"text\":\"{text}\"}},\"git\":{{\"branch\":\"main\"}}}}",
                self.id,
                time(self.clock)
            );
            self.codex(dice, "session_meta", &payload, out);
        }
        self.codex(dice, "event_msg", "{\"type\":\"task_started\",\"model_context_window\":258400}", out);
        self.codex(dice, "turn_context", &format!("{{\"cwd\":\"{folder}\",\"model\":\"gpt-5.2-codex\"}}"), out);
        let text = words(dice, 60, 900);
        let item = |role: &str, kind: &str, text: &str| {
            format!(
                "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]}}"
            )
        };
        self.codex(dice, "response_item", &item("user", "input_text", &text), out);
        self.codex(
            dice,
            "event_msg",
            &format!("{{\"type\":\"user_message\",\"message\":\"{text}\",\"images\":[]}}"),
            out,
        );
        for _ in 0..2 + dice.below(9) {
            let call = format!("call_{:016x}", dice.roll());
            let mut sealed = String::new();
            let bytes = 400 + dice.below(3_000) as usize;
            letters(dice, bytes, &mut sealed);
            let payload = format!("{{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"{sealed}\"}}");
            self.codex(dice, "response_item", &payload, out);
            let payload = format!(
                "{{\"type\":\"function_call\",\"name\":\"exec_command\",\"arguments\":\"{{\\\"cmd\\\":\\\"cargo test\\\"}}\",\
                 \"call_id\":\"{call}\"}}"
            );
            self.codex(dice, "response_item", &payload, out);
            let result = result(dice);
            let payload =
                format!("{{\"type\":\"function_call_output\",\"call_id\":\"{call}\",\"output\":\"{result}\"}}");
            self.codex(dice, "response_item", &payload, out);
            self.codex(dice, "event_msg", "{\"type\":\"token_count\",\"info\":{\"model_context_window\":258400}}", out);
        }
        let text = words(dice, 200, 2_500);
        self.codex(dice, "event_msg", &format!("{{\"type\":\"agent_message\",\"message\":\"{text}\"}}"), out);
        self.codex(dice, "response_item", &item("assistant", "output_text", &text), out);
        self.codex(
            dice,
            "event_msg",
            &format!("{{\"type\":\"task_complete\",\"last_agent_message\":\"{text}\"}}"),
            out,
        );
    }
}

fn words(dice: &mut Dice, least: u64, most: u64) -> String {
    let mut text = String::new();
    let bytes = least + dice.below(most - least);
    prose(dice, bytes as usize, &mut text);
    text
}

/// What a tool returned: mostly short, a third up to 200 KB, few of 5 MB.
fn result(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.below(3_000) == 0 {
        letters(dice, 5 << 20, &mut text);
    } else {
        let bytes = if dice.below(3) == 0 { dice.uneven(1_024.0, 400_000.0) } else { dice.uneven(80.0, 2_000.0) };
        prose(dice, bytes as usize, &mut text);
    }
    text
}

fn fill(session: &mut Session, dice: &mut Dice, path: &Path, bytes: u64) -> io::Result<u64> {
    fs::create_dir_all(path.parent().unwrap())?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut written, mut text) = (0, String::new());
    while written < bytes {
        text.clear();
        session.turn(dice, &mut text);
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
    }
    out.into_inner()?.sync_all()?;
    Ok(written)
}

/// The title of the session that was written last.
pub const NEWEST: &str = "QZX-the-newest-of-all";
/// The newest answer of the long transcript.
pub const LAST_WORDS: &str = "QZX-the-last-words";
/// The id of the long transcript's session.
pub const LONG: &str = "00000000-0000-4000-8000-00000000b16b";

/// Where the data lies: made at the first use, kept for the next.
pub struct Corpus {
    root: PathBuf,
}

impl Corpus {
    pub fn of(plan: &Plan) -> Self {
        let corpus = Self { root: plan.data.clone() };
        let folder = corpus.root.join("corpus");
        if !folder.exists() {
            println!("making {} files of {} MiB below {}", plan.files, plan.mib, folder.display());
            let mut dice = Dice::new(1);
            let shares: Vec<f64> = (0..plan.files).map(|_| dice.uneven(1.0, 400.0)).collect();
            let whole: f64 = shares.iter().sum();
            for (n, share) in shares.iter().enumerate() {
                let mut session = Session::new(&mut dice, n % 10 < 3);
                let path = session.path(&folder);
                // A turn more is written than fits.
                let bytes = (share / whole * (plan.mib << 20) as f64 * 0.86) as u64;
                fill(&mut session, &mut dice, &path, bytes).unwrap();
                let age = Duration::from_secs(60 * (plan.files - n) as u64);
                File::open(&path).unwrap().set_modified(SystemTime::now() - age).unwrap();
            }
        }
        corpus.newest();
        corpus
    }

    /// A short session that is newer than all others.
    fn newest(&self) {
        let mut dice = Dice::new(3);
        let mut session = Session::new(&mut dice, false);
        "/home/dev/work/newest".clone_into(&mut session.folder);
        let mut text = String::new();
        session.claude(&mut dice, "user", &format!("{{\"role\":\"user\",\"content\":\"{NEWEST}\"}}"), &mut text);
        session.answer(&mut dice, "yes", &mut text);
        let path = session.path(&self.root.join("corpus"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn roots(&self) -> Roots {
        roots(&self.root.join("corpus"))
    }

    /// The variables of a program that is to see it, with a home of its own.
    pub fn homes(&self, home: &Home) -> Vec<(&'static str, std::ffi::OsString)> {
        homes(&self.root.join("corpus"), home)
    }

    /// The long transcript, of `mib`.
    pub fn long(plan: &Plan, mib: u64) -> PathBuf {
        // By the name that it has where the reference data is made, which is taken where it lies.
        let path = plan.data.join(format!("big{mib}.jsonl"));
        if !path.exists() {
            let mut dice = Dice::new(7);
            fill(&mut Session::new(&mut dice, false), &mut dice, &path, mib << 20).unwrap();
        }
        path
    }
}

pub fn roots(folder: &Path) -> Roots {
    Roots {
        claude_projects: folder.join(".claude/projects"),
        codex_sessions: folder.join(".codex/sessions"),
        signs: Vec::new(),
    }
}

pub fn homes(folder: &Path, home: &Home) -> Vec<(&'static str, std::ffi::OsString)> {
    vec![
        ("HOME", home.root().into()),
        ("TRELLIS_HOME", home.root().join("trellis").into()),
        ("CLAUDE_CONFIG_DIR", folder.join(".claude").into()),
        ("CODEX_HOME", folder.join(".codex").into()),
    ]
}

/// A folder of its own with one session, a copy of a transcript, that ends with [`LAST_WORDS`].
pub struct One {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
    session: Session,
    dice: Dice,
}

impl One {
    pub fn of(plan: &Plan, transcript: Option<&Path>) -> Self {
        let folder = tempfile::tempdir_in(&plan.data).unwrap();
        let mut dice = Dice::new(11);
        let mut session = Session::new(&mut dice, false);
        LONG.clone_into(&mut session.id);
        let path = session.path(folder.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::create_dir_all(folder.path().join(".codex/sessions")).unwrap();
        match transcript {
            Some(transcript) => drop(fs::copy(transcript, &path).unwrap()),
            None => fs::write(&path, "").unwrap(),
        }
        let mut one = Self { folder, path, session, dice };
        let mut text = String::new();
        one.session.turn(&mut one.dice, &mut text);
        one.session.answer(&mut one.dice, LAST_WORDS, &mut text);
        one.append(text.as_bytes());
        one
    }

    pub fn append(&self, bytes: &[u8]) {
        fs::OpenOptions::new().append(true).open(&self.path).unwrap().write_all(bytes).unwrap();
    }

    /// A line with an answer.
    pub fn line(&mut self, text: &str) -> String {
        let mut line = String::new();
        self.session.answer(&mut self.dice, text, &mut line);
        line
    }

    /// Lines as a session at work writes them.
    pub fn lines(&mut self, count: usize) -> Vec<String> {
        let mut text = String::new();
        let mut lines = Vec::new();
        while lines.len() < count {
            text.clear();
            self.session.turn(&mut self.dice, &mut text);
            // Those above are measured by themselves.
            lines.extend(text.split_inclusive('\n').filter(|line| line.len() < 60_000).map(str::to_owned));
        }
        lines.truncate(count);
        lines
    }
}
