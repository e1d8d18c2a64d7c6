//! Spellings of Chinese words in Latin letters, as in URLs: 足球 as `zuqiu` and `zq`.

use pinyin::ToPinyinMulti;

use crate::text::segment::is_han;

/// Readings of a character to use, the most frequent first; further ones are archaic.
const READINGS: usize = 2;
/// Maximum spellings of a word.
const SPELLINGS: usize = 4;

/// The pinyin of a word of two or more Chinese characters without tones, joined (`tiyu`), and its initials (`ty`), each
/// for every reading, the usual one first; empty for other words.
pub(super) fn spellings(word: &str) -> (Vec<String>, Vec<String>) {
    let mut joined = vec![String::new()];
    let mut initials = vec![String::new()];
    if word.chars().nth(1).is_none() || !word.chars().all(is_han) {
        return (Vec::new(), Vec::new());
    }
    for character in word.chars() {
        let Some(readings) = character.to_pinyin_multi() else { return (Vec::new(), Vec::new()) };
        // ü is typed and written as v.
        let readings = readings.into_iter().take(READINGS).map(|reading| reading.plain().replace('ü', "v"));
        let readings: Vec<String> = readings.collect();
        joined = product(&joined, readings.iter().map(String::as_str));
        initials = product(&initials, readings.iter().map(|reading| reading.get(..1).unwrap_or_default()));
    }
    (joined, initials)
}

/// Each beginning with each ending, at most [`SPELLINGS`], without repetitions.
fn product<'a>(beginnings: &[String], endings: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for ending in endings {
        for beginning in beginnings {
            let spelling = format!("{beginning}{ending}");
            if all.len() < SPELLINGS && !all.contains(&spelling) {
                all.push(spelling);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelt_joined_and_by_initials_in_every_reading() {
        let of = |word: &str| {
            let (joined, initials) = spellings(word);
            (joined.join(" "), initials.join(" "))
        };
        assert_eq!(of("足球"), ("zuqiu juqiu".to_owned(), "zq jq".to_owned()));
        assert!(
            of("体育").0.starts_with("tiyu ") && of("音乐").0.contains("yinyue") && of("旅游").0.starts_with("lvyou")
        );
        for word in ["", "球", "nba", "足球a", "サッカー"] {
            assert_eq!(of(word), Default::default(), "{word}");
        }
    }
}
