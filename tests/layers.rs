//! The house keeps its order: a file uses lower layers and its own room, layers 0 to 5 touch neither disk nor network
//! nor clock, and no file grows into one that nobody reads. The code itself is read; test code may do what it likes.
#![allow(clippy::unwrap_used)] // test helpers may

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the lowest layer up. Rooms of one row are one layer and may use each other where the row says so.
const LAYERS: [(&[&str], bool); 13] = [
    (&["visible"], false),
    (&["model", "html"], false),
    (&["read", "text", "topic"], true), // reading scores as it goes, so that no text is segmented twice
    (&["forum", "revisit", "trap"], false),
    (&["strategy", "plot"], false),
    (&["crawl"], false),
    (&["fetch", "listen", "store"], false),
    (&["config", "replay", "corpus"], false),
    (&["live", "world", "export", "index"], false),
    (&["eval", "experiments"], false),
    (&["recorded", "report", "label", "serve", "repair", "status"], false),
    (&["lib"], false),
    (&["cli", "main"], true),
];

/// Layers 0 to 5: pure.
const PURE: usize = 6;

/// What is never mentioned there.
const IMPURE: [&str; 12] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::thread",
    "std::process",
    "tokio",
    "reqwest",
    "sled",
    "SystemTime",
    "Instant",
    "println!",
    "HashMap<",
];

/// A file of src without its tests and comments.
struct Source {
    path: PathBuf,
    room: String,
    code: Vec<(usize, String)>,
}

impl Source {
    fn layer(&self) -> usize {
        layer(&self.room).unwrap_or_else(|| panic!("{}: no layer for this room", self.path.display()))
    }

    fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }
}

fn layer(room: &str) -> Option<usize> {
    LAYERS.iter().position(|(rooms, _)| rooms.contains(&room))
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Files that are test code as a whole: declared behind `#[cfg(test)]` by the file above them.
fn test_files(all: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for path in all {
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]") {
            if let Some(name) = pair[1]
                .trim()
                .trim_start_matches("pub(crate) ")
                .strip_prefix("mod ")
                .and_then(|rest| rest.strip_suffix(';'))
            {
                let inside = path.with_extension("").join(format!("{name}.rs"));
                found.insert(path.with_file_name(format!("{name}.rs")));
                found.insert(inside);
            }
        }
    }
    found
}

fn sources() -> Vec<Source> {
    let mut all = Vec::new();
    files(&src(), &mut all);
    all.sort();
    assert!(all.len() > 50, "src is not where it was");
    let tests = test_files(&all);
    let code = all.into_iter().filter(|path| !tests.contains(path)).map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let mut code = Vec::new();
        let mut lines = (1..).zip(text.lines()).peekable();
        while let Some((number, line)) = lines.next() {
            // Test modules stand at the end of a file; single test items may stand before.
            let tests = line.trim() == "#[cfg(test)]";
            if tests && lines.peek().is_some_and(|(_, next)| next.contains("mod tests {")) {
                break;
            }
            if !line.trim_start().starts_with("//") {
                code.push((number, line.to_owned()));
            }
        }
        let inner = path.strip_prefix(src()).unwrap();
        let room = inner.components().next().unwrap().as_os_str().to_string_lossy();
        Source { room: room.trim_end_matches(".rs").to_owned(), path: inner.to_owned(), code }
    });
    code.collect()
}

/// Names of rooms after `crate::` or, in the binary, `suidao::`.
fn used(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for root in ["crate::", "suidao::"] {
        for (at, _) in line.match_indices(root) {
            let rest = &line[at + root.len()..];
            assert!(!rest.starts_with('{'), "one use for each room: {line}");
            names.push(rest.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect());
        }
    }
    names
}

#[test]
fn a_file_uses_lower_layers_and_its_own_room() {
    let mut wrong = Vec::new();
    for source in sources() {
        let own = source.layer();
        for (number, line) in &source.code {
            for name in used(line).into_iter().filter(|name| *name != source.room) {
                // Macros and items of the crate's root have no room; there are none so far.
                let Some(other) = layer(&name) else {
                    wrong.push(format!("{}: {name} is no room", source.at(*number)));
                    continue;
                };
                if other > own || (other == own && !LAYERS[own].1) {
                    wrong.push(format!("{}: {} uses {name}, which lies above", source.at(*number), source.room));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_lower_layers_touch_no_disk_network_or_clock() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.layer() < PURE) {
        for (number, line) in &source.code {
            let named = |word: &&&str| {
                line.match_indices(**word)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            wrong.extend(IMPURE.iter().filter(named).map(|word| format!("{}: {word}", source.at(*number))));
        }
    }
    assert!(
        wrong.is_empty(),
        "layers 0 to 5 do no I/O, read no clock, and keep no order of chance:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_engine_stays_in_the_store() {
    for source in sources().iter().filter(|source| source.room != "store") {
        for (number, line) in &source.code {
            assert!(!line.contains("sled::"), "{}: no sled type outside store/", source.at(*number));
        }
    }
}

#[test]
fn no_file_is_longer_than_600_lines() {
    for source in sources() {
        let last = source.code.last().map_or(0, |(number, _)| *number);
        assert!(last <= 600, "{}: {last} lines before its tests; find the two rooms in it", source.path.display());
    }
}

#[test]
fn nothing_is_unwrapped_outside_of_tests() {
    for source in sources() {
        for (number, line) in &source.code {
            assert!(!line.contains(".unwrap()"), "{}: expect() with the invariant, or an error", source.at(*number));
        }
    }
}

#[test]
fn no_room_for_odds_and_ends() {
    for source in sources() {
        for part in source.path.with_extension("").components() {
            let name = part.as_os_str().to_string_lossy();
            let odd = ["utils", "util", "common", "manager", "helper", "helpers", "misc"].contains(&&*name);
            assert!(!odd, "{}: name it for what it is", source.path.display());
        }
    }
}
