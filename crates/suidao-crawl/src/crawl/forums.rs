//! The machine's part in forums: which hosts are forums, which links of their pages are followed, and steps that no
//! page triggers (the next samples during exploration, the next visit of a board).

use suidao_forum::forum::explore::ExploreStep;
use suidao_forum::forum::increment::ThreadChange;
use suidao_forum::forum::site::{ForumPageReading, ForumSite, ListedThread};
use suidao_page::model::{
    Batch, CrawlUrl, Event, ForumMap, ForumPage, ForumPageView, ForumRole, ForumStep, IndexPage, Link, LinkDecision,
    LinkState, Listed, Millis, PageKind, Relevance, UrlId, UrlOrigin,
};

use super::forum_state::ForumMode;
use super::machine::Crawl;

pub(super) struct Want {
    pub to: UrlId,
    pub url: CrawlUrl,
    pub text: String,
    pub role: ForumRole,
}

/// Result of reading a page of a forum.
#[derive(Default)]
pub(super) struct ForumPageResult {
    pub wants: Vec<Want>,
    pub lists: Vec<IndexPage>,
    /// Fetched pages that have new content.
    pub due: Vec<UrlId>,
}

impl Crawl {
    /// The map of the crawl's forum, or why there is none; none while unknown.
    pub fn forum(&self) -> Option<Result<ForumMap, &'static str>> {
        match self.forums.explored? {
            Ok(()) => self.forums.sites.values().next().map(|(site, _)| Ok(site.map().clone())),
            Err(why) => Some(Err(why)),
        }
    }

    /// Reads a page as a forum's, if its host is one, and numbers the wanted links.
    pub(super) fn read_forum(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        url: &CrawlUrl,
        sight: &ForumPageView,
        now: Millis,
    ) -> Option<(ForumPage, ForumPageResult)> {
        let nothing = ForumPage {
            kind: PageKind::Other,
            roles: Vec::new(),
            lists: Vec::new(),
            posts: Vec::new(),
            seen: None,
            map: None,
        };
        if self.forums.explores() && self.forums.explored.is_none() && self.forums.site(url).is_none() {
            let seen = Some(Box::new(sight.clone()));
            return Some((ForumPage { seen, ..nothing }, ForumPageResult::default()));
        }
        // Removed while its page is read, because numbering borrows the whole machine.
        let (site, lens, map) = match self.forums.sites.remove(url.authority()) {
            Some((site, lens)) => (site, Some(lens), None),
            None => self.forums.recognise(sight).map(|(site, map)| (site, None, Some(map)))?,
        };
        let role = if map.is_some() { ForumRole::Board } else { site.role(id, url).unwrap_or(ForumRole::Sample) };
        let reading = site.read(id, role, sight);
        let (kind, posts) = (reading.kind, reading.posts.clone());
        let mut made = self.want(events, &site, id, reading, now);
        if let Some(lens) = lens {
            self.forums.sites.insert(url.authority().into(), (site, lens));
        }
        made.wants.retain(|want| want.to != id);
        let roles =
            made.wants.iter().map(|want| (want.to, want.role)).chain(map.is_some().then_some((id, ForumRole::Board)));
        let page = ForumPage {
            kind,
            roles: roles.collect(),
            lists: std::mem::take(&mut made.lists),
            posts,
            map: map.map(Box::new),
            ..nothing
        };
        Some((page, made))
    }

    /// Numbers the links that a forum page wants followed.
    fn want(
        &mut self,
        events: &mut Vec<Event>,
        site: &ForumSite,
        id: UrlId,
        reading: ForumPageReading,
        now: Millis,
    ) -> ForumPageResult {
        let mut made = ForumPageResult::default();
        let mut wanted = |crawl: &mut Self, url: &CrawlUrl, text: &str, role: ForumRole| {
            let url = crawl.in_preferred_scheme(url).unwrap_or_else(|| url.clone());
            let to = crawl.number(events, &url, UrlOrigin::Link(id), text, now);
            made.wants.push(Want { to, url, text: text.to_owned(), role });
            to
        };
        for (url, name) in &reading.boards {
            wanted(self, url, name, ForumRole::Board);
        }
        let mut shown: Vec<(UrlId, Listed)> = Vec::new();
        for ListedThread { url, id, title, listed } in &reading.threads {
            let thread = id.unwrap_or_else(|| wanted(self, url, title, ForumRole::Thread));
            shown.extend(listed.map(|listed| (thread, listed)));
        }
        let next = match reading.kind {
            PageKind::Index { board, page } => {
                let verdict = site.judge(board, &shown);
                let replied = verdict.changed.iter().filter(|(_, change)| *change == ThreadChange::Replied);
                let due: Vec<UrlId> = replied.map(|(thread, _)| site.last_page(*thread)).collect();
                made_due(self, &mut made.due, due);
                made.lists.push(IndexPage { board, page, threads: shown });
                verdict.more.then_some(ForumRole::Index { board, page: page.saturating_add(1) })
            }
            PageKind::Thread { thread, page } => Some(ForumRole::Continuation { thread, page: page.saturating_add(1) }),
            _ => None,
        };
        if let (Some(role), Some(url)) = (next, &reading.next) {
            let url = self.in_preferred_scheme(url).unwrap_or_else(|| url.clone());
            let to = self.number(events, &url, UrlOrigin::Link(id), "", now);
            // Index pages of an earlier pass, and pages fetched for another role, are fetched again.
            if matches!(role, ForumRole::Index { .. }) || site.role(to, &url) != Some(role) {
                made_due(self, &mut made.due, vec![to]);
            }
            made.wants.push(Want { to, url, text: String::new(), role });
        }
        made
    }

    /// Starts the next visit of all boards if the previous one has ended, or the first one once the forum is
    /// understood.
    pub fn visit_boards(&mut self, now: Millis) -> Option<Batch> {
        if !self.forums.is_whole() || matches!(self.forums.mode, ForumMode::Discover { .. }) || self.progress.queued > 0
        {
            return None;
        }
        let Some((site, _)) = self.forums.sites.values().next() else {
            // The entrance could not be fetched last time, so retry it.
            let entrance = UrlId(0);
            if self.urls.len() == 0 || self.urls.get(entrance).state == LinkState::Fetched {
                return None;
            }
            let mut events = std::mem::take(&mut self.pending);
            let step = ForumStep { begun: vec![entrance], due: vec![entrance], ..ForumStep::default() };
            self.tell(&mut events, Event::Forum(Box::new(step)), now);
            return Some(Batch { at: now, took: None, events });
        };
        let known = site.boards();
        // The entrance links to boards opened since.
        let start = CrawlUrl::parse(&site.map().start).ok();
        let listed: Vec<(CrawlUrl, String)> = (site.map().boards.iter())
            .filter(|board| !board.skip)
            .filter_map(|board| Some((CrawlUrl::parse(&board.url).ok()?, board.name.clone())))
            .collect();
        let mut events = std::mem::take(&mut self.pending);
        let mut step = ForumStep::default();
        if let ForumMode::Follow(map) = &self.forums.mode {
            // For readers of the log that lack the map file.
            step.map = Some(map.clone());
        }
        if self.forums.watching.is_none() {
            step = ForumStep { begun: known.clone(), due: known, ..step };
        }
        let boards = listed.into_iter().map(|(url, name)| (url, name, ForumRole::Board));
        let wanted: Vec<_> = boards.chain(start.map(|url| (url, String::new(), ForumRole::Start))).collect();
        for (url, name, role) in wanted {
            let Some((id, link)) = self.seeded(&mut events, &url, &name, now) else { continue };
            if role == ForumRole::Start && step.roles.iter().any(|(known, _)| *known == id) {
                continue;
            }
            match self.urls.get(id).state {
                LinkState::Dropped => {
                    step.roles.push((id, role));
                    step.links.push(link);
                }
                _ if role == ForumRole::Start => step.due.push(id),
                // Already recorded, perhaps as the target of its redirect.
                _ => {}
            }
        }
        self.tell(&mut events, Event::Forum(Box::new(step)), now);
        Some(Batch { at: now, took: None, events })
    }

    /// Takes the forum's next step if nothing else is left to do. Returns whether there was one.
    pub(super) fn step_forum(&mut self, now: Millis) -> bool {
        if !self.forums.explores() || self.forums.explored.is_some() {
            return false;
        }
        let mut events = std::mem::take(&mut self.pending);
        let mut step = ForumStep::default();
        match self.forums.explorer.next() {
            ExploreStep::Look(urls) => {
                for url in urls {
                    // Recorded even if it is refused, so that it is not requested again.
                    self.forums.explorer.ask(&url);
                    let Some((to, link)) = self.seeded(&mut events, &url, "", now) else { continue };
                    step.roles.push((to, ForumRole::Sample));
                    step.links.push(link);
                }
            }
            ExploreStep::GivenUp(why) if self.forums.explorer.seen().is_empty() => {
                // Nothing was learnt, so it is not logged: the next run may succeed.
                self.forums.explored = Some(Err(why));
                self.pending = events;
                return true;
            }
            ExploreStep::GivenUp(why) => step.given_up = Some(why.to_owned()),
            ExploreStep::Understood(mut map) => {
                if let ForumMode::Explore { index_pages } = self.forums.mode {
                    map.index_pages = index_pages.unwrap_or(map.index_pages);
                    self.begin(&mut events, &map, &mut step, now);
                }
                step.map = Some(map);
            }
        }
        self.tell(&mut events, Event::Forum(Box::new(step)), now);
        self.pending = events;
        true
    }

    /// Queues all boards of a forum just understood. Pages already seen are not fetched again.
    fn begin(&mut self, events: &mut Vec<Event>, map: &ForumMap, step: &mut ForumStep, now: Millis) {
        let Ok(mut site) = ForumSite::new(map.clone()) else { return };
        for board in map.boards.iter().filter_map(|board| Some((CrawlUrl::parse(&board.url).ok()?, &board.name))) {
            let Some((to, link)) = self.seeded(events, &board.0, board.1, now) else { continue };
            site.note(to, ForumRole::Board, &board.0);
            step.roles.push((to, ForumRole::Board));
            step.links.push(link);
        }
        let seen: Vec<(UrlId, ForumPageView)> =
            self.forums.seen.iter().copied().zip(self.forums.explorer.seen().to_vec()).collect();
        for (id, sight) in seen {
            let Some(role) = site.role(id, &sight.own) else { continue };
            let reading = site.read(id, role, &sight);
            if let PageKind::Thread { .. } = reading.kind {
                step.read.push((id, reading.kind, reading.posts.clone()));
            }
            let made = self.want(events, &site, id, reading, now);
            step.due.extend(made.due);
            for Want { url, role, text, .. } in made.wants {
                let Some((to, link)) = self.seeded(events, &url, &text, now) else { continue };
                site.note(to, role, &url);
                step.roles.push((to, role));
                step.links.push(link);
            }
            step.lists.extend(made.lists);
        }
    }

    /// Numbers a URL that was not found on a page, with the link that queues it; none if it is out of scope.
    fn seeded(&mut self, events: &mut Vec<Event>, url: &CrawlUrl, text: &str, now: Millis) -> Option<(UrlId, Link)> {
        let url = self.in_preferred_scheme(url).unwrap_or_else(|| url.clone());
        if let Some(reason) = self.refuses(&url) {
            self.skip(events, &url, None, reason, now);
            return None;
        }
        let to = self.number(events, &url, UrlOrigin::Seed, text, now);
        Some((to, Link::bare(to, Relevance::ONE, LinkDecision::Follow(self.strategy.seed(&url)))))
    }

    /// Whether a link of a forum page is rejected: it is inside the forum's directory, but neither a board, a list nor
    /// a thread.
    pub(super) fn is_function(&self, page: &CrawlUrl, target: &CrawlUrl) -> bool {
        target.authority() == page.authority() && self.forums.site(page).is_none_or(|site| site.owns(target))
    }

    pub(super) fn forum_moved(&mut self, from: UrlId, to: UrlId) {
        let url = self.urls.url(from);
        if let Some((site, _)) = self.forums.sites.get_mut(url.authority()) {
            site.moved(from, to);
        }
    }

    pub(super) fn observe_forum(&mut self, id: UrlId, page: &ForumPage, at: Millis) {
        if let (Some(watching), PageKind::Index { board, page: 1 }) = (&mut self.forums.watching, page.kind) {
            watching.visited(&[board], at);
        }
        if let Some(sight) = &page.seen {
            self.forums.explorer.see(sight);
            self.forums.seen.push(id);
        }
        if let Some(map) = &page.map {
            self.forums.understand(map);
        }
        let url = self.urls.url(id);
        let roles: Vec<(UrlId, ForumRole, CrawlUrl)> =
            page.roles.iter().map(|(id, role)| (*id, *role, self.urls.url(*id))).collect();
        if let Some((site, _)) = self.forums.sites.get_mut(url.authority()) {
            for (id, role, url) in &roles {
                site.note(*id, *role, url);
            }
            site.observe(id, page);
        }
    }

    pub(super) fn observe_step(&mut self, step: &ForumStep, at: Millis) {
        if let Some(watching) = &mut self.forums.watching {
            let listed: Vec<UrlId> =
                step.lists.iter().map(|list| list.board).chain(step.begun.iter().copied()).collect();
            watching.visited(&listed, at);
        }
        if let Some(map) = &step.map {
            // A map file given by the user takes precedence.
            if !matches!(self.forums.mode, ForumMode::Follow(_)) {
                self.forums.understand(map);
            }
            self.forums.explored = Some(Ok(()));
        }
        if step.given_up.is_some() {
            // The reason is a static string of the explorer, so ask it again.
            self.forums.explored = match self.forums.explorer.next() {
                ExploreStep::GivenUp(why) => Some(Err(why)),
                _ => Some(Err("the structure was not recognised")),
            };
        }
        for (id, role) in &step.roles {
            let url = self.urls.url(*id);
            if *role == ForumRole::Sample {
                self.forums.explorer.ask(&url);
            }
            if let Some((site, _)) = self.forums.sites.get_mut(url.authority()) {
                site.note(*id, *role, &url);
            }
        }
        let pages = step.read.iter().map(|(id, kind, posts)| (*id, *kind, posts.clone(), Vec::new()));
        let lists = step.lists.iter().map(|list| {
            (list.board, PageKind::Index { board: list.board, page: list.page }, Vec::new(), vec![list.clone()])
        });
        for (id, kind, posts, lists) in lists.chain(pages.collect::<Vec<_>>()) {
            let url = self.urls.url(id);
            if let Some((site, _)) = self.forums.sites.get_mut(url.authority()) {
                let page = ForumPage { kind, roles: Vec::new(), lists, posts, seen: None, map: None };
                site.observe(id, &page);
            }
        }
        // A new visit resets the host's failures: it may be back.
        if let Some(id) = step.begun.first() {
            let host = self.urls.get(*id).host();
            self.hosts.get_mut(host).health.reset_failures();
        }
        for id in &step.due {
            self.make_due(*id);
        }
        if let Some((site, _)) = step.begun.first().and_then(|id| {
            let url = self.urls.url(*id);
            self.forums.sites.get_mut(url.authority())
        }) {
            site.begin_pass(&step.begun);
        }
        self.admit(&step.links);
    }

    /// Queues a fetched page again.
    fn make_due(&mut self, id: UrlId) {
        if !was_had(self.urls.get(id).state) {
            return;
        }
        self.urls.get_mut(id).forget_tries();
        let known = self.urls.get(id);
        let (host, place) = (known.host(), known.place());
        self.set_state(id, LinkState::Queued);
        self.frontier.push(host, id, place);
    }
}

/// Those of the pages that were fetched before.
fn made_due(crawl: &Crawl, due: &mut Vec<UrlId>, ids: Vec<UrlId>) {
    due.extend(ids.into_iter().filter(|id| was_had(crawl.urls.get(*id).state)));
}

/// Whether a URL was requested before and may be requested again.
fn was_had(state: LinkState) -> bool {
    matches!(state, LinkState::Fetched | LinkState::Failed | LinkState::Redirected | LinkState::Refused)
}
