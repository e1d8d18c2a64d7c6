//! Other numbers for the URLs and hosts of an event, so that logs of several machines become one. Every field is named,
//! so that a new one is not forgotten.

use super::{
    Discovered, Event, ForumPage, ForumRole, ForumStep, HostId, IndexPage, Link, PageKind, PageProcessed, RefreshStep,
    TrapSignals, TrapStep, UrlId, UrlOrigin,
};

/// Gives every number its new one.
pub trait Renumber {
    fn url(&mut self, id: UrlId) -> UrlId;
    fn host(&mut self, id: HostId) -> HostId;
}

impl Event {
    /// Replaces all numbers of URLs and hosts. Those of batches ([`Event::Rescored`]) stay.
    pub fn renumber(&mut self, new: &mut impl Renumber) {
        match self {
            Self::Discovered(Discovered { id, url: _, origin, anchor: _ }) => {
                *id = new.url(*id);
                match origin {
                    UrlOrigin::Link(from)
                    | UrlOrigin::Redirect(from)
                    | UrlOrigin::Listed(from)
                    | UrlOrigin::Canonical(from) => *from = new.url(*from),
                    UrlOrigin::Seed | UrlOrigin::Named | UrlOrigin::Offered => {}
                }
            }
            Self::SeedJudged(link) | Self::LinkOffered(link) => link.renumber(new),
            Self::LinkRejected { url: _, from, reason: _ } => some(from, new),
            Self::PageFetched(page) => page.renumber(new),
            Self::Rejudged { id, entry: _, links } => {
                *id = new.url(*id);
                all(links, new);
            }
            Self::Redirected { id, link, permanent: _ } | Self::SchemeRewritten { id, link } => {
                *id = new.url(*id);
                link.iter_mut().for_each(|link| link.renumber(new));
            }
            Self::PageGone { id, to } => {
                *id = new.url(*id);
                some(to, new);
            }
            Self::Unchanged { id, .. }
            | Self::FetchRetried { id, .. }
            | Self::FetchFailed { id, .. }
            | Self::UrlExcluded { id, .. }
            | Self::Reprioritized { id, .. }
            | Self::Released { id } => *id = new.url(*id),
            Self::Scheme { host, .. }
            | Self::Robots { host, .. }
            | Self::RobotsRedirected { host, .. }
            | Self::HostResolved { host, .. } => *host = new.host(*host),
            Self::Forum(step) => step.renumber(new),
            Self::Refresh(step) => {
                let RefreshStep { budget: _, due, sources } = &mut **step;
                due.iter_mut().for_each(|(id, _)| *id = new.url(*id));
                urls(sources, new);
            }
            Self::Trap(step) => step.renumber(new),
            Self::SitemapsQueued { host, links } => {
                *host = new.host(*host);
                all(links, new);
            }
            Self::SitemapRead { id, pages, sources, links, useful: _, validators: _ } => {
                *id = new.url(*id);
                urls(pages, new);
                urls(sources, new);
                all(links, new);
            }
            Self::Rescored { pages: _ } | Self::LearntElsewhere { sums: _ } => {}
        }
    }
}

fn some(id: &mut Option<UrlId>, new: &mut impl Renumber) {
    id.iter_mut().for_each(|id| *id = new.url(*id));
}

fn urls(ids: &mut [UrlId], new: &mut impl Renumber) {
    ids.iter_mut().for_each(|id| *id = new.url(*id));
}

fn all(links: &mut [Link], new: &mut impl Renumber) {
    links.iter_mut().for_each(|link| link.renumber(new));
}

impl Link {
    fn renumber(&mut self, new: &mut impl Renumber) {
        self.to = new.url(self.to);
    }
}

impl PageProcessed {
    fn renumber(&mut self, new: &mut impl Renumber) {
        let Self {
            id,
            copy_of,
            links,
            known,
            forum,
            trap_signals: TrapSignals { duplicate_of, soft_404: _, no_new_content: _ },
            status: _,
            bytes: _,
            queued_as: _,
            relevance: _,
            on_topic: _,
            title: _,
            language: _,
            author: _,
            digest: _,
            terms: _,
            listing: _,
            noindex: _,
            rendered: _,
            expires: _,
            foreign: _,
            sketch: _,
            published: _,
            canonical: _,
            changes: _,
            outlinks_digest: _,
            feeds: _,
            validators: _,
            layer: _,
        } = self;
        *id = new.url(*id);
        some(copy_of, new);
        some(duplicate_of, new);
        all(links, new);
        urls(known, new);
        if let Some(page) = forum {
            let ForumPage { kind, roles: wanted, lists: read, posts: _, view: _, map: _ } = &mut **page;
            kind.renumber(new);
            roles(wanted, new);
            lists(read, new);
        }
    }
}

fn roles(roles: &mut [(UrlId, ForumRole)], new: &mut impl Renumber) {
    for (id, role) in roles {
        *id = new.url(*id);
        match role {
            ForumRole::Index { board: first, page: _ } | ForumRole::Continuation { thread: first, page: _ } => {
                *first = new.url(*first);
            }
            ForumRole::Start | ForumRole::Sample | ForumRole::Board | ForumRole::Thread => {}
        }
    }
}

fn lists(lists: &mut [IndexPage], new: &mut impl Renumber) {
    for IndexPage { board, page: _, threads } in lists {
        *board = new.url(*board);
        threads.iter_mut().for_each(|(id, _)| *id = new.url(*id));
    }
}

impl PageKind {
    fn renumber(&mut self, new: &mut impl Renumber) {
        match self {
            Self::Index { board: first, page: _ }
            | Self::Thread { thread: first, page: _ }
            | Self::Postless { thread: first, page: _ } => *first = new.url(*first),
            Self::Other | Self::Login | Self::Unread => {}
        }
    }
}

impl ForumStep {
    fn renumber(&mut self, new: &mut impl Renumber) {
        let Self { roles: wanted, links, map: _, analysis_failure: _, lists: listed, read, restarted, due } = self;
        roles(wanted, new);
        all(links, new);
        lists(listed, new);
        for (id, kind, _) in read {
            *id = new.url(*id);
            kind.renumber(new);
        }
        urls(restarted, new);
        urls(due, new);
    }
}

impl TrapStep {
    fn renumber(&mut self, new: &mut impl Renumber) {
        match self {
            Self::Soft404Probe { host, response: _, pages } => {
                *host = new.host(*host);
                urls(pages, new);
            }
            Self::Session { host, name: _ }
            | Self::Unanswered { host, failure: _ }
            | Self::NoSession { host, name: _ } => *host = new.host(*host),
            Self::Mirror { host: _, of: _ } => {}
            Self::NoNewContent { id } => *id = new.url(*id),
        }
    }
}
