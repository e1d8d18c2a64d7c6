//! Whether a page as it was sent is only the frame of one that scripts make. Pure: facts of the markup in, a decision
//! out.

use std::cell::RefCell;

use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::{LocalName, local_name};

use super::tokens::tokenize;
use super::tree::raw_kind;
use crate::model::{Fetched, Page};

/// A page with so many characters of main text says enough itself.
const ENOUGH: u32 = 400;

/// Below this the main text is a line or two: a title, a notice.
const LITTLE: u32 = 120;

/// A page with so many links to others is of use as it is: lists of a tag with a single article have no more.
const SOME_LINKS: usize = 4;

/// Bytes of script that make something, and do not only count visitors.
const REAL_SCRIPT: u32 = 600;

/// A page with so many bytes of scripts in itself carries data in them: themes have a quarter of it.
const DATA: u32 = 100 << 10;

/// Names of elements that an application fills in: ids that the usual frameworks and their templates give.
const ROOTS: [&str; 12] = [
    "app",
    "root",
    "__next",
    "__nuxt",
    "___gatsby",
    "main-app",
    "mount",
    "container-app",
    "app-root",
    "react-root",
    "svelte",
    "ice-container",
];

/// What a page's markup tells of its scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scripting {
    /// Scripts from files, those of the usual counters left out.
    pub files: u32,
    /// Bytes of scripts in the page.
    pub inline: u32,
    /// Characters of text outside scripts, white space left out.
    pub text: u32,
    /// An element that an application fills in, and nothing in it.
    pub empty_root: bool,
    /// What is shown without scripts asks for them.
    pub asks: bool,
    /// A script of the page leaves for another, or writes into it.
    pub acts: bool,
}

/// Whether a browser should run the scripts of a page before it is read, `page` being what reading it without made of it:
/// it says little, and there is a sign that scripts would say more.
pub fn wants_browser(fetched: &Fetched, page: &Page) -> bool {
    if page.sketch.chars >= ENOUGH || fetched.rendered.is_some() {
        return false;
    }
    let decoded = super::charset::decode(&fetched.body, fetched.header("content-type"));
    scripting(&decoded.text).wants_browser(page.sketch.chars, page.outlinks.len())
}

impl Scripting {
    /// The decision: `chars` of main text, `links` to other pages.
    pub fn wants_browser(&self, chars: u32, links: usize) -> bool {
        let runs = self.files > 0 || self.inline >= REAL_SCRIPT;
        if chars >= ENOUGH || !(runs || self.acts) {
            return false;
        }
        // An application's frame has neither text nor links, or asks for scripts in so many words.
        let bare = chars < LITTLE && links < SOME_LINKS;
        // Menus have scripts too that leave the page, when somebody asks for it.
        let acts = self.acts && self.text < LITTLE;
        bare && (self.empty_root || self.asks || acts)
            || bare && runs && self.text < LITTLE && links == 0
            || self.asks && self.empty_root
            || self.inline >= DATA
    }
}

/// Looks at the markup of a page.
pub fn scripting(html: &str) -> Scripting {
    tokenize(html, Sink::default).0.into_inner().found
}

#[derive(Default)]
struct Sink(RefCell<Look>);

#[derive(Default)]
struct Look {
    found: Scripting,
    /// In a script that is run, in other raw text, or in what is shown without scripts.
    within: Option<LocalName>,
    script: String,
    /// An open element that an application fills in, with nothing in it so far but a word to wait; how many elements of its
    /// name are open in it, itself among them; characters in it.
    root: Option<(LocalName, u32, usize)>,
    /// What is shown without scripts.
    without: String,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut look = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => look.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                look.start(&tag);
                if let Some(kind) = raw_kind(&tag.name) {
                    return TokenSinkResult::RawData(kind);
                }
            }
            Token::TagToken(tag) => look.end(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Look {
    fn start(&mut self, tag: &Tag) {
        let value = |name: &LocalName| {
            tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
        };
        if self.within == Some(local_name!("noscript")) {
            return;
        }
        if let Some((root, open, _)) = &mut self.root {
            if *root == tag.name {
                *open += 1;
            }
            if tag.name == local_name!("a") {
                self.root = None;
            }
        }
        match tag.name {
            local_name!("script") => {
                let kind = value(&local_name!("type")).unwrap_or_default().trim().to_ascii_lowercase();
                let runs = kind.is_empty() || kind == "module" || kind.ends_with("javascript");
                match value(&local_name!("src")) {
                    Some(file) if runs && !is_counter(file) => self.found.files += 1,
                    _ => {}
                }
                self.within = Some(local_name!("script"));
                self.script.clear();
                if !runs {
                    self.within = Some(local_name!("style"));
                }
            }
            local_name!("style") | local_name!("noscript") | local_name!("title") | local_name!("iframe") => {
                self.within = Some(tag.name.clone());
            }
            _ => {
                let id = value(&local_name!("id")).unwrap_or_default();
                if self.root.is_none() && (ROOTS.contains(&id) || &*tag.name == "app-root") {
                    self.root = Some((tag.name.clone(), 1, 0));
                }
            }
        }
    }

    fn end(&mut self, name: &LocalName) {
        match &self.within {
            Some(within) if within == name || *within == local_name!("style") && *name == local_name!("script") => {
                if *name == local_name!("script") && !is_counter(&self.script) {
                    let bytes = u32::try_from(self.script.trim().len()).unwrap_or(u32::MAX);
                    self.found.inline = self.found.inline.saturating_add(bytes);
                    self.found.acts |= acts(&self.script);
                }
                if *name == local_name!("noscript") {
                    self.found.asks |= asks_for_scripts(&self.without);
                    self.without.clear();
                }
                self.within = None;
                self.script.clear();
            }
            Some(_) => {}
            None => {
                if let Some((root, open, _)) = &mut self.root
                    && root == name
                {
                    *open -= 1;
                    if *open == 0 {
                        self.found.empty_root = true;
                        self.root = None;
                    }
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        match &self.within {
            Some(within) if *within == local_name!("script") => self.script.push_str(text),
            Some(within) if *within == local_name!("noscript") => self.without.push_str(text),
            Some(_) => {}
            None => {
                let chars = text.chars().filter(|c| !c.is_whitespace()).count();
                if let Some((_, _, inside)) = &mut self.root {
                    *inside += chars;
                    // "Loading..." is nothing yet.
                    if *inside > 24 {
                        self.root = None;
                    }
                }
                self.found.text = self.found.text.saturating_add(u32::try_from(chars).unwrap_or(u32::MAX));
            }
        }
    }
}

/// Whether a script, or the file that it is in, only counts visitors.
fn is_counter(script: &str) -> bool {
    const COUNTERS: [&str; 9] = [
        "hm.baidu.com",
        "google-analytics.com",
        "googletagmanager.com",
        "busuanzi",
        "cnzz.com",
        "umeng.com",
        "51.la",
        "zz.bdstatic.com",
        "cloudflareinsights.com",
    ];
    COUNTERS.iter().any(|counter| script.contains(counter))
}

/// Whether a script leaves the page, or writes into it while it is read.
fn acts(script: &str) -> bool {
    let leaves = ["location.href=", "location=", "location.replace(", "location.assign("];
    let script: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    script.contains("document.write(") || leaves.iter().any(|way| script.contains(way))
}

/// Whether a text for browsers without scripts says that the page needs them.
fn asks_for_scripts(text: &str) -> bool {
    let text = text.to_lowercase();
    let named =
        ["javascript", "java script", "js", "脚本", "腳本", "スクリプト"].iter().any(|word| text.contains(word));
    let asked = [
        "enable",
        "need",
        "require",
        "turn on",
        "doesn't work",
        "not work",
        "启用",
        "开启",
        "打开",
        "允许",
        "需要",
        "啟用",
        "開啟",
        "有効",
    ];
    named && asked.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(html: &str) -> bool {
        let url = crate::model::CrawlUrl::parse("http://a.test/").unwrap();
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        let body = html.to_owned().into();
        let fetched = Fetched { url, status: 200, headers, body, wire: None, asked: None, rendered: None };
        let topic = crate::topic::Topic::new(crate::topic::Lexicon::from_terms("体育", &[("足球", 1.0)]));
        wants_browser(&fetched, &crate::read::read(&fetched, &topic))
    }

    #[test]
    fn frames_of_applications_want_a_browser() {
        let long = "x();".repeat(300);
        for html in [
            // Vue, React, Next, Nuxt, Angular, as their tools make them.
            "<title>足球</title><noscript>We're sorry but app doesn't work properly without JavaScript enabled. Please enable it to continue.</noscript><div id=app></div><script src=/js/app.1a2b.js></script>",
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=\"root\"></div><script defer src=/static/js/main.js></script>",
            "<div id=__next></div><script src=/_next/static/main.js></script>",
            "<div id=\"__nuxt\"><!-- --></div><script type=module src=/_nuxt/entry.js></script>",
            "<app-root></app-root><script src=runtime.js type=module></script>",
            "<div id=app>加载中...</div><script src=/app.js></script>",
            "<div id=app><div class=spinner><div></div><p>正在加载，请稍候</p></div></div><script src=/app.js></script>",
            "<noscript>请启用 JavaScript 后查看本页</noscript><div id=main-app></div><script src=/umi.js></script>",
            // Nothing but a script.
            &format!("<title>足球</title><body><script>{long}</script>"),
            "<title>新闻</title><script src=/list.js></script><div class=list></div>",
            // Leaves at once, or writes what it shows.
            "<script>window.location.href = '/index2.html';</script>",
            "<script>location.replace('/zh/')</script>",
            // The list is in a script, and templates are in its place.
            &format!(
                "<a href=/>首页</a><a href=/a>关于</a><a href=/b>联系</a><a href=/c>更多</a><a href=/d>其他</a><ul id=posts></ul><script>const posts=[{}]</script>",
                "{\"title\":\"x\"},".repeat(8000)
            ),
            "<body><h1>新闻</h1><script>document.write('<p>' + news)</script>",
        ] {
            assert!(asked(html), "{html}");
        }
    }

    #[test]
    fn pages_that_say_something_do_not() {
        let text = "<p>这场比赛的上半场双方都没有进球，下半场开始后主队加强了进攻，终于在第七十分钟由替补上场的前锋头球破门。</p>".repeat(12);
        let links: String = (0..12).map(|n| format!("<li><a href=/{n}.html>第{n}条新闻</a>")).collect();
        for html in [
            // Made by the server, with an application on it.
            format!("<div id=app>{text}</div><script src=/app.js></script>"),
            format!("<noscript>Please enable JavaScript</noscript><div id=root>{text}</div><script src=/a.js></script>"),
            format!("<div id=app><ul>{links}</ul></div><script src=/app.js></script>"),
            // Short, and nothing runs, or nothing that makes text.
            "<title>通知</title><p>今天停课。".to_owned(),
            "<p>今天停课一天，请各位同学互相转告。</p><script src=//hm.baidu.com/hm.js></script>".to_owned(),
            "<p>短文一篇</p><script>var _hmt=_hmt||[];(function(){var hm=document.createElement('script');hm.src='https://hm.baidu.com/hm.js?1';})();</script>".to_owned(),
            "<p>短文一篇，由作者本人在家中写成，写完以后放在这里给大家看。</p><a href=/about>关于</a><script src=/menu.js></script>".to_owned(),
            "<p>本页</p><script type=application/ld+json>{\"@type\":\"Article\"}</script>".to_owned(),
            "<frameset><frame src=/left.html><frame src=/main.html></frameset>".to_owned(),
            String::new(),
            "<div id=app></div>".to_owned(),
            // Shown code is no script.
            "<pre>&lt;script&gt;location.href='/x'&lt;/script&gt;</pre>".to_owned(),
        ] {
            assert!(!asked(&html), "{html}");
        }
    }

    #[test]
    fn what_a_browser_made_is_not_given_to_it_again() {
        let facts = scripting("<div id=root></div><script src=/a.js></script>");
        assert_eq!((facts.files, facts.empty_root, facts.asks), (1, true, false));
        assert!(facts.wants_browser(0, 0) && !facts.wants_browser(ENOUGH, 0));
    }

    proptest::proptest! {
        #[test]
        fn no_markup_panics(html in "(<[a-z!/ ]{0,9}[^<]{0,12}>?|</?(script|noscript|div id=app|style)>|[^<]{0,8}){0,30}") {
            let facts = scripting(&html);
            proptest::prop_assert!(facts.text as usize <= html.chars().count());
        }
    }
}
