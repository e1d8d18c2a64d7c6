//! robots.txt, sitemaps and feeds of a site.

use std::io::Write as _;
use std::ops::Range;

use flate2::Compression;
use flate2::write::GzEncoder;
use minijinja::{Value, context};

use super::sites::{Article, Resource, Sites, profile};
use super::spec::Dating;
use crate::world::change::Gone;
use crate::world::forum::skin::fill;
use crate::world::forum::times::TimeFormat;
use crate::world::words::WORDS;

const ENTRIES: usize = 20;

impl Sites {
    /// Media type and body of a file; `None` for a page.
    pub fn file(&self, resource: Resource, day: f64) -> Option<(&'static str, Vec<u8>)> {
        const XML: &str = "application/xml; charset=utf-8";
        Some(match resource {
            Resource::Robots(host) => {
                let sitemap = self.url(host, "/sitemap.xml");
                ("text/plain; charset=utf-8", format!("User-agent: *\nDisallow:\nSitemap: {sitemap}\n").into_bytes())
            }
            Resource::Sitemap(host) if profile(host).index => {
                let part = |(part, path)| self.entry(host, path, Resource::SitemapPart(host, part), day);
                let pages: Vec<Value> = [(1, "/sitemap-1.xml"), (2, "/sitemap-2.xml.gz")].map(part).into();
                (XML, fill("sitemaps", context! { pages }).into_bytes())
            }
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
            Resource::Rss(host) => {
                ("application/rss+xml; charset=utf-8", self.feed("rss", host, TimeFormat::Http, day).into_bytes())
            }
            Resource::Atom(host) => {
                ("application/atom+xml; charset=utf-8", self.feed("atom", host, TimeFormat::Iso, day).into_bytes())
            }
            _ => return None,
        })
    }

    fn sitemap(&self, host: usize, sections: Range<usize>, day: f64) -> String {
        let mut pages = Vec::new();
        for section in sections {
            pages.push(self.entry(host, &self.listing_path(section), Resource::Listing(section), day));
            for article in self.articles_of(section, day) {
                let (resource, moved) = match self.life(article, day).gone(day - self.born(article)) {
                    None => (Resource::Article(article), false),
                    Some(Gone::Moved) => (Resource::Moved(article), true),
                    Some(_) => continue,
                };
                pages.push(self.entry(host, &self.path(article, moved), resource, day));
            }
        }
        fill("sitemap", context! { pages })
    }

    /// A page in a sitemap, with the host's kind of `lastmod`.
    fn entry(&self, host: usize, path: &str, resource: Resource, day: f64) -> Value {
        let changed = match profile(host).sitemap {
            Some(Dating::Truthful) => Some(self.changed(resource, day)),
            Some(Dating::Now) => Some(day),
            Some(Dating::Missing) | None => None,
        };
        context! { url => self.url(host, path).as_str(), changed => changed.map(|at| self.written(at, TimeFormat::Iso)) }
    }

    fn newest_of_host(&self, host: usize, day: f64) -> Vec<Article> {
        let mut newest: Vec<Article> =
            self.of_host(host).flat_map(|section| self.newest(section, day, ENTRIES as u32)).collect();
        newest.sort_by(|one, other| self.born(*other).total_cmp(&self.born(*one)));
        newest.truncate(ENTRIES);
        newest
    }

    fn feed(&self, template: &str, host: usize, style: TimeFormat, day: f64) -> String {
        let item = |article: Article| {
            context! {
                title => self.title(article),
                url => self.url(host, &self.path(article, false)).as_str(),
                published => self.written(self.born(article), style),
                updated => self.written(self.changed(Resource::Article(article), day), style),
            }
        };
        fill(
            template,
            context! {
                site => WORDS.sites[host % WORDS.sites.len()],
                home => self.url(host, "/").as_str(),
                updated => self.written(self.changed(Resource::Atom(host), day), style),
                items => self.newest_of_host(host, day).into_iter().map(item).collect::<Vec<_>>(),
            },
        )
    }
}
