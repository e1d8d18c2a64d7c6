//! Maps page numbers to sections, tunnels and hosts. The tables contain nothing per page.
//!
//! Numbers are assigned to the islands' sections, then the tunnels, then the off-topic sections host by host. A section
//! is a directory of one host: page 0 is its home, pages 1 to L its listings of ten articles each, then the articles
//! follow. On a blog a section is a tag, and its home is the first listing. A tunnel page looks like an article of the
//! off-topic section it is in, with a number after that section's own.

use super::spec::{PathShape, SpecError, WebSpec};
use super::target::{PER_LISTING, PagePosition, salt, topic_is_on};
use super::words::{NEAR_TOPIC, THEMES, WORDS};
use suidao_page::seeded_rng::SeededRng;

/// Pages of the smallest section: a home, a listing, ten articles.
const LEAST: u64 = 12;

pub(super) struct HostSection {
    pub host: u64,
    pub start: u64,
    pub len: u64,
    pub topic: usize,
    pub island: Option<u64>,
    pub listings: u64,
    pub base: Box<str>,
}

impl HostSection {
    fn new(start: u64, len: u64, topic: usize, island: Option<u64>) -> Self {
        Self { host: 0, start, len, topic, island, listings: 0, base: Box::default() }
    }

    pub fn articles(&self) -> u64 {
        self.len - 1 - self.listings
    }

    /// Page number of an article, from 0.
    pub fn article(&self, index: u64) -> u64 {
        self.start + 1 + self.listings + index
    }
}

/// A chain of off-topic pages from one island to another.
pub(super) struct Tunnel {
    pub from: u64,
    pub to: u64,
    pub start: u64,
    pub gap: u64,
}

#[derive(Clone, Copy)]
pub(super) struct HostTraits {
    /// Template, 0 to 3, which also determines the form of URLs.
    pub skin: u64,
    pub gbk: bool,
    /// Declares the charset in the header instead of a meta tag.
    pub in_header: bool,
    pub session: bool,
    pub robots: bool,
    pub calendar: bool,
    pub blog: bool,
    pub has_blogroll: bool,
    pub dated: bool,
    /// Dates are also in markup.
    pub marked: bool,
}

pub(super) struct HostLayout {
    pub name: Box<str>,
    pub traits: HostTraits,
    /// Its sections, the off-topic ones last.
    pub sections: Vec<u32>,
    pub articles: u64,
    /// The section its root redirects to, unless it is a blog.
    pub front: usize,
}

pub(super) struct Layout {
    pub spec: WebSpec,
    pub sections: Vec<HostSection>,
    pub tunnels: Vec<Tunnel>,
    pub hosts: Vec<HostLayout>,
    /// First page of each section, and the section of every `stride`-th page, to find a page's section quickly.
    starts: Vec<u64>,
    coarse: Vec<u32>,
    islands: Vec<std::ops::Range<usize>>,
    departures: Vec<Vec<usize>>,
    /// The first host with off-topic sections; hosts only about the topic come before.
    pub first_ordinary: u64,
    pub first_off: usize,
}

impl Layout {
    pub fn new(spec: WebSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let mut rng = SeededRng::new(spec.seed, salt::LAYOUT, 0);
        let mut sections = Vec::new();
        let mut islands = Vec::new();
        // For each section of an island: whether it is on the same host as the previous one.
        let mut on_last = Vec::new();
        let mut next = 0;
        for island in 0..spec.islands {
            let size = island_size(&spec, &mut rng);
            let parts = rng.within(spec.island_hosts).min(size / LEAST).max(1);
            let first = sections.len();
            for part in 0..parts {
                let len = size / parts + u64::from(part < size % parts);
                let tags = if spec.island_tags == [1, 1] { 1 } else { rng.within(spec.island_tags).min(len / 2) };
                for (tag, len) in (0..).zip(tag_lengths(len, tags)) {
                    sections.push(HostSection::new(next, len, (island % THEMES as u64) as usize, Some(island)));
                    on_last.push(tag > 0);
                    next = next.saturating_add(len);
                }
            }
            islands.push(first..sections.len());
        }
        let topical = ((spec.hosts as f64 * spec.topical_hosts + 1e-6) as u64).min(spec.hosts - 1);
        let first_ordinary = topical.min(sections.len() as u64);
        let ordinary = spec.hosts - first_ordinary;
        let mut last = 0;
        for (index, (section, on_last)) in (0..).zip(sections.iter_mut().zip(on_last)) {
            // Each topical host gets a section; the remaining sections are on any host.
            section.host = match on_last {
                true => last,
                false if index < first_ordinary => index,
                false => rng.below(spec.hosts),
            };
            last = section.host;
        }
        let mut tunnels = Vec::new();
        let mut departures = vec![Vec::new(); islands.len()];
        for (from, to) in joined(&spec, &mut rng) {
            let gap = gap(&spec, &mut rng);
            departures[from as usize].push(tunnels.len());
            tunnels.push(Tunnel { from, to, start: next, gap });
            next = next.saturating_add(gap);
        }
        if spec.pages < next.saturating_add(ordinary * LEAST) {
            return Err(SpecError::TooSmall { taken: next, hosts: ordinary, pages: spec.pages });
        }
        let first_off = sections.len();
        let spare = spec.pages - next - ordinary * LEAST;
        // Powers of 1 to 8: a few hosts are large, most are small.
        let weights: Vec<u64> = (0..ordinary).map(|_| rng.within([1, 8]).pow(spec.host_skew)).collect();
        let lens = shares(spare, &weights);
        let mut hosts: Vec<HostLayout> =
            (0..spec.hosts).map(|host| host_of(&spec, host, host >= first_ordinary)).collect();
        for (host, len) in (first_ordinary..).zip(lens) {
            let len = LEAST + len;
            let parts = if hosts[host as usize].traits.blog { rng.within(spec.tags).min(len / 2) } else { 1 };
            for len in tag_lengths(len, parts) {
                let mut topic = THEMES + rng.below((WORDS.topics.len() - THEMES) as u64) as usize;
                if spec.near_topics > 0.0 && rng.chance(spec.near_topics) {
                    topic = NEAR_TOPIC;
                }
                sections.push(HostSection { host, ..HostSection::new(next, len, topic, None) });
                next += len;
            }
        }
        for (index, section) in sections.iter_mut().enumerate() {
            let host = &mut hosts[section.host as usize];
            section.listings = match (section.len - 1, host.traits.blog) {
                (rest, true) => rest.saturating_sub(1) / (PER_LISTING + 1),
                (rest, false) => rest.div_ceil(PER_LISTING + 1),
            };
            host.articles += section.articles();
            if host.sections.is_empty() || section.island.is_none() && host.front < first_off {
                host.front = index;
            }
            host.sections.push(u32::try_from(index).expect("a section has two pages at least, and is remembered"));
        }
        let starts: Vec<u64> = sections.iter().map(|section| section.start).collect();
        let stride = stride(spec.pages, starts.len());
        let coarse =
            (0..=spec.pages / stride).map(|at| starts.partition_point(|&start| start <= at * stride) as u32 - 1);
        let coarse = coarse.collect();
        let mut layout =
            Self { spec, sections, tunnels, hosts, starts, coarse, islands, departures, first_ordinary, first_off };
        for index in 0..layout.sections.len() {
            layout.sections[index].base = layout.section_base(index).into();
        }
        Ok(layout)
    }

    pub fn island_sections(&self, island: u64) -> std::ops::Range<usize> {
        self.islands[island as usize].clone()
    }

    pub fn departures(&self, island: u64) -> &[usize] {
        &self.departures[island as usize]
    }

    pub fn island_page(&self, island: u64, index: u64) -> u64 {
        self.sections[self.islands[island as usize].start].start + index
    }

    pub fn island_len(&self, island: u64) -> u64 {
        let sections = &self.sections[self.islands[island as usize].clone()];
        sections.last().map_or(0, |last| last.start + last.len - sections[0].start)
    }

    pub fn region_start(&self) -> u64 {
        self.sections[self.first_off].start
    }

    /// Section index and position of a page.
    pub fn locate(&self, page: u64) -> (usize, PagePosition) {
        let islands_end = self.tunnels.first().map_or(self.region_start(), |tunnel| tunnel.start);
        if page >= islands_end && page < self.region_start() {
            let tunnel = self.tunnels.partition_point(|tunnel| tunnel.start <= page) - 1;
            let off = (self.sections.len() - self.first_off) as u64;
            let section = SeededRng::new(self.spec.seed, salt::TUNNEL, page).below(off);
            return (
                self.first_off + section as usize,
                PagePosition::Tunnel(tunnel, page - self.tunnels[tunnel].start),
            );
        }
        let at = (page / stride(self.spec.pages, self.starts.len())) as usize;
        let first = self.coarse[at] as usize;
        let last = self.coarse.get(at + 1).map_or(self.starts.len() - 1, |&last| last as usize);
        let index = first + self.starts[first..=last].partition_point(|&start| start <= page) - 1;
        let section = &self.sections[index];
        let local = page - section.start;
        let position = match local {
            0 => PagePosition::Home,
            _ if local <= section.listings => PagePosition::Listing(local),
            _ => PagePosition::Article(local - 1 - section.listings),
        };
        (index, position)
    }

    /// Topic of a page: an index into the table of topics.
    pub fn topic(&self, page: u64) -> usize {
        let (section, position) = self.locate(page);
        self.topic_at(page, section, position)
    }

    /// The same for a page that is located already.
    pub fn topic_at(&self, page: u64, section: usize, position: PagePosition) -> usize {
        match position {
            PagePosition::Tunnel(..) => {
                let off = (WORDS.topics.len() - THEMES) as u64;
                THEMES + SeededRng::new(self.spec.seed, salt::TUNNEL, !page).below(off) as usize
            }
            _ => self.sections[section].topic,
        }
    }

    /// Whether a page is on topic. A blog's tag pages are not, although they lead to such pages.
    pub fn is_relevant(&self, page: u64) -> bool {
        let (section, position) = self.locate(page);
        let listing = matches!(position, PagePosition::Home | PagePosition::Listing(_));
        topic_is_on(self.topic_at(page, section, position)) && !(listing && self.host_at(section).traits.blog)
    }

    pub fn host_at(&self, section: usize) -> &HostLayout {
        &self.hosts[self.sections[section].host as usize]
    }

    /// An article of a host by its position in an order that mixes the tags.
    pub fn host_article(&self, host: u64, position: u64) -> u64 {
        let host = &self.hosts[host as usize];
        self.mixed(host.sections.iter().map(|&section| section as usize), host.articles, position)
    }

    pub fn category(&self, section: usize) -> u64 {
        match self.sections[section].island {
            Some(_) => 0,
            None => SeededRng::new(self.spec.seed, salt::HABITS, !(section as u64)).below(self.spec.categories),
        }
    }

    fn tags_in(&self, host: u64, category: u64) -> impl Iterator<Item = usize> {
        let sections = self.hosts[host as usize].sections.iter().map(|&section| section as usize);
        sections.filter(move |&section| self.category(section) == category)
    }

    pub fn category_articles(&self, host: u64, category: u64) -> u64 {
        self.tags_in(host, category).map(|section| self.sections[section].articles()).sum()
    }

    /// A post of a category by its position among `articles`, with mixed tags.
    pub fn category_article(&self, host: u64, category: u64, articles: u64, position: u64) -> u64 {
        self.mixed(self.tags_in(host, category), articles, position)
    }

    /// An article of these sections, `count` in total, by position.
    fn mixed(&self, sections: impl Iterator<Item = usize>, count: u64, position: u64) -> u64 {
        // A stride of about the golden section, made coprime: adjacent positions are in different sections.
        let mut stride = (count as f64 * 0.618) as u64 | 1;
        while gcd(stride, count) != 1 {
            stride += 2;
        }
        let mut left = (u128::from(position % count) * u128::from(stride) % u128::from(count)) as u64;
        for section in sections {
            let section = &self.sections[section];
            if left < section.articles() {
                return section.article(left);
            }
            left -= section.articles();
        }
        unreachable!("the articles are those of the sections")
    }
}

/// Pages between two entries of the lookup table, for about as many entries as sections.
fn stride(pages: u64, sections: usize) -> u64 {
    (pages / sections as u64).max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn island_size(spec: &WebSpec, rng: &mut SeededRng) -> u64 {
    let [least, most] = spec.island_pages;
    if spec.island_skew == 0.0 {
        return rng.within(spec.island_pages);
    }
    least + (rng.unit().powf(1.0 + spec.island_skew) * (most - least + 1) as f64) as u64
}

/// Pages per tag. Each tag has a home and an article; the rest follows Zipf's law, the largest tag first.
fn tag_lengths(pages: u64, tags: u64) -> impl Iterator<Item = u64> {
    let weights: Vec<u64> = (1..=tags).map(|rank| 1_000_000 / rank).collect();
    shares(pages - 2 * tags, &weights).into_iter().map(|more| 2 + more)
}

/// `sum` divided by weights, without remainder.
fn shares(sum: u64, weights: &[u64]) -> Vec<u64> {
    let total = u128::from(weights.iter().sum::<u64>().max(1));
    let mut weighed = 0;
    let mut cut = |weight: &u64| {
        let before = u128::from(sum) * weighed / total;
        weighed += u128::from(*weight);
        (u128::from(sum) * weighed / total - before) as u64
    };
    weights.iter().map(&mut cut).collect()
}

/// A host's name. It contains the host's number, so that no table is needed to find it.
fn host_name(seed: u64, host: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "hai", "lan", "yun", "shan", "bei", "he", "tian", "xing", "qing", "song", "zhu", "feng", "lin", "jiang",
        "ming", "yue",
    ];
    let mut rng = SeededRng::new(seed, salt::HOST, !host);
    let first = rng.pick(&["www", "news", "bbs", "blog", "m", "city"]);
    let (a, b) = (rng.pick(&SYLLABLES), rng.pick(&SYLLABLES));
    format!("{first}.{a}{b}{host}.test")
}

fn host_of(spec: &WebSpec, host: u64, ordinary: bool) -> HostLayout {
    let mut rng = SeededRng::new(spec.seed, salt::HOST, host);
    // A separate stream, so that traits added later do not change the earlier ones.
    let mut later = SeededRng::new(spec.seed, salt::HABITS, host);
    let traits = HostTraits {
        skin: rng.below(4),
        gbk: rng.chance(spec.gbk_hosts),
        in_header: rng.chance(0.5),
        session: rng.chance(spec.session_hosts),
        robots: rng.chance(spec.robots_hosts),
        calendar: rng.chance(spec.calendar_hosts) && ordinary,
        blog: rng.chance(spec.blog_hosts),
        has_blogroll: rng.chance(spec.friend_hosts),
        dated: later.chance(spec.dated_hosts),
        marked: later.chance(spec.marked_dates),
    };
    HostLayout { name: host_name(spec.seed, host).into(), traits, sections: Vec::new(), articles: 0, front: 0 }
}

/// The tunnels, as (from, to).
fn joined(spec: &WebSpec, rng: &mut SeededRng) -> Vec<(u64, u64)> {
    let islands = spec.islands;
    match spec.shape {
        PathShape::Tree => {
            let to = (1..islands).flat_map(|to| (0..spec.tunnels).map(move |_| to));
            to.map(|to| (rng.below(to), to)).collect()
        }
        PathShape::SmallWorld => {
            let mut out = Vec::new();
            for from in 0..islands {
                for step in 1..=spec.tunnels.min(islands.saturating_sub(1)) {
                    let mut to = (from + step) % islands;
                    // The nearest neighbours remain joined, so that no island is isolated.
                    if step > 1 && rng.chance(spec.rewired) {
                        to = (from + 1 + rng.below(islands - 1)) % islands;
                    }
                    out.extend([(from, to), (to, from)]);
                }
            }
            out
        }
    }
}

/// Off-topic pages on a tunnel: binomial, with a success probability that varies uniformly around its mean, so that
/// short and long tunnels are as common as on the real web.
fn gap(spec: &WebSpec, rng: &mut SeededRng) -> u64 {
    let width = spec.gap[1] - spec.gap[0];
    let mean = if width == 0 { 0.0 } else { (spec.gap_mean - spec.gap[0] as f64) / width as f64 };
    let spread = mean.min(1.0 - mean);
    let p = mean + spread * (rng.below(2_001) as f64 / 1_000.0 - 1.0);
    spec.gap[0] + (0..width).filter(|_| rng.chance(p)).count() as u64
}
