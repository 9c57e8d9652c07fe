//! Ids of records: safe as file names, sorted by age, equal for equal seeds only.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::Ids;
use crate::model::ids::is_safe_name;

fn noon() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

#[test]
fn ids_name_their_time_and_are_safe_as_file_names() {
    let mut ids = Ids::new(1);
    let made: BTreeSet<String> = (0..1_000).map(|_| ids.next(noon())).collect();
    assert_eq!(made.len(), 1_000);
    assert!(made.iter().all(|id| id.starts_with("20260301-120000-") && id.len() == 22 && is_safe_name(id)), "{made:?}");
}

#[test]
fn a_seed_gives_one_sequence() {
    let (mut one, mut same, mut other) = (Ids::new(7), Ids::new(7), Ids::new(8));
    let first = one.next(noon());
    assert_eq!(first, same.next(noon()));
    assert_ne!(first, other.next(noon()));
}
