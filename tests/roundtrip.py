"""Reads exports with the software that they are made for.

    python3 roundtrip.py CHECK EXPORTS CRAWL SCHEMA

EXPORTS holds one crawl in all formats (see tests/export/formats.rs), CRAWL is the crawl directory. Prints what agrees.
Exits with 77 and the name of a missing package, and with a traceback if something differs.
"""

import datetime
import glob
import io
import json
import os
import struct
import subprocess
import sys

CHECK, EXPORTS, CRAWL, SCHEMA = sys.argv[1:]


def path(name):
    return os.path.join(EXPORTS, name)


with open(path("pages.jsonl"), encoding="utf-8") as lines:
    LINES = [json.loads(line) for line in lines]


def single(number):
    """The 32 bit number that JSON has in decimals."""
    return struct.unpack("f", struct.pack("f", number))[0]


def expected(line):
    """A line of JSON with the types that columns have."""
    line = dict(line)
    line["published"] = line["published"] and datetime.date.fromisoformat(line["published"])
    for instant in ("fetched", "first_seen", "last_seen", "last_changed"):
        line[instant] = datetime.datetime.fromisoformat(line[instant])
    line["relevance"] = single(line["relevance"])
    line["scores"] = dict(line["scores"], priority=single(line["scores"]["priority"]))
    return line


def agree(rows, what):
    assert len(rows) == len(LINES), f"{what}: {len(rows)} rows, {len(LINES)} lines"
    for row, line in zip(rows, map(expected, LINES)):
        assert list(row) == list(line), f"{what}: {list(row)}"
        for name, value in line.items():
            assert row[name] == value, f"{what}, {line['url']}, {name}: {row[name]!r} is not {value!r}"


def jsonschema():
    import jsonschema

    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for line in LINES:
        validator.validate(line)
    for name in LINES[0]:
        assert not validator.is_valid({key: value for key, value in LINES[0].items() if key != name}), name
    assert not validator.is_valid(dict(LINES[0], more=1))


def pyarrow():
    import pyarrow.parquet as parquet

    agree(parquet.read_table(path("pages.parquet")).to_pylist(), "pyarrow")
    agree(parquet.read_table(path("shards")).to_pylist(), "pyarrow, shards")
    file = parquet.ParquetFile(path("pages.parquet"))
    assert file.metadata.num_rows == len(LINES)
    assert b"suidao.topic" in file.metadata.metadata and b"suidao.lexicon" in file.metadata.metadata
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def pandas():
    import pandas
    import pyarrow  # noqa: F401, the engine

    frame = pandas.read_parquet(path("pages.parquet"))
    assert len(frame) == len(LINES)
    for name in ["url", "title", "text", "chars", "relevant", "depth", "digest"]:
        assert frame[name].tolist() == [line[name] for line in LINES], name
    assert str(frame["fetched"].dt.tz) == "UTC"
    assert frame["relevance"].tolist() == [single(line["relevance"]) for line in LINES]
    lines = pandas.read_json(path("pages.jsonl"), lines=True)
    assert len(lines) == len(LINES)


def duckdb():
    import duckdb

    names = ["url", "title", "text", "chars", "relevant", "k", "found_on", "simhash"]
    for source in [path("pages.parquet"), path("shards/*.parquet"), path("pages.jsonl")]:
        rows = duckdb.sql(f"SELECT {', '.join(names)}, terms, scores.queue FROM '{source}'").fetchall()
        assert len(rows) == len(LINES), source
        # Several files may come in any order.
        rows = {row[0]: row for row in rows}
        for line in LINES:
            row = rows[line["url"]]
            assert list(row[:8]) == [line[name] for name in names], (source, line["url"])
            assert (row[8] or []) == line["terms"] and row[9] == line["scores"]["queue"], (source, line["url"])
    kind = duckdb.sql(f"SELECT typeof(fetched), typeof(published) FROM '{path('pages.parquet')}' LIMIT 1").fetchall()
    assert kind == [("TIMESTAMP WITH TIME ZONE", "DATE")], kind


def polars():
    import polars

    agree(polars.read_parquet(path("pages.parquet")).to_dicts(), "polars")
    agree(polars.scan_parquet(path("shards/*.parquet")).collect().to_dicts(), "polars, shards")


def records(stream):
    from warcio.archiveiterator import ArchiveIterator

    for record in ArchiveIterator(stream, no_record_parse=True):
        yield record.rec_headers, record.raw_stream.read()


def warcio():
    import warcio  # noqa: F401

    files = [path("pages.warc.gz"), *sorted(glob.glob(path("archive/*.warc.gz")))]
    assert len(files) > 2
    for file in files:
        checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", "-v", file], capture_output=True, text=True)
        assert checked.returncode == 0 and "digest pass" in checked.stdout and "fail" not in checked.stdout, checked
    for files in [files[:1], files[1:]]:
        kinds, responses = [], []
        for file in files:
            with open(file, "rb") as stream:
                for headers, content in records(stream):
                    kinds.append(headers.get_header("WARC-Type"))
                    if kinds[-1] == "response":
                        responses.append((headers, content))
        assert kinds.count("warcinfo") == len(files)
        assert [kind for kind in kinds if kind != "warcinfo"] == ["request", "response"] * len(LINES)
        for line, (headers, content) in zip(LINES, responses):
            assert headers.get_header("WARC-Target-URI") == line["url"]
            with open(os.path.join(CRAWL, "pages", line["warc"]["file"]), "rb") as archive:
                archive.seek(line["warc"]["offset"])
                own = archive.read(line["warc"]["length"])
            assert next(records(io.BytesIO(own))) == (headers, content)


def networkx():
    import networkx
    import pyarrow.parquet as parquet

    graph = networkx.read_graphml(path("links.graphml"))
    nodes = parquet.read_table(path("links.nodes.parquet")).to_pylist()
    edges = parquet.read_table(path("links.edges.parquet")).to_pylist()
    assert graph.is_directed() and not graph.is_multigraph()
    assert graph.number_of_nodes() == len(nodes) == len(LINES)
    assert graph.number_of_edges() == len(edges) > len(LINES)
    for node, line in zip(nodes, LINES):
        there = graph.nodes[f"n{node['node']}"]
        assert there["url"] == node["url"] == line["url"] and node["id"] == line["id"]
        # networkx treats an empty title as missing.
        assert (there["title"] or "") == node["title"] == line["title"]
        assert there["relevant"] is node["relevant"] is line["relevant"]
        assert single(there["relevance"]) == node["relevance"] == single(line["relevance"])
    for edge in edges:
        there = graph.edges[f"n{edge['source']}", f"n{edge['target']}"]
        assert (there["anchor"] or "") == edge["anchor"] and there["region"] == edge["region"]
        assert there["links"] == edge["links"] > 0
        assert nodes[edge["source"]]["url"] == edge["source_url"] and nodes[edge["target"]]["url"] == edge["target_url"]


SEARCHED = [
    "id", "url", "host", "title", "text", "chars", "language", "published", "fetched", "relevance", "relevant", "terms",
    "anchor", "hops", "depth", "duplicate_of", "listing", "noindex",
]


def elastic():
    """The body for the bulk API, parsed by the serialiser of the official client and passed through its helpers."""
    from elasticsearch import helpers
    from elasticsearch.serializer import NdjsonSerializer

    with open(path("pages.bulk.ndjson"), "rb") as file:
        body = file.read()
    rows = NdjsonSerializer().loads(body)
    assert len(rows) == 2 * len(LINES)
    actions, documents = rows[::2], rows[1::2]
    for action, document, line in zip(actions, documents, LINES):
        assert action == {"index": {"_index": "crawl", "_id": line["id"]}}, action
        assert document == {name: line[name] for name in SEARCHED}, line["url"]
    # The client itself would send the same rows for these documents.
    sent = []
    wanted = ({"_index": "crawl", "_id": document["id"], "_source": document} for document in documents)
    for action, source in map(helpers.expand_action, wanted):
        sent += [action, source]
    assert sent == rows
    for name in ["pages.template.json", "pages.template.smartcn.json"]:
        with open(path(name), encoding="utf-8") as file:
            template = json.load(file)
        mapped = template["template"]["mappings"]["properties"]
        analysers = template["template"]["settings"]["analysis"]["analyzer"]
        assert set(SEARCHED) <= set(mapped) and template["index_patterns"][0] == "crawl"
        assert mapped["text"]["analyzer"] in analysers


def engines():
    for name in ["meilisearch", "quickwit"]:
        with open(path(f"{name}.ndjson"), encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        assert len(rows) == len(LINES)
        for row, line in zip(rows, LINES):
            assert {key: row[key] for key in SEARCHED} == {key: line[key] for key in SEARCHED}, line["url"]
    with open(path("meilisearch.ndjson"), encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            day = row["published"] and datetime.datetime.fromisoformat(row["published"] + "T00:00:00+00:00")
            assert row["published_at"] == (day and int(day.timestamp()))
            assert row["fetched_at"] == int(datetime.datetime.fromisoformat(row["fetched"]).timestamp())
    with open(path("meilisearch.settings.json"), encoding="utf-8") as file:
        settings = json.load(file)
    assert "text" in settings["searchableAttributes"] and "published_at" in settings["sortableAttributes"]
    with open(path("quickwit.index.json"), encoding="utf-8") as file:
        index = json.load(file)
    mapped = {field["name"] for field in index["doc_mapping"]["field_mappings"]}
    assert index["index_id"] == "crawl" and set(SEARCHED) | {"extracted"} == mapped


try:
    {check.__name__: check for check in [jsonschema, pyarrow, pandas, duckdb, polars, warcio, networkx, elastic, engines]}[CHECK]()
except ModuleNotFoundError as error:
    print(f"{CHECK}: {error} (tests/tools.sh installs it)")
    sys.exit(77)
print(f"{CHECK} agrees on {len(LINES)} pages")
