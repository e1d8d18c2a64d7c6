//! The state is a fold of the log: at every batch, a machine restored from the log equals the live one.

use super::*;
use crate::crawl::state::State;

/// Everything that the log determines, field by field. What follows the clock and what is in flight is left out: ready
/// hosts, their waits and those of their groups.
fn facts(state: &State) -> Vec<(&'static str, Vec<u8>)> {
    fn bytes(value: &impl serde::Serialize) -> Vec<u8> {
        postcard::to_stdvec(value).unwrap()
    }
    let State {
        settings: _,
        strategy,
        urls,
        hosts,
        frontier: _,
        ended,
        canonicals,
        traps,
        forums,
        sourcing,
        refreshing,
        left_due,
        counts,
        stop,
    } = state;
    let records: Vec<Vec<u8>> = urls.portions().map(|(records, lines)| bytes(&(records, lines))).collect();
    let hosts: Vec<Vec<u8>> = hosts
        .all()
        .map(|(_, host)| {
            let known = (host.pages, host.relevant, host.missing, host.queued, host.https, host.address, &host.parked);
            bytes(&(known, &host.health, host.robots(false), host.robots(true)))
        })
        .collect();
    let learnt: Vec<Vec<u8>> = strategy.learning().into_iter().flat_map(|learning| learning.snapshot()).collect();
    let mut histories: Vec<String> = refreshing
        .iter()
        .flat_map(|refreshing| refreshing.histories.iter().map(|(id, page)| format!("{id:?} {page:?}")))
        .collect();
    histories.sort();
    let mut due: Vec<String> =
        refreshing.iter().flat_map(|refreshing| refreshing.due.iter().map(|due| format!("{due:?}"))).collect();
    due.sort();
    vec![
        ("URLs", bytes(&records)),
        ("hosts", bytes(&hosts)),
        ("ended tunnels", bytes(ended)),
        ("canonical URLs", bytes(canonicals)),
        ("traps", bytes(traps)),
        ("forums", bytes(&forums.keep())),
        ("sitemaps", bytes(sourcing)),
        ("histories", bytes(&histories)),
        ("due pages", bytes(&due)),
        ("due pages of a former refresh", bytes(left_due)),
        ("counts", bytes(counts)),
        ("stop conditions", bytes(&stop.recent())),
        ("strategy", bytes(&learnt)),
    ]
}

/// Where they differ.
fn difference(live: &State, restored: &State) -> Vec<&'static str> {
    let pairs = facts(live).into_iter().zip(facts(restored));
    pairs.filter(|(own, other)| own != other).map(|((name, _), _)| name).collect()
}

/// A web with redirects between schemes and hosts, canonical addresses, copies, failures and dead hosts.
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
                page.sketch = Sketch { chars: 500, digest: 7, simhash: 7 };
            }
        }
    }
    web
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
        let settings = StrategySettings { name: names[which], ..StrategySettings::default() };
        let politeness =
            Politeness { delay: if polite { 2.0 } else { 0.0 }, robots: polite, ..Politeness::default() };
        let new = || {
            let conditions = CrawlSettings { politeness: politeness.clone(), ..conditions() };
            Crawl::new(conditions, settings.build(Relevance::new(0.5)))
        };
        let web = troubled(seed);
        let (mut live, mut restored) = (new(), new());
        let seeds = ["http://s.cn/", "https://h1.cn/1"].map(|seed| CrawlUrl::parse(seed).unwrap());
        restored.restore(&live.seed(&seeds, Millis(0)));
        let mut at = Millis(0);
        for _ in 0..400 {
            match live.next(at) {
                Next::Fetch(ticket) => {
                    at = at.after(10);
                    let down = FailureKind::Connect;
                    let missing = if ticket.url.authority() == "h5.cn" { down } else { FailureKind::Status(404) };
                    let missing = FetchOutcome::Failed(Failure { kind: missing, retry_after: None });
                    let outcome = web.get(ticket.url.as_str()).cloned().unwrap_or(missing);
                    restored.restore(&live.settle(ticket, outcome, ResponseMeta { latency: Some(9), from: None }, at));
                }
                Next::Record(batch) => restored.restore(&batch),
                Next::Wait(until) => at = until.expect("nothing is in flight"),
                Next::Done(_) => break,
            }
            proptest::prop_assert_eq!(difference(&live.state, &restored.state), Vec::<&str>::new());
        }
    }
}
