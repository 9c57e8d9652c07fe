//! A work tree as git shows it. Read-only: no lock is taken and nothing of the repository's own is run, neither hooks nor
//! monitors, filters, text converters or diff programs: its configuration is not ours.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::program::Program;
use crate::model::run::GitMark;
use crate::model::tree::{FILES, FileState, LINES, LINES_OF_A_FILE, TreeState};

/// A large tree on a cold disk takes a while.
const LIMIT: Duration = Duration::from_mins(1);
/// Bytes of a file that git does not know which are looked at.
const READ: u64 = 256 * 1_024;
/// The tree of nothing, which every repository knows.
const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The mark of a work tree; `None` when there is no repository or git cannot read it.
#[must_use]
pub fn mark(worktree: &str) -> Option<GitMark> {
    let git = Git::at(worktree);
    let status = git.ask(&["status", "--porcelain", "--ignore-submodules=dirty"])?;
    Some(GitMark { head: git.head().unwrap_or_default(), status_sha256: hash(status.as_bytes(), 64) })
}

/// Changed and new files of a work tree, folders of new files as one; `None` where there is no repository or no git.
#[must_use]
pub fn uncommitted(worktree: &str) -> Option<u32> {
    let words = ["status", "--porcelain=v1", "--untracked-files=normal", "--ignore-submodules=dirty"];
    u32::try_from(Git::at(worktree).ask(&words)?.lines().count()).ok()
}

/// What a work tree differs in from a commit (`None`: from its head), files that git does not know included.
#[must_use]
pub fn lines(worktree: &str, base: Option<&str>) -> Option<TreeState> {
    let git = Git::at(worktree);
    // A repository without a commit has no head.
    let base = base.map(str::to_owned).or_else(|| git.head()).unwrap_or_else(|| NOTHING.to_owned());
    if base.is_empty() || !base.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let words = [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-renames",
        "--ignore-submodules=dirty",
        "--unified=0",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        &base,
        "--",
    ];
    let mut seen = Seen::default();
    seen.diff(&git.ask(&words)?);
    let top = git.ask(&["rev-parse", "--show-toplevel"])?;
    let others = git.ask(&["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"])?;
    for name in others.split('\0').filter(|name| !name.is_empty()) {
        if seen.files.len() >= FILES {
            break;
        }
        seen.untracked(Path::new(top.trim_end_matches('\n')), name);
    }
    Some(TreeState { base, files: seen.finish() })
}

/// One repository and the filters it names.
struct Git<'a> {
    worktree: &'a str,
    off: Vec<(String, &'static str)>,
}

impl<'a> Git<'a> {
    fn at(worktree: &'a str) -> Self {
        let mut git = Self { worktree, off: Vec::new() };
        let names =
            git.ask(&["config", "--null", "--name-only", "--get-regexp", "^filter\\..*\\.(clean|smudge|process)$"]);
        for name in names.unwrap_or_default().split('\0').filter(|name| !name.is_empty()) {
            git.off.push((name.to_owned(), ""));
            if let Some((filter, _)) = name.rsplit_once('.') {
                git.off.push((format!("{filter}.required"), "false"));
            }
        }
        git
    }

    fn head(&self) -> Option<String> {
        let head = self.ask(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        Some(head.trim().to_owned()).filter(|head| !head.is_empty())
    }

    fn ask(&self, words: &[&str]) -> Option<String> {
        let first = [
            "--no-pager",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.quotePath=false",
            "-C",
            self.worktree,
        ];
        let mut program = Program::new("git", first.iter().chain(words))
            .with("GIT_OPTIONAL_LOCKS", "0")
            .with("GIT_NO_LAZY_FETCH", "1")
            .with("GIT_TERMINAL_PROMPT", "0")
            .with("LC_ALL", "C")
            .without("GIT_DIR")
            .without("GIT_WORK_TREE")
            .without("GIT_INDEX_FILE")
            .without("GIT_EXTERNAL_DIFF")
            .without("GIT_DIFF_OPTS")
            .with("GIT_CONFIG_COUNT", self.off.len().to_string())
            .limit(LIMIT);
        // Through the environment: the name of a filter can hold any character, a `=` too.
        for (at, (name, value)) in self.off.iter().enumerate() {
            program =
                program.with(&format!("GIT_CONFIG_KEY_{at}"), name).with(&format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        program.run().ok()?.content().ok()
    }
}

/// Changed lines, file by file.
#[derive(Default)]
struct Seen {
    files: BTreeMap<String, Lines>,
}

#[derive(Default)]
struct Lines {
    all: Sha256,
    plus: Vec<String>,
    minus: Vec<String>,
    added: u32,
    removed: u32,
    binary: bool,
}

impl Lines {
    fn take(&mut self, sign: char, line: &str) {
        self.all.update([u8::try_from(sign).unwrap_or_default()]);
        self.all.update(line.as_bytes());
        self.all.update(b"\n");
        let (hashes, count) =
            if sign == '+' { (&mut self.plus, &mut self.added) } else { (&mut self.minus, &mut self.removed) };
        *count = count.saturating_add(1);
        if hashes.len() <= LINES_OF_A_FILE {
            hashes.push(hash(line.as_bytes(), 8));
        }
    }
}

impl Seen {
    /// Reads a diff without context: heads of files and hunks, then as many lines as the hunk says.
    fn diff(&mut self, diff: &str) {
        let mut file: Option<String> = None;
        let mut index = "";
        let (mut old, mut new) = (0_usize, 0_usize);
        for line in diff.split('\n') {
            let sign = line.chars().next();
            match sign {
                Some('-') if old > 0 => old -= 1,
                Some('+') if new > 0 => new -= 1,
                Some('\\') => continue,
                _ => {
                    if let Some(name) = line.strip_prefix("diff --git ") {
                        file = (self.files.len() < FILES).then(|| hash(name.as_bytes(), 8));
                        if let Some(file) = &file {
                            self.files.entry(file.clone()).or_default();
                        }
                    } else if let Some(counts) = hunk(line) {
                        (old, new) = counts;
                    } else if line.starts_with("index ") {
                        index = line;
                    } else if line.starts_with("Binary files ")
                        && let Some(lines) = file.as_ref().and_then(|file| self.files.get_mut(file))
                    {
                        // The hashes of its contents are all that is told of it.
                        lines.all.update(index.as_bytes());
                        lines.binary = true;
                    }
                    continue;
                }
            }
            if let (Some(lines), Some(sign)) = (file.as_ref().and_then(|file| self.files.get_mut(file)), sign) {
                lines.take(sign, line.get(1..).unwrap_or(""));
            }
        }
    }

    /// A file that git does not know yet: all of it is new. Links and other things are not followed.
    fn untracked(&mut self, top: &Path, name: &str) {
        let path = top.join(name);
        if !fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_file()) {
            return;
        }
        let mut bytes = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(READ).read_to_end(&mut bytes));
        if read.is_err() {
            return;
        }
        // The same key as in a diff, so that a file that is added later is the same file.
        let lines = self.files.entry(hash(format!("a/{name} b/{name}").as_bytes(), 8)).or_default();
        if bytes.contains(&0) {
            lines.all.update(&bytes);
            lines.binary = true;
            return;
        }
        for line in String::from_utf8_lossy(&bytes).lines() {
            lines.take('+', line);
        }
    }

    fn finish(self) -> BTreeMap<String, FileState> {
        let mut left = LINES;
        let mut state = |lines: Lines| {
            let count = lines.plus.len() + lines.minus.len();
            let told = lines.plus.len() <= LINES_OF_A_FILE && lines.minus.len() <= LINES_OF_A_FILE && count <= left;
            left -= if told { count } else { 0 };
            let hashes = |hashes: Vec<String>| if told { hashes.concat() } else { String::new() };
            FileState {
                sum: hex(&lines.all.finalize(), 8),
                added: lines.added,
                removed: lines.removed,
                plus: hashes(lines.plus),
                minus: hashes(lines.minus),
            }
        };
        // A file with another mode and the same lines has not changed.
        let changed = self.files.into_iter().filter(|(_, lines)| lines.binary || lines.added + lines.removed > 0);
        changed.map(|(name, lines)| (name, state(lines))).collect()
    }
}

/// Lines of the old and of the new file in a hunk: `@@ -1,2 +3 @@`.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Ok(1), |(_, count)| count.parse());
    Some((count(old).ok()?, count(new).ok()?))
}

fn hash(bytes: &[u8], digits: usize) -> String {
    hex(&Sha256::digest(bytes), digits)
}

/// The first hex digits of some bytes.
fn hex(bytes: &[u8], digits: usize) -> String {
    let mut out = String::with_capacity(digits);
    for byte in bytes.iter().take(digits / 2) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
