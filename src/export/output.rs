//! A file that is written whole, packed as its name says. Apart because every format that is a row of bytes needs it.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::store::StoreError;
use crate::store::directory::{WriteError, write_whole};

/// Writes a file: `-` is the standard output; `.gz` and `.zst` are packed; a file takes its name only when it is complete.
///
/// # Errors
/// [`StoreError`] as `content` gives it, or if the output cannot be written.
pub fn packed<T>(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout());
        let done = content(&mut out).and_then(|done| Ok(out.flush().map(|()| done)?));
        return done.map_err(|error| error.at(Path::new("standard output")));
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    write_whole(path, |out| match extension {
        "gz" => {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let done = content(&mut packed)?;
            packed.finish()?;
            Ok(done)
        }
        "zst" => {
            let mut packed = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            let done = content(&mut packed)?;
            packed.finish()?;
            Ok(done)
        }
        _ => content(out),
    })
}
