//! What words beside a date, and names given to what holds one, say of it.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::read::tokens::head;

/// What a date is said to be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Published,
    Changed,
    /// Neither: of an event, of a comment, of today.
    Other,
}

/// What a line says of publication, in lower case. Stems: `veröffentlicht` and `Veröffentlichung`.
const PUBLISHED: [&str; 74] = [
    "publi", "posted", "written", "date:", "date :", "created", "submitted",
    "veröffentlich", "erschien", "erstellt", "gepostet", "verfasst", "geschrieben", "eingestellt", "datum", "pressemitteilung vom",
    "mitteilung vom", "meldung vom", "beitrag vom", "artikel vom", "sendung vom",
    "mise en ligne", "mis en ligne", "paru le", "posté", "écrit le", "créé le", "date de",
    "fecha", "escrito", "subido", "creado", "pubblicato", "scritto", "inserito", "data:", "postado", "criado",
    "gepubliceerd", "geplaatst", "opublikowan", "dodano", "napisan", "data dodania", "yayın", "eklenme", "tarih",
    "δημοσι", "ημερομηνία", "опубликован", "дата", "добавлен", "размещен", "размещено", "написано",
    "发布", "發布", "發佈", "发表", "發表", "刊登", "刊发", "撰写", "創建", "创建", "時間", "时间", "日期", "投稿日", "公開日", "掲載",
    "등록", "입력", "작성",
];

/// What a line says of changes.
const CHANGED: [&str; 49] = [
    "updated", "modified", "last change", "last edit", "edited", "last revised", "reviewed", "revised", "update:", "up to date",
    "geändert", "änderung", "aktualisier", "bearbeitet", "letztes update", "stand:", "stand ", "stand der",
    "mis à jour", "mise à jour", "modifié", "actualiz", "modificad", "aggiornat", "ultima modifica", "modificat", "atualiz", "bijgewerkt",
    "gewijzigd", "aktualizac", "zaktualizowan", "güncel", "ενημέρωση", "обновлен", "изменен", "изменён", "修改", "更新", "编辑于", "編輯於",
    "最后", "最後", "最終", "수정", "uppdatera", "ændret", "oppdatert", "sist endret", "last updated",
];

/// What a line says of dates that are no page's.
const OTHER: [&str; 42] = [
    "发行", "發行", "上映", "出版日期", "出版时间", "出版年",
    "aktuelle zeit", "es ist jetzt", "heute ist", "current time", "currently", "today is", "heure actuelle", "当前时间", "现在时间", "登録", "入会", "last visit",
    "copyright", "©", "valid until", "expires", "born", "geboren", "deadline", "registered", "member since", "joined", "registriert",
    "dabei seit", "beiträge:", "注册", "註冊", "加入于", "截止", "有效期", "备案", "comment", "kommentar", "retrieved", "abgerufen", "accessed",
];

/// What begins a line that names the author before the date.
const BY: [&str; 10] = ["von ", "by ", "par ", "por ", "author", "autor", "auteur", "автор", "作者", "door "];

/// Bytes before and behind a date that say what it is.
const BESIDE: usize = 90;

static LINE: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = PUBLISHED.iter().chain(&CHANGED).chain(&OTHER);
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words);
    built.expect("a few words make a small automaton")
});

/// What a line says of the date in it: the last word before the date counts, else the first behind it.
pub(super) fn sense(before: &str, behind: &str) -> Option<Sense> {
    let of = |pattern: usize| match pattern {
        pattern if pattern < PUBLISHED.len() => Sense::Published,
        pattern if pattern < PUBLISHED.len() + CHANGED.len() => Sense::Changed,
        _ => Sense::Other,
    };
    // Of a long line only what stands beside the date.
    let mut from = before.len().saturating_sub(BESIDE);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let behind = head(behind, BESIDE);
    let (begins, before) = (from == 0, before[from..].to_lowercase());
    let last = LINE.find_iter(&before).last().map(|found| of(found.pattern().as_usize()));
    // `5 March 2021, 3 comments` is no comment's date.
    let next = || LINE.find(&behind.to_lowercase()).map(|found| of(found.pattern().as_usize()));
    last.or_else(|| next().filter(|sense| *sense != Sense::Other))
        .or_else(|| (begins && BY.iter().any(|by| before.starts_with(by))).then_some(Sense::Published))
}

/// What may make a name one of a date or of a region: only names that hold one of these are taken apart.
static NAME: LazyLock<AhoCorasick> = LazyLock::new(|| {
    const STEMS: [&str; 38] = [
        "date", "datum", "time", "publi", "pubd", "posted", "creat", "fecha", "stamp", "erstell", "modif", "updat", "changed", "comment",
        "reply", "respon", "relat", "sidebar", "widget", "recommend", "recent", "latest", "popular", "similar", "teaser", "footer",
        "aside", "datetime", "sent", "pubtime", "day", "fabu", "shijian", "riqi", "meldung-datum", "carousel", "slider", "breaking",
    ];
    let built = AhoCorasick::builder().ascii_case_insensitive(true).build(STEMS);
    built.expect("a few words make a small automaton")
});

/// What a class or an id says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Microformats and the names that themes give to the date of publication alone.
    pub(super) published: bool,
    /// It holds a date.
    pub(super) dated: bool,
    /// That of the last change.
    pub(super) changed: bool,
    /// A date in it is none of the page's: of an event, of today.
    pub(super) other: bool,
    /// It holds what is said of other pages: comments, lists of related ones.
    pub(super) aside: bool,
}

/// Reads the value of a `class` or `id`, its first 200 bytes.
pub(super) fn named(value: &str) -> Named {
    let mut named = Named::default();
    let value = value.get(..200).unwrap_or(value);
    if value.len() > 300 || !NAME.is_match(value) {
        return named;
    }
    for class in value.split_ascii_whitespace().take(12) {
        let mut parts = [""; 8];
        let count = split(class, &mut parts);
        let parts = &parts[..count];
        let has = |words: &[&str]| parts.iter().any(|part| words.iter().any(|word| part.eq_ignore_ascii_case(word)));
        let dated = parts.iter().any(|part| is_date(part));
        let changed = has(&["modified", "modify", "updated", "update", "lastmod", "lastmodified", "changed", "revised", "edited"]);
        let other = has(&[
            "event", "read", "reading", "birth", "expire", "expires", "expiry", "picker", "datepicker", "today", "current", "now", "copyright",
            "calendar", "weather", "end", "duration", "countdown", "kickoff", "deadline", "clock", "join", "joined", "registered",
        ]);
        let published = has(&["published", "publish", "publishdate", "pubdate", "pubtime", "publication", "publishing", "publishingdate", "publicationdate", "posted", "datepublished"])
            || class.eq_ignore_ascii_case("entry-date")
            || class.eq_ignore_ascii_case("post-date")
            || class.eq_ignore_ascii_case("postdate")
            || class.eq_ignore_ascii_case("article-date")
            || class.eq_ignore_ascii_case("date-header");
        named.aside |= has(&[
            "comment", "comments", "commentlist", "commentmetadata", "reply", "replies", "respond", "related", "sidebar", "widget", "recommend", "recommended",
            "recent", "latest", "popular", "similar", "teaser", "teasers", "footer", "aside", "carousel", "slider", "breaking",
        ]);
        named.published |= published && !changed && !other;
        named.changed |= changed && !published;
        named.dated |= dated || published || changed;
        named.other |= other && !published;
    }
    named
}

/// Whether a part of a name means date or time.
fn is_date(part: &str) -> bool {
    let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends = |word: &str| {
        let at = part.len().checked_sub(word.len());
        at.and_then(|at| part.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    let starts = |word: &str| part.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let none = ["update", "candidate", "mandate", "validate", "runtime", "lifetime", "overtime", "sometime", "showtime", "playtime"];
    if none.iter().any(|word| ends(word)) || starts("timeline") {
        return false;
    }
    ["date", "dates", "datum", "time", "datetime", "timestamp", "fecha", "created", "createdate", "erstellt", "riqi", "shijian", "fabu"]
        .iter()
        .any(|word| ends(word))
        || starts("date") && !starts("dateb")
}

/// The parts of a name between signs and at capital letters (`entry-date`, `publishDate`); how many.
fn split<'a>(name: &'a str, parts: &mut [&'a str; 8]) -> usize {
    let bytes = name.as_bytes();
    let (mut count, mut start) = (0, 0);
    for at in 0..=bytes.len() {
        let ends = at == bytes.len() || !bytes[at].is_ascii_alphanumeric() && bytes[at].is_ascii();
        let capital = at > start && at < bytes.len() && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
        if !(ends || capital) {
            continue;
        }
        if let Some(part) = name.get(start..at).filter(|part| !part.is_empty())
            && count < parts.len()
        {
            parts[count] = part;
            count += 1;
        }
        start = if capital { at } else { at + 1 };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes() {
        let named = |name: &str| super::named(name);
        for name in ["published", "entry-date", "dt-published", "_publishingdate", "node__publication-date", "page-published-date", "posted-on"] {
            assert!(named(name).published, "{name}");
        }
        for name in ["date", "datum", "postDate", "created-post", "meta__date", "date2", "entry-top-info-time", "event_date", "headline--datum"] {
            assert!(named(name).dated, "{name}");
        }
        for name in ["updated", "update", "candidate", "readingline", "mandate-x", "timeline"] {
            assert!(!named(name).published, "{name}");
            assert!(!named(name).dated || named(name).changed, "{name}");
        }
        assert!(named("comment-meta").aside && named("event-date").other && named("last-updated").changed);
        assert_eq!(named("é-date-日").published, false);
    }

    #[test]
    fn words_beside_a_date() {
        assert_eq!(sense("Veröffentlicht am ", ""), Some(Sense::Published));
        assert_eq!(sense("Published 1 May, updated ", ""), Some(Sense::Changed));
        assert_eq!(sense("最后更新于", ""), Some(Sense::Changed));
        assert_eq!(sense("am ", " geschrieben"), Some(Sense::Published));
        assert_eq!(sense("2 ", " 3"), None);
    }
}
