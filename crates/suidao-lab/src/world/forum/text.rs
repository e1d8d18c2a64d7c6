//! Text of a generated forum: names of boards and users, titles, posts. Each is a function of the seed and its owner.

use super::words::{BOARDS, ENGLISH, ENGLISH_SENTENCES, ENGLISH_TITLES, LATIN, NICKS, OPENINGS, SYLLABLES};
use crate::world::words::{THEMES, WORDS, vocabulary};
use crate::world::write;
use suidao_page::seeded_rng::SeededRng;

#[derive(Clone, Copy)]
pub(super) enum DrawPurpose {
    Topic = 0x666f_7211,
    Title = 0x666f_7212,
    Post = 0x666f_7213,
    User = 0x666f_7214,
    Motto = 0x666f_7215,
    Slug = 0x666f_7216,
    Views = 0x666f_7217,
    Session = 0x666f_7218,
}

/// Generates Chinese or English text.
#[derive(Clone, Copy)]
pub(super) struct ForumText {
    pub seed: u64,
    pub english: bool,
}

impl ForumText {
    pub fn draw(self, salt: DrawPurpose, index: u64) -> SeededRng {
        SeededRng::new(self.seed, salt as u64, index)
    }

    pub fn board(self, board: usize, topic: usize) -> (String, String) {
        if self.english {
            let words = &ENGLISH[topic % ENGLISH.len()];
            let noun = words.nouns[board % words.nouns.len()];
            let round = board / words.nouns.len();
            let number = if round > 0 { format!(" {}", round + 1) } else { String::new() };
            return (format!("{} and {}{number}", words.dirs[0], noun), format!("All about {noun}"));
        }
        let nouns = vocabulary(topic).0.nouns;
        let noun = nouns[board % nouns.len()];
        let kind = BOARDS[board % BOARDS.len()];
        let number = if board >= BOARDS.len() * 2 { board.to_string() } else { String::new() };
        let other = nouns[(board + 5) % nouns.len()];
        (format!("{noun}{kind}{number}"), format!("讨论{noun}、{other}以及有关的{kind}"))
    }

    /// A title of 8 to 30 Chinese characters. Each `attempt` for a thread gives another one.
    pub fn title(self, topic: usize, thread: u64, attempt: u64) -> String {
        let mut rng = self.draw(DrawPurpose::Title, thread * 16 + attempt.min(15));
        if self.english {
            let mut out = String::new();
            write::fill(rng.pick(ENGLISH_TITLES), &ENGLISH[topic % ENGLISH.len()], None, &mut rng, &mut out);
            return out;
        }
        let opening = if rng.chance(0.35) { rng.pick(OPENINGS) } else { "" };
        let (words, shared) = vocabulary(topic);
        let mut out = opening.to_owned();
        write::fill(rng.pick(WORDS.titles), words, shared, &mut rng, &mut out);
        if attempt >= 8 {
            out.push_str(&format!("（{thread}）"));
        }
        out
    }

    /// The text of a post: one to three paragraphs, one to eight sentences in total.
    pub fn post(self, topic: usize, thread: u64, floor: u64) -> Vec<String> {
        let mut rng = self.draw(DrawPurpose::Post, thread << 20 | floor);
        // The opening post is longer.
        let sentences = if floor == 0 { rng.within([3, 8]) } else { 1 + rng.below(3) * rng.below(3) };
        let mut out = vec![String::new()];
        for at in 0..sentences {
            if at > 0 && rng.chance(0.25) && out.len() < 3 {
                out.push(String::new());
            }
            let text = out.last_mut().expect("it starts with one");
            if self.english {
                let words = &ENGLISH[topic % ENGLISH.len()];
                if !text.is_empty() {
                    text.push(' ');
                }
                write::fill(rng.pick(ENGLISH_SENTENCES), words, None, &mut rng, text);
            } else {
                write::sentence(topic, &mut rng, text);
            }
        }
        out
    }

    /// The earlier post that this one quotes, if any.
    pub fn quoted(self, thread: u64, floor: u64) -> Option<u64> {
        let mut rng = self.draw(DrawPurpose::Post, !(thread << 20 | floor));
        (floor > 1 && rng.chance(0.15)).then(|| rng.below(floor))
    }

    pub fn user(self, user: u32) -> String {
        let mut rng = self.draw(DrawPurpose::User, u64::from(user));
        if self.english || rng.chance(0.3) {
            return format!("{}{}{user}", rng.pick(LATIN), rng.pick(&["", "_", "x"]));
        }
        format!("{}{}{user}", rng.pick(NICKS), rng.pick(NICKS))
    }

    /// A user's signature; one in three has one.
    pub fn motto(self, user: u32) -> Option<String> {
        let mut rng = self.draw(DrawPurpose::Motto, u64::from(user));
        rng.chance(0.33).then(|| {
            if self.english {
                return rng.pick(&["Less is more.", "Sent from my desk", "See you on the field"]).to_owned();
            }
            format!("{}不是{}，{}才是。", rng.pick(NICKS), rng.pick(NICKS), rng.pick(NICKS))
        })
    }

    pub fn slug(self, thread: u64) -> String {
        let mut rng = self.draw(DrawPurpose::Slug, thread);
        let parts: Vec<&str> = (0..rng.within([2, 5])).map(|_| rng.pick(SYLLABLES)).collect();
        parts.join("-")
    }

    pub fn board_slug(self, board: usize, topic: usize) -> String {
        let dirs = vocabulary(topic).0.dirs;
        format!("{}-{}", dirs[board % dirs.len()], SYLLABLES[board * 7 % SYLLABLES.len()])
    }

    /// The topic of each board; those about the main topic are spread over the forum.
    pub fn topics(self, boards: usize, topical: f64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..boards).collect();
        let mut rng = self.draw(DrawPurpose::Topic, 0);
        for at in (1..boards).rev() {
            order.swap(at, rng.below(at as u64 + 1) as usize);
        }
        let on_topic = (boards as f64 * topical).round() as usize;
        let mut out = vec![0; boards];
        for (position, &board) in order.iter().enumerate() {
            out[board] = match position.checked_sub(on_topic) {
                None => position % THEMES,
                Some(position) => THEMES + position % (WORDS.topics.len() - THEMES),
            };
        }
        out
    }
}
