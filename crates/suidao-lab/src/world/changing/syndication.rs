//! What a site says of its own pages: robots.txt, sitemap, feeds.

use std::io::Write as _;
use std::ops::Range;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::sites::{Article, Resource, Sites, manner};
use super::spec::Dating;
use crate::world::change::Gone;
use crate::world::forum::times::Style;
use crate::world::words::WORDS;

/// Entries of a feed.
const ENTRIES: usize = 20;

impl Sites {
    /// Media type and body of a resource that is no page; none if it is one.
    pub fn file(&self, resource: Resource, day: f64) -> Option<(&'static str, Vec<u8>)> {
        const XML: &str = "application/xml; charset=utf-8";
        Some(match resource {
            Resource::Robots(host) => {
                let sitemap = self.url(host, "/sitemap.xml");
                ("text/plain; charset=utf-8", format!("User-agent: *\nDisallow:\nSitemap: {sitemap}\n").into_bytes())
            }
            Resource::Sitemap(host) if manner(host).index => (XML, self.index(host, day).into_bytes()),
            Resource::Sitemap(host) => (XML, self.sitemap(host, self.of_host(host), day).into_bytes()),
            Resource::SitemapPart(host, part) => {
                let text = self.sitemap(host, self.of_part(host, part), day).into_bytes();
                if part == 1 {
                    (XML, text)
                } else {
                    let mut out = GzEncoder::new(Vec::new(), Compression::default());
                    let written = out.write_all(&text).and_then(|()| out.finish());
                    ("application/gzip", written.expect("a vector takes all bytes"))
                }
            }
            Resource::Rss(host) => ("application/rss+xml; charset=utf-8", self.rss(host, day).into_bytes()),
            Resource::Atom(host) => ("application/atom+xml; charset=utf-8", self.atom(host, day).into_bytes()),
            _ => return None,
        })
    }

    fn index(&self, host: usize, day: f64) -> String {
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                       <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_owned();
        for (part, path) in [(1, "/sitemap-1.xml"), (2, "/sitemap-2.xml.gz")] {
            let dated = self.dated(host, Resource::SitemapPart(host, part), day);
            out.push_str(&format!("<sitemap><loc>{}</loc>{dated}</sitemap>\n", self.url(host, path)));
        }
        out.push_str("</sitemapindex>\n");
        out
    }

    fn sitemap(&self, host: usize, sections: Range<usize>, day: f64) -> String {
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                       <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_owned();
        let mut entry = |path: &str, resource: Resource| {
            let dated = self.dated(host, resource, day);
            out.push_str(&format!("<url><loc>{}</loc>{dated}</url>\n", self.url(host, path)));
        };
        for section in sections {
            entry(&self.listing_path(section), Resource::Listing(section));
            for article in self.articles_of(section, day) {
                match self.life(article, day).gone(day - self.born(article)) {
                    None => entry(&self.path(article, false), Resource::Article(article)),
                    Some(Gone::Moved) => entry(&self.path(article, true), Resource::Moved(article)),
                    Some(_) => {}
                }
            }
        }
        out.push_str("</urlset>\n");
        out
    }

    /// A page's `lastmod`, as the host has it.
    fn dated(&self, host: usize, resource: Resource, day: f64) -> String {
        let at = match manner(host).sitemap {
            Some(Dating::Truthful) => self.changed(resource, day),
            Some(Dating::Now) => day,
            Some(Dating::Missing) | None => return String::new(),
        };
        format!("<lastmod>{}</lastmod>", self.written(at, Style::Iso))
    }

    /// The host's newest articles, the newest first.
    fn newest_of_host(&self, host: usize, day: f64) -> Vec<Article> {
        let mut newest: Vec<Article> =
            self.of_host(host).flat_map(|section| self.newest(section, day, ENTRIES as u32)).collect();
        newest.sort_by(|one, other| self.born(*other).total_cmp(&self.born(*one)));
        newest.truncate(ENTRIES);
        newest
    }

    fn rss(&self, host: usize, day: f64) -> String {
        let site = WORDS.sites[host % WORDS.sites.len()];
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel>\n\
             <title>{site}</title><link>{}</link><description>{site}</description>\n",
            self.url(host, "/")
        );
        for article in self.newest_of_host(host, day) {
            let url = self.url(host, &self.path(article, false));
            out.push_str(&format!(
                "<item><title>{}</title><link>{url}</link><guid>{url}</guid><pubDate>{}</pubDate></item>\n",
                self.title(article),
                self.written(self.born(article), Style::Http)
            ));
        }
        out.push_str("</channel></rss>\n");
        out
    }

    fn atom(&self, host: usize, day: f64) -> String {
        let home = self.url(host, "/");
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
             <title>{}</title><link href=\"{home}\"/><id>{home}</id><updated>{}</updated>\n",
            WORDS.sites[host % WORDS.sites.len()],
            self.written(self.changed(Resource::Atom(host), day), Style::Iso)
        );
        for article in self.newest_of_host(host, day) {
            let url = self.url(host, &self.path(article, false));
            out.push_str(&format!(
                "<entry><title>{}</title><link rel=\"alternate\" href=\"{url}\"/><id>{url}</id>\
                 <published>{}</published><updated>{}</updated></entry>\n",
                self.title(article),
                self.written(self.born(article), Style::Iso),
                self.written(self.changed(Resource::Article(article), day), Style::Iso)
            ));
        }
        out.push_str("</feed>\n");
        out
    }
}
