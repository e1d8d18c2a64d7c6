#!/usr/bin/env python3
"""The benchmark for focused crawlers (docs/benchmark.md): runs crawlers on generated webs over HTTP and prints a table.

    apt-get install wget
    pip install scrapy 'crawlee[beautifulsoup]'
    cargo build --release; cargo build --release -p suidao-spider --example peers
    benches/benchmark.py --bin target/release

For each scenario `suidao practice` serves the web as a proxy on loopback. Every crawler gets the same seeds and sample
pages or words of the topic, no delay between requests, and is ended after --pages pages; suidao ends by its own limit, others
would count failed requests. Its score is that of `suidao practice --score`. Crawlers that are not installed are left out, with a line that says
so. Standard library only.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SCENARIOS = ["blogs", "blogrolls", "islands", "small-world", "traps"]

# What a user of Scrapy writes for a topic: links are requested in the order of the topic's words in anchor and page.
SCRAPY = '''
import sys, scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
proxy, words, seeds, pages = sys.argv[1:]
words = [line.strip() for line in open(words, encoding="utf-8") if line.strip()]

class Pages(scrapy.Spider):
    name = "pages"
    links = LinkExtractor()
    custom_settings = {
        "CLOSESPIDER_PAGECOUNT": int(pages), "ROBOTSTXT_OBEY": True, "LOG_ENABLED": False, "RETRY_ENABLED": False,
        "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0, "TELNETCONSOLE_ENABLED": False,
    }

    async def start(self):
        for url in open(seeds):
            if url.strip() and not url.startswith("#"):
                yield scrapy.Request(url.strip(), meta={"proxy": proxy})

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        text = " ".join(response.xpath("//body//text()").getall())
        page = sum(text.count(word) for word in words)
        for link in self.links.extract_links(response):
            if link.url.startswith("http"):
                anchor = sum(link.text.count(word) for word in words)
                yield scrapy.Request(link.url, meta={"proxy": proxy}, priority=min(page, 20) + 10 * min(anchor, 3))

process = CrawlerProcess()
process.crawl(Pages)
process.start()
'''

CRAWLEE = '''
import asyncio, sys
from crawlee import ConcurrencySettings
from crawlee.crawlers import BeautifulSoupCrawler, BeautifulSoupCrawlingContext
from crawlee.http_clients import HttpxHttpClient
from crawlee.proxy_configuration import ProxyConfiguration
proxy, words, seeds, pages = sys.argv[1:]

async def main():
    crawler = BeautifulSoupCrawler(
        max_requests_per_crawl=int(pages), proxy_configuration=ProxyConfiguration(proxy_urls=[proxy]),
        http_client=HttpxHttpClient(), max_request_retries=0, respect_robots_txt_file=True, configure_logging=False,
        concurrency_settings=ConcurrencySettings(desired_concurrency=16, max_concurrency=16))

    @crawler.router.default_handler
    async def page(context: BeautifulSoupCrawlingContext) -> None:
        await context.enqueue_links(strategy="all")

    await crawler.run([line.strip() for line in open(seeds) if line.strip() and not line.startswith("#")])

asyncio.run(main())
'''


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def served(log, cut_at=None):
    """Distinct URLs answered with 200, as the score counts them. With `cut_at`, the log ends with that page."""
    pages, kept = set(), 0
    try:
        with open(log, "rb+") as lines:
            for line in lines:
                kept += len(line)
                field = line.split(b"\t")
                if len(field) == 5 and field[3] == b"200" and field[2] != b"/robots.txt":
                    pages.add((field[1], field[2]))
                    if len(pages) == cut_at:
                        lines.truncate(kept)
                        break
    except FileNotFoundError:
        pass
    return len(pages)


def end(process):
    """Ends a process and its children by their process group."""
    for which, seconds in ((signal.SIGTERM, 1), (signal.SIGKILL, 10)):
        if process.poll() is None:
            try:
                os.killpg(process.pid, which)
                process.wait(timeout=seconds)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


class Crawlers:
    """The commands of the crawlers that are installed, and why others are left out."""

    def __init__(self, binaries, pages, folder):
        self.suidao = os.path.join(binaries, "suidao")
        self.pages, self.missing, self.commands = str(pages), [], {}
        # Others count failed requests against their limits, so they get more and are ended at the limit.
        self.requests = str(5 * pages)
        scripts = {}
        for name, text in [("scrapy", SCRAPY), ("crawlee", CRAWLEE)]:
            scripts[name] = os.path.join(folder, f"run_{name}.py")
            with open(scripts[name], "w", encoding="utf-8") as file:
                file.write(text)
        self.commands["suidao tunnel"] = lambda web, out: self.crawl(web, out)
        self.commands["suidao dth"] = lambda web, out: self.crawl(web, out, "--strategy", "dth")
        self.commands["suidao shark-search"] = lambda web, out: self.crawl(web, out, "--strategy", "shark-search")
        self.commands["suidao breadth-first"] = lambda web, out: self.crawl(web, out, "--strategy", "breadth-first")
        for name in ["scrapy", "crawlee"]:
            if importlib.util.find_spec(name):
                self.commands[name] = lambda web, out, script=scripts[name]: [
                    sys.executable, script, web["proxy"], web["queries"], web["seeds"], self.requests]
            else:
                self.missing.append(f"{name}: pip install {name}")
        peers = os.path.join(binaries, "examples", "peers")
        if os.path.exists(peers):
            self.commands["spider"] = lambda web, out: [
                peers, "blind", web["proxy"], web["lexicon"], web["seeds"], out, self.requests]
        else:
            self.missing.append("spider: cargo build --release -p suidao-spider --example peers")
        if shutil.which("wget"):
            self.commands["wget"] = lambda web, out: [
                "wget", "-q", "-r", "-l", "inf", "-H", "-P", out, "-e", "use_proxy=yes", "-e", "http_proxy=" + web["proxy"],
                "-t", "1", "-T", "10", "-i", web["seeds"]]
        else:
            self.missing.append("wget: apt-get install wget")

    def crawl(self, web, out, *more):
        return [self.suidao, "crawl", "-q", "-m", web["lexicon"], "-s", web["seeds"], "-o", out, "--proxy", web["proxy"],
                "--max-pages", self.pages, "--contact", "bench@example.org", "--set", "politeness.delay=0",
                "--set", "politeness.backoff=0", "--set", "scope.schemes=['http']", *more]


def run(crawlers, name, scenario, seed, args):
    """One crawl of one web; its score."""
    folder = tempfile.mkdtemp()
    web_folder = os.path.join(folder, "web")
    port = free_port()
    server = subprocess.Popen(
        [crawlers.suidao, "practice", web_folder, "-q", "--scenario", scenario, "--seed", str(seed), "--port", str(port)],
        start_new_session=True)
    crawler = None
    try:
        web = {key: os.path.join(web_folder, key + ".txt") for key in ["seeds", "queries", "truth"]}
        web["proxy"] = f"http://127.0.0.1:{port}"
        web["lexicon"] = os.path.join(folder, "topic.toml")
        log = os.path.join(web_folder, "access.log")
        deadline = time.monotonic() + 120
        while not os.path.exists(web["queries"]):
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"suidao practice --scenario {scenario} did not start")
            time.sleep(0.1)
        build = [crawlers.suidao, "topic", "build", "-q", "--name", "体育", "-o", web["lexicon"], "--pages",
                 os.path.join(web_folder, "samples"), "--background", os.path.join(web_folder, "background")]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        crawler = subprocess.Popen(
            crawlers.commands[name](web, os.path.join(folder, "crawl")), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "http_proxy": web["proxy"]})
        deadline = time.monotonic() + args.limit
        while crawler.poll() is None and time.monotonic() < deadline and served(log) < args.pages:
            time.sleep(0.3)
        end(crawler)
        served(log, cut_at=args.pages)
        score = subprocess.run([crawlers.suidao, "practice", "--score", log, "--json"], check=True, capture_output=True)
        return json.loads(score.stdout)
    finally:
        if crawler:
            end(crawler)
        end(server)
        shutil.rmtree(folder, ignore_errors=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", default="target/release", help="folder of suidao and examples/peers")
    arguments.add_argument("--scenarios", default=",".join(SCENARIOS))
    arguments.add_argument("--crawlers", help="names, separated by commas; default: all that are installed")
    arguments.add_argument("--pages", type=int, default=2000)
    arguments.add_argument("--seeds", type=int, default=1, help="webs of each kind")
    arguments.add_argument("--limit", type=int, default=300, help="seconds per crawl")
    args = arguments.parse_args()
    scripts = tempfile.mkdtemp()
    crawlers = Crawlers(args.bin, args.pages, scripts)
    for line in crawlers.missing:
        print(f"left out: {line}", file=sys.stderr)
    names = args.crawlers.split(",") if args.crawlers else list(crawlers.commands)
    print("| scenario | crawler | pages | relevant at 500 | 1,000 | 2,000 | islands | repeated, second URLs, dead, traps | forbidden |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for scenario in args.scenarios.split(","):
        for name in names:
            scores = [run(crawlers, name, scenario, seed, args) for seed in range(1, args.seeds + 1)]
            mean = lambda of: sum(map(of, scores)) / len(scores)
            at = lambda score, pages: next((row["relevant"] for row in score["at"] if row["pages"] == pages), score["relevant"])
            found = " | ".join(f"{mean(lambda score: at(score, pages)):.0f}" for pages in [500, 1000, 2000])
            wasted = ", ".join(
                f"{mean(lambda score: score['wasted'][key]):.0f}" for key in ["repeated", "duplicates", "dead", "traps"])
            print(f"| {scenario} | {name} | {mean(lambda score: score['pages']):.0f} | {found} | "
                  f"{mean(lambda score: score['islands']):.0f} of {scores[0]['islands_in_web']} | {wasted} | "
                  f"{mean(lambda score: score['politeness']['forbidden']):.0f} |", flush=True)
    shutil.rmtree(scripts, ignore_errors=True)


if __name__ == "__main__":
    main()
