//! The driver: step → save → act → publish, in one place.
//! [`core`] is the whole of it without a clock, a thread or a channel; [`task`] gives it those. No rule of a loop lives here.

pub mod core;
pub mod handle;
pub mod ports;
pub mod task;
pub mod viewer;
pub mod why;
