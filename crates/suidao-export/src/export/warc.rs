//! The chosen pages as a web archive: request and response records copied byte for byte out of the crawl's, behind a
//! warcinfo record, with a CDXJ index beside them (`ml.warc.gz` and `ml.cdxj`).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Export;
use super::cdxj::{Place, Sorter, line};
use super::output::{Files, Out, Output};
use suidao_page::model::CrawlUrl;
use suidao_store::corpus::{Answer, Streamed};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{StoreError, warcinfo};

/// How a file ends, and its index.
const SUFFIX: &str = ".warc.gz";
const INDEX: &str = ".cdxj";

/// Where the index of a file lies.
pub fn index_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{}{INDEX}", name.strip_suffix(SUFFIX).unwrap_or(&name)))
}

/// Writes the records of the chosen pages. Beside the standard output there is no index.
///
/// # Errors
/// [`StoreError`] if log or archive do not read, or the output cannot be written.
pub fn write(export: &Export, output: &Output) -> Result<Streamed, StoreError> {
    output.packed_files(SUFFIX, Some(INDEX), |mut files| {
        let mut index = Sorter::default();
        let mut archive = Archive::begin(export, &mut files)?;
        let streamed = export.each(
            |chosen| {
                let copied = |answer: &Answer| {
                    let exchange = answer.exchange()?;
                    let url = CrawlUrl::parse(&exchange.uri).map_err(io::Error::other)?;
                    Ok((exchange, url, answer.record.clone()))
                };
                chosen.answers.iter().map(copied).collect::<Result<Vec<_>, WriteError>>()
            },
            |answers| {
                for (exchange, url, record) in answers {
                    let size = (exchange.request.len() + record.len()) as u64;
                    if archive.pages > 0 && archive.length + size > output.limit() {
                        archive.out.flush()?;
                        archive = Archive::begin(export, &mut files)?;
                    }
                    archive.pages += 1;
                    archive.add(&exchange.request)?;
                    let place =
                        Place { filename: archive.name.clone(), offset: archive.length, length: exchange.length };
                    archive.add(&record)?;
                    index.add(line(&exchange, &url, &place)?)?;
                }
                Ok(())
            },
        )?;
        archive.out.flush()?;
        if let Some(mut out) = files.companion()? {
            index.write(&mut out)?;
            out.flush()?;
        }
        Ok(streamed)
    })
}

/// A WARC file in progress.
struct Archive<'a> {
    name: String,
    out: Out<'a>,
    length: u64,
    pages: u64,
}

impl<'a> Archive<'a> {
    /// Begins a file with a warcinfo record that says what it is a part of.
    fn begin(export: &Export, files: &mut Files<'a>) -> Result<Self, WriteError> {
        let (name, out) = files.begin()?;
        let meta = export.store.meta();
        let description = format!(
            "pages chosen from a focused crawl: topic {}, lexicon {}, strategy {}",
            meta.topic, meta.lexicon, meta.strategy
        );
        let fields = [("isPartOf", meta.topic.as_str()), ("description", &description)];
        let id = format!("{name} {} {}", meta.created.0, export.selection.pages);
        let info = warcinfo(&name, &id, meta.created, &fields)?;
        let mut archive = Self { name, out, length: 0, pages: 0 };
        archive.add(&info)?;
        Ok(archive)
    }

    fn add(&mut self, record: &[u8]) -> io::Result<()> {
        self.length += record.len() as u64;
        self.out.write_all(record)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};
    use suidao_store::store::Responses;

    fn urls(path: &Path) -> Vec<String> {
        Responses::open(path, 1 << 20).unwrap().map(|page| page.unwrap().url.to_string()).collect()
    }

    #[test]
    fn records_are_copied_and_the_index_finds_them() {
        let root = tempfile::tempdir().unwrap();
        let store = crawl(
            root.path(),
            &[
                ("http://www.b.cn/", "<title>足球 NBA</title><p>足球 篮球 NBA 比赛"),
                ("http://b.cn/off", "<p>the weather is fine today, said the man"),
                ("http://a.cn/1?z=1&a=2", "<title>足球 NBA</title><p>足球 篮球 NBA 比赛"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter { relevant: true, ..Filter::default() }.select(&catalogue);
        let export = Export { store: &store, catalogue: &catalogue, selection: &selection, tell: &|| {} };
        let path = root.path().join("few.warc.gz");
        assert_eq!(write(&export, &Output::file(&path)).unwrap().pages, 2);
        assert_eq!(urls(&path), ["http://www.b.cn/", "http://a.cn/1?z=1&a=2"]);
        let whole = std::fs::read(&path).unwrap();
        let index = std::fs::read_to_string(root.path().join("few.cdxj")).unwrap();
        let lines: Vec<(&str, serde_json::Value)> = index
            .lines()
            .map(|line| line.split_at(line.find('{').unwrap()))
            .map(|(key, json)| (key, serde_json::from_str(json).unwrap()))
            .collect();
        assert_eq!(lines[0].0, "cn,a)/1?a=2&z=1 20231114221322 ");
        assert_eq!(lines[1].0, "cn,b)/ 20231114221320 ");
        for (_, json) in &lines {
            let number = |name: &str| json[name].as_str().unwrap().parse::<usize>().unwrap();
            assert_eq!((json["mime"].as_str(), json["status"].as_str()), (Some("text/html"), Some("200")));
            assert_eq!(json["filename"], "few.warc.gz");
            let record = &whole[number("offset")..number("offset") + number("length")];
            let mut text = String::new();
            io::Read::read_to_string(&mut flate2::read::GzDecoder::new(record), &mut text).unwrap();
            assert!(text.starts_with("WARC/1.1\r\nWARC-Type: response") && text.ends_with("\r\n\r\n"), "{text}");
            assert!(text.contains(json["url"].as_str().unwrap()) && text.contains(json["digest"].as_str().unwrap()));
        }
        // Every record lies in the crawl's archive just so.
        let own = std::fs::read(root.path().join("pages/suidao-00000.warc.gz")).unwrap();
        let records = &whole[whole.len() - 600..];
        assert!(own.windows(records.len()).any(|window| window == records));

        let shards = Output { path: root.path().join("all"), shard_size: Some(100) };
        write(&export, &shards).unwrap();
        assert_eq!(urls(&shards.path.join("all-00000.warc.gz")), ["http://www.b.cn/"]);
        assert_eq!(urls(&shards.path.join("all-00001.warc.gz")), ["http://a.cn/1?z=1&a=2"]);
        let index = std::fs::read_to_string(shards.path.join("all.cdxj")).unwrap();
        assert!(index.contains("all-00001.warc.gz") && index.lines().count() == 2, "{index}");
    }
}
