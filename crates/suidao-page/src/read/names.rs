//! What kinds of elements HTML has, as far as reading text is concerned.

use html5ever::{LocalName, local_name};

/// Elements without content and end tag.
pub fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("basefont")
            | local_name!("bgsound")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("frame")
            | local_name!("hr")
            | local_name!("image")
            | local_name!("img")
            | local_name!("input")
            | local_name!("keygen")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// Never part of what a page says.
pub fn is_skipped(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("template")
            | local_name!("textarea")
            | local_name!("select")
            | local_name!("datalist")
            | local_name!("title")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
    )
}

/// Shown only where what they stand for cannot be: without scripts, without a player.
pub fn is_fallback(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("noscript")
            | local_name!("object")
            | local_name!("applet")
            | local_name!("canvas")
            | local_name!("audio")
            | local_name!("video")
    )
}

pub fn is_block(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("button")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("dir")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("dt")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("legend")
            | local_name!("li")
            | local_name!("main")
            | local_name!("menu")
            | local_name!("nav")
            | local_name!("noscript")
            | local_name!("ol")
            | local_name!("p")
            | local_name!("pre")
            | local_name!("section")
            | local_name!("summary")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("td")
            | local_name!("tfoot")
            | local_name!("th")
            | local_name!("thead")
            | local_name!("tr")
            | local_name!("ul")
    )
}
