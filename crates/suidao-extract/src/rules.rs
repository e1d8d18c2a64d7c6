//! The rules of `fields.toml`.

use serde::Deserialize;
use suidao_page::toml_error::line_and_message;

use crate::selector::{CheckedSelector, SelectorError};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    #[error("line {line}: {message}")]
    Syntax { line: usize, message: String },
    #[error("there is no rule; add [[fields]] with name and select, jsonld or microdata")]
    Empty,
    #[error("{rule}: {reason}")]
    Rule { rule: String, reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    fields: Vec<FieldEntry>,
    #[serde(default)]
    pages: Vec<PageEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldEntry {
    name: String,
    #[serde(default)]
    hosts: Vec<String>,
    select: Option<String>,
    take: Option<String>,
    jsonld: Option<String>,
    microdata: Option<String>,
    #[serde(default)]
    many: bool,
    #[serde(default, rename = "type")]
    kind: ValueKind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageEntry {
    hosts: Vec<String>,
    content: Option<String>,
    #[serde(default)]
    drop: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    #[default]
    Text,
    /// The first number, such as 1299.5 of "¥1,299.50" or 35000 of "3.5万".
    Number,
    /// The first date, as YYYY-MM-DD.
    Date,
    /// A URL, made absolute.
    Url,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    Text,
    Html,
    Attribute(String),
}

/// How a field is found on the pages of some hosts.
#[derive(Debug)]
pub struct FieldRule {
    pub name: String,
    /// Hosts with their subdomains; empty: any.
    pub hosts: Vec<String>,
    pub select: Option<CheckedSelector>,
    pub take: Take,
    /// Keys from an object to the value.
    pub jsonld: Vec<String>,
    pub microdata: Option<CheckedSelector>,
    pub many: bool,
    pub kind: ValueKind,
}

/// Where the main text is on the pages of some hosts.
#[derive(Debug)]
pub struct PageRule {
    pub hosts: Vec<String>,
    pub content: Option<CheckedSelector>,
    pub drop: Vec<CheckedSelector>,
}

/// Parses the rules; those of hosts come before those of any host.
pub fn parse(text: &str) -> Result<(Vec<FieldRule>, Vec<PageRule>), RulesError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let (line, message) = line_and_message(text, &error);
        RulesError::Syntax { line, message }
    })?;
    if file.fields.is_empty() && file.pages.is_empty() {
        return Err(RulesError::Empty);
    }
    let mut fields = file.fields.into_iter().map(field).collect::<Result<Vec<_>, _>>()?;
    for (position, rule) in fields.iter().enumerate() {
        let same = fields[..position].iter().filter(|other| other.name == rule.name);
        let overlaps = |other: &&FieldRule| match (other.hosts.as_slice(), rule.hosts.as_slice()) {
            ([], []) => true,
            (one, two) => one.iter().any(|host| two.contains(host)),
        };
        if same.clone().any(|other| overlaps(&other)) {
            let hosts = if rule.hosts.is_empty() { "any host".to_owned() } else { rule.hosts.join(", ") };
            return Err(of_field(&rule.name, &format!("there are two rules for {hosts}; join them or delete one")));
        }
        if same.clone().any(|other| other.kind != rule.kind || other.many != rule.many) {
            return Err(of_field(&rule.name, "its rules have different type or many; make them equal"));
        }
    }
    fields.sort_by_key(|rule| rule.hosts.is_empty());
    Ok((fields, file.pages.into_iter().map(page).collect::<Result<_, _>>()?))
}

fn of_field(name: &str, reason: &str) -> RulesError {
    RulesError::Rule { rule: format!("field \"{name}\""), reason: reason.to_owned() }
}

fn field(entry: FieldEntry) -> Result<FieldRule, RulesError> {
    let wrong = |reason: &str| of_field(&entry.name, reason);
    let selected = |error: SelectorError| of_field(&entry.name, &error.to_string());
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    if entry.name.is_empty() || entry.name.chars().count() > 100 || !entry.name.chars().all(is_name) {
        return Err(wrong("the name must have 1 to 100 letters, digits and _; rename it"));
    }
    let take = match entry.take.as_deref() {
        None | Some("text") => Take::Text,
        Some("html") => Take::Html,
        Some(other) => match other.strip_prefix("attr:").filter(|name| !name.is_empty()) {
            Some(name) => Take::Attribute(name.to_lowercase()),
            None => return Err(wrong(&format!("take = \"{other}\" is not \"text\", \"html\" or \"attr:NAME\""))),
        },
    };
    if entry.take.is_some() && entry.select.is_none() {
        return Err(wrong("take needs select; add select, or delete take"));
    }
    let keys = |path: &str| -> Result<Vec<String>, RulesError> {
        let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
        let is_key =
            |key: &String| !key.is_empty() && key.chars().all(|letter| is_name(letter) || "@:-".contains(letter));
        if keys.len() > 8 || !keys.iter().all(is_key) {
            return Err(wrong(&format!("\"{path}\" is not a path of at most 8 keys such as offers.price")));
        }
        Ok(keys)
    };
    let jsonld = entry.jsonld.as_deref().map(keys).transpose()?.unwrap_or_default();
    let microdata = entry.microdata.as_deref().map(keys).transpose()?;
    let microdata = microdata.map(|keys| keys.iter().map(|key| format!("[itemprop~=\"{key}\"]")).collect::<Vec<_>>());
    let microdata = microdata.map(|parts| CheckedSelector::parse(&parts.join(" "))).transpose().map_err(selected)?;
    let select = entry.select.as_deref().map(CheckedSelector::parse).transpose().map_err(selected)?;
    if select.is_none() && jsonld.is_empty() && microdata.is_none() {
        return Err(wrong("there is no source; add select, jsonld or microdata"));
    }
    let hosts = entry.hosts.iter().map(|host| host.to_lowercase()).collect();
    Ok(FieldRule { name: entry.name, hosts, select, take, jsonld, microdata, many: entry.many, kind: entry.kind })
}

fn page(entry: PageEntry) -> Result<PageRule, RulesError> {
    let name = || format!("[[pages]] of {}", entry.hosts.join(", "));
    let wrong = |reason: String| RulesError::Rule { rule: name(), reason };
    let selector = |text: &String| CheckedSelector::parse(text).map_err(|error| wrong(error.to_string()));
    if entry.hosts.is_empty() {
        return Err(RulesError::Rule {
            rule: "[[pages]]".to_owned(),
            reason: "hosts is empty; name a host".to_owned(),
        });
    }
    let content = entry.content.as_ref().map(selector).transpose()?;
    let drop = entry.drop.iter().map(selector).collect::<Result<Vec<_>, _>>()?;
    if content.is_none() && drop.is_empty() {
        return Err(wrong("there is neither content nor drop; add one".to_owned()));
    }
    Ok(PageRule { hosts: entry.hosts.iter().map(|host| host.to_lowercase()).collect(), content, drop })
}

/// Whether a rule for these hosts applies to a host: the host itself or a subdomain; without hosts to all.
pub fn applies(hosts: &[String], host: &str) -> bool {
    let below =
        |name: &String| host.strip_suffix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    hosts.is_empty() || hosts.iter().any(below)
}
