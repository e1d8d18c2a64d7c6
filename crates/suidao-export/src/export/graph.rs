//! The link graph of the selected pages, as GraphML and two Parquet tables: `ml.graphml`, `ml.nodes.parquet`,
//! `ml.edges.parquet`.
//!
//! Links come from parsing the pages again: the log has no anchors, and regions only of links that changed something. A
//! link to a URL that redirects to a page, or to its other scheme, is a link to the page. An edge represents all links
//! from a page to another; links to the page itself are dropped.
//!
//! Memory: a number and the fingerprint of a URL for each page and redirect, and
//! [`UrlNames`].

use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::Export;
use super::columns::{Leaf, flags, floats, longs, message, region, texts};
use super::parquet::{ParquetTable, of_parquet};
use suidao_page::model::{CrawlUrl, Event, Region, UrlId};
use suidao_store::corpus::document::OutLink;
use suidao_store::corpus::{CorpusDocument, PageRole, Parts, Streamed, UrlNames};
use suidao_store::store::directory::{WriteError, write_whole};
use suidao_store::store::{Store, StoreError};

const HOPS: usize = 20;

const ROWS: usize = 1 << 16;

/// Paths of the tables of nodes and edges.
pub fn tables_of(path: &Path) -> [PathBuf; 2] {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".graphml").unwrap_or(&name);
    ["nodes", "edges"].map(|table| path.with_file_name(format!("{stem}.{table}.parquet")))
}

/// Writes the graph: GraphML to `path`, the tables next to it.
pub fn write(export: &Export, path: &Path) -> Result<Streamed, StoreError> {
    let [nodes, edges] = tables_of(path);
    let pages = Pages::read(export)?;
    // All are complete before one gets its final name.
    write_whole(&nodes, |nodes| {
        Ok(write_whole(&edges, |edges| {
            Ok(write_whole(path, |out| {
                let mut graph = Graph::begin(out, nodes, edges, export, &pages)?;
                let streamed = export.each(
                    |chosen| {
                        let page = chosen.document(Parts { links: true, ..Parts::default() })?;
                        Ok((pages.edges(&page), page))
                    },
                    |(edges, page)| graph.add(page, edges),
                )?;
                graph.finish()?;
                Ok(streamed)
            })?)
        })?)
    })
}

/// The selected pages by the URLs that lead to them.
struct Pages {
    nodes: FxHashMap<u64, u32>,
    /// The crawl's number of each node's URL.
    ids: Vec<UrlId>,
    names: UrlNames,
}

/// All links of one page to another, described by the one nearest to the content, the first of equals.
struct Edge {
    target: u32,
    anchor: String,
    region: Region,
    links: i64,
}

impl Pages {
    fn read(export: &Export) -> Result<Self, StoreError> {
        let names = UrlNames::read(export.store, export.catalogue)?;
        let redirects = redirects(export.store)?;
        let chosen = export.catalogue.entries.iter().zip(&export.selection.chosen).filter(|(_, chosen)| **chosen);
        let ids: Vec<UrlId> = chosen.map(|(entry, _)| entry.id).collect();
        let mut numbers: FxHashMap<UrlId, u32> = ids.iter().copied().zip(0..).collect();
        // A link to a further page of a thread leads to the thread.
        for entry in &export.catalogue.entries {
            let PageRole::Further(thread) = entry.part else { continue };
            if let Some(&number) = numbers.get(&export.catalogue.entries[thread as usize].id) {
                numbers.insert(entry.id, number);
            }
        }
        let mut nodes = FxHashMap::default();
        for (mut id, url) in names.iter() {
            for _ in 0..HOPS {
                if let Some(&number) = numbers.get(&id) {
                    nodes.insert(url.fingerprint(), number);
                    break;
                }
                let Some(&next) = redirects.get(&id) else { break };
                id = next;
            }
        }
        Ok(Self { nodes, ids, names })
    }

    fn node(&self, url: &CrawlUrl) -> Option<u32> {
        let find = |url: &CrawlUrl| self.nodes.get(&url.fingerprint()).copied();
        find(url).or_else(|| find(&url.under(!url.is_https())?))
    }

    fn url(&self, node: u32) -> &str {
        self.ids.get(node as usize).and_then(|id| self.names.url(*id)).map_or("", CrawlUrl::as_str)
    }

    /// The edges of a page, in order of its links.
    fn edges(&self, page: &CorpusDocument) -> Vec<Edge> {
        let own = self.node(&page.url);
        let mut positions: FxHashMap<u32, usize> = FxHashMap::default();
        let mut edges: Vec<Edge> = Vec::new();
        for OutLink { url, anchor, region, .. } in &page.links {
            let Some(target) = self.node(url).filter(|target| Some(*target) != own) else { continue };
            let position = *positions.entry(target).or_insert_with(|| {
                edges.push(Edge { target, anchor: anchor.clone(), region: *region, links: 0 });
                edges.len() - 1
            });
            let edge = &mut edges[position];
            edge.links += 1;
            // A link with text comes before one without, in any region.
            let worth = |anchor: &str, region: Region| (anchor.is_empty(), region as u8);
            if worth(anchor, *region) < worth(&edge.anchor, edge.region) {
                (edge.anchor, edge.region) = (anchor.clone(), *region);
            }
        }
        edges
    }
}

/// Targets of redirected URLs, and of URLs taken under the other scheme.
fn redirects(store: &Store) -> Result<FxHashMap<UrlId, UrlId>, StoreError> {
    let mut redirects = FxHashMap::default();
    for record in store.batches() {
        for event in record?.batch.events {
            if let Event::Redirected { id, link: Some(link), .. } | Event::SchemeRewritten { id, link: Some(link) } =
                event
            {
                redirects.insert(id, link.to);
            }
        }
    }
    Ok(redirects)
}

struct Graph<'a> {
    out: &'a mut (dyn Write + Send),
    nodes: Group<'a, (u32, CorpusDocument)>,
    edges: Group<'a, (u32, Edge)>,
    /// GraphML edges come after all nodes, so they wait in an unnamed file.
    waiting: BufWriter<std::fs::File>,
    pages: &'a Pages,
    next: u32,
}

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="host" for="node" attr.name="host" attr.type="string"/>
<key id="title" for="node" attr.name="title" attr.type="string"/>
<key id="relevance" for="node" attr.name="relevance" attr.type="double"/>
<key id="relevant" for="node" attr.name="relevant" attr.type="boolean"/>
<key id="anchor" for="edge" attr.name="anchor" attr.type="string"/>
<key id="region" for="edge" attr.name="region" attr.type="string"/>
<key id="links" for="edge" attr.name="links" attr.type="int"/>
<graph edgedefault="directed">
"#;

impl<'a> Graph<'a> {
    fn begin(
        out: &'a mut (dyn Write + Send),
        nodes: &'a mut (dyn Write + Send),
        edges: &'a mut (dyn Write + Send),
        export: &Export,
        pages: &'a Pages,
    ) -> Result<Self, WriteError> {
        out.write_all(HEAD.as_bytes())?;
        let meta = export.store.meta();
        let table = |out: &'a mut (dyn Write + Send), columns| {
            ParquetTable::begin(Box::new(out), &message(columns).map_err(of_parquet)?, meta)
        };
        Ok(Self {
            out,
            nodes: Group { table: table(nodes, NODES)?, columns: node_columns, pages, rows: Vec::new() },
            edges: Group { table: table(edges, EDGES)?, columns: edge_columns, pages, rows: Vec::new() },
            waiting: BufWriter::new(tempfile::tempfile()?),
            pages,
            next: 0,
        })
    }

    fn add(&mut self, mut page: CorpusDocument, edges: Vec<Edge>) -> Result<(), WriteError> {
        let number = self.next;
        self.next += 1;
        debug_assert_eq!(self.pages.url(number), page.url.as_str());
        writeln!(
            self.out,
            r#"<node id="n{number}"><data key="url">{}</data><data key="host">{}</data><data key="title">{}</data><data key="relevance">{}</data><data key="relevant">{}</data></node>"#,
            escaped(page.url.as_str()),
            escaped(&page.host),
            escaped(&page.title),
            page.relevance.get(),
            page.relevant
        )?;
        for edge in edges {
            writeln!(
                self.waiting,
                r#"<edge source="n{number}" target="n{}"><data key="anchor">{}</data><data key="region">{}</data><data key="links">{}</data></edge>"#,
                edge.target,
                escaped(&edge.anchor),
                region(edge.region),
                edge.links
            )?;
            self.edges.add((number, edge))?;
        }
        page.links.clear();
        self.nodes.add((number, page))
    }

    fn finish(self) -> Result<(), WriteError> {
        let mut edges = self.waiting.into_inner().map_err(io::IntoInnerError::into_error)?;
        edges.rewind()?;
        io::copy(&mut BufReader::new(edges), self.out)?;
        self.out.write_all(b"</graph>\n</graphml>\n")?;
        self.nodes.finish()?;
        self.edges.finish()
    }
}

/// Converts rows to columns.
type Columns<T> = fn(&[T], &Pages) -> Vec<Leaf>;

/// A table being written, and the rows of its next row group.
struct Group<'a, T> {
    table: ParquetTable<'a>,
    columns: Columns<T>,
    pages: &'a Pages,
    rows: Vec<T>,
}

impl<T> Group<'_, T> {
    fn add(&mut self, row: T) -> Result<(), WriteError> {
        self.rows.push(row);
        if self.rows.len() >= ROWS { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), WriteError> {
        let columns = (self.columns)(&self.rows, self.pages);
        self.rows.clear();
        self.table.write(std::iter::once(Ok(columns)))
    }

    fn finish(mut self) -> Result<(), WriteError> {
        self.write()?;
        self.table.finish()
    }
}

const NODES: &str = "REQUIRED INT64 node; REQUIRED BYTE_ARRAY id (STRING); REQUIRED BYTE_ARRAY url (STRING); \
     REQUIRED BYTE_ARRAY host (STRING); REQUIRED BYTE_ARRAY title (STRING); REQUIRED FLOAT relevance; \
     REQUIRED BOOLEAN relevant;";

fn node_columns(rows: &[(u32, CorpusDocument)], _: &Pages) -> Vec<Leaf> {
    let pages = || rows.iter().map(|(_, page)| page);
    vec![
        longs(rows.iter().map(|(number, _)| i64::from(*number))),
        texts(pages().map(|page| &page.id)),
        texts(pages().map(|page| page.url.as_str())),
        texts(pages().map(|page| &page.host)),
        texts(pages().map(|page| &page.title)),
        floats(pages().map(|page| page.relevance.get())),
        flags(pages().map(|page| page.relevant)),
    ]
}

const EDGES: &str = "REQUIRED INT64 source; REQUIRED INT64 target; REQUIRED BYTE_ARRAY source_url (STRING); \
     REQUIRED BYTE_ARRAY target_url (STRING); REQUIRED BYTE_ARRAY anchor (STRING); \
     REQUIRED BYTE_ARRAY region (STRING); REQUIRED INT64 links;";

fn edge_columns(rows: &[(u32, Edge)], pages: &Pages) -> Vec<Leaf> {
    let edges = || rows.iter().map(|(_, edge)| edge);
    vec![
        longs(rows.iter().map(|(source, _)| i64::from(*source))),
        longs(edges().map(|edge| i64::from(edge.target))),
        texts(rows.iter().map(|(source, _)| pages.url(*source))),
        texts(edges().map(|edge| pages.url(edge.target))),
        texts(edges().map(|edge| &edge.anchor)),
        texts(edges().map(|edge| region(edge.region))),
        longs(edges().map(|edge| edge.links)),
    ]
}

/// Text for XML 1.0: escapes markup and drops characters that XML does not permit.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    #[test]
    fn pages_are_nodes_and_links_between_them_edges() {
        let root = tempfile::tempdir().unwrap();
        let first = "<title>A & <b>\u{1}</title><nav><a href=/1>nav</a></nav><p>足球 <a href=/1>比赛 &lt;1&gt;</a> <a href=/>self</a> \
                     <a href=/none>none</a> <a href=https://b.cn/>other scheme</a></p>";
        let store = crawl(
            root.path(),
            &[
                ("http://a.cn/", first),
                ("http://a.cn/1", "<title>NBA</title><p>篮球 比赛 <a href=/><img></a></p>"),
                ("http://b.cn/", "<p>足球 <a href=http://a.cn/off>off</a></p>"),
                ("http://a.cn/off", "<p><a href=http://b.cn/>b</a> the weather is fine today, said the man"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let filter = Filter { not_hosts: vec![], relevant: false, ..Filter::default() };
        let mut selection = filter.select(&catalogue);
        // The last page is not selected.
        selection.chosen[3] = false;
        let export = Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {} };
        let path = root.path().join("g.graphml");
        assert_eq!(write(&export, &path).unwrap().pages, 3);
        let xml = std::fs::read_to_string(&path).unwrap();
        let count = |part: &str| xml.matches(part).count();
        assert_eq!((count("<node "), count("<edge ")), (3, 3), "{xml}");
        assert!(xml.contains("<data key=\"url\">http://a.cn/1</data>") && xml.contains("A &amp; &lt;b&gt;"), "{xml}");
        assert!(xml.contains(
            "<edge source=\"n0\" target=\"n1\"><data key=\"anchor\">比赛 &lt;1&gt;</data>\
             <data key=\"region\">content</data><data key=\"links\">2</data>"
        ));
        assert!(
            xml.contains("<edge source=\"n0\" target=\"n2\">") && xml.contains("<edge source=\"n1\" target=\"n0\">")
        );
        assert!(!xml.contains('\u{1}'));
        let rows = |name: &str| -> usize {
            let file = std::fs::File::open(root.path().join(name)).unwrap();
            SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows() as usize
        };
        assert_eq!((rows("g.nodes.parquet"), rows("g.edges.parquet")), (3, 3));
    }
}
