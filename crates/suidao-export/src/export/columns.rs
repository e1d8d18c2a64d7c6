//! Documents as Parquet columns: the type of each field, and the layout of its values.
//!
//! Optional and repeated values have definition and repetition levels (Melnik et al. 2010, "Dremel"). Integers are
//! signed, because some readers do not know unsigned ones: 32 bits for values of 16, else 64.

use std::sync::Arc;

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};

use suidao_page::model::{CrawlUrl, Region, TermMatch};
use suidao_store::corpus::document::{ForumPost, OutLink};
use suidao_store::corpus::{CorpusDocument, DocumentFields};

/// The declarations of all fields of a document, in the order of [`DocumentFields::ALL`].
const DOCUMENT: &str = include_str!("document.parquet.schema");

/// Approximate bytes of a document in columns.
pub fn size(document: &CorpusDocument) -> usize {
    let links: usize = document.links.iter().map(|link| link.url.as_str().len() + link.anchor.len() + 32).sum();
    let posts: usize = document.posts.iter().map(|post| post.text.len() + 64).sum();
    1024 + document.text.len() + links + posts
}

/// The schema of a choice of fields.
pub fn schema(fields: &DocumentFields) -> Result<TypePtr, ParquetError> {
    let whole = parse_message_type(DOCUMENT)?;
    let chosen = whole.get_fields().iter().filter(|field| fields.holds(field.name())).cloned().collect();
    Ok(Arc::new(Type::group_type_builder(whole.name()).with_fields(chosen).build()?))
}

/// Parses the declarations of a schema.
pub fn message(declarations: &str) -> Result<TypePtr, ParquetError> {
    Ok(Arc::new(parse_message_type(&format!("message suidao {{ {declarations} }}"))?))
}

/// The columns of a field, one for each of its leaves. Fails for an unknown field.
pub fn column(name: &str, rows: &[CorpusDocument]) -> Result<Vec<Leaf>, ParquetError> {
    let documents = || rows.iter();
    let instant = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
    let leaf = match name {
        "id" => texts(documents().map(|page| &page.id)),
        "url" => texts(documents().map(|page| page.url.as_str())),
        "host" => texts(documents().map(|page| &page.host)),
        "title" => texts(documents().map(|page| &page.title)),
        "text" => texts(documents().map(|page| &page.text)),
        "chars" => longs(documents().map(|page| page.chars.into())),
        "language" => perhaps(documents().map(|page| page.language.as_deref())),
        "author" => perhaps(documents().map(|page| page.author.as_deref())),
        "source" => perhaps(documents().map(|page| page.source.as_deref())),
        "published" => optional(documents().map(|page| page.published.map(|day| day.0)), Values::Int),
        "fetched" => longs(documents().map(|page| instant(page.fetched_at.0))),
        "first_seen" => longs(documents().map(|page| instant(page.seen.first.0))),
        "last_seen" => longs(documents().map(|page| instant(page.seen.last.0))),
        "last_changed" => longs(documents().map(|page| instant(page.seen.changed.0))),
        "versions" => longs(documents().map(|page| page.versions.into())),
        "status" => ints(documents().map(|page| page.status.into())),
        "relevance" => floats(documents().map(|page| page.relevance.get())),
        "relevant" => flags(documents().map(|page| page.relevant)),
        "terms" => return Ok(terms(rows)),
        "anchor" => texts(documents().map(|page| &page.anchor)),
        "scores" => {
            let scores = || documents().map(|page| &page.scores);
            return Ok(vec![floats(scores().map(|at| at.priority)), ints(scores().map(|at| at.queue.into()))]);
        }
        "k" => optional(documents().map(|page| page.k.map(i32::from)), Values::Int),
        "hops" => ints(documents().map(|page| page.hops.into())),
        "depth" => ints(documents().map(|page| page.depth.into())),
        "found_on" => perhaps(documents().map(|page| page.found_on.as_ref().map(CrawlUrl::as_str))),
        "digest" => texts(documents().map(|page| page.digest.to_string())),
        "simhash" => texts(documents().map(|page| &page.simhash)),
        "duplicate_of" => perhaps(documents().map(|page| page.duplicate_of.as_ref().map(CrawlUrl::as_str))),
        "canonical" => perhaps(documents().map(|page| page.canonical.as_ref().map(CrawlUrl::as_str))),
        "listing" => flags(documents().map(|page| page.listing)),
        "noindex" => flags(documents().map(|page| page.noindex)),
        "links" => return Ok(links(rows)),
        "videos" => {
            let all = texts(rows.iter().flat_map(|page| &page.videos).map(CrawlUrl::as_str));
            return Ok(listed([all], rows.iter().map(|page| page.videos.len())));
        }
        "posts" => return Ok(posts(rows)),
        "extracted" => {
            let json = |page: &CorpusDocument| serde_json::to_string(&page.extracted).unwrap_or_default();
            texts(documents().map(json))
        }
        "warc" => {
            let positions = || documents().map(|page| &page.warc);
            return Ok(vec![
                texts(positions().map(|at| &at.file)),
                longs(positions().map(|at| at.offset as i64)),
                longs(positions().map(|at| at.length as i64)),
            ]);
        }
        other => return Err(ParquetError::General(format!("no column for {other}"))),
    };
    Ok(vec![leaf])
}

fn terms(rows: &[CorpusDocument]) -> Vec<Leaf> {
    let all = || rows.iter().flat_map(|page| &page.terms);
    let leaves = [texts(all().map(|term: &TermMatch| &term.term)), longs(all().map(|term| term.count.into()))];
    listed(leaves, rows.iter().map(|page| page.terms.len()))
}

fn links(rows: &[CorpusDocument]) -> Vec<Leaf> {
    let all = || rows.iter().flat_map(|page| &page.links);
    let leaves = [
        texts(all().map(|link: &OutLink| link.url.as_str())),
        texts(all().map(|link| &link.anchor)),
        texts(all().map(|link| region(link.region))),
        flags(all().map(|link| link.nofollow)),
    ];
    listed(leaves, rows.iter().map(|page| page.links.len()))
}

fn posts(rows: &[CorpusDocument]) -> Vec<Leaf> {
    let all = || rows.iter().flat_map(|page| &page.posts);
    let posted = |post: &ForumPost| {
        let instant: jiff::Timestamp = post.posted.as_ref()?.parse().ok()?;
        Some(instant.as_millisecond())
    };
    let leaves = [
        perhaps(all().map(|post| post.author.as_deref())),
        optional(all().map(posted), Values::Long),
        optional(all().map(|post| post.floor.map(i64::from)), Values::Long),
        texts(all().map(|post| &post.text)),
    ];
    listed(leaves, rows.iter().map(|page| page.posts.len()))
}

pub fn region(region: Region) -> &'static str {
    match region {
        Region::Content => "content",
        Region::Metadata => "metadata",
        Region::Boilerplate => "boilerplate",
    }
}

/// The values of a leaf, with their definition and repetition levels.
pub struct Leaf {
    values: Values,
    definition: Option<Vec<i16>>,
    repetition: Option<Vec<i16>>,
}

enum Values {
    Text(Vec<ByteArray>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Flag(Vec<bool>),
}

impl Leaf {
    pub fn write(self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = (self.definition.as_deref(), self.repetition.as_deref());
        match self.values {
            Values::Text(values) => column.typed::<ByteArrayType>().write_batch(&values, levels.0, levels.1),
            Values::Int(values) => column.typed::<Int32Type>().write_batch(&values, levels.0, levels.1),
            Values::Long(values) => column.typed::<Int64Type>().write_batch(&values, levels.0, levels.1),
            Values::Float(values) => column.typed::<FloatType>().write_batch(&values, levels.0, levels.1),
            Values::Flag(values) => column.typed::<BoolType>().write_batch(&values, levels.0, levels.1),
        }?;
        Ok(())
    }
}

fn required(values: Values) -> Leaf {
    Leaf { values, definition: None, repetition: None }
}

fn optional<T>(values: impl Iterator<Item = Option<T>>, pack: fn(Vec<T>) -> Values) -> Leaf {
    let mut definition = Vec::new();
    let there = values.inspect(|value| definition.push(value.is_some().into())).flatten().collect();
    Leaf { values: pack(there), definition: Some(definition), repetition: None }
}

/// Turns leaves of elements into leaves of lists with these lengths.
fn listed<const N: usize>(leaves: [Leaf; N], lengths: impl Iterator<Item = usize> + Clone) -> Vec<Leaf> {
    let listed = |leaf: Leaf| {
        let (mut definition, mut repetition) = (Vec::new(), Vec::new());
        let mut next = 0;
        for length in lengths.clone() {
            if length == 0 {
                definition.push(0);
                repetition.push(0);
            }
            for element in next..next + length {
                definition.push(1 + leaf.definition.as_ref().map_or(0, |levels| levels[element]));
                repetition.push((element > next).into());
            }
            next += length;
        }
        Leaf { values: leaf.values, definition: Some(definition), repetition: Some(repetition) }
    };
    leaves.map(listed).into()
}

/// Required values.
pub fn texts(values: impl Iterator<Item = impl AsRef<str>>) -> Leaf {
    required(Values::Text(values.map(|text| ByteArray::from(text.as_ref())).collect()))
}

fn perhaps<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Leaf {
    optional(values.map(|text| text.map(ByteArray::from)), Values::Text)
}

pub fn longs(values: impl Iterator<Item = i64>) -> Leaf {
    required(Values::Long(values.collect()))
}

pub fn optional_longs(values: impl Iterator<Item = Option<i64>>) -> Leaf {
    optional(values, Values::Long)
}

fn ints(values: impl Iterator<Item = i32>) -> Leaf {
    required(Values::Int(values.collect()))
}

pub fn floats(values: impl Iterator<Item = f32>) -> Leaf {
    required(Values::Float(values.collect()))
}

pub fn flags(values: impl Iterator<Item = bool>) -> Leaf {
    required(Values::Flag(values.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_columns_under_its_name() {
        let schema = schema(&DocumentFields::all().with(&["extracted"])).unwrap();
        let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, DocumentFields::ALL);
        let leaves: usize = DocumentFields::ALL.iter().map(|name| column(name, &[]).unwrap().len()).sum();
        assert_eq!(leaves, parquet::schema::types::SchemaDescriptor::new(schema).num_columns());
        assert!(column("colour", &[]).is_err());
    }
}
