//! What short lines say they are: ways through the site, particulars of an article, thanks and requests below it,
//! headings of furniture.

use std::borrow::Cow;

/// Whether a line is a way through the site, or of its foot: a trail, a row of page numbers, the pages before and after, a
/// notice of copyright or of the software. `linked`: half of it or more is links.
pub(super) fn is_navigation(line: &str, linked: bool) -> bool {
    let lower = lowered(bare(line));
    is_turning(line) && lower.chars().count() <= 40
        || is_trail(&lower, linked)
        || is_pager(&lower, linked)
        || is_notice(&lower)
}

/// Whether a line is a particular of an article; if it is, whether it comes with its value.
pub(super) fn is_particular(line: &str) -> Option<bool> {
    let lower = lowered(bare(line));
    let rest = LABELS.iter().find_map(|label| lower.strip_prefix(label))?.trim_start();
    let apart = rest.is_empty()
        || rest.starts_with([':', '：', '|', '丨', '≈', '～'])
        || rest.starts_with(|c: char| c.is_ascii_digit())
        || SENTENCE_LABELS.iter().any(|label| lower.starts_with(label));
    apart.then(|| rest.chars().any(char::is_alphanumeric))
}

/// A line without the signs before it.
pub(super) fn bare(line: &str) -> &str {
    line.trim().trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '©' | '<' | '《'))
}

fn lowered(line: &str) -> Cow<'_, str> {
    if line.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(line.to_ascii_lowercase())
    } else {
        Cow::Borrowed(line)
    }
}

/// Labels of particulars, in lower case.
const LABELS: [&str; 106] = [
    "发布日期",
    "发布时间",
    "发布于",
    "發佈於",
    "發布於",
    "发表于",
    "發表於",
    "发表时间",
    "发表日期",
    "创建时间",
    "创建日期",
    "建立时间",
    "更新日期",
    "更新时间",
    "更新于",
    "更新於",
    "最后更新",
    "最後更新",
    "最后修改",
    "最后编辑",
    "本文最后更新",
    "本文最后修改",
    "修改时间",
    "编辑于",
    "首发于",
    "文章字数",
    "本文字数",
    "字数统计",
    "字數統計",
    "字数总计",
    "字數總計",
    "总字数",
    "总計字數",
    "字数",
    "本文总共",
    "共计",
    "阅读时长",
    "阅读时间",
    "閱讀時長",
    "閲讀時長",
    "閱讀時間",
    "预计阅读",
    "阅读次数",
    "閱讀次數",
    "阅读量",
    "閱讀量",
    "阅读数",
    "阅读",
    "浏览量",
    "浏览次数",
    "浏览",
    "访问量",
    "访问次数",
    "点击",
    "热度",
    "评论数",
    "评论量",
    "分类于",
    "分類於",
    "分类",
    "分類",
    "所属分类",
    "标签",
    "標籤",
    "文章标签",
    "文章作者",
    "本文作者",
    "博文作者",
    "作者",
    "文章链接",
    "文章連結",
    "本文链接",
    "本文連結",
    "本文地址",
    "本文标题",
    "文章标题",
    "原始链接",
    "永久链接",
    "版权声明",
    "版權聲明",
    "许可协议",
    "許可協議",
    "转载请注明",
    "转载说明",
    "本文采用",
    "本博客所有文章",
    "本站所有文章",
    "本作品采用",
    "post author",
    "post link",
    "copyright notice",
    "word count",
    "reading time",
    "post views",
    "tags",
    "kategorie",
    "kategorien",
    "category",
    "categories",
    "filed under",
    "schlagwörter",
    "schlagworte",
    "etiquetas",
    "mots-clés",
    "posted on",
    "published in",
];

/// Of those the ones that begin a sentence.
const SENTENCE_LABELS: [&str; 9] = [
    "转载请注明",
    "本文采用",
    "本博客所有文章",
    "本站所有文章",
    "本作品采用",
    "posted on",
    "published in",
    "本文最后更新",
    "本文最后修改",
];

/// Whether a block leads to the pages before and after.
pub(super) fn is_turning(text: &str) -> bool {
    const BEGINNINGS: [&str; 12] = [
        "上一篇",
        "下一篇",
        "上一页",
        "下一页",
        "上一頁",
        "下一頁",
        "上一章",
        "下一章",
        "上一则",
        "下一则",
        "前の記事",
        "次の記事",
    ];
    const WHOLE: [&str; 12] = [
        "previous post",
        "next post",
        "previous",
        "next",
        "prev",
        "older",
        "newer",
        "older posts",
        "newer posts",
        "previous article",
        "next article",
        "返回首页",
    ];
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    BEGINNINGS.iter().any(|turn| bare.starts_with(turn)) || WHOLE.iter().any(|turn| bare.eq_ignore_ascii_case(turn))
}

/// A trail of links from the front page to here.
fn is_trail(text: &str, linked: bool) -> bool {
    let steps = text.matches(['»', '›']).count() + text.matches(" > ").count();
    let home = ["首页", "主页", "home", "当前位置", "您的位置", "你的位置", "目前位置"]
        .iter()
        .any(|word| text.starts_with(word));
    steps > 0 && (linked || home) && text.chars().count() <= 100
}

/// A row of page numbers.
fn is_pager(text: &str, linked: bool) -> bool {
    const WORDS: [&str; 18] = [
        "ページ",
        "页码",
        "分页",
        "第",
        "共",
        "页",
        "頁",
        "上一",
        "下一",
        "首",
        "末",
        "尾",
        "page",
        "of",
        "prev",
        "next",
        "first",
        "last",
    ];
    if text.len() > 240 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    // More letters than the words of a pager have.
    if text.chars().filter(|c| c.is_alphanumeric() && !c.is_ascii_digit()).count() > 24 {
        return false;
    }
    let mut rest = text.to_owned();
    let mut named = false;
    for word in WORDS {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
            named = true;
        }
    }
    let digits = rest.chars().all(|c| c.is_ascii_digit() || !c.is_alphanumeric());
    let numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).count();
    // A number alone may be a figure, and one with points a date or a version.
    digits
        && !rest.contains(['.', '/', '-', '年'])
        && (named && text.contains(['页', '頁', 'ペ', 'p']) || linked && numbers > 1)
}

/// A notice of copyright or of the software at the foot of a site.
fn is_notice(text: &str) -> bool {
    let begins =
        ["©", "copyright ©", "copyright (c)", "powered by", "版权所有", "all rights reserved", "theme by", "hosted by"];
    begins.iter().any(|word| text.starts_with(word))
        || text.contains("强力驱动")
        || text.contains("icp备")
        || text.contains("icp证")
}

/// Thanks, and requests for money, comments or followers.
pub(super) fn is_closing(line: &str) -> bool {
    const WORDS: [&str; 27] = [
        "您的支持",
        "你的支持",
        "感谢您的阅读",
        "感謝您的閱讀",
        "感谢阅读",
        "谢谢阅读",
        "本文结束",
        "文章结束",
        "全文完",
        "打赏",
        "打賞",
        "赞赏",
        "赏识",
        "一杯咖啡",
        "微信支付",
        "支付宝",
        "支付寶",
        "扫一扫",
        "扫码",
        "二维码",
        "欢迎关注",
        "donate",
        "buymeacoffee",
        "thankyouforyoursupport",
        "wechatpay",
        "alipay",
        "给博主",
    ];
    const WHOLE: [&str; 10] =
        ["评论", "留言", "發表評論", "发表评论", "comments", "comment", "share", "分享", "theend", "end"];
    if line.len() > 200 {
        return false;
    }
    let spaceless: String = lowered(line).chars().filter(|c| !c.is_whitespace()).collect();
    let bare = spaceless.trim_matches(|c: char| !c.is_alphanumeric());
    let short = spaceless.chars().count() <= 40;
    short && WORDS.iter().any(|word| spaceless.contains(word)) || WHOLE.contains(&bare)
}

/// Whether a line above a text is when or by whom it was written: short, with a date or a time of day, or beginning with `By`.
pub(super) fn is_stamp(line: &str) -> bool {
    const BY: [&str; 12] =
        ["By ", "by ", "BY ", "By: ", "Von ", "von ", "Par ", "par ", "Por ", "por ", "Door ", "Written by "];
    let line = line.trim();
    if line.chars().count() > 80 {
        return false;
    }
    let ends = line.ends_with(['.', '?', '!', ':', '。', '？', '！', '：', '…']);
    let words = line.split_whitespace().count();
    // Names begin with a capital, where their script has any.
    let name = BY.iter().find_map(|by| line.strip_prefix(by));
    if !ends
        && words <= 8
        && name.is_some_and(|name| name.starts_with(|c: char| c.is_alphanumeric() && !c.is_lowercase()))
    {
        return true;
    }
    let numbers: Vec<&str> = line.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect();
    let year = numbers.iter().any(|number| number.len() == 4 && ("1990".."2100").contains(number));
    let time = line.bytes().collect::<Vec<_>>().windows(4).any(|four| {
        let [a, colon, b, c] = four else { return false };
        a.is_ascii_digit() && *colon == b':' && b.is_ascii_digit() && c.is_ascii_digit()
    });
    // A label says what the date is of, and that may be anything.
    let labelled = line.contains(": ") || line.contains('：');
    !ends && !labelled && (year && numbers.len() > 1 || time)
}

/// Whether a heading names what stands below it as furniture.
pub(super) fn is_furniture_heading(text: &str) -> bool {
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    if text.is_ascii() {
        return [
            "related posts",
            "related articles",
            "recent posts",
            "recent comments",
            "categories",
            "tags",
            "tag cloud",
            "archives",
            "archive",
            "blogroll",
            "table of contents",
            "contents",
            "menu",
            "navigation",
            "links",
            "popular posts",
        ]
        .iter()
        .any(|name| text.eq_ignore_ascii_case(name));
    }
    matches!(
        text,
        "导航"
            | "網站導航"
            | "网站导航"
            | "站内导航"
            | "站点导航"
            | "快速导航"
            | "栏目导航"
            | "導航"
            | "相关文章"
            | "相關文章"
            | "相关推荐"
            | "相关阅读"
            | "相关新闻"
            | "相关链接"
            | "相关内容"
            | "热门文章"
            | "熱門文章"
            | "热门推荐"
            | "热门标签"
            | "热门新闻"
            | "最新文章"
            | "最新评论"
            | "最近文章"
            | "近期文章"
            | "最近评论"
            | "最新發表"
            | "随机文章"
            | "推荐阅读"
            | "推荐文章"
            | "猜你喜欢"
            | "猜你想看"
            | "大家都在看"
            | "友情链接"
            | "友情連結"
            | "友链"
            | "标签"
            | "標籤"
            | "标签云"
            | "標籤雲"
            | "分类"
            | "分類"
            | "文章分类"
            | "文章归档"
            | "归档"
            | "歸檔"
            | "文章目录"
            | "目录"
            | "目錄"
            | "站点概览"
            | "点击排行"
            | "阅读排行"
            | "排行榜"
            | "本站公告"
            | "关于本站"
            | "分享到"
    )
}
