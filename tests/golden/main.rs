//! Digests of decisions: the events of crawls of generated webs, without times, and what is read from their pages. A
//! refactoring does not change them; a change of behaviour is a commit with a reason, and with digests rewritten by
//! `SUIDAO_GOLDEN=write cargo test --test golden`.
#![allow(clippy::unwrap_used)] // for tests

mod crawls;
mod reading;

use std::fmt::Write as _;

use xxhash_rust::xxh3::Xxh3;

/// Compares digests with those in `tests/golden/FILE`, or writes them there.
fn compare(file: &str, digests: &[(String, u64)]) {
    let text = digests.iter().fold(String::new(), |mut text, (name, digest)| {
        writeln!(text, "{digest:016x} {name}").unwrap();
        text
    });
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("SUIDAO_GOLDEN").is_some_and(|word| word == "write") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<&str> = text.lines().filter(|line| !known.lines().any(|known| known == *line)).collect();
    assert!(changed.is_empty() && text == known, "other digests than in {}:\n{}", path.display(), changed.join("\n"));
}

/// Digest of a sequence of records without terminators.
fn digest<B: AsRef<[u8]>>(records: impl IntoIterator<Item = B>) -> u64 {
    let mut digest = Xxh3::new();
    for record in records {
        let bytes = record.as_ref();
        digest.update(&(bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    }
    digest.digest()
}
