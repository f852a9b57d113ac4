"""How a run is asked, measured and saved: each setting is declared once, for Python, files and options."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Unpack, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    InstanceOf,
    PlainSerializer,
    StrictBool,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from rag_evaluation_framework.base.coroutines import checked_limit
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.records import docstrings, refused
from rag_evaluation_framework.contracts.chunker import Tokenizer
from rag_evaluation_framework.contracts.sink import Outcome, Sink
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.rankings import OnError
from rag_evaluation_framework.data.values import items
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry.building import as_component, build
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.text.tokenizers import checked_counter

Unscored = Literal["no-answer", "failed"]


@dataclass(frozen=True)
class Option:
    """What the command line knows of a key beside its name, type and description.

    Attributes:
        name: The option, if it is not called like the key; None if there is none.
        metavar: What stands for its value.
        takes: The type of its value, if not that of the key.
    """

    name: str | None = None
    metavar: str | None = None
    takes: Any = None


ONLY_IN_FILES = Option(name="")
"""Marks a key that no option sets."""


def _statuses(given: Any) -> frozenset[Any]:
    if not isinstance(given, Iterable):
        raise ConfigError(f"count_as_zero={shown(given)}: expected some of 'no-answer' and 'failed', or [] for none")
    listed = [given] if isinstance(given, str) else items(given, "count_as_zero")
    chosen = frozenset(item if isinstance(item, str) else shown(item) for item in listed)
    if not chosen <= set(get_args(Unscored)):
        raise ConfigError(f"count_as_zero={sorted(chosen)}: expected some of 'no-answer' and 'failed'")
    return chosen


_Budgets = Annotated[
    tuple[Annotated[InstanceOf[Cutoff], PlainSerializer(str)], ...],
    BeforeValidator(Cutoff.parse_budgets),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
_Statuses = Annotated[
    frozenset[Unscored],
    BeforeValidator(_statuses),
    WithJsonSchema({"type": "array", "items": {"enum": [*get_args(Unscored)]}}),
]


_Tokenizer = Annotated[
    Tokenizer | None,
    BeforeValidator(lambda given: None if given is None else checked_counter(given)),
    PlainSerializer(lambda tokenizer: None if tokenizer is None else tokenizer.name),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]


def _built(given: Any) -> tuple[Sink, ...]:
    is_one = isinstance(given, str | Mapping | Sink) or callable(given)
    listed: list[Any] = [given] if is_one else [*items(given, "sinks")]
    return tuple(as_component(Sink, build("sink", sink), "sinks") for sink in listed)


_Sinks = Annotated[
    tuple[Sink, ...],
    BeforeValidator(_built),
    PlainSerializer(lambda sinks: [*map(describe, sinks)]),
    WithJsonSchema({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}),
]


class Asking(BaseModel, frozen=True):
    """How the queries of a run are asked."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    batch_queries: Annotated[StrictBool, ONLY_IN_FILES] = True
    """Whether the retriever is told all questions before they are asked, to embed and search them together. That is
    quicker; without it, the time of each question is that of asking it alone."""

    max_concurrency: int = Field(default=1, strict=True, ge=1)
    """How many questions are asked side by side; your own retriever has to allow it. Coroutines do, and functions that
    are safe to call from several threads. Results do not depend on it."""

    timeout: Annotated[
        float | None, Field(gt=0), BeforeValidator(partial(checked_limit, "timeout")), Option(metavar="SECONDS")
    ] = None
    """How long one question may take, in seconds; one that takes longer has failed. None for any time. A coroutine is
    cancelled; a function cannot be stopped, and goes on in a thread that is left behind. After the third of these no
    other question is asked: those that are left fail."""

    on_error: OnError = "collect"
    """collect keeps failed questions in the result, raise ends at the first. The same holds for metrics that raise;
    then `QueryFailed` is raised, and nothing is saved."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core_schema))
        for name, text in docstrings(cls).items():
            schema["properties"][name]["description"] = text
        return schema

    @classmethod
    def of(cls, given: "AskingFields") -> "Asking":
        """Return how to ask by the keywords that were given.

        Raises:
            ConfigError: A value is not valid, or a keyword not known.
        """
        with refused(cls):
            return cls.model_validate(given)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Asking":
        """Return how the questions of a run were asked, one at a time, by its record, which may hold anything."""
        return cls(timeout=record["timeout"] if isinstance(record.get("timeout"), int | float) else None)


RECORDED = ("max_concurrency", "timeout")
"""How queries are asked as far as results may depend on it, and the record of a run says it."""


class Measuring(Asking, frozen=True):
    """How a run is asked and measured."""

    experiment_name: Annotated[str, Field(min_length=1)] | None = None
    """Name of the result. By default that of the retriever."""

    budgets: Annotated[_Budgets, Option("--budget", takes=list[str])] = Field(
        default=(Cutoff(4000, "ch"),), json_schema_extra={"default": ["4000ch"]}
    )
    """A context budget, such as 4000ch or 1000tok; repeatable. Rankings are cut there as at numbers of results."""

    count_as_zero: Annotated[_Statuses, ONLY_IN_FILES] = frozenset()
    """Questions that were not scored, and count as 0.0 in every mean. Those without an answer in the corpus
    (`no-answer`), those whose retrieval failed (`failed`). A score that no question has, as its metric is unavailable
    or raises everywhere, has no mean still."""


class AskingFields(TypedDict, total=False):
    """The keywords of what asks queries: the fields of `Asking`."""

    batch_queries: bool
    max_concurrency: int
    timeout: float | None
    on_error: OnError


class RunFields(AskingFields, total=False):
    """The keywords of `evaluate` that have no place: fields of `EvaluationConfig`."""

    experiment_name: str | None
    count_as_zero: Iterable[Unscored]
    save_results_path: str | Path | None
    resume: bool
    sinks: Iterable[str | Mapping[str, Any] | Sink | Callable[[Outcome], Any]]


class EvaluationFields(RunFields, total=False):
    """The keywords of `EvaluationConfig`: its fields."""

    budgets: Iterable[str | Cutoff]
    tokenizer: Any


class EvaluationConfig(Measuring, frozen=True):
    """How an evaluation is measured and saved; the same for all pipelines that are to be compared.

    Its fields are keywords, of `evaluate` as well; all have a default.

    Raises:
        ConfigError: A value is not valid, or a keyword not known.
        TokenizerError: The tokenizer is unknown or cannot be loaded.
    """

    tokenizer: _Tokenizer = None
    """The tokenizer of budgets in tokens, for example cl100k_base. Needed for these only."""

    save_results_path: Path | None = None
    """The root under whose `runs/` every result is saved. None saves nothing."""

    resume: StrictBool = False
    """Whether answers are kept in that root as they come, and those of a run that was interrupted are taken: of the
    same retriever on the same documents and questions. Whether its code, or a server that it asks, has changed since is
    yours to know."""

    sinks: _Sinks = ()
    """Where each result goes beside that root: names of sinks, such as langsmith:dataset=handbook, or functions
    `(outcome)` of your own. What could not be sent is noted in the result."""

    def __init__(self, **given: Unpack[EvaluationFields]) -> None:
        values: dict[str, Any] = {**given}
        with refused(type(self)):
            super().__init__(**values)
        for budget in self.budgets:
            if budget.unit == "tok" and self.tokenizer is None:
                raise ConfigError(
                    f"budget {str(budget)!r} counts tokens, and tokens of one model are not those of another: name the "
                    "tokenizer, as in tokenizer='cl100k_base' (--tokenizer cl100k_base), or give the budget in "
                    "characters, such as '4000ch'"
                )
