//! Decodes chunked transfer coding.

/// Joins a chunked body (RFC 9112, 7.1); `None` if it is not in fact chunked.
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
        let (chunk, tail) = rest.split_at_checked(size)?;
        out.extend_from_slice(chunk);
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.strip_prefix(b"\n"))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined() {
        assert_eq!(chunked(b"4\r\nWiki\r\n5;x=y\r\npedia\r\n0\r\n\r\n").as_deref(), Some(&b"Wikipedia"[..]));
        assert_eq!(chunked(b"4\r\nWiki\r\n5\r\nped"), None);
        assert_eq!(chunked(b"<html>\n</html>"), None);
        assert_eq!(chunked(b"ffffffffffffffff\r\n"), None);
    }
}
