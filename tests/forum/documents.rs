//! What a reader of an export, or of `forum discover`, sees of threads: titles, authors, times.

use crate::plain::{PlainForum, Post, discover};

const THREAD: &str = "How do I bake bread number 3";

/// A forum whose posts show their times as `write` does.
fn dated(language: &'static str, write: fn(i64, usize, i64, &str) -> String) -> PlainForum {
    let mut forum = PlainForum { language, ..PlainForum::default() };
    for (thread, posts) in forum.threads.iter_mut().enumerate() {
        for (at, post) in posts.iter_mut().enumerate() {
            // A post an hour, from a day of its own on.
            let hours = thread as i64 * 24 * 20 + at as i64;
            let (day, month) = (hours / 24 % 28 + 1, (hours / 24 / 28) as usize % 12);
            post.time = write(day, month, 2020, &format!("{:02}:17", hours % 24));
        }
    }
    forum
}

/// The day of the first post of the third thread: 40 days after January 1st, in months of 28 days.
const OPENED: &str = "2020-02-13";

fn is_dated(name: &str, forum: &PlainForum) {
    let reading = forum.read();
    assert_eq!((reading.code, reading.threads.len()), (0, 9), "{name}: {}", reading.output);
    for thread in &reading.threads {
        let posts = thread["posts"].as_array().unwrap();
        assert!(posts.iter().all(|post| post["posted"].is_string()), "{name}: {thread}");
        let first = posts[0]["posted"].as_str().unwrap();
        assert_eq!(thread["published"].as_str(), Some(&first[..10]), "{name}: {thread}");
    }
    let thread = reading.thread(THREAD);
    assert_eq!(thread["published"], OPENED, "{name}");
    assert_eq!(thread["posts"][46]["posted"], "2020-02-14T22:17:00Z", "{name}");
}

#[test]
fn times_are_read_in_other_languages() {
    const CHINESE: [&str; 12] = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
    const GERMAN: [&str; 12] = [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ];
    const RUSSIAN: [&str; 12] = ["янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"];
    const SPANISH: [&str; 12] = [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ];
    is_dated("German", &dated("de", |day, month, year, time| format!("{day}. {} {year}, {time}", GERMAN[month])));
    is_dated("Russian", &dated("ru", |day, month, year, time| format!("{day} {} {year} {time}", RUSSIAN[month])));
    is_dated("Spanish", &dated("es", |day, month, year, time| format!("{day} de {} de {year} {time}", SPANISH[month])));
    is_dated("Korean", &dated("ko", |day, month, year, time| format!("{year}년 {}월 {day}일 {time}", month + 1)));
    is_dated("Chinese", &dated("en", |day, month, year, time| format!("{day} {}月, {year} {time}", CHINESE[month])));
}

#[test]
fn the_forum_itself_tells_the_order_of_day_and_month() {
    let day_first = |day: i64, month: usize, year: i64, time: &str| format!("{day:02}/{:02}/{year} {time}", month + 1);
    let month_first =
        |day: i64, month: usize, year: i64, time: &str| format!("{:02}/{day:02}/{year} {time}", month + 1);
    for language in ["en", "de", "zh-CN"] {
        is_dated(language, &dated(language, day_first));
        is_dated(language, &dated(language, month_first));
    }
}

#[test]
fn the_title_of_a_thread_is_without_the_names_of_site_and_board() {
    let heads: [fn(&str) -> String; 8] = [
        |title| format!("Bakers: {title}"),
        |title| format!("{title} (Page 1 of 3) - Bakers"),
        |_| "Bakers".to_owned(),
        |title| format!("{title} | The Bakers' Forum"),
        |title| format!("{title} - The board of bread 1 - The Bakers' Forum - Powered by Bread"),
        |title| format!("The Bakers' Forum • View topic - {title}"),
        |title| format!("{title}_Bread_Bakers"),
        |title| title.to_owned(),
    ];
    for head in heads {
        let reading = PlainForum { head, ..PlainForum::default() }.read();
        assert_eq!(reading.threads.len(), 9, "{}", reading.output);
        for thread in &reading.threads {
            let title = thread["title"].as_str().unwrap();
            assert!(title.starts_with("How do I bake bread number") && title.ends_with('?'), "{title}");
        }
    }
}

fn staff(time: &str) -> String {
    let html = "Advertising is not permitted here. You must be logged in to sell bread.".to_owned();
    crate::plain::article(7, &Post { author: "staff".to_owned(), time: time.to_owned(), html })
}

#[test]
fn a_staff_post_above_all_threads_is_not_their_first() {
    for time in ["2019-01-01 08:00", "2020-05-20 08:00", "some day"] {
        let reading = PlainForum { above: staff(time), ..PlainForum::default() }.read();
        assert_eq!((reading.code, reading.threads.len(), reading.count()), (0, 9, 113), "{time}: {}", reading.output);
        for thread in &reading.threads {
            let first = &thread["posts"][0];
            assert_ne!(thread["author"], "staff", "{time}: {thread}");
            assert_eq!(thread["author"], first["author"], "{time}");
            assert_eq!(thread["published"].as_str(), Some(&first["posted"].as_str().unwrap()[..10]), "{time}");
        }
    }
}

#[test]
fn equal_posts_of_several_threads_are_kept() {
    let question = |time: &str| Post {
        author: "zoe".to_owned(),
        time: time.to_owned(),
        html: "Hello, my oven does not heat up at all, what can I do about it?".to_owned(),
    };
    // Posts numbered in the forum, and in each thread.
    for post in
        [crate::plain::article as fn(usize, &Post) -> String, |at, post| crate::plain::article(at % 1000 + 1, post)]
    {
        for times in [["2020-04-13 10:17", "2020-04-13 10:17"], ["2020-04-13 10:17", "2020-05-13 11:59"]] {
            for dates_only in [false, true] {
                let mut forum = PlainForum { post, ..PlainForum::default() };
                for (thread, time) in [3, 7].into_iter().zip(times) {
                    forum.threads[thread].insert(0, question(time));
                }
                // A moderator's posts.
                for thread in [0, 4, 6, 7] {
                    forum.threads[thread][1] = Post {
                        author: "staff".to_owned(),
                        time: "2021-01-01 10:10".to_owned(),
                        html: "I moved this thread to the right board. Please read the rules.".to_owned(),
                    };
                }
                if dates_only {
                    forum.threads.iter_mut().flatten().for_each(|post| post.time.truncate("2020-04-13".len()));
                }
                let reading = forum.read();
                assert_eq!((reading.code, reading.count()), (0, 115), "{times:?}: {}", reading.output);
                for title in ["How do I bake bread number 4", "How do I bake bread number 8"] {
                    assert_eq!(reading.thread(title)["author"], "zoe", "{times:?}");
                }
            }
        }
    }
}

#[test]
fn a_rank_next_to_a_time_is_no_label_of_it() {
    const RANKS: [&str; 7] = [
        "<span>Registered User</span>",
        "Registered",
        "<b>Joined</b>",
        "积分 12",
        "高级编辑",
        "注册会员",
        "London location",
    ];
    let beside = |number: usize, Post { author, time, html }: &Post| {
        let rank = RANKS[number / 1000 % RANKS.len()];
        format!(
            "<div class=post id=p{number}><div><a href=/user/{author}>{author}</a> {rank} <span>{time}</span></div>\
             <div class=body>{html}</div></div>"
        )
    };
    let above = |number: usize, Post { author, time, html }: &Post| {
        let rank = RANKS[number / 1000 % RANKS.len()];
        format!(
            "<div class=post id=p{number}><div><a href=/user/{author}>{author}</a><p>{rank}</p>\
             <p>Registered: 2001-02-03 11:11</p></div><div>{time}</div><div class=body>{html}</div></div>"
        )
    };
    for post in [beside as fn(usize, &Post) -> String, above] {
        let forum = PlainForum { post, ..PlainForum::default() };
        let reading = forum.read();
        assert_eq!((reading.code, reading.count()), (0, 113), "{}", reading.output);
        for (number, posts) in (1..).zip(&forum.threads) {
            let thread = reading.thread(&format!("How do I bake bread number {number}?"));
            let found = thread["posts"].as_array().unwrap().iter().map(|post| post["posted"].as_str());
            let wanted = posts.iter().map(|post| format!("{}:00Z", post.time.replace(' ', "T")));
            assert!(found.eq(wanted.collect::<Vec<_>>().iter().map(|time| Some(time.as_str()))), "{thread}");
        }
    }
}

#[test]
fn a_post_pinned_above_the_pages_of_one_thread_keeps_its_place() {
    // A moderator's reply, the 15th post, is shown at the top of each page too.
    let mut forum = PlainForum::default();
    forum.threads[2][14].author = "staff".to_owned();
    let pinned = (forum.post)(3014, &forum.threads[2][14]);
    let mut web = forum.web();
    web.change("/viewtopic.php?t=3", |body| body.replace("<div class=posts>", &format!("<div class=posts>{pinned}")));
    let reading = crate::plain::read(web);
    let thread = reading.thread(THREAD);
    let authors: Vec<&str> =
        thread["posts"].as_array().unwrap().iter().map(|post| post["author"].as_str().unwrap()).collect();
    assert_eq!((authors.len(), authors[14]), (47, "staff"), "{authors:?}");
    assert!(thread["author"] != "staff" && thread["published"] == forum.threads[2][0].time[..10], "{thread}");
}

#[test]
fn the_first_post_on_every_page_is_still_the_first() {
    let forum = PlainForum::default();
    let first = (forum.post)(3000, &forum.threads[2][0]);
    let mut web = forum.web();
    web.change("/viewtopic.php?t=3&", |body| body.replace("<div class=posts>", &format!("<div class=posts>{first}")));
    let reading = crate::plain::read(web);
    let thread = reading.thread(THREAD);
    assert_eq!(thread["posts"].as_array().unwrap().len(), 47, "{thread}");
    assert_eq!(thread["author"], forum.threads[2][0].author);
}

#[test]
fn authors_may_be_in_attributes_or_pictures() {
    let attribute = |number: usize, Post { author, time, html }: &Post| {
        format!(
            "<article data-username='{author}' id=post-{number}><div class=date>{time}</div><div class=message-body>{html}</div></article>"
        )
    };
    let picture = |number: usize, Post { author, time, html }: &Post| {
        format!(
            "<article id=post-{number}><a href='/members/{author}/'><img alt='{author}' src=a.jpg></a><div class=date>{time}</div>\
             <div class=message-body>{html}</div></article>"
        )
    };
    for post in [attribute as fn(usize, &Post) -> String, picture] {
        let forum = PlainForum { post, ..PlainForum::default() };
        let reading = forum.read();
        let thread = reading.thread(THREAD);
        let found = thread["posts"].as_array().unwrap().iter().map(|post| post["author"].as_str().unwrap());
        assert!(found.eq(forum.threads[2].iter().map(|post| post.author.as_str())), "{thread}");
    }
}

#[test]
fn discovery_shows_posts_of_two_threads() {
    let forum = PlainForum { above: staff("2019-01-01 08:00"), ..PlainForum::default() };
    let shown = discover(forum.web());
    let post = |thread: usize| {
        let Post { author, time, html } = &forum.threads[thread - 1][0];
        format!("{author}, {time}: {}", &html[..40])
    };
    assert!(shown.contains(&post(3)) && shown.contains(&post(5)), "{shown}");
    assert!(shown.contains("47 by the list; continues at http://bbs.test/viewtopic.php?t=3&start=10"), "{shown}");
    // Nobody can read these times.
    let mut forum = PlainForum::default();
    forum.threads.iter_mut().flatten().for_each(|post| post.time = "a while ago".to_owned());
    assert!(discover(forum.web()).contains(&format!("{}, (no time): ", forum.threads[2][0].author)));
}
