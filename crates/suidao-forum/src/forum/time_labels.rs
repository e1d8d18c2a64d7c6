//! Labels of times that are not a post's: "Joined: May 1st", "最后由 anna 编辑于".
//!
//! Such a word may also be a member's rank (注册会员, Registered User) next to the time of the post. So it counts only if it
//! introduces the time: nothing but a sign or a word such as 时间 or `on` is between them.

use super::times::DAY;

/// Words that introduce dates of members.
const MEMBER: &str = "注册|註冊|加入|加入于|登録|生日|joined|registered|birthday";
/// Phrases that do so by themselves.
const MEMBER_DATE: &str = "注册时间|注册日期|註冊時間|註冊日期|加入时间|加入時間|登録日|上次登录|上次登錄|最后登录|最後登錄|最近登录|\
                           最后活动|最近活动|join date|joined on|registered on|registration date|member since|last visit|\
                           last seen|last active|last activity|last online|last login";
/// Words around the time of an edit.
const EDITED: &str = "最后由|最後由|最后编辑|最後編輯|最后修改|编辑于|編輯於|修改于|最終編集|edited|modified";
/// Words between a label and its time.
const JOINTS: &str = "时间|時間|日期|日時|日|于|於|date|time|on|at|in|since|the|in the";

/// Whether a text introduces the time after it as one of the member or of an edit. `within`: precision of the time in
/// seconds; a word alone introduces only dates, since times of day are a post's.
pub(super) fn introduces_other_time(before: &str, within: u32) -> bool {
    /// Bytes before a time that may be its label.
    const LABEL: usize = 120;
    let mut from = before.len().saturating_sub(LABEL);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let label = before[from..].to_lowercase();
    let label = label.as_str();
    let ends_with = |words: &str, label: &str| words.split('|').any(|word| label.ends_with(word));
    let bare = label.trim_end_matches(|c: char| !c.is_alphanumeric());
    if EDITED.split('|').any(|word| label.contains(word)) || ends_with(MEMBER_DATE, bare) {
        return true;
    }
    let joint = JOINTS.split('|').filter_map(|joint| bare.strip_suffix(joint)).min_by_key(|rest| rest.len());
    let is_member = |label: &str| ends_with(MEMBER, label.trim_end_matches(|c: char| !c.is_alphanumeric()));
    let has_colon = label[bare.len()..].contains([':', '：']);
    joint.is_some_and(is_member) || is_member(bare) && (has_colon || i64::from(within) >= DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_introduce_a_time() {
        for label in [
            "注册时间",
            "注册时间: ",
            "注册:",
            "积分 12 注册于 ",
            "註冊日期：",
            "Registered: ",
            "Joined: ",
            "Posts: 12 Joined on ",
            "Join Date:",
            "Member since ",
            "Last visit: ",
            "上次登录 ",
            "Last edited by anna on ",
            "本帖最后由 anna 于 ",
            "最后编辑于 ",
        ] {
            assert!(introduces_other_time(label, 60), "{label}");
        }
        assert!(introduces_other_time("Joined ", 86_400) && introduces_other_time("Registered — ", 86_400));
    }

    #[test]
    fn ranks_do_not() {
        for label in [
            "",
            "注册会员 ",
            "Registered User ",
            "Registered",
            "Joined ",
            "高级编辑 ",
            "编辑",
            "积分 12 ",
            "London location ",
            "在线",
            "Registered: 2001 Posted ",
            "Reinjoined member on ",
        ] {
            assert!(!introduces_other_time(label, 60), "{label}");
        }
        assert!(!introduces_other_time("注册会员 ", 86_400) && !introduces_other_time("Registered User: ", 86_400));
    }
}
