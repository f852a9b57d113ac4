"""Answers with several places in results: kept, saved, shown and compared."""

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    Query,
    RecursiveCharacterChunker,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    load_dataset,
    load_result,
    save_dataset,
)
from rag_evaluation_framework.contracts import DocumentLevelMetric
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.report import result_page
from support.results import saved_rows

TEXT, OTHER = (
    "Refunds take at most 14 working days in all countries.",
    "Money is back after two weeks, wherever you live.",
)
CORPUS = Corpus(
    [
        Document(DocumentId(name), f"# Page {name}\n\nSome words before it. {text}\n")
        for name, text in {"a.md": TEXT, "b.md": TEXT, "c.md": OTHER, "d.md": TEXT}.items()
    ]
)


def span(name, text=TEXT):
    start = CORPUS[DocumentId(name)].content.index(text)
    return CharacterSpan(DocumentId(name), start, start + len(text))


ANSWER = Answer.any_of(span("a.md"), span("b.md"), span("c.md", OTHER))


def dataset(*units):
    return Dataset([TokenLevelGroundTruth(Query.from_text("How long do refunds take?"), units)], TOKEN, corpus=CORPUS)


def search(query, k):
    return [{"doc_id": "c.md", "start": 0, "end": 20}, {"doc_id": "b.md", "start": 0, "end": 50}][:k]


@pytest.fixture
def result():
    return evaluate(search, dataset(ANSWER), k=2, budgets=[])


def test_every_question_keeps_its_answers_with_their_texts_and_the_place_of_which_most_was_found(result):
    (query,) = result.queries
    assert query.relevant == (span("a.md"),)
    assert [answer.places for answer in query.answers] == [ANSWER.places]
    assert query.answers[0].wordings == (0, 0, 2)
    assert query.places_found == ((span("b.md"),),)
    nothing = evaluate(search, dataset(Answer.any_of(span("d.md"), span("a.md"))), k=1, budgets=[])
    assert nothing.queries[0].places_found == (None,)
    assert evaluate(search, dataset(span("a.md")), k=1, budgets=[]).queries[0].places_found == ()


def test_they_are_saved_and_loaded(result, tmp_path):
    folder = result.save(root=tmp_path)
    again = load_result(folder)
    assert again.queries == result.queries
    assert again.queries.identities == result.queries.identities
    (row,) = saved_rows(folder)
    assert [place[0]["doc_id"] for place in row["answers"][0]] == ["a.md", "b.md", "c.md"]
    assert row["places_found"] == [1]
    (row,) = saved_rows(evaluate(search, dataset(span("a.md")), k=2, budgets=[]).save(root=tmp_path))
    assert row.keys().isdisjoint({"answers", "places_found"})


def test_a_question_with_another_place_is_another_question(result):
    other = evaluate(search, dataset(span("a.md")), k=2, budgets=[])
    assert result.queries.identities != other.queries.identities
    turned = Answer((ANSWER.places[0], *ANSWER.places[:0:-1]))
    assert evaluate(search, dataset(turned), k=2, budgets=[]).queries.identities == result.queries.identities
    with pytest.raises(ResultError, match="no question with the same truth in common"):
        other.compare(result)


def test_a_question_whose_documents_were_renamed_is_compared(result, tmp_path):
    path = save_dataset(dataset(ANSWER), tmp_path / "d.json")
    renamed = Corpus(
        [Document(DocumentId(document.id.replace("b.md", "x.md")), document.content) for document in CORPUS]
    )
    after = evaluate(search, load_dataset(path), documents=renamed, k=2, budgets=[])
    assert [place[0].doc_id for place in after.queries[0].answers[0].places] == ["a.md", "x.md", "c.md"]
    compared = result.compare(after)
    assert (len(compared.before.query_ids), compared.changed) == (1, ())


def test_chunks_that_hold_a_place_are_one():
    read = ChunkLevelEvaluation(CORPUS, dataset(ANSWER, span("d.md"))).run(
        chunker=RecursiveCharacterChunker(chunk_size=60), k=8
    )
    first, second = read.queries[0].answers
    assert (len(first.places), len(second.places)) == (2, 1)  # chunks with one text have one id
    assert read.metrics["chunk_recall@8"] == 1.0


def test_the_worst_questions_tell_the_place_that_was_found_and_the_others(result):
    shown = result_page(result, CORPUS, 3).as_text(200)
    assert "b.md first found at rank 2; 2 other places, in a.md, c.md" in shown


def test_spans_read_as_documents_keep_their_places():
    read = DocumentLevelEvaluation(CORPUS, dataset(ANSWER, span("d.md"))).run(retriever=search, k=2)
    assert read.queries[0].answers == (Answer.any_of("a.md", "b.md", "c.md"), Answer.any_of("d.md"))
    assert (read.metrics["recall@2"], read.metrics["precision@2"]) == (0.5, 1.0)
    assert read.evaluation_type == DOCUMENT.evaluation_type


def test_copies_are_known_by_the_texts_of_the_corpus():
    """Half of one copy and the other half of another are the whole; of labels, the offsets are enough."""
    one, other = span("a.md"), span("b.md")
    assert one.text == ""
    middle = one.start + 20

    def halves(query, k):
        return [
            {"doc_id": "a.md", "start": one.start, "end": middle},
            {"doc_id": "b.md", "start": middle, "end": other.end},
        ]

    result = evaluate(halves, dataset(Answer.any_of(one, other)), k=2, budgets=[])
    assert result.metrics["span_recall@2"] == 1.0


class Found(TokenLevelMetric):
    """The document of the first relevant span, as a number."""

    def calculate(self, retrieved, ground_truth):
        return float("abcd".index(ground_truth[0].doc_id[0]))


def test_a_metric_of_ones_own_gets_the_place_that_was_found():
    result = evaluate(search, dataset(ANSWER), k=[1, 2], budgets=[], metrics=[Found()])
    assert result.metrics == {"found@1": 0.0, "found@2": 1.0}


class Given(DocumentLevelMetric):
    """The share of the relevant ids that were retrieved, of a list with every one once."""

    def calculate(self, retrieved, ground_truth):
        assert len(set(ground_truth)) == len(ground_truth)
        return len(set(retrieved) & set(ground_truth)) / len(ground_truth)


def test_a_metric_of_ones_own_gets_every_id_once():
    truth = DocumentLevelGroundTruth(
        Query.from_text("When?"), (Answer.any_of("a.md", "b.md"), Answer.any_of("c.md", "b.md"))
    )
    read = DocumentLevelEvaluation(CORPUS, Dataset([truth], DOCUMENT)).run(
        retriever=lambda query, k: [{"doc_id": "b.md"}], k=2, metrics=[Given()]
    )
    assert read.metrics["given@2"] == 1.0
