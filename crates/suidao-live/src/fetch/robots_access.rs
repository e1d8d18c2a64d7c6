//! The robots.txt of an origin for requests outside of a crawl's machine: those of a rendering browser, and of spider.

use suidao_crawl::crawl::Robot;
use suidao_page::model::{CrawlUrl, Fetched};

/// At least 500 KiB must be read (RFC 9309, 2.5).
const BYTES: usize = 500 << 10;

/// What a robots.txt allows.
pub enum RobotsAccess {
    /// There is no such file.
    All,
    /// It is unreachable (RFC 9309, 2.3.1.4).
    Nothing,
    Rules(Box<Robot>),
}

impl RobotsAccess {
    /// Redirects that are followed; after them the file counts as missing (RFC 9309, 2.3.1.2).
    pub const HOPS: usize = 5;

    /// What the response to a request for the robots.txt at `at` allows this agent; `None` is no response. `Err` is the
    /// target of a redirect, which is requested next.
    pub fn of(agent: &str, at: &CrawlUrl, response: Option<&Fetched>) -> Result<Self, CrawlUrl> {
        let Some(response) = response else { return Ok(Self::Nothing) };
        match response.status {
            200..=299 => {
                let text = &response.body[..response.body.len().min(BYTES)];
                Ok(Self::Rules(Box::new(Robot::new(agent, text))))
            }
            301 | 302 | 303 | 307 | 308 => {
                response.header("location").and_then(|location| at.join(location).ok()).map_or(Ok(Self::All), Err)
            }
            // 429 means overload, not permission, as in a crawl.
            400..=428 | 430..=499 => Ok(Self::All),
            _ => Ok(Self::Nothing),
        }
    }
}
