//! Tests of whole pages, hand-written and random.

use bytes::Bytes;
use encoding_rs::{BIG5, GBK};
use proptest::prelude::*;

use super::*;

const LONG: &str = "昨天下午，我们在学校的体育馆里看了一场篮球比赛。双方的队员都很努力，最后红队以两分的优势获胜。\
                    比赛结束以后，大家都说这是今年最好看的一场，希望下个月还能再看到他们。";

const BLOG: &str = r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>
  篮球比赛   | 我的博客 </title>
<link rel="canonical" href="/2020/match/">
<link rel="alternate" type="application/rss+xml" title="RSS" href="/feed/"><link rel="alternate" hreflang="en" href="/en/">
<LINK REL="Alternate home" TYPE="Application/Atom+XML; charset=utf-8" HREF="http://feeds.cn/a?b=1&amp;c=2">
<link rel="alternate" type="application/rss+xml" href="/feed/"><link rel="alternate" type="text/css" href="/x.css">
<link rel="stylesheet" type="application/rss+xml" href="/no"><style>p { color: red }</style></head>
<body class="has-sidebar">
<header class="site-header"><a href="/">我的博客</a><p>记录生活</p></header>
<nav><ul><li><a href="/">首页</a><li><a href="/archives/">归档</a><li><a href="/about/">关于</a></ul></nav>
<div class="container sidebar-position-left">
<article class="post">
<h1>篮球比赛</h1><div class="post-meta">发表于 2020-05-01</div>
<p>昨天下午，我们在学校的<a href="http://gym.cn/?a=1#top">体育馆</a>里看了
一场篮球比赛。双方的队员都很努力，<b>最后红队</b>以两分的优势获胜。
<p>比赛结束以后，大家都说这是今年最好看的一场，希望下个月还能再看到他们。
<ul><li>第一节：二十比十八<li>第二节：四十比四十一</ul>
<script>document.write("<p>不应该出现</p>")</script>
<p style="display: none">隐藏的文字</p><noscript>请打开脚本</noscript>
<a href="/photo"><img src="a.jpg" alt="比赛 照片"></a>
<div class="post-nav"><a href="/2020/a/">上一篇文章的标题</a> <a href="/2020/b/">下一篇文章的标题</a></div>
</article>
<div id="sidebar"><h3>最新文章</h3><ul>
<li><a href="/2020/c/">春天的第一次旅行</a></li><li><a href="/2020/d/" rel="nofollow">读书笔记之一</a></li></ul></div>
</div><footer>版权所有 &copy; 2020</footer></body></html>"##;

const PORTAL: &str = "<HTML><HEAD><META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=gb2312'><TITLE>新闻</TITLE>
<BODY><CENTER><TABLE WIDTH=760><TR><TD><A HREF=/>首页</A> | <A HREF=/sport/>体育</A> | <A HREF=/news/>新闻</A> | <A HREF=/it/>科技</A></TABLE>
<TABLE><FORM ACTION=/s><TR><TD WIDTH=160><FONT COLOR=red>热点</FONT><BR>·<A HREF=1.htm>全市今年的经济增长很快</A><BR>·<A HREF=2.htm>新图书馆下周向公众开放</A><BR>
·<A HREF=3.htm>大学生运动会昨天开幕了</A><BR>·<A HREF=4.htm>旧城区的改造工程完成</A><TD><FONT SIZE=5><B>红队以两分取胜</B></FONT><BR><BR>
　　昨天下午，我们在学校的体育馆里看了一场篮球比赛。双方的队员都很努力，最后红队以两分的优势获胜。<BR>
　　比赛结束以后，大家都说这是今年最好看的一场，希望下个月还能再看到他们。<BR>　　（记者 <A HREF='?q=记者'>王明</A>）</FORM></TABLE>
<TABLE><TR><TD><A HREF=/about>关于我们</A> <A HREF=/ad>广告服务</A> <A HREF=/map>网站地图</A> <A HREF=/job>诚聘英才</A></TABLE>";

const FORUM: &str = "<html><head><title>篮球讨论区</title></head><body><div id='nv'><a href='/'>论坛首页</a><a href='/new'>最新帖子</a></div>
<table><tr><th>主题<th>作者<th>回复
<tr><td><a href='thread-1-1-1.html'>昨天的比赛大家怎么看？</a><td><a href='u1'>小明</a><td>12
<tr><td><a href='thread-2-1-1.html'>红队的新队员</a><td><a href='u2'>阿强</a><td>3
<tr><td><a href='thread-3-1-1.html'>求推荐一双篮球鞋</a><td><a href='u3'>老李</a><td>45
</table><div class='pages'><a href='forum-2.html'>2</a></div><div id='footer'><a href='/x'>联系我们</a></div></body></html>";

fn fetched(content_type: Option<&str>, body: &[u8]) -> Fetched {
    Fetched {
        url: CrawlUrl::parse("http://a.cn/x/y.html").unwrap(),
        status: 200,
        headers: content_type.map(|value| ("content-type".to_owned(), value.to_owned())).into_iter().collect(),
        body: Bytes::copy_from_slice(body),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

fn html(text: &str) -> Parsed {
    parse(&fetched(Some("text/html; charset=utf-8"), text.as_bytes()))
}

fn anchors(parsed: &Parsed, region: Region) -> Vec<(String, String)> {
    let links = parsed.document.links.iter().filter(|link| link.region == region);
    let text = |link: &DocumentLink| link.anchor.clone().map(|piece| parsed.document.piece(piece)).collect::<String>();
    links.map(|link| (link.url.as_str().replace("http://a.cn", ""), text(link))).collect()
}

/// Invariants of every document.
fn check(parsed: &Parsed) {
    let document = &parsed.document;
    let (mut text, mut piece) = (0, 0);
    for block in &document.blocks {
        assert_eq!(block.pieces.start, piece, "blocks without gaps");
        piece = block.pieces.end;
    }
    assert_eq!(piece, document.pieces.len());
    for piece in &document.pieces {
        assert!(piece.text.start == text && piece.text.end > text, "pieces back to back, none empty");
        text = piece.text.end;
        assert!(document.text.is_char_boundary(text));
    }
    assert_eq!(text, document.text.len());
    for link in &document.links {
        assert!(link.block < document.blocks.len() && link.anchor.start <= link.anchor.end);
        assert!(link.anchor.end <= document.pieces.len());
        assert_eq!(link.region, document.blocks[link.block].region);
    }
    assert!(document.links.len() <= links::LINKS && document.text.len() <= markup::TEXT + parsed.title.len());
    assert_eq!(parsed.text.is_empty(), parsed.defects.iter().any(|d| matches!(d, Defect::NoContent | Defect::NotText)));
    if !parsed.title.is_empty() {
        let title: String = document.blocks[0].pieces.clone().map(|piece| document.piece(piece)).collect();
        assert_eq!((title, document.blocks[0].region), (parsed.title.clone(), Region::Content));
    }
}

#[test]
fn an_article_is_read_from_its_headline_to_the_heading_of_what_follows() {
    let text = format!("<p>{LONG}</p>").repeat(4);
    let page = format!(
        "<title>红队以两分取胜 - 某报</title><div><p>今日快讯</p><h2>红队以两分取胜</h2>{text}<p>Advertisement</p>\
         <p>Read more: <a href=/2>第二篇</a></p>{text}<h3>You may also like</h3><p>别的文章的开头</p></div>"
    );
    let read = parse(&fetched(Some("text/html; charset=utf-8"), page.as_bytes())).text;
    assert_eq!(read, [LONG; 8].join("\n"));
}

#[test]
fn what_is_marked_as_the_body_of_the_article_is_it() {
    let text = format!("<p>{LONG}</p>").repeat(4);
    let page =
        |mark: &str| format!("<title>x</title><div><div {mark}>{text}</div><div>{text}<p>别的文章</p></div></div>");
    let read = |mark: &str| parse(&fetched(Some("text/html; charset=utf-8"), page(mark).as_bytes())).text;
    assert_eq!(read("itemprop=articleBody"), [LONG; 4].join("\n"));
    assert!(read("").ends_with("别的文章"));
}

#[test]
fn lists_of_links_between_sentences_are_the_authors_if_they_lead_to_other_hosts() {
    let text = format!("<p>{LONG}</p>").repeat(4);
    let list = |host: &str| {
        let items = ["第一篇别处的文章", "第二篇别处的文章", "第三篇别处的文章", "第四篇别处的文章"];
        items.map(|it| format!("<li><a href='{host}/{it}'>{it}</a>")).concat()
    };
    let read = |host: &str| {
        let page = format!("<title>x</title><article>{text}<ul>{}</ul>{text}</article>", list(host));
        parse(&fetched(Some("text/html; charset=utf-8"), page.as_bytes())).text
    };
    assert!(read("http://b.cn").contains("第三篇"));
    assert!(!read("http://a.cn").contains("第三篇"));
}

#[test]
fn what_stands_outside_the_element_that_holds_the_text_is_left_out_but_for_the_lead() {
    let lead = "这一段引子写在正文之前，用两句话说了这场比赛的经过，也说了大家为什么都来看它。".repeat(2);
    let text = format!("<p>{LONG}</p>").repeat(9);
    let page = format!(
        "<title>比赛</title><div class=box><p>三条短讯</p><p>天气转晴</p></div><div><p>{lead}</p><div>{text}\
         <figure><img src=a><figcaption>红队在比赛中</figcaption></figure></div><div><p>本台的其他节目</p></div></div>"
    );
    let read = parse(&fetched(Some("text/html; charset=utf-8"), page.as_bytes())).text;
    assert!(read.starts_with(&lead) && read.ends_with(LONG), "{read}");
    for other in ["短讯", "转晴", "红队在比赛中", "其他节目"] {
        assert!(!read.contains(other), "{other}: {read}");
    }
}

fn page(body: &str) -> String {
    let page = format!("<title>红队以两分取胜 - 某报</title><body>{body}");
    parse(&fetched(Some("text/html; charset=utf-8"), page.as_bytes())).text
}

#[test]
fn the_lead_stands_between_headline_and_text() {
    let text = format!("<div><p>{LONG}</p></div>").repeat(6);
    let lead = "昨晚这场比赛到最后一刻才分出胜负，双方都不肯罢休";
    let read = |lead: &str| {
        page(&format!(
            "<h1>红队以两分取胜</h1><div class=share><p>分享到：某某网、某某圈、某某博客、某某空间，还有别处</p></div>{lead}<main><article>{text}</article></main>"
        ))
    };
    for given in [format!("<p>{lead}</p>"), format!("<h2>{lead}</h2>"), format!("<ul><li>{lead}</li></ul>")] {
        let stated = read(&given);
        assert!(stated.contains(lead) && !stated.contains("分享到"), "{given}: {stated}");
    }
    for other in [
        format!("<p>{lead}（摄影者：张三） (Foto: Zhang San)</p>"),
        format!("<p><a href=/2>{lead}</a></p>"),
        "<p>红队以两分取胜</p>".to_owned(),
        "<p>2019-06-27 11:20 · 2019-06-28 08:15 · 阅读 1234 · 评论 567</p>".to_owned(),
        "<p>快讯</p>".to_owned(),
    ] {
        assert_eq!(read(&other), [LONG; 6].join("\n"), "{other}");
    }
}

#[test]
fn an_article_without_a_body_does_not_read_as_its_sidebar() {
    let about = format!("<p>{LONG}</p>").repeat(5);
    let body = "<article class=post><h1>红队以两分取胜</h1><div class=entry-content></div></article>";
    for side in [
        "div class=sidebar",
        "div class='side-bar widget'",
        "aside",
        "div id=comments",
        "div class=sidebar_right",
        "footer",
    ] {
        let read = page(&format!("<div>{body}<{side}><div>{about}</div></div>"));
        assert!(!read.contains(LONG), "{side}: {read}");
    }
}

#[test]
fn teasers_are_left_out_with_the_small_boxes_around_them() {
    let text = format!("<p>{LONG}</p>").repeat(4);
    let title = "蓝队换了三名队员以后连胜五场";
    let teasers = [
        format!("<p><a href=/2>{title}</a></p>"),
        format!("<ul><li><a href=/2>{title}</a></li></ul>"),
        format!("<div><span>体育</span><h3><a href=/2>{title}</a></h3><p>蓝队上个月输了四场</p></div>"),
        format!("<a href=/2><div><b>{title}</b></div></a>"),
        "<div class=teaser><b>体育</b><p>蓝队上个月输了四场<a href=/2>全文</a></p></div>".to_owned(),
    ];
    for teaser in teasers {
        let read = page(&format!("<h1>红队以两分取胜</h1><div>{text}{teaser}{text}{teaser}</div>"));
        assert_eq!(read, [LONG; 8].join("\n"), "{teaser}");
    }
    // Part of the text: a link in a sentence, to another host, or short; table rows.
    for own in [
        format!("<p>请看<a href=/2>{title}</a>，那里说得更清楚</p>"),
        format!("<p><a href=http://b.cn/2>{title}</a></p>"),
        "<p><a href=/2>下载</a></p>".to_owned(),
        format!("<table><tr><td><a href=/2>{title}</a><td>12</table>"),
    ] {
        let read = page(&format!("<div>{text}{own}{text}</div>"));
        assert_eq!(read.lines().count(), 9, "{own}: {read}");
    }
}

#[test]
fn a_listing_keeps_its_titles_and_excerpts() {
    let row = |n: usize| format!("<div><h2><a href=/p/{n}>第{n}篇文章的标题写得很长很长</a></h2><p>{LONG}</p></div>");
    let read = page(&(0..9).map(row).collect::<String>());
    assert_eq!(read.matches("写得很长").count(), 9, "{read}");
}

#[test]
fn boxes_below_the_text_are_left_out() {
    let text = format!("<p>{LONG}</p>").repeat(6);
    for below in [
        "<div><h4>About the author</h4><p>Ann has written about towns for nine years.</div>",
        "<div class=newsletter><p>All the news of the day, in one letter.</div>",
        "<div class=post-author><p>Ann has written about towns for nine years.</div>",
        "<p>Sign up for our daily letter and never miss a story again.",
        "<p>War dieser Artikel nützlich? Dann bewerten Sie ihn hier.",
        "<p>Foto: Ann Example",
        "<p><a href=/>Zurück zur Übersicht</a>",
        "<p>Tags: towns, rivers",
    ] {
        let read = page(&format!("<div><h1>红队以两分取胜</h1>{text}{below}</div>"));
        assert_eq!(read, [LONG; 6].join("\n"), "{below}");
    }
    let read = page(&format!("<div>{text}<p>Design upgrades of your application are told elsewhere.</div>"));
    assert!(read.ends_with("elsewhere."), "{read}");
}

#[test]
fn a_text_goes_on_below_the_heading_of_a_box() {
    let text = format!("<p>{LONG}</p>").repeat(6);
    let read = page(&format!("<div>{text}<div><h3>Related</h3><p>别的文章的开头</p></div><p>{LONG}</p></div>"));
    assert_eq!(read, [LONG; 7].join("\n"));
}

#[test]
fn when_and_by_whom_a_text_was_written_stands_above_it() {
    let text = format!("<p>{LONG}</p>").repeat(6);
    for line in
        ["By Ann Example", "Von Ann Example", "17. September 2011", "03.03.2011, 14:17", "Nov 7, 2023 | 2 min read"]
    {
        assert_eq!(page(&format!("<div><p>{line}</p>{text}</div>")), [LONG; 6].join("\n"), "{line}");
    }
    for line in ["By the river", "Deadline: 15. März 2020", "2019", "1999 war alles besser."] {
        let read = page(&format!("<div><h3>{line}</h3>{text}</div>"));
        assert!(read.starts_with(line), "{line}");
    }
}

#[test]
fn text_next_to_the_list_that_contains_the_article_belongs_to_it() {
    let items = format!("<li><p>{LONG}</p></li>").repeat(9);
    let last = format!("最后再说一句：{LONG}");
    let read =
        page(&format!("<div><div><ul>{items}</ul><p>{last}</p></div><div><p>{LONG}本台的其他节目</p></div></div>"));
    assert!(read.ends_with(&last), "{read}");
}

#[test]
fn a_page_names_few_feeds() {
    let links: String = (0..9).map(|n| format!("<link rel=alternate type=application/rss+xml href=/{n}>")).collect();
    assert_eq!(html(&links).feeds.len(), 4);
}

#[test]
fn blog_post_with_sidebar() {
    let parsed = html(BLOG);
    check(&parsed);
    assert_eq!(parsed.title, "篮球比赛 | 我的博客");
    assert_eq!(
        parsed.text,
        "昨天下午，我们在学校的体育馆里看了一场篮球比赛。双方的队员都很努力，最后红队以两分的优势获胜。\n\
         比赛结束以后，大家都说这是今年最好看的一场，希望下个月还能再看到他们。\n- 第一节：二十比十八\n- 第二节：四十比四十一"
    );
    assert_eq!((parsed.language.as_deref(), parsed.charset.as_str()), (Some("cmn"), "UTF-8"));
    assert_eq!(parsed.canonical.as_ref().map(CrawlUrl::as_str), Some("http://a.cn/2020/match/"));
    let feeds: Vec<_> = parsed.feeds.iter().map(CrawlUrl::as_str).collect();
    assert_eq!(feeds, ["http://a.cn/feed/", "http://feeds.cn/a?b=1&c=2"]);
    let own = |url: &str, text: &str| (url.to_owned(), text.to_owned());
    assert_eq!(anchors(&parsed, Region::Content), [own("http://gym.cn/?a=1", "体育馆"), own("/photo", "比赛 照片")]);
    let boilerplate: Vec<_> = anchors(&parsed, Region::Boilerplate).into_iter().map(|(url, _)| url).collect();
    assert_eq!(boilerplate, ["/", "/", "/archives/", "/about/", "/2020/a/", "/2020/b/", "/2020/c/", "/2020/d/"]);
    let refused: Vec<_> = parsed.document.links.iter().filter(|l| l.nofollow).map(|l| l.url.path()).collect();
    assert_eq!(refused, ["/2020/d/"]);
    assert!(!parsed.document.text.contains("不应该出现") && !parsed.text.contains("隐藏"));
}

#[test]
fn old_table_portal_in_gbk() {
    let (body, _, _) = GBK.encode(PORTAL);
    let parsed = parse(&fetched(None, &body));
    check(&parsed);
    assert_eq!((parsed.charset.as_str(), parsed.title.as_str()), ("GBK", "新闻"));
    assert_eq!(
        parsed.text,
        "红队以两分取胜\n昨天下午，我们在学校的体育馆里看了一场篮球比赛。双方的队员都很努力，最后红队以两分的优势获胜。\n\
         比赛结束以后，大家都说这是今年最好看的一场，希望下个月还能再看到他们。\n（记者 王明）"
    );
    let content = anchors(&parsed, Region::Content);
    assert_eq!(content, [("/x/y.html?q=%BC%C7%D5%DF".to_owned(), "王明".to_owned())]);
    assert_eq!(parsed.document.links.len(), 13);
}

#[test]
fn forum_list_keeps_its_threads() {
    let parsed = html(FORUM);
    check(&parsed);
    let content: Vec<_> = anchors(&parsed, Region::Content).into_iter().map(|(_, text)| text).collect();
    for title in ["昨天的比赛大家怎么看？", "红队的新队员", "求推荐一双篮球鞋"] {
        assert!(content.iter().any(|anchor| anchor == title), "{content:?}");
        assert!(parsed.text.contains(title));
    }
    let boilerplate: Vec<_> = anchors(&parsed, Region::Boilerplate).into_iter().map(|(_, text)| text).collect();
    assert!(boilerplate.contains(&"论坛首页".to_owned()) && boilerplate.contains(&"联系我们".to_owned()));
}

#[test]
fn page_of_links_has_content() {
    let items: String = (0..30).map(|n| format!("<li><a href=/p/{n}>第{n}篇文章的标题</a></li>")).collect();
    let parsed =
        html(&format!("<title>归档</title><nav><a href=/>首页</a></nav><div class=archive><ul>{items}</ul></div>"));
    check(&parsed);
    assert!(parsed.text.starts_with("- 第0篇文章的标题\n- 第1篇"));
    assert_eq!(anchors(&parsed, Region::Content).len(), 30);
    assert_eq!(anchors(&parsed, Region::Boilerplate).len(), 1);
    // If everything is named navigation, there is nothing else to show.
    let parsed = html("<nav><a href=/a>第一</a><a href=/b>第二</a></nav>");
    assert_eq!(parsed.text, "第一第二");
}

#[test]
fn an_article_next_to_a_long_list_is_distinguished_from_it() {
    let items: String = (0..80).map(|n| format!("<li><a href=/p/{n}>第{n}篇文章有一个很长的标题</a></li>")).collect();
    let parsed = html(&format!("<div><div><p>{LONG}</p><p>短的一段。</p></div><ul>{items}</ul></div>"));
    assert_eq!(parsed.text, format!("{LONG}\n短的一段。"));
}

#[test]
fn long_text_is_kept_wherever_it_is() {
    for around in ["<aside>", "<div class=sidebar>", "<footer>", "<div class='comment-list'>", "<td class=menu>"] {
        let parsed =
            html(&format!("<article><p>{LONG}</p></article>{around}<p>{0}{0}{0}</p>", LONG.replace("昨天", "前天")));
        assert_eq!(parsed.text.lines().count(), 2, "{around}");
    }
}

#[test]
fn links_are_read_in_page_order() {
    let page = "<base href='/b/'><meta http-equiv=refresh content=\"15; URL='next.htm'\"><link rel='prev next' href=n>
        <p>before <a href=' c\n.htm#x ' title=tip>text</a>after<a href=javascript:x()>no</a> <a href='mailto:x@y.cn'>no</a><a name=z>no</a>
        <a href=d title='the whole title'>the wh...</a><a href=e title=tip></a>
        <map><area href=f alt=map></map><a href=#here>same page</a></p><a href=h>x<div>y</div></a><iframe src=g>z</iframe>";
    let parsed = html(page);
    check(&parsed);
    let mut all = anchors(&parsed, Region::Content);
    all.extend(anchors(&parsed, Region::Boilerplate));
    let brief: Vec<_> = all.iter().map(|(url, text)| format!("{url} {text}")).collect();
    assert_eq!(
        brief,
        [
            "/b/next.htm ",
            "/b/n ",
            "/b/c.htm text",
            "/b/d the wh...the whole title",
            "/b/e tip",
            "/b/f map",
            "/b/h xy",
            "/b/g ",
        ]
    );
    assert!(parsed.text.starts_with("before text"), "{}", parsed.text);
}

#[test]
fn directives_of_header_and_page_add_up() {
    let mut response = fetched(Some("text/html"), b"<meta name=robots content=nofollow><p>x");
    response.headers.push(("x-robots-tag".to_owned(), "noindex".to_owned()));
    let parsed = parse(&response);
    assert!(parsed.noindex && parsed.nofollow);
}

#[test]
fn what_leads_on_at_once_is_a_refresh_and_no_link() {
    let read = |head: &str, fields: &[(&str, &str)]| {
        let mut response = fetched(Some("text/html"), format!("{head}<p>text").as_bytes());
        response.headers.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let parsed = parse(&response);
        (parsed.refresh.map(|to| to.path().to_owned()), parsed.document.links.len())
    };
    let own = fetched(None, b"").url;
    let to = |delay: u32, target: &str| format!("<meta http-equiv='refresh' content='{delay};url={target}'>");
    assert_eq!(read(&to(0, "/x"), &[]), (Some("/x".into()), 0));
    assert_eq!(read(&format!("{}{}", to(10, "/x"), to(0, "/y")), &[]), (Some("/x".into()), 0), "the first of two");
    assert_eq!(read(&to(11, "/x"), &[]), (None, 1));
    assert_eq!(read(&to(0, own.as_str()), &[]), (None, 0), "it reads itself again");
    assert_eq!(read(&to(0, "javascript:x"), &[]), (None, 0));
    assert_eq!(read(&format!("<noscript>{}</noscript>", to(0, "/x")), &[]), (None, 0));
    assert_eq!(read(&to(0, "/x"), &[("refresh", "0; url=/field")]), (Some("/field".into()), 0));
    assert_eq!(read("", &[("refresh", "60; url=/field")]), (None, 0));
}

#[test]
fn a_page_has_one_address_or_none() {
    let read = |head: &str, field: Option<&str>| {
        let mut response = fetched(Some("text/html"), format!("{head}<p>text").as_bytes());
        response.headers.extend(field.map(|value| ("link".to_owned(), value.to_owned())));
        parse(&response).canonical.map(|url| url.path().to_owned())
    };
    let (one, two) = ("<link rel=canonical href=/one>", "<link rel=Canonical href=/two>");
    assert_eq!(read(one, None).as_deref(), Some("/one"));
    assert_eq!(read(&format!("{one}{one}"), None).as_deref(), Some("/one"));
    assert_eq!(read(&format!("{one}{two}"), None), None);
    assert_eq!(read("", Some("</three>; rel=canonical")).as_deref(), Some("/three"));
    assert_eq!(read(one, Some("</three>; rel=canonical")).as_deref(), Some("/one"));
}

#[test]
fn what_is_no_page_is_marked_so() {
    for (media, body, is_page) in [
        (Some("application/pdf"), "%PDF-1.4", false),
        (Some("image/png"), "\u{89}PNG", false),
        (None, "{\"a\": \"<html>\"}", false),
        (None, "<?xml version='1.0'?><rss><title>x</title></rss>", false),
        (None, " <!-- x --><!DOCTYPE HTML><p>x", true),
        (Some("application/octet-stream"), "<html><p>x", true),
        (Some("text/plain"), "<html> is a tag\n\n x", true),
    ] {
        let parsed = parse(&fetched(media, body.as_bytes()));
        check(&parsed);
        assert_eq!(parsed.defects != [Defect::NotText], is_page, "{media:?} {body}");
    }
    let parsed = parse(&fetched(Some("text/plain"), " 第一行　\r\n\r\n<b> 第二行".as_bytes()));
    assert_eq!(parsed.text, "第一行\n<b> 第二行");
}

#[test]
fn media_types_are_read_as_browsers_do() {
    let page = "<!DOCTYPE html><html><head><title>路</title></head><body><p>山路从村口的石桥开始</p></body></html>";
    let read = |fields: &[&str], body: &str| {
        let mut response = fetched(None, body.as_bytes());
        response.headers.extend(fields.iter().map(|value| ("content-type".to_owned(), (*value).to_owned())));
        (is_page(&response), parse(&response).text)
    };
    for fields in [
        &["text/html, text/html"][..],
        &["text/html", "text/html"],
        &["text/html; charset=utf-8, text/html"],
        &["*/*"],
        &["text/html, */*"],
        &["html"],
        &["text-html"],
        &["text/html: charset=utf-8"],
        &["text/html charset=utf-8"],
        &["TEXT/HTML;"],
        &["text/html; x=\"a, image/png\""],
        &["text/html", "text/plain"],
        &["text/plain", "text/html"],
        &["text/html", "application/octet-stream"],
        &["application/octet-stream", "text/html"],
        &["application/unknown"],
        &["unknown/unknown"],
        &["text/plain"],
        &["text/plain; charset=utf-8"],
        &["text/x-html"],
        &[""],
        &[],
    ] {
        assert_eq!(read(fields, page), (true, "山路从村口的石桥开始".to_owned()), "{fields:?}");
    }
    let (is_page, text) = read(&["text/plain"], "<html> is a tag, and so is <body>");
    assert!(is_page && text.starts_with("<html> is a tag"), "{text}");
    let mut source = fetched(Some("text/plain"), page.as_bytes());
    source.headers.push(("x-content-type-options".to_owned(), "nosniff".to_owned()));
    assert!(parse(&source).text.starts_with("<!DOCTYPE html>"), "a browser shows the source");
    assert!(!read(&["application/json"], "{\"a\": 1}").0 && !read(&["text/css"], "a {}").0);
}

#[test]
fn a_charset_in_any_of_several_fields_counts() {
    let body = encoding_rs::GBK.encode("<title>路</title><p>山路从村口的石桥开始，先沿着小溪走").0.into_owned();
    let mut response = fetched(Some("text/html"), &body);
    response.headers.push(("content-type".to_owned(), "text/html; charset=gbk".to_owned()));
    let parsed = parse(&response);
    assert_eq!((parsed.charset.as_str(), parsed.charset_from), ("GBK", CharsetFrom::Header));
}

#[test]
fn readings_of_a_ruby_are_dropped() {
    for (body, expected) in [
        ("<ruby>床<rt>chuáng</rt></ruby>前<ruby>明<rp>(</rp><rt>míng</rt><rp>)</rp></ruby>月光", "床前明月光"),
        ("<ruby><rb>短</rb>\n <rt>たん</rt>\n <rb>槍</rb>\n <rt>そう</rt></ruby>を持った", "短槍を持った"),
        ("<ruby>北<rp>（</rp><rt>ベイ</rt>京<rt>ジン</rt><rtc>Beijing</rtc></ruby>", "北京"),
        ("<a href=/x><ruby>山<rt>やま</rt></ruby></a>の麓", "山の麓"),
        ("<ruby>hello<rt>x</rt> <rb>world</rb></ruby>", "hello world"),
        ("漢字<rt>かんじ", "漢字かんじ"),
        ("<ruby>漢<rt>かん<p>次の段落です</p>", "漢\n次の段落です"),
    ] {
        assert_eq!(html(&format!("<p>{body}")).text, expected, "{body}");
    }
}

#[test]
fn a_canonical_link_counts_in_the_head_only() {
    let read =
        |page: &str| parse(&fetched(Some("text/html"), page.as_bytes())).canonical.map(|url| url.path().to_owned());
    assert_eq!(read("<head><link rel=canonical href=/one></head><p>x").as_deref(), Some("/one"));
    assert_eq!(read("<body><p>x<link rel=canonical href=/one>"), None);
    assert_eq!(
        read("<head><link rel=canonical href='{{ page.url }}'><link rel=canonical href=/two></head><p>x").as_deref(),
        Some("/two")
    );
    assert_eq!(read("<head><base href=http://localhost:3000/><link rel=canonical href=/one></head><p>x"), None);
}

#[test]
fn pages_shown_only_by_scripts_fall_back() {
    let parsed = html(
        "<body style='display:none'><script>x</script><noscript><p>请打开脚本</p><a href=/m>手机版</a></noscript>",
    );
    assert_eq!(parsed.text, "请打开脚本\n手机版");
    assert_eq!(html("<script>x</script>").defects, [Defect::NoContent]);
}

#[test]
fn caps_hold_and_are_reported() {
    let links: String = (0..6_000).map(|n| format!("<a href={n}>{n}</a> ")).collect();
    let deep = format!("{}{LONG}", "<div><font>".repeat(50_000));
    let long = format!("<p>{}</p>", LONG.repeat(9_000));
    let open = "<b><p>x".repeat(30_000);
    for (page, cut) in [(links, true), (deep, true), (long, true), (open, false)] {
        let parsed = html(&page);
        check(&parsed);
        assert_eq!(parsed.defects, if cut { vec![Defect::CutShort] } else { vec![] });
        assert!(!parsed.text.is_empty());
    }
}

#[test]
fn every_prefix_of_a_page_can_be_read() {
    for body in [BLOG.as_bytes().to_vec(), GBK.encode(PORTAL).0.into_owned(), BIG5.encode(FORUM).0.into_owned()] {
        for end in (0..body.len()).step_by(7) {
            check(&parse(&fetched(Some("text/html"), &body[..end])));
        }
    }
}

fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "<p>",
        "</p>",
        "<div class=nav>",
        "</div>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<a href=x>",
        "</a>",
        "<a>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<title>",
        "</title>",
        "<svg>",
        "</svg>",
        "<![CDATA[",
        "]]>",
        "<br>",
        "<br/>",
        "　",
        "字",
        "文字，文字。",
        " text ",
        "&nbsp;",
        "&#0;",
        "&#x110000;",
        "<noscript>",
        "</noscript>",
        "<b>",
        "</b>",
        "<li>",
        "</ul>",
        "<frameset>",
        "<iframe src=x>",
        "</iframe>",
        "<textarea>",
        "<select>",
        "<td",
        "<p hidden>",
        "<img alt='图'>",
        "<base href='http://[/'>",
        "<a href='http://b.cn/?q=字' title=t>",
        "<math>",
        "<plaintext>",
        "<template>",
        "</template>",
        "<meta charset=gbk>",
        "</body>",
        "</html>",
        "<head>",
        "<style>",
        "\0",
    ]);
    let piece = prop_oneof![8 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..6)];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_can_be_read(body in prop::collection::vec(any::<u8>(), 0..600), typed in any::<bool>()) {
        check(&parse(&fetched(typed.then_some("text/html"), &body)));
        check(&parse(&fetched(Some("text/plain"), &body)));
    }

    #[test]
    fn any_change_to_a_page_can_be_read(
        which in 0..3_usize,
        changes in prop::collection::vec((0..4_u8, any::<u16>(), any::<u16>(), any::<u8>()), 1..12),
    ) {
        let mut body = [BLOG.as_bytes().to_vec(), GBK.encode(PORTAL).0.into_owned(), BIG5.encode(FORUM).0.into_owned()][which].clone();
        for (how, at, length, byte) in changes {
            let at = usize::from(at) % body.len();
            let end = (at + usize::from(length) % 200).min(body.len());
            match how {
                0 => drop(body.drain(at..end)),
                1 => body.extend_from_within(at..end),
                2 => body.insert(at, byte),
                _ => body[at] = byte,
            }
            body.push(b'<');
        }
        check(&parse(&fetched(Some("text/html"), &body)));
    }

    #[test]
    fn any_mixture_of_markup_can_be_read(body in fragments()) {
        check(&parse(&fetched(Some("text/html"), &body)));
    }
}

#[test]
fn hidden_menus_keep_their_links_and_lose_their_text() {
    let page = html(
        "<body><ul style='display:none'><li><a href=/tech>技术栈</a></ul><div hidden><a href=/more>更多</a></div>
         <p>正文在这里，足够长的一段话，说的是隧道。</p>",
    );
    let links: Vec<_> = page.document.links.iter().map(|link| (link.url.path(), link.region)).collect();
    assert_eq!(links, [("/tech", Region::Boilerplate), ("/more", Region::Boilerplate)]);
    assert_eq!(page.text, "正文在这里，足够长的一段话，说的是隧道。");
}

#[test]
fn a_missing_title_is_taken_from_what_the_page_declares() {
    assert_eq!(html("<meta property='og:title' content=' 隧道  爬虫 '><p>正文</p>").title, "隧道 爬虫");
    assert_eq!(html("<title>标题</title><meta property='og:title' content='别的'><p>正文</p>").title, "标题");
}

#[test]
fn lists_and_tables_are_lines() {
    let page = html(&format!(
        "<p>{LONG}</p><ol><li>甲<li><p>乙</p><p>乙之二</p><ul><li>子<ol start=3><li>孙</ol></ul><li value=9>丙</ol><ol><li>新</ol>
         <table><tr><th>名<th>值<th>注<tr><td>甲<td><td>三<tr><td><p>乙</p><td>2</table><p>后 <br>文<br>\n字</p>"
    ));
    check(&page);
    let lines = [
        LONG,
        "1. 甲",
        "2. 乙",
        "乙之二",
        "  - 子",
        "    3. 孙",
        "9. 丙",
        "1. 新",
        "名\t值\t注",
        "甲\t\t三",
        "乙\t2",
        "后",
        "文",
        "字",
    ];
    assert_eq!(page.text, lines.join("\n"));
}

#[test]
fn tables_that_lay_a_page_out_are_no_lines() {
    let page = html(&format!(
        "<table><tr><td><p>{LONG}</p><p>再说一句。</p><td>旁边</table><table><tr><td><table><tr><td>内<td>外</table></table>"
    ));
    assert_eq!(page.text, format!("{LONG}\n再说一句。\n旁边\n内\t外"));
}

#[test]
fn program_code_keeps_its_lines() {
    let code =
        "<pre class='line-numbers'><code>\nfn main() {\n    let a = 1;   \n  \n\t\n \n\n\tb();<br>}</code></pre>";
    let table = "<figure><table><tr><td class=gutter><pre>1\n2</pre><td class=code><pre><span class=ln>1</span><span>if x:</span><br>    y()</pre></table></figure>";
    let lines = "<pre><div>  a</div>\n<div>    b <a href=x>c\n d</a></div></pre>";
    let page = html(&format!("<p>{LONG}</p>{code}<p>然后</p>{table}{lines}"));
    check(&page);
    let text = "fn main() {\n    let a = 1;\n\n\tb();\n}\n然后\nif x:\n    y()\n  a\n    b c d";
    assert_eq!(page.text, format!("{LONG}\n{text}"));
}

#[test]
fn formulas_are_their_source() {
    let annotated = "<math><semantics><msup><mi>x</mi><mn>2</mn></msup><annotation encoding='application/x-tex'> x^2 </annotation></semantics></math>";
    let plain = "<math><mi>y</mi> <mo>=</mo><mn>1</mn><annotation>y=1</annotation></math>";
    let script = "<script type='math/tex; mode=display'>\\frac{1}{2}</script><script>var no = 1</script>";
    let mixed = "<math><mtext>先<b>中</b>后</mtext></math>";
    let page = html(&format!("<p>{LONG}</p><p>面积{annotated}，而{plain}。一半是{script}，{mixed}</p>"));
    check(&page);
    assert_eq!(page.text, format!("{LONG}\n面积$x^2$，而y =1。一半是$\\frac{{1}}{{2}}$，先中后"));
}

#[test]
fn metadata_and_thanks_are_not_text() {
    let around = "<div>发布日期: 2021-03-05</div><div>阅读次数:</div><div>12</div><div>作者：张三</div>";
    let below = "<div>版权声明: 本博客所有文章除特别声明外，均采用 CC BY 4.0 许可协议。转载请注明来源张三！</div><div>您的支持将鼓励我继续创作</div>
        <div><a href=/>首页</a> » <a href=/x>文章</a></div><div><a href=/1>1</a> <a href=/2>2</a></div><div>Powered by Hexo</div>";
    let body = format!("<p>{LONG}</p><p>作者：李白</p><p>{LONG}</p>");
    let page = html(&format!("<title>题</title>{around}{body}{below}"));
    check(&page);
    assert_eq!(page.text, format!("{LONG}\n作者：李白\n{LONG}"));
    // On a page with nothing else it is the content.
    assert_eq!(html("<p>Powered by Hexo</p>").text, "Powered by Hexo");
}

#[test]
fn authors_are_found_where_they_are_named() {
    let of = |page: &str| html(&format!("<title>题</title>{page}<p>{LONG}</p>")).author;
    let some = |name: &str| Some(name.to_owned());
    let ld = "<script type='application/ld+json'>{\"@type\":\"Article\",\"author\":[{\"@type\":\"Person\",\"name\":\"\\u5f20三\"}]}</script>";
    let meta = "<meta name=Author content=' 李四 '>";
    assert_eq!(of(&format!("{meta}{ld}<p>作者：王五</p>")), some("张三"));
    assert_eq!(of(&format!("<p>作者：王五</p>{meta}")), some("李四"));
    assert_eq!(of("<meta name=author content='John Doe'><p>作者：王五 发布于 2020-01-02</p>"), some("王五"));
    assert_eq!(of("<p>By <a rel=author href=/z>Zhao Liu</a> on May 3</p>"), some("Zhao Liu"));
    assert_eq!(of("<span class='post-author'>文/孙七</span>"), some("孙七"));
    assert_eq!(of("<div>文章作者:</div><div>周八</div>"), some("周八"));
    assert_eq!(of("<p>投稿者: 山田太郎</p>"), some("山田太郎"));
    for page in [
        "<p>作者认为这样不好。</p>",
        "<meta property='article:author' content='https://a.cn/u/1'>",
        "<p>作者：甲</p><p>作者：乙</p>",
        "<a rel=author href=/1>甲</a><a rel=author href=/2>乙</a>",
        "<p>author</p>",
    ] {
        assert_eq!(of(page), None, "{page}");
    }
}

#[test]
fn titles_are_one_text_whatever_they_are_made_of() {
    assert_eq!(html("<title> Tom &amp; Jerry &#8211;\n 猫 </title><p>x").title, "Tom & Jerry – 猫");
}

#[test]
fn binary_files_called_pages_are_none() {
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let nul = [b"<html><p>".as_slice(), &[0; 300], b"</p>"].concat();
    for body in [b"%PDF-1.7 <html>".as_slice(), b"\x89PNG\r\n\x1a\n<p>", b"\0\0\0\x20ftypmp42", &noise, &nul] {
        let parsed = parse(&fetched(Some("text/html"), body));
        check(&parsed);
        assert_eq!(parsed.defects, [Defect::NotText]);
    }
    // Some stray bytes do not make a page binary.
    let page = format!("<html><body>\0\x01<p>{LONG}\0</p>");
    assert_eq!(html(&page).text, LONG);
}

#[test]
fn long_json_ld_is_read() {
    let body = "正文。".repeat(30_000);
    let script =
        format!(r#"{{"@type":"NewsArticle","articleBody":"{body}","author":"Ann","datePublished":"2021-03-05"}}"#);
    assert!(script.len() > 64 << 10);
    let page = format!("<script type=application/ld+json>{script}</script><p>text");
    let read = parse(&Fetched::html(CrawlUrl::parse("http://a.cn/x").unwrap(), page));
    assert_eq!(read.author.as_deref(), Some("Ann"));
}
