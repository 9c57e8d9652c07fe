//! Supervision: panics of tasks and threads, the screen's thread, tokens.

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
        let line = stop.line("/home/x/log").unwrap();
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
    assert_eq!(supervisor.reason().unwrap().line("log"), None);
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
