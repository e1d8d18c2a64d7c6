//! Time formats of forums.

use jiff::Timestamp;
use jiff::tz::Offset;
use serde::Deserialize;

const DAYS_CN: [&str; 7] = ["一", "二", "三", "四", "五", "六", "日"];

/// A skin's time format, with 25 May 2009, 14:03:09 as the example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::world) enum TimeFormat {
    /// `2009-5-25 14:03`
    Plain,
    /// `2009-5-25 14:03:09`
    Seconds,
    /// `2009-05-25 14:03`
    Padded,
    /// `5 分钟前`, `昨天 14:03`, `3 天前`, after a week as [`TimeFormat::Plain`].
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
    /// `5 minutes ago`, `yesterday at 14:03`, else as [`TimeFormat::English`].
    EnglishAgo,
    /// `2009-05-25T14:03:09+08:00`
    Iso,
    /// `Mon, 25 May 2009 06:03:09 GMT`, of HTTP and RSS.
    Http,
}

/// Formats `at` as seen at `now`; both in seconds since 1970.
pub(in crate::world) fn write(style: TimeFormat, at: i64, now: i64, offset: i32) -> String {
    let zone = Offset::from_seconds(if style == TimeFormat::Http { 0 } else { offset }).unwrap_or(Offset::UTC);
    let civil = |at: i64| zone.to_datetime(Timestamp::from_second(at).unwrap_or(Timestamp::UNIX_EPOCH));
    let t = civil(at);
    let as_in = |format: &str| t.strftime(format).to_string();
    let weekday = DAYS_CN[usize::try_from(t.weekday().to_monday_zero_offset()).unwrap_or(0)];
    let seconds = (now - at).max(0);
    let day = |instant: i64| (instant + i64::from(offset)).div_euclid(86_400);
    let days = day(now) - day(at);
    match style {
        TimeFormat::Plain => as_in("%Y-%-m-%-d %H:%M"),
        TimeFormat::Seconds => as_in("%Y-%-m-%-d %-H:%M:%S"),
        TimeFormat::Padded => as_in("%Y-%m-%d %H:%M"),
        TimeFormat::Ago => match (days, seconds) {
            (_, ..60) => format!("{seconds}&nbsp;秒前"),
            (_, ..3_600) => format!("{}&nbsp;分钟前", seconds / 60),
            (0, _) => format!("{}&nbsp;小时前", seconds / 3_600),
            (1, _) => as_in("昨天&nbsp;%H:%M"),
            (2, _) => as_in("前天&nbsp;%H:%M"),
            (..7, _) => format!("{days}&nbsp;天前"),
            _ => write(TimeFormat::Plain, at, now, offset),
        },
        TimeFormat::AgoLong => match seconds {
            ..60 => "几秒前".to_owned(),
            60..3_600 => format!("{} 分钟前", seconds / 60),
            3_600..86_400 => format!("{} 小时 {} 分钟前", seconds / 3_600, seconds % 3_600 / 60),
            86_400..2_592_000 => format!("{} 天前", seconds / 86_400),
            _ => format!("{} +{:02}:00", as_in("%Y-%m-%d %H:%M:%S"), offset / 3_600),
        },
        TimeFormat::Today => {
            let date = match days {
                0 => "今天",
                1 => "昨天",
                _ => "%Y-%m-%d",
            };
            as_in(&format!("{date} <span class=\"time\">%I:%M %p</span>"))
        }
        TimeFormat::Weekday => match (days, seconds) {
            (_, ..60) => "刚刚".to_owned(),
            (_, ..3_600) => format!("{} 分钟前", seconds / 60),
            (0, _) => as_in("今天 %H:%M"),
            (1, _) => as_in("昨天 %H:%M"),
            (..7, _) => as_in(&format!("星期{weekday} %H:%M")),
            _ => as_in("%Y-%m-%d"),
        },
        TimeFormat::Short => match days {
            0 => as_in("%-H:%M"),
            _ if t.year() == civil(now).year() => as_in("%-m-%-d"),
            _ => as_in("%Y-%m"),
        },
        TimeFormat::Words => as_in(&format!("周{weekday} %-m月 %d, %Y %-I:%M %P")),
        TimeFormat::Ctime => as_in("%a %b %e %H:%M:%S %Y"),
        TimeFormat::English => as_in("%-d %b %Y, %H:%M"),
        TimeFormat::EnglishAgo => match (days, seconds) {
            (_, ..60) => "a moment ago".to_owned(),
            (_, ..3_600) => format!("{} minutes ago", seconds / 60),
            (0, _) => format!("{} hours ago", seconds / 3_600),
            (1, _) => as_in("yesterday at %H:%M"),
            _ => write(TimeFormat::English, at, now, offset),
        },
        TimeFormat::Iso => format!("{}+{:02}:00", as_in("%Y-%m-%dT%H:%M:%S"), offset / 3_600),
        TimeFormat::Http => as_in("%a, %d %b %Y %H:%M:%S GMT"),
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
            (TimeFormat::Plain, 0, "2009-5-25 14:03"),
            (TimeFormat::Seconds, 0, "2009-5-25 14:03:09"),
            (TimeFormat::Padded, 0, "2009-05-25 14:03"),
            (TimeFormat::Ago, 300, "5&nbsp;分钟前"),
            (TimeFormat::Ago, 86_400, "昨天&nbsp;14:03"),
            (TimeFormat::Ago, 3 * 86_400, "3&nbsp;天前"),
            (TimeFormat::Ago, 9 * 86_400, "2009-5-25 14:03"),
            (TimeFormat::AgoLong, 7_500, "2 小时 5 分钟前"),
            (TimeFormat::Today, 10, "今天 <span class=\"time\">02:03 PM</span>"),
            (TimeFormat::Weekday, 3 * 86_400, "星期一 14:03"),
            (TimeFormat::Short, 0, "14:03"),
            (TimeFormat::Short, 86_400, "5-25"),
            (TimeFormat::Words, 0, "周一 5月 25, 2009 2:03 pm"),
            (TimeFormat::Ctime, 0, "Mon May 25 14:03:09 2009"),
            (TimeFormat::English, 0, "25 May 2009, 14:03"),
            (TimeFormat::EnglishAgo, 86_400, "yesterday at 14:03"),
            (TimeFormat::Iso, 0, "2009-05-25T14:03:09+08:00"),
            (TimeFormat::Http, 0, "Mon, 25 May 2009 06:03:09 GMT"),
        ] {
            assert_eq!(write(style, AT, AT + later, 28_800), want, "{style:?}");
        }
    }
}
