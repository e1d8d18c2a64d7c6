//! Writing a lexicon as TOML, in one canonical form: equal lexicons have equal texts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toml::Value;

use super::error::FORMAT;
use crate::topic::lexicon::BORDER;
use crate::topic::{DocumentFrequencies, Lexicon, Linear, TermFrequency, Weights};

/// The first version of the format.
pub(super) const FIRST_FORMAT: i64 = 1;

/// Characters of a line of a list.
const WIDTH: usize = 116;

impl Lexicon {
    /// The file: canonical, so equal lexicons have equal texts.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = String::with_capacity(64 << 10);
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        writeln!(
            out,
            "# A topic lexicon of suidao. Everything in it may be edited; the crawl that uses it must stand still."
        )?;
        let format = if self.linear.is_some() { FORMAT } else { FIRST_FORMAT };
        writeln!(out, "format = {format}\nname = {}\n", quoted(&self.name))?;
        writeln!(out, "[made]\nmethod = {}\ndate = {}", quoted(&self.made.method), quoted(&self.made.date))?;
        writeln!(out, "pages = {}\nhosts = {}\nsources = [", self.made.pages, self.made.hosts)?;
        for source in &self.made.sources {
            writeln!(out, "    {},", quoted(source))?;
        }
        writeln!(out, "]\n")?;
        let judged = match &self.linear {
            None => "a page is on topic: Sim of title and main content, eq. (1), and of its tags".to_owned(),
            Some(_) => {
                format!("a page is on topic. {BORDER} is the border of [linear]: raise it for fewer pages, surer")
            }
        };
        for (name, what, threshold) in
            [("page", judged.as_str(), &self.page), ("link", "a link is promising: eq. (3)", &self.link)]
        {
            writeln!(out, "# From this relevance on {what}.\n[threshold.{name}]\nvalue = {:?}", threshold.value)?;
            writeln!(out, "chosen = {}", quoted(&threshold.chosen))?;
            let expected =
                [("precision", threshold.precision), ("recall", threshold.recall), ("listings", threshold.listings)];
            for (key, expected) in expected {
                if let Some(expected) = expected {
                    writeln!(out, "{key} = {expected:?}")?;
                }
            }
            writeln!(out)?;
        }
        let Weights { anchor, context, url, near, tags } = self.weights;
        writeln!(out, "# Eq. (3): anchor + context + url = 1. near: what nearness to [near] is worth beside [terms].")?;
        writeln!(out, "# tags: what Sim of a page's own tags adds to that of its text, eq. (1).")?;
        writeln!(
            out,
            "# tf: \"raw\" counts occurrences (eq. 2), \"root\" takes their root, \"log\" 1 + ln of them.\n[weights]"
        )?;
        writeln!(out, "anchor = {anchor:?}\ncontext = {context:?}\nurl = {url:?}\nnear = {near:?}\ntags = {tags:?}")?;
        let tf = TermFrequency::NAMES.iter().find(|(_, tf)| *tf == self.tf).map_or("root", |(name, _)| name);
        writeln!(out, "tf = {}\n", quoted(tf))?;
        let mut section = |name: &str, what: &str, terms: &[(String, f64)]| {
            writeln!(out, "# {what}\n[{name}]")?;
            for (term, weight) in terms {
                writeln!(out, "{} = {weight:?}", quoted(term))?;
            }
            writeln!(out)
        };
        match &self.linear {
            None => section("terms", "Terms of the topic. Only the ratio of the weights matters.", &self.terms)?,
            Some(linear) => {
                section(
                    "terms",
                    "What a word says for the topic, or against it, in a page's text and in its tags. Strike out what is\n\
                     # chance: it stays out when the lexicon is learnt again.",
                    &self.terms,
                )?;
                section("tags", "What a word says in a page's tags and in anchors beside that.", &linear.tags)?;
                section("anchors", "What a word says in anchors beside both.", &linear.anchors)?;
                section("urls", "What a token says in a link's URL, beside [terms].", &linear.urls)?;
            }
        }
        section("near", "Terms of pages that lead to the topic without being of it.", &self.near)?;
        writeln!(
            out,
            "# Proposed by the program from the URLs of topic pages, to be confirmed by a person: strike out what"
        )?;
        writeln!(out, "# does not lead to the topic.\n[url]\ntokens = [")?;
        for token in &self.url {
            writeln!(out, "    {},", quoted(token))?;
        }
        writeln!(out, "]\n")?;
        if let Some(linear) = &self.linear {
            linear.write(&self.terms, out)?;
        }
        writeln!(
            out,
            "# In how many of the background's pages a word occurs: word=pages, a space inside a term written _;"
        )?;
        writeln!(out, "# other: what is taken for words not listed. IDF = ln(1 + pages / (1 + df)).\n[background]")?;
        let DocumentFrequencies { pages, other, df } = &self.background;
        writeln!(out, "pages = {pages}\nother = {other:?}\ndf = '''")?;
        fill(out, df.iter().map(|(word, count)| format!("{}={count}", word.replace(' ', "_"))));
        writeln!(out, "\n'''")
    }
}

impl Linear {
    fn write(&self, terms: &[(String, f64)], out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "# S = terms x text + (terms + tags) x tags, each brought to length 1. Relevance is {BORDER} where S is border, 0\n\
             # where it is middle, which is what a middling page of the background has.\n[linear]"
        )?;
        writeln!(out, "border = {:?}\nmiddle = {:?}\n", self.border, self.middle)?;
        writeln!(out, "# All that was learnt. What is missing above was struck out by a person.\n[learnt]")?;
        for (key, kept, struck) in [("terms", terms, &self.struck.terms), ("tags", &self.tags, &self.struck.tags)] {
            let learnt: BTreeSet<&String> = kept.iter().map(|(term, _)| term).chain(struck).collect();
            writeln!(out, "{key} = [")?;
            fill(out, learnt.into_iter().map(|term| Value::String(term.clone()).to_string() + ","));
            writeln!(out, "\n]")?;
        }
        writeln!(out)
    }
}

/// Writes entries with spaces between them, in lines of about [`WIDTH`] bytes.
fn fill(out: &mut String, entries: impl Iterator<Item = String>) {
    let mut width = 0;
    for entry in entries {
        if width > 0 && width + entry.len() > WIDTH {
            out.push('\n');
            width = 0;
        }
        if width > 0 {
            out.push(' ');
        }
        width += entry.len() + 1;
        out.push_str(&entry);
    }
}
