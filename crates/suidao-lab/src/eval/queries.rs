//! Quality of a vertical search engine over a crawl as it proceeds.
//!
//! Jiang, Zhu, Wang, Computer Systems & Applications 29(3), 2020, figures 6 and 7. After n pages, with N hits of the
//! topic's query set and M relevant ones among them: precision = M / N; and R = relevant pages. A page that several
//! queries find is one hit.

use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// By ground truth, or by the lexicon's threshold.
    pub relevant: bool,
    pub hit: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CutoffResult {
    /// The cutoff, or fewer if the crawl ended before it.
    pub pages: u64,
    /// N: pages that the queries find.
    pub hits: u64,
    /// M: relevant ones among them.
    pub relevant_hits: u64,
    /// R: relevant pages.
    pub relevant: u64,
}

impl CutoffResult {
    /// M / N; `None` without hits.
    pub fn precision(&self) -> Option<f64> {
        (self.hits > 0).then(|| self.relevant_hits as f64 / self.hits as f64)
    }
}

/// Counts after each of `cutoffs` pages, ascending; a cutoff after the end counts as the end.
pub fn at_cutoffs(pages: &[Collected], cutoffs: &[u64]) -> Vec<CutoffResult> {
    let mut at = CutoffResult::default();
    let mut rest = pages.iter();
    cutoffs
        .iter()
        .map(|&cutoff| {
            for page in rest.by_ref().take(usize::try_from(cutoff.saturating_sub(at.pages)).unwrap_or(usize::MAX)) {
                at.pages += 1;
                at.hits += u64::from(page.hit);
                at.relevant_hits += u64::from(page.hit && page.relevant);
                at.relevant += u64::from(page.relevant);
            }
            at
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_pages_grow_with_the_crawl() {
        let page = |relevant, hit| Collected { relevant, hit };
        let pages = [page(true, true), page(false, true), page(true, false), page(true, true), page(false, false)];
        let at = at_cutoffs(&pages, &[0, 1, 2, 4, 9]);
        let counts: Vec<_> = at.iter().map(|at| (at.pages, at.hits, at.relevant_hits, at.relevant)).collect();
        assert_eq!(counts, [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 1, 1), (4, 3, 2, 3), (5, 3, 2, 3)]);
        assert_eq!(at[0].precision(), None);
        assert_eq!(at[3].precision(), Some(2.0 / 3.0));
    }
}
