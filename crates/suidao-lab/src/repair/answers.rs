//! The archive as the log speaks of it: answers, and not records, for what a browser made of an answer belongs to it.

use std::path::Path;

use suidao_page::model::Millis;
use suidao_store::store::{Location, RecordKind, StoreError, survey};

/// An answer that is whole.
pub(super) struct Answer {
    /// Where it lies, with what a browser made of it, as the log keeps it.
    pub location: Location,
    /// Its payload lies elsewhere.
    pub revisit: bool,
    /// `WARC-Target-URI`.
    pub uri: String,
    /// `WARC-Date`.
    pub at: Millis,
}

/// Bytes that are no whole record.
pub(super) struct Damage {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// URL, as far as it can be read.
    pub uri: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// What lies in a file of the archive beside requests and descriptions.
pub(super) enum Found {
    Answer(Answer),
    Damage(Damage),
}

/// Goes through file `number` of the archive, in order; how many bytes it has.
pub(super) fn go_through(number: u32, path: &Path, mut tell: impl FnMut(Found)) -> Result<u64, StoreError> {
    let mut end = 0;
    // An answer waits for the record behind it, with its id.
    let mut held: Option<(Answer, String)> = None;
    survey(path, |stretch| {
        end = stretch.offset + stretch.length;
        if let Some((mut answer, id)) = held.take() {
            let made = stretch.content.as_ref().is_ok_and(|next| next.kind == RecordKind::Conversion && next.of == id);
            if made {
                answer.location.length += stretch.length;
            }
            tell(Found::Answer(answer));
        }
        match stretch.content {
            Ok(whole) if matches!(whole.kind, RecordKind::Response | RecordKind::Revisit) => {
                let location = Location { file: number, offset: stretch.offset, length: stretch.length };
                let revisit = whole.kind == RecordKind::Revisit;
                let uri = stretch.uri.unwrap_or_default();
                held = Some((Answer { location, revisit, uri, at: whole.at }, whole.id));
            }
            Ok(_) => {}
            Err(what) => {
                tell(Found::Damage(Damage { offset: stretch.offset, length: stretch.length, uri: stretch.uri, what }))
            }
        }
    })?;
    held.into_iter().for_each(|(answer, _)| tell(Found::Answer(answer)));
    Ok(end)
}
