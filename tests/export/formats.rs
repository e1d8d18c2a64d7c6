//! Every export format is read back by the software it is meant for, and no file is incomplete after a kill.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{REPLAY_DEFAULTS, Running, Stage, finite, records, run, snapshot, suidao, tools};
use suidao::corpus::DocumentFields;
use suidao::index::Index;
use suidao::model::{CrawlUrl, Event, UrlId};
use suidao::seeded_rng::SeededRng;
use suidao::store::Responses;
use suidao::world::forum::ServedForumPage as ForumKind;
use suidao::world::{ActivitySpec, Forum, ForumSpec, ForumWeb, ServerOptions, WebServer, WebSpec};
use suidao_features::depth;

const ALL: [&str; 6] = ["--strategy", "breadth-first", "--max-pages", "400", "--set", "limits.hops=10000"];

/// A crawl of a web with redirects and duplicates.
fn crawled() -> Stage {
    let stage = Stage::new(WebSpec { robots_hosts: 1.0, ..finite() }, ServerOptions::default());
    run(stage.crawl("crawl", &ALL)).expect(0);
    std::fs::create_dir(stage.path("out")).unwrap();
    stage
}

fn export(stage: &Stage, format: &str, out: &Path, more: &[&str]) -> Command {
    let mut command = suidao();
    command.arg("export").arg(stage.path("crawl")).args(["--format", format, "-q", "-o"]).arg(out).args(more);
    command.args(["--where", "listings:yes"]);
    command
}

/// The visible files of a directory: killed exports may leave hidden parts.
fn visible(root: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let hidden = |path: &Path| path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    let inner =
        snapshot(root).into_iter().map(|(path, content)| (path.strip_prefix(root).unwrap().to_owned(), content));
    inner.filter(|(path, _)| !hidden(path)).map(|(path, content)| (path.into_os_string(), content)).collect()
}

#[test]
fn other_software_reads_what_was_written() {
    let stage = crawled();
    let out = stage.path("out");
    let all = DocumentFields::all().names().collect::<Vec<_>>().join(",");
    for (format, name, more) in [
        ("jsonl", "pages.jsonl", vec!["--fields", &all]),
        ("parquet", "pages.parquet", vec![]),
        ("parquet", "shards", vec!["--shard-size", "64KiB"]),
        ("warc", "pages.warc.gz", vec![]),
        ("warc", "archive", vec!["--shard-size", "64KiB"]),
        ("graph", "links.graphml", vec![]),
        ("es-bulk", "pages.bulk.ndjson", vec![]),
        ("meilisearch", "meilisearch.ndjson", vec![]),
        ("quickwit", "quickwit.ndjson", vec![]),
    ] {
        run(export(&stage, format, &out.join(name), &more)).expect(0);
    }
    assert!(std::fs::read_dir(out.join("shards")).unwrap().count() > 2);
    edges_are_those_of_the_log(&stage, &out.join("links.graphml"));

    let Some(python) = tools::python("json") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for check in ["jsonschema", "pyarrow", "pandas", "duckdb", "polars", "warcio", "networkx", "elastic", "engines"] {
        let mut command = Command::new(&python);
        command.arg(root.join("tests/roundtrip.py")).arg(check).arg(&out).arg(stage.path("crawl"));
        command.arg(root.join("docs/page.schema.json"));
        let ended = run(command);
        match ended.code() {
            77 => tools::missing(ended.out.trim()),
            _ => print!("{}", ended.expect(0).out),
        }
    }
}

/// Every link between pages in the log is an edge of the graph.
fn edges_are_those_of_the_log(stage: &Stage, graph: &Path) {
    let (mut urls, mut redirects) = (Vec::new(), BTreeMap::new());
    let (mut links, mut pages) = (BTreeSet::new(), BTreeSet::new());
    for event in records(&stage.path("crawl")).into_iter().flat_map(|record| record.batch.events) {
        match event {
            Event::Discovered(found) => urls.push(found.url),
            Event::Redirected { id, link: Some(link), .. } | Event::SchemeRewritten { id, link: Some(link) } => {
                redirects.insert(id, link.to);
            }
            Event::PageFetched(page) => {
                pages.insert(page.id);
                links.extend(page.links.iter().map(|link| link.to).chain(page.known).map(|to| (page.id, to)));
            }
            Event::Rejudged { id, links: more, .. } => links.extend(more.iter().map(|link| (id, link.to))),
            _ => {}
        }
    }
    let text = std::fs::read_to_string(graph).unwrap();
    let part = |line: &str, from: &str, to: &str| line.split_once(from).unwrap().1.split_once(to).unwrap().0.to_owned();
    let node = |line: &str| (part(line, "url\">", "<").replace("&amp;", "&"), part(line, "id=\"", "\""));
    let nodes: BTreeMap<String, String> = text.lines().filter(|line| line.starts_with("<node")).map(node).collect();
    assert_eq!(nodes.len(), pages.len());
    let edge = |line: &str| (part(line, "source=\"", "\""), part(line, "target=\"", "\""));
    let edges: Vec<(String, String)> = text.lines().filter(|line| line.starts_with("<edge")).map(edge).collect();
    let known: BTreeSet<&(String, String)> = edges.iter().collect();
    assert_eq!(known.len(), edges.len(), "each edge occurs once");
    let mut wanted = 0;
    for (from, mut to) in links {
        while let Some(next) = redirects.get(&to) {
            to = *next;
        }
        if from == to || !pages.contains(&to) {
            continue;
        }
        let name = |id: UrlId| nodes[urls[id.0 as usize].as_str()].clone();
        wanted += 1;
        assert!(known.contains(&(name(from), name(to))), "{} -> {}", urls[from.0 as usize], urls[to.0 as usize]);
    }
    assert!(wanted > pages.len(), "{wanted}");
}

#[test]
fn shards_are_written_to_a_new_directory() {
    let stage = crawled();
    let out = stage.path("out");
    let whole = out.join("pages.jsonl");
    run(export(&stage, "jsonl", &whole, &[])).expect(0);
    let mut shards = suidao();
    shards.arg("export").arg(stage.path("crawl")).args(["--where", "listings:yes", "--shard-size", "100KiB", "-o"]);
    shards.arg(out.join("shards.jsonl"));
    let done = run(shards).expect(0).err;
    let files = std::fs::read_dir(out.join("shards.jsonl")).unwrap().count();
    assert!(done.contains(&format!("shards.jsonl/ ({files} files)\n")), "{done}");
    let shards: Vec<Vec<u8>> =
        visible(&out.join("shards.jsonl")).into_values().filter(|file| !file.is_empty()).collect();
    assert!(shards.len() > 1 && shards.iter().all(|shard| shard.len() <= 100 << 10));
    assert!(shards.concat() == std::fs::read(&whole).unwrap());
    let before = visible(&out);
    for format in ["jsonl", "parquet", "text", "warc"] {
        let output = run(export(&stage, format, &out.join("shards.jsonl"), &["--shard-size", "1MB"])).expect(2).err;
        assert!(output.contains("not empty") && output.contains("shards.jsonl"), "{output}");
        run(export(&stage, format, &out.join("shards.jsonl"), &[])).expect(2);
    }
    run(export(&stage, "graph", &out.join("g.graphml"), &["--shard-size", "1MB"])).expect(2);
    let output = run(export(&stage, "jsonl", &out.join("x"), &["--shard-size", "many"])).expect(2).err;
    assert!(output.contains("500MB"), "{output}");
    let output = run(export(&stage, "jsonl", &out.join("x"), &["--shard-size", "12"])).expect(2).err;
    assert!(output.contains("too small"), "{output}");
    assert!(visible(&out) == before);
    // A page without text has no line; the card counts them.
    run(export(&stage, "text", &out.join("t.txt"), &[])).expect(0);
    let lines = std::fs::read_to_string(out.join("t.txt")).unwrap().lines().count();
    run(export(&stage, "jsonl", &out.join("t.jsonl"), &["--where", "chars:1..", "--fields", "id"])).expect(0);
    assert_eq!(std::fs::read_to_string(out.join("t.jsonl")).unwrap().lines().count(), lines);
    assert!(std::fs::read_to_string(out.join("t.card.md")).unwrap().contains(&format!("Documents: {lines}\n")));
}

#[test]
fn a_killed_export_leaves_nothing_half_written() {
    let stage = crawled();
    let seed = std::env::var("SUIDAO_KILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    println!("SUIDAO_KILL_SEED={seed} repeats these moments");
    let mut random = SeededRng::new(seed, 0, 0);
    for (format, name, more) in [
        ("jsonl", "pages.jsonl.zst", vec![]),
        ("jsonl", "shards", vec!["--shard-size", "64KiB"]),
        ("parquet", "pages.parquet", vec![]),
        ("parquet", "shards.parquet", vec!["--shard-size", "64KiB"]),
        ("warc", "pages.warc.gz", vec![]),
        ("text", "pages.txt.gz", vec![]),
        ("markdown", "pages", vec![]),
        ("markdown", "pages/", vec![]),
        ("graph", "pages.graphml", vec![]),
        ("es-bulk", "pages.bulk.ndjson.gz", vec![]),
        ("meilisearch", "pages.ndjson", vec![]),
        ("quickwit", "pages.ndjson", vec![]),
    ]
    .into_iter()
    .step_by(depth(3, 1))
    {
        let out = stage.path("out");
        let begun = std::time::Instant::now();
        run(export(&stage, format, &out.join(name), &more)).expect(0);
        let most = begun.elapsed().as_micros() as u64;
        let whole = visible(&out);
        let mut early = 0;
        for kill in 0..depth(1, 4) {
            std::fs::remove_dir_all(&out).unwrap();
            std::fs::create_dir(&out).unwrap();
            let mut running = Running::start(export(&stage, format, &out.join(name), &more));
            std::thread::sleep(Duration::from_micros(random.below(most)));
            running.kill();
            let left = visible(&out);
            early += u32::from(left.len() < whole.len());
            for (path, content) in &left {
                assert!(whole.get(path) == Some(content), "{format}, kill {kill}: {} is not whole", path.display());
            }
            // A directory has all its files or does not exist.
            assert!(more.is_empty() || left.len() <= 1 || left == whole, "{format}, kill {kill}");
        }
        println!("{format} {name}: {early} kills before the end");
        std::fs::remove_dir_all(&out).unwrap();
        std::fs::create_dir(&out).unwrap();
        run(export(&stage, format, &out.join(name), &more)).expect(0);
        assert!(visible(&out) == whole, "{format}: the same again");
        std::fs::remove_dir_all(&out).unwrap();
        std::fs::create_dir(&out).unwrap();
    }
}

/// Segment names are random, so an index is not compared byte for byte: it opens or does not exist.
#[test]
fn a_killed_export_leaves_no_index() {
    let stage = crawled();
    let path = stage.path("out").join("index");
    let begun = std::time::Instant::now();
    run(export(&stage, "index", &path, &[])).expect(0);
    let most = begun.elapsed().as_micros() as u64;
    let pages = Index::open(&path).unwrap().origin().pages;
    let mut random = SeededRng::new(5, 0, 0);
    for kill in 0..5 {
        std::fs::remove_dir_all(&path).ok();
        let mut running = Running::start(export(&stage, "index", &path, &[]));
        std::thread::sleep(Duration::from_micros(random.below(most)));
        running.kill();
        if path.exists() {
            assert_eq!(Index::open(&path).unwrap().origin().pages, pages, "kill {kill}");
        }
    }
}

#[test]
fn flags_that_a_format_does_not_use_are_rejected() {
    let stage = crawled();
    let out = stage.path("out");
    let before = visible(&out);
    for (format, more, expected) in [
        ("warc", vec!["--fields", "url"], "--fields works with jsonl"),
        ("index", vec!["--since", "2020-01-01"], "leave out --since"),
        ("index", vec!["--shard-size", "1MB"], "an index is a directory"),
        ("graph", vec!["--shard-size", "1MB"], "three files"),
        ("jsonl", vec!["--where", "relevance:2.."], "between 0 and 1"),
        ("jsonl", vec!["--where", "date:soon"], "2021-03-05"),
    ] {
        let ended = run(export(&stage, format, &out.join("x"), &more)).expect(2);
        assert!(ended.err.contains(expected), "{format} {more:?}: {}", ended.err);
        assert!(visible(&out) == before, "{format} {more:?}");
    }
    // A name that ends in a slash is a directory.
    for format in ["jsonl", "csv", "warc", "text", "graph"] {
        let ended = run(export(&stage, format, &out.join("x/"), &[])).expect(2);
        assert!(ended.err.contains("x/: is a directory, but"), "{format}: {}", ended.err);
        assert!(visible(&out) == before, "{format}");
    }
    assert!(!stage.path("crawl").join("exports").exists());
}

#[test]
fn the_extension_chooses_the_format_and_an_unknown_one_is_refused() {
    let stage = crawled();
    let out = stage.path("out");
    let export = |name: &str, more: &[&str]| {
        let mut command = suidao();
        command.arg("export").arg(stage.path("crawl")).arg("-o").arg(out.join(name)).args(more);
        run(command)
    };
    for (name, begins) in [
        ("a.parquet", &b"PAR1"[..]),
        ("b.csv", b"id,"),
        ("c.jsonl", b"{\""),
        ("d.warc.gz", b"\x1f\x8b"),
        ("e.csv.gz", b"\x1f\x8b"),
        ("f.MD", b"---"),
        ("g.graphml", b"<?xml"),
    ] {
        export(name, &[]).expect(0);
        let bytes = std::fs::read(out.join(name)).unwrap();
        assert!(bytes.starts_with(begins), "{name}: {:?}", &bytes[..bytes.len().min(20)]);
    }
    let before = visible(&out);
    for name in ["x.docx", "x.parquets", "x.sqlite.gz"] {
        let ended = export(name, &[]).expect(2);
        assert!(ended.err.contains("no format has the extension") && ended.err.contains("--format"), "{}", ended.err);
    }
    assert_eq!(visible(&out), before, "nothing is written");
    export("plain", &[]).expect(0);
    assert!(out.join("plain.jsonl").exists());
    // The first time everything is new.
    let all = std::fs::read(out.join("c.jsonl")).unwrap();
    std::fs::remove_dir_all(stage.path("crawl").join("exports")).unwrap();
    export("unrecorded.jsonl", &["--no-record"]).expect(0);
    assert!(!stage.path("crawl").join("exports").exists());
    let first = export("first.jsonl", &["--since", "last"]).expect(0);
    assert!(first.err.contains("no earlier jsonl export"), "{}", first.err);
    assert_eq!(std::fs::read(out.join("first.jsonl")).unwrap(), all);
    export("second.jsonl", &["--since", "last"]).expect(0);
    assert!(std::fs::read(out.join("second.jsonl")).unwrap().is_empty());
}

/// The documents of threads, by number.
fn threads_of(forum: &Forum, path: &Path) -> BTreeMap<usize, serde_json::Value> {
    let mut found = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        let url = CrawlUrl::parse(document["url"].as_str().unwrap()).unwrap();
        match forum.kind_of(&url) {
            ForumKind::Thread { thread, page } => {
                assert_eq!(page, 1, "a further page is not a document: {url}");
                assert!(found.insert(thread, document).is_none(), "{url} twice");
            }
            _ => assert_eq!(document["posts"].as_array().unwrap().len(), 0, "{url} is not a thread"),
        }
    }
    found
}

/// Every post of a thread once, in order.
fn has_all_posts(forum: &Forum, thread: usize, now: i64, document: &serde_json::Value) {
    let truth = forum.posts(thread, now);
    let posts = document["posts"].as_array().unwrap();
    let url = &document["url"];
    assert_eq!(posts.len(), truth.len(), "{url}");
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    for (number, (post, (posting, stated))) in (1..).zip(posts.iter().zip(&truth)) {
        assert_eq!(post["floor"], number, "{url}");
        assert!(bare(post["text"].as_str().unwrap()).contains(&bare(stated)), "{url}: {post}, not {stated}");
        let posted: jiff::Timestamp = post["posted"].as_str().unwrap().parse().unwrap();
        let off = posting.at - posted.as_second();
        assert!((0..86_400).contains(&off), "{url}: {post} is {off} seconds off");
    }
    let text: Vec<&str> = posts.iter().map(|post| post["text"].as_str().unwrap()).collect();
    assert_eq!(document["text"], text.join("\n\n"));
}

#[test]
fn a_thread_is_one_document_with_the_posts_of_all_its_pages() {
    const DAY: i64 = 86_400;
    let activity = ActivitySpec { threads_per_day: 5.0, boards: 4, days: 10, replies: 6.0, ..ActivitySpec::default() };
    let forum = Arc::new(Forum::new(ForumSpec { activity, posts_per_page: 4, categories: 2, ..ForumSpec::default() }));
    let now = forum.spec().activity.start + 8 * DAY;
    let web = Arc::new(ForumWeb::at(Arc::clone(&forum), now));
    let server = WebServer::start(Arc::clone(&web) as Arc<_>).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let crawl = || {
        let mut command = suidao();
        command.args(["forum", "crawl", &format!("{}/", server.proxy()), "--allow-private", "-q"]);
        command.args(["--contact", "test@example.org", "-o"]).arg(path("crawl")).args(REPLAY_DEFAULTS);
        run(command).expect(0);
    };
    let export = |format: &str, name: &str, more: &[&str]| {
        let mut command = suidao();
        command.arg("export").arg(path("crawl")).args(["--format", format, "-q", "-o"]).arg(path(name)).args(more);
        run(command).expect(0);
    };
    crawl();
    export("jsonl", "first.jsonl", &[]);
    let before = forum.threads(now);
    let found = threads_of(&forum, &path("first.jsonl"));
    let readable: Vec<usize> = (0..before.len()).filter(|&thread| !before[thread].members_only).collect();
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), readable);
    assert!(before.iter().any(|thread| thread.pages > 2), "threads of several pages");
    for (&thread, document) in &found {
        has_all_posts(&forum, thread, now, document);
    }
    export("parquet", "first.parquet", &[]);
    export("es-bulk", "first.ndjson", &[]);
    export("warc", "first.warc.gz", &[]);
    let archived = Responses::open(&path("first.warc.gz"), 1 << 20).unwrap();
    let urls: BTreeSet<(usize, u32)> = archived
        .filter_map(|fetched| match forum.kind_of(&fetched.unwrap().url) {
            ForumKind::Thread { thread, page } => Some((thread, page)),
            _ => None,
        })
        .collect();
    let pages = readable.iter().map(|&thread| before[thread].pages as usize).sum::<usize>();
    assert_eq!(urls.len(), pages, "all pages of the threads are in the web archive");

    web.set(now + DAY);
    crawl();
    export("jsonl", "since.jsonl", &["--since", "last"]);
    let after = forum.threads(now + DAY);
    let is_changed = |thread: &usize| before.get(*thread).is_none_or(|before| before.posts != after[*thread].posts);
    let changed: Vec<usize> =
        (0..after.len()).filter(|thread| !after[*thread].members_only).filter(is_changed).collect();
    let found = threads_of(&forum, &path("since.jsonl"));
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), changed);
    assert!(changed.len() < readable.len(), "most threads rest");
    for (&thread, document) in &found {
        has_all_posts(&forum, thread, now + DAY, document);
    }
}

#[test]
fn existing_files_are_replaced_only_with_force() {
    let stage = crawled();
    let out = stage.path("out");
    let export = |format: &str, name: &str, more: &[&str]| {
        let mut command = suidao();
        command.arg("export").arg(stage.path("crawl")).args(["--format", format, "-o"]).arg(out.join(name)).args(more);
        run(command)
    };
    // A name without an ending gets the format's; the message names the additional files.
    for (format, ending, companions) in [
        ("jsonl", "jsonl", &[][..]),
        ("parquet", "parquet", &[]),
        ("warc", "warc.gz", &[]),
        ("text", "txt", &["card.md"]),
        ("graph", "graphml", &["nodes.parquet", "edges.parquet"]),
        ("es-bulk", "ndjson", &["template.json", "template.smartcn.json"]),
    ] {
        let output = export(format, "all", &[]).expect(0);
        let named = |ending: &str| out.join(format!("all.{ending}")).display().to_string();
        assert!(output.err.contains(&format!(" pages to {}", named(ending))), "{}", output.err);
        for ending in companions {
            assert!(Path::new(&named(ending)).is_file() && output.err.contains(&named(ending)), "{}", output.err);
        }
        let output = export(format, "all", &[]).expect(2);
        assert!(output.err.contains("--force"), "{}", output.err);
    }
    for (format, name, mine) in [
        ("jsonl", "mine.jsonl", "mine.jsonl"),
        ("jsonl", "mine", "mine.jsonl"),
        ("warc", "web", "web.warc.gz"),
        ("graph", "links.graphml", "links.edges.parquet"),
        ("jsonl", "all", "all.jsonl"),
    ] {
        let path = out.join(mine);
        std::fs::write(&path, "years of work").unwrap();
        let before = visible(&out);
        let output = export(format, name, &[]).expect(2);
        assert!(output.err.contains(mine) && output.err.contains("--force"), "{}", output.err);
        assert_eq!(visible(&out), before, "nothing is written");
        export(format, name, &["--force"]).expect(0);
        assert_ne!(std::fs::read(&path).unwrap(), b"years of work");
        std::fs::remove_file(&path).unwrap();
    }
    // An incremental export does not replace a full one.
    export("jsonl", "full.jsonl", &[]).expect(0);
    let full = std::fs::read(out.join("full.jsonl")).unwrap();
    export("jsonl", "full.jsonl", &["--since", "last"]).expect(2);
    assert!(!full.is_empty() && std::fs::read(out.join("full.jsonl")).unwrap() == full);
}
