use std::io::Write;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::model::Millis;

const HOST: &str = "http://a.cn/maps/list.xml";

fn response(body: impl Into<Vec<u8>>, fields: &[(&str, &str)]) -> Fetched {
    let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let url = CrawlUrl::parse(HOST).unwrap();
    Fetched {
        url,
        status: 200,
        headers,
        body: Bytes::from(body.into()),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

fn read(body: &str) -> SitemapContent {
    read_sitemap(&response(body, &[]))
}

/// URL and time in seconds.
fn pages(content: &SitemapContent) -> Vec<(&str, Option<u64>)> {
    content.pages.iter().map(|entry| (entry.url.as_str(), entry.at.map(|at| at.0 / 1000))).collect()
}

const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand --><?xml-stylesheet type="text/xsl" href="s.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc>http://a.cn/</loc>
    <lastmod>2021-03-05</lastmod>
    <changefreq>daily</changefreq>
    <priority>0.8</priority>
  </url>
  <url><lastmod>2021-03-05T20:00:00+08:00</lastmod><loc>
    http://a.cn/show?id=1&amp;page=2&#x26;z=&#51;
  </loc><image:image><image:loc>http://a.cn/i.jpg</image:loc></image:image></url>
  <url><loc><![CDATA[http://a.cn/新闻?a=1&b=2]]></loc><lastmod>soon</lastmod></url>
  <url><image:loc>http://a.cn/j.jpg</image:loc><loc/></url>
  <url><loc>/relative?a=1&b=2</loc></url>
</urlset>"#;

#[test]
fn a_sitemap_names_pages_and_when_they_changed() {
    let content = read(SITEMAP);
    let expected = [
        ("http://a.cn/", Some(1_614_902_400)),
        ("http://a.cn/show?id=1&page=2&z=3", Some(1_614_945_600)),
        ("http://a.cn/%E6%96%B0%E9%97%BB?a=1&b=2", None),
        ("http://a.cn/relative?a=1&b=2", None),
    ];
    assert_eq!(pages(&content), expected);
    assert!(content.sitemaps.is_empty());
    let prefixed =
        "<s:urlset xmlns:s='x'><s:url><s:loc>http://a.cn/1</s:loc><loc>http://a.cn/2</loc></s:url></s:urlset>";
    assert_eq!(pages(&read(prefixed)), [("http://a.cn/1", None)]);
}

#[test]
fn a_list_of_sitemaps_names_sitemaps() {
    let content = read(
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>http://a.cn/1.xml.gz</loc>\
         <lastmod>2021-03-05</lastmod></sitemap><sitemap><loc>http://a.cn/2.xml</loc></sitemap></sitemapindex>",
    );
    let urls: Vec<_> = content.sitemaps.iter().map(CrawlUrl::as_str).collect();
    assert_eq!((urls, content.pages.len()), (vec!["http://a.cn/1.xml.gz", "http://a.cn/2.xml"], 0));
}

#[test]
fn a_sitemap_may_be_plain_text() {
    let text = "\u{feff}http://a.cn/1\r\nhttps://a.cn/2?x=1&y=2\n\n# note\nftp://a.cn/3\nhttp:// \n  http://b.cn/4  ";
    let content = read_sitemap(&response(text, &[("content-type", "text/plain; charset=utf-8")]));
    assert_eq!(pages(&content), [("http://a.cn/1", None), ("https://a.cn/2?x=1&y=2", None), ("http://b.cn/4", None)]);
}

#[test]
fn rss_names_items() {
    let content = read(
        r#"<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel><title>新闻</title><link>http://a.cn/</link><pubDate>Fri, 05 Mar 2021 13:00:00 GMT</pubDate>
        <atom:link href="http://a.cn/feed" rel="self"/><image><url>http://a.cn/logo.png</url><link>http://a.cn/</link></image>
        <item><title>A &nbsp; B</title><link>http://a.cn/1</link><atom:link rel="replies" href="http://a.cn/1/feed"/>
          <guid isPermaLink="false">tag:1</guid><pubDate>Fri, 05 Mar 2021 20:00:00 +0800</pubDate>
          <description><![CDATA[<link>http://a.cn/no</link>]]></description></item>
        <item><guid>http://a.cn/2</guid><dc:date>2021-03-05T12:00:00Z</dc:date>
          <atom:updated>2021-03-05T12:00:01Z</atom:updated></item>
        <item><link></link><guid isPermaLink="false">http://a.cn/no</guid></item>
        <item><guid>http://a.cn/no</guid><link>../3</link><media:content><link>http://a.cn/no</link></media:content></item>
        </channel></rss>"#,
    );
    let noon = 1_614_945_600;
    assert_eq!(
        pages(&content),
        [("http://a.cn/1", Some(noon)), ("http://a.cn/2", Some(noon + 1)), ("http://a.cn/3", None)]
    );
    let content = read(
        r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
        <channel rdf:about="http://a.cn/rss"><link>http://a.cn/</link><items><rdf:Seq><rdf:li resource="http://a.cn/1"/>
        </rdf:Seq></items></channel><item rdf:about="http://a.cn/about"><link>http://a.cn/1</link>
        <dc:date>2021-03-05</dc:date></item><item rdf:about="/2"/></rdf:RDF>"#,
    );
    assert_eq!(pages(&content), [("http://a.cn/1", Some(1_614_902_400)), ("http://a.cn/2", None)]);
}

#[test]
fn atom_names_entries() {
    let content = read(
        r#"<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.cn/x/">
        <link href="http://b.cn/"/><link rel="self" href="feed.xml"/><updated>2021-03-05T12:00:09Z</updated>
        <entry><id>urn:1</id><link rel="edit" href="/edit"/><link href="1?a=1&amp;b=2"/><link rel="alternate" href="/no"/>
          <published>2021-03-05T12:00:00Z</published><updated>2021-03-05T20:00:05+08:00</updated>
          <source><link href="http://c.cn/"/><updated>2022-01-01T00:00:00Z</updated></source>
          <content type="xhtml"><div><link href="http://c.cn/no"/></div></content></entry>
        <entry xml:base="sub/"><link rel="Alternate" type="text/html" href="2"></link></entry>
        <entry><id>http://b.cn/no</id></entry></feed>"#,
    );
    assert_eq!(pages(&content), [("http://b.cn/x/1?a=1&b=2", Some(1_614_945_605)), ("http://b.cn/x/sub/2", None)]);
}

#[test]
fn what_entries_are_called_is_read_as_text_and_scored_as_links_are() {
    let called = |content: &SitemapContent| -> Vec<(String, String)> {
        content.pages.iter().map(|entry| (entry.anchor.clone(), entry.description.clone())).collect()
    };
    let pair = |anchor: &str, about: &str| (anchor.to_owned(), about.to_owned());
    let rss = read(
        "<rss><channel><title>no</title><item><title>A &amp;amp; <![CDATA[<b>B</b>]]></title><link>/1</link>\
         <description>&lt;p&gt;足球  &amp;nbsp;比赛&lt;/p&gt;</description><media:title>no</media:title></item>\
         <item><link>/2</link></item></channel></rss>",
    );
    assert_eq!(called(&rss), [pair("A & B", "足球 比赛"), pair("", "")]);
    assert!(rss.feed);
    let atom = read("<feed><entry><title type='html'>足球</title><summary>x</summary><link href='/1'/></entry></feed>");
    assert_eq!(called(&atom), [pair("足球", "x")]);
    let news = read(
        "<urlset xmlns:news='x'><url><loc>/1</loc><news:news><news:publication><news:name>no</news:name></news:publication>\
         <news:title>足球</news:title><news:keywords>a, b</news:keywords></news:news></url>\
         <url><loc>/zuqiu</loc><image:image><image:title>no</image:title></image:image></url></urlset>",
    );
    assert_eq!(called(&news), [pair("足球", "a, b"), pair("", "")]);
    assert!(!news.feed);
    let long = read(&format!("<rss><item><title>{}</title><link>/1</link></item></rss>", "长".repeat(5000)));
    assert_eq!(long.pages[0].anchor.chars().count(), 80);
}

#[test]
fn times_that_cannot_be_are_left_out() {
    let map = |time: &str| format!("<urlset><url><loc>/1</loc><lastmod>{time}</lastmod></url></urlset>");
    let at = |time: &str, date: Option<&str>| {
        let fields: Vec<_> = date.iter().map(|date| ("date", *date)).collect();
        read_sitemap(&response(map(time), &fields)).pages[0].at
    };
    let date = Some("Fri, 05 Mar 2021 12:00:00 GMT");
    for (time, date, believed) in [
        ("1989-12-31", None, false),
        ("0001-01-01T00:00:00Z", None, false),
        ("1990-01-01", date, true),
        ("2099-12-31", None, true),
        ("2101-01-01", None, false),
        ("2021-03-06T12:00:00Z", date, true),
        ("2021-03-06T12:00:01Z", date, false),
        ("2099-12-31", Some("no date"), true),
    ] {
        assert_eq!(at(time, date).is_some(), believed, "{time} {date:?}");
    }
    assert_eq!(at("2021-03-05", date), Some(Millis(1_614_902_400_000)));
}

#[test]
fn gzip_and_other_charsets_are_undone() {
    let gzip = |body: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(body).unwrap();
        packed.finish().unwrap()
    };
    let packed = gzip(SITEMAP.as_bytes());
    assert_eq!(read_sitemap(&response(packed.clone(), &[("content-type", "application/x-gzip")])), read(SITEMAP));
    let half = [&packed[..packed.len() - 20], b"rubbish"].concat();
    let broken = read_sitemap(&response(half, &[]));
    assert!(!broken.pages.is_empty() && read(SITEMAP).pages.starts_with(&broken.pages));
    let text = SITEMAP.replace("UTF-8", "gbk");
    let (gbk, ..) = encoding_rs::GBK.encode(&text);
    assert_eq!(read_sitemap(&response(gbk.into_owned(), &[])), read(SITEMAP));
    let utf16: Vec<u8> = SITEMAP.replace("UTF-8", "utf-16").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_sitemap(&response([b"\xff\xfe", &utf16[..]].concat(), &[])), read(SITEMAP));
    // A decompression bomb is cut at the limit.
    let mut bomb = gzip(b"<urlset><url><loc>/1</loc></url>");
    bomb.extend(gzip(&vec![b' '; BYTES]));
    bomb.extend(gzip(b"<url><loc>/2</loc></url>"));
    assert_eq!(pages(&read_sitemap(&response(bomb, &[]))), [("http://a.cn/1", None)]);
}

#[test]
fn no_more_is_taken_than_a_sitemap_may_have() {
    let map = format!("<urlset>{}", "<url><loc>/1</loc></url>".repeat(MOST + 1));
    assert_eq!(read(&map).pages.len(), MOST);
    assert_eq!(read(&"http://a.cn/1\n".repeat(MOST + 1)).pages.len(), MOST);
    let long = format!("<urlset><url><loc>/{}</loc></url><url><loc>/2</loc></url>", "x".repeat(LONGEST));
    assert_eq!(pages(&read(&long)), [("http://a.cn/2", None)]);
}

#[test]
fn mistakes_cost_no_more_than_an_entry() {
    for broken in [
        "<urlset><url><loc>/1</loc><url><loc>/2</loc></url>",
        "<urlset><url><loc>/1</loc><url><url><url><url><loc>/2</loc></url>",
        "<urlset></urlset></urlset></urlset><url><loc>/1</loc><url><loc>/2</loc></url></url>",
        "<urlset><url><loc>/1</loc></wrong></url><url><loc>/2</loc></url></urlset></urlset>",
        "<urlset><url><loc>/1</loc></priority></url><url><loc>/2</loc><priority></url>",
        "<urlset><url><loc>/1</loc></url><url><loc>/2</loc></url><url><loc>/3",
        "<urlset><url><loc>/1</loc></url><url><loc>http://</loc></url><url><loc>/2</loc></url><url <",
        "\n\n<!DOCTYPE urlset [<!ENTITY a \"&b;&b;\">]><urlset><url><loc>/1&a;</loc></url><url><loc>/2</loc></url>",
    ] {
        assert_eq!(pages(&read(broken)), [("http://a.cn/1", None), ("http://a.cn/2", None)], "{broken}");
    }
    for none in
        ["", "<", "<html><body><a href=/1>1</a>", "<urlset>", "{\"a\": 1}", "<svg><url><loc>/1</loc></url></svg>"]
    {
        assert_eq!(read(none), SitemapContent::default(), "{none}");
    }
}

#[test]
fn addresses_are_bounded_as_a_whole_in_every_notation() {
    // Escaping makes it three times as long.
    let far = "中".repeat(800);
    let addresses =
        |wrap: fn(&str) -> String| -> String { (0..MOST).map(|n| wrap(&format!("http://a.cn/{n}/{far}"))).collect() };
    let plain = addresses(|url| format!("{url}\n"));
    let sitemap = format!("<urlset>{}", addresses(|url| format!("<url><loc>{url}</loc></url>")));
    let feed = format!("<rss><channel>{}", addresses(|url| format!("<item><link>{url}</link></item>")));
    for text in [plain, sitemap, feed] {
        let bytes: usize = read(&text).pages.iter().map(|entry| entry.url.as_str().len()).sum();
        assert!((ADDRESSES..=ADDRESSES + CrawlUrl::LONGEST).contains(&bytes), "{bytes}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), gzip: bool, xml: bool) {
        let head: &[u8] = if gzip { &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0] } else if xml { b"<rss><item>" } else { b"" };
        let _ = read_sitemap(&response([head, &bytes[..]].concat(), &[]));
    }

    #[test]
    fn no_markup_panics(root in prop_oneof![Just("<urlset>"), Just("<rss>"), Just("<feed>")], parts in proptest::collection::vec(prop_oneof![
        Just("<urlset>"), Just("<url>"), Just("<loc>"), Just("</loc>"), Just("</url>"), Just("<feed xml:base='//'>"),
        Just("<entry>"), Just("<link href=''/>"), Just("<link href=/x rel=>"), Just("</entry>"), Just("<rss>"), Just("<item a:about='&#0;'>"),
        Just("<guid>"), Just("</item>"), Just("http://a.cn/1"), Just("&"), Just("&#xffffffff;"), Just("&amp;"), Just("<![CDATA["),
        Just("]]>"), Just("<!--"), Just("<?x"), Just("<pubDate>2021"), Just("</pubDate>"), Just("中"), Just("</>"), Just("<>"),
    ], 0..60)) {
        let text = [root, &parts.concat()].concat();
        prop_assert!(read(&text).pages.len() <= parts.len());
    }

    /// A truncated sitemap yields a prefix of the whole one's entries.
    #[test]
    fn a_part_names_the_first_of_what_the_whole_names(at in 0..SITEMAP.len()) {
        let whole = read(SITEMAP);
        let part = read_sitemap(&response(&SITEMAP.as_bytes()[..at], &[]));
        prop_assert!(whole.pages.starts_with(&part.pages), "{:?}", part.pages);
    }
}
