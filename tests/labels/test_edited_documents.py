"""Labels of documents that were edited: text that stands at their offsets may be that of another label."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.datasets.checks import lint_dataset
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labels import relabel
from rag_evaluation_framework.labels.alignment import partners_of
from rag_evaluation_framework.runs import retrieve
from rag_evaluation_framework.scoring import score

ANSWER = "within two days | none"
ROWS = [f"| plan {number} | {ANSWER} |\n" for number in range(10, 20)]
YES = "Yes, within 14 days of its delivery."
WASHER, LAPTOP = (f"## May a {thing} be returned?\n\n {YES}\n\n" for thing in ("washer", "laptop"))


def relabel_edited(dataset, corpus):
    found = relabel(dataset, corpus)
    return found if found.changed else None


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def span(corpus, name, text, count=0):
    content, start = corpus[name].content, -1
    for _ in range(count + 1):
        start = content.index(text, start + 1)
    return CharacterSpan(DocumentId(name), start, start + len(text), text)


def dataset_of(corpus, *spans):
    entries = [TokenLevelGroundTruth(Query(f"q{number}", f"Row {number}?"), [one]) for number, one in enumerate(spans)]
    return Dataset(entries, TOKEN, corpus=corpus)


def places(dataset):
    return {entry.query.id: [(one.doc_id, one.start) for one in entry.relevant] for entry in dataset}


TABLE = corpus_of(a=f"# Plans\n\n{''.join(ROWS)}")
SHIFTED = corpus_of(a=f"# Plans\n\n{''.join(ROWS[1:])}| plan 20 | {ANSWER} |\n")


@pytest.fixture(params=["in memory", "of a file"])
def table(request, tmp_path):
    """Every row of a table whose rows have one length is labelled with the same words."""
    made = dataset_of(TABLE, *(span(TABLE, "a.md", ANSWER, number) for number in range(10)))
    return made if request.param == "in memory" else load_dataset(save_dataset(made, tmp_path / "table.json"))


def test_a_run_takes_no_row_for_another_where_all_rows_moved_by_one(table):
    result = evaluate(BM25Retriever(), table, documents=SHIFTED, k=1)
    for query in result.queries:
        (found,) = query.relevant
        assert SHIFTED["a.md"].content[: found.start].endswith(f"plan {int(query.query_id[1:]) + 10} | ")
    assert (result.counts["scored"], result.counts["skipped"]) == (9, 1)
    (said,) = [note for note in result.notes if "rag-eval dataset update" in note]
    assert "10 labels: 0 unchanged, 9 moved, 1 gone; 1 question skipped" in said


def test_lint_says_of_every_such_label_that_it_is_elsewhere_now_or_lost(table):
    found = [finding for finding in lint_dataset(table, SHIFTED).findings if finding.kind == "place differs"]
    assert len(found) == 10
    assert {finding.severity for finding in found} == {"error"}
    moved = [finding for finding in found if "is now at" in finding.what]
    assert moved[0].what == "its document was edited, and the label is now at a.md:3:13"
    assert (len(moved), moved[0].where) == (9, "a.md:4:13")
    (gone,) = (one.what for one in found if one not in moved)
    assert gone == "its document was edited, and the label is gone from a.md"
    assert "rag-eval dataset update" in found[0].advice


NUMBERS = st.lists(st.integers(10, 30), unique=True, min_size=1, max_size=12)


@pytest.mark.no_cover
@given(NUMBERS, NUMBERS)
def test_whatever_rows_a_table_has_now_no_way_takes_a_label_for_that_of_another(were, are):
    def of(numbers):
        return corpus_of(a="# Plans\n\n" + "".join(f"| plan {number} |  {ANSWER} |\n" for number in numbers))

    before, after = of(were), of(are)
    content = after["a.md"].content
    made = dataset_of(before, *(span(before, "a.md", f" {ANSWER}", place) for place in range(len(were))))

    def in_its_row(entry):
        (one,) = entry.relevant
        return content[: one.start].rstrip(" ").endswith(f"| plan {were[int(entry.query.id[1:])]} |")

    again = relabel_edited(made, after)
    assert all(map(in_its_row, made if again is None else again.dataset))
    wrong = {finding.query.id for finding in lint_dataset(made, after).problems if "differs" in finding.kind}
    assert all(in_its_row(entry) for entry in made if entry.query.id not in wrong)


def test_rankings_are_not_scored_by_labels_that_are_elsewhere_now(table):
    rankings = retrieve(BM25Retriever(), SHIFTED, table.queries, [1])
    with pytest.raises(DatasetError, match="labelled on documents that have changed: 10 labels: 0 unchanged"):
        score(rankings, table, ["span_recall"], 1)
    found = relabel(table, SHIFTED).dataset
    assert score(rankings, found, ["span_recall"], 1).mean.keys() == {"span_recall@1"}


def test_labels_whose_document_is_unchanged_longer_or_unknown_stay_whatever_else_changed(table):
    after = corpus_of(a=TABLE["a.md"].content, b="New.\n")
    assert relabel_edited(table, after) is None
    notes = evaluate(BM25Retriever(), table, documents=after, k=1).notes
    assert "the corpus has changed since the dataset was labelled; all labelled spans still match" in notes
    assert [finding for finding in lint_dataset(table, after).findings if finding.kind == "place differs"] == []
    appended = corpus_of(a=f"{TABLE['a.md'].content}More.\n")  # to their own document
    assert relabel_edited(table, appended) is None
    unknown = dataset_of(None, *(span(TABLE, "a.md", ANSWER, number) for number in range(10)))
    assert relabel_edited(unknown, SHIFTED) is None  # its texts are where they were
    assert evaluate(BM25Retriever(), unknown, documents=SHIFTED, k=1).counts["scored"] == 10


def test_a_label_that_contradicts_the_labelled_documents_is_linted_all_the_same():
    made = dataset_of(TABLE, CharacterSpan(DocumentId("a.md"), 0, 7, "# Offer"), span(TABLE, "a.md", ANSWER))
    after = corpus_of(a=SHIFTED["a.md"].content.replace("# Plans", "# Offer"))
    assert [finding.query.id for finding in lint_dataset(made, after).findings if finding.kind == "place differs"] == [
        "q1"
    ]


def test_partners_of_many_documents_take_little_memory_and_a_text_that_all_have_is_not_compared_in_all_pairs():
    chance = random.Random(1)
    texts = [" ".join(str(chance.randrange(30_000)) for _ in range(200)) for _ in range(1_000)]
    heads = [f"the same head on all pages, then {n} {n + 1} {n + 2}" for n in range(2_000)]
    for names, old, new, most in (
        ("{0} {0}", [f"a {text}" for text in texts], [f"b {text}" for text in texts], 64e6),  # 160 bytes for each word
        ("old {}", heads, heads, 100e6),  # no 4 million pairs for each run
    ):
        before = [Document(DocumentId(names.format(n)), text) for n, text in enumerate(old)]
        after = [
            Document(DocumentId(one.id.replace("old", "new")), text) for one, text in zip(before, new, strict=True)
        ]
        tracemalloc.start()
        try:
            assert partners_of(before, after) == {one.id: other.id for one, other in zip(before, after, strict=True)}
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < most
