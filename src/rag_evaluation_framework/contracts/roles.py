"""The contracts of all components, from documents to chunks, vectors, rankings, scores and questions."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..adapt.results import as_vectors
from ..base.coroutines import as_synchronous, resolved
from ..base.exits import outcome
from ..base.outside import class_name, shown
from ..data import CharacterSpan, ChunkId, Corpus, Cutoff, Document, DocumentId, EvaluationType
from ..data.chunks import AnyChunk, PositionAwareChunk
from ..data.hits import Retrieved
from ..data.queries import Query, Scope
from ..data.values import UNREADABLE, copy_metadata, is_truth, plain_array, plain_offset
from ..errors import ConfigError, InputError, NotIndexed
from .component import Component, check_count, check_truth

if TYPE_CHECKING:
    from ..analysis.comparison import Comparison
    from ..runs.result import EvaluationResult


# Tokenizers: measuring and cutting text in tokens.


class Tokenizer(Component, ABC):
    """Cuts text into tokens and gives the start of each."""

    @abstractmethod
    def encode(self, text: str) -> Sequence[Hashable]:
        """Return the tokens; text that looks like a special token is ordinary text."""

    @abstractmethod
    def offsets(self, text: str) -> NDArray[np.int64]:
        """Return where each token starts: ascending character offsets, shape (number of tokens,).

        A token that begins inside a character starts at the next one; the first token starts at 0.
        """

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self.encode(text))

    def cut(self, text: str, tokens: int) -> int:
        """Return the length, in characters, of what the first `tokens` tokens cover."""
        starts = self.offsets(text)
        return int(starts[tokens]) if tokens < len(starts) else len(text)


# Chunkers: from documents to chunks.


class Chunker(Component, ABC):
    """Cuts a text into pieces, without saying where they were. Evaluations wrap it in `ChunkerPositionAdapter`.

    Its texts are what is indexed, and ids are made from them, also where it tidies, lower-cases or shortens them.

    A class may be both this and a `PositionAwareChunker`, in either order of the bases; it is not wrapped.
    """

    @abstractmethod
    def chunk(self, text: str) -> list[str]:
        """Return the pieces in reading order; no pieces for an empty text."""


@Chunker.register
class PositionAwareChunker(Component, ABC):
    """Cuts a document into chunks that know their place.

    Where a `Chunker` is asked for at run time (`isinstance`), this is one too, as it has `chunk`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls.chunk, "__isabstractmethod__", False):  # that of `Chunker`, if it comes first among the bases
            setattr(cls, "chunk", PositionAwareChunker.chunk)  # noqa: B010  mypy assigns to no method

    @abstractmethod
    def chunk_with_positions(self, document: Document) -> Sequence[PositionAwareChunk]:
        """Return the chunks in reading order, each with `document.content[start:end] == content`."""

    def chunk(self, text: str) -> list[str]:
        """Return the texts of the chunks."""
        chunks: Sequence[PositionAwareChunk] = resolved(self.chunk_with_positions(Document(DocumentId(""), text)))
        return [chunk.content for chunk in chunks]


# Embedders: from text to vectors.

Role = Literal["text", "query"]


class EmbeddedPart(NamedTuple):
    """The vectors of some texts.

    Attributes:
        rows: The numbers of the texts.
        vectors: One row per number, in their order: float32, shape (len(rows), dimension).
    """

    rows: Sequence[int]
    vectors: NDArray[np.float32]


class Embedder(Component, ABC):
    """Turns texts into vectors whose cosine is the similarity of the texts."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The length of a vector."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text: float32, shape (len(texts), dimension), row i for text i."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question: float32, shape (dimension,). By default, as any other text."""
        vector: NDArray[np.float32] = resolved(self.embed([text]))[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question: float32, shape (len(texts), dimension). By default one after the other."""
        if not (vectors := [resolved(self.embed_query(text)) for text in texts]):
            return np.zeros((0, self.dimension), dtype=np.float32)
        return as_vectors(vectors, f"{self.name}.embed_query", texts)

    def embed_in_parts(
        self, texts: Sequence[str], role: Role = "text", batch_size: int = 256
    ) -> Generator[EmbeddedPart]:
        """Yield the vectors of texts part by part, so that each part can be kept as soon as it is there.

        By default `batch_size` texts at a time, in their order. An embedder whose parts are requests to a provider
        yields them as they are answered.

        Args:
            texts: The texts.
            role: Whether they are texts of the corpus or questions.
            batch_size: How many texts are embedded at a time, if the embedder does not know better.
        """
        embed = self.embed if role == "text" else self.embed_queries
        for first in range(0, len(texts), batch_size):
            some = texts[first : first + batch_size]
            yield EmbeddedPart(range(first, first + len(some)), resolved(embed(some)))

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return of which texts the vector covers only a part, as the model reads no more; shape (len(texts),).

        By default of none.
        """
        return np.zeros(len(texts), dtype=np.bool_)

    def fit(self, documents: Sequence[str]) -> Embedder:
        """Return an embedder that has learnt what it needs from the documents of the corpus.

        Embedders with trained weights have nothing to learn and return themselves. The embedder that is called stays
        as it is. Whole documents are given, never chunks, so that the vectors do not depend on the chunker.
        """
        del documents
        return self


class BatchEmbedder(Embedder):
    """An embedder that embeds many questions at once, so that one question is as many as one."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, float32, shape (dimension,)."""
        vector: NDArray[np.float32] = self.embed_queries([text])[0]
        return vector

    @abstractmethod
    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""


def as_fitted(learnt: object, embedder: Embedder) -> Embedder:
    """Return what the `fit` of an embedder returned, ready to be used.

    Raises:
        InputError: It is not an Embedder.
    """
    if not isinstance(learnt, Embedder):
        raise InputError(f"{embedder.name}.fit returned {shown(learnt)}; expected an Embedder")
    return as_synchronous(learnt)


def checked_dimension(embedder: Embedder) -> int:
    """Return the length of an embedder's vectors.

    Raises:
        InputError: It is not a whole number of at least 1.
    """
    given: Any = embedder.dimension
    with suppress(*UNREADABLE):
        if (dimension := plain_offset(given)) >= 1:
            return dimension
    raise InputError(f"{embedder.name}.dimension is {shown(given)}; expected a whole number of at least 1")


def checked_parts(
    embedder: Embedder, texts: Sequence[str], role: Role = "text", batch_size: int = 256
) -> Generator[EmbeddedPart]:
    """Yield what `embed_in_parts` of an embedder yields, checked: finite numbers, vectors of its dimension.

    Raises:
        InputError: A part is nothing of the kind; or at the end a text has no vector, or two.
    """
    source = f"{embedder.name}.{'embed' if role == 'text' else 'embed_queries'}"
    left, dimension = set(range(len(texts))), None
    with closing(embedder.embed_in_parts(texts, role, batch_size)) as parts:
        for part in parts:
            try:
                rows, returned = part
                rows = [plain_offset(row) for row in rows]
                for row in rows:
                    left.remove(row)
            except (TypeError, ValueError, KeyError) as error:
                raise InputError(
                    f"{embedder.name}.embed_in_parts returned {shown(part)}; expected the numbers of texts and their "
                    "vectors, each text once"
                ) from error
            if dimension is None:  # now it can be told without another request
                dimension = checked_dimension(embedder)
            vectors = as_vectors(returned, source, [texts[row] for row in rows], dimension)
            yield EmbeddedPart(rows, vectors)
    if left:
        raise InputError(
            f"{embedder.name}.embed_in_parts returned no vector for {len(left)} of {len(texts)} texts, the first: "
            f"{shown(texts[min(left)])}"
        )


def joined(parts: Generator[EmbeddedPart], count: int) -> NDArray[np.float32]:
    """Return the rows of all parts in one array: float32, shape (count, dimension); of at least one text.

    Args:
        parts: What `embed_in_parts` yields; it is closed, also after an error.
        count: How many texts there are.
    """
    vectors: NDArray[np.float32] | None = None
    with closing(parts):
        for rows, some in parts:
            if vectors is None:
                vectors = np.empty((count, some.shape[1]), dtype=np.float32)
            vectors[rows] = some
    assert vectors is not None  # noqa: S101  of at least one text there is a part
    return vectors


def truncation_flags(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return of which texts the vector covers only a part; shape (len(texts),).

    Raises:
        InputError: The embedder returned other than one flag per text.
    """
    given: Any = embedder.truncated(texts)
    with suppress(*UNREADABLE):
        flags = plain_array(given)
        if flags.shape == (len(texts),) and (not len(flags) or flags.dtype.kind == "b"):
            return flags.astype(np.bool_)
    raise InputError(
        f"{embedder.name}.truncated returned {shown(given)} for {len(texts)} texts; expected ({len(texts)},) of True "
        "and False"
    )


# Vector stores: keeping vectors and finding the nearest.


class VectorStore(Component, ABC):
    """Keeps chunks with their vectors; every chunk stays that is added.

    The key is the order of adding, never the id: equal texts have equal ids, and are all kept, at two places, at the
    same place, and without a place (`Chunk`).

    After indexing, one search tells whether what was added is found. If the store has `__len__`, the number of its
    chunks, it is counted as well: 0 after `clear`, and as many as were added.
    """

    @abstractmethod
    def add(self, chunks: Sequence[AnyChunk], embeddings: NDArray[np.float32]) -> None:
        """Add chunks.

        Args:
            chunks: What to keep: ids, texts, metadata, and places of those that have one.
            embeddings: One row per chunk, shape (len(chunks), dimension).

        Raises:
            InputError: The numbers of chunks and rows differ, or the dimension is not that of the store.
        """

    @abstractmethod
    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[AnyChunk]:
        """Return at most `k` chunks by falling cosine; chunks that tie stay in the order in which they were added."""

    def search_many(self, query_embeddings: NDArray[np.float32], k: int) -> list[list[AnyChunk]]:
        """Return one ranking a row of `query_embeddings`; by default one after the other."""
        return [resolved(self.search(row, k)) for row in query_embeddings]

    @abstractmethod
    def clear(self) -> None:
        """Forget everything; the store can be used again."""


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

    def check(
        self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType, k: int
    ) -> Iterable[str]:
        """Return notes on what a run is going to ask, before anything is done; by default none.

        Args:
            questions: All questions.
            corpus: The documents.
            evaluation_type: The level at which is scored.
            k: The most results of a question that are scored; 0 if only budgets say how many.

        Raises:
            ConfigError: It cannot be asked.
            DatasetError: The questions or documents cannot be used.
        """
        del questions, corpus, evaluation_type, k
        return ()

    @abstractmethod
    def index(self, corpus: Corpus) -> None:
        """Prepare the documents for retrieval; whatever was indexed before is forgotten."""

    def prepare(self, queries: Sequence[str]) -> None:
        """Receive the questions of a run, after `index` and before they are asked one by one.

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


class StableRetriever(Retriever):
    """A retriever that is prefix-stable."""

    @property
    def prefix_stable(self) -> bool:
        """True."""
        return True


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


U_contra = TypeVar("U_contra", bound=DocumentId | ChunkId | CharacterSpan, contravariant=True)


class Metric(Component, ABC, Generic[U_contra]):
    """One number for one question: how good is what was retrieved?

    `calculate` is all that your own metric needs. It is called once per question and cutoff.
    """

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset()
    """The levels it can score: the run-time witness of the type parameter."""

    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The least and the greatest score there can be, infinite where there is no limit; intervals of means need it."""

    needs_budget: ClassVar[bool] = False
    """Whether it scores rankings at context budgets only, such as `@4000ch`."""

    @property
    def name(self) -> str:
        """The class name in snake case; `span_recall` for `SpanRecall`, and `span_iou` for `SpanIoU`."""
        return re.sub(r"(?<=[a-z0-9])(?<!Io)(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(self).__name__).lower()

    def takes(self, cutoff: Cutoff | None) -> bool:
        """Return whether it scores rankings that are cut there; None is the whole ranking."""
        return not self.needs_budget or (cutoff is not None and cutoff.is_budget)

    @abstractmethod
    def calculate(self, retrieved: Sequence[U_contra], ground_truth: Sequence[U_contra]) -> float:
        """Score one ranking.

        Args:
            retrieved: The retrieved units, best first, already cut at the cutoff. A text that has no place in the
                corpus is a span of a document that does not exist, so that it keeps its rank and its length.
            ground_truth: The relevant units, in no particular order. Of an answer with several places, any of which is
                enough, those of the place of which the largest part was retrieved, of equals the first: it may be
                another one at another cutoff.

        Returns:
            The score, a finite number. In an evaluation, questions without relevant units are not asked.
        """


class DocumentLevelMetric(Metric[DocumentId]):
    """A metric over document ids."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level"})


class ChunkLevelMetric(Metric[ChunkId]):
    """A metric over chunk ids."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"chunk-level"})


class TokenLevelMetric(Metric[CharacterSpan]):
    """A metric over character spans."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"token-level"})


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
    return outcome(lambda: inspect.signature(engine.retrieve), lambda _: None)


def _says(engine: Engine, ability: str) -> bool:
    """Return whether an engine lists this ability, if it lists any.

    Raises:
        ConfigError: Its abilities are no collection of names.
    """
    told: Any = getattr(engine, "abilities", None)
    if told is None:
        return True
    if isinstance(told, str) or not isinstance(told, Collection):
        raise ConfigError(f"{engine_name(engine)}.abilities is {shown(told)}; expected a list of names like ['ingest']")
    return ability in told


# Which questions a language model is asked to write, and from which parts of the documents.


@dataclass(frozen=True)
class Section:
    """A part of a document that is shown to a model in one piece.

    Attributes:
        doc_id: The document.
        chunks: What is shown, in reading order: one chunk where spans are labelled, several where chunks are cited.
        heading: The headings under which it begins, from the outermost: `Billing > Refunds`; "" without any.
    """

    doc_id: DocumentId
    chunks: tuple[AnyChunk, ...]
    heading: str = ""

    @property
    def text(self) -> str:
        """The texts of its chunks."""
        return "\n\n".join(chunk.content for chunk in self.chunks)


@dataclass(frozen=True)
class QuestionRequest:
    """One request for questions.

    Attributes:
        wish: What kind of questions is wanted, in words for the model; it follows the general instructions.
        sections: What is shown, in one or several documents.
        questions: How many questions are asked for.
        metadata: What is kept with each question, such as `{"persona": "a new user", "difficulty": "hard"}`; copied.
        prompt_version: By what the wording of the wish is known again, such as `simple@1-0123456789ab`.
        least_documents: In how many documents a question has to be answered; with fewer it is rejected, and so is one
            that a single document answers.
        given: The questions, if they are not to be written: those of users.
        has_answer: Whether the documents answer. If not, a question is kept only if no passage is found that does.

    Raises:
        ConfigError: There is no section, a number is below 1, or not that of the questions that are given.
        DatasetError: The metadata is none.
    """

    wish: str
    sections: tuple[Section, ...]
    questions: int
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    prompt_version: str = ""
    least_documents: int = 1
    given: tuple[str, ...] = ()
    has_answer: bool = True

    def __post_init__(self) -> None:
        for name in ("questions", "least_documents"):
            check_count("QuestionRequest", name, getattr(self, name))
        check_truth("QuestionRequest", "has_answer", self.has_answer)
        object.__setattr__(self, "sections", tuple(self.sections))
        if not self.sections:
            raise ConfigError("QuestionRequest: sections=(); expected at least one section to ask about")
        object.__setattr__(self, "given", tuple(self.given))
        if self.given and len(self.given) != self.questions:
            raise ConfigError(f"QuestionRequest: questions={self.questions}; expected {len(self.given)}, as given")
        copy_metadata(self, ConfigError)

    @property
    def doc_ids(self) -> tuple[DocumentId, ...]:
        """The documents of the sections, each once."""
        return tuple(dict.fromkeys(section.doc_id for section in self.sections))


class QuestionStrategy(Component, ABC):
    """A way of asking: which questions are put to which sections."""

    @abstractmethod
    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> Sequence[QuestionRequest]:
        """Return the requests, the same ones each time; nothing is asked yet.

        Args:
            sections: All sections of all documents, in their order.
            queries_per_doc: How many questions are wanted for each document.
        """


# The shape of a language model's client.


class LLMClient(Protocol):
    """The shape of the OpenAI SDK: `client.chat.completions.create(model=..., messages=...)`.

    The attribute is `Any`: a precise signature would refuse the SDK's own client.
    """

    @property
    def chat(self) -> Any:
        """The chat interface."""
        ...


# Where the result of a run goes.


@dataclass(frozen=True)
class Outcome:
    """A finished run, as sinks get it.

    Attributes:
        result: The result, with the verdicts on its gates; its folder is known to the sinks behind `folder`.
        baseline: The saved run that it is compared with, or None.
        comparison: How it differs from that; None without a baseline, or if they cannot be compared.
        problems: Why it cannot be relied on; nothing if it can be.
    """

    result: EvaluationResult[Any]
    baseline: EvaluationResult[Any] | None = None
    comparison: Comparison | None = None
    problems: tuple[str, ...] = ()

    @property
    def both(self) -> tuple[EvaluationResult[Any], EvaluationResult[Any]] | None:
        """The baseline and the result; None without a baseline."""
        return None if self.baseline is None else (self.baseline, self.result)


class Sink(Component, ABC):
    """Where the result of a run goes. A sink that fails stops no other."""

    @property
    def failure(self) -> str:
        """Message if it fails; the reason follows."""
        return f"the result is not sent to {self.name}"

    def prepare(self) -> None:
        """Do what has to be done before anything is asked; by default nothing.

        Raises:
            ConfigError: Nothing could be sent later.
        """

    @abstractmethod
    def send(self, outcome: Outcome) -> EvaluationResult[Any] | None:
        """Send a run.

        Returns:
            The result, if more is known of it now, such as its address; None if not.

        Raises:
            SaveFailed: It could not be sent; the error has the result, as far as more is known of it.
            Exception: Anything else means that, too.
        """
