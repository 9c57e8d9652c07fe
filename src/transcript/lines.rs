//! Bytes cut into lines, and lines cut into records, whatever the bytes look like.
//! What a record means is not known here.

use memchr::{memchr, memmem};

/// Splits a growing file into lines at `\n` only. The part behind the last one stays pending.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
    consumed: u64,
}

impl Lines {
    /// Of bytes that begin a line at this offset.
    pub(super) const fn at(offset: u64) -> Self {
        Self { pending: Vec::new(), consumed: offset }
    }

    /// Offset behind the last complete line.
    pub(super) const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Takes more bytes and calls `each` with the offset and bytes of every line they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(u64, &[u8])) {
        if !self.pending.is_empty() {
            let Some((end, rest)) = cut_line(bytes) else {
                self.pending.extend_from_slice(bytes);
                return;
            };
            self.pending.extend_from_slice(end);
            let line = std::mem::take(&mut self.pending);
            self.emit(&line, &mut each);
            bytes = rest;
        }
        while let Some((line, rest)) = cut_line(bytes) {
            self.emit(line, &mut each);
            bytes = rest;
        }
        self.pending.extend_from_slice(bytes);
    }

    fn emit(&mut self, line: &[u8], each: &mut impl FnMut(u64, &[u8])) {
        each(self.consumed, line);
        self.consumed += line.len() as u64;
    }
}

/// The first line with its end, and what is behind it. `None`: no line ends here.
pub(super) fn cut_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b'\n', bytes)?;
    bytes.split_at_checked(end + 1)
}

const fn is_padding(byte: u8) -> bool {
    // A crash of the machine leaves blocks of NUL bytes where data was promised but never written.
    matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n')
}

/// A line without its padding (byte order mark, white space, NUL bytes), and how many bytes went off its front.
pub(super) fn trim(line: &[u8]) -> (usize, &[u8]) {
    let mut body = line;
    loop {
        if let Some(rest) = body.strip_prefix(b"\xef\xbb\xbf") {
            body = rest;
        } else if let [first, rest @ ..] = body
            && is_padding(*first)
        {
            body = rest;
        } else {
            break;
        }
    }
    let front = line.len() - body.len();
    while let [rest @ .., last] = body
        && is_padding(*last)
    {
        body = rest;
    }
    (front, body)
}

/// What the top level of a record says without parsing it. Strings are raw: escapes are not resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Peek<'a> {
    /// `type`.
    pub(super) kind: Option<&'a [u8]>,
    /// `uuid`.
    pub(super) uuid: Option<&'a [u8]>,
    /// `timestamp`.
    pub(super) timestamp: Option<&'a [u8]>,
    /// `ordinal`, as written.
    pub(super) ordinal: Option<&'a [u8]>,
}

/// Reads the top-level keys of an object without looking into the values. Ends early as soon as `enough` says so
/// of a `type`; otherwise the whole line must be one object. `None`: it is not.
pub(super) fn peek(line: &[u8], enough: impl Fn(&[u8]) -> bool) -> Option<Peek<'_>> {
    let mut found = Peek::default();
    let mut cursor = Cursor { bytes: line, at: 0 };
    cursor.eat(b'{')?;
    cursor.blank();
    if cursor.eat(b'}').is_none() {
        loop {
            cursor.blank();
            let key = cursor.string()?;
            cursor.blank();
            cursor.eat(b':')?;
            cursor.blank();
            let value = cursor.value()?;
            let quoted = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            match key {
                b"type" => {
                    found.kind = quoted;
                    if quoted.is_some_and(&enough) {
                        return Some(found);
                    }
                }
                b"uuid" => found.uuid = quoted,
                b"timestamp" => found.timestamp = quoted,
                b"ordinal" => found.ordinal = value.iter().all(u8::is_ascii_digit).then_some(value),
                _ => {}
            }
            cursor.blank();
            if cursor.eat(b',').is_none() {
                cursor.eat(b'}')?;
                break;
            }
        }
    }
    (cursor.at == line.len()).then_some(found)
}

/// Where the JSON value that begins `bytes` ends. Only nesting and strings are looked at.
pub(super) fn value_end(bytes: &[u8]) -> Option<usize> {
    let mut cursor = Cursor { bytes, at: 0 };
    cursor.value()?;
    Some(cursor.at)
}

/// How a record may begin: the first keys that the agents write.
const BEGINNINGS: [&[u8]; 7] = [
    b"{\"parentUuid\":",
    b"{\"type\":",
    b"{\"timestamp\":",
    b"{\"message\":",
    b"{\"uuid\":",
    b"{\"sessionId\":",
    b"{\"isSidechain\":",
];

/// The next place behind `from` where a record may begin inside a broken line.
pub(super) fn next_beginning(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let begins = |found: &usize| {
        rest.get(*found..).is_some_and(|record| BEGINNINGS.iter().any(|start| record.starts_with(start)))
    };
    memmem::find_iter(rest, b"{\"").find(begins).map(|found| from + found)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: u8) -> Option<()> {
        (self.byte() == Some(wanted)).then(|| self.at += 1)
    }

    /// The inside of the string that begins here.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.eat(b'"')?;
        let start = self.at;
        loop {
            let quote = self.at + memchr(b'"', self.bytes.get(self.at..)?)?;
            let inside = self.bytes.get(start..quote)?;
            self.at = quote + 1;
            let slashes = inside.iter().rev().take_while(|byte| **byte == b'\\').count();
            if slashes % 2 == 0 {
                return Some(inside);
            }
        }
    }

    /// The value that begins here, as written.
    fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.byte()? {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => self.nested()?,
            _ => {
                while self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')) {
                    self.at += 1;
                }
            }
        }
        self.bytes.get(start..self.at).filter(|value| !value.is_empty())
    }

    fn nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.byte()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
