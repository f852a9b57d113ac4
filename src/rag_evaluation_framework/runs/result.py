"""`EvaluationResult`: the scores of an experiment, down to every query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from math import isnan
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, Unpack, overload
from urllib.parse import quote

import numpy as np

from ..base.optional import installed_version, require
from ..base.outside import shown
from ..base.records import refuse_unknown
from ..components.providers.calls import ModelUsage
from ..contracts.registry.building import plain
from ..contracts.registry.loading import load_installed
from ..data import CharacterSpan, ChunkId, DocumentId, EvaluationType, Failure, Skipped, count_skipped
from ..data.columns import Integers
from ..data.levels import U
from ..data.score_table import Means, ScoreTable, full_name
from ..datasets.rankings.hit_lines import write_hit_lines
from ..errors import ConfigError, ResultError, SaveFailed
from ..statistics.means import SHARE, MeanScore, group_means, mean_scores
from . import means, store
from .query_result import DEEPEST, QueryResult, QueryResults, missed, question_lines, why_unknown
from .shown import GateVerdict, Shown, ShownList
from .texts import keep_corpus

if TYPE_CHECKING:
    import pandas as pd

    from ..analysis.attribution.explaining import Explanation
    from ..analysis.comparison import Comparison
    from ..components.retrievers.function import Pipeline
    from ..data.documents import Corpus
    from ..report.pages.result import Page

HEAD = (
    *("name", "evaluation_type", "metric_names", "cutoffs"),
    *("config", "timings", "notes", "created", "version", "experiment_url", "gates", "usage"),
)
"""What a report says of a result as it is."""
_RECALLS = ("recall", "chunk_recall", "span_recall")
_MOST_IN_REPORT = 5_000
_LARGEST_PART = store.LARGEST_REPORT // 8  # in characters, of which one can be 4 bytes
_COMPARISON = "rag_evaluation_framework.analysis.comparison:Comparison"  # a door upwards
_PAGE = "rag_evaluation_framework.report.pages.result"  # as this one
_EXPLAIN = "rag_evaluation_framework.analysis.attribution.explaining:explain"  # another one


class ExplainFields(TypedDict, total=False):
    """The keywords of `EvaluationResult.explain`.

    Attributes:
        retriever: The pipeline, where it cannot be made again: a function, or a class of a notebook.
        corpus: The documents, where they are neither kept nor in the folder any more.
        tokenizer: What counts the tokens of a budget, where that of the run cannot be found by its name.
        deep: Ask pipelines, too, that are not all ours, and import the own code that the record names.
    """

    retriever: Pipeline | None
    corpus: Corpus | None
    tokenizer: Any
    deep: bool


@dataclass(frozen=True, repr=False)
class EvaluationResult(Shown, Generic[U]):
    """The result of one experiment.

    Attributes:
        name: The name of the result; by default the retriever's name.
        evaluation_type: The level at which it was scored.
        queries: One `QueryResult` per query, in the order of the dataset.
        metric_names: The metrics, in order.
        cutoffs: The cutoffs as they are printed, in order; the first is the run's k.
        config: A record of the components and their parameters, the dataset and the corpus, with their hashes.
        timings: Seconds spent indexing, retrieving and scoring.
        notes: Notes shown with the result; components add to them with `note`.
        created: When the run started, UTC, ISO 8601.
        hits: How many hits were found, and how many of these lack what the level compares (`unlocated_hits`).
        skipped: The labels that could not be placed in the documents, with quote and reason; their questions were not
            asked.
        gates: What became of the gates of the run, in order; empty if it had none.
        usage: What components asked of providers: requests, retries, tokens and costs of each model; empty if nothing.
        version: The version of this package.
        folder: The folder in which the result is saved, or None.
        experiment_url: The address at which the result was published, or None.
        raw_results: What the publisher returned, or None.
        corpus: The documents that were searched; None of a result that was loaded.
    """

    name: str
    evaluation_type: EvaluationType
    queries: QueryResults[U]
    metric_names: tuple[str, ...]
    cutoffs: tuple[str, ...]
    config: Mapping[str, Any]
    timings: Mapping[str, float]
    notes: tuple[str, ...]
    created: str
    hits: Mapping[str, int]
    skipped: tuple[Skipped, ...] = ()
    gates: tuple[GateVerdict, ...] = ()
    usage: tuple[ModelUsage, ...] = ()
    version: str = field(default_factory=installed_version)
    folder: Path | None = field(default=None, compare=False)
    experiment_url: str | None = None
    raw_results: Any = field(default=None, compare=False)
    corpus: Corpus | None = field(default=None, compare=False)

    @property
    def scores(self) -> ScoreTable:
        """Every score of every query."""
        return self.queries.table

    @property
    def metrics(self) -> Means:
        """The mean of every score over the queries that have one, None if none has; each query counts the same.

        Queries without an answer and queries that failed are left out, unless the run counts them as zero.
        """
        return self.scores.mean

    @cached_property
    def statistics(self) -> Mapping[str, MeanScore]:
        """The mean of every score with its interval of 95 %, its spread and its quantiles, by name.

        Questions on one document are taken together if the labels are in at least 6 documents. Scores that no query
        has are left out.
        """
        return self.means_of(self.score_names, np.arange(len(self.queries)), self.clusters)

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the least and the greatest value that a score can have, by its metric."""
        return means.score_ranges(self.config, self.metric_names).get(name.partition("@")[0], SHARE)

    def means_of(self, names: Sequence[str], rows: Integers, clusters: means.Clusters) -> Mapping[str, MeanScore]:
        """Return the means of some scores over some queries, with their intervals; of scores that one of these has.

        Args:
            names: The scores, by their full names.
            rows: The numbers of the queries.
            clusters: Which of all queries count together.
        """
        found = mean_scores(
            np.stack([self.scores.column(name)[rows] for name in names], axis=1),
            clusters.among(rows).numbers,
            ranges=[self.score_range(name) for name in names],
        )
        return {name: mean for name, mean in zip(names, found, strict=True) if mean is not None}

    @cached_property
    def micro(self) -> Means:
        """The mean of every recall over all that is relevant: each character, or each answer, counts the same.

        It is Σ recall · size / Σ size, by the size of the truth: the number of characters of the answers, each once and
        in their first places; of ids, that of the answers. None where no query has the score.
        """
        rows = range(len(self.queries))
        sizes = np.array([means.truth_size(self.queries, row, self.evaluation_type) for row in rows], dtype=np.float64)
        found: dict[str, float | None] = {}
        for name in self.score_names:
            if name.partition("@")[0] in _RECALLS:
                scores = self.scores.column(name)
                known = ~np.isnan(scores)
                total = float(sizes[known].sum())
                found[name] = float(scores[known] @ sizes[known]) / total if total else None
        return Means(found)

    @cached_property
    def per_document(self) -> Means:
        """The mean of every score over documents, each of which counts the same, whatever the number of its questions.

        The document of a question is that of its first label. Empty where that is not known, as of chunks.
        """
        numbers = means.documents(self.queries.relevant, self.evaluation_type)
        if numbers is None or (numbers < 0).all():
            return Means()
        labelled = numbers >= 0
        columns = np.stack([self.scores.column(name) for name in self.score_names], axis=1)
        found: list[float] = group_means(columns[labelled], numbers[labelled]).tolist()
        return Means({name: None if isnan(mean) else mean for name, mean in zip(self.score_names, found, strict=True)})

    @cached_property
    def clusters(self) -> means.Clusters:
        """Which queries count together: those on one document, if the labels are in at least 6."""
        return means.Clusters.of(self.queries.relevant, self.evaluation_type)

    @cached_property
    def reranking(self) -> means.Reranking | None:
        """The scores before and after reranking, and the candidate ceiling; None without a reranker.

        None, too, if no query was scored.
        """
        if not self.queries.before:
            return None
        before, ceiling = (
            replace(self.scores, columns=columns) for columns in (self.queries.before, self.queries.ceilings)
        )
        return means.Reranking(before, self.scores, ceiling, self.clusters)

    @cached_property
    def latency(self) -> means.Latency | None:
        """Seconds per question, by stage and in total; None if no question was timed."""
        return means.Latency.of(self.queries.stages)

    @cached_property
    def unanswerable(self) -> means.Unanswerable | None:
        """Results of the questions without an answer; None if none was asked."""
        return means.Unanswerable.of(self.scores, self.queries.returned)

    @cached_property
    def first_relevant(self) -> means.FirstRelevant | None:
        """At which rank the first relevant result is; None if no question was scored."""
        return means.FirstRelevant.of(self.scores, self.queries.returned)

    @cached_property
    def breakdowns(self) -> tuple[means.Breakdown, ...]:
        """The first score by tags, by scope and by other metadata that divides the questions into a few groups."""
        return tuple(means.breakdowns(self, self.score_names[0]))

    @property
    def measured(self) -> dict[str, Any]:
        """All that follows from the scores and times of the questions, for JSON."""
        return {
            "statistics": means.statistics_record(self.statistics, self.micro, self.per_document),
            "reranking": None if self.reranking is None else self.reranking.record(),
            "latency": None if self.latency is None else asdict(self.latency),
            "unanswerable": None if self.unanswerable is None else asdict(self.unanswerable),
            "breakdowns": [breakdown.record() for breakdown in self.breakdowns],
            "first_relevant": None if self.first_relevant is None else asdict(self.first_relevant),
        }

    @property
    def score_names(self) -> tuple[str, ...]:
        """The names of all scores: every metric at every cutoff that it takes."""
        return tuple(self.scores.columns)

    @cached_property
    def unfilled(self) -> dict[str, int]:
        """Number of rankings that ran out of results before the budget was filled, by score; without zeros.

        Such a mean is not that of a whole budget: it is marked wherever it is shown.
        """
        known: Mapping[str, int] = self.config["unfilled"]
        return {name: known[cutoff] for name in self.score_names if (cutoff := name.partition("@")[2]) in known}

    @property
    def all_notes(self) -> tuple[str, ...]:
        """All notes shown with the result: what failed, results without a place, and `notes`."""
        return tuple(load_installed(f"{_PAGE}:all_notes")(self))

    def per_query(self, name: str) -> dict[str, float | None]:
        """Return one score by query id, in order; None where a query has none.

        Args:
            name: The score, such as `span_recall@5`; a metric alone means its first cutoff.

        Raises:
            ConfigError: The result has no such score.
        """
        return self.scores.per_query(name)

    def worst(self, n: int = 5, name: str | None = None) -> list[QueryResult[U]]:
        """Return the queries with the lowest scores, the worst first, ties in the order of the dataset.

        Printed, the list is a table: of each what the results within the cutoff lack of its answers, and at which rank
        some of that is behind it; its score; and its `first_relevant`. `explain` takes the list, or a query of it.

        Args:
            n: How many, also such that miss nothing; queries without a score are not among them.
            name: By which score; by default the first one.

        Raises:
            ConfigError: `n` is negative or not a number, or there is no such score.
        """
        given: Any = n
        if not isinstance(given, Integral) or given < 0:
            raise ConfigError(f"worst(n={shown(n)}): expected a whole number of at least 0")
        by = self.metric_names[0] if name is None else name
        scores = enumerate(self.per_query(by).values())
        by = full_name(by, self.scores.columns) or by
        scored = [(score, row) for row, score in scores if score is not None]
        page: Callable[[list[QueryResult[U]]], Page] = partial(load_installed(f"{_PAGE}:worst_page"), self, by)
        return ShownList([QueryResult(self.queries, row, by) for _, row in sorted(scored)[:n]], page)

    @property
    def failures(self) -> dict[str, tuple[Failure, ...]]:
        """Failures by query id."""
        return dict(self.scores.failures)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of queries that were scored, have no answer, failed, or made a metric fail; and of hits without unit.

        `skipped` queries were not asked, as a label of theirs could not be placed; each counts once, however many of
        its labels are in `EvaluationResult.skipped`.
        `answerable` are the skipped, whose labels say that there is an answer, and the queries asked that have one.
        `unlocated_hits` are results without a place in the corpus; at the other levels, without a document or chunk id.
        """
        statuses, skipped = self.scores.statuses, count_skipped(self.skipped)
        return {
            "questions": len(statuses),
            "scored": statuses.count("scored"),
            "no_answer": statuses.count("no-answer"),
            "failed": statuses.count("failed"),
            "metric_failed": len(self.scores.failures) - statuses.count("failed"),
            "answerable": int(self.scores.answerable.sum()) + skipped,
            "skipped": skipped,
            **self.hits,
        }

    @property
    def unplaced(self) -> float:
        """The share of the results that need a place in the corpus, or the id of a chunk, and have none.

        At document level no result needs one, nor does any of a retriever that rewrites texts.
        """
        needs_none = self.evaluation_type == "document-level" or "rewrites_texts" in self.config
        return 0.0 if needs_none else self.counts["unlocated_hits"] / max(self.counts["hits"], 1)

    @property
    def whereabouts(self) -> str:
        """Where it is: "saved in" a folder, or "not saved"."""
        return "not saved" if self.folder is None else f"saved in {self.folder}"

    @property
    def headline(self) -> str:
        """Basis of the means: "scored N of M answerable questions (S skipped, F failed)", M being N + S + F.

        Skipped questions are those that the dataset lacks because their labels could not be placed; failed ones those
        with an answer whose retrieval raised.
        """
        return str(load_installed(f"{_PAGE}:headline")(self))

    def summary(self) -> Page:
        """Return the result as people read it: the first score, what to look at, and then all that it stands on."""
        page: Page = load_installed(f"{_PAGE}:result_page")(self)
        return page

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per query that was asked, with the columns that the guide lists; skipped ones have none.

        Id, wording, status, the documents of its labels, one column per score, the rank of the first relevant result,
        what the first score missed (None where that is not known, and of queries without a score), the seconds of each
        stage, and what else the dataset says of it, by its keys; one that is the name of another column begins with
        `metadata_`.

        Raises:
            MissingDependency: pandas is not installed.
        """
        pandas = require("pandas", extra="pandas", needed_by="to_dataframe")
        columns = {name: self.per_query(name) for name in self.score_names}
        by, is_known = self.score_names[0], not why_unknown(self)
        rows: list[dict[str, Any]] = []
        for query in self.queries:
            documents = dict.fromkeys(means.document_of(unit) for answer in query.answers for unit in answer.units)
            row = {
                "query_id": query.query_id,
                "query": query.text,
                "status": query.status,
                **({} if self.evaluation_type == "chunk-level" else {"documents": ", ".join(documents)}),
                **{name: column[query.query_id] for name, column in columns.items()},
                "first_relevant": query.first_relevant,
                "missed": " … ".join(missed(self, query, by).texts) if is_known and query.scores else None,
                **{f"{stage}_seconds": seconds for stage, seconds in query.stages.items()},
            }
            rows.append(row | {f"metadata_{key}" if key in row else key: told for key, told in query.metadata.items()})
        frame: pd.DataFrame = pandas.DataFrame(rows).set_index("query_id").astype({"first_relevant": "Int64"})
        return frame

    def to_trec(self, folder: str | Path) -> Path:
        """Write `run.txt` and `qrels.txt` into a new folder, for trec_eval, ir_measures and the like.

        The ids are those of chunks at chunk level, else of documents: at token level, too, each at its first rank.
        Scores are those that put each id at its rank, since the retriever's own may tie or be distances. A result
        without an id keeps its rank, under one that begins with `%00`.

        Raises:
            ResultError: What was retrieved is not known; or the folder exists and is not empty, or cannot be written.
        """
        run, qrels = list[str](), list[str]()
        tag = re.sub(r"\s+", "_", self.name)
        corpus = [] if self.corpus is None else [document.id for document in self.corpus]
        for query in self.queries:
            asked = _field(query.query_id)
            hits = (hit.chunk_id if self.evaluation_type == "chunk-level" else hit.doc_id for hit in query.hits)
            # What has no id keeps its rank, under one that nothing has: it is not relevant, and those behind it stay.
            ids = [*dict.fromkeys(unit or f"\0{rank}" for rank, unit in enumerate(hits, 1))]
            run += [
                f"{asked} Q0 {_field(unit)} {rank} {len(ids) + 1 - rank} {tag}\n" for rank, unit in enumerate(ids, 1)
            ]
            for unit, gain in _judged(query, [*ids, *corpus]).items():
                qrels.append(f"{asked} 0 {_field(unit)} {repr(float(gain)).removesuffix('.0')}\n")
        texts = {"run.txt": "".join(run), "qrels.txt": "".join(qrels)}
        return store.write_folder(Path(folder), lambda made: store.write_texts(made, texts))

    def save(
        self,
        folder: str | Path | None = None,
        *,
        root: str | Path = store.ROOT,
        beside: Mapping[str, str] = MappingProxyType({}),
    ) -> Path:
        """Save the result in a folder of its own.

        `report.json` holds what is said of the whole run, and the questions with scores and times: enough as a
        baseline. Of more than 5,000 questions, they are in `questions.jsonl`, which the report names.
        `rankings.jsonl.gz` holds what was found, and `summary.md` what people read first. What JSON cannot hold of the
        configuration is told by a text.

        Args:
            folder: The folder to make; by default `<root>/runs/<UTC time>-<dataset>`, where the texts of the documents
                are kept, too, in `<root>/store/texts`.
            root: Where runs are kept.
            beside: Other texts that are saved with it, by the names of their files; a `summary.md` takes the place of
                that of the result.

        Returns:
            The folder.

        Raises:
            SaveFailed: The folder exists and is not empty (nothing is ever overwritten), cannot be written, or what is
                to be written cannot be. The error has the result, which can be saved elsewhere.
        """
        write = partial(self._write, beside=beside)
        try:
            if folder is not None:
                return store.write_folder(Path(folder), write)
            if self.corpus is not None:
                keep_corpus(self.corpus, root)
            return store.write_run(root, self.created, self.config["dataset"]["name"], write)
        except Exception as error:
            why = str(error) if isinstance(error, ResultError) else store.reason(error)
            raise SaveFailed(why, self) from error

    def _write(self, folder: Path, beside: Mapping[str, str]) -> None:
        """Write the files of the result, and those beside it."""
        with (folder / store.RANKINGS).open("wb") as file:
            ids, statuses = self.scores.query_ids, self.scores.statuses
            failed = {query_id for query_id, status in zip(ids, statuses, strict=True) if status == "failed"}
            write_hit_lines(file, ids, *self.queries.kept, failed)
        parts = [store.RANKINGS]
        lines = [*question_lines(self.queries)] if len(self.queries) <= _MOST_IN_REPORT else None
        if lines is None or sum(map(len, lines)) > _LARGEST_PART:
            lines = None
            store.write_lines(folder / store.QUESTIONS, question_lines(self.queries))
            parts.append(store.QUESTIONS)
        keys = (*HEAD[:4], "count_as_zero", *HEAD[4:9], "counts", "files", "experiment_url", "metrics")
        own = {
            "count_as_zero": sorted(self.scores.count_as_zero),
            "config": plain(self.config, DEEPEST),
            "files": {name: {"sha256": store.sha256(folder / name)} for name in parts},
        }
        head = {
            **{key: own[key] if key in own else getattr(self, key) for key in keys},
            **self.measured,
            "skipped": [plain(replace(label, document="").record(), DEEPEST) for label in self.skipped],
            "gates": [asdict(gate) for gate in self.gates],
            "usage": [asdict(model) for model in self.usage],
        }
        store.write_lines(folder / store.REPORT, [store.report_text(head, lines)])
        summary = {} if store.SUMMARY in beside else {store.SUMMARY: self.summary().as_markdown()}
        store.write_texts(folder, {**beside, **summary})

    def compare(self, candidate: EvaluationResult[U], *, cluster: means.Cluster | None = None) -> Comparison:
        """Compare another result, the candidate, with this one, the baseline; deltas are candidate minus baseline.

        Args:
            candidate: The other result.
            cluster: What is taken as independent, `"question"` or `"document"`; by default documents, where the labels
                are in at least 6.

        Raises:
            ConfigError: `cluster` is something else.
            LevelMismatch: The other result is of another evaluation type.
            ResultError: It is not a result, or the scores of the two mean different things: chunks of different
                chunkings; or the documents are wanted, and not known.
        """
        if not isinstance(candidate, EvaluationResult):  # pyright: ignore[reportUnnecessaryIsInstance]  no checker
            raise ResultError(f"compare({shown(candidate)}): expected an EvaluationResult; load_result(path) reads one")
        comparison: Comparison = load_installed(_COMPARISON).of(self, candidate, cluster=cluster)
        return comparison

    @overload
    def explain(
        self, question: str | QueryResult[U] | None = None, score: str | None = None, **how: Unpack[ExplainFields]
    ) -> Explanation: ...

    @overload
    def explain(
        self, question: Sequence[QueryResult[U]] | list[str], score: str | None = None, **how: Unpack[ExplainFields]
    ) -> list[Explanation]: ...

    def explain(
        self,
        question: str | QueryResult[U] | Sequence[QueryResult[U]] | list[str] | None = None,
        score: str | None = None,
        **how: Unpack[ExplainFields],
    ) -> Explanation | list[Explanation]:
        """Explain what one question found, what it missed, and why; printed, the explanation shows all of that.

        The pipeline is made again from the record of the run, indexes the documents again and is asked for 100 results,
        if all of its parts are of this package and need no network; else what the run retrieved has to do.

        Args:
            question: The id of the question, its wording, the unique beginning of either, or some of its words; or a
                query of the result, as `worst` returns them. A list of these is explained at once, in its order: the
                documents are indexed once. By default it is the worst question; `Attribution.of` tells of all.
            score: The recall that is explained, at one of the cutoffs of the run, such as `span_recall@5`; by default
                the first, or that by which `worst` chose the query.
            how: How the pipeline is asked again: the keywords of `ExplainFields`.

        Raises:
            ConfigError: The question or the score is not known; or the pipeline cannot be made again or asked, and
                `deep` is true or it is given.
            ResultError: The documents have changed or cannot be read, or it is not known what was retrieved.
        """
        refuse_unknown(how, *ExplainFields.__annotations__)
        explain: Callable[..., Explanation | list[Explanation]] = load_installed(_EXPLAIN)
        return explain(self, question, score, **how)


ExperimentResult: TypeAlias = EvaluationResult[DocumentId] | EvaluationResult[ChunkId] | EvaluationResult[CharacterSpan]
"""A result whose evaluation type is known only when it is read; `evaluation_type` tells which."""


# A result as the files that trec_eval, ir_measures and their family read: a run and its qrels.

_NOT_IN_FIELDS = re.compile(r"[\0\s%#]")  # white space ends a field, and `#` begins a comment


def _judged(query: QueryResult[Any], known: Iterable[str]) -> dict[str, float]:
    """Return what is relevant to a query with its gains; of a prefix such as `guides/*`, the known ids."""
    judged: dict[str, float] = {}
    for unit in (unit for answer in query.answers for unit in answer.units):
        name = means.document_of(unit)
        names = [one for one in known if one.startswith(name[:-1])] if name.endswith("*") else [name]
        judged |= dict.fromkeys(names, query.gains.get(name, 1.0))
    return judged


def _field(text: str) -> str:
    """Return a text as one field of a line: white space, NUL, `%` and `#` as URLs write them."""
    return _NOT_IN_FIELDS.sub(lambda sign: quote(sign[0]), text) or "-"
