"""Runs the CSS selectors of extraction rules with lxml and cssselect, and compares the results.

    python3 extract.py PAGES RULES.json PAGES.jsonl

PAGES is a folder of saved pages, RULES.json maps field names to [selector, take, many], and a line of PAGES.jsonl has what
suidao extracted from the page of its URL. Exits with 77 if a package is missing.
"""

import json
import os
import sys

try:
    import cssselect  # noqa: F401, which lxml needs
    import lxml.html
except ModuleNotFoundError as error:
    print(f"extract: {error} (tests/tools.sh installs it)")
    sys.exit(77)

PAGES, RULES, LINES = sys.argv[1:]
with open(RULES, encoding="utf-8") as file:
    rules = json.load(file)
with open(LINES, encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]


def taken(element, take):
    if take == "text":
        return " ".join(element.text_content().split()) or None
    return " ".join((element.get(take.removeprefix("attr:")) or "").split()) or None


values = 0
for line in lines:
    with open(os.path.join(PAGES, line["url"].rsplit("/", 1)[1]), encoding="utf-8") as file:
        page = lxml.html.document_fromstring(file.read())
    expected = {}
    for name, (selector, take, many) in rules.items():
        found = [text for text in (taken(element, take) for element in page.cssselect(selector)) if text]
        if found:
            expected[name] = found if many else found[0]
    assert line["extracted"] == expected, (line["url"], line["extracted"], expected)
    values += len(expected)
assert values > 0
print(f"lxml agrees on {values} values of {len(lines)} pages")
