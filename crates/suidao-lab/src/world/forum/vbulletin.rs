//! Pages as vBulletin writes them: tables within tables, session ids in every link, sort orders, a calendar without end.

use std::fmt::Write as _;

use super::address::{board_id, post_id, thread_id};
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::times::Style as Time;
use super::view::{Row, Summary, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/index.php"),
    (Form::Home, "/"),
    (Form::Index, "/forumdisplay.php?f={b}"),
    (Form::IndexPage, "/forumdisplay.php?f={b}&order=desc&page={p}"),
    (Form::Sorted, "/forumdisplay.php?f={b}&sort=replycount&order=desc&page={p}"),
    (Form::Thread, "/showthread.php?t={t}"),
    (Form::ThreadPage, "/showthread.php?t={t}&page={p}"),
    (Form::LastPost, "/showthread.php?goto=lastpost&t={t}"),
    (Form::Post, "/showthread.php?p={q}"),
    (Form::Post, "/showpost.php?p={q}"),
    (Form::Printer, "/printthread.php?t={t}"),
    (Form::Profile, "/member.php?u={u}"),
    (Form::Members, "/memberlist.php?page={p}"),
    (Form::Search, "/search.php?searchid={n}"),
    (Form::Calendar, "/calendar.php?c=1&day={n}"),
    (Form::Login, "/login.php?do=login"),
    (Form::Register, "/register.php"),
    (Form::Help, "/faq.php"),
    (Form::Reply, "/newreply.php?do=newreply&noquote=1&t={t}"),
    (Form::NewThread, "/newthread.php?do=newthread&f={b}"),
    (Form::Feed, "/external.php?type=RSS2&forumids={b}"),
];

pub(super) const STYLE: Style = Style { urls: URLS, prefix: "", session: Some("s"), redirects: false, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    let calendar = match view.traps().calendars {
        true => {
            let today = (view.now / 86_400) as u32;
            format!("<td class=\"vbmenu_control\">{}</td>", view.link(Route::Calendar(today), "日历"))
        }
        false => String::new(),
    };
    format!(
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n\
         <html xmlns=\"http://www.w3.org/1999/xhtml\" dir=\"ltr\" lang=\"zh\">\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\" />\n\
         <meta name=\"generator\" content=\"vBulletin 3.8.4\" />\n<title>{title} - {site}</title>\n<style>{CSS}</style>\n</head>\n<body>\n\
         <a name=\"top\"></a><table border=\"0\" width=\"100%\"><tr><td align=\"left\"><a href=\"{home}\"><img src=\"images/misc/vbulletin3_logo_white.gif\" border=\"0\" alt=\"{site}\" /></a></td></tr></table>\n\
         <div align=\"center\"><div class=\"page\" style=\"width:100%; text-align:left\">\n\
         <table class=\"tborder\" cellpadding=\"6\" cellspacing=\"1\" border=\"0\" width=\"100%\" align=\"center\"><tr><td class=\"alt1\" width=\"100%\"><span class=\"navbar\"><a href=\"{home}\" accesskey=\"1\">{site}</a></span> {crumbs}</td></tr></table>\n\
         <div class=\"tborder\"><table cellpadding=\"0\" cellspacing=\"0\" border=\"0\" width=\"100%\"><tr align=\"center\"><td class=\"vbmenu_control\">{register}</td><td class=\"vbmenu_control\">{help}</td><td class=\"vbmenu_control\">{members}</td>{calendar}<td class=\"vbmenu_control\">{search}</td><td class=\"vbmenu_control\">{login}</td></tr></table></div>\n<br />\n\
         {body}\n<br /><div class=\"smallfont\" align=\"center\">所有时间均为北京时间。现在的时间是 <span class=\"time\">{now}</span>。</div>\n\
         <table class=\"page\" width=\"100%\"><tr><td class=\"tfoot\" align=\"right\"><div class=\"smallfont\"><strong><a href=\"{home}\">{site}</a> - <a href=\"#top\" onclick=\"self.scrollTo(0, 0); return false;\">返回顶端</a></strong></div></td></tr></table>\n\
         <div align=\"center\" class=\"smallfont\">Powered by vBulletin&reg; 版本 3.8.4<br />版权所有 &copy;2000 - 2009</div>\n</div></div>\n</body>\n</html>\n",
        register = view.link(Route::Register, "注册"),
        help = view.link(Route::Help, "帮助"),
        members = view.link(Route::Members(1), "会员列表"),
        search = view.link(Route::Search(0), "搜索"),
        login = view.link(Route::Login, "登录"),
        now = view.time(Time::Padded, view.now),
    )
}

fn crumb(view: &View, board: usize) -> String {
    let link = view.link(Route::Index { board, page: 1 }, view.board_name(board));
    format!("<span class=\"navbar\">&gt; {link}</span>")
}

fn last_post(view: &View, row: &Row) -> String {
    if !view.traps().last_posts {
        return String::new();
    }
    let href = view.part(Route::Post(row.last_post), &format!("post{}", post_id(row.last_post)));
    format!(
        " <a href=\"{href}\"><img class=\"inlineimg\" src=\"images/buttons/lastpost.gif\" alt=\"最后一帖\" border=\"0\" /></a>"
    )
}

fn board_row(view: &View, board: &Summary, out: &mut String) {
    let href = view.href(Route::Index { board: board.board, page: 1 });
    let moderators = board.moderators.map(|user| view.user_link(user, ""));
    let _ = write!(
        out,
        "<tr align=\"center\"><td class=\"alt2\"><img src=\"images/statusicon/forum_old.gif\" alt=\"\" border=\"0\" /></td>\n\
         <td class=\"alt1Active\" align=\"left\" id=\"f{}\"><div><a href=\"{href}\"><strong>{}</strong></a></div><div class=\"smallfont\">{}</div><div class=\"smallfont\">版主: {}</div>",
        board_id(board.board),
        board.name,
        board.about,
        moderators.join(", ")
    );
    if !board.inner.is_empty() {
        out.push_str("<div class=\"smallfont\"><strong>子论坛</strong>: ");
        for &inner in &board.inner {
            out.push_str(&view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner)));
        }
        out.push_str("</div>");
    }
    out.push_str("</td>\n<td class=\"alt2\">");
    match &board.last {
        Some(last) => {
            let thread = view.href(Route::Thread { thread: last.thread, page: 1 });
            let cut: String = last.title.chars().take(12).collect();
            let _ = write!(
                out,
                "<div class=\"smallfont\" align=\"left\"><div><span style=\"white-space:nowrap\"><a href=\"{thread}\" title=\"{}\"><strong>{cut}...</strong></a></span></div><div>由 {}</div><div align=\"right\">{}{}</div></div>",
                last.title,
                view.user_link(last.last.user, ""),
                view.time(Time::Today, last.last.at),
                last_post(view, last)
            );
        }
        None => out.push_str("从未"),
    }
    let _ =
        write!(out, "</td>\n<td class=\"alt1\">{}</td><td class=\"alt2\">{}</td></tr>\n", board.threads, board.posts);
}

const TABLE: &str =
    "<table class=\"tborder\" cellpadding=\"6\" cellspacing=\"1\" border=\"0\" width=\"100%\" align=\"center\">\n";

pub(super) fn home(view: &View) -> String {
    let mut out = format!(
        "{TABLE}<thead><tr align=\"center\"><td class=\"thead\">&nbsp;</td><td class=\"thead\" width=\"100%\" align=\"left\">论坛</td><td class=\"thead\" nowrap=\"nowrap\">最后发表</td><td class=\"thead\">主题</td><td class=\"thead\">帖子</td></tr></thead>\n"
    );
    for (name, boards) in view.categories() {
        let _ = writeln!(
            out,
            "<tbody><tr><td class=\"tcat\" colspan=\"5\"><strong>{name}</strong></td></tr></tbody>\n<tbody>"
        );
        for board in &boards {
            board_row(view, board, &mut out);
        }
        out.push_str("</tbody>\n");
    }
    let (threads, posts) = view.totals();
    let _ = write!(
        out,
        "</table>\n<br />{TABLE}<tr><td class=\"tcat\">论坛统计</td></tr><tr><td class=\"alt1\"><div class=\"smallfont\">主题: {threads}, 帖子: {posts}</div></td></tr></table>\n"
    );
    frame(view, "论坛首页", "", &out)
}

fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    if pages < 2 {
        return String::new();
    }
    let mut out = format!(
        "<div class=\"pagenav\" align=\"right\"><table class=\"tborder\" cellpadding=\"3\" cellspacing=\"1\" border=\"0\"><tr><td class=\"vbmenu_control\" style=\"font-weight:normal\">第 {page} 页，共 {pages} 页</td>"
    );
    let mut cell = |at: u32, text: &str| {
        let _ = write!(out, "<td class=\"alt1\"><a class=\"smallfont\" href=\"{}\">{text}</a></td>", view.href(to(at)));
    };
    if page > 4 {
        cell(1, "&laquo; 首页");
    }
    if page > 1 {
        cell(page - 1, "&lt;");
    }
    for at in page.saturating_sub(3).max(1)..=pages.min(page + 3) {
        if at != page {
            cell(at, &at.to_string());
        }
    }
    if page < pages {
        cell(page + 1, "&gt;");
    }
    if page + 3 < pages {
        cell(pages, "末页 &raquo;");
    }
    out + "</tr></table></div>\n"
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let summary = view.summary(board);
    let mut out = String::new();
    if !summary.inner.is_empty() {
        let _ = write!(out, "{TABLE}<tr><td class=\"tcat\" colspan=\"5\">子论坛 : {}</td></tr>\n<tbody>", summary.name);
        for &inner in &summary.inner {
            board_row(view, &view.summary(inner), &mut out);
        }
        out.push_str("</tbody></table><br />\n");
    }
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let bar = format!(
        "<table width=\"100%\"><tr><td class=\"smallfont\"><a href=\"{}\" rel=\"nofollow\"><img src=\"images/buttons/newthread.gif\" alt=\"发表新主题\" border=\"0\" /></a></td><td align=\"right\">{}</td></tr></table>\n",
        view.href(Route::NewThread(board)),
        pager(view, list.page, list.pages, to)
    );
    let head = |text: &str| match view.traps().sorts {
        true => view.link(Route::Sorted { board, page: list.page }, text),
        false => text.to_owned(),
    };
    let _ = write!(
        out,
        "{bar}{TABLE}<tr><td class=\"tcat\" width=\"100%\">本论坛的主题<span class=\"normal\"> : {}</span></td></tr></table>\n\
         <table class=\"tborder\" cellpadding=\"6\" cellspacing=\"1\" border=\"0\" width=\"100%\" align=\"center\" id=\"threadslist\">\n<tbody><tr><td class=\"thead\" colspan=\"2\">&nbsp;</td><td class=\"thead\" width=\"100%\">主题 / 主题发起人</td><td class=\"thead\" width=\"150\" align=\"center\">最后发表</td><td class=\"thead\" align=\"center\">{}</td><td class=\"thead\" align=\"center\">{}</td></tr></tbody>\n<tbody id=\"threadbits_forum_{}\">\n",
        summary.name,
        head("回复"),
        head("查看"),
        board_id(board)
    );
    for row in &list.rows {
        line(view, row, &mut out);
    }
    let _ = write!(out, "</tbody></table>\n{bar}");
    frame(view, summary.name, &crumb(view, board), &out)
}

fn line(view: &View, row: &Row, out: &mut String) {
    let tid = thread_id(row.thread);
    let mark = if row.sticky {
        "<img class=\"inlineimg\" src=\"images/misc/sticky.gif\" alt=\"置顶主题\" border=\"0\" /> 置顶: "
    } else {
        ""
    };
    let to = |page| view.href(Route::Thread { thread: row.thread, page });
    let _ = write!(
        out,
        "<tr><td class=\"alt1\" id=\"td_threadstatusicon_{tid}\"><img src=\"images/statusicon/thread.gif\" alt=\"\" border=\"0\" /></td><td class=\"alt2\">&nbsp;</td>\n\
         <td class=\"alt1\" id=\"td_threadtitle_{tid}\" title=\"\"><div>{mark}<a href=\"{}\" id=\"thread_title_{tid}\">{}</a>",
        to(1),
        row.title
    );
    if row.pages > 1 {
        out.push_str(" <span class=\"smallfont\" style=\"white-space:nowrap\">(<img class=\"inlineimg\" src=\"images/misc/multipage.gif\" alt=\"多页主题\" border=\"0\" /> ");
        for page in 1..=row.pages.min(4) {
            let _ = write!(out, "<a href=\"{}\">{page}</a> ", to(page));
        }
        if row.pages > 4 {
            let _ = write!(out, "... <a href=\"{}\">末页</a>", to(row.pages));
        }
        out.push_str(")</span>");
    }
    let _ = write!(
        out,
        "</div><div class=\"smallfont\">{}</div></td>\n<td class=\"alt2\" title=\"回复: {replies}, 查看: {views}\"><div class=\"smallfont\" style=\"text-align:right; white-space:nowrap\">{}<br />由 {}{}</div></td>\n<td class=\"alt1\" align=\"center\">{replies}</td><td class=\"alt2\" align=\"center\">{views}</td></tr>\n",
        view.user_link(row.first.user, ""),
        view.time(Time::Today, row.last.at),
        view.user_link(row.last.user, ""),
        last_post(view, row),
        replies = row.replies(),
        views = row.views,
    );
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let bar = format!(
        "<table width=\"100%\"><tr><td class=\"smallfont\"><a href=\"{}\" rel=\"nofollow\"><img src=\"images/buttons/reply.gif\" alt=\"回复\" border=\"0\" /></a></td><td align=\"right\">{}</td></tr></table>\n",
        view.href(Route::Reply(thread)),
        pager(view, page, row.pages, to)
    );
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "显示可打印版本"),
        false => String::new(),
    };
    let mut out = format!(
        "{bar}{TABLE}<tr><td class=\"tcat\" width=\"100%\"><div class=\"smallfont\">主题工具 {printer}</div></td></tr></table>\n<div id=\"posts\">\n"
    );
    for post in view.posts(thread, page) {
        let pid = post_id(post.number);
        let count = match view.traps().permalinks {
            true => format!(
                "<a href=\"{}\" target=\"new\" rel=\"nofollow\" id=\"postcount{pid}\" name=\"{}\"><strong>{}</strong></a>",
                view.href(Route::Post(post.number)).replace("showthread", "showpost"),
                post.floor,
                post.floor
            ),
            false => format!("<strong>{}</strong>", post.floor),
        };
        let _ = write!(
            out,
            "<div align=\"center\"><div class=\"page\" style=\"width:100%; text-align:left\"><div id=\"edit{pid}\" style=\"padding:0px 0px 6px 0px\">\n\
             <table class=\"tborder\" id=\"post{pid}\" cellpadding=\"6\" cellspacing=\"0\" border=\"0\" width=\"100%\" align=\"center\"><tr><td class=\"thead\" style=\"font-weight:normal\"><a name=\"post{pid}\"><img class=\"inlineimg\" src=\"images/statusicon/post_old.gif\" alt=\"旧\" border=\"0\" /></a> {}</td><td class=\"thead\" style=\"font-weight:normal\" align=\"right\">#{count}</td></tr>\n\
             <tr valign=\"top\"><td class=\"alt2\" width=\"175\" rowspan=\"2\"><div id=\"postmenu_{pid}\">{}</div><div class=\"smallfont\">高级会员</div><div class=\"smallfont\">&nbsp;<br /><img src=\"customavatars/avatar{}.gif\" alt=\"头像\" border=\"0\" /></div><div class=\"smallfont\"><div>注册日期: 2008-03</div><div>帖子: {}</div></div></td>\n\
             <td class=\"alt1\" id=\"td_post_{pid}\"><div id=\"post_message_{pid}\">",
            view.time(Time::Today, post.at),
            view.user_link(post.user, "bigusername"),
            post.user + 1,
            post.user % 700,
        );
        if let Some(quote) = &post.quote {
            let _ = writeln!(
                out,
                "<div style=\"margin:20px; margin-top:5px; \"><div class=\"smallfont\" style=\"margin-bottom:2px\">引用:</div><table cellpadding=\"6\" cellspacing=\"0\" border=\"0\" width=\"100%\"><tr><td class=\"alt2\" style=\"border:1px inset\"><div>作者: <strong>{}</strong> <a href=\"{}\" rel=\"nofollow\"><img class=\"inlineimg\" src=\"images/buttons/viewpost.gif\" border=\"0\" alt=\"查看帖子\" /></a></div><div style=\"font-style:italic\">{}</div></td></tr></table></div>",
                view.user(quote.user),
                view.permalink(quote.number),
                quote.text
            );
        }
        let motto = post.motto.map_or(String::new(), |motto| format!("<div>__________________<br />{motto}</div>"));
        let _ = writeln!(
            out,
            "{}</div>{motto}</td></tr>\n<tr><td class=\"alt1\" align=\"right\"><a href=\"{}\" rel=\"nofollow\"><img src=\"images/buttons/quote.gif\" alt=\"引用回复\" border=\"0\" /></a></td></tr></table></div></div></div>",
            post.text.join("<br />\n<br />\n"),
            view.href(Route::Reply(thread))
        );
    }
    let _ = write!(out, "</div>\n{bar}<br />{TABLE}<tr><td class=\"tcat\">相似主题</td></tr>\n");
    for hot in view.hot(5) {
        let _ = writeln!(
            out,
            "<tr><td class=\"alt1\">{}</td></tr>",
            view.link(Route::Thread { thread: hot.thread, page: 1 }, hot.title)
        );
    }
    out.push_str("</table>\n");
    let crumbs = format!(
        "{}</td></tr><tr><td class=\"navbar\" style=\"font-size:10pt\"><strong>{}</strong>",
        crumb(view, board),
        row.title
    );
    frame(view, row.title, &crumbs, &out)
}

const CSS: &str = "body{background:#E1E1E2;color:#000;font:10pt verdana,geneva,sans-serif}.page{background:#FFF}.tborder{background:#D1D1E1;border:1px solid #0B198C}.tcat{background:#869BBF;color:#FFF;font-weight:bold}.thead{background:#5C7099;color:#FFF;font:bold 11px tahoma}.alt1,.alt1Active{background:#F5F5FF}.alt2{background:#E1E4F2}.smallfont{font:11px verdana}.vbmenu_control{background:#738FBF;padding:3px 6px;white-space:nowrap}.vbmenu_control a{color:#fff}.time{color:#666686}";
