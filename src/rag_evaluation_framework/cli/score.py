"""`rag-eval score`: the classical metrics for rankings that are already in files."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import rag_evaluation_framework as rag

from .. import report
from ..base.notes import collected
from ..base.outside import name_line, shown
from ..datasets import rankings as rank_files
from ..errors import DatasetError
from . import run_options
from .output import print_result

if TYPE_CHECKING:
    from ..data import ScoreTable

    Scored: TypeAlias = tuple[Path, ScoreTable, dict[str, int]]


def score(
    *,
    qrels: Path,
    rankings: list[Path],
    order: run_options.Order = None,
    ties: run_options.Ties = None,
    metric: list[str] | None = None,
    per_query: bool = False,
    as_json: run_options.AsJson = False,
) -> None:
    """Score rankings stored in files, several files side by side.

    By default hit@10, recall@10, mrr@10 and ndcg@10. Files may be compressed with gzip.

    Args:
        qrels: What is relevant: TREC qrels, BEIR's table, JSON or JSONL.
        rankings: Rankings: a TREC run file, a table with a header, JSON or JSONL; repeatable.
        metric: For example ndcg@10, or nDCG@10 as ir_measures spells it; repeatable.
        per_query: Also show the scores of every question.
    """
    judged = rank_files.RankFile.of_qrels(qrels)
    scored = [_scored(qrels, judged, path, order, ties, metric) for path in rankings]
    called = Counter(path.name for path, _, _ in scored)  # files of one name are called by their paths
    named = [
        (name_line(path.name if called[path.name] == 1 else str(path)), scores, counts)
        for path, scores, counts in scored
    ]
    print_result(
        _as_json(qrels, judged, scored, per_query),
        lambda: report.rankings_page(qrels.name, _qrels_counts(judged), named, per_query=per_query, ties=ties),
        as_json=as_json,
    )


def _scored(
    qrels: Path, judged: rank_files.RankFile, path: Path, order: Any, ties: Any, metric: list[str] | None
) -> Scored:
    ranked = rank_files.RankFile.of_rankings(path, order, ties)
    ranked.check_ids(path)
    truths, found = judged.by_query, ranked.by_query
    with collected() as notes:
        scores = rag.score_rankings(truths, found, metric) if metric else rag.score_rankings(truths, found)
    common = [query for query in truths if query in found]
    if not common:
        raise DatasetError(
            f"{path}: none of its questions is in {qrels}, so nothing can be scored. Ids in the rankings: "
            f"{_some(found)}; in the qrels: {_some(truths)}. Write them the same way in both files"
        )
    if not any(grade > 0 for query in common for grade in truths[query].values()):
        raise DatasetError(
            f"{path}: none of its questions in {qrels} has a relevant document (questions: {len(common)}), so "
            "nothing can be scored; expected grades above 0"
        )
    for said in notes:
        rag.note(f"{path}: {said}")
    counts = {name: number for name, number in scores.counts.items() if name != "queries"}
    in_file = {"repeated": ranked.repeated, "contradicted": ranked.contradicted}
    return path, scores, {"questions": len(truths), **counts, **in_file}


def _some(ids: dict[str, Any]) -> str:
    some = ", ".join(shown(name, 60) for name in list(ids)[:3])
    return f"{some or 'none'}{', …' if len(ids) > 3 else ''}"


def _as_json(qrels: Path, judged: rank_files.RankFile, scored: list[Scored], per_query: bool) -> dict[str, Any]:
    return {
        "qrels": {"path": _path_text(qrels), "counts": _qrels_counts(judged)},
        "rankings": [
            {
                "path": _path_text(path),
                "metrics": scores.mean,
                "counts": counts,
                **({"per_query": {name: scores.per_query(name) for name in scores.columns}} if per_query else {}),
            }
            for path, scores, counts in scored
        ],
    }


def _path_text(path: Path) -> str:
    """Return a path as text that UTF-8 can encode, with escapes for what it cannot."""
    return str(path).encode(errors="backslashreplace").decode()


def _qrels_counts(judged: rank_files.RankFile) -> dict[str, int]:
    judgements = sum(map(len, judged.by_query.values()))
    return {"questions": len(judged.by_query), "judgements": judgements, "repeated": judged.repeated}
