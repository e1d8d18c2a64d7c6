"""Fills, serves and describes a test forum of any software: the command line, the server on loopback,
the log of its requests and the truth.

    python SOFTWARE.py --data DIR [--port N]             fill DIR if it is empty, serve it until killed
    python SOFTWARE.py --data DIR --add N [--replies M]  N new threads and M replies, dated now; the server may run

A server prints one line, `ready http://127.0.0.1:PORT/ …`, when it answers, and ends by itself after `--lifetime`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Protocol
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from content import Activity, Content


class Software(Protocol):
    """What a forum software must provide. Boards and users are counted from 0 in the order of the content."""

    name: str

    def open(self, database: Path) -> object:
        """Starts the software on a database, which need not exist yet. Returns its WSGI application."""

    def context(self) -> AbstractContextManager:
        """The context in which the database is used."""

    def fill(self, content: Content) -> None:
        """Creates the database, with the content as if it had been posted by the forms of the software at its times."""

    def begin(self, board: int, author: int, title: str, text: str) -> None:
        """Begins a thread now, by the code of the software."""

    def reply(self, thread: int, author: int, text: str) -> None:
        """Replies to the thread with this id now, by the code of the software."""

    def describe(self) -> tuple[list[dict], list[dict]]:
        """Boards and threads for truth.json, with URLs from the root on."""


def options(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="the forum's directory: database, truth.json, access.log")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=400, help="approximate number of threads")
    parser.add_argument("--add", type=int, metavar="N", help="add N threads to a forum that exists, and do not serve")
    parser.add_argument("--replies", type=int, default=0, metavar="M", help="with --add: replies to older threads too")
    parser.add_argument("--lifetime", type=float, default=1800, metavar="SECONDS", help="time after which a server exits")
    given = parser.parse_args()
    given.data = given.data.resolve()
    given.data.mkdir(parents=True, exist_ok=True)
    return given


def write_truth(software: Software, data: Path, home: str) -> str:
    """truth.json: every board (id, name, url, readable) and every thread (id, url, board, title, posts, pages, sticky,
    last: seconds since 1970, readable: without a login). `url` is the one that the forum's own lists link; further
    pages have the parameter `page`; `also` has other URLs of the same thread. Returns a summary."""
    with software.context():
        boards, threads = software.describe()
    for entry in boards + threads:
        entry["url"] = home.rstrip("/") + entry["url"]
        entry["also"] = [home.rstrip("/") + path for path in entry.get("also", [])]
    truth = {"software": software.name, "home": home, "boards": boards, "threads": threads}
    part = data / "truth.json.part"
    part.write_text(json.dumps(truth, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(data / "truth.json")
    return f"{software.name}: {len(boards)} boards, {len(threads)} threads"


def add(software: Software, truth: dict, threads: int, replies: int) -> None:
    """Adds new threads, and replies to existing ones; each call draws others."""
    before = truth["threads"]
    activity = Activity(len(before) + sum(thread["posts"] for thread in before), datetime.utcnow())
    content = activity.content
    places = {board["id"]: place for place, board in enumerate(truth["boards"])}
    for _ in range(threads):
        board = activity.board()
        software.begin(board, content.author(), content.title(board), content.text(board))
    for thread in activity.draw.sample(before, min(replies, len(before))):
        software.reply(thread["id"], content.author(), content.text(places[thread["board"]]))


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def serve(application, software: Software, given: argparse.Namespace) -> None:
    """Serves on 127.0.0.1 until killed. One line of access.log per request: seconds since 1970, method, path with
    query, status, bytes."""
    log = (given.data / "access.log").open("a", encoding="utf-8", buffering=1)

    class Handler(WSGIRequestHandler):
        def log_request(self, code="-", size="-"):
            log.write(f"{time.time():.3f} {self.command} {self.path} {code} {size}\n")

        def log_message(self, format, *args):
            print(format % args, file=sys.stderr)

    server = make_server("127.0.0.1", given.port, application, _Server, Handler)
    alarm = threading.Timer(given.lifetime, os._exit, [0])
    alarm.daemon = True
    alarm.start()
    home = f"http://127.0.0.1:{server.server_port}/"
    number = write_truth(software, given.data, home)
    print(f"ready {home} {number}", flush=True)
    server.serve_forever()


def main(software: Software) -> None:
    given = options(f"A {software.name} forum with generated Chinese threads, on loopback.")
    database = given.data / "forum.sqlite"
    fresh = not database.exists()
    application = software.open(database)
    if given.add is not None:
        truth = json.loads((given.data / "truth.json").read_text(encoding="utf-8"))
        with software.context():
            add(software, truth, given.add, given.replies)
        print(write_truth(software, given.data, truth["home"]))
        return
    if fresh:
        with software.context():
            software.fill(Content(given.seed, given.threads, datetime.utcnow()))
    serve(application, software, given)
