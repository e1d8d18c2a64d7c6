//! All dependencies comply with deny.toml: licences, versions, sources. cargo-deny checks more platforms, and
//! advisories; this test needs no tool and no network.

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

#[test]
fn dependencies_are_those_that_deny_toml_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules: toml::Table = toml::from_str(&std::fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let list = |part: &str, name: &str| rules[part][name].as_array().unwrap().clone();
    // Of the default members: suidao-spider brings what spider needs. Unlike `cargo metadata` it omits what no feature
    // needs.
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["tree", "--locked", "--offline", "--edges", "normal,build,dev"]);
    command.args(["--prefix", "none", "--format", "{p}|{l}"]);
    let output = run(command).expect(0).out;
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
