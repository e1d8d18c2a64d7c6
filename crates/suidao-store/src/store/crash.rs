//! Tests of crash safety: a child process crawls and is killed; what it acknowledged must be there, the archive must be
//! readable, and after resuming no page is there twice. Also full disks and damaged files.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::fixture::*;
use super::*;

const PAGES: u32 = 400;
const ROTATE_AT: u64 = 300_000;

/// Crawls the missing ones of [`PAGES`] in the directory of `SUIDAO_CRASH_DIR` and prints the number of durable
/// batches.
#[test]
#[ignore = "the child process of the other tests"]
fn child() {
    let Ok(root) = std::env::var("SUIDAO_CRASH_DIR") else { return };
    let pages = std::env::var("SUIDAO_CRASH_PAGES").ok().and_then(|pages| pages.parse().ok()).unwrap_or(PAGES);
    let (store, archive) = resume(Path::new(&root), ROTATE_AT).unwrap();
    let first = u32::try_from(store.len()).unwrap();
    #[allow(clippy::disallowed_methods)] // to the test that started it
    let mut out = std::io::stdout();
    let writer = Writer::spawn(store, archive, move |notice| {
        writeln!(out, "{notice:?}").unwrap();
        out.flush().unwrap();
    });
    let writer = writer.unwrap();
    for n in first..pages {
        if writer.submit(Work { batch: batch(n, 3), response: Some(warc_entry(n, 5000)) }).is_err() {
            break;
        }
    }
    match writer.finish() {
        Ok(_) => println!("Done"),
        Err(error) => println!("Error {error}"),
    }
}

fn child_command() -> Vec<String> {
    let exe = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    [&exe, "--exact", "store::crash::child", "--ignored", "--nocapture", "--test-threads=1"].map(String::from).into()
}

fn durable(line: &str) -> Option<u64> {
    // The test harness prints its own text before the first notice, on the same line.
    let (_, rest) = line.split_once("Durable(")?;
    rest.trim_end().strip_suffix(')')?.parse().ok()
}

/// Checks what must always hold: no gap in the batches, each with its page, and no other page in the archive.
fn check(root: &Path, acknowledged: u64) -> u64 {
    // After resuming, the archive holds nothing that the log lacks.
    let (store, archive) = resume(root, ROTATE_AT).unwrap();
    drop(archive);
    let mut reader = ArchiveReader::new(store.directory(), 1 << 20);
    let (mut whole, mut all) = (Vec::new(), Vec::new());
    for (n, record) in store.batches().enumerate() {
        let record = record.unwrap();
        let n = u32::try_from(n).unwrap();
        assert_eq!(record.batch, batch(n, 3));
        let revisit = warc_entry(n, 5000).is_revisit();
        assert_eq!((record.archive.is_some(), record.revisit), (true, revisit));
        if let Some(location) = record.response() {
            assert_eq!(reader.read_at(location).unwrap(), fetched(n, 5000));
            whole.push(url(n).to_string());
        }
        all.push((if revisit { "revisit" } else { "response" }, url(n).to_string()));
    }
    assert!(store.len() >= acknowledged, "{} batches, {acknowledged} acknowledged", store.len());
    let archived: Vec<String> = archived(root).into_iter().flat_map(|(_, urls)| urls).collect();
    assert_eq!(archived, whole, "each page once, in order");
    assert!(
        responses(root).iter().map(|(kind, url)| (kind.as_str(), url.clone())).eq(all),
        "each response once, in order"
    );
    store.len()
}

#[test]
fn kills_lose_nothing_acknowledged_and_keep_no_page_twice() {
    let root = tempfile::tempdir().unwrap();
    let command = child_command();
    let mut moments = BTreeSet::new();
    let mut acknowledged = 0;
    // Each child is killed a little later after its first notice than the one before.
    for round in 0.. {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .env("SUIDAO_CRASH_DIR", root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut done = false;
        for line in lines.by_ref().map_while(Result::ok) {
            done |= line.contains("Done");
            if let Some(number) = durable(&line) {
                acknowledged = acknowledged.max(number);
                // A busy loop of uneven length, so that the kill falls between and inside the writes.
                for spin in 0..(round % 5) * 60_000u64 {
                    std::hint::black_box(spin);
                }
                if round < 12 {
                    child.kill().unwrap();
                }
            }
        }
        child.wait().unwrap();
        moments.insert(check(root.path(), acknowledged));
        if done {
            break;
        }
        assert!(round < 100, "the crawl does not come to its end");
    }
    assert_eq!(moments.last(), Some(&u64::from(PAGES)));
    assert!(moments.len() > 1, "no kill came before the end: {moments:?}");
    assert!(archived(root.path()).len() > 1, "several files");
}

/// A file-size limit simulates a full disk: writes to archive or log fail at some byte.
#[test]
#[cfg(unix)]
fn a_full_disk_stops_the_crawl_and_loses_nothing() {
    let mut failed = BTreeSet::new();
    // The size of a block differs between shells (512 or 1024 bytes).
    for blocks in [100, 300, 560, 700] {
        let root = tempfile::tempdir().unwrap();
        let run = |limit: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("trap '' XFSZ; {limit} exec \"$@\""), "sh"]).args(child_command());
            let output = command.env("SUIDAO_CRASH_DIR", root.path()).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let text = run(&format!("ulimit -f {blocks};"));
        let acknowledged = text.lines().filter_map(durable).max().unwrap_or(0);
        if let Some((_, error)) = text.split_once("Error ") {
            assert!(text.contains("Failed") && error.contains("raise the file size limit"), "{text}");
            failed.insert(if error.contains("/pages/") { "pages" } else { "state" });
        } else {
            assert!(text.contains("Done"), "{text}");
        }
        check(root.path(), acknowledged);
        assert!(run("").contains("Done"));
        assert_eq!(check(root.path(), u64::from(PAGES)), u64::from(PAGES));
    }
    assert!(!failed.is_empty(), "no limit was reached");
}

#[test]
#[cfg(unix)]
fn a_directory_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    drop(crawl(root.path(), 0..3, 100, ROTATE_AT));
    let dir = CrawlDirectory::new(root.path());
    let set = |mode| {
        for path in [dir.pages(), dir.state(), dir.root().to_owned()] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    if std::fs::write(root.path().join("probe"), "").is_ok() {
        eprintln!("skipped: this user (root?) can write to read-only files");
        return;
    }
    std::fs::set_permissions(dir.state().join("lock"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let message = resume(root.path(), ROTATE_AT).unwrap_err().to_string();
    let other = CrawlDirectory::new(root.path().join("new"));
    let begun = Store::resume(&other, &meta(), "test").unwrap_err().to_string();
    set(0o755);
    assert!(message.contains("lock") && message.contains("make it writable"), "{message}");
    assert!(begun.contains("new") && begun.contains("make it writable"), "{begun}");
}

#[test]
fn a_damaged_log_is_reported_and_not_resumed() {
    let root = tempfile::tempdir().unwrap();
    drop(crawl(root.path(), 0..200, 100, ROTATE_AT));
    let dir = CrawlDirectory::new(root.path());
    let whole = std::fs::read(dir.log().join("db")).unwrap();
    let file = std::fs::read(dir.batches()).unwrap();
    let all: Vec<Record> = Store::open(&dir).unwrap().batches().map(Result::unwrap).collect();
    let read = |bytes: &[u8], keep_file: bool| {
        std::fs::write(dir.batches(), if keep_file { &file[..] } else { b"" }).unwrap();
        // The engine keeps its position in other files, which match only the complete one.
        for entry in std::fs::read_dir(dir.log()).unwrap().map(Result::unwrap) {
            if entry.file_name().to_string_lossy().starts_with("snap") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        std::fs::write(dir.log().join("db"), bytes).unwrap();
        let store = Store::resume(&dir, &meta(), "test")?;
        store.batches().collect::<Result<Vec<_>, _>>()
    };
    let mut result = 0;
    for (round, from) in (0..whole.len()).step_by(whole.len() / 20).enumerate() {
        let mut bytes = whole.clone();
        bytes[from..whole.len().min(from + 2000)].fill(if round % 2 == 0 { 0xA5 } else { 0 });
        assert!(read(&bytes, true).unwrap() == all, "{from}: rebuilt from the file");
        match read(&bytes, false) {
            Ok(read) => assert!(read == all, "{from}"),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("state/log") && message.contains("restore"), "{message}");
                result += 1;
            }
        }
    }
    assert!(read(&whole, false).unwrap() == all, "the whole file reads still");
    assert!(result > 5, "{result}");
}
