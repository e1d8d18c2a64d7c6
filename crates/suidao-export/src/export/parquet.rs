//! The corpus as Parquet: a column for each field of a document.
//!
//! Memory: the documents of a row group, limited by bytes and not by rows, and the columns of one of their fields.

use std::io::Write;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, TypePtr};

use super::Export;
use super::columns::{self, Leaf};
use super::output::{Out, Output};
use suidao_store::corpus::{DocumentFields, Streamed};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Meta, StoreError};

const ROW_GROUP: usize = 64 << 20;

/// zstd's own default. The library's, 1, makes a corpus a quarter larger.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// Columns with almost no repeated values: a dictionary would be useless.
const DISTINCT: [&str; 5] = ["id", "url", "text", "digest", "simhash"];

pub fn write(export: &Export, output: &Output, fields: &DocumentFields) -> Result<Streamed, StoreError> {
    output.packed_files(".parquet", |mut files| {
        let schema = columns::schema(fields).map_err(of_parquet)?;
        let meta = export.store.meta();
        let limit = output.limit();
        let group = usize::try_from(limit / 4).unwrap_or(usize::MAX).min(ROW_GROUP);
        let mut table = Some(ParquetTable::begin(files.begin()?.1, &schema, meta)?);
        let (mut rows, mut size) = (Vec::new(), 0);
        let mut write = |rows: &[_]| -> Result<(), WriteError> {
            // The next file is begun when there is something to write into it.
            let mut current = match table.take() {
                Some(current) => current,
                None => ParquetTable::begin(files.begin()?.1, &schema, meta)?,
            };
            current.write(fields.names().map(|name| columns::column(name, rows)))?;
            if current.0.bytes_written() as u64 >= limit - limit / 4 {
                current.finish()?;
            } else {
                table = Some(current);
            }
            Ok(())
        };
        let streamed = export.each(
            |chosen| Ok(export.document(chosen, fields.parts())?),
            |row| {
                size += columns::size(&row);
                rows.push(row);
                if size >= group {
                    write(&rows)?;
                    rows.clear();
                    size = 0;
                }
                Ok(())
            },
        )?;
        if !rows.is_empty() {
            write(&rows)?;
        }
        if let Some(table) = table {
            table.finish()?;
        }
        Ok(streamed)
    })
}

/// A table being written.
pub(super) struct ParquetTable<'a>(SerializedFileWriter<Out<'a>>);

impl<'a> ParquetTable<'a> {
    /// Begins a table with the metadata of the crawl.
    pub fn begin(out: Out<'a>, schema: &TypePtr, meta: &Meta) -> Result<Self, WriteError> {
        let version = env!("CARGO_PKG_VERSION");
        let of_crawl =
            [("version", version), ("topic", &meta.topic), ("lexicon", &meta.lexicon), ("strategy", &meta.strategy)];
        let of_crawl = of_crawl.map(|(key, value)| KeyValue::new(format!("suidao.{key}"), value.to_owned()));
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("suidao version {version}"))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL).map_err(of_parquet)?))
            .set_key_value_metadata(Some(of_crawl.to_vec()))
            .set_column_statistics_enabled(ColumnPath::from("text"), EnabledStatistics::None);
        for name in DISTINCT {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
        }
        SerializedFileWriter::new(out, schema.clone(), properties.build().into()).map(Self).map_err(of_parquet)
    }

    /// Writes rows as a row group, one field at a time.
    pub fn write(&mut self, fields: impl Iterator<Item = Result<Vec<Leaf>, ParquetError>>) -> Result<(), WriteError> {
        let write = || {
            let mut group = self.0.next_row_group()?;
            for leaves in fields {
                for leaf in leaves? {
                    let Some(mut column) = group.next_column()? else { break };
                    leaf.write(&mut column)?;
                    column.close()?;
                }
            }
            group.close()
        };
        write().map(|_| ()).map_err(of_parquet)
    }

    pub fn finish(mut self) -> Result<(), WriteError> {
        self.0.finish().map_err(of_parquet)?;
        Ok(self.0.inner_mut().flush()?)
    }
}

/// Keeps the system's error, so that a full disk is reported as one.
pub(super) fn of_parquet(error: ParquetError) -> WriteError {
    match error {
        ParquetError::External(source) => WriteError::Out(match source.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(other) => std::io::Error::other(other),
        }),
        other => WriteError::Out(std::io::Error::other(other)),
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};
    use serde_json::{Value, json};

    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    fn object(row: &Row) -> Value {
        row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
    }

    fn value(field: &Field) -> Value {
        match field {
            Field::Null => Value::Null,
            Field::Bool(flag) => json!(flag),
            Field::Short(number) => json!(number),
            Field::Int(number) => json!(number),
            Field::UInt(number) => json!(number),
            Field::ULong(number) => json!(number),
            Field::Float(number) => json!(number),
            Field::Str(text) => json!(text),
            Field::ListInternal(list) => list.elements().iter().map(value).collect(),
            Field::Group(row) => object(row),
            // Times and days.
            other => json!(other.to_string()),
        }
    }

    fn read(path: &std::path::Path) -> (Vec<serde_json::Value>, Vec<(String, Option<String>)>) {
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let pairs = pairs.into_iter().map(|pair| (pair.key, pair.value)).collect();
        (reader.into_iter().map(|row| object(&row.unwrap())).collect(), pairs)
    }

    #[test]
    fn rows_come_back_and_shards_are_the_table() {
        let root = tempfile::tempdir().unwrap();
        let store = crawl(
            root.path(),
            &[
                ("http://a.cn/", "<title>首页</title><p>足球 <a href=/1 rel=nofollow>比赛</a></p>"),
                ("http://a.cn/1", "<title>比赛</title><p>发布于 2021-03-05</p><p>篮球 比赛</p>"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter::default().select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        let path = root.path().join("pages.parquet");
        assert_eq!(write(&export, &Output::file(&path), &DocumentFields::all()).unwrap().pages, 2);
        let (rows, pairs) = read(&path);
        assert!(pairs.contains(&("suidao.topic".to_owned(), Some("体育".to_owned()))));
        assert!(pairs.contains(&("suidao.lexicon".to_owned(), Some("sha1:LEXICON".to_owned()))));
        assert_eq!((rows.len(), rows[0].as_object().unwrap().len()), (2, DocumentFields::all().names().count()));
        assert_eq!((&rows[1]["title"], &rows[0]["status"]), (&json!("比赛"), &json!(200)));
        assert_eq!((&rows[0]["published"], &rows[1]["published"]), (&json!(null), &json!("2021-03-05")));
        assert_eq!(rows[1]["fetched"], "2023-11-14 22:13:21.000 +00:00");
        let link = json!({ "url": "http://a.cn/1", "anchor": "比赛", "region": "content", "nofollow": true });
        assert_eq!((&rows[0]["links"], &rows[1]["links"]), (&json!([link]), &json!([])));
        let terms: Vec<&str> =
            rows[1]["terms"].as_array().unwrap().iter().map(|at| at["term"].as_str().unwrap()).collect();
        assert_eq!(terms, ["篮球"]);

        let shards = Output { path: root.path().join("shards"), shard_size: Some(10) };
        let few = DocumentFields::named(["url", "terms"]).unwrap();
        write(&export, &shards, &few).unwrap();
        let urls = ["shards-00000.parquet", "shards-00001.parquet"].map(|name| {
            let (rows, _) = read(&shards.path.join(name));
            assert_eq!((rows.len(), rows[0].as_object().unwrap().len()), (1, 2));
            rows[0]["url"].clone()
        });
        assert_eq!(urls, ["http://a.cn/", "http://a.cn/1"]);
        assert_eq!(std::fs::read_dir(&shards.path).unwrap().count(), 2);
    }
}
