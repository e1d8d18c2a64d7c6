//! What `topic build`, `topic grow`, `rescore` and `label` say about a judge, and how a lexicon learns from one.

use anyhow::{Result, bail, ensure};
use suidao::html::{count, thousands};
use suidao::judge::{Answer, Failures, JudgeError, JudgeFailure, JudgeSettings, OpinionReport, OutsideJudge};
use suidao::topic::{Background, CHECK, Lexicon, Sample, TrainingPages, UnitVector, opening};

use super::export::with_progress;
use super::outcome::Verbosity;

/// Texts asked about between two steps of the progress bar.
const STEP: usize = 64;

/// The judge that `--judge` learns from, before pages are read or fetched.
pub fn embedding_judge(judge: JudgeSettings) -> Result<JudgeSettings> {
    ensure!(judge.is_configured(), JudgeError::NotConfigured);
    ensure!(
        !judge.is_chat(),
        "--judge learns from embeddings, and judge.url names a chat; name a URL that ends in /v1/embeddings. A chat needs \
         nothing in the lexicon"
    );
    Ok(judge)
}

/// Says that texts leave this machine, if they do.
pub fn announce(settings: &JudgeSettings, verbosity: Verbosity) {
    if let Some(host) = settings.other_machine() {
        infoln!(verbosity, "note: title and beginning of pages are sent to {host} (judge.url)");
    }
}

/// How many pages had a second opinion, and why others had none.
pub fn describe(report: &OpinionReport) -> String {
    let OpinionReport { near, kept, answered, failed } = report;
    let mut text = format!(
        "Second opinion: {} near the boundary, {} answered before, {} now.",
        count(*near as usize, "page", "pages"),
        thousands(*kept),
        thousands(*answered)
    );
    if failed.total() > 0 {
        text += &format!(
            " {} kept the verdict of the lexicon: {}.",
            count(failed.total() as usize, "page", "pages"),
            by_kind(failed)
        );
    }
    text
}

/// Each kind of failure with its number.
pub fn by_kind(failures: &Failures) -> String {
    let kinds: Vec<String> = failures.iter().map(|(kind, count)| format!("{} {kind}", thousands(count))).collect();
    kinds.join(", ")
}

/// Adds a second opinion to a lexicon, learnt from the vectors of its samples and background. Returns what was done.
pub fn learn(
    settings: &JudgeSettings,
    lexicon: &mut Lexicon,
    samples: &[Sample],
    background: &Background,
    verbosity: Verbosity,
) -> Result<String> {
    announce(settings, verbosity);
    let (usage, prefix) = (settings.usage(), settings.embedding_prefix());
    let mut judge = OutsideJudge::new(settings, lexicon)?;
    let check = match judge.ask(&[format!("{prefix}{CHECK}")]).pop() {
        Some(Ok(Answer::Vector(vector))) => vector,
        Some(Ok(Answer::Verdict(_))) => {
            bail!("the judge answers with words, and --judge learns from vectors; see docs/lexicon.md")
        }
        Some(Err(failure)) => bail!("the judge {} gave no vector: {failure}; check that it runs", settings.model),
        None => bail!("the judge {} gave no vector; check that it runs", settings.model),
    };
    let pages = TrainingPages::choose(samples, background);
    let texts: Vec<String> =
        pages.samples.iter().chain(&pages.background).map(|page| opening(&page.document, usage.tokens)).collect();
    let asked: Vec<usize> = (0..texts.len()).filter(|&at| !texts[at].is_empty()).collect();
    let (mut failed, mut vectors): (_, Vec<Option<UnitVector>>) = (Failures::default(), vec![None; texts.len()]);
    with_progress(asked.len() as u64, verbosity, |bar| {
        for part in asked.chunks(STEP) {
            let questions: Vec<String> = part.iter().map(|&at| format!("{prefix}{}", texts[at])).collect();
            for (&at, answer) in part.iter().zip(judge.ask(&questions)) {
                match answer {
                    Ok(Answer::Vector(vector)) if vector.numbers().len() == check.numbers().len() => {
                        vectors[at] = Some(vector);
                    }
                    Ok(Answer::Vector(_)) => failed.count(JudgeFailure::Dimension),
                    Ok(Answer::Verdict(_)) => failed.count(JudgeFailure::Nonsense),
                    Err(failure) => failed.count(failure),
                }
            }
            bar.inc(part.len() as u64);
        }
    });
    if failed.total() > 0 {
        infoln!(verbosity, "warning: {} of {} texts got no vector: {}", failed.total(), asked.len(), by_kind(&failed));
    }
    lexicon.judge = Some(pages.learn(&vectors, &settings.model, &prefix, &check, usage)?);
    let known = |range: std::ops::Range<usize>| vectors[range].iter().flatten().count();
    Ok(format!(
        "second opinion: {} numbers by {} of {} and {}",
        check.numbers().len(),
        settings.model,
        count(known(0..pages.samples.len()), "sample", "samples"),
        count(known(pages.samples.len()..vectors.len()), "background page", "background pages")
    ))
}
