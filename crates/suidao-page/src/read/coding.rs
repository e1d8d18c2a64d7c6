//! Decodes `Content-Encoding` (gzip, deflate, brotli, zstd and chains of them) as browsers do.
//!
//! Each step decodes to at most `limit` bytes, so that a decompression bomb costs no more memory than a large page.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

/// Value of `Accept-Encoding`.
pub const ACCEPTED: &str = "gzip, br, zstd, deflate";

/// Longest chain; real ones have one or two steps.
const LONGEST_CHAIN: usize = 5;

/// Binary logarithm of zstd's largest window: 8 MiB for HTTP (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpackError {
    TooLarge,
    /// Broken, incomplete, or in a coding that was not requested.
    Broken,
}

enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Decodes a body by `field`, all values of `Content-Encoding` joined by commas.
///
/// `None` if the body is not encoded: `identity`, an empty body, names of no coding (servers send `utf-8` or `none`,
/// and browsers ignore it), or a body without the magic number of gzip or zstd.
///
/// # Errors
/// [`UnpackError`] if the body is broken, or one step exceeds `limit` bytes.
pub fn unpack(field: &str, wire: &[u8], limit: usize) -> Result<Option<Bytes>, UnpackError> {
    if wire.is_empty() {
        return Ok(None);
    }
    let mut chain = Vec::new();
    for name in field.split(',').map(|name| name.trim().to_ascii_lowercase()) {
        match name.as_str() {
            "gzip" | "x-gzip" => chain.push(Coding::Gzip),
            "deflate" => chain.push(Coding::Deflate),
            "br" => chain.push(Coding::Brotli),
            "zstd" => chain.push(Coding::Zstd),
            "compress" | "x-compress" | "dcb" | "dcz" => return Err(UnpackError::Broken),
            _ => {}
        }
    }
    if chain.len() > LONGEST_CHAIN {
        return Err(UnpackError::Broken);
    }
    let mut body: Option<Vec<u8>> = None;
    // Codings are listed in the order applied (RFC 9110, 8.4).
    for coding in chain.iter().rev() {
        let packed = body.as_deref().unwrap_or(wire);
        let step = match coding {
            Coding::Gzip => members(packed, limit, is_gzip, gzip_member)?,
            Coding::Zstd => members(packed, limit, is_zstd, zstd_frame)?,
            Coding::Deflate => Some(inflate(packed, limit)?),
            Coding::Brotli => Some(drain(brotli::Decompressor::new(packed, 4096), limit)?),
        };
        body = step.or(body);
    }
    Ok(body.map(Bytes::from))
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

/// Appends one decoded member and returns the rest of the input.
type Member = for<'a> fn(&'a [u8], &mut Vec<u8>, usize) -> Result<&'a [u8], UnpackError>;

/// Decodes gzip and zstd bodies of several members. Ignores invalid data after the first member, as browsers do. `None`
/// if the first is invalid.
fn members(
    packed: &[u8],
    limit: usize,
    begins: fn(&[u8]) -> bool,
    member: Member,
) -> Result<Option<Vec<u8>>, UnpackError> {
    if !begins(packed) {
        return Ok(None);
    }
    let mut out = Vec::new();
    let mut rest = member(packed, &mut out, limit)?;
    while begins(rest) {
        let sound = out.len();
        match member(rest, &mut out, limit) {
            Ok(next) => rest = next,
            Err(UnpackError::TooLarge) => return Err(UnpackError::TooLarge),
            Err(UnpackError::Broken) => {
                out.truncate(sound);
                break;
            }
        }
    }
    Ok(Some(out))
}

fn is_gzip(packed: &[u8]) -> bool {
    packed.starts_with(&[0x1f, 0x8b])
}

fn gzip_member<'a>(packed: &'a [u8], out: &mut Vec<u8>, limit: usize) -> Result<&'a [u8], UnpackError> {
    let mut decoder = GzDecoder::new(packed);
    drain_into(out, &mut decoder, limit)?;
    Ok(decoder.into_inner())
}

/// The magic number of a frame or of a skippable frame (RFC 8878, 3.1).
fn is_zstd(packed: &[u8]) -> bool {
    matches!(packed, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

fn zstd_frame<'a>(packed: &'a [u8], out: &mut Vec<u8>, limit: usize) -> Result<&'a [u8], UnpackError> {
    let open = || -> io::Result<_> {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?.single_frame();
        decoder.window_log_max(ZSTD_WINDOW)?;
        Ok(decoder)
    };
    let mut decoder = open().map_err(|_| UnpackError::Broken)?;
    drain_into(out, &mut decoder, limit)?;
    Ok(decoder.finish())
}

/// `deflate` means zlib (RFC 1950), but many servers send raw data (RFC 1951), and browsers accept both.
fn inflate(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    // A zlib header: method 8, and a multiple of 31 as a 16-bit number.
    let zlib = matches!(packed, [a, b, ..] if a & 0x0f == 8 && (u16::from(*a) << 8 | u16::from(*b)) % 31 == 0);
    if zlib {
        match drain(ZlibDecoder::new(packed), limit) {
            Err(UnpackError::Broken) => {}
            unpacked => return unpacked,
        }
    }
    drain(DeflateDecoder::new(packed), limit)
}

#[cfg(any(test, feature = "fixture"))]
pub mod packed;

#[cfg(test)]
mod tests {
    use super::packed::{brotli, gzip, raw_deflate, zlib, zstd};
    use super::*;

    type Packer = (&'static str, fn(&[u8]) -> Vec<u8>);
    const PACKERS: [Packer; 5] =
        [("gzip", gzip), ("deflate", zlib), ("deflate", raw_deflate), ("br", brotli), ("zstd", zstd)];

    fn page() -> Vec<u8> {
        (0..2000).flat_map(|n| format!("<p>第 {n} 隧道 {}</p>", n * 7919 % 1013).into_bytes()).collect()
    }

    #[test]
    fn each_coding_is_undone_and_none_survives_being_cut() {
        let page = page();
        for (name, pack) in PACKERS {
            let wire = pack(&page);
            assert_eq!(unpack(name, &wire, page.len()).unwrap().unwrap(), page, "{name}");
            for cut in [wire.len() - 1, wire.len() / 2, 5] {
                assert_eq!(unpack(name, &wire[..cut], 1 << 20), Err(UnpackError::Broken), "{name} cut to {cut}");
            }
            assert_eq!(unpack(name, &wire, page.len() - 1), Err(UnpackError::TooLarge), "{name}");
        }
    }

    #[test]
    fn chains_are_undone_from_the_last() {
        let page = page();
        assert_eq!(unpack("gzip, BR", &brotli(&gzip(&page)), 1 << 20).unwrap().unwrap(), page);
        assert_eq!(unpack("deflate,identity , x-gzip", &gzip(&zlib(&page)), 1 << 20).unwrap().unwrap(), page);
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
        ] {
            assert_eq!(unpack(field, body, 1 << 20), Ok(None), "{field}");
        }
        // Named twice, applied once.
        assert_eq!(unpack("gzip, gzip", &gzip(b"<html>"), 1 << 20).unwrap().unwrap(), &b"<html>"[..]);
        for field in ["br", "deflate", "compress"] {
            assert_eq!(unpack(field, b"<html>plain", 1 << 20), Err(UnpackError::Broken), "{field}");
        }
    }

    #[test]
    fn members_follow_each_other_and_garbage_is_ignored() {
        for (name, pack) in [PACKERS[0], PACKERS[4]] {
            let two = [pack(b"one "), pack(b"two")].concat();
            assert_eq!(unpack(name, &two, 100).unwrap().unwrap(), &b"one two"[..], "{name}");
            for garbage in [&b"\0\0\0\0"[..], b"<!-- cached -->", &pack(b"cut")[..9]] {
                let wire = [&two, garbage].concat();
                assert_eq!(unpack(name, &wire, 100).unwrap().unwrap(), &b"one two"[..], "{name}");
            }
            assert_eq!(unpack(name, &pack(b"12345").repeat(3), 14), Err(UnpackError::TooLarge), "{name}");
        }
        for (name, pack) in PACKERS {
            let wire = [pack(b"one"), b"\0\0garbage".to_vec()].concat();
            assert_eq!(unpack(name, &wire, 100).unwrap().unwrap(), &b"one"[..], "{name}");
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
                if let Ok(Some(body)) = unpack(name, wire, limit) {
                    proptest::prop_assert!(body.len() <= limit);
                }
            }
        }
    }
}
