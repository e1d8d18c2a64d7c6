"""Tests of the Python module, and of every cell of docs/python.md: `python tests/python/module.py`. tests/cli/python.rs
runs it."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import jsonschema
import pyarrow
import stage
import suidao
from stage import BOUND, ROOT, WORDS, crawl, python


def setUpModule() -> None:
    stage.set_up_module()
    crawl("shared", max_pages=150)


class Cells(unittest.TestCase):
    def test_every_cell_of_the_notebook_works(self) -> None:
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        cells = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(cells), 10)
        variables: dict[str, object] = {}
        shown, printed = [], []
        for cell in cells:
            tree = ast.parse(cell.replace("http://127.0.0.1:8080", stage.proxy))
            # A notebook shows the value of the last expression.
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(tree, "cell", "exec"), variables)
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), variables) if last else None
            shown.append(value)
            printed.append(out.getvalue())
        self.assertEqual(set(shown[1]), set(WORDS))
        self.assertGreater(len(printed[2].splitlines()), 50, "relevant pages")
        pages, relevant, stopped = shown[3]
        self.assertEqual((pages, stopped), (500, "page-limit"))
        self.assertEqual(len(printed[4].splitlines()), len(printed[2].splitlines()))
        self.assertEqual(len(printed[4].splitlines()), relevant)
        self.assertEqual(list(shown[5].columns[:3]), ["url", "host", "title"])
        self.assertEqual(len(shown[5]), 10)
        self.assertGreater(shown[6]["sum"].iloc[0], 5)
        self.assertEqual(len(printed[7].splitlines()), 5)
        self.assertIn("path:", printed[8])
        self.assertEqual(shown[9], 50)


class ReadingPages(unittest.TestCase):
    def setUp(self) -> None:
        self.crawl = suidao.Crawl("shared")

    def test_dictionaries_batches_and_tables_have_the_same_pages(self) -> None:
        pages = self.crawl.pages(fields=["url", "title", "relevance"])
        urls = [page["url"] for page in pages]
        self.assertGreater(len(urls), 20)
        self.assertEqual([page["url"] for page in pages], urls, "they can be read again")
        batches = list(pages.batches(20))
        self.assertTrue(all(isinstance(batch, pyarrow.RecordBatch) and len(batch) <= 20 for batch in batches))
        self.assertEqual([url for batch in batches for url in batch.column("url").to_pylist()], urls)
        table = pages.to_arrow()
        self.assertEqual((table.column_names, table["url"].to_pylist()), (["url", "title", "relevance"], urls))
        self.assertEqual(list(pages.to_pandas()["url"]), urls)
        every = self.crawl.pages()
        self.assertEqual(list(next(iter(every))), every.to_arrow().column_names)
        self.assertIn("links", next(iter(self.crawl.pages(fields=["url", "links"]))))

    def test_conditions_select_pages(self) -> None:
        every = {page["url"] for page in self.crawl.pages(fields=["url"])}
        relevant = {page["url"] for page in self.crawl.pages(relevant=True, fields=["url"])}
        self.assertEqual(len(relevant), self.crawl.summary()["relevant"])
        others = {page["url"] for page in self.crawl.pages(where=["-relevant:yes", "lang:zh"], fields=["url"])}
        self.assertEqual((relevant & others, relevant | others), (set(), every))

    def test_rules_extract_fields(self) -> None:
        Path("fields.toml").write_text("[[fields]]\nname = 'heading'\nselect = 'h1'\n", encoding="utf-8")
        pages = self.crawl.pages(fields=["title"], extract="fields.toml")
        headings = [page["extracted"].get("heading") for page in pages]
        self.assertTrue(any(headings), headings)
        self.assertEqual(len(pages.to_arrow()["extracted"]), len(headings))

    def test_a_reader_may_stop_early(self) -> None:
        for page in self.crawl.pages():
            self.assertTrue(page["text"])
            break

    def test_reading_leaves_since_last_as_it_is(self) -> None:
        list(self.crawl.pages())
        self.crawl.pages().to_arrow()
        self.assertFalse(Path("shared/exports").exists())

    def test_what_is_not_installed_is_named(self) -> None:
        pages = self.crawl.pages()
        for module, extra, read in [("pyarrow", "arrow", pages.to_arrow), ("pandas", "pandas", pages.to_pandas)]:
            without = mock.patch.dict(sys.modules, {module: None, f"{module}.parquet": None})
            sentence = rf"{module} is not installed; run .* -m pip install suidao\[{extra}\]"
            with without, self.assertRaisesRegex(ImportError, sentence):
                read()

    def test_search_and_why(self) -> None:
        results = self.crawl.search("足球", limit=3, explain=True)
        self.assertEqual(len(results["hits"]), 3)
        self.assertTrue(all(hit["why"] for hit in results["hits"]))
        self.assertEqual(set(results), set(suidao.SearchResults.__annotations__))
        missing = set(suidao.SearchHit.__annotations__) - set(results["hits"][0])
        self.assertFalse(missing)
        later = self.crawl.search("足球", limit=1, offset=1)
        self.assertEqual(later["hits"][0]["url"], results["hits"][1]["url"])
        self.assertEqual(self.crawl.search("-足球 relevant:yes")["loosened"], None)
        url = results["hits"][0]["url"]
        self.assertEqual(self.crawl.why(url)["url"], url)
        self.assertIn(url, self.crawl.explain(url))


class Labels(unittest.TestCase):
    def test_labels_lead_to_an_estimate_and_another_threshold(self) -> None:
        labelled = crawl("labelled", max_pages=300)
        sample = labelled.to_label(20, pages=20)
        self.assertEqual(len(sample), 20)
        self.assertTrue(set(suidao.LabelCandidate.__annotations__) <= set(sample[0]))
        urls = [page["url"] for page in sample]
        labelled.label()
        with self.assertRaises(suidao.InputError):
            labelled.label(yes=[urls[0], "http://unknown.test/"])
        self.assertEqual(labelled.to_label(20, pages=20), sample, "nothing is saved")
        labelled.label(yes=urls[:7], no=urls[7:])
        self.assertEqual(labelled.to_label(20, pages=20), [])
        self.assertEqual(labelled.estimate()["labelled"], 20)
        learnt = suidao.Topic("topic.toml").learn(labelled, "learnt.toml")
        self.assertNotEqual(learnt.terms, suidao.Topic("topic.toml").terms)
        self.assertEqual(labelled.rescore(learnt)["pages"], 300)
        labelled.rescore(page_threshold=0.5)
        relevant = list(labelled.pages(relevant=True))
        self.assertTrue(all(page["relevance"] >= 0.5 for page in relevant))


class Topics(unittest.TestCase):
    def test_a_topic_has_weights_and_is_a_path(self) -> None:
        topic = suidao.topic("weighted.toml", name="体育", keywords={"足球": 2.0, "世界杯": 1})
        self.assertEqual((topic.name, list(topic.terms)), ("体育", ["足球", "世界杯"]))
        self.assertEqual(os.fspath(topic), "weighted.toml")
        samples = suidao.topic("samples.toml", name="体育", samples="web/samples", background="web/background")
        self.assertGreater(len(samples.terms), 100)

    def test_mistakes_are_named(self) -> None:
        with self.assertRaisesRegex(TypeError, r"write \['足球'\]"):
            suidao.topic("t.toml", name="体育", keywords="足球")
        with self.assertRaisesRegex(TypeError, "keywords, samples or a crawl"):
            suidao.topic("t.toml", name="体育")
        with self.assertRaisesRegex(suidao.InputError, "topic.toml already exists"):
            suidao.topic("topic.toml", name="体育", keywords=WORDS)


class Errors(unittest.TestCase):
    def test_an_exception_has_the_sentence_and_the_code(self) -> None:
        with self.assertRaises(suidao.InputError) as caught:
            suidao.Crawl("none").search("x")
        self.assertEqual(caught.exception.code, 2)
        self.assertTrue(str(caught.exception).startswith("none: contains no crawl"), caught.exception)
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(suidao.InputError) as caught:
            list(suidao.Crawl("shared").pages(where="rel:yes"))
        self.assertIn("--where", str(caught.exception))
        with self.assertRaises(suidao.InputError):
            suidao.Crawl("shared").pages(where="rel:yes").to_arrow()

    def test_run_reports_wrong_input(self) -> None:
        for seeds, sentence in [
            (["ftp://a.cn/"], r"^seeds, line 1: ftp://a.cn/ is not a URL to crawl"),
            ("nowhere.txt", r"^cannot read the seeds nowhere.txt"),
        ]:
            with self.assertRaisesRegex(suidao.InputError, sentence):
                suidao.run("topic.toml", seeds, "wrong", contact="test@example.org")
        with self.assertRaisesRegex(TypeError, r"write \['http://a.cn/'\]"):
            suidao.run("topic.toml", "http://a.cn/", "wrong")
        with self.assertRaisesRegex(suidao.InputError, "unknown field `nonsense`"):
            suidao.run("topic.toml", ["http://a.cn/"], "wrong", settings={"nonsense": True})
        self.assertFalse(Path("wrong").exists())

    def test_a_crawl_without_pages_is_an_error(self) -> None:
        with self.assertRaisesRegex(suidao.SuidaoError, r"^No page could be fetched;[^\n]*$") as caught:
            suidao.run("topic.toml", ["http://127.0.0.1:1/"], "empty", contact="test@example.org")
        self.assertEqual(caught.exception.code, 1)
        self.assertNotIsInstance(caught.exception, ValueError)


class Running(unittest.TestCase):
    def test_an_exception_in_the_callback_stops_the_crawl_and_it_resumes(self) -> None:
        pages: list[suidao.FetchedPage] = []

        def until(most: int, problem: Exception):
            def see(page: suidao.FetchedPage) -> None:
                pages.append(page)
                if len(pages) >= most:
                    raise problem

            return see

        with self.assertRaisesRegex(KeyError, "mine"):
            crawl("stopped", on_page=until(10, KeyError("mine")))
        self.assertEqual((len(pages), suidao.Crawl("stopped").summary()["stopped"]), (10, "interrupted"))
        stopped = crawl("stopped", on_page=until(20, suidao.StopCrawl()))
        self.assertEqual((len(pages), stopped.summary()["stopped"]), (20, "interrupted"))
        self.assertTrue(stopped.summary()["this_run"]["resumed"])
        # Pages in flight were stored, and so the callback never saw them.
        most = stopped.summary()["pages"] + 10
        crawl("stopped", on_page=pages.append, max_pages=most)
        urls = [page.url for page in pages]
        self.assertEqual(len(set(urls)), len(urls))
        self.assertEqual(len(urls), 30)
        self.assertEqual(stopped.summary()["pages"], most)
        stored = {page["url"]: page for page in stopped.pages(where=["listings:yes", "noindex:yes"])}
        for page in pages:
            if not page.listing:
                # An export leaves out the name of the site.
                self.assertTrue(page.title.startswith(stored[page.url]["title"]))
                self.assertAlmostEqual(stored[page.url]["relevance"], page.relevance, 6)

    @mock.patch("suidao._run.WAITING", 1)
    def test_a_crawl_that_waits_for_its_callback_loses_nothing(self) -> None:
        seen: list[str] = []

        def see(page: suidao.FetchedPage) -> None:
            seen.append(page.url)
            if len(seen) == 60:
                raise suidao.StopCrawl

        first = crawl("slow", on_page=see, max_pages=100).summary()
        self.assertEqual((len(set(seen)), first["stopped"]), (60, "interrupted"))
        second = crawl("slow", on_page=lambda page: seen.append(page.url), max_pages=first["pages"] + 40).summary()
        self.assertEqual((len(set(seen)), second["stopped"]), (100, "page-limit"))

    def test_ctrl_c_stops_cleanly(self) -> None:
        # A terminal interrupts the crawl too, a notebook only Python.
        for output, interrupt in [
            ("terminal", "os.killpg(0, signal.SIGINT)"),
            ("notebook", "os.kill(os.getpid(), signal.SIGINT)"),
        ]:
            with self.subTest(output):
                started = python(
                    f"""
signal.signal(signal.SIGINT, signal.default_int_handler)
seen = []
def see(page):
    seen.append(page)
    if len(seen) == 20:
        # Another thread, so also while this one waits for a page.
        threading.Thread(target=lambda: {interrupt}).start()
try:
    suidao.run("topic.toml", "web/seeds.txt", "{output}", on_page=see, **web)
except KeyboardInterrupt:
    sys.exit(7)
"""
                )
                printed = started.communicate(timeout=BOUND)[1]
                self.assertEqual(started.returncode, 7, printed)
                interrupted = suidao.Crawl(output)
                self.assertEqual(interrupted.summary()["stopped"], "interrupted")
                # It has ended, so another can resume.
                crawl(output, max_pages=interrupted.summary()["pages"] + 5)

    def test_a_crawl_does_not_outlive_python(self) -> None:
        started = python(
            """
seen = []
def see(page):
    seen.append(page)
    if len(seen) == 20:
        os.kill(os.getpid(), signal.SIGKILL)
suidao.run("topic.toml", "web/seeds.txt", "orphan", on_page=see, **web)
"""
        )
        started.communicate(timeout=BOUND)
        self.assertEqual(started.returncode, -signal.SIGKILL)
        begun = time.monotonic()
        while not Path("orphan/summary.json").exists():
            self.assertLess(time.monotonic() - begun, BOUND, "the crawl does not end")
            time.sleep(0.05)
        self.assertEqual(suidao.Crawl("orphan").summary()["stopped"], "interrupted")


class Program(unittest.TestCase):
    def test_python_m_suidao_is_the_program(self) -> None:
        command = [sys.executable, "-m", "suidao"]
        printed = subprocess.run([*command, "--version"], capture_output=True, encoding="utf-8", check=True).stdout
        self.assertRegex(printed, r"^suidao \d+\.\d+\.\d+\n$")
        ended = subprocess.run([*command, "search", "none", "x"], capture_output=True, encoding="utf-8", check=False)
        self.assertEqual((ended.returncode, ended.stderr.startswith("suidao: none: contains no crawl")), (2, True))

    def test_what_a_crawl_prints_is_valid(self) -> None:
        """Each line is valid by a full validator; tests/cli/events.rs has one of its own."""
        schema = json.loads((ROOT / "docs/events.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        command = [suidao.program(), "crawl", "-m", "topic.toml", "-s", "web/seeds.txt", "-o", "events", "-q"]
        command += ["--json", "--control", "--max-pages", "60", "--proxy", stage.proxy, "--set", "politeness.delay=0"]
        commands = '{"status":{}}\n{"add":["http://new.test/"]}\nnonsense\n'
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
            process.stdin.write(commands)
            process.stdin.flush()
            lines = [json.loads(line) for line in process.stdout]
        for line in lines:
            validator.validate(line)
        kinds = {kind for line in lines for kind in line.get("event", line)}
        wanted = {"discovered", "seed-judged", "page-fetched", "robots", "summary", "status", "added", "error"}
        self.assertFalse(wanted - kinds, kinds)


if __name__ == "__main__":
    unittest.main(verbosity=2)
