"""What a store loses, doubles or makes up is told when the corpus is indexed, before anything is scored."""

import re
from itertools import count, repeat

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, VectorRAGRetriever, generate_chunk_id
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import InMemoryVectorStore
from rag_evaluation_framework.components.retrievers import chunk_corpus, embed_chunks, fill_store
from rag_evaluation_framework.contracts import VectorStore
from rag_evaluation_framework.data import Chunk
from rag_evaluation_framework.errors import InputError
from support.chunkers import Lines
from support.each import each
from support.embedders import WordCounts

CORPUS = Corpus(
    [
        Document(DocumentId("a.md"), "refund\nserver\nrefund server\nglacier"),
        Document(DocumentId("b.md"), "refund\nrefund glacier"),
    ]
)
EMBEDDER = WordCounts(("refund", "server", "glacier"))
STRANGER = Chunk(generate_chunk_id("of another corpus"), "of another corpus", DocumentId("z.md"))


class KeyedByText(InMemoryVectorStore):
    """Equal texts are one."""

    def add(self, chunks, embeddings):
        known = {chunk.content for chunk in self._chunks}
        rows = [row for row, chunk in enumerate(chunks) if chunk.content not in known]
        rows = [row for row in rows if chunks[row].content not in {chunk.content for chunk in chunks[:row]}]
        super().add([chunks[row] for row in rows], embeddings[rows])


class Twice(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        super().add(chunks, embeddings)
        super().add(chunks, embeddings)


class Stubborn(InMemoryVectorStore):
    def clear(self):
        pass


class LastBatchOnly(InMemoryVectorStore):
    def add(self, chunks, embeddings):
        super().clear()
        super().add(chunks, embeddings)


def uncounted(kind):
    """A store that behaves as this one, and has no length."""

    class Uncounted(VectorStore):
        def __init__(self):
            self.inner = kind()

        def add(self, chunks, embeddings):
            self.inner.add(chunks, embeddings)

        def search(self, query_embedding, k):
            return self.inner.search(query_embedding, k)

        def clear(self):
            self.inner.clear()

    return Uncounted


def filled(store):
    with collect_notes() as notes:
        retriever = VectorRAGRetriever(chunker=Lines(), embedder=EMBEDDER, vector_store=store, batch_size=4)
        retriever.index(CORPUS)
    return retriever, notes


def searching(answer):
    """A store whose search returns what the function makes of the right results."""

    class Searching(InMemoryVectorStore):
        def search(self, query_embedding, k):
            return self.search_many([query_embedding], k)[0]

        def search_many(self, query_embeddings, k):
            return [answer(found) for found in super().search_many(query_embeddings, k)]

    return Searching()


class TestCounting:
    @each(
        ("make", "said"),
        [
            *((make, None) for make in (InMemoryVectorStore, uncounted(InMemoryVectorStore))),
            (KeyedByText, "^KeyedByText holds 5 chunks after 6 were added"),
            (Twice, "^Twice holds 12 chunks after 6 were added"),
            (LastBatchOnly, "^LastBatchOnly holds 2 chunks after 6 were added"),
            # Of a store that cannot be counted a search tells.
            *((uncounted(kind), "Uncounted found .*of 6 chunks") for kind in (KeyedByText, LastBatchOnly)),
            (
                lambda: searching(lambda found: found[:2]),
                "^Searching found 2 of 6 chunks that were added, in a search for 6",
            ),
        ],
    )
    def test_another_number_of_chunks_is_told_and_nothing_is_said_of_the_right_one(self, make, said):
        _, notes = filled(make())
        if said is None:
            assert notes == []
            return
        assert re.search(said, notes[0])
        assert len(notes) == 1 or "holds" in said

    def test_what_is_left_after_clearing_is_an_error(self):
        store = Stubborn()
        filled(store)
        with pytest.raises(InputError, match=r"Stubborn holds 6 chunks after clear\(\).*would be found as well"):
            filled(store)

    @each("lengths", [[], [0]])  # of a store that was emptied, and of one that was filled
    def test_a_length_that_cannot_be_told_is_an_error(self, lengths):
        class Uncountable(InMemoryVectorStore):
            def __len__(self):
                if lengths:
                    return lengths.pop()
                raise ConnectionError("the database is gone")

        with pytest.raises(InputError, match=r"^len\(\) of Uncountable.* raises .*the database is gone"):
            filled(Uncountable())

    def test_also_of_a_store_that_cannot_be_counted(self):
        store = uncounted(Stubborn)()
        other = Corpus([Document(DocumentId("z.md"), "refund server\nserver")])
        chunks = chunk_corpus(other, Lines())
        store.add(chunks, embed_chunks(chunks, EMBEDDER).vectors)
        with pytest.raises(
            InputError, match=r"Uncounted found 'refund server' of document 'z.md', which was not added"
        ):
            filled(store)


class TestSearching:
    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (lambda found: [STRANGER, *found], "found 'of another corpus' of document 'z.md', which was not added"),
            (set, r"returned \{.*; expected a list of chunks that were added"),
            (dict.fromkeys, r"returned \{.*; expected a list of chunks that were added"),
            (
                lambda found: [{"id": 1}, *found],
                r"returned \{'id': 1\} as a chunk; expected a list of chunks",
            ),
            (
                lambda found: [(chunk, 0.5) for chunk in found],
                r"returned \(PositionAware.*; expected a list of chunks",
            ),
            (lambda _: None, "returned None; expected a list of chunks"),
            (lambda _: 7, "returned 7; expected a list of chunks"),
            (lambda _: "text", "returned 'text'; expected a list of chunks"),
        ],
    )
    def test_what_was_never_added_is_an_error(self, answer, said):
        with pytest.raises(InputError, match=f"Searching {said}"):
            filled(searching(answer))

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_an_answer_without_an_end_is_read_up_to_k(self):
        store = searching(lambda found: (chunk for _ in count() for chunk in found))
        retriever, _ = filled(store)
        assert len(retriever.retrieve("refund", 3).hits) == 3
        assert [len(each.hits) for each in retriever.retrieve_many(["refund", "server"], 3)] == [3, 3]

    @pytest.mark.parametrize(("k", "number"), [(1, 1), (4, 4), (100, 6), (0, 0)])
    def test_more_than_k_is_cut(self, k, number):
        class Generous(InMemoryVectorStore):
            def search_many(self, query_embeddings, k):
                return super().search_many(query_embeddings, 100)

        retriever, _ = filled(Generous())
        assert len(retriever.retrieve("refund", k).hits) == number

    def test_a_search_that_fails_is_told_by_the_questions(self):
        def fail(found):
            raise ConnectionError("the server is gone")

        retriever, notes = filled(searching(fail))
        assert notes == []
        with pytest.raises(ConnectionError):
            retriever.retrieve("refund", 1)

    @pytest.mark.parametrize("rankings", [[], [[]], [[], [], []], None, 7])
    def test_another_number_of_rankings_is_refused(self, rankings):
        class Losing(InMemoryVectorStore):
            answer = None

            def search_many(self, query_embeddings, k):
                return super().search_many(query_embeddings, k) if len(query_embeddings) == 1 else rankings

        retriever, _ = filled(Losing())
        with pytest.raises(InputError, match=r"Losing\.search_many returned .*(2|one ranking per) question"):
            retriever.retrieve_many(["refund", "server"], 3)

    @pytest.mark.parametrize("made_up", [7, None, {"text": "refund"}, "refund"])
    def test_what_is_no_chunk_is_refused_while_searching(self, made_up):
        answers = repeat([made_up])

        class Later(InMemoryVectorStore):
            started = False

            def search_many(self, query_embeddings, k):
                return (
                    [next(answers)] * len(query_embeddings)
                    if self.started
                    else super().search_many(query_embeddings, k)
                )

        retriever, _ = filled(Later())
        Later.started = True
        with pytest.raises(InputError, match=r"Later returned .*; expected a list of chunks that were added"):
            retriever.retrieve("refund", 3)


def test_the_steps_by_themselves_tell_it_too():
    chunks = chunk_corpus(CORPUS, Lines())
    with collect_notes() as notes:
        fill_store(KeyedByText(), chunks, embed_chunks(chunks, EMBEDDER).vectors)
    assert len(notes) == 1
