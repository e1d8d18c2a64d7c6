//! `suidao refresh cluster:NAME`: begins a round of revisits that the workers of a distributed crawl make.

use anyhow::{Result, bail};
use serde_json::json;
use suidao::cluster::{self, NatsConnection, SharedCrawl};
use suidao::html::count;
use suidao::model::Budget;

use super::{Joining, block_on, join};
use crate::cli::outcome::{Exit, Verbosity};
use crate::cli::refresh::RefreshArgs;
use crate::cli::temporary::temporary_directory;

pub fn run(name: &str, args: &RefreshArgs, verbosity: Verbosity) -> Result<Exit> {
    if args.dry_run {
        bail!(
            "--dry-run is not possible with cluster:{name}; collect the crawl (`suidao cluster collect`) and plan in its \
             directory"
        );
    }
    if args.lexicon.is_some() {
        bail!("--lexicon is not possible with cluster:{name}; its workers use the lexicon that it was created with");
    }
    let budget = block_on(async {
        let nats = NatsConnection::connect(&args.nats.nats).await?;
        let shared = SharedCrawl::open(&nats, name).await?;
        let copy = temporary_directory()?;
        let config = args.config_over(&shared.copy_config(copy.path())?)?;
        let budget = args.budget(&config);
        let resumed = cluster::refresh(&nats, name, budget, config.refresh, suidao::live::now()).await?;
        Ok((budget, resumed))
    })?;
    let (budget, resumed) = budget;
    let what = match budget {
        Budget::PerDay(per_day) => {
            format!("an endless refresh with {} a day", count(per_day as usize, "request", "requests"))
        }
        Budget::Round { requests: Some(most), .. } => {
            format!("a round of {}", count(most as usize, "request", "requests"))
        }
        _ => "a round".to_owned(),
    };
    if let Some(output) = &args.output {
        infoln!(verbosity, "{} {what} of {name}.", if resumed { "Resumed" } else { "Began" });
        let (worker, json) = (args.worker.as_deref(), args.json);
        return join(&Joining { name, nats: &args.nats, output, worker, json, network: &args.network }, verbosity);
    }
    if args.json {
        outln!("{}", json!({ "crawl": name, "budget": budget, "resumed": resumed }));
    } else {
        infoln!(
            verbosity,
            "{} {what} of {name}.\nStart workers on any machine: suidao worker {name} -o DIR --nats URL",
            if resumed { "Resumed" } else { "Began" }
        );
    }
    Ok(Exit::Done)
}
