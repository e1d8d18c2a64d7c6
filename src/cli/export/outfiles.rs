//! The files of an export: their names, and whether they may be written.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use suidao::export::{graph, text};
use suidao::index::Index;

use super::args::{ExportArgs, Format};
use super::engines;

/// The format given, or that of the output's extension.
pub fn format(args: &ExportArgs) -> Result<Format> {
    let output = args.output.as_deref().filter(|output| args.shard_size.is_none() && !is_directory(output));
    let name = output.and_then(Path::file_name).map(|name| name.to_string_lossy().to_ascii_lowercase());
    let name = name.unwrap_or_default();
    let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let extension = stem.rsplit_once('.').map_or("", |(_, extension)| extension);
    let meant = match extension {
        "" | "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
        "csv" => Some(Format::Csv),
        "parquet" => Some(Format::Parquet),
        "warc" => Some(Format::Warc),
        "txt" | "text" => Some(Format::Text),
        "md" | "markdown" => Some(Format::Markdown),
        "graphml" => Some(Format::Graph),
        _ => None,
    };
    match (args.given_format, meant) {
        (Some(given), _) => Ok(given),
        (None, Some(meant)) => Ok(meant),
        (None, None) => bail!(
            "-o {name}: no format has the extension .{extension}; name the format with --format, or use .jsonl, .csv, .parquet, \
             .warc.gz, .txt, .md or .graphml"
        ),
    }
}

/// The output's name: a file name without an ending of the format gets it.
pub fn named(args: &ExportArgs) -> Option<PathBuf> {
    let output = args.output.as_ref()?;
    let endings: &[&str] = match args.format {
        Format::Jsonl => &["jsonl", "ndjson", "json"],
        Format::Csv => &["csv"],
        Format::Parquet => &["parquet"],
        Format::EsBulk | Format::Meilisearch | Format::Quickwit => &["ndjson", "jsonl", "json"],
        Format::Warc => &["warc.gz", "gz", "warc"],
        Format::Text => &["txt", "text"],
        Format::Markdown if is_directory(output) => return Some(output.clone()),
        Format::Markdown => &["md", "markdown"],
        Format::Graph => &["graphml", "xml"],
        Format::Index => return Some(output.clone()),
    };
    let name = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
    let is_named = stem.len() < name.len() || endings.iter().any(|ending| stem.ends_with(&format!(".{ending}")));
    // An existing directory, pipe or device is used as it is.
    let is_meant = output == Path::new("-") || args.shard_size.is_some() || name.is_empty() || is_named;
    if is_meant || output.exists() && !output.is_file() {
        return Some(output.clone());
    }
    Some(output.with_file_name(format!("{name}.{}", endings[0])))
}

/// Whether a path names a directory: it is one, or ends in a slash.
pub fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// Additional files of the output.
pub fn companions(args: &ExportArgs) -> Vec<PathBuf> {
    let Some(output) = args.output.as_deref().filter(|output| *output != Path::new("-")) else { return Vec::new() };
    match args.format {
        // They are among the shards.
        Format::Warc | Format::Text | Format::Graph if args.shard_size.is_some() => Vec::new(),
        Format::Text => vec![text::card_of(output)],
        Format::Graph => graph::tables_of(output).into(),
        format => engines::companions_of_rows(format, output),
    }
}

/// Checks that nothing is replaced without --force, except an index of suidao.
pub fn may_be_written(args: &ExportArgs) -> Result<()> {
    let Some(output) = args.output.as_deref().filter(|output| *output != Path::new("-") && !args.force) else {
        return Ok(());
    };
    if args.format == Format::Index {
        // Another program's index must not be lost.
        if output.join("meta.json").is_file() && Index::open(output).is_err() {
            bail!(
                "{}: not an index of this version of suidao; choose another name with -o, or replace it with --force",
                output.display()
            );
        }
        return Ok(());
    }
    if let Some(path) = std::iter::once(output.to_owned()).chain(companions(args)).find(|path| path.is_file()) {
        bail!("{}: already exists; choose another name with -o, or replace it with --force", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: ExportArgs,
    }

    #[test]
    fn a_name_gets_the_ending_of_its_format() {
        for (format, output, called) in [
            ("jsonl", "ml", "ml.jsonl"),
            ("jsonl", "ml.2024", "ml.2024.jsonl"),
            ("jsonl", "ml.jsonl.zst", "ml.jsonl.zst"),
            ("jsonl", "ml.gz", "ml.gz"),
            ("parquet", "v1.2", "v1.2.parquet"),
            ("csv", "pages", "pages.csv"),
            ("warc", "ml.warc.gz", "ml.warc.gz"),
            ("es-bulk", "ml.bulk.ndjson", "ml.bulk.ndjson"),
            ("index", "ml.2024", "ml.2024"),
            ("text", "-", "-"),
        ] {
            let Command { mut args } = Command::parse_from(["export", "crawl", "--format", format, "-o", output]);
            args.format = super::format(&args).unwrap();
            assert_eq!(named(&args).unwrap(), Path::new(called), "{format} {output}");
        }
    }
}
