//! Fields inside a record's lists and parts that this version does not know: kept aside at loading, put back at saving.
//! Unknown fields of the record itself are part of the record; these would be lost, for its parts have no room for them.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a value holds beyond what its type knows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unknown {
    /// All of it.
    Whole(Value),
    /// Some of an object's fields.
    Fields(BTreeMap<String, Unknown>),
    /// Something in items of a list, by the item's identity.
    Items(BTreeMap<String, Unknown>),
}

/// What `original` holds that is not in `known`, which is what its type made of it. `None`: nothing.
pub(super) fn beyond(original: &Value, known: &Value) -> Option<Unknown> {
    match (original, known) {
        (Value::Object(original), Value::Object(known)) => {
            let fields: BTreeMap<String, Unknown> = original
                .iter()
                .filter_map(|(name, value)| {
                    let found = match known.get(name) {
                        Some(known) => beyond(value, known)?,
                        // Known ones that are left out when there is nothing to say.
                        None if value.is_null() => return None,
                        None => Unknown::Whole(value.clone()),
                    };
                    Some((name.clone(), found))
                })
                .collect();
            (!fields.is_empty()).then_some(Unknown::Fields(fields))
        }
        (Value::Array(original), Value::Array(known)) => {
            let known: BTreeMap<String, &Value> = identified(known).collect();
            let items: BTreeMap<String, Unknown> = identified(original)
                .filter_map(|(name, value)| Some((name.clone(), beyond(value, known.get(&name)?)?)))
                .collect();
            (!items.is_empty()).then_some(Unknown::Items(items))
        }
        _ => None,
    }
}

/// Puts back what was kept, wherever its place is still there; what the value says itself counts.
pub(super) fn put_back(value: &mut Value, unknown: &Unknown) {
    match (value, unknown) {
        (Value::Object(value), Unknown::Fields(fields)) => {
            for (name, kept) in fields {
                match (value.get_mut(name), kept) {
                    (Some(value), kept) => put_back(value, kept),
                    (None, Unknown::Whole(kept)) => {
                        value.insert(name.clone(), kept.clone());
                    }
                    (None, _) => {}
                }
            }
        }
        (Value::Array(list), Unknown::Items(items)) => {
            let names: Vec<String> = identified(list).map(|(name, _)| name).collect();
            for (item, name) in list.iter_mut().zip(names) {
                if let Some(kept) = items.get(&name) {
                    put_back(item, kept);
                }
            }
        }
        _ => {}
    }
}

/// The items of a list by what identifies them: a message's id, a relay's number, else the place. Old ones move out of
/// the lists of messages and relays, so their place does not. Of items with one identity each has its own name all the same.
fn identified(list: &[Value]) -> impl Iterator<Item = (String, &Value)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    list.iter().enumerate().map(move |(place, item)| {
        let name = match (item.get("id"), item.get("n"), item.get("direction")) {
            (Some(Value::String(id)), ..) => format!("id {id}"),
            (_, Some(n), Some(_)) => format!("n {n}"),
            _ => format!("place {place}"),
        };
        let before = seen.entry(name.clone()).or_default();
        *before += 1;
        let name = if *before == 1 { name } else { format!("{name}, the {before}th") };
        (name, item)
    })
}
