#!/usr/bin/env python3
"""Listings distinguished from documents, against pages judged by hand: precision and recall.

    benches/listings.py DATA [--suidao PATH] [--misses]

DATA holds the recorded webs: DATA/web/hosts/HOST/... and DATA/web2/hosts/HOST/.... listings.tsv has
three pages of each of their 107 hosts, those with the smallest SHA-1 of `listings HOST/PATH`, and the class of each: a listing (a
way to documents), an article (a document) or empty (neither). Left out: four stubs that only redirect, a template of a home page, a
list of products. The hosts are halved by the SHA-1 of their names; rules were made for the half `tune`."""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

at = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--suidao", default=os.path.join(at, "../target/release/suidao"))
parser.add_argument("--misses", action="store_true", help="name the pages that were taken for something else")
args = parser.parse_args()
rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(at, "listings.tsv"), encoding="utf-8")][1:]


def read(page):
    web, rest = page.split("/", 1)
    url = "http://" + quote(re.sub("index.html?$", "", rest))
    command = [args.suidao, "check", "page", os.path.join(args.data, web, "hosts", rest), "--url", url, "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{page}: {run.stderr.strip()}")
    reply = json.loads(run.stdout)
    return "listing" if reply["listing"] else "document" if reply["chars"] >= 10 else "empty"


with ThreadPoolExecutor(2) as pool:
    answers = list(pool.map(read, [row[2] for row in rows]))
print("| pages | n | listings | precision | recall | articles kept as documents | empty pages left out |\n|---|--:|--:|--:|--:|--:|--:|")
for name in ("tune", "held", "all"):
    of = collections.Counter((row[1], kind) for row, kind in zip(rows, answers) if name in (row[0], "all"))
    is_class = {kind: sum(n for (is_kind, _), n in of.items() if is_kind == kind) for kind in ("listing", "article", "empty")}
    right, reported = of["listing", "listing"], sum(n for (_, kind), n in of.items() if kind == "listing")
    kept, left = of["article", "document"], is_class["empty"] - of["empty", "document"]
    print(
        f"| {name} | {sum(is_class.values())} | {is_class['listing']} | {right / reported:.3f} | {right / is_class['listing']:.3f} "
        f"| {kept} of {is_class['article']} | {left} of {is_class['empty']} |"
    )
if args.misses:
    for (half, kind, page, reason), took in zip(rows, answers):
        if took != kind.replace("article", "document"):
            print(f"{half}: {page}: {kind} ({reason}), taken for {took}")
