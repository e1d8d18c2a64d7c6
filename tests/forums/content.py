"""The content of a test forum: boards, users and threads in Chinese, drawn from a seed.

All forum software gets the same content, so that only the software differs. Replies per thread have a heavy tail
(Pareto), the gaps between them are log-normal, users are drawn with Zipf shares. Times end now, because the software
shows them relative to now.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

DAYS = 30
MOST_REPLIES = 60

# Category, board, description, words that its titles are about, whether only those who have logged in may read it.
BOARDS = [
    ("体育天地", "足球论坛", "国内外联赛、国家队与业余球队", ["足球", "联赛", "门将", "前锋", "点球", "后卫线"], False),
    ("体育天地", "篮球场边", "比赛、技术与装备", ["篮球", "三分", "后卫", "球鞋", "季后赛", "扣篮"], False),
    ("体育天地", "跑步与健身", "训练计划与伤病恢复", ["马拉松", "跑步", "健身房", "体能训练", "膝盖", "配速"], False),
    ("体育天地", "乒乓羽毛球", "约球和器材", ["乒乓球", "羽毛球", "球拍", "发球", "双打", "胶皮"], False),
    ("生活杂谈", "美食厨房", "家常菜与探店", ["红烧肉", "面馆", "烘焙", "早点摊", "火锅", "豆腐"], False),
    ("生活杂谈", "旅行见闻", "路线、照片与游记", ["古镇", "高铁", "民宿", "雪山", "海岛", "自驾"], False),
    ("生活杂谈", "数码电脑", "手机、电脑与软件", ["笔记本", "手机电池", "显示器", "键盘", "路由器", "内存"], False),
    ("生活杂谈", "会员之家", "注册会员内部交流", ["聚会", "积分", "版主申请", "会员名单", "内部活动", "公告"], True),
]

# How many of the threads a board gets: some are busy, some are not.
SHARES = [0.24, 0.17, 0.12, 0.07, 0.14, 0.11, 0.10, 0.05]

TITLES = [
    "关于{0}的一点看法",
    "求教：{0}和{1}应该怎么选才合适",
    "{0}到底值不值得花时间研究",
    "昨天的{0}大家都看了没有",
    "新人报到，顺便请教一下{0}的问题",
    "分享一个关于{0}的小经验，欢迎补充",
    "{1}与{0}之间是不是真的有关系",
    "有没有人懂{0}？在线等，挺急的",
    "本周{0}活动报名开始了，名额有限",
    "为什么我总觉得{0}不如从前",
    "{0}入门指南（第{n}期）",
    "转帖：十年来{0}的变化",
    "周末一起聊聊{0}吧",
    "第{n}次讨论：{0}以后会怎样发展",
    "吐槽一下最近遇到的{0}，真的让人无语",
]

SENTENCES = [
    "楼主说的{0}我也遇到过，情况差不多。",
    "我觉得{0}这件事要分开看，不能一概而论。",
    "上个月我专门试过{1}，效果比想象中好一些。",
    "如果预算不多，先从{0}开始就可以。",
    "别听他们乱说，{1}没有那么复杂。",
    "支持楼主，{0}这个话题早就该有人讲了。",
    "请问{0}具体是在什么地方，怎么过去比较方便？",
    "我们那边的{1}已经坚持了三年，人越来越多。",
    "数据上看，{0}比去年同期提高了百分之十五左右。",
    "图片稍后补上，先占个位置。",
    "不同意上面的意见，{1}的关键在于坚持。",
    "谢谢分享，收藏了，回头慢慢看。",
    "教练说{0}最重要的是基本动作，不要着急。",
    "等周末有空了再来汇报{1}的进展。",
]

SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨"
NAMES = ["小明", "大伟", "晓燕", "建国", "子涵", "老猫", "山人", "一鸣"]


@dataclass
class Post:
    author: int
    at: datetime
    text: str


@dataclass
class Thread:
    board: int
    title: str
    sticky: bool
    locked: bool
    views: int
    posts: list[Post] = field(default_factory=list)


@dataclass
class Board:
    category: str
    name: str
    description: str
    words: list[str]
    members_only: bool


class Content:
    """Boards, users' names and threads (each in the order of its posts, all times before `now`, which is in UTC)."""

    def __init__(self, seed: int, threads: int, now: datetime):
        self._draw = random.Random(seed)
        self._titles: set[str] = set()
        self.boards = [Board(*board) for board in BOARDS]
        self.users = [f"{surname}{NAMES[(3 * i + j) % len(NAMES)]}" for i, surname in enumerate(SURNAMES) for j in range(3)]
        self._shares = [1 / (rank + 2) for rank in range(len(self.users))]
        counts = [max(2, round(threads * share)) for share in SHARES]
        self.threads = [self._thread(board, nth, now) for board, count in enumerate(counts) for nth in range(count)]
        self.threads.sort(key=lambda thread: thread.posts[0].at)

    def _words(self, board: int) -> list[str]:
        return self._draw.sample(self.boards[board].words, 2)

    def author(self) -> int:
        return self._draw.choices(range(len(self.users)), self._shares)[0]

    def title(self, board: int) -> str:
        """8 to 30 characters, each title once."""
        while True:
            title = self._draw.choice(TITLES).format(*self._words(board), n=self._draw.randint(1, 99))
            if 8 <= len(title) <= 30 and title not in self._titles:
                self._titles.add(title)
                return title

    def text(self, board: int) -> str:
        """One to three paragraphs of one to four sentences."""
        def sentence() -> str:
            return self._draw.choice(SENTENCES).format(*self._words(board))

        paragraphs = range(self._draw.choices([1, 2, 3], [6, 3, 1])[0])
        return "\n\n".join("".join(sentence() for _ in range(self._draw.randint(1, 4))) for _ in paragraphs)

    def _thread(self, board: int, nth: int, now: datetime) -> Thread:
        sticky = nth < 2 and board % 2 == 0
        begun = now - timedelta(days=self._draw.uniform(0.05, DAYS))
        if sticky:
            begun = now - timedelta(days=self._draw.uniform(0.8 * DAYS, DAYS))
        replies = min(MOST_REPLIES, int(self._draw.paretovariate(0.9)))
        at = [begun]
        for _ in range(replies):
            at.append(at[-1] + timedelta(seconds=self._draw.lognormvariate(8.5, 1.6)))
        # The times of a thread that would reach into the future are compressed, so that its last reply is before now.
        room = (now - begun) * self._draw.uniform(0.5, 0.99)
        squeeze = min(1.0, room / (at[-1] - begun)) if replies else 1.0
        at = [(begun + (moment - begun) * squeeze).replace(microsecond=0) for moment in at]
        posts = [Post(self.author(), moment, self.text(board)) for moment in at]
        views = len(posts) * self._draw.randint(3, 40)
        return Thread(board, self.title(board), sticky, self._draw.random() < 0.04, views, posts)

    def posts_in_time(self) -> list[tuple[datetime, int, int]]:
        """(Time, thread, position in the thread) of every post, oldest first: ids are assigned in this order."""
        posts = [(post.at, i, j) for i, thread in enumerate(self.threads) for j, post in enumerate(thread.posts)]
        return sorted(posts)


class Activity:
    """Later content, drawn with another seed, so that every call of `--add` adds different content."""

    def __init__(self, seed: int, now: datetime):
        self.content = Content(seed, 0, now)
        self.draw = random.Random(seed)

    def board(self) -> int:
        return self.draw.choices(range(len(SHARES)), SHARES)[0]
