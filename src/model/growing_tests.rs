//! A growing list behaves as a vector does, and shares what did not change.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Growing, PIECE};

#[derive(Clone, Debug)]
enum Act {
    Push(u8),
    Truncate(usize),
    Change(usize, u8),
    Clone,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => any::<u8>().prop_map(Act::Push),
        1 => (0..600_usize).prop_map(Act::Truncate),
        2 => (0..600_usize, any::<u8>()).prop_map(|(at, n)| Act::Change(at, n)),
        1 => Just(Act::Clone),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_a_vector_and_its_clones_stay_as_they_were(
        begun in 0..400_usize,
        acts in prop::collection::vec(act(), 0..400),
    ) {
        let mut plain: Vec<u8> = (0..begun).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let mut list: Growing<u8> = plain.iter().copied().collect();
        let mut kept = Vec::new();
        for act in acts {
            match act {
                Act::Push(n) => {
                    plain.push(n);
                    list.push(n);
                }
                Act::Truncate(len) => {
                    plain.truncate(len);
                    list.truncate(len);
                }
                Act::Change(at, n) => match (plain.get_mut(at), list.get_mut(at)) {
                    (Some(one), Some(other)) => (*one, *other) = (n, n),
                    (None, None) => {}
                    differ => prop_assert!(false, "{differ:?}"),
                },
                Act::Clone => kept.push((plain.clone(), list.clone())),
            }
        }
        kept.push((plain, list));
        for (plain, list) in &kept {
            prop_assert_eq!(list.len(), plain.len());
            prop_assert_eq!(list.iter().copied().collect::<Vec<_>>(), plain.clone());
            prop_assert_eq!(list.iter().rev().copied().collect::<Vec<_>>(), plain.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!((list.first(), list.last()), (plain.first(), plain.last()));
            let (from, to) = (plain.len() / 3, plain.len() / 2);
            prop_assert_eq!(list.range(from, to).copied().collect::<Vec<_>>(), plain[from..to].to_vec());
            prop_assert_eq!(list.iter().skip(from).nth(1), plain.get(from + 1));
            prop_assert_eq!(list.get(plain.len()), None);
            prop_assert_eq!(list, &Growing::from(plain.clone()));
            let read: Growing<u8> = serde_json::from_str(&serde_json::to_string(list).unwrap()).unwrap();
            prop_assert_eq!(list, &read);
        }
    }
}

/// What a push beside a clone copies is counted by the elements that are no longer the same.
#[test]
fn what_did_not_change_is_shared() {
    let mut list: Growing<String> = (0..10 * PIECE + 5).map(|n| n.to_string()).collect();
    let before = list.clone();
    list.push("one more".to_owned());
    assert_eq!(list.same_start(&before), before.len());
    assert!(list.full.iter().zip(&*before.full).all(|(one, two)| Arc::ptr_eq(one, two)), "no full piece was copied");
    list.last_mut().unwrap().push('!');
    assert_eq!(list.same_start(&before), before.len());
    list.get_mut(3).unwrap().push('!');
    assert_eq!(list.same_start(&before), 3);
    let same = list.shares().zip(before.shares()).filter(|(one, two)| Arc::ptr_eq(one, two)).count();
    assert_eq!(same, before.len() - 1, "one element was copied");
    assert_eq!(before[3], "3");
    assert_eq!(list.partition_point(|text| text.len() < 4), 1_000);
}
