//! Nesting of tags, visibility, and hostile pages.

use proptest::prelude::*;

use super::builder::NODES;
use super::*;
use suidao_page::read::dom::{DEPTH, Dom};

fn tree(html: &str) -> Tree {
    Tree::parse(html, &CrawlUrl::parse("http://a.cn/bbs/list.php").unwrap())
}

#[test]
fn links_are_written_in_the_charset_of_the_page_and_lines_end_as_in_it() {
    let page = "<meta charset=gbk><a href='/f?kw=足球'>足球</a><pre>一\n二</pre>";
    let fetched = Fetched {
        url: CrawlUrl::parse("http://a.cn/").unwrap(),
        status: 200,
        headers: vec![("content-type".to_owned(), "text/html; charset=gbk".to_owned())],
        body: encoding_rs::GBK.encode(page).0.into_owned().into(),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    };
    let tree = Tree::of(&Dom::of(&fetched));
    let links: Vec<_> = (0..tree.len()).filter_map(|at| tree.link(at)).cloned().collect();
    let document = suidao_page::read::parse(&fetched).document;
    assert_eq!(links, document.links.iter().map(|link| link.url.clone()).collect::<Vec<_>>());
    assert_eq!(links[0].as_str(), "http://a.cn/f?kw=%D7%E3%C7%F2");
    let lines: Vec<_> = tree.paragraphs(0, &|_| false).into_iter().map(|line| line.text).collect();
    assert_eq!(lines, ["足球", "一", "二"]);
}

#[test]
fn tags_nest_as_browsers_nest_them() {
    let tree = tree(
        "<title>A  b</title><table><tr class=odd><td>一<td colspan=2><a href=t.php?id=1#p>二 <b>三</b><td>四<tr><td>五</table>后",
    );
    assert_eq!(tree.title(), "A b");
    let rows: Vec<_> = (0..tree.len()).filter(|&at| tree.name(at) == "tr").collect();
    let cells: Vec<_> = tree.children(rows[0]).map(|cell| (tree.text(cell), tree.cell(cell))).collect();
    assert_eq!(cells, [("一".to_owned(), 0), ("二 三".to_owned(), 1), ("四".to_owned(), 3)]);
    let link = (0..tree.len()).find_map(|at| tree.link(at)).unwrap();
    assert_eq!(link.as_str(), "http://a.cn/bbs/t.php?id=1");
    assert_eq!(tree.shape(rows[0]), tree.shape(rows[1]), "odd and even rows are of one shape");
    let firsts: Vec<_> = rows.iter().map(|&row| tree.place(tree.children(row).next().unwrap(), row)).collect();
    assert_eq!(firsts[0], firsts[1]);
    assert_eq!(tree.text(0), "一 二 三 四 五 后");
}

#[test]
fn hidden_and_skipped_text_is_not_shown() {
    let tree = tree("<p>看<span style='display:none'>不</span>得<script>x</script><textarea>y</textarea><br>见<p>");
    let lines: Vec<_> = tree.paragraphs(0, &|_| false).into_iter().map(|line| line.text).collect();
    assert_eq!(lines, ["看得", "见"]);
}

#[test]
fn words_of_names_are_distinguished() {
    assert_eq!(words_of("lastPost_12 threadTitle"), ["last", "post", "thread", "title"]);
}

#[test]
fn pages_made_to_hurt_are_read_within_bounds() {
    for part in ["<div>", "<a href=x>", "<table><tr><td>", "<b>x", "<li>x</ul>", "<p title=x>"] {
        let tree = tree(&part.repeat(300_000));
        assert!(tree.len() <= NODES && (0..tree.len()).all(|at| tree.depth(at) <= DEPTH + 1), "{part}");
    }
}

proptest! {
    #[test]
    fn every_subtree_is_a_range_within_its_parents(html in "(<(a href=x|td|tr|table|li|ul|p|div|br|b)>|</(a|td|tr|table|li|ul|p|div|b)>|x| ){0,60}") {
        let tree = tree(&html);
        for node in 1..tree.len() {
            let (own, up) = (tree.subtree(node), tree.subtree(tree.parent(node)));
            prop_assert!(up.start < own.start && own.end <= up.end, "{html}");
            prop_assert_eq!(tree.depth(node), tree.depth(tree.parent(node)) + 1);
        }
    }
}
