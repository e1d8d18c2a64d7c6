//! `suidao graph` and the figures of the graph export.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Stage, finite, run, suidao, tools};
use suidao::world::{ServerOptions, WebSpec};

fn graph(stage: &Stage, more: &[&str]) -> Command {
    let mut command = suidao();
    command.arg("graph").arg(stage.path("crawl")).arg("-q").args(more);
    command
}

#[test]
fn networkx_finds_the_same_islands_gates_paths_and_ranks() {
    let Some(python) = tools::python("networkx") else { return };
    for (seed, strategy) in [(1, "breadth-first"), (2, "tunnel"), (3, "best-first")] {
        let stage = Stage::new(WebSpec { seed, ..finite() }, ServerOptions::default());
        run(stage.crawl("crawl", &["--strategy", strategy, "--max-pages", "250"])).expect(0);
        for (format, name) in [("jsonl", "pages.jsonl"), ("graph", "links.graphml")] {
            let mut export = suidao();
            export.arg("export").arg(stage.path("crawl")).args([
                "--where",
                "listings:yes",
                "-q",
                "--format",
                format,
                "-o",
            ]);
            run({
                export.arg(stage.path(name));
                export
            })
            .expect(0);
        }
        fs::write(stage.path("graph.json"), run(graph(&stage, &["--json"])).expect(0).out).unwrap();
        let mut check = Command::new(&python);
        check.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graph.py"));
        check.args(["pages.jsonl", "links.graphml", "graph.json"].map(|name| stage.path(name)));
        let ended = run(check);
        match ended.code() {
            77 => tools::missing(ended.out.trim()),
            _ => print!("{}", ended.expect(0).out),
        }
    }
}

#[test]
fn the_graph_of_a_crawl_is_printed_drawn_and_its_gates_are_seeds() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--strategy", "breadth-first", "--max-pages", "400"])).expect(0);
    let (html, gates) = (stage.path("graph.html"), stage.path("gates.txt"));
    let paths = [html.to_str().unwrap(), gates.to_str().unwrap()];
    let flags = ["-o", paths[0], "--gates-as-seeds", paths[1]];
    let text = run(graph(&stage, &flags)).expect(0).out;
    assert!(
        text.contains("islands of relevant pages") && text.contains("k = 0") && text.contains("gate: http"),
        "{text}"
    );
    let (first, seeds) = (fs::read(&html).unwrap(), fs::read_to_string(&gates).unwrap());
    run(graph(&stage, &flags)).expect(0);
    assert!(first == fs::read(&html).unwrap(), "the same crawl gives the same bytes");
    let listed = seeds.lines().filter(|line| line.starts_with("http://")).count();
    assert!(listed > 0 && seeds.starts_with("# Gates"), "{seeds}");
    let file = stage.path("hosts.dot");
    run(graph(&stage, &["-o", file.to_str().unwrap()])).expect(0);
    let dot = fs::read_to_string(&file).unwrap();
    assert!(dot.starts_with("graph hosts {") && dot.contains(" -- ") && dot.ends_with("}\n"), "{dot}");
    let text = stage.path("hosts.txt");
    let message = run(graph(&stage, &["-o", text.to_str().unwrap()])).expect(2).err;
    assert!(message.contains(".dot") && !text.exists(), "{message}");
    let mut again = suidao();
    again.arg("crawl").arg("-m").arg(&stage.lexicon).arg("-s").arg(&gates).arg("-o").arg(stage.path("again"));
    again.args(["--max-pages", "20", "--dry-run"]);
    run(again).expect(0);

    let empty = tempfile::tempdir().unwrap();
    let mut nothing = suidao();
    nothing.arg("graph").arg(empty.path());
    run(nothing).expect(2);
}
