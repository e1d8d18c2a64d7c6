//! Tests that credentials and cookies go to their host only, with local servers.

use super::loopback::{Act, HELLO, LoopbackServer, local, response};
use super::{Credential, FetchSettings, Fetcher, Secret};
use suidao_page::model::CrawlUrl;

fn knowing(credentials: Vec<Credential>) -> Fetcher {
    Fetcher::new(&FetchSettings { credentials, ..local() }).unwrap()
}

#[tokio::test]
async fn a_secret_goes_to_its_origin_and_nowhere_else() {
    let page = || Act::Keep(response("200 OK", "", HELLO));
    let (known, other) = (LoopbackServer::start(page()).await, LoopbackServer::start(page()).await);
    let moved = format!("Location: http://{}/\r\n", other.address);
    let moving = LoopbackServer::start(Act::Keep(response("302 Found", &moved, b""))).await;
    let credential =
        |server: &LoopbackServer, more: Credential| Credential { origin: format!("http://{}", server.address), ..more };
    let bearer = Credential { bearer: Some(Secret::new("hush")), ..Credential::default() };
    let field = Credential { headers: [("X-Key".to_owned(), Secret::new("hush"))].into(), ..Credential::default() };
    let fetcher = knowing(vec![credential(&known, bearer), credential(&moving, field)]);

    fetcher.fetch(&known.url("/a"), None).await.unwrap();
    assert!(known.heads()[0].contains("authorization: Bearer hush\r\n"), "{:?}", known.heads());
    let fetched = fetcher.fetch(&moving.url("/"), None).await.unwrap();
    assert!(moving.heads()[0].contains("x-key: hush\r\n"), "{:?}", moving.heads());
    // Not to another port, another name of the same server, or the target of its redirect.
    let to = fetched.url.join(fetched.header("location").unwrap()).unwrap();
    fetcher.fetch(&to, None).await.unwrap();
    let port = known.address.port();
    fetcher.fetch(&CrawlUrl::parse(&format!("http://localhost:{port}/")).unwrap(), None).await.unwrap();
    let heads = [other.heads(), known.heads().split_off(1)].concat();
    assert!(heads.len() == 2 && !heads.concat().contains("hush"), "{heads:?}");
    assert!(!format!("{fetcher:?}{:?}", fetcher.request_headers()).contains("hush"));
    // https is the default.
    let https =
        Credential { origin: known.address.to_string(), bearer: Some(Secret::new("hush")), ..Credential::default() };
    knowing(vec![https]).fetch(&known.url("/b"), None).await.unwrap();
    assert!(!known.heads().last().unwrap().contains("hush"));
}

#[tokio::test]
async fn cookies_are_off_by_default_and_stay_on_their_domain() {
    let set = || Act::Keep(response("200 OK", "Set-Cookie: id=hush; Path=/\r\nSet-Cookie: b=2; Domain=cn\r\n", HELLO));
    let server = LoopbackServer::start(set()).await;
    for (settings, sent) in [(local(), false), (FetchSettings { cookies: true, ..local() }, true)] {
        let fetcher = Fetcher::new(&settings).unwrap();
        fetcher.fetch(&server.url("/a"), None).await.unwrap();
        fetcher.clone().fetch(&server.url("/b"), None).await.unwrap();
        let port = server.address.port();
        fetcher.fetch(&CrawlUrl::parse(&format!("http://localhost:{port}/")).unwrap(), None).await.unwrap();
        let heads = server.heads().split_off(server.heads().len() - 3);
        let result: Vec<bool> = heads.iter().map(|head| head.contains("cookie: id=hush\r\n")).collect();
        assert_eq!(result, [false, sent, false], "{heads:?}");
        assert!(!format!("{:?}", fetcher.request_headers()).contains("hush"));
    }
    // A run begins without cookies.
    let fresh = Fetcher::new(&FetchSettings { cookies: true, ..local() }).unwrap();
    fresh.fetch(&server.url("/"), None).await.unwrap();
    assert!(!server.heads().last().unwrap().contains("hush"));
}
