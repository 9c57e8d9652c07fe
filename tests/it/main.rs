//! Integration tests that need no terminal: one binary, one module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::too_many_lines,
    reason = "a test fails by panicking and may look at the real clock and files"
)]

mod driver;
mod files;
mod house;
mod machines;
mod real_run;
mod screens;
mod scripted;
mod sim;
mod store;
mod tmux;
mod transcripts;
mod verdicts;
mod watch;
