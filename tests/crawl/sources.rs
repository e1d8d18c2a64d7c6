//! Sources of URLs and which pages are kept, on small webs: sitemaps and feeds, refreshes, canonical URLs, robots
//! directives, languages, and `skipped.csv`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use crate::support::{REPLAY_DEFAULTS, Stage, events, export, finite, records, run, suidao};
use bytes::Bytes;
use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::live;
use suidao::model::{
    Batch, CrawlUrl, Event, Failure, Fetched, LinkDecision, PageProcessed, SkipReason, UrlId, UrlOrigin,
};
use suidao::replay::{TopicalWeb, Web, replay};
use suidao::seeded_rng::SeededRng;
use suidao::topic::{Lexicon, Topic};
use suidao::world::{Proxied, ServerOptions, WebServer};

#[derive(Default)]
struct Pages(BTreeMap<CrawlUrl, Fetched>);

impl Pages {
    fn add(&mut self, url: &str, status: u16, fields: &[(&str, &str)], body: impl Into<Vec<u8>>) {
        let url = CrawlUrl::parse(url).unwrap();
        let mut headers: Vec<_> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        if headers.iter().all(|(name, _)| name != "content-type") {
            headers.push(("content-type".to_owned(), "text/html; charset=utf-8".to_owned()));
        }
        let body = Bytes::from(body.into());
        self.0.insert(
            url.clone(),
            Fetched {
                url,
                status,
                headers,
                body,
                wire: None,
                request_validators: None,
                rendered: None,
                unverified: false,
            },
        );
    }

    /// A page on or off topic with the text of this number, a head and links.
    fn page(&mut self, url: &str, on: bool, text: u64, head: &str, links: &[&str]) {
        self.add(url, 200, &[], page(on, text, head, links));
    }

    fn robots(&mut self, host: &str, lines: &str) {
        self.add(&format!("http://{host}/robots.txt"), 200, &[("content-type", "text/plain")], lines);
    }
}

impl Web for Pages {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let missing = || Fetched {
            url: url.clone(),
            status: 404,
            headers: vec![("content-type".to_owned(), "text/html".to_owned())],
            body: Bytes::from_static(b"<p>404"),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        };
        Ok(self.0.get(url).cloned().unwrap_or_else(missing))
    }
}

fn page(on: bool, text: u64, head: &str, links: &[&str]) -> String {
    const ON: [&str; 4] = ["足球", "篮球", "足球比赛", "篮球联赛"];
    const OFF: [&str; 16] = [
        "昨天的天气很好",
        "菜市场里人来人往",
        "他买了一本旧书",
        "火车晚点了半个小时",
        "窗外下起了小雨",
        "老师讲了一个故事",
        "邻居家的猫跑了",
        "医院里排着长队",
        "她在阳台上种花",
        "桥下的河水很清",
        "图书馆今天关门",
        "银行换了新的招牌",
        "厨房里煮着一锅汤",
        "孩子们在院子里画画",
        "山上的树叶黄了",
        "博物馆展出陶器",
    ];
    let mut random = SeededRng::new(text, 0, 0);
    let mut body = String::new();
    for _ in 0..24 {
        if on {
            body.push_str(ON[random.below(4) as usize]);
        }
        body.push_str(OFF[random.below(16) as usize]);
        body.push_str(&format!("{}，", random.below(1000)));
    }
    let links: String = links.iter().map(|link| format!("<p><a href=\"{link}\">更多</a></p>")).collect();
    format!(
        "<html lang=zh><head><title>第{text}页</title>{head}</head><body><article><p>{body}</p>{links}</article></body></html>"
    )
}

fn topic() -> Topic {
    Topic::new(lexicon())
}

fn lexicon() -> Lexicon {
    let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0), ("篮球", 1.0)]);
    lexicon.url = vec!["zuqiu".to_owned()];
    lexicon
}

fn config(sets: &[&str]) -> Config {
    let fixed =
        ["politeness.delay=0", "politeness.backoff=0", "politeness.robots_retry=0", "strategy.name=breadth-first"];
    let sets: Vec<String> = fixed.iter().chain(sets).map(|&set| set.to_owned()).collect();
    Config::load(None, &sets).unwrap()
}

struct Log {
    batches: Vec<Batch>,
    urls: Vec<CrawlUrl>,
}

impl Log {
    fn events(&self) -> impl Iterator<Item = &Event> {
        self.batches.iter().flat_map(|batch| &batch.events)
    }

    fn settled(&self, url: &str) -> &PageProcessed {
        let found = self.events().find_map(|event| match event {
            Event::PageFetched(page) if self.name(page.id) == url => Some(page),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{url} was not fetched"))
    }

    fn name(&self, id: UrlId) -> &str {
        self.urls[id.0 as usize].as_str()
    }

    fn pages(&self) -> BTreeSet<&str> {
        let fetched = self.events().filter_map(|event| match event {
            Event::PageFetched(page) => Some(self.name(page.id)),
            _ => None,
        });
        fetched.collect()
    }

    fn skipped(&self) -> BTreeMap<&str, SkipReason> {
        let skipped = self.events().filter_map(|event| match event {
            Event::LinkRejected { url, reason, .. } => Some((url.as_str(), *reason)),
            _ => None,
        });
        skipped.collect()
    }

    fn expanded(&self) -> BTreeSet<&str> {
        let expanded = self.events().filter_map(|event| match event {
            Event::Rejudged { id, .. } => Some(self.name(*id)),
            _ => None,
        });
        expanded.collect()
    }

    fn origin(&self, url: &str) -> (UrlOrigin, String) {
        let found = self.events().find_map(|event| match event {
            Event::Discovered(found) if found.url.as_str() == url => Some((found.origin, found.anchor.clone())),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{url} is not known"))
    }
}

fn crawl(web: &Pages, sets: &[&str], seeds: &[&str]) -> Log {
    let topic = topic();
    let config = config(sets);
    let settings = live::crawl_settings(&config, &topic);
    let strategy = config.strategy.build(settings.page_threshold);
    let mut crawl = Crawl::new(settings, strategy);
    let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| CrawlUrl::parse(seed).unwrap()).collect();
    let mut batches = Vec::new();
    replay(&mut crawl, &seeds, &TopicalWeb { web, topic: &topic }, 1, |batch| batches.push(batch));
    let urls = batches.iter().flat_map(|batch| &batch.events).filter_map(|event| match event {
        Event::Discovered(found) => Some(found.url.clone()),
        _ => None,
    });
    let urls = urls.collect();
    Log { batches, urls }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A host with two relevant pages after three irrelevant ones, a sitemap index and a feed.
fn site() -> Pages {
    let mut web = Pages::default();
    web.robots(
        "a.test",
        "User-agent: *\nDisallow: /no/\nSitemap: http://a.test/maps.xml\nSitemap: http://b.test/map.xml\n",
    );
    let feed = "<link rel=alternate type=application/rss+xml href=/feed.xml>";
    web.page("http://a.test/", false, 1, feed, &["/off1", "/off2", "/off3", "/on1", "/on2"]);
    for n in 1..=3 {
        web.page(&format!("http://a.test/off{n}"), false, 10 + n, "", &[]);
        web.page(&format!("http://a.test/on{n}"), true, 20 + n, "", &[]);
    }
    let index = "<sitemapindex><sitemap><loc>http://a.test/news.xml.gz</loc></sitemap><sitemap><loc>http://a.test/gone.xml</loc>\
        </sitemap><sitemap><loc>http://c.test/map.xml</loc></sitemap></sitemapindex>";
    web.add("http://a.test/maps.xml", 301, &[("location", "/maps/all.xml")], "");
    web.add("http://a.test/maps/all.xml", 200, &[("content-type", "text/xml")], index);
    let news = "<urlset xmlns:news='x'>\
        <url><loc>http://a.test/n/1</loc><news:news><news:publication><news:name>足球报</news:name></news:publication>\
        <news:title>足球&amp;篮球</news:title></news:news></url>\
        <url><loc>http://a.test/n/2</loc><news:news><news:title>天气</news:title></news:news></url>\
        <url><loc>http://a.test/zuqiu/3</loc></url><url><loc>http://a.test/no/zuqiu</loc></url>\
        <url><loc>http://a.test/zuqiu.pdf</loc></url><url><loc>http://a.test/off1</loc></url>\
        <url><loc>http://b.test/zuqiu</loc></url></urlset>";
    web.add("http://a.test/news.xml.gz", 200, &[("content-type", "application/x-gzip")], gzip(news));
    let rss = "<rss><channel><item><title>他说</title><link>http://b.test/x</link><description>&lt;p&gt;昨天的&lt;b&gt;足球&lt;/b&gt;，很精彩\
        &lt;/p&gt;</description></item><item><title>汤</title><link>http://b.test/y</link></item></channel></rss>";
    web.add("http://a.test/feed.xml", 200, &[("content-type", "application/rss+xml")], rss);
    for url in ["http://a.test/n/1", "http://a.test/n/2", "http://a.test/zuqiu/3", "http://b.test/x", "http://b.test/y"]
    {
        web.page(url, true, url.len() as u64 * 7, "", &[]);
    }
    web
}

#[test]
fn sitemaps_and_feeds_queue_only_promising_urls() {
    let web = site();
    let without = crawl(&web, &[], &["http://a.test/"]);
    assert_eq!(without.pages().len(), 6, "off by default");
    assert!(without.events().all(|event| !matches!(event, Event::SitemapRead { .. } | Event::SitemapsQueued { .. })));
    let sets = ["sources.sitemaps=true", "sources.feeds=true", "sources.after=2"];
    for strategy in ["breadth-first", "tunnel", "dth", "best-first", "url-weight"] {
        let name = format!("strategy.name={strategy}");
        let log = crawl(&web, &[&sets[..], &[&name]].concat(), &["http://a.test/"]);
        let new: BTreeSet<&str> = log.pages().difference(&without.pages()).copied().collect();
        let wanted = ["http://a.test/n/1", "http://a.test/zuqiu/3", "http://b.test/x"];
        // A strategy that fetches the relevant pages first takes the host as on topic, and also its entries without
        // topic terms.
        let first = strategy == "breadth-first";
        let others = ["http://a.test/n/2", "http://b.test/y"];
        assert!(wanted.iter().all(|url| new.contains(url)), "{strategy} {new:?}");
        assert!(new.iter().all(|url| wanted.contains(url) || !first && others.contains(url)), "{strategy} {new:?}");
        let skipped = log.skipped();
        for (url, reason) in [
            ("http://a.test/n/2", SkipReason::Unpromising),
            ("http://a.test/zuqiu.pdf", SkipReason::Extension),
            ("http://b.test/zuqiu", SkipReason::ForeignSource),
            ("http://b.test/map.xml", SkipReason::ForeignSource),
            ("http://c.test/map.xml", SkipReason::ForeignSource),
            ("http://b.test/y", SkipReason::Unpromising),
        ] {
            let expected =
                Some(&reason).filter(|_| first || reason != SkipReason::Unpromising || skipped.contains_key(url));
            assert_eq!(skipped.get(url), expected, "{strategy} {url}");
        }
        let (origin, anchor) = log.origin("http://a.test/n/1");
        let UrlOrigin::Listed(map) = origin else { panic!("{origin:?}") };
        assert_eq!((log.name(map), anchor.as_str()), ("http://a.test/news.xml.gz", "足球&篮球"));
        let refused = |event: &Event| matches!(event, Event::UrlExcluded { id, reason: SkipReason::Robots } if log.name(*id) == "http://a.test/no/zuqiu");
        assert!(log.events().any(refused), "{strategy}: robots.txt holds for what a sitemap names");
        let failed =
            |event: &Event| matches!(event, Event::FetchFailed { id, .. } if log.name(*id) == "http://a.test/gone.xml");
        assert!(log.events().any(failed), "{strategy}");
    }
    let late = crawl(&web, &["sources.sitemaps=true", "sources.after=3"], &["http://a.test/"]);
    assert_eq!(late.pages(), without.pages(), "the host has not proved worth it");
}

#[test]
fn a_large_sitemap_does_not_flood_the_crawl() {
    let mut web = Pages::default();
    web.page("http://a.test/", true, 1, "", &["/off1", "/off2"]);
    let urls: String = (0..50_000).map(|n| format!("<url><loc>http://a.test/p/{n}</loc></url>")).collect();
    web.add("http://a.test/sitemap.xml", 200, &[], format!("<urlset>{urls}</urlset>"));
    let sets = ["sources.sitemaps=true", "sources.after=1", "sources.per_host=7"];
    // The only page so far is relevant, so entries without topic terms are taken, up to the limit.
    let log = crawl(&web, &sets, &["http://a.test/"]);
    assert_eq!(log.urls.len(), 3 + 1 + 7);
    assert_eq!(log.skipped().values().filter(|reason| **reason == SkipReason::SourceLimit).count(), 49_993);
    web.page("http://a.test/", false, 1, "", &["/on", "/off1", "/off2"]);
    web.page("http://a.test/off1", false, 2, "", &[]);
    web.page("http://a.test/on", true, 3, "", &[]);
    let log = crawl(&web, &["sources.sitemaps=true", "sources.after=1", "limits.depth=1"], &["http://a.test/"]);
    let taken = log.events().find_map(|event| match event {
        Event::SitemapRead { links, .. } => Some(links.len()),
        _ => None,
    });
    assert!(taken.is_some_and(|taken| taken <= 1000), "{taken:?}");
}

#[test]
fn trap_rules_apply_to_urls_of_sitemaps() {
    let mut web = Pages::default();
    web.page("http://a.test/", true, 1, "", &[]);
    let urls = ["/a/b/a/b/a/b/zuqiu", "/x?back=/l?back=/l?back=/l", "/zuqiu?visit=1", "/zuqiu?visit=2"];
    let urls: String = urls.iter().map(|url| format!("<url><loc>http://a.test{url}</loc></url>")).collect();
    let (map, trap) = ("http://a.test/sitemap.xml", "http://a.test/a/b/a/b/a/b/map.xml");
    web.robots("a.test", &format!("Sitemap: {map}\nSitemap: {trap}\n"));
    web.add(map, 200, &[], format!("<urlset>{urls}</urlset>"));
    web.page("http://a.test/zuqiu", true, 2, "", &[]);
    let sets = ["sources.sitemaps=true", "sources.after=1", "traps.session_parameters=[\"visit\"]"];
    let log = crawl(&web, &sets, &["http://a.test/"]);
    assert_eq!(log.pages(), ["http://a.test/", "http://a.test/zuqiu"].into());
    let reasons: Vec<SkipReason> = log.skipped().into_values().collect();
    assert_eq!(reasons, [SkipReason::RepeatingPath, SkipReason::RepeatingPath, SkipReason::RepeatingQuery]);
}

#[test]
fn an_immediate_meta_refresh_is_a_redirect_and_a_delayed_one_a_link() {
    let mut web = Pages::default();
    let to = |delay: &str, url: &str| format!("<meta http-equiv=Refresh content=\"{delay}; URL='{url}'\">");
    web.page("http://a.test/", false, 1, "", &["/old", "/late", "/loop1", "/self", "/chain0", "/away", "/field"]);
    web.page("http://a.test/old", true, 2, &to("0", "/new"), &["/never"]);
    web.page("http://a.test/new", true, 3, "", &[]);
    web.page("http://a.test/late", true, 4, &to("30", "/later"), &[]);
    web.page("http://a.test/later", true, 5, "", &[]);
    web.page("http://a.test/loop1", true, 6, &to("3", "/loop2"), &[]);
    web.page("http://a.test/loop2", true, 7, &to("3", "/loop1"), &[]);
    web.page("http://a.test/self", true, 8, &to("5", "/self#x"), &[]);
    for n in 0..9 {
        web.page(&format!("http://a.test/chain{n}"), true, 10 + n, &to("1", &format!("/chain{}", n + 1)), &[]);
    }
    web.page("http://a.test/away", true, 30, &to("0", "http://denied.test/"), &[]);
    web.add("http://a.test/field", 200, &[("refresh", "2;url=/fielded")], page(true, 31, "", &[]));
    web.page("http://a.test/fielded", true, 32, "", &[]);
    let log = crawl(&web, &["scope.deny_hosts=['denied.test']"], &["http://a.test/"]);
    let pages = ["", "new", "late", "later", "self", "fielded"].map(|path| format!("http://a.test/{path}"));
    assert_eq!(log.pages(), pages.iter().map(String::as_str).collect());
    assert!(matches!(log.origin("http://a.test/new").0, UrlOrigin::Redirect(_)));
    assert!(matches!(log.origin("http://a.test/later").0, UrlOrigin::Link(_)));
    assert_eq!(log.skipped().get("http://a.test/chain6"), Some(&SkipReason::Redirects));
    assert_eq!(log.skipped().get("http://denied.test/"), Some(&SkipReason::Host));
    let permanent = |event: &Event| matches!(event, Event::Redirected { permanent: true, .. });
    assert!(!log.events().any(permanent), "no server answered with a permanent redirect");
}

/// Pages with canonical URLs, right and wrong in every way.
fn copies() -> Pages {
    let mut web = Pages::default();
    let own = |url: &str| format!("<link rel=canonical href=\"{url}\">");
    web.page(
        "http://a.test/",
        false,
        1,
        "",
        &[
            "/p?v=1",
            "/gone?v=1",
            "/other?v=1",
            "/moved?v=1",
            "/secret?v=1",
            "/else?v=1",
            "/home1",
            "/q?v=1",
            "/two",
            "/m1",
        ],
    );
    web.page("http://a.test/p?v=1", true, 2, &own("/p"), &["/p-link"]);
    web.page("http://a.test/p", true, 2, "", &["/p-link"]);
    web.page("http://a.test/p-link", true, 3, "", &[]);
    web.page("http://a.test/gone?v=1", true, 4, &own("/gone"), &["/gone-link"]);
    web.page("http://a.test/gone-link", true, 5, "", &[]);
    web.page("http://a.test/other?v=1", true, 6, &own("http://other.test/"), &["/other-link"]);
    web.page("http://a.test/other-link", true, 7, "", &[]);
    web.page("http://a.test/moved?v=1", true, 8, &own("/moved"), &["/moved-link"]);
    web.add("http://a.test/moved", 301, &[("location", "/arrived")], "");
    web.page("http://a.test/arrived", true, 8, "", &["/moved-link"]);
    web.page("http://a.test/moved-link", true, 9, "", &[]);
    web.page("http://a.test/secret?v=1", true, 10, &own("/secret"), &["/secret-link"]);
    web.page("http://a.test/secret", true, 10, "<meta name=robots content=noindex>", &["/secret-link"]);
    web.page("http://a.test/secret-link", true, 11, "", &[]);
    web.page("http://a.test/else?v=1", true, 12, &own("/else"), &["/else-link"]);
    web.page("http://a.test/else", true, 13, "", &[]);
    web.page("http://a.test/else-link", true, 14, "", &[]);
    web.page("http://a.test/home1", true, 15, &own("/"), &["/home-link"]);
    web.page("http://a.test/home-link", true, 16, "", &[]);
    let field = [("link", "</q>; rel=\"canonical\"")];
    web.add("http://a.test/q?v=1", 200, &field, page(true, 17, "", &["/q-link"]));
    web.page("http://a.test/q", true, 17, "", &["/q-link"]);
    web.page("http://a.test/q-link", true, 18, "", &[]);
    web.page("http://a.test/two", true, 19, &(own("/one") + &own("/three")), &[]);
    web.page("http://a.test/m1", true, 20, &own("/m2"), &["/m-link"]);
    web.page("http://a.test/m2", true, 20, &own("/m1"), &["/m-link"]);
    web.page("http://a.test/m-link", true, 21, "", &[]);
    web
}

#[test]
fn links_of_a_copy_are_followed_from_its_canonical_url_while_both_have_the_same_text() {
    let web = copies();
    for strategy in ["breadth-first", "tunnel", "dth", "best-first"] {
        let log = crawl(&web, &[&format!("strategy.name={strategy}")], &["http://a.test/"]);
        for name in ["p", "gone", "other", "moved", "secret", "else", "home", "q", "m"] {
            let link = format!("http://a.test/{name}-link");
            assert!(log.pages().contains(link.as_str()), "{strategy}: {link}");
        }
        assert!(matches!(log.origin("http://a.test/p").0, UrlOrigin::Canonical(_)), "{strategy}");
        let released = ["gone?v=1", "secret?v=1", "else?v=1"].map(|path| format!("http://a.test/{path}"));
        assert_eq!(log.expanded(), released.iter().map(String::as_str).collect(), "{strategy}");
        for path in ["p?v=1", "q?v=1", "moved?v=1"] {
            let page = log.settled(&format!("http://a.test/{path}"));
            assert!(page.copy_of.is_some(), "{strategy} {path}");
            let left = page.links.iter().filter(|link| Some(link.to) != page.copy_of);
            assert!(left.clone().count() > 0, "{strategy} {path}: its links are on record");
            for link in left {
                assert_eq!(link.decision, LinkDecision::Drop(SkipReason::Copy), "{strategy} {path}");
            }
        }
        for path in ["other?v=1", "home1", "two", "m2"] {
            assert_eq!(log.settled(&format!("http://a.test/{path}")).copy_of, None, "{strategy} {path}");
        }
        assert!(!log.urls.iter().any(|url| url.host() == "other.test"), "{strategy}: not of this site");
    }
}

/// Everything at once.
fn all_of_it() -> Pages {
    let mut web = copies();
    let more = site();
    let seed = page(
        false,
        99,
        "<link rel=alternate type=application/rss+xml href=/feed.xml>",
        &[
            "/off1",
            "/on1",
            "/on2",
            "/hub",
            "/english",
            "/kept",
            "/tagged",
            "/ended",
            "/not-followed",
            "/x/x/x/x",
            "/a.zip",
        ],
    );
    let hub = web.0.remove(&CrawlUrl::parse("http://a.test/").unwrap()).unwrap();
    web.0.extend(more.0);
    web.add("http://a.test/", 200, &[], seed);
    let hub_url = CrawlUrl::parse("http://a.test/hub").unwrap();
    web.0.insert(hub_url.clone(), Fetched { url: hub_url, ..hub });
    let english = "<html lang=en><title>English</title><p>The quick brown fox jumps over the lazy dog, and nobody in the village was \
        surprised by that, for it had happened on every single day of the long summer. <a href=/behind>behind</a>";
    web.add("http://a.test/english", 200, &[], english);
    web.page("http://a.test/behind", true, 40, "", &[]);
    web.page("http://a.test/kept", true, 41, "<meta name=robots content=noindex>", &["/after-noindex"]);
    web.page("http://a.test/after-noindex", true, 42, "", &[]);
    web.add(
        "http://a.test/tagged",
        200,
        &[("x-robots-tag", "otherbot: none"), ("x-robots-tag", "suidao: noindex")],
        page(true, 43, "", &[]),
    );
    web.page("http://a.test/ended", true, 44, "<meta name=robots content='unavailable_after: 2020-01-01'>", &[]);
    web.page("http://a.test/not-followed", true, 45, "<meta name=suidao content=nofollow>", &["/hidden"]);
    web
}

struct Scene {
    dir: tempfile::TempDir,
    server: WebServer,
}

impl Scene {
    fn new(web: Pages) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lexicon.toml"), lexicon().to_toml()).unwrap();
        std::fs::write(dir.path().join("seeds.txt"), "http://a.test/\n").unwrap();
        let server = WebServer::start_with(Arc::new(Proxied(Arc::new(web))), ServerOptions::default()).unwrap();
        Self { dir, server }
    }

    fn crawl(&self, out: &str, more: &[&str]) -> std::process::Command {
        let mut command = suidao();
        let path = |name: &str| self.dir.path().join(name);
        command
            .arg("crawl")
            .arg("-m")
            .arg(path("lexicon.toml"))
            .arg("-s")
            .arg(path("seeds.txt"))
            .arg("-o")
            .arg(path(out));
        command.args(["--proxy", &self.server.proxy(), "--contact", "test@example.org", "--set", "crawl.in_flight=1"]);
        command
            .args(REPLAY_DEFAULTS)
            .args(["--sitemaps", "--feeds", "--set", "sources.after=2", "--lang", "zh"])
            .args(more);
        command
    }
}

#[test]
fn exports_contain_the_accepted_pages_and_a_restart_changes_nothing() {
    let scene = Scene::new(all_of_it());
    let path = |name: &str| scene.dir.path().join(name);
    for strategy in ["tunnel", "dth"] {
        let (one, two) = (format!("{strategy}-one"), format!("{strategy}-two"));
        run(scene.crawl(&one, &["--strategy", strategy])).expect(0);
        for pages in ["1", "3", "4", "7", "9", "14", "20", "1000"] {
            run(scene.crawl(&two, &["--strategy", strategy, "--max-pages", pages])).expect(0);
        }
        assert_eq!(events(&path(&one)), events(&path(&two)), "{strategy}");
        skipped_is_complete(&path(&one));
    }
    let dir = path("tunnel-one");
    let exported: BTreeSet<String> = export(&dir, &path("pages.jsonl"))
        .iter()
        .map(|page| page["url"].as_str().unwrap().trim_start_matches("http://").to_owned())
        .collect();
    for url in [
        "a.test/p",
        "a.test/arrived",
        "a.test/behind",
        "a.test/after-noindex",
        "a.test/n/1",
        "b.test/x",
        "a.test/not-followed",
    ] {
        assert!(exported.contains(url), "{url}: {exported:?}");
    }
    for url in [
        "a.test/p?v=1",
        "a.test/moved?v=1",
        "a.test/english",
        "a.test/kept",
        "a.test/tagged",
        "a.test/ended",
        "a.test/hidden",
    ] {
        assert!(!exported.contains(url), "{url}: {exported:?}");
    }
    assert!(exported.contains("a.test/secret?v=1"), "its canonical URL is noindex, and it is not: {exported:?}");
    let mut command = suidao();
    command.arg("export").arg(&dir).arg("-o").arg(path("more.jsonl")).args(["--where", "noindex:yes"]);
    run(command).expect(0);
    let text = std::fs::read_to_string(path("more.jsonl")).unwrap();
    for url in ["kept", "tagged", "ended"] {
        assert!(text.contains(&format!("\"http://a.test/{url}\"")), "{url}");
    }
    let why = |url: &str| {
        let mut command = suidao();
        command.arg("why").arg(&dir).arg(url);
        run(command).expect(0).out
    };
    for (url, expected) in [
        ("http://a.test/n/1", "http://a.test/news.xml.gz"),
        ("http://a.test/n/1", "listed there as “足球&篮球”"),
        ("http://a.test/news.xml.gz", "as a sitemap or feed"),
        ("http://a.test/p?v=1", "canonical URL http://a.test/p"),
        ("http://a.test/p", "canonical URL of that page"),
        ("http://a.test/english", "not one of keep.languages"),
        ("http://a.test/kept", "--where noindex:yes"),
        ("http://a.test/zuqiu.pdf", "the file extension is not that of a page"),
    ] {
        let stated = why(url);
        assert!(stated.contains(expected), "{url}: {stated}");
    }
}

/// Each known URL that was not fetched has one line in `skipped.csv`, with its last reason, and no other URL has one.
fn skipped_is_complete(dir: &Path) {
    let mut urls: Vec<String> = Vec::new();
    let mut fetched: BTreeSet<UrlId> = BTreeSet::new();
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting: BTreeSet<UrlId> = BTreeSet::new();
    let mut skipped: BTreeMap<String, String> = BTreeMap::new();
    for event in records(dir).into_iter().flat_map(|record| record.batch.events) {
        let links = match &event {
            Event::PageFetched(page) => page.links.clone(),
            Event::Rejudged { links, .. } | Event::SitemapRead { links, .. } | Event::SitemapsQueued { links, .. } => {
                links.clone()
            }
            Event::Redirected { link, .. } | Event::SchemeRewritten { link, .. } => link.iter().copied().collect(),
            Event::SeedJudged(link) | Event::LinkOffered(link) => vec![*link],
            _ => Vec::new(),
        };
        waiting
            .extend(links.iter().filter(|link| matches!(link.decision, LinkDecision::Follow(_))).map(|link| link.to));
        match event {
            Event::Discovered(found) => urls.push(found.url.to_string()),
            Event::PageFetched(page) => drop(fetched.insert(page.id)),
            Event::Redirected { id, .. } | Event::SchemeRewritten { id, .. } | Event::SitemapRead { id, .. } => {
                fetched.insert(id);
            }
            Event::LinkRejected { url, reason, .. } => {
                skipped
                    .entry(url.to_string())
                    .or_insert(serde_json::to_value(reason).unwrap().as_str().unwrap().to_owned());
            }
            Event::FetchFailed { id, failure } => {
                last.insert(urls[id.0 as usize].clone(), format!("failed: {failure}"));
            }
            Event::UrlExcluded { id, reason } => {
                let reason = serde_json::to_value(reason).unwrap().as_str().unwrap().to_owned();
                last.insert(urls[id.0 as usize].clone(), reason);
            }
            _ => {}
        }
    }
    let mut expected: BTreeSet<String> = BTreeSet::new();
    for (id, url) in (0..).map(UrlId).zip(&urls) {
        if !fetched.contains(&id) {
            assert!(!waiting.contains(&id) || last.contains_key(url), "{url} still waits");
            expected.insert(url.clone());
        }
    }
    expected.extend(skipped.keys().filter(|url| !urls.contains(url)).cloned());
    let mut reported: BTreeSet<String> = BTreeSet::new();
    for line in csv::Reader::from_path(dir.join("skipped.csv")).unwrap().records() {
        let line = line.unwrap();
        let (url, reason) = (line[0].to_owned(), &line[1]);
        assert!(!reason.is_empty(), "{url}");
        if let Some(wanted) = last.get(&url).or_else(|| skipped.get(&url).filter(|_| !urls.contains(&url))) {
            // The cause follows if the host was unreachable.
            let is_host_failure = wanted == "robots-unreachable" || wanted == "host-failing";
            let reason = if is_host_failure { reason.split(": ").next().unwrap() } else { reason };
            assert_eq!(reason, wanted, "{url}");
        }
        assert!(reported.insert(url.clone()), "{url} is reported twice");
    }
    assert_eq!(reported, expected, "{}", dir.display());
    assert!(!reported.is_empty());
}

#[test]
fn skipped_csv_lists_every_url_of_a_large_web() {
    let stage = Stage::new(finite(), ServerOptions::default());
    for strategy in ["tunnel", "dth", "best-first"] {
        let sets = ["--strategy", strategy, "--sitemaps", "--feeds", "--set", "limits.depth=6"];
        run(stage.crawl(strategy, &sets)).expect(0);
        skipped_is_complete(&stage.path(strategy));
    }
}

#[test]
fn an_unknown_language_is_rejected_with_the_list_of_known_ones() {
    let scene = Scene::new(Pages::default());
    let message = run(scene.crawl("out", &["--lang", "zh,klingon"])).expect(2).err;
    assert!(message.contains("klingon") && message.contains("zh, ") && message.contains("keep.languages"), "{message}");
    let mut command = suidao();
    command.arg("export").arg(scene.dir.path()).args(["-o", "-", "--where", "lang:xx"]);
    let message = run(command).expect(2).err;
    assert!(message.contains("unknown language \"xx\"") && message.contains("en, "), "{message}");
}
