//! Tests of each parameter of a spec at its extremes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::links::{LinkText, PlannedLink, TemplateBlock};
use super::target::{AuxPage, LinkTarget, PagePosition, topic_is_on};
use super::truth::crawl_url;
use super::words::NEAR_TOPIC;
use super::*;
use suidao_crawl::crawl::{FetchKind, FetchOutcome};
use suidao_crawl::replay::{ReplaySource, TopicalWeb, Web};
use suidao_page::model::{CrawlUrl, Page, UrlId};

fn small() -> WebSpec {
    WebSpec { pages: 1_500, hosts: 16, islands: 6, island_pages: [30, 60], ..WebSpec::default() }
}

fn blogs() -> WebSpec {
    WebSpec { blog_hosts: 1.0, friend_hosts: 1.0, tags: [3, 12], friends: [2, 4], topical_hosts: 0.0, ..small() }
}

/// The demo's web, smaller.
fn demo() -> WebSpec {
    WebSpec { pages: 2_400, hosts: 20, tags: [10, 30], islands: 8, island_pages: [60, 120], ..WebSpec::demo() }
}

fn learnt(world: &SyntheticWeb) -> suidao_page::topic::Topic {
    suidao_page::topic::Topic::new(crate::recorded::learn(world).unwrap())
}

fn world(spec: WebSpec) -> SyntheticWeb {
    SyntheticWeb::new(spec).unwrap()
}

fn links(world: &SyntheticWeb) -> Vec<(u64, PlannedLink)> {
    (0..world.spec().pages)
        .flat_map(|page| world.layout.links(page).into_iter().map(move |link| (page, link)))
        .collect()
}

/// The target of a link, after redirects and second URLs.
fn page_of(target: LinkTarget) -> Option<u64> {
    match target {
        LinkTarget::Page(page) | LinkTarget::AliasUrl(page) | LinkTarget::Redirect(page) => Some(page),
        _ => None,
    }
}

fn specs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn the_specs_of_the_repository_are_webs_and_the_default_names_every_key() {
    let found = specs();
    assert!(found.len() >= 6);
    for path in &found {
        let spec = WebSpec::load(path).unwrap();
        let world = SyntheticWeb::new(spec.clone()).unwrap();
        let seeds = world.seeds();
        assert!(
            seeds.iter().all(|url| world.get(url).is_ok_and(|response| response.status == 200)),
            "{}",
            path.display()
        );
        assert_eq!(toml::from_str::<WebSpec>(&toml::to_string(&spec).unwrap()).unwrap(), spec);
    }
    let default = found.iter().find(|path| path.ends_with("default.toml")).unwrap();
    assert_eq!(WebSpec::load(default).unwrap(), WebSpec::default());
    let demo = found.iter().find(|path| path.ends_with("demo.toml")).unwrap();
    assert_eq!(WebSpec::load(demo).unwrap(), WebSpec::demo());
    let keys = |text: &str| toml::from_str::<toml::Table>(text).unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let written = keys(&std::fs::read_to_string(default).unwrap());
    assert_eq!(written, keys(&toml::to_string(&WebSpec::default()).unwrap()));
}

#[test]
fn a_file_that_is_no_spec_is_reported_with_its_line() {
    let load = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        WebSpec::load(file.path()).unwrap_err().to_string()
    };
    assert!(load("pages = 7000\nhsots = 3").contains("line 2"));
    assert!(load("\n\npages = 'many'").contains("line 3"));
    assert!(load("pagse = 3").contains("pagse"));
    assert!(load("shape = 'round'").contains("small-world"));
    assert!(load("rewired = 2").contains("rewired must be"));
    assert!(load("islands = 3\nseed_islands = 4").contains("seed_islands"));
    assert!(WebSpec::load(Path::new("no/such.toml")).unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn urls_of_blogs_lead_back_and_all_their_links_lead_somewhere() {
    let world = world(WebSpec { dangling: 0.0, calendar_hosts: 0.5, ..blogs() });
    for (page, (url, relevant)) in (0..).zip(world.pages()) {
        assert_eq!(world.find(world.layout.find_host(url.host()).unwrap(), url.as_str()), Some(page), "{url}");
        assert_eq!(world.is_relevant(&url), relevant);
    }
    let mut seen: BTreeSet<CrawlUrl> = world.seeds().into_iter().collect();
    let mut queue: Vec<CrawlUrl> = seen.iter().cloned().collect();
    while let Some(url) = queue.pop() {
        let response = world.get(&url).unwrap();
        assert_ne!(response.status, 404, "{url}");
        let FetchOutcome::Page { page, .. } = facts_free(&world).outcome(&FetchKind::Page(UrlId(0)), &url) else {
            continue;
        };
        for link in page.outlinks {
            let endless = link.url.path().starts_with("/calendar/");
            if !endless && seen.insert(link.url.clone()) {
                queue.push(link.url);
            }
        }
    }
    let path = |url: &&CrawlUrl| url.path().contains("/tag") || url.path().contains("/categories/");
    assert!(seen.iter().filter(path).count() > 50, "tag pages are linked");
    assert!(seen.iter().filter(|url| url.path().starts_with("/archives/")).count() > 16);
    // Discoverable only through front pages and archives.
    let posts = world.pages().filter(|(url, relevant)| *relevant && !seen.contains(url)).count();
    assert_eq!(posts, 0, "every relevant post is reached");
}

/// The page reader with an empty lexicon, for links only.
fn facts_free(world: &SyntheticWeb) -> TopicalWeb<'_> {
    static TOPIC: std::sync::OnceLock<suidao_page::topic::Topic> = std::sync::OnceLock::new();
    let topic = TOPIC.get_or_init(|| {
        suidao_page::topic::Topic::new(suidao_page::topic::Lexicon::from_terms("体育", &[("体育", 1.0)]))
    });
    TopicalWeb { web: world, topic }
}

#[test]
fn a_blog_mixes_its_tags_in_front_and_gathers_them_by_tag() {
    let world = world(blogs());
    let layout = &world.layout;
    let host = (0..16).max_by_key(|&host| layout.hosts[host as usize].sections.len()).unwrap();
    let sections = |links: Vec<PlannedLink>| -> BTreeSet<usize> {
        let entries = links.into_iter().filter(|link| link.block == TemplateBlock::Entry);
        entries.filter_map(|link| page_of(link.target)).map(|page| layout.locate(page).0).collect()
    };
    assert!(sections(layout.aux_links(host, AuxPage::Front(0))).len() > 1);
    assert!(sections(layout.aux_links(host, AuxPage::Archive(0))).len() > 1);
    let every: BTreeSet<u64> =
        (0..layout.hosts[host as usize].articles).map(|position| layout.host_article(host, position)).collect();
    assert_eq!(every.len() as u64, layout.hosts[host as usize].articles, "each post once");
    let section = *layout.hosts[host as usize].sections.last().unwrap() as usize;
    let quiet = WebSpec { off_topic_links: [0, 0], tunnels: 0, ..blogs() };
    let quiet = SyntheticWeb::new(quiet).unwrap();
    let own = quiet.layout.links(quiet.layout.sections[section].start);
    let own = own.into_iter().filter(|link| link.block == TemplateBlock::Entry).filter_map(|link| page_of(link.target));
    assert!(own.map(|page| quiet.layout.locate(page).0).all(|at| at == section));
}

#[test]
fn shares_of_hosts_are_none_at_0_and_all_at_1() {
    let count = |spec: WebSpec, test: &dyn Fn(&super::layout::HostTraits) -> bool| {
        world(spec).layout.hosts.iter().filter(|host| test(&host.traits)).count()
    };
    for (share, expected) in [(0.0, 0), (1.0, 16)] {
        assert_eq!(count(WebSpec { blog_hosts: share, ..small() }, &|traits| traits.blog), expected);
        assert_eq!(count(WebSpec { friend_hosts: share, ..small() }, &|traits| traits.has_blogroll), expected);
        assert_eq!(count(WebSpec { session_hosts: share, ..small() }, &|traits| traits.session), expected);
        assert_eq!(count(WebSpec { gbk_hosts: share, ..small() }, &|traits| traits.gbk), expected);
        assert_eq!(count(WebSpec { robots_hosts: share, ..small() }, &|traits| traits.robots), expected);
    }
    for (share, expected) in [(0.0, 0), (0.25, 4), (0.5, 8)] {
        let spec = WebSpec { topical_hosts: share, ..small() };
        assert_eq!(world(spec).layout.first_ordinary, expected);
    }
}

#[test]
fn links_have_the_specified_quality() {
    for quality in [0.0, 1.0] {
        let world =
            world(WebSpec { anchor_quality: quality, context_quality: quality, misleading: 1.0 - quality, ..small() });
        for (_, link) in links(&world).into_iter().filter(|(_, link)| link.anchor != LinkText::Nothing) {
            let Some(to) = page_of(link.target) else { continue };
            let on = topic_is_on(world.layout.topic(to));
            let tunnel = matches!(world.layout.locate(to).1, PagePosition::Tunnel(..));
            match link.anchor {
                LinkText::Words(_) | LinkText::Number(_) => {}
                LinkText::Blank if on || tunnel => assert_eq!(quality, 0.0),
                LinkText::Headline(_) => assert!(if on || tunnel { quality == 1.0 } else { quality == 0.0 }),
                LinkText::Title(page) if on => assert_eq!((page, quality), (to, 1.0)),
                _ => {}
            }
            if let LinkText::Sentence(about) = link.context
                && on
            {
                assert_eq!(topic_is_on(about) || about == NEAR_TOPIC, quality == 1.0);
            }
        }
    }
}

#[test]
fn regular_templates_keep_each_kind_of_link_in_its_block() {
    for regularity in [0.0, 1.0] {
        let world = world(WebSpec { template_regularity: regularity, ..small() });
        let mut blocks: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (page, link) in links(&world) {
            let (Some(to), PagePosition::Article(_)) = (page_of(link.target), world.layout.locate(page).1) else {
                continue;
            };
            let (from, position) = (world.layout.locate(page).0, world.layout.locate(to));
            let kind = match position {
                (_, PagePosition::Tunnel(..)) => "tunnel",
                (section, PagePosition::Article(_))
                    if section != from && world.layout.sections[section].island.is_none() =>
                {
                    "elsewhere"
                }
                _ => continue,
            };
            blocks.entry(kind).or_default().insert(format!("{:?}", link.block));
        }
        let blocks: Vec<String> =
            blocks.into_values().map(|blocks| blocks.into_iter().collect::<Vec<_>>().join(" ")).collect();
        let expected = if regularity == 1.0 { ["Side", "Picks"] } else { ["Entry Inline Side", "Entry Inline"] };
        assert_eq!(blocks, expected);
    }
}

#[test]
fn detours_dead_ends_and_hubs_are_as_frequent_as_planned() {
    let count = |spec: WebSpec, test: &dyn Fn(&PlannedLink) -> bool| {
        let all = links(&world(spec));
        all.iter().filter(|(_, link)| test(link)).count() as f64 / all.len() as f64
    };
    let redirect = |link: &PlannedLink| matches!(link.target, LinkTarget::Redirect(_));
    let is_alias = |link: &PlannedLink| matches!(link.target, LinkTarget::AliasUrl(_));
    let dead = |link: &PlannedLink| matches!(link.target, LinkTarget::Missing(..) | LinkTarget::NoHost(_));
    assert_eq!(count(WebSpec { redirects: 0.0, ..small() }, &redirect), 0.0);
    assert!(count(WebSpec { redirects: 1.0, ..small() }, &redirect) > 0.5);
    assert_eq!(count(WebSpec { duplicates: 0.0, ..small() }, &is_alias), 0.0);
    assert!(count(WebSpec { duplicates: 1.0, redirects: 0.0, ..small() }, &is_alias) > 0.5);
    assert_eq!(count(WebSpec { dangling: 0.0, ..small() }, &dead), 0.0);
    assert!((count(WebSpec { dangling: 1.0, ..small() }, &dead) - 0.5).abs() < 0.05);
    let foot = |link: &PlannedLink| link.block == TemplateBlock::Foot && link.anchor != LinkText::Words("会员中心");
    assert_eq!(count(WebSpec { footer_links: 0, ..small() }, &foot), 0.0);

    // All pages of a host share their external links, or none do.
    let targets = |share| {
        let world = world(WebSpec { repeated_links: share, redirects: 0.0, duplicates: 0.0, ..small() });
        let foot = links(&world).into_iter().filter(|(_, link)| link.block == TemplateBlock::Foot);
        let foot = foot.filter_map(|(page, link)| {
            Some((world.layout.sections[world.layout.locate(page).0].host, page_of(link.target)?))
        });
        foot.collect::<BTreeSet<_>>().len()
    };
    assert!(targets(1.0) <= 2 * 16 && targets(0.0) > 10 * 16);
}

#[test]
fn islands_are_joined_in_the_shape_planned() {
    assert_eq!(world(WebSpec { tunnels: 0, ..small() }).layout.tunnels.len(), 0);
    let tree = world(small());
    assert!(tree.layout.tunnels.iter().all(|tunnel| tunnel.from < tunnel.to));
    let ring = |rewired| {
        world(WebSpec { shape: PathShape::SmallWorld, tunnels: 2, rewired, islands: 12, pages: 3_000, ..small() })
    };
    let apart = |world: &SyntheticWeb| -> Vec<u64> {
        world
            .layout
            .tunnels
            .iter()
            .map(|tunnel| (tunnel.from + 12 - tunnel.to) % 12)
            .map(|apart| apart.min(12 - apart))
            .collect()
    };
    let (regular, random) = (ring(0.0), ring(1.0));
    assert!(apart(&regular).iter().all(|&apart| apart == 1 || apart == 2));
    assert_eq!(apart(&regular).len(), 48, "two successors of each, both ways");
    assert!(apart(&random).iter().any(|&apart| apart > 2));
    assert!(apart(&random).iter().filter(|&&apart| apart == 1).count() >= 24, "the nearest stay joined");
    for (gap, mean) in [([3, 3], 3.0), ([1, 7], 3.0)] {
        let world = world(WebSpec { gap, gap_mean: mean, ..ring(0.2).spec().clone() });
        let gaps: Vec<u64> = world.layout.tunnels.iter().map(|tunnel| tunnel.gap).collect();
        assert!(gaps.iter().all(|found| (gap[0]..=gap[1]).contains(found)));
        let found = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((found - mean).abs() < 0.8, "{found}");
    }
}

#[test]
fn friends_are_neighbours_unless_rewired() {
    for (rewired, least, most) in [(0.0, 1, 2), (1.0, 6, 8)] {
        let world = world(WebSpec { rewired, ..blogs() });
        let mut farthest = 0;
        for host in 0..16 {
            let links = world.layout.aux_links(host, AuxPage::Blogroll);
            let roots = links.into_iter().filter(|link| link.block == TemplateBlock::Entry).map(|link| link.target);
            for root in roots {
                let LinkTarget::Root(friend) = root else { panic!("{root:?}") };
                assert_ne!(friend, host);
                let apart = (friend + 16 - host) % 16;
                farthest = farthest.max(apart.min(16 - apart));
            }
        }
        assert!((least..=most).contains(&farthest), "{farthest} with {rewired} rewired");
    }
}

#[test]
fn an_island_of_several_tags_lies_on_one_blog() {
    let world = world(WebSpec { island_tags: [2, 5], island_pages: [12, 200], island_skew: 9.0, ..demo() });
    let layout = &world.layout;
    let mut sizes = Vec::new();
    for island in 0..8 {
        let sections = &layout.sections[layout.island_sections(island)];
        assert!((2..=5).contains(&sections.len()));
        assert!(sections.iter().all(|section| section.host == sections[0].host && section.articles() > 0));
        sizes.push(layout.island_len(island));
    }
    sizes.sort_unstable();
    assert!(sizes[0] >= 12 && sizes[7] <= 200, "{sizes:?}");
    assert!(sizes[4] < 60, "most islands are small: {sizes:?}");
}

#[test]
fn posts_of_the_demo_are_dated_and_their_titles_name_the_topic_as_often_as_the_spec_states() {
    let world = world(demo());
    let topic = learnt(&world);
    let reading = TopicalWeb { web: &world, topic: &topic };
    let layout = &world.layout;
    let (mut posts, mut dated, mut on, mut named, mut neighbours, mut same_tag) = (0, 0, 0, 0, 0, 0);
    for page in (0..world.spec().pages).step_by(3) {
        let (section, position) = layout.locate(page);
        let url = crawl_url(&layout.url(page));
        if !matches!(position, PagePosition::Article(_)) {
            assert_eq!(read(&reading, &url).published, None, "{url}");
            continue;
        }
        let (year, month, day) = layout.date(page);
        let shown = read(&reading, &url).published.map(|published| published.to_string());
        posts += 1;
        if layout.host_at(section).traits.dated {
            assert!(
                shown.is_some_and(|day_shown| day_shown.starts_with(&format!("{year}-{month:02}-{day:02}"))),
                "{url}"
            );
            dated += 1;
        }
        let topic = layout.sections[section].topic;
        if topic_is_on(topic) {
            on += 1;
            named += u32::from(layout.title_names_topic(page, topic));
            for link in layout.links(page).iter().filter(|link| link.block == TemplateBlock::Pager) {
                neighbours += 1;
                same_tag += u32::from(page_of(link.target).is_some_and(|to| layout.locate(to).0 == section));
            }
        }
    }
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole);
    assert!(share(dated, posts) > 0.7, "{dated} of {posts}");
    let wanted = world.spec().title_quality;
    assert!((share(named, on) - wanted).abs() < 0.1, "{named} of {on}");
    assert!((0.4..0.7).contains(&share(same_tag, neighbours)), "{same_tag} of {neighbours}");
}

/// Mean relevance of at most 60 articles of a kind.
fn relevance(world: &SyntheticWeb, topic: &suidao_page::topic::Topic, which: &dyn Fn(u64) -> bool) -> f64 {
    let reading = TopicalWeb { web: world, topic };
    let pages = (0..world.spec().pages).filter(|&page| matches!(world.layout.locate(page).1, PagePosition::Article(_)));
    let scores: Vec<f64> = pages
        .filter(|&page| which(page))
        .take(60)
        .map(|page| f64::from(read(&reading, &crawl_url(&world.layout.url(page))).relevance.get()))
        .collect();
    scores.iter().sum::<f64>() / scores.len() as f64
}

fn read(source: &dyn ReplaySource, url: &CrawlUrl) -> Page {
    match source.outcome(&FetchKind::Page(UrlId(0)), url) {
        FetchOutcome::Page { page, .. } => *page,
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn near_topics_look_half_relevant() {
    let world = world(WebSpec { near_topics: 0.5, ..small() });
    let topic = learnt(&world);
    let on = relevance(&world, &topic, &|page| topic_is_on(world.layout.topic(page)));
    let near = relevance(&world, &topic, &|page| world.layout.topic(page) == NEAR_TOPIC);
    let off = relevance(&world, &topic, &|page| (super::words::THEMES..NEAR_TOPIC).contains(&world.layout.topic(page)));
    assert!(on > 1.5 * near && near > 3.0 * off, "{on} {near} {off}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn successors_are_a_function_of_seed_and_page(seed in 0_u64..1_000, blog in any::<bool>(), picks in prop::collection::vec(0_u64..1_500, 1..20)) {
        let spec = WebSpec { seed, ..if blog { blogs() } else { small() } };
        let (one, two) = (world(spec.clone()), world(spec));
        // The second world has served other pages before.
        for &page in picks.iter().rev() {
            two.layout.links(page);
        }
        for &page in &picks {
            prop_assert_eq!(one.layout.links(page), two.layout.links(page));
            prop_assert_eq!(one.layout.url(page), two.layout.url(page));
            let url = crawl_url(&one.layout.url(page));
            prop_assert_eq!(one.get(&url), two.get(&url));
        }
    }

    #[test]
    fn pages_are_found_where_they_lie(seed in 0_u64..1_000, hosts in 4_u64..40, islands in 1_u64..8, blog in 0.0..1.0_f64) {
        let spec = WebSpec { seed, hosts, islands, blog_hosts: blog, tags: [1, 9], ..small() };
        let layout = &world(spec).layout;
        let mut next = 0;
        for section in &layout.sections {
            for page in [section.start, section.start + section.len - 1] {
                let (index, position) = layout.locate(page);
                prop_assert!(std::ptr::eq(&layout.sections[index], section), "page {page}");
                prop_assert!(page != section.start || position == PagePosition::Home);
            }
            prop_assert!(section.start >= next && section.articles() > 0);
            next = section.start + section.len;
        }
        prop_assert_eq!(next, layout.spec.pages);
    }
}
