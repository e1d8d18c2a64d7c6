//! URLs of threads and of their pages in many forms, also redirected ones; what a run reports if threads or pages are
//! missing.

use crate::plain::{HOST, Place, PlainForum, numbers, offset, read};
use suidao_features::depth;

/// All 113 posts of the nine threads are exported, and the run ends with success.
fn is_whole(name: &str, forum: PlainForum) {
    let all: usize = forum.threads.iter().map(Vec::len).sum();
    let reading = forum.read();
    assert_eq!(reading.code, 0, "{name}: {}", reading.output);
    assert_eq!((reading.threads.len(), reading.count()), (forum.threads.len(), all), "{name}: {}", reading.output);
    assert!(reading.output.contains("All boards are read"), "{name}: {}", reading.output);
    assert!(!reading.output.contains("fewer posts"), "{name}: {}", reading.output);
}

fn urls(thread: fn(usize, usize) -> String, board: fn(usize) -> String) -> Box<dyn Fn(Place) -> String> {
    Box::new(move |place| match place {
        Place::Home => "/".to_owned(),
        Place::Board(number, _) => board(number),
        Place::Thread(number, page) => thread(number, page),
    })
}

fn old_thread(thread: usize, page: usize) -> String {
    format!("/viewtopic.php?t={thread}{}", offset(page, 10))
}

fn old_board(board: usize) -> String {
    format!("/viewforum.php?f={board}")
}

fn new_thread(thread: usize, page: usize) -> String {
    if page == 1 { format!("/the-title-{thread}/") } else { format!("/the-title-{thread}/page/{page}/") }
}

#[test]
fn threads_whose_links_redirect_are_read() {
    let old_first = |thread, page| if page == 1 { old_thread(thread, 1) } else { new_thread(thread, page) };
    for redirect in [301, 302, 307, 308] {
        let forum = PlainForum {
            redirect,
            url: urls(new_thread, old_board),
            link: urls(old_first, old_board),
            ..PlainForum::default()
        };
        is_whole("to a slug", forum);
    }
    // Also its further pages are linked by their old URLs.
    let forum =
        PlainForum { url: urls(new_thread, old_board), link: urls(old_thread, old_board), ..PlainForum::default() };
    is_whole("all pages to slugs", forum);
    let bare =
        |thread, page| if page == 1 { format!("/topic/{thread}") } else { format!("/topic/{thread}/?page={page}") };
    let slash =
        |thread, page| if page == 1 { format!("/topic/{thread}/") } else { format!("/topic/{thread}/?page={page}") };
    let forum = PlainForum {
        url: urls(slash, |board| format!("/forum/{board}/")),
        link: urls(bare, |board| format!("/forum/{board}")),
        ..PlainForum::default()
    };
    is_whole("to a slash, boards too", forum);
}

#[test]
fn a_forum_may_redirect_to_another_host_of_its_site() {
    let www = |thread, page| format!("http://www.bbs.test{}", old_thread(thread, page));
    let forum = PlainForum { url: urls(www, old_board), link: urls(old_thread, old_board), ..PlainForum::default() };
    is_whole("threads to www", forum);
}

#[test]
fn threads_may_redirect_to_other_urls_on_another_host() {
    for host in ["http://forum.bbs.test", "http://www.bbs.test"] {
        let new = move |thread, page| format!("{host}{}", new_thread(thread, page));
        let old_first = move |thread, page| if page == 1 { old_thread(thread, 1) } else { new(thread, page) };
        fn of(thread: impl Fn(usize, usize) -> String + 'static) -> Box<dyn Fn(Place) -> String> {
            Box::new(move |place| match place {
                Place::Thread(number, page) => thread(number, page),
                place => urls(old_thread, old_board)(place),
            })
        }
        // Further pages are linked by their new URLs, or by their old ones on the old host.
        is_whole(host, PlainForum { url: of(new), link: of(old_first), ..PlainForum::default() });
        let old = |thread, page| format!("{HOST}{}", old_thread(thread, page));
        is_whole(host, PlainForum { url: of(new), link: of(old), ..PlainForum::default() });
    }
}

#[test]
fn the_last_page_is_not_the_next() {
    let bar: fn(&[String], usize) -> String = |pages, current| {
        let last = format!(" <a href='{}'>Last</a>", pages[pages.len() - 1]);
        format!("Page {current} of {}{}", pages.len(), if current < pages.len() { &last } else { "" })
    };
    let suffix = |thread, page| {
        if page == 1 { format!("/t/7900{thread}.html") } else { format!("/t/7900{thread}-{page}.html") }
    };
    for thread in [old_thread as fn(usize, usize) -> String, suffix] {
        let url = || urls(thread, old_board);
        is_whole("pages counted", PlainForum { url: url(), link: url(), bar, ..PlainForum::default() });
    }
    // Without the number of pages, those between are reported.
    let bar: fn(&[String], usize) -> String = |pages, _| format!("<a href='{}'>末页</a>", pages[pages.len() - 1]);
    let reading = PlainForum { bar, ..PlainForum::default() }.read();
    assert!(reading.output.contains("3 threads have fewer posts than the list"), "{}", reading.output);
}

#[test]
fn pages_may_be_linked_by_words_numerals_menus_and_classes() {
    type Bar = fn(&[String], usize) -> String;
    fn next(pages: &[String], current: usize, label: &str) -> String {
        pages.get(current).map_or(String::new(), |url| format!("<a href='{url}'>{label}</a>"))
    }
    fn all(pages: &[String], label: impl Fn(usize) -> String) -> String {
        (0..).zip(pages).map(|(at, url)| format!("<a href='{url}'>{}</a> ", label(at))).collect()
    }
    const BARS: [(&str, Bar); 10] = [
        ("German", |pages, current| next(pages, current, "Nächste")),
        ("French", |pages, current| next(pages, current, "Page suivante »")),
        ("Spanish", |pages, current| next(pages, current, "Siguiente")),
        ("Russian", |pages, current| next(pages, current, "Вперед")),
        ("newer", |pages, current| next(pages, current, "Newer posts »")),
        ("more", |pages, current| next(pages, current, "Load more posts")),
        ("Chinese numerals", |pages, _| all(pages, |at| format!("第{}页", ["一", "二", "三", "四", "五"][at]))),
        ("wide digits", |pages, _| all(pages, |at| ["１", "２", "３", "４", "５"][at].to_owned())),
        ("a menu", |pages, _| {
            let option = |(at, url): (usize, &String)| format!("<option value='{url}'>{}</option>", at + 1);
            format!("<select>{}</select>", pages.iter().enumerate().map(option).collect::<String>())
        }),
        ("a class", |pages, current| next(pages, current, "<svg></svg>").replace("<a", "<a class=pager-next")),
    ];
    let suffix = |thread, page| {
        if page == 1 { format!("/t/7900{thread}.html") } else { format!("/t/7900{thread}-{page}.html") }
    };
    for (name, bar) in BARS.into_iter().step_by(depth(3, 1)) {
        for thread in [old_thread as fn(usize, usize) -> String, suffix] {
            let url = || urls(thread, old_board);
            is_whole(name, PlainForum { url: url(), link: url(), bar, ..PlainForum::default() });
        }
    }
}

#[test]
fn further_pages_are_found_in_any_form() {
    type Form = (&'static str, fn(usize, usize) -> String);
    const FORMS: [Form; 7] =
        [
            ("a suffix", |thread, page| {
                if page == 1 { format!("/t/7900{thread}.html") } else { format!("/t/7900{thread}-{page}.html") }
            }),
            ("a letter", |thread, page| {
                if page == 1 { format!("/p/7900{thread}.html") } else { format!("/p/7900{thread}p{page}.html") }
            }),
            ("a line", |thread, page| {
                if page == 1 { format!("/t/7900{thread}.html") } else { format!("/t/7900{thread}_{page}.html") }
            }),
            ("a word", |thread, page| {
                if page == 1 { format!("/t/7900{thread}.html") } else { format!("/t/7900{thread}-p{page}.html") }
            }),
            (
                "a directory",
                |thread, page| if page == 1 { format!("/t/7900{thread}/") } else { format!("/t/7900{thread}/{page}/") },
            ),
            ("a title with a number", |thread, page| {
                if page == 1 {
                    format!("/2nd-try-of-bread-{thread}.html")
                } else {
                    format!("/2nd-try-of-bread-{thread}-{page}.html")
                }
            }),
            ("a parameter", |thread, page| format!("/viewtopic.php?t={thread}&page={page}")),
        ];
    // The current page is a link too, posts link themselves by number, and nothing says "next".
    let bare: fn(&[String], usize) -> String = |pages, current| {
        let bar: String =
            (1..).zip(pages).map(|(number, url)| format!("<li><a href='{url}'>{number}</a></li>")).collect();
        let own: String =
            (1..5).map(|post| format!("<p><a href='{}#{post}'>{post}</a></p>", pages[current - 1])).collect();
        format!("<ul>{bar}</ul>{own}")
    };
    for (name, thread) in FORMS.into_iter().step_by(depth(2, 1)) {
        for bar in [numbers, bare] {
            let url = || urls(thread, old_board);
            is_whole(name, PlainForum { url: url(), link: url(), bar, ..PlainForum::default() });
        }
    }
}

#[test]
fn pages_that_nothing_links_are_reported() {
    let reading = PlainForum { bar: |_, _| String::new(), ..PlainForum::default() }.read();
    assert_eq!(reading.code, 0, "{}", reading.output);
    let named = "3 threads have fewer posts than the list of its board counts";
    assert!(
        reading.output.contains(named) && reading.output.contains(&format!("{HOST}/viewtopic.php?t=3")),
        "{}",
        reading.output
    );
}

#[test]
fn a_run_that_reads_no_thread_does_not_report_success() {
    let forum = PlainForum::default();
    let excluded =
        PlainForum { robots: "User-agent: *\nDisallow: /viewtopic.php\n".to_owned(), ..PlainForum::default() };
    let (mut login, mut home, mut gone, mut other) = (forum.web(), forum.web(), forum.web(), forum.web());
    login.redirect("/viewtopic.php", "/login.php");
    home.redirect("/viewtopic.php", "/");
    gone.answer("/viewtopic.php", 404, "<p>This thread does not exist.");
    other.answer(
        "/viewtopic.php",
        200,
        "<title>Bread</title><p>Our forum has a new home. All threads will be there soon.",
    );
    for (name, web) in
        [("login", login), ("home", home), ("gone", gone), ("robots.txt", excluded.web()), ("no posts", other)]
    {
        let reading = read(web);
        assert_eq!(reading.code, 1, "{name}: {}", reading.output);
        assert!(reading.output.contains("No thread was read of 9 listed"), "{name}: {}", reading.output);
        assert!(!reading.output.contains("All boards are read"), "{name}: {}", reading.output);
    }
    let mut most = forum.web();
    for thread in [1, 2, 4, 6, 7, 9] {
        most.answer(&format!("/viewtopic.php?t={thread}"), 404, "<p>This thread does not exist.");
    }
    let reading = read(most);
    assert_eq!(reading.code, 1, "{}", reading.output);
    assert!(reading.output.contains("Only 3 threads were read of 9 listed"), "{}", reading.output);
}

#[test]
fn a_board_stays_one_if_a_deleted_thread_leads_to_it() {
    let forum = PlainForum::default();
    let mut web = forum.web();
    web.redirect("/viewtopic.php?t=2", "/viewforum.php?f=1");
    let reading = read(web);
    assert_eq!((reading.code, reading.threads.len()), (0, 8), "{}", reading.output);
}
