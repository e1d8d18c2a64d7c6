//! A crawl that runs for weeks: stop conditions, status page in a browser, Prometheus metrics, log file and dry run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::chinese::assert_chinese;
use crate::support::{Answer, Ended, Running, Stage, ask, events, finite, records, run, snapshot, suidao, tools};
use scraper::{Html, Selector};
use serde_json::Value;
use suidao::model::Event;
use suidao::world::{ServerOptions, WebSpec};

fn stage() -> Stage {
    Stage::new(finite(), ServerOptions::default())
}

fn summary(stage: &Stage, dir: &str) -> Value {
    serde_json::from_slice(&fs::read(stage.path(dir).join("summary.json")).unwrap()).unwrap()
}

const ALONE: [&str; 2] = ["--set", "crawl.in_flight=1"];

#[test]
fn a_crawl_stops_when_asked_and_the_same_command_knows_it_has() {
    let stage = stage();
    let towards = |dir: &str, goals: &[&str]| -> Ended {
        let goals = goals.iter().flat_map(|goal| ["--stop-when", goal]);
        let more: Vec<&str> = ALONE.into_iter().chain(goals).collect();
        run(stage.crawl(dir, &more)).expect(0)
    };
    let pages = towards("pages", &["pages=30", "minutes=60"]);
    assert!(pages.err.contains("Page limit"), "{}", pages.err);
    assert_eq!(summary(&stage, "pages")["pages"], 30);
    towards("relevant", &["relevant=5"]);
    let result = summary(&stage, "relevant");
    assert_eq!((&result["relevant"], &result["stopped"]), (&5.into(), &"relevant-reached".into()));
    // A reached condition stays reached, and nothing more is fetched.
    towards("relevant", &["relevant=5"]);
    assert_eq!(summary(&stage, "relevant")["this_run"]["pages"], 0);
    towards("relevant", &["relevant=6"]);
    assert_eq!(summary(&stage, "relevant")["relevant"], 6);

    towards("bytes", &["bytes=50kB"]);
    let result = summary(&stage, "bytes");
    let bytes = result["bytes"].as_u64().unwrap();
    let sizes: Vec<u64> = records(&stage.path("bytes"))
        .iter()
        .flat_map(|record| &record.batch.events)
        .filter_map(|event| if let Event::PageFetched(page) = event { Some(u64::from(page.bytes)) } else { None })
        .collect();
    assert_eq!((&result["stopped"], sizes.iter().sum::<u64>()), (&"bytes-reached".into(), bytes));
    assert!(bytes >= 50_000 && bytes - sizes.last().unwrap() < 50_000, "{bytes}, {sizes:?}");

    let exhausted = towards("harvest", &["harvest<1/10"]);
    assert!(exhausted.err.contains("Harvest rate below stop.harvest"), "{}", exhausted.err);
    let result = summary(&stage, "harvest");
    let verdicts: Vec<bool> = records(&stage.path("harvest"))
        .iter()
        .flat_map(|record| &record.batch.events)
        .filter_map(|event| if let Event::PageFetched(page) = event { Some(page.on_topic) } else { None })
        .collect();
    let under = |pages: &[bool]| pages.iter().any(|relevant| !relevant);
    assert!(under(&verdicts[verdicts.len() - 10..]) && result["stopped"] == "topic-exhausted");
    assert!(verdicts.windows(10).rev().skip(1).all(|pages| !under(pages)), "it stopped at the first");

    // On a busy machine no page may come in time.
    let more: Vec<&str> = ALONE.into_iter().chain(["--stop-when", "minutes=0.001"]).collect();
    let timed = run(stage.crawl("time", &more));
    assert!([0, 1].contains(&timed.code()), "{}", timed.err);
    assert!(timed.err.contains("Time limit of this run"), "{}", timed.err);
    for wrong in ["harvest<5/10", "pages", "weeks=2"] {
        let ended = run(stage.crawl("wrong", &["--stop-when", wrong])).expect(2);
        assert!(ended.err.contains(wrong) && ended.err.lines().count() == 1, "{}", ended.err);
        assert!(!stage.path("wrong").exists());
    }
}

#[test]
fn a_crawl_ends_short_when_its_requests_are_used_up() {
    let stage = stage();
    let more = ["--max-pages", "40", "--max-requests", "25"];
    let ended = run(stage.crawl("few", &more)).expect(1);
    assert!(ended.err.contains("25 requests sent") && ended.err.contains("--max-requests"), "{}", ended.err);
    let result = summary(&stage, "few");
    assert_eq!((&result["requests"], &result["stopped"]), (&25.into(), &"request-limit".into()));
    // The same command knows that they are used up, and a larger number continues.
    run(stage.crawl("few", &more)).expect(1);
    assert_eq!(summary(&stage, "few")["this_run"]["pages"], 0);
    run(stage.crawl("few", &["--max-pages", "40", "--max-requests", "2000"])).expect(0);
    assert_eq!(summary(&stage, "few")["pages"], 40);
    run(stage.crawl("wrong", &["--max-requests", "0"])).expect(2);
}

#[test]
fn a_replay_stops_where_a_crawl_with_one_in_flight_does() {
    let stage = stage();
    let goals = ["--stop-when", "relevant=20", "--stop-when", "harvest<0.2/40", "--strategy", "breadth-first"];
    run(stage.crawl("live", &ALONE.into_iter().chain(goals).collect::<Vec<_>>())).expect(0);
    let mut command = suidao();
    command.arg("replay").arg(format!("crawl:{}", stage.path("live").display()));
    command.arg("-m").arg(&stage.lexicon).arg("-s").arg(&stage.seeds).args(goals).arg("--json");
    let replayed: Value = serde_json::from_str(&run(command).expect(0).out).unwrap();
    let live = summary(&stage, "live");
    assert_eq!((&replayed["pages"], &replayed["stopped"]), (&live["pages"], &live["stopped"]));
}

/// All files except those of the log's engine, which compacts them whenever it is opened.
fn files_outside_the_log(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    snapshot(dir).into_iter().filter(|(path, _)| !path.starts_with(dir.join("state/log"))).collect()
}

#[test]
fn a_dry_run_lists_what_the_crawl_then_does() {
    let stage = stage();
    let settings = ["--strategy", "breadth-first", "--set", "crawl.in_flight=1"];
    let with = |more: &[&'static str]| settings.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    let dry_run = |more: &[&'static str]| -> Vec<Value> {
        let out = run(stage.crawl("crawl", &with(more))).expect(0).out;
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let first = dry_run(&["--dry-run=5", "--json"]);
    assert!(!stage.path("crawl").exists());
    let requests: Vec<&Value> = first.iter().filter(|line| line.get("rank").is_some()).collect();
    assert_eq!(requests.len(), 5);
    assert!(requests[0]["robots"].as_str().unwrap().ends_with("/robots.txt"), "{}", requests[0]);
    assert!(requests.iter().any(|line| line["origin"] == "seed"), "{requests:?}");
    run(stage.crawl("crawl", &with(&["--max-pages", "60"]))).expect(0);

    let (before, log) = (files_outside_the_log(&stage.path("crawl")), events(&stage.path("crawl")));
    let then = dry_run(&["--dry-run=8", "--json"]);
    assert!(files_outside_the_log(&stage.path("crawl")) == before, "nothing is written");
    assert_eq!(events(&stage.path("crawl")), log);
    let from = then
        .iter()
        .find_map(|line| line["origin"].as_str().and_then(|from| from.strip_prefix("linked from ")))
        .unwrap();
    assert!(from.starts_with("http://"), "{from}");
    let expected: Vec<&str> = then.iter().filter_map(|line| line["page"].as_str()).collect();
    assert!(expected.len() > 3, "{then:?}");
    let known = records(&stage.path("crawl")).len();
    run(stage.crawl("crawl", &with(&["--max-pages", "62"]))).expect(0);
    let all = records(&stage.path("crawl"));
    let mut urls = Vec::new();
    let mut next = None;
    for (number, record) in all.iter().enumerate() {
        for event in &record.batch.events {
            let id = match event {
                Event::Discovered(found) => {
                    urls.push(found.url.to_string());
                    continue;
                }
                Event::PageFetched(page) => page.id,
                Event::Redirected { id, .. } | Event::FetchFailed { id, .. } => *id,
                _ => continue,
            };
            next = next.or((number >= known).then_some(id));
        }
    }
    assert_eq!(urls[next.unwrap().0 as usize], expected[0], "the first one printed is the first one fetched");
}

/// A crawl that runs as long as the test looks at it.
struct Watched {
    stage: Stage,
    running: Running,
    address: String,
}

impl Watched {
    fn new() -> Self {
        let options = ServerOptions { delay: Duration::from_millis(150), ..ServerOptions::default() };
        let stage = Stage::new(WebSpec::default(), options);
        let crawl = stage.crawl("crawl", &["--set", "crawl.in_flight=2", "--status", "127.0.0.1:0"]);
        let mut running = Running::start(crawl);
        let address = |running: &Running| {
            let err = running.output("err");
            let rest = err.split_once("status page at http://")?.1.split_once("/\n")?.0;
            Some(rest.to_owned())
        };
        assert!(running.until(|| true));
        while address(&running).is_none() {
            assert!(!running.has_ended(), "{}", running.output("err"));
            std::thread::sleep(Duration::from_millis(5));
        }
        let address = address(&running).unwrap();
        Self { stage, running, address }
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> Answer {
        ask(&self.address, method, path, host, "")
    }

    fn get(&self, path: &str) -> Answer {
        let got = self.ask("GET", path, &self.address);
        assert_eq!(got.status, 200, "{path}\n{}", got.body);
        got
    }

    fn metric(&self, line: &str) -> f64 {
        let text = self.get("/metrics").body;
        let value = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("{line}\n{text}")).parse().unwrap()
    }
}

#[test]
fn a_running_crawl_can_be_inspected() {
    let watched = Watched::new();
    // Until every part of the page has something to show.
    while watched.get("/metrics").body.contains("suidao_up_to_date 0") || watched.metric("suidao_pages_total") < 40.0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let got = watched.get("/");
    for header in ["content-security-policy: default-src 'none'", "nosniff", "no-referrer", "refresh: 10", "no-store"] {
        assert!(got.head.contains(header), "{header}\n{}", got.head);
    }
    assert!(!watched.get("/?refresh=off").head.contains("refresh: 10"));
    let page = sound(&got.body);
    for id in ["harvest", "pages", "queue", "hosts", "errors"] {
        assert_eq!(all(&page, &format!("section#{id}")).len(), 1, "{id}");
    }
    assert_eq!(all(&page, "#harvest svg").len(), 1);
    assert!(!all(&page, "#pages tbody tr").is_empty() && !all(&page, "#queue tbody tr").is_empty());

    // The same history as `suidao why` prints, which is rejected meanwhile.
    let link = all(&page, "#pages a[href^='/why']")[0].value().attr("href").unwrap().to_owned();
    let mut story = String::new();
    // The log on disk may be a moment behind the page.
    while !story.contains("relevance") {
        std::thread::sleep(Duration::from_millis(50));
        story = text(&sound(&watched.get(&link).body), "pre");
    }
    assert!(story.contains("path:"), "{story}");
    let url = story.lines().next().unwrap().to_owned();
    let why = |dir: &Path| {
        let mut command = suidao();
        command.arg("why").arg(dir).arg(&url);
        run(command)
    };
    assert_eq!(why(&watched.stage.path("crawl")).expect(0).out.lines().next(), Some(&url[..]), "next to the crawl");

    for (method, path, host, status) in [
        ("GET", "/", "evil.example.com", 421),
        ("GET", "/metrics", "", 421),
        ("GET", "/", "localhost", 200),
        ("POST", "/", "127.0.0.1", 405),
        ("GET", "/nothing", "127.0.0.1", 404),
        ("GET", "/why?url=x", "127.0.0.1", 400),
        ("GET", "/why?url=http%3A%2F%2Fnowhere.test%2F", "127.0.0.1", 404),
        ("GET", "/why", "127.0.0.1", 200),
        ("HEAD", "/", "127.0.0.1", 200),
    ] {
        assert_eq!(watched.ask(method, path, host).status, status, "{method} {path} {host}");
    }
    for path in ["/", "/why", "/why?url=x", "/why?url=http%3A%2F%2Fnowhere.test%2F", &link] {
        let page = ask(&watched.address, "GET", path, &watched.address, "Accept-Language: zh\r\n").body;
        assert_chinese(path, &page, &[]);
    }
    metrics(&watched);
    browse(&watched);

    let address = watched.address.clone();
    let Watched { stage, running, .. } = watched;
    running.signal("INT");
    running.end().expect(130);
    assert!(TcpStream::connect(&address).is_err(), "it is gone with the crawl");
    let output = why(&stage.path("crawl")).expect(0).out;
    assert!(output.starts_with(&story.lines().take(3).collect::<Vec<_>>().join("\n")), "{output}\n{story}");
}

fn metrics(watched: &Watched) {
    let got = watched.get("/metrics");
    assert!(got.head.contains("application/openmetrics-text"), "{}", got.head);
    for name in [
        "suidao_pages_total",
        "suidao_relevant_pages_total",
        "suidao_received_bytes_total",
        "suidao_fetch_duration_seconds_bucket{le=\"+Inf\"}",
        "suidao_read_duration_seconds_sum",
        "suidao_hosts{state=\"waiting\"}",
        "suidao_robots_total{outcome=\"fetched\"}",
        "suidao_unwritten_batches",
        "process_resident_memory_bytes",
    ] {
        assert!(got.body.contains(&format!("\n{name} ")), "{name}\n{}", got.body);
    }
    // Also parsed by the reference implementation of the format.
    let script = "import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n\
                  found = list(read(sys.stdin.read()))\nassert len(found) > 15, len(found)\n\
                  assert all(family.documentation and family.type != 'unknown' for family in found), found\nprint('read')";
    let Some(python) = tools::python("prometheus_client") else { return };
    let mut command = Command::new(python);
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(got.body.as_bytes());
    let ended = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{printed}\n{}", got.body);
}

fn all<'a>(html: &'a Html, selector: &str) -> Vec<scraper::ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(html: &Html, selector: &str) -> String {
    all(html, selector).iter().flat_map(|element| element.text()).collect()
}

fn sound(body: &str) -> Html {
    let html = Html::parse_document(body);
    assert!(html.errors.is_empty(), "{:?}", html.errors);
    for one in ["h1", "main#main", "html[lang]", "label[for=url]", "a.skip[href='#main']"] {
        assert_eq!(all(&html, one).len(), 1, "one {one}");
    }
    assert_eq!(all(&html, "script, iframe, object, img, link").len(), 0, "nothing that runs or is fetched");
    html
}

/// A browser must build the same tree, show something, and have no horizontal overflow at a phone's width.
fn browse(watched: &Watched) {
    let Some(browser) = tools::browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let look = |size: &str, what: &str, url: &str| {
        let mut command = Command::new(&browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.arg(format!("--user-data-dir={}", dir.path().join("profile").display()));
        run({
            command.args([&format!("--window-size={size}"), what, url]);
            command
        })
        .expect(0)
        .out
    };
    let page = format!("http://{}/?refresh=off", watched.address);
    let html = sound(&look("390,844", "--dump-dom", &page));
    assert!(!all(&html, "#pages tbody tr").is_empty(), "{}", html.html());
    for (width, height) in [(1280, 900), (390, 844)] {
        let file = dir.path().join(format!("{width}.png"));
        look(&format!("{width},{height}"), &format!("--screenshot={}", file.display()), &page);
        let picture = fs::read(&file).unwrap();
        assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{width}");
        let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (width, height));
        assert!(picture.len() > 20_000, "{width}: {} bytes are an empty page", picture.len());
    }
    // The served page runs no script, so a frame around a copy of it measures it. Unlike a window, a frame can be that
    // narrow.
    let page = watched.get("/?refresh=off").body.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<!DOCTYPE html><iframe width=390 height=844 srcdoc=\"{page}\"></iframe><script>onload = () => {{\
         const inside = document.querySelector('iframe').contentDocument.documentElement;\
         document.title = inside.scrollWidth + ' of ' + inside.clientWidth }}</script>"
    );
    let copy = dir.path().join("copy.html");
    fs::write(&copy, frame).unwrap();
    let measured =
        text(&Html::parse_document(&look("1280,900", "--dump-dom", &format!("file://{}", copy.display()))), "title");
    let (wide, of) = measured.split_once(" of ").unwrap_or_else(|| panic!("not measured: {measured}"));
    assert!(wide == of && of.parse::<u32>().unwrap() <= 390, "it scrolls sideways: {measured}");
}

#[test]
fn a_port_in_use_or_an_unwritable_log_is_reported_before_any_request() {
    let stage = stage();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (flags, expected) in [
        (["--status", &*port], "another port"),
        (["--status", "somewhere"], "127.0.0.1:9090"),
        (["--log", "/dev/null/crawl.log"], "another file"),
    ] {
        let ended = run(stage.crawl("crawl", &flags)).expect(2);
        assert!(ended.err.lines().last().unwrap().contains(expected), "{}", ended.err);
    }
    assert!(!stage.path("crawl").exists() && stage.server.requests() == 0);
}

#[test]
fn a_crawl_logs_into_its_directory_or_the_given_file() {
    let stage = stage();
    let password = "hush-hush";
    run(stage.crawl("crawl", &["--max-pages", "20"])).expect(0);
    let log = fs::read_to_string(stage.path("crawl/log/crawl.log")).unwrap();
    assert!(log.contains("INFO") && log.contains("stopped: Page limit"), "{log}");
    run(stage.crawl("crawl", &["--max-pages", "30"])).expect(0);
    let log = fs::read_to_string(stage.path("crawl/log/crawl.log")).unwrap();
    assert!(log.contains(", 20 earlier pages"), "{log}");

    let own = stage.path("own.log");
    let proxy = stage.server.proxy().replace("http://", &format!("http://me:{password}@"));
    let flags = ["--max-pages", "5", "--log", own.to_str().unwrap(), "--set", "log.level=warn", "--set"];
    let key = format!("fetch.proxy={proxy}");
    let more: Vec<&str> = flags.into_iter().chain([key.as_str()]).collect();
    run(stage.crawl("quiet", &more)).expect(0);
    assert!(!fs::read_to_string(&own).unwrap().contains("INFO") && !stage.path("quiet/log").exists());
    assert!(!fs::read_to_string(&own).unwrap().contains(password));
    run(stage.crawl("off", &["--max-pages", "5", "--set", "log.level=off"])).expect(0);
    assert!(!stage.path("off/log").exists());
}

#[test]
fn urls_and_configurations_are_checked() {
    let check = |arguments: &[&str]| {
        let mut command = suidao();
        command.arg("check").args(arguments);
        run(command)
    };
    let ended =
        check(&["url", "HTTP://足球.CN:80/a/../b?utm_source=x", "mailto:me", "http://b.cn/x;jsessionid=1?a=%7e"]);
    let ended = ended.expect(2);
    assert_eq!(ended.out, "http://xn--5eyx16c.cn/b\nhttp://b.cn/x?a=~\n");
    assert!(ended.err.contains("cannot crawl mailto:me") && ended.err.lines().count() == 1, "{}", ended.err);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crawl.toml");
    let name = file.to_str().unwrap();
    for (text, line) in [
        ("[politeness]\ndelay = 2\ndelya = 3\n", "line 3"),
        ("[politeness]\ndelay = -2\n", "line 2: politeness.delay"),
        ("[stop]\nharvest = 'soon'\n", "line 2"),
        ("[crawl\n", "line 1"),
    ] {
        fs::write(&file, text).unwrap();
        let ended = check(&["config", name]).expect(2);
        assert!(ended.err.contains(line) && ended.err.contains("crawl.toml"), "{}", ended.err);
    }
    fs::write(&file, "[stop]\nbytes = '2GB'\nharvest = '0.05/1000'\n[log]\nfiles = 3\n").unwrap();
    let shown = check(&["config", name]).expect(0).out;
    assert!(
        shown.contains("bytes = 2000000000") && shown.contains("files = 3") && shown.contains("# minutes is not set")
    );
    let json: Value = serde_json::from_str(&check(&["config", name, "--json"]).expect(0).out).unwrap();
    assert_eq!(json["stop"]["harvest"], "0.05/1000");
    fs::write(&file, &shown).unwrap();
    assert_eq!(check(&["config", name]).expect(0).out, shown, "what it prints is a configuration");
}

#[test]
fn a_controlled_crawl_answers_takes_seeds_and_ends_with_its_input() {
    use std::io::{BufRead, BufReader, Write};

    let stage = Stage::new(finite(), ServerOptions { delay: Duration::from_millis(20), ..ServerOptions::default() });
    let seeds = stage.world.seeds();
    let mut command = stage.crawl("out", &["--control", "--set", "crawl.in_flight=1"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let mut pages = 0;
    let mut asked = |line: &str| -> serde_json::Value {
        writeln!(to, "{line}").unwrap();
        loop {
            let value: serde_json::Value = serde_json::from_str(&from.next().unwrap().unwrap()).unwrap();
            if value["page"].is_null() {
                return value;
            }
            assert!(value["page"]["url"].is_string() && value["page"]["relevance"].is_number(), "{value}");
            pages += 1;
        }
    };
    let status = asked(r#"{"status":{}}"#);
    assert!(status["status"]["queued"].is_u64() && status["status"]["waits"].is_object(), "{status}");
    assert_eq!(
        asked(&serde_json::json!({ "add": [seeds[0].as_str(), "http://new.example.cn/"] }).to_string())["added"],
        1
    );
    assert!(asked(r#"{"add":["ftp://a.cn/"]}"#)["error"].as_str().unwrap().contains("ftp://a.cn/ is not a URL"));
    assert!(asked("nonsense")["error"].as_str().unwrap().contains("not a command"));
    while asked(r#"{"status":{}}"#)["status"]["pages"].as_u64() < Some(3) {}
    drop(to);
    let last: serde_json::Value = serde_json::from_str(&from.last().unwrap().unwrap()).unwrap();
    assert!(last["summary"].is_object() && pages > 0, "{last}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
