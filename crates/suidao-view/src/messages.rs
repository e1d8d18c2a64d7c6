//! The messages of the search site, the report and the status page, in English and Chinese: one table for each
//! language.
//!
//! A message may have arguments: `{0}` is the first as it is, `{0:page|pages}` a number with its noun.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::Value;

use crate::html::thousands;
use suidao_page::model::span;

const ENGLISH: &str = include_str!("messages/en.txt");
const CHINESE: &str = include_str!("messages/zh.txt");

type Messages = BTreeMap<&'static str, &'static str>;

static TABLES: LazyLock<[Messages; 2]> = LazyLock::new(|| [ENGLISH, CHINESE].map(table));

/// A message per line: `key = text`.
fn table(text: &'static str) -> Messages {
    text.lines().filter_map(|line| line.split_once(" = ")).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    English,
    Chinese,
}

impl Lang {
    pub fn named(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "zh" => Some(Self::Chinese),
            _ => None,
        }
    }

    /// The preferred of the two languages in an `Accept-Language` field, by weight (RFC 9110, 12.5.4); English if it
    /// has neither.
    pub fn preferred(field: &str) -> Self {
        let mut best: (f32, Self) = (0.0, Self::English);
        for range in field.split(',').take(20) {
            let (code, weight) = range.split_once(';').unwrap_or((range, ""));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(1.0);
            let lang = code.trim().get(..2).and_then(|code| Self::named(&code.to_ascii_lowercase()));
            if let Some(lang) = lang.filter(|_| weight > best.0) {
                best = (weight, lang);
            }
        }
        best.1
    }

    /// The language of a locale: the first value that is set of `LC_ALL`, `LC_MESSAGES` and `LANG` (POSIX).
    pub fn of_locale(values: impl IntoIterator<Item = Option<String>>) -> Self {
        let value = values.into_iter().flatten().find(|value| !value.is_empty());
        value.and_then(|value| Self::named(value.get(..2)?)).unwrap_or(Self::English)
    }

    /// A duration in its two largest units.
    pub fn span(self, seconds: f64) -> String {
        let text = span(seconds);
        match self {
            Self::English => text,
            Self::Chinese => {
                let units = [(" d", " 天"), (" h", " 小时"), (" min", " 分"), (" s", " 秒")];
                units.into_iter().fold(text, |text, (unit, name)| text.replace(unit, name))
            }
        }
    }

    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    pub fn html(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    pub fn other(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// A message; the key itself if there is none.
    pub fn text(self, key: &str, arguments: &[Value]) -> String {
        let message = TABLES[self as usize].get(key).copied().unwrap_or(key);
        let mut out = String::with_capacity(message.len());
        let mut rest = message;
        while let Some((before, (place, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            out.push_str(before);
            let (number, nouns) = place.split_once(':').map_or((place, None), |(number, nouns)| (number, Some(nouns)));
            let argument = number.parse().ok().and_then(|at: usize| arguments.get(at));
            let shown = argument.map(Value::to_string).unwrap_or_default();
            match nouns.map(|nouns| nouns.split_once('|').unwrap_or((nouns, nouns))) {
                None => out.push_str(&shown),
                Some((one, many)) => {
                    let number: u64 = shown.parse().unwrap_or(0);
                    out += &format!("{} {}", thousands(number), if number == 1 { one } else { many });
                }
            }
            rest = after;
        }
        out + rest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn sources(directory: &Path, found: &mut String) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "html") && !path.ends_with("messages.rs") {
                found.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn both_tables_have_the_same_keys_and_all_are_used() {
        let [english, chinese] = &*TABLES;
        assert!(english.keys().eq(chinese.keys()), "{:?}", (english.keys(), chinese.keys()));
        assert_eq!(english.len(), ENGLISH.lines().count(), "each line is a message, and no key occurs twice");
        let places = |text: &str| {
            let inner = text.split('{').skip(1).filter_map(|part| part.split(['}', ':']).next());
            inner.map(str::to_owned).collect::<BTreeSet<String>>()
        };
        for (key, text) in english {
            assert_eq!(places(text), places(chinese[key]), "{key}");
        }
        let mut text = String::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
        let is_call = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let key = |after: usize| text[after..].trim_start().strip_prefix('"')?.split('"').next();
        let used: BTreeSet<&str> = ["t(", "text("]
            .into_iter()
            .flat_map(|call| text.match_indices(call))
            .filter_map(|(at, call)| key(at + call.len()).filter(|_| is_call(at)))
            .collect();
        let keys: BTreeSet<&str> = english.keys().copied().collect();
        let unused: Vec<_> = keys.difference(&used).collect();
        let missing: Vec<_> = used.difference(&keys).collect();
        assert!(unused.is_empty() && missing.is_empty(), "unused: {unused:?}, missing: {missing:?}");
    }

    #[test]
    fn arguments_are_filled_in() {
        assert_eq!(table("a = {0} = b\n\n")["a"], "{0} = b");
        let text = |message: &str, arguments: &[Value]| Lang::English.text(message, arguments);
        assert_eq!(text("{1} of {0:page|pages}", &[1.into(), "{0}".into()]), "{0} of 1 page");
        assert_eq!(text("{0:page|pages}{", &[1234.into()]), "1,234 pages{");
        assert_eq!(text("{0:个网页}{2}", &[5.into()]), "5 个网页");
    }

    #[test]
    fn durations_have_units_in_the_language() {
        assert_eq!([7.0, 500.0].map(|seconds| Lang::English.span(seconds)), ["7 s", "8 min 20 s"]);
        let chinese = [7.0, 500.0, 7_200.0, 90_000.0].map(|seconds| Lang::Chinese.span(seconds));
        assert_eq!(chinese, ["7 秒", "8 分 20 秒", "2 小时 0 分", "1 天 1 小时"]);
    }

    #[test]
    fn the_language_is_the_browser_s_or_the_locale_s() {
        for (field, language) in [
            ("", Lang::English),
            ("zh", Lang::Chinese),
            ("en-GB,zh;q=0.9", Lang::English),
            ("zh-Hant;q=0.9,en;q=0.8,*;q=0.1", Lang::Chinese),
            ("de;q=1,x,;;q=,é", Lang::English),
        ] {
            assert_eq!(Lang::preferred(field), language, "{field}");
        }
        let locale = |values: [&str; 2]| Lang::of_locale(values.map(|value| Some(value.to_owned())));
        assert_eq!(locale(["", "zh_CN.UTF-8"]), Lang::Chinese);
        assert_eq!(locale(["C", "zh_CN.UTF-8"]), Lang::English);
        assert_eq!(Lang::of_locale([None]), Lang::English);
    }
}
