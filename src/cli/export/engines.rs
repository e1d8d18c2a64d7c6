//! The part of `suidao export` for search servers: rows, settings, deletions.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustc_hash::FxHashSet;
use serde_json::Value;
use suidao::corpus::document::id;
use suidao::corpus::{CorpusDocument, DocumentFields, Selection, UrlNames};
use suidao::export::engines::push::{Push, PushError, PushTarget};
use suidao::export::engines::{es_bulk, meilisearch, quickwit, searched};
use suidao::export::{Export, Output};
use suidao::store::directory::{WriteError, write_own, write_whole};
use suidao::store::plain_file;

use super::args::{ExportArgs, ExportSelection, Format, SinceFlag, chosen, wrote};

pub enum Engine {
    EsBulk {
        index: String,
        /// Where to send the rows; `None`: a file.
        push: Option<PushTarget>,
    },
    Meilisearch,
    Quickwit {
        index: String,
    },
}

/// Whether the rows go to a server, which still has earlier ones.
pub fn is_server(args: &ExportArgs) -> bool {
    args.push.is_some() || matches!(args.format, Format::EsBulk | Format::Meilisearch | Format::Quickwit)
}

impl Engine {
    /// The search server, if the format is for one.
    pub fn of(args: &ExportArgs) -> Result<Option<Self>> {
        if let Some(address) = &args.push {
            if !matches!(args.format, Format::Jsonl | Format::EsBulk) {
                bail!("--push always sends es-bulk rows; leave out --format");
            }
            let authorization = std::env::var("SUIDAO_PUSH_AUTHORIZATION").ok();
            let target = PushTarget::parse(address, authorization.as_deref())?;
            return Ok(Some(Self::EsBulk { index: target.index().to_owned(), push: Some(target) }));
        }
        // The directory's name, if servers accept it.
        let index = |is_valid: fn(&str) -> bool| {
            let given = args.source.cluster().map_or_else(|| args.source.directory.clone(), PathBuf::from);
            let whole = given.canonicalize().unwrap_or(given);
            let name = whole.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_lowercase());
            let names = [name.clone(), format!("suidao-{name}")];
            names.into_iter().find(|name| is_valid(name)).unwrap_or_else(|| "suidao".to_owned())
        };
        match args.format {
            Format::EsBulk => Ok(Some(Self::EsBulk { index: index(es_bulk::is_index_name), push: None })),
            Format::Meilisearch => Ok(Some(Self::Meilisearch)),
            Format::Quickwit => Ok(Some(Self::Quickwit { index: index(quickwit::is_index_name) })),
            _ => Ok(None),
        }
    }
}

pub struct ExportResult {
    /// A message for the user.
    pub summary: String,
    /// Ids of pages that the server has rejected.
    pub rejected: Vec<String>,
}

/// A selection without the pages of some ids.
pub fn without(export: &Export, mut selection: Selection, ids: &[String]) -> Result<Selection> {
    if ids.is_empty() {
        return Ok(selection);
    }
    let gone: FxHashSet<&str> = ids.iter().map(String::as_str).collect();
    let names = UrlNames::read(export.store, export.catalogue)?;
    for (entry, chosen) in export.catalogue.entries.iter().zip(&mut selection.chosen) {
        if *chosen && names.url(entry.id).is_some_and(|url| gone.contains(id(url).as_str())) {
            *chosen = false;
            selection.pages -= 1;
        }
    }
    Ok(selection)
}

pub fn write(
    args: &ExportArgs,
    engine: &Engine,
    export: &Export,
    wanted: &ExportSelection,
    fields: Option<DocumentFields>,
) -> Result<ExportResult> {
    // A server identifies a page by its id, and Quickwit its age by the time of fetching.
    let fields = chosen(export, fields, searched).with(&["id", "fetched"]);
    if let Engine::EsBulk { push: Some(target), .. } = engine {
        return push(args, target, export, wanted, &fields);
    }
    let output = args.output.as_deref().context("--output is missing; give the file to write")?;
    let row = |document: &CorpusDocument| match engine {
        Engine::EsBulk { index, .. } => es_bulk::put(index, document, &fields),
        Engine::Meilisearch => meilisearch::row(document, &fields),
        Engine::Quickwit { .. } => quickwit::row(document, &fields),
    };
    let retired = match engine {
        Engine::EsBulk { index, .. } => retired_rows(export, wanted, index)?,
        _ => Vec::new(),
    };
    let extension = if matches!(engine, Engine::EsBulk { .. }) { "bulk.ndjson" } else { "ndjson" };
    let rows = Output { path: output.to_owned(), shard_size: args.shard_size };
    let done = rows.rows(extension, |out| {
        let done =
            export.each(|chosen| Ok(row(&export.document(chosen, fields.parts())?)?), |row| Ok(out.add(&row)?))?;
        retired.iter().try_for_each(|(_, row)| out.add(row))?;
        Ok(done)
    })?;
    for (suffix, settings) in settings(engine) {
        if let Some(path) = companion(output, suffix) {
            write_whole(&path, |out| {
                serde_json::to_writer_pretty(&mut *out, &settings)?;
                Ok(out.write_all(b"\n")?)
            })?;
        }
    }
    let gone = match retired.len() {
        0 => String::new(),
        gone => format!(", with {gone} deletions"),
    };
    Ok(ExportResult { summary: wrote(done.pages, &rows) + &gone, rejected: Vec::new() })
}

/// Additional files: ending of the name, and content.
fn settings(engine: &Engine) -> Vec<(&'static str, Value)> {
    match engine {
        Engine::EsBulk { index, .. } => vec![
            ("template.json", es_bulk::template(index)),
            ("template.smartcn.json", es_bulk::template_by_words(index)),
        ],
        Engine::Meilisearch => vec![("settings.json", meilisearch::settings())],
        Engine::Quickwit { index } => vec![("index.json", quickwit::settings(index))],
    }
}

/// Files next to the rows of a format, including the list of removed pages if there may be one.
pub fn companions_of_rows(format: Format, output: &Path) -> Vec<PathBuf> {
    let suffixes: &[&str] = match format {
        Format::EsBulk => &["template.json", "template.smartcn.json"],
        Format::Meilisearch => &["settings.json", "retired.jsonl"],
        Format::Quickwit => &["index.json", "retired.jsonl"],
        _ => &["retired.jsonl"],
    };
    suffixes.iter().filter_map(|suffix| companion(output, suffix)).collect()
}

/// A file named like the output, with another ending; `None` for standard output.
fn companion(output: &Path, suffix: &str) -> Option<PathBuf> {
    if output == Path::new("-") {
        return None;
    }
    let mut stem = output.to_owned();
    for extensions in [&["gz", "zst"][..], &["ndjson", "jsonl", "json", "parquet", "txt", "csv", "md"], &["bulk"]] {
        if stem.extension().is_some_and(|own| extensions.iter().any(|extension| own == OsStr::new(extension))) {
            stem.set_extension("");
        }
    }
    let mut name = stem.into_os_string();
    name.push(".");
    name.push(suffix);
    Some(name.into())
}

/// Ids of the removed pages, and the rows that delete them.
fn retired_rows(export: &Export, wanted: &ExportSelection, index: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let row = |id: String| -> Result<(String, Vec<u8>)> {
        let row = es_bulk::delete(index, &id)?;
        Ok((id, row))
    };
    retired(export, wanted)?.into_iter().map(|(id, _)| row(id)).collect()
}

/// Ids and URLs of the removed pages.
fn retired(export: &Export, wanted: &ExportSelection) -> Result<Vec<(String, String)>> {
    if wanted.retired.is_empty() {
        return Ok(Vec::new());
    }
    let names = UrlNames::read(export.store, export.catalogue)?;
    let gone = wanted.retired.iter().filter_map(|number| names.url(*number));
    Ok(gone.map(|url| (id(url), url.to_string())).collect())
}

/// Writes the ids of the removed pages to a separate file, if the format cannot express deletions; returns a message.
pub fn write_retired(args: &ExportArgs, export: &Export, wanted: &ExportSelection) -> Result<String> {
    let gone = retired(export, wanted)?;
    let path = args.output.as_deref().and_then(|output| companion(output, "retired.jsonl"));
    if gone.is_empty() {
        // The list of an earlier export would be misleading.
        if let Some(path) = path.filter(|path| path.is_file()) {
            std::fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        }
        return Ok(String::new());
    }
    let Some(path) = path else {
        bail!("{} exported pages no longer match, and the standard output cannot list them; give -o FILE", gone.len());
    };
    write_whole(&path, |out| {
        for (id, url) in &gone {
            writeln!(out, "{}", serde_json::json!({ "id": id, "url": url }))?;
        }
        Ok(())
    })?;
    Ok(format!("\n{} exported pages no longer match; listed in {}", gone.len(), path.display()))
}

fn push(
    args: &ExportArgs,
    target: &PushTarget,
    export: &Export,
    wanted: &ExportSelection,
    fields: &DocumentFields,
) -> Result<ExportResult> {
    let index = target.index();
    let mut push = Push::open(target.clone(), args.push_rows as usize, Duration::from_secs(args.push_wait))?;
    let made = push.prepare(&es_bulk::template(index))?;
    if made && matches!(args.since, Some(SinceFlag::Last)) {
        bail!("{}: the index does not exist, so there is no earlier export; leave out --since last", target.address());
    }
    let mut failed = None;
    let streamed = export.each(
        |chosen| {
            let document = export.document(chosen, fields.parts())?;
            let row = es_bulk::put(index, &document, fields)?;
            Ok((document.id, row))
        },
        |(id, row)| push.add(id, row).map_err(|error| stop(&mut failed, error)),
    );
    if let Some(error) = failed {
        return Err(error.into());
    }
    let pages = streamed.map_err(|error| error.at(export.store.directory().root()))?.pages;
    for (id, row) in retired_rows(export, wanted, index)? {
        push.add(id, row)?;
    }
    let rejected = push.finish()?;
    let taken = pages.saturating_sub(rejected.len() as u64);
    let mut summary = format!("Sent {taken} pages to {}", target.address());
    if !wanted.retired.is_empty() {
        summary += &format!(", deleted {}", wanted.retired.len());
    }
    if let Some((_, reason)) = rejected.first() {
        summary += &format!("\n{} rejected; first reason: {reason}", rejected.len());
        if args.source.cluster().is_none() && !export.store.directory().is_read_only() {
            let exports = export.store.directory().exports();
            plain_file::check_plain_directory(&exports)?;
            std::fs::create_dir_all(&exports).with_context(|| format!("cannot create {}", exports.display()))?;
            let path = exports.join(format!("{}.rejected.jsonl", target.name()));
            write_own(&path, |out| {
                let line = |(id, reason): &(String, String)| serde_json::json!({ "id": id, "reason": reason });
                Ok(rejected.iter().try_for_each(|rejected| writeln!(out, "{}", line(rejected)))?)
            })?;
            summary += &format!("; all listed in {}", path.display());
        }
    }
    Ok(ExportResult { summary, rejected: rejected.into_iter().map(|(id, _)| id).collect() })
}

/// Ends the stream and stores the error, because the stream's error type has only files and stores.
fn stop(failed: &mut Option<PushError>, error: PushError) -> WriteError {
    *failed = Some(error);
    WriteError::Out(std::io::Error::other("the push ended"))
}
