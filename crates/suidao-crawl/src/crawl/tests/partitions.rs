//! A crawl divided into partitions that send each other links.

use super::politeness::page;
use super::*;

/// Crawls as one machine for each of `count` partitions, in turns, to the end. A machine whose number is in `killed` is
/// replaced by a restored one after every page, with its last links sent twice. Returns the fetched URLs, sorted.
fn crawl(web: &BTreeMap<String, FetchOutcome>, strategy: &str, count: u32, killed: &[u32]) -> (Vec<String>, usize) {
    let fresh = |number: u32| {
        let partition = (count > 1).then_some(Partition { number, count });
        let strategy = StrategySettings::default().named(strategy).unwrap().build(Relevance::new(0.5));
        Crawl::new(CrawlSettings { partition, ..crawl_settings() }, strategy)
    };
    let seed = CrawlUrl::parse("http://s.cn/").unwrap();
    let mut machines: Vec<(Crawl, Vec<Batch>)> = (0..count).map(|number| (fresh(number), Vec::new())).collect();
    let home = Partition::number_of(&seed, count) as usize;
    let batch = machines[home].0.seed(&[seed], Millis(0));
    machines[home].1.push(batch);
    let (mut fetched, mut sent, mut idle) = (Vec::new(), 0, 0);
    let mut elsewhere = vec![Vec::new(); count as usize];
    for turn in 0.. {
        if idle == count {
            break;
        }
        let (number, now) = (turn % count, Millis(u64::from(turn) * 1_000));
        if number == 0 && count > 1 {
            share(&mut machines, &mut elsewhere, now);
        }
        let (machine, log) = &mut machines[number as usize];
        let batch = match machine.next(now) {
            Next::Fetch(ticket) => {
                let (url, outcome) = (ticket.url.to_string(), page(web, ticket.url.as_str()));
                if let FetchOutcome::Page { .. } = outcome {
                    fetched.push(url);
                }
                machine.settle(ticket, outcome, ResponseMeta::default(), now)
            }
            Next::Record(batch) => batch,
            Next::Wait(_) => continue,
            Next::Done(_) => {
                idle += 1;
                continue;
            }
        };
        idle = 0;
        let leaving = machine.take_leaving(&batch);
        sent += leaving.len();
        log.push(batch);
        let is_killed = killed.contains(&number);
        if is_killed {
            let learnt = machine.learnt();
            *machine = fresh(number);
            log.iter().for_each(|batch| machine.restore(batch));
            assert_eq!(machine.take_leaving(log.last().unwrap()), [], "they were sent before the batch was written");
            assert_eq!(machine.learnt(), learnt);
            assert_eq!(machine.learn(&elsewhere[number as usize], now).events, [], "it is in the log");
        }
        for _ in 0..=usize::from(is_killed) {
            for link in &leaving {
                let (owner, log) = &mut machines[Partition::number_of(&link.url, count) as usize];
                log.push(owner.receive(std::slice::from_ref(link), now));
            }
        }
    }
    fetched.sort();
    (fetched, sent)
}

/// Lets each machine learn the sums of the others; `elsewhere` has those that it knows then.
fn share(machines: &mut [(Crawl, Vec<Batch>)], elsewhere: &mut [Vec<LearntSum>], now: Millis) {
    let learnt: Vec<Vec<LearntSum>> = machines.iter().map(|(crawl, _)| crawl.learnt().unwrap_or_default()).collect();
    for (number, (crawl, log)) in machines.iter_mut().enumerate() {
        let mut sums: Vec<LearntSum> = Vec::new();
        for sum in learnt.iter().enumerate().filter(|(other, _)| *other != number).flat_map(|(_, learnt)| learnt) {
            match sums.iter_mut().find(|known| known.about == sum.about) {
                Some(known) => (known.value, known.weight) = (known.value + sum.value, known.weight + sum.weight),
                None => sums.push(*sum),
            }
        }
        let batch = crawl.learn(&sums, now);
        assert_eq!(crawl.learn(&sums, now).events, [], "they are known");
        elsewhere[number] = sums;
        log.push(batch);
    }
}

/// 20 hosts with 5 pages each, whose links go round.
fn ring() -> BTreeMap<String, FetchOutcome> {
    let mut text = "http://s.cn/ 0.9 -> http://h0.cn/0 0.9\n".to_owned();
    for host in 0..20 {
        for page in 0..5 {
            let (next, other) = ((host + page * 3 + 1) % 20, (host + 7) % 20);
            text += &format!(
                "http://h{host}.cn/{page} 0.{page}9 -> http://h{host}.cn/{} 0.5, http://h{next}.cn/{page} 0.8, \
                 http://h{other}.cn/{} 0.1\n",
                (page + 1) % 5,
                (page + 2) % 5
            );
        }
    }
    web(&text)
}

#[test]
fn partitions_find_the_same_pages_as_one_machine() {
    let web = ring();
    for strategy in ["breadth-first", "best-first", "shark-search", "dth", "tunnel"] {
        let (whole, sent) = crawl(&web, strategy, 1, &[]);
        assert_eq!((whole.len(), sent), (101, 0), "{strategy}");
        for count in [2, 5, 64] {
            let (parts, sent) = crawl(&web, strategy, count, &[]);
            assert_eq!(parts, whole, "{strategy}, {count} partitions");
            assert!(sent >= 50, "{strategy}, {count} partitions: {sent} links were sent");
        }
        assert_eq!(crawl(&web, strategy, 3, &[0, 2]).0, whole, "{strategy}, two partitions restart after every page");
    }
}

#[test]
fn a_link_is_sent_again_only_if_it_is_better() {
    let web = web("
        http://s.cn/ 0.9 -> http://s.cn/a 0.9, http://s.cn/b 0.8, http://s.cn/c 0.7
        http://s.cn/a 0.7 -> http://t.cn/ 0.4
        http://s.cn/b 0.6 -> http://t.cn/ 0.3
        http://s.cn/c 0.9 -> http://t.cn/ 0.9
        http://t.cn/ 0.9");
    let urls = ["http://s.cn/", "http://t.cn/"].map(|url| Partition::number_of(&CrawlUrl::parse(url).unwrap(), 64));
    assert_ne!(urls[0], urls[1]);
    assert_eq!(crawl(&web, "best-first", 64, &[]).1, 2);
}
