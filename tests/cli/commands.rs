//! The command line for people and programs: crawl, why, export, check, demo.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::support::{
    REPLAY_DEFAULTS, Running, Stage, events, export, finite, records, run, snapshot, suidao, unused_port,
};
use serde_json::Value;
use suidao::model::{CrawlUrl, Event, LinkDecision, SkipReason};
use suidao::replay::Web;
use suidao::world::{ServerOptions, WebSpec, topic_words};

fn stage() -> Stage {
    Stage::new(WebSpec { robots_hosts: 1.0, ..finite() }, ServerOptions::default())
}

fn stdout_of(arguments: &[&str]) -> String {
    let mut command = suidao();
    command.args(arguments);
    run(command).expect(0).out
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A page of each outcome in a crawl's log.
#[derive(Default, Debug)]
struct Fates {
    relevant: Option<CrawlUrl>,
    off_topic: Option<CrawlUrl>,
    redirected: Option<CrawlUrl>,
    failed: Option<CrawlUrl>,
    robots: Option<CrawlUrl>,
    dropped: Option<CrawlUrl>,
    skipped: Option<CrawlUrl>,
    queued: Option<CrawlUrl>,
}

fn fates(dir: &Path) -> Fates {
    let mut urls = Vec::new();
    let mut fates = Fates::default();
    let (mut followed, mut dropped, mut ended) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
    for event in records(dir).into_iter().flat_map(|record| record.batch.events) {
        let url = |id: suidao::model::UrlId, urls: &[CrawlUrl]| Some(urls[id.0 as usize].clone());
        match event {
            Event::Discovered(found) => urls.push(found.url),
            Event::LinkRejected { url, .. } => fates.skipped = Some(url),
            Event::PageFetched(page) => {
                ended.insert(page.id);
                let slot = if page.on_topic { &mut fates.relevant } else { &mut fates.off_topic };
                *slot = url(page.id, &urls);
                for link in &page.links {
                    match link.decision {
                        LinkDecision::Follow(_) => drop(followed.insert(link.to)),
                        LinkDecision::Drop(_) => dropped.push(link.to),
                    }
                }
            }
            Event::Redirected { id, .. } => {
                ended.insert(id);
                fates.redirected = url(id, &urls);
            }
            Event::FetchFailed { id, .. } => {
                ended.insert(id);
                fates.failed = url(id, &urls);
            }
            Event::UrlExcluded { id, reason } => {
                ended.insert(id);
                if reason == SkipReason::Robots {
                    fates.robots = url(id, &urls);
                }
            }
            _ => {}
        }
    }
    let url = |id: &suidao::model::UrlId| urls[id.0 as usize].clone();
    fates.dropped = dropped.iter().find(|id| !followed.contains(*id) && !ended.contains(*id)).map(url);
    fates.queued = followed.iter().find(|id| !ended.contains(*id)).map(url);
    fates
}

#[test]
fn why_explains_every_outcome() {
    let stage = stage();
    let denied = stage.world.pages().last().unwrap().0.host().to_owned();
    let set = format!("scope.deny_hosts=['{denied}']");
    let arguments = ["--max-pages", "350", "--strategy", "best-first", "--set", "strategy.best-first.focus=hard"];
    run(stage.crawl("hard", &[&arguments[..], &["--set", &set]].concat())).expect(0);
    run(stage.crawl("dth", &["--max-pages", "350", "--set", &set])).expect(0);
    let hard = fates(&stage.path("hard"));
    let dth = fates(&stage.path("dth"));
    let why = |dir: &str, url: &Option<CrawlUrl>| {
        let url = url.as_ref().unwrap_or_else(|| panic!("no such URL in {dir}: {hard:?} {dth:?}"));
        let printed = stdout_of(&["why", text(&stage.path(dir)), url.as_str()]);
        assert!(printed.starts_with(&format!("{url}\n")), "{printed}");
        assert!(printed.contains("path:\n"), "{printed}");
        let json: Value =
            serde_json::from_str(&stdout_of(&["why", "--json", text(&stage.path(dir)), url.as_str()])).unwrap();
        assert_eq!(json["url"], url.as_str());
        (printed, json)
    };
    let (printed, json) = why("dth", &dth.relevant);
    assert!(printed.contains(": relevant") && printed.contains("terms: ") && printed.contains("priority"), "{printed}");
    assert!(printed.contains("(seed)") && !printed.contains(", k "), "{printed}");
    let detailed = stdout_of(&["why", "-v", text(&stage.path("dth")), dth.relevant.as_ref().unwrap().as_str()]);
    assert!(detailed.contains(", k ") && detailed.contains("queue "), "{detailed}");
    assert_eq!(json["outcome"]["page"]["on_topic"], true);
    assert!(!json["outcome"]["page"]["terms"].as_array().unwrap().is_empty());
    let (printed, _) = why("dth", &Some(stage.world.seeds()[0].clone()));
    assert!(printed.contains("queued as a seed (priority "), "{printed}");
    assert!(why("dth", &dth.off_topic).0.contains(": off topic"));
    assert!(why("dth", &dth.redirected).0.contains("redirected "));
    assert!(why("dth", &dth.failed).0.contains("the server answered with status 404"));
    let (printed, json) = why("dth", &dth.robots);
    assert!(printed.contains("skipped ") && printed.contains("disallowed by robots.txt"), "{printed}");
    assert_eq!(json["outcome"]["reason"], "robots");
    assert!(why("dth", &dth.skipped).0.contains("out of scope"));
    assert!(why("dth", &dth.queued).0.contains("queued with priority "));
    assert!(why("hard", &hard.dropped).0.contains("not queued: found only on off-topic pages"));
    let relevant = dth.relevant.as_ref().unwrap();
    let typed = relevant.as_str().replacen("http://", "https://", 1);
    let printed = stdout_of(&["why", text(&stage.path("dth")), &typed]);
    assert!(printed.starts_with(&format!("{relevant}\n")), "{typed}: {printed}");
    let [path, links] = ["path:\n", " to it, highest priority first:"].map(|part| printed.find(part).unwrap());
    assert!(path < links, "{printed}");
    let mut unknown = suidao();
    unknown.arg("why").arg(stage.path("dth")).arg("http://www.nowhere.test/");
    assert!(run(unknown).expect(2).err.contains("is unknown to the crawl"));
}

#[test]
fn a_crawl_resumes_without_lexicon_and_seeds() {
    let stage = stage();
    run(stage.crawl("crawl", &["--max-pages", "20"])).expect(0);
    let resume = |out: &str| {
        let mut command = suidao();
        command.args(["crawl", "-o"]).arg(stage.path(out)).args(["--proxy", &stage.server.proxy()]);
        command.args(["--contact", "test@example.org", "--max-pages", "40"]).args(REPLAY_DEFAULTS);
        run(command)
    };
    resume("crawl").expect(0);
    assert_eq!(crate::support::pages(&stage.path("crawl")).len(), 40);
    assert!(resume("none").expect(2).err.contains("lexicon"));
}

#[test]
fn exports_of_every_packing_are_one_text() {
    let stage = stage();
    run(stage.crawl("crawl", &["--max-pages", "300"])).expect(0);
    let dir = stage.path("crawl");
    let lines = export(&dir, &stage.path("pages.jsonl"));
    let plain = std::fs::read(stage.path("pages.jsonl")).unwrap();
    for name in ["pages.jsonl.gz", "pages.jsonl.zst"] {
        export_to(&dir, &stage.path(name));
        let packed = std::fs::read(stage.path(name)).unwrap();
        assert!(packed.len() < plain.len() / 2, "{name}");
        let mut unpacked = Vec::new();
        if name.ends_with("gz") {
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        } else {
            unpacked = zstd::decode_all(&packed[..]).unwrap();
        }
        assert!(unpacked == plain, "{name}");
    }
    assert_eq!(stdout_of(&["export", text(&dir), "-o", "-", "--where", "listings:yes"]).as_bytes(), plain);

    assert_eq!(lines.len(), 300);
    let documents = stdout_of(&["export", text(&dir), "-o", "-"]);
    let of_documents: Vec<Value> = documents.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_listing = |line: &&Value| line["listing"] == true;
    assert!(of_documents.len() < 300 && !of_documents.iter().any(|line| line["listing"] == true), "documents alone");
    assert!(lines.iter().filter(is_listing).all(|line| line["relevant"] == false));
    let is_stub = |line: &Value| line["text"].as_str().unwrap().split_whitespace().map(str::len).sum::<usize>() < 150;
    let left_out = |line: &&Value| line["listing"] == true || is_stub(line);
    assert_eq!(lines.iter().filter(left_out).count(), 300 - of_documents.len());
    let urls: BTreeMap<&str, &Value> = lines.iter().map(|line| (line["url"].as_str().unwrap(), line)).collect();
    assert_eq!(urls.len(), 300, "each page once");
    let seeds: Vec<String> = stage.world.seeds().iter().map(ToString::to_string).collect();
    for line in &lines {
        let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        for key in ["url", "fetched", "title", "text", "language", "relevance", "relevant", "scores", "k", "hops"] {
            assert!(keys.contains(&key), "{key} is not in {keys:?}");
        }
        assert!((0.0..=1.0).contains(&line["relevance"].as_f64().unwrap()));
        assert!(line["text"].is_string() && line["digest"].as_str().unwrap().len() > 20);
        let found_on = line["found_on"].as_str();
        assert_eq!(found_on.is_none(), seeds.iter().any(|seed| line["url"] == seed.as_str()), "{line}");
        // The record is at the given location.
        let file = dir.join("pages").join(line["warc"]["file"].as_str().unwrap());
        let mut file = std::fs::File::open(file).unwrap();
        file.seek(SeekFrom::Start(line["warc"]["offset"].as_u64().unwrap())).unwrap();
        let mut head = [0; 600];
        flate2::read::GzDecoder::new(file).read_exact(&mut head).unwrap();
        let head = String::from_utf8_lossy(&head).into_owned();
        assert!(head.starts_with("WARC/1.1\r\nWARC-Type: response"), "{head}");
        assert!(head.contains(line["url"].as_str().unwrap()), "{head}");
    }
    let relevant = lines.iter().filter(|line| line["relevant"] == true).count();
    let summary: Value = serde_json::from_slice(&std::fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["relevant"], relevant);
    assert_eq!(summary["pages"], 300);
    let harvest = std::fs::read_to_string(dir.join("harvest.csv")).unwrap();
    assert_eq!(harvest.lines().count(), 1 + 3, "a head, and a line per 100 pages");
}

fn export_to(dir: &Path, file: &Path) {
    stdout_of(&["export", text(dir), "--format", "jsonl", "-o", text(file), "-q", "--where", "listings:yes"]);
}

#[test]
fn events_are_lines_of_json() {
    let stage = stage();
    let ended = run(stage.crawl("crawl", &["--max-pages", "60", "--json"])).expect(0);
    let lines: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, printed) = lines.split_last().unwrap();
    assert_eq!(last["summary"]["pages"], 60);
    let stored: Vec<Value> =
        events(&stage.path("crawl")).iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let printed: Vec<Value> = printed.iter().map(|line| line["event"].clone()).collect();
    assert_eq!(printed, stored, "the events printed are those stored");
}

#[test]
fn a_dry_run_changes_nothing() {
    let stage = stage();
    run(stage.crawl("crawl", &["--max-pages", "10"])).expect(0);
    // The log's engine compacts its files whenever it is opened.
    let all = || {
        let files = snapshot(stage.dir.path()).into_iter();
        files.filter(|(path, _)| !path.starts_with(stage.path("crawl/state/log"))).collect::<Vec<_>>()
    };
    let (before, requests) = (all(), stage.server.requests());
    let fresh = run(stage.crawl("new", &["--dry-run", "--max-pages", "7"])).expect(0).out;
    let going_on = run(stage.crawl("crawl", &["--dry-run"])).expect(0).out;
    assert!(
        fresh.contains("would start a crawl in") && going_on.contains("would resume the crawl in"),
        "{fresh}\n{going_on}"
    );
    assert!(fresh.contains(stage.world.seeds()[0].as_str()));
    assert_eq!(stage.server.requests(), requests);
    assert!(all() == before);
    // Its output is a valid configuration.
    std::fs::write(stage.path("config.toml"), &fresh).unwrap();
    let shown = stdout_of(&["check", "config", text(&stage.path("config.toml"))]);
    assert!(shown.contains("pages = 7") && shown.contains("delay = 0.0"), "{shown}");
}

#[test]
fn checks_show_what_suidao_makes_of_things() {
    let stage = stage();
    let (url, _) = stage.world.pages().find(|(url, relevant)| *relevant && url.path().ends_with(".html")).unwrap();
    std::fs::write(stage.path("page.html"), stage.world.get(&url).unwrap().body).unwrap();
    let file = stage.path("page.html");
    let check = ["check", "page", text(&file), "--url", url.as_str(), "-m", text(&stage.lexicon)];
    let page: Value = serde_json::from_str(&stdout_of(&[&check[..], &["--json"]].concat())).unwrap();
    assert_eq!(page["relevant"], true, "{page}");
    assert!(page["terms"].as_array().is_some_and(|terms| !terms.is_empty()));
    assert!(page["links"].as_array().unwrap().iter().all(|link| link["url"].as_str().unwrap().starts_with("http://")));

    assert_eq!((&page["charset"], &page["url"]), (&"UTF-8".into(), &url.as_str().into()));
    // Text of a page does not control the terminal, and URLs and rules add no columns or lines.
    assert_eq!(page["verdict"], "relevant");
    let stub = stage.path("stub.html");
    let terms: Vec<&str> =
        page["terms"].as_array().unwrap().iter().map(|found| found["term"].as_str().unwrap()).take(8).collect();
    std::fs::write(&stub, format!("<title>{0}</title><p>{0}</p>", terms.join("，"))).unwrap();
    let stub = [&["check", "page", text(&stub)], &check[3..], &["--json"]].concat();
    let stub: Value = serde_json::from_str(&stdout_of(&stub)).unwrap();
    assert_eq!((&stub["relevant"], &stub["verdict"]), (&Value::Bool(false), &"on-topic page with little text".into()));
    let hostile = stage.path("hostile.html");
    std::fs::write(&hostile, "<title>a&#27;[31m\u{7}b</title>\u{1b}]0;x\u{7}<p>c").unwrap();
    let shown = stdout_of(&["check", "page", text(&hostile)]);
    assert!(shown.contains("a\\u001b[31m\\u0007b") && !shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    let rules = stage.path("robots.txt");
    std::fs::write(&rules, "User-agent: mybot\nDisallow: /x\ty\nDisallow: /private\n").unwrap();
    let agent = "Mozilla/5.0 (compatible; mybot/1.0; +http://a.cn/)";
    let lines = "http://a.cn/private\nallowed\thttp://b.cn/";
    let ruled = stdout_of(&["check", "robots", "--file", text(&rules), "--agent", agent, lines, "http://a.cn/x%09y"]);
    let cells: Vec<Vec<&str>> = ruled.lines().map(|line| line.split('\t').collect()).collect();
    assert!(cells.len() == 2 && cells.iter().all(|cells| cells.len() == 3 && cells[0] == "disallowed"), "{ruled}");
    // The same for people, with and without a lexicon.
    let shown = stdout_of(&check);
    let title = page["title"].as_str().unwrap();
    for part in [title, "UTF-8 (", "relevant (page threshold ", page["text"].as_str().unwrap(), " links: relevance ("] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let bare = stdout_of(&check[..5]);
    assert!(bare.contains(title) && !bare.contains("relevance"), "{bare}");

    std::fs::write(stage.path("robots.txt"), "User-agent: *\nDisallow: /private/\nCrawl-delay: 3\n").unwrap();
    let file = stage.path("robots.txt");
    let urls = ["http://a.test/private/1", "http://a.test/public", "HTTP://a.test/x/../private/%7e"];
    let robots = |agent: &[&str]| stdout_of(&[&["check", "robots", "--file", text(&file)], agent, &urls].concat());
    let expected = "disallowed\thttp://a.test/private/1\tDisallow: /private/\nallowed\thttp://a.test/public\t\n\
                    disallowed\tHTTP://a.test/x/../private/%7e\tDisallow: /private/\n";
    assert_eq!(robots(&[]), expected);
    assert_eq!(robots(&["--agent", "other/1.0"]), expected);
    let more = "User-agent: *\nDisallow: /private/\n\nUser-agent: other\nAllow: /private/1 # but\nDisallow: /\n";
    std::fs::write(&file, more).unwrap();
    let other = robots(&["--agent", "Other"]);
    assert!(other.starts_with("allowed\thttp://a.test/private/1\tAllow: /private/1\ndisallowed\t"), "{other}");

    let given = "HTTP://A.test:80/x/../b.pdf#top";
    assert_eq!(stdout_of(&["check", "url", given, "http://b.test?"]), "http://a.test/b.pdf\nhttp://b.test/\n");
    let url: Value = serde_json::from_str(&stdout_of(&["check", "url", "--json", given])).unwrap();
    assert_eq!(url["url"], "http://a.test/b.pdf");
    assert_eq!(url["skip_reason"], "extension");
    assert_eq!(url["robots"], "http://a.test/robots.txt");
    assert_eq!((&url["in_scope"], url["weight"].is_number()), (&Value::Bool(false), true));

    let config = stdout_of(&["check", "config", "--set", "strategy.dth.kdepth=4"]);
    assert!(config.contains("kdepth = 4") && config.contains("[politeness]"), "{config}");
}

#[test]
fn every_verb_has_help_with_an_example() {
    let help = stdout_of(&["--help"]);
    let verbs: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.len() >= 5, "{verbs:?}");
    for verb in verbs {
        let help = stdout_of(&[verb, "--help"]);
        let examples = help.split_once("Example").map_or("", |(_, examples)| examples);
        assert!(examples.contains(&format!("suidao {verb}")), "{help}");
    }
    assert!(stdout_of(&["--version"]).starts_with("suidao "));
}

#[test]
fn the_demo_prints_its_table() {
    let dir = tempfile::tempdir().unwrap();
    let table = stdout_of(&["demo", "--pages", "300", "-o", text(&dir.path().join("demo"))]);
    let row = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{table}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(table.contains("harvest rate") && table.contains("islands") && table.contains("pages/s"), "{table}");
    assert!(
        table.contains("relevant posts") && table.contains("suidao crawl -m") && table.contains("docs/tutorial.md"),
        "{table}"
    );
    for name in ["breadth-first", "best-first", "shark-search", "dth", "tunnel"] {
        let row = row(name);
        assert!(row.contains(&"300".to_owned()), "{row:?}");
        assert!(row.iter().any(|cell| cell.ends_with('%')) && row.iter().any(|cell| cell.ends_with("/24")), "{row:?}");
        assert!(dir.path().join("demo").join(format!("{name}.jsonl.gz")).exists());
    }
}

#[test]
fn a_practice_forum_serves_the_threads_that_it_writes_down() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().join("bbs");
    let mut command = suidao();
    command.args([
        "practice",
        text(&directory),
        "--forum",
        "vbulletin",
        "--threads",
        "60",
        "--speed",
        "60",
        "--port",
        "0",
    ]);
    let mut running = Running::start(command);
    assert!(running.until(|| running_in(&directory)), "{}", running.output("err"));
    let threads = std::fs::read_to_string(directory.join("threads.txt")).unwrap();
    assert!(threads.lines().count() > 20, "{threads}");
    let boards = std::fs::read_to_string(directory.join("boards.txt")).unwrap();
    let origin = std::fs::read_to_string(directory.join("seeds.txt")).unwrap();
    for url in threads.lines().take(3).chain(boards.lines().take(3)).chain([origin.trim()]) {
        let url = CrawlUrl::parse(url).unwrap();
        let mut stream = std::net::TcpStream::connect(url.authority()).unwrap();
        let path = url.as_str().strip_prefix(&url.origin()).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", url.authority());
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{url}: {answer}");
        assert!(answer.contains("vBulletin"), "{url}");
    }
    running.signal("INT");
    assert_eq!(running.end().code(), 0);
    let mut alone = suidao();
    alone.args(["practice", text(&directory), "--speed", "3"]);
    assert!(run(alone).expect(2).err.contains("--forum"));
}

#[test]
fn a_practice_web_changes_as_fast_as_it_is_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().join("news");
    let port = unused_port();
    let mut command = suidao();
    command.args(["practice", text(&directory), "--changing", "--day", "1", "--port", &port.to_string()]);
    let mut running = Running::start(command);
    assert!(running.until(|| running_in(&directory)), "{}", running.output("err"));
    let seeds = std::fs::read_to_string(directory.join("seeds.txt")).unwrap();
    assert!(seeds.lines().count() > 3 && directory.join("listings.txt").exists());
    let home = CrawlUrl::parse(seeds.lines().next().unwrap()).unwrap();
    let get = || {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = format!("GET {home} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", home.authority());
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.lines().find(|line| line.starts_with("etag")).unwrap().to_owned()
    };
    let first = get();
    assert!(running.until(|| get() != first));
    running.signal("INT");
    assert_eq!(running.end().code(), 0);
    let mut alone = suidao();
    alone.args(["practice", text(&directory), "--day", "3"]);
    assert!(run(alone).expect(2).err.contains("--changing"));
}

#[test]
fn a_practice_can_be_ended_from_its_first_file_on() {
    let flavours: [&[&str]; 3] = [&[], &["--changing"], &["--forum", "phpbb"]];
    for flavour in flavours {
        let dir = tempfile::tempdir().unwrap();
        let mut command = suidao();
        command.arg("practice").arg(dir.path()).args(["--port", "0"]).args(flavour);
        let mut running = Running::start(command);
        assert!(running.until(|| dir.path().join("samples/000.html").exists()), "{}", running.output("err"));
        running.signal("INT");
        running.end().expect(0);
    }
}

#[test]
fn a_practice_scores_any_crawler_by_its_log_of_requests() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().join("web");
    let port = unused_port();
    let mut command = suidao();
    command.args(["practice", text(&directory), "--scenario", "blogrolls", "--seed", "7", "--port", &port.to_string()]);
    let mut running = Running::start(command);
    assert!(running.until(|| running_in(&directory)), "{}", running.output("err"));
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    let relevant = read("truth.txt").lines().next().unwrap().to_owned();
    let seed = CrawlUrl::parse(read("seeds.txt").lines().next().unwrap()).unwrap();
    assert!(read("hosts.txt").contains(&format!("127.0.0.1 {}\n", seed.host())));
    // A crawler with a hosts file asks by the Host field, one with a proxy by the whole URL.
    for (target, host) in [("/robots.txt", seed.host()), ("/nothing", seed.host()), (&relevant, "x"), (&relevant, "x")]
    {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        stream.read_to_string(&mut String::new()).unwrap();
    }
    running.signal("INT");
    running.end().expect(0);
    let log = directory.join("access.log");
    let score: Value = serde_json::from_str(&stdout_of(&["practice", "--score", text(&log), "--json"])).unwrap();
    let number = |path: &str| score.pointer(path).and_then(Value::as_u64);
    assert_eq!(
        (score["scenario"].as_str(), number("/seed"), number("/requests")),
        (Some("blogrolls"), Some(7), Some(4))
    );
    assert_eq!((number("/pages"), number("/relevant"), number("/islands")), (Some(1), Some(1), Some(1)), "{score}");
    assert_eq!((number("/wasted/repeated"), number("/wasted/dead")), (Some(1), Some(1)), "{score}");
    std::fs::write(&log, format!("{}no request\n", read("access.log"))).unwrap();
    let mut command = suidao();
    command.args(["practice", "--score", text(&log)]);
    assert!(run(command).expect(2).err.contains("access.log, line 6: must be seconds, host, path"));
}

#[test]
fn a_practice_does_not_write_among_other_files() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("seeds.txt"), "http://a.test/\n").unwrap();
    std::fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let mut command = suidao();
    command.arg("practice").arg(dir.path()).args(["--port", "0"]);
    let error = run(command).expect(2).err;
    assert!(error.contains("contains other files, such as notes.txt; choose a new directory"), "{error}");
    assert_eq!(std::fs::read_to_string(dir.path().join("seeds.txt")).unwrap(), "http://a.test/\n");
}

/// Whether `practice` has written its last file.
fn running_in(directory: &Path) -> bool {
    directory.join("queries.txt").exists()
}

#[test]
fn added_links_are_judged_queued_and_fetched_once() {
    let stage = stage();
    let page = stage.world.pages().filter(|(_, relevant)| *relevant).last().unwrap().0;
    let list = stage.dir.path().join("links.txt");
    let anchor: String = topic_words().take(3).collect();
    std::fs::write(&list, format!("# from a colleague\n{page} {anchor}\n")).unwrap();
    let add = ["--add", text(&list)];
    run(stage.crawl("added", &[&["--max-pages", "5"][..], &add].concat())).expect(0);
    // Offered to a crawl that exists, and a second time.
    run(stage.crawl("added", &[&["--max-pages", "60"][..], &add].concat())).expect(0);
    let printed = stdout_of(&["why", text(&stage.path("added")), page.as_str()]);
    assert!(printed.contains("added with --add") && printed.contains(": relevant"), "{printed}");
    assert!(printed.contains(", depth 1; added with --add\n"), "its scores: {printed}");
    assert_eq!(crate::support::pages(&stage.path("added"))[&page], 1);

    std::fs::write(&list, "http://a.test/ 足球\nnot a url\n").unwrap();
    let before = snapshot(&stage.path("added"));
    let ended = run(stage.crawl("added", &[&["--max-pages", "70"][..], &add].concat())).expect(2);
    assert!(ended.err.contains("line 2") && ended.err.contains("links.txt"), "{}", ended.err);
    assert!(before == snapshot(&stage.path("added")), "a wrong list changes nothing");
}

#[test]
fn seeds_are_given_as_arguments_too() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let seeds = std::fs::read_to_string(&stage.seeds).unwrap();
    let mut command = suidao();
    command.arg("crawl").arg("-m").arg(&stage.lexicon).args(seeds.lines()).arg("-o").arg(stage.path("given"));
    command.args(["--proxy", &stage.server.proxy(), "--contact", "x@example.org", "--max-pages", "20"]);
    command.args(["--set", "politeness.delay=0", "--dry-run", "--json"]);
    let given = run(command).expect(0).out;
    let listed = run(stage.crawl("listed", &["--max-pages", "20", "--dry-run", "--json"])).expect(0).out;
    let pages = |out: &str| out.lines().filter(|line| line.contains("\"page\":")).count();
    assert!(pages(&given) > 0 && pages(&given) == pages(&listed), "{given}");
}

#[test]
fn completions_and_man_pages_are_those_of_the_verbs() {
    let script = stdout_of(&["completions", "bash"]);
    assert!(script.contains("complete -F _suidao") && script.contains("refresh"), "{script}");
    let directory = tempfile::tempdir().unwrap();
    stdout_of(&["man", text(&directory.path().join("man1"))]);
    let page = std::fs::read_to_string(directory.path().join("man1/suidao-crawl.1")).unwrap();
    assert!(page.contains("suidao crawl") && page.contains("max\\-pages"), "{page}");
}
