//! Temporary directories.

use anyhow::{Context, Result};
use tempfile::TempDir;

/// A directory that is removed on drop.
pub fn temporary_directory() -> Result<TempDir> {
    tempfile::tempdir().context("cannot create a temporary directory; set TMPDIR to a disk with free space")
}
