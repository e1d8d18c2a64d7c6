//! URLs of the generated pages, in both directions.

use std::fmt::Write as _;

use super::layout::Layout;
use super::target::{AuxPage, LinkTarget, PER_LISTING, PagePosition, salt, topic_is_on};
use super::words::{THEMES, WORDS, vocabulary};
use suidao_page::seeded_rng::SeededRng;

pub(super) const PER_ARCHIVE: u64 = 20;
pub(super) const PER_FRONT: u64 = 10;

/// Paths of blogrolls. The last looks like a tag page, like one that two real crawls missed.
const BLOGROLLS: [&str; 5] = ["/links/", "/friends/", "/link/", "/friends/index.html", "/tags/link.html"];
/// Paths of a blog's tag directory, by skin.
const TAGS: [&str; 4] = ["/tags/", "/categories/", "/tags/", "/tag/"];

pub(super) fn alias_url(url: &str) -> String {
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}from=related")
}

/// Writes to a string, which never fails.
macro_rules! put {
    ($out:expr, $($rest:tt)*) => {{ let _ = write!($out, $($rest)*); }};
}

impl Layout {
    pub fn find_host(&self, name: &str) -> Option<u64> {
        let stem = name.strip_suffix(".test")?;
        let host: u64 = stem[stem.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()?;
        let found = self.hosts.get(usize::try_from(host).ok()?)?;
        (*found.name == *name).then_some(host)
    }

    /// A section's URL, which contains its number.
    pub fn section_base(&self, section: usize) -> String {
        let mut rng = SeededRng::new(self.spec.seed, salt::SECTION, section as u64);
        let topic = self.sections[section].topic;
        let names_topic = rng.chance(self.spec.url_quality);
        let word = if !names_topic {
            rng.pick(&["c", "channel", "board", "news", "list", "zhuanlan"])
        } else if topic_is_on(topic) && rng.chance(0.5) {
            rng.pick(WORDS.sports.dirs)
        } else {
            rng.pick(vocabulary(topic).0.dirs)
        };
        let host = self.host_at(section);
        let above = if host.traits.blog { TAGS[host.traits.skin as usize] } else { "/" };
        format!("http://{}{above}{word}{section}/", host.name)
    }

    /// Name of a blog's tag, and its topic if the name reveals one: usually the section's own.
    pub fn tag(&self, section: usize) -> (Option<usize>, &'static str) {
        let mut rng = SeededRng::new(self.spec.seed, salt::SECTION, !(section as u64));
        let topic = self.sections[section].topic;
        let names_topic = rng.chance(self.spec.url_quality);
        let misleads = !topic_is_on(topic) && rng.chance(self.spec.misleading);
        let topic = if misleads { rng.below(THEMES as u64) as usize } else { topic };
        if names_topic {
            (Some(topic), rng.pick(vocabulary(topic).0.nouns))
        } else {
            (None, rng.pick(WORDS.blank_tags))
        }
    }

    pub fn url(&self, page: u64) -> String {
        let mut out = String::with_capacity(64);
        self.put_url(page, &mut out);
        out
    }

    pub fn date(&self, page: u64) -> (u64, u64, u64) {
        let mut rng = SeededRng::new(self.spec.seed, salt::DATE, page);
        (rng.within([2015, 2024]), rng.within([1, 12]), rng.within([1, 28]))
    }

    pub fn put_url(&self, page: u64, out: &mut String) {
        let (index, position) = self.locate(page);
        let section = &self.sections[index];
        let host = self.host_at(index);
        let number = match position {
            PagePosition::Tunnel(tunnel, at) => section.len + self.tunnels[tunnel].start + at,
            _ => page - section.start,
        };
        let (skin, blog) = (host.traits.skin, host.traits.blog);
        if blog && matches!(position, PagePosition::Article(_) | PagePosition::Tunnel(..)) {
            put!(out, "http://{}/", host.name);
            match skin {
                0 => {
                    let (year, month, day) = self.date(page);
                    put!(out, "{year}/{month:02}/{day:02}/{index}-{number}/");
                }
                1 => put!(out, "posts/{index}-{number}.html"),
                2 => put!(out, "article/{index}-{number}/"),
                _ => put!(out, "post/{index}-{number}/"),
            }
            return;
        }
        out.push_str(&section.base);
        match (position, skin) {
            (PagePosition::Home, 1) if !blog => out.push_str("index.html"),
            (PagePosition::Home, _) => {}
            (PagePosition::Listing(_), _) if blog => put!(out, "page/{}/", number + 1),
            (PagePosition::Listing(_), 0) => put!(out, "list_{number}.html"),
            (PagePosition::Listing(_), 1) => put!(out, "index_{number}.html"),
            (PagePosition::Listing(_), 2) => put!(out, "?page={number}"),
            (PagePosition::Listing(_), _) => put!(out, "page/{number}/"),
            (_, 0) => {
                let (year, month, day) = self.date(page);
                put!(out, "{year}/{month:02}{day:02}/{number}.html");
            }
            (_, 1) => put!(out, "{number}.html"),
            (_, 2) => put!(out, "show?id={number}"),
            (_, _) => put!(out, "p/{number}/"),
        }
    }

    pub fn find_page(&self, host: u64, url: &str) -> Option<u64> {
        let path = url.strip_prefix("http://")?.split_once('/')?.1;
        let directory = match (self.hosts[host as usize].traits.blog, path.split_once('/')) {
            (true, Some((above, rest))) if TAGS.iter().any(|tags| tags.trim_matches('/') == above) => {
                rest.split('/').next()?
            }
            (true, _) => return self.find_post(path, url),
            (false, _) => path.split('/').next()?,
        };
        let digits = directory.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let index: usize = directory[digits..].parse().ok()?;
        let section = self.sections.get(index).filter(|section| section.host == host)?;
        let tail = url.strip_prefix(&*section.base)?;
        let end = tail.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
        let start = tail[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        let mut number: u64 = if end == 0 { 0 } else { tail[start..end].parse().ok()? };
        if self.hosts[host as usize].traits.blog {
            number = number.saturating_sub(1);
        }
        self.numbered(index, number, url)
    }

    fn find_post(&self, path: &str, url: &str) -> Option<u64> {
        let last = path.trim_end_matches('/').trim_end_matches(".html").rsplit('/').next()?;
        let (index, number) = last.split_once('-')?;
        let index: usize = index.parse().ok()?;
        self.sections.get(index)?;
        self.numbered(index, number.parse().ok()?, url)
    }

    /// The page with this number in a section, if that is its URL.
    fn numbered(&self, section: usize, number: u64, url: &str) -> Option<u64> {
        let section = &self.sections[section];
        let page = if number < section.len { section.start + number } else { number - section.len };
        (page < self.spec.pages && self.url(page) == url).then_some(page)
    }

    pub fn aux_path(&self, host: u64, aux: AuxPage) -> String {
        let paged = |base: &str, at| if at == 0 { base.to_owned() } else { format!("{base}page/{}/", at + 1) };
        match aux {
            AuxPage::Month(count) => format!("/calendar/{}-{:02}.html", 2000 + count / 12, count % 12 + 1),
            AuxPage::Private(page) => format!("/private/{page}.html"),
            AuxPage::Front(at) => paged("/", at),
            AuxPage::Archive(at) => paged("/archives/", at),
            AuxPage::Category(which, at) => paged(&format!("/category/c{which}/"), at),
            AuxPage::Tags => TAGS[self.hosts[host as usize].traits.skin as usize].to_owned(),
            AuxPage::Blogroll => BLOGROLLS[(host % BLOGROLLS.len() as u64) as usize].to_owned(),
        }
    }

    pub fn put_target(&self, target: LinkTarget, out: &mut String) {
        let root = |host: u64, out: &mut String| put!(out, "http://{}", self.hosts[host as usize].name);
        match target {
            LinkTarget::Page(page) => self.put_url(page, out),
            LinkTarget::AliasUrl(page) => out.push_str(&alias_url(&self.url(page))),
            LinkTarget::Redirect(page) => {
                root(self.sections[self.locate(page).0].host, out);
                put!(out, "/go/{page}");
            }
            LinkTarget::Root(host) => {
                root(host, out);
                out.push('/');
            }
            LinkTarget::Missing(host, bits) => {
                root(host, out);
                put!(out, "/old/{:x}.html", bits >> 32);
            }
            LinkTarget::NoHost(bits) => put!(out, "http://www.gone{:x}.test/", bits >> 48),
            LinkTarget::Aux(host, aux) => {
                root(host, out);
                out.push_str(&self.aux_path(host, aux));
            }
        }
    }

    /// Redirect target of the root of a host that is not a blog.
    pub fn front_url(&self, host: u64) -> String {
        self.sections[self.hosts[host as usize].front].base.to_string()
    }

    /// A number for an auxiliary page, to seed draws.
    pub fn aux_number(&self, host: u64, aux: AuxPage) -> u64 {
        let (kind, at) = match aux {
            AuxPage::Month(at) => (0, at),
            AuxPage::Private(at) => (1, at),
            AuxPage::Front(at) => (2, at),
            AuxPage::Archive(at) => (3, at),
            AuxPage::Tags => (4, 0),
            AuxPage::Blogroll => (5, 0),
            AuxPage::Category(which, at) => (6, which << 20 | at),
        };
        (host << 32) ^ (at << 3) ^ kind
    }

    /// The host's auxiliary page with this path, if any.
    pub fn find_aux(&self, host: u64, path: &str) -> Option<AuxPage> {
        let traits = self.hosts[host as usize].traits;
        let at = |base: &str| {
            let tail = path.strip_prefix(base)?.strip_prefix("page/")?.strip_suffix('/')?;
            tail.parse::<u64>().ok()?.checked_sub(1)
        };
        let month = || {
            let (year, month) = path.strip_prefix("/calendar/")?.strip_suffix(".html")?.split_once('-')?;
            let (year, month): (u64, u64) = (year.parse().ok()?, month.parse().ok()?);
            Some(AuxPage::Month(year.checked_sub(2000)?.checked_mul(12)?.checked_add(month.checked_sub(1)?)?))
        };
        let private = || Some(AuxPage::Private(path.strip_prefix("/private/")?.strip_suffix(".html")?.parse().ok()?));
        let category = || {
            let (which, _) = path.strip_prefix("/category/c")?.split_once('/')?;
            Some(AuxPage::Category(which.parse().ok()?, at(&format!("/category/c{which}/")).unwrap_or(0)))
        };
        let candidates = [
            traits.has_blogroll.then_some(AuxPage::Blogroll),
            traits.blog.then_some(AuxPage::Tags),
            traits.blog.then(|| AuxPage::Front(at("/").unwrap_or(0))),
            traits.blog.then(|| AuxPage::Archive(at("/archives/").unwrap_or(0))),
            if traits.blog { category() } else { None },
            if traits.calendar { month() } else { None },
            if traits.robots { private() } else { None },
        ];
        let found = candidates.into_iter().flatten().find(|&aux| self.aux_path(host, aux) == path)?;
        self.aux_exists(host, found).then_some(found)
    }

    /// Whether a blog has that many pages of posts.
    fn aux_exists(&self, host: u64, aux: AuxPage) -> bool {
        let articles = self.hosts[host as usize].articles;
        match aux {
            AuxPage::Front(at) => at == 0 || at < articles.div_ceil(PER_FRONT),
            AuxPage::Archive(at) => at == 0 || at < articles.div_ceil(PER_ARCHIVE),
            AuxPage::Category(which, at) => {
                let articles = || self.category_articles(host, which);
                which < self.spec.categories && (at == 0 || at < articles().div_ceil(PER_LISTING))
            }
            _ => true,
        }
    }
}
