"""Stored rankings as a retriever: nothing is run, what was found is read from a file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.contracts.component import check_choice
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data import Corpus, DocumentId, EvaluationType, Hit, Retrieval, Stage
from rag_evaluation_framework.data.queries import Query, Scope
from rag_evaluation_framework.errors import ConfigError, DatasetError, ResultError
from rag_evaluation_framework.rankings.order import Order, check_order
from rag_evaluation_framework.rankings.reader import RankFile

_UNTIMED = (Stage("stored", None),)  # how long it takes to look it up says nothing about what made it
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
        order: How rankings are ordered, as `read_rankings` takes it.

    Raises:
        ConfigError: `ids` or `order` is something else.
    """

    path: str | Path
    ids: str = "document"
    order: Order | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(checked_path(self.path, ConfigError)))
        check_choice("StoredRetriever", "ids", self.ids, ("document", "chunk"))
        check_order(self.order)

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
        file = RankFile.of_rankings(self.path, self.order)
        file.note_oddities(self.path)
        if file.hits is not None:
            return file.hits
        return {
            query_id: Retrieval(self._of_ids(found, scored=query_id not in file.unscored))
            for query_id, found in file.by_query.items()
        }

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
        fields = {name for hit in hits for name in _COLUMNS if getattr(hit, name) is not None}
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

    def _of_ids(self, found: dict[str, float], *, scored: bool) -> tuple[Hit, ...]:
        ranked = [(name, score if scored else None) for name, score in sorted(found.items(), key=lambda item: -item[1])]
        if self.ids == "document":
            return tuple(Hit(doc_id=DocumentId(name), score=score) for name, score in ranked)
        return tuple(Hit(chunk_id=name, score=score) for name, score in ranked)
