//! Crawl directories of others: nothing in them reaches outside. Each test manipulates a directory as a stranger might,
//! and runs the program in it.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support::{Ended, REPLAY_DEFAULTS, lexicon_of, request, run, snapshot, suidao, tools};

/// A web of pages about the topic, asked directly or as a proxy, that records its requests.
struct Web {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = Arc::clone(&heard);
                std::thread::spawn(move || drop(answer(stream, &heard)));
            }
        });
        Self { address, heads }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, heads: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let (head, target) = request(&mut stream)?;
    heads.lock().unwrap().push(head);
    let number = target.rsplit('/').next().unwrap_or_default();
    let (status, body) = match number {
        "robots.txt" => ("404 Not Found", String::new()),
        _ => {
            let links: String = (0..4).map(|n| format!("<a href='/{n}'>足球比赛 {n}</a> ")).collect();
            ("200 OK", format!("<title>足球 {number}</title><p>{} {number}</p>{links}", "足球比赛 ".repeat(20)))
        }
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
}

/// A finished crawl, and a place outside of it.
struct Room {
    dir: tempfile::TempDir,
    web: Web,
}

impl Room {
    /// A crawl of `http://a.test/` behind the web as a proxy.
    fn new() -> Self {
        let room = Self::empty("http://a.test/\n");
        run(room.crawl(&["--proxy", &room.web.url()])).expect(0);
        room
    }

    /// A crawl of the web itself, at a loopback address.
    fn private() -> Self {
        let web = Web::serve();
        let room = Self { web, ..Self::empty("") };
        fs::write(room.path("seeds.txt"), room.web.url()).unwrap();
        run(room.crawl(&["--allow-private"])).expect(0);
        room
    }

    fn empty(seeds: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
        fs::write(dir.path().join("seeds.txt"), seeds).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/mine"), "mine\n").unwrap();
        Self { dir, web: Web::serve() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn suidao(&self, verb: &[&str], more: &[&str]) -> Command {
        let mut command = suidao();
        command.current_dir(self.dir.path()).args(verb).args(more);
        command.env("STRANGERS_SECRET", "hush").env_remove("CHROME");
        command
    }

    fn crawl(&self, more: &[&str]) -> Command {
        let verb = ["crawl", "-m", "lexicon.toml", "-s", "seeds.txt", "-o", "out", "--contact", "me@example.cn", "-q"];
        self.suidao(&verb, &[&REPLAY_DEFAULTS[..], more].concat())
    }

    fn refresh(&self, more: &[&str]) -> Command {
        let verb = ["refresh", "out", "--requests", "4", "--set", "refresh.shortest=0", "--contact", "me@example.cn"];
        self.suidao(&verb, &[&REPLAY_DEFAULTS[..], more].concat())
    }

    /// Sets a value in the configuration stored in the directory.
    fn doctor(&self, key: &str, value: impl Into<toml::Value>) {
        let path = self.path("out/state/config.toml");
        let mut table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let (sections, last) = key.rsplit_once('.').unwrap();
        let section = sections.split('.').fold(&mut table, |table, section| {
            table.entry(section).or_insert(toml::Table::new().into()).as_table_mut().unwrap()
        });
        section.insert(last.to_owned(), value.into());
        fs::write(&path, table.to_string()).unwrap();
    }

    /// Replaces something in the directory by a link.
    fn link(&self, name: &str, to: &str) {
        let path = self.path("out").join(name);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.path(to), &path).unwrap();
    }

    /// Everything outside is unchanged.
    fn is_untouched(&self) {
        assert_eq!(fs::read_to_string(self.path("outside/mine")).unwrap(), "mine\n");
        assert_eq!(fs::read_dir(self.path("outside")).unwrap().count(), 1);
    }
}

fn copy(from: &Path, to: &Path) {
    for (path, content) in snapshot(from) {
        let to = to.join(path.strip_prefix(from).unwrap());
        if path.is_dir() {
            fs::create_dir_all(to).unwrap();
        } else {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, content).unwrap();
        }
    }
}

const STORED_CONFIG: &str = "out/state/config.toml";

#[test]
fn a_directory_cannot_make_suidao_send_an_environment_variable() {
    let room = Room::new();
    let stored = fs::read_to_string(room.path(STORED_CONFIG)).unwrap();
    let one: toml::Table = "origin = 'http://a.test'\nheaders_env = { X-Found = 'STRANGERS_SECRET' }".parse().unwrap();
    room.doctor("fetch.credentials", vec![toml::Value::Table(one)]);
    let before = room.web.heads().len();
    let own = ["--proxy", &room.web.url()];
    for more in [&[][..], &["--set", "fetch.credentials=[]"]] {
        let output = run(room.refresh(&[&own[..], more].concat())).expect(2).err;
        assert!(output.contains(STORED_CONFIG) && output.contains("fetch.credentials"), "{output}");
    }
    assert_eq!(room.web.heads().len(), before);
    // The user's own configuration is accepted.
    run(room.refresh(&[&own[..], &["-c", STORED_CONFIG]].concat())).expect(0);
    assert!(room.web.heads().concat().contains("hush"));
    // It is not stored either, after the user has set it.
    let own_word = "fetch.credentials=[{ origin = 'http://a.test', headers_env = { X-Found = 'STRANGERS_SECRET' } }]";
    fs::write(room.path(STORED_CONFIG), stored).unwrap();
    run(room.refresh(&[&own[..], &["--set", own_word]].concat())).expect(0);
    run(room.crawl(&[&own[..], &["--set", own_word]].concat())).expect(0);
    assert!(!fs::read_to_string(room.path(STORED_CONFIG)).unwrap().contains("STRANGERS_SECRET"));
    let before = room.web.heads().len();
    let output = run(room.refresh(&own)).expect(2).err;
    assert!(output.contains("started with fetch.credentials"), "{output}");
    assert_eq!(room.web.heads().len(), before, "without them nothing is asked either: {output}");
}

#[test]
fn no_proxy_and_no_address_is_taken_from_a_directory() {
    let (room, proxy) = (Room::private(), Web::serve());
    let stored = fs::read_to_string(room.path(STORED_CONFIG)).unwrap();
    let quiet = |more: &[&str], word: &str| {
        let before = room.web.heads().len();
        let output = run(room.refresh(more)).expect(2).err;
        assert!(output.contains(word) && output.contains(STORED_CONFIG), "{output}");
        assert_eq!((room.web.heads().len(), proxy.heads().len()), (before, 0), "{output}");
    };
    // As in the crawl: otherwise all its pages would be skipped.
    quiet(&[], "started with fetch.allow_private");
    run(room.refresh(&["--allow-private"])).expect(0);
    fs::write(room.path("own.toml"), "politeness.delay = 0\n").unwrap();
    quiet(&["-c", "own.toml"], "started with fetch.allow_private");
    run(room.refresh(&["-c", "own.toml", "--allow-private"])).expect(0);
    fs::write(room.path("own.toml"), "fetch.allow_private = true\n").unwrap();
    run(room.refresh(&["-c", "own.toml"])).expect(0);
    for (key, value) in [
        ("fetch.allow_private", toml::Value::from(true)),
        ("fetch.allow_addresses", vec!["127.0.0.1"].into()),
        ("fetch.proxy", proxy.url().into()),
        ("scope.allow_ports", vec![6379_i64].into()),
    ] {
        room.doctor(key, value);
        quiet(&["--allow-private"], key);
        fs::write(room.path(STORED_CONFIG), &stored).unwrap();
    }
}

#[test]
fn no_file_no_listener_and_no_program_is_taken_from_a_directory() {
    let room = Room::new();
    let stored = fs::read_to_string(room.path(STORED_CONFIG)).unwrap();
    let (touched, program) = (room.path("touched"), room.path("browser.sh"));
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", touched.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let own = ["--proxy", &room.web.url()];
    for (key, value, stated) in [
        ("log.file", room.path("outside/mine").to_string_lossy().into_owned().into(), "log"),
        ("status.listen", toml::Value::from("127.0.0.1:0"), "status"),
        ("render.browser", program.to_string_lossy().into_owned().into(), "render.browser"),
        ("render.sandbox", false.into(), "render.sandbox"),
        ("render.memory", (1_i64 << 40).into(), "render.memory"),
    ] {
        room.doctor(key, value);
        let err = run(room.refresh(&own)).expect(2).err;
        assert!(err.contains(STORED_CONFIG) && err.contains(&format!("{stated} is not accepted")), "{key}: {err}");
        if key == "log.file" {
            room.is_untouched();
            run(room.refresh(&[&own[..], &["-c", STORED_CONFIG]].concat())).expect(0);
            assert!(fs::read_to_string(room.path("outside/mine")).unwrap().len() > 10, "the user's own word counts");
        }
        fs::write(room.path(STORED_CONFIG), &stored).unwrap();
    }
    assert!(!touched.exists());
}

#[test]
fn no_file_that_a_directory_names_is_read() {
    let room = Room::new();
    fs::write(room.path("secret"), "hush = \"my key\"\n").unwrap();
    let own = ["--proxy", &room.web.url()];
    room.doctor("strategy.name", "context-graph");
    room.doctor("strategy.context-graph.model", room.path("secret").to_string_lossy().into_owned());
    let output = run(room.refresh(&own)).expect(2).err;
    assert!(output.contains("strategy.context-graph.model") && !output.contains("my key"), "{output}");
    for name in ["state/topic.toml", "state/config.toml", "forum.toml", "summary.json", "labels.tsv"] {
        let room = Room::new();
        fs::write(room.path("secret"), "hush = \"my key\"\n").unwrap();
        room.link(name, "secret");
        let forum = [&format!("{}/", room.web.url()), "-o", "out", "--allow-private"];
        for command in [
            room.refresh(&own),
            room.suidao(&["check", "crawl", "out"], &[]),
            room.suidao(&["report", "out"], &[]),
            room.suidao(&["label", "out", "--summary", "-m", "lexicon.toml"], &[]),
            room.suidao(&["forum", "schedule", "out"], &[]),
            room.suidao(&["forum", "crawl"], &forum),
        ] {
            let Ended { out, err, .. } = run(command);
            assert!(!out.contains("my key") && !err.contains("my key"), "{name}: {out}{err}");
        }
        assert_eq!(fs::read_to_string(room.path("secret")).unwrap(), "hush = \"my key\"\n", "{name}");
    }
}

#[test]
fn a_log_is_written_to_no_link() {
    for (name, to) in [("log/crawl.log", "outside/mine"), ("log/crawl.log", "outside/new"), ("log", "outside")] {
        let room = Room::new();
        room.link(name, to);
        let own = ["--proxy", &room.web.url()];
        for command in [room.refresh(&own), room.crawl(&own)] {
            let output = run(command).expect(0).err;
            assert!(output.contains("--log FILE") && output.contains("symbolic link"), "{name}: {output}");
        }
        room.is_untouched();
        // A file named by the user is written.
        run(room.refresh(&[&own[..], &["--log", "outside/mine"]].concat())).expect(0);
        assert!(fs::read_to_string(room.path("outside/mine")).unwrap().len() > 10);
    }
}

#[test]
fn watching_a_forum_ignores_settings_of_a_directory() {
    let room = Room::empty("");
    let url = format!("{}/", room.web.url());
    let forum = |more: &[&str]| {
        let own = ["--allow-private", "--stop-when", "minutes=0.02", "--contact", "me@example.cn"];
        room.suidao(&["forum", "crawl", &url, "-o", "out"], &[&own[..], &REPLAY_DEFAULTS, more].concat())
    };
    run(forum(&[]));
    assert!(room.path("out/state/meta.json").exists());
    let config = format!(
        "[log]\nfile = '{}'\n[[fetch.credentials]]\norigin = '{url}'\nheaders_env = {{ X-Found = 'STRANGERS_SECRET' }}\n",
        room.path("outside/mine").display()
    );
    fs::write(room.path(STORED_CONFIG), config).unwrap();
    room.link("log/crawl.log", "outside/mine");
    let output = run(forum(&["--watch"]));
    assert!(output.err.contains("symbolic link"), "{}", output.err);
    room.is_untouched();
    assert!(!room.web.heads().concat().contains("hush"));
}

#[test]
fn a_state_that_leads_elsewhere_is_refused_by_every_verb() {
    let verbs: [&[&str]; 9] = [
        &["why", "out", "http://a.test/"],
        &["export", "out", "-o", "pages.jsonl"],
        &["search", "out", "足球"],
        &["report", "out"],
        &["label", "out", "--summary"],
        &["check", "crawl", "out"],
        &["check", "crawl", "out", "--repair"],
        &["replay", "crawl:out", "-m", "lexicon.toml", "-s", "seeds.txt", "-o", "replayed"],
        &["forum", "schedule", "out"],
    ];
    let made = Room::new();
    for (name, to) in [
        ("state", "outside"),
        ("state/lock", "outside/mine"),
        ("state/acknowledged", "outside/mine"),
        ("state/log", "outside"),
        ("state/log/db", "outside/mine"),
        ("state/meta.json", "outside/mine"),
        ("state/checkpoint", "outside/mine"),
        ("state/browser", "outside"),
    ] {
        let room = Room::empty("http://a.test/\n");
        copy(&made.path("out"), &room.path("out"));
        room.link(name, to);
        let own = ["--proxy", &room.web.url()];
        for command in verbs.iter().map(|verb| room.suidao(verb, &[])).chain([
            room.refresh(&own),
            room.crawl(&own),
            room.crawl(&["--dry-run"]),
        ]) {
            let shown = format!("{name}: {command:?}");
            let ended = run(command);
            assert_eq!(ended.code(), 2, "{shown}: {ended:?}");
            assert!(ended.err.contains(name) && ended.err.contains("a symbolic link"), "{shown}: {}", ended.err);
        }
        room.is_untouched();
        assert!(room.web.heads().is_empty(), "{name}");
    }
}

#[test]
fn pages_are_cut_and_written_in_the_directory_alone() {
    let made = Room::new();
    let room = Room::empty("http://a.test/\n");
    copy(&made.path("out"), &room.path("out"));
    // Pages of another crawl of the user: those after the last location would be cut.
    fs::rename(room.path("out/pages"), room.path("elsewhere")).unwrap();
    fs::write(room.path("elsewhere/suidao-00007.warc.gz"), "mine").unwrap();
    room.link("pages", "elsewhere");
    let before = snapshot(&room.path("elsewhere"));
    let own = ["--proxy", &room.web.url()];
    for command in [room.refresh(&own), room.crawl(&own), room.suidao(&["check", "crawl", "out", "--repair"], &[])] {
        let output = run(command).expect(2).err;
        assert!(output.contains("out/pages") && output.contains("symbolic link"), "{output}");
    }
    assert_eq!(snapshot(&room.path("elsewhere")), before);
    // Reading them is permitted.
    run(room.suidao(&["export", "out", "-o", "pages.jsonl"], &[])).expect(0);

    // A single file that is a link is read, and never cut or appended to.
    let room = Room::empty("http://a.test/\n");
    copy(&made.path("out"), &room.path("out"));
    let file = room.path("out/pages/suidao-00000.warc.gz");
    let mut bytes = fs::read(&file).unwrap();
    bytes.extend_from_slice(b"more, which is mine");
    fs::write(room.path("elsewhere.gz"), &bytes).unwrap();
    room.link("pages/suidao-00000.warc.gz", "elsewhere.gz");
    run(room.suidao(&["export", "out", "-o", "pages.jsonl"], &[])).expect(0);
    run(room.suidao(&["check", "crawl", "out", "--repair"], &[])).expect(0);
    for command in [room.refresh(&own), room.crawl(&own)] {
        let output = run(command).expect(2).err;
        assert!(output.contains("suidao-00000.warc.gz") && output.contains("symbolic link"), "{output}");
    }
    assert_eq!(fs::read(room.path("elsewhere.gz")).unwrap(), bytes);
}

#[test]
fn results_take_the_place_of_links_and_pipes() {
    let room = Room::new();
    let own = ["--proxy", &room.web.url()];
    for name in ["harvest.csv", "skipped.csv", "summary.json", "refresh.csv", "report.html"] {
        room.link(name, "outside/mine");
    }
    run(room.refresh(&own)).expect(0);
    run(room.crawl(&own)).expect(0);
    run(room.suidao(&["report", "out"], &[])).expect(0);
    room.is_untouched();
    for name in ["harvest.csv", "summary.json", "refresh.csv", "report.html"] {
        assert!(room.path("out").join(name).symlink_metadata().unwrap().is_file(), "{name}");
    }
    for (name, verb) in [
        ("labels.tsv", &["label", "out", "--summary", "-m", "lexicon.toml"][..]),
        ("exports", &["export", "out", "-o", "pages.jsonl"]),
        ("index", &["search", "out", "足球"]),
    ] {
        room.link(name, if name == "labels.tsv" { "outside/mine" } else { "outside" });
        let output = run(room.suidao(verb, &[])).expect(2).err;
        assert!(output.contains(name) && output.contains("symbolic link"), "{output}");
        room.is_untouched();
    }
}

#[test]
fn nobody_waits_for_a_pipe() {
    let made = Room::new();
    for (name, refused) in [
        ("log/crawl.log", false),
        ("harvest.csv", false),
        ("skipped.csv", false),
        ("refresh.csv", false),
        ("state/meta.json", true),
        ("state/config.toml", true),
        ("state/checkpoint", true),
        ("state/acknowledged", true),
        ("pages/suidao-00000.warc.gz", true),
    ] {
        let room = Room::empty("http://a.test/\n");
        copy(&made.path("out"), &room.path("out"));
        let path = room.path("out").join(name);
        let _ = fs::remove_file(&path);
        let Some(mkfifo) = tools::program("mkfifo") else { return };
        assert!(Command::new(mkfifo).arg(&path).status().unwrap().success());
        let own = ["--proxy", &room.web.url()];
        let ended = run(room.refresh(&own));
        assert_eq!(ended.code(), if refused { 2 } else { 0 }, "{name}: {ended:?}");
        let warns = ended.err.contains("a pipe, socket or device");
        assert_eq!(warns, refused || name == "log/crawl.log", "{name}: {}", ended.err);
        if name.starts_with("pages") {
            for verb in [&["export", "out", "-o", "x.jsonl"][..], &["check", "crawl", "out"]] {
                let ended = run(room.suidao(verb, &[]));
                assert!(ended.code() == 2 && ended.err.contains("a pipe"), "{verb:?}: {ended:?}");
            }
        }
    }
}

#[test]
fn nothing_is_read_that_is_larger_than_it_can_be() {
    let room = Room::new();
    let own = ["--proxy", &room.web.url()];
    let grow = |name: &str| {
        let path = room.path("out").join(name);
        let previous = fs::read(&path).unwrap_or_default();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A sparse file, which would fill the memory.
        fs::File::create(&path).unwrap().set_len(1 << 42).unwrap();
        (path, previous)
    };
    for (name, verb) in [
        ("state/meta.json", &["why", "out", "http://a.test/"][..]),
        ("state/config.toml", &["refresh", "out", "--dry-run"]),
        ("state/topic.toml", &["refresh", "out", "--proxy", "http://127.0.0.1:1"]),
        ("summary.json", &["report", "out"]),
        ("labels.tsv", &["label", "out", "--summary", "-m", "lexicon.toml"]),
        ("forum.toml", &["forum", "schedule", "out"]),
    ] {
        let (path, previous) = grow(name);
        let output = run(room.suidao(verb, &[])).expect(2).err;
        assert!(output.contains(name) && output.contains("larger than"), "{name}: {output}");
        if previous.is_empty() { fs::remove_file(path).unwrap() } else { fs::write(path, previous).unwrap() }
    }
    run(room.suidao(&["export", "out", "-o", "pages.jsonl"], &[])).expect(0);
    let pages = room.path("out/exports/jsonl.pages");
    fs::File::create(&pages).unwrap().set_len(12 << 38).unwrap();
    let output = run(room.suidao(&["export", "out", "-o", "more.jsonl", "--since", "last"], &[])).expect(2).err;
    assert!(output.contains("jsonl.pages") && output.contains("order"), "{output}");
    grow("state/checkpoint");
    run(room.refresh(&own)).expect(0);
}
