"""How a test forum is started, served and described, whatever its software: the command line, the server on loopback,
the log of its requests and the truth beside it.

    python SOFTWARE.py --data DIR [--port N]             fill DIR where it is empty, serve it until killed
    python SOFTWARE.py --data DIR --add N [--replies M]  N new threads and M replies, said now; the server may run

A server prints one line, `ready http://127.0.0.1:PORT/ …`, when it answers, and ends by itself after `--lifetime`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


def options(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="the forum's directory: database, truth.json, access.log")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=400, help="about how many")
    parser.add_argument("--add", type=int, metavar="N", help="add N threads to a forum that exists, and do not serve")
    parser.add_argument("--replies", type=int, default=0, metavar="M", help="with --add: replies to older threads too")
    parser.add_argument("--lifetime", type=float, default=1800, metavar="SECONDS", help="a server ends itself after that")
    given = parser.parse_args()
    given.data = given.data.resolve()
    given.data.mkdir(parents=True, exist_ok=True)
    return given


def write_truth(data: Path, home: str, software: str, addresses: dict[str, str], boards: list[dict],
                threads: list[dict]) -> None:
    """truth.json: `addresses` (regular expressions over path and query that tell the pages of boards, "index", and of
    threads, "thread", with the groups `id` and `page`), every board (id, name, url, readable) and every thread (id,
    url, board, title, posts, pages, sticky, last: seconds since 1970, readable: without a login). Each url is the one
    that the forum's own lists link."""
    for entry in boards + threads:
        entry["url"] = home.rstrip("/") + entry["url"]
    truth = {"software": software, "home": home, "addresses": addresses, "boards": boards, "threads": threads}
    part = data / "truth.json.part"
    part.write_text(json.dumps(truth, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(data / "truth.json")


def home(data: Path) -> str:
    """The address under which the forum in `data` was served last."""
    return json.loads((data / "truth.json").read_text(encoding="utf-8"))["home"]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def serve(application, given: argparse.Namespace, describe) -> None:
    """Serves on 127.0.0.1 until killed; `describe(home)` writes the truth and says in a few words what there is. One
    line of access.log per request: seconds since 1970, method, path with query, status, bytes."""
    log = (given.data / "access.log").open("a", encoding="utf-8", buffering=1)

    class Handler(WSGIRequestHandler):
        def log_request(self, code="-", size="-"):
            log.write(f"{time.time():.3f} {self.command} {self.path} {code} {size}\n")

        def log_message(self, format, *args):
            print(format % args, file=sys.stderr)

        def address_string(self):
            return self.client_address[0]

    server = make_server("127.0.0.1", given.port, application, _Server, Handler)
    alarm = threading.Timer(given.lifetime, os._exit, [0])
    alarm.daemon = True
    alarm.start()
    home = f"http://127.0.0.1:{server.server_port}/"
    said = describe(home)
    print(f"ready {home} {said}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
