//! The pages around the samples as a small web: how often each page leads to the topic. Link evidence is learnt from it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Sample;
use super::thresholds::FOLDS;
use crate::model::{CrawlUrl, Region};

/// Off-topic pages that a tunnel to a sample may cross.
const TUNNEL: usize = 2;
/// What a page is worth that leads to another, as a share of it.
const DECAY: f64 = 0.8;
/// Added to observed and expected values, so that their ratio starts at 1.
const PRIOR: f64 = 0.5;

/// Samples and other pages with URLs.
pub(super) struct LinkWeb<'a> {
    pub(super) pages: Vec<&'a Sample>,
    /// By page: 1 for a sample; for others the share of the links in their content that lead to one, directly or
    /// through off-topic pages.
    pub(super) values: Vec<f64>,
    pub(super) numbers: FxHashMap<&'a CrawlUrl, usize>,
    /// By page: the fold in which its host is held out.
    pub(super) folds: Vec<usize>,
}

impl<'a> LinkWeb<'a> {
    /// `fit`: the samples that are used; `others` may contain them.
    pub(super) fn new(fit: &[&'a Sample], others: impl Iterator<Item = &'a Sample>) -> Self {
        let mut web = Self { pages: Vec::new(), values: Vec::new(), numbers: FxHashMap::default(), folds: Vec::new() };
        for page in fit.iter().copied().chain(others) {
            let Some(url) = &page.url else { continue };
            if web.numbers.contains_key(url) {
                continue;
            }
            web.numbers.insert(url, web.pages.len());
            web.pages.push(page);
        }
        let samples: FxHashSet<&CrawlUrl> = fit.iter().filter_map(|sample| sample.url.as_ref()).collect();
        let is_sample = |page: &&Sample| page.url.as_ref().is_some_and(|url| samples.contains(url));
        web.values = web.pages.iter().map(|page| f64::from(u8::from(is_sample(page)))).collect();
        let targets: Vec<Vec<usize>> = web.pages.iter().map(|page| web.targets(page)).collect();
        for _ in 0..TUNNEL {
            let value = |(page, targets): (usize, &Vec<usize>)| {
                if web.values[page] >= 1.0 || targets.is_empty() {
                    return web.values[page];
                }
                let sum: f64 = targets.iter().map(|&target| DECAY * web.values[target]).sum();
                sum / targets.len() as f64
            };
            web.values = targets.iter().enumerate().map(value).collect();
        }
        let mut hosts: Vec<&str> = web.pages.iter().map(|page| page.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let fold = |page: &&Sample| hosts.binary_search(&page.host.as_str()).unwrap_or(0) % FOLDS;
        web.folds = web.pages.iter().map(fold).collect();
        web
    }

    /// The known pages that a page's content links to, or all of its links if none is in its content.
    fn targets(&self, page: &Sample) -> Vec<usize> {
        let of = |is_wanted: &dyn Fn(Region) -> bool| -> Vec<usize> {
            let links = page.document.links.iter().filter(|link| is_wanted(link.region));
            let mut targets: Vec<usize> = links.filter_map(|link| self.numbers.get(&link.url).copied()).collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        };
        let content = of(&|region| region == Region::Content);
        if content.is_empty() { of(&|_| true) } else { content }
    }

    pub(super) fn has_samples(&self) -> bool {
        self.values.iter().any(|value| *value >= 1.0)
    }

    /// Whether there is anything but samples, to compare them with.
    pub(super) fn has_others(&self) -> bool {
        self.values.iter().any(|value| *value < 1.0)
    }
}

/// How often something leads to the topic, and how often it would by chance, by fold and host.
#[derive(Clone, Default)]
pub(super) struct Observed<'a> {
    hosts: Vec<HostCount<'a>>,
}

#[derive(Clone, Copy)]
struct HostCount<'a> {
    host: &'a str,
    fold: usize,
    seen: usize,
    value: f64,
    expected: f64,
}

/// Sums over some hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    pub(super) seen: usize,
    /// Hosts where it leads to the topic.
    pub(super) hosts: usize,
    value: f64,
    expected: f64,
    /// Of the host with the highest value.
    top: f64,
}

impl<'a> Observed<'a> {
    pub(super) fn add(&mut self, host: &'a str, fold: usize, value: f64, expected: f64) {
        let count = match self.hosts.iter_mut().find(|count| count.host == host) {
            Some(count) => count,
            None => {
                self.hosts.push(HostCount { host, fold, seen: 0, value: 0.0, expected: 0.0 });
                let last = self.hosts.len() - 1;
                &mut self.hosts[last]
            }
        };
        count.seen += 1;
        count.value += value;
        count.expected += expected;
    }

    /// The sums over the folds whose other folds are reason enough to choose it; `None` if none is.
    pub(super) fn held_out(&self, is_chosen: impl Fn(Evidence) -> bool) -> Option<Evidence> {
        if !is_chosen(self.of(|_| true)) {
            return None;
        }
        let tests = (0..FOLDS).filter(|&held_out| is_chosen(self.of(|fold| fold != held_out)));
        tests.map(|held_out| self.of(|fold| fold == held_out)).reduce(Evidence::and)
    }

    /// The sums over the hosts of these folds.
    pub(super) fn of(&self, is_wanted: impl Fn(usize) -> bool) -> Evidence {
        let mut evidence = Evidence::default();
        for count in self.hosts.iter().filter(|count| is_wanted(count.fold)) {
            evidence.seen += count.seen;
            evidence.hosts += usize::from(count.value > 0.0);
            evidence.value += count.value;
            evidence.expected += count.expected;
            evidence.top = evidence.top.max(count.value);
        }
        evidence
    }
}

impl Evidence {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            seen: self.seen + other.seen,
            hosts: self.hosts + other.hosts,
            value: self.value + other.value,
            expected: self.expected + other.expected,
            top: self.top.max(other.top),
        }
    }

    /// How many times as often as by chance it leads to the topic.
    pub(super) fn ratio(&self) -> f64 {
        (self.value + PRIOR) / (self.expected + PRIOR)
    }

    /// As [`Self::ratio`], for what nothing but these numbers speaks for. A host counts at most as much as all others together,
    /// because what occurs on a single host is its habit.
    pub(super) fn shared_ratio(&self) -> f64 {
        let others = self.value - self.top;
        (others + self.top.min(others) + PRIOR) / (self.expected + PRIOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fetched;

    fn page(url: &str, links: &[&str]) -> Sample {
        let links: String =
            links.iter().map(|link| format!("<p>正文里的句子，见<a href=\"{link}\">这里</a>。</p>")).collect();
        Sample::from_fetched(&Fetched::html(CrawlUrl::parse(url).unwrap(), format!("<article>{links}</article>")))
    }

    #[test]
    fn a_page_is_worth_what_its_links_lead_to_also_through_a_tunnel() {
        let samples = [page("http://a.cn/1", &[]), page("http://a.cn/2", &[])];
        let others = [
            page("http://a.cn/list", &["/1", "/2"]),
            page("http://b.cn/", &["http://a.cn/list", "/x"]),
            page("http://b.cn/x", &[]),
        ];
        let web = LinkWeb::new(&[&samples[0], &samples[1]], others.iter().chain(&samples));
        assert_eq!(web.pages.len(), 5);
        let rounded: Vec<f64> = web.values.iter().map(|value| (value * 1e3).round() / 1e3).collect();
        assert_eq!(rounded, [1.0, 1.0, 0.8, 0.32, 0.0]);
        assert_ne!(web.folds[0], web.folds[3], "hosts are held out as a whole");
        assert!(web.has_others() && !LinkWeb::new(&[&samples[0]], [].iter()).has_others());
    }

    #[test]
    fn one_host_is_no_evidence_and_many_are() {
        let mut one = Observed::default();
        (0..50).for_each(|_| one.add("a.cn", 0, 1.0, 0.1));
        assert!(one.of(|_| true).shared_ratio() < 1.0 && one.of(|_| true).ratio() > 9.0);
        let mut two = one.clone();
        (0..50).for_each(|_| two.add("b.cn", 1, 1.0, 0.1));
        let all = two.of(|_| true);
        assert!(all.shared_ratio() > 9.0 && (all.seen, all.hosts) == (100, 2));
        assert_eq!(two.of(|fold| fold == 1).and(two.of(|fold| fold == 0)).seen, 100);
    }
}
