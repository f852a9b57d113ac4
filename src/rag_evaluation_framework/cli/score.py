"""`rag-eval score`: the classical metrics for rankings that are in files already."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import rag_evaluation_framework as rag
from rag_evaluation_framework import datasets, reports
from rag_evaluation_framework.cli.console import stdout
from rag_evaluation_framework.errors import DatasetError

_LONGEST_NAME, _LONGEST_QUESTION = 24, 40
_EDGES, _GAP = 2, 3  # what a table puts around all columns, and between two
_COUNTS = {
    "questions": "in the qrels; means are over those that have a score",
    "no_answer": "nothing is relevant to them; they have no score",
    "missing": "not in the run; they score 0.0 if anything is relevant",
    "unjudged": "not in the qrels; left out",
    "irregular": "rankings whose scores tie or do not fall; ties as in the file",
    "repeated": "documents that a ranking holds twice; the best score counts",
    "contradicted": "questions whose rank column says another order; scores count",
}

Scored: TypeAlias = "tuple[Path, rag.RankingScores, dict[str, int]]"


def score(
    qrels: Annotated[Path, typer.Option(help="What is relevant: TREC qrels, BEIR's table, JSON or JSONL.")],
    run: Annotated[
        list[Path], typer.Option(help="Rankings: a TREC run, a table with a header, JSON or JSONL; repeatable.")
    ],
    metric: Annotated[
        list[str] | None, typer.Option(help="For example ndcg@10, or nDCG@10 as ir_measures spells it; repeatable.")
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show the scores of every question, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Score rankings that you have in files, several runs side by side.

    By default hit@10, recall@10, mrr@10 and ndcg@10. Files may be compressed with gzip.
    """
    judged = datasets.RankFile.of_qrels(qrels)
    scored = [_scored(qrels, judged, path, metric) for path in run]
    if as_json:
        typer.echo(json.dumps(_as_json(qrels, judged, scored, per_query), ensure_ascii=False, allow_nan=False))
        return
    console = stdout()
    counts = _qrels_counts(judged)
    again = f", {counts['repeated']} of them twice" if counts["repeated"] else ""
    title = f"{qrels.name}: {counts['judgements']} judgement{'s' * (counts['judgements'] != 1)}{again}"
    console.print(Text(reports.printable(title), style="bold"))
    _show(console, scored)
    if per_query:
        _show_questions(console, scored)


def _scored(qrels: Path, judged: datasets.RankFile, path: Path, metric: list[str] | None) -> Scored:
    ranked = datasets.RankFile.of_run(path)
    truths, rankings = judged.by_query, ranked.by_query
    scores = rag.score_rankings(truths, rankings, metric) if metric else rag.score_rankings(truths, rankings)
    common = [query for query in truths if query in rankings]
    if not common:
        raise DatasetError(
            f"{path}: none of its questions is in {qrels}, so nothing can be scored. Ids of the run: "
            f"{_some(rankings)}; of the qrels: {_some(truths)}. Write them in the same way"
        )
    relevant = [query for query in common if any(grade > 0 for grade in truths[query].values())]
    if not relevant:
        raise DatasetError(
            f"{path}: nothing is relevant to any of its questions that are in {qrels} (questions: {len(common)}), so "
            "nothing can be scored; wanted grades above 0"
        )
    if all(truths[query].keys().isdisjoint(rankings[query].keys()) for query in relevant):
        query = relevant[0]
        warnings.warn(
            f"{path}: no ranking holds a document that is judged. Documents of question {query!r} in the run: "
            f"{_some(rankings[query])}; in the qrels: {_some(truths[query])}. Are they written in the same way?",
            stacklevel=2,
        )
    counts = {name: number for name, number in scores.counts.items() if name != "queries"}
    in_file = {"repeated": ranked.repeated, "contradicted": ranked.contradicted}
    return path, scores, {"questions": len(truths), **counts, **in_file}


def _some(ids: dict[str, Any]) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in list(ids)[:3])
    return f"{shown or 'none'}{', …' if len(ids) > 3 else ''}"


def _as_json(qrels: Path, judged: datasets.RankFile, scored: list[Scored], per_query: bool) -> dict[str, Any]:
    return {
        "qrels": {"path": _path_text(qrels), "counts": _qrels_counts(judged)},
        "runs": [
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
    """Return a path as a text that UTF-8 can hold, with escapes for what it cannot."""
    return str(path).encode(errors="backslashreplace").decode()


def _qrels_counts(judged: datasets.RankFile) -> dict[str, int]:
    judgements = sum(map(len, judged.by_query.values()))
    return {"questions": len(judged.by_query), "judgements": judgements, "repeated": judged.repeated}


def _show(console: Console, scored: list[Scored]) -> None:
    """Print a column a run, as many side by side as fit: the means, the best in green, and what they stand on."""
    names = list(scored[0][1].columns)
    counted = [name for name in _COUNTS if any(counts[name] for _, _, counts in scored)]
    means = [reports.best_in_green([scores.mean[name] for _, scores, _ in scored], _number) for name in names]
    counts = [[Text(str(counts[name]), style="dim") for _, _, counts in scored] for name in counted]
    rows = [*map(Text, names), *(Text(name.replace("_", " "), style="dim") for name in counted)]
    room = console.width - max(row.cell_len for row in rows) - _EDGES - _GAP
    headers = map(Text, _headers([_name(path, scored) for path, _, _ in scored], room))
    columns = map(reports.Column, headers, zip(*means, *counts, strict=True))
    reports.show_table(console, [reports.Column(Text(), rows)], list(columns), section=len(names))
    for name in counted:
        console.print(Text(f"{name.replace('_', ' '):<12}  {_COUNTS[name]}", style="dim"))


def _headers(names: list[str], room: int) -> list[str]:
    """Return names that are short enough for a column and tell the runs apart, if need be by a number."""
    if sum(cell_len(name) + _GAP for name in names) - _GAP <= room:
        return names
    for longest in range(_LONGEST_NAME, room + 1):
        short = [_shortened(name, longest) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return [f"{number} {_shortened(name, _LONGEST_NAME)}" for number, name in enumerate(names, 1)]


def _shortened(name: str, longest: int) -> str:
    """Return the end of a name, which says more than its beginning."""
    if cell_len(name) <= longest:
        return name
    while cell_len(name) >= longest:
        name = name[1:]
    return f"…{name}"


def _name(path: Path, scored: list[Scored]) -> str:
    """Return the name of a run's file, or its whole path if another run has the same name."""
    same = sum(path.name == other.name for other, _, _ in scored)
    return reports.printable(path.name if same == 1 else str(path))


def _show_questions(console: Console, scored: list[Scored]) -> None:
    """Print a line a question. Numbers come first, so that long ids need no space and no column is measured."""
    for path, scores, _ in scored:
        typer.echo(f"\n{_name(path, scored)}")
        questions = [reports.printable(query) for query in scores.query_ids]
        longest = min(max(map(cell_len, ("question", *questions))), _LONGEST_QUESTION)
        widths = {name: max(len(name), 6) for name in scores.columns}
        for part in reports.side_by_side([*widths.values()], console.width - longest - 2, gap=2):
            names = list(widths)[part]
            columns = [map(_number, scores.per_query(name).values()) for name in names]
            if part.start:
                typer.echo()
            typer.echo("  ".join(f"{name:>{widths[name]}}" for name in names) + "  question")
            for question, *values in zip(questions, *columns, strict=True):
                cells = (f"{value:>{widths[name]}}" for value, name in zip(values, names, strict=True))
                typer.echo(f"{'  '.join(cells)}  {question}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
