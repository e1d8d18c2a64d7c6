//! Formats of times, and texts that are not times.

use proptest::prelude::*;

use super::*;
use suidao_page::model::{Day, Millis};

/// 2009-06-03 10:00:00 in China, a Wednesday.
const NOW: i64 = 1_243_994_400;

fn clock() -> TimeContext {
    TimeContext::new(Millis(NOW as u64 * 1000), 8 * 3600)
}

fn at(text: &str) -> i64 {
    let (day, time) = text.split_once(' ').unwrap();
    let parts: Vec<i64> = time.split(':').map(|part| part.parse().unwrap()).collect();
    i64::from(Day::parse(day).unwrap().0) * DAY + parts[0] * HOUR + parts[1] * MINUTE + parts.get(2).unwrap_or(&0)
        - 8 * HOUR
}

#[test]
fn absolute_times_are_read_in_every_usual_form() {
    for text in [
        "2009-05-25 12:01",
        "2009/5/25 12:01",
        "2009.5.25 12:01",
        "2009年5月25日 12:01",
        "2009年05月25日12时01分",
        "5-25 12:01",
        "05-25 12:01",
        "5月25日 12:01",
        "09-5-25 12:01",
        "25 May 2009, 12:01 pm",
        "Mon May 25, 2009 12:01 pm",
        "May 25, 2009 at 12:01 PM",
        "Monday, May 25th, 2009 - 12:01",
        "05-25-2009, 12:01 PM",
        "05/25/2009 12:01",
        "25.05.2009, 12:01",
        "May 25 '09 12:01",
        "2009 年 5 月 25 日(月) 12:01",
        "2009年5月25日(月) 12:01",
        "2009-5-25 下午 12:01",
        "2009-5-25 中午12:01",
        "发表于 2009-5-25 12:01 | 只看该作者",
        "2009-05-25T12:01+08:00",
        "2009-05-25T04:01Z",
        "Mon, 25 May 2009 05:01 +0100",
        "25-May-2009 12:01",
        "2009-05-25 12:01 +08:00",
        "on: May 25, 2009, 12:01:00 pm",
        "2009-05-25, 12:01 星期一",
        "周一 2009-5-25 12:01",
        "周一 5月 25, 2009 12:01 pm",
        "20090525 12:01",
        "25.05.2009 12.01",
        "25.5.2009, 12.01",
        "25. toukokuuta 2009 klo 12.01",
        "25. maj 2009 kl. 12.01",
    ] {
        let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
        let within = if text.contains(":01:00") { 1 } else { 60 };
        assert_eq!(moment, ApproxTime { at: at("2009-05-25 12:01"), within }, "{text}");
    }
    let seconds = first("2009-5-25 12:01:33", clock()).unwrap();
    assert_eq!(seconds, ApproxTime { at: at("2009-05-25 12:01:33"), within: 1 });
    for text in ["2009-05-25", "May 25, 2009", "25.5.2009", "5-25", "5月25日", "Mon 25 May 2009", "May 25 '09"] {
        let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(moment, ApproxTime { at: at("2009-05-25 00:00"), within: 86_400 }, "{text}");
    }
    for text in ["25.05.2009 12.01.5", "25.05.2009 3.5 MB", "25.05.2009 12.61"] {
        assert_eq!(first(text, clock()).map(|time| time.within), Some(86_400), "{text}");
    }
    let year_missing = first("12-25 12:01", clock()).unwrap();
    assert_eq!(year_missing.at, at("2008-12-25 12:01"), "the latest past one");
}

#[test]
fn months_are_read_in_other_languages() {
    for text in [
        "25 五月, 2009 12:01",
        "25 五月 2009 12:01",
        "五月 25, 2009 12:01",
        "星期一, 25 五月 2009, 12:01",
        "周一 五月 25, 2009 12:01 pm",
        "25 5月, 2009 12:01",
        "二〇〇九年五月二十五日 12:01",
        "２００９年５月２５日 12:01",
        "25. Mai 2009, 12:01",
        "25. Mai 2009 um 12:01 Uhr",
        "Mo 25. Mai 2009, 12:01",
        "25 de mayo de 2009 12:01",
        "25 de maio de 2009 às 12:01",
        "25 mai 2009 à 12h01",
        "25 maggio 2009, alle 12:01",
        "Пн 25 май 2009, 12:01",
        "25 мая 2009 г. в 12:01",
        "Mayıs 25, 2009, 12:01",
        "25 Μαΐου 2009, 12:01",
        "2009. május 25. 12:01",
        "2009. máj. 25., 12:01",
        "25 maja 2009, 12:01",
        "25 mei 2009 om 12:01",
        "25 maj 2009 kl. 12:01",
        "25 toukokuuta 2009 klo 12:01",
        "2009년 5월 25일 오후 12:01",
        "2009년 5월 25일 12시 1분",
        "25 tháng 5, 2009 lúc 12:01",
        "25 مايو 2009 12:01",
        "12:01pm On May 25",
        "12:01, 25 May 2009",
        "12:01 - 25.05.2009",
        "12:01 25/05/2009",
        "12:01 PM on Mai 25, 2009",
    ] {
        let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(moment, ApproxTime { at: at("2009-05-25 12:01"), within: 60 }, "{text}");
    }
    for text in ["25. Mai 2009", "25 de mayo de 2009", "25 五月, 2009", "2009년 5월 25일", "25 мая 2009"] {
        let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(moment, ApproxTime { at: at("2009-05-25 00:00"), within: 86_400 }, "{text}");
    }
    for text in ["Heute, 09:01", "Aujourd'hui à 09:01", "Hoy, 9:01", "Сегодня в 09:01", "오늘 오전 9:01"] {
        assert_eq!(first(text, clock()), Some(ApproxTime { at: at("2009-06-03 09:01"), within: 60 }), "{text}");
    }
    for text in ["Gestern, 12:01", "Hier à 12h01", "Вчера, 12:01", "I går, 12:01", "ayer a las 12:01"] {
        assert_eq!(first(text, clock()), Some(ApproxTime { at: at("2009-06-02 12:01"), within: 60 }), "{text}");
    }
    // Ordinary words.
    for text in [
        "5 out of 10 people",
        "hier",
        "Hier steht es 3 mal",
        "set 3 of 7",
        "2 mai tai for me",
        "3. April, we",
        "ara 5 mais",
    ] {
        assert_eq!(first(text, clock()), None, "{text}");
    }
    let two = all("12 May 25, 2009 12:01", clock());
    assert_eq!(two.last().map(|time| time.moment.at), Some(at("2009-05-25 12:01")));
}

#[test]
fn the_order_of_day_and_month_is_the_forums() {
    let european = TimeContext { month_first: false, ..clock() };
    for (text, american, other) in [
        ("05/04/2009 12:01", "2009-05-04 12:01", "2009-04-05 12:01"),
        ("05-04-2009, 12:01", "2009-05-04 12:01", "2009-04-05 12:01"),
        ("05/04/09 12:01", "2009-05-04 12:01", "2009-04-05 12:01"),
        ("05.04.2009 12:01", "2009-04-05 12:01", "2009-04-05 12:01"),
        ("05/25/2009 12:01", "2009-05-25 12:01", "2009-05-25 12:01"),
        ("25/05/2009 12:01", "2009-05-25 12:01", "2009-05-25 12:01"),
        ("2009-05-04 12:01", "2009-05-04 12:01", "2009-05-04 12:01"),
    ] {
        let read = |clock| first(text, clock).map(|time| time.at);
        assert_eq!((read(clock()), read(european)), (Some(at(american)), Some(at(other))), "{text}");
    }
}

#[test]
fn halves_of_the_day_are_reported() {
    for (text, time) in [
        ("2009-5-25 12:30 am", "00:30"),
        ("2009-5-25 12:30 PM", "12:30"),
        ("2009-5-25 1:05 pm", "13:05"),
        ("2009-5-25 凌晨 1:05", "01:05"),
        ("2009-5-25 晚上 11:05", "23:05"),
        ("2009-5-25 中午11:05", "11:05"),
        ("2009-5-25 下午8:05", "20:05"),
        ("2009年5月25日 午後 3:05", "15:05"),
        ("2009-5-25 上午 12:05", "00:05"),
    ] {
        assert_eq!(first(text, clock()).unwrap().at, at(&format!("2009-05-25 {time}")), "{text}");
    }
}

#[test]
fn relative_times_count_from_the_fetch() {
    for (text, from, to) in [
        ("刚刚", 0, 60),
        ("just now", 0, 60),
        ("3分钟前", 180, 240),
        ("3分前", 180, 240),
        ("5 minutes ago", 300, 360),
        ("半小时前", 1800, 3600),
        ("2 小时前", 7200, 10800),
        ("2小时前 来自 某人", 7200, 10800),
        ("an hour ago", 3600, 7200),
        ("about 3 hours ago", 10800, 14400),
        ("3天前", 259_200, 345_600),
        ("两天前", 172_800, 259_200),
        ("1周前", 604_800, 1_209_600),
        ("2个月前", 5_184_000, 7_776_000),
        ("1年前", 31_536_000, 63_072_000),
        ("3 小时 20 分钟前", 12_000, 12_060),
        ("3 hours, 20 minutes ago", 12_000, 12_060),
        ("10秒前", 10, 11),
        ("less than a minute ago", 0, 60),
        ("2d ago", 172_800, 259_200),
        ("1 day ago", 86_400, 172_800),
    ] {
        let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((NOW - moment.at, i64::from(moment.within)), (to - 1, to - from), "{text}");
    }
    for (text, time) in [
        ("昨天 12:01", "2009-06-02 12:01"),
        ("前天 08:30", "2009-06-01 08:30"),
        ("今天 09:01", "2009-06-03 09:01"),
        ("Today at 09:01 AM", "2009-06-03 09:01"),
        ("Yesterday, 12:01 PM", "2009-06-02 12:01"),
        ("今日 9:01", "2009-06-03 09:01"),
        ("昨日 12:01", "2009-06-02 12:01"),
        ("09:01", "2009-06-03 09:01"),
        ("23:01", "2009-06-02 23:01"),
        ("Monday at 12:01 PM", "2009-06-01 12:01"),
        ("昨天\u{a0}12:01", "2009-06-02 12:01"),
    ] {
        assert_eq!(first(text, clock()), Some(ApproxTime { at: at(time), within: 60 }), "{text}");
    }
    assert_eq!(first("昨天", clock()), Some(ApproxTime { at: at("2009-06-02 00:00"), within: 86_400 }));
}

#[test]
fn what_is_no_time_is_none() {
    for text in [
        "12/345",
        "5/12",
        "1.2k",
        "123",
        "2009",
        "2009-13-05",
        "2009-5",
        "25:61",
        "2019-05-25 12:01",
        "3 days",
        "3小时",
        "PHP 5.3.5",
        "192.168.1.1",
        "12:01 vs 3",
        "May",
        "may 2009",
        "1-2-3-4",
        "",
        "前天气",
        "100-200",
        "2009-02-30",
        "1,234",
        "http://a.cn/2009",
        "今天天气不错 3",
        "20090525",
        "20091525 12:01",
        "order 20090525 3",
    ] {
        assert_eq!(first(text, clock()), None, "{text}");
    }
}

#[test]
fn attributes_hold_exact_times() {
    let exact = Some(ApproxTime { at: at("2009-05-25 12:01:33"), within: 1 });
    for value in
        ["2009-5-25 12:01:33", "2009-05-25T12:01:33+08:00", "2009-05-25T04:01:33.000Z", "1243224093", "1243224093000"]
    {
        assert_eq!(of_attribute(value, clock()), exact, "{value}");
    }
    assert_eq!(of_attribute("a long sentence that says 2009-5-25 12:01:33 and goes on", clock()), None);
}

const NAMES: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

proptest! {
    #[test]
    fn the_true_time_lies_in_what_is_read(back in 0i64..400 * DAY, form in 0usize..14) {
        let truth = NOW - back;
        let local = truth + 8 * HOUR;
        let day = Day(local.div_euclid(DAY) as i32).to_string();
        let (year, month, date) = (&day[..4], day[5..7].parse::<usize>().unwrap(), day[8..].parse::<i64>().unwrap());
        let second = local.rem_euclid(DAY);
        let (h, m, s) = (second / HOUR, second / MINUTE % 60, second % 60);
        let twelve = (if h % 12 == 0 { 12 } else { h % 12 }, if h < 12 { "am" } else { "pm" });
        let name = NAMES[month - 1];
        let text = match form {
            0 => format!("{day} {h:02}:{m:02}:{s:02}"),
            1 => format!("{year}/{month}/{date} {h}:{m:02}"),
            2 => format!("{year}年{month}月{date}日 {h:02}:{m:02}"),
            3 => format!("{date} {name} {year}, {}:{m:02} {}", twelve.0, twelve.1),
            4 => format!("{name} {date}, {year} at {}:{m:02} {}", twelve.0, twelve.1),
            5 => format!("{}-{month}-{date} {h:02}:{m:02}", &year[2..]),
            6 => format!("{}分钟前", back / 60),
            7 => format!("{} hours ago", back / HOUR),
            8 => format!("{} 天前", back / DAY),
            9 if back < 300 * DAY => format!("{month}-{date} {h:02}:{m:02}"),
            10 if back < 300 * DAY => format!("{month}月{date}日"),
            11 => format!("{}.{}.{year} {h}:{m:02}", date, month),
            12 => format!("{day}T{h:02}:{m:02}:{s:02}+08:00"),
            _ => day.clone(),
        };
        if form == 6 && back / 60 > 9999 {
            return Ok(());
        }
        let moment = first(&text, clock());
        prop_assert!(moment.is_some_and(|moment| moment.at <= truth && truth < moment.at + i64::from(moment.within)), "{} {:?} {}", text, moment, truth);
    }

    #[test]
    fn no_text_panics(text in "[0-9年月日前昨天分時:/.\\- a-zé,'+TZ]{0,30}") {
        let _ = (all(&text, clock()), of_attribute(&text, clock()));
    }
}

#[test]
fn every_word_that_a_time_begins_with_is_a_beginning() {
    let mut words = vec!["less than a minute", "半", "about ", "over ", "almost ", "约"];
    words.extend(ago::JUST_NOW);
    words.extend(calendar::WEEKDAYS.concat());
    words.extend(ago::COUNTS.iter().chain(&ago::LAST).chain(&calendar::RELATIVE_DAYS).flat_map(|(_, names)| *names));
    words.extend(hours::HALVES.iter().flat_map(|(_, names)| *names));
    let named = [
        "Jan 3",
        "мая 3",
        "十一月 3",
        "Νοε 3",
        "Σήμερα 10:17",
        "aujourd'hui à 10:17",
        "i går 10:17",
        "오늘 10:17",
        "民國",
    ];
    for word in words.into_iter().chain(named) {
        let first = word.chars().next().unwrap();
        assert!(BEGINNINGS.contains(first) || is_latin_beginning(word) || is_name_beginning(word), "{word}");
    }
}
