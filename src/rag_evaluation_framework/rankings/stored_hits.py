"""JSONL with the hits of one question per line."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, TypeAlias

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support import utf8_json
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework._support.records import Problems
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework.contracts.retrieved import as_retrieval
from rag_evaluation_framework.data.hits import Hit, Retrieval
from rag_evaluation_framework.errors import DatasetError, InputError
from rag_evaluation_framework.rankings.hit_lines import HitLine
from rag_evaluation_framework.rankings.order import Order, refuse_rising

Hits: TypeAlias = dict[str, Retrieval | None]
"""The retrieval of each question; None where it failed."""

_MOST = 2_000_000_000  # hits of a question
_RESULTS = ("hits", "retrieved_chunk_ids", "retrieved_spans")
_COLUMNS = ("doc_id", "start", "end", "chunk_id", "text", "score")


def read_hits(data: bytes, path: Path, order: Order | None) -> Hits | None:
    """Return the hits of each question; None if the file has another format.

    Raises:
        DatasetError: A line cannot be read, or all scores rise and no order is given.
    """
    lines = enumerate(data.split(b"\n"), start=1) if data.lstrip()[:1] == b"{" else iter(())
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None or not _holds_hits(first[1]):
        return None
    rankings = _parsed(chain([first], lines), path)
    if order is None:
        scores = ([hit.score for hit in found.hits if hit.score is not None] for found in rankings.values() if found)
        refuse_rising(scores, path)
        return rankings
    return {query: found and replace(found, hits=_ordered(found.hits, order)) for query, found in rankings.items()}


def _ordered(hits: tuple[Hit, ...], order: Order) -> tuple[Hit, ...]:
    if order == "given":
        return tuple(replace(hit, score=None) for hit in hits)
    return tuple(sorted(hits, key=lambda hit: inf if hit.score is None else -hit.score))


def _holds_hits(line: bytes) -> bool:
    """Return whether a line is a question with its hits, as opposed to one with ids, or a whole file."""
    try:
        content = parse_json(utf8_json.read(line))
    except ValueError:
        return False
    return is_object(content) and (any(key in content for key in _RESULTS) or is_list(content.get("doc_id")))


def _parsed(lines: Iterable[tuple[int, bytes]], path: Path) -> Hits:
    problems, rankings = Problems(), dict[str, Retrieval | None]()
    for number, line in lines:
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            content: Any = parse_json(utf8_json.read(line))
            query_id, found = _question(content)
            if query_id in rankings:
                raise ValueError(f"question {query_id!r} has a ranking already")
            rankings[query_id] = found
        except (ValueError, InputError) as error:
            problems.append(f"{where}: {error}")
    if problems:
        raise DatasetError(problems.message(str(path)))
    return rankings


def _question(content: Any) -> tuple[str, Retrieval | None]:
    """Return the id and the ranking of one line, None if the retrieval failed.

    Raises:
        ValueError: It is nothing of the kind.
    """
    if not is_object(content):
        raise ValueError(f"got {shown(content, 60)}; expected an object with query_id and hits")
    query_id = content.get("query_id", content.get("id"))
    if not isinstance(query_id, str | int) or isinstance(query_id, bool) or query_id == "":
        raise ValueError(f"query_id is {shown(query_id, 60)}; expected the id of a question")
    if is_list(content.get("doc_id")):
        line = HitLine.model_validate(content)
        return str(query_id), None if line.failed else as_retrieval([*_columns(line)], "it", _MOST)
    given = {key: content[key] for key in (*_RESULTS, "seconds") if key in content}
    return str(query_id), as_retrieval(given, "it", _MOST)


def _columns(line: HitLine) -> Iterator[Hit]:
    columns: list[Any] = [getattr(line, name) or [None] * len(line.doc_id) for name in _COLUMNS]
    yield from (Hit(*values) for values in zip(*columns, strict=True))
