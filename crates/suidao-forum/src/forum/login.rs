//! Detects pages that ask for a login or refuse access.

use super::region::{self, PageStats};
use super::tree::Tree;
use suidao_page::model::TimeContext;

/// Phrases of such notices, in lower case.
const NOTICES: &str = "需要登录|需要登陆|需要先登录|请先登录|请登录|请先登陆|登录后才|登录后方|登入後|請先登入|需要登入|没有权限|沒有權限|无权访问|\
                       无权查看|无权进行|没有登录|尚未登录|抱歉，您|ログインしてください|ログインが必要|ログインする必要|権限がありません|\
                       must be logged in|need to be logged in|must log in|please log in|please login|need to login|need to log in|\
                       not logged in|not authorised|not authorized|login required|not permitted|no permission|\
                       do not have permission|don't have permission|requires you to be registered|members only|\
                       must be registered|sign in to continue";
/// Words of notices that restrict replying, not reading.
const REPLIES: &str = "回帖|回复|回覆|发帖|发表|發表|发言|评论|附件|下载|图片|点赞|reply|post a|posting|comment|返信|投稿|attachment|download|image";
/// Titles of pages with a login form.
const TITLES: &str = "登录|登陆|登入|log in|login|sign in|ログイン|提示信息|提示消息|information|permission|权限";

/// Maximum number of characters outside links of a notice.
const NOTICE: u32 = 1_200;
/// Maximum number of characters of a line with such a phrase.
const LINE: usize = 200;

/// Whether the main purpose of a page is to ask for a login or to refuse access.
pub fn asks_login(tree: &Tree) -> bool {
    // Only the presence of times matters, so any later clock will do.
    let clock = TimeContext { now: suidao_page::model::Millis(4_000_000_000_000), offset: 0 };
    let has = |words: &str, text: &str| words.split('|').any(|word| text.contains(word));
    let password = (0..tree.len()).any(|node| {
        let kind = tree.attribute(node, "type").filter(|_| tree.name(node) == "input" && !tree.is_hidden(node));
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("password"))
    });
    let stated = tree.paragraphs(0, &|_| false).iter().any(|line| {
        if line.text.chars().nth(LINE).is_some() {
            return false;
        }
        let lower = line.text.to_lowercase();
        has(NOTICES, &lower) && !has(REPLIES, &lower)
    });
    if !password && !stated {
        return false;
    }
    let stats = PageStats::of(tree, clock);
    if stats.plain_of_page() > NOTICE {
        return false;
    }
    let shows_posts = region::posts(tree, &stats, clock).iter().any(|roots| {
        let any = |has: &dyn Fn(usize) -> bool| roots.iter().any(|&root| has(root));
        any(&|root| stats.has_time(tree, root)) && any(&|root| stats.has_person(tree, root))
    });
    let links = (0..tree.len()).filter(|&node| tree.link(node).is_some()).count();
    let title = has(TITLES, &tree.title().to_lowercase());
    !shows_posts && (stated && links < 120 || title && links < 60 || links < 12 && stats.plain_of_page() < 300)
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::CrawlUrl;

    fn asks(html: &str) -> bool {
        super::asks_login(&Tree::parse(html, &CrawlUrl::parse("http://a.cn/").unwrap()))
    }

    const BOX: &str =
        "<div id=um><form><input name=username><input type=password name=password><button>登录</button></form>
        <a href=register.php>注册</a></div>";

    #[test]
    fn notices_ask_for_a_login() {
        assert!(asks(
            "<title>提示信息</title><div id=nv><a href=/>首页</a></div><p>抱歉，您需要登录后才能查看本版块</p>"
        ));
        assert!(asks(&format!("<title>登录</title><a href=/>论坛</a>{BOX}")));
        assert!(asks(
            "<title>Forum - Login</title><p>The board administrator requires you to be registered and logged in to view this forum.</p><form><input name=u><input type=password></form>"
        ));
        assert!(asks("<title>x</title><p>You are not authorised to read this forum.</p>"));
        assert!(asks("<p>この掲示板を見るにはログインが必要です。</p>"));
    }

    #[test]
    fn lists_and_threads_with_a_box_do_not() {
        let rows: String = (1..20)
            .map(|at| format!("<tr><td><a href=t-{at}.html>第{at}个帖子的标题</a><td><a href=space-uid-{at}.html>用户{at}</a><td>2009-5-{at} 12:01</tr>"))
            .collect();
        assert!(!asks(&format!("<title>版块</title>{BOX}<table>{rows}</table><p>您需要登录后才可以发帖</p>")));
        let post = "<div id=post_1><a href=space-uid-1.html>张三</a> 发表于 2009-5-25 12:01<div class=t_f>短短一句。</div></div>";
        assert!(!asks(&format!("<title>帖子</title>{BOX}{post}<p>您需要登录后才可以回帖 登录 | 注册</p>")));
        let boards: String = (1..30).map(|at| format!("<p><a href=forum-{at}-1.html>第{at}版块</a></p>")).collect();
        assert!(!asks(&format!("<title>论坛</title>{BOX}{boards}")));
        assert!(!asks("<p>一页普通的文字。</p>"));
    }
}
