//! Learns a lexicon from sample pages of a generated web, and prints its first terms.
//!
//! `cargo run --example learn_topic`

use suidao::model::Fetched;
use suidao::topic::{Background, LearnOptions, Method, Sample, learn};
use suidao::world::{SyntheticWeb, WebSpec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let web =
        SyntheticWeb::new(WebSpec { pages: 600, hosts: 14, islands: 5, island_pages: [20, 40], ..WebSpec::default() })?;
    let pages = web.sample_pages(30).into_iter();
    let samples: Vec<Sample> = pages.map(|(url, html)| Sample::from_fetched(&Fetched::html(url, html))).collect();
    let options = LearnOptions::new("体育", Method::Linear);
    let lexicon = learn(&samples, &Background::built_in(), &options)?.lexicon;
    for (term, weight) in lexicon.main_terms().iter().take(10) {
        println!("{weight:.2} {term}");
    }
    Ok(())
}
