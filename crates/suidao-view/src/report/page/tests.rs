//! The report page of small and empty crawls.

use scraper::{Html, Selector};

use super::*;
use crate::report::facts::BinName;
use crate::report::gather;
use suidao_store::corpus::Catalogue;
use suidao_store::corpus::fixture::crawl;

fn all<'a>(html: &'a Html, selector: &str) -> Vec<scraper::ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

/// A crawl of eight pages. All but the seed were found on the seed; chains of off-topic pages would need a real crawl.
fn facts() -> ReportFacts {
    let root = tempfile::tempdir().unwrap();
    let story = "昨天 晚上 的 比赛 非常 精彩 , 两队 踢 了 加时".repeat(20);
    let message = format!("<title>足球 & <b>联赛</b></title><p>足球 篮球 {story}</p><p>2021-03-05</p>");
    let html: Vec<(String, String)> = vec![
        ("http://seed.cn/".into(), "<title>导航</title><p>天气 新闻</p>".into()),
        ("http://a.cn/1".into(), message.clone()),
        ("http://a.cn/2/%E8%B6%B3%E7%90%83?x=<y>".into(), message),
        ("http://b.cn/%E8%B6%B3%E7%90%83".into(), "<title>足球</title><p>足球 足球 足球 NBA 今天</p>".into()),
        ("http://b.cn/4".into(), "<p>天气 预报 说 明天 有 雨</p>".into()),
        ("http://b.cn/5".into(), String::new()),
    ];
    let pages: Vec<(&str, &str)> = html.iter().map(|(url, html)| (url.as_str(), html.as_str())).collect();
    let store = crawl(root.path(), &pages);
    let catalogue = Catalogue::read(&store).unwrap();
    let summary = serde_json::json!({
        "stopped": "page-limit",
        "config": { "crawl": { "in_flight": 64, "seed": null }, "scope": { "hosts": ["<a>"] } },
    });
    gather(&store, &catalogue, Some(&summary)).unwrap()
}

#[test]
fn facts_are_as_counted_by_hand() {
    let facts = facts();
    assert_eq!((facts.counts.pages, facts.counts.relevant, facts.counts.known), (6, 3, 6));
    assert_eq!((facts.hosts.visited, facts.hosts.relevant), (3, 2));
    let hosts: Vec<_> =
        facts.hosts.rows.iter().map(|row| (row.host.as_str(), row.pages, row.relevant, row.first)).collect();
    assert_eq!(hosts, [("b.cn", 3, 1, 4), ("a.cn", 2, 2, 2), ("seed.cn", 1, 0, 1)]);
    assert_eq!((facts.duplicates.groups, facts.duplicates.repeated), (1, 1));
    // The seed is off topic, so all relevant pages come after an off-topic page.
    assert_eq!(facts.tunnels.by_hops, [0, 3]);
    assert_eq!((facts.tunnels.opened_hosts, facts.tunnels.longest.len()), (2, 1));
    let steps: Vec<_> = facts.tunnels.longest[0].steps.iter().map(|step| step.page.url.as_str()).collect();
    assert_eq!(steps, ["http://seed.cn/", "http://a.cn/1"]);
    assert_eq!(facts.tunnels.longest[0].steps[1].anchor, "链接1");
    assert_eq!(facts.terms[0], Bin { name: BinName::Term("足球".into()), pages: 3, relevant: 3 });
    let points: Vec<_> = facts.harvest.points.iter().map(|point| (point.pages, point.relevant)).collect();
    assert_eq!(points, [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (6, 3)]);
    assert!(facts.crawl.settings.iter().all(|(key, _)| key != "crawl.seed"), "unset keys are not listed");
    assert!(serde_json::to_string(&facts).unwrap().contains("\"stopped\":\"page-limit\""));
}

#[test]
fn the_page_is_well_formed_and_whole_in_itself() {
    for lang in [Lang::English, Lang::Chinese] {
        is_well_formed(&page(&facts(), lang));
    }
    let chinese = page(&facts(), Lang::Chinese);
    for text in ["每条：一个月（UTC）", "<title>2021年3月：2 网页，其中相关 2</title>", "<th scope=\"row\">中文</th>"]
    {
        assert!(chinese.contains(text), "{text}\n{chinese}");
    }
}

fn is_well_formed(text: &str) {
    let html = Html::parse_document(text);
    assert!(html.errors.is_empty(), "{:?}", html.errors);
    assert!(all(&html, "script, link, img, iframe").is_empty());
    assert!(!text.contains("url(") && !text.contains("src="), "nothing from elsewhere");
    let ids: Vec<&str> = all(&html, "[id]").iter().filter_map(|element| element.attr("id")).collect();
    assert_eq!(ids.len(), ids.iter().collect::<std::collections::BTreeSet<_>>().len(), "{ids:?}");
    for link in all(&html, "a[href^=\"#\"]") {
        let target = link.attr("href").unwrap().trim_start_matches('#');
        assert!(ids.contains(&target), "{target}");
    }
    for image in all(&html, "svg") {
        assert_eq!(image.attr("role"), Some("img"));
        assert!(!image.attr("aria-label").unwrap_or_default().is_empty());
    }
    for table in all(&html, "table") {
        let cells = |row: scraper::ElementRef| row.child_elements().count();
        let rows: Vec<usize> = table.select(&Selector::parse("tr").unwrap()).map(cells).collect();
        assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{rows:?}");
    }
}

#[test]
fn text_of_pages_stays_text() {
    let text = page(&facts(), Lang::English);
    let title = text.lines().find(|line| line.contains("kept")).unwrap();
    assert!(title.contains("足球 &amp;") && !text.contains("<b>联赛"), "titles are escaped: {title}");
    assert!(text.contains("[&quot;&lt;a&gt;&quot;]"));
    assert!(text.contains("a.cn/2/足球"), "URLs are shown as people read them");
    assert!(text.contains("href=\"http://a.cn/2/%E8%B6%B3%E7%90%83?x="));
}

#[test]
fn a_crawl_without_a_lexicon_has_no_sections_about_relevance() {
    let mut facts = facts();
    facts.crawl.settings.push(("crawl.page_threshold".into(), "0.0".into()));
    let html = Html::parse_document(&page(&facts, Lang::English));
    for section in ["best", "harvest", "tunnels", "terms"] {
        assert!(all(&html, &format!("#{section}, a[href='#{section}']")).is_empty(), "{section}");
    }
    assert_eq!((all(&html, "#hosts").len(), all(&html, "nav li").len()), (1, 7));
}

#[test]
fn equal_facts_give_equal_bytes() {
    assert!(page(&facts(), Lang::English) == page(&facts(), Lang::English));
}

#[test]
fn a_crawl_of_nothing_is_reported_without_dividing_by_it() {
    let text = page(&ReportFacts::default(), Lang::English);
    assert!(Html::parse_document(&text).errors.is_empty());
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert!(text.contains("No relevant page was found."));
}
