//! Decodes `Content-Encoding` (gzip, deflate, brotli, zstd and chains of them), more forgiving than browsers: servers and
//! caches name the wrong coding, and cut or miscount checksums.
//!
//! Each step decodes to at most `limit` bytes, so that a decompression bomb costs no more memory than a large page.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::Crc;
use flate2::bufread::{DeflateDecoder, ZlibDecoder};

/// Value of `Accept-Encoding`.
pub const ACCEPTED: &str = "gzip, br, zstd, deflate";

/// Longest chain; real ones have one or two steps.
const LONGEST_CHAIN: usize = 5;

/// Binary logarithm of zstd's largest window: 8 MiB for HTTP (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

/// Bytes of the CRC and the length behind a gzip member.
const GZIP_TRAILER: usize = 8;

/// Bytes to search for control characters, and bytes in which encoded data has one: a tenth of all bytes are.
const SAMPLE: usize = 256;
const ENOUGH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpackError {
    TooLarge,
    /// Broken, incomplete, or in a coding that was not requested.
    Broken,
}

/// A decoded body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    pub body: Bytes,
    /// Whether its checksums are there and right.
    pub verified: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// One that was not requested.
    Unknown,
}

/// Decodes a body by `field`, all values of `Content-Encoding` joined by commas.
///
/// The magic number of gzip or zstd counts more than the name, so a body that is in another coding than named, or in one
/// that is not named, is decoded too. A gzip or zlib body without its checksum or with a wrong one is decoded, and not
/// verified.
///
/// `None` if the body is not encoded: `identity`, an empty body, names of no coding (servers send `utf-8` or `none`,
/// and browsers ignore it), or a body that is text.
///
/// # Errors
/// [`UnpackError`] if the body is broken, or one step exceeds `limit` bytes.
pub fn unpack(field: &str, wire: &[u8], limit: usize) -> Result<Option<Unpacked>, UnpackError> {
    if wire.is_empty() {
        return Ok(None);
    }
    let mut chain = Vec::new();
    for name in field.split(',') {
        chain.extend(named(name));
    }
    if chain.len() > LONGEST_CHAIN {
        return Err(UnpackError::Broken);
    }
    let mut body: Option<Vec<u8>> = None;
    let mut verified = true;
    // Codings are listed in the order applied (RFC 9110, 8.4).
    for coding in chain.iter().rev() {
        let packed = body.as_deref().unwrap_or(wire);
        if let Some(step) = undo(*coding, packed, limit, &mut verified)? {
            body = Some(step);
        }
    }
    // Compressed more often than named, as by a server behind a cache. Otherwise the bytes would be the page.
    for _ in chain.len()..LONGEST_CHAIN {
        let packed = body.as_deref().unwrap_or(wire);
        let mut is_right = true;
        // A body that is too large is left to readers that know the format, as of a sitemap.
        let step = is_gzip(packed).then(|| members(packed, limit, is_gzip, gzip_member, &mut is_right).ok());
        let Some(step) = step.flatten() else { break };
        verified &= is_right;
        body = Some(step);
    }
    Ok(body.map(|body| Unpacked { body: Bytes::from(body), verified }))
}

/// The coding of a name, without parameters (`gzip;q=1.0`); none of one that names no coding.
fn named(name: &str) -> Option<Coding> {
    let name =
        name.split(';').next().unwrap_or_default().trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("x-").unwrap_or(&name) {
        "gzip" | "gz" => Some(Coding::Gzip),
        "deflate" | "zlib" => Some(Coding::Deflate),
        "br" | "brotli" => Some(Coding::Brotli),
        "zstd" => Some(Coding::Zstd),
        "compress" | "dcb" | "dcz" => Some(Coding::Unknown),
        _ => None,
    }
}

/// Undoes one step; `None` if the body is text and so not encoded.
fn undo(coding: Coding, packed: &[u8], limit: usize, verified: &mut bool) -> Result<Option<Vec<u8>>, UnpackError> {
    let unpacked = if is_gzip(packed) {
        members(packed, limit, is_gzip, gzip_member, verified)
    } else if is_zstd(packed) {
        members(packed, limit, is_zstd, zstd_frame, verified)
    } else {
        match coding {
            Coding::Gzip | Coding::Zstd if is_text(packed) => return Ok(None),
            Coding::Gzip | Coding::Deflate => inflate(packed, limit, verified),
            Coding::Brotli => drain(brotli_decompressor::Decompressor::new(packed, 4096), limit),
            Coding::Zstd | Coding::Unknown => Err(UnpackError::Broken),
        }
    };
    match unpacked {
        Err(UnpackError::Broken) if is_text(packed) => Ok(None),
        unpacked => unpacked.map(Some),
    }
}

/// Whether a body is text: encoded data has control characters among its first bytes, unless it is very short, and then
/// it is not UTF-8.
pub fn is_text(body: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let sample = &body[..body.len().min(SAMPLE)];
    let is_utf8 = std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_utf16 = sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff");
    let is_long = sample.len() >= ENOUGH || sample.trim_ascii_start().starts_with(b"<");
    is_utf16 || !sample.iter().any(is_control) && (is_utf8 || is_long)
}

/// Reads to the end, or to one byte beyond the limit.
fn drain(reader: impl Read, limit: usize) -> Result<Vec<u8>, UnpackError> {
    let mut out = Vec::new();
    drain_into(&mut out, reader, limit)?;
    Ok(out)
}

fn drain_into(out: &mut Vec<u8>, reader: impl Read, limit: usize) -> Result<(), UnpackError> {
    let room = (limit - out.len()) as u64;
    reader.take(room.saturating_add(1)).read_to_end(out).map_err(|_| UnpackError::Broken)?;
    if out.len() > limit { Err(UnpackError::TooLarge) } else { Ok(()) }
}

/// Appends one decoded member; returns the rest of the input, and whether the member's checksum is right.
type Member = for<'a> fn(&'a [u8], &mut Vec<u8>, usize) -> Result<(&'a [u8], bool), UnpackError>;

/// Decodes gzip and zstd bodies of several members. Ignores invalid data after the first member, as browsers do.
fn members(
    packed: &[u8],
    limit: usize,
    begins: fn(&[u8]) -> bool,
    member: Member,
    verified: &mut bool,
) -> Result<Vec<u8>, UnpackError> {
    let mut out = Vec::new();
    let (mut rest, is_right) = member(packed, &mut out, limit)?;
    *verified &= is_right;
    while begins(rest) {
        let sound = out.len();
        match member(rest, &mut out, limit) {
            Ok((next, is_right)) => {
                *verified &= is_right;
                rest = next;
            }
            Err(UnpackError::TooLarge) => return Err(UnpackError::TooLarge),
            Err(UnpackError::Broken) => {
                // Garbage behind the body, or half of another member.
                *verified &= out.len() == sound;
                break;
            }
        }
    }
    Ok(out)
}

fn is_gzip(packed: &[u8]) -> bool {
    packed.starts_with(&[0x1f, 0x8b])
}

/// The data is complete when deflate says so (RFC 1951, 3.2.3); the trailer only verifies it (RFC 1952, 2.3.1).
fn gzip_member<'a>(packed: &'a [u8], out: &mut Vec<u8>, limit: usize) -> Result<(&'a [u8], bool), UnpackError> {
    let begin = out.len();
    let mut decoder = DeflateDecoder::new(after_gzip_header(packed).ok_or(UnpackError::Broken)?);
    drain_into(out, &mut decoder, limit)?;
    let rest = decoder.into_inner();
    let Some((trailer, rest)) = rest.split_at_checked(GZIP_TRAILER) else { return Ok((&[], false)) };
    let mut crc = Crc::new();
    crc.update(&out[begin..]);
    let is_right = trailer[..4] == crc.sum().to_le_bytes() && trailer[4..] == crc.amount().to_le_bytes();
    Ok((rest, is_right))
}

/// The deflate data behind the header of a gzip member (RFC 1952, 2.3).
fn after_gzip_header(packed: &[u8]) -> Option<&[u8]> {
    const HCRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let (&flags, mut rest) = (packed.get(3)?, packed.get(10..)?);
    if packed[2] != 8 {
        return None;
    }
    if flags & EXTRA != 0 {
        let length = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        rest = rest.get(2 + length..)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            rest = &rest[memchr::memchr(0, rest)? + 1..];
        }
    }
    if flags & HCRC != 0 { rest.get(2..) } else { Some(rest) }
}

/// The magic number of a frame or of a skippable frame (RFC 8878, 3.1).
fn is_zstd(packed: &[u8]) -> bool {
    matches!(packed, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

fn zstd_frame<'a>(packed: &'a [u8], out: &mut Vec<u8>, limit: usize) -> Result<(&'a [u8], bool), UnpackError> {
    let open = || -> io::Result<_> {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?.single_frame();
        decoder.window_log_max(ZSTD_WINDOW)?;
        Ok(decoder)
    };
    let mut decoder = open().map_err(|_| UnpackError::Broken)?;
    drain_into(out, &mut decoder, limit)?;
    Ok((decoder.finish(), true))
}

/// `deflate` means zlib (RFC 1950), but many servers send raw data (RFC 1951), and browsers accept both.
fn inflate(packed: &[u8], limit: usize, verified: &mut bool) -> Result<Vec<u8>, UnpackError> {
    // A zlib header: method 8, and a multiple of 31 as a 16-bit number.
    let zlib = matches!(packed, [a, b, ..] if a & 0x0f == 8 && (u16::from(*a) << 8 | u16::from(*b)) % 31 == 0);
    if zlib {
        match drain(ZlibDecoder::new(packed), limit) {
            // The checksum behind the data is missing or wrong, or these two bytes are not a header.
            Err(UnpackError::Broken) => {
                if let Ok(unpacked) = drain(DeflateDecoder::new(&packed[2..]), limit) {
                    *verified = false;
                    return Ok(unpacked);
                }
            }
            unpacked => return unpacked,
        }
    }
    drain(DeflateDecoder::new(packed), limit)
}

#[doc(hidden)]
pub mod packed;

#[cfg(test)]
mod tests {
    use super::packed::{brotli, gzip, raw_deflate, zlib, zstd};
    use super::*;

    type Packer = (&'static str, fn(&[u8]) -> Vec<u8>);
    const PACKERS: [Packer; 5] =
        [("gzip", gzip), ("deflate", zlib), ("deflate", raw_deflate), ("br", brotli), ("zstd", zstd)];

    fn right(body: &[u8]) -> Result<Option<Unpacked>, UnpackError> {
        Ok(Some(Unpacked { body: Bytes::copy_from_slice(body), verified: true }))
    }

    fn page() -> Vec<u8> {
        (0..2000).flat_map(|n| format!("<p>第 {n} 隧道 {}</p>", n * 7919 % 1013).into_bytes()).collect()
    }

    #[test]
    fn each_coding_is_undone_and_none_survives_being_cut() {
        let page = page();
        for (name, pack) in PACKERS {
            let wire = pack(&page);
            assert_eq!(unpack(name, &wire, page.len()), right(&page), "{name}");
            for cut in [wire.len() / 2, 5] {
                assert_eq!(unpack(name, &wire[..cut], 1 << 20), Err(UnpackError::Broken), "{name} cut to {cut}");
            }
            assert_eq!(unpack(name, &wire, page.len() - 1), Err(UnpackError::TooLarge), "{name}");
        }
    }

    #[test]
    fn compressed_brotli_is_decoded() {
        let wire = "1b2702f8c5da86215717bce19b20230b060543d196645d1236e08020a6c403c2c1f14c80042a36a402e9407c93b9b6bd58ffe0606\
                    72f88057a9ed0bd730935";
        let wire = data_encoding::HEXLOWER.decode(wire.as_bytes()).unwrap();
        let text = "隧道里的爬虫，隧道外的爬虫，隧道里外都是爬虫。".repeat(8);
        assert_eq!(unpack("br", &wire, 1 << 20), right(text.as_bytes()));
    }

    #[test]
    fn data_without_its_checksum_is_taken_and_not_verified() {
        let page = page();
        let unverified = Ok(Some(Unpacked { body: page.clone().into(), verified: false }));
        for (name, pack, trailer) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>, 8), ("deflate", zlib, 4)] {
            let wire = pack(&page);
            for missing in [1, trailer / 2, trailer] {
                assert_eq!(
                    unpack(name, &wire[..wire.len() - missing], 1 << 20),
                    unverified,
                    "{name} without {missing}"
                );
            }
            let more = unpack(name, &wire[..wire.len() - trailer - 1], 1 << 20);
            assert_eq!(more, Err(UnpackError::Broken), "{name}: data is missing");
            for flipped in 1..=trailer {
                let mut wrong = wire.clone();
                let at = wrong.len() - flipped;
                wrong[at] ^= 0x55;
                assert_eq!(unpack(name, &wrong, 1 << 20), unverified, "{name} with byte {at} wrong");
            }
        }
        let named = flate2::GzBuilder::new().filename("page.html").comment("x").extra([1, 2, 3]);
        let mut encoder = named.write(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &page).unwrap();
        assert_eq!(unpack("gzip", &encoder.finish().unwrap(), 1 << 20), right(&page));
    }

    #[test]
    fn a_wrongly_named_coding_is_undone() {
        let page = page();
        for field in
            ["gzip;q=1.0", "\"gzip\"", "x-gzip ; q=1", "deflate", "br", "utf-8", "", "none", "identity", "zstd"]
        {
            assert_eq!(unpack(field, &gzip(&page), 1 << 20), right(&page), "gzip as {field}");
        }
        for field in ["x-deflate", "deflate;q=0.5", "gzip", "zlib"] {
            assert_eq!(unpack(field, &zlib(&page), 1 << 20), right(&page), "zlib as {field}");
        }
        assert_eq!(unpack("gzip", &raw_deflate(&page), 1 << 20), right(&page));
        assert_eq!(unpack("gzip", &zstd(&page), 1 << 20), right(&page));
        assert_eq!(unpack("brotli", &brotli(&page), 1 << 20), right(&page));
        assert_eq!(unpack("gzip", &gzip(&gzip(&gzip(&page))), 1 << 20), right(&page), "three times, named once");
        assert_eq!(unpack("compress", &gzip(&page), 1 << 20), right(&page));
        let half = [gzip(b"one"), gzip(&page)[..2000].to_vec()].concat();
        let cut = unpack("gzip", &half, 1 << 20).unwrap().unwrap();
        assert!(!cut.verified && cut.body.starts_with(b"one<p>"), "half of the second member");
        for field in ["gzip", "zstd", "deflate"] {
            assert_eq!(unpack(field, &brotli(&page), 1 << 20), Err(UnpackError::Broken), "brotli as {field}");
        }
    }

    #[test]
    fn chains_are_undone_from_the_last() {
        let page = page();
        assert_eq!(unpack("gzip, BR", &brotli(&gzip(&page)), 1 << 20), right(&page));
        assert_eq!(unpack("deflate,identity , x-gzip", &gzip(&zlib(&page)), 1 << 20), right(&page));
        let many = (0..6).fold(page.clone(), |body, _| gzip(&body));
        assert_eq!(unpack("gzip,gzip,gzip,gzip,gzip,gzip", &many, 1 << 20), Err(UnpackError::Broken));
    }

    #[test]
    fn bombs_stop_at_the_limit_in_every_step() {
        let zeros = vec![0; 32 << 20];
        for (name, pack) in PACKERS {
            assert_eq!(unpack(name, &pack(&zeros), 1 << 20), Err(UnpackError::TooLarge), "{name}");
        }
        // The outer step alone is the bomb: its output decodes to almost nothing.
        let empties: Vec<u8> = gzip(b"").repeat(200_000);
        assert_eq!(unpack("gzip, gzip", &gzip(&empties), 1 << 20), Err(UnpackError::TooLarge));
    }

    #[test]
    fn what_is_not_packed_is_the_page() {
        for (field, body) in [
            ("gzip", &b"<html>plain"[..]),
            ("zstd", b"<html>plain"),
            ("gzip, gzip", b"<html>plain"),
            ("identity", b"<html>"),
            ("utf-8", b"<html>"),
            ("", b"<html>"),
            ("br", b""),
            ("gzip", b""),
            ("br", b"<html>plain"),
            ("deflate", b"\n<html>plain"),
            ("compress", b"<html>plain"),
            ("gzip", "# 机器人规则\nUser-agent: *".as_bytes()),
            ("gzip", "\u{feff}\n<html>".as_bytes()),
            ("zstd", b"\xff\xfe<\0h\0"),
            ("gzip", b"<title>\xb1\xea\xcc\xe2</title>"),
        ] {
            assert_eq!(unpack(field, body, 1 << 20), Ok(None), "{field}");
        }
        // Named twice, applied once.
        assert_eq!(unpack("gzip, gzip", &gzip(b"<html>"), 1 << 20), right(b"<html>"));
        assert_eq!(unpack("compress", b"\x1f\x9d\x90\x01binary", 1 << 20), Err(UnpackError::Broken));
        for field in ["gzip", "br", "deflate", "zstd"] {
            assert_eq!(unpack(field, b"\x01\x02\xffbinary", 1 << 20), Err(UnpackError::Broken), "{field}");
        }
    }

    #[test]
    fn members_follow_each_other_and_garbage_is_ignored() {
        for (name, pack) in [PACKERS[0], PACKERS[4]] {
            let two = [pack(b"one "), pack(b"two")].concat();
            assert_eq!(unpack(name, &two, 100), right(b"one two"), "{name}");
            for garbage in [&b"\0\0\0\0"[..], b"<!-- cached -->", &pack(b"cut")[..9]] {
                let wire = [&two, garbage].concat();
                assert_eq!(unpack(name, &wire, 100), right(b"one two"), "{name}");
            }
            assert_eq!(unpack(name, &pack(b"12345").repeat(3), 14), Err(UnpackError::TooLarge), "{name}");
        }
        for (name, pack) in PACKERS {
            let wire = [pack(b"one"), b"\0\0garbage".to_vec()].concat();
            assert_eq!(unpack(name, &wire, 100).unwrap().unwrap().body, &b"one"[..], "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic_or_pass_the_limit(bytes: Vec<u8>, which in 0..5_usize, at: u16, flip: u8, limit in 1..3000_usize) {
            let (name, pack) = PACKERS[which];
            let mut wire = pack(&bytes);
            let at = usize::from(at) % wire.len();
            wire[at] ^= flip;
            for wire in [&wire, &bytes] {
                if let Ok(Some(unpacked)) = unpack(name, wire, limit) {
                    proptest::prop_assert!(unpacked.body.len() <= limit);
                }
            }
        }
    }
}
