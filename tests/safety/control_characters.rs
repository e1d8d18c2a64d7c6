//! Text of pages, servers, files and arguments is only text on a terminal and in lists for people. A hostile web is
//! crawled, every verb in `--help` is run on it, and all output is searched. A verb that is not run here fails the
//! test.
#![cfg(unix)] // files with such names

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Ended, REPLAY_DEFAULTS, Running, copy, finite, lexicon_of, run, snapshot, suidao, tools};
use serde_json::Value;
use suidao::model::{CrawlUrl, Failure, Fetched};
use suidao::replay::Web;
use suidao::world::{ActivitySpec, Forum, ForumSpec, ForumWeb, Proxied, ServerOptions, Skin, SyntheticWeb, WebServer};

/// Sets the title, a colour by ESC and by C1, clears, rings, moves back, writes from right to left, isolates, and adds
/// zero-width characters; each after a word by which it is found.
const EVIL: &str = "hostilemark\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J\u{8}\u{7f}\u{202e}fdp.exe\u{2066}\u{200f}\u{61c}\
                    \u{200b}\u{feff}\u{2060}\u{2028}\u{e0041}";

/// How its beginning is printed.
const SHOWN: &str = "hostilemark\\u001b]0;owned\\u0007";

/// The same after parsing has removed control characters, as in link texts.
const ANCHOR_SHOWN: &str = "hostilemark]0;owned[31m2J\\u202e";

/// The part of it that an HTTP header field can contain.
const FIELD: &str = "hostilemark\u{9b}2k\u{202e}\u{2066}\u{200b}";

/// Written independently of the code under test.
fn is_forbidden(letter: char) -> bool {
    let others = [
        '\u{61c}'..='\u{61c}',
        '\u{200b}'..='\u{200b}',
        '\u{200e}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{feff}'..='\u{feff}',
        '\u{fff9}'..='\u{fffb}',
        '\u{e0000}'..='\u{e007f}',
    ];
    letter.is_control() && !matches!(letter, '\n' | '\t') || others.iter().any(|range| range.contains(&letter))
}

fn clean(what: &str, text: &str) {
    if let Some((at, letter)) = text.char_indices().find(|(_, letter)| is_forbidden(*letter)) {
        let from = text[..at].char_indices().rev().nth(200).map_or(0, |(from, _)| from);
        let to = text[at..].char_indices().nth(60).map_or(text.len(), |(to, _)| at + to);
        panic!("{what} contains {letter:?}: {:?}", &text[from..to]);
    }
}

/// A generated web and a forum with hostile texts, and a host that is hostile wherever possible.
struct Hostile {
    world: Arc<SyntheticWeb>,
    forum: ForumWeb,
}

impl Web for Hostile {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        if url.host() == "evil.test" {
            return Ok(evil(url));
        }
        let mut fetched = if url.host() == self.forum.forum().home().host() {
            self.forum.get(url)
        } else {
            Proxied(Arc::clone(&self.world)).get(url)
        }?;
        if let Ok(text) = std::str::from_utf8(&fetched.body)
            && text.contains("<title>")
        {
            let text = text.replacen("<title>", &format!("<title>{EVIL} "), 1).replace("</a>", &format!(" {EVIL}</a>"));
            fetched.body = text.replace("</p>", &format!(" {EVIL}</p>")).into();
            fetched.headers.retain(|(name, _)| name != "content-length");
        }
        Ok(fetched)
    }
}

/// The host that tries everything.
fn evil(url: &CrawlUrl) -> Fetched {
    let answer = |status: u16, media: &str, more: &[(&str, String)], body: String| {
        let mut headers = vec![("content-type".to_owned(), media.to_owned())];
        headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Fetched {
            url: url.clone(),
            status,
            headers,
            body: body.into(),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        }
    };
    let words = "足球比赛和篮球联赛的新闻，球员在训练。".repeat(8);
    let page = |head: &str, body: &str| {
        format!(
            "<html lang=\"zh-{EVIL}\"><head><title>足球 {EVIL}</title><meta name=\"author\" content=\"{EVIL}\">\
             <meta name=\"keywords\" content=\"足球,{EVIL}\"><meta name=\"description\" content=\"{EVIL}\">{head}</head>\
             <body><h1>足球 {EVIL}</h1><p>{words}{EVIL}</p><h2>{EVIL}</h2>{body}</body></html>"
        )
    };
    let html = "text/html; charset=utf-8";
    let fields = [
        ("etag", format!("\"{FIELD}\"")),
        ("last-modified", FIELD.to_owned()),
        ("x-robots-tag", FIELD.to_owned()),
        ("link", format!("<http://evil.test/own-{FIELD}>; rel=\"canonical\"")),
        ("server", FIELD.to_owned()),
        ("x-hostilemark", FIELD.to_owned()),
    ];
    match url.path() {
        "/robots.txt" => {
            let text = format!(
                "User-agent: *\nDisallow: /forbidden\nDisallow: /{EVIL}\nCrawl-delay: {EVIL}\n{EVIL}: {EVIL}\n\
                 Sitemap: http://evil.test/sitemap-{EVIL}.xml\nSitemap: http://evil.test/sitemap.xml\n"
            );
            answer(200, "text/plain; charset=utf-8", &[], text)
        }
        "/sitemap.xml" => answer(
            200,
            "application/xml",
            &[],
            format!("<urlset><url><loc>http://evil.test/listed-{FIELD}</loc><lastmod>{FIELD}</lastmod></url></urlset>"),
        ),
        "/" => {
            let links = [
                format!("/media?{EVIL}"),
                format!("/moved?{EVIL}"),
                format!("/circle#{EVIL}"),
                format!("/gone-{EVIL}?a={EVIL}"),
                format!("/forbidden-{EVIL}"),
                format!("/charset-{EVIL}.html"),
                format!("http://{EVIL}.test/"),
                "http://host\u{200b}\u{202e}ilemark.test/".to_owned(),
                format!("javascript:{EVIL}"),
                format!("/picture-{EVIL}.jpg"),
            ];
            let links: String =
                links.iter().map(|to| format!("<li><a href=\"{to}\" title=\"{EVIL}\">足球 {EVIL}</a></li>")).collect();
            let head = format!(
                "<link rel=\"canonical\" href=\"http://evil.test/?{EVIL}\">\
                 <link rel=\"alternate\" type=\"application/rss+xml\" title=\"{EVIL}\" href=\"/feed-{EVIL}.xml\">"
            );
            answer(200, html, &fields, page(&head, &format!("<ul>{links}</ul>")))
        }
        "/media" => answer(200, &format!("application/{FIELD}"), &[], words),
        "/moved" => answer(302, html, &[("location", format!("/to-{FIELD}?{FIELD}"))], String::new()),
        "/circle" => answer(302, html, &[("location", format!("/circle#{FIELD}"))], String::new()),
        path if path.starts_with("/gone") => answer(503, html, &[("retry-after", FIELD.to_owned())], page("", "")),
        path if path.starts_with("/charset") => answer(
            200,
            &format!("text/html; charset={FIELD}"),
            &fields,
            page("<meta charset=\"gb\u{1b}\u{202e}\">", ""),
        ),
        path if path.contains("feed") => answer(
            200,
            "application/rss+xml",
            &[],
            format!(
                "<rss><channel><item><title>{FIELD}</title><link>http://evil.test/fed-{FIELD}</link></item></channel></rss>"
            ),
        ),
        _ => answer(200, html, &fields, page("", "")),
    }
}

/// The web, and the input of the verbs.
struct Stage {
    dir: tempfile::TempDir,
    server: WebServer,
    hostile: Arc<Hostile>,
    start: String,
    ran: BTreeMap<String, usize>,
}

impl Stage {
    fn new() -> Self {
        let world = Arc::new(
            SyntheticWeb::new(suidao::world::WebSpec {
                pages: 400,
                hosts: 10,
                islands: 3,
                island_pages: [20, 30],
                ..finite()
            })
            .unwrap(),
        );
        let activity = ActivitySpec { boards: 3, users: 30, threads_per_day: 4.0, days: 6, ..ActivitySpec::default() };
        let spec = ForumSpec { skin: Skin::Discuz, activity, members_only: 0, sub_boards: 0.0, ..ForumSpec::default() };
        let forum = Arc::new(Forum::new(spec));
        let start = forum.home().to_string();
        let now = forum.spec().activity.start + 5 * 86_400;
        let hostile = Arc::new(Hostile { world, forum: ForumWeb::at(forum, now) });
        let server = WebServer::start(Arc::clone(&hostile) as Arc<dyn Web>).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let stage = Self { dir, server, hostile, start, ran: BTreeMap::new() };
        let seeds: String = stage.hostile.world.seeds().iter().map(|url| format!("{url} {EVIL}\n")).collect();
        stage.file("seeds.txt", format!("# {EVIL}\nhttp://evil.test/\n{seeds}"));
        stage.file("lexicon.toml", lexicon_of(EVIL).to_toml());
        fs::create_dir_all(stage.path("samples").join("evil.test")).unwrap();
        for (at, (url, page)) in stage.hostile.world.sample_pages(20).into_iter().enumerate() {
            let page = stage.hostile.get(&url).map_or(page, |got| String::from_utf8_lossy(&got.body).into_owned());
            fs::write(stage.path("samples").join("evil.test").join(format!("{at}-{EVIL}.html")), page).unwrap();
        }
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = suidao();
        command.current_dir(self.dir.path()).args(words);
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Flags that make a verb fetch from the hostile web, without delays.
    fn fetching(&self) -> Vec<String> {
        let flags = ["--proxy".to_owned(), self.server.proxy(), "--contact".to_owned(), "me@example.org".to_owned()];
        flags.into_iter().chain(REPLAY_DEFAULTS.map(str::to_owned)).collect()
    }

    /// Runs a verb, which must end with one of `codes` and print nothing forbidden.
    fn hear(&mut self, verb: &str, more: &[&str], codes: &[i32]) -> Ended {
        self.hear_with(verb, more, codes, &[])
    }

    /// The same with given flags.
    fn hear_with(&mut self, verb: &str, more: &[&str], codes: &[i32], flags: &[String]) -> Ended {
        *self.ran.entry(verb.to_owned()).or_default() += 1;
        let words: Vec<&str> =
            verb.split(' ').chain(more.iter().copied()).chain(flags.iter().map(String::as_str)).collect();
        let ended = run(self.command(&words));
        looked_through(&format!("{words:?}"), &ended);
        assert!(codes.contains(&ended.code()), "{words:?}\n{}\n{}\n{}", ended.status, ended.out, ended.err);
        ended
    }

    /// Runs a verb that must print some hostile text, escaped.
    fn shows(&mut self, verb: &str, more: &[&str], codes: &[i32]) -> Ended {
        let flags = Vec::new();
        self.shows_with(verb, more, codes, &flags)
    }

    fn shows_with(&mut self, verb: &str, more: &[&str], codes: &[i32], flags: &[String]) -> Ended {
        let ended = self.hear_with(verb, more, codes, flags);
        // Query words and terms are between marks.
        let result = (ended.out.clone() + &ended.err).replace(['«', '»', '【', '】'], "");
        let shown = result.contains(SHOWN) || result.contains(ANCHOR_SHOWN);
        assert!(shown, "{verb} {more:?} shows nothing hostile:\n{}\n{}", ended.out, ended.err);
        ended
    }
}

fn looked_through(what: &str, ended: &Ended) {
    clean(&format!("{what}, standard output"), &ended.out);
    clean(&format!("{what}, standard error"), &ended.err);
    assert!(!ended.err.contains("panicked"), "{what}\n{}", ended.err);
}

/// Verbs of the help, nested ones with their parents.
fn verbs(of: &[&str]) -> BTreeSet<String> {
    let mut command = suidao();
    command.args(of).arg("--help");
    let help = run(command).expect(0).out;
    let Some((_, rest)) = help.split_once("Commands:\n") else { return BTreeSet::new() };
    let names = rest.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut found = BTreeSet::new();
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        let path: Vec<&str> = of.iter().copied().chain([name]).collect();
        let below = verbs(&path);
        if below.is_empty() {
            found.insert(path.join(" "));
        }
        found.extend(below);
    }
    found
}

#[test]
fn no_verb_prints_terminal_controls() {
    let mut stage = Stage::new();
    let fetching = stage.fetching();
    let out = format!("out-{EVIL}");

    // From samples to a lexicon, and its test.
    let made = format!("made-{EVIL}.toml");
    stage.shows("topic build", &["--pages", "samples", "--name", EVIL, "-o", &made], &[0]);
    let tested = stage.shows("topic test", &["-m", &made, "--pages", "samples"], &[0]).out;
    assert!(tested.lines().skip(1).all(|line| line.split('\t').count() == 4), "{tested}");
    fs::create_dir(stage.dir.path().join("labelled")).unwrap();
    fs::write(stage.dir.path().join("labelled/1.txt"), format!("足球 {EVIL}")).unwrap();
    fs::write(stage.dir.path().join("answers.tsv"), "1.txt\t1\n").unwrap();
    let learnt = format!("learnt-{EVIL}.toml");
    stage.shows("topic learn", &[&made, "--labels", "answers.tsv", "--pages", "labelled", "-o", &learnt], &[0]);

    // The crawl with the most output, and its files.
    let crawl = ["-m", &made, "-s", "seeds.txt", "-o", &out, "--sitemaps", "--feeds"];
    let with = |more: &[&'static str]| crawl.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    stage.shows_with("crawl", &with(&["--dry-run"]), &[0], &fetching);
    stage.hear_with("crawl", &with(&["--dry-run", "--json"]), &[0], &fetching);
    let loud = stage.shows_with("crawl", &with(&["-v", "-v", "--max-pages", "60"]), &[0], &fetching);
    assert!(loud.err.contains("TRACE") && loud.err.contains("evil.test/"), "{}", loud.err);
    let result = stage.hear_with("crawl", &with(&["--max-pages", "120", "--json"]), &[0], &fetching).out;
    assert!(result.lines().count() > 60 && result.contains(SHOWN));
    for line in result.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    status(&mut stage, &out);

    if cfg!(feature = "cluster") {
        for verb in ["cluster status", "cluster stop", "cluster delete"] {
            stage.shows(verb, &[EVIL, "--nats", EVIL], &[2]);
        }
        stage.shows("cluster collect", &[EVIL, "--nats", EVIL, "-o", EVIL], &[2]);
        stage.shows("cluster add", &[EVIL, "--nats", EVIL, "http://evil.test/"], &[2]);
        stage.shows("cluster create", &[EVIL, "--nats", EVIL, "-m", &made, "-s", "seeds.txt", "--archive", EVIL], &[2]);
        stage.shows("worker", &[EVIL, "--nats", EVIL, "-o", EVIL], &[2]);
    } else {
        // They say how to install them.
        for verb in ["cluster", "worker"] {
            stage.hear(verb, &[EVIL], &[2]);
        }
    }
    stage.shows("completions", &[EVIL], &[2]);
    stage.shows("man", &[&format!("seeds.txt/{EVIL}")], &[2]);

    // One URL: JSON has its exact text.
    let seed = "http://evil.test/";
    stage.shows("why", &[&out, seed], &[0]);
    let why: Value = serde_json::from_str(&stage.shows("why", &["--json", &out, seed], &[0]).out).unwrap();
    let text = |value: &Value| value.to_string();
    assert!(why["outcome"]["page"]["title"].as_str().unwrap().contains(&EVIL[..20]), "{}", text(&why));
    assert!(why["outcome"]["page"]["title"].as_str().unwrap().contains("\u{9b}2J"), "{}", text(&why));
    assert!(why["visits"][0]["description"].as_str().unwrap().contains(&EVIL[..20]), "{}", text(&why));
    let skipped = fs::read_to_string(stage.path(&out).join("skipped.csv")).unwrap();
    let media = skipped.lines().find(|line| line.contains("evil.test/media?"));
    let media = media.unwrap_or_else(|| panic!("{skipped}")).to_owned();
    assert!(media.contains("not a page") && media.contains("hostilemark"), "{media}");
    let failed = media.split(',').next().unwrap();
    let result = stage.hear("why", &[&out, failed], &[0]).out;
    // A media type ends with its last valid character.
    assert!(result.contains("the response is application/hostilemark, not a page"), "{result}");
    let why: Value = serde_json::from_str(&stage.hear("why", &["--json", &out, failed], &[0]).out).unwrap();
    assert!(text(&why).contains("application/hostilemark,"), "{}", text(&why));

    stage.shows("report", &[&out], &[0]);
    let facts = stage.shows("report", &[&out, "--json"], &[0]).out;
    serde_json::from_str::<Value>(&facts).unwrap();
    stage.hear("graph", &[&out], &[0]);
    let graph = stage.hear("graph", &[&out, "--json"], &[0]).out;
    serde_json::from_str::<Value>(&graph).unwrap();
    stage.hear("seeds", &["-m", "lexicon.toml", "--crawl", &out], &[0, 1]);
    let archive = format!("{out}/pages/suidao-00000.warc.gz");
    stage.hear("import", &[&archive, "-m", "lexicon.toml", "-o", "imported"], &[0]);
    stage.shows("search", &[&out, "足球", "--explain"], &[0]);
    stage.shows("search", &[&out, EVIL], &[0]);
    let hits: Value = serde_json::from_str(&stage.shows("search", &[&out, "足球", "--json"], &[0]).out).unwrap();
    assert!(hits["hits"].as_array().is_some_and(|hits| hits.iter().any(|hit| text(hit).contains('\u{9b}'))));
    stage.file("queries.txt", format!("足球\n{EVIL}\n"));
    stage.shows("evaluate", &[&out, "--queries", "queries.txt", "-o", &format!("evaluated-{EVIL}")], &[0]);
    stage.shows("evaluate", &[&out, "--queries", "queries.txt", "--json"], &[0]);
    for format in
        ["jsonl", "csv", "parquet", "es-bulk", "meilisearch", "quickwit", "index", "warc", "text", "markdown", "graph"]
    {
        let name = format!("exported-{EVIL}.{format}");
        stage.shows("export", &[&out, "--format", format, "-o", &name], &[0]);
    }
    stage.hear("export", &[&out, "--format", "jsonl", "-o", "rows.jsonl", "--fields", "url,title"], &[0]);
    let rows = fs::read_to_string(stage.path("rows.jsonl")).unwrap();
    assert!(rows.contains('\u{9b}'), "a file has the pages as they are");
    label(&mut stage, &out);
    stage.shows("topic compare", &[&made, "lexicon.toml", "--crawl", &out], &[0, 2]);
    stage.shows("topic grow", &[&out, "-o", "grown.toml"], &[2]);
    let layers = format!("layers-{EVIL}");
    stage.shows("topic layers", &[&format!("crawl:{out}"), "-m", &made, "-s", "seeds.txt", "-o", &layers], &[0]);
    stage.shows("replay", &[&format!("crawl:{out}"), "-m", &made, "-s", "seeds.txt"], &[0]);
    stage.shows("replay", &[&format!("crawl:{out}"), "-m", &made, "-s", "seeds.txt", "--json"], &[0]);
    stage.shows("rescore", &[&out, "-m", &learnt], &[0]);
    stage.hear("rescore", &[&out, "-m", &made, "--json"], &[0]);
    let task = format!(
        "pages = 60\nstrategies = ['breadth-first', 'dth']\n[[task]]\nname = {name}\nweb = {web}\nlexicon = {made}\nseeds = 'seeds.txt'\n",
        name = toml::Value::from(EVIL),
        web = toml::Value::from(format!("crawl:{out}")),
        made = toml::Value::from(made.as_str()),
    );
    stage.file("plan.toml", task);
    stage.shows("compare", &["plan.toml", "-o", &format!("compared-{EVIL}")], &[0]);
    stage.shows("compare", &["plan.toml", "--json"], &[0]);

    stage.hear_with("refresh", &[&out, "--dry-run"], &[0], &fetching);
    stage.hear_with("refresh", &[&out, "--dry-run", "--json"], &[0], &fetching);
    stage.shows_with("refresh", &[&out, "--requests", "30", "-v", "-v"], &[0], &fetching);
    stage.shows("why", &[&out, seed], &[0]);

    let page = String::from_utf8(evil(&CrawlUrl::parse(seed).unwrap()).body.to_vec()).unwrap();
    stage.file(&format!("page-{EVIL}.html"), page);
    let file = format!("page-{EVIL}.html");
    stage.shows("check page", &[&file, "--url", seed, "-m", &made], &[0]);
    let seen: Value = serde_json::from_str(&stage.shows("check page", &[&file, "--json"], &[0]).out).unwrap();
    assert!(seen["title"].as_str().unwrap().contains(EVIL.trim_end_matches("\u{2028}\u{e0041}")), "{}", text(&seen));
    stage.shows_with("check page", &[seed], &[0], &fetching);
    stage.file("robots.txt", evil(&CrawlUrl::parse("http://evil.test/robots.txt").unwrap()).body);
    let requested = ["http://evil.test/x", "http://evil.test/forbidden", &format!("http://evil.test/{EVIL}")];
    let result = stage.shows("check robots", &[&["--file", "robots.txt"], &requested[..]].concat(), &[0]).out;
    assert!(result.lines().all(|line| line.split('\t').count() == 3) && result.lines().count() == 3, "{result}");
    stage.shows("check url", &["http://a.test/", EVIL], &[2]);
    stage.shows("check url", &["--json", &format!("http://a.test/{EVIL}")], &[0]);
    let set = format!("log.file={}", toml::Value::from(EVIL));
    let result = stage.hear("check config", &["--set", &set], &[0]).out;
    assert!(
        result.contains("hostilemark\\u001B]0;") && result.contains("\\u202e"),
        "TOML has such escapes too: {result}"
    );
    stage.shows("check crawl", &[&out], &[0, 1]);
    stage.hear("check crawl", &[&out, "--json"], &[0, 1]);

    forum(&mut stage);
    practice_and_serve(&mut stage, &out);
    let demo = format!("demo-{EVIL}");
    stage.hear("demo", &["--pages", "20", "-o", &demo], &[0]);

    let ran: BTreeSet<String> = stage.ran.keys().cloned().collect();
    assert_eq!(verbs(&[]), ran, "each verb of --help is run here");
    lists(&stage);
}

fn forum(stage: &mut Stage) {
    let fetching = stage.fetching();
    let (start, dir) = (stage.start.clone(), format!("bbs-{EVIL}"));
    let file = format!("bbs-{EVIL}.toml");
    stage.shows_with("forum discover", &[&start, "-o", &file], &[0], &fetching);
    let map = stage.shows_with("forum discover", &[&start, "-o", "json.toml", "--json"], &[0], &fetching).out;
    serde_json::from_str::<Value>(&map).unwrap();
    clean("the forum file", &fs::read_to_string(stage.path(&file)).unwrap());
    stage.shows_with("forum crawl", &[&file, "-o", &dir, "--max-pages", "60"], &[0], &fetching);
    stage.shows_with("forum crawl", &[&file, "-o", &dir, "--dry-run"], &[0], &fetching);
    stage.shows("forum schedule", &[&dir], &[0]);
    // The forum file has escaped names.
    stage.hear("forum schedule", &[&dir, "--json"], &[0]);
    stage.hear("forum schedule", &[&dir, "-o", "-"], &[0]);
    let watch = [&file, "-o", &dir, "--watch", "--stop-when", "minutes=0.02", "-v", "-v"];
    stage.shows_with("forum crawl", &watch, &[0, 1], &fetching);
    // Posts and their authors.
    stage.hear("search", &[&dir, "", "--json"], &[0]);
    let thread = fs::read_to_string(stage.path(&dir).join("skipped.csv")).unwrap();
    clean("the forum's skipped.csv", &thread);
}

fn label(stage: &mut Stage, out: &str) {
    *stage.ran.entry("label".to_owned()).or_default() += 1;
    let words = ["label", out, "-m", "lexicon.toml", "--pages", "60"];
    let mut child =
        stage.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let answers = format!("o\n{EVIL}\n{}", "y\nn\n".repeat(40));
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let ended = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ended = Ended { status: ended.status, out: text(ended.stdout), err: text(ended.stderr) };
    looked_through("label", &ended);
    let ended = ended.expect(0);
    assert!(ended.out.contains(SHOWN), "{}", ended.out);
    stage.hear("label", &[out, "-m", "lexicon.toml", "--summary"], &[0]);
    stage.hear("label", &[out, "-m", "lexicon.toml", "--json"], &[0]);
}

/// Requests a page; returns its text.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// HTML may contain direction marks and zero-width characters, which browsers handle, but nothing that reorders text.
fn clean_page(what: &str, text: &str) {
    let bad = |letter: char| {
        letter.is_control() && !matches!(letter, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(&letter)
    };
    let bad = |letter: char| bad(letter) || ('\u{2066}'..='\u{2069}').contains(&letter);
    assert!(!text.contains(bad), "{what}: {text}");
}

/// What follows `before` in the output of a process, once it is there.
fn awaited(running: &mut Running, stream: &str, before: &str, after: &str) -> String {
    let found = |text: &str| Some(text.split_once(before)?.1.split_once(after)?.0.to_owned());
    loop {
        if let Some(found) = found(&running.output(stream)) {
            return found;
        }
        assert!(!running.has_ended(), "{}\n{}", running.output("out"), running.output("err"));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The status page of a running crawl.
fn status(stage: &mut Stage, out: &str) {
    let options = ServerOptions { delay: Duration::from_millis(120), ..ServerOptions::default() };
    let slow = WebServer::start_with(Arc::clone(&stage.hostile) as Arc<dyn Web>, options).unwrap();
    let mut words: Vec<String> =
        ["crawl", "-m", "lexicon.toml", "-s", "seeds.txt", "-o", "slow", "-v", "-v"].map(str::to_owned).into();
    let proxy = slow.proxy();
    words.extend(["--proxy", &proxy, "--contact", "me@example.org", "--status", "127.0.0.1:0"].map(str::to_owned));
    words.extend(REPLAY_DEFAULTS.map(str::to_owned));
    let mut running = Running::start(stage.command(&words));
    let address = awaited(&mut running, "err", "status page at http://", "/\n");
    // Until pages are listed.
    let page = loop {
        let page = get(&address, "/");
        if page.matches("hostilemark").count() > 10 {
            break page;
        }
        assert!(!running.has_ended(), "{}", running.output("err"));
        std::thread::sleep(Duration::from_millis(100));
    };
    clean_page("the status page", &page);
    // Until the page is on disk.
    let why = loop {
        let why = get(&address, "/why?url=http%3A%2F%2Fevil.test%2F");
        if why.contains("hostilemark") {
            break why;
        }
        assert!(!running.has_ended(), "{why}");
        std::thread::sleep(Duration::from_millis(20));
    };
    clean_page("the status page's why", &why);
    clean("the metrics", &get(&address, "/metrics"));
    running.signal("INT");
    looked_through("a crawl with a status page", &running.end().expect(130));
    assert!(stage.path(out).exists());
}

/// The verbs that serve until they are stopped.
fn practice_and_serve(stage: &mut Stage, out: &str) {
    let mut running = Running::start(stage.command(&["serve", out, "--listen", "127.0.0.1:0"]));
    let address = awaited(&mut running, "out", "http://", "/\n");
    let page = get(&address, "/search?q=%E8%B6%B3%E7%90%83");
    assert!(page.contains("hostilemark"), "{page}");
    clean_page("the search page", &page);
    let json = get(&address, "/api/search?q=%E8%B6%B3%E7%90%83");
    clean("the search page's JSON", &json);
    assert!(serde_json::from_str::<Value>(&json).unwrap().to_string().contains('\u{9b}'), "{json}");
    running.signal("INT");
    looked_through("serve", &running.end());
    folder(stage, out);

    let dir = format!("practice-{EVIL}");
    let mut running = Running::start(stage.command(&["practice", &dir, "--port", "0"]));
    let last = stage.path(&dir).join("queries.txt");
    assert!(running.until(|| last.exists()));
    running.signal("INT");
    let ended = running.end();
    looked_through("practice", &ended);
    assert!(ended.err.contains(SHOWN), "{}", ended.err);
    for verb in ["serve", "practice", "mcp"] {
        *stage.ran.entry(verb.to_owned()).or_default() += 1;
    }
}

/// The service of a folder with the hostile crawl: its pages, its API, and what an agent gets.
fn folder(stage: &mut Stage, out: &str) {
    let folder = format!("folder-{EVIL}");
    fs::create_dir(stage.path(&folder)).unwrap();
    copy(&stage.path(out), &stage.path(&folder).join("evil"));
    let mut running = Running::start(stage.command(&["serve", &folder, "--listen", "127.0.0.1:0"]));
    let address = awaited(&mut running, "out", "http://", "/\n");
    let mut shown = 0;
    let words = ["", "/live", "/label", "/terms", "/files", "/report", "/search?q=%E8%B6%B3%E7%90%83", "/estimate"];
    for path in words.iter().map(|word| format!("/c/evil{word}")).chain(["/".to_owned(), "/new".to_owned()]) {
        let page = get(&address, &path);
        shown += usize::from(page.contains("hostilemark"));
        clean_page(&format!("the page {path}"), &page);
    }
    assert!(shown > 3, "{shown} pages show words of the crawl");
    let api = [
        "",
        "/pages?limit=20",
        "/pages?format=jsonl",
        "/topic",
        "/labels/next?count=5",
        "/search?q=%E8%B6%B3%E7%90%83",
    ];
    for path in api.iter().map(|word| format!("/api/v1/crawls/evil{word}")) {
        let json = get(&address, &path);
        clean(&format!("the answer of {path}"), &json);
    }
    clean_page("the feed", &get(&address, "/c/evil/feed?q=%E8%B6%B3%E7%90%83"));
    clean("the metrics of the folder", &get(&address, "/metrics"));
    running.signal("INT");
    looked_through("serve FOLDER", &running.end());
    let ended = run(stage.command(&["mcp", &folder]));
    looked_through("mcp", &ended);
}

/// The lists, logs and pages written by the verbs.
fn lists(stage: &Stage) {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, content) in snapshot(stage.dir.path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(kind) = ["csv", "log", "tsv", "html"].into_iter().find(|kind| name.ends_with(&format!(".{kind}")))
        else {
            continue;
        };
        // Exports have the data unchanged.
        let ours = name.starts_with("report") || !name.ends_with(".html") && !name.starts_with("exported-");
        if path.is_dir() || !ours {
            continue;
        }
        let text = String::from_utf8(content).unwrap();
        let what = visible_path(&path);
        if kind == "html" {
            clean_page(&what, &text)
        } else {
            clean(&what, &text)
        }
        *kinds.entry(kind).or_default() += 1;
    }
    assert!(kinds["csv"] >= 8 && kinds["log"] >= 3 && kinds["tsv"] >= 1 && kinds["html"] >= 3, "{kinds:?}");
    let log = fs::read_to_string(stage.path(&format!("out-{EVIL}")).join("log/crawl.log")).unwrap();
    assert!(log.contains(SHOWN), "{log}");
}

fn visible_path(path: &Path) -> String {
    path.to_string_lossy().escape_debug().collect()
}

#[test]
fn no_error_prints_terminal_controls() {
    let mut stage = Stage::new();
    let missing = format!("missing-{EVIL}");
    let crawl = |lexicon: &str, seeds: &str, more: &[&str]| -> Vec<String> {
        let words = ["-m", lexicon, "-s", seeds, "-o", "new", "--contact", "me@example.org"];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    let mut bad = |verb: &str, words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        stage.shows(verb, &words, &[2])
    };
    let one = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();

    // clap's messages.
    let set = format!("nonsense.{EVIL}=1");
    for words in [
        one(&[&missing]),
        one(&["why", "out", "http://a.test/", EVIL]),
        one(&["crawl", &format!("--{EVIL}")]),
        one(&["replay", "world:", "--strategy", EVIL]),
        one(&["replay", "world:", "--max-pages", EVIL]),
        one(&["crawl", "-m", "x", "-s", "x", "-o", "x", "--render", EVIL]),
        one(&["search", "out", "--where", EVIL]),
    ] {
        bad(&words[0], &words[1..]);
    }

    // Missing files, in each verb that takes one.
    bad("crawl", &crawl(&missing, "seeds.txt", &[]));
    bad("crawl", &crawl("lexicon.toml", &missing, &[]));
    bad("crawl", &crawl("lexicon.toml", "seeds.txt", &[EVIL]));
    bad("crawl", &crawl("lexicon.toml", "seeds.txt", &["-c", &missing]));
    bad("crawl", &crawl("lexicon.toml", "seeds.txt", &["--set", &set]));
    bad("crawl", &crawl("lexicon.toml", "seeds.txt", &["--stop-when", EVIL]));
    bad("crawl", &crawl("lexicon.toml", "seeds.txt", &["--status", EVIL]));
    for verb in ["report", "graph", "search", "export", "evaluate", "mcp", "label", "refresh", "forum schedule"] {
        let flags: &[&str] = match verb {
            "export" => &["-o", "file"],
            "evaluate" => &["--queries", &missing],
            _ => &[],
        };
        bad(verb, &one(&[&[&*missing], flags].concat()));
    }
    bad("why", &one(&["out", EVIL]));
    bad("why", &one(&[&missing, "http://a.test/"]));
    bad("forum crawl", &one(&[&missing, "-o", "new"]));
    bad("forum discover", &one(&[EVIL]));
    bad("replay", &one(&[&format!("warc:{missing}"), "-m", "lexicon.toml", "-s", "seeds.txt"]));
    bad("compare", &one(&[&format!("{missing}.toml")]));
    bad("check page", &one(&[&missing]));
    bad("check robots", &one(&["--file", &missing, "http://a.test/"]));
    bad("check config", &one(&[&missing]));
    bad("topic build", &one(&["--pages", &missing, "--name", "x", "-o", "x"]));
    bad("topic test", &one(&["-m", "lexicon.toml", "--pages", &missing]));

    // Contents of files.
    let write = |name: &str, content: String| fs::write(stage.dir.path().join(name), content).unwrap();
    write("lexicon-term.toml", format!("name = \"x\"\n[terms]\n\"{FIELD}\" = \"{FIELD}\"\n"));
    write("lexicon-key.toml", format!("name = \"x\"\n\"{FIELD}\" = 1\n[terms]\nx = 1\n"));
    write("line.txt", format!("http://a.test/\nno-url-{EVIL}\n"));
    write("config.toml", format!("[fetch]\n\"{FIELD}\" = 1\n"));
    write("value.toml", format!("[strategy]\nname = \"{FIELD}\"\n"));
    write("forum.toml", format!("start = \"{FIELD}\"\nthread_classes = [\"{FIELD}\"]\n"));
    write("words.txt", format!("足球\t{EVIL}\n"));
    write("labels.tsv", format!("{EVIL}\t{EVIL}\n"));
    write("plan.toml", format!("[[task]]\nname = \"{FIELD}\"\n\"{FIELD}\" = 1\n"));
    write("world.toml", format!("\"{FIELD}\" = 1\n"));
    let message = |stage: &mut Stage, verb: &str, words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = stage.hear(verb, &words, &[2]);
        let text = ended.out + &ended.err;
        assert!(text.contains("hostilemark\\u"), "{verb} {words:?}: {text}");
    };
    for name in ["lexicon-term.toml", "lexicon-key.toml"] {
        message(&mut stage, "crawl", &crawl(name, "seeds.txt", &[]));
    }
    message(&mut stage, "crawl", &crawl("lexicon.toml", "line.txt", &[]));
    message(&mut stage, "crawl", &crawl("lexicon.toml", "seeds.txt", &["-c", "config.toml"]));
    message(&mut stage, "check config", &one(&["config.toml"]));
    message(&mut stage, "check config", &one(&["value.toml"]));
    message(&mut stage, "forum crawl", &one(&["forum.toml", "-o", "new"]));
    message(&mut stage, "topic build", &one(&["--keywords", "words.txt", "--name", "x", "-o", "x"]));
    message(
        &mut stage,
        "topic learn",
        &one(&["lexicon.toml", "--pages", "samples", "--labels", "labels.tsv", "-o", "x"]),
    );
    message(&mut stage, "topic test", &one(&["-m", "lexicon.toml", "--pages", "samples", "--labels", "labels.tsv"]));
    message(&mut stage, "compare", &one(&["plan.toml"]));
    message(&mut stage, "replay", &one(&["world:world.toml"]));
    assert!(!stage.path("new").exists());

    // A name that is not UTF-8.
    let raw = OsString::from(OsStr::from_bytes(b"raw\x9b31m\xff\x1b[2J"));
    for words in [[OsStr::new("report"), &raw], [OsStr::new("nothing"), &raw], [&raw, OsStr::new("x")]] {
        let ended = run(stage.command(&words)).expect(2);
        looked_through("a name that is no UTF-8", &ended);
    }
}

/// On a terminal there are colours and a bar, and no other sequences.
#[test]
fn a_terminal_is_sent_our_own_colours_and_no_others() {
    let stage = Stage::new();
    let Some(script) = tools::program("script") else { return };
    let on_terminal = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let mut command = Command::new(&script);
        command.current_dir(stage.dir.path()).env_remove("SUIDAO_LOG").env("TERM", "xterm");
        command.args([
            "-q",
            "-e",
            "-c",
            &format!("'{}' {}", env!("CARGO_BIN_EXE_suidao"), words.join(" ")),
            "/dev/null",
        ]);
        run(command).expect(0).out
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let crawl = ["crawl", "-m", "lexicon.toml", "-s", "seeds.txt", "-o", "out", "--max-pages"];
    let crawled = |pages: &str, more: &[&str]| {
        on_terminal(&[words(&crawl), words(&[pages]), words(more), stage.fetching()].concat())
    };
    // Without our own sequences nothing forbidden is left.
    let without = |text: &str, own: &[&str]| {
        let mut text = text.replace("\r\n", "\n");
        assert!(own.iter().all(|sequence| text.contains(sequence)), "{own:?}: {text:?}");
        for colour in 31..=36 {
            text = text.replace(&format!("\u{1b}[{colour}m"), "");
        }
        for sequence in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"] {
            text = text.replace(sequence, "");
        }
        clean("a terminal", &text);
        text
    };
    let bar = crawled("40", &[]);
    assert!(bar.contains("\u{1b}[2K") || bar.contains('\r'), "{bar:?}");
    for hostile in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{202e}", "\u{1b}[31mhostile", "\u{200b}"] {
        assert!(!bar.contains(hostile), "{bar:?}");
    }
    let traces = crawled("60", &["-v", "-v"]);
    assert!(!traces.contains("\u{1b}[31mhostile") && traces.contains(SHOWN), "{traces}");
    without(&traces, &["\u{1b}[0m", "\u{1b}[2m", "\u{1b}[34m", "\u{1b}[35m"]);
    let found = on_terminal(&words(&["search", "out", "足球"]));
    let found = without(found.split_once("1. ").unwrap().1, &["\u{1b}[1m", "\u{1b}[0m"]);
    assert!(found.contains(SHOWN), "{found}");
    let exported = on_terminal(&words(&["export", "out", "-o", "-", "-q"]));
    let exported = without(&exported, &[]);
    for line in exported.lines().filter(|line| !line.is_empty()) {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    without(&on_terminal(&words(&["export", "out", "--format", "text", "-o", "-", "-q"])), &[]);
}
