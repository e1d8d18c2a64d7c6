//! The state is a fold of the log: at every batch, a machine restored from the log equals the live one.

use super::*;
use crate::crawl::refresh::Refreshing;
use crate::crawl::state::State;
use crate::revisit::settings::RefreshSettings;

/// Everything that the log determines, field by field. What follows the clock is left out: ready hosts, their waits and
/// those of their groups. Nothing is in flight.
fn facts(state: &State) -> Vec<(&'static str, Vec<u8>)> {
    fn bytes(value: &impl serde::Serialize) -> Vec<u8> {
        postcard::to_stdvec(value).unwrap()
    }
    fn sorted(entries: impl Iterator<Item: std::fmt::Debug>) -> Vec<u8> {
        let mut lines: Vec<String> = entries.map(|entry| format!("{entry:?}")).collect();
        lines.sort();
        bytes(&lines)
    }
    let State {
        settings: _,
        strategy,
        urls,
        hosts,
        frontier,
        ended,
        canonicals,
        traps,
        forums,
        sourcing,
        refreshing,
        left_due,
        counts,
        stop,
        wait_state,
        leaving: _,
    } = state;
    let records: Vec<Vec<u8>> = urls.portions().map(|(records, lines)| bytes(&(records, lines))).collect();
    let hosts: Vec<Vec<u8>> = hosts
        .all()
        .map(|(_, host)| {
            let known = (
                host.pages,
                host.relevant,
                (host.missing, host.without_page),
                host.queued,
                host.https,
                host.address,
                &host.parked,
            );
            let robots = (host.robots(false), host.robots(true));
            // At the end of a round, hosts that failed before it are requested again at a time of the clock.
            let failing = refreshing.is_none().then_some((host.failing, host.deferred_until));
            bytes(&(known, &host.health, failing, robots))
        })
        .collect();
    let heads = frontier.heads(1000, |id, key| urls.get(id).is_current(key) && !state.is_due(id));
    let learnt: Vec<Vec<u8>> = strategy.learning().into_iter().flat_map(|learning| learning.snapshot()).collect();
    let mut facts = vec![
        ("URLs", bytes(&records)),
        ("hosts", bytes(&hosts)),
        ("frontier", sorted(heads.iter().filter(|(_, urls)| !urls.is_empty()))),
        ("ended tunnels", sorted(ended.iter())),
        ("canonical URLs", bytes(canonicals)),
        ("traps", bytes(traps)),
        ("forums", bytes(&(forums.sites.iter().collect::<Vec<_>>(), &forums.seen))),
        ("exploration", sorted([&forums.exploration].into_iter())),
        ("sitemaps", bytes(sourcing)),
        ("due pages of a former refresh", sorted(left_due.iter())),
        ("counts", bytes(counts)),
        ("stop conditions", bytes(&stop.recent())),
        ("wait_state", bytes(wait_state)),
        ("strategy", bytes(&learnt)),
    ];
    if let Some(refreshing) = refreshing {
        let Refreshing {
            request: _,
            histories,
            signals,
            round,
            due,
            new_links,
            unreliable_validators,
            visits,
            new_texts,
            sources_read,
        } = refreshing;
        facts.extend([
            ("histories", sorted(histories.iter())),
            ("sources", sorted([signals].into_iter())),
            ("round", sorted([(round, sources_read)].into_iter())),
            ("due pages", sorted(due.iter())),
            ("new links", sorted(new_links.iter())),
            ("unreliable validators", sorted(unreliable_validators.iter())),
            ("new texts", sorted(new_texts.iter())),
            ("visits of the day", sorted([(visits.0, visits.1.len())].into_iter())),
        ]);
    }
    facts
}

/// Where they differ.
fn difference(live: &State, restored: &State) -> Vec<&'static str> {
    let pairs = facts(live).into_iter().zip(facts(restored));
    pairs.filter(|(own, other)| own != other).map(|((name, _), _)| name).collect()
}

/// A web with redirects between schemes and hosts, canonical URLs, copies, failures and dead hosts.
fn troubled(seed: usize) -> BTreeMap<String, FetchOutcome> {
    let name = |n: usize| {
        let scheme = if n % 3 == 1 { "https" } else { "http" };
        if n == 0 { "http://s.cn/".to_owned() } else { format!("{scheme}://h{}.cn/{n}", n % 6) }
    };
    let line = |n: usize| {
        let to = |step: usize| name((n * 5 + step * step * (seed + 2)) % 50);
        match (n * (seed + 1)) % 11 {
            7 => format!("{} => {}", name(n), to(1)),
            8 => format!("{} 503!", name(n)),
            9 => format!("{} 404!", name(n)),
            kind => {
                let mut links: Vec<String> =
                    (1..6).map(|step| format!("{} {}", to(step), (n * step % 10) as f32 / 20.0)).collect();
                links.sort();
                links.dedup_by_key(|link| link.split(' ').next().unwrap().to_owned());
                format!("{} {} -> {}", name(n), if kind < 3 { 0.8 } else { 0.1 }, links.join(", "))
            }
        }
    };
    let mut web = web(&(0..50).map(line).collect::<Vec<_>>().join("\n"));
    for (number, outcome) in web.values_mut().enumerate() {
        if let FetchOutcome::Page { page, .. } = outcome {
            if number % 4 == 1 {
                page.canonical = Some(CrawlUrl::parse(&name((number * 3 + seed) % 50)).unwrap());
            }
            if number % 5 == 2 {
                page.sketch = Sketch { chars: 500, stub: false, digest: 7, simhash: 7 };
            }
        }
    }
    web
}

/// A crawl, and one that is restored from its log after each batch.
struct Pair {
    live: Crawl,
    restored: Crawl,
    log: Vec<Batch>,
    at: Millis,
}

impl Pair {
    fn record(&mut self, batch: Batch) {
        self.restored.restore(&batch);
        self.log.push(batch);
    }

    /// Drives the crawl to its end, or for 400 requests. Fails at the first batch after which the states differ.
    fn drive(&mut self, web: &BTreeMap<String, FetchOutcome>) -> Result<(), proptest::test_runner::TestCaseError> {
        for _ in 0..400 {
            match self.live.next(self.at) {
                Next::Fetch(ticket) => {
                    self.at = self.at.after(10);
                    let down = FailureKind::Connect;
                    let missing = if ticket.url.authority() == "h5.cn" { down } else { FailureKind::Status(404) };
                    let missing = FetchOutcome::Failed(Failure { kind: missing, retry_after: None });
                    let outcome = web.get(ticket.url.as_str()).cloned().unwrap_or(missing);
                    let meta = ResponseMeta { latency: Some(9), ..ResponseMeta::default() };
                    let batch = self.live.settle(ticket, outcome, meta, self.at);
                    self.record(batch);
                }
                Next::Record(batch) => self.record(batch),
                Next::Wait(until) => self.at = until.expect("nothing is in flight"),
                Next::Done(_) => break,
            }
            proptest::prop_assert_eq!(difference(&self.live.state, &self.restored.state), Vec::<&str>::new());
        }
        Ok(())
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]
    #[test]
    fn at_every_batch_a_restored_state_equals_the_live_one(seed in 0_usize..40, which in 0_usize..5, polite: bool) {
        let names = [
            StrategyName::Tunnel,
            StrategyName::Dth,
            StrategyName::SharkSearch,
            StrategyName::UrlWeight,
            StrategyName::Pagerank,
        ];
        let strategy = StrategySettings { name: names[which], ..StrategySettings::default() };
        let politeness =
            Politeness { delay: if polite { 2.0 } else { 0.0 }, robots: polite, ..Politeness::default() };
        let new = |refresh: Option<Refresh>| {
            let settings = CrawlSettings { politeness: politeness.clone(), refresh, ..crawl_settings() };
            Crawl::new(settings, strategy.build(Relevance::new(0.5)))
        };
        let seeds = ["http://s.cn/", "https://h1.cn/1"].map(|seed| CrawlUrl::parse(seed).unwrap());
        let mut pair = Pair { live: new(None), restored: new(None), log: Vec::new(), at: Millis(0) };
        let batch = pair.live.seed(&seeds, Millis(0));
        pair.record(batch);
        pair.drive(&troubled(seed))?;

        // Ten days later, on a web that has changed.
        let budget = Budget::Round { requests: Some(60), seconds: None };
        let refresh = Refresh { settings: RefreshSettings::default(), budget };
        let at = pair.at.after(10 * 86_400_000);
        let (live, restored) = (new(Some(refresh.clone())), new(Some(refresh)));
        let mut pair = Pair { live, restored, log: pair.log, at };
        for batch in &pair.log {
            pair.live.restore(batch);
            pair.restored.restore(batch);
        }
        let batch = pair.live.begin_refresh(at).expect("no round is active");
        pair.record(batch);
        pair.drive(&troubled(seed + 1))?;
    }
}
