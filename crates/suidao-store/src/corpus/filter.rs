//! Selects pages of the catalogue.

use std::collections::BTreeMap;

use serde::Serialize;

use super::catalogue::{Catalogue, CatalogueEntry};
use super::visits::PageRole;
use suidao_page::model::{Day, Relevance};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DuplicatePolicy {
    #[default]
    Keep,
    /// Keep the best of each group.
    Best,
}

/// Conditions that a page must all meet. The default selects all pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Filter {
    pub relevant: bool,
    pub min_relevance: Option<Relevance>,
    /// ISO 639-3 codes; empty: any.
    pub languages: Vec<String>,
    /// Hosts with their subdomains; empty: any.
    pub hosts: Vec<String>,
    /// Hosts to exclude, with their subdomains.
    pub not_hosts: Vec<String>,
    /// First day of publication; excludes pages without a date.
    pub published_from: Option<Day>,
    /// Last day of publication; excludes pages without a date.
    pub published_until: Option<Day>,
    /// First day of fetching (UTC).
    pub fetched_from: Option<Day>,
    pub min_chars: u32,
    /// Exclude listings and pages without text.
    pub documents: bool,
    /// Exclude pages with noindex.
    pub no_noindex: bool,
    pub duplicates: DuplicatePolicy,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// For each entry of the catalogue.
    pub chosen: Vec<bool>,
    pub pages: u64,
    /// Excluded pages, by the first condition that they did not meet, as a phrase after their number.
    pub excluded: BTreeMap<&'static str, u64>,
}

impl Filter {
    /// Selects the pages. Of a group of duplicates the best that meets all other conditions is kept.
    pub fn select(&self, catalogue: &Catalogue) -> Selection {
        let on = |names: &[String]| -> Vec<bool> {
            catalogue.hosts.iter().map(|host| names.iter().any(|name| lies_on(host, name))).collect()
        };
        let (wanted, unwanted) = (on(&self.hosts), on(&self.not_hosts));
        let mut selection = Selection { chosen: Vec::new(), pages: 0, excluded: BTreeMap::new() };
        for entry in &catalogue.entries {
            let host = entry.host as usize;
            let host_fails = !self.hosts.is_empty() && !wanted.get(host).copied().unwrap_or(false)
                || unwanted.get(host).copied().unwrap_or(false);
            let fails = if host_fails { Some("on other hosts") } else { self.fails(catalogue, entry) };
            selection.chosen.push(fails.is_none());
            if let Some(reason) = fails {
                *selection.excluded.entry(reason).or_insert(0) += 1;
            }
        }
        if self.duplicates == DuplicatePolicy::Best {
            selection.keep_best(catalogue);
        }
        selection.pages = selection.chosen.iter().filter(|chosen| **chosen).count() as u64;
        selection
    }

    fn fails(&self, catalogue: &Catalogue, entry: &CatalogueEntry) -> Option<&'static str> {
        let published = |passes: &dyn Fn(Day) -> bool| entry.published.is_some_and(passes);
        let no_document = match entry.role {
            PageRole::Page | PageRole::Thread => None,
            PageRole::Further(_) => Some("further pages of threads, merged into their documents"),
            PageRole::Login => Some("requiring a login"),
            PageRole::Retired => Some("deleted or moved"),
            PageRole::Copy(_) => Some("copies of their canonical URLs"),
            PageRole::Unread => Some("no longer recognised as forum pages"),
        };
        if no_document.is_some() {
            no_document
        } else if entry.foreign {
            Some("in a language not in keep.languages")
        } else if !entry.archived {
            Some("not in the archive")
        } else if self.relevant && !entry.on_topic || self.min_relevance.is_some_and(|least| entry.relevance < least) {
            Some("below the threshold")
        } else if !self.languages.is_empty()
            && !catalogue.language(entry).is_some_and(|language| self.languages.iter().any(|one| one == language))
        {
            Some("in other languages")
        } else if self.published_from.is_some_and(|from| !published(&|day| day >= from))
            || self.published_until.is_some_and(|until| !published(&|day| day <= until))
        {
            Some("outside the publication dates")
        } else if self.fetched_from.is_some_and(|from| Day::at(entry.at) < from) {
            Some("fetched before the given day")
        } else if entry.sketch.chars < self.min_chars {
            Some(if self.min_chars > 1 { "shorter than --min-chars" } else { "without text" })
        } else if (self.documents || self.relevant) && entry.listing {
            Some("listing pages")
        } else if (self.documents || self.relevant) && !entry.is_document() {
            Some("without main text")
        } else if self.no_noindex && entry.noindex {
            Some("marked noindex")
        } else {
            None
        }
    }
}

impl Selection {
    pub fn none(catalogue: &Catalogue) -> Self {
        Self { chosen: vec![false; catalogue.entries.len()], pages: 0, excluded: BTreeMap::new() }
    }

    /// Keeps one page of each group: the best, or if that was left out the most relevant, longest, first.
    fn keep_best(&mut self, catalogue: &Catalogue) {
        let mut stand_ins: BTreeMap<u32, u32> = BTreeMap::new();
        let entries = &catalogue.entries;
        for (position, entry) in (0..).zip(entries) {
            let Some(representative) = entry.duplicate_of else { continue };
            if !self.chosen[position as usize] || self.chosen[representative as usize] {
                continue;
            }
            let quality = |at: u32| (entries[at as usize].relevance, entries[at as usize].sketch.chars);
            let stand_in = stand_ins.entry(representative).or_insert(position);
            if quality(position) > quality(*stand_in) {
                *stand_in = position;
            }
        }
        let mut excluded = 0;
        for (position, entry) in (0..).zip(entries) {
            let stays = entry.duplicate_of.is_none_or(|of| stand_ins.get(&of) == Some(&position));
            if self.chosen[position as usize] && !stays {
                self.chosen[position as usize] = false;
                excluded += 1;
            }
        }
        if excluded > 0 {
            self.excluded.insert("duplicates", excluded);
        }
    }
}

/// Whether a host is `name` or a subdomain of it; a name without a port matches all ports.
fn lies_on(host: &str, name: &str) -> bool {
    let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
    let below = |host: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    below(host) || below(bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::fixture::crawl;

    const ARTICLE: &str =
        "<title>足球 NBA</title><p>足球 篮球 NBA 比赛 昨天 在 北京 举行 观众 很多</p><p>发布于 2021-03-05</p>";

    #[test]
    fn each_condition_leaves_out_what_fails_it() {
        let root = tempfile::tempdir().unwrap();
        let longer = format!("{ARTICLE}<meta name=robots content=noindex>");
        let store = crawl(
            root.path(),
            &[
                ("http://a.cn/1", ARTICLE),
                ("http://b.a.cn/2", ARTICLE),
                (
                    "http://c.cn/3",
                    "<title>x</title><p>the weather is fine today and it will be tomorrow, said the man</p>",
                ),
                ("http://xa.cn:81/4", &longer),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let chosen = |filter: Filter| -> Vec<usize> {
            let selection = filter.select(&catalogue);
            let chosen: Vec<usize> = (0..4).filter(|&position| selection.chosen[position]).collect();
            assert_eq!(selection.pages, chosen.len() as u64);
            assert_eq!(selection.excluded.values().sum::<u64>(), 4 - chosen.len() as u64);
            chosen
        };
        let day = |text: &str| Day::parse(text);
        let own = |text: &str| vec![text.to_owned()];
        assert_eq!(chosen(Filter::default()), [0, 1, 2, 3]);
        assert_eq!(chosen(Filter { relevant: true, ..Filter::default() }), [0, 1, 3]);
        assert_eq!(chosen(Filter { min_relevance: Some(Relevance::ONE), ..Filter::default() }), [0_usize; 0]);
        assert_eq!(chosen(Filter { languages: own("en"), ..Filter::default() }), [2]);
        assert_eq!(chosen(Filter { hosts: own("a.cn"), ..Filter::default() }), [0, 1]);
        assert_eq!(chosen(Filter { hosts: own("xa.cn"), ..Filter::default() }), [3]);
        assert_eq!(chosen(Filter { not_hosts: own("a.cn"), ..Filter::default() }), [2, 3]);
        assert_eq!(chosen(Filter { published_from: day("2021-03-05"), ..Filter::default() }), [0, 1, 3]);
        assert_eq!(chosen(Filter { published_until: day("2021-03-04"), ..Filter::default() }), [0_usize; 0]);
        assert_eq!(chosen(Filter { fetched_from: day("2023-11-14"), ..Filter::default() }), [0, 1, 2, 3]);
        assert_eq!(chosen(Filter { fetched_from: day("2023-11-15"), ..Filter::default() }), [0_usize; 0]);
        assert_eq!(chosen(Filter { min_chars: 40, ..Filter::default() }), [2]);
        assert_eq!(chosen(Filter { no_noindex: true, ..Filter::default() }), [0, 1, 2]);
        let best = Filter { duplicates: DuplicatePolicy::Best, ..Filter::default() };
        assert_eq!(chosen(best.clone()), [0, 2]);
        assert_eq!(chosen(Filter { not_hosts: own("a.cn"), ..best }), [2, 3], "the best of those that pass");
    }
}
