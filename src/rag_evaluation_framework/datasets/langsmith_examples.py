"""LangSmith examples (`inputs` and `outputs`): reading and writing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NotRequired, TypedDict, TypeGuard, Unpack, overload

from pydantic.alias_generators import to_camel

from .. import labels
from ..adapt.question_exports import question_keys
from ..base.files import Json, is_list, is_object
from ..base.records import KEPT, Record, RecordReader, as_list, as_object, brief_repr, refuse_unknown
from ..data import CharacterSpan, ChunkRegistry, Corpus, Dataset, Query
from ..data.ground_truth import ChunkLevelGroundTruth, DocumentLevelGroundTruth, GroundTruth, TokenLevelGroundTruth
from ..data.ids import ChunkId, DocumentId, EvaluationType, PositionAwareChunkId, QueryId, QueryIds, QueryText
from ..data.levels import DOCUMENT, TOKEN, Level, U, check_level, checked_level
from ..errors import DatasetError, LevelMismatch
from .labels import BESIDE_ANSWERS, Given, LabelReader, have_places

_SPANS = ("relevant_spans", "relevantSpans")
_QUOTES = ("excerpts",)
_CHUNKS = ("relevant_chunk_ids", "relevantChunkIds", "chunk_ids", "chunkIds")
_DOCUMENTS = ("relevant_document_ids", "relevantDocumentIds", "source_ids", "sourceIds")
_PREFIXES = ("relevant_prefixes", "relevantPrefixes", "anyOfSourceIdPrefixes")
_ANSWERS = "answers"
GROUND_TRUTH_KEYS: dict[EvaluationType, tuple[str, ...]] = {
    "token-level": (*_SPANS, *_QUOTES),
    "chunk-level": _CHUNKS,
    "document-level": _DOCUMENTS,
}
"""The keys of the outputs of an example under which the ground truth of each level is."""
_COMBINED = ("chunk_ids", "excerpts")
"""The keys of outputs that have labels of both levels: those of the other level are metadata of the question."""
_ALL_KEYS = {*_SPANS, *_QUOTES, *_CHUNKS, *_DOCUMENTS}
_PART_OF_TRUTH = {*_PREFIXES, "gains", "metadata"}
_DOCUMENT_OF_QUOTES = ("doc_id", "docId")
QUERY_ID = "query_id"
"""Metadata key under which an example stores the id of its question."""
PUSHED = "rag_eval"
"""Metadata key under which `push_dataset` notes what an example is: its place in the dataset, its evaluation type …"""
SPLITS = "dataset_split"
"""Metadata key under which LangSmith stores in which parts of the dataset an example is."""
_USUAL_SPLITS = ["base"]


class _Example(Record):
    inputs: dict[str, Any]
    outputs: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    id: str | None = None
    # LangSmith's own bookkeeping, which says nothing about the question.
    dataset_id: Any = None
    source_run_id: Any = None
    created_at: Any = None
    modified_at: Any = None
    attachments: Any = None


def question_id(example: Mapping[str, Any]) -> str | None:
    """Return the id of the question of an example: as its metadata has it, else its own; None without either."""
    metadata: Any = example.get("metadata")
    given = metadata.get(QUERY_ID, metadata.get(to_camel(QUERY_ID))) if is_object(metadata) else None
    return given if isinstance(given, str) and given else example.get("id")


def is_example(value: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether a value is a LangSmith example."""
    return isinstance(value, dict) and "inputs" in value


class ExampleOptions(TypedDict, total=False):
    """Keywords of whatever reads examples."""

    corpus: Corpus | None
    utf16_offsets: bool
    registry: ChunkRegistry | None
    query_key: str | None
    ground_truth_key: str | None


def dataset_from_examples(
    examples: Iterable[Mapping[str, Any]], level: Level[U], *, name: str = "examples", **options: Unpack[ExampleOptions]
) -> Dataset[U]:
    """Return the dataset of these LangSmith examples.

    The id of a question is `query_id` from its metadata, else the example's own `id`, else derived from its text.
    What LangSmith and `push_dataset` note in the metadata for themselves is left out.

    Args:
        examples: Objects of `inputs`, `outputs` and, optionally, `metadata` and `id`.
        level: The evaluation type of the labels.
        name: Name of the dataset.
        **options: `corpus`: the documents; needed if the ground truth is given as quotes. `utf16_offsets`: whether span
            offsets count UTF-16 units. `registry`: positions of position-aware chunks; needed if the ground truth is
            given as their ids. `query_key`: the key of `inputs` that holds the question; by default `query`, or the one
            that is usual for it. `ground_truth_key`: the key of `outputs` that holds the ground truth; by default any
            key known for the level.

    Raises:
        ConfigError: An option is unknown.
        DatasetError: Lists every problem with its JSON path.
        LevelMismatch: The examples have another level.
    """
    refuse_unknown(options, *ExampleOptions.__annotations__)
    rows = ((f"$[{number}]", example) for number, example in enumerate(examples))
    return ExampleReader(name, level, **options).dataset(rows, name)


@dataclass
class ExampleReader:
    """Reads the examples of one source; the attributes are the arguments of `load_dataset`."""

    source: str
    level: Level[Any]
    corpus: Corpus | None = None
    utf16_offsets: bool = False
    registry: ChunkRegistry | None = None
    query_key: str | None = None
    ground_truth_key: str | None = None

    def __post_init__(self) -> None:
        self.records, self.level = RecordReader(self.source), checked_level(self.level)
        self.labels = LabelReader(self.records, self.corpus, self.utf16_offsets)
        self.ids = QueryIds()
        self.texts: dict[DocumentId, str] = {}
        more = _CHUNKS if self.level is TOKEN and self.registry is not None else ()
        usual = (*_SPANS, *more, *_QUOTES) if self.level is TOKEN else GROUND_TRUTH_KEYS[self.level.evaluation_type]
        self.keys = usual if self.ground_truth_key is None else (self.ground_truth_key,)

    def dataset(self, rows: Iterable[tuple[str, Any]], name: str) -> Dataset[Any]:
        """Return the dataset of these examples, each given with its location.

        Raises:
            DatasetError: Lists every problem.
            LevelMismatch: An example has another level.
        """
        entries = [self._entry(data, where) for where, data in rows]
        if self.records.problems:
            raise self.records.error()
        self.records.warn()
        truth = [entry for entry in entries if entry is not None]
        return Dataset(truth, self.level, name=name, corpus=self.labels.corpus)

    def _entry(self, data: Any, where: str) -> GroundTruth[Any] | None:
        record = self.records.validate(_Example, data, where)
        if record is None:
            return None
        keys = question_keys(record.inputs) if self.query_key is None else [self.query_key]
        asked = keys[0] if len(keys) == 1 else None
        if asked is None or asked not in record.inputs:
            names = repr(self.query_key or "query")
            self._nothing_under(names, "question", record.inputs, f"{where}.inputs", "query_key")
            return None
        text: Any = record.inputs[asked]
        if not isinstance(text, str):
            problem = f"expected the question as a string, got {brief_repr(text)}"
            self.records.problem(f"{where}.inputs.{asked}", problem)
            return None
        outputs = record.outputs or {}
        key = self._key(outputs, f"{where}.outputs")
        metadata = self._metadata(record, asked, outputs, key, where)
        identity = question_id({"metadata": metadata, "id": record.id}) or self.ids.of(text)
        for name in (QUERY_ID, to_camel(QUERY_ID)):
            if metadata.get(name) == identity:
                del metadata[name]
        self._read_pushed(metadata.pop(PUSHED, None), where)
        if metadata.get(SPLITS) == _USUAL_SPLITS:
            del metadata[SPLITS]
        self.records.check_query(identity, text, where)
        query = Query(QueryId(identity), QueryText(text), metadata)
        return None if key is None else self._truth(query, outputs, key, f"{where}.outputs")

    def _read_pushed(self, pushed: Any, where: str) -> None:
        """Keep the hashes of documents that were pushed; raise LevelMismatch if that was a dataset of another level."""
        noted: dict[str, Any] = pushed if is_object(pushed) else {}
        found, documents = noted.get("evaluation_type"), noted.get("documents")
        if found in GROUND_TRUTH_KEYS:
            check_level(f"{self.records.source}: {where}", found, self.level)
        known = documents.items() if is_object(documents) else ()
        self.texts |= {DocumentId(name): digest for name, digest in known if isinstance(digest, str)}

    def _key(self, outputs: dict[str, Any], where: str) -> str | None:
        """Return the key of the ground truth, or None after recording that there is none."""
        key = next((key for key in self.keys if key in outputs), None)
        if self.ground_truth_key is None and have_places(outputs.get(_ANSWERS)):
            if key is not None:
                self.records.problem(f"{where}.{key}", BESIDE_ANSWERS)
            return _ANSWERS
        if key is not None:
            return key
        if self.ground_truth_key is None:
            if self.level is TOKEN and not outputs.keys().isdisjoint(_CHUNKS):
                raise LevelMismatch(
                    f"{self.records.source}: {where} has chunk ids, expected token-level: pass registry= with the "
                    "positions of the chunks, or read it at chunk level: load_dataset(path, CHUNK) or "
                    "ChunkLevelEvaluation"
                )
            for found, keys in GROUND_TRUTH_KEYS.items():
                if not outputs.keys().isdisjoint(keys):
                    check_level(f"{self.records.source}: {where}", found, self.level)
        names = " or ".join(map(repr, self.keys))
        self._nothing_under(names, "ground truth", outputs, where, "ground_truth_key")
        return None

    def _nothing_under(self, names: str, what: str, found: Mapping[str, Any], where: str, argument: str) -> None:
        there = ", ".join(map(repr, found)) or "nothing"
        option = f"--{argument.replace('_', '-')}"
        advice = f"pass {argument}=, on the command line {option}"
        self.records.problem(where, f"expected the {what} under {names}, got {there:.80}; or {advice}")

    def _metadata(
        self, record: _Example, asked: str, outputs: dict[str, Any], key: str | None, where: str
    ) -> dict[str, Any]:
        """Return everything that is neither question nor ground truth."""
        inputs = {name: value for name, value in record.inputs.items() if name != asked}
        own: Any = outputs.get("metadata")
        kept = None if own is None else self.records.attempt(f"{where}.outputs.metadata", as_object, own)
        others = {name: value for name, value in outputs.items() if name != key and name not in _PART_OF_TRUTH}
        for place, names in (("inputs", inputs), ("outputs", others.keys() - _ALL_KEYS)):
            for name in names:
                self.records.note(f"{place}.{name}", f"{where}.{place}: unknown key {name!r} {KEPT}")
        return {**inputs, **others, **(kept or {}), **(record.model_extra or {}), **(record.metadata or {})}

    def _truth(self, query: Query, outputs: dict[str, Any], key: str, where: str) -> GroundTruth[Any] | None:
        at = f"{where}.{key}"
        value: Any = outputs[key]
        answers: list[Any] = []
        if key == _ANSWERS and have_places(value):
            value, answers = answers, value
        if self.level is TOKEN and not answers:
            return self._token_level(query, value, key, at)
        gains = Given(outputs.get("gains", {}), f"{where}.gains")
        truth = partial(self.labels.truth, self.level, query, Given(value, at), Given(answers, at), gains)
        if self.level is not DOCUMENT:
            return truth()
        name = next((name for name in _PREFIXES if name in outputs), _PREFIXES[0])
        prefixes = outputs.get(name, [])
        if not is_list(prefixes) or not all(isinstance(prefix, str) for prefix in prefixes):
            self.records.problem(f"{where}.{name}", f"expected a list of strings, got {brief_repr(prefixes)}")
            return None
        return truth(Given(prefixes, f"{where}.{name}"))

    def _token_level(self, query: Query, items: Any, key: str, where: str) -> TokenLevelGroundTruth | None:
        items = self.records.attempt(where, as_list, items)
        if items is None:
            return None
        are_ids = key in _CHUNKS or (key not in _ALL_KEYS and all(isinstance(item, str) for item in items))
        if are_ids and self.registry is not None:
            return self.records.attempt(where, TokenLevelGroundTruth.of_chunks, query, items, self.registry)
        spans: list[CharacterSpan | None] = []
        for number, item in enumerate(items):
            at = f"{where}[{number}]"
            is_quote = isinstance(item, str)
            found = self.records.attempt(at, self._quoted, item, query) if is_quote else [self.labels.span(item, at)]
            spans += found or []
        return TokenLevelGroundTruth(query, tuple(span for span in spans if span is not None))

    def _quoted(self, item: str, query: Query) -> list[CharacterSpan]:
        if not item.strip():
            raise DatasetError("is blank; expected a quote")
        if self._locator is None or self.labels.resolver is None:
            raise DatasetError(
                "a quote has to be located in the documents; pass corpus=Corpus.from_folder(...), on the command line "
                "--corpus"
            )
        document = next((query.metadata[name] for name in _DOCUMENT_OF_QUOTES if name in query.metadata), "")
        # Programs that write excerpts cut them anywhere, also within words.
        found = labels.locate_quote(item, str(document), self._locator, self.labels.resolver, verbatim_only=True)
        if found.status == "missing":
            found = labels.locate_quote(item, str(document), self._locator, self.labels.resolver)
        if found.status != "located":
            raise DatasetError(f"the quote {brief_repr(item)} is {found.status}: {found.advice}")
        return list(found.places[0])

    @cached_property
    def _locator(self) -> "labels.QuoteLocator | None":
        return None if self.labels.corpus is None else labels.QuoteLocator.of(self.labels.corpus)


# Types of dataset examples and run outputs as LangSmith and similar tools write them.


class QueryInputs(TypedDict):
    """Inputs of an example: the question."""

    query: QueryText


class SpanRecord(TypedDict):
    """Span of a document; `text` is the text it covers."""

    doc_id: DocumentId
    start: int
    end: int
    text: NotRequired[str]


class DocumentLevelOutputs(TypedDict):
    """Relevant documents, prefixes of document ids, and gains other than 1."""

    relevant_document_ids: list[DocumentId]
    relevant_prefixes: NotRequired[list[str]]
    gains: NotRequired[dict[DocumentId, float]]


class ChunkLevelOutputs(TypedDict):
    """Relevant chunks, and gains other than 1."""

    relevant_chunk_ids: list[ChunkId]
    gains: NotRequired[dict[ChunkId, float]]


class TokenLevelOutputs(TypedDict):
    """Relevant spans, or ids of position-aware chunks whose positions a `ChunkRegistry` knows."""

    relevant_spans: NotRequired[list[SpanRecord]]
    relevant_chunk_ids: NotRequired[list[PositionAwareChunkId]]


class _DatasetExample(TypedDict):
    inputs: QueryInputs
    metadata: NotRequired[dict[str, Any]]


class DocumentLevelDatasetExample(_DatasetExample):
    """A question and its relevant documents."""

    outputs: DocumentLevelOutputs


class ChunkLevelDatasetExample(_DatasetExample):
    """A question and its relevant chunks."""

    outputs: ChunkLevelOutputs


class TokenLevelDatasetExample(_DatasetExample):
    """A question and the text that answers it."""

    outputs: TokenLevelOutputs


class ChunkLevelRunOutput(TypedDict):
    """Output of a pipeline for one question: chunk ids, best first."""

    retrieved_chunk_ids: list[ChunkId]


class TokenLevelRunOutput(TypedDict):
    """Output of a pipeline for one question, best first: spans, or ids of position-aware chunks in a registry."""

    retrieved_spans: NotRequired[list[SpanRecord]]
    retrieved_chunk_ids: NotRequired[list[PositionAwareChunkId]]


@overload
def to_example(entry: DocumentLevelGroundTruth, corpus: Corpus | None = None) -> DocumentLevelDatasetExample: ...


@overload
def to_example(entry: ChunkLevelGroundTruth, corpus: Corpus | None = None) -> ChunkLevelDatasetExample: ...


@overload
def to_example(entry: TokenLevelGroundTruth, corpus: Corpus | None = None) -> TokenLevelDatasetExample: ...


@overload
def to_example(entry: GroundTruth[Any], corpus: Corpus | None = None) -> Any: ...


def to_example(entry: GroundTruth[Any], corpus: Corpus | None = None) -> Any:
    """Return a question with its ground truth as an example that `dataset_from_examples` reads back.

    The id of the question is stored in the metadata as `query_id`, since LangSmith assigns its own ids to examples.
    Labels of the other level, which an example with `chunk_ids` and `excerpts` had, stay beside those of this one.

    Args:
        entry: The question with its ground truth.
        corpus: The documents; if given, every span includes its text.
    """
    metadata = {**entry.query.metadata, QUERY_ID: entry.query.id}
    outputs = entry.record(corpus) | {key: metadata.pop(key) for key in _COMBINED if key in metadata}
    return {"inputs": {"query": entry.query.text}, "outputs": outputs, "metadata": metadata}
