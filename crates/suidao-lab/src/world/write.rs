//! Generates sentences, titles and paragraphs about a topic, and texts of links.

use super::layout::Layout;
use super::links::LinkText;
use super::target::{AuxPage, PagePosition, salt, topic_is_on};
use super::words::{TopicWords, WORDS, vocabulary};
use suidao_page::seeded_rng::SeededRng;

impl Layout {
    pub fn title(&self, page: u64) -> String {
        let (index, position) = self.locate(page);
        if self.host_at(index).traits.blog && matches!(position, PagePosition::Home | PagePosition::Listing(_)) {
            return format!("标签：{}", self.tag(index).1);
        }
        let mut rng = SeededRng::new(self.spec.seed, salt::TITLE, page);
        if !self.title_names_topic(page, self.topic_at(page, index, position)) {
            let mut out = String::new();
            fill(rng.pick(WORDS.silent_titles), &WORDS.sports, None, &mut rng, &mut out);
            return out;
        }
        title(self.topic_at(page, index, position), &mut rng)
    }

    pub fn title_names_topic(&self, page: u64, topic: usize) -> bool {
        let quality = self.spec.title_quality;
        quality >= 1.0 || !topic_is_on(topic) || SeededRng::new(self.spec.seed, salt::TITLE, !page).chance(quality)
    }

    pub fn aux_title(&self, host: u64, aux: AuxPage) -> String {
        match aux {
            AuxPage::Month(at) => format!("{}年{}月", 2000 + at / 12, at % 12 + 1),
            AuxPage::Private(_) => "会员中心".to_owned(),
            AuxPage::Front(_) => self.site(host).to_owned(),
            AuxPage::Archive(_) => "归档".to_owned(),
            AuxPage::Category(which, _) => format!("分类：{}", category_name(host, which)),
            AuxPage::Tags => "标签".to_owned(),
            AuxPage::Blogroll => "友情链接".to_owned(),
        }
    }

    pub fn site(&self, host: u64) -> &'static str {
        WORDS.sites[(host % WORDS.sites.len() as u64) as usize]
    }

    pub fn words(&self, text: LinkText, rng: &mut SeededRng) -> String {
        match text {
            LinkText::Nothing => String::new(),
            LinkText::Words(words) => words.to_owned(),
            LinkText::Number(number) => format!("第{number}页"),
            LinkText::Blank => rng.pick(WORDS.blank_anchors).to_owned(),
            LinkText::Title(page) => self.title(page),
            LinkText::Headline(topic) => title(topic, rng),
            LinkText::Sentence(topic) => {
                let mut out = String::new();
                sentence(topic, rng, &mut out);
                out
            }
            LinkText::Tag(section) => self.tag(section).1.to_owned(),
            LinkText::Site(host) => self.site(host).to_owned(),
        }
    }
}

/// A blog category's name, which does not reveal its content.
pub(super) fn category_name(host: u64, category: u64) -> &'static str {
    WORDS.blank_tags[((host + category) % WORDS.blank_tags.len() as u64) as usize]
}

/// Fills a pattern of [`super::words`]. Two words in five come from `common`.
pub(super) fn fill(
    pattern: &str,
    words: &TopicWords,
    common: Option<&TopicWords>,
    rng: &mut SeededRng,
    out: &mut String,
) {
    for letter in pattern.chars() {
        let topic = match common {
            Some(common) if matches!(letter, 'N' | 'V' | 'P') && rng.chance(0.4) => common,
            _ => words,
        };
        match letter {
            'N' => out.push_str(rng.pick(topic.nouns)),
            'V' => out.push_str(rng.pick(topic.verbs)),
            'P' => out.push_str(rng.pick(topic.names)),
            'A' => out.push_str(rng.pick(WORDS.adjectives)),
            'G' => out.push_str(rng.pick(WORDS.general)),
            'T' => out.push_str(rng.pick(WORDS.times)),
            'D' => out.push_str(&rng.within([2, 99]).to_string()),
            other => out.push(other),
        }
    }
}

pub(super) fn sentence(topic: usize, rng: &mut SeededRng, out: &mut String) {
    let pattern = rng.pick(WORDS.sentences);
    let (words, common) = vocabulary(topic);
    fill(pattern, words, common, rng, out);
}

/// A title, or the anchor of a descriptive link.
pub(super) fn title(topic: usize, rng: &mut SeededRng) -> String {
    let mut out = String::new();
    let pattern = rng.pick(WORDS.titles);
    let (words, common) = vocabulary(topic);
    fill(pattern, words, common, rng, &mut out);
    out
}

/// One to six paragraphs of two to six sentences; each sentence is about another topic with probability `noise`.
pub(super) fn paragraphs(topic: usize, noise: f64, rng: &mut SeededRng) -> Vec<String> {
    let count = rng.within([1, 6]);
    let mut out = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let mut paragraph = String::with_capacity(512);
        for _ in 0..rng.within([2, 6]) {
            let strays = rng.chance(noise);
            let about = if strays { rng.below(WORDS.topics.len() as u64) as usize } else { topic };
            sentence(about, rng, &mut paragraph);
        }
        out.push(paragraph);
    }
    out
}
