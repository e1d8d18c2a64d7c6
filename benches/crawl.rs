//! A whole crawl over real HTTP on loopback: fetch, read, segment, score, frontier, durable store. A second process of
//! this binary serves the web, so that the crawler's processor time is measured alone.
//!
//! ```text
//! cargo bench --bench crawl                                        the generated web
//! SUIDAO_PROXY=http://127.0.0.1:8088 SUIDAO_SEEDS=FILE cargo bench --bench crawl      a web behind a proxy
//! ```
//!
//! Options: `SUIDAO_PAGES` (5,000), `SUIDAO_RUNS` (5), `SUIDAO_STRATEGY` (dth), `SUIDAO_IN_FLIGHT` (64).

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use suidao::config::Config;
use suidao::live::{self, Job};
use suidao::model::CrawlUrl;
use suidao::store::CrawlDirectory;
use suidao::topic::{Lexicon, Topic};
use suidao::world::{Proxied, SyntheticWeb, WebServer, WebSpec, topic_words};

/// For real pages: a small lexicon of machine learning.
const MACHINE_LEARNING: &str = "机器学习 深度学习 神经网络 人工智能 算法 模型 训练 数据集 分类 回归 聚类 卷积 梯度 梯度下降 损失函数 \
    特征 过拟合 正则化 决策树 随机森林 支持向量机 强化学习 自然语言处理 计算机视觉 注意力 反向传播 线性回归 逻辑回归 贝叶斯 \
    预测 样本 参数 优化 learning machine deep neural network model training tensorflow pytorch keras cnn rnn lstm transformer \
    bert gpt embedding gradient loss dataset sklearn";

fn spec() -> WebSpec {
    WebSpec { pages: 40_000, hosts: 400, islands: 60, ..WebSpec::default() }
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn main() {
    if env::args().any(|argument| argument == "serve") {
        return serve();
    }
    let pages = number("SUIDAO_PAGES", 5_000);
    let runs = number("SUIDAO_RUNS", 5);
    let given = env::var("SUIDAO_PROXY").ok();
    let mut server = None;
    let (proxy, seeds, topic) = match &given {
        Some(proxy) => {
            let path =
                env::var("SUIDAO_SEEDS").expect("SUIDAO_SEEDS names a file of seeds for the web of SUIDAO_PROXY");
            let seeds = std::fs::read_to_string(path).expect("the seeds can be read");
            let seeds = seeds.lines().map(|line| CrawlUrl::parse(line).expect("a seed is a URL")).collect();
            let terms: Vec<(&str, f64)> = MACHINE_LEARNING.split_whitespace().map(|word| (word, 1.0)).collect();
            (proxy.clone(), seeds, Topic::new(Lexicon::from_terms("机器学习", &terms)))
        }
        None => {
            let binary = env::current_exe().expect("this program has a path");
            let child = Command::new(binary).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut child = child.expect("this program can be started again");
            let mut proxy = String::new();
            let output = child.stdout.take().expect("piped");
            BufReader::new(output).read_line(&mut proxy).expect("the server prints its address");
            server = Some(child);
            let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
            let seeds = SyntheticWeb::new(spec()).expect("a web").seeds();
            (proxy.trim().to_owned(), seeds, Topic::new(Lexicon::from_terms("体育", &words)))
        }
    };
    let topic = Arc::new(topic);
    suidao::text::cut("预热", |_| ());
    let mut config = Config::default();
    if let Ok(strategy) = env::var("SUIDAO_STRATEGY") {
        let path = tempfile::NamedTempFile::new().expect("a file");
        config = Config::load(Some(path.path()), &[format!("strategy.name={strategy}")]).expect("a strategy");
    }
    config.limits.pages = Some(pages);
    config.politeness.delay = 0.0;
    config.crawl.in_flight = usize::try_from(number("SUIDAO_IN_FLIGHT", 64)).expect("a number");
    config.fetch.proxy = Some(proxy);
    config.fetch.contact = Some("suidao bench on loopback".to_owned());

    println!("{pages} pages, {}, {} in flight", config.strategy.label(), config.crawl.in_flight);
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for run in 1..=runs {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let directory = CrawlDirectory::new(scratch.path().join("crawl"));
        let job = Job::new(Arc::clone(&topic), Clone::clone(&seeds), config.clone(), directory);
        let (cpu, begun) = (process::cpu_seconds(), Instant::now());
        let report = live::run(&job, |_| {}, std::future::pending()).expect("the crawl runs");
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), process::cpu_seconds() - cpu);
        let fetched = report.pages_now as f64;
        println!(
            "run {run}: {fetched} pages, {} relevant, {} known: {:.0} pages/s, {:.3} CPU-s of the crawler per 1,000 pages, {:.2} cores",
            report.progress.relevant,
            report.progress.known,
            fetched / wall,
            cpu / fetched * 1e3,
            cpu / wall,
        );
        rates.push(wall / fetched);
        costs.push(cpu / fetched * 1e3);
    }
    let (best, median) = process::best_and_median(rates);
    println!("pages/s: best {:.0}, median {:.0}", 1.0 / best, 1.0 / median);
    let (best, median) = process::best_and_median(costs);
    println!("CPU-s of the crawler per 1,000 pages: best {best:.3}, median {median:.3}");
    println!("memory at the end: {} MB", process::resident() >> 20);
    if let Some(mut server) = server {
        drop(server.stdin.take());
        server.wait().expect("the server ends");
    }
}

/// Serves the generated web until the standard input ends, which happens when the parent process exits.
fn serve() {
    let world = SyntheticWeb::new(spec()).expect("a web");
    let server = WebServer::start(Arc::new(Proxied(world))).expect("a port on loopback");
    println!("{}", server.proxy());
    std::io::stdout().flush().expect("the parent listens");
    let _ = std::io::stdin().read(&mut [0]);
}
