"""Stored rankings as a retriever: nothing is run, what was found is read from a file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from rag_evaluation_framework._outside import one_line, shown
from rag_evaluation_framework._support import utf8_json
from rag_evaluation_framework._support.compressed import unfolded
from rag_evaluation_framework._support.files import checked_path, is_list, is_object, read_bytes
from rag_evaluation_framework._support.records import Problems
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.contracts.component import check_choice
from rag_evaluation_framework.contracts.retrieved import as_retrieval
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit, Retrieval, Stage
from rag_evaluation_framework.data.ids import DocumentId, EvaluationType
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.scopes import Scope
from rag_evaluation_framework.errors import ConfigError, DatasetError, InputError, ResultError
from rag_evaluation_framework.rankings.hit_lines import HitLine
from rag_evaluation_framework.rankings.reader import read_rankings

_LARGEST = 2_000_000_000  # bytes
_GZIP = b"\x1f\x8b"
_UNTIMED = (Stage("stored", None),)  # how long it takes to look it up says nothing about what made it
_RESULTS = ("hits", "retrieved_chunk_ids", "retrieved_spans")
_COLUMNS = ("doc_id", "start", "end", "chunk_id", "text", "score")
_NEEDED: dict[EvaluationType, tuple[str, ...]] = {
    "document-level": ("doc_id", "text"),
    "chunk-level": ("chunk_id", "text"),
    "token-level": ("start", "text"),
}
"""The fields of which one is enough for a hit to be scored at each level; a text is located in the documents."""


@dataclass(frozen=True)
class StoredRetriever(Retriever):
    """Rankings that were made elsewhere, by the ids of their questions.

    A file is a TREC run or another of the formats that `read_rankings` reads, whose ids are those of documents or
    chunks; or JSONL with one question a line, `{"query_id": ..., "hits": [...]}`, whose hits are what any retriever may
    return (`retrieved_chunk_ids` and `retrieved_spans` are read in their place); or the `rankings.jsonl.gz` of a run.
    A question that it lacks has an empty ranking; one that failed in that run fails again.

    Attributes:
        path: The file; compressed with gzip or not.
        ids: What an id that stands alone names, `"document"` or `"chunk"`.

    Raises:
        ConfigError: `ids` is something else.
    """

    path: str | Path
    ids: str = "document"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(checked_path(self.path, ConfigError)))
        check_choice("StoredRetriever", "ids", self.ids, ("document", "chunk"))

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name

    @property
    def prefix_stable(self) -> bool:
        """True."""
        return True

    @property
    def most_results(self) -> int:
        """The length of the longest ranking."""
        return max((len(found.hits) for found in self.rankings.values() if found), default=0)

    @property
    def needs_documents(self) -> bool:
        """False: what was found is known by its ids."""
        return False

    @cached_property
    def rankings(self) -> dict[str, Retrieval | None]:
        """What was found, by the id of the question; None where the retrieval failed.

        Raises:
            DatasetError: The file cannot be used.
        """
        path = Path(self.path)
        data = read_bytes(path, DatasetError, most=_LARGEST, remedy="split it by question")
        if data.startswith(_GZIP):
            data = unfolded(data, path)
        begin = data.lstrip()[:1]
        lines = enumerate(data.split(b"\n"), start=1) if begin == b"{" else iter(())
        first = next(((number, line) for number, line in lines if line.strip()), None)
        if first is None or not _holds_hits(first[1]):
            return {query_id: Retrieval(self._of_ids(found)) for query_id, found in read_rankings(path).items()}
        del data
        return _read(chain([first], lines), path)

    def honours(self, scope: Scope) -> bool:
        """Return True: whoever made the rankings was asked the questions as they are."""
        del scope
        return True

    def check(self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType) -> Iterable[str]:
        """Return how many questions have no ranking, and how many rankings no question.

        Raises:
            ConfigError: No hit has a field that the level needs.
            DatasetError: The file cannot be used, or has no ranking of any question.
        """
        asked = {question.id for question in questions}
        known = self.rankings.keys() & asked
        if not known:
            raise DatasetError(
                f"{self.path}: ranks none of the {len(asked)} questions; it has "
                f"{', '.join(shown(name, 40) for name in [*self.rankings][:3])}, the dataset "
                f"{', '.join(shown(name, 40) for name in [*asked][:3])}"
            )
        hits = [hit for found in self.rankings.values() if found for hit in found.hits]
        fields = {name for hit in hits for name in _known(hit)}
        needed = [name for name in _NEEDED[evaluation_type] if name != "text" or len(corpus)]
        if fields.isdisjoint(needed) and hits:
            raise ConfigError(
                f"{self.path}: cannot be scored at {evaluation_type}, as its hits have no {' and no '.join(needed)}; "
                f"they have {', '.join(name for name in _COLUMNS if name in fields)}"
            )
        if lacking := len(asked) - len(known):
            yield f"questions without a ranking in {one_line(self.name)}, for which nothing was found: {lacking}"
        if others := len(self.rankings) - len(known):
            yield f"rankings in {one_line(self.name)} of questions that are not in the dataset, left out: {others}"

    def index(self, corpus: Corpus) -> None:
        """Read the file; the documents are where hits have their places."""
        del corpus
        _ = self.rankings

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return nothing: rankings are stored by the ids of questions, not by their wording."""
        del query, k
        return Retrieval((), complete=True)

    def retrieve_for(self, question: Query, k: int) -> Retrieval:
        """Return the first `k` hits of the question.

        Raises:
            ResultError: Its retrieval failed when the rankings were made.
        """
        found = self.rankings.get(question.id, Retrieval(()))
        if found is None:
            raise ResultError(f"failed in the run of which {self.name} has the rankings")
        return Retrieval(found.hits[:k], found.stages or _UNTIMED, complete=k >= len(found.hits))

    def _of_ids(self, found: dict[str, float]) -> tuple[Hit, ...]:
        ranked = sorted(found.items(), key=lambda item: -item[1])
        if self.ids == "document":
            return tuple(Hit(doc_id=DocumentId(name), score=score) for name, score in ranked)
        return tuple(Hit(chunk_id=name, score=score) for name, score in ranked)


def _holds_hits(line: bytes) -> bool:
    """Return whether a line is a question with its hits, as opposed to one with ids, or a whole file."""
    try:
        content = parse_json(utf8_json.read(line))
    except ValueError:
        return False
    return is_object(content) and (any(key in content for key in _RESULTS) or is_list(content.get("doc_id")))


def _read(lines: Iterable[tuple[int, bytes]], path: Path) -> dict[str, Retrieval | None]:
    problems, rankings = Problems(), dict[str, Retrieval | None]()
    for number, line in lines:
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            content: Any = parse_json(utf8_json.read(line))
            query_id, found = _question(content, where)
            if query_id in rankings:
                raise ValueError(f"question {query_id!r} has a ranking already")
            rankings[query_id] = found
        except (ValueError, InputError) as error:
            problems.append(f"{where}: {error}")
    if problems:
        raise DatasetError(problems.message(str(path)))
    return rankings


def _question(content: Any, where: str) -> tuple[str, Retrieval | None]:
    """Return the id and the ranking of one line, None if the retrieval failed.

    Raises:
        ValueError: It is nothing of the kind.
    """
    if not is_object(content):
        raise ValueError(f"got {shown(content, 60)}; expected an object with query_id and hits")
    query_id = content.get("query_id", content.get("id"))
    if not isinstance(query_id, str | int) or isinstance(query_id, bool) or query_id == "":
        raise ValueError(f"query_id is {shown(query_id, 60)}; expected the id of a question")
    if is_list(content.get("doc_id")):
        line = HitLine.model_validate(content)
        return str(query_id), None if line.failed else as_retrieval([*_columns(line)], where, _LARGEST)
    given = {key: content[key] for key in (*_RESULTS, "seconds") if key in content}
    return str(query_id), as_retrieval(given, where, _LARGEST)


def _columns(line: HitLine) -> Iterator[Hit]:
    columns: list[Any] = [getattr(line, name) or [None] * len(line.doc_id) for name in _COLUMNS]
    yield from (Hit(*values) for values in zip(*columns, strict=True))


def _known(hit: Hit) -> Iterator[str]:
    return (name for name in _COLUMNS if getattr(hit, name) is not None)
