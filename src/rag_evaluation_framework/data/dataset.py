"""Datasets: questions with ground truth of one evaluation type, and those that are skipped."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast, get_args

from ..base.outside import first_of, shown
from ..base.store import Store
from ..errors import DatasetError, LevelMismatch
from .documents import Corpus, Document, check_corpus_type
from .ground_truth import Answer, GroundTruth, TokenLevelGroundTruth, reviewed_as, unit_key, with_text
from .ids import ChunkId, DocumentId, content_digest
from .levels import TOKEN, Level, U, checked_level
from .queries import SCOPE_PREFIX, Query, check_query
from .spans import CharacterSpan
from .values import check_texts, copy_metadata, is_mapping, items_of

NOT_LABELLED = "not labelled yet"
"""The reason for which a question is skipped until somebody has looked for its answers."""

Numbers: TypeAlias = tuple[int, int, int]
"""The number of an answer in its question, that of a place in the answer, and that of a span in the place, from 0."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Label that could not be placed in the documents, so that its whole question is skipped.

    A question with several such labels is skipped once, and has an entry for each.

    Attributes:
        query: The question.
        quote: The text that was not placed; "" where it was not recorded.
        reason: Why, and what to do about it.
        document: The document in which it was last placed; "" if it never was.

    Raises:
        DatasetError: A field is of another type.
    """

    query: Query
    quote: str
    reason: str
    document: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        check_query(self)
        check_texts(self, DatasetError, "quote", "reason", "document")

    def record(self) -> dict[str, Any]:
        """Return it as files hold it."""
        told = {"query": _query_record(self.query), "quote": self.quote, "reason": self.reason}
        return told | ({"document": self.document} if self.document else {})


@dataclass(frozen=True)
class Incomplete:
    """Question of which a label is not in the documents as they are now, as it was labelled.

    Attributes:
        query: The question.
        answers: The spans of every place of its answers, each where it was last placed.
        texts: The hash of the text in which a span was last placed, of those that are not in the documents; "" if it is
            not known.
    """

    query: Query
    answers: tuple[tuple[tuple[CharacterSpan, ...], ...], ...]
    texts: Mapping[Numbers, str] = field(default_factory=dict[Numbers, str], hash=False)

    @classmethod
    def of(cls, entry: GroundTruth[CharacterSpan]) -> "Incomplete":
        """Return a question all of whose labels are in the documents."""
        return cls(entry.query, tuple(answer.places for answer in entry.answers))

    def labels(self) -> Iterator[tuple[Numbers, CharacterSpan]]:
        """Yield the numbers of every span, and the span."""
        for number, places in enumerate(self.answers):
            for place, spans in enumerate(places):
                yield from (((number, place, at), span) for at, span in enumerate(spans))

    def is_left_in(self, entry: GroundTruth[Any] | None) -> bool:
        """Return whether the labels of a question are what is left of these; not so if it was labelled anew."""
        left: list[tuple[tuple[CharacterSpan, ...], ...]] = []
        for number, places in enumerate(self.answers):
            known = (
                [None if (number, row, at) in self.texts else one for at, one in enumerate(spans)]
                for row, spans in enumerate(places)
            )
            left.append(tuple(filter(None, map(whole_place, known))))
        if entry is None or not all(left):
            return False
        return TokenLevelGroundTruth(self.query, tuple(map(Answer[CharacterSpan], left))).answers == entry.answers

    def record(self) -> dict[str, Any]:
        """Return it as files hold it: every answer as a list of places, every place as a list of spans."""
        answers: list[Any] = [[[asdict(one) for one in spans] for spans in places] for places in self.answers]
        for (number, place, at), text in self.texts.items():
            answers[number][place][at]["text_hash"] = text
        return {"query": _query_record(self.query), "answers": answers}


def _query_record(query: Query) -> dict[str, Any]:
    return {"id": query.id, "query": query.text, "metadata": dict(query.metadata)}


def whole_place(spans: Sequence[CharacterSpan | None]) -> tuple[CharacterSpan, ...]:
    """Return the spans of a place in the order of their document; () if one is lost, or they are no place any more.

    That is in two documents, or one over the other.
    """
    found = sorted((span for span in spans if span), key=lambda span: span.start)
    is_one = len(found) == len(spans) and len({span.doc_id for span in found}) == 1
    return tuple(found) if is_one and all(one.end <= other.start for one, other in pairwise(found)) else ()


def _checked_skipped(where: str, given: Any, scored: Container[str]) -> tuple[Skipped, ...]:
    """Return the skipped labels of a dataset, of which some questions are scored.

    Raises:
        DatasetError: It is not a list of `Skipped`, or an id is that of two questions.
        InputError: Reading it raises something.
    """
    wordings: dict[str, str] = {}
    labels = items_of(Skipped, given, where, "a list, such as [Skipped(query, quote, reason)]", DatasetError)
    for query in (label.query for label in labels):
        if query.id in scored or wordings.setdefault(query.id, query.text) != query.text:
            raise DatasetError(f"{where}: duplicate question id {query.id!r}; ids must be unique")
    return tuple(labels)


def count_skipped(skipped: Iterable[Skipped]) -> int:
    """Return how many questions were skipped: each counts once, however many of its labels could not be placed."""
    return len({label.query.id for label in skipped})


UnitT = TypeVar("UnitT", bound=DocumentId | ChunkId | CharacterSpan)

REVIEW = "review"
"""The key of the metadata of a question under which its review is, until that is carried out."""

_EDITS = {"dropped_answers", "moved_ends"}
_MOST_PROBLEMS = 5

Mode = Literal["retrieve", "retrieve+rerank"]
"""Whether rankings are scored as they are retrieved, or as a reranker orders them."""


@dataclass(frozen=True, init=False, repr=False)
class Dataset(Generic[U]):
    """Dataset of questions with ground truth of one evaluation type.

    Attributes:
        ground_truth: One entry per question, in order; any iterable is stored as a tuple.
        level: The evaluation type.
        name: Name used in results and run folders.
        chunking: `ChunkRegistry.fingerprint` of the labelled chunks, if known; chunk level only.
        corpus: The documents that the ground truth refers to, if available.
        corpus_hash: `Corpus.content_hash` of the labelled documents, if known.
        metadata: Anything else, copied; unknown keys of a dataset file are kept here.
        skipped: The labels that could not be placed in the documents. Their questions are not in the ground truth, and
            no part of the identity of the dataset; every result counts and shows them.
        incomplete: The questions of which a label is not in the documents, as they were labelled: some are skipped,
            others have answers with other places. Those that were labelled anew since are dropped.
        texts: `Document.content_hash` of the labelled documents by their ids: of all of them, if the labelled corpus
            was at hand. Only of token-level datasets.
        kept: Where texts of labelled documents are kept, by their hashes; `text` asks the corpus first.
        earlier: Texts by their hashes in which labels of `incomplete` were placed, of those that are not kept yet.

    Raises:
        CorpusError: The corpus is not a `Corpus`.
        DatasetError: Two questions share an id, a question is skipped and not, what is given is not ground truth or not
            `Skipped`, or the name or a hash is not a text.
        LevelMismatch: A ground truth belongs to another evaluation type, or the level is not one.
    """

    ground_truth: tuple[GroundTruth[U], ...]
    level: Level[U]
    name: str
    corpus: Corpus | None = field(compare=False)
    corpus_hash: str | None
    chunking: str | None
    metadata: Mapping[str, Any] = field(hash=False)
    skipped: tuple[Skipped, ...]
    incomplete: tuple[Incomplete, ...] = field(compare=False)
    texts: Mapping[DocumentId, str] = field(compare=False)
    kept: Store | None = field(compare=False)
    earlier: Mapping[str, str] = field(compare=False)

    def __init__(
        self,
        ground_truth: Iterable[GroundTruth[U]],
        level: Level[U],
        *,
        name: str = "dataset",
        corpus: Corpus | None = None,
        corpus_hash: str | None = None,
        chunking: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        skipped: Iterable[Skipped] = (),
        incomplete: Iterable[Incomplete] = (),
        texts: Mapping[DocumentId, str] | None = None,
        kept: Store | None = None,
        earlier: Mapping[str, str] | None = None,
    ) -> None:
        vars(self).update(name=name, corpus_hash=corpus_hash, chunking=chunking)
        hashes = [key for key in ("corpus_hash", "chunking") if getattr(self, key) is not None]
        check_texts(self, DatasetError, "name", *hashes)
        where = f"dataset {name!r}"
        expected = "a list of ground truths, such as [TokenLevelGroundTruth(query, spans)]"
        listed: list[GroundTruth[U]] = items_of(
            GroundTruth, ground_truth, f"{where}: ground_truth", expected, DatasetError
        )
        level = checked_level(level)
        if corpus is not None:
            check_corpus_type(corpus)
        labelled = corpus if corpus is not None and corpus_hash in (None, corpus.content_hash) else None
        scored: dict[str, GroundTruth[U]] = {}
        vars(self).update(
            ground_truth=tuple(listed),
            level=level,
            corpus=corpus,
            corpus_hash=corpus_hash if labelled is None else labelled.content_hash,
            texts={**(texts or {})} if labelled is None or level is not TOKEN else labelled.text_hashes,
            kept=kept,
            earlier={**(earlier or {})},
            metadata={} if metadata is None else metadata,
        )
        copy_metadata(self, DatasetError)
        for entry in listed:
            query = entry.query
            if entry.level is not level:
                raise LevelMismatch(
                    f"question {query.id!r} has {entry.level.evaluation_type} ground truth, the dataset is "
                    f"{level.evaluation_type}: keep one dataset per evaluation type"
                )
            if query.id in scored:
                both = dict.fromkeys(shown(text, 60) for text in (scored[query.id].query.text, query.text))
                raise DatasetError(
                    f"{where}: duplicate question id {query.id!r}, of {' and '.join(both)}; ids must be unique: "
                    "Query(QueryId('…'), QueryText('…'))"
                )
            scored[query.id] = entry
        labels = _checked_skipped(f"{where}: skipped", skipped, scored)
        ids = {label.query.id for label in labels}
        left = (one for one in incomplete if one.query.id in ids or one.is_left_in(scored.get(one.query.id)))
        vars(self).update(skipped=labels, incomplete=tuple(left))

    @property
    def queries(self) -> tuple[Query, ...]:
        """The questions, in order."""
        return tuple(entry.query for entry in self.ground_truth)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of evaluation type, questions and what they quote, 64 hexadecimal digits: what the dataset is.

        Of a span count its document and its text (see `quoted`), not where that text is: spans that move with an edited
        document keep the hash. Of a span without a text the offsets count, at the other levels the ids and gains. Name,
        metadata, documents and what was skipped do not.
        """
        rows = [[entry.query.id, entry.query.text, self._keys(entry)] for entry in self.ground_truth]
        return content_digest(json.dumps([self.level.evaluation_type, rows], ensure_ascii=True))

    def quoted(self, unit: UnitT) -> UnitT:
        """Return a relevant unit with the text that it quotes: its own or, if it has none, that of the labelled corpus.

        It is unchanged if the corpus at hand is not the one that was labelled, and if it is an id.
        """
        if not isinstance(unit, CharacterSpan) or unit.text or self.labelled_corpus is None:
            return unit
        return cast("UnitT", with_text(unit, self.labelled_corpus))

    @cached_property
    def labelled_corpus(self) -> Corpus | None:
        """The labelled corpus: the one at hand or, if all of its texts are kept, one made of them; else None.

        Raises:
            DatasetError: A kept text cannot be read, or was changed.
        """
        if self.corpus is not None and self.corpus.content_hash == self.corpus_hash:
            return self.corpus
        if self.kept is None or not {*self.texts.values()} <= self.kept.digests():
            return None
        texts = {document_id: self.text(digest) for document_id, digest in self.texts.items()}
        found = Corpus([Document(name, text) for name, text in texts.items() if text is not None])
        return found if found.content_hash == self.corpus_hash else None

    def text(self, digest: str) -> str | None:
        """Return the text of a labelled document by its hash, as it is in the corpus or kept; None if it is not.

        Raises:
            DatasetError: The kept text cannot be read, or was changed.
        """
        found = self.earlier.get(digest) or (None if self.corpus is None else self.corpus.text(digest))
        return self.kept.get(digest) if found is None and self.kept is not None else found

    def _keys(self, entry: GroundTruth[U]) -> list[object]:
        """Return what the answers of a question are told by; the order of further places means nothing."""
        if not entry.has_alternatives:
            return [self._key(unit, entry.gain(unit)) for unit in entry.relevant]
        keys: list[object] = []
        for answer in entry.answers:
            first, *others = ([self._key(unit, entry.gain(unit)) for unit in place] for place in answer.places)
            keys += [{"places": [first, *sorted(others, key=json.dumps)]}] if others else first
        return keys

    def _key(self, unit: DocumentId | ChunkId | CharacterSpan, gain: float) -> object:
        key = unit_key(self.quoted(unit))
        return key if isinstance(unit, CharacterSpan) or gain == 1.0 else [unit, gain]

    @property
    def top_k(self) -> tuple[int, ...] | None:
        """Numbers of results at which the queries ask to be cut, in their order; None if no query does.

        That is `topK` of a dataset of the retrieval harness: that of a question in its metadata, else that of the
        `defaults` in the metadata of the dataset.

        Raises:
            DatasetError: Some of them ask, others do not.
        """
        default = _count(self._defaults, "topK")
        asked = [_count(query.metadata, "topK") or default for query in self.queries]
        given = tuple(k for k in asked if k is not None)
        if given and len(given) < len(asked):
            silent = self.queries[asked.index(None)].id
            raise DatasetError(
                f"dataset {self.name!r}: {len(given)} of {len(asked)} questions say at how many results they are cut "
                f"(topK), and others, such as {silent!r}, do not: give the dataset a default (defaults.topK), or the "
                "run a k (on the command line --k)"
            )
        return given or None

    @property
    def thresholds(self) -> Any:
        """The thresholds in the `defaults` of a dataset of the retrieval harness, as they are written; None without."""
        return self._defaults.get("thresholds")

    @property
    def mode(self) -> Mode | None:
        """Whether a dataset of the retrieval harness asks for reranking; None if it does not say."""
        return next((mode for mode in get_args(Mode) if mode == self._defaults.get("mode")), None)

    @property
    def rerank_top_k(self) -> int | None:
        """Number of candidates that a dataset of the retrieval harness asks to be reranked (`rerankTopK`), or None."""
        return _count(self._defaults, "rerankTopK")

    @property
    def _defaults(self) -> Mapping[str, Any]:
        kept: Any = self.metadata.get("defaults")
        return kept if is_mapping(kept) else {}

    def with_corpus(self, corpus: Corpus) -> "Dataset[U]":
        """Return a copy of the dataset with this corpus; `corpus_hash` is unchanged."""
        return replace(self, corpus=corpus)

    def shard(self, number: int, of: int) -> "Dataset[U]":
        """Return every `of`-th question from the `number`-th on, as a dataset whose name says so: an eighth is (3, 8).

        Skipped questions are counted off in the same way. All shards together have every question once.
        """
        part = slice(number - 1, None, of)
        skipped = {*[*dict.fromkeys(label.query.id for label in self.skipped)][part]}
        return replace(
            self,
            ground_truth=self.ground_truth[part],
            name=f"{self.name} {number} of {of}",
            skipped=tuple(label for label in self.skipped if label.query.id in skipped),
        )

    def with_scopes(self, prefix: str | None = None) -> "Dataset[U]":
        """Return the dataset with the scope of each question in the metadata of the question, as `Scope.of` reads it.

        Args:
            prefix: The `scopePrefix` of all questions; by default each has its own, else that of the `defaults` in the
                metadata of the dataset.
        """
        default = self.scope_prefix
        if prefix is None and not default:
            return self
        truth: list[GroundTruth[U]] = []
        for entry in self:
            own = entry.query.metadata.get(SCOPE_PREFIX)
            scope = prefix if prefix is not None else default if own is None else own
            asked = replace(entry.query, metadata={**entry.query.metadata, SCOPE_PREFIX: scope})
            truth.append(replace(cast("Any", entry), query=asked))
        changed = {} if prefix is None else {"defaults": {**self._defaults, SCOPE_PREFIX: prefix}}
        return replace(self, ground_truth=tuple(truth), metadata={**self.metadata, **changed})

    @property
    def scope_prefix(self) -> str:
        """The scope of the dataset: `scopePrefix` of the `defaults` in its metadata, or `""`."""
        given = self._defaults.get(SCOPE_PREFIX)
        return given if isinstance(given, str) else ""

    def may_have_moved(self, corpus: Corpus) -> bool:
        """Return whether it has spans that may be elsewhere in a corpus: one that it is not known to be labelled in."""
        return self.level is TOKEN and self.corpus_hash != corpus.content_hash

    def mismatches(self, corpus: Corpus) -> list[str]:
        """Return which labelled spans are not where they were in a corpus, and why; none of documents and chunks."""
        spans = self if self.level is TOKEN else ()
        return [f"question {entry.query.id!r}: {problem}" for entry in spans for problem in entry.problems(corpus)]

    def check(self, corpus: Corpus) -> tuple[str, ...]:
        """Check that there are questions and that spans match the corpus, and return what is to be noted.

        Raises:
            DatasetError: There are no questions, or a span does not match.
        """
        if not len(self):
            raise DatasetError(f"dataset {self.name!r} is empty: it has no questions")
        problems = self.mismatches(corpus)
        if problems:
            raise DatasetError(
                f"dataset {self.name!r} does not match the corpus in {len(problems)} place{'s' * (len(problems) > 1)}: "
                f"{first_of(problems, _MOST_PROBLEMS, '; ')}. Was it labelled on other documents, or have they changed?"
            )
        notes: list[str] = []
        if self.corpus_hash not in (None, corpus.content_hash):
            spans = [unit for entry in self for unit in entry.labels if isinstance(unit, CharacterSpan)]
            unread = sum(not span.text for span in spans)
            checked = [f"labelled spans that carry no text to compare: {unread}"] if unread else []
            checked = checked or (["all labelled spans still match"] if spans else [])
            notes.append("; ".join(["the corpus has changed since the dataset was labelled", *checked]))
        if open_marks := sum(map(_is_to_be_changed, self.ground_truth)):
            notes.append(
                f"questions that a review drops or edits, scored as they were: {open_marks}. `rag-eval dataset review "
                "FILE --output NEW.json` carries it out"
            )
        return tuple(notes)

    def __len__(self) -> int:
        return len(self.ground_truth)

    def __iter__(self) -> Iterator[GroundTruth[U]]:
        return iter(self.ground_truth)

    def __repr__(self) -> str:
        unanswered, skipped = sum(not entry.relevant for entry in self), count_skipped(self.skipped)
        told = [shown(self.name), self.level.evaluation_type, f"{len(self)} questions"]
        told += [
            f"{count} {what}" for count, what in ((unanswered, "without an answer"), (skipped, "skipped")) if count
        ]
        return f"Dataset({', '.join(told)})"


def _is_to_be_changed(entry: GroundTruth[Any]) -> bool:
    """Return whether a review drops or edits a question; of one that is another by now only the new wording stays."""
    given: Any = entry.query.metadata.get(REVIEW)
    review: Mapping[str, Any] = given if is_mapping(given) else {}
    is_open = review.get("verdict") == "dropped" or not _EDITS.isdisjoint(review)
    return "wording" in review or (is_open and review.get("question", "") in ("", reviewed_as(entry)))


def checked_dataset(given: "Dataset[U]") -> "Dataset[U]":
    """Return the dataset unchanged; raise DatasetError if it is none."""
    if not isinstance(cast("object", given), Dataset):
        raise DatasetError(f"dataset={shown(given)}: expected a Dataset; load_dataset(path, corpus=...) reads one")
    return given


def check_dataset_level(dataset: Any, level: Level[Any]) -> None:
    """Check that a dataset can be scored at a level: its own or, if it holds spans, any.

    Raises:
        DatasetError: It is not a dataset.
        LevelMismatch: It cannot be scored at this level.
    """
    if checked_dataset(dataset).level not in (level, TOKEN):
        expected = level.evaluation_type
        raise LevelMismatch(
            f"dataset {dataset.name!r} is {dataset.level.evaluation_type}, the evaluation is {expected}: expected a "
            f"{expected}{'' if level is TOKEN else ' or token-level'} dataset; only spans can be read at another level"
        )


def _count(kept: Mapping[str, Any], key: str) -> int | None:
    """Return a number of results that was kept under a key; None if it is not one."""
    number = kept.get(key)
    return number if type(number) is int and number >= 1 else None
