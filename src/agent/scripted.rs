//! Agents that play a script: they write transcripts in the real formats into a home of their own, so that watching,
//! reading, judging, sending and storing run for real without an account. Only demos, tests and pictures use them.
//! No rule of the loop lives here, and nothing here touches a session that a script did not make.

pub mod dialect;
pub mod home;
mod inbox;
pub mod plan;
pub mod player;
pub mod scenes;
pub mod script;
pub mod world;
