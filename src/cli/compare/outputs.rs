//! The files of a comparison. The directory gets its final name when it is complete.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use suidao::eval::{Comparison, ComparisonFacts, csv, report};
use suidao::store::PartDirectory;
use suidao::store::directory::{WriteError, write_whole};

/// The file to open first.
pub const REPORT: &str = "report.html";

const FILES: [&str; 4] = [REPORT, "summary.csv", "curves.csv", "wins.csv"];

/// Checks that the directory may be written: it does not exist, is empty, or holds only an earlier comparison.
pub fn check(path: &Path) -> Result<()> {
    let dir = path.display();
    if !path.exists() {
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("{dir} is not a directory; choose another with -o"))?;
    for entry in entries {
        let name = entry.with_context(|| format!("cannot read {dir}"))?.file_name();
        if !FILES.iter().any(|file| name == *file) {
            bail!(
                "{dir} contains {}, which is not a file of a comparison; choose another directory with -o",
                name.display()
            );
        }
    }
    Ok(())
}

/// Writes all files into a temporary directory, which then gets the name `path`.
pub fn write(path: &Path, comparison: &Comparison, facts: &ComparisonFacts) -> Result<()> {
    let dir = path.display();
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}; choose another -o", parent.display()))?;
    let part = PartDirectory::next_to(path).with_context(|| format!("cannot write into {}", parent.display()))?;
    let file = |name: &str| part.path().join(name);
    type Rows = fn(&Comparison, &mut dyn Write) -> Result<(), ::csv::Error>;
    let rows: [(&str, Rows); 3] = [
        ("summary.csv", |comparison, out| csv::summary(comparison, out)),
        ("curves.csv", |comparison, out| csv::curves(comparison, out)),
        ("wins.csv", |comparison, out| csv::wins(comparison, out)),
    ];
    for (name, rows) in rows {
        write_whole(&file(name), |out| rows(comparison, out).map_err(WriteError::from))?;
    }
    write_whole(&file(REPORT), |out| Ok(out.write_all(report(comparison, facts).as_bytes())?))?;
    // Checked again, because the runs have taken a while.
    check(path)?;
    let replace = || -> std::io::Result<()> {
        // The previous one is kept until the new one has its name.
        let aside = if path.exists() { Some(PartDirectory::next_to(path)?) } else { None };
        let previous = aside.as_ref().map(|aside| aside.path().join("former"));
        previous.iter().try_for_each(|previous| fs::rename(path, previous))?;
        part.rename(path).inspect_err(|_| {
            if let Some(previous) = &previous {
                let _ = fs::rename(previous, path);
            }
        })
    };
    replace().with_context(|| format!("cannot replace {dir}"))
}
