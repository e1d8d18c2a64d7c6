//! What the text of a link says about pages of a list: a number, a word for the next page or for the last, and how many
//! pages the text around it states.

use suidao_page::model::PaginationLink;
use suidao_page::read::ParsedDocument;
use suidao_page::word_list::SectionWords;

use super::cursor::TextCursor;
use crate::forum::WORDS;

/// Characters of a text that may be a page number, or a word for the next page.
const NUMBER: usize = 12;
const WORD: usize = 24;
/// Blocks around a link that may state the number of pages, each with so many characters.
const AROUND: usize = 2;
const STATED: usize = 80;

/// Words for the next page and the last, as a link's whole text without adjacent symbols.
static NEXT: SectionWords = SectionWords::of(WORDS, "next page");
static LAST: SectionWords = SectionWords::of(WORDS, "last page");
/// Words next to the number of a page.
static PAGE: SectionWords = SectionWords::of(WORDS, "page words");
/// Words between the number of a page and the number of pages: "Page 1 of 5".
static OF: SectionWords = SectionWords::of(WORDS, "words before the number of pages");
/// Symbols for the next page and the last, used if there are no words.
const ARROWS: [&str; 7] = ["›", "»", ">", "→", ">>", "▶", "≫"];
const LAST_ARROWS: [&str; 8] = ["»|", "›|", ">|", ">>|", "→|", "▶|", "⏭", "⇥"];

/// The mark of a link with this text in a block of the page.
pub(super) fn mark(document: &ParsedDocument, text: &str, block: usize) -> Option<PaginationLink> {
    let bare = text.trim_matches(is_sign);
    let word = bare.to_lowercase();
    if text.is_empty() || text.chars().count() > WORD {
        return None;
    }
    if LAST.contains(&word.as_str()) || LAST_ARROWS.contains(&text.trim()) {
        return Some(PaginationLink { block, number: stated_pages(document, block), next: 0 });
    }
    let number = page_number(bare).filter(|_| text.chars().count() <= NUMBER);
    let next = if NEXT.contains(&word.as_str()) { 2 } else { u8::from(ARROWS.contains(&text.trim())) };
    (number.is_some() || next > 0).then_some(PaginationLink { block, number, next })
}

/// The page in "3", "第 2 页", "第二页", "Page 2", "p. 2".
fn page_number(text: &str) -> Option<i64> {
    let text = with_ascii_digits(text);
    let text = text.as_str();
    if let Some(rest) = text.strip_prefix('第') {
        let mut cursor = TextCursor::new(rest.trim_start());
        if let Some(number) = cursor.hanzi() {
            return (!cursor.rest().is_empty() && is_page_word(cursor.rest())).then_some(number);
        }
    }
    let from = text.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = text.split_at(from);
    let to = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(to);
    let is_number = is_page_word(before.trim_start_matches('第')) && is_page_word(after) && digits.len() <= 6;
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Whether a text is a word next to the number of a page, or nothing.
fn is_page_word(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    text.chars().all(|c| c.is_alphabetic() || is_sign(c)) && (word.is_empty() || PAGE.contains(&word.as_str()))
}

fn is_sign(c: char) -> bool {
    "[]()（）【】<>‹›«»→←…. |".contains(c) || c.is_whitespace()
}

/// How many pages the text around a link states: "Page 1 of 5", "第 1 / 5 页".
fn stated_pages(document: &ParsedDocument, block: usize) -> Option<i64> {
    let near =
        std::iter::once(block).chain((1..=AROUND).flat_map(|by| [block.checked_sub(by), Some(block + by)]).flatten());
    near.filter_map(|block| document.blocks.get(block)).find_map(|block| {
        let text: String = block.pieces.clone().map(|piece| document.piece(piece)).collect();
        (text.chars().count() <= STATED).then(|| pages_in(&text)).flatten()
    })
}

fn pages_in(text: &str) -> Option<i64> {
    let text = with_ascii_digits(text).to_lowercase();
    let is_letter = |c: char| c.is_alphabetic();
    let mut rest = text.as_str();
    while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, numbers) = rest.split_at(from);
        let mut cursor = TextCursor::new(numbers);
        let page = cursor.number(1..=6);
        let after = cursor.rest();
        let to = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (between, total) = after.split_at(to);
        let mut cursor = TextCursor::new(total);
        let pages = cursor.number(1..=6);
        // A date, or posts 1 to 10 of 47, has no such words.
        let names_page = before.trim_end().ends_with('第')
            || PAGE.contains(&before.rsplit(|c: char| !is_letter(c)).find(|word| !word.is_empty()).unwrap_or_default())
            || cursor.rest().trim_start().starts_with(['页', '頁', 'ペ', '페']);
        let joins = OF.contains(&between.trim());
        if let (Some(page), Some(pages)) = (page, pages)
            && names_page
            && joins
            && (1..=pages).contains(&page)
        {
            return Some(pages);
        }
        rest = if page.is_some() { after } else { numbers.trim_start_matches(|c: char| c.is_ascii_digit()) };
    }
    None
}

fn with_ascii_digits(text: &str) -> String {
    let ascii = |c: char| char::from_u32((c as u32).wrapping_sub('０' as u32)).filter(|digit| (*digit as u32) < 10);
    text.chars().map(|c| ascii(c).map_or(c, |digit| char::from(b'0' + digit as u8))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str) -> Option<(Option<i64>, u8)> {
        super::mark(&ParsedDocument::default(), text, 0).map(|mark| (mark.number, mark.next))
    }

    #[test]
    fn numbers_are_pages() {
        for text in
            ["12", "[12]", "第 12 页", "第12頁", "第十二页", "１２", "Page 12", "p. 12", "Seite 12", "12 페이지"]
        {
            assert_eq!(mark(text), Some((Some(12), 0)), "{text}");
        }
        for text in ["上一页", "2009年的赛程", "", "第二天", "第二", "12 replies", "1-10"] {
            assert_eq!(mark(text), None, "{text}");
        }
    }

    #[test]
    fn words_and_arrows_lead_to_the_next_page() {
        for text in [
            "下一页 »",
            "Next ›",
            "[Next]",
            "Nächste",
            "Nächste Seite »",
            "Suivante",
            "Page suivante",
            "Siguiente",
            "Próxima página",
            "Вперед",
            "Вперёд",
            "Далее",
            "Następna",
            "Sonraki",
            "次へ",
            "다음",
            "Older posts",
            "Newer posts »",
            "Load more posts",
        ] {
            assert_eq!(mark(text), Some((None, 2)), "{text}");
        }
        assert_eq!(mark("»"), Some((None, 1)));
        for text in ["Previous", "Zurück", "Next topic", "Newer topic"] {
            assert_eq!(mark(text), None, "{text}");
        }
    }

    #[test]
    fn a_last_page_is_not_the_next() {
        for text in ["Last", "Last »", "末页", "尾页", "最后一页", "Letzte", "Dernière", "»|", ">|"] {
            assert_eq!(mark(text), Some((None, 0)), "{text}");
        }
    }

    #[test]
    fn texts_state_how_many_pages_there_are() {
        for text in [
            "Page 1 of 5",
            "Posts: 47 • Page 1 of 5 ",
            "第 1 / 5 页",
            "第1页/共5页",
            "第 1 页，共 5 页",
            "1/5页",
            "Seite 1 von 5",
            "Page 1 sur 5",
            "Página 1 de 5",
            "Страница 1 из 5",
            "Strona 1 z 5",
            "第１／５頁",
            "Page 1/5",
        ] {
            assert_eq!(pages_in(text), Some(5), "{text}");
        }
        for text in ["1/5", "2020/04/13 10:17", "Posts 1 to 10 of 47", "Page 1", "Page 6 of 5", "5 replies"] {
            assert_eq!(pages_in(text), None, "{text}");
        }
    }
}
