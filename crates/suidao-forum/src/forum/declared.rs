//! Threads and posts declared with schema.org, as JSON-LD or microdata.
//!
//! Declared values override extracted ones of the same post or thread, and missing ones are filled in from there.

use serde_json::Value;

use super::times::of_attribute;
use super::tree::{NodeId, Tree};
use suidao_page::model::{ApproxTime, CrawlUrl, PostRecord, ThreadRecord, TimeContext};
use suidao_page::read::json_ld::JsonLd;

/// Types of posts and threads.
const KINDS: [&str; 6] =
    ["DiscussionForumPosting", "Comment", "Question", "Answer", "SocialMediaPosting", "UserComments"];
/// Maximum number of items per page, and their maximum depth.
const ITEMS: usize = 2_000;
const DEPTH: usize = 24;

#[derive(Debug, Default)]
pub(super) struct DeclaredItem {
    url: Option<String>,
    title: Option<String>,
    author: Option<String>,
    posted: Option<ApproxTime>,
    changed: Option<ApproxTime>,
    text: Option<String>,
    position: Option<u32>,
    fragment: Option<String>,
    replies: Option<u32>,
    views: Option<u32>,
}

pub(super) fn items(tree: &Tree, clock: TimeContext) -> Vec<DeclaredItem> {
    let mut found = Vec::new();
    tree.json_ld().iter().filter_map(JsonLd::whole).for_each(|value| gather(value, 0, clock, &mut found));
    microdata(tree, clock, &mut found);
    found
}

/// Merges declared posts over extracted ones; if none were extracted, returns the declared ones.
pub(super) fn complete_posts(extracted: Vec<PostRecord>, items: Vec<DeclaredItem>) -> Vec<PostRecord> {
    let mut posts = extracted;
    if posts.is_empty() {
        let whole = items.into_iter().filter(|item| item.text.is_some());
        return whole.map(|item| fill(PostRecord::default(), item)).collect();
    }
    let mut from = 0;
    for item in items {
        // Both are usually in page order, so the search starts at the last match.
        let order = (from..posts.len()).chain(0..from);
        if let Some(at) = order.take(ITEMS).find(|&at| same(&posts[at], &item)) {
            let post = posts[at].clone();
            posts[at] = fill(post, item);
            from = at + 1;
        }
    }
    posts
}

/// As [`complete_posts`], for threads.
pub(super) fn complete_threads(
    mut extracted: Vec<ThreadRecord>,
    items: Vec<DeclaredItem>,
    base: &CrawlUrl,
    is_thread: &dyn Fn(&CrawlUrl) -> bool,
) -> Vec<ThreadRecord> {
    for item in items {
        let Some(url) = item.url.as_deref().and_then(|url| base.join(url).ok()).filter(|url| is_thread(url)) else {
            continue;
        };
        let at = extracted.iter().position(|thread| thread.url == url).or_else(|| {
            let title = item.title.clone()?;
            extracted.push(ThreadRecord {
                url,
                title,
                author: None,
                replies: None,
                views: None,
                created: None,
                last_reply: None,
                sticky: false,
            });
            Some(extracted.len() - 1)
        });
        let Some(thread) = at.and_then(|at| extracted.get_mut(at)) else { continue };
        thread.author = item.author.or(thread.author.take());
        thread.replies = item.replies.or(thread.replies);
        thread.views = item.views.or(thread.views);
        thread.created = item.posted.or(thread.created);
        thread.last_reply = thread.last_reply.or(item.changed);
    }
    extracted
}

fn fill(post: PostRecord, item: DeclaredItem) -> PostRecord {
    // A truncated description is replaced by the whole text.
    let text = item.text.filter(|text| {
        !without_white_space(&post.text, 1 << 16)
            .starts_with(&without_white_space(text.trim_end_matches(['…', '.']), 1 << 16))
    });
    let rules = if text.is_some() { Vec::new() } else { post.rules };
    PostRecord {
        author: item.author.or(post.author),
        posted: item.posted.or(post.posted),
        number: post.number.or(item.position),
        text: text.unwrap_or(post.text),
        rules,
        fragment: post.fragment.or(item.fragment),
    }
}

fn same(post: &PostRecord, item: &DeclaredItem) -> bool {
    if post.fragment.is_some() && post.fragment == item.fragment {
        return true;
    }
    let times = post.posted.zip(item.posted).map(|(one, other)| one.agrees(other, 60));
    let people = post.author.as_ref().zip(item.author.as_ref()).map(|(one, other)| one == other);
    let texts = item.text.as_ref().map(|text| without_white_space(text, 40) == without_white_space(&post.text, 40));
    match (times, people, texts) {
        (Some(false), ..) | (_, Some(false), _) => false,
        (_, _, Some(true)) => true,
        (Some(true), Some(true), None) => true,
        _ => false,
    }
}

/// The first `most` characters, without white space.
fn without_white_space(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_whitespace()).take(most).collect()
}

fn gather(value: &Value, depth: usize, clock: TimeContext, found: &mut Vec<DeclaredItem>) {
    if depth > DEPTH || found.len() >= ITEMS {
        return;
    }
    match value {
        Value::Array(all) => all.iter().for_each(|one| gather(one, depth + 1, clock, found)),
        Value::Object(fields) => {
            if is_kind(fields.get("@type")) {
                found.push(item(value, clock));
            }
            for name in [
                "@graph",
                "mainEntity",
                "itemListElement",
                "item",
                "comment",
                "acceptedAnswer",
                "suggestedAnswer",
                "hasPart",
            ] {
                if let Some(inner) = fields.get(name) {
                    gather(inner, depth + 1, clock, found);
                }
            }
        }
        _ => {}
    }
}

fn is_kind(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::String(kind)) => KINDS.contains(&kind.as_str()),
        Some(Value::Array(kinds)) => {
            kinds.iter().take(8).any(|kind| kind.as_str().is_some_and(|kind| KINDS.contains(&kind)))
        }
        _ => false,
    }
}

fn item(value: &Value, clock: TimeContext) -> DeclaredItem {
    let text = |name: &str| {
        value.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let time = |name: &str| text(name).and_then(|text| of_attribute(&text, clock));
    let url = text("url").or_else(|| text("@id")).or_else(|| text("mainEntityOfPage"));
    let (mut replies, mut views) = (count(value.get("commentCount")).or_else(|| count(value.get("answerCount"))), None);
    let statistics = match value.get("interactionStatistic") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    for one in statistics.iter().take(8) {
        let kind = one.get("interactionType").map(Value::to_string).unwrap_or_default();
        let number = count(one.get("userInteractionCount"));
        if kind.contains("CommentAction") || kind.contains("ReplyAction") {
            replies = replies.or(number);
        } else if kind.contains("ViewAction") {
            views = number;
        }
    }
    DeclaredItem {
        fragment: url.as_deref().and_then(|url| url.split_once('#')).map(|(_, fragment)| fragment.to_owned()),
        url,
        title: text("headline").or_else(|| text("name")),
        author: value.get("author").and_then(person),
        posted: time("datePublished").or_else(|| time("dateCreated")),
        changed: time("dateModified"),
        text: text("text").or_else(|| text("articleBody")).map(|text| plain_text(&text)),
        position: count(value.get("position")),
        replies,
        views,
    }
}

fn person(value: &Value) -> Option<String> {
    let one = if let Value::Array(all) = value { all.first()? } else { value };
    let name = one.as_str().or_else(|| one.get("name").and_then(Value::as_str))?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn count(value: Option<&Value>) -> Option<u32> {
    let value = value?;
    value.as_u64().and_then(|count| u32::try_from(count).ok()).or_else(|| value.as_str()?.trim().parse().ok())
}

/// Converts a declared text that is HTML to plain text.
fn plain_text(text: &str) -> String {
    let Some(base) = text.contains("</").then(|| CrawlUrl::parse("http://localhost/").ok()).flatten() else {
        return text.to_owned();
    };
    let lines: Vec<String> =
        Tree::parse(text, &base).paragraphs(0, &|_| false).into_iter().map(|line| line.text).collect();
    lines.join("\n")
}

/// Kind of an open scope: a post or thread, a person, a counter, or anything else.
enum Scope {
    Item(usize),
    Author(usize),
    Counter(usize, String),
    Other,
}

fn microdata(tree: &Tree, clock: TimeContext, found: &mut Vec<DeclaredItem>) {
    let mut scopes: Vec<(NodeId, Scope)> = Vec::new();
    for node in 0..tree.len() {
        while scopes.last().is_some_and(|(end, _)| *end <= node) {
            scopes.pop();
        }
        let property = tree.attribute(node, "itemprop");
        let innermost =
            scopes.iter().rev().find_map(|(_, scope)| if let Scope::Item(at) = scope { Some(*at) } else { None });
        if tree.attribute(node, "itemscope").is_some() && scopes.len() < DEPTH {
            let kind = tree.attribute(node, "itemtype").and_then(|kind| kind.rsplit('/').next()).unwrap_or_default();
            let scope = match (innermost, property) {
                _ if KINDS.contains(&kind) && found.len() < ITEMS => {
                    let fragment = tree.attribute(node, "id").map(str::to_owned);
                    found.push(DeclaredItem { fragment, ..DeclaredItem::default() });
                    Scope::Item(found.len() - 1)
                }
                (Some(at), Some("author" | "creator")) => Scope::Author(at),
                (Some(at), Some("interactionStatistic")) => Scope::Counter(at, String::new()),
                _ => Scope::Other,
            };
            scopes.push((tree.subtree(node).end, scope));
            continue;
        }
        let Some(property) = property else { continue };
        let value = || {
            let own = ["content", "datetime"].into_iter().find_map(|name| tree.attribute(node, name));
            own.map_or_else(|| tree.text(node), str::to_owned)
        };
        match scopes.last_mut().map(|(_, scope)| scope) {
            Some(Scope::Author(at)) if property == "name" => {
                found[*at].author = Some(value()).filter(|name| !name.trim().is_empty());
            }
            Some(Scope::Counter(at, kind)) => match property {
                "interactionType" => *kind = tree.attribute(node, "href").map_or_else(value, str::to_owned),
                "userInteractionCount" => {
                    let number = value().trim().parse().ok();
                    let item = &mut found[*at];
                    if kind.ends_with("CommentAction") || kind.ends_with("ReplyAction") {
                        item.replies = item.replies.or(number);
                    } else if kind.ends_with("ViewAction") {
                        item.views = number;
                    }
                }
                _ => {}
            },
            Some(Scope::Item(at)) => {
                let item = &mut found[*at];
                match property {
                    "author" | "creator" => {
                        item.author = Some(value()).filter(|name| !name.is_empty() && name.len() < 120)
                    }
                    "datePublished" | "dateCreated" => item.posted = item.posted.or(of_attribute(&value(), clock)),
                    "dateModified" => item.changed = of_attribute(&value(), clock),
                    "text" | "articleBody" => {
                        let lines: Vec<String> =
                            tree.paragraphs(node, &|_| false).into_iter().map(|line| line.text).collect();
                        item.text = Some(lines.join("\n")).filter(|text| !text.is_empty());
                    }
                    "headline" | "name" => item.title = item.title.take().or_else(|| Some(value())),
                    "url" => {
                        item.url = tree.attribute(node, "href").or(tree.attribute(node, "content")).map(str::to_owned)
                    }
                    "commentCount" | "answerCount" => item.replies = value().trim().parse().ok(),
                    "position" => item.position = value().trim().trim_start_matches('#').parse().ok(),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forum::{posts, records};
    use suidao_page::model::Millis;

    fn clock() -> TimeContext {
        TimeContext::new(Millis(1_243_994_400_000), 0)
    }

    fn tree(html: &str) -> Tree {
        Tree::parse(html, &CrawlUrl::parse("http://a.cn/t/1").unwrap())
    }

    #[test]
    fn json_ld_stands_in_for_posts_that_scripts_show() {
        let page = tree(
            "<script type='application/ld+json'>{\"@type\":\"DiscussionForumPosting\",\"author\":{\"name\":\"ann\"},
            \"datePublished\":\"2009-05-25T12:01:00Z\",\"text\":\"<p>First</p><p>post</p>\",\"comment\":[{\"@type\":\"Comment\",
            \"author\":\"bob\",\"datePublished\":\"2009-05-26\",\"text\":\"Second\",\"url\":\"/t/1#p2\"}]}</script><div id=app></div>",
        );
        let found = posts(&page, clock());
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].author.as_deref(), found[0].text.as_str()), (Some("ann"), "First\npost"));
        assert_eq!(found[0].posted, Some(ApproxTime { at: 1_243_252_860, within: 1 }));
        assert_eq!((found[1].author.as_deref(), found[1].fragment.as_deref()), (Some("bob"), Some("p2")));
    }

    #[test]
    fn microdata_goes_before_what_is_mined_and_is_filled_from_it() {
        let post = |at: u32, who: &str| {
            format!(
                "<div id=post_{at} itemprop=comment itemscope itemtype='http://schema.org/Comment'><span itemprop=author itemscope itemtype='http://schema.org/Person'><a href=/u/{who}><span itemprop=name>{who} Full</span></a></span><time itemprop=datePublished datetime='2009-05-2{at}T12:01:00Z'>May 2{at}</time><span itemprop=position>{at}</span><div class=post itemprop=text><p>Text number {at}</p></div></div>"
            )
        };
        let found = posts(
            &tree(&format!(
                "<div itemscope itemtype='http://schema.org/DiscussionForumPosting'><h1 itemprop=headline>T</h1>{}{}</div>",
                post(1, "ann"),
                post(2, "bob")
            )),
            clock(),
        );
        let stated: Vec<_> = found
            .iter()
            .map(|post| (post.author.as_deref().unwrap(), post.number, post.text.as_str(), post.fragment.as_deref()))
            .collect();
        assert_eq!(
            stated,
            [
                ("ann Full", Some(1), "Text number 1", Some("post_1")),
                ("bob Full", Some(2), "Text number 2", Some("post_2"))
            ]
        );
    }

    #[test]
    fn an_author_that_is_declared_empty_is_the_one_that_is_shown() {
        let page = tree(
            "<div itemscope itemtype='http://schema.org/Comment'><span itemprop=author itemscope><a href=/u/ann>ann</a><meta itemprop=name content=' '></span><div itemprop=text><p>Text</p></div></div>",
        );
        let found = items(&page, clock());
        assert_eq!((found.len(), found[0].author.as_deref()), (1, None));
    }

    #[test]
    fn a_list_declares_its_threads() {
        let page = tree(
            "<script type='application/ld+json'>{\"@type\":\"ItemList\",\"itemListElement\":[{\"@type\":\"ListItem\",\"item\":
            {\"@type\":\"DiscussionForumPosting\",\"url\":\"http://a.cn/t/7\",\"headline\":\"Seven\",\"author\":{\"name\":\"ann\"},
            \"datePublished\":\"2009-05-25\",\"interactionStatistic\":[{\"interactionType\":\"https://schema.org/CommentAction\",
            \"userInteractionCount\":3},{\"interactionType\":{\"@type\":\"ViewAction\"},\"userInteractionCount\":\"40\"}]}}]}</script>
            <ul><li><a href=/t/7>Seven</a></li><li><a href=/t/8>Eight</a></li></ul>",
        );
        let found = records(&page, &|url| url.path().starts_with("/t/"), clock());
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].replies, found[0].views, found[0].author.as_deref()), (Some(3), Some(40), Some("ann")));
        assert_eq!(found[1].replies, None);
    }
}
