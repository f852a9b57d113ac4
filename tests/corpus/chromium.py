"""Writes what Chromium shows of pages, and what ordinary loaders return; run by hand, tests need only what it wrote.

    apt-get install chromium
    python -m venv /tmp/pages-venv
    /tmp/pages-venv/bin/pip install beautifulsoup4 lxml playwright
    /tmp/pages-venv/bin/python tests/corpus/chromium.py tests/corpus/shown PAGE.html...

Of each page it writes NAME.chromium.txt (`innerText`), NAME.beautifulsoup.txt (`get_text()`) and NAME.lxml.txt
(`text_content()`). Scripts in a page are run, and nothing is loaded but the page.
"""

import shutil
import sys
from pathlib import Path

import lxml.html
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def shown(pages):
    """Yield what Chromium shows of each page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print("Chromium", browser.version)
        context = browser.new_context()
        context.route("**", lambda route: route.continue_() if route.request.is_navigation_request() else route.abort())
        for page in pages:
            tab = context.new_page()
            tab.goto(page.resolve().as_uri(), wait_until="domcontentloaded")
            yield tab.evaluate("document.body.innerText")
            tab.close()


def main(into, *names):
    pages = list(map(Path, names))
    for page, text in zip(pages, shown(pages), strict=True):
        data = page.read_bytes()
        texts = {
            "chromium": text,
            "beautifulsoup": BeautifulSoup(data, "html.parser").get_text(),
            "lxml": lxml.html.fromstring(data).text_content(),
        }
        for how, found in texts.items():
            (Path(into) / f"{page.stem}.{how}.txt").write_bytes(found.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
