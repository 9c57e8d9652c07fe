//! The process that drives, from a dashboard beside it: what it shows is followed, what a person orders is given there.
//! What either means is the driver's and the viewer's.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::call;
use crate::driver::viewer::{Heard, Theirs};
use crate::model::command::{Command, Refusal, RefusalKind, Reply};
use crate::paths::Home;
use crate::supervise::Supervisor;

/// Between two tries to reach it.
const AGAIN: Duration = Duration::from_millis(250);
/// How long its answer to an order is waited for: longer than its own server waits for the driver.
const ANSWER: Duration = Duration::from_secs(50);

/// Follows whoever drives, over every change of driver, until nobody listens here any more.
pub(super) fn follow(home: &Home, supervisor: &Supervisor) -> Theirs {
    let (tell, told) = watch::channel(Heard::Nothing);
    let home = home.clone();
    let mut shutdown = supervisor.token();
    supervisor.spawn("follow", async move {
        let follows = async {
            loop {
                let ended = call::projections(&home, |shown| tell.send(Heard::Shows(Arc::new(shown))).is_ok()).await;
                if let Err(call::CallError::Broken(why)) = &ended {
                    tracing::debug!("the driver is not followed: {why}");
                }
                let heard = if matches!(ended, Err(call::CallError::Silent)) { Heard::Silence } else { Heard::Nothing };
                tell.send_if_modified(|last| std::mem::replace(last, heard.clone()) != heard);
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::select! {
            never = follows => never,
            () = tell.closed() => {}
            _ = shutdown.wait() => {}
        }
    });
    told
}

/// Gives an order there. The receiver gets the reply, or why there is none.
pub(super) fn order(home: &Home, command: Command, supervisor: &Supervisor) -> oneshot::Receiver<Reply> {
    let (answer, answered) = oneshot::channel();
    let home = home.clone();
    supervisor.spawn("order", async move {
        let reply = match tokio::time::timeout(ANSWER, call::order(&home, &command)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => not_there(error.to_string()),
            Err(_) => not_there(format!(
                "the driver did not answer within {} s; it may have taken the order",
                ANSWER.as_secs()
            )),
        };
        // A screen that is gone needs no reply.
        let _ = answer.send(reply);
    });
    answered
}

fn not_there(message: String) -> Reply {
    Reply::Refused(Refusal { kind: RefusalKind::NotDriver, message, field: None })
}
