//! Names of hosts by number, and back.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names in the order of their numbers, from 0.
#[derive(Default)]
pub(super) struct Names {
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
    index: HashTable<u32>,
}

impl Names {
    /// The number of a name, if it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.index.find(hash(name), |&number| self.get(number) == name).copied()
    }

    /// Takes in a name that [`Names::find`] does not know: the next number is its own.
    pub fn push(&mut self, name: &str) {
        let number = u32::try_from(self.ends.len()).expect("fewer hosts than URLs");
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("names of hosts are less than 4 GB: memory ends before"));
        let Self { text, ends, index } = self;
        index.insert_unique(hash(name), number, |&number| hash(get(text, ends, number)));
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, number: u32) -> &str {
        get(&self.text, &self.ends, number)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|number| get(&self.text, &self.ends, number as u32))
    }

    /// Bytes allocated.
    pub fn memory(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>() + self.index.allocation_size()
    }
}

fn get<'a>(text: &'a str, ends: &[u32], number: u32) -> &'a str {
    let at = number as usize;
    let from = at.checked_sub(1).map_or(0, |before| ends[before] as usize);
    &text[from..ends[at] as usize]
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.iter().collect::<Vec<_>>().join("\n"))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lines = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let mut names = Self::default();
        for name in lines.lines() {
            if names.find(name).is_some() {
                return Err(D::Error::custom("a host twice"));
            }
            names.push(name);
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number_and_numbers_by_name() {
        let mut names = Names::default();
        let name = |n: u32| format!("h{}.cn{}", n * 7919, if n.is_multiple_of(3) { ":8080" } else { "" });
        for n in 0..5_000 {
            assert_eq!(names.find(&name(n)), None);
            names.push(&name(n));
        }
        let kept = postcard::to_stdvec(&names).unwrap();
        let again: Names = postcard::from_bytes(&kept).unwrap();
        for names in [&names, &again] {
            assert!((0..5_000).all(|n| names.find(&name(n)) == Some(n) && names.get(n) == name(n)));
            assert_eq!((names.iter().len(), names.find("h.cn"), names.find("")), (5_000, None, None));
        }
        assert!(postcard::from_bytes::<Names>(&postcard::to_stdvec("a.cn\nb.cn\na.cn").unwrap()).is_err());
        assert!(postcard::from_bytes::<Names>(&postcard::to_stdvec("").unwrap()).unwrap().iter().len() == 0);
    }
}
