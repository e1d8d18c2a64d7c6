//! The query language. No query is an error: what is not understood counts as words.

use serde::Serialize;

use super::extracted::ValueCondition;
use suidao_page::text::fold;
use suidao_store::corpus::Condition;

/// Maximum number of characters read of a query.
const LONGEST: usize = 500;
/// Maximum number of items read of a query.
const MOST: usize = 40;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// In the order typed.
    pub items: Vec<QueryItem>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueryItem {
    pub not: bool,
    pub any: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    Words(TextField, String),
    Phrase(TextField, String),
    Condition(Condition),
    /// On the values of an extracted field.
    Value(ValueCondition),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextField {
    All,
    Title,
    Anchors,
    Body,
}

impl std::fmt::Display for TextField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::All => "all fields",
            Self::Title => "title",
            Self::Anchors => "anchor",
            Self::Body => "text",
        })
    }
}

impl Query {
    /// `fields`: names of extracted fields, which may have conditions.
    pub fn parse(typed: &str, fields: &[String]) -> Self {
        let typed: String = typed.chars().take(LONGEST).collect();
        let mut query = Self::default();
        let mut or = false;
        for token in tokens(&typed, fields) {
            if matches!(token.text.as_str(), "OR" | "|" | "｜") && !token.quoted && token.field.is_none() && !token.not
            {
                or = !query.items.is_empty();
                continue;
            }
            let Some(clause) = token.clause(fields) else { continue };
            let full = query.items.len() >= MOST;
            match query.items.last_mut().filter(|last| or && !token.not && !last.not) {
                Some(last) => last.any.push(clause),
                None if full => break,
                None => query.items.push(QueryItem { not: token.not, any: vec![clause] }),
            }
            or = false;
        }
        query
    }

    /// See [`Index::with_value`](super::Index::with_value).
    pub(super) fn with_value(typed: &str, field: &str, value: &str, fields: &[String]) -> Option<String> {
        let value = value.replace(['"', '＂'], " ");
        let longer = format!("{typed} {field}:\"{value}\"").trim_start().to_owned();
        let wanted = QueryItem { not: false, any: vec![Clause::Value(ValueCondition::of_words(field, &value))] };
        let (before, after) = (Self::parse(typed, fields).items, Self::parse(&longer, fields).items);
        // An open quotation mark or OR before it would make it another query.
        let is_added = after.split_last() == Some((&wanted, &before[..]));
        (is_added && !before.contains(&wanted) && longer.chars().count() <= LONGEST).then_some(longer)
    }
}

#[derive(Debug, Default)]
struct Token {
    not: bool,
    field: Option<String>,
    text: String,
    quoted: bool,
}

fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' | '＂' => open,
        '“' | '”' | '„' => '”',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        _ => return None,
    })
}

fn tokens(typed: &str, fields: &[String]) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = typed.chars().peekable();
    loop {
        while rest.next_if(|next| next.is_whitespace()).is_some() {}
        let mut token = Token::default();
        if rest.next_if(|next| matches!(next, '-' | '－' | '−')).is_some() {
            // A dash by itself has no meaning.
            token.not = rest.peek().is_some_and(|next| !next.is_whitespace());
        }
        let mut raw = String::new();
        while let Some(&next) = rest.peek() {
            if next.is_whitespace() {
                break;
            }
            if let Some(end) = closing(next).filter(|_| raw.is_empty()) {
                rest.next();
                token.quoted = true;
                token.text.extend(std::iter::from_fn(|| rest.next_if(|next| *next != end)));
                rest.next();
                break;
            }
            if closing(next).is_some() {
                break;
            }
            rest.next();
            let colon = matches!(next, ':' | '：') && token.field.is_none();
            if colon && is_field(&fold(&raw), fields) {
                token.field = Some(fold(&std::mem::take(&mut raw)));
            } else {
                raw.push(next);
            }
        }
        if !token.quoted {
            token.text = raw;
        }
        if token.text.is_empty() && rest.peek().is_none() {
            return found;
        }
        found.push(token);
    }
}

/// Whether a name has a meaning before a colon, including names that people try.
fn is_field(name: &str, fields: &[String]) -> bool {
    matches!(name, "title" | "intitle" | "标题" | "anchor" | "links" | "text" | "body" | "intext")
        || Condition::is_name(name)
        || extracted(fields, name).is_some()
}

impl Token {
    /// The clause; `None` without a word in it.
    fn clause(&self, fields: &[String]) -> Option<Clause> {
        let value = fold(self.text.trim());
        if value.is_empty() {
            return None;
        }
        let text = |field| {
            let text = self.text.clone();
            if self.quoted { Clause::Phrase(field, text) } else { Clause::Words(field, text) }
        };
        let meant = match self.field.as_deref() {
            Some("title" | "intitle" | "标题") => Some(text(TextField::Title)),
            Some("anchor" | "links") => Some(text(TextField::Anchors)),
            Some("text" | "body" | "intext") => Some(text(TextField::Body)),
            Some(name) if Condition::is_name(name) => Condition::parse(name, &self.text).ok().map(Clause::Condition),
            Some(name) => extracted(fields, name).map(|field| {
                let read = if self.quoted { ValueCondition::of_words } else { ValueCondition::parse };
                Clause::Value(read(field, &self.text))
            }),
            None => None,
        };
        let words = || match &self.field {
            Some(field) => Clause::Words(TextField::All, format!("{field} {}", self.text)),
            None => text(TextField::All),
        };
        Some(meant.unwrap_or_else(words))
    }
}

/// The extracted field of this name, in any case.
fn extracted<'a>(fields: &'a [String], name: &str) -> Option<&'a String> {
    fields.iter().find(|field| fold(field) == fold(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(typed: &str) -> Clause {
        let query = Query::parse(typed, &[]);
        let [QueryItem { not: false, any }] = &query.items[..] else { panic!("{typed}: {query:?}") };
        let [clause] = &any[..] else { panic!("{typed}: {query:?}") };
        clause.clone()
    }

    fn words(text: &str) -> Clause {
        Clause::Words(TextField::All, text.to_owned())
    }

    #[test]
    fn a_value_is_added_to_a_query_only_as_a_condition() {
        let fields = ["Brand".to_owned(), "lang".to_owned()];
        let add = |typed: &str, field: &str, value: &str| Query::with_value(typed, field, value, &fields);
        assert_eq!(add("", "Brand", "Go 语言").as_deref(), Some("Brand:\"Go 语言\""));
        assert_eq!(add("a OR b", "Brand", "10..20").as_deref(), Some("a OR b Brand:\"10..20\""));
        assert_eq!(add("a", "Brand", "19\" <b>").as_deref(), Some("a Brand:\"19  <b>\""));
        let quoted = Query::parse("brand:\"<5\"", &fields);
        assert_eq!(quoted.items[0].any, [Clause::Value(ValueCondition::of_words("Brand", "<5"))]);
        for (typed, field, value) in [
            ("a brand:\"go\"", "Brand", "go"),
            ("\"open", "Brand", "go"),
            ("a OR", "Brand", "go"),
            ("a", "lang", "zh"),
            ("a", "Brand", ""),
            ("a", "Brand", &"x".repeat(500)),
        ] {
            assert_eq!(add(typed, field, value), None, "{typed} {field}:{value}");
        }
    }

    #[test]
    fn fields_are_understood_in_both_languages() {
        assert_eq!(one("title:机器学习"), Clause::Words(TextField::Title, "机器学习".into()));
        assert_eq!(one("標題：「機器 學習」"), Clause::Phrase(TextField::Title, "機器 學習".into()));
        for (typed, condition) in [
            ("HOST:Example.cn/", "host:example.cn"),
            ("语言：中文", "lang:zh"),
            ("lang:zh,en", "lang:zh,en"),
            ("date:2021..2022", "date:2021-01-01..2022-12-31"),
            ("relevant:yes", "relevant:yes"),
            ("chars:200..", "chars:200.."),
        ] {
            let Clause::Condition(parsed) = one(typed) else { panic!("{typed}") };
            assert_eq!(parsed.to_string(), condition);
        }
    }

    #[test]
    fn words_phrases_and_negations_are_parsed() {
        let query = Query::parse("-python “gradient descent” 决策树 OR 随机森林 -\"a b\"", &[]);
        let all: Vec<(bool, usize)> = query.items.iter().map(|item| (item.not, item.any.len())).collect();
        assert_eq!(all, [(true, 1), (false, 1), (false, 2), (true, 1)]);
        assert_eq!(query.items[1].any[0], Clause::Phrase(TextField::All, "gradient descent".into()));
        assert_eq!(one("c++"), words("c++"));
        assert_eq!(one("x-y"), words("x-y"));
    }

    #[test]
    fn what_is_not_understood_is_words() {
        assert_eq!(one("http://a.cn/x"), words("http://a.cn/x"));
        assert_eq!(one("date:soon"), words("date soon"));
        assert_eq!(one("lang:klingon"), words("lang klingon"));
        assert_eq!(one("\"never closed"), Clause::Phrase(TextField::All, "never closed".into()));
        assert_eq!(one("OR x"), words("x"));
        assert_eq!(one("title: x"), words("x"));
        for nothing in ["", "   ", "-", "\"\"", "OR", "title:", " \u{3000} "] {
            assert!(Query::parse(nothing, &[]).items.is_empty(), "{nothing:?}");
        }
        assert_eq!(Query::parse(&"x ".repeat(1000), &[]).items.len(), MOST);
    }

    proptest::proptest! {
        #[test]
        fn nothing_typed_breaks_it(typed in "[ -~“”「」：－机器学习\"|:-]{0,40}") {
            let _ = Query::parse(&typed, &[]);
        }
    }
}
