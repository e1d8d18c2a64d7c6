//! What lies in a crawl directory beside log and archive: lexicon and configuration, the lists that are made of the
//! log, files that are nobody's.

use std::fs;
use std::path::PathBuf;

use super::check::{Checked, Surveyed, is_of_a_forum};
use super::rebuild::{BUILDING, WHOLE};
use super::{Level, write_lists};
use suidao_live::config::Config;
use suidao_live::config::kept::Use;
use suidao_page::topic::Lexicon;
use suidao_store::store::{CrawlDirectory, Meta, StoreError, own};

/// What every crawl directory may hold beside `pages` and `state`.
const KNOWN: [&str; 11] = [
    "harvest.csv",
    "skipped.csv",
    "summary.json",
    "refresh.csv",
    "forum.toml",
    "report.html",
    "labels.tsv",
    "index",
    "exports",
    "log",
    "lost+found",
];

/// What its `state` may hold.
const KNOWN_STATE: [&str; 8] =
    ["meta.json", "lock", "log", "acknowledged", "checkpoint", "topic.toml", "config.toml", "browser"];

/// Lexicon and configuration that are kept for `refresh`, and for a repair.
pub(super) fn inputs(dir: &CrawlDirectory, meta: Option<&Meta>, checked: &mut Checked) {
    // The crawl of one forum keeps none.
    if is_of_a_forum(dir, meta) {
        return;
    }
    // Without its description no crawl goes on.
    let who = if meta.is_some() { "the next `crawl`" } else { "the first `crawl` after meta.json is mended" };
    let path = dir.topic_toml();
    match own::read_text(&path, own::LARGE) {
        Err(error) => checked.find(Level::Open, &path, format!("does not read ({error}); {who} writes it")),
        Ok(text) => match Lexicon::parse(&text) {
            Err(error) => checked.find(Level::Open, &path, format!("is no lexicon ({error}); {who} writes it")),
            Ok(lexicon) if meta.is_some_and(|meta| meta.lexicon != lexicon.digest()) => {
                checked.find(Level::Open, &path, "is another lexicon than the crawl's; the next `crawl` writes it");
            }
            Ok(_) => {}
        },
    }
    let path = dir.config_toml();
    if !path.exists() {
        checked.find(Level::Open, &path, format!("is missing; {who} writes it"));
    } else if let Err(error) = Config::load_kept(&path, &[], Use::Reading) {
        checked.find(Level::Open, &path, format!("does not read ({error}); {who} writes it"));
    }
}

/// What is made of the log: whether it says what the log says.
pub(super) fn lists(dir: &CrawlDirectory, files: &[Surveyed], checked: &mut Checked) -> Result<(), StoreError> {
    if let Err(error) = summary(dir) {
        checked.find(Level::Open, &dir.summary_json(), format!("does not read ({error}); the next run writes it"));
    }
    if checked.plan.rebuild || checked.plan.describe {
        return Ok(());
    }
    // A crawl that was killed has not written them.
    let killed = !dir.summary_json().exists()
        || files.iter().any(|file| file.path.extension().is_some_and(|extension| extension == "open"));
    let Some(copy) = &checked.copy else { return Ok(()) };
    write_lists(&copy.store)?;
    let of_copy = copy.store.directory().clone();
    for (path, wanted) in [(dir.harvest_csv(), of_copy.harvest_csv()), (dir.skipped_csv(), of_copy.skipped_csv())] {
        let wanted = fs::read(&wanted).map_err(StoreError::io(&wanted, "read it"))?;
        let what = match own::read(&path, wanted.len() as u64) {
            Ok(found) if found == wanted => continue,
            Ok(_) | Err(StoreError::TooLarge { .. } | StoreError::NotOwn { .. }) => "is not what the log says",
            Err(_) => "is missing",
        };
        checked.plan.lists.push(path.clone());
        let (level, why) =
            if killed { (Level::Note, ", as a kill leaves it; the next run writes it") } else { (Level::Mendable, "") };
        checked.find(level, &path, format!("{what}{why}"));
    }
    Ok(())
}

fn summary(dir: &CrawlDirectory) -> Result<(), String> {
    match own::read(&dir.summary_json(), own::LARGE) {
        Err(error @ (StoreError::NotOwn { .. } | StoreError::TooLarge { .. })) => Err(error.to_string()),
        Ok(text) => serde_json::from_slice::<serde_json::Value>(&text).map(drop).map_err(|error| error.to_string()),
        Err(_) => Ok(()),
    }
}

/// What is not a crawl's.
pub(super) fn others(dir: &CrawlDirectory, checked: &mut Checked) {
    for (part, known) in [(dir.root().to_owned(), &KNOWN[..]), (dir.pages(), &[]), (dir.state(), &[])] {
        let Ok(entries) = fs::read_dir(&part) else { continue };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        names.sort();
        for path in names {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let own = match () {
                () if part == dir.root() => {
                    known.contains(&name.as_str())
                        || matches!(name.as_str(), "pages" | "state")
                        || name.starts_with("damaged-")
                }
                () if part == dir.pages() => name.starts_with("suidao-"),
                () => KNOWN_STATE.contains(&name.as_str()),
            };
            let is_log = part == dir.state() && (name == BUILDING || name == WHOLE);
            if is_log && name == WHOLE && checked.plan.finish {
                continue;
            }
            if name.starts_with(".suidao-") && name.ends_with(".part") || is_log {
                checked.plan.strays.push(path.clone());
                checked.find(Level::Note, &path, "was left by a process that was killed");
            } else if !own {
                checked.find(Level::Note, &path, "is none of the crawl's files");
            }
        }
    }
}
