"""One question to a tokenizer before a run: can it count tokens, and compare them?"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import class_name, one_line, raised, said, shown
from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.data.plain import plain_offset
from rag_evaluation_framework.errors import RagEvalError, TokenizerError
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

T = TypeVar("T")

_TEXT = "Twelve words, naïve or not: 3.14 tokens for each of them."


def checked_tokenizer(tokenizer: Any) -> Tokenizer:
    """Return the tokenizer for whatever `resolve_tokenizer` takes, after it has encoded a short text, and again.

    Raises:
        TokenizerError: It raises, returns no list of tokens, or tokens that cannot be compared: of another type than
            ids or strings, or others for the same text.
        MissingDependency: The tokenizer's library is not installed.
    """
    resolved = resolve_tokenizer(tokenizer)
    _name(resolved)  # for tables and records
    tokens = _asked(resolved, "cannot encode {}", lambda: resolved.encode(_TEXT))
    if not _is_list(tokens):
        raise _refusal(resolved, f"expected a list of tokens, got {type(tokens).__name__}")
    if not _asked(resolved, "its tokens cannot be counted in {}", lambda: len(tokens)):
        raise _refusal(resolved, f"returns no tokens for {shown(_TEXT)}")
    again = _asked(resolved, "cannot encode {} again", lambda: resolved.encode(_TEXT))
    try:
        alike = frozenset(tokens) == frozenset(again)
    except Exception as error:  # of anybody's tokens
        raise _refusal(resolved, f"its tokens cannot be compared ({said(error)}); expected ids or strings") from error
    if not alike:
        raise _refusal(resolved, "tells equal texts apart: their tokens are never equal; expected ids or strings")
    return resolved


def checked_counter(tokenizer: Any) -> Tokenizer:
    """Return a tokenizer that was checked to count tokens, and to tell where they start; for budgets.

    Raises:
        TokenizerError: It does not, or is not a tokenizer.
        MissingDependency: The tokenizer's library is not installed.
    """
    checked = checked_tokenizer(tokenizer)
    counted: Any = _asked(checked, "cannot count the tokens of {}", lambda: checked.count(_TEXT))
    try:
        number = plain_offset(counted)
    except TypeError:
        number = 0
    if number < 1:
        raise _refusal(checked, f"counts {shown(counted)} tokens in {shown(_TEXT)}; expected a whole number")
    starts = _asked(checked, "cannot tell where tokens of {} start", lambda: np.asarray(checked.offsets(_TEXT)))
    if not _ascend_from_zero(starts, number):
        raise _refusal(
            checked,
            f"tells that tokens start at {shown(starts)} in {shown(_TEXT)}; expected {number} ascending numbers of "
            f"characters, from 0 to at most {len(_TEXT)}",
        )
    return checked


def _ascend_from_zero(starts: NDArray[Any], number: int) -> bool:
    return (
        starts.shape == (number,)
        and starts.dtype.kind in "iu"
        and starts[0] == 0
        and starts[-1] <= len(_TEXT)
        and bool((np.diff(starts.astype(np.int64)) >= 0).all())
    )


def _asked(tokenizer: Tokenizer, what: str, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except RagEvalError:
        raise
    except Exception as error:
        reason = f"{what.format(shown(_TEXT))}: {raised(error)}"
        raise _refusal(tokenizer, reason) from error


def _refusal(tokenizer: Tokenizer, reason: str) -> TokenizerError:
    return TokenizerError(f"tokenizer {_name(tokenizer)}: {reason}")


def _is_list(tokens: object) -> bool:
    return isinstance(tokens, Sequence | np.ndarray) and not isinstance(tokens, str)


def _name(tokenizer: Tokenizer) -> str:
    try:
        return one_line(str(tokenizer.name))
    except Exception as error:
        raise TokenizerError(f"tokenizer {class_name(tokenizer)}: its name cannot be read: {raised(error)}") from error
