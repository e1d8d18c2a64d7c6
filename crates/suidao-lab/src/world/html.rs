//! Renders HTML with four templates (`pages/page.html`), chosen by the host.

use minijinja::context;

use super::forum::skin::fill;
use super::links::TemplateBlock;

pub(super) struct Anchor {
    pub href: String,
    pub block: TemplateBlock,
    pub text: String,
    /// Text around it; may be empty.
    pub context: String,
}

pub(super) struct HtmlPage<'a> {
    /// Template, 0 to 3.
    pub skin: u64,
    pub meta_charset: Option<&'a str>,
    /// Additional HTML of the head.
    pub head: &'a str,
    pub site: &'a str,
    pub title: &'a str,
    /// HTML below the heading.
    pub byline: &'a str,
    pub paragraphs: &'a [String],
    pub links: &'a [Anchor],
}

/// Appends text with `&`, `<`, `>` and `"` as entities.
fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

impl HtmlPage<'_> {
    /// The links of one template block, each between `before` and `after`, followed by its context if any.
    fn list(&self, block: TemplateBlock, before: &str, after: &str) -> String {
        let mut out = String::new();
        for link in self.links.iter().filter(|link| link.block == block) {
            out.push_str(before);
            Self::anchor(link, &mut out);
            out.push_str(after);
        }
        out
    }

    fn anchor(link: &Anchor, out: &mut String) {
        out.push_str("<a href=\"");
        push_escaped(out, &link.href);
        out.push_str("\">");
        push_escaped(out, &link.text);
        out.push_str("</a>");
        if !link.context.is_empty() {
            out.push(' ');
            push_escaped(out, &link.context);
        }
    }

    /// The article: paragraphs, each followed by one with an inline link.
    fn text(&self) -> String {
        let mut inline = self.links.iter().filter(|link| link.block == TemplateBlock::Inline);
        let mut paragraphs = self.paragraphs.iter();
        let mut out = String::with_capacity(4_096);
        loop {
            let (paragraph, link) = (paragraphs.next(), inline.next());
            if paragraph.is_none() && link.is_none() {
                return out;
            }
            if let Some(paragraph) = paragraph {
                out.push_str("<p>");
                push_escaped(&mut out, paragraph);
                out.push_str("</p>\n");
            }
            if let Some(link) = link {
                out.push_str("<p>");
                Self::anchor(link, &mut out);
                out.push_str("</p>\n");
            }
        }
    }

    /// A block of its own, if it has links.
    fn block(&self, block: TemplateBlock, class: &str) -> String {
        let links = self.list(block, "<li>", "</li>\n");
        if links.is_empty() { links } else { format!("<div class=\"{class}\"><ul>\n{links}</ul></div>\n") }
    }

    pub fn html(&self) -> String {
        let escaped = |text: &str| {
            let mut out = String::new();
            push_escaped(&mut out, text);
            out
        };
        let blocks = [
            (TemplateBlock::Tags, "post-tags"),
            (TemplateBlock::Picks, "editor-picks"),
            (TemplateBlock::Related, "related-posts"),
            (TemplateBlock::Pager, "post-nav"),
        ];
        fill(
            "page",
            context! {
                skin => self.skin,
                charset => self.meta_charset,
                head => self.head,
                site => escaped(self.site),
                title => escaped(self.title),
                byline => self.byline,
                text => self.text(),
                top => self.list(TemplateBlock::Top, "", " | "),
                entries => self.list(TemplateBlock::Entry, "<li>", "</li>\n"),
                blocks => blocks.map(|(block, class)| self.block(block, class)).concat(),
                side => self.list(TemplateBlock::Side, "<li>", "</li>\n"),
                cloud => self.block(TemplateBlock::Cloud, "tag-cloud"),
                foot => self.list(TemplateBlock::Foot, "", " "),
            },
        )
    }
}
