"""Where a run lost what was relevant: of real runs, saved and live, whatever their pipeline."""

import importlib
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    CohereReranker,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    Embedder,
    EvaluationConfig,
    FixedTokenChunker,
    OpenAIEmbedder,
    PositionAwareChunk,
    PositionAwareChunker,
    Query,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    load_dataset,
    load_result,
)
from rag_evaluation_framework.analysis.attribution import Attribution
from rag_evaluation_framework.analysis.attribution.deep_pass import (
    corpus_of,
    is_ours,
    read_lengths,
    remade_retriever,
    uncovered,
    unread_text,
)
from rag_evaluation_framework.analysis.attribution.losses import CAUSES
from rag_evaluation_framework.components import (
    FunctionRetriever,
    HybridRetriever,
    LsaEmbedder,
    MarkdownHeaderChunker,
    RerankedRetriever,
    SentenceChunker,
)
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, CorpusError, ResultError

NEARLY = 1e-9


@pytest.fixture(scope="module")
def handbook():
    return load_handbook()


@pytest.fixture(scope="module")
def evaluation(handbook):
    return TokenLevelEvaluation(handbook.corpus, handbook)


@pytest.fixture(scope="module")
def run(evaluation):
    """A run of chunks that are too small for many answers."""
    return evaluation.run(RecursiveCharacterChunker(chunk_size=200), k=5)


def in_order(query, texts):
    return [-float(number) for number in range(len(texts))]


def backwards(query, texts):
    return [float(number) for number in range(len(texts))]


@dataclass(frozen=True)
class ShortEmbedder(Embedder):
    """Reads so many characters of a text, and no more."""

    limit: int = 150
    inner: Any = field(default_factory=LsaEmbedder)

    @property
    def dimension(self):
        return self.inner.dimension

    def fit(self, documents):
        return replace(self, inner=self.inner.fit(documents))

    def embed(self, texts):
        return self.inner.embed([text[: self.limit] for text in texts])

    def truncated(self, texts):
        return np.array([len(text) > self.limit for text in texts], dtype=np.bool_)


@dataclass(frozen=True)
class FixedCharacters(PositionAwareChunker):
    """Cuts windows of so many characters."""

    size: int = 200
    step: int | None = None

    def chunk_with_positions(self, document):
        length = len(document.content)
        starts = range(0, length, self.step or self.size)
        return [PositionAwareChunk.of(document, start, min(start + self.size, length)) for start in starts]


def run_chunks(corpus):
    """The chunks of the run, by text."""
    found = defaultdict(list)
    for document in corpus:
        for chunk in RecursiveCharacterChunker(chunk_size=200).chunk_with_positions(document):
            found[chunk.content].append(chunk)
    return found


def shared(chunk, span):
    """How many characters a chunk and a span have in common."""
    return (min(chunk.end, span.end) - max(chunk.start, span.start)) * (chunk.doc_id == span.doc_id)


def check_sums(attribution, result):
    """What is lost adds up to what is missing, of every question and of the mean."""
    losses = attribution.losses
    assert np.abs(losses.recall + sum(losses.lost[cause] for cause in CAUSES) - 1).max() <= NEARLY
    assert all((losses.lost[cause] >= 0).all() for cause in CAUSES)
    assert attribution.recall + sum(attribution.lost.values()) == pytest.approx(1, abs=NEARLY)
    assert attribution.recall == pytest.approx(result.metrics[attribution.score], abs=NEARLY)
    for best in filter(None, (losses.chunking, losses.candidates)):
        assert (best.recall >= losses.recall - NEARLY).all()
        assert (best.recall <= 1 + NEARLY).all()
    assert (losses.split <= 1 - losses.recall + NEARLY).all()
    assert (losses.truncated <= 1 - losses.recall + NEARLY).all()


class TestOfRuns:
    @pytest.mark.parametrize("score", ["span_recall@5", "span_recall@4000ch"])
    def test_what_is_lost_adds_up(self, run, score):
        attribution = Attribution.of(run, score)
        check_sums(attribution, run)
        assert (attribution.depth, attribution.notes) == (100, ())
        assert attribution.lost["not_retrieved"] > 0
        assert attribution.lost["beyond_cutoff"] > 0
        assert attribution.losses.split.any()

    @pytest.mark.parametrize("level", [DocumentLevelEvaluation, ChunkLevelEvaluation])
    def test_so_it_does_of_documents_and_chunks(self, handbook, level):
        result = level(handbook.corpus, handbook).run(k=2)
        for cutoff in result.cutoffs:
            attribution = Attribution.of(result, f"{Attribution.of(result).score.partition('@')[0]}@{cutoff}")
            check_sums(attribution, result)
            assert attribution.lost["beyond_cutoff"] > 0

    @pytest.mark.parametrize(
        "retriever",
        [
            VectorRAGRetriever(RecursiveCharacterChunker(chunk_size=300, overlap=100)),
            HybridRetriever([BM25Retriever(SentenceChunker()), VectorRAGRetriever(MarkdownHeaderChunker())]),
        ],
        ids=["vectors", "hybrid"],
    )
    def test_of_any_pipeline_of_ours(self, evaluation, retriever):
        result = evaluation.run(retriever=retriever, k=3)
        attribution = Attribution.of(result)
        assert (attribution.depth, attribution.notes) == (100, ())
        check_sums(attribution, result)

    def test_a_saved_run_tells_the_same(self, run, tmp_path):
        again, live = Attribution.of(load_result(run.save(tmp_path / "run"))), Attribution.of(run)
        assert again.record() == live.record()
        assert again.summary() == live.summary()

    def test_record_and_page_have_means_causes_ceilings_advice_and_the_worst_questions(self, run):
        attribution = Attribution.of(run)
        record = attribution.record()
        assert record["score"] == "span_recall@5"
        assert record["n"] == len(record["questions"]) == 73
        worst = min(record["questions"], key=lambda question: question["recall"])
        for told in (record, worst):
            assert told["recall"] + sum(told["lost"].values()) == pytest.approx(1, abs=NEARLY)
        assert record["ceilings"]["candidates"]["recall"] >= record["recall"]
        text = attribution.summary().as_text(500)
        for said in ("lost span_recall@5", "not among the first 100", "split by the chunker", "What to change first"):
            assert said in text
        assert "<table>" in attribution._repr_html_()
        page = attribution.summary(worst=2).as_markdown()
        assert page.count("not among the first 100") == 4

    def test_a_run_that_lost_nothing_needs_no_advice(self, handbook, evaluation):
        retriever = VectorRAGRetriever(RecursiveCharacterChunker(chunk_size=100_000))
        result = evaluation.run(retriever=retriever, k=len(handbook.corpus))
        assert result.metrics["span_recall"] == 1
        attribution = Attribution.of(result)
        assert attribution.advice == ()
        assert attribution.worst() == []
        assert "What to change first" not in attribution.summary().as_text(500)

    def test_what_is_no_recall_result_or_corpus_is_refused(self, run):
        for score in ("span_precision@5", "span_recall@7", "nonsense@@", 5):
            with pytest.raises(ConfigError, match="expected one of span_recall@5, span_recall@4000ch"):
                Attribution.of(run, score)
        assert Attribution.of(run, "span_recall").score == "span_recall@5"
        with pytest.raises(ResultError, match="expected an EvaluationResult"):
            Attribution.of("last")
        with pytest.raises(CorpusError, match="expected a Corpus"):
            Attribution.of(run, corpus="docs")

    def test_recall_is_told_where_the_run_did_not_score_it(self, evaluation):
        result = evaluation.run(k=3, metrics=["span_precision"])
        attribution = Attribution.of(result)
        assert attribution.score == "span_recall@3"
        assert attribution.recall == evaluation.run(k=3).metrics["span_recall@3"]

    def test_tokens_are_counted_as_in_the_run(self, evaluation):
        pytest.importorskip("tiktoken", reason="needs the extra tiktoken")
        config = EvaluationConfig(budgets=["300tok", "300tok_whole"], tokenizer="cl100k_base")
        result = evaluation.run(FixedTokenChunker(tokens=60), k=5, config=config)
        for score in ("span_recall@300tok", "span_recall@300tok_whole"):
            check_sums(Attribution.of(result, score), result)


class TestRerankers:
    def test_what_a_reranker_dropped_is_told_without_asking_it(self, evaluation):
        calls = []

        def rerank(query, texts):
            calls.append(query)
            return backwards(query, texts)

        retriever = RerankedRetriever(BM25Retriever(), rerank)
        result, plain = evaluation.run(retriever=retriever, k=5), evaluation.run(k=5)
        calls.clear()
        attribution = Attribution.of(result, retriever=retriever)
        assert calls == []
        check_sums(attribution, result)
        assert attribution.lost["dropped_by_reranker"] > 0.3
        assert f"without the reranker: {plain.metrics['span_recall@5']:.3f}" in attribution.summary().as_text(500)
        assert attribution.losses.without_reranker.mean() == pytest.approx(plain.metrics["span_recall@5"])

    def test_a_reranker_that_changes_nothing_drops_nothing(self, evaluation):
        retriever = RerankedRetriever(BM25Retriever(), in_order, candidates=20)
        result = evaluation.run(retriever=retriever, k=5)
        attribution = Attribution.of(result, retriever=retriever)
        assert attribution.lost["dropped_by_reranker"] == 0
        lost, plain = attribution.lost, Attribution.of(evaluation.run(k=5)).lost
        assert lost["not_a_candidate"] + lost["beyond_cutoff"] == pytest.approx(plain["beyond_cutoff"])
        assert {cause: lost[cause] for cause in CAUSES if lost[cause] != plain[cause]}.keys() == {
            "not_a_candidate",
            "beyond_cutoff",
        }

    @pytest.mark.parametrize("score", ["span_recall@10", "span_recall@4000ch"])
    def test_candidates_that_are_too_few_for_the_cutoff_are_told_as_that(self, evaluation, score):
        config = EvaluationConfig(budgets=["4000ch"])
        chunks = BM25Retriever(RecursiveCharacterChunker(chunk_size=500))

        def recall(retriever):
            return evaluation.run(retriever=retriever, k=10, config=config).metrics[score]

        few = RerankedRetriever(chunks, backwards, candidates=3)
        result = evaluation.run(retriever=few, k=10, config=config)
        attribution = Attribution.of(result, score, retriever=few)
        check_sums(attribution, result)
        assert attribution.lost["not_a_candidate"] > 0.1
        assert attribution.losses.without_reranker.mean() == pytest.approx(recall(chunks))
        assert attribution.advice[0] == "candidates"
        row = int(attribution.losses.lost["not_a_candidate"].argmax())
        explained = result.explain(attribution.query_ids[row], score, retriever=few).summary().as_text(500)
        assert re.search(r"not among the reranker's candidates: rank \d+ before reranking", explained)

    def test_more_candidates_than_usual_are_asked_for(self, evaluation):
        retriever = RerankedRetriever(BM25Retriever(), backwards, candidates=120)
        attribution = Attribution.of(evaluation.run(retriever=retriever, k=5), retriever=retriever)
        assert (attribution.depth, attribution.notes) == (120, ())


class TestAsking:
    def test_own_code_is_not_asked_without_leave(self, evaluation, handbook):
        asked = []

        def search(query, k):
            asked.append(k)
            return [document.content[:300] for document in handbook.corpus.documents[:k]]

        result = evaluation.run(retriever=search, k=3)
        asked.clear()
        attribution = Attribution.of(result)
        assert asked == []
        assert attribution.depth is None
        assert "was not asked again" in attribution.notes[0]
        assert "give it with retriever=..." in attribution.notes[0]
        assert "not among the results asked for" in attribution.summary().as_text(500)
        assert attribution.lost["not_retrieved"] == 0
        assert attribution.advice[0] == "deeper_ranking"
        assert "ask for a deeper ranking: only that tells" in attribution.summary().as_text(500)
        assert "--deep" not in f"{attribution}{attribution.notes}"
        assert attribution.record()["advice"] == [*attribution.advice]
        check_sums(attribution, result)
        with pytest.raises(ConfigError, match=r"cannot be made again.*retriever="):
            Attribution.of(result, deep=True)
        given = Attribution.of(result, retriever=search)
        assert (given.depth, set(asked)) == (100, {100})
        check_sums(given, result)

    def test_own_code_of_a_module_is_imported_with_leave(self, evaluation, tmp_path, monkeypatch):
        (tmp_path / "own_search.py").write_text(
            "def search(query, k):\n    return [{'doc_id': 'reference/faq.md'}][:k]\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        search = importlib.import_module("own_search").search
        result = load_result(evaluation.run(retriever=search, k=3).save(tmp_path / "run"))
        bare = Attribution.of(result)
        assert bare.depth is None
        assert "it has your own code, 'own_search:search'; --deep (deep=True) imports and asks it)" in bare.notes[0]
        assert "ask for a deeper ranking (--deep, deep=True): only that tells" in bare.summary().as_text(500)
        assert Attribution.of(result, deep=True).depth == 100

    def test_what_is_ranked_otherwise_today_is_said(self, evaluation, run):
        other = BM25Retriever(RecursiveCharacterChunker(chunk_size=200), b=0.7)
        attribution = Attribution.of(run, retriever=other)
        assert "questions are ranked otherwise than in the run" in attribution.notes[0]
        assert not attribution.losses.asked.all()
        assert (attribution.losses.lost["not_retrieved"][~attribution.losses.asked] == 0).all()
        assert (attribution.losses.lost["not_asked_for"][attribution.losses.asked] == 0).all()
        assert "best order of the first 100, where they are known" in attribution.summary().as_text(500)
        check_sums(attribution, run)

    def test_where_all_is_ranked_otherwise_nothing_is_told_of_deeper_results(self, run):
        attribution = Attribution.of(run, retriever=lambda query, k: 1 // 0)
        told = attribution.summary().as_text(500)
        assert (attribution.depth, attribution.lost["not_retrieved"]) == (None, 0)
        assert attribution.lost["not_asked_for"] > 0.3
        assert attribution.advice[0] == "deeper_ranking"
        assert "not among the results asked for" in told
        assert "first 100" not in told
        check_sums(attribution, run)

    def test_what_is_known_without_the_reranker_of_some_questions_only_is_no_figure_of_all(self, evaluation):
        retriever = RerankedRetriever(BM25Retriever(), backwards, candidates=20)
        result = evaluation.run(retriever=retriever, k=5)
        other = RerankedRetriever(BM25Retriever(b=0.7), backwards, candidates=20)
        attribution = Attribution.of(result, retriever=other)
        asked = attribution.losses.asked
        assert 0 < asked.sum() < len(asked)
        assert np.isnan(attribution.losses.without_reranker[~asked]).all()
        assert attribution.record()["without_reranker"] is None
        assert "without the reranker:" not in attribution.summary().as_text(500)
        assert attribution.advice[0] == "reranker"

    def test_of_questions_that_are_left_out_nothing_counts(self, evaluation):
        retriever = RerankedRetriever(BM25Retriever(), backwards, candidates=20)
        result = evaluation.run(retriever=retriever, k=5)
        whole = Attribution.of(result, retriever=retriever)
        scored = result.scores.columns["span_recall@5"].copy()
        scored[result.scores.query_ids.index(whole.query_ids[0])] += 0.25
        table = replace(result.scores, columns={**result.scores.columns, "span_recall@5": scored})
        changed = replace(result, queries=replace(result.queries, table=table))
        rest = Attribution.of(changed, retriever=retriever)
        assert rest.query_ids == whole.query_ids[1:]
        for name in ("recall", "without_reranker", "split", "truncated", "cut_off", "best_rank", "asked"):
            assert getattr(rest.losses, name).tolist() == getattr(whole.losses, name)[1:].tolist()
        for name in ("lost", "unexplained"):
            taken, all_of_them = getattr(rest.losses, name), getattr(whole.losses, name)
            assert {cause: taken[cause].tolist() for cause in taken} == {
                cause: all_of_them[cause][1:].tolist() for cause in CAUSES
            }
        for name in ("chunking", "candidates"):
            taken, all_of_them = getattr(rest.losses, name), getattr(whole.losses, name)
            assert taken.recall.tolist() == all_of_them.recall[1:].tolist()
            assert taken.exact.tolist() == all_of_them.exact[1:].tolist()

    def test_a_pipeline_that_fails_is_said_or_raised(self, run, monkeypatch):
        def fails(self, corpus):
            raise OSError("no disk")

        monkeypatch.setattr(BM25Retriever, "index", fails)
        attribution = Attribution.of(run)
        assert "it fails: OSError: no disk" in attribution.notes[0]
        check_sums(attribution, run)
        with pytest.raises(ConfigError, match="cannot be asked again: OSError: no disk"):
            Attribution.of(run, deep=True)

    def test_a_question_that_fails_is_told_by_what_the_run_retrieved(self, run, monkeypatch):
        retrieve = BM25Retriever.retrieve

        def fails(self, query, k):
            if query.startswith("Which number"):
                raise OSError("gone")
            return retrieve(self, query, k)

        monkeypatch.setattr(BM25Retriever, "retrieve", fails)
        attribution = Attribution.of(run)
        assert attribution.notes[0].startswith("1 of 73 questions are ranked otherwise")
        check_sums(attribution, run)

    def test_a_chunk_that_cannot_be_listed_is_said(self, evaluation, monkeypatch):
        retriever = BM25Retriever()
        result = evaluation.run(retriever=retriever, k=3)
        monkeypatch.setattr(BM25Retriever, "chunks", lambda self: None)
        attribution = Attribution.of(result)
        assert "cannot list its chunks" in attribution.notes[0]
        assert attribution.losses.chunking is None

    def test_a_retriever_that_ranks_otherwise_at_every_k(self, evaluation, handbook):
        answers = {entry.query.text: entry.relevant for entry in handbook}

        def search(query, k):
            found = [{"doc_id": span.doc_id, "start": span.start, "end": span.end} for span in answers[query]]
            other = [{"doc_id": "reference/faq.md", "start": 0, "end": 5}]
            return [*other * (k > 1), *found * (k == 1 or len(query) % 2)][:k]

        retriever = FunctionRetriever(search, stable=False)
        result = evaluation.run(retriever=retriever, k=[1, 3])
        with pytest.raises(ResultError, match="ranks differently at every cutoff"):
            Attribution.of(result, "span_recall@1")
        check_sums(Attribution.of(result, "span_recall@3"), result)
        some = evaluation.run(
            retriever=FunctionRetriever(lambda query, k: search(query, k + len(query) % 3), stable=False), k=[1, 3]
        )
        attribution = Attribution.of(some, "span_recall@1")
        assert 0 < len(attribution.query_ids) < 73
        assert "questions are left out, as their span_recall@1 could not be recomputed" in attribution.notes[-1]
        assert attribution.recall + sum(attribution.lost.values()) == pytest.approx(1, abs=NEARLY)

    def test_that_others_count_as_zero_is_said(self, evaluation):
        result = evaluation.run(k=2, config=EvaluationConfig(count_as_zero=["no-answer"]))
        attribution = Attribution.of(result)
        assert attribution.notes == ("the run counts as 0: no-answer; here only questions that were scored count",)
        assert attribution.recall > result.metrics["span_recall@2"]


class TestOwnIds:
    """Labels that name chunks and documents in ways of their own."""

    def test_chunks_by_the_digits_of_their_hashes(self, handbook):
        retriever = BM25Retriever(SentenceChunker(sentences=2))
        retriever.index(handbook.corpus)
        chunks = retriever.chunks()[::40]
        entries = [
            ChunkLevelGroundTruth(Query.from_text(one.content[-60:]), (content_digest(one.content)[:16], "0" * 16))
            for one in chunks
        ]
        result = ChunkLevelEvaluation(handbook.corpus, Dataset(entries, CHUNK)).run(retriever=retriever, k=1)
        attribution = Attribution.of(result)
        assert (attribution.depth, attribution.notes) == (100, ())
        check_sums(attribution, result)
        assert attribution.lost["in_no_chunk"] == pytest.approx(0.5)

    def test_documents_by_prefixes(self, handbook):
        entries = [
            DocumentLevelGroundTruth(Query.from_text(text), (), (prefix,))
            for text, prefix in (("What is BM25?", "retrieval/"), ("How are scores paired?", "labelling/"))
        ]
        result = DocumentLevelEvaluation(handbook.corpus, Dataset(entries, DOCUMENT)).run(k=1)
        attribution = Attribution.of(result)
        check_sums(attribution, result)
        assert attribution.losses.recall.tolist() == [1, 0]
        found = result.explain("How are scores")
        assert found.answers[0].rank == found.answers[0].found_at > 1
        assert found.results[found.answers[0].rank - 1].hit.doc_id.startswith("labelling/")


class TestDocuments:
    def texts(self):
        return {"a.md": "Refunds take five days. Invoices come first.", "b.md": "Support answers within a day."}

    @pytest.fixture
    def folder(self, tmp_path):
        for name, text in self.texts().items():
            (tmp_path / "docs").mkdir(exist_ok=True)
            (tmp_path / "docs" / name).write_text(text)
        (tmp_path / "q.csv").write_text("question,quote\nrefunds?,Refunds take five days.\nsupport?,within a day.\n")
        return tmp_path

    def result(self, folder):
        corpus = Corpus.from_folder(folder / "docs")
        dataset = load_dataset(folder / "q.csv", corpus=corpus)
        return TokenLevelEvaluation(corpus, dataset).run(k=1)

    def loaded(self, result, folder):
        """The result as another process reads it that has no texts of it."""
        return load_result(result.save(folder / "elsewhere"))

    def test_documents_are_those_of_the_run_although_they_have_changed(self, folder, monkeypatch):
        monkeypatch.chdir(folder)
        result = self.result(folder)
        before = corpus_of(result)
        saved = load_result(result.save())
        (folder / "docs" / "b.md").write_text("Other text.")
        for known in (result, saved):
            assert corpus_of(known) == before
            assert corpus_of(known).metadata == before.metadata
            check_sums(Attribution.of(known), result)

    def test_documents_that_are_gone_or_have_changed_and_are_not_kept_are_refused(self, folder):
        result = self.loaded(self.result(folder), folder)
        (folder / "docs").rename(folder / "moved")
        with pytest.raises(ResultError, match=r"cannot be read again.*Put them back"):
            Attribution.of(result)
        assert Attribution.of(result, corpus=Corpus.from_folder(folder / "moved")).depth == 100
        (folder / "moved" / "b.md").write_text("Other text.")
        (folder / "moved").rename(folder / "docs")
        with pytest.raises(ResultError, match=r"its documents have changed.*Run it again"):
            Attribution.of(result)

    def test_documents_of_no_folder_that_are_not_kept_are_asked_for(self, folder):
        corpus = Corpus(Document(DocumentId(name), text) for name, text in self.texts().items())
        dataset = load_dataset(folder / "q.csv", corpus=corpus)
        result = self.loaded(TokenLevelEvaluation(corpus, dataset).run(k=1), folder)
        with pytest.raises(ResultError, match=r"not read from a folder.*corpus=corpus"):
            Attribution.of(result)
        check_sums(Attribution.of(result, corpus=corpus), result)

    def test_a_run_without_a_scored_question_is_refused(self, folder):
        corpus = Corpus.from_folder(folder / "docs")

        def fails(query, k):
            raise OSError("gone")

        result = TokenLevelEvaluation(corpus, load_dataset(folder / "q.csv", corpus=corpus)).run(retriever=fails, k=1)
        with pytest.raises(
            ResultError, match=r"no question has span_recall@1.*; 2 of 2 questions failed, the first: OSError: gone"
        ):
            Attribution.of(result)


class TestPipelines:
    @pytest.mark.parametrize(
        "retriever",
        [
            BM25Retriever(),
            BM25Retriever(SentenceChunker(), k1=1.2, language=None),
            BM25Retriever(MarkdownHeaderChunker()),
            VectorRAGRetriever(RecursiveCharacterChunker(chunk_size=300, overlap=50), LsaEmbedder(dimensions=32)),
            HybridRetriever([BM25Retriever(), VectorRAGRetriever()], weights=[2, 1], depth=50),
        ],
        ids=lambda retriever: retriever.name[:40],
    )
    def test_a_pipeline_of_ours_is_made_again_from_its_record(self, evaluation, tmp_path, retriever):
        result = load_result(evaluation.run(retriever=retriever, k=1).save(tmp_path / "run"))
        again = remade_retriever(result, imports=False)
        assert is_ours(again)
        assert describe(again) == result.config["retriever"]

    def test_what_is_not_ours(self, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", "an address that is none, as nothing is asked")
        assert not is_ours(RerankedRetriever(BM25Retriever(), backwards))
        assert not is_ours(BM25Retriever(lambda text: [text]))
        assert not is_ours(VectorRAGRetriever(embedder=ShortEmbedder()))
        assert not is_ours(HybridRetriever([BM25Retriever(), lambda query, k: []]))
        assert not is_ours(VectorRAGRetriever(embedder=OpenAIEmbedder()))
        assert not is_ours(RerankedRetriever(BM25Retriever(), CohereReranker()))

    def test_a_store_elsewhere_is_not_ours_to_fill(self, tmp_path):
        qdrant = pytest.importorskip("rag_evaluation_framework.components.vector_stores.qdrant")
        pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
        assert is_ours(VectorRAGRetriever(vector_store=qdrant.QdrantVectorStore()))
        assert not is_ours(VectorRAGRetriever(vector_store=qdrant.QdrantVectorStore(path=tmp_path / "store")))
        pgvector = pytest.importorskip("rag_evaluation_framework.components.vector_stores.pgvector")
        pytest.importorskip("psycopg", reason="needs the extra pgvector")
        assert not is_ours(VectorRAGRetriever(vector_store=pgvector.PgVectorStore()))


class TestWhatEmbeddersRead:
    def test_how_much_is_read_of_a_text_is_found(self):
        texts = ["", "short", "x" * 149, "x" * 150, "x" * 151, "y" * 4000]
        assert read_lengths(ShortEmbedder(), texts).tolist() == [0, 5, 149, 150, 150, 150]
        assert read_lengths(ShortEmbedder(limit=1), texts).tolist() == [0, 1, 1, 1, 1, 1]

    @pytest.mark.filterwarnings("ignore:ShortEmbedder truncates")
    def test_what_no_chunk_lets_it_read_is_unread(self):
        def unread(retriever):
            retriever.index(corpus)
            return unread_text(retriever, [CharacterSpan(DocumentId("a"), 0, 400)])

        corpus = Corpus([Document(DocumentId("a"), "word " * 80), Document(DocumentId("b"), "other " * 80)])
        chunker, embedder = FixedCharacters(200), ShortEmbedder(limit=150)
        expected = [CharacterSpan(DocumentId("a"), 150, 200), CharacterSpan(DocumentId("a"), 350, 400)]
        vectors = VectorRAGRetriever(chunker, embedder)
        assert unread(vectors) == expected
        assert unread(RerankedRetriever(vectors, backwards)) == expected
        assert unread(VectorRAGRetriever(chunker, LsaEmbedder())) == []
        assert unread(HybridRetriever([BM25Retriever(), VectorRAGRetriever(chunker, embedder)])) == []
        both = HybridRetriever([BM25Retriever(), VectorRAGRetriever(chunker, embedder)], weights=[0, 1])
        assert unread(both) == expected
        assert unread(VectorRAGRetriever(FixedCharacters(200, step=150), embedder)) == []

    def test_what_spans_do_not_cover(self):
        def spans(*places):
            return [CharacterSpan(DocumentId(name), start, end) for name, start, end in places]

        whole = spans(("a", 0, 10), ("b", 0, 5))
        assert uncovered(whole, spans(("a", 2, 4), ("a", 6, 12))) == spans(("a", 0, 2), ("a", 4, 6), ("b", 0, 5))
        assert uncovered(whole, whole) == []


def lexical(size):
    return BM25Retriever(RecursiveCharacterChunker(chunk_size=size))


def vectors(embedder):
    return VectorRAGRetriever(RecursiveCharacterChunker(chunk_size=1500), embedder)


class TestAdvice:
    """On seeded faults, the fault is what is advised to change, and the change helps."""

    @pytest.mark.parametrize(
        ("faulty", "mended", "score", "advised"),
        [
            (lexical(80), lexical(800), "span_recall@10", "larger_chunks"),
            (lexical(1200), lexical(200), "span_recall@300ch", "smaller_chunks"),
            (vectors(ShortEmbedder(limit=150)), vectors(LsaEmbedder()), "span_recall@5", "embedder"),
            (RerankedRetriever(BM25Retriever(), backwards), BM25Retriever(), "span_recall@5", "reranker"),
        ],
        ids=["a chunker cuts answers", "a budget ends in the first chunk", "an embedder truncates", "a reranker drops"],
    )
    def test_the_fault_is_advised_to_be_changed(self, evaluation, faulty, mended, score, advised):
        cutoffs = {"k": 10 if score.endswith("@10") else 5, "config": EvaluationConfig(budgets=["300ch"])}
        result = evaluation.run(retriever=faulty, **cutoffs)
        assert Attribution.of(result, score, retriever=faulty).advice[0] == advised
        self.check(result, evaluation.run(retriever=mended, **cutoffs), score)

    @pytest.mark.parametrize(("candidates", "k"), [(3, 5), (10, 5)], ids=["fewer than are read", "more than are read"])
    def test_candidates_that_are_too_few_for_a_good_reranker(self, evaluation, handbook, candidates, k):
        answers = {entry.query.text: [span.text for span in entry.relevant] for entry in handbook}

        def good(query, texts):
            return [float(sum(answer in text or text in answer for answer in answers[query])) for text in texts]

        chunks = BM25Retriever(RecursiveCharacterChunker(chunk_size=1500))
        retriever = RerankedRetriever(chunks, good, candidates=candidates)
        result = evaluation.run(retriever=retriever, k=k)
        attribution = Attribution.of(result, retriever=retriever)
        check_sums(attribution, result)
        assert attribution.advice[0] == "candidates"
        more = evaluation.run(retriever=RerankedRetriever(chunks, good, candidates=100), k=k)
        self.check(result, more, f"span_recall@{k}")

    def test_an_order_that_is_the_best_one_has_no_more_than_its_ceiling(self, evaluation, run, handbook):
        """Some of what is beyond the cutoff belongs to split answers: a better order brings that, too."""
        places = {entry.query.text: entry.relevant for entry in handbook}
        chunks = run_chunks(handbook.corpus)

        def oracle(query, texts):
            return [
                float(max(0, *(shared(chunk, span) for chunk in chunks[text] for span in places[query])))
                for text in texts
            ]

        attribution = Attribution.of(run)
        assert attribution.advice[0] == "order"
        inner = BM25Retriever(RecursiveCharacterChunker(chunk_size=200))
        best = evaluation.run(retriever=RerankedRetriever(inner, oracle, candidates=100), k=5)
        self.check(run, best, "span_recall@5")
        unexplained = attribution.losses.unexplained["beyond_cutoff"].mean()
        ceiling = attribution.losses.candidates.recall.mean()
        assert ceiling >= best.metrics["span_recall@5"] - NEARLY > attribution.recall + unexplained

    def check(self, before, after, score):
        assert after.metrics[score] > before.metrics[score] + 0.025


@pytest.fixture(scope="module")
def public(shared):
    folder = shared / "data" / "chunking_questions"
    corpus = Corpus.from_folder(folder / "corpora")
    return load_dataset(folder / "questions_df.csv", corpus=corpus)


def with_copies(dataset):
    """The same documents twice, and each answer at any of its two places, of every other question."""
    corpus = Corpus([*dataset.corpus, *(Document(DocumentId(f"copy/{one.id}"), one.content) for one in dataset.corpus)])

    def doubled(span):
        return Answer.any_of(span, replace(span, doc_id=DocumentId(f"copy/{span.doc_id}")))

    entries = [
        TokenLevelGroundTruth(entry.query, tuple(map(doubled, entry.relevant)) if number % 2 else entry.relevant)
        for number, entry in enumerate(dataset)
    ]
    return Dataset(entries, TOKEN, corpus=corpus)


@pytest.mark.slow
@pytest.mark.parametrize("copied", [False, True], ids=["one place", "two places"])
@pytest.mark.parametrize(
    "chunker",
    [
        RecursiveCharacterChunker(chunk_size=800),
        RecursiveCharacterChunker(chunk_size=400, overlap=200),
        SentenceChunker(),
    ],
    ids=["800", "400 by 200", "sentences"],
)
def test_on_public_corpora_what_is_lost_adds_up(public, chunker, copied):
    pytest.importorskip("tiktoken", reason="needs the extra tiktoken")
    dataset = with_copies(public) if copied else public
    config = EvaluationConfig(budgets=["1000tok"], tokenizer="cl100k_base")
    result = TokenLevelEvaluation(dataset.corpus, dataset).run(chunker, k=5, config=config)
    for score in ("span_recall@5", "span_recall@1000tok"):
        attribution = Attribution.of(result, score, corpus=dataset.corpus)
        check_sums(attribution, result)
        assert (attribution.depth, attribution.notes, len(attribution.query_ids)) == (100, (), len(dataset))
        assert 0 < 1 - attribution.recall < 0.5
