//! Pages of a small forum in English, as no known software writes them: definition lists and sections.

use std::fmt::Write as _;

use super::address::post_id;
use super::route::{Form, Pattern, Route};
use super::skin::{IndexPage, Style};
use super::spec::{Beyond, DEFAULT_TITLE};
use super::times::Style as Time;
use super::view::{Row, View};

const URLS: &[Pattern] = &[
    (Form::Home, "/"),
    (Form::Index, "/talk/{b}.html"),
    (Form::IndexPage, "/talk/{b}.html?from={o}"),
    (Form::Sorted, "/talk/{b}.html?by=answers&from={o}"),
    (Form::Thread, "/talk/{b}/{t}.html"),
    (Form::ThreadPage, "/talk/{b}/{t}.html?from={o}"),
    (Form::LastPost, "/talk/{b}/{t}.html?last=1"),
    (Form::Printer, "/talk/{b}/{t}.txt.html"),
    (Form::Profile, "/people/{u}.html"),
    (Form::Members, "/people.html?page={p}"),
    (Form::Search, "/find.html?q={n}"),
    (Form::Calendar, "/calendar/{n}.html"),
    (Form::Login, "/enter.html"),
    (Form::Register, "/join.html"),
    (Form::Help, "/about.html"),
    (Form::Reply, "/talk/{b}/{t}/answer.html"),
    (Form::NewThread, "/talk/{b}/ask.html"),
    (Form::Feed, "/talk/{b}.rss"),
];

pub(super) const STYLE: Style = Style { urls: URLS, english: true, wall: 403, beyond: Beyond::Empty, ..Style::PLAIN };

pub(super) fn frame(view: &View, title: &str, crumbs: &str, body: &str) -> String {
    let home = view.href(Route::Home);
    let site = if view.title() == DEFAULT_TITLE { "The Long Bridge" } else { view.title() };
    let calendar = match view.traps().calendars {
        true => view.link(Route::Calendar((view.now / 86_400) as u32), "Calendar"),
        false => String::new(),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} – {site}</title>\n<style>{CSS}</style>\n</head>\n<body>\n\
         <header><h1><a href=\"{home}\">{site}</a></h1><nav>{login} {register} {search} {members} {calendar}</nav></header>\n<p class=\"path\"><a href=\"{home}\">Boards</a>{crumbs}</p>\n\
         <main>\n{body}</main>\n<footer>{help} Times are local. It is {now}.</footer>\n</body>\n</html>\n",
        login = view.link(Route::Login, "Log in"),
        register = view.link(Route::Register, "Join"),
        search = view.link(Route::Search(0), "Find"),
        members = view.link(Route::Members(1), "People"),
        help = view.link(Route::Help, "About this place"),
        now = view.time(Time::English, view.now),
    )
}

pub(super) fn home(view: &View) -> String {
    let mut out = String::new();
    for (name, boards) in view.categories() {
        let _ = writeln!(out, "<section><h2>{name}</h2>\n<dl class=\"boards\">");
        for board in boards {
            let link = view.link(Route::Index { board: board.board, page: 1 }, board.name);
            let _ = write!(
                out,
                "<dt>{link}</dt><dd>{}. {} threads, {} posts, kept by {}.",
                board.about,
                board.threads,
                board.posts,
                view.user_link(board.moderators[0], "person")
            );
            for &inner in &board.inner {
                let _ = write!(
                    out,
                    " See also {}.",
                    view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner))
                );
            }
            if let Some(last) = &board.last {
                let to = if view.traps().last_posts {
                    Route::LastPost(last.thread)
                } else {
                    Route::Thread { thread: last.thread, page: 1 }
                };
                let _ = write!(
                    out,
                    " Last: {} by {}, {}.",
                    view.link(to, last.title),
                    view.user_link(last.last.user, "person"),
                    view.time(Time::EnglishAgo, last.last.at)
                );
            }
            out.push_str("</dd>\n");
        }
        out.push_str("</dl></section>\n");
    }
    frame(view, "Boards", "", &out)
}

fn pager(view: &View, page: u32, pages: u32, to: impl Fn(u32) -> Route) -> String {
    let mut out = String::from("<p class=\"pages\">");
    if page > 1 {
        let _ = write!(out, "{} ", view.link(to(page - 1), "Newer"));
    }
    let _ = write!(out, "Page {page} of {pages}");
    for at in (1..=pages).filter(|at| *at != page) {
        let _ = write!(out, " {}", view.link(to(at), &at.to_string()));
    }
    if page < pages {
        let _ = write!(out, " {}", view.link(to(page + 1), "Older"));
    }
    out + "</p>\n"
}

pub(super) fn index(view: &View, list: &IndexPage) -> String {
    let board = list.board;
    let summary = view.summary(board);
    let to = |page| match list.sorted {
        true => Route::Sorted { board, page },
        false => Route::Index { board, page },
    };
    let sorts = match view.traps().sorts {
        true => view.link(Route::Sorted { board, page: 1 }, "most answers first"),
        false => String::new(),
    };
    let ask = view.link(Route::NewThread(board), "Start a thread");
    let mut out = format!(
        "<h2>{}</h2>\n<p>{}. {ask} {} {sorts}</p>\n",
        summary.name,
        summary.about,
        view.link(Route::Feed(board), "Feed")
    );
    for &inner in &summary.inner {
        let _ = writeln!(
            out,
            "<p>Inside: {}</p>",
            view.link(Route::Index { board: inner, page: 1 }, view.board_name(inner))
        );
    }
    out.push_str("<div class=\"threads\">\n");
    for row in &list.rows {
        let mark = if row.sticky { "<b>Sticky:</b> " } else { "" };
        let at = view.time(Time::EnglishAgo, row.last.at);
        let last = if view.traps().last_posts { view.link(Route::LastPost(row.thread), &at) } else { at };
        let answers = if row.replies() == 1 { "1 reply".to_owned() } else { format!("{} replies", row.replies()) };
        let _ = writeln!(
            out,
            "<div class=\"one\"><h3>{mark}{}</h3><p>Started by {} on {}. {answers}, {} views. Last post {last} by {}.</p></div>",
            view.link(Route::Thread { thread: row.thread, page: 1 }, row.title),
            view.user_link(row.first.user, "person"),
            view.time(Time::English, row.first.at),
            row.views,
            view.user_link(row.last.user, "person"),
        );
    }
    out.push_str("</div>\n");
    out.push_str(&pager(view, list.page, list.pages, to));
    frame(view, summary.name, &format!(" / {}", view.link(Route::Index { board, page: 1 }, summary.name)), &out)
}

pub(super) fn thread(view: &View, row: &Row, page: u32) -> String {
    let (thread, board) = (row.thread, view.board_of(row.thread));
    let printer = match view.traps().printers {
        true => view.link(Route::Printer(thread), "Print"),
        false => String::new(),
    };
    let pages = pager(view, page, row.pages, |page| Route::Thread { thread, page });
    let mut out = format!("<h2>{}</h2>\n<p>{} views. {printer}</p>\n{pages}", row.title, row.views);
    for post in view.posts(thread, page) {
        let quote = post.quote.as_ref().map_or(String::new(), |quote| {
            format!("<blockquote><p>{} wrote: {}</p></blockquote>\n", view.user(quote.user), quote.text)
        });
        let motto = post.motto.map_or(String::new(), |motto| format!("<p class=\"motto\">{motto}</p>"));
        let _ = write!(
            out,
            "<section class=\"said\" id=\"m{}\"><p class=\"who\">#{} {} <span>{}</span></p>\n{quote}<p>{}</p>{motto}\n<p class=\"act\">{}</p></section>\n",
            post_id(post.number),
            post.floor,
            view.user_link(post.user, "person"),
            view.time(Time::English, post.at),
            post.text.join("</p>\n<p>"),
            view.link(Route::Reply(thread), "Answer"),
        );
    }
    out.push_str(&pages);
    frame(view, row.title, &format!(" / {}", view.link(Route::Index { board, page: 1 }, view.board_name(board))), &out)
}

const CSS: &str = "body{font:16px Georgia,serif;max-width:760px;margin:20px auto}header{display:flex;justify-content:space-between;align-items:baseline}h3{margin:0}.one{border-bottom:1px solid #ddd;padding:6px 0}.one p{margin:2px 0;color:#666;font-size:14px}.said{border-top:2px solid #eee;padding:8px 0}.who{color:#666}.motto{font-size:12px;color:#999}blockquote{border-left:3px solid #ccc;margin:6px;padding-left:10px}";
