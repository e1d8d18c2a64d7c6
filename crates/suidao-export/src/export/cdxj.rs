//! The index of a web archive: a line for each response, `SURT timestamp JSON`, sorted by bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use serde::Serialize;

use super::surt::surt;
use suidao_page::model::CrawlUrl;
use suidao_store::store::Exchange;

/// Bytes of lines that are sorted in memory.
const RUN: usize = 32 << 20;

/// Where a record lies in the files of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file.
    pub filename: String,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: usize,
}

/// The line of a response, with its end. All values are text, as pywb writes them.
///
/// # Errors
/// None in practice: the parts are text.
pub fn line(exchange: &Exchange, url: &CrawlUrl, place: &Place) -> io::Result<String> {
    #[derive(Serialize)]
    struct Line<'a> {
        url: &'a str,
        mime: &'a str,
        status: String,
        digest: &'a str,
        length: String,
        offset: String,
        filename: &'a str,
    }
    // 14 digits: the date to the second.
    let timestamp: String = exchange.date.chars().filter(char::is_ascii_digit).take(14).collect();
    let json = serde_json::to_string(&Line {
        url: &exchange.uri,
        mime: exchange.media.as_deref().unwrap_or("unk"),
        status: exchange.status.to_string(),
        digest: exchange.digest.strip_prefix("sha1:").unwrap_or(&exchange.digest),
        length: place.length.to_string(),
        offset: place.offset.to_string(),
        filename: &place.filename,
    })?;
    Ok(format!("{} {timestamp} {json}\n", surt(url)))
}

/// Lines that come in any order and leave sorted: runs are sorted in memory and merged from files without a name, which
/// the system takes away however the process ends.
#[derive(Debug, Default)]
pub struct Sorter {
    lines: Vec<String>,
    bytes: usize,
    runs: Vec<File>,
}

impl Sorter {
    /// Adds a line with its end.
    ///
    /// # Errors
    /// If a run cannot be written.
    pub fn add(&mut self, line: String) -> io::Result<()> {
        self.bytes += line.len() + size_of::<String>();
        self.lines.push(line);
        if self.bytes >= RUN { self.end_run() } else { Ok(()) }
    }

    fn end_run(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        let mut out = BufWriter::new(tempfile::tempfile()?);
        self.lines.drain(..).try_for_each(|line| out.write_all(line.as_bytes()))?;
        let mut run = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        run.rewind()?;
        self.runs.push(run);
        self.bytes = 0;
        Ok(())
    }

    /// Writes all lines in order.
    ///
    /// # Errors
    /// If a run does not read, or `out` does not take it.
    pub fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.end_run()?;
        let mut runs: Vec<BufReader<File>> = self.runs.into_iter().map(BufReader::new).collect();
        let mut heads = BinaryHeap::new();
        for at in 0..runs.len() {
            heads.extend(next(&mut runs, at)?);
        }
        while let Some(Reverse((line, at))) = heads.pop() {
            out.write_all(line.as_bytes())?;
            heads.extend(next(&mut runs, at)?);
        }
        Ok(())
    }
}

/// The next line of a run.
fn next(runs: &mut [BufReader<File>], at: usize) -> io::Result<Option<Reverse<(String, usize)>>> {
    let mut line = String::new();
    Ok((runs[at].read_line(&mut line)? > 0).then_some(Reverse((line, at))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_leave_sorted_whether_or_not_memory_holds_them() {
        let mut lines: Vec<String> = (0..1000_u32).map(|n| format!("{} x\n", n.wrapping_mul(2_654_435_761))).collect();
        let sorted = |every: usize| {
            let mut sorter = Sorter::default();
            for (n, line) in lines.iter().enumerate() {
                sorter.add(line.clone()).unwrap();
                if n % every == every - 1 {
                    sorter.end_run().unwrap();
                }
            }
            let mut out = Vec::new();
            sorter.write(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let (one, many) = (sorted(5000), sorted(90));
        assert_eq!(one, many);
        lines.sort_unstable();
        assert_eq!(one, lines.concat());
    }
}
