//! Pages as XenForo writes them: slugs in the path, lists of blocks, times in elements of their own.

use std::fmt::Write as _;

use super::address::{board_id, post_id, thread_id};
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::times::Style as Time;
use super::view::{Row, Summary, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/"),
    (Form::Index, "/forum/{s}.{b}/"),
    (Form::IndexPage, "/forum/{s}.{b}/page-{p}"),
    (Form::Sorted, "/forum/{s}.{b}/?order=reply_count&direction=desc&page={p}"),
    (Form::Thread, "/threads/{s}.{t}/"),
    (Form::ThreadPage, "/threads/{s}.{t}/page-{p}"),
    (Form::LastPost, "/threads/{s}.{t}/latest"),
    (Form::Post, "/threads/{s}.{t}/post-{q}"),
    (Form::Profile, "/members/u.{u}/"),
    (Form::Members, "/members/list/?page={p}"),
    (Form::Search, "/search/{n}/"),
    (Form::Login, "/login/"),
    (Form::Register, "/register/"),
    (Form::Help, "/help/"),
    (Form::Reply, "/threads/{s}.{t}/reply"),
    (Form::NewThread, "/forum/{s}.{b}/post-thread"),
    (Form::Feed, "/forum/{s}.{b}/index.rss"),
];

pub(super) const STYLE: Style = Style { urls: URLS, wall: 403, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    format!(
        "<!DOCTYPE html>\n<html id=\"XF\" lang=\"zh-CN\" dir=\"LTR\" data-app=\"public\">\n<head>\n<meta charset=\"utf-8\" />\n<title>{title} | {site}</title>\n<style>{CSS}</style>\n</head>\n<body data-template=\"forum_view\">\n\
         <div class=\"p-pageWrapper\" id=\"top\">\n<header class=\"p-header\"><div class=\"p-header-logo\"><a href=\"{home}\">{site}</a></div></header>\n\
         <nav class=\"p-nav\"><ul class=\"p-nav-list\"><li><a href=\"{home}\" class=\"p-navEl-link\" data-nav-id=\"forums\">论坛</a></li><li>{search}</li><li>{members}</li></ul><div class=\"p-account\">{login} {register}</div></nav>\n\
         <div class=\"p-body\"><div class=\"p-body-inner\">\n<ul class=\"p-breadcrumbs\" itemscope itemtype=\"https://schema.org/BreadcrumbList\"><li itemprop=\"itemListElement\"><a href=\"{home}\"><span itemprop=\"name\">论坛</span></a></li>{crumbs}</ul>\n\
         <div class=\"p-body-header\"><div class=\"p-title\"><h1 class=\"p-title-value\">{title}</h1></div></div>\n{body}</div></div>\n\
         <footer class=\"p-footer\"><div class=\"p-footer-row\"><ul class=\"p-footer-linkList\"><li>{help}</li><li><a href=\"{home}\">首页</a></li></ul></div><div class=\"p-footer-copyright\">Community platform by XenForo<sup>&reg;</sup></div></footer>\n</div>\n</body>\n</html>\n",
        search = view.link(Route::Search(0), "搜索"),
        members = view.link(Route::Members(1), "会员"),
        login = view.link(Route::Login, "登录"),
        register = view.link(Route::Register, "注册"),
        help = view.link(Route::Help, "帮助"),
    )
}

fn crumb(view: &View, board: usize) -> String {
    let href = view.href(Route::Index { board, page: 1 });
    format!(
        "<li itemprop=\"itemListElement\"><a href=\"{href}\"><span itemprop=\"name\">{}</span></a></li>",
        view.board_name(board)
    )
}

fn time(view: &View, at: i64, class: &str) -> String {
    let iso = view.time(Time::Iso, at).replacen("+08:00", "+0800", 1);
    let title = view.time(Time::Padded, at);
    format!(
        "<time class=\"{class} u-dt\" dir=\"auto\" datetime=\"{iso}\" data-timestamp=\"{at}\" title=\"{title}\">{}</time>",
        view.time(Time::Weekday, at)
    )
}

fn node(view: &View, board: &Summary, out: &mut String) {
    let _ = write!(
        out,
        "<div class=\"node node--id{} node--forum\"><div class=\"node-body\"><span class=\"node-icon\"><i class=\"fa--xf far fa-comments\"></i></span>\n<div class=\"node-main\"><h3 class=\"node-title\"><a href=\"{}\" data-shortcut=\"node-description\">{}</a></h3><div class=\"node-description\">{}</div>\n",
        board_id(board.board),
        view.href(Route::Index { board: board.board, page: 1 }),
        board.name,
        board.about
    );
    if !board.inner.is_empty() {
        out.push_str("<div class=\"node-subNodesFlat\"><span class=\"node-subNodesLabel\">子版块:</span><ol class=\"node-subNodeFlatList\">");
        for &inner in &board.inner {
            let _ =
                write!(out, "<li>{}</li>", view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner)));
        }
        out.push_str("</ol></div>\n");
    }
    let _ = write!(
        out,
        "</div>\n<div class=\"node-stats\"><dl class=\"pairs pairs--rows\"><dt>主题</dt><dd>{}</dd></dl><dl class=\"pairs pairs--rows\"><dt>消息</dt><dd>{}</dd></dl></div>\n<div class=\"node-extra\">",
        short(board.threads as u64),
        short(board.posts.into())
    );
    if let Some(last) = &board.last {
        let to = if view.traps().last_posts {
            Route::Post(last.last_post)
        } else {
            Route::Thread { thread: last.thread, page: 1 }
        };
        let _ = write!(
            out,
            "<div class=\"node-extra-icon\"><a href=\"{}\" class=\"avatar avatar--xs\"><span>{}</span></a></div><div class=\"node-extra-row\"><a href=\"{}\" class=\"node-extra-title\" title=\"{}\">{}</a></div><div class=\"node-extra-row\"><ul class=\"listInline listInline--bullet\"><li>{}</li><li class=\"node-extra-user\">{}</li></ul></div>",
            view.href(Route::Profile(last.last.user as usize)),
            view.user(last.last.user).chars().next().unwrap_or('x'),
            view.href(to),
            last.title,
            last.title,
            time(view, last.last.at, "node-extra-date"),
            view.user_link(last.last.user, "username")
        );
    }
    out.push_str("</div></div></div>\n");
}

/// A number as people read it: 1.2K.
pub(super) fn short(number: u64) -> String {
    if number < 1_000 { number.to_string() } else { format!("{}.{}K", number / 1_000, number % 1_000 / 100) }
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::from(
        "<div class=\"p-body-main p-body-main--withSidebar\"><div class=\"p-body-content\"><div class=\"p-body-pageContent\">\n",
    );
    for (group, (name, boards)) in view.categories().into_iter().enumerate() {
        let _ = writeln!(
            out,
            "<div class=\"block block--category block--category{group}\"><span class=\"u-anchorTarget\" id=\"c{group}\"></span><div class=\"block-container\"><h2 class=\"block-header\"><a href=\"#c{group}\">{name}</a></h2><div class=\"block-body\">"
        );
        for board in &boards {
            node(view, board, &mut out);
        }
        out.push_str("</div></div></div>\n");
    }
    out.push_str("</div></div>\n<div class=\"p-body-sidebar\"><div class=\"block\"><div class=\"block-container\"><h3 class=\"block-minorHeader\">最新帖子</h3><ul class=\"block-body\">\n");
    for hot in view.hot(5) {
        let to = if view.traps().last_posts {
            Route::LastPost(hot.thread)
        } else {
            Route::Thread { thread: hot.thread, page: 1 }
        };
        let _ = writeln!(
            out,
            "<li class=\"block-row\"><div class=\"contentRow-main contentRow-main--close\">{}<div class=\"contentRow-minor contentRow-minor--hideLinks\"><ul class=\"listInline\"><li>最新: {}</li><li>{}</li></ul></div></div></li>",
            view.link(to, hot.title),
            view.user(hot.last.user),
            time(view, hot.last.at, "")
        );
    }
    let (threads, posts) = view.totals();
    let _ = writeln!(
        out,
        "</ul></div></div><div class=\"block\"><h3 class=\"block-minorHeader\">论坛统计</h3><dl class=\"pairs pairs--justified\"><dt>主题</dt><dd>{threads}</dd></dl><dl class=\"pairs pairs--justified\"><dt>消息</dt><dd>{posts}</dd></dl></div></div></div>"
    );
    frame(view, view.title(), "", &out)
}

fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    if pages < 2 {
        return String::new();
    }
    let mut out = String::from("<div class=\"block-outer-main\"><nav class=\"pageNavWrapper\"><div class=\"pageNav\">");
    if page > 1 {
        let _ =
            write!(out, "<a href=\"{}\" class=\"pageNav-jump pageNav-jump--prev\">上一页</a>", view.href(to(page - 1)));
    }
    out.push_str("<ul class=\"pageNav-main\">");
    let mut before = 0;
    for at in (1..=pages).filter(|at| *at == 1 || *at == pages || at.abs_diff(page) <= 2) {
        if at > before + 1 {
            out.push_str(
                "<li class=\"pageNav-page pageNav-page--skip\"><a data-xf-init=\"tooltip\" title=\"前往\">…</a></li>",
            );
        }
        before = at;
        let class = if at == page { " pageNav-page--current" } else { "" };
        let _ = write!(out, "<li class=\"pageNav-page{class}\"><a href=\"{}\">{at}</a></li>", view.href(to(at)));
    }
    out.push_str("</ul>");
    if page < pages {
        let _ =
            write!(out, "<a href=\"{}\" class=\"pageNav-jump pageNav-jump--next\">下一页</a>", view.href(to(page + 1)));
    }
    out + "</div></nav></div>\n"
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let summary = view.summary(board);
    let mut out = String::new();
    if !summary.inner.is_empty() {
        out.push_str("<div class=\"block\"><div class=\"block-container\"><div class=\"block-body\">\n");
        for &inner in &summary.inner {
            node(view, &view.summary(inner), &mut out);
        }
        out.push_str("</div></div></div>\n");
    }
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let pages = pager(view, list.page, list.pages, to);
    let sorts = match view.traps().sorts {
        true => view.link(Route::Sorted { board, page: 1 }, "回复数"),
        false => String::new(),
    };
    let _ = write!(
        out,
        "<div class=\"block\" data-type=\"thread\"><div class=\"block-outer\">{pages}<div class=\"block-outer-opposite\"><a href=\"{}\" class=\"button--cta button\">发布主题</a> {}</div></div>\n<div class=\"block-container\"><div class=\"block-filterBar\">筛选 {sorts}</div><div class=\"block-body\"><div class=\"structItemContainer\">\n",
        view.href(Route::NewThread(board)),
        view.link(Route::Feed(board), "RSS")
    );
    let sticky = list.rows.iter().take_while(|row| row.sticky).count();
    for (rows, class) in
        [(&list.rows[..sticky], "structItemContainer-group--sticky"), (&list.rows[sticky..], "js-threadList")]
    {
        if !rows.is_empty() {
            let _ = writeln!(out, "<div class=\"structItemContainer-group {class}\">");
            rows.iter().for_each(|row| item(view, row, &mut out));
            out.push_str("</div>\n");
        }
    }
    let _ = writeln!(out, "</div></div></div><div class=\"block-outer block-outer--after\">{pages}</div></div>");
    frame(view, summary.name, &crumb(view, board), &out)
}

fn item(view: &View, row: &Row, out: &mut String) {
    let to = |page| view.href(Route::Thread { thread: row.thread, page });
    let author = view.user(row.first.user);
    let _ = write!(
        out,
        "<div class=\"structItem structItem--thread js-threadListItem-{}\" data-author=\"{author}\"><div class=\"structItem-cell structItem-cell--icon\"><a href=\"{}\" class=\"avatar avatar--s\"><span>{}</span></a></div>\n<div class=\"structItem-cell structItem-cell--main\">",
        thread_id(row.thread),
        view.href(Route::Profile(row.first.user as usize)),
        author.chars().next().unwrap_or('x')
    );
    if row.sticky {
        out.push_str("<ul class=\"structItem-statuses\"><li><i class=\"structItem-status structItem-status--sticky\" title=\"置顶\"></i><span class=\"u-srOnly\">置顶</span></li></ul>");
    }
    let _ = write!(
        out,
        "<div class=\"structItem-title\"><a href=\"{}\" data-tp-primary=\"on\">{}</a></div><div class=\"structItem-minor\"><ul class=\"structItem-parts\"><li>{}</li><li class=\"structItem-startDate\"><a href=\"{}\" rel=\"nofollow\">{}</a></li></ul>",
        to(1),
        row.title,
        view.user_link(row.first.user, "username"),
        to(1),
        time(view, row.first.at, "")
    );
    if row.pages > 1 {
        out.push_str("<span class=\"structItem-pageJump\">");
        for page in (2..=row.pages).filter(|&page| page + 3 > row.pages) {
            let _ = write!(out, "<a href=\"{}\">{page}</a>", to(page));
        }
        out.push_str("</span>");
    }
    let latest = match view.traps().last_posts {
        true => format!(
            "<a href=\"{}\" rel=\"nofollow\">{}</a>",
            view.href(Route::LastPost(row.thread)),
            time(view, row.last.at, "structItem-latestDate")
        ),
        false => time(view, row.last.at, "structItem-latestDate"),
    };
    let _ = write!(
        out,
        "</div></div>\n<div class=\"structItem-cell structItem-cell--meta\" title=\"首条消息反应数: 0\"><dl class=\"pairs pairs--justified\"><dt>回复</dt><dd>{}</dd></dl><dl class=\"pairs pairs--justified structItem-minor\"><dt>查看</dt><dd>{}</dd></dl></div>\n\
         <div class=\"structItem-cell structItem-cell--latest\">{latest}<div class=\"structItem-minor\">{}</div></div></div>\n",
        short(row.replies().into()),
        short(row.views),
        view.user_link(row.last.user, "username")
    );
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let pages = pager(view, page, row.pages, to);
    let mut out = format!(
        "<div class=\"p-description\"><ul class=\"listInline listInline--bullet\"><li>主题发起人 {}</li><li>发布时间 <a href=\"{}\">{}</a></li></ul></div>\n\
         <div class=\"block block--messages\"><div class=\"block-outer\">{pages}</div><div class=\"block-container lbContainer\"><div class=\"block-body js-replyNewMessageContainer\">\n",
        view.user_link(row.first.user, "username"),
        view.href(to(1)),
        time(view, row.first.at, "")
    );
    for post in view.posts(thread, page) {
        let (pid, name) = (post_id(post.number), view.user(post.user));
        let link = match view.traps().permalinks {
            true => view.href(Route::Post(post.number)),
            false => format!("#post-{pid}"),
        };
        let _ = write!(
            out,
            "<article class=\"message message--post js-post\" data-author=\"{name}\" data-content=\"post-{pid}\" id=\"js-post-{pid}\">\n<span class=\"u-anchorTarget\" id=\"post-{pid}\"></span>\n<div class=\"message-inner\">\n\
             <div class=\"message-cell message-cell--user\"><section class=\"message-user\"><div class=\"message-avatar\"><a href=\"{}\" class=\"avatar avatar--m\"><span>{}</span></a></div><div class=\"message-userDetails\"><h4 class=\"message-name\">{}</h4><h5 class=\"userTitle message-userTitle\">会员</h5></div><div class=\"message-userExtras\"><dl class=\"pairs pairs--justified\"><dt>消息</dt><dd>{}</dd></dl></div></section></div>\n\
             <div class=\"message-cell message-cell--main\"><div class=\"message-main js-quickEditTarget\"><header class=\"message-attribution message-attribution--split\"><ul class=\"message-attribution-main listInline\"><li class=\"u-concealed\"><a href=\"{link}\" rel=\"nofollow\">{}</a></li></ul><ul class=\"message-attribution-opposite\"><li><a href=\"{link}\" rel=\"nofollow\">#{}</a></li></ul></header>\n\
             <div class=\"message-content js-messageContent\"><div class=\"message-userContent lbContainer\"><article class=\"message-body js-selectToQuote\"><div class=\"bbWrapper\">",
            view.href(Route::Profile(post.user)),
            name.chars().next().unwrap_or('x'),
            view.user_link(post.user, "username"),
            post.user % 900,
            time(view, post.at, ""),
            post.floor
        );
        if let Some(quote) = &post.quote {
            let _ = writeln!(
                out,
                "<blockquote class=\"bbCodeBlock bbCodeBlock--expandable bbCodeBlock--quote\"><div class=\"bbCodeBlock-title\"><a href=\"{}\" class=\"bbCodeBlock-sourceJump\" rel=\"nofollow\">{} 说:</a></div><div class=\"bbCodeBlock-content\"><div class=\"bbCodeBlock-expandContent\">{}</div></div></blockquote>",
                view.permalink(quote.number),
                view.user(quote.user),
                quote.text
            );
        }
        let motto = post.motto.map_or(String::new(), |motto| {
            format!("<aside class=\"message-signature\"><div class=\"bbWrapper\">{motto}</div></aside>")
        });
        let _ = write!(
            out,
            "{}</div></article></div>{motto}</div>\n<footer class=\"message-footer\"><div class=\"actionBar\"><a href=\"{}\" class=\"actionBar-action actionBar-action--reply\" rel=\"nofollow\">回复</a></div></footer></div></div></div></article>\n",
            post.text.join("<br />\n<br />\n"),
            view.href(Route::Reply(thread))
        );
    }
    let _ = writeln!(out, "</div></div><div class=\"block-outer block-outer--after\">{pages}</div></div>");
    frame(view, row.title, &crumb(view, board), &out)
}

const CSS: &str = "body{font:15px 'Segoe UI',sans-serif;background:#edf6fd;margin:0}.p-header,.p-nav{background:#185886;color:#fff;padding:8px}.p-header a,.p-nav a{color:#fff}ul,ol{list-style:none;padding:0;margin:0}.p-nav-list li,.listInline li,.pageNav-main li,.p-breadcrumbs li{display:inline-block;margin-right:8px}.p-body-inner{max-width:1200px;margin:0 auto;padding:10px}.p-body-main--withSidebar{display:flex}.p-body-content{flex:1}.p-body-sidebar{width:250px;margin-left:20px}.block-container{background:#fefefe;border:1px solid #d8d8d8;margin-bottom:12px}.block-header{background:#edf6fd;margin:0;padding:6px}.node-body,.structItem,.message-inner{display:flex;border-bottom:1px solid #ddd;padding:6px}.node-main,.structItem-cell--main,.message-cell--main{flex:1}.node-extra,.structItem-cell--latest{width:180px}.node-stats,.structItem-cell--meta{width:130px}.message-cell--user{width:150px;background:#fafafa}.structItemContainer-group--sticky{background:#fffbe6}.structItem-minor{font-size:12px}.avatar{background:#ccc;padding:6px;border-radius:50%}dl.pairs{display:flex;margin:0}dl.pairs dd{margin-left:8px}.u-srOnly{display:none}.bbCodeBlock{background:#f5faff;border-left:3px solid #2577b1;margin:4px;padding:6px}.message-signature{border-top:1px solid #ddd;font-size:12px;margin-top:8px}";
