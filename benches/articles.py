#!/usr/bin/env python3
"""Main text and dates of real articles, by suidao, trafilatura and htmldate, as a table for docs/measurements.md.

    benches/articles.py SHARED FOLDER [--suidao PATH]

SHARED is the folder with score.py and the expected results, FOLDER where articles.tar.zst is unpacked. Run it with a python that has
trafilatura, htmldate and lxml_html_clean."""

import argparse
import os
import re
import subprocess
import sys

at = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser()
parser.add_argument("shared")
parser.add_argument("folder")
parser.add_argument("--suidao", default=os.path.join(at, "../target/release/suidao"))
args = parser.parse_args()

rows = []
for how in (["--suidao", args.suidao], ["--trafilatura"]):
    command = [sys.executable, os.path.join(args.shared, "score.py"), args.folder, *how]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows.append([re.findall(r"\.\d+|1\.000", line.split(":", 1)[1]) for line in output.splitlines()])
ours, theirs = rows
print("| | suidao | trafilatura, htmldate |\n|---|--:|--:|")
for at, name in ((0, "whole text"), (1, "phrases")):
    cells = [f"{got[at][2]} ({got[at][0]} / {got[at][1]})" for got in (ours, theirs)]
    print(f"| {name}: F1 (precision / recall) | " + " | ".join(cells) + " |")
cells = [" / ".join(got[2]) for got in (ours, theirs)]
print("| dates: right of all / of those found | " + " | ".join(cells) + " |")
