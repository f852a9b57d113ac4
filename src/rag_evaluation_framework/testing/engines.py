"""Conformance suite for engines."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import SkipTest

from ..adapt.results import as_retrieval
from ..base.coroutines import resolved
from ..base.notes import collect_notes
from ..contracts.roles import Engine, can, check_engine, takes_constraints
from ..data import Document, DocumentId
from ..data.hits import Ranking
from .components import DOCUMENTS, FOOTER, QUESTIONS

_TEXT = DOCUMENTS["billing.md"]
_NEIGHBOURS = ("eval:ab:1", "eval:aXb:1", "EVAL:A_B:1", "eval:a%b:1", "eval:a", "xeval:a_b:1", "docs:1")
"""Documents that `eval:a_b:` must not reach: where `_` and `%` are patterns, or case does not count, it does."""
_SCOPE = "eval:a_b:"
_METADATA: Mapping[str, Any] = {"lang": "en", "tags": ["billing", "card"], "owner": {"team": "search", "floor": 2}}


class EngineConformance(ABC):
    """Conformance suite for engines: subclass it, return yours from `make`, and let pytest collect the subclass.

    What an engine cannot do is not asked of it: the tests of `ingest`, `delete` and `metadata_constraints` are skipped.
    The suite writes documents whose ids begin with `eval:`, `EVAL:`, `xeval:` and `docs:`: give it a table, collection
    or database of its own.
    """

    @abstractmethod
    def make(self) -> Engine:
        """Return an engine without documents; it is closed after each test, if it can be."""

    def test_it_is_an_engine(self) -> None:
        """It has `retrieve`."""
        with self._made() as engine:
            check_engine(engine)

    def test_what_is_ingested_is_found_in_its_scope_and_nowhere_else(self) -> None:
        """A scope is taken letter for letter; the empty one is all documents."""
        with self._filled() as engine:
            assert set(_found(engine, _SCOPE)) == {"eval:a_b:1", "eval:a_b:2"}
            assert set(_found(engine, "eval:a_b:2")) == {"eval:a_b:2"}
            assert set(_found(engine, "eval:none:")) == set()
            assert set(_found(engine, "")) == {"eval:a_b:1", "eval:a_b:2", *_NEIGHBOURS}

    def test_no_more_is_returned_than_was_asked_for(self) -> None:
        """`top_k` is how many results there are at most."""
        with self._filled() as engine:
            for top_k in (1, 2, 3):
                assert len(_hits(engine, "", top_k)) <= top_k

    def test_results_name_their_documents_and_places_that_there_are(self) -> None:
        """Every result has a `doc_id`; offsets, where there are some, are of its text."""
        with self._filled() as engine:
            for hit in _hits(engine, "", 50):
                assert hit.doc_id is not None, f"{hit} names no document"
                if hit.start is not None and hit.end is not None:
                    assert 0 <= hit.start <= hit.end <= len(_TEXT), f"{hit} is not in its document"

    def test_a_document_that_comes_again_takes_the_place_of_the_first(self) -> None:
        """Ingesting an id again replaces the document."""
        with self._filled() as engine:
            resolved(engine.ingest(_document("eval:a_b:1", FOOTER)))
            hits = [hit for hit in _hits(engine, "eval:a_b:1", 50) if hit.text is not None]
            assert all("Refunds" not in (hit.text or "") for hit in hits), f"the first text is still found: {hits}"

    def test_deleting_takes_the_prefix_letter_for_letter(self) -> None:
        """`delete` removes what begins with the prefix and nothing beside it, also if it is done twice."""
        with self._filled() as engine:
            for _ in range(2):
                resolved(engine.delete(_SCOPE))
                assert set(_found(engine, "")) == {*_NEIGHBOURS}

    def test_constraints_on_metadata_are_kept(self) -> None:
        """A constraint is met by metadata that contain it: of a mapping every entry, of a list every item."""
        with self._writable() as engine:
            if not takes_constraints(engine):
                raise SkipTest("its retrieve takes no metadata_constraints")
            resolved(engine.ingest(_document("eval:a_b:1", metadata=_METADATA)))
            resolved(engine.ingest(_document("eval:a_b:2", metadata={"lang": "de"})))
            met: tuple[Mapping[str, Any], ...] = (
                {"lang": "en"},
                {"tags": ["card"]},
                {"owner": {"team": "search"}},
                {"lang": "en", "tags": []},
            )
            missed: tuple[Mapping[str, Any], ...] = (
                {"lang": "EN"},
                {"tags": ["cards"]},
                {"none": None},
                {"owner": {"floor": "2"}},
            )
            for constraints in (*met, *missed):
                expected = ["eval:a_b:1"] if constraints in met else []
                assert _found(engine, _SCOPE, constraints) == expected, f"constraints {constraints}"

    @contextmanager
    def _made(self) -> Generator[Any]:
        engine: Any = self.make()
        try:
            yield engine
        finally:
            close: Any = getattr(engine, "close", None)
            if callable(close):
                resolved(close())

    @contextmanager
    def _writable(self) -> Generator[Any]:
        with self._made() as engine:
            for ability in ("ingest", "delete"):
                if not can(engine, ability):
                    raise SkipTest(f"it has no {ability}")
            yield engine

    @contextmanager
    def _filled(self) -> Generator[Any]:
        with self._writable() as engine:
            for name in ("eval:a_b:1", "eval:a_b:2", *_NEIGHBOURS):
                resolved(engine.ingest(_document(name)))
            yield engine


def _document(name: str, text: str = _TEXT, metadata: Mapping[str, Any] | None = None) -> Document:
    return Document(DocumentId(name), text, metadata or {})


def _hits(engine: Any, scope: str, top_k: int, constraints: Mapping[str, Any] | None = None) -> Ranking:
    options: dict[str, Any] = {} if constraints is None else {"metadata_constraints": constraints}
    answer: Any = resolved(engine.retrieve(QUESTIONS[0], top_k, scope, **options))
    with collect_notes():  # of what is too much, as a test says it
        return as_retrieval(answer, type(engine).__name__, top_k + 1).hits


def _found(engine: Any, scope: str, constraints: Mapping[str, Any] | None = None) -> list[str]:
    """Return the documents that are found, best first, each once."""
    return list(dict.fromkeys(str(hit.doc_id) for hit in _hits(engine, scope, 50, constraints)))
