use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::Arc;

use super::*;
use crate::world::change::Gone;
use crate::world::{ServerOptions, WebServer};
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::read::{Parsed, parse};

fn web() -> ChangingWeb {
    ChangingWeb::new(ChangingSpec::default(), 1)
}

fn get(web: &ChangingWeb, url: &CrawlUrl, day: f64) -> Fetched {
    web.response(url, &[], day).unwrap()
}

fn read(web: &ChangingWeb, url: &CrawlUrl, day: f64) -> Parsed {
    let response = get(web, url, day);
    assert_eq!(response.status, 200, "{url} on day {day}");
    parse(&response)
}

fn links(parsed: &Parsed) -> BTreeSet<CrawlUrl> {
    parsed.document.links.iter().map(|link| link.url.clone()).collect()
}

fn text(web: &ChangingWeb, url: &str, day: f64) -> String {
    let response = get(web, &CrawlUrl::parse(url).unwrap(), day);
    assert_eq!(response.status, 200, "{url}");
    if url.ends_with(".gz") {
        let mut out = String::new();
        flate2::read::GzDecoder::new(&response.body[..]).read_to_string(&mut out).unwrap();
        return out;
    }
    String::from_utf8(response.body.to_vec()).unwrap()
}

#[test]
fn one_seed_gives_one_web() {
    let (one, same, other) = (web(), web(), ChangingWeb::new(ChangingSpec::default(), 2));
    assert_eq!(one.articles(40.0), same.articles(40.0));
    assert_ne!(one.articles(40.0), other.articles(40.0));
    for url in one.listings().iter().chain(&one.seeds()) {
        if one.profile(url).unwrap().policy != ValidatorPolicy::UnstableEtag {
            assert_eq!(get(&one, url, 12.3), get(&same, url, 12.3));
        }
    }
}

#[test]
fn a_main_text_changes_with_its_version_and_with_nothing_else() {
    let web = web();
    let (mut changed, mut boilerplate) = (0, 0);
    for article in web.articles(20.0).iter().step_by(7) {
        let days = (0..12).map(|at| 20.0 + f64::from(at) * 0.37);
        let here: Vec<f64> = days.filter(|day| web.version(&article.url, *day).is_some()).collect();
        for pair in here.windows(2) {
            let versions = [pair[0], pair[1]].map(|day| web.version(&article.url, day).unwrap());
            let texts = [pair[0], pair[1]].map(|day| read(&web, &article.url, day).text);
            assert!(!texts[0].is_empty());
            assert_eq!(texts[0] == texts[1], versions[0] == versions[1], "{} on days {pair:?}", article.url);
            changed += usize::from(versions[0] != versions[1]);
            let bodies = [pair[0], pair[1]].map(|day| get(&web, &article.url, day).body);
            boilerplate += usize::from(versions[0] == versions[1] && bodies[0] != bodies[1]);
        }
    }
    assert!(changed > 50 && boilerplate > 50, "{changed} changes, {boilerplate} of boilerplate alone");
}

#[test]
fn a_new_article_is_listed_first_and_falls_off_at_the_end() {
    let web = web();
    let listed = web.spec().listed as usize;
    for listing in web.listings() {
        let born: Vec<ArticleTruth> =
            web.articles(59.0).into_iter().filter(|article| article.listing == listing).collect();
        for (at, article) in born.iter().enumerate().filter(|(_, article)| article.born > 0.0).step_by(11) {
            let shown = |day: f64| links(&read(&web, &listing, day)).contains(&article.url);
            assert!(!shown(article.born - 1e-3) && shown(article.born + 1e-3), "{}", article.url);
            assert_eq!(get(&web, &article.url, article.born - 1e-3).status, 404);
            if let Some(pushing) = born.get(at + listed) {
                assert!(shown(pushing.born - 1e-4) && !shown(pushing.born + 1e-3), "{}", article.url);
            }
        }
        let titled = |day: f64| read(&web, &listing, day).document.links.len();
        assert!(titled(59.0) >= listed, "{listing}");
    }
}

#[test]
fn a_removed_page_is_answered_as_its_history_requires() {
    let web = web();
    let mut seen = BTreeSet::new();
    for article in web.articles(30.0) {
        let Some(gone) = article.gone else { continue };
        let response = get(&web, &article.url, 30.0);
        let status = match gone {
            Gone::Missing => 404,
            Gone::Removed => 410,
            Gone::Moved => 301,
            Gone::Maintenance => 302,
        };
        assert_eq!(response.status, status);
        seen.insert(status);
        if let Some(to) = response.header("location") {
            let to = article.url.join(to).unwrap();
            assert!(!read(&web, &to, 30.0).text.is_empty());
            assert!(web.version(&to, 30.0).is_some());
            assert_eq!(web.version(&article.url, 30.0), None);
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn hosts_answer_conditional_requests_as_their_profile_states() {
    let spec = ChangingSpec { boilerplate_share: 1.0, ..ChangingSpec::default() };
    let web = ChangingWeb::new(spec, 1);
    for home in web.seeds() {
        let profile = web.profile(&home).unwrap();
        let same_host = |article: &&ArticleTruth| article.url.authority() == home.authority();
        // An article that changes between days 30 and 31, and one that does not.
        let of_host: Vec<ArticleTruth> = web.articles(20.0).iter().filter(same_host).cloned().collect();
        let with = |changes: bool| {
            let found = of_host.iter().find(|article| {
                let [before, after] = [30.0, 31.0].map(|day| web.version(&article.url, day));
                before.is_some() && after.is_some() && (before != after) == changes
            });
            found.unwrap().url.clone()
        };
        let statuses = [(with(false), 30.0), (with(false), 31.0), (with(true), 31.0)].map(|(url, day)| {
            let first = get(&web, &url, 30.0);
            let mut fields = Vec::new();
            for (mark, condition) in [("etag", "if-none-match"), ("last-modified", "if-modified-since")] {
                fields.extend(first.header(mark).map(|value| (condition.to_owned(), value.to_owned())));
            }
            let response = web.response(&url, &fields, day).unwrap();
            assert_eq!(response.status == 304, response.body.is_empty());
            response.status
        });
        // Immediately, a day later with other boilerplate, and a day later with another text.
        let want = match profile.policy {
            ValidatorPolicy::Strong => [304, 200, 200],
            ValidatorPolicy::Weak | ValidatorPolicy::Dated => [304, 304, 200],
            ValidatorPolicy::NoValidators | ValidatorPolicy::UnstableEtag => [200, 200, 200],
            ValidatorPolicy::Always304 => [304, 304, 304],
        };
        assert_eq!(statuses, want, "{}", profile.name);
    }
}

#[test]
fn sitemaps_list_existing_pages_dated_as_the_profile_states() {
    let web = web();
    for home in web.seeds() {
        let profile = web.profile(&home).unwrap();
        let at = |path: &str| home.join(path).unwrap().to_string();
        let robots = get(&web, &home.join("/robots.txt").unwrap(), 9.0);
        let Some(dating) = profile.sitemap else {
            assert_eq!((robots.status, get(&web, &home.join("/sitemap.xml").unwrap(), 9.0).status), (404, 404));
            continue;
        };
        assert!(String::from_utf8_lossy(&robots.body).contains(&format!("Sitemap: {}", at("/sitemap.xml"))));
        let mut sitemap = text(&web, &at("/sitemap.xml"), 9.0);
        if profile.index {
            assert!(sitemap.contains(&at("/sitemap-1.xml")) && sitemap.contains(&at("/sitemap-2.xml.gz")));
            sitemap = text(&web, &at("/sitemap-1.xml"), 9.0) + &text(&web, &at("/sitemap-2.xml.gz"), 9.0);
        }
        for article in web.articles(12.0).iter().filter(|article| article.url.authority() == home.authority()) {
            let entry = sitemap.split("<url>").find(|entry| entry.contains(&format!("<loc>{}</loc>", article.url)));
            assert_eq!(entry.is_some(), web.version(&article.url, 9.0).is_some(), "{}", article.url);
            let Some(entry) = entry else { continue };
            let modified = entry.split_once("<lastmod>").map(|(_, rest)| rest.split('<').next().unwrap());
            let seconds = |day: f64| web.spec().start + (day * 86_400.0) as i64;
            let modified = modified.map(|text| text.parse::<jiff::Timestamp>().unwrap().as_second());
            let want = match dating {
                Dating::Truthful => web.sites.find(&article.url).map(|page| seconds(web.sites.changed(page, 9.0))),
                Dating::Now => Some(seconds(9.0)),
                Dating::Missing => None,
            };
            assert_eq!(modified, want, "{}", article.url);
        }
    }
}

#[test]
fn feeds_are_linked_and_name_the_newest_articles() {
    let web = web();
    for home in web.seeds() {
        let (media, path) = match web.profile(&home).unwrap().feeds {
            Feeds::None => {
                assert!(!text(&web, home.as_str(), 9.0).contains("rel=\"alternate\""));
                continue;
            }
            Feeds::Rss => ("application/rss+xml", "/rss.xml"),
            Feeds::Atom => ("application/atom+xml", "/atom.xml"),
        };
        let link = format!("<link rel=\"alternate\" type=\"{media}\" href=\"{path}\">");
        assert!(text(&web, home.as_str(), 9.0).contains(&link));
        let feed = text(&web, home.join(path).unwrap().as_str(), 9.0);
        let mut of_host: Vec<ArticleTruth> =
            web.articles(12.0).into_iter().filter(|article| article.url.authority() == home.authority()).collect();
        of_host.sort_by(|one, other| one.born.total_cmp(&other.born));
        let published = of_host.partition_point(|article| article.born <= 9.0);
        for article in &of_host[published - 20..published] {
            assert!(feed.contains(article.url.as_str()));
        }
        assert!(!feed.contains(&format!("{}<", of_host[published].url)));
    }
}

#[test]
fn topical_sections_speak_of_sports() {
    let web = web();
    let topic = suidao_page::topic::Topic::new(suidao_page::topic::Lexicon::from_terms(
        "体育",
        &crate::world::topic_words().map(|word| (word, 1.0)).collect::<Vec<_>>(),
    ));
    let mean = |topical: bool| {
        let articles = web.articles(0.0);
        let of_kind = articles.iter().filter(|article| article.topical == topical && article.gone.is_none()).step_by(9);
        let scores: Vec<f64> = of_kind
            .map(|article| f64::from(suidao_page::scored::read(&get(&web, &article.url, 0.0), &topic).relevance.get()))
            .collect();
        scores.iter().sum::<f64>() / scores.len() as f64
    };
    assert!(mean(true) > 2.0 * mean(false), "{} and {}", mean(true), mean(false));
}

#[test]
fn conditions_and_304_go_through_http_and_are_counted() {
    let web = Arc::new(web());
    let server: WebServer = web.serve(ServerOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let proxy = reqwest::Proxy::http(server.proxy()).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().proxy(proxy).build().unwrap();
    let home = web.seeds()[0].clone();
    let ask = |etag: &str| {
        runtime.block_on(async {
            let response = client.get(home.as_str()).header("If-None-Match", etag).send().await.unwrap();
            let etag = response.headers()["etag"].to_str().unwrap().to_owned();
            (response.status().as_u16(), etag, response.bytes().await.unwrap().len())
        })
    };
    let (status, etag, length) = ask("\"none\"");
    assert!(status == 200 && length > 0);
    assert_eq!(ask(&etag), (304, etag.clone(), 0));
    web.set(10.0);
    assert_eq!(ask(&etag).0, 200);
    assert_eq!(web.request_counts()[&home], RequestCount { requests: 3, not_modified: 1 });
    assert_eq!(web.all_requests().requests, 3);
    let nowhere = CrawlUrl::parse("http://nowhere.test/").unwrap();
    assert!(web.get(&nowhere).is_err());
}

#[test]
fn a_running_clock_runs_as_fast_as_asked() {
    let web = ChangingWeb::running(ChangingSpec::default(), 1, 1e-3);
    let first = web.day();
    assert!((0..10_000_000).any(|_| web.day() > first + 0.5));
}
