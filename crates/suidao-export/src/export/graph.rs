//! The link graph of the selected pages, as GraphML and two Parquet tables: `ml.graphml`, `ml.nodes.parquet`,
//! `ml.edges.parquet`.
//!
//! Nodes are the selected pages, with figures of the graph of the whole crawl: island and component, number of islands
//! that every path to leads through the page, PageRank (1 on average) and HITS. An edge represents all links from a
//! page to another; links to the page itself are dropped.

use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use super::Export;
use super::columns::{Leaf, flags, floats, longs, message, optional_longs, region, texts};
use super::links::{PageLink, PageNodes};
use super::parquet::{ParquetTable, of_parquet};
use suidao_graph::{Gates, Hits, Islands, LinkGraph, hits, page_rank};
use suidao_page::model::CrawlUrl;
use suidao_store::corpus::{CorpusDocument, Parts, Streamed};
use suidao_store::store::StoreError;
use suidao_store::store::directory::{WriteError, write_whole};

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
    let pages = PageNodes::read(export.store, export.catalogue)?;
    // All are complete before one gets its final name.
    write_whole(&nodes, |nodes| {
        Ok(write_whole(&edges, |edges| {
            Ok(write_whole(path, |out| {
                let mut graph = GraphFiles::begin(out, nodes, edges, export, &pages)?;
                let figures = graph.edges(export)?;
                let streamed = export.each(
                    |chosen| Ok((pages.node_of(chosen.number), chosen.document(Parts::default())?)),
                    |(node, page)| graph.node(node, page, &figures),
                )?;
                graph.finish()?;
                Ok(streamed)
            })?)
        })?)
    })
}

/// Figures of each page in the graph of the whole crawl.
struct NodeFigures {
    islands: Islands,
    /// Number of islands that every path to leads through the page.
    gate: Vec<u32>,
    pagerank: Vec<f64>,
    hits: Hits,
}

impl NodeFigures {
    fn of(graph: &LinkGraph) -> Self {
        let islands = Islands::find(graph);
        let gate = Gates::find(graph, &islands).gated_islands();
        Self { islands, gate, pagerank: page_rank(graph, 0.85), hits: hits(graph) }
    }
}

/// A row of the nodes.
struct Node {
    number: u32,
    page: CorpusDocument,
    island: Option<u32>,
    component: Option<u32>,
    gate: u32,
    pagerank: f32,
    hits_hub: f32,
    hits_authority: f32,
}

/// A row of the edges.
struct Edge {
    /// Source and target, as numbered in the files.
    numbers: [u32; 2],
    /// The same as nodes of the whole graph.
    nodes: [u32; 2],
    link: PageLink,
}

struct GraphFiles<'a> {
    out: &'a mut (dyn Write + Send),
    nodes: Group<'a, Node>,
    edges: Group<'a, Edge>,
    /// GraphML edges come after all nodes, so they wait in an unnamed file.
    waiting: BufWriter<std::fs::File>,
    pages: &'a PageNodes,
    /// For each node of the whole graph its number in the files, if it is selected.
    numbers: Vec<Option<u32>>,
}

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="host" for="node" attr.name="host" attr.type="string"/>
<key id="title" for="node" attr.name="title" attr.type="string"/>
<key id="relevance" for="node" attr.name="relevance" attr.type="double"/>
<key id="relevant" for="node" attr.name="relevant" attr.type="boolean"/>
<key id="island" for="node" attr.name="island" attr.type="int"/>
<key id="component" for="node" attr.name="component" attr.type="int"/>
<key id="gate" for="node" attr.name="gate" attr.type="int"/>
<key id="pagerank" for="node" attr.name="pagerank" attr.type="double"/>
<key id="hits_hub" for="node" attr.name="hits_hub" attr.type="double"/>
<key id="hits_authority" for="node" attr.name="hits_authority" attr.type="double"/>
<key id="anchor" for="edge" attr.name="anchor" attr.type="string"/>
<key id="region" for="edge" attr.name="region" attr.type="string"/>
<key id="links" for="edge" attr.name="links" attr.type="int"/>
<graph edgedefault="directed">
"#;

impl<'a> GraphFiles<'a> {
    fn begin(
        out: &'a mut (dyn Write + Send),
        nodes: &'a mut (dyn Write + Send),
        edges: &'a mut (dyn Write + Send),
        export: &Export,
        pages: &'a PageNodes,
    ) -> Result<Self, WriteError> {
        out.write_all(HEAD.as_bytes())?;
        let meta = export.store.meta();
        let table = |out: &'a mut (dyn Write + Send), columns| {
            ParquetTable::begin(Box::new(out), &message(columns).map_err(of_parquet)?, meta)
        };
        let mut selected = 0..;
        let number = |entry: &u32| if export.selection.chosen[*entry as usize] { selected.next() } else { None };
        let numbers = pages.entries.iter().map(number).collect();
        Ok(Self {
            out,
            nodes: Group { table: table(nodes, NODES)?, columns: node_columns, pages, rows: Vec::new() },
            edges: Group { table: table(edges, EDGES)?, columns: edge_columns, pages, rows: Vec::new() },
            waiting: BufWriter::new(tempfile::tempfile()?),
            pages,
            numbers,
        })
    }

    /// Writes the links between selected pages, and returns the figures of all pages.
    fn edges(&mut self, export: &Export) -> Result<NodeFigures, WriteError> {
        let pages = self.pages;
        let mut all = Vec::new();
        pages.each(
            export.store,
            export.catalogue,
            &|| {},
            |_| true,
            |node, links| {
                all.extend(links.iter().map(|link| (node, link.target)));
                let Some(source) = self.numbers[node as usize] else { return Ok(()) };
                for link in links {
                    let Some(target) = self.numbers[link.target as usize] else { continue };
                    self.edge(Edge { numbers: [source, target], nodes: [node, link.target], link })?;
                }
                Ok(())
            },
        )?;
        Ok(NodeFigures::of(&pages.graph(export.catalogue, all)))
    }

    fn edge(&mut self, edge: Edge) -> Result<(), WriteError> {
        writeln!(
            self.waiting,
            r#"<edge source="n{}" target="n{}"><data key="anchor">{}</data><data key="region">{}</data><data key="links">{}</data></edge>"#,
            edge.numbers[0],
            edge.numbers[1],
            escaped(&edge.link.anchor),
            region(edge.link.region),
            edge.link.links
        )?;
        self.edges.add(edge)
    }

    fn node(&mut self, at: usize, page: CorpusDocument, figures: &NodeFigures) -> Result<(), WriteError> {
        let number = self.numbers[at].expect("the page is selected");
        let count = figures.pagerank.len() as f64;
        let node = Node {
            number,
            island: figures.islands.of_page[at],
            component: figures.islands.component[at],
            gate: figures.gate[at],
            pagerank: (figures.pagerank[at] * count) as f32,
            hits_hub: (figures.hits.hubs[at] * count) as f32,
            hits_authority: (figures.hits.authorities[at] * count) as f32,
            page,
        };
        write!(
            self.out,
            r#"<node id="n{number}"><data key="url">{}</data><data key="host">{}</data><data key="title">{}</data><data key="relevance">{}</data><data key="relevant">{}</data>"#,
            escaped(node.page.url.as_str()),
            escaped(&node.page.host),
            escaped(&node.page.title),
            node.page.relevance.get(),
            node.page.relevant
        )?;
        for (key, value) in [("island", node.island), ("component", node.component), ("gate", Some(node.gate))] {
            if let Some(value) = value {
                write!(self.out, r#"<data key="{key}">{value}</data>"#)?;
            }
        }
        for (key, value) in
            [("pagerank", node.pagerank), ("hits_hub", node.hits_hub), ("hits_authority", node.hits_authority)]
        {
            write!(self.out, r#"<data key="{key}">{value}</data>"#)?;
        }
        writeln!(self.out, "</node>")?;
        self.nodes.add(node)
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
type Columns<T> = fn(&[T], &PageNodes) -> Vec<Leaf>;

/// A table being written, and the rows of its next row group.
struct Group<'a, T> {
    table: ParquetTable<'a>,
    columns: Columns<T>,
    pages: &'a PageNodes,
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
     REQUIRED BOOLEAN relevant; OPTIONAL INT64 island; OPTIONAL INT64 component; REQUIRED INT64 gate; \
     REQUIRED FLOAT pagerank; REQUIRED FLOAT hits_hub; REQUIRED FLOAT hits_authority;";

fn node_columns(rows: &[Node], _: &PageNodes) -> Vec<Leaf> {
    let pages = || rows.iter().map(|node| &node.page);
    vec![
        longs(rows.iter().map(|node| i64::from(node.number))),
        texts(pages().map(|page| &page.id)),
        texts(pages().map(|page| page.url.as_str())),
        texts(pages().map(|page| &page.host)),
        texts(pages().map(|page| &page.title)),
        floats(pages().map(|page| page.relevance.get())),
        flags(pages().map(|page| page.relevant)),
        optional_longs(rows.iter().map(|node| node.island.map(i64::from))),
        optional_longs(rows.iter().map(|node| node.component.map(i64::from))),
        longs(rows.iter().map(|node| i64::from(node.gate))),
        floats(rows.iter().map(|node| node.pagerank)),
        floats(rows.iter().map(|node| node.hits_hub)),
        floats(rows.iter().map(|node| node.hits_authority)),
    ]
}

const EDGES: &str = "REQUIRED INT64 source; REQUIRED INT64 target; REQUIRED BYTE_ARRAY source_url (STRING); \
     REQUIRED BYTE_ARRAY target_url (STRING); REQUIRED BYTE_ARRAY anchor (STRING); \
     REQUIRED BYTE_ARRAY region (STRING); REQUIRED INT64 links;";

fn edge_columns(rows: &[Edge], pages: &PageNodes) -> Vec<Leaf> {
    let url = |node: u32| pages.url(node).map_or("", CrawlUrl::as_str);
    vec![
        longs(rows.iter().map(|edge| i64::from(edge.numbers[0]))),
        longs(rows.iter().map(|edge| i64::from(edge.numbers[1]))),
        texts(rows.iter().map(|edge| url(edge.nodes[0]))),
        texts(rows.iter().map(|edge| url(edge.nodes[1]))),
        texts(rows.iter().map(|edge| &edge.link.anchor)),
        texts(rows.iter().map(|edge| region(edge.link.region))),
        longs(rows.iter().map(|edge| i64::from(edge.link.links))),
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
                ("http://a.cn/1", "<title>NBA</title><p>篮球 比赛 昨天 晚上 在 北京 举行 <a href=/><img></a></p>"),
                ("http://b.cn/", "<p>足球 <a href=http://a.cn/off>off</a></p>"),
                ("http://a.cn/off", "<p><a href=http://b.cn/>b</a> the weather is fine today, said the man"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let mut selection = Filter::default().select(&catalogue);
        // The last page is not selected.
        selection.chosen[3] = false;
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
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
        let node = xml.lines().find(|line| line.contains(r#"id="n1""#)).unwrap();
        let figures = "<data key=\"island\">0</data><data key=\"component\">0</data><data key=\"gate\">0</data>";
        assert!(
            node.contains(figures) && node.contains("key=\"pagerank\"") && node.contains("key=\"hits_authority\""),
            "{node}"
        );
        let rows = |name: &str| -> usize {
            let file = std::fs::File::open(root.path().join(name)).unwrap();
            SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows() as usize
        };
        assert_eq!((rows("g.nodes.parquet"), rows("g.edges.parquet")), (3, 3));
    }
}
