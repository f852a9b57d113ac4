"""What is told where the pipeline gives other results today than in the run, or was not asked again."""

import importlib
import sys
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    Query,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.analysis.attribution import Attribution
from rag_evaluation_framework.components import FunctionRetriever, RerankedRetriever
from rag_evaluation_framework.contracts.registry import build
from rag_evaluation_framework.errors import ConfigError, ResultError

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


class Theirs:
    def invoke(self, query):
        return [{"doc_id": name, "start": 0, "end": len(text)} for name, text in TEXTS.items()]


class TestShortRuns:
    """A run whose results did not fill a budget, by a retriever that gives more today."""

    def check(self, result, score, corpus):
        told = Attribution.of(result, score, retriever=first_documents(6), corpus=corpus)
        assert (told.recall, len(told.query_ids)) == (result.metrics[score], 6)
        question = result.explain("asked e", score, retriever=first_documents(6), corpus=corpus)
        assert question.recall == 0
        return told

    @pytest.mark.parametrize(
        ("returned", "cutoff", "depth", "cause", "lost"),
        [
            (3, "4000ch", None, "not_asked_for", 3 / 6),
            (0, "4000ch", None, "not_asked_for", 1),
            (3, "2", 100, "beyond_cutoff", 4 / 6),
            (3, f"{2 * len(TEXTS['a.md'])}ch", 100, "beyond_cutoff", 4 / 6),
        ],
        ids=["a budget", "an empty run", "results", "a budget that was filled"],
    )
    def test_a_budget_that_was_not_filled_is_told_by_what_the_run_kept(
        self, evaluation, corpus, returned, cutoff, depth, cause, lost
    ):
        config = EvaluationConfig(budgets=[cutoff if "ch" in cutoff else "4000ch"])
        result = evaluation.run(retriever=first_documents(returned), k=2, config=config)
        told = self.check(result, f"span_recall@{cutoff}", corpus)
        assert (told.depth, told.lost[cause]) == (depth, pytest.approx(lost))
        otherwise = "6 of 6 questions are ranked otherwise than in the run"
        assert any(note.startswith(otherwise) for note in told.notes) == (depth is None)

    def test_so_they_are_at_document_level(self, corpus):
        entries = [DocumentLevelGroundTruth(Query.from_text(f"asked {name}"), (name,)) for name in TEXTS]
        result = DocumentLevelEvaluation(corpus, Dataset(entries, DOCUMENT)).run(
            retriever=first_documents(3), k=2, config=CONFIG
        )
        self.check(result, "recall@4000ch", corpus)


def with_heading(heading):
    """Return a retriever whose results have a heading that is not in the documents."""
    found = [{"doc_id": name, "start": 0, "end": len(text), "text": f"{heading}{text}"} for name, text in TEXTS.items()]
    return FunctionRetriever(lambda query, k: found[:k], stable=True)


def test_results_of_the_same_places_that_read_otherwise_today_are_left_out(evaluation, corpus):
    score = f"span_recall@{2 * len(TEXTS['a.md'])}ch"
    config = EvaluationConfig(budgets=[score.partition("@")[2]])
    result = evaluation.run(retriever=with_heading(""), k=1, config=config)
    told = Attribution.of(result, score, retriever=with_heading("Heading. " * 5), corpus=corpus)
    assert result.metrics[score] == pytest.approx(2 / 6)
    assert (told.recall, len(told.query_ids)) == (pytest.approx(1 / 5), 5)
    assert told.notes[-1].startswith(f"1 of 6 questions are left out, as their {score} could not be recomputed")
    with pytest.raises(ResultError, match="returns texts that are not those of their places"):
        result.explain("asked b", score, retriever=with_heading("Heading. " * 5), corpus=corpus)


def named_chunks(*names):
    """Return a retriever that gives nothing but the ids of chunks."""
    return FunctionRetriever(lambda query, k: [{"chunk_id": name} for name in names][:k], stable=True)


def test_chunks_that_are_known_by_their_ids_alone_are_told_from_each_other(corpus):
    entries = [ChunkLevelGroundTruth(Query.from_text(f"asked {name}"), (name,)) for name in ("one", "two")]
    result = ChunkLevelEvaluation(corpus, Dataset(entries, CHUNK)).run(retriever=named_chunks("three", "one"), k=2)
    told = Attribution.of(result, retriever=named_chunks("four", "three", "two"), corpus=corpus)
    assert (told.depth, told.recall, told.lost["not_asked_for"]) == (None, 0.5, 0.5)
    assert told.notes[0].startswith("2 of 2 questions are ranked otherwise than in the run")
    same = Attribution.of(result, retriever=named_chunks("three", "one", "two"), corpus=corpus)
    assert (same.depth, same.recall, same.lost["beyond_cutoff"]) == (100, 0.5, 0.5)


def fails(query, k):
    raise OSError("gone away")


def keep(query, texts):
    return [-float(number) for number in range(len(texts))]


def test_of_a_retriever_with_a_number_of_its_own_nothing_is_said_of_the_first_100(evaluation, corpus):
    result = evaluation.run(retriever=first_documents(3), k=2, config=CONFIG)
    told = Attribution.of(result, "span_recall@2", retriever=first_documents(3), corpus=corpus)
    assert (told.depth, told.returned, told.advice[0]) == (100, 3, "returned")
    assert "make the retriever return more: it returned 3 results" in told.summary().as_text(500)
    pages = told.summary(), result.explain("asked f", "span_recall@2", retriever=first_documents(3)).summary()
    for page in pages:
        assert "not retrieved: the retriever returned 3 of the 100 results asked for" in page.as_text(500)
        assert "first 100" not in page.as_text(500)


class TestWithoutARemedy:
    """Where asking deeper was tried or cannot help, nothing advises it."""

    @pytest.mark.parametrize("deep", [True, False])
    def test_a_pipeline_that_was_asked_and_failed(self, evaluation, corpus, tmp_path, monkeypatch, deep):
        (tmp_path / "own_that_failed.py").write_text("def search(query, k):\n    return [{'doc_id': 'a.md'}][:k]\n")
        monkeypatch.syspath_prepend(tmp_path)
        own = importlib.import_module("own_that_failed")
        result = evaluation.run(retriever=own.search, k=1)
        monkeypatch.setattr(own, "search", fails)
        told = Attribution.of(result, corpus=corpus, deep=deep, retriever=None if deep else fails)
        assert (told.depth, told.advice[0]) == (None, "deeper_ranking")
        assert "6 of 6 questions are ranked otherwise than in the run" in told.notes[0]
        assert "--deep" not in told.summary().as_text(500)

    def test_a_pipeline_that_cannot_be_made_again_by_name(self, evaluation, corpus):
        """A function that is no retriever is named in the record, but not made again."""
        result = evaluation.run(retriever=RerankedRetriever(BM25Retriever(), keep), k=1)
        told = Attribution.of(result, corpus=corpus)
        assert f"it has your own code, '{__name__}:keep'; --deep" in told.notes[0]
        with pytest.raises(ConfigError, match=r"cannot be made again.*retriever="):
            Attribution.of(result, corpus=corpus, deep=True)

    def test_a_method_whose_object_is_not_known(self, evaluation, corpus):
        result = evaluation.run(retriever=Theirs(), k=1)
        told = Attribution.of(result, corpus=corpus)
        why = f"it has your own code that has no name to import, '{__name__}:Theirs.invoke'; give it with retriever="
        assert why in told.notes[0]
        assert not told.deep_asks
        with pytest.raises(ConfigError, match=r"is a method, and its object is not known; .*retriever="):
            Attribution.of(result, corpus=corpus, deep=True)

    def test_an_object_of_a_library_that_a_module_holds(self, evaluation, corpus, tmp_path, monkeypatch):
        code = f"from {__name__} import Theirs\nsearch = Theirs()\n"
        (tmp_path / "own_object.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        result = evaluation.run(retriever=build("retriever", "own_object:search"), k=1)
        assert (result.name, result.config["retriever"]["function"]) == ("search", "own_object:search")
        assert "--deep (deep=True) imports and asks it)" in Attribution.of(result, corpus=corpus).notes[0]
        assert Attribution.of(result, corpus=corpus, deep=True).depth == 100

    def test_a_function_of_a_script_that_ended(self, evaluation, corpus, monkeypatch):
        def search(query, k):
            return []

        monkeypatch.setattr(search, "__module__", "__main__")
        monkeypatch.setattr(search, "__qualname__", "search")
        result = evaluation.run(retriever=search, k=1)
        assert "--deep" in Attribution.of(result, corpus=corpus).notes[0]
        monkeypatch.setattr(sys.modules["__main__"], "search", search, raising=False)
        assert "ranked" not in Attribution.of(result, corpus=corpus, deep=True).notes[0]

    def test_a_parameter_that_is_not_known(self, evaluation, corpus):
        run = evaluation.run(k=1)
        record = {**run.config["retriever"], "nonsense": 1}
        told = Attribution.of(replace(run, config={**run.config, "retriever": record}), corpus=corpus)
        assert "it cannot be made again: retriever 'bm25' has no parameter 'nonsense'" in told.notes[0]
        assert "deep" not in told.notes[0]
        assert not told.deep_asks


@pytest.mark.parametrize("today", [None, BM25Retriever(RecursiveCharacterChunker())], ids=["not given", "given"])
def test_chunks_that_a_function_names_are_not_named_by_their_hash(corpus, evaluation, today):
    chunks = ChunkLevelEvaluation(corpus, evaluation.dataset, lambda chunk, number: f"{chunk.doc_id}:{number}")
    run = chunks.run(k=1)
    told = Attribution.of(run, corpus=corpus, retriever=today)
    assert told.notes[0].startswith("the pipeline was not asked again (the run names chunks by a function of its own")
    assert "--deep" not in told.summary().as_text(500)
    assert (told.depth, told.recall) == (None, pytest.approx(run.metrics["chunk_recall"]))
    assert told.lost["in_no_chunk"] == 0
    assert told.recall + sum(told.lost.values()) == pytest.approx(1)


@pytest.mark.parametrize("today", [None, fails, first_documents(6)], ids=["none", "failing", "answering"])
def test_of_a_question_that_failed_no_more_is_told_than_why(evaluation, corpus, today):
    """It is not ranked otherwise today, and asking deeper would tell no more."""
    found = evaluation.run(retriever=fails, k=1).explain("asked a", corpus=corpus, retriever=today)
    assert (found.status, found.depth, found.notes) == ("failed", None, ("OSError: gone away",))
    assert (found.results, found.recall) == ((), None)
    assert "OSError: gone away" in found.summary().as_text(500)
    assert "its retrieval failed" in found.summary().as_text(500)


def test_a_run_that_retrieved_more_than_is_asked_for_is_asked_for_as_much_again():
    """150 chunks fill the larger budget; at 5 results and at the smaller one nothing is ranked otherwise today."""
    text = "".join(f"line {number:04} of many.\n" for number in range(200))
    corpus = Corpus([Document(DocumentId("a.md"), text)])
    start = text.index("line 0150")
    truth = [
        TokenLevelGroundTruth(Query.from_text("line 0150"), (CharacterSpan(DocumentId("a.md"), start, start + 9),))
    ]
    evaluation = TokenLevelEvaluation(corpus, Dataset(truth, TOKEN, corpus=corpus))
    chunks = RecursiveCharacterChunker(chunk_size=20)
    result = evaluation.run(chunks, k=5, config=EvaluationConfig(budgets=["100ch", "3000ch"]))
    retrieved = len(result.queries[0].hits)
    assert retrieved > 120
    for score in ("span_recall@5", "span_recall@100ch"):
        told = Attribution.of(result, score, corpus=corpus)
        assert (told.depth, told.notes, told.losses.asked.all()) == (retrieved, (), True)
