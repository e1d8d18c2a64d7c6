//! Reading: bytes to document, document to scores, and both; on pages of the generated web, and on real ones if
//! `SUIDAO_WEB` names a folder of them. Throughput is in bytes of HTML, or in links.

use std::path::{Path, PathBuf};

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use suidao::model::{CrawlUrl, Fetched};
use suidao::read::{self, Parsed};
use suidao::replay::Web;
use suidao::scored;
use suidao::topic::{Background, LearnOptions, Lexicon, Method, Sample, Topic, learn};
use suidao::world::{SyntheticWeb, WebSpec};

const PAGES: usize = 300;

fn main() {
    divan::main();
}

#[derive(Clone, Copy, Debug)]
enum Pages {
    OnTopic,
    OffTopic,
    Real,
}

const KINDS: [Pages; 3] = [Pages::OnTopic, Pages::OffTopic, Pages::Real];

fn world() -> SyntheticWeb {
    SyntheticWeb::new(WebSpec::default()).expect("the default web")
}

fn fetched(url: CrawlUrl, body: Vec<u8>) -> Fetched {
    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
    Fetched {
        url,
        status: 200,
        headers,
        body: body.into(),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

fn pages(kind: Pages) -> Vec<Fetched> {
    let generated = |relevant: bool| {
        let world = world();
        let urls: Vec<CrawlUrl> =
            world.pages().filter(|page| page.1 == relevant).map(|page| page.0).take(PAGES).collect();
        urls.iter().filter_map(|url| world.get(url).ok()).filter(|answer| answer.status == 200).collect()
    };
    match kind {
        Pages::OnTopic => generated(true),
        Pages::OffTopic => generated(false),
        Pages::Real => {
            let Some(root) = std::env::var_os("SUIDAO_WEB") else { return Vec::new() };
            let mut files = Vec::new();
            collect(Path::new(&root), &mut files);
            files.sort();
            let step = (files.len() / PAGES).max(1);
            let url = CrawlUrl::parse("http://example.cn/a/page.html").expect("a URL");
            files
                .iter()
                .step_by(step)
                .map(|file| fetched(url.clone(), std::fs::read(file).expect("readable")))
                .collect()
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            files.push(path);
        }
    }
}

/// For generated pages the lexicon that `suidao demo` learns; for real ones the lexicon shipped for 机器学习.
fn topic(kind: Pages) -> Topic {
    if let Pages::Real = kind {
        let text = include_str!("../lexicons/ml.toml");
        return Topic::new(Lexicon::parse(text).expect("the shipped lexicon"));
    }
    let world = world();
    let sample = |(url, html): (CrawlUrl, String)| Sample::from_fetched(&fetched(url, html.into_bytes()));
    let samples: Vec<Sample> = world.sample_pages(60).into_iter().map(sample).collect();
    let background = Background::from_samples(world.background_pages(200).into_iter().map(sample).collect());
    let options = LearnOptions::new("体育", Method::Lift);
    Topic::new(learn(&samples, &background, &options).expect("samples of the topic").lexicon)
}

fn bytes(pages: &[Fetched]) -> BytesCount {
    BytesCount::new(pages.iter().map(|page| page.body.len()).sum::<usize>())
}

#[divan::bench(args = KINDS, sample_count = 10)]
fn parse(bencher: Bencher, kind: Pages) {
    let pages = pages(kind);
    bencher.counter(bytes(&pages)).bench_local(|| {
        for page in &pages {
            black_box(read::parse(page));
        }
    });
}

#[divan::bench(args = KINDS, sample_count = 10)]
fn score(bencher: Bencher, kind: Pages) {
    let (pages, topic) = (pages(kind), topic(kind));
    let parsed: Vec<Parsed> = pages.iter().map(read::parse).collect();
    bencher.counter(bytes(&pages)).bench_local(|| {
        for page in &parsed {
            black_box(topic.score(&page.document));
        }
    });
}

/// The same per link: an upper bound of a link's cost, because the page is scored too.
#[divan::bench(args = KINDS, sample_count = 10)]
fn score_links(bencher: Bencher, kind: Pages) {
    let (pages, topic) = (pages(kind), topic(kind));
    let parsed: Vec<Parsed> = pages.iter().map(read::parse).collect();
    let links: usize = parsed.iter().map(|page| page.document.links.len()).sum();
    bencher.counter(ItemsCount::new(links)).bench_local(|| {
        for page in &parsed {
            black_box(topic.score(&page.document));
        }
    });
}

#[divan::bench(args = KINDS, sample_count = 10)]
fn whole(bencher: Bencher, kind: Pages) {
    let (pages, topic) = (pages(kind), topic(kind));
    bencher.counter(bytes(&pages)).bench_local(|| {
        for page in &pages {
            black_box(scored::read(page, &topic));
        }
    });
}

/// Adversarial pages of about a megabyte; their cost must grow linearly with their length.
#[derive(Clone, Copy, Debug)]
enum Nasty {
    BrokenEntities,
    LongAttribute,
    ManyAttributes,
    NestedBlocks,
    NestedInline,
    UnclosedFormatting,
    UnclosedTables,
    StrayEndTags,
    UnclosedScript,
    UnclosedComment,
    Sections,
    ManyLinks,
    OneWord,
    LessThans,
    Lines,
}

const NASTY: [Nasty; 15] = [
    Nasty::BrokenEntities,
    Nasty::LongAttribute,
    Nasty::ManyAttributes,
    Nasty::NestedBlocks,
    Nasty::NestedInline,
    Nasty::UnclosedFormatting,
    Nasty::UnclosedTables,
    Nasty::StrayEndTags,
    Nasty::UnclosedScript,
    Nasty::UnclosedComment,
    Nasty::Sections,
    Nasty::ManyLinks,
    Nasty::OneWord,
    Nasty::LessThans,
    Nasty::Lines,
];

fn nasty(kind: Nasty) -> Fetched {
    let times = |part: &str| part.repeat((1 << 20) / part.len());
    let numbered = |part: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for number in 0.. {
            if text.len() >= 1 << 20 {
                break;
            }
            text.push_str(&part(number));
        }
        text
    };
    let html = match kind {
        Nasty::BrokenEntities => times("&#x110000;&nosuch;&amp&#xD800;&copy&;"),
        Nasty::LongAttribute => format!("<img src=\"data:image/png;base64,{}\">", times("iVBORw0KGgo/")),
        Nasty::ManyAttributes => format!("<div {}>x", numbered(&|n| format!("a{n} "))),
        Nasty::NestedBlocks => times("<div>"),
        Nasty::NestedInline => times("<span>x"),
        Nasty::UnclosedFormatting => times("<p><b><i>x"),
        Nasty::UnclosedTables => times("<table><tr><td>x"),
        Nasty::StrayEndTags => format!("{}{}", "<div><span>".repeat(600), times("</table></a></p>")),
        Nasty::UnclosedScript => format!("<p>x<script>{}", times("if (a < b) { </scrip <!-- ")),
        Nasty::UnclosedComment => format!("<p>x<!--{}", times("- <p>x</p> --!")),
        Nasty::Sections => times("<svg><![CDATA[x]]></svg><![CDATA[y]]>"),
        Nasty::ManyLinks => numbered(&|n| format!("<li><a href=/{n}>x</a>")),
        Nasty::OneWord => times("x"),
        Nasty::LessThans => times("<"),
        Nasty::Lines => format!("<pre>{}", times("\n \n\t x<br>")),
    };
    fetched(CrawlUrl::parse("http://example.cn/a/page.html").expect("a URL"), html.into_bytes())
}

#[divan::bench(args = NASTY, sample_count = 5)]
fn parse_nasty(bencher: Bencher, kind: Nasty) {
    let page = nasty(kind);
    bencher.counter(BytesCount::new(page.body.len())).bench_local(|| black_box(read::parse(&page)));
}
