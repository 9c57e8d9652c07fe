//! `trellis dump`: one frame of a screen as text or as a picture, without a terminal and without driving.
//! Drawing is the screens'.

use std::path::Path;

use super::{DumpArgs, Failure, ScreenArg, out};
use crate::boot::{Engine, Ground};
use crate::model::tempo::Tempo;
use crate::ui;

/// Prints a frame: as text at most H lines of at most W cells, no escape sequence; or the same as an SVG picture.
///
/// # Errors
/// There is no such run, or the home cannot be read.
pub fn dump(home: Option<&Path>, args: &DumpArgs) -> Result<(), Failure> {
    let engine = Engine::watch(Ground::find(home)?, Tempo::REAL)?;
    let screen = match args.screen {
        ScreenArg::Runs => ui::Still::Runs,
        ScreenArg::Run => ui::Still::Run(None),
        ScreenArg::Sessions => ui::Still::Sessions,
        ScreenArg::Log => ui::Still::Log,
        ScreenArg::Help => ui::Still::Help,
    };
    let paper = if args.svg { ui::Paper::Picture } else { ui::Paper::Text };
    let frame = engine.frame(paper, screen, &args.keys, args.size, args.run.as_deref());
    let finished = engine.finish();
    out::text(&frame?)?;
    finished
}
