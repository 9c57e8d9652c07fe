//! The program's own log under `logs/`: for finding faults, never for the loop's state.
