//! A full or read-only disk stops a crawl with exit code 1 and advice; with room again the same command resumes and
//! fetches what an undisturbed crawl fetches.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Ended, Stage, finite, pages, run, suidao};
use suidao::world::ServerOptions;

const ALL: [&str; 4] = ["--strategy", "breadth-first", "--set", "limits.hops=10000"];

/// One line on standard error gives the place and the advice.
fn stopped(ended: Ended, expected: &[&str]) {
    let ended = ended.expect(1);
    let sentences: Vec<&str> = ended.err.lines().filter(|line| line.starts_with("suidao: ")).collect();
    let [sentence] = sentences[..] else { panic!("{}", ended.err) };
    assert!(expected.iter().any(|part| sentence.contains(part)), "{sentence}");
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    println!("{sentence}");
}

fn wanted(stage: &Stage) -> Vec<suidao::model::CrawlUrl> {
    run(stage.crawl("undisturbed", &ALL)).expect(0);
    pages(&stage.path("undisturbed")).into_keys().collect()
}

fn whole(out: &Path, wanted: &[suidao::model::CrawlUrl]) {
    let fetched = pages(out);
    assert!(fetched.values().all(|&times| times == 1));
    assert!(fetched.keys().eq(wanted), "{} pages, not {}", fetched.len(), wanted.len());
}

/// `command` in a shell that first runs `prelude`.
fn after(prelude: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{prelude}; exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

#[test]
fn a_limit_on_file_sizes_stops_the_crawl() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let wanted = wanted(&stage);
    // Blocks of 512 bytes.
    for blocks in [100, 300, 600] {
        stopped(run(after(&format!("ulimit -f {blocks}"), &stage.crawl("crawl", &ALL))), &["ulimit -f"]);
    }
    run(stage.crawl("crawl", &ALL)).expect(0);
    whole(&stage.path("crawl"), &wanted);
}

#[test]
fn an_export_reports_a_full_disk() {
    if !Path::new("/dev/full").exists() {
        return println!("skipped: there is no /dev/full");
    }
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--max-pages", "50"])).expect(0);
    let mut export = suidao();
    export.arg("export").arg(stage.path("crawl")).args(["-o", "-"]);
    stopped(run(after("exec >/dev/full", &export)), &["free some space"]);
    let Some(_mounted) = Mounted::new(stage.path("disk"), "size=8k") else { return };
    for name in ["x.jsonl", "x.jsonl.zst"] {
        let mut export = suidao();
        export.arg("export").arg(stage.path("crawl")).arg("-o").arg(stage.path("disk").join(name));
        stopped(run(export), &["free some space"]);
        assert_eq!(std::fs::read_dir(stage.path("disk")).unwrap().count(), 0, "no part of a file is left");
    }
}

/// A file system of its own; unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// `None` if mounting is not permitted.
    fn new(path: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&path);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        if !mounted {
            println!("skipped: mounting a tmpfs is not permitted here");
        }
        mounted.then(|| Self(path))
    }

    fn again(&self, options: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{options}")]).arg(&self.0);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_stops_the_crawl() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let Some(mounted) = Mounted::new(stage.path("disk"), "size=200k") else { return };
    let wanted = wanted(&stage);
    for size in [200, 700, 1100, 1500] {
        mounted.again(&format!("size={size}k"));
        stopped(run(stage.crawl("disk/crawl", &ALL)), &["free some space"]);
    }
    mounted.again("size=200m");
    run(stage.crawl("disk/crawl", &ALL)).expect(0);
    whole(&stage.path("disk/crawl"), &wanted);
}

#[test]
fn a_disk_that_becomes_read_only_stops_the_crawl() {
    let delay = std::time::Duration::from_millis(10);
    let stage = Stage::new(finite(), ServerOptions { delay, ..ServerOptions::default() });
    let Some(mounted) = Mounted::new(stage.path("disk"), "size=200m") else { return };
    let wanted = wanted(&stage);
    mounted.again("ro");
    stopped(run(stage.crawl("disk/crawl", &ALL)), &["make it writable"]);
    mounted.again("rw");
    let mut limited = ALL.to_vec();
    limited.extend(["--max-pages", "50"]);
    run(stage.crawl("disk/crawl", &limited)).expect(0);
    mounted.again("ro");
    stopped(run(stage.crawl("disk/crawl", &ALL)), &["make it writable"]);
    mounted.again("rw");
    run(stage.crawl("disk/crawl", &ALL)).expect(0);
    whole(&stage.path("disk/crawl"), &wanted);
}

#[test]
fn a_crawl_that_cannot_be_written_is_searched_reported_and_exported() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let Some(mounted) = Mounted::new(stage.path("disk"), "size=200m") else { return };
    let crawl = stage.path("disk/crawl");
    run(stage.crawl("disk/crawl", &["--max-pages", "60"])).expect(0);
    mounted.again("ro");
    let before = crate::support::snapshot(&crawl);
    let ask = |words: &[&str]| {
        let mut command = suidao();
        command.arg(words[0]).arg(&crawl).args(&words[1..]);
        command.current_dir(stage.path("")).env("XDG_CACHE_HOME", stage.path("cache"));
        run(command)
    };
    // Built in the user's cache, and used from there the next time.
    let first = ask(&["search", "足球", "--json"]).expect(0);
    assert!(first.err.contains("is read-only"), "{}", first.err);
    let again = ask(&["search", "足球", "--json"]).expect(0);
    assert_eq!((again.out, again.err.as_str()), (first.out, ""));
    ask(&["report"]).expect(0);
    assert!(stage.path("crawl-report.html").exists());
    let ended = ask(&["export", "-o", "pages"]).expect(0);
    assert!(ended.err.contains("cannot refer to this export"), "{}", ended.err);
    // Near-duplicates are left out.
    assert!((50..=60).contains(&std::fs::read_to_string(stage.path("pages.jsonl")).unwrap().lines().count()));
    let seed = std::fs::read_to_string(&stage.seeds).unwrap();
    ask(&["why", seed.lines().next().unwrap()]).expect(0);
    let mut check = suidao();
    check.args(["check", "crawl"]).arg(&crawl);
    run(check).expect(0);
    // An existing index is used where it is.
    mounted.again("rw");
    ask(&["search", "足球"]).expect(0);
    mounted.again("ro");
    let ended = ask(&["search", "足球"]).expect(0);
    assert_eq!(ended.err, "");
    mounted.again("rw");
    std::fs::remove_dir_all(crawl.join("index")).unwrap();
    let after = crate::support::snapshot(&crawl);
    let log = |path: &Path| path.starts_with(crawl.join("state/log"));
    let files = |found: &std::collections::BTreeMap<PathBuf, Vec<u8>>| {
        found.iter().filter(|(path, _)| !log(path)).map(|(path, text)| (path.clone(), text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(files(&after), files(&before));
}
