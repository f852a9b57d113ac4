"""Every way in which an embedder can go wrong is told by its name, before scores are computed from it."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from rag_evaluation_framework import (
    Corpus,
    Document,
    DocumentId,
    Embedder,
    RecursiveCharacterChunker,
    SemanticChunker,
    VectorRAGRetriever,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import CachedEmbedder, LsaEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache, FunctionEmbedder
from rag_evaluation_framework.errors import InputError, NotIndexed
from support.chunkers import Lines
from support.each import each
from support.embedders import WordCounts
from support.kept_vectors import kept_vectors

CORPUS = Corpus([Document(DocumentId("a.md"), "refund\nserver\nrefund server\nglacier\nzzz")])
WORDS = ("refund", "server", "glacier")
GOOD = WordCounts(WORDS)


class Wrong(Embedder):
    """Does what it is told to do wrong."""

    dimension = 3

    def __init__(self, texts=GOOD.embed, questions=None, **more):
        self._texts, self._questions = texts, questions or texts
        vars(self).update(more)

    def embed(self, texts):
        return self._texts(texts)

    def embed_queries(self, texts):
        return self._questions(texts)


def indexed(embedder):
    retriever = VectorRAGRetriever(chunker=Lines(), embedder=embedder)
    with collect_notes() as notes:
        retriever.index(CORPUS)
    return retriever, notes


def instead(value, last=2):
    """The vectors with one number replaced."""

    def vectors(texts):
        rows = [list(map(float, row)) for row in GOOD.embed(texts)]
        rows[min(last, len(rows) - 1)][0] = value
        return rows

    return vectors


UNUSABLE = {
    "nan": (instead(float("nan")), r"NaN or infinity for 1 of 5 texts, the first: 'refund server'"),
    "infinity": (instead(float("inf")), "NaN or infinity for 1 of 5 texts, the first: 'refund server'"),
    "beyond float32": (instead(1e300), "NaN or infinity for 1 of 5 texts"),
    "nothing": (lambda _: None, "returned None"),
    "digits": (lambda texts: [["0.5", "1", "2"] for _ in texts], r"returned \[\['0.5', '1', '2'\].*"),
    "a digit": (instead("0.5"), "returned .*"),
    "complex": (instead(1j), "returned .*"),
    "objects": (lambda texts: np.array([[object()] * 3] * len(texts)), "returned .*"),
    "none among numbers": (instead(None), "returned .*"),
    "ragged": (lambda texts: [[1.0] * (3 - (n == 0)) for n, _ in enumerate(texts)], "returned .*"),
    "a generator": (lambda texts: (row for row in GOOD.embed(texts)), "returned <generator .*"),
    "one too few": (lambda texts: GOOD.embed(texts)[1:], r"returned shape \(4, 3\)"),
    "one too many": (lambda texts: GOOD.embed([*texts, "more"]), r"returned shape \(6, 3\)"),
    "no columns": (lambda texts: np.zeros((len(texts), 0)), r"returned shape \(5, 0\)"),
    "flat": (lambda texts: np.ones(len(texts)), r"returned shape \(5,\)"),
    "nested once more": (lambda texts: [GOOD.embed(texts)], r"returned shape \(1, 5, 3\)"),
    "another dimension": (lambda texts: np.ones((len(texts), 4)), r"returned shape \(5, 4\)"),
    "repr that raises": (lambda _: Unspeakable(), "returned <Unspeakable whose repr raises"),
}


class Unspeakable:
    def __repr__(self):
        raise ValueError("no words")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("texts", "said"), UNUSABLE.values(), ids=UNUSABLE)
class TestUnusableVectors:
    def test_of_chunks(self, texts, said):
        with pytest.raises(InputError, match=rf"^Wrong\.embed (returned )?{said}") as told:
            indexed(Wrong(texts))
        assert "expected (5, 3), finite numbers, row i for text i" in str(told.value)

    def test_of_questions(self, texts, said):
        retriever, _ = indexed(Wrong(questions=texts))
        with pytest.raises(InputError, match=r"^Wrong\.embed_queries returned .* for .*5.* texts.*; expected \(5, 3\)"):
            retriever.prepare(["refund", "server", "refund server", "glacier", "zzz"])

    def test_of_a_function(self, texts, said):
        def function(given):
            return texts(given) if len(given) > 1 else GOOD.embed(given)

        if said == r"returned shape \(5, 4\)":
            pytest.skip("a function may have any dimension")
        with pytest.raises(InputError, match=r"the embedder function .*function returned .*; expected \(5, "):
            FunctionEmbedder(function).embed(["refund", "server", "refund server", "glacier", "zzz"])

    def test_of_sentences(self, texts, said):
        if said == r"returned shape \(5, 4\)":
            pytest.skip("sentences are only compared with each other")
        chunker = SemanticChunker(embedder=Wrong(texts))
        if texts is UNUSABLE["beyond float32"][0]:
            pytest.skip("sentences are compared in double precision")
        sentences = Document(DocumentId("a"), "A refund. A server. A refund of a server. A glacier. A zzz.")
        with pytest.raises(InputError, match=r"SemanticChunker: Wrong\.embed returned "):
            chunker.chunk_with_positions(sentences)


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int8, np.int64, np.bool_, object, list])
def test_other_numbers_and_lists_of_them_are_taken_as_they_are(kind):
    def vectors(texts):
        return GOOD.embed(texts).tolist() if kind is list else GOOD.embed(texts).astype(kind)

    retriever, notes = indexed(Wrong(vectors))
    assert [hit.text for hit in retriever.retrieve("glacier", 1).hits] == ["glacier"]
    assert len(notes) == 1


@pytest.mark.parametrize("dimension", [None, "3", 0, -1, 3.0, True])
def test_a_dimension_that_is_no_length_is_refused(dimension):
    with pytest.raises(InputError, match=r"Wrong\.dimension is .*; expected a whole number of at least 1"):
        indexed(Wrong(dimension=dimension))


@pytest.mark.parametrize("fitted", [None, "fitted", GOOD.embed, WordCounts])
@pytest.mark.parametrize("use", ["retriever", "cache", "chunker"])
def test_fitting_has_to_return_an_embedder(fitted, use, tmp_path):
    class Learning(Wrong):
        def fit(self, documents):
            return fitted

    class Unfitted(Learning):
        def embed(self, texts):
            raise NotIndexed("fit first")

    if use == "retriever":
        fit = partial(indexed, Learning())
    elif use == "cache":
        with collect_notes():
            fit = partial(CachedEmbedder(Learning(), tmp_path).fit, ["a"])
    else:
        fit = partial(SemanticChunker(embedder=Unfitted()).chunk, "One. Two. Three.")
    with pytest.raises(InputError, match=r"(Learning|Unfitted)\.fit returned .*; expected an Embedder"):
        fit()


@each(
    "flags",
    [
        *(None, [True], "no", [[True] * 5], 7, [False] * 6),
        *([[True], [True, False]], ["a"] * 5, [object()] * 5, [0.0] * 5, [2] * 5),
    ],
)
def test_flags_of_truncation_are_true_or_false_and_one_per_text(flags):
    with pytest.raises(InputError, match=r"Wrong\.truncated returned .* for 5 texts; expected \(5,\)"):
        indexed(Wrong(truncated=lambda _: flags))


ZEROS = (
    "Wrong returns a vector of zeros for 1 of 5 texts, the first: 'zzz'. It has no direction: such chunks are found in "
    "the order of the corpus, behind those that are alike the question"
)
SAME = "{} returns the same vector for all {} texts: they are found in the order of the corpus, whatever the question"
THREE = Corpus([Document(DocumentId("a.md"), "a b\nc d\ne f")])
WHOLE = RecursiveCharacterChunker(chunk_size=800)


class TestNoDirection:
    @each(
        ("chunker", "embedder", "corpus", "said"),
        [
            (Lines(), Wrong(), CORPUS, [ZEROS]),
            (Lines(), Wrong(lambda texts: np.full((len(texts), 3), 0.5)), CORPUS, [SAME.format("Wrong", 5)]),
            (Lines(), LsaEmbedder(), THREE, [SAME.format("LsaEmbedder", 3)]),
            (WHOLE, Wrong(lambda texts: np.ones((len(texts), 3))), CORPUS, []),  # a single text is like itself
        ],
    )
    def test_vectors_of_zeros_and_one_vector_for_all_texts_are_told(self, chunker, embedder, corpus, said):
        with collect_notes() as notes:
            VectorRAGRetriever(chunker=chunker, embedder=embedder).index(corpus)
        assert notes == said

    def test_all_of_them_are_an_error(self):
        with pytest.raises(
            InputError, match=r"nothing returns a vector of zeros for all 5 texts.*nothing can be found"
        ):
            indexed(FunctionEmbedder(nothing))

    def test_questions_with_a_vector_of_zeros_are_counted_or_said_once_where_they_are_asked_one_by_one(self):
        retriever, _ = indexed(GOOD)
        with collect_notes() as notes:
            retriever.prepare(["refund", "what?", "who?", "server"])
            retriever.retrieve("what?", 2)
        assert notes == [
            "WordCounts(words=('refund', 'server', 'glacier')) returns a vector of zeros for 2 of 4 questions, the "
            "first: 'what?'. It has no direction: their results are the first chunks of the corpus"
        ]
        retriever, _ = indexed(GOOD)
        with collect_notes() as notes:
            for question in ("refund", "what?", "who?"):
                retriever.retrieve(question, 2)
        (said,) = notes
        assert "returns a vector of zeros for some questions. It has no direction" in said


def nothing(texts):
    return np.zeros((len(texts), 3))


class TestInACache:
    @pytest.mark.parametrize(("texts", "said"), UNUSABLE.values(), ids=UNUSABLE)
    def test_they_are_refused_too_and_never_kept(self, texts, said, tmp_path):
        cached = CachedEmbedder(frozen(texts), tmp_path)
        wanted = ["refund server", "refund", "server", "glacier", "zzz"]
        with pytest.raises(InputError, match=r"Frozen.*embed returned .*; expected \(5, 3\)"):
            cached.embed(wanted)
        with pytest.raises(InputError, match=r"Frozen.*embed_queries returned .*; expected \(5, 3\)"):
            cached.embed_queries(wanted)
        assert kept_vectors(EmbeddingCache(tmp_path)) == []

    @pytest.mark.parametrize("flags", [None, [True], "no", 7])
    def test_so_are_flags(self, flags, tmp_path):
        cached = CachedEmbedder(frozen(GOOD.embed, flags), tmp_path)
        for use in (cached.embed, cached.truncated):
            with pytest.raises(InputError, match=r"Frozen.*\.truncated returned .* for 2 texts; expected \(2,\)"):
                use(["refund", "server"])


def frozen(texts, flags=None):
    """A frozen embedder, which can be cached, that does something wrong."""

    @dataclass(frozen=True)
    class Frozen(Embedder):
        @property
        def dimension(self):
            return 3

        def embed(self, given):
            return texts(given)

        def embed_queries(self, given):
            return texts(given)

        def truncated(self, given):
            return flags if texts == GOOD.embed else np.zeros(len(given), dtype=bool)

    return Frozen()
