"""Retrievers: from a question to ranked results."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.contracts.component import Component
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Retrieved
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.plain import is_truth
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.scopes import Scope
from rag_evaluation_framework.errors import ConfigError


class Retriever(Component, ABC):
    """Finds, for a question, the best results in a corpus. It never knows how it is scored."""

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
        return [self.retrieve(query, k) for query in queries]

    @property
    def lists_chunks(self) -> bool:
        """Whether `chunks` returns something once a corpus is indexed; by default, if a class has one of its own."""
        return type(self).chunks is not Retriever.chunks

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return everything that could be retrieved, or None if that cannot be listed."""
        return None

    def close(self) -> None:
        """Release what `index` built; called once after the last question, also after an error."""


def checked_prefix_stable(retriever: Retriever, name: str) -> bool | None:
    """Return whether a retriever, called `name`, is prefix-stable; None if it does not know.

    Raises:
        ConfigError: It says neither.
    """
    given: Any = retriever.prefix_stable
    if given is not None and not is_truth(given):
        raise ConfigError(f"{name}: prefix_stable is {shown(given)}; expected True, False or None")
    return None if given is None else bool(given)
