"""Comparison of two results, query by query."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import product
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

import numpy as np

from .. import labels as label_room
from ..base.optional import require
from ..base.outside import shown
from ..contracts.registry.loading import load_installed
from ..data import Answer, CharacterSpan
from ..data.columns import Integers, Numbers
from ..data.cutoffs import OWN_CUTOFF, ScoreName
from ..data.score_table import ScoreTable, full_name
from ..errors import ConfigError, LevelMismatch, ResultError
from ..runs.means import FEWEST, Cluster, Clusters, Labels, change_record, change_tests, labels_of, rows_by_value
from ..runs.naming import other_meaning
from ..runs.result import EvaluationResult
from ..runs.shown import Shown, recorded_test
from ..runs.texts import kept_corpus
from ..scoring.levels.rules import other_chunking
from ..statistics import PairedDifference, TiedWithBest, paired_differences, tied_with_best
from ..statistics.paired import LEVEL
from ..statistics.weights import by_cluster

if TYPE_CHECKING:
    import pandas as pd

    from ..report.pages.comparison import Page

Result: TypeAlias = EvaluationResult[Any]


# Slices: some of the questions that were compared, by what the dataset says of them, or by their answers.


@dataclass(frozen=True)
class Slice:
    """Some of the questions, and how one score of theirs changed.

    Attributes:
        by: The property by which they were chosen: a key of their metadata, `document` or `answer length`.
        value: Its value.
        score: The score.
        questions: How many have the score in both results.
        before: The mean of the baseline.
        after: The mean of the candidate.
        test: What chance makes of the difference, as if this slice were the only one that was looked at.
    """

    by: str
    value: str
    score: str
    questions: int
    before: float
    after: float
    test: PairedDifference


@dataclass(frozen=True, eq=False)
class ScoreChange:
    """One score of the questions that are compared.

    Attributes:
        name: The name of the score.
        before: That of the baseline, shape (questions,); NaN where a question lacks it.
        after: That of the candidate.
        clusters: Which questions count together.
    """

    name: str
    before: Numbers
    after: Numbers
    clusters: Clusters

    @cached_property
    def change(self) -> Numbers:
        """Score after minus score before; NaN if a question lacks one of them."""
        change: Numbers = self.after - self.before
        return change

    def of(self, by: str, value: str, rows: Integers) -> Slice | None:
        """Return the slice of some questions; None if none of them has the score in both results."""
        rows = rows[~np.isnan(self.change[rows])]
        if not len(rows):
            return None
        both = np.stack([self.before[rows], self.after[rows]])
        largest = 1.0 if ((both >= 0) & (both <= 1)).all() else inf
        clusters = self.clusters.among(rows).numbers
        (test,) = paired_differences(self.change[rows][:, np.newaxis], clusters, largest=largest)
        before, after = both.mean(axis=1).tolist()
        return None if test is None else Slice(by, value, self.name, len(rows), before, after, test)

    def regressed(self, by: str, value: str, rows: Integers) -> Slice | None:
        """Return the slice of some questions if its score regressed by more than chance.

        Of random signs, at least a tenth of the patterns are as far from 0 as one standard deviation of theirs
        (Oleszkiewicz, Probab. Math. Statist. 16 (1996), 127), so that what is nearer needs no test.
        """
        rows = rows[~np.isnan(self.change[rows])]
        clusters = self.clusters.among(rows).numbers
        sums = by_cluster(self.change[rows][:, np.newaxis], clusters)[0][:, 0]
        if not sums.any() or sums.sum() > -np.sqrt(sums @ sums):
            return None
        found = self.of(by, value, rows)
        return None if found is None or found.test.p_value > 1 - LEVEL else found


def slices(by: str, values: Sequence[tuple[str, ...]], change: ScoreChange) -> list[Slice]:
    """Return the slices of one property, the largest first; a question with several values is in several.

    Args:
        by: The name of the property.
        values: Its values of each question.
        change: The score.
    """
    found = (change.of(by, value, rows) for value, rows in rows_by_value(values).items())
    return sorted((one for one in found if one is not None), key=lambda one: (-one.questions, one.value))


@dataclass(frozen=True)
class RegressedSlices:
    """The slices in which a score regressed by more than chance, though its mean did not.

    Attributes:
        worse: The slices, the least likely by chance first.
        tested: How many slices were looked at.
        few: Whether questions are taken as independent in slices of fewer documents than are needed.
    """

    worse: Sequence[Slice]
    tested: int
    few: bool


def regressed_slices(properties: Labels, change: ScoreChange, whole: PairedDifference | None) -> RegressedSlices | None:
    """Return the slices in which a score regressed; None without any, or if its mean regressed as well.

    Args:
        properties: The properties, and their values of each question.
        change: The score.
        whole: The test of all questions; None if none has the score in both results.
    """
    if whole is None or (whole.mean < 0 and whole.p_value <= 1 - LEVEL):
        return None
    every = [(by, value, rows) for by, values in properties.items() for value, rows in rows_by_value(values).items()]
    large = [one for one in every if (~np.isnan(change.change[one[2]])).sum() >= FEWEST]
    tested = (change.regressed(*one) for one in large)
    worse = sorted((one for one in tested if one is not None), key=lambda one: (one.test.p_value, one.test.mean))
    few = change.clusters.numbers is not None and change.clusters.fewest == FEWEST
    return RegressedSlices(worse, len(large), few) if worse else None


def slice_record(one: Slice) -> dict[str, Any]:
    """Return a slice for JSON."""
    told = {"score": one.score, "value": one.value, "n": one.questions, "before": one.before, "after": one.after}
    return {**told, "delta": one.test.mean, "test": recorded_test(one.test)}


# Whether two results can be compared, and on which questions.

Names: TypeAlias = frozenset[tuple[str, str]]


def _other_meanings(baseline: Result, candidate: Result, shared: Sequence[str]) -> dict[str, str]:
    """Return the scores that both have and that mean something else in each, by name, with the reason."""
    both, asked = [(tuple(run.metric_names), run.config) for run in (baseline, candidate)], list[list[Any]]()
    for run in (baseline, candidate):
        most, others = next(iter(run.config["k"]), None), run.config.get("top_k") or dict[str, Any]()
        asked.append([others.get(query_id, most) for query_id in shared])
    own = asked[0] != asked[1] or None in asked[0]
    found: dict[str, str] = {}
    for name in baseline.score_names:
        if name in candidate.scores.columns:
            found[name] = other_meaning(name, *both)
            if own and not found[name] and ScoreName.parse(name).cutoff == OWN_CUTOFF:
                found[name] = "questions ask for other numbers of results"
    return {name: reason for name, reason in found.items() if reason}


def edited_questions(baseline: Result, candidate: Result, query_ids: Sequence[str]) -> dict[int, Names]:
    """Return the queries whose labels are where their words went, of runs whose texts are kept, if these were edited.

    Relevant documents have no words of their own among those of others: they are the same if one is a later version of
    the other.

    Args:
        baseline: The baseline.
        candidate: The candidate.
        query_ids: Queries that both have, with another identity in each.

    Returns:
        By their rows in the baseline, the old and new names of the documents that are called otherwise now.
    """
    if baseline.config["corpus"]["hash"] == candidate.config["corpus"]["hash"]:
        return {}
    rows = [(baseline.scores.rows[query_id], candidate.scores.rows[query_id]) for query_id in query_ids]
    old, new = (run.corpus or kept_corpus(run.config["corpus"], run.folder) for run in (baseline, candidate))
    if old is None or new is None or not rows:
        return {}
    carrier = label_room.Carrier(old, new)
    partners = cache(lambda: label_room.partners_of(old.documents, new.documents))

    def now(unit: Any) -> Any:
        if isinstance(unit, CharacterSpan):
            return carrier.carry(unit).span if unit.doc_id in old else None
        return partners().get(unit)

    found: dict[int, Names] = {}
    for row, other in rows:
        before, after = baseline.queries[row], candidate.queries[other]
        if before.text != after.text or baseline.queries.gains.get(row) != candidate.queries.gains.get(other):
            continue
        followed = {unit: now(unit) for answer in before.answers for unit in answer.units}
        if None not in followed.values() and _placed(before.answers, followed) == _placed(after.answers, {}):
            pairs = (tuple(str(getattr(unit, "doc_id", unit)) for unit in both) for both in followed.items())
            found[row] = frozenset((was, there) for was, there in pairs if was != there)
    return found


def _placed(answers: Iterable[Answer[Any]], followed: Mapping[Any, Any]) -> set[frozenset[frozenset[Any]]]:
    """Return the places of answers in any order, their units without texts, those that were followed where they are."""

    def place(unit: Any) -> Any:
        return (unit.doc_id, unit.start, unit.end) if isinstance(unit, CharacterSpan) else unit

    return {
        frozenset(frozenset(place(followed.get(unit, unit)) for unit in units) for units in answer.places)
        for answer in answers
    }


# What of compared results is taken as independent.


def clusters_of(runs: Sequence[Result], query_ids: Sequence[str], cluster: Cluster | None = None) -> Clusters:
    """Return which questions count together.

    Args:
        runs: Results that have these questions with one truth.
        query_ids: The questions.
        cluster: What is taken as independent; by default documents where the labels are in at least 6, else questions.

    Raises:
        ConfigError: It is neither a question nor a document.
        ResultError: It is a document, and the labels are chunks.
    """
    given: Any = cluster
    if given is not None and not (isinstance(given, str) and given in get_args(Cluster)):
        raise ConfigError(f"cluster={shown(cluster)}: expected 'question' or 'document', or None for the default")
    first = runs[0]
    if cluster == "document" and first.evaluation_type == "chunk-level":
        names = ", ".join(dict.fromkeys(repr(run.name) for run in runs))
        raise ResultError(
            f"cluster='document': {names}: the documents of the labels are not known, as labels are chunks; take "
            "questions as independent (cluster: question)"
        )
    relevant = [first.queries.relevant[first.scores.rows[query_id]] for query_id in query_ids]
    return Clusters.of(relevant, first.evaluation_type, cluster)


# Whether the best run is another one at a number of results than at a context budget.


class Disagreement(NamedTuple):
    """Two runs, each better than the other by more than chance.

    Attributes:
        first: The number of the run that is better at a number of results.
        second: The number of the run that is better at a budget.
        fixed: The score at a number of results.
        budget: The score at a budget.
    """

    first: int
    second: int
    fixed: str
    budget: str


def cutoff_orders(tables: Sequence[ScoreTable], clusters: Integers | None) -> list[Disagreement]:
    """Return where the first metric has one best run at a number of results and another at a budget, beyond chance.

    That is so if neither run is tied with the best at the cutoff at which the other is best. What is so at several
    cutoffs is told once.

    Args:
        tables: The scores of each run, of the same questions.
        clusters: As in `tied_with_best`.
    """

    @cache
    def tied(name: str) -> TiedWithBest | None:
        return tied_with_best(np.stack([table.columns[name] for table in tables], axis=1), clusters)

    parsed = {name: ScoreName.parse(name) for name in tables[0].columns}
    metric = next(iter(parsed.values())).metric
    best = {name: _best(tables, name) for name in parsed if parsed[name].metric == metric}
    kinds: tuple[list[str], list[str]] = [], []  # at a number of results, and at a budget
    for name in best:
        kinds[(cutoff := parsed[name].cutoff) is not None and cutoff.is_budget].append(name)
    told: dict[tuple[int, int], Disagreement] = {}
    for fixed, budget in product(*kinds):
        first, second = best[fixed], best[budget]
        if first is None or second is None or first == second or (first, second) in told:
            continue
        at_k, at_budget = tied(fixed), tied(budget)
        if at_k and at_budget and not at_k.is_tied[second] and not at_budget.is_tied[first]:
            told[first, second] = Disagreement(first, second, fixed, budget)
    return [*told.values()]


def _best(tables: Sequence[ScoreTable], name: str) -> int | None:
    """Return the number of the run with the highest mean over the questions that all have; None without any."""
    scores = np.stack([table.columns[name] for table in tables], axis=1)
    complete = scores[~np.isnan(scores).any(axis=1)]
    return int(complete.mean(axis=0).argmax()) if len(complete) else None


_PAGE = "rag_evaluation_framework.report.pages.comparison"  # a door upwards


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Difference between a candidate and a baseline, on the queries that have a score in both.

    Attributes:
        baseline: The name of the baseline.
        candidate: The name of the candidate.
        before: The baseline's scores of the queries that have a score in both results.
        after: The candidate's scores of the same queries.
        change: After minus before.
        headlines: How many of the answerable questions were scored, in baseline and candidate.
        questions: The wording of every query that both results hold, by id.
        added: Ids of queries that only the candidate has.
        removed: Ids of queries that only the baseline has.
        changed: Ids of queries whose wording or ground truth differs; they are not compared. Spans that quote the same
            text of the same document are the same truth, wherever they are, whatever the document is called now, and
            however it writes what it shows.
        skipped: Ids of queries that the baseline has and the candidate skipped, as a label could not be placed.
        placed: Ids of queries that the candidate has and the baseline skipped.
        clusters: Which of the queries that are compared count together.
        labels: The properties by which the queries that are compared can be told apart, and their values of each.
        notes: All notes on the comparison itself.
        run_notes: All notes of baseline and candidate, shown below those.
        unfilled: How many rankings of baseline and candidate ran out of results before the budget of a score was
            filled, by score: its means are marked.
        incomparable: The scores of one name that mean something else in each result, as their metrics have other
            parameters or their budgets another tokenizer; with the reason. They are not compared.
    """

    baseline: str
    candidate: str
    before: ScoreTable
    after: ScoreTable
    change: ScoreTable
    headlines: tuple[str, str]
    questions: Mapping[str, str]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    skipped: tuple[str, ...]
    placed: tuple[str, ...]
    notes: tuple[str, ...]
    run_notes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    unfilled: tuple[Mapping[str, int], Mapping[str, int]] = field(default_factory=lambda: ({}, {}))
    incomparable: Mapping[str, str] = field(default_factory=dict[str, str])
    clusters: Clusters = field(default_factory=Clusters, compare=False)
    labels: Labels = field(default_factory=dict[str, Sequence[tuple[str, ...]]])

    @classmethod
    def of(cls, baseline: Result, candidate: Result, *, cluster: Cluster | None = None) -> "Comparison":
        """Compare two results of one evaluation type, and at chunk level of one chunking.

        Args:
            baseline: The result before.
            candidate: The result after.
            cluster: What is taken as independent, `"question"` or `"document"`; by default documents, where the labels
                are in at least 6.

        Raises:
            LevelMismatch: They are of different evaluation types.
            ResultError: Their chunkings differ, or they share no query or no score, or the documents are wanted and
                not known.
            ConfigError: `cluster` is something else.
        """
        if baseline.evaluation_type != candidate.evaluation_type:
            raise LevelMismatch(
                f"{baseline.name!r} is {baseline.evaluation_type}, {candidate.name!r} is {candidate.evaluation_type}: "
                "their scores mean different things; evaluate both at one level"
            )
        if (reason := other_chunking(baseline.config, candidate.config)) is not None:
            raise ResultError(f"{baseline.name!r} and {candidate.name!r} cannot be compared: {reason}")
        before, after = baseline.scores.rows, candidate.scores.rows
        shared = [query_id for query_id in before if query_id in after]
        was, now = baseline.queries.identities, candidate.queries.identities
        unchanged = {query_id for query_id in shared if was[before[query_id]] == now[after[query_id]]}
        edited = edited_questions(baseline, candidate, [query_id for query_id in shared if query_id not in unchanged])
        same = [query_id for query_id in shared if query_id in unchanged or before[query_id] in edited]
        taken = set(same)
        others = _other_meanings(baseline, candidate, same)
        names = [name for name in baseline.score_names if name in candidate.scores.columns and name not in others]
        if not same or not names:
            raise ResultError(
                f"{baseline.name!r} and {candidate.name!r} have no "
                f"{'score' if same else 'question with the same truth'} in common: nothing to compare"
                f"{''.join(f'; {name} is not comparable: {why}' for name, why in [*others.items()][:1])}"
            )
        old, new = in_all((baseline.scores, candidate.scores), names, same)
        was_skipped, now_skipped = ({label.query.id for label in run.skipped} for run in (baseline, candidate))
        change = replace(old, columns={name: new.columns[name] - old.columns[name] for name in names})
        compared = cls(
            baseline=baseline.name,
            candidate=candidate.name,
            before=old,
            after=new,
            change=change,
            headlines=(baseline.headline, candidate.headline),
            run_notes=(baseline.all_notes, candidate.all_notes),
            unfilled=(baseline.unfilled, candidate.unfilled),
            questions={query_id: baseline.queries.texts[before[query_id]] for query_id in shared},
            added=tuple(query_id for query_id in after if query_id not in before and query_id not in was_skipped),
            removed=tuple(query_id for query_id in before if query_id not in after and query_id not in now_skipped),
            skipped=tuple(query_id for query_id in before if query_id not in after and query_id in now_skipped),
            placed=tuple(query_id for query_id in after if query_id not in before and query_id in was_skipped),
            changed=tuple(query_id for query_id in shared if query_id not in taken),
            notes=(),
            incomparable=others,
            clusters=clusters_of((candidate, baseline), same, cluster),
            labels=labels_of(candidate.queries, [after[query_id] for query_id in same], candidate.evaluation_type),
        )
        notes: tuple[str, ...] = load_installed(f"{_PAGE}:comparison_doubts")(
            compared,
            (baseline, candidate),
            edited.values(),
            regressed_slices(compared.labels, compared._change(names[0]), compared.tests.get(names[0])),
            cutoff_orders((old, new), compared.clusters.numbers),
        )
        return replace(compared, notes=notes)

    @cached_property
    def deltas(self) -> Mapping[str, Mapping[str, float]]:
        """For each score that both have, candidate minus baseline by query id, for the queries scored in both."""
        return {
            name: {query: value for query, value in self.change.per_query(name).items() if value is not None}
            for name in self.change.columns
        }

    @cached_property
    def tests(self) -> Mapping[str, PairedDifference]:
        """For each score whether its means differ by more than chance: an interval of 95 % and a p-value.

        Scores of which no query has a delta are left out. The random signs are the same every time.
        """
        return change_tests(self.before, self.after, self.change.columns, self.clusters)

    @property
    def means(self) -> Mapping[str, tuple[float | None, float | None]]:
        """For each score, the means of baseline and candidate over the queries scored in both; None if none is."""
        return {name: (self.before.mean[name], self.after.mean[name]) for name in self.change.columns}

    def delta(self, name: str) -> float | None:
        """Return the mean of candidate minus baseline, None if no query has the score in both.

        Args:
            name: The score; a metric alone means its first cutoff.

        Raises:
            ConfigError: The results do not both have this score.
        """
        return self.change.mean[self._full(name)]

    def regressions(self, name: str) -> dict[str, float]:
        """Return the queries that score lower than before, by id, the greatest loss first.

        Raises:
            ConfigError: The results do not both have this score.
        """
        lost = ((query_id, value) for query_id, value in self._column(name).items() if value < 0)
        return dict(sorted(lost, key=itemgetter(1)))

    def improvements(self, name: str) -> dict[str, float]:
        """Return the queries that score higher than before, by id, the greatest gain first.

        Raises:
            ConfigError: The results do not both have this score.
        """
        won = ((query_id, value) for query_id, value in self._column(name).items() if value > 0)
        return dict(sorted(won, key=lambda pair: -pair[1]))

    @property
    def properties(self) -> tuple[str, ...]:
        """Properties that slices can use: keys of metadata, `document` and `answer length`."""
        return tuple(self.labels)

    def slices(self, by: str, name: str | None = None) -> list[Slice]:
        """Return how a score changed in the slices of the queries by one of their properties, the largest first.

        A query with several values, such as tags, is in several. Each slice is tested as if it were the only one: of
        many, some differ by chance.

        Args:
            by: One of the `properties`.
            name: The score; by default the first.

        Raises:
            ConfigError: There is no such property, or the results do not both have this score.
        """
        if by not in self.labels:
            raise ConfigError(
                f"by={shown(by)}: expected a property that tells some questions from others; "
                f"{', '.join(self.labels) or 'none, as these results do not tell what their questions are about'}"
            )
        return slices(by, self.labels[by], self._change(next(iter(self.change.columns)) if name is None else name))

    def part(self, queries: Collection[str], name: str, by: str = "", value: str = "") -> Slice | None:
        """Return how a score changed on some of the queries; None if none of them has it in both results.

        Args:
            queries: The ids; those that are not compared are left out.
            name: The score.
            by: The property that they share.
            value: Its value.

        Raises:
            ConfigError: The results do not both have this score.
        """
        rows = [row for row, query_id in enumerate(self.change.query_ids) if query_id in queries]
        return self._change(name).of(by, value, np.array(rows, dtype=np.int64))

    def _change(self, name: str) -> ScoreChange:
        full = self._full(name)
        return ScoreChange(full, self.before.columns[full], self.after.columns[full], self.clusters)

    def _full(self, name: str) -> str:
        full = full_name(name, self.change.columns)
        if full is None:
            raise ConfigError(f"no score {name!r} in both results; there are {', '.join(self.change.columns)}")
        return full

    def _column(self, name: str) -> Mapping[str, float]:
        return self.deltas[self._full(name)]

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row per query that both results hold: its wording, and its delta in one column per score.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        columns: dict[str, list[Any]] = {"query_id": [*self.questions], "query": [*self.questions.values()]}
        columns |= {name: [column.get(one) for one in self.questions] for name, column in self.deltas.items()}
        frame: pd.DataFrame = pandas.DataFrame(columns).set_index("query_id")
        return frame

    def record(self, runs: tuple[Result, Result] | None = None) -> dict[str, Any]:
        """Return the comparison for JSON: what became of each score, then each question with its deltas or None.

        Args:
            runs: Baseline and candidate, to tell where they are, and when they were made.
        """
        named = zip((self.baseline, self.candidate), self.run_notes, self.unfilled, strict=True)
        both: list[dict[str, Any]] = []
        for name, notes, unfilled in named:
            both.append({"name": name, "notes": list(notes), "unfilled": dict(unfilled)})
        for known, run in zip(both, runs or (), strict=False):
            known |= {"folder": None if run.folder is None else str(run.folder), "created": run.created}
        return {
            "schema_version": 1,
            "baseline": both[0],
            "candidate": both[1],
            "intervals": self.clusters.record(),
            "scores": {
                name: change_record(self.means[name], self.delta(name), self.tests.get(name), self.change.columns[name])
                for name in self.deltas
            },
            "incomparable": dict(self.incomparable),
            "properties": list(self.labels),
            "questions": [
                {"id": one, "query": text, "deltas": {name: column.get(one) for name, column in self.deltas.items()}}
                for one, text in self.questions.items()
            ],
            **{name: list(getattr(self, name)) for name in ("added", "removed", "changed", "skipped", "placed")},
            "notes": list(self.notes),
        }

    def summary(self) -> "Page":
        """Return the comparison as people read it."""
        page: Page = load_installed(f"{_PAGE}:comparison_page")(self)
        return page


def in_all(tables: Sequence[ScoreTable], names: Sequence[str], query_ids: Sequence[str]) -> tuple[ScoreTable, ...]:
    """Return the scores of these queries in every table; a query that lacks a score in one lacks it in all.

    Zeros of queries that were not scored complete a column, and never make one.
    """
    columns: list[dict[str, Numbers]] = [{} for _ in tables]
    rows = [(table, [table.rows[query_id] for query_id in query_ids]) for table in tables]
    for name in names:
        found = np.stack([table.column(name)[chosen] for table, chosen in rows])
        lacking = np.isnan(found).any(axis=0)
        if any(table.count_as_zero for table in tables):
            bare = np.stack([table.columns[name][chosen] for table, chosen in rows])
            lacking |= np.isnan(bare).any(axis=0).all()
        found[:, lacking] = np.nan
        for column, kept in zip(columns, found, strict=True):
            column[name] = kept
    answerable = np.ones(len(query_ids), dtype=np.bool_)
    return tuple(ScoreTable(tuple(query_ids), column, answerable) for column in columns)
