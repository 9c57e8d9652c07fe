//! The nouns: data that every other part speaks of, in the words of the loop's specification.
//! No behaviour beyond construction and look-up, no clock, no file, no terminal.
//! The records here are both what the machines step and what the store writes: one shape, so memory and disk cannot differ.

pub mod command;
pub mod config;
pub mod conversation;
pub mod event;
pub mod growing;
pub mod harmless;
pub mod hook;
pub mod ids;
pub mod launch;
pub mod outbox;
pub mod pair;
pub mod positions;
pub mod reach;
pub mod run;
pub mod session;
pub mod tempo;
pub mod text;
pub mod tree;
