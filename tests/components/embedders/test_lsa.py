import numpy as np
import pytest

from rag_evaluation_framework.components import LsaEmbedder
from rag_evaluation_framework.errors import InputError, NotIndexed

DOCUMENTS = [
    "Invoices are sent on the first day of the month. Refunds of an invoice take five working days.",
    "Install the agent on the server. Restart the server, then the agent reports to the server.",
    "Reset a password from the login page. Each password has twelve characters.",
    "A glacier carves a valley. The valley keeps the shape of the glacier.",
]


@pytest.fixture(scope="module")
def fitted():
    return LsaEmbedder().fit(DOCUMENTS)


def cosine(first, second):
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


class TestFitting:
    def test_it_has_to_be_fitted_first(self):
        for use in (
            lambda e: e.embed(["x"]),
            lambda e: e.embed([]),
            lambda e: e.embed_query("x"),
            lambda e: e.dimension,
        ):
            with pytest.raises(NotIndexed, match=r"call fit\(documents\) first, and use what it returns"):
                use(LsaEmbedder())

    def test_what_was_learnt_is_no_parameter(self, fitted):
        assert fitted == LsaEmbedder()
        assert repr(fitted) == "LsaEmbedder(dimensions=128, seed=0)"
        assert fitted.name == "LsaEmbedder"
        assert LsaEmbedder(8).name == "LsaEmbedder(dimensions=8)"

    @pytest.mark.parametrize("documents", [[], [""], [" \n", "?!"]])
    def test_documents_without_words_are_refused(self, documents):
        with pytest.raises(InputError, match="hold no words to learn from"):
            LsaEmbedder().fit(documents)


class TestSmallCorpora:
    """The first corpus that somebody tries is small."""

    @pytest.mark.parametrize(
        "documents",
        [
            ["Refunds take five working days."],
            ["Refunds take days.", "Refunds take days."],
            ["refunds"],
            ["refunds", "refunds"],
            ["refunds", "glaciers"],
            ["Refunds take days.", ""],
            DOCUMENTS,
        ],
    )
    def test_a_few_words_are_enough_for_vectors_of_unit_length(self, documents):
        embedder = LsaEmbedder().fit(documents)
        vectors = embedder.embed([*documents, "glaciers carve valleys", "a refund of a glacier"])
        assert vectors.shape == (len(documents) + 2, embedder.dimension)
        assert np.isfinite(vectors).all()
        lengths = np.linalg.norm(vectors, axis=1)
        assert lengths[0] > 0
        np.testing.assert_allclose(lengths[lengths > 0], 1, rtol=1e-6)

    def test_a_small_corpus_has_fewer_dimensions_and_long_documents_count_by_the_passage(self, fitted):
        assert fitted.dimension == len(DOCUMENTS)
        assert LsaEmbedder(dimensions=2, seed=2**32 - 1).fit(DOCUMENTS).dimension == 2
        long = " ".join(f"word{number} thing{number % 7}" for number in range(500))
        assert LsaEmbedder().fit([long]).dimension == 10


class TestVectors:
    @pytest.mark.parametrize("count", [4, 400])  # fewer passages than words, and more: the decomposition differs
    def test_a_question_alone_copies_no_matrix_of_all_words(self, count):
        documents = [f"word{number % 20} word{number % 7} again" for number in range(count)]
        fitted = LsaEmbedder(dimensions=3).fit(documents)
        words = fitted._model.words
        assert words.flags.c_contiguous  # SciPy copies any other order for each text
        assert words.shape == (len(fitted._model.vectorizer.vocabulary_), fitted.dimension)
        for text, vector in zip(documents[:20], fitted.embed(documents[:20]), strict=True):
            np.testing.assert_array_equal(fitted.embed_query(text), vector)

    def test_texts_about_the_same_thing_are_alike_whatever_their_accents_and_case(self, fitted):
        question = fitted.embed_query("When do I get my refund? I have the invoice.")
        likeness = [cosine(question, vector) for vector in fitted.embed(DOCUMENTS)]
        assert np.argmax(likeness) == 0
        for word in ("GLACIER", "glaci\u00e9r", "glacie\u0301r"):
            np.testing.assert_array_equal(fitted.embed_query(word), fitted.embed_query("glacier"))
        assert not fitted.embed(["zzzqqq", "🚀", ""]).any()  # unknown words

    def test_words_of_one_letter_count(self):
        embedder = LsaEmbedder().fit(["vitamin a b", "vitamin c d", "vitamin e f"])
        assert cosine(embedder.embed_query("vitamin c"), embedder.embed_query("c d")) > 0.5
