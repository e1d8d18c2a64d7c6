//! Conditions on pages, such as `lang:zh`: the one language of filters and of search queries.

use std::fmt;

use suidao_page::model::{Day, Relevance};
use suidao_page::read::{language_code, language_tag};
use suidao_page::text::fold;

use super::catalogue::Catalogue;
use super::entry::CatalogueEntry;

/// A condition on a page. Of several values one is enough.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A relevant document, or not one.
    Relevant(bool),
    Relevance(Bounds<Relevance>),
    /// BCP 47 tags.
    Language(Vec<String>),
    /// Hosts with their subdomains; without a port, on all ports.
    Host(Vec<String>),
    /// Pages without a date do not meet it.
    Published(Bounds<Day>),
    /// In UTC.
    Fetched(Bounds<Day>),
    /// Length of the main text in characters.
    Chars(Bounds<u32>),
}

/// A range with both ends included; `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds<T> {
    pub from: Option<T>,
    pub to: Option<T>,
}

impl<T: PartialOrd> Bounds<T> {
    pub fn from(from: T) -> Self {
        Self { from: Some(from), to: None }
    }

    pub fn contains(&self, value: &T) -> bool {
        self.from.as_ref().is_none_or(|from| value >= from) && self.to.as_ref().is_none_or(|to| value <= to)
    }
}

impl<T: fmt::Display> fmt::Display for Bounds<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (end, between) in [(&self.from, ".."), (&self.to, "")] {
            end.iter().try_for_each(|end| write!(out, "{end}"))?;
            out.write_str(between)?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error(
        "{0} is not a condition; write relevant:yes, relevance:0.6.., lang:zh,en, host:example.cn, \
         date:2021..2022-03, after:2021, before:2021-03-05, fetched:2024-05-01.., chars:200.., or - before one to \
         exclude pages; or listings:yes, noindex:yes, duplicates:best|keep"
    )]
    Unknown(String),
    #[error("{name}:{value}: {expected}")]
    Value { name: String, value: String, expected: String },
}

/// Names of conditions, also in Chinese.
const NAMES: [&str; 15] = [
    "relevant",
    "相关",
    "relevance",
    "lang",
    "language",
    "语言",
    "host",
    "site",
    "网站",
    "date",
    "日期",
    "after",
    "before",
    "fetched",
    "chars",
];

const DATES: &str = "expected a year, month or day such as 2021, 2021-03 or 2021-03-05, or a range such as 2021..2022, the earlier date first";

impl Condition {
    /// Whether conditions of this name exist; the name is [folded](fold).
    pub fn is_name(name: &str) -> bool {
        NAMES.contains(&name)
    }

    /// Parses the parts of `name:value`.
    ///
    /// # Errors
    /// There is no condition of that name, or it takes no such value.
    pub fn parse(name: &str, value: &str) -> Result<Self, ConditionError> {
        let folded = fold(value.trim());
        let wrong = |expected: &str| ConditionError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        };
        let values = || folded.split(',').map(str::trim).filter(|value| !value.is_empty());
        let some = |values: Vec<String>| if values.is_empty() { Err(wrong("expected a name")) } else { Ok(values) };
        let dates = || dates(&folded).ok_or_else(|| wrong(DATES));
        Ok(match &*fold(name) {
            "relevant" | "相关" => Self::Relevant(yes_or_no(&folded).ok_or_else(|| wrong("expected yes or no"))?),
            "relevance" => {
                let share = |text: &str| text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
                let range = range(&folded, |text| share(text).map(Relevance::new)).and_then(ordered);
                Self::Relevance(
                    range.ok_or_else(|| wrong("expected a range between 0 and 1 such as 0.6.. or 0.2..0.5"))?,
                )
            }
            "lang" | "language" | "语言" => {
                let tags = values().map(language).collect::<Result<_, _>>();
                Self::Language(some(tags.map_err(|error| wrong(&error.to_string()))?)?)
            }
            "host" | "site" | "网站" => {
                Self::Host(some(values().map(|host| host.trim_matches(['.', '/']).to_owned()).collect())?)
            }
            "date" | "日期" => Self::Published(dates()?),
            "after" => Self::Published(Bounds { to: None, ..dates()? }),
            "before" => Self::Published(Bounds { from: None, ..dates()? }),
            "fetched" => Self::Fetched(dates()?),
            "chars" => {
                let range = range(&folded, |text| text.parse().ok()).and_then(ordered);
                Self::Chars(range.ok_or_else(|| wrong("expected a range of numbers such as 200.. or 200..5000"))?)
            }
            _ => return Err(ConditionError::Unknown(format!("{name}:{value}"))),
        })
    }

    pub(super) fn holds(&self, catalogue: &Catalogue, entry: &CatalogueEntry) -> bool {
        match self {
            Self::Relevant(relevant) => entry.is_relevant() == *relevant,
            Self::Relevance(bounds) => bounds.contains(&entry.relevance),
            Self::Language(tags) => {
                catalogue.language(entry).is_some_and(|language| tags.iter().any(|tag| tag == language))
            }
            Self::Host(names) => catalogue
                .hosts
                .get(entry.host as usize)
                .is_some_and(|host| names.iter().any(|name| is_host_or_subdomain(host, name))),
            Self::Published(bounds) => entry.published.is_some_and(|day| bounds.contains(&day)),
            Self::Fetched(bounds) => bounds.contains(&Day::at(entry.at)),
            Self::Chars(bounds) => bounds.contains(&entry.sketch.chars),
        }
    }

    /// What pages are that do not meet it, as a phrase after their number.
    pub(super) fn failing(&self) -> &'static str {
        match self {
            Self::Relevant(true) => "not relevant",
            Self::Relevant(false) => "relevant",
            Self::Relevance(_) => "outside the range of relevance",
            Self::Language(_) => "in other languages",
            Self::Host(_) => "on other hosts",
            Self::Published(_) => "outside the publication dates",
            Self::Fetched(_) => "outside the dates of fetching",
            Self::Chars(Bounds { from: Some(1), to: None }) => "without text",
            Self::Chars(_) => "outside the range of lengths",
        }
    }
}

/// As [`Condition::parse`] takes it.
impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relevant(relevant) => write!(out, "relevant:{}", if *relevant { "yes" } else { "no" }),
            Self::Relevance(Bounds { from, to }) => {
                let bounds = Bounds { from: from.map(Relevance::get), to: to.map(Relevance::get) };
                write!(out, "relevance:{bounds}")
            }
            Self::Language(tags) => write!(out, "lang:{}", tags.join(",")),
            Self::Host(hosts) => write!(out, "host:{}", hosts.join(",")),
            Self::Published(days) => write!(out, "date:{days}"),
            Self::Fetched(days) => write!(out, "fetched:{days}"),
            Self::Chars(chars) => write!(out, "chars:{chars}"),
        }
    }
}

pub(super) fn yes_or_no(value: &str) -> Option<bool> {
    match value {
        "yes" | "true" | "1" | "是" => Some(true),
        "no" | "false" | "0" | "否" => Some(false),
        _ => None,
    }
}

/// The tag of a language, given by a code or a common name.
fn language(name: &str) -> Result<String, suidao_page::read::UnknownLanguage> {
    let code = match name {
        "chinese" | "中文" => "zh",
        "english" | "英文" | "英语" => "en",
        "japanese" | "日文" | "日语" => "ja",
        code => code,
    };
    language_code(code).map(|code| language_tag(&code).to_owned())
}

/// `a..b`, `a..` or `..b`.
fn range<T>(value: &str, end: impl Fn(&str) -> Option<T>) -> Option<Bounds<T>> {
    let (from, to) = value.split_once("..")?;
    let end = |text: &str| if text.is_empty() { Some(None) } else { end(text).map(Some) };
    let bounds = Bounds { from: end(from)?, to: end(to)? };
    (bounds.from.is_some() || bounds.to.is_some()).then_some(bounds)
}

/// `None` if no value is in the range.
fn ordered<T: PartialOrd>(bounds: Bounds<T>) -> Option<Bounds<T>> {
    let is_ordered = bounds.from.as_ref().zip(bounds.to.as_ref()).is_none_or(|(from, to)| from <= to);
    is_ordered.then_some(bounds)
}

/// A year, a month, a day, or a range of them.
fn dates(value: &str) -> Option<Bounds<Day>> {
    if let Some((from, to)) = Day::period(value) {
        return Some(Bounds { from: Some(from), to: Some(to) });
    }
    let Bounds { from, to } = range(value, Day::period)?;
    ordered(Bounds { from: from.map(|(first, _)| first), to: to.map(|(_, last)| last) })
}

/// A name without a port matches all ports.
fn is_host_or_subdomain(host: &str, name: &str) -> bool {
    let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
    let below = |host: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    below(host) || below(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_printed_as_it_is_written() {
        for (written, printed) in [
            ("relevant:yes", "relevant:yes"),
            ("相关:否", "relevant:no"),
            ("relevance:0.25..", "relevance:0.25.."),
            ("relevance:0.25..0.5", "relevance:0.25..0.5"),
            ("lang:zh,eng", "lang:zh,en"),
            ("语言:中文", "lang:zh"),
            ("HOST:Example.cn/,b.org:81", "host:example.cn,b.org:81"),
            ("date:2021", "date:2021-01-01..2021-12-31"),
            ("date:2020-02", "date:2020-02-01..2020-02-29"),
            ("date:2020..2021-03", "date:2020-01-01..2021-03-31"),
            ("date:2021-06..2021", "date:2021-06-01..2021-12-31"),
            ("date:..2020-12", "date:..2020-12-31"),
            ("after:2021-03-05", "date:2021-03-05.."),
            ("before:2021", "date:..2021-12-31"),
            ("fetched:2024-05-01..", "fetched:2024-05-01.."),
            ("chars:200..5000", "chars:200..5000"),
        ] {
            let (name, value) = written.split_once(':').unwrap();
            assert_eq!(Condition::parse(name, value).unwrap().to_string(), printed);
            assert!(Condition::is_name(&fold(name)));
        }
    }

    #[test]
    fn an_error_has_the_condition_and_what_was_expected() {
        for (name, value, part) in [
            ("colour", "red", "colour:red is not a condition; write relevant:yes"),
            ("relevant", "maybe", "relevant:maybe: expected yes or no"),
            ("relevance", "0.6..2", "between 0 and 1"),
            ("relevance", "0.6", "such as 0.6.."),
            ("chars", "200", "such as 200.."),
            ("chars", "..", "such as 200.."),
            ("date", "2021-13", "2021-03-05"),
            ("date", "2024..2020", "the earlier date first"),
            ("chars", "300..200", "such as 200.."),
            ("lang", "zh,klingon", "klingon"),
            ("host", ",", "expected a name"),
        ] {
            let error = Condition::parse(name, value).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_written_breaks_it(at in 0..NAMES.len(), value in "[0-9.,:年-]{0,12}") {
            let _ = Condition::parse(NAMES[at], &value);
        }
    }
}
