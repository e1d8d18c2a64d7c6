//! The sort-friendly form of a URL (SURT) by which web archives are looked up: `http://www.example.cn/A/?b=2&a=1` is
//! `cn,example)/a?a=1&b=2`.

use suidao_page::model::CrawlUrl;

/// The key of a URL.
pub fn surt(url: &CrawlUrl) -> String {
    let (host, port) = match url.authority().rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (url.authority(), None),
    };
    let host = escaped(&unescaped(host.trim_matches(['[', ']']).replace("..", ".").trim_matches('.').as_bytes()));
    let host = without_www(&host);
    let mut key = host.split('.').rev().collect::<Vec<_>>().join(",");
    if let Some(port) = port {
        key.push(':');
        key.push_str(port);
    }
    key.push(')');
    let path = escaped(&plain_path(&unescaped(url.path().as_bytes()))).to_ascii_lowercase();
    let path = without_path_session(path);
    key.push_str(path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(&path));
    if let Some(query) = url.query() {
        let query = without_query_session(escaped(&unescaped(query.as_bytes()))).to_ascii_lowercase();
        // Pairs by name, then value; a name alone comes before the same with a value.
        let mut pairs: Vec<(&str, Option<&str>)> = query
            .split('&')
            .map(|pair| pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value))))
            .collect();
        pairs.sort_unstable();
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| value.map_or((*name).to_owned(), |value| format!("{name}={value}")))
            .collect();
        if !query.is_empty() {
            key.push('?');
            key.push_str(&pairs.join("&"));
        }
    }
    key
}

/// Percent escapes undone until there are none.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    loop {
        let next: Vec<u8> = percent_encoding::percent_decode(&text).collect();
        if next == text {
            return text;
        }
        text = next;
    }
}

/// Blanks, `#`, `%` and what is not printable ASCII, escaped once.
fn escaped(bytes: &[u8]) -> String {
    const SET: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS.add(b' ').add(b'#').add(b'%');
    percent_encoding::percent_encode(bytes, SET).to_string()
}

/// `www.`, `www2.` and so on in front of a host are left out.
fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

/// Dot segments resolved, and rows of slashes made one.
fn plain_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if kept.pop().is_some() => {}
            other => kept.push(other),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let mut plain = vec![b'/'];
    for segment in kept.into_iter().filter(|segment| !segment.is_empty()) {
        plain.extend_from_slice(segment);
        plain.push(b'/');
    }
    plain.extend_from_slice(last);
    plain
}

/// Bytes of the session id that a text begins with.
type Session<'a> = dyn Fn(&str) -> Option<usize> + 'a;

/// ASP.NET's session in a path: `/(S(24 characters))/page.aspx`, also `/(24 characters)/page.aspx`. In lower case.
fn without_path_session(mut path: String) -> String {
    let id = |text: &str| text.bytes().take_while(u8::is_ascii_alphanumeric).count() == 24;
    let lettered = |text: &str| -> Option<usize> {
        let mut at = 0;
        while text[at..].starts_with(|c: char| c.is_ascii_lowercase()) && text[at + 1..].starts_with('(') {
            at += 2;
            at += (id(&text[at..]) && text[at + 24..].starts_with(')')).then_some(25)?;
        }
        (at > 0).then_some(at)
    };
    let bare = |text: &str| id(text).then_some(24);
    for session in [&lettered as &Session, &bare] {
        let found = path.rmatch_indices("/(").find_map(|(slash, _)| {
            let from = slash + 2;
            let end = from + session(&path[from..])?;
            let rest = path[end..].strip_prefix(")/")?;
            let page = rest.get(1..)?.find(".aspx")? + 1;
            (!rest[..page].contains('?')).then_some((slash + 1, end + 2))
        });
        if let Some((from, to)) = found {
            path.replace_range(from..to, "");
        }
    }
    path
}

/// Sessions of JSP, PHP, ASP and ColdFusion in a query, the last of each kind.
fn without_query_session(mut query: String) -> String {
    let ends = |text: &str, at: usize| (text.len() == at || text[at..].starts_with('&')).then_some(at);
    let row = |text: &str, of: fn(&u8) -> bool| text.bytes().take_while(of).count();
    let named = |text: &str, name: &str| {
        text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)).then_some(name.len())
    };
    let simple = |text: &str, name: &str| {
        let at = named(text, name)?;
        (row(&text[at..], u8::is_ascii_alphanumeric) >= 32).then(|| ends(text, at + 32))?
    };
    let asp = |text: &str| {
        let at = named(text, "aspsessionid")?;
        let value = at + 9;
        let fits = row(&text[at..], u8::is_ascii_alphabetic) == 8 && text[at + 8..].starts_with('=');
        (fits && row(&text[value..], u8::is_ascii_alphabetic) >= 24).then(|| ends(text, value + 24))?
    };
    let cold_fusion = |text: &str| {
        let at = named(text, "cfid=")?;
        let value = row(&text[at..], |byte| *byte != b'&');
        let token = at + value + named(text.get(at + value..)?, "&cftoken=")?;
        let length = row(&text[token..], |byte| *byte != b'&');
        (value > 0 && length > 0).then_some(token + length)
    };
    let kinds: [&Session; 5] = [
        &|text| simple(text, "jsessionid="),
        &|text| simple(text, "phpsessid="),
        &|text| simple(text, "sid="),
        &asp,
        &cold_fusion,
    ];
    for kind in kinds {
        let found = (0..query.len()).rev().find_map(|at| Some((at, at + kind(&query[at..])?)));
        if let Some((from, end)) = found {
            let rest = query[end..].strip_prefix('&').unwrap_or_default().to_owned();
            query.truncate(from);
            query.push_str(&rest);
        }
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the package `surt` 0.3.1 says; `tests/roundtrip.py` compares the keys of a whole crawl with it.
    #[test]
    fn keys_are_those_of_the_package() {
        for (url, key) in [
            ("http://example.cn/", "cn,example)/"),
            ("https://www.Example.cn:443/A/b.HTML", "cn,example)/a/b.html"),
            ("http://www12.example.cn:8080/a/", "cn,example:8080)/a"),
            ("http://wwwx.example.cn//a//b/", "cn,example,wwwx)/a/b"),
            ("http://example.cn/a?b=2&a=1&b=1&b", "cn,example)/a?a=1&b&b=1&b=2"),
            ("http://example.cn/%E8%B6%B3%E7%90%83?Q=%E4%B8%AD", "cn,example)/%e8%b6%b3%e7%90%83?q=%e4%b8%ad"),
            ("http://example.cn/a%20b%23c%2525", "cn,example)/a%20b%23c%25"),
            ("http://192.168.0.1/x", "1,0,168,192)/x"),
            ("http://xn--fiqs8s.cn/", "cn,xn--fiqs8s)/"),
            ("http://example.cn/%2E%2E/x", "cn,example)/x"),
            ("http://example.cn/a/(S(abcdefghijklmnopqrstuvwx))/p.aspx", "cn,example)/a/p.aspx"),
            ("http://example.cn/a/(abcdefghijklmnopqrstuvwx)/p.aspx", "cn,example)/a/p.aspx"),
            ("http://example.cn/?x=1&CFID=2&CFTOKEN=3&y=4", "cn,example)/?x=1&y=4"),
            ("http://example.cn/?aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx", "cn,example)/"),
            ("http://example.cn/?x&jsessionid=0123456789abcdef0123456789abcdef", "cn,example)/?x"),
        ] {
            assert_eq!(surt(&CrawlUrl::parse(url).unwrap()), key, "{url}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_url_panics(rest in "[a-zA-Z0-9/().?=&%足#]{0,60}") {
            if let Ok(url) = CrawlUrl::parse(&format!("http://www.a.cn/{rest}")) {
                let key = surt(&url);
                proptest::prop_assert!(key.starts_with("cn,a)/") && !key.contains(' '));
            }
        }
    }
}
