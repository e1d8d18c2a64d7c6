//! The graph of hosts in the DOT language of Graphviz.

use std::fmt::Write;

use super::facts::GraphFacts;

/// An undirected graph: hosts with relevant pages are filled, bridges are bold.
pub fn dot(facts: &GraphFacts) -> String {
    let mut out = String::from("graph hosts {\n  node [shape=box, style=rounded];\n");
    for (number, host) in facts.hosts.iter().enumerate() {
        let style = if host.relevant > 0 { ", style=\"rounded,filled\"" } else { "" };
        let name = quoted(&host.host);
        let _ = writeln!(out, "  h{number} [label=\"{name}\\n{} of {} relevant\"{style}];", host.relevant, host.pages);
    }
    for connection in &facts.connections {
        let style = if connection.bridge { ", style=bold, color=orangered" } else { "" };
        let [one, two] = connection.hosts;
        let _ = writeln!(out, "  h{one} -- h{two} [label=\"{}\"{style}];", connection.links);
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
