"""Crawls that Python starts and watches.

The crawl is a child process with `--json --control`. It stops when its input is closed, so it does not outlive this
process, however this process ends.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import IO, Any

from ._crawl import Crawl
from ._program import PathLike, error, input_file, program, values

log = logging.getLogger("suidao")

# Pages that wait for the callback; with more, the crawl waits.
WAITING = 1000


class StopCrawl(Exception):
    """Raised in a callback: the crawl stops after the requests in flight, and `run` returns."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that was just fetched. `relevant`: a document on topic, as counted in the summary; `language` is an ISO
    639-3 code such as cmn; `terms` are the topic's terms found in it, with their counts."""

    at: datetime
    url: str
    title: str
    status: int
    relevance: float
    relevant: bool
    listing: bool
    language: str | None
    author: str | None
    published: date | None
    depth: int
    hops: int
    terms: Mapping[str, int]
    event: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> FetchedPage:
        """The page of an event line (docs/events.schema.json)."""
        page = line["event"]["page-fetched"]
        path = page["queued_as"]["path"]
        return cls(
            at=datetime.fromtimestamp(line["at"] / 1000, UTC),
            url=line["url"],
            title=page["title"],
            status=page["status"],
            relevance=page["relevance"],
            relevant=line["relevant"],
            listing=page["listing"],
            language=page["language"],
            author=page["author"],
            published=page["published"] and date.fromisoformat(page["published"]),
            depth=path["depth"],
            hops=path["hops"],
            terms={term["term"]: term["count"] for term in page["terms"]},
            event=page,
        )


def run(
    topic: PathLike | None,
    seeds: Iterable[str] | PathLike | None,
    output: PathLike,
    *,
    on_page: Callable[[FetchedPage], object] | None = None,
    max_pages: int | None = None,
    stop_when: str | Iterable[str] | None = None,
    contact: str | None = None,
    strategy: str | None = None,
    proxy: str | None = None,
    config: PathLike | None = None,
    settings: Mapping[str, object] | None = None,
) -> Crawl:
    """Crawls for a topic until a limit or goal is reached; resumes if `output` already holds this crawl.

    topic: a lexicon; None for the copy in the crawl directory.
    seeds: start URLs, or a file of them; None to resume.
    on_page: called for each fetched page, in this thread. An exception stops the crawl cleanly and is raised again,
    except StopCrawl. If it is slow, the crawl waits for it.
    stop_when: conditions such as "relevant=500", "minutes=30" or "harvest<0.05/1000".
    contact: your e-mail address or URL for site owners, sent with every request.
    settings: configuration keys, such as {"politeness.delay": 2}.

    Ctrl-C stops the crawl after the requests in flight and raises KeyboardInterrupt; the same call resumes. What the
    crawl prints goes to the logger "suidao".

    Raises SuidaoError if it cannot start, or if no page could be fetched.
    """
    words: list[PathLike] = ["crawl", "--json", "--control", "--output", output]
    for flag, value in (
        ("--lexicon", topic),
        ("--max-pages", max_pages),
        ("--contact", contact),
        ("--strategy", strategy),
        ("--proxy", proxy),
        ("--config", config),
    ):
        if value is not None:
            words += [flag, value if isinstance(value, os.PathLike) else str(value)]
    words += values("--stop-when", stop_when)
    words += values("--set", (f"{key}={setting(value)}" for key, value in (settings or {}).items()))
    command: list[PathLike] = [program(), *words]
    if seeds is None:
        Running(command).follow(on_page)
    elif isinstance(seeds, (str, os.PathLike)):
        if isinstance(seeds, str) and "://" in seeds:
            raise TypeError(f"seeds is a list of URLs or a file; write [{seeds!r}]")
        Running([*command, "--seeds", seeds]).follow(on_page)
    else:
        with input_file("seeds", seeds) as file:
            Running([*command, "--seeds", file]).follow(on_page)
    return Crawl(output)


def setting(value: object) -> str:
    """A value as in a configuration file."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Running:
    """A crawl in a child process. Its output is read in other threads, so that it need not wait for the callback."""

    def __init__(self, command: list[PathLike]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8")
        # Lines of fetched pages, and None at the end.
        self.lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self.ended = False
        self.summary: dict[str, Any] | None = None
        self.printed: list[str] = []
        readers = ((self.read_lines, self.process.stdout), (self.read_messages, self.process.stderr))
        self.readers = [threading.Thread(target=read, args=(pipe,), daemon=True) for read, pipe in readers]
        for reader in self.readers:
            reader.start()

    def read_lines(self, lines: IO[str]) -> None:
        """Keeps the lines of fetched pages and the summary."""
        for line in lines:
            if line.startswith('{"summary"'):
                self.summary = json.loads(line)["summary"]
            elif '"event":{"page-fetched"' in line:
                self.lines.put(line)
        self.lines.put(None)

    def read_messages(self, lines: IO[str]) -> None:
        """Passes what it prints for people to the log."""
        for line in lines:
            self.printed.append(line)
            level = logging.WARNING if line.startswith("warning: ") else logging.INFO
            log.log(level, "%s", line.rstrip("\n").removeprefix("warning: "))

    def next(self) -> FetchedPage | None:
        """The next page; None after the last."""
        line = None if self.ended else self.lines.get()
        self.ended = line is None
        return None if line is None else FetchedPage.of(json.loads(line))

    def follow(self, on_page: Callable[[FetchedPage], object] | None) -> None:
        """Passes pages to the callback until the crawl ends."""
        try:
            try:
                while (page := self.next()) is not None:
                    if on_page is not None:
                        on_page(page)
                self.process.wait()
            except StopCrawl:
                self.stop()
            except BaseException:
                self.stop()
                raise
        finally:
            # It still runs only if stopping was interrupted.
            self.process.kill()
            self.process.wait()
            self.skip()
            for reader in self.readers:
                reader.join()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                if pipe is not None:
                    pipe.close()
        if self.process.returncode != 0 and not (self.summary and self.summary["pages"]):
            problem = error("".join(self.printed), self.process.returncode)
            # Of a summary only the first sentence says why.
            raise problem if self.summary is None else type(problem)(str(problem).partition("\n")[0], problem.code)

    def stop(self) -> None:
        """Stops it after the requests in flight, as Ctrl-C does, and waits for its end."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.skip()
        self.process.wait()

    def skip(self) -> None:
        """Reads to the end of the pages, so that nothing waits to be read."""
        while not self.ended:
            self.ended = self.lines.get() is None
