//! Frames of 200 × 60 cells in memory: a change of one line and its bytes, beside an empty draw.

use crate::Plan;

pub fn run(_: &Plan) {}
