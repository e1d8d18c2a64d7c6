//! Whether the links of a page are followed: its relevance, and the off-topic pages before it.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::scored;
use suidao_page::topic::Topic;

pub struct Judge {
    topic: Arc<Topic>,
    /// Maximum number of off-topic pages in a row (Bergmark, Lagoze, Sbityakov 2002).
    k: u16,
    pages: Mutex<Pages>,
}

/// By fingerprint of the URL.
#[derive(Default)]
struct Pages {
    /// The fewest off-topic pages in a row before a page, over the known ways to it.
    hops: FxHashMap<u64, u16>,
    judged: FxHashMap<u64, Judged>,
}

/// A page that was fetched.
struct Judged {
    relevant: bool,
    /// Whether its links are followed.
    followed: bool,
    /// Fingerprints of the pages that it links to.
    links: Vec<u64>,
    /// Its links, while they are not followed.
    dropped: Vec<CrawlUrl>,
}

impl Pages {
    /// A way to a page, after this many off-topic pages in a row. If it is shorter than those known, all pages behind it
    /// are judged again. Returns the links of pages that are followed now and were not before.
    fn reach(&mut self, url: u64, hops: u16, k: u16) -> Vec<CrawlUrl> {
        let mut reopened = Vec::new();
        let mut reached = vec![(url, hops)];
        while let Some((url, hops)) = reached.pop() {
            let known = self.hops.get(&url).copied();
            if known.is_some_and(|known| known <= hops) {
                continue;
            }
            self.hops.insert(url, hops);
            if let Some(page) = self.judged.get_mut(&url) {
                let after = page.after(hops);
                page.followed = after <= k;
                if page.followed {
                    reopened.append(&mut page.dropped);
                }
                reached.extend(page.links.iter().map(|link| (*link, after)));
            }
        }
        reopened
    }
}

impl Judged {
    /// Off-topic pages in a row before its links, if there are this many before it.
    fn after(&self, hops: u16) -> u16 {
        if self.relevant { 0 } else { hops.saturating_add(1) }
    }
}

impl Judge {
    pub fn new(topic: Arc<Topic>, k: u16) -> Self {
        Self { topic, k, pages: Mutex::default() }
    }

    /// Parses and judges a page that was requested as `requested`. Takes CPU time. Returns links of pages judged earlier
    /// that are to be followed now, because this page is a shorter way to them.
    pub fn judge(&self, requested: &CrawlUrl, fetched: &Fetched) -> Vec<CrawlUrl> {
        let page = scored::read(fetched, &self.topic);
        let relevant = page.relevance >= self.topic.page_threshold();
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let own = [requested, &fetched.url].map(CrawlUrl::fingerprint);
        // A redirect takes its path along. Only a page that nothing led to is a seed.
        let known = own.iter().filter_map(|url| pages.hops.get(url)).min().copied();
        let hops = known.unwrap_or(0);
        let links: Vec<u64> = page.outlinks.iter().map(|link| link.url.fingerprint()).collect();
        let mut reopened = Vec::new();
        for url in own {
            let judged = Judged { relevant, followed: false, links: links.clone(), dropped: Vec::new() };
            pages.judged.insert(url, judged);
            // Its links are reached even if the way to it was known.
            pages.hops.remove(&url);
            reopened.extend(pages.reach(url, hops, self.k));
        }
        // A shorter way may lead to either URL.
        for url in own {
            if let Some(judged) = pages.judged.get_mut(&url).filter(|judged| !judged.followed) {
                judged.dropped = page.outlinks.iter().map(|link| link.url.clone()).collect();
            }
        }
        reopened
    }

    /// Whether the links of a page are followed; not of one that was never judged.
    pub fn is_followed(&self, url: &str) -> bool {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let judged = CrawlUrl::parse(url).ok().and_then(|url| pages.judged.get(&url.fingerprint()));
        judged.is_some_and(|page| page.followed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::topic::Lexicon;

    fn judge(k: u16) -> Judge {
        Judge::new(Arc::new(Topic::new(Lexicon::from_terms("体育", &[("足球", 1.0), ("联赛", 1.0)]))), k)
    }

    fn read(judge: &Judge, requested: &str, answered: &str, on: bool, links: &[&str]) -> Vec<String> {
        let url = |url: &str| CrawlUrl::parse(url).unwrap();
        let text = if on {
            "足球联赛今天开赛，足球和联赛。"
        } else {
            "把生姜切好，用小火慢慢炖汤。"
        };
        let links: String = links.iter().map(|to| format!("<p><a href={to}>{to}</a>")).collect();
        let page = Fetched::html(url(answered), format!("<article><p>{text}</p>{links}</article>"));
        judge.judge(&url(requested), &page).iter().map(|url| url.as_str().to_owned()).collect()
    }

    #[test]
    fn a_redirect_keeps_the_tunnel() {
        let judge = judge(2);
        read(&judge, "http://a.cn/", "http://a.cn/", false, &["/1"]);
        read(&judge, "http://a.cn/1", "http://a.cn/1/", false, &["/2"]);
        assert!(judge.is_followed("http://a.cn/1") && judge.is_followed("http://a.cn/1/"));
        read(&judge, "http://a.cn/2", "http://a.cn/2/", false, &["/3"]);
        assert!(!judge.is_followed("http://a.cn/2") && !judge.is_followed("http://a.cn/2/"), "the third off topic");
    }

    #[test]
    fn a_shorter_way_judges_a_page_and_those_behind_it_again() {
        let judge = judge(2);
        read(&judge, "http://a.cn/", "http://a.cn/", false, &["/1"]);
        read(&judge, "http://a.cn/1", "http://a.cn/1", false, &["/2"]);
        read(&judge, "http://a.cn/2", "http://a.cn/2", false, &["/3"]);
        assert!(!judge.is_followed("http://a.cn/2"));
        let reopened = read(&judge, "http://b.cn/", "http://b.cn/", true, &["http://a.cn/1"]);
        assert_eq!(reopened, ["http://a.cn/3"]);
        assert!(judge.is_followed("http://a.cn/1") && judge.is_followed("http://a.cn/2"));
        read(&judge, "http://a.cn/3", "http://a.cn/3", false, &[]);
        assert!(!judge.is_followed("http://a.cn/3"));
    }
}
