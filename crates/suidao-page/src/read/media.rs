//! The kind of a response's body: HTML, plain text or unreadable. The declared type counts unless the first bytes
//! contradict it.

use super::words::{HTML, SectionWords};
use crate::model::Fetched;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaKind {
    Html,
    Plain,
}

/// Bytes to search for non-text.
const SAMPLE: usize = 4 << 10;

/// Whether a response is read as a page: by its media type, or because it begins like HTML.
pub fn is_page(fetched: &Fetched) -> bool {
    let media = fetched.media_type();
    let known = ["", "text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"];
    known.contains(&&*media) || kind(fetched).is_some()
}

/// `None` if it is neither HTML nor text.
pub(super) fn kind(fetched: &Fetched) -> Option<MediaKind> {
    let media = fetched.media_type();
    let body = &fetched.body[..];
    match media.as_str() {
        "text/html" | "application/xhtml+xml" => (!is_binary(body)).then_some(MediaKind::Html),
        "text/plain" if is_html_document(body) && may_sniff(fetched) => Some(MediaKind::Html),
        "text/plain" => (!is_binary(body)).then_some(MediaKind::Plain),
        _ => looks_like_html(body).then_some(MediaKind::Html),
    }
}

fn may_sniff(fetched: &Fetched) -> bool {
    !fetched.header("x-content-type-options").is_some_and(|value| value.trim().eq_ignore_ascii_case("nosniff"))
}

/// Whether a body is a whole HTML document, and not a text about HTML.
fn is_html_document(body: &[u8]) -> bool {
    let head = body[..body.len().min(SAMPLE)].to_ascii_lowercase();
    let has = |tag: &str| memchr::memmem::find(&head, tag.as_bytes()).is_some();
    looks_like_html(body)
        && (has("<!doctype html") || has("<html") && has("</"))
        && (has("<head") || has("<body") || has("<title"))
}

/// Whether a body is binary: by its magic number, or by one in ten bytes being a control character. Zeros of UTF-16 are
/// counted separately, because every second byte may be 0.
fn is_binary(body: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 22] = [
        b"%PDF-",
        b"\x89PNG\r\n",
        b"GIF87a",
        b"GIF89a",
        b"\xFF\xD8\xFF",
        b"PK\x03\x04",
        b"Rar!\x1a\x07",
        b"7z\xBC\xAF\x27\x1C",
        b"\x1f\x8b\x08",
        b"BZh9",
        b"\xFD7zXZ\x00",
        b"\x28\xB5\x2F\xFD",
        b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
        b"MZ\x90\x00",
        b"\x7fELF",
        b"OggS\x00",
        b"ID3\x03",
        b"ID3\x04",
        b"wOFF",
        b"wOF2",
        b"\x00\x00\x01\x00",
        b"SQLite format 3\x00",
    ];
    let riff = body.starts_with(b"RIFF")
        && body.get(8..12).is_some_and(|kind| kind == b"WEBP" || kind == b"WAVE" || kind == b"AVI ");
    let film = body.get(4..8).is_some_and(|kind| kind == b"ftyp");
    if riff || film || BEGINNINGS.iter().any(|beginning| body.starts_with(beginning)) {
        return true;
    }
    let sample = &body[..body.len().min(SAMPLE)];
    let control = sample.iter().filter(|&&byte| matches!(byte, 0x01..=0x08 | 0x0E..=0x1A | 0x1C..=0x1F)).count();
    let zeros = [0, 1].map(|odd| sample.iter().skip(odd).step_by(2).filter(|&&byte| byte == 0).count());
    // Zeros at even and odd offsets alike are not UTF-16.
    let stray = zeros[0].min(zeros[1]);
    (control + 2 * stray) * 10 > sample.len().max(40)
}

/// Whether a body of unknown type begins like HTML.
fn looks_like_html(body: &[u8]) -> bool {
    static BEGINNINGS: SectionWords = SectionWords::of(HTML, "beginnings");
    let mut start = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    // Comments and declarations may precede.
    for _ in 0..8 {
        let end: &[u8] = match start {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            _ => break,
        };
        let Some(at) = start.windows(end.len()).take(4 << 10).position(|window| window == end) else { return false };
        start = start[at + end.len()..].trim_ascii_start();
    }
    BEGINNINGS
        .iter()
        .any(|beginning| start.get(..beginning.len()).is_some_and(|own| own.eq_ignore_ascii_case(beginning.as_bytes())))
}
