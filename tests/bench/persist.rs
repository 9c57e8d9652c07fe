//! One save of a record of 10 KB, beside the bare calls that bring as many bytes to the disk whole and for good.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use serde_json::json;
use trellis::driver::ports::Records as _;
use trellis::model::config::RunConfig;
use trellis::model::ids::{Agent, RecordKey, SessionId, SessionRef};
use trellis::model::pair::SCHEMA;
use trellis::model::run::RunRecord;
use trellis::paths::Home;
use trellis::store::Store;

use crate::Plan;
use crate::gauge;

const ROUNDS: usize = 200;
const BYTES: usize = 10_240;

fn record() -> RunRecord {
    let at = "2026-11-30T12:00:00Z";
    let session = |agent: Agent| SessionRef {
        agent,
        worktree: "/home/dev/shop".to_owned(),
        session_id: SessionId::new("00000000-0000-4000-8000-000000000001"),
    };
    let run = json!({
        "schema": SCHEMA, "revision": 1, "id": "run-1", "name": "shop", "created_at": at, "state": "running",
        "step": "probe", "phases_done": 0, "implementer": session(Agent::Claude), "reviewer": session(Agent::Codex),
        "config": RunConfig::default(), "after": "start", "human_mark": {}, "outbox": [], "phases": [],
    });
    let mut run: RunRecord = serde_json::from_value(run).unwrap();
    let length = |run: &RunRecord| serde_json::to_vec_pretty(run).unwrap().len();
    while length(&run) < BYTES {
        run.paused_detail.push_str("a sentence of a record ");
    }
    run
}

fn bare(folder: &Path, bytes: &[u8]) {
    let temporary = folder.join(".tmp");
    let mut file = File::create(&temporary).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    drop(file);
    fs::rename(&temporary, folder.join("bare.json")).unwrap();
    File::open(folder).unwrap().sync_all().unwrap();
}

pub fn run(plan: &Plan) {
    fs::create_dir_all(&plan.data).unwrap();
    let folder = tempfile::tempdir_in(&plan.data).unwrap();
    let home = Home::at(folder.path().join("home"));
    fs::create_dir_all(home.root()).unwrap();
    let mut store = Store::new(home.clone());
    let mut run = record();
    store.save_run(&run).unwrap();
    let path = home.record(&RecordKey::Run(run.id.clone())).unwrap();
    let bytes = fs::read(&path).unwrap();
    let save = || {
        run.revision += 1;
        store.save_run(&run).unwrap();
    };
    let (saved, limit) = gauge::medians(ROUNDS, save, || bare(folder.path(), &bytes));
    gauge::beside(&format!("a record of {} bytes saved | the bare calls", bytes.len()), saved, limit, 1.15);
}
