//! `suidao compare` from end to end: small generated worlds, and output files that are always the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{lexicon_of, run, snapshot, suidao};

const WORLD: &str = "pages = 400\nhosts = 10\nislands = 3\nisland_pages = [20, 30]\n";

const FILES: [&str; 4] = ["curves.csv", "report.html", "summary.csv", "wins.csv"];

/// Two kinds of world and a comparison on two of each.
fn stage() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("one.toml"), WORLD).unwrap();
    fs::write(dir.path().join("two.toml"), format!("{WORLD}seed = 7\nanchor_quality = 0.9\n")).unwrap();
    fs::write(dir.path().join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
    let task = |name: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\nweb = \"world:{name}.toml\"\nlexicon = \"lexicon.toml\"\nrandom_seeds = 2\n"
        )
    };
    let plan =
        "strategies = [\"breadth-first\", \"dth\", \"best-first hard\", \"oracle\"]\npages = 200\ncutoffs = [100]\n";
    fs::write(dir.path().join("plan.toml"), format!("{plan}{}{}", task("one"), task("two"))).unwrap();
    dir
}

fn compare(dir: &Path, args: &[&str]) -> Command {
    let mut command = suidao();
    command.current_dir(dir).args(["compare", "-q"]).args(args);
    command
}

#[test]
fn the_same_comparison_gives_the_same_bytes() {
    let dir = stage();
    let on_threads = |threads: &str, output: &str| {
        let mut command = compare(dir.path(), &["plan.toml", "-o", output]);
        command.env("RAYON_NUM_THREADS", threads);
        run(command).expect(0)
    };
    let (one, two) = (on_threads("1", "out"), on_threads("3", "again/out"));
    assert_eq!(one.out, two.out);
    let read = |path: &str| FILES.map(|file| fs::read(dir.path().join(path).join(file)).unwrap());
    assert!(read("out") == read("again/out"), "files differ");
    let lines: Vec<&str> = one.out.lines().collect();
    assert_eq!(lines[0], "Share of the oracle, median [95% interval] of 4 runs each");
    assert!(lines[2].contains("  100 pages") && lines[2].ends_with("harvest rate, 200 pages"), "{}", one.out);
    for (line, name) in lines[3..].iter().zip(["breadth-first", "dth link-scored", "best-first hard", "oracle"]) {
        assert!(line.starts_with(name) && line.ends_with("%]"), "{}", one.out);
    }
    assert_eq!(lines[6].matches("100.0% [100.0%, 100.0%]").count(), 2, "at both cutoffs: {}", one.out);
    let [curves, report, summary, wins] = read("out").map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(scraper::Html::parse_document(&report).errors.is_empty());
    for expected in
        ["suidao compare plan.toml", "7–8", "known from the generated web", "island recall", "share of the oracle"]
    {
        assert!(report.contains(expected), "{expected}");
    }
    assert!(!report.contains(dir.path().to_str().unwrap()), "no path of this machine");
    for run in ["one,1,breadth-first,100,", "two,8,dth link-scored,200,"] {
        assert!(curves.contains(&format!("\n{run}")), "{curves}");
    }
    assert!(summary.contains("\n,dth link-scored,200,harvest,4,"), "{summary}");
    assert!(wins.contains("\none,200,dth link-scored,breadth-first,"), "{wins}");
    // Another comparison into the same directory replaces the first and leaves nothing else.
    let before: Vec<_> = snapshot(dir.path()).into_keys().collect();
    run(compare(dir.path(), &["plan.toml", "-o", "out", "--strategies", "breadth-first", "--pages", "40"])).expect(0);
    let after: Vec<_> = snapshot(dir.path()).into_keys().collect();
    assert_eq!(before, after);
    assert!(!fs::read_to_string(dir.path().join("out/curves.csv")).unwrap().contains(",dth "));
}

#[test]
fn webs_are_named_on_the_command_line_too() {
    let dir = stage();
    let args = ["world:one.toml", "--pages", "50", "--strategies", "dth queue,breadth-first", "--json"];
    let ended = run(compare(dir.path(), &args)).expect(0);
    let printed: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(printed["facts"]["in_flight"], 1);
    assert_eq!(printed["facts"]["tasks"][0]["lexicon"], "体育");
    let strategies: Vec<&str> =
        printed["wins"].as_array().unwrap().iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    assert_eq!(strategies, ["dth queue", "breadth-first"]);
    assert_eq!(printed["summary"][0]["low"], serde_json::Value::Null, "one run has no interval");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "without -o nothing is written");
}

#[test]
fn what_is_wrong_is_reported_before_anything_runs() {
    let dir = stage();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("line.toml"), "pages = 10\n[[task]]\nname = 'x'\nwebb = 'world:'\n").unwrap();
    fs::write(path("lost.toml"), "[[task]]\nname = 'x'\nweb = 'hosts:lost'\n").unwrap();
    fs::create_dir(path("taken")).unwrap();
    fs::write(path("taken/letter.txt"), "mine").unwrap();
    let before = snapshot(dir.path());
    for (args, expected) in [
        (&["missing.toml"][..], "cannot read missing.toml"),
        (&["line.toml"], "invalid comparison file line.toml: line 4"),
        (&["lost.toml"], "task x"),
        (&["plan.toml", "--strategies", "deep-first"], "url-weight, breadth-first, random, oracle"),
        (&["plan.toml", "--strategies", "dth,dth link-scored"], "given twice"),
        (&["plan.toml", "--pages", "0"], "at least 1"),
        (&["plan.toml", "-m", "x.toml"], "already sets lexicon"),
        (&["plan.toml", "-o", "taken"], "letter.txt"),
        (&["world:", "world:"], "two tasks are named world"),
        (&["plan.toml", "--set", "crawl.in_flight=0"], "crawl.in_flight"),
    ] {
        let ended = run(compare(dir.path(), args)).expect(2);
        assert!(ended.err.contains(expected) && ended.err.lines().count() == 1, "{args:?}: {}", ended.err);
        assert_eq!(ended.out, "");
    }
    assert!(snapshot(dir.path()) == before);
}
