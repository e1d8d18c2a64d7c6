//! `suidao report` and `suidao label` on a crawl of a generated web.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::chinese::assert_chinese;
use crate::support::{Stage, finite, run, suidao};

fn crawled(pages: &str) -> Stage {
    let stage = Stage::new(finite(), suidao::world::ServerOptions::default());
    run(stage.crawl("out", &["--max-pages", pages])).expect(0);
    stage
}

fn report(dir: &Path, more: &[&str]) -> Command {
    let mut command = suidao();
    command.arg("report").arg(dir).args(more);
    command
}

/// `suidao label` with these answers on standard input.
fn label(stage: &Stage, answers: &str, more: &[&str]) -> Output {
    let mut command = suidao();
    command.arg("label").arg(stage.path("out")).arg("-m").arg(&stage.lexicon).args(more);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn a_report_agrees_with_the_crawl_and_is_the_same_each_time() {
    let stage = crawled("200");
    let dir = stage.path("out");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&run(report(&dir, &["--json"])).expect(0).out).unwrap();
    assert_eq!(facts["counts"]["pages"], summary["pages"]);
    assert_eq!(facts["counts"]["relevant"], summary["relevant"]);
    assert_eq!(facts["counts"]["known"], summary["known"]);
    assert_eq!(facts["counts"]["failed"], summary["failed"]);
    assert_eq!(facts["queue"]["waiting"], summary["queued"]);
    assert_eq!(facts["hosts"]["visited"], summary["hosts_visited"]);
    let by_hops = facts["tunnels"]["by_hops"].as_array().unwrap();
    let relevant: u64 = by_hops.iter().map(|pages| pages.as_u64().unwrap()).sum();
    assert_eq!(relevant, summary["relevant"].as_u64().unwrap());
    let refused = facts["counts"]["skipped"].as_u64().unwrap() + facts["counts"]["failed"].as_u64().unwrap();
    let skipped = fs::read_to_string(dir.join("skipped.csv")).unwrap();
    assert_eq!(skipped.lines().count() as u64 - 1, refused, "as many as skipped.csv lists");

    run(report(&dir, &[])).expect(0);
    let first = fs::read(dir.join("report.html")).unwrap();
    run(report(&dir, &["-o", stage.path("again.html").to_str().unwrap()])).expect(0);
    assert!(first == fs::read(stage.path("again.html")).unwrap());
    assert!(String::from_utf8(first).unwrap().contains("Failed and skipped"));
}

#[test]
fn a_poor_harvest_is_told_with_the_next_step() {
    let stage = Stage::new(finite(), suidao::world::ServerOptions::default());
    let strict = ["--strategy", "breadth-first", "--max-pages", "320", "--set", "crawl.page_threshold=0.9"];
    let ended = run(stage.crawl("out", &strict)).expect(0);
    let dir = stage.path("out");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    let relevant = summary["relevant"].as_u64().unwrap();
    assert_eq!(summary["harvest_trouble"]["low"]["relevant"].as_u64(), Some(relevant), "{summary:#}");
    let told =
        format!("Only {relevant} of 320 pages are relevant. Label some (suidao label {} --pages 30)", dir.display());
    assert!(ended.err.contains(&told), "{}", ended.err);
    run(report(&dir, &[])).expect(0);
    assert!(fs::read_to_string(dir.join("report.html")).unwrap().contains("suidao label DIR --pages 30"));
    // Neither a short crawl nor a good one is told anything.
    for (name, more) in [
        ("short", ["--max-pages", "100", "--set", "crawl.page_threshold=0.9"]),
        ("good", ["--max-pages", "320", "--set", "crawl.seed=1"]),
    ] {
        let ended = run(stage.crawl(name, &more)).expect(0);
        assert!(!ended.err.contains("are relevant."), "{name}: {}", ended.err);
    }
}

#[test]
fn a_chinese_report_and_graph_show_no_english() {
    let stage = crawled("300");
    let (dir, file) = (stage.path("out"), stage.path("zh.html"));
    let in_chinese = |verb: &str| {
        let mut command = suidao();
        command.arg(verb).arg(&dir).arg("-o").arg(&file).env("LC_ALL", "zh_CN.UTF-8");
        run(command).expect(0);
        fs::read_to_string(&file).unwrap()
    };
    let report = in_chinese("report");
    for text in ["每条：从该字数到下一档", "其他", "中文", "失败原因", "跳过原因"] {
        assert!(report.contains(text), "{text}");
    }
    assert_chinese("report", &report, &[]);
    assert_chinese("graph", &in_chinese("graph"), &[]);
}

#[test]
fn a_report_needs_a_crawl_with_pages() {
    let empty = tempfile::tempdir().unwrap();
    let output = run(report(empty.path(), &[])).expect(2);
    assert!(output.err.contains("contains no crawl"), "{}", output.err);
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "nothing is left there");
}

#[test]
fn answers_are_saved_undone_and_not_asked_again() {
    let stage = crawled("150");
    let file = stage.path("out").join("labels.tsv");
    let output = label(&stage, "y\nperhaps\no\nn\nu\ns\ny\nq\n", &["--pages", "20"]);
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}");
    assert!(out.contains("1 of 20") && out.contains("y: yes, n: no"), "{out}");
    assert!(out.contains("2 pages labelled. Estimates appear after 48 more"), "{out}");
    let lines = |text: &str| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    };
    let first = lines(&fs::read_to_string(&file).unwrap());
    let stated: Vec<&str> = first.iter().map(|line| line[1].as_str()).collect();
    assert_eq!(stated, ["yes", "yes"], "the no was taken back, the page then skipped");

    let output = label(&stage, &"n\n".repeat(99), &["--pages", "20"]);
    assert!(output.status.success());
    let all = lines(&fs::read_to_string(&file).unwrap());
    assert_eq!(all.len(), 20);
    assert_eq!(all[..2], first[..]);
    let urls: std::collections::BTreeSet<&String> = all.iter().map(|line| &line[0]).collect();
    assert_eq!(urls.len(), 20, "no page twice");
    let again = label(&stage, "y\n", &["--pages", "20"]);
    assert!(String::from_utf8(again.stdout).unwrap().contains("are labelled already"));

    fs::write(&file, "no label\n").unwrap();
    let output = label(&stage, "y\n", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("labels.tsv, line 1"));
}

#[test]
fn another_program_labels() {
    let stage = crawled("150");
    let next = |more: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&label(&stage, "", &[&["--next=3", "--pages", "20"], more].concat()).stdout).unwrap()
    };
    let first = next(&[]);
    assert_eq!((&first["labelled"], &first["left"]), (&0.into(), &20.into()));
    let pages = first["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 3);
    assert!(pages.iter().all(|page| !page["excerpt"].as_array().unwrap().is_empty()), "{first}");
    let [one, two] = [0, 1].map(|at| pages[at]["url"].as_str().unwrap());
    let then = next(&["--yes", one, "--no", two]);
    assert_eq!((&then["labelled"], &then["pages"][0]), (&2.into(), &pages[2]));
    let summary: serde_json::Value = serde_json::from_slice(&label(&stage, "", &["--json"]).stdout).unwrap();
    assert_eq!((&summary["labelled"], summary["pages"].as_u64() > Some(20)), (&2.into(), true));
    let changed = label(&stage, "", &["--yes", two, "--yes", "http://nowhere.cn/"]);
    assert_eq!(changed.status.code(), Some(2));
    assert!(String::from_utf8(changed.stderr).unwrap().contains("take URLs from --next"));
    let lines = fs::read_to_string(stage.path("out").join("labels.tsv")).unwrap();
    assert_eq!(lines.lines().count(), 2, "nothing is saved if one URL is unknown");
}

#[test]
fn with_every_page_judged_the_estimates_are_the_truth() {
    let stage = crawled("120");
    label(&stage, &"y\n".repeat(120), &["--pages", "9999"]);
    let estimates = || -> serde_json::Value { serde_json::from_slice(&label(&stage, "", &["--json"]).stdout).unwrap() };
    let output = estimates();
    // A lower threshold than the crawl's is accepted.
    let file = stage.path("out").join("labels.tsv");
    let threshold = output["threshold"].as_f64().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let answer = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let relevance: f64 = fields[2].parse().unwrap();
        let yes = relevance >= threshold / 2.0;
        (
            yes,
            relevance >= threshold,
            [fields[0], if yes { "yes" } else { "no" }, fields[2], fields[3]].join("\t") + "\n",
        )
    };
    let answers: Vec<(bool, bool, String)> = text.lines().map(answer).collect();
    fs::write(&file, answers.iter().map(|(_, _, line)| line.as_str()).collect::<String>()).unwrap();
    let output = estimates();
    // Of duplicates only one is shown.
    let judged = serde_json::json!(answers.len());
    assert_eq!((&output["labelled"], &output["pages"]), (&judged, &judged));
    assert!(answers.len() > 100, "{}", answers.len());
    let relevant = answers.iter().filter(|(yes, ..)| *yes).count() as f64;
    let found = answers.iter().filter(|(yes, above, _)| *yes && *above).count() as f64;
    assert_eq!(output["relevant"]["value"].as_f64(), Some(relevant));
    assert!((output["recall"]["value"].as_f64().unwrap() - found / relevant).abs() < 1e-9);
}
