//! What one host is told of us, no other is: credentials, cookies and certificates against servers of this process.

use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::loopback::{Act, HELLO, Server, answer, local};
use super::{Credential, Fetcher, Secret, Settings};
use suidao_page::model::{CrawlUrl, FailureKind};

fn knowing(credentials: Vec<Credential>) -> Fetcher {
    Fetcher::new(&Settings { credentials, ..local() }).unwrap()
}

#[tokio::test]
async fn a_secret_goes_to_its_origin_and_nowhere_else() {
    let page = || Act::Keep(answer("200 OK", "", HELLO));
    let (known, other) = (Server::start(page()).await, Server::start(page()).await);
    let moved = format!("Location: http://{}/\r\n", other.address);
    let moving = Server::start(Act::Keep(answer("302 Found", &moved, b""))).await;
    let credential =
        |server: &Server, more: Credential| Credential { origin: format!("http://{}", server.address), ..more };
    let bearer = Credential { bearer: Some(Secret::new("hush")), ..Credential::default() };
    let field = Credential { headers: [("X-Key".to_owned(), Secret::new("hush"))].into(), ..Credential::default() };
    let fetcher = knowing(vec![credential(&known, bearer), credential(&moving, field)]);

    fetcher.fetch(&known.url("/a"), None).await.unwrap();
    assert!(known.heads()[0].contains("authorization: Bearer hush\r\n"), "{:?}", known.heads());
    let fetched = fetcher.fetch(&moving.url("/"), None).await.unwrap();
    assert!(moving.heads()[0].contains("x-key: hush\r\n"), "{:?}", moving.heads());
    // Neither another port, nor another name of the same server, nor where it leads to.
    let to = fetched.url.join(fetched.header("location").unwrap()).unwrap();
    fetcher.fetch(&to, None).await.unwrap();
    let port = known.address.port();
    fetcher.fetch(&CrawlUrl::parse(&format!("http://localhost:{port}/")).unwrap(), None).await.unwrap();
    let heads = [other.heads(), known.heads().split_off(1)].concat();
    assert!(heads.len() == 2 && !heads.concat().contains("hush"), "{heads:?}");
    assert!(!format!("{fetcher:?}{:?}", fetcher.request_headers()).contains("hush"));
    // https is meant where nothing is said.
    let https =
        Credential { origin: known.address.to_string(), bearer: Some(Secret::new("hush")), ..Credential::default() };
    knowing(vec![https]).fetch(&known.url("/b"), None).await.unwrap();
    assert!(!known.heads().last().unwrap().contains("hush"));
}

#[tokio::test]
async fn cookies_are_off_unless_asked_for_and_go_home_only() {
    let set = || Act::Keep(answer("200 OK", "Set-Cookie: id=hush; Path=/\r\nSet-Cookie: b=2; Domain=cn\r\n", HELLO));
    let server = Server::start(set()).await;
    for (settings, sent) in [(local(), false), (Settings { cookies: true, ..local() }, true)] {
        let fetcher = Fetcher::new(&settings).unwrap();
        fetcher.fetch(&server.url("/a"), None).await.unwrap();
        fetcher.clone().fetch(&server.url("/b"), None).await.unwrap();
        let port = server.address.port();
        fetcher.fetch(&CrawlUrl::parse(&format!("http://localhost:{port}/")).unwrap(), None).await.unwrap();
        let heads = server.heads().split_off(server.heads().len() - 3);
        let told: Vec<bool> = heads.iter().map(|head| head.contains("cookie: id=hush\r\n")).collect();
        assert_eq!(told, [false, sent, false], "{heads:?}");
        assert!(!format!("{:?}", fetcher.request_headers()).contains("hush"));
    }
    // A run begins without any.
    let fresh = Fetcher::new(&Settings { cookies: true, ..local() }).unwrap();
    fresh.fetch(&server.url("/"), None).await.unwrap();
    assert!(!server.heads().last().unwrap().contains("hush"));
}

/// An authority, what it signed for the server, and what it signed for us.
struct Signed {
    authority: CertifiedIssuer<'static, KeyPair>,
    server: (rcgen::Certificate, KeyPair),
    client: (rcgen::Certificate, KeyPair),
}

fn signed() -> Signed {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let sign = |name: &str| {
        let key = KeyPair::generate().unwrap();
        (CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap(), key)
    };
    let (server, client) = (sign("localhost"), sign("client"));
    Signed { authority, server, client }
}

/// A server that wants to see a certificate; the port, and the heads of the requests it heard.
async fn tls(signed: &Signed) -> (u16, Arc<Mutex<Vec<String>>>) {
    let mut roots = RootCertStore::empty();
    roots.add(signed.authority.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signed.server.1.serialize_der()));
    let config = ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![signed.server.0.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            heard.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
            let _ = stream.write_all(&answer("200 OK", "Connection: close\r\n", HELLO)).await;
            let _ = stream.shutdown().await;
        }
    });
    (port, heads)
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_its_origin_alone() {
    let signed = signed();
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let authority = file("authority.pem", signed.authority.pem());
    let certificate = file("client.pem", signed.client.0.pem());
    let key = file("client.key", signed.client.1.serialize_pem());
    let both = file("both.pem", signed.client.0.pem() + &signed.client.1.serialize_pem());
    let (port, heads) = tls(&signed).await;
    let url = CrawlUrl::parse(&format!("https://localhost:{port}/x")).unwrap();
    let origin = url.origin();
    let credential = Credential { origin: origin.clone(), authority: Some(authority), ..Credential::default() };
    let apart = Credential { certificate: Some(certificate), key: Some(key), ..credential.clone() };
    let token = Secret::new("hush");
    for shown in [apart, Credential { certificate: Some(both), bearer: Some(token), ..credential.clone() }] {
        let fetched = knowing(vec![shown.clone()]).fetch(&url, None).await.unwrap();
        assert_eq!(fetched.body, HELLO);
        // Under another origin it is not shown: that server wants one and hears nothing.
        let elsewhere = Credential { origin: "https://localhost:1".to_owned(), ..shown };
        let trusting = knowing(vec![credential.clone(), elsewhere]);
        assert!(trusting.fetch(&url, None).await.is_err());
    }
    let heads = heads.lock().unwrap().clone();
    assert!(heads.len() == 2 && heads[1].contains("authorization: Bearer hush\r\n"), "{heads:?}");
    // Without the authority the server is not trusted.
    assert_eq!(knowing(Vec::new()).fetch(&url, None).await.unwrap_err().kind, FailureKind::Tls);
}
