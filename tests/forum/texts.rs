//! Texts of posts: words of login notices in them, and what follows a separator line.

use crate::plain::{PlainForum, Post, posts, read};

#[test]
fn words_of_a_notice_in_posts_hide_no_thread() {
    for words in [
        "Advertising is not permitted here.",
        "It says: please log in. But I am logged in!",
        "网页总是提示请先登录，我没有权限。",
        "管理画面にはログインしてくださいと出ます。",
    ] {
        let mut forum = PlainForum::default();
        for (thread, posts) in forum.threads.iter_mut().enumerate() {
            // In the first post, in the last, or as a quotation; with times that nobody can read.
            let post = if thread % 2 == 0 { 0 } else { posts.len() - 1 };
            posts[post].html =
                if thread % 3 == 0 { format!("<blockquote>{words}</blockquote> No.") } else { words.to_owned() };
            for (at, post) in posts.iter_mut().enumerate() {
                post.time = format!("the {at}. of Nebenmond");
            }
        }
        forum.title = |thread| format!("Must be logged in to read number {thread}");
        let reading = forum.read();
        assert_eq!((reading.code, reading.threads.len()), (0, 9), "{words}: {}", reading.output);
        assert!(!reading.output.contains("login now"), "{words}: {}", reading.output);
    }
}

#[test]
fn a_wall_is_still_one() {
    let mut web = PlainForum::default().web();
    let wall = "<title>Information</title><div id=message class=panel><h2>Information</h2><p>You are not authorised to read \
                this forum.</p></div>";
    web.answer("/viewtopic.php?t=3", 200, wall);
    let reading = read(web);
    assert_eq!((reading.code, reading.threads.len()), (0, 8), "{}", reading.output);
    assert!(reading.output.contains("1 page requires a login now"), "{}", reading.output);
}

/// A thread of three pages.
fn forum(change: impl Fn(usize, &mut Post)) -> PlainForum {
    let mut thread = posts(25);
    thread.iter_mut().enumerate().for_each(|(at, post)| change(at, post));
    let others = [3, 1, 4, 6, 2, 5, 8].map(posts);
    PlainForum { threads: [posts(2), thread].into_iter().chain(others).collect(), ..PlainForum::default() }
}

const THREAD: &str = "How do I bake bread number 2";

#[test]
fn what_follows_a_separator_in_a_post_is_kept() {
    let texts = [
        "Before the line.<br>--<br>After the line.",
        "A table:<br>_____<br>1 2<br>_____<br>3 4",
        "<pre>--- a/bread.c\n+++ b/bread.c\n@@ -1 +1 @@\n-old\n+new\n--\n2.39.2</pre>",
        "Dashes -- as in speech -- are common.<br>------------<br>So are lines.",
        "One half<hr>and the other.",
        "SELECT 1;<br>-- a comment<br>SELECT 2;",
    ];
    let reading = forum(|at, post| {
        if let Some(text) = texts.get(at) {
            post.html = (*text).to_owned();
        }
    })
    .read();
    let found = reading.posts(THREAD);
    assert_eq!(
        found[..6],
        [
            "Before the line.\n--\nAfter the line.",
            "A table:\n_____\n1 2\n_____\n3 4",
            "--- a/bread.c\n+++ b/bread.c\n@@ -1 +1 @@\n-old\n+new\n--\n2.39.2",
            "Dashes -- as in speech -- are common.\n------------\nSo are lines.",
            "One half\nand the other.",
            "SELECT 1;\n-- a comment\nSELECT 2;",
        ]
    );
}

#[test]
fn what_repeats_below_posts_of_one_author_is_a_signature() {
    for separator in ["<br>--<br>", "<br>-- <br>", "<p>_______________</p>", "<hr>", "<br>---<br>"] {
        // Anna's posts are on all three pages, one each.
        let reading = forum(|at, post| {
            if at % 10 == 3 {
                post.author = "anna".to_owned();
                post.html = format!("My post {at}.{separator}Anna of Kent<br>All bread is good.");
            } else {
                post.author = "bert".to_owned();
            }
        })
        .read();
        let found = reading.posts(THREAD);
        assert_eq!(found.len(), 25, "{separator}: {}", reading.output);
        assert_eq!([found[3], found[13], found[23]], ["My post 3.", "My post 13.", "My post 23."], "{separator}");
    }
}

#[test]
fn what_repeats_below_posts_of_several_threads_is_a_signature() {
    // No author has two posts in a thread.
    let mut forum = PlainForum { threads: [3, 4, 2, 5, 2, 6, 3, 4, 5].map(posts).into(), ..PlainForum::default() };
    for post in forum.threads.iter_mut().flatten() {
        post.html += &format!("<br>--<br>{} of Kent, king of breads", post.author);
    }
    let once = &mut forum.threads[0][0];
    once.html = once.html.replace(" of Kent, king of breads", " of Kent, who says this once");
    let reading = forum.read();
    assert_eq!(reading.count(), 34, "{}", reading.output);
    let texts: Vec<&str> = (1..=9).flat_map(|at| reading.posts(&format!("How do I bake bread number {at}"))).collect();
    let signed: Vec<&&str> = texts.iter().filter(|text| text.contains("of Kent")).collect();
    assert!(signed.len() == 1 && signed[0].ends_with("once"), "{signed:?}");
}

#[test]
fn a_thread_in_which_all_say_the_same_is_not_empty() {
    let reading = forum(|_, post| post.html = "+1".to_owned()).read();
    assert_eq!(reading.posts(THREAD), ["+1"; 25]);
}
