"""The service of `suidao serve FOLDER`, with the methods of `Crawl` for the crawls of another machine."""

from __future__ import annotations

import http.client
import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ._crawl import FIELDS, LabelCandidate, Pages, SearchResults
from ._program import InputError, SuidaoError
from ._topic import Topic

# Seconds to wait for a job within one request, and for an answer.
WAIT = 60
TIMEOUT = 120


class ServiceError(SuidaoError):
    """The service refused a request: its sentence, the HTTP status in `code`, and the wrong parameter, if it is one."""

    def __init__(self, message: str, code: int, parameter: str | None = None) -> None:
        super().__init__(message, code)
        self.parameter = parameter


class RequestError(ServiceError, InputError):
    """A parameter is wrong (400), or what it names does not exist (404)."""


def service_error(problem: Mapping[str, Any], status: int) -> ServiceError:
    """The exception for problem details."""
    kind = RequestError if status in (400, 404) else ServiceError
    return kind(str(problem.get("detail", problem)), status, problem.get("parameter"))


class Client:
    """A service.

    token: the token of its `--token-file`.
    """

    def __init__(self, url: str = "http://127.0.0.1:8090/", *, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        # A proxy for the web does not reach the services of this machine.
        is_local = urllib.parse.urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        self._opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if is_local else []))

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def open(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """Sends a request of docs/openapi.json, with a path below /api/v1, and returns the answer unread."""
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        url = f"{self.url}/api/v1{path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
        request = urllib.request.Request(url, method=method, headers=self._headers | dict(headers or {}))
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            response: http.client.HTTPResponse = self._opener.open(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as problem:
            with problem:
                text = problem.read().decode("utf-8", "replace")
            try:
                details = json.loads(text)
            except ValueError:
                details = {"detail": f"{url}: {problem.code} {problem.reason}; is it a suidao service?"}
            raise service_error(details, problem.code) from None
        except urllib.error.URLError as problem:
            raise ConnectionError(
                f"no service at {self.url}: {problem.reason}; start one with `suidao serve FOLDER`"
            ) from problem
        return response

    def ask(self, method: str, path: str, parameters: Mapping[str, object] | None = None, body: object = None) -> Any:
        """As `open`, and reads the answer as JSON; None if it is empty."""
        with self.open(method, path, parameters, body) as response:
            text = response.read()
        return json.loads(text) if text else None

    def job(self, method: str, path: str, body: object = None) -> Any:
        """Starts a job, waits for its end and returns its result."""
        job = self.ask(method, path, {"wait": WAIT}, body)
        while job["state"] in ("queued", "running"):
            job = self.ask("GET", f"/jobs/{job['id']}", {"wait": WAIT})
        if job["state"] == "failed":
            raise service_error(job["problem"], job["problem"]["status"])
        if job["state"] == "cancelled":
            raise ServiceError(f"the job {job['id']} was cancelled", 409)
        return job.get("result")

    def crawls(self) -> Iterator[dict[str, Any]]:
        """Yields the crawls of the service with their state and figures, in order of name."""
        cursor = None
        while True:
            answer = self.ask("GET", "/crawls", {"cursor": cursor})
            yield from answer["crawls"]
            cursor = answer["next"]
            if cursor is None:
                return

    def crawl(self, name: str) -> ServedCrawl:
        """A crawl of the service."""
        return ServedCrawl(self, name)

    def create(
        self,
        name: str,
        seeds: Iterable[str],
        *,
        keywords: Iterable[str] = (),
        samples: Iterable[str] = (),
        texts: Iterable[str] = (),
        topic: Topic | None = None,
        topic_name: str | None = None,
        max_pages: int | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> ServedCrawl:
        """Makes a crawl, which `run` or `start` starts.

        keywords, samples (URLs of pages, which the service fetches), texts (or HTML) of pages: what its topic is learnt
        from; or a lexicon of this machine as `topic`.
        settings: configuration keys, such as {"politeness.delay": 2}.
        """
        source: dict[str, object] = {"keywords": list(keywords), "urls": list(samples), "texts": list(texts)}
        source |= {"lexicon": None if topic is None else topic.path.read_text(encoding="utf-8"), "name": topic_name}
        new = {"name": name, "topic": source, "seeds": list(seeds), "pages": max_pages, "config": sections(settings)}
        self.job("POST", "/crawls", new)
        return self.crawl(name)


def sections(settings: Mapping[str, object] | None) -> dict[str, Any]:
    """Settings by section, as in a configuration file."""
    config: dict[str, Any] = {}
    for key, value in (settings or {}).items():
        *path, last = key.split(".")
        section = config
        for name in path:
            section = section.setdefault(name, {})
        section[last] = value
    return config


class ServedPages(Pages):
    """Pages of a crawl of a service."""

    def __init__(self, crawl: ServedCrawl, where: str, fields: Iterable[str] | None) -> None:
        self._crawl = crawl
        self._where = where
        self._fields = FIELDS if fields is None else list(fields)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields a dictionary per page, one after the other, as in docs/page.schema.json."""
        parameters = {"format": "jsonl", "where": self._where, "fields": ",".join(self._fields)}
        with self._crawl.open("GET", "/pages", parameters) as lines:
            for line in lines:
                yield json.loads(line)

    def _write_parquet(self, path: Path) -> None:
        new = {"format": "parquet", "where": self._where, "fields": self._fields}
        made = f"/exports/{urllib.parse.quote(self._crawl.job('POST', '/exports', new)['file'])}"
        try:
            with self._crawl.open("GET", made) as exported, open(path, "wb") as file:
                shutil.copyfileobj(exported, file)
        finally:
            self._crawl.ask("DELETE", made)


class ServedCrawl:
    """A crawl of a service, with the methods of `Crawl`."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name
        self._path = f"/crawls/{urllib.parse.quote(name, safe='')}"

    def __repr__(self) -> str:
        return f"{self.client!r}.crawl({self.name!r})"

    def open(
        self, method: str, path: str, parameters: Mapping[str, object] | None = None, **more: Any
    ) -> http.client.HTTPResponse:
        """As `Client.open`, with a path below that of the crawl."""
        return self.client.open(method, self._path + path, parameters, **more)

    def ask(self, method: str, path: str, parameters: Mapping[str, object] | None = None, body: object = None) -> Any:
        """As `Client.ask`, with a path below that of the crawl."""
        return self.client.ask(method, self._path + path, parameters, body)

    def job(self, method: str, path: str, body: object = None) -> Any:
        """As `Client.job`, with a path below that of the crawl."""
        return self.client.job(method, self._path + path, body)

    def summary(self) -> dict[str, Any]:
        """Its `state` and figures, also while it runs."""
        status: dict[str, Any] = self.ask("GET", "")
        return status

    def start(self) -> None:
        """Starts or resumes it."""
        self.ask("POST", "/start", body={})

    def stop(self) -> None:
        """Stops it after the requests in flight, and waits for its end."""
        self.ask("POST", "/stop", body={})

    def add_seeds(self, seeds: Iterable[str]) -> None:
        """Adds seeds, also while it runs."""
        self.ask("POST", "/seeds", body={"seeds": list(seeds)})

    def change(self, *, max_pages: int | None = None, settings: Mapping[str, object] | None = None) -> None:
        """Changes its limit of pages and its settings; if it runs, it is stopped for that and resumed."""
        new: dict[str, object] = {"config": sections(settings)}
        self.job("PATCH", "", new if max_pages is None else new | {"pages": max_pages})

    def delete(self) -> None:
        """Deletes it with all its pages. It must not run."""
        self.ask("DELETE", "", {"confirm": self.name})

    def events(self, after: int | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields ("page", page) for each page that is fetched and ("state", {"state": ...}) for each change, until the
        crawl does not run. after: 0 also for those since its start that the service remembers."""
        last = after
        while True:
            headers = {} if last is None else {"Last-Event-ID": str(last)}
            with self.open("GET", "/events", headers=headers) as lines:
                event = {}
                for line in lines:
                    name, _, value = line.decode("utf-8").rstrip("\n").partition(": ")
                    if name:
                        event[name] = value
                        continue
                    if "data" in event:
                        data = json.loads(event["data"])
                        if event["event"] == "page":
                            last = int(event["id"])
                        yield event["event"], data
                        if event["event"] == "state" and data["state"] not in ("running", "stopping"):
                            return
                    event = {}

    def run(self, on_page: Callable[[dict[str, Any]], object] | None = None) -> ServedCrawl:
        """Starts it, and waits for its end. on_page: called for each page, with `url`, `title`, `relevance` and
        `relevant`. An exception, such as by Ctrl-C, leaves the crawl running: the service has it. Raises ServiceError
        if the crawl fails."""
        self.start()
        for kind, data in self.events(0):
            if kind == "page" and on_page is not None:
                on_page(data)
        ended = self.summary()
        if ended["state"] == "failed":
            raise ServiceError(ended["detail"], 500)
        return self

    def pages(
        self,
        *,
        where: str | Iterable[str] | None = None,
        fields: Iterable[str] | None = None,
        relevant: bool = False,
        duplicates: str | None = None,
    ) -> Pages:
        """As `Crawl.pages`."""
        conditions = [where] if isinstance(where, str) else list(where or [])
        conditions += ["relevant:yes"] if relevant else []
        conditions += [] if duplicates is None else [f"duplicates:{duplicates}"]
        return ServedPages(self, " ".join(conditions), fields)

    def page(self, url: str, form: str = "markdown") -> str:
        """A page as text, markdown or html, its source."""
        with self.open("GET", "/page", {"url": url, "format": form}) as response:
            return response.read().decode("utf-8")

    def search(
        self, query: str = "", *, limit: int = 10, offset: int = 0, where: str | Iterable[str] | None = None
    ) -> SearchResults:
        """As `Crawl.search`."""
        conditions = where if where is None or isinstance(where, str) else " ".join(where)
        parameters = {"q": query, "limit": limit, "offset": offset, "where": conditions}
        results: SearchResults = self.ask("GET", "/search", parameters)
        return results

    def why(self, url: str) -> dict[str, Any]:
        """As `Crawl.why`."""
        history: dict[str, Any] = self.ask("GET", "/why", {"url": url})
        return history

    def to_label(self, count: int = 1, *, pages: int = 100) -> list[LabelCandidate]:
        """As `Crawl.to_label`."""
        candidates: list[LabelCandidate] = self.ask("GET", "/labels/next", {"count": count, "sample": pages})["pages"]
        return candidates

    def label(self, *, yes: Iterable[str] = (), no: Iterable[str] = ()) -> None:
        """As `Crawl.label`."""
        answers = {"yes": list(yes), "no": list(no)}
        if answers["yes"] or answers["no"]:
            self.ask("POST", "/labels", body=answers)

    def estimate(self) -> dict[str, Any]:
        """As `Crawl.estimate`."""
        estimate: dict[str, Any] = self.ask("GET", "/labels/estimate")
        return estimate

    @property
    def terms(self) -> dict[str, float]:
        """The terms of its topic and their weights, the heaviest first."""
        terms = self.ask("GET", "/topic")["terms"]
        return {term["term"]: term["weight"] for term in sorted(terms, key=lambda term: -term["weight"])}

    def change_topic(
        self, terms: Mapping[str, float | None] | None = None, *, page_threshold: float | None = None
    ) -> None:
        """Sets weights of terms (None removes one) and the page threshold; `rescore` applies them."""
        change: dict[str, object] = {"terms": dict(terms or {})}
        self.ask(
            "PATCH", "/topic", body=change if page_threshold is None else change | {"page_threshold": page_threshold}
        )

    def learn(self) -> dict[str, Any]:
        """Improves the topic by the labels, judges all pages again, and returns what changed."""
        report: dict[str, Any] = self.job("POST", "/topic/learn", {})
        return report

    def rescore(self) -> dict[str, Any]:
        """Judges the stored pages again by the topic as it is, and returns what changed."""
        report: dict[str, Any] = self.job("POST", "/rescore", {})
        return report
