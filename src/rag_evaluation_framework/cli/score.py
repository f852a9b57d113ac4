"""`rag-eval score`: the classical metrics for rankings that are already in files."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import rag_evaluation_framework as rag

from .. import report
from ..base.notes import collect_notes
from ..base.outside import first_of, name_line, shown
from ..datasets import rankings as rank_files
from ..errors import DatasetError
from .output import print_result

if TYPE_CHECKING:
    from ..data import ScoreTable


def score(
    *,
    qrels: Path,
    rankings: list[Path],
    order: Literal["given", "score"] | None = None,
    ties: Literal["trec_eval"] | None = None,
    metric: list[str] | None = None,
    per_query: bool = False,
    as_json: bool = False,
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
    scored = [(path, *_scored(qrels, judged, path, order, ties, metric)) for path in rankings]
    judgements = sum(map(len, judged.by_query.values()))
    counted = {"questions": len(judged.by_query), "judgements": judgements, "repeated": judged.repeated}
    listed = [
        {
            "path": str(path),
            "metrics": scores.mean,
            "counts": counts,
            **({"per_query": {name: scores.per_query(name) for name in scores.columns}} if per_query else {}),
        }
        for path, scores, counts in scored
    ]
    called = Counter(path.name for path in rankings)  # files of one name are called by their paths
    named = [
        (name_line(path.name if called[path.name] == 1 else str(path)), scores, counts)
        for path, scores, counts in scored
    ]
    print_result(
        {"qrels": {"path": str(qrels), "counts": counted}, "rankings": listed},
        lambda: report.rankings_page(qrels.name, counted, named, per_query=per_query, ties=ties),
        as_json=as_json,
    )


def _scored(
    qrels: Path, judged: rank_files.RankFile, path: Path, order: Any, ties: Any, metric: list[str] | None
) -> tuple[ScoreTable, dict[str, int]]:
    ranked = rank_files.RankFile.of_rankings(path, order, ties)
    ranked.check_ids(path)
    truths, found = judged.by_query, ranked.by_query
    with collect_notes() as notes:
        scores = rag.score_rankings(truths, found, metric) if metric else rag.score_rankings(truths, found)
    common = [query for query in truths if query in found]
    if not common:
        raise DatasetError(
            f"{path}: none of its questions is in {qrels}, so nothing can be scored. Ids in the rankings: "
            f"{first_of([shown(name, 60) for name in found], 3)}; in the qrels: "
            f"{first_of([shown(name, 60) for name in truths], 3)}. Write them the same way in both files"
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
    return scores, {"questions": len(truths), **counts, **in_file}
