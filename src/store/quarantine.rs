//! What lies in the quarantine: told for as long as it lies there, so that nothing is lost sight of, and no pair of a run
//! that was put away is taken for an orphan. Nothing is moved here.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::files::Files;
use super::load::{self, AGAIN};
use super::schema::{Decoded, Kept, decode};
use crate::driver::ports::{Cause, Loaded, ReadOnly};
use crate::model::ids::{PairId, RecordKey, RunId, is_safe_name};
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;
use crate::paths::Home;

/// Adds the records that were put away and have no successor. What another program wrote over ours has one: ours.
pub(super) fn tell<F: Files>(files: &F, home: &Home, loaded: &mut Loaded) {
    let dir = home.quarantine();
    // Of several of one name the newest.
    let mut newest: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for name in files.list(&dir).unwrap_or_default() {
        let Some((stem, n)) = parts(&name) else { continue };
        let last = newest.entry(stem.to_owned()).or_default();
        if last.1.is_empty() || n > last.0 {
            *last = (n, name.clone());
        }
    }
    for (stem, (_, name)) in newest {
        if is_known(&stem, loaded) || load::session_of(&stem).is_some() {
            continue;
        }
        loaded.read_only.extend(record(files, home, &dir.join(name), &stem, loaded));
    }
}

/// `r1.json` and `r1.json.2`: whose file it was, and which of several.
fn parts(name: &str) -> Option<(&str, u32)> {
    let (stem, rest) = name.rsplit_once(".json")?;
    let n = if rest.is_empty() { 0 } else { rest.strip_prefix('.')?.parse().ok()? };
    (is_safe_name(stem) && stem.rsplit_once('.').is_none_or(|(_, last)| last != "ours")).then_some((stem, n))
}

fn is_known(stem: &str, loaded: &Loaded) -> bool {
    loaded.runs.iter().any(|run| run.id.as_str() == stem)
        || loaded.pairs.iter().any(|pair| pair.id.as_str() == stem)
        || loaded.read_only.iter().any(|unread| unread.key.as_str() == stem)
}

fn record<F: Files>(files: &F, home: &Home, path: &Path, stem: &str, loaded: &Loaded) -> Option<ReadOnly> {
    let (bytes, mark) = match files.read(path, 0) {
        Ok((bytes, mark)) => (bytes, Some(mark)),
        Err(_) => (Vec::new(), files.stat(path).ok().flatten()),
    };
    let is_pair = is_pair(home, files, stem, &bytes);
    let why = if is_pair { broken::<PairRecord>(stem, &bytes) } else { broken::<RunRecord>(stem, &bytes) };
    let (key, from) = if is_pair {
        (RecordKey::Pair(PairId::new(stem)), home.pairs())
    } else {
        (RecordKey::Run(RunId::new(stem)), home.runs())
    };
    let value = serde_json::from_slice(&bytes).ok().filter(Value::is_object).unwrap_or_default();
    let (here, back) = (load::below(home, path), load::below(home, &from.join(format!("{stem}.json"))));
    let remedy = format!("mend {here} and move it back to {back}, or remove it, then {AGAIN}");
    let written_at = mark.and_then(load::written_at);
    let cause = Cause::Damaged;
    let whole = ReadOnly { key, cause, why: String::new(), remedy, written_at, value };
    match why {
        Some(why) => Some(ReadOnly { why: load::brief(&why), ..whole }),
        // A whole record in here was put away for another one, or was mended. Its pairs must still not be orphans.
        None if loaded.pairs.iter().any(|pair| pair.is_active() && whole.owns(&pair.id)) => {
            let remedy = format!("move {here} back to {back}, then {AGAIN}");
            Some(ReadOnly { why: "it lies in the quarantine".to_owned(), remedy, ..whole })
        }
        None => None,
    }
}

/// Why the bytes are no record; `None` when they are one.
fn broken<R: Kept>(stem: &str, bytes: &[u8]) -> Option<String> {
    match decode::<R>(stem, bytes) {
        Decoded::Broken(why) => Some(why),
        Decoded::Ours(..) | Decoded::Foreign(..) => None,
    }
}

/// Which kind it was, by what it still says, by its texts, and by how a run names its pairs.
fn is_pair<F: Files>(home: &Home, files: &F, stem: &str, bytes: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let has_texts = |dir: std::path::PathBuf| matches!(files.stat(&dir.join(stem)), Ok(Some(_)));
    let number = stem.rsplit_once("-p").and_then(|(_, rest)| rest.split('-').next());
    let is_named_so = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
    value.get("kickoff").is_some() || is_named_so || (has_texts(home.pairs()) && !has_texts(home.runs()))
}
