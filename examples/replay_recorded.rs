//! Replays two strategies on the pages of a crawl directory, without a network.
//!
//! `cargo run --example replay_recorded -- DIR`

use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::live::crawl_settings;
use suidao::messages::Lang;
use suidao::model::CrawlUrl;
use suidao::recorded::Warc;
use suidao::replay::{TopicalWeb, replay};
use suidao::store::CrawlDirectory;
use suidao::topic::{Lexicon, Topic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = CrawlDirectory::new(arguments.next().ok_or("give a crawl directory and a seed")?);
    let seed = CrawlUrl::parse(&arguments.next().ok_or("give a seed")?)?;
    let topic = Topic::new(Lexicon::parse(&std::fs::read_to_string(directory.topic_toml())?)?);
    let web = Warc::open_crawl(&directory)?;
    for name in ["breadth-first", "tunnel"] {
        let mut config = Config::default();
        config.politeness.delay = 0.0;
        config.limits.pages = Some(50);
        let strategy = config.strategy.named(name)?;
        let settings = crawl_settings(&config, &topic);
        let threshold = settings.page_threshold;
        let mut crawl = Crawl::new(settings, strategy.build(threshold));
        let stop = replay(&mut crawl, std::slice::from_ref(&seed), &TopicalWeb { web: &web, topic: &topic }, 1, |_| {});
        let progress = crawl.progress();
        println!(
            "{name}: {} of {} pages are relevant; {}",
            progress.relevant,
            progress.pages,
            stop.reason(Lang::English)
        );
    }
    Ok(())
}
