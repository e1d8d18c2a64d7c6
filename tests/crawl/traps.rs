//! One web per trap, crawled to its end: the cost of the trap is bounded, and all real pages are fetched. Each trap has
//! a harmless counterpart: an archive, a long list, a catalogue, a host that shares pages with another.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::lexicon_of;
use bytes::Bytes;
use suidao::config::Config;
use suidao::corpus::UrlHistory;
use suidao::crawl::{Crawl, TrapCounts};
use suidao::live;
use suidao::messages::Lang;
use suidao::model::{Batch, CrawlUrl, Event, Failure, FailureKind, Fetched, Millis, SkipReason, TrapStep};
use suidao::replay::{TopicalWeb, Web, replay};
use suidao::seeded_rng::SeededRng;
use suidao::store::Record;
use suidao::topic::Topic;

/// A web computed by a function of host, path and query; `None` is a 404.
struct Written<F>(F);

impl<F: Fn(&str, &str, &str) -> Option<String> + Send + Sync> Web for Written<F> {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let body = (self.0)(url.host(), url.path(), url.query().unwrap_or_default());
        let (status, body) = match body {
            Some(to) if to.starts_with("-> ") => {
                let headers = vec![("location".to_owned(), to[3..].to_owned())];
                let (url, body) = (url.clone(), Bytes::new());
                return Ok(Fetched {
                    url,
                    status: 302,
                    headers,
                    body,
                    wire: None,
                    request_validators: None,
                    rendered: None,
                    unverified: false,
                });
            }
            Some(body) => (200, body),
            None if url.host().ends_with(".test") => (404, "<title>404</title>".to_owned()),
            None => return Err(Failure { kind: FailureKind::Dns, retry_after: None }),
        };
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        Ok(Fetched {
            url: url.clone(),
            status,
            headers,
            body: Bytes::from(body),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        })
    }
}

/// A page with a title, a text and links in its content.
fn page(title: &str, text: &str, links: &[String]) -> Option<String> {
    let item = |(at, link): (usize, &String)| {
        let named = link.split("/post/").nth(1).and_then(|rest| number(rest.split('?').next()?));
        let label = named.map_or_else(|| format!("第{at}项"), |post| words(post)[..30].to_owned());
        format!("<li><a href=\"{link}\">{label}</a></li>\n")
    };
    let links: String = links.iter().enumerate().map(item).collect();
    Some(format!(
        "<!DOCTYPE html><html lang=zh-CN><head><meta charset=utf-8><title>{title}</title></head><body><nav><a href=\"/\">首页</a> \
         <a href=\"/about\">关于</a></nav><article><h1>{title}</h1><p>{text}</p><ul>{links}</ul></article>\
         <footer>版权所有</footer></body></html>"
    ))
}

/// Some 400 characters, unique for each number.
fn words(number: u64) -> String {
    const PHRASES: [&str; 24] = [
        "昨天", "我们", "学校", "河边", "天气", "火车", "老师", "报告", "城市", "音乐", "下雨", "菜园", "图书", "孩子",
        "早晨", "故事", "医院", "机器", "山路", "邮件", "厨房", "朋友", "电影", "月亮",
    ];
    let mut rng = SeededRng::new(number + 1, 0, 0);
    let mut text = String::new();
    for sentence in 0..16 {
        for _ in 0..12 {
            text += PHRASES[usize::try_from(rng.below(24)).unwrap()];
        }
        text += if sentence % 2 == 0 { "，" } else { "。" };
    }
    text
}

struct Run {
    batches: Vec<Batch>,
    /// URLs of the pages, in order.
    pages: Vec<String>,
    skipped_by_reason: BTreeMap<SkipReason, u64>,
    counts: TrapCounts,
}

impl Run {
    fn count(&self, part: &str) -> usize {
        self.pages.iter().filter(|url| url.contains(part)).count()
    }

    fn refused(&self, reason: SkipReason) -> u64 {
        self.skipped_by_reason.get(&reason).copied().unwrap_or_default()
    }

    fn failed(&self) -> usize {
        let events = self.batches.iter().flat_map(|batch| &batch.events);
        events
            .filter(
                |event| matches!(event, Event::FetchFailed { failure, .. } if failure.kind == FailureKind::NoSuchPage),
            )
            .count()
    }

    fn steps(&self) -> Vec<TrapStep> {
        let events = self.batches.iter().flat_map(|batch| &batch.events);
        events.filter_map(|event| if let Event::Trap(step) = event { Some((**step).clone()) } else { None }).collect()
    }
}

/// Crawls from these seeds until nothing is left, or so many pages are fetched.
fn crawl_of(web: &dyn Web, seeds: &[&str], most: u64, sets: &[&str]) -> Run {
    let fixed = ["politeness.delay=0", "politeness.robots=false", "strategy.name=breadth-first", "limits.hops=60000"];
    let sets: Vec<String> = fixed.iter().chain(sets).map(|set| (*set).to_owned()).collect();
    let mut config = Config::load(None, &sets).unwrap();
    config.limits.pages = Some(most);
    let topic = Topic::new(lexicon_of("体育"));
    let settings = live::crawl_settings(&config, &topic);
    let new = || Crawl::new(settings.clone(), config.strategy.build(settings.page_threshold));
    let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| CrawlUrl::parse(seed).unwrap()).collect();
    let mut crawl = new();
    let mut batches = Vec::new();
    replay(&mut crawl, &seeds, &TopicalWeb { web, topic: &topic }, 1, |batch| batches.push(batch));
    // Everything learnt follows from the log.
    let mut restored = new();
    batches.iter().for_each(|batch| restored.restore(batch));
    assert_eq!((restored.skipped_by_reason(), restored.traps()), (crawl.skipped_by_reason(), crawl.traps()));
    let mut urls = Vec::new();
    let mut pages = Vec::new();
    for event in batches.iter().flat_map(|batch| &batch.events) {
        match event {
            Event::Discovered(found) => urls.push(found.url.to_string()),
            Event::PageFetched(page) => pages.push(urls[page.id.0 as usize].clone()),
            _ => {}
        }
    }
    let skipped_by_reason: BTreeMap<SkipReason, u64> = crawl.skipped_by_reason().clone();
    assert_eq!(skipped_by_reason.values().sum::<u64>(), crawl.progress().skipped);
    Run { batches, pages, skipped_by_reason, counts: crawl.traps() }
}

fn crawl(web: &dyn Web, most: u64) -> Run {
    crawl_of(web, &["http://a.test/"], most, &[])
}

fn number(text: &str) -> Option<u64> {
    text.trim_matches('/').trim_end_matches(".html").parse().ok()
}

/// The post of this number, under /post/.
fn post(path: &str) -> Option<String> {
    let number = number(path.strip_prefix("/post/")?).filter(|number| *number < 1000)?;
    page(&format!("文章{number}"), &words(number), &[])
}

fn posts(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|number| format!("/post/{number}.html")).collect()
}

#[test]
fn a_calendar_without_end_ends_and_an_archive_does_not() {
    let web = Written(|_: &str, path: &str, _: &str| match path {
        "/" => page("首页", &words(9000), &[posts(0..10), vec!["/cal/2024/5/".into(), "/2020/01/".into()]].concat()),
        "/about" => page("关于", &words(9001), &[]),
        _ if path.starts_with("/cal/") => {
            let parts: Vec<u64> = path[5..].trim_matches('/').split('/').filter_map(number).collect();
            let (year, month) = (*parts.first()?, *parts.get(1)?);
            let (next, last) = ((year * 12 + month) as i64, (year * 12 + month) as i64 - 2);
            let link = |at: i64| format!("/cal/{}/{}/", at.div_euclid(12), at.rem_euclid(12) + 1);
            let days = (1..=28).map(|day| format!("/cal/{year}/{month}/{day}/"));
            page(
                &format!("{year}年{month}月"),
                "一 二 三 四 五 六 日",
                &[vec![link(next), link(last)], days.collect()].concat(),
            )
        }
        // 60 months with three posts each, which other lists lead to first.
        _ if path.starts_with("/20") => {
            let parts: Vec<u64> = path.trim_matches('/').split('/').filter_map(number).collect();
            let at = (parts[0] - 2020) * 12 + parts.get(1)? - 1;
            let mut links = posts(10 + at * 3..13 + at * 3);
            if at < 59 {
                links.push(format!("/{}/{:02}/", 2020 + (at + 1) / 12, (at + 1) % 12 + 1));
            }
            page(&format!("{path}的文章"), "", &links)
        }
        _ => post(path),
    });
    let run = crawl(&web, 3000);
    assert_eq!(run.count("/post/"), 190, "all that is real");
    assert_eq!(run.count("/202") - run.count("/cal/202"), 60, "the archive to its first month");
    assert!((12..400).contains(&run.count("/cal/")), "{}", run.count("/cal/"));
    assert!(run.refused(SkipReason::Series) > 20 && run.counts.ended >= 1, "{:?}", run.skipped_by_reason);
    let without = crawl_of(&web, &["http://a.test/"], 1500, &["traps.series=0"]);
    assert_eq!(
        (without.pages.len(), without.refused(SkipReason::Series)),
        (1500, 0),
        "and without the rule it has no end"
    );
}

#[test]
fn a_list_without_end_ends_and_a_long_one_does_not() {
    let web = Written(|_: &str, path: &str, query: &str| {
        let of = |text: &str| text.strip_prefix("page=").and_then(number);
        match path {
            "/" => {
                page("首页", &words(9000), &["/real/page/1/".into(), "/same?page=1".into(), "/empty/page/1/".into()])
            }
            "/about" => page("关于", &words(9001), &[]),
            // The last page again and again.
            "/same" => {
                let at = of(query)?;
                let first = 5 * at.min(4);
                page("新闻", "", &[posts(first..first + 5), vec![format!("/same?page={}", at + 1)]].concat())
            }
            _ if path.starts_with("/empty/page/") => {
                let at = number(&path[12..])?;
                let posts = if at < 6 { posts(100 + 5 * at..105 + 5 * at) } else { Vec::new() };
                page("通知", "没有更多了", &[posts, vec![format!("/empty/page/{}/", at + 1)]].concat())
            }
            _ if path.starts_with("/real/page/") => {
                let at = number(&path[11..]).filter(|at| *at < 80)?;
                page("文章", "", &[posts(200 + 5 * at..205 + 5 * at), vec![format!("/real/page/{}/", at + 1)]].concat())
            }
            _ => post(path),
        }
    });
    let run = crawl(&web, 3000);
    assert_eq!(run.count("/real/page/"), 79, "{:?}", run.steps());
    assert_eq!(run.count("/post/"), 25 - 5 + 25 + 395);
    assert!(run.count("/same?") < 28 && run.count("/empty/") < 30, "{:?}", run.pages);
    assert_eq!(run.refused(SkipReason::Series), 2);
}

#[test]
fn exploding_parameters_are_cut_and_a_catalogue_is_not() {
    let keys = ["color", "size", "sort", "view"];
    let web = Written(move |_: &str, path: &str, query: &str| match path {
        "/" => page("首页", &words(9000), &["/shop".into(), "/show.php?m=show&id=1".into()]),
        "/about" => page("关于", &words(9001), &[]),
        "/shop" => {
            let mut chosen: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
            let mut links = posts(0..20);
            for key in keys {
                for value in ["a", "b", "c", "d", "e"] {
                    let old = chosen.insert(key, value);
                    let query: Vec<String> = chosen.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    links.push(format!("/shop?{}", query.join("&")));
                    match old {
                        Some(old) => chosen.insert(key, old),
                        None => chosen.remove(key),
                    };
                }
            }
            page("商品", "", &links)
        }
        "/show.php" => {
            let id = query.strip_prefix("m=show&id=").and_then(number).filter(|id| *id <= 150)?;
            page(&format!("条目{id}"), &words(5000 + id), &[format!("/show.php?m=show&id={}", id + 1)])
        }
        _ => post(path),
    });
    let run = crawl(&web, 3000);
    assert_eq!((run.count("/post/"), run.count("/show.php")), (20, 150));
    assert!(run.count("/shop") < 500, "{} of 1,296", run.count("/shop"));
    assert!(run.refused(SkipReason::Series) > 300, "{:?}", run.skipped_by_reason);
    let without = crawl_of(&web, &["http://a.test/"], 3000, &["traps.series=0"]);
    assert_eq!(without.count("/shop"), 1296);
}

#[test]
fn session_parameters_are_dropped_by_name_and_by_behaviour() {
    let web = Written(|_: &str, path: &str, query: &str| {
        let mut rng = SeededRng::new(
            query.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)) + path.len() as u64,
            0,
            0,
        );
        let mut link =
            |path: String| format!("{path}?visit={:08x}{:08x}", rng.below(1 << 32) | 1 << 31, rng.below(1 << 32));
        let links: Vec<String> = posts(0..30).into_iter().map(&mut link).collect();
        match path {
            "/" => page("首页", &words(9000), &links),
            "/about" => page("关于", &words(9001), &[]),
            _ => {
                let number = number(path.strip_prefix("/post/")?).filter(|number| *number < 30)?;
                page(&format!("文章{number}"), &words(number), &links)
            }
        }
    });
    let run = crawl(&web, 2000);
    assert!((30..120).contains(&run.count("/post/")), "{}", run.count("/post/"));
    assert_eq!(run.counts.session_parameters, 1);
    assert!(run.steps().iter().any(|step| matches!(step, TrapStep::Session { name, .. } if name == "visit")));
    // URLs queued before the rule was known are fetched without the parameter, and `why` reports it.
    let id = run.batches.iter().flat_map(|batch| &batch.events).find_map(|event| match event {
        Event::SchemeRewritten { id, link: Some(_) } => Some(*id),
        _ => None,
    });
    let url = run.batches.iter().flat_map(|batch| &batch.events).find_map(|event| match event {
        Event::Discovered(found) if Some(found.id) == id => Some(found.url.clone()),
        _ => None,
    });
    let record = |batch: &Batch| Ok(Record { batch: batch.clone(), archive: None, revisit: false });
    let story =
        UrlHistory::read(|| run.batches.iter().map(record), url.as_ref().unwrap(), Lang::English).unwrap().unwrap();
    let text = story.to_string();
    assert!(text.contains("by the URL without its session parameter: http://a.test/post/"), "{text}");
    let named = crawl_of(&web, &["http://a.test/"], 2000, &["traps.session_parameters=[\"visit\"]"]);
    assert_eq!((named.count("/post/"), named.counts.near_duplicates), (30, 0));
    let without = crawl_of(&web, &["http://a.test/"], 600, &["traps.sessions=false", "traps.near_duplicates=false"]);
    assert_eq!(without.pages.len(), 600);
}

#[test]
fn hosts_that_answer_by_a_redirect_to_a_session_are_crawled_with_one() {
    let web = Written(|_: &str, path: &str, query: &str| {
        let visit = query.strip_prefix("visit=").filter(|visit| visit.len() == 16);
        if visit.is_none() && path.starts_with("/post/") {
            return Some(format!("-> http://a.test{path}?visit={:016x}", words(path.len() as u64).len() + 0xabc0_0000));
        }
        post(path).or_else(|| page("首页", &words(9000), &posts(0..30))).filter(|_| path == "/" || post(path).is_some())
    });
    let run = crawl_of(&web, &["http://a.test/"], 300, &["traps.session_parameters=[\"visit\"]"]);
    assert_eq!((run.count("/post/"), run.pages.len()), (30, 31), "{:?}", run.pages);
}

#[test]
fn login_walls_do_not_turn_their_parameter_into_a_session() {
    let code = |number: u64| format!("5f3a9c{number:04}");
    let shown = move |kinds: &[&str]| {
        let of = |number: u64| kinds.iter().map(move |kind| format!("/{kind}?id={}", code(number)));
        (0..40).flat_map(of).collect::<Vec<_>>()
    };
    let members_only = |before: u64, kinds: &'static [&'static str]| {
        Written(move |_: &str, path: &str, query: &str| match path {
            "/" => page("首页", &words(9000), &shown(kinds)),
            "/about" => page("关于", &words(9001), &[]),
            _ => {
                let kind = kinds.iter().position(|kind| *kind == &path[1..])? as u64;
                let number = number(query.strip_prefix("id=5f3a9c")?)?;
                // Two kinds of walls: a captcha, a login.
                if number < before {
                    page("验证", &words(9100 + kind), &[])
                } else {
                    page("文章", &words(100 * kind + number), &[])
                }
            }
        })
    };
    let one = crawl(&members_only(3, &["show"]), 300);
    assert_eq!((one.count("/show?"), one.counts.session_parameters), (40, 0));
    let two = crawl(&members_only(3, &["show", "view"]), 300);
    assert!(two.steps().iter().any(|step| matches!(step, TrapStep::NoSession { .. })), "{:?}", two.steps());
    assert!(two.count("/show?") + two.count("/view?") >= 78, "{:?}", two.pages);
    assert_eq!(two.counts.session_parameters, 0);
}

#[test]
fn an_error_page_with_status_200_is_not_a_page() {
    let web = Written(|host: &str, path: &str, _: &str| {
        let missing = || {
            let more: Vec<String> = (0..5).map(|n| format!("{path}x{n}")).collect();
            page("提示信息", &format!("对不起，您访问的页面 {path} 不存在或已被删除，请返回首页。"), &more)
        };
        match (host, path) {
            ("a.test", "/") => {
                page("首页", &words(9000), &[posts(0..20), vec!["/gone/".into(), "http://b.test/".into()]].concat())
            }
            ("a.test", "/about") => page("关于", &words(9001), &[]),
            ("a.test", _) => post(path).or_else(missing),
            // A host that redirects all missing URLs to one page.
            ("b.test", "/") => {
                page("另一站", &words(9100), &[posts(0..5), (0..9).map(|n| format!("/old/{n}")).collect()].concat())
            }
            ("b.test", "/sorry.html") => page("404", "没有找到您要的页面", &posts(5..9)),
            ("b.test", "/about") => page("关于", &words(9101), &[]),
            ("b.test", _) => post(path).or_else(|| Some("-> http://b.test/sorry.html".to_owned())),
            _ => None,
        }
    });
    let run = crawl(&web, 2000);
    assert_eq!(run.count("a.test/post/"), 20);
    assert!(run.count("/gone/") <= 3, "{:?}", run.counts);
    assert!((1..40).contains(&run.failed()), "{}", run.failed());
    assert!(run.counts.probes >= 1 && run.counts.soft_404 > 0, "{:?}", run.counts);
    let without = crawl_of(&web, &["http://a.test/"], 300, &["traps.soft_404=false", "traps.near_duplicates=false"]);
    assert_eq!((without.pages.len(), without.counts.probes), (300, 0));
}

#[test]
fn error_pages_reached_by_a_redirect_with_the_url_are_not_pages() {
    let web = Written(|_: &str, path: &str, query: &str| match path {
        "/" => page("首页", &words(9000), &[posts(0..9), (0..9).map(|n| format!("/old/{n}")).collect()].concat()),
        "/about" => page("关于", &words(9001), &[]),
        "/Error.aspx" => page("出错了", &words(9002), &[format!("/old{}", query.len())]),
        _ => post(path).or_else(|| Some(format!("-> http://a.test/Error.aspx?aspxerrorpath={path}"))),
    });
    let run = crawl(&web, 100);
    assert_eq!(run.count("/post/"), 9);
    assert!(run.failed() >= 5 && run.counts.soft_404 >= 8, "{} {:?}", run.failed(), run.counts);
}

/// A host that answers 200 for missing pages, after it was overloaded for the first requests.
struct Busy(u32, AtomicU32);

impl Web for Busy {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        if url.path().starts_with("/suidao-no-such-page") && self.1.fetch_add(1, Ordering::Relaxed) < self.0 {
            return Err(Failure { kind: FailureKind::Status(503), retry_after: Some(3_600_000) });
        }
        let missing = |path: &str| page("404", &format!("页面不存在：{path}"), &[]);
        Written(|_: &str, path: &str, _: &str| match path {
            "/" => page(
                "首页",
                &words(9000),
                &[posts(0..3), vec!["/gone/1".into(), "/gone/2".into()], posts(3..9)].concat(),
            ),
            "/about" => page("关于", &words(9001), &[]),
            _ => post(path).or_else(|| missing(path)),
        })
        .get(url)
    }
}

#[test]
fn a_host_that_times_out_on_the_soft_404_probe_is_deferred_and_requested_again() {
    for (refuses, tries) in [(1, 2), (9, 3)] {
        let web = Busy(refuses, AtomicU32::new(0));
        let run = crawl_of(&web, &["http://a.test/"], 100, &["politeness.patience=100000"]);
        assert_eq!((web.1.into_inner(), run.counts.probes, run.count("/post/")), (tries, 1, 9));
        assert_eq!(run.counts.soft_404, if refuses == 1 { 2 } else { 0 });
        let is_refused = |batch: &Batch| {
            let is_step =
                |event: &Event| matches!(event, Event::Trap(step) if matches!(**step, TrapStep::Unanswered { .. }));
            batch.events.iter().any(is_step)
        };
        let waits = run.batches.windows(2).filter(|two| is_refused(&two[0])).map(|two| two[1].at.since(two[0].at));
        assert!(waits.clone().all(|wait| wait >= 3_600_000), "{:?}", waits.collect::<Vec<_>>());
    }
}

#[test]
fn a_host_that_answers_404_is_asked_for_no_more_than_its_pages() {
    let web = Written(|_: &str, path: &str, _: &str| match path {
        "/" => page("首页", &words(9000), &[posts(0..20), posts(2000..2010)].concat()),
        "/about" => page("关于", &words(9001), &[]),
        _ => post(path),
    });
    let run = crawl(&web, 2000);
    assert_eq!((run.pages.len(), run.counts), (22, TrapCounts::default()));
}

#[test]
fn two_names_of_one_host_are_crawled_once_and_two_hosts_twice() {
    let web = Written(|host: &str, path: &str, _: &str| match (host, path) {
        ("a.test" | "www.a.test", "/") => page(
            "首页",
            &words(9000),
            &[posts(0..60), vec![format!("http://{}/", if host == "a.test" { "www.a.test" } else { "c.test" })]]
                .concat(),
        ),
        ("a.test" | "www.a.test", _) => post(path),
        // Another site with the same paths, and a default page or two of the same software.
        ("c.test", "/") => page("第三站", &words(9200), &posts(0..60)),
        ("c.test", _) => {
            let number = number(path.strip_prefix("/post/")?)?;
            page("文章", &words(if number < 3 { number } else { 4000 + number }), &[])
        }
        _ => None,
    });
    let run = crawl(&web, 2000);
    assert_eq!(run.count("//c.test/post/"), 60);
    assert_eq!(run.count("//a.test/post/") + run.count("//www.a.test/post/"), 60 + run.count("//www.a.test/post/"));
    assert!(run.count("//www.a.test/") < 12, "{}", run.count("//www.a.test/"));
    assert_eq!(run.counts.mirrors, 2);
    assert!(run.refused(SkipReason::Mirror) > 40, "{:?}", run.skipped_by_reason);
}

#[test]
fn links_of_a_near_duplicate_are_ignored_except_on_listings() {
    let web = Written(|_: &str, path: &str, _: &str| match path {
        "/" => page("首页", &words(9000), &["/one".into(), "/two".into(), "/list-a".into(), "/list-b".into()]),
        "/about" => page("关于", &words(9001), &[]),
        "/one" => page("转载", &words(77), &["/more-of-one".into()]),
        "/two" => page("转载", &format!("{}。", words(77)), &["/more-of-two".into()]),
        "/more-of-one" | "/more-of-two" => {
            page("更多", &words(path.len() as u64 + u64::from(path.ends_with("two"))), &[])
        }
        "/list-a" => page("列表", "", &posts(10..30)),
        "/list-b" => page("列表", "", &[posts(10..30), posts(40..41)].concat()),
        _ => post(path),
    });
    let run = crawl(&web, 2000);
    assert!(run.count("/more-of-one") == 1 && run.count("/more-of-two") == 0, "{:?}", run.pages);
    assert_eq!((run.count("/post/40.html"), run.refused(SkipReason::NearDuplicate)), (1, 1));
    let without = crawl_of(&web, &["http://a.test/"], 2000, &["traps.near_duplicates=false"]);
    assert_eq!(without.count("/more-of-two"), 1);
}

#[test]
fn urls_that_accumulate_path_segments_are_excluded_with_a_reason() {
    let web = Written(|_: &str, path: &str, query: &str| match path {
        "/" => page("首页", &words(9000), &["a/b/".into(), "/go?back=%2F".into()]),
        "/about" => page("关于", &words(9001), &[]),
        "/go" => page("登录", "", &[format!("/go?back=/go?{query}")]),
        _ => page(path, &words(path.len() as u64), &["a/b/".into()]),
    });
    let run = crawl(&web, 500);
    assert!(run.pages.len() < 12, "{:?}", run.pages);
    assert_eq!(
        (run.refused(SkipReason::RepeatingPath), run.refused(SkipReason::RepeatingQuery)),
        (1, 1),
        "{:?}",
        run.skipped_by_reason
    );
}

#[test]
fn a_restored_crawl_continues_like_the_original() {
    let web = Written(|host: &str, path: &str, _: &str| match path {
        "/" => page(
            "首页",
            &words(9000),
            &[posts(0..40), vec!["/cal/2024/5/".into(), "/gone".into(), "http://www.a.test/".into()]].concat(),
        ),
        _ if path.starts_with("/cal/") => {
            let parts: Vec<u64> = path[5..].trim_matches('/').split('/').filter_map(number).collect();
            page("日历", "一 二 三 四 五 六 日", &[format!("/cal/{}/{}/", parts[0], parts.get(1)? + 1)])
        }
        _ if host.ends_with("a.test") => {
            post(path).or_else(|| page("404", "页面不存在", &[format!("{path}/x{}", path.len())]))
        }
        _ => None,
    });
    let config = Config::load(None, &["politeness.delay=0".into(), "politeness.robots=false".into()]).unwrap();
    let topic = Topic::new(lexicon_of("体育"));
    let mut settings = live::crawl_settings(&config, &topic);
    let new = |settings: &suidao::crawl::CrawlSettings| {
        Crawl::new(settings.clone(), config.strategy.build(settings.page_threshold))
    };
    let seeds = [CrawlUrl::parse("http://a.test/").unwrap()];
    let source = TopicalWeb { web: &web, topic: &topic };
    let mut whole = Vec::new();
    replay(&mut new(&settings), &seeds, &source, 1, |batch| whole.extend(batch.events));
    assert!(whole.iter().filter(|event| matches!(event, Event::Trap(_))).count() >= 3, "something to remember");
    for cut in [1, 7, 30, 45, 60, 80] {
        settings.limits.pages = Some(cut);
        let mut batches = Vec::new();
        replay(&mut new(&settings), &seeds, &source, 1, |batch| batches.push(batch));
        settings.limits.pages = None;
        let mut restored = new(&settings);
        // The clock of a replay starts at 0 again: a later time of the last request would delay the host.
        batches.iter().for_each(|batch| restored.restore(&Batch { at: Millis(0), ..batch.clone() }));
        let mut events: Vec<Event> = batches.into_iter().flat_map(|batch| batch.events).collect();
        replay(&mut restored, &seeds, &source, 1, |batch| events.extend(batch.events));

        assert_eq!(events.len(), whole.len(), "{cut}");
        assert!(events == whole, "{cut}");
    }
}

#[test]
fn a_host_of_soft_404s_is_abandoned_without_its_neighbours() {
    let missing = || page("提示信息", "对不起，您访问的页面不存在或已被删除，请返回首页。", &[]);
    let links = |stem: &str, count: u64| (0..count).map(|n| format!("{stem}{n}")).collect::<Vec<_>>();
    let web = Written(move |host: &str, path: &str, _: &str| match (host, path) {
        ("a.test", "/") => {
            page("首页", &words(9000), &[links("/x/", 2000), vec!["http://b.test/".to_owned()]].concat())
        }
        // Every fiftieth is a page: its rows of missing ones are shorter.
        ("b.test", "/") => page("另一站", &words(9001), &links("/x/", 600)),
        ("b.test", path) => match number(path.strip_prefix("/x/")?) {
            Some(n) if n % 50 == 0 => page(&format!("文章{n}"), &words(n), &[]),
            _ => missing(),
        },
        ("a.test", _) => missing(),
        _ => None,
    });
    let requests = |run: &Run| run.batches.iter().filter(|batch| batch.latency.is_some()).count();
    let run = crawl_of(&web, &["http://a.test/"], 40, &[]);
    assert!(requests(&run) < 800, "{}", requests(&run));
    let of_a = run.pages.iter().filter(|url| url.contains("a.test")).count();
    assert!(of_a <= 8, "{of_a}");
    assert_eq!(run.refused(SkipReason::MissingPages), 2002 - 100 - of_a as u64);
    assert!(run.count("b.test/x/") >= 12, "{:?}", run.pages);
    // Seeds are fetched all the same.
    let seeds: Vec<String> = (0..150).map(|n| format!("http://a.test/x/{n}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let run = crawl_of(&web, &seeds, 400, &[]);
    assert_eq!(run.refused(SkipReason::MissingPages), 2, "the two links of the first page, and no seed");
    assert!(requests(&run) >= 150);
    // Without the rule the request limit ends it.
    let run = crawl_of(&web, &["http://a.test/"], 40, &["traps.missing=0"]);
    assert!((1_390..=1_410).contains(&requests(&run)), "{}", requests(&run));
}
