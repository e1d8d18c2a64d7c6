//! The index as its users see it: built from a small crawl and searched.

use std::path::Path;

use super::*;
use suidao_store::corpus::fixture::crawl;
use suidao_store::corpus::{Catalogue, DuplicatePolicy, Filter};
use suidao_store::store::Store;

fn made(store: &Store, path: &Path) -> Index {
    let catalogue = Catalogue::read(store).unwrap();
    build(store, &catalogue, &Filter::default().select(&catalogue), path, None, &|| {}).unwrap();
    Index::open(path).unwrap()
}

const PAGES: [(&str, &str); 6] = [
    (
        "http://a.cn/",
        "<title>首页</title><p>足球 篮球 门户网站 的 首页 <a href=/ml>機器學習入門</a> <a href=http://b.cn:81/tree>树</a></p>",
    ),
    (
        "http://a.cn/ml",
        "<title>入门</title><p>发布于 2021-03-05</p><p>機器學習是人工智慧的一支。它从数据中学习规律,常用 gradient descent 训练神经网络。</p>",
    ),
    (
        "http://b.cn:81/tree",
        "<title>决策树 足球 篮球</title><p>发布于 2020-12-31</p><p>决策树是机器学习的算法之一,也可用于回归。足球比赛的预测也用它,结果有好的,也有坏的。</p>",
    ),
    (
        "http://x.b.cn/en",
        "<title>Descent</title><p>Gradients of a descending path in the mountains, where the weather is fine and the people kind.</p>",
    ),
    (
        "http://x.b.cn/copy",
        "<title>决策树 转载 足球 篮球</title><p>发布于 2020-12-31</p><p>决策树是机器学习的算法之一,也可用于回归。足球比赛的预测也用它,结果有好的,也有坏的。</p>",
    ),
    ("http://c.cn/x", "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><p>学习游泳的方法,以及器械</p>"),
];

fn urls(answer: &SearchResults) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.page.url.as_str()).collect()
}

fn ask(index: &Index, query: &str) -> SearchResults {
    index.search(&Request { query: query.to_owned(), limit: 10, ..Request::default() }).unwrap()
}

fn sorted(index: &Index, query: &str) -> Vec<String> {
    let mut found: Vec<String> = urls(&ask(index, query)).into_iter().map(str::to_owned).collect();
    found.sort_unstable();
    found
}

#[test]
fn pages_are_found_by_words_of_either_script_and_by_parts_of_words() {
    let root = tempfile::tempdir().unwrap();
    let store = crawl(&root.path().join("crawl"), &PAGES);
    let index = made(&store, &root.path().join("index"));
    let (home, ml, tree, copy, en) =
        ("http://a.cn/", "http://a.cn/ml", "http://b.cn:81/tree", "http://x.b.cn/copy", "http://x.b.cn/en");
    for query in ["机器学习", "機器學習", "\"机器学习\"", "ＭＬ OR 机器学习"] {
        assert_eq!(sorted(&index, query), [home, ml, tree, copy], "{query}");
    }
    assert_eq!(sorted(&index, "学习"), [home, ml, tree, "http://c.cn/x", copy], "a part of a word");
    assert_eq!(sorted(&index, "機器學習入門"), [home], "by its own text");
    // All but the seed were found by a link with this text.
    assert_eq!(sorted(&index, "anchor:链接"), [ml, tree, "http://c.cn/x", copy, en]);
    assert_eq!(sorted(&index, "\"gradient descent\""), [ml], "a phrase, not its words");
    assert_eq!(sorted(&index, "gradient descents"), [ml, en], "words, stemmed");
    assert_eq!(sorted(&index, "title:决策树"), [tree, copy]);
    assert_eq!(sorted(&index, "决策树 -转载"), [tree]);
    assert_eq!(sorted(&index, "host:b.cn"), [tree, copy, en]);
    assert_eq!(sorted(&index, "host:b.cn:81"), [tree]);
    assert_eq!(sorted(&index, "-host:b.cn 学习"), [home, ml, "http://c.cn/x"]);
    assert_eq!(sorted(&index, "date:2021"), [ml]);
    assert_eq!(sorted(&index, "before:2020"), [tree, copy]);
    assert_eq!(sorted(&index, "lang:en"), [en]);
    assert_eq!(sorted(&index, "relevant:yes 决策树"), [tree, copy]);
    assert_eq!(sorted(&index, "").len(), 6, "no word leaves out no page");
    let loose = ask(&index, "机器学习 mountains");
    assert!(loose.loosened == Some(Loosened::Some) && loose.pages == 6, "{loose:?}");
    for (query, found, loosened) in [
        ("机器学习 回归", &[tree, copy][..], None),
        ("法之一", &[tree, copy], None),
        ("律常", &[ml], None),
        ("学习算法", &[tree, copy], Some(Loosened::Words)),
        ("游泳器械", &["http://c.cn/x"], Some(Loosened::Words)),
        ("学习 器械", &["http://c.cn/x"], None),
        ("title:足球决策树", &[tree], Some(Loosened::Words)),
        ("决策树 OR 法从数", &[tree, copy], None),
    ] {
        assert_eq!(
            (sorted(&index, query), ask(&index, query).loosened),
            (found.iter().map(|url| (*url).to_owned()).collect(), loosened),
            "{query}"
        );
    }
    assert_eq!(sorted(&index, "决策树 -学习的算法").len(), 0, "the string is excluded");
    assert_eq!(sorted(&index, "决策树 -学习算法"), [tree, copy], "not its words");
    assert_eq!(ask(&index, "学习器械").loosened, Some(Loosened::Some), "too far apart to be a compound");
    for nothing in ["不存在的词汇表", "\"学习机器\"", "date:1999", "host:cn.b"] {
        assert_eq!(ask(&index, nothing).hits, [], "{nothing}");
    }
}

#[test]
fn a_string_counts_and_not_its_words_and_stubs_come_last() {
    let root = tempfile::tempdir().unwrap();
    let store = crawl(
        &root.path().join("crawl"),
        &[
            ("http://a.cn/", "<title>待定</title><p>核函数 待更新</p>"),
            ("http://a.cn/1", "<title>损失函数</title><p>函数和函数，也有核函数的函数，与别的函数一样。</p>"),
            ("http://a.cn/2", "<title>向量机</title><p>核函数怎么选？高斯核函数和多项式核函数最常用。</p>"),
        ],
    );
    let index = made(&store, &root.path().join("index"));
    let answer = ask(&index, "核函数");
    assert_eq!(urls(&answer), ["http://a.cn/2", "http://a.cn/1", "http://a.cn/"]);
    assert!(answer.hits.iter().all(|hit| hit.title_marks.is_empty()), "{answer:?}");
    let filter = Filter { documents: true, ..Filter::default() };
    let request = Request { query: "核函数".to_owned(), limit: 10, filter, ..Request::default() };
    assert_eq!(index.search(&request).unwrap().pages, 2);
}

#[test]
fn matching_gives_every_page_in_order_of_fetching() {
    let root = tempfile::tempdir().unwrap();
    let store = crawl(&root.path().join("crawl"), &PAGES);
    let index = made(&store, &root.path().join("index"));
    let matched = index.matching("决策树").unwrap();
    let pages: Vec<(u64, &str, bool)> =
        matched.iter().map(|page| (page.page, page.url.as_str(), page.relevant)).collect();
    assert_eq!(pages, [(2, "http://b.cn:81/tree", true), (4, "http://x.b.cn/copy", true)]);
    assert_eq!(index.matching("机器学习 mountains").unwrap(), [], "all the words");
    assert_eq!((index.origin().pages, index.origin().fetched, index.origin().batches), (6, 6, store.len()));
}

#[test]
fn repeats_are_folded_and_filters_hold() {
    let root = tempfile::tempdir().unwrap();
    let store = crawl(&root.path().join("crawl"), &PAGES);
    let index = made(&store, &root.path().join("index"));
    let with = |filter: Filter| {
        index
            .search(&Request { query: "决策树".to_owned(), limit: 10, filter, explain: true, ..Request::default() })
            .unwrap()
    };
    let folded = with(Filter { duplicates: DuplicatePolicy::Best, ..Filter::default() });
    assert_eq!((folded.pages, folded.duplicates, folded.hits[0].duplicates), (1, 1, 1));
    let narrowed = |conditions: &str| {
        let mut filter = Filter::default();
        filter.add(conditions).unwrap();
        with(filter)
    };
    let (tree, copy) = ("http://b.cn:81/tree", "http://x.b.cn/copy");
    for (conditions, found) in [
        ("host:x.b.cn", vec![copy]),
        ("-host:x.b.cn", vec![tree]),
        ("date:..2020-12-30", vec![]),
        ("chars:500..", vec![]),
        ("relevance:..0.01", vec![]),
        ("lang:en -lang:zh", vec![]),
    ] {
        assert_eq!(urls(&narrowed(conditions)), found, "{conditions}");
    }
    assert_eq!(narrowed("relevant:yes chars:..499 fetched:2020.. lang:zh,en").pages, 2);
    let all = with(Filter::default());
    assert_eq!((all.facets.relevant, all.facets.off_topic), (2, 0));
    assert_eq!(all.facets.years, [(Some(2020), 2)]);
    assert_eq!(all.facets.hosts, [("b.cn:81".to_owned(), 1), ("x.b.cn".to_owned(), 1)]);
    let hit = &all.hits[0];
    let sum: f32 = hit.why.iter().map(|share| share.bm25).sum();
    assert!((hit.score - sum * (1.0 + 0.5 * hit.page.relevance)).abs() < 1e-4, "{hit:?}");
    assert_eq!(hit.title_marks, [[0, 3]]);
    let steps: Vec<String> = index.path(&hit.page).unwrap().into_iter().map(|step| step.url).collect();
    assert_eq!(steps, ["http://a.cn/", &hit.page.url]);
}

#[test]
fn an_index_takes_the_place_of_a_former_one_and_of_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let store = crawl(&root.path().join("crawl"), &PAGES);
    let path = root.path().join("index");
    let first = made(&store, &path);
    let second = made(&store, &path);
    assert_eq!(ask(&first, "决策树"), ask(&second, "决策树"), "the former one is read on");
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 2, "nothing else is left");
    let other = root.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("mine.txt"), "x").unwrap();
    let catalogue = Catalogue::read(&store).unwrap();
    let chosen = Filter::default().select(&catalogue);
    assert!(matches!(build(&store, &catalogue, &chosen, &other, None, &|| {}), Err(IndexError::InTheWay(_))));
    assert!(other.join("mine.txt").exists());
    assert!(matches!(Index::open(&other), Err(IndexError::Missing(_))));
    std::fs::write(path.join("meta.json"), "{").unwrap();
    assert!(Index::open(&path).is_err());
}

#[test]
fn an_index_that_was_tampered_with_is_an_error_and_no_panic() {
    let root = tempfile::tempdir().unwrap();
    let store = crawl(&root.path().join("crawl"), &PAGES);
    let path = root.path().join("index");
    drop(made(&store, &path));
    let request = Request { query: "学习".to_owned(), limit: 10, explain: true, ..Request::default() };
    let (mut refused, mut answered) = (0, 0);
    for entry in std::fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        // The engine accepts any lengths in other files and allocates memory for them at once.
        if !file.extension().is_some_and(|extension| ["term", "idx", "json"].iter().any(|own| extension == *own)) {
            continue;
        }
        let whole = std::fs::read(&file).unwrap();
        for at in (0..whole.len()).step_by((whole.len() / 16).max(1)) {
            for byte in [0, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                std::fs::write(&file, bytes).unwrap();
                let requested = Index::open(&path).and_then(|index| {
                    index.matching("决策树 OR title:descent")?;
                    index.terms(5)?;
                    index.search(&request)
                });
                *(if requested.is_ok() { &mut answered } else { &mut refused }) += 1;
            }
        }
        std::fs::write(&file, whole).unwrap();
    }
    assert!(refused > 0 && answered > 0, "{refused} refused, {answered} answered");
    assert_eq!(ask(&Index::open(&path).unwrap(), "学习").hits.len(), 5, "as it was");
}

#[test]
fn extracted_values_are_found_by_value_range_and_word_and_counted() {
    let root = tempfile::tempdir().unwrap();
    let page = |price: &str, brand: &str, day: &str| {
        format!("<title>足球</title><p>足球 比赛 <b>{price}</b> <i>{brand}</i> <u>{day}</u></p>")
    };
    let pages =
        [page("￥99.5", "隧道 体育", "2021-03-05"), page("1,200 元", "Go", "2022-01-01"), page("议价", "Go", "")];
    let urls = ["http://a.cn/1", "http://a.cn/2", "http://b.cn/3"];
    let pages: Vec<(&str, &str)> = urls.iter().copied().zip(pages.iter().map(String::as_str)).collect();
    let store = crawl(root.path(), &pages);
    let catalogue = Catalogue::read(&store).unwrap();
    let rules = "[[fields]]\nname = 'price'\nselect = 'b'\ntype = 'number'\n[[fields]]\nname = 'Brand'\nselect = 'i'\n\
                 [[fields]]\nname = 'day'\nselect = 'u'\ntype = 'date'";
    let extractor = suidao_extract::Extractor::parse(rules).unwrap();
    let path = root.path().join("index");
    let chosen = Filter::default().select(&catalogue);
    build(&store, &catalogue, &chosen, &path, Some(&extractor), &|| {}).unwrap();
    let index = Index::open(&path).unwrap();
    assert_eq!(index.origin().rules.as_deref(), Some(rules));
    let found = |query: &str| -> Vec<String> {
        let request = Request { query: query.to_owned(), limit: 10, ..Request::default() };
        let mut urls: Vec<String> = index.search(&request).unwrap().hits.into_iter().map(|hit| hit.page.url).collect();
        urls.sort();
        urls
    };
    for (query, pages) in [
        ("price:<100", &urls[..1]),
        ("price:<=99.5", &urls[..1]),
        ("price:>99.5", &urls[1..2]),
        ("price:99.5..1200", &urls[..2]),
        ("price:1200", &urls[1..2]),
        ("price:>=2000", &[]),
        ("brand:go", &urls[1..]),
        ("brand:体育", &urls[..1]),
        ("brand:\"隧道 体育\"", &urls[..1]),
        ("day:2021-01-01..2021-12-31", &urls[..1]),
        ("brand:go -price:>0", &urls[2..]),
        ("足球 price:>0", &urls[..2]),
    ] {
        assert_eq!(found(query), pages, "{query}");
    }
    let all = index.search(&Request { limit: 10, ..Request::default() }).unwrap();
    assert_eq!(all.facets.extracted["Brand"], [("Go".to_owned(), 2), ("隧道 体育".to_owned(), 1)]);
    assert_eq!(all.facets.extracted.len(), 1, "texts are counted, not numbers and dates");
    let narrowed = index.with_value("足球", "Brand", "隧道 体育").unwrap();
    assert_eq!(found(&narrowed), &urls[..1], "{narrowed}");
    let first = all.hits.iter().find(|hit| hit.page.url == urls[0]).unwrap();
    assert_eq!(first.page.extracted["price"], 99.5);
    let rates: Vec<(String, u64)> = extractor.hit_rates().into_iter().map(|rate| (rate.host, rate.hits)).collect();
    assert_eq!(
        rates.iter().filter(|(host, _)| host == "b.cn").map(|(_, hits)| hits).sum::<u64>(),
        1,
        "the brand alone"
    );
}

#[test]
fn an_update_adds_only_what_is_new_or_changed_and_finds_as_a_new_index_does() {
    let root = tempfile::tempdir().unwrap();
    let (dir, path) = (root.path().join("crawl"), root.path().join("index"));
    let store = crawl(&dir, &PAGES[..4]);
    drop(made(&store, &path));
    drop(store);
    // The copy of a known page makes another the best of its group; the first page comes again with another text.
    let again = ("http://a.cn/", "<title>首页</title><p>羽毛球 门户网站 的 首页");
    let later: Vec<(&str, &str)> = PAGES[4..].iter().copied().chain([again]).collect();
    let store = crawl(&dir, &later);
    let catalogue = Catalogue::read(&store).unwrap();
    let all = Filter::default().select(&catalogue);
    let update = IndexBuild::new(&store, &catalogue, &all, &path, None).unwrap();
    assert!((2..=4).contains(&update.pages()), "{} of {} pages", update.pages(), all.pages);
    let added = std::sync::atomic::AtomicU64::new(0);
    let count = || {
        added.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    update.run(&count).unwrap();
    assert_eq!(added.into_inner(), update.pages());
    let updated = Index::open(&path).unwrap();
    assert!(updated.origin().is_of(&store));
    let new = made(&store, &root.path().join("new"));
    for query in ["", "机器学习", "学习", "篮球", "羽毛球", "host:b.cn", "title:决策树", "relevant:yes"] {
        let [updated, new] = [&updated, &new].map(|index| ask(index, query));
        assert_eq!(urls(&updated), urls(&new), "{query}");
        assert!(updated.hits.iter().zip(&new.hits).all(|(one, other)| one.page == other.page), "{query}");
    }
    // The same again has nothing to add; after most pages have changed all are written.
    assert_eq!(IndexBuild::new(&store, &catalogue, &all, &path, None).unwrap().pages(), 0);
    let mut changed = catalogue.clone();
    changed.entries.iter_mut().take(4).for_each(|entry| entry.metadata_hash ^= 1);
    assert_eq!(IndexBuild::new(&store, &changed, &all, &path, None).unwrap().pages(), all.pages);
    std::fs::write(path.join("pages.fingerprints"), "x").unwrap();
    assert_eq!(IndexBuild::new(&store, &catalogue, &all, &path, None).unwrap().pages(), all.pages);
}
