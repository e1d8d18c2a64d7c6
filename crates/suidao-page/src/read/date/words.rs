//! Meaning of a date by the words next to it.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::read::tokens::head;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateSense {
    Published,
    Changed,
    /// Of an event, a comment, today.
    Other,
}

/// Lower-case stems for publication: `veröffentlicht` and `Veröffentlichung`.
const PUBLISHED: &str = "publi|posted|written|date:|date :|created|submitted|veröffentlich|erschien|erstellt|gepostet|verfasst|\
    geschrieben|eingestellt|datum|pressemitteilung vom|mitteilung vom|meldung vom|beitrag vom|artikel vom|\
    sendung vom|mise en ligne|mis en ligne|paru le|posté|écrit le|créé le|date de|fecha|escrito|subido|creado|\
    pubblicato|scritto|inserito|data:|postado|criado|gepubliceerd|geplaatst|opublikowan|dodano|napisan|data dodania|\
    yayın|eklenme|tarih|δημοσι|ημερομηνία|опубликован|дата|добавлен|размещен|размещено|написано|发布|發布|發佈|发表|發表|刊登|\
    刊发|撰写|創建|创建|時間|时间|日期|投稿日|公開日|掲載|등록|입력|작성";

/// Stems for modification.
const CHANGED: &str = "updated|modified|last change|last edit|edited|last revised|reviewed|revised|update:|up to date|geändert|\
    änderung|aktualisier|bearbeitet|letztes update|stand:|stand |stand der|mis à jour|mise à jour|modifié|actualiz|\
    modificad|aggiornat|ultima modifica|modificat|atualiz|bijgewerkt|gewijzigd|aktualizac|zaktualizowan|güncel|\
    ενημέρωση|обновлен|изменен|изменён|修改|更新|编辑于|編輯於|最后|最後|最終|수정|uppdatera|ændret|oppdatert|sist endret|\
    last updated";

/// Phrases for dates of other things.
const OTHER: &str = "发行|發行|上映|出版日期|出版时间|出版年|aktuelle zeit|es ist jetzt|heute ist|current time|currently|today is|heure actuelle|当前时间|\
    现在时间|登録|入会|last visit|copyright|©|valid until|expires|born|geboren|deadline|registered|member since|joined|\
    registriert|dabei seit|beiträge:|注册|註冊|加入于|截止|有效期|备案|comment|kommentar|retrieved|abgerufen|accessed";

/// Starts of lines with the author before the date.
const BY: &str = "von |by |par |por |author|autor|auteur|автор|作者|door ";

/// Bytes before and after a date to search.
const CONTEXT_BYTES: usize = 90;

static LINE: LazyLock<(AhoCorasick, Vec<DateSense>)> = LazyLock::new(|| {
    let of = |words: &'static str, sense| words.split('|').map(move |word| (word, sense));
    let all =
        of(PUBLISHED, DateSense::Published).chain(of(CHANGED, DateSense::Changed)).chain(of(OTHER, DateSense::Other));
    let (words, senses): (Vec<&str>, Vec<DateSense>) = all.unzip();
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words);
    (built.expect("a few words make a small automaton"), senses)
});

/// The meaning of the date in a line: by the last word before it, else by the first after it.
pub(super) fn sense(before: &str, after: &str) -> Option<DateSense> {
    let (line, senses) = &*LINE;
    // In a long line only text next to the date.
    let from = before.ceil_char_boundary(before.len().saturating_sub(CONTEXT_BYTES));
    let after = head(after, CONTEXT_BYTES);
    let (begins, before) = (from == 0, before[from..].to_lowercase());
    // Adjacent words are one label, and the first decides: `更新时间`, `last updated date`.
    let mut label: Option<(usize, DateSense)> = None;
    for found in line.find_iter(&before) {
        let adjacent = label.filter(|(end, _)| found.start() <= end + 1);
        label = Some((found.end(), adjacent.map_or(senses[found.pattern()], |(_, sense)| sense)));
    }
    let last = label.map(|(_, sense)| sense);
    // `5 March 2021, 3 comments` is not a comment's date.
    let next = || line.find(&after.to_lowercase()).map(|found| senses[found.pattern()]);
    last.or_else(|| next().filter(|sense| *sense != DateSense::Other))
        .or_else(|| (begins && BY.split('|').any(|by| before.starts_with(by))).then_some(DateSense::Published))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_next_to_a_date() {
        assert_eq!(sense("Veröffentlicht am ", ""), Some(DateSense::Published));
        assert_eq!(sense("Published 1 May, updated ", ""), Some(DateSense::Changed));
        assert_eq!(sense("最后更新于", ""), Some(DateSense::Changed));
        assert_eq!(sense("更新时间：", ""), Some(DateSense::Changed));
        assert_eq!(sense("发布时间：", ""), Some(DateSense::Published));
        assert_eq!(sense("注册日期 ", ""), Some(DateSense::Other));
        assert_eq!(sense("am ", " geschrieben"), Some(DateSense::Published));
        assert_eq!(sense("2 ", " 3"), None);
    }
}
