"""The question of a run that a text names: its id, its wording, a beginning of either, or some of its words."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results.result import EvaluationResult

_MOST_LISTED = 5
_LINE = 100
_NEAR = 0.3


def find_question(result: EvaluationResult[Any], given: str) -> int:
    """Return the row of the question that a text names.

    An id comes first, then a wording, then the unique beginning of an id or a wording, then a text of which all words
    are in one question only; case and white space do not count but in ids.

    Raises:
        ConfigError: No question is called so, or several are; the message lists some.
    """
    ids, texts = result.scores.query_ids, [*map(_folded, result.queries.texts)]
    name: Any = given
    if not isinstance(name, str) or not (sought := _folded(name)):
        raise ConfigError(f"question {shown(given)}: expected its id, or the beginning or some words of it")
    words = set(sought.split())
    matches: tuple[Callable[[int], bool], ...] = (
        lambda row: ids[row] == given,
        lambda row: bool(texts) and texts[row] == sought,
        lambda row: ids[row].startswith(given) or (bool(texts) and texts[row].startswith(sought)),
        lambda row: bool(texts) and words <= set(texts[row].replace("?", " ").split()),
    )
    for matching in matches:
        rows = [row for row in range(len(ids)) if matching(row)]
        if len(rows) == 1:
            return rows[0]
        if rows:
            more = f"\n  and {len(rows) - _MOST_LISTED} more" if len(rows) > _MOST_LISTED else ""
            raise ConfigError(
                f"{shown(given)} names {len(rows)} questions of {name_line(result.name)}; write more of one, or its id:"
                f"\n{_listed(result, rows)}{more}"
            )
    for label in result.skipped:
        if given == label.query.id or sought == _folded(label.query.text):
            raise ConfigError(
                f"the question {name_line(label.query.id)} of {name_line(result.name)} was skipped, so that there is "
                f"nothing to explain: {one_line(label.reason, _LINE)}"
            )
    near = get_close_matches(sought, texts, _MOST_LISTED, _NEAR)
    rows = [texts.index(text) for text in dict.fromkeys(near)]
    rows += [ids.index(name) for name in get_close_matches(given, ids, _MOST_LISTED, 2 * _NEAR)]
    how = "; name one by its id, or by the beginning or some words of it"
    told = f"; the nearest:\n{_listed(result, [*dict.fromkeys(rows)])}" if rows else how
    raise ConfigError(f"no question of {name_line(result.name)} is called {shown(given)}{told}")


def _listed(result: EvaluationResult[Any], rows: list[int]) -> str:
    texts = result.queries.texts
    return "\n".join(
        f"  {name_line(result.scores.query_ids[row])}  {one_line(texts[row], _LINE) if texts else ''}".rstrip()
        for row in rows[:_MOST_LISTED]
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
