//! The status page of a cluster: what its workers report.

use std::future::Future;
use std::sync::Arc;

use minijinja::{Value, context};
use tokio::net::TcpListener;

use super::{HTML, Reply, guarded};
use crate::listen::listen;
use suidao_cluster::{ClusterError, ClusterStatus, End, PartitionStatus, WorkerStatus};
use suidao_html::plot;
use suidao_html::{self as html, fill, per_cent, thousands};
use suidao_page::messages::Lang;

/// Partitions that are shown; the others are folded away.
const SHOWN: usize = 20;

/// Serves the status of a cluster, which `read` fetches again for each request, until `stop` resolves. `names`:
/// accepted host names besides addresses and localhost.
pub async fn serve_cluster<F>(
    listener: TcpListener,
    names: Vec<String>,
    read: impl Fn() -> F + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = Result<ClusterStatus, ClusterError>> + Send,
{
    let (names, read) = (Arc::new(names), Arc::new(read));
    let answer = move |head: axum::http::request::Parts| {
        let (names, read) = (Arc::clone(&names), Arc::clone(&read));
        async move {
            guarded(&head, &names, async |path, _, lang| match path {
                "/" => match read().await {
                    Ok(status) => Reply { status: 200, media_type: HTML, refreshes: true, body: page(&status, lang) },
                    Err(error) => Reply::text(503, &format!("{} {error}", lang.phrase("cannot-read-the-cluster"))),
                },
                _ => Reply::text(404, &lang.text("only-path", &[])),
            })
            .await
        }
    };
    listen(listener, answer, stop).await;
}

fn page(status: &ClusterStatus, lang: Lang) -> String {
    let text = |key: &str, number: u64| lang.text(key, &[&thousands(number)]);
    let total = status.total();
    let rate =
        |of: fn(&WorkerStatus) -> f64| format!("{:.1}", status.alive().map(|(_, worker)| of(worker)).sum::<f64>());
    let figures = [
        (text("pages-per-second", 0), rate(|worker| worker.pages_per_second), text("of-all-workers", 0)),
        (
            text("share-relevant", 0),
            per_cent(total.relevant as f64, total.pages as f64),
            text("relevant-n", total.relevant),
        ),
        (text("urls-queued", 0), thousands(total.queued), text("known-n", total.known)),
        (text("requests-in-flight", 0), thousands(total.in_flight), text("not-in-a-log-included", 0)),
        (text("links-per-second", 0), rate(|worker| worker.links_per_second), text("between-partitions", 0)),
        (text("links-to-deliver", 0), thousands(status.waiting_links), text("on-the-server", 0)),
        (text("hosts", 0), thousands(total.hosts_visited), text("of-partitions-n", status.partitions.into())),
        (text("failed", 0), thousands(total.failed), String::new()),
    ];
    let state = match status.end {
        Some(End::Done(stop)) => stop.reason(lang).to_owned(),
        Some(End::Stopped) => text("cluster-stopped", 0),
        None if status.alive().next().is_none() => text("no-worker-runs", 0),
        None => text("workers-run-n", status.alive().count() as u64),
    };
    let sum = |worker: &WorkerStatus, of: fn(&PartitionStatus) -> u64| worker.partitions.values().map(of).sum::<u64>();
    let workers = status.workers.iter().map(|(name, worker)| {
        context! {
            name,
            alive => worker.alive,
            partitions => worker.partitions.len(),
            pages => sum(worker, |part| part.pages),
            relevant => sum(worker, |part| part.relevant),
            queued => sum(worker, |part| part.queued),
            in_flight => sum(worker, |part| part.in_flight),
            speed => format!("{:.1}", worker.pages_per_second),
        }
    });
    let owned = status.alive().flat_map(|(name, worker)| worker.partitions.iter().map(move |part| (name, part)));
    let mut owned: Vec<(&String, (&u32, &PartitionStatus))> = owned.collect();
    owned.sort_by_key(|(_, (number, part))| (std::cmp::Reverse(part.pages), **number));
    let partitions = owned.into_iter().map(|(name, (number, part))| {
        let best = part.best.map_or_else(|| "–".to_owned(), |best| format!("{best:.3}"));
        let PartitionStatus { pages, relevant, queued, hosts_visited, .. } = part;
        context! { number, name, pages, relevant, queued, hosts => hosts_visited, best }
    });
    let context = context! {
        name => &status.name,
        state,
        pages => total.pages,
        limit => status.limit.map(thousands),
        relevant => total.relevant,
        figures,
        shown => SHOWN,
        workers => workers.collect::<Value>(),
        partitions => partitions.collect::<Value>(),
    };
    let body = fill(lang, include_str!("cluster.html"), context);
    html::page(
        &format!("suidao{}{}", lang.phrase("colon"), status.name),
        lang,
        &[plot::STYLE, include_str!("status.css")],
        &body,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn status() -> ClusterStatus {
        let part =
            |pages| PartitionStatus { pages, relevant: pages / 2, queued: 7, best: Some(0.25), ..Default::default() };
        let worker = |alive, parts: &[(u32, u64)]| WorkerStatus {
            alive,
            pages_per_second: 1.5,
            partitions: parts.iter().map(|(number, pages)| (*number, part(*pages))).collect(),
            ..Default::default()
        };
        let workers = [("a<b>", worker(true, &[(0, 10), (3, 1_200)])), ("gone", worker(false, &[(1, 6)]))];
        ClusterStatus {
            name: "ml".to_owned(),
            partitions: 4,
            limit: Some(5_000),
            workers: workers.into_iter().map(|(name, worker)| (name.to_owned(), worker)).collect::<BTreeMap<_, _>>(),
            waiting_links: 12,
            end: None,
        }
    }

    #[test]
    fn workers_and_partitions_are_shown_in_both_languages() {
        for (lang, words) in [(Lang::English, ["Workers", "Partitions"]), (Lang::Chinese, ["工作进程", "分区"])] {
            let page = page(&status(), lang);
            assert!(words.iter().all(|word| page.contains(word)), "{page}");
            assert!(page.contains("1,216") && page.contains("a&lt;b&gt;") && !page.contains("a<b>"), "{page}");
        }
        let ended = ClusterStatus { end: Some(End::Stopped), ..status() };
        assert!(page(&ended, Lang::English).contains("suidao cluster stop"));
    }
}
