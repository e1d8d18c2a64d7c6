//! Digests of text, links, dates and listing flag of generated pages, in every skin, and of the bytes of those pages.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use suidao::model::{CrawlUrl, Failure, Fetched};
use suidao::read::parse;
use suidao::replay::Web;
use suidao::scored;
use suidao::topic::{Lexicon, Topic};
use suidao::world::{ActivitySpec, ChangingSpec, ChangingWeb, Forum, ForumSpec, ForumWeb, Skin, SyntheticWeb};

use super::{compare, digest};

const SKINS: [Skin; 11] = [
    Skin::Discuz,
    Skin::DiscuzStatic,
    Skin::Phpbb,
    Skin::Vbulletin,
    Skin::Path,
    Skin::Slug,
    Skin::Cards,
    Skin::Query,
    Skin::Tieba,
    Skin::Bbs,
    Skin::English,
];

/// Pages of a web, breadth first.
fn pages(
    seeds: Vec<CrawlUrl>,
    most: usize,
    topic: &Topic,
    mut get: impl FnMut(&CrawlUrl) -> Result<Fetched, Failure>,
) -> Vec<Fetched> {
    let mut known: BTreeSet<CrawlUrl> = seeds.iter().cloned().collect();
    let (mut queue, mut found) = (VecDeque::from(seeds), Vec::new());
    while let Some(url) = queue.pop_front() {
        let Ok(fetched) = get(&url) else { continue };
        for link in scored::read(&fetched, topic).outlinks {
            if known.insert(link.url.clone()) {
                queue.push_back(link.url);
            }
        }
        found.push(fetched);
        if found.len() == most {
            break;
        }
    }
    found
}

/// Everything read, field by field, so that a renamed field changes nothing.
fn record(fetched: &Fetched, topic: &Topic) -> String {
    let parsed = parse(fetched);
    let page = scored::read(fetched, topic);
    let links: Vec<String> = page.outlinks.iter().map(|link| format!("{}\t{}", link.url, link.anchor)).collect();
    let fields = (&page.title, &page.text, &page.language, &page.author, &page.charset, page.listing, page.noindex);
    let dates = (page.published.map(|day| day.to_string()), parsed.published_at.map(|at| at.to_string()));
    let scores: Vec<String> = page.outlinks.iter().map(|link| format!("{:?}", link.relevance)).collect();
    format!("{}\n{fields:?}\n{dates:?}\n{:?}\n{links:?}\n{scores:?}", fetched.url, page.relevance)
}

#[test]
fn what_is_read_of_generated_pages() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/lexicons/sports.toml")).unwrap();
    let topic = Topic::new(Lexicon::parse(&text).unwrap());
    let mut webs: Vec<(String, Vec<Fetched>)> = Vec::new();
    for (name, spec) in super::crawls::worlds() {
        let world = SyntheticWeb::new(spec).unwrap();
        webs.push((format!("world {name}"), pages(world.seeds(), 120, &topic, |url| world.get(url))));
    }
    let changing = ChangingWeb::new(ChangingSpec::default(), 3);
    webs.push(("changing".to_owned(), pages(changing.seeds(), 80, &topic, |url| changing.response(url, &[], 20.0))));
    for skin in SKINS {
        let activity = ActivitySpec { boards: 5, users: 40, threads_per_day: 5.0, days: 10, ..ActivitySpec::default() };
        let spec = ForumSpec { skin, activity, threads_per_page: 8, posts_per_page: 5, ..ForumSpec::default() };
        let forum = Arc::new(Forum::new(spec));
        let web = ForumWeb::at(Arc::clone(&forum), forum.spec().activity.start + 9 * 86_400);
        webs.push((format!("forum {skin:?}"), pages(vec![forum.home()], 80, &topic, |url| web.get(url))));
    }
    let mut digests = Vec::new();
    for (name, pages) in &webs {
        assert!(pages.len() > 20, "{name}: {} pages", pages.len());
        digests.push((format!("{name} bytes"), digest(pages.iter().map(|page| &page.body))));
        digests.push((format!("{name} read"), digest(pages.iter().map(|page| record(page, &topic)))));
    }
    compare("reading.txt", &digests);
}
