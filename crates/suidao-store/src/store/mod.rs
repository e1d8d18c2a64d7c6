//! What a crawl stores on disk: the log of its events, the archive of its pages, and the files made of both. Bytes
//! after the last acknowledged batch are cut off on resume. The store decides nothing about the crawl.

pub mod archive;
mod archived;
mod batches;
pub mod checkpoint;
mod chunked;
pub mod directory;
mod engine;
mod entry;
mod error;
pub mod harvest;
mod harvest_trouble;
mod imports;
pub mod log;
mod marker;
mod meta;
mod part;
pub mod plain_file;
mod record;
mod records;
pub mod refreshes;
mod rescoring;
mod responses;
pub mod skipped;
mod survey;
pub mod verify;
mod warc;
mod warc_index;
mod writer;

pub use archive::{ArchiveReader, ArchiveSettings, Location, WarcArchive, link_file, warc_file};
pub use archived::{ArchivedContent, ArchivedRecord, ArchivedRecords, RevisitRecord};
pub use checkpoint::Checkpoint;
pub use directory::CrawlDirectory;
pub use entry::WarcEntry;
pub use error::StoreError;
pub use harvest_trouble::HarvestTrouble;
pub use imports::{Import, ImportedFile, Imports};
pub use log::Store;
pub use meta::{Meta, Rescoring};
pub use part::PartDirectory;
pub use record::Record;
pub use records::WarcDamage;
pub use responses::Responses;
pub use warc::{display_time, info as warcinfo, rfc3339};
pub use warc_index::WarcIndex;
pub use writer::{Notice, Work, Writer, WriterStopped};

#[cfg(test)]
mod crash;
#[cfg(test)]
mod fixture;
