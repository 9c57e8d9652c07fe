//! Viewers of a driver in another process: what it shows is told to them whole and at each change, and their orders are
//! answered as the driver answers.

use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::sync::mpsc;
use trellis::call::{self, CallError};
use trellis::model::command::{Command, Control, RefusalKind, Reply};
use trellis::model::ids::RecordKey;
use trellis::paths::Home;
use trellis::projection::Projection;
use trellis::store::Store;

use super::{served, still};
use crate::driver::world::{Talks, World};
use crate::store::making::run;

fn one_run(store: &mut Store, _: &mut Talks) {
    use trellis::driver::ports::Records as _;
    store.save_run(&run("r1")).unwrap();
}

#[test]
fn a_viewer_is_told_what_the_driver_shows_and_its_orders_are_answered_when_they_are_saved() {
    served(still(), one_run, async |served| {
        let (tell, mut told) = mpsc::unbounded_channel::<Projection>();
        let home = served.home.clone();
        let follows = tokio::spawn(async move { call::projections(&home, |shown| tell.send(shown).is_ok()).await });
        let first = told.recv().await.unwrap();
        let shown = served.handle.projection();
        assert_eq!(first, Projection { shown: None, ..(*shown).clone() }, "nothing is lost on the way");
        let target = RecordKey::Run("r1".into());
        let seen = first.runs.iter().find(|view| view.key == target).unwrap().revision;
        let rename = |expect, name: &str| Command::Control {
            target: target.clone(),
            expect,
            control: Control::Rename { name: name.to_owned() },
        };
        let skip = |expect| Command::Control { target: target.clone(), expect, control: Control::Skip };
        let done = call::order(&served.home, &rename(Some(seen), "the till")).await.unwrap();
        assert!(matches!(done, Reply::Done { .. }), "{done:?}");
        let is_there = |shown: &Projection| shown.runs.iter().any(|view| view.given_name == "the till");
        while !is_there(&told.recv().await.unwrap()) {}
        // What was seen has moved: refused in the driver's own words.
        let Reply::Refused(refusal) = call::order(&served.home, &skip(Some(seen))).await.unwrap() else {
            panic!("an order for another state was taken")
        };
        let Reply::Refused(own) = served.handle.send(skip(Some(seen))).await else { panic!("taken") };
        assert_eq!((refusal.kind, &refusal.message), (RefusalKind::Moved, &own.message));
        // A viewer that has seen enough is missed by nobody.
        drop(told);
        assert!(matches!(call::order(&served.home, &rename(None, "another")).await, Ok(Reply::Done { .. })));
        follows.await.unwrap().unwrap();
    });
}

#[test]
fn where_nobody_listens_a_viewer_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let told = runtime.block_on(call::projections(&home, |_: Projection| true));
    assert!(matches!(told, Err(CallError::Nobody)), "{told:?}");
}

/// A suspended process has its socket, and says nothing on it; when very many have come, nobody is even taken in.
#[test]
fn whoever_says_nothing_is_told_from_whoever_takes_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    let told = || runtime.block_on(call::order(&home, &Command::LookNow));
    let follows = || runtime.block_on(call::projections(&home, |_: Projection| true));
    assert!(matches!(told(), Err(CallError::Silent)));
    assert!(matches!(follows(), Err(CallError::Silent)));
    let mut queue = Vec::new();
    runtime.block_on(async {
        while let Ok(line) = tokio::net::UnixStream::connect(home.socket()).await {
            queue.push(line);
        }
    });
    assert!(matches!(told(), Err(CallError::Silent)), "{} wait in the queue", queue.len());
    drop(listener);
    assert!(matches!(told(), Err(CallError::Nobody)));
}

/// What a driver shows goes to another process as text and comes back as it was, with runs in every part of their life.
#[test]
fn what_is_shown_is_the_same_on_the_other_side_of_the_socket() {
    use trellis::model::config::FirstPhase;
    let mut world = World::new();
    world.new_run(FirstPhase::Ask);
    for _ in 0..30 {
        let shown = world.core.projection(world.now);
        let shown = Projection { shown: None, ..Arc::unwrap_or_clone(shown) };
        let text = serde_json::to_string(&shown).unwrap();
        assert_eq!(serde_json::from_str::<Projection>(&text).unwrap(), shown);
        world.step();
    }
}
