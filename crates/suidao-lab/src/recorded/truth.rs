//! Lists of relevant URLs made by people, independent of any crawler.

use std::fs;
use std::path::Path;

use percent_encoding::percent_decode_str;
use rustc_hash::FxHashSet;

use super::RecordedError;
use suidao_page::model::CrawlUrl;
use suidao_page::text::entries;

/// Relevant pages, and excluded hosts. Pages are compared by [`LabelledUrls::key`], which unifies common spellings of
/// one page.
#[derive(Clone, Debug, Default)]
pub struct LabelledUrls {
    keys: FxHashSet<String>,
    excluded: FxHashSet<String>,
}

impl LabelledUrls {
    /// Reads relevant URLs, one per line (text after a tab is a comment, except that a lone `no` marks the page as not
    /// relevant, as in `labels.tsv` of `suidao label`; blanks are part of the URL), and excluded hosts, one per line,
    /// on which the lexicon was learned.
    ///
    /// # Errors
    /// [`RecordedError`] names the file and the invalid line.
    pub fn read(truth: &Path, exclude: Option<&Path>) -> Result<Self, RecordedError> {
        let excluded = exclude.map(Self::hosts).transpose()?.unwrap_or_default();
        let wrong = |line, what| RecordedError::Line { path: truth.to_owned(), line, what };
        let mut keys = FxHashSet::default();
        for (number, word, remark) in words(truth)? {
            if remark == "no" {
                continue;
            }
            let url = CrawlUrl::parse(&word).map_err(|error| wrong(number, format!("{word} is not a URL: {error}")))?;
            if !excluded.contains(url.host()) {
                keys.insert(Self::key(&url));
            }
        }
        if keys.is_empty() {
            let truth = truth.display();
            return Err(RecordedError::Unusable(format!(
                "{truth}: lists no page on a host that is not excluded; write one URL per line"
            )));
        }
        Ok(Self { keys, excluded })
    }

    /// Reads a list of hosts.
    ///
    /// # Errors
    /// [`RecordedError`] names the file and the invalid line.
    pub fn hosts(path: &Path) -> Result<FxHashSet<String>, RecordedError> {
        let host = |(line, word, _): (usize, String, String)| match CrawlUrl::parse(&format!("http://{word}/")) {
            Ok(url) if url.path() == "/" && !word.contains('/') => Ok(url.host().to_owned()),
            _ => {
                let what = format!("{word} is not a host; write names such as www.example.cn");
                Err(RecordedError::Line { path: path.to_owned(), line, what })
            }
        };
        words(path)?.into_iter().map(host).collect()
    }

    pub fn is_hit(&self, url: &CrawlUrl) -> bool {
        !self.is_excluded(url) && self.keys.contains(&Self::key(url))
    }

    pub fn is_excluded(&self, url: &CrawlUrl) -> bool {
        self.excluded.contains(url.host())
    }

    /// Number of relevant pages, without excluded hosts.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Never true after [`LabelledUrls::read`].
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Identifies a page: host and path, without escapes, query, `index.html`, trailing slashes and `.html`.
    pub fn key(url: &CrawlUrl) -> String {
        let path = percent_decode_str(url.path()).decode_utf8_lossy().into_owned();
        let path = path.strip_suffix("index.html").unwrap_or(&path).trim_end_matches('/');
        format!("{}{}", url.host(), path.strip_suffix(".html").unwrap_or(path))
    }

    /// Whether a URL is of a page; feeds, sitemaps and style sheets are not, regardless of their answers.
    pub fn is_page(url: &CrawlUrl) -> bool {
        ![".txt", ".xml", ".css", ".atom"].iter().any(|extension| url.path().ends_with(extension))
    }
}

/// For each line its number, the text up to a tab, and the text up to the next tab; ignores empty lines and `#`
/// comments.
fn words(path: &Path) -> Result<Vec<(usize, String, String)>, RecordedError> {
    let text = fs::read_to_string(path).map_err(|source| RecordedError::Read { path: path.to_owned(), source })?;
    let fields = |(number, line): (usize, &str)| {
        let (word, remarks) = line.split_once('\t').unwrap_or((line, ""));
        (number, word.trim().to_owned(), remarks.split('\t').next().unwrap_or_default().trim().to_owned())
    };
    Ok(entries(&text).map(fields).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn no_labels_name_no_relevant_page() {
        let truth = file("http://a.test/1\tyes\t0.5\t4\nhttp://a.test/2\tno\t0.1\t2\nhttp://a.test/3\tno doubt\n");
        let truth = LabelledUrls::read(truth.path(), None).unwrap();
        let hit = |url: &str| truth.is_hit(&CrawlUrl::parse(url).unwrap());
        assert_eq!(["1", "2", "3"].map(|page| hit(&format!("http://a.test/{page}"))), [true, false, true]);
    }

    #[test]
    fn spellings_of_one_page_are_one() {
        let key = |url: &str| LabelledUrls::key(&CrawlUrl::parse(url).unwrap());
        for url in
            ["http://A.test/x", "https://a.test:8443/x/", "http://a.test/x/index.html?p=2", "http://a.test/x.html#y"]
        {
            assert_eq!(key(url), "a.test/x", "{url}");
        }
        assert_eq!(key("http://a.test/%E9%A1%B5/"), "a.test/页");
        assert_eq!(key("http://a.test/"), "a.test");
        assert_ne!(key("http://a.test/x"), key("http://a.test/X"));
    }

    #[test]
    fn excluded_hosts_count_for_nothing() {
        let truth = file("\u{feff}http://a.test/x y/\thow\n\n# more\nhttp://b.test/y\nhttp://a.test/x%20y.html\n");
        let exclude = file("B.test\n");
        let truth = LabelledUrls::read(truth.path(), Some(exclude.path())).unwrap();
        let hit = |url: &str| truth.is_hit(&CrawlUrl::parse(url).unwrap());
        assert_eq!((truth.len(), hit("http://a.test/x%20y"), hit("http://b.test/y")), (1, true, false));
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let result = |truth: &str, exclude: &str| {
            let (truth, exclude) = (file(truth), file(exclude));
            LabelledUrls::read(truth.path(), Some(exclude.path())).unwrap_err().to_string()
        };
        assert!(result("http://a.test/\nword\n", "").contains("line 2: word is not a URL"));
        assert!(result("http://a.test/\n", "a.test b.test\n").contains("line 1: a.test b.test is not a host"));
        assert!(result("http://a.test/\n", "\nhttp://b.test/\n").contains("line 2: http://b.test/ is not a host"));
        assert!(result("# nothing\n", "").contains("lists no page"));
        assert!(result("http://a.test/\n", "a.test\n").contains("lists no page"));
    }
}
