#!/usr/bin/env python3
"""Equations 1 and 2 of Jiang, Zhu, Wang 2020 in the readings that suidao does not have: IDF of the pages collected so far
instead of a background's, and the norm over topic terms only instead of all terms of the page.

    pip install jieba
    benches/idf.py --suidao target/release/suidao CRAWL:LEXICON:TRUTH...

CRAWL is a crawl directory, LEXICON one by `topic build --method textrank`, TRUTH relevant URLs, one per line. Prints for each
crawl the average precision of its documents by each reading. Pages come in the order of fetching, tf is raw, only the text
counts. The frozen IDF is that of jieba's dictionary. Python 3."""
import argparse
import json
import math
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jieba
import jieba.analyse
import tomllib


def key(url):
    parts = urlsplit(url)
    return parts.netloc.lower() + unquote(parts.path).removesuffix("index.html").rstrip("/").removesuffix(".html")


def average_precision(scores, truth):
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    hits = total = 0
    for rank, at in enumerate(order, 1):
        if truth[at]:
            hits += 1
            total += hits / rank
    return total / max(1, hits)


def documents(suidao, crawl):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "pages.jsonl")
        subprocess.run([suidao, "export", crawl, "-q", "--format", "jsonl", "-o", out, "--fields", "url,text,listing,id"],
                       check=True)
        pages = [json.loads(line) for line in open(out, encoding="utf-8")]
    return sorted((page for page in pages if not page["listing"]), key=lambda page: page["id"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--suidao", default="target/release/suidao")
    arguments.add_argument("cases", nargs="+")
    args = arguments.parse_args()
    jieba.setLogLevel(60)
    frozen, median = jieba.analyse.default_tfidf.idf_freq, jieba.analyse.default_tfidf.median_idf
    print("| crawl | documents | on topic | frozen IDF | running IDF | frozen, norm over topic terms | running, norm over topic terms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    sums = [0.0] * 4
    for case in args.cases:
        crawl, lexicon, truth = case.split(":")
        terms = tomllib.load(open(lexicon, "rb"))["terms"]
        relevant = {key(line.split("\t")[0].strip()) for line in open(truth, encoding="utf-8") if "://" in line}
        pages = documents(args.suidao, crawl)
        df, scores = Counter(), [[], [], [], []]
        for collected, page in enumerate(pages, 1):
            words = Counter(word.lower() for word in jieba.cut(page["text"]) if word.strip())
            df.update(words.keys())
            running = lambda word: math.log(1 + collected / (1 + df[word]))
            fixed = lambda word: frozen.get(word, median)
            for column, (idf, only_topic) in enumerate([(fixed, False), (running, False), (fixed, True), (running, True)]):
                weights = {word: count * idf(word) for word, count in words.items() if not only_topic or word in terms}
                norm = math.sqrt(sum(weight * weight for weight in weights.values()))
                dot = sum(weights.get(term, 0.0) * weight for term, weight in terms.items())
                scores[column].append(dot / norm if norm else 0.0)
        truths = [key(page["url"]) in relevant for page in pages]
        found = [average_precision(column, truths) for column in scores]
        sums = [total + one for total, one in zip(sums, found)]
        print(f"| {Path(crawl).name} | {len(pages)} | {sum(truths)} | " + " | ".join(f"{one:.2f}" for one in found) + " |", flush=True)
    print("| mean | | | " + " | ".join(f"{total / len(args.cases):.2f}" for total in sums) + " |")


if __name__ == "__main__":
    main()
