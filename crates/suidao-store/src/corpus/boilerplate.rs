//! Boilerplate that only a comparison of a host's pages shows: first and last lines of the text, and the name of the
//! site in titles or in place of an author.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::catalogue::Catalogue;
use super::entry::PageRole;
use super::filter::Selection;
use super::forums::Forums;
use super::thread_boilerplate::{ThreadBoilerplate, last_part, without_separator};
use crate::store::archive::ArchiveReader;
use crate::store::{Store, StoreError};
use suidao_forum::forum::analysis::{PagePosts, posts_of};
use suidao_forum::forum::clock::KnownTimes;
use suidao_page::model::{Event, Fetched, Millis};
use suidao_page::read;
use suidao_page::read::dom::Dom;

/// Documents compared per host, spread over all it has; none if it has fewer than `MIN_DOCUMENTS`.
const SAMPLE: usize = 16;
const MIN_DOCUMENTS: usize = 5;
/// Threads per forum whose posts are searched for signatures, spread over all.
const THREADS: usize = 2_048;
/// Lines at the beginning and the end of a text that may belong to the template.
const FIRST: usize = 3;
const LAST: usize = 6;
/// Larger pages are not compared.
const MAX_COMPARED: usize = 4 << 20;

/// Boilerplate by host. Memory: 8 bytes per line, and the end of titles, for each host of the chosen pages; 24 bytes per
/// possible signature of a forum.
#[derive(Debug, Default)]
pub struct Boilerplate {
    hosts: FxHashMap<u32, HostBoilerplate>,
    forums: FxHashMap<u32, ThreadBoilerplate>,
}

#[derive(Debug, Default)]
struct HostBoilerplate {
    lines: FxHashSet<u64>,
    /// The common end of titles, with its separator.
    end: Option<String>,
}

/// Whether `count` of `all` is enough to be boilerplate.
fn is_most(count: usize, all: usize) -> bool {
    count >= MIN_DOCUMENTS && count * 3 >= all * 2
}

fn digest(line: &str) -> u64 {
    xxh3_64(line.trim().as_bytes())
}

impl Boilerplate {
    /// Compares pages of the hosts of the chosen pages.
    pub fn learn(store: &Store, catalogue: &Catalogue, selection: &Selection) -> Result<Self, StoreError> {
        let chosen = catalogue.entries.iter().zip(&selection.chosen).filter(|(_, chosen)| **chosen);
        let wanted: FxHashSet<u32> = chosen.map(|(entry, _)| entry.host).collect();
        let mut documents: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        let mut threads: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (number, entry) in catalogue.entries.iter().enumerate() {
            if !entry.archived || !wanted.contains(&entry.host) {
                continue;
            }
            match entry.role {
                PageRole::Page if entry.is_document() => documents.entry(entry.host).or_default().push(number),
                PageRole::Thread => threads.entry(entry.host).or_default().push(number),
                _ => {}
            }
        }
        documents.retain(|_, numbers| numbers.len() >= MIN_DOCUMENTS);
        let (compared, of_forums) = (spread(&threads, SAMPLE), spread(&threads, THREADS));
        let of_hosts = spread(&documents, SAMPLE);
        let sampled = |number: usize| match compared.contains(&number) {
            compared if compared || of_forums.contains(&number) => Some(Sampled::Thread { compared }),
            _ => of_hosts.contains(&number).then_some(Sampled::Document),
        };
        let mut archive = ArchiveReader::new(store.directory(), MAX_COMPARED);
        let mut samples: FxHashMap<u32, Vec<Sample>> = FxHashMap::default();
        let mut forums = Forums::new(catalogue);
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut next = 0;
        for record in store.batches() {
            let record = record?;
            let answered = record.response();
            for event in &record.batch.events {
                forums.observe(event);
                let Event::PageFetched(page) = event else { continue };
                let Some(entry) = catalogue.entries.get(next).filter(|entry| entry.id == page.id) else { continue };
                next += 1;
                if entry.role == PageRole::Thread {
                    forums.add_title(entry.host, &page.title);
                }
                let (Some(sampled), Some(location)) = (sampled(next - 1), answered) else { continue };
                // The export reports records that do not unpack.
                if let Ok(fetched) = archive.read_at(location) {
                    waiting.push(Waiting { host: entry.host, fetched, sampled, at: record.batch.at });
                }
            }
            if waiting.len() >= 128 {
                take(&mut waiting, &mut samples, &mut forums);
            }
        }
        take(&mut waiting, &mut samples, &mut forums);
        let hosts = samples.into_iter().map(|(host, samples)| (host, HostBoilerplate::of(&samples)));
        let hosts = hosts.filter(|(_, found)| !found.lines.is_empty() || found.end.is_some()).collect();
        Ok(Self { hosts, forums: forums.finish() })
    }

    /// Whether texts of a host may lose lines.
    pub(super) fn cuts(&self, host: u32) -> bool {
        self.hosts.get(&host).is_some_and(|repeated| !repeated.lines.is_empty())
    }

    /// The text without boilerplate lines at both ends, as a range of its bytes.
    pub(super) fn content_range(&self, host: u32, text: &str) -> Range<usize> {
        let Some(HostBoilerplate { lines, .. }) = self.hosts.get(&host).filter(|repeated| !repeated.lines.is_empty())
        else {
            return 0..text.len();
        };
        let (mut from, mut until) = (0, text.len());
        for _ in 0..FIRST {
            let rest = &text[from..until];
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            if line.is_empty() || !lines.contains(&digest(line)) {
                break;
            }
            from += line.len();
        }
        for _ in 0..LAST {
            let rest = &text[from..until];
            let start = rest.rfind('\n').map_or(0, |at| at + 1);
            if rest.is_empty() || !lines.contains(&digest(&rest[start..])) {
                break;
            }
            until = from + start.saturating_sub(1);
        }
        from.min(until)..until
    }

    /// What the threads of a host's forum have in common.
    pub(super) fn forum(&self, host: u32) -> Option<&ThreadBoilerplate> {
        self.forums.get(&host)
    }

    pub(super) fn title<'a>(&self, host: u32, title: &'a str) -> &'a str {
        let end = self.hosts.get(&host).and_then(|repeated| repeated.end.as_deref());
        end.and_then(|end| title.strip_suffix(end)).map_or(title, str::trim_end)
    }

    /// Whether the author of a page is in fact the name of the site.
    pub(super) fn is_site(&self, host: u32, author: &str) -> bool {
        let end = self.hosts.get(&host).and_then(|repeated| repeated.end.as_deref());
        end.is_some_and(|end| without_separator(end).to_lowercase() == author.trim().to_lowercase())
    }
}

struct Sample {
    title: String,
    edges: FxHashSet<u64>,
}

/// A sampled page of a host.
struct Waiting {
    host: u32,
    fetched: Fetched,
    sampled: Sampled,
    at: Millis,
}

/// What a page is sampled for.
#[derive(Clone, Copy)]
enum Sampled {
    /// The lines at its ends.
    Document,
    /// Its signatures; if it is compared, all its posts.
    Thread { compared: bool },
}

enum Read {
    Page(Sample),
    Thread { page: PagePosts, compared: bool },
}

fn take(waiting: &mut Vec<Waiting>, samples: &mut FxHashMap<u32, Vec<Sample>>, forums: &mut Forums) {
    let read = |Waiting { host, fetched, sampled, at }: &Waiting| {
        if let Sampled::Thread { compared } = *sampled {
            let known = KnownTimes { offset: forums.offset(*host), month_first: None };
            return (*host, Read::Thread { page: posts_of(&Dom::of(fetched), known, *at), compared });
        }
        let parsed = read::parse(fetched);
        let lines: Vec<&str> = parsed.text.lines().collect();
        let edges = lines.iter().take(FIRST).chain(lines.iter().rev().take(LAST)).map(|line| digest(line));
        (*host, Read::Page(Sample { edges: edges.collect(), title: parsed.title }))
    };
    let read: Vec<(u32, Read)> = waiting.par_iter().map(read).collect();
    waiting.clear();
    for (host, read) in read {
        match read {
            Read::Page(sample) => samples.entry(host).or_default().push(sample),
            Read::Thread { page, compared } => forums.add_page(host, page, compared),
        }
    }
}

/// At most `count` pages of each host, spread over all it has.
fn spread(hosts: &FxHashMap<u32, Vec<usize>>, count: usize) -> FxHashSet<usize> {
    let some = |numbers: &Vec<usize>| {
        let count = count.min(numbers.len());
        (0..count).map(|at| numbers[at * numbers.len() / count]).collect::<Vec<_>>()
    };
    hosts.values().flat_map(some).collect()
}

impl HostBoilerplate {
    fn of(samples: &[Sample]) -> Self {
        let mut lines: FxHashMap<u64, usize> = FxHashMap::default();
        let mut ends: FxHashMap<&str, usize> = FxHashMap::default();
        for sample in samples {
            sample.edges.iter().for_each(|line| *lines.entry(*line).or_default() += 1);
            if let Some(end) = last_part(&sample.title) {
                *ends.entry(end).or_default() += 1;
            }
        }
        // More than half have it, so there is only one.
        let end = ends.into_iter().find(|(_, count)| is_most(*count, samples.len()));
        let titles: FxHashSet<&str> = samples.iter().map(|sample| sample.title.as_str()).collect();
        Self {
            lines: lines
                .into_iter()
                .filter(|(_, count)| is_most(*count, samples.len()))
                .map(|(line, _)| line)
                .collect(),
            // If all pages have the same title, its end is not the name of a site.
            end: end.map(|(end, _)| end.to_owned()).filter(|_| titles.len() >= MIN_DOCUMENTS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::crawl;
    use super::super::{Filter, Parts, stream};
    use super::*;

    #[test]
    fn lines_on_most_pages_of_a_host_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let page = |number: usize| {
            let own = format!("第{number}篇文章说的是足球比赛，写得不长，但是每一篇说的都不一样，这是第{number}句话。");
            let first = if number == 6 { "开头是自己的" } else { "阅读进度0%" };
            let title =
                if number == 5 { "没有名字".to_owned() } else { format!("文章{number} | 张三的博客") };
            let author = if number == 2 { "李四" } else { "张三的博客" };
            format!(
                "<title>{title}</title><meta name=author content={author}><article><p>{first}</p><p>{own}</p>\
                 <p>{own}</p><p>本文由张三的博客发布，来源见上，谢谢。</p></article>"
            )
        };
        let mut pages: Vec<(String, String)> = (1..8).map(|at| (format!("http://a.cn/{at}"), page(at))).collect();
        pages.push(("http://b.cn/".into(), page(8)));
        let pages: Vec<(&str, &str)> = pages.iter().map(|(url, html)| (url.as_str(), html.as_str())).collect();
        let store = crawl(root.path(), &pages);
        let catalogue = Catalogue::read(&store).unwrap();
        let mut result = Vec::new();
        let selection = Filter::default().select(&catalogue);
        // The length of a text must not depend on whether the text was requested.
        let render = |chosen: &super::super::SelectedDocument| {
            let [whole, lean] =
                [true, false].map(|text| chosen.document(Parts { text, posts: true, ..Parts::default() }));
            let (whole, lean) = (whole?, lean?);
            assert_eq!((lean.chars, lean.text.as_str()), (whole.chars, ""));
            Ok(whole)
        };
        stream(&store, &catalogue, &selection, render, |document| {
            let chars = document.text.chars().filter(|c| !c.is_whitespace()).count();
            assert_eq!(document.chars as usize, chars);
            result.push((document.title, document.author, document.text));
            Ok(())
        })
        .unwrap();
        for (at, (title, author, text)) in result.iter().enumerate() {
            let number = at + 1;
            let lines: Vec<&str> = text.lines().collect();
            if number == 8 {
                assert!(lines.len() == 4 && title.ends_with("博客") && author.is_some(), "a host of one page");
                continue;
            }
            assert_eq!(lines.first().is_some_and(|line| line.starts_with("开头")), number == 6, "{lines:?}");
            assert!(lines.last().is_some_and(|line| line.ends_with("句话。")), "{lines:?}");
            assert_eq!(title, if number == 5 { "没有名字".to_owned() } else { format!("文章{number}") }.as_str());
            assert_eq!(author.as_deref(), (number == 2).then_some("李四"));
        }
    }

    #[test]
    fn the_end_of_a_title_begins_at_its_last_separator() {
        assert_eq!(last_part("一 | 二 - 三"), Some(" - 三"));
        assert_eq!((last_part("没有"), last_part(" | 空")), (None, None));
    }
}
