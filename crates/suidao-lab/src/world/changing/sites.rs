//! Sites, sections and articles with their names and publication times: the model that pages are rendered from.

use std::collections::BTreeMap;
use std::ops::Range;

use super::spec::{ChangingSpec, HostProfile, PROFILES};
use crate::world::change::{ChangeHistory, Gone, Pattern};
use crate::world::words::{THEMES, WORDS};
use suidao_page::model::CrawlUrl;
use suidao_page::seeded_rng::SeededRng;

pub(super) mod salt {
    pub const SECTION: u64 = 0x6367_7701;
    pub const TITLE: u64 = 0x6367_7702;
    pub const TEXT: u64 = 0x6367_7703;
    pub const RELATED: u64 = 0x6367_7704;
    pub const BOILERPLATE: u64 = 0x6367_7705;
}

/// Articles are numbered per section in separate ranges.
const SECTION_ARTICLES: u64 = 1 << 32;

/// Maximum days from an article's publication until it vanishes.
const VANISHING_DAYS: f64 = 60.0;

pub(super) struct SiteSection {
    pub topic: usize,
    /// Days of publication, the oldest first; below 0 for initial articles.
    pub published_at: Vec<f64>,
}

pub(super) struct Sites {
    pub spec: ChangingSpec,
    pub seed: u64,
    /// [`ChangingSpec::sections`] for each host in turn.
    pub sections: Vec<SiteSection>,
    hosts: BTreeMap<String, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Article {
    /// Index into [`Sites::sections`].
    pub section: usize,
    pub number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Home(usize),
    Listing(usize),
    Article(Article),
    /// The new URL of a moved article.
    Moved(Article),
    Maintenance(usize),
    Robots(usize),
    Sitemap(usize),
    /// 1 or 2.
    SitemapPart(usize, u32),
    Rss(usize),
    Atom(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArticleTruth {
    /// The URL at publication.
    pub url: CrawlUrl,
    pub listing: CrawlUrl,
    pub topical: bool,
    pub born: f64,
    /// How it is answered if it is missing.
    pub gone: Option<Gone>,
    /// Changes of its main text a day, while it exists.
    pub rate: f64,
}

pub(super) fn profile(host: usize) -> &'static HostProfile {
    &PROFILES[host % PROFILES.len()]
}

fn host_name(spec: &ChangingSpec, host: usize) -> String {
    let name = profile(host).name;
    let domain = if spec.own_domains { "-changing.test" } else { ".changing.test" };
    match host / PROFILES.len() {
        0 => format!("{name}{domain}"),
        turn => format!("{name}{}{domain}", turn + 1),
    }
}

impl Sites {
    pub fn new(spec: ChangingSpec, seed: u64) -> Self {
        let sections = (0..spec.hosts * spec.sections).map(|section| {
            let (host, position) = (section / spec.sections, section % spec.sections);
            let turn = host + position / 2;
            let topic =
                if position.is_multiple_of(2) { turn % THEMES } else { THEMES + turn % (WORDS.topics.len() - THEMES) };
            let mut rng = SeededRng::new(seed, salt::SECTION, section as u64);
            let rate = rng.log_uniform(spec.new_articles);
            let mut births: Vec<f64> = Vec::new();
            let mut before = 0.0;
            for _ in 0..spec.initial {
                before -= rng.exponential() / rate;
                births.push(before);
            }
            births.reverse();
            let life = ChangeHistory::new(Pattern::Poisson { rate }, seed ^ salt::SECTION, section as u64, spec.days);
            births.extend_from_slice(life.instants());
            SiteSection { topic, published_at: births }
        });
        let hosts = (0..spec.hosts).map(|host| (host_name(&spec, host), host)).collect();
        Self { spec, seed, sections: sections.collect(), hosts }
    }

    pub fn host_of(&self, section: usize) -> usize {
        section / self.spec.sections
    }

    pub fn of_host(&self, host: usize) -> Range<usize> {
        host * self.spec.sections..(host + 1) * self.spec.sections
    }

    pub fn is_topical(&self, section: usize) -> bool {
        self.sections[section].topic < THEMES
    }

    /// Number of published articles of a section.
    pub fn published(&self, section: usize, day: f64) -> u32 {
        self.sections[section].published_at.partition_point(|birth| *birth <= day) as u32
    }

    /// The published articles of a section, the oldest first.
    pub fn articles_of(&self, section: usize, day: f64) -> impl Iterator<Item = Article> {
        (0..self.published(section, day)).map(move |number| Article { section, number })
    }

    /// The newest articles of a section, the newest first.
    pub fn newest(&self, section: usize, day: f64, count: u32) -> impl Iterator<Item = Article> {
        let published = self.published(section, day);
        (published.saturating_sub(count)..published).rev().map(move |number| Article { section, number })
    }

    pub fn id(&self, article: Article) -> u64 {
        article.section as u64 * SECTION_ARTICLES + u64::from(article.number)
    }

    pub fn born(&self, article: Article) -> f64 {
        self.sections[article.section].published_at[article.number as usize]
    }

    /// An article's history in days since publication, up to a day of the web. Drawn on demand, because storing all
    /// would take many millions of instants.
    pub fn life(&self, article: Article, day: f64) -> ChangeHistory {
        let id = self.id(article);
        ChangeHistory::new(Pattern::drawn(self.seed, id, VANISHING_DAYS), self.seed, id, day - self.born(article))
    }

    /// Path of an article, or its path after moving.
    pub fn path(&self, article: Article, moved: bool) -> String {
        let position = if moved { "archive/" } else { "" };
        format!("{}{position}{}.html", self.listing_path(article.section), article.number)
    }

    pub fn listing_path(&self, section: usize) -> String {
        format!("/{}/", WORDS.topics[self.sections[section].topic].dirs[0])
    }

    pub fn url(&self, host: usize, path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://{}{path}", host_name(&self.spec, host)))
            .expect("names and paths are letters and digits")
    }

    pub fn find_host(&self, name: &str) -> Option<usize> {
        self.hosts.get(name).copied()
    }

    /// The resource of a URL, published or not.
    pub fn find(&self, url: &CrawlUrl) -> Option<Resource> {
        let host = self.find_host(url.authority())?;
        let profile = profile(host);
        if url.query().is_some() {
            return None;
        }
        let found = match url.path() {
            "/" => Resource::Home(host),
            "/maintenance.html" => Resource::Maintenance(host),
            "/robots.txt" if profile.sitemap.is_some() => Resource::Robots(host),
            "/sitemap.xml" if profile.sitemap.is_some() => Resource::Sitemap(host),
            "/sitemap-1.xml" if profile.index => Resource::SitemapPart(host, 1),
            "/sitemap-2.xml.gz" if profile.index => Resource::SitemapPart(host, 2),
            "/rss.xml" if profile.feeds == super::Feeds::Rss => Resource::Rss(host),
            "/atom.xml" if profile.feeds == super::Feeds::Atom => Resource::Atom(host),
            path => {
                let section = self.of_host(host).find(|&section| path.starts_with(&self.listing_path(section)))?;
                let rest = path.strip_prefix(&self.listing_path(section))?;
                if rest.is_empty() {
                    return Some(Resource::Listing(section));
                }
                let (moved, name) = rest.strip_prefix("archive/").map_or((false, rest), |name| (true, name));
                let digits = name.strip_suffix(".html")?;
                let number: u32 = digits.parse().ok().filter(|number: &u32| number.to_string() == digits)?;
                let article = Article { section, number };
                ((number as usize) < self.sections[section].published_at.len()).then_some(if moved {
                    Resource::Moved(article)
                } else {
                    Resource::Article(article)
                })?
            }
        };
        Some(found)
    }

    /// Number of changes of a page's main text; `None` if it is missing or not a page.
    pub fn version(&self, resource: Resource, day: f64) -> Option<u32> {
        match resource {
            Resource::Home(host) => Some(self.of_host(host).map(|section| self.published(section, day)).sum()),
            Resource::Listing(section) => Some(self.published(section, day)),
            Resource::Maintenance(_) => Some(0),
            Resource::Article(article) | Resource::Moved(article) => {
                let age = day - self.born(article);
                let life = (age >= 0.0).then(|| self.life(article, day))?;
                let here = match life.gone(age) {
                    None => matches!(resource, Resource::Article(_)),
                    Some(gone) => gone == Gone::Moved && matches!(resource, Resource::Moved(_)),
                };
                here.then(|| life.version(age))
            }
            _ => None,
        }
    }

    /// Day of the last change counted by [`Sites::version`], or of a file's listed pages; publication counts as a
    /// change. 0 if nothing has happened.
    pub fn changed(&self, resource: Resource, day: f64) -> f64 {
        let newest =
            |section: usize| self.newest(section, day, 1).map(|article| self.born(article)).fold(0.0, f64::max);
        match resource {
            Resource::Listing(section) => newest(section),
            Resource::Article(article) | Resource::Moved(article) => self.happened(article, day),
            Resource::Maintenance(_) | Resource::Robots(_) => 0.0,
            Resource::Home(host) | Resource::Rss(host) => self.of_host(host).map(newest).fold(0.0, f64::max),
            Resource::Sitemap(host) | Resource::Atom(host) => self.of_any(self.of_host(host), day),
            Resource::SitemapPart(host, part) => self.of_any(self.of_part(host, part), day),
        }
    }

    /// The sections in a part of a host's sitemap: the first, or the others.
    pub fn of_part(&self, host: usize, part: u32) -> Range<usize> {
        let all = self.of_host(host);
        if part == 1 { all.start..all.start + 1 } else { all.start + 1..all.end }
    }

    /// Day on which an article last changed, appeared or vanished.
    fn happened(&self, article: Article, day: f64) -> f64 {
        let (born, life) = (self.born(article), self.life(article, day));
        match life.pattern() {
            Pattern::Vanishing { at, .. } if born + at <= day => born + at,
            _ => born + life.last_change(day - born).unwrap_or(0.0),
        }
    }

    fn of_any(&self, sections: Range<usize>, day: f64) -> f64 {
        let articles = sections.flat_map(|section| self.articles_of(section, day));
        articles.map(|article| self.happened(article, day)).fold(0.0, f64::max)
    }

    /// The published articles, by section and in order of publication.
    pub fn articles(&self, day: f64) -> Vec<ArticleTruth> {
        let all = (0..self.sections.len()).flat_map(|section| self.articles_of(section, day));
        let truth = |article: Article| {
            let host = self.host_of(article.section);
            let born = self.born(article);
            let life = self.life(article, day);
            ArticleTruth {
                url: self.url(host, &self.path(article, false)),
                listing: self.url(host, &self.listing_path(article.section)),
                topical: self.is_topical(article.section),
                born,
                gone: life.gone(day - born),
                rate: life.rate(),
            }
        };
        all.map(truth).collect()
    }
}
