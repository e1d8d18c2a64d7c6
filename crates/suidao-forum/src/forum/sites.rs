//! The forums of a crawl, by the hosts that serve them.

use rustc_hash::FxHashMap;

use super::site::ForumSite;
use suidao_page::model::CrawlUrl;

/// Forums, numbered in the order of their addition. A host may have several, which differ in their directories or in
/// the classes of their URLs.
#[derive(Clone, Default)]
pub struct ForumSites {
    sites: Vec<ForumSite>,
    /// Forums of each host, also of hosts to which a forum redirects its pages.
    hosts: FxHashMap<Box<str>, Vec<usize>>,
}

impl ForumSites {
    /// Adds a forum, and returns its number; one with the same entry page is replaced. None if its entry page is not a
    /// URL.
    pub fn add(&mut self, site: ForumSite) -> Option<usize> {
        let start = CrawlUrl::parse(&site.map().start).ok()?;
        let host = start.authority();
        let same = |number: &usize| self.sites[*number].map().start == site.map().start;
        let known = self.hosts.get(host).into_iter().flatten().copied().find(same);
        let number = known.unwrap_or(self.sites.len());
        for host in site.hosts().chain([host]) {
            let of_host = self.hosts.entry(host.into()).or_default();
            if !of_host.contains(&number) {
                of_host.push(number);
            }
        }
        match self.sites.get_mut(number) {
            Some(known) => *known = site,
            None => self.sites.push(site),
        }
        Some(number)
    }

    /// A forum has pages on another host.
    pub fn add_host(&mut self, number: usize, host: &str) {
        self.sites[number].add_host(host);
        self.hosts.entry(host.into()).or_default().push(number);
    }

    /// The forum that a URL belongs to. Of several on its host the one with a class for it, then the one in the deepest
    /// directory around it, then the first.
    pub fn of(&self, url: &CrawlUrl) -> Option<usize> {
        let of_host = self.hosts.get(url.authority())?;
        if let [only] = &of_host[..] {
            return Some(*only);
        }
        let rank = |number: &usize| {
            let site = &self.sites[*number];
            let depth = if site.owns(url) { site.directory().len() } else { 0 };
            (site.owns(url) && site.has_class_of(url), site.owns(url), depth, usize::MAX - number)
        };
        of_host.iter().copied().max_by_key(rank)
    }

    pub fn get(&self, number: usize) -> &ForumSite {
        &self.sites[number]
    }

    pub fn get_mut(&mut self, number: usize) -> &mut ForumSite {
        &mut self.sites[number]
    }

    pub fn iter(&self) -> impl Iterator<Item = &ForumSite> {
        self.sites.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::ForumMap;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()
    }

    fn site(start: &str, boards: &str, threads: &str) -> ForumSite {
        let map = ForumMap {
            start: url(start).to_string(),
            board_classes: vec![boards.to_owned()],
            thread_classes: vec![threads.to_owned()],
            ..ForumMap::default()
        };
        ForumSite::new(map).unwrap()
    }

    #[test]
    fn a_host_has_several_forums_in_directories() {
        let mut sites = ForumSites::default();
        sites.add(site("/", "/forum-{id}.html", "/thread-{id}.html"));
        sites.add(site("/club/", "/club/forum-{id}.html", "/club/thread-{id}.html"));
        let of = |path: &str| sites.of(&url(path));
        assert_eq!((of("/thread-5.html"), of("/forum-1.html"), of("/")), (Some(0), Some(0), Some(0)));
        assert_eq!((of("/club/thread-5.html"), of("/club/"), of("/club/help")), (Some(1), Some(1), Some(1)));
        assert_eq!(sites.of(&CrawlUrl::parse("http://b.cn/thread-5.html").unwrap()), None);
    }

    #[test]
    fn forums_in_one_directory_differ_in_their_classes() {
        let mut sites = ForumSites::default();
        sites.add(site("/", "/forum-{id}.html", "/thread-{id}.html"));
        sites.add(site("/bbs.php", "/board.php?b={id}", "/topic.php?t={id}"));
        let of = |path: &str| sites.of(&url(path));
        assert_eq!((of("/thread-5.html"), of("/topic.php?t=7"), of("/bbs.php")), (Some(0), Some(1), Some(1)));
    }

    #[test]
    fn a_forum_added_again_is_replaced() {
        let mut sites = ForumSites::default();
        assert_eq!(sites.add(site("/", "/forum-{id}.html", "/thread-{id}.html")), Some(0));
        assert_eq!(sites.add(site("/", "/b-{id}.html", "/t-{id}.html")), Some(0));
        assert_eq!(sites.iter().count(), 1);
        sites.add_host(0, "b.cn");
        assert_eq!(sites.of(&CrawlUrl::parse("http://b.cn/t-5.html").unwrap()), Some(0));
    }
}
