//! CSS selectors of users, checked: a mistake gets a message, and no selector takes quadratic time.

use std::fmt;

use scraper::Selector;

/// Longest selector, in bytes.
const LENGTH: usize = 1_000;

/// A selector that may be run on any page.
#[derive(Clone)]
pub struct CheckedSelector(pub(crate) Selector);

impl fmt::Debug for CheckedSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CheckedSelector")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    #[error("the selector is empty; write one such as div.price > span")]
    Empty,
    #[error("the selector has {0} bytes; at most {LENGTH} are allowed")]
    TooLong(usize),
    #[error("the selector \"{0}\" has an unclosed or unexpected bracket or quote; close it")]
    Unbalanced(String),
    #[error("the selector \"{0}\" has a pseudo-element; select the element and use take = \"text\" or \"attr:NAME\"")]
    PseudoElement(String),
    #[error("the selector \"{selector}\" uses {part}, which takes too long on large pages; rewrite it without {part}")]
    Quadratic { selector: String, part: &'static str },
    #[error("the selector \"{0}\" is not CSS that can be matched; see docs/formats.md for what is supported")]
    Invalid(String),
}

impl CheckedSelector {
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SelectorError::Empty);
        }
        if text.len() > LENGTH {
            return Err(SelectorError::TooLong(text.len()));
        }
        let Some(outside) = outside_of_strings(text) else { return Err(SelectorError::Unbalanced(text.to_owned())) };
        if outside.contains("::") {
            return Err(SelectorError::PseudoElement(text.to_owned()));
        }
        // For each element, these look at its descendants or at its siblings before it.
        let quadratic = [
            (":has(", ":has()"),
            ("~ ", "the sibling combinator ~"),
            (" of ", "nth-child with `of`"),
            (":nth-last-", ":nth-last-child"),
            (":last-of-type", ":last-of-type"),
            (":only-of-type", ":only-of-type"),
        ];
        if let Some((_, part)) = quadratic.iter().find(|(sign, _)| outside.contains(sign)) {
            return Err(SelectorError::Quadratic { selector: text.to_owned(), part });
        }
        Selector::parse(text).map(Self).map_err(|_| SelectorError::Invalid(text.to_owned()))
    }
}

/// The selector in lower case, strings and attributes replaced, `~` followed by a space; `None` if a bracket or quote
/// is not closed.
fn outside_of_strings(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut open = Vec::new();
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (_, '\\') => drop(letters.next()?),
            (Some(end), _) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '(') => open.push(letter),
            (None, ']') if open.pop() != Some('[') => return None,
            (None, ')') if open.pop() != Some('(') => return None,
            (None, '{' | '}') => return None,
            _ => {}
        }
        if quote.is_none() && open.last() != Some(&'[') {
            out.extend(letter.to_lowercase());
            if letter == '~' {
                out.push(' ');
            }
        }
    }
    (open.is_empty() && quote.is_none()).then_some(out)
}
