//! `suidao check config`: the effective values.

use anyhow::Result;
use suidao::config::Config;
use suidao::model::number;
use suidao::plan::request_limit;

pub fn show(config: &Config, as_json: bool) -> Result<()> {
    if as_json {
        outln!("{}", serde_json::to_string_pretty(&config.without_secrets())?);
    } else {
        outln!("{}", effective(config)?);
    }
    Ok(())
}

/// Every key and its value as TOML; a key without a value, which TOML cannot express, as a comment.
fn effective(config: &Config) -> Result<String> {
    let config = config.without_secrets();
    let mut text = toml::to_string(&config)?;
    for (name, section) in number::plain(serde_json::to_value(&config)?).as_object().into_iter().flatten() {
        let keys = section.as_object().into_iter().flatten();
        let unset: String =
            keys.filter(|(_, value)| value.is_null()).map(|(key, _)| format!("# {key} is not set\n")).collect();
        let head = format!("[{name}]\n");
        text = text.replacen(&head, &(head.clone() + &unset), 1);
    }
    let limit = request_limit(&config);
    if !limit.is_empty() {
        text = text.replacen("# requests is not set\n", &limit, 1);
    }
    Ok(text.trim_end().to_owned())
}
