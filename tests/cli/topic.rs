//! `suidao topic`: a lexicon from each kind of source, and its quality on labelled pages.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Stage, finite, run, suidao};
use suidao::topic::Lexicon;
use suidao::world::ServerOptions;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stage() -> Stage {
    Stage::new(finite(), ServerOptions { log: true, ..ServerOptions::default() })
}

/// Writes sample pages, a folder per host, and returns the lines of their labels.
pub fn write_pages(folder: &Path, pages: Vec<(suidao::model::CrawlUrl, String)>, label: &str) -> String {
    let mut labels = String::new();
    for (at, (url, html)) in pages.into_iter().enumerate() {
        let name = format!("{}/{at}.html", url.host());
        let file = folder.join(&name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, html).unwrap();
        labels += &format!("{name}\t{label}\n");
    }
    labels
}

fn build(stage: &Stage, output: &str, more: &[&str]) -> Command {
    let mut command = suidao();
    command.args(["topic", "build", "--name", "体育", "-o", text(&stage.path(output))]).args(more);
    command
}

fn lexicon(stage: &Stage, name: &str) -> Lexicon {
    Lexicon::parse(&fs::read_to_string(stage.path(name)).unwrap()).unwrap()
}

#[test]
fn from_the_documents_of_a_crawl() {
    let stage = stage();
    let crawl = stage.path("crawl");
    run(stage.crawl("crawl", &["--max-pages", "250"])).expect(0);
    let crawl = text(&crawl);
    let topic: Vec<&str> = suidao::world::topic_words().collect();
    run(build(&stage, "relevant.toml", &["--crawl", crawl, "--relevant"])).expect(0);
    let learnt = lexicon(&stage, "relevant.toml");
    let known = learnt.terms.iter().take(20).filter(|(term, _)| topic.contains(&term.as_str())).count();
    assert!(known >= 5, "{known} of the first 20 terms are the topic's: {:?}", &learnt.terms[..20]);
    assert_eq!(learnt.provenance.sources, ["crawl"]);
    run(build(&stage, "all.toml", &["--crawl", crawl])).expect(0);
    assert!(lexicon(&stage, "all.toml").provenance.pages > learnt.provenance.pages);

    // The report names terms of the topic that a shorter lexicon lacks.
    let short: Vec<(&str, f64)> = topic.iter().take(3).map(|word| (*word, 1.0)).collect();
    fs::write(stage.path("short.toml"), Lexicon::from_terms("体育", &short).to_toml()).unwrap();
    let command = |words: &[&str]| {
        let mut command = suidao();
        command.args(words);
        run(command)
    };
    command(&["rescore", crawl, "-m", text(&stage.path("short.toml")), "--page-threshold", "0.02"]).expect(0);
    let report: serde_json::Value = serde_json::from_str(&command(&["report", crawl, "--json"]).expect(0).out).unwrap();
    let suggested: Vec<&str> =
        report["suggested_terms"].as_array().unwrap().iter().map(|term| term.as_str().unwrap()).collect();
    assert!(suggested.iter().filter(|term| topic.contains(term)).count() >= 3, "{suggested:?}");
    assert!(short.iter().all(|(term, _)| !suggested.contains(term)), "{suggested:?}");

    // The pages of a crawl are tested by labels of their URLs, in any charset.
    let urls = suidao::store::CrawlDirectory::new(stage.path("crawl"));
    let store = suidao::store::Store::open(&urls).unwrap();
    let found = store.batches().flat_map(|record| record.unwrap().batch.events).filter_map(|event| match event {
        suidao::model::Event::Discovered(found) => Some(found.url),
        _ => None,
    });
    let labels: String = found.enumerate().map(|(at, url)| format!("{url}\t{}\n", at % 2)).collect();
    let labels = encoding_rs::GBK.encode(&format!("# 标注\n{labels}")).0.into_owned();
    fs::write(stage.path("labels.tsv"), labels).unwrap();
    let (relevant, labels) = (stage.path("relevant.toml"), stage.path("labels.tsv"));
    let tested = command(&["topic", "test", "-m", text(&relevant), "--pages", crawl, "--labels", text(&labels)]);
    assert!(tested.expect(0).out.contains("labelled pages"));
    let learn = ["topic", "learn", text(&relevant), "--labels", text(&labels), "--pages", crawl, "-o"];
    let refused = command(&[&learn[..], &[text(&stage.path("all.toml"))]].concat()).expect(2);
    assert!(refused.err.contains("already exists") && refused.err.contains("--force"), "{}", refused.err);
    command(&[&learn[..], &[text(&stage.path("new.toml"))]].concat()).expect(0);
    command(&[&learn[..], &[text(&stage.path("all.toml")), "--force"]].concat()).expect(0);

    let none = stage.path("none");
    assert!(run(build(&stage, "x.toml", &["--crawl", text(&none)])).expect(2).err.contains("none"));
    run(build(&stage, "x.toml", &["--relevant", "--pages", crawl])).expect(2);
}

#[test]
fn from_pages_and_tested_on_others() {
    let stage = stage();
    let (samples, background, others) = (stage.path("samples"), stage.path("background"), stage.path("others"));
    let world = &stage.world;
    write_pages(&samples, world.sample_pages(40), "1");
    write_pages(&background, world.background_pages(120), "0");
    let ended =
        run(build(&stage, "sports.toml", &["--pages", text(&samples), "--background", text(&background)])).expect(0);
    assert!(ended.out.contains("40 sample pages"), "{}", ended.out);
    let learnt = lexicon(&stage, "sports.toml");
    let topic: Vec<&str> = suidao::world::topic_words().collect();
    let known = learnt.terms.iter().take(20).filter(|(term, _)| topic.contains(&term.as_str())).count();
    assert!(known >= 12, "{known} of the first 20 terms are the topic's: {:?}", &learnt.terms[..20]);
    let written = fs::read_to_string(stage.path("sports.toml")).unwrap();
    assert!(written.contains("Delete those that do not lead there."), "the URL tokens are suggestions");
    assert!(learnt.page.precision.is_some() && learnt.page.recall.is_some());

    // Other pages than the lexicon was learnt from: those after the first 40 and 120.
    let mut labels = write_pages(&others.join("on"), world.sample_pages(70).split_off(40), "1");
    labels = labels.lines().map(|line| format!("on/{line}\n")).collect();
    let off = write_pages(&others.join("off"), world.background_pages(200).split_off(120), "0");
    labels += &off.lines().map(|line| format!("off/{line}\n")).collect::<String>();
    fs::write(stage.path("labels.tsv"), labels).unwrap();
    let mut test = suidao();
    test.args(["topic", "test", "-m", text(&stage.path("sports.toml")), "--pages", text(&others)]);
    test.args(["--labels", text(&stage.path("labels.tsv"))]);
    let ended = run(test).expect(0);
    assert!(
        ended.out.contains("precision") && ended.out.contains("recall") && ended.out.contains("F1"),
        "{}",
        ended.out
    );
    assert!(ended.out.lines().filter(|line| line.contains(".html")).count() >= 110, "a line a page: {}", ended.out);

    let paper = ["--pages", text(&samples), "--background", text(&background), "--method", "textrank"];
    run(build(&stage, "paper.toml", &paper)).expect(0);
    assert_ne!(lexicon(&stage, "paper.toml").terms, learnt.terms);
}

/// Hosts with pages about sports under /tiyu/, others, and listings of both. Returns labels of the documents.
fn write_portals(folder: &Path, hosts: std::ops::Range<usize>) -> String {
    let mut labels = String::new();
    for host in hosts {
        let mut write = |name: String, html: String, label: &str| {
            let file = folder.join(&name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, html).unwrap();
            labels += &format!("{name}\t{label}\n");
        };
        let mut lists = [String::new(), String::new()];
        for number in 0..6 {
            let sports = format!(
                "<title>h{host}第{number}条</title><p>昨晚的足球比赛里球迷看到三个进球，篮球比赛也有不少进球，球迷都很高兴，\
                 教练说体育让人快乐。编号{host}{number}。</p>"
            );
            write(format!("h{host}.cn/tiyu/{number}.html"), sports, "1");
            let film = format!(
                "<title>h{host}另{number}条</title><p>电影院里放着音乐，演员唱着歌曲，导演坐在旁边看着演员，观众都很安静。\
                 编号{host}{number}。</p>"
            );
            write(format!("h{host}.cn/dianying/{number}.html"), film, "0");
            lists[0] += &format!("<li><a href=\"/tiyu/{number}.html\">第{number}轮赛程</a></li>");
            lists[1] += &format!("<li><a href=\"/dianying/{number}.html\">第{number}期栏目</a></li>");
        }
        write(format!("h{host}.cn/index.html"), format!("<ul>{}{}</ul>", lists[0], lists[1]), "0");
    }
    labels
}

#[test]
fn links_are_judged_by_urls_and_near_terms_with_evidence() {
    let stage = stage();
    let (portals, tested) = (stage.path("portals"), stage.path("tested"));
    let labels = write_portals(&portals, 0..4);
    let samples = stage.path("samples");
    for line in labels.lines().filter(|line| line.ends_with("\t1")) {
        let name = line.split('\t').next().unwrap();
        let file = samples.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::copy(portals.join(name), file).unwrap();
    }
    fs::write(stage.path("tested.tsv"), write_portals(&tested, 4..7)).unwrap();
    for method in ["linear", "lift"] {
        let pages = ["--pages", text(&samples), "--background", text(&portals), "--method", method];
        let built = run(build(&stage, "sports.toml", &[&pages[..], &["--again"]].concat())).expect(0);
        assert!(built.out.contains("suggested URL tokens") && built.out.contains("near terms"), "{}", built.out);
        let written = fs::read_to_string(stage.path("sports.toml")).unwrap();
        let line =
            |start: &str| written.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{written}"));
        let token = line("\"tiyu\" = ");
        assert!(
            token.contains("体育 in pinyin; in 24 URLs on 4 hosts, ") && token.contains(" times as often"),
            "{token}"
        );
        assert!(!written.contains("\"dianying\""), "{method}");
        let near = line("\"赛程\" = ");
        assert!(near.contains("weight = 1.0") && near.contains("4 hosts"), "{near}");
        assert_eq!(lexicon(&stage, "sports.toml").to_toml(), written, "a crawl writes the same file");
    }
    let mut test = suidao();
    test.args(["topic", "test", "--links", "-m", text(&stage.path("sports.toml")), "--pages", text(&tested)]);
    let by_lexicon = run({
        let mut test = suidao();
        test.args(["topic", "test", "--links", "-m", text(&stage.path("sports.toml")), "--pages", text(&tested)]);
        test
    });
    assert!(by_lexicon.expect(0).out.contains("by the lexicon"));
    let out = run({
        test.args(["--labels", text(&stage.path("tested.tsv"))]);
        test
    })
    .expect(0)
    .out;
    assert!(out.contains("36 links to documents, 18 to documents that are on topic by labels"), "{out}");
    let row = |name: &str| out.lines().find(|line| line.starts_with(&format!("{name}\t"))).unwrap().to_owned();
    assert_eq!(row("precision at recall"), "precision at recall\t0.25\t0.50\t0.75");
    assert_eq!(row("chance"), "chance\t0.500\t0.500\t0.500");
    for name in ["url", "near", "together"] {
        assert_eq!(row(name), format!("{name}\t1.000\t1.000\t1.000"));
    }
    // With labels of nothing there is nothing to measure.
    fs::write(stage.path("none.tsv"), "x.html\t1\n").unwrap();
    let mut none = suidao();
    none.args(["topic", "test", "--links", "-m", text(&stage.path("sports.toml")), "--pages", text(&tested)]);
    none.args(["--labels", text(&stage.path("none.tsv"))]);
    assert!(run(none).expect(2).err.contains("give more pages"));
}

#[test]
fn urls_of_sports_are_evidence_by_the_shipped_lexicon() {
    let text = fs::read_to_string(format!("{}/lexicons/sports.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let topic = suidao::topic::Topic::new(Lexicon::parse(&text).unwrap());
    let relevance = |url: &str| topic.url_relevance(&suidao::model::CrawlUrl::parse(url).unwrap()).get();
    for url in ["https://sports.ifeng.com/", "http://www.example.cn/tiyu/1.html", "http://example.cn/news/zuqiu/2"] {
        assert_eq!(relevance(url), 1.0, "{url}");
    }
    assert!(relevance("http://example.cn/kobe/") > 0.0, "a tag of the topic");
    assert_eq!(relevance("http://example.cn/caijing/1.html"), 0.0);
}

#[test]
fn a_crawl_by_keywords_teaches_a_better_lexicon() {
    let mut stage = stage();
    let topic: Vec<&str> = suidao::world::topic_words().collect();
    fs::write(stage.path("words.txt"), topic[..6].join("\n")).unwrap();
    let built = run(build(&stage, "words.toml", &["--keywords", text(&stage.path("words.txt"))])).expect(0);
    assert!(built.out.contains("General words") && built.out.contains("suidao topic grow"), "{}", built.out);
    stage.lexicon = stage.path("words.toml");
    let crawled = run(stage.crawl("crawl", &["--max-pages", "400"])).expect(0);
    assert!(crawled.err.contains("The lexicon has keywords alone."), "{}", crawled.err);
    let crawl = stage.path("crawl");
    let grow = |more: &[&str]| {
        let mut command = suidao();
        command.args(["topic", "grow"]).arg(&crawl).args(more);
        run(command)
    };
    let grown = stage.path("grown.toml");
    let ended = grow(&["-o", text(&grown)]).expect(0);
    assert!(ended.out.contains("suidao rescore") && ended.out.contains("suidao topic compare"), "{}", ended.out);
    let learnt = lexicon(&stage, "grown.toml");
    let others = learnt.terms.iter().filter(|(term, weight)| *weight > 0.0 && topic[6..].contains(&term.as_str()));
    assert!(others.count() >= 3, "{:?}", &learnt.terms[..20]);
    assert_eq!(learnt.provenance.sources, ["crawl"]);
    assert!(grow(&["-o", text(&grown)]).expect(2).err.contains("already exists"));
    let mut rescore = suidao();
    rescore.arg("rescore").arg(&crawl).args(["-m", text(&grown)]);
    run(rescore).expect(0);
    // The crawl has the grown lexicon now, which is none of keywords.
    let again = grow(&["-o", text(&stage.path("again.toml"))]).expect(2);
    assert!(again.err.contains("was learnt from pages") && !stage.path("again.toml").exists(), "{}", again.err);
}

#[test]
fn two_lexicons_are_compared_by_documents_read_blind() {
    let stage = stage();
    run(stage.crawl("crawl", &["--max-pages", "300"])).expect(0);
    let crawl = stage.path("crawl");
    let good = lexicon(&stage, stage.lexicon.to_str().unwrap());
    // Words of a page on something else.
    let documents = crate::support::export(&crawl, &stage.path("all.jsonl"));
    let other = documents.iter().find(|page| page["relevant"] == false).unwrap();
    let mut words = Vec::new();
    let text = other["text"].as_str().unwrap();
    suidao::text::cut(text, |range| words.push(&text[range]));
    words.retain(|word| suidao::text::is_term(word));
    let terms: Vec<(&str, f64)> = words.iter().take(5).map(|word| (*word, 1.0)).collect();
    let weak = Lexicon { page: good.page.clone(), ..Lexicon::from_terms("体育", &terms) };
    fs::write(stage.path("weak.toml"), weak.to_toml()).unwrap();
    let compare = |answers: &str, first: &Path, second: &Path, more: &[&str]| {
        let mut command = suidao();
        command.args(["topic", "compare"]).args([first, second]).arg("--crawl").arg(&crawl).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    let (weak, good) = (stage.path("weak.toml"), stage.lexicon.clone());

    // Blind: neither the URL nor a verdict is shown before it is asked for.
    let asked = compare("y\nu\nn\ns\nq\n", &weak, &good, &[]);
    assert!(!asked.contains("http://") && asked.contains("about 体育?"), "{asked}");
    assert!(asked.contains("read more of them") || asked.contains("read documents that each"), "{asked}");
    let kept = fs::read_to_string(crawl.join("readings.tsv")).unwrap();
    assert_eq!((kept.lines().count(), kept.matches("\tno\t").count()), (1, 1), "{kept}");
    assert!(compare("o\nq\n", &weak, &good, &[]).contains("http://"));

    // With the truth as answers, the lexicon that knows more words is better, whichever is named first.
    let answer = |page: &serde_json::Value| if page["relevant"] == true { "yes" } else { "no" };
    let all: String =
        documents.iter().map(|page| format!("{}\t{}\n", page["url"].as_str().unwrap(), answer(page))).collect();
    fs::write(crawl.join("readings.tsv"), all).unwrap();
    let better = |first: &Path, second: &Path| {
        let told: serde_json::Value = serde_json::from_str(&compare("", first, second, &["--json"])).unwrap();
        assert_eq!(told["first_alone"]["documents"], told["second_alone"]["documents"]);
        println!("{told:#}");
        told["better"].as_str().map(str::to_owned)
    };
    assert_eq!(better(&weak, &good).as_deref(), Some("second"));
    assert_eq!(better(&good, &weak).as_deref(), Some("first"));
    assert_eq!(better(&good, &good), None);
    assert!(compare("", &weak, &good, &["--summary"]).contains("lexicon.toml is better."));
    let mut none = suidao();
    none.args(["topic", "compare"]).args([&weak, &good]).arg("--crawl").arg(stage.path("nothing"));
    run(none).expect(2);
}

#[test]
fn learnt_again_and_from_labels_deleted_terms_stay_out() {
    let stage = stage();
    let (samples, background, labelled) = (stage.path("samples"), stage.path("background"), stage.path("labelled"));
    write_pages(&samples, stage.world.sample_pages(40), "1");
    write_pages(&background, stage.world.background_pages(120), "0");
    fs::write(stage.path("words.txt"), "足球\n滑雪\n").unwrap();
    let words = stage.path("words.txt");
    let sources =
        ["--pages", text(&samples), "--background", text(&background), "--keywords", text(&words)].map(str::to_owned);
    let flags: Vec<&str> = sources.iter().map(String::as_str).collect();
    run(build(&stage, "sports.toml", &flags)).expect(0);
    let learnt = lexicon(&stage, "sports.toml");
    assert!(learnt.terms.iter().any(|(term, _)| term == "滑雪"), "a keyword that no sample has: {:?}", learnt.terms);
    assert!(learnt.terms.last().unwrap().1 < 0.0, "terms against the topic");

    let first = learnt.terms[0].0.clone();
    let kept: Vec<String> = learnt.to_toml().lines().map(str::to_owned).collect();
    let kept: Vec<String> = kept.into_iter().filter(|line| !line.starts_with(&format!("\"{first}\" = "))).collect();
    fs::write(stage.path("sports.toml"), kept.join("\n")).unwrap();
    let again: Vec<&str> = flags.iter().copied().chain(["--again"]).collect();
    let ended = run(build(&stage, "sports.toml", &again)).expect(0);
    assert!(ended.out.contains("deleted from"), "{}", ended.out);
    let has_first = |name: &str| lexicon(&stage, name).terms.iter().any(|(term, _)| *term == first);
    assert!(!has_first("sports.toml"), "{first}");

    let mut labels = write_pages(&labelled, stage.world.sample_pages(70).split_off(50), "1");
    labels += &write_pages(&labelled, stage.world.background_pages(200).split_off(150), "0");
    fs::write(stage.path("labels.tsv"), labels).unwrap();
    let mut learn = suidao();
    learn.args(["topic", "learn", text(&stage.path("sports.toml")), "--labels", text(&stage.path("labels.tsv"))]);
    learn.args(["--pages", text(&labelled), "-o", text(&stage.path("better.toml"))]);
    let ended = run(learn).expect(0);
    assert!(ended.out.contains("Learnt from"), "{}", ended.out);
    assert!(!has_first("better.toml"), "{first}");
    assert!(lexicon(&stage, "better.toml").page.chosen.contains("labelled pages"));

    fs::write(stage.path("labels.tsv"), "nowhere.html\t1\n").unwrap();
    let mut learn = suidao();
    learn.args(["topic", "learn", text(&stage.path("sports.toml")), "--labels", text(&stage.path("labels.tsv"))]);
    learn.args(["--pages", text(&samples)]);
    let error = run(learn).expect(2).err;
    assert!(error.contains("labels none of the 40 pages"), "{error}");
}

#[test]
fn from_urls_and_from_an_archive() {
    let stage = stage();
    let urls: Vec<String> = stage.world.sample_pages(12).into_iter().map(|(url, _)| url.to_string()).collect();
    fs::write(stage.path("urls.txt"), urls.join("\n")).unwrap();
    let proxy = stage.server.proxy();
    let fetching = ["--proxy", proxy.as_str(), "--contact", "test@example.org", "--set", "politeness.delay=0"];
    let list = stage.path("urls.txt");
    let flags: Vec<&str> = ["--urls", text(&list)].into_iter().chain(fetching).collect();
    let ended = run(build(&stage, "urls.toml", &flags)).expect(0);
    assert!(ended.out.contains("12 sample pages"), "{}", ended.out);
    assert!(stage.server.log().iter().any(|access| access.path == "/robots.txt"));
    run(stage.crawl("crawl", &["--max-pages", "30"])).expect(0);
    let warc = stage.path("crawl").join("pages/suidao-00000.warc.gz");
    let ended = run(build(&stage, "warc.toml", &["--warc", text(&warc)])).expect(0);
    assert!(ended.out.contains("30 sample pages"), "{}", ended.out);
    assert!(!lexicon(&stage, "warc.toml").terms.is_empty());

    let log = stage.server.log();
    let fetched = log.iter().filter(|access| !access.host.starts_with("s") && access.path.ends_with(".html")).take(6);
    let urls: Vec<String> = fetched.map(|access| format!("http://{}{}", access.host, access.path)).collect();
    fs::write(&list, urls.join("\n")).unwrap();
    let ended = run(build(&stage, "around.toml", &flags)).expect(0);
    let method = lexicon(&stage, "around.toml").provenance.method;
    assert!(method.contains("background pages"), "other pages of their hosts: {method}: {}", ended.err);
    let none: Vec<&str> = flags.iter().copied().chain(["--around", "0"]).collect();
    run(build(&stage, "alone.toml", &none)).expect(0);
    assert!(lexicon(&stage, "alone.toml").provenance.method.contains("random pages"));
}

#[test]
fn from_keywords_alone() {
    let stage = stage();
    fs::write(stage.path("words.txt"), "# sports\n足球\n篮球\t2\n世界杯\n").unwrap();
    run(build(&stage, "words.toml", &["--keywords", text(&stage.path("words.txt"))])).expect(0);
    let words = lexicon(&stage, "words.toml");
    assert_eq!(words.terms.len(), 3);
    assert_eq!(words.terms[0].0, "篮球", "twice the weight: {:?}", words.terms);
    // In GBK: 足球，篮球, then 排球、羽毛球.
    fs::write(
        stage.path("gbk.txt"),
        b"\xd7\xe3\xc7\xf2\xa3\xac\xc0\xba\xc7\xf2\r\n\xc5\xc5\xc7\xf2\xa1\xa2\xd3\xf0\xc3\xab\xc7\xf2\r\n",
    )
    .unwrap();
    run(build(&stage, "gbk.toml", &["--keywords", text(&stage.path("gbk.txt"))])).expect(0);
    let mut terms: Vec<String> = lexicon(&stage, "gbk.toml").terms.into_iter().map(|(term, _)| term).collect();
    terms.sort();
    assert_eq!(terms, ["排球", "篮球", "羽毛球", "足球"]);
    // It may have been edited since.
    let error = run(build(&stage, "words.toml", &["--keywords", text(&stage.path("words.txt"))])).expect(2).err;
    assert!(error.contains("words.toml already exists and may contain corrections; choose another -o"), "{error}");
}

#[test]
fn wrong_sources_write_nothing() {
    let stage = stage();
    fs::create_dir(stage.path("empty")).unwrap();
    fs::write(stage.path("words.txt"), "足球\tmuch\n").unwrap();
    fs::write(stage.path("no.warc"), "this is not an archive").unwrap();
    for (flag, source, expected) in [
        ("--pages", "empty", "empty"),
        ("--pages", "nowhere", "nowhere"),
        ("--warc", "no.warc", "no.warc"),
        ("--warc", "nowhere", "nowhere"),
        ("--keywords", "words.txt", "line 1"),
        ("--urls", "words.txt", "line 1"),
    ] {
        let flags = [flag, text(&stage.path(source))].map(str::to_owned);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let ended = run(build(&stage, "never.toml", &flags)).expect(2);
        assert!(ended.err.contains(expected) && ended.err.starts_with("suidao: "), "{flags:?}: {}", ended.err);
        assert!(!stage.path("never.toml").exists(), "{flags:?}");
    }
}
