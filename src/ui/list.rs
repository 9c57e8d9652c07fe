//! A list whose cursor stands on a thing and not on a row: the order may change, the cursor stays with its thing.

use std::collections::BTreeSet;

/// The order of a list and what is selected in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked<K> {
    order: Vec<K>,
    on: Option<K>,
    index: usize,
    /// First item that is drawn.
    pub offset: usize,
}

impl<K> Default for Picked<K> {
    fn default() -> Self {
        Self { order: Vec::new(), on: None, index: 0, offset: 0 }
    }
}

impl<K: Clone + Ord> Picked<K> {
    /// Takes what is there now. `frozen`: what was there keeps its order, what is new comes behind what it belongs behind.
    /// True when what was selected is gone and the cursor stands on something else.
    pub fn set_order(&mut self, wanted: Vec<K>, frozen: bool) -> bool {
        if frozen {
            let there: BTreeSet<&K> = wanted.iter().collect();
            let before: BTreeSet<K> = self.order.iter().cloned().collect();
            self.order.retain(|key| there.contains(key));
            let mut place = 0;
            for key in wanted {
                if before.contains(&key) {
                    place = self.order.iter().position(|known| *known == key).map_or(place, |at| at + 1);
                } else {
                    self.order.insert(place.min(self.order.len()), key);
                    place += 1;
                }
            }
        } else {
            self.order = wanted;
        }
        if let Some(index) = self.on.as_ref().and_then(|on| self.order.iter().position(|key| key == on)) {
            self.index = index;
            return false;
        }
        let lost = self.on.is_some();
        self.stand(self.index);
        lost
    }

    /// Whether the order would be another one if it were not frozen.
    #[must_use]
    pub fn differs(&self, wanted: &[K]) -> bool {
        self.order != wanted
    }

    fn stand(&mut self, index: usize) {
        self.index = index.min(self.order.len().saturating_sub(1));
        self.on = self.order.get(self.index).cloned();
    }

    /// The order.
    #[must_use]
    pub fn order(&self) -> &[K] {
        &self.order
    }

    /// What is selected.
    #[must_use]
    pub const fn on(&self) -> Option<&K> {
        self.on.as_ref()
    }

    /// Its place in the order.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Selects a thing, if it is there.
    pub fn select(&mut self, key: &K) {
        if let Some(index) = self.order.iter().position(|known| known == key) {
            self.stand(index);
        }
    }

    /// Selects by place.
    pub fn select_index(&mut self, index: usize) {
        if index < self.order.len() {
            self.stand(index);
        }
    }

    /// Moves the cursor.
    pub fn move_by(&mut self, by: isize) {
        self.stand(self.index.saturating_add_signed(by));
    }

    /// To the first.
    pub fn first(&mut self) {
        self.stand(0);
    }

    /// To the last.
    pub fn last(&mut self) {
        self.stand(self.order.len().saturating_sub(1));
    }

    /// Moves what is drawn so that the selected item is in view. `heights`: lines of the items in order.
    pub fn scroll_into_view(&mut self, heights: impl Fn(usize) -> usize, room: usize) {
        self.offset = self.offset.min(self.index);
        while self.offset < self.index {
            let used: usize = (self.offset..=self.index).map(&heights).sum();
            if used <= room {
                break;
            }
            self.offset += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_with_its_thing() {
        let mut list = Picked::default();
        list.set_order(vec!["a", "b", "c"], false);
        list.move_by(1);
        list.set_order(vec!["c", "a", "b"], false);
        assert_eq!(list.on(), Some(&"b"));
        assert!(list.set_order(vec!["c", "a"], false));
        assert_eq!(list.on(), Some(&"a"));
    }

    #[test]
    fn a_frozen_list_keeps_its_order() {
        let mut list = Picked::default();
        list.set_order(vec!["a", "b"], false);
        list.set_order(vec!["d", "b", "c", "a"], true);
        assert_eq!(list.order(), ["d", "a", "b", "c"]);
        assert!(list.differs(&["d", "b", "c", "a"]));
    }
}
