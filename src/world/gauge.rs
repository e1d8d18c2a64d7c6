//! What a reader makes of each kind of page and link of a generated web, measured on some of its pages.

use rustc_hash::FxHashMap;

use super::address::Extra;
use super::layout::{Layout, Place};
use super::links::{Planned, Said, Slot};
use super::truth::{World, crawl_url};
use super::words::NEAR_TOPIC;
use crate::model::{Evidence, Page, Region, Relevance};
use crate::replay::Web;
use crate::topic::Topic;

/// Pages read of the islands, of the bridges, and of the off-topic region.
const READ: [u64; 3] = [240, 120, 240];
/// Blogs whose front page, archive, tags and friends are read.
const BLOGS: usize = 24;

/// What text is about, as far as relevance goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Blank,
    On,
    Near,
    Off,
}

/// What kind of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Home,
    Listing,
    Article,
    Bridge,
    Front,
    Archive,
    Tags,
    Friends,
    Trap,
}

/// What kind of link.
pub(super) type LinkKind = (Slot, Class, Class);

/// What reading gave.
pub(super) struct Gauge {
    pages: FxHashMap<(Kind, Class), Vec<PageRead>>,
    links: FxHashMap<LinkKind, Vec<[Relevance; 2]>>,
    blocks: FxHashMap<(u64, Slot), Block>,
}

/// What reading gave of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageRead {
    pub relevance: Relevance,
    pub listing: bool,
}

/// What reading gave of a block of a template.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Links met in the content, and elsewhere.
    met: [u32; 2],
    /// Hash of the tags and classes that lead to its links.
    pub path: u32,
}

impl Block {
    pub fn region(self) -> Region {
        if self.met[0] > self.met[1] { Region::Content } else { Region::Navigation }
    }
}

impl Class {
    fn of_topic(topic: usize) -> Self {
        match topic {
            NEAR_TOPIC => Self::Near,
            on if super::layout::topic_is_on(on) => Self::On,
            _ => Self::Off,
        }
    }

    /// Of what an anchor or a context says.
    fn of(layout: &Layout, said: Said) -> Self {
        match said {
            Said::Nothing | Said::Words(_) | Said::Number(_) | Said::Blank | Said::Site(_) => Self::Blank,
            Said::Title(page) => {
                let (section, place) = layout.locate(page);
                let listing = matches!(place, Place::Home | Place::Listing(_));
                if listing && layout.host_at(section).habits.blog {
                    return Self::of(layout, Said::Tag(section));
                }
                let topic = layout.topic_at(page, section, place);
                if layout.title_tells(page, topic) { Self::of_topic(topic) } else { Self::Blank }
            }
            Said::Headline(topic) | Said::Sentence(topic) => Self::of_topic(topic),
            Said::Tag(section) => layout.tag(section).0.map_or(Self::Blank, Self::of_topic),
        }
    }
}

/// The kind of a page of the web.
pub(super) fn kind_of_page(layout: &Layout, page: u64) -> (Kind, Class) {
    let (section, place) = layout.locate(page);
    let kind = match place {
        Place::Home => Kind::Home,
        Place::Listing(_) => Kind::Listing,
        Place::Article(_) => Kind::Article,
        Place::Bridge(..) => Kind::Bridge,
    };
    (kind, Class::of_topic(layout.topic_at(page, section, place)))
}

/// The kind of a page beyond the numbered ones.
pub(super) fn kind_of_extra(layout: &Layout, host: u64, extra: Extra) -> (Kind, Class) {
    let kind = match extra {
        Extra::Front(_) | Extra::Category(..) => Kind::Front,
        Extra::Archive(_) => Kind::Archive,
        Extra::Tags => Kind::Tags,
        Extra::Friends => Kind::Friends,
        Extra::Month(_) | Extra::Private(_) => Kind::Trap,
    };
    (kind, Class::of_topic(layout.sections[layout.hosts[host as usize].front].topic))
}

/// The kind of a link.
pub(super) fn kind_of_link(layout: &Layout, link: &Planned) -> LinkKind {
    (link.slot, Class::of(layout, link.anchor), Class::of(layout, link.context))
}

impl Gauge {
    /// Reads sample pages of every kind with the topic.
    pub fn measure(world: &World, topic: &Topic) -> Self {
        let layout = &world.layout;
        let mut gauge = Self { pages: FxHashMap::default(), links: FxHashMap::default(), blocks: FxHashMap::default() };
        let islands_end = layout.bridges.first().map_or(layout.region_start(), |bridge| bridge.start);
        let parts = [0..islands_end, islands_end..layout.region_start(), layout.region_start()..layout.spec.pages];
        for (part, most) in parts.into_iter().zip(READ) {
            let count = (part.end - part.start).min(most);
            for at in 0..count {
                let page = part.start + (u128::from(part.end - part.start) * u128::from(at) / u128::from(count)) as u64;
                let host = layout.sections[layout.locate(page).0].host;
                gauge.take(world, topic, &layout.url(page), host, kind_of_page(layout, page), &layout.links(page));
            }
        }
        let mut count = [0; 2];
        for (host, record) in (0..).zip(&layout.hosts) {
            let mut extras = vec![Extra::Front(0), Extra::Archive(0), Extra::Tags, Extra::Friends];
            if !record.habits.blog {
                extras = if record.habits.friends { vec![Extra::Friends] } else { Vec::new() };
            } else if !record.habits.friends {
                extras.pop();
            }
            let traps = [(record.habits.calendar, Extra::Month(7)), (record.habits.robots, Extra::Private(7))];
            let traps = traps.into_iter().filter_map(|(there, trap)| there.then_some(trap)).collect();
            for (extras, count) in [extras, traps].into_iter().zip(&mut count) {
                *count += usize::from(!extras.is_empty());
                for extra in extras.into_iter().filter(|_| *count <= BLOGS) {
                    let url = format!("http://{}{}", record.name, layout.extra_path(host, extra));
                    let kind = kind_of_extra(layout, host, extra);
                    gauge.take(world, topic, &url, host, kind, &layout.extra_links(host, extra));
                }
            }
        }
        gauge
    }

    /// Reads one page.
    fn take(&mut self, world: &World, topic: &Topic, url: &str, host: u64, kind: (Kind, Class), planned: &[Planned]) {
        let layout = &world.layout;
        let Ok(fetched) = world.get(&crawl_url(url)) else { return };
        let page: Page = crate::read::read(&fetched, topic);
        self.pages.entry(kind).or_default().push(PageRead { relevance: page.relevance, listing: page.listing });
        let skin = layout.hosts[host as usize].habits.skin;
        let mut by_url: FxHashMap<String, &Planned> = FxHashMap::default();
        for link in planned {
            let mut url = String::new();
            layout.put_target(link.target, &mut url);
            by_url.entry(url).or_insert(link);
        }
        for outlink in &page.outlinks {
            if let Some(link) = by_url.get(outlink.url.as_str()) {
                let Evidence { anchor, context, .. } = outlink.evidence;
                self.links.entry(kind_of_link(layout, link)).or_default().push([anchor, context]);
                let block = self.blocks.entry((skin, link.slot)).or_default();
                block.path = outlink.path;
                block.met[usize::from(outlink.region == Region::Navigation)] += 1;
            }
        }
    }

    /// What reading gave of a page of this kind, the `at`-th of those met (modulo their number); nothing where none was
    /// met.
    pub fn page(&self, kind: (Kind, Class), at: u64) -> PageRead {
        let met = self.pages.get(&kind).filter(|met| !met.is_empty());
        met.map_or_else(PageRead::default, |met| met[(at % met.len() as u64) as usize])
    }

    /// Anchor and context of a link of this kind, likewise; of a kind not met, of its anchor and context elsewhere.
    pub fn link(&self, kind: LinkKind, at: u64) -> [Relevance; 2] {
        let elsewhere = [Slot::Entry, Slot::Inline, Slot::Side].into_iter().map(|slot| (slot, kind.1, kind.2));
        let met = std::iter::once(kind).chain(elsewhere).find_map(|kind| self.links.get(&kind));
        met.map_or([Relevance::ZERO; 2], |met| met[(at % met.len() as u64) as usize])
    }

    /// A block of a template.
    pub fn block(&self, skin: u64, slot: Slot) -> Block {
        // A block that was not met gets a path of its own.
        let unmet = Block { met: [0; 2], path: skin as u32 * 16 + slot as u32 };
        self.blocks.get(&(skin, slot)).copied().unwrap_or(unmet)
    }
}
