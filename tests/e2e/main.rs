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
    clippy::needless_pass_by_value,
    clippy::type_complexity,
    clippy::format_collect,
    clippy::semicolon_if_nothing_returned,
    reason = "a test fails by panicking, may look at the real clock and files, and is read once, not called by others"
)]

mod banners;
mod dashboard;
mod demo;
mod doctor;
mod faults;
mod headless;
mod hooks;
mod keys;
mod kills;
mod launch;
mod leaving;
mod load;
mod odd;
mod panes;
mod pictures;
mod printed;
mod real_agents;
mod real_agents_headless;
mod real_launch;
mod saves;
mod scenes;
mod sealed;
mod served;
mod shapes;
mod signals;
mod stuck;
mod telling;
mod terminal;
mod terminals;
mod uninstall;
mod upgrade;
mod viewers;
mod written;
