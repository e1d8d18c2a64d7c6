//! Pages that are there and not shown: a notice, a login or a challenge in place of a page that was fetched before, and
//! sites that show a page only if a cookie comes back.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::{lexicon_of, pages, run, suidao};
use suidao::model::{CrawlUrl, Failure, Fetched};
use suidao::replay::Web;
use suidao::world::WebServer;
use suidao_features::depth;

type Answer = Box<dyn Fn(&CrawlUrl, &str, usize) -> Option<Fetched> + Send + Sync>;

/// A web whose answers depend on the URL, the `Cookie` sent and the number of its phase. Without an answer: 404.
struct Site {
    answer: Answer,
    phase: AtomicUsize,
    requested: Mutex<Vec<String>>,
}

impl Web for Site {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        self.get_with(url, &[])
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        self.requested.lock().unwrap().push(url.to_string());
        let cookie = fields.iter().find(|(name, _)| name == "cookie").map_or("", |(_, value)| value.as_str());
        let answer = (self.answer)(url, cookie, self.phase.load(Ordering::SeqCst));
        Ok(answer.unwrap_or_else(|| reply(url, 404, &[], "")))
    }
}

fn serve(answer: impl Fn(&CrawlUrl, &str, usize) -> Option<Fetched> + Send + Sync + 'static) -> (Arc<Site>, WebServer) {
    let site =
        Arc::new(Site { answer: Box::new(answer), phase: AtomicUsize::new(0), requested: Mutex::new(Vec::new()) });
    let server = WebServer::start(Arc::clone(&site) as Arc<dyn Web>).unwrap();
    (site, server)
}

fn reply(url: &CrawlUrl, status: u16, fields: &[(&str, &str)], body: &str) -> Fetched {
    let html = [("content-type", "text/html; charset=utf-8")];
    let headers = html.iter().chain(fields).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Fetched::new(url.clone(), status, headers, body.to_owned())
}

/// An article on the topic; those of different numbers have nothing in common.
fn article(number: usize) -> String {
    const STORIES: [&str; 12] = [
        "昨晚的联赛里主场球队先丢一球，前锋在补时阶段连入两球，球迷冲进场内庆祝这场来之不易的比赛。",
        "主教练在发布会上说，足球学校今年招收的孩子比去年多一倍，将来的球队要靠他们赢得冠军。",
        "决赛门票开售十分钟就被抢光，许多球迷在雨里排队，只为看一眼足球场上的老对手再次比赛。",
        "这家俱乐部宣布更换主教练，新帅曾带领另一支球队拿到联赛冠军，他要求前锋每天加练射门。",
        "草坪修好以后，主场的看台增加了三千个座位，足球协会希望明年的联赛在这里开幕。",
        "一名退役前锋写了本书，回忆三十年前的决赛：比赛前夜球队住在山里，没有人睡着。",
        "女子足球队在亚洲赛场连胜四场，主教练认为体能是关键，球迷把机场围得水泄不通。",
        "裁判委员会公布新规，联赛的每场比赛都有录像助理，球队可以在中场申诉一次。",
        "赞助商撤资之后，球队靠卖年轻前锋度日，主教练带着球迷的捐款打完了整个赛季的足球比赛。",
        "高原主场一直让客队头疼，去年的冠军在那里输了三个球，足球记者把它叫作云上的决赛。",
        "社区办起周末足球赛，四十支球队分成八组，夺得冠军的是一群送信的人，球迷都是邻居。",
        "转会窗口关闭前一小时，两支联赛球队互换前锋，主教练们都说这对比赛节奏有好处。",
    ];
    let story =
        STORIES[number % STORIES.len()].repeat(6) + "足球比赛里，球队和球迷在联赛决赛中为冠军欢呼，主教练和前锋也在。";
    format!(
        "<html><head><title>球讯{number}</title></head><body><article><h1>球讯{number}</h1><p>{story}</p></article></body></html>"
    )
}

fn crawl(dir: &Path, server: &WebServer, seeds: &str, sets: &[&str]) -> Command {
    fs::write(dir.join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
    fs::write(dir.join("seeds.txt"), seeds).unwrap();
    let mut command = suidao();
    command.arg("crawl").arg("-m").arg(dir.join("lexicon.toml")).arg("-s").arg(dir.join("seeds.txt"));
    command.arg("-o").arg(dir.join("crawl")).args(["--strategy", "breadth-first"]);
    with_settings(&mut command, server, sets);
    command
}

fn refresh(dir: &Path, server: &WebServer, sets: &[&str]) -> Command {
    let mut command = suidao();
    command.arg("refresh").arg(dir.join("crawl")).args(["--requests", "60"]);
    with_settings(&mut command, server, sets);
    command
}

fn with_settings(command: &mut Command, server: &WebServer, sets: &[&str]) {
    command.args(["--proxy", &server.proxy(), "--contact", "test@example.org"]);
    let always = ["politeness.delay=0", "crawl.in_flight=1", "scope.schemes=['http']", "traps.near_duplicates=false"];
    command.args(always.iter().chain(sets).flat_map(|set| ["--set", set]));
}

/// The exported relevant pages: URL and text.
fn relevant(dir: &Path, name: &str) -> Vec<(String, String)> {
    let file = dir.join(name);
    let mut command = suidao();
    command.arg("export").arg(dir.join("crawl")).arg("-o").arg(&file).arg("--relevant");
    run(command).expect(0);
    let rows: Vec<serde_json::Value> =
        fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    let mut rows: Vec<(String, String)> = rows.iter().map(|row| (field(row, "url"), field(row, "text"))).collect();
    rows.sort();
    rows
}

const NOTICE: &str = "<title>通知</title><p>系统维护中，请稍后再试。";
const LOGIN: &str = "<title>登录</title><form><p>请先登录后查看<input name=user><input type=password></form>";
const CHALLENGE: &str =
    "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue<script>run()</script>";
const LONG_NOTICE: &str = "<title>公告</title><article><p>尊敬的用户，为了提供更好的服务，我们将于今晚零点至次日凌晨六点进行机房搬迁和服务器升级，期间网站的\
                           各个栏目将暂停访问，您的数据不会丢失。由此带来的不便敬请谅解，如有疑问请通过客服电话或者电子邮箱与我们联系，感谢您的\
                           理解和一直以来的支持。升级完成以后我们会在首页发布消息，届时您可以继续使用全部功能，祝您生活愉快。</article>";

/// What each page answers in phase 1.
fn wall(url: &CrawlUrl, number: usize) -> Fetched {
    let shared = article(11);
    let noindex = article(number).replace("<head>", "<head><meta name=robots content=noindex>");
    let short = "<title>联赛</title><article><p>足球联赛开赛，球队和球迷都在等比赛。球队夺冠，球迷和主教练在谈联赛的决赛，比赛还没有开始。";
    match number {
        0 => reply(url, 200, &[], NOTICE),
        1 => reply(url, 200, &[], ""),
        2 => reply(url, 204, &[], ""),
        3 => reply(url, 200, &[], CHALLENGE),
        4 => reply(url, 200, &[], LOGIN),
        5 => reply(url, 200, &[], LONG_NOTICE),
        6 => reply(url, 200, &[], &noindex),
        7 => reply(url, 200, &[("x-robots-tag", "noindex")], &article(7)),
        8 => reply(url, 200, &[], short),
        // Two pages with one new text on the topic: of the first nothing is known.
        _ => reply(url, 200, &[], &shared),
    }
}

const PAGES: usize = 11;

fn walled() -> (Arc<Site>, WebServer) {
    serve(|url, _, phase| {
        let number: usize = match url.path() {
            "/" => {
                let links: String = (0..PAGES).map(|n| format!("<p><a href=/{n}.html>足球比赛 {n}</a>")).collect();
                return Some(reply(url, 200, &[], &format!("<title>球队</title>{links}")));
            }
            path => path.strip_prefix('/')?.strip_suffix(".html")?.parse().ok()?,
        };
        Some(if phase == 1 { wall(url, number) } else { reply(url, 200, &[], &article(number)) })
    })
}

const AT_ONCE: [&str; 3] = ["refresh.shortest=0", "refresh.sitemaps=false", "refresh.prior=0.01"];

#[test]
fn a_page_survives_a_wall_and_is_replaced_after_the_grace() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (site, server) = walled();
    run(crawl(dir, &server, "http://a.test/\n", &[])).expect(0);
    let before = relevant(dir, "before.jsonl");
    assert_eq!(before.len(), PAGES, "{before:?}");
    site.phase.store(1, Ordering::SeqCst);
    let round = run(refresh(dir, &server, &AT_ONCE)).expect(0);
    let summary = format!("{}{}", round.out, round.err);
    assert!(summary.contains("10 revisited pages answered without their text"), "{summary}");
    let walled = relevant(dir, "walled.jsonl");
    let changed: Vec<&String> =
        walled.iter().zip(&before).filter(|(now, old)| now != old).map(|(now, _)| &now.0).collect();
    assert!(walled.len() == PAGES && changed.len() <= 1, "at most the first page with a shared text: {changed:?}");
    let why = |page: usize| {
        let mut command = suidao();
        command.arg("why").arg(dir.join("crawl")).arg(format!("http://a.test/{page}.html"));
        run(command).expect(0).out
    };
    for page in 0..9 {
        let why = why(page);
        let own = why.split("visits:").next().unwrap();
        assert!(own.contains("kept as it was since ") && own.contains(": relevant"), "{why}");
    }
    // They stay due.
    let requests = |page: usize| {
        let url = format!("http://a.test/{page}.html");
        site.requested.lock().unwrap().iter().filter(|requested| **requested == url).count()
    };
    let times: Vec<usize> = (0..PAGES).map(requests).collect();
    run(refresh(dir, &server, &AT_ONCE)).expect(0);
    assert!((0..9).all(|page| requests(page) > times[page]), "{times:?}");
    // The site is back.
    site.phase.store(0, Ordering::SeqCst);
    run(refresh(dir, &server, &AT_ONCE)).expect(0);
    assert_eq!(relevant(dir, "back.jsonl"), before);
    assert!(!why(0).contains("kept as it was"), "{}", why(0));
    // After the grace the new pages are taken over.
    site.phase.store(1, Ordering::SeqCst);
    run(refresh(dir, &server, &AT_ONCE)).expect(0);
    let end = [&AT_ONCE[..], &["refresh.grace=0"]].concat();
    run(refresh(dir, &server, &end)).expect(0);
    let after = relevant(dir, "after.jsonl");
    assert!(after.iter().all(|(url, _)| !(0..8).any(|page| url.ends_with(&format!("/{page}.html")))), "{after:?}");
    assert!(why(0).contains(", version of ") && !why(0).contains(": relevant\n"), "{}", why(0));
}

/// Pages behind cookies: one that sets it on its own URL, one behind a bounce on another host of the domain, one behind
/// a bounce that all pages share, and one that sets another cookie each time.
fn behind_cookies() -> (Arc<Site>, WebServer) {
    let count = AtomicUsize::new(0);
    serve(move |url, cookie, _| {
        let redirect = |to: &str, set: &str| {
            let fields: &[(&str, &str)] = &[("location", to), ("set-cookie", set)];
            Some(reply(url, 302, if set.is_empty() { &fields[..1] } else { fields }, ""))
        };
        let has = |part: &str| cookie.contains(part);
        match (url.host(), url.path()) {
            ("www.a.test", "/") => {
                let links: String = ["own", "bounce", "shared1", "shared2", "far1", "far2", "endless", "free"]
                    .iter()
                    .map(|n| format!("<p><a href=/{n}>足球 {n}</a>"))
                    .collect();
                Some(reply(url, 200, &[], &format!("<title>球队</title>{links}")))
            }
            ("www.a.test", "/own") if !has("seen=1") => redirect("/own", "seen=1; Path=/"),
            ("www.a.test", "/bounce") if !has("sso=1") => redirect("http://sso.a.test/in?back=/bounce", ""),
            ("sso.a.test", "/in") => redirect("http://www.a.test/bounce", "sso=1; Domain=a.test; Path=/"),
            ("www.a.test", path @ ("/shared1" | "/shared2")) if !has("in=1") => {
                redirect("/login", &format!("back={}; Path=/", &path[1..]))
            }
            ("www.a.test", "/login") => {
                let back = cookie.split("back=").nth(1).unwrap_or("").split(';').next().unwrap_or("");
                redirect(&format!("/{back}"), "in=1; Path=/")
            }
            ("www.a.test", path @ ("/far1" | "/far2")) if !has("far=1") => {
                redirect("http://sso.a.test/count", &format!("to={}; Domain=a.test; Path=/", &path[1..]))
            }
            ("sso.a.test", "/count") => {
                let back = cookie.split("to=").nth(1).unwrap_or("").split(';').next().unwrap_or("");
                redirect(&format!("http://www.a.test/{back}"), "far=1; Domain=a.test; Path=/")
            }
            ("www.a.test", "/endless") => {
                redirect("/endless", &format!("n={}; Path=/", count.fetch_add(1, Ordering::SeqCst)))
            }
            ("www.a.test", path) => {
                let number = ["/own", "/bounce", "/shared1", "/shared2", "/far1", "/far2", "/free"]
                    .iter()
                    .position(|page| *page == path)?;
                // A session cookie alone is sent to no other page.
                if path == "/free" && !cookie.is_empty() {
                    return Some(reply(url, 500, &[], ""));
                }
                Some(reply(url, 200, &[], &article(number)))
            }
            _ => None,
        }
    })
}

#[test]
fn a_cookie_that_must_come_back_comes_back_within_a_chain_of_redirects() {
    for (kept, in_flight) in [(false, 8), (true, 1), (false, 1)].into_iter().take(depth(1, 3)) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let (site, server) = behind_cookies();
        let sets = [format!("fetch.cookies={kept}"), format!("crawl.in_flight={in_flight}")];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        run(crawl(dir, &server, "http://www.a.test/\n", &sets)).expect(0);
        let fetched: Vec<String> = pages(&dir.join("crawl")).keys().map(|url| url.path().to_owned()).collect();
        let expected: &[&str] = if kept {
            &["/", "/bounce", "/far1", "/far2", "/own", "/shared1", "/shared2"]
        } else {
            &["/", "/bounce", "/far1", "/far2", "/free", "/own", "/shared1", "/shared2"]
        };
        assert_eq!(fetched, expected, "fetch.cookies = {kept}, {in_flight} in flight");
        let endless = |site: &Site| site.requested.lock().unwrap().iter().filter(|url| url.contains("endless")).count();
        assert!(endless(&site) <= 8, "{}", endless(&site));
        // A refresh meets the same walls.
        let before = relevant(dir, "before.jsonl");
        for _ in 0..2 {
            let sets = [&AT_ONCE[..], &sets, &["refresh.grace=0.00001"]].concat();
            let round = run(refresh(dir, &server, &sets)).expect(0);
            let summary = format!("{}{}", round.out, round.err);
            let requested = site.requested.lock().unwrap().clone();
            assert!(summary.contains(" 0 missing, 0 retired"), "{summary}{requested:#?}");
        }
        assert_eq!(relevant(dir, "after.jsonl"), before, "fetch.cookies = {kept}");
    }
}

#[test]
fn a_page_that_redirects_to_itself_with_new_cookies_is_requested_within_the_limit() {
    let count = AtomicUsize::new(0);
    let (site, server) = serve(move |url, _, phase| match url.path() {
        "/" => Some(reply(url, 200, &[], "<title>球队</title><p><a href=/end>足球</a>")),
        "/end" if phase == 0 => Some(reply(url, 200, &[], &article(1))),
        "/end" => {
            let set = format!("n={}; Path=/", count.fetch_add(1, Ordering::SeqCst));
            Some(reply(url, 302, &[("location", "/end"), ("set-cookie", &set)], ""))
        }
        _ => None,
    });
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    run(crawl(dir, &server, "http://a.test/\n", &[])).expect(0);
    site.phase.store(1, Ordering::SeqCst);
    site.requested.lock().unwrap().clear();
    let sets = [&AT_ONCE[..], &["limits.redirects=2"]].concat();
    run(refresh(dir, &server, &sets)).expect(0);
    let requests = site.requested.lock().unwrap().iter().filter(|url| url.ends_with("/end")).count();
    assert!((2..=3).contains(&requests), "{requests}");
}
