//! Where the pages and logs of a crawl are: a directory that all machines have, or a bucket of S3. With a bucket each
//! machine works on a directory of its own: it uploads what it has finished, and downloads what it wants to read.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::buffered::BufWriter;
use object_store::{ObjectStore, ObjectStoreExt, parse_url_opts};
use suidao_store::store::StoreError;
use tokio::io::AsyncWriteExt;

use crate::error::ClusterError;

/// Scheme of the URL of a bucket.
const BUCKET: &str = "s3://";
/// Bytes read and sent at a time.
const PORTION: usize = 1 << 20;
/// Ending of a WARC file that is being written.
const OPEN: &str = "open";

/// The archive, as this machine has it.
#[derive(Clone)]
pub(crate) struct SharedArchive {
    /// The archive, or with a bucket the files of this machine.
    local: PathBuf,
    bucket: Option<Bucket>,
}

#[derive(Clone)]
struct Bucket {
    url: String,
    store: Arc<dyn ObjectStore>,
    prefix: object_store::path::Path,
}

/// Whether an archive is in a bucket.
pub fn is_bucket(archive: &str) -> bool {
    archive.starts_with(BUCKET)
}

impl SharedArchive {
    /// Opens an archive; with a bucket, `files` is the directory for the files of this machine. Keys and endpoint of a
    /// bucket are in the usual variables `AWS_*`.
    pub fn new(archive: &str, files: &Path) -> Result<Self, ClusterError> {
        if !is_bucket(archive) {
            return Ok(Self { local: PathBuf::from(archive), bucket: None });
        }
        // Only the first call in a process has an effect.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let failed = |reason: String| ClusterError::Bucket { url: archive.to_owned(), doing: "be used", reason };
        let url = archive.parse().map_err(|error: url::ParseError| failed(error.to_string()))?;
        let variables = std::env::vars().filter(|(name, _)| name.starts_with("AWS_"));
        let variables = variables.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (store, prefix) = parse_url_opts(&url, variables).map_err(|error| failed(error.to_string()))?;
        let bucket = Bucket { url: archive.to_owned(), store: store.into(), prefix };
        Ok(Self { local: files.join("archive"), bucket: Some(bucket) })
    }

    pub fn path(&self) -> &Path {
        &self.local
    }

    /// Checks that a bucket answers. A directory is checked when its first file is written.
    pub async fn check(&self) -> Result<(), ClusterError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        let listed = bucket.store.list(Some(&bucket.prefix)).next().await.transpose();
        listed.map(drop).map_err(bucket.failed("be listed"))
    }

    /// Uploads a file under its own name.
    pub async fn upload(&self, file: &Path) -> Result<(), ClusterError> {
        self.upload_as(file, file).await
    }

    async fn upload_as(&self, file: &Path, name: &Path) -> Result<(), ClusterError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        let fail = || StoreError::io(file, "read it");
        let mut from = std::fs::File::open(file).map_err(fail())?;
        let mut to =
            BufWriter::new(Arc::clone(&bucket.store), bucket.path(name.strip_prefix(&self.local).unwrap_or(name)));
        loop {
            let mut portion = Vec::new();
            Read::by_ref(&mut from).take(PORTION as u64).read_to_end(&mut portion).map_err(fail())?;
            if portion.is_empty() {
                break;
            }
            to.put(Bytes::from(portion)).await.map_err(bucket.failed("store a file"))?;
        }
        to.shutdown().await.map_err(bucket.failed("store a file"))
    }

    /// Uploads the complete WARC files of this machine, and removes them here. `session` still writes to its open ones.
    pub async fn upload_finished(&self, session: Option<&str>) -> Result<(), ClusterError> {
        if self.bucket.is_none() {
            return Ok(());
        }
        for folder in list(&self.local)? {
            let is_live = folder.file_name().is_some_and(|name| name.to_str() == session);
            for file in list(&folder.join("pages"))? {
                let is_open = file.extension().is_some_and(|ending| ending == OPEN);
                if !(is_open && is_live) {
                    // A killed worker left its last file open, perhaps with an incomplete end.
                    let name = if is_open { file.with_extension("") } else { file.clone() };
                    self.upload_as(&file, &name).await?;
                    std::fs::remove_file(&file).map_err(StoreError::io(&file, "remove it"))?;
                }
            }
        }
        Ok(())
    }

    /// Downloads a file unless it is here; with `overwrite`, in any case. It may be missing in the bucket too.
    pub async fn download(&self, file: &Path, overwrite: bool) -> Result<(), ClusterError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        if file.exists() && !overwrite {
            return Ok(());
        }
        let from = bucket.path(file.strip_prefix(&self.local).unwrap_or(file));
        let found = match bucket.store.get(&from).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            found => found.map_err(bucket.failed("read a file"))?,
        };
        let folder = file.parent().unwrap_or(&self.local);
        std::fs::create_dir_all(folder).map_err(StoreError::io(folder, "create it"))?;
        let mut stream = found.into_stream();
        let part = tempfile::NamedTempFile::new_in(folder).map_err(StoreError::io(folder, "write a file"))?;
        while let Some(portion) = stream.try_next().await.map_err(bucket.failed("read a file"))? {
            part.as_file().write_all(&portion).map_err(StoreError::io(file, "write it"))?;
        }
        part.persist(file).map_err(|error| StoreError::io(file, "write it")(error.error))?;
        Ok(())
    }

    /// Downloads the files of a folder that are not here, without subfolders.
    pub async fn download_folder(&self, folder: &Path) -> Result<(), ClusterError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        let prefix = bucket.path(folder.strip_prefix(&self.local).unwrap_or(folder));
        let listed = bucket.store.list_with_delimiter(Some(&prefix)).await.map_err(bucket.failed("be listed"))?;
        for object in listed.objects {
            if let Some(name) = object.location.filename() {
                self.download(&folder.join(name), false).await?;
            }
        }
        Ok(())
    }
}

impl Bucket {
    fn path(&self, relative: &Path) -> object_store::path::Path {
        let parts = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        parts.fold(self.prefix.clone(), |path, part| path.join(part))
    }

    fn failed<E: std::fmt::Display>(&self, doing: &'static str) -> impl FnOnce(E) -> ClusterError {
        let url = self.url.clone();
        move |error| ClusterError::Bucket { url, doing, reason: error.to_string() }
    }
}

/// Files and folders of a directory, in order; none if it does not exist.
fn list(directory: &Path) -> Result<Vec<PathBuf>, ClusterError> {
    let fail = || StoreError::io(directory, "list the directory");
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fail())?,
    };
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(fail())?;
    paths.sort();
    Ok(paths)
}
