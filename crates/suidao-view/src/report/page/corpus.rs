//! What the pages are: languages, dates, lengths, duplicates.

use std::fmt::Write;

use super::{bars, columns, folded, link, rows, section};
use crate::html::{Column, count, per_cent, table, thousands};
use crate::report::facts::{Facts, Group, Long};

pub(super) fn languages(facts: &Facts) -> String {
    let mut out = section("languages", "Languages");
    out += "<p>Of the main text, as ISO 639-3 codes; ? where there is too little text to tell.</p>\n";
    out + &folded("Pages by language", &columns("language"), rows(&facts.languages), 12) + "</section>\n"
}

pub(super) fn dates(facts: &Facts) -> String {
    let pages = facts.counts.pages;
    let dated = pages - facts.published.without.min(pages);
    let mut out = section("dates", "Dates");
    let _ = writeln!(
        out,
        "<p>{} ({}) tell when they were published.</p>\n<div class=\"pair\">",
        count(dated as usize, "page", "pages"),
        per_cent(dated as f64, pages as f64)
    );
    for (histogram, title) in [(&facts.published, "Published"), (&facts.fetched, "Fetched")] {
        if histogram.bins.is_empty() {
            continue;
        }
        let title = format!("{title}, a bar {}", histogram.width);
        let _ = writeln!(
            out,
            "<figure>\n{}<figcaption>{title} (UTC).</figcaption>\n</figure>",
            bars(&histogram.bins, &title)
        );
    }
    out += "</div>\n";
    if !facts.published.bins.is_empty() {
        let mut bins: Vec<_> = facts.published.bins.iter().rev().filter(|bin| bin.pages > 0).cloned().collect();
        bins.truncate(60);
        let _ = writeln!(
            out,
            "<details>\n<summary>Published, as a table</summary>\n{}</details>",
            table("Pages by date of publication", &columns("published"), &rows(&bins))
        );
    }
    out + "</section>\n"
}

pub(super) fn lengths(facts: &Facts) -> String {
    let mut out = section("lengths", "Lengths");
    let pages = facts.counts.pages.max(1);
    let _ = writeln!(
        out,
        "<p>{} characters of main text a page on average, white space left out; {} {} mostly a row of links, {} ask search \
         engines not to keep them.</p>",
        thousands(facts.counts.chars / pages),
        count(facts.counts.listings as usize, "page", "pages"),
        if facts.counts.listings == 1 { "is" } else { "are" },
        thousands(facts.counts.noindex)
    );
    if !facts.lengths.bins.is_empty() {
        let title = format!("Pages by length, a bar {}", facts.lengths.width);
        let _ = writeln!(
            out,
            "<figure>\n{}<figcaption>{title}.</figcaption>\n</figure>",
            bars(&facts.lengths.bins, &title)
        );
    }
    let row = |long: &Long| vec![link(&long.page), thousands(u64::from(long.chars)), verdict(long.page.relevant)];
    let longest: Vec<Vec<String>> = facts.longest.iter().map(row).collect();
    if !longest.is_empty() {
        let columns = [Column::Text("page"), Column::Number("characters"), Column::Text("")];
        let _ = writeln!(
            out,
            "<details>\n<summary>The longest pages</summary>\n{}</details>",
            table("The longest pages", &columns, &longest)
        );
    }
    out + "</section>\n"
}

pub(super) fn duplicates(facts: &Facts) -> String {
    let duplicates = &facts.duplicates;
    let mut out = section("duplicates", "Duplicates");
    if duplicates.groups == 0 {
        return out + "<p>No page says what another says.</p>\n</section>\n";
    }
    let _ = writeln!(
        out,
        "<p>{} say what another page says ({} of all), in {}. <code>--duplicates best</code> keeps one of each group in an \
         export.</p>",
        count(duplicates.repeated as usize, "page", "pages"),
        per_cent(duplicates.repeated as f64, facts.counts.pages as f64),
        count(duplicates.groups as usize, "group", "groups")
    );
    for (number, group) in duplicates.largest.iter().enumerate() {
        out += &told(group, number < 3);
    }
    out + "</section>\n"
}

fn told(group: &Group, open: bool) -> String {
    let mut out = format!(
        "<details{}>\n<summary>{}: {}</summary>\n<ul class=\"plain\">\n<li><strong>kept</strong> {}</li>\n",
        if open { " open" } else { "" },
        count(group.pages as usize, "page", "pages"),
        crate::html::escape(&super::shortened(if group.kept.title.is_empty() {
            "(no title)"
        } else {
            &group.kept.title
        })),
        link(&group.kept)
    );
    for other in &group.others {
        let _ = writeln!(out, "<li>{}</li>", link(other));
    }
    let more = group.pages - 1 - group.others.len() as u64;
    if more > 0 {
        let _ = writeln!(out, "<li>and {} more</li>", thousands(more));
    }
    out + "</ul>\n</details>\n"
}

fn verdict(relevant: bool) -> String {
    if relevant { "relevant" } else { "off topic" }.to_owned()
}
