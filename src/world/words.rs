//! The words the world is written in: the topic (sports, in six themes), what lies near it, and what does not. All
//! words are in jieba's dictionary or segment into words that are; all are in GBK.

/// What one topic's sentences are made of.
pub(super) struct Topic {
    /// Directory names in URLs.
    pub dirs: &'static [&'static str],
    /// Things.
    pub nouns: &'static [&'static str],
    /// What is done to them.
    pub verbs: &'static [&'static str],
    /// Who does it.
    pub names: &'static [&'static str],
}

/// The first so many of [`TOPICS`] are themes of the topic sports; the rest is off topic.
pub(super) const THEMES: usize = 6;

/// Words of the topic as a whole, mixed into every theme.
pub(super) const SPORTS: Topic = Topic {
    dirs: &["sports", "sport", "tiyu"],
    nouns: &[
        "体育",
        "比赛",
        "球队",
        "球员",
        "主教练",
        "冠军",
        "联赛",
        "赛季",
        "决赛",
        "球迷",
        "运动员",
        "裁判",
        "奖牌",
        "赛场",
        "锦标赛",
        "主场",
        "客场",
        "积分榜",
        "体育馆",
        "国家队",
    ],
    verbs: &["夺冠", "参赛", "备战", "晋级", "战胜", "击败", "淘汰", "领先", "逆转", "训练"],
    names: &["教练组", "国家队", "李海涛", "王建国", "张志强", "陈晓峰", "体育总局", "裁判组"],
};

/// Words near the topic: what sports schools, shops and clinics write about, and what leads to sports pages.
pub(super) const NEAR: Topic = Topic {
    dirs: &["fitness", "campus"],
    nouns: &[
        "体育大学",
        "健身房",
        "体育学院",
        "运动鞋",
        "体育用品",
        "门票",
        "直播",
        "运动会",
        "体育产业",
        "健身",
        "户外运动",
        "体育频道",
        "体育新闻",
        "运动康复",
    ],
    verbs: &["报名", "观看", "健身", "锻炼", "转播"],
    names: &["体育学院", "健身教练", "俱乐部", "体育老师"],
};

/// Index that stands for [`NEAR`] where one of [`TOPICS`] is meant.
pub(super) const NEAR_TOPIC: usize = TOPICS.len();

/// Words of the topic with this index, and those mixed into them. What is about the topic, or near it, borrows from
/// sports at large.
pub(super) fn vocabulary(topic: usize) -> (&'static Topic, Option<&'static Topic>) {
    match topic {
        NEAR_TOPIC => (&NEAR, Some(&SPORTS)),
        _ => (&TOPICS[topic], (topic < THEMES).then_some(&SPORTS)),
    }
}

/// Themes of the topic, then the other topics.
pub(super) const TOPICS: &[Topic] = &[
    Topic {
        dirs: &["football", "zuqiu", "soccer"],
        nouns: &[
            "足球",
            "进球",
            "点球",
            "门将",
            "前锋",
            "后卫",
            "中场",
            "世界杯",
            "英超",
            "西甲",
            "中超",
            "角球",
            "任意球",
            "红牌",
            "射门",
            "足协",
            "德比",
            "欧冠",
        ],
        verbs: &["射门", "传球", "助攻", "扑救", "抢断", "破门", "绝杀", "补时"],
        names: &["上海队", "北京队", "山东队", "巴西队", "德国队", "阿根廷队", "门将刘洋", "前锋赵明"],
    },
    Topic {
        dirs: &["basketball", "nba", "lanqiu"],
        nouns: &[
            "篮球",
            "篮板",
            "三分球",
            "罚球",
            "后卫",
            "中锋",
            "季后赛",
            "总决赛",
            "扣篮",
            "常规赛",
            "助攻",
            "投篮",
            "全明星",
            "新秀",
            "得分王",
            "盖帽",
            "战术板",
        ],
        verbs: &["投篮", "扣篮", "抢断", "盖帽", "得分", "防守", "突破", "上篮"],
        names: &["广东队", "辽宁队", "浙江队", "湖人", "勇士", "火箭", "中锋孙浩", "后卫周鹏"],
    },
    Topic {
        dirs: &["tennis", "wangqiu"],
        nouns: &[
            "网球",
            "发球",
            "球拍",
            "大满贯",
            "温网",
            "法网",
            "美网",
            "澳网",
            "单打",
            "双打",
            "红土",
            "种子选手",
            "抢七",
            "底线",
            "盘点",
            "外卡",
            "世界排名",
        ],
        verbs: &["发球", "截击", "破发", "挥拍", "救球", "退赛", "卫冕"],
        names: &["李静", "郑丽", "西班牙选手", "瑞士选手", "塞尔维亚选手", "种子选手", "双打组合"],
    },
    Topic {
        dirs: &["olympics", "aoyun"],
        nouns: &[
            "奥运会",
            "金牌",
            "银牌",
            "铜牌",
            "奥运",
            "代表团",
            "火炬",
            "奥运村",
            "开幕式",
            "奥委会",
            "体操",
            "举重",
            "射击",
            "跳水",
            "击剑",
            "柔道",
            "奖牌榜",
        ],
        verbs: &["摘金", "夺金", "出征", "入选", "卫冕", "亮相", "申办"],
        names: &["中国代表团", "国际奥委会", "体操队", "跳水队", "举重队", "射击队", "旗手马丽"],
    },
    Topic {
        dirs: &["pingpong", "badminton"],
        nouns: &[
            "乒乓球",
            "羽毛球",
            "国乒",
            "世乒赛",
            "反手",
            "正手",
            "弧圈球",
            "汤姆斯杯",
            "混双",
            "男单",
            "女单",
            "球台",
            "扣杀",
            "发球",
            "公开赛",
            "削球",
        ],
        verbs: &["扣杀", "挥拍", "接发球", "夺冠", "横扫", "连胜", "逼平"],
        names: &["国乒", "国羽", "日本选手", "韩国选手", "丹麦选手", "林涛", "王晓雨"],
    },
    Topic {
        dirs: &["running", "athletics", "swim"],
        nouns: &[
            "田径",
            "马拉松",
            "短跑",
            "跳高",
            "跳远",
            "接力",
            "游泳",
            "自由泳",
            "蛙泳",
            "蝶泳",
            "跑道",
            "世界纪录",
            "标枪",
            "铅球",
            "跨栏",
            "铁人三项",
            "半程马拉松",
        ],
        verbs: &["冲刺", "起跑", "破纪录", "领跑", "完赛", "游泳", "跨栏"],
        names: &["田径队", "游泳队", "肯尼亚选手", "牙买加选手", "飞人苏强", "徐小莲", "跑友"],
    },
    Topic {
        dirs: &["finance", "stock", "caijing"],
        nouns: &[
            "股票",
            "基金",
            "银行",
            "利率",
            "市场",
            "投资者",
            "通货膨胀",
            "证券",
            "债券",
            "汇率",
            "上市公司",
            "房地产",
            "贷款",
            "财报",
            "利润",
            "央行",
            "股市",
            "黄金",
            "保险",
            "税收",
        ],
        verbs: &["上涨", "下跌", "投资", "减持", "融资", "降息", "并购", "上市"],
        names: &["中央银行", "证监会", "投资机构", "分析师", "基金经理", "华夏证券", "财政部"],
    },
    Topic {
        dirs: &["food", "meishi", "recipe"],
        nouns: &[
            "红烧肉",
            "火锅",
            "面条",
            "豆腐",
            "酱油",
            "生姜",
            "大蒜",
            "饺子",
            "米饭",
            "海鲜",
            "蔬菜",
            "牛肉",
            "蛋糕",
            "奶油",
            "餐厅",
            "食材",
            "菜谱",
            "川菜",
            "早餐",
            "调料",
        ],
        verbs: &["翻炒", "腌制", "蒸煮", "切碎", "品尝", "烘焙", "搅拌", "调味"],
        names: &["厨师", "老板娘", "美食家", "四川人家", "面包师", "小吃店", "外婆"],
    },
    Topic {
        dirs: &["travel", "lvyou", "trip"],
        nouns: &[
            "旅游",
            "景区",
            "酒店",
            "机票",
            "古镇",
            "博物馆",
            "海滩",
            "雪山",
            "导游",
            "行程",
            "签证",
            "民宿",
            "火车站",
            "湖泊",
            "寺庙",
            "日出",
            "游客",
            "草原",
            "温泉",
            "地图",
        ],
        verbs: &["游览", "预订", "出发", "拍照", "徒步", "住宿", "登山", "返程"],
        names: &["游客", "旅行社", "云南", "西藏", "杭州", "桂林", "背包客"],
    },
    Topic {
        dirs: &["code", "dev", "tech"],
        nouns: &[
            "程序",
            "代码",
            "算法",
            "数据库",
            "服务器",
            "编译器",
            "函数",
            "变量",
            "接口",
            "线程",
            "内存",
            "框架",
            "操作系统",
            "浏览器",
            "网络协议",
            "日志",
            "缓存",
            "开源",
            "软件",
            "测试用例",
        ],
        verbs: &["编译", "调试", "部署", "重构", "优化", "运行", "升级", "开发"],
        names: &["程序员", "工程师", "架构师", "开发者", "测试人员", "开源社区", "产品经理"],
    },
    Topic {
        dirs: &["movie", "film", "yule"],
        nouns: &[
            "电影",
            "导演",
            "演员",
            "票房",
            "剧本",
            "电视剧",
            "镜头",
            "配乐",
            "影评",
            "院线",
            "纪录片",
            "动画",
            "主演",
            "观众",
            "电影节",
            "首映",
            "特效",
            "剧情",
            "综艺",
            "明星",
        ],
        verbs: &["上映", "拍摄", "主演", "导演", "剪辑", "配音", "改编", "杀青"],
        names: &["导演组", "制片人", "女主角", "男主角", "编剧", "影评人", "电影公司"],
    },
    Topic {
        dirs: &["health", "jiankang", "yiyuan"],
        nouns: &[
            "医院",
            "医生",
            "患者",
            "药物",
            "血压",
            "糖尿病",
            "疫苗",
            "手术",
            "症状",
            "睡眠",
            "营养",
            "门诊",
            "感冒",
            "护士",
            "体检",
            "中药",
            "心脏",
            "病毒",
            "儿科",
            "治疗",
        ],
        verbs: &["治疗", "诊断", "服药", "预防", "检查", "住院", "康复", "接种"],
        names: &["主任医师", "护士长", "患者家属", "专家组", "人民医院", "卫生部门", "药师"],
    },
];

/// Words of time.
pub(super) const TIMES: &[&str] =
    &["今天", "昨日", "近日", "上周", "本月", "周末", "去年", "目前", "日前", "清晨", "当晚"];
/// Adjectives that fit everything.
pub(super) const ADJECTIVES: &[&str] =
    &["重要", "明显", "新鲜", "不错", "复杂", "简单", "难得", "关键", "热门", "最新"];
/// Nouns that fit everything.
pub(super) const GENERAL: &[&str] =
    &["问题", "情况", "消息", "经验", "计划", "结果", "变化", "机会", "原因", "看法", "方式", "影响", "细节", "内容"];
/// Names of sites; none says what the site is about.
pub(super) const SITES: [&str; 12] = [
    "海蓝网",
    "云山在线",
    "北河论坛",
    "天星社区",
    "青松门户",
    "竹风日报",
    "林江网",
    "明月博客",
    "山海周刊",
    "晨光网",
    "远帆在线",
    "长桥社区",
];
/// Anchors that say nothing.
pub(super) const BLANK_ANCHORS: &[&str] =
    &["点击查看", "更多", "详情", "阅读全文", "查看原文", "点这里", "下一篇", "相关链接", "继续阅读", "推荐"];

/// Tags that say nothing of what they gather.
pub(super) const BLANK_TAGS: &[&str] = &["随笔", "笔记", "其他", "日记", "转载", "收藏", "年度总结", "杂谈"];

/// Sentences: N a noun, V a verb, P a name, A an adjective, G a general noun, T a time, D a number.
pub(super) const SENTENCES: &[&str] = &[
    "T，P在N的G上V，N的A之处也显露出来。",
    "关于N和N，P认为这是A的G。",
    "P表示，V之后N会有A的G。",
    "从N到N，P一直在V，G令人印象深刻。",
    "有人问到N，P的回答是先V，再看N。",
    "T的N吸引了D人关注，P也谈到了N的G。",
    "如果没有N，P很难V，这一点在N上尤其A。",
    "据了解，N已经V了D次，P对N的G感到意外。",
    "N是N的一部分，P用D天时间V，得到A的G。",
    "T，记者从P了解到，N与N的G正在V。",
    "对于N来说，V是A的G，P也不例外。",
    "P介绍了N的G，并提醒大家注意N。",
];

/// Titles, in the same letters.
pub(super) const TITLES: &[&str] = &[
    "P谈N：V的G",
    "TNV，P带来N",
    "N与N的A之处",
    "P：N为什么V",
    "A的N，PVN",
    "N观察：D个N",
    "看PV，说说N",
    "N入门：从N到N",
];

/// Titles that do not say what their page is about.
pub(super) const SILENT_TITLES: &[&str] =
    &["T的G", "A的G", "G与G", "D个A的G", "关于G的一点G", "T：A的G", "我的G（D）", "一点G，一点G"];

/// All words of the topic and its themes: for a small lexicon in a test.
pub fn topic_words() -> impl Iterator<Item = &'static str> {
    let themes = TOPICS[..THEMES].iter().chain(std::iter::once(&SPORTS));
    themes.flat_map(|topic| topic.nouns.iter().chain(topic.verbs)).copied()
}
