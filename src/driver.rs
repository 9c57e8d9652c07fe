//! The driver: step → save → act → publish, in one place.

pub mod ports;
