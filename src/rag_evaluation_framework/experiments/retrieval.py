"""`retrieve`: index a corpus and retrieve for every query, as deep as the cutoffs need."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any, TypeAlias, TypeVar, Unpack

from rag_evaluation_framework.base.coroutines import without_a_loop
from rag_evaluation_framework.base.exits import no_exit, on_failure, outcome
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.outside import raised, shown
from rag_evaluation_framework.components.results import as_chunks
from rag_evaluation_framework.contracts.component import component_name
from rag_evaluation_framework.contracts.retriever import IndexedRetriever, Retriever, is_trusted
from rag_evaluation_framework.data import AnyChunk, Cutoff, Dataset, Query
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.ids import QueryIds, QueryText
from rag_evaluation_framework.data.rankings import NOT_ANSWERED, Rankings
from rag_evaluation_framework.data.values import gives_items, items
from rag_evaluation_framework.errors import ComponentExited, ConfigError, DatasetError, Interrupted, RagEvalError
from rag_evaluation_framework.experiments.journal import Journal
from rag_evaluation_framework.experiments.ranker import Ranker
from rag_evaluation_framework.experiments.settings import Asking, AskingFields
from rag_evaluation_framework.retrievers.function import Pipeline, as_retriever
from rag_evaluation_framework.text.reading import RankingCutter
from rag_evaluation_framework.text.tokenizers import checked_counter

T = TypeVar("T")
Ended: TypeAlias = KeyboardInterrupt | ComponentExited
"""What ends a run of which something is kept."""

_reserving = Lock()
_in_use = set[int]()


def retrieve(
    retriever: Pipeline,
    corpus: Corpus,
    queries: Iterable[Query | str],
    cutoffs: Iterable[Cutoff | int | str] | Cutoff | int | str = (10,),
    *,
    tokenizer: Any = None,
    **fields: Unpack[AskingFields],
) -> Rankings:
    """Index a corpus and retrieve for every query, as deep as the cutoffs need.

    A query whose retrieval raises, or calls `sys.exit`, becomes a failure of its ranking. The retriever is closed at
    the end, also after an error.

    Args:
        retriever: A retriever, or a function `(query, k) -> texts, chunks or dicts`.
        corpus: The documents.
        queries: The queries to ask; the id of a text follows from its wording.
        cutoffs: Numbers of results (5), budgets of characters (`4000ch`) or of tokens (`1000tok`).
        tokenizer: What counts the tokens of budgets in tokens, such as `"cl100k_base"`.
        fields: How the queries are asked: fields of `Asking`, such as `max_concurrency`.

    Returns:
        One ranking per query, in order; every hit has its place in the corpus, if it could be found.

    Raises:
        ConfigError: A cutoff or a field is not valid, or a cutoff counts tokens without a tokenizer; or what is
            given is not queries; or the retriever has no name that can be read, or is one of ours and in use by another
            run.
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: Two queries share an id.
        ComponentExited: The retriever called `sys.exit` before the queries. When it is closed, that is noted.
        Interrupted: Ctrl-C came when some queries were answered.
        Exception: Whatever else the retriever raises while it indexes.
    """
    asking = Asking.of(fields)
    asked, cuts = _asked(queries), Cutoff.parse_all(cutoffs)
    counter = None if tokenizer is None else checked_counter(tokenizer)
    cutter = RankingCutter(cuts, counter, checked_corpus(corpus))
    with collected() as notes:
        rankings, ended = ranked(
            as_retriever(retriever),
            corpus,
            lambda index: index.rank(asked, cutter, asking),
        )
    if isinstance(ended, KeyboardInterrupt):
        raise Interrupted(f"{how_many_answered(rankings)}, and nothing is kept") from ended
    return replace(rankings, notes=tuple(notes))


def _asked(queries: Any) -> list[Query]:
    if not gives_items(queries, str, Query, Dataset):
        raise ConfigError(
            f"queries={shown(queries)}: expected a list of queries or of their texts, such as dataset.queries"
        )
    listed = items(queries, "queries")
    for item in listed:
        if not isinstance(item, Query | str):
            raise ConfigError(f"queries: {shown(item)}; expected a Query or a text")
    ids = QueryIds({query.id: query.text for query in listed if isinstance(query, Query)})
    asked = [query if isinstance(query, Query) else Query(ids.of(query), QueryText(query)) for query in listed]
    twice = [query_id for query_id, number in Counter(query.id for query in asked).items() if number > 1]
    if twice:
        raise DatasetError(f"questions that are given twice: {len(twice)}, the first with the id {twice[0]!r}")
    return asked


def how_many_answered(rankings: Rankings) -> str:
    """Say of how many questions the retrieval came to its end."""
    return f"{len(rankings) - _unanswered(rankings)} of {len(rankings)} questions were answered"


def _unanswered(rankings: Rankings) -> int:
    return sum(failure == NOT_ANSWERED for failure in rankings.failures.values())


def ranked(
    pipeline: Retriever, corpus: Corpus, ask: Callable[["Index"], tuple[T, KeyboardInterrupt | None]]
) -> tuple[T, Ended | None]:
    """Index a corpus, ask, and close the retriever; return what the asking gave, however the closing ends.

    Returns:
        What `ask` returned, and what ended the run there: the interrupt that `ask` returned, one that came while the
        retriever was closed, or that its `close` called `sys.exit`.
    """
    asked: tuple[T, KeyboardInterrupt | None] | None = None
    try:
        with without_a_loop(), _indexed(pipeline, corpus) as index:
            asked = ask(index)
    except (KeyboardInterrupt, ComponentExited) as ended:
        if asked is None:
            raise
        return asked[0], asked[1] or ended
    return asked


@contextmanager
def _indexed(pipeline: Retriever, corpus: Corpus) -> Generator["Index"]:
    """Index a corpus, and close the retriever on leaving the context.

    An error while closing is noted, and never hides an earlier error. Only `sys.exit` is an error then: a pipeline that
    ends the program must not look as if all went well.
    """
    name = component_name(pipeline)
    with _reserved(pipeline):
        with on_failure(partial(_close, pipeline, name)):
            start = perf_counter()
            with _step("index", name):
                pipeline.index(corpus)
            seconds = perf_counter() - start
            with _step("chunks", name):
                listed = pipeline.chunks()
                chunks = listed if is_trusted(pipeline) else as_chunks(listed, name, corpus)
            yield Index(pipeline, name, corpus, chunks, seconds)
        _close(pipeline, name)


def _close(pipeline: Retriever, name: str, earlier: BaseException | None = None) -> None:
    """Close a retriever; an error of that is noted, in an earlier error if there is one."""

    def failed(error: BaseException) -> None:
        message = f"{name} could not be closed: {raised(error)}"
        if earlier is not None:
            earlier.add_note(message)
            return
        note(message)
        if isinstance(error, ComponentExited):
            raise error

    outcome(no_exit(name, "close")(pipeline.close), failed)


@contextmanager
def _step(step: str, name: str) -> Generator[None]:
    """Add a note to what is raised inside that says where; errors of ours say it themselves."""

    def say_where(error: BaseException) -> None:
        if isinstance(error, Exception) and not isinstance(error, RagEvalError):
            with suppress(TypeError):  # its notes may be no list
                error.add_note(f"raised in {step} of {name}")

    with no_exit(name, step), on_failure(say_where):
        yield


@contextmanager
def _reserved(pipeline: Retriever) -> Generator[None]:
    """Keep a retriever that holds one index from being used by two runs at the same time."""
    number = id(pipeline)
    known: Any = pipeline
    if not isinstance(known, IndexedRetriever):
        yield
        return
    with _reserving:
        if number in _in_use:
            raise ConfigError(
                f"{pipeline.name} is in use by another run, and holds one index; give each thread a retriever of its "
                "own"
            )
        _in_use.add(number)
    try:
        yield
    finally:
        _in_use.discard(number)


@dataclass(frozen=True)
class Index:
    """A retriever that has indexed a corpus.

    Attributes:
        pipeline: The retriever.
        retriever: What it is called.
        corpus: The documents.
        chunks: All chunks that could be retrieved, or None if the retriever cannot list them.
        seconds: How long indexing took.
    """

    pipeline: Retriever
    retriever: str
    corpus: Corpus
    chunks: Sequence[AnyChunk] | None
    seconds: float

    def rank(
        self,
        queries: Sequence[Query],
        cutter: RankingCutter,
        asking: Asking,
        *,
        spans: bool = False,
        journal: Journal | None = None,
    ) -> tuple[Rankings, KeyboardInterrupt | None]:
        """Return the ranking of every query, as `retrieve` does, and the interrupt that came when some were answered.

        Notes go to whoever collects them; where spans are scored, also that results are whole documents.

        Raises:
            QueryFailed: A query failed, and `on_error` is `"raise"`.
            KeyboardInterrupt: An interrupt came before any query was answered.
        """
        start = perf_counter()
        if asking.batch_queries:
            self._prepare(queries)
        ranker = Ranker(self.pipeline, self.retriever, self.chunks, cutter, asking, spans, journal)
        rankings = ranker.rankings(queries)
        seconds = {"index": self.seconds, "retrieve": perf_counter() - start}
        prepared = asking.batch_queries and type(self.pipeline).prepare is not Retriever.prepare
        rankings = replace(rankings, seconds=seconds, prepared=prepared)
        if ranker.interrupt is not None and _unanswered(rankings) == len(queries):
            raise ranker.interrupt
        return rankings, ranker.interrupt

    def _prepare(self, queries: Sequence[Query]) -> None:
        """Tell the retriever all queries; if that fails, each is asked alone and fails alone."""

        def failed(error: BaseException) -> None:
            if isinstance(error, ComponentExited):
                raise error
            note(
                f"{self.retriever} could not prepare for all questions together: {raised(error)}; each was asked alone"
            )

        texts = [query.text for query in queries]
        outcome(no_exit(self.retriever, "prepare")(lambda: self.pipeline.prepare(texts)), failed)
