"""Writes the responses of a crawl directory with warcio in the form in which other crawlers write them.

    python3 foreign_warc.py CRAWL OUT

OUT gets plain.warc.gz (one member per record), mixed.warc (each response in another form, with records of all kinds), and
dedup.warc.gz (every response twice, the second time as a revisit record).
"""

import glob
import gzip
import io
import os
import sys

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

CRAWL, OUT = sys.argv[1:]


def answers():
    for name in sorted(glob.glob(os.path.join(CRAWL, "pages", "*.warc.gz"))):
        with open(name, "rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    status, fields = record.http_headers.statusline, record.http_headers.headers
                    keep = [(k, v) for k, v in fields if k.lower() not in ("content-encoding", "content-length")]
                    body = record.content_stream().read()
                    uri, date = (record.rec_headers.get_header(f"WARC-{name}") for name in ("Target-URI", "Date"))
                    yield uri, date, status, keep, body


def response(writer, uri, date, status, fields, body):
    head = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
    more = {"WARC-Date": date}
    return writer.create_warc_record(uri, "response", payload=io.BytesIO(body), http_headers=head, warc_headers_dict=more)


def chunks(body):
    parts = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def ways(number, fields, body):
    """Fields and body of a response as one of the crawlers stores it."""
    length = [("Content-Length", str(len(body)))]
    if number % 6 == 0:  # wget: the transfer coding is kept
        return fields + [("Transfer-Encoding", "chunked")], chunks(body)
    if number % 6 == 1:  # Heritrix: the content coding is kept
        return fields + [("Content-Encoding", "gzip")], gzip.compress(body)
    if number % 6 == 2:  # both
        return fields + [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")], chunks(gzip.compress(body))
    if number % 6 == 3:  # Common Crawl: both are removed, and the fields renamed
        return fields + [("X-Crawler-Content-Encoding", "gzip"), ("X-Crawler-Transfer-Encoding", "chunked")] + length, body
    if number % 6 == 4:  # a browser's: the body is decoded, and the field is still there
        return fields + [("content-encoding", "br"), ("transfer-encoding", "chunked")], body
    return fields + length, body


ALL = list(answers())

with open(os.path.join(OUT, "plain.warc.gz"), "wb") as file:
    writer = WARCWriter(file, gzip=True)
    for answer in ALL:
        writer.write_record(response(writer, *answer))

with open(os.path.join(OUT, "mixed.warc"), "wb") as file:
    writer = WARCWriter(file, gzip=False, warc_version="1.0")
    writer.write_record(writer.create_warcinfo_record("mixed.warc", {"software": "a test"}))
    dns = writer.create_warc_record("dns:example.org", "response", payload=io.BytesIO(b"127.0.0.1"), warc_content_type="text/dns")
    writer.write_record(dns)
    for number, (uri, date, status, fields, body) in enumerate(ALL):
        head = StatusAndHeaders("GET / HTTP/1.1", [("Host", "x")], is_http_request=True)
        writer.write_record(writer.create_warc_record(uri, "request", payload=io.BytesIO(), http_headers=head))
        writer.write_record(response(writer, uri, date, status, *ways(number, fields, body)))
        writer.write_record(writer.create_warc_record(uri, "metadata", payload=io.BytesIO(b"via: x\r\n"), warc_content_type="application/warc-fields"))
        # What only a browser requests.
        if number % 10 == 0:
            style = [("Content-Type", "text/css")]
            writer.write_record(response(writer, uri.rstrip("/") + "/style.css", date, "200 OK", style, b"p {}"))

with open(os.path.join(OUT, "dedup.warc.gz"), "wb") as file:
    writer = WARCWriter(file, gzip=True)
    digests = []
    for uri, date, status, fields, body in ALL:
        record = response(writer, uri, date, status, fields, body)
        writer.write_record(record)
        digests.append(record.rec_headers.get_header("WARC-Payload-Digest"))
    for (uri, date, status, fields, body), digest in zip(ALL, digests):
        head = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
        writer.write_record(writer.create_revisit_record(uri, digest, uri, date, http_headers=head))

print(len(ALL))
