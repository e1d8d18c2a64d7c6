//! The corpus as Parquet: a column for each field of a document.
//!
//! Memory: a row group in progress, cut by bytes and not by rows, beside what is being read.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::Export;
use super::columns;
use super::output::{Files, Out, Output};
use suidao_store::corpus::{Fields, Streamed};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Meta, StoreError};

/// Bytes of a row group in progress at which it is closed.
const ROW_GROUP: usize = 64 << 20;

/// Bytes of rows that are made into columns at a time, and their number.
const BATCH: (usize, usize) = (4 << 20, 1024);

/// Level of compression: zstd's own default. The library's, 1, makes a corpus a quarter larger.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// Columns that hardly ever hold a value twice: a dictionary of them would be thrown away.
const DISTINCT: [&str; 5] = ["id", "url", "text", "digest", "simhash"];

/// Writes the chosen pages, each with the given fields.
pub fn write(export: &Export, output: &Output, fields: &Fields) -> Result<Streamed, StoreError> {
    output.packed_files(".parquet", |files| {
        let schema = columns::schema(fields).map_err(of_arrow)?;
        let mut tables = Tables { files, table: None, limit: output.limit(), schema, meta: export.store.meta() };
        tables.begin()?;
        let batch = usize::try_from(output.limit() / 4).unwrap_or(usize::MAX).min(BATCH.0);
        let (mut rows, mut size) = (Vec::new(), 0);
        let streamed = export.each(
            |chosen| Ok(chosen.document(fields.parts())?),
            |row| {
                size += columns::size(&row);
                rows.push(row);
                if size >= batch || rows.len() >= BATCH.1 {
                    tables.write(&columns::batch(fields, &rows).map_err(of_arrow)?)?;
                    rows.clear();
                    size = 0;
                }
                Ok(())
            },
        )?;
        if !rows.is_empty() {
            tables.write(&columns::batch(fields, &rows).map_err(of_arrow)?)?;
        }
        tables.finish()?;
        Ok(streamed)
    })
}

struct Tables<'a, 'e> {
    files: Files<'a>,
    table: Option<ArrowWriter<Out<'a>>>,
    limit: u64,
    schema: SchemaRef,
    meta: &'e Meta,
}

impl Tables<'_, '_> {
    fn begin(&mut self) -> Result<(), WriteError> {
        let (_, out) = self.files.begin()?;
        self.table = Some(table(out, &self.schema, self.meta)?);
        Ok(())
    }

    /// Adds rows; the next file is begun when there is something to write into it.
    fn write(&mut self, rows: &RecordBatch) -> Result<(), WriteError> {
        if self.table.is_none() {
            self.begin()?;
        }
        let Some(table) = &mut self.table else { return Ok(()) };
        add(table, rows)?;
        if (table.bytes_written() + table.in_progress_size()) as u64 >= self.limit {
            self.finish()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        self.table.take().map_or(Ok(()), finish)
    }
}

/// Begins a table; it says which crawl it is of.
pub(super) fn table<'a>(out: Out<'a>, schema: &SchemaRef, meta: &Meta) -> Result<ArrowWriter<Out<'a>>, WriteError> {
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
    ArrowWriter::try_new(out, schema.clone(), Some(properties.build())).map_err(of_parquet)
}

pub(super) fn add(table: &mut ArrowWriter<Out<'_>>, rows: &RecordBatch) -> Result<(), WriteError> {
    table.write(rows).map_err(of_parquet)?;
    if table.memory_size() >= ROW_GROUP {
        table.flush().map_err(of_parquet)?;
    }
    Ok(())
}

/// Ends a table: what it holds is handed over whole.
pub(super) fn finish(mut table: ArrowWriter<Out<'_>>) -> Result<(), WriteError> {
    table.finish().map_err(of_parquet)?;
    Ok(table.inner_mut().flush()?)
}

/// What the system said, where it was the system, so that a full disk is told as one.
fn of_parquet(error: ParquetError) -> WriteError {
    match error {
        ParquetError::External(source) => WriteError::Out(match source.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(other) => std::io::Error::other(other),
        }),
        other => WriteError::Out(std::io::Error::other(other)),
    }
}

pub(super) fn of_arrow(error: ArrowError) -> WriteError {
    WriteError::Out(std::io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Date32Type, Int32Type, TimestampMillisecondType};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    fn read(path: &std::path::Path) -> (Vec<RecordBatch>, Vec<(String, Option<String>)>) {
        let file = std::fs::File::open(path).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let pairs = builder.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let pairs = pairs.into_iter().map(|pair| (pair.key, pair.value)).collect();
        (builder.build().unwrap().map(Result::unwrap).collect(), pairs)
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
        let export = Export { store: &store, catalogue: &catalogue, selection: &selection, tell: &|| {} };
        let path = root.path().join("pages.parquet");
        assert_eq!(write(&export, &Output::file(&path), &Fields::all()).unwrap().pages, 2);
        let (batches, pairs) = read(&path);
        assert!(pairs.contains(&("suidao.topic".to_owned(), Some("体育".to_owned()))));
        assert!(pairs.contains(&("suidao.lexicon".to_owned(), Some("sha1:LEXICON".to_owned()))));
        let rows = &batches[0];
        assert_eq!((rows.num_rows(), rows.num_columns()), (2, Fields::ALL.len()));
        let column = |name: &str| rows.column_by_name(name).unwrap();
        assert_eq!(column("title").as_string::<i32>().value(1), "比赛");
        let published = column("published").as_primitive::<Date32Type>();
        assert_eq!(published.iter().collect::<Vec<_>>(), [None, Some(18_691)]);
        assert_eq!(column("fetched").as_primitive::<TimestampMillisecondType>().value(1), 1_700_000_001_000);
        assert_eq!(column("status").as_primitive::<Int32Type>().value(0), 200);
        let links = column("links").as_list::<i32>();
        assert_eq!((links.value_length(0), links.value_length(1)), (1, 0));
        let link = links.value(0);
        let link = link.as_struct();
        assert_eq!(link.column_by_name("url").unwrap().as_string::<i32>().value(0), "http://a.cn/1");
        assert!(link.column_by_name("nofollow").unwrap().as_boolean().value(0));

        let shards = Output { path: root.path().join("shards"), shard_size: Some(10) };
        let few = Fields::named(["url", "terms"]).unwrap();
        write(&export, &shards, &few).unwrap();
        let urls = ["shards-00000.parquet", "shards-00001.parquet"].map(|name| {
            let (batches, _) = read(&shards.path.join(name));
            assert_eq!(batches[0].num_columns(), 2);
            batches[0].column(0).as_string::<i32>().value(0).to_owned()
        });
        assert_eq!(urls, ["http://a.cn/", "http://a.cn/1"]);
        assert_eq!(std::fs::read_dir(&shards.path).unwrap().count(), 2);
    }
}
