//! A page as scraper's tree, filled from the tree that all readers share.

use html5ever::QualName;
use scraper::node::{Element, Text};
use scraper::{ElementRef, Html, Node};

use suidao_page::model::CrawlUrl;
use suidao_page::read::dom::{Dom, TreeStep};

use crate::selector::CheckedSelector;

/// Maximum number of elements and runs of text; the rest of the page is left out.
const MAX_NODES: usize = 50_000;

/// A page to select from.
pub struct PageTree {
    html: Html,
    /// What relative references of the page refer to.
    pub base: CrawlUrl,
}

impl PageTree {
    /// The tree of a page for selectors; empty if it is not HTML.
    pub fn of(dom: &Dom) -> Self {
        let mut html = Html::new_document();
        let mut open = vec![html.tree.root().id()];
        let (mut nodes, mut base) = (0, None);
        dom.walk(|step| {
            let Some(mut parent) = open.last().and_then(|last| html.tree.get_mut(*last)) else { return };
            match step {
                TreeStep::Close(_) => drop(open.pop()),
                // Elements beyond the limit are opened as their parent, so that each end has its start.
                TreeStep::Open(..) if nodes >= MAX_NODES => open.push(parent.id()),
                TreeStep::Open(tag, namespace) => {
                    nodes += 1;
                    if base.is_none() && *tag.name == *"base" {
                        let href = tag.attrs.iter().find(|attribute| *attribute.name.local == *"href");
                        base = href.map(|href| href.value.to_string());
                    }
                    let name = QualName::new(None, (*namespace).clone(), tag.name.clone());
                    open.push(parent.append(Node::Element(Element::new(name, tag.attrs.clone()))).id());
                }
                TreeStep::Text(text) if nodes < MAX_NODES => {
                    nodes += 1;
                    parent.append(Node::Text(Text { text: text.into() }));
                }
                TreeStep::Text(_) => {}
            }
        });
        let base = base.and_then(|href| dom.url().join(&href).ok()).unwrap_or_else(|| dom.url().clone());
        Self { html, base }
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
