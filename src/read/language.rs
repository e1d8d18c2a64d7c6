//! The language of a text. Apart because whatlang goes by the script most letters are in, which on a Chinese page
//! about programming is Latin; so Chinese, Japanese and Korean are told first, by their characters.

use whatlang::{Detector, Lang};

use super::hanzi::is_ideograph;

/// A name that is none of a language that can be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no language that can be told; write zh, en or one of {known}", known = all())]
pub struct UnknownLanguage(String);

/// How many characters are looked at.
const SAMPLE: usize = 3_000;

/// ISO 639-3 code of the language `text` is in; `lang` is what the page's root element says. None if it cannot be
/// told: too little text, and no word of the page's own.
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
    // An ideograph is half a word: it weighs as much as some letters, and more where the page says it is Chinese, for
    // a page full of program output may well be.
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
    // The scripts dealt with above would win over a Latin text with some names in them.
    let detector = Detector::with_denylist(vec![Lang::Cmn, Lang::Jpn, Lang::Kor]);
    match detector.detect(&sample) {
        Some(info) if info.is_reliable() => Some(info.lang().code().to_owned()),
        Some(info) => Some(stated.unwrap_or(info.lang()).code().to_owned()),
        None => stated.map(|code| code.code().to_owned()),
    }
}

/// ISO 639-3 code of a language that pages are told to be in, from such a code or a tag that begins with one of two letters:
/// `cmn`, `zh`, `zh-CN`, `en`.
///
/// # Errors
/// [`UnknownLanguage`] names those that can be told.
pub fn language_code(name: &str) -> Result<String, UnknownLanguage> {
    stated(name).map(|known| known.code().to_owned()).ok_or_else(|| UnknownLanguage(name.trim().to_owned()))
}

/// The codes of all languages that can be told, in order.
fn all() -> String {
    let mut codes: Vec<&str> = Lang::all().iter().map(Lang::code).collect();
    codes.sort_unstable();
    codes.join(", ")
}

/// The language a BCP 47 tag names, as far as whatlang knows it.
fn stated(tag: &str) -> Option<Lang> {
    let primary = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let code = match primary.as_str() {
        "zh" | "chi" | "zho" | "cn" => "cmn",
        "en" => "eng",
        "ja" => "jpn",
        "ko" => "kor",
        "de" => "deu",
        "fr" => "fra",
        "es" => "spa",
        "pt" => "por",
        "it" => "ita",
        "nl" => "nld",
        "ru" => "rus",
        "vi" => "vie",
        "th" => "tha",
        "ar" => "ara",
        "tr" => "tur",
        "pl" => "pol",
        "id" => "ind",
        "uk" => "ukr",
        "cs" => "ces",
        "hu" => "hun",
        "ro" => "ron",
        "bg" => "bul",
        "el" => "ell",
        "he" | "iw" => "heb",
        "hi" => "hin",
        "bn" => "ben",
        "ta" => "tam",
        "te" => "tel",
        "ur" => "urd",
        "fa" | "fas" => "pes",
        "sv" => "swe",
        "da" => "dan",
        "fi" => "fin",
        "nb" | "no" | "nn" => "nob",
        "sk" => "slk",
        "sl" => "slv",
        "sr" => "srp",
        "hr" => "hrv",
        "ca" => "cat",
        "et" => "est",
        "lv" => "lav",
        "lt" => "lit",
        "mk" => "mkd",
        "ka" => "kat",
        "hy" => "hye",
        "az" => "aze",
        "uz" => "uzb",
        "tk" => "tuk",
        "my" => "mya",
        "km" => "khm",
        "ne" => "nep",
        "si" => "sin",
        "jv" => "jav",
        "tl" => "tgl",
        "la" => "lat",
        "eo" => "epo",
        other => other,
    };
    Lang::from_code(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str, lang: Option<&str>) -> Option<String> {
        of([text].into_iter(), lang)
    }

    #[test]
    fn chinese_among_code_is_chinese_whatever_the_page_says() {
        let text = "首先安装依赖，然后运行程序：let mut sum = 0; for value in values.iter() { sum += value; }";
        assert_eq!(language(text, Some("en")).as_deref(), Some("cmn"));
        assert_eq!(language("這是一篇文章的內容", None).as_deref(), Some("cmn"));
    }

    #[test]
    fn others_are_told_apart() {
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
    fn codes_are_told_by_either_name() {
        for (name, code) in
            [("zh", "cmn"), ("ZH-Hant", "cmn"), ("cmn", "cmn"), (" en ", "eng"), ("fra", "fra"), ("fa", "pes")]
        {
            assert_eq!(language_code(name).as_deref(), Ok(code), "{name}");
        }
        let told = language_code("xx").unwrap_err().to_string();
        assert!(told.starts_with("xx is no language") && told.contains("cmn, ") && told.contains("zul"), "{told}");
        // Every tag of two letters that is known leads to a language that can be told.
        for lang in Lang::all() {
            assert_eq!(language_code(lang.code()).as_deref(), Ok(lang.code()));
        }
    }
}
