"""What is suggested for quotes that people damaged, and for quotes of other corpora: shares, and CPU seconds.

    python benchmarks/suggestions.py [--shared /path/to/shared/data] [--megabytes 10] [--quotes 250] [--seed 1]

Quotes are those of the pages in `tests/labels/pages/regression` and of Chroma's chunking questions, each set searched
in its own documents and about so many megabytes of others, from the installed packages and /usr/share/doc. A damaged
quote has a word left out, one or two words misspelt, two words swapped, a digit changed, or half or a third of its
words replaced by words that have nothing to do with it. Of the strangers, the quotes of the other set, none should get
a suggestion.
"""

import argparse
import csv
import json
import random
import re
import sysconfig
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from rag_evaluation_framework.labels.suggestions import suggest

PAGES = Path(__file__).resolve().parent.parent / "tests" / "quotes" / "pages" / "regression"
KINDS = ("markdown", "rst", "pdf", "man")  # spans of quotes of HTML are those of the source
SUFFIXES = {".md", ".rst", ".txt", ".py"}
OTHER_WORDS = ("river", "lantern", "because", "window", "painted", "often", "bridge", "quickly", "their", "copper")
Quote = tuple[str, str, int, int]  # text, document, first character, one past the last


def real_pages() -> tuple[list[Document], list[Quote]]:
    """Return the pages and their quotes of one span."""
    pages = [path for kind in KINDS for path in sorted((PAGES / kind).iterdir())]
    rows = [row for kind in KINDS for row in json.loads((PAGES / f"{kind}.json").read_text("utf-8"))["quotes"]]
    documents = [Document(DocumentId(page.name), page.read_bytes().decode()) for page in pages]
    return documents, [(row["quote"], row["document"], *row["spans"][0]) for row in rows if len(row["spans"]) == 1]


def chunking(folder: Path) -> tuple[list[Document], list[Quote]]:
    """Return the documents and the references of Chroma's chunking questions that were found."""
    paths = sorted((folder / "corpora").iterdir())
    quotes: list[Quote] = []
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            references: list[dict[str, Any]] = json.loads(row["references"])
            quotes += [
                (one["content"], f"{row['corpus_id']}.md", one["start_index"], one["end_index"]) for one in references
            ]
    return [Document(DocumentId(path.name), path.read_text("utf-8")) for path in paths], quotes


def others(megabytes: float) -> list[Document]:
    """Return documents of other kinds, together about so many million characters."""
    folders = [Path(sysconfig.get_path("purelib")), Path("/usr/share/doc")]
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES)
    random.shuffle(paths)
    found: list[Document] = []
    total = 0
    for path in paths:
        text = path.read_text("utf-8", errors="ignore") if path.is_file() else ""
        if total < megabytes * 1e6 and 2_000 < len(text) < 300_000:
            found.append(Document(DocumentId(str(path)), text))
            total += len(text)
    return found


def misspelt(word: str) -> str:
    """Return a word with one letter left out, added, replaced or moved."""
    at, letter = random.randrange(len(word)), random.choice("abcdefghijklmnopqrstuvwxyz")
    moved = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
    return random.choice(
        [word[:at] + word[at + 1 :], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1 :], moved]
    )


def typos(count: int) -> Callable[[list[str]], list[str]]:
    """Return what misspells so many words."""

    def damage(words: list[str]) -> list[str]:
        long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
        chosen = random.sample(long, count) if len(long) >= count else []
        return [misspelt(word) if at in chosen else word for at, word in enumerate(words)]

    return damage


def left_out(words: list[str]) -> list[str]:
    """Leave out one word within."""
    at = random.randrange(1, len(words) - 1)
    return words[:at] + words[at + 1 :]


def swapped(words: list[str]) -> list[str]:
    """Swap two neighbours."""
    at = random.randrange(len(words) - 1)
    return [*words[:at], words[at + 1], words[at], *words[at + 2 :]]


def renumbered(words: list[str]) -> list[str]:
    """Change the first digit."""
    return re.sub(r"\d", lambda found: str((int(found[0]) + 3) % 10), " ".join(words), count=1).split(" ")


def half(words: list[str]) -> list[str]:
    """Replace the first or the second half."""
    count = len(words) // 2
    new = random.choices(OTHER_WORDS, k=count)
    return [*new, *words[count:]] if random.random() < 0.5 else [*words[:-count], *new]


def third(words: list[str]) -> list[str]:
    """Replace every third word, anywhere."""
    chosen = random.sample(range(len(words)), len(words) // 3)
    return [random.choice(OTHER_WORDS) if at in chosen else word for at, word in enumerate(words)]


DAMAGES = {
    "a word left out": left_out,
    "a word misspelt": typos(1),
    "two words misspelt": typos(2),
    "two words swapped": swapped,
    "a digit changed": renumbered,
    "half replaced": half,
    "a third replaced": third,
}


def fate(given: str, quote: Quote | None, locator: QuoteLocator) -> str:
    """Return what became of a damaged quote: what is suggested for it is its own place, another, or nothing."""
    if locator.locate(given).places:
        return "located"
    found = suggest(given, locator)
    if found is None:
        return "nothing"
    _, document, start, end = quote or ("", "", 0, 0)
    span = found.spans[0]
    right = span.doc_id == document and span.start < end and start < span.end
    return "right" if right else "another"


def measure(name: str, locator: QuoteLocator, quotes: list[Quote], strangers: list[Quote]) -> None:
    """Print what is suggested in one corpus."""
    locator.locate("“no such quote anywhere in these documents”")
    print(f"{name}: {sum(len(document.content) for document in locator.corpus):,} characters")
    for damage, change in DAMAGES.items():
        long = [quote for quote in quotes if len(quote[0].split(" ")) >= (8 if "replaced" in damage else 3)]
        damaged = [(" ".join(change(quote[0].split(" "))), quote) for quote in long]
        begun = time.process_time()
        fates = Counter(fate(given, quote, locator) for given, quote in damaged if given != quote[0])
        shown = ", ".join(f"{count} {what}" for what, count in sorted(fates.items()))
        print(f"  {damage:<20} {shown} ({(time.process_time() - begun) * 1e3 / max(fates.total(), 1):.1f} ms each)")
    begun = time.process_time()
    fates = Counter(fate(quote[0], None, locator) for quote in strangers)
    seconds = time.process_time() - begun
    print(f"  {'strangers':<20} {dict(fates)} ({seconds * 1e3 / max(fates.total(), 1):.1f} ms each)")


def main() -> None:
    """Measure the suggestions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("/work/shared/data"))
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--quotes", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    sets = {"real pages": real_pages(), "chunking questions": chunking(options.shared / "chunking_questions")}
    filler = others(options.megabytes)
    for name, (documents, quotes) in sets.items():
        strangers = [quote for other, (_, rows) in sets.items() if other != name for quote in rows]
        drawn = [random.sample(rows, min(options.quotes, len(rows))) for rows in (quotes, strangers)]
        measure(name, QuoteLocator.of(Corpus([*documents, *filler])), *drawn)


if __name__ == "__main__":
    main()
