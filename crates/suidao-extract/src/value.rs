//! Values of fields: text from an element, converted to the type of the field.

use scraper::ElementRef;
use serde_json::{Number, Value};
use suidao_page::model::CrawlUrl;
use suidao_page::read::first_date;

use crate::rules::{Take, ValueKind};

/// Longest value, in characters.
const MAX_CHARS: usize = 10_000;

/// The text that a rule takes from an element, white space folded; `None` if there is none.
pub fn extract_value(element: &ElementRef, take: &Take) -> Option<String> {
    match take {
        Take::Text => folded(element.text()),
        Take::Html => Some(element.inner_html()).filter(|html| !html.trim().is_empty()),
        Take::Attribute(name) => folded(element.attr(name).into_iter()),
    }
}

/// The value of a microdata property (WHATWG HTML, 5.2.4 "Values").
pub fn property(element: &ElementRef) -> Option<String> {
    let attribute = match element.value().name() {
        "meta" => "content",
        "time" => "datetime",
        "a" | "area" | "link" => "href",
        "audio" | "embed" | "iframe" | "img" | "source" | "track" | "video" => "src",
        "data" | "meter" => "value",
        _ => "content",
    };
    folded(element.attr(attribute).into_iter()).or_else(|| folded(element.text()))
}

fn folded<'a>(parts: impl Iterator<Item = &'a str>) -> Option<String> {
    let text: String = parts.collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" ")).filter(|text| !text.is_empty())
}

/// The value of a text as a type; `None` if it has none.
pub fn typed(text: &str, kind: ValueKind, base: &CrawlUrl) -> Option<Value> {
    match kind {
        ValueKind::Text => Some(Value::String(text.chars().take(MAX_CHARS).collect())),
        ValueKind::Number => number(text).and_then(Number::from_f64).map(Value::Number),
        ValueKind::Date => first_date(text).map(|day| Value::String(day.to_string())),
        ValueKind::Url => base.join(text).ok().map(|url| Value::String(url.as_str().to_owned())),
    }
}

/// The first number of a text. Commas between groups of three digits are thousands separators, a full stop is a decimal
/// point; 万 and 亿 multiply; full-width digits count.
fn number(text: &str) -> Option<f64> {
    let letters: Vec<char> = text
        .chars()
        .map(|letter| match letter {
            '\u{ff10}'..='\u{ff19}' => char::from(b'0' + (letter as u32 - 0xff10) as u8),
            '，' => ',',
            '．' => '.',
            '－' | '\u{2212}' => '-',
            other => other,
        })
        .collect();
    let start = letters.iter().position(char::is_ascii_digit)?;
    let digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let group = |at: usize| (1..=3).all(|next| digit(at + next)) && !digit(at + 4);
    let mut digits = String::new();
    // A sign directly before the number, not a dash between two.
    if start > 0 && letters[start - 1] == '-' && (start < 2 || !letters[start - 2].is_alphanumeric()) {
        digits.push('-');
    }
    let (mut at, mut fraction) = (start, false);
    while let Some(&letter) = letters.get(at) {
        match letter {
            '0'..='9' => digits.push(letter),
            ',' if !fraction && group(at) => {}
            '.' if !fraction && digit(at + 1) => {
                fraction = true;
                digits.push('.');
            }
            _ => break,
        }
        at += 1;
    }
    let factor = match letters[at..].iter().find(|letter| !letter.is_whitespace()) {
        Some('万' | '萬') => 1e4,
        Some('亿' | '億') => 1e8,
        _ => 1.0,
    };
    digits.parse::<f64>().ok().map(|number| number * factor).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, value) in [
            ("¥1,299.50", Some(1299.5)),
            ("价格：３．５万元", Some(35_000.0)),
            ("1,2", Some(1.0)),
            ("12,345,678 次", Some(12_345_678.0)),
            ("-4.5°C", Some(-4.5)),
            ("A-4 型", Some(4.0)),
            ("1.5 亿", Some(1.5e8)),
            ("2.", Some(2.0)),
            ("no", None),
            ("", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
        assert_eq!(number(&"9".repeat(400)), None);
    }
}
