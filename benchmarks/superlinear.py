"""Work that once took the square of its input, at n, 4n and 16n.

    python benchmarks/superlinear.py [--only NAME] [--limit 1.4] [--json]

Each case is run in fresh processes, one for each size: CPU seconds of the work alone, the input made before, without
the garbage collector. The growth is the exponent of the seconds from the smallest to the largest size: 1 is linear, 2
quadratic, n log n 1.1. Where 16n no longer fits the processor's caches, and on a busy machine, up to 0.3 more was
measured of work that is linear. A size is not run where the one before says that it would take longer than 120 seconds,
and shown as "–". If a case grows faster than the limit, twice, takes too long or too much memory, the script ends with
1. What takes less than 50 ms at 16n is not judged. `against.py` has each case at 4n beside an earlier commit.

The texts that a function returns are placed in documents of 7,000 characters per text, 70 MB for 10,000 of them: words
by Zipf's law, of which there are new ones all the time, in pages that share a head and a foot, every fourth of them a
table of numbers, every twentieth a copy of an earlier one. The texts have 100 to 1,200 characters. "Beyond MB" is the
peak of the process's memory above what it was with documents and texts, in 10^6 bytes; the documents are 70 of these at
16n, or 140 where a character takes two bytes. Placing them may take 4 times as much, or 10 times by their words or in
one document; other work that takes more than 50 MB may not grow faster than the limit. What takes less than it took to
make its input shows as 0.
"""

import os

# Read when NumPy is loaded; threads that wait for each other would count as CPU time.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import gc
import json
import re
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import accumulate
from math import log
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkerPositionAdapter,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    PositionAwareChunk,
    Query,
    RecursiveCharacterChunker,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.base.files import parse_json
from rag_evaluation_framework.components import MarkdownHeaderChunker, SentenceChunker
from rag_evaluation_framework.corpus.readers.html import HtmlReader
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.data.documents import DocumentResolver
from rag_evaluation_framework.labels import check_quotes, relabel
from rag_evaluation_framework.labels.hit_locator import HitLocator
from rag_evaluation_framework.text.terms import words
from rag_evaluation_framework.types import QueryId, QueryText

REPOSITORY = Path(__file__).resolve().parent.parent
CHARACTERS_PER_TEXT, PAGE_OF_A_SITE = 7_000, 35_000
MOST_SECONDS, NOT_JUDGED, MB_NOT_JUDGED = 120, 0.05, 50
CORPORA, LARGE = 4, 10  # that placing texts may take in memory, and by their words or in one document
FOOTER = "All rights reserved. "

Work = Callable[[], object]
Case = Callable[[int], Work]


def prose(length: int, seed: int = 0) -> str:
    """Return words by Zipf's law, about one in ten of which is new."""
    random = Random(seed)
    known = [f"w{random.randrange(36**4):x}" for _ in range(5_000)]
    weights = list(accumulate(1 / rank for rank in range(1, len(known) + 1)))
    chosen = random.choices(known, cum_weights=weights, k=length // 5 + 1)
    return " ".join(f"{word}{number:x}" if number % 10 == 0 else word for number, word in enumerate(chosen))[:length]


def site(characters: int, wide: bool) -> list[str]:
    """Return documents of a site: a head and a foot, and between them words or a table of numbers."""
    random = Random(1)
    head = "".join(f'<li class="nav"><a href="/{name}">{name}</a></li>\n' for name in prose(3_000, 2).split())
    foot = "<footer>© 2026 All rights reserved.</footer>\n" * 20 + " " * 500 + "-" * 500
    pages: list[str] = []
    while sum(map(len, pages[-1:])) * len(pages) < characters:
        number = len(pages)
        if number % 20 == 19:
            pages.append(pages[random.randrange(number)])
            continue
        room = PAGE_OF_A_SITE - len(head) - len(foot)
        if number % 4 == 3:
            rows = (f"<tr><td>{random.randrange(100)}</td><td>{random.randrange(100)}</td></tr>\n" for _ in range(900))
            body = "".join(rows)[:room].ljust(room, "-")
        else:
            body = prose(room, number)
        pages.append(head + ("中" if wide else "") + body + foot)
    return pages


def corpus_of(texts: list[str]) -> Corpus:
    """Return a corpus of these documents."""
    return Corpus(Document(DocumentId(f"{number}/index.html"), text) for number, text in enumerate(texts))


def placing(
    change: Callable[[str], str] = str, shortest: int = 100, longest: int = 1_200, wide: bool = False, one: bool = False
) -> Case:
    """Return the case of placing n texts of a site, or of all its pages in one document, changed."""

    def case(n: int) -> Work:
        pages, random = site(n * CHARACTERS_PER_TEXT, wide), Random(3)
        asked: dict[str, None] = {}
        while len(asked) < n:
            length, page = random.randint(shortest, longest), random.choice(pages)
            start = random.randrange(len(page) - length)
            asked[change(page[start : start + length])] = None
        corpus = corpus_of(["".join(pages)] if one else pages)

        def work() -> None:
            locator = HitLocator(corpus)
            for text in asked:
                locator.place((Hit(text=text),))

        return work

    return case


def respaced(text: str) -> str:
    """Return a text with other white space."""
    return text.replace(" ", "\n")


def altered(text: str) -> str:
    """Return a text that is nowhere."""
    return f"{text[: len(text) // 2]}\N{SNOWMAN}{text[len(text) // 2 :]}"


def checking(quotes: list[str], corpus: Corpus) -> Work:
    """Check quotes that are nowhere or at many places, which shows what each of them may mean."""

    def work() -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "quotes.jsonl")
            rows = ({"question": f"question {number}", "quote": quote} for number, quote in enumerate(quotes))
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            check = check_quotes(path, corpus)
        if any(row.status == "located" for row in check.rows):
            raise SystemExit("a quote was located that is not at one place")

    return work


def missing_quote(n: int) -> Work:
    """Check a quote of n characters."""
    texts = [prose(100_000, seed) for seed in range(5)]
    return checking(["X".join(texts[3][start : start + 20] for start in range(0, n, 20))], corpus_of(texts))


def missing_quotes(n: int) -> Work:
    """Check n quotes."""
    text = prose(50_000 * n)
    quotes = [altered(text[start : start + 200]) for start in range(0, 1_000 * n, 1_000)]
    pages = [text[start : start + 1_000_000] for start in range(0, len(text), 1_000_000)]
    return checking(quotes, corpus_of(pages))


def copied_quotes(n: int) -> Work:
    """Check n quotes of n pages of 3,000 characters: verbatim, as they are shown, with other white space, or short."""
    text, random = prose(3_000 * n), Random(4)
    pages = [
        re.sub(r"(\w+)e (\w+) ", r"**\1e** \2\n", text[start : start + 3_000]) for start in range(0, len(text), 3_000)
    ]
    forms: list[Callable[[str], str]] = [
        str,
        lambda quote: quote.replace("*", "").replace("\n", " "),
        lambda quote: f"“{quote.replace('*', '')}”",
        lambda quote: " ".join(quote.split()[:3]),
        lambda quote: quote.replace(" ", "  "),
    ]
    rows: list[str] = []
    for number, page in enumerate(pages):
        start = random.randrange(len(page) - 300)
        quote = page[start : start + random.randint(60, 200)].partition(" ")[2].rpartition(" ")[0]
        rows.append(json.dumps({"question": f"question {number}", "quote": forms[number % 5](quote)}) + "\n")
    corpus = Corpus(Document(DocumentId(f"{number}.md"), page) for number, page in enumerate(pages))

    def work() -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "quotes.jsonl")
            path.write_text("".join(rows))
            check = check_quotes(path, corpus)
        if sum(row.status == "located" for row in check.rows) < 0.7 * n:
            raise SystemExit("too few quotes were located")

    return work


def labelled(edit: Callable[[str], str], keeps: bool = True) -> Case:
    """Return the case of following n labels of n pages, all of which an edit has lost, through one more edit."""

    def case(n: int) -> Work:
        text = prose(1_500 * n)
        pages = [text[start : start + 1_500] for start in range(0, len(text), 1_500)]
        labels = [
            TokenLevelGroundTruth(
                Query.from_text(f"question {number}"),
                (CharacterSpan(DocumentId(f"{number}.md"), 0, 100, page[:100]),),
            )
            for number, page in enumerate(pages)
        ]
        first, lost, last = (
            Corpus(Document(DocumentId(f"{number}.md"), change(page)) for number, page in enumerate(pages))
            for change in (str, edit, lambda page: f"{edit(page)}\nOne more.")
        )
        dataset = Dataset(labels, TOKEN, corpus=first) if keeps else Dataset(labels, TOKEN)
        dataset = relabel(dataset, lost).dataset if keeps else dataset

        def work() -> None:
            if relabel(dataset, last).dataset.queries:
                raise SystemExit("a label was placed that is nowhere")

        return work

    return case


def opened(name: str, markup: str, first: str = "", last: str = "") -> Case:
    """Return the case of a document of n characters of markup that is opened and never closed."""

    def case(n: int) -> Work:
        text = first + markup * (n // len(markup)) + last
        page = Document(DocumentId(name), f"{text}\n\nThe end of the page.\n")
        return checking(["The end is on no page."], Corpus([page]))

    return case


def repeated(text: str, quote: str, last: str) -> Case:
    """Return the case of a document of n characters that repeats itself, and a quote that does so."""

    def case(n: int) -> Work:
        page = Document(DocumentId("page.md"), text * (n // len(text)))
        return checking([f"{quote * (n // 5 // len(quote))}{last}"], Corpus([page]))

    return case


def many_parts(n: int) -> Work:
    """Check a quote of n parts, each of which is at 300 places."""
    return checking([" … ".join(["a"] * n)], corpus_of(["a b, " * 300]))


def duplicate_key(n: int) -> Work:
    """Read an object of n keys, the last of which is there twice."""
    text = json.dumps({f"key{number}": number for number in range(n)})[:-1] + f', "key{n - 1}": 0}}'

    def work() -> None:
        try:
            parse_json(text)
        except ValueError:
            return
        raise SystemExit("a duplicate key was not refused")

    return work


def questions(n: int) -> Dataset[CharacterSpan]:
    """Return n questions with the same answer."""
    answer = (CharacterSpan(DocumentId("0/index.html"), 0, 5),)
    queries = (Query(QueryId(f"q{number}"), QueryText(f"Question {number}?")) for number in range(n))
    entries = [TokenLevelGroundTruth(query, answer) for query in queries]
    return Dataset(entries, TOKEN, name="questions", corpus=corpus_of([FOOTER * 20]))


def result_of(n: int, count_as_zero: tuple[Any, ...] = ()) -> Any:
    """Return the result of n questions."""

    def search(query: str, k: int) -> list[dict[str, Any]]:
        start = len(query) % 3
        return [{"doc_id": "0/index.html", "start": start, "end": start + 9}][:k]

    return evaluate(search, questions(n), k=5, count_as_zero=count_as_zero)


def worst_printed(n: int) -> Work:
    """Print n of the worst questions."""
    result = result_of(n, ("failed",))
    return lambda: [str(query) for query in result.worst(n)]


def compared(n: int) -> Work:
    """Compare two results of n questions."""
    result, few = result_of(n), result_of(1)
    repr(few.compare(few))  # loads the pages
    return lambda: repr(result.compare(result))


def summarised(n: int) -> Work:
    """Print a result of n questions, of which each failed in its own way."""

    def search(query: str, k: int) -> list[str]:  # noqa: ARG001
        raise LookupError(query)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluate(search, questions(n), k=5)
        repr(evaluate(search, questions(1), k=5))  # loads the pages
    return lambda: repr(result)


def one_text_many_times(n: int) -> Work:
    """Place a ranking of n times the same text, which occurs n times."""
    corpus, ranking = corpus_of([FOOTER * n]), (Hit(text=FOOTER),) * n
    return lambda: HitLocator(corpus).place(ranking)


def one_name_in_many_folders(n: int) -> Work:
    """Look for n file names that are in n folders."""
    resolver = DocumentResolver(corpus_of([""] * n))
    return lambda: [resolver.alike(f"docs/{number}/index.html") for number in range(n)]


def registered(n: int) -> Work:
    """Look up n chunks of the same text."""
    document = Document(DocumentId("a"), FOOTER * n)
    places = range(0, len(document.content), len(FOOTER))
    chunks = [PositionAwareChunk.of(document, start, start + len(FOOTER)) for start in places]
    registry = ChunkRegistry(chunks)
    return lambda: [registry.get(chunk.id) for chunk in chunks if chunk.id in registry]


def chunked(chunker: Any, document: Callable[[int], str]) -> Case:
    """Return the case of cutting a document of n characters."""

    def case(n: int) -> Work:
        warnings.simplefilter("ignore")
        given = Document(DocumentId("a"), document(n))
        chunker.chunk_with_positions(Document(DocumentId("a"), "# A heading"))  # loads what reads them
        return lambda: chunker.chunk_with_positions(given)

    return case


def tiles(change: Callable[[str], str]) -> ChunkerPositionAdapter:
    """Return the adapter of a chunker that cuts every 200 characters, and changes what it cuts."""

    def cut(text: str) -> list[str]:
        return [change(text[start : start + 200]) for start in range(0, len(text), 200)]

    return ChunkerPositionAdapter(cut)


def long_word(n: int) -> Work:
    """Index a word of n characters, and search for it."""
    corpus = corpus_of(["x" * n, "two words"])

    def work() -> None:
        retriever = BM25Retriever()
        retriever.index(corpus)
        retriever.retrieve("x" * n, 5)

    return work


def marks(n: int) -> Work:
    """Find the words of n combining marks that are not in their order."""
    text = "e" + "\u0301\u0327" * (n // 2)
    return lambda: words(text, None)


def read(piece: str) -> Case:
    """Return the case of reading n characters of HTML that repeat a piece."""

    def case(n: int) -> Work:
        reader = HtmlReader()
        page = (piece * (n // len(piece))).encode()
        return lambda: reader.read(page)

    return case


HEADINGS = chunked(MarkdownHeaderChunker(), lambda n: "#### a\n" * (n // 7))
CASES: dict[str, tuple[int, Case]] = {
    "place n texts": (625, placing()),
    "place n texts with other white space": (625, placing(respaced)),
    "place n texts with other white space, one document": (625, placing(respaced, one=True)),
    "place n texts that are nowhere": (625, placing(altered)),
    "place n texts without white space": (625, placing(lambda text: "".join(text.split()))),
    "place n texts of 12 to 60 characters": (625, placing(shortest=12, longest=60)),
    "place n texts, two bytes a character": (625, placing(wide=True)),
    "place one text n times": (2_000, one_text_many_times),
    "a missing quote of n characters": (4_000, missing_quote),
    "n missing quotes in n × 50,000 characters": (12, missing_quotes),
    "n quotes in n pages": (400, copied_quotes),
    "follow n labels that were lost": (200, labelled(lambda page: re.sub(r"(\w+ \w+ \w+) \w+", r"\1 new", page))),
    "follow n labels whose lines are gone": (200, labelled(lambda page: page[200:])),
    "look for n labels whose texts are not kept": (50, labelled(lambda page: page[200:], keeps=False)),
    "quotes: n characters of opened brackets": (30_000, opened("page.md", "[ ")),
    "quotes: n characters of opened images": (30_000, opened("page.md", "![a ")),
    "quotes: n characters of opened emphasis": (30_000, opened("page.md", "*a **b ")),
    "quotes: n characters of opened code": (30_000, opened("page.md", "`a ``b ")),
    "quotes: n characters of opened tags": (30_000, opened("page.md", "<a ")),
    "quotes: n characters of opened roles": (30_000, opened("page.rst", ":a:`b ")),
    "quotes: n characters of opened comments": (30_000, opened("page.md", "<!--‹!--", "x ")),
    "quotes: n characters of opened scripts": (30_000, opened("page.md", "<svg>", "x ")),
    "quotes: n characters of list markers": (30_000, opened("page.md", "- ", last="x")),
    "quotes: n blanks of a rule that is none": (30_000, opened("page.md", " ", "***", "x")),
    "quotes: n blanks in a heading": (30_000, opened("page.md", " ", "# a", "x")),
    "quotes: n blanks in an admonition": (30_000, opened("page.md", " ", "!!! a", "(")),
    "quotes: n characters of words and colons": (30_000, opened("page.rst", ":a")),
    "quotes: n characters of numbers and colons": (30_000, opened("page.rst", "00:")),
    "quotes: n characters of words and points": (30_000, opened("page.rst", "a.aa.")),
    "quotes: n characters that repeat a word": (30_000, repeated("a ", "A ", "")),
    "quotes: n characters of a table of zeros": (30_000, repeated("| 0 | 0 |\n", "0\t0\n", "0, 0")),
    "quotes: n characters of one letter": (30_000, repeated("a", "a", "”")),
    "a quote of n parts": (50, many_parts),
    "a duplicate key among n": (10_000, duplicate_key),
    "print the n worst": (1_000, worst_printed),
    "compare n questions": (2_000, compared),
    "print n failures": (2_000, summarised),
    "n file names in n folders": (1_000, one_name_in_many_folders),
    "n chunks of one text": (1_000, registered),
    "n combining marks": (80_000, marks),
    "a word of n characters": (300_000, long_word),
    "markdown: n characters of headings": (20_000, HEADINGS),
    "markdown: n backticks": (300_000, chunked(MarkdownHeaderChunker(), lambda n: "`" * n)),
    "markdown: n characters of fences": (80_000, chunked(MarkdownHeaderChunker(), lambda n: "```\n~~~~\n" * (n // 9))),
    "html: n characters of nested blocks": (50_000, read("<div>a ")),
    "html: n characters of nested tables": (50_000, read("<table><tr><td>a")),
    "html: n characters of nested emphasis": (50_000, read("<b>a<p>")),
    "html: n characters of wrong nesting": (50_000, read("<b><i>a</b>")),
    "html: n characters of text in tables": (50_000, read("<table>a<tr>")),
    "html: n signs": (100_000, read("<")),
    "html: n characters of opened tags": (300_000, read("<a ")),
    "html: n characters of opened comments": (300_000, read("a <!--")),
    "html: n characters of tags that end nothing": (75_000, read("a</x>")),
    "html: n characters of entities": (300_000, read("&amp; &lt")),
    "html: n characters of line breaks": (75_000, read("<br>")),
    "html: n characters of paragraphs": (300_000, read("<p>It is <b>so</b>.\n")),
    "html: n characters of preformatted lines": (300_000, read("<pre>\r\na\r\n")),
    "recursive: n characters without a blank": (300_000, chunked(RecursiveCharacterChunker(), lambda n: "x" * n)),
    "recursive: n line breaks": (300_000, chunked(RecursiveCharacterChunker(), lambda n: "\n" * n)),
    "sentences: n characters without a blank": (300_000, chunked(SentenceChunker(), lambda n: "x" * n)),
    "sentences: n characters of abbreviations": (80_000, chunked(SentenceChunker(), lambda n: "A.B. " * (n // 5))),
    "adapter: n characters, chunks changed": (200_000, chunked(tiles(str.swapcase), prose)),
    "adapter: n characters, other white space": (200_000, chunked(tiles(respaced), prose)),
    "adapter: n characters of headings": (5_000, chunked(tiles(respaced), lambda n: "#### a\n" * (n // 7))),
}


def megabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def measured(name: str, size: int) -> dict[str, float]:
    """Return what one case costs in this process."""
    work = CASES[name][1](CASES[name][0] * 4**size)
    gc.collect()
    gc.disable()
    before = megabytes()
    start = process_time()
    work()
    return {"run_seconds": process_time() - start, "beyond_mb": megabytes() - before}


def in_a_process(name: str, size: int) -> dict[str, float]:
    """Return what `measured` measures, in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--here", str(size), "--only", name]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(done.stderr)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def sizes(name: str) -> list[dict[str, float]]:
    """Return the figures of a case at n, 4n and 16n, as far as they do not take too long."""
    found: list[dict[str, float]] = []
    for size in range(3):
        seconds = [figures["run_seconds"] for figures in found]
        growth = max(4.0, seconds[-1] / seconds[-2]) if len(seconds) > 1 else 4.0
        if seconds and seconds[-1] * growth > MOST_SECONDS:
            break
        found.append(in_a_process(name, size))
    return found


def growth(found: list[dict[str, float]], what: str = "run_seconds", least: float = 1e-6) -> float | None:
    """Return the exponent from the first size to the last, None if there is only one; less than `least` is that."""
    if len(found) < 2:
        return None
    return log(max(found[-1][what], least) / max(found[0][what], least), 4 ** (len(found) - 1))


def too_fast(found: list[dict[str, float]], limit: float) -> bool:
    """Return whether a case grows faster than n to the limit, or takes too long to be run."""
    exponent = growth(found)
    if exponent is None or len(found) < 3:
        return True
    return found[-1]["run_seconds"] > NOT_JUDGED and exponent > limit


def too_large(name: str, found: list[dict[str, float]], limit: float) -> bool:
    """Return whether a case takes more memory than it may; pages that the allocator keeps are not judged."""
    most = found[-1]["beyond_mb"]
    if name.startswith("place n texts"):
        bytes_each = 2 if name.endswith("two bytes a character") else 1
        corpus = CASES[name][0] * 4 ** (len(found) - 1) * CHARACTERS_PER_TEXT * bytes_each / 1e6
        is_large = name.endswith(("that are nowhere", "without white space", "one document"))
        return bool(most > (LARGE if is_large else CORPORA) * corpus)
    exponent = growth(found, "beyond_mb", 1.0)
    return most > MB_NOT_JUDGED and exponent is not None and exponent > limit


def line(name: str, found: list[dict[str, float]]) -> str:
    """Return a row of the table."""
    seconds = [f"{figures['run_seconds']:9.3f}" for figures in found] + [f"{'–':>9}"] * (3 - len(found))
    exponent = growth(found)
    shown = "–" if exponent is None else f"{exponent:.2f}"
    return f"{name:48}{CASES[name][0]:>9,}{''.join(seconds)}{shown:>8}{found[-1]['beyond_mb']:11.0f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=sorted(CASES), metavar="NAME", help="one of the cases")
    parser.add_argument("--limit", type=float, default=1.4, help="what the growth may be at most")
    parser.add_argument("--json", action="store_true", help="print one JSON object of the figures, last")
    parser.add_argument("--here", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    chosen: list[str] = arguments.only or list(CASES)
    if arguments.here is not None:
        print(json.dumps(measured(chosen[0], arguments.here)))
        return
    figures: dict[str, Any] = {}
    failed: list[str] = []
    print(f"{'':48}{'n':>9}{'at n':>9}{'at 4n':>9}{'at 16n':>9}{'growth':>8}{'beyond MB':>11}")
    for name in chosen:
        found = sizes(name)
        if too_fast(found, arguments.limit):  # the clock of a busy machine may be wrong once
            found = sizes(name)
        print(line(name, found), flush=True)
        figures[name] = {"n": CASES[name][0], "figures": found, "growth": growth(found)}
        if too_fast(found, arguments.limit):
            failed.append(f"{name}: grows faster than n to the {arguments.limit}")
        if too_large(name, found, arguments.limit):
            failed.append(f"{name}: takes too much memory, {found[-1]['beyond_mb']:.0f} MB beyond its input")
    if arguments.json:
        print(json.dumps({"limit": arguments.limit, "cases": figures}))
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
