#!/usr/bin/env python3
"""Main content as suidao and others extract it, against expected texts: F1, precision and recall of tokens.

    benches/reading.py DATA [--suidao PATH] [--pages benches/reading.tsv] [--losses N] [--json FILE]

DATA holds the recorded webs: DATA/web/hosts/HOST/... and DATA/web2/hosts/HOST/....
The pages are in reading.tsv with the CSS selectors of what a reader would keep of each (`keep`) and of what inside it
is to be removed (`drop`); both were written after looking at the page, without an extractor. So the expected text is
computed when this runs, and no page is stored here. A token is an ideograph, a kana or a run of letters and digits; the
measures are those of the bags of tokens, the mean over the pages. A first line that only repeats the title is left out on all
sides. Needs lxml, cssselect; compares with what is installed of trafilatura, readability-lxml, resiliparse, gne.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import lxml.html
from lxml.cssselect import CSSSelector

# Never content: scripts, line numbers of code, anchor signs of headings, buttons.
NEVER = (
    "script,style,noscript,template,svg,button,textarea:not(#md_v),iframe,td.gutter,.gutter pre,.lineno,.lnt,.ln,"
    ".line-numbers-rows,.headerlink,.header-anchor,a.anchor,.highlight-tools,.copy-btn,.code-lang,.MathJax_Preview"
)
BLOCKS = set(
    "p div li tr td th h1 h2 h3 h4 h5 h6 pre ul ol table br section article blockquote figure figcaption dd dt dl hr".split()
)
TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def tokens(text):
    return TOKEN.findall(text.lower())


def text_of(element):
    parts = []

    def walk(node):
        if not isinstance(node.tag, str):
            return
        block = node.tag in BLOCKS
        parts.append("\n" if block else "")
        parts.append(node.text or "")
        for child in node:
            walk(child)
            parts.append(child.tail or "")
        parts.append("\n" if block else "")

    walk(element)
    return re.sub(r"\s*\n\s*", "\n", "".join(parts)).strip()


def parse(html):
    return lxml.html.fromstring(re.sub(r"^\s*<\?xml[^>]*>", "", html))


def gold_of(html, keep, drop):
    tree = parse(html)
    for selector in filter(None, (NEVER, drop)):
        for node in CSSSelector(selector)(tree):
            if node.getparent() is not None:
                node.drop_tree()
    kept = CSSSelector(keep)(tree)
    kept = [node for node in kept if not any(above in kept for above in node.iterancestors())]
    return "\n".join(map(text_of, kept))


def without_title(text, title):
    # Bullets of list items are not text of the page.
    text = re.sub(r"(?m)^\s*(- |\d+\. )", "", text)
    first, _, rest = text.strip().partition("\n")
    first_line = "".join(tokens(first))
    return rest if first_line and first_line in title else text


def measure(text, gold):
    ours, theirs = collections.Counter(tokens(text)), collections.Counter(tokens(gold))
    both = sum((ours & theirs).values())
    precision = both / max(1, sum(ours.values()))
    recall = both / max(1, sum(theirs.values()))
    return 2 * both / max(1, sum(ours.values()) + sum(theirs.values())), precision, recall


def others():
    """Installed extractors: name, and function from HTML to text."""
    found = {}
    try:
        import trafilatura

        def extract(**how):
            return lambda html, url: trafilatura.extract(html, include_comments=False, **how) or ""

        found["trafilatura"] = extract()
        found["trafilatura, recall"] = extract(favor_recall=True)
        found["trafilatura, precision"] = extract(favor_precision=True)
    except ImportError:
        pass
    try:
        from readability import Document

        found["readability-lxml"] = lambda html, url: text_of(parse(Document(html).summary() or "<p>"))
    except ImportError:
        pass
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html, url: extract_plain_text(html, main_content=True)
    except ImportError:
        pass
    try:
        from gne import GeneralNewsExtractor

        found["gne"] = lambda html, url: GeneralNewsExtractor().extract(html).get("content") or ""
    except ImportError:
        pass
    return found


def ours(suidao):
    def read(path, url):
        run = subprocess.run([suidao, "check", "page", path, "--url", url, "--json"], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{path}: {run.stderr}")
        return json.loads(run.stdout)["text"]

    return read


def main():
    at = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--suidao", default=os.path.join(at, "../target/release/suidao"))
    parser.add_argument("--pages", default=os.path.join(at, "reading.tsv"))
    parser.add_argument("--losses", type=int, default=0, help="show so many of our worst pages")
    parser.add_argument("--half", help="only these pages: tune or held")
    parser.add_argument("--json", help="keep the texts of the others here, and take them from there")
    args = parser.parse_args()
    rows = [line.rstrip("\n").split("\t") for line in open(args.pages, encoding="utf-8")][1:]
    rows = [row for row in rows if args.half in (None, row[0])]
    known = json.load(open(args.json)) if args.json and os.path.exists(args.json) else {}
    extractors, read, scores, worst = others(), ours(args.suidao), collections.defaultdict(list), []

    def path_of(page):
        web, rest = page.split("/", 1)
        return os.path.join(args.data, web, "hosts", rest)

    def url_of(page):
        rest = page.split("/", 1)[1]
        return "http://" + re.sub("index.html$", "", rest).replace("%", "%25").replace("?", "%3F").replace("#", "%23")

    with ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda row: read(path_of(row[2]), url_of(row[2])), rows))
    for (half, theme, page, keep, drop), own in zip(rows, texts):
        html = open(path_of(page), "rb").read().decode("utf-8", "replace")
        titles = parse(html).xpath("//title")
        title = "".join(tokens(titles[0].text_content())) if titles else ""
        gold = without_title(gold_of(html, keep, drop), title)
        if not tokens(gold):
            sys.exit(f"{page}: the selectors find nothing")
        given = known.setdefault(page, {})
        for name, extract in extractors.items():
            if name not in given:
                try:
                    given[name] = extract(html, url_of(page))
                except Exception as error:  # a page that breaks an extractor is a page it does not read
                    print(f"{name}: {page}: {error}", file=sys.stderr)
                    given[name] = ""
        for name, text in [("suidao", own)] + list(given.items()):
            got = measure(without_title(text, title), gold)
            for group in (half, theme, "all"):
                scores[name, group].append(got)
            if name == "suidao":
                worst.append((got, page, without_title(own, title), gold))
    if args.json:
        json.dump(known, open(args.json, "w"))
    groups = ["tune", "held"] * (args.half is None) + sorted({row[1] for row in rows}) + ["all"]
    names = ["suidao"] + list(extractors)
    print("| pages | n | " + " | ".join(names) + " |\n" + "|---|--:|" + "--:|" * len(names))
    mean = lambda name, group, at: sum(got[at] for got in scores[name, group]) / len(scores[name, group])
    for group in groups:
        cells = [f"{mean(name, group, 0):.3f}" for name in names]
        print(f"| {group} | {len(scores['suidao', group])} | " + " | ".join(cells) + " |")
    for at, what in ((1, "precision, all"), (2, "recall, all")):
        print(f"| {what} | {len(rows)} | " + " | ".join(f"{mean(name, 'all', at):.3f}" for name in names) + " |")
    for got, page, own, gold in sorted(worst)[: args.losses]:
        missing = collections.Counter(tokens(gold)) - collections.Counter(tokens(own))
        print("\n%s F1 %.3f precision %.3f recall %.3f, %d tokens of gold missing" % (page, *got, sum(missing.values())))
        own_lines, gold_lines = own.split("\n"), gold.split("\n")
        plain = lambda text: "".join(tokens(text))
        whole_gold, whole_own = plain(gold), plain(own)
        print("  extra:   " + " ¶ ".join(line[:60] for line in own_lines if plain(line) not in whole_gold)[:600])
        print("  missing: " + " ¶ ".join(line[:60] for line in gold_lines if plain(line) not in whole_own)[:600])


if __name__ == "__main__":
    main()
