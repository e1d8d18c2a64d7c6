//! Lists that a person writes: key words, and labels of pages.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Lines of a file that are neither empty nor comments, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Key words, one a line, a weight after a tab if need be.
pub fn keywords(path: &Path) -> Result<Vec<(String, Option<f64>)>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the key words {name}; give a text file with one a line"))?;
    lines(&text)
        .map(|(at, line)| match line.split_once('\t') {
            None => Ok((line.to_owned(), None)),
            Some((word, weight)) => match weight.trim().parse::<f64>() {
                Ok(weight) if weight > 0.0 && weight.is_finite() => Ok((word.trim().to_owned(), Some(weight))),
                _ => bail!("{name}, line {at}: {weight:?} is no weight; write a number above 0 after the tab"),
            },
        })
        .collect()
}

/// Pages by path or URL, and whether each is on topic.
pub fn labels(path: &Path) -> Result<HashMap<String, bool>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the labels {name}"))?;
    lines(&text)
        .map(|(at, line)| {
            // What follows the label is a remark: `suidao label` writes score and stratum there.
            let mut fields = line.split('\t');
            let (page, label) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let label = match label.trim() {
                "1" | "true" | "yes" => true,
                "0" | "false" | "no" => false,
                other => bail!("{name}, line {at}: {other:?} is no label; write the page, a tab, and 1 or 0"),
            };
            Ok((page.trim().to_owned(), label))
        })
        .collect()
}
