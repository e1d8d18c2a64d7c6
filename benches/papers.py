#!/usr/bin/env python3
"""Figures 5, 6 and 7 of Jiang, Zhu, Wang 2020 (dynamic tunnelling), and the claim of Tianwang, by suidao's own commands.

    cargo build --release
    benches/papers.py --bin target/release --webs 20                      # generated webs
    benches/papers.py --bin target/release --tasks TASKS/web.toml         # recorded ones, with lexicons of their own

As the paper did it: pages have text, the topic is TextRank over sample pages (terms with raw tf, eqs. 1 and 2; tags do not
count), links are scored by eq. 3 with the paper's two word bags and URL strings. Precision is M / N: of the pages that the
topic's queries find the relevant ones (figure 6), R the relevant pages (figure 7), tunnels the off-topic pages in a row
before a relevant one (figure 5; its lengths count links, one more). DTH is in its four readings (see docs/strategies.md),
"interleave" being the nearest to the text, and with k per page. Prints for each kind of web medians with 95% intervals, in how many webs the paper's order
holds, and hosts and important pages at a tenth of the web. Python 3 standard library only.
"""

import argparse
import csv
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

STRATEGIES = ["dth interleave", "dth queue", "dth link-scored", "dth preempt", "best-first hard", "best-first soft", "pagerank",
              "shark-search", "breadth-first", "tunnel"]
TIANWANG = ["url-weight", "breadth-first", "random", "opic", "pagerank global", "tunnel", "oracle"]
CUTOFFS = [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000]
# Kinds of webs, and the scenario whose sample pages have the same words.
WORLDS = {"islands": "islands", "weak-anchors": "islands", "demo": "blogs", "small-world": "small-world"}


def samples(suidao, scenario, folder):
    """Sample and background pages of a generated web."""
    directory = os.path.join(folder, scenario)
    if os.path.exists(directory):
        return directory
    server = subprocess.Popen([suidao, "practice", directory, "-q", "--scenario", scenario, "--port", "0"])
    while not os.path.exists(os.path.join(directory, "queries.txt")):
        if server.poll() is not None:
            raise SystemExit(f"suidao practice --scenario {scenario} did not start")
        time.sleep(0.1)
    server.send_signal(signal.SIGINT)
    server.wait()
    return directory


def papers_lexicon(suidao, scenario, folder):
    """TextRank, raw tf, no tags."""
    lexicon = os.path.join(folder, scenario + ".toml")
    pages = samples(suidao, scenario, folder)
    subprocess.run([suidao, "topic", "build", "-q", "--method", "textrank", "--name", "体育", "--pages", pages + "/samples",
                    "--background", pages + "/background", "-o", lexicon], check=True, stdout=subprocess.DEVNULL)
    with open(lexicon, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r'(?m)^tf = .*$', 'tf = "raw"', text)
    text = re.sub(r'(?m)^tags = [0-9.]+$', 'tags = 0.0', text)
    with open(lexicon, "w", encoding="utf-8") as file:
        file.write(text)
    return lexicon


def compare(suidao, targets, strategies, cutoffs, more, folder):
    """The JSON of a comparison, and the rows of its curves by (task, seed, strategy, pages)."""
    out = tempfile.mkdtemp(dir=folder)
    command = [suidao, "compare", *targets, "--strategies", ",".join(strategies), "--pages", str(cutoffs[-1]), "--json", "-q",
               "-o", out, *more]
    done = subprocess.run(command, check=True, capture_output=True)
    rows = {}
    with open(os.path.join(out, "curves.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["task"], row["seed"], row["strategy"]), []).append(row)
    return json.loads(done.stdout), rows


def at(rows, pages):
    """The last row of a run up to this number of pages: a run that ended early stays as it is."""
    return [row for row in rows if int(row["pages"]) <= pages][-1]


def precision(rows, pages):
    row = at(rows, pages)
    return int(row["relevant_hits"]) / max(1, int(row["hits"]))


def relevant(rows, pages):
    return int(at(rows, pages)["relevant"])


def tables(name, result, rows):
    cases = sorted({case[:2] for case in rows})
    print(f"\n## {name}, {len(cases)} webs")
    print("\nPrecision M / N and relevant pages R, medians over webs; [95% interval] at the last")
    print("\n| strategy | " + " | ".join(f"{pages}" for pages in CUTOFFS) + " | islands |")
    print("|---|" + "---:|" * (len(CUTOFFS) + 1))
    summary = {}
    for row in result["summary"]:
        if row["task"] == "" or len(result["facts"]["tasks"]) == 1:
            summary[row["strategy"], row["measure"], row["pages"]] = row
    for strategy in STRATEGIES:
        runs = [rows[(*case, strategy)] for case in cases]
        cells = []
        for pages in CUTOFFS:
            cell = f"{statistics.median(precision(run, pages) for run in runs):.2f} / {statistics.median(relevant(run, pages) for run in runs):.0f}"
            if pages == CUTOFFS[-1]:
                last = summary.get((strategy, "relevant", pages), {})
                cell += f" [{last.get('low') or 0:.0f}, {last.get('high') or 0:.0f}]"
            cells.append(cell)
        islands = statistics.mean(int(at(run, CUTOFFS[-1])["islands"]) for run in runs)
        print(f"| {strategy} | " + " | ".join(cells) + f" | {islands:.1f} |")

    def holds(what, test):
        count = sum(1 for case in cases if test(lambda strategy: rows[(*case, strategy)]))
        print(f"| {what} | {count} of {len(cases)} |")

    late = CUTOFFS[2:]
    print("\n| claim | webs |\n|---|---:|")
    for dth in ["dth interleave", "dth queue", "dth link-scored", "dth preempt"]:
        holds(f"figure 6: precision of {dth} > best-first hard > pagerank at every mark from 1,500 on", lambda run: all(
            precision(run(dth), pages) > precision(run("best-first hard"), pages) > precision(run("pagerank"), pages) for pages in late))
        holds(f"precision of {dth} not lower than both, on average from 1,500 on", lambda run: all(
            sum(precision(run(dth), pages) - precision(run(other), pages) for pages in late) >= 0 for other in ["best-first hard", "pagerank"]))
        holds(f"figure 7: {dth} has more relevant pages than both at 4,000", lambda run: all(
            relevant(run(dth), 4000) > relevant(run(other), 4000) for other in ["best-first hard", "pagerank"]))
        holds(f"figure 7: {dth} pauses, then rises", lambda run: pauses_and_rises(run(dth)))
    for flat in ["best-first hard", "pagerank"]:
        holds(f"figure 7: {flat} flat from 3,000 to 4,000 (less than 5% more)", lambda run: relevant(run(flat), 4000) <= 1.05 * relevant(run(flat), 3000))
    print("\n| tunnels (figure 5) | pages behind one | mean links | at most 6 links |\n|---|---:|---:|---:|")
    for strategy in STRATEGIES:
        counts = result["tunnels"][strategy][1:]
        total = sum(counts)
        if total:
            mean = sum((hops + 2) * count for hops, count in enumerate(counts)) / total
            print(f"| {strategy} | {total} | {mean:.1f} | {sum(counts[:5]) / total:.0%} |")


def pauses_and_rises(run):
    """500 pages with less than half of the rate of the first 1,000, and later 500 with twice as many as these."""
    counts = [0] + [relevant(run, pages) for pages in CUTOFFS]
    gains = [after - before for before, after in zip(counts, counts[1:])]
    start = (gains[0] + gains[1]) / 2
    pauses = [nth for nth in range(2, len(gains)) if gains[nth] * 2 < start and int(at(run, CUTOFFS[nth])["pages"]) == CUTOFFS[nth]]
    return any(gain > 2 * max(5, gains[nth]) for nth in pauses for gain in gains[nth + 1:])


def tianwang(name, targets, pages, more, suidao, folder):
    """A tenth of the pages: hosts reached and important pages (the tenth with the most links to them)."""
    result, _ = compare(suidao, targets, TIANWANG, [pages], more, folder)
    print(f"\n## Tianwang: {name}, {pages} pages\n\n| strategy | hosts | important pages |\n|---|---:|---:|")
    for strategy in TIANWANG[:-1]:
        cells = []
        for measure in ["hosts", "important"]:
            row = next((row for row in result["summary"] if row["strategy"] == strategy and row["measure"] == measure and row["pages"] == pages), None)
            cells.append("" if row is None else f"{row['median']:.0%}" + (f" [{row['low']:.0%}, {row['high']:.0%}]" if row["low"] is not None else ""))
        print(f"| {strategy} | {cells[0]} | {cells[1]} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", default="target/release")
    arguments.add_argument("--webs", type=int, default=20, help="generated webs of each kind")
    arguments.add_argument("--worlds", default=",".join(WORLDS), help="kinds of generated webs; empty for none")
    arguments.add_argument("--tasks", nargs="*", default=[], help="comparison files of recorded webs")
    arguments.add_argument("--own", action="store_true", help="with the webs' own lexicons instead of the paper's")
    args = arguments.parse_args()
    suidao = os.path.abspath(os.path.join(args.bin, "suidao"))
    folder = tempfile.mkdtemp()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    marks = ["--set", "politeness.delay=0"]
    for name in filter(None, args.worlds.split(",")):
        target = f"world:{root}/worlds/{name}.toml"
        more = marks + ["--random-seeds", str(args.webs)]
        more += ["--queries", samples(suidao, WORLDS[name], folder) + "/queries.txt"]
        if not args.own:
            more += ["-m", papers_lexicon(suidao, WORLDS[name], folder)]
        result, rows = compare(suidao, [target], STRATEGIES, CUTOFFS, more, folder)
        tables(name, result, rows)
        if name in ("demo", "small-world"):
            tenth = 1200 if name == "demo" else 4000
            tianwang(name, [target], tenth, marks + ["--random-seeds", str(min(args.webs, 6))], suidao, folder)
    for task in args.tasks:
        result, rows = compare(suidao, [task], STRATEGIES, CUTOFFS, marks, folder)
        tables(task, result, rows)


if __name__ == "__main__":
    main()
