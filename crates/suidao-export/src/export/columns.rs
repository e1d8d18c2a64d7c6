//! Documents as columns: which Arrow type each field has, and how it is filled.
//!
//! Whole numbers are signed, for not every reader knows unsigned ones: 32 bits for what fits 16, else 64.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Int32Array, Int64Array, ListArray, PrimitiveArray, RecordBatch, StringArray,
    StructArray, TimestampMillisecondArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, Field, Schema};

use suidao_page::model::{CrawlUrl, Region, TermMatch};
use suidao_store::corpus::document::{OutLink, Post};
use suidao_store::corpus::{Document, Fields};

/// Bytes that a document takes in columns, roughly.
pub fn size(document: &Document) -> usize {
    let links: usize = document.links.iter().map(|link| link.url.as_str().len() + link.anchor.len() + 32).sum();
    let posts: usize = document.posts.iter().map(|post| post.text.len() + 64).sum();
    1024 + document.text.len() + links + posts
}

/// The schema of a choice of fields.
///
/// # Errors
/// None in practice: the columns of no row fit together.
pub fn schema(fields: &Fields) -> Result<Arc<Schema>, ArrowError> {
    Ok(batch(fields, &[])?.schema())
}

/// Rows as columns of these fields, in their order.
///
/// # Errors
/// If the columns do not fit together, which would be a mistake of this file.
pub fn batch(fields: &Fields, rows: &[Document]) -> Result<RecordBatch, ArrowError> {
    let columns = fields.names().map(|name| {
        let (values, nullable) = column(name, rows)?;
        Ok((name, values, nullable))
    });
    RecordBatch::try_from_iter_with_nullable(columns.collect::<Result<Vec<_>, ArrowError>>()?)
}

/// The column of a field, and whether a value may be missing.
fn column(name: &str, rows: &[Document]) -> Result<(ArrayRef, bool), ArrowError> {
    let documents = || rows.iter();
    let missing = |array: ArrayRef| Ok((array, true));
    let there = |array: ArrayRef| Ok((array, false));
    match name {
        "id" => there(texts(documents().map(|page| &page.id))),
        "url" => there(texts(documents().map(|page| page.url.as_str()))),
        "host" => there(texts(documents().map(|page| &page.host))),
        "title" => there(texts(documents().map(|page| &page.title))),
        "text" => there(texts(documents().map(|page| &page.text))),
        "chars" => there(longs(documents().map(|page| page.chars.into()))),
        "language" => missing(perhaps(documents().map(|page| page.language.as_deref()))),
        "author" => missing(perhaps(documents().map(|page| page.author.as_deref()))),
        "published" => {
            missing(Arc::new(documents().map(|page| page.published.map(|day| day.0)).collect::<Date32Array>()))
        }
        "fetched" => there(instants(documents().map(|page| i64::try_from(page.fetched_at.0).ok()))),
        "first_seen" => there(instants(documents().map(|page| i64::try_from(page.seen.first.0).ok()))),
        "last_seen" => there(instants(documents().map(|page| i64::try_from(page.seen.last.0).ok()))),
        "last_changed" => there(instants(documents().map(|page| i64::try_from(page.seen.changed.0).ok()))),
        "versions" => there(longs(documents().map(|page| page.versions.into()))),
        "status" => there(ints(documents().map(|page| page.status.into()))),
        "relevance" => there(floats(documents().map(|page| page.relevance.get()))),
        "relevant" => there(flags(documents().map(|page| page.relevant))),
        "terms" => there(terms(documents().map(|page| &page.terms[..]))?),
        "anchor" => there(texts(documents().map(|page| &page.anchor))),
        "scores" => there(record(vec![
            ("priority", floats(documents().map(|page| page.scores.priority)), false),
            ("lane", ints(documents().map(|page| page.scores.lane.into())), false),
        ])?),
        "k" => missing(Arc::new(documents().map(|page| page.k.map(i32::from)).collect::<Int32Array>())),
        "hops" => there(ints(documents().map(|page| page.hops.into()))),
        "depth" => there(ints(documents().map(|page| page.depth.into()))),
        "found_on" => missing(perhaps(documents().map(|page| page.found_on.as_ref().map(CrawlUrl::as_str)))),
        "digest" => there(texts(documents().map(|page| page.digest.to_string()))),
        "simhash" => there(texts(documents().map(|page| &page.simhash))),
        "duplicate_of" => missing(perhaps(documents().map(|page| page.duplicate_of.as_ref().map(CrawlUrl::as_str)))),
        "canonical" => missing(perhaps(documents().map(|page| page.canonical.as_ref().map(CrawlUrl::as_str)))),
        "listing" => there(flags(documents().map(|page| page.listing))),
        "noindex" => there(flags(documents().map(|page| page.noindex))),
        "links" => there(links(documents().map(|page| &page.links[..]))?),
        "posts" => there(posts(documents().map(|page| &page.posts[..]))?),
        "warc" => there(record(vec![
            ("file", texts(documents().map(|page| &page.warc.file)), false),
            ("offset", longs(documents().map(|page| page.warc.offset as i64)), false),
            ("length", longs(documents().map(|page| page.warc.length as i64)), false),
        ])?),
        other => Err(ArrowError::SchemaError(format!("no column for {other}"))),
    }
}

fn terms<'a>(rows: impl Iterator<Item = &'a [TermMatch]> + Clone) -> Result<ArrayRef, ArrowError> {
    let all = || rows.clone().flatten();
    let term = texts(all().map(|term| &term.term));
    let count = longs(all().map(|term| term.count.into()));
    list(rows.clone().map(<[_]>::len), vec![("term", term, false), ("count", count, false)])
}

fn links<'a>(rows: impl Iterator<Item = &'a [OutLink]> + Clone) -> Result<ArrayRef, ArrowError> {
    let all = || rows.clone().flatten();
    let columns = vec![
        ("url", texts(all().map(|link| link.url.as_str())), false),
        ("anchor", texts(all().map(|link| &link.anchor)), false),
        ("region", texts(all().map(|link| region(link.region))), false),
        ("nofollow", flags(all().map(|link| link.nofollow)), false),
    ];
    list(rows.clone().map(<[_]>::len), columns)
}

fn posts<'a>(rows: impl Iterator<Item = &'a [Post]> + Clone) -> Result<ArrayRef, ArrowError> {
    let all = || rows.clone().flatten();
    let posted = |post: &Post| {
        let instant: jiff::Timestamp = post.posted.as_ref()?.parse().ok()?;
        Some(instant.as_millisecond())
    };
    let columns = vec![
        ("author", perhaps(all().map(|post| post.author.as_deref())), true),
        ("posted", instants(all().map(posted)), true),
        ("floor", Arc::new(all().map(|post| post.floor.map(i64::from)).collect::<Int64Array>()) as ArrayRef, true),
        ("text", texts(all().map(|post| &post.text)), false),
    ];
    list(rows.clone().map(<[_]>::len), columns)
}

pub fn region(region: Region) -> &'static str {
    match region {
        Region::Content => "content",
        Region::Label => "label",
        Region::Navigation => "navigation",
    }
}

/// Values that are always there.
pub fn texts(values: impl Iterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn perhaps<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

/// As [`texts`].
pub fn longs(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(PrimitiveArray::<Int64Type>::from_iter_values(values))
}

fn ints(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(PrimitiveArray::<Int32Type>::from_iter_values(values))
}

/// As [`texts`].
pub fn floats(values: impl Iterator<Item = f32>) -> ArrayRef {
    Arc::new(PrimitiveArray::<Float32Type>::from_iter_values(values))
}

/// As [`texts`].
pub fn flags(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(BooleanArray::from_iter(values.map(Some)))
}

fn instants(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
}

/// Names, columns, and whether a value may be missing.
type Columns = Vec<(&'static str, ArrayRef, bool)>;

fn structs(columns: Columns) -> Result<StructArray, ArrowError> {
    let field =
        |(name, values, nullable): &(&str, ArrayRef, bool)| Field::new(*name, values.data_type().clone(), *nullable);
    let fields: Vec<Field> = columns.iter().map(field).collect();
    StructArray::try_new(fields.into(), columns.into_iter().map(|(_, values, _)| values).collect(), None)
}

fn record(columns: Columns) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(structs(columns)?))
}

fn list(lengths: impl Iterator<Item = usize>, columns: Columns) -> Result<ArrayRef, ArrowError> {
    let items = structs(columns)?;
    // The name that the Parquet format gives to what a list holds.
    let item = Field::new("element", arrow_array::Array::data_type(&items).clone(), false);
    Ok(Arc::new(ListArray::try_new(Arc::new(item), OffsetBuffer::from_lengths(lengths), Arc::new(items), None)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_column_under_its_name() {
        let schema = schema(&Fields::all()).unwrap();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, Fields::ALL);
        assert!(column("colour", &[]).is_err());
    }
}
