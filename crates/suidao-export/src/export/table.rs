//! The corpus as CSV (RFC 4180): a header, then a row per page, in order of fetching. Lists and objects are JSON.

use serde_json::Value;

use super::{Export, Output};
use suidao_store::corpus::{DocumentFields, JsonDocument, Streamed};
use suidao_store::store::StoreError;

pub fn write(export: &Export, output: &Output, fields: &DocumentFields) -> Result<Streamed, StoreError> {
    output.rows("csv", |rows| {
        rows.set_header(row(fields.names().map(str::to_owned))?)?;
        export.each(
            |chosen| {
                let document = export.document(chosen, fields.parts())?;
                let mut values = serde_json::to_value(JsonDocument(&document, fields)).map_err(std::io::Error::from)?;
                Ok(row(fields.names().map(|name| cell(values[name].take())))?)
            },
            |line| Ok(rows.add(&line)?),
        )
    })
}

fn row(cells: impl Iterator<Item = String>) -> std::io::Result<Vec<u8>> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(cells)?;
    line.into_inner().map_err(csv::IntoInnerError::into_error)
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    #[test]
    fn every_shard_has_a_header_and_every_page_a_row() {
        let root = tempfile::tempdir().unwrap();
        let pages = [
            ("http://a.cn/", "<title>首页, \"足球\"</title><p>足球 <a href=/1>比赛</a></p>"),
            ("http://a.cn/1", "<title>比赛</title><p>第一段的足球</p><p>第二段的篮球</p>"),
        ];
        let store = crawl(root.path(), &pages);
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter::default().select(&catalogue);
        let (store, catalogue, selection) = (&store, &catalogue, &selection);
        let export = Export { store, catalogue, selection, progress: &|| {}, extractor: None };
        let fields = DocumentFields::named(["title", "text", "relevant", "terms", "author"]).unwrap();
        let out = tempfile::tempdir().unwrap();
        let rows = |path: &std::path::Path| -> Vec<csv::StringRecord> {
            let mut table = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
            table.records().map(|row| row.unwrap()).collect()
        };
        let whole = out.path().join("pages.csv");
        assert_eq!(write(&export, &Output::file(&whole), &fields).unwrap().pages, 2);
        let found = rows(&whole);
        assert_eq!(found[0], ["title", "text", "author", "relevant", "terms"][..]);
        assert_eq!((&found[1][0], &found[2][1], &found[2][2]), ("首页, \"足球\"", "第一段的足球\n第二段的篮球", ""));
        assert!(found[2][4].starts_with("[{"), "{:?}", found[2]);
        let shards = Output { path: out.path().join("shards.csv"), shard_size: Some(1) };
        write(&export, &shards, &fields).unwrap();
        let shard = |name: &str| rows(&out.path().join("shards.csv").join(name));
        assert_eq!(
            [shard("shards-00000.csv"), shard("shards-00001.csv")],
            [[found[0].clone(), found[1].clone()], [found[0].clone(), found[2].clone()]]
        );
    }
}
