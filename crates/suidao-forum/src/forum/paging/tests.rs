//! Pagination in every form that forums use, and links that are none.

use super::super::links::tests::read;
use super::*;

fn paging(path: &str, page: i64, body: &str) -> Option<Paging> {
    let (url, links) = read(path, body);
    Paging::of(&PageAddress { own: &url, page, firsts: &[] }, &links, &UrlClassifier::default(), &[])
}

fn after(path: &str, page: i64, body: &str) -> Option<String> {
    let url = paging(path, page, body)?.after(page)?;
    Some(format!("{}{}", url.path(), url.query().map(|query| format!("?{query}")).unwrap_or_default()))
}

fn rule(path: &str, body: &str) -> (String, i64, i64) {
    let PagingRule { pages, first, step, .. } = paging(path, 1, body).unwrap().rule();
    (pages, first, step)
}

#[test]
fn the_parameter_and_its_step_are_found() {
    let body = "<p><b>1</b> <a href=/viewforum.php?f=2&start=50>2</a> <a href=/viewforum.php?f=2&start=100>3</a> … \
                <a href=/viewforum.php?f=2&start=450>10</a> <a href=/viewforum.php?f=2&start=50>Next</a>";
    assert_eq!(rule("/viewforum.php?f=2", body), ("/viewforum.php?f={n}&start={page}".into(), 0, 50));
    assert_eq!(paging("/viewforum.php?f=2", 1, body).unwrap().pages.keys().next_back(), Some(&10));
    // Pages that are not linked are built.
    assert_eq!(after("/viewforum.php?f=2&start=150", 4, body).as_deref(), Some("/viewforum.php?f=2&start=200"));
    assert_eq!(after("/viewforum.php?f=2&start=450", 10, body), None);
}

#[test]
fn the_papers_own_example() {
    let url = |page: i64| format!("/forumdisplay.php?f=85&page={page}&sort=lastpost&order=&pp=20&daysprune=-1");
    let body: String = [2, 3, 4].map(|page| format!("<a href='{}'>{page}</a> ", url(page))).concat();
    let found = paging("/forumdisplay.php?f=85", 1, &body).unwrap();
    assert_eq!((found.rule().first, found.rule().step), (1, 1));
    assert_eq!(after(&url(3), 3, &body).as_deref(), Some(&*url(4)));
}

#[test]
fn paths_are_paged_too() {
    let body = "<p><a href=/forum-2-2.html>2</a><a href=/forum-2-3.html>3</a><a href=/forum-2-9.html>末页</a>";
    assert_eq!(rule("/forum-2-1.html", body), ("/forum-{n}-{page}.html".into(), 1, 1));
    assert_eq!(paging("/forum-2.html", 1, body).unwrap().pages.keys().next_back(), Some(&9));
    assert_eq!(after("/board/7", 1, "<a href=/board/7/p/2>下一页</a>").as_deref(), Some("/board/7/p/2"));
    assert_eq!(after("/c/sports/5", 1, "<a href=/c/sports/5?page=2>›</a>").as_deref(), Some("/c/sports/5?page=2"));
    assert_eq!(after("/forum/x.3/", 1, "<a href=/forum/x.3/page-2>2</a>").as_deref(), Some("/forum/x.3/page-2"));
    assert_eq!(after("/", 1, "<p><a href=/?p=1>2</a><a href=/?p=2>3</a>").as_deref(), Some("/?p=1"));
    assert_eq!(
        rule("/i?topic=5.0", "<a href=/i?topic=5.20>2</a> <a href=/i?topic=5.40>3</a>").0,
        "/i?topic={n}.{page}"
    );
}

#[test]
fn what_is_no_paging_is_not_taken_for_it() {
    let show =
        |id: u8| format!("<p><a href='/i?a=show&b=4&id={id}&p=2'>2</a><a href='/i?a=show&b=4&id={id}&p=3'>3</a>");
    let list = "<p><a href='/i?a=list&b=4&p=2'>[2]</a>";
    assert_eq!(after("/i?a=list&b=4", 1, &(show(5) + list)).as_deref(), Some("/i?a=list&b=4&p=2"));
    // Page numbers of threads next to titles, linked counts of replies, another board.
    let body = "<p><a href=/thread-7-2-1.html>2</a><a href=/thread-7-3-1.html>3</a><p><a href=/thread-8-2-1.html>2</a>\
                <p><a href=/who?t=12>12</a><a href=/who?t=9>3</a><p><a href=/forum-3-1.html>1</a>";
    assert_eq!(paging("/forum-2-1.html", 1, body), None);
    assert_eq!(paging("/t/5", 1, "<p><a href=/t/5/reply/991>12</a><p><a href=/t/5/reply/992>13</a>"), None);
    assert_eq!(paging("/calendar?m=5", 1, "<a href=/day?m=5&d=1>1</a><a href=/day?m=5&d=2>2</a>"), None);
}

#[test]
fn the_parameter_name_decides_if_link_texts_do_not() {
    let body = "<p>1 / 3 页<p><a href='/topic/12/x/?page=2'><i></i></a><a href='/topic/12/x/?page=3'>末页</a>";
    assert_eq!(after("/topic/12/x/", 1, body).as_deref(), Some("/topic/12/x/?page=2"));
    let body = "<a href='/topic/12/x/?page=1'><i></i></a><a href='/topic/12/x/?page=3'><i></i></a>";
    assert_eq!(after("/topic/12/x/?page=2", 2, body).as_deref(), Some("/topic/12/x/?page=3"));
    let one = "<a href='/t?tid=5&page=1&author=7'>only</a><a href='/t?tid=5&page=1&author=8'>only</a>";
    assert_eq!(after("/t?tid=5", 1, one), None);
    assert_eq!(after("/topic/12/x/", 1, "<a href='/topic/12/x/?quote=2'><i></i></a>"), None);
}

#[test]
fn parts_that_distinguish_nothing_may_differ_between_pages() {
    let (url, links) = read(
        "/thread-5-1-9.html",
        "<p><a href=/thread-5-2-0.html>2</a><a href=/thread-5-3-0.html>3</a><p><a href=/thread-6-1-9.html>2</a>",
    );
    let keys = [IdPattern::parse("/thread-{id}-{n}-{n}.html")];
    let address = PageAddress { own: &url, page: 1, firsts: &[] };
    let paging = Paging::of(&address, &links, &UrlClassifier::default(), &keys).unwrap();
    assert_eq!(paging.after(1).unwrap().path(), "/thread-5-2-0.html");
    assert_eq!(Paging::of(&address, &links, &UrlClassifier::default(), &[]), None);
}

#[test]
fn lists_that_show_only_next_are_followed() {
    let next = |from: i64| format!("<a href='/f?kw=a&pn={}'>下一页</a>", from + 50);
    assert_eq!(after("/f?kw=a", 1, &next(0)).as_deref(), Some("/f?kw=a&pn=50"));
    assert_eq!(after("/f?kw=a&pn=50", 2, &next(50)).as_deref(), Some("/f?kw=a&pn=100"));
    assert_eq!(after("/f?kw=a&pn=100", 3, "<a href='/f?kw=a&pn=50'>上一页</a><a href='/f?kw=a&pn=0'>1</a>"), None);
}

/// Ways in which the links to pages write a number: first page, later pages.
const FORMS: [(&str, &str); 30] = [
    ("/viewtopic.php?t=7", "/viewtopic.php?t=7&start={o}"),
    ("/viewtopic.php?t=7", "/viewtopic.php?start={o}&t=7"),
    ("/viewtopic.php?f=2&t=7", "/viewtopic.php?f=2&t=7&page={p}"),
    ("/topic/7", "/topic/7?page={p}"),
    ("/topic/7/", "/topic/7/?page={p}"),
    ("/topic/7", "/topic/7/?page={p}"),
    ("/topic/7", "/topic/7/page/{p}"),
    ("/topic/7/", "/topic/7/page/{p}/"),
    ("/topic/7/", "/topic/7/page{p}/"),
    ("/topic/7/", "/topic/7/{p}/"),
    ("/topic/7", "/topic/7/{p}"),
    ("/topic/7/", "/topic/7/p{p}"),
    ("/threads/some-title.7/", "/threads/some-title.7/page-{p}"),
    ("/some-title-7/", "/some-title-7/{p}/"),
    ("/some-title-7/", "/some-title-7-{p}/"),
    ("/some-title-7.html", "/some-title-7-{p}.html"),
    ("/3rd-of-the-title-7.html", "/3rd-of-the-title-7-{p}.html"),
    ("/t/79001.html", "/t/79001-{p}.html"),
    ("/t/79001.html", "/t/79001_{p}.html"),
    ("/t/79001.html", "/t/79001,{p}.html"),
    ("/t/79001", "/t/79001-{p}"),
    ("/p/79001.html", "/p/79001p{p}.html"),
    ("/p/79001", "/p/79001p{p}"),
    ("/p/79001.html", "/p/79001-p{p}.html"),
    ("/p/79001.html", "/p/79001-page-{p}.html"),
    ("/t-79001.html", "/t-79001_{p}.html"),
    ("/thread-79001-1-1.html", "/thread-79001-{p}-1.html"),
    ("/read.php?tid=7", "/read.php?tid=7&fpage=0&toread=&page={p}"),
    ("/index.php?topic=7.0", "/index.php?topic=7.{o}"),
    ("/t/ab12cd34ef", "/t/ab12cd34ef?p={p}"),
];

/// How a bar of page numbers looks.
#[derive(Clone, Copy, Debug)]
struct Bar {
    /// The current page is a link too.
    current: bool,
    /// A word leads to the next page.
    next: bool,
    /// Only the first page, the last and the neighbours are linked.
    gaps: bool,
    /// The first page has a number too.
    numbered_first: bool,
    /// The text of a link, and what is around it.
    text: &'static str,
    around: (&'static str, &'static str),
}

fn at((first, pages): (&str, &str), page: i64, numbered_first: bool) -> String {
    if page == 1 && !numbered_first {
        return first.to_owned();
    }
    pages.replace("{p}", &page.to_string()).replace("{o}", &((page - 1) * 20).to_string())
}

impl Bar {
    /// The body of page `page` of `of`.
    fn body(self, form: (&str, &str), page: i64, of: i64) -> String {
        let link = |number: i64| {
            let text = self.text.replace("{p}", &number.to_string());
            format!("<a href='{}'>{text}</a>", at(form, number, self.numbered_first))
        };
        let mut bar = String::from("<div>");
        let mut last = 0;
        for number in 1..=of {
            if self.gaps && number > 1 && number < of && (number - page).abs() > 1 {
                continue;
            }
            if number > last + 1 {
                bar.push_str("… ");
            }
            last = number;
            bar.push_str(self.around.0);
            bar.push_str(&if number == page && !self.current { format!("<b>{number}</b>") } else { link(number) });
            bar.push_str(self.around.1);
        }
        if self.next && page < of {
            bar.push_str(&format!("<a href='{}'>Next</a>", at(form, page + 1, true)));
        }
        // Other links of a thread's page: posts with their numbers, people, other threads, some with short titles.
        let own = at(form, page, false);
        let posts: String = (1..=4)
            .map(|post| format!("<div><a href='/user/{post}'>anna</a> <a href='{own}#{post}'>#{post}</a> <a href='{own}#{post}'>{post}</a></div>"))
            .collect();
        bar + "</div><p><a href=/>Home</a> <a href=/search>Search</a>"
            + &posts
            + "<p><a href=/topic/8>Another</a> <a href=/t/79002.html>One more</a> <a href='/viewtopic.php?t=8'>Some</a>"
    }
}

/// Follows a thread of `of` pages; returns the page at which it ends too early, and where it leads.
fn broken(form: (&str, &str), bar: Bar, of: i64) -> Option<(i64, Option<String>)> {
    let firsts = [CrawlUrl::parse(&format!("http://bbs.cn{}", form.0)).unwrap()];
    let mut own = form.0.to_owned();
    for page in 1..=of {
        let (url, links) = read(&own, &bar.body(form, page, of));
        let address = PageAddress { own: &url, page, firsts: &firsts };
        let found = Paging::of(&address, &links, &UrlClassifier::default(), &[]);
        let found =
            found.and_then(|paging| paging.after(page)).map(|url| url.as_str()["http://bbs.cn".len()..].to_owned());
        let wanted = (page < of).then(|| at(form, page + 1, true));
        if found != wanted {
            return Some((page, found));
        }
        own = wanted.unwrap_or_default();
    }
    None
}

#[test]
fn every_form_is_followed_to_the_last_page() {
    let texts = ["{p}", "[{p}]", "Page {p}", "第{p}页"];
    let surroundings = [("", " "), ("<li>", "</li>"), ("<td>", "</td>")];
    let mut wrong = Vec::new();
    for form in FORMS {
        for flags in 0..28 {
            let [current, next, gaps, numbered_first] = [1, 2, 4, 8].map(|bit| flags & bit > 0);
            // With each text and surroundings once: without a word for the next page.
            let (text, around) =
                if flags < 16 { (texts[0], surroundings[0]) } else { (texts[flags % 4], surroundings[flags % 3]) };
            let bar = Bar { current, next: next && flags < 16, gaps, numbered_first, text, around };
            for of in if flags < 16 { [2, 5] } else { [3, 12] } {
                wrong.extend(broken(form, bar, of).map(|end| format!("{form:?} of {of}: {end:?} {bar:?}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
