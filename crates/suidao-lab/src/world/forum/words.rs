//! Words of forums only: kinds of boards, user names, beginnings of titles, and all words of the English forum.

use crate::world::words::TopicWords;

pub(super) const BOARDS: &[&str] = &["讨论区", "交流区", "天地", "杂谈", "专区", "论坛", "之家", "大厅"];

pub(super) const NICKS: &[&str] = &[
    "清风", "明月", "老王", "小李", "阿木", "秋水", "南山", "北辰", "流云", "飞雪", "青石", "白马", "江湖", "浮生",
    "长安", "听雨", "竹林", "孤舟", "远山", "星河", "海棠", "半夏", "锦鲤", "麦田",
];

pub(super) const LATIN: &[&str] = &[
    "alan", "betty", "fox", "tiger", "jack", "lily", "sun", "river", "cloud", "smith", "wang", "chen", "kite", "rain",
];

pub(super) const OPENINGS: &[&str] =
    &["[求助]", "[分享]", "[讨论]", "[原创]", "【转帖】", "请教：", "大家说说，", "有图：", "周末闲聊，"];

pub(super) const SYLLABLES: &[&str] = &[
    "bi", "sai", "qiu", "dui", "xin", "wen", "fen", "xi", "tao", "lun", "jing", "cai", "hui", "gu", "ri", "zhi",
    "ming", "xing", "zhan", "bao",
];

pub(super) const ENGLISH: &[TopicWords] = &[
    TopicWords {
        dirs: &["Football"],
        nouns: &["the league", "the goalkeeper", "a penalty", "the derby", "the new coach", "the transfer window"],
        verbs: &["score late", "defend deep", "lose the ball", "press high", "win at home"],
        names: &["Rovers", "the referee", "our captain", "United", "the youth team"],
    },
    TopicWords {
        dirs: &["Cooking"],
        nouns: &["the noodle soup", "a cast iron pan", "fresh ginger", "the old recipe", "soy sauce", "a sharp knife"],
        verbs: &["simmer slowly", "season well", "burn the garlic", "taste first", "rest the dough"],
        names: &["my grandmother", "the chef", "a neighbour", "the market", "our baker"],
    },
    TopicWords {
        dirs: &["Computing"],
        nouns: &["the compiler", "an old laptop", "the database", "a memory leak", "the kernel", "the test suite"],
        verbs: &["crash at night", "build from source", "drop packets", "run out of memory", "pass the tests"],
        names: &["the maintainer", "our server", "a student", "the vendor", "the packager"],
    },
];

/// Title patterns in the letters of words.toml, of which only N, V, P and D have English words.
pub(super) const ENGLISH_TITLES: &[&str] = &[
    "why does P always V with N?",
    "what P said about N and N",
    "D ways to V without N",
    "is N better than N for P?",
    "how to V when N fails",
];

pub(super) const ENGLISH_SENTENCES: &[&str] = &[
    "yesterday P tried to V, but N was not ready.",
    "in my view N matters more than N.",
    "after D days with N we still could not V.",
    "has anybody seen P V like that before?",
    "they told me that N would help P to V.",
];
