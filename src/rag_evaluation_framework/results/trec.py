"""A result as the files that trec_eval, ir_measures and their family read: a run and its qrels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rag_evaluation_framework.data import CharacterSpan

if TYPE_CHECKING:
    from rag_evaluation_framework.results.query_result import QueryResult
    from rag_evaluation_framework.results.result import EvaluationResult

RUN, QRELS = "run.txt", "qrels.txt"
_NOT_IN_FIELDS = re.compile(r"[\0\s%#]")  # white space ends a field, and `#` begins a comment


def trec_files(result: EvaluationResult[Any]) -> dict[str, str]:
    """Return the texts of a run and of its qrels, by the names of the files.

    Raises:
        ResultError: What was retrieved is not known.
    """
    run, qrels = list[str](), list[str]()
    tag = re.sub(r"\s+", "_", result.name)
    for query in result.queries:
        asked = _field(query.query_id)
        hits = (hit.chunk_id if result.evaluation_type == "chunk-level" else hit.doc_id for hit in query.hits)
        # What has no id keeps its rank, under one that nothing has: it is not relevant, and those behind it stay there.
        ids = [*dict.fromkeys(unit or f"\0{rank}" for rank, unit in enumerate(hits, 1))]
        run += [f"{asked} Q0 {_field(unit)} {rank} {len(ids) + 1 - rank} {tag}\n" for rank, unit in enumerate(ids, 1)]
        corpus = [] if result.corpus is None else [document.id for document in result.corpus]
        qrels += [
            f"{asked} 0 {_field(unit)} {_number(gain)}\n" for unit, gain in _judged(query, [*ids, *corpus]).items()
        ]
    return {RUN: "".join(run), QRELS: "".join(qrels)}


def _judged(query: QueryResult[Any], known: Iterable[str]) -> dict[str, float]:
    """Return what is relevant to a query with its gains; of a prefix such as `guides/*`, the known ids."""
    judged: dict[str, float] = {}
    for unit in (unit for answer in query.answers for unit in answer.units):
        name = unit.doc_id if isinstance(unit, CharacterSpan) else str(unit)
        names = [one for one in known if one.startswith(name[:-1])] if name.endswith("*") else [name]
        judged |= dict.fromkeys(names, query.gains.get(name, 1.0))
    return judged


def _number(gain: float) -> str:
    """Return a gain with all of its digits, a whole one without a fraction."""
    return repr(float(gain)).removesuffix(".0")


def _field(text: str) -> str:
    """Return a text as one field of a line: white space, NUL, `%` and `#` as URLs write them."""
    return _NOT_IN_FIELDS.sub(lambda sign: quote(sign[0]), text) or "-"
