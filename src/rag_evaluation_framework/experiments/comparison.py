"""Two results side by side, question by question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework._optional import require
from rag_evaluation_framework.errors import ConfigError, LevelMismatch, ResultError
from rag_evaluation_framework.experiments.summary import Summary, number

if TYPE_CHECKING:
    import pandas as pd

    from rag_evaluation_framework.experiments.results import EvaluationResult

_WORST_SHOWN = 5


@dataclass(frozen=True, repr=False)
class Comparison:
    """How a candidate differs from a baseline, on the questions that both answered.

    Attributes:
        baseline: What the baseline is called.
        candidate: What the candidate is called.
        deltas: For each score that both have, candidate minus baseline by question id; only questions that have a
            score in both results.
        means: For each such score, the means of baseline and candidate over these questions; None without any.
        questions: The wording of every question that both results hold, by id.
        added: Ids of questions that only the candidate has.
        removed: Ids of questions that only the baseline has.
        changed: Ids of questions whose wording or truth differs; they are not compared.
        notes: What must be known beside the numbers.
    """

    baseline: str
    candidate: str
    deltas: Mapping[str, Mapping[str, float]]
    means: Mapping[str, tuple[float | None, float | None]]
    questions: Mapping[str, str]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, baseline: "EvaluationResult[Any]", candidate: "EvaluationResult[Any]") -> "Comparison":
        """Compare two results of one evaluation type, and at chunk level of one chunking.

        Raises:
            LevelMismatch: They are of different evaluation types.
            ResultError: Their chunkings differ, or they share no question or no score.
        """
        _check_levels(baseline, candidate)
        before = {query.query_id: query for query in baseline.queries}
        after = {query.query_id: query for query in candidate.queries}
        shared = [query_id for query_id in before if query_id in after]
        changed = tuple(
            query_id
            for query_id in shared
            if before[query_id].text != after[query_id].text
            or set(before[query_id].relevant) != set(after[query_id].relevant)
            or before[query_id].gains != after[query_id].gains
        )
        same = [query_id for query_id in shared if query_id not in set(changed)]
        names = [
            name for name in baseline.score_names if name in candidate.score_names and _alike(name, baseline, candidate)
        ]
        if not same or not names:
            what = "question with the same truth" if not same else "score"
            raise ResultError(f"{baseline.name!r} and {candidate.name!r} have no {what} in common: nothing to compare")
        columns = {name: (baseline.per_query(name), candidate.per_query(name)) for name in names}
        deltas = {name: _deltas(old, new, same) for name, (old, new) in columns.items()}
        return cls(
            baseline=baseline.name,
            candidate=candidate.name,
            deltas=deltas,
            means={name: (_mean(old, deltas[name]), _mean(new, deltas[name])) for name, (old, new) in columns.items()},
            questions={query_id: before[query_id].text for query_id in shared},
            added=tuple(query_id for query_id in after if query_id not in before),
            removed=tuple(query_id for query_id in before if query_id not in after),
            changed=changed,
            notes=tuple(_notes(baseline, candidate, names)),
        )

    def delta(self, name: str) -> float | None:
        """Return the mean of candidate minus baseline, None if no question has the score in both.

        Args:
            name: The score; a metric alone stands for the run's k.

        Raises:
            ConfigError: There is no such score in both results.
        """
        values = list(self._column(name).values())
        return sum(values) / len(values) if values else None

    def regressions(self, name: str) -> dict[str, float]:
        """Return the questions that score lower than before, by id, the greatest loss first.

        Raises:
            ConfigError: There is no such score in both results.
        """
        lost = [(value, query_id) for query_id, value in self._column(name).items() if value < 0]
        return {query_id: value for value, query_id in sorted(lost, key=lambda pair: pair[0])}

    def improvements(self, name: str) -> dict[str, float]:
        """Return the questions that score higher than before, by id, the greatest gain first.

        Raises:
            ConfigError: There is no such score in both results.
        """
        won = [(value, query_id) for query_id, value in self._column(name).items() if value > 0]
        return {query_id: value for value, query_id in sorted(won, key=lambda pair: -pair[0])}

    def _column(self, name: str) -> Mapping[str, float]:
        first = next(iter(self.deltas)).partition("@")[2]
        column = self.deltas.get(name if "@" in name else f"{name}@{first}")
        if column is None:
            raise ConfigError(f"no score {name!r} in both results; there are {', '.join(self.deltas)}")
        return column

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row a question that both results hold: wording and, a column a score, the delta.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        rows = [
            {
                "query_id": query_id,
                "query": text,
                **{name: column.get(query_id) for name, column in self.deltas.items()},
            }
            for query_id, text in self.questions.items()
        ]
        frame: pd.DataFrame = pandas.DataFrame(rows).set_index("query_id")
        return frame

    def summary(self) -> Summary:
        """Return what a reader must know, in words."""
        first = next(iter(self.deltas))
        lost = list(self.regressions(first).items())[:_WORST_SHOWN]
        return Summary(
            title=f"{self.candidate} against {self.baseline}",
            headline=f"{len(self.deltas[first])} questions in both",
            header=("", "before", "after", "delta", "better", "worse"),
            rows=tuple(self._row(name) for name in self.deltas),
            notes=(*self.notes, *_named(self)),
            worst_title=f"Greatest losses by {first}",
            worst=tuple((f"{value:+.3f}", query_id, self.questions[query_id]) for query_id, value in lost),
            facts=(),
        )

    def _row(self, name: str) -> tuple[str, ...]:
        before, after = self.means[name]
        delta = self.delta(name)
        change = "–" if delta is None else f"{delta:+.3f}"
        better, worse = len(self.improvements(name)), len(self.regressions(name))
        return name, number(before), number(after), change, str(better), str(worse)

    def __repr__(self) -> str:
        return self.summary().as_text()

    def _repr_html_(self) -> str:
        return self.summary().as_html()


def _check_levels(baseline: "EvaluationResult[Any]", candidate: "EvaluationResult[Any]") -> None:
    if baseline.evaluation_type != candidate.evaluation_type:
        raise LevelMismatch(
            f"{baseline.name!r} is {baseline.evaluation_type}, {candidate.name!r} is {candidate.evaluation_type}: "
            "their scores mean different things; evaluate both at one level"
        )
    if baseline.evaluation_type != "chunk-level":
        return
    chunkings = [result.config.get("chunking") for result in (baseline, candidate)]
    if all(chunkings) and chunkings[0] != chunkings[1]:
        sizes = [f"{chunking['chunks']} chunks" for chunking in chunkings if chunking]
        raise ResultError(
            f"{baseline.name!r} ({sizes[0]}) and {candidate.name!r} ({sizes[1]}) are chunk-level results of different "
            "chunkings, whose relevant chunks are not the same; compare chunkings at token level"
        )


def _alike(name: str, baseline: "EvaluationResult[Any]", candidate: "EvaluationResult[Any]") -> bool:
    """Return whether a score means the same in both: budgets in tokens do so with one tokenizer only."""
    in_tokens = "tok" in name.partition("@")[2]
    return not in_tokens or baseline.config.get("tokenizer") == candidate.config.get("tokenizer")


def _deltas(old: Mapping[str, float | None], new: Mapping[str, float | None], same: list[str]) -> dict[str, float]:
    pairs = ((query_id, old[query_id], new[query_id]) for query_id in same)
    return {query_id: after - before for query_id, before, after in pairs if before is not None and after is not None}


def _mean(column: Mapping[str, float | None], of: Mapping[str, float]) -> float | None:
    values = [value for query_id in of if (value := column[query_id]) is not None]
    return sum(values) / len(values) if values else None


def _notes(baseline: "EvaluationResult[Any]", candidate: "EvaluationResult[Any]", names: list[str]) -> list[str]:
    notes: list[str] = []
    others = [name for name in baseline.score_names if name not in names]
    others += [name for name in candidate.score_names if name not in names and name not in others]
    if others:
        notes.append(f"scores that are not in both, or not of one tokenizer: {', '.join(others)}")
    before, after = baseline.config, candidate.config
    notes += [
        f"the {what} is not the same" for what in ("corpus", "dataset") if before[what]["hash"] != after[what]["hash"]
    ]
    if baseline.count_as_zero != candidate.count_as_zero:
        notes.append("the two count different questions without a score as 0")
    if baseline.evaluation_type == "chunk-level" and not (before["chunking"] and after["chunking"]):
        notes.append("whether both have the same chunks is not known")
    failed = [result.counts["failed"] for result in (baseline, candidate)]
    if any(failed):
        notes.append(f"questions that failed, and are not compared: {failed[0]} before, {failed[1]} after")
    return notes


def _named(comparison: Comparison) -> list[str]:
    groups = (
        ("questions of the candidate only", comparison.added),
        ("questions of the baseline only", comparison.removed),
        ("questions whose wording or truth changed", comparison.changed),
    )
    return [
        f"{what}, not compared: {len(ids)} ({', '.join(ids[:3])}{', …' if len(ids) > 3 else ''})"
        for what, ids in groups
        if ids
    ]
