"""Stored rankings as a retriever: nothing is run, what was found is read from a file."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from ...base.files import checked_path, is_list, is_object, json_lines, parse_json, read_text
from ...base.outside import one_line, shown
from ...contracts.component import check_choice
from ...contracts.roles import Retriever
from ...data import Corpus, DocumentId, EvaluationType, Hit, Retrieval, Stage
from ...data.hits import COLUMNS
from ...data.queries import Query, Scope
from ...errors import ConfigError, DatasetError, ResultError
from .order import Order, Ties, check_order
from .reader import RankFile

_UNTIMED = (Stage("stored", None),)  # how long it takes to look it up says nothing about what made it
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
    The folder of a run means that file, with the times of the run. Several files are read one after the other, as one:
    of runs of parts of the questions. A question that all lack has an empty ranking; one that failed fails again. What
    a run found at some k, where its retriever ranks otherwise for more, is what it finds at that k.

    Attributes:
        path: The file, compressed with gzip or not, or the folder of a run; or several.
        ids: What an id that stands alone names, `"document"` or `"chunk"`.
        order: How rankings are ordered, as `read_rankings` takes it.
        ties: How equal scores are ordered, likewise.

    Raises:
        ConfigError: `ids`, `order` or `ties` is something else, or no file is named.
    """

    path: str | Path | Sequence[str | Path]
    ids: str = "document"
    order: Order | None = None
    ties: Ties | None = None

    def __post_init__(self) -> None:
        given: Any = self.path
        listed: list[Any] = [*given] if isinstance(given, list | tuple) else [given]
        paths = [str(checked_path(path, ConfigError)) for path in listed]
        if not paths:
            raise ConfigError("no stored rankings are named; expected a file, or the folder of a run")
        object.__setattr__(self, "path", paths[0] if len(paths) == 1 else tuple(paths))
        check_choice("StoredRetriever", "ids", self.ids, ("document", "chunk"))
        check_order(self.order, self.ties)

    @property
    def name(self) -> str:
        """The name of the file; of several, that of the first and how many more there are."""
        first, *others = self._paths
        return f"{Path(first).name}{f' and {len(others)} more' if others else ''}"

    @property
    def prefix_stable(self) -> bool:
        """Whether no question has other rankings at some k."""
        return not any(stored.tops for stored in self._stored.values())

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
        """Deepest ranking by question id; None where the retrieval failed.

        Raises:
            DatasetError: A file cannot be used, two rank a question differently, or two runs are of other retrievers.
        """
        return {query_id: stored.found for query_id, stored in self._stored.items()}

    @cached_property
    def _stored(self) -> dict[str, "_Stored"]:
        reports = {path: _report_of(Path(path)) for path in self._paths if Path(path).is_dir()}
        runs = [(path, _retriever_of(report)) for path, report in reports.items()]
        for path, made in runs[1:]:
            for key in (key for key in runs[0][1] | made if made.get(key) != runs[0][1].get(key)):
                raise DatasetError(
                    f"{path}: {one_line(key)} of its retriever is {shown(made.get(key), 80)}, and in {runs[0][0]} "
                    f"{shown(runs[0][1].get(key), 80)}; if it is one all the same, name the rankings.jsonl.gz of each"
                )
        rankings, ranked_in = dict[str, _Stored](), dict[str, str]()
        for path in self._paths:
            for query_id, found in self._read(path, reports.get(path)):
                known = rankings.setdefault(query_id, found)
                other = ranked_in.setdefault(query_id, path)
                if (known.found and known.found.hits, known.tops) != (found.found and found.found.hits, found.tops):
                    raise DatasetError(
                        f"{path}: ranks question {shown(query_id, 60)} otherwise than {other}; name one of the two "
                        "files, or delete the question in one"
                    )
        return rankings

    @property
    def _paths(self) -> Sequence[str]:
        given: Any = self.path
        return [given] if isinstance(given, str) else given

    @property
    def _where(self) -> str:
        return ", ".join(self._paths)

    def _read(self, path: str, report: Any) -> Iterator[tuple[str, "_Stored"]]:
        """Yield what a file holds, or that of a run's folder."""
        source = path if report is None else Path(path, "rankings.jsonl.gz")
        file = RankFile.of_rankings(source, self.order, self.ties)
        file.note_oddities(source)
        if file.hits is None:
            for query_id, ids in file.by_query.items():
                hits = self._of_ids(ids, scored=query_id not in file.unscored)
                yield query_id, _Stored(Retrieval(hits, complete=True))
            return
        stages = {} if report is None else _stages_of_run(Path(path), report)
        for query_id, found in file.hits.items():
            timed = found and replace(found, stages=stages.get(query_id, found.stages))
            yield query_id, _Stored(timed, file.tops.get(query_id, {}))

    def honours(self, scope: Scope) -> bool:
        """Return True: whoever made the rankings was asked the questions as they are."""
        del scope
        return True

    def check(
        self, questions: Sequence[Query], corpus: Corpus, evaluation_type: EvaluationType, k: int
    ) -> Iterable[str]:
        """Return how many questions have no ranking, and how many rankings no question.

        Raises:
            ConfigError: No hit has a field that the level needs, or the run asked for fewer results than are used.
            DatasetError: The file cannot be used, has no ranking of any question, or is of a run of some shards only,
                which were not asked all questions.
        """
        asked = {question.id for question in questions}
        known = self.rankings.keys() & asked
        if not known:
            raise DatasetError(
                f"{self._where}: ranks none of the {len(asked)} questions; it has "
                f"{', '.join(shown(name, 40) for name in [*self.rankings][:3])}, the dataset "
                f"{', '.join(shown(name, 40) for name in [*asked][:3])}"
            )
        hits = [hit for found in self.rankings.values() if found for hit in found.hits]
        fields = {name for hit in hits for name in COLUMNS if getattr(hit, name) is not None}
        needed = [name for name in _NEEDED[evaluation_type] if name != "text" or len(corpus)]
        if fields.isdisjoint(needed) and hits:
            raise ConfigError(
                f"{self._where}: cannot be scored at {evaluation_type}, as its hits have no {' and no '.join(needed)}; "
                f"they have {', '.join(name for name in COLUMNS if name in fields)}"
            )
        known_to, shortest = min((self._stored[query_id].known_to, query_id) for query_id in known)
        if k > known_to:
            raise ConfigError(
                f"{self._where}: keeps {known_to} results of question {shown(shortest, 60)}, and there may be more; "
                f"{k} are needed by a cutoff, a reranker (rerank_top_k, candidates) or a fusion (depth). Expected at "
                f"most {known_to}, or a run made with {k=}"
            )
        if lacking := len(asked) - len(known):
            self._check_parts()
            yield f"questions without a ranking in {one_line(self.name)}, for which nothing was found: {lacking}"
        if others := len(self.rankings) - len(known):
            yield f"rankings in {one_line(self.name)} of questions that are not in the dataset, left out: {others}"

    def _check_parts(self) -> None:
        """Check that of runs in shards all are named: a question of another shard was not asked, and is no miss."""
        names = [_dataset_of_run(Path(path)) for path in self._paths if Path(path).is_dir()]
        parts = {(int(part[1]), int(part[2])) for name in names if (part := _PART.search(name))}
        for of in sorted({of for _, of in parts}):
            if missing := [str(number) for number in range(1, of + 1) if (number, of) not in parts]:
                raise DatasetError(
                    f"{self._where}: shard {', '.join(missing)} of {of} is missing; expected the runs of all shards. "
                    "To score some of them, ask for the same --shard, or name the rankings.jsonl.gz in each folder"
                )

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
        stored = self._stored.get(question.id, _Stored(Retrieval((), complete=True)))
        deepest, tops = stored
        if deepest is None:
            raise ResultError(f"failed in the run of which {self.name} has the rankings")
        found = tops[min(deeper)] if (deeper := [at for at in tops if at >= k]) else deepest
        is_all = found is deepest and found.complete and k >= len(found.hits)
        limit = f"the depth of {self.name}" if k > stored.known_to else None
        return Retrieval(found.hits[:k], deepest.stages or _UNTIMED, limit, is_all)

    def _of_ids(self, found: Mapping[str, float], *, scored: bool) -> tuple[Hit, ...]:
        ranked = [(name, score if scored else None) for name, score in sorted(found.items(), key=lambda item: -item[1])]
        if self.ids == "document":
            return tuple(Hit(doc_id=DocumentId(name), score=score) for name, score in ranked)
        return tuple(Hit(chunk_id=name, score=score) for name, score in ranked)


class _Stored(NamedTuple):
    """What is stored of a question.

    Attributes:
        found: Its deepest ranking; None if its retrieval failed.
        tops: Its rankings at some k that are not the beginning of that.
    """

    found: Retrieval | None
    tops: Mapping[int, Retrieval] = MappingProxyType({})

    @property
    def known_to(self) -> float:
        """How many results may be asked for: behind them, there may have been others."""
        return inf if self.found is None or self.found.complete else len(self.found.hits)


_PART = re.compile(r" (\d{1,9}) of (\d{1,4})$")  # as `Dataset.shard` names what it returns


def _dataset_of_run(folder: Path) -> str:
    """Return the name of the dataset of a saved run; "" if its report does not tell it."""
    with suppress(TypeError, KeyError):
        return str(_report_of(folder)["config"]["dataset"]["name"])
    return ""


def _retriever_of(report: Any) -> dict[str, Any]:
    """Return what the report of a run tells of its retriever, but for the id that an engine has of each run."""

    def lasting(told: Any) -> Any:
        if is_object(told):
            return {key: lasting(value) for key, value in told.items() if key != "run_id"}
        return [*map(lasting, told)] if is_list(told) else told

    with suppress(TypeError, KeyError):
        return cast("dict[str, Any]", lasting(report["config"]["retriever"]))
    return {}


def _report_of(folder: Path) -> Any:
    """Return the report of a saved run; nothing if it cannot be read."""
    with suppress(ValueError):
        return parse_json(read_text(folder / "report.json"))
    return {}


def _stages_of_run(folder: Path, report: Any) -> dict[str, tuple[Stage, ...]]:
    """Return how long the retrieval of each question of a saved run took; its questions tell that, not its rankings.

    Raises:
        DatasetError: They cannot be read.
    """
    beside = folder / "questions.jsonl"
    try:
        rows: Any = [row for _, row in json_lines(beside)] if beside.exists() else report["queries"]
        return {
            row["query_id"]: tuple(Stage(name, float(seconds)) for name, seconds in row["stages"].items())
            for row in rows
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DatasetError(f"{folder}: does not tell its questions; expected the folder of a run") from error
