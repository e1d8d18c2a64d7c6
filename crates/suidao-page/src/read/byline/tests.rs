//! Authors of small pages.

use crate::model::{CrawlUrl, Fetched};
use crate::read::parse;

const TEXT: &str = "<p>小镇上的面包师每天清晨四点起床揉面，邻居们都说香味飘满了整条街，孩子们上学的路上总要停下来闻一闻。</p><p>后来他把手艺教给了三个徒弟，徒弟们又在城里开了新的店铺，生意一直很好，大家都很高兴，也常常回来看他。</p><p>冬天到来的时候，面包师在门口摆了一张长桌，请路过的人免费品尝刚出炉的面包，孩子们排着队唱起了歌谣。</p>";

/// The author of a page with this head and these lines before and after its text.
fn author(head: &str, before: &str, after: &str) -> Option<String> {
    let html = format!(
        "<head><title>面包师的故事</title>{head}</head><body><article><h1>面包师的故事</h1>{before}{TEXT}</article>{after}"
    );
    parse(&Fetched::html(CrawlUrl::parse("http://example.cn/a/1.html").unwrap(), html)).author
}

fn json_ld(json: &str) -> Option<String> {
    author(&format!("<script type=application/ld+json>{json}</script>"), "", "")
}

#[test]
fn authors_of_comments_are_not_the_pages() {
    let comment = r#"{"@type":"Comment","author":{"@type":"Person","name":"Bob"}}"#;
    let article = format!(r#"{{"@type":"Article","author":[{{"name":"Ann"}}],"comment":[{comment}]}}"#);
    assert_eq!(json_ld(&article).as_deref(), Some("Ann"));
    assert_eq!(json_ld(&format!("[{article}]").replace("Comment", "NewsArticle")), None, "a list");
    assert_eq!(json_ld(comment), None);
    assert_eq!(json_ld(r#"{"author":{"@id":"/a","name":"Ann"},"#).as_deref(), Some("Ann"), "broken");
    let shown = "<section class=comments><div class=comment><span class=author>Bob</span><p>Nice.</p></div></section>";
    assert_eq!(author("", "", shown), None);
    let card = "<div class=author-box><span class=author>by Ann Poe</span></div>";
    assert_eq!(author("", "", &format!("{shown}{card}")).as_deref(), Some("Ann Poe"));
}

#[test]
fn json_ld_names_authors_by_reference_as_a_list_and_several() {
    let graph =
        r##"{"@graph":[{"@type":"Article","author":{"@id":"#p"}},{"@type":"Person","@id":"#p","name":"Ann"}]}"##;
    assert_eq!(json_ld(graph).as_deref(), Some("Ann"));
    assert_eq!(json_ld(r#"{"@type":"Article","author":{"name":["Ann"]}}"#).as_deref(), Some("Ann"));
    let several =
        r#"{"@type":"Article","author":[{"@type":"Organization","name":"Paper"},{"name":"Ann"},{"name":"Bob"}]}"#;
    assert_eq!(json_ld(several).as_deref(), Some("Ann, Bob"));
    let related =
        r#"[{"@type":"Article","url":"/b","author":"Bob"},{"@type":"Article","url":"/a/1.html","author":"Ann"}]"#;
    assert_eq!(json_ld(related).as_deref(), Some("Ann"));
    let escaped = graph.replace('"', "&quot;");
    assert_eq!(json_ld(&escaped).as_deref(), Some("Ann"));
}

#[test]
fn sites_accounts_and_programs_are_no_authors() {
    for name in ["example.com", "L_104485", "WordPress", "admin", "{{author}}", "小镇新闻网", "本站"] {
        assert_eq!(author(&format!("<meta name=author content='{name}'>"), "", ""), None, "{name}");
        let line = "<p>作者：张小明</p>";
        assert_eq!(
            author(&format!("<meta name=author content='{name}'>"), line, "").as_deref(),
            Some("张小明"),
            "{name}"
        );
    }
}

#[test]
fn a_name_alone_is_under_the_headline() {
    assert_eq!(author("", "<hr><p>张小明</p>", "").as_deref(), Some("张小明"));
    assert_eq!(author("", "<p>方法</p>", ""), None);
    assert_eq!(author("", "<p>光明日报记者 张小明</p>", "").as_deref(), Some("张小明"));
}
