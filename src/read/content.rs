//! Which blocks are the main content and which are navigation, sidebar, footer or other furniture.
//!
//! Apart because it is judgement: it sees how much text and how many links each element holds and what elements say
//! they are for. The idea of link density and of context by the smallest large ancestor is Kohlschütter, Fankhauser,
//! Nejdl, "Boilerplate detection using shallow text features" (2010), simplified; hints are checked against it, for
//! they lie: a long text with few links is never furniture.

use super::hint::Hint;
use super::markup::{Amount, Markup};
use crate::model::Region;

/// A text of 80 ideographs (or 240 letters) speaks for itself.
const LONG: u32 = 240;
/// And one of 150 does so even in what calls itself a sidebar or footer.
const VERY_LONG: u32 = 450;
/// An element with so much text is large enough to judge what stands in it.
const CONTEXT: u32 = 600;

impl Amount {
    pub(super) fn total(self) -> u32 {
        self.plain + self.linked
    }

    fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.linked += other.linked;
        self.links += other.links;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Open,
    Main,
    /// The particulars of an article, and nothing else's furniture.
    Label,
    Furniture,
}

/// Sets the region of every block and link.
pub(super) fn decide(markup: &mut Markup) {
    let amounts = sums(markup);
    let page = amounts[0];
    let headed = headings(markup, &amounts);
    let count = markup.elements.len();
    let mut areas = vec![Area::Open; count];
    // Whether an element is, or stands in, a list of links.
    let mut listed = vec![false; count];
    // The nearest element that is large enough to be judged by.
    let mut contexts = vec![0_usize; count];
    for at in 1..count {
        let element = &markup.elements[at];
        let (amount, parent) = (amounts[at], element.parent as usize);
        let holds_page = amount.plain >= LONG && amount.plain * 2 >= page.plain && amount.total() * 3 >= page.total()
            || amount.total() * 10 >= page.total() * 7;
        areas[at] = match (areas[parent], element.hint) {
            (Area::Furniture, _) => Area::Furniture,
            (_, Hint::Furniture) if !holds_page => Area::Furniture,
            (Area::Label, _) => Area::Label,
            (_, Hint::Label) if !holds_page => Area::Label,
            (Area::Open, Hint::Header) if !holds_page => Area::Furniture,
            _ if headed[at] && !holds_page => Area::Furniture,
            (_, Hint::Main) => Area::Main,
            (area, _) => area,
        };
        // An article beside a long list shares its parent with it, and is none.
        let is_article = amount.plain >= LONG && amount.linked < amount.plain;
        listed[at] = !is_article && (listed[parent] || amount.links >= 4 && amount.linked * 4 > amount.total() * 3);
        contexts[at] = if is_article || amount.total() >= CONTEXT { at } else { contexts[parent] };
    }
    let mut within = [Amount::default(); 4];
    for setting in &markup.settings {
        within[areas[setting.element as usize] as usize].add(setting.amount);
    }
    let [open, main, ..] = within;
    let has_main = main.plain >= 60 && main.plain * 4 >= open.plain;
    let mut chosen = Amount::default();
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings) {
        let (own, at) = (setting.amount, setting.element as usize);
        let context = amounts[contexts[at]];
        let is_text = own.plain >= LONG && own.linked * 2 <= own.plain;
        let in_text = !listed[at] && context.linked < context.plain;
        let is_content = match areas[at] {
            Area::Label | Area::Furniture => own.plain >= VERY_LONG && own.linked * 5 <= own.plain,
            Area::Main => is_text || !listed[at] && context.linked < context.plain * 3,
            Area::Open if has_main => is_text,
            Area::Open => is_text || in_text,
        };
        block.region = match areas[at] {
            _ if is_content => Region::Content,
            Area::Label => Region::Label,
            _ => Region::Navigation,
        };
        if is_content {
            chosen.add(own);
        }
    }
    let mut rest = open;
    rest.add(main);
    // A page of links: what does not call itself furniture is its content.
    if chosen.total() * 10 < rest.total() * 3 && !(chosen.plain >= LONG && chosen.plain * 2 >= rest.plain) {
        let listing =
            if main.total() * 2 >= rest.total() { [false, true, false, false] } else { [true, true, false, false] };
        promote(markup, &areas, listing);
        chosen = rest;
    }
    if chosen.total() == 0 {
        promote(markup, &areas, [true; 4]);
    }
    for link in &mut markup.document.links {
        link.region = markup.document.blocks[link.block].region;
    }
}

/// Makes every block of the given areas content.
fn promote(markup: &mut Markup, areas: &[Area], which: [bool; 4]) {
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings) {
        if which[areas[setting.element as usize] as usize] {
            block.region = Region::Content;
        }
    }
}

/// What each element holds, its descendants included.
fn sums(markup: &Markup) -> Vec<Amount> {
    let mut amounts = vec![Amount::default(); markup.elements.len()];
    for setting in &markup.settings {
        amounts[setting.element as usize].add(setting.amount);
    }
    // Parents come before their children.
    for at in (1..amounts.len()).rev() {
        let own = amounts[at];
        amounts[markup.elements[at].parent as usize].add(own);
    }
    amounts
}

/// Elements that a heading such as 相关文章 names as furniture: the smallest ones that hold more than the heading.
fn headings(markup: &Markup, amounts: &[Amount]) -> Vec<bool> {
    let mut headed = vec![false; markup.elements.len()];
    for (block, setting) in markup.document.blocks.iter().zip(&markup.settings) {
        if setting.amount.total() > 40 || block.pieces.is_empty() {
            continue;
        }
        let pieces = &markup.document.pieces;
        let text = &markup.document.text[pieces[block.pieces.start].text.start..pieces[block.pieces.end - 1].text.end];
        if is_turning(text) {
            headed[setting.element as usize] |= amounts[setting.element as usize].total() < CONTEXT;
        } else if is_furniture_heading(text) {
            let mut at = setting.element as usize;
            for _ in 0..3 {
                if at != 0 && amounts[at].total() <= setting.amount.total() {
                    at = markup.elements[at].parent as usize;
                }
            }
            // Links below it, mostly; otherwise it may be a heading of the text.
            headed[at] |= at != 0 && amounts[at].linked > amounts[at].plain;
        }
    }
    headed
}

/// Whether a block leads to the pages before and after.
fn is_turning(text: &str) -> bool {
    ["上一篇", "下一篇", "上一页", "下一页", "上一頁", "下一頁", "上一章", "下一章"]
        .iter()
        .any(|turn| text.starts_with(turn))
}

fn is_furniture_heading(text: &str) -> bool {
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
