//! Sentences, titles and paragraphs about a topic. Apart because the text web of the tests writes with it too.

use super::draw::Draw;
use super::words::{ADJECTIVES, BLANK_ANCHORS, GENERAL, NEAR, SENTENCES, SPORTS, THEMES, TIMES, TITLES, TOPICS, Topic};

/// Fills a pattern of [`super::words`]. A theme of sports borrows two words in five from sports at large.
fn fill(pattern: &str, words: &Topic, common: Option<&Topic>, draw: &mut Draw, out: &mut String) {
    for letter in pattern.chars() {
        let topic = match common {
            Some(common) if matches!(letter, 'N' | 'V' | 'P') && draw.chance(0.4) => common,
            _ => words,
        };
        match letter {
            'N' => out.push_str(draw.pick(topic.nouns)),
            'V' => out.push_str(draw.pick(topic.verbs)),
            'P' => out.push_str(draw.pick(topic.names)),
            'A' => out.push_str(draw.pick(ADJECTIVES)),
            'G' => out.push_str(draw.pick(GENERAL)),
            'T' => out.push_str(draw.pick(TIMES)),
            'D' => out.push_str(&draw.within([2, 99]).to_string()),
            other => out.push(other),
        }
    }
}

/// A sentence about the topic with this index in [`TOPICS`].
pub(super) fn sentence(topic: usize, draw: &mut Draw, out: &mut String) {
    let pattern = draw.pick(SENTENCES);
    fill(pattern, &TOPICS[topic], (topic < THEMES).then_some(&SPORTS), draw, out);
}

/// A sentence about what lies near sports.
pub(super) fn near_sentence(draw: &mut Draw, out: &mut String) {
    let pattern = draw.pick(SENTENCES);
    fill(pattern, &NEAR, Some(&SPORTS), draw, out);
}

/// A title, or the anchor of a link that says where it leads.
pub(super) fn title(topic: usize, draw: &mut Draw) -> String {
    let mut out = String::new();
    let pattern = draw.pick(TITLES);
    fill(pattern, &TOPICS[topic], (topic < THEMES).then_some(&SPORTS), draw, &mut out);
    out
}

/// A title of what lies near sports.
pub(super) fn near_title(draw: &mut Draw) -> String {
    let mut out = String::new();
    let pattern = draw.pick(TITLES);
    fill(pattern, &NEAR, Some(&SPORTS), draw, &mut out);
    out
}

/// An anchor that says nothing.
pub(super) fn blank_anchor(draw: &mut Draw) -> String {
    draw.pick(BLANK_ANCHORS).to_owned()
}

/// One to six paragraphs of two to six sentences; each sentence strays to another topic with probability `noise`.
pub(super) fn paragraphs(topic: usize, noise: f64, draw: &mut Draw) -> Vec<String> {
    let count = draw.within([1, 6]);
    let mut out = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let mut paragraph = String::with_capacity(512);
        for _ in 0..draw.within([2, 6]) {
            let strays = draw.chance(noise);
            let about = if strays { draw.below(TOPICS.len() as u64) as usize } else { topic };
            sentence(about, draw, &mut paragraph);
        }
        out.push(paragraph);
    }
    out
}
