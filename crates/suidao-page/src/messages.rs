//! The text of all pages that suidao makes, in English and Chinese: one table for each language, and how each writes
//! numbers, dates and durations.
//!
//! A message may have arguments: `{0}` is the first as it is, `{0:page|pages}` a number with its noun.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::LazyLock;

use crate::model::span;

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

    /// A round number of an axis: `20,000`, `2 万`.
    pub fn round_number(self, number: u64) -> String {
        match (self, number) {
            (Self::Chinese, 100_000_000..) => format!("{} 亿", number as f64 / 1e8),
            (Self::Chinese, 10_000..) => format!("{} 万", number as f64 / 1e4),
            _ => thousands(number),
        }
    }

    /// A large number to about three digits: `6.31 M`, `631 万`; numbers below 100,000 exactly.
    pub fn large_number(self, number: u64) -> String {
        match (self, number) {
            (_, ..100_000) => thousands(number),
            (Self::English, ..10_000_000) => format!("{:.2} M", number as f64 / 1e6),
            (Self::English, _) => format!("{} M", thousands(number / 1_000_000)),
            (Self::Chinese, ..1_000_000) => format!("{:.1} 万", number as f64 / 1e4),
            (Self::Chinese, ..100_000_000) => format!("{} 万", thousands(number.div_euclid(10_000))),
            (Self::Chinese, _) => format!("{:.2} 亿", number as f64 / 1e8),
        }
    }

    /// A year, month, day or time in the form `2021-03-05 06:40`, or only its beginning.
    pub fn date(self, text: &str) -> String {
        let (day, time) = text.split_once(' ').map_or((text, None), |(day, time)| (day, Some(time)));
        let numbers: Option<Vec<u32>> = day.split('-').map(|part| part.parse().ok()).collect();
        match (self, numbers) {
            (Self::Chinese, Some(numbers)) if numbers.len() <= 3 => {
                let units = numbers.iter().zip(["年", "月", "日"]);
                let day: String = units.map(|(number, unit)| format!("{number}{unit}")).collect();
                time.map_or_else(|| day.clone(), |time| format!("{day} {time}"))
            }
            _ => text.to_owned(),
        }
    }

    /// The name of a language by its BCP 47 tag; an unknown tag as it is.
    pub fn language(self, tag: &str) -> &str {
        TABLES[self as usize].get(format!("language-{tag}").as_str()).copied().unwrap_or(tag)
    }

    /// A message without arguments; the key itself if there is none.
    pub fn phrase(self, key: &'static str) -> &'static str {
        TABLES[self as usize].get(key).copied().unwrap_or(key)
    }

    /// A message; the key itself if there is none.
    pub fn text(self, key: &str, arguments: &[&dyn Display]) -> String {
        let message = TABLES[self as usize].get(key).copied().unwrap_or(key);
        let mut out = String::with_capacity(message.len());
        let mut rest = message;
        while let Some((before, (place, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            out.push_str(before);
            let (number, nouns) = place.split_once(':').map_or((place, None), |(number, nouns)| (number, Some(nouns)));
            let argument = number.parse().ok().and_then(|at: usize| arguments.get(at));
            let shown = argument.map(ToString::to_string).unwrap_or_default();
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

/// A number with separators: `1,234`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn both_tables_have_the_same_keys_and_arguments() {
        let [english, chinese] = &*TABLES;
        let missing: Vec<_> = english.keys().filter(|key| !chinese.contains_key(*key)).collect();
        assert!(missing.is_empty() && english.len() == chinese.len(), "{missing:?}");
        assert_eq!(english.len(), ENGLISH.lines().count(), "each line is a message, and no key occurs twice");
        assert!(
            ENGLISH.lines().zip(CHINESE.lines()).all(|(one, other)| one.split(' ').next() == other.split(' ').next())
        );
        let places = |text: &str| {
            let inner = text.split('{').skip(1).filter_map(|part| part.split(['}', ':']).next());
            inner.map(str::to_owned).collect::<BTreeSet<String>>()
        };
        for (key, text) in english {
            assert_eq!(places(text), places(chinese[key]), "{key}");
        }
    }

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

    /// Keys in calls such as `lang.text("key"`; in crates without templates, `text` has other meanings too.
    fn keys_in<'a>(text: &'a str, calls: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let is_call = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let key = |after: usize| text[after..].trim_start().strip_prefix('"')?.split('"').next();
        let all = calls.iter().flat_map(|call| text.match_indices(*call));
        all.filter_map(move |(at, call)| key(at + call.len()).filter(|_| is_call(at)))
    }

    #[test]
    fn all_messages_are_used_and_none_is_missing() {
        let text = |name: &str| {
            let mut text = String::new();
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &mut text);
            text
        };
        let (view, others) = (
            text("../suidao-view/src") + &text("../suidao-html/src") + &text("../suidao-service/src/web"),
            text("src") + &text("../suidao-store/src"),
        );
        let mut used: BTreeSet<&str> = keys_in(&view, &["t(", "text(", "phrase("]).collect();
        used.extend(keys_in(&others, &["lang.text(", "lang.phrase("]));
        let service = text("../suidao-service/src");
        used.extend(keys_in(&service, &["Problem::said(", "Self::said("]));
        let keys: BTreeSet<&str> = TABLES[0].keys().copied().filter(|key| !key.starts_with("language-")).collect();
        let unused: Vec<_> = keys.difference(&used).collect();
        let missing: Vec<_> = used.difference(&keys).collect();
        assert!(unused.is_empty() && missing.is_empty(), "unused: {unused:?}, missing: {missing:?}");
    }

    #[test]
    fn every_language_has_a_name_in_both() {
        for lang in whatlang::Lang::all() {
            let tag = crate::read::language_tag(lang.code());
            assert!(Lang::English.language(tag) != tag && Lang::Chinese.language(tag) != tag, "{tag}");
        }
        let names = TABLES[0].keys().filter(|key| key.starts_with("language-")).count();
        assert_eq!(names, whatlang::Lang::all().len());
        assert_eq!(Lang::Chinese.language("xx"), "xx");
    }

    #[test]
    fn numbers_and_dates_are_as_readers_write_them() {
        let [english, chinese] = [Lang::English, Lang::Chinese];
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        let numbers = [5_000, 12_500, 20_000, 2_000_000, 300_000_000];
        assert_eq!(numbers.map(|it| chinese.round_number(it)), ["5,000", "1.25 万", "2 万", "200 万", "3 亿"]);
        assert_eq!(numbers.map(|it| english.round_number(it))[1..3], ["12,500", "20,000"]);
        let numbers = [99_999, 123_456, 6_312_345, 45_678_901, 1_234_567_890];
        assert_eq!(numbers.map(|it| chinese.large_number(it)), ["99,999", "12.3 万", "631 万", "4,567 万", "12.35 亿"]);
        assert_eq!(numbers.map(|it| english.large_number(it)), ["99,999", "0.12 M", "6.31 M", "45 M", "1,234 M"]);
        let dates = ["2021", "2021-11", "2021-03-05", "2021-03-05 06:40", "–", "a-b"];
        assert_eq!(
            dates.map(|it| chinese.date(it)),
            ["2021年", "2021年11月", "2021年3月5日", "2021年3月5日 06:40", "–", "a-b"]
        );
        assert_eq!(dates.map(|it| english.date(it)), dates);
    }

    #[test]
    fn arguments_are_filled_in() {
        assert_eq!(table("a = {0} = b\n\n")["a"], "{0} = b");
        let text = |message: &str, arguments: &[&dyn Display]| Lang::English.text(message, arguments);
        assert_eq!(text("{1} of {0:page|pages}", &[&1, &"{0}"]), "{0} of 1 page");
        assert_eq!(text("{0:page|pages}{", &[&1234]), "1,234 pages{");
        assert_eq!(text("{0:个网页}{2}", &[&5]), "5 个网页");
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
