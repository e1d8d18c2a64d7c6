//! `suidao seeds`: from a crawl, a web archive's index, and services on loopback.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::{Stage, finite, lexicon_of, run, suidao};
use suidao::world::ServerOptions;

/// A server with these answers by the beginning of the path; others are 404. Records the heads and bodies of requests.
fn service(answers: &'static [(&'static str, &'static str)]) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            let length = |text: &str| {
                let line = text
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
                line.and_then(|length| length.parse::<usize>().ok()).unwrap_or(0)
            };
            loop {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n")
                    && body.len() >= length(head)
                {
                    break;
                }
                match stream.read(&mut part) {
                    Ok(read) if read > 0 => bytes.extend_from_slice(&part[..read]),
                    _ => break,
                }
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            log.lock().unwrap().push(text);
            let answer = answers.iter().find(|(start, _)| path.starts_with(start));
            let (status, body) = answer.map_or(("404 Not Found", ""), |(_, body)| ("200 OK", *body));
            let moved = body.strip_prefix("moved to ");
            let status = moved.map_or(status.to_owned(), |to| format!("302 Found\r\nLocation: {to}"));
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    (address, requests)
}

fn seeds(dir: &std::path::Path, more: &[&str]) -> Command {
    let lexicon = dir.join("lexicon.toml");
    let mut topic = lexicon_of("体育");
    topic.url = vec!["zuqiu".to_owned()];
    fs::write(&lexicon, topic.to_toml()).unwrap();
    let mut command = suidao();
    command.current_dir(dir).args(["seeds", "-m", "lexicon.toml", "--set", "politeness.delay=0"]).args(more);
    command
}

/// As [`seeds`], from services on this machine.
fn local(dir: &std::path::Path, more: &[&str]) -> Command {
    let mut command = seeds(dir, more);
    command.arg("--allow-private");
    command
}

/// The URLs of a seeds file.
fn urls(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn pages_are_not_rendered_for_seeds() {
    let dir = tempfile::tempdir().unwrap();
    let err = run(seeds(dir.path(), &["--render", "always", "--search", "http://127.0.0.1:9/"])).expect(2).err;
    assert!(err.contains("--render does not apply") && err.lines().count() == 1, "{err}");
    assert!(!run(seeds(dir.path(), &["--help"])).expect(0).out.contains("--render"));
}

#[test]
fn hosts_that_relevant_pages_link_to_and_nobody_visited_are_proposed() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--strategy", "breadth-first", "--max-pages", "6"])).expect(0);
    let crawl = stage.path("crawl").display().to_string();
    let out = stage.path("more.txt").display().to_string();
    let ended = run(seeds(stage.dir.path(), &["--crawl", &crawl, "-o", &out])).expect(0);
    assert!(ended.err.contains("Wrote"), "{}", ended.err);
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.starts_with("# Proposed seeds for 体育") && text.contains("# linked from"), "{text}");
    let visited: Vec<String> =
        crate::support::pages(&stage.path("crawl")).into_keys().map(|url| url.authority().to_owned()).collect();
    assert!(!urls(&text).is_empty());
    for url in urls(&text) {
        let host = url.split('/').nth(2).unwrap();
        assert!(!visited.iter().any(|known| known == host), "{url}");
    }
    // The file is a seeds file.
    let mut again = stage.crawl("again", &["--dry-run"]);
    again.args(["-s", &out]);
    assert!(run(again).err.is_empty() || !text.is_empty());
    // The same each time.
    let printed = run(seeds(stage.dir.path(), &["--crawl", &crawl])).expect(0).out;
    assert_eq!(printed.trim_end(), text.trim_end());
}

#[test]
fn an_index_of_an_archive_gives_hosts_with_words_of_the_topic() {
    let root = tempfile::tempdir().unwrap();
    let lines = [
        r#"cn,a)/zuqiu/1 20240101000000 {"url": "http://a.cn/zuqiu/1", "mime": "text/html", "status": "200"}"#,
        r#"cn,a)/zuqiu/2 20240101000000 {"url": "http://a.cn/zuqiu/2", "mime": "text/html", "status": "200"}"#,
        r#"cn,b)/zuqiu 20240101000000 {"url": "http://b.cn/zuqiu", "mime": "text/html", "status": "404"}"#,
        r#"cn,c)/zuqiu.jpg 20240101000000 {"url": "http://c.cn/zuqiu.jpg", "mime": "image/jpeg", "status": "200"}"#,
        r#"{"url": "http://d.cn/zuqiu/x", "status": "200"}"#,
        r#"{"url": "http://e.cn/weather", "status": "200"}"#,
        "damaged {",
    ];
    fs::write(root.path().join("index.cdxj"), lines.join("\n")).unwrap();
    let text = run(seeds(root.path(), &["--cdxj", "index.cdxj"])).expect(0).out;
    assert_eq!(urls(&text), ["http://a.cn/zuqiu/1", "http://d.cn/zuqiu/x"], "{text}");
    assert!(text.contains("# 2 archived URLs with words of the topic"), "{text}");

    let (address, requests) =
        service(&[("/index?url=*.cn&page=0", r#"{"url": "http://a.cn/zuqiu/1", "status": "200"}"#)]);
    let text = run(local(root.path(), &["--cdx", &format!("{address}/index?url=*.cn")])).expect(0).out;
    assert_eq!(urls(&text), ["http://a.cn/zuqiu/1"]);
    assert_eq!(requests.lock().unwrap().len(), 2, "the page after the last is an error of the server");
    assert!(requests.lock().unwrap().iter().all(|head| head.to_lowercase().contains("user-agent: suidao/")));
    // As in a crawl: no private address unless allowed, and no answer beyond the limit.
    let refused = run(seeds(root.path(), &["--cdx", &format!("{address}/index?url=*.cn")])).expect(2).err;
    assert!(refused.contains("private") && refused.contains("--allow-private"), "{refused}");
    assert_eq!(requests.lock().unwrap().len(), 2);
    let small = ["--cdx", &format!("{address}/index?url=*.cn"), "--set", "fetch.max_body=10"];
    let large = run(local(root.path(), &small)).expect(2).err;
    assert!(large.contains("fetch.max_body"), "{large}");
    fs::write(root.path().join("page.html"), "<html>\n<p>no index").unwrap();
    let wrong = run(seeds(root.path(), &["--cdxj", "page.html"])).expect(2).err;
    assert!(wrong.contains("no record of a CDX index"), "{wrong}");
}

#[test]
fn a_search_service_is_asked_for_the_heaviest_terms() {
    let root = tempfile::tempdir().unwrap();
    let (address, requests) = service(&[(
        "/search",
        r#"{"found": [{"link": "http://a.cn/one"}, {"link": "http://b.cn/"}, {"link": "not a url"}, {"link": "http://a.cn/two"}]}"#,
    )]);
    let file = format!(
        "url = \"{address}/search\"\nbody = '{{\"q\": {{query_json}}}}'\nkey_header = \"X-Key\"\nkey_variable = \"SUIDAO_TEST_KEY\"\nurls = \"found.*.link\"\n"
    );
    fs::write(root.path().join("service.toml"), &file).unwrap();
    let search = ["--search", "service.toml", "--queries", "2"];
    let missing = run(local(root.path(), &search)).expect(2).err;
    assert!(missing.contains("SUIDAO_TEST_KEY is not set"), "{missing}");
    let mut command = local(root.path(), &search);
    command.env("SUIDAO_TEST_KEY", "secret-1");
    let ended = run(command).expect(0);
    assert_eq!(urls(&ended.out), ["http://a.cn/one", "http://b.cn/"], "{}", ended.out);
    assert!(!ended.out.contains("secret-1") && !ended.err.contains("secret-1"));
    let requested = requests.lock().unwrap();
    assert_eq!(requested.len(), 2);
    assert!(
        requested
            .iter()
            .all(|request| request.starts_with("POST /search") && request.to_lowercase().contains("x-key: secret-1"))
    );
    drop(requested);

    for (name, content, message) in [
        ("no.toml", "url = \"http://127.0.0.1:9/\"\nurls = \"a\"\n", "contains {query}"),
        ("typo.toml", "url = \"http://a/{query}\"\nurl_s = \"a\"\n", "line 2: unknown field"),
        ("nowhere.toml", "url = \"ftp://a/?q={query}\"\nurls = \"a\"\n", "give an http or https URL"),
        (
            "header.toml",
            "url = \"http://127.0.0.1:9/?q={query}\"\nkey_header = \"X Key\"\nkey_variable = \"PATH\"\nurls = \"a\"\n",
            "check key_header",
        ),
        ("away.toml", "url = \"http://127.0.0.1:9/?q={query}\"\nurls = \"a\"\n", "no answer from http://127.0.0.1:9/"),
    ] {
        fs::write(root.path().join(name), content).unwrap();
        let wrong = run(local(root.path(), &["--search", name])).expect(2).err;
        assert!(
            wrong.contains(message) && wrong.trim().lines().filter(|line| !line.starts_with("warning: ")).count() == 1,
            "{name}: {wrong}"
        );
    }
    let unknown = run(seeds(root.path(), &["--search", "altavista"])).expect(2).err;
    assert!(unknown.contains("brave") && unknown.contains("serper"), "{unknown}");
    assert!(run(seeds(root.path(), &[])).expect(2).err.contains("there is no source"));
}

/// A key in a header field of its own would follow a redirect.
#[test]
fn a_key_does_not_follow_a_redirect() {
    let root = tempfile::tempdir().unwrap();
    let (elsewhere, stolen) = service(&[("/", "{}")]);
    let answer: &'static str = Box::leak(format!("moved to {elsewhere}/search").into_boxed_str());
    let (address, _) = service(Box::leak(Box::new([("/search", answer)])));
    let file = format!(
        "url = \"{address}/search?q={{query}}\"\nkey_header = \"X-Key\"\nkey_variable = \"SUIDAO_TEST_KEY\"\nurls = \"a\"\n"
    );
    fs::write(root.path().join("service.toml"), file).unwrap();
    let mut command = local(root.path(), &["--search", "service.toml"]);
    command.env("SUIDAO_TEST_KEY", "secret-2");
    let refused = run(command).expect(2).err;
    assert!(refused.contains("status 302"), "{refused}");
    assert!(stolen.lock().unwrap().is_empty());
}
