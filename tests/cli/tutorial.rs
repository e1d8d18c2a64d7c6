//! Runs every command of docs/tutorial.md, in order, in an empty directory.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::tools::is_for_ci;
use crate::support::unused_port;

/// Background processes, ended with their group however the test ends.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", "--", &format!("-{}", self.0.id())]).status();
        let _ = self.0.wait();
    }
}

/// The lines of the page's shell blocks.
fn commands() -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

#[test]
fn every_command_of_the_tutorial_works() {
    if is_for_ci("every command of the tutorial") {
        return;
    }
    let commands = commands();
    assert!(commands.len() >= 15 && commands.iter().all(|line| line.contains("suidao ")), "{commands:?}");
    let (web, site) = (unused_port().to_string(), unused_port().to_string());
    let mut script = String::from("set -eu\n");
    for line in &commands {
        let line = line.replace("8080", &web).replace("8090", &site);
        script += &format!("echo '== {}'\n{line}\n", line.replace('\'', ""));
        if line.ends_with('&') {
            // As a reader would, wait until it is ready.
            let port = if line.contains("practice") { &web } else { &site };
            script += &format!(
                "for i in $(seq 300); do if (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; then break; fi; sleep 0.1; done\n"
            );
            if port == &web {
                script += "for i in $(seq 300); do if [ -e web/queries.txt ]; then break; fi; sleep 0.1; done\n";
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tutorial.sh"), script).unwrap();
    let log = fs::File::create(dir.path().join("log")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_suidao")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg("tutorial.sh").current_dir(dir.path()).env("PATH", path).stdin(Stdio::null());
    command.stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
    let mut group = Group(command.spawn().unwrap());
    let begun = Instant::now();
    let status = loop {
        match group.0.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(begun.elapsed() < Duration::from_secs(300), "the tutorial does not end"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let printed = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(status.success(), "{printed}");
    for made in [
        "sports/report.html",
        "sports/labels.tsv",
        "evaluation/report.html",
        "sports.parquet",
        "sports.card.md",
        "sports.template.json",
        "new.bulk.ndjson",
    ] {
        assert!(dir.path().join(made).exists(), "{made} is missing\n{printed}");
    }
    assert!(printed.contains("unchanged since the last export"), "{printed}");
    // What the tutorial states about the web and the results.
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md")).unwrap();
    let served = printed.split("a web of ").nth(1).unwrap();
    let [pages, blogs, relevant] =
        [served, served.split("pages on ").nth(1).unwrap(), served.split("hosts, ").nth(1).unwrap()]
            .map(|text| text.split(' ').next().unwrap());
    let page = page.replace('\n', " ");
    let stated = format!("{blogs} blogs with {pages} tag pages and posts, {relevant} of");
    assert!(page.contains(&stated), "the tutorial does not contain {stated}");
    // Relevant pages at the end of both crawls. Timing changes them a little.
    let evaluated = fs::read_to_string(dir.path().join("evaluation/evaluation.csv")).unwrap();
    let relevant_of = |crawl: &str| -> f64 {
        let last = evaluated.lines().rfind(|line| line.starts_with(crawl)).unwrap_or_else(|| panic!("{evaluated}"));
        last.rsplit(',').next().unwrap().parse().unwrap()
    };
    let stated_after = |before: &str| -> f64 {
        let number = page.split(before).nth(1).unwrap_or_else(|| panic!("the tutorial does not contain {before}"));
        number.split(' ').next().unwrap().trim_end_matches(['.', ',']).parse().unwrap()
    };
    let [tunnel, plain] = ["tunnel", "breadth-first"].map(relevant_of);
    let stated = [stated_after("the default strategy, finds about "), stated_after("breadth-first about ")];
    assert!(tunnel > 1.3 * plain, "tunnel {tunnel}, breadth-first {plain}");
    for (is, stated) in [tunnel, plain].into_iter().zip(stated) {
        assert!((is - stated).abs() <= 0.15 * stated, "{is} is not about {stated}: correct docs/tutorial.md");
    }
    // The query for dates finds pages, and all have such a date.
    let answer = printed.split("== suidao search sports 足球 date:2020..\n").nth(1).unwrap();
    let answer = answer.split("\n== ").next().unwrap();
    let dates: Vec<&str> = answer.lines().filter(|line| line.contains(" · relevance ")).map(str::trim).collect();
    assert!(
        dates.len() == 10 && dates.iter().all(|line| line[..4].parse::<u32>().is_ok_and(|year| year >= 2020)),
        "{answer}"
    );
    assert!(printed.contains("pages labelled; page threshold") && printed.contains("  current"), "{printed}");
    assert!(
        !printed.contains("\"pages\": 0,") && !printed.contains("no page matches"),
        "every search finds something\n{printed}"
    );
}
