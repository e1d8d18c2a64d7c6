//! Pages of a campus BBS put on the web: lists tell no times, only how many replied, and posts carry the header of a mail.

use std::fmt::Write as _;

use super::address::post_id;
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::spec::Beyond;
use super::times::Style as Time;
use super::view::{Row, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/bbssec.php"),
    (Form::Home, "/"),
    (Form::Index, "/bbsdoc.php?board={b}"),
    (Form::IndexPage, "/bbsdoc.php?board={b}&page={p}"),
    (Form::Sorted, "/bbsdoc.php?board={b}&ftype=1&page={p}"),
    (Form::Thread, "/bbstcon.php?board={b}&gid={t}"),
    (Form::ThreadPage, "/bbstcon.php?board={b}&gid={t}&pno={p}"),
    (Form::Post, "/bbscon.php?id={q}"),
    (Form::Printer, "/bbstprt.php?gid={t}"),
    (Form::Profile, "/bbsqry.php?userid={u}"),
    (Form::Members, "/bbsusr.php?start={p}"),
    (Form::Search, "/bbsfind.php?q={n}"),
    (Form::Login, "/bbslogin.php"),
    (Form::Register, "/bbsreg.php"),
    (Form::Help, "/bbshelp.php"),
    (Form::Reply, "/bbspst.php?board={b}&reid={t}"),
    (Form::NewThread, "/bbspst.php?board={b}"),
    (Form::Feed, "/rss.php?b={b}"),
];

pub(super) const STYLE: Style =
    Style { urls: URLS, prefix: "", gbk: true, beyond: Beyond::Missing, redirects: false, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    format!(
        "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gbk\">\n<title>{site}-{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n\
         <div class=\"nav\"><a href=\"{home}\">{site}</a> {crumbs}</div>\n<div class=\"left\"><a href=\"{home}\">分类讨论区</a><br>{login}<br>{register}<br>{search}<br>{members}<br>{help}</div>\n\
         <div class=\"main\">\n{body}</div>\n<div class=\"foot\">[<a href=\"javascript:history.go(-1)\">返回上一页</a>] [<a href=\"{home}\">返回首页</a>]</div>\n</body>\n</html>\n",
        login = view.link(Route::Login, "登录"),
        register = view.link(Route::Register, "注册新用户"),
        search = view.link(Route::Search(0), "文章查询"),
        members = view.link(Route::Members(1), "用户列表"),
        help = view.link(Route::Help, "帮助"),
    )
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::new();
    for (group, (name, boards)) in (1..).zip(view.categories()) {
        let _ = writeln!(out, "<table class=\"sec\"><tr><td colspan=\"4\" class=\"t\">{group}. {name}</td></tr>");
        for board in boards {
            for at in std::iter::once(board.board).chain(board.inner.iter().copied()) {
                let inner = view.summary(at);
                let moderators = inner.moderators.map(|user| view.user_link(user, "")).join(" ");
                let _ = writeln!(
                    out,
                    "<tr><td>○</td><td><a href=\"{}\">{}</a></td><td>{moderators}</td><td align=\"right\">{}</td></tr>",
                    view.href(Route::Index { board: at, page: 1 }),
                    inner.name,
                    inner.posts
                );
            }
        }
        out.push_str("</table>\n");
    }
    let _ = writeln!(out, "<div class=\"top10\">今日十大热门话题<ol>");
    for row in view.hot(10) {
        let _ = writeln!(
            out,
            "<li>{} <span>({})</span></li>",
            view.link(Route::Thread { thread: row.thread, page: 1 }, row.title),
            row.posts
        );
    }
    frame(view, "分类讨论区", "", &(out + "</ol></div>\n"))
}

fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    let link = |at: u32, text: &str| match (1..=pages).contains(&at) && at != page {
        true => format!("[{}] ", view.link(to(at), text)),
        false => format!("[{text}] "),
    };
    format!(
        "<div class=\"pg\">{}{}{}{} 第 {page}/{pages} 页</div>\n",
        link(1, "第一页"),
        link(page.saturating_sub(1), "上一页"),
        link(page + 1, "下一页"),
        link(pages, "最后一页")
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
        true => view.link(Route::Sorted { board, page: 1 }, "[文摘区]"),
        false => String::new(),
    };
    let mut out = format!(
        "<div>{} 版 [版主: {}] [文章数 {}] {} {sorts}</div>\n<table class=\"list\" border=\"0\"><tr class=\"t\"><td>序号</td><td>状态</td><td>作者</td><td>标题</td><td>回复</td></tr>\n",
        summary.name,
        view.user_link(summary.moderators[0], ""),
        summary.posts,
        view.link(Route::NewThread(board), "[发表文章]"),
    );
    for (at, row) in (1..).zip(&list.rows) {
        let thread = view.href(Route::Thread { thread: row.thread, page: 1 });
        let (number, mark) = if row.sticky {
            ("<b>[提示]</b>".to_owned(), "d")
        } else {
            (format!("{}", (list.page - 1) * view.forum.spec.threads_per_page + at), "")
        };
        let _ = writeln!(
            out,
            "<tr><td>{number}</td><td>{mark}</td><td>{}</td><td><a href=\"{thread}\">○ {}</a></td><td>{}</td></tr>",
            view.user_link(row.first.user, ""),
            row.title,
            row.replies()
        );
    }
    out.push_str("</table>\n");
    out.push_str(&pager(view, list.page, list.pages, to));
    frame(view, summary.name, &format!("- {}", view.link(Route::Index { board, page: 1 }, summary.name)), &out)
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let name = view.board_name(board);
    let pages = pager(view, page, row.pages, |page| Route::Thread { thread, page });
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "[打印]"),
        false => String::new(),
    };
    let mut out = format!("<div>主题：{} {printer}</div>\n{pages}", row.title);
    for post in view.posts(thread, page) {
        let link = match view.traps().permalinks {
            true => format!("[{}] ", view.link(Route::Post(post.number), "本篇全文")),
            false => String::new(),
        };
        let user = view.user(post.user);
        let quote = post.quote.as_ref().map_or(String::new(), |quote| {
            format!(
                "【 在 {} 的大作中提到: 】<br>\n<font class=\"f006\">: {}</font><br>\n",
                view.user(quote.user),
                quote.text
            )
        });
        let motto = post.motto.map_or(String::new(), |motto| format!("--<br>\n{motto}<br>\n"));
        let _ = write!(
            out,
            "<a name=\"{id}\"></a><table class=\"article\"><tr><td class=\"t\">{link}[{}] [本篇作者: {}]</td></tr>\n<tr><td class=\"article-body\">发信人: {user} ({user}), 信区: {name}<br>\n标&nbsp; 题: {}{}<br>\n发信站: {} ({}), 站内<br>\n<br>\n{quote}{}<br>\n<br>\n{motto}※ 来源:·{} {}·[FROM: 59.66.*]<br></td></tr></table>\n",
            view.link(Route::Reply(thread), "回复文章"),
            view.user_link(post.user, ""),
            if post.floor == 1 { "" } else { "Re: " },
            row.title,
            view.title(),
            view.time(Time::Ctime, post.at),
            post.text.join("<br>\n<br>\n"),
            view.title(),
            view.forum.spec.host,
            id = post_id(post.number),
        );
    }
    out.push_str(&pages);
    frame(view, row.title, &format!("- {}", view.link(Route::Index { board, page: 1 }, name)), &out)
}

const CSS: &str = "body{font:14px 宋体,monospace}.left{float:left;width:120px;background:#e8f0f8;padding:8px}.main{margin-left:150px}.t{background:#9cbfe0}table{width:100%;margin-bottom:8px}.article{border:1px solid #9cbfe0}.f006{color:#008080}";
