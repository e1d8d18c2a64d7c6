//! Whether the answer to a revisit has lost the text of the page: a notice of maintenance, an empty body, a login form,
//! a bot challenge. Such an answer says nothing about the page, so it counts as a missing page.

use super::history::{Tracked, is_other_text};
use suidao_page::model::{Sketch, TextLoss};
use suidao_page::text::simhash::distance;

/// Texts shorter than one in this many of the former text are not versions of it.
const SHORTENED: u32 = 4;

/// SimHash distance of two copies of a notice, which may contain a number, a time or the address.
const COPIES: u32 = 8;

/// A page whose text was replaced.
#[derive(Clone, Copy, Debug)]
pub struct Replacement {
    pub before: Sketch,
    pub now: Sketch,
}

impl Replacement {
    /// Whether two pages had different texts and now have the same.
    pub fn is_shared_by(self, other: Self) -> bool {
        let (longer, shorter) = (self.now.chars.max(other.now.chars), self.now.chars.min(other.now.chars));
        let alike = self.now.digest == other.now.digest
            || longer - shorter <= 16 + shorter / 8 && distance(self.now.simhash, other.now.simhash) <= COPIES;
        alike && is_other_text(self.before, other.before) && is_other_text(self.before, self.now)
    }
}

/// What a revisit found.
#[derive(Clone, Copy, Debug)]
pub struct RevisitedPage {
    pub sketch: Sketch,
    pub on_topic: bool,
    pub listing: bool,
    pub noindex: bool,
    /// Another page of the host that had another text has the same text now.
    pub shared: bool,
}

/// How the page has lost its text, if it has. The text of a listing changes with its entries, so it is compared only if
/// the page is not a listing any more.
pub fn text_loss(known: &Tracked, found: RevisitedPage) -> Option<TextLoss> {
    let (before, now) = (known.sketch, found.sketch);
    if found.noindex && !known.noindex {
        return Some(TextLoss::Noindex);
    }
    if before.digest == now.digest {
        return None;
    }
    if found.shared {
        return Some(TextLoss::Shared);
    }
    if known.listing && found.listing {
        return None;
    }
    // An article that is a list of links now.
    if found.listing && before.is_text() && is_other_text(before, now) {
        return Some(TextLoss::Replaced);
    }
    if now.chars == 0 || before.is_text() && !now.is_text() {
        return Some(TextLoss::Empty);
    }
    if now.chars < before.chars / SHORTENED {
        return Some(TextLoss::Shortened);
    }
    let replaced = known.on_topic && !found.on_topic && !known.rewritten && is_other_text(before, now);
    replaced.then_some(TextLoss::Replaced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::settings::RefreshSettings;
    use suidao_page::text::simhash::sketch;

    const ARTICLE: &str = "足球联赛昨晚开赛，主队在第七十分钟由前锋攻入制胜一球，主教练赛后表示球队状态正在回升，球迷在看台上唱到终场。\
                           下一轮比赛将在周末进行，对手是上赛季的亚军，两队近五次交手主队三胜一平一负，后卫线仍有两人因伤缺阵。";

    fn known(text: &str, listing: bool) -> Tracked {
        Tracked { sketch: sketch(text), ..Tracked::first(0.5, true, listing, &RefreshSettings::default()) }
    }

    fn found(text: &str) -> RevisitedPage {
        RevisitedPage { sketch: sketch(text), on_topic: true, listing: false, noindex: false, shared: false }
    }

    #[test]
    fn notices_walls_and_empty_bodies_are_losses() {
        let long = ARTICLE.repeat(8);
        let notice = "本站将于今晚零点至次日凌晨六点进行服务器迁移与安全加固，期间所有栏目暂停访问，数据不会丢失，由此带来的不便敬请谅解，\
                      如有疑问请通过页面底部的电子邮箱与站务组联系，我们会在恢复之后第一时间回复您的来信，感谢您的理解与支持。";
        let off_topic = RevisitedPage { on_topic: false, ..found(notice) };
        for (before, after, expected) in [
            (ARTICLE, found(""), TextLoss::Empty),
            (ARTICLE, found("系统维护中，请稍后再试。"), TextLoss::Empty),
            (ARTICLE, found("Just a moment... Enable JavaScript and cookies to continue"), TextLoss::Empty),
            (&long, found(notice), TextLoss::Shortened),
            (ARTICLE, off_topic, TextLoss::Replaced),
            (ARTICLE, RevisitedPage { shared: true, ..found(notice) }, TextLoss::Shared),
            (ARTICLE, RevisitedPage { noindex: true, ..found(ARTICLE) }, TextLoss::Noindex),
        ] {
            assert_eq!(text_loss(&known(before, false), after), Some(expected), "{expected:?}");
        }
        assert_eq!(text_loss(&known(ARTICLE, true), found("系统维护中")), Some(TextLoss::Empty), "a listing");
        let list = RevisitedPage {
            listing: true, ..found("- 球队\n- 联赛\n- 赛程\n- 球员名单\n- 转会新闻\n- 青年队")
        };
        assert_eq!(text_loss(&known(ARTICLE, false), list), Some(TextLoss::Replaced), "an article");
    }

    #[test]
    fn versions_of_a_text_are_not() {
        let longer = format!("{ARTICLE}更新：比赛的全场录像已经上传。");
        let stub = "暂无内容";
        let changed = ARTICLE.replace("昨晚", "前天晚上");
        let off_topic = RevisitedPage { on_topic: false, ..found(&changed) };
        for (before, after) in [
            (known(ARTICLE, false), found(&longer)),
            (known(ARTICLE, false), off_topic),
            (
                Tracked { rewritten: true, ..known(ARTICLE, false) },
                RevisitedPage {
                    on_topic: false,
                    ..found(&"菜谱里说，先把生姜切好，再用小火慢慢炖汤，盐要最后放。".repeat(4))
                },
            ),
            (known(stub, false), found("还是没有")),
            (known(stub, false), found(ARTICLE)),
            (known(&ARTICLE.repeat(2), false), found(ARTICLE)),
            (known(&ARTICLE.repeat(9), true), RevisitedPage { listing: true, on_topic: false, ..found("1. 球讯") }),
            (Tracked { noindex: true, ..known(ARTICLE, false) }, RevisitedPage { noindex: true, ..found(&longer) }),
            (known(ARTICLE, false), RevisitedPage { shared: true, ..found(ARTICLE) }),
        ] {
            assert_eq!(text_loss(&before, after), None);
        }
    }

    #[test]
    fn copies_of_a_notice_are_shared_and_versions_of_near_duplicates_are_not() {
        let notice = |number: &str| {
            sketch(&format!(
                "足球论坛提示：请登录后继续阅读联赛专题的全部内容，登录之后您可以回复球迷的帖子，收藏喜欢的球队，并参加比赛竞猜。\
                             如果您还没有账号，请先注册。请求编号{number}，如有问题请联系管理员。"
            ))
        };
        let recipe = sketch(&"菜谱里说，先把生姜切好，再用小火慢慢炖汤，盐要最后放，葱花撒在上面。".repeat(3));
        let (article, changed) = (sketch(ARTICLE), sketch(&format!("{ARTICLE}更新：录像已经上传。")));
        let replaced = |before, now| Replacement { before, now };
        assert!(replaced(article, notice("a81")).is_shared_by(replaced(recipe, notice("x07"))));
        assert!(!replaced(article, notice("a81")).is_shared_by(replaced(recipe, article)));
        assert!(
            !replaced(article, notice("a81")).is_shared_by(replaced(changed, notice("x07"))),
            "they were near-duplicates"
        );
        assert!(!replaced(article, changed).is_shared_by(replaced(recipe, changed)), "a version of its text");
    }
}
