//! Lists of keywords and of labels.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use suidao::text::entries;

pub fn keywords(path: &Path) -> Result<Vec<(String, Option<f64>)>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the keywords {name}; give a text file with one keyword per line"))?;
    entries(&text)
        .map(|(at, line)| match line.split_once('\t') {
            None => Ok((line.to_owned(), None)),
            Some((word, weight)) => match weight.trim().parse::<f64>() {
                Ok(weight) if weight > 0.0 && weight.is_finite() => Ok((word.trim().to_owned(), Some(weight))),
                _ => bail!("{name}, line {at}: invalid weight {weight:?}; write a number above 0 after the tab"),
            },
        })
        .collect()
}

pub fn labels(path: &Path) -> Result<HashMap<String, bool>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the labels {name}"))?;
    entries(&text)
        .map(|(at, line)| {
            // Text after the label is ignored: `suidao label` writes score and stratum there.
            let mut fields = line.split('\t');
            let (page, label) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let label = match label.trim() {
                "1" | "true" | "yes" => true,
                "0" | "false" | "no" => false,
                other => bail!("{name}, line {at}: invalid label {other:?}; write the page, a tab, and 1 or 0"),
            };
            Ok((page.trim().to_owned(), label))
        })
        .collect()
}
