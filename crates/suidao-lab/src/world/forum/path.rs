//! Pages of a small forum whose URLs are paths of numbers: /board/7/p/2, /t/5567/p/2. Times are in words on every page.

use std::fmt::Write as _;

use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::spec::Beyond;
use super::times::Style as Time;
use super::view::{Row, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/"),
    (Form::Index, "/board/{b}"),
    (Form::IndexPage, "/board/{b}/p/{p}"),
    (Form::Sorted, "/board/{b}/hot/{p}"),
    (Form::Thread, "/t/{t}"),
    (Form::ThreadPage, "/t/{t}/p/{p}"),
    (Form::LastPost, "/t/{t}/last"),
    (Form::Post, "/reply/{q}"),
    (Form::Printer, "/t/{t}/print"),
    (Form::Profile, "/member/{u}"),
    (Form::Members, "/members/{p}"),
    (Form::Search, "/search/{n}"),
    (Form::Login, "/signin"),
    (Form::Register, "/signup"),
    (Form::Help, "/about"),
    (Form::Reply, "/t/{t}/reply"),
    (Form::NewThread, "/new/{b}"),
    (Form::Feed, "/feed/{b}.xml"),
];

pub(super) const STYLE: Style = Style { urls: URLS, wall: 403, beyond: Beyond::Missing, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, side: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    format!(
        "<!DOCTYPE html>\n<html lang=\"zh-CN\">\n<head>\n<meta charset=\"utf-8\">\n<title>{site} › {title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n\
         <div id=\"Top\"><div class=\"content\"><a href=\"{home}\" name=\"top\" title=\"{site}\">{site}</a> <div class=\"tools\"><a href=\"{home}\" class=\"top\">首页</a> {register} {login} {search}</div></div></div>\n\
         <div id=\"Wrapper\"><div class=\"content\"><div id=\"Rightbar\">{side}</div>\n<div id=\"Main\">\n{body}</div></div></div>\n\
         <div id=\"Bottom\"><div class=\"content\"><strong>{help} · {members} · <a href=\"{home}\">{site}</a></strong><p class=\"small fade\">创意工作者们的社区 · 12ms</p></div></div>\n</body>\n</html>\n",
        register = view.link(Route::Register, "注册"),
        login = view.link(Route::Login, "登录"),
        search = view.link(Route::Search(0), "搜索"),
        help = view.link(Route::Help, "关于"),
        members = view.link(Route::Members(1), "会员"),
    )
}

/// The threads of today with most replies, beside every list and thread.
fn side(view: &View) -> String {
    let mut out = String::from(
        "<div class=\"box\" id=\"TopicsHot\"><div class=\"cell\"><span class=\"fade\">今日热议主题</span></div>\n",
    );
    for hot in view.hot(10) {
        let _ = writeln!(
            out,
            "<div class=\"cell from_{}\"><span class=\"item_hot_topic_title\">{}</span></div>",
            hot.first.user,
            view.link(Route::Thread { thread: hot.thread, page: 1 }, hot.title)
        );
    }
    out + "</div>\n"
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::from(
        "<div class=\"box\"><div class=\"cell\"><span class=\"fade\"><strong>节点导航</strong></span></div>\n",
    );
    for (name, boards) in view.categories() {
        let _ = writeln!(
            out,
            "<div class=\"cell\"><table cellpadding=\"0\" cellspacing=\"0\" border=\"0\"><tr><td align=\"right\" width=\"80\"><span class=\"fade\">{name}</span></td><td>"
        );
        for board in boards {
            for at in std::iter::once(board.board).chain(board.inner.iter().copied()) {
                let href = view.href(Route::Index { board: at, page: 1 });
                let _ = writeln!(
                    out,
                    "<a href=\"{href}\" style=\"font-size:14px\">{}</a>&nbsp; &nbsp;",
                    view.board_name(at)
                );
            }
        }
        out.push_str("</td></tr></table></div>\n");
    }
    out.push_str("</div>\n<div class=\"box\"><div class=\"cell\"><span class=\"fade\">最近讨论</span></div>\n");
    for row in view.hot(15) {
        cell(view, &row, true, &mut out);
    }
    frame(view, "首页", &side(view), &(out + "</div>\n"))
}

fn cell(view: &View, row: &Row, with_board: bool, out: &mut String) {
    let author = view.href(Route::Profile(row.first.user as usize));
    let board = view.board_of(row.thread);
    let node = match with_board {
        true => format!(
            "<a class=\"node\" href=\"{}\">{}</a> &nbsp;•&nbsp; ",
            view.href(Route::Index { board, page: 1 }),
            view.board_name(board)
        ),
        false => String::new(),
    };
    let class = if row.sticky { "cell item sticky" } else { "cell item" };
    let mark = if row.sticky { "<span class=\"tag\">置顶</span> " } else { "" };
    let title = view.href(Route::Thread { thread: row.thread, page: 1 });
    let last = match row.replies() {
        0 => String::new(),
        _ => format!(" &nbsp;•&nbsp; 最后回复来自 <strong>{}</strong>", view.user_link(row.last.user, "")),
    };
    let _ = write!(
        out,
        "<div class=\"{class}\"><table cellpadding=\"0\" cellspacing=\"0\" border=\"0\" width=\"100%\"><tr><td width=\"48\" valign=\"top\" align=\"center\"><a href=\"{author}\"><img src=\"/avatar/{}_normal.png\" class=\"avatar\" border=\"0\" alt=\"\" /></a></td>\n\
         <td width=\"auto\" valign=\"middle\"><span class=\"item_title\">{mark}<a href=\"{title}\" class=\"topic-link\">{}</a></span><br><span class=\"topic_info\">{node}<strong>{}</strong> &nbsp;•&nbsp; <span title=\"{}\">{}</span>{last}</span></td>\n",
        row.first.user,
        row.title,
        view.user_link(row.first.user, ""),
        view.time(Time::Padded, row.last.at),
        view.time(Time::AgoLong, row.last.at),
    );
    if row.replies() > 0 {
        let to = if view.traps().last_posts {
            view.href(Route::LastPost(row.thread))
        } else {
            format!("{title}#reply{}", row.replies())
        };
        let _ = write!(
            out,
            "<td width=\"70\" align=\"right\" valign=\"middle\"><a href=\"{to}\" class=\"count_livid\">{}</a></td>",
            row.replies()
        );
    }
    out.push_str("</tr></table></div>\n");
}

fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    if pages < 2 {
        return String::new();
    }
    let mut out = String::from("<div class=\"cell ps_container\"><table width=\"100%\"><tr><td align=\"left\">");
    for at in (1..=pages).filter(|at| *at <= 2 || *at == pages || at.abs_diff(page) <= 3) {
        let class = if at == page { "page_current" } else { "page_normal" };
        let _ = write!(out, "<a href=\"{}\" class=\"{class}\">{at}</a> &nbsp;", view.href(to(at)));
    }
    out + "</td></tr></table></div>\n"
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
        "<div class=\"box\"><div class=\"node-header\"><div class=\"node-info\"><div class=\"breadcrumb\"><a href=\"{}\">{}</a> <span class=\"chevron\">›</span> {}<span class=\"fr fade\">主题总数 {}</span></div><div class=\"intro\">{}</div><p>版主 {} · {} · {} · {sorts}</p></div></div>\n",
        view.href(Route::Home),
        view.title(),
        summary.name,
        summary.threads,
        summary.about,
        summary.moderators.map(|user| view.user_link(user, "")).join(" "),
        view.link(Route::NewThread(board), "创建新主题"),
        view.link(Route::Feed(board), "RSS"),
    );
    for &inner in &summary.inner {
        let _ = writeln!(
            out,
            "<div class=\"cell\">子节点 {}</div>",
            view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner))
        );
    }
    list.rows.iter().for_each(|row| cell(view, row, false, &mut out));
    out.push_str(&pager(view, list.page, list.pages, to));
    frame(view, summary.name, &side(view), &(out + "</div>\n"))
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "打印"),
        false => String::new(),
    };
    let posts = view.posts(thread, page);
    let (opening, replies) = match posts.split_first() {
        Some((first, rest)) if first.floor == 1 => (Some(first), rest),
        _ => (None, &posts[..]),
    };
    let mut out = format!(
        "<div class=\"box\"><div class=\"header\"><a href=\"{}\">{}</a> <span class=\"chevron\">›</span> {}<h1>{}</h1><small class=\"gray\">{} · <span title=\"{}\">{}</span> · {} 次点击 {printer}</small></div>\n",
        view.href(Route::Home),
        view.title(),
        view.link(Route::Index { board, page: 1 }, view.board_name(board)),
        row.title,
        view.user_link(row.first.user, ""),
        view.time(Time::Padded, row.first.at),
        view.time(Time::AgoLong, row.first.at),
        row.views
    );
    if let Some(post) = opening {
        let _ = writeln!(
            out,
            "<div class=\"cell\"><div class=\"topic_content\"><div class=\"markdown_body\"><p>{}</p></div></div></div>",
            post.text.join("</p>\n<p>")
        );
    }
    let pages = pager(view, page, row.pages, to);
    let _ = write!(
        out,
        "</div>\n<div class=\"box\"><div class=\"cell\"><span class=\"gray\">{} 条回复 &nbsp;<strong class=\"snow\">•</strong> &nbsp;{}</span></div>\n{pages}",
        row.replies(),
        view.time(Time::Padded, row.last.at)
    );
    for post in replies {
        let id = super::address::post_id(post.number);
        let floor = match view.traps().permalinks {
            true => format!("<a class=\"no\" href=\"{}\">{}</a>", view.href(Route::Post(post.number)), post.floor - 1),
            false => format!("<span class=\"no\">{}</span>", post.floor - 1),
        };
        let quote = post.quote.as_ref().map_or(String::new(), |quote| format!("@{} ", view.user_link(quote.user, "")));
        let _ = writeln!(
            out,
            "<div id=\"r_{id}\" class=\"cell\"><table cellpadding=\"0\" cellspacing=\"0\" border=\"0\" width=\"100%\"><tr><td width=\"48\" valign=\"top\" align=\"center\"><img src=\"/avatar/{}_normal.png\" class=\"avatar\" border=\"0\" alt=\"\" /></td><td valign=\"top\"><div class=\"fr\"><a href=\"{}\">回复</a> {floor}</div><strong>{}</strong>&nbsp; &nbsp;<span class=\"ago\" title=\"{}\">{}</span><div class=\"reply_content\">{quote}{}</div></td></tr></table></div>",
            post.user,
            view.href(Route::Reply(thread)),
            view.user_link(post.user, "dark"),
            view.time(Time::Padded, post.at),
            view.time(Time::AgoLong, post.at),
            post.text.join("<br>\n")
        );
    }
    let _ = writeln!(out, "{pages}</div>");
    frame(view, row.title, &side(view), &out)
}

const CSS: &str = "body{font:14px 'Helvetica Neue',sans-serif;background:#e2e2e2;margin:0}.content{max-width:1100px;margin:0 auto;padding:8px}#Top,#Bottom{background:#fff}#Rightbar{float:right;width:270px}#Main{margin-right:290px}.box{background:#fff;border-bottom:1px solid #ccc;margin-bottom:20px;border-radius:3px}.cell,.header,.node-header{padding:10px;border-bottom:1px solid #eee}.fr{float:right}.item_title{font-size:16px}.topic_info,.fade,.gray,.ago{color:#999;font-size:12px}.count_livid{background:#aab0c6;color:#fff;border-radius:12px;padding:2px 10px}.avatar{width:48px;height:48px;background:#ddd}.sticky{background:#fffdf0}";
