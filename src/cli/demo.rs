//! `trellis demo`: scripted agents in a home of their own, with the dashboard or without it.
//! The script and its play are `agent::scripted`; the loop is the same as for real agents.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::drive::{self, End, Listener, is_stop_of};
use super::{DemoArgs, Failure, out, start};
use crate::agent::scripted::home::{self, Stage, Wanted};
use crate::agent::scripted::scenes::{SCENES, Scene};
use crate::boot::{Engine, Ground, How, Place, Seat, background};
use crate::clock;
use crate::driver::ports::Loaded;
use crate::model::command::NewRun;
use crate::model::event::{Event, EventKind};
use crate::model::ids::Role;
use crate::model::run::{RunRecord, RunStop};
use crate::paths::{Environment, Home};
use crate::small_file;
use crate::store::lock::Kind;
use crate::ui::parting;

/// Plays.
///
/// # Errors
/// The home is not a demo's, another process plays it, or, without a dashboard, the run did not complete.
pub fn demo(home: Option<&Path>, args: &DemoArgs) -> Result<(), Failure> {
    if args.list {
        return list(args.json);
    }
    let script = Chosen::of(args)?;
    if !args.headless {
        drive::need_terminal()?;
    }
    let named = home.map(Path::to_owned).or_else(demo_home_around);
    let is_own = named.is_none();
    let root = named.map_or_else(own_folder, Ok)?;
    // Before the lock, which is a file of the home too: a folder of somebody else's gets none.
    home::may_be_one(&root).map_err(Failure::refused)?;
    let lock = match Place::take(&Home::at(&root), Kind::Foreground)? {
        Place::Ours(lock) => lock,
        // Whoever drives this home also plays it.
        Place::Theirs(driver) if args.headless => return Err(driver.refusal()),
        Place::Theirs(_) => return Engine::watch(Ground::find(Some(&root))?, args.speed)?.dashboard(),
    };
    let stage = prepare(&root, script.as_ref())?;
    let ground = Ground::find(Some(&root))?;
    let run = newest_run(&ground.records(), &stage);
    if let Some(run) = run.as_ref().filter(|run| args.headless && !run.is_active()) {
        return print_stop_again(&ground, run);
    }
    let engine = Engine::start_in(ground, lock, How::Drive, args.speed)?;
    if args.headless {
        // At once: a process that is killed says nothing at its end.
        tell_home(is_own, &root);
        return headless(engine, &stage, run);
    }
    let ended = watched(engine, &stage, run.as_ref());
    tell_home(is_own, &root);
    ended
}

/// Where a demo lives that made its own folder. It stays: the run may not have ended, and a person may want to look.
fn tell_home(is_own: bool, root: &Path) {
    if is_own {
        let home = Home::at(root);
        let (back, gone) = (home.command(""), home.command("uninstall --yes"));
        let steps = match background::driver(&home) {
            // How to come back to it, and how to end it, was said.
            Some(_) => vec![("When it has ended, to remove what the demo made:", &*gone)],
            None => vec![("What the demo made stays. To go on with it:", &*back), ("To remove it:", &*gone)],
        };
        for line in parting::next_steps(&steps, out::columns(std::io::stderr())) {
            out::note(&line);
        }
    }
}

fn list(json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for scene in SCENES {
        let script = scene.script().map_err(Failure::internal)?;
        if json {
            rows.push(serde_json::json!({"scene": scene.name, "about": script.about}));
        } else {
            out::line(&format!("{:<14}{}", scene.name, script.about))?;
        }
    }
    if json { out::json(&rows) } else { Ok(()) }
}

/// The script that was asked for.
struct Chosen {
    name: String,
    text: String,
}

impl Chosen {
    fn of(args: &DemoArgs) -> Result<Option<Self>, Failure> {
        if let Some(name) = &args.scene {
            let scene = Scene::named(name).map_err(Failure::usage)?;
            return Ok(Some(Self { name: scene.name.to_owned(), text: scene.text.to_owned() }));
        }
        let Some(file) = &args.script else { return Ok(None) };
        let text = small_file::text(file)
            .map_err(|error| Failure::refused(format!("can't read {}: {error}", file.display())))?;
        Ok(Some(Self { name: file.display().to_string(), text }))
    }
}

fn prepare(root: &Path, script: Option<&Chosen>) -> Result<Stage, Failure> {
    let wanted = script.map(|chosen| Wanted { name: &chosen.name, text: &chosen.text });
    home::prepare(root, wanted, clock::now()).map_err(Failure::refused)
}

/// The home of the environment, if a demo lives there already. Any other one is the person's, or is to be: it is left alone.
fn demo_home_around() -> Option<PathBuf> {
    let named = Environment::read().trellis_home?;
    home::is_one(&named).then_some(named)
}

/// A folder of its own: a demo never lives in the person's real home.
fn own_folder() -> Result<PathBuf, Failure> {
    let for_the_person_alone = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix(home::OWN_FOLDER).permissions(for_the_person_alone).tempdir();
    folder
        .map(tempfile::TempDir::keep)
        .map_err(|error| Failure::refused(format!("can't make a folder for the demo ({error}); name one with --home")))
}

/// The newest run of the pair that plays.
fn newest_run(loaded: &Loaded, stage: &Stage) -> Option<RunRecord> {
    let implementer = stage.session(Role::Implementer)?.key();
    let mut runs: Vec<&RunRecord> = loaded.runs.iter().filter(|run| run.implementer.key() == implementer).collect();
    runs.sort_by(|a, b| (a.created_at, a.id.as_str()).cmp(&(b.created_at, b.id.as_str())));
    runs.last().map(|run| (*run).clone())
}

/// What the run of a script begins with.
fn order(stage: &Stage) -> Result<NewRun, Failure> {
    let side = |role| stage.session(role).ok_or_else(|| Failure::internal("the demo's home names no such side"));
    // Its waits are as long as they are written: whoever drives divides them by the speed.
    let config = stage.script.run.clone();
    Ok(NewRun { implementer: side(Role::Implementer)?, reviewer: side(Role::Reviewer)?, config })
}

fn headless(mut engine: Engine, stage: &Stage, run: Option<RunRecord>) -> Result<(), Failure> {
    engine.tell(Seat::Plain);
    let mut listener = Listener::of(&engine);
    let order = order(stage)?;
    let ended = engine.block_on(async {
        let run = match run {
            Some(run) => run.id,
            None => start::create(&engine, order).await?.0,
        };
        engine.let_person_act();
        let end = listener.follow(&engine, &run).await?;
        Ok((run, end))
    });
    listener.end(engine, ended)
}

fn watched(engine: Engine, stage: &Stage, run: Option<&RunRecord>) -> Result<(), Failure> {
    if run.is_none() {
        let order = order(stage)?;
        engine.block_on(async { start::create(&engine, order).await.map(|_| ()) })?;
    }
    engine.let_person_act();
    engine.dashboard()
}

/// The run has stopped before: its event once more, and the same end.
fn print_stop_again(ground: &Ground, run: &RunRecord) -> Result<(), Failure> {
    let events = ground.events();
    let told = events.into_iter().rev().find(|event| is_stop_of(event, &run.id));
    // A kill between the save and the event leaves none: the record says the same.
    let event = told.unwrap_or_else(|| Event {
        seq: 0,
        at: run.stopped_at.unwrap_or(run.created_at),
        kind: EventKind::ChecklistStopped,
        run_id: Some(run.id.clone()),
        pair_id: None,
        session_id: None,
        reason: run.stop_reason.map(|reason| RunStop::as_str(reason).to_owned()),
        revision: Some(run.revision),
    });
    out::json(&event)?;
    End::Stopped(run.stop_reason).outcome(&run.id)
}
