//! Documentation mentions only what exists: verbs, flags, configuration keys, files of the repository, headings. Public
//! names are unique.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{run, suidao};

/// The pages of documentation, by path within the repository.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)).into();
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Text between backticks, in code blocks and in lines.
fn code(text: &str) -> Vec<String> {
    let (mut found, mut in_block) = (Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            found.push(line.trim().to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string()
}

#[test]
fn commands_have_the_verbs_and_flags_that_docs_give_them() {
    let mut help: HashMap<String, String> = HashMap::new();
    let mut wrong = Vec::new();
    for (path, text) in pages().iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        for line in code(text) {
            let line = line.strip_prefix("$ ").unwrap_or(&line);
            let Some(command) = line.strip_prefix("suidao ") else { continue };
            let end = command.find([';', '|', '>', '#', '…']).unwrap_or(command.len());
            let words: Vec<&str> = command[..end].split_whitespace().collect();
            let is_verb = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
            let nested = ["check", "cluster", "forum", "topic"];
            let depth = if words.first().is_some_and(|verb| nested.contains(verb)) { 2 } else { 1 };
            let verb: Vec<&str> = words.iter().take(depth).take_while(is_verb).copied().collect();
            if matches!(verb[..], ["cluster" | "worker", ..]) && cfg!(not(feature = "cluster")) {
                continue;
            }
            let verb = verb.join(" ");
            let flags = help.entry(verb.clone()).or_insert_with(|| {
                let mut command = suidao();
                command.args(verb.split_whitespace()).arg("--help");
                let ended = run(command);
                if ended.code() == 0 { ended.out } else { String::new() }
            });
            if flags.is_empty() {
                wrong.push(format!("{}: no verb `suidao {verb}`: {line}", name(path)));
            }
            for flag in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                let flag = flag.split(['=', '[', ',']).next().unwrap();
                let is_known = flags.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == flag);
                if !flags.is_empty() && !is_known && flag != "--help" {
                    wrong.push(format!("{}: `suidao {verb}` has no {flag}", name(path)));
                }
            }
        }
    }
    for (verb, help) in &help {
        let order = ["Input:", "Output:", "Limits:", "Politeness:", "Network:", "Configuration:", "Filters:"];
        let headings: Vec<_> =
            help.lines().filter_map(|line| order.iter().position(|heading| line == *heading)).collect();
        if !headings.is_sorted() {
            wrong.push(format!("`suidao {verb} --help` has its groups of flags in another order than {order:?}"));
        }
    }
    assert!(help.len() > 15, "the documentation shows {} verbs only", help.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each system, formula, table and claim of the papers has a command that exists, and a result.
#[test]
fn every_row_about_the_papers_has_a_command_and_a_result() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (text, manifest) = (read("docs/papers.md"), read("Cargo.toml"));
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what |"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows {
        count += 1;
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        if cells.len() < 3 || cells.iter().any(|cell| cell.is_empty()) {
            wrong.push(format!("a cell is empty: {row}"));
        }
        // `suidao` commands are parsed with those of all docs.
        let exists = |command: &String| match command.split_whitespace().collect::<Vec<_>>()[..] {
            ["suidao", ..] => true,
            ["cargo", "bench", "--bench", name, ..] => manifest.contains(&format!("[[bench]]\nname = \"{name}\"")),
            [script, ..] if script.starts_with("benches/") => root.join(script).is_file(),
            _ => false,
        };
        if !cells.get(1).is_some_and(|cell| code(cell).first().is_some_and(exists)) {
            wrong.push(format!("no command that exists: {row}"));
        }
    }
    assert!(count > 40, "{count} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn configuration_keys_of_docs_exist() {
    let mut command = suidao();
    command.args(["check", "config", "--json"]);
    let shown = run(command).expect(0).out;
    let mut keys = BTreeSet::new();
    collect(&serde_json::from_str(&shown).unwrap(), "", &mut keys);
    let sections: BTreeSet<&str> =
        keys.iter().filter_map(|key| key.split_once('.')).map(|(section, _)| section).collect();
    let mut wrong = Vec::new();
    for (path, text) in pages().iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        for word in code(text).iter().flat_map(|code| code.split_whitespace()) {
            let word = word.split('=').next().unwrap();
            let is_key = word.split_once('.').is_some_and(|(section, _)| sections.contains(section))
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || b"._-".contains(&byte));
            let endings = [".csv", ".toml", ".json", ".html", ".log", ".rs", ".md", ".txt", ".xml"];
            if !is_key || keys.contains(word) || endings.iter().any(|ending| word.ends_with(ending)) {
                continue;
            }
            // A key without a default is not printed.
            let mut command = suidao();
            command.args(["check", "config", "--set", &format!("{word}=1")]);
            if run(command).err.contains("unknown field") {
                wrong.push(format!("{}: no key {word}", name(path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The dotted paths of a tree, inner ones too.
fn collect(value: &Value, path: &str, into: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(value, &path, into);
        into.insert(path);
    }
}

#[test]
fn links_between_docs_lead_somewhere() {
    let headings: BTreeMap<PathBuf, BTreeSet<String>> =
        pages().into_iter().map(|(path, text)| (path, text.lines().filter_map(anchor).collect())).collect();
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let Ok(file) = file.canonicalize() else {
                wrong.push(format!("{}: {target} is not there", name(&path)));
                continue;
            };
            let known = headings.iter().find(|(path, _)| path.canonicalize().is_ok_and(|path| path == file));
            if let Some((_, known)) = known.filter(|_| !heading.is_empty())
                && !known.contains(heading)
            {
                wrong.push(format!("{}: {target} has no such heading", name(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The anchor of a heading on the web: lower case, spaces as hyphens, without punctuation.
fn anchor(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let letters = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    Some(letters.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect())
}

#[test]
fn no_two_public_types_share_a_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("crates")];
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                for line in fs::read_to_string(&path).unwrap().lines() {
                    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').take(3).collect();
                    if let ["pub", "struct" | "enum" | "trait" | "type", declaration] = words[..] {
                        declared.entry(declaration.to_owned()).or_default().insert(name(&path));
                    }
                }
            }
        }
    }
    assert!(declared.len() > 200);
    let twice: Vec<_> = declared.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}
