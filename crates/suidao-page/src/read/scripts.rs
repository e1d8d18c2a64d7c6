//! Decides from the markup whether a page needs a browser to run its scripts before it is read.

use html5ever::{LocalName, local_name};

use super::dom::{Dom, TreeStep};
use super::markup::attribute;
use super::words::{SCRIPTS, SectionWords};
use crate::model::{Fetched, Page};

/// Characters of main text that need no browser.
const ENOUGH: u32 = 400;

/// Characters of main text up to a line or two: a title, a notice.
const LITTLE: u32 = 120;

/// Links to other pages that are useful without a browser; tag lists with one article have no more.
const SOME_LINKS: usize = 4;

/// Bytes of scripts that do more than count visitors.
const REAL_SCRIPT: u32 = 600;

/// Bytes of inline scripts that must contain data; themes have a quarter.
const DATA: u32 = 100 << 10;

static ROOTS: SectionWords = SectionWords::of(SCRIPTS, "roots");

/// Script facts of a page's markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scripting {
    /// External scripts, without common visitor counters.
    pub files: u32,
    /// Bytes of inline scripts.
    pub inline: u32,
    /// Characters of text outside scripts, without white space.
    pub text: u32,
    /// An application's root element is empty.
    pub empty_root: bool,
    /// The fallback asks to enable scripts.
    pub asks: bool,
    /// A script redirects or writes into the page.
    pub acts: bool,
}

/// Whether a browser should render the page; `page` is the result without it. True if that has little text and the
/// scripts seem to make more.
pub fn wants_browser(fetched: &Fetched, page: &Page) -> bool {
    if page.sketch.chars >= ENOUGH || fetched.rendered.is_some() {
        return false;
    }
    scripting(&Dom::of(fetched)).wants_browser(page.sketch.chars, page.outlinks.len())
}

impl Scripting {
    /// The decision for `chars` of main text and `links` to other pages.
    pub fn wants_browser(&self, chars: u32, links: usize) -> bool {
        let runs = self.files > 0 || self.inline >= REAL_SCRIPT;
        if chars >= ENOUGH || !(runs || self.acts) {
            return false;
        }
        // An application shell has neither text nor links, or asks to enable scripts.
        let bare = chars < LITTLE && links < SOME_LINKS;
        // Scripts of menus redirect too, but only on a click.
        let acts = self.acts && self.text < LITTLE;
        bare && (self.empty_root || self.asks || acts)
            || bare && runs && self.text < LITTLE && links == 0
            || self.asks && self.empty_root
            || self.inline >= DATA
    }
}

pub fn scripting(dom: &Dom) -> Scripting {
    let mut found = Scripting::default();
    let mut open: Vec<LocalName> = Vec::new();
    // An application's root element that is empty except for a loading message: open elements inside it, and their
    // characters.
    let mut root: Option<(usize, usize)> = None;
    // Text of the open script or fallback, and whether the script is executable.
    let (mut stored, mut runs) = (String::new(), false);
    // Depth of the open fallback; what it contains is not part of the page.
    let mut fallback: Option<usize> = None;
    dom.walk(|step| match step {
        TreeStep::Open(tag, _) if fallback.is_some() => open.push(tag.name.clone()),
        TreeStep::Open(tag, _) => {
            let value = |name: &LocalName| attribute(tag, name).unwrap_or_default();
            match tag.name {
                local_name!("a") => root = None,
                local_name!("noscript") => {
                    stored.clear();
                    fallback = Some(open.len());
                }
                local_name!("script") => {
                    stored.clear();
                    let kind = value(&local_name!("type")).trim().to_ascii_lowercase();
                    runs = kind.is_empty() || kind == "module" || kind.ends_with("javascript");
                    let file = attribute(tag, &local_name!("src")).filter(|file| runs && !is_counter(file));
                    found.files += u32::from(file.is_some());
                }
                _ if root.is_none() && (ROOTS.contains(&value(&local_name!("id"))) || &*tag.name == "app-root") => {
                    root = Some((open.len(), 0));
                }
                _ => {}
            }
            open.push(tag.name.clone());
        }
        TreeStep::Text(text) if fallback.is_some() => stored.push_str(text),
        TreeStep::Text(text) => match open.last() {
            Some(&local_name!("script")) => stored.push_str(text),
            Some(&local_name!("style") | &local_name!("title") | &local_name!("iframe")) => {}
            _ => {
                let chars = text.chars().filter(|c| !c.is_whitespace()).count();
                // Excludes "Loading...".
                root = root.map(|(depth, inside)| (depth, inside + chars)).filter(|(_, inside)| *inside <= 24);
                found.text = found.text.saturating_add(u32::try_from(chars).unwrap_or(u32::MAX));
            }
        },
        TreeStep::Close(tag) => {
            open.pop();
            if let Some(depth) = fallback {
                if depth == open.len() {
                    found.asks |= asks_for_scripts(&stored);
                    fallback = None;
                }
                return;
            }
            if tag.name == local_name!("script") && runs && !is_counter(&stored) {
                let bytes = u32::try_from(stored.trim().len()).unwrap_or(u32::MAX);
                found.inline = found.inline.saturating_add(bytes);
                found.acts |= acts(&stored);
            }
            found.empty_root |= root.take_if(|(depth, _)| *depth == open.len()).is_some();
        }
    });
    found
}

/// Whether a script or its file name is a visitor counter.
fn is_counter(script: &str) -> bool {
    static COUNTERS: SectionWords = SectionWords::of(SCRIPTS, "counters");
    COUNTERS.iter().any(|counter| script.contains(counter))
}

/// Whether a script redirects, or writes while the page is parsed.
fn acts(script: &str) -> bool {
    let leaves = ["location.href=", "location=", "location.replace(", "location.assign("];
    let script: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    script.contains("document.write(") || leaves.iter().any(|way| script.contains(way))
}

/// Whether a `noscript` text asks to enable scripts.
fn asks_for_scripts(text: &str) -> bool {
    let text = text.to_lowercase();
    static NAMED: SectionWords = SectionWords::of(SCRIPTS, "named");
    static ASKED: SectionWords = SectionWords::of(SCRIPTS, "asked");
    let any = |words: &SectionWords| words.iter().any(|word| text.contains(word));
    any(&NAMED) && any(&ASKED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(html: &str) -> bool {
        let url = crate::model::CrawlUrl::parse("http://a.test/").unwrap();
        let body = html.to_owned();
        let fetched = Fetched::html(url, body);
        let topic = crate::topic::Topic::new(crate::topic::Lexicon::from_terms("体育", &[("足球", 1.0)]));
        wants_browser(&fetched, &crate::scored::read(&fetched, &topic))
    }

    fn scripting_of(html: &str) -> Scripting {
        scripting(&Dom::of(&Fetched::html(crate::model::CrawlUrl::parse("http://a.test/").unwrap(), html.to_owned())))
    }

    #[test]
    fn frames_of_applications_want_a_browser() {
        let long = "x();".repeat(300);
        for html in [
            // Vue, React, Next, Nuxt, Angular, as their tools generate them.
            "<title>足球</title><noscript>We're sorry but app doesn't work properly without JavaScript enabled. Please enable it to continue.</noscript><div id=app></div><script src=/js/app.1a2b.js></script>",
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=\"root\"></div><script defer src=/static/js/main.js></script>",
            "<div id=__next></div><script src=/_next/static/main.js></script>",
            "<div id=\"__nuxt\"><!-- --></div><script type=module src=/_nuxt/entry.js></script>",
            "<app-root></app-root><script src=runtime.js type=module></script>",
            "<div id=app>加载中...</div><script src=/app.js></script>",
            "<div id=app><div class=spinner><div></div><p>正在加载，请稍候</p></div></div><script src=/app.js></script>",
            "<noscript>请启用 JavaScript 后查看本页</noscript><div id=main-app></div><script src=/umi.js></script>",
            // Only a script.
            &format!("<title>足球</title><body><script>{long}</script>"),
            "<title>新闻</title><script src=/list.js></script><div class=list></div>",
            // Redirects, or writes its content.
            "<script>window.location.href = '/index2.html';</script>",
            "<script>location.replace('/zh/')</script>",
            // The list is in a script, and the page has templates instead.
            &format!(
                "<a href=/>首页</a><a href=/a>关于</a><a href=/b>联系</a><a href=/c>更多</a><a href=/d>其他</a><ul id=posts></ul><script>const posts=[{}]</script>",
                "{\"title\":\"x\"},".repeat(8000)
            ),
            "<body><h1>新闻</h1><script>document.write('<p>' + news)</script>",
        ] {
            assert!(requested(html), "{html}");
        }
    }

    #[test]
    fn pages_with_text_do_not() {
        let text = "<p>这场比赛的上半场双方都没有进球，下半场开始后主队加强了进攻，终于在第七十分钟由替补上场的前锋头球破门。</p>".repeat(12);
        let links: String = (0..12).map(|n| format!("<li><a href=/{n}.html>第{n}条新闻</a>")).collect();
        for html in [
            // Rendered by the server, with an application on it.
            format!("<div id=app>{text}</div><script src=/app.js></script>"),
            format!("<noscript>Please enable JavaScript</noscript><div id=root>{text}</div><script src=/a.js></script>"),
            format!("<div id=app><ul>{links}</ul></div><script src=/app.js></script>"),
            // Short, without scripts that make text.
            "<title>通知</title><p>今天停课。".to_owned(),
            "<p>今天停课一天，请各位同学互相转告。</p><script src=//hm.baidu.com/hm.js></script>".to_owned(),
            "<p>短文一篇</p><script>var _hmt=_hmt||[];(function(){var hm=document.createElement('script');hm.src='https://hm.baidu.com/hm.js?1';})();</script>".to_owned(),
            "<p>短文一篇，由作者本人在家中写成，写完以后放在这里给大家看。</p><a href=/about>关于</a><script src=/menu.js></script>".to_owned(),
            "<p>本页</p><script type=application/ld+json>{\"@type\":\"Article\"}</script>".to_owned(),
            "<frameset><frame src=/left.html><frame src=/main.html></frameset>".to_owned(),
            String::new(),
            "<div id=app></div>".to_owned(),
            // Displayed code.
            "<pre>&lt;script&gt;location.href='/x'&lt;/script&gt;</pre>".to_owned(),
        ] {
            assert!(!requested(&html), "{html}");
        }
    }

    #[test]
    fn what_a_browser_made_is_not_given_to_it_again() {
        let facts = scripting_of("<div id=root></div><script src=/a.js></script>");
        assert_eq!((facts.files, facts.empty_root, facts.asks), (1, true, false));
        assert!(facts.wants_browser(0, 0) && !facts.wants_browser(ENOUGH, 0));
    }

    proptest::proptest! {
        #[test]
        fn no_markup_panics(html in "(<[a-z!/ ]{0,9}[^<]{0,12}>?|</?(script|noscript|div id=app|style)>|[^<]{0,8}){0,30}") {
            let facts = scripting_of(&html);
            proptest::prop_assert!(facts.text as usize <= html.chars().count());
        }
    }
}
