//! Encoded bodies for tests.

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

pub fn brotli(body: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    brotli::CompressorWriter::new(&mut packed, 4096, 4, 20).write_all(body).expect(IN_MEMORY);
    packed
}

pub fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::encode_all(body, 3).expect(IN_MEMORY)
}
