//! What happened in how many worlds: a simulator that never meets an ingredient proves nothing about it.

use std::collections::BTreeMap;

use super::ingredients::Ingredient;

/// Per ingredient: worlds in which it struck, and times in all.
#[derive(Clone, Debug, Default)]
pub struct Census(BTreeMap<Ingredient, (u64, u64)>);

impl Census {
    /// Takes in one world.
    pub fn add(&mut self, struck: &BTreeMap<Ingredient, u32>) {
        for (what, times) in struck.iter().filter(|(_, times)| **times > 0) {
            let counted = self.0.entry(*what).or_default();
            counted.0 += 1;
            counted.1 += u64::from(*times);
        }
    }

    /// Ingredients that struck in no world.
    pub fn missing(&self) -> Vec<Ingredient> {
        Ingredient::ALL.iter().copied().filter(|what| !self.0.contains_key(what)).collect()
    }

    /// A line per ingredient, room by room.
    pub fn lines(&self) -> Vec<String> {
        let count = |what: &Ingredient| self.0.get(what).copied().unwrap_or_default();
        Ingredient::ALL
            .iter()
            .map(|what| {
                let (worlds, times) = count(what);
                format!("{:<11} {:<16} {worlds:>7} worlds {times:>9} times", what.room(), format!("{what:?}"))
            })
            .collect()
    }
}
