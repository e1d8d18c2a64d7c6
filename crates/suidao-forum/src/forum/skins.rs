//! Lists and threads in the markup of common forum software, built from the same threads, so that one expectation holds
//! for all. The analysis has no rules for any of them.

use super::{Tree, posts, records};
use suidao_page::model::{CrawlUrl, Day, Millis, PostRecord, ThreadRecord, TimeContext};

const NOW: i64 = 1_243_994_400;

fn clock() -> TimeContext {
    TimeContext::new(Millis(NOW as u64 * 1000), 8 * 3600)
}

fn at(day: &str, hour: i64, minute: i64) -> i64 {
    i64::from(Day::parse(day).unwrap().0) * 86_400 + hour * 3600 + minute * 60 - 8 * 3600
}

struct Thread {
    id: u32,
    title: String,
    author: &'static str,
    replier: &'static str,
    replies: u32,
    views: u32,
    /// Days of May 2009.
    opened: u32,
    last: u32,
}

fn threads() -> Vec<Thread> {
    const NAMES: [&str; 5] = ["张三", "lisi", "Anna", "王五", "bob99"];
    (1..=9)
        .map(|at: u32| Thread {
            id: 100 + at * 7,
            title: format!("第{at}个帖子：关于 topic {at} 的讨论"),
            author: NAMES[at as usize % 5],
            replier: NAMES[(at as usize + 2) % 5],
            replies: 60 / at,
            views: 1000 + at * 37,
            opened: 20 - at,
            last: 30 - at,
        })
        .collect()
}

fn tree(html: &str) -> Tree {
    Tree::parse(html, &CrawlUrl::parse("http://bbs.cn/f/index.html").unwrap())
}

fn each(row: impl Fn(&Thread) -> String) -> String {
    threads().iter().map(row).collect()
}

/// Fields that a skin shows besides titles.
#[derive(Clone, Copy)]
struct Shows {
    author: bool,
    replies: bool,
    views: bool,
    created: bool,
    last: bool,
    sticky: usize,
}

const ALL: Shows = Shows { author: true, replies: true, views: true, created: true, last: true, sticky: 0 };

fn check(name: &str, html: &str, is_thread: &dyn Fn(&CrawlUrl) -> bool, shows: Shows) {
    let found = records(&tree(html), is_thread, clock());
    let want = threads();
    let titles: Vec<_> = found.iter().map(|thread| thread.title.as_str()).collect();
    assert_eq!(titles, want.iter().map(|thread| thread.title.as_str()).collect::<Vec<_>>(), "{name}");
    for (at_row, (own, want)) in found.iter().zip(&want).enumerate() {
        let ThreadRecord { author, replies, views, created, last_reply, sticky, url, .. } = own;
        let on = |show: bool, count: u32| show.then_some(count);
        assert_eq!(author.as_deref(), shows.author.then_some(want.author), "{name}: author of {url:?}");
        assert_eq!(*replies, on(shows.replies, want.replies), "{name}: replies of {url:?}");
        assert_eq!(*views, on(shows.views, want.views), "{name}: views of {url:?}");
        let holds = |moment: Option<suidao_page::model::ApproxTime>, show: bool, day: u32| {
            let truth = at(&format!("2009-05-{day:02}"), 12, 1);
            moment.is_some_and(|moment| moment.at <= truth && truth < moment.at + i64::from(moment.within)) == show
                && moment.is_some() == show
        };
        assert!(holds(*created, shows.created, want.opened), "{name}: {created:?} created of {url:?}");
        assert!(holds(*last_reply, shows.last, want.last), "{name}: {last_reply:?} last reply of {url:?}");
        assert_eq!(*sticky, at_row < shows.sticky, "{name}: sticky of {url:?}");
    }
}

fn has(part: &'static str) -> impl Fn(&CrawlUrl) -> bool {
    move |url| url.as_str().contains(part)
}

#[test]
fn lists_of_a_table_body_for_each_thread() {
    let rows = each(|t| {
        let (kind, mark) = if t.id < 115 { ("stick", "<img src=static/pin_1.gif alt=置顶>") } else { ("normal", "") };
        let pages = if t.replies > 20 {
            format!(
                "<span class=tps>&nbsp;...<a href=thread-{0}-2-1.html>2</a><a href=thread-{0}-3-1.html>3</a></span>",
                t.id
            )
        } else {
            String::new()
        };
        let border = if t.id == 121 {
            "<tbody id=separatorline><tr class=ts><td>&nbsp;</td><th><a href=forum-2-1.html>版块主题</a></th><td></td><td></td><td></td></tr></tbody>"
        } else {
            ""
        };
        format!("{border}<tbody id={kind}thread_{id}><tr><td class=icn><a href=thread-{id}-1-1.html title='有新回复 - 新窗口打开' target=_blank>{mark}</a></td>
            <th class=common><em>[<a href='forum.php?mod=forumdisplay&fid=2&filter=typeid&typeid=1'>求助</a>]</em> <a href=thread-{id}-1-1.html class='s xst'>{title}</a>{pages}</th>
            <td class=by><cite><a href=space-uid-{id}.html c=1>{author}</a></cite><em><span>2009-5-{opened}</span></em></td>
            <td class=num><a href=thread-{id}-1-1.html class=xi2>{replies}</a><em>{views}</em></td>
            <td class=by><cite><a href=space-username-x.html c=1>{replier}</a></cite><em><a href='forum.php?mod=redirect&tid={id}&goto=lastpost#lastpost'>2009-5-{last} 12:01</a></em></td></tr></tbody>",
            id = t.id, title = t.title, author = t.author, opened = t.opened, replies = t.replies, views = t.views, replier = t.replier, last = t.last)
    });
    let html = format!("<div id=hd><a href=space-uid-1.html>我</a></div><div id=threadlist><div class=th><table><tr><th colspan=2><a>全部主题</a> <a>最新</a></th><td class=by>作者</td><td class=num>回复/查看</td><td class=by>最后发表</td></tr></table></div><table>{rows}</table></div>
        <div class=pg><strong>1</strong><a href=forum-2-2.html>2</a></div><div class=side><ul><li><a href=thread-900-1-1.html>热门的旧帖子</a></li><li><a href=thread-901-1-1.html>另一个旧帖子</a></li></ul></div>");
    check("x", &html, &has("/thread-"), Shows { sticky: 2, ..ALL });
}

#[test]
fn lists_of_definition_lists() {
    let rows = each(|t| {
        format!("<li class='row bg{odd}{sticky}'><dl class='row-item topic_read'><dt title='No unread posts'><div class=list-inner><a href='./viewtopic.php?f=2&amp;t={id}' class=topictitle>{title}</a><br />
            <div class=topic-poster><i class=icon></i> by <a href='./memberlist.php?mode=viewprofile&u={id}' class='username{colour}'>{author}</a> &raquo; <time datetime='2009-05-{opened:02}T04:01:00+00:00'>Mon May {opened}, 2009 12:01 pm</time></div>
            <div class=pagination><ul><li><a class=button href='./viewtopic.php?f=2&t={id}&start=10'>2</a></li></ul></div></div></dt>
            <dd class=posts>{replies} <dfn>Replies</dfn></dd><dd class=views>{views} <dfn>Views</dfn></dd>
            <dd class=lastpost><span><dfn>Last post </dfn>by <a href='./memberlist.php?mode=viewprofile&u=9' class=username>{replier}</a> <a href='./viewtopic.php?f=2&p=1#p1' title='Go to last post'><i></i></a><br /><time datetime='2009-05-{last:02}T04:01:00+00:00'>Mon May {last}, 2009 12:01 pm</time></span></dd></dl></li>",
            odd = t.id % 2 + 1, sticky = if t.id < 110 { " sticky" } else { "" }, colour = if t.id % 3 == 0 { "-coloured" } else { "" },
            id = t.id, title = t.title, author = t.author, opened = t.opened, replies = t.replies, views = t.views, replier = t.replier, last = t.last)
    });
    let html = format!(
        "<div class=forumbg><div class=inner><ul class=topiclist><li class=header><dl class=row-item><dt>Topics</dt><dd class=posts>Replies</dd><dd class=views>Views</dd><dd class=lastpost>Last post</dd></dl></li></ul><ul class='topiclist topics'>{rows}</ul></div></div>"
    );
    check(
        "3",
        &html,
        &|url| url.as_str().contains("t=") && !url.as_str().contains("start="),
        Shows { sticky: 1, ..ALL },
    );
}

#[test]
fn lists_of_plain_tables() {
    let rows = each(|t| {
        format!("<tr><td class=row1 align=center width=20><img src=templates/folder.gif width=19 alt='No new posts'></td><td class=row1 width=100%><span class=topictitle><a href='viewtopic.php?t={id}' class=topictitle>{title}</a></span><span class=gensmall><br>[ <img src=x.gif>Goto page: <a href='viewtopic.php?t={id}&start=15'>1</a>, <a href='viewtopic.php?t={id}&start=30'>2</a> ]</span></td>
            <td class=row2 align=center><span class=postdetails>{replies}</span></td><td class=row3 align=center><span class=name><a href='profile.php?mode=viewprofile&u={id}'>{author}</a></span></td><td class=row2><span class=postdetails>{views}</span></td>
            <td class=row3Right nowrap><span class=postdetails>Mon May {last}, 2009 12:01 pm<br><a href='profile.php?mode=viewprofile&u=2'>{replier}</a> <a href='viewtopic.php?p=33#33'><img src=y.gif alt='View latest post'></a></span></td></tr>",
            id = t.id, title = t.title, author = t.author, replies = t.replies, views = t.views, replier = t.replier, last = t.last)
    });
    let html = format!(
        "<table class=forumline><tr><th colspan=2>&nbsp;Topics&nbsp;</th><th>&nbsp;Replies&nbsp;</th><th>&nbsp;Author&nbsp;</th><th>&nbsp;Views&nbsp;</th><th>&nbsp;Last Post&nbsp;</th></tr>{rows}</table>"
    );
    check("2", &html, &has("viewtopic.php?t="), Shows { created: false, ..ALL });
}

#[test]
fn lists_that_name_the_last_reply_first() {
    let rows = each(|t| {
        format!("<tr><td class=alt1><img src=thread.gif></td><td class=alt2><img src=icon1.gif alt=Post></td><td class=alt1 id=td_threadtitle_{id} title='the first words'><div>{sticky}<a href='showthread.php?t={id}' id=thread_title_{id}>{title}</a></div><div class=smallfont><span style='cursor:pointer' onclick=x>{author}</span></div></td>
            <td class=alt2 title='Replies: {replies}, Views: {views}'><div class=smallfont style='text-align:right'>05-{last}-2009 <span class=time>12:01 PM</span><br>by <a href='member.php?find=lastposter&t={id}'>{replier}</a> <a href='showthread.php?p=5#post5'><img src=lastpost.gif alt='Go to last post'></a></div></td>
            <td class=alt1 align=center><a href='misc.php?do=whoposted&t={id}'>{replies}</a></td><td class=alt2 align=center>{views}</td></tr>",
            sticky = if t.id < 110 { "<img src=images/misc/sticky.gif alt='Sticky Thread'> Sticky: " } else { "" },
            id = t.id, title = t.title, author = t.author, replies = t.replies, views = t.views, replier = t.replier, last = t.last)
    });
    let html = format!(
        "<table id=threadslist><thead><tr><td colspan=2></td><td>Thread / Thread Starter</td><td>Last Post</td><td>Replies</td><td>Views</td></tr></thead><tbody>{rows}</tbody></table>"
    );
    check("v", &html, &has("showthread.php?t="), Shows { created: false, sticky: 1, ..ALL });
}

#[test]
fn lists_with_counts_in_words() {
    let rows = each(|t| {
        format!("<tr class=windowbg{odd}><td class='subject windowbg2'><div><strong><span id=msg_{id}><a href='index.php?topic={id}.0'>{title}</a></span></strong><p>Started by <a href='index.php?action=profile;u={id}' title='View the profile of {author}'>{author}</a><small id=pages{id}>&#171; <a class=navPages href='index.php?topic={id}.0'>1</a> <a class=navPages href='index.php?topic={id}.15'>2</a> &#187;</small></p></div></td>
            <td class='stats windowbg'>{replies} Replies<br />{views} Views</td><td class='lastpost windowbg2'><a href='index.php?topic={id}.msg7#new'><img src=last_post.gif alt='Last post'></a> May {last}, 2009, 12:01:00 pm<br />by <a href='index.php?action=profile;u=3'>{replier}</a></td></tr>",
            odd = if t.id % 2 == 0 { "" } else { "2" }, id = t.id, title = t.title, author = t.author, replies = t.replies, views = t.views, replier = t.replier, last = t.last)
    });
    check(
        "s",
        &format!("<table class=table_grid><tbody>{rows}</tbody></table>"),
        &|url| url.as_str().ends_with(".0"),
        Shows { created: false, ..ALL },
    );
}

#[test]
fn lists_of_cells_with_few_labels() {
    let rows = each(|t| {
        format!("<div class='cell item'><table><tr><td width=48><a href=/member/x><img class=avatar src=a.png></a></td><td width=10></td><td><span class=item_title><a href=/t/{id}#reply{replies} class=topic-link>{title}</a></span><div class=sep5></div><span class=small>
            <a class=node href=/go/qna>问与答</a> &nbsp;•&nbsp; <strong><a href=/member/{author}>{author}</a></strong> &nbsp;•&nbsp; <span title='2009-05-{last:02} 12:01:00 +08:00'>{ago} 天前</span> &nbsp;•&nbsp; 最后回复来自 <strong><a href=/member/{replier}>{replier}</a></strong></span></td><td width=70 align=right><a href=/t/{id}#reply{replies} class=count_livid>{replies}</a></td></tr></table></div>",
            ago = 34 - t.last, id = t.id, title = t.title, author = t.author, replies = t.replies, replier = t.replier, last = t.last)
    });
    let side: String =
        (1..12).map(|at| format!("<div class=cell><a href=/t/99{at}>今日热议的主题{at}</a></div>")).collect();
    check(
        "v2",
        &format!("<div id=Main><div class=box>{rows}</div></div><div id=Rightbar><div class=box>{side}</div></div>"),
        &has("/t/"),
        Shows { views: false, created: false, ..ALL },
    );
}

#[test]
fn lists_of_items_with_short_times() {
    let rows = each(|t| {
        format!("<li class='j_thread_list clearfix{top}' data-field='x'><div class=t_con><div class='col2_left'><span class='threadlist_rep_num center_text' title=回复>{replies}</span></div><div class=col2_right><div class=threadlist_lz><div class=threadlist_title><a href=/p/{id} title='{title}' class=j_th_tit>{title}</a></div>
            <div class=threadlist_author><span class=tb_icon_author title='主题作者: {author}'><a class='frs-author-name j_user_card' href='/home/main/?un=x'>{author}</a></span><span class='pull-right is_show_create_time' title=创建时间>5-{opened}</span></div></div>
            <div class=threadlist_detail><div class=threadlist_abs>正文的开头，一共有12个字，看了就知道。</div><div class=threadlist_author><span class=tb_icon_author_rely title='最后回复人: {replier}'><a class='frs-author-name' href='/home/main/?un=y'>{replier}</a></span><span class='threadlist_reply_date pull_right' title=最后回复时间>5-{last}</span></div></div></div></div></li>",
            top = if t.id < 115 { " thread_top" } else { "" }, id = t.id, title = t.title, author = t.author, replies = t.replies, opened = t.opened, replier = t.replier, last = t.last)
    });
    check("t", &format!("<ul id=thread_list>{rows}</ul>"), &has("/p/"), Shows { views: false, sticky: 2, ..ALL });
}

#[test]
fn lists_of_rows_in_bootstrap_columns() {
    let rows = each(|t| {
        format!(
            "<div class='row topic-row'><div class='col-md-8 topic-name'><a href=/topic/{id}-slug>{title}</a><div>由 <a href=/user/{author}>{author}</a> 发表于 2009-05-{opened:02} 12:01</div></div><div class='col-md-1 topic-count'>{replies}</div><div class='col-md-1'>{views}</div><div class='col-md-2'><a href=/topic/{id}-slug?page=2>最后回复</a> <a href=/user/{replier}>{replier}</a>, 2009-05-{last:02} 12:01</div></div>",
            id = t.id,
            title = t.title,
            author = t.author,
            replies = t.replies,
            views = t.views,
            opened = t.opened,
            replier = t.replier,
            last = t.last
        )
    });
    check(
        "b",
        &format!(
            "<div class='panel'><div class='row header'><div>主题</div><div>回帖</div><div>浏览</div><div>最后</div></div>{rows}</div>"
        ),
        &|url| url.as_str().contains("/topic/") && url.query().is_none(),
        ALL,
    );
}

#[test]
fn lists_without_elements_of_their_own() {
    let rows = each(|t| {
        format!(
            "<h3><a href=/msg/{}>{}</a></h3><p class=meta>By {} - {} replies - May {}, 2009</p>",
            t.id, t.title, t.author, t.replies, t.last
        )
    });
    check("m", &format!("<div>{rows}</div>"), &has("/msg/"), Shows { views: false, created: false, ..ALL });
    let rows = each(|t| format!("<li><a href=/d/{}-x>{}</a></li>", t.id, t.title));
    let bare = Shows { author: false, replies: false, views: false, created: false, last: false, sticky: 0 };
    check(
        "f",
        &format!("<noscript id=content><h1>All Discussions</h1><ul>{rows}</ul><a href='/?page=2'>Next</a></noscript>"),
        &has("/d/"),
        bare,
    );
}

#[test]
fn one_thread_makes_a_list() {
    let html = "<table><tr><th>主题</th><th>作者</th><th>回复</th><th>查看</th></tr><tr><td><a href=t-1.html>唯一的一个帖子</a></td><td>张三</td><td>3</td><td>45</td></tr></table>";
    let found = records(&tree(html), &has("/t-"), clock());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].author.as_deref(), found[0].replies, found[0].views), (Some("张三"), Some(3), Some(45)));
}

// Threads.

const TEXTS: [&str; 4] = [
    "大家好，这是我写的第一篇帖子，请多多关照，谢谢各位。",
    "沙发！",
    "I do not agree with the above: the engine is slow, and PHP 5.3 was released on 2009-6-1.",
    "顶一下",
];
const AUTHORS: [&str; 4] = ["张三", "lisi", "Anna", "张三"];

fn thread(post: impl Fn(usize, &str, &str) -> String, count: usize) -> String {
    (0..count).map(|at| post(at + 1, AUTHORS[at], TEXTS[at])).collect()
}

fn check_posts(
    name: &str,
    page: impl Fn(String) -> String,
    post: impl Fn(usize, &str, &str) -> String,
    numbers: bool,
    fragments: bool,
) {
    for count in [4, 2, 1] {
        let found = posts(&tree(&page(thread(&post, count))), clock());
        let texts: Vec<_> = found.iter().map(|post| post.text.as_str()).collect();
        assert_eq!(texts, &TEXTS[..count], "{name} with {count}");
        for (order, PostRecord { author, posted, number, fragment, .. }) in found.iter().enumerate() {
            assert_eq!(author.as_deref(), Some(AUTHORS[order]), "{name}: post {order} of {count}");
            assert_eq!(
                posted.map(|moment| moment.at),
                Some(at(&format!("2009-05-2{}", order + 1), 12, 1)),
                "{name}: post {order} of {count}"
            );
            assert_eq!(number.is_some(), numbers, "{name}: {number:?}");
            assert!(number.is_none_or(|number| number as usize == order + 1), "{name}: {number:?}");
            assert_eq!(fragment.is_some(), fragments, "{name}: {fragment:?}");
        }
    }
}

#[test]
fn threads_of_a_table_for_each_post() {
    let post = |n: usize, who: &str, text: &str| {
        let floor = ["楼主", "沙发", "板凳", "地板"][n - 1];
        format!("<div id=post_{n}77><table id=pid{n}77 class=plhin><tr><td class=pls rowspan=2><div id=favatar{n}77 class='pls favatar'><div class=pi><div class=authi><a href=space-uid-{n}.html class=xw1>{who}</a></div></div><div><p><em><a href=space-uid-{n}.html>新手上路</a></em></p></div><dl class=pil><dt>积分</dt><dd><a href=space-uid-{n}.html>{n}23</a></dd><dt>注册时间</dt><dd>2008-1-{n} 10:00</dd></dl></div></td>
            <td class=plc><div class=pi><strong><a href=redirect.php?pid={n}77 id=postnum{n}77>{floor}</a></strong><div class=pti><div class=authi><em id=authorposton{n}77>发表于 2009-5-2{n} 12:01</em><span class=pipe>|</span><a href=thread-1-1-1.html?authorid={n}>只看该作者</a></div></div></div><div class=pct><div class=pcb><div class=t_fsz><table><tr><td class=t_f id=postmessage_{n}77>{quote}{text}</td></tr></table></div></div></div></td></tr>
            <tr><td class='plc plm'><div class=sign>我的签名，不是正文的一部分，写得很长很长很长很长。</div></td></tr><tr><td class=pls></td><td class=plc><div class=po><a href=reply.php?x={n}>回复</a> <a href=report.php?x={n}>举报</a></div></td></tr></table></div>",
            quote = if n == 2 { "<div class=quote><blockquote>张三 发表于 2009-5-21 12:01<br>大家好，这是我写的第一篇</blockquote></div>" } else { "" })
    };
    check_posts(
        "x",
        |posts| {
            format!(
                "<h1>标题</h1><div id=postlist>{posts}</div><form><textarea></textarea></form><p>您需要登录后才可以回帖</p>"
            )
        },
        post,
        true,
        true,
    );
}

#[test]
fn threads_of_divisions() {
    let post = |n: usize, who: &str, text: &str| {
        format!("<div id=p{n}55 class='post has-profile bg{odd}'><div class=inner><dl class=postprofile id=profile{n}55><dt><div class=avatar-container></div><a href='./memberlist.php?mode=viewprofile&u={n}' class=username>{who}</a></dt><dd class=profile-rank>Site Admin</dd><dd class=profile-posts><strong>Posts:</strong> <a href='./search.php?author_id={n}'>12{n}</a></dd><dd class=profile-joined><strong>Joined:</strong> Sat Jan 0{n}, 2008 10:00 am</dd></dl>
            <div class=postbody><div id=post_content{n}55><h3 class=first><a href='#p{n}55'>Re: a title</a></h3><ul class=post-buttons><li><a href='./posting.php?mode=quote&p={n}55'>Quote</a></li></ul><p class=author><a href='./viewtopic.php?p={n}55#p{n}55'><i></i></a>by <strong><a href='./memberlist.php?mode=viewprofile&u={n}' class=username>{who}</a></strong> &raquo; <time datetime='2009-05-2{n}T04:01:00+00:00'>Mon May 2{n}, 2009 12:01 pm</time></p><div class=content>{text}</div><div id=sig{n}55 class=signature>A long signature that stands below all that I write here.</div></div></div></div></div>",
            odd = n % 2 + 1)
    };
    check_posts(
        "3",
        |posts| {
            format!(
                "<div id=page-body><h2>Title</h2>{posts}</div><div class=stat-block><p>Users browsing this forum: No registered users and 1 guest</p></div>"
            )
        },
        post,
        false,
        true,
    );
}

#[test]
fn threads_in_rows_of_one_table() {
    let post = |n: usize, who: &str, text: &str| {
        format!("<tr><td width=150 align=left valign=top class=row1><span class=name><a name={n}44></a><b>{who}</b></span><br /><span class=postdetails><br />Joined: 0{n} Jan 2008<br />Posts: {n}2<br />Location: China</span></td><td class=row1 width=100%><table width=100%><tr><td width=100%><a href='viewtopic.php?p={n}44#{n}44'><img src=x.gif alt=Post></a><span class=postdetails>Posted: Mon May 2{n}, 2009 12:01 pm<span class=gen>&nbsp;</span>&nbsp; &nbsp;Post subject: </span></td><td><a href='posting.php?mode=quote&p={n}44'><img src=q.gif alt='Reply with quote'></a></td></tr><tr><td colspan=2><hr></td></tr><tr><td colspan=2><span class=postbody>{text}</span><span class=gensmall></span></td></tr></table></td></tr>
            <tr><td class=row1><span class=nav><a href=#top class=nav>Back to top</a></span></td><td class=row1><a href='profile.php?mode=viewprofile&u={n}'><img src=p.gif alt='View user profile'></a></td></tr><tr><td class=spaceRow colspan=2><img src=s.gif></td></tr>")
    };
    check_posts(
        "2",
        |posts| {
            format!(
                "<table class=forumline><tr><th class=thLeft>Author</th><th class=thRight>Message</th></tr>{posts}</table>"
            )
        },
        post,
        false,
        true,
    );
}

#[test]
fn threads_numbered_by_replies() {
    let post = |n: usize, who: &str, text: &str| {
        let on =
            if n == 1 { "<strong> on:</strong>".to_owned() } else { format!("<strong>Reply #{} on:</strong>", n - 1) };
        format!(
            "<div class=windowbg{odd}><div class=post_wrapper><div class=poster><h4><a href='index.php?action=profile;u={n}'>{who}</a></h4><ul id=msg_{n}_extra_info><li class=postgroup>Newbie</li><li class=postcount>Posts: 1{n}</li></ul></div><div class=postarea><div class=flow_hidden><div class=keyinfo><h5 id=subject_{n}><a href='index.php?topic=1.msg{n}#msg{n}'>Re: a title</a></h5><div class=smalltext>&#171; {on} May 2{n}, 2009, 12:01:00 pm &#187;</div></div></div><div class=post><div class=inner id=msg_{n}>{text}</div></div></div><div class=moderatorbar><div class=signature id=msg_{n}_signature>My signature.</div></div></div></div>",
            odd = if n.is_multiple_of(2) { "2" } else { "" }
        )
    };
    let page =
        |posts: String| format!("<div id=forumposts><form>{posts}</form></div><div id=quickreply>Quick Reply</div>");
    for count in [4, 2] {
        let found = posts(&tree(&page(thread(post, count))), clock());
        let stated: Vec<_> = found.iter().map(|post| (post.author.as_deref(), post.text.as_str())).collect();
        assert_eq!(stated, (0..count).map(|at| (Some(AUTHORS[at]), TEXTS[at])).collect::<Vec<_>>());
        assert_eq!(found[1].number, Some(2));
    }
}

#[test]
fn threads_of_replies_with_short_times() {
    let post = |n: usize, who: &str, text: &str| {
        format!(
            "<div id=r_{n}66 class=cell><table><tr><td width=48><img class=avatar src=a.png></td><td width=auto><div class=fr><span class=no>{n}</span></div><strong><a href=/member/{who} class=dark>{who}</a></strong> &nbsp; <span class=ago title='2009-05-2{n} 12:01:00 +08:00'>{ago} 天前</span><div class=sep5></div><div class=reply_content>{text}</div></td></tr></table></div>",
            ago = 13 - n
        )
    };
    let found = posts(
        &tree(&format!(
            "<div id=Main><div class=box>{}</div></div><div id=Rightbar><a href=/member/x>我</a></div>",
            thread(post, 4)
        )),
        clock(),
    );
    let stated: Vec<_> = found.iter().map(|post| (post.author.as_deref(), post.text.as_str(), post.number)).collect();
    assert_eq!(stated, (0..4).map(|at| (Some(AUTHORS[at]), TEXTS[at], Some(at as u32 + 1))).collect::<Vec<_>>());
}

#[test]
fn threads_that_set_posts_as_quotations() {
    let post = |n: usize, who: &str, text: &str| {
        format!(
            "<li class='postbitlegacy postbitim postcontainer old' id=post_{n}33><div class=posthead><span class='postdate old'><span class=date>05-2{n}-2009,&nbsp;<span class=time>12:01 PM</span></span></span><span class=nodecontrols><a name=post{n}33 href='showthread.php?p={n}33#post{n}33' class=postcounter>#{n}</a></span></div><div class=postdetails><div class=userinfo><div class=username_container><a class='username offline' href='member.php?u={n}'><strong>{who}</strong></a></div><span class=usertitle>Junior Member</span><dl class=userinfo_extra><dt>Join Date</dt><dd>Jan 2008</dd><dt>Posts</dt><dd>1{n}</dd></dl></div><div class=postbody><div class=postrow><div class=content><div id=post_message_{n}33><blockquote class='postcontent restore'>{text}</blockquote></div></div></div></div></div><div class=postfoot><div class=textcontrols><a href=r?p={n}>Reply With Quote</a></div></div></li>"
        )
    };
    check_posts("v", |posts| format!("<div id=postlist><ol id=posts>{posts}</ol></div>"), post, true, true);
}

#[test]
fn threads_of_short_posts_beside_details_of_members() {
    let post = |n: usize, who: &str, text: &str| {
        format!(
            "<li class=message id=post-{n}><div class=messageUserBlock><h3 class=userText><a class=username href=members/{who}.{n}/>{who}</a> <em class=userTitle>A member of long standing, and a friend of bread</em></h3><dl><dt>Joined:</dt><dd>Sep 2{n}, 2004</dd></dl><dl><dt>Messages:</dt><dd>1,31{n}</dd></dl><dl><dt>Location:</dt><dd>The long bridge over the river</dd></dl></div><div class='messageInfo mainContent'><div class=messageContent><blockquote class='messageText ugc'>{text}</blockquote></div><div class=messageMeta><span class=authorEnd><a class='username author' href=members/{who}.{n}/>{who}</a>,</span> <a href='#post-{n}' class=datePermalink>May 2{n}, 2009</a></div></div></li>"
        )
    };
    let page = |count: usize| {
        let texts = ["Yes.", "No, not at all.", "Why?", "So it is."];
        (1..=count).map(|n| post(n, AUTHORS[n - 1], texts[n - 1])).collect::<String>()
    };
    for count in [2, 4] {
        let found = posts(&tree(&format!("<h1>Title</h1><ol>{}</ol>", page(count))), clock());
        let stated: Vec<_> = found.iter().map(|post| (post.author.as_deref(), post.text.as_str())).collect();
        let texts = ["Yes.", "No, not at all.", "Why?", "So it is."];
        assert_eq!(stated, (0..count).map(|at| (Some(AUTHORS[at]), texts[at])).collect::<Vec<_>>());
        assert!(found.iter().all(|post| post.posted.is_some_and(|time| time.within == 86_400)), "{found:?}");
    }
}

#[test]
fn threads_of_articles() {
    let post = |n: usize, who: &str, text: &str| {
        format!(
            "<article class=post id=comment-{n}><header><a class=author href=/user/{who}>{who}</a> <time datetime='2009-05-2{n}T04:01:00Z'>May 2{n}</time> <a href=#comment-{n}>#{n}</a></header><section><p>{text}</p></section><footer><a href=/reply/{n}>Reply</a> <a href=/report/{n}>Report</a></footer></article>"
        )
    };
    check_posts(
        "a",
        |posts| {
            format!(
                "<main><h1>Title</h1>{posts}</main><aside><h2>Similar threads</h2><ul><li><a href=/t/5>Some other thread</a> 2009-04-01</li><li><a href=/t/6>Another thread</a> 2009-04-02</li></ul></aside>"
            )
        },
        post,
        true,
        true,
    );
}
