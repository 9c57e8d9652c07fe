//! Transcripts: bytes in, records and turns out, however the bytes are cut. Pure; only the files below know field names of an agent.
