//! Looks at two sides before a run of theirs starts: the mode their transcripts name, the rules of their settings, and
//! whether git knows of changes.
//! Reads only. What it means is the screen's.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::agent::git;
use crate::model::ids::Agent;
use crate::model::session::Permission;
use crate::small_file;
use crate::transcript::permission;
use crate::ui::ahead::{Ahead, Side};

/// Bytes at the end of a transcript in which a mode is looked for: dozens of turns.
const TAIL: u64 = 512 * 1024;

/// What is seen of a side.
pub(super) fn look(side: &Side) -> Ahead {
    Ahead {
        permission: permission_of(side),
        uncommitted: git::uncommitted(&side.session.worktree),
        session: side.session.key(),
    }
}

/// The mode its transcript names, with what Claude's settings of the person and of the work tree allow.
fn permission_of(side: &Side) -> Option<Permission> {
    let transcript = Path::new(&side.path);
    let permission = permission::newest(side.session.agent, &tail(transcript)?)?;
    if side.session.agent != Agent::Claude {
        return Some(permission);
    }
    // A transcript lies in `projects/FOLDER/` of the agent's own folder.
    let own = transcript.ancestors().nth(3).map(|home| home.join("settings.json"));
    let project = Path::new(&side.session.worktree).join(".claude");
    let files = own.into_iter().chain(["settings.json", "settings.local.json"].map(|name| project.join(name)));
    let settings: Vec<Vec<u8>> = files.filter_map(|file| small_file::bytes(&file).ok()).collect();
    Some(permission.with_rules(&settings))
}

/// The last bytes of a file. A compressed transcript gives bytes in which nothing is found.
fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file = small_file::opened(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
