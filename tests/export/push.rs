//! Rows sent to a simulated search server on loopback: busy, partly accepted, too large, unreachable.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use crate::support::{Stage, export, finite, run, suidao};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use suidao::world::ServerOptions;

/// Contents and behaviour of the server.
#[derive(Default)]
struct Server {
    documents: BTreeMap<String, Value>,
    /// The template of each index.
    indices: BTreeMap<String, Value>,
    /// Requests of the bulk API so far.
    requests: u64,
    /// Documents accepted, repeated ones included.
    taken: u64,
    limit: usize,
    /// It is unreachable from this request of the bulk API on.
    away_from: u64,
    /// Ids it always rejects.
    refused: BTreeSet<String>,
    /// Ids for which it was busy once.
    busy: BTreeSet<String>,
    authorization: Option<String>,
}

type Shared = Arc<Mutex<Server>>;

fn start(server: Server) -> (Shared, SocketAddr, tokio::runtime::Runtime) {
    let shared = Arc::new(Mutex::new(server));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
    runtime.spawn(async move { axum::serve(listener, router).await });
    (shared, address, runtime)
}

async fn answer(State(shared): State<Shared>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let mut server = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(wanted) = &server.authorization
        && headers.get("authorization").is_none_or(|given| given != wanted.as_str())
    {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match (method, uri.path()) {
        (Method::HEAD, path) if server.indices.contains_key(path) => StatusCode::OK.into_response(),
        (Method::HEAD, _) => StatusCode::NOT_FOUND.into_response(),
        (Method::PUT, path) => {
            server.indices.insert(path.to_owned(), serde_json::from_slice(&body).unwrap());
            "{\"acknowledged\":true}".into_response()
        }
        (Method::POST, "/es/_bulk") => bulk(&mut server, &body),
        _ => StatusCode::BAD_REQUEST.into_response(),
    }
}

fn bulk(server: &mut Server, body: &[u8]) -> Response {
    server.requests += 1;
    if server.requests >= server.away_from {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    match server.requests {
        1 => return (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")]).into_response(),
        2 => return "{\"took\":1,\"ite".into_response(),
        _ if body.len() > server.limit => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        _ => {}
    }
    let mut items = Vec::new();
    let text = std::str::from_utf8(body).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    while let Some(action) = lines.next() {
        let action: Value = serde_json::from_str(action).unwrap();
        if let Some(of) = action.get("delete") {
            let gone = server.documents.remove(of["_id"].as_str().unwrap()).is_some();
            items.push(json!({ "delete": { "status": if gone { 200 } else { 404 } } }));
            continue;
        }
        let id = action["index"]["_id"].as_str().unwrap().to_owned();
        assert_eq!(action["index"]["_index"], "corpus");
        let document: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
        let status = if server.refused.contains(&id) {
            400
        } else if id.ends_with('7') && server.busy.insert(id.clone()) {
            429
        } else {
            server.taken += 1;
            server.documents.insert(id.clone(), document);
            201
        };
        items.push(json!({ "index": { "_id": id, "status": status, "error": { "reason": "as configured" } } }));
    }
    json!({ "errors": true, "items": items }).to_string().into_response()
}

fn push(stage: &Stage, address: SocketAddr, more: &[&str]) -> Command {
    let mut command = suidao();
    command
        .arg("export")
        .arg(stage.path("crawl"))
        .args(["--push", &format!("http://{address}/es/corpus"), "--where", "listings:yes"])
        .args(more);
    command
}

fn crawled() -> Stage {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--max-pages", "200"])).expect(0);
    stage
}

fn ids(stage: &Stage) -> Vec<String> {
    let lines = export(&stage.path("crawl"), &stage.path("pages.jsonl"));
    lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn everything_arrives_once_however_the_server_behaves() {
    let stage = crawled();
    let ids = ids(&stage);
    let refused = ids[5].clone();
    let (server, address, _runtime) = start(Server {
        limit: 60_000,
        away_from: u64::MAX,
        refused: BTreeSet::from([refused.clone()]),
        authorization: Some("ApiKey never-printed".to_owned()),
        ..Server::default()
    });
    let denied = run(push(&stage, address, &[])).expect(2);
    assert!(denied.err.contains("SUIDAO_PUSH_AUTHORIZATION"), "{}", denied.err);
    let mut allowed = push(&stage, address, &["--push-rows", "50"]);
    let ended = run({
        allowed.env("SUIDAO_PUSH_AUTHORIZATION", "ApiKey never-printed");
        allowed
    });
    let ended = ended.expect(1);
    assert!(ended.err.contains("Sent 199 pages to") && ended.err.contains("1 rejected"), "{}", ended.err);
    assert!(!ended.err.contains("never-printed"), "{}", ended.err);
    let server = server.lock().unwrap();
    let expected: BTreeSet<&String> = ids.iter().filter(|id| **id != refused).collect();
    assert_eq!(server.documents.keys().collect::<BTreeSet<_>>(), expected);
    assert!(server.documents.iter().all(|(id, document)| document["id"] == id.as_str()));
    let made = &server.indices["/es/corpus"];
    assert!(made.to_string().contains("cjk_bigram") && made.get("mappings").is_some());
    let rejected: Vec<String> = std::fs::read_dir(stage.path("crawl").join("exports"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".rejected.jsonl"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    assert!(rejected.concat().contains(&refused) && rejected.concat().contains("as configured"), "{rejected:?}");
}

#[test]
fn an_interrupted_push_can_be_repeated() {
    let stage = crawled();
    let ids = ids(&stage);
    let (server, address, _runtime) = start(Server { limit: usize::MAX, away_from: 8, ..Server::default() });
    let patience = ["--push-rows", "20", "--push-wait", "1"];
    let ended = run(push(&stage, address, &patience)).expect(1);
    assert!(ended.err.contains("no progress for 1 s") && ended.err.contains("rerun the same command"), "{}", ended.err);
    server.lock().unwrap().away_from = u64::MAX;
    run(push(&stage, address, &patience)).expect(0);
    assert_eq!(server.lock().unwrap().documents.len(), ids.len());

    // Deselected documents are deleted, unchanged ones are not sent again.
    let taken = server.lock().unwrap().taken;
    let ended = run(push(&stage, address, &["--since", "last", "--relevant"])).expect(0);
    assert!(ended.err.contains("Sent 0 pages to"), "{}", ended.err);
    assert_eq!(server.lock().unwrap().taken, taken);
    let relevant = export(&stage.path("crawl"), &stage.path("pages.jsonl"));
    let relevant = relevant.iter().filter(|line| line["relevant"] == true).count();
    assert_eq!(server.lock().unwrap().documents.len(), relevant);

    // A deleted index has none of the documents exported earlier.
    *server.lock().unwrap() = Server { limit: usize::MAX, away_from: u64::MAX, ..Server::default() };
    let ended = run(push(&stage, address, &["--since", "last"])).expect(2);
    assert!(ended.err.contains("leave out --since last"), "{}", ended.err);
}

#[test]
fn an_unusable_server_is_reported() {
    let stage = crawled();
    for (address, code, expected) in [
        ("http://127.0.0.1:9/corpus", 1, "no progress"),
        ("127.0.0.1/corpus", 2, "http://host:9200/INDEX"),
        ("http://127.0.0.1:9/Corpus", 2, "lower case"),
    ] {
        let mut command = suidao();
        command.arg("export").arg(stage.path("crawl")).args(["--push", address, "--push-wait", "0"]);
        let ended = run(command).expect(code);
        assert!(ended.err.contains(expected), "{}", ended.err);
    }
}
