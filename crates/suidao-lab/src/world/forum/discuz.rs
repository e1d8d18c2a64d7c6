//! Pages as Discuz writes them, with its parameters in the URL or with the URL rewritten.

use std::fmt::Write as _;

use super::address::{post_id, thread_id};
use super::functional::charset;
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Skin, Style};
use super::times::Style as Time;
use super::view::{Row, View};

const DYNAMIC_URLS: &[Pattern] = &[
    (Form::Home, "/forum.php"),
    (Form::Home, "/"),
    (Form::Index, "/forum.php?mod=forumdisplay&fid={b}"),
    (Form::IndexPage, "/forum.php?mod=forumdisplay&fid={b}&page={p}"),
    (Form::Sorted, "/forum.php?mod=forumdisplay&fid={b}&filter=reply&orderby=replies&page={p}"),
    (Form::Thread, "/forum.php?mod=viewthread&tid={t}"),
    (Form::ThreadPage, "/forum.php?mod=viewthread&tid={t}&page={p}"),
    (Form::LastPost, "/forum.php?mod=redirect&tid={t}&goto=lastpost"),
    (Form::Post, "/forum.php?mod=redirect&goto=findpost&ptid={t}&pid={q}"),
    (Form::Printer, "/forum.php?mod=viewthread&action=printable&tid={t}"),
    (Form::ByUser, "/forum.php?mod=viewthread&tid={t}&page=1&authorid={u}"),
    (Form::Profile, "/home.php?mod=space&uid={u}"),
    (Form::Members, "/home.php?mod=list&page={p}"),
    (Form::Search, "/search.php?mod=forum&searchid={n}"),
    (Form::Login, "/member.php?mod=logging&action=login"),
    (Form::Register, "/member.php?mod=register"),
    (Form::Help, "/misc.php?mod=faq"),
    (Form::Reply, "/forum.php?mod=post&action=reply&tid={t}"),
    (Form::NewThread, "/forum.php?mod=post&action=newthread&fid={b}"),
    (Form::Feed, "/forum.php?mod=rss&fid={b}"),
];

const STATIC_URLS: &[Pattern] = &[
    (Form::Home, "/"),
    (Form::Home, "/forum.php"),
    (Form::Index, "/forum-{b}-1.html"),
    (Form::IndexPage, "/forum-{b}-{p}.html"),
    (Form::Sorted, "/forum.php?mod=forumdisplay&fid={b}&filter=reply&orderby=replies&page={p}"),
    (Form::Thread, "/thread-{t}-1-1.html"),
    (Form::ThreadPage, "/thread-{t}-{p}-{n}.html"),
    (Form::LastPost, "/forum.php?mod=redirect&tid={t}&goto=lastpost"),
    (Form::Post, "/forum.php?mod=redirect&goto=findpost&ptid={t}&pid={q}"),
    (Form::Printer, "/forum.php?mod=viewthread&action=printable&tid={t}"),
    (Form::ByUser, "/forum.php?mod=viewthread&tid={t}&page=1&authorid={u}"),
    (Form::Profile, "/space-uid-{u}.html"),
    (Form::Members, "/home.php?mod=list&page={p}"),
    (Form::Search, "/search.php?mod=forum&searchid={n}"),
    (Form::Login, "/member.php?mod=logging&action=login"),
    (Form::Register, "/member.php?mod=register"),
    (Form::Help, "/misc.php?mod=faq"),
    (Form::Reply, "/forum.php?mod=post&action=reply&tid={t}"),
    (Form::NewThread, "/forum.php?mod=post&action=newthread&fid={b}"),
    (Form::Feed, "/forum.php?mod=rss&fid={b}"),
];

pub(super) const DYNAMIC: Style = Style { urls: DYNAMIC_URLS, prefix: "", ..Style::PLAIN };
pub(super) const STATIC: Style = Style { urls: STATIC_URLS, gbk: true, ..DYNAMIC };

/// How many of the newest threads count as new.
const HOT: u32 = 20;

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let site = view.title();
    let (home, member) = (view.href(Route::Home), view.href(Route::Login));
    format!(
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n\
         <html xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset={charset}\" />\n\
         <title>{title} - {site} - Powered by Discuz!</title>\n<meta name=\"generator\" content=\"Discuz! X3.4\" />\n<style>{CSS}</style>\n</head>\n\
         <body id=\"nv_forum\" class=\"pg_forumdisplay\">\n<div id=\"toptb\" class=\"cl\"><div class=\"wp\">\n\
         <div class=\"z\"><a href=\"javascript:;\">设为首页</a> <a href=\"javascript:;\">收藏本站</a></div>\n\
         <div class=\"y\"><a href=\"{member}\">登录</a> {register}</div></div></div>\n\
         <div id=\"hd\"><div class=\"wp\"><h2><a href=\"{home}\" title=\"{site}\">{site}</a></h2>\n\
         <div id=\"nv\"><ul><li class=\"a\"><a href=\"{home}\" hidefocus=\"true\">论坛</a></li><li>{members}</li><li>{search}</li><li>{help}</li></ul></div></div></div>\n\
         <div id=\"wp\" class=\"wp\">\n<div id=\"pt\" class=\"bm cl\"><div class=\"z\"><a href=\"{home}\" class=\"nvhm\" title=\"首页\">{site}</a><em>&rsaquo;</em><a href=\"{home}\">论坛</a>{crumbs}</div></div>\n\
         {body}</div>\n<div id=\"ft\" class=\"wp cl\"><div id=\"flk\" class=\"y\"><p>{help}<span class=\"pipe\">|</span><a href=\"javascript:;\">手机版</a><span class=\"pipe\">|</span><strong><a href=\"{home}\">{site}</a></strong></p>\n\
         <p class=\"xs0\">GMT+8, {now} , Processed in 0.031250 second(s), 6 queries .</p></div></div>\n</body>\n</html>\n",
        charset = charset(view),
        register = view.link(Route::Register, "立即注册"),
        members = view.link(Route::Members(1), "会员"),
        search = view.link(Route::Search(0), "搜索"),
        help = view.link(Route::Help, "帮助"),
        now = view.time(Time::Plain, view.now),
    )
}

/// A time in words, with the whole of it in the title while it is young.
fn time(view: &View, at: i64) -> String {
    let (full, shown) = (view.time(Time::Plain, at), view.time(Time::Ago, at));
    if full == shown { format!("<span>{full}</span>") } else { format!("<span title=\"{full}\">{shown}</span>") }
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::new();
    for (group, (name, boards)) in view.categories().into_iter().enumerate() {
        let _ = write!(
            out,
            "<div class=\"fl bm\"><div class=\"bm bmw cl\">\n<div class=\"bm_h cl\"><h2>{name}</h2></div>\n\
             <div id=\"category_{group}\" class=\"bm_c\"><table cellspacing=\"0\" cellpadding=\"0\" class=\"fl_tb\">\n"
        );
        for board in boards {
            let href = view.href(Route::Index { board: board.board, page: 1 });
            let _ = write!(
                out,
                "<tr class=\"fl_row\"><td class=\"fl_icn\"><a href=\"{href}\"><img src=\"static/image/common/forum.gif\" alt=\"{name}\" /></a></td>\n\
                 <td><h2><a href=\"{href}\">{name}</a><em class=\"xw0 xi1\" title=\"今日\"> ({today})</em></h2><p class=\"xg2\">{about}</p>",
                name = board.name,
                about = board.about,
                today = board.threads % 10,
            );
            if !board.inner.is_empty() {
                out.push_str("<p>子版块: ");
                for &inner in &board.inner {
                    out.push_str(&view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner)));
                }
                out.push_str("</p>");
            }
            let moderators = board.moderators.map(|user| view.user_link(user, "notabs"));
            let _ = write!(
                out,
                "<p>版主: <span class=\"xi2\">{}</span></p></td>\n<td class=\"fl_i\"><span class=\"xi2\">{}</span><span class=\"xg1\"> / {}</span></td>\n<td class=\"fl_by\"><div>",
                moderators.join(", "),
                board.threads,
                board.posts
            );
            match board.last {
                Some(last) if view.traps().last_posts => {
                    let href = view.part(Route::LastPost(last.thread), "lastpost");
                    let _ = write!(
                        out,
                        "<a href=\"{href}\" class=\"xi2\">{}</a> <cite>{} {}</cite>",
                        last.title,
                        time(view, last.last.at),
                        view.user_link(last.last.user, "")
                    );
                }
                Some(last) => out.push_str(&time(view, last.last.at)),
                None => out.push_str("从未"),
            }
            out.push_str("</div></td></tr>\n");
        }
        out.push_str("</table></div></div></div>\n");
    }
    frame(view, "论坛", "", &out)
}

/// Page links: `1 2 3 ... 12 下一页`.
fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    if pages < 2 {
        return String::new();
    }
    let mut out = String::from("<div class=\"pg\">");
    if page > 1 {
        let _ = write!(out, "<a href=\"{}\" class=\"prev\">&nbsp;&nbsp;</a>", view.href(to(page - 1)));
    }
    let from = page.saturating_sub(4).max(1);
    for at in from..=pages.min(from + 9) {
        if at == page {
            let _ = write!(out, "<strong>{at}</strong>");
        } else {
            let _ = write!(out, "<a href=\"{}\">{at}</a>", view.href(to(at)));
        }
    }
    if pages > from + 9 {
        let _ = write!(out, "<a href=\"{}\" class=\"last\">... {pages}</a>", view.href(to(pages)));
    }
    let _ = write!(
        out,
        "<label><input type=\"text\" name=\"custompage\" class=\"px\" size=\"2\" value=\"{page}\" /><span> / {pages} 页</span></label>"
    );
    if page < pages {
        let _ = write!(out, "<a href=\"{}\" class=\"nxt\">下一页</a>", view.href(to(page + 1)));
    }
    out + "</div>\n"
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let (board, page) = (list.board, list.page);
    let name = view.board_name(board);
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let pages = pager(view, page, list.pages, to);
    let crumbs = format!("<em>&rsaquo;</em>{}", view.link(Route::Index { board, page: 1 }, name));
    let summary = view.summary(board);
    let post = view.href(Route::NewThread(board));
    let mut out = format!(
        "<div class=\"boardnav\"><div id=\"ct\" class=\"wp cl\"><div class=\"mn\">\n<div class=\"bm bml\"><div class=\"bm_h cl\">\
         <h1 class=\"xs2\"><a href=\"{}\">{name}</a><span class=\"xs1 xw0 i\">今日: <strong class=\"xi1\">{}</strong><span class=\"pipe\">|</span>主题: <strong>{}</strong></span></h1>{}</div></div>\n",
        view.href(Route::Index { board, page: 1 }),
        summary.threads % 10,
        summary.threads,
        view.link(Route::Feed(board), "订阅"),
    );
    if !summary.inner.is_empty() {
        out.push_str("<div class=\"bm bmw fl\"><div class=\"bm_h cl\"><h2>子版块</h2></div><table class=\"fl_tb\">\n");
        for inner in summary.inner {
            let link = view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner));
            let _ = writeln!(
                out,
                "<tr><td><h2>{link}</h2><p class=\"xg2\">{}</p></td></tr>",
                view.forum.boards[inner].about
            );
        }
        out.push_str("</table></div>\n");
    }
    let sorts = match view.traps().sorts {
        true => format!(
            "{}&nbsp;{}",
            view.link(Route::Index { board, page: 1 }, "最新"),
            view.link(Route::Sorted { board, page: 1 }, "热门")
        ),
        false => String::new(),
    };
    let _ = write!(
        out,
        "<div id=\"pgt\" class=\"bm bw0 pgs cl\">{pages}<a href=\"{post}\" id=\"newspecial\" title=\"发新帖\">发帖</a></div>\n\
         <div id=\"threadlist\" class=\"tl bm bmw\"><div class=\"th\"><table cellspacing=\"0\" cellpadding=\"0\"><tr><th colspan=\"2\"><div class=\"tf\">全部主题 {sorts}</div></th><td class=\"by\">作者</td><td class=\"num\">回复/查看</td><td class=\"by\">最后发表</td></tr></table></div>\n\
         <div class=\"bm_c\"><form method=\"post\" name=\"moderate\"><table summary=\"forum_{board}\" cellspacing=\"0\" cellpadding=\"0\" id=\"threadlisttableid\">\n"
    );
    let mut sticky = true;
    for row in &list.rows {
        if sticky && !row.sticky && page == 1 {
            out.push_str("<tbody id=\"separatorline\"><tr class=\"ts\"><td>&nbsp;</td><th>版块主题</th><td>&nbsp;</td><td>&nbsp;</td><td>&nbsp;</td></tr></tbody>\n");
        }
        sticky = row.sticky;
        line(view, row, page, &mut out);
    }
    let _ = write!(
        out,
        "</table></form></div></div>\n<div class=\"bm bw0 pgs cl\">{pages}<a href=\"{post}\">发帖</a></div>\n</div></div></div>\n"
    );
    frame(view, name, &crumbs, &out)
}

/// The link to a page of a thread, from this page of the list.
fn thread_href(view: &View, thread: usize, page: u32, trail: u32) -> String {
    let more = format!("extra=page%3D{trail}");
    let dynamic = view.forum.spec.skin == Skin::Discuz;
    view.address(Route::Thread { thread, page }, if dynamic && view.traps().trails { &more } else { "" })
}

fn line(view: &View, row: &Row, trail: u32, out: &mut String) {
    let tid = thread_id(row.thread);
    let (id, mark) = match row.sticky {
        true => {
            ("stickthread", "<img src=\"static/image/common/pin_1.gif\" alt=\"本版置顶\" title=\"本版置顶主题\" />")
        }
        false => ("normalthread", "<img src=\"static/image/common/folder_common.gif\" />"),
    };
    let href = thread_href(view, row.thread, 1, trail);
    let _ = write!(
        out,
        "<tbody id=\"{id}_{tid}\">\n<tr><td class=\"icn\"><a href=\"{href}\" title=\"新窗口打开\" target=\"_blank\">{mark}</a></td>\n\
         <th class=\"{}\"><a href=\"{href}\" class=\"s xst\">{}</a>",
        if row.sticky { "common" } else { "new" },
        row.title
    );
    if row.replies() >= HOT {
        out.push_str(" <img src=\"static/image/filetype/image_s.gif\" alt=\"attach_img\" title=\"图片附件\" />");
    }
    if row.pages > 1 {
        out.push_str("<span class=\"tps\">&nbsp;...");
        for page in (2..=row.pages).filter(|page| *page <= 6 || *page == row.pages) {
            let _ = write!(out, "<a href=\"{}\">{page}</a>", thread_href(view, row.thread, page, trail));
        }
        out.push_str("</span>");
    }
    let last = if view.traps().last_posts {
        let shown = time(view, row.last.at);
        format!("<a href=\"{}#lastpost\">{shown}</a>", view.href(Route::LastPost(row.thread)))
    } else {
        time(view, row.last.at)
    };
    let opened = view.time(Time::Plain, row.first.at);
    let _ = write!(
        out,
        "</th>\n<td class=\"by\"><cite>{}</cite><em><span>{}</span></em></td>\n<td class=\"num\"><a href=\"{href}\" class=\"xi2\">{}</a><em>{}</em></td>\n\
         <td class=\"by\"><cite>{}</cite><em>{last}</em></td></tr>\n</tbody>\n",
        view.user_link(row.first.user, ""),
        opened.split(' ').next().unwrap_or_default(),
        row.replies(),
        row.views,
        view.user_link(row.last.user, ""),
    );
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let pages = pager(view, page, row.pages, to);
    let crumbs = format!(
        "<em>&rsaquo;</em>{}<em>&rsaquo;</em>{}",
        view.link(Route::Index { board, page: 1 }, view.board_name(board)),
        view.link(to(1), row.title)
    );
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "打印"),
        false => String::new(),
    };
    let reply = format!("<a href=\"{}\" id=\"post_reply\" title=\"回复\">回复</a>", view.href(Route::Reply(thread)));
    let mut out = format!(
        "<div id=\"ct\" class=\"wp cl\"><div id=\"pgt\" class=\"pgs mbm cl\">{pages}{reply}</div>\n<div id=\"postlist\" class=\"pl bm\">\n\
         <table cellspacing=\"0\" cellpadding=\"0\"><tr><td class=\"pls ptn pbn\"><div class=\"hm ptn\"><span class=\"xg1\">查看:</span> <span class=\"xi1\">{}</span><span class=\"pipe\">|</span><span class=\"xg1\">回复:</span> <span class=\"xi1\">{}</span></div></td>\n\
         <td class=\"plc ptm pbn vwthd\"><h1 class=\"ts\"><span id=\"thread_subject\">{}</span></h1> <span class=\"xg1\"><a href=\"{}\">[复制链接]</a> {printer}</span></td></tr></table>\n",
        row.views,
        row.replies(),
        row.title,
        view.href(to(1)),
    );
    let floors = ["楼主", "沙发", "板凳", "地板"];
    for post in view.posts(thread, page) {
        let (pid, user) = (post_id(post.number), view.user_link(post.user, "xw1"));
        let floor = match floors.get(post.floor as usize - 1) {
            Some(name) => (*name).to_owned(),
            None => format!("<em>{}</em><sup>#</sup>", post.floor),
        };
        let link = match view.traps().permalinks {
            true => format!("<a href=\"{}\" id=\"postnum{pid}\">{floor}</a>", view.href(Route::Post(post.number))),
            false => format!("<span>{floor}</span>"),
        };
        let profile = view.href(Route::Profile(post.user));
        let _ = write!(
            out,
            "<div id=\"post_{pid}\"><table id=\"pid{pid}\" class=\"plhin\" summary=\"pid{pid}\" cellspacing=\"0\" cellpadding=\"0\">\n\
             <tr><td class=\"pls\" rowspan=\"2\"><div class=\"pls favatar\"><div class=\"pi\"><div class=\"authi\">{user}</div></div>\n\
             <div class=\"avatar\"><a href=\"{profile}\" class=\"avtm\" target=\"_blank\"><img src=\"uc_server/avatar.php?uid={uid}&amp;size=middle\" /></a></div>\n\
             <div class=\"tns xg2\"><table><tr><th><p>{threads}</p>主题</th><th><p>{posts}</p>帖子</th><td><p>{credit}</p>积分</td></tr></table></div><p><em>高级会员</em></p></div></td>\n\
             <td class=\"plc\"><div class=\"pi\"><strong>{link}</strong>\n<div class=\"pti\"><div class=\"authi\"><img class=\"authicn vm\" src=\"static/image/common/online_member.gif\" /> <em id=\"authorposton{pid}\">发表于 {at}</em>{only}</div></div></div>\n\
             <div class=\"pct\"><div class=\"pcb\"><div class=\"t_fsz\"><table cellspacing=\"0\" cellpadding=\"0\"><tr><td class=\"t_f\" id=\"postmessage_{pid}\">\n",
            uid = post.user + 1,
            threads = post.user % 37,
            posts = post.user % 511,
            credit = post.user % 997,
            at = time(view, post.at),
            only = match view.traps().sorts {
                true => view.link(Route::ByUser { thread, user: post.user }, "只看该作者"),
                false => String::new(),
            },
        );
        if let Some(quote) = &post.quote {
            let _ = write!(
                out,
                "<div class=\"quote\"><blockquote><font size=\"2\"><a href=\"{}\" target=\"_blank\"><font color=\"#999999\">{} 发表于 {}</font></a></font><br />\n{}</blockquote></div><br />\n",
                view.permalink(quote.number),
                view.user(quote.user),
                view.time(Time::Plain, quote.at),
                quote.text
            );
        }
        let _ = writeln!(out, "{}</td></tr></table></div></div></div></td></tr>", post.text.join("<br />\n<br />\n"));
        let motto = post
            .motto
            .map_or(String::new(), |motto| format!("<div class=\"sign\" style=\"max-height:200px;\">{motto}</div>"));
        let _ = writeln!(
            out,
            "<tr><td class=\"plc plm\">{motto}<div class=\"po\"><div class=\"pob cl\"><em><a class=\"fastre\" href=\"{}\">回复</a></em></div></div></td></tr></table></div>",
            view.href(Route::Reply(thread))
        );
    }
    let _ = writeln!(out, "</div><div class=\"pgs mtm mbm cl\">{pages}{reply}</div></div>");
    out.push_str("<div class=\"sd\"><div class=\"bm\"><div class=\"bm_h\"><h2>热帖推荐</h2></div><ul>\n");
    for hot in view.hot(8) {
        let _ = writeln!(out, "<li>{}</li>", view.link(Route::Thread { thread: hot.thread, page: 1 }, hot.title));
    }
    out.push_str("</ul></div></div>\n");
    frame(view, &format!("{} - {}", row.title, view.board_name(board)), &crumbs, &out)
}

const CSS: &str = "body{font:12px/1.5 Tahoma,'Microsoft Yahei','Simsun'}.wp{margin:0 auto;width:960px}table{width:100%}.bm{border:1px solid #CDCDCD;margin-bottom:10px}.bm_h{background:#F2F2F2;padding:6px}.by{width:110px}.num{width:70px}.icn{width:25px}.pls{width:160px;background:#E5EDF2;vertical-align:top;padding:8px}.plc{padding:0 20px}.t_f{font-size:14px}.pg a,.pg strong{border:1px solid #ccc;padding:2px 6px}.quote{background:#F9F9F9;padding:6px}.sign{border-top:1px dashed #ccc}cite,em{font-style:normal;display:block}.tps a{display:inline}";
