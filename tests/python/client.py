"""Tests of `suidao.Client` with a service on loopback, and of its example in docs/python.md: `python
tests/python/client.py`. tests/cli/python.rs runs it."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import unittest
from pathlib import Path

import stage
import suidao
from stage import ROOT, WORDS

setUpModule = stage.set_up_module


class Service(unittest.TestCase):
    def setUp(self) -> None:
        settings = f"fetch.proxy = '{stage.proxy}'\nfetch.contact = 'test@example.org'\npoliteness.delay = 0.0\n"
        Path("machine.toml").write_text(settings, encoding="utf-8")
        Path("token").write_text("only-for-the-tests\n", encoding="utf-8")
        command = [suidao.program(), "serve", "crawls", "--listen", "0", "-c", "machine.toml"]
        command += ["--token-file", "token"]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.wait)
        self.addCleanup(service.terminate)
        self.url = re.search(r"http://\S+", service.stdout.readline()).group()
        self.client = suidao.Client(self.url, token="only-for-the-tests")

    def test_a_script_makes_a_search_engine_on_another_machine(self) -> None:
        seeds = Path("web/seeds.txt").read_text(encoding="utf-8").split()
        made = self.client.create("体育", seeds, keywords=WORDS, max_pages=150, settings={"crawl.in_flight": 8})
        self.assertEqual([(crawl["name"], crawl["state"]) for crawl in self.client.crawls()], [("体育", "new")])
        seen: list[str] = []
        self.assertIs(made.run(lambda page: seen.append(page["url"])), made)
        self.assertEqual((made.summary()["state"], made.summary()["pages"]), ("done", 150))
        self.assertEqual(len(set(seen)), len(seen))
        # The same pages as in its directory.
        directory = suidao.Crawl("crawls/体育")
        for more in [{}, {"relevant": True, "fields": ["url", "title"]}, {"where": ["listings:yes", "lang:zh"]}]:
            self.assertEqual(list(made.pages(**more)), list(directory.pages(**more)))
        documents = directory.pages(fields=["url", "text"], duplicates="best")
        table = made.pages(fields=["url", "text"], duplicates="best").to_arrow()
        self.assertEqual(table, documents.to_arrow())
        self.assertEqual(made.ask("GET", "/exports"), {"exports": []})
        self.assertFalse(Path("crawls/体育/exports").exists())
        url = made.search("足球", limit=1)["hits"][0]["url"]
        self.assertEqual(url, directory.search("足球", limit=1)["hits"][0]["url"])
        self.assertEqual(made.why(url), directory.why(url))
        self.assertIn("足球", made.page(url))

        sample = made.to_label(20, pages=20)
        about = {page["url"]: any(word in page["title"] for word in WORDS) for page in sample}
        made.label(yes=[url for url in about if about[url]], no=[url for url in about if not about[url]])
        made.label()
        self.assertEqual(made.estimate()["labelled"], len(about))
        self.assertEqual(made.learn()["pages"], 150)
        made.change_topic({"马拉松": 1.5, "足球": None}, page_threshold=0.3)
        self.assertEqual((made.terms["马拉松"], made.terms.get("足球")), (1.5, None))
        made.rescore()
        self.assertTrue(all(page["relevance"] >= 0.3 for page in made.pages(relevant=True)))
        made.change(max_pages=160)
        made.start()
        for kind, data in made.events():
            last = (kind, data)
        self.assertEqual(last, ("state", {"state": "done"}))
        made.stop()
        self.assertEqual(made.summary()["pages"], 160)
        made.delete()
        self.assertEqual(list(self.client.crawls()), [])

    def test_the_example_works(self) -> None:
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        (example,) = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
        for there, here in [
            ('"http://crawler.example.cn:8090/", token="..."', 'url, token="only-for-the-tests"'),
            ('["http://sports.example.cn/"]', 'Path("web/seeds.txt").read_text().split()'),
        ]:
            self.assertIn(there, example)
            example = example.replace(there, here)
        variables = {"suidao": suidao, "Path": Path, "url": self.url, "words": WORDS}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(example, variables)
        self.assertEqual(variables["crawl"].summary()["pages"], 200)
        variables["crawl"].delete()

    def test_mistakes_are_named(self) -> None:
        with self.assertRaises(suidao.RequestError) as caught:
            self.client.create("a", [], keywords=WORDS)
        self.assertEqual((caught.exception.code, caught.exception.parameter), (400, "seeds"))
        self.assertIsInstance(caught.exception, suidao.InputError)
        with self.assertRaisesRegex(suidao.RequestError, "nonsense") as caught:
            self.client.create("a", ["http://a.cn/"], keywords=WORDS, settings={"limits.nonsense": 1})
        with self.assertRaises(suidao.RequestError) as caught:
            self.client.crawl("../token").summary()
        with self.assertRaises(suidao.ServiceError) as caught:
            list(suidao.Client(self.url, token="another-token-of-16").crawls())
        self.assertEqual(caught.exception.code, 401)
        with self.assertRaisesRegex(ConnectionError, "suidao serve FOLDER"):
            list(suidao.Client("http://127.0.0.1:1/").crawls())
        with self.assertRaisesRegex(suidao.ServiceError, "is it a suidao service"):
            list(suidao.Client(stage.proxy).crawls())


if __name__ == "__main__":
    unittest.main(verbosity=2)
