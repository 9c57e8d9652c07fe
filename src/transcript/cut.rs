//! Records cut down to the fields that are read: what stands in the others is passed over by its structure alone, however
//! long it is. Which fields those are is said by the shapes they are read into; no field name stands here.

use memchr::memchr;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;

/// What of a value is kept.
#[derive(Debug)]
pub(super) enum Keep {
    /// All of it, as written.
    Whole,
    /// Of an object these keys and what of their values; of anything else all.
    Keys(Vec<(&'static str, Keep)>),
    /// Of a list this of each element; of anything else all.
    Each(Box<Keep>),
}

impl Keep {
    /// Of an object the fields of a type that is read from one.
    pub(super) fn fields<'de, T: Deserialize<'de>>() -> Self {
        let mut names: &'static [&'static str] = &[];
        // It is asked for its fields, and given nothing.
        let _ = T::deserialize(Fields(&mut names));
        Self::Keys(names.iter().map(|name| (*name, Self::Whole)).collect())
    }

    /// The same, but of this field only so much.
    pub(super) fn but(self, field: &str, part: Self) -> Self {
        match self {
            Self::Keys(mut keys) => {
                if let Some((_, keep)) = keys.iter_mut().find(|(name, _)| *name == field) {
                    *keep = part;
                }
                Self::Keys(keys)
            }
            other => other,
        }
    }

    /// Of each element of a list.
    pub(super) fn each(part: Self) -> Self {
        Self::Each(Box::new(part))
    }
}

/// Bytes of a record that are copied at most. One of which more is kept is as well read as it stands.
const MOST: usize = 256 * 1024;

/// Cuts one record after the other.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    kept: Vec<u8>,
}

impl Cutter {
    /// The record with nothing in it but what is kept. What is left out is not looked into: a string there may hold anything.
    /// A record that is not one whole object, as far as its structure tells, comes back as it is.
    pub(super) fn cut<'a>(&'a mut self, record: &'a [u8], keep: &Keep) -> &'a [u8] {
        self.kept.clear();
        let mut scan = Scan { bytes: record, at: 0 };
        let is_object = record.first() == Some(&b'{');
        let is_whole = is_object && scan.keep(keep, &mut self.kept).is_some() && scan.at == record.len();
        if is_whole { &self.kept } else { record }
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        while matches!(self.byte()?, b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
        self.byte()
    }

    fn eat(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then(|| self.at += 1)
    }

    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    fn keep(&mut self, keep: &Keep, out: &mut Vec<u8>) -> Option<()> {
        match (keep, self.next()?) {
            (Keep::Keys(keys), b'{') => self.keep_keys(keys, out),
            (Keep::Each(part), b'[') => self.keep_each(part, out),
            _ => {
                let start = self.at;
                self.value()?;
                let value = self.since(start);
                (out.len() + value.len() <= MOST).then(|| out.extend_from_slice(value))
            }
        }
    }

    fn keep_keys(&mut self, keys: &[(&'static str, Keep)], out: &mut Vec<u8>) -> Option<()> {
        self.at += 1;
        out.push(b'{');
        let begun = out.len();
        if self.next()? == b'}' {
            self.at += 1;
            out.push(b'}');
            return Some(());
        }
        loop {
            self.next()?;
            let start = self.at;
            let key = self.string()?;
            let written = self.since(start);
            self.eat(b':')?;
            // One that is written in another way may be any of them.
            let escaped = key.contains(&b'\\').then_some(&Keep::Whole);
            let kept = keys.iter().find(|(name, _)| name.as_bytes() == key).map(|(_, keep)| keep).or(escaped);
            if let Some(keep) = kept {
                if out.len() > begun {
                    out.push(b',');
                }
                out.extend_from_slice(written);
                out.push(b':');
                self.keep(keep, out)?;
            } else {
                self.next()?;
                self.value()?;
            }
            if !self.goes_on(b'}')? {
                out.push(b'}');
                return Some(());
            }
        }
    }

    fn keep_each(&mut self, part: &Keep, out: &mut Vec<u8>) -> Option<()> {
        self.at += 1;
        out.push(b'[');
        let begun = out.len();
        if self.next()? == b']' {
            self.at += 1;
            out.push(b']');
            return Some(());
        }
        loop {
            if out.len() > begun {
                out.push(b',');
            }
            self.keep(part, out)?;
            if !self.goes_on(b']')? {
                out.push(b']');
                return Some(());
            }
        }
    }

    /// Whether another element follows; the sign for it, or for the end, is passed.
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        let sign = self.next()?;
        self.at += 1;
        match sign {
            b',' => Some(true),
            sign if sign == end => Some(false),
            _ => None,
        }
    }

    /// The inside of the string that begins here, as written.
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

    fn scalar(&mut self) -> Option<()> {
        if self.byte()? == b'"' {
            return self.string().map(|_| ());
        }
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let word = self.since(start);
        let is_one = match word.first()? {
            b'-' | b'0'..=b'9' => true,
            _ => matches!(word, b"true" | b"false" | b"null"),
        };
        is_one.then_some(())
    }

    /// Passes the value that begins here; everything in it stands where the grammar has it, however deep it goes.
    fn value(&mut self) -> Option<()> {
        // What is open: objects, or lists.
        let mut open: Vec<bool> = Vec::new();
        loop {
            let begins = match self.next()? {
                b'{' => Some(true),
                b'[' => Some(false),
                _ => None,
            };
            if let Some(is_object) = begins {
                self.at += 1;
                let end = if is_object { b'}' } else { b']' };
                if self.next()? != end {
                    open.push(is_object);
                    if is_object {
                        self.string()?;
                        self.eat(b':')?;
                    }
                    continue;
                }
                self.at += 1;
            } else {
                self.scalar()?;
            }
            loop {
                let Some(is_object) = open.last().copied() else { return Some(()) };
                if self.goes_on(if is_object { b'}' } else { b']' })? {
                    if is_object {
                        self.next()?;
                        self.string()?;
                        self.eat(b':')?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }
}

/// Learns which fields a type is read from.
struct Fields<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, value::Error> {
        Err(value::Error::custom(""))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, value::Error> {
        *self.0 = fields;
        Err(value::Error::custom(""))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
