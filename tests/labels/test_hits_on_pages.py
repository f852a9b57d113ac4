"""Results of retrievers over pages, and rows, of files: where they are, as metadata tell the page or the row."""

import pytest

from rag_evaluation_framework import Corpus, evaluate
from rag_evaluation_framework.adapt import as_hits
from rag_evaluation_framework.labels.hit_locator import HitLocator

TERMS = "Warranty: two years."
PAGES = [
    {"text": f"Pump {name}.\n{TERMS}", "source": "docs/pumps.pdf", "page": page} for page, name in enumerate("ABC")
]
CORPUS = Corpus.of(PAGES)
LENGTH = len("Pump A.\n" + TERMS + "\n\n")


def place_of(corpus=CORPUS, text=TERMS, **metadata):
    """The document and the start of a result with these metadata."""
    (hit,) = as_hits([{"text": text, "metadata": {"source": "docs/pumps.pdf", **metadata}}], "mine")
    (found,) = HitLocator(corpus).place((hit,))
    return found.doc_id, found.start


@pytest.mark.parametrize("page", [0, 1, 2])
@pytest.mark.parametrize("start", [{"start_index": 8}, {}], ids=["start", "no start"])
def test_a_result_is_on_the_page_that_its_metadata_tell(page, start):
    place = "pumps.pdf", page * LENGTH + 8
    assert place_of(page=page, **start) == place
    assert place_of(page_label=str(page + 1), **start) == place
    assert place_of(page_number=page + 1, **start) == place
    assert place_of(page=page, page_label="iv", **start) == place


@pytest.mark.parametrize(
    ("text", "told", "start"),
    [
        (TERMS, {"page": 1, "start_index": LENGTH + 8}, LENGTH + 8),  # a start may count in the whole document
        ("Pump C.", {"page": 0, "start_index": 0}, 2 * LENGTH),
        ("Pump C.", {"page": 9}, 2 * LENGTH),
    ],
)
def test_a_text_that_is_not_on_its_page_is_where_it_is(text, told, start):
    assert place_of(text=text, **told) == ("pumps.pdf", start)


def test_the_row_of_a_table_is_the_document_and_a_document_that_is_called_by_a_number_is_none():
    rows = [{"text": f"town: {town}\nnote: same", "source": "towns.csv", "row": row} for row, town in enumerate("xyz")]
    assert place_of(Corpus.of(rows), "note: same", source="towns.csv", row=2) == ("towns.csv/2", 8)
    numbered = Corpus.of([{"id": str(number), "text": f"note: same, {name}"} for number, name in enumerate("xyz", 2)])
    assert place_of(numbered, "note: same", source="towns.csv", row=3) == ("2", 0)  # the first place of the text
    assert place_of(numbered, "note: same, z", source="towns.csv", row=2) == ("4", 0)


def test_a_document_without_a_place_keeps_the_name_of_its_file():
    (hit,) = as_hits([{"text": "no such text", "metadata": {"source": "pumps.pdf", "page": 1}}], "mine")
    assert [HitLocator(corpus).place((hit,))[0].doc_id for corpus in (CORPUS, Corpus([]))] == ["pumps.pdf", "pumps.pdf"]


def test_a_page_that_repeats_another_ones_text_scores_alone():
    quoted = [{"question": "Warranty of C?", "quote": f"Pump C.\n{TERMS}"}]

    def one(page):
        return lambda query, k: [{"text": TERMS, "metadata": {"source": "pumps.pdf", "page": page, "start_index": 8}}]

    scores = [evaluate(one(page), quoted, documents=PAGES, k=[1], budgets=[]) for page in (0, 2)]
    assert [result.metrics["span_recall@1"] > 0 for result in scores] == [False, True]


def test_a_name_as_urls_and_to_trec_write_it_is_that_of_the_document():
    corpus = Corpus.of([{"id": "safety sheet.pdf", "text": "Leave by the gate."}, {"id": "100%25.md", "text": "All."}])
    hits = as_hits(
        [{"doc_id": name} for name in ("safety%20sheet.pdf", "/srv/safety%20sheet.pdf", "100%25.md")], "mine"
    )
    placed = HitLocator(corpus).place(hits)
    assert [hit.doc_id for hit in placed] == ["safety sheet.pdf", "safety sheet.pdf", "100%25.md"]


@pytest.mark.parametrize(("told", "starts"), [({}, [11, 16]), ({"id": "7"}, [11, 11])], ids=["texts", "one chunk"])
def test_results_of_one_page_take_one_place_each_unless_it_is_one_chunk_that_comes_again(told, starts):
    twice = Corpus.of([{**PAGES[0], "text": "a b. a b."}, {**PAGES[1], "text": "a b. a b."}])
    hits = as_hits([{**told, "text": "a b.", "metadata": {"source": "pumps.pdf", "page": 1}}] * 2, "mine")
    locator = HitLocator(twice)
    assert [hit.start for hit in locator.place(hits)] == starts
    assert locator.ambiguous == {"a b."}


@pytest.mark.parametrize("told", [{"file_path": "docs/pumps.pdf", "page": 2}, {"page": 7, "page_number": 2}])
def test_from_where_pages_count_is_not_guessed(told):
    (hit,) = as_hits([{"text": "Pump B.", "metadata": told}], "mine")
    assert HitLocator(CORPUS).place((hit,))[0].start == LENGTH
    assert "page 3" not in str(hit.sources)
