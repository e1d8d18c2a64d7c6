"""Topics: lexicons, which the program learns from keywords and sample pages."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ._program import PathLike, call, input_file


class Topic:
    """A lexicon: a file that one may read and edit."""

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Topic({str(self.path)!r})"

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @property
    def name(self) -> str:
        """The topic's name."""
        with open(self.path, "rb") as file:
            return str(tomllib.load(file)["name"])

    @property
    def terms(self) -> dict[str, float]:
        """The terms and their weights, the heaviest first."""
        with open(self.path, "rb") as file:
            terms: dict[str, float] = tomllib.load(file).get("terms", {})
        return dict(sorted(terms.items(), key=lambda term: -term[1]))

    def learn(self, crawl: PathLike, output: PathLike) -> Topic:
        """Improves the lexicon by the labels of a crawl and writes it to `output`, a new file. `Crawl.rescore` applies
        it."""
        labels = Path(crawl) / "labels.tsv"
        call(["topic", "learn", self, "--labels", labels, "--crawl", crawl, "--output", output])
        return Topic(output)


def topic(
    output: PathLike,
    *,
    name: str,
    keywords: Iterable[str] | Mapping[str, float] | None = None,
    samples: PathLike | None = None,
    crawl: PathLike | None = None,
    background: PathLike | None = None,
    again: bool = False,
) -> Topic:
    """Learns a lexicon and writes it to `output`.

    keywords: words of the topic, or words with their weights; ten are enough for a first crawl.
    samples: a folder of pages about the topic (.html, .htm, .txt).
    crawl: the directory of a crawl whose documents are samples.
    background: ordinary pages, as samples or as a crawl; by default built-in word counts.
    again: replaces an existing lexicon.

    Raises InputError if the file exists, or if too little is known about the topic.
    """
    if keywords is None and samples is None and crawl is None:
        raise TypeError("topic() needs keywords, samples or a crawl")
    words: list[PathLike] = ["topic", "build", "--output", output, f"--name={name}"]
    for flag, value in (("--pages", samples), ("--crawl", crawl), ("--background", background)):
        if value is not None:
            words += [flag, value]
    if again:
        words.append("--again")
    if keywords is None:
        call(words)
    else:
        with input_file("keywords", lines(keywords)) as file:
            call([*words, "--keywords", file])
    return Topic(output)


def lines(keywords: Iterable[str] | Mapping[str, float]) -> Iterable[str]:
    """The lines of a file of keywords."""
    if isinstance(keywords, str):
        raise TypeError(f"keywords is a list of words; write [{keywords!r}]")
    if isinstance(keywords, Mapping):
        return (f"{word}\t{weight}" for word, weight in keywords.items())
    return keywords
