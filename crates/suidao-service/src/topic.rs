//! Labels and the topic: the next page to label, answers, estimates, terms, learning, and judging again.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use suidao_page::model::number;
use suidao_page::topic::Lexicon;
use suidao_store::store::Meta;

use crate::folder::{CrawlFolder, CrawlName};
use crate::jobs::{JobWork, ServiceJob};
use crate::problem::Problem;
use crate::program::run;
use crate::service::CrawlService;

/// Answers about pages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answers {
    /// URLs of pages about the topic.
    pub yes: Vec<String>,
    /// URLs of other pages.
    pub no: Vec<String>,
}

/// A change of the topic.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopicChange {
    /// New weights of terms, new ones included; `null` removes a term.
    pub terms: std::collections::BTreeMap<String, Option<f64>>,
    /// Minimum relevance of an on-topic page.
    pub page_threshold: Option<f64>,
}

impl CrawlService {
    /// The next pages to label, of a sample of `sample` pages.
    pub async fn next_labels(&self, name: &CrawlName, count: usize, sample: usize) -> Result<Value, Problem> {
        let next = format!("--next={}", count.clamp(1, 100));
        self.label(name, &[next, "--pages".to_owned(), sample.clamp(1, 100_000).to_string()]).await
    }

    /// Saves answers, and returns the next page.
    pub async fn answer(&self, name: &CrawlName, answers: &Answers) -> Result<Value, Problem> {
        if answers.yes.is_empty() && answers.no.is_empty() {
            return Err(Problem::parameter("yes", "give URLs of pages in yes or no"));
        }
        if answers.yes.len() + answers.no.len() > 1_000 {
            return Err(Problem::parameter("yes", "give at most 1000 answers at a time"));
        }
        let mut words = vec!["--next".to_owned()];
        for (flag, urls) in [("--yes", &answers.yes), ("--no", &answers.no)] {
            words.extend(urls.iter().map(|url| format!("{flag}={url}")));
        }
        self.label(name, &words).await
    }

    /// Precision and recall by the answers so far, and words that would improve the topic.
    pub async fn estimate(&self, name: &CrawlName) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        if !crawl.labels().exists() {
            return Err(Problem::said("web-label-first", 409, &[]));
        }
        self.label(name, &["--json".to_owned()]).await
    }

    async fn label(&self, name: &CrawlName, words: &[String]) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        Meta::read(&crawl.directory)?;
        let mut command = self.program.verb(["label", "-q"]);
        command.arg(crawl.directory.root()).args(words);
        if crawl.lexicon().exists() {
            command.arg("-m").arg(crawl.lexicon());
        }
        self.short_verb(command).await?.json()
    }

    /// The terms of the topic with their weights, and whether they were changed since the pages were judged.
    pub fn topic(&self, name: &CrawlName) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        let lexicon = lexicon(&crawl)?;
        let judged = Meta::read(&crawl.directory).ok().map(|meta| meta.lexicon);
        let terms: Vec<Value> =
            lexicon.terms.iter().map(|(term, weight)| json!({ "term": term, "weight": weight })).collect();
        Ok(number::plain(json!({
            "name": lexicon.name,
            "method": lexicon.provenance.method,
            "page_threshold": lexicon.page.value,
            "link_threshold": lexicon.link.value,
            "changed": judged.is_some_and(|judged| judged != lexicon.digest()),
            "terms": terms,
        })))
    }

    /// The whole lexicon as TOML.
    pub fn lexicon(&self, name: &CrawlName) -> Result<String, Problem> {
        let crawl = self.folder.crawl(name)?;
        crawl.read(&crawl.current_lexicon())
    }

    /// Changes terms and threshold. Pages keep their scores until they are judged again.
    pub async fn change_topic(&self, name: &CrawlName, change: &TopicChange) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        let _alone = self.alone(name).await;
        let mut lexicon = lexicon(&crawl)?;
        for (term, weight) in &change.terms {
            let is_number = weight.is_none_or(|weight| weight.is_finite() && weight.abs() > 0.0);
            if term.trim().is_empty() || term.chars().count() > 100 || !is_number {
                return Err(Problem::said("web-no-term", 400, &[term]).of("terms"));
            }
        }
        if let Some(threshold) = change.page_threshold {
            if !(threshold > 0.0 && threshold <= 1.0) {
                return Err(Problem::said("web-no-threshold", 400, &[]).of("page_threshold"));
            }
            lexicon.page.value = threshold;
            "by hand".clone_into(&mut lexicon.page.chosen);
        }
        let changes: Vec<_> = change.terms.iter().map(|(term, weight)| (term.clone(), *weight)).collect();
        lexicon.change_terms(&changes);
        let text = lexicon.to_toml();
        // What could not be read again is not written.
        Lexicon::parse(&text).map_err(|error| Problem::parameter("terms", error))?;
        let before = crawl.read(&crawl.current_lexicon())?;
        crawl.write(&crawl.former_lexicon(), &before)?;
        crawl.write(&crawl.lexicon(), &text)?;
        self.topic(name)
    }

    /// Whether the last change of the terms can be undone.
    pub(crate) fn can_undo_topic(&self, name: &CrawlName) -> Result<bool, Problem> {
        Ok(self.folder.crawl(name)?.former_lexicon().exists())
    }

    /// Exchanges the terms with those before the last change: a second time it does that change again.
    pub(crate) async fn undo_topic(&self, name: &CrawlName) -> Result<(), Problem> {
        let crawl = self.folder.crawl(name)?;
        let _alone = self.alone(name).await;
        let [now, before] = [crawl.current_lexicon(), crawl.former_lexicon()];
        if !before.exists() {
            return Err(Problem::conflict("no change of the terms is known that could be undone"));
        }
        let (now, before) = (crawl.read(&now)?, crawl.read(&before)?);
        crawl.write(&crawl.lexicon(), &before)?;
        crawl.write(&crawl.former_lexicon(), &now)
    }

    /// Improves the topic by the labels, and judges all pages again, as a job.
    pub fn learn(self: &Arc<Self>, name: &CrawlName) -> Result<Arc<ServiceJob>, Problem> {
        let crawl = self.folder.crawl(name)?;
        if !crawl.labels().exists() {
            return Err(Problem::said("web-label-first", 409, &[]));
        }
        let (service, name) = (Arc::clone(self), name.clone());
        self.jobs.begin("learn", Some(name.clone()), move |work| async move {
            let _alone = service.alone(&name).await;
            // Links are refused.
            crawl.read(&crawl.labels())?;
            let (from, to) = (crawl.current_lexicon(), crawl.own().join("learnt.toml"));
            let before = lexicon(&crawl)?;
            // The file of the service, so that a killed job has changed nothing.
            let _ = std::fs::remove_file(&to);
            let mut command = service.program.verb(["topic", "learn", "-q"]);
            command.arg(&from).arg("--labels").arg(crawl.labels()).arg("--crawl").arg(crawl.directory.root());
            command.arg("-o").arg(&to);
            run(command, work.cancelled(), |_, _| {}).await?.checked(service.folder.root())?;
            let text = crawl.read(&to)?;
            let after = Lexicon::parse(&text).map_err(Problem::internal)?;
            crawl.write(&crawl.former_lexicon(), &crawl.read(&from)?)?;
            crawl.write(&crawl.lexicon(), &text)?;
            let _ = std::fs::remove_file(&to);
            let mut result = service.judge_again(&name, &crawl, &work).await?;
            result["terms"] = changes(&before, &after);
            Ok(result)
        })
    }

    /// Judges all pages by the topic as it is, as a job: a running crawl is stopped and resumed.
    pub fn rescore(self: &Arc<Self>, name: &CrawlName) -> Result<Arc<ServiceJob>, Problem> {
        let crawl = self.folder.crawl(name)?;
        Meta::read(&crawl.directory)?;
        let (service, name) = (Arc::clone(self), name.clone());
        self.jobs.begin("rescore", Some(name.clone()), move |work| async move {
            let _alone = service.alone(&name).await;
            service.judge_again(&name, &crawl, &work).await
        })
    }

    async fn judge_again(
        self: &Arc<Self>,
        name: &CrawlName,
        crawl: &CrawlFolder,
        work: &JobWork,
    ) -> Result<Value, Problem> {
        self.pause(name).await;
        let mut command = self.program.verb(["rescore", "-q", "--progress", "--json"]);
        command.arg(crawl.directory.root());
        if crawl.lexicon().exists() {
            command.arg("-m").arg(crawl.lexicon());
        }
        self.program.configured(&mut command, None);
        let judged = run(command, work.cancelled(), |done, of| work.progress(done, of)).await;
        let judged = judged.and_then(|ended| ended.checked(self.folder.root())?.json());
        self.readings.forget(name);
        if crawl.should_run() {
            self.begin(name)?;
        }
        judged
    }
}

fn lexicon(crawl: &CrawlFolder) -> Result<Lexicon, Problem> {
    let path = crawl.current_lexicon();
    if !path.exists() {
        return Err(Problem::conflict("the crawl has no topic"));
    }
    Lexicon::parse(&crawl.read(&path)?).map_err(Problem::conflict)
}

/// The twenty largest changes of weights.
fn changes(before: &Lexicon, after: &Lexicon) -> Value {
    let old: std::collections::BTreeMap<&str, f64> =
        before.terms.iter().map(|(term, weight)| (term.as_str(), *weight)).collect();
    let mut changes: Vec<(&str, f64, f64)> = after
        .terms
        .iter()
        .map(|(term, weight)| (term.as_str(), old.get(term.as_str()).copied().unwrap_or_default(), *weight))
        .filter(|(_, old, new)| (old - new).abs() > 1e-4)
        .collect();
    changes.sort_by(|one, other| (other.2 - other.1).abs().total_cmp(&(one.2 - one.1).abs()).then(one.0.cmp(other.0)));
    changes.truncate(20);
    json!(
        changes.iter().map(|(term, old, new)| json!({ "term": term, "before": old, "after": new })).collect::<Vec<_>>()
    )
}
