//! The role of an element by its name, ARIA role, class and id.

use std::sync::LazyLock;

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};
use rustc_hash::{FxHashMap, FxHashSet};

use super::markup::attribute;
use super::words::{ROLES, SectionWords};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementRole {
    None,
    Main,
    /// The body of an article, named explicitly.
    Body,
    /// Head of the page, or of an article inside main content.
    Header,
    /// Metadata of an article: tags, categories, author, dates; its footer.
    Metadata,
    /// A link to another page, or the lead of this one.
    Teaser,
    /// Navigation, sidebar, footer, related links, comments.
    Boilerplate,
    /// The same by its name only, which may mislead.
    MaybeBoilerplate,
    /// Next to or below an article, by its name: a sidebar, comments.
    Complementary,
    /// Ignore it: line numbers.
    Hidden,
}

pub(super) fn of(tag: &Tag) -> ElementRole {
    let own = match tag.name {
        // Links to the previous and next post may be `article` elements.
        local_name!("main") | local_name!("article") => {
            return if is_post_navigation(tag) { ElementRole::Boilerplate } else { ElementRole::Main };
        }
        local_name!("nav") | local_name!("aside") | local_name!("menu") | local_name!("button") => {
            return ElementRole::Boilerplate;
        }
        // An article may have its own footer; the page's is boilerplate.
        local_name!("footer") => {
            let names = attribute(tag, &local_name!("class")).unwrap_or_default();
            return if of_names(names) == ElementRole::Metadata {
                ElementRole::Metadata
            } else {
                ElementRole::Boilerplate
            };
        }
        local_name!("header") => ElementRole::Header,
        local_name!("figcaption") => ElementRole::Metadata,
        // Themes describe the page here, and ids of headings come from their text.
        local_name!("html") | local_name!("body") => return ElementRole::None,
        local_name!("h1") | local_name!("h2") | local_name!("h3") | local_name!("h4") | local_name!("h5") => {
            return of_names(attribute(tag, &local_name!("class")).unwrap_or_default());
        }
        _ => ElementRole::None,
    };
    let code = matches!(tag.name, local_name!("pre") | local_name!("code"));
    let mut role = own;
    for attribute in &tag.attrs {
        let name = &attribute.name.local;
        if *name == local_name!("role") {
            match attribute.value.trim() {
                "main" | "article" => return ElementRole::Main,
                "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "menu" | "menubar" => {
                    return ElementRole::Boilerplate;
                }
                _ => {}
            }
        } else if *name == local_name!("itemprop")
            && attribute.value.split_ascii_whitespace().any(|it| it == "articleBody")
        {
            return ElementRole::Body;
        } else if *name == local_name!("class") || *name == local_name!("id") {
            role = stronger(role, of_names(&attribute.value));
        }
    }
    // Here the class requests line numbers.
    if code && role == ElementRole::Hidden {
        return ElementRole::None;
    }
    role
}

/// Whether an element's names mean links to the previous and next post.
fn is_post_navigation(tag: &Tag) -> bool {
    let names = [&local_name!("class"), &local_name!("id")].map(|name| attribute(tag, name).unwrap_or_default());
    names.into_iter().flat_map(str::split_ascii_whitespace).take(12).any(|name| {
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let (prev, next) = (words.clone().any(|word| word == "prev"), words.any(|word| word == "next"));
        prev && next || name.starts_with("prenext")
    })
}

fn stronger(one: ElementRole, other: ElementRole) -> ElementRole {
    let rank = |role| match role {
        ElementRole::None => 0,
        ElementRole::Header => 1,
        ElementRole::Teaser => 2,
        ElementRole::Main | ElementRole::Body => 3,
        ElementRole::Metadata => 4,
        ElementRole::MaybeBoilerplate => 5,
        ElementRole::Complementary => 6,
        ElementRole::Boilerplate => 7,
        ElementRole::Hidden => 8,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// The role of a class list or an id. Each name counts separately: `post-nav` is navigation, `post` is main.
fn of_names(names: &str) -> ElementRole {
    let mut role = ElementRole::None;
    for name in names.split_ascii_whitespace().take(12) {
        if name.len() <= 64 {
            role = stronger(role, of_name(&name.to_ascii_lowercase()));
        }
    }
    role
}

/// Names with one meaning as a whole.
static WHOLE: LazyLock<FxHashMap<&str, ElementRole>> = LazyLock::new(|| {
    let roles = [
        ("hidden", ElementRole::Hidden),
        ("main", ElementRole::Main),
        ("label", ElementRole::Metadata),
        ("named", ElementRole::MaybeBoilerplate),
        ("none", ElementRole::None),
    ];
    let of = |(section, role)| SectionWords::of(ROLES, section).iter().map(|word| (*word, role)).collect::<Vec<_>>();
    roles.into_iter().flat_map(of).collect()
});

fn of_name(name: &str) -> ElementRole {
    static LAYOUT: SectionWords = SectionWords::of(ROLES, "layout");
    if let Some(role) = WHOLE.get(name) {
        return *role;
    }
    // Names of page layouts do not describe the element.
    if LAYOUT.iter().any(|state| name.starts_with(state)) {
        return ElementRole::None;
    }
    let (mut about_header, mut of_post, mut label, mut foot, mut boilerplate) = (false, false, false, false, false);
    let (mut prev, mut next, mut author, mut about, mut teaser) = (false, false, false, false, false);
    let mut aside = false;
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        match word {
            "tags" | "meta" | "caption" | "credit" | "credits" | "byline" | "timestamp" | "dateline" => label = true,
            "foot" | "footer" => foot = true,
            "header" | "head" | "masthead" | "banner" | "topbar" => about_header = true,
            "post" | "article" | "entry" | "thread" | "topic" => of_post = true,
            // Headers and footers of excerpts occur in lists of articles.
            "excerpt" | "summary" => return ElementRole::None,
            "teaser" | "teasers" | "newsteaser" => teaser = true,
            "prev" | "previous" => prev = true,
            "next" => next = true,
            "author" | "authors" => author = true,
            "profile" | "bio" | "info" | "box" | "card" => about = true,
            _ => {
                boilerplate |= is_boilerplate(word);
                aside |= ["sidebar", "aside", "side", "comment"].iter().any(|name| word.starts_with(name));
            }
        }
    }
    let pagination = prev && next || of_post && (prev || next);
    if boilerplate && aside || foot && !of_post {
        ElementRole::Complementary
    } else if boilerplate || name.contains("news-letter") || pagination || author && about {
        ElementRole::MaybeBoilerplate
    } else if label || foot || author {
        ElementRole::Metadata
    } else if teaser {
        ElementRole::Teaser
    } else if about_header && !of_post {
        ElementRole::Header
    } else {
        ElementRole::None
    }
}

fn is_boilerplate(word: &str) -> bool {
    static WORDS: LazyLock<FxHashSet<&str>> =
        LazyLock::new(|| SectionWords::of(ROLES, "boilerplate").iter().copied().collect());
    static PARTS: SectionWords = SectionWords::of(ROLES, "boilerplate parts");
    WORDS.contains(word) || word.len() > 5 && PARTS.iter().any(|part| word.contains(part))
}

/// Whether a tag hides its own element.
pub fn is_hidden(tag: &Tag) -> bool {
    if tag.name == local_name!("body") || tag.name == local_name!("html") {
        return false;
    }
    let hidden: LocalName = local_name!("hidden");
    if tag.name == local_name!("dialog") {
        return attribute(tag, &local_name!("open")).is_none();
    }
    tag.attrs.iter().any(|attribute| {
        let name = &attribute.name.local;
        if *name == hidden {
            return !attribute.value.eq_ignore_ascii_case("until-found");
        }
        *name == local_name!("style") && hides(&attribute.value)
    })
}

fn hides(style: &str) -> bool {
    style.split(';').filter_map(|rule| rule.split_once(':')).any(|(property, value)| {
        let value = value.trim().trim_end_matches("!important").trim_end();
        let property = property.trim();
        property.eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none")
            || property.eq_ignore_ascii_case("visibility") && value.eq_ignore_ascii_case("hidden")
    })
}
