//! Fields read as far as they have the expected shape; another shape reads as absent, so one odd field never costs a record.
//! Which fields there are is not known here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A scalar of any kind; `Other` for everything that is none.
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Flag(bool),
    Number(i64),
    Other,
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Scalar::Other, Scalar::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// A text field.
pub(super) fn text<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    Ok(match from.deserialize_any(ScalarVisitor)? {
        Scalar::Text(text) => Some(text),
        _ => None,
    })
}

/// A yes or no; absent is no.
pub(super) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(matches!(from.deserialize_any(ScalarVisitor)?, Scalar::Flag(true)))
}

/// A yes or no that may be absent.
pub(super) fn tristate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(match from.deserialize_any(ScalarVisitor)? {
        Scalar::Flag(flag) => Some(flag),
        _ => None,
    })
}

/// A whole number.
pub(super) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(match from.deserialize_any(ScalarVisitor)? {
        Scalar::Number(number) => Some(number),
        _ => None,
    })
}

/// Parses a nested object; another shape gives `None`. (Of a list, serde would take the elements for the fields.)
pub(super) fn object<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    let text = raw?.get();
    if text.starts_with('{') { serde_json::from_str(text).ok() } else { None }
}

fn parts(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// An element of a list, if it is an object.
struct Element<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Element<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ElementVisitor(PhantomData))
    }
}

struct ElementVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ElementVisitor<T> {
    type Value = Element<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|object| Element(Some(object)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Element(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Element(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Element(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Element(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Element(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Element(None))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Element(None))
    }
}

/// The objects of a list that have the shape; other elements are left out. The list is gone through once, unless an object
/// in it is odd: then each of them is looked at by itself.
pub(super) fn objects<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Vec<T> {
    let Some(text) = raw.map(RawValue::get).filter(|text| text.starts_with('[')) else { return Vec::new() };
    match serde_json::from_str::<Vec<Element<T>>>(text) {
        Ok(all) => all.into_iter().filter_map(|Element(object)| object).collect(),
        Err(_) => parts(raw).into_iter().filter_map(|part| object(Some(part))).collect(),
    }
}

/// The strings of a list; other elements are left out.
pub(super) fn strings(raw: Option<&RawValue>) -> Vec<Cow<'_, str>> {
    parts(raw).into_iter().filter_map(|part| string(Some(part))).collect()
}

/// A string value.
pub(super) fn string(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    // What is none is not tried: a refusal is put into words, which costs more than most strings.
    let text = raw?.get();
    if text.starts_with('"') { serde_json::from_str::<Text<'_>>(text).ok().map(|text| text.0) } else { None }
}

/// A text block of a content list, whichever of the agents' names it goes by.
#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(borrow, default, deserialize_with = "text", rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
}

/// Content that is a string or a list with text blocks: its texts joined by a newline.
pub(super) fn content_text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    if let Some(text) = string(raw) {
        return Some(text);
    }
    let blocks: Vec<TextBlock<'_>> = objects(raw);
    joined(blocks.iter().map(|block| (block.kind.as_deref(), block.text.as_deref()))).map(Cow::Owned)
}

/// The texts of those blocks, by kind and text, that are text blocks, joined by a newline.
pub(super) fn joined<'a>(blocks: impl Iterator<Item = (Option<&'a str>, Option<&'a str>)>) -> Option<String> {
    let is_text = |kind| matches!(kind, Some("text" | "Text" | "input_text" | "output_text" | "summary_text"));
    let texts: Vec<&str> = blocks.filter(|(kind, _)| is_text(*kind)).filter_map(|(_, text)| text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A line as text: bad bytes become U+FFFD, and so does half a surrogate pair, which JSON writers do emit
/// and no string can hold.
pub(super) fn as_text(line: &[u8]) -> Cow<'_, str> {
    // Nearly every line is sound, and to say so is several times faster than to look for what is not.
    let text = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    if memchr::memmem::find(text.as_bytes(), b"\\u").is_none() {
        return text;
    }
    match mend_surrogates(&text) {
        Some(mended) => Cow::Owned(mended),
        None => text,
    }
}

/// The text with lone surrogate escapes replaced, or `None` if there are none.
fn mend_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut mended: Option<String> = None;
    let (mut copied, mut at) = (0, 0);
    while let Some(slash) = memchr::memchr(b'\\', bytes.get(at..)?).map(|found| at + found) {
        let unit = escaped_unit(bytes, slash);
        at = match unit {
            None => slash + 2,
            Some(0xd800..=0xdbff) if matches!(escaped_unit(bytes, slash + 6), Some(0xdc00..=0xdfff)) => slash + 12,
            Some(0xd800..=0xdfff) => {
                let out = mended.get_or_insert_with(|| String::with_capacity(text.len()));
                out.push_str(text.get(copied..slash)?);
                out.push_str("\\ufffd");
                copied = slash + 6;
                copied
            }
            Some(_) => slash + 6,
        };
        if at >= bytes.len() {
            break;
        }
    }
    if let Some(out) = &mut mended {
        out.push_str(text.get(copied..).unwrap_or_default());
    }
    mended
}

/// The code unit of a `\u` escape that begins at `at`.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
#[path = "loose_tests.rs"]
mod tests;
