#!/usr/bin/env python3
"""Makes background.zst, the built-in document frequencies, from the public word frequencies of the Python package wordfreq.

    pip install wordfreq==3.1.1 zstandard && python background.py background.zst

wordfreq (Robyn Speer, 2022; data CC BY-SA 4.0) gives the share p of a word among the words of Wikipedia, subtitles, news,
books and web pages. Words come in bursts, so the share of pages with a word is estimated by a negative binomial
distribution of its count on a page of L words: 1 - (1 + p L / r)^-r.
"""

import sys

import wordfreq
import zstandard

SOURCE = (
    "# Estimated from the word frequencies of wordfreq 3.1.1 (Robyn Speer, 2022; CC BY-SA 4.0), which include "
    "SUBTLEX-CH and SUBTLEX-US (Brysbaert et al.), OpenSubtitles, Wikipedia, ParaCrawl and Google Books Ngrams."
)
# So few, because the counts of a user's background are added to them.
PAGES = 1_000
# Words of a Chinese page: Chinese ones, and those in Latin letters.
CHINESE, LATIN = 400, 100
# Burstiness; from 0.3 to 1 the IDF of most words is the same within 1%.
R = 0.5


def is_chinese(word):
    return any("\u4e00" <= character <= "\u9fff" for character in word)


def main():
    counts = {}
    for language, length, kind in [("zh", CHINESE, True), ("en", LATIN, False)]:
        for word, share in wordfreq.get_frequency_dict(language, "large").items():
            if len(word) < 2 or is_chinese(word) != kind or any(character.isdigit() or character.isspace() for character in word):
                continue
            pages = round(PAGES * (1 - (1 + share * length / R) ** -R))
            if pages >= 1:
                counts[word] = pages
    by_count = {}
    for word, pages in counts.items():
        by_count.setdefault(pages, []).append(word)
    lines = [SOURCE, f"pages {PAGES}"]
    lines += [f"{pages} {' '.join(sorted(words))}" for pages, words in sorted(by_count.items(), reverse=True)]
    text = "\n".join(lines) + "\n"
    with open(sys.argv[1], "wb") as file:
        file.write(zstandard.ZstdCompressor(level=19).compress(text.encode()))
    print(len(counts), "words")


main()
