"""Focused crawls from Python: learn a topic, crawl for it, read the pages.

The module runs the program `suidao`, which is part of the package, and reads its JSON. A crawl is a directory; every
function works on the directory of a crawl that any version of the program on this machine started.
"""

from ._client import Client, RequestError, ServedCrawl, ServiceError
from ._crawl import Crawl, LabelCandidate, Pages, SearchHit, SearchResults
from ._program import InputError, SuidaoError, program
from ._run import FetchedPage, StopCrawl, run
from ._topic import Topic, topic

__all__ = [
    "Client",
    "Crawl",
    "FetchedPage",
    "InputError",
    "LabelCandidate",
    "Pages",
    "RequestError",
    "SearchHit",
    "SearchResults",
    "ServedCrawl",
    "ServiceError",
    "StopCrawl",
    "SuidaoError",
    "Topic",
    "program",
    "run",
    "topic",
]
