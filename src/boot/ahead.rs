//! Looks at two sides before a run of theirs starts: the mode their transcripts name, and whether git knows of changes.
//! Reads only. What it means is the screen's.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::transcript::permission;
use crate::ui::ahead::{Ahead, Side};

/// Bytes at the end of a transcript in which a mode is looked for: dozens of turns.
const TAIL: u64 = 512 * 1024;

/// What is seen of a side.
pub(super) fn look(side: &Side) -> Ahead {
    Ahead {
        permission: tail(Path::new(&side.path)).and_then(|tail| permission::newest(side.session.agent, &tail)),
        uncommitted: uncommitted(Path::new(&side.session.worktree)),
        session: side.session.key(),
    }
}

/// The last bytes of a file. A compressed transcript gives bytes in which nothing is found.
fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Changed and new files; `None` where there is no repository or no git. Takes no lock of the repository.
fn uncommitted(worktree: &Path) -> Option<u32> {
    let output = Command::new("git")
        .arg("-C")
        .arg(worktree)
        .args(["status", "--porcelain=v1", "--untracked-files=normal"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    u32::try_from(output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{Agent, SessionId, SessionRef};

    #[test]
    fn changes_are_counted_where_there_is_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(uncommitted(folder.path()), None);
        let git = |words: &[&str]| Command::new("git").arg("-C").arg(folder.path()).args(words).output().unwrap();
        assert!(git(&["init", "-q"]).status.success());
        assert_eq!(uncommitted(folder.path()), Some(0));
        Command::new("touch").arg(folder.path().join("new")).status().unwrap();
        assert_eq!(uncommitted(folder.path()), Some(1));
    }

    #[test]
    fn a_transcript_that_is_not_there_says_nothing() {
        let session = SessionRef {
            agent: Agent::Claude,
            worktree: "/nowhere/at/all".to_owned(),
            session_id: SessionId::from("c-1"),
        };
        let seen = look(&Side { session, path: "/nowhere/at/all.jsonl".to_owned() });
        assert_eq!((seen.permission, seen.uncommitted), (None, None));
    }
}
