//! Encoded bodies for the tests of this crate and of those above it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

const IN_MEMORY: &str = "writing into memory does not fail";

pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

pub fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// Without the zlib header, as some servers send `deflate`.
pub fn raw_deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// In uncompressed blocks (RFC 7932, 9.2), so that no encoder is compiled.
pub fn brotli(body: &[u8]) -> Vec<u8> {
    // One bit for the window of 64 KiB, then of each block: not the last, its length less 1 in 16 bits, uncompressed.
    let (mut packed, mut window) = (Vec::new(), 1);
    for block in body.chunks(1 << 16) {
        let head = ((block.len() as u32 - 1) << 3 | 1 << 19) << window;
        packed.extend_from_slice(&head.to_le_bytes()[..3]);
        packed.extend_from_slice(block);
        window = 0;
    }
    // The last block, which is empty.
    packed.push(0b11 << window);
    packed
}

pub fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::encode_all(body, 3).expect(IN_MEMORY)
}
