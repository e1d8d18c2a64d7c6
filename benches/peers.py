#!/usr/bin/env python3
"""Crawlers on one recorded web: spider alone, spider guided by suidao, Scrapy with jieba, suidao breadth-first and tunnel.

    cargo build --release; cargo build --release -p suidao-spider --example peers
    pip install scrapy jieba
    benches/peers.py --proxy http://127.0.0.1:8088 --log access.log --truth truth.txt --lexicon lexicons/ml.toml --seeds seeds.txt

A proxy serves the recorded web and appends a line per request to the access log: time, host, path, status, bytes, separated
by tabs. Every crawler starts with the same seeds, without delay, and fetches --pages pages. Prints for each: medians
of the runs of pages per second, CPU seconds per 1,000 pages (its own, with its children), and distinct pages of the truth
among the first 500, 1,000 and 2,000 pages.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from urllib.parse import unquote

MARKS = [500, 1000, 2000]

SCRAPY = '''
import re, sys, jieba, scrapy, tomllib
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
proxy, lexicon, seeds, pages = sys.argv[1:]
jieba.initialize()
terms = set(re.findall(r'^"?([^"=]+?)"? = [0-9.]+$', open(lexicon, encoding="utf-8").read(), re.M))

class Pages(scrapy.Spider):
    name = "pages"
    links = LinkExtractor()
    custom_settings = {
        "CLOSESPIDER_PAGECOUNT": int(pages), "ROBOTSTXT_OBEY": True, "LOG_ENABLED": False, "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DEPTH_PRIORITY": 1, "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }

    async def start(self):
        for url in open(seeds):
            if url.strip() and not url.startswith("#"):
                yield scrapy.Request(url.strip(), meta={"proxy": proxy})

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        words = jieba.lcut(" ".join(response.xpath("//body//text()").getall()))
        sum(word in terms for word in words)
        for link in self.links.extract_links(response):
            if link.url.startswith("http"):
                yield scrapy.Request(link.url, meta={"proxy": proxy})

process = CrawlerProcess()
process.crawl(Pages)
process.start()
'''


def key(host, path):
    path = unquote(path.split("#")[0].split("?")[0])
    return host.lower() + path.removesuffix("index.html").rstrip("/").removesuffix(".html")


def relevant_at_marks(lines, truth):
    seen, hits, found = set(), 0, {}
    for line in lines:
        _, host, path, status, _ = line.rstrip("\n").split("\t")
        page = key(host, path)
        if status != "200" or path.split("?")[0].endswith((".txt", ".xml", ".css", ".atom")) or page in seen:
            continue
        seen.add(page)
        hits += page in truth
        found[len(seen)] = hits
    return len(seen), [found.get(mark, hits) for mark in MARKS]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["proxy", "log", "truth", "lexicon", "seeds"]:
        arguments.add_argument(f"--{name}", required=True)
    arguments.add_argument("--bin", default="target/release")
    arguments.add_argument("--runs", type=int, default=10)
    arguments.add_argument("--pages", type=int, default=2000)
    arguments.add_argument("--limit", type=int, default=300, help="seconds per run")
    args = arguments.parse_args()
    with open(args.truth, encoding="utf-8") as file:
        urls = [line.split("\t")[0].strip().split("://", 1)[1] for line in file if "://" in line]
    truth = {key(host, "/" + path) for host, _, path in (url.partition("/") for url in urls)}
    script = tempfile.NamedTemporaryFile("w", suffix=".py", delete=False)
    script.write(SCRAPY)
    script.close()
    peers = [os.path.join(args.bin, "examples/peers")]
    crawl = [os.path.join(args.bin, "suidao"), "crawl", "-q", "-m", args.lexicon, "-s", args.seeds, "--proxy", args.proxy]
    crawl += ["--contact", "bench@example.org", "--max-pages", str(args.pages)]
    crawl += ["--set", "politeness.delay=0", "--set", "politeness.backoff=0", "--set", "scope.schemes=['http']"]
    tail = [args.proxy, args.lexicon, args.seeds]
    contestants = {
        "spider": lambda out: peers + ["blind", *tail, out, str(args.pages)],
        "spider with guide": lambda out: peers + ["guide", *tail, out, str(args.pages)],
        "scrapy and jieba": lambda out: [sys.executable, script.name, *tail, str(args.pages)],
        "suidao breadth-first": lambda out: crawl + ["--strategy", "breadth-first", "-o", out],
        "suidao tunnel": lambda out: crawl + ["-o", out],
    }
    rows = {name: [] for name in contestants}
    for _ in range(args.runs):
        for name, command in contestants.items():
            folder = tempfile.mkdtemp()
            start = os.path.getsize(args.log) if os.path.exists(args.log) else 0
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            try:
                subprocess.run(command(os.path.join(folder, "crawl")), timeout=args.limit, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                pass
            seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
            time.sleep(1)  # the proxy writes its last lines
            with open(args.log, encoding="utf-8") as log:
                log.seek(start)
                pages, relevant = relevant_at_marks(log.readlines(), truth)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows[name].append([pages, pages / seconds, 1000 * cpu / max(1, pages), *relevant])
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{'contestant':22} {'pages':>6} {'pages/s':>8} {'CPU s/1000':>10}  " + "  ".join(f"at {mark:>5}" for mark in MARKS))
    for name, runs in rows.items():
        pages, speed, cpu, *relevant = (statistics.median(column) for column in zip(*runs))
        print(f"{name:22} {pages:6.0f} {speed:8.1f} {cpu:10.2f}  " + "  ".join(f"{found:8.0f}" for found in relevant))
    os.unlink(script.name)


if __name__ == "__main__":
    main()
