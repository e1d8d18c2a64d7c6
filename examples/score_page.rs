//! The relevance of a page and of its links.
//!
//! `cargo run --example score_page`

use suidao::model::{CrawlUrl, Fetched};
use suidao::scored::read;
use suidao::topic::{Lexicon, Topic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topic = Topic::new(Lexicon::from_terms("机器学习", &[("神经网络", 1.0), ("训练", 0.6), ("模型", 0.4)]));
    let html = "<title>神经网络的训练</title>
        <p>我们训练一个神经网络，并比较不同模型的结果。训练需要很多数据，也需要时间。</p>
        <p><a href='/nn/2.html'>神经网络第二讲</a> <a href='/food.html'>北京小吃</a></p>";
    let page = read(&Fetched::html(CrawlUrl::parse("http://example.cn/nn/1.html")?, html), &topic);
    println!("{}: relevance {:.2}", page.title, page.relevance.get());
    for term in &page.terms {
        println!("  {} × {}", term.term, term.count);
    }
    for link in &page.outlinks {
        println!("  {} {}: score {:.2}", link.url, link.anchor, link.relevance.get());
    }
    Ok(())
}
