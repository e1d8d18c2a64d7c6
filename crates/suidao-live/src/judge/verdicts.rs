//! The opinions that a crawl directory keeps, by digest of what was asked. So the judge is asked once about a text, and
//! later runs need none. One line each: digest, tab, number.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use suidao_store::store::{StoreError, plain_file};
use xxhash_rust::xxh3::xxh3_128;

/// Digest of a judge and a text.
pub(super) type Question = u128;

pub(super) fn question(judge: u128, text: &str) -> Question {
    let mut bytes = judge.to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    xxh3_128(&bytes)
}

pub(super) struct Verdicts {
    path: PathBuf,
    known: FxHashMap<Question, f32>,
    /// Whether the file ends within a line, because a run was killed.
    is_cut: bool,
    file: Option<File>,
}

impl Verdicts {
    /// Reads the file if there is one. Lines that are none of ours are ignored: the directory may be somebody else's.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let text = match path.symlink_metadata() {
            Ok(_) => plain_file::read_text(path, plain_file::LARGE)?,
            Err(_) => String::new(),
        };
        let parse = |line: &str| {
            let (question, opinion) = line.split_once('\t')?;
            let opinion: f32 = opinion.trim_end().parse().ok().filter(|opinion: &f32| opinion.is_finite())?;
            Some((u128::from_str_radix(question, 16).ok()?, opinion))
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let known = whole.lines().filter_map(parse).collect();
        Ok(Self { path: path.to_owned(), known, is_cut: !text.is_empty() && !text.ends_with('\n'), file: None })
    }

    pub(super) fn get(&self, question: Question) -> Option<f64> {
        self.known.get(&question).map(|&opinion| f64::from(opinion))
    }

    /// Adds opinions. What [`Self::get`] then returns is what a later run reads.
    pub(super) fn add(&mut self, opinions: &[(Question, f64)]) -> Result<(), StoreError> {
        if opinions.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            file => file.insert(plain_file::open(&self.path, OpenOptions::new().append(true).create(true))?),
        };
        let mut lines = String::new();
        if std::mem::take(&mut self.is_cut) {
            lines.push('\n');
        }
        for &(question, opinion) in opinions {
            lines += &format!("{question:032x}\t{}\n", opinion as f32);
            self.known.insert(question, opinion as f32);
        }
        file.write_all(lines.as_bytes()).map_err(StoreError::io(&self.path, "write it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_survive_a_kill_and_nonsense() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("verdicts.tsv");
        let mut verdicts = Verdicts::read(&path).unwrap();
        let [one, two] = ["一", "二"].map(|text| question(7, text));
        assert!(one != two && question(8, "一") != one);
        verdicts.add(&[(one, 0.1), (two, -1.0)]).unwrap();
        let kept = verdicts.get(one);
        assert!((kept.unwrap() - 0.1).abs() < 1e-6);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("x\n{:032x}\tNaN\n{:032x}\tinf\n{}", 5, 6, &text[..text.len() - 2])).unwrap();
        let mut verdicts = Verdicts::read(&path).unwrap();
        assert_eq!((verdicts.get(one), verdicts.get(two), verdicts.get(5), verdicts.get(6)), (kept, None, None, None));
        verdicts.add(&[(two, 0.5)]).unwrap();
        assert_eq!(Verdicts::read(&path).unwrap().get(two), Some(0.5));
    }
}
