"""What is told where the pipeline gives other results today than in the run, or was not asked again."""

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    Attribution,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    FunctionRetriever,
    Query,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
)

TEXTS = {f"{name}.md": f"{name} text of the document that is asked for. " * 3 for name in "abcdef"}
CONFIG = EvaluationConfig(budgets=["4000ch"])


@pytest.fixture(scope="module")
def corpus():
    return Corpus(Document(DocumentId(name), text) for name, text in TEXTS.items())


@pytest.fixture(scope="module")
def evaluation(corpus):
    """A question for each document, all of which is its answer."""
    entries = [
        TokenLevelGroundTruth(Query.from_text(f"asked {name}"), (CharacterSpan(DocumentId(name), 0, len(text), text),))
        for name, text in TEXTS.items()
    ]
    return TokenLevelEvaluation(corpus, Dataset(entries, TOKEN, corpus=corpus))


def first_documents(count):
    """Return a retriever that gives so many documents at most."""
    found = [{"doc_id": name, "start": 0, "end": len(text)} for name, text in [*TEXTS.items()][:count]]
    return FunctionRetriever(lambda query, k: found[:k], stable=True)


class TestShortRuns:
    """A run whose results did not fill a budget, by a retriever that gives more today."""

    def check(self, result, score, corpus):
        told = Attribution.of(result, score, retriever=first_documents(6), corpus=corpus)
        assert (told.recall, len(told.query_ids)) == (result.metrics[score], 6)
        question = result.explain("asked e", score, retriever=first_documents(6), corpus=corpus)
        assert question.recall == 0
        return told

    def test_at_a_budget_they_are_told_by_what_the_run_kept(self, evaluation, corpus):
        result = evaluation.run(retriever=first_documents(3), k=2, config=CONFIG)
        told = self.check(result, "span_recall@4000ch", corpus)
        assert (told.depth, told.lost["not_asked_for"]) == (None, 0.5)
        assert told.notes[0].startswith("6 of 6 questions are ranked otherwise than in the run")
        assert self.check(result, "span_recall@2", corpus).depth == 100

    def test_so_they_are_at_document_level(self, corpus):
        entries = [DocumentLevelGroundTruth(Query.from_text(f"asked {name}"), (name,)) for name in TEXTS]
        result = DocumentLevelEvaluation(corpus, Dataset(entries, DOCUMENT)).run(
            retriever=first_documents(3), k=2, config=CONFIG
        )
        self.check(result, "recall@4000ch", corpus)

    def test_an_empty_run_is_told_as_empty(self, evaluation, corpus):
        result = evaluation.run(retriever=first_documents(0), k=2, config=CONFIG)
        self.check(result, "span_recall@4000ch", corpus)

    def test_a_budget_that_was_filled_is_told_by_the_deeper_ranking(self, evaluation, corpus):
        result = evaluation.run(
            retriever=first_documents(3), k=2, config=EvaluationConfig(budgets=[f"{2 * len(TEXTS['a.md'])}ch"])
        )
        told = self.check(result, f"span_recall@{2 * len(TEXTS['a.md'])}ch", corpus)
        assert (told.depth, told.lost["beyond_cutoff"]) == (100, pytest.approx(4 / 6))


def with_heading(heading):
    """Return a retriever whose results have a heading that is not in the documents."""
    found = [{"doc_id": name, "start": 0, "end": len(text), "text": f"{heading}{text}"} for name, text in TEXTS.items()]
    return FunctionRetriever(lambda query, k: found[:k], stable=True)


def test_results_of_the_same_places_that_read_otherwise_today_are_told_by_what_the_run_kept(evaluation, corpus):
    score = f"span_recall@{2 * len(TEXTS['a.md'])}ch"
    config = EvaluationConfig(budgets=[score.partition("@")[2]])
    result = evaluation.run(retriever=with_heading(""), k=1, config=config)
    told = Attribution.of(result, score, retriever=with_heading("Heading. " * 5), corpus=corpus)
    assert told.recall == result.metrics[score] == pytest.approx(2 / 6)
    assert len(told.query_ids) == 6
    assert told.notes[0].startswith(f"1 of 6 questions have another {score} today")
    question = result.explain("asked b", score, retriever=with_heading("Heading. " * 5), corpus=corpus)
    assert (question.recall, question.depth) == (1, None)
