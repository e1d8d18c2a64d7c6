//! The fields of the index.

use tantivy::DateTime;
use tantivy::schema::{
    DateOptions, DateTimePrecision, FAST, Field, INDEXED, IndexRecordOption, JsonObjectOptions, NumericOptions, STORED,
    STRING, Schema, TextFieldIndexing, TextOptions,
};

use super::tokenizer::TOKENIZER;
use suidao_page::model::Day;

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $add:ident($options:expr);)*) => {
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Fields {
            $($(#[$doc])* pub $name: Field,)*
        }

        pub(super) fn schema() -> (Schema, Fields) {
            let mut builder = Schema::builder();
            let fields = Fields { $($name: builder.$add(stringify!($name), $options),)* };
            (builder.build(), fields)
        }
    };
}

fields! {
    /// Pages fetched before it.
    page: add_u64_field(number() | INDEXED);
    /// A hash of the URL, 32 hexadecimal digits.
    id: add_text_field(STRING | STORED);
    url: add_text_field(STRING | STORED | FAST);
    host: add_text_field(STRING | STORED | FAST);
    /// Its host with and without the port, and every parent domain.
    site: add_text_field(STRING);
    title: add_text_field(text());
    body: add_text_field(text());
    /// BCP 47 tag.
    language: add_text_field(STRING | STORED | FAST);
    /// The day, at midnight UTC.
    published: add_date_field(date());
    fetched: add_date_field(date());
    /// Eq. (1).
    relevance: add_f64_field(number());
    /// At or above the page threshold.
    relevant: add_bool_field(number() | INDEXED);
    chars: add_u64_field(number());
    /// Not a listing, and with a text of its own.
    document: add_bool_field(number() | INDEXED);
    listing: add_bool_field(number());
    noindex: add_bool_field(number() | INDEXED);
    /// URL of the best page of its group of duplicates.
    duplicate_of: add_text_field(STRING | STORED);
    /// `page` of the best page of its group; its own if it is the best or has no duplicates.
    representative: add_u64_field(number());
    depth: add_u64_field(number());
    /// Off-topic pages since the last on-topic one.
    hops: add_u64_field(number());
    /// Absent if unbounded.
    k: add_u64_field(number());
    found_on: add_text_field(STRING | STORED);
    anchor: add_text_field(text());
    terms: add_text_field(STRING | STORED);
    /// How often each occurs.
    counts: add_u64_field(STORED);
    /// Values that rules extract, by field.
    extracted: add_json_field(values());
}

fn number() -> NumericOptions {
    NumericOptions::from(FAST | STORED)
}

fn date() -> DateOptions {
    DateOptions::from(FAST | STORED | INDEXED).set_precision(DateTimePrecision::Seconds)
}

fn text() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    TextOptions::default().set_indexing_options(indexing).set_stored()
}

/// Stored; indexed as words, and as whole values for ranges and counts.
fn values() -> JsonObjectOptions {
    let words = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    JsonObjectOptions::default().set_stored().set_indexing_options(words).set_fast("raw")
}

/// A day in the index, which has the years 1678 to 2261.
pub(super) fn midnight(day: Day) -> DateTime {
    DateTime::from_timestamp_secs(i64::from(day.0.clamp(-106_000, 106_000)) * 86_400)
}

/// The day of a time in the index.
pub(super) fn day(moment: DateTime) -> Day {
    Day(i32::try_from(moment.into_timestamp_secs().div_euclid(86_400)).unwrap_or_default())
}

/// A host without its port, and every parent domain, for `host:` and filters by host.
pub(super) fn sites(host: &str) -> Vec<&str> {
    let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
    let mut sites: Vec<&str> = if bare == host { Vec::new() } else { vec![host] };
    sites.push(bare);
    sites.extend(bare.match_indices('.').map(|(at, _)| &bare[at + 1..]));
    sites
}
