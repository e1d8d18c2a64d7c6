//! The videos of a page: from declarations (JSON-LD, Open Graph), `video` elements, and players in frames.

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};
use serde_json::Value;

use super::json_ld::{self, JsonLd};
use super::markup::attribute;
use super::references::References;
use crate::model::CrawlUrl;

/// Maximum number of videos.
const VIDEOS: usize = 16;
/// Maximum length of a reference in bytes.
const REFERENCE: usize = 2_048;

#[derive(Debug, Default)]
pub(super) struct Videos {
    /// References by how they are stated: in JSON-LD, Open Graph, elements.
    found: [Vec<String>; 3],
}

impl Videos {
    /// Reads a start tag; `in_video`: it is inside a `video` element.
    pub(super) fn tag(&mut self, tag: &Tag, in_video: bool) {
        let source = |name: &LocalName| attribute(tag, name);
        match tag.name {
            local_name!("meta") => {
                // `og:video:type`, `og:video:width` and others describe it.
                let names = attribute(tag, &local_name!("property")).or(attribute(tag, &local_name!("name")));
                if names.is_some_and(|name| {
                    matches!(name.trim(), "og:video" | "og:video:url" | "og:video:secure_url" | "twitter:player:stream")
                }) {
                    self.add(1, attribute(tag, &local_name!("content")));
                }
            }
            local_name!("video") => self.add(2, source(&local_name!("src"))),
            local_name!("source") if in_video => self.add(2, source(&local_name!("src"))),
            local_name!("embed") | local_name!("object")
                if source(&local_name!("type")).is_some_and(|kind| kind.trim().starts_with("video/")) =>
            {
                self.add(2, source(&local_name!("src")).or(source(&local_name!("data"))));
            }
            local_name!("iframe") => {
                let player = source(&local_name!("src")).filter(|reference| is_player(tag, reference));
                self.add(2, player);
            }
            _ => {}
        }
    }

    pub(super) fn json_ld(&mut self, script: &JsonLd) {
        let JsonLd::Whole(value) = script else { return };
        for (_, object) in json_ld::objects(value) {
            let is_video = object.get("@type").is_some_and(|kind| match kind {
                Value::String(name) => is_video_type(name),
                Value::Array(names) => names.iter().filter_map(Value::as_str).any(is_video_type),
                _ => false,
            });
            if is_video {
                // The file, else the player that shows it.
                let reference = |key: &str| object.get(key).and_then(text_in);
                self.add(0, reference("contentUrl").or_else(|| reference("embedUrl")));
            }
        }
    }

    fn add(&mut self, how: usize, reference: Option<&str>) {
        let reference = reference.map(str::trim).filter(|text| !text.is_empty() && text.len() <= REFERENCE);
        if let Some(reference) = reference
            && self.found[how].len() < VIDEOS
        {
            self.found[how].push(reference.to_owned());
        }
    }

    /// The videos in the order declared, then as in the page; each once.
    pub(super) fn resolved(self, references: &References) -> Vec<CrawlUrl> {
        let mut videos: Vec<CrawlUrl> = Vec::new();
        for reference in self.found.into_iter().flatten() {
            let Ok(url) = references.base().join(&reference) else { continue };
            if videos.len() < VIDEOS && !videos.contains(&url) {
                videos.push(url);
            }
        }
        videos
    }
}

fn is_video_type(name: &str) -> bool {
    name.rsplit(['/', ':']).next() == Some("VideoObject")
}

fn text_in(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(all) => text_in(all.first()?),
        _ => None,
    }
}

/// Whether a frame shows a player: its address says so, or it may fill the screen and its address embeds something by a
/// name. Maps and advertisements may fill the screen too, but are not embedded by a name.
fn is_player(tag: &Tag, reference: &str) -> bool {
    let address = reference.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let words = || address.split(|c: char| !c.is_ascii_alphanumeric());
    let fills_screen = tag.attrs.iter().any(|attribute| {
        matches!(&*attribute.name.local, "allowfullscreen" | "webkitallowfullscreen" | "mozallowfullscreen")
            || &*attribute.name.local == "allow" && attribute.value.contains("fullscreen")
    });
    let embeds = || address.split_once("/embed/").is_some_and(|(_, name)| !name.is_empty());
    words().any(|word| matches!(word, "player" | "videoplayer" | "video")) || fills_screen && embeds()
}

#[cfg(test)]
mod tests {
    use crate::model::{CrawlUrl, Fetched};
    use crate::read::parse;

    fn videos(html: &str) -> Vec<String> {
        let page = Fetched::html(CrawlUrl::parse("http://news.test/a/1.html").unwrap(), format!("<p>text</p>{html}"));
        parse(&page).videos.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_way_to_state_a_video_is_read() {
        for (html, expected) in [
            (
                "<meta property=og:video content=/v/1.mp4><meta property=og:video:width content=640>",
                "http://news.test/v/1.mp4",
            ),
            (
                "<script type=application/ld+json>{\"@type\":\"VideoObject\",\"contentUrl\":\"2.mp4\",\"embedUrl\":\"/p\"}</script>",
                "http://news.test/a/2.mp4",
            ),
            (
                "<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"video\":{\"@type\":[\"VideoObject\"],\"embedUrl\":\"http://p.test/3\"}}</script>",
                "http://p.test/3",
            ),
            ("<video src=4.mp4 controls>no video</video>", "http://news.test/a/4.mp4"),
            ("<video><source src=5.webm type=video/webm></video>", "http://news.test/a/5.webm"),
            (
                "<iframe src='//player.test/player.html?id=6' allowfullscreen></iframe>",
                "http://player.test/player.html?id=6",
            ),
            ("<iframe src=http://tube.test/embed/7 allow='autoplay; fullscreen'></iframe>", "http://tube.test/embed/7"),
            ("<embed type=video/mp4 src=/8.mp4>", "http://news.test/8.mp4"),
        ] {
            assert_eq!(videos(html), [expected], "{html}");
        }
    }

    #[test]
    fn other_media_and_frames_are_none() {
        for html in [
            "<audio src=a.mp3><source src=b.mp3></audio>",
            "<picture><source srcset=a.webp src=b.webp><img src=c.jpg></picture>",
            "<iframe src=http://maps.test/maps/embed?pb=1 allowfullscreen></iframe>",
            "<iframe src=http://ads.test/show allowfullscreen></iframe>",
            "<iframe src=http://tube.test/embed/7></iframe>",
            "<video src='blob:http://news.test/1'></video>",
            "<video></video><video src=''></video>",
        ] {
            assert_eq!(videos(html), [""; 0], "{html}");
        }
    }

    #[test]
    fn each_is_listed_once_declared_ones_first_and_not_without_limit() {
        let twice = "<video src=/1.mp4></video><meta property=og:video content=/2.mp4><meta property=og:video:url \
                     content=/2.mp4><video src=/1.mp4></video>";
        assert_eq!(videos(twice), ["http://news.test/2.mp4", "http://news.test/1.mp4"]);
        let many: String = (0..40).map(|n| format!("<video src=/{n}.mp4></video>")).collect();
        assert_eq!(videos(&many).len(), super::VIDEOS);
    }
}
