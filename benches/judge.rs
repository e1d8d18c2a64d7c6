//! Measures how well lexicons separate pages of a topic from others, on hosts that they were not learnt from, and how
//! well scores of links predict the relevance of their targets. The truth is what authors of recorded webs filed under
//! a topic. For each topic the hosts are split into halves; a lexicon learnt from pages of one half is tested on the
//! other, both ways.
//!
//! ```sh
//! cargo bench --bench judge -- SHARED WEB WEB2 [METHOD[:BACKGROUND[:SAMPLES]] ...]
//! ```
//!
//! SHARED has `web` and `web2` with their truth; WEB and WEB2 are the unpacked webs. METHOD is `linear`, `lift`,
//! `textrank` or `keywords` (ten words alone), followed by `+keywords` (`linear` with the words), `+labelsN` (then N
//! labelled pages of the tested hosts near the threshold; these are not tested), `+links` (judges links). BACKGROUND is
//! `own` (default: up to 150 pages of each host of the samples), `ownN` (N of these in total), `homeN` (the first N
//! pages of each host, breadth first from its home page), `others` (300 pages of hosts without samples), `both` (`own`
//! and `others`) or `none`. SAMPLES is 60 by default, at most 15 per host.
//!
//! What authors file under a topic is not what a reader calls on topic, and a judge that reads tags learns to guess the
//! former. So each method is also compared with the documents of SHARED/judge/readings.tsv, which were read blind: on
//! how many its verdict is the reader's, and how many of the others than the first method's are right and wrong. For
//! that every method accepts as many documents as the first. (`suidao topic compare` does this for two lexicons and a
//! crawl.)
//!
//! Columns for pages: average precision on all pages, on documents, on documents with their tags hidden; F1 at the
//! lexicon's threshold on documents, and the highest F1; precision and recall on documents as expected by the lexicon
//! and as measured, both for one page in 20 on topic; precision and recall as they are, and on a thousand documents as a
//! crawl by the ten words might fetch: the best half and some of all others. For links:
//! number of URL tokens and near terms; precision at a recall of .5 by chance, by anchor, context, URL, near terms, and
//! all together; of all at .25 and .75, average precision, and how many times chance it is at .5.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs)] // a bench may

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rayon::prelude::*;
use suidao::model::{CrawlUrl, Fetched, Relevance};
use suidao::topic::{
    Background, LearnOptions, Lexicon, Method, Sample, Topic, evaluate, evaluate_links, grow, learn,
    learn_from_keywords, learn_from_labels,
};

const SAMPLES: usize = 60;
const SAMPLES_A_HOST: usize = 15;
const BACKGROUND_A_HOST: usize = 150;
const OTHERS: usize = 300;
const LINKS_A_SAMPLE: usize = 10;
/// Documents of a crawl that its keywords learn from.
const CRAWLED: usize = 1_000;
/// Pages of a host whose links are judged.
const LISTINGS_A_HOST: usize = 60;
/// One page in so many that are not on topic is judged, and counts for all of them.
const OFF_TOPIC: usize = 4;
/// A half needs so many pages on topic to learn from or to be tested on.
const LEAST: usize = 20;

const KEYWORDS: [(&str, &str); 11] = [
    ("ml", "机器学习 深度学习 神经网络 模型 算法 训练 数据集 自然语言处理 pytorch 特征"),
    ("literature", "文学 小说 诗歌 散文 作家 读书 书评 诗人 故事 阅读"),
    ("sports", "体育 足球 篮球 比赛 跑步 马拉松 健身 球队 运动 骑行"),
    ("security", "安全 漏洞 渗透 攻击 ctf 注入 木马 逆向 加密 黑客"),
    ("database", "数据库 mysql 索引 事务 sql redis 查询 存储引擎 主从 postgresql"),
    ("frontend", "前端 javascript css html vue react webpack 浏览器 组件 typescript"),
    ("linux_ops", "linux 运维 docker 服务器 部署 nginx kubernetes shell 监控 centos"),
    ("finance", "金融 投资 股票 基金 理财 经济 银行 市场 交易 债券"),
    ("law_medicine", "法律 医学 医院 律师 疾病 治疗 法院 药物 健康 合同"),
    ("travel_food_life", "旅行 旅游 美食 景点 酒店 生活 餐厅 游记 航班 咖啡"),
    ("algorithms", "算法 leetcode 动态规划 二叉树 排序 链表 数据结构 贪心 回溯 题解"),
];

const OF_PAGES: [&str; 13] = [
    "AP", "AP doc", "hidden", "F1", "best F1", "exp. P", "meas. P", "exp. R", "P", "R", "share on", "P crawl",
    "R crawl",
];
const OF_LINKS: [&str; 12] =
    ["tokens", "near", "chance", "anchor", "context", "url", "near", "all", "at .25", "at .75", "AP", "gain"];

struct Page {
    key: String,
    sample: Sample,
    /// Without its tags.
    untagged: Sample,
}

/// Documents that were read: by web, topic and key, whether they are on topic.
type Readings = HashMap<(String, String, String), bool>;

fn readings(shared: &Path) -> Readings {
    let Ok(text) = std::fs::read_to_string(shared.join("judge/readings.tsv")) else { return Readings::new() };
    let row = |line: &str| {
        let [web, page, topic, _, read] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let (host, path) = page.split_once('/')?;
        let web = if web == "dev" { "web" } else { "web2" };
        Some(((web.to_owned(), topic.to_owned(), label_key(host, &format!("/{path}"))), read == "1"))
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// A method's verdicts on the documents that were read.
#[derive(Default)]
struct ReadVerdicts {
    /// By web, topic, half: documents accepted.
    accepted: Vec<(String, usize)>,
    /// By web, topic and key: whether it is accepted, and whether it is on topic.
    verdicts: BTreeMap<(String, String, String), (bool, bool)>,
}

impl ReadVerdicts {
    fn print(&self, first: &Self) {
        if self.verdicts.is_empty() {
            return;
        }
        let right = self.verdicts.values().filter(|(accepted, on)| accepted == on).count();
        let differing: Vec<(bool, bool)> = self
            .verdicts
            .iter()
            .filter(|(key, (accepted, _))| first.verdicts.get(*key).is_some_and(|(other, _)| other != accepted))
            .map(|(_, verdict)| *verdict)
            .collect();
        let better = differing.iter().filter(|(accepted, on)| accepted == on).count();
        println!(
            "of {} documents read blind {right} are judged as read; where the first method differs, {better} right and {} wrong",
            self.verdicts.len(),
            differing.len() - better
        );
    }
}

struct Web {
    name: &'static str,
    hosts: BTreeMap<String, Vec<usize>>,
    pages: Vec<Page>,
    topics: Vec<(String, HashSet<String>)>,
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "html" || extension == "htm") {
            found.push(path);
        }
    }
}

/// What the webs' labels are compared by.
fn label_key(host: &str, path: &str) -> String {
    let path = path.split(['#', '?']).next().unwrap();
    let path = path.strip_suffix("index.html").unwrap_or(path).trim_end_matches('/');
    format!("{}{}", host.to_lowercase(), path.strip_suffix(".html").unwrap_or(path))
}

fn unquoted(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn read_page(root: &Path, file: &Path) -> Option<Page> {
    let name = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    let (host, path) = name.split_once('/')?;
    let escaped = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    let url =
        CrawlUrl::parse(&format!("http://{host}/{}", escaped.strip_suffix("index.html").unwrap_or(&escaped))).ok()?;
    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
    let body = Bytes::from(std::fs::read(file).unwrap());
    let sample = Sample::from_fetched(&Fetched::new(url, 200, headers, body));
    let mut untagged = sample.clone();
    untagged.document.links.clear();
    Some(Page { key: label_key(host, &format!("/{path}")), sample, untagged })
}

fn read_web(name: &'static str, truth: &Path, root: &Path) -> Web {
    let root = root.join("hosts");
    let mut found = Vec::new();
    files(&root, &mut found);
    let pages: Vec<Page> = found.par_iter().filter_map(|file| read_page(&root, file)).collect();
    let mut hosts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, page) in pages.iter().enumerate() {
        hosts.entry(page.sample.host.clone()).or_default().push(number);
    }
    let mut lists: Vec<PathBuf> = std::fs::read_dir(truth).unwrap().map(|entry| entry.unwrap().path()).collect();
    lists.sort();
    let topics = lists.iter().map(|list| {
        let name = list.file_stem().unwrap().to_string_lossy().split_once('.').unwrap().1.to_owned();
        let text = std::fs::read_to_string(list).unwrap();
        let keys = text.lines().filter_map(|line| line.split_once("://")?.1.split_once('/'));
        (name, keys.map(|(host, path)| label_key(host, &format!("/{}", unquoted(path)))).collect())
    });
    Web { name, topics: topics.collect(), hosts, pages }
}

/// `most` of these, evenly drawn.
fn some<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    let taken = most.min(all.len());
    (0..taken).map(|at| all[at * all.len() / taken]).collect()
}

/// Hosts divided into halves, those with the most pages on topic first.
fn halves(web: &Web, truth: &HashSet<String>) -> [Vec<String>; 2] {
    let on = |host: &String| web.hosts[host].iter().filter(|&&page| truth.contains(&web.pages[page].key)).count();
    let mut hosts: Vec<(usize, &String)> = web.hosts.keys().map(|host| (on(host), host)).collect();
    hosts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let mut halves = [Vec::new(), Vec::new()];
    for (at, (_, host)) in hosts.into_iter().enumerate() {
        // 0 1 1 0 0 1 1 0 ...
        halves[at.div_ceil(2) % 2].push(host.clone());
    }
    halves
}

struct Trial<'a> {
    web: &'a Web,
    topic: &'a str,
    truth: &'a HashSet<String>,
    learnt: &'a [String],
    tested: &'a [String],
}

impl Trial<'_> {
    fn on_topic(&self, page: usize) -> bool {
        self.truth.contains(&self.web.pages[page].key)
    }

    fn lexicon(&self, method: &str, background: &str, samples: usize) -> Option<Lexicon> {
        let sample = |page: usize| self.web.pages[page].sample.clone();
        let mut chosen: Vec<usize> = Vec::new();
        for host in self.learnt {
            let on: Vec<usize> = self.web.hosts[host]
                .iter()
                .copied()
                .filter(|&page| self.on_topic(page) && !self.web.pages[page].sample.listing)
                .collect();
            chosen.extend(some(&on, SAMPLES_A_HOST));
        }
        if chosen.len() < LEAST {
            return None;
        }
        let chosen = some(&chosen, samples);
        let own: HashSet<usize> = chosen.iter().copied().collect();
        let hosts: HashSet<&str> = chosen.iter().map(|&page| self.web.pages[page].sample.host.as_str()).collect();
        let mut others: Vec<usize> = Vec::new();
        let by_url: HashMap<&CrawlUrl, usize> =
            self.web.pages.iter().enumerate().filter_map(|(at, page)| Some((page.sample.url.as_ref()?, at))).collect();
        if let Some(most) = background.strip_prefix("home") {
            for host in self.learnt.iter().filter(|host| hosts.contains(host.as_str())) {
                let Ok(home) = CrawlUrl::parse(&format!("http://{host}/")) else { continue };
                let mut queue: Vec<usize> = by_url.get(&home).copied().into_iter().collect();
                let mut seen: HashSet<usize> = queue.iter().copied().collect();
                let mut at = 0;
                while at < queue.len().min(most.parse().unwrap()) {
                    let links = &self.web.pages[queue[at]].sample.document.links;
                    queue.extend(
                        links
                            .iter()
                            .filter_map(|link| by_url.get(&link.url))
                            .filter(|&&page| self.web.pages[page].sample.host == *host && seen.insert(page)),
                    );
                    at += 1;
                }
                others.extend(queue.into_iter().take(at).filter(|page| !own.contains(page)));
            }
        } else if background == "links" {
            let mut seen = HashSet::new();
            for &page in &chosen {
                let sample = &self.web.pages[page].sample;
                let linked = sample.document.links.iter().filter(|link| link.url.host() == sample.host);
                let linked: Vec<usize> = linked
                    .filter_map(|link| by_url.get(&link.url).copied())
                    .filter(|page| !own.contains(page) && seen.insert(*page))
                    .collect();
                others.extend(some(&linked, LINKS_A_SAMPLE));
            }
        } else if background == "others" {
            for host in self.learnt.iter().filter(|host| !hosts.contains(host.as_str())) {
                others.extend(some(&self.web.hosts[host], 20));
            }
            others = some(&others, OTHERS);
        } else if background == "both" {
            for host in self.learnt {
                let most = if hosts.contains(host.as_str()) { BACKGROUND_A_HOST } else { 20 };
                let pages: Vec<usize> =
                    self.web.hosts[host].iter().copied().filter(|page| !own.contains(page)).collect();
                others.extend(some(&pages, most));
            }
        } else if let Some(most) = background.strip_prefix("own") {
            for host in self.learnt.iter().filter(|host| hosts.contains(host.as_str())) {
                let pages: Vec<usize> =
                    self.web.hosts[host].iter().copied().filter(|page| !own.contains(page)).collect();
                others.extend(some(&pages, BACKGROUND_A_HOST));
            }
            if !most.is_empty() {
                others = some(&others, most.parse().unwrap());
            }
        } else {
            assert_eq!(background, "none");
        }
        let background = if others.is_empty() {
            Background::built_in()
        } else {
            Background::from_samples(others.into_iter().map(sample).collect())
        };
        let keywords = self.keywords();
        let (name, with) = method.split_once('+').unwrap_or((method, ""));
        let learnt_by = match name {
            "lift" => Method::Lift,
            "textrank" => Method::TextRank,
            _ => Method::Linear,
        };
        let weighted = keywords.iter().map(|(word, _)| (word.clone(), 1.0));
        let options = LearnOptions {
            keywords: if with.starts_with("keywords") { weighted.collect() } else { Vec::new() },
            ..LearnOptions::new(self.topic, learnt_by)
        };
        if name == "keywords" {
            let lexicon = learn_from_keywords(&keywords, &background, &options).ok()?;
            return match with {
                "grow" => {
                    let documents: Vec<Sample> = self.crawled().into_iter().map(sample).collect();
                    grow(&lexicon, &documents, &options).ok().map(|grown| grown.learnt.lexicon)
                }
                _ => Some(lexicon),
            };
        }
        let samples: Vec<Sample> = chosen.into_iter().map(sample).collect();
        learn(&samples, &background, &options).ok().map(|learnt| learnt.lexicon)
    }

    fn keywords(&self) -> Vec<(String, Option<f64>)> {
        let words = KEYWORDS.iter().find(|(topic, _)| *topic == self.topic).unwrap().1.split(' ');
        words.map(|word| (word.to_owned(), None)).collect()
    }

    fn options(&self) -> LearnOptions {
        LearnOptions::new(self.topic, Method::Linear)
    }

    /// The tested documents with their relevance, the best first.
    fn ranked(&self, topic: &Topic) -> Vec<(Relevance, usize)> {
        let pages = self.tested.iter().flat_map(|host| &self.web.hosts[host]).copied();
        let documents: Vec<usize> = pages.filter(|&page| !self.web.pages[page].sample.listing).collect();
        let mut scored: Vec<(Relevance, usize)> = documents
            .par_iter()
            .map(|&page| (topic.score_page(&self.web.pages[page].sample.document).relevance, page))
            .collect();
        scored.sort_by(|a, b| b.0.get().total_cmp(&a.0.get()).then(a.1.cmp(&b.1)));
        scored
    }

    /// Documents as a crawl of the tested hosts by the keywords might fetch: half of them the best, half of all others.
    fn crawled(&self) -> Vec<usize> {
        let lexicon = learn_from_keywords(&self.keywords(), &Background::built_in(), &self.options());
        let scored = self.ranked(&Topic::new(lexicon.unwrap()));
        let (best, others) = scored.split_at(scored.len().min(CRAWLED / 2));
        let chosen = best.iter().copied().chain(some(others, CRAWLED / 2));
        chosen.map(|(_, page)| page).collect()
    }

    /// How well the scores of links predict whether the page that they lead to is on topic: the columns of
    /// [`OF_LINKS`].
    fn links(&self, lexicon: &Lexicon) -> Option<Vec<f64>> {
        let by_url: HashMap<&CrawlUrl, usize> =
            self.web.pages.iter().enumerate().filter_map(|(at, page)| Some((page.sample.url.as_ref()?, at))).collect();
        let pages = self.tested.iter().flat_map(|host| some(&self.web.hosts[host], LISTINGS_A_HOST));
        let pages: Vec<&Sample> = pages.map(|page| &self.web.pages[page].sample).collect();
        let found = evaluate_links(lexicon, &pages, |url| {
            let target = *by_url.get(url)?;
            (!self.web.pages[target].sample.listing).then(|| self.on_topic(target))
        });
        let chance = found.on_topic as f64 / found.links as f64;
        let mut row = vec![lexicon.url.len() as f64, lexicon.near.len() as f64, chance];
        row.extend(found.by_evidence.iter().map(|one| one.precision[1]));
        let together = found.by_evidence.last().unwrap();
        row.extend([together.precision[0], together.precision[2], together.average_precision]);
        row.push(together.precision[1] / chance);
        (found.on_topic >= LEAST).then_some(row)
    }

    /// Improves the lexicon by `labels` labelled documents of the tested hosts: half from those at or above the
    /// threshold, half from the tenth of all below it. Returns these pages too.
    fn with_labels(&self, lexicon: &Lexicon, labels: usize) -> (Lexicon, HashSet<usize>) {
        let topic = Topic::new(lexicon.clone());
        let scored = self.ranked(&topic);
        let (above, below) =
            scored.split_at(scored.partition_point(|(relevance, _)| *relevance >= topic.page_threshold()));
        let mut drawn = some(above, labels / 2);
        drawn.extend(some(&below[..below.len().min(scored.len() / 10)], labels - drawn.len()));
        let pages: Vec<(Sample, bool)> =
            drawn.iter().map(|&(_, page)| (self.web.pages[page].sample.clone(), self.on_topic(page))).collect();
        (learn_from_labels(lexicon, &pages).unwrap().lexicon, drawn.into_iter().map(|(_, page)| page).collect())
    }

    /// Judges the documents that were read, at the threshold at which as many of the tested documents are accepted as
    /// by the first method.
    fn read(&self, lexicon: &Lexicon, readings: &Readings, first: Option<&ReadVerdicts>, into: &mut ReadVerdicts) {
        let topic = Topic::new(lexicon.clone());
        let scored = self.ranked(&topic);
        let name = format!("{} {} {:?}", self.web.name, self.topic, self.tested.first());
        let own = scored.iter().filter(|(relevance, _)| *relevance >= topic.page_threshold()).count();
        let known = first.and_then(|first| first.accepted.iter().find(|(known, _)| *known == name));
        let accepted = known.map_or(own, |(_, accepted)| *accepted);
        into.accepted.push((name, accepted));
        for (rank, (_, page)) in scored.into_iter().enumerate() {
            let key = (self.web.name.to_owned(), self.topic.to_owned(), self.web.pages[page].key.clone());
            if let Some(&on) = readings.get(&key) {
                into.verdicts.insert(key, (rank < accepted, on));
            }
        }
    }

    fn row(&self, lexicon: Lexicon, labels: usize) -> Option<Vec<f64>> {
        let (lexicon, drawn) = if labels > 0 { self.with_labels(&lexicon, labels) } else { (lexicon, HashSet::new()) };
        let (expected, topic) = (lexicon.page.clone(), Topic::new(lexicon));
        let pages =
            self.tested.iter().flat_map(|host| &self.web.hosts[host]).copied().filter(|page| !drawn.contains(page));
        let (on, off): (Vec<usize>, Vec<usize>) = pages.partition(|&page| self.on_topic(page));
        if on.len() < LEAST {
            return None;
        }
        let judged: Vec<(usize, bool)> = on
            .into_iter()
            .map(|page| (page, true))
            .chain(off.into_iter().step_by(OFF_TOPIC).map(|page| (page, false)))
            .collect();
        let scored: Vec<(Relevance, Relevance)> = judged
            .par_iter()
            .map(|&(page, _)| {
                let page = &self.web.pages[page];
                (topic.score(&page.sample.document).relevance, topic.score(&page.untagged.document).relevance)
            })
            .collect();
        // Each off-topic page stands for OFF_TOPIC of them.
        let of = |documents: bool, tags: bool| {
            let mut list: Vec<(Relevance, bool)> = Vec::new();
            for (&(page, on), &(all, untagged)) in judged.iter().zip(&scored) {
                if !documents || !self.web.pages[page].sample.listing {
                    let relevance = if tags { all } else { untagged };
                    list.extend(std::iter::repeat_n((relevance, on), if on { 1 } else { OFF_TOPIC }));
                }
            }
            list
        };
        let at = topic.page_threshold();
        let documents = of(true, true);
        let (all, hidden) = (evaluate(&of(false, true), at), evaluate(&of(true, false), at));
        let found = evaluate(&documents, at);
        let crawled: Vec<(Relevance, bool)> = self
            .crawled()
            .into_par_iter()
            .map(|page| (topic.score_page(&self.web.pages[page].sample.document).relevance, self.on_topic(page)))
            .collect();
        let crawled = evaluate(&crawled, at);
        // Precision if one page in 20 were on topic, as the lexicon states it.
        let off = documents.iter().filter(|(_, on)| !on);
        let wrong = off.clone().filter(|(relevance, _)| *relevance >= at).count() as f64 / off.count() as f64;
        let recall = found.at.recall;
        let precision = if recall > 0.0 { recall / (recall + 19.0 * wrong) } else { 0.0 };
        Some(vec![
            all.average_precision,
            found.average_precision,
            hidden.average_precision,
            found.at.f1,
            found.best.f1,
            expected.precision.unwrap_or(f64::NAN),
            precision,
            expected.recall.unwrap_or(f64::NAN),
            found.at.precision,
            recall,
            found.on_topic as f64 / found.labelled as f64,
            crawled.at.precision,
            crawled.at.recall,
        ])
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [shared, web, web2, methods @ ..] = args.as_slice() else {
        println!("skipped: give SHARED WEB WEB2, see the head of benches/judge.rs");
        return;
    };
    let shared = Path::new(shared);
    let webs = [
        read_web("web", &shared.join("web/truth"), Path::new(web)),
        read_web("web2", &shared.join("web2/truth"), Path::new(web2)),
    ];
    for web in &webs {
        println!("{}: {} pages of {} hosts", web.name, web.pages.len(), web.hosts.len());
    }
    let methods: Vec<&str> = if methods.is_empty() {
        vec!["lift", "linear", "linear+keywords", "keywords", "keywords+labels30"]
    } else {
        methods.iter().map(String::as_str).collect()
    };
    let readings = readings(shared);
    let mut first: Option<ReadVerdicts> = None;
    for plan in methods {
        let mut read = ReadVerdicts::default();
        let mut fields = plan.split(':');
        let (method, background) = (fields.next().unwrap(), fields.next().unwrap_or("own"));
        let samples = fields.next().map_or(SAMPLES, |samples| samples.parse().unwrap());
        let of_links = method.contains("+links");
        let labels = method.split_once("+labels").map_or(0, |(_, count)| count.parse().unwrap());
        let heads: &[&str] = if of_links { &OF_LINKS } else { &OF_PAGES };
        let columns: String = heads.iter().map(|head| format!("{head:>8}")).collect();
        println!("\n{plan}\n{:<26}{columns}", "");
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for web in &webs {
            for (topic, truth) in &web.topics {
                let [one, other] = halves(web, truth);
                for (side, (learnt, tested)) in [(&one, &other), (&other, &one)].into_iter().enumerate() {
                    let trial = Trial { web, topic, truth, learnt, tested };
                    let Some(lexicon) = trial.lexicon(method, background, samples) else { continue };
                    if !of_links && labels == 0 {
                        trial.read(&lexicon, &readings, first.as_ref(), &mut read);
                    }
                    let row = if of_links { trial.links(&lexicon) } else { trial.row(lexicon, labels) };
                    let Some(row) = row else { continue };
                    let values: String = row.iter().map(|value| format!("{value:8.3}")).collect();
                    println!("{:<26}{values}", format!("{} {topic} {}", web.name, side + 1));
                    rows.push(row);
                }
            }
        }
        let mean = |column: usize| {
            let values: Vec<f64> = rows.iter().map(|row| row[column]).filter(|value| !value.is_nan()).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let means: String = (0..heads.len()).map(|column| format!("{:8.3}", mean(column))).collect();
        println!("{:<26}{means}", format!("mean of {}", rows.len()));
        read.print(first.as_ref().unwrap_or(&read));
        if first.is_none() && !read.verdicts.is_empty() {
            first = Some(read);
        }
    }
}
