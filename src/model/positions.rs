//! Where the records of a transcript stand, by their ids: grows for ever, is shared while it does, keeps no id's text.
//! What a record is, is not known here.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::ids::RecordId;

/// An id, short: two that are not the same do not meet, even where somebody wants them to.
type Key = [u8; 16];
type Place = (Key, u64);

/// Places that are kept in the order in which they came; a clone copies them.
const FRESH: usize = 64;

/// Offsets of records by their ids. A clone, and an insertion beside a clone, cost the same however many there are, but
/// for the merging, which each place goes through once for each doubling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// Sorted by key, each at least twice as long as the next.
    sorted: Vec<Arc<Vec<Place>>>,
    fresh: Vec<Place>,
}

fn key(id: &RecordId) -> Key {
    let digest = Sha256::digest(id.as_str().as_bytes());
    let mut key = Key::default();
    key.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    key
}

impl Positions {
    /// Takes a record in. Of two with one id the later counts.
    pub fn insert(&mut self, id: &RecordId, offset: u64) {
        self.fresh.push((key(id), offset));
        if self.fresh.len() < FRESH {
            return;
        }
        let mut newest = std::mem::take(&mut self.fresh);
        // Stable: of equal keys the later stays behind, and is the one that is kept.
        newest.sort_by_key(|(key, _)| *key);
        while let Some(before) = self.sorted.pop_if(|before| before.len() < 2 * newest.len()) {
            newest = merged(&before, &newest);
        }
        self.sorted.push(Arc::new(newest));
    }

    /// The byte offset at which a record begins.
    #[must_use]
    pub fn get(&self, id: &RecordId) -> Option<u64> {
        let wanted = key(id);
        let fresh = self.fresh.iter().rev().find(|(key, _)| *key == wanted);
        let sorted = || {
            self.sorted.iter().rev().find_map(|places| {
                let behind = places.partition_point(|(key, _)| *key <= wanted);
                places.get(behind.checked_sub(1)?).filter(|(key, _)| *key == wanted)
            })
        };
        fresh.or_else(sorted).map(|(_, offset)| *offset)
    }

    /// Every offset that was taken in and is kept, in no particular order.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.sorted.iter().flat_map(|places| places.iter()).chain(&self.fresh).map(|(_, offset)| *offset)
    }
}

/// Both in order, those of `newer` behind equal ones.
fn merged(older: &[Place], newer: &[Place]) -> Vec<Place> {
    let mut all = Vec::with_capacity(older.len() + newer.len());
    let mut older = older.iter().copied().peekable();
    for place in newer {
        while let Some(before) = older.next_if(|(key, _)| *key <= place.0) {
            all.push(before);
        }
        all.push(*place);
    }
    all.extend(older);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_finds_what_a_map_finds() {
        let (mut places, mut map) = (Positions::default(), BTreeMap::new());
        for n in 0..5_000_u64 {
            // Some come twice.
            let id = RecordId::new(format!("record-{}", n * 7_919 % 4_000));
            places.insert(&id, n);
            map.insert(id, n);
        }
        for (id, offset) in &map {
            assert_eq!(places.get(id), Some(*offset), "{id}");
        }
        assert_eq!(places.get(&RecordId::new("another")), None);
        assert_eq!(places.offsets().count(), 5_000);
        assert!(places.sorted.len() < 12, "{}", places.sorted.len());
    }

    #[test]
    fn an_insertion_beside_a_clone_leaves_what_is_sorted_alone() {
        let mut places = Positions::default();
        (0..FRESH as u64 * 33).for_each(|n| places.insert(&RecordId::new(n.to_string()), n));
        let before = places.clone();
        places.insert(&RecordId::new("new"), 1);
        assert!(places.sorted.iter().zip(&before.sorted).all(|(one, two)| Arc::ptr_eq(one, two)));
        assert_eq!((places.get(&RecordId::new("new")), before.get(&RecordId::new("new"))), (Some(1), None));
    }
}
