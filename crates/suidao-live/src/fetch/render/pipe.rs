//! The Chrome DevTools Protocol over a pipe: JSON messages, each followed by a zero byte.
//!
//! Unlike a WebSocket, a pipe opens no port to other processes, and it closes when this process ends, which ends the
//! browser. Messages are JSON values, because the dozen in use are stable, and unknown events of newer browsers do no
//! harm.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// Longest message read: longer than a page of `fetch.max_body` bytes, escaped.
const LONGEST: u64 = 256 << 20;

#[derive(Clone, Debug)]
pub(super) struct BrowserEvent {
    /// Domain and name: `Page.loadEventFired`.
    pub method: String,
    /// The session of its tab; `None` for events of the whole browser.
    pub session: Option<String>,
    pub params: Value,
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The browser is gone.
    Closed,
    /// The browser's error message.
    Refused(String),
}

/// Sends commands. Clones share the pipe.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    out: UnboundedSender<Vec<u8>>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    waiting: FxHashMap<u64, oneshot::Sender<Result<Value, Fault>>>,
    closed: bool,
}

impl Pipe {
    /// Uses `input` and `output` of a browser. Its events are sent to the channel, which closes with it.
    pub fn new(
        mut input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncRead + Unpin + Send + 'static,
    ) -> (Self, UnboundedReceiver<BrowserEvent>) {
        let (out, mut messages) = unbounded_channel::<Vec<u8>>();
        let (happened, events) = unbounded_channel();
        let state = Arc::<Mutex<State>>::default();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                if input.write_all(&message).await.is_err() || input.flush().await.is_err() {
                    break;
                }
            }
        });
        let pipe = Self { out, state };
        let reader = pipe.clone();
        tokio::spawn(async move {
            reader.listen(output, &happened).await;
            reader.close();
        });
        (pipe, events)
    }

    async fn listen(&self, output: impl AsyncRead + Unpin, happened: &UnboundedSender<BrowserEvent>) {
        let mut output = BufReader::with_capacity(1 << 16, output);
        loop {
            let mut message = Vec::new();
            match (&mut output).take(LONGEST).read_until(0, &mut message).await {
                Ok(read) if read > 0 && message.last() == Some(&0) => {}
                _ => return,
            }
            message.pop();
            let Ok(mut message) = serde_json::from_slice::<Value>(&message) else { continue };
            if let Some(id) = message.get("id").and_then(Value::as_u64) {
                let waits = self.state.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id);
                let response = match message.get("error") {
                    Some(error) => Err(Fault::Refused(error["message"].as_str().unwrap_or_default().to_owned())),
                    None => Ok(message["result"].take()),
                };
                if let Some(waits) = waits {
                    // The caller may have timed out.
                    let _ = waits.send(response);
                }
            } else if let Value::String(method) = message["method"].take() {
                let session = message.get("sessionId").and_then(Value::as_str).map(str::to_owned);
                let event = BrowserEvent { method, session, params: message["params"].take() };
                if happened.send(event).is_err() {
                    return;
                }
            }
        }
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed = true;
        for (_, waits) in state.waiting.drain() {
            let _ = waits.send(Err(Fault::Closed));
        }
    }

    pub fn is_closed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Sends a command to the browser, or to the tab of a session, and waits for the response without a time limit.
    pub async fn ask(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, Fault> {
        let (response, answered) = oneshot::channel();
        self.send(session, method, params, Some(response))?;
        answered.await.unwrap_or(Err(Fault::Closed))
    }

    /// Sends a command without waiting for the response.
    pub fn notify(&self, session: Option<&str>, method: &str, params: Value) {
        // If the browser is gone there is nothing to do.
        let _ = self.send(session, method, params, None);
    }

    fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        response: Option<oneshot::Sender<Result<Value, Fault>>>,
    ) -> Result<(), Fault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Err(Fault::Closed);
        }
        state.last += 1;
        let id = state.last;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        if let Some(response) = response {
            state.waiting.insert(id, response);
        }
        // Within the lock, so that messages leave in the order of their ids.
        self.out.send(bytes).map_err(|_| Fault::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_reach_their_request_and_events_are_in_order() {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(ours);
        let (pipe, mut events) = Pipe::new(write, read);
        let browser = tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(theirs);
            let mut read = BufReader::new(read);
            let mut requested = Vec::new();
            for _ in 0..2 {
                let mut message = Vec::new();
                read.read_until(0, &mut message).await.unwrap();
                requested.push(serde_json::from_slice::<Value>(&message[..message.len() - 1]).unwrap());
            }
            assert_eq!(requested[0]["sessionId"], Value::Null);
            assert_eq!(requested[1]["sessionId"], "S");
            // The second answer first, an event, invalid JSON, and an error for the first.
            for text in [
                json!({ "id": requested[1]["id"], "result": { "n": 2 } }).to_string(),
                json!({ "method": "Page.loadEventFired", "sessionId": "S", "params": { "t": 1 } }).to_string(),
                "nonsense".to_owned(),
                json!({ "id": requested[0]["id"], "error": { "message": "no such thing" } }).to_string(),
            ] {
                write.write_all(text.as_bytes()).await.unwrap();
                write.write_all(&[0]).await.unwrap();
            }
        });
        let (first, second) =
            tokio::join!(pipe.ask(None, "A.a", json!({})), pipe.ask(Some("S"), "B.b", json!({ "x": 1 })));
        assert_eq!(first, Err(Fault::Refused("no such thing".to_owned())));
        assert_eq!(second.unwrap()["n"], 2);
        let event = events.recv().await.unwrap();
        assert_eq!((event.method.as_str(), event.session.as_deref()), ("Page.loadEventFired", Some("S")));
        browser.await.unwrap();
        // The browser has exited: nothing waits for it.
        assert!(events.recv().await.is_none());
        assert!(pipe.is_closed());
        assert_eq!(pipe.ask(None, "C.c", json!({})).await, Err(Fault::Closed));
    }
}
