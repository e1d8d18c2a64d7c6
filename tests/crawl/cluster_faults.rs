//! Faults between workers and their engine: cut connections, lost servers and disks, clocks that jump. Nothing is lost,
//! and no host is asked too often.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster::{Cluster, Nats, fails, fetched};
use crate::support::chinese::assert_chinese;
use crate::support::{Running, finite, tools, unused_port};

/// A proxy for connections to a server, which a test delays and cuts.
struct Cutter {
    port: u16,
    /// Refuse new connections.
    closed: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    /// Nothing is passed on, as if the network lost all packets.
    silent: Arc<AtomicBool>,
}

impl Cutter {
    fn start(server: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, streams) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let (silent, closed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (all, quiet, over) = (Arc::clone(&streams), Arc::clone(&silent), Arc::clone(&closed));
        // The thread ends with the process of the test.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    // The listener is dropped, so further connections are refused.
                    return;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let quiet = Arc::clone(&quiet);
                    std::thread::spawn(move || pass(from, to, delay, &quiet));
                }
                all.lock().unwrap().extend([client, server]);
            }
        });
        Self { port, closed, streams, silent }
    }

    /// Ends all connections and refuses new ones.
    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.cut();
        // So that the listener sees it.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }

    fn cut(&self) {
        self.streams.lock().unwrap().drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration, quiet: &AtomicBool) {
    let mut bytes = [0; 1 << 14];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        std::thread::sleep(delay);
        while quiet.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn connections_that_are_slow_cut_and_lost() {
    let Some(mut cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("cut", &[]);
    let direct = cluster.url.clone();
    let cutter = Cutter::start(cluster.nats.port(), Duration::from_millis(5));
    cluster.url = format!("nats://127.0.0.1:{}", cutter.port);
    let workers = [cluster.worker("cut", "a"), cluster.worker("cut", "b")];
    cluster.url = direct;
    cluster.until("cut", 10);
    for cut in 0..6 {
        // Now and then for longer than a session lasts.
        std::thread::sleep(Duration::from_millis(700));
        cutter.silent.store(cut == 2, Ordering::Relaxed);
        if cut == 2 {
            std::thread::sleep(Duration::from_secs(6));
            cutter.silent.store(false, Ordering::Relaxed);
        }
        cutter.cut();
    }
    for worker in workers {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("cut"), wanted);
}

/// Three servers that store each message three times.
struct Group {
    servers: Vec<Running>,
    url: String,
    _files: tempfile::TempDir,
}

impl Group {
    fn start() -> Option<Self> {
        let (program, files) = (tools::nats_server()?, tempfile::tempdir().unwrap());
        let ports: Vec<(u16, u16)> = (0..3).map(|_| (unused_port(), unused_port())).collect();
        let routes: Vec<String> = ports.iter().map(|(_, route)| format!("nats://127.0.0.1:{route}")).collect();
        let servers = ports.iter().enumerate().map(|(number, (port, route))| {
            let mut command = Command::new(&program);
            command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-n", &format!("server{number}")]);
            command.args(["--cluster_name", "test", "--cluster", &format!("nats://127.0.0.1:{route}")]);
            command.args(["--routes", &routes.join(","), "-sd"]).arg(files.path().join(number.to_string()));
            Running::start(command)
        });
        let servers = servers.collect();
        let url = ports.iter().map(|(port, _)| format!("nats://127.0.0.1:{port}")).collect::<Vec<_>>().join(",");
        Some(Self { servers, url, _files: files })
    }
}

#[test]
fn one_of_three_servers_dies() {
    let Some(mut group) = Group::start() else { return };
    let Some(mut cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.url.clone_from(&group.url);
    // They elect a leader first.
    let begun = Instant::now();
    loop {
        let ready = crate::support::run(cluster.command(&["cluster", "status", "none"]));
        if ready.err.contains("no crawl named none") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", ready.err);
        std::thread::sleep(Duration::from_millis(200));
    }
    cluster.create("three", &["--replicas", "3"]);
    let workers = [cluster.worker("three", "a"), cluster.worker("three", "b")];
    cluster.until("three", 40);
    group.servers[0].kill();
    for worker in workers {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("three"), wanted);
}

#[test]
fn a_full_server_makes_workers_wait_until_there_is_space() {
    let limited = |bytes: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("jetstream {{ max_file_store: {bytes} }}\n")).unwrap();
        file
    };
    let (small, large) = (limited("60KB"), limited("1GB"));
    let option = |file: &tempfile::NamedTempFile| file.path().to_str().unwrap().to_owned();
    let Some(nats) = Nats::start(&["-c", &option(&small)]) else { return };
    let mut cluster = Cluster::over(nats, finite(), 20);
    let wanted = cluster.of_one_process();
    cluster.create("full", &[]);
    let mut worker = cluster.worker("full", "w");
    let before = cluster.stage.server.log().len();
    let waits = || {
        std::thread::sleep(Duration::from_millis(200));
        let log = cluster.stage.server.log();
        log.len() > before && log.last().is_some_and(|last| last.at.elapsed() > Duration::from_secs(2))
    };
    assert!(worker.until(waits), "it has ended");
    cluster.nats.server.kill();
    cluster.nats.again(&["-c", &option(&large)]);
    worker.end().expect(0);
    assert_eq!(cluster.collected("full"), wanted);
}

#[test]
fn a_worker_that_lost_its_disk_begins_again() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("disk", &[]);
    let (mut lost, other) = (cluster.worker("disk", "lost"), cluster.worker("disk", "other"));
    cluster.until("disk", 40);
    lost.kill();
    std::fs::remove_dir_all(cluster.stage.path("files").join("lost")).unwrap();
    let again = cluster.worker("disk", "lost");
    for worker in [again, other] {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("disk"), wanted);
}

#[test]
fn a_host_is_asked_at_most_once_in_its_delay_whoever_asks() {
    const DELAY: Duration = Duration::from_secs(1);
    let Some(cluster) = Cluster::new(finite(), 0) else { return };
    cluster.create("polite", &["--max-pages", "100", "--set", "politeness.delay=1"]);
    let (mut killed, other) = (cluster.worker("polite", "killed"), cluster.worker("polite", "other"));
    cluster.until("polite", 30);
    killed.kill();
    let third = cluster.worker("polite", "third");
    for worker in [other, third] {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("polite").len(), 100);
    let mut last: BTreeMap<String, Instant> = BTreeMap::new();
    for request in cluster.stage.server.log() {
        if let Some(before) = last.insert(request.host.clone(), request.at) {
            // A worker measures when it sends, and requests may be received sooner after each other.
            let gap = request.at.duration_since(before);
            assert!(gap > DELAY.mul_f64(0.5), "{} was asked again after {gap:?}", request.host);
        }
    }
}

#[test]
fn a_clock_that_jumps_changes_nothing() {
    let Some(library) = tools::faketime() else { return };
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("clock", &[]);
    let offset = cluster.stage.path("offset");
    std::fs::write(&offset, "+0").unwrap();
    let mut command = cluster.worker_command("clock", "jumps");
    command.env("LD_PRELOAD", &library).env("FAKETIME_TIMESTAMP_FILE", &offset);
    command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let workers = [Running::start(command), cluster.worker("clock", "steady")];
    for (pages, jump) in [(30, "+7200"), (60, "-7200"), (90, "+0")] {
        cluster.until("clock", pages);
        std::fs::write(&offset, jump).unwrap();
    }
    for worker in workers {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("clock"), wanted);
}

#[test]
fn a_worker_of_another_version_is_refused() {
    let Some(cluster) = Cluster::new(finite(), 0) else { return };
    cluster.create("old", &[]);
    // As another version would have written it.
    let description = r#"{"version":"0.0.1","partitions":16,"archive":"x","created":0,"lexicon":"","config":""}"#;
    let mut server = TcpStream::connect(("127.0.0.1", cluster.nats.port())).unwrap();
    let publish = format!("PUB suidao.old.state.description {}\r\n{description}\r\n", description.len());
    write!(server, "CONNECT {{\"verbose\":false}}\r\n{publish}PING\r\n").unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"PONG\r\n") {
        let mut byte = [0];
        server.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    fails(cluster.worker_command("old", "w"), "created by suidao 0.0.1");
    fails(cluster.command(&["cluster", "status", "old"]), "same version on all machines");
}

#[test]
fn checkpoints_keep_the_log_of_the_server_short() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("saved", &["--set", "crawl.checkpoint_every=8"]);
    let (mut first, second) = (cluster.worker("saved", "first"), cluster.worker("saved", "second"));
    cluster.until("saved", 100);
    first.kill();
    cluster.until("saved", 160);
    second.signal("INT");
    second.end().expect(130);
    // What is in the archive and what is on the server together are the whole log.
    let archive = cluster.stage.path("saved-pages");
    let mut folders = std::fs::read_dir(&archive).unwrap().map(|entry| entry.unwrap().path());
    let logs = folders.find(|path| path.extension().is_some_and(|ending| ending == "logs")).unwrap();
    let partitions: Vec<_> = std::fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(partitions.len() > 2, "{partitions:?}");
    // Without its checkpoint a partition replays its segments; a damaged one is no better than none.
    std::fs::remove_file(partitions[0].join("state/checkpoint")).unwrap();
    std::fs::write(partitions[1].join("state/checkpoint"), "damaged").unwrap();
    let workers = [cluster.worker("saved", "first"), cluster.worker("saved", "third")];
    for worker in workers {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("saved"), wanted);
    assert_eq!(fetched(&cluster.status("saved")), wanted.len() as u64);
    // A missing segment is reported, and nothing is written.
    let files = std::fs::read_dir(&partitions[0]).unwrap().map(|entry| entry.unwrap().path());
    let mut segments = files.filter(|path| path.extension().is_some_and(|ending| ending == "segment"));
    std::fs::remove_file(segments.next().unwrap()).unwrap();
    let out = cluster.stage.path("incomplete");
    let mut command = cluster.command(&["cluster", "collect", "saved"]);
    command.arg("-o").arg(&out);
    fails(command, "is missing");
    assert!(!out.exists());
}

#[test]
fn a_context_logs_in_over_tls() {
    let (Some(openssl), Some(_)) = (tools::program("openssl"), tools::nats_server()) else { return };
    let files = tempfile::tempdir().unwrap();
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let made = |arguments: &[&str]| {
        let made = Command::new(&openssl).args(arguments).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    let new = ["-newkey", "rsa:2048", "-nodes"];
    made(
        &[&["req", "-x509"], &new[..], &["-subj", "/CN=ca", "-keyout", &path("ca.key"), "-out", &path("ca.pem")]]
            .concat(),
    );
    made(
        &[&["req"], &new[..], &["-subj", "/CN=localhost", "-keyout", &path("key.pem"), "-out", &path("request")]]
            .concat(),
    );
    std::fs::write(path("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1").unwrap();
    made(
        &[
            &["x509", "-req", "-in", &path("request"), "-CA", &path("ca.pem"), "-CAkey", &path("ca.key")][..],
            &["-CAcreateserial", "-extfile", &path("names"), "-out", &path("cert.pem")],
        ]
        .concat(),
    );
    // The file that docs/cluster.md offers, with other paths and alone.
    let offered =
        include_str!("../../docs/deploy/nats.conf").replace("0.0.0.0", "127.0.0.1").replace("store_dir: /data", "");
    let offered =
        offered.replace("/certs/server.pem", &path("cert.pem")).replace("/certs/server-key.pem", &path("key.pem"));
    let offered = offered.replace("/certs/ca.pem", &path("ca.pem")).replace("$HOSTNAME", "one");
    let (begin, end) = (offered.find("cluster {").unwrap(), offered.find("accounts {").unwrap());
    let alone = format!("{}{}", &offered[..begin], &offered[end..]).replace("$SUIDAO_PASSWORD", "secret");
    std::fs::write(path("nats.conf"), alone.replace("listen: 127.0.0.1:4222", "")).unwrap();
    let Some(nats) = Nats::start(&["-c", &path("nats.conf")]) else { return };
    let url = format!("tls://localhost:{}", nats.port());
    let mut cluster = Cluster::over(nats, finite(), 0);
    let context = |password: &str| {
        let text = serde_json::json!({"url": url, "user": "suidao", "password": password, "ca": path("ca.pem")});
        std::fs::write(path("context.json"), text.to_string()).unwrap();
        path("context.json")
    };
    cluster.url = context("secret");
    cluster.create("secure", &["--max-pages", "40"]);
    cluster.worker("secure", "w").end().expect(0);
    assert_eq!(cluster.collected("secure").len(), 40);
    context("wrong");
    fails(cluster.command(&["cluster", "status", "secure"]), "refused the login");
    cluster.url = path("missing.json");
    fails(cluster.command(&["cluster", "status", "secure"]), "missing.json");
}

#[test]
fn reading_verbs_take_a_crawl_of_a_cluster() {
    let Some(cluster) = Cluster::new(finite(), 0) else { return };
    cluster.create("read", &["--max-pages", "80", "--set", "crawl.checkpoint_every=10"]);
    cluster.worker("read", "w").end().expect(0);
    let pages = cluster.collected("read");
    let output = |name: &str| cluster.stage.path(name).to_str().unwrap().to_owned();
    let run = |words: &[&str]| {
        let mut command = cluster.command(words);
        command.current_dir(cluster.stage.dir.path());
        crate::support::run(command).expect(0).out
    };
    let collected = output("read-collected");
    for (name, source) in [("one.jsonl", "cluster:read"), ("two.jsonl", collected.as_str())] {
        run(&["export", source, "-o", &output(name)]);
    }
    let text = |name: &str| std::fs::read_to_string(output(name)).unwrap();
    let documents = |name: &str| -> Vec<Value> {
        let mut documents: Vec<Value> = text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // Where its record is in the archive.
        documents.iter_mut().for_each(|document| drop(document.as_object_mut().unwrap().remove("warc")));
        documents
    };
    assert!(documents("one.jsonl").len() > 20);
    assert_eq!(documents("one.jsonl"), documents("two.jsonl"));
    let url = pages.first().unwrap();
    assert_eq!(run(&["why", "cluster:read", url]), run(&["why", &collected, url]));
    let search = |source: &str| run(&["search", source, "--json"]);
    assert_eq!(search("cluster:read"), search(&collected));
    run(&["report", "cluster:read"]);
    assert!(text("read-report.html").contains("80"));
    run(&["graph", "cluster:read"]);
    run(&["evaluate", "cluster:read", &collected]);
    fails(
        cluster.command(&["export", "cluster:read", "-o", &output("x.jsonl"), "--since", "last"]),
        "no record of exports",
    );
    fails(cluster.command(&["why", "cluster:none", url]), "no crawl named none");
    fails(cluster.command(&["check", "crawl", "cluster:read"]), "suidao cluster collect read -o DIR");
}

#[test]
fn the_status_page_shows_workers_and_partitions() {
    let Some(cluster) = Cluster::new(finite(), 0) else { return };
    cluster.create("page", &["--max-pages", "60"]);
    cluster.worker("page", "w1").end().expect(0);
    let address = format!("127.0.0.1:{}", unused_port());
    let mut server = Running::start(cluster.command(&["cluster", "status", "page", "--listen", &address]));
    assert!(server.until(|| TcpStream::connect(&address).is_ok()), "it has ended");
    let page = crate::support::ask(&address, "GET", "/", &address, "Accept-Language: zh\r\n");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("w1") && page.body.contains("工作进程") && page.body.contains("60"), "{}", page.body);
    assert_chinese("cluster", &page.body, &["page", "w1"]);
    assert_eq!(crate::support::ask(&address, "GET", "/", "other.example", "").status, 421);
    server.signal("INT");
    server.end().expect(0);
    fails(cluster.command(&["cluster", "status", "page", "--listen", "nowhere"]), "expected an address");
}

#[test]
fn goals_of_time_and_harvest_are_those_of_the_whole_crawl() {
    let Some(cluster) = Cluster::new(finite(), 50) else { return };
    cluster.create("time", &["--stop-when", "minutes=0.05"]);
    let ended = cluster.worker("time", "w").end().expect(0);
    assert!(ended.err.contains("Time"), "{}", ended.err);
    cluster.create("rate", &["--stop-when", "harvest<1.0/50"]);
    let workers = [cluster.worker("rate", "a"), cluster.worker("rate", "b")];
    for worker in workers {
        worker.end().expect(0);
    }
    let end = &cluster.status("rate")["end"];
    assert_eq!(end["Done"], "topic-exhausted", "{end}");
    assert!(fetched(&cluster.status("rate")) >= 50);
}

#[test]
fn failures_of_a_workers_own_network_count_against_no_host() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("proxy", &["--set", "crawl.outage_patience=1"]);
    // The proxy of this worker is gone after a while.
    let proxy = cluster.stage.server.proxy();
    let port: u16 = proxy.rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    let cutter = Cutter::start(port, Duration::ZERO);
    let mut command = cluster.command(&["worker", "proxy", "--worker", "lonely", "--proxy"]);
    command.arg(format!("http://127.0.0.1:{}", cutter.port)).arg("-o").arg(cluster.stage.path("files").join("lonely"));
    let lonely = Running::start(command);
    cluster.until("proxy", 40);
    cutter.close();
    let ended = lonely.end().expect(1);
    assert!(ended.err.contains("proxy no longer responds"), "{}", ended.err);
    cluster.worker("proxy", "other").end().expect(0);
    assert_eq!(cluster.collected("proxy"), wanted);
}

/// A server of S3 with one bucket.
struct Bucket {
    port: u16,
    _server: Running,
}

impl Bucket {
    fn start() -> Option<Self> {
        let port = unused_port();
        let mut command = Command::new(tools::moto()?);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let mut server = Running::start(command);
        assert!(server.until(|| TcpStream::connect(("127.0.0.1", port)).is_ok()), "moto ended");
        let address = format!("127.0.0.1:{port}");
        let made = crate::support::ask(&address, "PUT", "/crawls", &address, "Content-Length: 0\r\n");
        assert_eq!(made.status, 200);
        Some(Self { port, _server: server })
    }

    fn use_in(&self, mut command: Command) -> Command {
        command.env("AWS_ENDPOINT", format!("http://127.0.0.1:{}", self.port)).env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret").env("AWS_REGION", "us-east-1");
        command
    }
}

#[test]
fn an_archive_may_be_a_bucket() {
    let Some(bucket) = Bucket::start() else { return };
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("s3", &["--archive", "s3://crawls/all", "--set", "crawl.checkpoint_every=10"]);
    let worker = |name: &str| bucket.use_in(cluster.worker_command("s3", name));
    let (mut killed, other) = (Running::start(worker("killed")), Running::start(worker("other")));
    cluster.until("s3", 60);
    killed.kill();
    other.end().expect(0);
    // Pages that only a killed worker has are there as soon as it has run again.
    let collect = |out: &str| {
        let mut command = bucket.use_in(cluster.command(&["cluster", "collect", "s3", "-o"]));
        command.arg(cluster.stage.path(out));
        command
    };
    let ended = crate::support::run(collect("early")).expect(1);
    assert!(ended.err.contains("is not in the archive of the crawl s3 yet"), "{}", ended.err);
    let mut without = collect("without");
    without.arg("--skip-missing");
    crate::support::run(without).expect(0);
    assert!(crate::support::pages(&cluster.stage.path("without")).len() < wanted.len());
    crate::support::run({
        let mut command = crate::support::suidao();
        command.args(["check", "crawl"]).arg(cluster.stage.path("without"));
        command
    })
    .expect(0);
    Running::start(worker("killed")).end().expect(0);
    crate::support::run(collect("s3-all")).expect(0);
    let found = crate::support::pages(&cluster.stage.path("s3-all"));
    assert_eq!(found.keys().map(ToString::to_string).collect::<BTreeSet<_>>(), wanted);
    let mut command = bucket.use_in(cluster.command(&["export", "cluster:s3", "-o"]));
    command.arg(cluster.stage.path("s3.jsonl"));
    crate::support::run(command).expect(0);
    assert!(std::fs::read_to_string(cluster.stage.path("s3.jsonl")).unwrap().lines().count() > 50);
    let mut wrong = collect("wrong");
    wrong.env("AWS_ENDPOINT", format!("http://127.0.0.1:{}", unused_port()));
    let ended = crate::support::run(wrong).expect(1);
    assert!(ended.err.contains("the bucket s3://crawls/all cannot"), "{}", ended.err);
}

#[test]
fn an_interrupted_worker_ends_without_its_server() {
    let Some(mut cluster) = Cluster::new(finite(), 20) else { return };
    cluster.create("away", &[]);
    let worker = cluster.worker("away", "w");
    cluster.until("away", 20);
    cluster.nats.server.kill();
    std::thread::sleep(Duration::from_secs(2));
    worker.signal("INT");
    // It does not wait for its partitions; a bound ends the test.
    let ended = worker.end();
    assert!([1, 130].contains(&ended.code()), "{}\n{}", ended.code(), ended.err);
}
