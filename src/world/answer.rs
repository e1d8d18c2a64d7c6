//! The generated web's answers: pages, redirects, robots.txt, traps and errors.

use bytes::Bytes;

use super::draw::Draw;
use super::html::{Anchor, Sheet};
use super::layout::{Host, salt};
use super::links::{Planned, Slot, Target};
use super::truth::{World, crawl_url, twin};
use super::words::{SPORTS, THEMES, TOPICS};
use super::write;
use crate::model::{CrawlUrl, Failure, FailureKind, Fetched};
use crate::replay::Web;

/// Names of sites; none says what the site is about.
const SITES: [&str; 12] = [
    "海蓝网",
    "云山在线",
    "北河论坛",
    "天星社区",
    "青松门户",
    "竹风日报",
    "林江网",
    "明月博客",
    "山海周刊",
    "晨光网",
    "远帆在线",
    "长桥社区",
];
/// Hosts of the sample pages.
const SAMPLE_HOSTS: u64 = 5;

/// An answer with the fields every server of the generated webs sends, `date` (always the same) among them, so that
/// HTTP adds nothing to it on the way.
pub(super) fn answer(url: &CrawlUrl, status: u16, media: &str, more: &[(&str, String)], body: Bytes) -> Fetched {
    let mut headers = vec![
        ("server".to_owned(), "suidao-world".to_owned()),
        ("date".to_owned(), "Wed, 01 Jan 2025 00:00:00 GMT".to_owned()),
        ("content-type".to_owned(), media.to_owned()),
    ];
    headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    headers.push(("content-length".to_owned(), body.len().to_string()));
    Fetched { url: url.clone(), status, headers, body, wire: None }
}

/// A failure before any answer.
pub(super) fn failure(kind: FailureKind) -> Failure {
    Failure { kind, retry_after: None }
}

impl Web for World {
    /// Unknown hosts fail with [`FailureKind::Dns`], other schemes and ports than http's own with
    /// [`FailureKind::Connect`]; everything else is answered.
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let sample = url.host().ends_with(".sample.test");
        let host = self.layout.find_host(url.host());
        if host.is_none() && !sample {
            return Err(failure(FailureKind::Dns));
        }
        if url.scheme() != "http" || url.as_url().port().is_some() {
            return Err(failure(FailureKind::Connect));
        }
        let Some(host) = host else { return Ok(self.sample_answer(url)) };
        let habits = self.layout.host(host);
        if url.query().is_none() {
            match url.path() {
                "/" => return Ok(moved(url, 302, &self.layout.section_url(self.layout.front(host)))),
                "/robots.txt" if habits.robots => return Ok(self.robots(url, host)),
                _ => {}
            }
            if let Some(page) = number(url.path(), "/go/", "").filter(|&page| page < self.layout.spec.pages) {
                let to = self.layout.url(page);
                if crawl_url(&to).host() == url.host() {
                    return Ok(moved(url, if page % 2 == 0 { 301 } else { 302 }, &to));
                }
            }
            if let Some(month) = month(url.path()).filter(|_| habits.calendar) {
                return Ok(self.extra(url, host, &format!("{}年{}月", 2000 + month / 12, month % 12 + 1), month + 1));
            }
            if let Some(page) = number(url.path(), "/private/", ".html").filter(|_| habits.robots) {
                return Ok(self.extra(url, host, "会员中心", page));
            }
        }
        match self.find(host, url.as_str()) {
            Some(page) => Ok(self.page_answer(url, page)),
            None => Ok(missing(url)),
        }
    }
}

/// A redirect.
pub(super) fn moved(url: &CrawlUrl, status: u16, to: &str) -> Fetched {
    let body = Bytes::from(format!("<html><body><a href=\"{to}\">{status}</a></body></html>"));
    answer(url, status, "text/html", &[("location", to.to_owned())], body)
}

/// 404.
pub(super) fn missing(url: &CrawlUrl) -> Fetched {
    let body = "<html><head><title>404</title></head><body><p>页面不存在</p></body></html>";
    answer(url, 404, "text/html; charset=utf-8", &[], Bytes::from_static(body.as_bytes()))
}

/// The number between a prefix and a suffix, written without leading zeros.
fn number(path: &str, prefix: &str, suffix: &str) -> Option<u64> {
    let digits = path.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// The month of a calendar's page, counted from January of year 2000.
fn month(path: &str) -> Option<u64> {
    let (year, month) = path.strip_prefix("/calendar/")?.strip_suffix(".html")?.split_once('-')?;
    let (year, month): (u64, u64) = (year.parse().ok()?, month.parse().ok()?);
    let count = year.checked_sub(2000)?.checked_mul(12)?.checked_add(month.checked_sub(1)?)?;
    (month_path(count) == path).then_some(count)
}

fn month_path(count: u64) -> String {
    format!("/calendar/{}-{:02}.html", 2000 + count / 12, count % 12 + 1)
}

impl World {
    /// A page of the web.
    fn page_answer(&self, url: &CrawlUrl, page: u64) -> Fetched {
        let (section, _) = self.layout.locate(page);
        let section = &self.layout.sections[section];
        let host = self.layout.host(section.host);
        let title = self.layout.title(page);
        let mut draw = Draw::new(self.layout.spec.seed, salt::TEXT, page);
        let paragraphs = if self.has_text(page) {
            write::paragraphs(self.layout.topic(page), self.layout.spec.noise, &mut draw)
        } else {
            Vec::new()
        };
        let links: Vec<Anchor> = {
            let planned = self.layout.links(page);
            planned.into_iter().map(|link| self.anchor(link, section.host, &host, &mut draw)).collect()
        };
        self.sheet(url, section.host, &host, &title, &paragraphs, &links)
    }

    /// Lays a page out and encodes it as its host does.
    fn sheet(
        &self,
        url: &CrawlUrl,
        number: u64,
        host: &Host,
        title: &str,
        paragraphs: &[String],
        links: &[Anchor],
    ) -> Fetched {
        let charset = if host.gbk { "gbk" } else { "utf-8" };
        let sheet = Sheet {
            skin: host.skin,
            meta_charset: (!host.in_header).then_some(charset),
            site: SITES[(number % SITES.len() as u64) as usize],
            title,
            paragraphs,
            links,
        };
        let html = sheet.html();
        let body = if host.gbk { encoding_rs::GBK.encode(&html).0.into_owned() } else { html.into_bytes() };
        let media = if host.in_header { format!("text/html; charset={charset}") } else { "text/html".to_owned() };
        answer(url, 200, &media, &[], Bytes::from(body))
    }

    /// A link as a page of host `from` writes it.
    fn anchor(&self, link: Planned, from: u64, host: &Host, draw: &mut Draw) -> Anchor {
        let home = || format!("http://{}", self.layout.host_name(from));
        let mut href = match link.target {
            Target::Page(page) => self.layout.url(page),
            Target::Twin(page) => twin(&self.layout.url(page)),
            Target::Redirect(page) => {
                let section = &self.layout.sections[self.layout.locate(page).0];
                format!("http://{}/go/{page}", self.layout.host_name(section.host))
            }
            Target::Root => home() + "/",
            Target::Missing(bits) => format!("{}/old/{:x}.html", home(), bits >> 32),
            Target::NoHost(bits) => format!("http://www.gone{:x}.test/", bits >> 48),
            Target::Month(month) => home() + &month_path(month),
            Target::Private(page) => format!("{}/private/{page}.html", home()),
        };
        if host.session && href.starts_with(&(home() + "/")) {
            let mark = if href.contains('?') { '&' } else { '?' };
            href.push_str(&format!("{mark}PHPSESSID={:016x}", draw.bits()));
        }
        Anchor { href, slot: link.slot, text: link.anchor, context: link.context }
    }

    /// robots.txt: off-topic hosts forbid `/private/`.
    fn robots(&self, url: &CrawlUrl, host: u64) -> Fetched {
        let forbidden = if host < self.layout.first_ordinary { "" } else { " /private/" };
        let mut text = format!("User-agent: *\nDisallow:{forbidden}\n");
        if self.layout.spec.crawl_delay > 0 {
            text.push_str(&format!("Crawl-delay: {}\n", self.layout.spec.crawl_delay));
        }
        answer(url, 200, "text/plain; charset=utf-8", &[], Bytes::from(text))
    }

    /// A page beyond the numbered ones: a calendar's month or a member's page; `next` numbers the one it links to.
    fn extra(&self, url: &CrawlUrl, number: u64, title: &str, next: u64) -> Fetched {
        let host = self.layout.host(number);
        let topic = self.layout.sections[self.layout.front(number)].topic;
        let mut draw = Draw::new(self.layout.spec.seed, salt::TEXT, url.fingerprint());
        let mut text = String::new();
        write::sentence(topic, &mut draw, &mut text);
        let target = if host.calendar { Target::Month(next) } else { Target::Private(next % 50) };
        let plain =
            |target, slot, anchor: &str| Planned { target, slot, anchor: anchor.into(), context: String::new() };
        let links = [plain(Target::Root, Slot::Top, "网站首页"), plain(target, Slot::Entry, "下个月")];
        let links: Vec<Anchor> = links.into_iter().map(|link| self.anchor(link, number, &host, &mut draw)).collect();
        self.sheet(url, number, &host, title, &[text], &links)
    }

    /// A sample page: (URL, HTML).
    pub(super) fn sample(&self, on_topic: bool, index: u64) -> (CrawlUrl, String) {
        let mut draw = Draw::new(self.layout.spec.seed, salt::SAMPLE, index * 2 + u64::from(on_topic));
        let count = if on_topic { THEMES } else { TOPICS.len() - THEMES } as u64;
        let topic = (index % count) as usize + if on_topic { 0 } else { THEMES };
        let mut paragraphs = write::paragraphs(topic, self.layout.spec.noise, &mut draw);
        let mut links = Vec::new();
        if !on_topic && index.is_multiple_of(5) {
            let mut near = String::new();
            for _ in 0..2 {
                write::near_sentence(&mut draw, &mut near);
            }
            paragraphs.push(near);
            let text = write::near_title(&mut draw);
            let href = self.sample_url(true, index);
            links.push(Anchor { href, slot: Slot::Inline, text, context: String::new() });
        }
        let sheet = Sheet {
            skin: index % 4,
            meta_charset: Some("utf-8"),
            site: SITES[(index % SAMPLE_HOSTS) as usize],
            title: &write::title(topic, &mut draw),
            paragraphs: &paragraphs,
            links: &links,
        };
        (crawl_url(&self.sample_url(on_topic, index)), sheet.html())
    }

    fn sample_url(&self, on_topic: bool, index: u64) -> String {
        let directory = match on_topic {
            true if index.is_multiple_of(2) => SPORTS.dirs[(index / 2 % SPORTS.dirs.len() as u64) as usize],
            true => TOPICS[(index % THEMES as u64) as usize].dirs[0],
            false => TOPICS[THEMES + (index % (TOPICS.len() - THEMES) as u64) as usize].dirs[0],
        };
        format!("http://s{}.sample.test/{directory}/{index}.html", index % SAMPLE_HOSTS)
    }

    /// What a sample host answers.
    fn sample_answer(&self, url: &CrawlUrl) -> Fetched {
        let index = url.path().rsplit('/').next().and_then(|name| name.strip_suffix(".html")?.parse().ok());
        let found = index.into_iter().flat_map(|index: u64| [(true, index), (false, index)]);
        let mut found = found.filter(|&(on_topic, index)| self.sample_url(on_topic, index) == url.as_str());
        match found.next() {
            Some((on_topic, index)) => {
                answer(url, 200, "text/html; charset=utf-8", &[], Bytes::from(self.sample(on_topic, index).1))
            }
            None => missing(url),
        }
    }
}
