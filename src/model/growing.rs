//! A list that grows at its end and is shared while it does: a clone, and a push beside a clone, cost the same at any length.
//! What stands in it is not known here.

use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Elements of one piece. A push beside a clone copies as many references at most, and one for each full piece once in
/// so many pushes.
const PIECE: usize = 128;

type Piece<T> = Vec<Arc<T>>;

/// See the module. Elements are shared one by one: changing one copies it alone, if somebody else holds it.
pub struct Growing<T> {
    /// Each of [`PIECE`] elements.
    full: Arc<Vec<Arc<Piece<T>>>>,
    /// Fewer.
    last: Arc<Piece<T>>,
}

impl<T> Growing<T> {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self { full: Arc::default(), last: Arc::default() }
    }

    /// Of elements that others may hold.
    #[must_use]
    pub fn of_shared(all: impl IntoIterator<Item = Arc<T>>) -> Self {
        let mut list = Self::new();
        all.into_iter().for_each(|one| list.push_shared(one));
        list
    }

    /// How many elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.full.len() * PIECE + self.last.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn shared(&self, at: usize) -> Option<&Arc<T>> {
        self.full.get(at / PIECE).map_or(&*self.last, |piece| piece).get(at % PIECE)
    }

    /// The element at a position.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        // Behind the last piece no position may wrap into it.
        (at < self.len()).then(|| self.shared(at)).flatten().map(|one| &**one)
    }

    /// The first element.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The newest element.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Adds an element.
    pub fn push(&mut self, one: T) {
        self.push_shared(Arc::new(one));
    }

    /// Adds an element that others may hold.
    pub fn push_shared(&mut self, one: Arc<T>) {
        let last = Arc::make_mut(&mut self.last);
        last.push(one);
        if last.len() == PIECE {
            let piece = std::mem::take(&mut self.last);
            Arc::make_mut(&mut self.full).push(piece);
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Drops everything from a position on.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        if let Some(piece) = self.full.get(len / PIECE) {
            self.last = Arc::clone(piece);
            Arc::make_mut(&mut self.full).truncate(len / PIECE);
        }
        Arc::make_mut(&mut self.last).truncate(len % PIECE);
    }

    /// The elements in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        self.range(0, self.len())
    }

    /// Those from one position up to another, as far as they are there.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Iter<'_, T> {
        Iter { list: self, from, to: to.min(self.len()) }
    }

    /// The elements in order, with their shares.
    pub fn shares(&self) -> impl Iterator<Item = &Arc<T>> {
        self.shares_from(0)
    }

    fn shares_from(&self, piece: usize) -> impl Iterator<Item = &Arc<T>> {
        self.full.iter().skip(piece).flat_map(|piece| piece.iter()).chain(self.last.iter())
    }

    /// How many elements at the beginning are the very same ones in both: told by reference, a piece at a time.
    #[must_use]
    pub fn same_start(&self, other: &Self) -> usize {
        let pieces = self.full.iter().zip(&*other.full).take_while(|(one, two)| Arc::ptr_eq(one, two)).count();
        let mut at = pieces * PIECE;
        while let (Some(one), Some(two)) = (self.shared_at(at), other.shared_at(at))
            && Arc::ptr_eq(one, two)
        {
            at += 1;
        }
        at
    }

    fn shared_at(&self, at: usize) -> Option<&Arc<T>> {
        (at < self.len()).then(|| self.shared(at)).flatten()
    }

    /// The first position whose element does not satisfy a condition that holds for a beginning of the list.
    pub fn partition_point(&self, mut holds: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).is_some_and(&mut holds) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl<T: Clone> Growing<T> {
    /// An element, to be changed.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if at >= self.len() {
            return None;
        }
        let piece = if at / PIECE < self.full.len() {
            Arc::make_mut(&mut self.full).get_mut(at / PIECE)?
        } else {
            &mut self.last
        };
        Arc::make_mut(piece).get_mut(at % PIECE).map(Arc::make_mut)
    }

    /// Changes it as a vector; nothing is shared afterwards.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut Vec<T>)) {
        let mut all: Vec<T> = self.iter().cloned().collect();
        change(&mut all);
        *self = all.into();
    }

    /// The newest element, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len().checked_sub(1)?)
    }
}

/// The elements of a [`Growing`].
pub struct Iter<'a, T> {
    list: &'a Growing<T>,
    from: usize,
    to: usize,
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<&'a T> {
        let at = self.from.saturating_add(n).min(self.to);
        self.from = at.saturating_add(1).min(self.to);
        if at < self.to { self.list.get(at) } else { None }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.to.saturating_sub(self.from);
        (left, Some(left))
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.from >= self.to {
            return None;
        }
        self.to -= 1;
        self.list.get(self.to)
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

impl<'a, T> IntoIterator for &'a Growing<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> Clone for Growing<T> {
    fn clone(&self) -> Self {
        Self { full: Arc::clone(&self.full), last: Arc::clone(&self.last) }
    }
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Growing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: PartialEq> PartialEq for Growing<T> {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, two): (&Arc<T>, &Arc<T>)| Arc::ptr_eq(one, two) || one == two;
        let pieces = self.full.iter().zip(&*other.full).take_while(|(one, two)| Arc::ptr_eq(one, two)).count();
        self.len() == other.len() && self.shares_from(pieces).zip(other.shares_from(pieces)).all(same)
    }
}

impl<T: Eq> Eq for Growing<T> {}

impl<T> Extend<T> for Growing<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, more: I) {
        more.into_iter().for_each(|one| self.push(one));
    }
}

impl<T> FromIterator<T> for Growing<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut list = Self::new();
        list.extend(all);
        list
    }
}

impl<T> From<Vec<T>> for Growing<T> {
    fn from(all: Vec<T>) -> Self {
        all.into_iter().collect()
    }
}

impl<T> Index<usize> for Growing<T> {
    type Output = T;

    #[expect(clippy::expect_used, reason = "as of a slice: for places that know the position to be there")]
    fn index(&self, at: usize) -> &T {
        self.get(at).expect("a position inside the list")
    }
}

impl<T: Clone> IndexMut<usize> for Growing<T> {
    #[expect(clippy::expect_used, reason = "as of a slice: for places that know the position to be there")]
    fn index_mut(&mut self, at: usize) -> &mut T {
        self.get_mut(at).expect("a position inside the list")
    }
}

impl<T: Serialize> Serialize for Growing<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Growing<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
#[path = "growing_tests.rs"]
mod tests;
