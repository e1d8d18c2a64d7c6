//! The corpus as plain text for language models: one page per line, and a data card.
//!
//! fastText, KenLM and SentencePiece read a line as a unit and a space as the border of words, and know no escapes:
//! they would learn a backslash and an n as two letters. So line feeds become spaces; JSON lines keep paragraphs.

use std::io::Write;
use std::path::{Path, PathBuf};

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};

use super::card::Card;
use super::{Export, Output};
use suidao_store::corpus::{Filter, Parts, Streamed};
use suidao_store::store::StoreError;

const CARD: &str = ".card.md";

pub fn card_of(path: &Path) -> PathBuf {
    Output::file(path).companion("txt", CARD)
}

/// Writes the selected pages, a line each, with the card. `filter` selected them; the card lists it.
pub fn write(export: &Export, output: &Output, filter: &Filter) -> Result<Streamed, StoreError> {
    output.rows_with("txt", Some(CARD), |rows| {
        let mut card = Card::new(export, filter)?;
        let streamed = export.each(
            |chosen| {
                let document = export.document(chosen, Parts { text: true, ..Parts::default() })?;
                let mut line = clean(&[document.title.as_str(), "\n", &document.text].concat());
                line.push('\n');
                Ok((chosen.number, line))
            },
            |(number, line)| {
                card.count(number, &line);
                // Nothing visible is left of the page.
                if line == "\n" { Ok(()) } else { Ok(rows.add(line.as_bytes())?) }
            },
        )?;
        if let Some(mut out) = rows.companion()? {
            card.write(&output.path, &mut out)?;
            out.flush()?;
        }
        Ok(streamed)
    })
}

/// One line of a text: Unicode NFC (equal text becomes equal bytes; widths and ligatures stay), white space folded to
/// single spaces, and without invisible characters: controls, zero-width and direction marks, soft hyphens, private use
/// (icon fonts), noncharacters.
fn clean(text: &str) -> String {
    const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfc();
    let text = NFC.normalize(text);
    let mut line = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = true;
        } else if !shows_nothing(c) {
            if gap && !line.is_empty() {
                line.push(' ');
            }
            gap = false;
            line.push(c);
        }
    }
    line
}

fn shows_nothing(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}'
            | '\u{f0000}'..)
        || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_store::corpus::Catalogue;
    use suidao_store::corpus::fixture::crawl;

    #[test]
    fn lines_are_clean() {
        for (text, line) in [
            ("标题\n一　二\r\n\t三\u{a0}\n", "标题 一 二 三"),
            ("足\u{200b}球\u{feff}\u{0}\u{ad}比\u{e123}赛", "足球比赛"),
            ("cafe\u{301} \u{f900} ＡＢ，", "café 豈 ＡＢ，"),
            ("\u{200b} \n", ""),
            ("a\u{2028}b\u{85}c\u{b}d", "a b c d"),
        ] {
            assert_eq!(clean(text), line);
        }
    }

    #[test]
    fn a_page_is_a_line_and_the_card_describes_them() {
        let root = tempfile::tempdir().unwrap();
        let article =
            "<title>足球 NBA</title><p>足球 篮球 比赛 昨天 在 北京 举行 观众 很多</p><p>发布于 2021-03-05</p>";
        let noindex = format!("{article}<meta name=robots content=noindex><p>他说</p>");
        let store = crawl(
            root.path(),
            &[
                ("http://a.cn/0", article),
                ("http://a.cn/1", article),
                ("http://b.cn/2", &noindex),
                ("http://c.cn/", "<title>x</title>"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let mut filter = Filter::default();
        filter.add("duplicates:best chars:1..").unwrap();
        let selection = filter.select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        let path = root.path().join("sport.txt.gz");
        assert_eq!(write(&export, &Output::file(&path), &filter).unwrap().pages, 2);
        let mut text = String::new();
        let packed = std::fs::read(&path).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("足球 NBA 足球 篮球 比赛 昨天 在 北京 举行 观众 很多 发布于 2021-03-05\n"), "{text}");
        let card = std::fs::read_to_string(root.path().join("sport.card.md")).unwrap();
        for part in [
            "# sport.txt.gz",
            "Topic: 体育",
            "sha1:LEXICON",
            "tunnel",
            "Documents: 2",
            "| zh | 2 |",
            "| b.cn | 1 |",
            "| 2021 | 2 |",
            "1 duplicates",
            "1 without text",
            "- `duplicates:best`",
            "noindex",
            "Licences: unknown",
            "The crawler did not read robots.txt",
            "-host:HOST",
        ] {
            assert!(card.contains(part), "{part}\n{card}");
        }
    }
}
