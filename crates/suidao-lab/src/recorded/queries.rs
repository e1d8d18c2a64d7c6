//! The topic's queries on a web without an index: whether a page has what was typed.

/// Queries of words separated by spaces. Letters count alike in upper and lower case.
#[derive(Clone, Debug, Default)]
pub struct Queries(Vec<Vec<String>>);

impl Queries {
    pub fn new<'a>(queries: impl IntoIterator<Item = &'a str>) -> Self {
        let words = |query: &str| query.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
        Self(queries.into_iter().map(words).filter(|words| !words.is_empty()).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a query has all of its words in title and text. The index asks for the same after segmenting, so a word
    /// that is only a part of longer ones may be found here and not there.
    pub fn find(&self, title: &str, text: &str) -> bool {
        let text = format!("{title}\n{text}").to_lowercase();
        self.0.iter().any(|words| words.iter().all(|word| text.contains(word.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_of_one_query_must_be_there() {
        let queries = Queries::new(["足球 联赛", "NBA", " "]);
        assert_eq!(queries.len(), 2);
        for (title, text, found) in
            [("足球", "中超联赛开始", true), ("足球", "世界杯", false), ("", "the nba finals", true), ("", "", false)]
        {
            assert_eq!(queries.find(title, text), found, "{title} {text}");
        }
    }
}
