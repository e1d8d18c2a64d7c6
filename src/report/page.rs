pub fn page(_: &super::Facts) -> String { String::new() }
