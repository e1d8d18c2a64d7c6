//! Tables: the first cell of a row is its head, and wide ones scroll by themselves.

use std::fmt::Write;

use super::escape;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column<'a> {
    /// Numbers, to the right.
    Number(&'a str),
    /// Text, to the left.
    Text(&'a str),
}

/// A table. `about` says what it shows to those who do not see it; column names are text, cells are HTML.
pub fn table(about: &str, columns: &[Column], rows: &[Vec<String>]) -> String {
    let mut out = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n<thead><tr>",
        escape(about)
    );
    let text = |column: &Column| matches!(column, Column::Text(_));
    for column in columns {
        let class = if text(column) { " class=\"text\"" } else { "" };
        let (Column::Number(name) | Column::Text(name)) = column;
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(name));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        out += "<tr>";
        for (number, (cell, column)) in row.iter().zip(columns).enumerate() {
            let class = if text(column) { " class=\"text\"" } else { "" };
            let _ = match number {
                0 => write!(out, "<th scope=\"row\">{cell}</th>"),
                _ => write!(out, "<td{class}>{cell}</td>"),
            };
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}
