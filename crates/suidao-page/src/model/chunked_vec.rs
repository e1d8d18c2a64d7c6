//! A vector of chunks of fixed size, which never moves its items.

use std::ops::{Index, IndexMut};

const PORTION: usize = 1 << 16;

#[derive(Clone, Debug)]
pub struct ChunkedVec<T>(Vec<Vec<T>>);

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ChunkedVec<T> {
    pub fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * PORTION + last.len())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, item: T) {
        match self.0.last_mut().filter(|last| last.len() < PORTION) {
            Some(last) => last.push(item),
            None => self.0.push(vec![item]),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// All items in slices of one portion each; the last may be shorter.
    pub fn portions(&self) -> impl Iterator<Item = &[T]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Allocated bytes, without what the items own.
    #[cfg(test)]
    fn memory(&self) -> usize {
        self.0.iter().map(|portion| portion.capacity() * size_of::<T>()).sum()
    }
}

impl<T> Extend<T> for ChunkedVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T> Index<usize> for ChunkedVec<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.0[at / PORTION][at % PORTION]
    }
}

impl<T> IndexMut<usize> for ChunkedVec<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.0[at / PORTION][at % PORTION]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_list_whose_room_is_what_it_holds() {
        let mut rows = ChunkedVec::default();
        assert!(rows.is_empty() && rows.portions().next().is_none());
        let many = 2 * PORTION as u64 + 17;
        rows.extend(0..many - 1);
        rows.push(many - 1);
        assert_eq!(rows.len() as u64, many);
        assert!(rows.iter().copied().eq(0..many));
        assert_eq!((rows[0], rows[PORTION - 1], rows[PORTION], rows[2 * PORTION + 16]), (0, 65_535, 65_536, many - 1));
        rows[PORTION] = 5;
        assert_eq!(rows.portions().nth(1).map(|portion| (portion.len(), portion[0])), Some((PORTION, 5)));
        assert_eq!(rows.portions().map(<[u64]>::len).sum::<usize>(), rows.len());
        assert!(rows.memory() <= (rows.len() + 32) * size_of::<u64>(), "portions that are full have no room to spare");
    }
}
