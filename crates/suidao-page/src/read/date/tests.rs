use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::model::Fetched;
use crate::read::Parsed;

fn parse(url: &str, html: &str) -> Parsed {
    let body = Bytes::from(html.to_owned());
    let url = CrawlUrl::parse(url).unwrap();
    crate::read::parse(&Fetched::html(url, body))
}

fn published(url: &str, html: &str) -> Option<String> {
    parse(url, html).published.map(|day| day.to_string())
}

fn of(html: &str) -> Option<String> {
    published("http://a.cn/x", html)
}

fn both(html: &str) -> (Option<String>, Option<String>) {
    let parsed = parse("http://a.cn/x", html);
    (parsed.published.map(|day| day.to_string()), parsed.published_at.map(|at| at.to_string()))
}

fn day(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn what_is_declared_goes_before_what_is_shown() {
    let meta = "<meta property='article:published_time' content='2021-03-05T08:00:00+08:00'>";
    let ld = "<script type='application/ld+json'>{\"datePublished\": \"2020-01-02\"}</script>";
    let time = "<time itemprop=datePublished datetime=2019-05-06>x</time>";
    let shown = "<p>发布于 2018-07-08</p>";
    assert_eq!(of(&format!("{time}<p>x</p>{shown}{meta}")), day("2021-03-05"));
    assert_eq!(of(&format!("{time}<p>x</p>{ld}{shown}")), day("2020-01-02"));
    assert_eq!(of(&format!("{shown}{time}")), day("2019-05-06"));
    assert_eq!(published("http://a.cn/2017/1/02/x", &format!("{meta}{shown}")), day("2017-01-02"));
    assert_eq!(of(shown), day("2018-07-08"));
    assert_eq!(published("http://a.cn/tags/x/", &format!("{time}{shown}")), None, "an article's on a list");
    assert_eq!(published("http://a.cn/archives/2018/07/", shown), None);
    assert_eq!(published("http://a.cn/", shown), None);
    assert_eq!(published("http://a.cn/?p=12", shown), day("2018-07-08"));
}

#[test]
fn two_signs_of_three_are_believed() {
    let meta = "<meta property='article:published_time' content='2019-12-12T21:17:43Z'>";
    let ld = "<script type='application/ld+json'>{\"@type\":\"Article\",\"datePublished\":\"2019-12-09T10:25:10Z\"}</script>";
    assert_eq!(of(&format!("{meta}{ld}<p>x</p>")), day("2019-12-12"));
    assert_eq!(of(&format!("{meta}{ld}<h1>x</h1><span class=date>Dec 9, 2019</span>")), day("2019-12-09"));
}

#[test]
fn the_day_is_the_one_of_the_pages_own_zone() {
    let utc = "<meta property='article:published_time' content='2018-07-23T16:00:00.000Z'>";
    let (late, early) = (day("2018-07-24"), day("2018-07-23"));
    let instant = day("2018-07-23T16:00:00Z");
    assert_eq!(both(utc), (early.clone(), instant.clone()));
    for shown in [
        "<h1>题</h1><time datetime='2018-07-24T00:00:00+08:00'>2018-07-24</time>",
        "<h1>题</h1><time datetime='2018-07-23T16:00:00Z'>2018-07-24</time>",
        "<h1>题</h1><span class=post-time>发表于 2018-07-24</span>",
        "<p>发布时间：2018年7月24日</p>",
        "<script type='application/ld+json'>{\"datePublished\":\"2018-07-24T00:00:00+08:00\"}</script>",
    ] {
        assert_eq!(both(&format!("{utc}{shown}")), (late.clone(), instant.clone()), "{shown}");
    }
    // Two days later is another article's, not another zone's.
    assert_eq!(of(&format!("{utc}<span class=date>2018-07-26</span>")), early);
    assert_eq!(published("http://a.cn/2018/07/24/x/", utc), late);
    assert_eq!(
        both("<meta property='article:published_time' content='2018-07-24T00:30:00+08:00'>"),
        (late, day("2018-07-24T00:30:00+08:00"))
    );
    assert_eq!(both("<p>发布于 2018-07-24 10:00</p>").1, None, "a time without a zone is not an instant");
}

#[test]
fn dates_are_found_where_pages_put_them() {
    for html in [
        "<abbr class=published title='2019-06-27T10:21:40+02:00'>jeudi 27 juin 2019</abbr>",
        "<span itemprop=datePublished content='2019-06-27T08:00:00+02:00'>27.06.</span>",
        "<div itemprop='datePublished'>27 июня 2019</div>",
        "<span property='schema:datePublished' content='2019-06-27'></span>",
        "<meta itemprop=datePublished content=2019-06-27>",
        "<meta name='DC.date.issued' content='27.06.2019'>",
        "<h1>Titel</h1><p><span class=meta__date>27.06.2019</span></p>",
        "<h1>Titel</h1><em class=postDate>27/06/2019</em>",
        "<h1>t</h1><div class=date><b>27</b> <i>Jun</i> <u>2019</u></div>",
        "<p>Veröffentlicht am 27. Juni 2019 von Anna</p>",
        "<p>Publié le 27 juin 2019</p>",
        "<dl><dt>Datum:</dt><dd>27.06.2019</dd></dl>",
        "<p>发布于 2019 年 6 月 27 日</p>",
        "<p>發布日期：民國108年6月27日</p>",
        "<p>发布时间：２０１９年６月２７日</p>",
        "<p>日期：二〇一九年六月二十七日</p>",
        "<title>The headline of it</title><p>The headline of it</p><p>by Ann, 27 Jun 2019</p>",
        "<script>window.data={\"id\":1,\"publishedAt\":\"2019-06-27T10:00:00Z\"}</script><p>x</p>",
        "<script type='application/ld+json'>{\"@type\":\"VideoObject\",\"uploadDate\":\"2019-06-27\"}</script><p>x</p>",
    ] {
        assert_eq!(of(html), day("2019-06-27"), "{html}");
    }
}

#[test]
fn dates_of_other_things_are_not_taken() {
    for html in [
        "<p>© 2019-06-27 Beispiel</p>",
        "<span class=event-date>27.06.2019</span>",
        "<p>注册日期 2019-06-27</p>",
        "<script>var x = {\"dateOfBirth\": \"2020-01-02\"}</script>",
        "<div class=comments><time datetime=2019-06-27>gestern</time></div>",
        "<script type='application/ld+json'>{\"@type\":\"Review\",\"datePublished\":\"2019-06-27\"}</script>",
    ] {
        assert_eq!(of(html), None, "{html}");
    }
    let article = "<h1>Titel</h1><span class=date>27.06.2019</span>";
    let today = "<header><time datetime=2023-01-02>heute</time></header>";
    let menu = "<p>viele Worte des Menüs, die vor der Überschrift stehen und mit ihr nichts zu tun haben</p>";
    assert_eq!(
        of(&format!("{today}{menu}{article}")),
        day("2019-06-27"),
        "the day it was sent is far before the headline"
    );
    assert_eq!(of(&format!("{article}<p>Zuletzt geändert am 01.02.2023</p>")), day("2019-06-27"));
}

#[test]
fn a_list_of_articles_has_no_date_of_its_own() {
    let list = |item: &dyn Fn(usize) -> String| (1..9).map(item).collect::<String>();
    assert_eq!(of(&list(&|n| format!("<article><time datetime=2021-03-0{n}>x</time></article>"))), None);
    assert_eq!(of(&list(&|n| format!("<h2>x</h2><span class=entry-date>2021-03-0{n}</span>"))), None);
    assert_eq!(of(&list(&|n| format!("<p>2021-03-0{n}</p>"))), None);
    assert_eq!(of(&list(&|n| format!("<script>{{\"publishedAt\":\"2021-03-0{n}\"}}</script>"))), None);
    let items = list(&|n| format!("{{\"@type\":\"Article\",\"datePublished\":\"2021-03-0{n}\"}},"));
    assert_eq!(of(&format!("<script type='application/ld+json'>[{items}1]</script>")), None);
    assert_eq!(
        of("<p>张三 2021年 3月 5日 阅读(12)</p><p>正文，写于2019年1月1日的事情</p>").as_deref(),
        Some("2021-03-05")
    );
}

#[test]
fn day_and_month_are_distinguished_by_the_page() {
    let date = "<h1>t</h1><span class=date>3/4/2019</span>";
    assert_eq!(of(date), day("2019-04-03"));
    let american = format!("<html lang=en-US>{date}");
    assert_eq!(published("http://a.com/x", &american), day("2019-03-04"));
    assert_eq!(published("http://a.com/2019/04/x", &american), day("2019-04-03"), "the address names the month");
    assert_eq!(published("http://a.co.uk/x", &format!("<html lang=en>{date}")), day("2019-04-03"));
}

#[test]
fn days_are_stored_up_to_the_number_that_marks_a_list() {
    let mut days = Vec::new();
    (0..400_000).for_each(|day| few(&mut days, Day(day)));
    assert_eq!(days.len(), FEW + 1);
}

proptest! {
    #[test]
    fn no_markup_panics(parts in proptest::collection::vec(proptest::sample::select(vec![
        "<time datetime='2021-03-05T16:00:00Z'>", "</time>", "<span class='date comment'>", "</span>", "<div class=date>", "</div>",
        "3/4/2019", "2019年", "6月", "7日", "<h1>", "</h1>", "<script>{\"publishedAt\":\"", "</script>", "<aside>", "</aside>", "é",
        "<meta itemprop=datePublished content=3/4/2019>", "<p>", "发布于", "updated ", "<script type=application/ld+json>{\"datePublished\":",
        "\"2019-01-02\"}", "Dec 9, 2019", " 23:59:60 +99:99", "１９９９", "<br>", "<abbr class=published title=x>",
    ]), 0..40)) {
        let _ = both(&parts.concat());
    }
}
