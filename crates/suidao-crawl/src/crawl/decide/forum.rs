//! Forums: which links of their pages are followed, and steps that no page triggers (the next samples during
//! exploration, the next visit of all boards).

use crate::crawl::draft::Draft;
use crate::crawl::forum_state::{ForumMode, was_requested};
use suidao_forum::forum::explore::ExploreStep;
use suidao_forum::forum::increment::ThreadChange;
use suidao_forum::forum::site::{ForumSite, ListedThread, ParsedForumPage, first_page};
use suidao_page::model::{
    CrawlUrl, Event, ForumMap, ForumPage, ForumPageView, ForumRole, ForumStep, IndexPage, Link, LinkDecision,
    LinkState, ListedActivity, PageKind, Relevance, UrlId, UrlOrigin,
};

pub struct ForumLink {
    pub to: UrlId,
    pub url: CrawlUrl,
    pub text: String,
    pub role: ForumRole,
}

/// Result of reading a page of a forum.
#[derive(Default)]
pub struct ForumPageResult {
    pub links: Vec<ForumLink>,
    pub lists: Vec<IndexPage>,
    /// Fetched pages that have new content.
    pub due: Vec<UrlId>,
}

/// Reads a page as a forum's, if its host is one, and numbers the wanted links.
pub fn read_forum(
    draft: &mut Draft,
    id: UrlId,
    url: &CrawlUrl,
    page_view: &ForumPageView,
) -> Option<(ForumPage, ForumPageResult)> {
    let forums = &draft.state.forums;
    let nothing = ForumPage {
        kind: PageKind::Other,
        roles: Vec::new(),
        lists: Vec::new(),
        posts: Vec::new(),
        view: None,
        map: None,
    };
    let known = forums.site(url);
    if forums.is_exploring() && known.is_none() {
        let seen = Some(Box::new(page_view.clone()));
        return Some((ForumPage { view: seen, ..nothing }, ForumPageResult::default()));
    }
    let recognised = if known.is_none() { Some(forums.recognise(page_view)?) } else { None };
    let site = known.or(recognised.as_ref().map(|(site, _)| site))?;
    let role = if known.is_some() { site.role(id, url).unwrap_or(ForumRole::Sample) } else { ForumRole::Board };
    let first = first_page(id, role).map(|first| draft.state.urls.url(first));
    let reading = site.read(id, role, page_view, first.as_ref());
    let (kind, posts) = (reading.kind, reading.posts.clone());
    let mut result = forum_links(draft, site, id, reading);
    result.links.retain(|want| want.to != id);
    let own = recognised.is_some().then_some((id, ForumRole::Board));
    let page = ForumPage {
        kind,
        roles: result.links.iter().map(|want| (want.to, want.role)).chain(own).collect(),
        lists: std::mem::take(&mut result.lists),
        posts,
        map: recognised.map(|(_, map)| Box::new(map)),
        ..nothing
    };
    Some((page, result))
}

/// Numbers the links of a forum page that will be followed.
fn forum_links(draft: &mut Draft, site: &ForumSite, id: UrlId, reading: ParsedForumPage) -> ForumPageResult {
    let mut result = ForumPageResult::default();
    let mut want = |draft: &mut Draft, url: &CrawlUrl, text: &str, role: ForumRole| {
        let url = draft.preferred(url);
        let to = draft.id(&url, UrlOrigin::Link(id), text);
        result.links.push(ForumLink { to, url, text: text.to_owned(), role });
        to
    };
    for (url, name) in &reading.boards {
        want(draft, url, name, ForumRole::Board);
    }
    let mut rows: Vec<(UrlId, ListedActivity)> = Vec::new();
    for ListedThread { url, id, title, listed } in &reading.threads {
        let thread = id.unwrap_or_else(|| want(draft, url, title, ForumRole::Thread));
        let thread = redirected(draft, thread).unwrap_or(thread);
        rows.extend(listed.map(|listed| (thread, listed)));
    }
    let next = match (reading.kind, reading.kind.thread()) {
        (PageKind::Index { board, page }, _) => {
            let scan = site.judge(board, &rows);
            let replied = scan.changed.iter().filter(|(_, change)| *change == ThreadChange::Replied);
            let last_pages = replied.map(|(thread, _)| site.last_page(*thread));
            result.due.extend(last_pages.filter(|page| was_requested(draft.link_state(*page))));
            result.lists.push(IndexPage { board, page, threads: rows });
            scan.more.then_some(ForumRole::Index { board, page: page.saturating_add(1) })
        }
        (_, Some((thread, page))) => Some(ForumRole::Continuation { thread, page: page.saturating_add(1) }),
        _ => None,
    };
    if let (Some(role), Some(url)) = (next, &reading.next) {
        let url = draft.preferred(url);
        let to = draft.id(&url, UrlOrigin::Link(id), "");
        // Index pages of an earlier pass, and pages fetched for another role, are fetched again.
        let is_new_role = matches!(role, ForumRole::Index { .. }) || site.role(to, &url) != Some(role);
        if is_new_role && was_requested(draft.link_state(to)) {
            result.due.push(to);
        }
        result.links.push(ForumLink { to, url, text: String::new(), role });
    }
    result
}

/// Where a URL was found to redirect.
fn redirected(draft: &Draft, id: UrlId) -> Option<UrlId> {
    let target = draft.state.canonicals.led_to(id);
    (draft.link_state(id) == LinkState::Redirected && target != id).then_some(target)
}

/// Starts the next visit of all boards if the previous one has ended, or the first one once the forum is analysed.
pub fn visit_boards(draft: &mut Draft) {
    let state = draft.state;
    let forums = &state.forums;
    let is_busy = state.counts.progress.queued > 0;
    if !forums.is_of_forums() || matches!(forums.mode, ForumMode::Discover { .. }) || is_busy {
        return;
    }
    if forums.sites.is_empty() {
        // The entry page could not be fetched last time, so retry it.
        let entrance = UrlId(0);
        if state.urls.len() > 0 && state.urls.get(entrance).state != LinkState::Fetched {
            let step = ForumStep { restarted: vec![entrance], due: vec![entrance], ..ForumStep::default() };
            draft.push(Event::Forum(Box::new(step)));
        }
    }
    for site in forums.sites.iter() {
        let step = visit(draft, site);
        draft.push(Event::Forum(Box::new(step)));
    }
}

/// The next visit of all boards of a forum.
fn visit(draft: &mut Draft, site: &ForumSite) -> ForumStep {
    let forums = &draft.state.forums;
    let known = site.boards();
    // The entry page links to boards opened since.
    let start = CrawlUrl::parse(&site.map().start).ok();
    let listed: Vec<(CrawlUrl, String)> = (site.map().boards.iter())
        .filter(|board| !board.skip)
        .filter_map(|board| Some((CrawlUrl::parse(&board.url).ok()?, board.name.clone())))
        .collect();
    let mut step = ForumStep::default();
    if let ForumMode::Follow(_) = &forums.mode {
        // For readers of the log that lack the map file.
        step.map = Some(Box::new(site.map().clone()));
    }
    if forums.watching.is_none() {
        step = ForumStep { restarted: known.clone(), due: known, ..step };
    }
    let boards = listed.into_iter().map(|(url, name)| (url, name, ForumRole::Board));
    for (url, name, role) in boards.chain(start.map(|url| (url, String::new(), ForumRole::Start))) {
        let Some((id, link)) = seeded(draft, &url, &name) else { continue };
        if role == ForumRole::Start && step.roles.iter().any(|(known, _)| *known == id) {
            continue;
        }
        match draft.link_state(id) {
            LinkState::Dropped => {
                step.roles.push((id, role));
                step.links.push(link);
            }
            _ if role == ForumRole::Start => step.due.push(id),
            // Already recorded, perhaps as the target of its redirect.
            _ => {}
        }
    }
    step
}

/// Records the next step of an exploration, as its explorer proposes it.
pub fn explore(draft: &mut Draft, proposed: ExploreStep) {
    let mut step = ForumStep::default();
    match proposed {
        ExploreStep::Fetch(urls) => {
            for url in urls {
                // If it is a thread, its title.
                let text = draft.state.forums.explorer.link_text(&url).to_owned();
                let sample = seeded(draft, &url, &text);
                // One that is out of scope is numbered as well, so that it is not proposed again.
                let to = sample.map_or_else(|| draft.id(&url, UrlOrigin::Seed, &text), |(to, _)| to);
                step.roles.push((to, ForumRole::Sample));
                step.links.extend(sample.map(|(_, link)| link));
            }
        }
        ExploreStep::GivenUp(why) => step.analysis_failure = Some(why.to_owned()),
        ExploreStep::Understood(mut map) => {
            if let ForumMode::Explore { index_pages, .. } = draft.state.forums.mode {
                map.index_pages = index_pages.unwrap_or(map.index_pages);
                begin(draft, &map, &mut step);
            }
            step.map = Some(map);
        }
    }
    draft.push(Event::Forum(Box::new(step)));
}

/// Queues all boards of a forum just analysed. Pages already seen are not fetched again.
fn begin(draft: &mut Draft, map: &ForumMap, step: &mut ForumStep) {
    let forums = &draft.state.forums;
    let Ok(mut site) = ForumSite::new(map.clone()) else { return };
    for board in &map.boards {
        let Ok(url) = CrawlUrl::parse(&board.url) else { continue };
        let Some((to, link)) = seeded(draft, &url, &board.name) else { continue };
        site.set_role(to, ForumRole::Board, &url);
        step.roles.push((to, ForumRole::Board));
        step.links.push(link);
    }
    for (&id, page_view) in forums.seen.iter().zip(forums.explorer.seen()) {
        let linked = forums.explorer.linked(&page_view.own);
        let role = site.role(id, &page_view.own).or_else(|| site.role(id, linked?));
        let Some(role) = role else { continue };
        let first = first_page(id, role)
            .map(|first| if first == id { page_view.own.clone() } else { draft.state.urls.url(first) });
        let reading = site.read(id, role, page_view, linked.or(first.as_ref()));
        if reading.kind.thread().is_some() || reading.kind == PageKind::Login {
            step.read.push((id, reading.kind, reading.posts.clone()));
        }
        let result = forum_links(draft, &site, id, reading);
        step.due.extend(result.due);
        for ForumLink { url, role, text, .. } in result.links {
            let Some((to, link)) = seeded(draft, &url, &text) else { continue };
            site.set_role(to, role, &url);
            step.roles.push((to, role));
            step.links.push(link);
        }
        step.lists.extend(result.lists);
    }
}

/// Numbers a URL that was not found on a page, with the link that queues it; none if it is out of scope.
fn seeded(draft: &mut Draft, url: &CrawlUrl, text: &str) -> Option<(UrlId, Link)> {
    let url = draft.preferred(url);
    if let Some(reason) = draft.settings.skip_reason(&url) {
        draft.reject(&url, None, reason);
        return None;
    }
    let to = draft.id(&url, UrlOrigin::Seed, text);
    Some((to, Link::without_page(to, Relevance::ONE, LinkDecision::Follow(draft.state.strategy.seed(&url)))))
}
