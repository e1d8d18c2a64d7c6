//! Measures of a run: harvest rate H(N) and target recall TR(N) (Srinivasan, Menczer, Pant, A General Evaluation
//! Framework for Topical Crawlers, Information Retrieval 8(3), 2005), islands, precision of the topic's queries (Jiang,
//! Zhu, Wang 2020, figure 6), hosts and important pages (Tianwang).

use std::collections::BTreeSet;

use super::run::StrategyRun;
use suidao_html::plot::Interval;
use suidao_html::thousands;

/// The result of a run at a cutoff. A run that ended earlier counts as continued without finding anything; otherwise
/// stopping early would be the best strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunTally {
    /// The cutoff, in pages.
    pub cutoff: usize,
    /// Pages fetched; fewer than the cutoff if the run ended.
    pub pages: usize,
    pub relevant: usize,
    pub islands: usize,
    /// N: pages that a query finds.
    pub hits: usize,
    /// M: relevant ones among them.
    pub relevant_hits: usize,
    pub hosts: usize,
    /// Pages among the tenth with the most links to them.
    pub important: usize,
}

impl RunTally {
    /// H(N): relevant pages per page up to the cutoff, 0 to 1.
    pub fn harvest(&self) -> f64 {
        self.relevant as f64 / self.cutoff.max(1) as f64
    }
}

impl StrategyRun {
    /// The tally at each of `cutoffs`, which must be ascending.
    pub fn at(&self, cutoffs: &[usize]) -> Vec<RunTally> {
        let mut tally = RunTally::default();
        let (mut islands, mut hosts) = (BTreeSet::new(), BTreeSet::new());
        let mut out = Vec::with_capacity(cutoffs.len());
        for &cutoff in cutoffs {
            while tally.cutoff < cutoff {
                tally.cutoff += 1;
                if let Some(step) = self.steps.get(tally.pages) {
                    tally.pages += 1;
                    hosts.insert(step.host);
                    tally.hits += usize::from(step.hit);
                    tally.relevant_hits += usize::from(step.hit && step.relevant);
                    tally.important += usize::from(step.important);
                    if step.relevant {
                        tally.relevant += 1;
                        islands.extend(step.island);
                    }
                }
            }
            tally.islands = islands.len();
            tally.hosts = hosts.len();
            out.push(tally);
        }
        out
    }
}

/// Histogram of tunnel lengths in the first `pages` pages: at index n, relevant pages after n off-topic pages in a row;
/// index 0 counts those linked from a relevant page.
pub fn tunnels(run: &StrategyRun, pages: usize) -> Vec<u32> {
    let mut lengths = Vec::new();
    for step in run.steps.iter().take(pages).filter(|step| step.relevant) {
        let hops = usize::from(step.hops);
        if lengths.len() <= hops {
            lengths.resize(hops + 1, 0);
        }
        lengths[hops] += 1;
    }
    lengths
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMeasure {
    Relevant,
    Harvest,
    /// TR(N): share of all relevant pages that were found.
    Recall,
    /// Share of all topic islands that were reached.
    Islands,
    /// M / N: share of relevant pages among those that the topic's queries find.
    Precision,
    /// Share of all hosts with a page that was fetched.
    Hosts,
    /// Share of the important pages: the tenth with the most links to them.
    Important,
    /// Relevant pages, relative to the oracle's after as many pages of the same web.
    Oracle,
}

impl RunMeasure {
    pub const ALL: [Self; 8] = [
        Self::Relevant,
        Self::Harvest,
        Self::Recall,
        Self::Islands,
        Self::Precision,
        Self::Hosts,
        Self::Important,
        Self::Oracle,
    ];

    pub fn key(self) -> &'static str {
        match self {
            Self::Relevant => "relevant",
            Self::Harvest => "harvest",
            Self::Recall => "recall",
            Self::Islands => "islands",
            Self::Precision => "precision",
            Self::Hosts => "hosts",
            Self::Important => "important",
            Self::Oracle => "of_oracle",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Relevant => "relevant pages",
            Self::Harvest => "harvest rate",
            Self::Recall => "target recall",
            Self::Islands => "island recall",
            Self::Precision => "precision of queries",
            Self::Hosts => "hosts reached",
            Self::Important => "important pages",
            Self::Oracle => "share of the oracle",
        }
    }

    pub fn is_share(self) -> bool {
        self != Self::Relevant
    }

    /// Its value; `None` if undefined. `oracle`: the oracle's tally at the same cutoff.
    pub fn of(self, run: &StrategyRun, tally: &RunTally, oracle: Option<&RunTally>) -> Option<f64> {
        let share = |part: usize, whole: u32| (whole > 0).then(|| part as f64 / f64::from(whole));
        match self {
            Self::Relevant => Some(tally.relevant as f64),
            Self::Harvest => Some(tally.harvest()),
            Self::Recall => share(tally.relevant, run.targets),
            Self::Islands => share(tally.islands, run.islands?),
            Self::Precision => share(tally.relevant_hits, u32::try_from(tally.hits).ok()?),
            Self::Hosts => share(tally.hosts, run.hosts?),
            Self::Important => share(tally.important, run.important?),
            Self::Oracle => share(tally.relevant, u32::try_from(oracle?.relevant).ok()?),
        }
    }

    /// Formats a value: shares in per cent with one decimal, counts without decimals except halves (of medians).
    pub fn show(self, value: f64) -> String {
        if self.is_share() {
            format!("{:.1}%", 100.0 * value)
        } else {
            let halves = (value * 2.0).round() / 2.0;
            let whole = thousands(halves.trunc() as u64);
            if halves.fract() == 0.0 { whole } else { whole + ".5" }
        }
    }

    /// A median, with its interval if there is one.
    pub fn describe(self, at: Interval) -> String {
        let median = self.show(at.median);
        match at.range {
            Some((low, high)) => format!("{median} [{}, {}]", self.show(low), self.show(high)),
            None => median,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::by_hand;
    use super::*;

    #[test]
    fn tallies_are_as_counted_by_hand() {
        let run = by_hand("t", 1, "s", "+-+-------+---------++");
        let at = run.at(&[1, 4, 20, 30]);
        let counts: Vec<_> = at.iter().map(|t| (t.pages, t.relevant, t.islands)).collect();
        assert_eq!(counts, [(1, 1, 1), (4, 2, 1), (20, 3, 1), (22, 5, 2)]);
        assert!((at[1].harvest() - 0.5).abs() < 1e-12);
        assert!((at[3].harvest() - 5.0 / 30.0).abs() < 1e-12, "pages that it left unfetched count");
        let of = |measure: RunMeasure| measure.of(&run, &at[3], Some(&at[2]));
        assert_eq!(of(RunMeasure::Recall), Some(0.125));
        assert_eq!(of(RunMeasure::Islands), Some(0.5));
        // Pages 0, 2, ... are hits, of which 0, 2, 10 and 20 are relevant; a host has ten pages, one page in five counts.
        assert_eq!(of(RunMeasure::Precision), Some(4.0 / 11.0));
        assert_eq!((of(RunMeasure::Hosts), of(RunMeasure::Important)), (Some(3.0 / 40.0), Some(5.0 / 60.0)));
        assert_eq!(of(RunMeasure::Oracle), Some(5.0 / 3.0));
        assert_eq!(RunMeasure::Oracle.of(&run, &at[3], None), None);
        assert_eq!(RunMeasure::Recall.of(&StrategyRun { targets: 0, ..run.clone() }, &at[3], None), None);
    }

    #[test]
    fn a_run_without_pages_is_nothing_and_no_error() {
        let tally = by_hand("t", 1, "s", "").at(&[10])[0];
        assert_eq!((tally.pages, tally.harvest()), (0, 0.0));
    }

    #[test]
    fn tunnels_count_relevant_pages_by_their_hops() {
        let run = by_hand("t", 1, "s", "++-++++");
        assert_eq!(tunnels(&run, 6), [2, 2, 1]);
        assert_eq!(tunnels(&run, 1), [1]);
        assert!(tunnels(&run, 0).is_empty());
    }

    #[test]
    fn values_are_shown_short() {
        assert_eq!(RunMeasure::Relevant.show(12345.0), "12,345");
        assert_eq!(RunMeasure::Relevant.show(7.5), "7.5");
        assert_eq!(RunMeasure::Harvest.show(0.1234), "12.3%");
    }
}
