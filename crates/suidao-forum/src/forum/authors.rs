//! The authors of posts: names in attributes, in links to people and in elements named after authors; else the texts of
//! their pictures, or words around the time.

use rustc_hash::FxHashSet;

use super::fields::{PostSurroundings, entry, initials, name};
use super::post_numbers::post_number;
use super::region::is_author_link;
use super::stated_authors::stated;
use super::tree::{NodeId, Tree};
use suidao_page::model::TimeContext;

/// The author of each post.
pub(super) fn authors(posts: &[PostSurroundings], clock: TimeContext) -> Vec<Option<String>> {
    let (shown, declared) = (shown(posts, clock), declared(posts, clock));
    let names = |authors: &[Option<String>]| authors.iter().flatten().collect::<FxHashSet<_>>().len();
    // An attribute of all posts may name the reader.
    let is_of_posts = names(&declared) > 1 || names(&shown) < 2;
    let declared = declared.into_iter().map(|name| name.filter(|_| is_of_posts));
    let found: Vec<Option<String>> = declared.zip(shown).map(|(declared, shown)| declared.or(shown)).collect();
    if found.iter().flatten().count() * 2 >= posts.len() {
        return found;
    }
    let weaker = pictured(posts, clock).into_iter().zip(stated(posts, clock));
    found.into_iter().zip(weaker).map(|(found, (pictured, stated))| found.or(pictured).or(stated)).collect()
}

/// Names in attributes of the posts, if most have one.
fn declared(posts: &[PostSurroundings], clock: TimeContext) -> Vec<Option<String>> {
    const ATTRIBUTES: [&str; 7] = [
        "data-username",
        "data-user-name",
        "data-author",
        "data-author-name",
        "data-user",
        "data-poster",
        "js_username",
    ];
    let of_post = |post: &PostSurroundings| {
        let tree = post.part.tree;
        let value = |node: NodeId| ATTRIBUTES.into_iter().find_map(|attribute| tree.attribute(node, attribute));
        let found = post.nodes().filter(|&node| tree.is_element(node)).find_map(value)?;
        name(found, clock).filter(|name| name.chars().any(char::is_alphabetic))
    };
    let found: Vec<Option<String>> = posts.iter().map(of_post).collect();
    if found.iter().flatten().count() * 10 >= posts.len() * 7 { found } else { vec![None; posts.len()] }
}

/// Names that only the pictures of authors show.
fn pictured(posts: &[PostSurroundings], clock: TimeContext) -> Vec<Option<String>> {
    const WORDS: [&str; 4] = ["avatar", "头像", "profile", "photo"];
    let of_post = |post: &PostSurroundings| {
        let (tree, row) = (post.part.tree, post.part.row());
        let links = post.nodes().filter(|&node| tree.link(node).is_some() && is_author_link(tree, node, row));
        let pictures = links.flat_map(|link| tree.subtree(link)).filter(|&node| tree.name(node) == "img");
        pictures.filter_map(|node| name(tree.attribute(node, "alt")?, clock)).find(|name| {
            let lower = name.to_lowercase();
            name.chars().any(char::is_alphabetic) && !WORDS.iter().any(|word| lower.contains(word))
        })
    };
    posts.iter().map(of_post).collect()
}

/// Names in the text: in the position of the template where most posts have one that differs.
fn shown(posts: &[PostSurroundings], clock: TimeContext) -> Vec<Option<String>> {
    #[derive(Default)]
    struct Seen {
        posts: usize,
        likely: usize,
        names: FxHashSet<String>,
        order: usize,
    }
    const ACTIONS: &str = "回复|引用|举报|只看该作者|编辑|reply|quote|report|edit|发消息|加好友|profile|pm|返信|permalink|top|link|like|share|帖子|文章|主题|post|posts";
    /// In a link or not, and the position of the parent.
    type Place = (bool, u64);
    struct Candidate {
        place: Place,
        name: String,
        likely: bool,
    }
    let mut positions: Vec<(Place, Seen)> = Vec::new();
    let found: Vec<Vec<Candidate>> = posts
        .iter()
        .map(|post| {
            let (tree, row) = (post.part.tree, post.part.row());
            let mut own: Vec<Candidate> = Vec::new();
            let initials = initials(post.part);
            let is_candidate = |&node: &NodeId| {
                tree.is_element(node) && tree.subtree(node).len() <= 24 && initials.binary_search(&node).is_err()
            };
            for node in post.nodes().filter(is_candidate) {
                let linked = tree.name(node) == "a";
                let author = if linked { is_author_link(tree, node, row) } else { names_author(tree, node) };
                let text = if linked || author { tree.text(node) } else { String::new() };
                let Some(name) = name(&text, clock) else { continue };
                let action = ACTIONS.split('|').any(|word| name.eq_ignore_ascii_case(word));
                if action || post_number(&name).is_some() || !name.chars().any(char::is_alphabetic) && !author {
                    continue;
                }
                // The names of some members, such as moderators, have classes of their own.
                let place = (linked, post.part.place(tree.parent(node)));
                let candidate = Candidate { place, name, likely: author };
                match own.iter_mut().find(|known| known.place == place) {
                    // A link to a group may be next to the one to the person.
                    Some(known) if author && !known.likely => *known = candidate,
                    Some(_) => {}
                    None => own.push(candidate),
                }
            }
            for (order, Candidate { place, name, likely }) in own.iter().enumerate() {
                if let Some(seen) = entry(&mut positions, *place) {
                    seen.order = if seen.posts == 0 { order } else { seen.order };
                    seen.posts += 1;
                    seen.likely += usize::from(*likely);
                    seen.names.insert(name.clone());
                }
            }
            own
        })
        .collect();
    // Among positions that most posts have: links before other elements, varying values before constant ones.
    positions.retain(|(_, seen)| seen.likely > 0);
    let most = positions.iter().map(|(_, seen)| seen.posts).max().unwrap_or(0);
    let differ = positions.iter().any(|(_, seen)| seen.posts * 10 >= most * 7 && seen.names.len() > 1);
    positions.retain(|(_, seen)| !differ || posts.len() < 3 || seen.names.len() > 1 || seen.posts * 10 < most * 7);
    positions
        .sort_by_key(|((linked, _), seen)| (seen.posts * 10 < most * 7, !linked, seen.order, usize::MAX - seen.posts));
    let pick = |own: &Vec<Candidate>| {
        let found = positions.iter().find_map(|(place, _)| own.iter().find(|known| known.place == *place));
        found.map(|known| known.name.clone())
    };
    found.iter().map(pick).collect()
}

fn names_author(tree: &Tree, node: NodeId) -> bool {
    const AUTHOR_NAMES: &str = "author|username|poster|postauthor|nickname|nick|user|name";
    tree.attribute(node, "itemprop") == Some("author")
        || tree.words(node).any(|word| {
            let begins = ["author", "poster", "username"].iter().any(|name| word.starts_with(name));
            begins || AUTHOR_NAMES.split('|').any(|known| known == word)
        }) && tree.subtree(node).len() <= 4
}

#[cfg(test)]
mod tests {
    use super::super::posts::posts;
    use super::*;
    use suidao_page::model::{CrawlUrl, Millis};

    fn authors(post: impl Fn(usize) -> String) -> Vec<Option<String>> {
        let page: String = (1..4).map(post).collect();
        let tree = Tree::parse(&page, &CrawlUrl::parse("http://a.cn/t/1").unwrap());
        let clock = TimeContext::new(Millis(1_600_000_000_000), 0);
        posts(&tree, clock).into_iter().map(|post| post.author).collect()
    }

    fn some(names: [&str; 3]) -> Vec<Option<String>> {
        names.map(|name| Some(name.to_owned())).to_vec()
    }

    #[test]
    fn words_around_the_time_name_authors() {
        let text = |n: usize| format!("<div class=body>This is the text of post {n}.</div>");
        for line in [
            "Posted by ANNA on 2020-04-1N 10:17",
            "Posted by <b>ANNA</b> on 2020-04-1N 10:17",
            "ANNA wrote on 2020-04-1N 10:17:",
            "作者：ANNA 时间：2020-04-1N 10:17",
        ] {
            let line = |n: usize| line.replace("ANNA", &format!("Anna {n}")).replace("1N", &format!("1{n}"));
            let below = |n: usize| format!("<div class=reply id=r{n}>{}<p class=foot>{}</p></div>", text(n), line(n));
            let above = |n: usize| format!("<div class=reply id=r{n}><p class=head>{}</p>{}</div>", line(n), text(n));
            assert_eq!(authors(below), some(["Anna 1", "Anna 2", "Anna 3"]), "{}", line(1));
            assert_eq!(authors(above), some(["Anna 1", "Anna 2", "Anna 3"]), "{}", line(1));
        }
    }

    #[test]
    fn a_link_to_a_group_is_no_author() {
        for group in ["<a href=/groups/1>Registered users</a>", "<a href=/groups/1>Members</a> "] {
            let post = |n: usize| {
                format!(
                    "<div class=post id=p{n}>{group}<a href=/profile/u{n}>Anna {n}</a><div class=d>2020-04-1{n} 10:17</div>\
                     <div class=body>This is the text of post {n}.</div></div>"
                )
            };
            assert_eq!(authors(post), some(["Anna 1", "Anna 2", "Anna 3"]), "{group}");
        }
    }

    #[test]
    fn attributes_and_pictures_name_authors() {
        let body = |n: usize| {
            format!(
                "<div class=date>2020-04-1{n} 10:17</div><div class=message-body>This is the text of post {n}.</div>"
            )
        };
        for attribute in ["data-username", "data-user-name", "data-author", "data-user", "data-poster", "js_username"] {
            let post = |n: usize| format!("<article id=post-{n} {attribute}='Anna {n}'>{}</article>", body(n));
            assert_eq!(authors(post), some(["Anna 1", "Anna 2", "Anna 3"]), "{attribute}");
        }
        // Of the reader, and a number.
        let link = |n: usize| format!("<h4><a class=username href=/members/u{n}/>Anna {n}</a></h4>");
        for value in ["Reader", "15"] {
            let post =
                |n: usize| format!("<article id=post-{n} data-username={value}>{}{}</article>", link(n), body(n));
            assert_eq!(authors(post), some(["Anna 1", "Anna 2", "Anna 3"]), "{value}");
        }
        let picture = |alt: &str, n: usize| format!("<a href=/members/u{n}/><img alt='{alt}' src=a{n}.jpg></a>");
        let pictured =
            |n: usize| format!("<article id=post-{n}>{}{}</article>", picture(&format!("Anna {n}"), n), body(n));
        assert_eq!(authors(pictured), some(["Anna 1", "Anna 2", "Anna 3"]));
        let both = |n: usize| format!("<article id=post-{n}>{}{}{}</article>", picture("Avatar", n), link(n), body(n));
        assert_eq!(authors(both), some(["Anna 1", "Anna 2", "Anna 3"]));
        let avatar = |n: usize| format!("<article id=post-{n}>{}{}</article>", picture("Avatar", n), body(n));
        assert_eq!(authors(avatar), [None, None, None]);
    }
}
