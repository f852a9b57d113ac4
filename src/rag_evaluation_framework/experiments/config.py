"""What is to be measured: everything is checked here, before any work is done."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch
from rag_evaluation_framework.ground_truth import Dataset, misplaced
from rag_evaluation_framework.levels import TOKEN, U
from rag_evaluation_framework.metrics.defaults import DEFAULT_TOKEN_METRICS
from rag_evaluation_framework.retrievers.function import as_retriever
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.tokenizers import resolve_tokenizer

Unscored = Literal["no-answer", "failed"]

_UNSCORED: frozenset[Unscored] = frozenset(("no-answer", "failed"))
_MOST_PROBLEMS = 5


@dataclass(frozen=True, init=False)
class ExperimentConfig(Generic[U]):
    """One retriever, one dataset, and what to report.

    Attributes:
        retriever: What is evaluated; a function `(query, k) -> results` is taken as a `FunctionRetriever`.
        dataset: The questions and their truth; it decides the evaluation type.
        corpus: The documents; by default those of the dataset.
        metrics: What is reported; by default span recall, precision and IoU.
        k: Numbers of results at which rankings are cut; the first is the run's k.
        budgets: Context budgets at which rankings are cut.
        tokenizer: Counts the tokens of budgets in tokens; needed for these only.
        count_as_zero: Questions that have no score by themselves, but shall count as 0.0 in every mean: those without
            an answer in the corpus (`"no-answer"`), those whose retrieval failed (`"failed"`).
        name: What the result is called; by default the retriever's name.

    Raises:
        ConfigError: A cutoff, metric or option is impossible.
        CorpusError: There is no corpus, or it is empty.
        DatasetError: There are no questions, or a span does not match the corpus.
        LevelMismatch: A metric cannot score the dataset's evaluation type.
    """

    retriever: Retriever
    dataset: Dataset[U]
    corpus: Corpus
    metrics: tuple[Metric[U], ...]
    k: tuple[int, ...]
    budgets: tuple[Cutoff, ...]
    tokenizer: Tokenizer | None
    count_as_zero: frozenset[Unscored]
    name: str
    warnings: tuple[str, ...] = field(compare=False)

    def __init__(
        self,
        retriever: Retriever | Callable[[str, int], Any],
        dataset: Dataset[U],
        *,
        corpus: Corpus | None = None,
        metrics: Sequence[Metric[U]] | None = None,
        k: int | Sequence[int] = (5, 10),
        budgets: Sequence[str | Cutoff] = ("4000ch",),
        tokenizer: Any = None,
        count_as_zero: Iterable[Unscored] = (),
        name: str | None = None,
    ) -> None:
        pipeline = as_retriever(retriever)
        check_dataset_type(dataset)
        chosen = _checked_metrics(dataset, metrics)
        ks, cuts = _cutoffs(k, budgets)
        documents = _check_corpus(dataset.corpus if corpus is None else corpus)
        values: dict[str, Any] = {
            "retriever": pipeline,
            "dataset": dataset,
            "corpus": documents,
            "metrics": chosen,
            "k": ks,
            "budgets": cuts,
            "tokenizer": _check_tokenizer(tokenizer, cuts),
            "count_as_zero": _check_unscored(count_as_zero),
            "name": pipeline.name if name is None else name,
            "warnings": _check_dataset(dataset, documents),
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    @property
    def cutoffs(self) -> tuple[Cutoff, ...]:
        """All cutoffs, the numbers of results first."""
        return (*map(Cutoff, self.k), *self.budgets)


def check_dataset_type(dataset: Any) -> None:
    """Raise DatasetError if something else was given, such as a path."""
    if not isinstance(dataset, Dataset):
        raise DatasetError(f"dataset={dataset!r:.80}: wanted a Dataset; load_dataset(path, corpus=...) reads one")


def check_options(k: Any, budgets: Any, tokenizer: Any, count_as_zero: Any) -> None:
    """Raise what `ExperimentConfig` would raise of these, before any file is read."""
    _check_tokenizer(tokenizer, _cutoffs(k, budgets)[1])
    _check_unscored(count_as_zero)


def _checked_metrics(dataset: Dataset[Any], metrics: Any) -> tuple[Metric[Any], ...]:
    level = dataset.level.evaluation_type
    if metrics is None:
        if dataset.level is not TOKEN:
            raise LevelMismatch(f"dataset {dataset.name!r} is {level}; wanted token-level: this version runs no other")
        return DEFAULT_TOKEN_METRICS
    if not hasattr(metrics, "__iter__"):
        raise ConfigError(f"metrics={metrics!r:.80}: wanted a list, such as [SpanRecall()]")
    chosen: tuple[Any, ...] = tuple(metrics)
    if not chosen:
        raise ConfigError("no metrics were given; name at least one, or leave them out for the defaults")
    for metric in chosen:
        if not isinstance(metric, Metric):
            raise ConfigError(f"metric {metric!r:.80}: wanted an instance of a metric, such as SpanRecall()")
    for metric in chosen:
        if not getattr(metric, "evaluation_types", None):
            raise ConfigError(f"metric {metric.name!r}: has no evaluation_types; subclass TokenLevelMetric instead")
        if level not in metric.evaluation_types:
            raise LevelMismatch(
                f"metric {metric.name!r} scores {' and '.join(sorted(metric.evaluation_types))} truth, dataset "
                f"{dataset.name!r} is {level}: choose metrics of the dataset's level"
            )
    names = [metric.name for metric in chosen]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are called {name!r}; names must be unique")
    return chosen


def _cutoffs(
    k: str | int | Sequence[int], budgets: Sequence[str | Cutoff]
) -> tuple[tuple[int, ...], tuple[Cutoff, ...]]:
    if not isinstance(budgets, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  for those without a checker
        raise ConfigError(f"budgets={budgets!r:.80}: wanted a list such as ['4000ch'], or [] for none")
    if isinstance(budgets, str):
        raise ConfigError(f"budgets={budgets!r}: wanted a list such as ['{budgets}']")
    numbers = list(k) if isinstance(k, Sequence) and not isinstance(k, str) else [k]
    at = [Cutoff.parse(number) for number in numbers]
    cuts = [Cutoff.parse(budget) for budget in budgets]
    for cutoff in at:
        if cutoff.is_budget:
            raise ConfigError(f"k={str(cutoff)!r}: is a budget; give it as budgets=['{cutoff}']")
    for cutoff in cuts:
        if not cutoff.is_budget:
            raise ConfigError(f"budget {str(cutoff)!r}: wanted characters (4000ch) or tokens (1000tok)")
    if not at and not cuts:
        raise ConfigError("neither k nor budgets were given; wanted at least one cutoff, such as k=[5, 10]")
    for cutoff in (*at, *cuts):
        if (*at, *cuts).count(cutoff) > 1:
            raise ConfigError(f"cutoff {str(cutoff)!r} is given twice")
    return tuple(cutoff.size for cutoff in at), tuple(cuts)


def _check_tokenizer(tokenizer: Any, budgets: tuple[Cutoff, ...]) -> Tokenizer | None:
    if tokenizer is not None:
        return resolve_tokenizer(tokenizer)
    for budget in budgets:
        if budget.unit == "tok":
            raise ConfigError(
                f"budget {str(budget)!r} counts tokens, and tokens of one model are not those of another: name the "
                "tokenizer, as in tokenizer='cl100k_base', or give the budget in characters, such as '4000ch'"
            )
    return None


def _check_unscored(count_as_zero: str | Iterable[str]) -> frozenset[Unscored]:
    chosen = frozenset([count_as_zero] if isinstance(count_as_zero, str) else count_as_zero)
    if not chosen <= _UNSCORED:
        raise ConfigError(f"count_as_zero={sorted(chosen)}: wanted some of 'no-answer' and 'failed'")
    return _UNSCORED & chosen


def _check_corpus(corpus: Any) -> Corpus:
    if corpus is None:
        raise CorpusError("the dataset does not know its corpus; pass corpus=Corpus.from_folder(...)")
    if not isinstance(corpus, Corpus):
        raise CorpusError(f"corpus={corpus!r:.80}: wanted a Corpus; Corpus.from_folder(path) reads one")
    if not len(corpus):
        raise CorpusError("the corpus is empty: it has no documents to search")
    return corpus


def _check_dataset(dataset: Dataset[Any], corpus: Corpus) -> tuple[str, ...]:
    if not len(dataset):
        raise DatasetError(f"dataset {dataset.name!r} is empty: it has no questions")
    problems = [
        f"question {entry.query.id!r}: {problem}"
        for entry in dataset
        for unit in entry.relevant
        if isinstance(unit, CharacterSpan) and (problem := misplaced(unit, corpus))
    ]
    if problems:
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise DatasetError(
            f"dataset {dataset.name!r} does not match the corpus in {len(problems)} places: "
            f"{'; '.join(problems[:_MOST_PROBLEMS])}{more}. Was it labelled on other documents, or have they changed?"
        )
    notes: list[str] = []
    left_out = dataset.metadata.get("left_out", ())
    if left_out:
        notes.append(f"questions left out of the dataset because their quotes have no certain place: {len(left_out)}")
    if dataset.corpus_hash not in (None, corpus.content_hash):
        unread = sum(not unit.text for entry in dataset for unit in entry.relevant if isinstance(unit, CharacterSpan))
        checked = (
            f"labelled spans that carry no text to compare: {unread}" if unread else "all labelled spans still match"
        )
        notes.append(f"the corpus has changed since the dataset was labelled; {checked}")
    return tuple(notes)
