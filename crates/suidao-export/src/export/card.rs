//! The data card of a corpus: contents, origin, what was left out, and how to remove a page. After Gebru et al.,
//! Datasheets for Datasets (2021), as far as a crawl knows the answers.

mod origin;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::Export;
use origin::Origin;
use suidao_store::corpus::Filter;
use suidao_store::store::StoreError;

const HOSTS: usize = 20;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    documents: u64,
    chars: u64,
}

pub struct Card<'a> {
    export: &'a Export<'a>,
    filter: &'a Filter,
    origin: Origin,
    all: Count,
    bytes: u64,
    /// Pages so far, and those without text.
    pages: u64,
    without_line: Vec<u64>,
    noindex: u64,
    repeats: u64,
    languages: BTreeMap<&'a str, Count>,
    hosts: BTreeMap<&'a str, Count>,
    years: BTreeMap<String, Count>,
}

impl<'a> Card<'a> {
    /// The card of these pages, which `filter` selected.
    pub fn new(export: &'a Export<'a>, filter: &'a Filter) -> Result<Self, StoreError> {
        Ok(Self {
            export,
            filter,
            origin: Origin::read(export.store)?,
            all: Count::default(),
            bytes: 0,
            pages: 0,
            without_line: Vec::new(),
            noindex: 0,
            repeats: 0,
            languages: BTreeMap::new(),
            hosts: BTreeMap::new(),
            years: BTreeMap::new(),
        })
    }

    /// Counts the line of the page at this index of the catalogue; an empty line is not counted.
    pub fn count(&mut self, number: usize, line: &str) {
        self.pages += 1;
        if line == "\n" {
            self.without_line.push(self.pages);
            return;
        }
        let catalogue = self.export.catalogue;
        let entry = &catalogue.entries[number];
        let chars = line.chars().filter(|c| !c.is_whitespace()).count() as u64;
        let year = entry.published.map_or_else(|| "unknown".to_owned(), |day| day.to_string()[..4].to_owned());
        let counts = [
            &mut self.all,
            self.languages.entry(catalogue.language(entry).unwrap_or("unknown")).or_default(),
            self.hosts.entry(catalogue.host(entry)).or_default(),
            self.years.entry(year).or_default(),
        ];
        for count in counts {
            count.documents += 1;
            count.chars += chars;
        }
        self.origin.count(entry);
        self.bytes += line.len() as u64;
        self.noindex += u64::from(entry.noindex);
        self.repeats += u64::from(entry.duplicate_of.is_some());
    }

    /// Writes the card of the corpus at `path`, as Markdown.
    pub fn write(&self, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        let meta = self.export.store.meta();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        writeln!(out, "# {name}\n\n{}: one page per line, with its title and main text.\n", self.origin.kind())?;
        writeln!(out, "- Topic: {}\n- Lexicon: {}", cell(&meta.topic), meta.lexicon)?;
        let begun = suidao_store::store::rfc3339(meta.created);
        if self.origin.is_import() {
            writeln!(out, "- Imported: {begun}, by suidao {}", meta.version)?;
        } else {
            writeln!(out, "- Strategy: {}\n- Crawl started: {begun}, by suidao {}", meta.strategy, meta.version)?;
        }
        if let Some(archives) = self.origin.archives() {
            writeln!(out, "- Imported archives: {}", cell(&archives))?;
        }
        writeln!(out, "- Exported by: suidao {}\n", env!("CARGO_PKG_VERSION"))?;
        let Count { documents, chars } = self.all;
        writeln!(
            out,
            "- Documents: {documents}\n- Characters without white space: {chars}\n- Uncompressed bytes: {}\n",
            self.bytes
        )?;

        writeln!(out, "## Selection\n")?;
        writeln!(out, "Conditions that every page meets (`suidao export --where`):\n")?;
        match self.filter.to_string() {
            none if none.is_empty() => writeln!(out, "- none")?,
            conditions => conditions.split(' ').try_for_each(|condition| writeln!(out, "- `{condition}`"))?,
        }
        writeln!(out, "\nExcluded pages of the crawl:\n")?;
        for (reason, pages) in &self.export.selection.excluded {
            writeln!(out, "- {pages} {reason}")?;
        }
        if self.export.selection.excluded.is_empty() {
            writeln!(out, "- none")?;
        }
        writeln!(
            out,
            "\nIncluded duplicate pages (equal main text, SimHash within 3 of 64 bits, or one with the URL of the other as its \
             canonical URL): {}. Included pages marked noindex: {}.\n",
            self.repeats, self.noindex
        )?;

        out.write_all(include_bytes!("card/text.md"))?;
        writeln!(out, "\n## Languages\n")?;
        table(out, "language (BCP 47)", by_documents(&self.languages))?;
        writeln!(out, "\n## Hosts\n\n{} hosts; the largest {}:\n", self.hosts.len(), HOSTS.min(self.hosts.len()))?;
        table(out, "host", by_documents(&self.hosts).into_iter().take(HOSTS))?;
        writeln!(out, "\n## Years of publication\n\nAs stated by the pages.\n")?;
        table(out, "year", self.years.iter().map(|(year, count)| (year.as_str(), *count)))?;

        writeln!(
            out,
            "\n## Licences: unknown\n\nEach text belongs to its author or publisher. {} Licences stated on pages are not read. Ask \
             before you publish or redistribute the texts; for text and data mining, the law of your country applies.",
            self.origin.robots()
        )?;
        writeln!(out, "\n## Removing a document\n")?;
        writeln!(
            out,
            "Line n is the n-th page of `suidao export DIR --format jsonl --where chars:1.. --fields id,url` with the \
             same conditions{}; use it to find the URL of a line. To remove a host, export again with `--where \
             -host:HOST`. To remove one page, delete its line here and in every copy.",
            match self.without_line.as_slice() {
                [] => String::new(),
                pages => {
                    let pages: Vec<String> = pages.iter().map(u64::to_string).collect();
                    format!(" except its pages {}, which have no visible text", pages.join(", "))
                }
            }
        )
    }
}

/// The most documents first; equals by name.
fn by_documents<'a>(counts: &BTreeMap<&'a str, Count>) -> Vec<(&'a str, Count)> {
    let mut counts: Vec<(&str, Count)> = counts.iter().map(|(name, count)| (*name, *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(count.documents));
    counts
}

fn table<'a>(out: &mut dyn Write, what: &str, rows: impl IntoIterator<Item = (&'a str, Count)>) -> io::Result<()> {
    writeln!(out, "| {what} | documents | characters |\n|---|---|---|")?;
    rows.into_iter()
        .try_for_each(|(name, count)| writeln!(out, "| {} | {} | {} |", cell(name), count.documents, count.chars))
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|")
}
