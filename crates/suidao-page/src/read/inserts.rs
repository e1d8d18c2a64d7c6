//! What a site puts into and below an article: labels of advertisements, links to further reading, and the headings of
//! what follows. Word lists, as there.

use super::phrases::bare;

/// Bytes of the longest line that says where a picture comes from.
const CREDIT: usize = 300;
/// Bytes of the longest text that asks the reader for something.
const REQUEST: usize = 400;

/// Whether a line was put into a text by the site, not by its author: a label of advertisements, or a link to further reading.
/// `linked`: half of it or more is links.
pub(super) fn is_insert(line: &str, linked: bool) -> bool {
    const WHOLE: [&str; 23] = [
        "advertisement",
        "advertisements",
        "advertisment",
        "advertising",
        "story continues below advertisement",
        "article continues below advertisement",
        "continue reading below",
        "explore further",
        "back to gallery",
        "view all",
        "see full gallery",
        "externer inhalt",
        "anzeige",
        "werbung",
        "publicidad",
        "publicidade",
        "publicité",
        "pubblicità",
        "advertentie",
        "reklama",
        "reklam",
        "реклама",
        "广告",
    ];
    const BEGINNINGS: [&str; 50] = [
        "read more",
        "read also",
        "read next",
        "also read",
        "see more",
        "see also",
        "also see",
        "more:",
        "related",
        "recommended",
        "don't miss",
        "watch:",
        "lesen sie auch",
        "lesen sie mehr",
        "auch lesen",
        "auch interessant",
        "mehr zum thema",
        "mehr dazu",
        "lire aussi",
        "à lire aussi",
        "lire également",
        "lea también",
        "lee también",
        "leer más",
        "leia também",
        "leia mais",
        "leggi anche",
        "lees ook",
        "czytaj także",
        "czytaj też",
        "zobacz także",
        "zobacz też",
        "читайте также",
        "le puede interesar",
        "te puede interesar",
        "lee más",
        "veja também",
        "dowiedz się więcej",
        "czytaj więcej",
        "więcej informacji",
        "weitere informationen",
        "mehr infos",
        "zum thema",
        "back to ",
        "zurück zu",
        "retour à",
        "retour au",
        "volver a",
        "voltar ",
        "powrót do",
    ];
    if line.len() > 400 {
        return false;
    }
    let lower = bare(line).to_lowercase();
    let whole = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    // A label of its own, or one before a list.
    let label = |word: &&str| whole == word.trim_end_matches([':', ' ']) || lower.ends_with(':') && whole.len() <= 60;
    WHOLE.contains(&whole) || BEGINNINGS.iter().any(|word| lower.starts_with(word) && (linked || label(word)))
}

/// Whether a line says where a picture comes from: it begins with a label such as `Foto:`, or ends with one in parentheses.
pub(super) fn is_credit(line: &str) -> bool {
    const LABELS: [&str; 34] = [
        "foto",
        "fotos",
        "fotocredit",
        "fotocredits",
        "fotoquelle",
        "fotografía",
        "bild",
        "bilder",
        "bildquelle",
        "bildnachweis",
        "bildrechte",
        "titelbild",
        "titelfoto",
        "beitragsbild",
        "abbildung",
        "symbolbild",
        "archivbild",
        "photo",
        "photos",
        "photo by",
        "photo credit",
        "photo credits",
        "picture",
        "picture credit",
        "image",
        "images",
        "image credit",
        "image source",
        "credit",
        "credits",
        "crédit photo",
        "crédits photo",
        "crédits photos",
        "fot.",
    ];
    // Those that sell pictures; news agencies sign texts, too.
    const STOCKS: [&str; 11] = [
        "istock",
        "shutterstock",
        "getty images",
        "adobe stock",
        "adobestock",
        "fotolia",
        "depositphotos",
        "123rf",
        "unsplash",
        "pixabay",
        "picture alliance",
    ];
    let line = line.trim();
    if line.len() > CREDIT || line.contains('\n') {
        return false;
    }
    let lower = line.to_lowercase();
    let labelled = |text: &str| {
        let text = bare(text);
        LABELS.iter().any(|label| {
            let rest = text.strip_prefix(label).map(str::trim_start);
            rest.is_some_and(|rest| {
                rest.starts_with([':', '©', '|', '/']) || rest.starts_with("via ") || label.ends_with('.')
            })
        })
    };
    let noted = || {
        let inner = lower.trim_end_matches('.').strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
        inner.is_some_and(|(_, inner)| labelled(inner) || STOCKS.iter().any(|stock| inner.contains(stock)))
    };
    line.starts_with('©') && line.chars().count() <= 80 || labelled(&lower) || noted()
}

/// Whether what stands below a text asks its reader for something: to subscribe, to follow, to share, to rate.
pub(super) fn is_request(text: &str) -> bool {
    const WORDS: [&str; 43] = [
        "newsletter",
        "subscribe",
        "sign up",
        "your inbox",
        "follow us",
        "like us on",
        "our app",
        "was this article",
        "was this helpful",
        "found this article",
        "share this",
        "support us",
        "abonnier",
        "jetzt anmelden",
        "hier anmelden",
        "posteingang",
        "folgen sie uns",
        "folge uns",
        "folgt uns",
        "artikel nützlich",
        "artikel hilfreich",
        "bewerten sie",
        "get the latest news",
        "einen kommentar",
        "leave a comment",
        "artikel teilen",
        "beitrag teilen",
        "artikel gefallen",
        "beitrag gefallen",
        "unterstützen sie uns",
        "unterstütze uns",
        "abonnez",
        "inscrivez",
        "suivez-nous",
        "suscríb",
        "síguenos",
        "inscreva-se",
        "assine ",
        "siga-nos",
        "iscriviti",
        "seguici",
        "zapisz się",
        "obserwuj nas",
    ];
    if text.len() > REQUEST {
        return false;
    }
    let lower = text.to_lowercase();
    let begins = |at: usize| !lower[..at].ends_with(char::is_alphanumeric);
    WORDS.iter().any(|word| lower.match_indices(word).any(|(at, _)| begins(at)))
}

/// Whether a heading says that the article is over: what stands below it is about other articles, the author or the reader.
pub(super) fn is_end(heading: &str) -> bool {
    const BEGINNINGS: [&str; 64] = [
        "related",
        "you may also",
        "you might also",
        "you may like",
        "you might like",
        "more from",
        "more in ",
        "more on this",
        "more stories",
        "more news",
        "most popular",
        "most read",
        "popular posts",
        "popular on",
        "trending",
        "recommended",
        "read next",
        "up next",
        "about the author",
        "about author",
        "share this",
        "leave a comment",
        "leave a reply",
        "post a comment",
        "join the conversation",
        "sign up",
        "subscribe",
        "newsletter",
        "follow us",
        "mehr zum thema",
        "mehr zu ",
        "mehr aus ",
        "mehr von ",
        "weitere artikel",
        "weitere beiträge",
        "weitere themen",
        "weitere informationen",
        "weiterführende",
        "zum weiterlesen",
        "das könnte",
        "auch interessant",
        "ähnliche",
        "passend zum thema",
        "über den autor",
        "über die autorin",
        "zur person",
        "empfehlungen der redaktion",
        "empfehlungen aus der redaktion",
        "kommentare",
        "kommentar schreiben",
        "jetzt registrieren",
        "à lire aussi",
        "articles similaires",
        "vous aimerez",
        "lire la suite",
        "sur le même sujet",
        "dans la même rubrique",
        "artículos relacionados",
        "noticias relacionadas",
        "te puede interesar",
        "también te puede",
        "potrebbe interessarti",
        "zobacz także",
        "zobacz też",
    ];
    let lower = bare(heading).to_lowercase();
    heading.chars().count() <= 60 && BEGINNINGS.iter().any(|word| lower.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_are_told_from_sentences() {
        for (line, linked) in [("Advertisement", false), ("- Anzeige -", false), ("Read more: Another article", true)] {
            assert!(is_insert(line, linked), "{line}");
        }
        for (line, linked) in [("Read more books than last year.", false), ("Anzeigenpreise", false), ("", true)] {
            assert!(!is_insert(line, linked), "{line}");
        }
    }

    #[test]
    fn headings_that_end_an_article() {
        assert!(is_end("Mehr zum Thema") && is_end("» You may also like:"));
        assert!(
            !is_end("Mehr Wissen")
                && !is_end("related work is what this long sentence of an article's author is about, not a heading")
        );
    }

    #[test]
    fn credits_are_labelled() {
        for line in [
            "Foto: dpa",
            "Fotos: Ann Example, Bob",
            "Crédits photos : X",
            "In the park (Image: GETTY )",
            "Photo by: X",
            "A stoat. (Ann / iStock.com)",
        ] {
            assert!(is_credit(line), "{line}");
        }
        for line in ["Fotografie ist schön.", "Images are made of dots", "The (old) town", "", "()"] {
            assert!(!is_credit(line), "{line}");
        }
    }

    #[test]
    fn requests_begin_at_words() {
        for text in ["Sign up for our letter", "Abonnieren Sie uns", "Folge uns!", "Want our app?"] {
            assert!(is_request(text), "{text}");
        }
        for text in ["Shims isolate your application.", "Design upgrades", "", "Er meldete sich an."] {
            assert!(!is_request(text), "{text}");
        }
    }
}
