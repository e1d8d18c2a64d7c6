//! Collects all matching pages, with the 40 bytes of each that ranking, folding and counting need.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DateTime, DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

use super::schema::day;
use suidao_page::model::Day;

#[derive(Clone, Copy, Debug)]
pub(super) struct CollectedRow {
    pub address: DocAddress,
    pub page: u64,
    pub representative: u64,
    pub score: Score,
    pub relevance: f32,
    pub relevant: bool,
    pub document: bool,
    pub published: Option<Day>,
    /// Ordinals of its host and language in its segment's columns.
    pub host: Option<u64>,
    pub language: Option<u64>,
}

pub(super) struct RowCollector;

pub(super) struct SegmentRows {
    segment: SegmentOrdinal,
    page: Column<u64>,
    representative: Column<u64>,
    relevance: Column<f64>,
    relevant: Column<bool>,
    document: Column<bool>,
    published: Column<DateTime>,
    host: Option<StrColumn>,
    language: Option<StrColumn>,
    rows: Vec<CollectedRow>,
}

impl Collector for RowCollector {
    type Fruit = Vec<CollectedRow>;
    type Child = SegmentRows;

    fn for_segment(&self, segment: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<SegmentRows> {
        let columns = reader.fast_fields();
        Ok(SegmentRows {
            segment,
            page: columns.u64("page")?,
            representative: columns.u64("representative")?,
            relevance: columns.f64("relevance")?,
            relevant: columns.bool("relevant")?,
            document: columns.bool("document")?,
            published: columns.date("published")?,
            host: columns.str("host")?,
            language: columns.str("language")?,
            rows: Vec::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, rows: Vec<Vec<CollectedRow>>) -> tantivy::Result<Vec<CollectedRow>> {
        Ok(rows.concat())
    }
}

impl SegmentCollector for SegmentRows {
    type Fruit = Vec<CollectedRow>;

    fn collect(&mut self, doc: DocId, score: Score) {
        let number = |column: &Option<StrColumn>| column.as_ref().and_then(|column| column.term_ords(doc).next());
        let page = self.page.first(doc).unwrap_or_default();
        self.rows.push(CollectedRow {
            address: DocAddress::new(self.segment, doc),
            page,
            representative: self.representative.first(doc).unwrap_or(page),
            score,
            relevance: self.relevance.first(doc).unwrap_or_default() as f32,
            relevant: self.relevant.first(doc).unwrap_or_default(),
            document: self.document.first(doc).unwrap_or_default(),
            published: self.published.first(doc).map(day),
            host: number(&self.host),
            language: number(&self.language),
        });
    }

    fn harvest(self) -> Vec<CollectedRow> {
        self.rows
    }
}
