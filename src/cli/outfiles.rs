//! The files of an export: how they are called, and whether they may be written.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use suidao::export::written::Written;
use suidao::export::{graph, text, warc};
use suidao::index::Index;

use super::engines;
use super::export::{ExportArgs, Format};

/// The output as it is called: a name without an ending gets that of the format, where it is to be a file.
pub fn named(args: &ExportArgs) -> Option<PathBuf> {
    let output = args.output.as_ref()?;
    let ending = match args.format {
        Format::Jsonl => "jsonl",
        Format::Parquet => "parquet",
        Format::EsBulk | Format::Meilisearch | Format::Quickwit => "ndjson",
        Format::Warc => "warc.gz",
        Format::Text => "txt",
        Format::Graph => "graphml",
        Format::Index => return Some(output.clone()),
    };
    // What is there already, a directory, a pipe or a device, is meant as it is.
    let is_meant = output == Path::new("-") || args.shard_size.is_some() || output.extension().is_some();
    if is_meant || output.file_name().is_none() || output.exists() && !output.is_file() {
        return Some(output.clone());
    }
    let mut name = output.clone().into_os_string();
    name.push(".");
    name.push(ending);
    Some(name.into())
}

/// Files that lie beside the output when it is written.
pub fn beside(args: &ExportArgs) -> Vec<PathBuf> {
    let Some(output) = args.output.as_deref().filter(|output| *output != Path::new("-")) else { return Vec::new() };
    match args.format {
        // They lie among the shards.
        Format::Warc | Format::Text | Format::Graph if args.shard_size.is_some() => Vec::new(),
        Format::Warc => vec![warc::index_of(output)],
        Format::Text => vec![text::card_of(output)],
        Format::Graph => graph::tables_of(output).into(),
        format => engines::beside_rows(format, output),
    }
}

/// That nothing is replaced but what an export of this crawl has written, or an index of suidao's.
pub fn may_be_written(args: &ExportArgs, written: &Written) -> Result<()> {
    let Some(output) = args.output.as_deref().filter(|output| *output != Path::new("-") && !args.force) else {
        return Ok(());
    };
    if args.format == Format::Index {
        // An engine's index of another kind would be lost with all that is in it.
        if output.join("meta.json").is_file() && Index::open(output).is_err() {
            bail!(
                "{}: an index that suidao did not make, or of another version; give another name, or --force",
                output.display()
            );
        }
        return Ok(());
    }
    let others = std::iter::once(output.to_owned()).chain(beside(args)).find(|path| written.is_anothers(path));
    if let Some(path) = others {
        bail!(
            "{}: is there already, and no export of this crawl has written it or it was changed since; give another name with -o, or --force to replace it",
            path.display()
        );
    }
    Ok(())
}
