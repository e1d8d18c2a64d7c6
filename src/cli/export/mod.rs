//! `suidao export`: the pages of a crawl in the formats of other programs.

mod args;
mod engines;
mod outfiles;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use suidao::corpus::{Bounds, Catalogue, Condition, DocumentFields, Filter, Selection};
use suidao::export::export_state::{self, Finished};
use suidao::export::{Export, Output, graph, jsonl, markdown, parquet, table, text, warc};
use suidao::html::count;
use suidao::index::build;
use suidao::live::now;
use suidao::store::{CrawlDirectory, rfc3339};

use super::outcome::{Exit, Verbosity};
use super::source::CLUSTER;
use super::summary::most_first;
use super::{extraction, inputs};

use args::{ExportSelection, Format, SinceFlag, chosen, destination, wrote};
use engines::{Engine, ExportResult};

pub use args::ExportArgs;

pub fn run(args: &ExportArgs, verbosity: Verbosity) -> Result<Exit> {
    let args = &ExportArgs { format: outfiles::format(args)?, ..args.clone() };
    let mut filter = args.filter.filter()?;
    if let Some(SinceFlag::Day(day)) = args.since {
        filter.all_of.push(Condition::Fetched(Bounds::from(day)));
    }
    if matches!(args.format, Format::Graph | Format::Index) {
        // Listings connect documents in the graph, and a search shows them after the documents.
        filter.documents = false;
    }
    if matches!(args.format, Format::Text | Format::Markdown) {
        // They have nothing to show of a page without text.
        filter.all_of.push(Condition::Chars(Bounds::from(1)));
    }
    let fields = match args.fields.as_slice() {
        [] => None,
        names => Some(DocumentFields::named(names.iter().map(|name| name.trim()))?),
    };
    reject_incompatible_flags(args)?;
    let extractor = args.extract.as_deref().map(extraction::read).transpose()?;
    if let (Some(name), Some(SinceFlag::Last)) = (args.source.cluster(), args.since) {
        bail!(
            "--since last: {CLUSTER}{name} keeps no record of exports; export a directory of `suidao cluster collect`"
        );
    }
    let source = args.source.open()?;
    let directory = source.directory();
    let args = &ExportArgs { output: outfiles::named(args), ..args.clone() };
    let to = Destination::of(args)?;
    let (store, catalogue) = inputs::crawl(source.path())?;
    outfiles::may_be_written(args)?;
    let wanted = wanted(args, verbosity, &to.name, &directory, &catalogue, filter.select(&catalogue))?;
    let export = Export {
        store: &store,
        catalogue: &catalogue,
        selection: &wanted.selection,
        progress: &|| {},
        extractor: extractor.as_ref(),
    };
    let done = with_progress(wanted.selection.pages, verbosity, |bar| {
        let export = &Export { progress: &|| bar.inc(1), ..export };
        match (&to.engine, &args.output) {
            (Some(engine), _) => engines::write(args, engine, export, &wanted, fields),
            (None, Some(output)) => {
                let output = Output { path: output.clone(), shard_size: args.shard_size };
                file(args, export, &output, fields, &filter)
            }
            (None, None) => bail!("--output is missing; give the file to write"),
        }
    });
    let ExportResult { mut summary, rejected } = done?;
    if !matches!(to.engine, Some(Engine::EsBulk { .. })) {
        summary += &engines::write_retired(args, &export, &wanted)?;
    }
    let companions: Vec<_> = outfiles::companions(args).into_iter().filter(|path| path.is_file()).collect();
    if args.format != Format::Index && !companions.is_empty() {
        let names: Vec<String> = companions.iter().map(|path| path.display().to_string()).collect();
        summary += &format!("\nAlso wrote {}", names.join(", "));
    }
    if !args.no_record && !matches!(args.since, Some(SinceFlag::Day(_))) {
        let finished = Finished {
            format: args.format.name(),
            output: to.display_name,
            at: rfc3339(now()),
            batches: catalogue.batches,
            pages: wanted.all.pages,
        };
        let held = engines::without(&export, wanted.all, &rejected)?;
        if source.cluster().is_some() {
            // The next view of it does not know this export.
        } else if directory.is_read_only() {
            summary +=
                &format!("\n{} is read-only, so --since last cannot refer to this export", directory.root().display());
        } else {
            export_state::remember(&directory, &to.name, &finished, &catalogue, &held)?;
        }
    }
    infoln!(verbosity, "{summary}");
    let excluded = most_first(&wanted.selection.excluded, |reason| (*reason).to_owned());
    if !excluded.is_empty() {
        infoln!(verbosity, "Excluded: {excluded}");
    }
    if let Some(extractor) = extractor.as_ref().filter(|_| !verbosity.quiet) {
        extraction::print_hit_rates(extractor);
    }
    Ok(if rejected.is_empty() { Exit::Done } else { Exit::Incomplete })
}

/// Rejects flags that the format does not use, instead of ignoring them.
fn reject_incompatible_flags(args: &ExportArgs) -> Result<()> {
    let fixed = matches!(args.format, Format::Warc | Format::Text | Format::Markdown | Format::Graph | Format::Index);
    if fixed && !args.fields.is_empty() {
        bail!(
            "--fields works with jsonl, csv, parquet and search servers only; leave it out for warc, text, markdown, graph and index"
        );
    }
    if args.extract.is_none() && args.fields.iter().any(|name| name.trim() == "extracted") {
        bail!("the field extracted needs rules; add --extract FIELDS.toml");
    }
    if args.extract.is_some() && matches!(args.format, Format::Warc | Format::Graph) {
        bail!("--extract works with formats that have fields or text; leave it out for warc and graph");
    }
    let needs_file = args.shard_size.is_none() && !matches!(args.format, Format::Index | Format::Markdown);
    if let Some(output) = args.output.as_ref().filter(|output| needs_file && outfiles::is_directory(output)) {
        bail!(
            "{}: is a directory, but {} writes a file; give the path of a file, or add --shard-size SIZE to the formats \
             that have shards",
            output.display(),
            args.format.name()
        );
    }
    if args.format == Format::Index && args.since.is_some() {
        bail!("an index is always rebuilt completely; leave out --since");
    }
    if args.format == Format::Index && (args.shard_size.is_some() || args.output.as_deref() == Some(Path::new("-"))) {
        bail!("an index is a directory; give -o DIR and leave out --shard-size");
    }
    Ok(())
}

/// Writes a format that is not for a server.
fn file(
    args: &ExportArgs,
    export: &Export,
    output: &Output,
    fields: Option<DocumentFields>,
    filter: &Filter,
) -> Result<ExportResult> {
    let done = match args.format {
        Format::Parquet => parquet::write(export, output, &chosen(export, fields, DocumentFields::all))?,
        Format::Csv => table::write(export, output, &chosen(export, fields, DocumentFields::without_links))?,
        Format::Warc => warc::write(export, output)?,
        Format::Text => text::write(export, output, filter)?,
        Format::Markdown if outfiles::is_directory(&output.path) => markdown::write_files(export, &output.path)?,
        Format::Markdown => markdown::write(export, output)?,
        Format::Graph if args.shard_size.is_some() || output.path == Path::new("-") => {
            bail!("a graph is three files; give -o FILE.graphml and leave out --shard-size")
        }
        Format::Graph => graph::write(export, &output.path)?,
        Format::Index => {
            build(export.store, export.catalogue, export.selection, &output.path, export.extractor, export.progress)?
        }
        // The other formats are for servers.
        _ => jsonl::write(export, output, &chosen(export, fields, DocumentFields::without_links))?,
    };
    let mut summary = wrote(done.pages, output);
    if done.announced > 0 {
        let threads = count(done.announced as usize, "thread", "threads");
        summary += &format!("\nLeft out posts that staff shows above several threads: in {threads}");
    }
    Ok(ExportResult { summary, rejected: Vec::new() })
}

struct Destination {
    /// The search server it is for.
    engine: Option<Engine>,
    /// The name under which the export is recorded.
    name: String,
    /// The name for messages.
    display_name: String,
}

impl Destination {
    fn of(args: &ExportArgs) -> Result<Self> {
        let engine = Engine::of(args)?;
        let display_name = match (&engine, &args.output) {
            (Some(Engine::EsBulk { push: Some(target), .. }), _) => target.address(),
            (_, Some(output)) => destination(output),
            (_, None) => bail!("--output is missing; give the file to write"),
        };
        let name = match &engine {
            Some(Engine::EsBulk { push: Some(target), .. }) => target.name(),
            _ => args.format.name(),
        };
        Ok(Self { engine, name, display_name })
    }
}

fn wanted(
    args: &ExportArgs,
    verbosity: Verbosity,
    name: &str,
    directory: &CrawlDirectory,
    catalogue: &Catalogue,
    all: Selection,
) -> Result<ExportSelection> {
    let last = matches!(args.since, Some(SinceFlag::Last));
    let former = match export_state::read(directory, name)? {
        Some(former) => former,
        None => {
            if last {
                infoln!(verbosity, "There is no earlier {name} export of this crawl, so all pages are written.");
            }
            return Ok(ExportSelection { selection: all.clone(), all, retired: Vec::new() });
        }
    };
    let changes = export_state::changes(catalogue, &all, &former);
    let (selection, retired) = match args.since {
        Some(SinceFlag::Last) => (changes.selection, changes.retired),
        Some(SinceFlag::Day(_)) => (all.clone(), Vec::new()),
        // In full: only a server still has what was removed.
        None if engines::is_server(args) => (all.clone(), changes.retired),
        None => (all.clone(), Vec::new()),
    };
    Ok(ExportSelection { all, selection, retired })
}

/// Runs something of unknown length with a spinner; with -q it is hidden.
pub fn with_spinner<T>(what: &'static str, verbosity: Verbosity, run: impl FnOnce() -> T) -> T {
    let spinner = if verbosity.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    spinner.set_message(what);
    spinner.enable_steady_tick(Duration::from_millis(200));
    let done = run();
    spinner.finish_and_clear();
    done
}

/// Runs something with a progress bar over a number of pages; with -q it is hidden.
pub fn with_progress<T>(pages: u64, verbosity: Verbosity, run: impl FnOnce(&ProgressBar) -> T) -> T {
    let bar = if verbosity.quiet { ProgressBar::hidden() } else { ProgressBar::new(pages) };
    let style = ProgressStyle::with_template("{bar:30} {human_pos}/{human_len} pages, {per_sec}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    let done = if verbosity.progress { with_lines(&bar, pages, || run(&bar)) } else { run(&bar) };
    bar.finish_and_clear();
    done
}

/// Runs something, and prints twice a second how far the bar is.
fn with_lines<T>(bar: &ProgressBar, pages: u64, run: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (over, ended) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(Duration::from_millis(500)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                errln!("{{\"progress\":[{},{pages}]}}", bar.position());
            }
        });
        let done = run();
        drop(over);
        done
    })
}
