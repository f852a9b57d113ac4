"""What every reranker must keep."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence

from rag_evaluation_framework.contracts.reranker import Reranker
from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.ids import DocumentId
from rag_evaluation_framework.types import Document, PositionAwareChunk

_FOOTER = "Support answers within one working day."
_TEXTS = (
    "Invoices are sent on the first day of the month.",
    "Refunds take five working days after approval.",
    _FOOTER,
    "Install the agent on every server, then restart the server once.",
    "A password has twelve characters and at least one digit.",
    "検索の評価では、正しい文章が見つかったかどうかを調べます。",
    "Ship it 🚀🚀 now 👩‍👩‍👧‍👦 and celebrate 🎉.",
    _FOOTER,
    "?!…",
    "report " * 1_500,
)
_QUESTIONS = ("How long do refunds take?", "restart the server", _FOOTER, "検索")
_STRANGE = ("", " \n", "🚀🎉", "?!…", "zzzqqq xxyyzz", "\ud800", "password " * 2_000)


class RerankerConformance(ABC):
    """Subclass it, return your reranker from `make`, and let pytest collect the subclass."""

    @abstractmethod
    def make(self) -> Reranker:
        """Return the reranker under test."""

    def test_every_chunk_comes_back_once(self) -> None:
        """No chunk is lost, made up, doubled or changed."""
        reranker, chunks = self.make(), _chunks()
        for question in _QUESTIONS:
            ranked = _reranked(reranker, question, chunks)
            wanted, got = Counter(map(repr, chunks)), Counter(map(repr, ranked))
            lost, extra = wanted - got, got - wanted
            assert not lost, f"{question!r}: lost {list(lost)[:2]}"
            assert not extra, f"{question!r}: returned {list(extra)[:2]}, which it was not given, or not so often"

    def test_equal_texts_at_two_places_both_stay(self) -> None:
        """Chunks are told apart by place."""
        reranker, chunks = self.make(), _chunks()
        wanted = sorted(chunk.doc_id for chunk in chunks if chunk.content == _FOOTER)
        for question in _QUESTIONS:
            ranked = _reranked(reranker, question, chunks)
            found = sorted(chunk.doc_id for chunk in ranked if chunk.content == _FOOTER)
            assert found == wanted, f"{question!r}: equal texts of {wanted} came back as those of {found}"

    def test_top_k_is_the_beginning_of_the_whole_order(self) -> None:
        """The best `top_k` are the first of all; more than there are is all, and none is none."""
        reranker, chunks = self.make(), _chunks()
        for question in _QUESTIONS:
            every = _reranked(reranker, question, chunks)
            for top_k in (0, 1, 3, len(chunks), 10_000):
                best = _reranked(reranker, question, chunks, top_k)
                assert best == every[:top_k], f"{question!r}: top_k={top_k} gave {best}, all gave {every}"

    def test_nothing_comes_from_nothing(self) -> None:
        """No chunks give no chunks."""
        reranker = self.make()
        for top_k in (None, 0, 5):
            ranked = _reranked(reranker, _QUESTIONS[0], (), top_k)
            assert ranked == [], f"top_k={top_k}: no chunks gave {ranked}"

    def test_the_order_is_the_same_every_time(self) -> None:
        """Asking again, after other questions too, and another reranker of the same parameters, gives the same."""
        reranker, chunks = self.make(), _chunks()
        first = [_reranked(reranker, question, chunks) for question in _QUESTIONS]
        again = [_reranked(reranker, question, chunks) for question in reversed(_QUESTIONS)][::-1]
        other = self.make()
        anew = [_reranked(other, question, chunks) for question in _QUESTIONS]
        for number, question in enumerate(_QUESTIONS):
            assert again[number] == first[number], f"{question!r}: the order changed when asked again"
            assert anew[number] == first[number], f"{question!r}: an equal reranker gave another order"

    def test_the_chunks_are_not_changed(self) -> None:
        """The list that is passed in stays as it is."""
        chunks = _chunks()
        _reranked(self.make(), _QUESTIONS[0], chunks)
        assert chunks == _chunks(), f"the list was changed to {chunks}"

    def test_strange_questions_are_no_error(self) -> None:
        """Empty and blank questions, unknown words, emoji, lone surrogates and very long questions give an order."""
        reranker, chunks = self.make(), [*_chunks(), _chunk("odd.md", "\ud800 odd"), _chunk("blank.md", " \n")]
        for question in _STRANGE:
            found = len(_reranked(reranker, question, chunks))
            assert found == len(chunks), f"{question[:30]!r}: {found} of {len(chunks)} chunks came back"

    def test_preparing_twice_is_no_error(self) -> None:
        """`prepare` may be called before every index, or not at all."""
        reranker, chunks = self.make(), _chunks()
        before = _reranked(reranker, _QUESTIONS[0], chunks)
        for _ in range(2):
            reranker.prepare()
        after = _reranked(reranker, _QUESTIONS[0], chunks)
        assert after == before, f"before prepare {before}, after it {after}"

    def test_the_name_fits_into_a_table(self) -> None:
        """The name is one line of text and the same each time, prepared or not."""
        reranker = self.make()
        name = reranker.name
        assert name.strip(), f"name {name!r}: wanted a text"
        assert name.isprintable(), f"name {name!r}: wanted one printable line"
        reranker.prepare()
        assert reranker.name == name == self.make().name, f"called {name!r}, then {reranker.name!r}"


def _chunk(name: str, text: str) -> PositionAwareChunk:
    document = Document(DocumentId(name), f"# Title\n\n{text}\n")
    chunk = PositionAwareChunk.of(document, 9, 9 + len(text))
    return PositionAwareChunk(chunk.id, text, chunk.doc_id, chunk.start, chunk.end, {"section": name, "tags": ["a"]})


def _chunks() -> list[PositionAwareChunk]:
    return [_chunk(f"{number}.md", text) for number, text in enumerate(_TEXTS)]


def _reranked(
    reranker: Reranker, question: str, chunks: Sequence[PositionAwareChunk], top_k: int | None = None
) -> list[PositionAwareChunk]:
    return list(resolved(reranker.rerank(question, chunks, top_k)))
