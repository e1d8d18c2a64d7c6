//! The page of hand-made facts and of a small crawl.

use scraper::{Html, Selector};

use super::*;
use crate::corpus::Catalogue;
use crate::corpus::fixture::crawl;
use crate::export::former::Finished;
use crate::report::{Beside, gather};
use crate::topic::Lexicon;

fn all<'a>(html: &'a Html, selector: &str) -> Vec<scraper::ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}
