"""`EvaluationConfig`: how an evaluation is measured and saved, whatever is evaluated."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.time_limit import checked_timeout
from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.failures import OnError
from rag_evaluation_framework.data.plain import items
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.text.tokenizer_checks import checked_counter

Unscored = Literal["no-answer", "failed"]


def _statuses(given: Any) -> frozenset[Any]:
    if not isinstance(given, Iterable):
        raise ConfigError(f"count_as_zero={shown(given)}: expected some of 'no-answer' and 'failed', or [] for none")
    listed = [given] if isinstance(given, str) else items(given, "count_as_zero")
    chosen = frozenset(item if isinstance(item, str) else shown(item) for item in listed)
    if not chosen <= set(get_args(Unscored)):
        raise ConfigError(f"count_as_zero={sorted(chosen)}: expected some of 'no-answer' and 'failed'")
    return chosen


def _tokenizer(given: Any) -> Tokenizer | None:
    return None if given is None else checked_counter(given)


def _tokenizer_name(tokenizer: Tokenizer | None) -> str | None:
    return None if tokenizer is None else tokenizer.name


_PrintedCutoff = Annotated[Cutoff, PlainSerializer(str), WithJsonSchema({"type": "string"})]
_TEXT_OR_NONE = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]})


def _problem(item: ErrorDetails) -> str:
    cause = item.get("ctx", {}).get("error")
    return str(cause) if cause else f"{'.'.join(map(str, item['loc']))}={shown(item['input'])}: {item['msg']}"


class EvaluationConfig(BaseModel, frozen=True):
    """How an evaluation is measured and saved; the same for all pipelines that are to be compared.

    Attributes:
        experiment_name: The name of the result; by default the retriever's name.
        budgets: Context budgets at which rankings are cut, in characters (`4000ch`) or tokens (`1000tok`).
        tokenizer: The tokenizer that counts budgets in tokens; needed for these only.
        count_as_zero: Queries that were not scored, but are to count as 0.0 in every mean that there is: those without
            an answer in the corpus (`"no-answer"`), those whose retrieval failed (`"failed"`). A score that no query
            has, as its metric is unavailable or raises everywhere, has no mean still.
        batch_queries: Whether the retriever is told all queries before they are asked, so that it can embed them
            together, and asked for many together if it can be. That is quicker; without it, the time of each query is
            that of asking it alone.
        max_concurrency: How many queries are asked side by side: of a coroutine, or of a function or retriever that is
            safe to call from several threads. Results do not depend on it.
        timeout: How many seconds one query may take; None for any number. One that takes longer fails, and what it
            returns later is thrown away. A coroutine is cancelled; a function cannot be stopped, and goes on in a
            thread that is left behind. After the third of these no other query is asked: those that are left fail.
        on_error: What becomes of a query whose retrieval fails, or a metric that raises: `"collect"` makes it a failure
            of the result, `"raise"` ends the run with the first one (`QueryFailed`), and nothing is saved.
        save_results_path: The root under whose `runs/` every result is saved; None saves nothing.

    Raises:
        ConfigError: A value is not valid.
        TokenizerError: The tokenizer is unknown or cannot be loaded.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    experiment_name: Annotated[str, Field(min_length=1)] | None
    budgets: Annotated[tuple[_PrintedCutoff, ...], BeforeValidator(Cutoff.parse_budgets)]
    tokenizer: Annotated[Tokenizer | None, BeforeValidator(_tokenizer), PlainSerializer(_tokenizer_name), _TEXT_OR_NONE]
    count_as_zero: Annotated[frozenset[Unscored], BeforeValidator(_statuses)]
    batch_queries: StrictBool
    max_concurrency: Annotated[int, Field(strict=True, ge=1)]
    timeout: Annotated[float | None, BeforeValidator(checked_timeout)]
    on_error: OnError
    save_results_path: Path | None

    def __init__(
        self,
        *,
        experiment_name: str | None = None,
        budgets: Iterable[str | Cutoff] = ("4000ch",),
        tokenizer: Any = None,
        count_as_zero: Iterable[Unscored] = (),
        batch_queries: bool = True,
        max_concurrency: int = 1,
        timeout: float | None = None,
        on_error: OnError = "collect",
        save_results_path: str | Path | None = None,
    ) -> None:
        try:
            super().__init__(
                experiment_name=experiment_name,
                budgets=budgets,
                tokenizer=tokenizer,
                count_as_zero=count_as_zero,
                batch_queries=batch_queries,
                max_concurrency=max_concurrency,
                timeout=timeout,
                on_error=on_error,
                save_results_path=save_results_path,
            )
        except ValidationError as error:
            causes = [item.get("ctx", {}).get("error") for item in error.errors()]
            if len(causes) == 1 and isinstance(causes[0], InputError):
                raise causes[0] from None
            raise ConfigError("; ".join(_problem(item) for item in error.errors())) from error

    @model_validator(mode="after")
    def _tokens_need_a_tokenizer(self) -> "EvaluationConfig":
        for budget in self.budgets:
            if budget.unit == "tok" and self.tokenizer is None:
                raise ConfigError(
                    f"budget {str(budget)!r} counts tokens, and tokens of one model are not those of another: name the "
                    "tokenizer, as in tokenizer='cl100k_base' (--tokenizer cl100k_base), or give the budget in "
                    "characters, such as '4000ch'"
                )
        return self
