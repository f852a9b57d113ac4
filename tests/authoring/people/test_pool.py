import sys

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.authoring.people import Pool, copies_of, trimmed
from rag_evaluation_framework.authoring.people.passages import is_contents
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.text.text_locator import SearchedTexts

BILLING = "# Billing\n\nInvoices come first.\n\n## Refunds\n\nRefunds take five working days after they were approved."
COPY = "## Refunds\n\nRefunds take five working days\nafter they were approved."
CORPUS = Corpus(
    [
        Document(DocumentId("billing.md"), BILLING),
        Document(DocumentId("copy.md"), COPY),
        Document(DocumentId("other.md"), "The agent sends a heartbeat. Zebras sleep."),
    ]
)


def place(passage):
    return passage.doc_id, passage.start


def test_a_passage_holds_whole_sentences_of_one_section():
    long = " ".join(f"This is sentence number {number}." for number in range(40))
    corpus = Corpus([Document(DocumentId("a.md"), f"# One\n\nFirst. Second.\n\n# Two\n\n{long}")])
    passages = Pool(corpus).found("first sentence").passages
    assert "# One\n\nFirst. Second." in [passage.text.strip() for passage in passages]
    assert all(len(passage.text) <= 400 and passage.text.strip().endswith(".") for passage in passages)


def test_equal_texts_are_one_passage_that_is_counted():
    pool = Pool(CORPUS)
    passages = pool.found("How long does a refund take?").passages
    refunds = [passage for passage in passages if "five working days" in passage.text]
    assert len(refunds) == 1
    assert [place(copy) for copy in pool.copies(refunds[0])] == [
        ("billing.md", BILLING.index("## Refunds")),
        ("copy.md", 0),
    ]
    assert [place(passage) for passage in passages].count(place(refunds[0])) == 1


def test_what_finds_typed_words_and_copies_indexes_the_documents_once(monkeypatch):
    indexed = []
    index = SearchedTexts.__init__
    monkeypatch.setattr(SearchedTexts, "__init__", lambda self, *given: indexed.append(1) or index(self, *given))
    pool = Pool(CORPUS)
    (passage,) = pool.found("heartbeat").passages[:1]
    for typed in ("the agent sends", "sends a heartbeat"):
        span = trimmed(typed, passage, pool.locator)
        assert span.text.lower() == typed
        assert copies_of(passage, pool.locator.verbatim) == ()
    assert len(indexed) == 3  # as they are written, as they are shown, and up to white space


def test_rankings_are_interleaved_and_the_own_retriever_is_asked_for_the_same_depth():
    asked = []

    def own(query, k):
        asked.append((query, k))
        return ["Zebras sleep.", "Invoices come first."]

    pool = Pool(CORPUS, own)
    passages = pool.found("refund").passages
    assert asked == [("refund", 50)]
    bm25, vectors, found = ([*map(place, pool._ranked(*one, "refund", []))] for one in pool._asked)
    assert found == [("other.md", 0), ("billing.md", 0)]
    assert ("other.md", 0) not in (bm25[0], vectors[0])
    firsts = [*dict.fromkeys([bm25[0], vectors[0], found[0]])]
    assert [place(passage) for passage in passages][: len(firsts)] == firsts


def test_what_an_own_retriever_finds_is_shown_as_the_passages_that_it_covers():
    start = BILLING.index("## Refunds")
    whole = [{"doc_id": "billing.md", "start": 0, "end": len(BILLING)}]
    passages = {place(passage) for passage in Pool(CORPUS, lambda query, k: whole).found("Zebras").passages}
    assert {("billing.md", 0), ("billing.md", start)} <= passages
    few = [CharacterSpan(DocumentId("billing.md"), start + 12, start + 20)]
    found = Pool(CORPUS, lambda query, k: few)._ranked
    pool = Pool(CORPUS, lambda query, k: few)
    assert [place(passage) for passage in found(*pool._asked[-1], "Zebras", [])] == [("billing.md", start)]


def test_results_that_are_no_text_of_the_documents_are_told():
    found = Pool(CORPUS, lambda query, k: ["Nobody wrote this.", "Zebras sleep."]).found("Zebras")
    (problem,) = found.problems
    assert problem.endswith("1 of 2 results are not text of the documents")


def failing(error):
    def own(query, k):
        raise error

    return Pool(CORPUS, own)


@pytest.mark.parametrize("error", [RuntimeError("down"), SystemExit(0)])
def test_a_retriever_that_fails_leaves_the_passages_of_the_others_and_an_interrupt_is_passed_on(error):
    found = failing(error).found("refund")
    (problem,) = found.problems
    assert "own could not be asked, so its passages are missing" in problem
    assert any("Refunds" in passage.text for passage in found.passages)
    assert found.answered == {0, 1}
    with pytest.raises(KeyboardInterrupt):
        failing(KeyboardInterrupt()).found("refund")


def test_the_record_names_the_retrievers_that_answered_with_their_parameters_and_the_depth():
    pool = Pool(CORPUS, lambda query, k: [])
    record = pool.record(pool.found("refund").answered)
    assert record["depth"] == 50
    assert [retriever["type"] for retriever in record["retrievers"]][:2] == ["bm25", "vector-rag"]
    assert record["retrievers"][0]["chunker"]["chunk_size"] == 400
    assert "function" in record["retrievers"][2]
    assert [retriever["type"] for retriever in pool.record({1})["retrievers"]] == ["vector-rag"]


def test_without_the_package_of_vectors_words_find_passages_and_this_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    pool = Pool(CORPUS)
    (told,) = pool.notes
    assert told.startswith("Passages are found by words alone, not by vectors: ")
    assert "rag-evaluation-framework[local]" in told
    assert [retriever["type"] for retriever in pool.record({0, 1, 2})["retrievers"]] == ["bm25"]
    assert "Refunds" in pool.found("refund").passages[0].text


def test_what_is_no_retriever_is_refused():
    with pytest.raises(ConfigError):
        Pool(CORPUS, 7)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("## Contents\n\n- [One](#one)\n  - [Two](two.md#a)\n3. [Three](../three.md)\n", True),
        ("| [AMIs](#amis) | [basics](#ami-basics) | [tips](#tips) |\n| [S3](#s3) |\n", True),
        ("1 Introduction . . . . . . . 3\n1.1 Scope............ 12\n17\n", True),
        ("**In general**\n- [One](#one)\n- [Two](#two)\n", True),
        ("- [One](https://one.example)\n- [Two](https://two.example)\n", False),  # which sites there are
        ("## License\n\n[MIT](LICENSE)\n", False),
        ("| [`span_iou`](#span_iou) | intersection over union |\n| [`span_f1`](#span_f1) | harmonic mean |\n", False),
        ("See [one](#one) and [two](#two).\nThey say it all.\n", False),
        ("1\n2\n3\nThe court decided otherwise.\n", False),
        ("Wait... and then...\nIt goes on...\n", False),
        ("## Only a heading\n\n", False),
        ("", False),
    ],
)
def test_a_table_of_contents_is_told_by_its_lines(text, is_one):
    assert is_contents(text) is is_one


def test_tables_of_contents_are_the_last_passages():
    contents = "# Contents\n\n- [Refunds](#refunds)\n- [How refunds are paid](#how-refunds-are-paid)\n"
    texts = {
        "a.md": contents,
        "b.md": "# Pay\n\nRefunds are paid to the card.",
        "c.md": "# Other\n\nNothing to read here.",
    }
    pool = Pool(Corpus([Document(DocumentId(name), text) for name, text in texts.items()]))
    assert [passage.doc_id for passage in pool.found("How refunds are paid").passages][-1] == "a.md"


def test_of_several_queries_the_first_ones_come_first_and_a_retriever_has_to_answer_all():
    def own(query, k):
        if query == "Zebras":
            raise ValueError("no zebras")
        return []

    pool = Pool(CORPUS, own)
    found = pool.found("heartbeat of the agent", "Zebras", "Invoices come first.")
    assert [place(passage) for passage in found.passages][:2] == [("other.md", 0), ("billing.md", 0)]
    assert found.answered == {0, 1}
    assert len(found.problems) == 1
