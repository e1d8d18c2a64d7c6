"""Makes a search engine in a real browser, from an empty folder to a found page, and prints what it saw as JSON.

browser.py CHROMIUM ADDRESS LANGUAGE FOLDER: FOLDER has words.txt, seeds.txt and relevant.txt (URLs of relevant pages), a
line each; screenshots of each step are written there.
"""

import json
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

chromium, address, language, folder = sys.argv[1:]
folder = Path(folder)
words, seeds, relevant = (
    (folder / name).read_text().split() for name in ("words.txt", "seeds.txt", "relevant.txt")
)
relevant = set(relevant)
name = "体育" if language.startswith("zh") else "sports"
seen = {"texts": [], "errors": [], "widths": {}}

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    page = browser.new_context(locale=language, viewport={"width": 1280, "height": 900}).new_page()
    page.on("console", lambda message: message.type == "error" and seen["errors"].append(message.text))
    page.on("pageerror", lambda error: seen["errors"].append(str(error)))

    def step(title):
        page.screenshot(path=folder / f"{language}-{title}.png", full_page=True)
        seen["texts"].append(page.inner_text("body"))

    page.goto(address)
    step("empty")
    page.click("a.button")
    page.fill("[name=name]", name)
    page.fill("[name=keywords]", "，".join(words))
    page.fill("[name=seeds]", "\n".join(seeds))
    page.fill("[name=pages]", "150")
    page.click("[value=check]")
    seen["planned"] = page.locator("#plan li").count()
    step("plan")
    page.click("[value=create]")
    page.wait_for_selector(".tiles")
    # The script keeps the page up to date.
    page.wait_for_selector(".state.done", timeout=120_000)
    page.reload()
    seen["newest"] = page.locator(".pages .relevant").count()
    step("crawl")
    crawl = f"{address}/c/{quote(name)}"
    page.goto(f"{crawl}/label")
    step("label")
    for number in range(8):
        url = page.locator("article ~ form [name=url]").first.get_attribute("value")
        with page.expect_navigation():
            page.keyboard.press("y" if url in relevant else "n")
    page.wait_for_selector("[data-late] dl")
    seen["estimate"] = page.inner_text("[data-late]")
    step("labelled")
    with page.expect_navigation():
        page.click("aside button")
    page.wait_for_selector("a.button.main", timeout=60_000)
    step("learnt")
    page.goto(f"{crawl}/terms")
    struck = page.locator(".weights .term").nth(1).inner_text()
    page.locator(".weights input[type=checkbox]").nth(1).check()
    page.fill("#added", "马拉松\t2.5")
    page.click("[value=save]")
    terms = page.locator(".weights .term").all_inner_texts()
    seen["terms"] = ["马拉松" in terms, struck in terms]
    page.click("[value=undo]")
    terms = page.locator(".weights .term").all_inner_texts()
    seen["undone"] = ["马拉松" in terms, struck in terms]
    step("terms")
    page.goto(f"{crawl}/search")
    page.fill("[name=q]", words[0])
    page.press("[name=q]", "Enter")
    page.wait_for_selector(".hits")
    seen["hits"] = page.locator(".hits > li").count()
    step("hits")
    page.goto(f"{crawl}/files")
    page.click("[value=export]")
    page.wait_for_selector("a[download]", timeout=60_000)
    with page.expect_download() as download:
        page.click("a[download]")
    seen["exported"] = len(Path(download.value.path()).read_text().splitlines())
    step("files")
    page.goto(f"{crawl}/report")
    seen["report"] = page.inner_text("h1")
    # The other language, chosen by its link, stays chosen.
    page.goto(crawl)
    page.click("a.language")
    seen["other"] = page.locator("html").get_attribute("lang")
    page.click("a.language")
    page.set_viewport_size({"width": 390, "height": 800})
    for path in ("", f"/c/{quote(name)}", *(f"/c/{quote(name)}/{part}" for part in ("label", "terms", "files", "search"))):
        page.goto(address + path)
        page.wait_for_timeout(200)
        seen["widths"][path.rsplit("/", 1)[-1]] = page.evaluate("document.documentElement.scrollWidth")
    step("phone")
    browser.close()
print(json.dumps(seen, ensure_ascii=False))
