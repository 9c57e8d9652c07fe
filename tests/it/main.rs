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
    clippy::needless_pass_by_value,
    clippy::type_complexity,
    clippy::format_collect,
    clippy::semicolon_if_nothing_returned,
    reason = "a test fails by panicking, may look at the real clock and files, and is read once, not called by others"
)]

mod built;
mod dependencies;
mod driver;
mod files;
mod headless;
mod house;
mod launch;
mod machines;
mod manual;
mod real_run;
mod screens;
mod scripted;
mod security;
mod serve;
mod sim;
mod store;
mod tmux;
mod transcripts;
mod verdicts;
mod watch;
