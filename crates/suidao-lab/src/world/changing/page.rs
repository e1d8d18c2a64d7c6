//! The pages of a changing web: homes, listings, articles. Main text and links depend on the version, boilerplate
//! (advertisements, a clock, a counter) on the hour.

use super::sites::{Article, Resource, Sites, salt};
use super::spec::Feeds;
use crate::world::forum::times::{self, TimeFormat};
use crate::world::html::{Anchor, HtmlPage};
use crate::world::links::TemplateBlock;
use crate::world::words::WORDS;
use crate::world::write;
use suidao_page::seeded_rng::SeededRng;

/// UTC offset of the sites, in seconds.
const OFFSET: i32 = 8 * 3_600;
/// Newest articles of each section on a home page.
const AT_HOME: u32 = 5;
/// Maximum links of an article to older ones of its section.
const RELATED: u32 = 3;
/// Advertisements on a page that has boilerplate.
const ADVERTISEMENTS: u64 = 3;

fn link(href: String, block: TemplateBlock, text: impl Into<String>) -> Anchor {
    Anchor { href, block, text: text.into(), context: String::new() }
}

impl Sites {
    pub fn instant(&self, day: f64) -> i64 {
        self.spec.start + (day * 86_400.0) as i64
    }

    pub fn written(&self, day: f64, style: TimeFormat) -> String {
        let at = self.instant(day);
        times::write(style, at, at, OFFSET)
    }

    /// The HTML of a page; empty for other resources.
    pub fn html(&self, resource: Resource, day: f64) -> String {
        match resource {
            Resource::Home(host) => self.home(host, day),
            Resource::Listing(section) => self.listing(section, day),
            Resource::Article(article) | Resource::Moved(article) => self.article(article, day),
            Resource::Maintenance(host) => {
                self.sheet(host, "系统维护", &["系统正在维护，请稍后再访问。".to_owned()], Vec::new(), None)
            }
            _ => String::new(),
        }
    }

    pub fn title(&self, article: Article) -> String {
        let topic = self.sections[article.section].topic;
        write::title(topic, &mut SeededRng::new(self.seed, salt::TITLE, self.id(article)))
    }

    /// An article's main text in a version. Each version rewrites one paragraph in turn.
    pub fn paragraphs(&self, article: Article, version: u32) -> Vec<String> {
        let topic = self.sections[article.section].topic;
        let id = self.id(article);
        let count = SeededRng::new(self.seed, salt::TEXT, id).within([3, 6]) as u32;
        let paragraph = |position: u32| {
            // The latest version that rewrote it.
            let turns = version.saturating_sub(position + 1) / count;
            let rewritten = if version > position { position + 1 + turns * count } else { 0 };
            let drawn =
                SeededRng::new(self.seed, salt::TEXT, id).bits() ^ (u64::from(rewritten) << 32 | u64::from(position));
            let mut rng = SeededRng::new(self.seed, salt::TEXT, drawn);
            let mut text = String::new();
            for _ in 0..rng.within([3, 6]) {
                write::sentence(topic, &mut rng, &mut text);
            }
            text
        };
        (0..count).map(paragraph).collect()
    }

    fn home(&self, host: usize, day: f64) -> String {
        let mut links = Vec::new();
        for section in self.of_host(host) {
            let newest = self.newest(section, day, AT_HOME);
            links.extend(
                newest.map(|article| link(self.path(article, false), TemplateBlock::Entry, self.title(article))),
            );
        }
        // So that all hosts can be discovered from one.
        let others = (0..self.spec.hosts).filter(|other| *other != host).take(20);
        links.extend(others.map(|other| {
            link(self.url(other, "/").to_string(), TemplateBlock::Foot, WORDS.sites[other % WORDS.sites.len()])
        }));
        self.sheet(host, WORDS.sites[host % WORDS.sites.len()], &[], links, self.boilerplate(host as u64, day))
    }

    fn listing(&self, section: usize, day: f64) -> String {
        let host = self.host_of(section);
        let entry = |article: Article| Anchor {
            href: self.path(article, false),
            block: TemplateBlock::Entry,
            text: self.title(article),
            context: self.written(self.born(article), TimeFormat::Padded),
        };
        let links = self.newest(section, day, self.spec.listed).map(entry).collect();
        let title = WORDS.topics[self.sections[section].topic].nouns[0];
        self.sheet(host, title, &[], links, self.boilerplate(1 << 48 | section as u64, day))
    }

    fn article(&self, article: Article, day: f64) -> String {
        let host = self.host_of(article.section);
        let version = self.life(article, day).version(day - self.born(article));
        let mut rng = SeededRng::new(self.seed, salt::RELATED, self.id(article));
        let older = u64::from(article.number);
        let mut related: Vec<u32> = (0..RELATED).filter(|_| older > 0).map(|_| rng.below(older) as u32).collect();
        related.sort_unstable();
        related.dedup();
        let links = related.into_iter().map(|number| {
            let other = Article { number, ..article };
            link(self.path(other, false), TemplateBlock::Related, self.title(other))
        });
        let mut links: Vec<Anchor> = links.collect();
        let published = self.written(self.born(article), TimeFormat::Padded);
        links.push(Anchor { context: published, ..link("/".to_owned(), TemplateBlock::Top, "发布时间") });
        let boilerplate = self.boilerplate(1 << 49 | self.id(article), day);
        self.sheet(host, &self.title(article), &self.paragraphs(article, version), links, boilerplate)
    }

    /// The boilerplate of a page that has any, for the hour.
    fn boilerplate(&self, page: u64, day: f64) -> Option<Vec<Anchor>> {
        let mut own = SeededRng::new(self.seed, salt::BOILERPLATE, page);
        if !own.chance(self.spec.boilerplate_share) {
            return None;
        }
        let hour = (day * 24.0).floor();
        let mut rng = SeededRng::new(self.seed, own.bits(), hour as i64 as u64);
        let mut links: Vec<Anchor> = (0..ADVERTISEMENTS)
            .map(|_| {
                let topic = rng.below(WORDS.topics.len() as u64) as usize;
                let text = write::title(topic, &mut rng);
                link(format!("http://ads.changing.test/{}", rng.below(1_000)), TemplateBlock::Side, text)
            })
            .collect();
        let clock =
            format!("{} 今日访问 {} 次", self.written(hour / 24.0, TimeFormat::Padded), rng.within([100, 99_999]));
        links.push(Anchor {
            context: clock, ..link("/maintenance.html".to_owned(), TemplateBlock::Foot, "访问统计")
        });
        Some(links)
    }

    fn sheet(
        &self,
        host: usize,
        title: &str,
        paragraphs: &[String],
        mut links: Vec<Anchor>,
        boilerplate: Option<Vec<Anchor>>,
    ) -> String {
        let sections = self.of_host(host).map(|section| {
            link(self.listing_path(section), TemplateBlock::Top, WORDS.topics[self.sections[section].topic].nouns[0])
        });
        links.extend(std::iter::once(link("/".to_owned(), TemplateBlock::Top, "首页")).chain(sections));
        links.extend(boilerplate.into_iter().flatten());
        let head = match super::sites::profile(host).feeds {
            Feeds::None => "",
            Feeds::Rss => "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/rss.xml\">\n",
            Feeds::Atom => "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/atom.xml\">\n",
        };
        let site = WORDS.sites[host % WORDS.sites.len()];
        HtmlPage {
            skin: (host % 4) as u64,
            meta_charset: None,
            head,
            site,
            title,
            byline: "",
            paragraphs,
            links: &links,
        }
        .html()
    }
}
