"""Near misses of the pages of a set, of every change, inside and at both ends; run by hand, as build.py says:

    PYTHONPATH=. /tmp/pages-venv/bin/python -m tests.labels.pages.misses held_out --pages FOLDER --seed 37

Passages of what is shown of each page are cut so that the thing to be changed is inside, or begins or ends them, and
that one thing is changed. Dropped is what stands in a page of its kind, with nothing beside it that belongs to it. Of
each change as many are written as half of the quotes, fewer only where the pages hold no more; how many there were is
written, too.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.labels.pages.build import FLAGS, HERE, _read
from tests.labels.pages.folding import letters, plain
from tests.labels.pages.near_misses import COMPARED, NEGATE, TURNED

WANTED = 80  # of a change; at least half of the quotes of a kind
TOKEN = re.compile(r"\S+")
FEWEST_LETTERS = 10
INSIDE, BEGIN, END = "inside", "begin", "end"
THINGS = {
    "word": re.compile(r"(?<![^\s(\"“])[A-Za-z]{4,}(?=[\s,.;)]|$)"),
    "digit": re.compile(r"\d"),
    "sign": re.compile(r"(?<![^\s(\[=\"'])(?:--?|\+)(?=\w)|(?<=\d)%|(?<![^\s(])[$€](?=\d)"),
    "comparison": COMPARED,
    "decimal mark": re.compile(r"(?<=\d)[.,](?=\d)"),
    "negation": re.compile(r"\b(?:not|never|no) (?=[a-z])|n['’]t\b"),
    "word order": re.compile(r"(?<![\w-])([A-Za-z]{2,}) ([A-Za-z]{2,})(?![\w-])"),
}
_OWN = r"\w\-+.,:/<>=≤≥≠$€£%^~#±&*'’@"
Miss = tuple[str, str]
"""The near miss, and where it differs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--kind", default="markdown html rst pdf man")
    arguments = parser.parse_args()
    sources = json.loads((HERE / "sources.json").read_text("utf-8"))[arguments.set]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS.split())
        context = browser.new_context()
        context.route("**/*", lambda route: route.abort())
        tab = context.new_page()
        for kind in arguments.kind.split():
            entries = [entry for entry in sources if entry["kind"] == kind and "left_out" not in entry]
            pages = [_read(tab, entry, arguments.pages) for entry in entries]
            _write(kind, pages, random.Random(f"{arguments.seed} {kind}"), HERE / arguments.set)
        browser.close()


def _write(kind, pages, rng, into: Path) -> None:
    shown, standing = [], []
    for page in pages:
        there = into / kind / page.name
        if not there.exists():
            continue
        now = page.rendered([])
        assert now.corpus == there.read_bytes().decode(), f"{page.name} is rendered otherwise today"
        shown.append((page.name, now.text))
        standing += [_spaced(now.text), _spaced(now.corpus)]
    text = "\0".join(standing)
    found: dict[str, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for name, page_text in shown:
        for change, (quote, where) in _misses(page_text, rng):
            if len(letters(quote)) >= FEWEST_LETTERS and not _stands(quote, text):
                row = {"quote": quote, "document": name, "change": change, "where": where}
                found[change][where].append(row)
    rows, held = [], {}
    for change, by_where in sorted(found.items()):
        every = {where: list({row["quote"]: row for row in some}.values()) for where, some in by_where.items()}
        held[change] = {where: len(some) for where, some in sorted(every.items())}
        rows += _evenly([rng.sample(some, len(some)) for _, some in sorted(every.items())], WANTED)
    parts = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = f'{{"there_were": {json.dumps(held)},\n"near_misses": [\n{parts}\n]}}\n'
    (into / f"{kind}.near_misses.json").write_text(text, "utf-8")
    print(kind, Counter((row["change"], row["where"]) for row in rows), held, flush=True)


def _evenly(groups, wanted: int):
    taken = []
    while len(taken) < wanted and any(groups):
        for rest in groups:
            if rest and len(taken) < wanted:
                taken.append(rest.pop())
    return taken


def _misses(text: str, rng) -> Iterator[tuple[str, Miss]]:
    words = sorted(set(re.findall(r"[A-Za-z]{4,}", text)))
    for line in (line for line in text.split("\n") if line.strip()):
        for change, pattern in THINGS.items():
            things = list(pattern.finditer(line))
            for thing in rng.sample(things, min(len(things), 12)):
                for where in (INSIDE, BEGIN, END):
                    miss = _missed(change, line, thing, where, words, rng)
                    if miss:
                        yield change, (miss, where)
        for miss in _not_added(line):
            yield "negation", miss
    # "Edit... Tab size" is "A … B", and may leave out the cells between
    lines = re.sub(r"\s*\t\s*", "\t", text).split("\n")  # cells of paragraphs are lines of their own
    rows = [line.strip() for line in lines if "\t" in line.strip() and "..." not in line]
    for row in rows:
        for where, at in ((BEGIN, 0), (END, -1), (INSIDE, 1)):
            cells = row.split("\t")
            others = [other.split("\t") for other in rows if other.count("\t") == len(cells) - 1 and other != row]
            others = [other[at] for other in others if letters(other[at]) and letters(other[at]) != letters(cells[at])]
            if others and len(row) < 300 and (where != INSIDE or len(cells) > 2):
                for other in rng.sample(others, min(len(others), 3)):
                    cells[at] = other
                    yield "another row", ("\t".join(cells), where)


def _missed(change, line, thing, where, words, rng) -> str | None:
    """The passage with the thing changed."""
    tokens = [match.span() for match in TOKEN.finditer(line)]
    first = max(n for n, (start, _) in enumerate(tokens) if start <= thing.start())
    last = min((n for n, (_, end) in enumerate(tokens) if end >= thing.end()), default=len(tokens) - 1)
    before = 0 if where == BEGIN else rng.randint(2, 7)
    behind = 0 if where == END else rng.randint(2, 7)
    if (where != END and last + 2 >= len(tokens)) or (where != BEGIN and first < 2):
        return None
    start = tokens[max(first - before, 0)][0]
    end = tokens[min(last + behind, len(tokens) - 1)][1]
    new = CHANGES[change](line, thing, where, words, rng)
    if new is None:
        return None
    head, tail = line[start : thing.start()], line[thing.end() : end]
    if new == CUT:  # the quote begins behind the thing, or ends before it
        return (tail if where == BEGIN else head).strip()
    return f"{head}{new}{tail}"


CUT = "\0"


def _word(line, thing, where, words, rng):
    return rng.choice([word for word in words if word.casefold() != thing[0].casefold()])


def _digit(line, thing, where, words, rng):
    number = re.match(r"\d+", line[_number_start(line, thing.start()) :])[0]
    whole = len(number) > 1 and rng.random() < 0.5
    if where == BEGIN and whole and thing.start() == _number_start(line, thing.start()) and _opens(line, thing):
        return CUT
    if where == END and whole and not line[thing.end() : thing.end() + 1].isalnum():
        return CUT
    return rng.choice([digit for digit in "0123456789" if digit != thing[0]])


def _number_start(line, at):
    return at - len(re.search(r"\d*\Z", line[:at])[0])


def _opens(line, thing):
    return not line[: thing.start()].strip() or line[thing.start() - 1] in ' \t(“"'


def _sign(line, thing, where, words, rng):
    if where == BEGIN and line[thing.end()].isdigit() and _opens(line, thing) and rng.random() < 0.6:
        return CUT
    if where == END and thing[0] == "%":
        return CUT if rng.random() < 0.6 else "‰"
    return {"--": "-", "-": "--", "+": "-", "%": "‰", "$": "€", "€": "$"}[thing[0]]


def _comparison(line, thing, where, words, rng):
    if where == BEGIN and re.match(r"\s?\d", line[thing.end() :]) and rng.random() < 0.5:
        return CUT
    return TURNED[thing[0]]


def _decimal(line, thing, where, words, rng):
    if where != INSIDE and rng.random() < 0.5:
        return CUT
    return rng.choice(["", "," if thing[0] == "." else "."])


def _negation(line, thing, where, words, rng):
    return None if where == BEGIN else ""


def _order(line, thing, where, words, rng):
    return f"{thing[2]} {thing[1]}" if thing[1].casefold() != thing[2].casefold() else None


def _not_added(line) -> Iterator[Miss]:
    """With "not" before the first word, behind the last one, and inside behind a verb."""
    tokens = line.split()
    if len(tokens) > 6 and "not" not in tokens:
        part = " ".join(tokens[1:7])
        yield f"not {part}", BEGIN
        yield f"{part} not", END
    for verb in NEGATE.finditer(line):
        before, behind = line[: verb.end()].split()[-5:], line[verb.end() :].split()[:5]
        if len(before) > 2 and len(behind) > 2:
            yield " ".join([*before, "not", *behind]), INSIDE


CHANGES = {
    "word": _word,
    "digit": _digit,
    "sign": _sign,
    "comparison": _comparison,
    "decimal mark": _decimal,
    "negation": _negation,
    "word order": _order,
}


def _spaced(text: str) -> str:
    return " ".join(plain(text).casefold().split())


def _stands(quote: str, text: str) -> bool:
    """Whether a quote stands in a text, and nothing beside it that belongs to its first or last word or number."""
    wanted = _spaced(quote)
    if wanted not in text:
        return False
    if re.search(rf"(?<![{_OWN}]){re.escape(wanted)}(?![\w%$€^]|[.,:/'-]\w| [%°€])", text):
        return True
    begins, ends = re.match(r"\W?\d|[-+<>=]", wanted), re.search(r"\d\W?\Z", wanted)
    return not begins and not ends and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None


if __name__ == "__main__":
    main()
