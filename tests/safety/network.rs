//! The program against a hostile web. No link leads out of the public web, no name out of the crawl directory, and no
//! secret out of its origin.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support::{Ended, REPLAY_DEFAULTS, lexicon_of, request, run, snapshot, suidao};

/// A proxy that simulates the whole web: raw answers by URL.
struct Web {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// Serves `answers` (head without protocol version and length, and body) until the test ends.
    fn serve(answers: &[(&str, &str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let port = address.port().to_string();
        let own = |text: &str| text.replace("PORT", &port);
        let answers: BTreeMap<String, Vec<u8>> = answers
            .iter()
            .map(|(url, head, body)| {
                let head = own(head).trim_end().replace('\n', "\r\n");
                let answer = format!(
                    "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                    own(body).len(),
                    own(body)
                );
                (own(url), answer.into_bytes())
            })
            .collect();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answers, heard) = (Arc::new(answers), Arc::clone(&heads));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, heard) = (Arc::clone(&answers), Arc::clone(&heard));
                std::thread::spawn(move || drop(one(stream, &answers, &heard)));
            }
        });
        Self { address, heads }
    }

    fn proxy(&self) -> String {
        format!("http://{}", self.address)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// First lines of the requests.
    fn requested(&self) -> Vec<String> {
        self.heads().iter().map(|head| head.lines().next().unwrap().to_owned()).collect()
    }
}

fn one(mut stream: TcpStream, answers: &BTreeMap<String, Vec<u8>>, heads: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let (head, target) = request(&mut stream)?;
    heads.lock().unwrap().push(head);
    let missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec();
    stream.write_all(answers.get(&target).unwrap_or(&missing))
}

struct Room {
    dir: tempfile::TempDir,
}

impl Room {
    fn new(seeds: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
        std::fs::write(dir.path().join("seeds.txt"), seeds).unwrap();
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// `suidao crawl` into `out`, without delays.
    fn crawl(&self, more: &[&str]) -> Command {
        let mut command = suidao();
        command.current_dir(self.path());
        command.args(["crawl", "-m", "lexicon.toml", "-s", "seeds.txt", "-o", "out", "--contact", "test@example.org"]);
        command.args(REPLAY_DEFAULTS).args(more);
        command
    }
}

#[test]
fn no_redirect_leads_out_of_the_public_web() {
    let targets = [
        "file:///etc/passwd",
        "ftp://a.test/x",
        "data:text/html,x",
        "javascript:alert(1)",
        "gopher://a.test/x",
        "http://127.0.0.1:PORT/secret",
        "http://2130706433:PORT/secret",
        "http://0x7f.1:PORT/secret",
        "//localhost:PORT/secret",
        "http://[::ffff:127.0.0.1]:PORT/secret",
        "http://[::1]:PORT/secret",
        "http://10.0.0.1/secret",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://",
        "http://a.test:99999/",
        "\\\\127.0.0.1\\secret",
    ];
    let mut answers: Vec<(String, String, String)> = targets
        .iter()
        .enumerate()
        .map(|(at, to)| (format!("http://a.test/{at}"), format!("302 Found\nLocation: {to}"), String::new()))
        .collect();
    answers.push(("http://a.test/loop".into(), "302 Found\nLocation: /loop2".into(), String::new()));
    answers.push(("http://a.test/loop2".into(), "302 Found\nLocation: /loop".into(), String::new()));
    let links: String = targets.iter().map(|to| format!("<a href=\"{to}\">足球比赛</a>")).collect();
    answers.push(("http://a.test/links".into(), "200 OK\nContent-Type: text/html; charset=utf-8".into(), links));
    let web: Vec<_> = answers.iter().map(|(url, head, body)| (url.as_str(), head.as_str(), body.as_str())).collect();
    let web = Web::serve(&web);
    let seeds: String = answers.iter().map(|(url, ..)| format!("{url}\n")).collect();
    let room = Room::new(&seeds);
    run(room.crawl(&["--proxy", &web.proxy()])).expect(0);
    for line in web.requested() {
        assert!(line.starts_with("GET http://a.test/"), "{line}");
    }
    let skipped = room.read("out/skipped.csv");
    for at in 0..5 {
        assert!(skipped.lines().any(|line| line.starts_with(&format!("http://a.test/{at},"))), "{at}: {skipped}");
    }
    for host in ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "metadata.google.internal"] {
        assert!(
            skipped.lines().any(|line| line.contains(&format!("//{host}")) && line.contains("private")),
            "{skipped}"
        );
    }
}

#[test]
fn ports_of_other_services_are_not_asked_whoever_names_them() {
    let html = "200 OK\nContent-Type: text/html; charset=utf-8";
    let links = "<title>足球</title><a href=\"http://b.test:25/x\">足球比赛</a><a href=\"/to\">足球比赛</a>\
                 <a href=\"http://c.test/\">足球比赛</a><link rel=canonical href=\"http://a.test:6000/\"><p>足球比赛";
    let web = Web::serve(&[
        ("http://a.test/", html, links),
        ("http://a.test/to", "302 Found\nLocation: http://a.test:6379/", ""),
        // A robots.txt redirected there forbids everything, like any unreachable one.
        ("http://c.test/robots.txt", "302 Found\nLocation: http://c.test:22/robots.txt", ""),
    ]);
    let room = Room::new("http://a.test/\nhttp://d.test:11211/\nhttps://e.test:6667/\n");
    run(room.crawl(&["--proxy", &web.proxy()])).expect(0);
    let requested = web.requested();
    assert!(requested.iter().any(|line| line.starts_with("GET http://c.test/robots.txt ")), "{requested:?}");
    for line in &requested {
        let target = line.split(' ').nth(1).unwrap();
        assert!(!target.trim_start_matches("http://").contains(':') && line.starts_with("GET "), "{line}");
    }
    let skipped = room.read("out/skipped.csv");
    for refused in ["http://b.test:25/x", "http://a.test:6379/", "http://d.test:11211/", "https://e.test:6667/"] {
        assert!(skipped.contains(&format!("{refused},port")), "{refused}: {skipped}");
    }
    assert!(skipped.contains("http://c.test/,robots-unreachable"), "{skipped}");
    // A permitted port is contacted, robots.txt first.
    run(room.crawl(&["--proxy", &web.proxy(), "--set", "scope.allow_ports=[11211]"])).expect(0);
    let requested = web.requested().split_off(requested.len());
    assert!(requested.iter().any(|line| line.starts_with("GET http://d.test:11211/robots.txt ")), "{requested:?}");
    let mut command = suidao();
    command.args(["check", "url", "--json", "http://a.cn:6379/"]);
    let printed = run(command).expect(0).out;
    assert!(printed.contains("\"skip_reason\":\"port\"") && printed.contains("scope.allow_ports"), "{printed}");
}

#[test]
fn local_names_are_not_sent_to_a_proxy() {
    let web = Web::serve(&[]);
    let names = ["localhost.localdomain", "ip6-localhost", "kubernetes", "nas.lan", "wiki.corp", "localhost4"];
    let room = Room::new(&names.map(|name| format!("http://{name}/\n")).concat());
    run(room.crawl(&["--proxy", &web.proxy()])).expect(1);
    assert_eq!(web.requested(), [""; 0]);
    let skipped = room.read("out/skipped.csv");
    assert_eq!(skipped.matches("address is private").count(), names.len(), "{skipped}");
    run(room.crawl(&["--proxy", &web.proxy(), "--allow-private"])).expect(1);
    assert!(web.requested().len() >= names.len(), "{:?}", web.requested());
}

#[test]
fn a_seed_that_was_refused_as_private_is_taken_when_that_is_allowed() {
    let page = "<html><title>足球</title><p>足球比赛足球比赛足球比赛";
    let web = Web::serve(&[
        ("/", "200 OK\nContent-Type: text/html; charset=utf-8", page),
        ("/robots.txt", "200 OK\nContent-Type: text/plain", "User-agent: suidao\nDisallow: /no\n"),
    ]);
    let base = web.proxy();
    let room = Room::new(&format!("{base}/\n{base}/no\n"));
    for _ in 0..2 {
        run(room.crawl(&[])).expect(1);
        assert!(web.requested().is_empty());
        let skipped = room.read("out/skipped.csv");
        assert_eq!(skipped.matches("is private").count(), 2, "{skipped}");
        let summary: serde_json::Value = serde_json::from_str(&room.read("out/summary.json")).unwrap();
        assert_eq!((&summary["failed"], &summary["queued"]), (&2.into(), &0.into()));
    }
    run(room.crawl(&["--allow-private"])).expect(0);
    let mut requested = web.requested();
    requested.sort();
    assert_eq!(requested, ["GET / HTTP/1.1", "GET /robots.txt HTTP/1.1"]);
    let skipped = room.read("out/skipped.csv");
    assert!(skipped.contains("/no,robots") && !skipped.contains("private"), "{skipped}");
}

#[test]
fn a_secret_is_sent_to_its_origin_only() {
    let html = "200 OK\nContent-Type: text/html; charset=utf-8\nSet-Cookie: sid=c00kie; Path=/";
    let links = "<a href='/2'>足球</a><a href='http://b.test/'>足球</a><a href='/moved'>足球</a>\
                 <p>足球比赛足球比赛足球比赛足球比赛";
    let web = Web::serve(&[
        ("http://a.test/", html, links),
        ("http://a.test/2", html, "<p>足球比赛"),
        ("http://a.test/moved", "302 Found\nLocation: http://c.test/", ""),
        ("http://b.test/", html, "<p>足球比赛"),
        ("http://c.test/", html, "<p>足球比赛"),
    ]);
    let room = Room::new("http://a.test/\n");
    let config = format!(
        "[fetch]\nproxy = 'http://me:pr0xy@{}'\ncookies = true\n\
         [[fetch.credentials]]\norigin = 'http://a.test'\nuser = 'me'\npassword_env = 'SAFETY_PASSWORD'\n\
         headers = {{ X-Key = 'f1eld' }}\n\
         [[fetch.credentials]]\norigin = 'https://d.test'\nbearer = 't0ken'\n",
        web.address
    );
    std::fs::write(room.path().join("config.toml"), &config).unwrap();
    let secrets = ["w0rd", "f1eld", "t0ken", "pr0xy", "bWU6dzByZA==", "bWU6cHIweHk="];
    let silent = |ended: Ended| {
        for secret in secrets.iter().chain(&["c00kie"]) {
            let found = [&ended.out, &ended.err].into_iter().flat_map(|text| text.lines()).find(|l| l.contains(secret));
            assert_eq!(found, None, "{secret} is printed");
        }
        ended
    };
    let with = |mut command: Command| {
        command.env("SAFETY_PASSWORD", "w0rd");
        command
    };
    silent(run(with(room.crawl(&["-c", "config.toml", "--dry-run"]))).expect(0));
    let mut check = suidao();
    check.args(["check", "config"]).arg(room.path().join("config.toml"));
    silent(run(check).expect(0));
    let mut loud = with(room.crawl(&["-c", "config.toml", "-vv"]));
    loud.env("SUIDAO_LOG", "trace");
    silent(run(loud).expect(0));
    for (path, content) in snapshot(&room.path().join("out")) {
        for secret in secrets {
            let found = content.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {}", path.display());
        }
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut text = Vec::new();
            flate2::read::MultiGzDecoder::new(&content[..]).read_to_end(&mut text).unwrap();
            let text = String::from_utf8_lossy(&text);
            assert!(secrets.iter().all(|secret| !text.contains(secret)) && !text.contains("\r\nCookie: "), "{text}");
        }
    }
    let (mut known, mut others) = (0, 0);
    for head in web.heads() {
        let lower = head.to_lowercase();
        let sent = [lower.contains("authorization: basic bwu6dzbyza=="), lower.contains("x-key: f1eld")];
        if head.starts_with("GET http://a.test/") {
            assert_eq!(sent, [true, true], "{head}");
            known += 1;
        } else {
            assert_eq!(sent, [false, false], "{head}");
            assert!(!lower.contains("\r\ncookie:"), "{head}");
            others += 1;
        }
    }
    assert!(known >= 4 && others >= 4, "{:?}", web.requested());
    let sent = web.heads().iter().filter(|head| head.to_lowercase().contains("\r\ncookie: sid=c00kie\r\n")).count();
    assert!(sent >= 2, "{:?}", web.heads());
    // Errors do not contain the secrets.
    for (config, expected) in [
        ("[[fetch.credentials]]\norigin = 'a.test'\nbearer_env = 'SAFETY_NO_SUCH'\n", "SAFETY_NO_SUCH"),
        ("[[fetch.credentials]]\norigin = 'a.test/t0ken'\nbearer = 't0ken'\n", "origin"),
        ("[[fetch.credentials]]\norigin = 'a.test'\nbaerer = 't0ken'\n", "baerer"),
    ] {
        std::fs::write(room.path().join("bad.toml"), config).unwrap();
        let ended = run(room.crawl(&["-c", "bad.toml"])).expect(2);
        assert!(ended.err.contains(expected), "{}", ended.err);
        assert!(!ended.err.replace("a.test/t0ken", "").contains("t0ken"), "{}", ended.err);
    }
    let set =
        run(room.crawl(&["--set", "fetch.credentials=[{ origin = 'a.test', bearer = 't0ken', x = 1 }]"])).expect(2);
    assert!(!set.err.contains("t0ken"), "{}", set.err);
}

#[test]
fn no_name_leads_out_of_the_crawl_directory() {
    let html = |more: &str| format!("200 OK\nContent-Type: text/html; charset=utf-8{more}");
    let evil = "../../../../tmp/evil";
    let title =
        format!("<title>{evil}\"; touch evil; `touch evil` $(touch evil)</title><p>足球比赛足球比赛足球比赛足球比赛");
    let hostile = [
        "/..%2f..%2f..%2fevil.html",
        "/%2e%2e%5c%2e%2e%5cevil.html",
        "/a%00b.html",
        "/evil%0d%0aX-Evil:1",
        "/-rf%20..",
        "/CON",
        "/$(touch%20evil)",
        "/;touch%20evil;",
        "/|touch%20evil",
        "/suidao-00000.warc.gz",
        "/%ff%fe",
    ];
    let links: String = hostile.iter().map(|path| format!("<a href='{path}'>足球比赛</a>")).collect();
    let disposition = format!("\nContent-Disposition: attachment; filename=\"{evil}\"\nContent-Location: {evil}");
    let pages: Vec<(String, String, String)> = hostile
        .iter()
        .map(|path| {
            let url = suidao::model::CrawlUrl::parse(&format!("http://a.test{path}")).unwrap();
            (url.as_str().to_owned(), html(&disposition), title.clone())
        })
        .chain([("http://a.test/".to_owned(), html(""), title.clone() + &links)])
        .collect();
    let pages: Vec<_> = pages.iter().map(|(url, head, body)| (url.as_str(), head.as_str(), body.as_str())).collect();
    let web = Web::serve(&pages);
    let room = Room::new("http://a.test/\n");
    run(room.crawl(&["--proxy", &web.proxy()])).expect(0);
    let summary: serde_json::Value = serde_json::from_str(&room.read("out/summary.json")).unwrap();
    assert!(summary["pages"].as_u64().unwrap() > 8, "{summary}");
    for format in ["jsonl", "csv", "warc", "text"] {
        let mut export = suidao();
        export.current_dir(room.path()).args([
            "export",
            "out",
            "--format",
            format,
            "-o",
            &format!("exported.{format}"),
        ]);
        // The list of formats is not tested here.
        let ended = run(export);
        assert!(matches!(ended.code(), 0 | 2), "{ended:?}");
    }
    for verb in [&["report", "out"][..], &["index", "out"], &["search", "out", "足球"]] {
        let mut command = suidao();
        command.current_dir(room.path()).args(verb);
        run(command);
    }
    for path in snapshot(room.path()).into_keys() {
        let inner = path.strip_prefix(room.path()).unwrap().to_string_lossy().into_owned();
        assert!(!inner.contains("evil") && !inner.contains(".."), "{inner}");
        let first = inner.split(['/', '\\']).next().unwrap();
        let ours = ["", "lexicon.toml", "seeds.txt", "out"].contains(&first) || first.starts_with("exported");
        assert!(ours, "{inner}");
    }
    assert!(!Path::new("/tmp/evil").exists());
}
