"""What an experiment found, down to every question."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, overload

from pydantic import TypeAdapter, ValidationError

from rag_evaluation_framework._optional import DISTRIBUTION, require
from rag_evaluation_framework.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.errors import ConfigError, LevelMismatch, ResultError
from rag_evaluation_framework.experiments import store
from rag_evaluation_framework.experiments.comparison import Comparison
from rag_evaluation_framework.experiments.query_result import Failure, QueryResult, Scores
from rag_evaluation_framework.experiments.summary import Summary, number
from rag_evaluation_framework.ids import ChunkId, DocumentId, EvaluationType
from rag_evaluation_framework.levels import LEVELS, Level, U
from rag_evaluation_framework.spans import CharacterSpan

if TYPE_CHECKING:
    import pandas as pd

_FAILURES_SHOWN = 5


@dataclass(frozen=True, repr=False)
class EvaluationResult(Generic[U]):
    """The result of one experiment.

    Attributes:
        name: What it is called; by default the retriever's name.
        evaluation_type: The level at which it was scored.
        queries: One entry a question, in the order of the dataset.
        metric_names: The metrics, in order.
        cutoffs: The cutoffs as they are printed, in order; the first is the run's k.
        count_as_zero: Which questions without a score count as 0.0 in the means.
        config: A record of the parts and their parameters, the dataset and the corpus, with their hashes.
        timings: Seconds spent indexing, retrieving and scoring.
        warnings: What the parts warned of.
        created: When the run started, UTC, ISO 8601.
        version: The version of this package.
        folder: Where it is kept, if it is.
        experiment_url: Where the result was published, if it was.
        raw_results: What the publisher returned, if it was published.
    """

    name: str
    evaluation_type: EvaluationType
    queries: tuple[QueryResult[U], ...]
    metric_names: tuple[str, ...]
    cutoffs: tuple[str, ...]
    count_as_zero: tuple[str, ...]
    config: Mapping[str, Any]
    timings: Mapping[str, float]
    warnings: tuple[str, ...]
    created: str
    version: str = field(default_factory=lambda: version(DISTRIBUTION))
    folder: Path | None = field(default=None, compare=False)
    experiment_url: str | None = None
    raw_results: Any = field(default=None, compare=False)

    @cached_property
    def metrics(self) -> Scores:
        """The mean of every score over the questions that have one, None if none has.

        Questions without an answer and questions that failed are left out, unless the run counts them as zero.
        """
        return Scores({name: _mean(list(self.per_query(name).values())) for name in self.score_names}, self.cutoffs[0])

    @property
    def score_names(self) -> tuple[str, ...]:
        """The names of all scores: every metric at every cutoff."""
        return tuple(
            str(ScoreName(metric, Cutoff.parse(cutoff))) for metric in self.metric_names for cutoff in self.cutoffs
        )

    def per_query(self, name: str) -> dict[str, float | None]:
        """Return one score by question id, in order; None where a question has none.

        Args:
            name: The score, such as `span_recall@5`; a metric alone stands for the run's k.

        Raises:
            ConfigError: There is no such score.
        """
        full = str(ScoreName.parse(name)) if "@" in name else f"{name}@{self.cutoffs[0]}"
        if full not in self.score_names:
            raise ConfigError(f"no score {name!r}; there are {', '.join(self.score_names)}")
        return {query.query_id: self._score(query, full) for query in self.queries}

    def _score(self, query: QueryResult[U], name: str) -> float | None:
        unscored = query.status if query.relevant else "no-answer"
        return 0.0 if unscored in self.count_as_zero else query.scores.get(name)

    def worst(self, n: int = 5, name: str | None = None) -> list[QueryResult[U]]:
        """Return the questions with the lowest scores, the worst first; of equals, the earlier in the dataset.

        Args:
            n: How many; questions without a score are not among them.
            name: By which score; by default the first metric at the run's k.
        """
        scores = self.per_query(self.metric_names[0] if name is None else name)
        scored = [
            (score, query) for score, query in zip(scores.values(), self.queries, strict=True) if score is not None
        ]
        return [query for _, query in sorted(scored, key=lambda pair: pair[0])[:n]]

    @property
    def failures(self) -> dict[str, tuple[Failure, ...]]:
        """What went wrong, by question id."""
        return {query.query_id: query.failures for query in self.queries if query.failures}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many questions were scored, have no answer, failed, or made a metric fail; how many hits lack the unit.

        `unlocated_hits` are results without a place in the corpus, at the other levels without a document or chunk id.
        """
        statuses = [query.status for query in self.queries]
        read = LEVELS[self.evaluation_type].read
        return {
            "questions": len(statuses),
            "scored": statuses.count("scored"),
            "no_answer": statuses.count("no-answer"),
            "failed": statuses.count("failed"),
            "metric_failed": sum(bool(query.failures) for query in self.queries) - statuses.count("failed"),
            "hits": sum(len(query.hits) for query in self.queries),
            "unlocated_hits": sum(read(hit) is None for query in self.queries for hit in query.hits),
        }

    def summary(self) -> Summary:
        """Return what a reader must know, in words: the means, what stands behind them, the weakest questions."""
        name = self.score_names[0]
        corpus, dataset = self.config["corpus"], self.config["dataset"]
        return Summary(
            title=self.name,
            headline=self._headline(),
            header=("", *(f"@{cutoff}" for cutoff in self.cutoffs)),
            rows=tuple(
                (metric, *(number(self.metrics[f"{metric}@{cutoff}"]) for cutoff in self.cutoffs))
                for metric in self.metric_names
            ),
            notes=tuple(self._notes()),
            worst_title=f"Weakest questions by {name}",
            worst=tuple((number(self._score(query, name)), query.query_id, query.text) for query in self.worst()),
            facts=(
                *(f"{stage}: {seconds:.3f} s" for stage, seconds in self.timings.items()),
                f"corpus: {corpus['source']}, {corpus['documents']} documents, sha256 {corpus['hash'][:12]}",
                f"dataset: {dataset['name']}, sha256 {dataset['hash'][:12]}",
                f"tokenizer: {self.config['tokenizer'] or 'none, budgets in characters'}",
                f"made {self.created} with version {self.version}",
            ),
        )

    def _headline(self) -> str:
        counts = self.counts
        parts = [f"{counts['scored']} scored"]
        if counts["no_answer"]:
            parts.append(f"{counts['no_answer']} without an answer")
        if counts["failed"]:
            parts.append(f"{counts['failed']} failed")
        if self.count_as_zero:
            parts.append(f"counting as 0: {', '.join(self.count_as_zero)}")
        dataset = self.config["dataset"]["name"]
        questions = "1 question" if counts["questions"] == 1 else f"{counts['questions']} questions"
        return f"{dataset}, {questions} ({', '.join(parts)}), {self.evaluation_type}"

    def _notes(self) -> list[str]:
        alike: dict[str, list[str]] = {}
        for query_id, failures in self.failures.items():
            what = f"{failures[0].stage}: {failures[0].kind}: {failures[0].message}"
            alike.setdefault(what, []).append(query_id)
        notes = [
            f"{ids[0]}{f' and {len(ids) - 1} more' if len(ids) > 1 else ''}: {what}"
            for what, ids in list(alike.items())[:_FAILURES_SHOWN]
        ]
        if len(alike) > _FAILURES_SHOWN:
            notes.append(f"failures of other kinds: {len(alike) - _FAILURES_SHOWN}")
        unlocated, hits = self.counts["unlocated_hits"], self.counts["hits"]
        if unlocated:
            share = f"{unlocated / hits:.0%}"
            lack = {"token-level": "place in the corpus", "document-level": "document", "chunk-level": "chunk id"}
            notes.append(
                f"{unlocated} of {hits} results ({share}) have no {lack[self.evaluation_type]}; "
                "they count as not relevant"
            )
        return notes + list(self.warnings)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row a question: id, wording, status, a column a score, and a column of seconds a stage.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        columns = {name: self.per_query(name) for name in self.score_names}
        rows = [
            {
                "query_id": query.query_id,
                "query": query.text,
                "status": query.status,
                **{name: column[query.query_id] for name, column in columns.items()},
                **{f"{stage}_seconds": seconds for stage, seconds in query.stages.items()},
            }
            for query in self.queries
        ]
        frame: pd.DataFrame = pandas.DataFrame(rows).set_index("query_id")
        return frame

    def save(self, folder: str | Path | None = None, *, root: str | Path = store.ROOT) -> Path:
        """Write the result as `report.json` and `summary.md` into a folder of its own.

        Args:
            folder: The folder to make; by default `<root>/runs/<UTC time>-<dataset>`.
            root: Where runs are kept.

        Returns:
            The folder.

        Raises:
            ResultError: The folder exists and is not empty: nothing is overwritten.
        """
        content = TypeAdapter(EvaluationResult[Any]).dump_python(self, mode="json", exclude={"raw_results", "folder"})
        files = {
            store.REPORT: store.report_text({**content, "metrics": self.metrics, "counts": self.counts}),
            store.SUMMARY: self.summary().as_markdown(),
        }
        if folder is not None:
            return store.write_folder(Path(folder), files)
        return store.write_run(root, self.created, self.config["dataset"]["name"], files)

    def compare(self, candidate: "EvaluationResult[U]") -> Comparison:
        """Compare another result, the candidate, with this one, the baseline; deltas are candidate minus baseline.

        Raises:
            LevelMismatch: The other result is of another evaluation type.
            ResultError: It is no result, or scores of the two mean different things: chunks of different chunkings.
        """
        if not isinstance(candidate, EvaluationResult):  # pyright: ignore[reportUnnecessaryIsInstance]  no checker
            raise ResultError(f"compare({candidate!r:.80}): wanted an EvaluationResult; load_result(path) reads one")
        return Comparison.of(self, candidate)

    def __repr__(self) -> str:
        return self.summary().as_text()

    def _repr_html_(self) -> str:
        return self.summary().as_html()


ExperimentResult: TypeAlias = EvaluationResult[DocumentId] | EvaluationResult[ChunkId] | EvaluationResult[CharacterSpan]
"""A result whose evaluation type is known only when it is read; `evaluation_type` tells which."""


@overload
def load_result(path: str | Path) -> ExperimentResult: ...


@overload
def load_result(path: str | Path, level: Level[U]) -> EvaluationResult[U]: ...


def load_result(path: str | Path, level: Level[Any] | None = None) -> EvaluationResult[Any]:
    """Read a result that was saved.

    Args:
        path: The run's folder, or its `report.json`.
        level: The evaluation type that is wanted; by default, whichever it is.

    Raises:
        ResultError: The file is missing, is no report, or was written by a version with another schema.
        LevelMismatch: The result is of another evaluation type than the one that is wanted.
    """
    path = Path(path)
    content = store.read_report(path)
    found = content.get("evaluation_type")
    if level is not None and found != level.evaluation_type:
        raise LevelMismatch(f"{path}: is {found}, wanted {level.evaluation_type}")
    kind = {
        "document-level": EvaluationResult[DocumentId],
        "chunk-level": EvaluationResult[ChunkId],
        "token-level": EvaluationResult[CharacterSpan],
    }.get(str(found), EvaluationResult[CharacterSpan])
    known = {field.name for field in fields(EvaluationResult)} - {"folder"}
    try:
        result: EvaluationResult[Any] = TypeAdapter(kind).validate_python(
            {key: value for key, value in content.items() if key in known}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise ResultError(f"{path}: $.{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return replace(result, folder=path if path.is_dir() else path.parent)


def _mean(values: list[float | None]) -> float | None:
    scored = [value for value in values if value is not None]
    return sum(scored) / len(scored) if scored else None
