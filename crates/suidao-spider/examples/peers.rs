//! Spider by itself or under the guide, for `benches/peers.py`:
//! `peers blind|guide PROXY LEXICON SEEDS DIRECTORY PAGES`.

use std::error::Error;
use std::sync::Arc;

use suidao_live::config::Config;
use suidao_page::topic::{Lexicon, Topic};
use suidao_spider::Guide;
use suidao_spider::spider::website::Website;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, proxy, lexicon, seeds, directory, pages] = &arguments[..] else {
        return Err("give blind|guide PROXY LEXICON SEEDS DIRECTORY PAGES".into());
    };
    let seeds = std::fs::read_to_string(seeds)?;
    let mut seeds = seeds.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut website = Website::new(seeds.next().ok_or("no seed")?);
    website.set_extra_links(seeds.map(Into::into).collect());
    website.with_limit(pages.parse()?).with_external_domains(Some(["*".to_owned()].into_iter()));
    if mode == "blind" {
        website.with_proxies(Some(vec![proxy.clone()])).with_respect_robots_txt(true);
        website.crawl().await;
        return Ok(());
    }
    let topic = Arc::new(Topic::new(Lexicon::parse(&std::fs::read_to_string(lexicon)?)?));
    let mut config = Config::default();
    config.fetch.proxy = Some(proxy.clone());
    config.politeness.delay = 0.0;
    let guide = Guide::new(config, topic, directory)?;
    guide.attach(&mut website)?;
    website.crawl().await;
    drop(website);
    guide.finish().await?;
    Ok(())
}
