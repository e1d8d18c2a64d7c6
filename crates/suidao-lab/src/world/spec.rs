//! Parameters of a generated web, in a small TOML file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use suidao_page::toml_error::line_and_message;
use thiserror::Error;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathShape {
    /// One-way tunnels to each island from islands with smaller numbers.
    #[default]
    Tree,
    /// A ring on which each island is joined both ways to its nearest `tunnels` successors, with some tunnels rewired:
    /// a small world (Watts and Strogatz 1998).
    SmallWorld,
}

/// The parameters of a [`super::SyntheticWeb`]. Equal specs give the same web, byte for byte.
///
/// The default is `worlds/default.toml`; [`WebSpec::demo`] is the demo's web. Probabilities and shares are 0 to 1; a
/// range `[a, b]` includes both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSpec {
    /// Another seed gives another web of the same kind.
    pub seed: u64,
    /// Number of homes, listings, articles and tunnel pages. Trap pages are not counted.
    pub pages: u64,
    pub hosts: u64,
    /// Skew of the sizes of off-topic hosts: the power of a random number from 1 to 8.
    pub host_skew: u32,
    /// Share of hosts that are only about the topic.
    pub topical_hosts: f64,
    pub islands: u64,
    /// Seeds: four pages of island 0 if this is 1, else one page on each of the first `seed_islands` islands.
    pub seed_islands: u64,
    pub island_pages: [u64; 2],
    /// Skew of the island sizes: drawn by u^(1 + s), u uniform in 0 to 1. 0 is uniform; with a large s a few islands
    /// have most of the topic's pages.
    pub island_skew: f64,
    /// Hosts per island, at least 12 pages each.
    pub island_hosts: [u64; 2],
    /// Tags of an island's posts on one blog, the largest first.
    pub island_tags: [u64; 2],
    /// Off-topic pages on a tunnel between two islands.
    pub gap: [u64; 2],
    /// Mean of `gap` over all tunnels, within its range. An island's own gap is that of its shortest tunnel.
    pub gap_mean: f64,
    pub shape: PathShape,
    /// Tunnels to each island (`tree`), or to its successors on the ring (`small-world`); 0 for isolated islands.
    pub tunnels: u64,
    /// Share of a small world's tunnels, and of blogroll links, that lead anywhere instead of to a neighbour.
    pub rewired: f64,
    /// Pages of an island that link to the head of a tunnel that starts there.
    pub tunnel_heads: u64,
    /// Probability that the anchor of a link to a topic page or along a tunnel contains words of the topic or near it.
    pub anchor_quality: f64,
    /// Probability that the title of a topic page, and so its entry in listings, contains words of the topic.
    pub title_quality: f64,
    /// Probability that the text around such a link does.
    pub context_quality: f64,
    /// Probability that the directory of an island's pages on one host is named after the topic.
    pub url_quality: f64,
    /// Probability that a link to an off-topic page has an anchor of the topic.
    pub misleading: f64,
    /// Probability that a sentence of an article is about another topic.
    pub noise: f64,
    /// Share of off-topic sections with a subject near the topic, which share many of its words.
    pub near_topics: f64,
    /// Probability that a link is in its host's usual block for such links: tunnel links among the editor's picks,
    /// links within the topic under "related", others in the sidebar. Otherwise it is in a random block.
    pub template_regularity: f64,
    /// Related articles of its own section or island that an article links to.
    pub related_links: [u64; 2],
    /// Off-topic pages of other hosts that a page links to.
    pub off_topic_links: [u64; 2],
    /// Share of these links and of the footer's that are the same on all pages of a host, as in sidebars and footers.
    pub repeated_links: f64,
    /// Share of these links that lead to a hub (the home of an off-topic host, large hosts more often).
    pub hub_share: f64,
    pub footer_links: u64,
    /// Share of dead links: 404, one in five to a host without an address.
    pub dangling: f64,
    /// Share of links to pages through a redirect (301 or 302).
    pub redirects: f64,
    /// Share of links to articles by a second URL of the same bytes.
    pub duplicates: f64,
    /// Share of hosts that are blogs: sections are tags, posts are ordered by date, front page and archive list posts
    /// of all tags, every page has the tag cloud. Front and archive pages are not counted in `pages`.
    pub blog_hosts: f64,
    /// Tags of the off-topic posts of a blog, the largest first.
    pub tags: [u64; 2],
    /// Categories of a blog. Every post is in one, with its tag; posts about the topic share one with others.
    pub categories: u64,
    pub tag_cloud: u64,
    /// Newest posts in the sidebar of every page of a blog.
    pub recent_posts: u64,
    /// Probability that the post before or after one on a blog has the same tag; else it is any of the blog's.
    pub same_tag_neighbours: f64,
    /// Share of hosts whose articles show their publication date.
    pub dated_hosts: f64,
    /// Share of these with the date in markup too (`time`, `article:published_time`).
    pub marked_dates: f64,
    /// Share of hosts with a blogroll (友链).
    pub friend_hosts: f64,
    /// Hosts in a blogroll: the next ones by number that have one too.
    pub friends: [u64; 2],
    /// Share of off-topic hosts with an endless calendar.
    pub calendar_hosts: f64,
    /// Share of hosts that put a session id into every internal link.
    pub session_hosts: f64,
    /// Share of hosts in GBK; half of these declare it in the header, half in a meta tag only.
    pub gbk_hosts: f64,
    /// Share of hosts with a robots.txt; those off topic disallow `/private/`, and link there.
    pub robots_hosts: f64,
}

/// Every key with its default, a line each.
const DEFAULT: &str = include_str!("../../../../worlds/default.toml");

impl Default for WebSpec {
    fn default() -> Self {
        toml::from_str(DEFAULT).expect("worlds/default.toml has every key")
    }
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    #[error("cannot be read: {0}; check the path")]
    Read(String),
    /// Not TOML, an unknown key, or a value of another kind.
    #[error("line {line}: {reason}; worlds/default.toml lists all keys")]
    Shape {
        line: usize,
        /// What is wrong.
        reason: String,
    },
    #[error("{field} must be {want}, not {value}")]
    OutOfRange { field: String, value: String, want: String },
    /// Islands and tunnels leave too few pages for the off-topic hosts.
    #[error(
        "islands and tunnels need {taken} pages, and each of the {hosts} off-topic hosts needs 12, but pages is {pages}; raise pages, or lower islands, island_pages or hosts"
    )]
    TooSmall { taken: u64, hosts: u64, pages: u64 },
}

impl WebSpec {
    /// The web of `suidao demo` and `suidao practice`: blogs, with numbers measured on real ones (see
    /// `worlds/demo.toml`).
    ///
    /// # Panics
    /// Never: the file is compiled in, and a test reads it.
    pub fn demo() -> Self {
        Self::parse(include_str!("../../../../worlds/demo.toml")).expect("worlds/demo.toml is a spec")
    }

    /// Reads a TOML file; missing fields have their default.
    ///
    /// # Errors
    /// [`SpecError`] names the line or the field that is out of range; the caller names the file.
    pub fn load(path: &Path) -> Result<Self, SpecError> {
        let text = std::fs::read_to_string(path).map_err(|source| SpecError::Read(source.to_string()))?;
        let spec = Self::parse(&text).map_err(|error| {
            let (line, reason) = line_and_message(&text, &error);
            SpecError::Shape { line, reason }
        })?;
        spec.check()?;
        Ok(spec)
    }

    /// The defaults of missing keys follow the text, so that errors keep their lines.
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let given: toml::Table = toml::from_str(text)?;
        let missing = |line: &&str| line.split_once(" = ").is_some_and(|(key, _)| !given.contains_key(key));
        let defaults: Vec<&str> = DEFAULT.lines().filter(missing).collect();
        toml::from_str(&format!("{text}\n{}", defaults.join("\n")))
    }

    pub(super) fn check(&self) -> Result<(), SpecError> {
        let fields = serde_json::to_value(self).expect("a spec is a table of numbers");
        for (field, value) in fields.as_object().into_iter().flatten() {
            let (least, most) = match field.as_str() {
                "seed" | "shape" => continue,
                "pages" => (1.0, (1_u64 << 40) as f64),
                "hosts" => (4.0, 1e6),
                "islands" => (1.0, 1e6),
                "seed_islands" => (1.0, self.islands as f64),
                "island_pages" => (12.0, 1e12),
                "island_skew" => (0.0, 16.0),
                "island_hosts" | "island_tags" | "tunnel_heads" => (1.0, 64.0),
                "tunnels" => (0.0, 64.0),
                "gap" | "tags" => (1.0, 1_000.0),
                "gap_mean" => (self.gap[0] as f64, self.gap[1] as f64),
                "friends" | "tag_cloud" | "recent_posts" => (0.0, 1_000.0),
                "related_links" | "off_topic_links" | "footer_links" | "categories" => (0.0, 100.0),
                "host_skew" => (0.0, 8.0),
                // All others are shares and probabilities.
                _ => (0.0, 1.0),
            };
            let numbers: Vec<f64> = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice)
                .iter()
                .map(|number| number.as_f64().unwrap_or(f64::NAN))
                .collect();
            if !numbers.is_sorted() || !numbers.iter().all(|number| (least..=most).contains(number)) {
                let want = format!("{}from {least} to {most}", if value.is_array() { "a range " } else { "" });
                return Err(SpecError::OutOfRange { field: field.clone(), value: value.to_string(), want });
            }
        }
        Ok(())
    }
}
