//! A page as scraper's tree, built by the same parser as in a crawl, with its limits: `Html::parse_document` takes 14 s
//! for a hostile page of 249 KB.

use ego_tree::NodeId;
use html5ever::QualName;
use scraper::node::{Element, Text};
use scraper::{ElementRef, Html, Node};

use suidao_page::model::CrawlUrl;
use suidao_page::read::tree::{TreeStep, walk};

use crate::selector::CheckedSelector;

/// Maximum number of elements and runs of text; the rest of the page is left out.
const MAX_NODES: usize = 50_000;

/// A page to select from.
pub struct PageTree {
    html: Html,
    /// What relative references of the page refer to.
    pub base: CrawlUrl,
}

/// Builds a page from the steps of a walk.
pub struct PageTreeBuilder {
    html: Html,
    open: Vec<NodeId>,
    nodes: usize,
    /// `href` of the first `base`.
    base: Option<String>,
    has_noscript: bool,
}

impl Default for PageTreeBuilder {
    fn default() -> Self {
        let html = Html::new_document();
        let open = vec![html.tree.root().id()];
        Self { html, open, nodes: 0, base: None, has_noscript: false }
    }
}

impl PageTreeBuilder {
    pub fn step(&mut self, step: &TreeStep<'_>) {
        let Some(mut parent) = self.open.last().and_then(|last| self.html.tree.get_mut(*last)) else { return };
        match step {
            TreeStep::Close(_) => drop(self.open.pop()),
            // Elements beyond the limit are opened as their parent, so that each end has its start.
            TreeStep::Open(..) if self.nodes >= MAX_NODES => self.open.push(parent.id()),
            TreeStep::Open(tag, namespace) => {
                self.nodes += 1;
                self.has_noscript |= *tag.name == *"noscript";
                if self.base.is_none() && *tag.name == *"base" {
                    let href = tag.attrs.iter().find(|attribute| *attribute.name.local == *"href");
                    self.base = href.map(|href| href.value.to_string());
                }
                let name = QualName::new(None, (*namespace).clone(), tag.name.clone());
                self.open.push(parent.append(Node::Element(Element::new(name, tag.attrs.clone()))).id());
            }
            TreeStep::Text(text) if self.nodes < MAX_NODES => {
                self.nodes += 1;
                parent.append(Node::Text(Text { text: (*text).into() }));
            }
            TreeStep::Text(_) => {}
        }
    }

    fn finish(self, url: &CrawlUrl) -> PageTree {
        let base = self.base.and_then(|href| url.join(&href).ok());
        PageTree { html: self.html, base: base.unwrap_or_else(|| url.clone()) }
    }

    /// The page after a walk with scripting, if one without would have the same steps: there was a walk, and no
    /// `noscript`.
    pub fn finish_without_scripting(self, url: &CrawlUrl) -> Option<PageTree> {
        (self.nodes > 0 && !self.has_noscript).then(|| self.finish(url))
    }
}

impl PageTree {
    pub fn new(text: &str, url: &CrawlUrl) -> Self {
        let mut builder = PageTreeBuilder::default();
        walk(text, false, |step| builder.step(&step));
        builder.finish(url)
    }

    /// The texts of the elements that a selector matches, white space folded.
    pub fn texts(&self, selector: &CheckedSelector) -> Vec<String> {
        let folded =
            |element: ElementRef| element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
        self.select(selector).map(folded).collect()
    }

    /// The elements that a selector matches, in page order.
    pub fn select<'a>(&'a self, selector: &'a CheckedSelector) -> impl Iterator<Item = ElementRef<'a>> {
        self.html.select(&selector.0)
    }
}
