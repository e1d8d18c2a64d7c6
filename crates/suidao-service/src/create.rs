//! A new crawl: its topic is learnt, seeds and settings are checked, and it appears in the folder when it is complete.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use suidao_live::config::Config;
use suidao_live::config::stored::ConfigUse;
use suidao_store::store::StoreError;

use crate::folder::{CrawlFolder, CrawlName};
use crate::jobs::{JobWork, ServiceJob};
use crate::problem::Problem;
use crate::program::run;
use crate::service::CrawlService;
use suidao_store::store::CrawlDirectory;

/// Planned requests that a check shows.
const PLANNED: u64 = 20;
/// Maximum number of pasted pages, keywords and seeds.
const MOST: usize = 10_000;

/// What a crawl is about: a lexicon, or what to learn one from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopicSource {
    /// Name of the topic; that of the crawl if it is missing.
    pub name: Option<String>,
    pub keywords: Vec<String>,
    /// A whole lexicon, as TOML.
    pub lexicon: Option<String>,
    /// Addresses of sample pages, which are fetched.
    pub urls: Vec<String>,
    /// Sample pages: texts or HTML.
    pub texts: Vec<String>,
}

/// A crawl to make.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlRequest {
    pub name: String,
    pub topic: TopicSource,
    pub seeds: Vec<String>,
    /// Stop after this number of pages.
    pub pages: Option<u64>,
    /// Settings as in a configuration file, by section.
    pub config: Map<String, Value>,
    /// Start it at once.
    pub start: bool,
}

impl CrawlService {
    /// Makes a crawl, as a job: `{"crawl": NAME, "plan": [...]}`.
    ///
    /// # Errors
    /// What is wrong with it, as far as that is known without work; the job tells the rest.
    pub fn create(self: &Arc<Self>, new: CrawlRequest) -> Result<Arc<ServiceJob>, Problem> {
        let name = self.check(&new, true)?;
        let service = Arc::clone(self);
        self.jobs.begin("create", Some(name.clone()), move |work| async move {
            let (place, plan) = service.prepare(&new, &work).await?;
            let directory = service.folder.of(&name).directory.root().to_owned();
            if directory.exists() {
                return Err(Problem::said("web-name-taken", 409, &[&name]));
            }
            fs::rename(place.path(), &directory).map_err(StoreError::io(&directory, "make it"))?;
            // Nothing is left to be removed.
            drop(place.keep());
            if new.start {
                service.start(&name).await?;
            }
            Ok(json!({ "crawl": name.as_str(), "plan": plan }))
        })
    }

    /// Plans a crawl without making it, as a job: `{"plan": [...]}`, the first requests that would be sent.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn plan(self: &Arc<Self>, new: CrawlRequest) -> Result<Arc<ServiceJob>, Problem> {
        self.check(&new, false)?;
        let service = Arc::clone(self);
        self.jobs.begin("plan", None, move |work| async move {
            let (_place, plan) = service.prepare(&new, &work).await?;
            Ok(json!({ "plan": plan }))
        })
    }

    fn check(&self, new: &CrawlRequest, must_be_new: bool) -> Result<CrawlName, Problem> {
        let name = CrawlName::parse(if must_be_new { &new.name } else { "plan" })?;
        if must_be_new && self.folder.of(&name).directory.root().symlink_metadata().is_ok() {
            return Err(Problem::said("web-name-taken", 409, &[&name]));
        }
        let topic = &new.topic;
        if topic.keywords.is_empty() && topic.lexicon.is_none() && topic.urls.is_empty() && topic.texts.is_empty() {
            return Err(Problem::said("web-no-topic", 400, &[]).of("topic"));
        }
        if new.seeds.is_empty() {
            return Err(Problem::said("web-no-seeds", 400, &[]).of("seeds"));
        }
        for (parameter, list) in [
            ("seeds", &new.seeds),
            ("topic.keywords", &topic.keywords),
            ("topic.urls", &topic.urls),
            ("topic.texts", &topic.texts),
        ] {
            if list.len() > MOST {
                return Err(Problem::parameter(parameter, format!("has more than {MOST} entries")));
            }
            if parameter != "topic.texts" && list.iter().any(|line| line.contains(['\n', '\r'])) {
                return Err(Problem::parameter(parameter, "an entry has more than one line"));
            }
        }
        settings(new)?;
        Ok(name)
    }

    /// A complete directory in a temporary place, and the first requests of its crawl.
    async fn prepare(&self, new: &CrawlRequest, work: &JobWork) -> Result<(tempfile::TempDir, Vec<Value>), Problem> {
        let root = self.folder.root();
        let place = tempfile::Builder::new().prefix(".new-").tempdir_in(root);
        let place = place.map_err(StoreError::io(root, "make a directory in it"))?;
        let name = CrawlName::parse("plan")?;
        let crawl = CrawlFolder { name, directory: CrawlDirectory::new(place.path()) };
        crawl.write(&crawl.seeds(), &lines(&new.seeds))?;
        crawl.write(&crawl.config(), &settings(new)?)?;
        self.learn_topic(new, &crawl, work).await?;
        let mut command = self.program.verb(["crawl", "-q", "--json"]);
        command.arg(format!("--dry-run={PLANNED}"));
        command.arg("-m").arg(crawl.lexicon()).arg("-s").arg(crawl.seeds());
        command.arg("-o").arg(place.path().join("plan"));
        self.program.configured(&mut command, Some(&crawl.config()));
        let planned = run(command, work.cancelled(), |_, _| {}).await?;
        let planned = planned.checked(place.path()).map_err(|problem| blame(problem, "seeds"))?;
        let text = String::from_utf8_lossy(&planned.output);
        let plan = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok((place, plan.filter(|line| line.get("summary").is_none()).collect()))
    }

    /// Writes the lexicon of a new crawl.
    async fn learn_topic(&self, new: &CrawlRequest, crawl: &CrawlFolder, work: &JobWork) -> Result<(), Problem> {
        let topic = &new.topic;
        if let Some(lexicon) = &topic.lexicon {
            let parsed = suidao_page::topic::Lexicon::parse(lexicon);
            parsed.map_err(|error| Problem::parameter("topic.lexicon", error))?;
            return crawl.write(&crawl.lexicon(), lexicon);
        }
        let own = crawl.own();
        let mut command = self.program.verb(["topic", "build", "-q"]);
        let names = [topic.name.as_deref(), Some(&*new.name), topic.keywords.first().map(|word| &**word)];
        let name = names.into_iter().flatten().find(|name| !name.trim().is_empty());
        command.arg(format!("--name={}", name.unwrap_or("topic")));
        let mut blamed = "topic.texts";
        if !topic.texts.is_empty() {
            let samples = own.join("samples");
            for (number, text) in topic.texts.iter().enumerate() {
                let is_html = text.trim_start().starts_with('<');
                let name = format!("{number}.{}", if is_html { "html" } else { "txt" });
                crawl.write(&samples.join(name), text)?;
            }
            command.arg("--pages").arg(samples);
        } else if !topic.urls.is_empty() {
            blamed = "topic.urls";
            let path = own.join("samples.txt");
            crawl.write(&path, &lines(&topic.urls))?;
            command.arg("--urls").arg(path);
        }
        if !topic.keywords.is_empty() {
            if topic.texts.is_empty() && topic.urls.is_empty() {
                blamed = "topic.keywords";
            }
            let path = own.join("keywords.txt");
            crawl.write(&path, &lines(&topic.keywords))?;
            command.arg("--keywords").arg(path);
        }
        command.arg("-o").arg(crawl.lexicon());
        self.program.configured(&mut command, Some(&crawl.config()));
        let learnt = run(command, work.cancelled(), |_, _| {}).await?;
        learnt.checked(crawl.directory.root()).map_err(|problem| blame(problem, blamed))?;
        Ok(())
    }
}

/// Names the parameter of a problem that the program states.
fn blame(problem: Problem, parameter: &str) -> Problem {
    if problem.status == 400 { problem.of(parameter) } else { problem }
}

fn lines(words: &[String]) -> String {
    words.iter().map(|word| format!("{word}\n")).collect()
}

/// The configuration of a new crawl, as TOML, without what only the administrator may set.
fn settings(new: &CrawlRequest) -> Result<String, Problem> {
    let mut table = table(&new.config)?;
    if let Some(pages) = new.pages {
        set_pages(&mut table, pages)?;
    }
    checked(&table)
}

/// JSON as a table of settings.
pub(crate) fn table(config: &Map<String, Value>) -> Result<toml::Table, Problem> {
    toml::Table::try_from(config).map_err(|error| Problem::parameter("config", error))
}

/// Sets the limit of pages.
pub(crate) fn set_pages(table: &mut toml::Table, pages: u64) -> Result<(), Problem> {
    let pages = i64::try_from(pages).ok().filter(|pages| *pages > 0);
    let pages = pages.ok_or_else(|| Problem::said("web-no-pages", 400, &[]).of("pages"))?;
    let limits = table.entry("limits").or_insert_with(|| toml::Table::new().into());
    let limits = limits.as_table_mut().ok_or_else(|| Problem::parameter("config", "limits must be an object"))?;
    limits.insert("pages".to_owned(), pages.into());
    Ok(())
}

/// Checks settings, and writes them as TOML.
pub(crate) fn checked(table: &toml::Table) -> Result<String, Problem> {
    let text = toml::to_string(table).map_err(|error| Problem::parameter("config", error))?;
    let read = Config::parse_stored("config", &text, &[], ConfigUse::Offline);
    read.map_err(|error| Problem::parameter("config", error))?;
    Ok(text)
}

/// The settings of a crawl, checked: others may have made its directory.
pub(crate) fn stored(crawl: &CrawlFolder, path: &Path) -> Result<toml::Table, Problem> {
    let text = crawl.read(path)?;
    let read = Config::parse_stored("its configuration", &text, &[], ConfigUse::Offline);
    read.map_err(Problem::conflict)?;
    toml::from_str(&text).map_err(Problem::internal)
}
