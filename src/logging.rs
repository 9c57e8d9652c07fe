//! The program's own log, `logs/trellis.log`: for finding faults, never for the loop's state (that is the log of decisions).
//! Nothing goes to the terminal, which may be a screen.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::clock;
use crate::paths::{Environment, Home};
use crate::store::files::{Files, OsFiles};
use crate::store::{ROTATE_AT, old_of};

/// What is logged when `TRELLIS_LOG` says nothing.
const DEFAULT_FILTER: &str = "warn,trellis=info";

/// Begins to log into the home. Called once, by the program's entry; a second call changes nothing.
pub fn start(home: &Home, environment: &Environment) {
    let filter = environment.log_filter.as_deref().unwrap_or(DEFAULT_FILTER);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_timer(WallClock)
        .with_writer(LogFile::new(home.log()))
        .finish();
    // Fails only when there is a log already.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// The time in front of each line.
struct WallClock;

impl FormatTime for WallClock {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        write!(writer, "{:.3}", clock::now())
    }
}

/// A file that is opened for each line: several processes may log into one home, and any of them may rotate it.
#[derive(Clone, Debug)]
pub struct LogFile {
    path: PathBuf,
}

impl LogFile {
    /// A log at a path. Its folder is made with the first line, in a home that is there.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Appends, and rotates a file that has become too long; one old file is kept.
    ///
    /// # Errors
    /// The system's.
    pub fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        OsFiles.make_dir(self.path.parent().unwrap_or(Path::new("/")))?;
        let length = OsFiles.stat(&self.path)?.map_or(0, |mark| mark.length);
        if length > 0 && length.saturating_add(bytes.len() as u64) > ROTATE_AT {
            OsFiles.rename(&self.path, &old_of(&self.path))?;
        }
        let mut file = OsFiles.append(&self.path)?;
        OsFiles.write(&mut file, bytes)
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A log that cannot be written must not disturb what it tells of.
        Ok(self.append(bytes).unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
