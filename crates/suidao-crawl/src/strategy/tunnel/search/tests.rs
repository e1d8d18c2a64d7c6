use super::*;
use suidao_page::model::{Digest, Discovered, Link, LinkScores, Page, PageProcessed, Region, UrlOrigin};

/// A crawl whose events the test passes to the strategy.
struct Training {
    strategy: TunnelSearch,
    urls: Vec<String>,
    bodies: u8,
    log: Vec<Event>,
}

/// A link: URL, relevance of its text, region, path.
type TestLink<'a> = (&'a str, f32, Region, u32);

const CONTENT: Region = Region::Content;
const LABEL: Region = Region::Metadata;
const NAVIGATION: Region = Region::Boilerplate;

impl Training {
    fn new() -> Self {
        let strategy = TunnelSearch::new(TunnelSettings::default(), Relevance::new(0.1));
        let mut training = Self { strategy, urls: Vec::new(), bodies: 0, log: Vec::new() };
        let seed = training.id("http://seed.cn/", "");
        let decision = LinkDecision::Follow(training.strategy.seed(&CrawlUrl::parse("http://seed.cn/").unwrap()));
        training.observe(Event::SeedJudged(Link::without_page(seed, Relevance::ONE, decision)));
        training
    }

    fn observe(&mut self, event: Event) -> Vec<UrlId> {
        let mut risen = Vec::new();
        self.strategy.observe(&event, &mut risen);
        self.log.push(event);
        risen
    }

    fn id(&mut self, url: &str, anchor: &str) -> UrlId {
        if let Some(at) = self.urls.iter().position(|known| known == url) {
            return UrlId(at as u32);
        }
        let id = UrlId(self.urls.len() as u32);
        self.urls.push(url.to_owned());
        let (url, anchor) = (CrawlUrl::parse(url).unwrap(), anchor.to_owned());
        self.observe(Event::Discovered(Discovered { id, url, origin: UrlOrigin::Seed, anchor }));
        id
    }

    /// Fetches a page; returns the URLs whose score may have risen.
    fn page(&mut self, url: &str, relevance: f32, listing: bool, links: &[TestLink]) -> Vec<String> {
        let id = self.id(url, "");
        let ids: Vec<UrlId> = links.iter().map(|(to, ..)| self.id(to, "")).collect();
        let candidates: Vec<LinkCandidate> = links
            .iter()
            .map(|&(to, anchor, region, path)| LinkCandidate {
                url: CrawlUrl::parse(to).unwrap(),
                scores: LinkScores { anchor: Relevance::new(anchor), ..LinkScores::default() },
                relevance: Relevance::new(anchor * 0.5),
                region,
                dom_path: path,
                role: None,
            })
            .collect();
        let path_state = PathState { depth: 2, inherited: Relevance::new(0.05), ..PathState::SEED };
        let entry = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(0.5), path: path_state };
        let on_topic = relevance >= 0.1;
        let visit = PageVisit {
            id,
            relevance: Relevance::new(relevance),
            on_topic,
            layer: None,
            entry,
            link_threshold: Relevance::new(0.15),
            links: &candidates,
        };
        let decisions = self.strategy.judge(&visit);
        let link = |((&to, candidate), decision): ((&UrlId, &LinkCandidate), LinkDecision)| Link {
            to,
            region: candidate.region,
            dom_path: candidate.dom_path,
            scores: candidate.scores,
            relevance: candidate.relevance,
            decision,
        };
        let links = ids.iter().zip(&candidates).zip(decisions).map(link).collect();
        self.bodies += 1;
        let page = Page {
            relevance: Relevance::new(relevance),
            digest: Digest([self.bodies; 20]),
            bytes: 1_000,
            listing,
            ..Page::default()
        };
        let settled = PageProcessed { links, ..PageProcessed::of(id, 200, entry, on_topic, page) };
        let risen = self.observe(Event::PageFetched(Box::new(settled)));
        risen.into_iter().map(|id| self.urls[id.0 as usize].clone()).collect()
    }

    fn score(&mut self, url: &str) -> f32 {
        let id = self.id(url, "");
        self.strategy.current_score(id).get()
    }
}

/// A host with two tags with the same anchor, each with a document and a second page.
fn two_tags() -> Training {
    let mut training = Training::new();
    let tags = [("http://a.cn/tags/x/", 0.2, NAVIGATION, 1), ("http://a.cn/tags/y/", 0.2, NAVIGATION, 1)];
    training.page("http://a.cn/", 0.0, true, &tags);
    for tag in ["x", "y"] {
        let (first, next) = (format!("http://a.cn/{tag}1.html"), format!("http://a.cn/tags/{tag}/page/2/"));
        let links = [(first.as_str(), 0.0, CONTENT, 2), (next.as_str(), 0.0, NAVIGATION, 3)];
        training.page(&format!("http://a.cn/tags/{tag}/"), 0.0, true, &links);
    }
    training
}

#[test]
fn a_listing_is_worth_what_its_links_brought() {
    let mut training = two_tags();
    assert_eq!(training.score("http://a.cn/tags/x/page/2/"), training.score("http://a.cn/tags/y/page/2/"));
    let risen = training.page("http://a.cn/x1.html", 0.3, false, &[]);
    assert!(risen.contains(&"http://a.cn/tags/x/page/2/".to_owned()), "{risen:?}");
    training.page("http://a.cn/y1.html", 0.0, false, &[]);
    assert!(training.score("http://a.cn/tags/x/page/2/") > training.score("http://a.cn/tags/y/page/2/") + 0.1);
}

#[test]
fn a_tag_word_that_paid_on_one_host_raises_it_on_others() {
    let mut training = two_tags();
    training.page("http://a.cn/x1.html", 0.3, false, &[]);
    training.page("http://a.cn/y1.html", 0.0, false, &[]);
    let tags = [("http://b.cn/tags/x/", 0.1, NAVIGATION, 1), ("http://b.cn/category/y/", 0.1, NAVIGATION, 1)];
    training.page("http://b.cn/", 0.0, true, &tags);
    assert!(training.score("http://b.cn/tags/x/") > training.score("http://b.cn/category/y/") + 0.05);
}

#[test]
fn documents_vote_for_the_tags_they_file_themselves_under() {
    let mut training = two_tags();
    training.id("http://a.cn/tags/own/", "");
    training.id("http://a.cn/tags/side/", "");
    let links = [("http://a.cn/tags/own/", 0.0, LABEL, 5), ("http://a.cn/tags/side/", 0.0, NAVIGATION, 6)];
    training.page("http://a.cn/x1.html", 0.3, false, &links);
    assert!(training.score("http://a.cn/tags/own/") > training.score("http://a.cn/tags/side/") + 0.05);
}

#[test]
fn links_of_a_block_that_pays_are_worth_more_than_those_of_one_that_does_not() {
    let mut training = Training::new();
    let link = |n: usize, path| (format!("http://a.cn/{n}/post.html"), path);
    let all: Vec<(String, u32)> = (0..12).map(|n| link(n, 7 + (n as u32 % 2))).collect();
    let links: Vec<TestLink> = all.iter().map(|(url, path)| (url.as_str(), 0.1, CONTENT, *path)).collect();
    training.page("http://a.cn/", 0.0, true, &links);
    for (n, (url, _)) in all.iter().enumerate().take(8) {
        training.page(url, if n % 2 == 0 { 0.3 } else { 0.0 }, false, &[]);
    }
    assert!(
        training.score(&all[8].0) > 2.0 * training.score(&all[9].0) - 0.1
            && training.score(&all[8].0) > training.score(&all[9].0)
    );
}

#[test]
fn what_its_likes_turned_out_to_be_a_url_is_taken_to_be() {
    let mut training = Training::new();
    for n in 1..=2 {
        let thread = format!("http://b.cn/thread-{n}-1-1.html");
        training.page(&format!("http://b.cn/forum-{n}.html"), 0.0, true, &[(&thread, 0.0, CONTENT, 4)]);
        training.page(&thread, 0.3, false, &[]);
    }
    // Listings by their shape, although their URLs show nothing; a thread of the same host is not one.
    let (forum, thread) = (training.score("http://b.cn/forum-3.html"), training.score("http://b.cn/thread-9-1-1.html"));
    assert!(forum > thread + 0.1, "{forum} {thread}");
}

#[test]
fn pages_of_recommended_sites_are_bridges_for_as_long_as_they_open_hosts() {
    let mut training = Training::new();
    training.id("http://a.cn/tags/link.html", "友人帐");
    training.id("http://a.cn/more.html", "更多");
    let links = [("http://a.cn/tags/link.html", 0.0, NAVIGATION, 1), ("http://a.cn/more.html", 0.0, NAVIGATION, 1)];
    training.page("http://a.cn/", 0.0, true, &links);
    let links_page = training.score("http://a.cn/tags/link.html");
    let other = training.score("http://a.cn/more.html");
    assert!(links_page > other + 0.3, "{links_page} {other}");
    training.page("http://c.cn/links/", 0.0, false, &[]);
    training.page("http://d.cn/links/", 0.0, false, &[]);
    assert!(training.score("http://a.cn/tags/link.html") < links_page);
}

#[test]
fn any_template_whose_pages_open_hosts_is_a_bridge() {
    let mut training = Training::new();
    for n in 0..6 {
        let sites: Vec<String> = (0..4).map(|site| format!("http://s{n}{site}.cn/")).collect();
        let links: Vec<TestLink> = sites.iter().map(|site| (site.as_str(), 0.0, CONTENT, 3)).collect();
        training.page(&format!("http://dir.cn/list/{n}.html"), 0.0, false, &links);
    }
    assert!(training.score("http://dir.cn/list/9.html") > training.score("http://dir.cn/other.html") + 0.15);
}

#[test]
fn a_host_is_worth_a_look_and_less_with_every_page() {
    let mut training = Training::new();
    training.id("http://e.cn/z.html", "");
    let before = training.score("http://e.cn/z.html");
    for n in 0..8 {
        training.page(&format!("http://e.cn/{n}.html"), 0.0, false, &[]);
    }
    assert!(before > training.score("http://e.cn/z.html") + 0.4);
    assert!(before > training.score("http://seed.cn/z.html") + 0.3, "a seed's host has had its look");
}

#[test]
fn the_same_body_twice_is_worth_nothing() {
    let mut training = two_tags();
    training.page("http://a.cn/x1.html", 0.3, false, &[]);
    training.bodies -= 1;
    training.page("http://a.cn/y1.html", 0.3, false, &[]);
    assert!(training.score("http://a.cn/tags/x/page/2/") > training.score("http://a.cn/tags/y/page/2/") + 0.1);
}

#[test]
fn the_log_alone_rebuilds_what_was_learnt() {
    let mut training = two_tags();
    training.page("http://a.cn/x1.html", 0.3, false, &[("http://f.cn/", 0.4, CONTENT, 9)]);
    let mut again = TunnelSearch::new(TunnelSettings::default(), Relevance::new(0.1));
    for event in &training.log {
        again.observe(event, &mut Vec::new());
    }
    for id in (0..training.urls.len() as u32).map(UrlId) {
        assert_eq!(again.current_score(id), training.strategy.current_score(id), "{}", training.urls[id.0 as usize]);
    }
}

#[test]
fn k_is_on_record_and_drops_nothing() {
    let mut training = Training::new();
    let links = crate::strategy::interface::tests::links(&[0.0, 0.15]);
    training.id("http://h.cn/", "");
    for (k, expected) in [
        (TunnelBudget::Unbounded, [TunnelBudget::Left(11); 2]),
        (TunnelBudget::Left(5), [TunnelBudget::Left(4), TunnelBudget::Left(5)]),
        (TunnelBudget::Left(0), [TunnelBudget::Left(0); 2]),
    ] {
        let visit = crate::strategy::interface::tests::visit(0.1, k, &links);
        let decisions = training.strategy.judge(&visit);
        let followed = crate::strategy::interface::tests::entries(&decisions);
        assert_eq!(followed.iter().map(|entry| entry.unwrap().2).collect::<Vec<_>>(), expected);
    }
}
