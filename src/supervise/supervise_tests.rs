//! Supervision: panics of tasks and threads, the screen's thread, tokens.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and look at the clock; a stub has the shape it stands for"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{EXIT_INTERNAL, Signal, StopReason, Supervisor};

const PATIENCE: Duration = Duration::from_secs(10);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn reason(supervisor: &Supervisor) -> StopReason {
    tokio::time::timeout(PATIENCE, supervisor.stopped()).await.unwrap()
}

#[test]
fn a_panic_in_a_task_is_stored_and_stops_everything() {
    runtime().block_on(async {
        let supervisor = Supervisor::new();
        let mut token = supervisor.token();
        supervisor.spawn("patient", async move {
            token.wait().await;
        });
        supervisor.spawn("clumsy", async { panic!("fell over\nat length") });
        let stop = reason(&supervisor).await;
        assert_eq!(stop, StopReason::Panicked { task: "clumsy".into(), message: "fell over\nat length".into() });
        assert_eq!(stop.exit_code(), EXIT_INTERNAL);
        let line = stop.line(Some("/home/x/log")).unwrap();
        assert!(line.contains("clumsy") && line.contains("/home/x/log") && !line.contains('\n'), "{line}");
        assert!(supervisor.finished(PATIENCE).await, "the other task heard of it");
    });
}

#[test]
fn a_panic_in_a_thread_or_a_blocking_function_stops_everything() {
    runtime().block_on(async {
        let supervisor = Supervisor::new();
        supervisor.thread("thready", || panic!("no")).unwrap();
        assert_eq!(reason(&supervisor).await, StopReason::Panicked { task: "thready".into(), message: "no".into() });

        let other = Supervisor::new();
        assert_eq!(other.blocking("sum", || 40 + 2).await, Some(42));
        assert_eq!(other.blocking("slow", || -> u8 { panic!("{}", 7) }).await, None);
        assert_eq!(reason(&other).await, StopReason::Panicked { task: "slow".into(), message: "7".into() });
        assert!(other.finished(PATIENCE).await);
    });
}

#[test]
fn the_first_reason_counts() {
    let supervisor = Supervisor::new();
    assert_eq!(supervisor.reason(), None);
    assert!(!supervisor.token().requested());
    supervisor.stop(StopReason::Signal(Signal::HangUp));
    supervisor.shutdown();
    assert_eq!(supervisor.reason(), Some(StopReason::Signal(Signal::HangUp)));
    assert!(supervisor.token().requested());
    assert_eq!(supervisor.reason().unwrap().exit_code(), 0);
    assert_eq!(supervisor.reason().unwrap().line(None), None);
}

#[test]
fn a_panic_of_the_screen_restores_the_terminal_and_says_why() {
    let supervisor = Supervisor::new();
    let restored = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&restored);
    let restore: super::Restore = Arc::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(supervisor.on_ui_thread(&restore, || 5), Ok(5));
    assert_eq!(restored.load(Ordering::SeqCst), 0, "a normal end leaves it to the screen");
    let stop = supervisor.on_ui_thread(&restore, || -> u8 { panic!("no room") }).unwrap_err();
    assert_eq!(stop, StopReason::Panicked { task: "the screen".into(), message: "no room".into() });
    assert!(restored.load(Ordering::SeqCst) >= 1);
}

#[test]
fn finished_gives_up_after_its_patience() {
    runtime().block_on(async {
        let supervisor = Supervisor::new();
        let mut token = supervisor.token();
        supervisor.spawn("patient", async move {
            token.wait().await;
        });
        assert!(!supervisor.finished(Duration::from_millis(1)).await);
        supervisor.shutdown();
        assert!(supervisor.finished(PATIENCE).await);
    });
}

/// The hook and the signal handlers belong to the whole process, so these play in one of their own: this test binary
/// again, with the scene in its environment.
const SCENE: &str = "TRELLIS_TEST_SUPERVISE";

struct Played {
    code: Option<i32>,
    out: String,
    err: String,
}

fn play(scene: &str, meanwhile: impl FnOnce(&mut std::process::Child)) -> Played {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["supervise::tests::scene", "--exact", "--nocapture", "--test-threads=1"])
        .env(SCENE, scene)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    meanwhile(&mut child);
    let output = child.wait_with_output().unwrap();
    Played {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Does nothing unless [`play`] runs it.
#[test]
fn scene() {
    let Some(scene) = std::env::var_os(SCENE) else { return };
    let supervisor = Supervisor::new();
    supervisor.install_panic_hook();
    let restore: super::Restore = Arc::new(|| println!("RESTORED"));
    let inside = supervisor.clone();
    let runtime = runtime();
    let shown = supervisor.on_ui_thread(&restore, || match scene.to_str().unwrap() {
        "task" => runtime.block_on(async {
            inside.spawn("driver", async { panic!("task fell") });
            inside.stopped().await
        }),
        "foreign" => runtime.block_on(async {
            std::thread::Builder::new().name("foreign".into()).spawn(|| panic!("thread fell")).unwrap();
            inside.stopped().await
        }),
        "screen" => panic!("screen fell"),
        "signals" => runtime.block_on(async {
            inside.stop_on_signals().unwrap();
            println!("READY");
            inside.stopped().await
        }),
        other => panic!("no scene {other}"),
    });
    let stop = shown.unwrap_or_else(|stop| stop);
    println!("{}", stop.line(Some("the log")).unwrap_or_else(|| format!("{stop:?}")));
    std::process::exit(stop.exit_code().into());
}

#[test]
fn a_panic_beside_the_screen_leaves_the_terminal_alone() {
    for (scene, task, said) in [("task", "driver", "task fell"), ("foreign", "foreign", "thread fell")] {
        let played = play(scene, |_| {});
        assert_eq!(played.code, Some(70), "{}", played.err);
        assert!(!played.out.contains("RESTORED"), "{}", played.out);
        assert!(!played.err.contains("panicked"), "{}", played.err);
        assert!(played.out.contains(&format!("internal error in {task}: {said} (")), "{}", played.out);
        assert!(played.out.contains("supervise_tests.rs:") && played.out.contains("see the log"), "{}", played.out);
    }
}

#[test]
fn a_panic_of_the_screen_restores_before_it_speaks() {
    let played = play("screen", |_| {});
    assert_eq!(played.code, Some(70), "{}", played.err);
    assert!(!played.err.contains("panicked"), "{}", played.err);
    let restored = played.out.find("RESTORED").unwrap();
    assert!(restored < played.out.find("internal error in the screen: screen fell (").unwrap(), "{}", played.out);
}

#[test]
fn signals_stop_in_order() {
    use rustix::process::{Pid, Signal as Raw, kill_process};
    for (raw, name) in [(Raw::INT, "Interrupt"), (Raw::TERM, "Terminate"), (Raw::HUP, "HangUp")] {
        let played = play("signals", |child| {
            let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
            assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("READY")));
            kill_process(Pid::from_child(child), raw).unwrap();
            assert!(lines.map_while(Result::ok).any(|line| line == format!("Signal({name})")), "{name}");
        });
        assert_eq!(played.code, Some(0), "{}", played.err);
    }
}
