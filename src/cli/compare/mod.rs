//! `suidao compare`: runs strategies on the same webs.

mod outputs;
mod runs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use strum::VariantArray as _;
use suidao::config::Config;
use suidao::eval::{Comparison, ComparisonFacts, ComparisonScope, ORACLE, Plan, TaskPlan, csv, table};
use suidao::strategy::{NoStrategy, StrategyName, StrategySettings};

use super::outcome::{Exit, Verbosity};
use super::replay::REPLAY_DEFAULTS;
use super::trial::TrialArgs;
use runs::Contestant;

/// Compare crawl strategies on recorded or generated webs.
///
/// As in replay, there are no politeness delays and one request is in flight at a time, unless --set or --in-flight is
/// given.
#[derive(Args)]
#[command(
    after_help = "Example: suidao compare world: --random-seeds 20 --strategies breadth-first,best-first,dth -o report"
)]
pub struct CompareArgs {
    /// Comparison file (FILE.toml, see docs/compare.md), or webs: hosts:DIR, warc:FILE, crawl:DIR, world:FILE.toml (a
    /// generated web; world: alone is the default one)
    #[arg(required = true, value_name = "FILE|WEB")]
    targets: Vec<String>,
    #[command(flatten)]
    trial: TrialArgs,
    /// File of layers, for strategy context-graph
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    layers: Option<PathBuf>,
    /// File of queries, one per line, for the precision of what a search over the topic finds [default: the first terms
    /// of the lexicon]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    queries: Option<PathBuf>,
    /// Directory for report.html, summary.csv, curves.csv and wins.csv
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Strategies, separated by commas, by name or by name and parameter ("best-first hard"); oracle knows the web and
    /// the relevant pages [default: those of the file, or all and oracle; context-graph only with layers]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Input")]
    strategies: Vec<String>,
    /// Pages per run [default: that of the file, or 2000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pages: Option<usize>,
    /// Number of generated webs of each kind, with different random seeds [default: that of the file, or 1]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    random_seeds: Option<u64>,
    /// Requests in flight at the same time, each to a different host [default: 1]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    in_flight: Option<usize>,
    /// Override one configuration key of every run, for example strategy.dth.kdepth=6; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Input")]
    sets: Vec<String>,
    /// Print facts, medians, wins and tunnel lengths (relevant pages by the number of off-topic pages in a row before them)
    /// as one JSON object instead of the table
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub fn run(args: &CompareArgs, verbosity: Verbosity) -> Result<Exit> {
    let (plan, base) = args.plan()?;
    let config = args.config()?;
    let strategies = strategies(&plan, &config)?;
    if let Some(path) = &args.output {
        outputs::check(path)?;
    }
    let races = runs::TrialRunner::prepare(&plan, &base)?;
    let cutoffs = plan.cutoffs();
    let (runs, tasks) = races.run(&config, &strategies, &cutoffs, verbosity)?;
    let comparison = Comparison::new(&cutoffs, runs);
    let facts = ComparisonFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        in_flight: config.crawl.in_flight,
        command: args.command(),
        tasks,
    };
    if let Some(path) = &args.output {
        outputs::write(path, &comparison, &facts)?;
    }
    if args.json {
        let tunnels = |(at, name): (usize, &String)| (name.clone(), comparison.tunnels(ComparisonScope::All, at));
        let tunnels: BTreeMap<String, Vec<u32>> = comparison.strategies().iter().enumerate().map(tunnels).collect();
        let output = json!({
            "facts": facts, "summary": csv::summary_rows(&comparison), "wins": csv::win_rows(&comparison), "tunnels": tunnels,
        });
        outln!("{output}");
    } else {
        outln!("{}", table(&comparison).trim_end());
    }
    if !verbosity.quiet && !args.json {
        if facts.tasks.iter().any(|task| task.web.starts_with("crawl:")) {
            errln!("\nnote: crawl:DIR contains only what its strategy fetched; others cannot find what it missed");
        }
        match &args.output {
            Some(path) => errln!("\nWrote {}", path.join(outputs::REPORT).display()),
            None => errln!("\nUse -o DIR to write a report with curves, intervals and wins."),
        }
    }
    Ok(Exit::Done)
}

impl CompareArgs {
    /// The plan of the comparison, and the directory of its relative paths.
    fn plan(&self) -> Result<(Plan, PathBuf)> {
        let (mut plan, base) = match &self.targets[..] {
            [file] if is_plan(file) => {
                if self.paths().iter().any(|(_, path)| path.is_some()) {
                    bail!(
                        "{file} already sets lexicon, seeds and truth of each task; leave out -m, -s, --truth, --exclude, --queries and --layers"
                    );
                }
                let text = std::fs::read_to_string(file).with_context(|| {
                    format!("cannot read {file}; give a comparison file, or a web such as hosts:DIR")
                })?;
                let plan = Plan::parse(&text).with_context(|| format!("invalid comparison file {file}"))?;
                (plan, Path::new(file).parent().unwrap_or(Path::new("")).to_owned())
            }
            webs => {
                (Plan { tasks: webs.iter().map(|web| self.task(web)).collect(), ..Plan::default() }, PathBuf::new())
            }
        };
        if !self.strategies.is_empty() {
            plan.strategies.clone_from(&self.strategies);
        }
        plan.pages = self.pages.or(plan.pages);
        for task in &mut plan.tasks {
            task.random_seeds = self.random_seeds.or(task.random_seeds);
        }
        plan.check().with_context(|| format!("cannot compare {}", self.targets.join(" ")))?;
        Ok((plan, base))
    }

    /// The task of a web named on the command line.
    fn task(&self, web: &str) -> TaskPlan {
        TaskPlan {
            name: if web == "world:" { "world".to_owned() } else { web.to_owned() },
            web: web.to_owned(),
            lexicon: self.trial.lexicon.clone(),
            seeds: self.trial.seeds.clone(),
            layers: self.layers.clone(),
            truth: self.trial.truth.clone(),
            exclude: self.trial.exclude.clone(),
            queries: self.queries.clone(),
            random_seeds: None,
        }
    }

    fn config(&self) -> Result<Config> {
        let sets: Vec<String> =
            REPLAY_DEFAULTS.iter().map(|&set| set.to_owned()).chain(self.sets.iter().cloned()).collect();
        let mut config = Config::load(None, &sets)?;
        config.crawl.in_flight = self.in_flight.unwrap_or(config.crawl.in_flight);
        config.check()?;
        Ok(config)
    }

    /// The files of the webs given here.
    fn paths(&self) -> [(&str, &Option<PathBuf>); 6] {
        let TrialArgs { lexicon, seeds, truth, exclude } = &self.trial;
        [
            ("-m", lexicon),
            ("-s", seeds),
            ("--layers", &self.layers),
            ("--truth", truth),
            ("--exclude", exclude),
            ("--queries", &self.queries),
        ]
    }

    /// The command without what does not affect its result, such as the output.
    fn command(&self) -> String {
        let mut words = vec!["suidao".to_owned(), "compare".to_owned()];
        words.extend(self.targets.iter().cloned());
        for (flag, path) in self.paths() {
            words.extend(path.iter().flat_map(|path| [flag.to_owned(), path.display().to_string()]));
        }
        let list = (!self.strategies.is_empty()).then(|| self.strategies.join(","));
        let text = |number: Option<usize>| number.map(|number| number.to_string());
        let values = [
            ("--strategies", list),
            ("--pages", text(self.pages)),
            ("--random-seeds", self.random_seeds.map(|number| number.to_string())),
            ("--in-flight", text(self.in_flight)),
        ];
        let sets = self.sets.iter().map(|set| ("--set", Some(set.clone())));
        for (flag, value) in values.into_iter().chain(sets) {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:,=@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A plain name of a TOML file; the spec of a generated web begins with `world:`.
fn is_plan(target: &str) -> bool {
    !target.contains(':') && Path::new(target).extension().is_some_and(|extension| extension == "toml")
}

/// The contestants with their labels; by default every strategy and the oracle.
fn strategies(plan: &Plan, config: &Config) -> Result<Vec<(String, Contestant)>> {
    let without = plan.tasks.iter().find(|task| task.layers.is_none());
    let all = || {
        let known = StrategyName::VARIANTS.iter();
        let can = known.filter(|&&name| name != StrategyName::ContextGraph || without.is_none());
        can.map(ToString::to_string).chain([ORACLE.to_owned()]).collect()
    };
    let names: Vec<String> = if plan.strategies.is_empty() { all() } else { plan.strategies.clone() };
    let mut found: Vec<(String, Contestant)> = Vec::new();
    for name in names {
        let (label, contestant) = if name == ORACLE {
            (name, Contestant::Oracle)
        } else {
            let settings = strategy(&name, config, without)?;
            (settings.label(), Contestant::Strategy(Box::new(settings)))
        };
        if found.iter().any(|(known, _)| *known == label) {
            bail!("strategy {label} is given twice; give each once");
        }
        found.push((label, contestant));
    }
    Ok(found)
}

/// The settings of a strategy by its name; `without`: a task that has no layers.
fn strategy(name: &str, config: &Config, without: Option<&TaskPlan>) -> Result<StrategySettings> {
    let settings = config.strategy.named(name).map_err(|error| match error {
        NoStrategy::Name(name, names) => NoStrategy::Name(name, format!("{names}, {ORACLE}")),
        error => error,
    })?;
    if let Some(task) = without.filter(|_| settings.name == StrategyName::ContextGraph) {
        bail!(
            "context-graph needs the layers of {}; create them with `suidao topic layers`, and give them with --layers FILE or as \
             layers = \"FILE\" in the task",
            task.name
        );
    }
    Config { strategy: settings.clone(), ..config.clone() }.check()?;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        let output = ["plan.toml", "hosts:a b", "it's", "$HOME", "", "体育.toml"].map(quoted);
        assert_eq!(output, ["plan.toml", "'hosts:a b'", r"'it'\''s'", "'$HOME'", "''", "体育.toml"]);
    }
}
