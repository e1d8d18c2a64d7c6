//! The programs in examples/ run and print what their heads describe.

use std::path::Path;
use std::process::Command;

use crate::support::{Stage, finite, run, tools};
use suidao::world::ServerOptions;

/// The output of an example; none if it was not built, as by `cargo test --test cli`.
fn example(name: &str, arguments: &[&str]) -> Option<String> {
    let built = Path::new(env!("CARGO_BIN_EXE_suidao")).with_file_name("examples").join(name);
    if !built.exists() && !tools::is_ci() {
        println!("skipped: {} is not built; cargo test builds it", built.display());
        return None;
    }
    let mut command = Command::new(built);
    command.args(arguments);
    Some(run(command).expect(0).out)
}

#[test]
fn a_page_is_scored_and_a_topic_is_learnt() {
    let Some(scored) = example("score_page", &[]) else { return };
    assert!(scored.starts_with("神经网络的训练: relevance 0.") && scored.contains("/nn/2.html"), "{scored}");
    let learnt = example("learn_topic", &[]).unwrap();
    assert_eq!(learnt.lines().count(), 10, "{learnt}");
}

#[test]
fn a_live_crawl_takes_a_strategy_of_ones_own() {
    let Some(printed) = example("own_strategy", &[]) else { return };
    assert!(printed.ends_with("of 100 pages are relevant\n") && !printed.starts_with("0 "), "{printed}");
}

#[test]
fn a_crawl_directory_is_read_and_replayed() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("done", &["--max-pages", "60"])).expect(0);
    let (dir, seed) = (stage.path("done"), stage.world.seeds()[0].to_string());
    let Some(read) = example("read_crawl", &[dir.to_str().unwrap()]) else { return };
    assert!(read.contains("60 pages fetched"), "{read}");
    let replayed = example("replay_recorded", &[dir.to_str().unwrap(), &seed]).unwrap();
    assert!(replayed.lines().count() == 2 && replayed.contains("tunnel: "), "{replayed}");
}
