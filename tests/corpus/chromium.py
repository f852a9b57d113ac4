"""Writes what Chromium shows of pages, as `innerText`; run by hand, the tests need only what it wrote.

    apt-get install chromium
    python -m venv /tmp/pages-venv
    /tmp/pages-venv/bin/pip install playwright
    /tmp/pages-venv/bin/python tests/corpus/chromium.py shown FOLDER_OR_PAGE...

Of a folder it takes all pages, at most 100,000 characters shown of each. No page is fetched and no script is run.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
LONGEST = 100_000


def main(into, *given):
    found = [path for name in map(Path, given) for path in (sorted(name.rglob("*.html")) if name.is_dir() else [name])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print(browser.version)
        context = browser.new_context(java_script_enabled=True)
        context.route("**", lambda route: route.continue_() if route.request.is_navigation_request() else route.abort())
        for path in found:
            tab = context.new_page()
            source = path.resolve().as_uri()
            tab.goto(source, wait_until="domcontentloaded")
            text = tab.evaluate("document.body.innerText")
            tab.close()
            target = Path(into) / f"{path.stem}.txt"
            target.write_text(text[:LONGEST], encoding="utf-8")
    print(len(found), "pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
