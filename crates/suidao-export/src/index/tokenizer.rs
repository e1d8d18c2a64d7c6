//! Tokenizes text for the index, pages and queries alike, with the program's segmenter.
//!
//! A token is a word of the dictionary, also inside other words, a character of a script without spaces (Chinese, kana,
//! Hangul, Thai), or a word of another script, stemmed as English. Positions count such characters and words. So a piece of text has the same
//! tokens at the same distances everywhere, and is found as a phrase of tokens that cover it, however jieba segments
//! its neighbours.

use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

use super::spelling::Spelled;
use suidao_page::text::segment::{WordPart, cut_all};

/// Its name in the index.
pub const TOKENIZER: &str = "suidao";

/// Bytes of the longest token: longer runs of letters are encoded data, and are dropped.
const LONGEST: usize = 80;

/// The complete analyzer, which programs that read the index must register as [`TOKENIZER`].
pub fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(Segmenter).filter(Stemmer::new(Language::English)).build()
}

/// Brings text to one spelling and tokenizes it ([`cut_all`]). Offsets refer to the original text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segmenter;

#[derive(Debug)]
pub struct Segments {
    spelled: Spelled,
    parts: std::vec::IntoIter<WordPart>,
    token: Token,
}

impl Tokenizer for Segmenter {
    type TokenStream<'a> = Segments;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Segments {
        let spelled = Spelled::new(text);
        let mut parts = Vec::new();
        cut_all(&spelled.text, |part| {
            if part.range.len() <= LONGEST {
                parts.push(part);
            }
        });
        Segments { spelled, parts: parts.into_iter(), token: Token::default() }
    }
}

impl TokenStream for Segments {
    fn advance(&mut self) -> bool {
        let Some(part) = self.parts.next() else { return false };
        self.token.offset_from = self.spelled.origin(part.range.start);
        self.token.offset_to = self.spelled.origin(part.range.end);
        self.token.position = part.place;
        self.token.position_length = part.length;
        self.token.text.clear();
        // A word may be spaced out.
        self.token.text.extend(self.spelled.text[part.range].split_whitespace());
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The longest tokens that cover a text, each with its distance from the first: one for a dictionary word, several for
/// other words and phrases.
pub fn phrase_tokens(text: &str) -> Vec<(usize, String)> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut tokens: Vec<Token> = Vec::new();
    stream.process(&mut |token| match tokens.last_mut() {
        // The longer token of one position comes later.
        Some(last) if last.position == token.position => last.clone_from(token),
        Some(last) if token.position < last.position + last.position_length => {}
        _ => tokens.push(token.clone()),
    });
    let first = tokens.first().map_or(0, |token| token.position);
    tokens.into_iter().map(|token| (token.position - first, token.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_point_into_the_text_as_it_was_given() {
        let text = "ＧＰＴ４ 神經網絡 Learning";
        let mut found = Vec::new();
        let mut analyzer = analyzer();
        analyzer.token_stream(text).process(&mut |token| {
            found.push((token.text.clone(), text[token.offset_from..token.offset_to].to_owned(), token.position));
        });
        let holds = |token: &str, given: &str, at: usize| {
            assert!(found.contains(&(token.into(), given.into(), at)), "{token} {found:?}");
        };
        holds("gpt4", "ＧＰＴ４", 0);
        holds("神经网络", "神經網絡", 1);
        holds("网络", "網絡", 3);
        holds("learn", "Learning", 5);
    }

    #[test]
    fn words_are_found_inside_texts_without_spaces() {
        let positions = |text: &str| {
            let mut found = Vec::new();
            analyzer().token_stream(text).process(&mut |token| found.push((token.position, token.text.clone())));
            found
        };
        for (query, text) in [
            ("データベース", "このデータベースの設計"),
            ("データベース", "ﾃﾞｰﾀﾍﾞｰｽの設計"),
            ("カタカナ", "ｶﾀｶﾅ"),
            ("ひらがな", "漢字とひらがなを"),
            ("서울", "어제 서울에서 만났다"),
            ("机器学习", "机\n器学习"),
            ("机器学习", "机 器 学 习"),
            ("机器学习", "研究机 器\u{3000}学习的人"),
            ("人工智能", "⼈⼯智能"),
            ("naïve bayes", "a naive Bayes classifier"),
            ("naive", "naïve"),
            ("Straße", "eine STRASSE"),
            ("ไทย", "ประเทศไทยแลนด์"),
            ("елка", "Ёлка"),
        ] {
            let (cover, found) = (phrase_tokens(query), positions(text));
            let at =
                |start: usize| cover.iter().all(|(offset, token)| found.contains(&(start + offset, token.clone())));
            assert!((0..text.len()).any(at), "{query} in {text}: {cover:?} {found:?}");
        }
        assert!(!positions("はし").iter().any(|(_, token)| *token == phrase_tokens("ばし")[0].1));
    }

    #[test]
    fn a_cover_finds_the_piece_wherever_it_stands() {
        let own = |cover: &[(usize, &str)]| -> Vec<(usize, String)> {
            cover.iter().map(|(at, text)| (*at, (*text).to_owned())).collect()
        };
        assert_eq!(phrase_tokens("神經網絡"), own(&[(0, "神经网络")]));
        assert_eq!(phrase_tokens("learning"), own(&[(0, "learn")]));
        assert_eq!(phrase_tokens("Gradient descent"), own(&[(0, "gradient"), (1, "descent")]));
        assert_eq!(phrase_tokens("，神经网络㐂算法"), own(&[(0, "神经网络"), (4, "㐂"), (5, "算法")]));
        assert!(phrase_tokens("，。").is_empty());
    }
}
