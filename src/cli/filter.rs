//! The flags that select pages, shared by several verbs.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use suidao::corpus::{DuplicatePolicy, Filter};
use suidao::model::{Day, Relevance};
use suidao::read::{language_code, language_tag};

/// Which pages: those that meet all the conditions given.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    /// Only relevant pages: documents whose relevance reaches the page threshold, never listing pages
    #[arg(long)]
    pub relevant: bool,
    /// Only pages with at least this relevance, 0 to 1
    #[arg(long, value_name = "X")]
    pub min_relevance: Option<f32>,
    /// Only pages in these languages: tags (zh,en) or ISO 639-3 codes (cmn,eng)
    #[arg(long, visible_alias = "lang", value_name = "CODES", value_delimiter = ',')]
    pub language: Vec<String>,
    /// Only pages on this host or its subdomains; may be repeated
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// No pages on this host or its subdomains; may be repeated
    #[arg(long, value_name = "HOST")]
    pub not_host: Vec<String>,
    /// Only pages published on or after this day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub published_from: Option<Day>,
    /// Only pages published on or before this day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub published_until: Option<Day>,
    /// Only pages fetched on or after this day (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub fetched_from: Option<Day>,
    /// Only pages with at least N characters of main text
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_chars: u32,
    /// Include listing pages (home pages, tags, archives) and pages without main text
    #[arg(long)]
    pub listings: bool,
    /// Include pages marked noindex or unavailable_after
    #[arg(long)]
    pub with_noindex: bool,
    /// What to do with duplicate pages [default: best for search, keep otherwise]
    #[arg(long, value_enum)]
    pub duplicates: Option<DuplicatesFlag>,
}

/// What to do with duplicate pages.
#[derive(Clone, Copy, ValueEnum)]
pub enum DuplicatesFlag {
    /// Keep all
    Keep,
    /// Keep the best of each group
    Best,
}

fn day(text: &str) -> Result<Day, String> {
    Day::parse(text).ok_or_else(|| "expected a date such as 2021-03-05".to_owned())
}

impl FilterArgs {
    /// Converts the flags; by default duplicates are kept.
    pub fn filter(&self) -> Result<Filter> {
        self.filter_with(DuplicatePolicy::Keep)
    }

    /// Converts the flags, with a default for duplicates.
    pub fn filter_with(&self, duplicates: DuplicatePolicy) -> Result<Filter> {
        if let Some(least) = self.min_relevance.filter(|least| !(0.0..=1.0).contains(least)) {
            bail!("--min-relevance {least}: must be between 0 and 1");
        }
        let lower = |names: &[String]| names.iter().map(|name| name.trim().to_lowercase()).collect();
        Ok(Filter {
            relevant: self.relevant,
            min_relevance: self.min_relevance.map(Relevance::new),
            languages: self
                .language
                .iter()
                .map(|name| language_code(name).map(|code| language_tag(&code).to_owned()))
                .collect::<Result<_, _>>()?,
            hosts: lower(&self.host),
            not_hosts: lower(&self.not_host),
            published_from: self.published_from,
            published_until: self.published_until,
            fetched_from: self.fetched_from,
            min_chars: self.min_chars,
            documents: !self.listings,
            no_noindex: !self.with_noindex,
            duplicates: match self.duplicates {
                None => duplicates,
                Some(DuplicatesFlag::Keep) => DuplicatePolicy::Keep,
                Some(DuplicatesFlag::Best) => DuplicatePolicy::Best,
            },
        })
    }
}
