//! The selected pages as a web archive: request and response records copied byte for byte from the crawl's, after a
//! warcinfo record.

use std::io::{self, Write};

use super::Export;
use super::output::{Out, Output, OutputFiles};
use suidao_store::corpus::Streamed;
use suidao_store::store::directory::WriteError;
use suidao_store::store::{StoreError, warcinfo};

pub fn write(export: &Export, output: &Output) -> Result<Streamed, StoreError> {
    output.packed_files(".warc.gz", |mut files| {
        let mut archive = Archive::begin(export, &mut files)?;
        let streamed = export.each(
            |chosen| Ok(chosen.responses.iter().map(|response| response.records.clone()).collect::<Vec<_>>()),
            |responses| {
                for records in responses {
                    if archive.pages > 0 && archive.length + records.len() as u64 > output.limit() {
                        archive.out.flush()?;
                        archive = Archive::begin(export, &mut files)?;
                    }
                    archive.pages += 1;
                    archive.add(&records)?;
                }
                Ok(())
            },
        )?;
        archive.out.flush()?;
        Ok(streamed)
    })
}

struct Archive<'a> {
    out: Out<'a>,
    length: u64,
    pages: u64,
}

impl<'a> Archive<'a> {
    /// Begins a file with a warcinfo record that names the whole it is a part of.
    fn begin(export: &Export, files: &mut OutputFiles<'a>) -> Result<Self, WriteError> {
        let (name, out) = files.begin()?;
        let meta = export.store.meta();
        let description = format!(
            "pages selected from a focused crawl: topic {}, lexicon {}, strategy {}",
            meta.topic, meta.lexicon, meta.strategy
        );
        let fields = [("isPartOf", meta.topic.as_str()), ("description", &description)];
        let id = format!("{name} {} {}", meta.created.0, export.selection.pages);
        let info = warcinfo(&name, &id, meta.created, &fields)?;
        let mut archive = Self { out, length: 0, pages: 0 };
        archive.add(&info)?;
        Ok(archive)
    }

    fn add(&mut self, records: &[u8]) -> io::Result<()> {
        self.length += records.len() as u64;
        self.out.write_all(records)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Condition, Filter};
    use suidao_store::store::Responses;

    fn urls(path: &Path) -> Vec<String> {
        Responses::open(path, 1 << 20).unwrap().map(|page| page.unwrap().url.to_string()).collect()
    }

    #[test]
    fn records_are_copied_as_they_are() {
        let root = tempfile::tempdir().unwrap();
        let store = crawl(
            root.path(),
            &[
                ("http://www.b.cn/0", "<title>足球 NBA</title><p>足球 篮球 NBA 比赛 比分"),
                ("http://b.cn/off", "<p>the weather is fine today, said the man"),
                ("http://a.cn/1?z=1&a=2", "<title>足球 NBA</title><p>足球 篮球 NBA 比赛 比分"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter { all_of: vec![Condition::Relevant(true)], ..Filter::default() }.select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        let path = root.path().join("few.warc.gz");
        assert_eq!(write(&export, &Output::file(&path)).unwrap().pages, 2);
        assert_eq!(urls(&path), ["http://www.b.cn/0", "http://a.cn/1?z=1&a=2"]);
        let whole = std::fs::read(&path).unwrap();
        // The crawl's archive has the same bytes.
        let own = std::fs::read(root.path().join("pages/suidao-00000.warc.gz")).unwrap();
        let records = &whole[whole.len() - 600..];
        assert!(own.windows(records.len()).any(|window| window == records));

        let shards = Output { path: root.path().join("all"), shard_size: Some(100) };
        write(&export, &shards).unwrap();
        assert_eq!(urls(&shards.path.join("all-00000.warc.gz")), ["http://www.b.cn/0"]);
        assert_eq!(urls(&shards.path.join("all-00001.warc.gz")), ["http://a.cn/1?z=1&a=2"]);
    }
}
