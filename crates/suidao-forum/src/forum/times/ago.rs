//! Relative times: "3分钟前", "2 hours ago", "上周".

use super::super::cursor::TextCursor;
use super::{DAY, HOUR, MINUTE, now};
use suidao_page::model::{ApproxTime, TimeContext};

/// Names of time units by their seconds; longer names first.
const UNITS: [(i64, &[&str]); 8] = [
    (1, &["秒钟", "秒鐘", "秒", "seconds", "second", "secs", "sec", "s"]),
    (MINUTE, &["分钟", "分鐘", "分", "minutes", "minute", "mins", "min"]),
    (HOUR, &["个小时", "個小時", "小时", "小時", "个钟头", "時間", "hours", "hour", "hrs", "hr", "h"]),
    (DAY, &["天", "日", "days", "day", "d"]),
    (7 * DAY, &["个星期", "個星期", "星期", "週間", "周", "週", "weeks", "week", "w"]),
    (30 * DAY, &["个月", "個月", "ヶ月", "か月", "カ月", "ヵ月", "月", "months", "month", "mo"]),
    (365 * DAY, &["年", "years", "year", "y"]),
    (MINUTE, &["m"]),
];
/// Number words from one to ten.
pub(super) const COUNTS: [(i64, &[&str]); 10] = [
    (1, &["一", "an ", "a ", "one ", "几"]),
    (2, &["两", "兩", "二"]),
    (3, &["三"]),
    (4, &["四"]),
    (5, &["五"]),
    (6, &["六"]),
    (7, &["七"]),
    (8, &["八"]),
    (9, &["九"]),
    (10, &["十"]),
];
pub(super) const JUST_NOW: [&str; 13] = [
    "刚刚",
    "剛剛",
    "刚才",
    "剛才",
    "たった今",
    "just now",
    "just a moment ago",
    "moments ago",
    "a moment ago",
    "a few seconds ago",
    "几秒前",
    "几秒钟前",
    "数秒前",
];
const AGO: [&str; 8] = ["前", "之前", "以前", "ago", " ago", "earlier", " earlier", " 前"];

pub(super) fn ago(cursor: &mut TextCursor, clock: TimeContext) -> Option<ApproxTime> {
    if cursor.any(&JUST_NOW).is_some() {
        return Some(elapsed(0, MINUTE, clock));
    }
    cursor.or(|cursor| {
        if cursor.any(&["less than a minute"]).is_some() {
            cursor.any(&AGO)?;
            return Some(elapsed(0, MINUTE, clock));
        }
        let half = cursor.any(&["半"]).is_some();
        if half {
            cursor.spaces();
            cursor.any(&["小时", "小時", "个小时", "個小時", "个钟头"])?;
            cursor.any(&AGO)?;
            return Some(elapsed(HOUR / 2, HOUR / 2, clock));
        }
        let _ = cursor.any(&["about ", "over ", "almost ", "约"]);
        let (mut total, mut last) = (0i64, 0i64);
        // "3 hours, 20 minutes ago".
        for part in 0..3 {
            let Some((count, unit)) = cursor.or(count_and_unit).filter(|(_, unit)| part == 0 || *unit < last) else {
                break;
            };
            total = total.checked_add(count.checked_mul(unit)?)?;
            last = unit;
            cursor.spaces();
            let _ = cursor.any(&[", ", "and "]);
            cursor.spaces();
        }
        if last == 0 {
            let (length, _) = LAST.into_iter().find(|(_, names)| cursor.words(names).is_some())?;
            return Some(elapsed(0, length, clock));
        }
        cursor.any(&AGO)?;
        Some(elapsed(total, last, clock))
    })
}

/// "上周", "last week": some day within this many seconds.
pub(super) const LAST: [(i64, &[&str]); 3] = [
    (14 * DAY, &["上周", "上星期", "上週", "last week"]),
    (62 * DAY, &["上个月", "上個月", "last month"]),
    (731 * DAY, &["去年", "last year"]),
];

fn count_and_unit(cursor: &mut TextCursor) -> Option<(i64, i64)> {
    let number = cursor.number(1..=4);
    let count = match number {
        Some(count) => count,
        None => COUNTS.into_iter().find(|(_, names)| cursor.any(names).is_some())?.0,
    };
    cursor.spaces();
    let found = UNITS.into_iter().find(|(_, names)| cursor.words(names).is_some());
    found.map(|(seconds, _)| (count, seconds))
}

/// A time `seconds` to `seconds + within` ago.
fn elapsed(seconds: i64, within: i64, clock: TimeContext) -> ApproxTime {
    let at = now(clock).saturating_sub(seconds).saturating_sub(within) + 1;
    ApproxTime { at, within: u32::try_from(within).unwrap_or(u32::MAX) }
}
