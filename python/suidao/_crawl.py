"""Crawl directories: their pages, a search, explanations and labels."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from ._program import PathLike, call, call_json, error, missing, program, values

if TYPE_CHECKING:
    import pandas
    import pyarrow

# The fields of a page by default: all but its links.
FIELDS = (
    "id url host title text chars language author source published fetched first_seen last_seen last_changed versions "
    "status relevance relevant terms anchor scores k hops depth found_on digest simhash duplicate_of canonical "
    "listing noindex videos posts warc"
).split()


class SearchHit(TypedDict):
    """A page that matches a query. `title_marks` and `snippet.marks` are the ranges of characters that match."""

    score: float
    id: str
    url: str
    host: str
    title: str
    language: str | None
    published: str | None
    fetched: str
    relevance: float
    relevant: bool
    chars: int
    listing: bool
    noindex: bool
    duplicate_of: str | None
    duplicates: int
    depth: int
    hops: int
    k: int | None
    found_on: str | None
    anchor: str
    terms: list[dict[str, Any]]
    title_marks: list[list[int]]
    snippet: dict[str, Any]
    why: list[dict[str, Any]]


class SearchResults(TypedDict):
    """Results of a search. `pages`: how many match, groups of duplicates counted once; `loosened`: "words" or "some" if
    no page contains the query as typed."""

    pages: int
    duplicates: int
    loosened: str | None
    offset: int
    hits: list[SearchHit]
    facets: dict[str, Any]


class LabelCandidate(TypedDict):
    """A page to label. `excerpt`: pieces of its text; `term` marks terms of the topic."""

    url: str
    title: str
    published: str | None
    language: str | None
    chars: int
    excerpt: list[dict[str, Any]]


class Pages:
    """Pages of a crawl, read when they are iterated over or converted; each time as the crawl is then."""

    def __init__(self, words: list[PathLike]) -> None:
        self._words = words

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields a dictionary per page, one after the other, as in docs/page.schema.json."""
        command = [program(), *self._words, "--format", "jsonl", "--output", "-"]
        # Not a pipe: nobody reads it until the end.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=printed, encoding="utf-8"
            )
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    yield json.loads(line)
                code = process.wait()
            finally:
                # The caller may have seen enough.
                if process.stdout is not None:
                    process.stdout.close()
                process.wait()
            if code != 0:
                printed.seek(0)
                raise error(printed.read(), code)

    def batches(self, size: int = 1000) -> Iterator[pyarrow.RecordBatch]:
        """Yields record batches of Arrow with up to `size` pages. Needs pyarrow, and room for the pages on disk."""
        with self._parquet() as file:
            yield from file.iter_batches(size)

    def to_arrow(self) -> pyarrow.Table:
        """All pages as a table of Arrow. Needs pyarrow."""
        with self._parquet() as file:
            return file.read()

    def to_pandas(self) -> pandas.DataFrame:
        """All pages as a DataFrame. Needs pandas and pyarrow."""
        try:
            import pandas  # noqa: F401
        except ImportError as problem:
            raise missing("pandas", "suidao[pandas]") from problem
        return self.to_arrow().to_pandas()

    @contextmanager
    def _parquet(self) -> Iterator[pyarrow.parquet.ParquetFile]:
        """The pages as a Parquet file, which is deleted afterwards."""
        try:
            import pyarrow.parquet
        except ImportError as problem:
            raise missing("pyarrow", "suidao[arrow]") from problem
        with tempfile.TemporaryDirectory(prefix="suidao-") as folder:
            path = Path(folder) / "pages.parquet"
            self._write_parquet(path)
            with pyarrow.parquet.ParquetFile(path) as file:
                yield file

    def _write_parquet(self, path: Path) -> None:
        call([*self._words, "--format", "parquet", "--output", path])


class Crawl:
    """A crawl directory. Other processes may crawl, label or export meanwhile."""

    def __init__(self, directory: PathLike) -> None:
        self.directory = os.fspath(directory)

    def __fspath__(self) -> str:
        return self.directory

    def __repr__(self) -> str:
        return f"Crawl({self.directory!r})"

    def summary(self) -> dict[str, Any]:
        """Counts and configuration at the end of the last run (summary.json). Raises FileNotFoundError before the first
        has ended."""
        path = Path(self.directory) / "summary.json"
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return summary

    def pages(
        self,
        *,
        where: str | Iterable[str] | None = None,
        fields: Iterable[str] | None = None,
        relevant: bool = False,
        duplicates: str | None = None,
        extract: PathLike | None = None,
    ) -> Pages:
        """The pages that meet all conditions: documents, without listings and pages that forbid indexing.

        where: conditions as of `--where`, such as "lang:zh date:2021.." or "listings:yes".
        fields: names of the fields to read; fewer are faster. By default all but links.
        duplicates: "keep" or "best", which keeps the best page of each group.
        extract: a file of rules for the field `extracted`.
        """
        # Reading pages here must not change what `suidao export --since last` writes.
        words: list[PathLike] = ["export", self.directory, "--quiet", "--no-record", *values("--where", where)]
        words.append("--fields=" + ",".join(FIELDS if fields is None else fields))
        if relevant:
            words.append("--relevant")
        if duplicates is not None:
            words.append(f"--duplicates={duplicates}")
        if extract is not None:
            words += ["--extract", extract]
        return Pages(words)

    def search(
        self,
        query: str = "",
        *,
        limit: int = 10,
        offset: int = 0,
        where: str | Iterable[str] | None = None,
        relevant: bool = False,
        explain: bool = False,
    ) -> SearchResults:
        """Searches the pages; the first search builds the index, and later ones update it.

        query: words, "a phrase", -without, one OR another, title:x and conditions; all pages if it is empty.
        explain: also returns the score of each word in `why`.
        """
        words: list[PathLike] = ["search", self.directory, "--json", "-q", f"--limit={limit}", f"--offset={offset}"]
        words += values("--where", where)
        words += ["--relevant"] if relevant else []
        words += ["--explain"] if explain else []
        results: SearchResults = call_json([*words, "--", query])
        return results

    def why(self, url: str) -> dict[str, Any]:
        """How a URL was found, what it scored, and why it was fetched or skipped. Raises InputError if the crawl does
        not know it."""
        history: dict[str, Any] = call_json(["why", "--json", self.directory, "--", url])
        return history

    def explain(self, url: str) -> str:
        """As `why`, in sentences."""
        return call(["why", self.directory, "--", url])

    def to_label(self, count: int = 1, *, pages: int = 100) -> list[LabelCandidate]:
        """The next pages of a sample of `pages` pages that no person has labelled."""
        words: list[PathLike] = ["label", self.directory, f"--next={count}", f"--pages={pages}"]
        candidates: list[LabelCandidate] = call_json(words)["pages"]
        return candidates

    def label(self, *, yes: Iterable[str] = (), no: Iterable[str] = ()) -> None:
        """Saves in labels.tsv which pages, by URL, are about the topic and which are not. Nothing is saved if one is
        unknown."""
        given = values("--yes", yes) + values("--no", no)
        if given:
            call(["label", self.directory, *given])

    def estimate(self) -> dict[str, Any]:
        """Precision and recall, with intervals, from the labels so far, and terms to add or delete."""
        estimate: dict[str, Any] = call_json(["label", self.directory, "--json"])
        return estimate

    def rescore(self, topic: PathLike | None = None, *, page_threshold: float | None = None) -> dict[str, Any]:
        """Judges the stored pages again by another lexicon or page threshold, and returns what changed."""
        words: list[PathLike] = ["rescore", self.directory, "--json"]
        if topic is not None:
            words += ["--lexicon", topic]
        if page_threshold is not None:
            words.append(f"--page-threshold={page_threshold}")
        report: dict[str, Any] = call_json(words)
        return report
