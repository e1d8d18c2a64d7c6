//! The second opinion about pages near the boundary: from the verdicts that the crawl directory keeps, else from the
//! judge. A page without one keeps the verdict of its lexicon.

use serde::Serialize;

use suidao_page::topic::{CHECK, Lexicon, OpinionUse, SAME_MODEL, SecondOpinion};
use suidao_store::corpus;
use suidao_store::store::{CrawlDirectory, StoreError};
use xxhash_rust::xxh3::xxh3_128;

use super::verdicts::{Verdicts, question};
use super::{Answer, Failures, JudgeError, JudgeFailure, JudgeSettings, OutsideJudge, Verdict};

/// What became of the pages near the boundary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpinionReport {
    /// Pages near the boundary.
    pub near: u64,
    /// Answered in an earlier run.
    pub kept: u64,
    /// Answered in this run.
    pub answered: u64,
    /// Not answered, by kind.
    pub failed: Failures,
}

pub struct Opinions {
    /// The section `[judge]` of the lexicon, if vectors are asked for.
    model: Option<SecondOpinion>,
    usage: OpinionUse,
    judge: Option<OutsideJudge>,
    /// Why the judge is not asked: it did not answer about the fixed sentence.
    silent: Option<JudgeFailure>,
    /// Digest of what decides the opinion about a text.
    identity: u128,
    verdicts: Verdicts,
    report: OpinionReport,
}

impl Opinions {
    /// For a crawl directory and a lexicon; `None` if the lexicon has no `[judge]` and none is configured. Without a
    /// configured judge, those that the directory keeps. An embedding model is compared with the lexicon's first.
    ///
    /// # Errors
    /// [`OpinionsError`]: the settings, lexicon and judge do not fit together, or the kept verdicts cannot be read.
    pub fn open(
        settings: &JudgeSettings,
        lexicon: &Lexicon,
        directory: &CrawlDirectory,
    ) -> Result<Option<Self>, OpinionsError> {
        let model = if settings.is_chat() { None } else { lexicon.judge.clone() };
        let judge = match settings.is_configured() {
            false if model.is_none() => return Ok(None),
            false => None,
            true if lexicon.linear.is_none() => return Err(JudgeError::NotLinear.into()),
            true if model.is_none() && settings.url.is_some() && !settings.is_chat() => {
                return Err(JudgeError::NotInLexicon.into());
            }
            true => Some(OutsideJudge::new(settings, lexicon)?),
        };
        let identity = match (&model, &judge) {
            (Some(model), _) => of_model(model),
            (None, Some(judge)) => {
                xxh3_128(format!("{}\n{}\n{}", settings.model, lexicon.name, judge.question("")).as_bytes())
            }
            (None, None) => 0,
        };
        let usage = model.as_ref().map_or(settings.usage(), |model| model.usage);
        let verdicts = Verdicts::read(&directory.verdicts())?;
        let mut opinions =
            Self { model, usage, judge, silent: None, identity, verdicts, report: OpinionReport::default() };
        opinions.compare_model(&settings.model)?;
        Ok(Some(opinions))
    }

    pub fn report(&self) -> &OpinionReport {
        &self.report
    }

    /// Asks for the vector of the fixed sentence. A judge that gives none is not asked about pages, because nothing
    /// tells whether it is the lexicon's.
    fn compare_model(&mut self, name: &str) -> Result<(), JudgeError> {
        let (Some(model), Some(judge)) = (&self.model, &mut self.judge) else { return Ok(()) };
        let question = [format!("{}{CHECK}", model.prefix)];
        let mut ask = || judge.ask(&question).pop().unwrap_or(Err(JudgeFailure::NotAsked));
        let check = match ask().or_else(|_| ask()) {
            Ok(Answer::Vector(check)) => check,
            Ok(Answer::Verdict(_)) => return Ok(()),
            Err(failure) => {
                self.silent = Some(failure);
                self.judge = None;
                return Ok(());
            }
        };
        let (name, wanted) = (name.to_owned(), model.model.clone());
        match model.likeness(&check) {
            Ok(likeness) if likeness >= SAME_MODEL => Ok(()),
            Ok(likeness) => Err(JudgeError::OtherModel { model: name, wanted, likeness }),
            Err(error) => Err(JudgeError::OtherDimension { model: name, wanted, error }),
        }
    }

    fn opinion(&self, answer: Answer) -> Result<f64, JudgeFailure> {
        match (answer, &self.model) {
            (Answer::Verdict(Verdict::Yes), _) => Ok(1.0),
            (Answer::Verdict(Verdict::No), _) => Ok(-1.0),
            (Answer::Verdict(Verdict::Unsure), _) => Ok(0.0),
            (Answer::Vector(vector), Some(model)) => Ok(model.of(&vector)?),
            (Answer::Vector(_), None) => Err(JudgeFailure::Nonsense),
        }
    }
}

impl corpus::SecondOpinions for Opinions {
    fn usage(&self) -> OpinionUse {
        self.usage
    }

    fn of(&mut self, texts: &[&str]) -> Result<Vec<Option<f64>>, StoreError> {
        self.report.near += texts.len() as u64;
        let questions: Vec<u128> = texts.iter().map(|text| question(self.identity, text)).collect();
        let mut new: Vec<(u128, &str)> = questions
            .iter()
            .copied()
            .zip(texts.iter().copied())
            .filter(|(at, _)| self.verdicts.get(*at).is_none())
            .collect();
        self.report.kept += (texts.len() - new.len()) as u64;
        let asked = new.len();
        new.sort_by_key(|(question, _)| *question);
        new.dedup_by_key(|(question, _)| *question);
        let Some(judge) = &mut self.judge else {
            let failure = self.silent.unwrap_or(JudgeFailure::NotAsked);
            (0..asked).for_each(|_| self.report.failed.count(failure));
            return Ok(questions.into_iter().map(|question| self.verdicts.get(question)).collect());
        };
        let prefix = self.model.as_ref().map_or("", |model| model.prefix.as_str());
        let prefixed: Vec<String> = new.iter().map(|(_, text)| format!("{prefix}{text}")).collect();
        let answers = judge.ask(&prefixed);
        let mut opinions = Vec::new();
        for ((question, _), answer) in new.into_iter().zip(answers) {
            // A page may have the text of another.
            let pages = questions.iter().filter(|other| **other == question).count() as u64;
            match answer.and_then(|answer| self.opinion(answer)) {
                Ok(opinion) => {
                    self.report.answered += pages;
                    opinions.push((question, opinion));
                }
                Err(failure) => (0..pages).for_each(|_| self.report.failed.count(failure)),
            }
        }
        self.verdicts.add(&opinions)?;
        Ok(questions.into_iter().map(|question| self.verdicts.get(question)).collect())
    }
}

/// Why there are no opinions.
#[derive(Debug, thiserror::Error)]
pub enum OpinionsError {
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What decides the opinion of a text, but not where and how much it counts.
fn of_model(model: &SecondOpinion) -> u128 {
    let mut bytes = format!("{}\n{}\n{}\n", model.model, model.prefix, model.boundary).into_bytes();
    bytes.extend(model.weights.iter().flat_map(|weight| weight.to_le_bytes()));
    xxh3_128(&bytes)
}
