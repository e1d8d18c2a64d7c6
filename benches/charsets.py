#!/usr/bin/env python3
"""Charsets that suidao and others detect on real pages, for docs/measurements.md.

    benches/charsets.py FOLDER [--suidao PATH]

pages.tsv of FOLDER has the encoding of each page. Two of its answers are mistaken: gbk-damaged/1.html and 2.html are
German in UTF-8 with a few Latin-1 bytes. GB2312, GBK and GB18030 count as one, and so do Big5's variants. `declared` is
what the page declares. Needs chardet, charset-normalizer, faust-cchardet, trafilatura.
"""

import argparse
import json
import os
import subprocess


def family(name):
    name = (name or "none").lower().replace("_", "-")
    if name in ("gb2312", "gbk", "gb18030", "cp936", "hz"):
        return "gb18030"
    if name in ("big5", "big5-hkscs", "big5hkscs", "cp950"):
        return "big5"
    return "utf-8" if name in ("utf-8", "utf8", "utf-8-sig", "ascii") else name


def main():
    at = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--suidao", default=os.path.join(at, "../target/release/suidao"))
    args = parser.parse_args()
    import cchardet
    import chardet
    import charset_normalizer
    from trafilatura.utils import detect_encoding

    def trafilatura(body):
        found = detect_encoding(body)
        return found[0] if isinstance(found, list) and found else found

    def normalizer(body):
        best = charset_normalizer.from_bytes(body).best()
        return best.encoding if best else None

    def ours(path):
        run = subprocess.run([args.suidao, "check", "page", path, "--json"], capture_output=True, text=True, check=True)
        page = json.loads(run.stdout)
        return page["charset"], page["charset_from"]

    names = ["suidao", "declared", "trafilatura", "charset-normalizer", "cchardet", "chardet"]
    right, total, decided = {name: {} for name in names}, {}, {}
    for line in open(os.path.join(args.folder, "pages.tsv"), encoding="utf-8").read().splitlines()[1:]:
        fields = line.split("\t")
        path, group = os.path.join(args.folder, fields[0]), fields[0].split("/")[0]
        truth = "utf-8" if group == "gbk-damaged" else family(fields[3])
        body = open(path, "rb").read()
        charset, how = ours(path)
        decided[how] = decided.get(how, 0) + 1
        found = {
            "suidao": charset,
            "declared": fields[1],
            "trafilatura": trafilatura(body),
            "charset-normalizer": normalizer(body),
            "cchardet": cchardet.detect(body)["encoding"],
            "chardet": chardet.detect(body)["encoding"],
        }
        for group in (group, "all"):
            total[group] = total.get(group, 0) + 1
            for name in names:
                right[name][group] = right[name].get(group, 0) + (family(found[name]) == truth)
    print("| pages | n | " + " | ".join(names) + " |\n|---|--:|" + "--:|" * len(names))
    for group in sorted(total, key=lambda group: (group == "all", group)):
        print(f"| {group} | {total[group]} | " + " | ".join(str(right[name][group]) for name in names) + " |")
    print("\ntold by: " + ", ".join(f"{how} {count}" for how, count in sorted(decided.items())))


if __name__ == "__main__":
    main()
