"""Retrievers, from a question to ranked results; rerankers; and engines, which are evaluated as a whole."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.base.outside import class_name, shown
from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data import AnyChunk, Corpus, EvaluationType
from rag_evaluation_framework.data.hits import Retrieved
from rag_evaluation_framework.data.queries import Query, Scope
from rag_evaluation_framework.data.values import is_truth
from rag_evaluation_framework.errors import ConfigError, NotIndexed

# Rerankers: candidates in a new order.


class Reranker(Component, ABC):
    """Orders the candidates of a first retrieval by a closer look.

    Attributes:
        max_concurrency: For how many questions it may be asked side by side, in threads, where many are asked together.
    """

    max_concurrency: int = 1

    def prepare(self) -> None:
        """Load what is costly; called before the first question, so that no question waits for it. By default nothing.

        What is missing, such as a model that is not on this machine, is best found out here.
        """

    @abstractmethod
    def rerank(self, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
        """Return the best `top_k` of the chunks (all by default), best first; nothing for nothing.

        Each chunk comes back as often as it was given. Chunks are told apart by place, if they have
        one: equal texts may come twice, and chunks without a place (`Chunk`) come back as they are.
        """


# Retrievers: from a question to ranked results.


class Retriever(Component, ABC):
    """Finds, for a question, the best results in a corpus. It never knows how it is scored."""

    trusted: ClassVar[bool] = False
    """Whether this very class makes all that it returns of what was read before, so that it is not read again."""

    @property
    def prefix_stable(self) -> bool | None:
        """Whether the ranking at k is the beginning of the ranking at any larger k; None if that is not known.

        If it is, one deep retrieval serves all cutoffs; if it is not, each k is retrieved on its own. If it is not
        known, the ranking at the largest k is taken for every k, and budgets that it does not fill are read from a
        deeper one.
        """
        return None

    @property
    def most_results(self) -> int | None:
        """The most results that a ranking can have, whatever k is; None if there is no such number.

        Asking for all of them must cost no more than asking for a few: a prefix-stable retriever is asked for them.
        """
        return None

    @property
    def takes_many(self) -> bool:
        """Whether `retrieve_many` does more than ask one by one; by default, if a class has one of its own."""
        return type(self).retrieve_many is not Retriever.retrieve_many

    @property
    def needs_documents(self) -> bool:
        """Whether `index` has to be given documents; not so if what is asked has an index of its own."""
        return True

    @property
    def rewrites_texts(self) -> bool:
        """Whether results are other texts than those of the documents, such as summaries, which have no place there."""
        return False

    def honours(self, scope: Scope) -> bool:
        """Return whether `retrieve_for` finds nothing but what is in such a scope; by default none is honoured."""
        return not scope

    def check(self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType) -> Iterable[str]:
        """Return notes on what a run is going to ask, before anything is done; by default none.

        Raises:
            ConfigError: It cannot be asked.
            DatasetError: The questions or documents cannot be used.
        """
        del questions, corpus, evaluation_type
        return ()

    @abstractmethod
    def index(self, corpus: Corpus) -> None:
        """Prepare the documents for retrieval; whatever was indexed before is forgotten."""

    def prepare(self, queries: Sequence[str]) -> None:
        """Be told the questions of a run, after `index` and before they are asked one by one.

        What can be done for all of them together, such as embedding them in batches, can be done here; by default
        nothing is.
        """
        del queries

    @abstractmethod
    def retrieve(self, query: str, k: int) -> Retrieved:
        """Return at most `k` results, best first, the same each time.

        Raises:
            NotIndexed: `index` has not been called.
        """

    def retrieve_for(self, question: Query, k: int) -> Retrieved:
        """Return at most `k` results for a question of a dataset; by default those for its text.

        This is what a run calls. A retriever that reads more of a question than its text, such as the scope that it is
        asked in, has one of its own.
        """
        return self.retrieve(question.text, k)

    def retrieve_many(self, queries: Sequence[str], k: int) -> list[Retrieved]:
        """Return one ranking per question, in their order; by default one after the other.

        A class that has one of its own is asked for most questions of a run in this way (`takes_many`).
        """
        return [resolved(self.retrieve(query, k)) for query in queries]

    @property
    def lists_chunks(self) -> bool:
        """Whether `chunks` returns something once a corpus is indexed; by default, if a class has one of its own."""
        return type(self).chunks is not Retriever.chunks

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return everything that could be retrieved, or None if that cannot be listed."""
        return None

    def close(self) -> None:
        """Release what `index` built; called once after the last question, also after an error."""


def is_trusted(retriever: Retriever) -> bool:
    """Return whether what a retriever returns need not be read; of a class that derives from one of ours it must be."""
    return vars(type(retriever)).get("trusted") is True


def checked_prefix_stable(retriever: Retriever, name: str) -> bool | None:
    """Return whether a retriever, called `name`, is prefix-stable; None if it does not know.

    Raises:
        ConfigError: It says neither.
    """
    given: Any = retriever.prefix_stable
    if given is not None and not is_truth(given):
        raise ConfigError(f"{name}: prefix_stable is {shown(given)}; expected True, False or None")
    return None if given is None else bool(given)


# The index of a retriever: built, read and forgotten as one.

IndexT = TypeVar("IndexT")


class IndexedRetriever(Retriever, Generic[IndexT]):
    """A retriever whose `index` ends in `_keep(...)`; a frozen dataclass that derives from it stays comparable.

    The index is the only state of a retriever. It is not a field: it counts neither for equality nor for records.
    """

    _index: IndexT | None = None

    def close(self) -> None:
        """Forget the index."""
        self._keep(None)

    def _keep(self, index: IndexT | None) -> None:
        object.__setattr__(self, "_index", index)

    @property
    def _indexed(self) -> IndexT:
        if self._index is None:
            raise NotIndexed(f"{type(self).__name__}: call index(corpus) before retrieve()")
        return self._index


# Engines: retrieval systems that are evaluated as a whole.

CONSTRAINTS_KEYWORD = "metadata_constraints"


@runtime_checkable
class Engine(Protocol):
    """A running retrieval system: any object with `retrieve`. Its methods may be coroutines.

    What else it can do it says by having it:

    - `ingest(document)` adds a `Document` (`id`, `content`, `metadata`), and replaces one of the same id;
    - `delete(scope_prefix)` removes every document whose id begins with the prefix, letter for letter, and no other;
    - `rerank(query, texts)` returns one number per text, higher is better;
    - `load(ref)` returns the text that a `loaderRef` of a dataset stands for;
    - `close()` is called once, when nothing more is asked of it;
    - a `retrieve` that takes the keyword `metadata_constraints` finds nothing but documents that meet them.

    One that has all of these, and knows only when it runs which of them work, tells them by an attribute `abilities`:
    the names of those that do.
    """

    def retrieve(self, query: str, top_k: int, scope: str) -> Sequence[Any]:
        """Return the best `top_k` results, best first, of documents whose ids begin with the scope (`""`: of all).

        Results are what any pipeline returns: texts, chunks, hits, or mappings with what is known of `doc_id`, `start`,
        `end`, `text`, `score` and `chunk_id`.
        """
        ...


def check_engine(engine: Any) -> None:
    """Check that an object is an engine.

    Raises:
        ConfigError: It has no method `retrieve`, or one that takes other arguments; it is a class, or a retriever.
    """
    if isinstance(engine, type):
        raise ConfigError(f"engine={engine.__name__} is a class; pass an instance, {engine.__name__}(...)")
    if isinstance(engine, Retriever):
        raise ConfigError(f"engine={shown(engine)} is a retriever; pass it as one (on the command line --retriever)")
    if not callable(getattr(engine, "retrieve", None)):
        raise ConfigError(
            f"engine={shown(engine)} is {class_name(engine)} without retrieve; expected an object with "
            "retrieve(query, top_k, scope)"
        )
    taken = _parameters(engine)
    try:
        if taken is not None:
            taken.bind("", 1, "")
    except TypeError as error:
        raise ConfigError(
            f"{class_name(engine)}.retrieve{taken} cannot be called as retrieve(query, top_k, scope): {error}; it has "
            "to take these three, in this order"
        ) from error


def engine_name(engine: Engine) -> str:
    """Return what an engine is called: its `name` if it has one, else its class."""
    own: Any = getattr(engine, "name", None)
    return own if isinstance(own, str) and own else class_name(engine)


def can(engine: Engine, ability: str) -> bool:
    """Return whether an engine has a method, such as `ingest`, that works."""
    return callable(getattr(engine, ability, None)) and _says(engine, ability)


def takes_constraints(engine: Engine) -> bool:
    """Return whether `retrieve` of an engine takes constraints on metadata."""
    known = _parameters(engine)
    return known is not None and CONSTRAINTS_KEYWORD in known.parameters and _says(engine, CONSTRAINTS_KEYWORD)


def _parameters(engine: Engine) -> inspect.Signature | None:
    """Return what `retrieve` takes; None if it does not tell."""
    try:
        return inspect.signature(engine.retrieve)
    except (TypeError, ValueError):
        return None


def _says(engine: Engine, ability: str) -> bool:
    told = _abilities(engine)
    return told is None or ability in told


def _abilities(engine: Engine) -> Collection[Any] | None:
    """Return what an engine tells of its abilities.

    Raises:
        ConfigError: It is no collection of names.
    """
    told: Any = getattr(engine, "abilities", None)
    known: Collection[Any] | None = told
    if told is not None and (isinstance(told, str) or not isinstance(told, Collection)):
        raise ConfigError(
            f"{engine_name(engine)}.abilities is {shown(told)}; expected a list of names, such as ['ingest', 'delete']"
        )
    return known
