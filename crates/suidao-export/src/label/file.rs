//! `labels.tsv`: a line per labelled page with URL, `yes` or `no`, relevance, stratum; `readings.tsv`: with the scores of
//! two lexicons. A line is written by one call and synced before the next page is shown. An incomplete line after a crash is removed at the next start.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use suidao_page::model::CrawlUrl;
use suidao_page::text::entries;
use suidao_store::store::{StoreError, plain_file};

/// The column after the stratum of an answer that a judge outside the program gave.
pub const BY_JUDGE: &str = "judge";

/// Whether each page is relevant, by its last label; a person's counts before a judge's.
pub type Labels = FxHashMap<CrawlUrl, bool>;

#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// It is not a plain file, too large, or cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An invalid line, counted from 1.
    #[error("{}, line {line}: {what}; write the URL, a tab, and yes or no", path.display())]
    Line { path: PathBuf, line: usize, what: String },
}

#[derive(Debug)]
pub struct LabelFile {
    path: PathBuf,
    file: File,
    /// Start of each line of this session.
    line_starts: Vec<u64>,
}

impl LabelFile {
    /// Opens or creates the file and reads its labels, the last one of each page.
    ///
    /// # Errors
    /// [`LabelError`] names the file and the invalid line.
    pub fn open(path: &Path) -> Result<(Self, Labels), LabelError> {
        let mut file = plain_file::open(path, OpenOptions::new().append(true).create(true))?;
        let mut bytes = plain_file::read(path, plain_file::LARGE)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        if is_incomplete(&bytes[whole..]) {
            bytes.truncate(whole);
            file.set_len(whole as u64).map_err(StoreError::io(path, "write the labels"))?;
        }
        let AnswersByWhom { person, judge } = AnswersByWhom::parse(path, &String::from_utf8_lossy(&bytes))?;
        let labels = judge.into_iter().chain(person).collect();
        // An editor may have left the last line without its end.
        if bytes.last().is_some_and(|&byte| byte != b'\n') {
            file.write_all(b"\n").map_err(StoreError::io(path, "write the labels"))?;
        }
        Ok((Self { path: path.to_owned(), file, line_starts: Vec::new() }, labels))
    }

    /// Adds an answer and further columns; it is on disk on return.
    pub fn add(&mut self, url: &CrawlUrl, relevant: bool, columns: fmt::Arguments<'_>) -> Result<(), LabelError> {
        let answer = if relevant { "yes" } else { "no" };
        let line = format!("{url}\t{answer}\t{columns}\n");
        let mut add = || {
            self.line_starts.push(self.file.metadata()?.len());
            self.file.write_all(line.as_bytes())?;
            self.file.sync_data()
        };
        Ok(add().map_err(StoreError::io(&self.path, "write the labels"))?)
    }

    /// Removes the last answer of this session; false if there is none.
    pub fn undo(&mut self) -> Result<bool, LabelError> {
        let Some(begin) = self.line_starts.pop() else { return Ok(false) };
        let cut = self.file.set_len(begin).and_then(|()| self.file.sync_data());
        cut.map_err(StoreError::io(&self.path, "write the labels"))?;
        Ok(true)
    }
}

/// The labels of a file by who gave them.
#[derive(Debug, Default)]
pub struct AnswersByWhom {
    pub person: Labels,
    pub judge: Labels,
}

impl AnswersByWhom {
    /// # Errors
    /// [`LabelError`] names the file and the invalid line.
    pub fn read(path: &Path) -> Result<Self, LabelError> {
        let bytes = plain_file::read(path, plain_file::LARGE)?;
        Self::parse(path, &String::from_utf8_lossy(&bytes))
    }

    /// Of the pages that both answered, the number with the same answer, and the number of all.
    pub fn agreement(&self) -> (usize, usize) {
        let both = self.judge.iter().filter_map(|(url, judge)| Some(self.person.get(url)? == judge));
        both.fold((0, 0), |(same, all), agrees| (same + usize::from(agrees), all + 1))
    }

    /// Parses labels; skips empty lines and `#` comments.
    fn parse(path: &Path, text: &str) -> Result<Self, LabelError> {
        let mut answers = Self::default();
        for (line, result) in entries(text) {
            let wrong = |what: String| LabelError::Line { path: path.to_owned(), line, what };
            let mut fields = result.split('\t').map(str::trim);
            let url = fields.next().unwrap_or_default();
            let url = CrawlUrl::parse(url).map_err(|error| wrong(format!("{url} is not a URL: {error}")))?;
            let relevant = match fields.next().unwrap_or_default() {
                "yes" | "1" | "true" => true,
                "no" | "0" | "false" => false,
                other => return Err(wrong(format!("{other:?} is not a label"))),
            };
            let labels = if fields.nth(2) == Some(BY_JUDGE) { &mut answers.judge } else { &mut answers.person };
            labels.insert(url, relevant);
        }
        Ok(answers)
    }
}

/// Whether a line without an end is the rest of an interrupted write; any other is the user's, and an error if invalid.
fn is_incomplete(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let verdict = line.split('\t').nth(1);
    verdict.is_some_and(|verdict| {
        !["yes", "no"].contains(&verdict) && ["yes", "no"].iter().any(|whole| whole.starts_with(verdict))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(url: &str, relevant: bool) -> (CrawlUrl, bool) {
        (CrawlUrl::parse(url).unwrap(), relevant)
    }

    #[test]
    fn answers_are_saved_undone_and_read_again() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("labels.tsv");
        let (mut file, labels) = LabelFile::open(&path).unwrap();
        assert!(labels.is_empty());
        let (one, two) = (label("http://a.cn/1", true), label("http://a.cn/%E8%B6%B3", false));
        file.add(&one.0, one.1, format_args!("0.1250\t4")).unwrap();
        file.add(&two.0, two.1, format_args!("0.0000\t0")).unwrap();
        assert!(file.undo().unwrap());
        file.add(&two.0, two.1, format_args!("0.0000\t0")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "http://a.cn/1\tyes\t0.1250\t4\nhttp://a.cn/%E8%B6%B3\tno\t0.0000\t0\n");
        let (mut again, labels) = LabelFile::open(&path).unwrap();
        assert_eq!(labels, Labels::from_iter([one, two]));
        assert!(!again.undo().unwrap(), "answers of an earlier session remain");
    }

    #[test]
    fn a_person_counts_before_a_judge() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("labels.tsv");
        let judge = |page: u32, answer: &str| format!("http://a.cn/{page}\t{answer}\t0.5000\t4\tjudge\n");
        let own = |page: u32, answer: &str| format!("http://a.cn/{page}\t{answer}\t0.5000\t4\n");
        std::fs::write(&path, own(1, "yes") + &judge(1, "no") + &judge(2, "no") + &own(2, "no")).unwrap();
        let (_, labels) = LabelFile::open(&path).unwrap();
        assert_eq!(labels, Labels::from_iter([label("http://a.cn/1", true), label("http://a.cn/2", false)]));
        assert_eq!(AnswersByWhom::read(&path).unwrap().agreement(), (1, 2));
    }

    #[test]
    fn what_a_crash_left_is_cut_off_and_a_wrong_line_is_named() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("labels.tsv");
        std::fs::write(&path, "# by hand\nhttp://a.cn/1\tyes\nhttp://a.cn/2\tn").unwrap();
        let (mut file, labels) = LabelFile::open(&path).unwrap();
        assert_eq!(labels, Labels::from_iter([label("http://a.cn/1", true)]));
        file.add(&label("http://a.cn/1", false).0, false, format_args!("1.0000\t7")).unwrap();
        let (_, labels) = LabelFile::open(&path).unwrap();
        assert_eq!(labels, Labels::from_iter([label("http://a.cn/1", false)]), "the last word counts");
        std::fs::write(&path, "http://a.cn/1\tperhaps\n").unwrap();
        let message = LabelFile::open(&path).unwrap_err().to_string();
        assert!(message.contains("labels.tsv, line 1: \"perhaps\" is not a label"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "http://a.cn/1\tperhaps\n", "nothing is changed");
        std::fs::write(&path, "http://a.cn/1\tperhaps").unwrap();
        assert!(LabelFile::open(&path).is_err(), "written by hand, and not torn");
        std::fs::write(&path, "http://a.cn/1\tyes\nhttp://a.cn/2").unwrap();
        let message = LabelFile::open(&path).unwrap_err().to_string();
        assert!(message.contains("line 2"), "{message}");
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("/2"), "nothing is cut");
    }
}
