//! Text and links of a page equal those in html5ever's tree without our bounds. The pages are written here, generated,
//! mutated, taken from html5lib's tests, or recorded (the folder in `SUIDAO_PAGES`).

use std::path::{Path, PathBuf};

use crate::support::tools;
use proptest::prelude::*;
use scraper::{Html, Node};
use suidao::model::{CrawlUrl, Fetched};
use suidao::read;
use suidao_features::depth;

const PAGE: &str = "http://a.cn/x/y.html";
/// What a browser does not show, or shows otherwise than as text.
const UNSEEN: [&str; 16] = [
    "script", "style", "template", "textarea", "select", "datalist", "title", "iframe", "noembed", "noframes",
    "object", "applet", "canvas", "audio", "video", "noscript",
];

/// What is read of a page: its text without white space, and the targets of its links, sorted.
fn read(html: &str) -> (String, Vec<String>) {
    let url = CrawlUrl::parse(PAGE).unwrap();
    let body = html.to_owned();
    let parsed = read::parse(&Fetched::html(url, body));
    let document = parsed.document;
    let shown =
        document.pieces.iter().enumerate().filter(|(at, piece)| !piece.hidden && (*at > 0 || parsed.title.is_empty()));
    let text = shown.map(|(at, _)| document.piece(at)).collect::<String>();
    let mut links: Vec<_> = document.links.iter().map(|link| link.url.to_string()).collect();
    links.sort_unstable();
    links.dedup();
    (squeezed(&text), links)
}

fn squeezed(text: &str) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{200B}' | '\u{FEFF}' | '\u{AD}');
    text.chars().filter(|&c| !blank(c)).collect()
}

/// The same from html5ever's tree, without the readings of a ruby.
fn tree(html: &str) -> (String, Vec<String>) {
    let page = Html::parse_document(html);
    let (mut text, mut links) = (String::new(), Vec::new());
    let (mut base, mut based) = (CrawlUrl::parse(PAGE).unwrap(), false);
    let mut open = vec![(page.tree.root(), true, false)];
    while let Some((node, mut shown, drawn)) = open.pop() {
        let mut draws = false;
        if let Node::Text(run) = node.value() {
            text.push_str(if shown && !drawn { run } else { "" });
        } else if let Node::Element(element) = node.value() {
            let (name, is_html) = (element.name(), &*element.name.ns == "http://www.w3.org/1999/xhtml");
            let reference = match name {
                "a" | "area" | "base" => element.attr("href"),
                "iframe" | "frame" => element.attr("src"),
                _ => None,
            };
            let reference = reference.filter(|_| shown && is_html).map(|it| it.trim_matches(|c: char| c <= ' '));
            let url = reference.filter(|it| !it.is_empty() && !it.starts_with('#')).and_then(|it| base.join(it).ok());
            if name == "base" {
                (base, based) = (url.filter(|_| !based).unwrap_or(base), based || reference.is_some());
            } else {
                links.extend(url.map(|url| url.to_string()));
            }
            draws = &*element.name.ns == "http://www.w3.org/2000/svg";
            let parent = node.parent().and_then(|parent| parent.value().as_element()).map(|parent| parent.name());
            let is_reading = matches!(name, "rt" | "rp" | "rtc") && parent == Some("ruby");
            shown &= !is_reading;
            shown &= is_html && !UNSEEN.contains(&name) || !is_html && name != "annotation" && name != "annotation-xml";
        }
        open.extend(node.children().rev().map(|child| (child, shown, draws)));
    }
    links.sort_unstable();
    links.dedup();
    (squeezed(&text), links)
}

/// Whether both agree; if nothing is visible we search more of the page than a browser shows.
fn agree(html: &str) -> bool {
    let (text, links) = tree(html);
    text.is_empty() || read(html) == (text, links)
}

#[track_caller]
fn same(html: &str, of: &dyn std::fmt::Debug) {
    let (wanted, found) = (tree(html), read(html));
    assert!(wanted.0.is_empty() || wanted == found, "{of:?}\n{html}\nwanted {wanted:?}\nfound  {found:?}");
}

#[test]
fn what_follows_an_element_that_is_not_text_is_read() {
    for (before, after) in [
        ("<svg/>", ""),
        ("<svg><title/>", ""),
        ("<svg><style/>", ""),
        ("<svg><p>", ""),
        ("<svg><g><circle r=1/></svg>", ""),
        ("<math><mi>", ""),
        ("<math/>", ""),
        ("<ul><li><button>x</li>", "</ul>"),
        ("<div><video>…</div>", ""),
        ("<div><audio>…</div>", ""),
        ("<div><canvas>…</div>", ""),
        ("<div><button>…</div>", ""),
        ("<div><video a=\"b\"</video></div>", ""),
        ("<p><svg><foreignObject><div>x</svg>", ""),
        ("<table><svg><tr><td>", "</table>"),
        ("<select><option>x</select>", ""),
    ] {
        let page = format!("<body>{before}<p>text <a href=z>link</a></p>{after}<p>more</p></body>");
        same(&page, &before);
        let (text, links) = read(&page);
        assert!(text.ends_with("textlinkmore"), "{page}: {text}");
        assert_eq!(links, ["http://a.cn/x/z"], "{page}");
    }
}

#[test]
fn every_number_of_slashes_leads_to_another_host() {
    for slashes in ["//", "///", "////", "/\\", "\\\\/"] {
        assert_eq!(read(&format!("x <a href='{slashes}b.cn/z'>y</a>")).1, ["http://b.cn/z"], "{slashes}");
    }
}

/// Pieces of markup that cause errors together.
const PARTS: [&str; 96] = [
    "<a href=1>",
    "<a href=2>",
    "</a>",
    "<b>",
    "</b>",
    "<i class=x>",
    "</i>",
    "<font color=red>",
    "<font>",
    "</font>",
    "<nobr>",
    "</nobr>",
    "<code>",
    "</code>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<span>",
    "</span>",
    "<ul>",
    "</ul>",
    "<ol>",
    "<li>",
    "</li>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<table>",
    "</table>",
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<th>",
    "<tbody>",
    "</tbody>",
    "<caption>",
    "</caption>",
    "<colgroup>",
    "<col>",
    "<select>",
    "</select>",
    "<option>",
    "<optgroup>",
    "<button>",
    "</button>",
    "<form>",
    "</form>",
    "<input>",
    "<textarea>",
    "</textarea>",
    "<svg>",
    "</svg>",
    "<svg/>",
    "<foreignObject>",
    "</foreignObject>",
    "<desc>",
    "<math>",
    "</math>",
    "<mi>",
    "</mi>",
    "<annotation-xml encoding=text/html>",
    "<title>",
    "</title>",
    "<style>",
    "</style>",
    "<script>",
    "</script>",
    "<template>",
    "</template>",
    "<object>",
    "</object>",
    "<applet>",
    "</applet>",
    "<marquee>",
    "<video>",
    "</video>",
    "<iframe src=3>",
    "</iframe>",
    "<noscript>",
    "</noscript>",
    "<head>",
    "</head>",
    "<body>",
    "</body>",
    "</html>",
    "<br>",
    "</br>",
    "<hr>",
    "<h1>",
    "</h2>",
    "<pre>",
    "</pre>",
    "<ruby>x<rt>y</rt></ruby>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(depth(256, 4_000)))]

    #[test]
    fn generated_pages(parts in prop::collection::vec((0..PARTS.len() + 40, 0..1000_u32), 0..40)) {
        let page: String = parts.iter().map(|&(part, n)| PARTS.get(part).map_or(format!("t{n} "), |&part| part.to_owned())).collect();
        same(&page, &parts.len());
    }

    #[test]
    fn mutated_pages(cuts in prop::collection::vec((0..1_000_usize, 0..60_usize, any::<bool>()), 1..12)) {
        let mut page = ORDINARY.to_owned();
        for (at, length, twice) in cuts {
            let start = page.floor_char_boundary(at * page.len() / 1_000);
            let end = page.floor_char_boundary((start + length).min(page.len()));
            let piece = page[start..end].to_owned();
            page.replace_range(start..end, &if twice { piece.repeat(2) } else { String::new() });
        }
        same(&page, &"mutated");
    }
}

const ORDINARY: &str = r#"<!DOCTYPE html><html lang=zh><head><meta charset=utf-8><title>标题 | 站</title>
<script type="text/javascript">if (a < b) { document.write("<p>no</p>"); }</script><style>p > a { color: red }</style></head>
<body class="home"><nav><ul><li><a href="/">首页</a><li><a href="/news/">新闻</a></ul></nav>
<svg viewBox="0 0 8 8"><title>logo</title><a xlink:href="/svg"><path d="M0 0"/></a></svg>
<main><h1>题目 <small>副题</small></h1><p>一段文字，有<a href="1.html"><b>粗体</b>的链接</a>和<code>a &lt; b</code>。
<p>第二段<table border=1><thead><tr><th>一<th>二<tbody><tr><td><a href=2>甲</a><td>乙<ul><li>丙<li>丁</ul></table>
<div>公式<math><mi>x</mi><mo>=</mo><mn>1</mn><annotation>x=1</annotation></math>之后</div>
<form action=/s><select name=a><option>一<option selected>二</select><input name=q><button>搜索</button></form>
<video controls><source src=a.mp4>不支持 <a href=a.mp4>下载</a></video><object data=x.swf><embed src=x.swf></object>
<blockquote>引文<br>第二行<cite>某人</cite></blockquote><pre>
  fn main() {}
</pre><dl><dt>词<dd>义</dl><iframe src="/frame">没有</iframe><noscript><p>没有脚本</p></noscript>
<template><p>模板</p></template></main><footer><p>版权 &copy; <a rel=nofollow href="//b.cn/">乙</a></footer></body></html>"#;

#[test]
fn the_pages_of_html5libs_tests() {
    let Some(folder) = tools::html5lib() else { return };
    let mut pages = 0;
    for file in files(&folder).into_iter().filter(|file| file.extension().is_some_and(|it| it == "dat")) {
        let tests = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        for test in tests.split("#data\n").skip(1).filter(|test| !test.contains("#document-fragment")) {
            same(test.split("\n#errors").next().unwrap(), &file);
            pages += 1;
        }
    }
    assert!(pages > 500, "{pages} pages");
}

/// Names and styles that hide elements are removed first: hiding is a decision, not markup.
#[test]
fn recorded_pages() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/charset");
    let folder = std::env::var_os("SUIDAO_PAGES").map_or(shared, PathBuf::from);
    if !folder.exists() {
        return println!("skipped: there is no {}", folder.display());
    }
    let (mut pages, mut others) = (0, Vec::new());
    for file in files(&folder) {
        let bytes = std::fs::read(&file).unwrap();
        let (page, _, _) = encoding_rs::UTF_8.decode(&bytes);
        let page = plain(&page);
        // Longer pages are not read in full, and none of these are UTF-16.
        if bytes.len() > 1 << 20 || page.contains('\0') || !page.contains('<') {
            continue;
        }
        pages += 1;
        if !agree(&page) {
            others.push(file);
        }
    }
    assert!(
        others.is_empty(),
        "{} of {pages} pages read otherwise: {:?}",
        others.len(),
        &others[..others.len().min(20)]
    );
    println!("{pages} pages");
}

fn plain(page: &str) -> String {
    let mut page = page.to_owned();
    for name in ["class=", "id=", "style=", "hidden", "rel=", "http-equiv=", "charset="] {
        page = page.replace(name, "data-x=").replace(&name.to_ascii_uppercase(), "data-x=");
    }
    page
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { open.push(entry) } else { found.push(entry) }
        }
    }
    found.sort();
    found
}
