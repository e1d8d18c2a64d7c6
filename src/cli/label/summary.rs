//! The results of labelling, in words and as JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use anyhow::Result;
use serde::Serialize;
use suidao::corpus::CorpusDocument;
use suidao::html::{per_cent, thousands};
use suidao::label::words::{DistinctiveWord, LabelledPage, Suggestions, suggest, words_of};
use suidao::label::{Estimate, IntervalEstimate, Strata, estimate};
use suidao::topic::Topic;

use super::Judged;

#[derive(Serialize)]
pub(super) struct LabelSummary {
    #[serde(flatten)]
    estimate: Estimate,
    /// Suggested changes of the lexicon, if it was given.
    lexicon: Option<Suggestions>,
}

impl LabelSummary {
    /// Estimates from the answers, and parses the labelled pages again for suggestions.
    pub(super) fn new(judged: &Judged, answers: &BTreeMap<usize, bool>) -> Result<Self> {
        let entries = &judged.catalogue.entries;
        let labels: Vec<_> =
            answers.iter().map(|(&position, &relevant)| (entries[position].relevance, relevant)).collect();
        let estimate = estimate(&judged.strata, &labels);
        let Some(lexicon) = judged.topic.as_ref().map(Topic::lexicon) else {
            return Ok(Self { estimate, lexicon: None });
        };
        let positions: Vec<usize> = answers.keys().copied().collect();
        let pages = judged.documents(&positions, |position, CorpusDocument { host, title, text, .. }| {
            let accepted = judged.strata.of(entries[position].relevance) >= Strata::THRESHOLD;
            LabelledPage {
                words: words_of(&title, &text, lexicon),
                host,
                title,
                relevant: answers[&position],
                accepted,
            }
        })?;
        let pages: Vec<LabelledPage> = pages.into_values().collect();
        Ok(Self { estimate, lexicon: Some(suggest(&pages, lexicon)) })
    }
}

impl Display for LabelSummary {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let result = &self.estimate;
        let unknown = || "-".to_owned();
        let share = |figure: &IntervalEstimate| {
            let [value, low, high] = [figure.value, figure.low, figure.high].map(|share| per_cent(share, 1.0));
            format!("{value} [{low}, {high}]")
        };
        writeln!(
            out,
            "{} of {} pages labelled; page threshold {:.4}{}\n\n\
             {:<9}  {:>10}  {:>8}  {:>8}  {:>11}  {:>22}  {:>22}  {:>5}",
            thousands(result.labelled),
            thousands(result.pages),
            result.threshold,
            if self.lexicon.is_none() { " (inferred; give -m)" } else { "" },
            "threshold",
            "pages",
            "labelled",
            "relevant",
            "at or above",
            "precision",
            "recall",
            "F1"
        )?;
        for (number, point) in result.curve.iter().enumerate() {
            let is_suggested = result.suggested == Some(point.threshold);
            let mark = if number == Strata::THRESHOLD { "  current" } else { "" };
            writeln!(
                out,
                "{:<9.4}  {:>10}  {:>8}  {:>8}  {:>11}  {:>22}  {:>22}  {:>5}{mark}{}",
                point.threshold,
                thousands(point.pages),
                point.labelled,
                point.relevant,
                thousands(point.accepted),
                point.precision.as_ref().map_or_else(unknown, share),
                point.recall.as_ref().map_or_else(unknown, share),
                point.f1.map_or_else(unknown, |f1| format!("{f1:.3}")),
                if is_suggested { "  suggested" } else { "" },
            )?;
        }
        writeln!(
            out,
            "Pages, labelled and relevant count the pages between a threshold and the next; at or above, all those that\n\
             the threshold would accept.\n"
        )?;
        match &result.relevant {
            Some(figure) => {
                let [value, low, high] =
                    [figure.value, figure.low, figure.high].map(|pages| thousands(pages.round() as u64));
                writeln!(out, "about {value} [{low}, {high}] relevant pages (95% intervals)")?;
                if result.suggested.is_none() {
                    writeln!(out, "no other threshold is clearly better")?;
                }
            }
            None => writeln!(out, "a stratum has no labelled page, so there is no estimate; label more pages")?,
        }
        let Some(result) = &self.lexicon else {
            return writeln!(out, "\ngive the lexicon with -m to get suggested changes of its terms");
        };
        for (what, words) in [
            ("terms to reduce or delete (frequent in wrongly accepted pages)", &result.lower),
            ("words to add (frequent in relevant pages)", &result.add),
        ] {
            writeln!(out, "\n{what}")?;
            if words.is_empty() {
                writeln!(out, "  none")?;
            }
            for DistinctiveWord { word, z, with, against, examples } in words {
                let example = examples.first().map_or("", String::as_str);
                writeln!(out, "  {word}  z {z:.1}, {with} pages against {against}, as in “{example}”")?;
            }
        }
        Ok(())
    }
}
