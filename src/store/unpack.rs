//! Content and transfer encodings undone, within a limit. Apart from the fetcher because archives of other software
//! hold what no fetcher of ours let through: a body that does not unpack is given as it stands.

use std::io::Read;

/// A body without the codings that `content_encoding` names, at most `limit` bytes; `None` if it does not unpack,
/// is larger, or is not encoded at all.
pub(super) fn content(content_encoding: &str, body: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut unpacked: Option<Vec<u8>> = None;
    // Codings are listed in the order applied (RFC 9110, 8.4).
    for coding in content_encoding.rsplit(',') {
        let coding = coding.trim().to_ascii_lowercase();
        let packed = unpacked.as_deref().unwrap_or(body);
        let step = match coding.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => whole(flate2::read::MultiGzDecoder::new(packed), limit),
            // Some servers send the bare stream (RFC 9110, 8.4.1.2).
            "deflate" => whole(flate2::read::ZlibDecoder::new(packed), limit)
                .or_else(|| whole(flate2::read::DeflateDecoder::new(packed), limit)),
            "br" => whole(brotli::Decompressor::new(packed, 1 << 14), limit),
            "zstd" => zstd::Decoder::new(packed).ok().and_then(|reader| whole(reader, limit)),
            _ => None,
        };
        unpacked = Some(step?);
    }
    unpacked
}

fn whole(reader: impl Read, limit: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() <= limit).then_some(out)
}

/// A chunked body (RFC 9112, 7.1) put together; `None` if it is not chunked in fact.
pub(super) fn chunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    loop {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(out);
        }
        let (chunk, behind) = rest.split_at_checked(size)?;
        out.extend_from_slice(chunk);
        rest = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n"))?;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn every_coding_unpacks_within_the_limit() {
        let text = "隧道 tunnel ".repeat(100);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        bare.write_all(text.as_bytes()).unwrap();
        let mut br = Vec::new();
        brotli::CompressorWriter::new(&mut br, 4096, 4, 20).write_all(text.as_bytes()).unwrap();
        let twice = zstd::encode_all(gzip.as_slice(), 1).unwrap();
        for (coding, body) in [
            ("gzip", gzip.clone()),
            ("X-GZIP", gzip),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", bare.finish().unwrap()),
            ("br", br),
            ("zstd", zstd::encode_all(text.as_bytes(), 1).unwrap()),
            ("gzip, zstd", twice),
        ] {
            assert_eq!(content(coding, &body, text.len()).as_deref(), Some(text.as_bytes()), "{coding}");
            assert_eq!(content(coding, &body, text.len() - 1), None, "{coding}");
            assert_eq!(content(coding, &body[..body.len() / 2], text.len()), None, "{coding}");
        }
        assert_eq!(content("identity", b"as it is", 100), None);
        assert_eq!(content("utf-8", b"as it is", 100), None);
    }

    #[test]
    fn chunks_are_joined() {
        assert_eq!(chunked(b"4\r\nWiki\r\n5;x=y\r\npedia\r\n0\r\n\r\n").as_deref(), Some(&b"Wikipedia"[..]));
        assert_eq!(chunked(b"4\r\nWiki\r\n5\r\nped"), None);
        assert_eq!(chunked(b"<html>\n</html>"), None);
        assert_eq!(chunked(b"ffffffffffffffff\r\n"), None);
    }
}
