//! `suidao label --by judge`: a chat or a command answers in place of a person.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use suidao::corpus::CorpusDocument;
use suidao::html::count;
use suidao::judge::{Answer, Failures, JudgeError, JudgeFailure, OutsideJudge, Verdict};
use suidao::label::{BY_JUDGE, LabelFile};
use suidao::topic::{Topic, opening_of};

use super::{Judged, LabelArgs, announced};
use crate::cli::outcome::Verbosity;
use crate::cli::second_opinion;

/// Pages asked about before their answers are on disk.
const STEP: usize = 16;

/// Answers the remaining pages of the sample. Pages of which the judge is unsure get no label.
pub fn ask(
    args: &LabelArgs,
    judged: &Judged,
    file: &mut LabelFile,
    answers: &mut BTreeMap<usize, bool>,
    verbosity: Verbosity,
) -> Result<()> {
    let settings = args.judge.load(&[])?.judge;
    ensure!(settings.is_configured(), JudgeError::NotConfigured);
    ensure!(
        settings.is_chat() || settings.command.is_some(),
        "judge.url names embeddings, which give no labels; name a URL that ends in /v1/chat/completions"
    );
    let lexicon = judged.topic.as_ref().map(Topic::lexicon);
    let mut judge = OutsideJudge::new(&settings, lexicon.context("give the lexicon with -m; it names the topic")?)?;
    second_opinion::announce(&settings, verbosity);
    let drawn = announced(args, judged, &answers.keys().copied().collect())?;
    let mut documents = judged.documents(&drawn, |_, CorpusDocument { url, title, text, .. }| {
        (url, opening_of([title.as_str(), text.as_str()].into_iter(), settings.tokens))
    })?;
    let pages: Vec<_> = drawn.into_iter().filter_map(|at| Some((at, documents.remove(&at)?))).collect();
    let (mut labelled, mut unsure, mut failed) = (0, 0, Failures::default());
    for part in pages.chunks(STEP) {
        let texts: Vec<String> = part.iter().map(|(_, (_, text))| text.clone()).collect();
        for ((at, (url, _)), answer) in part.iter().zip(judge.ask(&texts)) {
            let on_topic = match answer {
                Ok(Answer::Verdict(Verdict::Unsure)) => {
                    unsure += 1;
                    continue;
                }
                Ok(Answer::Verdict(verdict)) => verdict == Verdict::Yes,
                Ok(Answer::Vector(_)) => {
                    failed.count(JudgeFailure::Nonsense);
                    continue;
                }
                Err(failure) => {
                    failed.count(failure);
                    continue;
                }
            };
            let relevance = judged.catalogue.entries[*at].relevance;
            let columns = format_args!("{:.4}\t{}\t{BY_JUDGE}", relevance.get(), judged.strata.of(relevance));
            file.add(url, on_topic, columns)?;
            answers.insert(*at, on_topic);
            labelled += 1;
        }
    }
    infoln!(verbosity, "The judge labelled {}; it was unsure of {unsure}.", count(labelled, "page", "pages"));
    if failed.total() > 0 {
        infoln!(verbosity, "warning: {} got no label: {}", failed.total(), second_opinion::by_kind(&failed));
    }
    Ok(())
}
