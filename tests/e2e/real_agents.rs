//! The real Claude Code and Codex against scripted models on loopback: fresh homes, a tmux server of the test's own, nothing
//! of the person's. Red only for a broken promise of trellis: what fails outside (no npm, no registry, a program that does
//! not come up) is a skip with a printed reason.
//!
//! `TRELLIS_REAL_AGENTS=1` runs a small part, `TRELLIS_REAL_AGENTS=all` the whole matrix:
//! `TRELLIS_REAL_AGENTS=all cargo test --test e2e real_ -- --nocapture`. Also read: `TRELLIS_NPM` (a folder where
//! `npm install --prefix` put both programs), `TRELLIS_PROGRAM` (another trellis than the one just built),
//! `TRELLIS_REPEATS` (how often each pair completes its checklist, 1), `TRELLIS_DIALOGS` (how many relays meet an open
//! dialog, 2), `TRELLIS_REAL_KILLS` (how often trellis is killed, 2) and `TRELLIS_REAL_SEED` (of the instants). One pair runs at a time.

pub mod install;
pub mod rig;

mod beside;
mod by_hand;
pub mod cases;
mod dialogs;
mod hooks;
mod killed;
pub mod pairs;
pub mod person;
pub mod port;
mod seen;
mod times;
mod transports;
