//! Names of Chinese authors where no label says `作者`: reporters, a name in brackets at the end, a name alone under the
//! headline. A name is a surname and one or two characters, so that words are not taken for names.

use crate::text::segment;

/// Characters of a line that names reporters, and of a remark in brackets.
const LINE: usize = 60;
const REMARK: usize = 40;
/// Characters of a paragraph before a dateline ends: 新华社北京3月5日电（记者张小明）.
const DATELINE: usize = 24;
/// Characters of the medium before 记者.
const MEDIUM: usize = 14;

/// Surnames by frequency (Ministry of Public Security of China, 2020, and the Hundred Family Surnames), without those
/// that begin many words.
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤康易乔赖文牛樊葛邢安齐伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷曲盛冉翁蓝骆路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官封谈匡鞠惠荆乐冀郁胥南班储原栗燕楚鄢劳谌奚皮粟冼蔺楼盘满闻位厉伊仝区郜海阚花权强帅屠豆朴盖练廉禹井祖漆巴丰支卿国狄平计索宣晋相初门云容敬来扈晁芮都普阙浦戈伏鹿薄邸雍辜羊阿乌母裘亓修邰赫杭况那宿鲜印逯隆茹诺战慕危玉银亢嵇公哈湛宾戎勾茅利於呼居揭干但尉冶斯元束檀衣信展阴昝智幸奉植衡富尧闭由萬張陳楊黃趙吳孫馬鄭謝許韓鄧馮蕭葉呂盧鍾譚陸範賈龍賀顧龔萬錢戴嚴湯喬賴龐顏莊聶魯歐關蘭";
const COMPOUND: [&str; 20] = [
    "欧阳", "上官", "司马", "诸葛", "皇甫", "司徒", "东方", "慕容", "尉迟", "令狐", "夏侯", "端木", "宇文", "公孙",
    "长孙", "轩辕", "独孤", "南宫", "歐陽", "司馬",
];

/// Words for who wrote or reported a text.
const ROLES: [&str; 6] = ["记者", "記者", "通讯员", "特约撰稿人", "撰稿人", "实习生"];
/// What may stand after names: "报道", "文并摄".
const ENDINGS: [&str; 12] =
    ["综合报道", "摄影报道", "报道", "報道", "报导", "摄影", "文并摄", "文/图", "图/文", "文图", "摄", "文"];

/// The names of the reporters in a paragraph: in a line of their own, or in brackets at its beginning or end.
pub(super) fn reporters(paragraph: &str) -> Vec<String> {
    let paragraph = paragraph.trim();
    let length = paragraph.chars().take(LINE + 1).count();
    if length <= LINE
        && let Some((before, rest)) = at_role(paragraph)
        && before.trim_end_matches(['讯', '(', '（']).chars().count() <= MEDIUM
        && !before.contains(['。', '，', '！', '？', '“', '：'])
    {
        let (names, whole) = names(rest);
        if whole && !names.is_empty() {
            return names;
        }
    }
    let remark = |remark: &str| at_role(remark).map(|(_, rest)| names(rest).0).unwrap_or_default();
    let first = brackets(paragraph).filter(|(before, ..)| before.chars().count() <= DATELINE);
    if let Some((_, inner, _)) = first {
        let names = remark(inner);
        if !names.is_empty() {
            return names;
        }
    }
    at_end(paragraph).map(remark).unwrap_or_default()
}

/// The name that is all there is in brackets at the end of a paragraph.
pub(super) fn signed(paragraph: &str) -> Option<String> {
    let inner = at_end(paragraph.trim())?;
    alone(inner)
}

/// A text that is a name and nothing else, and no word. A name of two characters must have a blank: too many words look
/// like one.
pub(super) fn alone(text: &str) -> Option<String> {
    let text = text.trim();
    let name = joined(text)?;
    let (mut words, mut is_word) = (0, false);
    segment::cut_tagged(&name, |_, part| {
        words += 1;
        is_word = !part.starts_with("nr") && part != "x";
    });
    let long_enough = name.chars().count() > 2 || name.len() < text.len();
    (long_enough && is_name(&name) && !(words == 1 && is_word)).then_some(name)
}

/// The text before and after the first role that names follow.
fn at_role(text: &str) -> Option<(&str, &str)> {
    let at = ROLES.iter().filter_map(|role| text.find(role).map(|at| (at, role.len()))).min()?;
    Some((&text[..at.0], &text[at.0 + at.1..]))
}

/// The first remark in brackets: the text before it, the remark, and the text after it.
fn brackets(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find(['（', '('])?;
    let inner = open + text[open..].chars().next().map_or(0, char::len_utf8);
    let end = inner + text[inner..].find(['）', ')'])?;
    let after = end + text[end..].chars().next().map_or(0, char::len_utf8);
    (text[inner..end].chars().count() <= REMARK).then(|| (&text[..open], &text[inner..end], &text[after..]))
}

/// The remark in brackets that ends a text.
fn at_end(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(['。', ' ', '\u{3000}']);
    let inner = text.strip_suffix(['）', ')'])?;
    let open = inner.rfind(['（', '('])?;
    let remark = &inner[open + inner[open..].chars().next().map_or(0, char::len_utf8)..];
    (remark.chars().count() <= REMARK).then_some(remark)
}

/// The names at the start of a text, and whether it has nothing else but other roles.
fn names(text: &str) -> (Vec<String>, bool) {
    const BETWEEN: [char; 12] = [' ', '\u{3000}', '、', ',', '，', '/', ':', '：', '|', '&', '和', '\u{a0}'];
    let mut found: Vec<String> = Vec::new();
    let text = text.trim_end_matches(['）', ')', '。', ' ']);
    let mut parts = text.split(BETWEEN).filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let is_ending = |part: &str| ENDINGS.contains(&part);
        if is_ending(part) {
            return (found, parts.all(is_ending));
        }
        if let Some(rest) = ROLES.iter().find_map(|role| Some(part.split_once(role)?.1)) {
            if rest.is_empty() {
                continue;
            }
            let name = ENDINGS.iter().find_map(|ending| rest.strip_suffix(ending)).unwrap_or(rest);
            if is_name(name) {
                found.push(name.to_owned());
                continue;
            }
            return (found, false);
        }
        // A name of two characters is often written with a blank.
        let spaced = parts.peek().map(|next| format!("{part}{next}"));
        if part.chars().count() == 1
            && let Some(name) = spaced.filter(|name| name.chars().count() == 2 && is_name(name))
        {
            parts.next();
            found.push(name);
            continue;
        }
        let stripped = ENDINGS.iter().find_map(|ending| part.strip_suffix(ending)).unwrap_or(part);
        let Some(name) = [part, stripped].into_iter().find(|name| is_name(name)) else { return (found, false) };
        found.push(name.to_owned());
        if name.len() < part.len() {
            return (found, parts.all(is_ending));
        }
    }
    (found, true)
}

/// `text` without the blank in a name of two characters.
fn joined(text: &str) -> Option<String> {
    let name: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let blanks = text.chars().count() - name.chars().count();
    (blanks == 0 || name.chars().count() == 2).then_some(name)
}

/// A surname and one or two characters, for a compound surname as well.
fn is_name(text: &str) -> bool {
    let count = text.chars().count();
    if !(2..=4).contains(&count) || !text.chars().all(segment::is_han) {
        return false;
    }
    let compound = COMPOUND.iter().any(|surname| text.starts_with(surname));
    if count == 4 || compound && count > 2 {
        return compound;
    }
    text.chars().next().is_some_and(|first| SURNAMES.contains(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reporters_are_named_in_lines_and_in_brackets() {
        for (line, names) in [
            ("光明日报记者 张小明", &["张小明"][..]),
            ("本报记者　张小明　李四", &["张小明", "李四"]),
            (
                "本报讯（记者 张小明 通讯员李四）昨日清晨，小镇上的面包师点起了炉火，香味飘满了整条街，邻居们都来了，孩子们排着队唱歌。",
                &["张小明", "李四"],
            ),
            (
                "新华社北京3月5日电（记者张小明、欧阳小云）昨日清晨，小镇上的面包师点起了炉火，香味飘满了整条街，邻居们都来了。",
                &["张小明", "欧阳小云"],
            ),
            ("孩子们排着队唱起了歌谣。（记者 张小明）", &["张小明"]),
            ("孩子们排着队唱起了歌谣。(本报记者张小明报道)", &["张小明"]),
            ("记者 王 鹏 摄影报道", &["王鹏"]),
        ] {
            assert_eq!(reporters(line), names, "{line}");
        }
        for line in [
            "记者昨日从市教育局获悉",
            "记者 从现场发回报道",
            "他告诉记者，面包师每天四点起床。",
            "（记者注：原文如此）",
            "记者节快乐",
            "孩子们问记者：张小明是谁？",
        ] {
            assert!(reporters(line).is_empty(), "{line}: {:?}", reporters(line));
        }
    }

    #[test]
    fn a_name_in_brackets_at_the_end_is_no_word() {
        assert_eq!(signed("孩子们排着队唱起了歌谣。（张小明）").as_deref(), Some("张小明"));
        assert_eq!(signed("（李 四）").as_deref(), Some("李四"));
        for text in [
            "（高清）",
            "（完）",
            "（方法）",
            "（时间）",
            "（资料图片）",
            "（连载）",
            "（张小明 摄）",
            "歌谣（全文）",
            "（成功）",
        ] {
            assert_eq!(signed(text), None, "{text}");
        }
    }
}
