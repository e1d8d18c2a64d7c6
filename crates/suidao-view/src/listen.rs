//! The HTTP listener of the search page, the status page and the service. It limits connections, because idle ones would use up the
//! descriptors that a crawl needs.
//!
//! If all places are taken, the oldest connection without a request is closed for a new one: browsers open connections
//! in advance, and readers should not have to wait for their timeout.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Maximum number of connections. If all have sent their requests, another one waits.
    connections: usize,
    /// Time limit until the end of the request's head.
    head: Duration,
    /// Time limit of the whole connection.
    whole: Duration,
}

/// Of sites that answer from memory.
const BOUNDS: Bounds = Bounds { connections: 64, head: Duration::from_secs(10), whole: Duration::from_secs(600) };

/// Connections without a request yet, by number, the oldest first.
#[derive(Clone, Default)]
struct IdleConnections(Arc<Mutex<BTreeMap<u64, oneshot::Sender<()>>>>);

impl IdleConnections {
    /// Registers a connection. The future resolves when the connection must close, and never once it
    /// [request_arrived](Self::request_arrived).
    fn begin(&self, number: u64) -> impl Future<Output = ()> + use<> {
        let (cut, result) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, cut);
        async move {
            if result.await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Its request arrived, or it is gone.
    fn request_arrived(&self, number: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// Closes the oldest one, if any.
    fn cut_oldest(&self) {
        let oldest = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
        if let Some((_, cut)) = oldest {
            // It may be gone already.
            let _ = cut.send(());
        }
    }
}

/// Whether a Host field is an address, localhost or one of `names` (in lower case). Protects against DNS rebinding:
/// another website could use a name of its own to make a browser read what is served here.
pub fn is_ours(host: &str, names: &[String]) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.to_ascii_lowercase();
    name.parse::<IpAddr>().is_ok() || name == "localhost" || names.contains(&name)
}

/// Answers requests, one per connection, until `stop` resolves and the current ones are answered. Reads no request
/// bodies. Waits if it runs out of descriptors.
pub async fn listen<F>(
    listener: TcpListener,
    answer: impl Fn(Parts) -> F + Clone + Send + 'static,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = Response<Body>> + Send,
{
    within(BOUNDS, listener, move |request: Request<Body>| answer(request.into_parts().0), stop).await;
}

/// As [`listen`], for a service: requests have bodies, and many clients wait for events.
pub async fn listen_with_bodies<F>(
    listener: TcpListener,
    answer: impl Fn(Request<Body>) -> F + Clone + Send + 'static,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = Response<Body>> + Send,
{
    within(Bounds { connections: 512, ..BOUNDS }, listener, answer, stop).await;
}

async fn within<F>(
    bounds: Bounds,
    listener: TcpListener,
    answer: impl Fn(Request<Body>) -> F + Clone + Send + 'static,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = Response<Body>> + Send,
{
    let positions = Arc::new(Semaphore::new(bounds.connections));
    let silent = IdleConnections::default();
    let mut number: u64 = 0;
    let (stopping, stopped) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            match listener.accept().await {
                Ok((stream, _)) => {
                    if positions.available_permits() == 0 {
                        silent.cut_oldest();
                    }
                    // It is never closed.
                    Some((Arc::clone(&positions).acquire_owned().await.ok()?, stream))
                }
                Err(error) => {
                    tracing::debug!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    None
                }
            }
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        if let Some((position, stream)) = accepted {
            number += 1;
            let (stopped, cut, silent) = (stopped.clone(), silent.begin(number), silent.clone());
            let answer = {
                let (answer, silent) = (answer.clone(), silent.clone());
                move |request| {
                    silent.request_arrived(number);
                    answer(request)
                }
            };
            tokio::spawn(async move {
                let talk = serve_connection(bounds.head, stream, answer, stopped);
                tokio::select! {
                    _ = tokio::time::timeout(bounds.whole, talk) => {}
                    () = cut => {}
                }
                silent.request_arrived(number);
                drop(position);
            });
        }
    }
    drop((listener, stopped));
    // Every open connection holds a receiver until it is done.
    let _ = stopping.send(());
    stopping.closed().await;
}

async fn serve_connection<F>(
    head: Duration,
    stream: TcpStream,
    answer: impl Fn(Request<Body>) -> F,
    mut stopped: watch::Receiver<()>,
) where
    F: Future<Output = Response<Body>>,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let made = answer(request.map(Body::new));
        async { Ok::<_, std::convert::Infallible>(made.await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head).keep_alive(false);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    // A broken connection is the client's problem.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

#[allow(clippy::disallowed_methods)] // measures the duration under test
#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Instant;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const SHORT: Bounds =
        Bounds { connections: 2, head: Duration::from_millis(300), whole: Duration::from_millis(900) };

    async fn listening(
        bounds: Bounds,
        size: usize,
        work: Duration,
    ) -> (SocketAddr, tokio::sync::oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let answer = move |request: Request<Body>| async move {
            tokio::time::sleep(work).await;
            Response::new(Body::from(request.uri().path().repeat(size)))
        };
        let served = tokio::spawn(within(bounds, listener, answer, async {
            let _ = stopped.await;
        }));
        (address, stop, served)
    }

    async fn received(mut stream: TcpStream) -> String {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    async fn asking(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    const ASK: &str = "GET /here HTTP/1.1\r\nHost: a\r\n\r\n";

    #[tokio::test]
    async fn idle_connections_are_closed_for_new_ones() {
        let (address, _stop, _) = listening(SHORT, 1, Duration::ZERO).await;
        let begun = Instant::now();
        let idle: Vec<TcpStream> =
            vec![asking(address, "").await, asking(address, "GET / HT").await, asking(address, "").await];
        assert!(received(asking(address, ASK).await).await.ends_with("/here"), "it waits for its turn, and gets it");
        for stream in idle {
            assert!(!received(stream).await.contains("200"));
        }
        assert!(begun.elapsed() < Duration::from_secs(3));
    }

    #[tokio::test]
    async fn a_request_is_answered_despite_hundreds_of_idle_connections() {
        let (address, _stop, _) = listening(BOUNDS, 1, Duration::ZERO).await;
        let mut idle = Vec::new();
        for n in 0..300 {
            idle.push(asking(address, ["", "GET / HTTP/1.1\r\nHo"][n % 2]).await);
        }
        let answered =
            tokio::time::timeout(BOUNDS.head / 2, async { received(asking(address, ASK).await).await }).await;
        assert!(answered.is_ok_and(|text| text.ends_with("/here")), "before any of them is cut off for its silence");
        // The last connections still work.
        let mut last = idle.pop().unwrap();
        last.write_all(b"st: a\r\n\r\n").await.unwrap();
        assert!(received(last).await.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn a_request_that_came_is_answered_whoever_comes_after_it() {
        let (address, _stop, _) = listening(SHORT, 1, Duration::from_millis(200)).await;
        let first = [asking(address, ASK).await, asking(address, ASK).await];
        tokio::time::sleep(Duration::from_millis(50)).await;
        let later = [asking(address, "").await, asking(address, ASK).await];
        for stream in first {
            assert!(received(stream).await.ends_with("/here"));
        }
        let [_, requested] = later;
        assert!(received(requested).await.ends_with("/here"));
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        let bounds = Bounds { connections: 1, ..SHORT };
        let (address, _stop, _) = listening(bounds, 10_000_000, Duration::ZERO).await;
        let _deaf = asking(address, ASK).await;
        let begun = Instant::now();
        assert!(received(asking(address, ASK).await).await.starts_with("HTTP/1.1 200"));
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[tokio::test]
    async fn what_is_under_way_is_answered_before_the_end() {
        let (address, stop, served) = listening(SHORT, 1, Duration::from_millis(200)).await;
        let one = asking(address, ASK).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.send(()).unwrap();
        assert!(received(one).await.ends_with("/here"));
        served.await.unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let names = ["crawler.example.cn".to_owned()];
        for (host, answers) in [
            ("127.0.0.1:9090", true),
            ("127.0.0.1", true),
            ("[::1]:9090", true),
            ("LocalHost:9090", true),
            ("10.0.0.7:80", true),
            ("Crawler.example.cn:9090", true),
            ("evil.example.com:9090", false),
            ("127.0.0.1.evil.com", false),
            ("localhost.evil.com", false),
            ("", false),
            ("[", false),
        ] {
            assert_eq!(is_ours(host, &names), answers, "{host}");
        }
    }
}
