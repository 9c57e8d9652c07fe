//! Shared work: whole, in order, and with its panics.

use std::panic::catch_unwind;

use super::{both, each};

#[test]
fn each_item_is_worked_on_once_and_the_order_is_kept() {
    for count in [0, 1, 15, 16, 17, 1_000] {
        let items: Vec<usize> = (0..count).collect();
        assert_eq!(each(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}

#[test]
fn two_things_are_done_and_given_back() {
    assert_eq!(both(|| 1, || "two"), (1, "two"));
}

#[test]
fn a_panic_of_a_part_is_the_callers() {
    let items: Vec<usize> = (0..100).collect();
    assert!(catch_unwind(|| each(&items, |item| assert_ne!(*item, 50, "on purpose"))).is_err());
    assert!(catch_unwind(|| both(|| panic!("on purpose"), || ())).is_err());
}
