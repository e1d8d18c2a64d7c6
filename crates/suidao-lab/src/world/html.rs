//! HTML: four templates, chosen by the host.

use super::links::Slot;

/// A link as it is written.
pub(super) struct Anchor {
    pub href: String,
    pub slot: Slot,
    pub text: String,
    /// Stands around it; empty for none.
    pub context: String,
}

/// What a page shows.
pub(super) struct Sheet<'a> {
    /// Template, 0 to 3.
    pub skin: u64,
    /// Charset to be named in a meta tag.
    pub meta_charset: Option<&'a str>,
    /// Further elements of the head, as HTML.
    pub head: &'a str,
    pub site: &'a str,
    pub title: &'a str,
    /// What stands under the heading, as HTML.
    pub byline: &'a str,
    pub paragraphs: &'a [String],
    pub links: &'a [Anchor],
}

/// `&`, `<`, `>` and `"` as entities.
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

impl Sheet<'_> {
    /// The links of one slot, each between `before` and `after`, context (where there is one) in front.
    fn list(&self, slot: Slot, before: &str, after: &str, out: &mut String) {
        for link in self.links.iter().filter(|link| link.slot == slot) {
            out.push_str(before);
            Self::anchor(link, out);
            out.push_str(after);
        }
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

    /// The article: paragraphs, and after each of them one paragraph with an inline link.
    fn body(&self, class: &str, out: &mut String) {
        let mut inline = self.links.iter().filter(|link| link.slot == Slot::Inline);
        for paragraph in self.paragraphs {
            out.push_str("<p>");
            push_escaped(out, paragraph);
            out.push_str("</p>\n");
            if let Some(link) = inline.next() {
                out.push_str("<p>");
                Self::anchor(link, out);
                out.push_str("</p>\n");
            }
        }
        for link in inline {
            out.push_str("<p>");
            Self::anchor(link, out);
            out.push_str("</p>\n");
        }
        out.push_str(&format!("<ul class=\"{class}\">\n"));
        self.list(Slot::Entry, "<li>", "</li>\n", out);
        out.push_str("</ul>\n");
        for (slot, class) in [
            (Slot::Tags, "post-tags"),
            (Slot::Picks, "editor-picks"),
            (Slot::Related, "related-posts"),
            (Slot::Pager, "post-nav"),
        ] {
            self.block(slot, class, out);
        }
    }

    /// A block of its own, if it has links.
    fn block(&self, slot: Slot, class: &str, out: &mut String) {
        if self.links.iter().any(|link| link.slot == slot) {
            out.push_str(&format!("<div class=\"{class}\"><ul>\n"));
            self.list(slot, "<li>", "</li>\n", out);
            out.push_str("</ul></div>\n");
        }
    }

    /// The page.
    pub fn html(&self) -> String {
        let mut out = String::with_capacity(16_384);
        out.push_str("<!DOCTYPE html>\n<html lang=\"zh-CN\">\n<head>\n");
        if let Some(charset) = self.meta_charset {
            out.push_str(&format!("<meta charset=\"{charset}\">\n"));
        }
        out.push_str("<title>");
        push_escaped(&mut out, self.title);
        out.push_str(" - ");
        push_escaped(&mut out, self.site);
        out.push_str("</title>\n<style>body{margin:0}</style>\n");
        out.push_str(self.head);
        out.push_str("</head>\n<body>\n");
        // Opening of: navigation, article (with its heading), sidebar, footer; the list class of the article; the end.
        let [nav, article, heading_end, class, side, foot, end] = match self.skin {
            0 => [
                "<div id=\"header\"><div class=\"nav\">",
                "</div></div>\n<div id=\"main\"><div class=\"content\"><h1>",
                "</h1>\n",
                "related",
                "</div></div>\n<div id=\"sidebar\"><h3>热门推荐</h3>",
                "</div>\n<div id=\"footer\">版权所有 ",
                "</div>\n",
            ],
            1 => [
                "<header><nav>",
                "</nav></header>\n<main><article><h1>",
                "</h1>\n",
                "more-articles",
                "</article></main>\n<aside><h2>猜你喜欢</h2>",
                "</aside>\n<footer>备案号 12345 ",
                "</footer>\n",
            ],
            2 => [
                "<table class=\"top\"><tr><td class=\"menu\">",
                "</td></tr></table>\n<table class=\"wrap\"><tr><td class=\"article-body\"><h2>",
                "</h2>\n",
                "list",
                "</td>\n<td class=\"sidebar\">热点",
                "</td></tr></table>\n<div class=\"footer\">联系我们 ",
                "</div>\n",
            ],
            _ => [
                "<div class=\"navbar\">",
                "</div>\n<div class=\"container\"><div class=\"post\"><h1 class=\"post-title\">",
                "</h1>\n<div class=\"post-content\">\n",
                "post-list",
                "</div></div>\n<div class=\"widget-area\"><div class=\"widget\">友情链接",
                "</div></div></div>\n<div class=\"site-footer\">由博客程序驱动 ",
                "</div>\n",
            ],
        };
        out.push_str(nav);
        self.list(Slot::Top, "", " | ", &mut out);
        out.push_str(article);
        push_escaped(&mut out, self.title);
        out.push_str(heading_end);
        out.push_str(self.byline);
        self.body(class, &mut out);
        out.push_str(side);
        out.push_str("<ul>\n");
        self.list(Slot::Side, "<li>", "</li>\n", &mut out);
        out.push_str("</ul>\n");
        self.block(Slot::Cloud, "tag-cloud", &mut out);
        out.push_str(foot);
        self.list(Slot::Foot, "", " ", &mut out);
        out.push_str(end);
        out.push_str("</body>\n</html>\n");
        out
    }
}
