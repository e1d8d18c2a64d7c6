//! Vocabulary of the generated web (`words.toml`): the topic (sports, in six themes), near topics and off-topic ones.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

pub(super) type WordList = &'static [&'static str];

#[derive(Deserialize)]
pub(super) struct TopicWords {
    #[serde(deserialize_with = "list")]
    pub dirs: WordList,
    #[serde(deserialize_with = "list")]
    pub nouns: WordList,
    #[serde(deserialize_with = "list")]
    pub verbs: WordList,
    #[serde(deserialize_with = "list")]
    pub names: WordList,
}

/// The contents of `words.toml`, which describes each list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorldWords {
    pub sports: TopicWords,
    pub near: TopicWords,
    /// [`THEMES`] themes of the topic, then off-topic ones.
    pub topics: Vec<TopicWords>,
    #[serde(deserialize_with = "list")]
    pub times: WordList,
    #[serde(deserialize_with = "list")]
    pub adjectives: WordList,
    #[serde(deserialize_with = "list")]
    pub general: WordList,
    #[serde(deserialize_with = "list")]
    pub sites: WordList,
    #[serde(deserialize_with = "list")]
    pub blank_anchors: WordList,
    #[serde(deserialize_with = "list")]
    pub blank_tags: WordList,
    #[serde(deserialize_with = "list")]
    pub sentences: WordList,
    #[serde(deserialize_with = "list")]
    pub titles: WordList,
    #[serde(deserialize_with = "list")]
    pub silent_titles: WordList,
}

pub(super) static WORDS: LazyLock<WorldWords> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("words.toml is read by a test"));

/// The first topics, which are themes of sports; the rest is off topic.
pub(super) const THEMES: usize = 6;

/// Number of topics, also used as the index of near topics.
pub(super) const NEAR_TOPIC: usize = 12;

fn list<'de, D: Deserializer<'de>>(text: D) -> Result<WordList, D::Error> {
    let text: &'static str = String::deserialize(text)?.leak();
    Ok(text.split_whitespace().collect::<Vec<_>>().leak())
}

/// Words of the topic with this index, and those mixed into them: text about the topic or near it borrows general words
/// of sports.
pub(super) fn vocabulary(topic: usize) -> (&'static TopicWords, Option<&'static TopicWords>) {
    match topic {
        NEAR_TOPIC => (&WORDS.near, Some(&WORDS.sports)),
        _ => (&WORDS.topics[topic], (topic < THEMES).then_some(&WORDS.sports)),
    }
}

/// All words of the topic and its themes, for a small test lexicon.
pub fn topic_words() -> impl Iterator<Item = &'static str> {
    let themes = WORDS.topics[..THEMES].iter().chain(std::iter::once(&WORDS.sports));
    themes.flat_map(|topic| topic.nouns.iter().chain(topic.verbs)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_all_there() {
        assert_eq!(WORDS.topics.len(), NEAR_TOPIC);
        assert!(topic_words().count() > 100 && WORDS.sentences.len() > 10);
    }
}
