import asyncio
import copy
import gc
import inspect
import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from threading import Event
from typing import ClassVar
from weakref import ref

import numpy as np
import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, Embedder, Retriever, VectorRAGRetriever, VectorStore
from rag_evaluation_framework.base.coroutines import Awaited, as_synchronous, resolved, stop_if_cancelled
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.embedders.cached import embedder_identity
from rag_evaluation_framework.components.retrievers.function import FunctionRetriever, as_retriever
from rag_evaluation_framework.components.vector_stores import InMemoryVectorStore
from rag_evaluation_framework.contracts.component import parameters
from rag_evaluation_framework.contracts.registry.building import describe

HANDBOOK = Corpus(
    [Document(DocumentId("a.md"), "Reset a password."), Document(DocumentId("b.md"), "Refunds take five working days.")]
)


async def answer():
    await asyncio.sleep(0)
    return 42


@dataclass(frozen=True)
class Remote(Embedder):
    """Embeds elsewhere."""

    scale: float = 1.0
    dimension: ClassVar[int] = 2

    async def embed(self, texts):
        await asyncio.sleep(0)
        return np.array([[len(text) * self.scale, self.weight] for text in texts], dtype=np.float32)

    async def embed_all(self, *batches):
        return await asyncio.gather(*(self.embed(batch) for batch in batches))

    @cached_property
    def weight(self):
        return 1.0


@dataclass(frozen=True, slots=True)
class Slotted:
    size: int

    async def double(self):
        return 2 * self.size


class Plain:
    def public(self):
        return 2


def named(function):
    @wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Decorated:
    @named
    async def work(self, value):
        return value


class Returning:
    def work(self, value):
        return self._work(value)

    async def _work(self, value):
        return value


class Holding:
    def __init__(self):
        async def work(value):
            return value

        self.work = work

    def work(self, value):
        raise NotImplementedError


class Tasks:
    async def _work(self, value):
        return value

    def work(self, value):
        return Later(self._work(value))


class Later:
    """An awaitable that is no coroutine, as clients return them."""

    def __init__(self, coroutine):
        self.coroutine = coroutine

    def __await__(self):
        return self.coroutine.__await__()


def test_a_component_awaits_the_view_of_another_one():
    class Words(Embedder):
        dimension = 1

        async def embed(self, texts):
            await asyncio.sleep(0)
            return np.ones((len(texts), 1), dtype=np.float32)

        async def embed_query(self, text):
            return (await self.embed([text]))[0]

    class Mine(Retriever):
        def __init__(self, embedder):
            self.embedder = as_synchronous(embedder)

        def index(self, corpus):
            pass

        async def retrieve(self, query, k):
            return [str(await self.embedder.embed_query(query))]

    assert as_synchronous(Mine(Words())).retrieve("what?", 1) == ["[1.]"]


class TestResolved:
    def test_a_coroutine_is_run_also_inside_a_running_loop_and_anything_else_is_passed_on(self):
        async def notebook():
            return resolved(answer())

        assert resolved(answer()) == asyncio.run(notebook()) == 42
        assert resolved([1]) == [1]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_forked_process_has_a_loop_of_its_own(self):
        resolved(answer())
        child = os.fork()
        if child == 0:
            signal.alarm(5)  # ends a child that hangs
            os._exit(resolved(answer()))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
        assert resolved(answer()) == 42

    def test_threads_that_start_together_share_one_loop(self):
        async def loop():
            return asyncio.get_running_loop()

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(lambda _: resolved(loop()), range(64)))) == 1

    @pytest.mark.parametrize("nested", [False, True], ids=["directly", "in a task of its own"])
    def test_a_coroutine_that_exits_gives_that_to_its_caller_and_the_loop_lives_on(self, nested):
        async def leave():
            await asyncio.sleep(0)
            raise SystemExit(3)

        async def gathered():
            await asyncio.gather(leave(), answer())

        async def slow():
            await asyncio.sleep(0.05)
            return "still here"

        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(lambda: resolved(slow()))
            with pytest.raises(SystemExit) as error:
                resolved(gathered() if nested else leave())
            assert other.result(timeout=60) == "still here"
        assert error.value.code == 3
        assert resolved(answer()) == 42

    def test_a_coroutine_that_nobody_waits_for_after_an_interruption_is_cancelled(self):
        cancelled = Event()

        async def interrupted():
            await asyncio.sleep(0.05)  # until the caller waits
            os.kill(os.getpid(), signal.SIGINT)
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                cancelled.set()
                raise

        with pytest.raises(KeyboardInterrupt):
            resolved(interrupted())
        assert cancelled.wait(timeout=60)


class TestAwaited:
    def test_what_is_awaited_by_work_inside_of_other_work_is_cancelled_with_it(self):
        started, cancelled = Event(), Event()

        async def slow():
            started.set()
            try:
                await asyncio.sleep(20)
            except asyncio.CancelledError:
                cancelled.set()
                raise

        def work(inner):
            with inner.here():
                return resolved(slow())

        outer = Awaited()
        with ThreadPoolExecutor(1) as pool:
            with outer.here():
                future = pool.submit(copy_context().run, work, Awaited())
            assert started.wait(timeout=10)
            outer.cancel()
            with pytest.raises(CancelledError):
                future.result(timeout=10)
        assert cancelled.wait(timeout=10)

    def test_work_inside_of_work_that_was_cancelled_awaits_nothing_more_and_work_around_it_goes_on(self):
        outer = Awaited()
        with outer.here():
            Awaited().cancel()
            stop_if_cancelled()
            assert resolved(answer()) == 42
            inner = Awaited()
            outer.cancel()
            assert inner.cancelled
            with inner.here():
                with pytest.raises(CancelledError):
                    stop_if_cancelled()
                with pytest.raises(CancelledError):
                    resolved(asyncio.sleep(20))


class TestAdapted:
    def test_a_view_is_made_once_and_only_of_components_with_coroutines(self):
        plain, remote = Plain(), Remote()
        assert as_synchronous(plain) is plain
        assert as_synchronous(None) is None
        assert as_synchronous(Remote) is Remote
        view = as_synchronous(remote)
        assert as_synchronous(remote) is as_synchronous(view) is view is not remote

    def test_coroutine_methods_return_their_results_inherited_ones_and_those_that_await_each_other_too(self):
        class Prefixed(Remote):
            def embed_query(self, text):
                return super().embed_query(f"query: {text}")  # which it need not await

        remote = Remote(2)
        view = as_synchronous(remote)
        assert view.embed(["abc"]).tolist() == [[6, 1]]
        assert view.embed_query("ab").tolist() == [4, 1]
        assert view.embed_queries(["a", "ab"]).tolist() == [[2, 1], [4, 1]]
        assert [rows.tolist() for rows in view.embed_all(["a"], ["ab"])] == [[[2, 1]], [[4, 1]]]
        assert asyncio.run(remote.embed(["abc"])).tolist() == [[6, 1]]  # its owner goes on awaiting it
        assert as_synchronous(Slotted(4)).double() == 8
        assert as_synchronous(Prefixed()).embed_query("ab").tolist() == [9, 1]

    @pytest.mark.parametrize("kind", [Decorated, Returning, Holding, Tasks])
    def test_methods_that_return_what_has_to_be_awaited_return_the_result(self, kind):
        component = kind()
        assert as_synchronous(component).work(3) == 3
        assert inspect.isawaitable(pending := component.work(3))
        assert resolved(pending) == 3

    def test_functions_among_the_parameters_are_no_methods(self):
        @dataclass(frozen=True)
        class Given(Remote):
            function: Callable = answer
            other: Callable = len

        @dataclass(frozen=True)
        class Holder:
            function: Callable = answer

        given = Given(other=answer)
        view = as_synchronous(given)
        assert view.embed(["abc"]).tolist() == [[3, 1]]
        assert view.function is view.other is answer
        assert view == given
        for holder in (Holder(), FunctionRetriever(lambda query, k: [])):
            assert as_synchronous(holder) is holder

    def test_an_attribute_of_the_object_can_be_set_and_deleted(self):
        async def other(value):
            return -value

        returning = Returning()
        as_synchronous(returning).work = other
        assert as_synchronous(returning).work(3) == -3
        assert returning.work is other
        del as_synchronous(returning).work
        assert as_synchronous(returning).work(3) == 3
        assert vars(returning) == {}

    @pytest.mark.parametrize("called", ["in_a_loop", "gathered", "in_another_thread", "awaited"])
    def test_the_code_of_a_component_gets_its_own_coroutines(self, called):
        class Running:
            async def ask(self, value):
                return value

            def in_a_loop(self, value):
                return asyncio.run(self.ask(value))

            async def _all(self, *values):
                return await asyncio.gather(*(self.ask(value) for value in values))

            def gathered(self, value):
                return asyncio.run(self._all(value))[0]

            async def in_another_thread(self, value):
                return await asyncio.to_thread(lambda: asyncio.run(self.ask(value)))

            async def awaited(self, value):
                return await self.ask(value)

        assert getattr(as_synchronous(Running()), called)(3) == 3
        assert as_synchronous(Running()).ask(3) == 3

    def test_static_and_class_methods_may_be_coroutines(self):
        class Named:
            @staticmethod
            async def static(value):
                return value

            @classmethod
            async def of_class(cls):
                return cls.__name__

            async def both(self):
                return await type(self).static(5), await type(self).of_class()

        assert (as_synchronous(Named()).static(5), as_synchronous(Named()).of_class()) == (5, "Named")
        assert as_synchronous(Named()).both() == (5, "Named")

    def test_state_is_shared_also_in_slots_and_in_what_is_computed_once(self):
        class Counting:
            __slots__ = ("__hidden", "count")

            def __init__(self):
                self.count = self.__hidden = 0

            async def add(self):
                self.count += 1
                self.__hidden += 1
                return self.__hidden

            async def forget(self):
                del self.count

        class Unslotted:
            count = 0

            async def add(self):
                self.count += 1

        counting, unslotted, remote = Counting(), Unslotted(), Remote()
        view = as_synchronous(counting)
        assert (view.add(), counting.count) == (1, 1)
        counting.count = 5
        assert (view.add(), view.count, counting.count) == (2, 6, 6)
        view.forget()
        assert not hasattr(counting, "count")
        assert not hasattr(view, "count")
        as_synchronous(unslotted).add()
        assert unslotted.count == 1
        _ = as_synchronous(remote).weight
        assert "weight" in vars(remote)

    def test_nobody_can_tell_it_from_the_component(self):
        remote, view = Remote(3), as_synchronous(Remote(3))
        assert view == remote
        assert remote == view
        assert view != Remote(4)
        assert hash(view) == hash(remote)
        assert (repr(view), view.name) == (repr(remote), remote.name)
        assert isinstance(view, Remote)
        assert (describe(view), parameters(view)) == (describe(remote), parameters(remote))
        assert embedder_identity(view) == embedder_identity(remote)
        for attribute in ("__module__", "__qualname__", "__name__", "__doc__"):
            assert getattr(type(view), attribute) == getattr(Remote, attribute)
        assert as_synchronous(Slotted(1)) == Slotted(1)
        for other in (copy.copy(view), copy.deepcopy(view), pickle.loads(pickle.dumps(view))):
            assert other == view
            assert vars(other) is not vars(view)
            assert other.embed(["a"]).tolist() == [[3, 1]]
        assert replace(view, scale=5) == Remote(5)

    def test_hooks_of_the_class_are_left_alone_and_it_is_forgotten_when_nobody_uses_it_any_more(self):
        events = []

        class Hooked:
            def __init_subclass__(cls, **given):
                events.append("derived")

            async def work(self):
                return "done"

            def __del__(self):
                events.append("deleted")

        hooked = Hooked()
        assert as_synchronous(hooked).work() == "done"
        gc.collect()
        assert events == []
        del hooked
        gc.collect()
        assert events == ["deleted"]
        kind = ref(Hooked)
        del Hooked
        gc.collect()
        assert kind() is None

    @pytest.mark.parametrize("called", ["embed_query", "embed_queries"])
    def test_a_coroutine_that_would_wait_for_another_one_is_refused(self, called):
        @dataclass(frozen=True)
        class Blocking(Remote):
            async def run(self):
                return getattr(self, called)("text")  # inherited and synchronous: it cannot await `embed`

        class Asking(Retriever):
            inner = VectorRAGRetriever(embedder=Remote())

            async def index(self, corpus):
                self.inner.index(corpus)

            async def retrieve(self, query, k):
                return []

        async def outer():
            return resolved(answer())

        asks = (
            as_synchronous(Blocking()).run,
            lambda: as_retriever(Asking()).index(HANDBOOK),
            lambda: resolved(outer()),
        )
        for ask in asks:
            with pytest.raises(RuntimeError, match="has to be awaited"):
                ask()


class RemoteStore(VectorStore):
    def __init__(self):
        self.inner = InMemoryVectorStore()

    async def add(self, chunks, embeddings):
        self.inner.add(chunks, embeddings)

    async def search(self, query_embedding, k):
        return self.inner.search(query_embedding, k)

    async def clear(self):
        self.inner.clear()


class TestWhereComponentsEnter:
    def test_a_vector_pipeline_of_coroutines_ranks_like_one_of_plain_methods(self):
        class Local(Remote):
            def embed(self, texts):
                return resolved(super().embed(texts))

        found = []
        for embedder, store in ((Local(), InMemoryVectorStore()), (Remote(), RemoteStore())):
            retriever = VectorRAGRetriever(embedder=embedder, vector_store=store)
            retriever.index(HANDBOOK)
            one_by_one = retriever.retrieve("password", 3).hits
            assert [ranking.hits for ranking in retriever.retrieve_many(["password"], 3)] == [one_by_one]
            found.append(one_by_one)
        assert found[0] == found[1] != ()

    @pytest.mark.parametrize("fits_later", [False, True], ids=["def fit", "async def fit"])
    def test_what_fit_returns_may_be_of_coroutines_too(self, fits_later, tmp_path):
        @dataclass(frozen=True)
        class Learning(Embedder):
            dimension: ClassVar[int] = 2

            def embed(self, texts):
                raise AssertionError("not fitted")

            if fits_later:

                async def fit(self, documents):
                    return Remote(float(len(documents)))
            else:

                def fit(self, documents):
                    return Remote(float(len(documents)))

        retriever = VectorRAGRetriever(embedder=Learning())
        retriever.index(HANDBOOK)
        assert retriever.retrieve("password", 1).hits
        with pytest.warns(UserWarning, match="learns from the corpus"):
            cached = CachedEmbedder(Learning(), tmp_path)
        assert cached.fit(["a", "b"]).embed_query("abc").tolist() == [6, 1]

    def test_retrieve_many_may_be_a_coroutine_and_asks_coroutines_one_by_one_by_default(self):
        class Single(Retriever):
            def index(self, corpus):
                pass

            async def retrieve(self, query, k):
                return [query]

        class Batched(Single):
            async def index(self, corpus):
                pass

            async def retrieve_many(self, queries, k):
                return await asyncio.gather(*(self.retrieve(query, k) for query in queries))

        for kind in (Single, Batched):
            assert as_retriever(kind()).retrieve_many(["a", "b"], 1) == [["a"], ["b"]]
