//! Tests of robots.txt: the examples of RFC 9309, the rules that Google publishes, and files found on the web.

use super::*;

/// A file, an agent, and whether paths or URLs are allowed.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, bool)]);

fn hold(cases: &[Case]) -> usize {
    let mut wrong = Vec::new();
    for (text, agent, urls) in cases {
        let robot = Robot::new(agent, text.as_bytes());
        for (url, allowed) in *urls {
            if robot.allowed(url) != *allowed {
                wrong.push(format!("{agent} and {url}: allowed must be {allowed} under\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    cases.iter().map(|(.., urls)| urls.len()).sum()
}

/// Tests one rule alone.
fn forbids(rule: &str, forbidden: &[&str], free: &[&str]) -> usize {
    for agent in ["*", "suidao"] {
        let robot = Robot::new("suidao", format!("User-agent: {agent}\nDisallow: {rule}\n").as_bytes());
        for url in forbidden {
            assert!(!robot.allowed(url), "{rule} must forbid {url}");
        }
        for url in free {
            assert!(robot.allowed(url), "{rule} must not forbid {url}");
        }
    }
    forbidden.len() + free.len()
}

/// RFC 9309, 5.1.
const SIMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
    User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
    User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
    User-Agent: quxbot\n";

#[test]
fn the_simple_example_of_the_rfc() {
    let cases = hold(&[
        (
            SIMPLE,
            "suidao",
            &[
                ("/", true),
                ("/a.gif", false),
                ("/a/b.gif", false),
                ("/a.gif?x", true),
                ("/example/", false),
                ("/example/page.html", false),
                ("/publications/", true),
                ("/publications/a.gif", true),
                ("/example", true),
            ],
        ),
        (
            SIMPLE,
            "foobot",
            &[
                ("/", false),
                ("/x", false),
                ("/example/page.html", true),
                ("/example/allowed.gif", true),
                ("/example/other.gif", false),
            ],
        ),
        (SIMPLE, "barbot", &[("/example/page.html", false), ("/example/", true), ("/a.gif", true)]),
        (SIMPLE, "bazbot", &[("/example/page.html", false), ("/", true)]),
        (SIMPLE, "quxbot", &[("/example/page.html", true), ("/a.gif", true), ("/", true)]),
    ]);
    assert_eq!(cases, 22);
}

#[test]
fn the_longest_match_of_the_rfc() {
    // 5.2.
    let text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    hold(&[
        (
            text,
            "foobot",
            &[
                ("https://www.example.com/example/page/disallowed.gif", false),
                ("https://www.example.com/example/page/", true),
                ("https://www.example.com/example/page/x", true),
                ("https://www.example.com/other", true),
            ],
        ),
        // The order does not matter.
        (
            "User-Agent: foobot\nDisallow: /example/page/disallowed.gif\nAllow: /example/page/\n",
            "foobot",
            &[("/example/page/disallowed.gif", false), ("/example/page/a", true)],
        ),
        // 2.2.2: equally long, and Allow wins regardless of the order.
        ("User-agent: *\nDisallow: /a\nAllow: /a\n", "suidao", &[("/a", true), ("/ab", true), ("/b", true)]),
        ("User-agent: *\nAllow: /a\nDisallow: /a\n", "suidao", &[("/a", true)]),
    ]);
}

#[test]
fn groups_of_one_agent_are_one_group() {
    // 2.2.1.
    let text = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: OtherBot\ndisallow: /other\n\n\
                user-agent: ExampleBot\ndisallow: /baz\n";
    let star = "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\n";
    hold(&[
        (text, "ExampleBot", &[("/foo", false), ("/bar", false), ("/baz", false), ("/other", true), ("/boo", true)]),
        (text, "examplebot/7.1 (+x)", &[("/baz", false), ("/other", true)]),
        (text, "OtherBot", &[("/other", false), ("/foo", true)]),
        (text, "Nobody", &[("/foo", true), ("/other", true)]),
        (star, "suidao", &[("/a", false), ("/b", true), ("/c", false)]),
        (star, "x", &[("/a", true), ("/b", false), ("/c", true)]),
        // Agents before the rules share them, even with lines between that are not rules.
        ("User-agent: a\nSitemap: http://h/s.xml\n\nUser-agent: b\nDisallow: /\n", "a", &[("/x", false)]),
        ("User-agent: a\nFoo: bar\n# c\n\n\nUser-agent: b\nDisallow: /\n", "a", &[("/x", false)]),
        (
            "User-agent: a\nUser-agent: b\nDisallow: /p\nUser-agent: c\nDisallow: /q\n",
            "b",
            &[("/p", false), ("/q", true)],
        ),
        ("User-agent: a\nUser-agent: *\nDisallow: /p\n", "a", &[("/p", false)]),
        ("User-agent: a\nUser-agent: *\nDisallow: /p\n", "z", &[("/p", false)]),
        // An own group without rules allows everything.
        ("User-agent: *\nDisallow: /\n\nUser-agent: a\n", "a", &[("/x", true)]),
        ("User-agent: *\nDisallow: /\n\nUser-agent: a\nDisallow:\n", "a", &[("/x", true)]),
        ("User-agent: *\nDisallow: /\n\nUser-agent: a\nCrawl-delay: 3\n", "a", &[("/x", true)]),
        // An empty line does not end a group and is not needed.
        ("User-agent: *\n\n\nDisallow: /x\n\nDisallow: /y", "a", &[("/x", false), ("/y", false)]),
    ]);
}

#[test]
fn an_agent_is_known_by_its_product_token() {
    let google = "user-agent: googlebot-news\ndisallow: /1\n\nuser-agent: *\ndisallow: /2\n\n\
                  user-agent: googlebot\ndisallow: /3\n";
    let only = |group| [("/1", group != 1), ("/2", group != 2), ("/3", group != 3)];
    for (agent, group) in [
        ("Googlebot-News", 1),
        ("Googlebot", 3),
        ("GOOGLEBOT/2.1", 3),
        ("Googlebot-Images", 3),
        ("Storebot-Google", 2),
        ("Otherbot", 2),
        ("Google", 2),
        ("Googlebotx", 2),
        ("", 2),
    ] {
        hold(&[(google, agent, &only(group))]);
    }
    for (line, agent, named) in [
        ("suidao", "suidao", true),
        ("SuiDao", "suidao", true),
        ("suidao", "SUIDAO/9.9", true),
        ("suidao/0.1", "suidao", true),
        ("suidao/0.1 (+http://x)", "suidao", true),
        ("suidao*", "suidao", true),
        ("suidao bot", "suidao", true),
        ("  suidao\t", "suidao", true),
        ("suidaobot", "suidao", false),
        ("sui", "suidao", false),
        ("xsuidao", "suidao", false),
        ("Mozilla suidao", "suidao", false),
        ("*suidao", "suidao", false),
        ("**", "suidao", false),
        ("", "suidao", false),
        ("隧道", "suidao", false),
        ("suidao 隧道", "suidao", true),
        ("360Spider", "360Spider", true),
        ("MJ12bot", "MJ12bot/1.4", true),
        ("MJ", "MJ12bot", false),
        ("Foo_Bar-Baz", "foo_bar-baz", true),
        ("suidao-news", "suidao", false),
    ] {
        let text = format!("User-agent: {line}\nDisallow: /\n");
        hold(&[(&text, agent, &[("/", !named)])]);
    }
    for (line, is) in [("*", true), ("* ", true), ("* all robots", true), ("*x", false), ("'*'", false)] {
        let text = format!("User-agent: {line}\nDisallow: /\n");
        hold(&[(&text, "suidao", &[("/", !is)])]);
    }
    for (sent, token) in [
        ("suidao/0.1.0 (+https://a.cn)", "suidao"),
        ("Mozilla/5.0 (compatible; suidao/0.1; +https://a.cn)", "suidao"),
        ("Mozilla/5.0 (X11; Linux)", "Mozilla"),
        (" my-bot ", "my-bot"),
        ("隧道/1", ""),
    ] {
        assert_eq!(product(sent), token, "{sent}");
    }
}

#[test]
fn rules_match_as_google_publishes_it() {
    let cases = [
        forbids("/", &["/", "/x", "https://h.cn", "https://h.cn?x", "/x?y#z"], &["/robots.txt"]),
        forbids("/*", &["/", "/x", "/x/y"], &["/robots.txt"]),
        forbids("/$", &["/", "http://h.cn"], &["/x", "/?x", "/index.html"]),
        forbids(
            "/fish",
            &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=x"],
            &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish", "/fis"],
        ),
        forbids(
            "/fish*",
            &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=x"],
            &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
        ),
        forbids(
            "/fish/",
            &["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
            &["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
        ),
        forbids(
            "/*.php",
            &[
                "/index.php",
                "/filename.php",
                "/folder/filename.php",
                "/folder/filename.php?parameters",
                "/folder/any.php.file.html",
                "/filename.php/",
            ],
            &["/", "/windows.PHP"],
        ),
        forbids(
            "/*.php$",
            &["/filename.php", "/folder/filename.php", "/a.php.php"],
            &["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"],
        ),
        forbids("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/Fish.PHP", "/fish.htm"]),
    ];
    assert!(cases.iter().sum::<usize>() > 50);
}

#[test]
fn of_rules_that_match_the_longest_wins() {
    let rules = |rules: &str| format!("user-agent: *\n{rules}");
    for (lines, url, line) in [
        ("allow: /p\ndisallow: /\n", "http://example.com/page", 2),
        ("allow: /folder\ndisallow: /folder\n", "http://example.com/folder/page", 2),
        ("allow: /page\ndisallow: /*.htm\n", "http://example.com/page.htm", 3),
        ("allow: /page\ndisallow: /*.ph\n", "http://example.com/page.php5", 2),
        ("allow: /$\ndisallow: /\n", "http://example.com/", 2),
        ("allow: /$\ndisallow: /\n", "http://example.com/page.htm", 3),
        ("disallow: /x/\nallow: /x/page.html\n", "/x/page.html", 3),
        ("disallow: /x/\nallow: /x/page.html\n", "/x/", 2),
        ("disallow: /x/page.html\nallow: /x/\n", "/x/page.html", 2),
        ("disallow: \nallow: \n", "/x", 0),
        ("disallow: /\nallow: \n", "/x", 2),
        ("disallow: /\ndisallow:\n", "/x", 2),
        ("disallow: /\nallow: /\n", "/x", 3),
        ("disallow: /x*\nallow: /x\n", "/xy", 2),
        ("disallow: /x\nallow: /y\n", "/z", 0),
        ("disallow: /a*c\nallow: /a\n", "/abc", 2),
        ("disallow: /\u{4e2d}\nallow: /%E4%B8%AD\n", "/中", 3),
    ] {
        let text = rules(lines);
        let ruling = Robot::new("suidao", text.as_bytes()).ruling(url);
        assert_eq!(ruling.line.unwrap_or(0), line, "{url} under\n{text}");
        let stated = text.lines().nth(ruling.line.map_or(0, |line| line as usize - 1)).unwrap();
        assert_eq!(ruling.allowed, !stated.starts_with("disallow"), "{url} under\n{text}");
    }
}

#[test]
fn escapes_are_compared_as_the_rfc_has_it() {
    // The table of 2.2.2: each of a row's spellings matches each other.
    for row in [
        &["/foo/bar?baz=quz"][..],
        &["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a%2f%2Ffoo.bar"],
        &["/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"],
        &["/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/%62a%7a"],
        &["/%7Ejoe/index.html", "/~joe/index.html", "/%7ejoe/index.html"],
        &["/a%3cd.html", "/a%3Cd.html", "/a<d.html"],
        &["/a b", "/a%20b"],
        &["/x;y=1", "/x%3By%3D1"],
        &["/a'b", "/a%27b"],
        &["/{x}", "/%7Bx%7D"],
        &["/中文?q=体育", "/%E4%B8%AD%E6%96%87?q=%E4%BD%93%E8%82%B2"],
    ] {
        for rule in row {
            for url in row {
                assert_eq!(forbids(rule, &[url, &format!("https://h.cn{url}")], &[]), 2);
            }
        }
    }
    // An escaped delimiter is not a delimiter.
    forbids("/a%2fb", &["/a%2Fb", "/a%2fb/c"], &["/a/b"]);
    forbids("/a/b", &["/a/b"], &["/a%2Fb"]);
    forbids("/a%3Fb", &["/a%3fb"], &["/a?b"]);
    forbids("/?a=b%26c", &["/?a=b%26c"], &["/?a=b&c"]);
    forbids("/*?u=/x", &["/y?u=/x", "/y?u=%2Fx"], &["/y/u=/x"]);
    forbids("/*/private", &["/a/private", "/?p=/private"], &["/private", "/a/Private"]);
    forbids("/100%", &["/100%", "/100%25x"], &["/100"]);
    // 2.2.3: special characters as literals.
    forbids("/path/file-with-a-%2A.html", &["/path/file-with-a-*.html"], &["/path/file-with-a-b.html"]);
    forbids("/path/foo-%24", &["/path/foo-$", "/path/foo-$x"], &["/path/foo-"]);
    forbids("/a$b", &["/a$b", "/a%24b"], &["/a"]);
    // GBK, as its bytes: 中.
    let gbk = [b"User-agent: *\nDisallow: /".as_slice(), b"\xd6\xd0", b"/\n"].concat();
    let robot = Robot::new("suidao", &gbk);
    assert!(!robot.allowed("http://h.cn/%D6%D0/x") && robot.allowed("http://h.cn/%E4%B8%AD/x"));
}

#[test]
fn stars_and_dollars_mean_something_in_their_places_only() {
    forbids("*.gif$", &["/a.gif", "/b/a.gif"], &["/a.gif?x", "/a.gifs"]);
    forbids("/a*b*c", &["/abc", "/a1b2c3", "/abbc", "/acbc"], &["/acb", "/ab", "/bc"]);
    forbids("/a**b", &["/ab", "/axb"], &["/a"]);
    forbids("/a*$", &["/a", "/ab"], &["/b"]);
    forbids("/*b$", &["/b", "/ab", "/bab"], &["/ba"]);
    forbids("/*ab*ab$", &["/abab", "/ab/ab", "/aabab"], &["/ab", "/abb"]);
    forbids("/*?", &["/?", "/x?y"], &["/", "/x"]);
    forbids("/*?$", &["/x?"], &["/x?y", "/x"]);
    forbids("/$x", &["/$x"], &["/"]);
    forbids("*", &["/", "/x"], &[]);
    forbids("*/x", &["/x", "/a/x"], &["/ax"]);
    // A path never begins like this.
    for nothing in ["x", "x*", "$", "http://h.cn/x", "?x", "\\x", "."] {
        forbids(nothing, &[], &["/", "/x", "/http://h.cn/x", "/?x"]);
    }
}

#[test]
fn lines_are_read_as_they_are_written_in_the_wild() {
    for text in [
        "User-agent: *\nDisallow: /x",
        "User-agent: *\r\nDisallow: /x\r\n",
        "User-agent: *\rDisallow: /x\r",
        "User-agent: *\r\n\r\n\rDisallow: /x\n",
        "\u{feff}User-agent: *\nDisallow: /x\n",
        "USER-AGENT: *\nDISALLOW: /x\n",
        "user-agent:*\ndisallow:/x\n",
        "  User-agent  :  *  \n\tDisallow\t:\t/x\t\n",
        "User-agent: * # all\nDisallow: /x # nothing\n",
        "User-agent: *#all\nDisallow: /x#y\n",
        "# robots.txt\n\nUser-agent: *\n# nothing\nDisallow: /x\n",
        "User-agent *\nDisallow /x\n",
        "useragent: *\ndisalow: /x\n",
        "User agent: *\nDissallow: /x\n",
        "User-agent: *\nDiasllow: /x\n",
        "User-agent: *\nfoo: bar\n: x\nno line\nHost: h.cn\nClean-param: x /y\nDisallow: /x\n",
        "<html>\nUser-agent: *\nDisallow: /x\n</html>",
        "User-agent: *\0Disallow: /x\0",
        "User-agent: *\nAllow: /y\nDisallow: /x\nSitemap: /s\n",
        "User-agent: *\nUnknown: /\nDisallow: /x\n",
    ] {
        hold(&[(text, "suidao", &[("/x", false), ("/y", true)])]);
    }
    for text in [
        "",
        "\n\n",
        "# Disallow: /",
        "Disallow: /",
        "Disallow: /\nUser-agent: *\n",
        "Allow: /\nDisallow: /\n\nUser-agent: other\nDisallow: /\n",
        "User-agent: *\nDisallow:\n",
        "User-agent: *\nDisallow: # /\n",
        "User-agent: *\nNoindex: /\n",
        "User-agent: *\nDis allow: /\n",
        "User-agent: *\nDisallow / x\n",
        "<!DOCTYPE html><title>404</title>",
        "User-agent: \nDisallow: /\n",
    ] {
        hold(&[(text, "suidao", &[("/x", true), ("/", true)])]);
    }
    for partial in [&b"\xef"[..], b"\xef\xbb", b"\xef\xbb\xbf"] {
        let text = [partial, b"User-agent: *\nDisallow: /x\n"].concat();
        assert!(!Robot::new("suidao", &text).allowed("/x"), "{partial:?}");
    }
    // A broken mark invalidates the first line, one in the middle its own line.
    let broken = b"\xef\x11\xbfUser-agent: *\nDisallow: /x\nUser-agent: *\nDisallow: /y\n";
    let robot = Robot::new("suidao", broken);
    assert!(robot.allowed("/x") && !robot.allowed("/y"));
    let middle = "User-agent: *\n\u{feff}Disallow: /x\nDisallow: /y\n";
    hold(&[(middle, "suidao", &[("/x", true), ("/y", false)])]);
    let text = "User-agent: *\r\nDisallow: /中\r\n";
    for (mark, bytes) in [
        ([0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
        ([0xfe, 0xff], text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
    ] {
        assert!(!Robot::new("suidao", &[&mark[..], &bytes].concat()).allowed("/%E4%B8%AD"));
    }
}

#[test]
fn half_a_megabyte_is_read_and_no_half_line() {
    let filler = |bytes: usize| {
        let mut text = "User-agent: *\n".to_owned();
        while text.len() + 64 < bytes {
            text.push_str("# a line without a rule\n");
        }
        text.push_str(&"#".repeat(bytes - text.len() - 1));
        text + "\n"
    };
    let before = filler(MAX_BYTES - 20) + "Disallow: /x\n" + &"# after\n".repeat(1000) + "Disallow: /y\n";
    hold(&[(&before, "suidao", &[("/x", false), ("/y", true)])]);
    // Cut in half, the rule would allow more.
    let half = filler(MAX_BYTES - 9) + "Allow: /x/only/this\nDisallow: /x\n";
    let text = half.replacen("User-agent: *\n", "User-agent: *\nDisallow: /x\n", 1);
    let robot = Robot::new("suidao", text.as_bytes());
    assert!(!robot.allowed("/x/secret") && !robot.allowed("/x/only/this"));
    // A single line of a megabyte.
    let long = format!("User-agent: *\nDisallow: /x\nDisallow: /{}\n", "y".repeat(1 << 20));
    hold(&[(&long, "suidao", &[("/x", false), ("/y", true)])]);
}

#[test]
fn delays_are_of_the_agents_named_so_far() {
    for (text, delay) in [
        ("User-agent: *\nCrawl-delay: 2.5\nDisallow: /x", Some(2.5)),
        ("User-agent: *\nCrawl-delay: 10s", Some(10.0)),
        ("User-agent: *\nCrawl-delay: 1\nCrawl-delay: 7\n", Some(7.0)),
        ("User-agent: *\ncrawldelay:3", Some(3.0)),
        ("User-agent: *\nCrawl-delay: soon", None),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: inf", None),
        ("User-agent: *\nCrawl-delay: NaN", None),
        ("User-agent: *\nCrawl-delay:", None),
        ("Crawl-delay: 4\nUser-agent: *\nDisallow: /x", Some(4.0)),
        ("Crawl-delay: 4\nUser-agent: *\nCrawl-delay: 2\n", Some(2.0)),
        ("User-agent: other\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /x", None),
        ("User-agent: suidao\nCrawl-delay: 9\n\nUser-agent: *\nCrawl-delay: 2", Some(9.0)),
        ("User-agent: suidao\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 2", None),
    ] {
        assert_eq!(Robot::new("suidao", text.as_bytes()).delay, delay, "{text}");
    }
    let robot = Robot::new("suidao", b"Sitemap: http://h.cn/a.xml\nUser-agent: x\nsitemap:http://h.cn/b.xml # b\n");
    assert_eq!(robot.sitemaps, ["http://h.cn/a.xml", "http://h.cn/b.xml"]);
}

#[test]
fn what_is_written_to_keep_a_robot_busy_does_not() {
    // Quadratic matching would take minutes.
    let stars = format!("Disallow: /{}$\n", "*a".repeat(500)).repeat(400);
    let near = format!("Disallow: /*{}b\n", "a".repeat(900)).repeat(400);
    let url = format!("/{}", "a".repeat(1023));
    for rules in [stars, near] {
        let robot = Robot::new("suidao", format!("User-agent: *\n{rules}").as_bytes());
        for _ in 0..3 {
            std::hint::black_box(robot.allowed(&url));
        }
    }
}

#[test]
fn what_is_written_to_fill_the_memory_does_not() {
    let same = Robot::new("suidao", format!("User-agent: *\n{}", "Allow:/a\n".repeat(55_000)).as_bytes());
    assert!(same.memory() < 300, "{}", same.memory());
    assert_eq!(same.ruling("/a").line, Some(2), "the first of equal ones decides");
    let lines: String = (0..35_000).map(|n| format!("Disallow:/{n}\n")).collect();
    let text = format!("User-agent: other\n{lines}User-agent: suidao\nDisallow: /x\nDisallow: /x!\n");
    assert!(Robot::new("suidao", text.as_bytes()).memory() < 300, "rules for other robots are not stored");
    let many = Robot::new("other", text.as_bytes());
    assert!(many.memory() < 2 * text.len(), "{} of {}", many.memory(), text.len());
    assert!(!many.allowed("/34999") && many.allowed("/x"));
    let both = Robot::new("a", b"User-agent: *\nDisallow: /p\nAllow: /p\nAllow: /p\n");
    assert_eq!(both.ruling("/p"), Ruling { allowed: true, line: Some(3) });
}

/// Reference implementation of matching, simple and slow.
fn slow(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|at| slow(rest, &path[at..])),
        [byte, rest @ ..] => path.first() == Some(byte) && slow(rest, &path[1..]),
    }
}

proptest::proptest! {
    #[test]
    fn matching_follows_the_rules(pattern in "/[ab*/]{0,8}[$]?", path in "/[ab/]{0,10}") {
        proptest::prop_assert_eq!(matches(pattern.as_bytes(), path.as_bytes()), slow(pattern.as_bytes(), path.as_bytes()));
    }

    #[test]
    fn no_bytes_are_too_odd(bytes: Vec<u8>, url in "[ -~中]{0,30}", agent in "[ -~]{0,12}") {
        let _ = Robot::new(&agent, &bytes).allowed(&url);
        let text = [b"User-agent: *\nDisallow: ", &bytes[..]].concat();
        let robot = Robot::new(&agent, &text);
        proptest::prop_assert!(robot.allowed("/robots.txt"));
        let ruling = robot.ruling(&url);
        proptest::prop_assert!(ruling.allowed || ruling.line.is_some());
    }

    #[test]
    fn normal_form_is_a_fixed_point(text in "[ -~é中]{0,30}", pattern: bool) {
        let once = normal(text.as_bytes(), pattern);
        proptest::prop_assert_eq!(&normal(&once, pattern), &once);
        proptest::prop_assert_eq!(escaped(&escaped(&once)), escaped(&once));
    }

    #[test]
    fn a_rule_forbids_its_path_and_every_path_with_that_prefix(path in "/[a-z0-9/?=&%.~_;:,中é -]{0,20}", more in "[a-z0-9/]{0,5}") {
        let text = format!("User-agent: *\nDisallow: {path}\n");
        let robot = Robot::new("suidao", text.as_bytes());
        let path = path.trim();
        // The longer path must not form or break an escape.
        if !path.ends_with('%') && path.rfind('%') != path.len().checked_sub(2) {
            proptest::prop_assert!(!robot.allowed(&[path, &more].concat()));
        }
    }
}

#[test]
fn blanks_and_colons_of_word_processors_are_read() {
    for text in [
        "\u{a0}User-agent:\u{a0}*\n\u{a0}Disallow:\u{a0}/x\u{a0}\n",
        "User-agent\u{a0}: *\nDisallow\u{a0}: /x\n",
        "User-agent：*\nDisallow：/x\n",
        "User-agent： *\r\nDisallow ：/x # 注释：不要\r\n",
        "　User-agent:　*\n　　Disallow:　/x\n",
        "\u{feff}User-agent: *\n\u{a0}Disallow: /x\u{200b}\n",
        "User-agent:＊\nDisallow：/x\n",
        "User-agent\u{a0}*\nDisallow\u{3000}/x\n",
    ] {
        let robot = Robot::new("suidao", text.as_bytes());
        assert!(!robot.allowed("/x") && robot.allowed("/y"), "{text:?}");
    }
    for text in [
        &b"User-agent\xa3\xba*\nDisallow\xa3\xba/x\n"[..],
        b"\xa1\xa1User-agent:\xa1\xa1*\n\xa1\xa1Disallow\xa3\xba\xa1\xa1/x\n",
        b"User-agent\xa0*\nDisallow\xa0/x\n",
        "User-agent﹕*\nDisallow∶/x\n".as_bytes(),
        "User‑agent: *\nＤisallow: ／x\n".as_bytes(),
        "User-agent: ﹡\nDisallow: /x ＃ 注释\n".as_bytes(),
        "\u{200e}User-agent: *\n\u{2009}Disallow:\u{2009}/x\n".as_bytes(),
    ] {
        let robot = Robot::new("suidao", text);
        assert!(!robot.allowed("/x") && robot.allowed("/y"), "{}", String::from_utf8_lossy(text));
    }
    let latin = Robot::new("suidao", b"User-agent:\xa0*\nDisallow:\xa0/x\n");
    assert!(!latin.allowed("/x") && latin.allowed("/y"));
    // Not at the ends they belong to the path: 、 ends with the byte 81, 蠠 with A0.
    let path = Robot::new("suidao", "User-agent: *\nDisallow: /蠠\n".as_bytes());
    assert!(!path.allowed("/%E8%A0%A0") && path.allowed("/%E8%A0"));
    let wide = Robot::new("suidao", "User-agent: *\nDisallow: /a：b\nSitemap：http://h.cn/s.xml\n".as_bytes());
    assert!(!wide.allowed("/a%EF%BC%9Ab") && wide.allowed("/a"));
    assert_eq!(wide.sitemaps, ["http://h.cn/s.xml"]);
}
