//! The graph of hosts as SVG: columns by links from the seeds, circles by pages, bridges in colour.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::facts::GraphFacts;
use suidao_html::plot::{fitting, svg, word};
use suidao_html::{escape, thousands};
use suidao_page::messages::Lang;

const COLUMN: f64 = 190.0;
const ROW: f64 = 26.0;
const TOP: f64 = 28.0;

/// The drawing; `None` if there are fewer than two hosts.
pub fn drawing(facts: &GraphFacts, lang: Lang) -> Option<String> {
    if facts.hosts.len() < 2 {
        return None;
    }
    // Hosts not reachable from the seeds come last.
    let mut columns: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, host) in facts.hosts.iter().enumerate() {
        columns.entry(host.distance.unwrap_or(u32::MAX)).or_default().push(at);
    }
    let mut points = vec![(0.0, 0.0); facts.hosts.len()];
    let (mut inside, mut rows) = (String::new(), 0);
    for (column, (distance, hosts)) in columns.iter().enumerate() {
        let x = 14.0 + COLUMN * column as f64;
        let head = match distance {
            0 => lang.text("seeds", &[]),
            &u32::MAX => lang.text("not-linked", &[]),
            more => lang.text("links-away", &[more]),
        };
        inside += &word(x - 8.0, 14.0, "axis", &head);
        for (row, &host) in hosts.iter().enumerate() {
            points[host] = (x, TOP + ROW * (row as f64 + 0.5));
        }
        rows = rows.max(hosts.len());
    }
    for connection in &facts.connections {
        let [(x1, y1), (x2, y2)] = connection.hosts.map(|host| points[host]);
        let class = if connection.bridge { "bridge" } else { "link" };
        // Within a column an arc to the left of it would cover the names on the right.
        let bend = if x1 == x2 { 12.0 + (y2 - y1).abs() / 6.0 } else { 0.0 };
        let (cx, cy) = ((x1 + x2) / 2.0 - bend, (y1 + y2) / 2.0);
        let width = 0.6 + (connection.links as f64).ln_1p() / 3.0;
        let names = connection.hosts.map(|host| facts.hosts[host].host.as_str());
        let title = lang.text("anchors-and-link", &[&names[0], &names[1], &connection.links]);
        let _ = write!(
            inside,
            "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}Q{cx:.1} {cy:.1} {x2:.1} {y2:.1}\" style=\"stroke-width:{width:.1}\"><title>{}</title></path>",
            escape(&title)
        );
    }
    for (host, (x, y)) in facts.hosts.iter().zip(&points) {
        let radius = (2.0 + (host.pages as f64).ln_1p() * 1.2).min(11.0);
        let class = if host.relevant > 0 { "on" } else { "off" };
        let title = lang.text("bar-title", &[&host.host, &host.pages, &thousands(host.relevant)]);
        let _ = write!(
            inside,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            escape(&title)
        );
        inside += &word(x + 14.0, y + 4.0, "tick", &fitting(&host.host, COLUMN - 44.0));
    }
    let (width, height) = (COLUMN * columns.len() as f64, TOP + ROW * rows as f64 + 8.0);
    let title = lang.text("drawing-of-hosts", &[&facts.bridges]);
    // One unit is one pixel: a wide drawing scrolls, and a narrow one is not enlarged.
    Some(svg("hosts", width, height, &title, &inside).replacen("<svg ", &format!("<svg style=\"width:{width}px\" "), 1))
}
