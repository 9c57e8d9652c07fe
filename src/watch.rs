//! Finding and following transcripts: hints from the system, reads from an offset, a slow poll as the floor. Never writes.
