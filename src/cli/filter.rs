//! The flags that select pages, shared by several verbs.

use anyhow::{Context, Result};
use clap::Args;
use suidao::corpus::Filter;

/// Which pages: those that meet all the conditions given.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    /// Only pages that meet all conditions: relevant:yes|no, relevance:0.6.., lang:zh,en, host:example.cn,
    /// date:2021..2022-03 (published), fetched:2024-05-01.., chars:200..; - before one excludes pages. listings:yes
    /// and noindex:yes include pages that are left out otherwise. May be repeated
    #[arg(long = "where", value_name = "CONDITIONS", allow_hyphen_values = true)]
    pub conditions: Vec<String>,
    /// Only relevant documents; the same as --where relevant:yes
    #[arg(long)]
    pub relevant: bool,
    /// Keep all duplicate pages, or the best of each group [default: best for search, keep otherwise]
    #[arg(long, value_parser = ["keep", "best"])]
    pub duplicates: Option<String>,
}

impl FilterArgs {
    /// For lists of documents: without listings and noindex unless they are included.
    pub fn filter(&self) -> Result<Filter> {
        self.over(Filter { documents: true, no_noindex: true, ..Filter::default() })
    }

    /// Adds the conditions given to those of the verb.
    pub fn over(&self, mut filter: Filter) -> Result<Filter> {
        for text in &self.conditions {
            filter.add(text).context("--where")?;
        }
        if self.relevant {
            filter.add("relevant:yes")?;
        }
        if let Some(policy) = &self.duplicates {
            filter.add(&format!("duplicates:{policy}"))?;
        }
        Ok(filter)
    }
}
