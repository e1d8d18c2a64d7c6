"""Search for Chinese compounds, against a scan of the exported pages for the string of each query.

    suidao export DIR --format jsonl -o pages.jsonl
    python3 benches/phrases.py suidao DIR pages.jsonl < benches/phrases.txt

For each query: pages with the string, pages found, recall and precision of the pages with the string, nDCG@10 (gain 3: in
the title; 2: at least three times in the text; 1: once or in a link text), and what the search was loosened to.
"""

import json
import math
import re
import subprocess
import sys

suidao, crawl, export = sys.argv[1:]
pages = {}
with open(export, encoding="utf-8") as lines:
    for line in lines:
        page = json.loads(line)
        pages[page["url"]] = [re.sub(r"\s+", "", page.get(part) or "").lower() for part in ("title", "text", "anchor")]


def gain(page, query):
    title, text, anchor = page
    count = text.count(query)
    return 3 if query in title else 2 if count >= 3 else 1 if count or query in anchor else 0


def dcg(gains):
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:10]))


rows = []
for query in sys.stdin.read().split():
    command = [suidao, "search", crawl, query, "--json", "-n", "100000", "--duplicates", "keep"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = [hit["url"] for hit in answer["hits"] if hit["url"] in pages]
    gains = {url: gain(page, query) for url, page in pages.items()}
    having = sum(gain > 0 for gain in gains.values())
    hits = sum(gains[url] > 0 for url in found)
    ndcg = dcg([gains[url] for url in found]) / (dcg(sorted(gains.values(), reverse=True)) or 1)
    rows.append((hits / (having or 1), hits / (len(found) or 1), ndcg))
    print(query, having, len(found), *(f"{value:.3f}" for value in rows[-1]), answer["loosened"], sep="\t")
print("mean", "", "", *(f"{sum(column) / len(rows):.3f}" for column in zip(*rows)), sep="\t")
