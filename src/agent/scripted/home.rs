//! A home that scripted agents live in: its folders, who plays in it, and how it is laid out and found again.
//! Its `config.toml` points both agents' roots into it, so every command works there. Nothing is played here.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::ids::{Agent, Role, SessionId, SessionKey, SessionRef};

use super::dialect::{self, Identity};
use super::player::Player;
use super::scenes;
use super::script::{Actor, Pace, PersonAct, Script, Spare};

const CAST_FILE: &str = "demo/cast.json";
const SCRIPT_FILE: &str = "demo/script.toml";
const CLAUDE_HOME: &str = "agents/claude";
const CODEX_HOME: &str = "agents/codex";

/// How the folder is called that a demo makes for itself below the system's temporary folder; letters and digits follow.
pub const OWN_FOLDER: &str = "trellis-demo-";
/// What lies in a demo's home beside what lies in every home.
pub const FOLDERS: [&str; 3] = ["demo", "agents", "work"];

/// Everything that a demo home is played from.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The folder.
    pub root: PathBuf,
    /// The name of its script.
    pub name: String,
    /// The script.
    pub script: Script,
    /// When the home was made: the scripted agents live since then, whoever plays them.
    pub created_at: Timestamp,
    /// Its sessions; the first two are the pair that plays.
    pub parts: Vec<Part>,
}

/// One session of the home.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its side in the run that plays; `None` for the idle pair.
    pub role: Option<Role>,
    /// What it plays.
    pub player: Player,
    /// Its transcript.
    pub transcript: PathBuf,
    /// What was typed to it and not yet taken up.
    pub inbox: PathBuf,
}

impl Part {
    /// The session as records name it.
    #[must_use]
    pub fn session(&self) -> SessionRef {
        let who = &self.player.who;
        SessionRef { agent: who.agent, worktree: who.cwd.clone(), session_id: who.session_id.clone() }
    }

    /// Its identity.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        self.session().key()
    }
}

/// `demo/cast.json`: written first, so that a home is known as a demo home from its first moment.
#[derive(Serialize, Deserialize)]
struct Cast {
    name: String,
    created_at: Timestamp,
    sessions: Vec<Member>,
}

#[derive(Serialize, Deserialize)]
struct Member {
    role: Role,
    spare: bool,
    agent: Agent,
    session_id: SessionId,
    /// Below the home.
    worktree: String,
    /// Below the home.
    transcript: String,
}

/// Which script a home is wanted for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its name: of the scene, or of the file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Whether a demo lives in this folder.
#[must_use]
pub fn is_one(root: &Path) -> bool {
    root.join(CAST_FILE).exists()
}

/// The folders that demos of this user made for themselves below `temporary`, in the order of their names. No link counts.
#[must_use]
pub fn made_below(temporary: &Path) -> Vec<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let is_own = |path: &PathBuf| {
        let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(OWN_FOLDER));
        named && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == me) && is_one(path)
    };
    let entries = fs::read_dir(temporary).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_own).collect();
    found.sort();
    found
}

/// Whether a demo may live in this folder: it does already, or nothing else does. Nothing is written.
///
/// # Errors
/// A sentence: the folder holds something else, or cannot be read.
pub fn may_be_one(root: &Path) -> Result<(), String> {
    if is_one(root) {
        return Ok(());
    }
    let home = root.display();
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(format!("{home} is a file, not a folder: name a folder with --home"));
        }
        Err(error) => return Err(format!("can't read {home}: {error}")),
    };
    // What a start leaves that was killed before the cast stood.
    let begun = ["demo", "logs", "trellis.lock", "trellis.sock", "summaries.json"];
    for entry in entries {
        let name = entry.map_err(|error| format!("can't read {home}: {error}"))?.file_name();
        if !begun.iter().any(|known| name == *known) {
            return Err(format!(
                "{home} is not empty and not a demo's home (it holds {}); give the demo a --home of its own",
                name.display()
            ));
        }
    }
    Ok(())
}

/// Opens a demo home. `None`: it is none.
///
/// # Errors
/// A sentence that says what to do: a file of it cannot be read.
pub fn open(root: &Path) -> Result<Option<Stage>, String> {
    let path = root.join(CAST_FILE);
    let cast = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("can't read {}: {error}", path.display())),
    };
    let cast: Cast = serde_json::from_str(&cast)
        .map_err(|error| format!("{} is damaged ({error}); start the demo in another --home", path.display()))?;
    let path = root.join(SCRIPT_FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("can't read {}: {error}", path.display()))?;
    let script = Script::parse(&path.display().to_string(), &text)?;
    stage(root, cast, script).map(Some)
}

/// Opens a demo home, or makes one where there is nothing yet; a half-made one is finished.
///
/// # Errors
/// A sentence that says what to do: the folder belongs to real agents or plays another script, or the disk refuses.
pub fn prepare(root: &Path, wanted: Option<Wanted<'_>>, now: Timestamp) -> Result<Stage, String> {
    let home = root.display();
    if !is_one(root) {
        if ["config.toml", "checklist-runs", "pairs"].iter().any(|name| root.join(name).exists()) {
            return Err(format!("{home} is not a demo's home; give the demo a --home of its own"));
        }
        let wanted = wanted.unwrap_or(Wanted { name: scenes::DEMO.name, text: scenes::DEMO.text });
        let script = Script::parse(wanted.name, wanted.text)?;
        make_folder(&root.join("demo"))?;
        // The script stands before the cast that needs it.
        write_whole(&root.join(SCRIPT_FILE), wanted.text)?;
        let root = root.canonicalize().map_err(|error| format!("can't enter {home}: {error}"))?;
        let cast = serde_json::to_string_pretty(&cast(&root, wanted.name, &script, now)?)
            .map_err(|error| error.to_string())?;
        write_whole(&root.join(CAST_FILE), &cast)?;
    }
    let stage = open(root)?.ok_or_else(|| format!("{home} vanished while it was opened; try again"))?;
    if let Some(wanted) = wanted.filter(|wanted| wanted.name != stage.name) {
        return Err(format!("{home} plays {}; give {} another --home", stage.name, wanted.name));
    }
    if !stage.root.join("config.toml").exists() {
        furnish(&stage)?;
    }
    Ok(stage)
}

/// What is still missing after the cast: folders, the first lines of the transcripts, and last the configuration.
fn furnish(stage: &Stage) -> Result<(), String> {
    for (at, part) in stage.parts.iter().enumerate() {
        make_folder(Path::new(&part.player.who.cwd))?;
        if let Some(folder) = part.transcript.parent() {
            make_folder(folder)?;
        }
        write_whole(&part.transcript, &part.player.opening(stage.created_at))?;
        // One after another, also for a clock that does not tell them apart: sessions are listed by it.
        let since_1970 = u64::try_from(stage.created_at.as_millisecond()).unwrap_or_default();
        let dated =
            UNIX_EPOCH + Duration::from_millis(since_1970.saturating_add(u64::try_from(at).unwrap_or_default()));
        let file = fs::File::options().append(true).open(&part.transcript);
        file.and_then(|file| file.set_modified(dated))
            .map_err(|error| format!("can't date {}: {error}", part.transcript.display()))?;
    }
    let config = format!(
        "# A demo's home: its agents are scripted and live below this folder.\n\
         claude_home = \"{CLAUDE_HOME}\"\ncodex_home = \"{CODEX_HOME}\"\nscript = \"{SCRIPT_FILE}\"\n"
    );
    write_whole(&stage.root.join("config.toml"), &config)
}

fn cast(root: &Path, name: &str, script: &Script, now: Timestamp) -> Result<Cast, String> {
    let spare = scenes::spare()?;
    let member = |role: Role, spare: bool, agent: Agent, folder: &str| {
        let seed = SessionId::new(format!("{}{now}", root.display()));
        let session_id = SessionId::new(dialect::uuid(&seed, &format!("{role:?}{spare}")));
        let worktree = format!("work/{folder}");
        let transcript = match agent {
            Agent::Claude => {
                let slug = slug(&root.join(&worktree).display().to_string());
                format!("{CLAUDE_HOME}/projects/{slug}/{session_id}.jsonl")
            }
            Agent::Codex => {
                let local = now.to_zoned_datetime(jiff::tz::TimeZone::system());
                let (day, second) = (local.strftime("%Y/%m/%d"), local.strftime("%Y-%m-%dT%H-%M-%S"));
                format!("{CODEX_HOME}/sessions/{day}/rollout-{second}-{session_id}.jsonl")
            }
        };
        Member { role, spare, agent, session_id, worktree, transcript }
    };
    let sessions = vec![
        member(Role::Implementer, false, script.implementer.agent, &script.worktree),
        member(Role::Reviewer, false, script.reviewer.agent, &script.worktree),
        member(Role::Implementer, true, spare.implementer.agent, &spare.worktree),
        member(Role::Reviewer, true, spare.reviewer.agent, &spare.worktree),
    ];
    Ok(Cast { name: name.to_owned(), created_at: now, sessions })
}

fn stage(root: &Path, cast: Cast, script: Script) -> Result<Stage, String> {
    let spare = scenes::spare()?;
    let root = root.canonicalize().map_err(|error| format!("can't enter {}: {error}", root.display()))?;
    let parts = cast.sessions.into_iter().map(|member| part(&root, member, &script, &spare)).collect();
    Ok(Stage { root, name: cast.name, script, created_at: cast.created_at, parts })
}

fn part(root: &Path, member: Member, script: &Script, spare: &Spare) -> Part {
    let (actor, pace): (&Actor, Pace) = match (member.spare, member.role) {
        (false, role) => (script.actor(role), script.pace),
        (true, Role::Implementer) => (&spare.implementer, spare.pace),
        (true, Role::Reviewer) => (&spare.reviewer, spare.pace),
    };
    let cwd = root.join(&member.worktree).display().to_string();
    let who = Identity { agent: member.agent, session_id: member.session_id, cwd };
    let inbox = root.join(format!("demo/typed-{}.json", who.session_id));
    let player = Player::new(who, actor.clone(), pace);
    Part { role: (!member.spare).then_some(member.role), player, transcript: root.join(member.transcript), inbox }
}

impl Stage {
    /// The session of a side of the pair that plays.
    #[must_use]
    pub fn session(&self, role: Role) -> Option<SessionRef> {
        self.parts.iter().find(|part| part.role == Some(role)).map(Part::session)
    }

    /// What the person does.
    #[must_use]
    pub fn person(&self) -> &[PersonAct] {
        &self.script.person
    }
}

/// Claude's folder name for a work tree: every UTF-16 unit that is no ASCII letter or digit becomes a hyphen.
/// A name above 200 is cut; Claude adds a hash of its own, which no reader of transcripts needs.
fn slug(cwd: &str) -> String {
    let unit = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { "-".repeat(c.len_utf16()) };
    cwd.chars().map(unit).collect::<String>().chars().take(200).collect()
}

fn make_folder(path: &Path) -> Result<(), String> {
    // As everything below a home: for the person alone.
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| format!("can't make {}: {error}", path.display()))
}

/// Writes a file that nobody reads yet: under another name first, so that a kill leaves all of it or nothing.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("can't write {}: {error}", path.display());
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
