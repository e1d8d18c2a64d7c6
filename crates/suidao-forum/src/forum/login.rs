//! Detects pages that ask for a login or refuse access.

use super::links::columns;
use super::region::{self, PageStats};
use super::tree::{NodeId, Paragraph, Tree};
use suidao_page::model::{PostRecord, TimeContext};

/// Phrases of such notices, in lower case.
const NOTICES: &str = "需要登录|需要登陆|需要先登录|请先登录|请登录|请先登陆|登录后才|登录后方|登入後|請先登入|需要登入|没有权限|沒有權限|无权访问|\
                       无权查看|无权进行|没有登录|尚未登录|抱歉，您|ログインしてください|ログインが必要|ログインする必要|権限がありません|\
                       must be logged in|need to be logged in|must log in|please log in|please login|need to login|need to log in|\
                       not logged in|not authorised|not authorized|login required|not permitted|no permission|\
                       do not have permission|don't have permission|requires you to be registered|members only|\
                       must be registered|sign in to continue|sign in to view|log in to view|login to view|log in to continue|\
                       please sign in|must sign in|must be signed in|need to sign in|visible to registered|\
                       registered users only|registered members only|only registered users|only registered members|\
                       会员可见|仅限会员|注册会员才能|登录可见|登录后可见|登录后查看|登錄後|會員可見|您无权|您無權|\
                       angemeldet sein|müssen sich anmelden|musst dich anmelden|melden sie sich an|melde dich an|\
                       anmelden, um|einloggen, um|keine berechtigung|nicht berechtigt|nur für registrierte|\
                       nur für mitglieder|devez être connecté|devez vous connecter|veuillez vous connecter|\
                       connectez-vous pour|réservé aux membres|réservée aux membres|pas la permission|pas autorisé|\
                       необходимо войти|необходимо авторизоваться|войдите, чтобы|пожалуйста, войдите|авторизуйтесь|\
                       только для зарегистрированных|только зарегистрированны|недостаточно прав|нет прав|\
                       로그인이 필요|로그인 후|로그인해 주|로그인하세요|로그인하셔야|권한이 없|회원만|회원 전용|\
                       iniciar sesión para|inicia sesión para|debes iniciar sesión|debe iniciar sesión|no tienes permiso|\
                       no tiene permiso|faça login|fazer login|effettuare l'accesso|musisz być zalogowany|zaloguj się, aby|\
                       moet ingelogd zijn|moet inloggen";
/// Words of notices that restrict replying, not reading.
const REPLIES: &str = "回帖|回复|回覆|发帖|发表|發表|发言|评论|附件|下载|图片|点赞|reply|post a|posting|comment|返信|投稿|attachment|download|image|\
                       antwort|kommentar|répondre|commenter|réponse|ответ|комментар|вложени|답글|댓글|글쓰기|responder|responda|\
                       rispondere|odpowied|reageren";
/// Titles of pages with a login form.
const TITLES: &str = "登录|登陆|登入|log in|login|sign in|ログイン|提示信息|提示消息|information|permission|权限|anmelden|\
                      connexion|вход|로그인";

/// Names of elements of the site's frame, where each page may offer a login.
const FRAME: &str = "header|nav|navbar|navigation|top|topbar|toolbar|userbar|usernav|menu|foot|footer|bottom|copyright|\
                     aside|sidebar|widget|breadcrumb";

/// Maximum number of characters outside links of a page with a notice.
const NOTICE: u32 = 1_200;
/// Maximum number of characters in other sentences, if there is no form to log in: a page with more has a text.
const OTHERS: usize = 300;
/// Characters of a short line, such as a label or a heading.
const LABEL: usize = 40;
/// Maximum number of characters of a line with such a phrase.
const LINE: usize = 200;
/// Columns that a title may have besides a word for a login.
const TITLE: usize = 8;

/// Whether the main purpose of a page is to ask for a login or to refuse access. `posts`: those recognised on it; what
/// is said in a post is no notice.
pub fn asks_login(tree: &Tree, posts: &[PostRecord]) -> bool {
    if shows_posts(posts) || !posts.is_empty() && has_number(tree) {
        return false;
    }
    let password = (0..tree.len()).any(|node| {
        let kind = tree.attribute(node, "type").filter(|_| tree.name(node) == "input" && !tree.is_hidden(node));
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("password"))
    });
    let others = text_besides_notice(tree);
    let stated = others.is_some();
    if !password && !stated {
        return false;
    }
    // Only the presence of times matters, so any later clock will do.
    let clock = TimeContext::new(suidao_page::model::Millis(4_000_000_000_000), 0);
    let stats = PageStats::of(tree, clock);
    if stats.plain_of_page() > NOTICE || !password && others.is_some_and(|others| others > OTHERS) {
        return false;
    }
    let shows_regions = region::posts(tree, &stats, clock).iter().any(|roots| {
        let any = |has: &dyn Fn(usize) -> bool| roots.iter().any(|&root| has(root));
        any(&|root| stats.has_time(tree, root)) && any(&|root| stats.has_person(tree, root))
    });
    let links = (0..tree.len()).filter(|&node| tree.link(node).is_some()).count();
    let title = is_of_login(tree.title());
    !shows_regions && (stated && links < 120 || title && links < 60 || links < 12 && stats.plain_of_page() < 300)
}

/// Whether posts are posts of a thread: a single one needs more evidence, since a notice may look like one.
fn shows_posts(posts: &[PostRecord]) -> bool {
    let evidence = |post: &&PostRecord| {
        let facts = [post.author.is_some(), post.posted.is_some(), post.number.is_some() || post.fragment.is_some()];
        if post.text.is_empty() { 0 } else { facts.into_iter().filter(|fact| *fact).count() }
    };
    posts.iter().any(|post| evidence(&post) >= 2) || posts.iter().filter(|post| evidence(post) >= 1).count() >= 2
}

/// Whether an element outside the frame has the number of a post.
fn has_number(tree: &Tree) -> bool {
    let mut end = 0;
    (0..tree.len()).any(|node| {
        if node >= end && is_frame(tree, node) {
            end = tree.subtree(node).end;
        }
        node >= end && tree.is_element(node) && region::is_numbered(tree, node)
    })
}

/// The number of characters in the sentences besides a notice; none if there is no notice.
fn text_besides_notice(tree: &Tree) -> Option<usize> {
    let (mut stated, mut others) = (false, 0);
    for line in tree.paragraphs(0, &|node| is_frame(tree, node)) {
        if is_notice(tree, &line) {
            stated = true;
            continue;
        }
        let ends = line.pieces.iter().skip(1).map(|(start, _)| *start).chain([line.text.len()]);
        let plain = line.pieces.iter().zip(ends).filter(|((_, node), _)| link_around(tree, *node).is_none());
        let plain: usize = plain.map(|((start, _), end)| line.text[*start..end].chars().count()).sum();
        others += if plain > LABEL { plain } else { 0 };
    }
    stated.then_some(others)
}

/// Whether a line says that one must log in. A link with such words is an offer, on every page.
fn is_notice(tree: &Tree, line: &Paragraph) -> bool {
    if line.text.chars().nth(LINE).is_some() {
        return false;
    }
    let lower = line.text.to_lowercase();
    let within_link = || {
        let mut links = line.pieces.iter().map(|(_, node)| link_around(tree, *node));
        links.all(|link| link.is_some())
    };
    has(NOTICES, &lower) && !has(REPLIES, &lower) && !within_link()
}

fn link_around(tree: &Tree, node: NodeId) -> Option<NodeId> {
    tree.ancestors(node).find(|&up| tree.link(up).is_some())
}

fn is_frame(tree: &Tree, node: NodeId) -> bool {
    let is = |word: &str| FRAME.split('|').any(|known| known == word);
    tree.is_element(node) && (is(tree.name(node)) || tree.words(node).any(is))
}

/// Whether a part of a title is little more than a word for a login.
fn is_of_login(title: &str) -> bool {
    let title = title.to_lowercase();
    title.split(['-', '–', '—', '|', '•', '·', '_', ':', '«', '»']).any(|part| {
        let part = part.trim();
        TITLES.split('|').any(|word| part.contains(word) && columns(part) <= columns(word) + TITLE)
    })
}

fn has(words: &str, text: &str) -> bool {
    words.split('|').any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::CrawlUrl;

    fn asks(html: &str) -> bool {
        let tree = Tree::parse(html, &CrawlUrl::parse("http://a.cn/t/1").unwrap());
        let clock = TimeContext::new(suidao_page::model::Millis(1_900_000_000_000), 0);
        super::asks_login(&tree, &crate::forum::posts(&tree, clock))
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
        for notice in [
            "This topic is only visible to registered users.",
            "Sign in to view this topic.",
            "本帖仅对会员可见",
            "该内容登录后可见。",
            "Du musst angemeldet sein, um dieses Thema zu lesen.",
            "Dieses Forum ist nur für registrierte Benutzer.",
            "Vous devez être connecté pour voir ce sujet.",
            "Эта тема доступна только зарегистрированным пользователям.",
            "Для просмотра темы необходимо войти на форум.",
            "이 글을 보려면 로그인이 필요합니다.",
            "글을 읽을 권한이 없습니다.",
            "Debes iniciar sesión para ver este tema.",
        ] {
            assert!(asks(&format!("<title>Forum</title><div class=notice>{notice}</div>")), "{notice}");
        }
        for notice in [
            "Vous devez être connecté pour répondre.",
            "Du musst angemeldet sein, um zu antworten.",
            "댓글을 쓰려면 로그인이 필요합니다.",
        ] {
            assert!(!asks(&format!("<title>Forum</title><div class=notice>{notice}</div>")), "{notice}");
        }
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

    /// Words of notices, as people write them.
    const SPOKEN: [&str; 16] = [
        "You are not permitted to bring dogs into this park.",
        "Sorry, but advertising is not permitted here.",
        "The page says that I must be logged in, what now?",
        "Please log in to the server with ssh first, then restart it.",
        "Members only, said the sign at the door of the club.",
        "I do not have permission to open this file under Linux.",
        "网页总是提示请先登录，怎么办？",
        "我没有权限访问这个目录，请问怎么解决？",
        "进入后台需要登录，然后点设置。",
        "管理画面を開くにはログインしてくださいと出ます。",
        "Access denied: login required. Does anybody know why?",
        "This button is only visible to registered users, I think.",
        "Man muss angemeldet sein, um das Bild zu sehen?",
        "На сайте написано, что необходимо войти.",
        "仅对会员可见的帖子怎么设置？",
        "<blockquote>You need to log in.</blockquote> No, I need not.",
    ];

    /// Threads with times that cannot be read, or none, in several templates.
    fn threads(text: &str) -> Vec<String> {
        let times = ["Nebenmond 3, im Jahr 12", "", "2020-04-13 10:17"];
        let templates: [fn(usize, &str, &str) -> String; 5] = [
            |n, time, text| {
                format!(
                    "<article class=message id=post-{n}><h4><a class=username href=/members/u{n}/>Anna{n}</a></h4><div class=date>{time}</div><div class=message-body>{text}</div></article>"
                )
            },
            |n, time, text| {
                format!(
                    "<div class=post id=p{n}><div class=info>by <a href=/user/{n}>Anna{n}</a> {time}</div><div class=text>{text}</div></div>"
                )
            },
            |n, time, text| {
                format!(
                    "<table id=pid{n}><tr><td><a href=space-uid-{n}.html>Anna{n}</a></td><td>{time}<div class=t_f>{text}</div></td></tr></table>"
                )
            },
            |n, time, text| format!("<li id=comment-{n}><b class=author>Anna{n}</b> <i>{time}</i><p>{text}</p></li>"),
            |n, time, text| {
                format!(
                    "<tr><td class=name><a name={n}></a><b>Anna{n}</b><td>{time}<span class=postbody>{text}</span></tr>"
                )
            },
        ];
        let mut pages = Vec::new();
        for template in templates {
            for time in times {
                for count in 1..4_usize {
                    let post = |n: usize| template(n + 100, time, if n == 0 { text } else { "So it is, I think." });
                    let posts: String = (0..count).map(post).collect();
                    let posts = if posts.starts_with("<tr>") { format!("<table>{posts}</table>") } else { posts };
                    pages.push(posts);
                }
            }
        }
        pages
    }

    #[test]
    fn what_a_post_says_is_no_notice() {
        let mut wrong = Vec::new();
        for text in SPOKEN {
            for posts in threads(text) {
                for (name, head, title) in [
                    ("plain", "<p><a href=/>Home</a>", "Bread"),
                    ("box", BOX, "Bread"),
                    ("titled", BOX, "I must be logged in: login problem"),
                    ("greeting", "<div class=header>您好，<a href=/login>请登录</a></div>", "登录问题求助 - 论坛"),
                ] {
                    let page = format!(
                        "<title>{title}</title>{head}<h1>{title}</h1>{posts}<p>You must be logged in to reply."
                    );
                    if asks(&page) {
                        wrong.push(format!("{name}: {posts}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    }

    #[test]
    fn declared_posts_are_posts() {
        let page = "<title>Login</title><p>You must be logged in.</p><div id=app></div><script type='application/ld+json'>\
                    {\"@type\":\"DiscussionForumPosting\",\"author\":{\"name\":\"ann\"},\"text\":\"A post.\",\
                    \"datePublished\":\"2009-05-25\"}</script>";
        assert!(!asks(page));
    }

    #[test]
    fn a_greeting_is_no_notice() {
        let boards: String = (1..9).map(|at| format!("<p><a href=forum-{at}-1.html>第{at}版块</a></p>")).collect();
        assert!(!asks(&format!("<title>论坛</title><div>您好！ </div><p><a href=/login>请登录</a></p>{boards}")));
        assert!(!asks(&format!("<title>论坛</title><div class=topbar>欢迎，请登录或注册</div>{boards}")));
        let text = "The oven was too hot and the bread too dry, so I tried it again. ".repeat(8);
        assert!(!asks(&format!("<p>Dogs are not permitted here.<p>{text}")));
    }

    /// Walls of usual software.
    #[test]
    fn walls_are_walls() {
        let form = "<form action=/login method=post><dl><dt><label>Username:</label><dd><input name=username><dt><label>Password:</label><dd><input type=password name=password></dl><input type=submit value=Login></form>";
        let links = |count: usize| {
            (0..count).map(|at| format!("<li><a href=/board/{at}>Board number {at}</a></li>")).collect::<String>()
        };
        for wall in [
            "<div class=panel id=message><div class=inner><h2 class=message-title>Information</h2><p>You are not authorised to read this forum.</p></div></div>".to_owned(),
            format!("<div class=panel><div class=content><h2 class=login-title>Login</h2><p>The board requires you to be registered and logged in to view this forum.</p>{form}</div></div><div class=panel><p>In order to login you must be registered. Registering takes only a few moments but gives you increased capabilities. The board administrator may also grant additional permissions to registered users. Before you register please ensure you are familiar with our terms of use and related policies.</p></div>"),
            format!("<table class=tborder><tr><td>vBulletin Message<tr><td><div class=panel>You are not logged in or you do not have permission to access this page. This could be due to one of several reasons:<ol><li>You are not logged in. Fill in the form at the bottom of this page and try again.<li>You may not have sufficient privileges to access this page. Are you trying to edit someone else's post, access administrative features or some other privileged system?<li>If you are trying to post, the administrator may have disabled your account, or it may be awaiting activation.</ol>{form}</div></table>"),
            "<div class=p-body-pageContent><div class=blockMessage>You must be logged-in to do that.</div><div class=blockMessage>You must log in or register to view this thread.</div></div>".to_owned(),
            "<div class=bm><div id=messagetext class=alert_info><p>抱歉，您需要登录后才能查看本版块的内容</p></div></div>".to_owned(),
            "<div class=alert_error>没有权限访问该版块<p><a href=javascript:history.back()>[ 点击这里返回上一页 ]</a></div>".to_owned(),
            "<main><h1>Sorry, you do not have permission for that!</h1><p>Error code: 2F176/1</p></main>".to_owned(),
            "<section><p>この掲示板を見るにはログインが必要です。</p></section>".to_owned(),
            format!("<p>Please <a href=/login>log in</a> to continue. This forum is for members only.</p><ul>{}</ul>", links(30)),
            format!("<div class=post><p>You must be logged in to view this page.</p></div><aside><a href=/user/5>Our newest member</a></aside>{form}"),
        ] {
            for frame in ["", "<header><a href=/>Home</a> <a href=/members>Members</a></header>", BOX] {
                let page = format!("<title>A forum</title>{frame}{wall}<footer>Powered by bread</footer>");
                assert!(asks(&page), "{page}");
            }
        }
    }
}
