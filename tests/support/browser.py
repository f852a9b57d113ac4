"""Chromium, headless: what it makes of a page, what it asks for, and what it complains about."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
)
SECONDS = 120


@dataclass
class Opened:
    """What Chromium made of a page.

    Attributes:
        dom: The page after it was opened.
        asked: The addresses that were asked for, but that of the page itself.
        complaints: What it wrote to its console.
    """

    dom: str
    asked: list[str]
    complaints: list[str]


def opened(file, folder):
    """Open a file and return what became of it."""
    log = folder / "net.json"
    address = file.resolve().as_uri()
    command = [
        CHROMIUM,
        *FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--log-net-log={log}",
        "--enable-logging=stderr",
        "--virtual-time-budget=2000",
        "--dump-dom",
        address,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    events = json.loads(re.sub(r",\s*$", "]}", text) if not (text := log.read_text()).rstrip().endswith("}") else text)
    asked = [event["params"]["url"] for event in events["events"] if "url" in event.get("params", {})]
    own = ("file:", "data:", "chrome:", "devtools:", "about:")
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    ours = [url for url in asked if not url.startswith(own) and not re.search(r"//[^/]*(google|gvt1)", url)]
    return Opened(done.stdout, ours, console)


class Marks(HTMLParser):
    """The texts of the marks of a page, in order, by their class; and its headings."""

    def __init__(self, html):
        super().__init__()
        self.marks, self.headings, self.anchors, self.links, self._open = [], [], set(), [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if "id" in named:
            self.anchors.add(named["id"])
        if tag == "a":
            self.links.append(named["href"])
        if tag == "mark":
            self.marks.append([named["class"], ""])
            self._open = True
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag):
        if tag == "mark":
            self._open = False

    def handle_data(self, data):
        if self._open:
            self.marks[-1][1] += data
