//! Exports: jobs that write files, and the files.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use suidao_live::live::now;
use suidao_page::messages::Lang;
use suidao_store::store::{StoreError, plain_file, rfc3339};

use crate::folder::CrawlName;
use crate::jobs::ServiceJob;
use crate::pages::filter;
use crate::problem::Problem;
use crate::program::run;
use crate::service::CrawlService;

/// Formats that are a single file, with the end of its name.
const FORMATS: [(&str, &str); 6] = [
    ("jsonl", "jsonl"),
    ("csv", "csv"),
    ("parquet", "parquet"),
    ("markdown", "md"),
    ("text", "txt"),
    ("warc", "warc.gz"),
];

/// An export to make.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewExport {
    pub format: String,
    /// Conditions as in `--where`.
    #[serde(rename = "where")]
    pub conditions: String,
    pub fields: Vec<String>,
}

impl CrawlService {
    /// Makes an export, as a job: `{"file": NAME, "bytes": N}`.
    ///
    /// # Errors
    /// A problem with `format` or `where`.
    pub fn export(self: &Arc<Self>, name: &CrawlName, new: NewExport) -> Result<Arc<ServiceJob>, Problem> {
        let crawl = self.folder.crawl(name)?;
        let Some((format, extension)) = FORMATS.into_iter().find(|(format, _)| *format == new.format) else {
            let known = FORMATS.map(|(format, _)| format).join(", ");
            return Err(Problem::parameter("format", format!("{:?} is not a format; choose from {known}", new.format)));
        };
        filter(&new.conditions)?;
        let (service, name) = (Arc::clone(self), name.clone());
        self.jobs.begin("export", Some(name.clone()), move |work| async move {
            let folder = crawl.exports();
            fs::create_dir_all(&folder).map_err(StoreError::io(&folder, "make the directory"))?;
            plain_file::check_plain_directory(&folder)?;
            let at: String = rfc3339(now()).chars().filter(char::is_ascii_digit).take(14).collect();
            let free = |number: &u32| {
                let number = if *number == 0 { String::new() } else { format!("-{number}") };
                format!("{name}-{at}{number}.{extension}")
            };
            let file = (0..).map(|number| free(&number)).find(|file| !folder.join(file).exists()).unwrap_or_default();
            let path = folder.join(&file);
            let mut command = service.program.verb(["export", "-q", "--no-record", "--progress", "--format", format]);
            command.arg(crawl.directory.root()).arg("-o").arg(&path);
            if !new.conditions.trim().is_empty() {
                command.arg(format!("--where={}", new.conditions));
            }
            if !new.fields.is_empty() {
                command.arg(format!("--fields={}", new.fields.join(",")));
            }
            let ended = run(command, work.cancelled(), |done, of| work.progress(done, of)).await?;
            ended.checked(service.folder.root())?;
            let bytes = fs::metadata(&path).map(|about| about.len()).unwrap_or_default();
            Ok(json!({ "file": file, "bytes": bytes }))
        })
    }

    /// The report of a crawl as an HTML page, made again when the crawl has changed.
    pub(crate) async fn report(self: &Arc<Self>, name: &CrawlName, lang: Lang) -> Result<String, Problem> {
        let crawl = self.folder.crawl(name)?;
        let key = format!("{} {}", lang.code(), self.version(name).await?);
        if let Some(report) = self.readings.report(name, &key) {
            return Ok(report);
        }
        // Never a file that the crawl directory brought along.
        let place = tempfile::tempdir().map_err(Problem::internal)?;
        let path = place.path().join("report.html");
        let mut command = self.program.verb(["report", "-q", "-o"]);
        command.arg(&path).arg(crawl.directory.root());
        command.env("LC_ALL", if lang == Lang::Chinese { "zh_CN.UTF-8" } else { "C.UTF-8" });
        self.short_verb(command).await?;
        let report = fs::read_to_string(&path).map_err(Problem::internal)?;
        self.readings.keep_report(name, key, &report);
        Ok(report)
    }

    /// The finished exports of a crawl, in order of name.
    pub fn exports(&self, name: &CrawlName) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        let entries = fs::read_dir(crawl.exports()).into_iter().flatten().flatten();
        let mut files: Vec<(String, u64)> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.len())))
            .filter(|(name, _)| CrawlName::parse(name).is_ok() || name.chars().count() > 64)
            .collect();
        files.sort();
        Ok(json!(files.iter().map(|(file, bytes)| json!({ "file": file, "bytes": bytes })).collect::<Vec<_>>()))
    }

    /// A finished export, for download.
    pub fn exported(&self, name: &CrawlName, file: &str) -> Result<(File, u64), Problem> {
        let path = self.export_path(name, file)?;
        let file = plain_file::open(&path, File::options().read(true))?;
        let bytes = file.metadata().map_err(StoreError::io(&path, "read its size"))?.len();
        Ok((file, bytes))
    }

    pub fn delete_export(&self, name: &CrawlName, file: &str) -> Result<(), Problem> {
        let path = self.export_path(name, file)?;
        Ok(fs::remove_file(&path).map_err(StoreError::io(&path, "delete it"))?)
    }

    fn export_path(&self, name: &CrawlName, file: &str) -> Result<PathBuf, Problem> {
        let crawl = self.folder.crawl(name)?;
        let known = self.exports(name)?;
        let is_known = known.as_array().into_iter().flatten().any(|one| one["file"] == file);
        is_known
            .then(|| crawl.exports().join(file))
            .ok_or_else(|| Problem::missing(format!("there is no export {file}")))
    }
}
