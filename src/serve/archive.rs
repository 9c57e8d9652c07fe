//! What the server needs of the disk beside the projection: whole records, past events, transcripts. A port; the real one
//! is put together in `boot`. Nothing here reads a file.

use std::sync::Arc;

use crate::driver::ports::{Loaded, Past};
use crate::model::conversation::Conversation;
use crate::model::ids::{RecordKey, SessionRef};

/// The disk, read only. Every call may block; each is made beside the runtime's own threads.
pub trait Archive: Send + Sync + 'static {
    /// Every record as it was last saved.
    fn records(&self) -> Arc<Loaded>;
    /// One record as it was last saved; nothing else is read.
    fn record(&self, key: &RecordKey) -> Loaded;
    /// What was published after an event, oldest first, at most this many.
    fn events_after(&self, seq: u64, most: usize) -> Past;
    /// A session's transcript; `None`: it has none yet.
    ///
    /// # Errors
    /// Why it cannot be read, in a sentence.
    fn transcript(&self, session: &SessionRef) -> Result<Option<Arc<Conversation>>, String>;
}
