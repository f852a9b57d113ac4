"""Quotes of real pages of five kinds; how they were made: pages/build.py.

Two sets: `held_out` was drawn after the locator had been written, and it was not run on it until then
(pages/held_out/FIRST_RUN.md has what it did); on `regression` it was mended.

Pages of HTML are read first; their recorded spans are those of the source, to which the reader maps its text.

Near misses are of two draws: a few of each page (pages/near_misses.py), and as many of each change as half of the
quotes of a kind (pages/misses.py), inside and at both ends, or as many as there are.

Of each set a picture of 60 quotes beside their spans was looked at: SEEN.md of the set, made by pages/pictures.py.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from tests.labels.pages.folding import folded, letters
from tests.labels.pages.marks import MARK

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels.quote_locator import QuoteLocator

PAGES = Path(__file__).parent / "pages"
SETS = ("held_out", "regression")
KINDS = [f"{name}/{kind}" for name in SETS for kind in ("markdown", "html", "rst", "pdf", "man")]

LIMIT = 20  # places of a quote
CHANGES = ("word", "digit", "sign", "comparison", "decimal mark", "negation", "word order", "another row")

FEW = {  # the pages hold no more, or none
    ("held_out/rst", "comparison"),
    *(("regression/markdown", change) for change in ("comparison", "another row")),
    ("regression/html", "another row"),
    *(("regression/rst", change) for change in ("sign", "comparison", "another row")),
    *(("regression/pdf", change) for change in ("sign", "another row")),
    *(("regression/man", change) for change in ("sign", "decimal mark", "another row")),
}

every_kind = pytest.mark.parametrize("kind", KINDS)


@cache
def sources(kind):
    return {DocumentId(page.name): page.read_bytes().decode() for page in sorted((PAGES / kind).iterdir())}


@cache
def read(kind):
    return {document.id: document for document in Corpus.from_folder(PAGES / kind, "*")}


@cache
def texts(kind):
    return {name: document.content for name, document in read(kind).items()}


@cache
def offsets_in_source(kind, name):
    """Where each character of a text that is no white space stands in its file."""
    document = read(kind)[name]
    offset = int if document.source is None else document.source.offset
    return [(at, offset(at)) for at, sign in enumerate(document.content) if sign.strip()]


def in_text(kind, name, start, end):
    """The span of a text that stands at a span of its source."""
    inside = [at for at, place in offsets_in_source(kind, name) if start <= place < end]
    return name, inside[0], inside[-1] + 1


@cache
def rows(kind):
    return json.loads((PAGES / f"{kind}.json").read_text("utf-8"))


@cache
def drawn(kind):
    """Near misses of every change; and how many there were of each, inside and at the ends."""
    return json.loads((PAGES / f"{kind}.near_misses.json").read_text("utf-8"))


def once(kind):
    return [row for row in rows(kind)["quotes"] if row["spans"]]


def several(kind):
    return [row for row in rows(kind)["quotes"] if not row["spans"]]


@cache
def locator(kind):
    return QuoteLocator.of(Corpus(Document(name, text) for name, text in texts(kind).items()))


@cache
def places(kind, quote):
    """Every place of the quote in all pages of its kind: (document, start, end) of each of its spans."""
    found = locator(kind).locate(quote, limit=LIMIT).places
    return [[(span.doc_id, span.start, span.end) for span in place] for place in found]


def true_place(kind, row):
    return [in_text(kind, row["document"], start, end) for start, end in row["spans"]]


@every_kind
def test_of_the_quotes_that_occur_once_97_in_100_are_located(kind):
    lost = [row["quote"] for row in once(kind) if len(places(kind, row["quote"])) != 1]
    assert len(lost) <= 0.03 * len(once(kind)), "\n".join(map(repr, lost))


@every_kind
def test_no_quote_is_located_at_a_wrong_span(kind):
    wrong = {
        row["quote"]: (true_place(kind, row), found)
        for row in rows(kind)["quotes"]
        if len(found := places(kind, row["quote"])) == 1 and found != [true_place(kind, row)]
    }
    assert not wrong


@every_kind
def test_a_quote_that_occurs_several_times_is_always_said_to(kind):
    assert [row["quote"] for row in several(kind) if len(places(kind, row["quote"])) < 2] == []


@every_kind
def test_of_a_quote_that_occurs_several_times_all_places_are_found_and_no_others(kind):
    wrong = {}
    for row in [row for row in several(kind) if "copies" in row]:
        found = [place for (place,) in places(kind, row["quote"])]
        missed = [(name, at) for name, at in copies(kind, row) if not any(holds(place, name, at) for place in found)]
        others = [
            (name, start, end)
            for name, start, end in found
            if not any(holds((name, start, end), *copy) for copy in copies(kind, row))
            and letters(texts(kind)[name][start:end]) != letters(row["quote"])  # where no word could be marked
        ]
        if (missed and len(found) < LIMIT) or others:
            wrong[row["quote"]] = (missed, others)
    assert not wrong


def copies(kind, row):
    return [in_text(kind, name, at, at + 1)[:2] for name, at in row["copies"]]


def holds(place, name, at):
    document, start, end = place
    return document == name and start <= at < end


@every_kind
def test_no_near_miss_is_accepted(kind):
    accepted = {
        row["quote"]: (row["change"], found)
        for row in [*rows(kind)["near_misses"], *drawn(kind)["near_misses"]]
        if (found := places(kind, row["quote"]))
    }
    assert not accepted


@every_kind
def test_there_are_enough_quotes_of_a_kind_and_of_every_change_half_as_many_near_misses_inside_and_at_both_ends(kind):
    assert len(once(kind)) >= 100
    assert sum(len(row["spans"]) == 2 for row in once(kind)) >= 10
    assert len(several(kind)) >= 5
    assert 2 * len(rows(kind)["near_misses"]) >= len(once(kind))
    for change in CHANGES:
        there_were = drawn(kind)["there_were"].get(change, {})
        places = [row["where"] for row in drawn(kind)["near_misses"] if row["change"] == change]
        assert len(places) >= min(len(once(kind)) / 2, sum(there_were.values()))
        for where, count in there_were.items():
            assert places.count(where) >= min(len(once(kind)) / 6, count)
        if (kind, change) not in FEW:
            assert len(places) >= len(once(kind)) / 2


@every_kind
def test_spans_lie_in_their_pages_which_hold_no_mark_of_the_building_script_and_no_near_miss(kind):
    for text in sources(kind).values():
        assert not MARK.search(text)
    for row in once(kind):
        covered = [sources(kind)[row["document"]][start:end] for start, end in row["spans"]]
        assert all(part and part == part.strip() for part in covered)
        assert row["spans"] == sorted(row["spans"])
    standing = "\0".join(map(folded, texts(kind).values()))
    assert [row["quote"] for row in rows(kind)["near_misses"] if folded(row["quote"]) in standing] == []


@pytest.mark.parametrize("name", SETS)
def test_twelve_quotes_of_each_kind_that_were_looked_at_have_the_spans_that_were_seen(name):
    table = (PAGES / name / "SEEN.md").read_text("utf-8")
    seen = re.findall(r"(?m)^\| \d+ \| `(\w+)/(.+?)` \| .*? \| ([\d–, ]+) \|", table)
    of_set = [kind for kind in KINDS if kind.startswith(name)]
    assert [f"{name}/{kind}" for kind, _, _ in seen] == [kind for kind in of_set for _ in range(12)]
    for kind, document, spans in seen:
        recorded = [[int(offset) for offset in span.split("–")] for span in spans.split(", ")]
        rows_of_kind = once(f"{name}/{kind}")
        assert any((row["document"], row["spans"]) == (document, recorded) for row in rows_of_kind)


@pytest.mark.parametrize("name", SETS)
def test_every_page_is_listed_with_its_licence_and_all_are_small_together(name):
    listed = (PAGES / name / "LICENCES.md").read_text("utf-8")
    pages = [page for kind in KINDS if kind.startswith(name) for page in (PAGES / kind).iterdir()]
    assert [page.name for page in pages if f"`{page.parent.name}/{page.name}`" not in listed] == []
    assert sum(file.stat().st_size for file in (PAGES / name).rglob("*.*")) < 2_000_000
