//! Selects pages of the catalogue.

use std::collections::BTreeMap;
use std::fmt;

use super::catalogue::Catalogue;
use super::condition::{Condition, ConditionError, yes_or_no};
use super::entry::{CatalogueEntry, PageRole};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicatePolicy {
    #[default]
    Keep,
    /// Keep the best of each group.
    Best,
}

/// Which pages are wanted. The default selects all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// A page meets all of these.
    pub all_of: Vec<Condition>,
    /// And none of these.
    pub none_of: Vec<Condition>,
    /// Exclude listings and pages with little or no text.
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
    /// Adds the conditions of a text such as `lang:zh -host:example.cn duplicates:best`.
    ///
    /// # Errors
    /// The first condition that is not understood; those before it are added.
    pub fn add(&mut self, text: &str) -> Result<(), ConditionError> {
        for word in text.split_whitespace() {
            let (excludes, condition) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
            let Some((name, value)) = condition.split_once(':') else {
                return Err(ConditionError::Unknown(word.to_owned()));
            };
            let wrong = |expected: &str| ConditionError::Value {
                name: name.to_owned(),
                value: value.to_owned(),
                expected: expected.to_owned(),
            };
            let included = || yes_or_no(value).ok_or_else(|| wrong("expected yes or no"));
            match name {
                "listings" | "noindex" | "duplicates" if excludes => {
                    return Err(wrong("leave out the - before it"));
                }
                "listings" => self.documents = !included()?,
                "noindex" => self.no_noindex = !included()?,
                "duplicates" => {
                    self.duplicates = match value {
                        "keep" => DuplicatePolicy::Keep,
                        "best" => DuplicatePolicy::Best,
                        _ => return Err(wrong("expected keep or best")),
                    }
                }
                _ if excludes => self.none_of.push(Condition::parse(name, value)?),
                _ => self.all_of.push(Condition::parse(name, value)?),
            }
        }
        Ok(())
    }

    /// Selects the pages. Of a group of duplicates the best that meets all other conditions is kept.
    pub fn select(&self, catalogue: &Catalogue) -> Selection {
        let mut selection = Selection { chosen: Vec::new(), pages: 0, excluded: BTreeMap::new() };
        for entry in &catalogue.entries {
            let fails = self.fails(catalogue, entry);
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
        } else if self.documents && entry.listing {
            Some("listing pages")
        } else if self.documents && !entry.is_document() {
            Some("with little or no main text")
        } else if let Some(failed) = self
            .all_of
            .iter()
            .find(|condition| !condition.holds(catalogue, entry))
            .or_else(|| self.none_of.iter().find(|condition| condition.holds(catalogue, entry)))
        {
            Some(failed.failing())
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

/// The conditions, as [`Filter::add`] takes them.
impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all_of.iter().map(ToString::to_string);
        let policies = [
            (self.documents, "listings:no"),
            (self.no_noindex, "noindex:no"),
            (self.duplicates == DuplicatePolicy::Best, "duplicates:best"),
        ];
        let words: Vec<String> = all
            .chain(self.none_of.iter().map(|condition| format!("-{condition}")))
            .chain(policies.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word.to_owned()))
            .collect();
        out.write_str(&words.join(" "))
    }
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
        let chosen = |conditions: &str| -> Vec<usize> {
            let mut filter = Filter::default();
            filter.add(conditions).unwrap();
            let mut again = Filter::default();
            again.add(&filter.to_string()).unwrap();
            assert_eq!(again, filter);
            let selection = filter.select(&catalogue);
            let chosen: Vec<usize> = (0..4).filter(|&position| selection.chosen[position]).collect();
            assert_eq!(selection.pages, chosen.len() as u64);
            assert_eq!(selection.excluded.values().sum::<u64>(), 4 - chosen.len() as u64);
            chosen
        };
        for (conditions, pages) in [
            ("", &[0, 1, 2, 3][..]),
            ("relevant:yes", &[0, 1, 3]),
            ("relevant:no", &[2]),
            ("-relevant:yes", &[2]),
            ("relevance:1..", &[]),
            ("relevance:..0.1", &[2]),
            ("lang:en", &[2]),
            ("lang:en,zh", &[0, 1, 2, 3]),
            ("host:a.cn", &[0, 1]),
            ("host:a.cn -host:b.a.cn", &[0]),
            ("host:xa.cn,c.cn", &[2, 3]),
            ("-host:a.cn", &[2, 3]),
            ("date:2021-03-05..", &[0, 1, 3]),
            ("date:..2021-03-04", &[]),
            ("fetched:2023-11-14..", &[0, 1, 2, 3]),
            ("fetched:2023-11-15..", &[]),
            ("chars:40..", &[2]),
            ("noindex:no", &[0, 1, 2]),
            ("noindex:no noindex:yes", &[0, 1, 2, 3]),
            ("duplicates:best", &[0, 2]),
            // The best of those that pass.
            ("duplicates:best -host:a.cn", &[2, 3]),
        ] {
            assert_eq!(chosen(conditions), pages, "{conditions}");
        }
    }

    #[test]
    fn a_stub_on_topic_is_no_document_and_so_not_relevant() {
        let root = tempfile::tempdir().unwrap();
        let pages = [("http://a.cn/1", ARTICLE), ("http://a.cn/2", "<title>足球</title><p>足球 篮球 NBA 比赛，待更新")];
        let catalogue = Catalogue::read(&crawl(root.path(), &pages)).unwrap();
        let stub = &catalogue.entries[1];
        assert!(stub.on_topic && !stub.is_relevant() && stub.sketch.chars > 10, "{stub:?}");
        let selection = Filter { documents: true, ..Filter::default() }.select(&catalogue);
        assert_eq!(selection.chosen, [true, false]);
        assert_eq!(selection.excluded, [("with little or no main text", 1)].into());
        assert_eq!(Filter::default().select(&catalogue).pages, 2);
    }

    #[test]
    fn what_is_not_a_condition_is_refused_with_its_name() {
        for (text, part) in [
            ("lang:zh 足球", "足球 is not a condition"),
            ("duplicates:worst", "duplicates:worst: expected keep or best"),
            ("listings:maybe", "listings:maybe: expected yes or no"),
            ("-noindex:yes", "noindex:yes: leave out the -"),
            ("-chars:x", "chars:x: expected"),
        ] {
            let error = Filter::default().add(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
