//! The corpus as JSON lines: one object per page, in order of fetching.

use super::{Export, Output};
use suidao_store::corpus::{DocumentFields, JsonDocument, Streamed};
use suidao_store::store::StoreError;

pub fn write(export: &Export, output: &Output, fields: &DocumentFields) -> Result<Streamed, StoreError> {
    output.rows("jsonl", |rows| {
        export.each(
            |chosen| {
                let mut line = serde_json::to_vec(&JsonDocument(&export.document(chosen, fields.parts())?, fields))?;
                line.push(b'\n');
                Ok(line)
            },
            |line| Ok(rows.add(&line)?),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    #[test]
    fn every_page_is_a_line_whatever_the_packing() {
        let root = tempfile::tempdir().unwrap();
        let store = crawl(
            root.path(),
            &[
                ("http://a.cn/", "<title>首页</title><p>足球 <a href=/1>比赛</a></p>"),
                ("http://a.cn/1", "<title>比赛</title><p>发布于 2021-03-05</p><p>篮球 比赛</p>"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter::default().select(&catalogue);
        let result = std::sync::atomic::AtomicU64::new(0);
        let progress = || {
            result.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let export = Export {
            store: &store,
            catalogue: &catalogue,
            selection: &selection,
            progress: &progress,
            extractor: None,
        };
        let out = tempfile::tempdir().unwrap();
        let to = |name: &str| {
            let path = out.path().join(name);
            assert_eq!(write(&export, &Output::file(&path), &DocumentFields::without_links()).unwrap().pages, 2);
            std::fs::read(path).unwrap()
        };
        let plain = to("pages.jsonl");
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&to("pages.jsonl.gz")[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
        assert_eq!(zstd::decode_all(&to("pages.jsonl.zst")[..]).unwrap(), plain);
        assert_eq!(result.load(std::sync::atomic::Ordering::Relaxed), 6);
        let lines: Vec<serde_json::Value> =
            plain.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        assert_eq!(lines.len(), 2);
        let last = &lines[1];
        let expected = serde_json::json!({
            "id": last["id"], "url": "http://a.cn/1", "host": "a.cn", "title": "比赛", "text": "发布于 2021-03-05\n篮球 比赛",
            "chars": 17, "language": "zh", "author": null, "source": null, "published": "2021-03-05", "fetched": "2023-11-14T22:13:21Z",
            "first_seen": "2023-11-14T22:13:21Z", "last_seen": "2023-11-14T22:13:21Z",
            "last_changed": "2023-11-14T22:13:21Z", "versions": 1, "status": 200,
            "relevance": last["relevance"], "relevant": true, "terms": [{"term": "篮球", "count": 1}], "anchor": "链接1",
            "scores": {"priority": 0.25, "queue": 0}, "k": 4, "hops": 0, "depth": 1, "found_on": "http://a.cn/",
            "digest": last["digest"], "simhash": last["simhash"], "duplicate_of": null, "canonical": null,
            "listing": false, "noindex": false, "videos": [], "posts": [], "warc": last["warc"],
        });
        assert_eq!(last, &expected);
        let names: Vec<&String> = last.as_object().unwrap().keys().collect();
        assert_eq!(names.len(), DocumentFields::without_links().names().count());
        let few = DocumentFields::named(["text", "url"]).unwrap();
        write(&export, &Output::file(out.path().join("few")), &few).unwrap();
        let few = std::fs::read_to_string(out.path().join("few")).unwrap();
        assert!(few.starts_with("{\"url\":\"http://a.cn/\",\"text\":\"足球 比赛\"}\n"), "{few}");
        assert!(
            DocumentFields::named(["txt"]).unwrap_err().to_string().contains("unknown field txt; choose from id, url")
        );
    }

    #[test]
    fn sources_and_videos_are_fields() {
        let root = tempfile::tempdir().unwrap();
        let html = "<title>比赛</title><meta property=og:video content=/v.mp4><p>来源：新华网</p><p>足球比赛今天结束。";
        let store = crawl(root.path(), &[("http://a.cn/1.html", html)]);
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter::default().select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        let out = tempfile::tempdir().unwrap();
        for names in [&["source", "videos"][..], &["url", "text", "source", "videos"]] {
            let path = out.path().join(names.len().to_string());
            write(&export, &Output::file(path.clone()), &DocumentFields::named(names.iter().copied()).unwrap())
                .unwrap();
            let line: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            assert_eq!(line["source"], "新华网", "{line}");
            assert_eq!(line["videos"], serde_json::json!(["http://a.cn/v.mp4"]), "{line}");
        }
    }

    #[test]
    fn an_export_that_fails_leaves_no_file() {
        let root = tempfile::tempdir().unwrap();
        let html = format!("<p>{}", "足球".repeat(3000));
        let store = crawl(root.path(), &[("http://a.cn/", &html), ("http://a.cn/2", &html)]);
        let archive = root.path().join("pages/suidao-00000.warc.gz");
        let mut bytes = std::fs::read(&archive).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0);
        std::fs::write(&archive, bytes).unwrap();
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter::default().select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        let out = root.path().join("out.jsonl");
        let message = write(&export, &Output::file(&out), &DocumentFields::all()).unwrap_err().to_string();
        assert!(message.contains("suidao-00000.warc.gz"), "{message}");
        assert!(!out.exists());
    }
}
