"""What it costs to locate quotes that people copied from rendered pages: CPU seconds, indexing included, and memory.

    python benchmarks/quotes.py [FOLDER ...] [--megabytes 10] [--quotes 1000]

The corpus is Markdown, HTML, which is read first, and reStructuredText from the folders (by default the documentation
among the installed packages and in /usr/share/doc). Quotes are what is shown of random places, with straight quotation
marks and joined lines; one in five has a word changed and is in no document.
"""

import argparse
import random
import re
import resource
import sysconfig
import time
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.corpus.readers.reader import read_file
from rag_evaluation_framework.errors import CorpusError
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from rag_evaluation_framework.text.markups.formats import markup_of
from rag_evaluation_framework.text.markups.markup import Markup

_SUFFIXES = {".md", ".html", ".htm", ".rst", ".txt"}
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")


def documents(folders: list[str], characters: int) -> Corpus:
    """Return documents from the folders, in random order, of about so many characters together."""
    files = [path for folder in folders for path in Path(folder).rglob("*") if path.suffix in _SUFFIXES]
    random.shuffle(files)
    found: dict[str, str] = {}
    total = 0
    for path in files:
        if total >= characters:
            break
        with suppress(CorpusError):  # of another encoding
            text, _ = read_file(path)
            if 500 < len(text) < 1_000_000:
                found[str(path)] = text
                total += len(text)
    return Corpus(Document(DocumentId(name), text) for name, text in found.items())


@lru_cache(1000)
def _shown(document: Document) -> Markup:
    return markup_of(document.id, document.content)


def copied(document: Document) -> str:
    """Return what is shown at a random place of a document, as it is copied."""
    start = random.randrange(len(document.content))
    shown = _shown(document).shown(start, start + random.randint(60, 500))
    words = re.sub(r"\s+", " ", shown.translate(_STRAIGHT)).split(" ")[1:-1]
    return " ".join(words[:40])


def main() -> None:
    """Locate the quotes, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=[sysconfig.get_path("purelib"), "/usr/share/doc"])
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--quotes", type=int, default=1000)
    options = parser.parse_args()
    random.seed(12)
    corpus = documents(options.folders, int(options.megabytes * 1e6))
    quotes: list[str] = []
    while len(quotes) < options.quotes:
        quote = copied(random.choice(corpus.documents))
        if len(quote) > 20:
            quotes.append(
                quote if random.random() < 0.8 else f"{quote[: len(quote) // 2]} xylophone {quote[len(quote) // 2 :]}"
            )
    _shown.cache_clear()
    memory, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    locator = QuoteLocator.of(corpus)
    locator.locate("“no such quote anywhere in these documents”")
    indexed = time.process_time() - begun
    times: list[float] = []
    found = Counter[str]()
    for quote in quotes:
        start = time.process_time()
        places = locator.locate(quote).places
        times.append(time.process_time() - start)
        found["missing" if not places else "located" if len(places) == 1 else "ambiguous"] += 1
    characters = sum(len(document.content) for document in corpus)
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    times.sort()
    print(
        f"{characters:,} characters in {len(corpus.documents)} documents, {len(quotes)} quotes: {dict(found)}\n"
        f"views {indexed:.1f} s, all quotes {sum(times):.1f} s, together {indexed + sum(times):.1f} s of CPU; a quote: "
        f"median {times[len(times) // 2] * 1e3:.1f} ms, longest {times[-1] * 1e3:.0f} ms; {more / 1024:.0f} MB more"
    )


if __name__ == "__main__":
    main()
