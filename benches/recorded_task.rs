//! The tasks that `benches/tasks.py` writes, for the benches that replay them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use suidao::eval::{Plan, TaskPlan};
use suidao::model::CrawlUrl;
use suidao::recorded::{GroundTruth, LabelledUrls, Memo, OpenedWeb, WebName};
use suidao::topic::{Lexicon, Topic};

pub struct Task {
    pub web: OpenedWeb,
    pub topic: Topic,
    pub seeds: Vec<CrawlUrl>,
    pub judge: GroundTruth,
    pub memo: Memo,
}

impl Task {
    pub fn new(plan: &TaskPlan, base: &Path) -> Self {
        let path = |file: &Option<std::path::PathBuf>| base.join(file.as_ref().expect("the task names its files"));
        let text = |file| fs::read_to_string(path(file)).expect("the file is there");
        Self {
            web: WebName::parse(&plan.web, base).expect("the web's name is one").open().expect("the web is there"),
            topic: Topic::new(Lexicon::parse(&text(&plan.lexicon)).expect("the lexicon is one")),
            seeds: text(&plan.seeds).lines().filter_map(|line| CrawlUrl::parse(line).ok()).collect(),
            judge: GroundTruth::Truth(Arc::new(
                LabelledUrls::read(&path(&plan.truth), plan.exclude.as_ref().map(|file| base.join(file)).as_deref())
                    .expect("the truth is there"),
            )),
            memo: Memo::default(),
        }
    }
}

/// The plan of a file, and the directory that its paths are relative to.
pub fn plan(file: &str) -> (Plan, &Path) {
    let plan = Plan::parse(&fs::read_to_string(file).expect("the plan is there")).expect("the plan is one");
    (plan, Path::new(file).parent().expect("a file is in a directory"))
}
