//! Pages of a modern forum without tables: cards, numbers as 2.1k, times in words inside time elements, only the next page
//! linked; a thread declares its posts as schema.org's DiscussionForumPosting.

use std::fmt::Write as _;

use super::address::{post_id, thread_id};
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::slug::short;
use super::spec::Beyond;
use super::times::Style as Time;
use super::view::{Row, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/"),
    (Form::Home, "/categories"),
    (Form::Index, "/c/{s}/{b}"),
    (Form::IndexPage, "/c/{s}/{b}?page={p}"),
    (Form::Sorted, "/c/{s}/{b}/top?page={p}"),
    (Form::Thread, "/t/{s}/{t}"),
    (Form::ThreadPage, "/t/{s}/{t}/{p}"),
    (Form::Post, "/p/{q}"),
    (Form::LastPost, "/t/{t}/latest"),
    (Form::Printer, "/t/{s}/{t}/print"),
    (Form::Profile, "/u/{u}"),
    (Form::Members, "/u?page={p}"),
    (Form::Search, "/search?q={n}"),
    (Form::Login, "/login"),
    (Form::Register, "/signup"),
    (Form::Help, "/faq"),
    (Form::Reply, "/t/{s}/{t}/reply"),
    (Form::NewThread, "/new-topic?category={b}"),
    (Form::Feed, "/c/{s}/{b}.rss"),
];

pub(super) const STYLE: Style = Style { urls: URLS, beyond: Beyond::Empty, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, head: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    format!(
        "<!DOCTYPE html>\n<html lang=\"zh-CN\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} - {site}</title>\n{head}<style>{CSS}</style>\n</head>\n<body>\n\
         <header class=\"d-header\"><a class=\"logo\" href=\"{home}\">{site}</a><nav>{search} {login} {register}</nav></header>\n\
         <div class=\"layout\"><aside class=\"sidebar\"><a href=\"{home}\">分类</a> {members} {help}</aside>\n<main id=\"main-outlet\">\n{body}</main></div>\n\
         <footer><nav><a href=\"{home}\">首页</a> {help}</nav></footer>\n</body>\n</html>\n",
        search = view.link(Route::Search(0), "搜索"),
        login = view.link(Route::Login, "登录"),
        register = view.link(Route::Register, "注册"),
        members = view.link(Route::Members(1), "成员"),
        help = view.link(Route::Help, "常见问题"),
    )
}

fn time(view: &View, at: i64) -> String {
    format!(
        "<time datetime=\"{}\" title=\"{}\">{}</time>",
        view.time(Time::Iso, at),
        view.time(Time::Padded, at),
        ago(view.now - at)
    )
}

/// `3 小时前`, `5 天前`, `2 个月前`.
fn ago(seconds: i64) -> String {
    match seconds {
        ..60 => "刚刚".to_owned(),
        60..3_600 => format!("{} 分钟前", seconds / 60),
        3_600..86_400 => format!("{} 小时前", seconds / 3_600),
        86_400..2_592_000 => format!("{} 天前", seconds / 86_400),
        _ => format!("{} 个月前", seconds / 2_592_000),
    }
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::new();
    for (name, boards) in view.categories() {
        let _ = writeln!(out, "<section class=\"category-group\"><h2>{name}</h2><div class=\"category-boxes\">");
        for board in boards {
            let href = view.href(Route::Index { board: board.board, page: 1 });
            let _ = writeln!(
                out,
                "<div class=\"category-box\"><a class=\"category-box-heading\" href=\"{href}\"><h3>{}</h3></a><p>{}</p><div class=\"counts\"><span class=\"number\">{}</span> 话题 · <span class=\"number\">{}</span> 帖子</div>",
                board.name,
                board.about,
                short(board.threads as u64),
                short(board.posts.into())
            );
            for &inner in &board.inner {
                let _ = writeln!(
                    out,
                    "<div class=\"subcategories\">{}</div>",
                    view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner))
                );
            }
            if let Some(last) = &board.last {
                let to = if view.traps().last_posts {
                    Route::LastPost(last.thread)
                } else {
                    Route::Thread { thread: last.thread, page: 1 }
                };
                let _ = writeln!(
                    out,
                    "<div class=\"latest\"><a class=\"latest-title\" href=\"{}\">{}</a> {} · {}</div>",
                    view.href(to),
                    last.title,
                    view.user_link(last.last.user, "author"),
                    time(view, last.last.at)
                );
            }
            let _ =
                writeln!(out, "<div class=\"mods\">管理 {}</div></div>", view.user_link(board.moderators[0], "author"));
        }
        out.push_str("</div></section>\n");
    }
    frame(view, "分类", "", &out)
}

fn next(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    if page >= pages {
        return String::new();
    }
    format!(
        "<nav class=\"more\"><a rel=\"next\" class=\"load-more\" href=\"{}\">加载更多</a></nav>\n",
        view.href(to(page + 1))
    )
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let summary = view.summary(board);
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let sorts = match view.traps().sorts {
        true => view.link(Route::Sorted { board, page: 1 }, "热门"),
        false => String::new(),
    };
    let mut out = format!(
        "<nav class=\"breadcrumb\"><a href=\"{}\">分类</a> / {}</nav>\n<h1>{}</h1><p>{}</p><div class=\"controls\">{} {sorts} {} {}</div>\n",
        view.href(Route::Home),
        summary.name,
        summary.name,
        summary.about,
        view.link(Route::Index { board, page: 1 }, "最新"),
        view.link(Route::NewThread(board), "新建话题"),
        view.link(Route::Feed(board), "RSS"),
    );
    for &inner in &summary.inner {
        let _ = writeln!(
            out,
            "<div class=\"subcategories\">{}</div>",
            view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner))
        );
    }
    out.push_str("<div class=\"topic-list\">\n");
    for row in &list.rows {
        card(view, row, &mut out);
    }
    out.push_str("</div>\n");
    out.push_str(&next(view, list.page, list.pages, to));
    let head = match list.page < list.pages {
        true => format!("<link rel=\"next\" href=\"{}\">\n", view.href(to(list.page + 1))),
        false => String::new(),
    };
    frame(view, summary.name, &head, &out)
}

fn card(view: &View, row: &Row, out: &mut String) {
    let mark = if row.sticky { "<span class=\"pinned\" title=\"置顶\">📌</span> " } else { "" };
    let href = view.href(Route::Thread { thread: row.thread, page: 1 });
    let last = match view.traps().last_posts {
        true => format!(
            "<a class=\"activity\" href=\"{}\">{}</a>",
            view.href(Route::LastPost(row.thread)),
            time(view, row.last.at)
        ),
        false => time(view, row.last.at),
    };
    let _ = write!(
        out,
        "<article class=\"topic-card{}\" data-topic-id=\"{}\"><div class=\"main-link\">{mark}<a href=\"{href}\" class=\"title raw-topic-link\">{}</a><div class=\"byline\">{} 发起于 {}</div></div>\n<div class=\"stats\"><span class=\"replies\" title=\"回复\">{}</span><span class=\"views\" title=\"浏览\">{}</span><span class=\"last\">{} {last}</span></div></article>\n",
        if row.sticky { " pinned" } else { "" },
        thread_id(row.thread),
        row.title,
        view.user_link(row.first.user, "author"),
        time(view, row.first.at),
        short(row.replies().into()),
        short(row.views),
        view.user_link(row.last.user, "author"),
    );
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let posts = view.posts(thread, page);
    let mut out = format!(
        "<nav class=\"breadcrumb\"><a href=\"{}\">分类</a> / {}</nav>\n<h1 class=\"topic-title\"><a href=\"{}\">{}</a></h1>\n<div class=\"post-stream\">\n",
        view.href(Route::Home),
        view.link(Route::Index { board, page: 1 }, view.board_name(board)),
        view.href(to(1)),
        row.title
    );
    for post in &posts {
        let id = post_id(post.number);
        let at = match view.traps().permalinks {
            true => format!(
                "<a class=\"post-date\" href=\"{}\">{}</a>",
                view.href(Route::Post(post.number)),
                time(view, post.at)
            ),
            false => time(view, post.at),
        };
        let _ = write!(
            out,
            "<article id=\"post_{}\" class=\"boxed topic-post\" data-post-id=\"{id}\"><div class=\"topic-avatar\"><span class=\"avatar\"></span></div><div class=\"topic-body\"><header class=\"topic-meta-data\"><span class=\"names\">{}</span> {at}</header>\n<div class=\"cooked\">",
            post.floor,
            view.user_link(post.user, "username")
        );
        if let Some(quote) = &post.quote {
            let _ = writeln!(
                out,
                "<aside class=\"quote\"><div class=\"title\">{}:</div><blockquote><p>{}</p></blockquote></aside>",
                view.user(quote.user),
                quote.text
            );
        }
        let _ = write!(
            out,
            "<p>{}</p></div>\n<div class=\"post-controls\">{} <button class=\"like\">赞</button></div></div></article>\n",
            post.text.join("</p>\n<p>"),
            view.link(Route::Reply(thread), "回复")
        );
    }
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "打印"),
        false => String::new(),
    };
    let _ = write!(
        out,
        "</div>\n{}<div class=\"topic-footer\">{printer}</div>\n<section class=\"suggested\"><h3>建议的话题</h3>\n",
        next(view, page, row.pages, to)
    );
    for hot in view.hot(5) {
        let _ = writeln!(
            out,
            "<div class=\"suggested-topic\">{} {}</div>",
            view.link(Route::Thread { thread: hot.thread, page: 1 }, hot.title),
            time(view, hot.last.at)
        );
    }
    out.push_str("</section>\n");
    let mut head = declared(view, row, &posts);
    if page < row.pages {
        let _ = writeln!(head, "<link rel=\"next\" href=\"{}\">", view.href(to(page + 1)));
    }
    frame(view, row.title, &head, &out)
}

/// The page's posts as JSON-LD: the opening post as the posting, the others as comments.
fn declared(view: &View, row: &Row, posts: &[super::view::Post]) -> String {
    let person = |user: usize| serde_json::json!({"@type": "Person", "name": view.user(user)});
    let comment = |post: &super::view::Post| {
        serde_json::json!({
            "@type": "Comment", "author": person(post.user), "datePublished": view.time(Time::Iso, post.at),
            "text": post.text.join("\n\n"), "position": post.floor,
        })
    };
    let comments: Vec<serde_json::Value> = posts.iter().filter(|post| post.floor > 1).map(comment).collect();
    let mut posting = serde_json::json!({
        "@context": "https://schema.org", "@type": "DiscussionForumPosting", "headline": row.title,
        "url": view.whole(Route::Thread { thread: row.thread, page: 1 }),
        "author": person(row.first.user as usize), "datePublished": view.time(Time::Iso, row.first.at),
        "interactionStatistic": {
            "@type": "InteractionCounter", "interactionType": "https://schema.org/CommentAction",
            "userInteractionCount": row.replies(),
        },
        "comment": comments,
    });
    if let Some(first) = posts.first().filter(|post| post.floor == 1) {
        posting["text"] = first.text.join("\n\n").into();
    }
    format!("<script type=\"application/ld+json\">{posting}</script>\n")
}

const CSS: &str = "body{font:15px system-ui,sans-serif;margin:0;color:#222}.d-header{display:flex;justify-content:space-between;padding:12px 24px;box-shadow:0 1px 3px #ccc}.layout{display:flex;max-width:1110px;margin:16px auto}.sidebar{width:160px;display:flex;flex-direction:column;gap:8px}main{flex:1}.category-boxes{display:grid;grid-template-columns:1fr 1fr;gap:12px}.category-box,.topic-card,.boxed{border:1px solid #e9e9e9;border-radius:8px;padding:12px;margin-bottom:8px}.topic-card{display:flex;justify-content:space-between}.title{font-size:17px;color:#222}.byline,.stats,.latest,.counts{color:#777;font-size:13px}.stats span{margin-left:14px}.pinned{background:#fffbe8}.boxed{display:flex;gap:12px}.avatar{display:block;width:45px;height:45px;border-radius:50%;background:#bcd}.quote{background:#f5f5f5;border-left:4px solid #ddd;padding:6px}.load-more{display:block;text-align:center;padding:10px;background:#eef}";
