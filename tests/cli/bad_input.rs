//! Invalid input gets one sentence that names the file, line or flag and what to do, exits with 2, and changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{Running, Stage, finite, lexicon_of, run, snapshot, suidao, unused_port};
use suidao::world::ServerOptions;

fn stage() -> Stage {
    Stage::new(finite(), ServerOptions::default())
}

/// All files of the stage except those of the log's engine, which compacts them whenever a log is opened.
fn content(stage: &Stage) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = snapshot(stage.dir.path());
    files.retain(|path, _| !path.parent().is_some_and(|parent| parent.ends_with("state/log")));
    files
}

/// Runs `command`, which must fail with `code`, print one line with each part of `expected`, and change nothing in the
/// stage's directory.
fn refused(stage: &Stage, command: Command, code: i32, expected: &[&str]) {
    let shown = format!("{command:?}");
    let before = content(stage);
    let ended = run(command);
    assert_eq!(ended.code(), code, "{shown}\n{}\n{}", ended.out, ended.err);
    assert_eq!(ended.out, "", "{shown}");
    assert_eq!(ended.err.lines().count(), 1, "{shown}: one line, not\n{}", ended.err);
    let sentence = ended.err.trim_end();
    assert!(sentence.starts_with("suidao: "), "{shown}: {sentence}");
    assert!(!sentence.contains("os error"), "{shown}: {sentence}");
    for part in expected {
        assert!(sentence.contains(part), "{shown}: {part:?} is not in {sentence:?}");
    }
    let after = content(stage);
    assert!(after.keys().eq(before.keys()), "{shown}: {:?}", after.keys().collect::<Vec<_>>());
    assert!(after == before, "{shown}: a file was changed");
    println!("{sentence}");
}

/// A file on the stage, for `crawl`'s arguments, which later ones override.
fn file(stage: &Stage, name: &str, content: &str) -> String {
    let path = stage.path(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// `suidao crawl` with this lexicon and these seeds.
fn crawl_with(stage: &Stage, lexicon: &str, seeds: &str, more: &[&str]) -> Command {
    let mut command = suidao();
    command.args(["crawl", "-m", lexicon, "-s", seeds, "-o"]).arg(stage.path("new"));
    command.args(["--proxy", &stage.server.proxy(), "--contact", "test@example.org"]).args(more);
    command
}

#[test]
fn seeds() {
    let stage = stage();
    let lexicon = stage.lexicon.to_str().unwrap().to_owned();
    let missing = stage.path("none.txt").to_str().unwrap().to_owned();
    refused(&stage, crawl_with(&stage, &lexicon, &missing, &[]), 2, &["none.txt: No such file or directory; give a"]);
    for (name, content, expected) in [
        ("empty.txt", "", "write one per line"),
        ("comments.txt", "# nothing\n\n  \n", "write one per line"),
        (
            "word.txt",
            "http://a.test/\n\nnot-a-url\n",
            "line 3: not-a-url is not a URL to crawl: no http:// or https://; write",
        ),
        ("scheme.txt", "# x\nftp://a.test/\n", "line 2: ftp://a.test/"),
    ] {
        let seeds = file(&stage, name, content);
        refused(&stage, crawl_with(&stage, &lexicon, &seeds, &[]), 2, &[name, expected]);
        // A dry run checks the same.
        refused(&stage, crawl_with(&stage, &lexicon, &seeds, &["--dry-run"]), 2, &[name, expected]);
    }
    let seeds = file(&stage, "words.txt", "one\nhttp://a.test/\ntwo\n");
    let lines = run(crawl_with(&stage, &lexicon, &seeds, &[])).expect(2).err;
    let lines: Vec<&str> = lines.lines().collect();
    assert!(lines[0].starts_with("  line 1: one is not a URL") && lines[1].starts_with("  line 3: two"), "{lines:?}");
    assert!(lines.len() == 3 && lines[2].contains("words.txt: 2 lines are not URLs to crawl; write"), "{lines:?}");
    std::fs::write(stage.path("gbk.txt"), b"http://a.test/\n# \xcc\xe5\xd3\xfd\n").unwrap();
    let seeds = stage.path("gbk.txt").to_str().unwrap().to_owned();
    let dry = run(crawl_with(&stage, &lexicon, &seeds, &["--dry-run"])).expect(0);
    assert!(dry.out.contains("http://a.test/"), "a file in GBK: {}", dry.out);
    let directory = stage.dir.path().to_str().unwrap().to_owned();
    refused(&stage, crawl_with(&stage, &lexicon, &directory, &[]), 2, &["one URL per line"]);
    let good = stage.seeds.to_str().unwrap();
    for wrong in ["not-a-url", "ftp://a.test/"] {
        let crawl = crawl_with(&stage, &lexicon, good, &["http://a.test/", wrong]);
        refused(&stage, crawl, 2, &[wrong, "is not a URL to crawl", "http://host/path"]);
    }
    let mut none = suidao();
    none.args(["crawl", "-m", &lexicon, "-o"]).arg(stage.path("new"));
    refused(&stage, none, 2, &["no seed is given", "-s"]);
}

#[test]
fn lexicons() {
    let stage = stage();
    let seeds = stage.seeds.to_str().unwrap().to_owned();
    let whole = lexicon_of("体育").to_toml();
    let missing = stage.path("none.toml").to_str().unwrap().to_owned();
    refused(&stage, crawl_with(&stage, &missing, &seeds, &[]), 2, &["none.toml", "suidao topic build"]);
    for (name, content, expected) in [
        ("empty.toml", String::new(), "missing field `name`"),
        ("no.toml", "format = 1\nname = \n".to_owned(), "line 2"),
        ("newer.toml", whole.replacen("format = 1", "format = 2", 1), "reads format 1"),
        ("unknown.toml", whole.replacen("[provenance]", "[mode]\n[provenance]", 1), "unknown field `mode`"),
        ("terms.toml", lexicon_of("x").to_toml().split("[terms]").next().unwrap().to_owned() + "[terms]\n", ""),
    ] {
        let lexicon = file(&stage, name, &content);
        refused(&stage, crawl_with(&stage, &lexicon, &seeds, &[]), 2, &[name, expected]);
    }
}

#[test]
fn configurations() {
    let stage = stage();
    let (lexicon, seeds) = (stage.lexicon.to_str().unwrap().to_owned(), stage.seeds.to_str().unwrap().to_owned());
    let config = file(&stage, "typo.toml", "[politeness]\n\ndelya = 2\n");
    refused(&stage, crawl_with(&stage, &lexicon, &seeds, &["-c", &config]), 2, &["typo.toml", "line 3", "delya"]);
    let config = file(&stage, "no.toml", "[crawl]\nseed = 1\n[politeness\n");
    refused(&stage, crawl_with(&stage, &lexicon, &seeds, &["-c", &config]), 2, &["no.toml", "line 3"]);
    let config = file(&stage, "kind.toml", "[crawl]\nseed = 'x'\n");
    refused(&stage, crawl_with(&stage, &lexicon, &seeds, &["-c", &config]), 2, &["kind.toml", "line 2"]);
    let missing = stage.path("none.toml").to_str().unwrap().to_owned();
    refused(&stage, crawl_with(&stage, &lexicon, &seeds, &["-c", &missing]), 2, &["none.toml", "-c"]);
    for (set, expected) in [
        ("politeness.delya=2", "delya"),
        ("politeness.delay", "key=value"),
        ("politeness.delay=soon", "--set politeness.delay=soon"),
        ("politeness.delay=-1", "politeness.delay must be"),
        ("crawl.in_flight=0", "crawl.in_flight must"),
        ("status.listen=99999999", "status.listen"),
        ("status.listen=\"99999999\"", "status.listen must be a port"),
        ("scope.max_url_length=1000000", "scope.max_url_length must"),
        ("stop.bytes=99999999TB", "is not a size"),
        ("crawl.in_flight=-4", "--set crawl.in_flight=-4"),
        ("limits.pages=0", "limits.pages must"),
        ("strategy.name=fastest", "fastest"),
        ("strategy.dth.variant=quick", "quick"),
        ("crawl=1", "--set crawl=1"),
        ("fetch.timeout=0", "fetch.timeout"),
        ("=", "key=value"),
    ] {
        refused(&stage, crawl_with(&stage, &lexicon, &seeds, &["--set", set]), 2, &[expected]);
    }
    let mut contact = suidao();
    contact
        .args(["crawl", "-m", &lexicon, "-s", &seeds, "-o"])
        .arg(stage.path("new"))
        .args(["--contact", "two\nlines"]);
    refused(&stage, contact, 2, &["fetch.contact", "one line"]);
    for wrong in [&["--strategy", "fastest"][..], &["--max-pages", "many"], &["--max-pages", "0"], &["--fast"]] {
        let ended = run(crawl_with(&stage, &lexicon, &seeds, wrong)).expect(2);
        assert!(ended.err.contains(wrong.last().unwrap()), "{}", ended.err);
    }
    run(suidao()).expect(2);
    assert!(!stage.path("new").exists());
}

#[test]
fn conditions() {
    let mut search = suidao();
    search.args(["search", "none", "足球", "--where", "lang:zh colour:red"]);
    let error = run(search).expect(2).err;
    assert!(error.contains("colour:red is not a condition") && error.contains("host:example.cn"), "{error}");
}

#[test]
fn proxies() {
    let stage = stage();
    for (proxy, expected) in [
        ("not a proxy", "http://host:port"),
        ("socks5://127.0.0.1:1080", "http://host:port"),
        ("http://", "http://host:port"),
    ] {
        let mut command = suidao();
        command.arg("crawl").arg("-m").arg(&stage.lexicon).arg("-s").arg(&stage.seeds).arg("-o");
        command.arg(stage.path("new")).args(["--contact", "x@example.org", "--proxy", proxy]);
        refused(&stage, command, 2, &["--proxy", expected]);
    }
    let port = unused_port();
    let proxy = format!("http://127.0.0.1:{port}");
    let mut command = suidao();
    command.arg("crawl").arg("-m").arg(&stage.lexicon).arg("-s").arg(&stage.seeds).arg("-o");
    command.arg(stage.path("new")).args(["--contact", "x@example.org", "--proxy", &proxy]);
    refused(&stage, command, 2, &["cannot reach the proxy", &port.to_string(), "--proxy"]);
}

#[test]
fn output_directories() {
    let stage = stage();
    run(stage.crawl("done", &["--max-pages", "20"])).expect(0);
    let more = ["--max-pages", "30"];

    let other = file(&stage, "other.toml", &lexicon_of("文学").to_toml());
    let edited = lexicon_of("体育").to_toml().replacen("= 1.0", "= 0.9", 1);
    let edited = file(&stage, "edited.toml", &edited);
    for (lexicon, expected) in [(&other, "topic 体育, not 文学"), (&edited, "lexicon")] {
        let mut alone = suidao();
        alone.args(["crawl", "-m", lexicon, "-s"]).arg(&stage.seeds).arg("-o").arg(stage.path("done"));
        alone.args(["--proxy", &stage.server.proxy(), "--contact", "x@example.org"]);
        refused(&stage, alone, 2, &["done", expected, "another output directory"]);
    }
    let strategy = stage.crawl("done", &["--max-pages", "30", "--strategy", "pagerank"]);
    refused(&stage, strategy, 2, &["strategy", "another output directory"]);

    let meta = stage.path("done/state/meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    std::fs::write(&meta, "{").unwrap();
    refused(&stage, stage.crawl("done", &more), 2, &["meta.json", "damaged"]);
    std::fs::write(&meta, text).unwrap();

    file(&stage, "a-file", "x");
    refused(&stage, stage.crawl("a-file", &more), 2, &["a-file", "another"]);
    refused(&stage, stage.crawl("a-file/below", &more), 2, &["a-file", "another"]);
    let dry = ["--max-pages", "30", "--dry-run"];
    refused(&stage, stage.crawl("a-file", &dry), 2, &["a-file", "another"]);
    refused(&stage, stage.crawl("a-file/below", &dry), 2, &["a-file", "another"]);
    refused(&stage, stage.crawl("new", &["--dry-run", "--status", "abc"]), 2, &["--status abc", "127.0.0.1:9090"]);
    std::fs::create_dir(stage.path("photos")).unwrap();
    file(&stage, "photos/cat.jpg", "x");
    refused(&stage, stage.crawl("photos", &more), 2, &["photos", "another output directory"]);
    std::fs::create_dir_all(stage.path("half/pages")).unwrap();
    file(&stage, "half/pages/suidao-00000.warc.gz", "x");
    refused(&stage, stage.crawl("half", &more), 2, &["half", "another output directory"]);
    // An empty directory counts as absent.
    std::fs::create_dir(stage.path("empty")).unwrap();
    run(stage.crawl("empty", &["--max-pages", "1"])).expect(0);
}

#[test]
fn a_second_crawl_in_the_same_directory() {
    let options = ServerOptions { delay: Duration::from_millis(20), ..ServerOptions::default() };
    let stage = Stage::new(finite(), options);
    let arguments = ["--max-pages", "500", "--set", "crawl.in_flight=2"];
    let mut first = Running::start(stage.crawl("crawl", &arguments));
    assert!(first.until(|| stage.server.requests() > 3));
    let ended = run(stage.crawl("crawl", &arguments)).expect(2);
    assert!(ended.err.starts_with("suidao: ") && ended.err.lines().count() == 1, "{}", ended.err);
    let by = format!("crawl is in use: suidao crawl (process {}) writes to it", first.id());
    assert!(ended.err.contains(&by), "{}", ended.err);
    assert!(!first.has_ended(), "the first continues");
    first.signal("INT");
    first.end().expect(130);
}

#[test]
fn why_and_export() {
    let stage = stage();
    run(stage.crawl("done", &["--max-pages", "20"])).expect(0);
    std::fs::create_dir(stage.path("empty")).unwrap();
    let why = |dir: &Path, url: &str| {
        let mut command = suidao();
        command.arg("why").arg(dir).arg(url);
        command
    };
    let export = |dir: &Path, to: &Path| {
        let mut command = suidao();
        command.arg("export").arg(dir).arg("-o").arg(to);
        command
    };
    for dir in ["empty", "none"] {
        let expected = &[dir, "contains no crawl", "output directory of `suidao crawl`"];
        refused(&stage, why(&stage.path(dir), "http://a.test/"), 2, expected);
        refused(&stage, export(&stage.path(dir), &stage.path("x.jsonl")), 2, expected);
    }
    let done = stage.path("done");
    refused(&stage, why(&done, "nonsense"), 2, &["nonsense", "write it as http://host/path"]);
    refused(&stage, why(&done, "http://nowhere.test/"), 2, &["http://nowhere.test/", "no fetched page links"]);
    refused(
        &stage,
        export(&done, &stage.path("none/x.jsonl")),
        2,
        &["cannot write", "x.jsonl: the directory", "none does not exist; check the path"],
    );
    refused(&stage, export(&done, &stage.path("done")), 2, &["done"]);
    refused(&stage, export(&done, &stage.lexicon.join("x.jsonl")), 2, &["lexicon.toml/x.jsonl"]);
}

#[test]
fn a_directory_of_another_format() {
    let stage = stage();
    let (crawl, more) = (
        || stage.crawl("done", &["--max-pages", "20"]),
        |dir: &Path, arguments: &[&str]| {
            let mut command = suidao();
            command.args(&arguments[..1]).arg(dir).args(&arguments[1..]);
            command
        },
    );
    run(crawl()).expect(0);
    let dir = stage.path("done");
    let meta = std::fs::read_to_string(dir.join("state/meta.json")).unwrap();
    let format = &serde_json::from_str::<serde_json::Value>(&meta).unwrap()["format"];
    let previous = meta.replacen(&format!("\"format\": {format}"), "\"format\": 1", 1);
    assert_ne!(previous, meta);
    std::fs::write(dir.join("state/meta.json"), previous).unwrap();
    // Its configuration may have unknown keys, and its log cannot be read.
    std::fs::write(dir.join("state/config.toml"), "[crawl]\nbygone = 1\n").unwrap();
    let known = format!("reads only format {format}");
    let expected = &["meta.json", "format 1", &known, "new crawl in another output directory"];
    refused(&stage, crawl(), 2, expected);
    for arguments in [
        &["why", "http://a.test/"][..],
        &["export", "-o", "none.jsonl"],
        &["report"],
        &["search", "足球"],
        &["label", "--summary"],
        &["refresh"],
        &["serve"],
    ] {
        refused(&stage, more(&dir, arguments), 2, expected);
    }
    for repair in [&["check", "crawl"][..], &["check", "crawl", "--repair"]] {
        let mut command = suidao();
        command.args(repair).arg(&dir);
        refused(&stage, command, 2, expected);
    }
}

#[test]
fn checks() {
    let stage = stage();
    let check = |arguments: &[&str]| {
        let mut command = suidao();
        command.arg("check").args(arguments);
        command
    };
    let missing = stage.path("none").to_str().unwrap().to_owned();
    let lexicon = stage.lexicon.to_str().unwrap();
    let page = file(&stage, "page.html", "<p>足球</p>");
    refused(&stage, check(&["page", &missing, "-m", lexicon]), 2, &["none", "check the path"]);
    refused(&stage, check(&["page", &page, "-m", &missing]), 2, &["none", "suidao topic build"]);
    refused(&stage, check(&["page", &page, "-m", lexicon, "--url", "x"]), 2, &["x is not a URL"]);
    // A page that cannot be fetched is a result, not wrong usage.
    refused(&stage, check(&["page", "http://127.0.0.1:8999/"]), 1, &["cannot read http://127.0.0.1:8999/", "private"]);
    refused(&stage, check(&["page", "http://a.test/", "--proxy", "nonsense:"]), 2, &["proxy"]);
    refused(&stage, check(&["robots", "--file", &missing, "http://a.test/"]), 2, &["none", "check the path"]);
    refused(&stage, check(&["robots", "--file", &page, "http://a.test/", "a.test"]), 2, &["a.test is not a URL"]);
    refused(&stage, check(&["url", "a.test"]), 2, &["cannot crawl a.test"]);
    refused(&stage, check(&["config", &page]), 2, &["page.html", "line 1"]);
}
