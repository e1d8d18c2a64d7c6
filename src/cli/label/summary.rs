//! What the answers say, in words and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use serde::Serialize;
use suidao::html::{per_cent, thousands};
use suidao::label::words::{LabelledPage, Suggestions, Telling, suggest};
use suidao::label::{Estimate, Figure, Outcome, estimate};

use super::Judged;

/// What the answers say.
#[derive(Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    estimate: Estimate,
    /// Changes of the lexicon, if it was given.
    lexicon: Option<Suggestions>,
}

impl Summary {
    /// Estimates from the answers, and reads the judged pages again for what they say of the lexicon.
    pub(super) fn new(judged: &Judged, answers: &BTreeMap<usize, bool>) -> Result<Self> {
        let entries = &judged.catalogue.entries;
        let labels: Vec<_> = answers.iter().map(|(&place, &relevant)| (entries[place].relevance, relevant)).collect();
        let estimate = estimate(&judged.strata, &labels);
        let suggestions = match judged.lexicon() {
            None => None,
            Some(lexicon) => {
                let places: Vec<usize> = answers.keys().copied().collect();
                let texts = judged.documents(&places, |document| (document.host, document.title, document.text))?;
                let page = |(place, (host, title, text)): (&usize, &(String, String, String))| {
                    let accepted = f64::from(entries[*place].relevance.get()) >= judged.strata.threshold();
                    LabelledPage::new(host, title, text, lexicon, answers[place], accepted)
                };
                let pages: Vec<LabelledPage> = texts.iter().map(page).collect();
                Some(suggest(&pages, lexicon))
            }
        };
        Ok(Self { estimate, lexicon: suggestions })
    }

    /// For people.
    pub(super) fn in_words(&self, with_lexicon: bool) -> String {
        let told = &self.estimate;
        let mut out = format!(
            "{} of {} pages judged; the page threshold is {:.4}\n\n",
            thousands(told.labelled),
            thousands(told.pages),
            told.threshold
        );
        out += "from relevance      pages   judged   of these relevant\n";
        for (number, stratum) in told.strata.iter().enumerate() {
            let mark = if suidao::label::Strata::is_above(number) { "≥" } else { " " };
            let _ = writeln!(
                out,
                "{mark} {:<12.4} {:>10} {:>8} {:>19}",
                stratum.from,
                thousands(stratum.pages),
                stratum.labelled,
                stratum.relevant
            );
        }
        out += "\nestimates for all pages, with 95% intervals\n";
        let share = |figure: &Figure| {
            let Figure { value, low, high } = *figure;
            format!("{} [{}, {}]", per_cent(value, 1.0), per_cent(low, 1.0), per_cent(high, 1.0))
        };
        let unknown = || "not known: a stratum has no judged page; judge more".to_owned();
        let number = |figure: &Figure| {
            let whole = |value: f64| thousands(value.round() as u64);
            format!("{} [{}, {}]", whole(figure.value), whole(figure.low), whole(figure.high))
        };
        let _ = writeln!(
            out,
            "precision of the crawl's judgement   {}",
            told.precision.as_ref().map_or_else(unknown, share)
        );
        let _ = writeln!(
            out,
            "relevant pages                       {}",
            told.relevant.as_ref().map_or_else(unknown, number)
        );
        let _ =
            writeln!(out, "recall among the fetched             {}", told.recall.as_ref().map_or_else(unknown, share));
        if !told.thresholds.is_empty() {
            out += "\nthreshold   precision   recall       F1   pages at or above   change sides\n";
            for outcome in &told.thresholds {
                let same = |other: &Outcome| (other.threshold - outcome.threshold).abs() < 1e-9;
                let mark = if (outcome.threshold - told.threshold).abs() < 1e-9 {
                    "  in force"
                } else if told.suggested.as_ref().is_some_and(same) {
                    "  suggested"
                } else {
                    ""
                };
                let _ = writeln!(
                    out,
                    "{:<9.4} {:>11} {:>8} {:>8.3} {:>19} {:>14}{mark}",
                    outcome.threshold,
                    per_cent(outcome.precision, 1.0),
                    per_cent(outcome.recall, 1.0),
                    outcome.f1,
                    thousands(outcome.accepted),
                    thousands(outcome.changed)
                );
            }
            let _ = match &told.suggested {
                Some(best) => writeln!(
                    out,
                    "\nsuggested: page threshold {:.4}; {} pages would change sides",
                    best.threshold,
                    thousands(best.changed)
                ),
                None => writeln!(out, "\nno other threshold is clearly better"),
            };
        }
        match &self.lexicon {
            Some(told) => {
                words(
                    &mut out,
                    "terms to weigh less or drop (in wrongly accepted pages, not in rightly accepted)",
                    &told.lower,
                );
                words(&mut out, "words the lexicon lacks (in relevant pages, not in others)", &told.add);
                words(&mut out, "words of relevant pages that were rejected", &told.missed);
            }
            None if !with_lexicon => out += "\ngive the lexicon with -m for changes of its terms\n",
            None => {}
        }
        out
    }
}

fn words(out: &mut String, what: &str, told: &[Telling]) {
    let _ = writeln!(out, "\n{what}");
    if told.is_empty() {
        out.push_str("  none stands out\n");
    }
    for telling in told {
        let example = telling.examples.first().map_or("", String::as_str);
        let _ = writeln!(
            out,
            "  {}  z {:.1}, {} pages against {}, as in “{}”",
            telling.word, telling.z, telling.with, telling.against, example
        );
    }
}
