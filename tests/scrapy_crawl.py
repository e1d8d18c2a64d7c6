"""Crawls with Scrapy and writes its responses with warcio, as extensions of Scrapy do: from a signal whose headers have lost
their order and reason phrase.

    http_proxy=PROXY python3 scrapy_crawl.py SEEDS OUT.warc.gz
"""

import io
import sys

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

SEEDS, OUT = sys.argv[1:]


class Everything(Spider):
    name = "everything"
    links = LinkExtractor()

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.keep, signal=signals.response_downloaded)
        return spider

    def keep(self, response, request):
        def fields(headers):
            return [(name.decode(), value.decode("latin-1")) for name, values in headers.items() for value in values]

        head = StatusAndHeaders(str(response.status), fields(response.headers), protocol="HTTP/1.0")
        answer = writer.create_warc_record(response.url, "response", payload=io.BytesIO(response.body), http_headers=head)
        line = f"{request.method} / HTTP/1.0"
        asked = StatusAndHeaders(line, fields(request.headers), is_http_request=True)
        writer.write_request_response_pair(
            writer.create_warc_record(request.url, "request", http_headers=asked), answer)

    async def start(self):
        with open(SEEDS) as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    yield Request(line.split()[0])

    def parse(self, response):
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                yield Request(link.url)


with open(OUT, "wb") as file:
    writer = WARCWriter(file, gzip=True, warc_version="1.1")
    writer.write_record(writer.create_warcinfo_record(OUT, {"software": "Scrapy", "robots": "obey"}))
    process = CrawlerProcess({
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "LOG_LEVEL": "ERROR",
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    })
    process.crawl(Everything)
    process.start()
