//! Responses of the generated web: pages, redirects, robots.txt, traps and errors.

use bytes::Bytes;

use super::html::{Anchor, HtmlPage};
use super::links::{PlannedLink, TemplateBlock};
use super::target::{AuxPage, salt};
use super::truth::{SyntheticWeb, crawl_url};
use super::words::{NEAR_TOPIC, THEMES, WORDS};
use super::write;
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched};
use suidao_page::seeded_rng::SeededRng;

const SAMPLE_HOSTS: u64 = 5;

/// A response with the fields common to all generated webs, including a constant `date`, so that HTTP adds nothing.
pub(super) fn response(url: &CrawlUrl, status: u16, media: &str, further: &[(&str, String)], body: Bytes) -> Fetched {
    let mut headers = vec![
        ("server".to_owned(), "suidao-world".to_owned()),
        ("date".to_owned(), "Wed, 01 Jan 2025 00:00:00 GMT".to_owned()),
        ("content-type".to_owned(), media.to_owned()),
    ];
    headers.extend(further.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    headers.push(("content-length".to_owned(), body.len().to_string()));
    Fetched::new(url.clone(), status, headers, body)
}

pub(super) fn failure(kind: FailureKind) -> Failure {
    Failure { kind, retry_after: None }
}

pub(super) enum ResolvedUrl {
    NoHost,
    NoServer,
    Redirect(u16, String),
    Robots(u64),
    /// A page, under its first or second URL.
    Page(u64),
    /// An auxiliary page of this host.
    Aux(u64, AuxPage),
    Sample,
    Missing,
}

impl SyntheticWeb {
    /// Resolves a URL, without content.
    pub(super) fn lookup(&self, url: &CrawlUrl) -> ResolvedUrl {
        let sample = url.host().ends_with(".sample.test");
        let host = self.layout.find_host(url.host());
        if host.is_none() && !sample {
            return ResolvedUrl::NoHost;
        }
        if url.scheme() != "http" || url.has_port() {
            return ResolvedUrl::NoServer;
        }
        let Some(host) = host else { return ResolvedUrl::Sample };
        let traits = self.layout.hosts[host as usize].traits;
        if url.query().is_none() {
            match url.path() {
                "/" if !traits.blog => return ResolvedUrl::Redirect(302, self.layout.front_url(host)),
                "/robots.txt" if traits.robots => return ResolvedUrl::Robots(host),
                _ => {}
            }
            if let Some(page) = number(url.path(), "/go/", "").filter(|&page| page < self.layout.spec.pages)
                && self.layout.sections[self.layout.locate(page).0].host == host
            {
                return ResolvedUrl::Redirect(if page % 2 == 0 { 301 } else { 302 }, self.layout.url(page));
            }
            if let Some(aux) = self.layout.find_aux(host, url.path()) {
                return ResolvedUrl::Aux(host, aux);
            }
        }
        self.find(host, url.as_str()).map_or(ResolvedUrl::Missing, ResolvedUrl::Page)
    }
}

impl Web for SyntheticWeb {
    /// Unknown hosts fail with [`FailureKind::Dns`], other schemes and ports with [`FailureKind::Connect`].
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        Ok(match self.lookup(url) {
            ResolvedUrl::NoHost => return Err(failure(FailureKind::Dns)),
            ResolvedUrl::NoServer => return Err(failure(FailureKind::Connect)),
            ResolvedUrl::Redirect(status, to) => moved(url, status, &to),
            ResolvedUrl::Robots(host) => {
                response(url, 200, "text/plain; charset=utf-8", &[], Bytes::from(self.robots(host)))
            }
            ResolvedUrl::Page(page) => self.page_response(url, page),
            ResolvedUrl::Aux(host, aux) => self.aux_response(url, host, aux),
            ResolvedUrl::Sample => self.sample_response(url),
            ResolvedUrl::Missing => missing(url),
        })
    }
}

pub(super) fn moved(url: &CrawlUrl, status: u16, to: &str) -> Fetched {
    let body = Bytes::from(format!("<html><body><a href=\"{to}\">{status}</a></body></html>"));
    response(url, status, "text/html", &[("location", to.to_owned())], body)
}

pub(super) fn missing(url: &CrawlUrl) -> Fetched {
    let body = "<html><head><title>404</title></head><body><p>页面不存在</p></body></html>";
    response(url, 404, "text/html; charset=utf-8", &[], Bytes::from_static(body.as_bytes()))
}

/// The number between a prefix and a suffix, written without leading zeros.
fn number(path: &str, prefix: &str, suffix: &str) -> Option<u64> {
    let digits = path.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

impl SyntheticWeb {
    fn page_response(&self, url: &CrawlUrl, page: u64) -> Fetched {
        let host = self.layout.sections[self.layout.locate(page).0].host;
        let mut rng = SeededRng::new(self.layout.spec.seed, salt::TEXT, page);
        let paragraphs = if self.has_text(page) {
            write::paragraphs(self.layout.topic(page), self.layout.spec.noise, &mut rng)
        } else {
            Vec::new()
        };
        let planned = self.layout.links(page);
        let links: Vec<Anchor> = planned.into_iter().map(|link| self.anchor(link, host, &mut rng)).collect();
        self.render(url, host, &self.layout.title(page), self.date(page), &paragraphs, &links)
    }

    /// The date on an article, on hosts that show dates.
    fn date(&self, page: u64) -> Option<(u64, u64, u64)> {
        let dated = self.layout.host_at(self.layout.locate(page).0).traits.dated;
        (dated && self.has_text(page)).then(|| self.layout.date(page))
    }

    /// An auxiliary page: a sentence, and its links.
    fn aux_response(&self, url: &CrawlUrl, host: u64, aux: AuxPage) -> Fetched {
        let topic = self.layout.sections[self.layout.hosts[host as usize].front].topic;
        let mut rng = SeededRng::new(self.layout.spec.seed, salt::TEXT, !self.layout.aux_number(host, aux));
        let mut text = String::new();
        write::sentence(topic, &mut rng, &mut text);
        let planned = self.layout.aux_links(host, aux);
        let links: Vec<Anchor> = planned.into_iter().map(|link| self.anchor(link, host, &mut rng)).collect();
        self.render(url, host, &self.layout.aux_title(host, aux), None, &[text], &links)
    }

    /// Renders a page and encodes it in its host's charset.
    fn render(
        &self,
        url: &CrawlUrl,
        host: u64,
        title: &str,
        date: Option<(u64, u64, u64)>,
        paragraphs: &[String],
        links: &[Anchor],
    ) -> Fetched {
        let site = self.layout.site(host);
        let host = self.layout.hosts[host as usize].traits;
        let charset = if host.gbk { "gbk" } else { "utf-8" };
        let (mut head, mut byline) = (String::new(), String::new());
        if let Some((year, month, day)) = date {
            let day = format!("{year}-{month:02}-{day:02}");
            byline = format!("<div class=\"post-meta\">发表于 {day}</div>\n");
            if host.marked {
                head = format!("<meta property=\"article:published_time\" content=\"{day}\">\n");
                byline = format!("<div class=\"post-meta\">发表于 <time datetime=\"{day}\">{day}</time></div>\n");
            }
        }
        let page = HtmlPage {
            skin: host.skin,
            meta_charset: (!host.in_header).then_some(charset),
            head: &head,
            site,
            title,
            byline: &byline,
            paragraphs,
            links,
        };
        let html = page.html();
        let body = if host.gbk { encoding_rs::GBK.encode(&html).0.into_owned() } else { html.into_bytes() };
        let media = if host.in_header { format!("text/html; charset={charset}") } else { "text/html".to_owned() };
        response(url, 200, &media, &[], Bytes::from(body))
    }

    /// A link as a page of host `from` writes it.
    fn anchor(&self, link: PlannedLink, from: u64, rng: &mut SeededRng) -> Anchor {
        let mut href = String::with_capacity(80);
        self.layout.put_target(link.target, &mut href);
        let host = &self.layout.hosts[from as usize];
        let own = href.strip_prefix("http://").and_then(|rest| rest.strip_prefix(&*host.name));
        if host.traits.session && own.is_some_and(|rest| rest.starts_with('/')) {
            let mark = if href.contains('?') { '&' } else { '?' };
            href.push_str(&format!("{mark}PHPSESSID={:016x}", rng.bits()));
        }
        let text = self.layout.words(link.anchor, rng);
        Anchor { href, block: link.block, text, context: self.layout.words(link.context, rng) }
    }

    /// Off-topic hosts disallow `/private/`.
    pub(super) fn robots(&self, host: u64) -> String {
        let forbidden = if host < self.layout.first_ordinary { "" } else { " /private/" };
        format!("User-agent: *\nDisallow:{forbidden}\n")
    }

    pub(super) fn sample(&self, on_topic: bool, index: u64) -> (CrawlUrl, String) {
        let mut rng = SeededRng::new(self.layout.spec.seed, salt::SAMPLE, index * 2 + u64::from(on_topic));
        let count = if on_topic { THEMES } else { WORDS.topics.len() - THEMES } as u64;
        let topic = (index % count) as usize + if on_topic { 0 } else { THEMES };
        let mut paragraphs = write::paragraphs(topic, self.layout.spec.noise, &mut rng);
        let mut links = Vec::new();
        if !on_topic && index.is_multiple_of(5) {
            let mut near = String::new();
            for _ in 0..2 {
                write::sentence(NEAR_TOPIC, &mut rng, &mut near);
            }
            paragraphs.push(near);
            let text = write::title(NEAR_TOPIC, &mut rng);
            let href = self.sample_url(true, index);
            links.push(Anchor { href, block: TemplateBlock::Inline, text, context: String::new() });
        }
        let page = HtmlPage {
            skin: index % 4,
            meta_charset: Some("utf-8"),
            head: "",
            site: WORDS.sites[(index % SAMPLE_HOSTS) as usize],
            title: &write::title(topic, &mut rng),
            byline: "",
            paragraphs: &paragraphs,
            links: &links,
        };
        (crawl_url(&self.sample_url(on_topic, index)), page.html())
    }

    fn sample_url(&self, on_topic: bool, index: u64) -> String {
        let directory = match on_topic {
            true if index.is_multiple_of(2) => WORDS.sports.dirs[(index / 2 % WORDS.sports.dirs.len() as u64) as usize],
            true => WORDS.topics[(index % THEMES as u64) as usize].dirs[0],
            false => WORDS.topics[THEMES + (index % (WORDS.topics.len() - THEMES) as u64) as usize].dirs[0],
        };
        format!("http://s{}.sample.test/{directory}/{index}.html", index % SAMPLE_HOSTS)
    }

    pub(super) fn sample_response(&self, url: &CrawlUrl) -> Fetched {
        let index = url.path().rsplit('/').next().and_then(|name| name.strip_suffix(".html")?.parse().ok());
        let found = index.into_iter().flat_map(|index: u64| [(true, index), (false, index)]);
        let mut found = found.filter(|&(on_topic, index)| self.sample_url(on_topic, index) == url.as_str());
        match found.next() {
            Some((on_topic, index)) => {
                response(url, 200, "text/html; charset=utf-8", &[], Bytes::from(self.sample(on_topic, index).1))
            }
            None => missing(url),
        }
    }
}
