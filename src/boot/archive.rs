//! The disk as the socket's server reads it: records, past events, transcripts. Nothing is written or decided here.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::Ground;
use crate::clock;
use crate::driver::ports::{Loaded, Past, Transcripts as _};
use crate::driver::viewer::Shelf as _;
use crate::machine::TranscriptFact;
use crate::model::conversation::Conversation;
use crate::model::ids::{RecordKey, SessionRef};
use crate::paths::Home;
use crate::serve::archive::Archive;
use crate::store::reader::Reader;
use crate::supervise::Supervisor;
use crate::watch::{self, Roots, Watch};

/// A home's disk. What was read once is read again only as far as it changed.
pub(super) struct Disk {
    home: Home,
    roots: Roots,
    records: Mutex<(Reader, Arc<Loaded>)>,
    /// Made with the first transcript that is asked for.
    transcripts: Mutex<Option<Transcripts>>,
}

struct Transcripts {
    watch: Watch,
    /// Nobody waits for hints: each question looks for itself.
    _woken: mpsc::Receiver<()>,
}

impl Disk {
    pub(super) fn of(ground: &Ground) -> Self {
        Self {
            home: ground.home.clone(),
            roots: ground.watched_roots(),
            records: Mutex::new((Reader::new(ground.home.clone()), Arc::default())),
            transcripts: Mutex::new(None),
        }
    }
}

impl Archive for Disk {
    fn records(&self) -> Arc<Loaded> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = records.0.read() {
            records.1 = Arc::new(loaded);
        }
        Arc::clone(&records.1)
    }

    fn record(&self, key: &RecordKey) -> Loaded {
        Reader::new(self.home.clone()).one(key)
    }

    fn events_after(&self, seq: u64, most: usize) -> Past {
        Reader::new(self.home.clone()).events_after(seq, most)
    }

    fn transcript(&self, session: &SessionRef) -> Result<Option<Arc<Conversation>>, String> {
        let mut transcripts = self.transcripts.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = transcripts.get_or_insert_with(|| {
            let (watch, woken) = watch::start(&self.roots, &Supervisor::new());
            Transcripts { watch, _woken: woken }
        });
        let read = opened.watch.read(session, clock::now());
        match read.fact {
            TranscriptFact::Unreadable(why) => Err(why),
            _ => Ok(read.conversation),
        }
    }
}
