#!/usr/bin/env python3
"""Draws the pictures of this book: docs/draw.py writes docs/img/*.svg, each for light and dark screens.

A picture is a list of items. A box has a name, a place (left, top, width, height), a kind and lines of text; an arrow joins two
boxes; a note is text at a place. A line that does not fit its box is an error.
"""

import unicodedata
from html import escape
from pathlib import Path

STYLE = """
text { font: 15px system-ui, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", sans-serif; fill: #1f2328 }
.small { font-size: 13px; fill: #59636e } .head { font-weight: 600 } .middle { text-anchor: middle }
.page { fill: #ffffff } .box { fill: #f6f8fa; stroke: #818b98 } .topic { fill: #dafbe1; stroke: #1a7f37 }
.off { fill: #fff8c5; stroke: #9a6700 } .tool { fill: #ddf4ff; stroke: #0969da } .stop { fill: #ffebe9; stroke: #cf222e }
.area { fill: none; stroke: #1a7f37; stroke-dasharray: 6 4 }
.line { fill: none; stroke: #59636e; stroke-width: 1.6 } .cut { stroke: #cf222e; stroke-width: 3 } .tip { fill: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #b1bac4 } .page { fill: #0d1117 } .box { fill: #161b22; stroke: #8b949e }
.topic { fill: #12361f; stroke: #3fb950 } .off { fill: #362b08; stroke: #d29922 } .tool { fill: #0c2d55; stroke: #58a6ff }
.stop { fill: #4a1a1d; stroke: #f85149 } .area { stroke: #3fb950 } .line { stroke: #b1bac4 } .cut { stroke: #f85149 }
.tip { fill: #b1bac4 } }
"""
LINE = 19


def width(text, size=15):
    """About the width of a text in pixels; ideographs are square."""
    return sum(size if unicodedata.east_asian_width(c) in "WF" else 0.56 * size for c in text)


class Picture:
    def __init__(self, name, size, title):
        self.name, self.size, self.title, self.boxes, self.parts = name, size, title, {}, []

    def box(self, name, place, kind, *lines):
        """A box; the first line is bold, the others are small."""
        x, y, w, h = self.boxes[name] = place
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}" rx="8"/>')
        top = y + h / 2 - (len(lines) - 1) * LINE / 2 + 5
        for at, line in enumerate(lines):
            if width(line, 13 if at else 15) > w - 6 or len(lines) * LINE > h:
                raise SystemExit(f"{self.name}: {line!r} does not fit its box")
            self.text(x + w / 2, top + at * LINE, line, "middle small" if at else "middle head")

    def text(self, x, y, line, kind="small"):
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(line)}</text>')

    def area(self, x, y, w, h, label):
        self.parts.append(f'<rect class="area" x="{x}" y="{y}" width="{w}" height="{h}" rx="14"/>')
        self.text(x + w / 2, y - 8, label, "middle small")

    def path(self, points, kind="line", tip=True):
        line = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path class="{kind}" d="{line}"' + (' marker-end="url(#tip)"/>' if tip else "/>"))

    def arrow(self, start, end):
        """From the nearest side of a box to that of another."""
        (x, y, w, h), (a, b, c, d) = self.boxes[start], self.boxes[end]
        if a >= x + w or a + c <= x:  # side by side, at a height that both have
            low, high = max(y, b), min(y + h, b + d)
            level = (low + high) / 2 if low < high else None
            ends = [(x + w, level or y + h / 2), (a, level or b + d / 2)]
            if a < x:
                ends = [(x, ends[0][1]), (a + c, ends[1][1])]
        else:
            low, high = max(x, a), min(x + w, a + c)
            ends = [((low + high) / 2, y + h if b > y else y), ((low + high) / 2, b if b > y else b + d)]
        self.path(ends)

    def row(self, y, h, gap, items, leftwards=False):
        """Boxes from left to right, or from right to left, joined by arrows: (name, width, kind, lines...)."""
        x = self.size[0] - 20 if leftwards else 20
        for at, (name, w, kind, *lines) in enumerate(items):
            self.box(name, (x - w if leftwards else x, y, w, h), kind, *lines)
            if at:
                self.arrow(items[at - 1][0], name)
            x += -w - gap if leftwards else w + gap

    def write(self, folder):
        w, h = self.size
        (folder / f"{self.name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img">\n'
            f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n"
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path class="tip" d="M0 0 L8 4 L0 8 Z"/></marker>\n<rect class="page" width="{w}" height="{h}"/>\n'
            + "\n".join(self.parts) + "\n</svg>\n", "utf-8")


def tunnel():
    p = Picture("tunnel", (900, 250), "A tunnel of three off-topic pages joins two islands of relevant pages")
    p.area(12, 40, 272, 92, "island 1: relevant pages")
    p.area(738, 40, 136, 92, "island 2")
    p.row(60, 52, 28, [
        ("seed", 110, "topic", "seed"), ("one", 110, "topic", "relevant"), ("tag", 120, "off", "tag page", "off topic"),
        ("roll", 120, "off", "blogroll", "off topic"), ("front", 130, "off", "front page", "off topic"),
        ("two", 112, "topic", "relevant")])
    for at, (name, hops) in enumerate([("seed", 0), ("one", 0), ("tag", 1), ("roll", 2), ("front", 3), ("two", 0)]):
        x, _, w, _ = p.boxes[name]
        p.text(x + w / 2, 158, f"hops {hops}", "middle")
        p.text(x + w / 2, 180, f"k {12 - hops}", "middle")
    p.path([(430, 46), (430, 126)], "line cut", tip=False)
    p.text(490, 26, "a crawler that follows only links of relevant pages stops here", "middle small")
    p.text(20, 214, "hops: off-topic pages since the last on-topic page.  k: off-topic pages that a strategy with a limit of 12 may still cross.")
    p.text(20, 236, "The tunnel is the three off-topic pages between the islands; tunnelling is to follow them.")
    return p


def score():
    p = Picture("score", (900, 314), "How a link gets its score and its place in the frontier")
    for at, (name, lines) in enumerate([
            ("anchor", ("anchor text", "the words of the link")), ("context", ("context", "50 words on each side")),
            ("url", ("URL", "a topic token in it?"))]):
        p.box(name, (20, 20 + 70 * at, 180, 54), "box", *lines)
    p.box("lexicon", (20, 234, 180, 54), "tool", "lexicon", "terms and weights")
    p.box("r", (300, 40, 150, 160), "topic", "link evidence", "R_Anchor", "R_Context", "R_Url", "R: weighted sum")
    p.box("page", (300, 236, 150, 64), "topic", "relevance Sim", "of the page that", "has the link")
    p.box("strategy", (530, 75, 140, 110), "tool", "strategy", "tunnel adds what", "its templates and", "hosts have earned")
    p.box("frontier", (740, 62, 140, 110), "box", "frontier", "a queue per host,", "best score first")
    p.box("next", (740, 228, 140, 56), "box", "next request", "when the host may")
    for name in ("anchor", "context", "url"):
        p.arrow(name, "r")
    p.arrow("lexicon", "page")
    p.path([(250, 261), (250, 218), (375, 218), (375, 200)])
    p.arrow("r", "strategy")
    p.path([(450, 268), (600, 268), (600, 185)])
    p.arrow("strategy", "frontier")
    p.arrow("frontier", "next")
    return p


def directory():
    p = Picture("directory", (900, 458), "What a crawl directory holds, who writes it, and who reads it")
    crawl, rows = "crawl, refresh, forum", [
        ("", "pages/*.warc.gz", "every response, as sent", "export, search", "replay, topic build --warc"),
        ("", "state/", "log of events, lexicon, configuration", "every command", "the next run resumes from it"),
        ("", "harvest.csv, skipped.csv, summary.json", "results, reasons, counts", "you", "and other programs"),
        ("report, label", "report.html, labels.tsv", "facts about the crawl, your answers", "you", "topic test, replay --truth"),
        ("search, serve", "index/", "rebuilt when out of date", "search, serve", "and evaluate"),
        ("export", "exports/", "what each export contained", "export", "with --since last"),
    ]
    for x, head in [(110, "written by"), (420, "in the crawl directory"), (763, "read by")]:
        p.text(x, 24, head, "middle head")
    p.box(crawl, (16, 40, 188, 194), "topic", "crawl", "refresh, forum")
    for at, (writer, name, what, *readers) in enumerate(rows):
        y = 40 + 70 * at
        p.box(name, (242, y, 366, 54), "box", name, what)
        p.box(at, (644, y, 240, 54), "tool", *readers)
        if writer:
            p.box(writer, (16, y, 188, 54), "topic", writer)
        p.arrow(writer or crawl, name)
        p.arrow(name, at)
    return p


def flow():
    p = Picture("flow", (900, 290), "The way of a page from a seed to an export")
    p.row(24, 60, 36, [
        ("url", 130, "topic", "URL", "seed or link"), ("score", 150, "tool", "score", "lexicon, strategy"),
        ("check", 186, "stop", "scope, limits, traps", "else in skipped.csv"),
        ("frontier", 110, "box", "frontier", "best first"), ("robots", 136, "stop", "robots.txt", "delay of the host")])
    p.row(200, 60, 36, [
        ("fetch", 206, "box", "fetch", "each redirect is judged"), ("read", 190, "tool", "parse and judge", "text, date, links, topic"),
        ("store", 160, "box", "store", "WARC, then the log"), ("export", 190, "topic", "exports, search", "report, evaluate")], leftwards=True)
    p.arrow("robots", "fetch")
    p.path([(539, 200), (539, 142), (85, 142), (85, 84)])
    p.text(310, 134, "the links of the page, also if it is off topic", "middle small")
    return p


def refresh():
    p = Picture("refresh", (900, 250), "How the requests of a round are shared between known and new pages")
    for at, lines in enumerate([
            ("history of a page", "changed or not, new links"), ("sitemaps and feeds", "which pages changed"),
            ("importance", "relevance, links to it")]):
        p.box(lines[0], (20, 20 + 74 * at, 210, 56), "box", *lines)
    p.box("value", (310, 57, 180, 130), "tool", "crawl value", "of a visit now", "grows with the time", "since the last visit")
    p.box("due", (570, 40, 150, 64), "topic", "due pages", "highest value first")
    p.box("new", (570, 150, 150, 64), "off", "new links", "promising ones")
    p.box("visit", (790, 82, 94, 90), "box", "requests", "of a round", "or a day")
    for name in ("history of a page", "sitemaps and feeds", "importance"):
        p.arrow(name, "value")
    p.path([(490, 72), (570, 72)])
    p.path([(720, 72), (755, 72), (755, 110), (790, 110)])
    p.text(756, 60, "at least half", "middle small")
    p.path([(720, 182), (755, 182), (755, 144), (790, 144)])
    p.text(756, 202, "at most half", "middle small")
    return p


def forum():
    p = Picture("forum", (900, 262), "Boards, index pages and threads of a forum, and what a later visit fetches")
    p.box("start", (20, 40, 130, 56), "box", "start page", "links to boards")
    p.box("board", (230, 40, 190, 56), "topic", "board, index page 1", "threads by last reply")
    p.box("index", (230, 150, 190, 56), "topic", "index page 2", "no thread has changed")
    p.box("rest", (20, 150, 130, 56), "off", "index page 3", "not fetched")
    p.box("new", (500, 20, 190, 50), "tool", "new thread", "all its pages")
    p.box("old", (500, 86, 190, 50), "tool", "new replies", "from the last known page")
    p.box("same", (500, 152, 190, 50), "off", "unchanged thread", "not fetched")
    p.box("out", (750, 50, 130, 56), "box", "one document", "posts as fields")
    for start, end in [("start", "board"), ("board", "index"), ("board", "new"), ("board", "old"), ("new", "out"), ("old", "out")]:
        p.arrow(start, end)
    p.path([(420, 178), (500, 178)])
    p.path([(190, 138), (190, 218)], "line cut", tip=False)
    p.text(190, 240, "a later visit of the board ends here", "middle small")
    return p


if __name__ == "__main__":
    for draw in (tunnel, score, directory, flow, refresh, forum):
        draw().write(Path(__file__).parent / "img")
