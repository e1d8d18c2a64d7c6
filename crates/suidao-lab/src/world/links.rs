//! Targets and texts of a page's links, as a function of the seed and the page number.
//!
//! On hosts without blogs and blogrolls, the planted gaps are exact: an off-topic page links to an island only from the
//! last page of a tunnel to it, and to a tunnel page only if it is the first, or the next of its own tunnel.

use super::layout::Layout;
use super::target::{AuxPage, LinkTarget, PER_LISTING, PagePosition, salt, topic_is_on};
use super::words::{NEAR_TOPIC, THEMES, WORDS};
use suidao_page::seeded_rng::SeededRng;

/// Probability that an off-topic page links to the head of a tunnel.
const STRAY_HEADS: f64 = 0.01;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TemplateBlock {
    Top,
    Inline,
    /// An entry of a listing or of the related articles, which are content.
    Entry,
    Related,
    Picks,
    Tags,
    Pager,
    Side,
    Cloud,
    Foot,
}

/// The text of an anchor or its context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LinkText {
    Nothing,
    Words(&'static str),
    Number(u64),
    /// Words without a topic.
    Blank,
    Title(u64),
    Headline(usize),
    Sentence(usize),
    Tag(usize),
    Site(u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlannedLink {
    pub target: LinkTarget,
    pub block: TemplateBlock,
    pub anchor: LinkText,
    pub context: LinkText,
}

/// The topic that the anchor and context of a link should suggest.
#[derive(Clone, Copy, PartialEq)]
enum LinkRole {
    Plain,
    /// Near the topic: the link is along a tunnel.
    Tunnel,
}

/// A link with this anchor and without context.
pub(super) fn plain(target: LinkTarget, block: TemplateBlock, anchor: LinkText) -> PlannedLink {
    PlannedLink { target, block, anchor, context: LinkText::Nothing }
}

impl Layout {
    /// Whether an island's page links to a tunnel's first page.
    fn is_tunnel_head(&self, tunnel: usize, page: u64) -> bool {
        let from = self.tunnels[tunnel].from;
        let mut rng = SeededRng::new(self.spec.seed, salt::HEAD, tunnel as u64);
        let len = self.island_len(from);
        (0..self.spec.tunnel_heads).any(|_| self.island_page(from, rng.below(len)) == page)
    }

    /// An off-topic page: a hub, or any.
    fn off_topic_page(&self, rng: &mut SeededRng) -> u64 {
        let start = self.region_start();
        let any = start + rng.below(self.spec.pages - start);
        if rng.chance(self.spec.hub_share) { self.sections[self.locate(any).0].start } else { any }
    }

    /// The same for the `at`-th such link of a host's page: specific to the page, or common to all the host's pages.
    fn elsewhere(&self, host: u64, at: u64, rng: &mut SeededRng) -> u64 {
        if self.spec.repeated_links > 0.0 && rng.chance(self.spec.repeated_links) {
            return self.off_topic_page(&mut SeededRng::new(self.spec.seed, salt::TEMPLATE, host << 8 | at));
        }
        self.off_topic_page(rng)
    }

    fn same_island_page(&self, island: u64, rng: &mut SeededRng) -> u64 {
        self.island_page(island, rng.below(self.island_len(island)))
    }

    /// The host's usual block for such links, or `other_block`.
    fn regular(&self, usual: TemplateBlock, other_block: TemplateBlock, rng: &mut SeededRng) -> TemplateBlock {
        let regularity = self.spec.template_regularity;
        if regularity > 0.0 && rng.chance(regularity) { usual } else { other_block }
    }

    /// All links of a page, in order of appearance within each block.
    pub fn links(&self, page: u64) -> Vec<PlannedLink> {
        let (index, position) = self.locate(page);
        let section = &self.sections[index];
        let host = &self.hosts[section.host as usize];
        let mut out = Vec::with_capacity(48);
        let rng = &mut SeededRng::new(self.spec.seed, salt::LINKS, page);
        let fixed = |to, block, words| plain(LinkTarget::Page(to), block, LinkText::Words(words));

        if host.traits.blog {
            self.blog_frame(section.host, &mut out);
        } else {
            if section.island.is_none() {
                out.push(plain(LinkTarget::Root(section.host), TemplateBlock::Top, LinkText::Words("网站首页")));
            }
            out.push(fixed(section.start, TemplateBlock::Top, "频道首页"));
            for listing in 1..=section.listings.min(3) {
                out.push(plain(
                    LinkTarget::Page(section.start + listing),
                    TemplateBlock::Top,
                    LinkText::Number(listing),
                ));
            }
            if let Some(island) = section.island {
                for sibling in self.island_sections(island).filter(|&sibling| sibling != index) {
                    out.push(self.planned(self.sections[sibling].start, TemplateBlock::Top, LinkRole::Plain, rng));
                }
            }
            self.blogroll_link(section.host, &mut out);
        }
        match position {
            PagePosition::Home => {
                let first = if host.traits.blog { 0 } else { 1 };
                self.entries(index, first, &mut out, rng);
                if host.traits.blog && section.listings > 0 {
                    out.push(fixed(page + 1, TemplateBlock::Entry, "下一页"));
                }
            }
            PagePosition::Listing(listing) => {
                self.entries(index, listing, &mut out, rng);
                if listing > 1 || host.traits.blog {
                    out.push(fixed(page - 1, TemplateBlock::Entry, "上一页"));
                }
                if listing < section.listings {
                    out.push(fixed(page + 1, TemplateBlock::Entry, "下一页"));
                }
            }
            PagePosition::Article(article) => self.article_links(index, page, article, &mut out, rng),
            PagePosition::Tunnel(tunnel, at) => {
                let tunnel = &self.tunnels[tunnel];
                let last = at + 1 == tunnel.gap;
                let landing = self.same_island_page(tunnel.to, rng);
                let to = if last { landing } else { page + 1 };
                let role = if last { LinkRole::Plain } else { LinkRole::Tunnel };
                let block = self.regular(TemplateBlock::Picks, TemplateBlock::Inline, rng);
                out.push(self.planned(to, block, role, rng));
            }
        }
        if let Some(island) = section.island.filter(|_| !matches!(position, PagePosition::Tunnel(..))) {
            for &tunnel in self.departures(island) {
                if self.is_tunnel_head(tunnel, page) {
                    let block = self.regular(TemplateBlock::Picks, TemplateBlock::Inline, rng);
                    out.push(self.planned(self.tunnels[tunnel].start, block, LinkRole::Tunnel, rng));
                }
            }
        } else if !self.tunnels.is_empty() && rng.chance(STRAY_HEADS) {
            let tunnel = &self.tunnels[rng.below(self.tunnels.len() as u64) as usize];
            let block = self.regular(TemplateBlock::Picks, TemplateBlock::Entry, rng);
            out.push(self.planned(tunnel.start, block, LinkRole::Tunnel, rng));
        }
        for at in 0..rng.within(self.spec.off_topic_links) {
            let to = self.elsewhere(section.host, at, rng);
            let block =
                rng.pick(&[TemplateBlock::Side, TemplateBlock::Side, TemplateBlock::Inline, TemplateBlock::Entry]);
            let block = self.regular(TemplateBlock::Side, block, rng);
            out.push(self.planned(to, block, LinkRole::Plain, rng));
        }
        for at in 0..self.spec.footer_links {
            let to = self.sections[self.locate(self.elsewhere(section.host, 100 + at, rng)).0].start;
            out.push(self.planned(to, TemplateBlock::Foot, LinkRole::Plain, rng));
        }
        let wanted = self.spec.dangling * out.len() as f64;
        let missing = wanted.floor() as u64 + u64::from(rng.chance(wanted.fract()));
        for _ in 0..missing {
            let bits = rng.bits();
            let target =
                if rng.chance(0.2) { LinkTarget::NoHost(bits) } else { LinkTarget::Missing(section.host, bits) };
            out.push(plain(target, TemplateBlock::Side, LinkText::Title(page)));
        }
        if section.island.is_none() {
            if host.traits.calendar {
                let month = AuxPage::Month(rng.below(300));
                out.push(plain(LinkTarget::Aux(section.host, month), TemplateBlock::Side, LinkText::Words("日历")));
            }
            if host.traits.robots {
                let private = AuxPage::Private(rng.below(50));
                out.push(plain(
                    LinkTarget::Aux(section.host, private),
                    TemplateBlock::Foot,
                    LinkText::Words("会员中心"),
                ));
            }
        }
        out
    }

    /// An article's links within its section: neighbours and related articles; on a blog its tags and the posts before
    /// and after it regardless of their topic.
    fn article_links(&self, index: usize, page: u64, article: u64, out: &mut Vec<PlannedLink>, rng: &mut SeededRng) {
        let section = &self.sections[index];
        let blog = self.hosts[section.host as usize].traits.blog;
        if blog {
            self.post_links(index, article, out, rng);
        } else {
            if article > 0 {
                out.push(self.planned(page - 1, TemplateBlock::Entry, LinkRole::Plain, rng));
            }
            if article + 1 < section.articles() {
                out.push(self.planned(page + 1, TemplateBlock::Entry, LinkRole::Plain, rng));
            }
        }
        for at in 0..rng.within(self.spec.related_links) {
            let to = match section.island {
                Some(island) => self.same_island_page(island, rng),
                None => section.article(rng.below(section.articles())),
            };
            let block = if at < 2 { TemplateBlock::Inline } else { TemplateBlock::Entry };
            let block = self.regular(TemplateBlock::Related, block, rng);
            out.push(self.planned(to, block, LinkRole::Plain, rng));
        }
    }

    /// The ten articles of a listing. A home has the first ones; a blog's listings begin with the next.
    fn entries(&self, index: usize, listing: u64, out: &mut Vec<PlannedLink>, rng: &mut SeededRng) {
        let section = &self.sections[index];
        let skipped = if self.hosts[section.host as usize].traits.blog { listing } else { listing - 1 };
        let end = section.articles().min((skipped + 1) * PER_LISTING);
        for article in skipped * PER_LISTING..end {
            out.push(self.planned(section.article(article), TemplateBlock::Entry, LinkRole::Plain, rng));
        }
    }

    /// A link to a page with the anchor and context quality of the spec, and occasionally a detour.
    fn planned(&self, to: u64, block: TemplateBlock, role: LinkRole, rng: &mut SeededRng) -> PlannedLink {
        let spec = &self.spec;
        let (index, position) = self.locate(to);
        let topic = self.topic_at(to, index, position);
        let promising = role == LinkRole::Tunnel || topic_is_on(topic);
        let anchor = if !promising {
            let misleads = rng.chance(spec.misleading);
            if misleads {
                LinkText::Headline(rng.below(THEMES as u64) as usize)
            } else if rng.chance(0.8) {
                LinkText::Title(to)
            } else {
                LinkText::Blank
            }
        } else if !rng.chance(spec.anchor_quality) {
            LinkText::Blank
        } else if role == LinkRole::Plain {
            LinkText::Title(to)
        } else if rng.chance(0.5) {
            LinkText::Headline(NEAR_TOPIC)
        } else {
            LinkText::Headline(rng.below(THEMES as u64) as usize)
        };
        let context = if !matches!(
            block,
            TemplateBlock::Inline | TemplateBlock::Entry | TemplateBlock::Related | TemplateBlock::Picks
        ) {
            LinkText::Nothing
        } else if promising && !rng.chance(spec.context_quality) {
            LinkText::Sentence(THEMES + rng.below((WORDS.topics.len() - THEMES) as u64) as usize)
        } else {
            LinkText::Sentence(if role == LinkRole::Tunnel { NEAR_TOPIC } else { topic })
        };
        let home_of_blog = position == PagePosition::Home && self.sections[index].island.is_none();
        let target = if rng.chance(spec.redirects) {
            LinkTarget::Redirect(to)
        } else if rng.chance(spec.duplicates) {
            LinkTarget::AliasUrl(to)
        } else if home_of_blog && self.host_at(index).traits.blog {
            // Others link to the blog as a whole, not to one of its tags.
            LinkTarget::Root(self.sections[index].host)
        } else {
            LinkTarget::Page(to)
        };
        PlannedLink { target, block, anchor, context }
    }

    pub(super) fn to_article(&self, to: u64, block: TemplateBlock, rng: &mut SeededRng) -> PlannedLink {
        self.planned(to, block, LinkRole::Plain, rng)
    }
}
