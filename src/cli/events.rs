//! `trellis events`: what happened and what happens, an event a line, as JSON: from the driver as it publishes, and from the
//! files where nobody drives.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use serde_json::Value;

use super::{Failure, out, since};
use crate::boot::Ground;
use crate::call;

/// Between two looks at the files while nobody answers.
const A_MOMENT: Duration = Duration::from_millis(300);

/// `trellis events`.
#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Go on: those that come, from whoever drives, until this is ended.
    #[arg(long)]
    pub follow: bool,
    /// Those behind the event of this number, or since a time: `30m`, `2h`, `1d`, `23:10`, or a time with its date
    /// [default: all that are kept; with --follow those that come].
    #[arg(long, value_name = "N|TIME", value_parser = since_of)]
    pub since: Option<Since>,
    /// As JSON, which they are in any case.
    #[arg(long)]
    pub json: bool,
}

/// From where on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Behind the event of this number.
    Seq(u64),
    /// Since a time.
    At(Timestamp),
}

fn since_of(text: &str) -> Result<Since, String> {
    text.parse()
        .map(Since::Seq)
        .or_else(|_| since::past(text).map(Since::At))
        .map_err(|error| format!("{error}, or the number of an event"))
}

/// Prints events.
///
/// # Errors
/// The home cannot be read, or the output refuses.
pub fn events(home: Option<&Path>, args: &EventsArgs) -> Result<(), Failure> {
    match told(home, args) {
        // A reader that went away is no failure.
        Err(failure) if failure == Failure::said() => Ok(()),
        told => told,
    }
}

fn told(home: Option<&Path>, args: &EventsArgs) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let _ = super::show::home_is_there(&ground);
    let kept = ground.events();
    let newest = kept.last().map_or(0, |event| event.seq);
    let is_wanted = |seq: u64, at: Timestamp| match args.since {
        Some(Since::Seq(since)) => seq > since,
        Some(Since::At(since)) => at >= since,
        None => !args.follow,
    };
    for event in kept.iter().filter(|event| is_wanted(event.seq, event.at)) {
        out::json(event)?;
    }
    if args.follow { follow(&ground, newest) } else { Ok(()) }
}

/// Prints what comes behind an event, from whoever drives; between two drivers, from the files.
fn follow(ground: &Ground, newest: u64) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::internal(format!("can't start the runtime: {error}")))?;
    let mut last = newest;
    let mut failed = None;
    let unread = runtime.spawn_blocking(out::wait_for_no_reader);
    let follows = async {
        loop {
            let told = call::events(&ground.home, Some(last), |event| {
                last = event.get("seq").and_then(Value::as_u64).unwrap_or(last);
                failed = out::json(&event).err();
                failed.is_none()
            });
            if let Ok(true) = told.await {
                return;
            }
            // The driver has ended, or nobody drives: what it still wrote stands in the files.
            for event in ground.events().iter().filter(|event| event.seq > last) {
                failed = out::json(event).err();
                if failed.is_some() {
                    return;
                }
            }
            last = ground.events().last().map_or(last, |event| event.seq.max(last));
            tokio::time::sleep(A_MOMENT).await;
        }
    };
    runtime.block_on(async {
        tokio::select! {
            () = follows => {}
            // Whoever read this is gone: the next event would find nobody.
            _ = unread => {}
        }
    });
    // Who waits for the reader to go would wait on.
    runtime.shutdown_background();
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_that_of_an_event_and_all_else_a_time() {
        assert_eq!(since_of("12"), Ok(Since::Seq(12)));
        assert!(matches!(since_of("30m"), Ok(Since::At(_))));
        assert!(since_of("soon").unwrap_err().contains("or the number of an event"));
    }
}
