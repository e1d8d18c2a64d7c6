//! What happens in a crawl, as it happens: fetched pages, and changes of its state. A client that comes back says which
//! page it saw last, and gets those after it that are still remembered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::folder::{CrawlFolder, CrawlName};
use crate::problem::Problem;
use crate::service::CrawlService;

/// Time between two looks at the state.
const LOOK: Duration = Duration::from_secs(1);

/// The events of a crawl.
pub struct Events {
    service: Arc<CrawlService>,
    crawl: CrawlFolder,
    last: u64,
    state: &'static str,
    waiting: VecDeque<CrawlEvent>,
    news: Option<broadcast::Receiver<(u64, Value)>>,
}

/// An event for a client.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlEvent {
    /// The number of the last page.
    pub id: u64,
    /// `page` or `state`.
    pub kind: &'static str,
    pub data: Value,
}

impl CrawlService {
    /// Follows a crawl, from after a page on; `None`: from now on.
    pub fn events(self: &Arc<Self>, name: &CrawlName, after: Option<u64>) -> Result<Events, Problem> {
        let crawl = self.folder.crawl(name)?;
        let mut events = Events {
            service: Arc::clone(self),
            crawl,
            last: after.unwrap_or(u64::MAX),
            state: "",
            waiting: VecDeque::new(),
            news: None,
        };
        events.listen();
        Ok(events)
    }
}

impl Events {
    /// Listens to the crawl if it runs.
    fn listen(&mut self) {
        if let Some(running) = self.service.running.get(&self.crawl.name) {
            let (missed, news) = running.pages_after(self.last);
            self.waiting.extend(missed.into_iter().map(|(id, data)| CrawlEvent { id, kind: "page", data }));
            self.news = Some(news);
        }
    }

    fn look(&mut self) {
        let state = self.service.state(&self.crawl).name();
        if state != self.state {
            self.state = state;
            let id = if self.last == u64::MAX { 0 } else { self.last };
            self.waiting.push_back(CrawlEvent { id, kind: "state", data: json!({ "state": state }) });
        }
    }

    /// The next event; `None` after a while without any.
    pub async fn next(&mut self) -> Option<CrawlEvent> {
        const QUIET: u32 = 15;
        self.look();
        for _ in 0..QUIET {
            if let Some(event) = self.waiting.pop_front() {
                if event.kind == "page" {
                    self.last = event.id;
                }
                return Some(event);
            }
            let next = async {
                match &mut self.news {
                    Some(news) => news.recv().await,
                    None => std::future::pending().await,
                }
            };
            match tokio::time::timeout(LOOK, next).await {
                Ok(Ok((id, data))) => self.waiting.push_back(CrawlEvent { id, kind: "page", data }),
                // It was too slow for some; a page that it missed is in the list of pages.
                Ok(Err(RecvError::Lagged(_))) => {}
                Ok(Err(RecvError::Closed)) => self.news = None,
                Err(_) => {
                    if self.news.is_none() {
                        self.listen();
                    }
                    self.look();
                }
            }
        }
        None
    }
}
