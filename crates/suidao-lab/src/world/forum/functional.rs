//! What every forum has beside boards and threads: profiles, members, search, calendar, forms, feeds, errors.

use std::fmt::Write as _;

use super::answer::Said;
use super::route::Route;
use super::text::Salt;
use super::times::Style;
use super::view::{Row, View};

/// Members on a page of their list.
const MEMBERS: usize = 30;

/// 404.
pub(super) fn missing(view: &View) -> Said {
    let text = view.say("抱歉，指定的主题不存在或已被删除。", "The page you asked for is not here.");
    let title = view.say("提示信息", "Notice");
    Said::html(404, view.forum.spec.skin.frame(view, title, &format!("<div class=\"notice\"><p>{text}</p></div>\n")))
}

/// A page that asks for a login instead of what was asked for.
pub(super) fn wall(view: &View) -> Said {
    let text = view.say("抱歉，您尚未登录，没有权限访问该版块。", "You must be logged in to view this page.");
    let body = format!("<div class=\"notice\"><p>{text}</p></div>\n{}", login(view));
    Said::html(view.forum.style().wall, view.forum.spec.skin.frame(view, view.say("用户登录", "Log in"), &body))
}

fn login(view: &View) -> String {
    let [name, password, keep, enter] = match view.forum.voice().english {
        true => ["Username", "Password", "Remember me", "Log in"],
        false => ["用户名", "密码", "自动登录", "登录"],
    };
    format!(
        "<form method=\"post\" action=\"{}\" name=\"login\">\n<p><label>{name}: <input type=\"text\" name=\"username\"></label></p>\n\
         <p><label>{password}: <input type=\"password\" name=\"password\"></label></p>\n\
         <p><label><input type=\"checkbox\" name=\"autologin\"> {keep}</label> <input type=\"submit\" value=\"{enter}\"></p>\n</form>\n",
        view.href(Route::Login)
    )
}

/// Any page that is none of a board or thread.
pub(super) fn page(view: &View, route: Route) -> Said {
    let (title, body) = match route {
        Route::Feed(board) => return feed(view, board),
        Route::Profile(_) | Route::Members(_) if view.traps().walls => return wall(view),
        Route::Profile(user) => profile(view, user),
        Route::Members(page) => members(view, page),
        Route::Search(number) => search(view, number),
        Route::Calendar(number) => calendar(view, number),
        Route::Login => (view.say("用户登录", "Log in").to_owned(), login(view)),
        Route::Register => {
            let title = view.say("立即注册", "Register");
            (title.to_owned(), format!("<h2>{title}</h2>\n{}", login(view)))
        }
        Route::Reply(_) | Route::NewThread(_) => {
            let title = view.say("发表帖子", "Post a message");
            let text = view.say("请先登录再发表。", "Log in first.");
            let form = "<form method=\"post\"><textarea name=\"message\" rows=\"8\" cols=\"60\"></textarea></form>";
            (title.to_owned(), format!("<h2>{title}</h2>\n<p>{text}</p>\n{form}\n{}", login(view)))
        }
        _ => {
            let title = view.say("帮助", "Help");
            let text = view.say("如何注册、发帖与找回密码。", "How to register, post and find a password.");
            (title.to_owned(), format!("<h2>{title}</h2>\n<p>{text}</p>\n"))
        }
    };
    Said::html(200, view.forum.spec.skin.frame(view, &title, &body))
}

fn profile(view: &View, user: usize) -> (String, String) {
    let name = view.user(user);
    let posts = view.say("帖子", "Posts");
    let joined = view.say("注册时间", "Joined");
    let at = view.time(Style::Plain, view.forum.spec.activity.start - 86_400 * (user as i64 % 900));
    let body = format!(
        "<h2>{name}</h2>\n<dl><dt>UID</dt><dd>{}</dd><dt>{joined}</dt><dd>{at}</dd></dl>\n<p>{}</p>\n",
        user + 1,
        view.link(Route::Search(user as u32), posts)
    );
    (name, body)
}

fn members(view: &View, page: u32) -> (String, String) {
    let users = view.forum.spec.activity.users;
    let start = (page.max(1) as usize - 1).saturating_mul(MEMBERS).min(users);
    let mut body = String::from("<table class=\"members\">\n");
    for user in start..users.min(start + MEMBERS) {
        let _ = writeln!(body, "<tr><td>{}</td><td>{}</td></tr>", user + 1, view.user_link(user, "username"));
    }
    body.push_str("</table>\n");
    if start + MEMBERS < users {
        let next = view.link(Route::Members(page.max(1) + 1), view.say("下一页", "Next"));
        let _ = writeln!(body, "<p>{next}</p>");
    }
    (view.say("会员列表", "Members").to_owned(), body)
}

/// A search: some threads, and searches that lead on without end.
fn search(view: &View, number: u32) -> (String, String) {
    let title = view.say("搜索", "Search");
    let mut body = format!(
        "<form method=\"get\" action=\"{}\"><input type=\"text\" name=\"keywords\"><input type=\"submit\" value=\"{title}\"></form>\n<ul>\n",
        view.href(Route::Search(0))
    );
    let mut draw = view.forum.voice().draw(Salt::Topic, 1 + u64::from(number));
    let open = view.forum.threads.partition_point(|held| held.posts[0].at <= view.now) as u64;
    for _ in 0..open.min(10) {
        let thread = draw.below(open) as usize;
        if !view.forum.boards[view.board_of(thread)].walled {
            let link = view.link(Route::Thread { thread, page: 1 }, view.thread_title(thread));
            let _ = writeln!(body, "<li>{link}</li>");
        }
    }
    body.push_str("</ul>\n");
    if view.traps().searches {
        let related = view.say("相关搜索", "Related searches");
        let _ = write!(body, "<p>{related}:");
        for _ in 0..6 {
            let number = draw.below(1_000_000_000) as u32;
            let _ = write!(body, " {}", view.link(Route::Search(number), &format!("{related} {number}")));
        }
        body.push_str("</p>\n");
    }
    (title.to_owned(), body)
}

/// A day of a calendar that has no last one.
fn calendar(view: &View, number: u32) -> (String, String) {
    let day = i64::from(number) * 86_400;
    let mut body = String::from("<table class=\"calendar\"><tr>\n");
    for on in number.saturating_sub(3)..=number.saturating_add(10) {
        let date = view.time(Style::Padded, i64::from(on) * 86_400);
        let date = date.split(' ').next().unwrap_or_default();
        let _ = writeln!(body, "<td>{}</td>", view.link(Route::Calendar(on), date));
    }
    body.push_str("</tr></table>\n");
    let date = view.time(Style::Padded, day);
    (format!("{} {}", view.say("日历", "Calendar"), date.split(' ').next().unwrap_or_default()), body)
}

/// A thread in a plain page of its own, without a frame; all of its posts.
pub(super) fn printer(view: &View, row: &Row) -> String {
    let title = row.title;
    let mut out = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"{}\"><title>{title} - {}</title></head>\n<body>\n<h1>{title}</h1>\n",
        charset(view),
        view.title()
    );
    for page in 1..=row.pages {
        for post in view.posts(row.thread, page) {
            let (name, at) = (view.user(post.user), view.time(Style::Padded, post.at));
            let _ = writeln!(out, "<hr><p><b>{name}</b> {at}</p>\n<p>{}</p>", post.text.join("</p>\n<p>"));
        }
    }
    let _ = writeln!(out, "<hr>{}\n</body></html>", view.link(Route::Thread { thread: row.thread, page: 1 }, title));
    out
}

pub(super) fn charset(view: &View) -> &'static str {
    if view.forum.style().gbk { "gbk" } else { "utf-8" }
}

/// The newest threads of a board as RSS 2.0.
fn feed(view: &View, board: usize) -> Said {
    if view.forum.boards[board].walled {
        return wall(view);
    }
    let mut rows = view.list(board, false);
    rows.sort_by_key(|row| std::cmp::Reverse((row.first.at, row.thread)));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"{}\"?>\n<rss version=\"2.0\"><channel><title>{}</title>\n",
        charset(view),
        view.board_name(board)
    );
    for row in rows.iter().take(15) {
        let link = view.whole(Route::Thread { thread: row.thread, page: 1 });
        let at = view.time(Style::Http, row.first.at);
        let _ = writeln!(out, "<item><title>{}</title><link>{link}</link><pubDate>{at}</pubDate></item>", row.title);
    }
    out.push_str("</channel></rss>\n");
    Said { status: 200, media: "application/rss+xml", body: out, location: None }
}
