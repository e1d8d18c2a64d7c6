//! All dependencies comply with deny.toml: licences, versions, sources. cargo-deny checks more platforms, and
//! advisories; these tests need no tool and no network. Each dependency is used, and the crates that everybody compiles
//! are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::support::run;

/// Evaluates an SPDX expression, in which `/` is an old form of OR.
fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest, is_allowed) && rest.is_empty()
}

fn any(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut holds = all(rest, is_allowed);
    while let ["OR", behind @ ..] = *rest {
        *rest = behind;
        holds |= all(rest, is_allowed);
    }
    holds
}

fn all(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut holds = one(rest, is_allowed);
    while let ["AND", behind @ ..] = *rest {
        *rest = behind;
        holds &= one(rest, is_allowed);
    }
    holds
}

fn one(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let words = *rest;
    match words {
        ["(", behind @ ..] => {
            *rest = behind;
            let holds = any(rest, is_allowed);
            let is_closed = rest.first() == Some(&")");
            *rest = rest.get(1..).unwrap_or_default();
            holds && is_closed
        }
        [name, "WITH", exception, behind @ ..] => {
            *rest = behind;
            is_allowed(&format!("{name} WITH {exception}"))
        }
        [name, behind @ ..] => {
            *rest = behind;
            is_allowed(name)
        }
        [] => false,
    }
}

#[test]
fn licence_expressions_are_understood() {
    let is_allowed = |name: &str| ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&name);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("MIT/GPL-3.0", true),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("GPL-3.0 AND GPL-2.0 OR MIT", true),
        ("GPL-3.0 AND (GPL-2.0 OR MIT)", false),
        ("ISC AND (GPL-2.0 OR MIT)", true),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
        ("Apache-2.0", false),
        ("(MIT", false),
        ("MIT MIT", false),
        ("", false),
    ] {
        assert_eq!(holds(expression, &is_allowed), expected, "{expression}");
    }
}

/// Lines of `cargo tree`.
fn tree(flags: &[&str]) -> String {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["tree", "--locked", "--offline", "--prefix", "none"]);
    command.args(flags);
    run(command).expect(0).out
}

/// Whoever tries the program compiles all of them first, so a new one is a decision.
#[test]
fn the_crates_of_the_default_build_are_listed() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/safety/default_crates.txt");
    let lines = tree(&["--edges", "normal,build", "--target", "x86_64-unknown-linux-gnu", "--format", "{p}"]);
    let crates: BTreeSet<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
    if std::env::var("SUIDAO_GOLDEN").is_ok_and(|value| value == "write") {
        let text: String = crates.iter().map(|name| format!("{name}\n")).collect();
        return std::fs::write(list, text).unwrap();
    }
    let text = std::fs::read_to_string(list).unwrap();
    let listed: BTreeSet<&str> = text.lines().collect();
    let (more, fewer) = (crates.difference(&listed), listed.difference(&crates));
    assert!(
        crates == listed,
        "The default build has other crates than tests/safety/default_crates.txt: more {:?}, fewer {:?}.\n\
         If they are worth the time of everybody who compiles suidao, write the list: \
         SUIDAO_GOLDEN=write cargo test --test safety the_crates_of_the_default_build",
        more.collect::<Vec<_>>(),
        fewer.collect::<Vec<_>>(),
    );
}

/// Otherwise a change in one crate and its tests compile half of the dependencies a second time.
#[test]
fn builds_and_the_tests_of_one_crate_take_what_is_compiled_for_all() {
    let flags = ["--edges", "normal,build,dev", "--no-dedupe", "--format", "{p} {f}"];
    let crates_of = |flags: &[&str]| -> BTreeSet<String> {
        let lines = tree(flags);
        let foreign = lines.lines().filter(|line| !line.starts_with("suidao"));
        foreign.map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
    };
    let all = crates_of(&flags);
    let built = crates_of(&["--edges", "normal,build", "--no-dedupe", "--format", "{p} {f}"]);
    let mut others: Vec<String> = built.difference(&all).map(|line| format!("cargo build: {line}")).collect();
    for entry in Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Built with features of their own.
        if ["suidao-cluster", "suidao-spider", "suidao-features"].contains(&name.as_str()) {
            continue;
        }
        let own = crates_of(&[&flags[..], &["--package", &name]].concat());
        others.extend(own.difference(&all).map(|line| format!("{name}: {line}")));
    }
    assert!(
        others.is_empty(),
        "`cargo build` or `cargo test -p` compiles these with other features than `cargo test`; \
         correct their features in crates/suidao-features/Cargo.toml:\n{}",
        others.join("\n")
    );
}

/// Dependencies that are there for a feature of theirs.
const FEATURES_ONLY: [&str; 2] = ["getrandom", "suidao-features"];

#[test]
fn each_dependency_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut packages: Vec<_> = root.join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    packages.push(root.to_owned());
    let mut unused = Vec::new();
    for package in packages {
        if package.ends_with("suidao-features") {
            continue;
        }
        let manifest: toml::Table =
            toml::from_str(&std::fs::read_to_string(package.join("Cargo.toml")).unwrap()).unwrap();
        for (kind, folders) in
            [("dependencies", &["src"][..]), ("dev-dependencies", &["src", "tests", "benches", "examples"])]
        {
            let code: String = folders.iter().map(|folder| code_in(&package.join(folder))).collect();
            let words: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let names = manifest.get(kind).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
            let is_unused =
                |name: &&String| !words.contains(&*name.replace('-', "_")) && !FEATURES_ONLY.contains(&name.as_str());
            unused.extend(names.filter(is_unused).map(|name| format!("{}: {name}", package.display())));
        }
    }
    assert!(unused.is_empty(), "declared in Cargo.toml and used nowhere: {unused:?}");
}

/// The text of all Rust files below a folder.
fn code_in(folder: &Path) -> String {
    let Ok(entries) = folder.read_dir() else { return String::new() };
    let text = |path: std::path::PathBuf| match path.is_dir() {
        true => code_in(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => std::fs::read_to_string(path).unwrap(),
        false => String::new(),
    };
    entries.map(|entry| text(entry.unwrap().path())).collect()
}

#[test]
fn dependencies_are_those_that_deny_toml_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules: toml::Table = toml::from_str(&std::fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let list = |part: &str, name: &str| rules[part][name].as_array().unwrap().clone();
    // Of the default members: suidao-spider brings what spider needs. Unlike `cargo metadata` it omits what no feature
    // needs.
    let output = tree(&["--edges", "normal,build,dev", "--all-features", "--format", "{p}|{l}"]);
    let packages: BTreeSet<(&str, &str)> =
        output.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|')).collect();
    let mut wrong = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (package, licence) in &packages {
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap(), words.next().unwrap().trim_start_matches('v'));
        let own = words.find(|word| *word != "(proc-macro)");
        if own.is_some_and(|source| !Path::new(source.trim_matches(['(', ')'])).starts_with(root)) {
            wrong.push(format!("{package} is from no registry"));
        }
        let excepted = list("licenses", "exceptions").into_iter().filter(|entry| entry["crate"].as_str() == Some(name));
        let allowed: Vec<toml::Value> = excepted
            .flat_map(|entry| entry["allow"].as_array().unwrap().clone())
            .chain(list("licenses", "allow"))
            .collect();
        if !holds(licence, &|licence| allowed.iter().any(|one| one.as_str() == Some(licence))) {
            wrong.push(format!("{name}: the licence is {licence:?}"));
        }
        if list("bans", "deny").iter().any(|banned| banned["crate"].as_str() == Some(name)) {
            wrong.push(format!("{name} is banned"));
        }
        // "name@0.11" is every 0.11.x.
        let is_skipped = list("bans", "skip").iter().any(|entry| {
            let (skipped, most) = entry["crate"].as_str().unwrap().split_once('@').unwrap();
            skipped == name && version.starts_with(&format!("{most}."))
        });
        if !is_skipped {
            versions.entry(name).or_default().insert(version);
        }
    }
    let twice = versions.iter().filter(|(_, versions)| versions.len() > 1);
    wrong.extend(twice.map(|(name, versions)| format!("{name} comes more than once: {versions:?}")));
    assert!(packages.len() > 100 && wrong.is_empty(), "{}", wrong.join("\n"));
}
