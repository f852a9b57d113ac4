import asyncio
import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    BM25Retriever,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    compare,
    evaluate,
)
from rag_evaluation_framework.base.coroutines import Awaited
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.components.rerankers import FunctionReranker
from rag_evaluation_framework.components.retrievers import EngineRetriever, clean_up
from rag_evaluation_framework.errors import ConfigError, DatasetError
from support.each import each
from support.engines import MemoryEngine

TEXTS = {"1": "Refunds take five days.", "2": "Parcels carry a number.", "3": "Offices close on Sunday."}


def corpus_of(scope="eval:a:"):
    return Corpus(Document(DocumentId(f"{scope}{name}"), text, {"number": name}) for name, text in TEXTS.items())


def dataset_of(scope="eval:a:", corpus=None, **kept):
    truth = [
        DocumentLevelGroundTruth(Query("q1", "How long do refunds take?", kept), [DocumentId(f"{scope}1")]),
        DocumentLevelGroundTruth(Query("q2", "When do offices close?", kept), [DocumentId(f"{scope}3")]),
    ]
    return Dataset(truth, DOCUMENT, corpus=corpus, metadata={"defaults": {"scopePrefix": scope}})


def neighbours():
    names = ("eval:ab:1", "eval:b:1", "EVAL:A:1", "docs:1", "eval:a")
    return [Document(DocumentId(name), "Refunds of others.") for name in names]


def test_documents_are_deleted_and_written_within_the_scope_and_then_searched():
    engine = MemoryEngine([*neighbours(), Document(DocumentId("eval:a:old"), "Refunds of old.")])
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    result = evaluate(retriever, dataset_of(corpus=corpus_of()), 5, budgets=[])
    assert result.metrics["recall@5"] == 1.0
    assert engine.written() == [("delete", "eval:a:"), *(("ingest", f"eval:a:{name}") for name in TEXTS)]
    assert {document.id for document in neighbours()} <= engine.documents.keys()
    assert engine.documents["eval:a:1"].metadata == {"number": "1"}
    assert [hit.doc_id for hit in result.queries[0].hits] == ["eval:a:1"]


def test_a_run_that_writes_nothing_needs_no_documents():
    engine = MemoryEngine(corpus_of("docs:"))
    result = evaluate(EngineRetriever(engine, "docs:"), dataset_of("docs:"), 5)
    assert result.metrics["recall@5"] == 1.0
    assert engine.written() == []
    assert result.config["corpus"]["documents"] == 0
    assert result.config["retriever"] | {"engine": None} == {
        "type": "engine",
        "engine": None,
        "scope": "docs:",
        "ingest": False,
        "custom_scope": False,
        "run_id": "",
    }
    assert not any("which the corpus does not have" in text for text in result.notes)


@each(
    ("changed", "scope", "parameters", "said"),
    [
        *(
            ({}, scope, {"ingest": True}, "may not be written|everything would be deleted")
            for scope in ("", "eval:", "eval", "docs:", "eval:a", "Eval:a:", " eval:a:")
        ),
        ({}, "", {"ingest": True, "custom_scope": True}, "everything would be deleted"),
        ({}, "eval:a:{runId}:", {"run_id": "first"}, "has the id of the run in it, and the run writes no documents"),
        *(
            (
                {lacking: None},
                "eval:a:",
                {"ingest": True},
                f"MemoryEngine has no {lacking}, and the documents are to be",
            )
            for lacking in ("ingest", "delete")
        ),
        *(
            ({"abilities": given}, "eval:a:", {"ingest": True}, "abilities is .*; expected a list of names")
            for given in (5, "no ingest, no delete")
        ),
    ],
)
def test_what_may_or_can_not_be_written_is_refused_before_anything_is_done(changed, scope, parameters, said):
    engine = MemoryEngine(neighbours())
    vars(engine).update(changed)
    with pytest.raises(ConfigError, match=said):
        EngineRetriever(engine, scope, **parameters)
    assert engine.log == []


RUN = "eval:a:{runId}:"
IN_BOTH = r"put \{runId\} in both, as in eval:my-dataset:\{runId\}:, or in neither"


@each(
    ("parameters", "dataset", "said"),
    [
        (
            {"ingest": True},
            dataset_of(corpus=Corpus([*corpus_of(), Document(DocumentId("eval:ab:9"), "Outside.")])),
            r"outside of the scope 'eval:a:'.*'eval:ab:9'; nothing was written",
        ),
        ({"ingest": True, "run_id": "7"}, dataset_of(corpus=corpus_of(RUN)), IN_BOTH),
        ({"ingest": True, "run_id": "7"}, dataset_of(scopePrefix=RUN, corpus=corpus_of()), IN_BOTH),
        ({"ingest": True}, dataset_of(scopePrefix="", corpus=corpus_of()), "a question asks for all documents"),
        ({}, dataset_of(scopePrefix=RUN), "has the id of the run in it, and the run writes no documents"),
    ],
)
def test_a_dataset_that_does_not_fit_the_scope_is_refused_before_anything_is_deleted(parameters, dataset, said):
    engine = MemoryEngine(neighbours())
    retriever = EngineRetriever(engine, "eval:a:" if parameters else "", **parameters)
    with pytest.raises((ConfigError, DatasetError), match=said):
        evaluate(retriever, dataset, 5, budgets=[])
    assert engine.log == []


def test_the_id_of_the_run_is_filled_in_for_the_engine_and_for_nobody_else():
    scope, engine = "eval:a:{runId}:", MemoryEngine(neighbours())
    results = []
    for run_id in ("first", "second"):
        retriever = EngineRetriever(engine, scope, ingest=True, run_id=run_id)
        results.append(evaluate(retriever, dataset_of(scope, corpus_of(scope)), 5, budgets=[]))
        assert engine.documents.keys() >= {f"eval:a:{run_id}:{name}" for name in TEXTS}
        assert ("retrieve", f"eval:a:{run_id}:") in engine.log
    first, second = results
    assert [hit.doc_id for hit in first.queries[0].hits] == ["eval:a:{runId}:1"]
    assert first.metrics["recall@5"] == second.metrics["recall@5"] == 1.0
    assert "{runId} is first" in first.notes
    assert {len(side) for side in (compare(*results).added, compare(*results).removed)} == {0}
    again = EngineRetriever(engine, scope, ingest=True, run_id="first")
    with pytest.warns(UserWarning, match="runId} is first"):
        again.index(corpus_of(scope))
    clean_up(again, "always", failed=False)
    assert sorted(key for key in engine.documents if key.startswith("eval:a:")) == [
        f"eval:a:second:{name}" for name in TEXTS
    ]


def test_an_id_is_made_for_each_run_where_none_is_given():
    scope, engine = "eval:a:{runId}:", MemoryEngine()
    both = [EngineRetriever(engine, scope, ingest=True) for _ in range(2)]
    for retriever in both:
        with collect_notes():
            retriever.index(corpus_of(scope))
    with pytest.raises(DatasetError, match=IN_BOTH):
        EngineRetriever(engine, "eval:a:", ingest=True, run_id="7").index(corpus_of(scope))
    assert len(engine.documents) == 2 * len(TEXTS)
    assert not any("{runId}" in name for name in engine.documents)
    assert {retriever.run_id for retriever in both} == {name.split(":")[2] for name in engine.documents}
    assert replace(both[0]) == both[0]


@each(
    ("dataset", "scope"),
    [
        (dataset_of("docs:", scopePrefix=""), ""),
        (Dataset([DocumentLevelGroundTruth(Query("q1", "Refunds?"), [DocumentId("eval:a:1")])], DOCUMENT), "eval:a:"),
    ],
)
def test_a_question_may_ask_for_all_documents_and_without_a_scope_is_asked_in_that_of_the_run(dataset, scope):
    engine = MemoryEngine([*neighbours(), *corpus_of(), *corpus_of("docs:")])
    result = evaluate(EngineRetriever(engine, "eval:a:"), dataset, 5, budgets=[])
    assert {*engine.log} == {("retrieve", scope)}
    assert all(hit.doc_id.startswith(scope) for query in result.queries for hit in query.hits)
    assert result.metrics["recall@5"] == 1.0


def test_the_scope_and_the_constraints_of_a_question_reach_the_engine_and_one_that_takes_none_is_refused():
    """Of the two documents in the scope that share a word with the question, one meets the constraints."""

    class Plain:
        def retrieve(self, query, top_k, scope):
            return []

    more = [Document(DocumentId(f"eval:a:{name}"), "How long parcels take.", {"number": name}) for name in ("4", "40")]
    engine = MemoryEngine([*corpus_of(), *more])
    kept = {"scopePrefix": "eval:a:4", "metadataConstraints": {"number": "4"}}
    result = evaluate(EngineRetriever(engine, "eval:a:"), dataset_of(**kept), 5, budgets=[])
    assert ("retrieve", "eval:a:4") in engine.log
    assert [[hit.doc_id for hit in query.hits] for query in result.queries] == [["eval:a:4"], []]
    with pytest.raises(DatasetError, match=r"metadataConstraints on 'number'.*Plain does not honour"):
        evaluate(EngineRetriever(Plain()), dataset_of(metadataConstraints={"number": "4"}), 5)


def test_a_key_that_an_engine_holds_is_in_nothing_that_is_kept(tmp_path):
    class Keyed(MemoryEngine):
        def __init__(self):
            super().__init__()
            self.api_key = "correct horse battery"

        def retrieve(self, query, top_k, scope):
            raise ConnectionError(f"nobody is known by {self.api_key}")

    result = evaluate(EngineRetriever(Keyed(), "eval:a:"), dataset_of(), 5)
    saved = result.save(tmp_path / "run")
    kept = "".join(path.read_text() for path in saved.iterdir() if path.suffix != ".gz")
    assert "nobody is known by ***" in kept
    assert "correct horse" not in kept + str(result)


def test_results_outside_of_the_scope_are_told():
    class Careless(MemoryEngine):
        def retrieve(self, query, top_k, scope, metadata_constraints=None):
            return super().retrieve(query, top_k, "", metadata_constraints)

    result = evaluate(EngineRetriever(Careless([*neighbours(), *corpus_of()]), "eval:a:"), dataset_of(), 5)
    assert any("outside of the scope that was asked for" in text for text in result.notes)


def test_methods_may_be_coroutines():
    class Awaited(MemoryEngine):
        async def ingest(self, document):
            super().ingest(document)

        async def delete(self, scope_prefix):
            super().delete(scope_prefix)

        async def retrieve(self, query, top_k, scope):
            return super().retrieve(query, top_k, scope)

        async def close(self):
            super().close()

    engine = Awaited()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    assert evaluate(retriever, dataset_of(corpus=corpus_of()), 5).metrics["recall@5"] == 1.0
    clean_up(retriever, "always", failed=False)
    assert engine.log[-2:] == [("delete", "eval:a:"), ("close",)]


@each(
    ("cleanup", "failed", "deleted"),
    [
        ("none", False, False),
        ("none", True, False),
        ("on-success", False, True),
        ("on-success", True, False),
        ("always", False, True),
        ("always", True, True),
    ],
)
@each(("ingest", "written"), [(True, True), (True, False), (False, True)])
def test_what_was_written_is_deleted_as_far_as_it_is_to_be(cleanup, failed, deleted, ingest, written):
    engine = MemoryEngine(corpus_of())
    retriever = EngineRetriever(engine, "eval:a:", ingest=ingest)
    if written:
        retriever.index(corpus_of())
    engine.log.clear()
    with collect_notes():
        clean_up(retriever, cleanup, failed=failed)
    assert engine.log == [*([("delete", "eval:a:")] if deleted and ingest and written else []), ("close",)]


class TakesTwo:
    def retrieve(self, query, top_k):
        return []


class TakesMore:
    def retrieve(self, query, top_k, scope, tenant):
        return []


@each(
    ("engine", "said"),
    [
        (MemoryEngine, "engine=MemoryEngine is a class; pass an instance"),
        (BM25Retriever(), "is a retriever; pass it as one"),
        (object(), "without retrieve; expected an object with"),
        (len, "without retrieve; expected an object with"),
        (TakesTwo(), r"retrieve\(.*\) cannot be called as retrieve\(query, top_k, scope\): .*arg"),
        (TakesMore(), r"retrieve\(.*\) cannot be called as retrieve\(query, top_k, scope\): .*arg"),
    ],
)
def test_what_is_no_engine_or_cannot_be_asked_is_refused(engine, said):
    with pytest.raises(ConfigError, match=said):
        EngineRetriever(engine)


class Rubbish(MemoryEngine):
    """Answers more than was asked for, some of it twice, without finite scores, and beyond the end of a document."""

    def retrieve(self, query, top_k, scope):
        (found,) = super().retrieve(query, top_k, scope)
        return [{**found, "score": float("nan")}, found, {**found, "text": None, "end": 10**9}, *[found] * top_k]


class Far(MemoryEngine):
    """Finds three places beyond the end of the document."""

    def retrieve(self, query, top_k, scope):
        return [{"doc_id": f"{scope}1", "start": 1000 * place, "end": 1000 * place + 9} for place in (1, 2, 3)]


def test_what_is_odd_in_an_answer_is_counted_and_shown_and_places_beyond_the_end_are_no_repetitions():
    result = evaluate(EngineRetriever(Rubbish(corpus_of()), "eval:a:"), dataset_of(corpus=corpus_of()), 5, budgets=[])
    assert result.metrics["recall@5"] == 1.0
    told = "\n".join(result.notes)
    assert "Rubbish returned more results than it was asked for; the first ones were read (questions: 2)" in told
    assert "Rubbish returned scores that are no finite numbers; they were left out" in told
    assert "places that do not hold the result that names them: 2, such as [0:1000000000] of 'eval:a:" in told
    assert "results that are another one of their ranking once more: 6;" in told
    assert "! Rubbish returned more results" in str(result)
    far = evaluate(EngineRetriever(Far(corpus_of()), "eval:a:"), dataset_of(corpus=corpus_of()), 5, budgets=[])
    assert not any("once more" in note for note in far.notes)


class Slow(MemoryEngine):
    def retrieve(self, query, top_k, scope):
        time.sleep(0.05)
        return {"hits": super().retrieve(query, top_k, scope), "seconds": {"search": 0.001}}


def test_time_that_an_engine_does_not_tell_of_is_in_its_latency():
    retriever = EngineRetriever(Slow(corpus_of()), "eval:a:")
    result = evaluate(retriever, dataset_of(corpus=corpus_of()), 5, budgets=[])
    assert [*result.latency.stages] == ["search", "other"]
    assert 0.05 <= result.latency.total.p50 < 5
    reranked = evaluate(
        RerankedRetriever(retriever, FunctionReranker(lambda query, texts: [1] * len(texts))), dataset_of()
    )
    assert reranked.latency.total.p50 >= 0.05


@pytest.mark.parametrize(
    ("run_id", "cleanup", "failed", "told"),
    [
        ("7", "none", False, ["what the run wrote in 'eval:a:7:' stays there, as cleanup is none"]),
        ("7", "always", False, []),
        ("", "none", False, []),
        ("", "on-success", False, []),
        (
            "",
            "on-success",
            True,
            ["what the run wrote in 'eval:a:' stays there, as cleanup is on-success and the run failed"],
        ),
    ],
)
def test_what_stays_behind_is_told_where_it_may_not_be_expected(run_id, cleanup, failed, told):
    scope = "eval:a:{runId}:" if run_id else "eval:a:"
    retriever = EngineRetriever(MemoryEngine(), scope, ingest=True, run_id=run_id)
    with collect_notes():
        retriever.index(corpus_of(scope))
    with collect_notes() as notes:
        clean_up(retriever, cleanup, failed=failed)
    assert notes == told


def test_a_failed_question_is_counted_and_the_others_are_scored():
    class Flaky(MemoryEngine):
        def retrieve(self, query, top_k, scope):
            if "offices" in query:
                raise SystemExit(3)
            return super().retrieve(query, top_k, scope)

    result = evaluate(EngineRetriever(Flaky(corpus_of()), "eval:a:"), dataset_of(), 5)
    assert (result.counts["scored"], result.counts["failed"]) == (1, 1)
    assert result.metrics["recall@5"] == 1.0


def test_an_error_while_documents_are_written_says_which():
    class Full(MemoryEngine):
        def ingest(self, document):
            if document.id.endswith("2"):
                raise OSError("no room")
            super().ingest(document)

    with pytest.raises(OSError, match="no room") as caught:
        evaluate(EngineRetriever(Full(), "eval:a:", ingest=True), dataset_of(corpus=corpus_of()), 5)
    assert "while document 'eval:a:2' was ingested" in caught.value.__notes__


@pytest.mark.parametrize(
    "inner",
    [
        EngineRetriever,
        lambda engine: RerankedRetriever(
            EngineRetriever(engine), FunctionReranker(lambda query, texts: [0] * len(texts))
        ),
    ],
)
def test_an_engine_inside_of_a_hybrid_is_refused(inner):
    with pytest.raises(ConfigError, match="MemoryEngine is an engine, which is evaluated as a whole"):
        HybridRetriever((BM25Retriever(), inner(MemoryEngine())))


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        *((name, "***") for name in ("ENGINE_PASSWORD", "MY_API_KEY", "PGPASSWORD", "SEARCH_TOKEN")),
        *((name, "correct horse") for name in ("PWD", "SORT_ORDER")),
    ],
)
def test_what_an_engine_tells_of_the_secrets_of_the_environment_is_hidden(monkeypatch, tmp_path, variable, told):
    class Refused(MemoryEngine):
        def retrieve(self, query, top_k, scope):
            raise RuntimeError(f"cannot log in with {os.environ[variable].strip()}")

    monkeypatch.setenv(variable, "correct horse\n")
    result = evaluate(EngineRetriever(Refused()), dataset_of(), 5)
    assert f"cannot log in with {told}" in result.failures["q1"][0].message
    folder = result.save(root=tmp_path)
    kept = [(folder / name).read_text() for name in ("report.json", "summary.md")]
    assert any("horse" in text for text in kept) == (told != "***")


class Interrupting(MemoryEngine):
    """Is interrupted while it deletes, so many times."""

    times = 0

    def delete(self, scope_prefix):
        if self.times:
            self.times -= 1
            raise KeyboardInterrupt
        super().delete(scope_prefix)


@pytest.mark.parametrize(("times", "left"), [(1, False), (2, True)])
def test_an_interrupt_while_all_is_deleted_is_raised_when_that_is_done_or_told(times, left):
    engine = Interrupting()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    retriever.index(corpus_of())
    engine.times = times
    with collect_notes() as notes, pytest.raises(KeyboardInterrupt):
        clean_up(retriever, "always", failed=False)
    assert bool(engine.documents) is left
    assert any("what the run wrote in 'eval:a:' could not be deleted" in text for text in notes) is left
    assert engine.log[-1] == ("close",)


class Last(BaseException):
    pass


@pytest.mark.parametrize("error", [OSError("the disk is full"), Last("no more")], ids=repr)
def test_whatever_is_raised_while_all_is_deleted_is_told_and_the_engine_closed(error):
    engine = MemoryEngine()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)

    def fail(*_):
        raise error

    engine.delete = engine.close = fail
    with pytest.raises(type(error), match=str(error)):
        retriever.index(corpus_of())
    told = f"{type(error).__name__}: {error}"
    with collect_notes() as notes:
        left = clean_up(retriever, "always", failed=False)
        assert clean_up(retriever, "none", failed=False) is None
    assert left == f"what the run wrote in 'eval:a:' could not be deleted: {told}"
    assert notes == [f"MemoryEngine could not be closed: {told}"]


def test_nothing_waits_for_coroutines_that_another_one_keeps_from_beginning(monkeypatch):
    released = threading.Event()

    class Hanging(MemoryEngine):
        async def retrieve(self, query, top_k, scope):
            released.wait(60)
            return []

        async def delete(self, scope_prefix):
            super().delete(scope_prefix)

        async def close(self):
            super().close()

    monkeypatch.setattr("rag_evaluation_framework.components.retrievers.engine.PATIENCE", 0.1)
    engine = Hanging()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    try:
        evaluate(retriever, dataset_of(corpus=corpus_of()), 5, timeout=0.2)
        with collect_notes() as notes:
            left = clean_up(retriever, "always", failed=False)
    finally:
        released.set()
    assert "could not be deleted: TimeoutError: another coroutine" in left
    assert "Hanging could not be closed: TimeoutError" in notes[0]


class InThreads(MemoryEngine):
    """Awaits a thread that holds the only connection."""

    def __init__(self, released):
        super().__init__()
        self.released, self.held = released, threading.Lock()

    async def retrieve(self, query, top_k, scope):
        await asyncio.to_thread(self.search)

    def search(self):
        with self.held:
            self.released.wait(60)

    async def ingest(self, document):
        super().ingest(document)

    async def delete(self, scope_prefix):
        await asyncio.to_thread(self.erase, scope_prefix)

    def erase(self, scope_prefix):
        with self.held:
            super().delete(scope_prefix)


class Mixed(InThreads):
    """Deletes synchronously, and waits there for the connection."""

    def delete(self, scope_prefix):
        self.erase(scope_prefix)


class Locked(Mixed):
    """Searches synchronously, too."""

    def retrieve(self, query, top_k, scope):
        self.search()


class Shielded(MemoryEngine):
    """Awaits a task that goes on when it is cancelled, and holds a lock."""

    def __init__(self, released):
        super().__init__()
        self.released, self.held = released, asyncio.Lock()

    async def retrieve(self, query, top_k, scope):
        await asyncio.shield(asyncio.ensure_future(self.search()))

    async def search(self):
        async with self.held:
            while not self.released.is_set():
                await asyncio.sleep(0.01)

    async def delete(self, scope_prefix):
        async with self.held:
            super().delete(scope_prefix)


@pytest.fixture
def hurried(monkeypatch):
    """A short limit for cleaning up, in a process that has given nothing up yet."""
    monkeypatch.setattr("rag_evaluation_framework.components.retrievers.engine._SECONDS", 0.1)
    monkeypatch.setattr("rag_evaluation_framework.base.coroutines._cancelled", threading.Event())
    monkeypatch.setattr("rag_evaluation_framework.base.coroutines._late", threading.Event())
    monkeypatch.setattr("rag_evaluation_framework.base.coroutines._abandoned", [])


@pytest.mark.parametrize("kind", [InThreads, Mixed, Locked, Shielded])
@pytest.mark.usefixtures("hurried")
def test_what_outlives_a_coroutine_that_was_cancelled_is_not_waited_for_for_ever(kind):
    released = threading.Event()
    engine = kind(released)
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    give_up = threading.Timer(20, released.set)
    give_up.start()
    try:
        result = evaluate(retriever, dataset_of(corpus=corpus_of()), 5, timeout=0.2)
        left = clean_up(retriever, "always", failed=False)
        assert not released.is_set()
        assert "what the run wrote in 'eval:a:' could not be deleted: TimeoutError: it takes longer than" in left
    finally:
        released.set()
        give_up.cancel()
    assert result.counts["failed"] == len(result.queries)
    assert engine.log[-1] == ("close",)


@pytest.mark.usefixtures("hurried")
def test_what_was_cancelled_without_a_limit_is_not_waited_for_for_ever_either():
    released, begun = threading.Event(), threading.Event()

    class Cancelled(InThreads):
        def search(self):
            begun.set()
            super().search()

    engine, around = Cancelled(released), Awaited()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    retriever.index(corpus_of())
    give_up = threading.Timer(20, released.set)
    give_up.start()

    def ask():
        with around.here(), suppress(CancelledError):
            retriever.retrieve("refunds", 5)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        assert begun.wait(20)
        around.cancel()
        asking.join(20)
        assert "could not be deleted: TimeoutError" in clean_up(retriever, "always", failed=False)
        assert not released.is_set()
    finally:
        released.set()
        give_up.cancel()


class BoundToItsThread(MemoryEngine):
    """Awaits what is found, and writes through a connection that belongs to one thread."""

    def __init__(self):
        super().__init__()
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE TABLE documents (id TEXT)")

    async def retrieve(self, query, top_k, scope):
        await asyncio.sleep(3600)

    def ingest(self, document):
        self.connection.execute("INSERT INTO documents VALUES (?)", (document.id,))

    def delete(self, scope_prefix):
        self.connection.execute("DELETE FROM documents WHERE substr(id, 1, ?) = ?", (len(scope_prefix), scope_prefix))
        self.left = self.connection.execute("SELECT count(*) FROM documents").fetchone()[0]

    def close(self):
        self.connection.close()
        super().close()


@pytest.mark.usefixtures("hurried")
def test_what_is_bound_to_a_thread_is_cleaned_up_in_it_after_a_coroutine_was_cancelled():
    engine = BoundToItsThread()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    evaluate(retriever, dataset_of(corpus=corpus_of()), 5, timeout=0.2)
    with collect_notes() as notes:
        assert clean_up(retriever, "always", failed=False) is None
    assert (engine.left, engine.log[-1], notes) == (0, ("close",), [])


@pytest.mark.parametrize(("written_as", "times"), [("def", 2), ("async def", 1)])
@pytest.mark.usefixtures("hurried")
def test_a_delete_that_fails_is_tried_in_its_own_thread_too_unless_it_is_a_coroutine(written_as, times):
    engine = BoundToItsThread()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    evaluate(retriever, dataset_of(corpus=corpus_of()), 5, timeout=0.2)
    called = []

    def fail(_):
        called.append(threading.current_thread())
        raise ConnectionError("gone away")

    async def fail_later(_):
        fail(_)

    engine.close = lambda: None
    engine.delete = fail if written_as == "def" else fail_later
    assert "could not be deleted: ConnectionError: gone away" in clean_up(retriever, "always", failed=False)
    assert len(called) == times
    assert (called[-1] is threading.current_thread()) is (times == 2)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.usefixtures("hurried")
def test_a_delete_that_an_interrupt_does_not_end_is_not_done_twice_at_once(monkeypatch):
    monkeypatch.setattr("rag_evaluation_framework.components.retrievers.engine._SECONDS", 20)
    engine = BoundToItsThread()
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    evaluate(retriever, dataset_of(corpus=corpus_of()), 5, timeout=0.2)
    running, most, called = [], [], []

    def delete(scope_prefix):
        running.append(scope_prefix)
        called.append(scope_prefix)
        most.append(len(running))
        if len(called) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)
        running.pop()

    engine.delete = delete
    with pytest.raises(KeyboardInterrupt):
        clean_up(retriever, "always", failed=False)
    assert most == [1, 1]


@pytest.mark.usefixtures("hurried")
def test_a_coroutine_that_cancels_itself_leaves_nothing_behind_that_cleaning_up_has_to_wait_for():
    class Cancelling(BoundToItsThread):
        async def retrieve(self, query, top_k, scope):
            raise asyncio.CancelledError

    threads = []
    engine = Cancelling()
    engine.close = lambda: threads.append(threading.current_thread())
    retriever = EngineRetriever(engine, "eval:a:", ingest=True)
    retriever.index(corpus_of())
    with pytest.raises(CancelledError):
        retriever.retrieve("refunds", 5)
    assert clean_up(retriever, "always", failed=False) is None
    assert threads == [threading.current_thread()]
