"""What the tests of the Python module share: the practice web on loopback, a topic, and time limits. The program is on
the path, and the module in PYTHONPATH or installed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import suidao

ROOT = Path(__file__).resolve().parent.parent.parent
WORDS = ["足球", "进球", "点球", "门将", "前锋", "后卫", "中场", "世界杯", "英超", "西甲"]
# Tests that hang end after this many seconds, and their processes with them.
BOUND = 240


def expired(*_: object) -> None:
    raise TimeoutError(f"the tests still run after {BOUND} s")


def set_up_module() -> None:
    """Starts the practice web in an empty directory, and learns its topic."""
    global proxy
    signal.signal(signal.SIGALRM, expired)
    signal.alarm(BOUND)
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    os.chdir(folder.name)
    unittest.addModuleCleanup(os.chdir, ROOT)
    command = [suidao.program(), "practice", "web", "--port", "0"]
    practice = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8")
    unittest.addModuleCleanup(practice.stderr.close)
    unittest.addModuleCleanup(practice.wait)
    unittest.addModuleCleanup(practice.terminate)
    proxy = re.search(r"--proxy (\S+)\.", practice.stderr.readline()).group(1)
    suidao.topic("topic.toml", name="体育", keywords=WORDS)


def crawl(output: str, **more) -> suidao.Crawl:
    """A crawl of the practice web; it resumes without topic and seeds."""
    new = not Path(output, "state").exists()
    settings = {"politeness.delay": 0}
    topic, seeds = ("topic.toml", "web/seeds.txt") if new else (None, None)
    return suidao.run(topic, seeds, output, proxy=proxy, contact="test@example.org", settings=settings, **more)


def python(code: str) -> subprocess.Popen[str]:
    """Runs code in another Python, which can be killed."""
    web = {"proxy": proxy, "contact": "test@example.org", "settings": {"politeness.delay": 0}}
    code = f"import suidao, os, signal, sys, threading\nweb = {web!r}\n{code}"
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True)
