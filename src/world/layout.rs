//! Which page number stands where, and what its URL is. Tables of sections, bridges and hosts; nothing per page.
//!
//! Numbers run through the islands' sections, then the bridges, then one section for each off-topic host. A section
//! is a directory of one host: page 0 its home, pages 1 to L its listings of ten articles each, then the articles.
//! A bridge page looks like an article of the off-topic section it lies in, with a number beyond that section's own.

use super::draw::Draw;
use super::spec::{Spec, SpecError};
use super::words::{SPORTS, THEMES, TOPICS};

/// Smallest section: a home, a listing, ten articles.
const LEAST: u64 = 12;
/// Articles on a listing.
pub(super) const PER_LISTING: u64 = 10;

/// Salts: what a [`Draw`] is for.
pub(super) mod salt {
    pub const LAYOUT: u64 = 1;
    pub const HOST: u64 = 2;
    pub const SECTION: u64 = 3;
    pub const BRIDGE: u64 = 4;
    pub const DATE: u64 = 5;
    pub const TITLE: u64 = 6;
    pub const TEXT: u64 = 7;
    pub const LINKS: u64 = 8;
    pub const SAMPLE: u64 = 9;
    pub const HEAD: u64 = 10;
}

/// A directory of one host, about one topic.
pub(super) struct Section {
    pub host: u64,
    pub start: u64,
    pub len: u64,
    /// Index into [`TOPICS`].
    pub topic: usize,
    pub island: Option<u64>,
}

impl Section {
    pub fn listings(&self) -> u64 {
        (self.len - 1).div_ceil(PER_LISTING + 1)
    }

    pub fn articles(&self) -> u64 {
        self.len - 1 - self.listings()
    }

    /// Page number of an article, from 0.
    pub fn article(&self, index: u64) -> u64 {
        self.start + 1 + self.listings() + index
    }
}

/// A row of off-topic pages from one island to another.
pub(super) struct Bridge {
    pub from: u64,
    pub to: u64,
    pub start: u64,
    pub gap: u64,
}

/// What a page number stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Home,
    /// From 1.
    Listing(u64),
    /// From 0.
    Article(u64),
    /// Which bridge, and how many of its pages come before.
    Bridge(usize, u64),
}

/// A host's habits.
#[derive(Clone, Copy)]
pub(super) struct Host {
    /// Template, 0 to 3, and with it the form of its URLs.
    pub skin: u64,
    pub gbk: bool,
    /// The charset stands in the header, not only in a meta tag.
    pub in_header: bool,
    pub session: bool,
    pub robots: bool,
    pub calendar: bool,
}

pub(super) struct Layout {
    pub spec: Spec,
    pub sections: Vec<Section>,
    pub bridges: Vec<Bridge>,
    /// Sections of each island.
    islands: Vec<std::ops::Range<usize>>,
    /// Bridges that start on each island.
    departures: Vec<Vec<usize>>,
    /// Hosts with nothing but the topic come first; this is the first other one.
    pub first_ordinary: u64,
    /// Index of the first off-topic section: that of host `first_ordinary`; the others follow in order.
    pub first_off: usize,
}

impl Layout {
    pub fn new(spec: Spec) -> Result<Self, SpecError> {
        spec.check()?;
        let mut draw = Draw::new(spec.seed, salt::LAYOUT, 0);
        let mut sections = Vec::new();
        let mut islands = Vec::new();
        let mut next = 0;
        for island in 0..spec.islands {
            let size = draw.within(spec.island_pages);
            let parts = draw.within(spec.island_hosts).min(size / LEAST).max(1);
            let first = sections.len();
            for part in 0..parts {
                let len = size / parts + u64::from(part < size % parts);
                let topic = (island % THEMES as u64) as usize;
                sections.push(Section { host: 0, start: next, len, topic, island: Some(island) });
                next = next.saturating_add(len);
            }
            islands.push(first..sections.len());
        }
        let first_ordinary = (spec.hosts * 3 / 10).clamp(1, sections.len() as u64);
        let ordinary = spec.hosts - first_ordinary;
        for (index, section) in (0..).zip(&mut sections) {
            // Each topical host gets a section; the sections left over lie on any host.
            section.host = if index < first_ordinary { index } else { draw.below(spec.hosts) };
        }
        let mut bridges = Vec::new();
        let mut departures = vec![Vec::new(); islands.len()];
        for to in 1..spec.islands {
            for _ in 0..spec.bridges {
                let from = draw.below(to);
                let gap = gap(&spec, &mut draw);
                departures[from as usize].push(bridges.len());
                bridges.push(Bridge { from, to, start: next, gap });
                next = next.saturating_add(gap);
            }
        }
        if spec.pages < next.saturating_add(ordinary * LEAST) {
            return Err(SpecError::TooSmall { taken: next, hosts: ordinary, pages: spec.pages });
        }
        let first_off = sections.len();
        let spare = spec.pages - next - ordinary * LEAST;
        // Cubes of 1 to 8: a few hosts are large, most are small.
        let weights: Vec<u64> = (0..ordinary).map(|_| draw.within([1, 8]).pow(3)).collect();
        let total: u64 = weights.iter().sum();
        let mut sum = 0;
        for (host, weight) in (first_ordinary..).zip(weights) {
            let before = (u128::from(spare) * u128::from(sum) / u128::from(total)) as u64;
            sum += weight;
            let after = (u128::from(spare) * u128::from(sum) / u128::from(total)) as u64;
            let len = LEAST + after - before;
            let topic = THEMES + draw.below((TOPICS.len() - THEMES) as u64) as usize;
            sections.push(Section { host, start: next, len, topic, island: None });
            next += len;
        }
        Ok(Self { spec, sections, bridges, islands, departures, first_ordinary, first_off })
    }

    /// Indices of an island's sections.
    pub fn island_sections(&self, island: u64) -> std::ops::Range<usize> {
        self.islands[island as usize].clone()
    }

    /// Indices of the bridges that start on an island.
    pub fn departures(&self, island: u64) -> &[usize] {
        &self.departures[island as usize]
    }

    /// A page of an island by its number within it.
    pub fn island_page(&self, island: u64, index: u64) -> u64 {
        self.sections[self.islands[island as usize].start].start + index
    }

    /// Pages of an island.
    pub fn island_len(&self, island: u64) -> u64 {
        self.sections[self.islands[island as usize].clone()].iter().map(|section| section.len).sum()
    }

    /// First page number of the off-topic region.
    pub fn region_start(&self) -> u64 {
        self.sections[self.first_off].start
    }

    /// Index of the section a page lies in, and what it is there.
    pub fn locate(&self, page: u64) -> (usize, Place) {
        let islands_end = self.bridges.first().map_or(self.region_start(), |bridge| bridge.start);
        if page >= islands_end && page < self.region_start() {
            let bridge = self.bridges.partition_point(|bridge| bridge.start <= page) - 1;
            let ordinary = (self.sections.len() - self.first_off) as u64;
            let section = Draw::new(self.spec.seed, salt::BRIDGE, page).below(ordinary);
            return (self.first_off + section as usize, Place::Bridge(bridge, page - self.bridges[bridge].start));
        }
        let index = self.sections.partition_point(|section| section.start <= page) - 1;
        let section = &self.sections[index];
        let local = page - section.start;
        let place = match local {
            0 => Place::Home,
            _ if local <= section.listings() => Place::Listing(local),
            _ => Place::Article(local - 1 - section.listings()),
        };
        (index, place)
    }

    /// A host's habits.
    pub fn host(&self, host: u64) -> Host {
        let mut draw = Draw::new(self.spec.seed, salt::HOST, host);
        Host {
            skin: draw.below(4),
            gbk: draw.chance(self.spec.gbk_hosts),
            in_header: draw.chance(0.5),
            session: draw.chance(self.spec.session_hosts),
            robots: draw.chance(self.spec.robots_hosts),
            calendar: draw.chance(self.spec.calendar_hosts) && host >= self.first_ordinary,
        }
    }

    /// A host's name. Its number stands in it, so that no table is needed.
    pub fn host_name(&self, host: u64) -> String {
        const SYLLABLES: [&str; 16] = [
            "hai", "lan", "yun", "shan", "bei", "he", "tian", "xing", "qing", "song", "zhu", "feng", "lin", "jiang",
            "ming", "yue",
        ];
        let mut draw = Draw::new(self.spec.seed, salt::HOST, !host);
        let first = draw.pick(&["www", "news", "bbs", "blog", "m", "city"]);
        let (a, b) = (draw.pick(&SYLLABLES), draw.pick(&SYLLABLES));
        format!("{first}.{a}{b}{host}.test")
    }

    /// The host with this name.
    pub fn find_host(&self, name: &str) -> Option<u64> {
        let stem = name.strip_suffix(".test")?;
        let host = stem[stem.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()?;
        (host < self.spec.hosts && self.host_name(host) == name).then_some(host)
    }

    /// Index of the section a host's root redirects to.
    pub fn front(&self, host: u64) -> usize {
        if host < self.first_ordinary { host as usize } else { self.first_off + (host - self.first_ordinary) as usize }
    }

    /// A section's directory; its number stands in it.
    pub fn directory(&self, section: usize) -> String {
        let mut draw = Draw::new(self.spec.seed, salt::SECTION, section as u64);
        let topic = &TOPICS[self.sections[section].topic];
        let telling = draw.chance(self.spec.url_quality);
        let word = if !telling {
            draw.pick(&["c", "channel", "board", "news", "list", "zhuanlan"])
        } else if topic_is_on(self.sections[section].topic) && draw.chance(0.5) {
            draw.pick(SPORTS.dirs)
        } else {
            draw.pick(topic.dirs)
        };
        format!("{word}{section}")
    }

    /// A page's URL.
    pub fn url(&self, page: u64) -> String {
        let (index, place) = self.locate(page);
        let section = &self.sections[index];
        let mut url = self.section_url(index);
        let number = match place {
            Place::Bridge(bridge, at) => section.len + self.bridges[bridge].start + at,
            _ => page - section.start,
        };
        let tail = match (place, self.host(section.host).skin) {
            (Place::Home, 1) => "index.html".to_owned(),
            (Place::Home, _) => String::new(),
            (Place::Listing(_), 0) => format!("list_{number}.html"),
            (Place::Listing(_), 1) => format!("index_{number}.html"),
            (Place::Listing(_), 2) => format!("?page={number}"),
            (Place::Listing(_), _) => format!("page/{number}/"),
            (_, 0) => {
                let mut draw = Draw::new(self.spec.seed, salt::DATE, page);
                let (year, month, day) = (draw.within([2015, 2024]), draw.within([1, 12]), draw.within([1, 28]));
                format!("{year}/{month:02}{day:02}/{number}.html")
            }
            (_, 1) => format!("{number}.html"),
            (_, 2) => format!("show?id={number}"),
            (_, _) => format!("p/{number}/"),
        };
        url.push_str(&tail);
        url
    }

    /// A section's base URL, with the slash.
    pub fn section_url(&self, section: usize) -> String {
        format!("http://{}/{}/", self.host_name(self.sections[section].host), self.directory(section))
    }

    /// The page of this host with this URL.
    pub fn find_page(&self, host: u64, url: &str) -> Option<u64> {
        let path = url.strip_prefix("http://")?.split_once('/')?.1;
        let directory = path.split('/').next()?;
        let digits = directory.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let index: usize = directory[digits..].parse().ok()?;
        let section = self.sections.get(index).filter(|section| section.host == host)?;
        let tail = &path[directory.len()..];
        let end = tail.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
        let start = tail[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        let number: u64 = if end == 0 { 0 } else { tail[start..end].parse().ok()? };
        let page = if number < section.len { section.start + number } else { number - section.len };
        (page < self.spec.pages && self.url(page) == url).then_some(page)
    }
}

/// Off-topic pages on a bridge: binomial, with a success probability that itself varies evenly around its mean, so that
/// short and long bridges are as common as on the real web.
fn gap(spec: &Spec, draw: &mut Draw) -> u64 {
    let width = spec.gap[1] - spec.gap[0];
    let mean = if width == 0 { 0.0 } else { (spec.gap_mean - spec.gap[0] as f64) / width as f64 };
    let spread = mean.min(1.0 - mean);
    let p = mean + spread * (draw.below(2_001) as f64 / 1_000.0 - 1.0);
    spec.gap[0] + (0..width).filter(|_| draw.chance(p)).count() as u64
}

/// Whether a topic is the web's.
pub(super) fn topic_is_on(topic: usize) -> bool {
    topic < THEMES
}
