"""Draws quotes from real pages and writes them with their exact spans; run by hand, the tests need only what it wrote.

    apt-get install chromium poppler-utils mandoc groff man-db fonts-liberation bsdextrautils
    python -m venv /tmp/pages-venv
    /tmp/pages-venv/bin/pip install playwright markdown-it-py linkify-it-py mdit-py-plugins docutils sphinx \
        pypdf pypdfium2 fonttools pyphen
    PYTHONPATH=. /tmp/pages-venv/bin/python -m tests.labels.pages.build held_out --pages FOLDER --seed 31

FOLDER holds, unpacked as FOLDER/NAME, each package that sources.json names: `apt-get download NAME` and `dpkg -x` for
those of Debian, `pip download --no-deps --no-binary NAME` for source distributions, `git archive COMMIT` for those of
GitHub. The set `regression` was drawn in the same way, with seed 13.
Another set: list other pages in sources.json under another name, give that name, --seed and --into.

No locator has part in it. Words of the source are marked, each with a character of its own, and the page is rendered;
quotes are drawn from the rendering, between marked words; the ends of each span are marked alone and rendered again:
the text between the marks must be the quote, and all other text must be as it was. A quote is kept if its letters and
digits stand once in all renderings of its kind, or if the quote itself stands there several times, at several places
of the sources; what is neither is dropped, and counted.
"""

import argparse
import gzip
import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.labels.pages.draw import changed
from tests.labels.pages.folding import as_pattern, folded, letters, plain
from tests.labels.pages.near_misses import near_miss
from tests.labels.pages.page import PageOfQuotes, Quote

HERE = Path(__file__).parent
SUFFIX = {"markdown": ".md", "html": ".html", "rst": ".rst", "pdf": ".txt", "man": ".txt"}
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
ONCE, SEVERAL, TRIES = 9, 2, 60  # quotes of a page; renderings spent on finding marks that break it
APART = 1500  # the most characters between the two spans of "A … B"

LICENCES = """# Pages of other projects, used as test data

Markdown, HTML and reStructuredText pages are as their projects wrote them; those under `pdf/` and `man/` are the text
of their pages as printed by Chromium, or as shown in a terminal. Quotes in the JSON files are parts of them. The texts
of the licences are in [LICENCE-TEXTS.md](LICENCE-TEXTS.md).

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--into", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--kind", default="markdown html rst pdf man")
    arguments = parser.parse_args()
    arguments.into = arguments.into or HERE / arguments.set
    sources = json.loads((HERE / "sources.json").read_text("utf-8"))[arguments.set]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS.split())
        context = browser.new_context()
        context.route("**/*", lambda route: route.abort())  # a page's own scripts and pictures are not fetched
        tab = context.new_page()
        for kind in arguments.kind.split():
            rng = random.Random(f"{arguments.seed} {kind}")
            pages = [_read(tab, entry, arguments.pages) for entry in sources if entry["kind"] == kind]
            _write_licences(sources, arguments)
            _write(kind, [page for page in pages if _drawn(page, rng)], rng, arguments.into)
        browser.close()


def _read(tab, entry, folder: Path) -> PageOfQuotes:
    source = _source(entry, folder)
    return PageOfQuotes(
        tab=tab,
        name=_name(entry),
        kind=entry["kind"],
        source=source.replace("\r\n", "\n"),
        how=entry["how"],
        copied=entry.get("copied", "page"),
        base=entry.get("base", entry["kind"]),
        extractor=entry.get("extractor", ""),
        set_as_a_book="set_as_a_book" in entry,
        left_out="left_out" in entry,
    )


def _source(entry, folder: Path) -> str:
    data = (folder / entry["package"].split()[0] / entry["path"]).read_bytes()
    return (gzip.decompress(data) if entry["path"].endswith(".gz") else data).decode("utf-8")


def _name(entry) -> str:
    stem = re.sub(r"\.(md|rst|txt|html.*|\d\w*)(\.gz)?$", "", entry["path"])
    return f"{entry['package'].split()[0]}-{'-'.join(stem.split('/')[-2:])}{SUFFIX[entry['kind']]}"


def _write_licences(sources, arguments) -> None:
    """The list of the pages; where sources.json tells no holder, the page's own lines do."""
    parts = [LICENCES]
    for entry in [entry for entry in sources if "left_out" not in entry]:
        holders = [entry["copyright"]] if entry["copyright"] else []
        lines = [line.lstrip('.\\" ').strip() for line in _source(entry, arguments.pages)[:3000].splitlines()]
        holders = holders or [
            f"{line} {after}" if line[-1].isdigit() else line  # after years alone, the next line tells the holder
            for line, after in pairwise(lines)
            if line.startswith("Copyright")
        ]
        holders = holders or ["see the package"]
        terms = f"{entry['licence']}; {'; '.join(holders)}"
        parts.append(f"- `{entry['kind']}/{_name(entry)}`: {entry['package']}, `{entry['path']}`; {terms}\n")
    arguments.into.mkdir(parents=True, exist_ok=True)
    (arguments.into / "LICENCES.md").write_text("".join(parts), "utf-8")


def _drawn(page: PageOfQuotes, rng: random.Random) -> bool:
    page.prepare(TRIES)
    page.draw(3 * ONCE, rng)
    print(f"{page.kind:9} {page.name}: {len(page.marks)} words marked, {len(page.quotes)} quotes proved", flush=True)
    return bool(page.quotes)


def _write(kind: str, pages: list[PageOfQuotes], rng: random.Random, into: Path) -> None:
    shown = {page.name: page.now.text if page.searched_as_source else page.now.corpus for page in pages}
    joined = "\0".join(letters(text) for text in shown.values())
    standing = "\0".join(folded(page.now.text) + "\0" + folded(page.now.corpus) for page in pages)
    quotes, misses, dropped = [], [], Counter()
    for page in pages:
        once = [q for q in page.quotes if joined.count(letters(q.text)) == 1]
        several = [q for q in page.quotes if q not in once and len(_copies(q.text, pages)) > 1]
        dropped["neither once nor several"] += len(page.quotes) - len(once) - len(several)
        rows = [line for line in page.now.text.split("\n") if "\t" in line]
        others = sorted(set(re.findall(r"[A-Za-z]{4,}", page.now.text)))
        for quote in once[:ONCE]:
            text, done = changed(quote.text, page.now.text[quote.shown[1] :], rng)
            quotes.append(_row(text, page, [quote], done, quote.shape))
        for quote in once[ONCE - 3 :]:
            misses += _missed(quote.text, page, rng, others, rows, standing, 1)
        quotes += [_row(q.text, page, [], [], q.shape) for q in several[:SEVERAL]]
        pair = _pair(once, rng)
        if pair:
            between = rng.choice([" … ", " [...] ", " ... ", "… "])
            quotes.append(_row(pair[0].text + between + pair[1].text, page, pair, ["ellipsis inside"], "two spans"))
            misses += _missed(f"{pair[0].text} … {pair[1].text}", page, rng, others, rows, standing, 1)
        misses += [miss for quote in once[:ONCE] for miss in _missed(quote.text, page, rng, others, rows, standing, 1)]
    folder = into / kind
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (folder / page.name).write_bytes(page.now.corpus.encode())
    quotes = list({row["quote"]: row for row in quotes}.values())
    half = _rare_first(list({row["quote"]: row for row in misses}.values()), -(-2 * len(quotes) // 3))
    pages = [page for page in pages if not page.left_out]
    kept = {page.name for page in pages}
    for row in [row for row in quotes if not row["spans"]]:
        row["copies"] = _copies(row["quote"], pages)
    quotes = [q for q in quotes if q["document"] in kept and (q["spans"] or len(q["copies"]) > 1)]
    half = [miss for miss in half if miss["document"] in kept]
    parts = [f'"{name}": [\n{_a_row_a_line(rows)}\n]' for name, rows in (("quotes", quotes), ("near_misses", half))]
    (into / f"{kind}.json").write_text("{" + ",\n".join(parts) + "}\n", "utf-8")
    print(kind, len(quotes), "quotes,", len(half), "near misses,", dict(dropped), Counter(m["change"] for m in half))


def _a_row_a_line(rows) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _row(text: str, page: PageOfQuotes, parts: list[Quote], done: list[str], shape: str):
    spans = [list(part.span) for part in parts]
    if "no final dot" in done:  # the span is what was quoted
        spans[-1][1] = parts[-1].word_end
    return {"quote": text, "document": page.name, "spans": spans, "shape": shape, "changed": done}


def _copies(quote: str, pages: list[PageOfQuotes]) -> list[tuple[str, int]]:
    """Where marks tell that the pages hold the quote: the page, and where in its text a word of the quote begins."""
    found = set()
    pattern = as_pattern(quote)
    for page in pages:
        text, marked = page.now.text, page.shown_at
        if not page.searched_as_source:
            text, marked = page.now.corpus, {place: number for number, place in page.now.corpus_places.items()}
        for match in pattern.finditer(plain(text)):
            number = next((marked[at] for at in range(match.start(), match.end()) if at in marked), None)
            if number is not None:
                found.add((page.name, page.now.corpus_places[number]))
    return sorted(found)


def _pair(once: list[Quote], rng: random.Random) -> list[Quote] | None:
    pairs = [
        [one, two]
        for one in once
        for two in once
        if 0 < two.span[0] - one.span[1] < APART and "\n" not in one.text + two.text and one.text[-1] not in ".…"
    ]
    return rng.choice(pairs) if pairs else None


def _missed(quote, page, rng, others, rows, standing, wanted):
    """Near misses of a quote that stand nowhere, as they are, in a rendering or a source."""
    found = []
    for _ in range(6):
        got = near_miss(quote, rng, others, rows)
        if got and len(found) < wanted and folded(got[0]) not in standing:
            found.append({"quote": got[0], "from": quote, "document": page.name, "change": got[1]})
    return found


def _rare_first(misses, wanted: int):
    """As many near misses as wanted, of every change as evenly as there are."""
    by_change = {}
    for miss in misses:
        by_change.setdefault(miss["change"], []).append(miss)
    taken = []
    while len(taken) < wanted and any(by_change.values()):
        for rest in by_change.values():
            if rest and len(taken) < wanted:
                taken.append(rest.pop(0))
    return taken


if __name__ == "__main__":
    main()
