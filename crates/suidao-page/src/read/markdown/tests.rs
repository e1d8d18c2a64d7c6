use bytes::Bytes;

use crate::model::{CrawlUrl, Fetched};
use crate::read::dom::Dom;
use crate::read::parse_with_layout;

use super::escape::tex;
use super::*;

const PROSE: &str = "这是一篇很长的文章，讲的是爬虫怎样找到主题页面，每一段都有足够的文字，因此不会被当作导航。\
                     它有两句话，第二句也不短，说明为什么正文要有这么多字。";

fn page(html: &str) -> String {
    let url = CrawlUrl::parse("http://a.cn/x/").unwrap();
    let parsed = parse_with_layout(&Dom::of(&Fetched::html(url, Bytes::copy_from_slice(html.as_bytes()))));
    parsed.markdown(0..parsed.text.len())
}

/// The Markdown between two long paragraphs.
fn body(html: &str) -> String {
    let all = page(&format!("<title>T</title><article><p>{PROSE}</p>{html}<p>{PROSE}</p></article>"));
    let inner = all.strip_prefix(PROSE).and_then(|rest| rest.strip_suffix(PROSE));
    inner.unwrap_or_else(|| panic!("{all}")).trim_matches('\n').to_owned()
}

#[test]
fn elements_become_markdown() {
    for (html, markdown) in [
        ("<h2>第一节 #</h2><h4>C#</h4>", "## 第一节 \\#\n\n#### C\\#"),
        (
            "<ul><li>一<li>二<ol start=3><li>甲<li>乙</ol><li><p>三</p><p>又</p></ul>",
            "- 一\n- 二\n\n  3. 甲\n  4. 乙\n- 三\n\n  又",
        ),
        ("<ol><li>a<ul><li>b</ul></ol>", "1. a\n   - b"),
        ("<blockquote><p>一</p><p>二<br>三</p></blockquote>四", "> 一\n>\n> 二\\\n> 三\n\n四"),
        (
            "<table><tr><th>a</th><th>b|c</th></tr><tr><td><code>x|y</code></td><td>2</td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| `x\\|y` | 2 |",
        ),
        ("<pre class=language-rust><code>fn a() {\n    b\n}</code></pre>", "```rust\nfn a() {\n    b\n}\n```"),
        ("<pre>a\n---\n``` b</pre>", " ````\n a\n ---\n ``` b\n ````"),
        (
            "<p>见<a href='y(1)'>这 里</a>!<a href=z>z</a></p>",
            "见[这 里](http://a.cn/x/y%281%29)\\![z](http://a.cn/x/z)",
        ),
        ("<p>用 <code>a*b</code>、<code>`</code>。</p>", "用 `a*b`、`` ` ``。"),
        ("<p>图<img src=data:1 data-src=i.png alt='一 [张]'>后</p>", "图![一 \\[张\\]](http://a.cn/x/i.png)后"),
        ("<p><img src=i.png alt=图></p>", "![图](http://a.cn/x/i.png)"),
        ("<p><a href=y><img src=i.png alt=图></a></p>", "[![图](http://a.cn/x/i.png)](http://a.cn/x/y)"),
        ("<p>设 <script type='math/tex'>a_1 < b*c</script> 为</p>", "设 $a_1 \\lt  b*c$ 为"),
        ("<p>设 $x_1*y$ 和 \\(z\\)，价 $5 和 $6。</p>", "设 $x_1*y$ 和 $z$，价 \\$5 和 \\$6。"),
        ("<p>设 $m$ 为，$A_B/$A_C。<img src=i alt=图>完</p>", "设 $m$ 为，\\$A_B/\\$A_C。![图](http://a.cn/x/i)完"),
        ("<p><img src=i alt=图><br>字", "![图](http://a.cn/x/i)\n\n字"),
        ("<h2>M1<a href='#m'>#</a></h2><p><a href=y>一<br></a>二", "## M1\n\n[一](http://a.cn/x/y) 二"),
        ("<p>式<img class=tex alt='\\frac{1}{2}'>完</p>", "式$\\frac{1}{2}$完"),
    ] {
        assert_eq!(body(html), markdown, "{html}");
    }
}

#[test]
fn what_markdown_would_interpret_is_escaped() {
    for (text, markdown) in [
        ("# 不是标题", "\\# 不是标题"),
        ("#话题 1. 一", "#话题 1. 一"),
        ("1. 不是列表", "1\\. 不是列表"),
        ("- 不是", "\\- 不是"),
        ("---", "\\---"),
        ("=", "\\="),
        ("&gt; *a* _b_ a_b ~~c~~ `d`", "\\> \\*a\\* \\_b\\_ a_b \\~\\~c\\~\\~ \\`d\\`"),
        ("&lt;script> &amp;amp; a&b [x](javascript:y) \\*", "\\<script> \\&amp; a\\&b \\[x\\](javascript:y) \\\\\\*"),
        ("http://a.cn/a_b_c/~d", "http://a.cn/a_b_c/~d"),
        ("$&lt;b>$", "\\$\\<b>\\$"),
    ] {
        assert_eq!(body(&format!("<p>{text}</p>")), markdown, "{text}");
    }
    assert_eq!(paragraphs("a\n\n# b\n"), "a\n\n\\# b");
    assert_eq!(tex("a](b) <i>"), Some("a] (b) \\lt i>".into()));
}

#[test]
fn only_the_chosen_part_of_the_text_is_written() {
    let url = CrawlUrl::parse("http://a.cn/").unwrap();
    let html = format!("<title>文章标题 | 站</title><nav><a href=n>导航</a></nav><h1>文章标题</h1><p>{PROSE}<p>尾");
    let parsed = parse_with_layout(&Dom::of(&Fetched::html(url, Bytes::from(html))));
    assert_eq!(parsed.text, format!("{PROSE}\n尾"));
    assert_eq!(parsed.markdown(0..PROSE.len()), PROSE);
    assert_eq!(parsed.markdown(PROSE.len()..parsed.text.len()), "尾");
}

#[test]
fn deep_and_empty_pages_are_bounded() {
    assert_eq!(page(""), "");
    let deep = page(&format!("{}{PROSE}", "<blockquote><ul><li>".repeat(300)));
    assert!(deep.ends_with(PROSE) && deep.len() < PROSE.len() + 64, "{deep}");
    let many = page(&format!("<p>{PROSE}{}", "<code>a<code>b<a href=1>".repeat(30_000)));
    assert!(many.starts_with(PROSE));
}
