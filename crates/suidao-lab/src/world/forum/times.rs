//! Times as forums write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::Deserialize;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const DAYS_CN: [&str; 7] = ["一", "二", "三", "四", "五", "六", "日"];

/// How a skin writes a time, with the example of 25 May 2009, 14:03:09.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::world) enum Style {
    /// `2009-5-25 14:03`
    Plain,
    /// `2009-5-25 14:03:09`
    Seconds,
    /// `2009-05-25 14:03`
    Padded,
    /// `5 分钟前`, `昨天 14:03`, `3 天前`, after a week as [`Style::Plain`].
    Ago,
    /// `2 小时 5 分钟前`, after a day `3 天前`, after a month `2009-05-25 14:03:09 +08:00`.
    AgoLong,
    /// `今天 02:03 PM`, `昨天 02:03 PM`, `2009-05-25 02:03 PM`
    Today,
    /// `5 分钟前`, `今天 14:03`, `星期一 14:03`, after a week `2009-05-25`.
    Weekday,
    /// `14:03` of today, `5-25` of this year, else `2009-05`.
    Short,
    /// `周一 5月 25, 2009 2:03 pm`
    Words,
    /// `Mon May 25 14:03:09 2009`
    Ctime,
    /// `25 May 2009, 14:03`
    English,
    /// `5 minutes ago`, `yesterday at 14:03`, else as [`Style::English`].
    EnglishAgo,
    /// `2009-05-25T14:03:09+08:00`
    Iso,
    /// `Mon, 25 May 2009 06:03:09 GMT`, of HTTP and RSS.
    Http,
}

/// The calendar's and the clock's reading at `at`, `offset` seconds east of UTC.
fn civil(at: i64, offset: i32) -> DateTime {
    let zone = Offset::from_seconds(offset).unwrap_or(Offset::UTC);
    zone.to_datetime(Timestamp::from_second(at).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Writes `at` as seen at `now`; both in seconds since 1970.
pub(in crate::world) fn write(style: Style, at: i64, now: i64, offset: i32) -> String {
    let offset = if style == Style::Http { 0 } else { offset };
    let t = civil(at, offset);
    let (y, mo, d, h, mi, s) = (t.year(), t.month(), t.day(), t.hour(), t.minute(), t.second());
    let month = MONTHS[usize::try_from(mo - 1).unwrap_or(0)];
    let weekday = usize::try_from(t.weekday().to_monday_zero_offset()).unwrap_or(0);
    let twelve = if h % 12 == 0 { 12 } else { h % 12 };
    let half = if h < 12 { "am" } else { "pm" };
    let seconds = (now - at).max(0);
    let day = |instant: i64| (instant + i64::from(offset)).div_euclid(86_400);
    let days = day(now) - day(at);
    let again = |style| write(style, at, now, offset);
    match style {
        Style::Plain => format!("{y}-{mo}-{d} {h:02}:{mi:02}"),
        Style::Seconds => format!("{y}-{mo}-{d} {h}:{mi:02}:{s:02}"),
        Style::Padded => format!("{y}-{mo:02}-{d:02} {h:02}:{mi:02}"),
        Style::Ago => match (days, seconds) {
            (_, ..60) => format!("{seconds}&nbsp;秒前"),
            (_, ..3_600) => format!("{}&nbsp;分钟前", seconds / 60),
            (0, _) => format!("{}&nbsp;小时前", seconds / 3_600),
            (1, _) => format!("昨天&nbsp;{h:02}:{mi:02}"),
            (2, _) => format!("前天&nbsp;{h:02}:{mi:02}"),
            (..7, _) => format!("{days}&nbsp;天前"),
            _ => again(Style::Plain),
        },
        Style::AgoLong => match seconds {
            ..60 => "几秒前".to_owned(),
            60..3_600 => format!("{} 分钟前", seconds / 60),
            3_600..86_400 => format!("{} 小时 {} 分钟前", seconds / 3_600, seconds % 3_600 / 60),
            86_400..2_592_000 => format!("{} 天前", seconds / 86_400),
            _ => format!("{y}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02} +{:02}:00", offset / 3_600),
        },
        Style::Today => {
            let date = match days {
                0 => "今天".to_owned(),
                1 => "昨天".to_owned(),
                _ => format!("{y}-{mo:02}-{d:02}"),
            };
            format!("{date} <span class=\"time\">{twelve:02}:{mi:02} {}</span>", half.to_ascii_uppercase())
        }
        Style::Weekday => match (days, seconds) {
            (_, ..60) => "刚刚".to_owned(),
            (_, ..3_600) => format!("{} 分钟前", seconds / 60),
            (0, _) => format!("今天 {h:02}:{mi:02}"),
            (1, _) => format!("昨天 {h:02}:{mi:02}"),
            (..7, _) => format!("星期{} {h:02}:{mi:02}", DAYS_CN[weekday]),
            _ => format!("{y}-{mo:02}-{d:02}"),
        },
        Style::Short => match days {
            0 => format!("{h}:{mi:02}"),
            _ if y == civil(now, offset).year() => format!("{mo}-{d}"),
            _ => format!("{y}-{mo:02}"),
        },
        Style::Words => format!("周{} {mo}月 {d:02}, {y} {twelve}:{mi:02} {half}", DAYS_CN[weekday]),
        Style::Ctime => format!("{} {month} {d:2} {h:02}:{mi:02}:{s:02} {y}", DAYS[weekday]),
        Style::English => format!("{d} {month} {y}, {h:02}:{mi:02}"),
        Style::EnglishAgo => match (days, seconds) {
            (_, ..60) => "a moment ago".to_owned(),
            (_, ..3_600) => format!("{} minutes ago", seconds / 60),
            (0, _) => format!("{} hours ago", seconds / 3_600),
            (1, _) => format!("yesterday at {h:02}:{mi:02}"),
            _ => again(Style::English),
        },
        Style::Iso => format!("{y}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}+{:02}:00", offset / 3_600),
        Style::Http => format!("{}, {d:02} {month} {y} {h:02}:{mi:02}:{s:02} GMT", DAYS[weekday]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 25 May 2009, 14:03:09 in China.
    const AT: i64 = 1_243_231_389;

    #[test]
    fn times_read_as_written() {
        for (style, later, want) in [
            (Style::Plain, 0, "2009-5-25 14:03"),
            (Style::Seconds, 0, "2009-5-25 14:03:09"),
            (Style::Padded, 0, "2009-05-25 14:03"),
            (Style::Ago, 300, "5&nbsp;分钟前"),
            (Style::Ago, 86_400, "昨天&nbsp;14:03"),
            (Style::Ago, 3 * 86_400, "3&nbsp;天前"),
            (Style::Ago, 9 * 86_400, "2009-5-25 14:03"),
            (Style::AgoLong, 7_500, "2 小时 5 分钟前"),
            (Style::Today, 10, "今天 <span class=\"time\">02:03 PM</span>"),
            (Style::Weekday, 3 * 86_400, "星期一 14:03"),
            (Style::Short, 0, "14:03"),
            (Style::Short, 86_400, "5-25"),
            (Style::Words, 0, "周一 5月 25, 2009 2:03 pm"),
            (Style::Ctime, 0, "Mon May 25 14:03:09 2009"),
            (Style::English, 0, "25 May 2009, 14:03"),
            (Style::EnglishAgo, 86_400, "yesterday at 14:03"),
            (Style::Iso, 0, "2009-05-25T14:03:09+08:00"),
            (Style::Http, 0, "Mon, 25 May 2009 06:03:09 GMT"),
        ] {
            assert_eq!(write(style, AT, AT + later, 28_800), want, "{style:?}");
        }
    }
}
