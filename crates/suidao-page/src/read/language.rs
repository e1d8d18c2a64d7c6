//! Language detection.

use whatlang::{Detector, Lang};

use super::hanzi::is_ideograph;
use super::words::{self, SectionWords};

/// An unknown language name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown language {0:?}; use a code such as zh or en, one of {known}", known = all())]
pub struct UnknownLanguage(String);

/// Characters to analyze.
const SAMPLE: usize = 3_000;

/// ISO 639-3 code of the language of a text; `lang` is the declared one. `None` for too little text without a known
/// `lang`.
pub(super) fn of<'a>(pieces: impl Iterator<Item = &'a str>, lang: Option<&str>) -> Option<String> {
    let mut sample = String::with_capacity(4 * SAMPLE);
    let (mut left, mut han, mut kana, mut hangul, mut letters) = (SAMPLE, 0_usize, 0, 0, 0);
    for c in pieces.flat_map(|piece| piece.chars().chain([' '])) {
        if left == 0 {
            break;
        }
        left -= 1;
        sample.push(c);
        match c {
            'ぁ'..='ヿ' => kana += 1,
            '\u{AC00}'..='\u{D7AF}' => hangul += 1,
            _ if is_ideograph(c) => han += 1,
            _ => letters += usize::from(c.is_alphabetic()),
        }
    }
    // An ideograph is half a word, so it weighs as much as several letters, and more on a page declared as Chinese,
    // which may contain much program output.
    let asian = han + kana + hangul;
    let stated = lang.and_then(stated);
    let weight = if matches!(stated, Some(Lang::Cmn | Lang::Jpn | Lang::Kor)) { 20 } else { 6 };
    if asian >= 4 && asian * weight >= letters {
        let code = if hangul * 2 > asian {
            Lang::Kor
        } else if kana * 8 > asian {
            Lang::Jpn
        } else {
            Lang::Cmn
        };
        return Some(code.code().to_owned());
    }
    if letters < 20 {
        return stated.map(|code| code.code().to_owned());
    }
    // The scripts handled above would win over Latin text with some names in them.
    let detector = Detector::with_denylist(vec![Lang::Cmn, Lang::Jpn, Lang::Kor]);
    match detector.detect(&sample) {
        Some(info) if info.is_reliable() => Some(info.lang().code().to_owned()),
        Some(info) => Some(stated.unwrap_or(info.lang()).code().to_owned()),
        None => stated.map(|code| code.code().to_owned()),
    }
}

/// ISO 639-3 code from such a code or from a tag that begins with a two-letter code: `cmn`, `zh`, `zh-CN`, `en`.
///
/// # Errors
/// [`UnknownLanguage`] lists the known tags.
pub fn language_code(name: &str) -> Result<String, UnknownLanguage> {
    stated(name).map(|known| known.code().to_owned()).ok_or_else(|| UnknownLanguage(name.trim().to_owned()))
}

/// The tags of all known languages, sorted.
fn all() -> String {
    let mut codes: Vec<&str> = Lang::all().iter().map(|lang| language_tag(lang.code())).collect();
    codes.sort_unstable();
    codes.join(", ")
}

/// An ISO 639-3 code, its BCP 47 tag (RFC 5646) and other names in use, separated by blanks.
static LANGUAGES: SectionWords = SectionWords::of(words::LANGUAGES, "languages");

/// The BCP 47 tag of an ISO 639-3 code (`zh` for `cmn`, `en` for `eng`), or the code itself.
pub fn language_tag(code: &str) -> &str {
    let tag = |line: &&'static str| line.strip_prefix(code)?.strip_prefix(' ')?.split(' ').next();
    LANGUAGES.iter().find_map(tag).unwrap_or(code)
}

/// The whatlang language of a BCP 47 tag.
fn stated(tag: &str) -> Option<Lang> {
    let primary = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let named =
        |line: &&'static str| line.split_once(' ').filter(|(_, names)| names.split(' ').any(|name| name == primary));
    Lang::from_code(LANGUAGES.iter().find_map(named).map_or(primary.as_str(), |(code, _)| code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str, lang: Option<&str>) -> Option<String> {
        of([text].into_iter(), lang)
    }

    #[test]
    fn chinese_among_code_is_chinese_whatever_the_page_declares() {
        let text = "首先安装依赖，然后运行程序：let mut sum = 0; for value in values.iter() { sum += value; }";
        assert_eq!(language(text, Some("en")).as_deref(), Some("cmn"));
        assert_eq!(language("這是一篇文章的內容", None).as_deref(), Some("cmn"));
    }

    #[test]
    fn others_are_distinguished() {
        assert_eq!(language("昨日の午後、学校で試合を見ました。", Some("zh-CN")).as_deref(), Some("jpn"));
        assert_eq!(language("어제 오후에 학교에서 경기를 보았습니다.", None).as_deref(), Some("kor"));
        let english = "The quick brown fox jumps over the lazy dog, and nobody in the village was surprised by that.";
        assert_eq!(language(english, Some("zh-CN")).as_deref(), Some("eng"));
    }

    #[test]
    fn little_text_leaves_it_to_the_page() {
        assert_eq!(language("OK", Some("en-US")).as_deref(), Some("eng"));
        assert_eq!(language("", Some("zh_CN")).as_deref(), Some("cmn"));
        assert_eq!(language("123", None), None);
    }

    #[test]
    fn codes_are_reported_by_either_name() {
        for (name, code) in
            [("zh", "cmn"), ("ZH-Hant", "cmn"), ("cmn", "cmn"), (" en ", "eng"), ("fra", "fra"), ("fa", "pes")]
        {
            assert_eq!(language_code(name).as_deref(), Ok(code), "{name}");
        }
        let message = language_code("xx").unwrap_err().to_string();
        assert!(
            message.starts_with("unknown language \"xx\"") && message.contains("zh, ") && message.contains("zu"),
            "{message}"
        );
        assert_eq!(["cmn", "eng", "pes", "ceb"].map(language_tag), ["zh", "en", "fa", "ceb"]);
        // Every two-letter tag in the table leads to a known language.
        for lang in Lang::all() {
            assert_eq!(language_code(lang.code()).as_deref(), Ok(lang.code()));
            assert_eq!(language_code(language_tag(lang.code())).as_deref(), Ok(lang.code()));
        }
    }
}
