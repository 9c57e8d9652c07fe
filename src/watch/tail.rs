//! One transcript followed by offset and identity: new bytes go to its reader, a replaced file is read from its start.
//! Which files are followed, and when, is not decided here.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::naming::Named;
use super::scan::{Spotted, Stamp};
use crate::model::conversation::Conversation;
use crate::model::ids::{Agent, SessionId};
use crate::model::outbox::TranscriptMark;
use crate::transcript::Reader;

/// Bytes per read: as fast as larger ones, and small enough to be kept.
const CHUNK: usize = 64 * 1024;
/// Bytes kept of the file's beginning: its first line, or enough of it to know it again.
const HEAD: usize = 1_024;
/// Bytes kept from just before the offset: what an append leaves alone and a rewrite rarely hits.
const EDGE: usize = 256;
/// Bytes of a file's end that are read to show it before the rest is; grows fourfold.
const END: u64 = 256 * 1024;
/// A last line that is longer is not shown before the rest.
const LONGEST_END: u64 = 16 * 1024 * 1024;
/// A file that is replaced this often within one read is given up until the next.
const RESTARTS: usize = 4;

/// A buffer for all tails, one read at a time.
pub(super) fn buffer() -> Vec<u8> {
    vec![0; CHUNK]
}

/// Agents name the hours at which limits end in the machine's zone.
fn reader(agent: Agent) -> Reader {
    Reader::with_zone(agent, TimeZone::system())
}

/// One followed file.
pub(super) struct Tail {
    agent: Agent,
    path: PathBuf,
    compressed: bool,
    file: File,
    /// As of the last read.
    stamp: Stamp,
    /// Bytes handed to the reader, a torn last line included: the reader keeps that.
    offset: u64,
    head: Vec<u8>,
    /// Where the head stands: 0, but of a tail that begins inside the file.
    base: u64,
    edge: Vec<u8>,
    reader: Reader,
}

impl Tail {
    /// Opens the end of a long plain file: its last messages, without what they answer. What was read is told, and it goes
    /// on from there, as long as the file only grows.
    pub(super) fn open_end(agent: Agent, path: &Path, buffer: &mut [u8]) -> io::Result<Self> {
        let mut tail = Self::open(agent, path, false)?;
        let length = tail.file.metadata()?.len();
        let mut size = END;
        let begin = loop {
            let from = length.saturating_sub(size);
            let mut bytes = vec![0; usize::try_from(length.saturating_sub(from)).unwrap_or_default()];
            let count = tail.file.read_at(&mut bytes, from)?;
            let first = memchr::memchr(b'\n', bytes.get(..count).unwrap_or_default());
            match first {
                // Behind the first line's end there is more than that end.
                Some(at) if at + 1 < count => break from.saturating_add(at as u64 + 1),
                _ if size < LONGEST_END && from > 0 => size = size.saturating_mul(4),
                _ => break length,
            }
        };
        (tail.offset, tail.base) = (begin, begin);
        tail.reader = Reader::inside(agent, TimeZone::system(), begin);
        tail.catch_up(buffer)?;
        Ok(tail)
    }

    /// Bytes that were not read yet.
    pub(super) fn missing(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.path)?.len().saturating_sub(self.offset))
    }

    /// Reads on, this many bytes at most; what it was must still stand. `true`: to the end.
    pub(super) fn read_some(&mut self, buffer: &mut [u8], most: u64) -> io::Result<bool> {
        let end = self.offset.saturating_add(most);
        if self.compressed || self.missing()? <= most {
            self.catch_up(buffer)?;
            return Ok(true);
        }
        while self.offset < end {
            let count = self.file.read_at(buffer, self.offset)?;
            let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) else { break };
            self.take(chunk);
        }
        Ok(false)
    }

    /// Opens a file without reading it.
    pub(super) fn open(agent: Agent, path: &Path, compressed: bool) -> io::Result<Self> {
        let (file, stamp) = open_file(path)?;
        Ok(Self {
            agent,
            path: path.to_owned(),
            compressed,
            file,
            // The length as read so far.
            stamp: Stamp { length: 0, ..stamp },
            offset: 0,
            head: Vec::new(),
            base: 0,
            edge: Vec::new(),
            reader: reader(agent),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file as a walk would have met it at the end of the last read.
    pub(super) fn spotted(&self, id: SessionId) -> Spotted {
        Spotted { named: Named { agent: self.agent, id, compressed: self.compressed }, stamp: self.stamp }
    }

    /// Whether the file differs from what was last read.
    pub(super) fn is_behind(&self) -> bool {
        Stamp::at(&self.path) != Some(self.stamp)
    }

    /// Whether this is a compressed rollout whose plain form is there (again): that one counts.
    pub(super) fn is_superseded(&self) -> bool {
        self.compressed && self.path.with_extension("").is_file()
    }

    /// What was read, folded.
    pub(super) fn conversation(&self) -> Arc<Conversation> {
        self.reader.conversation()
    }

    /// The end of the file, as read.
    pub(super) fn mark(&self) -> TranscriptMark {
        let conversation = self.reader.conversation();
        TranscriptMark {
            path: self.path.display().to_string(),
            file_identity: self.stamp.identity(),
            length: conversation.length,
            last_record_id: conversation.last_record.as_ref().map(|record| record.id.clone()),
        }
    }

    /// Reads to the file's end.
    pub(super) fn catch_up(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        for _ in 0..RESTARTS {
            let stamp = Stamp::of(&fs::metadata(&self.path)?);
            if stamp.device != self.stamp.device || stamp.inode != self.stamp.inode {
                *self = Self::open(self.agent, &self.path, self.compressed)?;
            }
            if self.compressed {
                if stamp == self.stamp && self.offset > 0 {
                    return Ok(());
                }
                self.restart();
                self.unpack(buffer)?;
                self.stamp = Stamp::of(&self.file.metadata()?);
                return Ok(());
            }
            if stamp.length < self.offset || !stands(&self.file, &self.head, self.base, buffer)? {
                self.restart();
            }
            if let Some(end) = self.read_on(buffer)? {
                self.stamp = end;
                return Ok(());
            }
            self.restart();
        }
        Err(io::Error::other("it is rewritten faster than it can be read, try again later"))
    }

    fn restart(&mut self) {
        (self.offset, self.base) = (0, 0);
        self.head.clear();
        self.edge.clear();
        self.reader = reader(self.agent);
    }

    /// Reads to the end, and what the file is then. `None`: the bytes before do not stand where they stood, or it was cut
    /// shorter meanwhile, so that what was read may be of two files.
    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<Option<Stamp>> {
        // What is known is read with what is new: one call for both.
        let mut known = self.edge.len();
        loop {
            let count = match self.file.read_at(buffer, self.offset.saturating_sub(known as u64)) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = buffer.get(..count).and_then(|read| read.split_at_checked(known));
            let Some((_, chunk)) = read.filter(|(before, _)| *before == last(&self.edge, known)) else {
                return Ok(None);
            };
            known = 0;
            if !chunk.is_empty() {
                self.take(chunk);
            }
            if count < buffer.len() {
                // Less than was asked for: most likely the end.
                let end = Stamp::of(&self.file.metadata()?);
                if end.length < self.offset {
                    return Ok(None);
                }
                if end.length == self.offset || chunk.is_empty() {
                    return Ok(Some(end));
                }
            }
        }
    }

    fn unpack(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut frames = Frames::new(File::open(&self.path)?);
        loop {
            let count = frames.read(buffer)?;
            let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) else { return Ok(()) };
            self.take(chunk);
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        self.reader.push(chunk);
        self.offset = self.offset.saturating_add(chunk.len() as u64);
        let missing = HEAD.saturating_sub(self.head.len());
        self.head.extend(chunk.iter().take(missing));
        self.edge.extend_from_slice(last(chunk, EDGE));
        let surplus = self.edge.len().saturating_sub(EDGE);
        self.edge.drain(..surplus);
    }
}

fn last(bytes: &[u8], most: usize) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(most)..).unwrap_or(bytes)
}

/// Opens what a transcript may be: a plain file, never a pipe, whose opening would wait for a writer.
fn open_file(path: &Path) -> io::Result<(File, Stamp)> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    let file = File::open(path)?;
    let stamp = Stamp::of(&file.metadata()?);
    Ok((file, stamp))
}

fn stands(file: &File, known: &[u8], at: u64, buffer: &mut [u8]) -> io::Result<bool> {
    let Some(place) = buffer.get_mut(..known.len()) else { return Ok(false) };
    match file.read_exact_at(place, at) {
        Ok(()) => Ok(place == known),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

type Source = BufReader<File>;

/// A zstd file as its bytes: any number of frames, one after the other.
pub(super) struct Frames {
    state: Frame,
}

enum Frame {
    Between(Source),
    Inside(Box<ruzstd::decoding::StreamingDecoder<Source, ruzstd::decoding::FrameDecoder>>),
    Over,
}

impl Frames {
    pub(super) fn new(file: File) -> Self {
        Self { state: Frame::Between(BufReader::new(file)) }
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, Frame::Over) {
                Frame::Over => return Ok(0),
                Frame::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = ruzstd::decoding::StreamingDecoder::new(source).map_err(io::Error::other)?;
                    self.state = Frame::Inside(Box::new(decoder));
                }
                Frame::Inside(mut decoder) => match decoder.read(buffer)? {
                    0 => self.state = Frame::Between(decoder.into_inner()),
                    count => {
                        self.state = Frame::Inside(decoder);
                        return Ok(count);
                    }
                },
            }
        }
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
