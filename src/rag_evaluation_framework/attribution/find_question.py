"""The question of a run that a text names: its id, its wording, a beginning of either, or some of its words."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework.data.skipped import Skipped
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results.result import EvaluationResult

_WAYS = ("id", "wording", "beginning", "words")  # the closest first
_MOST_LISTED = 5
_LINE = 100
_NEAR = 0.3


def find_question(result: EvaluationResult[Any], given: str) -> int:
    """Return the row of the question that a text names.

    An id comes first, then a wording, then the unique beginning of an id or a wording, then a text of which all words
    are in one question only; case and white space do not count but in ids. Questions of the run come before skipped
    ones that it names in the same way.

    Raises:
        ConfigError: No question is called so, or several are, and the message lists some; or the one that is was
            skipped, and the message says why.
    """
    ids, texts = result.scores.query_ids, [*map(_folded, result.queries.texts)]
    name: Any = given
    if not isinstance(name, str) or not (sought := _folded(name)):
        raise ConfigError(f"question {shown(given)}: expected its id, or the beginning or some words of it")
    known = [_way(given, query_id, texts[row] if texts else "") for row, query_id in enumerate(ids)]
    skipped = [_way(given, label.query.id, _folded(label.query.text)) for label in result.skipped]
    for way in _WAYS:
        rows = [row for row, found in enumerate(known) if found == way]
        if len(rows) == 1:
            return rows[0]
        if rows:
            more = f"\n  and {len(rows) - _MOST_LISTED} more" if len(rows) > _MOST_LISTED else ""
            raise ConfigError(
                f"{shown(given)} names {len(rows)} questions of {name_line(result.name)}; write more of one, or its id:"
                f"\n{_listed(result, rows)}{more}"
            )
        labels = [label for label, found in zip(result.skipped, skipped, strict=True) if found == way]
        if labels:
            raise ConfigError(_were_skipped(result, given, labels))
    near = get_close_matches(sought, texts, _MOST_LISTED, _NEAR)
    rows = [texts.index(text) for text in dict.fromkeys(near)]
    rows += [ids.index(name) for name in get_close_matches(given, ids, _MOST_LISTED, 2 * _NEAR)]
    how = "; name one by its id, or by the beginning or some words of it"
    told = f"; the nearest:\n{_listed(result, [*dict.fromkeys(rows)])}" if rows else how
    raise ConfigError(f"no question of {name_line(result.name)} is called {shown(given)}{told}")


def _way(given: str, query_id: str, text: str) -> str | None:
    """Return in which way a text names a question of this id and folded wording; None if in none."""
    sought = _folded(given)
    fits = (
        query_id == given,
        text == sought,
        query_id.startswith(given) or text.startswith(sought),
        {*sought.split()} <= {*text.replace("?", " ").split()},
    )
    return next((way for way, is_so in zip(_WAYS, fits, strict=True) if is_so), None)


def _were_skipped(result: EvaluationResult[Any], given: str, labels: Sequence[Skipped]) -> str:
    """Return which questions were skipped, and why; of many, some."""
    first = {label.query.id: label for label in reversed(labels)}
    named = [first[name] for name in dict.fromkeys(label.query.id for label in labels)]
    if len(named) == 1:
        return (
            f"the question {name_line(named[0].query.id)} of {name_line(result.name)} was skipped, so that there is "
            f"nothing to explain: {one_line(named[0].reason, _LINE)}"
        )
    listed = "\n".join(
        f"  {name_line(label.query.id)}  {one_line(label.query.text, _LINE)}: {one_line(label.reason, _LINE)}"
        for label in named[:_MOST_LISTED]
    )
    more = f"\n  and {len(named) - _MOST_LISTED} more" if len(named) > _MOST_LISTED else ""
    return (
        f"{shown(given)} names {len(named)} questions of {name_line(result.name)} that were skipped, so that there is "
        f"nothing to explain:\n{listed}{more}"
    )


def _listed(result: EvaluationResult[Any], rows: list[int]) -> str:
    texts = result.queries.texts
    return "\n".join(
        f"  {name_line(result.scores.query_ids[row])}  {one_line(texts[row], _LINE) if texts else ''}".rstrip()
        for row in rows[:_MOST_LISTED]
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
