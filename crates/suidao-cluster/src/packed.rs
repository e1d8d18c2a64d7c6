//! Values as messages carry them: postcard, compressed with zstd.

use std::io::Read;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum bytes of a value, decompressed.
const MAX_PLAIN: u64 = 1 << 30;

pub(crate) fn pack(value: &impl Serialize) -> Result<Bytes, String> {
    compress(&postcard::to_stdvec(value).map_err(|error| error.to_string())?)
}

pub(crate) fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Result<T, String> {
    postcard::from_bytes(&decompress(packed)?).map_err(|error| error.to_string())
}

pub(crate) fn compress(plain: &[u8]) -> Result<Bytes, String> {
    zstd::bulk::compress(plain, 1).map(Into::into).map_err(|error| error.to_string())
}

pub(crate) fn decompress(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let unpacked = zstd::Decoder::new(packed).and_then(|from| from.take(MAX_PLAIN).read_to_end(&mut plain));
    unpacked.map(|_| plain).map_err(|error| error.to_string())
}
