//! The step machines against hand-built conversations: traces, cases, tables and properties. No clock, no file.

mod agency;
mod cases;
mod controls;
mod follows;
mod headless;
mod law;
mod pairs;
mod plans;
mod properties;
mod runs;
mod traces;
mod traces_hangs;
mod traces_runs;
mod world;
