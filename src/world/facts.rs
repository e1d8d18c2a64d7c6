//! A fast door to a generated web: what a fetch comes to, straight from the generator. No HTML is written and none read,
//! so that a million pages can be crawled in a minute.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::address::Extra;
use super::answer::Found;
use super::draw::Draw;
use super::gauge::{Gauge, PageRead, kind_of_extra, kind_of_link, kind_of_page};
use super::layout::salt;
use super::links::{Planned, Said, Target};
use super::truth::{World, crawl_url};
use super::words::{BLANK_ANCHORS, vocabulary};
use crate::crawl::{Outcome, Wanted};
use crate::model::{CrawlUrl, Digest, Evidence, Failure, FailureKind, Outlink, Page, Relevance, RobotsRules, Sketch};
use crate::replay::Source;
use crate::topic::Topic;

/// A generated web as a source of facts: the pages and links of its [`World`], with scores drawn from what reading pages
/// and links of their kind gives, so that they agree with the real ones in distribution and not one by one.
///
/// Pages come without text and terms; a title and an anchor is one word of what the real one says.
pub struct Facts {
    world: Arc<World>,
    topic: Arc<Topic>,
    gauge: Gauge,
    /// R_Url of each host's name alone, and of each section's URL.
    hosts: Vec<bool>,
    sections: Vec<bool>,
}

impl Facts {
    /// Measures what `topic` makes of some 600 of the world's pages.
    pub fn new(world: Arc<World>, topic: Arc<Topic>) -> Self {
        let tells = |url: &str| topic.url_relevance(&crawl_url(url)) == Relevance::ONE;
        let hosts = world.layout.hosts.iter().map(|host| tells(&format!("http://{}/", host.name))).collect();
        let sections = world.layout.sections.iter().map(|section| tells(&section.base)).collect();
        Self { gauge: Gauge::measure(&world, &topic), world, topic, hosts, sections }
    }

    /// A page of this host with these links; `number` is its own among all pages.
    fn page(
        &self,
        url: &CrawlUrl,
        read: PageRead,
        title: Said,
        number: u64,
        host: u64,
        links: Vec<Planned>,
    ) -> Outcome {
        let layout = &self.world.layout;
        let seed = layout.spec.seed;
        let skin = layout.hosts[host as usize].habits.skin;
        let mut draw = Draw::new(seed, salt::FACTS, number);
        let weights = &self.topic.lexicon().weights;
        let mut outlinks: Vec<Outlink> = Vec::with_capacity(links.len());
        let mut target = String::with_capacity(96);
        let mut seen: Vec<Target> = Vec::with_capacity(links.len());
        for link in links {
            // As a reader does, each URL once.
            if seen.contains(&link.target) {
                continue;
            }
            seen.push(link.target);
            target.clear();
            layout.put_target(link.target, &mut target);
            if target == url.as_str() {
                continue;
            }
            let [anchor, context] = self.gauge.link(kind_of_link(layout, &link), draw.bits() >> 32);
            let tells = self.url_tells(link.target);
            let sum = weights.anchor * f64::from(anchor.get())
                + weights.context * f64::from(context.get())
                + weights.url * f64::from(u8::from(tells));
            let block = self.gauge.block(skin, link.slot);
            outlinks.push(Outlink {
                url: crawl_url(&target),
                anchor: self.word(link.anchor),
                evidence: Evidence { anchor, context, url: if tells { Relevance::ONE } else { Relevance::ZERO } },
                relevance: Relevance::new(sum as f32),
                region: block.region(),
                path: block.path,
                nofollow: false,
            });
        }
        let mut digest = [0; 20];
        digest[..8].copy_from_slice(&xxh3_64_with_seed(&number.to_le_bytes(), seed).to_le_bytes());
        let page = Page {
            title: self.word(title),
            text: String::new(),
            language: Some("cmn".to_owned()),
            author: None,
            charset: "UTF-8".to_owned(),
            relevance: read.relevance,
            terms: Vec::new(),
            digest: Digest(digest),
            bytes: 0,
            outlinks,
            listing: read.listing,
            noindex: false,
            rendered: false,
            expires: None,
            nofollow: false,
            layer: None,
            canonical: None,
            feeds: Vec::new(),
            sketch: Sketch::default(),
            missing: false,
            published: None,
            defects: Vec::new(),
        };
        Outcome::Page { status: 200, page: Box::new(page), sight: None, validators: None }
    }

    /// R_Url of where a link leads.
    fn url_tells(&self, target: Target) -> bool {
        let layout = &self.world.layout;
        let host_of = |page| layout.sections[layout.locate(page).0].host;
        match target {
            Target::Page(page) | Target::Twin(page) => {
                let (section, place) = layout.locate(page);
                let post = !matches!(place, super::layout::Place::Home | super::layout::Place::Listing(_));
                let host = layout.sections[section].host;
                if post && layout.hosts[host as usize].habits.blog {
                    self.hosts[host as usize]
                } else {
                    self.sections[section]
                }
            }
            Target::Redirect(page) => self.hosts[host_of(page) as usize],
            Target::Root(host) | Target::Missing(host, _) | Target::Extra(host, _) => self.hosts[host as usize],
            Target::NoHost(_) => false,
        }
    }

    /// One word of what a link or a title says.
    fn word(&self, said: Said) -> String {
        let layout = &self.world.layout;
        let of = |topic: usize, at: u64| {
            let nouns = vocabulary(topic).0.nouns;
            nouns[(at % nouns.len() as u64) as usize].to_owned()
        };
        match said {
            Said::Nothing => String::new(),
            Said::Words(words) => words.to_owned(),
            Said::Number(number) => format!("第{number}页"),
            Said::Blank => BLANK_ANCHORS[0].to_owned(),
            Said::Title(page) => of(layout.topic(page), page),
            Said::Headline(topic) | Said::Sentence(topic) => of(topic, 0),
            Said::Tag(section) => layout.tag(section).1.to_owned(),
            Said::Site(host) => layout.site(host).to_owned(),
        }
    }

    fn extra(&self, url: &CrawlUrl, host: u64, extra: Extra) -> Outcome {
        let layout = &self.world.layout;
        let number = !layout.extra_number(host, extra);
        let read = self
            .gauge
            .page(kind_of_extra(layout, host, extra), Draw::new(layout.spec.seed, salt::FACTS, !number).bits());
        self.page(url, read, Said::Site(host), number, host, layout.extra_links(host, extra))
    }
}

impl Source for Facts {
    fn outcome(&self, wanted: &Wanted, url: &CrawlUrl) -> Outcome {
        let layout = &self.world.layout;
        let failed = |kind| Outcome::Failed(Failure { kind, retry_after: None });
        match self.world.lookup(url) {
            Found::NoHost => failed(FailureKind::Dns),
            Found::NoServer => failed(FailureKind::Connect),
            Found::Moved(status, to) => {
                Outcome::Redirect { to: crawl_url(&to), permanent: matches!(status, 301 | 308) }
            }
            Found::Robots(host) => Outcome::Robots(RobotsRules::Rules(self.world.robots(host).into_bytes())),
            Found::Missing if matches!(wanted, Wanted::Robots { .. }) => Outcome::Robots(RobotsRules::AllowAll),
            Found::Missing => failed(FailureKind::Status(404)),
            Found::Page(page) => {
                let host = layout.sections[layout.locate(page).0].host;
                let read =
                    self.gauge.page(kind_of_page(layout, page), Draw::new(layout.spec.seed, salt::FACTS, !page).bits());
                self.page(url, read, Said::Title(page), page, host, layout.links(page))
            }
            Found::Extra(host, extra) => self.extra(url, host, extra),
            Found::Sample => {
                crate::crawl::outcome(wanted, Ok(&self.world.sample_answer(url)), None, &self.topic, crate::read::ROBOT)
            }
        }
    }
}
