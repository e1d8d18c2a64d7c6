#!/usr/bin/env bash
# Fetches html5lib's tests (MIT), which its source package carries, for tests/markup.rs: html5lib.sh FOLDER
set -euo pipefail
mkdir -p "$1"
python3 - "$1" <<'PYTHON'
import hashlib, io, json, sys, tarfile, urllib.request

about = json.load(urllib.request.urlopen("https://pypi.org/pypi/html5lib/json", timeout=60))
[source] = [file for file in about["releases"].get("1.1", about["urls"]) if file["packagetype"] == "sdist"]
packed = urllib.request.urlopen(source["url"], timeout=60).read()
assert hashlib.sha256(packed).hexdigest() == source["digests"]["sha256"]
with tarfile.open(fileobj=io.BytesIO(packed)) as files:
    for file in files:
        if "/tree-construction/" in file.name and file.name.endswith(".dat") and "/scripted/" not in file.name:
            with open(f"{sys.argv[1]}/{file.name.rsplit('/', 1)[1]}", "wb") as to:
                to.write(files.extractfile(file).read())
PYTHON
