//! The built program in a real terminal (a tmux server of its own) and as a process that is killed.
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

mod demo;
mod kills;
mod real_agents;
mod scenes;
