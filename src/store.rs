//! The disk: the only writer of files below the home. Records, texts, events, lock, quarantine.
