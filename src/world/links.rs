//! Where a page's links lead and what they say: a function of the seed and the page number.
//!
//! The rule that keeps the planted gaps true: an off-topic page links to no page of an island but the last page of
//! a bridge to its island's, and to no page of a bridge but the first, or the next of its own.

use super::draw::Draw;
use super::layout::{Layout, PER_LISTING, Place, salt, topic_is_on};
use super::words::{THEMES, TOPICS};
use super::write;

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// A page by its number.
    Page(u64),
    /// A page by its second URL.
    Twin(u64),
    /// A redirect to a page.
    Redirect(u64),
    /// The root of the page's host, which redirects.
    Root,
    /// Nothing: 404.
    Missing(u64),
    /// A host without an address.
    NoHost(u64),
    /// A month of the calendar of the page's host, from January of year 2000.
    Month(u64),
    /// A page of the page's host that robots.txt forbids.
    Private(u64),
}

/// Where on the page a link stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slot {
    /// Navigation at the top.
    Top,
    /// A paragraph of the article.
    Inline,
    /// An entry of a listing or of the related articles: part of the content.
    Entry,
    /// Sidebar.
    Side,
    /// Footer.
    Foot,
}

/// A link to be written.
pub(super) struct Planned {
    pub target: Target,
    pub slot: Slot,
    pub anchor: String,
    /// The sentence around it; empty for none.
    pub context: String,
}

/// What kind of trail the anchor and context of a link should smell of.
#[derive(Clone, Copy, PartialEq)]
enum Scent {
    /// The target's own topic.
    Plain,
    /// Near the topic: it leads along a bridge.
    Bridge,
}

impl Layout {
    /// Topic of a page: an index into the table of topics.
    pub fn topic(&self, page: u64) -> usize {
        let (section, place) = self.locate(page);
        match place {
            Place::Bridge(..) => {
                let off = (TOPICS.len() - THEMES) as u64;
                THEMES + Draw::new(self.spec.seed, salt::BRIDGE, !page).below(off) as usize
            }
            _ => self.sections[section].topic,
        }
    }

    /// A page's title.
    pub fn title(&self, page: u64) -> String {
        write::title(self.topic(page), &mut Draw::new(self.spec.seed, salt::TITLE, page))
    }

    /// The pages of an island that link to a bridge's first page.
    fn is_bridge_head(&self, bridge: usize, page: u64) -> bool {
        let from = self.bridges[bridge].from;
        let mut draw = Draw::new(self.spec.seed, salt::HEAD, bridge as u64);
        let len = self.island_len(from);
        (0..self.spec.bridge_heads).any(|_| self.island_page(from, draw.below(len)) == page)
    }

    /// A page of the off-topic region: a hub, or any.
    fn off_topic_page(&self, draw: &mut Draw) -> u64 {
        let start = self.region_start();
        let any = start + draw.below(self.spec.pages - start);
        if draw.chance(self.spec.hub_share) { self.sections[self.locate(any).0].start } else { any }
    }

    /// All links of a page, in order of appearance within each slot.
    pub fn links(&self, page: u64) -> Vec<Planned> {
        let (index, place) = self.locate(page);
        let section = &self.sections[index];
        let mut out = Vec::with_capacity(48);
        let draw = &mut Draw::new(self.spec.seed, salt::LINKS, page);
        let fixed =
            |target, slot, anchor: &str| Planned { target, slot, anchor: anchor.to_owned(), context: String::new() };

        if section.island.is_none() {
            out.push(fixed(Target::Root, Slot::Top, "网站首页"));
        }
        out.push(fixed(Target::Page(section.start), Slot::Top, "频道首页"));
        let listings = section.listings();
        for listing in 1..=listings.min(3) {
            out.push(fixed(Target::Page(section.start + listing), Slot::Top, &format!("第{listing}页")));
        }
        if let Some(island) = section.island {
            for sibling in self.island_sections(island).filter(|&sibling| sibling != index) {
                out.push(self.planned(self.sections[sibling].start, Slot::Top, Scent::Plain, draw));
            }
        }
        match place {
            Place::Home => self.entries(index, 1, &mut out, draw),
            Place::Listing(listing) => {
                self.entries(index, listing, &mut out, draw);
                if listing > 1 {
                    out.push(fixed(Target::Page(page - 1), Slot::Entry, "上一页"));
                }
                if listing < listings {
                    out.push(fixed(Target::Page(page + 1), Slot::Entry, "下一页"));
                }
            }
            Place::Article(article) => {
                if article > 0 {
                    out.push(self.planned(page - 1, Slot::Entry, Scent::Plain, draw));
                }
                if article + 1 < section.articles() {
                    out.push(self.planned(page + 1, Slot::Entry, Scent::Plain, draw));
                }
                for at in 0..draw.within([4, 8]) {
                    let slot = if at < 2 { Slot::Inline } else { Slot::Entry };
                    let to = match section.island {
                        Some(island) => self.island_page(island, draw.below(self.island_len(island))),
                        None => section.article(draw.below(section.articles())),
                    };
                    out.push(self.planned(to, slot, Scent::Plain, draw));
                }
            }
            Place::Bridge(bridge, at) => {
                let bridge = &self.bridges[bridge];
                let last = at + 1 == bridge.gap;
                let landing = self.island_page(bridge.to, draw.below(self.island_len(bridge.to)));
                let to = if last { landing } else { page + 1 };
                let scent = if last { Scent::Plain } else { Scent::Bridge };
                out.push(self.planned(to, Slot::Inline, scent, draw));
            }
        }
        if let Some(island) = section.island.filter(|_| !matches!(place, Place::Bridge(..))) {
            for &bridge in self.departures(island) {
                if self.is_bridge_head(bridge, page) {
                    out.push(self.planned(self.bridges[bridge].start, Slot::Inline, Scent::Bridge, draw));
                }
            }
        } else if !self.bridges.is_empty() && draw.chance(self.spec.stray_heads) {
            let bridge = &self.bridges[draw.below(self.bridges.len() as u64) as usize];
            out.push(self.planned(bridge.start, Slot::Entry, Scent::Bridge, draw));
        }
        for _ in 0..draw.within(self.spec.off_topic_links) {
            let to = self.off_topic_page(draw);
            let slot = draw.pick(&[Slot::Side, Slot::Side, Slot::Inline, Slot::Entry]);
            out.push(self.planned(to, slot, Scent::Plain, draw));
        }
        for _ in 0..2 {
            let to = self.sections[self.locate(self.off_topic_page(draw)).0].start;
            out.push(self.planned(to, Slot::Foot, Scent::Plain, draw));
        }
        let wanted = self.spec.dangling * out.len() as f64;
        let missing = wanted.floor() as u64 + u64::from(draw.chance(wanted.fract()));
        for _ in 0..missing {
            let bits = draw.bits();
            let target = if draw.chance(0.2) { Target::NoHost(bits) } else { Target::Missing(bits) };
            out.push(Planned { anchor: self.title(page), ..fixed(target, Slot::Side, "") });
        }
        if section.island.is_none() {
            let host = self.host(section.host);
            if host.calendar {
                out.push(fixed(Target::Month(draw.below(300)), Slot::Side, "日历"));
            }
            if host.robots {
                out.push(fixed(Target::Private(draw.below(50)), Slot::Foot, "会员中心"));
            }
        }
        out
    }

    /// The ten articles of a listing.
    fn entries(&self, index: usize, listing: u64, out: &mut Vec<Planned>, draw: &mut Draw) {
        let section = &self.sections[index];
        let end = section.articles().min(listing * PER_LISTING);
        for article in (listing - 1) * PER_LISTING..end {
            out.push(self.planned(section.article(article), Slot::Entry, Scent::Plain, draw));
        }
    }

    /// A link to a page, with the anchor and context the spec's qualities give it, and now and then a detour.
    fn planned(&self, to: u64, slot: Slot, scent: Scent, draw: &mut Draw) -> Planned {
        let spec = &self.spec;
        let topic = self.topic(to);
        let promising = scent == Scent::Bridge || topic_is_on(topic);
        let anchor = if !promising {
            let misleads = draw.chance(spec.misleading);
            if misleads {
                write::title(draw.below(THEMES as u64) as usize, draw)
            } else if draw.chance(0.8) {
                self.title(to)
            } else {
                write::blank_anchor(draw)
            }
        } else if !draw.chance(spec.anchor_quality) {
            write::blank_anchor(draw)
        } else if scent == Scent::Plain {
            self.title(to)
        } else if draw.chance(0.5) {
            write::near_title(draw)
        } else {
            write::title(draw.below(THEMES as u64) as usize, draw)
        };
        let mut context = String::new();
        if matches!(slot, Slot::Inline | Slot::Entry) {
            if promising && !draw.chance(spec.context_quality) {
                let off = (TOPICS.len() - THEMES) as u64;
                write::sentence(THEMES + draw.below(off) as usize, draw, &mut context);
            } else if scent == Scent::Bridge {
                write::near_sentence(draw, &mut context);
            } else {
                write::sentence(topic, draw, &mut context);
            }
        }
        let target = if draw.chance(spec.redirects) {
            Target::Redirect(to)
        } else if draw.chance(spec.duplicates) {
            Target::Twin(to)
        } else {
            Target::Page(to)
        };
        Planned { target, slot, anchor, context }
    }
}
