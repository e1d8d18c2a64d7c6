//! Lists of keywords and of labels.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use suidao::read::charset::decode;
use suidao::text::entries;

/// Keywords with their weights: one per line with an optional weight after a tab, or several separated by commas. The
/// file may be in any Chinese charset.
pub fn keywords(path: &Path) -> Result<Vec<(String, Option<f64>)>> {
    let name = path.display();
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the keywords {name}; give a text file with one keyword per line"))?;
    let text = decode(&bytes, None).text;
    let mut keywords = Vec::new();
    for (at, line) in entries(&text) {
        match line.split_once('\t') {
            Some((word, weight)) => match weight.trim().parse::<f64>() {
                Ok(weight) if weight > 0.0 && weight.is_finite() => {
                    keywords.push((word.trim().to_owned(), Some(weight)))
                }
                _ => bail!("{name}, line {at}: invalid weight {weight:?}; write a number above 0 after the tab"),
            },
            None => {
                let words = line.split([',', '，', '、', ';', '；']).map(str::trim).filter(|word| !word.is_empty());
                keywords.extend(words.map(|word| (word.to_owned(), None)));
            }
        }
    }
    Ok(keywords)
}

pub fn labels(path: &Path) -> Result<HashMap<String, bool>> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| {
        format!("cannot read the labels {name}; give a text file with a page, a tab, and 1 or 0 per line")
    })?;
    let text = decode(&bytes, None).text;
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
