//! Pages of an old forum of one script, where only names and values of parameters tell a board from a thread.

use std::fmt::Write as _;

use super::address::post_id;
use super::functional::charset;
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::spec::Beyond;
use super::times::Style as Time;
use super::view::{Row, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/index.asp"),
    (Form::Home, "/"),
    (Form::Index, "/index.asp?action=list&boardid={b}"),
    (Form::IndexPage, "/index.asp?action=list&boardid={b}&pageno={p}"),
    (Form::Sorted, "/index.asp?action=list&boardid={b}&order=hits&pageno={p}"),
    (Form::Thread, "/index.asp?action=show&boardid={b}&id={t}"),
    (Form::ThreadPage, "/index.asp?action=show&boardid={b}&id={t}&pageno={p}"),
    (Form::LastPost, "/index.asp?action=show&boardid={b}&id={t}&goto=last"),
    (Form::Printer, "/index.asp?action=print&boardid={b}&id={t}"),
    (Form::Profile, "/index.asp?action=user&id={u}"),
    (Form::Members, "/index.asp?action=users&pageno={p}"),
    (Form::Search, "/index.asp?action=search&id={n}"),
    (Form::Calendar, "/index.asp?action=calendar&id={n}"),
    (Form::Login, "/index.asp?action=login"),
    (Form::Register, "/index.asp?action=reg"),
    (Form::Help, "/index.asp?action=help"),
    (Form::Reply, "/index.asp?action=reply&boardid={b}&id={t}"),
    (Form::NewThread, "/index.asp?action=new&boardid={b}"),
    (Form::Feed, "/index.asp?action=rss&boardid={b}"),
];

pub(super) const STYLE: Style = Style { urls: URLS, prefix: "", gbk: true, beyond: Beyond::Empty, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    let calendar = match view.traps().calendars {
        true => format!(" | {}", view.link(Route::Calendar((view.now / 86_400) as u32), "论坛日历")),
        false => String::new(),
    };
    format!(
        "<HTML>\n<HEAD>\n<META http-equiv=Content-Type content=\"text/html; charset={}\">\n<TITLE>{site}--{title}</TITLE>\n<STYLE>{CSS}</STYLE>\n</HEAD>\n<BODY topmargin=0>\n\
         <TABLE class=menu width=\"97%\" align=center><TR><TD><a href=\"{home}\">{site}</a> 欢迎您，客人，请先 {} | {} | {} | {} | {}{calendar}</TD></TR></TABLE>\n\
         <TABLE class=nav width=\"97%\" align=center><TR><TD>→ <a href=\"{home}\">{site}</a> {crumbs}</TD></TR></TABLE><BR>\n{body}\n\
         <TABLE width=\"97%\" align=center><TR><TD align=center>页面执行时间 0.04688 秒, 5 次数据查询<BR>当前时间 {}</TD></TR></TABLE>\n</BODY>\n</HTML>\n",
        charset(view),
        view.link(Route::Login, "登录"),
        view.link(Route::Register, "注册"),
        view.link(Route::Members(1), "用户列表"),
        view.link(Route::Search(0), "搜索"),
        view.link(Route::Help, "帮助"),
        view.time(Time::Seconds, view.now),
    )
}

const TABLE: &str = "<TABLE class=tableborder1 cellSpacing=1 cellPadding=3 width=\"97%\" align=center>\n";

pub(super) fn home(view: &View) -> String {
    let mut out = String::new();
    for (name, boards) in view.categories() {
        let _ = writeln!(out, "{TABLE}<TR><TH colSpan=3 align=left>{name}</TH></TR>");
        for board in boards {
            let _ = write!(
                out,
                "<TR><TD class=tablebody1 width=26 align=center><img src=\"pic/forum_nonews.gif\"></TD><TD class=tablebody2 vAlign=top>『 <a href=\"{}\"><font color=#000066>{}</font></a> 』<BR>{}<BR>版主：{}",
                view.href(Route::Index { board: board.board, page: 1 }),
                board.name,
                board.about,
                board.moderators.map(|user| view.user_link(user, "")).join(" "),
            );
            if !board.inner.is_empty() {
                out.push_str("<BR>下属论坛：");
                for &inner in &board.inner {
                    out.push_str(&view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner)));
                }
            }
            out.push_str("</TD><TD class=tablebody1 width=260>");
            if let Some(last) = &board.last {
                let to = if view.traps().last_posts {
                    Route::LastPost(last.thread)
                } else {
                    Route::Thread { thread: last.thread, page: 1 }
                };
                let _ = write!(
                    out,
                    "主题：{}<BR>发贴：{}<BR>日期：{}<BR>",
                    view.link(to, last.title),
                    view.user_link(last.last.user, ""),
                    view.time(Time::Seconds, last.last.at)
                );
            }
            let _ = writeln!(out, "主题 {} 帖子 {}</TD></TR>", board.threads, board.posts);
        }
        out.push_str("</TABLE><BR>\n");
    }
    frame(view, "首页", "", &out)
}

fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    let mut out = format!("<TABLE width=\"97%\" align=center><TR><TD>页次：<b>{page}</b>/<b>{pages}</b>页 分页：");
    let start = (page.max(1) - 1) / 10 * 10;
    if start > 0 {
        let _ = write!(out, "<a href=\"{}\" title=\"上十页\">&lt;&lt;</a> ", view.href(to(start)));
    }
    for at in start + 1..=pages.min(start + 10) {
        let _ = match at == page {
            true => write!(out, "<font color=red>{at}</font> "),
            false => write!(out, "<a href=\"{}\">[{at}]</a> ", view.href(to(at))),
        };
    }
    if start + 10 < pages {
        let _ = write!(
            out,
            "<a href=\"{}\" title=\"下十页\">&gt;&gt;</a> <a href=\"{}\" title=\"尾页\">尾页</a>",
            view.href(to(start + 11)),
            view.href(to(pages))
        );
    }
    out + "</TD></TR></TABLE>\n"
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let summary = view.summary(board);
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let hits = match view.traps().sorts {
        true => view.link(Route::Sorted { board, page: 1 }, "人气"),
        false => "人气".to_owned(),
    };
    let mut out = String::new();
    for &inner in &summary.inner {
        let _ = writeln!(
            out,
            "{TABLE}<TR><TD class=tablebody1>下属论坛 {}</TD></TR></TABLE>",
            view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner))
        );
    }
    let _ = write!(
        out,
        "<TABLE width=\"97%\" align=center><TR><TD><a href=\"{}\"><img src=\"pic/postnew.gif\" border=0 alt=\"发新帖\"></a></TD></TR></TABLE>\n{TABLE}<TR align=middle><TH width=32>状态</TH><TH>主 题 (点心情符为新窗口浏览)</TH><TH width=80>作 者</TH><TH width=64>回复/{hits}</TH><TH width=200>最后更新 | 回复人</TH></TR>\n",
        view.href(Route::NewThread(board))
    );
    for row in &list.rows {
        line(view, row, &mut out);
    }
    out.push_str("</TABLE>\n");
    out.push_str(&pager(view, list.page, list.pages, to));
    frame(view, summary.name, &format!("→ {}", view.link(Route::Index { board, page: 1 }, summary.name)), &out)
}

fn line(view: &View, row: &Row, out: &mut String) {
    let icon = if row.sticky {
        "<img src=\"pic/istop.gif\" alt=\"固顶主题\">"
    } else {
        "<img src=\"pic/folder.gif\" alt=\"开放主题\">"
    };
    let to = |page| view.href(Route::Thread { thread: row.thread, page });
    let _ = write!(
        out,
        "<TR align=middle><TD class=tablebody2>{icon}</TD><TD class=tablebody1 align=left><a href=\"{}\" title=\"《{}》&#13;作者：{}&#13;发表于{}\">{}</a>",
        to(1),
        row.title,
        view.user(row.first.user),
        view.time(Time::Seconds, row.first.at),
        row.title
    );
    if row.pages > 1 {
        out.push_str("&nbsp;[<img src=\"pic/multipage.gif\"><b>");
        for page in 2..=row.pages.min(6) {
            let _ = write!(out, "<a href=\"{}\">{page}</a> ", to(page));
        }
        if row.pages > 6 {
            let _ = write!(out, "...<a href=\"{}\">{}</a>", to(row.pages), row.pages);
        }
        out.push_str("</b>]");
    }
    let at = view.time(Time::Seconds, row.last.at);
    let last = if view.traps().last_posts { view.link(Route::LastPost(row.thread), &at) } else { at };
    let _ = writeln!(
        out,
        "</TD><TD class=tablebody2>{}</TD><TD class=tablebody1>{}/{}</TD><TD class=tablebody2 align=left>&nbsp;{last}&nbsp;<font color=red>|</font>&nbsp;{}</TD></TR>",
        view.user_link(row.first.user, ""),
        row.replies(),
        row.views,
        if row.replies() == 0 { "------".to_owned() } else { view.user_link(row.last.user, "") },
    );
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "显示可打印的版本"),
        false => String::new(),
    };
    let mut out = format!(
        "<TABLE width=\"97%\" align=center><TR><TD><a href=\"{}\"><img src=\"pic/mypost.gif\" border=0 alt=\"回复帖子\"></a> 您是本帖的第 <b>{}</b> 个阅读者 {printer}</TD></TR></TABLE>\n{TABLE}<TR><TH align=left>* 贴子主题： {}</TH></TR></TABLE>\n",
        view.href(Route::Reply(thread)),
        row.views,
        row.title
    );
    for post in view.posts(thread, page) {
        let shade = 1 + post.floor % 2;
        let floor = if post.floor == 1 { "楼主".to_owned() } else { format!("第<b>{}</b>楼", post.floor) };
        let _ = write!(
            out,
            "<a name={id}></a>{TABLE}<TR><TD class=tablebody{shade} vAlign=top width=175><b>{}</b><BR><img src=\"userface/{}.gif\"><BR>等级：论坛游侠<BR>文章：{}<BR>积分：{}</TD><TD class=tablebody{shade} vAlign=top><DIV align=right>{} <a href=\"{}\">回复</a> {floor}</DIV><HR>\n<DIV class=content>",
            view.user_link(post.user, ""),
            post.user % 60,
            post.user % 800,
            post.user % 1_900,
            view.link(Route::Profile(post.user), "资料"),
            view.href(Route::Reply(thread)),
            id = post_id(post.number),
        );
        if let Some(quote) = &post.quote {
            let _ = writeln!(
                out,
                "<BLOCKQUOTE><b>以下是引用<i>{}</i>在{}的发言：</b><BR>{}</BLOCKQUOTE>",
                view.user(quote.user),
                view.time(Time::Seconds, quote.at),
                quote.text
            );
        }
        let motto = post.motto.map_or(String::new(), |motto| {
            format!("<BR>----------------------------------------------<BR><font color=gray>{motto}</font>")
        });
        let _ = writeln!(
            out,
            "{}</DIV>{motto}</TD></TR><TR><TD class=tablebody{shade}><img src=\"pic/ip.gif\" alt=\"ip地址已设置保密\"> {}</TD><TD class=tablebody{shade}></TD></TR></TABLE>",
            post.text.join("<BR>\n<BR>\n"),
            view.time(Time::Seconds, post.at)
        );
    }
    out.push_str(&pager(view, page, row.pages, to));
    let crumbs = format!(
        "→ {} → {}",
        view.link(Route::Index { board, page: 1 }, view.board_name(board)),
        view.link(to(1), row.title)
    );
    frame(view, row.title, &crumbs, &out)
}

const CSS: &str = "body,td{font-size:9pt;font-family:宋体}a{color:#000}.tableborder1{background:#6595D6}th{background:#4577B6;color:#fff}.tablebody1{background:#FFF}.tablebody2{background:#E4E8EF}.menu{background:#E4E8EF}.content{font-size:10pt;line-height:1.6;margin:8px}blockquote{border:1px solid #ccc;padding:6px}";
