//! Pages as Baidu Tieba writes them: the board is a name in the query, lists count threads and not pages, and dates are as
//! short as they can be.

use std::fmt::Write as _;

use super::address::{post_id, thread_id};
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::times::Style as Time;
use super::view::{Row, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/"),
    (Form::Index, "/f?kw={k}"),
    (Form::IndexPage, "/f?kw={k}&ie=utf-8&pn={o}"),
    (Form::Index, "/f?kw={k}&ie=utf-8"),
    (Form::Sorted, "/f/good?kw={k}&pn={o}"),
    (Form::Thread, "/p/{t}"),
    (Form::ThreadPage, "/p/{t}?pn={p}"),
    (Form::ByUser, "/p/{t}?see_lz={u}"),
    (Form::Post, "/p/{t}?pid={q}"),
    (Form::Profile, "/home/main?id={u}"),
    (Form::Members, "/bawu2/platform/listMember?pn={p}"),
    (Form::Search, "/f/search/res?qw={n}"),
    (Form::Login, "/passport/login"),
    (Form::Register, "/passport/reg"),
    (Form::Help, "/tb/help.html"),
    (Form::Reply, "/p/{t}/reply"),
    (Form::NewThread, "/f/new?kw={k}"),
];

pub(super) const STYLE: Style = Style { urls: URLS, redirects: false, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, _: &str, body: &str) -> String {
    let (site, home) = (view.title(), view.href(Route::Home));
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"UTF-8\">\n<title>{title}_{site}</title>\n<style>{CSS}</style>\n</head>\n<body class=\"skin_normal\">\n\
         <div id=\"local_flash_cnt\"></div><div class=\"wrap1\"><div class=\"wrap2\">\n<div id=\"head\" class=\"search_bright clearfix\"><div class=\"search_nav\"><a href=\"{home}\">贴吧</a> {search} {help}</div><ul class=\"u_menu\"><li class=\"u_login\">{login}</li><li>{register}</li></ul></div>\n\
         {body}<div class=\"footer\" id=\"footer\"><span>©2009 {site}</span> {help}</div>\n</div></div>\n</body>\n</html>\n",
        search = view.link(Route::Search(0), "搜贴"),
        help = view.link(Route::Help, "贴吧协议"),
        login = view.link(Route::Login, "登录"),
        register = view.link(Route::Register, "注册"),
    )
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::from("<div class=\"forum_square\">\n");
    for (name, boards) in view.categories() {
        let _ = writeln!(
            out,
            "<div class=\"class-item\"><h4 class=\"class-item-title\">{name}</h4><ul class=\"item-list-ul clearfix\">"
        );
        for board in boards {
            for at in std::iter::once(board.board).chain(board.inner.iter().copied()) {
                let href = view.href(Route::Index { board: at, page: 1 });
                let _ = writeln!(
                    out,
                    "<li class=\"ba_info\"><a href=\"{href}\" class=\"ba_href clearfix\"><p class=\"ba_name\">{}吧</p></a></li>",
                    view.board_name(at)
                );
            }
        }
        out.push_str("</ul></div>\n");
    }
    out.push_str("</div>\n<div class=\"hot_thread\"><div class=\"title\">热门动态</div><ul>\n");
    for row in view.hot(6) {
        let thread = Route::Thread { thread: row.thread, page: 1 };
        let _ = writeln!(
            out,
            "<li class=\"thread-name-wraper\">{} <span>{}</span></li>",
            view.link(thread, row.title),
            view.time(Time::Short, row.last.at)
        );
    }
    frame(view, "首页", "", &(out + "</ul></div>\n"))
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let summary = view.summary(board);
    let name = summary.name;
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let sorts = match view.traps().sorts {
        true => format!("<li>{}</li>", view.link(Route::Sorted { board, page: 1 }, "精品")),
        false => String::new(),
    };
    let mut out = format!(
        "<div class=\"head_main\"><div class=\"card_title\"><a class=\"card_title_fname\" href=\"{}\">{name}吧</a></div><p class=\"card_slogan\">{}</p><div class=\"card_num\">贴子：<span class=\"card_infoNum\">{}</span> 吧主：{}</div></div>\n\
         <div class=\"nav_wrap\"><ul class=\"nav_list\"><li class=\"focus\">{}</li>{sorts}<li>{}</li></ul></div>\n<div class=\"content\"><div id=\"content_leftList\" class=\"forum_content\"><ul id=\"thread_list\" class=\"threadlist_bright j_threadlist_bright\">\n",
        view.href(Route::Index { board, page: 1 }),
        summary.about,
        summary.posts,
        view.user_link(summary.moderators[0], ""),
        view.link(Route::Index { board, page: 1 }, "看贴"),
        view.link(Route::Members(1), "本吧会员"),
    );
    for row in &list.rows {
        line(view, row, &mut out);
    }
    out.push_str("</ul>\n<div class=\"thread_list_bottom clearfix\"><div id=\"frs_list_pager\" class=\"pagination-default clearfix\">");
    let from = list.page.saturating_sub(4).max(1);
    if list.page > 1 {
        let _ = write!(
            out,
            "<a href=\"{}\" class=\"first pagination-item\">首页</a><a href=\"{}\" class=\"pre pagination-item\">&lt;上一页</a>",
            view.href(to(1)),
            view.href(to(list.page - 1))
        );
    }
    for at in from..=list.pages.min(from + 9) {
        let _ = match at == list.page {
            true => write!(out, "<span class=\"pagination-current pagination-item\">{at}</span>"),
            false => write!(out, "<a href=\"{}\" class=\"pagination-item\">{at}</a>", view.href(to(at))),
        };
    }
    if list.page < list.pages {
        let _ = write!(
            out,
            "<a href=\"{}\" class=\"next pagination-item\">下一页&gt;</a><a href=\"{}\" class=\"last pagination-item\">尾页</a>",
            view.href(to(list.page + 1)),
            view.href(to(list.pages))
        );
    }
    let _ = writeln!(
        out,
        "</div><div class=\"th_footer_l\">共有主题数<span class=\"red_text\">{}</span>个，贴子数 <span class=\"red_text\">{}</span>篇</div></div></div></div>",
        summary.threads, summary.posts
    );
    frame(view, &format!("{name}吧"), "", &out)
}

fn line(view: &View, row: &Row, out: &mut String) {
    let tid = thread_id(row.thread);
    let (class, icon) = match row.sticky {
        true => (" j_thread_list thread_top", "<i class=\"icon-top\" alt=\"置顶\" title=\"置顶\"></i>"),
        false => (" j_thread_list clearfix", ""),
    };
    let author = view.user(row.first.user);
    let href = view.href(Route::Thread { thread: row.thread, page: 1 });
    let _ = write!(
        out,
        "<li class=\"{class}\" data-field='{{\"id\":{tid},\"author_name\":\"{author}\",\"reply_num\":{replies},\"is_top\":{}}}' data-tid=\"{tid}\"><div class=\"t_con cleafix\">\n<div class=\"col2_left j_threadlist_li_left\"><span class=\"threadlist_rep_num center_text\" title=\"回复\">{replies}</span></div>\n\
         <div class=\"col2_right j_threadlist_li_right\"><div class=\"threadlist_lz clearfix\"><div class=\"threadlist_title pull_left j_th_tit\">{icon}<a rel=\"noreferrer\" href=\"{href}\" title=\"{title}\" target=\"_blank\" class=\"j_th_tit\">{title}</a></div><div class=\"threadlist_author pull_right\"><span class=\"tb_icon_author\" title=\"主题作者: {author}\"><span class=\"frs-author-name-wrap\">{}</span></span><span class=\"pull-right is_show_create_time\" title=\"创建时间\">{}</span></div></div>\n",
        row.sticky,
        view.user_link(row.first.user, "frs-author-name j_user_card"),
        view.time(Time::Short, row.first.at),
        replies = row.replies(),
        title = row.title,
    );
    if !row.sticky {
        let text = view.posts(row.thread, 1).swap_remove(0).text.swap_remove(0);
        let text: String = text.chars().take(60).collect();
        let _ = writeln!(
            out,
            "<div class=\"threadlist_detail clearfix\"><div class=\"threadlist_text pull_left\"><div class=\"threadlist_abs threadlist_abs_onlyline\">{text}</div></div><div class=\"threadlist_author pull_right\"><span class=\"tb_icon_author_rely j_replyer\" title=\"最后回复人: {}\">{}</span><span class=\"threadlist_reply_date pull_right j_reply_data\" title=\"最后回复时间\">{}</span></div></div>",
            view.user(row.last.user),
            view.user_link(row.last.user, "frs-author-name j_user_card"),
            view.time(Time::Short, row.last.at)
        );
    }
    out.push_str("</div></div></li>\n");
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let to = |page| Route::Thread { thread, page };
    let mut pages = "<ul class=\"l_posts_num\"><li class=\"l_pager pager_theme_5 pb_list_pager\">".to_string();
    for at in (1..=row.pages).filter(|_| row.pages > 1) {
        let _ = match at == page {
            true => writeln!(pages, "<span class=\"tP\">{at}</span>"),
            false => writeln!(pages, "<a href=\"{}\">{at}</a>", view.href(to(at))),
        };
    }
    if page < row.pages {
        let _ = write!(
            pages,
            "<a href=\"{}\">下一页</a> <a href=\"{}\">尾页</a>",
            view.href(to(page + 1)),
            view.href(to(row.pages))
        );
    }
    let _ = writeln!(
        pages,
        "</li><li class=\"l_reply_num\"><span class=\"red\">{}</span>回复贴，共<span class=\"red\">{}</span>页</li></ul>",
        row.replies(),
        row.pages
    );
    let only = match view.traps().sorts {
        true => view.link(Route::ByUser { thread, user: 0 }, "只看楼主"),
        false => String::new(),
    };
    let mut out = format!(
        "<div class=\"card_title\"><a class=\"card_title_fname\" href=\"{}\">{}吧</a></div>\n<div class=\"pb_content clearfix\"><div class=\"left_section\"><div class=\"p_thread thread_theme_5\">{pages}</div>\n<div class=\"core_title_wrap_bright clearfix\"><h3 class=\"core_title_txt pull-left text-overflow\" title=\"{title}\">{title}</h3><ul class=\"core_title_btns pull-right\"><li>{only}</li></ul></div>\n<div class=\"p_postlist\" id=\"j_p_postlist\">\n",
        view.href(Route::Index { board, page: 1 }),
        view.board_name(board),
        title = row.title,
    );
    for post in view.posts(thread, page) {
        let (pid, name) = (post_id(post.number), view.user(post.user));
        let at = view.time(Time::Padded, post.at);
        let starter = if post.user == row.first.user as usize {
            "<div class=\"louzhubiaoshi_wrap\"><div class=\"louzhubiaoshi\">楼主</div></div>"
        } else {
            ""
        };
        let floor = match view.traps().permalinks {
            true => format!("<a href=\"{}#{pid}\">{}楼</a>", view.href(Route::Post(post.number)), post.floor),
            false => format!("{}楼", post.floor),
        };
        let quote =
            post.quote.as_ref().map_or(String::new(), |quote| format!("回复 {} :", view.user_link(quote.user, "at")));
        let _ = write!(
            out,
            "<div class=\"l_post l_post_bright j_l_post clearfix\" data-field='{{\"author\":{{\"user_name\":\"{name}\"}},\"content\":{{\"post_id\":{pid},\"post_no\":{}}}}}' data-pid=\"{pid}\"><div class=\"d_author\">{starter}<ul class=\"p_author\"><li class=\"icon\"><a class=\"p_author_face\" href=\"{}\"><img src=\"/tb/static/face{}.jpg\"></a></li><li class=\"d_name\">{}</li><li class=\"l_badge\"><div class=\"d_badge_title\">初级粉丝</div><div class=\"d_badge_lv\">{}</div></li></ul></div>\n\
             <div class=\"d_post_content_main\"><div class=\"p_content\"><cc><div id=\"post_content_{pid}\" class=\"d_post_content j_d_post_content\">{quote}{}</div></cc></div><div class=\"core_reply j_lzl_wrapper\"><div class=\"core_reply_tail clearfix\"><div class=\"post-tail-wrap\"><span class=\"tail-info\">{floor}</span><span class=\"tail-info\">{at}</span> <a href=\"{}\" class=\"lzl_link_unfold\">回复</a></div></div></div></div></div>\n",
            post.floor,
            view.href(Route::Profile(post.user)),
            post.user % 40,
            view.user_link(post.user, "p_author_name j_user_card"),
            1 + post.user % 15,
            post.text.join("<br><br>"),
            view.href(Route::Reply(thread)),
        );
    }
    let _ = write!(
        out,
        "</div>\n<div class=\"p_thread thread_theme_7\">{pages}</div></div>\n<div class=\"right_section\"><div class=\"region_bright\"><h4>贴吧热议榜</h4><ul>\n"
    );
    for hot in view.hot(6) {
        let _ = writeln!(out, "<li>{}</li>", view.link(Route::Thread { thread: hot.thread, page: 1 }, hot.title));
    }
    out.push_str("</ul></div></div></div>\n");
    frame(view, &format!("{}_{}吧", row.title, view.board_name(board)), "", &out)
}

const CSS: &str = "body{font:12px Arial,宋体;background:#eef1f5;margin:0}.wrap2{width:980px;margin:0 auto;background:#fff}ul{list-style:none;padding:0;margin:0}.clearfix:after{content:'';display:block;clear:both}.pull_left,.col2_left,.left_section{float:left}.pull_right,.pull-right{float:right}.t_con{border-bottom:1px solid #e4e6eb;padding:12px;overflow:hidden}.col2_left{width:70px}.threadlist_rep_num{background:#f7f7f7;padding:6px 14px}.threadlist_title{font-size:14px;width:640px}.threadlist_text{width:640px;color:#666}.threadlist_author{width:200px;color:#999}.left_section{width:740px}.right_section{float:right;width:220px}.l_post{border-bottom:1px solid #e5e5e5;overflow:hidden}.d_author{float:left;width:130px;background:#fbfbfd;padding:12px}.d_post_content_main{margin-left:160px;padding:12px}.d_post_content{font-size:14px;line-height:24px;min-height:90px}.core_reply{text-align:right;color:#999}.ba_info,.nav_list li,.l_posts_num li{display:inline-block;margin:6px}.pagination-item{margin:4px}";
