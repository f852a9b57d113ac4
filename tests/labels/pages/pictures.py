r"""Pictures of quotes for people to check: the page as it is rendered beside the text that is searched; run by hand:

    PYTHONPATH=. /tmp/pages-venv/bin/python -m tests.labels.pages.pictures regression \
        --pages FOLDER --seed 60 --into PICTURES

Needs what build.py needs, and Pillow. Draws 12 quotes of each kind that occur once. In each picture, left is the page:
in Chromium, as printed, or in a terminal; the letters of the quote are marked where they stand. Right is the text of
the corpus, the recorded span marked. What was seen is in SEEN.md of the set.
"""

import argparse
import base64
import html
import io
import json
import random
import re
from pathlib import Path

import pypdfium2
from PIL import Image
from playwright.sync_api import sync_playwright
from tests.labels.pages import render
from tests.labels.pages.build import FLAGS, HERE, _name, _read
from tests.labels.pages.folding import letters

EACH = 12
SCALE = 1.6
OMITTED = re.compile(r"\s*(?:\[\.\.\.\]|…|\.\.\.)\s+")
AROUND = 500  # characters of the corpus beside a span
MARK = """(wanted) => {
    const fold = (text) => text.normalize("NFKD").toLowerCase();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), keys = [];
    let key = "";
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (!parent.checkVisibility() || parent.closest("script, style")) continue;
        [...walker.currentNode.data].reduce((at, sign) => {
            for (const part of fold(sign)) if (/[\\p{L}\\p{N}\\p{M}]/u.test(part)) {
                key += part;
                for (let n = 0; n < part.length; n++) keys.push([walker.currentNode, at, at + sign.length]);
            }
            return at + sign.length;
        }, 0);
    }
    const first = key.indexOf(wanted);
    if (first < 0) return false;
    const range = document.createRange(), last = keys[first + wanted.length - 1];
    range.setStart(keys[first][0], keys[first][1]);
    range.setEnd(last[0], last[2]);
    CSS.highlights.set("quote", new Highlight(range));
    const style = "<style>::highlight(quote) { background: yellow; color: black }</style>";
    document.head.insertAdjacentHTML("beforeend", style);
    const box = range.getBoundingClientRect();
    scrollTo(0, scrollY + box.top + Math.min(box.height, 500) / 2 - 300);
    return true;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--into", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    sources = json.loads((HERE / "sources.json").read_text("utf-8"))[arguments.set]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS.split())
        context = browser.new_context(viewport={"width": 700, "height": 600})
        context.route("**/*", lambda route: route.abort())
        tab = context.new_page()
        number = 0
        for kind in ("markdown", "html", "rst", "pdf", "man"):
            entries = {_name(entry): entry for entry in sources if entry["kind"] == kind}
            rows = json.loads((HERE / arguments.set / f"{kind}.json").read_text("utf-8"))["quotes"]
            rows = [row for row in rows if row["spans"]]
            for row in random.Random(f"{arguments.seed} {kind}").sample(rows, EACH):
                number += 1
                corpus = (HERE / arguments.set / kind / row["document"]).read_bytes().decode()
                page = _read(tab, entries[row["document"]], arguments.pages)
                parts = OMITTED.split(row["quote"], len(row["spans"]) - 1) if len(row["spans"]) > 1 else [row["quote"]]
                left = [_rendered(tab, page, letters(part)) for part in parts]
                _compose(context, left, kind, row, corpus, arguments.into / f"{number:02}-{kind}.png")
                print(f"{number:02}", kind, row["document"], row["spans"], repr(row["quote"][:40]), flush=True)
        browser.close()


def _rendered(tab, page, wanted: str) -> bytes | None:
    """A picture of the page with a quote marked, found by its letters, not by its span; None if it is not found."""
    source = page._html(page.source)
    if page.kind == "pdf":
        return _printed(render.pdf(tab, source, [], set_as_a_book=page.set_as_a_book), wanted)
    if page.copied == "terminal":
        source = f"<pre style='font-size:9px'>{html.escape(render.terminal(page.source, page.how, 116, []))}</pre>"
    tab.set_viewport_size({"width": 700, "height": 600})
    tab.set_content(source, wait_until="commit")
    tab.wait_for_function("document.body !== null")
    return tab.screenshot() if tab.evaluate(MARK, wanted) else None


def _printed(data: bytes, wanted: str) -> bytes | None:
    """The pages on which a quote is printed, one below the other."""
    pages = list(pypdfium2.PdfDocument(data))
    texts = [page.get_textpage() for page in pages]
    keyed = [
        (sign, number, at)
        for number, text in enumerate(texts)
        for at in range(text.count_chars())
        for sign in letters(text.get_text_range(at, 1))
    ]
    first = "".join(sign for sign, _, _ in keyed).find(wanted)
    if first < 0:
        return None
    found = keyed[first : first + len(wanted)]
    parts = [
        _marked(pages[number], [texts[number].get_charbox(at) for _, other, at in found if other == number])
        for number in sorted({number for _, number, _ in found})
    ]
    whole = Image.new("RGB", (max(part.width for part in parts), sum(part.height for part in parts)))
    for number, part in enumerate(parts):
        whole.paste(part, (0, sum(before.height for before in parts[:number])))
    file = io.BytesIO()
    whole.save(file, "PNG")
    return file.getvalue()


def _marked(page, boxes):
    """A stretch of a printed page, the boxes of its characters marked."""
    picture, height = page.render(scale=SCALE).to_pil().convert("RGB"), page.get_height()
    for left, bottom, right, top in boxes:
        for x in range(int(left * SCALE), min(int(right * SCALE) + 1, picture.width)):
            for y in range(int((height - top) * SCALE), min(int((height - bottom) * SCALE) + 1, picture.height)):
                red, green, _ = picture.getpixel((x, y))
                picture.putpixel((x, y), (red, green, 0))
    middle = int((height - boxes[0][1]) * SCALE)
    return picture.crop((0, max(middle - 250, 0), picture.width, min(middle + 350, picture.height)))


def _compose(context, left, kind: str, row, corpus: str, path: Path) -> None:
    pictures = "".join(
        f"<img width=700 src='data:image/png;base64,{base64.b64encode(one).decode()}'>" if one else "<p>NOT FOUND"
        for one in left
    )
    (first, _), (_, last) = row["spans"][0], row["spans"][-1]
    at, parts = max(first - AROUND, 0), []
    for start, end in row["spans"]:
        parts += [html.escape(corpus[at:start]), f"<mark>{html.escape(corpus[start:end])}</mark>"]
        at = end
    parts.append(html.escape(corpus[last : last + AROUND]))
    side = context.new_page()
    side.set_viewport_size({"width": 1420, "height": 660})
    side.set_content(
        f"<style>body{{margin:4px;font:13px sans-serif}}pre{{white-space:pre-wrap;font-size:12px;margin:0}}"
        f"mark{{background:yellow}}.q{{background:#def;white-space:pre-wrap}}td{{vertical-align:top;width:700px}}</style>"
        f"{path.stem} {row['document']} {row['spans']} {row['changed']}<div class=q>{html.escape(row['quote'])}</div>"
        f"<table><tr><td>{pictures}<td><pre>{''.join(parts)}</pre></table>"
    )
    side.screenshot(path=path, full_page=True)
    side.close()


if __name__ == "__main__":
    main()
