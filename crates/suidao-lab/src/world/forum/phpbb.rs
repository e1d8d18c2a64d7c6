//! Pages as phpBB writes them: offsets instead of page numbers, session ids in every link, list items instead of tables.

use std::fmt::Write as _;

use super::address::post_id;
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::times::Style as Time;
use super::view::{Row, Summary, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/index.php"),
    (Form::Home, "/"),
    (Form::Index, "/viewforum.php?f={b}"),
    (Form::IndexPage, "/viewforum.php?f={b}&start={o}"),
    (Form::Sorted, "/viewforum.php?f={b}&st=0&sk=r&sd=d&start={o}"),
    (Form::Thread, "/viewtopic.php?f={b}&t={t}"),
    (Form::ThreadPage, "/viewtopic.php?f={b}&t={t}&start={o}"),
    (Form::Thread, "/viewtopic.php?t={t}"),
    (Form::Post, "/viewtopic.php?p={q}"),
    (Form::Printer, "/viewtopic.php?f={b}&t={t}&view=print"),
    (Form::LastPost, "/viewtopic.php?t={t}&view=unread"),
    (Form::Profile, "/memberlist.php?mode=viewprofile&u={u}"),
    (Form::Members, "/memberlist.php?start={p}"),
    (Form::Search, "/search.php?search_id={n}"),
    (Form::Login, "/ucp.php?mode=login"),
    (Form::Register, "/ucp.php?mode=register"),
    (Form::Help, "/faq.php"),
    (Form::Reply, "/posting.php?mode=reply&f={b}&t={t}"),
    (Form::NewThread, "/posting.php?mode=post&f={b}"),
    (Form::Feed, "/feed.php?f={b}"),
];

pub(super) const STYLE: Style = Style {
    urls: URLS,
    prefix: "./",
    session: Some("sid"),
    wall: 403,
    redirects: false,
    forbids: "/search.php",
    ..Style::PLAIN
};

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    format!(
        "<!DOCTYPE html>\n<html dir=\"ltr\" lang=\"zh-cmn-hans\">\n<head>\n<meta charset=\"utf-8\" />\n<title>{site} - {title}</title>\n<style>{CSS}</style>\n</head>\n\
         <body id=\"phpbb\" class=\"nojs notouch section-viewforum ltr\">\n<div id=\"wrap\" class=\"wrap\">\n<a id=\"top\" class=\"top-anchor\" accesskey=\"t\"></a>\n\
         <div id=\"page-header\"><div class=\"headerbar\" role=\"banner\"><div class=\"inner\"><div id=\"site-description\"><a class=\"logo\" href=\"{home}\" title=\"论坛首页\"><span class=\"site_logo\"></span></a><h1>{site}</h1><p class=\"skiplink\"><a href=\"#start_here\">跳过导航</a></p></div></div></div>\n\
         <div class=\"navbar\" role=\"navigation\"><div class=\"inner\"><ul id=\"nav-main\" class=\"nav-main linklist\"><li>{help}</li><li>{search}</li><li>{members}</li><li class=\"rightside\">{login}</li><li class=\"rightside\">{register}</li></ul>\n\
         <ul id=\"nav-breadcrumbs\" class=\"nav-breadcrumbs linklist navlinks\"><li class=\"breadcrumbs\"><span class=\"crumb\"><a href=\"{home}\" accesskey=\"h\">论坛首页</a></span>{crumbs}</li></ul></div></div></div>\n\
         <a id=\"start_here\" class=\"anchor\"></a>\n<div id=\"page-body\" class=\"page-body\" role=\"main\">\n{body}</div>\n\
         <div id=\"page-footer\" class=\"page-footer\"><div class=\"navbar\"><ul class=\"nav-footer linklist\"><li class=\"breadcrumbs\"><a href=\"{home}\">论坛首页</a></li><li class=\"rightside\">所有显示的时间为 UTC+08:00</li></ul></div>\n\
         <div class=\"copyright\"><p>由 <a href=\"https://www.phpbb.com/\">phpBB</a>&reg; Forum Software &copy; phpBB Limited 强力驱动</p></div></div>\n</div>\n</body>\n</html>\n",
        help = view.link(Route::Help, "常见问题"),
        search = view.link(Route::Search(0), "高级搜索"),
        members = view.link(Route::Members(0), "会员"),
        login = view.link(Route::Login, "登录"),
        register = view.link(Route::Register, "注册"),
    )
}

fn crumb(view: &View, board: usize) -> String {
    format!(" <span class=\"crumb\">{}</span>", view.link(Route::Index { board, page: 1 }, view.board_name(board)))
}

fn last_post(view: &View, row: &Row) -> String {
    if !view.traps().last_posts {
        return String::new();
    }
    let href = view.part(Route::Post(row.last_post), &format!("p{}", post_id(row.last_post)));
    format!(
        "<a href=\"{href}\" title=\"转到最后一个帖子\"><i class=\"icon fa-external-link-square\"></i><span class=\"sr-only\">查看最新帖子</span></a>"
    )
}

fn boards<'a>(view: &View, name: &str, boards: impl Iterator<Item = Summary<'a>>, out: &mut String) {
    let _ = write!(
        out,
        "<div class=\"forabg\"><div class=\"inner\"><ul class=\"topiclist\"><li class=\"header\"><dl class=\"row-item\"><dt><div class=\"list-inner\">{name}</div></dt><dd class=\"topics\">主题</dd><dd class=\"posts\">帖子</dd><dd class=\"lastpost\"><span>最新帖子</span></dd></dl></li></ul>\n<ul class=\"topiclist forums\">\n"
    );
    for board in boards {
        let _ = write!(
            out,
            "<li class=\"row\"><dl class=\"row-item forum_read\"><dt title=\"没有未读帖子\"><div class=\"list-inner\"><a href=\"{}\" class=\"forumtitle\">{}</a><br />{}",
            view.href(Route::Index { board: board.board, page: 1 }),
            board.name,
            board.about
        );
        let moderators = board.moderators.map(|user| view.user_link(user, "username"));
        let _ = write!(out, "<br /><strong>版主:</strong> {}", moderators.join(", "));
        if !board.inner.is_empty() {
            out.push_str("<br /><strong>子版面:</strong> ");
            for &inner in &board.inner {
                let href = view.href(Route::Index { board: inner, page: 1 });
                let _ = write!(
                    out,
                    "<a href=\"{href}\" class=\"subforum read\" title=\"没有未读帖子\">{}</a>",
                    view.board_name(inner)
                );
            }
        }
        let _ = write!(
            out,
            "</div></dt><dd class=\"topics\">{} <dfn>主题</dfn></dd><dd class=\"posts\">{} <dfn>帖子</dfn></dd><dd class=\"lastpost\"><span>",
            board.threads, board.posts
        );
        match &board.last {
            Some(last) => {
                let href = view.href(Route::Post(last.last_post));
                if view.traps().last_posts {
                    let _ = write!(
                        out,
                        "<dfn>最新帖子</dfn> <a href=\"{href}#p{}\" title=\"{}\" class=\"lastsubject\">{}</a><br />",
                        post_id(last.last_post),
                        last.title,
                        last.title
                    );
                }
                let _ = write!(
                    out,
                    "由 {} {}<br />{}",
                    view.user_link(last.last.user, "username"),
                    last_post(view, last),
                    view.time(Time::Words, last.last.at)
                );
            }
            None => out.push_str("没有帖子"),
        }
        out.push_str("</span></dd></dl></li>\n");
    }
    out.push_str("</ul></div></div>\n");
}

pub(super) fn home(view: &View) -> String {
    let mut out =
        format!("<p class=\"right responsive-center time\">现在的时间是 {}</p>\n", view.time(Time::Words, view.now));
    for (name, group) in view.categories() {
        boards(view, &name, group.into_iter(), &mut out);
    }
    let (threads, posts) = view.totals();
    let _ = write!(
        out,
        "<form method=\"post\" action=\"{}\" class=\"headerspace\"><h3>{}</h3><fieldset class=\"quick-login\"><label>用户名: <input type=\"text\" name=\"username\" /></label> <label>密码: <input type=\"password\" name=\"password\" /></label></fieldset></form>\n\
         <div class=\"stat-block statistics\"><h3>统计</h3><p>帖子总数 <strong>{posts}</strong> &bull; 主题总数 <strong>{threads}</strong></p></div>\n",
        view.href(Route::Login),
        view.link(Route::Login, "登录"),
    );
    frame(view, "首页", "", &out)
}

fn pager(view: &View, counted: &str, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    let mut out = format!("<div class=\"pagination\">{counted} &bull; ");
    if pages < 2 {
        return out + "第 <strong>1</strong> 页，共 <strong>1</strong> 页</div>\n";
    }
    out.push_str("<ul>");
    if page > 1 {
        let _ = write!(
            out,
            "<li class=\"arrow previous\"><a class=\"button button-icon-only\" href=\"{}\" rel=\"prev\"><span>上一页</span></a></li>",
            view.href(to(page - 1))
        );
    }
    let near = |at: &u32| *at == 1 || *at == pages || at.abs_diff(page) <= 2 || (page < 4 && *at <= 5);
    let mut before = 0;
    for at in (1..=pages).filter(near) {
        if at > before + 1 {
            out.push_str("<li class=\"ellipsis\" role=\"separator\"><span>…</span></li>");
        }
        before = at;
        let _ = match at == page {
            true => write!(out, "<li class=\"active\"><span>{at}</span></li>"),
            false => {
                write!(out, "<li><a class=\"button\" href=\"{}\" role=\"button\">{at}</a></li>", view.href(to(at)))
            }
        };
    }
    if page < pages {
        let _ = write!(
            out,
            "<li class=\"arrow next\"><a class=\"button button-icon-only\" href=\"{}\" rel=\"next\"><span>下一页</span></a></li>",
            view.href(to(page + 1))
        );
    }
    out + "</ul></div>\n"
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let (name, summary) = (view.board_name(board), view.summary(board));
    let mut out = format!(
        "<h2 class=\"forum-title\"><a href=\"{}\">{name}</a></h2>\n",
        view.href(Route::Index { board, page: 1 })
    );
    if !summary.inner.is_empty() {
        boards(view, "版面", summary.inner.iter().map(|&inner| view.summary(inner)), &mut out);
    }
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let pages = pager(view, &format!("{} 个主题", summary.threads), list.page, list.pages, to);
    let bar = format!(
        "<div class=\"action-bar bar-top\"><a href=\"{}\" class=\"button\" title=\"发表新主题\"><span>发表新主题</span></a>\n{pages}</div>\n",
        view.href(Route::NewThread(board))
    );
    out.push_str(&bar);
    let (sticky, other): (Vec<&Row>, Vec<&Row>) = list.rows.iter().partition(|row| row.sticky);
    for (rows, class, head) in [(sticky, "forumbg announcement", "公告"), (other, "forumbg", "主题")] {
        if rows.is_empty() && head == "公告" {
            continue;
        }
        let _ = write!(
            out,
            "<div class=\"{class}\"><div class=\"inner\"><ul class=\"topiclist\"><li class=\"header\"><dl class=\"row-item\"><dt><div class=\"list-inner\">{head}</div></dt><dd class=\"posts\">回复</dd><dd class=\"views\">查看</dd><dd class=\"lastpost\"><span>最新帖子</span></dd></dl></li></ul>\n<ul class=\"topiclist topics\">\n"
        );
        for row in rows {
            line(view, row, &mut out);
        }
        out.push_str("</ul></div></div>\n");
    }
    out.push_str(&bar.replace("bar-top", "bar-bottom"));
    if view.traps().sorts {
        let _ = writeln!(
            out,
            "<p class=\"jumpbox-return\">排序 {}</p>",
            view.link(Route::Sorted { board, page: 1 }, "回复")
        );
    }
    frame(view, name, &crumb(view, board), &out)
}

fn line(view: &View, row: &Row, out: &mut String) {
    let to = |page| view.href(Route::Thread { thread: row.thread, page });
    let class = if row.sticky { "row bg1 sticky" } else { ["row bg1", "row bg2"][row.thread % 2] };
    let icon = if row.sticky { "sticky_read" } else { "topic_read" };
    let _ = writeln!(
        out,
        "<li class=\"{class}\"><dl class=\"row-item {icon}\"><dt title=\"没有未读帖子\"><div class=\"list-inner\"><a href=\"{}\" class=\"topictitle\">{}</a><br />",
        to(1),
        row.title
    );
    if row.pages > 1 {
        out.push_str("<div class=\"pagination\"><ul>");
        for page in (1..=row.pages).filter(|&page| page == 1 || page + 3 > row.pages) {
            let _ = write!(out, "<li><a class=\"button\" href=\"{}\">{page}</a></li>", to(page));
        }
        out.push_str("</ul></div>");
    }
    let _ = write!(
        out,
        "<div class=\"topic-poster\">由 {} &raquo; {}</div></div></dt>\n<dd class=\"posts\">{} <dfn>回复</dfn></dd><dd class=\"views\">{} <dfn>查看</dfn></dd>\n\
         <dd class=\"lastpost\"><span><dfn>最新帖子 </dfn>由 {} {}<br />{}</span></dd></dl></li>\n",
        view.user_link(row.first.user, "username"),
        view.time(Time::Words, row.first.at),
        row.replies(),
        row.views,
        view.user_link(row.last.user, "username"),
        last_post(view, row),
        view.time(Time::Words, row.last.at),
    );
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let printer = match view.traps().printers {
        true => format!(
            "<a href=\"{}\" title=\"打印预览\" rel=\"nofollow\"><span>打印预览</span></a>",
            view.href(Route::Printer(thread))
        ),
        false => String::new(),
    };
    let bar = format!(
        "<div class=\"action-bar bar-top\"><a href=\"{}\" class=\"button\" title=\"回复\"><span>回复</span></a> {printer}\n{}</div>\n",
        view.href(Route::Reply(thread)),
        pager(view, &format!("{} 篇帖子", row.posts), page, row.pages, to)
    );
    let mut out = format!("<h2 class=\"topic-title\"><a href=\"{}\">{}</a></h2>\n{bar}", view.href(to(1)), row.title);
    for post in view.posts(thread, page) {
        let pid = post_id(post.number);
        let href = match view.traps().permalinks {
            true => view.part(Route::Post(post.number), &format!("p{pid}")),
            false => format!("#p{pid}"),
        };
        let profile = view.href(Route::Profile(post.user));
        let _ = write!(
            out,
            "<div id=\"p{pid}\" class=\"post has-profile bg{}\"><div class=\"inner\">\n<dl class=\"postprofile\" id=\"profile{pid}\"><dt class=\"has-avatar no-profile-rank\"><div class=\"avatar-container\"><a href=\"{profile}\" class=\"avatar\"><img class=\"avatar\" src=\"./download/file.php?avatar={}.png\" alt=\"用户头像\" /></a></div>{}</dt><dd class=\"profile-posts\"><strong>帖子:</strong> {}</dd><dd class=\"profile-joined\"><strong>注册时间:</strong> {}</dd></dl>\n\
             <div class=\"postbody\"><div id=\"post_content{pid}\"><h3{}><a href=\"{href}\">{}{}</a></h3>\n<p class=\"author\"><a class=\"unread\" href=\"{href}\" title=\"帖子\"><span class=\"sr-only\">帖子</span></a><span class=\"responsive-hide\">由 <strong>{}</strong> &raquo; </span>{}</p>\n<div class=\"content\">",
            1 + post.floor % 2,
            post.user,
            view.user_link(post.user, "username"),
            post.user % 600,
            view.time(Time::Words, view.forum.spec.activity.start - 86_400 * (1 + post.user as i64 % 900)),
            if post.floor == 1 { " class=\"first\"" } else { "" },
            if post.floor == 1 { "" } else { "Re: " },
            row.title,
            view.user_link(post.user, "username"),
            view.time(Time::Words, post.at),
        );
        if let Some(quote) = &post.quote {
            let _ = writeln!(
                out,
                "<blockquote><div><cite>{} 写了： <a href=\"{}\" data-post-id=\"{}\">↑</a><span class=\"responsive-hide\">{}</span></cite>{}</div></blockquote>",
                view.user(quote.user),
                view.permalink(quote.number),
                post_id(quote.number),
                view.time(Time::Words, quote.at),
                quote.text
            );
        }
        let _ = writeln!(out, "{}</div>", post.text.join("<br>\n<br>\n"));
        if let Some(motto) = post.motto {
            let _ = writeln!(out, "<div id=\"sig{pid}\" class=\"signature\">{motto}</div>");
        }
        out.push_str("</div></div>\n<div class=\"back2top\"><a href=\"#top\" class=\"top\" title=\"页首\">页首</a></div></div></div>\n<hr class=\"divider\" />\n");
    }
    out.push_str(&bar.replace("bar-top", "bar-bottom"));
    let _ = writeln!(
        out,
        "<p class=\"jumpbox-return\"><a href=\"{}\" class=\"left-box arrow-left\"><span>返回 {}</span></a></p>",
        view.href(Route::Index { board, page: 1 }),
        view.board_name(board)
    );
    frame(view, row.title, &crumb(view, board), &out)
}

const CSS: &str = "body{font:13px Verdana,sans-serif;background:#f5f7fa}.wrap{max-width:1152px;margin:0 auto;background:#fff;padding:15px;border:1px solid #e6e9ed}.headerbar{background:#12a3eb;color:#fff;padding:5px}ul{list-style:none;margin:0;padding:0}.linklist li{display:inline;margin-right:8px}.forabg,.forumbg{background:#0d7ab8;padding:5px;margin-bottom:4px;border-radius:7px}.header{color:#fff}.row{background:#ecf1f3;border-bottom:1px solid #fff}dl{display:flex;margin:0;padding:4px}dt{flex:1}dd{width:80px;margin:0;text-align:center}dd.lastpost{width:25%;text-align:left}dfn,.sr-only{display:none}.pagination li{display:inline;margin:2px}.post{background:#ecf3f7;padding:8px;overflow:hidden}.postprofile{float:right;width:20%;display:block;border-left:1px solid #fff}.postprofile dd{width:auto;text-align:left}.postbody{width:76%}blockquote{border:1px solid #ccc;padding:5px}.signature{border-top:1px solid #ccc;margin-top:20px}.topic-poster{font-size:11px}";
