//! Writes lexicon files, in one canonical form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use toml::Value;

use super::file::FORMAT;
use super::{DocumentFrequencies, Lexicon, LinearModel, LinkEvidence, Weights, background};

/// Bytes of a line of words.
const WIDTH: usize = 116;

impl Lexicon {
    /// The canonical file: equal lexicons have equal texts.
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
            "# A topic lexicon of suidao. You may edit it; a crawl resumes with a changed lexicon after `suidao rescore`."
        )?;
        writeln!(out, "format = {FORMAT}\nname = {}\n", quoted(&self.name))?;
        writeln!(
            out,
            "[provenance]\nmethod = {}\ndate = {}",
            quoted(&self.provenance.method),
            quoted(&self.provenance.date)
        )?;
        writeln!(out, "pages = {}\nhosts = {}\nsources = [", self.provenance.pages, self.provenance.hosts)?;
        for source in &self.provenance.sources {
            writeln!(out, "    {},", quoted(source))?;
        }
        writeln!(out, "]\n")?;
        let page = match &self.linear {
            None => "an on-topic page: Sim of title and main content, eq. (1), and of its tags".to_owned(),
            Some(linear) => {
                format!("an on-topic page. {} is at the boundary of [linear]", linear.boundary_relevance)
            }
        };
        for (name, what, threshold) in
            [("page", page.as_str(), &self.page), ("link", "a promising link: eq. (3)", &self.link)]
        {
            writeln!(out, "# Minimum relevance of {what}.\n[threshold.{name}]\nvalue = {:?}", threshold.value)?;
            writeln!(out, "chosen = {}", quoted(&threshold.chosen))?;
            for (key, expected) in [("precision", threshold.precision), ("recall", threshold.recall)] {
                if let Some(expected) = expected {
                    writeln!(out, "{key} = {expected:?}")?;
                }
            }
            writeln!(out)?;
        }
        let Weights { anchor, context, url, near, tags, tf, stem } = self.weights;
        writeln!(out, "# Eq. (3): anchor + context + url = 1. near: weight of [near] relative to [terms].")?;
        writeln!(out, "# tags: weight of the Sim of a page's own tags, which is added to that of its text, eq. (1).")?;
        writeln!(
            out,
            "# tf: \"raw\" is the number of occurrences (eq. 2), \"root\" its square root, \"log\" 1 + ln of it.\n[weights]"
        )?;
        writeln!(out, "anchor = {anchor:?}\ncontext = {context:?}\nurl = {url:?}\nnear = {near:?}\ntags = {tags:?}")?;
        writeln!(out, "tf = {}", quoted(tf.into()))?;
        if stem {
            writeln!(out, "# Other forms of English words, such as the plural, are the same term.\nstem = true")?;
        }
        writeln!(out)?;
        let mut section = |name: &str, what: &str, terms: &[(String, f64)]| {
            writeln!(out, "# {what}\n[{name}]")?;
            for (term, weight) in terms {
                writeln!(out, "{} = {weight:?}", quoted(term))?;
            }
            writeln!(out)
        };
        let terms = match &self.linear {
            None => "Terms of the topic. Only the ratio of the weights matters.",
            Some(_) => {
                "Terms for the topic (weight above 0) and against it (below 0), in texts and tags. Delete accidental \
                 terms:\n# they stay out when the lexicon is learnt again."
            }
        };
        section("terms", terms, &self.terms)?;
        self.write_near(out)?;
        if let Some(linear) = &self.linear {
            linear.write(&self.terms, out)?;
        }
        if let Some(judge) = &self.judge {
            judge.write(out)?;
        }
        self.write_url(out)?;
        self.evidence.write_proposed(out)?;
        if self.background == background::built_in_for(self) {
            let name = quoted(&background::built_in_name());
            writeln!(
                out,
                "# How many pages contain a word: the counts that suidao has, which are estimated from public word"
            )?;
            return writeln!(out, "# frequencies.\n[background]\nbuilt_in = {name}");
        }
        writeln!(out, "# Number of background pages that contain a word: word=pages, with _ for a space in a term;")?;
        writeln!(out, "# other: the number for words not listed. IDF = ln(1 + pages / (1 + df)).\n[background]")?;
        let DocumentFrequencies { pages, other, df } = &self.background;
        writeln!(out, "pages = {pages}\nother = {other:?}\ndf = '''")?;
        fill(out, df.iter().map(|(word, count)| format!("{}={count}", word.replace(' ', "_"))));
        writeln!(out, "\n'''")
    }
}

impl Lexicon {
    fn write_near(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "# Words of links that lead to the topic, which are no words of the topic.\n[near]")?;
        for (term, weight) in &self.near {
            let name = Value::String(term.clone());
            match self.evidence.near.get(term) {
                Some(text) => {
                    writeln!(out, "{name} = {{ weight = {weight:?}, evidence = {} }}", Value::String(text.clone()))?;
                }
                None => writeln!(out, "{name} = {weight:?}")?,
            }
        }
        writeln!(out)
    }

    fn write_url(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "# Tokens of URLs that lead to the topic; if suidao proposed them, why. Delete those that do not lead there."
        )?;
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        if self.evidence.url.is_empty() {
            writeln!(out, "[url]\ntokens = [")?;
            for token in &self.url {
                writeln!(out, "    {},", quoted(token))?;
            }
            return writeln!(out, "]\n");
        }
        writeln!(out, "[url.tokens]")?;
        for token in &self.url {
            let text = self.evidence.url.get(token).map_or("", String::as_str);
            writeln!(out, "{} = {}", quoted(token), quoted(text))?;
        }
        writeln!(out)
    }
}

impl LinkEvidence {
    fn write_proposed(&self, out: &mut String) -> std::fmt::Result {
        let all = |kept: &BTreeMap<String, String>, removed: &BTreeSet<String>| -> BTreeSet<String> {
            kept.keys().chain(removed).map(|term| term.replace(' ', "_")).collect()
        };
        let near = all(&self.near, &self.removed.near);
        let url = all(&self.url, &self.removed.url);
        if near.is_empty() && url.is_empty() {
            return Ok(());
        }
        writeln!(out, "# All that was proposed, to recognize what was deleted; _ for a space in a term.\n[proposed]")?;
        for (key, words) in [("near", near), ("url", url)].into_iter().filter(|(_, words)| !words.is_empty()) {
            writeln!(out, "{key} = '''")?;
            fill(out, words.into_iter());
            writeln!(out, "\n'''")?;
        }
        writeln!(out)
    }
}

impl LinearModel {
    fn write(&self, terms: &[(String, f64)], out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "# S = [terms] x text + ([terms] + [linear.tags]) x tags, where text and tags are tf x IDF of length 1.\n\
             # Relevance is boundary_relevance where S is boundary, and 0 where it is median, the median of the \
             background.\n[linear]"
        )?;
        writeln!(
            out,
            "boundary = {:?}\nboundary_relevance = {:?}\nmedian = {:?}\n",
            self.boundary, self.boundary_relevance, self.median
        )?;
        writeln!(out, "# Additional weights in the page's own tags and in anchors.\n[linear.tags]")?;
        for (term, weight) in &self.tags {
            writeln!(out, "{} = {weight:?}", Value::String(term.clone()))?;
        }
        writeln!(out)?;
        writeln!(out, "# All that was learnt, to recognize deleted terms; _ for a space in a term.\n[linear.learnt]")?;
        for (key, kept, removed) in
            [("terms", terms, &self.removed.terms), ("tags", self.tags.as_slice(), &self.removed.tags)]
        {
            let learnt: BTreeSet<&String> = kept.iter().map(|(term, _)| term).chain(removed).collect();
            writeln!(out, "{key} = '''")?;
            fill(out, learnt.into_iter().map(|term| term.replace(' ', "_")));
            writeln!(out, "\n'''")?;
        }
        writeln!(out)
    }
}

/// Writes words separated by spaces, in lines of about [`WIDTH`] bytes.
fn fill(out: &mut String, words: impl Iterator<Item = String>) {
    let mut width = 0;
    for word in words {
        if width > 0 && width + word.len() > WIDTH {
            out.push('\n');
            width = 0;
        }
        if width > 0 {
            out.push(' ');
        }
        width += word.len() + 1;
        out.push_str(&word);
    }
}
