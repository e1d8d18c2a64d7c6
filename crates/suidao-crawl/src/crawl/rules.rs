//! Parser of robots.txt for one robot: RFC 9309 (Koster, Illyes, Zeller, Sassman 2022), and where that is silent, the
//! rules that Google publishes and its open-source parser.
//!
//! Beyond the RFC: a `User-agent` line may have a version or words after the token; a robot without a group of its own
//! follows the group of its token without the last `-part`; frequent misspellings and a missing colon are accepted;
//! escaped and plain reserved characters match; `Crawl-delay` applies to the agents named so far in its group, or to
//! all robots before any group.

use std::borrow::Cow;
use std::cmp::Reverse;

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// Bytes of a robots.txt that are parsed (RFC 9309, 2.5: at least 500 KiB).
pub(super) const MAX_BYTES: usize = 500 * 1024;

/// The rules of a robots.txt for one robot. Compact, because a crawl stores one per origin and hosts control its size.
#[derive(Debug, Serialize, Deserialize)]
pub struct Robot {
    /// The patterns of all rules in sequence, with escapes in normal form (`*` and a final `$` are special), each
    /// followed by the same with reserved characters escaped if that differs.
    text: Box<[u8]>,
    /// The first match decides: longest first; among equal lengths, `Allow` first, then file order.
    rules: Box<[Rule]>,
    /// `Crawl-delay` in seconds, finite and not negative; the longest if there are several.
    pub delay: Option<f32>,
    /// `Sitemap` lines of any group, as written.
    pub sitemaps: Vec<String>,
}

/// Whether a URL is allowed, and by which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub allowed: bool,
    /// Line number of the deciding rule, from 1; none if no rule matched.
    pub line: Option<u32>,
}

impl Ruling {
    /// The deciding rule as in the file `text`, in the form `Disallow: /path`.
    pub fn rule(&self, text: &[u8]) -> Option<String> {
        let text = decoded(text);
        let line = lines(&text).nth(self.line?.checked_sub(1)? as usize)?;
        let Line::Rule { allow, path } = read(line)? else { return None };
        let key = if allow { "Allow" } else { "Disallow" };
        Some(format!("{key}: {}", String::from_utf8_lossy(path)))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Rule {
    /// Bytes of its pattern.
    length: u32,
    /// Bytes of the pattern with escapes; 0 if it is the same.
    escaped: u32,
    line: u32,
    allow: bool,
}

/// A parsed rule.
struct Found {
    pattern: Vec<u8>,
    allow: bool,
    line: u32,
}

enum Line<'a> {
    Agent(&'a [u8]),
    Rule { allow: bool, path: &'a [u8] },
    Delay(&'a [u8]),
    Sitemap(&'a [u8]),
}

/// Whom a `User-agent` line addresses, ordered by how specific that is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Address {
    Everybody,
    /// Our token, with this many of its `-parts`.
    Us(usize),
}

impl Robot {
    /// Parses a robots.txt for the robot `agent` (a product token; a version after it is ignored). Accepts any bytes:
    /// invalid lines are skipped, and so is everything after the first 500 KiB.
    pub fn new(agent: &str, text: &[u8]) -> Self {
        let text = decoded(cut(text));
        let lines: Vec<(u32, Line)> =
            (1..).zip(lines(&text)).filter_map(|(number, line)| Some((number, read(line)?))).collect();
        // Our groups are those with the most specific address.
        let addresses = lines.iter().filter_map(|(_, line)| match line {
            Line::Agent(value) => address(value, agent.as_bytes()),
            _ => None,
        });
        let ours = addresses.max();
        let (mut found, mut delay_of_ours, mut sitemaps) = (Vec::new(), None::<f32>, Vec::new());
        let (mut in_group, mut named, mut open) = (false, false, true);
        // Before any group, Crawl-delay applies to all robots.
        let mut general: Option<f32> = None;
        for (number, line) in &lines {
            match line {
                Line::Agent(value) => {
                    // The first agent after rules begins a group.
                    if !open {
                        in_group = false;
                    }
                    (open, named) = (true, true);
                    in_group |= ours.is_some() && address(value, agent.as_bytes()) == ours;
                }
                Line::Rule { allow, path } => {
                    open = false;
                    let pattern = normal(&from_slash(path), true);
                    // Paths begin with a slash, so other patterns would match nothing. An empty pattern has no effect.
                    if in_group && matches!(pattern.first(), Some(b'/' | b'*')) {
                        found.push(Found { pattern, allow: *allow, line: *number });
                    }
                }
                Line::Delay(value) => {
                    let delay = if named { Some(&mut delay_of_ours).filter(|_| in_group) } else { Some(&mut general) };
                    if let (Some(delay), Some(seconds)) = (delay, seconds(value)) {
                        *delay = Some(delay.map_or(seconds, |other| other.max(seconds)));
                    }
                }
                Line::Sitemap(url) => sitemaps.push(String::from_utf8_lossy(url).into_owned()),
            }
        }
        let (text, rules) = packed(found);
        Self { text, rules, delay: delay_of_ours.or(general), sitemaps }
    }

    pub(super) fn memory(&self) -> usize {
        let sitemaps: usize = self.sitemaps.iter().map(|url| url.len() + size_of::<String>()).sum();
        size_of::<Self>() + self.text.len() + size_of_val(&*self.rules) + sitemaps
    }

    /// Whether a URL (absolute, or from its path on) is allowed.
    pub fn allowed(&self, url: &str) -> bool {
        self.ruling(url).allowed
    }

    /// Whether a URL (absolute, or from its path on) is allowed, and the deciding rule: the longest match, or of
    /// equally long ones `Allow`. `/robots.txt` is always allowed.
    pub fn ruling(&self, url: &str) -> Ruling {
        let free = Ruling { allowed: true, line: None };
        if self.rules.is_empty() {
            return free;
        }
        let path = normal(from_path(url).as_bytes(), false);
        if path == b"/robots.txt" {
            return free;
        }
        let other = escaped(&path);
        let mut rest = &*self.text;
        for rule in &self.rules {
            let (pattern, tail) = rest.split_at(rule.length as usize);
            let (escaped, tail) = tail.split_at(rule.escaped as usize);
            rest = tail;
            let escaped = if escaped.is_empty() { pattern } else { escaped };
            let once = rule.escaped == 0 && other == path;
            // A match in either form counts, since authors write both.
            if matches(pattern, &path) || !once && matches(escaped, &other) {
                return Ruling { allowed: rule.allow, line: Some(rule.line) };
            }
        }
        free
    }
}

/// The rules in compact form. Of rules with the same pattern only the deciding one is stored.
fn packed(mut found: Vec<Found>) -> (Box<[u8]>, Box<[Rule]>) {
    found.sort_unstable_by(|one, other| {
        one.pattern.cmp(&other.pattern).then((!one.allow, one.line).cmp(&(!other.allow, other.line)))
    });
    found.dedup_by(|later, first| later.pattern == first.pattern);
    found.sort_unstable_by_key(|rule| (Reverse(rule.pattern.len()), !rule.allow, rule.line));
    let size = |part: &[u8]| u32::try_from(part.len()).expect("half a megabyte is read");
    let (mut text, mut rules) = (Vec::new(), Vec::with_capacity(found.len()));
    for Found { pattern, allow, line } in found {
        let mut other = escaped(&pattern);
        if other == pattern {
            other.clear();
        }
        rules.push(Rule { length: size(&pattern), escaped: size(&other), line, allow });
        text.extend(pattern.into_iter().chain(other));
    }
    (text.into(), rules.into())
}

/// The product token in a `User-Agent` value: `suidao` for both `suidao/0.1 (+x)` and `Mozilla/5.0 (compatible;
/// suidao/0.1)`. Empty if there is none.
pub fn product(user_agent: &str) -> &str {
    let user_agent = user_agent.trim();
    let compatible = user_agent.split_once("(compatible;").filter(|(head, _)| head.starts_with("Mozilla/"));
    let name = compatible.map_or(user_agent, |(_, rest)| rest.trim_start());
    let token = token(name.as_bytes(), true).len();
    &name[..token]
}

/// The part that is parsed: whole lines, since half a rule is a different rule.
fn cut(text: &[u8]) -> &[u8] {
    if text.len() < MAX_BYTES {
        return text;
    }
    let text = &text[..MAX_BYTES];
    let end = text.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(0);
    &text[..end]
}

/// Removes a byte order mark, or a part of one; converts UTF-16, which some editors call Unicode, to UTF-8.
fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    match text {
        [0xff, 0xfe, rest @ ..] => utf8(encoding_rs::UTF_16LE, rest),
        [0xfe, 0xff, rest @ ..] => utf8(encoding_rs::UTF_16BE, rest),
        [0xef, 0xbb, 0xbf, rest @ ..] | [0xef, 0xbb, rest @ ..] | [0xef, rest @ ..] => Cow::Borrowed(rest),
        _ => Cow::Borrowed(text),
    }
}

fn utf8(encoding: &'static encoding_rs::Encoding, text: &[u8]) -> Cow<'static, [u8]> {
    Cow::Owned(encoding.decode_without_bom_handling(text).0.into_owned().into_bytes())
}

/// Lines end with LF, CR or both; a NUL ends one too.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|byte| matches!(byte, b'\n' | b'\r' | 0)) else {
            rest = None;
            return Some(text);
        };
        let both = usize::from(text[end..].starts_with(b"\r\n"));
        rest = Some(&text[end + 1 + both..]);
        Some(&text[..end])
    })
}

fn read(line: &[u8]) -> Option<Line<'_>> {
    let line = trimmed(uncommented(line));
    let (key, value) = match colon(line) {
        Some((key, value)) => (trimmed(key), trimmed(value)),
        // The colon is missing: two words, and no more.
        None => {
            let space = first_blank(line)?;
            let value = trimmed(&line[space..]);
            if first_blank(value).is_some() {
                return None;
            }
            (&line[..space], value)
        }
    };
    let key = &*ascii_key(key);
    let is = |names: &[&str]| {
        names.iter().any(|name| key.get(..name.len()).is_some_and(|key| key.eq_ignore_ascii_case(name.as_bytes())))
    };
    if is(&["user-agent", "useragent", "user agent"]) {
        Some(Line::Agent(value))
    } else if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
        Some(Line::Rule { allow: false, path: value })
    } else if is(&["allow"]) {
        Some(Line::Rule { allow: true, path: value })
    } else if is(&["crawl-delay", "crawldelay", "crawl delay"]) {
        Some(Line::Delay(value))
    } else if is(&["sitemap", "site-map"]) {
        Some(Line::Sitemap(value))
    } else {
        None
    }
}

/// The line before a comment. A full-width number sign counts after a blank, since it may be part of a path.
fn uncommented(line: &[u8]) -> &[u8] {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    let wide = memmem::find_iter(line, "＃").find(|&at| at == 0 || trimmed(&line[..at]).len() < at);
    wide.map_or(line, |at| &line[..at])
}

/// A path with an ordinary slash at its beginning instead of a full-width one.
fn from_slash(path: &[u8]) -> Cow<'_, [u8]> {
    let rest = path.strip_prefix("／".as_bytes());
    rest.map_or(Cow::Borrowed(path), |rest| Cow::Owned([b"/", rest].concat()))
}

/// Key and value around the first colon, for which Chinese authors also write others; the last is U+FF1A in GBK, before
/// which nothing but ASCII can be.
fn colon(line: &[u8]) -> Option<(&[u8], &[u8])> {
    const COLONS: [&[u8]; 4] = [b":", "：".as_bytes(), "﹕".as_bytes(), "∶".as_bytes()];
    const GBK: &[u8] = b"\xa3\xba";
    let of_gbk = memmem::find(line, GBK).filter(|&at| line[..at].is_ascii()).map(|at| (at, GBK.len()));
    let others = COLONS.iter().filter_map(|colon| Some((memmem::find(line, colon)?, colon.len())));
    let (at, length) = others.chain(of_gbk).min()?;
    Some((&line[..at], &line[at + length..]))
}

/// A key in ASCII: full-width letters and the hyphens of word processors as their ordinary forms.
fn ascii_key(key: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(key) {
        Ok(text) if !text.is_ascii() => {
            let plain = |c: char| match c {
                '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
                '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
                c if c.is_whitespace() => ' ',
                c => c,
            };
            Cow::Owned(text.chars().map(plain).collect::<String>().into_bytes())
        }
        _ => Cow::Borrowed(key),
    }
}

/// Blanks beyond ASCII that editors and word processors insert. The first two are U+00A0 in Latin-1 and U+3000 in GBK.
const BLANKS: [&[u8]; 10] = [
    b"\xa0",
    b"\xa1\xa1",
    "\u{a0}".as_bytes(),
    "\u{2002}".as_bytes(),
    "\u{2003}".as_bytes(),
    "\u{2009}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{200e}".as_bytes(),
    "\u{202f}".as_bytes(),
    "\u{3000}".as_bytes(),
];
/// The blanks of UTF-8; the others may be the end of a character.
const UTF_8_BLANKS: usize = 2;

/// Without blanks at both ends.
fn trimmed(mut text: &[u8]) -> &[u8] {
    loop {
        let length = text.len();
        text = text.trim_ascii();
        for (at, blank) in BLANKS.into_iter().enumerate() {
            text = text.strip_prefix(blank).unwrap_or(text);
            text = text.strip_suffix(blank).filter(|_| at >= UTF_8_BLANKS).unwrap_or(text);
        }
        if text.len() == length {
            return text;
        }
    }
}

/// Where the first blank is. Before the key ends, which is ASCII, also those of other charsets count.
fn first_blank(text: &[u8]) -> Option<usize> {
    let ascii = text.iter().take_while(|byte| byte.is_ascii()).count();
    let is_blank = |at: &usize| {
        let known = if *at <= ascii { &BLANKS[..] } else { &BLANKS[UTF_8_BLANKS..] };
        text[*at].is_ascii_whitespace() || known.iter().any(|blank| text[*at..].starts_with(blank))
    };
    (0..text.len()).find(is_blank)
}

/// The leading digits and points: people write `10s` and `10 seconds`.
fn seconds(value: &[u8]) -> Option<f32> {
    let end = value.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.')).unwrap_or(value.len());
    let seconds: f32 = std::str::from_utf8(&value[..end]).ok()?.parse().ok()?;
    seconds.is_finite().then_some(seconds)
}

/// The product token in a name: by the RFC letters, `_` and `-`; many robots have digits in theirs.
fn token(name: &[u8], digits: bool) -> &[u8] {
    let part = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-') || digits && byte.is_ascii_digit();
    &name[..name.iter().position(|byte| !part(byte)).unwrap_or(name.len())]
}

/// Whom a `User-agent` line addresses; none if not `agent`.
fn address(value: &[u8], agent: &[u8]) -> Option<Address> {
    if value == "＊".as_bytes() || value == "﹡".as_bytes() {
        return Some(Address::Everybody);
    }
    if value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace) {
        return Some(Address::Everybody);
    }
    let agent = token(agent, true);
    let is_named = |agent: &[u8]| {
        let is = |name: &[u8]| !name.is_empty() && name.eq_ignore_ascii_case(agent);
        is(token(value, true)) || is(token(value, false))
    };
    // Googlebot-News without a group of its own follows the group of Googlebot.
    let ends = agent.iter().enumerate().filter(|(_, byte)| **byte == b'-').map(|(at, _)| at);
    let mut ends: Vec<usize> = ends.chain([agent.len()]).collect();
    ends.reverse();
    ends.into_iter().find(|&end| is_named(&agent[..end])).map(Address::Us)
}

fn from_path(url: &str) -> Cow<'_, str> {
    let url = url.split('#').next().unwrap_or_default();
    if url.starts_with('/') {
        return Cow::Borrowed(url);
    }
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.find(['/', '?']) {
        Some(at) if rest[at..].starts_with('/') => Cow::Borrowed(&rest[at..]),
        Some(at) => Cow::Owned(["/", &rest[at..]].concat()),
        None => Cow::Borrowed("/"),
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

/// Escapes in normal form: upper case, unreserved characters decoded, and everything encoded that is neither unreserved
/// nor reserved (RFC 9309, 2.2.2). `*` and `$` remain only where a pattern uses them as operators (2.2.3).
fn normal(text: &[u8], pattern: bool) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    // A percent sign that is not an escape must not form one with a decoded character after it.
    let (mut at, mut bare) = (0, None);
    while at < text.len() {
        let byte = text[at];
        at += 1;
        match (byte, digit(at), digit(at + 1)) {
            (b'%', Some(high), Some(low)) => {
                at += 2;
                let code = (high * 16 + low) as u8;
                let joins = code.is_ascii_hexdigit() && bare.is_some_and(|bare| out.len() - bare <= 2);
                if is_unreserved(code) && !joins { out.push(code) } else { escape(&mut out, code) }
            }
            (b'*', ..) if pattern => out.push(byte),
            (b'$', ..) if pattern && at == text.len() => out.push(byte),
            (b'*' | b'$', ..) => escape(&mut out, byte),
            (b'%', ..) => {
                bare = Some(out.len());
                out.push(byte);
            }
            _ if is_unreserved(byte) || is_reserved(byte) => out.push(byte),
            _ => escape(&mut out, byte),
        }
    }
    out
}

/// The same with reserved characters escaped unless they are delimiters: all but `/` in the path, the first `?`, and
/// `&` and `=` in the query. So `?u=http://a` and `?u=http%3A%2F%2Fa` are equal, as in the RFC's table.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut query = false;
    for (at, &byte) in text.iter().enumerate() {
        let parts = match byte {
            b'*' => true,
            b'$' => at + 1 == text.len(),
            b'/' => !query,
            b'?' => !std::mem::replace(&mut query, true),
            b'&' | b'=' => query,
            _ => !is_reserved(byte),
        };
        if parts { out.push(byte) } else { escape(&mut out, byte) }
    }
    out
}

/// Whether a path begins with a match of the pattern. Linear in both: the first match of a piece suffices, because `*`
/// matches the rest.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_the_end) = match pattern {
        [pattern @ .., b'$'] => (pattern, true),
        _ => (pattern, false),
    };
    let mut pieces = pattern.split(|&byte| byte == b'*');
    let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(piece) = last.replace(piece) {
            let Some(at) = memmem::find(rest, piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
    }
    match last {
        None => !to_the_end || rest.is_empty(),
        Some(piece) if to_the_end => rest.ends_with(piece),
        Some(piece) => memmem::find(rest, piece).is_some(),
    }
}

#[cfg(test)]
mod tests;
